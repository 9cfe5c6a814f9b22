"""Comparisons, `in`, `not`, truth, formatting and the lengths that patterns ask for: operations of the language that C code does, and that ask operands."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import operator
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from types import FunctionType, WrapperDescriptorType
from typing import Any

import numpy as np

from zyg.backend.phrases import HASHED
from zyg.errors import Unsupported
from zyg.ir.plainly import get_plainly

from ..identity import note
from ..trying import bodies
from . import calls, fields_apart, foreign, later
from .arithmetic import behind_answer, derives, find, find_special, is_python
from .backs import run_shifted
from .cotangents import DATES
from .ordering import is_quiet
from .passing import passes, passes_in_turn, run_nothing_flows
from .reach import PLAIN, SIZED, check_key, entered
from .reentry import followed, index_of, matters, run_gathered, steps_on, undone

HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made by a class statement

# What is known of the special methods that only ask, by class, and apart in `try` bodies (`special.special_method`).
BY_CLASS: dict[str, tuple[dict[Any, Any], dict[Any, Any]]] = {
    name: ({}, {}) for name in ("__len__", "__bool__", "__str__", "__repr__")
}

# In these `x in c` asks x for its hash only, and what has the same.
_HASHED = frozenset({dict, set, frozenset, str, bytes, range, Counter, OrderedDict, defaultdict})
_BY_HASH = frozenset({vars(cls)["__contains__"] for cls in (dict, set, frozenset)})


_F64 = np.dtype(float)


def _comparison(f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], tuple[Any, Any]]:
    by_identity = f in (operator.eq, operator.ne)
    name = f.__name__

    @passes()
    def record(a: Any, b: Any) -> tuple[Any, Any]:
        if type(a) is np.ndarray and a.dtype is _F64 and (type(b) is float or type(b) is int):
            return f(a, b), None
        if (type(a) is np.ndarray and _is_compared(a, b)) or (type(b) is np.ndarray and _is_compared(b, a)):
            return f(a, b), None
        if by_identity and _is_equated(type(a)) and _is_equated(type(b)):
            return f(a, b), None
        if (type(a) in PLAIN or _is_flat(a)) and (type(b) in PLAIN or _is_flat(b)):
            return f(a, b), None
        if type(a) is type(b) and is_quiet(a) and is_quiet(b):
            return f(a, b), None
        if type(a) in DATES and type(b) in DATES:
            return f(a, b), None
        return _compared(name, a, b) or followed(f, (a, b))

    return record


_REFLECTED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
_SIGNS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
# Which do not know objects of classes that are derived from none of them, and say so without asking these.
_ASKING_NOBODY = frozenset(
    {float, int, bool, complex, str, bytes, type(None), list, tuple, dict, set, frozenset, range, type}
)


@passes()
def _compared(name: str, a: Any, b: Any) -> tuple[Any, Any] | None:
    """(value, back) of a comparison by methods that are plain functions, or those of `object`; None for others, and nothing has run."""
    ta, tb = type(a), type(b)
    first, second = _comparing(name, ta), _comparing(_REFLECTED[name], tb)
    if first is None or second is None or (first is _SAYS_NOTHING and second is _SAYS_NOTHING):
        return None
    if ta is not tb and derives(tb, ta):
        return _in_order(name, a, b, second, first, 1)
    return _in_order(name, a, b, first, second, 0)


_SAYS_NOTHING: Any = object()


def is_ordered_by_methods(cls: type) -> bool:
    """Whether all that may be asked where an object of a class is compared with others by `<` or `>` are plain functions (and what
    asks nobody), at least one."""
    found = _comparing("lt", cls), _comparing("gt", cls)
    return None not in found and found != (_SAYS_NOTHING, _SAYS_NOTHING)


def _comparing(name: str, cls: type) -> Any:
    """The forward half of a method that compares objects of a class; a mark if that does not answer; None if it is not known."""
    if cls in _ASKING_NOBODY:
        return _SAYS_NOTHING
    if cls not in OF_PYTHON and not (later.knowledge.is_of_python(cls) and _note(OF_PYTHON, cls)):
        return None
    slot = f"__{name}__"
    found = find(cls, slot)
    if type(found) is not WrapperDescriptorType:
        return later.special.special_method(slot, cls, 2)
    if found is not object.__ne__:
        return _SAYS_NOTHING if found in _OF_OBJECT else None
    equal = _comparing("eq", cls)
    return equal if equal is None or equal is _SAYS_NOTHING else functools.partial(_unequal, equal)


# (`object.__eq__` answers for an object and itself, as CPython does at last.)
_OF_OBJECT = frozenset(vars(object)[f"__{name}__"] for name in _REFLECTED if name != "ne")


@passes()
def _unequal(equal: Any, this: Any, other: Any) -> tuple[Any, Any]:
    """`object.__ne__`, which asks `__eq__`."""
    y, back = equal(this, other)
    if y is NotImplemented:
        return y, back
    if back is None:
        truth, second = _truth_of_answer(y)
    else:
        with undone(back):
            truth, second = _truth_of_answer(y)
    return not truth, back if second is None else (_run_both, second, back)


@passes()
def _in_order(name: str, a: Any, b: Any, earlier: Any, later_one: Any, swapped: int) -> tuple[Any, Any]:
    y, back = NotImplemented, None
    if earlier is not _SAYS_NOTHING:
        y, back = _answer(earlier, a, b, swapped)
        if y is not NotImplemented:
            return y, back
    if later_one is not _SAYS_NOTHING:
        y, back = behind_answer(back, _answer, later_one, a, b, 1 - swapped)
        if y is not NotImplemented:
            return y, back
    with undone(back):
        return _without_answer(name, a, b), back


@passes(lambda variables: [(_run_reversed,)] if variables["swapped"] else [])
def _answer(forward: Any, a: Any, b: Any, swapped: int) -> tuple[Any, Any]:
    if not swapped:
        return forward(a, b)
    y, back = forward(b, a)
    return y, None if back is None else (_run_reversed, back)


def _without_answer(name: str, a: Any, b: Any) -> bool:
    """What a comparison gives if neither operand knows."""
    if name == "eq":
        return a is b
    if name == "ne":
        return a is not b
    kinds = f"'{type(a).__name__}' and '{type(b).__name__}'"
    raise TypeError(f"'{_SIGNS[name]}' not supported between instances of {kinds}")


def _is_compared(x: Any, other: Any) -> bool:
    """Whether an array is of numbers, and compared to an array of numbers, or to a number."""
    return x.dtype.kind in "fiub" and (
        type(other) in PLAIN or (type(other) is np.ndarray and other.dtype.kind in "fiub")
    )


# What `==` and `!=` compare by identity, or without running Python code, in what `in` asks by hash only, and what is true, or asked for
# its length, without running any, whatever the instance: as far as is known.
EQUATED: set[type] = set(PLAIN)
ASKED_BY_HASH: set[type] = set(_HASHED)
TESTED: set[type] = set(SIZED)
OF_PYTHON: set[type] = set()  # made by class statements, with all their bases


def forget_classes() -> None:
    """Classes may have changed."""
    EQUATED.intersection_update(PLAIN)
    ASKED_BY_HASH.intersection_update(_HASHED)
    TESTED.intersection_update(SIZED)
    OF_PYTHON.clear()


def _is_equated(cls: type) -> bool:
    if cls in EQUATED:
        return True
    by_identity = find(cls, "__eq__") is object.__eq__ and find(cls, "__ne__") is object.__ne__
    return by_identity and _note(EQUATED, cls)


def _is_tested(cls: type) -> bool:
    if cls in TESTED:
        return True
    if is_python(find_special(cls, "__bool__")) or is_python(find_special(cls, "__len__")):
        return False
    return all(c.__flags__ & HEAP_TYPE or c is object or c in SIZED for c in cls.__mro__) and _note(TESTED, cls)


def _note(known: set[type], cls: type) -> bool:
    later.knowledge.note_class(cls)
    note(known, cls, (cls,))
    return True


def _note_asked_by_hash(cls: type) -> bool:
    return find(cls, "__contains__") in _BY_HASH and later.knowledge.has_plain_shadow(cls) and _note(ASKED_BY_HASH, cls)


def _is_flat(x: Any, further: int = 2) -> bool:
    """Whether something is a container whose items run no Python code when they are compared; they may be such containers, so deep."""
    cls = type(x)
    if cls is dict:
        if not PLAIN.issuperset(map(type, x)):
            return False
        x = x.values()
    elif cls not in _FLAT:
        return False
    if PLAIN.issuperset(map(type, x)):
        return True
    return further > 0 and all(type(v) in PLAIN or _is_flat(v, further - 1) for v in x)


_FLAT = frozenset({tuple, list, set, frozenset, deque})


@passes()
def _contains(item: Any, container: Any) -> tuple[Any, Any]:
    t = type(container)
    if t in ASKED_BY_HASH:
        if t is not str and type(item) not in PLAIN:
            check_key(item)
        return item in container, None
    if t in _FLAT and type(item) in PLAIN and PLAIN.issuperset(map(type, container)):
        return item in container, None
    made = _by_container(item, container)
    if made is None:
        if _note_asked_by_hash(t):
            return _contains(item, container)
        if find_special(t, "__contains__") is None and _is_searched(t):
            y, back = calls.call(_is_among, (container, item))
            back = None if back is None else (run_shifted, back)
        else:
            y, back = followed(operator.contains, (container, item))
    else:
        y, back = made
        if type(y) is not bool:
            y, second = _truth_of_answer(y)
            back = back if second is None else (_run_both, second, back)
    return y, None if back is None else (_run_query, back, "in", foreign.caller())


@passes(lambda variables: [(_run_reversed,)])
def _by_container(item: Any, container: Any) -> tuple[Any, Any] | None:
    return _by_method("__contains__", container, item)


def _is_searched(cls: type) -> bool:
    """Whether code of the user's gives the items that are looked through."""
    method = find_special(cls, "__iter__")
    return is_python(method) or (method is None and is_python(find(cls, "__getitem__")))


def _is_among(container: Any, item: Any) -> bool:
    for other in container:  # noqa: SIM110 (no generator stands between)
        # (Run-time functions compare without asking for pullbacks: not so these of `operator`.)
        if other is item or operator.truth(operator.eq(other, item)):
            return True
    return False


def _truth_of_answer(y: Any) -> tuple[Any, Any]:
    """(What raises here has not been given the operands.)"""
    return QUERIES["truth"](y)


def _run_reversed(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The container is asked about the item."""
    given = calls.run(back[1], d, shadows)
    return None if given is None else given[::-1]


@passes()
def _truth(x: Any) -> tuple[Any, Any]:
    cls = type(x)
    if cls in TESTED:
        return bool(x), None
    found = BY_CLASS["__bool__"][1 if bodies else 0].get(cls)
    if found is not None and cls.__bool__ is found[1]:
        forward = found[2]
    else:
        forward = later.special.special_method("__bool__", cls, 1)
        if forward is None:
            return _tested(bool, x)
    y, back = forward(x)
    return (y, back) if type(y) is bool else (_complained(bool, y, back), back)


def _complained(f: Callable[[Any], Any], y: Any, back: Any) -> Any:
    """What C code makes of what a special method has given, which may be no bool, length or text: then it raises."""
    with undone(back):
        return f(_Answer(y))


@passes()
def _not(x: Any) -> tuple[Any, Any]:
    return (not x, None) if type(x) in TESTED else _tested(operator.not_, x)


@passes()
def _tested(f: Callable[[Any], bool], x: Any) -> tuple[Any, Any]:
    made = _by_method("__bool__", x)
    if made is not None:
        y, back = made  # nothing flows to `x`, which has a shadow
        return f(y) if type(y) is bool else _complained(f, y, back), back
    if _is_tested(type(x)):
        return f(x), None
    if find_special(type(x), "__bool__") is None:
        made = sized(x)
        if made is not None:
            return f(made[0]), made[1]
    y, back = followed(f, (x,))
    return y, None if back is None else (_run_query, back, "the truth", foreign.caller())


def looking(forward: Any) -> Callable[[Any], tuple[Any, Any]]:
    """A method that stores nothing: if it has recorded nothing, there is nothing to undo. (It stands here to be differentiated: what a
    method has recorded is of another form then.)"""

    @passes()
    def look(x: Any) -> tuple[Any, Any]:
        made = forward(x)
        y, back = made
        if back is not None and (type(y) is int or type(y) is bool or type(y) is str):
            for kept in back:
                if kept is not None and kept is not x and kept is not back[0]:
                    return made
            return y, None
        return made

    return look


class _Answer:
    """Has CPython complain about what a special method has given."""

    def __init__(self, value: Any):
        self.value = value

    def __bool__(self) -> Any:
        return self.value

    def __len__(self) -> Any:
        return self.value

    def __str__(self) -> Any:
        return self.value

    def __repr__(self) -> Any:
        return self.value

    def __format__(self, spec: str) -> Any:
        return self.value


def sized(x: Any) -> tuple[Any, Any] | None:
    """(length, back), by a `__len__` that is a plain function or runs no Python code; None for others, and nothing has run."""
    made = _by_method("__len__", x)
    if made is None:
        return (len(x), None) if _is_tested(type(x)) else None
    return length_given(*made)


def length_given(y: Any, back: Any) -> tuple[Any, Any]:
    """(length, back), from what a `__len__` gave."""
    if type(y) is int and y >= 0:
        return y, back
    with undone(back):
        n, asked = index_of(y)
    if asked is not None:
        back = _run_both, asked, back
    return _complained(len, n, back), back


@passes()
def _by_method(slot: str, x: Any, *args: Any) -> tuple[Any, Any] | None:
    """(value, back) of a special method of `x` that is a plain function; None, and nothing has run, if it is none."""
    forward = later.special.special_method(slot, type(x), 1 + len(args))
    return None if forward is None else forward(x, *args)


def _run_query(back: tuple[Any, ...], d: Any, shadows: Any, constants: tuple[int, ...] = ()) -> None:
    """Where only a truth matters nothing flows to the operands; what a method has kept of them would, if they are no constants."""
    _, inner, name, place = back
    given = calls.run(inner, d, shadows)
    for c in given or ():
        if c is not None:
            break
    else:
        return
    if name == "in":
        given = given[::-1]  # the container is asked
    if any(matters(c) for k, c in enumerate(given) if k not in constants):
        hint = "call the method by itself"
        raise Unsupported(
            f"a derivative by an operand of `{name}`, which a special method has kept",
            foreign.position_of(place),
            hint=hint,
        )


_CONVERSIONS: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}


@passes()
def text(f: Callable[[Any], str], x: Any) -> tuple[str, Any] | None:
    """(text, back) of `str(x)` or `repr(x)`, by a method that is a plain function or runs no Python code; None for others, and nothing
    has run."""
    cls = type(x)
    if cls in PLAIN:
        return f(x), None
    if cls in _BRACKETS:
        return _text_of_container(x)
    slot = f"__{f.__name__}__"
    method = find(cls, slot)
    if f is str and method is object.__str__:
        slot, method = "__repr__", find(cls, "__repr__")
    if type(method) is WrapperDescriptorType and method in _SAYING_ARGUMENTS:
        return (f(x), None) if PLAIN.issuperset(map(type, _arguments(x))) else None
    if type(method) is FunctionType and method.__code__ is _OF_DATACLASSES and _tells_fields(method, x):
        return f(x), None
    made = _by_method(slot, x) if is_python(method) else None
    if made is None:
        return None
    y, back = made  # nothing flows to `x`, which has a shadow
    if type(y) is not str:
        y = _complained(f, y, back)
    return y, back


@dataclasses.dataclass
class _Example:
    pass


# The code of the function that dataclasses put around the `__repr__` that they write.
_OF_DATACLASSES = vars(_Example)["__repr__"].__code__


def _tells_fields(method: Any, x: Any) -> bool:
    """Whether a `__repr__` is one that the library has written, and runs no code of the user's: what the fields hold is plain."""
    written = get_plainly(method, "__wrapped__")
    if type(written) is not FunctionType or written.__code__.co_filename != "<string>":
        return False
    names = fields_apart.names_of(type(x))
    return names is not None and all(
        later.accesses.reads_plainly(x, name) and type(getattr(x, name, x)) in PLAIN for name in names
    )


calls.known(_tells_fields, exact=True)(functools.partial(calls.call_plainly, _tells_fields))

_BRACKETS = {list: "[]", tuple: "()", dict: "{}"}


@passes()
def _text_of_container(x: Any) -> tuple[str, Any]:
    """What `repr` gives of a list, tuple or dict, with the items' own texts."""
    begin, end = _BRACKETS[type(x)]
    if PLAIN.issuperset(map(type, x)) and (type(x) is not dict or PLAIN.issuperset(map(type, x.values()))):
        return repr(x), None
    if _enter_repr(x):
        return f"{begin}...{end}", None  # it is in itself
    texts: list[str] = []
    backs: list[Any] = []
    try:
        with undone((run_gathered, backs), backs):
            if type(x) is dict:
                for key, value in list(x.items()):
                    texts.append(f"{_noted_text(key, backs)}: {_noted_text(value, backs)}")
            else:
                at = 0
                while at < len(x):  # a list may change meanwhile
                    texts.append(_noted_text(x[at], backs))
                    at += 1
    finally:
        _leave_repr(x)
    comma = "," if type(x) is tuple and len(x) == 1 else ""
    return f"{begin}{', '.join(texts)}{comma}{end}", (run_gathered, backs) if backs else None


@passes()
def _noted_text(x: Any, backs: list[Any]) -> str:
    y, back = _convert(x, "r")
    if back is not None:
        backs.append((run_nothing_flows, back))
    return y


def _enter_repr(x: Any) -> bool:
    """Whether the text of a container is being made already, by whatever code; it is from now on."""
    return ctypes.pythonapi.Py_ReprEnter(ctypes.py_object(x)) != 0


def _leave_repr(x: Any) -> None:
    ctypes.pythonapi.Py_ReprLeave(ctypes.py_object(x))


@calls.known(_enter_repr, exact=True)
def _enter_again(x: Any) -> tuple[bool, Any]:
    return _enter_repr(x), None


@calls.known(_leave_repr, exact=True)
def _leave_again(x: Any) -> tuple[None, Any]:
    return _leave_repr(x), None


# What exceptions have, most of which say no more than their arguments.
_SAYING_ARGUMENTS = frozenset({BaseException.__str__, BaseException.__repr__, KeyError.__str__})
_arguments: Callable[[BaseException], tuple[Any, ...]] = vars(BaseException)["args"].__get__


@passes()
def _convert(x: Any, conversion: str) -> tuple[Any, Any]:
    f = _CONVERSIONS[conversion]
    return (None if f is ascii else text(f, x)) or followed(f, (x,))


@passes()
def _format(x: Any, *more: Any) -> tuple[Any, Any]:
    *spec, conversion = more
    if not conversion:
        if find(type(x), "__format__") is object.__format__:
            made = None if spec else text(str, x)
        else:
            made = _formatted(x, *(spec or ("",)))
        return made or followed(format, (x, *spec))
    converted, back = _convert(x, conversion)
    return format(converted, *spec), back if back is None else (_run_formatted, back)


@passes(lambda variables: [(run_nothing_flows,)])
def _formatted(x: Any, spec: str) -> tuple[str, Any] | None:
    """(text, back) by a `__format__` that is a plain function; None for others, and nothing has run."""
    made = _by_method("__format__", x, spec)
    if made is None:
        return None
    y, back = made
    if type(y) is not str:
        y = _complained(format, y, back)
    return y, None if back is None else (run_nothing_flows, back)


def _run_formatted(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], None, shadows)
    return None if given is None else (*given, None)


# What such an operation may be done plainly on, by operand.
DIRECT: dict[str, tuple[AbstractSet[type], ...]] = {
    **dict.fromkeys(("lt", "le", "gt", "ge"), (PLAIN, PLAIN)),
    **dict.fromkeys(("eq", "ne"), (EQUATED, EQUATED)),
    "contains": (HASHED, ASKED_BY_HASH),
    "not": (TESTED,),
    "truth": (TESTED,),
    "format": (PLAIN, PLAIN),
    "convert": (PLAIN,),
    "len_": (SIZED,),
}
QUERIES: dict[str, Callable[..., tuple[Any, Any]]] = {
    **{name: _comparison(getattr(operator, name)) for name in ("lt", "le", "eq", "ne", "gt", "ge")},
    "contains": _contains,
    "not": _not,
    "truth": _truth,
}


@passes()
def _length(x: Any) -> tuple[int, Any]:
    """The length that a sequence pattern asks for."""
    if type(x) in SIZED:
        return len(x), None
    return sized(x) or followed(len, (x,))


RECORD = {**QUERIES, "convert": _convert, "format": _format, "len_": _length}


def _truth_of(name: str) -> Callable[..., tuple[Any, Any]]:
    record = QUERIES[name]

    @passes()
    def record_truth(a: Any, b: Any) -> tuple[bool, Any]:
        y, back = record(a, b)
        if back is None and type(y) is bool:
            return y, None
        truth, second = _truth_of_answer(y)
        if second is not None:
            back = (_run_both, second, back)
        return truth, None if back is None else (_run_query, back, name, foreign.caller())

    return record_truth


def _run_both(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    calls.run(back[1], None, shadows)
    return calls.run(back[2], None, shadows)


# Comparisons of which only the truth matters.
TRUTHS = {name: _truth_of(name) for name in ("lt", "le", "eq", "ne", "gt", "ge")}


def _of_second_order(record: Callable[..., tuple[Any, Any]], op: str) -> None:
    @calls.known(record)
    @passes()
    @passes_in_turn()
    def of_second_order(*operands: Any) -> tuple[Any, Any]:
        by_hash = op == "contains" and type(operands[1]) in ASKED_BY_HASH  # which never has a pullback
        if not by_hash and (entered(operands) or steps_on(operands)):
            return calls.differentiated(record)(*operands)
        y, back = record(*operands)
        if back is None or by_hash or type(y) is bool or type(y) is int:
            return (y, None), None  # what has been called only calculates: there is nothing to undo
        return calls.differentiated(record)(*operands)


for _op, _record in (*RECORD.items(), *TRUTHS.items()):
    _of_second_order(_record, _op)


@functools.cache
def record_of(op: str, only_tested: bool, constants: tuple[int, ...]) -> Callable[..., tuple[Any, Any]]:
    """What records an operation: `only_tested`, if only the truth of a comparison matters; `constants`: the operands that carry no
    derivative, wherever it is recorded."""
    record = TRUTHS[op] if only_tested else RECORD[op]
    if not constants or (op in TRUTHS and not only_tested):
        return record

    @passes()
    def record_about(*operands: Any) -> tuple[Any, Any]:
        y, back = record(*operands)
        return y, back if back is None or back[0] is not _run_query else (_run_about, back, constants)

    _of_second_order(record_about, op)
    return record_about


def _run_about(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _run_query(back[1], d, shadows, back[2])


__all__ = [
    "BY_CLASS",
    "DIRECT",
    "QUERIES",
    "RECORD",
    "TRUTHS",
    "forget_classes",
    "is_ordered_by_methods",
    "length_given",
    "looking",
    "record_of",
    "sized",
    "text",
]
