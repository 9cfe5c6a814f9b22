"""In which order the results of library code lie in memory: as those of NumPy's own functions (frontend/orders.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays, lists, orders
from zyg.frontend.arrays import dtype_of, shape_argument
from zyg.frontend.values import Abstract

from ..registry import emits

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator


def empty_as(a: Any, shape: Any, dtype: Any, order: str) -> Any:
    """A new array of as many dimensions as `a`, in the order that the letter asks for of what is made like `a`; with "I" in that of
    what NumPy makes of it element by element, in an iteration."""
    return np.empty(shape, dtype)


@emits(empty_as)
def _empty_as(e: Evaluator, a: Abstract, shape: Abstract, dtype: Abstract, order: Abstract) -> Abstract:
    made = arrays.allocate(e, shape_argument(e, shape), dtype_of(e, dtype, arrays.element_type(a)), "empty")
    letter = arrays.constant(e, order, "order")
    return orders.laid_as(e, made, [a]) if letter == "I" else orders.like(e, made, a, letter)


def empty_joined(parts: Any, shape: Any, dtype: Any) -> Any:
    """A new array in which these arrays, of as many dimensions, are put together."""
    return np.empty(shape, dtype)


@emits(empty_joined)
def _empty_joined(e: Evaluator, parts: Abstract, shape: Abstract, dtype: Abstract) -> Abstract:
    items = lists.known_items(e, parts)
    assert items is not None
    made = arrays.allocate(e, shape_argument(e, shape), dtype_of(e, dtype), "empty")
    return orders.joined(e, made, items)


def empty_of(operands: Any, shape: Any, dtype: Any) -> Any:
    """A new array for what is made of operands element by element."""
    return np.empty(shape, dtype)


@emits(empty_of)
def _empty_of(e: Evaluator, operands: Abstract, shape: Abstract, dtype: Abstract) -> Abstract:
    items = lists.known_items(e, operands)
    assert items is not None
    made = arrays.allocate(e, shape_argument(e, shape), dtype_of(e, dtype), "empty")
    return orders.laid_as(e, made, items)


def relaid(made: Any, a: Any) -> Any:
    """A new array in Fortran order where `a`, of as many dimensions, is in that order alone, else in C order."""
    return made.copy("A")


@emits(relaid)
def _relaid(e: Evaluator, made: Abstract, a: Abstract) -> Abstract:
    return orders.relaid(e, made, a, "A")


def relaid_as(made: Any, operands: Any) -> Any:
    """A new array in C order as what NumPy makes of copies of these operands, element by element, lies."""
    return made


@emits(relaid_as)
def _relaid_as(e: Evaluator, made: Abstract, operands: Abstract) -> Abstract:
    items = lists.known_items(e, operands)
    assert items is not None
    copies = [
        orders.like(e, arrays.allocate_unchecked(e, arrays.dims(e, v), arrays.element_type(v), "empty"), v, "K")
        for v in items
        if isinstance(v, arrays.ARRAYS) and arrays.ndim(v) > 1
    ]
    laid = arrays.allocate_unchecked(e, arrays.dims(e, made), arrays.element_type(made), "empty")
    laid = orders.laid_as(e, laid, copies)
    if arrays.memory(laid).type.layout == "C":
        return made
    arrays.copy_elements(e, laid, made)
    return laid


def laid_at(made: Any, a: Any, axis: Any) -> Any:
    """A new array in C order, that has been made of an array at places of an axis, as NumPy's `reduceat` lays it."""
    return made


@emits(laid_at)
def _laid_at(e: Evaluator, made: Abstract, a: Abstract, axis: Abstract) -> Abstract:
    n = arrays.constant(e, axis, "axis")
    return orders.at_places(e, made, a, n)


def laid_without(made: Any, a: Any, axes: Any, keepdims: Any) -> Any:
    """A new array in C order, that has been made of an array along axes, as NumPy's reductions lay it."""
    return made


@emits(laid_without)
def _laid_without(e: Evaluator, made: Abstract, a: Abstract, axes: Abstract, keepdims: Abstract) -> Abstract:
    if not isinstance(made, arrays.ARRAYS):
        return made  # a number
    given, kept = arrays.constant(e, axes, "axes"), arrays.constant(e, keepdims, "keepdims")
    return orders.without(e, made, a, given, bool(kept))
