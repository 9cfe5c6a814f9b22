"""Plain classes, dataclasses and named tuples in compiled code: made inside, passed in, changed, returned."""

import functools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import pytest

import zyg
from zyg.fallback import python_pullback

from ..turns import each_in_turn
from .agreement import agree

pytestmark = each_in_turn


class Point:
    origin = 0.0

    def __init__(self, x, y=0.0):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Point(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __iadd__(self, other):
        self.x += other.x
        self.y += other.y
        return self

    def __neg__(self):
        return Point(-self.x, -self.y)

    def __eq__(self, other):
        return isinstance(other, Point) and self.x == other.x and self.y == other.y

    __hash__ = None

    def __lt__(self, other):
        return self.dist() < other.dist()

    def __bool__(self):
        return self.x != 0

    def __float__(self):
        return self.x * 1.0

    def __call__(self, t, *, k=1.0):
        return self.x * t * k + self.y

    def __getitem__(self, i):
        return (self.x, self.y)[i]

    def __len__(self):
        return 2

    def __iter__(self):
        return iter((self.x, self.y))

    def __contains__(self, v):
        return v == self.x

    def __abs__(self):
        return self.dist()

    @property
    def square(self):
        return self.x**2 + self.y**2

    @property
    def scale(self):
        return self._scale

    @scale.setter
    def scale(self, v):
        self._scale = v
        self.x *= v

    @classmethod
    def unit(cls, angle):
        return cls(math.cos(angle), math.sin(angle))

    @staticmethod
    def twice(a):
        return a * 2

    def dist(self):
        return math.sqrt(self.x**2 + self.y**2)

    def moved(self, dx):
        self.x = self.x + dx
        return self


class Space(Point):
    def __init__(self, x, y, z):
        super().__init__(x, y)
        self.z = z

    def dist(self):
        return math.sqrt(super().dist() ** 2 + self.z**2)

    def __add__(self, other):
        return Space(self.x + other.x, self.y + other.y, self.z + getattr(other, "z", 0.0))


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a = a
        self.b = b

    def value(self):
        return self.a * self.b


T = TypeVar("T")


class Box(Generic[T]):
    def __init__(self, content: T):
        self.content = content


@dataclass
class Plain:
    x: float
    y: float = 2.0
    tags: list = field(default_factory=list)


@dataclass
class Derived(Plain):
    z: float = 1.0

    def total(self):
        return self.x + self.y * self.z


@dataclass(frozen=True)
class Frozen:
    x: float
    y: float = 1.0

    def __post_init__(self):
        object.__setattr__(self, "z", self.x * self.y)


@dataclass(order=True)
class Ordered:
    x: float
    y: float = 1.0


class Named(NamedTuple):
    x: float
    y: float = 2.0


@dataclass
class Neuron:
    w: float
    b: float

    def __call__(self, x):
        return math.tanh(self.w * x + self.b)


class Layer:
    def __init__(self, w, b, activation):
        self.w = w
        self.b = b
        self.activation = activation

    def __call__(self, x):
        return self.activation(self.w * x + self.b)


class Network:
    def __init__(self, layers):
        self.layers = layers

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Counter:
    def __init__(self):
        self.n = 0
        self.seen = []

    def add(self, v):
        self.n += 1
        self.seen.append(v)
        return v


class Node:
    def __init__(self, value, following=None):
        self.value = value
        self.following = following


class Lazy:
    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        return self.x * len(name)


GLOBAL = Point(3.0, 4.0)
MODEL = Neuron(0.3, 0.1)


def linked(x):
    node = Node(3 * x, Node(2 * x, Node(x)))
    s = 0.0
    while node is not None:
        s += node.value * node.value
        node = node.following
    return s


def counted(x):
    c = Counter()
    for i in range(4):
        c.add(x * i)
    return sum(c.seen) * c.n


def counted_outside(c, x):
    for i in range(4):
        c.add(x * i)
    return c.n * x


def conditional_attribute(x, c):
    n = Node(x)
    if c:
        n.extra = x * x
    return n.extra if hasattr(n, "extra") else getattr(n, "extra", 5.0) * x


def missing_on_one_path(x, c):
    n = Node(x)
    if c:
        n.extra = x * x
    return n.extra


@pytest.mark.parametrize(
    "function, args",
    [
        (lambda x: (Point(x, 2 * x) + Point(1.0, x)).dist(), (1.5,)),
        (lambda x: Point(x, 1.0).moved(2.0).x + Point.origin, (1.5,)),
        (lambda x: (2 * Point(x, 1.0)).square, (1.5,)),
        (lambda x: Point.unit(x).y * Point.twice(x), (0.5,)),
        (lambda p, q: (p + q)(2.0, k=3.0), (Point(1.0, 2.0), Point(3.0, 4.0))),
        (lambda p: p[0] * p[1] + len(p) + sum(p) + (1.0 in p) + float(p) + abs(p), (Point(1.0, 2.0),)),
        (lambda p: 1.0 if p else 2.0, (Point(0.0, 2.0),)),
        (lambda p: Space(p.x, p.y, 3.0).dist(), (Point(1.0, 2.0),)),
        (lambda p, q: (p + q).dist(), (Space(1.0, 2.0, 3.0), Point(1.0, 2.0))),
        (lambda s: s.value() * s.a, (Slots(2.0, 3.0),)),
        (lambda b: b.content.x * Box(b).content.content.y, (Box(Point(2.0, 3.0)),)),
        (lambda x: Plain(x).x * Plain(x, 3.0).y, (2.0,)),
        (lambda d: d.total() * Derived(d.x, z=3.0).total(), (Derived(2.0, 3.0),)),
        (lambda x: Frozen(x).z * Frozen(x, x).z, (2.0,)),
        (lambda f: f.z * f.x, (Frozen(2.0, 3.0),)),
        (lambda m, x: m(x), (Neuron(0.5, 0.1), 2.0)),
        (lambda n, x: n(x), (Network([Layer(0.5, 0.1, math.tanh), Layer(2.0, 0.3, math.sin)]), 2.0)),
        (lambda x: GLOBAL.x * x + GLOBAL.dist(), (2.0,)),
        (lambda x: MODEL(x) * x, (2.0,)),
        (linked, (2.0,)),
        (counted, (2.0,)),
        (counted_outside, (Counter(), 2.0)),
        (conditional_attribute, (1.5, True)),
        (conditional_attribute, (1.5, False)),
        (lambda x: Lazy(x).ab + Lazy(x).x, (1.5,)),
    ],
)
def test_objects(function, args):
    agree(function, *args)


@pytest.mark.parametrize(
    "function, args",
    [
        (lambda p, q: (p == q, p != q, p < q, p > q, -p == q, p == 3), (Point(1.0, 2.0), Point(1.0, 2.0))),
        (lambda x: (Ordered(x) < Ordered(x, 2.0), Ordered(x) >= Ordered(1.0), max(Ordered(x), Ordered(3.0)).x), (2.0,)),
        (lambda x: (Named(x) == (2.0, 2.0), Named(x) == (2.0, 2.0), Named(x) < (2.0, 3.0)), (2.0,)),
        (lambda x: (Named(x) + Named(x), Named(x) * 2, Named(x)._replace(y=x), Named(x)._asdict()), (2.0,)),
        (lambda x: (Plain(x) == Plain(x), Plain(x) == Plain(x, 3.0), Plain(x) in (Plain(x),)), (2.0,)),
        (lambda p: p.nothing, (Plain(1.0),)),
        (lambda p: Point(), (Point(1.0),)),
        (lambda p: p.square(3), (Point(1.0),)),
        (lambda p: isinstance(p, Point) + 2 * isinstance(p, Space), (Space(1.0, 2.0, 3.0),)),
        (lambda p: type(p)(p.x, 1.0), (Point(1.0),)),
        (lambda p: (p is p, Point(p.x) is p, Point(p.x) == p), (Point(1.0),)),
        (lambda x: Counter(), (1.0,)),
        (missing_on_one_path, (1.5, True)),
        (missing_on_one_path, (1.5, False)),
    ],
)
def test_values(function, args):
    agree(function, *args, gradient=False)


def swap_in_a_loop(p, q, n):
    a, b = p, q
    for _ in range(n):
        a, b = b, a
        a.x = a.x * 1.1 + b.y
    r = p if n > 2 else q
    r.y += 1
    return p.x + q.x + r.y


def best_of(points):
    best = None
    for p in points:
        if best is None or p.x > best.x:
            best = p
    best.y = 7.0
    return best.x * best.y


def add_in_place(p, x):
    q = p
    q += Point(x, x)
    return q.x * p.y


def set_property(p, x):
    p.scale = x
    return p.scale * p.x


def exchange(p, q):
    p.x, q.x = q.x, p.x
    return p.x


def delete(p):
    del p.y
    return p.x


def chain(p):
    p.following.following = p
    return p.following.following.value


def shares(x):
    a = Node(x)
    b = Node(a)
    a.value = 2 * x
    c = b.value
    c.value *= 3
    return a.value


def one_of(x, n):
    a, b, c = Point(x), Point(2 * x), Point(3 * x)
    kept = (a, b, c)
    for i in range(n):
        p = a if i % 2 else b
        q = c if i % 3 else p
        q.x += p.x
    return sum(p.x for p in kept)


def object_in_a_tuple(x):
    p = Point(x)
    pair = (p, p)
    pair[0].x = 5 * x
    return pair[1].x


@pytest.mark.parametrize(
    "function, args",
    [
        (swap_in_a_loop, (Point(1.0, 2.0), Point(3.0, 4.0), 3)),
        (swap_in_a_loop, (Point(1.0, 2.0), Point(3.0, 4.0), 2)),
        (best_of, ((Point(1.0, 2.0), Point(5.0, 1.0), Point(2.0, 2.0)),)),
        (best_of, ([Point(1.0, 2.0), Point(5.0, 1.0), Point(2.0, 2.0)],)),
        (add_in_place, (Point(1.0, 2.0), 3.0)),
        (set_property, (Point(1.0, 2.0), 3.0)),
        (exchange, (Point(1.0, 2.0), Point(5.0, 6.0))),
        (delete, (Point(1.0, 2.0),)),
        (chain, (Node(2.0, Node(3.0)),)),
        (shares, (2.0,)),
        (one_of, (2.0, 7)),
        (object_in_a_tuple, (2.0,)),
    ],
)
def test_aliasing_and_mutation(function, args):
    agree(function, *args)


def test_an_object_passed_twice_is_one_object():
    def change(p, q):
        p.x = 10.0
        return q.x

    p = Point(1.0, 2.0)
    compiled = zyg.jit(change)
    assert compiled(p, p) == 10.0
    assert compiled(p, Point(3.0, 4.0)) == 3.0
    assert compiled(p, p) == 10.0
    same = zyg.jit(lambda p, q: p is q)
    assert same(p, p) and not same(p, Point(1.0))


def test_results_keep_their_identity():
    def give(p):
        q = Point(1.0)
        return p, q, q, {"p": p}

    p = Point(1.0, 2.0)
    a, b, c, d = zyg.jit(give)(p)
    assert a is p and b is c and b is not p and d["p"] is p


def test_row_19_and_20():
    assert zyg.gradient(lambda a: a.x, Point(1, 2)) == ((1.0, None),)
    (g,) = zyg.gradient(lambda a: a.x, Point(1, 2))
    assert g.x == 1.0 and g.y is None
    assert zyg.gradient(lambda a: a.dist(), Point(1, 2)) == ((0.4472135954999579, 0.8944271909999159),)


def test_row_9_gradient_of_a_callable_object_and_of_a_closure():
    def make(a, b):
        return lambda x: a * x + b

    call = lambda f, x: f(x)
    f, x = zyg.gradient(call, make(2.0, 3.0), 5.0)
    assert f.a == 5.0 and f.b == 1.0 and x == 2.0
    m, x = zyg.gradient(call, Neuron(0.5, 0.1), 2.0)
    slope = 1 - math.tanh(1.1) ** 2
    assert m.w == pytest.approx(2 * slope) and m.b == pytest.approx(slope) and x == pytest.approx(0.5 * slope)
    assert zyg.gradient(Neuron(0.5, 0.1), 2.0)[0] == pytest.approx(0.5 * slope)


class Setting:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)


class Deleting:
    def __del__(self):
        pass


class Meta(type):
    pass


class WithMeta(metaclass=Meta):
    pass


class Cached:
    @functools.cached_property
    def value(self):
        return 3.0


class OfDict(dict):
    pass


@pytest.mark.parametrize(
    "function, words",
    [
        (lambda x: Setting(), "__setattr__"),
        (lambda x: Deleting(), "__del__"),
        (lambda x: WithMeta(), "WithMeta"),
        (lambda x: Cached().value, "value"),
        (lambda x: OfDict(), "OfDict"),
        (lambda x: setattr(GLOBAL, "x", x), "global"),
        (lambda x: repr(Point(x)) + 1, "Point"),
    ],
)
def test_refused(function, words):
    with pytest.raises((zyg.Unsupported, TypeError), match=words):
        zyg.jit(function)(1.0)


def test_unknown_functions_do_not_get_mutable_objects():
    seen = []

    def keep(p):
        return seen.append(p)

    with pytest.raises(zyg.Unsupported, match="might change or keep"):
        zyg.jit(lambda p: np.save(p) or p.x)(Point(1.0))
    del keep


def test_attributes_that_compiled_code_does_not_know_are_errors_only_where_used():
    p = Point(1.0, 2.0)
    p.log = object()
    assert zyg.jit(lambda p: p.x * p.y)(p) == 2.0
    with pytest.raises(zyg.Unsupported, match="object"):
        zyg.jit(lambda p: p.log)(p)


def test_an_instance_attribute_that_hides_a_method_is_seen():
    compiled = zyg.jit(lambda p: p.dist())
    p = Point(3.0, 4.0)
    assert compiled(p) == 5.0
    p.dist = lambda: 7.0
    assert compiled(p) == 7.0


def test_a_changed_method_is_seen():
    class Changing:
        def __init__(self, x):
            self.x = x

        def value(self):
            return self.x

    compiled = zyg.jit(lambda x: Changing(x).value())
    assert compiled(1.0) == 1.0
    Changing.value = lambda self: self.x * 10
    assert compiled(1.0) == 10.0


def test_pullbacks_of_objects():
    y, back = zyg.pullback(lambda p: p + p, Point(1.0, 2.0))
    assert (y.x, y.y) == (2.0, 4.0)
    assert back((1.0, 2.0)) == ((2.0, 4.0),)
    assert back(Point(1.0, None)) == ((2.0, 0.0),)
    y, back = zyg.pullback(lambda d: {"s": d["a"] * d["b"], "t": d["a"]}, {"a": 2.0, "b": 3.0})
    assert y == {"s": 6.0, "t": 2.0}
    assert back({"s": 1.0, "t": 10.0}) == ({"a": 13.0, "b": 2.0},)
    y, back = zyg.pullback(lambda v: [a * a for a in v], [1.0, 2.0, 3.0])
    assert y == [1.0, 4.0, 9.0]
    assert back([1.0, 10.0, 100.0]) == ([2.0, 40.0, 600.0],)


def test_row_21_a_rule_for_a_plain_constructor_and_for_a_getter():
    class Position:
        def __init__(self, x, y):
            self.x = x
            self.y = y

    def size(p):
        return math.sqrt(p.x**2 + p.y**2)

    def first(p):
        return p.x

    f = lambda x: size(Position(x, 1))
    assert zyg.gradient(f, 1.0) == (0.7071067811865475,)

    @zyg.adjoint(Position)
    def _(x, y):
        return Position(x, y), lambda p: (10 * p.x, p.y)

    assert zyg.gradient(f, 1.0) == pytest.approx((7.071067811865475,))
    assert zyg.gradient(lambda p: first(p) * p.y, Position(2.0, 3.0)) == ((3.0, 2.0),)

    @zyg.adjoint(first)
    def _(p):
        return p.x, lambda d: (Position(2 * d, None),)

    assert zyg.gradient(lambda p: first(p) * p.y, Position(2.0, 3.0)) == ((6.0, 2.0),)


class Shape(ABC):
    def __init__(self, x):
        self.x = x

    @abstractmethod
    def area(self): ...

    def twice(self):
        return 2.0 * self.x


class Square(Shape):
    def area(self):
        return self.x**2


class Unfinished(Square):
    area = abstractmethod(lambda self: 0.0)


@pytest.mark.parametrize("cls", [Shape, Unfinished])
def test_abstract_classes_have_no_instances(cls):
    with pytest.raises(TypeError) as expected:
        cls(1.0)
    for run in (lambda f: zyg.jit(f)(1.0), lambda f: zyg.gradient(f, 1.0)):
        with pytest.raises(TypeError) as found:
            run(lambda x: cls(x).twice())
        assert str(found.value) == str(expected.value)
    assert zyg.gradient(lambda x: Square(x).area() + Square(x).twice(), 3.0) == (8.0,)


def test_stop_gradient_of_objects_and_lists():
    assert zyg.gradient(lambda p: zyg.stop_gradient(p).x * p.y, Point(2.0, 3.0)) == ((None, 2.0),)
    assert zyg.gradient(lambda v: zyg.stop_gradient(v)[0] * v[1], [2.0, 3.0]) == ([0.0, 2.0],)


def test_derivatives_of_derivatives_by_objects():
    inner = lambda q: q.x**3 * q.y
    assert zyg.gradient(lambda p: zyg.gradient(inner, p)[0].x, Point(2.0, 3.0)) == ((36.0, 12.0),)
    cubed = lambda v: v[0] ** 3 * v[1]
    assert zyg.gradient(lambda v: zyg.gradient(cubed, v)[0][0], [2.0, 3.0]) == ([36.0, 12.0],)


def test_a_bound_method():
    assert zyg.gradient(Point(2.0, 3.0).__call__, 5.0) == (2.0,)


def test_objects_cost_nothing():
    def scalars(x, y):
        return math.sqrt((x + 1.0) ** 2 + (y + 2 * x) ** 2)

    def objects(x, y):
        return (Point(x, y) + Point(1.0, 2 * x)).dist()

    def dicts(x, y):
        d, e = {"x": x, "y": y}, {"x": 1.0, "y": 2 * x}
        d["x"] += e["x"]
        d["y"] += e["y"]
        return math.sqrt(d["x"] ** 2 + d["y"] ** 2)

    code = lambda f: str(zyg.code_llvm(zyg.grad(f, (0, 1)), 1.0, 2.0)).splitlines()
    size = lambda f: sum(" = " in line for line in code(f) if not line.strip().startswith(";"))
    assert size(scalars) == size(objects) == size(dicts)
    for f in (objects, dicts):
        text = str(zyg.code_llvm(zyg.grad(f, (0, 1)), 1.0, 2.0))
        assert " load " not in text and " store " not in text and "call" not in text.replace("call double @llvm.", "")


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    @property
    def norm(self):
        return math.sqrt(self.x**2 + self.y**2)


class Body:
    def __init__(self, mass, position, velocity):
        self.mass = mass
        self.position = position
        self.velocity = velocity


class System:
    def __init__(self, bodies):
        self.bodies = bodies

    def step(self, dt):
        for b in self.bodies:
            force = Vector(0.0, 0.0)
            for c in self.bodies:
                if c is not b:
                    d = c.position - b.position
                    force = force + d * (c.mass / d.norm**3)
            b.velocity = b.velocity + force * dt
        for b in self.bodies:
            b.position = b.position + b.velocity * dt


def simulate(system, n, dt):
    for _ in range(n):
        system.step(dt)
    return system.bodies[0].position.x * system.bodies[1].velocity.y


@pytest.mark.parametrize("n", [0, 5])
def test_objects_of_objects_replaced_in_a_loop(n):
    bodies = [Body(1.0, Vector(0.0, 0.1), Vector(0.0, 0.1)), Body(0.1, Vector(1.0, 0.0), Vector(0.0, 1.0))]
    agree(simulate, System(bodies), n, 0.01)


def test_one_of_several_kinds_as_a_result():
    agree(lambda x: "up" if x > 0 else "down", 1.0, gradient=False)
    agree(lambda p, x: p if x > 0 else Point(x), Point(1.0), 1.0, gradient=False)
    agree(lambda p, x: p if x > 0 else Point(x), Point(1.0), -1.0, gradient=False)


def fitted(parameters, data, n):
    def loss(p, data):
        return sum((math.tanh(sum(w * v for w, v in zip(p["w"], x)) + p["b"]) - y) ** 2 for x, y in data)

    for _ in range(n):
        g = zyg.gradient(loss, parameters, data)[0]
        w = [w - 0.1 * d for w, d in zip(parameters["w"], g["w"])]
        parameters = {"w": w, "b": parameters["b"] - 0.1 * g["b"]}
    return parameters


def test_fitting_parameters_in_a_dict():
    data = [((1.0, 2.0), 0.5), ((0.0, 1.0), -0.2), ((2.0, -1.0), 0.9)]
    start = {"w": [0.5, -0.3], "b": 0.1}
    inside, outside = zyg.jit(fitted)(start, data, 20), fitted(start, data, 20)
    assert inside["w"] == pytest.approx(outside["w"]) and inside["b"] == pytest.approx(outside["b"])
    assert start == {"w": [0.5, -0.3], "b": 0.1}


class Weight:
    def __init__(self, kilograms):
        self.kilograms = kilograms

    def __lt__(self, other):
        return self.kilograms < other.kilograms

    def __eq__(self, other):
        return self.kilograms == other.kilograms

    __hash__ = None


def test_one_of_several_objects_is_compared_by_its_methods():
    """Which object it is, is known only when the code runs."""

    def f(x):
        weights = [Weight(x), Weight(2.0), Weight(x * x)]
        least, most = min(weights), max(weights)
        return most.kilograms * x + (1.0 if least == Weight(2.0) else 0.0) + (10.0 if most != Weight(x * x) else 0.0)

    compiled = zyg.jit(zyg.value_and_grad(f))
    for x, slope in ((3.0, 27.0), (1.5, 6.75), (0.5, 2.0)):
        assert compiled(x) == (f(x), pytest.approx(slope))


class Near:
    def __init__(self, value, tolerance):
        self.value = value
        self.tolerance = tolerance

    def __eq__(self, other):
        return abs(self.value - other.value) < self.tolerance

    __hash__ = None


class Unequal:
    """Not even to itself, if it is asked."""

    def __init__(self, value):
        self.value = value
        self.asked = 0.0

    def __eq__(self, other):
        self.asked += 1.0
        return False

    __hash__ = None


def test_containers_ask_their_own_item():
    near = lambda x: x * 2 if Near(x, 0.1) in [Near(x + 1, 5.0)] else x
    far = lambda x: x * 2 if Near(x, 5.0) in (Near(x + 1, 0.1),) else x
    for f in (near, far):
        agree(f, 1.3)


def test_an_object_in_a_container_is_equal_to_itself():
    def f(x):
        a, b = Unequal(x), Unequal(1.0)
        s = x if a in [b, a] and a not in [b] and a in (a, b) else 0.0
        s += 10.0 * [a, b, a].count(a) + 100.0 * [b, a].index(a) + 1000.0 * (b, a).index(a)
        s += x * x if [a, b] == [a, b] and (a, 1) == (a, 1) and (a, b) != (b, a) else 0.0
        return s + a.asked * x + 3 * b.asked

    agree(f, 1.3)


class Counted:
    def __init__(self, x):
        self.x = x
        self.asked = 1.0

    def __len__(self):
        self.asked *= 2.0
        return 2

    def __iter__(self):
        self.asked += 3.0
        return iter((self.x, self.x * self.asked))


def test_what_is_put_into_a_list_is_asked_for_its_length():
    def f(x):
        a = Counted(x)
        items = list(a)
        items += a
        items.extend(a)
        return sum(items) + sum(sorted(a)) + sum(a) + a.asked * x

    agree(f, 1.3)


class Residue:
    def __init__(self, value):
        self.value = value

    def __pow__(self, exponent, modulus=None):
        return self.value**exponent if modulus is None else self.value * exponent * modulus

    def __round__(self, digits=-1):
        return self.value * digits


class Rounded:
    def __init__(self, value):
        self.value = value

    def __round__(self):
        return self.value


def test_pow_and_round_of_objects():
    agree(lambda x: pow(Residue(x), 2, 3) + pow(Residue(x), 2) + round(Residue(x)) + round(Residue(x), 4), 1.3)
    agree(lambda x: round(Rounded(x)) * 2.0, 1.3)
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        zyg.jit(lambda x: round(Rounded(x), 1))(1.3)


class Deferred:
    __array_ufunc__ = None  # NumPy leaves operators to the methods here

    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return Deferred(self.v + 2 * other)

    def __radd__(self, other):
        return Deferred(other + self.v)

    def __rmatmul__(self, other):
        return Deferred(self.v * np.sum(other))


class Asked:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return Asked(self.v + 3 * other)

    def __radd__(self, other):
        return Asked(self.v + 5 * other)


def test_operators_on_an_array_and_an_object():
    a = np.array([1.0, 2.0, 3.0])
    f = lambda x: np.sum((a + Deferred(x)).v + (Deferred(x) + a).v + (Asked(x) + a).v) + np.sum((a @ Deferred(x)).v * x)
    x = np.array([0.5, -1.0, 2.0])
    assert zyg.jit(f)(x) == f(x)
    np.testing.assert_allclose(zyg.gradient(f, x)[0], 3.0 + 12.0 * x)
    g = lambda x: (a + Asked(x[0]))[1].v  # an array of objects
    with pytest.raises(zyg.Unsupported, match="passes elements"):
        zyg.jit(g)(x)


class Behind:
    def __init__(self, v):
        self.v = v

    def __radd__(self, other):
        return self.v * other if type(other) is float else 100.0 * self.v

    def __gt__(self, other):
        return self.v * other if type(other) is float else self.v


class ManyBehind(Behind):
    def __len__(self):
        return 2

    def __getitem__(self, k):
        return [self.v, 1.0][k]


def test_a_numpy_number_in_front_of_an_object():
    """NumPy makes an array of the object, and has Python's numbers for its items."""
    f = lambda a, x: (a[0] + Behind(x)) * x - (a[1] < Behind(x))
    a = np.array([1.5, -2.0])
    for run in (zyg.jit(f), lambda a, x: python_pullback(f, (a, x), {})[0]):
        assert run(a, 0.7) == f(a, 0.7)
    by_a, by_x = python_pullback(lambda a, x: (a[0] + Behind(x)) * x, (a, 0.7), {})[1](1.0)
    assert [*by_a, by_x] == pytest.approx([0.49, 0.0, 2.1])
    wide = lambda x: (np.longdouble(2.0) + Behind(x)) * x  # there is no Python number for it
    assert python_pullback(wide, (0.7,), {})[1](1.0) == pytest.approx((140.0,))
    with pytest.raises(zyg.Unsupported, match="NumPy makes an array of its items"):
        zyg.jit(lambda a: (a[0] + ManyBehind(2.0))[0])(a)


class State(NamedTuple):
    v: float
    e: float = 0.0
    function: float = 1.0


def named_like_parameters(x, e=1.0, v=2.0, function=3.0, bound=4.0):
    return x * e * v * function * bound


@pytest.mark.parametrize(
    "f",
    [
        lambda x: State(x)._replace(v=x * x, e=x, function=2.0).v * State(x)._replace(e=x).e,
        lambda x: functools.partial(named_like_parameters, function=x, bound=x, e=x, v=1.0)(x),
        lambda x: functools.partial(named_like_parameters, x)(bound=x, function=x, e=1.0),
        lambda x: zyg.gradient(named_like_parameters, x, e=x, v=x)[0],
    ],
)
def test_any_names_of_fields_and_parameters(f):
    assert zyg.jit(f)(1.5) == f(1.5)
    assert zyg.gradient(f, 1.5)[0] == pytest.approx((f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6, rel=1e-6)


class Gathering:
    def __init__(self, u):
        self.u = u
        self.v = 0.5

    def __iadd__(self, other):
        self.v = self.v + other
        return self

    def __imul__(self, other):
        self.u = self.u * np.sum(other)
        return self

    def __radd__(self, other):
        return np.sum(self.v) * len(other)

    def __iter__(self):
        yield self.u


def test_in_place_operators_of_objects_on_what_numpy_gives():
    """They went to `__add__` and `__mul__`, which may not be there."""

    def f(x):
        o = Gathering(x[1])
        o += np.sum(x)
        o *= x
        o += x * x[0]
        items = [x[0]]
        items += o  # a list is not asked
        return np.sum(o.u * o.v) + items

    x = np.array([0.5, 1.5])
    assert zyg.jit(f)(x) == f(x) == 24.0
    np.testing.assert_allclose(zyg.gradient(f, x)[0], [27.0, 31.0])  # by the complex step


class Unsure:
    """Its comparisons do not know, and change what it holds."""

    def __init__(self, box, by):
        self.box, self.by = box, by

    def __eq__(self, other):
        self.box[0] = self.box[0] * self.by
        return NotImplemented


class UnsureToo(Unsure):
    pass


class UnsureOfBoth(Unsure):
    def __ne__(self, other):
        self.box[0] = self.box[0] * 7.0
        return NotImplemented


EQUALITIES = [
    lambda b: Unsure(b, 2.0) == Unsure(b, 5.0),
    lambda b: Unsure(b, 2.0) != Unsure(b, 5.0),
    lambda b: Unsure(b, 2.0) == UnsureToo(b, 5.0),
    lambda b: Unsure(b, 2.0) == 1,
    lambda b: Unsure(b, 3.0) != 1,
    lambda b: UnsureOfBoth(b, 2.0) != Unsure(b, 5.0),
    lambda b: Unsure(b, 2.0) != UnsureOfBoth(b, 5.0),
    lambda b: UnsureOfBoth(b, 2.0) == UnsureOfBoth(b, 5.0),
]


@pytest.mark.parametrize("number", range(len(EQUALITIES)))
def test_methods_that_do_not_know_are_asked_once(number):
    """(`==` asked them twice)"""
    compare = EQUALITIES[number]

    def f(x):
        box = [x]
        return (2.0 if compare(box) else 1.0) * box[0]

    expected = f(1.0)
    assert zyg.jit(f)(1.0) == expected
    assert zyg.withgradient(f, 1.0) == (expected, (expected,))


class Lesser:
    def __init__(self, v):
        self.v = v

    def __lt__(self, other):
        return self.v * 2.0

    def __gt__(self, other):
        return self.v * 3.0


class LesserStill(Lesser):
    pass


def test_of_comparisons_what_is_derived_is_asked_first():
    """(only if it had a method of its own)"""
    f = lambda x: (Lesser(x) < LesserStill(x * x)) * 1.0
    assert zyg.jit(f)(2.0) == f(2.0) == 12.0
    assert zyg.gradient(f, 2.0) == (12.0,)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_a_list_that_is_looked_at_while_it_is_sorted():
    def f(x):
        xs, seen = [3.0 * x, x, 2.0 * x], []
        xs.sort(key=lambda v: seen.append(len(xs)) or v)
        return xs[0] + sum(seen)

    with pytest.raises(zyg.Unsupported, match="looked at while it is sorted"):
        zyg.jit(f)(2.0)
    assert zyg.withgradient(f, 2.0) == (f(2.0), (1.0,))
