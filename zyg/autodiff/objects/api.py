"""The entry: the pullback of a call through the Python back end."""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from zyg import collecting
from zyg.autodiff.python import escaping
from zyg.autodiff.python.dependence import flowing
from zyg.autodiff.python.knowledge import begin, release, revalidate
from zyg.ir.plainly import get_plainly

from . import (
    calls,
    depth,
    error_states,
    gathering,
    generators,
    memory,
    passing,
    scattering,
    stdlib_,
    structure,
    together,
    user_rules,
    zeros,
)
from .iteration import Iterator as Iterator
from .shadows import Shadows


def pullback(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, forward: bool = False
) -> tuple[Any, Pullback]:
    """(value, back) of `f(*args, **kwargs)`; `back(seed)` is a tuple with the gradient by each positional argument, of the
    structure of the argument: None where there is none. `forward`: by tangent rules, where there are any.

    >>> value, back = pullback(lambda x, xs: x * xs[1], (2.0, [3.0, 4.0]))
    >>> value, back(1.0)
    (8.0, (4.0, [0.0, 2.0]))
    """
    before = user_rules.enter(forward)
    try:
        return _guarded(_run, f, args, kwargs)
    finally:
        user_rules.leave(before)


@calls.known(pullback)
@passing.passes()
def _pullback_in_turn(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, forward: bool = False
) -> tuple[Any, Any]:
    """The same where it is differentiated in turn: but for what is only kept in order."""
    from . import nested as nested  # which says what of all this carries no derivative

    before = user_rules.enter(forward, inner=True)
    try:
        return _guarded(_run_in_turn, f, args, kwargs)
    finally:
        user_rules.leave(before)


@passing.passes()
def _run_in_turn(*operands: Any) -> tuple[Any, Any]:
    return calls.call(_run, operands)


@passing.passes()
def _guarded(run: Callable[..., Any], *operands: Any) -> Any:
    calls.refresh()
    revalidate()
    error_states.check()
    mark = generators.begin()
    shared = memory.begin()
    refusals = escaping.begin()
    stdlib_.begin(operands[1])
    begin()
    try:
        made = run(*operands)
        generators.end(mark)
        memory.check(shared)
        escaping.end(refusals)
    except BaseException as error:
        escaping.fail(refusals, error)
        raise
    finally:
        generators.forget(mark)
        stdlib_.end()
        memory.end(shared)
        release()
    return made


def _run(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> tuple[Any, Pullback]:
    for x in args:
        if isinstance(x, _MUTABLE):
            args = _apart(f, args)
            break
    args = _distinct(args)
    forms, groups = depth.however_deep(structure.forms_of, args)
    value, back = calls.call_in_python(f, args, kwargs)
    together.end(groups)
    return value, Pullback(f, back, forms, depth.however_deep(structure.form, value), groups)


def _distinct(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments, no two of them the same float object: functions with `lru_cache` tell numbers apart by identity."""
    floats = [id(x) for x in args if type(x) is float]
    if len(floats) < 2 or len(set(floats)) == len(floats):
        return args
    seen: set[int] = set()
    result = []
    for x in args:
        if type(x) is float and id(x) in seen:
            x = x * 1.0  # another object
        seen.add(id(x))
        result.append(x)
    return tuple(result)


def _apart(f: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments, with copies for arrays that are also other arguments, or that the function has by name: a gradient is by
    one array, and memory has one shadow.  That is right as long as none of them is written.  Other objects have one derivative,
    wherever they are."""
    function = get_plainly(f, "__func__", f)
    seen: list[Any] = []
    if isinstance(function, FunctionType):
        held = _named(function).values() if function.__closure__ else _globals_of(function)
        seen = [x for x in held if isinstance(x, _MUTABLE)]
    if not seen and not [x for x in args if isinstance(x, np.ndarray)]:
        return args
    result: list[Any] = []
    for at, x in enumerate(args):
        if isinstance(x, np.ndarray):
            if any(isinstance(other, np.ndarray) and np.may_share_memory(x, other) for other in seen):
                code = get_plainly(function, "__code__")
                if isinstance(code, CodeType) and any(x is other for other in seen) and _asks_identity(code):
                    raise ValueError(
                        f"argument {at} is an array that the function also has by another name, and `is` is asked there, where its "
                        "derivative is that of a copy; pass a copy of it"
                    )
                what = f"argument {at} shares memory with what else the function has, and is written; pass a copy of it"
                memory.keep(x, ValueError(what))
                x = x.copy()
                memory.keep(x, ValueError(what))
            seen.append(x)
        elif isinstance(x, _MUTABLE) and any(x is other for other in seen):
            name = next(name for name, other in _named(function).items() if x is other)
            raise ValueError(
                f"argument {at} is a {type(x).__name__} that the function also has by name, as `{name}`, where it would be a constant; "
                "pass a copy of it: copy.deepcopy(x)"
            )
        result.append(x)
    return tuple(result)


def _globals_of(function: FunctionType) -> Iterable[Any]:
    """What the names in a function stand for as global variables; those of attributes are among them."""
    return map(function.__globals__.get, function.__code__.co_names)


def _named(function: FunctionType) -> dict[str, Any]:
    """What a function has by name."""
    code = function.__code__
    named = dict(zip(code.co_names, _globals_of(function)))
    named.update(zip(code.co_freevars, map(structure.content, function.__closure__ or ())))
    return named


_MUTABLE = (np.ndarray, list, dict, set)


def _asks_identity(code: CodeType) -> bool:
    """Whether code, or that of functions made there, has an `is` of something else than None."""
    before = None
    for instr in dis.get_instructions(code):
        if instr.opname == "IS_OP" and not (
            before is not None and before.opname == "LOAD_CONST" and before.argval is None
        ):
            return True
        before = instr
    return any(_asks_identity(c) for c in code.co_consts if isinstance(c, CodeType))


class Pullback:
    """The function from a cotangent of a value to the gradients by the arguments that it was computed from."""

    __slots__ = ("__weakref__", "_back", "_form", "_forms", "_function", "_groups")

    def __init__(
        self, function: Any, back: Any, forms: list[structure.Form], form: structure.Form, groups: list[together.Alike]
    ):
        self._function = function
        self._back = back
        self._forms = forms
        self._form = form
        self._groups = groups

    def by(self, numbers: tuple[int, ...]) -> Pullback:
        """That by some of the arguments alone, with None for the others."""
        forms = [form if k in numbers else structure.NOTHING for k, form in enumerate(self._forms)]
        return Pullback(self._function, self._back, forms, self._form, self._groups)

    def __call__(self, seed: Any, /) -> tuple[Any, ...]:
        shadows = Shadows()
        try:
            return self.run(seed, shadows)
        finally:
            shadows.let_go()

    def run(self, seed: Any, shadows: Shadows) -> tuple[Any, ...]:
        """The same, with the shadows to look at afterwards: `gradient_of` tells what others than the arguments got."""
        collecting.begin(collecting.RUNNING)
        try:
            return self._pull(seed, shadows)
        finally:
            shadows.end()
            collecting.end(collecting.RUNNING)

    def _pull(self, seed: Any, shadows: Shadows) -> tuple[Any, ...]:
        together.prepare(self._groups, shadows)
        d = scattering.scatter(self._form, seed, shadows, scattering.GIVEN)
        given = calls.run(self._back, d, shadows)
        gradients = [
            depth.however_deep(gathering.gather, form, None if given is None else given[1 + k], shadows)
            for k, form in enumerate(self._forms)
        ]
        if d is not None and type(self._function) is FunctionType:
            self._complete(gradients)
        return tuple(gradients)

    def _complete(self, gradients: list[Any]) -> None:
        """What the value depends on by data flow has a gradient, if only 0.0, on whichever path it was computed."""
        for gradient, form in zip(gradients, self._forms):
            if gradient is None or form[0] != "number":
                break
        else:
            return
        flows = flowing(self._function.__code__)
        if flows.builtins.isdisjoint(self._function.__globals__):
            for k, paths in flows.parts.items():
                if k < len(gradients) and zeros.lacking(gradients[k], paths):
                    gradients[k] = zeros.completed(self._forms[k], gradients[k], paths)

    def __repr__(self) -> str:
        name = get_plainly(self._function, "__qualname__") or repr(self._function)
        return f"<pullback of {name}>"


@calls.known(Pullback.run)
def _run_in_turn_back(back: Pullback, seed: Any, shadows: Shadows) -> tuple[Any, Any]:
    """The same where it is differentiated in turn."""
    try:
        return calls.call(Pullback._pull, (back, seed, shadows))
    finally:
        shadows.end()


@calls.known(Shadows.let_go)
def _let_go_in_turn(shadows: Shadows) -> tuple[None, None]:
    """What undoes the reverse pass has them."""
    return None, None


def gradient_of(x: Any, shadows: Shadows) -> Any:
    """What a mutable object has gathered in a reverse pass, in its own structure; None if there is nothing.

    >>> weights = [2.0, 3.0]
    >>> _, back = pullback(lambda: weights[0] * weights[1], ())
    >>> shadows = Shadows()
    >>> back.run(1.0, shadows), gradient_of(weights, shadows)
    ((), [3.0, 2.0])
    """
    return gathering.gather(structure.form(x), None, shadows)
