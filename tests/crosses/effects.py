"""What a function changes x how it gets there x who calls it: C code, special methods, the library."""

from __future__ import annotations

import collections
import contextlib
import functools
import heapq
import itertools
import math
import operator
import random
import textwrap
import types
from collections.abc import Iterator

import numpy as np

from .compose import within

KNOWN = {
    "collections": collections, "contextlib": contextlib, "functools": functools, "heapq": heapq, "itertools": itertools, "math": math, "np": np, "operator": operator, "types": types,
}  # fmt: skip

# What there is, what the function `g` of z does to it, and what is read of it afterwards.
EFFECTS = (
    ("L = [0.0]", "L.append(z * z)", "sum(L)"), ("L = [x]", "L[0] = L[0] * z", "L[0]"), ("L = [x, 1.0]", "L[:] = [z * e for e in L]", "L[0] * L[1]"), ("L = [[x], [1.0]]", "L[1] = L[0]\nL[0][0] = L[1][0] * z", "L[1][0]"),
    ("D = {'a': x}", "D['a'] = D['a'] * z + z", "D['a']"), ("D = {}", "D[len(D)] = z", "sum(D.values())"), ("Q = collections.deque([x, 1.0], 2)", "Q.append(z * z)", "sum(Q)"), ("L = [x, 2.0]", "L.insert(0, L.pop() * z)", "L[0] - L[1]"),
    ("O = types.SimpleNamespace(u=x)", "O.u = O.u * z", "O.u"), ("class K:\n    u = 1.0", "K.u = K.u * z + x", "K.u"), ("n = x", "nonlocal n\nn = n * z", "n"), ("n = m = x", "nonlocal n, m\nn, m = m * z, n", "n - m"),
    ("A = np.array([x, 2.0])", "A[0] = A[0] * z\nA[1:] += z", "A[0] * A[1]"), ("A = np.array([x, 2.0])\nV = A[::-1]", "V *= z", "A[0] * A[1]"), ("A = np.array([x, 2.0])", "nonlocal A\nA = A * z", "A[0] * A[1]"), ("", "pass", "x"),
)  # fmt: skip
WAYS = (
    "W", "for _ in range(2):\n    W", "try:\n    W\nexcept KeyError:\n    pass", "try:\n    W\n    raise KeyError(z)\nexcept KeyError as e:\n    z = e.args[0]", "with contextlib.suppress(KeyError):\n    W\n    raise KeyError",
    "w = 0\nwhile w < 2:\n    w += 1\n    if w == 1:\n        continue\n    W", "try:\n    W\nfinally:\n    z = z * 1.0", "for w in (z, 2.0):\n    if w > 1.0:\n        break\n    W\nelse:\n    z = z + 1.0", "if z > 0.6:\n    W",
)  # fmt: skip
CALLS = (
    "r = g(x)", "r = [g][0](*[x])", "r = {'f': g}['f'](x)", "r = g(**{'z': x})", "r = (lambda *a: g(a[0]))(x)", "r = [g(e) for e in (x, 2.0)][0]", "r = next(g(e) for e in [x])", "r = x if any(g(e) for e in [x]) else 1.0", "r = functools.wraps(g)(lambda z: g(z))(x)",
    "r = sum(map(g, [x]))", "r = sum(map(g, (x, x * x)))", "r = next(map(g, [x]))", "r = [*map(g, [x])][0]", "r = max(map(g, [x, 1.0]))", "r = dict(zip('a', map(g, [x])))['a']", "r = sum(filter(g, [x, 2.0]))", "r = sum(map(operator.methodcaller('__call__', x), [g]))",
    "r = sorted([x, 2.0 * x], key=g)[0]", "r = max([x, 2.0], key=g)", "r = min([x, 2.0], key=functools.partial(g))", "a = [x, 2.0]\na.sort(key=g)\nr = a[0]", "r = heapq.nsmallest(1, [x, 2.0], key=g)[0]", "r = functools.reduce(lambda a, b: a + g(b), [x, 2.0])",
    "r = functools.partial(g, x)()", "r = functools.partial(g)(x)", "r = operator.call(g, x)", "r = sum(itertools.starmap(g, [(x,)]))", "r = list(itertools.accumulate([x, x], lambda a, b: a * g(b)))[1]", "r = list(itertools.takewhile(g, [x, 1.0]))[0]",
    "r = sum(sum(q) for _, q in itertools.groupby([x, x], key=g))", "q = iter(lambda: g(x), None)\nr = next(q)", "c = functools.lru_cache(g)\nr = c(x) + c(x)", "r = getattr(types.SimpleNamespace(h=g), 'h')(x)", "r = types.MethodType(lambda s, z: g(z), 1.0)(x)",
    "d = collections.defaultdict(lambda: g(x))\nr = d['k'] + d['k']", "@contextlib.contextmanager\ndef c():\n    yield g(x)\nwith c() as r:\n    pass", "with contextlib.ExitStack() as c:\n    c.callback(g, x)\n    r = x", "def y():\n    z = yield x\n    yield g(z)\nq = y()\nnext(q)\nr = q.send(x)",
    "r = np.vectorize(g, otypes=[float])(np.array([x]))[0]", "r = np.apply_along_axis(lambda a: g(a[0]), 0, np.array([x]))",
    "class H:\n    __call__ = staticmethod(g)\nr = H()(x)", "class H:\n    def __len__(s):\n        g(x)\n        return 2\nr = len(H()) * x", "class H:\n    def __bool__(s):\n        g(x)\n        return True\nr = x if H() else 2.0", "class H:\n    def __iter__(s):\n        yield g(x)\nr = sum(H())",
    "class H:\n    p = property(lambda s: g(x))\nr = H().p", "class H:\n    def __getattr__(s, n):\n        return g(x)\nr = H().q", "class H:\n    def __eq__(s, o):\n        g(x)\n        return True\nr = x * (H() == 1.0)", "class H:\n    def __contains__(s, o):\n        return g(x) > 0.0\nr = x * (1.0 in H())",
    "class H:\n    def __lt__(s, o):\n        g(x)\n        return True\nr = x * len(sorted([H(), H()]))", "class H:\n    def __getitem__(s, i):\n        if i > 1:\n            raise IndexError\n        return g(x)\nr = sum(H())", "class H:\n    def __enter__(s):\n        return g(x)\n    def __exit__(s, *a):\n        g(x)\nwith H() as r:\n    pass",
    "class H:\n    def __init__(s):\n        s.q = g(x)\nr = H().q", "class H:\n    def __add__(s, o):\n        return g(o)\nr = H() + x", "class H:\n    def __radd__(s, o):\n        return g(x)\nr = sum([H()], x)", "class H:\n    def __float__(s):\n        return g(x)\nr = float(H())",
    "class H:\n    def __format__(s, f):\n        g(x)\n        return 'a'\nr = len(f'{H()}') * x", "class H:\n    @functools.cached_property\n    def p(s):\n        return g(x)\nh = H()\nr = h.p + h.p", "class H:\n    @classmethod\n    def p(c, z):\n        return g(z)\nr = H.p(x)",
    "class H:\n    def __set_name__(s, o, n):\n        g(x)\nclass J:\n    a = H()\nr = x", "class H:\n    def __index__(s):\n        g(x)\n        return 1\nr = [1.0, x][H()]", "class H:\n    def __hash__(s):\n        return 1\n    def __call__(s, z):\n        return g(z)\nr = sum(map(H(), [x]))",
)  # fmt: skip


def programs(seed: int) -> Iterator[str]:
    """Without end."""
    draw = random.Random(seed)
    while True:
        (before, effect, after), way, call = draw.choice(EFFECTS), draw.choice(WAYS), draw.choice(CALLS)
        declared, newline, rest = effect.partition("\n") if effect.startswith("nonlocal") else ("", "", effect)
        body = f"{declared}{newline}{within(way, rest)}\nreturn z * x"
        yield f"{before}\ndef g(z):\n{textwrap.indent(body, '    ')}\n{call}\nreturn r + ({after})".strip()
