"""The report for people: models/README.md."""

from pathlib import Path

ATTRIBUTION = (Path(__file__).parent / "ATTRIBUTION.md").read_text()

OPENING = """# Learned efficiencies

Written by `training/train.py`; figures in % of the measured time.

Unseen shapes: whole weight shapes or head layouts held out on all GPUs. Unseen GPU: each GPU predicted by a model trained
without its rows from any source, with its identity columns empty. Such a model only knows the GPU's record, including the
sustained clock (fitted on its own GEMMs if it has any), and trains for at most half the epochs.

Bounds: each model also predicts the mean error of similar rows. A factor fitted on held-out rows (separately for seen and
unseen GPUs) turns it into a bound that 80 % of measurements stay within. The stated coverage is for shapes, or GPUs, that
the factor was not fitted on either. Repeats: the difference between two measurements with the same features, which no model
can beat.
"""


def line(name: str, errors: dict, roofline: str = "") -> str:
    figures = " | ".join(f"{errors[key]:.1f}" for key in ("mean", "median", "p90"))
    return f"| {name} | {errors['rows']:,} | {figures} | {errors['bias']:+.1f} | {roofline} |"


def errors_table(entry: dict) -> list[str]:
    lines = ["| rows held out | rows | mean | median | p90 | bias | plain roofline, mean |", "|---|---|---|---|---|---|---|"]
    for title, key in (("unseen shapes", "unseen_shapes"), ("unseen GPU", "unseen_gpu")):
        figures = entry["errors"].get(key)
        if not figures:
            continue
        lines.append(line(f"**{title}, all**", figures, f"{figures['roofline_mean']:.1f}"))
        for group in ("by_gpu", "by_dtype", "by_gpu_and_dtype", "by_kernel", "by_size"):
            lines += [line(f"{title}, {name}", errors) for name, errors in sorted(figures.get(group, {}).items())]
    return lines


def bounds(entry: dict) -> list[str]:
    lines = []
    for name, interval in entry["interval_80"].items():
        where = {"seen": "GPU seen, shape unseen", "unseen": "GPU unseen"}[name]
        lines.append(
            f"{where}: 80 % bounds cover {interval['covered']:.0f} % ({interval['covered_at_worst']:.0f} % at worst"
            f" of one {'shape' if name == 'seen' else 'GPU'}), median half-width {interval['median_width']:.0f} %."
        )
    return lines


def family(name: str, entry: dict) -> list[str]:
    size = entry["bytes"] / 1024
    lines = [f"## {name}", "", f"{entry['rows']:,} rows, {entry['features']} features (schema {entry['schema_version']}), {size:.0f} KiB.", ""]
    lines += errors_table(entry) + [""] + bounds(entry)
    if entry["repeats"]["rows"]:
        lines.append(f"Repeats: median {entry['repeats']['median']:.1f} %, mean {entry['repeats']['mean']:.1f} %.")
    if entry.get("ablations"):
        lines += ["", "| columns left out (short fits) | unseen shapes, mean | unseen H200 and L40S, mean |", "|---|---|---|"]
        lines += [f"| {what} | {e['unseen_shapes']:.1f} | {e['unseen_gpu']:.1f} |" for what, e in entry["ablations"].items()]
    left_out = sum(entry["left_out"].values())
    if left_out:
        lines += ["", f"Rows left out, {left_out:,} in all:", ""]
        lines += [f"* {count:,}: {reason}" for reason, count in sorted(entry["left_out"].items(), key=lambda item: -item[1])]
    return lines + [""]


def write(path: Path, manifest: dict):
    lines = [OPENING]
    for name, entry in manifest["families"].items():
        lines += family(name, entry)
    path.write_text("\n".join(lines) + "\n" + ATTRIBUTION)
