"""Arrays x views of them x updates in place x what is around x ways to read: an update by one name is seen by the other where the two
are one memory, and only there."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import numpy as np

from .compose import within

KNOWN = {"np": np, "math": math}
ARRAYS = (
    "np.array([x, 2.0, x * x, 1.5])", "np.full(4, x)", "np.outer(np.array([x, 1.5]), np.array([2.0, x]))", "np.array([[x, 2.0, 1.0], [x * x, 0.5, x]])",
    "np.arange(4.0) * x", "np.linspace(x, 2.0, 4)", "np.zeros((2, 2)) + x", "np.array([x, 2.0, 3.0, 4.0]).reshape(2, 2).T",
)  # fmt: skip
VIEWS = (
    *(f"V = {view}" for view in "a a[1:] a[::-1] a[::2] a.T a.reshape(-1) a.ravel() a[:,0] a[0] a.T[0] np.diagonal(a) a[...,None] a[None][0] np.transpose(a) a.swapaxes(0,-1) a[1:][::-1] np.atleast_2d(a) a.view() np.asarray(a) a[-1:] np.squeeze(a[:1]) a.real np.flip(a) np.rot90(np.atleast_2d(a)) np.broadcast_to(a,(2,)+a.shape) np.moveaxis(a,0,-1) a.reshape(2,-1)[1]".split()),
    *(f"V = {copy}" for copy in "a.copy() a.flatten() np.ravel(a,order='F') a[[0,1]] a[a>1.0] np.array(a) a+0.0 a.astype(float)".split()), "V, w = np.split(a, 2)",
)  # fmt: skip
UPDATES = (
    "V += x", "V *= x", "V -= V", "V /= x", "V **= 2", "V //= 0.4", "V %= x", "V += a", "V *= V", "a *= V", "a += a.T", "a -= V[0]", "V += 1\nV *= a", "V @= np.eye(2) * x", "V = V + x\na[0] = V[0]",
    "V[...] = x", "V[0] = x * x", "V[-1] += a[0] * x", "V[:] = V[::-1]", "V[1:] = V[:-1]", "V[1:] += V[:-1]", "V[::-1] += V", "V[:2] = V[-2:]", "V.T[0] += x", "V[0], V[-1] = V[-1], V[0]", "V[0], a[0] = a[0], V[0]",
    "a[0] = V[-1]", "a[:] = a[::-1] * x", "a[1] = a[0]\na[0] *= x", "a[:, 0] = a[0]", "a[0] += a[:, 0]", "w = V[0]\nV[0] = x\na[-1] = w", "V[V > 1.0] = x", "V[V > 1.0] *= x", "V[[0, 0]] += x", "V.flat[0] = x * 3.0",
    "np.add.at(V, [0, 0], x)", "np.multiply.at(V, [0, 0], x)", "np.subtract.at(a, 0, V[0])", "V.fill(x)", "V.sort()", "V.partition(1)", "V.put([0], x)", "V.__setitem__(0, x)", "np.copyto(V, a)", "np.copyto(V, x, where=V > 1.0)",
    "np.putmask(V, V > 1.0, x)", "np.place(V, V > 1.0, [x])", "np.fill_diagonal(a, x)", "np.put_along_axis(V, np.array([0]), x, 0)", "np.add(V, x, out=V)", "np.multiply(V, V, out=V)", "np.sin(a, out=a)", "np.maximum(V, x, out=V)",
    "np.cumsum(V, out=V)", "np.dot(V, x, out=V)", "np.divide(V, x, out=V, where=V > 1.0)", "np.clip(V, 1.0, x + 1.0, out=V)", "V.clip(1.0, 2.0, out=V)", "np.negative(a, out=V)", "np.add(a, a, out=a)", "np.take(a, [0], out=V[:1])",
    "np.matmul(a, a, out=a)", "np.einsum('i->i', V)[0] += x", "b = a\na = a * x\nb += 1.0", "b = a.copy()\na *= b", "c = [a, V]\nc[1] *= x",
    "for e in V:\n    a[0] += e", "for i in range(len(V)):\n    V[i] = V[i - 1] * x", "for r in a:\n    r *= x",
)  # fmt: skip
AROUND = (
    "W", "W", "for k in range(2):\n    W", "k = 0\nwhile k < 3:\n    k += 1\n    if k == 2:\n        continue\n    W", "if x > 0.0:\n    W", "def h():\n    nonlocal a, V\n    W\nh()", "def h(a, V):\n    W\nh(a, V)",
    "try:\n    W\nfinally:\n    pass", "def h(a, V, n):\n    if n:\n        W\n        h(a, V, n - 1)\nh(a, V, 2)", "def h(V):\n    nonlocal a\n    for k in range(2):\n        W\n        yield V\nfor V in h(V):\n    a[-1] += x",
)  # fmt: skip
READS = (
    "np.sum(a * a)", "np.sum(V * V) + a.ravel()[0]", "a.ravel()[-1] * V.ravel()[0]", "np.sum(a) * np.sum(V)", "float(np.sum(np.exp(-a)))", "sum(float(e) for e in a.ravel())", "np.max(a) * a.ravel()[1]", "np.sum(a @ a.T)",
)  # fmt: skip


def programs(seed: int) -> Iterator[str]:
    """Without end."""
    draw = random.Random(seed)
    while True:
        updates = "\n".join(draw.choice(UPDATES) for _ in range(draw.choice((1, 2))))
        parts = (f"a = {draw.choice(ARRAYS)}", draw.choice(VIEWS), within(draw.choice(AROUND), updates))
        yield "\n".join([*parts, f"return {draw.choice(READS)}"])
