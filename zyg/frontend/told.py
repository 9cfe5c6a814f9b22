"""Objects that are put into texts, or passed to functions of Python which may do so: their own methods tell what they are.

Compiled code hands copies over, and puts a text together when it is printed. So methods that change something are refused.
"""

from __future__ import annotations

import dis
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from zyg.errors import is_library

from .values import Abstract, Shape, StructValue, reachable

if TYPE_CHECKING:
    from .evaluator import Evaluator

_METHODS = ("__format__", "__str__", "__repr__")
_STORES = (
    "STORE_ATTR",
    "STORE_SUBSCR",
    "STORE_SLICE",
    "STORE_GLOBAL",
    "STORE_DEREF",
    "DELETE_ATTR",
    "DELETE_SUBSCR",
    "DELETE_GLOBAL",
)
_CHANGING = frozenset(
    "append extend insert remove pop popitem clear sort reverse add discard update setdefault appendleft extendleft write print setattr"
    " delattr __setattr__ __delattr__ __setitem__ __delitem__ next send".split()
)


def refuse_changes(e: Evaluator, *values: Abstract) -> None:
    """Refuse objects among these, and in them, that change something when they are asked for their text."""
    from .classes import look_up

    for cls in _classes(e, values):
        for name in _METHODS:
            found = look_up(e, cls, name)
            if found is not None and _changes(found[1], cls, set()):
                raise e.refuse(
                    f"a {cls.__qualname__} as part of a text, or as an argument of a function of Python: its {name} changes something",
                    hint="let it give the text only",
                )


def _classes(e: Evaluator, values: tuple[Abstract, ...]) -> dict[type, None]:
    own = [v.cls for v in values if isinstance(v, StructValue)]
    return dict.fromkeys([*own, *[r.meta.cls for r in reachable(values, e.heap).values() if isinstance(r.meta, Shape)]])


def _changes(f: Any, cls: type, seen: set[CodeType]) -> bool:
    """Whether a function changes something, as far as one sees: by itself, by methods of the class, or by functions that it names."""
    if isinstance(f, property):
        f = f.fget
    if type(f) is not FunctionType or f.__code__ in seen or is_library(f.__code__.co_filename):
        return False
    return _code_changes(f.__code__, f, cls, seen)


def _code_changes(code: CodeType, f: FunctionType, cls: type, seen: set[CodeType]) -> bool:
    seen.add(code)
    if not _CHANGING.isdisjoint(code.co_names) or any(i.opname.startswith(_STORES) for i in dis.get_instructions(code)):
        return True
    if any(_code_changes(c, f, cls, seen) for c in code.co_consts if isinstance(c, CodeType)):
        return True
    named = [
        x for n in code.co_names for x in (f.__globals__.get(n), *[vars(c)[n] for c in cls.__mro__ if n in vars(c)])
    ]
    return any(_changes(x, cls, seen) for x in named)
