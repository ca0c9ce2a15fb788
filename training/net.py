"""The network: a multilayer perceptron on standardised features, trained on the logarithm of time."""

import time
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclass(frozen=True)
class Recipe:
    hidden: tuple = (128, 128, 128)
    epochs: int = 24
    batch: int = 1024
    rate: float = 2e-3
    decay: float = 1e-4
    # How often the identity columns are hidden, so that the rest learns to do without.
    hide_identity: float = 0.5
    # Residuals below this count squared, above linearly.
    huber: float = 0.05
    seed: int = 0


# Standardised features are clipped here: nothing is extrapolated further.
CLIP = 4.0


@dataclass
class Model:
    """`ln(t / t_reference) = layers(clip(features * scale + shift))`."""

    scale: np.ndarray
    shift: np.ndarray
    layers: list = field(default_factory=list)  # of (weights [in, out], bias [out])

    def predict(self, features, chunk=65536):
        run = jax.jit(forward)
        parts = [
            np.asarray(run(self.layers, self.standardise(features[i : i + chunk])))
            for i in range(0, len(features), chunk)
        ]
        return np.concatenate(parts) if parts else np.zeros(0, np.float32)

    def standardise(self, features):
        return np.clip(features * self.scale + self.shift, -CLIP, CLIP)


def forward(layers, z):
    for weights, bias in layers[:-1]:
        z = jax.nn.silu(z @ weights + bias)
    weights, bias = layers[-1]
    return (z @ weights + bias)[:, 0]


def start(key, widths):
    layers = []
    for i, (before, after) in enumerate(zip(widths[:-1], widths[1:])):
        key, mine = jax.random.split(key)
        # The last layer starts near zero: the reference time is the first guess.
        spread = np.sqrt(2.0 / before) * (0.1 if i == len(widths) - 2 else 1.0)
        layers.append((jax.random.normal(mine, (before, after)) * spread, jnp.zeros(after)))
    return layers


def train(features, target, source, weight, size, identity_from, recipe: Recipe, label="") -> Model:
    """Fits a model. Each source but the first gets a bias, quadratic in `size`, which stays behind: the
    model answers on the first source's scale."""
    mean, spread = features.mean(0), features.std(0) + 1e-6
    # Hidden identity columns are zero, before and after.
    mean[identity_from:] = 0.0
    scale, shift = (1.0 / spread).astype(np.float32), (-mean / spread).astype(np.float32)
    model = Model(scale, shift)
    z = model.standardise(features)
    count, width = z.shape
    params = {
        "layers": start(jax.random.PRNGKey(recipe.seed), (width, *recipe.hidden, 1)),
        "bias": jnp.zeros((int(source.max()) + 1, 3)),
    }
    steps = recipe.epochs * (count // recipe.batch)
    schedule = optax.warmup_cosine_decay_schedule(0.0, recipe.rate, max(steps // 20, 1), steps, recipe.rate * 0.01)
    optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=recipe.decay))
    state = optimiser.init(params)
    is_identity = jnp.arange(width) >= identity_from

    def loss(params, rows, key):
        z, target, source, weight, size = rows
        hidden = jax.random.bernoulli(key, recipe.hide_identity, (z.shape[0], 1)) & is_identity
        bias = params["bias"][source] * (source > 0)[:, None]
        predicted = forward(params["layers"], jnp.where(hidden, 0.0, z))
        predicted += bias[:, 0] + bias[:, 1] * size + bias[:, 2] * size * size
        off = jnp.abs(predicted - target)
        return (weight * optax.losses.huber_loss(off, delta=recipe.huber)).mean() / recipe.huber

    @jax.jit
    def epoch(params, state, key, order, data):
        def step(carry, index):
            params, state, key = carry
            key, mine = jax.random.split(key)
            value, gradient = jax.value_and_grad(loss)(params, tuple(column[index] for column in data), mine)
            update, state = optimiser.update(gradient, state, params)
            return (optax.apply_updates(params, update), state, key), value

        (params, state, key), values = jax.lax.scan(step, (params, state, key), order)
        return params, state, key, values.mean()

    data = tuple(jnp.asarray(column) for column in (z, target, source, weight, size))
    shuffle, key, started = np.random.default_rng(recipe.seed), jax.random.PRNGKey(recipe.seed + 1), time.time()
    for turn in range(recipe.epochs):
        order = shuffle.permutation(count)[: count // recipe.batch * recipe.batch].reshape(-1, recipe.batch)
        params, state, key, value = epoch(params, state, key, jnp.asarray(order), data)
        if label and (turn + 1) % 8 == 0:
            print(f"  {label}: epoch {turn + 1}/{recipe.epochs}, loss {value:.4f}, {time.time() - started:.0f} s", flush=True)
    model.layers = [(np.asarray(w), np.asarray(b)) for w, b in params["layers"]]
    return model
