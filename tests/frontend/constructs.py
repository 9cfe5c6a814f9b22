"""One function or more per construct of the language, with arguments: what decoder and Python back end are tested on.

`CASES` are (function, arguments); calling the function may raise.
"""

# The constructs are what they are on purpose, however unwise: ruff is to leave them.
# ruff: noqa: B007, B012, B016, B023, B904, C400, F841, RUF012, UP008
from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
LOG: list[Any] = []


def case(*arguments: tuple[Any, ...]) -> Callable[[Any], Any]:
    def add(function: Any) -> Any:
        CASES.extend((function, a) for a in arguments)
        return function

    return add


class Manager:
    """A context manager that logs, and swallows exceptions of one class."""

    def __init__(self, swallows: type[BaseException] | tuple[()] = ()):
        self.swallows = swallows

    def __enter__(self) -> str:
        LOG.append("enter")
        return "inside"

    def __exit__(self, kind: Any, value: Any, trace: Any) -> bool:
        LOG.append(("exit", kind, str(value), trace is None, sys.exc_info()[0]))
        return kind is not None and issubclass(kind, self.swallows)


def fail(kind: type[BaseException] = ValueError, message: str = "failed") -> Any:
    raise kind(message)


# ------------------------------------------------------------------------------------------- expressions


@case((7, 2), (-7, 3), (7, 0), (2.5, 2), ("a", 2))
def arithmetic(a, b):
    return a + a, a * b, -a, a / b, a // b, a % b, a**b


@case((12, 10), (1.5, 2))
def bits(a, b):
    return a & b, a | b, a ^ b, a << 2, a >> 1, ~a, +a


@case((5, 3), ([1], [2]), (5, 0))
def augmented(a, b):
    x = a
    x += b
    y = a
    y *= 2
    z = [a, b]
    z[0] += b
    o = SimpleNamespace(v=a)
    o.v += b
    return x, y, z, o.v


@case((3, 2), (2.0, 0), (1, 5))
def inplace_operators(a, b):
    x = a
    x -= b
    x **= 2
    x %= 7
    x //= 2
    x /= b
    return x


@case((1, 2, 3), (1, 1, 1), (3, 2, 1), (1, "a", 2))
def comparisons(a, b, c):
    return a < b < c, a <= b, a == b != c, a > b, a >= c, a is b, a is not b, not a


@case((0, 1, 2), (1, 0, 2), (0, 0, 0), ("", [], 3))
def boolean(a, b, c):
    x = a and b or c
    y = (a or b) and c
    return x, y, not (a and not b), a if b else c


@case((1, [1, 2]), ("b", "abc"), (1, 2))
def membership(a, b):
    return a in b, a not in b


@case((5,), (None,), (0,))
def none_tests(x):
    if x is None:
        return "none"
    if x is not None and x:
        return "true"
    return "false"


@case(([1, 5, 2],), ([],))
def walrus(xs):
    if (n := len(xs)) > 2:
        return n, [y for x in xs if (y := x * 2) > 2], y
    return n


@case(([0, 1, 2, 3, 4, 5],), ("abcdef",), (3,))
def slices(a):
    return a[1:3], a[::2], a[:-1], a[-2:], a[:], a[4:1:-1], a[0], a[-1]


@case(([0, 1, 2, 3, 4, 5],))
def slice_assignment(a):
    a[1:3] = [9]
    a[::2] = [7] * len(a[::2])
    del a[0], a[1:2]
    return a


@case((3, "x"), (2.5, "long text"), (1, None))
def fstrings(x, s):
    width = 8
    return f"{x} {s!r} {s!s:>{width}} {x!a} {x=} {{}} {x:{width}.{2}f}" if isinstance(x, float) else f"a{x}b{s!r:>5}"


@case((1, 2))
def containers(a, b):
    return (a, b), [a, b], {a, b}, {a: b, "k": a}, {"x": a, "y": b}, (), [], {}, [*[a], *(b,)], {**{"a": a}, "b": b}


@case((1,))
def big_literals(x):
    constant = {"one": 1, "two": 2, "three": 3, "four": 4}
    return [1, 2, 3, 4, 5], {1, 2, 3}, (1, (2, 3)), constant, x, 10**30, -(10**30), 1e400, -0.0, 2j, b"b", ...


@case(([1, 2, 3, 4],), ("ab",), ([1],), (range(5),), (3,))
def unpacking(xs):
    a, *b = xs
    *c, d = xs
    (e, *f), g = xs, 1
    return a, b, c, d, e, f, g


@case(((1, (2, 3)),), ((1, 2),), ((1,),))
def nested_unpacking(t):
    a, (b, c) = t
    a, b = b, a
    a, b, c = c, a, b
    return [a, b, c]


@case((1,))
def conditional_chain(x):
    return [("neg" if y < 0 else "zero" if y == 0 else "pos") for y in (-x, 0, x)]


@case((2,))
def long_expression(x):
    return x + x * (x - x / (x + x * (x - x // (x + 1)))) ** (x if x > 1 else (x + x))


# ------------------------------------------------------------------------------------------------- loops


@case((2.0, 5), (2.0, 0), (3, 2))
def power(x, n):
    r = 1.0
    while n > 0:
        r *= x
        n -= 1
    return r


@case(([1, 2, 3, 4, 5, 6], 5), ([], 2), ([9, 9], 1))
def for_else(a, n):
    s = 0.0
    for i in range(n):
        if i % 2 == 0 and not a[i] < 3:
            continue
        if a[i] == 6:
            break
        s += a[i] * i
    else:
        s -= 1
    return s


@case((5,), (0,), (11,))
def while_else(n):
    steps = []
    while n:
        n -= 1
        if n == 7:
            break
        if n % 2:
            continue
        steps.append(n)
    else:
        steps.append("else")
    return steps, n


@case((4,))
def nested_loops(n):
    out = []
    for i in range(n):
        for j in range(i):
            if j == 2:
                break
            out.append((i, j))
        else:
            continue
        out.append("broke")
    return out


@case((3,), (0,))
def loop_variable_after(n):
    for i in range(n):
        pass
    return i


@case(([3, 1, 2],))
def swapping(xs):
    a = b = 0
    for x in xs:
        a, b = b, x
        x = a + b
        xs = [x]
    return a, b, x, xs


@case(([1, 2, 3],), ([],))
def early_return(xs):
    for i, x in enumerate(xs):
        if x > 1:
            return i
    return None


@case((3,))
def infinite(n):
    k = 0
    while True:
        k += 1
        if k > n:
            return k


@case((5,))
def collatz(n):
    count = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


# ------------------------------------------------------------------------------------------- comprehensions


@case(([1, 2, -1], 4), ([], 0))
def comprehensions(xs, y):
    x = "outer"
    squares = [x * x for x in xs if x > 0]
    table = {x: [x + y for y in range(x)] for x in xs}
    unique = {x % 2 for x in xs}
    pairs = [(a, b) for a in xs for b in xs if a < b]
    return x, y, squares, table, unique, pairs, sum(x * y for x in xs), list(x for x in xs)


@case(([1, 2, 3],))
def closures_in_comprehensions(xs):
    functions = [lambda: x for x in xs]
    added = [lambda k, x=x: x + k for x in xs]
    return [f() for f in functions], [f(10) for f in added]


@case(([1, 0, 2],))
def failing_comprehension(xs):
    x = "kept"
    try:
        return [1 / x for x in xs]
    except ZeroDivisionError:
        return x


@case((3,))
def comprehension_in_loop(n):
    out = []
    for i in range(n):
        out.append([(lambda: (i, j)) for j in range(i)])
    return [[f() for f in fs] for fs in out]


# ------------------------------------------------------------------------------------- functions and calls


def target(*args, **kwargs):
    return args, kwargs


@case((1, 2), ({"k": 1}, 3))
def calls(a, b):
    return (
        target(),
        target(a, b),
        target(a, k=b),
        target(*[a, b]),
        target(a, *(b,), z=1),
        target(**{"x": a}, y=b),
        target(*[a], *[b], q=1, **{"r": 2}),
        "x".join(str(i) for i in range(3)),
        str(a).upper().lower(),
    )


@case((1,), ({"a": 1},), (None,))
def bad_spread(x):
    return target(a=1, **x)


@case((None,), (5,))
def bad_star(x):
    return target(*x)


@case((1,), (1, 2), (1, 2, 3, 4), (1, 2, 3))
def signature(a, b=2, *args, k=3, **kwargs):
    return a, b, args, k, kwargs


@case((1, 2), (1,))
def positional_only(a, /, b=5, *, c=7):
    return a, b, c


@case((3,))
def closure(k):
    total = 0

    def add(x):
        nonlocal total
        total += x * k
        return total

    return add(1), add(2), total


@case((3,))
def captured_parameter(k):
    def get():
        return k

    k += 1
    first = get()
    k = k * 2
    return first, get()


@case((True,), (False,))
def empty_cell(fill):
    def get():
        return value

    if fill:
        value = 1
    return get()


@case((True,), (False,))
def deleted_cell(delete):
    value = 1

    def get():
        return value

    if delete:
        del value
    return get()


@case((6,))
def recursion(n):
    def fact(k):
        return 1 if k < 2 else k * fact(k - 1)

    return fact(n), (lambda f: f(f, n))(lambda f, k: k if k < 2 else f(f, k - 1) + f(f, k - 2))


@case((2,))
def decorators(x):
    def twice(f):
        return lambda *a: f(f(*a))

    def times(k):
        return lambda f: lambda y: f(y) * k

    @twice
    @times(3)
    def f(y):
        return y + 1

    return f(x)


@case((2,))
def defaults_and_annotations(x):
    def f(a: int, b: float = x, *, c: str = "c") -> tuple:
        return a, b, c

    return f(1), f(1, 2, c=3), sorted(f.__annotations__), f.__defaults__, f.__kwdefaults__


GLOBAL = 0


@case((4,))
def global_variables(x):
    global GLOBAL, MADE
    GLOBAL = x
    GLOBAL += 1
    MADE = GLOBAL
    result = MADE
    del MADE
    return result, GLOBAL, len, missing  # noqa: F821


@case((1,), (0,))
def maybe_unbound(c):
    if c:
        y = 1
    return y


@case((1,), (0,))
def unbound_in_loop(n):
    for _ in range(n):
        last = n
    n += 1
    return last, last


@case((1,), (0,))
def deleting(c):
    x = [c]
    y = x
    del x
    if c:
        x = 5
    return y, x


# ------------------------------------------------------------------------------------------------ classes


@case((3,))
def classes(n):
    class Base:
        factor = n

        def __init__(self, x):
            self.x = x

        def scaled(self):
            return self.x * self.factor

        @property
        def double(self):
            return self.x * 2

        @staticmethod
        def static(y):
            return y + n

    class Derived(Base):
        table = [i * i for i in range(3)]
        if n > 2:
            big: bool = True

        def __init__(self, x):
            super().__init__(x)
            self.y = n

        def scaled(self):
            return super().scaled() + super(Derived, self).double + __class__.table[1]

    d = Derived(5)
    d.z = 1
    del d.z
    return d.scaled(), d.double, Derived.static(1), Derived.big, Derived.__annotations__, hasattr(d, "z"), d.y


@case((2,))
def class_scope(x):
    y = "outer"

    class C:
        y = y + "!"
        z = [x for _ in range(2)]

        def method(self):
            return x, y

    return C.y, C.z, C().method()


@case((2,))
def namespace_of_a_class(n):
    class C:
        for i in range(n):
            locals()[f"made_{i}"] = i
        try:
            fail()
        except ValueError:
            vars()["caught"] = True

    return sorted(name for name in vars(C) if not name.startswith("_") and name[0] != ".")


@case((1,))
def metaclasses(x):
    class Meta(type):
        def __new__(cls, name, bases, namespace, **kwargs):
            namespace["extra"] = kwargs
            return super().__new__(cls, name, bases, namespace)

    class C(metaclass=Meta, option=x):
        pass

    return C.extra, type(C).__name__


# --------------------------------------------------------------------------------------------- exceptions


@case((1, 0), (1, 2), (1, "a"), ("%d", 1))
def try_except(a, b):
    try:
        r = a / b
    except ZeroDivisionError as e:
        return "zero", str(e)
    except (TypeError, ValueError):
        return "type", sys.exc_info()[0].__name__
    else:
        r += 1
    finally:
        LOG.append("finally")
    return r, sys.exc_info()


@case((0,), (1,), (2,), (3,))
def try_state(k):
    x = "start"
    try:
        x = "first"
        if k == 0:
            fail()
        x = "second"
        if k == 1:
            fail(KeyError)
        y = x
        x = "third"
        if k == 2:
            fail(TypeError)
    except ValueError:
        return x, 0
    except LookupError:
        return x, 1
    except Exception as e:
        return x, y, type(e)
    return x, y


@case((0,), (1,), (2,))
def reraising(k):
    try:
        try:
            if k == 0:
                fail()
            fail(KeyError)
        except ValueError:
            raise
        except KeyError as e:
            if k == 1:
                raise RuntimeError("from") from e
            raise RuntimeError("context")
    finally:
        LOG.append(str(sys.exc_info()[1]))


@case((0,), (1,), (2,), (3,))
def finally_flow(k):
    for i in range(3):
        try:
            if k == 0:
                continue
            if k == 1:
                break
            if k == 2:
                return i
        finally:
            LOG.append(i)
            if k == 3 and i == 2:
                return "overridden"
    return "end"


@case(())
def finally_swallows():
    try:
        fail()
    finally:
        return "swallowed"


@case((3,))
def handler_in_loop(n):
    results = []
    for i in range(n):
        try:
            results.append(1 // (i - 1))
        except ZeroDivisionError as e:
            results.append(str(e))
            continue
        finally:
            results.append(i)
    return results, "e" in dir(results)


@case((0,), (1,))
def name_is_deleted(k):
    e = "before"
    try:
        if k:
            fail()
    except ValueError as e:
        pass
    return e


@case(())
def nested_contexts():
    try:
        try:
            fail(ValueError, "one")
        except ValueError:
            try:
                fail(KeyError, "two")
            except KeyError as e:
                inner = e
            state = sys.exc_info()[1]
            fail(TypeError, "three")
    except TypeError as e:
        return str(state), str(inner.__context__), str(e.__context__), e.__context__.__context__


@case((0,), (1,))
def assertion(x):
    assert x, f"got {x}"
    assert x > 0
    return x


@case((0,), (1,), (2,))
def raising(k):
    if k == 0:
        raise ValueError
    if k == 1:
        raise ValueError("text") from None
    raise 5


@case(())
def bare_raise():
    raise


@case((0,), (1,), (2,), (3,))
def with_statement(k):
    with Manager(ValueError) as m:
        if k == 0:
            fail()
        if k == 1:
            return m
        if k == 2:
            fail(KeyError)
    return "after"


@case((0,), (1,))
def nested_with(k):
    with Manager() as a, Manager(ValueError) as b:
        if k:
            fail()
        return a, b
    return "swallowed"


@case((0,), (1,))
def with_in_loop(k):
    out = []
    for i in range(3):
        with Manager(ValueError):
            if i == k:
                continue
            if i == 2:
                break
            out.append(i)
            fail()
    return out


@case((0,), (1,), (2,), (3,))
def groups(k):
    seen = []
    try:
        if k == 0:
            raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
        if k == 1:
            raise ValueError(3)
        if k == 2:
            raise ExceptionGroup("g", [KeyError(4), ExceptionGroup("h", [ValueError(5), OSError(6)])])
    except* ValueError as e:
        seen.append([str(x) for x in e.exceptions])
    except* (TypeError, KeyError) as e:
        seen.append(len(e.exceptions))
        if k == 2:
            raise RuntimeError("inside")
    else:
        seen.append("else")
    finally:
        seen.append("finally")
    return seen


# ------------------------------------------------------------------------------------------------- match


@case((1,), ("a",), ([1, 2],), ([1, 2, 3, 4],), ({"k": 1, "z": 2},), (SimpleNamespace(x=1, y=2),), (None,), (2.5,))
def matching(x):
    match x:
        case 1 | 2:
            return "small"
        case str() as s if s:
            return "string", s
        case [a, b]:
            return a, b
        case [first, *rest]:
            return first, rest
        case {"k": value, **others}:
            return value, others
        case SimpleNamespace(x=1, y=y):
            return "object", y
        case None:
            return "none"
        case _:
            return "other"


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __repr__(self):
        return f"Point({self.x}, {self.y})"


@case((Point(0, 0),), (Point(0, 3),), (Point(2, 2),), (Point(1, 2),), (5,))
def match_class(p):
    match p:
        case Point(0, 0):
            return "origin"
        case Point(0, y):
            return y
        case Point(x, y) if x == y:
            return "diagonal"
        case Point():
            return "point"
    return "no point"


# ---------------------------------------------------------------------------------------------- imports


@case(())
def imports():
    import math
    import os.path as p
    from collections import OrderedDict as Ordered
    from math import floor, sqrt

    return math.pi, p.join("a", "b"), Ordered(a=1), floor(2.5), sqrt(4.0)


@case(())
def bad_import():
    from math import nothing_of_that_name

    return nothing_of_that_name


# --------------------------------------------------------------------------------------------- generators


@case((4,), (0,))
def generators(n):
    def count(k):
        received = []
        for i in range(k):
            got = yield i
            received.append(got)
        return received

    def outer():
        result = yield from count(n)
        yield result

    g = count(n)
    sent = [next(g, "end")] + [g.send(i) for i in range(n - 1)]
    return sent, list(outer())


@case((0,), (1,), (2,))
def generator_exceptions(k):
    def inner():
        try:
            yield 1
            yield 2
        except ValueError as e:
            yield str(e)
        except GeneratorExit:
            LOG.append("closed")
            raise
        finally:
            LOG.append("cleaned")

    def outer():
        yield from inner()
        yield "after"

    g = outer()
    first = next(g)
    if k == 0:
        return first, list(g)
    if k == 1:
        return first, g.throw(ValueError("thrown")), list(g)
    g.close()
    return first, list(g)


@case(())
def stop_iteration_in_generator():
    def g():
        yield 1
        raise StopIteration("inside")

    return list(g())


@case(([1, [2, [3, 4]], 5],))
def recursive_generator(tree):
    def walk(t):
        for x in t:
            if isinstance(x, list):
                yield from walk(x)
            else:
                yield x

    return list(walk(tree)), sum(x * x for x in walk(tree)), max((x for x in walk(tree)), default=0)


# --------------------------------------------------------------------------------- newer syntax, as text

NEWER = """
@case((3,))
def type_parameters(x):
    def first[T](xs: list[T]) -> T:
        return xs[0]
    class Box[T]:
        def __init__(self, item: T):
            self.item = item
    type Alias[K] = dict[K, int]
    return first([x]), Box(x).item, Alias.__name__, [t.__name__ for t in first.__type_params__]

@case((3,))
def nested_fstring(x):
    return f"{f"{x!r}" + "{"} {", ".join(str(i) for i in range(x))}"
"""
if sys.version_info >= (3, 12):
    exec(compile(NEWER, __file__, "exec"))
