"""Compares the terms of two trainings step by step; fails beyond a tolerance.

Usage: python3 compare.py NAME CPU.jsonl GPU.jsonl STEPS FIRST ALL. FIRST and ALL are the largest
differences allowed in the first step and in all steps, relative to the term's size, or to a
thousandth of the loss for smaller terms.
"""

import json
import sys


def terms(path, steps):
    """The terms of each step."""
    with open(path) as file:
        lines = [json.loads(line) for line in file]
    lines = {line["step"]: line for line in lines if "loss" in line}
    missing = [step for step in range(1, steps + 1) if step not in lines]
    if missing:
        sys.exit(f"{path}: no step {missing[0]}")
    return [
        {name: value for name, value in lines[step].items() if name not in ("step", "stage", "validation")}
        for step in range(1, steps + 1)
    ]


def main():
    """Prints the largest difference of each term, and the first and last step."""
    name, cpu, gpu, steps, first, most = sys.argv[1:]
    steps, limits = int(steps), (float(first), float(most))
    cpu, gpu = terms(cpu, steps), terms(gpu, steps)
    worst, failed = {}, False
    for step, (ours, theirs) in enumerate(zip(cpu, gpu), 1):
        if ours.keys() != theirs.keys():
            sys.exit(f"{name}, step {step}: other terms: {sorted(ours)}, {sorted(theirs)}")
        for term, value in ours.items():
            size = max(abs(value), abs(theirs[term]), 1e-3 * abs(ours["loss"]))
            difference = abs(value - theirs[term]) / size if size > 0 else 0.0
            # A NaN is beyond every tolerance.
            if not difference <= limits[min(step - 1, 1)]:
                failed = True
                print(f"{name}, step {step}: {term} is {value} on the CPU and {theirs[term]} on the GPU")
            worst[term] = max(worst.get(term, (0.0, 0)), (difference, step))
    print(f"{name}, {steps} steps:   cpu, gpu at step 1;   cpu, gpu at step {steps};   largest difference")
    for term, (difference, step) in worst.items():
        values = [f"{run[term]:.7g}" for run in (cpu[0], gpu[0], cpu[-1], gpu[-1])]
        print(f"  {term:16} {' '.join(f'{value:>12}' for value in values)}   {difference:.1e} (step {step})")
    print(f"{name}: {'DIFFERENT' if failed else 'same within tolerance'}")
    sys.exit(failed)


main()
