"""The generator that `np.random.default_rng` makes in compiled code, and the numbers that NumPy's C functions draw from it.

NumPy's C functions for distributions take a `bitgen_t`: a pointer to a state and the four functions that draw bits from it
("Extending" in NumPy's manual of random numbers).  A generator of ours is an array of words that holds one, with the state
that it points to, so that it is copied, kept and freed as any array is:

    0       bitgen_t: pointer to 5            5      PCG64: pointer to 8
    1..4    bitgen_t: the functions           6      PCG64: has_uint32, uinteger
    8..11   the two numbers of 128 bits

The pointers are set before each use.  Where a build of NumPy lays a PCG64 out in another way, its state goes by Python.
"""

from __future__ import annotations

import ctypes
import importlib
import math
import threading
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend.scalars import scalar_value, to_float
from zyg.frontend.values import Abstract, ArrayValue, Known, Number, is_number, known
from zyg.ir.foreign import provide
from zyg.ir.records import record
from zyg.ir.types import F64, I64

from ..intrinsics import check, machine
from ..registry import emits

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

Words = np.ndarray[Any, Any]

_SIZE = 12
_HALVES, _NUMBERS = slice(6, 7), slice(8, 12)
_WORD = 2**64
_MOST = float(np.iinfo(np.int64).max - 10.0 * np.sqrt(np.iinfo(np.int64).max))  # the greatest mean that NumPy takes
_LOCAL = threading.local()


class _Lent:
    """A Generator of NumPy's that takes the state of one of ours for a while."""

    def __init__(self) -> None:
        bits = np.random.PCG64(0)
        self.generator = np.random.Generator(bits)
        self.halves: Words | None = None
        self.numbers: Words | None = None
        if layout_is_known():
            pointer, halves, numbers = _memory(bits)
            self.functions = pointer[1:5].copy()
            self.halves, self.numbers = halves, numbers

    def take(self, words: Words) -> None:
        if self.halves is not None and self.numbers is not None:
            self.halves[:] = words[_HALVES]
            self.numbers[:] = words[_NUMBERS]
        else:
            low, high, inc_low, inc_high = (int(w) % _WORD for w in words[_NUMBERS])
            has, number = words[_HALVES].view(np.uint32)
            self.generator.bit_generator.state = {
                "bit_generator": "PCG64", "state": {"state": high * _WORD + low, "inc": inc_high * _WORD + inc_low},
                "has_uint32": int(has), "uinteger": int(number),
            }  # fmt: skip

    def give(self, words: Words) -> None:
        if self.halves is not None and self.numbers is not None:
            words[_HALVES] = self.halves
            words[_NUMBERS] = self.numbers
        else:
            _store(self.generator.bit_generator.state, words)


def _store(state: Any, words: Words) -> None:
    inner = state["state"]
    numbers = [inner["state"] % _WORD, inner["state"] // _WORD, inner["inc"] % _WORD, inner["inc"] // _WORD]
    words[_NUMBERS] = np.array(numbers, np.uint64).view(np.int64)
    words[_HALVES] = np.array([state["has_uint32"], state["uinteger"]], np.uint32).view(np.int64)


def _memory(bits: Any) -> tuple[Words, Words, Words]:
    """The words of a PCG64 as they lie in memory: bitgen_t, the halves, the numbers."""

    def words(address: int, count: int) -> Words:
        return np.ctypeslib.as_array((ctypes.c_int64 * count).from_address(address))

    interface = bits.ctypes
    pointer = words(interface.bit_generator.value, 5)
    own = words(interface.state_address, 2)
    return pointer, own[1:2], words(int(own[0]), 4)


@lru_cache(None)
def layout_is_known() -> bool:
    """Whether a PCG64 lies in memory as it says here."""
    bits = np.random.PCG64(987654321)
    np.random.Generator(bits).integers(10, dtype=np.int32)  # half a word is left
    interface = bits.ctypes
    if ctypes.sizeof(ctypes.c_void_p) != 8 or not hasattr(interface.bit_generator, "value"):
        return False
    expected = np.zeros(_SIZE, np.int64)
    _store(bits.state, expected)
    if ctypes.c_int64.from_address(interface.bit_generator.value).value != interface.state_address:
        return False
    _, halves, numbers = _memory(bits)
    return np.array_equal(halves, expected[_HALVES]) and np.array_equal(numbers, expected[_NUMBERS])


def lent() -> _Lent:
    """That of this thread."""
    if not hasattr(_LOCAL, "lent"):
        _LOCAL.lent = _Lent()
    return _LOCAL.lent


def new_state(*seed: Any) -> Words:
    """Called from compiled code: a new generator."""
    words = np.zeros(_SIZE, np.int64)
    state = np.random.default_rng(*seed).bit_generator.state
    if state["bit_generator"] != "PCG64":
        raise TypeError(f"native code makes generators of the kind PCG64, not {state['bit_generator']}")
    _store(state, words)
    if layout_is_known():
        words[1:5] = lent().functions
    return words


# ------------------------------------------------------------------------------------------- single numbers


@lru_cache(None)
def _library() -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(importlib.import_module("numpy.random._generator").__file__)
    except (ImportError, OSError):
        return None


def _address(name: str) -> int | None:
    if name == "ready":
        from zyg.backend.llvm.engine import engine

        return engine().address_of("zyg_generator_ready")
    function = getattr(_library(), f"random_{name}", None)
    return None if function is None else ctypes.cast(function, ctypes.c_void_p).value


provide("random", _address)


@record(frozen=True, eq=False)
class CDraw:
    """A C function that draws one number, of the generator that is its first argument; the others are floats. `takes` and
    `gives` are "int" where it takes or gives integers."""

    name: str
    takes: str = "float"
    gives: str = "float"

    def __call__(self, *args: Any) -> Any:
        raise TypeError(f"{self.name} is for native code")

    def emit(self, e: Evaluator, generator: Abstract, *args: Abstract) -> Abstract:
        assert isinstance(generator, ArrayValue)
        numbers = [scalar_value(e, v) if self.takes == "int" else to_float(e, v) for v in args]
        e.emit("foreign", generator.value, types=(), symbol="random.ready", spec="m", int=64)
        (drawn,) = e.emit("foreign", generator.value, *numbers, types=(I64 if self.gives == "int" else F64,), int=64, returns=True,
                          symbol=f"random.{self.name}", spec="m" + "v" * len(numbers))  # fmt: skip
        return Number(drawn)


# The C function of a method, and for each of its arguments whether it may be any number ("a"), must be positive ("p") or not
# negative ("n").
SINGLE: dict[str, tuple[CDraw, str]] = {
    method: (CDraw(name), letters)
    for method, name, letters in (
        ("random", "standard_uniform", ""), ("standard_normal", "standard_normal", ""), ("normal", "normal", "an"),
        ("standard_exponential", "standard_exponential", ""), ("exponential", "exponential", "n"), ("gamma", "gamma", "nn"),
        ("standard_gamma", "standard_gamma", "n"), ("beta", "beta", "pp"), ("chisquare", "chisquare", "p"),
        ("lognormal", "lognormal", "an"), ("laplace", "laplace", "an"), ("logistic", "logistic", "an"),
        ("gumbel", "gumbel", "an"), ("standard_t", "standard_t", "p"), ("standard_cauchy", "standard_cauchy", ""),
        ("rayleigh", "rayleigh", "n"), ("weibull", "weibull", "n"), ("pareto", "pareto", "p"), ("power", "power", "p"),
        ("f", "f", "pp"), ("wald", "wald", "pp"),
    )
}  # fmt: skip
_UNIFORM, _POISSON, _BOUNDED = CDraw("uniform"), CDraw("poisson", gives="int"), CDraw("bounded_uint64", "int", "int")
for _function in (*(f for f, _ in SINGLE.values()), _UNIFORM, _POISSON, _BOUNDED):
    emits(_function)(_function.emit)


def single(e: Evaluator, state: ArrayValue, method: str, numbers: dict[str, Abstract]) -> Abstract | None:
    """One number by a C function, with NumPy's errors; None where there is none for it."""
    if not layout_is_known() or not all(map(is_number, numbers.values())):
        return None
    if method in ("uniform", "poisson"):
        return e.call(known(uniform if method == "uniform" else poisson), [state, *numbers.values()])
    if method == "integers":
        if not all(map(_is_int, numbers.values())):
            return None
        drawn = e.call(known(integers), [state, *numbers.values()])
        return Number(scalar_value(e, drawn), True)
    if method not in SINGLE:
        return None
    function, letters = SINGLE[method]
    for letter, (name, v) in zip(letters, numbers.items(), strict=True):
        if letter != "a":
            ok = known(positive if letter == "p" else not_negative)
            e.call(ok, [v, Known(f"{name} <= 0" if letter == "p" else f"{name} < 0")])
    return e.call(known(function), [state, *numbers.values()])


def _is_int(v: Abstract) -> bool:
    return (
        isinstance(v, Number)
        and v.type is I64
        or isinstance(v, Known)
        and isinstance(v.object, int)
        and -(2**63) <= v.object < 2**63
    )


def positive(v: float, message: str) -> None:
    check(not v <= 0.0, ValueError, message)


def not_negative(v: float, message: str) -> None:
    check(not math.copysign(1.0, v) < 0.0 or v != v, ValueError, message)


def uniform(state: Words, low: float, high: float) -> float:
    width = high - low
    check(math.isfinite(width), OverflowError, "high - low range exceeds valid bounds")
    check(not math.copysign(1.0, width) < 0.0, ValueError, "high - low < 0")
    return _UNIFORM(state, low, width)


def poisson(state: Words, lam: float) -> int:
    check(lam >= 0.0, ValueError, "lam < 0 or lam is NaN")
    check(lam <= _MOST, ValueError, "lam value too large")
    return _POISSON(state, lam)


def integers(state: Words, low: int, high: int, closed: bool) -> int:
    last = high if closed else high - 1
    check(low <= last, ValueError, "low > high" if closed else "low >= high")
    return _BOUNDED(state, low, machine("sub", last, low), 0, 0)
