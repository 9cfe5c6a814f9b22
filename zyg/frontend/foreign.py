"""What functions that zyg cannot see into return, where that is known: functions of ctypes say it, so do ufuncs, and for others
the user does, with their rule (`zyg.adjoint(f, returns=float)`).  Compiled code calls them with boxed arguments."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.ir import types as t
from zyg.ir.types import BOOL, F64, I64, NpScalar, Tuple, Type
from zyg.remedies import qualified
from zyg.rules import rule_for
from zyg.typeof import dtype_scalar, type_of

from .values import Abstract, ArrayValue, ConflictValue, Known, Number

if TYPE_CHECKING:
    from .evaluator import Evaluator

_FUNCTION = type(ctypes.pythonapi.Py_IsInitialized).__mro__[1]  # what all functions of ctypes are
_CTYPES: dict[Any, Type] = {None: t.NONE, ctypes.c_bool: BOOL}
_CTYPES |= dict.fromkeys((ctypes.c_double, ctypes.c_float), F64)
_CTYPES |= dict.fromkeys(
    (ctypes.c_byte, ctypes.c_ubyte, ctypes.c_short, ctypes.c_ushort, ctypes.c_int, ctypes.c_uint, ctypes.c_long,
     ctypes.c_longlong), I64)  # fmt: skip
_CLASSES: dict[Any, Type] = {float: F64, int: I64, bool: BOOL, None: t.NONE, type(None): t.NONE}


def call_foreign(e: Evaluator, function: Any, args: list[Abstract], keywords: dict[str, Abstract]) -> Abstract | None:
    """A call of a function that is known to return something of a type that compiled code has; None if this is not one."""
    from .exceptions import call_of_python

    returned = result_type(e, function, args)
    silent = returned is None and rule_for(function) is not None and not isinstance(function, type)
    if returned is None and not silent:
        return None
    if returned is not None:
        return call_of_python(e, function, args, keywords, returned)
    call_of_python(e, function, args, keywords)
    name = qualified(function)
    what = f"the value of {name}(...), a function that native code does not know"
    hint = f"say what it returns with its rule: @zyg.adjoint({name}, returns=float)"
    return ConflictValue(what, (what,), hint, e.position)


def result_type(e: Evaluator, function: Any, args: list[Abstract]) -> Type | None:
    """The type of what a call gives, None if nobody knows."""
    rule = rule_for(function)
    if rule is not None and rule.says_what_it_returns:
        e.inference.guard("rule", function, rule)
        return declared(rule.returns)
    if isinstance(function, _FUNCTION):
        restype = function.restype
        e.inference.guard("attr", function, "restype", restype)
        try:
            return _CTYPES.get(restype)
        except TypeError:
            return None
    if isinstance(function, np.ufunc):
        return _ufunc_type(function, args)
    return None


def declared(returns: Any) -> Type:
    """`returns=` as a type: a class, a tuple of such, or an example of what is returned."""
    if isinstance(returns, type) or returns is None:
        if returns in _CLASSES:
            return _CLASSES[returns]
        if isinstance(returns, type) and issubclass(returns, np.generic):
            scalar = dtype_scalar(np.dtype(returns))
            if scalar is not None:
                return NpScalar(scalar)
    if isinstance(returns, tuple):
        return Tuple(tuple(map(declared, returns)))
    return type_of(returns)


def _ufunc_type(function: np.ufunc, args: list[Abstract]) -> Type | None:
    """Of a ufunc on numbers."""
    if function.nout != 1 or len(args) != function.nin:
        return None
    kinds: list[Any] = []
    for v in args:
        if isinstance(v, ArrayValue):
            return None
        if isinstance(v, Known) and type(v.object) in (bool, int, float):
            kinds.append(np.dtype(type(v.object)))
        elif isinstance(v, Number):
            kinds.append(
                np.dtype({"f64": "f8", "f32": "f4", "i64": "i8", "i32": "i4", "u8": "u1"}.get(v.type.name, "?"))
            )
        else:
            return None
    try:
        resolved = function.resolve_dtypes((*kinds, None))
    except TypeError:
        return None
    scalar = dtype_scalar(resolved[-1])
    return None if scalar is None else NpScalar(scalar)
