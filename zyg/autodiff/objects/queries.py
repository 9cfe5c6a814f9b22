"""Comparisons, `in`, `not`, truth and formatting: operations of the language that C code does, and that ask operands."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any

from zyg.backend.phrases import HASHED
from zyg.errors import Unsupported

from . import calls, foreign
from .reach import PLAIN, SIZED, check_key, entered
from .reentry import followed, matters

# In these `x in c` asks x for its hash only, and what has the same.
_HASHED = frozenset({dict, set, frozenset, str, bytes, range})


def _comparison(f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], tuple[Any, Any]]:
    def record(a: Any, b: Any) -> tuple[Any, Any]:
        if (type(a) in PLAIN or _is_plain_tuple(a)) and (type(b) in PLAIN or _is_plain_tuple(b)):
            return f(a, b), None
        return followed(f, (a, b))

    return record


def _is_plain_tuple(x: Any) -> bool:
    return type(x) is tuple and PLAIN.issuperset(map(type, x))


def _contains(item: Any, container: Any) -> tuple[Any, Any]:
    t = type(container)
    if t in _HASHED:
        if t is not str and type(item) not in PLAIN:
            check_key(item)
        return item in container, None
    y, back = followed(operator.contains, (container, item))
    return y, None if back is None else (_run_query, back, "in", foreign.caller())


def _truth(x: Any) -> tuple[Any, Any]:
    return (bool(x), None) if type(x) in SIZED else _tested(bool, x)


def _not(x: Any) -> tuple[Any, Any]:
    return (not x, None) if type(x) in SIZED else _tested(operator.not_, x)


def _tested(f: Callable[[Any], bool], x: Any) -> tuple[Any, Any]:
    y, back = followed(f, (x,))
    return y, None if back is None else (_run_query, back, "the truth", foreign.caller())


def _run_query(back: tuple[Any, ...], d: Any, shadows: Any, constants: tuple[int, ...] = ()) -> None:
    """Where only a truth matters nothing flows to the operands; what a method has kept of them would, if they are no constants."""
    _, inner, name, place = back
    given = list(calls.run(inner, d, shadows) or ())
    if name == "in":
        given.reverse()  # the container is asked
    if any(matters(c) for k, c in enumerate(given) if k not in constants):
        hint = "call the method by itself"
        raise Unsupported(
            f"a derivative by an operand of `{name}`, which a special method has kept",
            foreign.position_of(place),
            hint=hint,
        )


_CONVERSIONS: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}


def _convert(x: Any, conversion: str) -> tuple[Any, Any]:
    return followed(_CONVERSIONS[conversion], (x,))


def _format(x: Any, *more: Any) -> tuple[Any, Any]:
    *spec, conversion = more
    if not conversion:
        return followed(format, (x, *spec))
    text, back = _convert(x, conversion)
    return format(text, *spec), back if back is None else (_run_formatted, back)


def _run_formatted(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], None, shadows)
    return None if given is None else (*given, None)


# What such an operation may be done plainly on, by operand.
DIRECT: dict[str, tuple[AbstractSet[type], ...]] = {
    **dict.fromkeys(("lt", "le", "eq", "ne", "gt", "ge"), (PLAIN, PLAIN)),
    "contains": (HASHED, _HASHED),
    "not": (SIZED,),
    "truth": (SIZED,),
    "format": (PLAIN, PLAIN),
    "convert": (PLAIN,),
}
QUERIES: dict[str, Callable[..., tuple[Any, Any]]] = {
    **{name: _comparison(getattr(operator, name)) for name in ("lt", "le", "eq", "ne", "gt", "ge")},
    "contains": _contains,
    "not": _not,
    "truth": _truth,
}
RECORD = {**QUERIES, "convert": _convert, "format": _format}


def _truth_of(name: str) -> Callable[..., tuple[Any, Any]]:
    record = QUERIES[name]

    def record_truth(a: Any, b: Any) -> tuple[bool, Any]:
        y, back = record(a, b)
        if back is None and type(y) is bool:
            return y, None
        truth, second = QUERIES["truth"](y)
        if second is not None:
            back = (_run_both, second, back)
        return truth, None if back is None else (_run_query, back, name, foreign.caller())

    return record_truth


def _run_both(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    calls.run(back[1], None, shadows)
    return calls.run(back[2], None, shadows)


# Comparisons of which only the truth matters.
TRUTHS = {name: _truth_of(name) for name in ("lt", "le", "eq", "ne", "gt", "ge")}


def _of_second_order(record: Callable[..., tuple[Any, Any]]) -> None:
    @calls.known(record)
    def of_second_order(*operands: Any) -> tuple[Any, Any]:
        if entered(operands):
            return calls.differentiated(record)(*operands)
        return record(*operands), None


for _record in (*RECORD.values(), *TRUTHS.values()):
    _of_second_order(_record)


@functools.cache
def record_of(op: str, only_tested: bool, constants: tuple[int, ...]) -> Callable[..., tuple[Any, Any]]:
    """What records an operation: `only_tested`, if only the truth of a comparison matters; `constants`: the operands that carry no
    derivative, wherever it is recorded."""
    record = TRUTHS[op] if only_tested else RECORD[op]
    if not constants or (op in TRUTHS and not only_tested):
        return record

    def record_about(*operands: Any) -> tuple[Any, Any]:
        y, back = record(*operands)
        return y, back if back is None or back[0] is not _run_query else (_run_about, back, constants)

    _of_second_order(record_about)
    return record_about


def _run_about(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _run_query(back[1], d, shadows, back[2])


__all__ = ["DIRECT", "QUERIES", "RECORD", "TRUTHS", "record_of"]
