"""How often garbage is looked for while derivatives are compiled and run: what is set is taken back."""

from __future__ import annotations

import gc
import itertools
import math
import threading
import traceback
import warnings
from collections.abc import Iterator

import pytest

import zyg
from tests.turns import by_one_python_a_day
from zyg import collecting


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_what_is_rarest_holds_until_its_end() -> None:
    collecting.begin(collecting.RUNNING)
    collecting.begin(collecting.COMPILING)
    collecting.begin(collecting.RUNNING)
    assert gc.get_threshold() == collecting.COMPILING
    collecting.end(collecting.RUNNING)
    assert gc.get_threshold() == collecting.COMPILING
    collecting.end(collecting.COMPILING)  # (in another order than it would have in one thread)
    assert gc.get_threshold() == collecting.RUNNING
    collecting.end(collecting.RUNNING)
    assert gc.get_threshold() == (700, 10, 10)


def test_what_the_program_sets_stays() -> None:
    with collecting.rarely(collecting.RUNNING):
        gc.set_threshold(500, 5, 5)
        with collecting.rarely(collecting.RUNNING):
            assert gc.get_threshold() == collecting.RUNNING
    assert gc.get_threshold() == (500, 5, 5)
    with collecting.rarely(collecting.RUNNING):
        gc.set_threshold(400, 5, 5)
    assert gc.get_threshold() == (400, 5, 5)


def test_no_collections_stay_none() -> None:
    gc.set_threshold(0, 10, 10)
    with collecting.rarely(collecting.RUNNING):
        assert gc.get_threshold()[0] == 0
    assert gc.get_threshold() == (0, 10, 10)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("fails", [False, True])
def test_derivatives_through_python_take_back_what_they_set(fails: bool) -> None:
    seen = []

    def f(x: float, fails: bool) -> float:
        try:
            seen.append(gc.get_threshold())
            return {"x": x}["y" if fails else "x"] * x
        finally:
            seen.append(gc.get_threshold())

    for _ in range(2):
        if fails:
            with pytest.raises(KeyError):
                zyg.gradient(f, 2.0, fails)
        else:
            assert zyg.gradient(f, 2.0, fails) == (4.0, None)
        assert gc.get_threshold() == (700, 10, 10)
    assert set(seen) == {collecting.RUNNING}


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_threads_take_back_what_they_set() -> None:
    def f(x: float, n: int) -> float:
        found = {}
        for i in range(n):
            found[str(i)] = x * i
        return sum(found.values())

    threads = [threading.Thread(target=lambda: [zyg.gradient(f, 2.0, n) for n in range(40)]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gc.get_threshold() == (700, 10, 10)


# What derivatives through Python leave behind is freed as soon as nobody has it, not when garbage is looked for.


Table = dict[tuple[str, int], float]
TABLE: Table = {("scale", 1): 2.0}  # which native code does not take


class Odd(Exception):
    pass


def caught(x: float, table: Table) -> float:
    def check(y: float) -> float:
        if y > 0:
            raise Odd(y)
        return y

    try:
        check(x)
    except Odd as error:
        return error.args[0] * x * table["scale", 1]
    return x


class Box:
    def __getattr__(self, name: str) -> float:
        raise AttributeError(name)


def retried(x: float, table: Table) -> float:
    return getattr(Box(), "missing", x) * x * table["scale", 1]


def generated(x: float, table: Table) -> float:
    def items():
        for n in range(3):
            yield x * n

    it = iter(items())
    return next(it) + sum(it) * x * table["scale", 1]


def enumerated(x: float, table: Table) -> float:
    return sum(a * b for a, b in zip(iter([x, x]), reversed([x, table["scale", 1]])))


def grouped(x: float, table: Table) -> float:
    around, (a, b) = itertools.cycle([x, 2.0]), itertools.tee([x, x * x])
    groups = itertools.groupby([x, x, table["scale", 1]], key=lambda v: v * 1.0)
    return sum(sum(items) * next(around) for _, items in groups) + sum(a) * sum(b)


class Reader:
    def __init__(self, x: float):
        self.x = x

    def update(self, z) -> float:
        self.x += 0.1 * (z - self.x)
        return -0.5 * math.log(self.x) * self.x**2


def tried(x: float, table: Table) -> float:
    """The interpreter makes the exceptions: an operation of a `try`, and one of what is called there."""
    reader, total = Reader(x), 0.0
    for z in (1.0, "bad", 2.0, None):
        try:
            total += reader.update(z) * table["scale", 1]
        except TypeError:
            total -= x
    try:
        return total * table["missing", 1]
    except KeyError as error:
        return total * len(error.args)


def by_hvp(f, x: float) -> object:
    return zyg.hvp(f, x, TABLE, 1.0)


def by_pullback(f, x: float) -> object:
    value, back = zyg.pullback(f, x, TABLE)
    return value, back(1.0)


# (With exceptions, the frame of who asks for a pullback is in a circle: its variables have it.)
@by_one_python_a_day
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize(
    "derivative, f",
    [(lambda f, x: zyg.gradient(f, x, TABLE), f) for f in (caught, retried, tried, generated, enumerated, grouped)]
    + [(by_hvp, tried)]
    + [(by_pullback, f) for f in (generated, enumerated, grouped)],
)
def test_nothing_waits_for_the_garbage_collector(derivative, f) -> None:
    for _ in range(3):  # what is compiled stays
        derivative(f, 2.0)
    gc.collect()
    gc.disable()
    try:
        f(2.0, TABLE)
        by_itself = gc.collect()
        derivative(f, 2.0)
        assert gc.collect() <= by_itself
    finally:
        gc.enable()


def test_who_looks_at_the_traceback_of_an_error_finds_the_variables() -> None:
    kept: list[Odd] = []

    def f(x: float, n: int) -> float:
        def check(y: float) -> float:
            raise Odd(y)

        try:
            check(x)
        except Odd as error:
            kept.append(error)
        return {"x": x}["y" if n else "x"]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        with pytest.raises(KeyError):
            zyg.gradient(f, 2.0, 1)
        *_, (frame, _) = traceback.walk_tb(kept[0].__traceback__)
        assert frame.f_locals["y"] == 2.0
        # After a call that gives a value the traceback names the same places.
        zyg.gradient(f, 2.0, 0)
    assert [entry.name.split(".")[-1] for entry in traceback.extract_tb(kept[1].__traceback__)] == ["f", "check"]
