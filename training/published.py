"""Compares predictions with runs that others published and nothing was fitted to: `published_runs.jsonl`.

    python3 training/published.py target/release/predict

Prints each run with its predicted over its measured figures, then medians of the errors by load. The figures of a row are means or medians,
as `statistic` says. Nothing is fitted here, and no gate depends on it: what a source leaves out (engine version, launch) is as documented.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
from collections import defaultdict

RUNS = pathlib.Path(__file__).resolve().parent / "published_runs.jsonl"
# Where a report has each figure, and by how much it is multiplied.
FIGURES = {"ttft_ms": ("ttft", 1000), "tpot_ms": ("tpot", 1000), "output_per_s": ("output_per_s", 1)}


def predicted(report, figure, statistic):
    """A figure of the run, in the unit of the table; None if the report has none."""
    name, scale = FIGURES[figure]
    value = report["run"]["metrics"][name]
    if isinstance(value, dict):
        value = value[{"mean": "mean", "median": "p50"}[statistic]]
    return None if value is None else scale * value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("predict", type=pathlib.Path, help="the built tool")
    tool = parser.parse_args().predict
    runs = [json.loads(line) for line in RUNS.read_text().splitlines()]
    asked = "".join(run["link"] + "\n" for run in runs)
    answered = subprocess.run([tool, "--jsonl"], input=asked, capture_output=True, text=True, check=False).stdout
    errors = defaultdict(list)
    for run, line in zip(runs, answered.splitlines(), strict=True):
        report = json.loads(line).get("report")
        if not report or not report.get("run"):
            print(f"refused: {run['run']}")
            continue
        found = {figure: predicted(report, figure, run["statistic"]) for figure in run["measured"]}
        said = [f"{figure} {found[figure]:.4g}/{measured:.4g}" for figure, measured in run["measured"].items() if found[figure]]
        print(f"{run['kind']:12} {run['run']}: {', '.join(said)}")
        for figure, measured in run["measured"].items():
            if found[figure]:
                errors[run["kind"], figure].append(100 * (found[figure] / measured - 1))
    for (kind, figure), off in sorted(errors.items()):
        median, bias = statistics.median(map(abs, off)), statistics.median(off)
        print(f"{kind:12} {figure:13} {len(off):3} runs: off by {median:.0f} % in the median, signed {bias:+.0f} %")


if __name__ == "__main__":
    main()
