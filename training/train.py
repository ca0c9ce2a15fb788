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
# The ablations' fits, the same for all families: only their differences are meaningful.
ABLATION_ROWS = 60_000
ABLATION = Recipe(hidden=(96, 96, 96), epochs=8)
ABLATION_GPUS = ("h200-sxm", "l40s")


def export(options, family: str, plan: Plan) -> Path:
    """Training rows of one family, by the Rust core."""
    path = options.work / f"{family}.rows"
    cargo = ["cargo", "run", "--quiet", "--profile", "tools", "--features", "tools", "--bin", "export_features", "--"]
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


def measure_shapes(options, rows: Rows, recipe: Recipe, label: str, draws: int = 1) -> tuple[dict, dict]:
    """Errors and calibration on whole shapes that no GPU trained on, of all draws together."""
    off, spread = np.zeros(len(rows), np.float32), np.ones(len(rows), np.float32)
    measured = np.zeros(len(rows), bool)
    for held in held_out_shapes(rows, HELD_OUT_SHARE, options.seed, draws):
        model = fitted(options, rows, ~held, recipe, f"{label}, shapes held out")
        chosen = held & rows.reference
        measured |= chosen
        answer = model.predict(rows.features[chosen])
        off[chosen], spread[chosen] = answer[:, 0] - rows.target[chosen], np.exp(answer[:, 1])
        print(f"  {label}, a draw of shapes: {figures.errors(off[chosen])}", flush=True)
    return figures.grouped(rows, off, measured), figures.calibrated(off[measured], spread[measured], rows.shape[measured])


def measure_gpus(options, rows: Rows, recipe: Recipe, label: str, gpus: list[str]) -> tuple[dict, dict]:
    """Errors and calibration on each of the GPUs when none of its rows, of any source, were trained on."""
    off, spread = np.zeros(len(rows), np.float32), np.ones(len(rows), np.float32)
    measured = np.zeros(len(rows), bool)
    for gpu in gpus:
        mine = rows.of_gpu(gpu)
        model = fitted(options, rows, ~mine, recipe, f"{label} without {gpu}")
        chosen = mine & rows.reference
        measured |= chosen
        answer = model.predict(without_identity(rows, rows.features[chosen]))
        off[chosen], spread[chosen] = answer[:, 0] - rows.target[chosen], np.exp(answer[:, 1])
        print(f"  {label} without {gpu}: {figures.errors(off[chosen])}", flush=True)
    return figures.grouped(rows, off, measured), figures.calibrated(off[measured], spread[measured], rows.gpu[measured])


def ablations(options, family: str) -> dict:
    """Mean error on unseen shapes, and on some unseen GPUs together, without a group of columns."""
    plan = replace(FAMILIES[family], sample=options.sample or ABLATION_ROWS)
    rows, recipe = read(export(options, family, plan)), replace(ABLATION, seed=options.seed)
    gpus = [gpu for gpu in rows.reference_gpus() if gpu in ABLATION_GPUS]
    found = {}
    for name, columns in {"nothing": (), **plan.groups}.items():
        kept, label = rows.without(columns), f"{family} less {name}"
        shapes, _ = measure_shapes(options, kept, recipe, label)
        unseen, _ = measure_gpus(options, kept, recipe, label, gpus)
        found[name] = {"unseen_shapes": shapes["mean"], "unseen_gpu": unseen["mean"]}
        print(f"  {label}: {found[name]}", flush=True)
    return found


def family_entry(options, family: str, before: dict) -> dict:
    """Trains, measures and writes one family; returns its manifest entry."""
    plan = FAMILIES[family]
    if options.sample:
        plan = replace(plan, sample=options.sample)
    print(family, flush=True)
    rows = read(export(options, family, plan))
    epochs = options.epochs or plan.epochs
    recipe = Recipe(plan.hidden, epochs, plan.batch, plan.rate, plan.decay, seed=options.seed)
    errors, intervals = {}, {}
    errors["unseen_shapes"], intervals["seen"] = measure_shapes(options, rows, recipe, family, plan.draws)
    print(f"  {family}, unseen shapes: {[errors['unseen_shapes'][k] for k in ('mean', 'median')]}", flush=True)
    if options.leave_one_gpu_out:
        shorter = replace(recipe, epochs=plan.left_out_epochs or max(recipe.epochs // 2, 1))
        errors["unseen_gpu"], intervals["unseen"] = measure_gpus(options, rows, shorter, family, rows.reference_gpus())
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
        "ablations": before.get("ablations", {}),
    }


def write_check(path: Path, model: Path, rows: Rows, seed: int):
    """A few rows and the model's answers, for the test of the Rust runtime."""
    chosen = np.sort(np.random.default_rng(seed).choice(len(rows), CHECK_ROWS, replace=False))
    features = rows.features[chosen]
    answers = onnx_file.run(model, features)
    check = {"features": features.tolist(), "answers": answers.tolist()}
    path.write_text(json.dumps(check) + "\n")


def following(before: str | None) -> str:
    """The id of a new release: today's date, numbered from 2 where a release of today is there already, for links
    name the release that their numbers are of."""
    today = date.today().isoformat()
    if not before or before.split(".")[0] != today:
        return today
    return f"{today}.{int((before.split('.') + ['1'])[1]) + 1}"


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
    parser.add_argument("--ablations", action="store_true", help="only measure what groups of features are worth")
    parser.add_argument("--release", help="id of these models, instead of today's date")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    options.work.mkdir(parents=True, exist_ok=True)
    path = options.out / "manifest.json"
    manifest = json.loads(path.read_text()) if path.exists() else {"families": {}}
    if not options.ablations:
        manifest["release"] = options.release or following(manifest.get("release"))
        manifest["date"] = date.today().isoformat()
    for family in options.family or FAMILIES:
        before = manifest["families"].get(family, {})
        if options.ablations:
            manifest["families"][family] = {**before, "ablations": ablations(options, family)}
        else:
            manifest["families"][family] = family_entry(options, family, before)
        path.write_text(json.dumps(manifest, indent=1) + "\n")
        report.write(options.out / "README.md", manifest)


if __name__ == "__main__":
    main()
