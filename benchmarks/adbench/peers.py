"""The objectives in JAX, in the forms that suit it: products of matrices for all points at once, `lax.scan` over time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .objectives import log_wishart


def jax_gmm(args: tuple[Any, ...], form: str) -> Callable[..., Any]:
    """The value of (alphas, means, icf), with L (x - mu) as L x - L mu; what is constant is closed over, as jax.jit then may
    fold it.  Which form is best depends on the size:

    "one product": of matrices, for all points and components, a point's components side by side
    "columns": the same with the points side by side
    "components": a product for each component, by lax.map
    """
    import jax
    import jax.numpy as jnp
    from jax.scipy.special import logsumexp

    _, means, _, x, gamma, m = args
    n, d = x.shape
    k = len(means)
    columns, rows = np.triu_indices(d, 1)
    constant = -0.5 * n * d * math.log(2.0 * math.pi) - k * log_wishart(d, m, gamma)
    points, coordinates = jnp.asarray(x), jnp.asarray(x.T.copy())
    each = np.arange(d)

    def distances(factors: Any, shifts: Any) -> Any:
        """Per component and point."""
        if form == "columns":
            y = (factors.reshape(k * d, d) @ coordinates).reshape(k, d, n) - shifts[:, :, None]
            return jnp.sum(y * y, axis=1)

        def of_component(given: Any) -> Any:
            factor, shift = given
            y = factor @ coordinates - shift[:, None]
            return jnp.sum(y * y, axis=0)

        return jax.lax.map(of_component, (factors, shifts))

    def objective(alphas: Any, means: Any, icf: Any) -> Any:
        diagonal = jnp.exp(icf[:, :d])
        sums = jnp.sum(icf[:, :d], axis=1)
        factors = jnp.zeros((k, d, d)).at[:, rows, columns].set(icf[:, d:]).at[:, each, each].set(diagonal)
        shifts = jnp.einsum("kij,kj->ki", factors, means)
        if form == "one product":
            y = (points @ factors.reshape(k * d, d).T).reshape(n, k, d) - shifts
            each_point = logsumexp(alphas + sums - 0.5 * jnp.sum(y * y, axis=2), axis=1)
        else:
            each_point = logsumexp((alphas + sums)[:, None] - 0.5 * distances(factors, shifts), axis=0)
        squares = jnp.sum(diagonal * diagonal) + jnp.sum(icf[:, d:] ** 2)
        prior = 0.5 * gamma * gamma * squares - m * jnp.sum(sums)
        return constant + jnp.sum(each_point) - n * logsumexp(alphas) + prior

    return objective


def jax_lstm(args: tuple[Any, ...], form: str) -> Callable[..., Any]:
    """The value of (main, extra)."""
    import jax
    import jax.numpy as jnp

    main, _, state, sequence = args
    layers = main.shape[0] // 2
    length, b = sequence.shape
    start, inputs, targets = jnp.asarray(state), jnp.asarray(sequence[:-1]), jnp.asarray(sequence[1:])

    def objective(main: Any, extra: Any) -> Any:
        def step(state: Any, pair: Any) -> tuple[Any, Any]:
            given, target = pair
            x = given * extra[0]
            after = []
            for layer in range(layers):
                weight, bias = main[2 * layer], main[2 * layer + 1]
                hidden, cell = state[2 * layer], state[2 * layer + 1]
                forget = jax.nn.sigmoid(x * weight[:b] + bias[:b])
                ingate = jax.nn.sigmoid(hidden * weight[b : 2 * b] + bias[b : 2 * b])
                outgate = jax.nn.sigmoid(x * weight[2 * b : 3 * b] + bias[2 * b : 3 * b])
                change = jnp.tanh(hidden * weight[3 * b :] + bias[3 * b :])
                cell = cell * forget + ingate * change
                x = outgate * jnp.tanh(cell)
                after += [x, cell]
            prediction = x * extra[1] + extra[2]
            normalised = prediction - jnp.log(2.0 + jnp.sum(jnp.exp(prediction)))
            return jnp.stack(after), jnp.sum(target * normalised)

        _, losses = jax.lax.scan(step, start, (inputs, targets))
        return -jnp.sum(losses) / (b * (length - 1))

    return objective


def configure_jax() -> None:
    """Doubles, and no thread but the caller's: on one core, handing over to another only costs."""
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_cpu_enable_async_dispatch", False)


# The first is that for which the ratios of data.INSTANCES were found.
FORMS = {"gmm": ("one product", "columns", "components"), "lstm": ("scan",)}


def jax_value_and_grad(kind: str, args: tuple[Any, ...], form: str) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """The jitted value, and value with gradient, as functions without arguments that wait for their result."""
    import jax
    import jax.numpy as jnp

    configure_jax()
    objective = (jax_gmm if kind == "gmm" else jax_lstm)(args, form)
    count = 3 if kind == "gmm" else 2
    given = [jnp.asarray(a) for a in args[:count]]
    value = jax.jit(objective)
    both = jax.jit(jax.value_and_grad(objective, tuple(range(count))))
    return lambda: value(*given).block_until_ready(), lambda: jax.block_until_ready(both(*given))
