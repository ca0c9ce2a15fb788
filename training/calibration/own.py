"""What one and three runs of one's own are worth: errors of the other loads of measured sweeps.

    python3 training/calibration/own.py responses.jsonl

Each sweep (five and more loads of one configuration) is predicted without its configuration, then with the run in the middle of its loads,
then with the least, the middle and the largest; and the configuration's runs at other lengths with the first. By the covariance of
models/calibration.json and the responses, without simulating anew.
"""

import collections
import json
import pathlib
import sys

import numpy as np

from fit import OUT, kept
from prior import LAYOUT, METRICS, Prior, Runs, codes

LEAST_LOADS = 5


class Configuration:
    """The rows of a configuration, by all runs of others: their mean and their joint covariance."""

    def __init__(self, runs, inverse, members):
        self.rows = np.flatnonzero(np.isin(runs.of, members))
        self.covariance = np.linalg.inv(inverse[np.ix_(self.rows, self.rows)])
        self.ratio, self.real = runs.ratio[self.rows], runs.log_ratio[self.rows]
        self.mean = self.ratio - self.covariance @ (inverse @ runs.ratio)[self.rows]
        self.run, self.metric = runs.of[self.rows], runs.metric[self.rows]

    def errors(self, own, asked):
        """Of each metric of the runs `asked`, in %, when the runs `own` are known too."""
        known, wanted = np.isin(self.run, own), np.isin(self.run, asked)
        mean = self.mean[wanted]
        if known.any():
            gain = self.covariance[np.ix_(wanted, known)] @ np.linalg.inv(self.covariance[np.ix_(known, known)])
            mean = mean + gain @ (self.ratio - self.mean)[known]
        off = 100 * np.abs(np.expm1(mean - self.real[wanted]))
        return {name: off[self.metric[wanted] == number] for number, name in enumerate(METRICS)}


def sweeps(runs, members):
    """Runs of the same lengths, by rising load."""
    found = collections.defaultdict(list)
    for run in members:
        found[runs.points[run]["prompt"], runs.points[run]["output"]].append(run)
    for loads in found.values():
        if len(loads) >= LEAST_LOADS:
            yield sorted(loads, key=lambda run: runs.points[run]["in_flight"])


def fitted(path):
    """The runs of a file of responses, the inverse of their covariance as fitted, and each run's configuration."""
    runs = Runs([json.loads(line) for line in pathlib.Path(path).read_text().splitlines()])
    theta = kept(json.loads(OUT.read_text()))
    return runs, Prior.weighed(runs, theta).inverse(theta), codes(runs.points, LAYOUT)


def main():
    runs, inverse, of_layout = fitted(sys.argv[1])
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for layout in np.unique(of_layout):
        members = np.flatnonzero(of_layout == layout)
        if len(members) < LEAST_LOADS:
            continue
        configuration = Configuration(runs, inverse, members)
        for loads in sweeps(runs, members):
            least, middle, largest = loads[0], loads[len(loads) // 2], loads[-1]
            others = [run for run in members if run not in loads]
            asked = {
                "no run of its own": ([], [run for run in loads if run != middle]),
                "one, other loads": ([middle], [run for run in loads if run != middle]),
                "three, other loads": ([least, middle, largest], [run for run in loads if run not in (least, middle, largest)]),
                "none, other lengths": ([], others),
                "one, other lengths": ([middle], others),
            }
            for name, (own, wanted) in asked.items():
                for metric, errors in configuration.errors(own, wanted).items():
                    found[name][metric].extend(errors)
    for name, metrics in found.items():
        of = [f"{metric} {np.median(errors):.1f} / {np.mean(errors):.1f} %" for metric, errors in metrics.items() if errors]
        print(f"{name:20} {', '.join(of)} (median / mean)")


if __name__ == "__main__":
    main()
