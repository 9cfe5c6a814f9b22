"""Second derivatives of calls that were left by an exception, which was caught: those of a plain call, whatever calls on behalf of the
`try` body, and whichever derivatives are nested."""

from __future__ import annotations

import contextlib
import dataclasses
import functools

import pytest

import zyg
from tests.autodiff.test_exceptions_out_of_calls import CASES, caught
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.fallback import python_pullback

pytestmark = [each_in_turn, pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")]


class Left(Exception):
    def __init__(self, value, *more):
        super().__init__(value, *more)
        self.value = value


def retry(times):
    def decorate(f):
        @functools.wraps(f)
        def run(*args, **kwargs):
            for attempt in range(times):
                try:
                    return f(*args, attempt=attempt, **kwargs)
                except Left as error:
                    args = (error.value * args[0], *args[1:])
            raise Left(args[0])

        return run

    return decorate


@retry(3)
def sometimes(x, y=1.5, *, attempt, k=0.5):
    if attempt < 2:
        raise Left(x * y + k)
    return x * y * k


def retried(x):
    return sometimes(x) * sometimes(x * x, x, k=x)


@retry(2)
def never(x, attempt):
    raise Left(x * x)


def given_up(x):
    try:
        return never(x)
    except Left as error:
        return error.value * x


class Account:
    def __init__(self, balance):
        self.balance = balance
        self.log = []

    def take(self, amount):
        self.log.append(amount * amount)
        if amount > self.balance:
            raise Left(amount)
        self.balance -= amount

    @property
    def spare(self):
        if self.balance < 10.0:
            raise Left(self.balance * self.balance)
        return self.balance

    @spare.setter
    def spare(self, value):
        raise Left(value * self.balance)

    def __getitem__(self, key):
        raise Left(self.balance * key)

    def __add__(self, other):
        raise Left(self.balance * other * other)

    def __rmul__(self, other):
        raise Left(self.balance * other * other)

    def __iadd__(self, other):
        raise Left(self.balance * other**3)

    def __call__(self, x, *more, k=2.0):
        raise Left(self.balance * x * k + sum(more))

    @classmethod
    def of(cls, x):
        return cls(x).take(x * x + x)

    @staticmethod
    def refuse(x, y):
        raise Left(x * x * y)


def method(x):
    account = Account(x)
    try:
        account.take(2.5 * x)
    except Left as error:
        return error.args[0] * account.balance + sum(account.log)


def method_with_less(x):
    account = Account(x)
    for part in (0.5, 0.25, 3.0, 0.125):
        try:
            account.take(part * x * x)
        except Left as error:
            account.balance = account.balance + error.value * x
    return account.balance * sum(account.log)


def bound_method(x):
    take = Account(x * x).take
    total = 0.0
    for f in (take, Account(x).take):
        try:
            f(3.0 * x * x)
        except Left as error:
            total += error.value * x
    return total


def class_method(x):
    try:
        Account.of(x)
    except Left as error:
        return error.value * x


def static_method(x):
    try:
        Account(x).refuse(x, y=x)
    except Left as error:
        return error.value * x


def getter(x):
    try:
        return Account(x * x).spare
    except Left as error:
        return error.value


def setter(x):
    account = Account(x)
    try:
        account.spare = x * x
    except Left as error:
        return error.value * x


def item(x):
    try:
        return Account(x)[x * x]
    except Left as error:
        return error.value


def operators(x):
    total = 0.0
    try:
        Account(x) + x * x
    except Left as error:
        total += error.value
    try:
        x * Account(x)
    except Left as error:
        total += error.value * x
    account = Account(x)
    try:
        account += x
    except Left as error:
        total += error.value
    return total


def called_object(x):
    total = 0.0
    for more, names in (((), {}), ((x,), {"k": x}), ((x, x * x), {})):
        try:
            Account(x)(x * x, *more, **names)
        except Left as error:
            total += error.value * x
    return total


class Checked:
    def __init__(self, x, y=2.0):
        self.x = x * x
        if x < 10.0:
            raise Left(x * x * y)


class CheckedMore(Checked):
    def __init__(self, x):
        super().__init__(x, x * x)


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.5

    def __post_init__(self):
        if self.x < 10.0:
            raise Left(self.x * self.x * self.y)


class Single:
    def __new__(cls, x):
        if x < 10.0:
            raise Left(x**3)
        return super().__new__(cls)


def constructors(x):
    total = 0.0
    for make in (
        lambda: Checked(x),
        lambda: Checked(x, y=x),
        lambda: CheckedMore(x),
        lambda: Point(x),
        lambda: Point(x, x),
        lambda: Single(x),
    ):
        try:
            make()
        except Left as error:
            total += error.value * x
    return total


def constructor(x):
    try:
        Point(x, y=x)
    except Left as error:
        return error.value * x


def wrapped(f):
    def run(*args):
        try:
            return f(*args)
        except ValueError as error:
            raise RuntimeError("failed") from error

    return run


def chain(x):
    def fail(z, w=2.0):
        raise ValueError(z * w)

    try:
        wrapped(fail)(x)
    except RuntimeError as error:
        return error.__cause__.args[0] * x


def long_chain(x):
    def fail(z, w):
        raise ValueError(z * w * w)

    try:
        try:
            wrapped(fail)(x, x)
        except RuntimeError as error:
            raise Left(x * x) from error
    except Left as error:
        return error.value * error.__cause__.__cause__.args[0] * error.__context__.__cause__.args[0]


def deep(x):
    def down(n, y):
        if n == 0:
            raise Left(y * y)
        return down(n - 1, y * x)

    try:
        return down(3, x)
    except Left as error:
        return error.value


def nested_try(x):
    total = x
    try:
        try:
            Account(x).take(x * 4.0)
        except KeyError:
            total = 0.0
        finally:
            total = total * x
    except Left as error:
        try:
            Account(error.value).take(error.value * total)
            total = total * 2.0
        except Left as again:
            total = total * again.value * error.value
        else:
            total = total * x
    return total


def raised_again(x):
    def middle(a):
        try:
            Account(x).take(a)
        except Left as error:
            error.value = error.value * x
            raise

    try:
        middle(2.0 * x)
    except Left as error:
        return error.value * error.args[0]


def scheduler(x):
    def steps(p):
        for i in range(2):
            v = yield p * i
            out.append(v)

    out = []
    queue = [(steps(x * x), None)]
    while queue:
        it, v = queue.pop()
        try:
            d = it.send(v)
        except StopIteration:
            continue
        queue.append((it, d))
    return sum(o or 0.0 for o in out) * x


def round_robin(x):
    def task(p, n):
        for _ in range(n):
            p = p * x
            got = yield p
            p = p + (got or 0.0)
        return p * p

    tasks, results = [(task(x, 2), None), (task(x * x, 1), x)], []
    started = set()
    while tasks:
        it, v = tasks.pop(0)
        try:
            made = next(it) if id(it) not in started else it.send(v)
            started.add(id(it))
        except StopIteration as end:
            results.append(end.value * x)
            continue
        tasks.append((it, made * 0.5))
    return sum(results)


def taken_by_next(x):
    def items():
        yield x * x
        yield x**3

    it, total = items(), 0.0
    while True:
        try:
            total = total * x + next(it)
        except StopIteration:
            return total


def generator_that_raises(x):
    def items(n):
        for k in range(n):
            yield x * k
        raise ValueError(x * x, n * x)

    total = 0.0
    try:
        for v in items(3):
            total += v * v
    except ValueError as error:
        total = total * error.args[0] * error.args[1]
    return total


def generator_that_raises_taken_by_next(x):
    def items(y):
        yield y * x
        raise ValueError(x * x * y)

    it = items(x * x)
    total = next(it)
    try:
        next(it)
    except ValueError as error:
        total = total * error.args[0]
    return total


def thrown_in(x):
    def items(y):
        try:
            yield y * x
        except Left as error:
            yield error.value * y
        raise Left(y * y)

    it = items(x * x)
    total = next(it) + it.throw(Left(x * x))
    try:
        next(it)
    except Left as error:
        total = total * error.value
    return total


class Guard:
    def __init__(self, k):
        self.k = k
        self.seen = 0.0

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if error is not None:
            self.seen = error.value * self.k
        return self.k < 10.0


def context(x):
    guard = Guard(x * x)
    with guard as g:
        Account(x).take(g.k * 4.0)
    return guard.seen * x


def context_of_generator(x):
    @contextlib.contextmanager
    def scaled(k):
        try:
            yield k * x
        except Left as error:
            out.append(error.value * k)

    out = []
    with scaled(x * x) as k:
        Account(x).take(k * 4.0)
    return out[0] * x


def suppressed(x):
    account = Account(x)
    with contextlib.suppress(KeyError, Left):
        account.take(x * x * 4.0)
    return account.log[0] * x


def partial(x):
    total = 0.0
    for f in (functools.partial(Account.refuse, x), functools.partial(Account.refuse, y=x), Account(x)):
        try:
            f(x * x)
        except Left as error:
            total += error.value * x
    return total


def containers_as_arguments(x):
    def fail(items, by_name, *rest, **more):
        items[0] = items[0] * x
        by_name["b"] = by_name["a"] * items[0]
        raise Left(by_name["b"] * more["k"] * rest[-1])

    items, by_name = [x * x, 2.0], {"a": x}
    try:
        fail(items, by_name, 1.0, x, k=x)
    except Left as error:
        return error.value * items[0] * by_name["b"]


def callbacks(x):
    total = 0.0

    def check(v):
        if v > 1.0:
            raise Left(v * v * x)
        return v

    try:
        list(map(check, [0.5 * x, 3.0 * x]))
    except Left as error:
        total += error.value
    try:
        sorted([0.1 * x, 4.0 * x], key=check)
    except Left as error:
        total += error.value * x
    try:
        max([0.2 * x, 5.0 * x], key=check)
    except Left as error:
        total += error.value * x
    return total


def nothing_else(x):
    """(nothing is taken of the exception)"""
    account = Account(x)
    try:
        account.take(x * x + 3.0)
    except Left:
        account.balance = account.balance * x
    return account.log[0] * account.balance


PROGRAMS = [
    retried, given_up, method, method_with_less, bound_method, class_method, static_method, getter, setter, item, operators,
    called_object, constructors, constructor, chain, long_chain, deep, nested_try, raised_again, scheduler, round_robin,
    taken_by_next, generator_that_raises, generator_that_raises_taken_by_next, thrown_in, context, context_of_generator,
    suppressed, partial, containers_as_arguments, callbacks, nothing_else,
]  # fmt: skip

X = 0.8


def slope(f, x):
    return python_pullback(f, (x,), {})[1](1.0)[0]


@each_in_long_turn
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_first_and_second_derivatives(f):
    by_differences = lambda x: differences.derivative(f, x)
    first, second = by_differences(X), differences.derivative(by_differences, X, 0.05)
    assert zyg.gradient(f, X) == (pytest.approx(first, rel=1e-7),)
    wanted = pytest.approx(second, rel=1e-4)
    for _ in range(2):  # what is called at a place is remembered there
        assert zyg.gradient(lambda x: zyg.gradient(f, x)[0], X) == (wanted,)
    assert zyg.hessian(f, X) == wanted
    assert zyg.hvp(f, X, 1.0) == wanted
    assert zyg.jvp(lambda x: zyg.grad(f)(x), (X,), (1.0,)) == (pytest.approx(first, rel=1e-7), wanted)


@each_in_long_turn
@pytest.mark.parametrize("name", CASES)
def test_whatever_calls(name):
    f, x, y, h = caught(CASES[name]), 1.5, 0.7, 1e-5

    def along(x, y):  # a derivative along a direction, by both
        by_x, by_y = zyg.gradient(f, x, y)
        return 1.25 * (by_x or 0.0) + 0.75 * (by_y or 0.0)

    wanted = (
        (along(x + h, y) - along(x - h, y)) / (2 * h),
        (along(x, y + h) - along(x, y - h)) / (2 * h),
    )
    for _ in range(2):
        found = python_pullback(along, (x, y), {})[1](1.0)
        assert [c or 0.0 for c in found] == pytest.approx(wanted, rel=1e-6, abs=1e-6)
