"""How each family is trained."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Plan:
    # Rows, about.
    sample: int = 250_000
    hidden: tuple = (128, 128, 128)
    epochs: int = 24
    # Muon's; narrow networks diverge at what wide ones learn best with.
    rate: float = 3e-2
    # Groups of columns, by prefix of their names, that the ablations leave out.
    groups: dict = field(default_factory=dict)


# The reference time and its parts stay: without them nothing carries from one GPU to another.
WAVES = ("waste_", "operands_", "tiles_", "packed_tiles_", "longest_tile_", "rounding_", "occupancy", "padding_")
SIZES = ("ln_m", "ln_n", "ln_k", "ln_tokens", "ln_sequences", "ln_kv_length", "ln_new", "ln_heads", "ln_kv_heads")

FAMILIES = {
    "gemm": Plan(groups={"tiles and waves": WAVES, "sizes": SIZES}),
    "attention_prefill": Plan(groups={"tiles and waves": WAVES, "sizes": SIZES}),
    "attention_decode": Plan(groups={"tiles and waves": WAVES, "sizes": SIZES}),
    "elementwise": Plan(sample=100_000, hidden=(48, 48, 48), rate=1e-2),
    "moe": Plan(
        hidden=(96, 96, 96),
        groups={
            "tiles and waves": ("padding_", "first_rounding_", "first_tiles_", "second_", "largest_expert"),
            "how tokens are spread": ("ln_touched", "ln_tokens_per_expert", "ln_largest_over_mean"),
        },
    ),
    "mla": Plan(sample=120_000, hidden=(96, 96, 96), groups={"tiles and waves": WAVES, "sizes": SIZES}),
    "mla_bmm": Plan(hidden=(80, 80, 80), epochs=60, groups={"tiles and waves": WAVES, "sizes": SIZES}),
    "mla_module": Plan(sample=150_000, hidden=(96, 96, 96), groups={"tiles and waves": WAVES, "sizes": SIZES}),
    "dsa_module": Plan(sample=120_000, hidden=(96, 96, 96), groups={"tiles and waves": WAVES, "sizes": SIZES}),
    "linear_attention": Plan(sample=100_000, hidden=(96, 96, 96), epochs=20, groups={"tiles and waves": WAVES, "sizes": SIZES}),
}
