"""Falling back: derivatives of what native code refuses, by way of the Python back end.

Whether a call is native is decided before anything of the user's function runs, from the types of the arguments.  A refusal is
remembered with what it rested on (the functions that the names in the code stood for, the rules), so the next call of that
kind goes to the Python back end at once, and a call after the cause was mended is native.  `zyg.jit` never comes here.
"""

from __future__ import annotations

import functools
import itertools
import linecache
import numbers
import sys
import types
import warnings
import weakref
from collections.abc import Callable, Iterable
from typing import Any, cast

import numpy as np

from zyg.ir.plainly import code_or_itself, get_plainly, has_plainly

from . import collecting, composed, params, rules, tracebacks
from .departures import effects, may_be_repeated
from .errors import FallbackWarning, Misuse, Unsupported, excerpt, in_library
from .ir.core import Position
from .ir.types import ListType, Scalar, children
from .own import is_own
from .transforms import DIRECT_KINDS, Transform, chosen, describe, python_function, transform_of

# ------------------------------------------------------------------------------------------------ refusals

# So many refusals of one function are told apart by the arguments. A function with more of them is not tried again.
LIMIT = 16
# So often a refusal is looked into again because a name stands for something else. After that it stays.
RENEWALS = 8


class Refusal:
    """That native code refused calls of one kind, and why. `error` is what the compiler said."""

    __slots__ = ("_kept", "announced", "epoch", "error", "names", "renewals")

    def __init__(self, error: Unsupported, kept: Any = (), renewals: int = 0):
        self.error = error
        self.epoch = rules.epoch()
        # What the program can bind anew; builtins and the attributes of modules stay what they are.
        self.names = names_of(error) if renewals < RENEWALS else ()
        self.renewals = renewals
        self.announced = False  # the warning has been given, or is none
        self._kept = kept  # what has its identity in the key

    def holds(self) -> bool:
        return self.epoch == rules.epoch() and all(_LOOK_UP[str(guard[0])](*guard[1:]) for guard in self.names)


def names_of(error: Unsupported) -> tuple[tuple[Any, ...], ...]:
    """The guards by which it is seen that a refusal may be void."""
    return tuple(guard for guard in error.guards if guard[0] in _LOOK_UP)


def _global_holds(namespace: dict[str, Any], name: str, expected: Any) -> bool:
    return namespace.get(name) is expected


def _cell_holds(cell: types.CellType, expected: Any) -> bool:
    try:
        return cell.cell_contents is expected
    except ValueError:
        return False


def _still_missing(namespace: dict[str, Any], builtin_names: dict[str, Any], name: str) -> bool:
    return name not in namespace and name not in builtin_names


_LOOK_UP: dict[str, Callable[..., bool]] = {
    "global": _global_holds,
    "cell": _cell_holds,
    "missing": _still_missing,
}


class Refusals:
    """The refusals of one callable, by the kind of the arguments."""

    __slots__ = ("_groups",)

    def __init__(self) -> None:
        # Those of each function that is an argument, such as the one that `zyg.gradient` differentiates: one code may be that of any
        # number of functions, which call others.
        self._groups: dict[Any, _Alike] = {}

    def find(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Refusal | None:
        """The refusal of calls like this one, if it still holds."""
        key = kinds_of(args, keywords)
        group = self._groups.get(_function_in(args))
        found = None if group is None else group.of_all or group.known.get(key)
        return found if found is not None and found.holds() else None

    def add(self, args: tuple[Any, ...], keywords: dict[str, Any], error: Unsupported) -> Refusal:
        key = kinds_of(args, keywords)
        function = _function_in(args)
        group = self._groups.get(function)
        if group is None:
            while len(self._groups) >= LIMIT:
                self._groups.pop(next(iter(list(self._groups))), None)  # (a copy: other threads may add to it)
            group = self._groups.setdefault(function, _Alike())
        before = group.of_all or group.known.get(key)
        refusal = Refusal(error, (args[:1], keywords.keys()), before.renewals + 1 if before is not None else 0)
        group.known[key] = refusal
        if group.of_all is not None or len(group.known) > LIMIT:
            group.known.clear()
            group.of_all = refusal
        return refusal

    def errors(self) -> list[Unsupported]:
        """Why calls were refused, each reason once."""
        found = [r for group in list(self._groups.values()) for r in group.all()]
        return list({refusal.error.what: refusal.error for refusal in found}.values())


class _Alike:
    """Refusals of one function, by the kinds of its arguments, or one for all if there are many."""

    __slots__ = ("known", "of_all")

    def __init__(self) -> None:
        self.known: dict[Any, Refusal] = {}
        self.of_all: Refusal | None = None

    def all(self) -> list[Refusal]:
        return list(self.known.values()) if self.of_all is None else [self.of_all]


def _function_in(args: tuple[Any, ...]) -> Any:
    """The code of the function that is the first argument, and of those that it has captured."""
    return _codes(args[0]) if args and type(args[0]) is types.FunctionType else None


def _codes(function: types.FunctionType, depth: int = 0) -> tuple[Any, ...]:
    inner: list[Any] = []
    for cell in function.__closure__ or () if depth < 3 else ():
        try:
            content = cell.cell_contents
        except ValueError:
            continue
        if type(content) is types.FunctionType:
            inner.append(_codes(content, depth + 1))
    return id(function.__code__), *inner


def kinds_of(args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Equal for calls that are refused for one reason."""
    key = [_kind(value) for value in args]
    if keywords:
        key.append(tuple((name, _kind(value)) for name, value in keywords.items()))
    return tuple(key)


def _kind(value: Any, depth: int = 0) -> Any:
    """What calls that are refused for one reason have in common. It is quick, and coarser than the types of the compiler:
    what matters is that a call which would be native is not taken for a refused one because of its numbers."""
    cls = type(value)
    if cls is float:
        return cls
    if cls is int:
        return cls if -(1 << 63) <= value < 1 << 63 else "int beyond 64 bits"
    if cls is np.ndarray:
        return (cls, value.dtype.char, value.ndim, value.flags.writeable)
    if cls is tuple and depth < 3:
        return (cls, *[_kind(item, depth + 1) for item in value])
    if cls is dict:
        return (cls, *map(type, itertools.islice(value, 1)))
    if cls is types.FunctionType:
        cells = () if value.__closure__ is None or depth >= 3 else value.__closure__  # (it may have captured itself)
        return (cls, id(value.__code__), *[cell_kind(cell, depth + 1) for cell in cells])
    if cls is types.MethodType:
        return (cls, _kind(value.__func__, depth), type(value.__self__))
    if cls is functools.partial and depth < 3:
        return (cls, _kind(value.func, depth + 1))
    if isinstance(value, KNOWN_BY_IDENTITY):
        return (cls, id(value))
    return cls


# Of these each is of a kind of its own: classes, modules, and functions in C, those of NumPy and universal ones among them.
KNOWN_BY_IDENTITY = (
    type, types.ModuleType, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.MethodWrapperType, types.ClassMethodDescriptorType, np.ufunc, type(np.sum),
)  # fmt: skip


def cell_kind(cell: types.CellType, depth: int = 0) -> Any:
    try:
        return _kind(cell.cell_contents, depth)
    except ValueError:
        return None


# ------------------------------------------------------------------------------------------------- warning

_warned: weakref.WeakSet[Any] = weakref.WeakSet()
# Objects in C (methods of built-in types, getters of `operator`) have no weak references: one warning for all of a kind and name.
_warned_kinds: set[tuple[type, str]] = set()


def announce(transform: Transform, function: Any, error: Unsupported) -> None:
    """Say once per function what keeps it from being native."""
    plain = _of_the_program(function)
    if plain is not _bare(function):
        function = plain
    anchor = get_plainly(plain, "__code__") or getattr(vars(type(plain)).get("__call__"), "__code__", None) or plain
    try:
        hash(weakref.ref(anchor))
    except TypeError:
        known, anchor = _warned_kinds, (type(anchor), describe(anchor) if has_plainly(anchor, "__name__") else "")
    else:
        known = _warned
    if anchor in known:
        return
    where = " " if _in_the_program(error) else _definition(plain)
    message = f"{describe(function)} is differentiated by way of Python, not as native code.{where}The reason: {error}"
    warnings.warn(message, FallbackWarning, stacklevel=_user_level())
    known.add(anchor)


def _of_the_program(function: Any) -> Any:
    """The Python function that is differentiated, also where zyg has made another one of it for that."""
    plain = _bare(function)
    own = str(get_plainly(plain, "__module__", "")).startswith("zyg.")  # part of a derivative that is made of others
    return get_plainly(plain, "__wrapped__", plain) if own else plain


def _bare(function: Any) -> Any:
    plain = python_function(function)
    return get_plainly(plain, "__func__", plain)


def _in_the_program(error: Unsupported) -> bool:
    """Whether a refusal names a line of the user's."""
    return error.caller is not None or error.position is not None and not in_library(error.position)


def _definition(function: Any) -> str:
    """The line that a function begins with, below its decorators, on lines of its own."""
    code = get_plainly(function, "__code__")
    if code is None:
        return " "
    file, first = code.co_filename, code.co_firstlineno
    if linecache.getline(file, first).lstrip().startswith("@"):
        lines = [linecache.getline(file, first + n).lstrip() for n in range(_MOST_DECORATORS)]
        first += next((n for n, line in enumerate(lines) if line.startswith(("def ", "async def "))), 0)
    return f"\n{excerpt(Position(file, first, function=code.co_qualname))}\n"


_MOST_DECORATORS = 50  # lines


def _user_level() -> int:
    """The stacklevel, for the function that asks, of the first frame outside this package."""
    level, frame = 1, sys._getframe(2)
    while frame is not None and is_own(frame.f_code.co_filename):
        frame = frame.f_back
        level += 1
    return level + 1


# ------------------------------------------------------------------------------- through the Python back end


def strict(function: Any) -> bool:
    """Whether this is a jitted function, or was made of one: those are native, or refused."""
    for _ in range(1000):
        transform = transform_of(function)
        if transform is None:
            return False
        if transform.kind == "jit":
            return True
        function = transform.function
    return False


def may_fall_back(transform: Transform, args: tuple[Any, ...]) -> bool:
    if transform.kind not in _KINDS:
        return False
    if transform.kind in DIRECT_KINDS:
        return bool(args) and not strict(args[0])
    return not strict(transform.function)


def fall_back(transform: Transform, args: tuple[Any, ...], keywords: dict[str, Any], refusal: Refusal) -> Any:
    """The call, through the Python back end."""
    if transform.kind in DIRECT_KINDS:
        function, args = args[0], args[1:]
    else:
        function = transform.function
    if _is_asynchronous(function):  # which is refused there, too
        raise refusal.error.with_traceback(None)
    params.refuse(transform.kind, args)
    if not refusal.announced and (
        transform.kind not in COMPOSED or (transform.kind in ("jvp", "pushforward") and rules.users_tangent_rules())
    ):
        announce(transform, function, refusal.error)
        refusal.announced = True
    collecting.begin(collecting.RUNNING)
    mark = tracebacks.begin()
    try:
        result = _KINDS[transform.kind](transform, function, args, keywords)
    except BaseException as error:
        tracebacks.leave(mark, error)
        raise
    else:
        tracebacks.end(mark)
        return result
    finally:
        collecting.end(collecting.RUNNING)  # at last: what was freed is not looked through


def _is_asynchronous(function: Any) -> bool:
    if type(function) is not types.FunctionType or function.__dict__ or str(function.__module__).startswith("zyg."):
        function = _of_the_program(function)
    code = get_plainly(function, "__code__")
    return isinstance(code, types.CodeType) and bool(code.co_flags & _coroutine_flags())


@functools.cache
def _coroutine_flags() -> int:
    """Loaded when it is first used."""
    from .frontend.machine import COROUTINE_FLAGS

    return COROUTINE_FLAGS


def _argument(function: Any, n: int) -> str:
    """How a message names an argument: by its parameter if that is known."""
    code = get_plainly(_of_the_program(function), "__code__")
    if isinstance(code, types.CodeType) and isinstance(function, types.FunctionType) and n < code.co_argcount:
        return f"argument '{code.co_varnames[n]}' of {describe(function)}"
    return f"argument {n} of {describe(function)}"


def python_pullback(
    function: Any,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    numbers: tuple[int, ...] | None = None,
    forward: bool = False,
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """(value, back) of a call; the back is by some of the arguments alone if these are given by number. `forward`: it is for forward
    mode, and follows tangent rules."""
    for n, x in enumerate(args):
        if isinstance(x, np.ndarray) and x.dtype.hasobject:
            raise TypeError(
                f"{_argument(function, n)} is an array of objects, which has no gradient; pass an array of numbers, x.astype(float)"
            )
        if isinstance(x, memoryview):
            raise TypeError(f"{_argument(function, n)} is a memoryview, which has no gradient; pass np.asarray of it")
    value, back = _back_end().pullback(function, args, keywords, forward)
    if isinstance(value, (types.GeneratorType, _back_end().Iterator)):
        raise Misuse(
            f"the value of {describe(function)} is a generator or another iterator, whose items have no derivative outside",
            hint="go through it there: return the sum of its items, or the list of them",
        )
    return value, back if numbers is None or len(numbers) == len(args) else back.by(numbers)


@functools.cache
def _back_end() -> types.ModuleType:
    """Loaded when it is first used."""
    from .autodiff.objects import api

    return api


class ObjectPullback:
    """The function from a cotangent of a value to the cotangents of the arguments, of a call through the Python back end."""

    __slots__ = ("__weakref__", "_back", "_name")

    def __init__(self, name: str, back: Callable[[Any], tuple[Any, ...]]):
        self._name = name
        self._back = back

    def by(self, numbers: tuple[int, ...]) -> ObjectPullback:
        """That by some of the arguments alone, with None for the others."""
        return ObjectPullback(self._name, cast(Any, self._back).by(numbers))

    def __call__(self, cotangent: Any, /) -> tuple[Any, ...]:
        try:
            return self._back(cotangent)
        except BaseException as error:
            tracebacks.tidy(error)
            raise

    def __repr__(self) -> str:
        return f"<pullback of {self._name}, through Python>"


def _pullback(transform: Transform, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    value, back = python_pullback(function, args, keywords)
    return value, ObjectPullback(describe(function), back)


def _with_gradient(
    what: str, function: Any, args: tuple[Any, ...], keywords: dict[str, Any], numbers: tuple[int, ...] | None = None
) -> tuple[Any, Any]:
    value, back = python_pullback(function, args, keywords, numbers)
    return value, with_seed(what, function, value, back)


def with_seed(what: str, function: Any, value: Any, back: Callable[[Any], tuple[Any, ...]]) -> tuple[Any, ...]:
    """The gradient, of the pullback of a value that has to be a number."""
    return back(1.0) if type(value) is float else back(_seed(what, function, value))


def _seed(what: str, function: Any, value: Any) -> Any:
    cls = type(value)
    if value is None:
        raise Misuse(
            f"the value of {describe(function)} is None; its {what} takes a number",
            hint="return a number: a function without `return` has the value None",
        )
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "fiu":
        return np.ones_like(value, value.dtype if value.dtype.kind == "f" else float)
    if not isinstance(value, numbers.Real) or cls is bool or cls is np.bool_:
        raise Misuse(
            f"the {what} of a function whose value is not a real number",
            types=[f"{describe(function)} gives a {cls.__qualname__}"],
            hint="use zyg.pullback(f, *args), which takes a cotangent for the value, or zyg.jacobian(f, *args)",
        )
    # Fractions stay exact.
    return 1.0 if isinstance(value, (int, float, np.generic)) else cls(1)


def _gradient(transform: Transform, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    return _with_gradient("gradient", function, args, keywords)[1]


def _withgradient(transform: Transform, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    return _with_gradient("withgradient", function, args, keywords)


def _value_and_grad(transform: Transform, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    numbers = chosen(transform.kind, transform.argnums, function, len(args))
    if transform.has_aux:
        value, back = python_pullback(function, args, keywords, numbers)
        if type(value) is not tuple or len(value) != 2:
            raise TypeError(
                f"zyg.{transform.kind} with has_aux=True takes functions that give (value, aux), with a number as value"
            )
        gradients = back((_seed(transform.kind, function, value[0]), None))
    else:
        value, gradients = _with_gradient(transform.kind, function, args, keywords, numbers)
    return value, composed.picked(gradients, numbers, transform.argnums)


def _grad(transform: Transform, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    value, gradients = _value_and_grad(transform, function, args, keywords)
    return (gradients, value[1]) if transform.has_aux else gradients


def _derivative(transform: Transform, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    (x,) = args
    if not isinstance(x, numbers.Number):
        raise Misuse(
            f"derivative({describe(function)}) at something that is not a number",
            types=[type(x).__qualname__],
            hint=f"use zyg.gradient({describe(function)}, x)",
        )
    (found,) = _with_gradient("derivative", function, args, keywords)[1]
    return 0.0 if found is None else found


_KINDS: dict[str, Callable[[Transform, Any, tuple[Any, ...], dict[str, Any]], Any]] = {
    "gradient": _gradient,
    "withgradient": _withgradient,
    "pullback": _pullback,
    "grad": _grad,
    "value_and_grad": _value_and_grad,
    "derivative": _derivative,
    "jacobian": composed.jacobian,
    "jvp": composed.jvp,
    "pushforward": composed.pushforward,
    "hvp": composed.hvp,
    "hessian": composed.hessian,
    # zyg.params goes on when there is no native answer.
    "implicit_gradient": lambda transform, function, args, keywords: None,
    "implicit_pullback": lambda transform, function, args, keywords: None,
}


def implementation(transform: Transform) -> Callable[[Transform, Any, tuple[Any, ...], dict[str, Any]], Any]:
    """What does through Python what a transform stands for: called with the transform, the function, and its arguments."""
    if transform.kind not in _KINDS:
        raise Unsupported(f"zyg.{transform.kind} in code that is differentiated through Python")
    return _KINDS[transform.kind]


# These are made of other derivatives, which may be native, and warn if they are not.
COMPOSED = frozenset({"jacobian", "jvp", "pushforward", "hvp", "hessian"})

# ------------------------------------------------------------------- native code, called by the Python back end

_natives: dict[tuple[int, Any, bool], Any] = {}
_NATIVES = 1024


class Entangled(Unsupported):
    """Native code has other ways in or out than arguments and value, by which a derivative could go unseen. `inputs` are the global
    and captured arrays that are such ways, if there is nothing else."""

    inputs: tuple[Any, ...] = ()


_SHARED = ", which the Python code that calls it shares"


def check_apart(inferred: Any, blocks: bool = False) -> None:
    """Refuse code that object code cannot call: it reads objects or arrays that are globals, writes arrays, or gives
    something else than numbers and arrays of its own."""
    from .ir.types import flatten

    arrays = []
    for source in inferred.inputs:
        what = f"it reads the {'captured variable' if source.kind == 'cell' else 'global'} {source.name}"
        if _is_object(source.type):
            raise Entangled(f"{what}, an object{_SHARED}")
        if not all(isinstance(leaf, Scalar) for leaf in flatten(source.type)):
            arrays.append(source)
        elif source.kind == "cell":
            raise Entangled(what + _SHARED)
    if arrays:
        error = Entangled(f"it reads the array {arrays[0].name}{_SHARED}")
        error.inputs = tuple(arrays)
        raise error
    if any(_is_object(parameter) for parameter in inferred.parameters[1:]):
        raise Entangled(f"an argument is an object or a list{_SHARED}")
    value, *_ = children(inferred.result) or (inferred.result,)
    if isinstance(value, ListType):
        raise Entangled(f"its value is of type {value}{_SHARED}")
    check_reading(inferred, blocks)


def check_repeatable(inferred: Any, blocks: bool = False) -> None:
    """The same, and what may have to be run again in Python, for the sake of an error, after it has done what others see."""
    check_apart(inferred, blocks)
    done = effects(inferred)
    if done and may_be_repeated(inferred.module, inferred.entry):
        raise Entangled(f"{done}, and may end with an error for which it would be run again{_SHARED}")


def check_blocks(inferred: Any) -> None:
    """The same for Hessians and Jacobians, whose blocks are arrays of their own to who gets them."""
    check_repeatable(inferred, blocks=True)


def check_reading(inferred: Any, blocks: bool = False) -> None:
    """Refuse code that writes to arrays which it is given, or may give some of their memory, or of one array in several places: other
    ways in or out for a derivative. `blocks`: places are told apart."""
    from .autodiff.activity import summarise
    from .ir.types import Array, flatten

    if not any(isinstance(leaf, Array) for parameter in inferred.parameters for leaf in flatten(parameter)):
        return
    summary = summarise(inferred.module, inferred.entry)[inferred.entry]
    if summary.changed:
        raise Entangled(f"it writes to an array that it is given{_SHARED}")
    value, *_ = children(inferred.result) or (inferred.result,)
    count = len(inferred.module.functions[inferred.entry].params)  # their bits come first, then those of the results
    shared = [shares for shares, leaf in zip(summary.shares, flatten(value)) if isinstance(leaf, Array)]
    if any(shares & ((1 << count) - 1) for shares in shared):
        raise Entangled(f"it may return (part of) an array that it is given{_SHARED}")
    if any(shared) and not blocks:
        raise Entangled(f"two arrays that it returns may have memory in common{_SHARED}")


def _is_object(type: Any) -> bool:
    """Whether values of a type can be changed, or are objects that have an identity; arrays are looked at otherwise."""
    from .ir.types import Array, Closure, Complex, Const, Fortran, NoneType, NpScalar, RangeType, Sized, Tuple

    if isinstance(type, (Fortran, Sized)):
        return any(map(_is_object, children(type)))
    if isinstance(type, (Tuple, Closure)):
        return any(map(_is_object, type.items))
    return not isinstance(type, (Scalar, NpScalar, Complex, Array, Const, NoneType, RangeType))


def native_pullback(
    function: Any, args: Iterable[Any], accept: Callable[[Any], None] | None = check_apart, exact: bool = True
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]] | None:
    """(value, back) of a call that native code takes; None if it does not, and then nothing has run that others see. For jitted functions
    there is no None: they raise Unsupported.  `accept` refuses what it is not to take.  `exact`: the value is what CPython gives; not
    `exact`: what jitted code gives, or raises.

    >>> import math
    >>> value, back = native_pullback(math.sin, (0.5,))
    >>> back(1.0)
    (0.8775825618903728,)
    """
    from .callables import make_callable

    anchor = code_or_itself(function)
    native = _natives.get((id(anchor), accept, exact))
    if native is None:
        options = {} if accept is None else {"accept": accept}
        native = make_callable(Transform("pullback"), refused=_not_native, exact=exact, **options)
        native.__zyg_anchor__ = anchor  # alive as long as its identity is a key
        while len(_natives) >= _NATIVES:
            _natives.pop(next(iter(_natives)), None)
        _natives[id(anchor), accept, exact] = native
    return native(function, *args)


def departures(function: Any) -> int:
    """How many calls native code has ended with an error for which they went through Python."""
    from .callables import DISPATCHER

    native = _natives.get((id(code_or_itself(function)), check_repeatable, True))
    return 0 if native is None else getattr(native, DISPATCHER).departures


def arrays_read(
    function: Any, args: Iterable[Any], accept: Callable[[Any], None] | None = check_apart, exact: bool = True
) -> tuple[Any, ...]:
    """The global and captured arrays for which `native_pullback` has refused this call."""
    return getattr(why_not_native(function, args, accept, exact), "inputs", ())


def why_not_native(
    function: Any, args: Iterable[Any], accept: Callable[[Any], None] | None = check_apart, exact: bool = True
) -> Unsupported | None:
    """For what `native_pullback` has refused this call, if it has."""
    from .callables import DISPATCHER

    native = _natives.get((id(code_or_itself(function)), accept, exact))
    refusals = None if native is None else getattr(native, DISPATCHER).refusals
    refusal = None if refusals is None else refusals.find((function, *args), {})
    return None if refusal is None else refusal.error


def _not_native(transform: Transform, args: tuple[Any, ...], keywords: dict[str, Any], refusal: Refusal) -> None:
    return None


__all__ = [
    "LIMIT",
    "ObjectPullback",
    "Refusal",
    "Refusals",
    "fall_back",
    "native_pullback",
    "python_pullback",
    "why_not_native",
]
