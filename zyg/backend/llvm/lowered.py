"""What lowering gives: an LLVM module, how to call its functions, and what their failures mean."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

from ...ir.core import Position
from ...ir.readymade import Readymade
from ...ir.records import field, record, replace
from ...ir.types import F64, Type
from .text import Emitter, ModuleText, component_types, value_types

# Flags of a module: functions carry several tangents side by side; there are many loops over elements of whole arrays.
LANES = "zyg.lanes"
WHOLE_ARRAYS = "zyg.arrays"


class LoweringError(Exception):
    """The input is not typed SSA as the back end expects it: a bug in an earlier stage."""


@record(frozen=True)
class ErrorSite:
    """What a failing check raises: the exception (a class or the name of a builtin one), the message with {} for each
    of `types`, whose values are in the context, and the place in the user's source."""

    exception: Any
    message: str
    position: Position | None = None
    types: tuple[Type, ...] = ()


@record
class Lowered:
    """A module as LLVM text. `errors[0]` is unused; `objects` are Python objects that the code refers to by index.

    `settled`: symbols of functions in which LLVM's optimiser would find little; `inlined`: of those that are called once;
    `straight`: of those that are no loops over elements; `light`: of the others, those that are soon over whatever it does.
    `masks`: the processor can leave out lanes of vectors.
    `plain_loops`: those of functions that have one loop, or None, by their names (lowering/each.py).
    `recipes`: how those of the objects are made that exist for this code alone, by index: what they are, and of which type.
    `shares`: operations on all elements of arrays are calls of functions that do one for arrays of some types (`shared`).
    `kept`: the text of modules of one function each, and of those it calls, the same in all programs that call it, by its symbol;
    `readymade`: those of an earlier process; `offers`: those that can be such for others, by the name of the function.
    """

    module: ModuleText
    errors: list[ErrorSite]
    objects: list[object]
    signatures: dict[str, FunctionABI] = field(default_factory=dict)
    calls_python: bool = False
    statuses: dict[ErrorSite, int] = field(default_factory=dict)
    pairs: dict[tuple[ErrorSite, ErrorSite], int] = field(default_factory=dict)
    indices: dict[int, int] = field(default_factory=dict)  # by the identity of an object
    recipes: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)
    inlined: set[str] = field(default_factory=set)
    straight: set[str] = field(default_factory=set)
    light: set[str] = field(default_factory=set)
    shares: bool = False
    shared: dict[Hashable, FunctionABI] = field(default_factory=dict)
    masks: bool = False
    plain_loops: dict[str, Any] = field(default_factory=dict)
    keeps: bool = False  # whether there may be such modules
    alone: bool = False  # whether this is one
    kept: dict[str, str] = field(default_factory=dict)
    readymade: dict[str, Readymade] = field(default_factory=dict)
    offers: dict[str, Readymade] = field(default_factory=dict)

    def status(self, site: ErrorSite) -> int:
        """The number that stands for this error."""
        key = self._what(site)
        if key not in self.statuses:
            self.statuses[key] = len(self.errors)
            self.errors.append(site)
        return self.statuses[key]

    def two_statuses(self, first: ErrorSite, second: ErrorSite) -> int:
        """The first of two numbers in a row that stand for these."""
        key = self._what(first), self._what(second)
        if key not in self.pairs:
            self.pairs[key] = len(self.errors)
            self.errors += [first, second]
        return self.pairs[key]

    def _what(self, site: ErrorSite) -> ErrorSite:
        """What tells errors apart: in a module that is the same in every program not where these call it."""
        return replace(site, position=None) if self.alone else site

    def object_index(self, value: object) -> int:
        """The place of a Python object in the table."""
        if id(value) not in self.indices:
            self.indices[id(value)] = len(self.objects)
            self.objects.append(value)
        return self.indices[id(value)]

    @property
    def text(self) -> str:
        return self.module.text()


@record(frozen=True)
class FunctionABI:
    """How to call a lowered function. `taken`: whether each component of its parameters is passed; None for all."""

    symbol: str
    needs_ctx: bool
    params: tuple[Type, ...]
    results: tuple[Type, ...]
    may_run_python: bool
    recursive: bool = False
    fails: bool = True
    taken: tuple[bool, ...] | None = None

    def passed(self, arguments: Sequence[str]) -> list[str]:
        """Of what there is for all components of the parameters, behind the context, that for those which are passed."""
        taken = self.taken
        if taken is None:
            return list(arguments)
        first = len(arguments) - len(taken)
        return [*arguments[:first], *(a for a, wanted in zip(arguments[first:], taken, strict=True) if wanted)]

    @property
    def result(self) -> str:
        """The LLVM type of what it returns."""
        types = value_types(self.results)
        if self.packed:
            return f"<{len(types)} x {types[0]}>"
        if self.fails:
            types.insert(0, "i32")
        elif len(types) < 2:
            return types[0] if types else "void"
        return "{" + ", ".join(types) + "}"

    @property
    def packed(self) -> bool:
        """Whether the results are the elements of a vector: more floats than are returned in registers one by one."""
        return not self.fails and 2 < len(self.results) <= 8 and set(self.results) == {F64}

    def declaration(self) -> str:
        """For a module that calls it in another."""
        arguments = self.passed(["ptr"] * self.needs_ctx + component_types(self.params))
        return f"declare fastcc {self.result} {self.symbol}({', '.join(arguments)})"

    def call(self, emitter: Emitter, arguments: Sequence[str], attributes: str = "") -> tuple[str | None, list[str]]:
        """Emit a call: the status, None if there is none, and the components of the results."""
        result = emitter.call(
            self.result, self.symbol, *self.passed(arguments), attributes=attributes, convention="fastcc ", hint="r"
        )
        count = len(value_types(self.results))
        if not self.fails and count < 2:
            return None, [result] if count else []
        if self.packed:
            return None, [emitter.let(f"extractelement {self.result} {result}, i64 {k}", "r") for k in range(count)]
        extract = [emitter.let(f"extractvalue {self.result} {result}, {k}", "r") for k in range(count + self.fails)]
        return (extract[0], extract[1:]) if self.fails else (None, extract)


class CodeEmitter(Emitter):
    """An emitter of code for a module, which may refer to Python objects."""

    def __init__(self, lowered: Lowered, module: ModuleText):
        super().__init__(module)
        self.lowered = lowered

    def object(self, value: object, *recipe: Any) -> str:
        """A borrowed reference to a Python object that the compiled code keeps. `recipe`: of what it was made for it (`Lowered.recipes`)."""
        index = self.lowered.object_index(value)
        if recipe:
            self.lowered.recipes[index] = recipe
        return self.field("ptr", self.module.external("zyg_objects"), 8 * index, "", "object")


class VectorMath(Protocol):
    """Finds the vector variants of a function of the C library (see engine.py)."""

    def __call__(self, name: str, arguments: int, single: bool) -> Sequence[tuple[int, str]]: ...


def no_variants(name: str, arguments: int, single: bool) -> Sequence[tuple[int, str]]:
    """For code without vector mathematics."""
    return ()
