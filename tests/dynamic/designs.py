"""Statements of random dynamic programs about how classes and functions are made and stand for one another: operators of subclasses
that come first, enumerations, tuples with names and methods, decorators with state, of classes too.
"""

from __future__ import annotations

from collections.abc import Callable

from .features import Writing

TOOLS = {
    "Money": """
class Money:
    def __init__(self, z):
        self.z = z

    def __add__(self, other):
        return Money(self.z + (other.z if isinstance(other, Money) else other))

    def __radd__(self, other):
        return Money(other * 0.5 + self.z)

    def __sub__(self, other):
        return Money(self.z - other.z) if isinstance(other, Money) else NotImplemented

    def __rsub__(self, other):
        return Coin(other - self.z * 0.5)

    def __mul__(self, z):
        return NotImplemented if isinstance(z, Money) else Money(self.z * z)

    def __rmatmul__(self, z):
        return self.z - z

    def __rmod__(self, z):
        return self.z * 0.25 + z

    def __rpow__(self, z):
        return self.z * z

    def __floordiv__(self, n):
        return [Money(self.z * (0.5 + k)) for k in range(n)]

    def __rshift__(self, function):
        return function(self.z)

    def __or__(self, other):
        return other if self.z < 0 else self

    def __ior__(self, other):
        self.z = self.z * 0.5 + other.z
        return self

    def __pos__(self):
        return Coin(self.z)

    def __lt__(self, other):
        return self.z < other.z

    def __ge__(self, other):
        return self.z * 0.5 if self.z > other.z else 0

    def __ne__(self, other):
        return 0.5


class Coin(Money):
    def __radd__(self, other):
        return Coin((other.z if isinstance(other, Money) else other) - self.z)

    def __rsub__(self, other):
        return Money(self.z + (other.z if isinstance(other, Money) else other))

    def __rmul__(self, other):
        return Coin(self.z * (other.z if isinstance(other, Money) else other))

    def __gt__(self, other):
        return self.z * 0.75 > other.z
""",
    "Colour": """
class Colour(enum.Enum):
    RED = 0.5
    GREEN = 0.25
    CRIMSON = 0.5

    def mix(self, z):
        return self.value * z

    @property
    def shade(self):
        return self.value * 0.5 if self is Colour.RED else 1.5

    @classmethod
    def of(cls, z):
        return cls.RED if z > 0 else cls.GREEN


class Flag(enum.IntFlag):
    A = 1
    B = 2
    C = 4


def coloured(colour, z):
    match colour:
        case Colour.RED:
            return z * 0.5
        case Colour(value=v) if v < 0.3:
            return z * v
        case _:
            return 0.125
""",
    "Spot": """
class Spot(typing.NamedTuple):
    u: float
    v: float = 0.5

    def norm(self):
        return self.u * self.u + self.v

    def __add__(self, other):
        return Spot(self.u + other[0], self.v - other[1])

    @property
    def turned(self):
        return self._replace(u=self.v, v=-self.u)


class Span(tuple):
    def __new__(cls, a, b=0.25):
        return super().__new__(cls, (a * 0.5, b, a * b))

    @property
    def middle(self):
        return (self[0] + self[-1]) * 0.5

    def __mul__(self, z):
        return Span(self[0] * z, self[2])
""",
    "scaled_by": """
REGISTRY = {}


def registered(cls):
    act = cls.act
    REGISTRY[cls.__name__] = cls
    cls.act = lambda self, y: act(self, y) * cls.weight + 0.1
    return cls


def totalled(by=0.5):
    def make(cls):
        class Total(cls):
            def total(self):
                return (self.z + self.act(by)) * by

        return Total
    return make


def scaled_by(z):
    def wrap(function):
        @functools.wraps(function)
        def inner(*args, **kwargs):
            inner.calls += 1
            inner.last = function(*args, **kwargs) * z + 0.01 * inner.calls
            return inner.last

        inner.calls = 0
        inner.last = 0.5
        return inner
    return wrap


@scaled_by(0.5)
def damped(y, by=0.25):
    return math.sin(y) + by


@totalled()
@registered
class Gauge:
    weight = 0.75

    def __init__(self, z):
        self.z = z

    def act(self, y):
        return self.z * y

    @scaled_by(2.0)
    def shift(self, y=0.5):
        self.z = self.z + y
        return self.z


class halved(contextlib.ContextDecorator):
    def __init__(self, z):
        self.z = z

    def __enter__(self):
        self.z = self.z * 0.5
        LOG.append(self.z * 0.01)
        return self

    def __exit__(self, *error):
        self.z = self.z - 0.1
        return error[0] is LookupError


@halved(0.7)
def under(z, n=0):
    if n > 1:
        raise LookupError(z)
    return z * z
""",
}
NAMES = {
    "Money": "(?:Money|Coin)",
    "Colour": "(?:Colour|Flag|coloured)",
    "Spot": "(?:Spot|Span)",
    "scaled_by": "(?:scaled_by|damped|registered|totalled|Gauge|halved|under|REGISTRY)",
}


def reflected(w: Writing) -> None:
    """Operators: those of a subclass come first, NotImplemented hands over, comparisons are no bools."""
    v = lambda: w.value(0)
    a, b = w.new("money"), w.new("money")
    made = lambda: f"{w.choose(['Money', 'Coin'])}({v()})"
    w.line(f"{a}, {b} = {made()}, {made()}")
    changes = [f"{a} |= {b}", f"{a} += {b}", f"{a} -= {b}", f"{b} = {a} + {b}", f"{a} = sum([{a}, {b}])", f"{a} = {b}"]
    changes += [f"{b} *= {v()}", f"{a} = {v()} - {b}", f"{a} = +{b} if {w.condition()} else {b}", f"{a} = {a} | {b}"]
    for _ in range(2):
        w.line(w.choose(changes))
    texts = [f"({a} + {b}).z", f"({a} - {b}).z", f"({v()} + {a}).z", f"({v()} - {b}).z", f"sum([{a}, {b}], {v()}).z"]
    texts += [f"{v()} @ {a}", f"{v()} % {b}", f"{v()} ** {a}", f"({a} >> math.sin)"]
    texts += [
        f"max({a}, {b}).z",
        f"sorted([{a}, {b}, {made()}])[1].z",
        f"({a} >= {b}) + {v()}",
        f"({a} != {b}) * {v()}",
    ]
    texts += [f"({v()} if {a} > {b} else 0.5)", f"({v()} if {a} <= {b} else 0.25)", f"sum(m.z for m in {a} // 3)"]
    texts += [f"functools.reduce(operator.add, [{a}, {b}, {v()}]).z", f"operator.ior({a}, {b}).z + {a}.z", f"type({a} - {b}).__name__.count('C') * {v()}"]  # fmt: skip
    x = w.let("x", w.choose(texts))
    if w.chance(30):
        with w.block("try:"):
            w.line(f"{x} = {x} + ({a} * {b}).z")
        with w.block("except TypeError:"):
            w.line(f"{x} = {x} - {v()}")


def kinds_of_tuples(w: Writing) -> None:
    """Enumerations; named tuples and other tuples with methods."""
    v = lambda: w.value(0)
    form = w.choose(["enum", "named", "named", "span"])
    if form == "enum":
        colour = w.choose(
            ["Colour.RED", "Colour.GREEN", "Colour.CRIMSON", f"Colour.of({v()})", "Colour(0.25)", "Colour['RED']"]
        )
        texts = [
            f"{colour}.mix({v()})",
            f"coloured({colour}, {v()})",
            f"{colour}.shade * {v()}",
            f"len({colour}.name) * {v()}",
        ]
        texts += [f"sum(c.mix({v()}) for c in Colour)", f"{{Colour.RED: {v()}, Colour.GREEN: {v()}}}[{colour}]"]
        texts += [f"({v()} if {colour} is Colour.RED else {v()})", f"({v()} if {colour} == {colour} else 0.5)"]
        texts += [f"({v()} if Flag.B in Flag.A | Flag({w.integer()} % 4) else {v()})", f"(Flag.A | Flag.C) * {v()}"]
        w.let("x", w.choose(texts))
    elif form == "named":
        p = w.new("spot")
        w.line(f"{p} = {w.choose([f'Spot({v()}, {v()})', f'Spot(v={v()}, u={v()})', f'Spot({v()})', f'Spot(*({v()}, {v()}))', f'Spot._make([{v()}, {v()}])'])}")  # fmt: skip
        w.line(
            w.choose(
                [
                    f"{p} += Spot({v()})",
                    f"{p} = {p}.turned",
                    f"{p} = {p} + ({v()}, {v()})",
                    f"{p} = {p}._replace(v={v()})",
                    "pass",
                ]
            )
        )
        texts = [
            f"{p}.norm()",
            f"{p}.turned.norm()",
            f"{p}[0] * {p}.v",
            f"sum({p})",
            f"max({p}, Spot({v()})).v",
            f"{p}._asdict()['u']",
        ]
        texts += [
            f"(lambda u, v: u - v)(**{p}._asdict())",
            f"(lambda u, v: u * v)(*{p})",
            f"({v()} if {p} == ({p}.u, {p}.v) else 0.5)",
        ]
        texts += [
            f"sorted([{p}, Spot({v()}, {v()})], key=lambda s: s.norm())[0].u",
            f"Spot._field_defaults['v'] * {v()}",
        ]
        x = w.let("x", w.choose(texts))
        if w.chance(40):
            with w.block(f"match {p}:"):
                with w.block("case Spot(u_, v=0.5):"):
                    w.line(f"{x} = {x} + u_")
                with w.block("case (u_, v_) if u_ < v_:"):
                    w.line(f"{x} = {x} * v_ - u_")
                with w.block("case Spot() as whole:"):
                    w.line(f"{x} = {x} - whole.v")
    else:
        s = w.new("span")
        w.line(f"{s} = Span({v()}{w.choose(['', f', {v()}', f', b={v()}'])})")
        texts = [
            f"{s}.middle",
            f"sum({s})",
            f"({s} * {v()}).middle",
            f"{s}[1] * len({s})",
            f"sum({s} + ({v()},))",
            f"({v()} if {s} < Span({v()}) else 0.5)",
        ]
        w.let(
            "x",
            w.choose(
                [*texts, f"(lambda a, *rest: a + sum(rest) * 0.5)(*{s})", f"sum({s}[::-1][:2])", f"max({s}) - min({s})"]
            ),
        )


def decorated(w: Writing) -> None:
    """Decorators that keep something, of functions, methods and classes; contexts that decorate."""
    v = lambda: w.value(0)
    form = w.choose(["function", "own", "class", "context", "method"])
    x = w.let("x", v())
    if form == "function":
        w.line(f"{x} = {x} + damped({v()}{w.choose(['', f', {v()}', f', by={v()}'])})")
        w.line(
            f"{x} = {x} + {w.choose(['damped.last', 'damped.calls * ' + v(), f'damped.__wrapped__({v()})', f'sum(map(damped, ({v()}, {v()})))'])}"
        )
    elif form == "own":
        g = w.new("own")
        w.line(f"@scaled_by({v()})")
        with w.block(f"def {g}(y, *rest, by={v()}):"):
            w.line(f"return y * by + sum(rest) * {v()}")
        w.line(f"{x} = {x} * {g}({w.choose([v(), f'{v()}, {v()}', f'{v()}, by={v()}'])}) + {g}.last")
        w.bind(x)
    elif form == "class":
        k = w.new("Own")
        w.line(w.choose(["@registered", f"@totalled({v()})", f"@totalled(by={v()})"]))
        with w.block(f"class {k}(Gauge):"):
            w.line(f"weight = {v()}")
            with w.block("def act(self, y):"):
                w.line(w.choose(["return super().act(y) - self.weight", f"return self.z * {v()} + y"]))
        w.line(f"{x} = {x} * 0.5 + {k}({v()}).{w.choose([f'act({v()})', 'total()', f'shift({v()})'])}")
    elif form == "context":
        with w.block(f"with halved({v()}) as half_:"):
            with w.block("try:"):
                w.line(f"{x} = {x} * half_.z + under({v()}, {w.integer()})")
            with w.block("finally:"):
                w.line(f"half_.z = half_.z * {v()}")
        w.line(f"{x} = {x} + half_.z")
    else:
        k = w.new("gauge")
        w.line(f"{k} = {w.choose(['Gauge', 'REGISTRY[next(iter(REGISTRY))]'])}({v()})")
        w.line(
            f"{x} = {x} + {k}.shift({w.choose(['', v()])}) * {k}.act({v()}) + {w.choose(['0.5', f'{k}.shift.last', f'Gauge.shift.calls * {v()}'])}"
        )


STATEMENTS: tuple[Callable[[Writing], None], ...] = (reflected, kinds_of_tuples, decorated)
