"""Compares the results of two runs of an experiment: `python same.py A B STEM`.

A and B are folders of results. STEM.jsonl must be the same line by line but for what the clock and the
version say; STEM.csv must have the same bytes.
"""
import json
import sys


def lines(path):
    found = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            for key in ("seconds", "elapsed", "commit"):
                del record[key]
            record["metrics"].pop("step_seconds", None)
            found.append(record)
    return found


def main():
    a, b, stem = sys.argv[1:]
    first, second = lines(f"{a}/{stem}.jsonl"), lines(f"{b}/{stem}.jsonl")
    if first != second:
        sys.exit(f"{stem}.jsonl differs: {len(first)} and {len(second)} lines")
    with open(f"{a}/{stem}.csv", "rb") as one, open(f"{b}/{stem}.csv", "rb") as other:
        if one.read() != other.read():
            sys.exit(f"{stem}.csv differs")
    print(f"same: {len(first)} cells")


main()
