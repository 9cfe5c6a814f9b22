"""The classes of gradients by objects: named tuples, which are made when they are first wanted."""

from __future__ import annotations

import weakref
from collections import namedtuple
from collections.abc import Callable
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

from .errors import Unsupported

# By class and names. A class that is made anew in each call of a function must go when nobody else has it.
_gradient_classes: WeakKeyDictionary[type, dict[tuple[str, ...], type]] = WeakKeyDictionary()


def gradient_class(cls: type, names: tuple[str, ...]) -> type:
    """The named tuple that holds the gradient by an instance of `cls`."""
    made = _gradient_classes.setdefault(cls, {})
    return made.get(names) or made.setdefault(names, _new_gradient_class(cls, names))


def _new_gradient_class(cls: type, names: tuple[str, ...]) -> type:
    try:
        made = namedtuple(f"{cls.__name__}Gradient", names)
    except ValueError as error:
        raise Unsupported(
            f"the gradient by a {cls.__qualname__} with the attributes {', '.join(names)}: {str(error)[0].lower()}{str(error)[1:]}",
            hint="rename the attribute: the gradient is a named tuple, in which `_x` is called x",
        ) from None
    made.__module__ = cls.__module__
    reference = weakref.ref(cls)
    return _told(made, lambda: None if (of := reference()) is None else (gradient_class, of, names))


@cache
def closure_gradient_class(name: str, variables: tuple[str, ...]) -> type:
    """The named tuple that holds the gradient by what a function captured."""
    plain = "".join(c for c in name if c.isalnum() or c == "_").strip("_0123456789")
    made = namedtuple(f"{plain or 'closure'}Gradient", variables, rename=True)
    return _told(made, lambda: (closure_gradient_class, name, variables))


How = tuple[Any, ...] | None
_how: WeakKeyDictionary[type, Callable[[], How]] = WeakKeyDictionary()


def _told(made: Any, how: Callable[[], How]) -> Any:
    """A class that no module has is pickled by how it is made: `how` gives the function that makes it, with its arguments."""

    def reduced(self: Any) -> tuple[Any, ...]:
        found = how()
        return (made, tuple(self)) if found is None else (_remade, (found, tuple(self)))

    made.__reduce__ = reduced
    _how[made] = how
    return made


def _remade(how: tuple[Any, ...], items: tuple[Any, ...]) -> Any:
    make, *about = how
    return make(*about)(*items)


def how_made(cls: type) -> How:
    """The function that has made such a class, and its arguments; None for other classes."""
    how = _how.get(cls)
    return None if how is None else how()


__all__ = ["closure_gradient_class", "gradient_class", "how_made"]
