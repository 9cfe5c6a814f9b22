"""Ways to bind a name x what is bound x what is around."""

from __future__ import annotations

import itertools
import math
import re
from collections import namedtuple
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from .compose import within

Pair = namedtuple("Pair", "u w")


@dataclass
class Data:
    u: Any
    w: Any = 3.0


@contextmanager
def giving(value: Any) -> Iterator[Any]:
    yield value


class Swallow:
    def __init__(self, value: Any):
        self.value = value

    def __enter__(self) -> Any:
        return self.value

    def __exit__(self, *_: object) -> bool:
        return True


class Err(Exception):
    pass


KNOWN = {
    "np": np, "math": math, "giving": giving, "nullcontext": nullcontext, "ExitStack": ExitStack, "Pair": Pair, "Data": Data, "Swallow": Swallow, "Err": Err,
}  # fmt: skip

# Each binds v, by way of the expression E, and may change t.
BINDINGS = (
    "v = E", "t += (v := E)", "(v := E)", "v = w = E\nw *= 2.0\nt += w", "for v in (1.0, E):\n    t += v", "for v in [E]:\n    pass\nelse:\n    v *= 2.0",
    "for v in ():\n    v = 1.0\nelse:\n    v = E", "with giving(E) as v:\n    t += v", "with giving((E, 2.0)) as (v, w):\n    t += w", "with giving(E) as v, giving(v * v) as w:\n    t += w",
    "try:\n    raise Err(E)\nexcept Err as e:\n    v = e.args[0]", "try:\n    v = E\n    raise Err(v)\nexcept Err as v:\n    t += v.args[0]\nv = t * x", "v, *w = E, 2.0, x\nt += sum(w)",
    "*w, v = [2.0, x, E]\nt += w[1]", "(v, w), *_ = (E, x), 3.0\nt += w", "[v, [w, *q]] = [E, [x, x * x]]\nt += w * q[0]", "match E:\n    case v:\n        t += v",
    "match (E, 2.0):\n    case (v, 2.0):\n        t += 1.0\n    case _:\n        v = x", "match {'k': E, 'l': x}:\n    case {'k': v, **w}:\n        t += w['l']",
    "match [x, E, 2.0]:\n    case [w, *q] if len(q) == 2:\n        v = q[0]\n        t += w", "match Data(E, x):\n    case Data(u=v, w=w):\n        t += w",
    "match Data(E):\n    case Data(float() as v, w):\n        t += v * w", "match Pair(E, x):\n    case Pair(v, w) | (v, w, _):\n        t += w",
    "match E:\n    case int() | str():\n        v = 0.0\n    case float(v) if v > 100.0:\n        pass\n    case float(v):\n        t += v", "v = [v := E, v * 2.0][1]",
    "v = [w := E for _ in range(2)][0]\nt += w", "v = sum(w := E * k for k in (1, 2))\nt += w", "[v := E * k for k in (1, 2, 3) if k < 3]", "v = E if (w := x) > 0.0 else 1.0\nt += w",
    "v = (w := E) and w * 2.0", "while (v := E * (t + 1.0)) < 3.0:\n    t += 1.0", "if (v := E) > 0.0 and (w := v * x) > -9.0:\n    t += w",
    "v = 5.0\nfor i in range(3):\n    if i == 1:\n        continue\n    v = E * i", "for i in range(3):\n    v = E * i\n    if v > 0.1:\n        break\nelse:\n    v = x", "v = 2.0\ndel v\nv = E",
    "v = E\nw = v\ndel v\nv = w * x", "def g():\n    nonlocal v\n    v = E\nv = 1.0\ng()", "def g(v=E):\n    return v\nv = g()",
    "def g(a, *b, v=E, **k):\n    return v + a + sum(b) + sum(k.values())\nv = g(x, x, q=x)", "v = (lambda v=E: v)()", "v = (lambda *a: a[-1])(1.0, E)", "v = (lambda: (v := E, v)[1])()",
    "class C:\n    v = E\n    w = v * 2.0\n    q = [k for k in (1.0, v)]\nv = C.w\nt += C.q[1]", "class C:\n    v = x\n    def m(self):\n        return E\nv = C().m() * C.v", "v, t = E, t + x",
    "v = t = E", "w = [0.0, 0.0]\nw[0], v = E, w[0]\nv = v + w[0]", "i, w = 0, [x, x]\ni, w[i] = 1, E\nv = w[0]", "v = 1.0\nv += E", "v = x\nv *= v * E", "v = E\nv **= 2\nv -= v / 3.0",
    "v = E\nv //= 0.3\nv = v + E", "v = E\nv %= 0.3", "v: float = E", "v, w = w, v = [E, x]\nt += w", "for (v, w), k in [((E, x), 2.0)]:\n    t += w * k", "for v, *w in [(E, x, x)]:\n    t += sum(w)",
    "for k, v in enumerate([x, E]):\n    t += k * v", "for w, v in {x: E}.items():\n    t += w", "for w.u in (x, E):\n    t += w.u\nv = w.u", "global G\nG = E\nv = G * 2.0",
    "def g():\n    global G\n    G = E\n    return G\nv = g()\nt += G", "global G\nfor G in (x, E):\n    t += G\nv = G\ndel G", "v = next(w for w in (E, x))",
    "def g():\n    v = yield E\n    yield v * 2.0\nq = g()\nw = next(q)\nv = q.send(w)", "def g():\n    w = yield from (E, x)\n    return w\nv, w = g()\nt += w",
    "def g():\n    yield x\n    return E\ndef h():\n    v = yield from g()\n    yield v\n*w, v = h()\nt += w[0]", "v = {w: w * x for w in (1.0, E)}[1.0]",
    "v = [[a * b for a in (x, E)] for b in (E, 2.0)][1][1]", "v = [a * b for a in (x, E) for b in (a, a * 2.0) if b > a or b <= a][3]", "v = [lambda: k * E for k in (1, 2)][0]()",
    "v = [(lambda k=k: k * E) for k in (1, 2)][0]()", "fs = []\nfor k in (x, E):\n    fs.append(lambda: k)\nv = fs[0]()", "def g():\n    return k * E\nk = 2.0\nw = g()\nk = x\nv = g() + w",
    "def make():\n    n = 0.0\n    def add(d):\n        nonlocal n\n        n += d\n        return n\n    return add\ng = make()\ng(E)\nv = g(x)",
    "with Swallow(E) as v:\n    t += v\n    raise Err\n    v = 1.0", "with Swallow(x):\n    v = E\n    raise Err", "try:\n    v = E\nfinally:\n    t += v",
    "try:\n    v = 1.0 / (x - x)\nexcept ZeroDivisionError:\n    v = E\nelse:\n    v = 3.0", "try:\n    v = E\nexcept Err:\n    v = 1.0\nelse:\n    v *= 2.0\nfinally:\n    t += v",
    "for i in range(3):\n    try:\n        if i == 1:\n            break\n        v = E\n    finally:\n        t += x * i",
    "for i in range(3):\n    try:\n        continue\n    finally:\n        v = E * i", "def g():\n    try:\n        return E\n    finally:\n        nonlocal t\n        t += x\nv = g()",
    "def g():\n    for i in range(3):\n        try:\n            if i == 1:\n                return E * i\n        finally:\n            if i == 1:\n                break\n    return x\nv = g()",
    "with ExitStack() as s:\n    v = s.enter_context(giving(E))", "with nullcontext(E) as v:\n    pass",
    "try:\n    try:\n        raise Err(E)\n    except Err as e:\n        raise ValueError(x) from e\nexcept ValueError as e:\n    v = e.__cause__.args[0] * e.args[0]",
    "try:\n    try:\n        raise Err(E)\n    finally:\n        w = x\nexcept Err as e:\n    v = e.args[0] * w", "v = x\nv = v + (v := E) + v",
    "v = x\ndef g():\n    nonlocal v\n    v = E\n    return x\nv = v * g() + v * 2.0", "v = x\ndef g():\n    nonlocal v\n    v = E\n    return x\nv += g()", "v = (E, x)[t > 5.0]",
    "v = E\nif v:\n    v = v or x\nelse:\n    v = 1.0", "v = None\nif v is None:\n    v = E", "v = None\nfor i in range(3):\n    v = E if v is None else v * x",
    "v = []\nfor i in range(2):\n    v.append(E)\nv = v[-1] * v[0]", "w = v = [E]\nv[0] *= x\nv = w[0]", "v = E\nw = [v]\nv += x\nt += w[0]", "exec('q = 1')\nv = E", "import math as v\nv = v.sin(E)",
    "from math import exp as v\nv = v(E)", "v = lambda u: u * E\nv = v(x)", "def v(u):\n    return u * E\nv = v(x)", "def v(n):\n    return E if n == 0 else x * v(n - 1)\nv = v(2)",
)  # fmt: skip
EXPRESSIONS = ("x * x", "math.sin(x)", "(x if x > 0.5 else 2.0) * 3.0")
AROUND = (
    "W", "for _ in range(2):\n    W", "def run():\n    nonlocal t\n    W\n    return v\nv = run()", "if x > 0.0:\n    W\nelse:\n    v = 1.0", "try:\n    W\nfinally:\n    t *= 2.0", "def run(t, n):\n    if n:\n        W\n        return run(t, n - 1) * v\n    return t * x\nv = run(t, 2)",
    "n = 0\nwhile True:\n    n += 1\n    if n > 2:\n        break\n    W\nelse:\n    t = 1.0", "def run():\n    nonlocal t\n    W\n    yield v\n    yield v * 2.0\nfor v in run():\n    t += v", "class K:\n    def m(self):\n        nonlocal t\n        W\n        return v\nv = K().m()",
    "for j in range(2):\n    for n in range(3):\n        if n > j:\n            break\n        W\n        t += v\n    else:\n        t *= x",
)  # fmt: skip


def programs(seed: int) -> Iterator[str]:
    return itertools.islice(_all(), seed, None)


def _all() -> Iterator[str]:
    for around, expression, binding in itertools.product(AROUND, EXPRESSIONS, BINDINGS):
        before = "w = Data(0.0)\n" if "w.u" in binding else ""
        body = "t = 0.5\n" + within(around, before + re.sub(r"\bE\b", expression, binding)) + "\nreturn v * x + t"
        if _is_python(body):
            yield body


def _is_python(body: str) -> bool:
    """Some that change t do not go where it is another function's variable, or global ones where it is assigned to."""
    try:
        compile("def f(x):\n" + "\n".join("    " + line for line in body.splitlines()), "", "exec")
    except SyntaxError:
        return False
    return True
