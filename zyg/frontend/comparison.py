"""Comparison of abstract values: order, equality, identity, and truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from zyg.ir.core import Const, Value, const
from zyg.ir.plainly import get_plainly
from zyg.ir.types import BOOL
from zyg.remedies import OUTSIDE, remedy_for

from . import meeting
from .classes import equality, find_in_class, operator_method, special
from .exceptions import no_text
from .kinds import is_dict, is_list, known_items
from .later import arrays, complexes, dicts, lists, numpy_numbers
from .merging import conflict, settled
from .opaque import natural, refuse_opaque
from .python_numbers import PYTHON, SYMBOLS, python_compare
from .scalars import all_of, any_of, boolean, negate, scalar_value
from .type_names import certain, class_of, python_type_name, settled_operand
from .values import (
    GIVEN,
    LENT,
    LISTED,
    READ_ONLY,
    STAND_IN,
    Abstract,
    ArrayValue,
    ChoiceValue,
    ComplexArrayValue,
    ComplexValue,
    ConflictValue,
    DictValue,
    FunctionValue,
    Known,
    MaybeValue,
    Number,
    RangeValue,
    Reference,
    SliceValue,
    StructValue,
    TupleValue,
    describe,
    is_number,
    is_numeric,
    is_reference,
    known_key,
    options_of,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator


def compare(e: Evaluator, name: str, a: Abstract, b: Abstract) -> Abstract:
    no_text(e, a, b)
    a, b = natural(a), natural(b)
    if is_number(a) and is_number(b):
        if isinstance(a, Known) and isinstance(b, Known):
            return Known(PYTHON[name](a.object, b.object))
        if isinstance(a, Number) and a.numpy or isinstance(b, Number) and b.numpy:
            result = numpy_numbers.numpy_compare(e, name, a, b)
            return meeting.of_operator(name, result, a, b) if meeting.is_mixed(a) or meeting.is_mixed(b) else result
        return Number(python_compare(e, name, a, b))
    if (isinstance(a, ComplexValue) or isinstance(b, ComplexValue)) and is_numeric(a) and is_numeric(b):
        result = complexes.comparison(e, name, a, b)
        return meeting.of_operator(name, result, a, b) if meeting.is_mixed(a) or meeting.is_mixed(b) else result
    for v in (a, b):
        if isinstance(v, ConflictValue):
            raise conflict(e, v)
    if is_made_an_array(e, plain_tuple(a), plain_tuple(b)):
        return arrays.elementwise(e, name, a, b)
    if name in ("eq", "ne"):
        if isinstance(a, (ArrayValue, ComplexArrayValue)) or isinstance(b, (ArrayValue, ComplexArrayValue)):
            return arrays.elementwise(e, name, a, b)
        asked, result, contrary = equality(e, name, a, b)
        if result is not None:
            return boolean(negate(e, truth(e, result))) if contrary else result
        flag = _without_answer(e, a, b) if asked else equal(e, a, b)
        if isinstance(flag, Const):
            return Known(bool(flag.value) == (name == "eq"))
        return Number(flag if name == "eq" else negate(e, flag))

    text = f"'{SYMBOLS[name]}' not supported between instances of '{{}}' and '{{}}'"
    if isinstance(a, ChoiceValue):
        return e.each(a, lambda one: compare(e, name, one, b))
    if isinstance(b, ChoiceValue):
        return e.each(b, lambda one: compare(e, name, a, one))
    if isinstance(a, MaybeValue) or isinstance(b, MaybeValue):
        return compare(e, name, settled_operand(e, a, text, a, b), settled_operand(e, b, text, a, b))
    if isinstance(a, Known) and isinstance(b, Known) and type(a.object) is type(b.object) is str:
        return Known(PYTHON[name](a.object, b.object))
    if isinstance(a, (ArrayValue, ComplexArrayValue)) or isinstance(b, (ArrayValue, ComplexArrayValue)):
        return arrays.elementwise(e, name, a, b)
    result = operator_method(e, name, a, b)
    if result is not None:
        return result
    a, b = plain_tuple(a), plain_tuple(b)
    items_a, items_b = known_items(e, a), known_items(e, b)
    if items_a is not None and items_b is not None and type(a) is type(b):
        return _compare_sequences(e, name, items_a, items_b)
    if is_list(e, a) and is_list(e, b):
        raise e.refuse("the order of two lists whose lengths are not known when compiling", hint="compare their items")
    for v in (a, b):
        found = find_in_class(class_of(e, v) or object, f"__{name}__")
        if isinstance(v, Known) and found is not None and found[0].__module__ != "builtins":
            raise e.refuse(
                f"the operator {SYMBOLS[name]} on a {type(v.object).__name__}", hint=remedy_for(v.object) or OUTSIDE
            )
    e.type_error(text.format(python_type_name(e, a), python_type_name(e, b)))
    raise AssertionError


def is_made_an_array(e: Evaluator, a: Abstract, b: Abstract) -> bool:
    """Whether one operand is a NumPy scalar and the other a list or a tuple, which NumPy makes an array of."""
    for number, sequence in ((a, b), (b, a)):
        if isinstance(sequence, TupleValue) or is_list(e, sequence):
            if isinstance(number, Known):
                return isinstance(number.object, np.generic)
            return isinstance(number, (Number, ComplexValue)) and number.numpy
    return False


def _compare_sequences(e: Evaluator, name: str, a: tuple[Abstract, ...], b: tuple[Abstract, ...]) -> Abstract:
    """Lexicographic order: the first items that differ decide, else the lengths."""
    for i, (x, y) in enumerate(zip(a, b)):
        flag = same_item(e, x, y)
        if isinstance(flag, Const):
            if flag.value:
                continue
            return compare(e, name, x, y)
        return e.if_else(
            flag,
            lambda i=i: _compare_sequences(e, name, a[i + 1 :], b[i + 1 :]),
            lambda x=x, y=y: compare(e, name, x, y),
        )
    return Known(PYTHON[name](len(a), len(b)))


def plain_tuple(v: Abstract) -> Abstract:
    """A named tuple as the tuple that it is."""
    return TupleValue(v.items) if isinstance(v, StructValue) and issubclass(v.cls, tuple) else v


def equal(e: Evaluator, a: Abstract, b: Abstract) -> Value:
    """a == b as a bool; of values of different kinds it is False."""
    a, b = natural(a), natural(b)
    if is_numeric(a) and is_numeric(b):
        result = compare(e, "eq", a, b)
        return scalar_value(e, result)
    for x, y in ((a, b), (b, a)):
        if isinstance(x, MaybeValue) and x.absent is None:
            if isinstance(y, Known) and y.object is None:
                return negate(e, x.present)
            if isinstance(y, MaybeValue) and y.absent is None:
                both = equal(e, x.item, y.item)
                same_presence = e.op("eq", x.present, y.present)
                return all_of(e, same_presence, e.op("or", both, negate(e, x.present)))
            return all_of(e, x.present, equal(e, x.item, y))
    refuse_opaque(e, "a comparison with", a, b, methods=("__eq__",))
    if isinstance(a, Known) and isinstance(b, Known):
        try:
            return const(bool(a.object == b.object))
        except Exception:
            return const(a.object is b.object)
    for x, y in ((a, b), (b, a)):
        if isinstance(x, ChoiceValue):
            if all(isinstance(o, Known) and natural(o) is o for v in (x, y) for o in options_of(v)):
                return by_tag(e, x, lambda o, y=y: equal(e, o, y))
            return scalar_value(e, e.each(x, lambda o, y=y: boolean(equal(e, o, y))))
    for v in (a, b):
        if isinstance(v, ConflictValue):
            raise conflict(e, v)
        if isinstance(v, (ArrayValue, ComplexArrayValue)):
            hint = "compare the elements, or say np.array_equal(a, b)"
            raise e.refuse(
                "a comparison by which an array is one of two items", types=[describe(a), describe(b)], hint=hint
            )
    no_text(e, a, b)
    if any(isinstance(v, (StructValue, Reference)) for v in (a, b)):
        asked, own, _ = equality(e, "eq", a, b)
        if asked:
            return _without_answer(e, a, b) if own is None else truth(e, own)
    if (fields := _compared_fields(e, a, b)) is not None:
        return _all_equal(e, fields)
    if is_dict(e, a) and is_dict(e, b):
        x, y = (dicts.named_items(e, v, ordered=False) for v in (a, b))
        return all_of(e, *(equal(e, x[k], y[k]) for k in x)) if x.keys() == y.keys() else const(False)
    if is_list(e, a) and is_list(e, b) and None in (known_items(e, a), known_items(e, b)):
        return lists.lists_equal(e, a, b)
    if isinstance(a, Reference) and isinstance(b, Reference):
        kinds = e.heap[a.id].kind, e.heap[b.id].kind
        if "list" not in kinds and "growing" not in kinds:
            return identical(e, a, b)
    items_a, items_b = known_items(e, a), known_items(e, b)
    if items_a is not None and items_b is not None:
        comparable = _same_class(e, a, b)
        if not comparable or len(items_a) != len(items_b):
            return const(False)
        return _all_equal(e, list(zip(items_a, items_b)))
    if isinstance(a, RangeValue) and isinstance(b, RangeValue):
        raise e.refuse("a comparison of two ranges", hint="compare start, stop and step")
    if (x := _slice_parts(a)) is not None and (y := _slice_parts(b)) is not None:
        return _all_equal(e, list(zip(x, y, strict=True)))
    return identical(e, a, b)


def _without_answer(e: Evaluator, a: Abstract, b: Abstract) -> Value:
    """a == b where the special methods of both do not know."""
    first, second = class_of(e, a), class_of(e, b)
    for kind in (tuple, list, dict, str, int, float):
        if all(isinstance(cls, type) and issubclass(cls, kind) for cls in (first, second)):
            raise e.refuse(
                f"a comparison of two {kind.__name__}s of which one has an `__eq__` that gives NotImplemented",
                hint=f"let `__eq__` say it: return {kind.__name__}.__eq__(self, other)",
            )
    return identical(e, a, b)


def _slice_parts(v: Abstract) -> tuple[Abstract, ...] | None:
    if isinstance(v, SliceValue):
        return v.parts()
    s = v.object if isinstance(v, Known) else None
    return (Known(s.start), Known(s.stop), Known(s.step)) if isinstance(s, slice) else None


def same_item(e: Evaluator, x: Abstract, y: Abstract) -> Value:
    """How containers compare `x`, an item of theirs, with `y`: an object is equal to itself, whatever its class says."""
    if x is y and unknown_objects(e, x):
        return const(True)
    others = {class_of(e, v) for v in unknown_objects(e, y)}
    for v in unknown_objects(e, x):
        if class_of(e, v) in others and special(e, v, "__eq__") is not None:
            raise e.refuse(
                f"objects out of a list of many that is an argument, of the class {python_type_name(e, v)}, which has an `__eq__`, as items of "
                "containers that are compared: there, an object is equal to itself in any case",
                hint="compare them by ==, one by one",
            )
    if not (is_reference(x) and is_reference(y)) or _listed(e, x, y):
        return equal(e, x, y)
    same = identical(e, x, y)
    return scalar_value(e, e.if_else(same, lambda: Known(True), lambda: boolean(equal(e, x, y))))


def unknown_objects(e: Evaluator, v: Abstract) -> list[Abstract]:
    """Those objects of which a value may be one that are lent by a list that is an argument: which objects of the program they are is not
    known. This is for `identical` and `same_item` to ask, by which goes all that tells identity: `is`, and how containers compare."""
    if isinstance(v, MaybeValue):
        return unknown_objects(e, v.item)
    if isinstance(v, ChoiceValue):
        return [x for option in v.options for x in unknown_objects(e, option)]
    lent = e.heap[v.id].state & LENT if isinstance(v, Reference) else isinstance(v, (StructValue, DictValue)) and v.lent
    return [v] if lent else []


def _all_equal(e: Evaluator, pairs: list[tuple[Abstract, Abstract]]) -> Value:
    """Whether the items of two containers are equal; objects are not asked behind the first difference."""
    if not any(is_reference(v) for pair in pairs for v in pair):
        return all_of(e, *(same_item(e, x, y) for x, y in pairs))
    first, *others = pairs
    flag = same_item(e, *first)
    if not others:
        return flag
    result = e.if_else(flag, lambda: boolean(_all_equal(e, others)), lambda: Known(False))
    return scalar_value(e, result)


def _fields(e: Evaluator, v: Abstract) -> dict[str, Abstract]:
    if isinstance(v, StructValue):
        return dict(zip(v.names, v.items))
    assert isinstance(v, Reference)
    return e.heap[v.id].named()


def _compared_fields(e: Evaluator, a: Abstract, b: Abstract) -> list[tuple[Abstract, Abstract]] | None:
    """The pairs of fields that the `__eq__` which dataclass() writes compares; None if it does not apply."""
    cls = class_of(e, a)
    parameters = get_plainly(cls, "__dataclass_params__")
    if parameters is None or not parameters.eq or class_of(e, b) is not cls:
        return None
    sides = [_fields(e, v) for v in (a, b)]
    wanted = [f.name for f in cls.__dataclass_fields__.values() if f.compare and f._field_type.name == "_FIELD"]
    if any(n not in side for n in wanted for side in sides):
        return None
    return [(sides[0][n], sides[1][n]) for n in wanted]


def _same_class(e: Evaluator, a: Abstract, b: Abstract) -> bool:
    """Tuples and named tuples compare by items whatever their class; dataclasses and lists need the same one."""
    ca, cb = class_of(e, a), class_of(e, b)
    if ca is cb:
        return True
    return isinstance(ca, type) and isinstance(cb, type) and issubclass(ca, tuple) and issubclass(cb, tuple)


def _listed(e: Evaluator, *values: Abstract) -> bool:
    """Whether one of them is a list, or an object, that a growing list has by value."""
    return any(isinstance(v, Reference) and e.heap[v.id].state & LISTED for v in values)


def by_tag(e: Evaluator, choice: ChoiceValue, holds: Callable[[Abstract], Value]) -> Value:
    """Whether something holds for the option that a choice is at run time, without a branch."""
    flags = [all_of(e, e.op("eq", choice.tag, const(n)), holds(o)) for n, o in enumerate(choice.options)]
    return any_of(e, *flags)


_NONE_INSTEAD = "use None in the place of {} and ask `is None`, or keep a flag beside it"


def identical(e: Evaluator, a: Abstract, b: Abstract) -> Value:
    """a is b: where compiled code knows that. What it has by value, and what came in from outside by two ways, is refused if the two may
    be one."""
    if not any(isinstance(v, Known) and v.object is None for v in (a, b)):
        no_text(e, a, b)
    for v in (a, b):
        if isinstance(v, ConflictValue):
            raise conflict(e, v)
    for x, y in ((a, b), (b, a)):
        if isinstance(x, MaybeValue) and isinstance(y, Known) and y.object is x.absent:
            flag = negate(e, x.present)
            if not isinstance(flag, Const):
                e.facts[id(flag)] = (flag, x.present, False, True)
            return flag
        if isinstance(x, MaybeValue) and isinstance(y, MaybeValue):
            both = identical(e, x.item, y.item)
            return all_of(e, e.op("eq", x.present, y.present), any_of(e, both, negate(e, x.present)))
        if isinstance(x, MaybeValue):
            return all_of(e, x.present, identical(e, x.item, y))
    if isinstance(a, ChoiceValue) or isinstance(b, ChoiceValue):
        choice, other = (a, b) if isinstance(a, ChoiceValue) else (b, a)
        assert isinstance(choice, ChoiceValue)
        return by_tag(e, choice, lambda o: identical(e, o, other))
    if isinstance(a, Known) and isinstance(b, Known):
        return const(known_key(a.object) == known_key(b.object))
    if isinstance(a, Reference) and isinstance(b, Reference) and a.id == b.id:
        return const(True)
    if isinstance(a, ArrayValue) and isinstance(b, ArrayValue):
        if a.value is b.value:
            return const(True)
        raise e.refuse("`is` of two arrays", hint="compare what they hold")
    if isinstance(a, ComplexArrayValue) and isinstance(b, ComplexArrayValue):
        return identical(e, a.floats, b.floats)
    for number, flag in ((a, b), (b, a)):
        if isinstance(number, (Number, ComplexValue)) and isinstance(flag, Known) and type(flag.object) is bool:
            classes = meeting.classes_of(number)
            remedy = "write bool(x)" if np.bool_ in classes else _NONE_INSTEAD.format(flag.object)
            certain(e, number, f"`is {flag.object}`", lambda cls: cls is bool, remedy)
            return equal(e, a, b) if bool in classes else const(False)
    if is_numeric(a) and is_numeric(b):
        raise e.refuse("`is` of two numbers", hint="write ==")
    if a is b:
        return const(True)
    if not _may_be_one(e, a, b):
        return const(False)
    what, hint = describe(a, e.heap), "compare what they hold, or names that they have for it"
    raise e.refuse(f"`is` of two values that native code does not keep apart by identity ({what})", hint=hint)


def _may_be_one(e: Evaluator, a: Abstract, b: Abstract) -> bool:
    """Whether two values that are apart in compiled code may be one object of the program."""
    classes = class_of(e, a), class_of(e, b)
    if classes[0] is not classes[1]:
        return False
    if isinstance(a, TupleValue) and isinstance(b, TupleValue):
        return len(a.items) == len(b.items)
    if isinstance(a, FunctionValue) and isinstance(b, FunctionValue):
        return a.code is b.code
    for function, other in ((a, b), (b, a)):
        if isinstance(function, FunctionValue) and isinstance(other, Known):
            return function.code is get_plainly(other.object, "__code__")
    states = [e.heap[v.id].state if isinstance(v, Reference) else READ_ONLY for v in (a, b)]
    if not any(isinstance(v, Reference) for v in (a, b)):
        return True  # by value
    if unknown_objects(e, a) or unknown_objects(e, b):
        return True
    if any(isinstance(v, StructValue) for v in (a, b)):
        return any(state & LISTED for state in states)  # out of a list that has them by value
    if _listed(e, a, b):
        return is_list(e, a)
    if any(state & STAND_IN for state in states):
        return True
    # Those that came in as arguments are known apart (`Shared`); one that a global or captured variable holds may be any of them.
    outside = all(state & (GIVEN | READ_ONLY) for state in states)
    return outside and any(state & READ_ONLY for state in states)


def truth(e: Evaluator, v: Abstract) -> Value:
    """bool(v) as an SSA bool (a constant where it is known)."""
    v = natural(v)
    if isinstance(v, Known):
        refuse_opaque(e, "the truth of", v, methods=("__bool__", "__len__"))
        return const(bool(v.object))
    if isinstance(v, Number):
        return v.value if v.type is BOOL else e.op("ne", v.value, const(0, v.type))
    if isinstance(v, ComplexValue):
        return complexes.truth(e, v)
    if isinstance(v, ConflictValue):
        raise conflict(e, v)
    if isinstance(v, MaybeValue):
        inner = truth(e, v.item)
        flag = all_of(e, v.present, inner)
        if not isinstance(flag, Const):
            # Where it does not hold, the value may still be there (and be 0), unless it is always true.
            e.facts[id(flag)] = (flag, v.present, True, False if flag is v.present else None)
        return flag
    if isinstance(v, (ArrayValue, ComplexArrayValue)):
        return arrays.truth(e, v)
    if isinstance(v, RangeValue):
        from .iterators import range_length

        return e.op("ne", range_length(e, v), const(0))
    no_text(e, v)
    if isinstance(v, (StructValue, Reference)):
        answer = operator_method(e, "bool", v)  # the class's own, in the order that Python asks them
        if answer is not None:
            return _answered(e, answer)
        found = lists.length_by_method(e, v)
        if found is not None:
            return truth(e, found)
    length = lists.length_of(e, v)
    if length is not None:
        return truth(e, length)
    if isinstance(v, ChoiceValue):
        flags = [truth(e, o) for o in v.options]
        if all(isinstance(f, Const) and f.value for f in flags):
            return const(True)
        raise e.refuse(
            "the truth of a choice between constants",
            types=[describe(v, e.heap)],
            hint="keep a flag beside it, True or False",
        )
    return const(True)


def _answered(e: Evaluator, answer: Abstract) -> Value:
    """What a `__bool__` gave, which has to be a bool of Python."""
    message = "__bool__ should return bool, returned {}"
    answer = settled(e, answer, message.format("NoneType"))
    answer = certain(e, answer, "the answer of __bool__", lambda cls: cls is bool)
    if not isinstance(answer, ChoiceValue) and class_of(e, answer) is not bool:
        e.type_error(message.format(python_type_name(e, answer)))
    return truth(e, answer)
