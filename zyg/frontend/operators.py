"""Python's operators on abstract values: what the operands are decides who carries an operation out.

Numbers are Python's (python_numbers.py) or NumPy's (numpy_numbers.py), complex numbers and arrays have modules of their own,
and objects the methods of their class.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.ir.core import Const
from zyg.ir.departures import departing
from zyg.ir.ops import past_64_bits
from zyg.ir.types import BOOL, F32, F64, I32, I64, U8
from zyg.remedies import OUTSIDE, remedy_for

from . import alternatives, kinds, meeting
from .classes import is_object_class, look_up, object_record, operator_method, refuse_unless_without
from .comparison import compare, is_made_an_array, plain_tuple, truth
from .later import arrays, complexes, dicts, lists, numpy_numbers
from .merging import settled
from .opaque import natural
from .python_numbers import COMPARISONS, PYTHON, SYMBOLS, python_arithmetic, python_unary
from .scalars import negate
from .type_names import certain, class_of, python_type_name, settled_operand
from .values import (
    ARRAYS,
    NUMBER_CLASSES,
    Abstract,
    ArrayValue,
    ChoiceValue,
    ComplexArrayValue,
    ComplexValue,
    ConflictValue,
    Known,
    Number,
    Reference,
    StructValue,
    TupleValue,
    describe,
    is_number,
    is_numeric,
    known,
    number_type,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator


UNSUPPORTED = "unsupported operand type(s) for {}: '{}' and '{}'"

# Constants of these classes have no operators but what is found above.
_WITHOUT_OPERATORS = (str, bytes, type(None), type, FunctionType, BuiltinFunctionType)


def binary(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Abstract:
    """`a <operator> b` for the operator module's name of it (comparisons included)."""
    if name in COMPARISONS:
        return compare(e, name, a, b)
    a, b = natural(a), natural(b)
    if not (is_number(a) and is_number(b)):
        from .exceptions import no_text

        no_text(e, a, b)
        text = UNSUPPORTED.format(SYMBOLS[name], "{}", "{}")
        a, b = settled_operand(e, a, text, a, b), settled_operand(e, b, text, a, b)
    if (isinstance(a, ComplexValue) or isinstance(b, ComplexValue)) and is_numeric(a) and is_numeric(b):
        if meeting.is_mixed(a) or meeting.is_mixed(b):
            return _of_mixed(e, name, complexes.arithmetic, complexes.arithmetic, a, b)
        return complexes.arithmetic(e, name, a, b)
    if isinstance(a, Known) and isinstance(b, Known) and _foldable(a) and _foldable(b):
        return fold(e, PYTHON[name], a.object, b.object)
    if is_number(a) and is_number(b):
        if meeting.is_mixed(a) or meeting.is_mixed(b):
            if name not in ("truediv", "and", "or", "xor"):
                _refuse_perhaps_bools(e, SYMBOLS[name], a, b)
            if name == "pow" and F64 not in (number_type(a), number_type(b)) and isinstance(b, Known) and b.object < 0:
                certain(e, a, "a negative power", lambda cls: issubclass(cls, np.generic))
            return _of_mixed(e, name, python_arithmetic, numpy_numbers.numpy_arithmetic, a, b)
        if isinstance(a, Number) and a.numpy or isinstance(b, Number) and b.numpy:
            return numpy_numbers.numpy_arithmetic(e, name, a, b)
        return python_arithmetic(e, name, a, b)
    return _other_binary(e, name, a, b)


def without_meaning(e: Evaluator, name: str, a: Abstract, b: Abstract) -> str:
    """What CPython says to an operator that the classes of its operands have not."""
    first, second = python_type_name(e, a), python_type_name(e, b)
    if name == "add" and first in ("str", "list", "tuple"):
        return f'can only concatenate {first} (not "{second}") to {first}'
    if name == "add" and first == "bytes":
        return f"can't concat {second} to bytes"
    if name == "mul":
        for one, other in ((first, second), (second, first)):
            if one in ("str", "bytes", "list", "tuple"):
                return f"can't multiply sequence by non-int of type '{other}'"
    return UNSUPPORTED.format(SYMBOLS[name], first, second)


def _of_mixed(
    e: Evaluator, name: str, python: Callable[..., Abstract], numpys: Callable[..., Abstract], *operands: Abstract
) -> Abstract:
    """An operator on numbers of which some are of this class on one path and of that on another. Where all of them may be
    Python's it is Python's: that raises where an int goes past 64 bits or something is divided by zero, so nothing wraps or
    becomes infinite that does not in CPython; where none raises they give the same."""
    if not any(isinstance(v, (Number, ComplexValue)) and v.numpy for v in operands):
        result = python(e, name, *operands)
    elif all(map(meeting.may_be_python, operands)):
        result = meeting.as_numpys(python(e, name, *map(meeting.as_python, operands)))
    else:
        return _of_numpys(e, name, numpys, *operands)
    return meeting.of_operator(name, result, *operands)


# Operators whose values are the same for integers and floats of 64 bits.
_SAME_VALUES = frozenset({"add", "sub", "mul", "neg", "pos", "abs"})


def _of_numpys(e: Evaluator, name: str, numpys: Callable[..., Abstract], *operands: Abstract) -> Abstract:
    """The operator where one of the numbers is NumPy's, whose type depends on those of both."""
    again = unary if len(operands) == 1 else binary
    function = lambda e, *numbers: again(e, name, *numbers)
    what = "" if len(operands) == 2 else SYMBOLS.get(name, name)
    if name not in _SAME_VALUES:
        alternatives.refuse_unlike(e, function, operands, what)
        return numpys(e, name, *operands)
    classes = alternatives.widened(e, function, operands, what)
    return meeting.of_classes(numpys(e, name, *operands), classes)


def _refuse_perhaps_bools(e: Evaluator, symbol: str, *operands: Abstract) -> None:
    """True + True is 2 with Python's bools and True with NumPy's: which of them numbers that met are has to be known."""
    classes = [meeting.classes_of(v) for v in operands]
    if all(cs & {bool, np.bool_} for cs in classes) and any(np.bool_ in cs for cs in classes):
        for v in operands:
            certain(e, v, symbol)


def _foldable(v: Known) -> bool:
    return type(v.object) in (bool, int, float, str, bytes)


def fold(e: Evaluator, function: Callable[..., Any], *args: Any) -> Abstract:
    """Evaluate at compile time; an exception is raised at run time."""
    of_ints = all(type(a) is int for a in args)
    if of_ints and function is operator.pow and abs(args[1]) > 4096 and abs(args[0]) > 1:
        e.throw(departing("OverflowError"), past_64_bits("**"))
    if of_ints and function is operator.lshift and args[1] > 4096:
        e.throw(departing("OverflowError"), past_64_bits("<<"))
    try:
        result = function(*args)
    except (ArithmeticError, ValueError, TypeError) as error:
        if isinstance(error, ZeroDivisionError) and e.options.error_model == "numpy" and type(args[0]) is not str:
            with np.errstate(all="ignore"):
                return known(float(function(*map(np.float64, args))))
        e.throw(type(error).__name__, str(error))
    return known(result)


def _beside_an_array(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Abstract | None:
    """An operator on an array and an object by the object's method: one in front of an array is asked first, one behind it where
    its class tells NumPy to leave it alone (`__array_ufunc__ = None`, or an `__array_priority__` above that of arrays, which is 0)."""
    if is_object_class(class_of(e, a)):
        return operator_method(e, name, a, b)
    cls = class_of(e, b)
    if not is_object_class(cls):
        return None
    found = look_up(e, cls, "__array_ufunc__")
    left = found[1] is None if found is not None else _has_priority(e, cls, b)
    return operator_method(e, name, a, b) if left else None


def _has_priority(e: Evaluator, cls: type, v: Abstract) -> bool:
    """Whether NumPy leaves the operators of arrays to the methods of an object behind them."""
    name = "__array_priority__"
    record = object_record(e, v)
    if name in (v.names if isinstance(v, StructValue) else () if record is None else record.named()):
        raise e.refuse(f"an {name} that an object has by itself", hint="write it in the class")
    found = look_up(e, cls, name)
    return found is not None and type(found[1]) in (bool, int, float) and found[1] > 0


def _other_binary(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Abstract:
    if name == "mod" and isinstance(a, Known) and isinstance(a.object, str):
        from .exceptions import percent

        return percent(e, a.object, plain_tuple(b))
    if isinstance(a, ARRAYS) or isinstance(b, ARRAYS):
        own = _beside_an_array(e, name, a, b)
        return own if own is not None else arrays.elementwise(e, name, a, b)
    own = operator_method(e, name, a, b) if isinstance(a, StructValue) or isinstance(b, StructValue) else None
    if own is not None:
        return own
    a, b = plain_tuple(a), plain_tuple(b)
    if name == "add" and isinstance(a, TupleValue) and isinstance(b, TupleValue):
        return TupleValue(a.items + b.items)
    if name == "mul":
        for sequence, count in ((a, b), (b, a)):
            if (isinstance(sequence, TupleValue) or kinds.is_list(e, sequence)) and number_type(count) in (F64, F32):
                if isinstance(count, Number) and count.numpy:
                    raise e.refuse("a list or a tuple times a NumPy scalar", hint="make an array of it: np.array(...)")
                e.type_error(f"can't multiply sequence by non-int of type '{python_type_name(e, count)}'")
            known_count = isinstance(count, Known) and type(count.object) in (int, bool)
            if known_count and isinstance(sequence, TupleValue) and isinstance(count, Known):
                return TupleValue(sequence.items * count.object)
            if kinds.is_list(e, sequence) and number_type(count) is not None:
                assert isinstance(sequence, Reference)
                return lists.repeat(e, sequence, count)
            is_text = isinstance(sequence, Known) and isinstance(sequence.object, (str, bytes))
            if (isinstance(sequence, TupleValue) or is_text) and number_type(count) in (BOOL, I64, I32, U8):
                what = f"a {python_type_name(e, sequence)} times a number that is not known when compiling"
                raise e.refuse(
                    what, hint="make it outside of the function" if is_text else "make a list of it: [...] * n"
                )
    if name == "add" and kinds.is_list(e, a) and kinds.is_list(e, b):
        return lists.concatenate(e, a, b)
    if name != "matmul" and is_made_an_array(e, a, b):
        return arrays.elementwise(e, name, a, b)
    if name == "or" and kinds.is_dict(e, a) and kinds.is_dict(e, b):
        return dicts.new_dict(e, dicts.named_items(e, a) | dicts.named_items(e, b))
    result = operator_method(e, name, a, b)
    if result is not None:
        return result
    if any(isinstance(v, (ConflictValue, ChoiceValue)) for v in (a, b)):
        raise e.refuse(
            f"operator {SYMBOLS[name]} on these values",
            types=[describe(a, e.heap), describe(b, e.heap)],
            hint="give each of them one type on all paths, or calculate on each path",
        )
    if name == "or" and isinstance(a, Known) and isinstance(b, Known) and isinstance(a.object, type):
        raise e.refuse("a union of types that is made at run time", hint="use a tuple of types")
    for v in (a, b):
        plain = isinstance(v, Known) and (type(v.object) in _WITHOUT_OPERATORS or is_number(v))
        if isinstance(v, Known) and not plain:
            raise e.refuse(
                f"the operator {SYMBOLS[name]} on a {type(v.object).__name__}", hint=remedy_for(v.object) or OUTSIDE
            )
    e.type_error(without_meaning(e, name, a, b))
    raise AssertionError


def unary(e: Evaluator, name: str, v: Abstract) -> Abstract:
    """neg, pos, invert, abs, not."""
    if name == "not":
        flag = truth(e, v)
        return Known(not flag.value) if isinstance(flag, Const) else Number(negate(e, flag))
    v = natural(v)
    symbol = {"neg": "unary -", "pos": "unary +", "invert": "unary ~", "abs": "abs()"}[name]
    v = settled(e, v, f"bad operand type for {symbol}: 'NoneType'")
    if isinstance(v, Known) and type(v.object) in NUMBER_CLASSES:
        if name == "invert" and type(v.object) is bool:
            return Known(~int(v.object))
        return fold(e, PYTHON[name], v.object)
    if isinstance(v, Number):
        if meeting.is_mixed(v):
            _refuse_perhaps_bools(e, symbol, v)
            return _of_mixed(e, name, python_unary, numpy_numbers.numpy_unary, v)
        return numpy_numbers.numpy_unary(e, name, v) if v.numpy else python_unary(e, name, v)
    if isinstance(v, ComplexValue):
        result = complexes.unary(e, name, v)
        return meeting.of_operator(name, result, v) if meeting.is_mixed(v) else result
    if isinstance(v, (ArrayValue, ComplexArrayValue)):
        return arrays.elementwise(e, name, v)
    result = operator_method(e, name, v)
    if result is not None:
        return result
    refuse_unless_without(e, v, f"the {symbol} of an object", f"__{name}__")
    e.type_error(f"bad operand type for {symbol}: '{python_type_name(e, v)}'")
    raise AssertionError
