"""Statements of random dynamic programs about what is of one type now and of another one the next time: arguments that are a number
in one call and an array, a list or None in the next, functions that take anything, loops over items of all kinds.

Further kind of variables: w anything, which `measure` makes a number of.
"""

from __future__ import annotations

from collections.abc import Callable

from .features import Writing

TOOLS = {
    "measure": """
def measure(w):
    if w is None:
        return 0.25
    if isinstance(w, bool):
        return 0.75 if w else -0.25
    if isinstance(w, (int, float)):
        return math.sin(w) + w * 0.5
    if isinstance(w, str):
        return 0.125 * len(w)
    if isinstance(w, np.ndarray):
        return np.sum(w * w) * 0.5
    if isinstance(w, dict):
        return sum(measure(w[k]) * len(k) for k in w)
    if isinstance(w, (list, tuple)):
        total = 0.1
        for item in w:
            total = total * 0.5 + measure(item)
        return total
    return w.u * w.v


def doubled(w):
    try:
        return w + w
    except TypeError:
        return None


def scaled(w, z):
    try:
        return w * z
    except TypeError:
        return w, z


def first_of(w):
    try:
        return measure(w[0])
    except (TypeError, IndexError, KeyError):
        return 0.5


def poly(w):
    return w * w * 0.5 + w


def matched(w):
    match w:
        case None | True | False:
            return 0.5
        case str():
            return 0.25
        case [] | [_]:
            return 0.125 * len(w)
        case [z, *rest]:
            return measure(z) * 0.5 + measure(rest)
        case {"a": z, **rest}:
            return measure(z) + 0.1 * len(rest)
        case np.ndarray():
            return w[0] * w[-1]
        case object(u=z, v=y):
            return z - y
        case _:
            return w * 0.25


def replaced(w, z):
    if isinstance(w, list):
        w[0] = z
    elif isinstance(w, np.ndarray):
        w *= z
    elif isinstance(w, dict):
        w["a"] = z
    elif hasattr(w, "u"):
        w.u = z
    else:
        w = z
    return w


def sized(w, otherwise=0.5):
    return len(w) * otherwise if hasattr(w, "__len__") else otherwise
""",
}
NAMES = {"measure": "(?:measure|doubled|scaled|first_of|poly|matched|replaced|sized)"}


def anything(w: Writing) -> str:
    """An expression for something of any type."""
    v = lambda: w.value(0)
    known = w.named("w")
    one = w.choose(known) if known else v()
    texts = [
        v(),
        v(),
        f"[{v()}, {v()}]",
        f"({v()}, [{v()}])",
        f"{{'a': {v()}, 'bb': {v()}}}",
        "None",
        "'abc'",
        f"({v()} > {v()})",
        "[]",
    ]
    texts += [
        f"np.array([{v()}, {v()}, {v()}], float)",
        w.integer(),
        f"[{one}, {v()}]",
        f"({one},)",
        f"{{'a': {one}}}",
        f"doubled({one})",
    ]
    texts += [f"scaled({one}, {v()})", f"replaced({one}, {v()})", f"({one} if {w.condition()} else {v()})", one]
    texts += [w.choose(w.named(kind)) for kind in "lda" if w.named(kind)] + [f"Box({v()}, {v()})"]
    return w.choose(texts)


def number(w: Writing) -> str:
    """An expression for what is calculated from anything."""
    x, v = w.choose(w.named("w")), lambda: w.value(-1)
    texts = [
        f"measure({x})",
        f"matched({x})",
        f"measure(doubled({x}))",
        f"measure(scaled({x}, {v()}))",
        f"first_of({x})",
        f"sized({x}, {v()})",
    ]
    texts += [
        f"({v()} if {x} is None else {v()})",
        f"measure([{x}, {v()}])",
        f"(measure({x}) if isinstance({x}, (int, float)) else {v()})",
    ]
    return w.choose(
        [*texts, f"measure(replaced({x}, {v()}))", f"getattr({x}, 'u', {v()})", f"measure(copy.deepcopy({x}))"]
    )


def retyped(w: Writing) -> None:
    """A variable that is of another type after a branch or a round of a loop."""
    v = lambda: w.value(0)
    name = w.let("w", anything(w))
    free = name not in w.frozen and not w.inner
    form = w.choose(["use", "branch", "loop", "items", "poly", "pair"])
    if form == "branch" and free:
        with w.block(f"if {w.condition()}:"):
            w.line(f"{name} = {anything(w)}")
    elif form == "loop" and free:
        with w.block(f"for i_ in range({w.integer()}):"):
            w.line(f"{name} = {w.choose([f'[{name}, {v()}]', f'({v()}, {name})', f'doubled({name})', f'measure({name}) * {v()}', f'scaled({name}, 2)'])}")  # fmt: skip
    elif form == "items":
        x = w.let("x", v())
        if x not in w.frozen and not w.inner:
            with w.block(f"for y_ in ({anything(w)}, {anything(w)}, {name}):"):
                w.line(
                    w.choose(
                        [f"{x} = {x} * 0.5 + measure(y_)", f"{x} += matched(y_) * {v()}", f"{x} = {x} - first_of(y_)"]
                    )
                )
    elif form == "poly":
        texts = [
            f"poly({v()}) + measure(poly(np.array([{v()}, {v()}, 0.5], float)))",
            f"sum(map(poly, ({v()}, 2, {v()})))",
        ]
        w.let(
            "x",
            w.choose(
                [
                    *texts,
                    f"[poly(y) for y in (2, {v()}, np.full(3, 0.5 * {v()}))][-1][1]",
                    f"poly({w.integer()}) * {v()}",
                ]
            ),
        )
    elif form == "pair" and free:
        other = w.let("w", anything(w))
        if other not in w.frozen:
            w.line(f"{name}, {other} = {other}, {name}")
    w.let("x", number(w))


STATEMENTS: tuple[Callable[[Writing], None], ...] = (retyped,)
