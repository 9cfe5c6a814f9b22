"""Gradients of programs of small arrays as one writes them by hand with NumPy: what a gradient by calls of NumPy cannot go below.

They do what the programs do, step by step, and keep what the way back needs; no step is vectorised that the program does not.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .small_arrays import numbers


def layers(weights: Any, biases: Any) -> Any:
    dw, db = [np.zeros_like(w) for w in weights], [np.zeros_like(b) for b in biases]
    for k in range(40):
        h = np.array([0.1 * k, 1.0 - 0.05 * k, 0.3])
        kept = []
        for w, b in zip(weights, biases):
            kept.append(h)
            h = np.tanh(w @ h + b)
        d = np.array([2.0 * (h[0] - 0.01 * k)])
        for i in (2, 1, 0):
            d = d * (1.0 - h * h)
            h = kept[i]
            db[i] += d
            dw[i] += d[:, None] * h
            d = d @ weights[i]
    return dw, db


def batches(weights: Any, biases: Any) -> Any:
    x, wanted = numbers(6, 4, scale=1.0), np.eye(3)[[0, 1, 2, 0, 1, 2]]
    (w, v), (b, c) = weights, biases
    dw, dv, db, dc = np.zeros_like(w), np.zeros_like(v), np.zeros_like(b), np.zeros_like(c)
    for k in range(20):
        inputs = x + 0.01 * k
        h = np.maximum(inputs @ w.T + b, 0.0)
        scores = h @ v.T + c
        share = np.exp(scores - np.max(scores, axis=1, keepdims=True))
        d = (share / np.sum(share, axis=1, keepdims=True) - wanted) / 6.0
        dc += d.sum(axis=0)
        dv += d.T @ h
        d = (d @ v) * (h > 0)
        db += d.sum(axis=0)
        dw += d.T @ inputs
    return [dw, dv], [db, dc]


def adam(start: Any, rate: float) -> Any:
    gradient, of_rate = {}, 0.0
    for name, p in start.items():
        first, second, kept = np.zeros_like(p), np.zeros_like(p), []
        for t in range(1, 25):
            g = p * p * p - 0.5 * p
            first = 0.9 * first + 0.1 * g
            second = 0.99 * second + 0.01 * g**2
            root = np.sqrt(second / (1.0 - 0.99**t))
            step = first / (1.0 - 0.9**t) / (root + 1e-3)
            kept.append((p, g, root, step))
            p = p - rate * step
        d = 2.0 * p if name == "w" else np.sign(p)
        d_first, d_second = np.zeros_like(p), np.zeros_like(p)
        for t in range(24, 0, -1):
            p, g, root, step = kept[t - 1]
            of_rate -= np.vdot(d, step)
            c = d * -rate / (root + 1e-3)
            d_first += c / (1.0 - 0.9**t)
            d_second -= c * step / (2.0 * (1.0 - 0.99**t) * root)
            dg = 0.1 * d_first + 0.02 * g * d_second
            d_first, d_second = 0.9 * d_first, 0.99 * d_second
            d = d + dg * (3.0 * p * p - 0.5)
        gradient[name] = d
    return gradient, of_rate


def tape(matrix: Any, x: Any) -> Any:
    states, kept = [x], []
    for _ in range(40):
        h = states[-1]
        u = matrix @ h
        s, e = np.sin(u), np.exp(-0.1 * h * h)
        kept.append((u, s, e))
        states.append(h + 0.1 * s * e)
    of_states = np.zeros((41, 4))
    of_states[:, 1] = 1.0 / 41
    for k in range(0, 41, 4):
        row, d = states[k], of_states[k]
        d += 2.0 * row
        d[0] -= row[-1]
        d[-1] -= row[0]
    dm, d = np.zeros_like(matrix), of_states[40]
    for k in range(39, -1, -1):
        h, (u, s, e) = states[k], kept[k]
        c = 0.1 * d * e
        du = c * np.cos(u)
        dm += du[:, None] * h
        d = of_states[k] + d + du @ matrix - 0.2 * c * s * h
    return dm, d


def attention(parameters: Any) -> Any:
    wq, wk, wv = (parameters[name] for name in "qkv")
    seen = np.tril(np.ones((5, 5))) > 0
    x, kept, scale = numbers(5, 4, scale=1.0), [], 1.0 / np.sqrt(4)
    for _ in range(6):
        q, k, v = x @ wq, x @ wk, x @ wv
        scores = np.where(seen, q @ k.T * scale, -1e9)
        share = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        share = share / np.sum(share, axis=-1, keepdims=True)
        y = x + share @ v
        y = y - np.mean(y, axis=-1, keepdims=True)
        size = np.sqrt(np.mean(y * y, axis=-1, keepdims=True) + 1e-5)
        kept.append((x, q, k, v, share, size))
        x = y / size
    d = np.zeros((5, 4))
    d[:, 0], d[:, -1] = x[:, -1], x[:, 0]
    dq, dk, dv = np.zeros_like(wq), np.zeros_like(wk), np.zeros_like(wv)
    for before, q, k, v, share, size in reversed(kept):
        d = (d - x * np.mean(d * x, axis=-1, keepdims=True)) / size
        d = d - np.mean(d, axis=-1, keepdims=True)
        x = before
        c = d @ v.T
        c = share * (c - np.sum(c * share, axis=-1, keepdims=True)) * scale
        of_q, of_k, of_v = c @ k, c.T @ q, share.T @ d
        dq += x.T @ of_q
        dk += x.T @ of_k
        dv += x.T @ of_v
        d = d + of_q @ wq.T + of_k @ wk.T + of_v @ wv.T
    return ({"q": dq, "k": dk, "v": dv},)


def recurrent(parameters: Any) -> Any:
    r, u, n, b = (parameters[name] for name in "runb")
    h, kept, seen = np.zeros(4), [], []
    for k in range(20):
        x = np.array([math.sin(0.3 * k), 0.1 * k])
        both = np.concatenate([h, x])
        reset, update = 1.0 / (1.0 + np.exp(-(r @ both + b))), 1.0 / (1.0 + np.exp(-(u @ both + b)))
        inner = np.concatenate([reset * h, x])
        new = np.tanh(n @ inner + b)
        kept.append((h, both, reset, update, inner, new))
        h = (1.0 - update) * h + update * new
        seen.append(h[0])
    dr, du, dn, db = np.zeros_like(r), np.zeros_like(u), np.zeros_like(n), np.zeros_like(b)
    d = np.zeros(4)
    for k in range(19, -1, -1):
        d[0] += seen[k] / 10.0
        h, both, reset, update, inner, new = kept[k]
        c = d * update * (1.0 - new * new)
        dn += c[:, None] * inner
        of_inner = (c @ n)[:4]
        of_update = d * (new - h) * update * (1.0 - update)
        of_reset = of_inner * h * reset * (1.0 - reset)
        du += of_update[:, None] * both
        dr += of_reset[:, None] * both
        db += c + of_update + of_reset
        d = d * (1.0 - update) + of_inner * reset + (of_update @ u + of_reset @ r)[:4]
    return ({"r": dr, "u": du, "n": dn, "b": db},)


def labels(weights: Any, biases: Any) -> Any:
    wanted, rows = np.array([0, 2, 1, 1, 0]), np.arange(5)
    dw, db = [np.zeros_like(w) for w in weights], [np.zeros_like(b) for b in biases]
    for k in range(10):
        x, kept = numbers(5, 3, scale=1.0 + 0.1 * k), []
        for w, b in zip(weights[:-1], biases[:-1]):
            kept.append(x)
            x = x @ w + b
            x = x * (x > 0)
        kept.append(x)
        scores = x @ weights[-1] + biases[-1]
        share = np.exp(scores - np.max(scores, axis=1, keepdims=True))
        d = share / np.sum(share, axis=1, keepdims=True)
        d[rows, wanted] -= 1.0
        d = d / 5.0
        for i in (2, 1, 0):
            if i < 2:
                d = d * (kept[i + 1] > 0)
            db[i] += d.sum(axis=0)
            dw[i] += kept[i].T @ d
            if i:
                d = d @ weights[i].T
    return dw, db


def clusters(points: Any, centres: Any) -> Any:
    kept = []
    for _ in range(8):
        apart = points[:, None, :] - centres[None, :, :]
        share = np.exp(-np.sum(apart**2, axis=2))
        total = np.sum(share, axis=1, keepdims=True)
        share = share / total
        weight = np.sum(share, axis=0)[:, None]
        centres = share.T @ points / weight
        kept.append((apart, share, weight, centres))
    d, dp = 2.0 * centres, np.zeros_like(points)
    for apart, share, weight, centres in reversed(kept):
        c = d / weight
        dp += share @ c
        ds = points @ c.T - np.sum(c * centres, axis=1)
        ds = -share * (ds - np.sum(ds * share, axis=1, keepdims=True))
        of_apart = 2.0 * ds[:, :, None] * apart
        dp += of_apart.sum(axis=1)
        d = -of_apart.sum(axis=0)
    return dp, d


GRADIENTS: dict[str, Any] = {
    f.__name__: f for f in (layers, batches, adam, tape, attention, recurrent, labels, clusters)
}

__all__ = ["GRADIENTS"]
