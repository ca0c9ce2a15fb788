"""Errors of predicted against measured times, and the calibration of their bounds."""

import numpy as np

COVERAGE = 0.8
# Upper ends of the size classes, in measured µs.
SIZES = (20.0, 100.0, 1000.0)


def errors(ln_ratio: np.ndarray) -> dict:
    """Of ln(predicted / measured): mean, median and p90 of the absolute error and median bias, in %."""
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


def factor(ln_ratio: np.ndarray, spread: np.ndarray) -> float:
    """What spreads are multiplied with so that a new prediction stays within with the coverage, by split
    conformal."""
    off = np.sort(np.abs(ln_ratio) / spread)
    rank = int(np.ceil((len(off) + 1) * COVERAGE)) - 1
    return float(off[min(rank, len(off) - 1)])


def calibrated(ln_ratio: np.ndarray, spread: np.ndarray, group: np.ndarray) -> dict:
    """The factor over all groups; and the share of each group's rows that the factor fitted on the *other*
    groups covers, on average and at worst: what a group nobody measured may expect."""
    groups = np.unique(group)
    covered = []
    for left in groups:
        rest = group != left
        if not rest.any():
            continue
        within = np.abs(ln_ratio[~rest]) <= factor(ln_ratio[rest], spread[rest]) * spread[~rest]
        covered.append((float(within.mean()), int((~rest).sum())))
    share, rows = np.array(covered).T if covered else (np.array([np.nan]), np.array([1]))
    return {
        "factor": round(factor(ln_ratio, spread), 4),
        "covered": round(100.0 * float((share * rows).sum() / rows.sum()), 1),
        "covered_at_worst": round(100.0 * float(share.min()), 1),
        "median_width": round(100.0 * float(np.expm1(factor(ln_ratio, spread) * np.median(spread))), 1),
    }


def size_class(micros: float) -> str:
    for limit in SIZES:
        if micros <= limit:
            return f"up to {limit:g} µs"
    return f"over {SIZES[-1]:g} µs"


def grouped(rows, ln_ratio, chosen) -> dict:
    """Errors of the chosen rows: all, by GPU, format, both, kernel and size, and of the plain roofline."""

    def by(codes, names):
        return {names[code]: errors(ln_ratio[chosen & (codes == code)]) for code in np.unique(codes[chosen])}

    formats = len(rows.header["dtypes"])
    pairs = [f"{gpu}, {dtype}" for gpu in rows.header["gpus"] for dtype in rows.header["dtypes"]]
    limits = np.log(np.array(SIZES))
    sizes = np.searchsorted(limits, rows.ln_measured)
    names = [size_class(limit) for limit in SIZES] + [size_class(np.inf)]
    roofline = (rows.ln_ideal - rows.ln_measured)[chosen]
    return {
        **errors(ln_ratio[chosen]),
        "roofline_mean": errors(roofline)["mean"],
        "by_gpu": by(rows.gpu, rows.header["gpus"]),
        "by_dtype": by(rows.dtype, rows.header["dtypes"]),
        "by_gpu_and_dtype": by(rows.gpu * formats + rows.dtype, pairs),
        "by_kernel": by(rows.kernel, rows.header["kernels"]),
        "by_size": by(sizes, names),
    }


def repeats(rows) -> dict:
    """Errors of one measurement as the prediction of another whose features are the same: what no model of
    these features can beat."""
    reference = np.flatnonzero(rows.reference)
    _, inverse, counts = np.unique(rows.features[reference], axis=0, return_inverse=True, return_counts=True)
    order = reference[np.argsort(inverse.ravel(), kind="stable")]
    firsts = np.repeat(np.cumsum(counts) - counts, counts)
    later = np.arange(len(order)) > firsts
    return errors((rows.ln_measured[order] - rows.ln_measured[order[firsts]])[later])
