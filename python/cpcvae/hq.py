"""Submits the cells of an experiment to HyperQueue by its Python package, which has no program `hq`.

    cpcvae experiment NAME --on hyperqueue          writes results/NAME.hq.toml
    python -m cpcvae.hq results/NAME.hq.toml        submits it, and waits for its end

The server is that of `HQ_SERVER_DIR`, or of the package's usual folder.
"""

from __future__ import annotations

import os
import sys
from typing import Any


def job_of(path: str) -> Any:
    """The job of a file that `cpcvae experiment --on hyperqueue` wrote."""
    import tomllib

    from hyperqueue.ffi.protocol import ResourceRequest
    from hyperqueue.job import Job

    with open(path, "rb") as file:
        described = tomllib.load(file)
    # A failing cell does not stop the others.
    job = Job(name=described["name"], max_fails=None)
    for array in described["array"]:
        first, last = (int(end) for end in array["ids"].split("-"))
        cpus = array["request"][0]["resources"]["cpus"]
        logs = os.path.join(os.path.dirname(os.path.abspath(path)), "logs")
        os.makedirs(logs, exist_ok=True)
        for number in range(first, last + 1):
            # The server's HQ_TASK_ID is the index of the task in this job: the same number.
            job.program(
                array["command"] + [str(number)],
                cwd=array["cwd"],
                stdout=os.path.join(logs, f"cell-{number}.out"),
                stderr=os.path.join(logs, f"cell-{number}.err"),
                resources=ResourceRequest(cpus=cpus),
                crash_limit=array["crash_limit"],
                name=f"cell-{number}",
            )
    return job


def submit(path: str, client: Any = None, wait: bool = True) -> Any:
    """Submits the job, and waits for its end."""
    from hyperqueue import Client

    client = client or Client(os.environ.get("HQ_SERVER_DIR"))
    submitted = client.submit(job_of(path))
    if wait:
        client.wait_for_jobs([submitted])
    return submitted


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m cpcvae.hq FILE.hq.toml")
    submit(sys.argv[1])
