"""Splits the TPOT of closed loops that differ in output length alone into the time of a decode step and what a prompt adds.

Between two of its tokens a request waits for the prompts of the others: in the time of its OSL tokens each of the other C - 1 clients
sends one. So TPOT = decode + prompt * (C - 1) / OSL, if no two prompts of a step belong to requests that decode afterwards in step. Prints
both, in milliseconds, by engine, version, model, GPU, TP, EP, ISL and C, as measured and as predicted by physics:

    evaluate serving --cases CASES ... --json --per-case PREDICTED > /dev/null
    step_times.py PREDICTED CASES ...
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

# Two unknowns, and one length more than they need.
LEAST_LENGTHS = 3


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def split(clients, by_length):
    """Decode and prompt, by least squares over the output lengths."""
    lengths = np.array(sorted(by_length))
    terms = np.column_stack([np.ones(len(lengths)), (clients - 1) / lengths])
    return np.linalg.lstsq(terms, np.array([by_length[length] for length in lengths]), rcond=None)[0]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("predicted", type=Path)
    arguments.add_argument("cases", type=Path, nargs="+")
    given = arguments.parse_args()

    said = {row["id"]: row["physics"] for row in lines(given.predicted) if "physics" in row}
    runs = defaultdict(dict)
    for case in (case for path in given.cases for case in lines(path)):
        if case.get("kind") != "closed_loop" or "tpot_ms" not in case["measured"] or "tpot_ms" not in said.get(case["id"], {}):
            continue
        same = (case["engine"], case.get("engine_version") or "", case["model"], case["gpu"], case["tp"], case["ep"])
        run = runs[(*same, case["isl"], case["concurrency"])]
        run[case["osl"]] = (case["measured"]["tpot_ms"], said[case["id"]]["tpot_ms"])

    print("                                              decode        a prompt")
    print(" TP  EP   ISL clients                measured  said   measured  said")
    last = None
    for (*same, isl, clients), by_length in sorted(runs.items()):
        if len(by_length) < LEAST_LENGTHS:
            continue
        if last != (last := same[:4]):
            print(" ".join(last))
        measured, predicted = (split(clients, {osl: both[of] for osl, both in by_length.items()}) for of in (0, 1))
        print(f"{same[4]:3} {same[5]:3} {isl:5} {clients:7} {measured[0]:23.1f} {predicted[0]:5.1f} {measured[1]:10.1f} {predicted[1]:5.1f}")


if __name__ == "__main__":
    main()
