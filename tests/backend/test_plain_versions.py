"""Plain versions of the blocks of halves: right where they are left in the middle, and sound code."""

from __future__ import annotations

import math
import random
from collections import defaultdict, deque
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.backend.emitted import faults
from zyg.backend import python as emitter
from zyg.backend.assembly import Instruction
from zyg.fallback import python_pullback


class Particle:
    def __init__(self, x: Any, v: Any):
        self.x = x
        self.v = v

    def step(self, h: Any) -> None:
        self.v += -h * self.x * self.x
        self.x += h * self.v

    @property
    def energy(self) -> Any:
        return 0.5 * self.v * self.v + 0.5 * self.x * self.x


def steps(x: Any, v: Any, h: Any) -> Any:
    p = Particle(x, v)
    total = 0.0
    for k in range(4):
        p.step(h)
        total += p.energy * k - p.x / (1 + k)
    return total + p.x * p.v


def nested(x: Any, y: Any, z: Any) -> Any:
    total = x
    for i in range(3):
        y = y * 0.9 - x
        for j in range(i):
            total = total * z + y * j
        if i == 1:
            x = x + z
    return total * y


def kinds(x: Any, y: Any, z: Any) -> Any:
    """A variable that is now of one type, now of another one."""
    values = [x, y * y, z]
    state: Any = 1
    for v in values:
        state = state * v + (v if v > 0.0 else -2 * v)
        other = "text" if v is x else v
        state = state + (1.0 if other == "text" else other * 0.5)
    return state


def left(x: Any, y: Any, z: Any) -> Any:
    """A loop that is left from the middle, and one that may not run at all."""
    total, k = 0.0, 0
    while k < 5:
        x = x * y
        if abs(x) < 0.2:
            break
        total = total + x * z
        k += 1
    for _ in range(k - 2):
        total = total * 0.5 + z
    return total + x


def ways(x: Any, y: Any, z: Any) -> Any:
    """No loop, and many ways to the return."""
    a, b = math.sin(float(x)) * x, [y]
    if x > 0.1 or (y > 0.0 and z > 0.2):
        b.append(x * z)
        a = a * b[-1]
        if y > z:
            return a * Particle(a, x).energy
        a += y * b[0] if z > 0 else x * b[-1]
    elif y * x > 0.0:
        b.insert(0, z * z)
        a -= b[0] * b[1] * x
    if not (x < y < z) and len(b) > 1:
        a = a * a + b.pop() * z
    return a + b[0] * x


PROGRAMS = [steps, nested, kinds, left, ways]


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_of_numbers_of_all_kinds(program: Any):
    """Real numbers and NumPy's, in any mixture: values are CPython's, derivatives those of floats."""
    drawn = random.Random(program.__name__)
    for _ in range(25):
        args = [drawn.uniform(-0.9, 0.9) for _ in range(3)]
        given = [drawn.choice([float, float, np.float64, np.float32])(a) for a in args]
        at = [float(a) for a in given]
        value, back = python_pullback(program, tuple(given), {})
        assert value == program(*given) and type(value) is type(program(*given))
        step = 1e-30
        for k, got in enumerate(back(1.0)):
            moved = [a + 1j * step if n == k else a for n, a in enumerate(at)]
            if program in (steps, nested):
                assert float(got) == pytest.approx(program(*moved).imag / step, rel=1e-5, abs=1e-6)
            else:
                up, down = ([a + s if n == k else a for n, a in enumerate(at)] for s in (1e-6, -1e-6))
                assert float(got) == pytest.approx((program(*up) - program(*down)) / 2e-6, rel=1e-4, abs=1e-5)


def test_values_of_other_types():
    """What is no real number goes the general way, from the place on where it is met."""
    args = (Fraction(1, 3), 0.5, 2)
    value, _ = python_pullback(nested, args, {})
    assert value == nested(*args)
    value, _ = python_pullback(nested, (True, 2, 3), {})
    assert (value, type(value)) == (nested(True, 2, 3), float)
    assert math.isnan(python_pullback(nested, (math.nan, 1.0, 1.0), {})[0])


def test_attributes_are_read_again_where_they_may_have_changed():
    class Odd(Particle):
        def __setattr__(self, name: str, value: Any) -> None:
            object.__setattr__(self, name, value * 2.0 if name == "x" else value)

    def program(x: Any, cls: Any) -> Any:
        p = cls(x, x)
        a = p.x * p.x
        p.x = p.x + a
        q = p
        q.v = p.x * 0.5
        return p.x * p.v + a * p.v

    for cls in (Particle, Odd, Particle):
        value, back = python_pullback(lambda x, cls=cls: program(x, cls), (0.7,), {})
        assert value == program(0.7, cls)
        slope = program(0.7 + 1e-30j, cls).imag / 1e-30
        assert back(1.0)[0] == pytest.approx(slope, rel=1e-12)


def items(table: Any, others: Any, keys: Any) -> Any:
    """Containers and keys that look like lists and positions."""
    total = 0.0
    for i in range(len(keys)):
        for k in range(3):
            total = total * 0.5 + table[keys[i]] * others[k]
            table[k] = table[k] * 0.9 + total * others[keys[i]]
        if i == 1:
            others = others[:]
        j = i - 1
        total += table[j] if type(table) is not dict else table[keys[j]]
    return total + table[0]


class Own(list[Any]):
    def __getitem__(self, key: Any) -> Any:
        return 2.0 * super().__getitem__(key)


TABLES = [
    list,
    deque,
    lambda values: dict(enumerate(values)),
    lambda values: defaultdict(float, enumerate(values)),
    Own,
]


def test_items_of_containers_of_all_kinds():
    """Whatever the container and the key are: values are CPython's, derivatives those by complex steps."""
    at = [0.3, 0.7, 1.1, 0.4, 0.6, 0.9]
    kinds = [[0, 1, 2], [True, 2, 0], [np.int64(1), 0, 2], [2, -1, 0]]

    def program(values: list[Any], make: Any, make_others: Any, keys: Any) -> Any:
        return items(make(values[:3]), make_others(values[3:]), keys)

    for make in TABLES:
        for make_others in (list, tuple, np.array):
            for keys in kinds:
                masks = make_others is np.array and bool in map(type, keys)
                if masks or (-1 in keys and make not in (list, deque, Own)):
                    continue
                value, back = python_pullback(program, (at, make, make_others, keys), {})
                assert value == program(at, make, make_others, keys)
                for k, got in enumerate(back(1.0)[0]):
                    moved = [a + 1e-30j if n == k else a for n, a in enumerate(at)]
                    slope = program(moved, make, make_others, keys).imag / 1e-30
                    assert got == pytest.approx(slope, rel=1e-9, abs=1e-12)


def pairs(values: Any, make: Any) -> Any:
    xs, ys = values[:3], make(values[3:])
    total = 0.0
    for _ in range(2):
        for x, y in zip(xs, ys):
            total = total + x * y
        for k, x in enumerate(xs):
            total = total * 0.9 + k * x
        for k, (x, y) in enumerate(zip(xs, xs)):
            total = total + x * y * k
        for name, x in {"a": xs[0], "b": xs[2]}.items():
            total = total + x * len(name) * total
        for x in ys:
            total = total + x * x
        for x in {1: xs[1], 2: ys[1]}.values():
            total = total - x * x * 0.1
    return total


def test_tuples_that_loops_go_through():
    at = [0.3, 0.7, 1.1, 0.4, 0.6, 0.9]
    for make in (list, tuple, np.array, lambda v: Own([0.5 * x for x in v]), lambda v: deque(v), lambda v: [*v, *v]):
        value, back = python_pullback(pairs, (at, make), {})
        assert value == pairs(at, make)
        for k, got in enumerate(back(1.0)[0]):
            moved = [a + 1e-30j if n == k else a for n, a in enumerate(at)]
            assert got == pytest.approx(pairs(moved, make).imag / 1e-30, rel=1e-9)


def test_emitted_code_is_sound(monkeypatch: pytest.MonkeyPatch):
    """The depth of the stack is the same on all ways, and no local is read where it may be empty."""
    assert faults([Instruction("LOAD_FAST", "x"), Instruction("RETURN_VALUE")], []) == ["0: x may be empty"]
    seen: list[str] = []
    checks = 0
    combined, with_islands = emitter.combined, emitter.with_islands
    arguments: list[str] = []

    def noted(code: list[Any], names: list[str]) -> Any:
        arguments[:] = names
        return combined(code, names)

    def checked(code: list[Any]) -> list[Any]:
        nonlocal checks
        checks += 1
        result = with_islands(code)
        names = [i.name for i in code if hasattr(i, "name")]
        if "RETURN_GENERATOR" not in names:
            seen.extend(faults(result, arguments))
        return result

    monkeypatch.setattr(emitter, "combined", noted)
    monkeypatch.setattr(emitter, "with_islands", checked)
    numbers = [0.3, 0.7, 1.1, 0.4, 0.6, 0.9]
    drawn: list[Any] = [(program, (0.5, 0.4, 0.3)) for program in PROGRAMS]
    for program, args in [*drawn, (items, (numbers[:3], numbers[3:], [2, 0, 1])), (pairs, (numbers, list))]:
        copy = type(program)(program.__code__.replace(co_name="anew"), program.__globals__)
        python_pullback(copy, args, {})[1](1.0)
    assert not seen and checks >= 8
