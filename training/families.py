"""How each family is trained."""

from dataclasses import dataclass, field

# The reference time and its parts are always kept: without them nothing transfers from one GPU to another.
WAVES = ("waste_", "operands_", "tiles_", "packed_tiles_", "longest_tile_", "rounding_", "occupancy", "padding_")
SIZES = ("ln_m", "ln_n", "ln_k", "ln_tokens", "ln_sequences", "ln_kv_length", "ln_new", "ln_heads", "ln_kv_heads")


@dataclass(frozen=True)
class Plan:
    # Approximate number of training rows.
    sample: int = 250_000
    hidden: tuple = (128, 128, 128)
    epochs: int = 24
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
