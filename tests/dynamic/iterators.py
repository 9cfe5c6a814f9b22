"""Statements of random dynamic programs about who is asked for an iterator, for an item, a length or the truth, and when: objects
whose `__iter__`, `__len__` and `__bool__` have effects, generators that call `super()` or end by exceptions, functions that raise
StopIteration where `map` and its like call them.
"""

from __future__ import annotations

from collections.abc import Callable

from .features import Writing

TOOLS = {
    "Asked": """
class Asked:
    def __init__(self, *values):
        self.values = values
        self.z = 0.5

    def __iter__(self):
        self.z = self.z * 0.75 + self.values[0]
        LOG.append(self.z * 0.01)
        return iter(self.values)

    def __len__(self):
        self.z = self.z * 0.5 + 0.25
        LOG.append(self.z * 0.02)
        return len(self.values)

    def __bool__(self):
        self.z = self.z - 0.125
        LOG.append(self.z * 0.03)
        return self.z > 0.0


class Drawn(Asked):
    def __iter__(self):
        self.z = self.z * 0.5
        for value in super().__iter__():
            self.z = self.z + value
            yield value * self.z

    def each(self, n):
        yield from self
        for k in range(n):
            yield self.z * 0.5 ** k


class Later(Drawn):
    def each(self, n):
        for y in super().each(n):
            LOG.append(y * 0.01)
            yield y - super().__len__() * 0.125

    @property
    def halves(self):
        return (y * 0.5 for y in self)


class ByIndex:
    def __init__(self, z, n):
        self.z = z
        self.n = n

    def __getitem__(self, k):
        LOG.append(self.z * 0.01)
        if k >= self.n:
            raise IndexError(self.z)
        self.z = self.z * 0.5 + k
        return self.z


def ended(z, limit=1.0):
    LOG.append(z * 0.01)
    if z > limit:
        raise StopIteration(z * 0.5)
    return z * 0.75


def giving(z, n):
    for k in range(n):
        LOG.append(z * 0.01)
        got = yield z * 0.5 ** k
        z = z + (0.25 if got is None else got)
    LOG.append(z * 0.03)
    return z
""",
}
NAMES = {"Asked": "(?:Asked|Drawn|Later|ByIndex|ended|giving)"}


def asking(w: Writing) -> None:
    """Loops, comprehensions and calls over these."""
    v = lambda: w.value(0)
    n = lambda: w.choose(["0", "1", "2", "3", w.integer()])
    o, x = w.new("asked"), w.let("x", v())
    w.line(
        f"{o} = {w.choose([f'Asked({v()}, {v()})', f'Drawn({v()}, {v()}, {v()})', f'Later({v()}, {v()})', f'Later({v()})'])}"
    )

    def source(depth: int = 1) -> str:
        some = [
            o,
            o,
            f"Drawn({v()}, {v()})",
            f"giving({v()}, {n()})",
            f"ByIndex({v()}, {n()})",
            f"[{v()}, {v()}, {v()}]",
        ]
        some += [f"Later({v()}, {v()}).each({n()})", f"Later({v()}, {v()}).halves", f"({v()}, {v()})"]
        if depth > 0:
            inner = lambda: source(depth - 1)
            some += [
                f"itertools.islice({inner()}, {n()})",
                f"itertools.islice({inner()}, 1, 3)",
                f"map(ended, {inner()})",
                f"map(lambda a, b: a * b, {inner()}, {inner()})",
                f"(y * {v()} for y in {inner()})",
                f"(y + z for y in {inner()} for z in ({v()}, 0.5))",
                f"itertools.chain({inner()}, {inner()})",
                f"filter(lambda y: y > {v()}, {inner()})",
                f"itertools.takewhile(lambda y: ended(y, 9.0) < {v()} + 1.0, {inner()})",
                f"map(sum, zip({inner()}, {inner()}))",
                f"itertools.accumulate({inner()})",
                f"reversed([*{inner()}])",
                f"[y * 0.5 for y in {inner()}]",
            ]
        return w.choose(some)

    form = w.choose(["loop", "loop", "loop", "expression", "expression", "unpacked", "truth", "by hand", "returned"])
    if w.inner:
        form = "expression"
    if x in w.frozen:
        return
    if form == "loop":
        header, item = w.choose(
            [
                (f"for y_ in {source(2)}:", "y_"),
                (f"for y_ in {source()}:", "y_"),
                (f"for y_, z_ in zip({source()}, {source()}):", "y_ * z_"),
                (f"for y_, z_ in zip({source(0)}, {source(0)}):", "y_ - z_"),
                (f"for k_, y_ in enumerate({source()}):", "y_ * k_"),
                (f"for k_, (y_, z_) in enumerate(zip({source(0)}, {source(0)})):", "y_ * k_ + z_"),
                (f"for y_ in itertools.islice({source()}, {n()}):", "y_"),
                (f"for y_, z_ in itertools.zip_longest({source()}, {source(0)}, fillvalue={v()}):", "y_ * z_"),
                (f"for y_, z_ in itertools.pairwise({source()}):", "y_ - z_"),
                (f"for y_ in map(ended, {source()}):", "y_"),
            ]
        )
        with w.block(header):
            w.line(f"{x} = {x} * 0.5 + ({item}) * {v()}")
            if w.chance(40):
                with w.block(f"if {x} > {v()}:"):
                    w.line(w.choose(["break", "continue", f"{o}.z = {x}"]))
            if w.chance(40):
                w.line(f"{x} = {x} + {o}.z")
        if w.chance(25):
            with w.block("else:"):
                w.line(f"{x} = {x} - 0.25")
    elif form == "expression":
        w.line(
            f"{x} = {x} + "
            + w.choose(
                [
                    f"sum({source(2)})",
                    f"max({source()}, default={v()})",
                    f"sum(y * z for y, z in zip({source()}, {source()}))",
                    f"next(iter({source()}), {v()})",
                    f"len([*{source()}]) + {o}.z",
                    f"functools.reduce(lambda a, b: a * 0.5 + b, {source()}, {v()})",
                    f"sum(sorted({source()})[:2])",
                    f"({v()} in {source(0)}) + {o}.z",
                    f"sum(max(y, z) for y in {source(0)} for z in {o})",
                    f"any(y > {v()} for y in {source()}) + {o}.z",
                ]
            )
        )
    elif form == "unpacked":
        with w.block("try:"):
            w.line(w.choose([f"y_, z_ = {source()}", f"y_, *rest_ = {source()}; z_ = sum(rest_)", f"[y_, z_] = {o}"]))
            w.line(f"{x} = {x} + y_ * z_")
        with w.block("except ValueError as error:"):
            w.line(f"{x} = {x} + {o}.z * len(str(error))")
    elif form == "truth":
        with w.block(w.choose([f"if {o}:", f"if not {o} or len({o}) > 1:", f"if {o} and {v()} > 0.5:"])):
            w.line(f"{x} = {x} + {o}.z")
        with w.block("else:"):
            w.line(f"{x} = {x} - {o}.z * len({o})")
    elif form == "by hand":
        direct = w.chance(30)  # (what iterators of the library hand on of the value is documented)
        w.line(f"asker_ = {f'giving({v()}, {n()})' if direct else f'iter({source()})'}")
        with w.block("try:"):
            w.line(f"{x} = {x} + next(asker_) * {v()}")
            w.line(f"{x} = {x} - next(asker_) + {o}.z")
        with w.block("except StopIteration as stop:"):
            w.line(f"{x} = {x} + {'(0.5 if stop.value is None else stop.value)' if direct else '0.5'}")
        w.line(f"{x} = {x} + sum(asker_)")
    else:
        name = w.new("taking")
        with w.block(f"def {name}(y, n_):"):
            w.line("got = yield from giving(y, n_)")
            w.line(f"yield got * {v()}")
            w.line("return got")
        with w.block(f"for y_, z_ in zip({name}({v()}, {n()}), {source()}):"):
            w.line(f"{x} = {x} + y_ * z_")
        w.line(f"{x} = {x} + sum({name}({v()}, {n()}))")
    w.line(f"{x} = {x} * 0.5 + {o}.z")


STATEMENTS: tuple[Callable[[Writing], None], ...] = (asking, asking)
