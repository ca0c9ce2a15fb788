"""Contributed runs, added to those that models/calibration.json holds without the tables these came from, and what that changed.

The file has of every run where it stands and what it observes, rounded. `contributed.json` lists those that were contributed, so that a
corrected contribution takes the place of the first one, and one that is withdrawn leaves nothing behind.
"""

import json
import pathlib

import numpy as np

from prior import FACTORS, FURTHEST, LAYOUT, METRICS, Prior, Runs, label

LIST = pathlib.Path(__file__).resolve().parent / "contributed.json"
# The ids of the other runs.
FROM_TABLES = LIST.with_name("from_tables.json")
BUILD_KEYS = ("engine", "version", "kind", "shape", "arch", "gpu", "format", "drafted")
LAYOUT_KEYS = ("tp", "ep", "dp", "pp")
SIZE_KEYS = ("in_flight", "prompt", "output")
# Of each run of a layout: its sizes, and what was observed.
COLUMNS = ("at", *METRICS)
# Responses and weights are written as multiples of these, because every visitor loads the file.
STEPS = [0.1, 0.1, 0.2]
# The weight of a run whose written weight is zero.
LEAST_WEIGHT = STEPS[2] / 4


def sizes(point):
    """To two digits: errors change over doublings."""
    return [float(f"{point[key]:.2g}") for key in SIZE_KEYS]


def figures(ratio, response, weight):
    """Ratio, response and weight as they are written. Waiting responds alike in every run."""
    # Coarser than they are known, but fine enough: a factor of 1.2 is then off by one per cent at most.
    coarse = [round(round(float(one) / step) * step, 2) for one, step in zip((*response[:2], weight), STEPS)]
    return [round(float(ratio), 2), *coarse]


class Known:
    """The runs that a file holds, the weights of their rows, and by how much the configuration of each is missed."""

    def __init__(self, runs=(), weights=(), missed=()):
        self.runs, self.weights, self.missed = list(runs), list(weights), list(missed)

    def add(self, run, weights, missed):
        self.runs.append(run)
        self.weights += [max(weight, LEAST_WEIGHT) for weight in weights]
        self.missed.append(missed)

    def __add__(self, other):
        return Known(self.runs + other.runs, self.weights + other.weights, self.missed + other.missed)


def runs_of(layout):
    """The runs of a layout, which the file holds by column."""
    held = [key for key in COLUMNS if key in layout]
    for values in zip(*(layout[key] for key in held), strict=True):
        yield {key: value for key, value in zip(held, values) if value is not None}


def known(file):
    """The runs of a file, as two groups: those from tables, and contributed ones."""
    listed = [(one["point"], one["observed"]) for one in json.loads(LIST.read_text())]
    others, contributed = Known(), Known()
    for build in file["builds"]:
        for layout in build["layouts"]:
            for run in runs_of(layout):
                point = {key: build[key] for key in BUILD_KEYS} | {key: layout[key] for key in LAYOUT_KEYS}
                point |= dict(zip(SIZE_KEYS, run["at"]))
                observed = {metric: run[metric][:3] for metric in METRICS if metric in run}
                into = contributed if (point, observed) in listed else others
                into.add({"point": point, "observed": observed}, [run[metric][3] for metric in observed], layout["misses"])
    return others, contributed


def rows(runs):
    """The contributed ones of the runs, as they are written."""
    found = []
    for run in (run for run in runs if "contributor" in run):
        point = {key: run["point"][key] for key in (*BUILD_KEYS, *LAYOUT_KEYS)} | dict(zip(SIZE_KEYS, sizes(run["point"])))
        observed = {m: figures(np.clip(of[0], -FURTHEST, FURTHEST), of[1:], 1.0)[:3] for m, of in run["observed"].items()}
        found.append({"id": run["id"], "contributor": run["contributor"], "point": point, "observed": observed})
    return found


def write_list(runs):
    LIST.write_text("[" + ",".join("\n" + json.dumps(row, separators=(",", ":")) for row in rows(runs)) + "\n]\n")


def write_ids(runs):
    ids = sorted(run["id"] for run in runs if "contributor" not in run)
    FROM_TABLES.write_text("[" + ",".join(f'\n"{one}"' for one in ids) + "\n]\n")


def missing(new):
    """The ids of the listed runs that are not among these."""
    given = {run["id"] for run in new}
    return [row["id"] for row in json.loads(LIST.read_text()) if row["id"] not in given]


def names(runs):
    return sorted({run["contributor"] for run in runs if "contributor" in run})


def joined(theta, file, new, misses):
    """The runs of a file with contributed ones, weighed, and by how much each configuration is missed, or None if nothing changes.

    Weights and misses of the file stay but for what contributed runs do to them: from its rounded figures, all would come out a little
    different.
    """
    if rows(new) == json.loads(LIST.read_text()):
        return None
    others, earlier = known(file)
    present, count, first = others + earlier, len(others.runs), len(others.weights)
    before, after = Runs(present.runs), Runs(others.runs + new)
    missed = [weighed(theta, runs, misses) for runs in (before, after)]
    weights = np.array(others.weights) + after.weight[:first] - before.weight[:first]
    after.weight[:first] = np.maximum(weights, LEAST_WEIGHT)
    before.weight = np.array(present.weights)
    print(f"{len(new)} contributed runs by {', '.join(names(new)) or 'nobody'} join {count}, in the place of {len(earlier.runs)}")
    report(theta, before, after, count)
    return after, list(changed(by_layout(before, present.missed), by_layout(before, missed[0]), after, missed[1]))


def weighed(theta, runs, misses):
    """By how much the configuration of each run is missed, with the runs weighed."""
    return misses(Prior.weighed(runs, theta), theta)


def layout_of(point):
    return tuple(label(point, name) for name in LAYOUT)


def by_layout(runs, missed):
    return dict(zip(map(layout_of, runs.points), missed))


def changed(of_file, before, runs, after):
    """What the file says each run's configuration is missed by, changed as it changes from before to after."""
    for point, now in zip(runs.points, after):
        of = zip(of_file.get(layout_of(point), now), before.get(layout_of(point), now), now)
        yield [new if None in (known, old, new) else max(round(known + new - old, 1), 0.0) for known, old, new in of]


def report(theta, before, after, count):
    """Errors on contributed configurations, and what changed elsewhere. The first runs of both, so many, are the same."""
    held, new = len(before.runs), after.runs[count:]
    everything = Prior(Runs(before.runs + new))
    first, old, all_rows = (after.of < count).sum(), len(before.of), np.arange(len(everything.runs.of))
    everything.runs.weight = np.concatenate([before.weight, after.weight[first:]])
    factors = {"present": everything.factors(theta, all_rows[:old])}
    factors["without"] = everything.factors(theta, all_rows[:first]) if held > count else factors["present"]
    everything.runs.weight[:first] = after.weight[:first]
    factors["with"] = everything.factors(theta, np.concatenate([all_rows[:first], all_rows[old:]]))
    prior = Prior(after)
    left_out, _ = prior.without(prior.inverse(theta), np.arange(len(after.runs)))
    rows = np.arange(first, len(after.of))
    by = lambda of: (after.response[rows] * of[after.of[rows] - count + held]).sum(axis=1)  # noqa: E731
    said = {"physics": np.zeros(len(rows)), "without": by(factors["without"]), "each run left out": left_out[rows], "with all": by(factors["with"])}
    layouts = [layout_of(point) for point in after.points]
    contributed = list(dict.fromkeys(layouts[count:]))
    for layout in contributed:
        print(f"{title(after.points[layouts.index(layout)])}: median error, {' -> '.join(said)}")
        for number, metric in enumerate(METRICS):
            own = np.array([layouts[after.of[row]] == layout and after.metric[row] == number for row in rows])
            if own.any():
                errors = [np.median(100 * np.abs(np.expm1(of[own] - after.log_ratio[rows][own]))) for of in said.values()]
                print(f"  {metric:10} {' -> '.join(f'{error:.1f} %' for error in errors)} ({own.sum()} runs)")
    others = [run for run in range(count) if layouts[run] not in contributed]
    if others:
        changes = np.expm1(factors["with"] - factors["present"])[others]
        run, factor = np.unravel_index(np.abs(changes).argmax(), changes.shape)
        print(
            f"factors of {len(others)} runs of other configurations change by {100 * changes[run, factor]:+.2f} % at most "
            f"({FACTORS[factor]}, {title(after.points[others[run]])}), by {100 * np.median(np.abs(changes)):.3f} % in the median"
        )


def title(point):
    layout = " ".join(f"{key}{point[key]:.0f}" for key in LAYOUT_KEYS)
    return f"{point['engine']} {point['version']}, {point['kind']} {point['shape']} in {point['format']} on {point['gpu']}, {layout}"
