"""Programs whose compilation is timed (sections/compiling.py): of some thirty lines each, as users write them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


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


def _random(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).random(shape)


def _network() -> tuple[Any, ...]:
    labels = np.array([0, 1, 2, 0, 1, 2])
    return _random(6, 5), labels, _random(4, 5), _random(4), _random(3, 4), _random(3)


PROGRAMS = {
    "chain": Program(chain, lambda: (_random(100), _random(100), 0.7), True),
    "recurrence": Program(recurrence, lambda: (_random(10, 7), _random(4)), True),
    "stencil": Program(stencil, lambda: (_random(40), 0.1, 20), True),
    "network": Program(network, _network, True),
    "tree": Program(tree, lambda: (0.7, 1.3), False),
    "lists": Program(lists, lambda: (0.7, 1.3), False),
}
