"""The registry of custom rules.

An adjoint rule is a Python function that takes the arguments of its target and returns the value and a function from the
value's cotangent to the cotangents of the positional arguments, one entry each.  A tangent rule, its forward counterpart,
returns the value and a function from the tangents of the positional arguments to the tangent of the value:

    @zyg.adjoint(math.sin)
    def _(x):
        return math.sin(x), lambda dy: (dy * math.cos(x),)

    @zyg.tangent(math.sin)
    def _(x):
        return math.sin(x), lambda dx: dx * math.cos(x)

Rules matter under differentiation only; a plain call never sees them.  Each registration advances an epoch that
compiled code watches, so a new rule is seen by functions that were compiled before it.
"""

from __future__ import annotations

import ctypes
import functools
import threading
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from zyg.ir.plainly import get_plainly

from .ir.records import record
from .transforms import describe, transform_of

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
_NOTHING = object()


@record(frozen=True)
class Rule:
    """`function` is the rule for `target`, registered as number `epoch`.

    mutates: positions of the arguments that the target writes; returns: what it gives, if that was said.
    It keeps `target` alive, whose identity is the key in the registry.
    """

    target: Any
    function: Callable[..., Any]
    epoch: int
    mutates: tuple[int, ...] = ()
    returns: Any = _NOTHING
    kind: str = "adjoint"

    @property
    def says_what_it_returns(self) -> bool:
        return self.returns is not _NOTHING

    def takes(self, names: Iterable[str]) -> bool:
        """Whether the rule has parameters that are passed by these names."""
        return {*parameters_of(self.function)[0], *keyword_only(self.function)}.issuperset(names)

    def bind(
        self, args: Iterable[T], keywords: dict[str, T], constant: Callable[[Any], T]
    ) -> tuple[list[T], dict[str, T]]:
        """The arguments of a call: those that were passed by keyword for a positional parameter of the rule become
        positional, since only these have cotangents. `constant` turns a default of the rule into an argument."""
        positional, keywords = list(args), dict(keywords)
        names, defaults = parameters_of(self.function)
        last = max((n for n, name in enumerate(names) if name in keywords), default=-1)
        for n in range(len(positional), last + 1):
            if names[n] in keywords:
                positional.append(keywords.pop(names[n]))
            elif n >= len(names) - len(defaults):
                positional.append(constant(defaults[n - len(names)]))
            else:
                raise TypeError(f"{describe(self.target)}() missing 1 required positional argument: '{names[n]}'")
        return positional, keywords

    def __repr__(self) -> str:
        return f"<zyg rule for {describe(self.target)}>"


def parameters_of(function: Any) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """The names of a Python function's positional parameters ("" for those that cannot be passed by keyword), and the
    defaults of the last ones."""
    code = get_plainly(function, "__code__")
    if code is None:
        return (), ()
    names = code.co_varnames[: code.co_argcount]
    hidden = code.co_posonlyargcount
    return ("",) * hidden + names[hidden:], get_plainly(function, "__defaults__") or ()


def keyword_only(function: Any) -> tuple[str, ...]:
    """The names of a Python function's parameters that are passed by keyword only."""
    code = get_plainly(function, "__code__")
    return () if code is None else code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]


_rules: dict[Any, Rule] = {}
_tangents: dict[Any, Rule] = {}

# The classes of callable objects that have a rule of their own, and how many rules.
_classes: dict[type, int] = {}

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


def adjoint(
    target: Callable[..., Any], *, mutates: int | str | Iterable[int | str] = (), returns: Any = _NOTHING
) -> Callable[[F], F]:
    """Decorator: the decorated function is the adjoint rule of `target`: a function, method, class, ufunc, or any other
    callable.

    The rule is called as `rule(*args, **kwargs)` with the arguments of `target` and returns `value, back`;
    `back(cotangent)` returns one entry per positional argument, None for those without derivative. It may return more, for
    the keyword-only parameters of the rule, behind one for each of its other parameters; without these a derivative by a
    keyword-only argument is refused.

    mutates: the arguments that `target` writes in place, by position or by name. Then `back` gets, behind the cotangent of
        the value, the cotangent of what each of them holds after the call; the entry that it returns for such an argument is
        the cotangent of what that held before.
    returns: what `target` returns, for a function that zyg cannot see into (of a C extension, say) and that compiled code
        calls: a type (float, int, bool) or an example (`np.zeros(1)`, `(0.0, 0)`).

    >>> import zyg
    >>> def mul(a, b):
    ...     return a * b
    >>> @zyg.adjoint(mul)
    ... def mul_rule(a, b):
    ...     return a * b, lambda d: (d * b, d * a)
    >>> zyg.rules.rule_for(mul).function is mul_rule
    True
    """
    return _registration("adjoint", _rules, target, mutates, returns)


def tangent(target: Callable[..., Any], *, mutates: int | str | Iterable[int | str] = ()) -> Callable[[F], F]:
    """Decorator: the decorated function is the tangent rule of `target`, for forward mode.

    The rule is called as `rule(*args, **kwargs)` with the arguments of `target` and returns `value, push`;
    `push(*tangents)` takes a tangent per positional argument and returns the tangent of the value.

    mutates: the arguments that `target` writes in place. Then `push` returns a tuple: the tangent of the value, and that of
        what each of them holds after the call.

    >>> import math, zyg
    >>> def cube(x):
    ...     return x ** 3
    >>> @zyg.tangent(cube)
    ... def cube_rule(x):
    ...     return x ** 3, lambda dx: 3 * x ** 2 * dx
    >>> zyg.rules.tangent_rule_for(cube).function is cube_rule
    True
    """
    return _registration("tangent", _tangents, target, mutates, _NOTHING)


def _registration(kind: str, table: dict[Any, Rule], target: Any, mutates: Any, returns: Any) -> Callable[[F], F]:
    if not callable(target):
        raise TypeError(
            f"{kind} takes the function that the rule is for, not {target!r}; write @zyg.{kind}({_function_in(target)})"
        )

    def register(rule: F) -> F:
        if not callable(rule):
            raise TypeError(f"the rule for {describe(target)} has to be a function, not {rule!r}")
        positions = _positions(rule, target, mutates)
        if not str(getattr(rule, "__module__", "")).startswith("zyg."):
            _check_parameters(rule, target, positions)
        with _lock:
            number = _epoch.value + 1
            known = table.get(key_of(target))
            table[key_of(target)] = Rule(target, rule, number, positions, returns, kind)
            if known is None:
                _count(target, 1)
            _epoch.value = number
        return rule

    return register


def _function_in(target: Any) -> str:
    """How to write the function that a property, or the like, has in it."""
    for name in ("fget", "func"):  # of a property, of functools.cached_property
        if isinstance(function := getattr(target, name, None), types.FunctionType):
            *_, cls, attribute = ["", *function.__qualname__.split(".")]
            return f"{cls}.{attribute}.{name}"
    return "f"


def _check_parameters(rule: Any, target: Any, mutates: Sequence[int]) -> None:
    """Refuses a rule that cannot be called as its function is, or writes what is no argument, as far as their signatures tell."""
    import inspect  # (slow to load)

    try:
        own, called = (inspect.signature(get_plainly(f, "__func__", f)).parameters.values() for f in (rule, target))
    except (TypeError, ValueError):  # it has none
        return

    def missing(needing: Iterable[inspect.Parameter], offering: Iterable[inspect.Parameter]) -> list[str]:
        """The positional parameters without default of the one that the other has no place for."""
        needing, offering = list(needing), list(offering)
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in offering):
            return []
        wanted = [p for p in needing if p.kind in positional and p.default is p.empty]
        by_name = {p.name for p in offering if p.kind is p.KEYWORD_ONLY}
        places = sum(p.kind in positional for p in offering)
        return [p.name for p in wanted[places:] if p.name not in by_name]

    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    name = describe(target)
    names = [p.name for p in called if p.kind in positional]
    instead = f"a rule takes the arguments of its function: def rule({', '.join(names)}): ..."
    if unknown := missing(called, own):
        raise TypeError(f"the rule for {name} has no parameter for: {', '.join(map(repr, unknown))}; {instead}")
    if unknown := missing(own, called):
        raise TypeError(
            f"the rule for {name} has more parameters than {name}: {', '.join(map(repr, unknown))}; {instead}"
        )
    most = sum(p.kind in positional for p in own)
    if mutates and mutates[-1] >= most and not any(p.kind is p.VAR_POSITIONAL for p in own):
        raise ValueError(
            f"mutates names argument {mutates[-1]}, but the rule for {name} has {most}; they are counted from 0"
        )


def _positions(rule: Any, target: Any, mutates: Any) -> tuple[int, ...]:
    """Which arguments are written, as positions."""
    listed = (mutates,) if isinstance(mutates, (int, str)) else tuple(mutates)
    names, _ = parameters_of(rule)
    result = []
    for item in listed:
        if isinstance(item, str):
            if item not in names:
                raise ValueError(f"mutates names {item!r}, but the rule for {describe(target)} has no such parameter")
            item = names.index(item)
        if not isinstance(item, int) or isinstance(item, bool) or item < 0:
            raise TypeError(f"mutates takes positions (0, 1, ...) or names of arguments, not {item!r}")
        result.append(item)
    return tuple(sorted(set(result)))


def rule_for(function: Any) -> Rule | None:
    """The adjoint rule for a callable, or None."""
    return _find(_rules, function)


def tangent_rule_for(function: Any) -> Rule | None:
    """The tangent rule for a callable, or None."""
    return _find(_tangents, function)


def rules_for(function: Any) -> tuple[Rule | None, Rule | None]:
    """Both of them, in one look."""
    key = key_of(function)
    if key not in _rules or key not in _tangents:
        _registry().bring(function)
    return _rules.get(key), _tangents.get(key)


def has_rule(function: Any) -> bool:
    """Whether somebody has given a rule, of either kind, to a callable object that no library has."""
    key = _Identity(function)
    return _rules.get(key) is not None or _tangents.get(key) is not None


def users_rules() -> bool:
    """Whether there are rules besides those of zyg itself."""
    return any(map(is_users, list(_rules.values())))


def users_tangent_rules() -> bool:
    """Whether there are rules for forward mode besides those of zyg itself."""
    return any(map(is_users, list(_tangents.values())))


def has_users_rule(kind: str, function: Any) -> bool:
    """Whether a callable has a rule ("rule" or "tangent rule") that is not zyg's own."""
    rule = (_rules if kind == "rule" else _tangents).get(key_of(function))
    return rule is not None and is_users(rule)


def is_users(rule: Rule) -> bool:
    return not str(get_plainly(rule.function, "__module__", "")).startswith("zyg.")


def _find(table: dict[Any, Rule], function: Any) -> Rule | None:
    """Rules of zyg's own library stand beside the entries of their functions, which are imported by need."""
    key = key_of(function)
    rule = table.get(key)
    if rule is None:
        _registry().bring(function)
        rule = table.get(key)
    return rule


@functools.cache
def _registry() -> Any:
    from .library import registry

    return registry


def remove(target: Any, kind: str = "adjoint") -> None:
    """Forget the rule for `target`, of `@zyg.adjoint` or (`kind`) of `@zyg.tangent`; compiled code sees that too."""
    tables = {"adjoint": _rules, "tangent": _tangents}
    if kind not in tables:
        raise ValueError(f'the kind of a rule is "adjoint" or "tangent", not {kind!r}')
    with _lock:
        if tables[kind].pop(key_of(target), None) is None:
            name = describe(target)
            other = "tangent" if kind == "adjoint" else "adjoint"
            there = (
                f'; its {other} rule goes by zyg.rules.remove({name}, "{other}")'
                if key_of(target) in tables[other]
                else ""
            )
            raise KeyError(f"there is no {kind} rule for {name}{there}")
        _count(target, -1)
        _epoch.value += 1


def _count(target: Any, by: int) -> None:
    """Keep account of what has to be told apart by identity."""
    found = getattr(key_of(target), "value", None)
    if isinstance(found, types.FunctionType):
        _add(_closures, found.__code__, by)
    elif found is not None and type(found).__flags__ & 1 << 9:  # Py_TPFLAGS_HEAPTYPE: of a class statement
        _add(_classes, type(found), by)


def _add(counts: dict[Any, int], key: Any, by: int) -> None:
    count = counts.get(key, 0) + by
    counts.pop(key, None)
    if count:
        counts[key] = count


def has_ruled_instances(cls: type) -> bool:
    """Whether an instance of a class has a rule of its own."""
    return cls in _classes


def singled_out(code: types.CodeType) -> bool:
    """Whether closures of this code object have to be told apart, since one of them has a rule of its own."""
    return any(code is known for known in _closures)  # by identity: not all code objects can be hashed
