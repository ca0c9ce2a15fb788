"""Errors of predicted against measured times, and the report."""

import numpy as np

COVERAGE = 0.8


def errors(ln_ratio: np.ndarray) -> dict:
    """Of ln(predicted / measured): mean and median absolute error and median bias, in %."""
    if len(ln_ratio) == 0:
        return {"rows": 0}
    off = 100.0 * np.abs(np.expm1(ln_ratio))
    return {
        "rows": int(len(off)),
        "mean": round(float(off.mean()), 2),
        "median": round(float(np.median(off)), 2),
        "p90": round(float(np.percentile(off, 90)), 2),
        "bias": round(100.0 * float(np.expm1(np.median(ln_ratio))), 2),
    }


def quantile(ln_ratio: np.ndarray) -> float:
    """The |ln ratio| that a new prediction stays within with the coverage, by split conformal."""
    off = np.sort(np.abs(ln_ratio))
    rank = int(np.ceil((len(off) + 1) * COVERAGE)) - 1
    return round(float(off[min(rank, len(off) - 1)]), 4)


def grouped(rows, ln_ratio, chosen) -> dict:
    """Errors of the chosen rows: all, by GPU, by format, and of the plain roofline."""

    def by(codes, names):
        return {names[code]: errors(ln_ratio[chosen & (codes == code)]) for code in np.unique(codes[chosen])}

    roofline = (rows.ln_ideal - rows.ln_measured)[chosen]
    return {
        **errors(ln_ratio[chosen]),
        "roofline_mean": errors(roofline)["mean"],
        "by_gpu": by(rows.gpu, rows.header["gpus"]),
        "by_dtype": by(rows.dtype, rows.header["dtypes"]),
        "by_kernel": by(rows.kernel, rows.header["kernels"]),
    }


def table(entry: dict) -> list[str]:
    """Markdown of one family's figures."""
    lines = ["| rows held out | mean | median | p90 | bias | plain roofline, mean |", "|---|---|---|---|---|---|"]

    def line(name, e, roofline=""):
        return f"| {name} | {e['mean']:.1f} | {e['median']:.1f} | {e['p90']:.1f} | {e['bias']:+.1f} | {roofline} |"

    for title, key in (("unseen shapes", "unseen_shapes"), ("unseen GPU", "unseen_gpu")):
        figures = entry["errors"].get(key)
        if not figures:
            continue
        lines.append(line(f"**{title}, all**", figures, f"{figures['roofline_mean']:.1f}"))
        for group in ("by_gpu", "by_dtype"):
            for name, e in sorted(figures[group].items()):
                lines.append(line(f"{title}, {name}", e))
    return lines
