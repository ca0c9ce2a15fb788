"""Which engine's kernels were measured on which GPU: writes `kernels` of static/catalog/measured.json.

    python training/measured.py --data DIR

Only kernels that static/catalog/engines.json names for the GPU's architecture, in the formats that decide: of weights, or of the KV cache for attention.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as pq

from families import RECORDS

CATALOG = Path(__file__).parents[1] / "static/catalog"

FORMATS = {"int8_wo": "int8", "int4_wo": "int4", "sq": "w8a8", "w4a16_mxfp4": "mxfp4", "w4a8_mxfp4_mxfp8": "mxfp4_mxfp8"}
# Names in the tables of A100 of kernels that have another name on newer GPUs.
OLDER = {
    "vllm_flash_attn": "vllm_flash_attn_fa2",
    "vllm_fused_moe": "vllm_unquantizedfusedmoe_triton_tritonexperts",
}


def named(record):
    """Every text in a record of the catalog: kernels among them."""
    if isinstance(record, str):
        return {record}
    values = record.values() if isinstance(record, dict) else record if isinstance(record, list) else []
    return set().union(*map(named, values), set())


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", required=True, type=Path)
    folder = arguments.parse_args().data / "kernels"
    launched = defaultdict(set)
    for engine in json.loads((CATALOG / "engines.json").read_text())["engines"]:
        for choice in engine["kernels"] + engine["variants"]:
            launched[engine["id"], choice["arch"]] |= named(choice)
    archs = {gpu["id"]: gpu["arch"] for gpu in json.loads((CATALOG / "gpus.json").read_text())["gpus"]}
    found = defaultdict(set)
    for family, record in RECORDS.items():
        format_column = record.get("format_column")
        for table in record["tables"]:
            columns = ["engine", "kernel", "gpu"] + [format_column] * (format_column is not None)
            rows = pq.read_table(folder / f"{table}.parquet", columns=columns)
            for row in rows.group_by(columns).aggregate([]).to_pylist():
                # Engines choose among GEMM kernels by format only.
                kernel = "" if family == "gemm" else OLDER.get(row["kernel"], row["kernel"])
                form = row.get(format_column) or "bf16"
                if row["gpu"] in archs and (not kernel or kernel in launched[row["engine"], archs[row["gpu"]]]):
                    found[family, row["engine"], kernel, FORMATS.get(form, form)].add(row["gpu"])
    keys = ("family", "engine", "kernel", "format", "gpus")
    lines = [json.dumps(dict(zip(keys, (*key, sorted(on)))), separators=(",", ":")) for key, on in sorted(found.items())]
    path = CATALOG / "measured.json"
    head, mark, _ = path.read_text().partition('"kernels":[\n')
    path.write_text(head + mark + ",\n".join(lines) + "\n]}\n")


if __name__ == "__main__":
    main()
