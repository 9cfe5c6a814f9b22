"""The public functions: compile, and differentiate.

Each of them makes or finds a native callable and calls it; what the callable means is a Transform record, and the
compiler expands that.  So `gradient(f, x)` from Python and `zyg.gradient(f, x)` inside compiled code are one mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, overload

from zyg.ir.plainly import code_or_itself

from .callables import DISPATCHER, make_callable
from .errors import Unsupported
from .ir.options import FAST_FLAGS, Options
from .transforms import (
    ATTRIBUTE,
    Argnums,
    Transform,
    by_name_alone,
    check_one_variable,
    checked_argnums,
    describe,
    transform_of,
)

F = TypeVar("F", bound=Callable[..., Any])
Fastmath = bool | str | Iterable[str]

# ------------------------------------------------------------------------------------------------ compile


@overload
def jit(function: F, /) -> F: ...
@overload
def jit(
    function: F,
    /,
    *,
    fastmath: Fastmath = ...,
    vectormath: bool = ...,
    error_model: str = ...,
    boundscheck: bool = ...,
    cache: bool = ...,
    nogil: bool = ...,
) -> F: ...
@overload
def jit(
    *,
    fastmath: Fastmath = ...,
    vectormath: bool = ...,
    error_model: str = ...,
    boundscheck: bool = ...,
    cache: bool = ...,
    nogil: bool = ...,
) -> Callable[[F], F]: ...
def jit(
    function: Any = None,
    /,
    *,
    fastmath: Fastmath = False,
    vectormath: bool = True,
    error_model: str = "python",
    boundscheck: bool = True,
    cache: bool = False,
    nogil: bool = False,
) -> Any:
    """Compile `function` to native code, at its first call with new argument types; use it as a decorator or call it.

    fastmath: False, True, or a set of LLVM's flags (reassoc, nnan, ninf, nsz, arcp, contract, afn): the only way to let
        floating point be reordered or contracted.
    vectormath: mathematics in vectorised loops may differ by up to 4 ulp.
    error_model: "python" raises ZeroDivisionError and domain errors, "numpy" gives inf and nan.
    boundscheck: False leaves indices unchecked.
    cache: keep the machine code on disk for the next process.
    nogil: give up the GIL for the whole of each call.

    Where the function cannot be compiled, the first call raises `Unsupported` and shows the place in the source.
    """
    options = Options(
        fastmath=_fast_flags(fastmath),
        vectormath=_flag("vectormath", vectormath),
        error_model=_error_model(error_model),
        boundscheck=_flag("boundscheck", boundscheck),
        cache=_flag("cache", cache),
        nogil=_flag("nogil", nogil),
    )
    if function is None:
        return lambda function: jit_with(function, options)
    return jit_with(function, options)


def jit_with(function: Any, options: Options) -> Any:
    """`jit` with the options as one record. A jitted function is compiled again with the new options."""
    if type(function) in _METHODS:
        return type(function)(jit_with(function.__func__, options))
    _check_callable("jit", function)
    transform = transform_of(function)
    if transform is not None and transform.kind == "jit":
        function = transform.function
    return make_callable(Transform("jit", function, options=options))


def _fast_flags(fastmath: Fastmath) -> frozenset[str]:
    if isinstance(fastmath, bool):
        return FAST_FLAGS if fastmath else frozenset()
    flags = frozenset([fastmath] if isinstance(fastmath, str) else fastmath)
    if flags == {"fast"}:
        return FAST_FLAGS
    unknown = flags - FAST_FLAGS
    if unknown:
        raise ValueError(f"fastmath knows {', '.join(sorted(FAST_FLAGS))}; not {', '.join(map(repr, sorted(unknown)))}")
    return flags


def _error_model(error_model: str) -> str:
    if error_model not in ("python", "numpy"):
        raise ValueError(f'error_model is "python" or "numpy", not {error_model!r}')
    return error_model


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} is True or False, not {value!r}")
    return value


# What is written between a decorator and a function in the body of a class. They say how the function is reached, so what comes of
# it is reached in this way as well, whichever decorator stands above.
_METHODS = frozenset({staticmethod, classmethod})


def _check_callable(what: str, function: Any) -> None:
    if not callable(function):
        raise TypeError(f"{what} takes a function, not {type(function).__name__} {function!r}")


# ------------------------------------------------------------------------------------------ differentiate

# For each kind, the native callables by the identity of a function's code object (or of the callable itself, if it has
# none). An entry keeps what it is for alive, so an identity in the table is never a stale one.
_Table = dict[int, Any]
_TABLE_SIZE = 128


def _native(kind: str, table: _Table, function: Any, argnums: Argnums = 0, refused: Any = None) -> Any:
    _check_callable(kind, function)
    native = make_callable(Transform(kind, argnums=argnums), **({} if refused is None else {"refused": refused}))
    anchor = code_or_itself(function)
    native.__zyg_anchor__ = anchor
    while len(table) >= _TABLE_SIZE:
        # First in, first out: programs that make functions without end must not grow without end.
        table.pop(next(iter(table)), None)
    return table.setdefault(id(anchor), native)


_gradients: _Table = {}
_withgradients: _Table = {}
_pullbacks: _Table = {}
_others: dict[tuple[str, Argnums, Any], _Table] = {}


def native(kind: str, function: Any, argnums: Argnums = 0, refused: Any = None) -> Any:
    """The native callable for a public function that takes `function` as its first argument. `refused` is called for what native code
    refuses, if it goes another way than others of its kind (`fallback.fall_back`)."""
    table = _others.setdefault((kind, argnums, refused), {})
    found = table.get(id(code_or_itself(function)))
    return _native(kind, table, function, argnums, refused) if found is None else found


def gradient(function: Callable[..., Any], /, *args: Any, **keywords: Any) -> tuple[Any, ...]:
    """The gradient of a real-valued function at `args`: a tuple with an entry per positional argument.

    The entry is None where `function` does not depend on the argument. Keyword arguments are constants.

    >>> import zyg
    >>> zyg.gradient(lambda x, y: x * y, 2.0, 3.0)
    (3.0, 2.0)
    """
    native = _gradients.get(id(code_or_itself(function)))
    if native is None:
        native = _native("gradient", _gradients, function)
    if keywords:
        if not args:
            raise TypeError(by_name_alone("gradient", describe(function), keywords))
        return native(function, *args, **keywords)
    return native(function, *args)


def known_refusal(function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Unsupported | None:
    """Why `gradient` of this call goes through Python, if it has gone there before for calls of this kind, and nothing has changed."""
    native = _gradients.get(id(code_or_itself(function)))
    refusals = getattr(native, DISPATCHER).refusals if native is not None else None
    refusal = refusals.find((function, *args), keywords) if refusals is not None else None
    return refusal.error if refusal is not None else None


def withgradient(function: Callable[..., Any], /, *args: Any, **keywords: Any) -> tuple[Any, tuple[Any, ...]]:
    """Value and gradient: `(function(*args), gradient(function, *args))`, for the cost of the gradient."""
    native = _withgradients.get(id(code_or_itself(function)))
    if native is None:
        native = _native("withgradient", _withgradients, function)
    if keywords:
        if not args:
            raise TypeError(by_name_alone("withgradient", describe(function), keywords))
        return native(function, *args, **keywords)
    return native(function, *args)


def pullback(function: Callable[..., Any], /, *args: Any, **keywords: Any) -> tuple[Any, Callable[[Any], Any]]:
    """`(value, back)`: the value of any function, and a function from a cotangent of the value to a tuple with the
    cotangents of the positional arguments.

    `back` can be called many times, from any thread, and refers to the arguments as they were.

    >>> import math, zyg
    >>> y, back = zyg.pullback(math.sin, 0.5)
    >>> back(1.0)
    (0.8775825618903728,)
    """
    native = _pullbacks.get(id(code_or_itself(function)))
    if native is None:
        native = _native("pullback", _pullbacks, function)
    if keywords:
        if not args:
            raise TypeError(by_name_alone("pullback", describe(function), keywords))
        return native(function, *args, **keywords)
    return native(function, *args)


def grad(
    function: Callable[..., Any], argnums: int | tuple[int, ...] = 0, *, has_aux: bool = False
) -> Callable[..., Any]:
    """The function that gives the gradient of `function` by argument number `argnums`; a tuple of them for a tuple.

    has_aux: `function` gives `(value, aux)`, of which the value is differentiated; it comes out as `(gradient, aux)`.
    """
    return _with_argnums("grad", function, argnums, has_aux)


def value_and_grad(
    function: Callable[..., Any], argnums: int | tuple[int, ...] = 0, *, has_aux: bool = False
) -> Callable[..., Any]:
    """The function that gives `(value, grad(function, argnums))`.

    has_aux: `function` gives `(value, aux)`, of which the value is differentiated; it comes out as `((value, aux), gradient)`.

    >>> import zyg
    >>> zyg.value_and_grad(lambda x: (x * x, {"residual": x - 1.0}), has_aux=True)(3.0)
    ((9.0, {'residual': 2.0}), 6.0)
    """
    return _with_argnums("value_and_grad", function, argnums, has_aux)


def _with_argnums(kind: str, function: Any, argnums: Any, has_aux: bool) -> Any:
    if type(function) in _METHODS:
        return type(function)(_with_argnums(kind, function.__func__, argnums, has_aux))
    _check_callable(kind, function)
    return make_callable(Transform(kind, function, checked_argnums(argnums), has_aux=_flag("has_aux", has_aux)))


def derivative(function: Callable[..., Any]) -> Callable[..., Any]:
    """The derivative of a function of one variable, as a function: to call, inspect, compile, differentiate again.

    >>> import zyg
    >>> f = lambda x: 5 * x + 3
    >>> zyg.derivative(f)(10)
    5.0
    """
    return _derivative(function)


def _derivative(function: Any) -> Any:
    if type(function) in _METHODS:
        return type(function)(_derivative(function.__func__))
    _check_callable("derivative", function)
    check_one_variable(function)
    return make_callable(Transform("derivative", function))


for _function in (gradient, withgradient, pullback):
    setattr(_function, ATTRIBUTE, Transform(_function.__name__))
