"""Fits the calibration of step times to measured runs, and writes models/calibration.json.

    evaluate serving --cases ... --responses responses.jsonl
    python3 training/calibration/fit.py responses.jsonl --factors factors.json
    evaluate serving --cases ... --responses responses.jsonl --factors factors.json
    python3 training/calibration/fit.py responses.jsonl

The first two commands find the factors that each run observes, at which the third takes the responses: far from the physics, figures
respond otherwise than at it.

Each run gives how far its means are from the physics (log measured / predicted) and how they respond to longer prefill and decode
steps, and thereby observes hidden log factors. Their prior is a Gaussian process (`prior.py`). Its variances and scales maximise the
probability of left-out runs: left out with their configuration, and with all runs of their engine version, model or GPU. (Maximising
the marginal likelihood trusts other versions and models too much: left-out runs are then predicted worse than by the physics alone.)
Noise has heavy tails (Student t): a run that queued where another did not gets a small weight. The search starts from the covariance
of the present file; `--keep` keeps that and only renews the runs, `--afresh` starts from arbitrary variances and scales. For errors
as the page shows them, use `evaluate serving`.

    evaluate contributed runs --responses contributed.jsonl
    python3 training/calibration/fit.py --contributed contributed.jsonl

adds contributed runs to those of the present file, with its covariance, and prints what changed (`contributed.py`). With responses of
tables too, all are fitted together. Runs that `contributed.json` lists must be among those given, unless `--drop` removes them.
"""

import argparse
import collections
import json
import pathlib
import re
import time

import numpy as np

from contributed import BUILD_KEYS, COLUMNS, LAYOUT_KEYS, figures, joined, missing, names, sizes, title, write_ids, write_list
from prior import BETWEEN_GPUS, FACTORS, FURTHEST, GENERAL, LAYOUT, METRICS, OF_FACTOR, SIZES, TAILS, Factor, Prior, Runs, codes

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "models" / "calibration.json"
# What is left out, and how much it counts.
LEFT_OUT = {"configuration": (LAYOUT, 1.0), "version": (["engine", "version"], 0.25), "model": (["shape"], 0.25), "gpu": (["gpu"], 0.25)}
# Degrees of freedom of the density of runs left out: a few outliers do not dominate.
OUTLIERS = 5.0
# A run widens the bands of others as if its error were at most this many variances.
MAX_SQUARED_Z = 20.0
# Half the width of a band in standard deviations, as in `calibration::band`, and by metric the share of a configuration's figures that it
# is to hold. A prediction rests on 80 runs and not on all as here, and is simulated: with these shares, 80 and 82 % of the TTFT and TPOT of
# closed loops left out are in their bands, with 80 % of all metrics 79 and 84 %.
HALF_WIDTH, SHARES_IN_BAND = 1.4759, [0.82, 0.78, 0.8]
# Number of figures from which a configuration may be left out. With those that have fewer left out too, independent closed loops without
# their configuration are off by 25.5 instead of 21.7 % in TPOT (median).
MIN_FIGURES_TO_LEAVE_OUT = 8
# The width of bands is a mean over the model's configurations on an architecture, to which that over all architectures is added this many
# times, and to the latter the fitted covariance's width as often (`calibration::band`). This and MAX_SQUARED_Z were chosen among a dozen
# pairs by the density and the coverage of configurations left out.
POOLED_WIDTH_WEIGHT = 0.25
# Bands widen in proportion up to this many times the median variance of a figure whose configuration is left out. Of 1, 2, 4 and any, the
# first two give the greatest density without a configuration, version or GPU; with 1, fewer figures of closed loops are in their bands.
TYPICAL = 2.0


def start():
    """Variances of 0.01, scales of three doublings, half of an error common to all versions; between GPUs 0.001 and one."""
    factor = [np.log(0.01)] * (len(GENERAL) + 4) + [0.0] + [np.log(3.0)] * SIZES
    factor += [np.log(0.001)] * len(BETWEEN_GPUS) + [0.0]
    return np.array(factor * len(FACTORS) + [np.log(0.01), np.log(0.001), np.log(0.005)])


def score(theta, prior):
    """Negative log density of TTFT and TPOT left out, on average over rows."""
    runs = prior.runs
    runs.weight = np.ones(len(runs.of))
    try:
        prior.weigh(theta)
        inverse = prior.inverse(theta)
    except np.linalg.LinAlgError:
        return np.inf
    total, compared = 0.0, runs.metric < 2
    for labels, counts in LEFT_OUT.values():
        mean, variance = prior.measured_anew(theta, inverse, codes(runs.points, labels))
        away = (runs.ratio - mean) ** 2 / variance
        total += counts * (0.5 * (OUTLIERS + 1) * np.log1p(away / OUTLIERS) + 0.5 * np.log(variance))[compared].mean()
    return total


def search(prior, theta, seconds, seed=1):
    """Changes one number after the other as long as the score falls."""
    draw, step = np.random.default_rng(seed), np.full(len(theta), 0.7)
    best, order, end = score(theta, prior), [], time.time() + seconds
    print(f"{len(prior.runs.of)} rows, {len(theta)} numbers: {best:.4f}", flush=True)
    while time.time() < end and step.max() > 0.05:
        if not order:
            order = list(draw.permutation(len(theta)))
            print(f"{best:.4f}", flush=True)
        index = order.pop()
        for sign in (1, -1):
            changed = theta.copy()
            changed[index] += sign * step[index]
            found = score(changed, prior)
            if found < best - 1e-5:
                best, theta = found, changed
                break
        else:
            step[index] *= 0.5
    return theta


def report(prior, theta):
    """Errors with whole groups left out, as responses have them: `evaluate serving` simulates."""
    runs, inverse = prior.runs, prior.inverse(theta)
    for name, (labels, _) in LEFT_OUT.items():
        mean, _ = prior.without(inverse, codes(runs.points, labels))
        for number, metric in enumerate(METRICS):
            rows = runs.metric == number
            off = -runs.of_physics[rows], mean[rows] - runs.log_ratio[rows]
            errors = [100 * np.abs(np.expm1(one)) for one in off]
            of = [f"{error.mean():5.1f} / {np.median(error):5.1f}" for error in errors]
            print(f"without its {name:13} {metric:10} physics {of[0]}, calibrated {of[1]} % (mean / median)")


def record(theta, factor):
    of = Factor(theta[factor * OF_FACTOR : (factor + 1) * OF_FACTOR])
    digits = lambda value: float(f"{value:.3g}")  # noqa: E731
    return {
        "levels": [{"same": same, "variance": digits(v)} for same, v in of.levels],
        "smooth": [{"same": same, "variance": digits(v), "scales": [digits(one) for one in scales]} for same, v, scales in of.smooth],
    }


def kept(file):
    """The numbers of a file."""
    theta = []
    for name in FACTORS:
        levels = [one["variance"] for one in file[name]["levels"]]
        smooth = [one["variance"] for one in file[name]["smooth"]]
        count = len(GENERAL)
        theta += [np.log(levels[i] + levels[count + i]) for i in range(count)]
        theta += list(np.log([levels[-2], levels[-1], smooth[0] + smooth[1], smooth[2]]))
        theta += [np.log(smooth[0] / smooth[1]), *np.log(file[name]["smooth"][0]["scales"])]
        theta += [*np.log(smooth[3:]), np.log(file[name]["smooth"][-1]["scales"][0])]
    return np.array(theta + [np.log(file["noise"][metric]) for metric in METRICS])


def anew(prior, theta):
    """Mean and variance of each row with its configuration left out, and the configurations of the runs."""
    layouts = codes(prior.runs.points, LAYOUT)
    return *prior.measured_anew(theta, prior.inverse(theta), layouts), layouts


def typical(runs, left_out):
    """By metric, the variance up to which bands widen in proportion."""
    _, variance, _ = left_out
    return np.array([TYPICAL * np.median(variance[runs.metric == metric]) for metric in range(len(METRICS))])


def misses(runs, left_out):
    """For each run and metric, by what variances must be multiplied for about 80 % of its configuration's figures to be in their bands
    when that is left out. It widens or narrows the bands of the same model on the same engine (`Calibration::widths`)."""
    mean, variance, layouts = left_out
    away = np.minimum((runs.ratio - mean) ** 2 / variance, MAX_SQUARED_Z)
    of_row, found = layouts[runs.of], {}
    for layout in np.unique(of_row):
        of = [away[(of_row == layout) & (runs.metric == metric)] for metric in range(len(METRICS))]
        widths = (np.quantile(one, share) / HALF_WIDTH**2 if len(one) else None for one, share in zip(of, SHARES_IN_BAND))
        found[layout] = [None if width is None else round(float(width), 1) for width in widths]
    return [found.get(layout) for layout in layouts]


def along(run):
    """By length, then by load: neighbours are alike, and compress well."""
    in_flight, *lengths = run["at"]
    return lengths, in_flight


def columns(ran):
    """The runs by column, without columns that are empty: they compress better than rows."""
    return {key: [run.get(key) for run in ran] for key in COLUMNS if any(key in run for run in ran)}


def builds(runs, missed):
    """The runs as the file holds them: under what they have in common."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for index, run in enumerate(runs.runs):
        point = run["point"]
        rows = np.flatnonzero(runs.of == index)
        if not len(rows):
            continue
        one = {"at": sizes(point)}
        for row in rows:
            one[list(METRICS)[runs.metric[row]]] = figures(runs.ratio[row], runs.response[row], runs.weight[row])
        layout = (*(point[key] for key in LAYOUT_KEYS), tuple(missed[index]))
        found[tuple(point[key] for key in BUILD_KEYS)][layout].append(one)
    for build, layouts in sorted(found.items()):
        yield dict(zip(BUILD_KEYS, build)) | {
            "layouts": [
                dict(zip((*LAYOUT_KEYS, "misses"), layout)) | columns(sorted(ran, key=along))
                for layout, ran in sorted(layouts.items(), key=lambda one: one[0][:4])
            ]
        }


DOUBTED_KEYS = ("engine", "kind", "shape", "gpu", "format", "tp")


def doubted(point, known, rows):
    """A configuration left out, and how many times as long as by the physics its runs took at least and at most."""
    found = {key: point[key] for key in DOUBTED_KEYS}
    for number, metric in enumerate(list(METRICS)[:2]):
        times = np.exp(known.of_physics[rows][known.metric[rows] == number])
        found[metric] = [float(f"{end:.2g}") for end in (times.min(), times.max())] if len(times) else None
    return found


def believed(runs):
    """The runs that are believed, and a summary of each configuration left out: those with eight or more figures of TTFT and TPOT, half of
    them off by more than a factor of e:
    what held them up (a fault, or a setting that nobody recorded) says nothing about other configurations, and since their runs agree
    with each other, heavy tails cannot tell them from a hidden factor."""
    known = Runs(runs)
    layouts = codes(known.points, LAYOUT)
    served = known.metric < 2
    of_row, far = layouts[known.of[served]], np.abs(known.of_physics[served]) >= FURTHEST
    all_of, far_of = (np.bincount(of_row, among, layouts.max() + 1) for among in (None, far))
    left_out = (all_of >= MIN_FIGURES_TO_LEAVE_OUT) & (2 * far_of >= all_of)
    unlike = []
    for layout in np.flatnonzero(left_out):
        point = known.points[np.argmax(layouts == layout)]
        print(f"left out: {title(point)}, {far_of[layout]:.0f} of {all_of[layout]:.0f} figures off by more than a factor of e")
        unlike.append(doubted(point, known, layouts[known.of] == layout))
    return [run for run, layout in zip(known.runs, layouts) if not left_out[layout]], unlike


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path else []


def factors_of(runs, theta):
    """By run, the factors that all runs together say it has."""
    prior = Prior.weighed(runs, theta)
    logs = np.clip(prior.factors(theta, np.arange(len(runs.of))), -FURTHEST, FURTHEST)
    return {run["id"]: dict(zip(FACTORS, of)) for run, of in zip(runs.runs, np.exp(logs).round(4).tolist())}


def fitted(arguments, file, new):
    """All runs, by how much each configuration is missed, and the covariance, searched for unless it is to be kept."""
    kept_runs, unlike = believed(lines_of(arguments.responses))
    runs = Runs(kept_runs + new)
    theta = start() if arguments.afresh else kept(file)
    if not arguments.keep:
        theta = search(Prior(runs.sample(arguments.share)), theta, arguments.seconds)
    prior = Prior.weighed(runs, theta)
    report(prior, theta)
    left_out = anew(prior, theta)
    variances = {"noise": np.exp(theta[-len(METRICS) :]), "typical": typical(runs, left_out)}
    covariance = {name: {metric: float(f"{v:.3g}") for metric, v in zip(METRICS, by)} for name, by in variances.items()}
    covariance |= {name: record(theta, factor) for factor, name in enumerate(FACTORS)}
    return runs, misses(runs, left_out), covariance, unlike


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("responses", type=pathlib.Path, nargs="?", help="runs of tables; without them those of the present file stay")
    arguments.add_argument("--contributed", type=pathlib.Path, help="contributed runs, as `evaluate contributed --responses` writes them")
    arguments.add_argument("--drop", action="store_true", help="remove contributed runs that are not among those given")
    arguments.add_argument("--factors", type=pathlib.Path, help="instead, write the factors that each run observes")
    arguments.add_argument("--keep", action="store_true", help="keep the covariance of the present file")
    arguments.add_argument("--afresh", action="store_true", help="begin the search without it")
    arguments.add_argument("--share", type=float, default=0.5, help="share of the models that the search looks at")
    arguments.add_argument("--seconds", type=float, default=1800, help="the search ends after so many")
    parser, arguments = arguments, arguments.parse_args()
    if not arguments.responses and not arguments.contributed:
        parser.error("give the responses of tables, those of contributed runs, or both")
    file, new = json.loads(OUT.read_text()), lines_of(arguments.contributed)
    if (gone := missing(new)) and not arguments.drop:
        parser.error(f"missing contributed runs: {', '.join(gone)}. Give all with --contributed, or remove these with --drop")
    if arguments.factors:
        runs = Runs(believed(lines_of(arguments.responses))[0] + new)
        arguments.factors.write_text(json.dumps(factors_of(runs, kept(file))))
        return
    release = json.loads((ROOT / "models" / "manifest.json").read_text())["release"]
    if arguments.responses:
        runs, missed, covariance, unlike = fitted(arguments, file, new)
        write_ids(runs.runs)
    else:
        if file["release"] != release:
            parser.error(f"{OUT.name} is of the models of {file['release']}, not of {release}: fit it on the tables")
        done = joined(kept(file), file, new, lambda prior, theta: misses(runs=prior.runs, left_out=anew(prior, theta)))
        if done is None:
            print("the calibration holds these contributed runs and no others: nothing changes")
            return
        runs, missed = done
        unlike = file["doubted"]
        covariance = {name: file[name] for name in ("noise", "typical", *FACTORS)}
    people = f", and from runs contributed by {', '.join(names(new))}" if new else ""
    head = {
        "schema": 7,
        "release": release,
        "attribution": "Derived from measured runs of InferenceX, NVIDIA aiconfigurator, GPUStack, SGLang's cookbook and "
        f"TensorRT-LLM's performance overview{people}; see training/ATTRIBUTION.md",
        "plain_counts": POOLED_WIDTH_WEIGHT,
        "outliers": {"furthest": FURTHEST, "tails": TAILS},
        "doubted": unlike,
    } | covariance
    # Whole numbers without a point: every visitor loads the file.
    lines = [re.sub(r"(\d)\.0(?=[,\]}])", r"\1", json.dumps(build, separators=(",", ":"))) for build in builds(runs, missed)]
    text = json.dumps(head, indent=1)[:-2] + ',\n "builds": [\n' + ",\n".join(lines) + "\n]}\n"
    OUT.write_text(text)
    write_list(runs.runs)
    print(f"{len(runs.runs)} runs, {len(text)} bytes")


if __name__ == "__main__":
    main()
