"""From measured tables to ONNX models: one command.

    python training/train.py --data ../shared/data --out models

Exports training rows with the Rust core (`export_features`, so that training and page compute the same
features), holds out whole shapes and whole GPUs to measure, trains on everything, and writes the models,
their manifest and the report. A finished step is kept under `--work` and not repeated.
"""

import argparse
import hashlib
import json
import pickle
import subprocess
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path

import numpy as np

import figures
import onnx_file
import report
from families import FAMILIES, Plan
from net import Model, Recipe, train
from rows import Rows, held_out_shapes, hull, read, weights, without_identity

ROOT = Path(__file__).parents[1]
HELD_OUT_SHARE = 0.125
CHECK_ROWS = 8


def export(options, family: str, plan: Plan) -> Path:
    """Training rows of one family, by the Rust core."""
    path = options.work / f"{family}.rows"
    cargo = ["cargo", "run", "--quiet", "--profile", "tools", "--features", "tables", "--bin", "export_features", "--"]
    command = [options.exporter.resolve()] if options.exporter else cargo
    command += ["--data", options.data.resolve(), "--family", family, "--out", path.resolve()]
    command += ["--sample", plan.sample, "--seed", options.seed]
    subprocess.run([str(part) for part in command], cwd=ROOT, check=True)
    return path


def fitted(options, rows: Rows, chosen: np.ndarray, recipe: Recipe, label: str) -> Model:
    """A model of the chosen rows; taken from an earlier run where nothing changed."""
    state = hashlib.sha256()
    for part in (rows.features, rows.target, chosen):
        state.update(np.ascontiguousarray(part).tobytes())
    state.update(json.dumps(asdict(recipe)).encode())
    state.update(Path(__file__).with_name("net.py").read_bytes())
    kept = options.work / f"{state.hexdigest()[:24]}.model"
    if kept.exists():
        return pickle.loads(kept.read_bytes())
    size = rows.features[:, rows.names.index("ln_reference")] / 2.0 - 1.5
    columns = (rows.features, rows.target, rows.source, weights(rows, chosen), size)
    model = train(*(column[chosen] for column in columns), rows.identity_from, recipe, label)
    kept.write_bytes(pickle.dumps(model))
    return model


def measure_shapes(options, rows: Rows, recipe: Recipe, label: str) -> tuple[dict, dict]:
    """Errors and calibration on whole shapes that no GPU trained on."""
    held = held_out_shapes(rows, HELD_OUT_SHARE, options.seed)
    model = fitted(options, rows, ~held, recipe, f"{label}, shapes held out")
    chosen = held & rows.reference
    off, spread = np.zeros(len(rows), np.float32), np.ones(len(rows), np.float32)
    answer = model.predict(rows.features[chosen])
    off[chosen], spread[chosen] = answer[:, 0] - rows.target[chosen], np.exp(answer[:, 1])
    return figures.grouped(rows, off, chosen), figures.calibrated(off[chosen], spread[chosen], rows.shape[chosen])


def measure_gpus(options, rows: Rows, recipe: Recipe, label: str) -> tuple[dict, dict]:
    """Errors and calibration on each GPU of the reference when none of its rows, of any source, were trained on."""
    off, spread = np.zeros(len(rows), np.float32), np.ones(len(rows), np.float32)
    for gpu in rows.reference_gpus():
        mine = rows.of_gpu(gpu)
        model = fitted(options, rows, ~mine, recipe, f"{label} without {gpu}")
        chosen = mine & rows.reference
        answer = model.predict(without_identity(rows, rows.features[chosen]))
        off[chosen], spread[chosen] = answer[:, 0] - rows.target[chosen], np.exp(answer[:, 1])
        print(f"  {label} without {gpu}: {figures.errors(off[chosen])}", flush=True)
    chosen = rows.reference
    return figures.grouped(rows, off, chosen), figures.calibrated(off[chosen], spread[chosen], rows.gpu[chosen])


def ablations(options, rows: Rows, plan: Plan, recipe: Recipe, label: str) -> dict:
    """Mean error on unseen shapes, and on the unseen GPUs together, without a group of columns; by short
    fits, so that only the differences mean something."""
    short = replace(recipe, epochs=max(recipe.epochs // 4, 1))
    found = {}
    for name, columns in {"everything": (), **plan.groups}.items():
        kept = rows.without(columns)
        shapes, _ = measure_shapes(options, kept, short, f"{label} less {name}")
        gpus, _ = measure_gpus(options, kept, short, f"{label} less {name}")
        found[name] = {"unseen_shapes": shapes["mean"], "unseen_gpu": gpus["mean"]}
    return found


def family_entry(options, family: str, before: dict) -> dict:
    """Trains, measures and writes one family; returns its manifest entry."""
    plan = FAMILIES[family]
    if options.sample:
        plan = replace(plan, sample=options.sample)
    print(family, flush=True)
    rows = read(export(options, family, plan))
    recipe = Recipe(hidden=plan.hidden, epochs=options.epochs or plan.epochs, rate=plan.rate, seed=options.seed)
    errors, intervals = {}, {}
    errors["unseen_shapes"], intervals["seen"] = measure_shapes(options, rows, recipe, family)
    print(f"  {family}, unseen shapes: {[errors['unseen_shapes'][k] for k in ('mean', 'median')]}", flush=True)
    if options.leave_one_gpu_out:
        shorter = replace(recipe, epochs=max(recipe.epochs // 2, 1))
        errors["unseen_gpu"], intervals["unseen"] = measure_gpus(options, rows, shorter, family)
    ablated = ablations(options, rows, plan, recipe, family) if options.ablations else before.get("ablations", {})
    model = fitted(options, rows, np.ones(len(rows), bool), recipe, f"{family}, all rows")
    path = options.out / f"{family}.onnx"
    onnx_file.write(path, model, rows.names, rows.header["version"])
    write_check(options.out / f"{family}.check.json", path, rows, options.seed)
    content = path.read_bytes()
    counted = {gpu: int(rows.of_gpu(gpu).sum()) for gpu in sorted(rows.header["gpus"])}
    return {
        "file": path.name,
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "schema_version": rows.header["version"],
        "features": len(rows.names),
        "rows": len(rows),
        "trained_on": rows.reference_gpus(),
        "rows_by_gpu": counted,
        "sources": rows.header["sources"],
        "left_out": rows.header["skipped"],
        "hull": hull(rows),
        "interval_80": intervals,
        "repeats": figures.repeats(rows),
        "errors": errors,
        "ablations": ablated,
    }


def write_check(path: Path, model: Path, rows: Rows, seed: int):
    """A few rows and the model's answers, for the test of the Rust runtime."""
    chosen = np.sort(np.random.default_rng(seed).choice(len(rows), CHECK_ROWS, replace=False))
    features = rows.features[chosen]
    answers = onnx_file.run(model, features)
    check = {"features": features.tolist(), "answers": answers.tolist()}
    path.write_text(json.dumps(check) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data")
    parser.add_argument("--out", type=Path, default=ROOT / "models")
    parser.add_argument("--work", type=Path, default=ROOT / "training/.cache")
    parser.add_argument("--family", action="append", choices=FAMILIES, help="only this one (repeatable)")
    parser.add_argument("--sample", type=int, help="rows a family, instead of its own number")
    parser.add_argument("--epochs", type=int, help="instead of the family's own number")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--exporter", type=Path, help="a built export_features, instead of building one")
    parser.add_argument("--no-leave-one-gpu-out", dest="leave_one_gpu_out", action="store_false")
    parser.add_argument("--ablations", action="store_true", help="also measure what groups of features are worth")
    parser.add_argument("--release", default=date.today().isoformat(), help="id of these models")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    options.work.mkdir(parents=True, exist_ok=True)
    path = options.out / "manifest.json"
    manifest = json.loads(path.read_text()) if path.exists() else {"families": {}}
    manifest["release"], manifest["date"] = options.release, date.today().isoformat()
    for family in options.family or FAMILIES:
        before = manifest["families"].get(family, {})
        manifest["families"][family] = family_entry(options, family, before)
        path.write_text(json.dumps(manifest, indent=1) + "\n")
        report.write(options.out / "README.md", manifest)


if __name__ == "__main__":
    main()
