"""Runs both sides of `bench/wrn` in turn and prints a table: the best of all repetitions counts."""

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
OURS = ("f32", "bf16")
TORCH = ("f32", "f32-last", "bf16", "bf16-last")
COMPILED = ("f32-last-compile", "bf16-last-compile")
CASES = (("encoder", 32), ("encoder", 100), ("cpc", 32))


def answer(command: list[str], setup: dict) -> dict:
    done = subprocess.run([*command, json.dumps(setup)], capture_output=True, text=True, cwd=HERE)
    if done.returncode != 0:
        return {"error": done.stderr.strip().splitlines()[-1:] or ["it failed"]}
    return json.loads(done.stdout.splitlines()[-1])


def processor_seconds(command: list[str], setup: dict) -> list[float]:
    """What a repetition takes of one processor, however many others want it: a run with more
    repetitions minus one with fewer."""
    taken = []
    for count in (1, setup["count"] + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = answer(command, setup | {"count": count, "threads": 1})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if "error" in result:
            print(f"{setup['variant']}: {result['error'][0]}", file=sys.stderr)
            return []
        taken.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return [(taken[1] - taken[0]) / setup["count"]]


def measure(case: tuple[str, int], arguments: argparse.Namespace) -> dict[str, list[float]]:
    """Seconds of every repetition by variant, all variants once in each round."""
    what, batch = case
    ours = os.environ["CPCVAE_BENCH_WRN"]
    variants = [("ours", v) for v in OURS] + [("torch", v) for v in TORCH]
    variants += [("torch", v) for v in COMPILED if arguments.compile]
    found: dict[str, list[float]] = {}
    for _ in range(arguments.rounds):
        for side, variant in variants:
            setup = {"what": what, "batch": batch, "threads": arguments.threads}
            setup |= {"count": arguments.count, "precision": variant, "variant": variant}
            command = [ours] if side == "ours" else [sys.executable, "wrn_torch.py"]
            if arguments.busy:
                found.setdefault(f"{side} {variant}", []).extend(processor_seconds(command, setup))
                continue
            result = answer(command, setup)
            if "error" in result:
                print(f"{side} {variant}: {result['error'][0]}", file=sys.stderr)
            found.setdefault(f"{side} {variant}", []).extend(result.get("seconds", []))
    return {name: seconds for name, seconds in found.items() if seconds}


def table(case: tuple[str, int], found: dict[str, list[float]]) -> str:
    best = {name: min(seconds) for name, seconds in found.items()}
    lines = [f"### {case[0]}, batch {case[1]}", "", "| | best, ms | median, ms |", "|---|---|---|"]
    for name, seconds in found.items():
        middle = sorted(seconds)[len(seconds) // 2]
        lines.append(f"| {name} | {1e3 * best[name]:.0f} | {1e3 * middle:.0f} |")

    def smallest(side: str, *parts: str) -> float | None:
        chosen = [t for name, t in best.items() if name.startswith(side) and all(p in name for p in parts)]
        return min(chosen, default=None)

    for label, parts in (("best variant", ()), ("best f32", ("f32",))):
        ours, torch = smallest("ours", *parts), smallest("torch", *parts)
        if ours and torch:
            lines += ["", f"Ours over PyTorch, {label}: {ours / torch:.2f}"]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench/wrn")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--count", type=int, default=5, help="repetitions in a round")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--busy", action="store_true", help="processor time of one thread, for a machine that is busy with other things")
    parser.add_argument("--compile", action="store_true", help="torch.compile too")
    parser.add_argument("--case", help="one of encoder-32, encoder-100, cpc-32")
    arguments = parser.parse_args()
    for case in CASES:
        if arguments.case in (None, f"{case[0]}-{case[1]}"):
            print(table(case, measure(case, arguments)), flush=True)


main()
