"""Cotangents that flow: None is zero, a number belongs to a number, a tuple of cotangents to a tuple.

Mutable objects have none; what would flow to them is gathered in their shadows.
"""

from __future__ import annotations

import datetime
from collections import namedtuple
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from zyg.backend import pulls
from zyg.ir.plainly import get_plainly

from ..identity import ByIdentity

# Exactly these types: arithmetic on them is CPython's own, and cannot run code of the user's.
NUMBERS = frozenset({float, int, bool, complex})
# And those of NumPy that the items of most arrays are: operators on all of these calculate, and run nothing else.
SCALARS = NUMBERS | {np.float64, np.float32, np.int64}

# Values of these types carry a cotangent that is a number.
NUMERIC = (float, int, complex, np.number, Fraction, Decimal, np.datetime64)
# What is of a class derived from one of these has a cotangent that flows, and no shadow.
VALUES = frozenset({tuple, *NUMERIC})

SETS = (set, frozenset)

# Values of exactly these types carry nothing at all.
INERT = frozenset({bool, str, bytes, type(None), type(...), type(NotImplemented), slice, range, type, np.bool_})

# Those of exactly these do not, either, but a number may have gone into them.
FIELD = type(vars(namedtuple("_Example", "x"))["x"])  # what fields of named tuples are
DATES = frozenset({datetime.date, datetime.datetime, datetime.time, datetime.timedelta})

_HEAP, _COLLECTED = 1 << 9, 1 << 14  # Py_TPFLAGS_HEAPTYPE, Py_TPFLAGS_HAVE_GC


def is_closed(t: type) -> bool:
    """Whether objects of exactly this class hold nothing that can be found in them, and have no methods in Python: the class is
    of C code and never changes, they have no attributes of their own, and the garbage collector does not look into them.

    >>> from datetime import date
    >>> is_closed(date), is_closed(type("Day", (date,), {})), is_closed(list)
    (True, False, False)
    """
    return not (t.__flags__ & (_HEAP | _COLLECTED) or t.__dictoffset__)


class Refused:
    """A cotangent that cannot be had, since it would come from code that zyg cannot see into.

    Arithmetic on it gives itself.  Where a derivative was asked for it is an error; at a constant it is forgotten. Most are:
    `how` makes the error once it is wanted, a function with its arguments.
    """

    __slots__ = ("_error", "_how")

    def __init__(self, error: Exception | None, how: tuple[Any, ...] = ()):
        self._error = error
        self._how = how

    @property
    def error(self) -> Exception:
        if self._error is None:
            make, *args = self._how
            self._error = make(*args)
        return self._error

    def _same(self, *others: Any) -> Refused:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _same
    __neg__ = __pos__ = conjugate = _same
    __array_ufunc__ = None  # NumPy leaves operators to this class

    real = imag = property(lambda self: self)

    def __getitem__(self, index: Any) -> Refused:
        return self

    def __bool__(self) -> bool:
        return True

    def _raise(self, *args: Any) -> Any:
        raise self.error

    __float__ = __complex__ = __int__ = _raise


def refused_in(d: Any) -> Refused | None:
    """The refusal in a cotangent, if there is one.

    >>> refused_in((1.0, (None, 2.0))) is None
    True
    """
    if type(d) is Refused:
        return d
    if type(d) is tuple:
        for c in d:
            t = type(c)
            if t is Refused:
                return c
            if t is tuple and (found := refused_in(c)) is not None:
                return found
    return None


def accumulate(x: Any, y: Any) -> Any:
    """The sum of two cotangents.

    >>> accumulate(None, 2.0), accumulate((1.0, None), (2.0, 3.0))
    (2.0, (3.0, 3.0))
    """
    if x is None:
        return y
    if y is None:
        return x
    if type(x) is tuple or type(y) is tuple:
        if type(x) is type(y) and len(x) == len(y):
            return sums(x, y)
        if type(x) is Refused or type(y) is Refused:
            return x if type(x) is Refused else y
        raise TypeError(f"cotangents {x!r} and {y!r} cannot be added")
    return x + y


def sums(x: tuple[Any, ...], y: tuple[Any, ...]) -> tuple[Any, ...]:
    """The sums of the cotangents of items, of which there are as many."""
    if len(x) == 2:  # as a rule, of numbers
        (a, b), (c, d) = x, y
        if type(a) is type(b) is type(c) is type(d) is float:
            return a + c, b + d
        return (
            c if a is None else a if c is None else a + c if type(a) is float else accumulate(a, c),
            d if b is None else b if d is None else b + d if type(b) is float else accumulate(b, d),
        )
    elif len(x) == 3:  # of which some are often left out, as fields of named tuples
        (a, b, c), (u, v, w) = x, y
        return (
            u if a is None else a if u is None else a + u if type(a) is float else accumulate(a, u),
            v if b is None else b if v is None else b + v if type(b) is float else accumulate(b, v),
            w if c is None else c if w is None else c + w if type(c) is float else accumulate(c, w),
        )
    elif len(x) == 4:
        (a, b, c, d), (u, v, w, z) = x, y
        return (
            u if a is None else a if u is None else a + u if type(a) is float else accumulate(a, u),
            v if b is None else b if v is None else b + v if type(b) is float else accumulate(b, v),
            w if c is None else c if w is None else c + w if type(c) is float else accumulate(c, w),
            z if d is None else d if z is None else d + z if type(d) is float else accumulate(d, z),
        )
    return tuple(
        [b if a is None else a if b is None else a + b if type(a) is float else accumulate(a, b) for a, b in zip(x, y)]
    )


def _joined(d: Any, x: tuple[Any, ...], places: tuple[int, ...], *parts: Any) -> Any:
    """The cotangent of a tuple, `d`, with those of its items at some places, which are in order.

    >>> _joined((1.0, None), (2.0, 3.0), (1,), 5.0), _joined(None, (2.0, 3.0), (-1, 0, 2), 5.0, 1.0, None)
    ((1.0, 5.0), (1.0, 5.0))
    """
    if type(d) is tuple:
        items = list(d)
        for at, c in zip(places, parts):
            if c is not None:
                old = items[at]
                items[at] = c if old is None else old + c if type(old) is float else accumulate(old, c)
        return tuple(items)
    count = len(x)
    if len(parts) == 1 and d is None and places[0] >= 0:
        return (None,) * places[0] + parts + (None,) * (count - places[0] - 1)
    if len(places) != count or places[0]:
        items = [None] * count
        for at, c in zip(places, parts):
            if c is not None:  # (of what was not read there may be no item)
                items[at] = c if items[at] is None else accumulate(items[at], c)
        parts = tuple(items)
    return parts if d is None else accumulate(d, parts)


def _joined_by_name(d: Any, x: Any, places: tuple[int | str, ...], *parts: Any) -> Any:
    """The same where places may be names: of fields of a named tuple, or of properties that get an item."""
    if d is None:
        known = _places_by_class(id(type(x)))
        found = None if known is None else known[1].get(places)
        if found is not None and found[0] == _length(x):
            if found[2]:  # as mostly in methods
                return parts
            if found[3] is not None:
                before, behind = found[3]
                return before + parts + behind
    return joined_by_places(d, x, places, *parts)


def joined_by_places(d: Any, x: Any, places: tuple[int | str, ...], *parts: Any) -> Any:
    """The same in any case."""
    count, numbers, whole, _ = numbers_of(x, places)
    if d is None and whole:
        return parts
    items: list[Any] = list(d) if type(d) is tuple else [None] * count
    for k, c in zip(numbers, parts):
        if c is not None:
            assert k is not None
            old = items[k]
            items[k] = c if old is None else old + c if type(old) is float else accumulate(old, c)
    return tuple(items) if d is None or type(d) is tuple else accumulate(d, tuple(items))


# By class the items that its properties get, by name, and what has been found of several names together. What a name once stood for
# it stands for here as long as the class lives.
_places: ByIdentity = ByIdentity()
_places_by_class = _places.get  # by the identity of a class
_length = tuple.__len__


def _places_of(cls: type) -> tuple[dict[str, int], dict[Any, Any]]:
    known = _places.of(cls)
    if known is None:
        known = {}, {}
        _places.note(cls, known)
    return known


def is_place(cls: type, name: str, place: int) -> bool:
    """Whether a property of a class is noted to get the item at a place, and no other."""
    if place < 0:
        return False
    known, several = _places_of(cls)
    if name not in known:
        several.clear()
    return known.setdefault(name, place) == place


# How many items a tuple has, which of them some are (None: a name stands for none), whether they are all, in order, and of a single one
# nothing for each before it, and behind it.
_Numbers = tuple[int, tuple[int | None, ...], bool, tuple[tuple[None, ...], tuple[None, ...]] | None]


def numbers_of(x: Any, places: tuple[int | str, ...]) -> _Numbers:
    """How many items a tuple has, and which of them those are."""
    known = _places_by_class(id(type(x)))
    found = None if known is None else known[1].get(places)
    count = _length(x)
    return found if found is not None and found[0] == count else _find_numbers(type(x), count, places)


def _find_numbers(cls: Any, count: int, places: tuple[int | str, ...]) -> _Numbers:
    known, several = _places_of(cls)
    fields = get_plainly(cls, "_fields") or getattr(cls, "__match_args__", ())  # (of C code's: `time.struct_time`)
    numbers = [
        at if type(at) is int else known[at] if at in known else fields.index(at) if at in fields else None
        for at in places
    ]
    at = numbers[0] if len(numbers) == 1 else None
    around = None if at is None or at < 0 else ((None,) * at, (None,) * (count - at - 1))
    found = count, tuple(numbers), numbers == list(range(count)), around
    if len(several) < _MANY:
        several[places] = found  # (not all tuples of a class need be of one length: as a rule they are)
    return found


_MANY = 1000

# What native code does, too (`backend/llvm/runtime/cotangents.py`), once there are enough calls.
joined = pulls.deferred("add", _joined, start=pulls.COTANGENTS)
joined_by_name = pulls.deferred("add", _joined_by_name, start=pulls.COTANGENTS)


def _all_real(x: Any) -> bool:
    return _REAL.issuperset(map(type, x))


_REAL = frozenset({float, int})
all_real = pulls.deferred(
    "ask", _all_real, start=pulls.COTANGENTS
)  # whether the items of a list, for instance, are floats and ints


def _join_natively() -> None:
    pulls.settle(all_real, "zyg_all_real", part="cotangents")
    pulls.settle(joined, "zyg_join", None, accumulate, part="cotangents")
    pulls.settle(joined_by_name, "zyg_join", _places, accumulate, part="cotangents")


pulls.COTANGENTS.when_started(_join_natively)


def is_number(x: Any) -> bool:
    """Whether `x` carries a cotangent that is a number.

    >>> is_number(1.5), is_number(2), is_number(True), is_number("a")
    (True, True, False, False)
    """
    t = type(x)
    return t is float or t is int or (t is not bool and issubclass(t, NUMERIC))


def real_like(x: Any, d: Any) -> Any:
    """The cotangent `d` in the form that belongs to the number `x`: real for a real one."""
    if type(x) is complex:
        return d
    if type(d) is complex or isinstance(d, np.complexfloating):
        return d if isinstance(x, (complex, np.complexfloating)) else d.real
    return d
