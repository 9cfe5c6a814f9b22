"""The functions of `operator`: the same handlers as the operators."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from zyg.frontend import classes, comparison, lists, operators, scalars, subscripts
from zyg.frontend.python_ops import inplace
from zyg.frontend.scalars import boolean
from zyg.frontend.values import Abstract, Known, MethodValue, TupleValue

from .registry import emits, implements

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

_BINARY = "add sub mul truediv floordiv mod pow lshift rshift xor matmul lt le eq ne gt ge".split()


def _binary(name: str) -> Callable[..., Abstract]:
    return lambda e, a, b, /: operators.binary(e, name, a, b)


def _unary(name: str) -> Callable[..., Abstract]:
    return lambda e, a, /: operators.unary(e, name, a)


def _inplace(name: str) -> Callable[..., Abstract]:
    return lambda e, a, b, /: inplace(e, name, a, b)


for _name in _BINARY:
    emits(getattr(operator, _name))(_binary(_name))
    if _name not in ("lt", "le", "eq", "ne", "gt", "ge"):
        emits(getattr(operator, f"i{_name}"))(_inplace(_name))
for _name, _function in (("and", operator.and_), ("or", operator.or_)):
    emits(_function)(_binary(_name))
emits(operator.iand)(_inplace("and"))
emits(operator.ior)(_inplace("or"))
for _name in ("neg", "pos", "invert"):
    emits(getattr(operator, _name))(_unary(_name))
emits(operator.not_)(_unary("not"))
emits(operator.abs)(_unary("abs"))


@emits(operator.truth)
def _truth(e: Evaluator, v: Abstract, /) -> Abstract:
    return boolean(comparison.truth(e, v))


@emits(operator.is_)
def _is(e: Evaluator, a: Abstract, b: Abstract, /) -> Abstract:
    return boolean(comparison.identical(e, a, b))


@emits(operator.is_not)
def _is_not(e: Evaluator, a: Abstract, b: Abstract, /) -> Abstract:
    return boolean(scalars.negate(e, comparison.identical(e, a, b)))


@emits(operator.getitem)
def _getitem(e: Evaluator, a: Abstract, key: Abstract, /) -> Abstract:
    return subscripts.get_item(e, a, key)


@emits(operator.setitem)
def _setitem(e: Evaluator, a: Abstract, key: Abstract, value: Abstract, /) -> Abstract:
    subscripts.set_item(e, a, key, value)
    return Known(None)


@emits(operator.contains)
def _contains(e: Evaluator, container: Abstract, item: Abstract, /) -> Abstract:
    return subscripts.contains(e, item, container)


@emits(operator.concat)
def _concat(e: Evaluator, a: Abstract, b: Abstract, /) -> Abstract:
    return operators.binary(e, "add", a, b)


@emits(operator.index)
def _index(e: Evaluator, v: Abstract, /) -> Abstract:
    from .integers import cut_index

    return cut_index(e, v)


@implements(operator.countOf)
def count_of(items: Any, value: Any, /) -> int:
    result = 0
    for x in items:
        if x == value:
            result += 1
    return result


@implements(operator.indexOf)
def index_of(items: Any, value: Any, /) -> int:
    for i, x in enumerate(items):
        if x == value:
            return i
    raise ValueError("sequence.index(x): x not in sequence")


@emits(operator.itemgetter)
def _itemgetter(e: Evaluator, *keys: Abstract) -> Abstract:
    return MethodValue(get_items, TupleValue(tuple(keys)))


@emits(operator.attrgetter)
def _attrgetter(e: Evaluator, *names: Abstract) -> Abstract:
    return MethodValue(get_attributes, TupleValue(tuple(names)))


def get_items(keys: Any, v: Any) -> Any:
    """What `itemgetter(*keys)` does."""
    return v[keys[0]] if len(keys) == 1 else tuple(v[k] for k in keys)


def get_attributes(names: Any, v: Any) -> Any:
    """What `attrgetter(*names)` does."""
    return operator.attrgetter(*names)(v)


@emits(get_attributes)
def _get_attributes(e: Evaluator, names: Abstract, v: Abstract) -> Abstract:
    results = []
    for name in lists.known_items(e, names) or ():
        if not isinstance(name, Known) or not isinstance(name.object, str):
            e.type_error("attribute name must be a string")
        value = v
        assert isinstance(name, Known)
        for part in name.object.split("."):
            value = classes.get_attribute(e, value, part)
        results.append(value)
    return results[0] if len(results) == 1 else TupleValue(tuple(results))


@implements(functools.reduce)
def reduce(function: Any, iterable: Any, /, *initial: Any) -> Any:
    iterator = iter(iterable)
    if initial:
        total = initial[0]
    else:
        total = None
        empty = True
        for first in iterator:
            total = first
            empty = False
            break
        if empty:
            raise TypeError("reduce() of empty iterable with no initial value")
    for x in iterator:
        total = function(total, x)
    return total


@emits(functools.partial)
def _partial(e: Evaluator, function: Abstract, /, *args: Abstract, **keywords: Abstract) -> Abstract:
    from zyg.frontend.dicts import new_dict

    named = new_dict(e, keywords)
    return MethodValue(call_partial, TupleValue((function, TupleValue(args), named)))


def call_partial(bound: Any, /, *args: Any, **keywords: Any) -> Any:
    """What calling `functools.partial(...)` does."""
    function, first, named = bound
    return function(*first, *args, **{**named, **keywords})


call_partial.names = "func", "args", "keywords"  # as attributes of a partial are called
