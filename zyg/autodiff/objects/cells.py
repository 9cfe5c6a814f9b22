"""Variables that outlive a call: cells of closures, globals; and what `with` does."""

from __future__ import annotations

from types import CellType, FunctionType, MethodType
from typing import Any

from . import attributes, calls, native, reentry
from .arithmetic import find_special
from .cotangents import accumulate


def record_get_cell(cell: CellType, name: str = "") -> tuple[Any, Any]:
    try:
        return cell.cell_contents, (_run_cell, cell)
    except ValueError:
        raise NameError(
            f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
        ) from None


def _run_cell(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is not None:
        shadows.add_cell(back[1], d)


def record_set_cell(cell: CellType, value: Any) -> Any:
    cell.cell_contents = value
    return (_run_set_cell, cell)


def _run_set_cell(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, shadows.take_cell(back[1])


def record_del_cell(cell: CellType) -> Any:
    del cell.cell_contents
    return (_run_set_cell, cell)


def record_get_global(scope: dict[str, Any], name: str) -> tuple[Any, Any]:
    """A global variable that differentiated code assigns to."""
    if name in scope:
        return scope[name], (_run_global, scope, name)
    builtins = scope["__builtins__"]
    builtins = builtins if isinstance(builtins, dict) else vars(builtins)
    if name not in builtins:
        raise NameError(f"name '{name}' is not defined", name=name)
    return builtins[name], None


def _run_global(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is not None:
        shadows.add_key(back[1], back[2], d)


def record_set_global(value: Any, name: str, scope: dict[str, Any]) -> Any:
    scope[name] = value
    native.assigned(name)
    return (_run_set_global, scope, name)


def _run_set_global(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return (shadows.take_key(back[1], back[2]),)


def record_with_enter(manager: Any) -> tuple[Any, ...]:
    """The exit method of a context manager, what entering gave, and the back: its `d` is that of the two."""
    cls = type(manager)
    enter, leave = find_special(cls, "__enter__"), find_special(cls, "__exit__")
    if enter is None or leave is None:
        missing = "__enter__" if enter is None else "__exit__"
        raise TypeError(
            f"'{cls.__name__}' object does not support the context manager protocol (missed {missing} method)"
        )
    if type(enter) is FunctionType is type(leave):  # as a rule
        y, back = calls.call(MethodType(enter, manager), ())
        return MethodType(leave, manager), y, None if back is None else (_run_enter, back)
    # CPython finds both before it calls one.
    looked: list[Any] = []
    with reentry.gathering(looked):
        bound = []
        for method in (enter, leave):
            found, back = attributes.special_of(manager, method)
            bound.append(found)
            looked.append(back)
        y, back = calls.call(bound[0], ())
    return bound[1], y, (_run_looked_up, looked, back)


def _run_looked_up(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, (enter, leave), called = back
    of_leave, of_value = (None, None) if d is None else d
    given = calls.run(called, of_value, shadows)
    total = calls.run(leave, of_leave, shadows)
    given = calls.run(enter, None if given is None else given[0], shadows)
    return (accumulate(None if total is None else total[0], None if given is None else given[0]),)


def _run_enter(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], None if d is None else d[1], shadows)
    return None if given is None else (given[0],)


def record_with_exit(leave: Any, exception: Any) -> tuple[Any, Any]:
    """Call an exit method; what it answered."""
    args = (None, None, None) if exception is None else (type(exception), exception, exception.__traceback__)
    y, back = calls.call(leave, args)
    return y, None if back is None else (_run_exit, back)


def _run_exit(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else (given[0], None)


RECORD = {
    "get_cell": record_get_cell, "set_cell": record_set_cell, "del_cell": record_del_cell,
    "get_global": record_get_global, "set_global": record_set_global, "with_enter": record_with_enter,
    "with_exit": record_with_exit,
}  # fmt: skip
