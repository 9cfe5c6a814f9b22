"""The ways to the objects that a program refers to.

A program begins with the objects of its request: the function that is called, and what the types of arguments name.  From these inference
has reached all others, by names, attributes, cells and defaults, and has left a guard for each.  So an object is told by a step from another one:

    ("given", n)            number n of the objects of the request
    ("item", n, name)       of dict n                 ("vars", n)             the dict of module n
    ("attr", n, name)       what stands in class n    ("got", n, name)        what getattr gives
    ("globals", n)          of function n             ("builtins", n)         those of dict n, the globals of a function
    ("cell", n, k)          of function n             ("content", n)          of cell n
    ("default", n, k)       of function n             ("names", n)            its defaults by keyword
    ("part", n, name)       an attribute of a property, a bound method, a code object, ...
    ("under", n)            the function of a callable that zyg made
    ("base", n, k)          in the order of class n
    ("item of", n, k)       of tuple n                ("held", n)             a cell with object n
    ("read", n, k, m)       the variable of hidden input k of n, which has to be object m
    ("gradient", n, names)  the class of gradients by objects of class n; ("gradient by", name, variables)
    ("named", module, name) for what is known by its name; ("module", name); ("names of", module)

With each but dicts, cells and what is read at each call goes a digest of its description (describing.py), if that is not in the name of
the request: another process goes the same ways, and the program is what it looks for if it finds the same.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..gradient_classes import closure_gradient_class, gradient_class, how_made
from ..homes import found
from ..ir import types as t
from ..ir.records import _FIELDS
from ..transforms import transform_of
from .describing import PLAIN, NotPlain, digest, is_zygs, named, reads

Step = tuple[Any, ...]
_KNOWN = (
    "given",
    "under",
    "gradient",
    "gradient by",
    "made again",
)  # what they give follows from what there is by then
_DATA = (dict, types.CellType, np.ndarray, list)  # without a description


def given(function: Any, types: Sequence[t.Type]) -> list[Any]:
    """The objects of a request, in an order that is the same for all that are described alike."""
    return [function, *(x for type in types for x in _named_by(type))]


def _named_by(x: Any) -> Iterator[Any]:
    if isinstance(x, tuple):
        for item in x:
            yield from _named_by(item)
    elif isinstance(x, t.Type):
        for name in getattr(x, _FIELDS):
            yield from _named_by(getattr(x, name))
    elif type(x) not in PLAIN:
        yield x


class Places:
    """The objects that are written, with the steps to them, each after those that it begins from."""

    def __init__(self, objects: Sequence[Any]):
        self.steps: list[tuple[Step, bytes | None]] = []
        self._numbers: dict[int, int] = {}
        self._next: dict[int, Step] = {}  # steps from objects that are written to those that may be
        self._alive: list[Any] = []
        for n, x in enumerate(objects):
            self._offer(x, ("given", n))
        for x in objects:
            while (transform := transform_of(x)) is not None:
                self.of(x)
                x = transform.function

    def of(self, x: Any, step: Step | None = None) -> int:
        """The number of an object. `step`: how one may come to it, if it was not met before. Plain data goes by its step only."""
        if type(x) not in PLAIN:
            if id(x) in self._numbers:
                return self._numbers[id(x)]
            step = self._next.get(id(x), step)
        made = how_made(x) if isinstance(x, type) else None
        if made is not None:
            make, *about = made
            step = ("gradient", self.of(about[0]), about[1]) if make is gradient_class else ("gradient by", *about)
        if step is None:
            step = _by_itself(x)
            if step is None:
                raise NotPlain
        description = None if type(x) in _DATA or step[0] in _KNOWN else digest(x)
        number = len(self.steps)
        self.steps.append((step, description))
        self._alive.append(x)
        if type(x) not in PLAIN:
            self._numbers[id(x)] = number
            for part, further in _parts(x, number):
                self._offer(part, further)
        return number

    def finish(self, objects: Sequence[Any]) -> None:
        """The variables that objects of the request stand for have to be those that one comes to from the others."""
        for x in objects:
            for k, source in enumerate(reads(x) or ()):
                if not self.knows(source.container):
                    raise NotPlain
                self.steps.append((("read", self.of(x), k, self.of(source.container)), None))

    def knows(self, x: Any) -> bool:
        """Whether there is a way to an object by now."""
        return id(x) in self._numbers or id(x) in self._next or _by_itself(x) is not None

    def _offer(self, x: Any, step: Step) -> None:
        if type(x) not in PLAIN:
            self._next.setdefault(id(x), step)
            self._alive.append(x)


def _by_itself(x: Any) -> Step | None:
    if isinstance(x, types.ModuleType):
        return "module", x.__name__
    if type(x) is dict:
        name = x.get("__name__")
        return ("names of", name) if type(name) is str and vars(sys.modules.get(name, sys)) is x else None
    if is_zygs(type(x).__module__) and type(parts := getattr(x, "made_of", None)) is tuple:
        return "made again", type(x).__module__, type(x).__qualname__, parts
    place = named(x)
    return None if place is None else ("named", *place)


def _parts(x: Any, n: int) -> Iterator[tuple[Any, Step]]:
    """The objects that are one step from object number n."""
    cls = type(x)
    if (transform := transform_of(x)) is not None:
        yield transform.function, ("under", n)
    elif cls is types.FunctionType:
        yield x.__globals__, ("globals", n)
        yield x.__code__, ("part", n, "__code__")
        yield x.__kwdefaults__, ("names", n)
        for k, cell in enumerate(x.__closure__ or ()):
            yield cell, ("cell", n, k)
        for k, value in enumerate(x.__defaults__ or ()):
            yield value, ("default", n, k)
    elif isinstance(x, type):
        for k, base in enumerate(x.__mro__):
            yield base, ("base", n, k)
    elif cls is types.ModuleType:
        yield vars(x), ("vars", n)
    elif cls is dict:
        yield _builtins(x), ("builtins", n)
    elif cls is tuple:
        for k, value in enumerate(x):
            yield value, ("item of", n, k)
    else:
        for name in _ATTRIBUTES.get(cls, ()):
            yield getattr(x, name), ("part", n, name)


_ATTRIBUTES = {
    staticmethod: ("__func__",), classmethod: ("__func__",), types.MethodType: ("__func__", "__self__"), property: ("fget", "fset", "fdel"),
}  # fmt: skip


def _builtins(scope: dict[str, Any]) -> Any:
    inside = scope.get("__builtins__", sys.modules["builtins"])
    return inside if isinstance(inside, dict) else vars(inside)


def reached(steps: Sequence[tuple[Step, bytes | None]], objects: Sequence[Any]) -> list[Any] | None:
    """The objects that one comes to by these steps; None if they are not what they were."""
    there: list[Any] = []
    try:
        for (kind, *rest), description in steps:
            x = objects[rest[0]] if kind == "given" else _STEPS[kind](there, *rest)
            if description is not None and digest(x) != description:
                return None
            there.append(x)
    except Exception:  # a module's __getattr__ is the user's code: inference will say what it raises
        return None
    return there


def _step(take: Any) -> Any:
    return lambda there, n, *rest: take(there[n], *rest)


def _read(there: list[Any], n: int, k: int, m: int) -> Any:
    container = there[n].reads[k].container
    if container is not there[m]:
        raise NotPlain
    return container


def _under(x: Any) -> Any:
    transform = transform_of(x)
    if transform is None:  # it was a callable of zyg's, and is none any more
        raise NotPlain
    return transform.function


def _by_name(there: list[Any], module: str, name: str) -> Any:
    if module not in sys.modules and module.startswith("zyg."):
        importlib.import_module(module)
    return found(module, name)


_STEPS: dict[str, Any] = {
    "item": _step(lambda x, name: x[name]),
    "vars": _step(vars),
    "attr": _step(lambda x, name: vars(x)[name]),
    "got": _step(getattr),
    "globals": _step(lambda x: x.__globals__),
    "builtins": _step(_builtins),
    "cell": _step(lambda x, k: x.__closure__[k]),
    "content": _step(lambda x: x.cell_contents),
    "default": _step(lambda x, k: x.__defaults__[k]),
    "names": _step(lambda x: x.__kwdefaults__),
    "part": _step(getattr),
    "under": _step(_under),
    "base": _step(lambda x, k: x.__mro__[k]),
    "item of": _step(lambda x, k: x[k]),
    "held": _step(types.CellType),
    "read": _read,
    "gradient": _step(gradient_class),
    "gradient by": lambda there, name, variables: closure_gradient_class(name, variables),
    "named": _by_name,
    "made again": lambda there, module, name, parts: _by_name(there, module, name)(*parts),
    "module": lambda there, name: sys.modules[name],
    "names of": lambda there, name: vars(sys.modules[name]),
}


__all__ = ["Places", "given", "reached"]
