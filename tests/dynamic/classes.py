"""Statements of random dynamic programs about objects: operators, descriptors and attribute hooks, metaclasses, inheritance,
dataclasses, patterns of classes.

Further kinds of variables: v a vector with operators; p a record (dataclass).
"""

from __future__ import annotations

from collections.abc import Callable

from .features import Writing

TOOLS = {
    "Vec": """
@functools.total_ordering
class Vec:
    __match_args__ = ("a", "b")
    made = 0

    def __init__(self, a, b=0.5):
        self.a = a
        self.b = b

    def __add__(self, other):
        return Vec(self.a + other.a, self.b + other.b) if isinstance(other, Vec) else Vec(self.a + other, self.b)

    __radd__ = __add__

    def __sub__(self, other):
        if not isinstance(other, Vec):
            return NotImplemented
        return Vec(self.a - other.a, self.b - other.b)

    def __rsub__(self, other):
        return Vec(other - self.a, other * self.b)

    def __mul__(self, z):
        return Vec(self.a * z, self.b * z) if not isinstance(z, Vec) else self.a * z.a + self.b * z.b

    __rmul__ = __mul__

    def __matmul__(self, other):
        return self.a * other.b - self.b * other.a

    def __truediv__(self, z):
        return Vec(self.a / (1.5 + z * z), self.b)

    def __pow__(self, n):
        return functools.reduce(lambda v, _: Vec(v.a * self.a, v.b * 0.5), range(n), Vec(1.0, self.b))

    def __mod__(self, z):
        return Vec(self.a - z, self.b + z)

    def __divmod__(self, z):
        return self * z, self - Vec(z)

    def __isub__(self, z):
        self.a -= z
        self.b = self.b * 0.5 + z
        return self

    def __imatmul__(self, z):
        return Vec(self.b * z, self.a)

    def __neg__(self):
        return Vec(-self.a, -self.b)

    def __invert__(self):
        return Vec(self.b, self.a)

    def __abs__(self):
        return math.sqrt(self.a * self.a + self.b * self.b + 0.01)

    def __round__(self, digits=0):
        return Vec(self.a * 0.5, self.b + digits)

    def __getitem__(self, key):
        if isinstance(key, slice):
            return [self.a, self.b][key]
        if key > 1:
            raise IndexError(key)
        return self.b if key else self.a

    def __setitem__(self, key, z):
        if key in (1, "b"):
            self.b = z
        else:
            self.a = z

    def __delitem__(self, key):
        self[key] = 0.25

    def __len__(self):
        return 2

    def __reversed__(self):
        yield self.b
        yield self.a

    def __eq__(self, other):
        return isinstance(other, Vec) and (self.a, self.b) == (other.a, other.b)

    def __hash__(self):
        return 7

    def __lt__(self, other):
        return self.a < (other.a if isinstance(other, Vec) else other)

    def __int__(self):
        return int(self.a * 4.0)

    def __format__(self, spec):
        return f"{spec}vec"
""",
    "Watched": """
class Clamped:
    def __set_name__(self, owner, name):
        self.place = "_" + name

    def __get__(self, item, owner=None):
        if item is None:
            return self
        return math.tanh(getattr(item, self.place))

    def __set__(self, item, value):
        setattr(item, self.place, value * item.gain)


class Meta(type):
    def __call__(cls, *args, **kwargs):
        made = super().__call__(*args, **kwargs)
        made.count = len(args)
        return made

    @property
    def unit(cls):
        return cls.gain * 0.5


class Watched(metaclass=Meta):
    gain = 0.75
    level = Clamped()
    __slots__ = ("_level", "count", "log", "__dict__")

    def __new__(cls, *args):
        made = super().__new__(cls)
        object.__setattr__(made, "log", [])
        return made

    def __init__(self, z, gain=None):
        if gain is not None:
            self.gain = gain
        self.level = z

    def __setattr__(self, name, value):
        if name in ("level", "extra"):
            self.log.append(value)
        super().__setattr__(name, value)

    def __delattr__(self, name):
        self.log.append(getattr(self, name) * 0.5)
        super().__delattr__(name)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return sum(self.log) * 0.25
""",
    "Shape": """
class Shape(abc.ABC):
    registry = {}

    def __init_subclass__(cls, name="", **more):
        super().__init_subclass__(**more)
        cls.registry[name] = cls

    def __init__(self, z, **more):
        self.z = z
        self.more = more

    @abc.abstractmethod
    def area(self): ...

    def describe(self):
        return self.area() + sum(self.more.values())

    @functools.cached_property
    def cost(self):
        LOG.append(self.z * 0.01)
        return self.area() * 0.5


class Scaled:
    def area(self):
        return super().area() * 0.5 + self.z


class Tagged:
    def __init__(self, *args, tag=0.5, **more):
        super().__init__(*args, **more)
        self.tag = tag

    def describe(self):
        return super().describe() * self.tag


class Disc(Shape, name="disc"):
    def area(self):
        return self.z * self.z


class Ring(Tagged, Scaled, Disc, name="ring"):
    def area(self):
        return super().area() - self.more.get("hole", 0.25)
""",
    "Record": """
@dataclass(order=True)
class Record:
    key: float
    items: list = dataclasses.field(default_factory=list, compare=False)
    scale: float = dataclasses.field(default=0.5, kw_only=True)

    def __post_init__(self):
        self.items.append(self.key * self.scale)

    @property
    def total(self):
        return sum(self.items) * self.scale


@dataclass(frozen=True)
class Fixed:
    u: float
    v: "Fixed | None" = None

    def weight(self):
        return self.u + (0.5 * self.v.weight() if self.v else 0.25)


@dataclass(slots=True)
class Entry(Record):
    z: float = 0.1
""",
}
NAMES = {"Shape": "(?:Shape|Disc|Ring)", "Record": "(?:Record|Fixed|Entry)"}


def operators(w: Writing) -> None:
    """An object with operators: vectors in expressions, in containers, in sums and orders."""
    v = lambda: w.value(0)
    known = w.named("v")
    vec = lambda: w.choose(known) if known and w.chance(60) else f"Vec({v()}, {v()})"
    form = w.choose(["make", "make", "change", "ask", "many", "match"])
    if form == "make":
        texts = [f"Vec({w.value(1)}, {v()})", f"{vec()} + {vec()}", f"{vec()} - {vec()}", f"{v()} - {vec()}"]
        texts += [f"{vec()} * {v()}", f"{v()} * {vec()}", f"-{vec()}", f"~{vec()}", f"{vec()} / {v()}"]
        texts += [f"{vec()} ** {w.integer()}", f"{vec()} % {v()}", f"round({vec()}, 1)", f"divmod({vec()}, {v()})[0]"]
        texts += [f"sum([{vec()}, {vec()}])", f"max({vec()}, {vec()})", f"sorted([{vec()}, {vec()}, {vec()}])[1]"]
        texts += [
            f"sum(({vec()} for _ in range(2)), {vec()})",
            f"copy.copy({vec()})",
            f"min({vec()} for _ in range(2))",
        ]
        w.let("v", w.choose(texts))
    elif form == "change" and known:
        a = w.choose(known)
        free = a not in w.frozen and not w.inner
        texts = [f"{a}[{w.choose(['0', '1'])}] = {w.value(1)}", f"{a}['b'] = {v()}", f"del {a}[0]", f"{a}.a += {v()}"]
        texts += [f"{a}[1] *= {v()}", f"{a}.a, {a}.b = {a}.b, {a}.a", f"{a}.a, {a}.b = {a}"]
        texts += [f"{a} -= {v()}", f"{a} @= {v()}", f"{a} += {vec()}"] * free
        w.line(w.choose(texts))
    elif form == "many":
        l = w.new("vs")
        w.line(f"{l} = [{vec()}, {vec()}, Vec({v()})]")
        changes = [f"{l}.sort()", f"{l}.reverse()", f"heapq.heapify({l})", f"{l}.append({l}[0] + {v()})"]
        changes += [f"{l}[:] = [a * {v()} for a in {l}]", f"{l}.remove({l}[1])", f"bisect.insort({l}, {vec()})"]
        w.line(w.choose(changes))
        asks = [f"sum(a.a for a in {l})", f"abs(sum({l}[1:], {l}[0]))", f"{l}.index({l}[1]) * {v()} + {l}[0].a"]
        asks += [
            f"({v()} if {vec()} in {l} else {l}[-1].b)",
            f"sum(a * b for a, b in zip({l}, {l}[1:]))",
            f"max({l}).b",
        ]
        asks += [f"functools.reduce(operator.add, {l}).a", f"sum(map(abs, {l}))", f"len({{*{l}}}) * {l}[0].a"]
        w.let("x", w.choose(asks))
    elif form == "match":
        x = w.new("x")
        subjects = [vec(), f"[{vec()}, {v()}, {v()}]", f"{{'v': {vec()}, 'w': {v()}}}", f"({w.integer()}, {v()})"]
        with w.block(f"match {w.choose(subjects)}:"):
            with w.block(f"case Vec({x}, b=y_) if y_ > {v()}:"):
                w.line(f"{x} = {x} * y_")
            with w.block(f"case Vec(a={x}):"):
                w.line("pass")
            with w.block("case [Vec(a=y_), *rest] if len(rest) > 1:"):
                w.line(f"{x} = y_ + sum(rest)")
            with w.block("case {'v': Vec() as whole, **more}:"):
                w.line(f"{x} = whole.a + more.get('w', {v()})")
            with w.block(f"case (0 | 1, {x}) | (_, {x}):"):
                w.line("pass")
            with w.block("case _:"):
                w.line(f"{x} = {v()}")
        w.bind(x)
    else:
        a = vec()
        texts = [
            f"abs({a})",
            f"{a} * {vec()}",
            f"{a} @ {vec()}",
            f"{a}[0]",
            f"{a}[-1]",
            f"int({a}) * {v()}",
            f"sum({a})",
        ]
        texts += [f"list({a})[1]", f"next(reversed({a}))", f"({v()} if {a} < {vec()} else {v()})", f"sum({a}[::-1])"]
        texts += [
            f"({v()} if {a} == {vec()} else {v()})",
            f"({v()} if {v()} in {a} else {v()})",
            f"divmod({a}, {v()})[1].b",
        ]
        texts += [
            f'len(f"""{{{a}:a}}""") * {v()}',
            f"(lambda a, b: a * b)(*{a})",
            f"{{{a}: {v()}}}[{a}]",
            f"{a}.a * len({a})",
        ]
        texts += [f"({v()} if {a} else 0.5)", f"dict(zip('ab', {a}))['b']", f"({v()} if {a} >= {vec()} else {v()})"]
        w.let("x", w.choose(texts))


def hooks(w: Writing) -> None:
    """Descriptors, `__setattr__`, `__getattr__`, `__new__`, a metaclass; abstract classes, cooperative methods, mixins."""
    v = lambda: w.value(0)
    if w.chance(50):
        a = w.new("watched")
        w.line(f"{a} = Watched({w.choose([v(), f'{v()}, {v()}'])})")
        for _ in range(2):
            w.line(
                w.choose(
                    [f"{a}.level = {w.value(1)}", f"{a}.level += {v()}", f"{a}.extra = {v()}", f"{a}.gain = {v()}"]
                )
            )
        if w.chance(30):
            with w.block("try:"):
                w.line(f"del {a}.extra")
            with w.block("except AttributeError:"):
                w.line(f"LOG.append({v()} * 0.1)")
        texts = [
            f"{a}.level",
            f"{a}.unknown * {v()}",
            f"sum({a}.log)",
            f"Watched.unit * {a}.count * {v()}",
            f"{a}.gain",
        ]
        w.let("x", w.choose([*texts, f"getattr({a}, '_missing', {v()})", f"{a}._level + {a}.level"]))
        return
    a = w.new("shape")
    classes = ["Disc", "Ring", "Shape.registry['ring']", "Shape.registry['disc']"]
    if w.chance(30):
        name = w.new("Shape")
        bases = w.choose(["Disc", "Ring", "Scaled, Disc", "Tagged, Disc"])
        with w.block(f"class {name}({bases}, name='own'):"), w.block("def area(self):"):
            w.line(f"return super().area() * 0.5 + {v()}")
        classes = [name, "Shape.registry['own']"]
    w.line(f"{a} = {w.choose(classes)}({v()}{w.choose(['', f', hole={v()}', f', side={v()}'])})")
    w.line(w.choose([f"{a}.z += {v()}", f"{a}.more['hole'] = {v()}", f"{a}.more |= dict(side={v()})"]))
    texts = [f"{a}.area()", f"{a}.describe()", f"{a}.cost + {a}.cost", f"{a}.cost * {v()}"]
    w.let("x", w.choose([*texts, f"sum(c({v()}).area() for c in (Disc, Ring))"]))


def records(w: Writing) -> None:
    """Dataclasses: made, replaced, compared, taken apart."""
    v = lambda: w.value(0)
    known = w.named("p")
    if not known or w.chance(40):
        texts = [f"Record({w.value(1)})", f"Record({v()}, [{v()}], scale={v()})", f"Entry({v()}, z={v()})"]
        texts += [f"dataclasses.replace({p}, key={v()})" for p in known[:1]]
        texts += [f"copy.deepcopy({p})" for p in known[:1]] + [f"copy.copy({p})" for p in known[:1]]
        w.let("p", w.choose(texts))
        known = w.named("p")
    p = w.choose(known)
    w.line(
        w.choose(
            [f"{p}.key = {w.value(1)}", f"{p}.items.append({v()})", f"{p}.scale *= {v()}", f"{p}.items[0] += {v()}"]
        )
    )
    texts = [
        f"{p}.total",
        f"{p}.key",
        f"max({p}, type({p})({v()}, scale=0.5)).key",
        f"sum(dataclasses.asdict({p})['items'])",
    ]
    texts += [f"dataclasses.astuple({p})[0]", f"sorted([{p}, type({p})({v()})])[0].total", f"sum({p}.items)"]
    texts += [f"Fixed({v()}, Fixed({v()})).weight()", f"dataclasses.replace(Fixed({v()}), u={v()}).weight()"]
    texts += [f"({v()} if {p} == {w.choose(known)} else {v()})", f"({v()} if {p} <= type({p})({v()}) else {v()})"]
    texts += [f"sum(getattr({p}, f.name) for f in dataclasses.fields({p}) if f.name != 'items')"]
    w.let("x", w.choose(texts))


STATEMENTS: tuple[Callable[[Writing], None], ...] = (operators, operators, hooks, records)
