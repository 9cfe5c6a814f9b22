"""Context variables: what one holds has its cotangent as an attribute of the variable. Context managers made of generators."""

from __future__ import annotations

import contextlib
from contextvars import ContextVar, Token
from types import FunctionType
from typing import Any

from . import calls, classes, generators, later, reversals, spreading
from .backs import run_shifted
from .calls import known, method
from .cotangents import accumulate
from .generators import Generator

_NO_VALUE: Any = object()


@known(ContextVar)
def _made(name: str, **default: Any) -> tuple[Any, Any]:
    variable = ContextVar(name, **default)
    return variable, (_run_made, variable) if default else None


def _run_made(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, None, shadows.take_attr(back[1], "default")


@method(ContextVar, "get")
def _get(variable: ContextVar[Any], *default: Any) -> tuple[Any, Any]:
    y = variable.get(_NO_VALUE)
    if y is not _NO_VALUE:
        return y, (_run_get, variable)
    if default:
        return default[0], (_run_default,)
    return variable.get(), (_run_get_default, variable)


def _run_get_default(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is not None:
        shadows.add_attr(back[1], "default", d)


def _run_get(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is not None:
        shadows.add_attr(back[1], "value", d)


def _run_default(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, d


@method(ContextVar, "set")
def _set(variable: ContextVar[Any], value: Any) -> tuple[Any, Any]:
    token = variable.set(value)
    return token, (_run_set, variable, token)


def _run_set(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, variable, token = back
    taken = shadows.take_attr(variable, "value")
    before = shadows.take_attr(token, "before")
    if before is not None:
        shadows.add_attr(variable, "value", before)
    return None, taken


@method(ContextVar, "reset")
def _reset(variable: ContextVar[Any], token: Token[Any]) -> tuple[Any, Any]:
    variable.reset(token)
    return None, (_run_reset, variable, token)


def _run_reset(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """What the variable gathered afterwards belongs to what it held before the token was made."""
    _, variable, token = back
    taken = shadows.take_attr(variable, "value")
    if taken is not None:
        shadows.add_attr(token, "before", taken)


# ------------------------------------------------------------------------------------------------- contextlib.contextmanager

_Manager: Any = contextlib._GeneratorContextManager  # what `@contextmanager` makes


def _in_python(method: Any) -> FunctionType:
    """The same function, of which nothing is known but its code."""
    copy = FunctionType(method.__code__.replace(), method.__globals__, method.__name__, method.__defaults__)
    copy.__qualname__ = method.__qualname__
    return copy


_enter_in_python, _exit_in_python = _in_python(_Manager.__enter__), _in_python(_Manager.__exit__)


@known(_Manager, exact=True)
def _manager(func: Any, args: tuple[Any, ...], kwds: dict[str, Any]) -> tuple[Any, Any]:
    """The generator is made; all else that the class does on the way is about its documentation."""
    made, back = spreading.record_spread(func, args, kwds)
    if type(made) is not Generator:
        return classes.construct(_Manager, func, args, kwds)  # (what was made is no generator: nothing has run)
    manager = object.__new__(_Manager)
    manager.gen = made
    manager.func, manager.args, manager.kwds = func, args, kwds
    manager.__doc__ = _Manager.__doc__ if (doc := getattr(func, "__doc__", None)) is None else doc
    return manager, (_run_manager, back, manager)


def _run_manager(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, manager = back
    given = calls.run(inner, None, shadows) or (None, None, None)
    if id(manager) not in shadows.holders:
        return None, *given
    func, args = shadows.take_attr(manager, "func"), shadows.take_attr(manager, "args")
    return None, accumulate(given[0], func), accumulate(given[1], args), given[2]


def _is_simple(manager: Any) -> bool:
    return type(manager) is _Manager and type(manager.__dict__.get("gen")) is Generator


@known(_Manager.__enter__, exact=True)
def _enter(manager: Any) -> tuple[Any, Any]:
    return _entered(manager) if _is_simple(manager) else calls.call(_enter_in_python, (manager,))


def _enter_as_method(manager: Any) -> tuple[Any, Any]:
    return _entered(manager) if _is_simple(manager) else _as_method(calls.call(_enter_in_python, (manager,)))


def _entered(manager: Any) -> tuple[Any, Any]:
    """Nothing flows to the manager itself."""
    del manager.args, manager.kwds, manager.func
    try:
        return generators.record_next(manager.gen)
    except StopIteration:
        raise RuntimeError("generator didn't yield") from None


def _as_method(made: tuple[Any, Any]) -> tuple[Any, Any]:
    y, back = made
    return y, None if back is None else (run_shifted, back)


@known(_Manager.__exit__, exact=True)
def _exit(manager: Any, typ: Any, value: Any, traceback: Any) -> tuple[Any, Any]:
    made = _left(manager, typ, value, traceback)
    return calls.call(_exit_in_python, (manager, typ, value, traceback)) if made is None else made


def _exit_as_method(manager: Any, typ: Any, value: Any, traceback: Any) -> tuple[Any, Any]:
    made = _left(manager, typ, value, traceback)
    return _as_method(calls.call(_exit_in_python, (manager, typ, value, traceback))) if made is None else made


calls.AS_METHODS[_Manager.__enter__] = _enter_as_method, 1
calls.AS_METHODS[_Manager.__exit__] = _exit_as_method, 4


def _left(manager: Any, typ: Any, value: Any, traceback: Any) -> tuple[Any, Any] | None:
    """(value, back) of `__exit__`, whose back gives no cotangents; None where the library's code is followed."""
    if not _is_simple(manager):
        return None
    generator = manager.gen
    if typ is not None:
        if value is None or isinstance(value, _THAT_GENERATORS_CHANGE) or generators.gives_items_of_another(generator):
            return None
        return _thrown(generator, value, traceback)
    try:
        generators.last_step(generator)
    except StopIteration:
        return False, (reversals.run_end, generator.record, None)
    try:
        raise RuntimeError("generator didn't stop")
    except RuntimeError as error:
        generator.forward.close()
        generator.fail(error, reversals.run_gone_on)
        raise


# A generator makes another exception of these, which the class looks for.
_THAT_GENERATORS_CHANGE = (StopIteration, RuntimeError)


def _thrown(generator: Generator, value: BaseException, traceback: Any) -> tuple[Any, Any]:
    """Whether the generator handles the exception that has left the body."""
    try:
        generators.throw_last(generator, value)
    except StopIteration:
        return True, (reversals.run_end, generator.record, None)
    except BaseException as error:
        if error is not value:
            raise
        error.__traceback__ = traceback
        return False, (_run_thrown, later.escaping.swallowed(error))
    try:
        raise RuntimeError("generator didn't stop after throw()")
    except RuntimeError as error:
        generator.forward.close()
        generator.fail(error, reversals.run_gone_on)
        raise


def _run_thrown(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    calls.run(back[1], None, shadows)
