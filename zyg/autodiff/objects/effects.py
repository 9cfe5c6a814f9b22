"""What Python functions do, as far as their own code tells: whether they only calculate, and whether they change something."""

from __future__ import annotations

import builtins
import dis
import math
from collections.abc import Callable, Container, Iterator
from functools import lru_cache
from inspect import getattr_static
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from zyg.errors import Unsupported
from zyg.frontend.capture import capture
from zyg.ir.core import Const, Function, Instr, Value

from ..identity import ByIdentity

_COMPARISONS = frozenset(f"__{name}__" for name in "lt le eq ne gt ge".split())
_SHOWING = frozenset({"__str__", "__repr__", "__format__"})
_TRUTH = frozenset({"__bool__", "__len__"})
_ITEMS = frozenset({"__iter__", "__next__", "__getitem__", "__len__", "__length_hint__"})
_NUMBER = frozenset({"__float__", "__int__", "__index__", "__trunc__"})
# The special methods that an operation asks its operands for.
_ASKING: dict[str, frozenset[str]] = {
    **dict.fromkeys("lt le eq ne gt ge".split(), _COMPARISONS),
    **dict.fromkeys(("not", "truth", "branch"), _TRUTH),
    **dict.fromkeys(("convert", "format", "string"), _SHOWING),
    **{
        name: frozenset({f"__{name}__", f"__r{name}__"})
        for name in "add sub mul truediv mod floordiv pow and or xor".split()
    },
    **{name: frozenset({f"__{name}__"}) for name in ("neg", "pos", "invert")},
    "contains": _COMPARISONS | _ITEMS | {"__contains__", "__hash__"},
    "getitem": _COMPARISONS | {"__getitem__", "__missing__", "__index__", "__hash__"},
    **dict.fromkeys(
        "global getattr tuple is is_not return jump free_cell get_cell unbound checked_local".split(), frozenset()
    ),
}
# The same of builtin functions.
_PURE: dict[Any, frozenset[str]] = {
    **dict.fromkeys((isinstance, issubclass, type, id), frozenset()),
    **dict.fromkeys((str, repr), _SHOWING),
    **dict.fromkeys((int, float), _NUMBER),
    bool: _TRUTH,
    hash: frozenset({"__hash__"}),
    len: frozenset({"__len__"}),
    abs: frozenset({"__abs__"}),
    round: frozenset({"__round__"}),
    tuple: _ITEMS,
}
_OF_MATH = _NUMBER | {"__ceil__", "__floor__"}
# What may give an object that it was given; all others give something else.
_PASSING_ON = frozenset({"tuple", "getitem", "checked_local"})
# What these give carries no derivative.
_CONSTANTS = frozenset("lt le eq ne gt ge is is_not not contains truth convert format string".split())
_GIVING_CONSTANTS = frozenset("hash len isinstance issubclass type id str repr int bool".split())
# Methods whose value C code takes to be text, or an int.
_TYPED = frozenset(
    f"__{name}__" for name in "str repr format hash len bool int index bytes sizeof length_hint contains".split()
)


class Asked(NamedTuple):
    """What a function does that only calculates, with what it is given: which special methods it asks for, the attributes that it reads,
    the methods that it calls; whether what it gives may be what it was given, and whether that carries no derivative."""

    special: frozenset[str]
    reads: frozenset[str]
    called: frozenset[str]
    gives_objects: bool
    gives_constants: bool


_verdicts = (
    ByIdentity()
)  # of code objects: (Asked, the builtins that are called, other global names, what is read of these), or False


def asked_by(f: FunctionType, plain: Container[type]) -> Asked | None:
    """What a function asks objects for that it is given; None if it changes something, as far as its own code tells, or calls anything
    but methods of what it is given, some builtins, and `math`. What it works with beside its arguments has to be `plain`, of these
    types, or a class.

    >>> asked_by(lambda self: hash(self.name), {int}).reads, asked_by(lambda self: self.names.append(1), {int})
    (frozenset({'name'}), None)
    """
    found = _verdicts.of(f.__code__)
    if found is None:
        found = _what_is_asked(f.__code__)
        _verdicts.note(f.__code__, found)
    if found is False:
        return None
    asked, builtin, others, read = found
    space = f.__globals__
    if any(name in space for name in builtin):
        return None
    held = [
        *(space[name] for name in others if name in space),
        *(f.__defaults__ or ()),
        *(f.__kwdefaults__ or {}).values(),
    ]
    for owner, name in read:
        x = space.get(owner)
        if x is math or x is None:
            continue
        held.append(getattr_static(x, name, None))
    try:
        held += [cell.cell_contents for cell in f.__closure__ or ()]
    except ValueError:
        return None
    return asked if all(type(x) in plain or isinstance(x, type) for x in held) else None


def _what_is_asked(code: CodeType) -> Any:
    if code.co_flags & 0x2A0:
        return False
    try:
        function = capture(code)
    except Unsupported:
        return False
    origins = _Origins(function)
    special: set[str] = set()
    reads: set[str] = set()
    called: set[str] = set()
    builtin: set[str] = set()
    others: set[str] = set()
    of_globals: set[tuple[str, str]] = set()
    given: list[Value] = []
    for block, instr in function.instructions():
        given_objects = any(map(origins.is_object, instr.operands))
        if instr.op == "call_object":
            callee = origins.makers.get(instr.operands[0])
            if callee is None:
                return False
            name = str(callee.attrs.get("name"))
            of = origins.makers.get(callee.operands[0]) if callee.op == "getattr" else None
            if callee.op == "global" and (asks := _PURE.get(getattr(builtins, name, None))) is not None:
                builtin.add(name)
            elif callee.op != "getattr":
                return False
            elif name in _COMPARISONS:  # of an object, or of its class
                asks = _COMPARISONS
            elif of is not None and of.op == "global" and of.attrs["name"] == "math" and hasattr(math, name):
                asks = _OF_MATH
            elif origins.is_object(callee.operands[0]):
                asks = frozenset()
                called.add(name)
            else:
                return False
            if given_objects or callee.op == "getattr":
                special |= asks
        elif block.handler is not None or (asks := _ASKING.get(instr.op)) is None:
            return False
        elif given_objects:
            special |= asks
        if instr.op == "return":
            given += instr.operands
        elif instr.op == "global" and instr.attrs["name"] not in ("math", *_NAMED):
            others.add(instr.attrs["name"])
        elif instr.op == "getattr":
            name = instr.attrs["name"]
            made = origins.makers.get(instr.operands[0])
            if made is not None and made.op == "global":
                of_globals.add((made.attrs["name"], name))
            elif name in _REFLECTED:
                return False
            elif name not in _COMPARISONS:
                reads.add(name)
    asked = Asked(
        frozenset(special),
        frozenset(reads),
        frozenset(called),
        any(map(origins.is_object, given)),
        code.co_name in _TYPED or all(map(origins.is_constant, given)),
    )
    return asked, frozenset(builtin), frozenset(others - builtin), frozenset(of_globals)


_NAMED = ("NotImplemented", "True", "False")
_REFLECTED = ("__dict__", "__weakref__")  # what these give may be anything


class _Origins:
    """Where the values of a function come from."""

    def __init__(self, function: Function) -> None:
        self.makers = {r: i for _, i in function.instructions() for r in i.results}
        self.passed: dict[Value, list[Value]] = {}  # to the parameters of blocks
        for _, instr in function.instructions():
            for target in instr.targets:
                for p, v in zip(target.block.params, target.args, strict=True):
                    self.passed.setdefault(p, []).append(v)

    def is_object(self, v: Value) -> bool:
        """Whether a value may be, or hold, what the function was given."""
        return any(made is None for made in self._made_by(v, self._passes_on))

    def is_constant(self, v: Value) -> bool:
        """Whether a value carries no derivative, wherever it comes from."""
        return all(made is not None and self._gives_constant(made) for made in self._made_by(v))

    def _made_by(self, v: Value, through: Callable[[Instr], bool] = lambda made: False) -> Iterator[Instr | None]:
        """What may have made a value that is no constant; None for what the function was given.  `through`: the instructions of which
        the operands are asked instead."""
        seen: set[Value] = set()
        work = [v]
        while work:
            v = work.pop()
            if isinstance(v, Const) or v in seen:
                continue
            seen.add(v)
            made = self.makers.get(v)
            if v in self.passed:
                work += self.passed[v]
            elif made is not None and through(made):
                work += made.operands
            else:
                yield made

    def _passes_on(self, made: Instr) -> bool:
        if made.op == "call_object":
            callee = self.makers.get(made.operands[0])
            return callee is not None and callee.op == "global" and callee.attrs["name"] == "tuple"
        return made.op in _PASSING_ON

    def _gives_constant(self, made: Instr) -> bool:
        if made.op == "global":
            return made.attrs["name"] in _NAMED
        if made.op != "call_object":
            return made.op in _CONSTANTS
        callee = self.makers.get(made.operands[0])
        if callee is not None and callee.op == "getattr":
            return callee.attrs["name"] in _COMPARISONS
        return callee is not None and callee.op == "global" and callee.attrs["name"] in _GIVING_CONSTANTS


_CHANGING = frozenset(
    "setitem delattr delitem set_cell del_cell set_global del_global yield yield_from set_add import_star".split()
)
_MUTATORS = frozenset(
    "add append appendleft clear discard extend extendleft insert pop popitem popleft put remove reverse send setdefault sort "
    "update write __setattr__ __delattr__ __setitem__ __delitem__ __iadd__ __imul__".split()
)
_CHANGING_BUILTINS = frozenset({"setattr", "delattr", "exec", "eval"})
_changing = ByIdentity()  # of code objects: what `_what_changes` found


def changes(f: FunctionType, cls: type | None = None) -> bool:
    """Whether a function changes something that may carry a derivative, as far as its code tells, and that of the functions that it
    calls by name, or as methods of `cls`.

    >>> changes(lambda self: self.seen.append(self)), changes(lambda self: hash(self.name()))
    (True, False)
    """
    seen: set[CodeType] = set()
    work = [f]
    while work:
        f = work.pop()
        if f.__code__ in seen:
            continue
        seen.add(f.__code__)
        found = _changing.of(f.__code__)
        if found is None:
            found = _what_changes(f.__code__)
            _changing.note(f.__code__, found)
        if found is True:
            return True
        methods, names = found
        called = [getattr_static(cls, name, None) for name in methods] if cls is not None else []
        found = [f.__globals__.get(name) for name in names]
        called += found + [vars(m).get(name) for m in found if type(m) is ModuleType for name in methods]
        work += [g for h in called for g in functions_in(h)]
    return False


def functions_in(held: Any) -> list[FunctionType]:
    """The functions in something that stands in a class."""
    if type(held) is FunctionType:
        return [held]
    if isinstance(held, (staticmethod, classmethod)):
        return functions_in(held.__func__)
    if type(held) is property:
        return [f for part in (held.fget, held.fset, held.fdel) for f in functions_in(part)]
    return []


def _what_changes(code: CodeType) -> Any:
    """True if the code itself changes something; else the attributes that it reads, and the global names that it calls."""
    try:
        function = capture(code)
    except Unsupported:
        return True
    if _changes_by_itself(function):
        return True
    read = frozenset(i.attrs["name"] for _, i in function.instructions() if i.op == "getattr")
    return read, frozenset(i.attrs["name"] for _, i in function.instructions() if i.op == "global")


def _changes_by_itself(function: Function) -> bool:
    origins = _Origins(function)
    for _, instr in function.instructions():
        if instr.op in _CHANGING:
            return True
        if instr.op == "setattr" and not origins.is_constant(instr.operands[1]):
            return True
        if instr.op in ("call_object", "call_spread"):
            callee = origins.makers.get(instr.operands[0])
            if callee is None:
                continue
            if callee.op == "getattr" and callee.attrs["name"] in _MUTATORS:
                return True
            if callee.op == "global" and callee.attrs["name"] in _CHANGING_BUILTINS:
                return True
    return False


_IN_PLACE = frozenset(
    f"i{name}" for name in "add sub mul truediv floordiv mod pow and or xor lshift rshift matmul".split()
)
Path = tuple[str, ...]  # a variable and attributes from there on; first "" for a global variable
_DEEPEST = 6
_changed_names = ByIdentity()  # of code objects: what `changed_names` found


class Changed(NamedTuple):
    """What code itself changes of what it has by a name: the variables that it has captured and binds anew; what it changes the
    items of; the attributes that it sets (those that these paths end with); and the calls that it makes, of what, with which arguments."""

    bound: frozenset[str]
    contents: frozenset[Path]
    attributes: frozenset[Path]
    calls: tuple[tuple[Path, tuple[Path | None, ...], dict[str, Path | None]], ...]


def changed_names(code: CodeType) -> Changed:
    """What a function changes by a name that it has for it, as its code tells.  (It may change more in other ways.)

    >>> changed_names((lambda self, d: self.seen.append(d * self.k)).__code__).contents
    frozenset({('self', 'seen')})
    """
    found = _changed_names.of(code)
    if found is None:
        try:
            found = _names_changed(code)
        except Unsupported:
            found = Changed(frozenset(), frozenset(), frozenset(), ())
        _changed_names.note(code, found)
    return found


def _names_changed(code: CodeType) -> Changed:
    function = capture(code)
    origins = _Origins(function)
    parameters = {p: p.name for p in function.params}
    bound: set[str] = set()
    contents: set[Path] = set()
    attributes: set[Path] = set()
    calls: list[tuple[Path, tuple[Path | None, ...], dict[str, Path | None]]] = []

    def paths(v: Any, seen: set[Any] | None = None) -> set[Path]:
        """The names by which a value may have been reached."""
        seen = set() if seen is None else seen
        if isinstance(v, Const) or v in seen:
            return set()
        seen.add(v)
        if v in parameters:
            return {(parameters[v],)}
        made = origins.makers.get(v)
        if made is None:
            return {p for passed in origins.passed.get(v, ()) for p in paths(passed, seen)}
        if made.op in ("get_cell", "free_cell"):
            return {(str(made.attrs.get("name")),)}
        if made.op == "global":
            return {("", made.attrs["name"])}
        if made.op == "checked_local":
            return paths(made.operands[0], seen)
        if made.op == "getattr":
            return {(*p, made.attrs["name"]) for p in paths(made.operands[0], seen) if len(p) < _DEEPEST}
        return set()

    def path(v: Any) -> Path | None:
        found = paths(v)
        return next(iter(found)) if len(found) == 1 else None

    for _, instr in function.instructions():
        if instr.op in ("set_cell", "del_cell"):
            bound |= {p[0] for p in paths(instr.operands[0]) if p[0] in code.co_freevars}
        elif instr.op in ("setitem", "delitem") or instr.op in _IN_PLACE:
            contents |= paths(instr.operands[0])
        elif instr.op in ("setattr", "delattr"):
            attributes |= {(*p, instr.attrs["name"]) for p in paths(instr.operands[0])}
        elif instr.op == "make_function":
            inner = changed_names(instr.attrs["code"])
            shared = frozenset(instr.attrs["code"].co_freevars)  # by the same names here
            known = frozenset({"", *shared})
            bound |= inner.bound.intersection(code.co_freevars)
            contents |= {p for p in inner.contents if p[0] in shared}
            attributes |= {p for p in inner.attributes if p[0] in shared}
            keep = lambda p, known=known: p if p is not None and p[0] in known else None
            calls += [
                (p, tuple(map(keep, given)), {n: keep(q) for n, q in named.items()})
                for p, given, named in inner.calls
                if p[0] in known
            ]
        elif instr.op in ("call_object", "call_spread"):
            callee = origins.makers.get(instr.operands[0])
            if callee is not None and callee.op == "getattr" and callee.attrs["name"] in _MUTATORS:
                contents |= paths(callee.operands[0])
            names = instr.attrs.get("keywords", ())
            given = [path(v) for v in instr.operands[1:]] if instr.op == "call_object" else []
            count = len(given) - len(names)
            calls += [(p, tuple(given[:count]), dict(zip(names, given[count:]))) for p in paths(instr.operands[0])]
    return Changed(frozenset(bound), frozenset(contents), frozenset(attributes), tuple(calls))


# What reaches other things than arguments.
_REACHING = frozenset("STORE_GLOBAL DELETE_GLOBAL STORE_ATTR DELETE_ATTR IMPORT_NAME LOAD_BUILD_CLASS".split())
_TO_CELLS = frozenset({"STORE_DEREF", "DELETE_DEREF"})
_REFLECTING = frozenset(
    "exec eval compile globals locals vars setattr delattr open input __import__ print next".split()
)
_KEPT = frozenset({int, bool, str, bytes, type(None)})
_CLOSED_MODULES = frozenset({"math", "itertools", "operator", "functools"})
# Of code objects: the names that may be global variables, False if it does more than to look at these.
_names = ByIdentity()


def depends_on_arguments(f: Any) -> bool:
    """Whether what a function gives depends on its arguments alone, and nothing else changes, as far as its code tells, and that of the
    functions that it calls by name: it names nothing but functions like it, builtins, modules of the library that calculate, and
    ints and text.

    >>> depends_on_arguments(lambda n: [k * k for k in range(n)]), depends_on_arguments(lambda n: _names.of(n))
    (True, False)
    """
    seen: set[int] = set()
    work = [f]
    while work:
        x = work.pop()
        g = x.__wrapped__ if type(x) is _CACHED else x
        t = type(g)
        if t in _KEPT or (t is ModuleType and g.__name__ in _CLOSED_MODULES) or id(g) in seen:
            continue
        seen.add(id(g))
        if t is not FunctionType or g.__kwdefaults__ or not _KEPT.issuperset(map(type, g.__defaults__ or ())):
            return False
        names = _names.of(g.__code__)
        if names is None:
            names = _names_used(g.__code__, frozenset(g.__code__.co_freevars))
            _names.note(g.__code__, names)
        if names is False:
            return False
        try:
            work += [cell.cell_contents for cell in g.__closure__ or ()]
        except ValueError:
            return False
        space = g.__globals__
        work += [space[name] for name in names if name in space]
    return True


_CACHED = type(lru_cache(lambda: None))


def _names_used(code: CodeType, captured: frozenset[str]) -> Any:
    """The global names that code looks at, and the code in it; False if it does more than to look at variables that it has not itself."""
    if code.co_flags & 0x280:  # asynchronous
        return False
    names: set[str] = set()
    for instr in dis.get_instructions(code):
        if instr.opname in _REACHING or (instr.opname in _TO_CELLS and instr.argval in captured):
            return False
        if instr.opname == "LOAD_GLOBAL":
            names.add(instr.argval)
    for inner in code.co_consts:
        if type(inner) is CodeType:
            more = _names_used(inner, captured)
            if more is False:
                return False
            names |= more
    return False if names & _REFLECTING else frozenset(names)


__all__ = ["Asked", "Changed", "asked_by", "changed_names", "changes", "depends_on_arguments", "functions_in"]
