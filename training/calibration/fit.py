"""Fits the calibration of step times to measured runs, and writes models/calibration.json.

    evaluate serving --cases ... --responses responses.jsonl
    python3 training/calibration/fit.py responses.jsonl

Each run says by what its means differ from the physics (log measured / predicted) and how they respond to longer prefill
and decode steps, so that it observes two hidden log factors. Their prior is a Gaussian process (`LEVELS`, `SMOOTH`), its
variances and scales are those of the greatest marginal likelihood on a sample of whole layouts. Noise has heavy tails
(Student t): a run that queued where another did not gets a small weight. `--keep` takes the covariance of the present
file and only renews its runs. Errors with runs, layouts, versions, models and GPUs left out: `evaluate serving`.
"""

import argparse
import collections
import json
import pathlib

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack
from scipy.optimize import minimize

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "models" / "calibration.json"
BUILD = ["engine", "shape", "gpu", "format", "version", "drafts"]
LEVELS = [
    ["engine", "kind", "arch", "format"],
    ["engine", "shape"],
    ["engine", "shape", "arch", "format", "drafts"],
    BUILD,
    [*BUILD, "layout"],
]
SMOOTH = [["engine", "shape", "arch"], BUILD]
METRICS = {"ttft": "ttft_ms", "tpot": "tpot_ms", "throughput": "output_per_s"}
# What of each kind of run observes the factors. Bursts and servers kept full are apart from the physics by what it does
# not have (their throughput is up to twice as high as measured): they would say nothing of steps.
OBSERVED = {"closed_loop": ["ttft", "tpot"], "open_loop": ["ttft", "tpot"], "offline": ["throughput"]}
# As in `calibration::Responses`.
STRETCH = np.log(1.1)
FACTORS = ["prefill", "decode"]
# A run further off than this observes a queue or a fault.
FURTHEST = 1.0
# Runs asked for a prediction, as in `calibration::posterior`.
ASKED = 80
# Degrees of freedom of the noise.
TAILS = 4.0
SIZES = 5


def label(point, name):
    if name == "drafts":
        return point["drafted"] > 0
    if name == "layout":
        return tuple(point[key] for key in ("tp", "ep", "dp", "pp"))
    if name == "shape":
        return point["shape"], point["kind"]
    return point[name]


def codes(points, labels):
    known = {}
    return np.array([known.setdefault(tuple(label(p, name) for name in labels), len(known)) for p in points])


def doublings(point):
    sizes = (point["tp"] * point["dp"], point["ep"], point["in_flight"], point["prompt"], point["output"])
    return [np.log2(max(size, 1)) for size in sizes]


class Runs:
    """Runs and their rows: a row is a metric of a run."""

    def __init__(self, runs):
        self.runs = [run for run in runs if run["kind"] in OBSERVED]
        points = [run["point"] for run in self.runs]
        self.levels = np.array([codes(points, labels) for labels in LEVELS]).T
        self.smooth = np.array([codes(points, labels) for labels in SMOOTH]).T
        self.sizes = np.array([doublings(point) for point in points])
        rows = [row for index, run in enumerate(self.runs) for row in self.observed(index, run)]
        self.of = np.array([row[0] for row in rows])
        self.metric = np.array([row[1] for row in rows])
        self.ratio = np.clip([row[2] for row in rows], -FURTHEST, FURTHEST)
        self.response = np.array([row[3] for row in rows])
        self.weight = np.ones(len(rows))

    @staticmethod
    def observed(index, run):
        for number, (metric, key) in enumerate(METRICS.items()):
            measured, predicted = run["measured"].get(key), run["predicted"].get(key)
            if metric not in OBSERVED[run["kind"]] or not measured or not predicted:
                continue
            response = [np.log(run[f"longer_{factor}"][key] / predicted) / STRETCH for factor in FACTORS]
            yield index, number, np.log(measured / predicted), response


class Prior:
    """Variances and scales, as logarithms in one vector."""

    def __init__(self, theta):
        self.theta = np.array(theta)
        rest, self.factors = list(np.exp(theta)), []
        for _ in FACTORS:
            levels = np.array([rest.pop(0) for _ in LEVELS])
            smooth = [(rest.pop(0), np.array([rest.pop(0) for _ in range(SIZES)])) for _ in SMOOTH]
            self.factors.append((levels, smooth))
        self.noise = np.array(rest)

    @staticmethod
    def start():
        factor = [np.log(0.01)] * len(LEVELS) + ([np.log(0.02)] + [np.log(3.0)] * SIZES) * len(SMOOTH)
        return np.array(factor * 2 + [np.log(0.02), np.log(0.001), np.log(0.005)])

    def variance(self, factor):
        levels, smooth = self.factors[factor]
        return levels.sum() + sum(variance for variance, _ in smooth)

    def shared(self, runs, factor, one, other):
        """Covariance of the runs `one` with the runs `other`, with its parts."""
        levels, smooth = self.factors[factor]
        agree = [runs.levels[one][:, None, i] == runs.levels[other][None, :, i] for i in range(len(LEVELS))]
        parts = [variance * same for variance, same in zip(levels, agree)]
        apart = (runs.sizes[one][:, None, :] - runs.sizes[other][None, :, :]) ** 2
        for i, (variance, scales) in enumerate(smooth):
            same = runs.smooth[one][:, None, i] == runs.smooth[other][None, :, i]
            parts.append(variance * same * np.exp(-0.5 * (apart / scales**2).sum(2)))
        return parts, apart


def gram(prior, runs, rows, parts):
    total = np.diag(prior.noise[runs.metric[rows]] / runs.weight[rows])
    for factor in range(2):
        response = runs.response[rows, factor]
        total += response[:, None] * response[None, :] * sum(parts[factor])
    return total


def likelihood(theta, runs):
    """Negative log marginal likelihood with weak priors, and its gradient."""
    prior, rows = Prior(theta), np.arange(len(runs.of))
    found = [prior.shared(runs, factor, runs.of, runs.of) for factor in range(2)]
    lower, fault = lapack.dpotrf(gram(prior, runs, rows, [parts for parts, _ in found]), lower=1)
    if fault:
        return 1e10, np.zeros_like(theta)
    inverse, _ = lapack.dpotri(lower, lower=1)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    solved = inverse @ runs.ratio
    value = 0.5 * runs.ratio @ solved + np.log(np.diag(lower)).sum()
    slope, gradient = inverse - np.outer(solved, solved), []
    for factor, (parts, apart) in enumerate(found):
        response = runs.response[:, factor]
        of_factor = slope * (response[:, None] * response[None, :])
        gradient += [0.5 * (of_factor * part).sum() for part in parts[: len(LEVELS)]]
        for (_, scales), part in zip(prior.factors[factor][1], parts[len(LEVELS) :]):
            weighed = of_factor * part
            gradient.append(0.5 * weighed.sum())
            gradient += [0.5 * (weighed * apart[:, :, i]).sum() / scales[i] ** 2 for i in range(SIZES)]
    noise = prior.noise[runs.metric] / runs.weight * np.diag(slope)
    gradient += [0.5 * noise[runs.metric == metric].sum() for metric in range(len(METRICS))]
    # What the sample does not tell stays near the start: within a factor of e^2.
    away = (theta - Prior.start()) / 2.0
    return value + 0.5 * (away**2).sum(), np.array(gradient) + away / 2.0


def left_out(prior, runs, run):
    """Mean and variance of the rows of a run, by the other runs nearest to it."""
    others = np.flatnonzero(np.arange(len(runs.runs)) != run)
    own = np.array([run])
    share = sum(sum(prior.shared(runs, f, own, others)[0])[0] / prior.variance(f) for f in range(2))
    near = others[np.argsort(-share, kind="stable")[:ASKED]]
    rows = np.flatnonzero(np.isin(runs.of, near))
    place = {one: index for index, one in enumerate(near)}
    of = np.array([place[one] for one in runs.of[rows]])
    parts = [[part[np.ix_(of, of)] for part in prior.shared(runs, f, near, near)[0]] for f in range(2)]
    factor = cho_factor(gram(prior, runs, rows, parts))
    cross = np.stack(
        [sum(prior.shared(runs, f, own, near)[0])[0][of] * runs.response[rows, f] for f in range(2)]
    )
    mean = cross @ cho_solve(factor, runs.ratio[rows])
    covariance = np.diag([prior.variance(0), prior.variance(1)]) - cross @ cho_solve(factor, cross.T)
    for row in np.flatnonzero(runs.of == run):
        response = runs.response[row]
        yield row, response @ mean, response @ covariance @ response


def weigh(prior, runs):
    """Weights of the rows under noise with heavy tails, each run judged by the others."""
    for run in range(len(runs.runs)):
        for row, mean, variance in left_out(prior, runs, run):
            noise = prior.noise[runs.metric[row]]
            share = noise / (variance + noise)
            of_noise = (share * (runs.ratio[row] - mean)) ** 2 + share * variance
            runs.weight[row] = (TAILS + 1) / (TAILS + of_noise / noise)


def fit(runs, rows, seed=1):
    """The prior of the greatest marginal likelihood on whole layouts with about so many rows."""
    draw = np.random.default_rng(seed).permutation(runs.levels[:, -1].max() + 1)
    chosen, theta = set(), Prior.start()
    for layout in draw:
        if sum(1 for run in runs.of if runs.levels[run, -1] in chosen) > rows:
            break
        chosen.add(layout)
    sample = Runs([one for one, level in zip(runs.runs, runs.levels[:, -1]) if level in chosen])
    for iterations in (25, 15):
        found = minimize(
            likelihood, theta, (sample,), jac=True, method="L-BFGS-B", options={"maxiter": iterations}
        )
        theta = found.x
        print(f"{len(sample.of)} rows: {found.fun:.1f} after {found.nit} iterations", flush=True)
        weigh(Prior(theta), sample)
    return Prior(theta)


def record(prior, factor):
    levels, smooth = prior.factors[factor]
    digits = lambda value: float(f"{value:.3g}")  # noqa: E731
    return {
        "levels": [{"same": same, "variance": digits(v)} for same, v in zip(LEVELS, levels)],
        "smooth": [
            {"same": same, "variance": digits(v), "scales": [digits(one) for one in scales]}
            for same, (v, scales) in zip(SMOOTH, smooth)
        ],
    }


def kept(file):
    """The prior of a file."""
    theta = []
    for name in FACTORS:
        of = file[name]
        theta += [np.log(one["variance"]) for one in of["levels"]]
        for one in of["smooth"]:
            theta += [np.log(one["variance"]), *np.log(one["scales"])]
    return Prior(theta + [np.log(file["noise"][metric]) for metric in METRICS])


def builds(runs):
    """The runs as the file holds them: under what they have in common."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    build = ("engine", "version", "kind", "shape", "arch", "gpu", "format", "drafted")
    for index, run in enumerate(runs.runs):
        point = run["point"]
        rows = np.flatnonzero(runs.of == index)
        if not len(rows):
            continue
        one = {"at": [float(f"{point[key]:.4g}") for key in ("in_flight", "prompt", "output")]}
        for row in rows:
            figures = [runs.ratio[row], *runs.response[row], runs.weight[row]]
            one[list(METRICS)[runs.metric[row]]] = [round(float(figure), 3) for figure in figures]
        layout = tuple(point[key] for key in ("tp", "ep", "dp", "pp"))
        found[tuple(point[key] for key in build)][layout].append(one)
    for names, layouts in sorted(found.items()):
        yield dict(zip(build, names)) | {
            "layouts": [
                dict(zip(("tp", "ep", "dp", "pp"), layout)) | {"runs": ran}
                for layout, ran in sorted(layouts.items())
            ]
        }


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("responses", type=pathlib.Path)
    arguments.add_argument("--keep", action="store_true", help="keep the covariance of the present file")
    arguments.add_argument("--rows", type=int, default=1600, help="rows the covariance is fitted on, about")
    arguments = arguments.parse_args()
    runs = Runs([json.loads(line) for line in arguments.responses.read_text().splitlines()])
    prior = kept(json.loads(OUT.read_text())) if arguments.keep else fit(runs, arguments.rows)
    weigh(prior, runs)
    head = {
        "schema": 1,
        "release": json.loads((ROOT / "models" / "manifest.json").read_text())["release"],
        "attribution": "Derived from measured runs of InferenceX, NVIDIA aiconfigurator, GPUStack, SGLang's cookbook and "
        "TensorRT-LLM's performance overview; see training/ATTRIBUTION.md",
        "noise": {metric: float(f"{v:.3g}") for metric, v in zip(METRICS, prior.noise)},
    } | {name: record(prior, factor) for factor, name in enumerate(FACTORS)}
    lines = [json.dumps(build, separators=(",", ":")) for build in builds(runs)]
    text = json.dumps(head, indent=1)[:-2] + ',\n "builds": [\n' + ",\n".join(lines) + "\n]}\n"
    OUT.write_text(text)
    print(f"{len(runs.runs)} runs, {len(text)} bytes")


if __name__ == "__main__":
    main()
