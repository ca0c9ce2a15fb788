"""Figures of the GPU catalog that are fitted to measured tables: read, printed, put in place."""

import argparse
import json
import re
from pathlib import Path

CATALOG = Path(__file__).parents[1] / "static/catalog/gpus.json"


def column(table, name):
    values = table[name].combine_chunks()
    if hasattr(values, "dictionary_decode"):
        values = values.dictionary_decode()
    return values.to_numpy(zero_copy_only=False)


def write(text, key, found):
    """The catalog with the fitted figures put in place, everything else untouched."""
    for gpu, (share, source, _) in found.items():
        pattern = rf'("id":"{re.escape(gpu)}",.*?"{key}":)\[[^\]]*\]'
        text, count = re.subn(pattern, rf'\g<1>[{share},"{source}"]', text, count=1, flags=re.S)
        assert count == 1, gpu
    return text


def main(doc, key, fit):
    """A command that prints what `fit(folder, gpus)` finds, {gpu id: (share, source id, rows)}, and may write it."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--write", action="store_true", help="put the figures into the catalog")
    options = parser.parse_args()
    text = CATALOG.read_text()
    found = fit(options.data, json.loads(text)["gpus"])
    for gpu, (share, source, rows) in found.items():
        print(f"{gpu:22} {share:.3f}  {source:13} {rows:6} rows")
    if options.write:
        CATALOG.write_text(write(text, key, found))
