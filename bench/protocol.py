"""The worker's side of the protocol: one JSON request a line on the standard input, one JSON answer
a line on the standard output. The first argument is the set-up.

| request | answer |
|---|---|
| `{"op": "steps", "lead": 1, "count": 8}` | `seconds` of the `count` steps, `losses` of some |
| `{"op": "predict", "rows": n, "repeats": k}` | `seconds` of each repeat |
| `{"op": "encode", "rows": n, "repeats": k}` | `seconds` of each repeat |
| `{"op": "parameters"}` | `count` |
| `{"op": "gathered_steps", "count": 30}` | nothing; for the measure of memory (PyTorch only) |
| `{"op": "memory"}` | `peak_bytes` of the process so far |
| `{"op": "product"}` | `gflops` of a large matrix product (PyTorch only) |
| `{"op": "profile", "count": 20}` | `seconds`, and `parts` by name (ours only) |
| `{"op": "peak"}` | `gflops` that the machine can do (ours only) |
"""

import json
import os
import resource
import sys
from time import perf_counter

from settings import Setup

CHUNKS = (1000, 500, 2000, 200, 5000)


def setup_and_variant() -> tuple[Setup, str]:
    """From the first argument."""
    values = json.loads(sys.argv[1])
    variant = values.pop("variant")
    return Setup(**values), variant


def peak_bytes() -> int:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def timed(work, repeats: int) -> list[float]:
    """Seconds of each call."""
    seconds = []
    for _ in range(repeats):
        begin = perf_counter()
        work()
        seconds.append(perf_counter() - begin)
    return seconds


def timed_steps(step, lead: int, count: int) -> dict:
    """The answer to `steps`: `step()` takes one and returns its loss, read after the last."""
    losses = [step() for _ in range(lead)]
    stamps = [perf_counter()]
    for _ in range(count):
        losses.append(step())
        stamps.append(perf_counter())
    seconds = [end - begin for begin, end in zip(stamps, stamps[1:])]
    return {"seconds": seconds, "losses": [float(loss) for loss in losses]}


def fastest_chunk(work, rows: int) -> int:
    """How many rows at once make `work(chunk)` fastest, each after one call for compilation. After
    ten seconds of measured calls no further size is tried: such a peer is far behind anyway."""
    seconds: dict[int, float] = {}
    for chunk in (c for c in CHUNKS if rows % c == 0):
        if 2.0 * sum(seconds.values()) > 10.0:
            break
        work(chunk)
        seconds[chunk] = min(timed(lambda chunk=chunk: work(chunk), 2))
    return min(seconds, key=seconds.get)


def serve(worker) -> None:
    """Answers requests with the methods of `worker` until the input ends."""
    # Libraries print to the standard output at times; answers must not mix with that.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            result = getattr(worker, request.pop("op"))(**request)
        except Exception as error:  # the orchestrator decides what a failure means
            result = {"error": f"{type(error).__name__}: {error}"[:2000]}
        print(json.dumps(result), file=answers, flush=True)
