"""The network: a multilayer perceptron on standardised features, trained on the logarithm of time."""

import time
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
import optax
from optax.contrib import muon


@dataclass(frozen=True)
class Recipe:
    hidden: tuple = (128, 128, 128)
    epochs: int = 24
    batch: int = 1024
    # Learning rate of Muon, which orthogonalises the steps of weight matrices: 10 epochs gave a lower error than 40 of Adam.
    rate: float = 3e-2
    decay: float = 1e-4
    # How often the identity columns are hidden, so that the network learns to do without them.
    hide_identity: float = 0.5
    # Residuals below this count quadratically, larger ones linearly.
    huber: float = 0.05
    # Share of the epochs, at the end, that are trained with weights rounded to 8 bits.
    rounded: float = 0.4
    seed: int = 0


# Standardised features are clipped to this: there is no extrapolation beyond it.
CLIP = 4.0
# Weight of the spread's loss relative to the value's.
SPREAD_WEIGHT = 0.05
# The smallest spread, as ln of the error's factor: below the noise of the measurements.
LEAST_SPREAD = 0.002


@dataclass
class Model:
    """`layers(clip(features * scale + shift))` gives two columns: ln(t / t_reference), and ln of the error
    of that logarithm that rows like this one have on average."""

    scale: np.ndarray
    shift: np.ndarray
    layers: list = field(default_factory=list)  # of (weights [in, out], bias [out])

    def predict(self, features, chunk=65536):
        """Both columns, [N, 2]."""
        run = jax.jit(forward)
        parts = [
            np.asarray(run(self.layers, self.standardise(features[i : i + chunk])))
            for i in range(0, len(features), chunk)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, 2), np.float32)

    def standardise(self, features):
        return np.clip(features * self.scale + self.shift, -CLIP, CLIP)


def rounding(weights):
    """Weights [in, out] as 8-bit integers times one scale a column [1, out]."""
    scale = jnp.maximum(jnp.abs(weights).max(0, keepdims=True), 1e-8) / 127.0
    return jnp.clip(jnp.round(weights / scale), -127, 127), scale


def rounded(weights):
    """The weights as the ONNX file holds them, with the gradient of the weights themselves."""
    whole, scale = rounding(weights)
    return weights + jax.lax.stop_gradient(whole * scale - weights)


def forward(layers, z):
    for weights, bias in layers[:-1]:
        z = jax.nn.silu(z @ weights + bias)
    weights, bias = layers[-1]
    # The spread gets no gradient into the shared layers: it must not affect what the value learns.
    value = z @ weights[:, :1]
    spread = jax.lax.stop_gradient(z) @ weights[:, 1:]
    return jnp.concatenate([value, spread], 1) + bias


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
    # Hidden identity columns are zero, before and after this.
    mean[identity_from:] = 0.0
    # Nothing was learned from a column that never varied: a flag that is never set in training must have no effect when set.
    scale = np.where(spread > 1e-5, 1.0 / spread, 0.0).astype(np.float32)
    shift = (-mean * scale).astype(np.float32)
    model = Model(scale, shift)
    z = model.standardise(features)
    count, width = z.shape
    batch = min(recipe.batch, count)
    params = {
        "layers": start(jax.random.PRNGKey(recipe.seed), (width, *recipe.hidden, 2)),
        # Vectors, so that the optimiser does not take them for a weight matrix.
        "bias": [jnp.zeros(int(source.max()) + 1) for _ in range(3)],
    }
    steps = recipe.epochs * (count // batch)
    schedule = optax.warmup_cosine_decay_schedule(0.0, recipe.rate, max(steps // 20, 1), steps, recipe.rate * 0.01)
    optimiser = optax.chain(optax.clip_by_global_norm(1.0), muon(schedule, weight_decay=recipe.decay))
    state = optimiser.init(params)
    is_identity = jnp.arange(width) >= identity_from

    def loss(params, rows, key, rounds):
        z, target, source, weight, size = rows
        hidden = jax.random.bernoulli(key, recipe.hide_identity, (z.shape[0], 1)) & is_identity
        layers = [(rounded(w) if rounds else w, b) for w, b in params["layers"]]
        answer = forward(layers, jnp.where(hidden, 0.0, z))
        constant, linear, square = (part[source] * (source > 0) for part in params["bias"])
        off = jnp.abs(answer[:, 0] + constant + linear * size + square * size * size - target)
        value = optax.losses.huber_loss(off, delta=recipe.huber) / recipe.huber
        # Likelihood of a Laplace distribution of this mean error.
        ln_spread = answer[:, 1]
        spread = (jax.lax.stop_gradient(off) + LEAST_SPREAD) * jnp.exp(-ln_spread) + ln_spread
        return (weight * (value + SPREAD_WEIGHT * spread)).mean(), (weight * value).mean()

    def epoch(params, state, key, order, data, rounds):
        def step(carry, index):
            params, state, key = carry
            key, mine = jax.random.split(key)
            taken = tuple(column[index] for column in data)
            (_, value), gradient = jax.value_and_grad(loss, has_aux=True)(params, taken, mine, rounds)
            update, state = optimiser.update(gradient, state, params)
            return (optax.apply_updates(params, update), state, key), value

        (params, state, key), values = jax.lax.scan(step, (params, state, key), order)
        return params, state, key, values.mean()

    epoch = jax.jit(epoch, static_argnames="rounds")
    data = tuple(jnp.asarray(column) for column in (z, target, source, weight, size))
    shuffle, key, started = np.random.default_rng(recipe.seed), jax.random.PRNGKey(recipe.seed + 1), time.time()
    for turn in range(recipe.epochs):
        order = shuffle.permutation(count)[: count // batch * batch].reshape(-1, batch)
        rounds = turn >= recipe.epochs * (1.0 - recipe.rounded)
        params, state, key, value = epoch(params, state, key, jnp.asarray(order), data, rounds)
        if label and (turn + 1) % 8 == 0:
            print(f"  {label}: epoch {turn + 1}/{recipe.epochs}, loss {value:.4f}, {time.time() - started:.0f} s", flush=True)
    for weights, bias in params["layers"]:
        whole, scale = rounding(weights)
        model.layers.append((np.asarray(whole * scale), np.asarray(bias)))
    return model
