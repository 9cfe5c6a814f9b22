"""What Python functions do, as far as their own code tells: whether they only calculate, and whether they change something."""

from __future__ import annotations

import builtins
import dis
from functools import lru_cache
from inspect import getattr_static
from types import CodeType, FunctionType, ModuleType
from typing import Any

from zyg.errors import Unsupported
from zyg.frontend.capture import capture
from zyg.ir.core import Const, Function, Instr, Value

from ..identity import ByIdentity

_SAFE = frozenset(
    "global getattr tuple lt le eq ne gt ge is is_not not truth contains return jump branch getitem add sub mul truediv mod "
    "neg pos floordiv pow convert format string free_cell get_cell unbound checked_local and or xor invert".split()
)
_PURE = frozenset({hash, len, isinstance, issubclass, type, id, abs, str, repr, int, float, bool, tuple, round})
# What these give carries no derivative.
_CONSTANTS = frozenset("lt le eq ne gt ge is is_not not contains truth convert format string".split())
_GIVING_CONSTANTS = frozenset("hash len isinstance issubclass type id str repr int bool".split())
# Methods whose value C code takes to be text, or an int.
_TYPED = frozenset(
    f"__{name}__" for name in "str repr format hash len bool int index bytes sizeof length_hint contains".split()
)
_verdicts = ByIdentity()  # of code objects: whether their functions do nothing but calculate, with which builtins


def only_calculates(f: FunctionType) -> bool:
    """Whether a function changes nothing, as far as its own code tells, calls nothing but some builtins, and gives nothing that
    carries a derivative.

    >>> only_calculates(lambda self: hash(self.name)), only_calculates(lambda self: self.names.append(1))
    (True, False)
    """
    found = _verdicts.of(f.__code__)
    if found is None:
        found = _builtins_called(f.__code__)
        _verdicts.note(f.__code__, found)
    return found is not False and not any(name in f.__globals__ for name in found)


def _builtins_called(code: CodeType) -> Any:
    """The names of the builtins that are called; False if more happens."""
    if code.co_flags & 0x2A0:
        return False
    try:
        function = capture(code)
    except Unsupported:
        return False
    makers = {r: i for _, i in function.instructions() for r in i.results}
    passed: dict[Value, list[Value]] = {}
    names: set[str] = set()
    given: list[Value] = []
    for block, instr in function.instructions():
        if instr.op == "call_object":
            callee = makers.get(instr.operands[0])
            if callee is None or callee.op != "global" or getattr(builtins, callee.attrs["name"], None) not in _PURE:
                return False
            names.add(callee.attrs["name"])
        elif instr.op not in _SAFE or block.handler is not None:
            return False
        elif instr.op == "return":
            given += instr.operands
        for target in instr.targets:
            for p, v in zip(target.block.params, target.args, strict=True):
                passed.setdefault(p, []).append(v)
    if code.co_name not in _TYPED and not all(_is_constant(v, makers, passed, set()) for v in given):
        return False
    return frozenset(names)


def _is_constant(v: Value, makers: dict[Value, Instr], passed: dict[Value, list[Value]], seen: set[Value]) -> bool:
    """Whether a value carries no derivative, wherever it comes from."""
    if isinstance(v, Const) or v in seen:
        return True
    seen.add(v)
    if v in passed:
        return all(_is_constant(x, makers, passed, seen) for x in passed[v])
    made = makers.get(v)
    if made is None or made.op == "global":
        return made is not None and made.attrs["name"] in ("NotImplemented", "True", "False")
    if made.op != "call_object":
        return made.op in _CONSTANTS
    callee = makers.get(made.operands[0])
    return callee is not None and callee.op == "global" and callee.attrs["name"] in _GIVING_CONSTANTS


_CHANGING = frozenset(
    "setitem delattr delitem set_cell del_cell set_global del_global yield yield_from set_add import_star".split()
)
_MUTATORS = frozenset(
    "add append appendleft clear discard extend extendleft insert pop popitem popleft put remove reverse send setdefault sort "
    "update write __setattr__ __delattr__ __setitem__ __delitem__".split()
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
    makers = {r: i for _, i in function.instructions() for r in i.results}
    for _, instr in function.instructions():
        if instr.op in _CHANGING:
            return True
        if instr.op == "setattr" and not _is_constant(instr.operands[1], makers, {}, set()):
            return True
        if instr.op in ("call_object", "call_spread"):
            callee = makers.get(instr.operands[0])
            if callee is None:
                continue
            if callee.op == "getattr" and callee.attrs["name"] in _MUTATORS:
                return True
            if callee.op == "global" and callee.attrs["name"] in _CHANGING_BUILTINS:
                return True
    return False


# What reaches other things than arguments.
_REACHING = frozenset("STORE_GLOBAL DELETE_GLOBAL STORE_ATTR DELETE_ATTR IMPORT_NAME LOAD_BUILD_CLASS".split())
_TO_CELLS = frozenset({"STORE_DEREF", "DELETE_DEREF"})
_REFLECTING = frozenset(
    "exec eval compile globals locals vars setattr delattr open input __import__ print next".split()
)
_KEPT = frozenset({int, bool, str, bytes, type(None)})
_CLOSED_MODULES = frozenset({"math", "itertools", "operator", "functools"})
_names = (
    ByIdentity()
)  # of code objects: the names that may be global variables, False if it does more than to look at these


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


__all__ = ["changes", "depends_on_arguments", "functions_in", "only_calculates"]
