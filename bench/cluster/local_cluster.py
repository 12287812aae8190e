"""Starts a local cluster of HyperQueue, submits a job file, and kills a cell in the middle.

    python local_cluster.py parts/cells.hq.toml parts

The package's workers are threads of this process, so what is killed (with SIGKILL) is the program of a
cell; it is submitted again, as an engine does that has lost a worker, and goes on from its checkpoint.
"""
import glob
import importlib.util
import os
import pathlib
import signal
import sys
import threading
import time

from hyperqueue.client import FailedJobsException
from hyperqueue.cluster import LocalCluster, WorkerConfig


def submitter():
    """`cpcvae.hq` without the package around it, which needs the extension module."""
    path = pathlib.Path(__file__).parents[2] / "python" / "cpcvae" / "hq.py"
    spec = importlib.util.spec_from_file_location("hq", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kill_one(results):
    """Kills the first cell that has a checkpoint."""
    while True:
        for lock in glob.glob(f"{results}/runs/*/*/run.lock"):
            run = os.path.dirname(lock)
            if os.path.exists(f"{run}/checkpoints/last.safetensors"):
                try:
                    process = int(open(lock, encoding="ascii").read())
                    os.kill(process, signal.SIGKILL)
                except (ValueError, ProcessLookupError):
                    continue
                print("killed the cell in", os.path.basename(run), flush=True)
                return
        time.sleep(0.002)


def main():
    path, results = sys.argv[1:]
    hq = submitter()
    with LocalCluster() as cluster:
        for _ in range(2):
            cluster.start_worker(WorkerConfig(cores=1))
        client = cluster.client()
        killer = threading.Thread(target=kill_one, args=(results,), daemon=True)
        killer.start()
        try:
            hq.submit(path, client)
            sys.exit("no cell failed, though one was killed")
        except FailedJobsException as error:
            print("failed, as it was killed:", len(error.failed_tasks), "job", flush=True)
        killer.join()
        print(len(glob.glob(f"{results}/cells/*/*.json")), "cells done before it goes on", flush=True)
        hq.submit(path, client)
    print(len(glob.glob(f"{results}/cells/*/*.json")), "cells done", flush=True)


main()
