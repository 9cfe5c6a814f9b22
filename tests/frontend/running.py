"""Running inferred code in the interpreter of the IR, to compare with CPython."""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from zyg.frontend.infer import Inferred, infer
from zyg.ir.interpret import run, unflatten
from zyg.ir.options import Options
from zyg.ir.types import Closure, ObjectOf, Optional, RangeType, Struct, Tuple, Type, flatten
from zyg.ir.verify import verify
from zyg.typeof import type_of


def leaves(type: Type, value: Any) -> list[Any]:
    """A Python value taken apart by its type."""
    if isinstance(type, Tuple):
        return [x for t, v in zip(type.items, value, strict=True) for x in leaves(t, v)]
    if isinstance(type, (Struct, ObjectOf)):
        return [x for t, n in zip(type.items, type.names, strict=True) for x in leaves(t, getattr(value, n))]
    if isinstance(type, Optional):
        return [value is not None, *leaves(type.item, value)]
    if isinstance(type, RangeType):
        return [value.start, value.stop, value.step]
    if isinstance(type, Closure):
        parts = [c.cell_contents for c in value.__closure__ or ()] + list(value.__defaults__ or ())
        return [x for t, v in zip(type.items, parts) for x in leaves(t, v)]
    return [value] if flatten(type) else []


def compiled(function: Callable[..., Any], *args: Any, options: Options | None = None) -> Inferred:
    result = infer(function, tuple(map(type_of, args)), options=options)
    verify(result.module)
    return result


def evaluate(function: Callable[..., Any], *args: Any, options: Options | None = None) -> Any:
    """The value by way of typed SSA and its interpreter."""
    result = compiled(function, *args, options=options)
    flat = [x for t, v in zip(result.parameters, args, strict=True) for x in leaves(t, v)]
    for i in result.inputs:
        held = i.container[i.name] if i.kind == "global" else i.container.cell_contents
        flat.extend(leaves(i.type, held))
    values = run(result.module, *flat, entry=result.entry, limit=2_000_000)
    return unflatten(result.result, iter(values))


def outcome(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except Exception as error:
        return error


def same(a: Any, b: Any) -> bool:
    if isinstance(a, BaseException) or isinstance(b, BaseException):
        return type(a) is type(b) and str(a) == str(b)
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")  # fmt: skip
    if isinstance(a, (np.generic, np.bool_)) or isinstance(b, np.generic):
        # float64, int64 and bool come back as Python's.
        if isinstance(a, np.float32) != isinstance(b, np.float32):
            return False
        a, b = (x.item() if isinstance(x, np.generic) else x for x in (a, b))
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return a == b and math.copysign(1, a) == math.copysign(1, b) or a != a and b != b
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if dataclasses.is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))
    return a == b


def check(function: Callable[..., Any], *args: Any, options: Options | None = None) -> Any:
    """Compare with CPython: value and type, or the exception and its text; arrays that are arguments as well."""
    theirs, ours = copy.deepcopy(args), copy.deepcopy(args)
    expected = outcome(lambda: function(*theirs))
    found = outcome(lambda: evaluate(function, *ours, options=options))
    if isinstance(found, BaseException) and not same(found, expected):
        raise AssertionError(f"expected {expected!r}") from found
    assert same(found, expected), f"{function.__name__}{args}: {found!r}, CPython has {expected!r}"
    assert same(theirs, ours), f"{function.__name__}{args} left {ours!r}, CPython leaves {theirs!r}"
    return found
