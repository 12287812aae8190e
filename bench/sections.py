"""What is measured: each function returns plain values for the JSON file."""

import json
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass

from settings import TRANSFORM, Setup, parameter_count, step_gflop
from workers import HERE, JAX, OURS, TORCH_COMPILED, TORCH_EAGER, WAIT_POLICIES
from workers import Effort, Variant, Worker, WorkerFailed, alternate, environment

METHODS = ("cpc", "pc", "vae", "m2")
BATCHES = (50, 100, 200, 400, 800, 1600)
# With the six of the transform: a code of 2 would have no room for it.
CONTENTS = (2, 10, 44, 100, 200)
CLASSES = (2, 10, 30, 100)
INFERENCE_ROWS = 20_000
MEMORY_ROWS = 60_000
MEMORY_STEPS = 30


@dataclass(frozen=True)
class Plan:
    """How much of everything."""

    quick: bool
    data: str

    @property
    def effort(self) -> Effort:
        if self.quick:
            return Effort(rounds=4, count=8, budget=15.0)
        return Effort(rounds=6, count=8)

    @property
    def growth_effort(self) -> Effort:
        return Effort(rounds=3, count=4, budget=40.0)

    @property
    def peers(self) -> list[Variant]:
        return TORCH_EAGER + ([] if self.quick else TORCH_COMPILED) + JAX

    def setup(self, **values) -> Setup:
        return Setup(data=self.data, **values)


def measure(variants: list[Variant], setup: Setup, effort: Effort, op="steps", **values) -> dict:
    """Label to measured values, all variants in turn."""
    with ExitStack() as stack:
        workers, failed = {}, {}
        for variant in variants:
            try:
                workers[variant.label] = stack.enter_context(Worker(variant, setup))
            except WorkerFailed as failure:
                failed[variant.label] = {"error": str(failure)}
        counts = {}
        if op == "steps":
            counts = {label: w.ask("parameters")["count"] for label, w in workers.items()}
        measured = alternate(workers, effort, op, **values)
        result = {label: m.to_dict() for label, m in measured.items()}
        for label, count in counts.items():
            result[label]["parameters"] = count
    return result | failed


def tune(plan: Plan) -> dict:
    """Spinning threads of PyTorch lose much where another process wants a processor, and may gain a
    little where none does: whichever is faster here and now is used for all that follows."""
    setup = plan.setup(method="cpc")
    effort = Effort(rounds=4, count=4, budget=20.0)
    with ExitStack() as stack:
        workers = {}
        for policy, variables in WAIT_POLICIES.items():
            environment["torch"] = variables
            workers[policy] = stack.enter_context(Worker(TORCH_EAGER[0], setup))
        measured = alternate(workers, effort)
    medians = {policy: m.to_dict()["median"] for policy, m in measured.items()}
    chosen = min(medians, key=medians.get)
    environment["torch"] = WAIT_POLICIES[chosen]
    return {"waiting": chosen, "variables": WAIT_POLICIES[chosen], "medians": medians}


def steps(plan: Plan):
    """A step of each method, every variant."""
    for method in METHODS:
        setup = plan.setup(method=method)
        variants = measure(OURS + plan.peers, setup, plan.effort)
        yield method, {
            "gflop": step_gflop(setup),
            "parameters": parameter_count(setup),
            "variants": variants,
            "doubts": doubts(variants, setup),
        }


def doubts(variants: dict, setup: Setup) -> list[str]:
    """Reasons not to believe that all sides did the same."""
    found = []
    measured = {label: v for label, v in variants.items() if "median" in v}
    first = [v["first_loss"] for label, v in measured.items() if label.startswith("ours")]
    for label, v in measured.items():
        if v.get("parameters") != parameter_count(setup):
            found.append(f"{label} has {v.get('parameters')} parameters")
        if not v["losses_finite"]:
            found.append(f"{label}: the loss is not finite")
        elif v["last_loss"] >= v["first_loss"]:
            found.append(f"{label}: the loss did not fall")
        # Other random numbers, but the same distributions at the start.
        elif first and abs(v["first_loss"] - first[0]) > 0.1 * abs(first[0]):
            found.append(f"{label}: began at {v['first_loss']:.0f}, ours at {first[0]:.0f}")
        if v["idle_processors"] > 0.05:
            found.append(f"{label}: waiting workers used {v['idle_processors']:.2f} processors")
    foreign = max((v["foreign_processors"] for v in measured.values()), default=0.0)
    if foreign > 0.1:
        found.append(f"other processes used up to {foreign:.1f} processors meanwhile")
    found += [f"{label} failed: {v['error']}" for label, v in variants.items() if "error" in v]
    return found


def growth(plan: Plan, best_torch: Variant):
    """How the cost of a step grows; PyTorch by its fastest f32 variant."""
    sides = OURS + [best_torch]
    points = [("batch", "cpc", batch, {"batch": batch}) for batch in BATCHES]
    points += [("code", "cpc", c + TRANSFORM, {"code": c + TRANSFORM}) for c in CONTENTS]
    points += [
        ("classes", method, classes, {"classes": classes})
        for method in ("cpc", "m2")
        for classes in CLASSES
    ]
    points += [("threads", "cpc", threads, {"threads": threads}) for threads in (1, 2)]
    for key, method, value, values in points:
        setup = plan.setup(method=method, **values)
        variants = sides + (JAX if key == "threads" else [])
        measured = measure(variants, setup, plan.growth_effort)
        for v in measured.values():
            v.pop("rounds", None)
        point = {"method": method, key: value, "gflop": step_gflop(setup), "variants": measured}
        yield key, point


def inference(plan: Plan):
    """Predictions and codes of 20,000 rows."""
    setup = plan.setup(method="cpc", rows=INFERENCE_ROWS)
    compiled = [v for v in TORCH_COMPILED if v.how == "compile-f32" and not plan.quick]
    effort = Effort(rounds=2, count=2) if plan.quick else Effort(rounds=5, count=3)
    for op in ("predict", "encode"):
        variants = OURS + TORCH_EAGER + compiled + JAX
        yield op, measure(variants, setup, effort, op, rows=INFERENCE_ROWS)


def profile(plan: Plan) -> dict:
    """Where our step's time goes, and what the machine can do."""
    count = 10 if plan.quick else 20
    result: dict = {"peak_gflops": {}, "torch_product_gflops": {}, "steps": {}}
    for threads in (1, 2):
        setup = plan.setup(threads=threads)
        with Worker(OURS[1], setup) as worker:
            result["peak_gflops"][threads] = worker.ask("peak")["gflops"]
        with Worker(TORCH_EAGER[0], setup) as worker:
            result["torch_product_gflops"][threads] = worker.ask("product")["gflops"]
    for method in ("cpc",) if plan.quick else METHODS:
        setup = plan.setup(method=method)
        for variant in OURS:
            with Worker(variant, setup) as worker:
                worker.ask("steps", lead=3, count=0)
                answer = worker.ask("profile", count=count)
            result["steps"][f"{method} {variant.label}"] = {
                "gflop": step_gflop(setup),
                "seconds": sum(answer["seconds"]) / count,
                "parts": {
                    name: {
                        "calls": part["calls"] / count,
                        "seconds": part["seconds"] / count,
                        "gflop": part["flop"] / count * 1e-9,
                    }
                    for name, part in answer["parts"].items()
                },
            }
    return result


def memory(plan: Plan) -> dict:
    """Peak memory of a fresh process that takes 30 steps on 60,000 rows in f32."""
    setup = plan.setup(method="cpc", rows=MEMORY_ROWS)
    result = {}
    for variant in OURS + TORCH_EAGER[:1]:
        with Worker(variant, setup) as worker:
            start = worker.ask("memory")["peak_bytes"]
            if variant.engine == "ours":
                worker.ask("steps", lead=0, count=MEMORY_STEPS)
            else:
                worker.ask("gathered_steps", count=MEMORY_STEPS)
            peak = worker.ask("memory")["peak_bytes"]
        result[variant.label] = {"peak_bytes": peak, "before_training_bytes": start}
    result["data_bytes"] = MEMORY_ROWS * 784 * 4
    result["parameter_bytes"] = 4 * parameter_count(setup)
    return result


def checks() -> dict:
    """The peers' own tests, in `check.py`."""
    done = subprocess.run([sys.executable, str(HERE / "check.py")], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"bench/check.py failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def fastest(variants: dict, suitable) -> Variant | None:
    """The variant with the smallest median among those with a time."""
    measured = [(v["median"], label) for label, v in variants.items() if "median" in v]
    known = {v.label: v for v in OURS + TORCH_EAGER + TORCH_COMPILED + JAX}
    chosen = [(median, label) for median, label in measured if suitable(known[label])]
    return known[min(chosen)[1]] if chosen else None
