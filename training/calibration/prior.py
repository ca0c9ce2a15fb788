"""The covariance of the factors that calibration learns, and what it says of runs by other runs."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack
from scipy.sparse import csr_matrix

FACTORS = ["prefill", "decode", "wait"]
METRICS = {"ttft": "ttft_ms", "tpot": "tpot_ms", "throughput": "output_per_s"}
# As `Observed::waits`.
WAITS = {"ttft": 1.0, "tpot": 0.0, "throughput": 0.0}
# The figures of each kind of run that observe the factors. Bursts and saturated servers differ from the physics by effects
# that it lacks (their predicted throughput is up to twice the measured one), so they carry no information on steps.
OBSERVED = {"closed_loop": ["ttft", "tpot"], "open_loop": ["ttft", "tpot"], "offline": ["throughput"]}
# As in `calibration::Responses`.
STRETCH = np.log(1.1)
# A run further off than this observes a queue or a fault.
FURTHEST = 1.0
# Degrees of freedom of the noise.
TAILS = 4.0
# If mean TTFT over median TTFT is more than this many times the simulated ratio, some requests waited for something that is not
# simulated, such as kernels compiled at first use.
STALLED = 1.5

BUILD = ["engine", "shape", "gpu", "format", "version", "drafts"]
LAYOUT = [*BUILD, "layout"]
# Runs of different versions share a part of these (`any_version`), and runs of one version the rest.
GENERAL = [
    # Set by hand to 0.005 for decode: a search weighs runs, two thirds of which are of four models.
    ["engine"],
    ["engine", "kind", "arch", "format"],
    ["engine", "shape"],
    ["engine", "shape", "arch", "format", "drafts"],
]
SMOOTH = ["engine", "shape", "arch"]
SIZES = 5
# The part that all models share by the number of GPUs alone: the work engines do between GPUs, and the speed of links.
BETWEEN_GPUS = [["engine"], ["engine", "arch"]]
# The scale, in doublings, for a size on which such errors do not depend.
FLAT = 1000.0
# By factor: variances of the general levels, of a build and of a layout, of the smooth part of an architecture and of a build, the
# share of any version, the scales of the sizes, the variances between GPUs and the scale of their number.
OF_FACTOR = len(GENERAL) + 2 + 2 + 1 + SIZES + len(BETWEEN_GPUS) + 1


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


def ttft_without_stalls(measured, physics):
    """The mean TTFT; if a few requests waited for something that is not simulated, the median times the simulated ratio."""
    mean, median = measured.get("ttft_ms"), measured.get("ttft_median_ms")
    if not mean or not median or not physics.get("ttft_median_ms"):
        return mean
    skew = physics["ttft_ms"] / physics["ttft_median_ms"]
    # Where the simulated mean is below the median, the ratio counts as 1.
    return median * skew if mean / median > STALLED * max(skew, 1) else mean


class Runs:
    """Runs and their rows: a row is a metric of a run."""

    def __init__(self, runs):
        self.runs = [run for run in runs if "observed" in run or run["kind"] in OBSERVED]
        self.points = [run["point"] for run in self.runs]
        rows = [row for index, run in enumerate(self.runs) for row in self.observed(index, run)]
        self.of = np.array([row[0] for row in rows])
        self.metric = np.array([row[1] for row in rows])
        # How far measurements are from the physics, and the same as if figures followed the factors log-linearly.
        self.of_physics = np.array([row[2] for row in rows])
        self.log_ratio = np.array([row[3] for row in rows])
        self.ratio = np.clip(self.log_ratio, -FURTHEST, FURTHEST)
        self.response = np.array([row[4] for row in rows])
        self.weight = np.ones(len(rows))

    @staticmethod
    def observed(index, run):
        for number, (metric, key) in enumerate(METRICS.items()):
            # A run with stated observations: one read back from the file, or a contributed one.
            if "observed" in run:
                if metric in run["observed"]:
                    ratio, *response = run["observed"][metric]
                    yield index, number, ratio, ratio, [*response, WAITS[metric]]
                continue
            measured, predicted = run["measured"].get(key), run["predicted"].get(key)
            if metric == "ttft":
                measured = ttft_without_stalls(run["measured"], run["physics"])
            if metric not in OBSERVED[run["kind"]] or not measured or not predicted:
                continue
            response = [np.log(run[f"longer_{factor}"][key] / predicted) / STRETCH for factor in FACTORS[:2]]
            response.append(WAITS[metric])
            # Where the response is taken, in the logarithms of the factors.
            at = np.log([run["factors"][factor] for factor in FACTORS])
            of_physics = np.log(measured / run["physics"][key])
            yield index, number, of_physics, np.log(measured / predicted) + np.dot(response, at), response

    def sample(self, share, seed=1):
        """Whole models with about such a share of the runs."""
        of_model = codes(self.points, ["engine", "shape"])
        chosen = np.random.default_rng(seed).random(of_model.max() + 1) < share
        return Runs([run for run, model in zip(self.runs, of_model) if chosen[model]])


class Factor:
    """The variances and scales of a factor, from their logarithms; the share as its logit."""

    def __init__(self, theta):
        values = list(np.exp(theta))
        general = [values.pop(0) for _ in GENERAL]
        self.build, self.layout, of_arch, self.of_build = (values.pop(0) for _ in range(4))
        odds = values.pop(0)
        scales = np.array([values.pop(0) for _ in range(SIZES)])
        *between, of_gpus = values
        shared = odds / (1 + odds)
        self.levels = [(same, shared * v) for same, v in zip(GENERAL, general)]
        self.levels += [([*same, "version"], (1 - shared) * v) for same, v in zip(GENERAL, general)]
        self.levels += [(BUILD, self.build), (LAYOUT, self.layout)]
        smooth = [(SMOOTH, shared * of_arch), ([*SMOOTH, "version"], (1 - shared) * of_arch), (BUILD, self.of_build)]
        self.smooth = [(same, variance, scales) for same, variance in smooth]
        only_gpus = np.array([of_gpus] + [FLAT] * (SIZES - 1))
        self.smooth += [(same, variance, only_gpus) for same, variance in zip(BETWEEN_GPUS, between)]


class Prior:
    """The covariance at `theta`, of `runs`."""

    def __init__(self, runs):
        self.runs = runs
        any_factor = Factor(np.zeros(OF_FACTOR))
        labels = {tuple(same) for same, *_ in [*any_factor.levels, *any_factor.smooth]}
        self.same = {}
        for one in labels:
            code = codes(runs.points, one)
            self.same[one] = code[:, None] == code[None, :]
        sizes = np.array([doublings(point) for point in runs.points])
        self.apart = [(sizes[:, None, i] - sizes[None, :, i]) ** 2 for i in range(SIZES)]
        rows = np.arange(len(runs.of))
        self.spread = [
            csr_matrix((runs.response[:, f], (rows, runs.of)), shape=(len(rows), len(runs.runs)))
            for f in range(len(FACTORS))
        ]

    @classmethod
    def weighed(cls, runs, theta):
        """With the runs' weights, which the second pass judges by those of the first."""
        prior = cls(runs)
        prior.weigh(theta)
        prior.weigh(theta)
        return prior

    def noise(self, theta):
        return np.exp(theta[-len(METRICS) :])[self.runs.metric]

    def shared(self, theta, f):
        """The covariance of a factor between runs."""
        factor = Factor(theta[f * OF_FACTOR : (f + 1) * OF_FACTOR])
        shared = sum(variance * self.same[tuple(same)] for same, variance in factor.levels)
        for scales in {tuple(scales) for *_, scales in factor.smooth}:
            near = np.exp(-0.5 * sum(apart / scale**2 for apart, scale in zip(self.apart, scales)))
            alike = [(same, variance) for same, variance, of in factor.smooth if tuple(of) == scales]
            shared = shared + near * sum(variance * self.same[tuple(same)] for same, variance in alike)
        return shared

    def gram(self, theta):
        total = np.diag(self.noise(theta) / self.runs.weight)
        for f, spread in enumerate(self.spread):
            total += spread @ (spread @ self.shared(theta, f)).T
        return total

    def factors(self, theta, rows):
        """The logarithms of the factors of every run by these rows, a column a factor."""
        solved = np.linalg.solve(self.gram(theta)[np.ix_(rows, rows)], self.runs.ratio[rows])
        return np.stack([self.shared(theta, f) @ (spread[rows].T @ solved) for f, spread in enumerate(self.spread)], axis=1)

    def inverse(self, theta):
        lower, fault = lapack.dpotrf(self.gram(theta), lower=1)
        if fault:
            raise np.linalg.LinAlgError("the covariance is not positive")
        inverse, _ = lapack.dpotri(lower, lower=1)
        return np.tril(inverse) + np.tril(inverse, -1).T

    def without(self, inverse, groups):
        """Mean and variance (of factors alone) of each row with all rows of its group left out."""
        runs, solved = self.runs, inverse @ self.runs.ratio
        mean, variance = np.empty(len(runs.of)), np.empty(len(runs.of))
        of_row = groups[runs.of]
        for group in np.unique(of_row):
            rows = np.flatnonzero(of_row == group)
            factor = cho_factor(inverse[np.ix_(rows, rows)])
            mean[rows] = runs.ratio[rows] - cho_solve(factor, solved[rows])
            variance[rows] = np.diag(cho_solve(factor, np.eye(len(rows))))
        return mean, variance

    def measured_anew(self, theta, inverse, groups):
        """Mean and variance of another measurement of each row with all rows of its group left out."""
        mean, variance = self.without(inverse, groups)
        noise = self.noise(theta)
        # With the noise of a typical measurement, not the noise that follows from its own weight.
        return mean, np.maximum(variance - noise / self.runs.weight, 1e-9) + noise

    def weigh(self, theta):
        """Weights of the rows under noise with heavy tails, each run judged by the others."""
        runs, noise = self.runs, self.noise(theta)
        mean, variance = self.without(self.inverse(theta), np.arange(len(runs.runs)))
        variance = np.maximum(variance - noise / runs.weight, 1e-9)
        share = noise / (variance + noise)
        of_noise = (share * (runs.ratio - mean)) ** 2 + share * variance
        runs.weight = (TAILS + 1) / (TAILS + of_noise / noise)
