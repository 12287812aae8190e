"""Wide residual networks: runs both sides in turn and makes a table. `bench/wrn` prints it, and it is
a section of `bench/run`."""

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
OURS = ("f32", "bf16")
TORCH = ("f32", "f32-last", "bf16", "bf16-last")
COMPILED = ("f32-last-compile", "bf16-last-compile")
# GFLOP/s of two cores of an AMD EPYC of the fourth generation (docs/adr/0005), where none are given.
PEAKS = {"f32": 230.0, "bf16": 462.0}
CASES = (("encoder", 32), ("encoder", 100), ("cpc", 32))


def trunk(side: int, image: int) -> float:
    """Multiplications of WRN-28-2's convolutions forward, one image of `side` pixels a side with
    `image` channels. Mirrored, the same are made in the other direction."""
    total, inputs = 9 * side**2 * image * 16, 16
    for group, outputs in enumerate((32, 64, 128)):
        for block in range(4):
            if group > 0 and block == 0:
                side //= 2
            total += 9 * side**2 * (inputs + outputs) * outputs
            if inputs != outputs:
                total += side**2 * inputs * outputs
            inputs = outputs
    return total


def dense(sizes: list[int]) -> float:
    return sum(inputs * outputs for inputs, outputs in zip(sizes, sizes[1:]))


def gflop(case: tuple[str, int]) -> float:
    """Products of a repetition: forward, gradients of inputs and of weights; the gradient of the
    images themselves is not wanted. A CPC step encodes its rows, decodes their codes and encodes
    what it has drawn, through which gradients go back to the decoder."""
    what, batch = case
    encoder = trunk(32, 1) + dense([128 * 64, 1000, 1000, 1000, 400])
    stem = 9 * 32**2 * 16
    passes = 3 * encoder - stem
    if what == "cpc":
        decoder = trunk(48, 3) + dense([200 - 6, 1000, 1000, 1000, 128 * 144])
        passes = 2 * 3 * encoder - stem + 3 * decoder
    return 2e-9 * batch * passes


def bound(case: tuple[str, int], peaks: dict[str, float]) -> str:
    work = gflop(case)
    times = [f"{1e3 * work / peak:.0f} ms at {peak:.0f} GFLOP/s ({kind})" for kind, peak in peaks.items()]
    return f"{work:.1f} GFLOP of products where convolutions are computed directly: {', '.join(times)}."


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
    only = getattr(arguments, "only", None) or ""
    variants = [(side, v) for side, v in variants if only in f"{side} {v}"]
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


def ratios(case: tuple[str, int], found: dict[str, list[float]]) -> dict[str, dict]:
    """Our fastest variant over PyTorch's, and the same of f32 alone: medians and bests."""

    def fastest(side: str, precision: str, figure) -> tuple[float, str] | None:
        of_side = [(figure(t), n) for n, t in found.items() if n.startswith(side) and precision in n]
        return min(of_side, default=None)

    told = {}
    for suffix, precision in (("", ""), ("_f32", "f32")):
        pairs = [
            (fastest("ours", precision, figure), fastest("torch", precision, figure))
            for figure in (median, min)
        ]
        if all(ours and theirs for ours, theirs in pairs):
            (ours, theirs), (our_best, their_best) = pairs
            told[f"wrn_{case[0]}_{case[1]}{suffix}"] = {
                "median": ours[0] / theirs[0],
                "best": our_best[0] / their_best[0],
                "peer": theirs[1],
            }
    return told


def table(case: tuple[str, int], found: dict[str, list[float]], peaks: dict[str, float] = PEAKS) -> str:
    lines = [f"### {case[0]}, batch {case[1]}", "", bound(case, peaks), "", "| | best, ms | median, ms |", "|---|---|---|"]
    for name, seconds in found.items():
        lines.append(f"| {name} | {1e3 * min(seconds):.0f} | {1e3 * median(seconds):.0f} |")
    for name, ratio in ratios(case, found).items():
        over = f"medians {ratio['median']:.2f}, bests {ratio['best']:.2f}"
        lines += ["", f"{name}, ours over PyTorch: {over}"]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench/wrn")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--count", type=int, default=5, help="repetitions in a round")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--busy", action="store_true", help="processor time of one thread, for a machine that is busy with other things")
    parser.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True, help="torch.compile too: minutes more")
    parser.add_argument("--only", help="variants whose names have this in them, as `ours` or `compile`")
    parser.add_argument("--peak-f32", type=float, default=PEAKS["f32"], help="GFLOP/s of all threads")
    parser.add_argument("--peak-bf16", type=float, default=PEAKS["bf16"], help="GFLOP/s of all threads")
    parser.add_argument("--case", help="one of encoder-32, encoder-100, cpc-32")
    arguments = parser.parse_args()
    peaks = {"f32": arguments.peak_f32, "bf16": arguments.peak_bf16}
    for case in CASES:
        if arguments.case in (None, f"{case[0]}-{case[1]}"):
            print(table(case, measure(case, arguments), peaks), flush=True)


if __name__ == "__main__":
    main()
