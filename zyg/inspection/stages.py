"""Taking a function to the stage that somebody wants to see."""

from __future__ import annotations

import functools
import types as python_types
from collections.abc import Callable
from typing import Any

from .. import pipeline
from ..binding import Binder
from ..dispatch import ByValue, Dispatcher, compile_lock
from ..errors import Unsupported
from ..ir.core import Function
from ..ir.types import Type
from ..transforms import Transform, describe, effective_options, python_function, transform_of
from ..typeof import Typing


def unbound(
    function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    """A call of a bound method or a partial as a call of the function under it, which is what is compiled."""
    if isinstance(function, python_types.MethodType):
        return function.__func__, (function.__self__, *args), keywords
    if isinstance(function, functools.partial):
        return function.func, (*function.args, *args), {**function.keywords, **keywords}
    return function, args, keywords


def staged(
    run: Callable[[pipeline.Request], Any],
    function: Callable[..., Any],
    args: tuple[Any, ...],
    keywords: dict[str, Any] | None = None,
    *,
    exact: bool | None = None,
) -> Any:
    """What `run` makes of a call of `function` with these arguments, which may be types already, in the way that a call goes which is
    compiled. `exact`: see `Dispatcher`."""
    if not callable(function):
        raise TypeError(f"this takes a function and its arguments; {function!r} is not a function")
    function, args, keywords = unbound(function, args, keywords or {})
    transform = transform_of(function) or Transform("jit", function)
    plain = python_function(function) if transform.kind == "jit" else None
    if isinstance(plain, python_types.FunctionType):
        Binder(plain)(args, keywords)  # TypeError, in Python's words, if the function cannot be called so
    with compile_lock:
        return _Staging(run, function, transform, exact).specialise(args, keywords)


class _Staging(Dispatcher):
    """Takes calls to a stage, and keeps nothing."""

    def __init__(
        self,
        run: Callable[[pipeline.Request], Any],
        function: Callable[..., Any],
        transform: Transform,
        exact: bool | None,
    ):
        super().__init__(transform, exact=exact)
        self._run = run
        self._function = function

    def type_of(self, typing: Typing, value: Any) -> Type:
        return value if isinstance(value, Type) else super().type_of(typing, value)

    def _specialise(
        self, args: tuple[Any, ...], keywords: dict[str, Any], apart: int, by_value: ByValue, compiles: bool = True
    ) -> Any:
        types = self.types_of(args, keywords, apart, by_value)
        options = effective_options(self.transform)
        wanted = (self._function, types, tuple(keywords), options, by_value.variables, bool(self.exact))
        return self._run(pipeline.Request(*wanted))

    def _keep_way(self, args: tuple[Any, ...], keywords: dict[str, Any], apart: int, by_value: ByValue) -> None:
        pass


def ssa_function(function: Callable[..., Any]) -> Function:
    """The untyped SSA of the Python function under `function`."""
    from ..frontend.capture import capture

    plain = python_function(function)
    if isinstance(plain, python_types.MethodType):
        plain = plain.__func__
    if isinstance(plain, python_types.FunctionType):
        plain = plain.__code__
    if not isinstance(plain, python_types.CodeType):
        call = vars(type(plain)).get("__call__")
        if not isinstance(call, python_types.FunctionType):
            raise Unsupported(
                f"{describe(plain)} is not written in Python, so there is no bytecode to show",
                hint="zyg.code_typed(f, *args) shows what a call of it becomes",
            )
        plain = call.__code__
    return capture(plain)


def typed_module(function: Callable[..., Any], args: tuple[Any, ...], optimised: bool) -> list[Function]:
    inferred = staged(lambda wanted: pipeline.compile(wanted, "optimised" if optimised else "typed"), function, args)
    return _reachable(inferred.module, inferred.entry)


def object_adjoint(function: Callable[..., Any]) -> list[Function]:
    """The forward and the reverse half of a function as it is differentiated in the Python back end."""
    from ..autodiff.python import halves

    return list(halves(ssa_function(function)))


def adjoint_module(function: Callable[..., Any], args: tuple[Any, ...], split: bool, optimised: bool) -> list[Function]:
    from ..autodiff.adjoint import adjoint
    from ..ir.passes import optimise

    inferred = staged(_inside_a_derivative, function, args)
    with compile_lock:
        module = inferred.module
        optimise(module, "clean", verify=pipeline.settings.verify)
        entry = module.functions[inferred.entry]
        made = adjoint(module, inferred.entry, [True] * len(entry.params), split)
        names = [made.forward, made.reverse] if split else [made.function]
        if optimised:
            optimise(module, "full", verify=pipeline.settings.verify)
    found: list[Function] = []
    for name in names:
        found.extend(f for f in _reachable(module, name) if f not in found)
    return found


def tangent_module(function: Callable[..., Any], args: tuple[Any, ...], lanes: int, optimised: bool) -> list[Function]:
    from ..autodiff.tangent import tangent
    from ..ir.passes import optimise

    inferred = staged(_inside_a_derivative, function, args)
    with compile_lock:
        module = inferred.module
        optimise(module, "clean", verify=pipeline.settings.verify)
        entry = module.functions[inferred.entry]
        made = tangent(module, inferred.entry, [True] * len(entry.params), lanes=lanes)
        if optimised:
            optimise(module, "full", verify=pipeline.settings.verify)
    return _reachable(module, made.function)


def compiled(function: Callable[..., Any], args: tuple[Any, ...]) -> pipeline.Compiled:
    return staged(pipeline.compile, function, args)


def _inside_a_derivative(wanted: pipeline.Request) -> Any:
    from ..frontend.frames import Context
    from ..frontend.infer import infer

    context = Context(wanted.options, 1, forwards=True)  # rules for either direction
    return infer(wanted.function, wanted.types, context=context, fixed=wanted.fixed)


def _reachable(module: Any, entry: str) -> list[Function]:
    """The entry and the functions that it calls, callers first."""
    names = [entry]
    for name in names:
        for _, instr in module.functions[name].instructions():
            callee = instr.attrs.get("callee") if instr.op == "call" else None
            if isinstance(callee, str) and callee not in names:
                names.append(callee)
    return [module.functions[name] for name in names]


__all__ = [
    "adjoint_module",
    "compiled",
    "object_adjoint",
    "ssa_function",
    "tangent_module",
    "typed_module",
    "unbound",
]
