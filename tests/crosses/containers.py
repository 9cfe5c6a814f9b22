"""Containers x ways to write to them x what is around x ways to read them."""

from __future__ import annotations

import copy
import functools
import itertools
import math
import operator
import random
import re
import types
from array import array
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, defaultdict, deque, namedtuple
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np

from .compose import within

Pair = namedtuple("Pair", "u w")


@dataclass
class Data:
    u: Any
    w: Any = 3.0

    def __iter__(self) -> Iterator[Any]:
        return iter((self.u, self.w))


class Slots:
    __slots__ = ("u", "w")

    def __init__(self, u: Any, w: Any):
        self.u, self.w = u, w

    def __getitem__(self, k: int) -> Any:
        return (self.u, self.w)[k]

    def __setitem__(self, k: int, v: Any) -> None:
        setattr(self, ("u", "w")[k], v)


class Listed(list):
    def __getitem__(self, k: Any) -> Any:
        return super().__getitem__(k)


class Mapped(dict):
    def __missing__(self, k: Any) -> Any:
        return 0.25


@contextmanager
def around(log: list[Any]) -> Iterator[Any]:
    log.append(1.0)
    try:
        yield 2.0
    finally:
        log.append(3.0)


KNOWN = {
    "np": np, "math": math, "copy": copy, "functools": functools, "itertools": itertools, "operator": operator, "array": array,
    "ChainMap": ChainMap, "Counter": Counter, "OrderedDict": OrderedDict, "UserDict": UserDict, "UserList": UserList,
    "defaultdict": defaultdict, "deque": deque, "Pair": Pair, "Data": Data, "Slots": Slots, "Listed": Listed, "Mapped": Mapped,
    "around": around, "astuple": astuple, "replace": replace, "SimpleNamespace": types.SimpleNamespace,
}  # fmt: skip

# Each with two of its keys.
MAPS = {
    "{'a': x, 'b': 2.0, 'c': x * x}": ("'a'", "'c'"), "{0: x, 1: 2.0, 2: x * x}": ("0", "2"),
    "defaultdict(float, {'a': x, 'b': 2.0, 'c': x * x})": ("'a'", "'c'"), "OrderedDict(a=x, b=2.0, c=x * x)": ("'a'", "'b'"),
    "Counter(a=x, b=2.0, c=x * x)": ("'b'", "'c'"), "Mapped(a=x, b=2.0, c=x * x)": ("'a'", "'c'"),
    "UserDict(a=x, b=2.0, c=x * x)": ("'a'", "'c'"), "ChainMap({'a': x}, {'b': 2.0, 'a': x * x})": ("'a'", "'b'"),
}  # fmt: skip
SEQUENCES = {
    "[x, 2.0, x * x]": ("0", "-1"), "(x, 2.0, x * x)": ("0", "2"), "deque([x, 2.0, x * x])": ("0", "2"), "deque([x, 2.0, x * x], 3)": ("0", "1"),
    "array('d', [x, 2.0, x * x])": ("0", "2"), "np.array([x, 2.0, x * x])": ("0", "-1"), "Listed([x, 2.0, x * x])": ("0", "2"),
    "UserList([x, 2.0, x * x])": ("0", "2"), "[x] * 3": ("0", "1"), "[x * k for k in range(1, 4)]": ("1", "2"), "Pair(x, x * x)": ("0", "1"),
    "memoryview(array('d', [x, 2.0, x * x]))": ("0", "2"), "Slots(x, x * x)": ("0", "1"), "[1, x, 3]": ("0", "1"), "[x, None, x]": ("0", "2"),
    "np.array([x, 2.0, x * x], dtype=np.float32).astype(float)": ("0", "1"), "np.linspace(x, 2.0, 5)[::2]": ("0", "-1"),
}  # fmt: skip
NESTED = {
    "[[x, 2.0], [x * x]]": ("0", "1"), "[np.array([x, 2.0]), np.array([x * x, 1.0])]": ("0", "1"), "np.array([[x, 2.0], [x * x, 1.0]])": ("0", "1"),
    "{'a': np.array([x, 2.0]), 'b': np.array([x * x, 1.0])}": ("'a'", "'b'"), "{'a': [x, 2.0], 'b': [x * x]}": ("'a'", "'b'"),
    "[Data(x), Data(x * x, x)]": ("0", "1"), "[(x, 2.0), (x * x, 1.0)]": ("1", "0"), "defaultdict(list, {'a': [x, 2.0]})": ("'a'", "'z'"),
    "[[x, 2.0]] * 2": ("0", "1"), "deque([[x], [x, x * x]])": ("0", "1"), "[{'a': x}, {'a': x * x}]": ("0", "1"),
}  # fmt: skip
OBJECTS = {
    "Data(x, x * x)": ("0", "1"),
    "Slots(x, x * x)": ("0", "1"),
    "SimpleNamespace(u=x, w=x * x)": ("0", "1"),
    "np.array(x)": ("()", "..."),
}

VALUES = ("x", "x * x", "3.0", "c[K]", "2", "np.float64(x)", "True", "-x")
WRITE_ITEMS = (
    "pass", "c[K] = V", "c[K] += V", "c[K] *= c[L]", "c[K], c[L] = c[L], c[K]", "c[K] -= c[K]", "c[L] **= 2", "c[L] /= V", "c[K] = c[L] = V", "del c[K]",
    "w = c.pop(K)\nt += w * V", "d = c\nd[K] = V", "d = c.copy()\nd[K] = V\nt += d[L]", "d = copy.copy(c)\nc[K] = V\nt += d[K]",
    "d = copy.deepcopy(c)\nc[K] = V\nt += d[K]", "c.clear()", "def i():\n    c[L] = V\n    return K\nc[i()] += V",
    "def g():\n    c[K] = 5.0 * x\n    return V\nc[K] += g()", "def g():\n    c[K] = 5.0 * x\n    return V\nc[K] = c[K] * 2.0 + g()",
    "operator.setitem(c, K, V)", "c.__setitem__(K, V)", "for c[K] in (x, V):\n    t += c[K]", "c[K], t = V, t + c[K]", "(c[K], *w) = V, t, x",
    "with around([]) as c[K]:\n    t += c[K]", "t += (w := c[K]) * V\nc[L] = w", "k = K\nk, c[k] = L, V", "c[K] //= V", "c[K] %= V",
)  # fmt: skip
WRITE_SEQUENCES = (
    "c[0:1] = [V, V * 2]", "c[::2] = [V, x]", "c[1:] += [V]", "c[1:] *= 2", "c.append(V)", "c.insert(1, V)", "c.extend([V, c[0]])", "c.extend(c)", "c += [V]",
    "d = c\nd += [V]", "c += c", "c *= 2", "d = c\nc = c + c\nt += d[0]", "t += c.pop()", "c.remove(2.0)", "c.sort()", "c.sort(key=lambda e: -e)", "c.reverse()",
    "c.rotate(1)", "c.appendleft(V)", "t += c.popleft()", "c.extendleft([V, x])", "c[:] = reversed(c)", "c = sorted(c, reverse=True)", "c = [*c, V]",
    "c = c[::-1]", "c = tuple(c)", "c = list(map(lambda e: e * V, c))", "del c[1:]", "del c[::2]", "c[1:1] = (V,)", "c[:] = [V] * 3", "c[-1:] = c",
    "c += (e * V for e in [x, 2.0])", "c = deque(c, 2)", "c.insert(-1, c.pop(0))", "c.sort(key=abs, reverse=True)", "a, *b = c\nc = [a, *b, a]",
    "v = c[1:]\nv[0] = V\nt += v[0]", "c[:2] = c[1:]", "c[...] = V", "c += V", "c *= V", "c -= c[0]", "c[1:] += c[:-1]", "c[[0, 0]] += V", "np.add.at(c, [0, 0], V)",
    "c[c > 1.0] = V", "c.fill(V)", "c **= 2", "d = c\nd *= V", "d = c + 0.0\nd *= V\nt += d[0]", "c = c * V", "c = c._replace(u=V)", "c.frombytes(b'')", "c /= c[0]",
    "np.multiply(c, V, out=c)", "np.clip(c, V, 3.0, out=c)", "c.put([0, 1], V)", "c = np.append(c, V)", "c.itemset(0, V) if hasattr(c, 'itemset') else None",
)  # fmt: skip
WRITE_MAPS = (
    "c.update(b=V)", "c.update({K: V})", "c.update([(K, V), (K, x)])", "c |= {K: V}", "c = c | {K: V}", "c = {**c, 'q': V}", "c.setdefault('z', V)", "c.setdefault(K, V)",
    "t += c.popitem()[1]", "c.move_to_end('a')", "t += c.pop('none', V)", "c = dict(c)\nc[K] = V", "c = {k: v * V for k, v in c.items()}",
    "for k in list(c):\n    c[k] *= V", "for k, v in c.items():\n    c[k] = v + V", "c.subtract({K: V})", "c += Counter(a=V)", "c = c - Counter(b=x)", "c = Counter(c) | Counter(a=V)",
    "c = c.new_child({K: V})", "t += c['missing']", "c['new'] += V", "t += c.setdefault('y', V) + c.get('y')", "c = dict(sorted(c.items(), key=lambda e: e[1]))",
    "c = dict(zip(c, map(operator.neg, c.values())))", "c = OrderedDict(c)\nc.move_to_end(K, last=False)", "c = type(c)(c)", "c = dict.fromkeys(c, V)", "v = c.values()\nc[K] = V\nt += sum(v)",
    "c.update(c)", "c['n'] = c[K]\ndel c[K]\nc[K] = V", "c.maps[-1][K] = V", "c = c.parents", "c.data[K] = V", "c = dict(c, r=V)", "c |= [(K, V)]",
)  # fmt: skip
WRITE_NESTED = (
    "c[K][0] = V", "c[K][0] += V", "c[K] = c[L]\nc[K][0] = V", "a = c[K]\na[0] *= V", "c[K], c[L] = c[L], c[K]", "for row in c:\n    row[0] += V", "c[K].append(V)", "c[K].extend([V])",
    "c.append(c[0])\nc[0][0] = V", "c[K] += c[L]", "c[K] *= 2", "d = copy.copy(c)\nd[K][0] = V", "d = copy.deepcopy(c)\nd[K][0] = V\nt += d[K][0]", "d = [r[:] for r in c]\nd[0][0] = V\nt += d[0][0]",
    "c[L].append(c[K][0])", "c[0][0], c[1][0] = c[1][0], c[0][0]", "c[K].u = V", "c[K].u *= c[L].w", "c[L]['a'] = V", "c.sort(key=lambda r: r[0])", "c[K] = V", "c[K] = c[K] * V", "c[K][:] = V",
    "c[K][:] = [V, V]", "c[K].sort()", "c = [[*r, V] for r in c]", "c = list(zip(*c))", "c[1], c[0] = c", "for i, r in enumerate(c):\n    c[i] = r * 2", "t += c.pop()[0]", "c[:, 0] = V", "c[0] = c[:, 1]", "c.T[0] += V",
    "c[K, 0] += V", "r = c[0]\nr += V", "r = c[0]\nr = r + V\nt += r[0]", "c = c @ c", "c['z'].append(V)", "c[0][1:] = [V]", "a, b = c\nb[0] = V\na[0] = b[0] * x",
)  # fmt: skip
WRITE_OBJECTS = (
    "c.u = V", "c.u *= c.w", "setattr(c, 'u', V)", "c.u, c.w = c.w, c.u", "c.__dict__['u'] = V", "vars(c).update(u=V)", "d = c\nd.u += V", "d = copy.copy(c)\nd.u = V\nt += d.u", "del c.u\nc.u = V",
    "c = replace(c, u=V)", "for n in ('u', 'w'):\n    setattr(c, n, getattr(c, n) * V)", "def g():\n    c.u = x * 5.0\n    return V\nc.u += g()", "c.u = c.w = V", "c.w = c\nc.w.u = V\nc.w = V", "c[...] = V", "c += V",
    "c *= c", "c[()] = V", "c = c + V", "d = c\nc = c * 1.0\nc += V\nt += d", "c.fill(V)", "c.__init__(V, x)", "c.extra = V\nt += c.extra", "object.__setattr__(c, 'w', V)",
)  # fmt: skip
FLOWS = (
    "W", "for i in range(2):\n    W", "for i in range(4):\n    if i == 1:\n        continue\n    W\n    if i > 1:\n        break\nelse:\n    t += 9.0",
    "n = 0\nwhile n < 2:\n    n += 1\n    W", "try:\n    W\n    raise ValueError\nexcept ValueError:\n    t += x", "try:\n    W\nfinally:\n    t *= 2.0", "with around([]) as v:\n    W",
    "def run():\n    nonlocal c, t\n    W\nrun()", "def run():\n    nonlocal c, t\n    W\n    yield c\n    t += x\nfor e in run():\n    t *= 2.0",
    "def run(n):\n    nonlocal c, t\n    if n:\n        run(n - 1)\n        W\nrun(2)", "match 2:\n    case 1:\n        pass\n    case int(q) if q > 1:\n        W", "if x > 0.0:\n    W\nelse:\n    t += x",
    "def run(c, t):\n    W\n    return c, t\nc, t = run(c, t)", "def run(n):\n    nonlocal c, t\n    for i in range(3):\n        W\n        if i == n:\n            return x\nt += run(1)",
    "class Held:\n    def go(self):\n        nonlocal c, t\n        W\nHeld().go()", "for i in [1, 2]:\n    for j in [1]:\n        W\n        break", "try:\n    try:\n        W\n    finally:\n        raise KeyError\nexcept KeyError:\n    t += x",
)  # fmt: skip
READS = (
    "r = c[K]", "r = c[K] * c[L]", "r = sum(c)", "r = max(c)", "r = min(c, key=lambda e: -e, default=0.0)", "r = sorted(c)[0]", "r = sum(a * b for a, b in zip(c, c))", "r = sum(i * e for i, e in enumerate(c))",
    "r = functools.reduce(lambda a, b: a * b, c)", "r = list(map(lambda e: e * e, c))[0]", "r = sum(filter(lambda e: e > 1.0, c))", "a, *b = c\nr = a * 2.0 + sum(b)", "*a, b = c\nr = b * 2.0", "r = sum([e * e for e in c if e > 1.0])",
    "r = x if x in c else 3.0 * x", "r = x if c == c else 0.0", "r = c[1:][0]", "r = c[::-1][0]", "r = len(c) * x", "r = 1.0\nfor e in c:\n    r = r * e", "r = 0.0\nfor i in range(len(c)):\n    r += c[i] * i", "r = next(iter(c))",
    "r = math.prod(c)", "r = math.fsum(c)", "r = c.index(2.0) * x", "r = c.count(2.0) * x", "r = x if any(e > 1.0 for e in c) else 2.0 * x", "it = iter(c)\nr = next(it)\nr += sum(it) * 2.0", "r = np.sum(c)", "r = np.array(c)[0]",
    "r = dict(enumerate(c))[1]", "match c:\n    case [a, *b]:\n        r = a + len(b)\n    case {'a': q, **rest}:\n        r = q * len(rest)\n    case Pair(u, w) | Data(u, w):\n        r = u * w\n    case _:\n        r = x",
    "r = (lambda *a: a[0] * a[-1])(*c)", "r = (lambda a=1.0, b=2.0, **k: a * b)(**c)", "r = 0.0\nwhile c:\n    r = r * 0.5 + c.pop()", "r = sum(list(c)[:2])", "r = list(reversed(c))[0]", "r = list(itertools.accumulate(c))[-1]",
    "r = sum(itertools.chain(c, [x], c))", "r = max(*c)", "r = [*c, x][0]", "r = (tuple(c) + (x,))[-1]", "r = c[True] * x", "r = 0.0\nfor e in c:\n    if e > 1.0:\n        r += e\n        break\nelse:\n    r = x",
)  # fmt: skip
READ_MAPS = (
    "r = sum(c.values())", "r = sum(v * len(k) for k, v in c.items())", "r = c.get(K, x) * c.get('none', 2.0 * x)", "r = sum(c[k] for k in c)", "r = max(c.values())", "r = c[max(c, key=c.get)]", "r = c[min(c, key=lambda k: c[k])]",
    "r = sorted(c.items(), key=lambda e: -e[1])[0][1]", "r = 0.0\nfor k, v in c.items():\n    r = r * 0.5 + v", "r = list(c.values())[-1]", "r = c.most_common(1)[0][1]", "r = sum(e for e in c.elements())", "r = (K in c) * x",
    "r = len(c) * x", "(k, v), *rest = c.items()\nr = v * len(rest)", "r = x if c == dict(c) else 2.0 * x", "r = (lambda a=1.0, b=2.0, **k: a * b)(**c)", "r = dict(c)[K]", "r = {**c, 'e': x}[L]", "r = next(reversed(c.values()))",
    "match c:\n    case {'a': q, **rest}:\n        r = q * sum(rest.values())\n    case {}:\n        r = x", "r = sum(map(lambda k: c[k], sorted(c)))", "r = operator.itemgetter(K, L)(c)[0]", "r = 1.0\nwhile c:\n    r = r * 0.5 + c.popitem()[1]", "r = c['missing'] + x", "r = (c | {L: x})[K]",
    "r = sum(v for k, v in c.items() if k == K)", "r = sum({k: v * x for k, v in c.items()}.values())", "r = math.prod(c.values())", "r = c.pop(K) * c.pop('no', x)", "r = '{0}'.format(len(c)).count('3') * x + c[K]",
)  # fmt: skip
READ_NESTED = (
    "r = c[K][0]", "r = c[K][0] * c[L][0]", "r = sum(sum(r) for r in c)", "r = sum(map(sum, c))", "r = sum(e for row in c for e in row)", "r = max(c, key=lambda r: r[0])[0]", "(a, *b), *d = c\nr = a + len(b)", "r = sum(c, [])[0]",
    "r = list(zip(*c))[0][1]", "r = list(itertools.chain.from_iterable(c))[-1]", "r = np.sum(c[K]) * x", "r = sum(np.sum(v) for v in c.values())", "r = c[K].u * c[L].w", "r = c[K]['a'] * c[L]['a']", "r = sorted(c)[0][0]", "r = c[-1][-1]", "r = 0.0\nfor (a, *_) in c:\n    r = r * 2.0 + a",
    "r = np.array(c).sum()", "r = sum(c['a']) + len(c) * x", "r = (x if c[0] is c[1] else x * x) + c[0][0]", "r = x if c[K] == c[L] else 2.0 * x", "r = np.concatenate(c)[-1]", "r = np.concatenate(list(c.values())) @ np.ones(len(c) * 2)", "r = [*c[K], *c[L]][-1]",
)  # fmt: skip
READ_OBJECTS = (
    "r = c.u * c.w", "r = sum(vars(c).values())", "a, b = c\nr = a - b", "r = astuple(c)[0]", "r = getattr(c, 'u') + getattr(c, 'q', x)", "r = c.__dict__['u']", "match c:\n    case Data(u, w=q):\n        r = u * q\n    case object(u=q):\n        r = q\n    case _:\n        r = x", "r = float(c)",
    "r = c * 1.0", "r = c.item()", "r = c[()]", "r = math.sin(c)", "r = operator.attrgetter('u', 'w')(c)[1]", "r = hasattr(c, 'u') * c.u", "r = (c == copy.copy(c)) * x + c.u", "r = abs(c)", "r = c", "r = max(c, 0.0)", "r = np.float64(c)", "r = np.sin(c)", "r = c.sum()", "r = round(float(c), 1) * x",
)  # fmt: skip

GROUPS = (
    (SEQUENCES, WRITE_ITEMS + WRITE_SEQUENCES, READS), (MAPS, WRITE_ITEMS + WRITE_MAPS, READ_MAPS),
    (NESTED, WRITE_NESTED, READ_NESTED), (OBJECTS, WRITE_OBJECTS, READ_OBJECTS),
)  # fmt: skip


def programs(seed: int) -> Iterator[str]:
    """Without end; one group after the other, so that each gets as many."""
    draw = random.Random(seed)
    while True:
        for containers, writes, reads in GROUPS:
            (container, keys), flow = draw.choice(list(containers.items())), draw.choice(FLOWS)
            value = draw.choice(VALUES)
            chosen = [draw.choice(writes) for _ in range(draw.choice((1, 1, 2)))]
            write, read = "\n".join(chosen), draw.choice(reads)
            for name, text in zip("VKL", (value, *draw.sample(keys, 2)), strict=True):
                write, read = (re.sub(rf"\b{name}\b", lambda _: text, lines) for lines in (write, read))  # noqa: B023
            yield f"c = {container}\nt = 0.0\n{within(flow, write)}\n{read}\nreturn r + t"
