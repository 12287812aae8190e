"""Tables and ratios from measured values."""

from sections import fastest


def table(header: list[str], rows: list[list]) -> str:
    """Markdown."""
    lines = [header, ["---"] + ["---:"] * (len(header) - 1)]
    lines += [[str(cell) for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def ms(seconds: float) -> str:
    return f"{1000.0 * seconds:.1f}"


def best_peer(variants: dict, f32_only: bool = False):
    """The fastest of the others, by its median."""
    return fastest(
        variants, lambda v: v.engine != "ours" and (not f32_only or v.precision == "f32")
    )


def ratio_of(variants: dict, ours: str, f32_only: bool = False) -> dict | None:
    """Ours over the best peer: medians over medians, and best over best."""
    peer = best_peer(variants, f32_only)
    mine = variants.get(ours, {})
    if peer is None or "median" not in mine:
        return None
    theirs = variants[peer.label]
    return {
        "median": mine["median"] / theirs["median"],
        "best": mine["best"] / min_best(variants, f32_only),
        "peer": peer.label,
    }


def min_best(variants: dict, f32_only: bool) -> float:
    """The fastest single step of any peer."""
    return min(
        v["best"]
        for label, v in variants.items()
        if "best" in v
        and not label.startswith("ours")
        and not (f32_only and not label.endswith("f32"))
    )


def ratios(results: dict) -> dict:
    """What `--json` tells, each with the best-of ratio and the peer beside the median's."""
    found = {}
    ours_auto = f"ours {results['machine']['auto']}"
    for method, one in results.get("steps", {}).items():
        found[f"{method}_step"] = ratio_of(one["variants"], ours_auto)
        found[f"{method}_step_f32"] = ratio_of(one["variants"], "ours f32", f32_only=True)
    for op, variants in results.get("inference", {}).items():
        found[op] = ratio_of(variants, ours_auto)
        found[f"{op}_f32"] = ratio_of(variants, "ours f32", f32_only=True)
    found |= results.get("wrn_ratios", {})
    if memory := results.get("memory"):
        ours, peer = memory[ours_auto]["peak_bytes"], memory["torch eager-f32"]["peak_bytes"]
        found["peak_memory"] = {"median": ours / peer, "best": ours / peer, "peer": "torch eager-f32"}
    return {name: ratio for name, ratio in found.items() if ratio}


def steps(method: str, one: dict) -> str:
    variants = one["variants"]
    peer = best_peer(variants)
    fast = variants[peer.label]["median"] if peer else float("nan")
    rows = []
    for label, v in variants.items():
        if "median" not in v:
            rows.append([label, "failed", "", "", "", ""])
            continue
        note = f"{v['steps']} (cut)" if v["cut"] else v["steps"]
        speed = f"{one['gflop'] / v['median']:.0f}"
        rows.append([label, ms(v["median"]), ms(v["best"]), note, speed, f"{v['median'] / fast:.2f}"])
    head = [f"{method} step", "median ms", "best ms", "steps", "GFLOP/s", "over best peer"]
    text = f"\n### {method}: {one['gflop']:.1f} GFLOP a step\n\n" + table(head, rows)
    return text + "".join(f"\nDoubt: {doubt}\n" for doubt in one["doubts"])


def growth(key: str, points: list[dict]) -> str:
    labels = list(points[0]["variants"])
    head = [key, "method", "GFLOP"] + [f"{label}, ms" for label in labels]
    rows = []
    for point in points:
        cells = (point["variants"].get(label, {}) for label in labels)
        times = [ms(v["median"]) if "median" in v else "failed" for v in cells]
        rows.append([point[key], point["method"], f"{point['gflop']:.1f}"] + times)
    return f"\n### Growth with {key}\n\n" + table(head, rows)


def inference(op: str, variants: dict, count: int) -> str:
    rows = []
    for label, v in variants.items():
        if "median" not in v:
            rows.append([label, "failed", "", ""])
            continue
        speed = [f"{count / v[key]:,.0f}" for key in ("median", "best")]
        rows.append([label, ms(v["median"]), *speed])
    head = [op, "median ms", "rows/s", "rows/s, best"]
    return f"\n### {op}, {count:,} rows\n\n" + table(head, rows)


def profile(result: dict) -> str:
    peaks, products = result["peak_gflops"], result["torch_product_gflops"]
    rows = [
        [threads, f"{peaks[threads]:.0f}" if peaks[threads] else "not measured", f"{product:.0f}"]
        for threads, product in products.items()
    ]
    text = "\n### The machine\n\n"
    text += table(["threads", "peak GFLOP/s, f32", "PyTorch's large product, GFLOP/s"], rows)
    peak = peaks[2]

    def of_peak(gflop: float, seconds: float) -> str:
        return f"{gflop / seconds / peak:.0%}" if peak and gflop and seconds else ""

    for name, step in result["steps"].items():
        total = step["seconds"]
        rows = []
        by_time = sorted(step["parts"].items(), key=lambda item: -item[1]["seconds"])
        for part, v in by_time:
            seconds, gflop = v["seconds"], v["gflop"]
            speed = f"{gflop / seconds:.0f}" if gflop and seconds else ""
            share = f"{seconds / total:.1%}"
            rows.append([part, f"{v['calls']:.3g}", ms(seconds), share, speed, of_peak(gflop, seconds)])
        between = total - sum(v["seconds"] for v in step["parts"].values())
        rows.append(["between the ops", "", ms(between), f"{between / total:.1%}", "", ""])
        speed = f"{step['gflop'] / total:.0f}"
        rows.append(["whole step", 1, ms(total), "100%", speed, of_peak(step["gflop"], total)])
        head = ["part", "calls a step", "ms a step", "share", "GFLOP/s", "of the peak"]
        text += f"\n### Where the time goes: {name}\n\n" + table(head, rows)
        text += f"\n{loading(step)}\n"
    return text


def loading(step: dict) -> str:
    """Data loading and logging as a share of the step."""
    parts = [step["parts"][name]["seconds"] for name in ("batch", "log") if name in step["parts"]]
    if not parts:
        return "Data loading and logging: not timed by this build."
    return f"Data loading and logging: {sum(parts) / step['seconds']:.2%} of the step."


def memory(result: dict) -> str:
    rows = [
        [label, f"{v['peak_bytes'] / 1e6:,.0f}", f"{v['before_training_bytes'] / 1e6:,.0f}"]
        for label, v in result.items()
        if isinstance(v, dict)
    ]
    head = ["30 cpc steps, 60,000 rows", "peak MB", "of it before the first step"]
    data, weights = result["data_bytes"] / 1e6, result["parameter_bytes"] / 1e6
    text = "\n### Peak memory\n\n" + table(head, rows)
    return text + f"\nThe rows alone take {data:.0f} MB, the parameters {weights:.0f} MB.\n"


def ratio_table(found: dict) -> str:
    rows = [
        [name, f"{r['median']:.2f}", f"{r['best']:.2f}", r["peer"]] for name, r in found.items()
    ]
    return "\n### Ours over the best peer\n\n" + table(["", "median", "best", "peer"], rows)
