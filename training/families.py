"""How each family is trained: `training` of its record in static/catalog/kernels.json, checked and completed."""

import json
from dataclasses import dataclass, field
from pathlib import Path

CATALOG = Path(__file__).parents[1] / "static/catalog/kernels.json"

# The reference time and its parts are always kept: without them nothing transfers from one GPU to another.
WAVES = ("waste_", "operands_", "tiles_", "packed_tiles_", "longest_tile_", "rounding_", "occupancy", "padding_")
SIZES = ("ln_m", "ln_n", "ln_k", "ln_tokens", "ln_sequences", "ln_kv_length", "ln_new", "ln_heads", "ln_kv_heads")


@dataclass(frozen=True)
class Plan:
    # Approximate number of training rows.
    sample: int
    # Widths of the layers.
    hidden: list
    epochs: int
    # Epochs of the models that leave a GPU out; half of the usual number by default.
    left_out_epochs: int | None = None
    # Muon's learning rate; narrow networks diverge at the rate that is best for wide ones.
    rate: float = 3e-2
    batch: int = 1024
    # Weight decay.
    decay: float = 1e-4
    # Draws of held-out shapes: several where there are few shapes.
    draws: int = 1
    # Groups of columns that the ablations leave out, by the prefix of their names.
    groups: dict = field(default_factory=lambda: {"tiles and waves": WAVES, "sizes": SIZES})


# The records of static/catalog/kernels.json by family, in their order.
RECORDS = {record["id"]: record for record in json.loads(CATALOG.read_text())["families"]}
# A setting that a plan does not know is an error here.
FAMILIES = {family: Plan(**record["training"]) for family, record in RECORDS.items()}
