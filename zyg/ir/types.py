"""Types of SSA values, and the structured types of signatures.

Two families live here.

*Value types* are what an SSA value can have: the scalars `f64 f32 i64 i32 u8 bool`, `array<f64, 2, C>`,
`stack<f64>`, `tape`, and the top of the lattice, `object` (a Python reference of unknown type).

*Structured types* describe Python values at the boundary of a compiled function and during inference: tuples,
structs, optionals, constants, closures.  They never type an SSA value.  `flatten` turns one into the value types of its
leaves, and that is how it travels through SSA: a `Point(x, y)` is two values.

All types are immutable, hashable and compare by value.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from types import MemberDescriptorType
from typing import Any

import numpy as np

from zyg.ir.plainly import get_plainly

from .records import field, record


class Type:
    """Base of all types."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


# --------------------------------------------------------------------------------------------- value types


_scalars: dict[tuple[str, str, int], Scalar] = {}


@record(eq=False, frozen=True, slots=True)
class Scalar(Type):
    """A machine scalar. `kind` is "f" (IEEE float), "i" (signed), "u" (unsigned) or "b" (boolean).

    There is one of each, compared by identity: no comparison in the compiler is as frequent.

    >>> import copy
    >>> Scalar("f64", "f", 64) is F64 is copy.deepcopy(F64)
    True
    """

    name: str
    kind: str
    bits: int

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the largest number of an integer type."""
        sign = self.kind == "i"
        return -sign << (self.bits - 1), (1 << (self.bits - sign)) - 1

    def __new__(cls, name: str, kind: str, bits: int) -> Scalar:
        return _scalars.setdefault((name, kind, bits), object.__new__(cls))

    def __reduce__(self) -> tuple[Any, ...]:
        return Scalar, (self.name, self.kind, self.bits)

    def __str__(self) -> str:
        return self.name


F64 = Scalar("f64", "f", 64)
F32 = Scalar("f32", "f", 32)
I64 = Scalar("i64", "i", 64)
I32 = Scalar("i32", "i", 32)
U8 = Scalar("u8", "u", 8)
BOOL = Scalar("bool", "b", 1)
SCALARS: dict[str, Scalar] = {t.name: t for t in (F64, F32, I64, I32, U8, BOOL)}


@record(frozen=True, slots=True)
class ObjectType(Type):
    """Any Python object; the top of the lattice."""

    def __str__(self) -> str:
        return "object"


OBJECT = ObjectType()


_arrays: dict[tuple[Scalar, int, str, bool], Array] = {}


@record(init=False, eq=False, frozen=True, slots=True)
class Array(Type):
    """An n-dimensional strided array of scalars.

    `layout` is "C" (C-contiguous: strides follow from the shape) or "A" (any strides).
    `writable` is False for arrays that must not be stored to (a read-only argument).

    There is one of each, as of scalars.

    >>> Array(F64, 2) is Array(F64, 2, "C", True)
    True
    """

    dtype: Scalar
    ndim: int
    layout: str
    writable: bool

    def __new__(cls, dtype: Scalar, ndim: int, layout: str = "C", writable: bool = True) -> Array:
        key = dtype, ndim, layout, writable
        found = _arrays.get(key)
        if found is None:
            found = object.__new__(cls)
            for name, value in zip(("dtype", "ndim", "layout", "writable"), key, strict=True):
                object.__setattr__(found, name, value)
            found = _arrays.setdefault(key, found)
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return Array, (self.dtype, self.ndim, self.layout, self.writable)

    def __str__(self) -> str:
        mode = "" if self.writable else ", readonly"
        return f"array<{self.dtype}, {self.ndim}, {self.layout}{mode}>"


@record(frozen=True, slots=True)
class Stack(Type):
    """A last-in-first-out store of values of one type, used by adjoint code to remember loop state."""

    item: Type

    def __str__(self) -> str:
        return f"stack<{self.item}>"


@record(frozen=True, slots=True)
class Tape(Type):
    """The stack of mixed records that out-of-line (recursive) adjoint calls share."""

    def __str__(self) -> str:
        return "tape"


TAPE = Tape()


# ---------------------------------------------------------------------------------------- structured types


@record(frozen=True, slots=True)
class NoneType(Type):
    def __str__(self) -> str:
        return "None"


NONE = NoneType()


@record(frozen=True, slots=True)
class NpScalar(Type):
    """A NumPy scalar: the machine scalar with NumPy's semantics (no ZeroDivisionError, ints wrap)."""

    scalar: Scalar

    def __str__(self) -> str:
        return f"np.{self.scalar}"


@record(frozen=True, slots=True)
class Complex(Type):
    """A complex number; its leaves are two f64, real and imaginary part. `numpy` tells a NumPy scalar (complex128)."""

    numpy: bool = False

    def __str__(self) -> str:
        return "np.complex128" if self.numpy else "complex"


@record(frozen=True, slots=True)
class Fortran(Type):
    """An argument that is an array in Fortran order, with no axis of length 1 or 0. Its leaf is that of its transpose, which is in
    C order."""

    transpose: Array | ComplexArray

    def __str__(self) -> str:
        return str(self.transpose).replace(", C", ", F")


@record(frozen=True, slots=True)
class ComplexArray(Type):
    """An array of complex128. Its leaf is the array of its parts: one more axis, the last, contiguous and of length 2."""

    ndim: int
    layout: str = "C"
    writable: bool = True

    @property
    def parts(self) -> Array:
        return Array(F64, self.ndim + 1, self.layout, self.writable)

    def __str__(self) -> str:
        mode = "" if self.writable else ", readonly"
        return f"array<complex128, {self.ndim}, {self.layout}{mode}>"


@record(frozen=True, slots=True)
class Sized(Type):
    """An argument that is an array of which is known which axes are of length 1: `ones`, and no other.

    >>> print(Sized(Array(F64, 2), (1,)), Sized(Array(F64, 2)))
    array<f64, 2, C, axis 1 of length 1> array<f64, 2, C>
    """

    array: Array | ComplexArray
    ones: tuple[int, ...] = ()

    def __str__(self) -> str:
        if not self.ones:
            return str(self.array)
        axes = ", ".join(map(str, self.ones))
        return f"{str(self.array)[:-1]}, ax{'e' if len(self.ones) > 1 else 'i'}s {axes} of length 1>"


@record(frozen=True, slots=True)
class Const(Type):
    """A value known when compiling: a function, a module, a class, a string, ... compared by identity
    (strings and numbers by value and type)."""

    value: Any

    def _key(self) -> tuple[object, ...]:
        if isinstance(self.value, (str, bytes, int, float, complex, type(None))):
            return (type(self.value), repr(self.value))
        if isinstance(self.value, np.generic):
            return (type(self.value), self.value.item())
        return (id(self.value),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        return f"const {get_plainly(self.value, '__qualname__') or repr(self.value)}"


@record(frozen=True, slots=True)
class Tuple(Type):
    items: tuple[Type, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.items))}{',' if len(self.items) == 1 else ''})"


@record(frozen=True, slots=True)
class ListType(Type):
    """A list whose length is known when compiling."""

    items: tuple[Type, ...]

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self.items))}]"


@record(frozen=True, slots=True)
class Sequence(Type):
    """A list whose length is known at run time; its leaves are the length and an array per leaf of an item.

    Of lists of numbers in a list, the leaves are how many there are, the length and the begin of each, and the memory in which
    all of them are, with how much of it is used.
    """

    item: Type

    def __str__(self) -> str:
        return f"list[{self.item}]"


@record(frozen=True, slots=True)
class DictType(Type):
    """A dict with these strings as keys, in this order."""

    keys: tuple[str, ...]
    items: tuple[Type, ...]

    def __str__(self) -> str:
        return f"{{{', '.join(f'{k!r}: {t}' for k, t in zip(self.keys, self.items, strict=True))}}}"


@record(frozen=True, slots=True)
class ObjectOf(Type):
    """An instance of a class that is not a tuple, with the attributes that it has of its own."""

    cls: type
    names: tuple[str, ...]
    items: tuple[Type, ...]

    def __str__(self) -> str:
        fields = ", ".join(f"{n}: {t}" for n, t in zip(self.names, self.items, strict=True))
        return f"{self.cls.__name__}({fields})"


def slot_names(cls: type) -> tuple[str, ...]:
    """The attributes that instances of a class have in slots, set or not."""
    members = [(n, v) for base in reversed(cls.__mro__) for n, v in vars(base).items()]
    return tuple(n for n, v in members if isinstance(v, MemberDescriptorType))


_PLAIN = frozenset({str, bytes, type(None), bool, int, float, complex})


def all_plain(values: Iterable[Any]) -> bool:
    """Whether values hold nothing that could be known by another name: texts, numbers, None, members of enumerations."""
    return all(issubclass(cls, enum.Enum) for cls in set(map(type, values)) - _PLAIN)


@record(frozen=True, slots=True)
class Shared(Type):
    """The same mutable object again: number `number` of those in a signature, in the order in which one meets them."""

    number: int

    def __str__(self) -> str:
        return f"object {self.number}"


@record(frozen=True, slots=True)
class Given(Type):
    """As part of a result: the mutable object that came in as number `number` of those in the arguments."""

    number: int

    def __str__(self) -> str:
        return f"given object {self.number}"


@record(frozen=True, slots=True)
class OneOf(Type):
    """As part of a result: one of several values, by number."""

    items: tuple[Type, ...]

    def __str__(self) -> str:
        return " or ".join(map(str, self.items))


@record(frozen=True, slots=True)
class Opaque(Type):
    """An attribute or item that compiled code knows nothing of: an error only where it is used."""

    what: str
    hint: str = ""

    def __str__(self) -> str:
        return self.what


@record(frozen=True, slots=True)
class Struct(Type):
    """A named tuple, an instance of a frozen dataclass or a slice: `cls` with the given fields.

    Or an object that is an item of a list that came in (`lent`), where it is only read: what it is apart from its fields,
    which one of all objects, is not known.
    """

    cls: type
    names: tuple[str, ...]
    items: tuple[Type, ...]
    lent: bool = False

    def __str__(self) -> str:
        fields = ", ".join(f"{n}: {t}" for n, t in zip(self.names, self.items, strict=True))
        return f"{self.cls.__name__}({fields})"


@record(frozen=True, slots=True)
class RangeType(Type):
    """range(start, stop, step); its leaves are three i64."""

    def __str__(self) -> str:
        return "range"


RANGE = RangeType()


@record(frozen=True, slots=True)
class Optional(Type):
    """A value that may be None; its leaves are a bool ("is present") and the leaves of `item`."""

    item: Type

    def __str__(self) -> str:
        return f"{self.item} | None"


@record(frozen=True, slots=True)
class Closure(Type):
    """A Python function by code object, with the types of what it captured.

    Two functions with the same code and the same captured types are one type, so a new lambda made from the same source
    does not compile again.  `function` is a representative, kept for its code, globals and name; only `code` takes part
    in comparison, with the identity of the globals.  `captured` has an entry per free variable, `defaults` per
    positional default, `kwdefaults` per keyword default.
    """

    code: Any
    captured: tuple[Type, ...] = ()
    defaults: tuple[Type, ...] = ()
    kwdefaults: tuple[tuple[str, Type], ...] = ()
    globals_id: int = 0
    function: Any = field(default=None, compare=False, repr=False)

    @property
    def items(self) -> tuple[Type, ...]:
        return self.captured + self.defaults + tuple(t for _, t in self.kwdefaults)

    def __str__(self) -> str:
        inside = ", ".join(map(str, self.items))
        return f"{self.code.co_qualname}{{{inside}}}" if inside else self.code.co_qualname


@record(frozen=True)
class Write:
    """What is written back into argument object number `number`: attributes or items by name (of which those named
    `removed` are taken out before), or all items of a list."""

    number: int
    content: Type
    removed: tuple[str, ...] = ()


MUTABLE = (ListType, Sequence, DictType, ObjectOf)  # the types whose values have an identity that programs can see


@record(frozen=True, slots=True)
class PullbackType(Type):
    """The `back` of a pullback: what it saved travels as `saved`; `reverse` names the IR function that it calls.

    `value` is the structured type of the cotangent it takes, `gradients` that of the tuple it gives.  `reverse` is unique in
    the process; `plan` is what inference knows of it.
    """

    reverse: str
    value: Type
    gradients: Type
    saved: tuple[Type, ...]
    plan: Any = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"pullback<{self.value} -> {self.gradients}>"


def children(t: Type) -> tuple[Type, ...]:
    """The structured or value types that `t` is made of, in the order of its leaves."""
    if isinstance(t, (Tuple, ListType, Struct, Closure, DictType, ObjectOf)):
        return t.items
    if isinstance(t, Sequence) and isinstance(t.item, Sequence):
        begins = [Array(I64, 1)] * (len(flatten(t.item)) - 1)
        pools = [leaf for array in flatten(t.item)[1:] for leaf in (I64, array)]
        return (I64, Array(I64, 1), *begins, *pools)
    if isinstance(t, Sequence):
        return (I64, *(Array(leaf, 1) for leaf in flatten(t.item) if isinstance(leaf, Scalar)))
    if isinstance(t, NpScalar):
        return (t.scalar,)
    if isinstance(t, Optional):
        return (BOOL, t.item)
    if isinstance(t, OneOf):
        return (I64, *t.items)
    if isinstance(t, RangeType):
        return (I64, I64, I64)
    if isinstance(t, Complex):
        return (F64, F64)
    if isinstance(t, ComplexArray):
        return (t.parts,)
    if isinstance(t, Fortran):
        return (t.transpose,)
    if isinstance(t, Sized):
        return (t.array,)
    if isinstance(t, PullbackType):
        return t.saved
    return ()


def flatten(t: Type) -> tuple[Type, ...]:
    """The value types of the leaves of a structured type, left to right.

    >>> [str(x) for x in flatten(Tuple((F64, Optional(I64), NONE)))]
    ['f64', 'bool', 'i64']
    """
    if isinstance(t, (Scalar, ObjectType, Array, Stack, Tape)):
        return (t,)
    return tuple(leaf for child in children(t) for leaf in flatten(child))


def leaves_in_pairs(types: Iterable[Type]) -> tuple[int, ...]:
    """Which of the leaves of structured types are arrays of the parts of complex numbers.

    >>> leaves_in_pairs([F64, Tuple((ComplexArray(1), I64))])
    (1,)
    """
    found: list[int] = []
    count = 0

    def walk(t: Type) -> None:
        nonlocal count
        if isinstance(t, ComplexArray):
            found.append(count)
        if isinstance(t, (Scalar, ObjectType, Array, Stack, Tape, ComplexArray)):
            count += 1
            return
        for child in children(t):
            walk(child)

    for t in types:
        walk(t)
    return tuple(found)


def is_float(t: Type) -> bool:
    return isinstance(t, Scalar) and t.kind == "f"


def is_int(t: Type) -> bool:
    return isinstance(t, Scalar) and t.kind in "iu"


def cotangent_type(t: Type) -> Type:
    """The type of the cotangent of a value: f32 for f32, f64 for the other numbers, a shadow for an array.

    >>> print(cotangent_type(I64), cotangent_type(Array(F32, 2)), cotangent_type(Array(I64, 1, "A")))
    f64 array<f32, 2, C> array<f64, 1, A>
    """
    if isinstance(t, Scalar):
        return F32 if t is F32 else F64
    if isinstance(t, Array):
        dtype = cotangent_type(t.dtype)
        assert isinstance(dtype, Scalar)
        return Array(dtype, t.ndim, t.layout)
    if isinstance(t, Stack):
        return Stack(cotangent_type(t.item))
    return t
