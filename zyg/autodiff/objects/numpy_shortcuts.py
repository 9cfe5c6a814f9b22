"""Which functions, methods and operators of NumPy have short paths for arrays of floats. (`numpy_backs` says what for.)"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from zyg.backend import pulls
from zyg.backend.llvm.runtime.pull_rules import FUNCTION, PRODUCT
from zyg.backend.pulls import deferred, settle_record

from . import (  # noqa: F401  (the last three have the entries that take what short paths do not)
    calls,
    numpy_,
    numpy_functions,
    numpy_methods,
    numpy_native,
    numpy_products,
    numpy_short_elements,
    numpy_short_sums,
)
from .numpy_backs import Made, Short, ndarray
from .numpy_operators import OPERATORS, WITHOUT_NUMBERS
from .numpy_short_elements import NAMES, called, chosen, clipped, of_one, of_two, where
from .numpy_short_linalg import inverse, logarithm, norm, solved
from .numpy_short_moves import (
    appended,
    array,
    concatenated,
    copied,
    counted,
    joining,
    rolled_back,
    stacked,
    turned,
    viewed,
)
from .numpy_short_sums import extreme, outer, product, reduction


def _entry(f: Any, short: Short, general: Any) -> Any:
    """A function of NumPy where it is called: by the short path, if that takes the arguments."""

    def entry(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        if not args:
            return calls.call_foreign(f, **kwargs)
        return short(*args, **kwargs) or general(*args, **kwargs)

    return entry


FUNCTIONS: dict[Any, Short] = {
    **{u: of_one(u) if u.nin == 1 else of_two(u) for u in numpy_.UFUNCS},
    **{u: called(u) for u in NAMES},
    **{f: product(f) for f in (np.dot, np.matmul)},
    np.maximum: chosen(np.maximum, operator.gt, True),
    np.minimum: chosen(np.minimum, operator.lt, True),
    np.fmax: chosen(np.fmax, operator.gt, False),
    np.fmin: chosen(np.fmin, operator.lt, False),
    np.where: where,
    np.clip: clipped(np.clip),
    np.sum: reduction(np.sum, False),
    np.mean: reduction(np.mean, True),
    np.max: extreme(np.max, ndarray.argmax, np.maximum.reduce),
    np.min: extreme(np.min, ndarray.argmin, np.minimum.reduce),
    np.outer: outer,
    np.arange: counted,
    np.array: array,
    np.copy: copied(np.copy),
    np.roll: turned(np.roll, rolled_back),
    np.concatenate: joining(np.concatenate, lambda ndim: (concatenated, 0)),
    np.stack: joining(np.stack, lambda ndim: (stacked, 0)),
    np.hstack: joining(np.hstack, lambda ndim: (concatenated, 0 if ndim == 1 else 1)),
    np.vstack: joining(np.vstack, lambda ndim: (stacked, 0) if ndim == 1 else (concatenated, 0)),
    np.column_stack: joining(np.column_stack, lambda ndim: (stacked, 1) if ndim == 1 else (concatenated, 1)),
    np.append: appended,
    np.linalg.norm: norm,
    np.linalg.inv: inverse,
    np.linalg.solve: solved,
    np.linalg.slogdet: logarithm,
    **{
        f: viewed(f) for f in (np.reshape, np.ravel, np.transpose, np.swapaxes, np.expand_dims, np.squeeze, np.moveaxis)
    },
}


def run_method(name: str, short: Short | None, general: Any, x: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A method of arrays where it is called, whatever the array holds."""
    made = None if short is None else short(x, *args, **kwargs)
    if made is not None:
        return made
    if numpy_.of_objects(x):
        return calls.method_handler_of(getattr(x, name))(x, *args, **kwargs)
    return general(x, *args, **kwargs)


def _as_method(short: Short) -> Short:
    """Of the operands behind a function: those of a method come first."""

    def record(*args: Any, **kwargs: Any) -> Made:
        made = short(*args, **kwargs)
        return None if made is None else (made[0], (calls.run_shifted, made[1]))

    return record


_METHODS: dict[str, Short] = {
    "sum": reduction(ndarray.sum, False),
    "mean": reduction(ndarray.mean, True),
    "max": extreme(ndarray.max, ndarray.argmax, np.maximum.reduce),
    "min": extreme(ndarray.min, ndarray.argmin, np.minimum.reduce),
    "clip": _as_method(clipped(ndarray.clip)),
    "dot": product(ndarray.dot),
    "copy": copied(ndarray.copy),
    **{name: viewed(getattr(ndarray, name)) for name in ("reshape", "ravel", "transpose", "swapaxes", "squeeze")},
}
OPERATORS["matmul"] = WITHOUT_NUMBERS["matmul"] = product(operator.matmul)
for _f in (*numpy_short_elements.CASES, np.dot, np.matmul):
    FUNCTIONS[_f] = deferred("record", FUNCTIONS[_f])
for _f, _short in FUNCTIONS.items():
    calls.KNOWN[_f] = _entry(_f, _short, calls.KNOWN[_f])


# By name, what places remember of methods of arrays.
METHODS: dict[str, Any] = {
    name: functools.partial(run_method, name, _METHODS.get(name), general)
    for (cls, name), general in calls.METHODS.items()
    if cls is ndarray
}
calls.METHODS.update({(ndarray, name): entry for name, entry in METHODS.items()})


def record_product(record: Any, function: Any) -> None:
    """Native code records a product."""
    settle_record(record, function, numpy_native.run, PRODUCT, numpy_short_sums.CASES, numpy_native.SMALL)


def _record_natively() -> None:
    for u, case in numpy_short_elements.CASES.items():
        settle_record(FUNCTIONS[u], u, numpy_native.run, FUNCTION, [case], numpy_native.SMALL)
    for f in (np.dot, np.matmul):
        record_product(FUNCTIONS[f], f)


pulls.when_started(_record_natively)
