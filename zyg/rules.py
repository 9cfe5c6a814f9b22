"""The registry of custom adjoints.

A rule is a Python function that takes the arguments of its target and returns the value and a function from the value's
cotangent to the cotangents of the positional arguments, one entry each:

    @zyg.adjoint(math.sin)
    def _(x):
        return math.sin(x), lambda dy: (dy * math.cos(x),)

Rules matter under differentiation only; a plain call never sees them.  Each registration advances an epoch that
compiled code watches, so a new rule is seen by functions that were compiled before it.
"""

from __future__ import annotations

import ctypes
import threading
import types
from collections.abc import Callable
from typing import Any, TypeVar

from .ir.records import record
from .transforms import describe, transform_of

F = TypeVar("F", bound=Callable[..., Any])


@record(frozen=True)
class Rule:
    """`function` is the rule for `target`, registered as number `epoch`.

    It keeps `target` alive, whose identity is the key in the registry.
    """

    target: Any
    function: Callable[..., Any]
    epoch: int

    def __repr__(self) -> str:
        return f"<zyg rule for {describe(self.target)}>"


_rules: dict[Any, Rule] = {}

# The code objects of closures that have a rule. Other closures of one code object are one type; these are told apart.
_closures: dict[types.CodeType, int] = {}
_lock = threading.Lock()

# A word of memory, not a Python int: native code compares it at each call.
_epoch = ctypes.c_uint64(0)
epoch_address: int = ctypes.addressof(_epoch)


def epoch() -> int:
    """How many registrations there have been."""
    return _epoch.value


class _Identity:
    """A key that stands for an object by identity, and keeps it alive so that the identity stays its own."""

    __slots__ = ("value",)

    def __init__(self, value: object):
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.value is other.value


def key_of(function: Any) -> Any:
    """What identifies a callable: itself, the Python function under a jitted or bound one.

    Functions that capture nothing go by their code object, as compiled code does: `def` makes a new function object
    each time it is executed.  Methods of builtin types are made anew at each access, so they go by type and name.
    """
    seen = 0
    while seen < 100:
        seen += 1
        transform = transform_of(function)
        if transform is not None and transform.kind == "jit":
            function = transform.function
        elif isinstance(function, types.MethodType):
            function = function.__func__
        else:
            break
    if isinstance(function, types.BuiltinMethodType):
        owner = function.__self__
        if owner is not None and not isinstance(owner, types.ModuleType):
            return (type(owner), function.__name__)
    if isinstance(function, types.FunctionType) and not function.__closure__:
        return _Identity(function.__code__)
    return _Identity(function)


def adjoint(target: Callable[..., Any]) -> Callable[[F], F]:
    """Decorator: the decorated function is the adjoint rule of `target`.

    The rule is called as `rule(*args, **kwargs)` with the arguments of `target` and returns `value, back`;
    `back(cotangent)` returns one entry per positional argument, None for those without derivative.

    >>> import zyg
    >>> def mul(a, b):
    ...     return a * b
    >>> @zyg.adjoint(mul)
    ... def mul_rule(a, b):
    ...     return a * b, lambda d: (d * b, d * a)
    >>> zyg.rules.rule_for(mul).function is mul_rule
    True
    """
    if not callable(target):
        raise TypeError(f"adjoint takes the function that the rule is for, not {target!r}; write @zyg.adjoint(f)")

    def register(rule: F) -> F:
        if not callable(rule):
            raise TypeError(f"the rule for {describe(target)} has to be a function, not {rule!r}")
        with _lock:
            number = _epoch.value + 1
            known = _rules.get(key_of(target))
            _rules[key_of(target)] = Rule(target, rule, number)
            if known is None:
                _count_closure(target, 1)
            _epoch.value = number
        return rule

    return register


def rule_for(function: Any) -> Rule | None:
    """The rule for a callable, or None."""
    return _rules.get(key_of(function))


def remove(target: Any) -> None:
    """Forget the rule for `target`; compiled code sees that too."""
    with _lock:
        if _rules.pop(key_of(target), None) is None:
            raise KeyError(f"there is no rule for {describe(target)}")
        _count_closure(target, -1)
        _epoch.value += 1


def _count_closure(target: Any, by: int) -> None:
    function = getattr(key_of(target), "value", None)
    if isinstance(function, types.FunctionType):
        count = _closures.get(function.__code__, 0) + by
        _closures.pop(function.__code__, None)
        if count:
            _closures[function.__code__] = count


def singled_out(code: types.CodeType) -> bool:
    """Whether closures of this code object have to be told apart, since one of them has a rule of its own."""
    return bool(_closures) and code in _closures
