"""Objects and containers that hold small NumPy arrays, as people write them: for gradients through the Python back end.

Each operation of NumPy takes half a microsecond here, of which hardly anything is arithmetic. HIPS autograd runs those that write to no
array, with its own NumPy in the place of `np`.
"""

from __future__ import annotations

import importlib.util
import math
from bisect import bisect_right
from collections import deque
from typing import Any

import numpy as np

PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {}


def program(*args: Any) -> Any:
    """A program with its arguments."""

    def register(function: Any) -> Any:
        PROGRAMS[function.__name__.replace("_", " ")] = function, args
        return function

    return register


def numbers(*shape: int, scale: float = 0.5) -> Any:
    """Fixed numbers that are not alike."""
    return scale * np.sin(1.0 + 1.7 * np.arange(math.prod(shape))).reshape(shape)


class Body:
    def __init__(self, place: Any, speed: Any, mass: float):
        self.place = place
        self.speed = speed
        self.mass = mass


@program([1.0, 2.0, 0.5, 0.7, 1.3], 1.0)
def bodies(masses: list[float], gravity: float) -> float:
    """Bodies that attract each other, in the plane."""
    found = []
    for k, mass in enumerate(masses):
        c, s = math.cos(2.1 * k), math.sin(2.1 * k)
        found.append(Body(np.array([c, s]), 0.5 * np.array([-s, c]), mass))
    for _ in range(10):
        for a in found:
            pull = np.zeros(2)
            for b in found:
                if b is not a:
                    d = b.place - a.place
                    pull = pull + gravity * b.mass * d / (np.dot(d, d) + 1e-2) ** 1.5
            a.speed = a.speed + 0.02 * pull
        for a in found:
            a.place = a.place + 0.02 * a.speed
    return sum(0.5 * b.mass * (b.speed @ b.speed) for b in found)


@program([1.0, 2.0, 0.5, 0.7, 1.3], 1.0)
def bodies_in_place(masses: list[float], gravity: float) -> float:
    """The same with arrays that are written."""
    found = []
    for k, mass in enumerate(masses):
        c, s = math.cos(2.1 * k), math.sin(2.1 * k)
        found.append(Body(np.array([c, s]), 0.5 * np.array([-s, c]), mass))
    pull = np.zeros(2)
    for _ in range(10):
        for a in found:
            pull[:] = 0.0
            for b in found:
                if b is not a:
                    d = b.place - a.place
                    pull += gravity * b.mass * d / (np.dot(d, d) + 1e-2) ** 1.5
            a.speed += 0.02 * pull
        for a in found:
            a.place += 0.02 * a.speed
    return sum(0.5 * b.mass * (b.speed @ b.speed) for b in found)


class Layer:
    def __init__(self, weights: Any, bias: Any):
        self.weights = weights
        self.bias = bias

    def __call__(self, x: Any) -> Any:
        return np.tanh(self.weights @ x + self.bias)


@program([numbers(5, 3), numbers(5, 5), numbers(1, 5)], [numbers(5), numbers(5), numbers(1)])
def layers(weights: list[Any], biases: list[Any]) -> float:
    """A network of layers, sample by sample."""
    network = [Layer(w, b) for w, b in zip(weights, biases)]
    loss = 0.0
    for k in range(40):
        h = np.array([0.1 * k, 1.0 - 0.05 * k, 0.3])
        for layer in network:
            h = layer(h)
        loss = loss + (h[0] - 0.01 * k) ** 2
    return loss


@program([numbers(8, 4), numbers(3, 8)], [numbers(8), numbers(3)])
def batches(weights: list[Any], biases: list[Any]) -> float:
    """A classifier of small batches: matrices, broadcasting, reductions along an axis."""
    x, wanted = numbers(6, 4, scale=1.0), np.eye(3)[[0, 1, 2, 0, 1, 2]]
    loss = 0.0
    for k in range(20):
        h = x + 0.01 * k
        for w, b in zip(weights[:-1], biases[:-1]):
            h = np.maximum(h @ w.T + b, 0.0)
        scores = h @ weights[-1].T + biases[-1]
        scores = scores - np.max(scores, axis=1, keepdims=True)
        loss = loss - np.mean(np.sum(wanted * scores, axis=1) - np.log(np.sum(np.exp(scores), axis=1)))
    return loss


class Filter:
    """A Kalman filter of place and speed."""

    def __init__(self, noise: float, error: float):
        self.state = np.zeros(2)
        self.spread = np.eye(2)
        self.motion = np.array([[1.0, 0.1], [0.0, 1.0]])
        self.seen = np.array([1.0, 0.0])
        self.noise = noise * np.eye(2)
        self.error = error

    def predict(self) -> None:
        self.state = self.motion @ self.state
        self.spread = self.motion @ self.spread @ self.motion.T + self.noise

    def update(self, z: float) -> Any:
        residual = z - self.seen @ self.state
        s = self.seen @ self.spread @ self.seen + self.error
        gain = self.spread @ self.seen / s
        self.state = self.state + gain * residual
        self.spread = self.spread - np.outer(gain, self.seen) @ self.spread
        return -0.5 * (residual * residual / s + np.log(s))


@program(0.02, 0.1, [math.sin(0.1 * k) for k in range(40)])
def kalman(noise: float, error: float, measured: list[float]) -> Any:
    """The likelihood of measurements."""
    own = Filter(noise, error)
    total = 0.0
    for z in measured:
        own.predict()
        total += own.update(z)
    return total


@program({"w": numbers(4, 3), "b": numbers(4)}, 0.05)
def adam(start: dict[str, Any], rate: float) -> float:
    """Optimisation, unrolled, of parameters in a dictionary."""
    parameters = dict(start)
    first = {k: np.zeros_like(v) for k, v in parameters.items()}
    second = {k: np.zeros_like(v) for k, v in parameters.items()}
    for t in range(1, 25):
        for k, p in parameters.items():
            g = p * p * p - 0.5 * p
            first[k] = 0.9 * first[k] + 0.1 * g
            second[k] = 0.99 * second[k] + 0.01 * g**2
            m, v = first[k] / (1.0 - 0.9**t), second[k] / (1.0 - 0.99**t)
            parameters[k] = p - rate * m / (np.sqrt(v) + 1e-3)
    return np.sum(parameters["w"] ** 2) + np.sum(np.abs(parameters["b"]))


@program(numbers(6), 0.4)
def lbfgs(x: Any, curvature: float) -> float:
    """Limited-memory BFGS, unrolled: pairs in a deque."""
    scales = 1.0 + curvature * np.arange(6.0)

    def slope(x: Any) -> Any:
        return scales * x + 0.1 * x**3

    pairs: Any = deque(maxlen=4)
    g = slope(x)
    for _ in range(12):
        q = g
        kept = []
        for s, y in reversed(pairs):
            share = np.dot(s, q) / np.dot(y, s)
            q = q - share * y
            kept.append(share)
        if pairs:
            s, y = pairs[-1]
            q = np.dot(s, y) / np.dot(y, y) * q
        for (s, y), share in zip(pairs, reversed(kept)):
            q = q + (share - np.dot(y, q) / np.dot(y, s)) * s
        further = x - 0.5 * q
        then = slope(further)
        pairs.append((further - x, then - g))
        x, g = further, then
    return 0.5 * np.dot(scales * x, x)


@program(numbers(12), 0.3)
def spline(values: Any, tension: float) -> float:
    """A piecewise cubic by its knots: elements of arrays, and slices."""
    knots = [0.5 * k for k in range(12)]
    slopes = (1.0 - tension) * (values[2:] - values[:-2])
    total = 0.0
    for k in range(100):
        at = 0.6 + 0.04 * k
        i = bisect_right(knots, at) - 1
        t = (at - knots[i]) / 0.5
        a, b = values[i], values[i + 1]
        u, v = slopes[i - 1], slopes[i]
        total += a + t * (0.5 * u + t * (3.0 * (b - a) - u - 0.5 * v + t * (2.0 * (a - b) + 0.5 * (u + v))))
    return total


@program(numbers(4, 4), numbers(4))
def tape(matrix: Any, x: Any) -> Any:
    """States of a recurrence in a list, rows of which are looked at afterwards."""
    states = [x]
    for _ in range(40):
        h = states[-1]
        states.append(h + 0.1 * np.sin(matrix @ h) * np.exp(-0.1 * h * h))
    stacked = np.stack(states)
    total = 0.0
    for row in stacked[::4]:
        total = total + np.sum(row * row) - row[0] * row[-1]
    return total + np.mean(stacked[:, 1])


class Attention:
    """A head of attention with its parameters in a dictionary."""

    def __init__(self, parameters: dict[str, Any]):
        self.parameters = parameters

    def __call__(self, x: Any, seen: Any) -> Any:
        q, k, v = [x @ self.parameters[name] for name in ("q", "k", "v")]
        scores = np.where(seen, q @ k.T / np.sqrt(q.shape[-1]), -1e9)
        weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        return weights / np.sum(weights, axis=-1, keepdims=True) @ v


@program({"q": numbers(4, 4), "k": numbers(4, 4, scale=0.3), "v": numbers(4, 4, scale=0.7)})
def attention(parameters: dict[str, Any]) -> Any:
    """Layers of it, which see what came before, with their mean and spread evened out."""
    head = Attention(parameters)
    seen = np.tril(np.ones((5, 5))) > 0
    x = numbers(5, 4, scale=1.0)
    for _ in range(6):
        x = x + head(x, seen)
        x = x - np.mean(x, axis=-1, keepdims=True)
        x = x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-5)
    return np.sum(x[:, 0] * x[:, -1])


def sigmoid(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-x))


class Cell:
    """A gated recurrent unit."""

    def __init__(self, parameters: dict[str, Any]):
        self.parameters = parameters

    def step(self, h: Any, x: Any) -> Any:
        p = self.parameters
        both = np.concatenate([h, x])
        reset, update = sigmoid(p["r"] @ both + p["b"]), sigmoid(p["u"] @ both + p["b"])
        new = np.tanh(p["n"] @ np.concatenate([reset * h, x]) + p["b"])
        return (1.0 - update) * h + update * new


@program({"r": numbers(4, 6), "u": numbers(4, 6, scale=0.4), "n": numbers(4, 6, scale=0.6), "b": numbers(4)})
def recurrent(parameters: dict[str, Any]) -> Any:
    """A cell that is stepped along a series."""
    cell = Cell(parameters)
    h = np.zeros(4)
    seen = []
    for k in range(20):
        h = cell.step(h, np.array([math.sin(0.3 * k), 0.1 * k]))
        seen.append(h)
    return np.mean(np.stack(seen)[:, 0] ** 2)


@program([numbers(3, 6), numbers(6, 6), numbers(6, 3)], [numbers(6), numbers(6), numbers(3)])
def labels(weights: list[Any], biases: list[Any]) -> Any:
    """A classifier with masks for its units, whose scores are looked up by label."""
    wanted, rows = np.array([0, 2, 1, 1, 0]), np.arange(5)
    loss = 0.0
    for k in range(10):
        x = numbers(5, 3, scale=1.0 + 0.1 * k)
        for w, b in zip(weights[:-1], biases[:-1]):
            x = x @ w + b
            x = x * (x > 0)
        scores = x @ weights[-1] + biases[-1]
        scores = scores - np.max(scores, axis=1, keepdims=True)
        sizes = np.log(np.sum(np.exp(scores), axis=1, keepdims=True))
        loss = loss - np.mean((scores - sizes)[rows, wanted])
    return loss


@program(numbers(12, 2, scale=2.0), numbers(3, 2))
def clusters(points: Any, centres: Any) -> Any:
    """Soft clusters: distances of all to all by axes of length one."""
    for _ in range(8):
        apart = np.sum((points[:, None, :] - centres[None, :, :]) ** 2, axis=2)
        share = np.exp(-apart)
        share = share / np.sum(share, axis=1, keepdims=True)
        centres = share.T @ points / np.sum(share, axis=0)[:, None]
    return np.sum(centres**2)


@program([1.0, 2.0, 1.5, 0.8, 1.2], 0.3)
def truss(stiffnesses: list[float], load: float) -> Any:
    """Springs in a row: a matrix that is put together element by element, and solved."""
    total = 0.0
    for step in range(6):
        matrix, force = np.zeros((6, 6)), np.zeros(6)
        for i, k in enumerate(stiffnesses):
            k = k * (1.0 + 0.1 * step)
            matrix[i, i] += k
            matrix[i + 1, i + 1] += k
            matrix[i, i + 1] -= k
            matrix[i + 1, i] -= k
        force[-1] = load
        moved = np.linalg.solve(matrix[1:, 1:], force[1:])
        total += moved[-1] + np.dot(moved, moved)
    return total


def with_numpy(module: Any) -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """The same programs with another NumPy, as HIPS autograd has one of its own."""
    spec = importlib.util.find_spec(__name__)
    assert spec is not None and spec.loader is not None
    copy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    vars(copy)["np"] = module
    return copy.PROGRAMS


__all__ = ["PROGRAMS", "with_numpy"]
