"""Fits the engines' host times on measured closed loops, and prints them with how far they move without a model or GPU.

Six constants an engine, each physical and above zero: what the host adds to a decode step, to each sequence of a step, to
a kernel launched without a graph, to the API server's work on a request, to a request and to a prompt token. Every case is simulated by
`evaluate serving` once for each constant, and its times are taken as linear in the constants around that point; the point is renewed until
the error no longer falls.

The catalog has two of them from this fit, with at most 8 clients: admission_us and prompt_token_us. The others are set on bursts, and
by trial on every fifth run (`static/catalog/README.md`).
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
ROOT = HERE.parent
NAMES = ("decode_step_us", "sequence_us", "eager_launch_us", "frontend_us", "admission_us", "prompt_token_us")
# Limit of a case's error, as the logarithm of the ratio: beyond it something else is wrong, so it weighs no more.
MAX_ABS_LN_ERROR = 0.7
# Runs whose measured means differ by less than this, in ms, are one run that the table lists twice.
ROUNDING_MS = 0.0051
# Step of the finite differences: a share of the constant, and the minimum in us.
STEP_SHARE, LEAST_STEP_US = 0.2, 1.0
ROUNDS = 4
# Factors tried on each constant, finer in each round.
FACTORS = ((0.1, 0.2, 0.4, 0.7, 1.5, 2.5, 5.0, 10.0), (0.6, 0.8, 1.25, 1.6), (0.9, 0.96, 1.04, 1.1))
# Error added for a constant that is e times the catalog's, or 1/e of it: a constant that runs determine less well than
# that stays.
ERROR_PER_SQUARED_LN_CHANGE = 0.004
# Minimum of a time in the linear approximation, as a share of the time it is expanded around: further away it is invalid.
LEAST_TIME_SHARE = 0.2


class Evaluate:
    """Predicted TTFT and TPOT of cases under host times, by `evaluate serving`."""

    def __init__(self, evaluate, folder):
        self.evaluate, self.folder = evaluate, Path(folder)
        self.engines = json.loads((ROOT / "static/catalog/engines.json").read_text())

    def catalog(self):
        """{engine: the catalog's constants}."""
        return {one["id"]: np.array([one["host"][name][0] for name in NAMES]) for one in self.engines["engines"]}

    def __call__(self, cases, hosts):
        """The report and {id: case}."""
        for engine in self.engines["engines"]:
            for name, value in zip(NAMES, hosts[engine["id"]]):
                engine["host"][name][0] = float(value)
        engines, per_case = self.folder / "engines.json", self.folder / "cases.jsonl"
        engines.write_text(json.dumps(self.engines))
        command = [self.evaluate, "serving", "--cases", cases, "--engines", engines, "--per-case", per_case, "--json"]
        report = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
        compared = [json.loads(line) for line in per_case.read_text().splitlines()]
        return report["closed_loop"], {case["id"]: case for case in compared}


def usable(cases, most_clients, report, compared):
    """Runs of at most so many clients with a recorded start that no other run repeats or contradicts, as lines of a case file."""
    doubtful = {one["id"] for one in report["contradictions"]}
    kept, seen = [], []
    for line in cases.read_text().splitlines():
        case = json.loads(line)
        found = compared.get(case["id"])
        if not found or not found.get("recorded") or case["concurrency"] > most_clients or case["id"] in doubtful:
            continue
        key = [case[name] for name in ("isl", "osl", "concurrency", "gpu", "engine", "precision")]
        times = np.array([case["measured"]["ttft_ms"], case["measured"]["tpot_ms"]])
        if not any(key == other and (abs(times - at) < ROUNDING_MS).all() for other, at in seen):
            kept.append(line)
        seen.append((key, times))
    return kept


def times(cases, what):
    return np.array([[case[what]["ttft_ms"], case[what]["tpot_ms"]] for case in cases])


def error(predicted, measured):
    """Mean over runs and both metrics."""
    return float(np.minimum(np.abs(np.log(predicted / measured)), MAX_ABS_LN_ERROR).mean()) if len(measured) else 0.0


def best(around, seen, slopes, measured, catalog):
    """The constants that fit the runs best, coordinate by coordinate, finer each round."""

    def cost(constants):
        predicted = np.maximum(seen + slopes @ (constants - around), LEAST_TIME_SHARE * seen)
        return error(predicted, measured) + ERROR_PER_SQUARED_LN_CHANGE * float((np.log(constants / catalog) ** 2).sum())

    found, least = around.copy(), cost(around)
    for factors in FACTORS:
        # Constants compensate each other: a round is repeated until it changes nothing.
        for _ in range(20):
            before = least
            for index, factor in ((index, factor) for index in range(len(NAMES)) for factor in factors):
                tried = found.copy()
                tried[index] *= factor
                if (now := cost(tried)) < least:
                    found, least = tried, now
            if least >= before:
                break
    return found


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--cases", type=Path, default=ROOT.parent / "shared/data/e2e/cases.jsonl")
    # With more, queues hide what the host does.
    arguments.add_argument("--clients", type=int, default=256, help="fits runs of at most so many clients")
    arguments.add_argument("--every", type=int, default=1, help="fits every so many-th run only")
    arguments.add_argument("--evaluate", default=str(ROOT / "target/release/evaluate"))
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        evaluate = Evaluate(chosen.evaluate, folder)
        catalog = evaluate.catalog()
        lines = usable(chosen.cases, chosen.clients, *evaluate(chosen.cases, catalog))[:: chosen.every]
        cases = Path(folder) / "usable.jsonl"
        cases.write_text("\n".join(lines))
        print(json.dumps(fit(lambda hosts: evaluate(cases, hosts)[1], catalog), indent=1))


def fit(simulate, catalog):
    around, fitted, linear = dict(catalog), {}, {}
    for _ in range(ROUNDS + 1):
        now = simulate(around)
        moved = []
        for index in range(len(NAMES)):
            hosts = {engine: constants.copy() for engine, constants in around.items()}
            for constants in hosts.values():
                constants[index] += max(STEP_SHARE * constants[index], LEAST_STEP_US)
            moved.append((hosts, simulate(hosts)))
        better = False
        for engine, constants in around.items():
            ids = [id for id in now if now[id]["engine"] == engine and all(id in there for _, there in moved)]
            seen, measured = (times([now[id] for id in ids], what) for what in ("physics", "measured"))
            off = error(seen, measured)
            if engine in fitted and off >= fitted[engine]["error"]:
                continue
            better = True
            steps = [hosts[engine][index] - constants[index] for index, (hosts, _) in enumerate(moved)]
            slopes = [
                (times([there[id] for id in ids], "physics") - seen) / step for step, (_, there) in zip(steps, moved)
            ]
            linear[engine] = (constants, seen, np.stack(slopes, -1), measured, [now[id] for id in ids])
            fitted.setdefault(engine, dict(cases=len(ids), error_before=off))
            fitted[engine] |= dict(constants=dict(zip(NAMES, constants.tolist())), error=off)
        if not better:
            break
        around = {
            engine: best(*linear[engine][:4], catalog[engine]) if len(linear[engine][1]) else constants
            for engine, constants in around.items()
        }
    for engine, (constants, seen, slopes, measured, cases) in linear.items():
        fitted[engine]["without"] = dict(without(constants, seen, slopes, measured, cases, catalog[engine]))
    return fitted


def without(constants, seen, slopes, measured, cases, catalog):
    """The constants without each model and each GPU, and the linear form's error on what is left out."""
    for group in sorted({name for case in cases for name in (case["model"], case["gpu"])}):
        inside = np.array([group in (case["model"], case["gpu"]) for case in cases])
        if inside.all():
            continue
        found = best(constants, seen[~inside], slopes[~inside], measured[~inside], catalog)
        predicted = np.maximum(seen + slopes @ (found - constants), LEAST_TIME_SHARE * seen)
        yield group, dict(
            cases=int(inside.sum()),
            constants=dict(zip(NAMES, found.tolist())),
            error_left_out=error(predicted[inside], measured[inside]),
            error_fitted=error(seen[inside], measured[inside]),
        )


if __name__ == "__main__":
    main()
