"""The native objects that stand for transforms, and what they show of themselves: their repr, a table in notebooks, the types
that there is native code for, its LLVM IR and assembly.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from zyg.ir.plainly import get_plainly

from . import pipeline
from .dispatch import Dispatcher, Specialisation
from .ir.types import Type
from .transforms import ATTRIBUTE, Transform, describe, python_function, transform_of


def make_callable(transform: Transform, **options: Any) -> Any:
    """The native callable that stands for a transform; `options` are those of its Dispatcher."""
    from .backend.calling import new_callable

    _dress()
    dispatcher = Dispatcher(transform, **options)
    function = transform.function
    name = describe(transform)
    attributes: dict[str, Any] = {ATTRIBUTE: transform, DISPATCHER: dispatcher}
    if function is not None:  # as functools.wraps has it; the repr says what it is
        attributes["__wrapped__"] = function
        attributes["__module__"] = get_plainly(function, "__module__")
        attributes["__doc__"] = getattr(function, "__doc__", None)
        attributes["__qualname__"] = get_plainly(function, "__qualname__", name)
        name = get_plainly(function, "__name__", name)
    native = new_callable(dispatcher, name, **attributes)
    dispatcher.attach(native)
    return native


DISPATCHER = "__zyg_dispatcher__"
_dressed = False


def _dress() -> None:
    """Give the native type what is written in Python: its repr, and the names that Numba's dispatchers have."""
    global _dressed
    if _dressed:
        return
    with pipeline.rare_collections():
        from .backend.callable import callable_type

        cls: Any = callable_type()
    cls.__repr__ = _represent
    cls._repr_html_ = _represent_html
    cls.__reduce__ = _reduce
    cls.py_func = property(lambda self: python_function(self), doc="The Python function under all transforms.")
    cls.signatures = property(_signatures, doc="The tuples of argument types that there is native code for.")
    cls.inspect_llvm = _inspect_llvm
    cls.inspect_asm = _inspect_asm
    _dressed = True


def _represent(self: Any) -> str:
    transform = transform_of(self)
    if transform is None:
        return f"<zyg native code of {getattr(self, '__name__', '?')}>"
    inner = describe(transform)
    return f"<zyg.jit({inner})>" if transform.kind == "jit" else f"<zyg.{inner}>"


def _represent_html(self: Any) -> str:
    """A table of what there is native code for."""
    from .inspection.html import Markup, code, table

    rows = [
        (code(", ".join(map(str, types))), code(str(s.compiled.inferred.result)))
        for types, s in _specialisations(self).items()
    ]
    dispatcher: Dispatcher | None = getattr(self, DISPATCHER, None)
    refusals = dispatcher.refusals.errors() if dispatcher is not None and dispatcher.refusals is not None else []
    rows += [("through Python: " + error.what, "") for error in refusals]
    title = code(repr(self))
    return table(("native code for", "gives"), rows, title) if rows else Markup(f"<div>{title}: not called yet</div>")


def _reduce(self: Any) -> Any:
    """Compiled functions are pickled by name, as functions are: that of the Python function, where that is decorated; what was made of
    them is made again, as is `fast = zyg.jit(f)`, where f's name is still that of the Python function."""
    transform = transform_of(self)
    if transform is None:
        return self.__qualname__
    function = python_function(self)
    name = get_plainly(function, "__qualname__", "")
    for own in (self.__qualname__, name):
        if _found(self, own) is self:
            return own
    if transform.kind == "jit" and transform_of(transform.function) is None and _found(function, name) is not function:
        return name
    return make_callable, (transform,)


def _found(function: Any, name: str) -> Any:
    """What has this name in the module of a function."""
    found: Any = sys.modules.get(get_plainly(function, "__module__") or "")
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _specialisations(self: Any) -> dict[tuple[Type, ...], Specialisation]:
    dispatcher: Dispatcher | None = getattr(self, DISPATCHER, None)
    if dispatcher is None:
        return {}
    unbound = dispatcher.unbound()
    if unbound is not None:
        return _specialisations(unbound)
    return {s.compiled.inferred.parameters: s for group in dispatcher.specialisations.values() for s in group}


def _signatures(self: Any) -> list[tuple[Type, ...]]:
    return list(_specialisations(self))


def _inspect(self: Any, signature: tuple[Type, ...] | None, show: Callable[[Any], Any]) -> Any:
    specialisations = _specialisations(self)
    if signature is None:
        return {types: show(s.compiled.native) for types, s in specialisations.items()}
    return show(specialisations[tuple(signature)].compiled.native)


def _inspect_llvm(self: Any, signature: tuple[Type, ...] | None = None) -> Any:
    """The LLVM IR for a signature, or by signature for all."""
    return _inspect(self, signature, lambda native: native.llvm_optimised)


def _inspect_asm(self: Any, signature: tuple[Type, ...] | None = None) -> Any:
    """The assembly for a signature, or by signature for all."""
    return _inspect(self, signature, lambda native: native.asm)


__all__ = ["DISPATCHER", "make_callable"]
