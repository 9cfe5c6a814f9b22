"""Special methods that do not know an answer, give what is none, or are None: what has been called by then is undone as it was done."""

import operator
from collections import defaultdict

import numpy as np
import pytest

import zyg
from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn


class Counting:
    """Its methods change it."""

    def __init__(self, v):
        self.v, self.n = v, 1.0

    def touch(self, y=NotImplemented):
        self.n *= self.v
        return y

    def __add__(self, other):
        return self.touch()

    __radd__ = __iadd__ = __mul__ = __rmul__ = __divmod__ = __pow__ = __add__


class Knowing(Counting):
    def __radd__(self, other):
        return self.touch(self.v * self.n)

    __rmul__ = __rpow__ = __radd__

    def __rdivmod__(self, other):
        return self.touch((self.v, self.n))


class Raising(Counting):
    def __radd__(self, other):
        self.touch()
        raise TypeError(self.v * self.n)

    __rmul__ = __rpow__ = __rdivmod__ = __radd__


def in_place(a, b):
    a += b
    return a


OPERATORS = [
    operator.add, operator.mul, operator.pow, in_place, lambda a, b: divmod(a, b)[0], lambda a, b: a + 3.0, lambda a, b: 3.0 + b,
    lambda a, b: operator.add([1.0], b), lambda a, b: operator.add(a, [1.0]), lambda a, b: operator.add((1.0,), b), lambda a, b: "a" + b, lambda a, b: a * None,
]  # fmt: skip


def by_operators(x):
    """Each place comes to each pair of classes several times: what is remembered of them is used."""
    total = x
    for operate in OPERATORS:
        for _ in range(2):
            for first in (Counting, Knowing, Raising):
                for second in (Counting, Knowing, Raising):
                    a, b = first(x), second(1.1 * x)
                    try:
                        total += operate(a, b)
                    except TypeError as error:
                        total += error.args[0] if type(error.args[0]) is float else 0.1 * x
                    total += a.n * b.n
    return total


class Answering(Counting):
    def __init__(self, v, answer):
        super().__init__(v)
        self.answer = answer


class True_(Answering):
    def __bool__(self):
        return self.touch(self.answer)


class Long(Answering):
    def __len__(self):
        return self.touch(self.answer)


class Text(Answering):
    def __str__(self):
        return self.touch(self.answer)

    def __format__(self, spec):
        return self.touch(self.answer)


ASKING = [
    lambda a: 1.0 if a else 2.0, lambda a: 1.0 if not a else 2.0, lambda a: a and 1.0, lambda a: 1.0 + bool(a), lambda a: 2.0 + (not a),
    lambda a: operator.truth(a) + 1.0,
]  # fmt: skip


def by_answers(x):
    total = x
    for cls, asking, answers in [
        (True_, ASKING, [True, 3, None]),
        (Long, [*ASKING, lambda a: 1.0 * len(a)], [2, -1, "a"]),
        (Text, [lambda a: 1.0 * len(str(a)), lambda a: 1.0 * len(f"{a}")], ["ab", 1.0]),
    ]:
        for ask in asking:
            for answer in answers:
                a = cls(x, answer)
                try:
                    found = ask(a)
                    total += found * x if type(found) is float else x
                except (TypeError, ValueError):
                    total += 0.1 * x
                total += a.n
    return total


class Whole(Counting):
    def __bool__(self):
        return self.touch(True)

    def __len__(self):
        return self.touch(3)

    def __getitem__(self, key):
        self.touch()
        if key == 2:
            raise IndexError
        return self.v * key

    def __contains__(self, item):
        return self.touch(True)

    def __iter__(self):
        return self.touch(iter([self.v, self.n]))

    def __reversed__(self):
        return self.touch(iter([self.n, self.v]))

    def __add__(self, other):
        return self.touch(self.v)

    __radd__ = __iadd__ = __add__

    def __neg__(self):
        return self.v

    def __enter__(self):
        self.touch()

    def __exit__(self, *error):
        self.touch()

    def __setitem__(self, key, value):
        self.touch()

    __delitem__ = __setitem__


def managed(a):
    with a:
        return a.v


ASKED = {
    "__add__": [lambda a: a + Whole(a.v)], "__radd__": [lambda a: Counting(a.v) + a, lambda a: 1.0 + a], "__iadd__": [lambda a: in_place(a, 1.0)],
    "__bool__": [*ASKING], "__len__": [lambda a: len(a), lambda a: sum(reversed(a))], "__contains__": [lambda a: a.v if 1.0 in a else 2.0],
    "__iter__": [lambda a: sum(a), lambda a: [2.0 * v for v in a][1], lambda a: [*a][1], lambda a: (lambda first, *rest: first)(*a), sorted],
    "__reversed__": [lambda a: sum(reversed(a)), lambda a: [2.0 * v for v in reversed(a)][1]], "__neg__": [lambda a: -a],
    "__exit__": [managed], "__getitem__": [lambda a: a[1]], "__setitem__": [lambda a: operator.setitem(a, 0, 1.0)],
}  # fmt: skip


def by_none(x):
    total = x
    for name, asking in ASKED.items():
        for cls in (Whole, type("Without", (Whole,), {name: None}), type("Lacking", (Whole,), {})):
            for ask in asking:
                a = cls(x)
                try:
                    found = ask(a)
                    total += found if type(found) is float else x
                except TypeError:
                    total += 0.1 * x
                total += a.n
    return total


class Backwards(Counting):
    def __len__(self):
        return self.touch(4)

    def __getitem__(self, key):
        self.touch()
        if key == 1:
            raise IndexError
        return self.v * key


def by_items_from_the_end(x):
    a = Backwards(x)
    total = sum(v * x for v in reversed(a)) * a.n
    for v in reversed(a):
        total += v * a.n
    items = reversed(a)
    total += a.n + next(items) * a.n + next(items, x) + next(items, x) + next(items, x) * a.n
    for v, w in zip(reversed(a), [x, 2.0 * x]):
        total += v * w * a.n
    return total


class Missing(dict):
    __missing__ = None


class MissingOfDefault(defaultdict):
    __missing__ = None


def by_missing(x):
    total = x
    for d in (Missing(a=x), MissingOfDefault(float, a=x), defaultdict(float, a=x), Missing(a=x, b=x)):
        try:
            total += d["a"] * 3.0 + d["b"]
        except TypeError:
            total += 0.1 * x
    return total


class Vector:
    """Whose absolute value is another one."""

    def __init__(self, v, w):
        self.v, self.w, self.n = v, w, 1.0

    def __abs__(self):
        self.n *= self.w
        if self.v > 4.0:
            raise ValueError(self.v * self.n)
        return type(self)(abs(self.v), self.w * self.n)


class Number(float):
    def __abs__(self):
        return Number(2.0 * float(self))


def by_absolute_values(x):
    total, found = x, {"absolute": abs}
    for v in [Vector(-x, 2.0 * x), Vector(x, x * x), Number(-x), Vector(10.0 * x, x), Number(x)]:
        for absolute in (abs, found["absolute"]):
            try:
                w = abs(absolute(v))
                total += w * x if isinstance(w, float) else w.v * w.w * v.n
            except ValueError as error:
                total += error.args[0] * v.n
    return total + sum(map(operator.attrgetter("w"), map(abs, [Vector(x, x), Vector(-x, x)])))


class Made:
    def __new__(cls, a, b=2.0):
        if a > 100.0:
            raise ValueError(a * b)
        made = super().__new__(cls)
        made.w = a * b
        return made

    def __init__(self, a, b=3.0):
        self.v = a * b
        if a > 10.0:
            raise ValueError(a * a)
        if a > 8.0:
            return 5


class MadeOtherwise(Made):
    def __new__(cls, a, b=2.0):
        if a > 5.0:
            return MadeAlone(a)
        return a * b if a > 4.0 else super().__new__(cls, a, b)


class MadeAlone(MadeOtherwise):
    def __new__(cls, a, b=2.0):
        return object.__new__(cls)

    def __init__(self, a, b=1.0):
        self.v = a * a * b


class MadeOfTwo(Made):
    def __init__(self, a, b=3.0):
        super().__init__(2.0 * a, b)
        self.z = a


class Pair(tuple):
    def __new__(cls, a):
        return super().__new__(cls, (a, 2.0 * a))

    def __init__(self, a):
        self.kept = self[0] * 3.0


def by_new_and_init(x):
    total = x
    for _ in range(2):
        for cls in (Made, MadeOtherwise, MadeAlone, MadeOfTwo):
            for factor in (1.0, 4.2, 5.5, 9.0, 11.0, 110.0):
                for named in ({}, {"b": x * x}):
                    try:
                        made = cls(factor * (1.0 + 0.01 * x), **named)
                    except ValueError as error:
                        total += error.args[0] * x
                    except TypeError as error:
                        total += len(str(error)) * x
                    else:
                        total += (
                            made if type(made) is float else made.v * getattr(made, "w", x) * getattr(made, "z", 1.0)
                        )
        total += Pair(x).kept * Pair(x)[1] + Made(x).v + Made(2.0 * x, b=x).w
    return total


PROGRAMS = [by_new_and_init, by_operators, by_answers, by_none, by_items_from_the_end, by_missing, by_absolute_values]


@pytest.mark.parametrize("f", PROGRAMS)
def test_first_derivatives(f):
    check(f, times=2, rel=1e-7, step=1e-3)


@each_in_long_turn
@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives(f):
    check_second(f, step=1e-3)


class Untrue(Counting):
    def __bool__(self):
        return self.touch(3)


@each_in_long_turn
def test_what_c_code_raises_behind_a_call_is_not_lost_in_second_derivatives():
    def f(x):
        a = Untrue(x)
        try:
            any([a])
        except TypeError:
            return a.n
        return x

    slope = lambda x: pullback(f, (x,))[1](1.0)[0]
    assert slope(0.7) == 1.0
    with pytest.raises(Exception, match="a second derivative through Python code that `any` calls"):
        pullback(slope, (0.7,))


class FailingOnce:
    def __init__(self, x):
        self.x, self.failed = x, False

    def __len__(self):
        return 3

    def __getitem__(self, i):
        if i == 1 and not self.failed:
            self.failed = True
            raise ValueError(i)
        return self.x * (i + 1)


@pytest.mark.parametrize("around", [reversed, iter])
def test_items_that_are_asked_for_again_after_an_exception(around):
    """`reversed` is over then, as in CPython, `iter` is not."""

    def f(x):
        items, total = around(FailingOnce(x)), 0.0
        for _ in range(4):
            try:
                total += next(items, 10.0) * x
            except ValueError:
                total += x
        return total

    value, back = pullback(f, (1.3,))
    assert value == f(1.3)
    assert back(1.0)[0] == pytest.approx((f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6, rel=1e-6)


class Growing:
    """Its length changes it."""

    def __init__(self, x):
        self.x = x

    def __len__(self):
        self.x *= 2.0
        return 3

    def __getitem__(self, i):
        return self.x * (i + 1)


def test_a_list_of_what_is_reversed_asks_for_the_length_again():
    def f(x):
        growing = Growing(x)
        return sum(list(reversed(growing))) + growing.x

    value, back = pullback(f, (0.7,))
    assert value == f(0.7) and back(1.0)[0] == pytest.approx(f(1.0))


class Deleted:
    def __get__(self, instance, cls):
        return instance.v * 2.0

    def __delete__(self, instance):
        pass


class Holder:
    kept = Deleted()

    def __init__(self, v):
        self.v = v
        self.__dict__["kept"] = 100.0


def test_a_descriptor_that_can_only_be_deleted_goes_before_the_instance():
    f = lambda x: Holder(x).kept
    for _ in range(3):
        assert pullback(f, (0.7,))[0] == f(0.7) == 1.4
        assert pullback(f, (0.7,))[1](1.0) == (2.0,)


class Terms(dict):
    """A sum of variables with coefficients."""

    def __rmul__(self, c):
        return Terms({k: v * c for k, v in self.items()})

    def __radd__(self, c):
        return Terms({k: v + c for k, v in self.items()})


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize(
    "f",
    [
        lambda x: (x[0] * Terms(a=x[1]))["a"],
        lambda x: (x[0] + x[1] * Terms(a=x[1] * x[0], b=x[0]))["a"],
        lambda x: sum([x[0] * Terms(a=x[1])], x[1])["a"] * x[0],
    ],
)
def test_numbers_of_numpy_leave_operators_to_instances_of_classes_derived_from_dict(f):
    """NumPy takes them for single objects, not for sequences of their keys."""
    x, h, along = np.array([2.0, 3.0]), 1e-5, np.array([1.0, 0.5])
    value, (gradient,) = zyg.withgradient(f, x)
    assert value == f(x)
    by_differences = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(2)]
    assert gradient == pytest.approx(by_differences, rel=1e-8)
    moved = [zyg.gradient(f, x + s * h * along)[0] for s in (1, -1)]
    assert zyg.hvp(f, x, along) == pytest.approx((moved[0] - moved[1]) / (2 * h), rel=1e-7)
