"""Statements of random dynamic programs about small NumPy arrays: in objects, containers and closures, under several names, seen
by views, changed in place.

Further kinds of variables: a an array of three floats; u an object that holds such arrays, `w` and `b`.
"""

from __future__ import annotations

from collections.abc import Callable

from .features import Writing

TOOLS = {
    "Layer": """
class Layer:
    def __init__(self, w, z=0.5):
        self.w = w
        self.b = np.full(3, 0.5 * z)
        self.seen = []

    @property
    def size(self):
        return np.sum(self.w * self.w)

    @size.setter
    def size(self, z):
        self.w = self.w * z

    def __call__(self, a):
        out = np.tanh(self.w * a + self.b)
        self.seen.append(out[0])
        return out

    def learn(self, a, rate=0.1):
        self.w -= rate * a
        self.b[1:] += rate * self.w[:-1]
        return self

    def __matmul__(self, other):
        return self.w @ other

    def __getitem__(self, i):
        return self.w[i] + self.b[i]

    def __setitem__(self, i, z):
        self.w[i] = z

    def __iter__(self):
        yield from self.w

    def __len__(self):
        return len(self.w)

    def __imul__(self, z):
        self.b *= z
        return self


class Moving(Layer):
    def __init__(self, w, z=0.25):
        super().__init__(w * 1.0, z)
        self.head = self.w[:2]

    def move(self, z):
        self.w += z * self.b
        self.head[1] *= 0.5
        return self

    def bounce(self, z):
        for i in range(3):
            if self.w[i] > z:
                self.b[i] *= -0.5
                self.w[i] = z
        return self.head[0]
""",
    "settle": """
def settle(a, z=0.5):
    a = a.copy()
    for k in range(2):
        last = a[k]
        a[1:] = 0.5 * a[:-1] + z
        a[k] += last
        if a[2] > 0.5:
            a *= 0.75
    return a


def norms(items):
    total = 0.0
    for item in items:
        total = total * 0.5 + np.sum(item * item)
    return total
""",
}
NAMES = {"Layer": "(?:Layer|Moving)", "settle": "(?:settle|norms)"}


def array(w: Writing) -> str:
    """An expression for an array of three floats."""
    v = lambda: w.value(0)
    known = w.named("a")
    one = lambda: w.choose(known) if known else f"np.array([{v()}, {v()}, 0.5], float)"
    texts = [
        f"np.array([{v()}, {v()}, {v()}], float)",
        f"np.array([{v()}, {v()}, {v()}]) * 1.0",
        f"np.full(3, 0.5 * {v()})",
    ]
    texts += [f"np.array([z * {v()} for z in ({v()}, {v()}, 0.5)], float)", "np.zeros(3)", f"np.ones(3) * {v()}"]
    if known:
        texts += [
            f"{one()} {w.choose('+-*')} {one()}",
            f"{v()} * {one()}",
            f"{one()} - {v()}",
            f"{one()} / (1.5 + {one()} ** 2)",
        ]
        texts += [
            f"np.{w.choose(['sin', 'tanh', 'cos', 'arctan'])}({one()})",
            f"np.exp(-np.abs({one()}))",
            f"-{one()}",
            f"{one()}[::-1]",
        ]
        texts += [
            f"np.maximum({one()}, {v()})",
            f"np.minimum({one()}, {one()})",
            f"np.where({one()} > {v()}, {one()}, {v()})",
        ]
        texts += [
            f"np.cumsum({one()})",
            f"np.sort({one()})",
            f"{one()}.copy()",
            f"np.clip({one()}, -0.5, 0.75)",
            f"settle({one()}, {v()})",
        ]
        texts += [
            f"np.outer({one()}, {one()})[1]",
            f"np.outer({one()}, {one()}) @ {one()}",
            f"np.concatenate([{one()}[1:], {one()}[:1]])",
        ]
        texts += [
            f"np.stack([{one()}, {one()}]).sum(axis=0)",
            f"{one()}[[2, 0, 0]]",
            f"np.roll({one()}, 1)",
            f"sum([{one()}, {one()}])",
        ]
        texts += [
            f"{one()} @ np.eye(3)",
            f"np.array(sorted({one()}))",
            f"np.array([z * z for z in {one()}], float)",
            one(),
        ]
    for u in w.named("u")[:2]:
        texts += [f"{u}.w", f"{u}.w * {v()}", f"{u}.b"] + [f"{u}({one()})"] * bool(known)
    return w.choose(texts)


def number(w: Writing) -> str:
    """An expression for what is calculated from an array."""
    a, v = w.choose(w.named("a")), lambda: w.value(-1)
    texts = [
        f"{a}[0]",
        f"{a}[-1]",
        f"{a}.sum()",
        f"np.sum({a} * {a})",
        f"{a} @ {a}",
        f"{a}.max()",
        f"np.min({a})",
        f"sum({a})",
    ]
    texts += [
        f"np.mean({a})",
        f"{a}.dot({a}[::-1])",
        f"max({a})",
        f"float({a}[1])",
        f"np.prod({a})",
        f"math.sin({a}[2])",
        f"np.var({a})",
    ]
    texts += [
        f"np.sum({a}[{a} > {v()}])",
        f"np.linalg.norm({a} + 2.0)",
        f"len({a}) * {v()}",
        f"{a}[np.argmax({a})]",
        f"np.sum(np.abs({a}))",
    ]
    return w.choose(
        [
            *texts,
            f"sum(y * z for y, z in zip({a}, {a}[1:]))",
            f"{a}.tolist()[1]",
            f"({v()} if ({a} > 0).any() else {v()})",
        ]
    )


def held(w: Writing) -> str:
    """An expression for what is calculated from an object that holds arrays."""
    u, v = w.choose(w.named("u")), lambda: w.value(-1)
    texts = [
        f"{u}.size",
        f"{u}[0]",
        f"{u} @ {u}.b",
        f"sum({u})",
        f"{u}.w[1] * {v()}",
        f"sum({u}.seen)",
        f"np.sum({u}({u}.b))",
    ]
    return w.choose([*texts, f"{u}.learn({u}.b).size", f"getattr({u}, 'head', {u}.b)[0]", f"({u}.bounce({v()}) if hasattr({u}, 'bounce') else {v()})"])  # fmt: skip


def arrays(w: Writing) -> None:
    """An array that is made, and changed in place."""
    a = w.let("a", array(w))
    v = lambda: w.value(0)
    b = w.choose(w.named("a"))
    changes = [
        f"{a}[{w.choose(['0', '1', '-1'])}] {w.choose(['', '+', '*'])}= {w.value(1)}",
        f"{a}[1:] += {b}[:-1]",
        f"{a}[:] = {b}",
    ]
    changes += [
        f"{a}[::2] *= {v()}",
        f"{a}[{a} > {v()}] = {v()}",
        f"{a}[[0, 0, 1]] += {v()}",
        f"{a}[:2], {a}[2] = {b}[1:] * 0.5, {v()}",
    ]
    changes += [
        f"np.add.at({a}, [0, 2, 0], {v()})",
        f"{a}.fill({v()})",
        f"{a}.sort()",
        f"{a}[1:] = [{v()}, {v()}]",
        "pass",
    ]
    free = a not in w.frozen and not w.inner
    w.line(
        w.choose([*changes, *[f"{a} += {b}", f"{a} *= {v()}", f"{a} -= {v()} * {b}", f"{a} /= 1.5 + {b} * {b}"] * free])
    )
    if w.chance(40):
        w.let("x", number(w))


def views(w: Writing) -> None:
    """One memory under several names: views, rows, arrays in lists, tuples and dicts."""
    v = lambda: w.value(0)
    a = w.let("a", array(w)) if not w.named("a") else w.choose(w.named("a"))
    view = w.new("view")
    form = w.choose(["view", "rows", "list", "dict", "loop"])
    if form == "view":
        w.line(f"{view} = {w.choose([f'{a}[1:]', f'{a}[::-1]', f'{a}[:2]', f'{a}[::2]', f'{a}.reshape(3, 1)[:, 0]'])}")
        w.line(
            w.choose(
                [
                    f"{view}[0] = {v()}",
                    f"{view} *= {v()}",
                    f"{a}[1] += {v()}",
                    f"{view}[:] = {view}[::-1]",
                    f"{view} += {a}[:1]",
                ]
            )
        )
        w.let("x", w.choose([f"np.sum({view} * {view})", f"{view}[-1] * {a}[0]", f"{view}.sum() - {a}.sum()"]))
    elif form == "rows":
        w.line(f"{view} = np.array([{a}, {a} * {v()}, [{v()}, {v()}, 0.5]], float)")
        w.line(
            w.choose(
                [
                    f"{view}[1] = {a}",
                    f"{view}[:, 0] *= {v()}",
                    f"{view}[0, 2] += {v()}",
                    f"{view}.T[1] = {v()}",
                    f"{view}[1:] -= {view}[:-1]",
                ]
            )
        )
        w.let("x", w.choose([f"np.trace({view})", f"({view} @ {a})[1]", f"{view}.sum(axis=1)[0]", f"np.max({view}, axis=0)[1]", f"sum(r @ {a} for r in {view})"]))  # fmt: skip
    elif form == "list":
        w.line(f"{view} = [{a}, {a} * {v()}, {a}]")
        w.line(w.choose([f"{view}[0][1] = {v()}", f"{view}[2] *= {v()}", f"{view}.append({view}[1])", f"{view}[1] = {view}[0]", f"{view}[0] = {view}[1] + {v()}"]))  # fmt: skip
        w.let("x", w.choose([f"norms({view})", f"sum({view})[0]", f"max({view}, key=np.sum)[1]", f"sum(z @ {a} for z in {view})", f"np.sum(np.array({view}))"]))  # fmt: skip
    elif form == "dict":
        w.line(f"{view} = {{'p': {a}, 'q': {a} * {v()}}}")
        w.line(
            w.choose(
                [
                    f"{view}['p'][0] = {v()}",
                    f"{view}['q'] += {view}['p']",
                    f"{view} = {{k: z * {v()} for k, z in {view}.items()}}",
                ]
            )
        )
        w.let(
            "x",
            w.choose(
                [
                    f"norms({view}.values())",
                    f"{view}['p'] @ {view}['q']",
                    f"sum(z[1] * len(k) for k, z in {view}.items())",
                ]
            ),
        )
    else:
        x = w.let("x", v())
        if x not in w.frozen and not w.inner:
            with w.block(f"for i_, y_ in enumerate({a}):"):
                w.line(
                    w.choose([f"{x} = {x} * 0.5 + y_", f"{a}[(i_ + 1) % 3] += y_ * {v()}", f"{x} = {x} + y_ * {a}[i_]"])
                )


def holders(w: Writing) -> None:
    """Objects that hold arrays: two names of one array, properties that replace it, methods that write into it."""
    v = lambda: w.value(0)
    known = w.named("u")
    if not known or w.chance(35):
        a = w.choose(w.named("a")) if w.named("a") and w.chance(60) else f"np.array([{v()}, {v()}, {v()}], float)"
        made = [f"Layer({a}, {v()})", f"Moving({a})", f"Layer({a})"] + [f"Layer({u}.w, {v()})" for u in known[:1]]
        made += [f"copy.copy({u})" for u in known[:1]] + [f"copy.deepcopy({u})" for u in known[:1]]
        w.let("u", w.choose(made))
        known = w.named("u")
    u, a = w.choose(known), w.choose([*w.named("a"), f"{w.choose(known)}.b"])
    changes = [
        f"{u}.w = {a}",
        f"{u}.w *= {v()}",
        f"{u}.b += {a}",
        f"{u}.b[1] = {v()}",
        f"{u}.size = {v()}",
        f"{u}[0] = {v()}",
        f"{u}.learn({a})",
    ]
    changes += [
        f"{u}.learn({a}, {v()})",
        f"{u}.w, {u}.b = {u}.b, {u}.w",
        f"{u}[1:] = {a}[:2]",
        f"{u}.w = {u}({a})",
        f"{u}.b = {u}.w",
    ]
    changes += [f"{u}.extra = {a}", f"{u}.w[:2] -= {u}.b[1:]", f"(lambda y: y.learn(y.w))({u})"] + [f"{u} *= {v()}"] * (
        u not in w.frozen and not w.inner
    )
    w.line(w.choose(changes))
    if w.chance(30):
        with w.block(f"if isinstance({u}, Moving):"):
            w.line(w.choose([f"{u}.move({v()})", f"{u}.head *= {v()}", f"{u}.bounce({v()})"]))
    w.let("x", held(w))


STATEMENTS: tuple[Callable[[Writing], None], ...] = (arrays, views, holders)
