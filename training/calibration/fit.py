"""Fits the calibration of step times to measured runs, and writes models/calibration.json.

    evaluate serving --cases ... --responses responses.jsonl
    python3 training/calibration/fit.py responses.jsonl

Each run says by what its means differ from the physics (log measured / predicted) and how they respond to longer prefill
and decode steps, so that it observes hidden log factors. Their prior is a Gaussian process (`prior.py`). Its variances and scales are
those under which runs are the most probable when they are left out: alone with their configuration, and with all of their engine
version, model or GPU. (Those of the greatest marginal likelihood trust other versions and models too much: what is left out then
comes out worse than by the physics alone.) Noise has heavy tails (Student t): a run that queued where another did not gets a small
weight. The search begins at the covariance of the present file; `--keep` takes that as it is and only renews the runs, `--afresh` begins
at variances and scales of no meaning. Errors as the page has them: `evaluate serving`.
"""

import argparse
import collections
import json
import pathlib
import time

import numpy as np

from prior import FACTORS, GENERAL, LAYOUT, METRICS, OF_FACTOR, SIZES, Factor, Prior, Runs, codes

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "models" / "calibration.json"
# What is left out, and how much it counts.
LEFT_OUT = {"configuration": (LAYOUT, 1.0), "version": (["engine", "version"], 0.25), "model": (["shape"], 0.25), "gpu": (["gpu"], 0.25)}
# Degrees of freedom of what is left out: a few runs far off do not decide.
OUTLIERS = 5.0
# What responses and weights are written in multiples of: the file travels with the page.
STEPS = [0.05, 0.05, 0.1]


def start():
    """Variances of 0.01, scales of three doublings, half of an error common to all versions."""
    factor = [np.log(0.01)] * (len(GENERAL) + 4) + [0.0] + [np.log(3.0)] * SIZES
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
    noise, total = prior.noise(theta), 0.0
    compared = runs.metric < 2
    for labels, counts in LEFT_OUT.values():
        mean, variance = prior.without(inverse, codes(runs.points, labels))
        # Of a measurement with the noise of any, not with its own weight.
        variance = np.maximum(variance - noise / runs.weight, 1e-9) + noise
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
            errors = [100 * np.abs(np.expm1(predicted - runs.log_ratio[rows])) for predicted in (0.0, mean[rows])]
            of = [f"{error.mean():5.1f} / {np.median(error):5.1f}" for error in errors]
            print(f"without its {name:13} {metric:10} physics {of[0]}, calibrated {of[1]} % (mean / median)")


def record(theta, factor):
    of = Factor(theta[factor * OF_FACTOR : (factor + 1) * OF_FACTOR])
    digits = lambda value: float(f"{value:.3g}")  # noqa: E731
    return {
        "levels": [{"same": same, "variance": digits(v)} for same, v in of.levels],
        "smooth": [{"same": same, "variance": digits(v), "scales": [digits(one) for one in of.scales]} for same, v in of.smooth],
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
    return np.array(theta + [np.log(file["noise"][metric]) for metric in METRICS])


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
            # Waiting responds alike in every run.
            figures = [round(float(runs.ratio[row]), 3)]
            # Coarser than they are known, and still finer than matters: a factor of 1.2 then errs by half a per cent.
            figures += [round(round(float(figure) / step) * step, 2) for figure, step in zip((*runs.response[row][:2], runs.weight[row]), STEPS)]
            one[list(METRICS)[runs.metric[row]]] = figures
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
    arguments.add_argument("--afresh", action="store_true", help="begin the search without it")
    arguments.add_argument("--share", type=float, default=0.5, help="share of the models that the search looks at")
    arguments.add_argument("--seconds", type=float, default=1800, help="the search ends after so many")
    arguments = arguments.parse_args()
    runs = Runs([json.loads(line) for line in arguments.responses.read_text().splitlines()])
    theta = start() if arguments.afresh else kept(json.loads(OUT.read_text()))
    if not arguments.keep:
        theta = search(Prior(runs.sample(arguments.share)), theta, arguments.seconds)
    prior = Prior(runs)
    prior.weigh(theta)
    prior.weigh(theta)
    report(prior, theta)
    head = {
        "schema": 2,
        "release": json.loads((ROOT / "models" / "manifest.json").read_text())["release"],
        "attribution": "Derived from measured runs of InferenceX, NVIDIA aiconfigurator, GPUStack, SGLang's cookbook and "
        "TensorRT-LLM's performance overview; see training/ATTRIBUTION.md",
        "noise": {metric: float(f"{v:.3g}") for metric, v in zip(METRICS, np.exp(theta[-len(METRICS) :]))},
    } | {name: record(theta, factor) for factor, name in enumerate(FACTORS)}
    lines = [json.dumps(build, separators=(",", ":")) for build in builds(runs)]
    text = json.dumps(head, indent=1)[:-2] + ',\n "builds": [\n' + ",\n".join(lines) + "\n]}\n"
    OUT.write_text(text)
    print(f"{len(runs.runs)} runs, {len(text)} bytes")


if __name__ == "__main__":
    main()
