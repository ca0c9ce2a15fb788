"""Whether a run settles a comparison as much as predicted: pairs of measured runs that differ in one thing, at about the same load.

    python3 training/calibration/settling.py responses.jsonl

Each pair is predicted without both configurations, then with the first of the two runs known. Prints, by what differs: the share of
differences within their 80 % bands before and after; the share of the standard deviation predicted to remain; and the share of the
median error that does remain.
"""

import collections
import itertools
import sys

import numpy as np

from fit import HALF_WIDTH
from own import Configuration, fitted
from prior import METRICS

DIFFER = ["engine", "gpu", "format", "version", "layout"]
# Loads and lengths in the same step, of so many per doubling, count as equal.
STEPS = 4
MOST = 1500


def differs(one, other):
    """The one thing in which two points differ, if it is one."""
    layout = any(one[key] != other[key] for key in ("tp", "ep", "dp", "pp"))
    names = [name for name in DIFFER[:-1] if one[name] != other[name]] + ["layout"] * layout
    return names[0] if len(names) == 1 else None


def pairs(runs):
    """Pairs of closed loops of one model, about alike in load and lengths."""
    alike = collections.defaultdict(list)
    for index, (run, point) in enumerate(zip(runs.runs, runs.points)):
        if run["kind"] == "closed_loop":
            sizes = tuple(round(STEPS * np.log2(point[key])) for key in ("in_flight", "prompt", "output"))
            alike[point["shape"], point["kind"], sizes].append(index)
    for members in alike.values():
        for one, other in itertools.combinations(members, 2):
            if what := differs(runs.points[one], runs.points[other]):
                yield one, other, what


def settled(both, metric, one, other):
    """Of a metric: whether the difference is in its band, before and after run `one` is known; the deviation said to
    remain; and the errors."""
    first, second = (np.flatnonzero((both.run == run) & (both.metric == metric)) for run in (one, other))
    if not len(first) or not len(second):
        return None
    (i,), (j,), known = first, second, np.flatnonzero(both.run == one)
    covariance, off = both.covariance, both.real - both.mean
    before = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
    gain = np.linalg.solve(covariance[np.ix_(known, known)], covariance[known, j])
    after = covariance[j, j] - gain @ covariance[known, j]
    errors = abs(off[i] - off[j]), abs(off[j] - gain @ off[known])
    return [errors[0] <= HALF_WIDTH * before**0.5, errors[1] <= HALF_WIDTH * after**0.5, (after / before) ** 0.5, *errors]


def main():
    runs, inverse, of_layout = fitted(sys.argv[1])
    chosen = list(pairs(runs))
    np.random.default_rng(0).shuffle(chosen)
    found = collections.defaultdict(list)
    for one, other, what in chosen[:MOST]:
        one, other = int(one), int(other)
        both = Configuration(runs, inverse, np.flatnonzero(np.isin(of_layout, of_layout[[one, other]])))
        for number, metric in enumerate(METRICS):
            if (result := settled(both, number, one, other)) is not None:
                found[metric, what].append(result)
                found[metric, "all"].append(result)
    for (metric, what), results in sorted(found.items()):
        of = np.array(results, float)
        before, after, said = 100 * of[:, :3].mean(axis=0)
        left = 100 * np.median(of[:, 4]) / np.median(of[:, 3])
        print(f"{metric}, {what}: {len(of)} pairs, {before:.0f} -> {after:.0f} % within; {said:.0f} % said to remain, {left:.0f} % did")


if __name__ == "__main__":
    main()
