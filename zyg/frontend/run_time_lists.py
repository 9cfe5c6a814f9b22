"""Lists of run-time length as arguments of NumPy's functions.

Where NumPy makes an array of a list, a function of the library gets the array, which has no length that would have to be known
when compiling. This is so for all parameters but two kinds: those of which an entry says that it takes lists as they are
(`lists=` in library/registry.py), and shapes, axes and the like (`KNOWN`), which tell of what type the result is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from zyg.homes import home
from zyg.ir.plainly import get_plainly
from zyg.ir.types import I64

from .arguments import shown
from .kinds import known_items
from .later import lists
from .values import Abstract, Known, Number, RangeValue, Reference, TupleValue, describe, is_numeric, known

if TYPE_CHECKING:
    from zyg.library.registry import Entry

    from .evaluator import Evaluator

# Parameters that have to be known when compiling, by the names that they have in all of NumPy.
KNOWN = frozenset(
    "shape new_shape newshape dims dimensions size s reps pad_width constant_values end_values axis axes source destination axisa "
    "axisb axisc axis1 axis2 window_shape".split()
)
_VARARGS, _VARKEYWORDS = 0x04, 0x08
_OF_ARRAYS = ("numpy", "scipy")


def as_arrays(
    e: Evaluator, entry: Entry, called: Any, args: list[Abstract], keywords: dict[str, Abstract]
) -> tuple[list[Abstract], dict[str, Abstract]]:
    """The arguments with arrays for lists of run-time length and ranges where NumPy would make arrays of them."""
    if not any(_has_run_time(e, v) for v in (*args, *keywords.values())) or not _takes_arrays(called):
        return args, keywords
    names = _names(entry, len(args), keywords)
    made = [_as_array(e, entry, called, name, v) for name, v in zip(names, (*args, *keywords.values()))]
    return made[: len(args)], dict(zip(keywords, made[len(args) :]))


def _is_run_time(e: Evaluator, v: Abstract) -> bool:
    return isinstance(v, RangeValue) or isinstance(v, Reference) and e.heap[v.id].kind == "growing"


def _of_whole_numbers(e: Evaluator, v: Abstract) -> bool:
    from .growing import Layout

    layout = e.heap[v.id].meta if isinstance(v, Reference) else None
    if not isinstance(layout, Layout):
        return True
    return isinstance(layout.example, Number) and layout.example.value.type is I64


def _has_run_time(e: Evaluator, v: Abstract) -> bool:
    """Whether a value is, or holds in tuples and lists, such a list or range."""
    if isinstance(v, Known) or is_numeric(v):
        return False
    return _is_run_time(e, v) or any(_has_run_time(e, i) for i in known_items(e, v) or ())


def _takes_arrays(called: Any) -> bool:
    """Whether this is a function or method of NumPy's or SciPy's."""
    return home(called[0] if isinstance(called, tuple) else called).partition(".")[0] in _OF_ARRAYS


def _names(entry: Entry, positional: int, keywords: Iterable[str]) -> list[str]:
    """Which parameter of an entry each argument is for."""
    code = get_plainly(entry.function, "__code__")
    if code is None:
        return [*[""] * positional, *keywords]
    count = code.co_argcount + code.co_kwonlyargcount
    own, others = code.co_varnames[:count], [*code.co_varnames[count : count + 2], "", ""]
    any_position = others.pop(0) if code.co_flags & _VARARGS else ""
    any_name = others[0] if code.co_flags & _VARKEYWORDS else ""
    names = [*own[entry.emitter : code.co_argcount], *[any_position] * positional][:positional]
    return [*names, *(name if name in own else any_name for name in keywords)]


def _as_array(e: Evaluator, entry: Entry, called: Any, name: str, v: Abstract) -> Abstract:
    if name in entry.lists or name == "out" or not _has_run_time(e, v):
        return v
    if isinstance(v, RangeValue) and (items := lists.all_items(e, v)) is not None:
        return TupleValue(items)
    if name in KNOWN or name in entry.known:
        raise e.refuse(
            f"{shown(called)}({name}=...) of a list whose length is not known when compiling",
            types=[(name, describe(v, e.heap))],
            hint="write it as a tuple: (2, 3)"
            if _of_whole_numbers(e, v)
            else f"`{name}` is of ints; name the arguments that are others",
        )
    if not _is_run_time(e, v):
        return v
    import numpy as np

    return e.call(known(np.asarray), [v, Known(None)])
