"""Training rows as `export_features` writes them, their splits and weights."""

import json
import struct
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

# Added unchanged to a model's output: ln of the reference time over the ideal one.
OFFSET = "reference_over_ideal"
# The weight of a GPU group is its number of rows to this power: large tables dominate, but small ones still count.
GROUP_POWER = 0.6


@dataclass
class Rows:
    header: dict
    features: np.ndarray  # [N, d]
    target: np.ndarray  # [N], ln of the measured over the reference time
    ln_ideal: np.ndarray  # [N], ln of the ideal time in µs
    ln_measured: np.ndarray
    gpu: np.ndarray
    dtype: np.ndarray
    engine: np.ndarray
    kernel: np.ndarray
    source: np.ndarray  # 0: the reference
    shape: np.ndarray

    def __len__(self):
        return len(self.target)

    @property
    def names(self):
        return self.header["names"]

    @property
    def identity_from(self):
        return self.header["identity_from"]

    @property
    def reference(self):
        return self.source == 0

    def of_gpu(self, gpu):
        return self.gpu == self.header["gpus"].index(gpu)

    def without(self, prefixes):
        """The same rows less the columns whose names start with one of the prefixes."""
        names = self.names
        kept = [i for i, name in enumerate(names) if i >= self.identity_from or not name.startswith(tuple(prefixes))]
        gone = len(names) - len(kept)
        header = {**self.header, "names": [names[i] for i in kept], "identity_from": self.identity_from - gone}
        return replace(self, header=header, features=np.ascontiguousarray(self.features[:, kept]))

    def reference_gpus(self):
        return sorted(self.header["gpus"][code] for code in np.unique(self.gpu[self.reference]))


def read(path: Path) -> Rows:
    with open(path, "rb") as file:
        (length,) = struct.unpack("<I", file.read(4))
        header = json.loads(file.read(length))
        table = np.fromfile(file, "<f4").reshape(header["rows"], len(header["columns"]))
    width = len(header["names"])
    extra = {name: table[:, width + i] for i, name in enumerate(header["columns"][width:])}
    features = np.ascontiguousarray(table[:, :width])
    offset = features[:, header["names"].index(OFFSET)]
    code = {name: extra[name].astype(np.int32) for name in ("gpu", "dtype", "engine", "kernel", "source", "shape")}
    return Rows(
        header=header,
        features=features,
        target=extra["ln_measured_us"] - extra["ln_ideal_us"] - offset,
        ln_ideal=extra["ln_ideal_us"],
        ln_measured=extra["ln_measured_us"],
        **code,
    )


def held_out_shapes(rows: Rows, share: float, seed: int, draws: int = 1) -> list[np.ndarray]:
    """For each draw the rows whose whole shape is held out, of all GPUs and sources; no shape is drawn twice."""
    shapes = np.unique(rows.shape[rows.reference])
    each, held = int(len(shapes) * share), []
    for draw in range(draws):
        chosen = np.random.default_rng(seed + draw).choice(shapes, each, replace=False)
        shapes = np.setdiff1d(shapes, chosen)
        held.append(np.isin(rows.shape, chosen))
    return held


def weights(rows: Rows, chosen: np.ndarray) -> np.ndarray:
    """One weight per row, mean 1 over `chosen`: groups of one GPU and source are evened out."""
    group = rows.gpu * (rows.source.max() + 1) + rows.source
    sizes = np.bincount(group[chosen], minlength=group.max() + 1).astype(float)
    weight = np.maximum(sizes[group], 1.0) ** (GROUP_POWER - 1.0)
    return (weight / weight[chosen].mean()).astype(np.float32)


def without_identity(rows: Rows, features: np.ndarray) -> np.ndarray:
    """The features as they are on a GPU without measurements."""
    features = features.copy()
    features[:, rows.identity_from :] = 0.0
    return features


def hull(rows: Rows) -> dict:
    """Least and most of each column but the identity's, over all rows."""
    own = rows.features[:, : rows.identity_from].astype(np.float64)
    # Rounded outwards, so that no training row lies outside.
    least, most = own.min(0), own.max(0)
    step = 1e-3 + 1e-3 * (most - least)
    return {"least": (np.floor(100 * (least - step)) / 100).tolist(), "most": (np.ceil(100 * (most + step)) / 100).tolist()}
