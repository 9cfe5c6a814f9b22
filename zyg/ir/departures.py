"""Errors that native code raises where CPython goes on: an int past 64 bits, a power that would be complex, whatever would make
the type of a value depend on values.

In SSA such an error is told by how it is written, `departs:OverflowError`; the exception that a caller gets is the plain one. Who
called native code in the place of Python code can then run that instead, and no handler in it meets an error that CPython would
not have raised (zyg/departures.py).
"""

from __future__ import annotations

PREFIX = "departs:"


def departing(exception: str) -> str:
    """What stands in SSA for an exception that only native code raises.

    >>> departing("OverflowError"), plain(departing("OverflowError"))
    ('departs:OverflowError', 'OverflowError')
    """
    return PREFIX + exception


def departing_class(exception: type[Exception]) -> type[Exception]:
    """The same for library functions that are written in Python. Where they run as such, the plain exception is what they raise.

    >>> departing_class(OverflowError)("too large")
    OverflowError('too large')
    """
    return type(departing(exception.__name__), (exception,), {"__new__": lambda _, *args: exception(*args)})


def departs(exception: object) -> bool:
    return isinstance(exception, str) and exception.startswith(PREFIX)


def plain(exception: str) -> str:
    """The exception that is raised."""
    return exception.removeprefix(PREFIX)


__all__ = ["departing", "departing_class", "departs", "plain"]
