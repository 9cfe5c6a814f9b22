"""On which parts of its parameters a result depends whatever path is taken: those get 0.0 where the path that was taken gives nothing.

Only what is certain counts: numbers that flow through arithmetic, joins, functions of `math`, and lists, tuples and attributes that nothing
changes.  What goes by way of other calls is told by what happened when it ran.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

from zyg.frontend.capture import capture
from zyg.ir.core import Const, Function, Instr, Value

from ..identity import ByIdentity
from .activity import ARITHMETIC

# Where a part of a value is: the items and attributes that lead there, one behind the other.
Path = tuple[Any, ...]
ANY = "any item"


class Item(NamedTuple):
    key: Any


class Attribute(NamedTuple):
    name: str


class Flowing(NamedTuple):
    parts: dict[int, frozenset[Path]]  # of the parameters by their numbers; () is all of one
    builtins: frozenset[str]  # what is said holds if these names are those of Python

    def of(self, k: int) -> frozenset[Path]:
        return self.parts.get(k, _NO_PARTS)


_NO_PARTS: frozenset[Path] = frozenset()
_cache = ByIdentity()  # of code objects
_CUTTING = frozenset("ceil floor trunc isfinite isinf isnan isclose comb perm gcd lcm factorial isqrt".split())
_READING = frozenset("get items keys values index count copy".split())  # methods that change nothing
_PURE = frozenset(
    "abs bool dict enumerate float int isinstance len list max min print range reversed round sorted str sum tuple zip".split()
)
_DEEP = 4  # items of items of ... are no further followed


def flowing(code: CodeType) -> Flowing:
    """The parts of the parameters that flow into the result.

    >>> flowing((lambda x, y, z: x if z > 0 else 2.0 * y).__code__).parts
    {0: frozenset({()}), 1: frozenset({()})}
    >>> flowing((lambda xs, i: [xs[0], 1.0][i]).__code__).parts
    {0: frozenset({(Item(key=0),)})}
    """
    found = _cache.of(code)
    if found is None:
        found = _flowing(capture(code))
        _cache.note(code, found)
    return found


def _flowing(function: Function) -> Flowing:
    analysis = _Analysis(function)
    wanted: dict[Value, set[Path]] = {}
    todo: list[tuple[Value, Path]] = []

    def want(value: Any, path: Path) -> None:
        if isinstance(value, Value) and len(path) <= _DEEP and path not in wanted.setdefault(value, set()):
            wanted[value].add(path)
            todo.append((value, path))

    for _, instr in function.instructions():
        if instr.op == "return":
            want(instr.operands[0], ())
    while todo:
        for value, path in analysis.sources(*todo.pop()):
            want(value, path)
    parts = {k: frozenset(wanted[p]) for k, p in enumerate(function.params) if wanted.get(p)}
    return Flowing(parts, frozenset(analysis.builtins))


class _Analysis:
    def __init__(self, function: Function):
        self.makers = {r: i for _, i in function.instructions() for r in i.results}
        self.joined: dict[Value, list[Value]] = {}  # of parameters of blocks: what comes there
        self.builtins: set[str] = set()
        for block in function.blocks:
            for target in block.successors():
                self._join(target.block.params, target.args)
            if block.handler is not None:
                self._join(block.handler.block.params[1:], block.handler.args)
        self._together: dict[Value, Value] = {}
        self.changed = self._changed(function)
        self.asks_for_types = any(map(self._asks_for_types, self.makers.values()))

    def _join(self, params: Any, args: Any) -> None:
        for p, a in zip(params, args, strict=True):
            self.joined.setdefault(p, []).append(a)

    def _asks_for_types(self, instr: Instr) -> bool:
        """Whether something may be tested that is known before the numbers are: native code has one branch of such a test."""
        if instr.op in ("is", "is_not"):
            return True
        return instr.op == "call_object" and self._builtin(instr) in (
            "len",
            "isinstance",
            "issubclass",
            "type",
            "hasattr",
            "callable",
        )

    # ------------------------------------------------------------------------------------------------ what is changed

    def _root(self, value: Value) -> Value:
        while value in self._together:
            value = self._together[value]
        return value

    def _unite(self, value: Any, others: Any) -> None:
        for other in others:
            if isinstance(value, Value) and isinstance(other, Value):
                a, b = self._root(value), self._root(other)
                if a is not b:
                    self._together[a] = b

    def _changed(self, function: Function) -> set[Value]:
        """One of each group of values that hold each other, or may be the same, of which one is changed or goes where it may be."""
        suspicious: list[Value] = []
        for p, args in self.joined.items():
            self._unite(p, args)
        for _, i in function.instructions():
            if i.op in ("getitem", "getattr", "iter", "checked_local"):
                self._unite(i.operands[0], i.results[:1])
            elif i.op in ("list", "tuple", "set", "next", "unpack"):
                for r in i.results:
                    self._unite(r, i.operands)
            elif i.op == "call_object":
                if self._is_pure(i):
                    self._unite(i.results[0], i.operands[1:])
                else:
                    suspicious += [v for v in i.operands if isinstance(v, Value)]
            elif i.op in ARITHMETIC:
                if i.op.startswith("i"):  # in place, if it is a list
                    suspicious += [v for v in i.operands[:1] if isinstance(v, Value) and self._may_be_a_list(i)]
            elif i.op not in _HARMLESS:
                suspicious += [v for v in i.operands if isinstance(v, Value)]
        return {self._root(v) for v in suspicious}

    def _may_be_a_list(self, instr: Instr) -> bool:
        return any((m := self.makers.get(v)) is not None and m.op == "list" for v in instr.operands)

    def _is_pure(self, call: Instr) -> bool:
        name = self._builtin(call)
        if name is not None:
            return name in _PURE
        method = self._method(call)
        return method is not None and (method[1] in _READING or self._is_of_math(method[0]))

    def _builtin(self, call: Instr) -> str | None:
        callee = self.makers.get(call.operands[0]) if isinstance(call.operands[0], Value) else None
        return callee.attrs["name"] if callee is not None and callee.op == "global" else None

    def _method(self, call: Instr) -> tuple[Any, str] | None:
        callee = self.makers.get(call.operands[0]) if isinstance(call.operands[0], Value) else None
        return (callee.operands[0], callee.attrs["name"]) if callee is not None and callee.op == "getattr" else None

    def _is_of_math(self, owner: Any) -> bool:
        module = self.makers.get(owner)
        return module is not None and module.op == "global" and module.attrs["name"] == "math"

    # --------------------------------------------------------------------------------------------- where it comes from

    def sources(self, value: Value, path: Path) -> Iterator[tuple[Any, Path]]:
        """What a part of a value comes from."""
        for v in self.joined.get(value, ()):
            yield v, path
        instr = self.makers.get(value)
        if instr is None:
            return
        op, operands = instr.op, instr.operands
        if op == "checked_local":
            yield operands[0], path
        elif op in ARITHMETIC and "floordiv" not in op:
            if not path or path[0] is ANY:  # (of lists, one behind the other)
                for v in operands:
                    yield v, path
        elif op == "call_object" and (not self.asks_for_types or self._method(instr) is not None):
            yield from self._of_call(instr, path)
        elif self.asks_for_types or path and self._root(value) in self.changed:
            return
        elif op == "getitem" and self._root(operands[0]) not in self.changed:
            yield from self._of_item(operands[0], operands[1], path)
        elif op == "getattr" and self._root(operands[0]) not in self.changed:
            yield operands[0], (Attribute(instr.attrs["name"]), *path)
        elif op in ("list", "tuple") and path:
            at = path[0].key if isinstance(path[0], Item) else None
            for k, v in enumerate(operands):
                if path[0] is ANY or at in (k, k - len(operands)):
                    yield v, path[1:]
        elif op == "unpack" and set(instr.attrs) == {"count"}:
            yield operands[0], (Item(instr.results.index(value)), *path)
        elif op == "iter":
            yield operands[0], path
        elif op == "next" and value is instr.results[-1]:
            yield operands[0], (ANY, *path)

    def _of_item(self, container: Value, key: Any, path: Path) -> Iterator[tuple[Any, Path]]:
        if isinstance(key, Const):
            if type(key.value) in (int, str):
                yield container, (Item(key.value), *path)
            return
        maker = self.makers.get(key)
        if maker is None or maker.op != "make_slice":
            yield container, (ANY, *path)
        elif not path or path[0] is ANY:
            yield container, path

    def _of_call(self, call: Instr, path: Path) -> Iterator[tuple[Any, Path]]:
        named = len(call.attrs["keywords"])
        given = call.operands[1 : len(call.operands) - named]
        method = self._method(call)
        if method is not None:
            if not path and not named and method[1] not in _CUTTING and self._is_of_math(method[0]):
                for v in given:
                    yield v, ()
            return
        name = self._builtin(call)
        if name is None or name not in _PURE or not given:
            return
        self.builtins.add(name)
        first = path[0] if path else None
        if name in ("max", "min"):
            for v in given:
                yield (v, path) if len(given) > 1 else (v, (ANY, *path))
        elif name == "sum" and not path:
            yield given[0], (ANY,)
            for v in given[1:]:
                yield v, ()
        elif name in ("abs", "float") and not path:
            yield given[0], ()
        elif name in ("sorted", "reversed") and path:
            yield given[0], (ANY, *path[1:])
        elif name in ("list", "tuple") and path:
            yield given[0], path
        elif name in ("enumerate", "zip") and first is ANY and len(path) > 1 and isinstance(path[1], Item):
            at = path[1].key
            if name == "zip" and at < len(given):
                yield given[at], (ANY, *path[2:])
            elif name == "enumerate" and at == 1:
                yield given[0], (ANY, *path[2:])


# What neither changes its operands nor keeps them.
_HARMLESS = frozenset(
    "jump branch switch return raise reraise unreachable forget truth not is is_not contains make_slice global lt le eq ne gt ge".split()
)
