"""What a callable made by zyg stands for.

Every callable that zyg hands out (`jit(f)`, `grad(f)`, `derivative(f)`, ...) is of one native type; what it means is
this record.  The compiler expands a call of such an object by its record, so transforms nest to any order.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any

from zyg.ir.plainly import get_plainly

from .ir.options import Options
from .ir.records import record

# The kinds whose first argument is the function, and those that carry it.
DIRECT_KINDS = (
    "gradient", "withgradient", "pullback", "jacobian", "jvp", "pushforward", "hvp", "hessian",
    "implicit_gradient", "implicit_pullback",
)  # fmt: skip
KINDS = ("jit", "grad", "value_and_grad", "derivative", *DIRECT_KINDS)
# Those that take `argnums`, with what stands for that where it is not said.
Argnums = int | tuple[int, ...] | None
ARGNUMS: dict[str, Argnums] = {"grad": 0, "value_and_grad": 0, "hvp": 0, "hessian": 0, "jacobian": None}


@record(frozen=True, eq=False)
class Transform:
    """kind: what is done; function: to what (None for DIRECT_KINDS, which take it as their first argument);
    argnums: by which arguments, None for all of them (ARGNUMS); options: None means those of the caller; has_aux: the
    function gives more than what is differentiated; asked: what the user has asked for, where that is not `kind`."""

    kind: str
    function: Callable[..., Any] | None = None
    argnums: Argnums = 0
    options: Options | None = None
    has_aux: bool = False
    asked: str = ""

    @property
    def name(self) -> str:
        return describe(self)


def checked_argnums(argnums: Any) -> Argnums:
    """What a user says for `argnums`, as ints: ValueError and TypeError if it cannot be meant. Negative ones count from the end of the
    arguments of a call.

    >>> checked_argnums([0, -1])
    (0, -1)
    """
    if isinstance(argnums, (list, tuple)):
        argnums = tuple(argnums)
        if not argnums:
            raise ValueError("argnums is empty: name at least one argument")
    numbers = []
    for number in argnums if isinstance(argnums, tuple) else (argnums,):
        if not isinstance(number, Integral) or isinstance(number, bool):
            raise TypeError(
                f"argnums is an int or a tuple of ints, the positions of arguments (0 is the first), not {argnums!r}"
            )
        numbers.append(int(number))
    if len(set(numbers)) != len(numbers):
        raise ValueError(f"argnums names an argument twice: {argnums!r}")
    return tuple(numbers) if isinstance(argnums, tuple) else numbers[0]


def by_name_alone(kind: str, name: str, keywords: Iterable[str]) -> str:
    """What is wrong with a call that has no arguments but those given by name."""
    behind = f"give what it is by behind the function, as in zyg.{kind}(f, 2.0)"
    return f"{kind} of {name} by no argument: those given by name ({', '.join(keywords)}) are constants; {behind}"


def chosen(kind: str, argnums: Argnums, of: Any, count: int) -> tuple[int, ...]:
    """The arguments that `argnums` names, of so many that a function (or the one of a name) was given: TypeError if there are not
    so many."""
    said = tuple(range(count)) if argnums is None else argnums if isinstance(argnums, tuple) else (argnums,)
    numbers = tuple([n if n >= 0 else n + count for n in said])
    for n, number in zip(said, numbers):
        if not 0 <= number < count:
            given = f"{count} positional argument{'s were' if count != 1 else ' was'} given"
            given += " (those given by name are constants): pass it by position"
            behind = "; the direction stands behind the arguments: zyg.hvp(f, x, y, v)" if kind == "hvp" else ""
            raise TypeError(f"{kind} of {_name(of)} by argument {n}, but {given}{behind}")
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"argnums names an argument of {_name(of)} twice: {argnums!r}")
    return numbers


def _name(of: Any) -> str:
    return of if isinstance(of, str) else describe(of)


def as_said(numbers: tuple[int, ...], argnums: Argnums) -> Argnums:
    """The arguments that `argnums` names, in the form that it has.

    >>> as_said((2,), -1), as_said((0, 2), (0, -1)), as_said((0, 1), None)
    (2, (0, 2), None)
    """
    return None if argnums is None else numbers if isinstance(argnums, tuple) else numbers[0]


def argument_places(numbers: tuple[int, ...], count: int) -> tuple[tuple[None, ...] | None, ...]:
    """For each of so many arguments its place among those of these numbers, and None for the others. A place is a tuple of that length:
    where compiled code is differentiated, integers are no constants.

    >>> argument_places((2, 0), 3)
    ((None,), None, ())
    """
    return tuple([(None,) * numbers.index(n) if n in numbers else None for n in range(count)])


ATTRIBUTE = "__zyg_transform__"


def transform_of(value: Any) -> Transform | None:
    """The record of a callable made by zyg, or of one of zyg's own public functions; None for anything else, a bound method of one
    too."""
    if type(value) is types.MethodType:  # which has the attributes of its function
        return None
    try:
        transform = get_plainly(value, ATTRIBUTE)
    except Exception:
        return None
    return transform if isinstance(transform, Transform) else None


def describe(value: Any) -> str:
    """A short name for a callable, transforms spelt out.

    >>> import math
    >>> describe(Transform("derivative", math.sin))
    'derivative(sin)'
    """
    transform = value if isinstance(value, Transform) else transform_of(value)
    if transform is None:
        return get_plainly(value, "__qualname__") or get_plainly(value, "__name__") or repr(value)
    if transform.function is None:
        return transform.kind
    inner = describe(transform.function)
    if transform.kind in ("grad", "value_and_grad"):
        said = f", argnums={transform.argnums}" * (transform.argnums != 0) + ", has_aux=True" * transform.has_aux
        return f"{transform.kind}({inner}{said})"
    return inner if transform.kind == "jit" else f"{transform.kind}({inner})"


def effective_options(transform: Transform) -> Options:
    """A transform's own options, or those of the function under it, or the defaults."""
    while transform.options is None:
        inner = transform_of(get_plainly(transform.function, "__func__", transform.function))
        if inner is None:
            return Options()
        transform = inner
    return transform.options


def python_function(value: Any) -> Any:
    """What is under all transforms."""
    for _ in range(1000):
        transform = transform_of(value)
        if transform is None or transform.function is None:
            return value
        value = transform.function
    return value


def argument_name(transform: Transform, at: int, args: tuple[Any, ...]) -> str:
    """The name of positional argument number `at` of a call of a transform, as far as it has one."""
    function = transform.function
    if transform.kind in DIRECT_KINDS:
        if at == 0:
            return "function"
        function, at = args[0], at - 1
    function = python_function(function)
    if isinstance(function, types.MethodType):
        function, at = function.__func__, at + 1
    code = get_plainly(function, "__code__")
    if not isinstance(code, types.CodeType):
        return str(at)
    if at < code.co_argcount:
        return code.co_varnames[at]
    if code.co_flags & 0x04:
        return f"{code.co_varnames[code.co_argcount + code.co_kwonlyargcount]}[{at - code.co_argcount}]"
    return str(at)


def required_arguments(function: Any) -> int:
    """How many positional arguments a function has to be given, as far as its signature tells."""
    plain = python_function(function)
    code = get_plainly(plain, "__code__")
    if not isinstance(code, types.CodeType):
        return 0
    return code.co_argcount - len(plain.__defaults__ or ()) - isinstance(plain, types.MethodType)


def check_one_variable(function: Any, given: int | None = None) -> None:
    """`derivative` takes functions of one variable: TypeError otherwise, at once where the signature tells."""
    count = max(required_arguments(function), 1) if given is None else given
    if count != 1:
        takes = "is called with" if given is not None else "has"
        raise TypeError(
            f"derivative takes functions of one variable, but {describe(function)} {takes} {count}; "
            "use zyg.gradient(f, *args), or zyg.grad(f, argnums=...)"
        )
