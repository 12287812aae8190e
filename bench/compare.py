"""The benchmark: measures, prints tables as it goes, writes results/bench-NAME.json and .md.

Started by `bench/run`, which makes the environment and our worker."""

import argparse
import json
import signal
import sys
from pathlib import Path
from time import gmtime, perf_counter, strftime

import machine
import report
import sections
import wrn
from data import image_file
from workers import CACHE, TORCH_EAGER

SECTIONS = ("steps", "growth", "inference", "profile", "memory", "wrn")
# What the last line tells with `--json`.
TOLD = ("cpc_step", "pc_step", "m2_step", "cpc_step_f32", "predict", "peak_memory")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/run", description=__doc__.split("\n")[0])
    parser.add_argument("--json", action="store_true", help="end with the ratios as one JSON line")
    parser.add_argument("--quick", action="store_true", help="fewer steps, no growth, no compile")
    parser.add_argument(
        "--only", default=",".join(SECTIONS), metavar="LIST", help="of " + ",".join(SECTIONS)
    )
    parser.add_argument("--name", default="", help="of the files in results/; default: the CPU's")
    chosen = parser.parse_args()
    chosen.only = [part.strip() for part in chosen.only.split(",")]
    for part in chosen.only:
        if part not in SECTIONS:
            parser.error(f"there is no section `{part}`; there are {', '.join(SECTIONS)}")
    return chosen


class Story:
    """What was told, for the screen and for the file."""

    def __init__(self):
        self.text = ""

    def tell(self, text: str) -> None:
        self.text += text + "\n"
        print(text, flush=True)


def measure_all(chosen: argparse.Namespace, results: dict, story: Story) -> None:
    plan = sections.Plan(chosen.quick, str(image_file(CACHE)))
    results["tuning"] = sections.tune(plan)
    story.tell(f"\nPyTorch's threads, while they wait: {results['tuning']['waiting']}.")
    if "steps" in chosen.only:
        story.tell("\n## Steps, 2 threads, batch 200")
        for method, one in sections.steps(plan):
            results.setdefault("steps", {})[method] = one
            story.tell(report.steps(method, one))
    if "inference" in chosen.only:
        story.tell("\n## Inference, 2 threads")
        for op, variants in sections.inference(plan):
            results.setdefault("inference", {})[op] = variants
            story.tell(report.inference(op, variants, sections.INFERENCE_ROWS))
    if "profile" in chosen.only:
        story.tell("\n## Our step")
        results["profile"] = sections.profile(plan)
        story.tell(report.profile(results["profile"]))
    if "memory" in chosen.only:
        story.tell("\n## Memory")
        results["memory"] = sections.memory(plan)
        story.tell(report.memory(results["memory"]))
    if "wrn" in chosen.only:
        story.tell("\n## Wide residual networks, 2 threads\n")
        rounds = argparse.Namespace(
            rounds=1 if chosen.quick else 3, count=4, threads=2, busy=False, compile=not chosen.quick
        )
        for case in wrn.CASES:
            found = wrn.measure(case, rounds)
            results.setdefault("wrn", {})[f"{case[0]}-{case[1]}"] = found
            results.setdefault("wrn_ratios", {}).update(wrn.ratios(case, found))
            story.tell(wrn.table(case, found))
    if "growth" in chosen.only and not chosen.quick:
        story.tell("\n## Growth")
        variants = results.get("steps", {}).get("cpc", {}).get("variants", {})
        is_torch_f32 = lambda v: v.engine == "torch" and v.precision == "f32"  # noqa: E731
        best_torch = sections.fastest(variants, is_torch_f32) or TORCH_EAGER[0]
        story.tell(f"PyTorch as `{best_torch.how}`, medians of 12 steps.")
        points: dict[str, list] = {}
        for key, point in sections.growth(plan, best_torch):
            points.setdefault(key, []).append(point)
            print(f"growth: {key} {point[key]} {point['method']}", file=sys.stderr, flush=True)
        results["growth"] = points
        for key, of_key in points.items():
            story.tell(report.growth(key, of_key))


def main() -> None:
    chosen = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that results are written
    story, begin = Story(), perf_counter()
    about = machine.describe()
    name = chosen.name or machine.name(about)
    results: dict = {
        "name": name,
        "date": strftime("%Y-%m-%d %H:%M UTC", gmtime()),
        "machine": about,
        "quick": chosen.quick,
        "load_before": machine.load(),
    }
    story.tell(
        f"# Benchmark on {name}\n\n{results['date']}, {about['cpu']}, {about['processors']} processors "
        f"({', '.join(about['instructions'])}), torch {about['torch']}, jax {about['jax']}, "
        f"commit {about['commit']}. Load before: {results['load_before']:.2f}."
    )
    results["checks"] = sections.checks()
    try:
        measure_all(chosen, results, story)
    finally:
        # What was measured before a failure or an interrupt is worth keeping.
        results["load_after"] = machine.load()
        results["minutes"] = (perf_counter() - begin) / 60.0
        found = report.ratios(results)
        results["ratios"] = found
        story.tell(report.ratio_table(found))
        folder = Path(__file__).parent.parent / "results"
        folder.mkdir(exist_ok=True)
        (folder / f"bench-{name}.json").write_text(json.dumps(results, indent=1) + "\n")
        (folder / f"bench-{name}.md").write_text(story.text)
        story.tell(f"Written: results/bench-{name}.json and .md")
    if chosen.json:
        medians = {key: round(found[key]["median"], 4) if key in found else None for key in TOLD}
        print(json.dumps({"ratios": medians}))


if __name__ == "__main__":
    main()
