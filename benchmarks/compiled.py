"""Programs whose compilation is timed (sections/compiling.py): of some thirty lines each, as users write them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .adbench import objectives


def chain(x, y, s):
    """Elementwise operations that end in reductions."""
    n = len(x)
    a = x - y
    b = a / s
    c = b * b
    d = np.exp(-0.5 * c)
    e = np.log(1.0 + d)
    f = np.sqrt(1.0 + c)
    g = np.sin(x) * np.cos(y)
    h = np.tanh(g + e)
    i = np.where(h > 0.0, h, 0.1 * h)
    j = np.maximum(i, f - 2.0)
    k = j * j + 1.0
    w = np.log(k)
    m = np.abs(w - e)
    o = m / (1.0 + m)
    p = np.sum(o)
    q = np.sum(o * o)
    variance = q / n - (p / n) ** 2
    z = (o - p / n) / np.sqrt(variance + 1e-6)
    r = np.exp(-z * z)
    t = r * d + (1.0 - r) * h
    u = np.minimum(t, 2.0)
    v = np.sum(u * x)
    w = np.sum(u * y)
    angle = np.arctan2(w, v)
    length = np.hypot(v, w)
    last = u * angle + length
    residue = last - u * u
    return np.sum(residue) / n + s


def recurrence(x, w):
    """Loops over rows, slices and columns."""
    n, m = x.shape
    total = 0.0
    h = np.zeros(m)
    for i in range(n):
        row = x[i]
        a = np.tanh(w[0] * row + w[1] * h)
        b = 1.0 / (1.0 + np.exp(-(w[2] * row + w[3])))
        h = b * h + (1.0 - b) * a
        total += np.sum(h * h)
        if total > 100.0:
            total = 0.5 * total
    out = np.empty(m)
    out[0] = h[0]
    out[1:] = h[1:] - h[:-1]
    out[1:-1] += 0.5 * (out[2:] + out[:-2])
    g = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            g[i, j] = x[i, j] * out[j]
    s = 0.0
    for j in range(m):
        column = g[:, j]
        s += np.sum(column * column) / n
    mean = np.sum(out) / m
    centred = out - mean
    variance = np.sum(centred * centred) / m
    return total + s + mean / (1.0 + variance)


def stencil(u, k, steps):
    """Updates in place, by slices."""
    n = len(u)
    v = u.copy()
    f = np.zeros(n)
    f[n // 2] = 1.0
    for _ in range(steps):
        lap = v[2:] - 2.0 * v[1:-1] + v[:-2]
        v[1:-1] += k * lap
        v += 0.01 * f
        v[0] = v[1]
        v[-1] = v[-2]
    left = v[: n // 2]
    right = v[n // 2 :]
    d = left[:5] - right[:5]
    e = np.sum(d * d)
    w = np.empty_like(v)
    for i in range(n):
        w[i] = v[i] * math.sin(0.1 * i)
    e += np.sum(np.abs(w))
    big = np.where(v > 0.5, v - 0.5, 0.0)
    e += 0.1 * np.sum(big**2)
    return e / n


def network(x, y, w1, b1, w2, b2):
    """Two layers, sample by sample, with softmax."""
    n = x.shape[0]
    loss = 0.0
    for s in range(n):
        h = np.empty(b1.shape[0])
        for i in range(b1.shape[0]):
            h[i] = np.sum(w1[i] * x[s]) + b1[i]
        a = np.maximum(h, 0.0)
        z = np.empty(b2.shape[0])
        for i in range(b2.shape[0]):
            z[i] = np.sum(w2[i] * a) + b2[i]
        m = z[0]
        for i in range(1, b2.shape[0]):
            if z[i] > m:
                m = z[i]
        e = np.exp(z - m)
        p = e / np.sum(e)
        loss -= np.log(p[y[s]])
        penalty = np.sum(a * a)
        loss += 0.001 * penalty
    weights = 0.0
    for i in range(w1.shape[0]):
        weights += np.sum(w1[i] ** 2)
    for i in range(w2.shape[0]):
        weights += np.sum(w2[i] ** 2)
    total = loss / n + 0.5 / n * weights
    total += 0.01 * np.sum(b1 * b1)
    total += 0.01 * np.sum(b2 * b2)
    return total


def mixture(x, means, log_scales, logits):
    """The log likelihood of a mixture of diagonal Gaussians, with a prior."""
    n, d = x.shape
    k = means.shape[0]
    shifted = logits - np.max(logits)
    log_weights = shifted - np.log(np.sum(np.exp(shifted)))
    total = 0.0
    for i in range(n):
        terms = np.empty(k)
        for j in range(k):
            z = (x[i] - means[j]) / np.exp(log_scales[j])
            squares = np.sum(z * z)
            terms[j] = log_weights[j] - 0.5 * squares - np.sum(log_scales[j])
        top = np.max(terms)
        total += top + np.log(np.sum(np.exp(terms - top)))
    total -= 0.5 * n * d * np.log(2.0 * np.pi)
    scales = np.exp(log_scales)
    precision = 1.0 / (scales * scales)
    spread = np.sum(precision, axis=0)
    prior = 0.5 * np.sum(spread) - np.sum(np.log(spread))
    centre = np.mean(means, axis=0)
    distances = means - centre
    prior += 0.1 * np.sum(distances**2)
    entropy = -np.sum(np.exp(log_weights) * log_weights)
    return total / n - prior + 0.01 * entropy


def attention(x, wq, wk, wv, wo, scale, shift):
    """A block of attention with a residual connection and a normalised layer."""
    n, d = x.shape
    mean = np.mean(x, axis=1, keepdims=True)
    variance = np.mean((x - mean) ** 2, axis=1, keepdims=True)
    h = (x - mean) / np.sqrt(variance + 1e-5) * scale + shift
    q = h @ wq
    k = h @ wk
    v = h @ wv
    scores = q @ k.T / np.sqrt(d)
    mask = np.tril(np.ones((n, n)))
    scores = np.where(mask > 0.0, scores, -1e9)
    scores = scores - np.max(scores, axis=1, keepdims=True)
    weights = np.exp(scores)
    weights = weights / np.sum(weights, axis=1, keepdims=True)
    mixed = weights @ v
    out = x + mixed @ wo
    gelu = 0.5 * out * (1.0 + np.tanh(0.7978845608 * (out + 0.044715 * out**3)))
    residual = out + gelu
    norms = np.sqrt(np.sum(residual**2, axis=1))
    loss = np.mean(norms)
    loss += 0.01 * np.sum(weights * weights) / n
    return loss


def ratings(users, items, stars, p, q, bu, bi, mu):
    """Factors of a table of ratings, by lists of indices and conditions."""
    pu = p[users]
    qi = q[items]
    predicted = mu + bu[users] + bi[items] + np.sum(pu * qi, axis=1)
    error = stars - predicted
    size = np.abs(error)
    huber = np.where(size < 1.0, 0.5 * error * error, size - 0.5)
    weights = np.where(stars > 3.0, 2.0, 1.0)
    loss = np.sum(weights * huber) / np.sum(weights)
    active = bu > 0.0
    positive = bu[active]
    loss += 0.01 * np.sum(positive**2)
    order = np.argsort(bi)
    ordered = bi[order]
    steps = ordered[1:] - ordered[:-1]
    loss += 0.1 * np.mean(steps * steps)
    clipped = np.clip(predicted, 1.0, 5.0)
    loss += 0.001 * np.sum((clipped - stars) ** 2)
    totals = np.zeros(len(bi))
    np.add.at(totals, items, error)
    loss += 0.01 * np.sum(totals * totals)
    norms = np.sqrt(np.sum(p * p, axis=1) + 1e-9)
    largest = np.maximum(norms - 1.0, 0.0)
    loss += 0.05 * np.sum(largest)
    loss += 0.02 * np.sum(q**2)
    return loss


class Node:
    def __init__(self, value):
        self.value = value
        self.left = None
        self.right = None

    def insert(self, value):
        if value < self.value:
            if self.left is None:
                self.left = Node(value)
            else:
                self.left.insert(value)
        elif self.right is None:
            self.right = Node(value)
        else:
            self.right.insert(value)

    def walk(self, depth=1):
        total = self.value * depth
        if self.left is not None:
            total += self.left.walk(depth + 1)
        if self.right is not None:
            total += self.right.walk(depth + 1) * self.value
        return total


def tree(x, y):
    """A binary tree whose shape depends on the numbers."""
    root = Node(x)
    for i in range(6):
        root.insert((x * i * y) % 1.1)
    return root.walk()


def lists(x, y):
    """Lists that grow, are sorted and cut."""
    values = [x]
    for _ in range(5):
        values.append(values[-1] * y)
        values.insert(0, values[0] + x)
    values.reverse()
    values.extend([y] * 2)
    values[1:4] = [x, x * y]
    values += [x]
    values.sort()
    values.pop(2)
    values.remove(values[3])
    return sum(v * (i + 1) for i, v in enumerate(values)) + values.index(values[2]) + values.count(x)


class Program(NamedTuple):
    function: Callable[..., Any]
    arguments: Callable[[], tuple[Any, ...]]
    arrays: bool  # whether the level for functions of arrays applies
    by: tuple[int, ...] | None = None  # the arguments by which it is differentiated; None: all
    needs: str = ""  # a package beside NumPy


def with_copies(function: Any, arguments: tuple[Any, ...], by: tuple[int, ...] | None = None) -> Program:
    """A program of arrays that gets copies of these."""
    return Program(
        function, lambda: tuple([np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments]), True, by
    )


def _random(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).random(shape)


def _network() -> tuple[Any, ...]:
    labels = np.array([0, 1, 2, 0, 1, 2])
    return _random(6, 5), labels, _random(4, 5), _random(4), _random(3, 4), _random(3)


def _ratings() -> tuple[Any, ...]:
    drawn = np.random.default_rng(0)
    users, items, stars = drawn.integers(0, 5, 20), drawn.integers(0, 6, 20), 5.0 * drawn.random(20)
    return users, items, stars, _random(5, 3), _random(6, 3), _random(5) - 0.5, _random(6), 3.0


def _attention() -> tuple[Any, ...]:
    return _random(6, 4), *(_random(4, 4) for _ in range(4)), _random(4), _random(4)


def _mixture_of_adbench() -> tuple[Any, ...]:
    d, k, n = 3, 4, 8
    return _random(k), _random(k, d), _random(k, d * (d + 1) // 2), _random(n, d), 1.0, 0


def _lstm_of_adbench() -> tuple[Any, ...]:
    layers, b, length = 2, 5, 6
    return _random(2 * layers, 4 * b), _random(3, b), _random(2 * layers, b), _random(length, b)


class Particle:
    def __init__(self, x: float, v: float):
        self.x, self.v = x, v

    def energy(self) -> float:
        return 0.5 * self.v * self.v


def pairs(particles):
    """Objects that are only read."""
    total = 0.0
    for k, p in enumerate(particles):
        for q in particles[k + 1 :]:
            d = p.x - q.x
            total += 1.0 / (d * d + 0.1)
        total += p.energy()
    return total


def moved(particles):
    """Objects that change."""
    for p in particles:
        p.x += 0.1 * p.v
    return sum(p.x * p.energy() for p in particles)


def regularised(parameters):
    """Numbers by name."""
    return sum(v * v for v in parameters.values()) + parameters["w1"] * parameters["w2"]


def _particles() -> tuple[Any, ...]:
    return ([Particle(0.1 * k, 1.0 - 0.02 * k) for k in range(40)],)


PROGRAMS = {
    "chain": Program(chain, lambda: (_random(100), _random(100), 0.7), True),
    "recurrence": Program(recurrence, lambda: (_random(10, 7), _random(4)), True),
    "stencil": Program(stencil, lambda: (_random(40), 0.1, 20), True),
    "network": Program(network, _network, True),
    "mixture": Program(mixture, lambda: (_random(8, 3), _random(4, 3), _random(4, 3), _random(4)), True),
    "attention": Program(attention, _attention, True),
    "ratings": Program(ratings, _ratings, True),
    "gmm arrays": Program(objectives.gmm_arrays, _mixture_of_adbench, True, (0, 1, 2)),
    "lstm arrays": Program(objectives.lstm_arrays, _lstm_of_adbench, True, (0, 1)),
    "tree": Program(tree, lambda: (0.7, 1.3), False),
    "lists": Program(lists, lambda: (0.7, 1.3), False),
    "40 objects, read": Program(pairs, _particles, False),
    "40 objects, written": Program(moved, _particles, False),
    "dict of 100": Program(regularised, lambda: ({f"w{k}": 0.1 * k for k in range(100)},), False),
}
