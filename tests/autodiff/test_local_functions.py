"""Functions that are made anew each time their maker runs: what is found out about them by their code holds for each of them, and
only as long as they and their code are there."""

from __future__ import annotations

import gc
import types
import weakref
from typing import Any

import pytest

import zyg
from tests.turns import by_one_python_a_day
from zyg import rules
from zyg.fallback import python_pullback


def gradient(f: Any, *args: float) -> tuple[float, ...]:
    return python_pullback(f, args, {})[1](1.0)


def slope(f: Any, x: float) -> float:
    return (f(x + 1e-6) - f(x - 1e-6)) / 2e-6


def cells_and_defaults_are_others(x: Any) -> Any:
    """One code object at one place: functions with other cells, defaults and numbers of defaults."""

    def maker(a: Any, *defaults: Any) -> Any:
        def f(u: Any, v: Any = 2.0, w: Any = 3.0) -> Any:
            return a * u * v + w * w

        if defaults:
            f.__defaults__ = defaults
        return f

    total = 0.0
    for f in (maker(x), maker(2.0 * x), maker(1.0, x, 0.5), maker(1.0, x, x * x), maker(x, x)):
        if len(f.__defaults__) > 1:
            total += f(x)
        total += f(x, 0.5) * f(x, 0.5, x)
    return total


def defaults_are_changed(x: Any) -> Any:
    def f(u: Any, v: Any = 2.0) -> Any:
        return u * v * x

    total = 0.0
    for k in range(4):
        total += f(x)
        f.__defaults__ = (x + k,)
    return total


def defaults_go(x: Any) -> Any:
    def f(u: Any, v: Any = 2.0) -> Any:
        return u * v * x

    total = 0.0
    for k in range(3):
        try:
            total += f(x)
        except TypeError:
            total += 5.0 * x
        if k == 1:
            f.__defaults__ = None
    return total


def code_is_changed(x: Any) -> Any:
    def f(u: Any) -> Any:
        return u * x

    def g(u: Any) -> Any:
        return u * u * x

    total = 0.0
    for k in range(4):
        total += f(x)
        if k == 1:
            f.__code__ = g.__code__
    return total


def many_at_one_place(x: Any) -> Any:
    """More functions than a place remembers, some of them again and again."""

    def maker(k: Any) -> Any:
        def f(u: Any, v: Any = 0.1) -> Any:
            return k * u * u + v

        return f

    functions = [maker(k * x) for k in range(40)]
    return sum([f(x) for f in [*functions, *functions[:3] * 4]])


def without_cells(x: Any) -> Any:
    total = 0.0
    for k in range(3):

        def f(u: Any, v: Any = k) -> Any:
            return u * u * v

        total += f(x) + f(x, 0.5)
    return total


def generators(x: Any) -> Any:
    def items(n: int, scale: Any = 2.0) -> Any:
        for k in range(n):
            yield scale * x**k
            if k:
                yield from items(k, x)

    return sum(items(3)) + sum([v * v for v in items(2, 0.5)])


def while_handling(x: Any) -> Any:
    def f(u: Any, v: Any = 0.5) -> Any:
        if u > 1.0:
            raise ValueError(u * v)
        return u * x + v

    total = 0.0
    for k in range(3):
        total += f(0.1 * x)
        try:
            total += f(x * k)
        except ValueError as error:
            total += error.args[0]
    return total


def recursive(x: Any) -> Any:
    def f(depth: int, scale: Any = 1.0) -> Any:
        def below() -> Any:
            return f(depth - 1, scale * x)

        return scale if depth == 0 else below() + x * f(0)

    return f(4) + f(2, x)


PROGRAMS = [
    cells_and_defaults_are_others, defaults_are_changed, defaults_go, code_is_changed, many_at_one_place, without_cells, generators,
    while_handling, recursive,
]  # fmt: skip


@by_one_python_a_day
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_local_functions(program):
    for x in (0.7, 0.9, 0.7):
        assert gradient(program, x)[0] == pytest.approx(slope(program, x), rel=1e-6)


def test_wrong_numbers_of_arguments():
    def program(x, count):
        def f(u, v=2.0):
            return u * v * x

        return f(*[x] * count)

    for count in (1, 2, 1, 0, 3, 1):
        if count in (1, 2):
            at = lambda x, count=count: program(x, count)
            assert gradient(at, 0.5)[0] == pytest.approx(slope(at, 0.5), rel=1e-6)
        else:
            with pytest.raises(TypeError) as ours:
                gradient(lambda x, count=count: program(x, count), 0.5)
            with pytest.raises(TypeError) as theirs:
                program(0.5, count)
            assert str(ours.value) == str(theirs.value)


SOURCE = """
def program(x):
    def scaled(u, v=2.0):
        def inner():
            return u * v * x
        return inner() if v < 3.0 else scaled(u, 2.5)
    def items(n, w=1.0):
        for k in range(n):
            yield w * x
            yield from items(k)
    made.append(scaled)
    return scaled(x) + scaled(x, 4.0) + sum(items(3)) + scaled(x)
"""


def test_they_go():
    """Functions, what they capture, and code that is compiled at run time."""

    class Captured:
        pass

    references: list[Any] = []

    def run() -> None:
        captured = Captured()
        captured.made = []
        scope = {"made": captured.made}
        exec(SOURCE, scope)
        for _ in range(3):
            gradient(scope["program"], 0.5)
        for f in captured.made:
            references.append(weakref.ref(f))
        code = scope["program"].__code__
        references.extend([weakref.ref(captured), weakref.ref(code)])
        references.extend([weakref.ref(c) for c in code.co_consts if isinstance(c, types.CodeType)])

    run()
    zyg.settle()
    gc.collect()
    assert len(references) == 7 and [r() for r in references] == [None] * 7


def helper(f: Any, x: Any) -> Any:
    return f(x) + f(x)


def test_at_a_lasting_place_they_go():
    references = []
    for n in range(3):
        scope: dict[str, Any] = {"helper": helper}
        exec(f"def program(x):\n    y = {n} * x\n    return helper(lambda u, v=2.0: u * y * v, x)", scope)
        assert gradient(scope["program"], 0.5)[0] == pytest.approx(8.0 * n * 0.5)
        references.append(weakref.ref(scope["program"].__code__))
        del scope
    zyg.settle()
    gc.collect()
    assert [r() for r in references] == [None] * 3


def test_later_rules_are_seen():
    def maker(k):
        def f(u, v=2.0):
            return k * u * v

        return f

    fixed = maker(3.0)

    def program(x):
        return fixed(x) + maker(x)(0.5)

    for _ in range(2):
        assert gradient(program, 0.5)[0] == pytest.approx(7.0)
    zyg.adjoint(fixed)(lambda u, v=2.0: (3.0 * u * v, lambda d: (100.0 * d, None)))
    for _ in range(2):
        assert gradient(program, 0.5)[0] == pytest.approx(101.0)
    rules.remove(fixed)
    for _ in range(2):
        assert gradient(program, 0.5)[0] == pytest.approx(7.0)
