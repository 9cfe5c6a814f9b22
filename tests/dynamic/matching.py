"""Statements of random dynamic programs about `match`: sequences, mappings and objects of classes of the program's own, which note
what they are asked; patterns that fail half way; what there may not be.
"""

from __future__ import annotations

from collections.abc import Callable

from .features import Writing

TOOLS = {
    "Several": """
class Several(collections.abc.Sequence):
    def __init__(self, *held):
        self.held = list(held)

    def __len__(self):
        return len(self.held)

    def __getitem__(self, i):
        return self.held[i]


@collections.abc.Sequence.register
class Pair:
    def __init__(self, z, y):
        self.z, self.y = z, y

    def __len__(self):
        return 2

    def __iter__(self):
        yield self.z
        yield self.y


class Unlisted:
    def __init__(self, z):
        self.z = z

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return (self.z, 0.5)[i]


class Noting(Several):
    asked = 1.0

    def __len__(self):
        self.asked = self.asked * 0.5 + self.held[0]
        return super().__len__()

    def __getitem__(self, i):
        self.asked += 0.25 * self.held[-1]
        return super().__getitem__(i)
""",
    "Table": """
class Table(collections.abc.Mapping):
    def __init__(self, z):
        self.z = z
        self.held = {"a": z, "b": 0.5}

    def __getitem__(self, key):
        self.z = self.z * 0.5 + self.held[key]
        return self.z

    def __iter__(self):
        return iter(self.held)

    def __len__(self):
        return len(self.held)


class Asking(dict):
    z = 0.5

    def get(self, key, default=None):
        self.z = self.z * 0.75 + self["a"]
        return super().get(key, default)

    def __missing__(self, key):
        self[key] = 1.5
        return 1.5


class Breaking(Asking):
    def get(self, key, default=None):
        found = super().get(key, default)
        if key == "b":
            raise KeyError(key)
        return found
""",
    "Spot": """
class Spot:
    __match_args__ = ("z",)

    def __init__(self, z):
        self.z = z
        if z > 0.0:
            self.above = z * 0.5

    @property
    def twice(self):
        return 2.0 * self.z


class Far(Spot):
    @property
    def gone(self):
        self.z = self.z * 0.5 + 0.25
        raise AttributeError("gone")

    @property
    def near(self):
        self.z = self.z * 0.75
        return self.z


class Failing(Spot):
    __match_args__ = ("near", "broken", "broken")

    @property
    def near(self):
        self.z = self.z * 0.75
        return self.z

    @property
    def broken(self):
        self.z = self.z * 0.5 + 0.25
        raise ValueError


class Open(Spot):
    def __getattr__(self, name):
        self.z = self.z * 0.5 + len(name) * 0.1
        if name == "there":
            return self.z
        raise AttributeError(name)


class Ruling(type):
    total = 0.5

    def __instancecheck__(cls, x):
        if isinstance(x, str):
            return False
        cls.total = math.sin(cls.total) + 0.25 * x
        return True


class Ruled(metaclass=Ruling):
    pass
""",
}
NAMES = {
    "Several": "(?:Several|Pair|Unlisted|Noting)",
    "Table": "(?:Table|Asking|Breaking)",
    "Spot": "(?:Spot|Far|Open|Ruled|Failing)",
}


def _sequence(w: Writing, subject: str, after: str = "") -> None:
    """A value of `subject`, by one of several sequence patterns; `after`: what else of it makes up the value."""
    v = lambda: w.value(0)
    s, x = w.new("given"), w.new("x")
    w.line(f"{s} = {subject}")
    patterns = [
        ("[p_]", "p_"), ("[p_, q_]", "p_ - q_ * 0.5"), ("[p_, q_, r_]", "p_ * q_ + r_"), ("(p_, *q_)", "p_ + sum(q_) * 0.5"), ("[*q_, p_]", "p_ * len(q_)"),
        ("[*p_]", "sum(p_)"), ("[p_, *_, q_]", "p_ - q_"), ("[p_, _]", "p_"), (f"[p_, q_] if p_ > {v()}", "p_ * q_"), ("[]", "0.5"),
    ]  # fmt: skip
    with w.block(f"match {s}:"):
        for _ in range(2):
            pattern, found = patterns.pop(int(w.choose([str(n) for n in range(len(patterns))])))
            with w.block(f"case {pattern}:"):
                w.line(f"{x} = {found}")
        with w.block("case _:"):
            w.line(f"{x} = {v()}")
    if after:
        w.line(f"{x} = {x} * 0.5 + {after.format(s)}")
    w.bind(x)


def _class(w: Writing, subject: str, patterns: list[str], after: str = "") -> None:
    s, x = w.new("given"), w.new("x")
    w.line(f"{s} = {subject}")
    with w.block(f"match {s}:"):
        for _ in range(2):
            with w.block(f"case {w.choose(patterns)}:"):
                w.line(f"{x} = p_ * {w.value(0)}")
        with w.block("case _:"):
            w.line(f"{x} = {w.value(0)}")
    if after:
        w.line(f"{x} = {x} * 0.5 + {after.format(s)}")
    w.bind(x)


_OF_SPOTS = ["Spot(z=p_)", "Spot(p_)", "Spot(y=p_)", "Spot(z=p_, y=q_)", "Spot(twice=p_)", "Spot(above=p_)", "object(z=p_)", "None as p_ if False"]  # fmt: skip


def matching_plainly(w: Writing) -> None:
    """What native code takes, or says that it does not."""
    v = lambda: w.value(0)
    if w.chance(60):
        subjects = [
            f"[{v()}, {v()}] if {w.condition()} else None", f"({v()}, 0.5) if {w.condition()} else None", f"[{v()}, {v()}, 0.5]", f"np.array([{v()}, {v()}])",
            f"np.array([{v()}, 0.5, {v()}])", f"Several({v()}, 0.5)", f"Pair({v()}, {v()})", f"Unlisted({v()})", v(),
        ]  # fmt: skip
        _sequence(w, w.choose(subjects))
    else:
        _class(w, w.choose([f"Spot({v()})", f"Spot({v()}) if {w.condition()} else None", v()]), _OF_SPOTS)


def matching(w: Writing) -> None:
    """What notes what it is asked."""
    v = lambda: w.value(0)
    form = w.choose(["plain", "sequence", "mapping", "class", "metaclass", "raising"])
    if form == "plain":
        matching_plainly(w)
    elif form == "sequence":
        kind = w.choose(["Noting", "Noting", "collections.UserList", "collections.deque"])
        if kind == "Noting":
            _sequence(w, f"Noting({v()}, {w.choose(['0.5', f'{v()}, 0.5', v()])})", "{0}.asked")
        else:
            _sequence(w, f"{kind}([{v()}, {w.choose(['0.5', f'{v()}, 0.5'])}])")
    elif form == "mapping":
        s, x = w.new("given"), w.new("x")
        made = w.choose(
            [f"Table({v()})", f"Asking(a={v()}, b=0.5)", f"collections.ChainMap({{'a': {v()}}}, {{'b': 0.5}})"]
        )
        w.line(f"{s} = {made}")
        patterns = ["{'a': p_}", "{'c': p_}", "{'a': q_, 'c': p_}", "{'b': p_, 'a': q_}", "{'a': p_, **r_}"]
        with w.block(f"match {s}:"):
            for _ in range(2):
                with w.block(f"case {w.choose(patterns)}:"):
                    w.line(f"{x} = p_ * {v()}")
            with w.block("case _:"):
                w.line(f"{x} = {v()}")
        w.line(f"{x} = {x} * 0.5 + getattr({s}, 'z', 0.25)")
        w.bind(x)
    elif form == "raising":
        s, x = w.new("given"), w.new("x")
        pairs = [
            (f"Breaking(a={v()}, b=0.5)", "{'a': p_, 'b': q_}"),
            (f"Breaking(a={v()}, b=0.5, c=1.5)", "{'c': p_, 'a': q_, 'b': r_}"),
            (f"Failing({v()})", "Failing(p_, q_)"),
            (f"Failing({v()})", "Failing(p_, z=q_, broken=r_)"),
            (f"Failing({v()})", "Failing(p_, near=q_)"),
            (f"Failing({v()})", "Failing(p_, z=q_)"),
        ]
        made, pattern = pairs[int(w.choose([str(n) for n in range(len(pairs))]))]
        w.line(f"{s} = {made}")
        with w.block("try:"), w.block(f"match {s}:"):
            with w.block(f"case {pattern}:"):
                w.line(f"{x} = p_ * {v()}")
            with w.block("case _:"):
                w.line(f"{x} = {v()}")
        with w.block("except (KeyError, TypeError, ValueError):"):
            w.line(f"{x} = {v()}")
        w.line(f"{x} = {x} * 0.5 + {s}.z")
        w.bind(x)
    elif form == "class":
        cls = w.choose(["Far", "Open"])
        patterns = [
            f"{cls}(gone=p_)",
            f"{cls}(near=p_)",
            f"{cls}(z=p_, gone=q_)",
            f"{cls}(there=p_)",
            f"{cls}(near=p_, z=q_)",
            *_OF_SPOTS,
        ]
        _class(w, f"{cls}({v()})", patterns, "{0}.z")
    else:
        w.line(f"Ruled.total = {w.choose(['0.5', v()])}")
        subject = w.choose([v(), f"'a' if {w.condition()} else {v()}"])
        _class(
            w,
            subject,
            ["Ruled(y=p_)", "Ruled() as p_", "str() | Ruled() as p_ if p_ != 'a'"],
            "Ruled.total",
        )


PLAIN: tuple[Callable[[Writing], None], ...] = (matching_plainly,)
STATEMENTS: tuple[Callable[[Writing], None], ...] = (matching, matching)
