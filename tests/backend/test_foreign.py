"""The op `foreign`: C functions by symbol, native code against the interpreter, and what passes know of them."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from zyg.autodiff.adjoint import adjoint
from zyg.errors import Unsupported
from zyg.ir import foreign
from zyg.ir.interpret import run
from zyg.ir.parsing import parse_function, parse_module
from zyg.ir.passes import dce
from zyg.ir.types import F64, I64, Array, Tuple
from zyg.ir.verify import VerifyError, verify

from .native import native

VECTOR = Array(F64, 1)
_C = ctypes.CDLL(None)
_made = []


def _callback(restype, *types):
    def register(function):
        made = ctypes.CFUNCTYPE(restype, *types)(function)
        _made.append(made)
        return ctypes.cast(made, ctypes.c_void_p).value

    return register


@_callback(None, ctypes.POINTER(ctypes.c_int32), ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double),
           ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_int32))  # fmt: skip
def scale(n, factor, x, y, info):
    """y = factor * x, in the manner of Fortran."""
    for k in range(n[0]):
        y[k] = factor[0] * x[k]
    info[0] = -n[0]


foreign.provide("test", {"scale": scale, "hypot": ctypes.cast(_C.hypot, ctypes.c_void_p).value,
                         "cosf": ctypes.cast(_C.cosf, ctypes.c_void_p).value}.get)  # fmt: skip

BY_VALUE = """func @f(%x: f64, %y: f64) -> f64 {
entry:
  %r = foreign %x, %y {symbol="test.hypot", spec="vv", int=32, returns=true} : f64
  return %r
}"""
SCALE = """func @f(%x: array<f64, 1, C>, %s: f64) -> (array<f64, 1, C>, i64) {
entry:
  %n = dim %x {axis=0} : i64
  %y = alloc %n {fill="empty"} : array<f64, 1, C>
  %info = foreign %n, %s, %x, %y {symbol="test.scale", spec="pprwo", int=32} : i64
  return %y, %info
}"""


def test_numbers_by_value():
    assert native(BY_VALUE, (F64, F64), F64)(3.0, 4.0) == 5.0 == run(parse_function(BY_VALUE), 3.0, 4.0)[0]
    text = """func @f(%x: f64) -> f64 {
entry:
  %s = cast %x : f32
  %r = foreign %s {symbol="test.cosf", spec="v", int=32, returns=true} : f32
  %d = cast %r : f64
  return %d
}"""
    assert native(text, (F64,), F64)(0.5) == _cos(0.5) == run(parse_function(text), 0.5)[0]


def _cos(x):
    _C.cosf.restype, _C.cosf.argtypes = ctypes.c_float, [ctypes.c_float]
    return _C.cosf(x)


def test_arrays_and_numbers_by_pointer():
    x = np.array([1.0, 2.0, -0.5])
    for y, info in (native(SCALE, (VECTOR, F64), Tuple((VECTOR, I64)))(x, 3.0), run(parse_function(SCALE), x, 3.0)):
        assert y.tolist() == [3.0, 6.0, -1.5] and info == -3


def test_what_is_not_read_is_not_called():
    function = parse_function(SCALE.replace("return %y, %info", "return %x, 1"))
    dce.run(function)
    assert [i.op for _, i in function.instructions()] == ["return"]
    function = parse_function(SCALE.replace("return %y, %info", "return %x, %info"))
    dce.run(function)
    assert any(i.op == "foreign" for _, i in function.instructions())


def test_no_derivative_without_a_rule():
    module = parse_module(BY_VALUE)
    with pytest.raises(Unsupported, match=r"a derivative through the C function test.hypot"):
        adjoint(module, "f", [True, True])
    module = parse_module(SCALE.replace("(array<f64, 1, C>, i64)", "f64").replace("return %y, %info", "return %s"))
    adjoint(module, "f", [True, True])


@pytest.mark.parametrize(("old", "new"), [("pprwo", "pprwoo"), ("pprwo", "pprw"), ("pprwo", "rprwo"), ("pprwo", "pprvo"),
                                          ("int=32", "int=16"), ("%n, %s, %x", "%s, %x")])  # fmt: skip
def test_the_verifier_looks_at_the_letters(old, new):
    with pytest.raises(VerifyError, match="foreign"):
        verify(parse_function(SCALE.replace(old, new)))


def test_unknown_symbols():
    with pytest.raises(LookupError, match=r"no C function test.nothing"):
        native(BY_VALUE.replace("hypot", "nothing"), (F64, F64), F64)
