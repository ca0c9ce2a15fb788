"""How each family is trained."""

from dataclasses import dataclass, field

# The reference time and its parts stay: without them nothing carries from one GPU to another.
WAVES = ("waste_", "operands_", "tiles_", "packed_tiles_", "longest_tile_", "rounding_", "occupancy", "padding_")
SIZES = ("ln_m", "ln_n", "ln_k", "ln_tokens", "ln_sequences", "ln_kv_length", "ln_new", "ln_heads", "ln_kv_heads")


@dataclass(frozen=True)
class Plan:
    # Rows, about.
    sample: int = 250_000
    hidden: tuple = (128, 128, 128)
    epochs: int = 24
    # Of the models that leave a GPU out; half of the others' by default.
    left_out_epochs: int | None = None
    # Muon's; narrow networks diverge at what wide ones learn best with.
    rate: float = 3e-2
    batch: int = 1024
    # Of weights.
    decay: float = 1e-4
    # Of shapes held out: several where shapes are few.
    draws: int = 1
    # Groups of columns, by prefix of their names, that the ablations leave out.
    groups: dict = field(default_factory=lambda: {"tiles and waves": WAVES, "sizes": SIZES})


FAMILIES = {
    "gemm": Plan(sample=2_000_000, hidden=(256, 256, 256), epochs=10, left_out_epochs=2, batch=2048),
    "attention_prefill": Plan(),
    "attention_decode": Plan(sample=500_000, hidden=(160, 160, 160), epochs=10, left_out_epochs=4, batch=2048),
    "elementwise": Plan(sample=100_000, hidden=(64, 64, 64), epochs=16, rate=1e-2, decay=1e-2, groups={}),
    "moe": Plan(
        sample=1_000_000,
        hidden=(192, 192, 192),
        epochs=8,
        left_out_epochs=3,
        batch=2048,
        decay=1e-2,
        draws=3,
        groups={
            "tiles and waves": ("padding_", "first_rounding_", "first_tiles_", "second_", "largest_expert"),
            "how tokens are spread": ("ln_touched", "ln_tokens_per_expert", "ln_largest_over_mean"),
        },
    ),
    "mla": Plan(sample=120_000, hidden=(96, 96, 96)),
    "mla_bmm": Plan(hidden=(80, 80, 80), epochs=60),
    "mla_module": Plan(sample=150_000, hidden=(96, 96, 96)),
    "dsa_module": Plan(sample=120_000, hidden=(96, 96, 96)),
    "linear_attention": Plan(sample=100_000, hidden=(96, 96, 96), epochs=20),
}
