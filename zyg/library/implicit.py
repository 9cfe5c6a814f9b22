"""Gradients by the arrays that a function uses without taking them as arguments; what `zyg.params` makes of them is for
Python.  The value, those arrays, and the gradient by each, or the pullback to them."""

from __future__ import annotations

from zyg.frontend.evaluator import Evaluator
from zyg.frontend.values import Abstract, ArrayValue, TupleValue

from .gradients import Differentiated, differentiate, gradient_of, real_scalar
from .pullbacks import any_value, pullback_of


def implicit_gradient(e: Evaluator, f: Abstract) -> Abstract:
    d = differentiate(e, f, [], {}, False, real_scalar("gradient"), implicit=True)
    value, gradients = gradient_of(e, d)
    return TupleValue((value, _arrays(d), TupleValue(tuple(gradients))))


def implicit_pullback(e: Evaluator, f: Abstract) -> Abstract:
    d = differentiate(e, f, [], {}, True, any_value, implicit=True)
    value, back = pullback_of(e, f, d).items
    return TupleValue((value, _arrays(d), back))


def _arrays(d: Differentiated) -> Abstract:
    """The caller's arrays, in the order of the gradients."""
    operands = dict(zip(map(id, d.params), d.body.operands, strict=True))
    return TupleValue(tuple(ArrayValue(operands[id(v.value)]) for v in d.body.args if isinstance(v, ArrayValue)))
