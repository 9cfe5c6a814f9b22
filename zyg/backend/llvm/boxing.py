"""Between Python objects and native values, written as LLVM code.

`Boxing.unbox` reads the leaves of a structured type out of an object, going to a block `miss` where the object is not
of that type; nothing has happened by then that would have to be undone, but for temporary references, which live in
slots. `Boxing.box` makes the object from leaves.  Where native code would gain nothing (structs, closures, pullbacks)
it calls a Python function, `rebuild`, with the boxed leaves.

References: unboxed objects are borrowed; boxed ones are new.  Every new reference that is not yet part of the result is
in a slot (an alloca that starts as null), so that `release_slots` frees whatever there is at any exit.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.types import (
    BOOL,
    F32,
    F64,
    I32,
    I64,
    MUTABLE,
    NONE,
    U8,
    Array,
    Closure,
    Complex,
    ComplexArray,
    Const,
    DictType,
    Given,
    ListType,
    NpScalar,
    ObjectOf,
    OneOf,
    Opaque,
    Optional,
    PullbackType,
    RangeType,
    Scalar,
    Sequence,
    Shared,
    Struct,
    Tape,
    Tuple,
    Type,
    children,
    flatten,
    slot_names,
)
from .. import cpython as layout
from . import runtime
from .lowered import CodeEmitter
from .text import SIZES, Record, by_value, component_types, components, value_types

NUMPY_SCALARS: dict[Scalar, type] = {
    F64: np.float64, F32: np.float32, I64: np.int64, I32: np.int32, U8: np.uint8, BOOL: np.bool_,
}  # fmt: skip
_DTYPE_CODES = {F64: "d", F32: "f", I64: "lq", I32: "il", U8: "B", BOOL: "?"}
# NumPy may have two type numbers for integers of a size (long and long long); results get the one of np.int64.
TYPE_NUMBERS: dict[Scalar, list[int]] = {
    scalar: sorted(
        {np.dtype(c).num for c in codes if np.dtype(c).itemsize == SIZES[scalar]},
        key=lambda number, scalar=scalar: number != np.dtype(NUMPY_SCALARS[scalar]).num,
    )
    for scalar, codes in _DTYPE_CODES.items()
}


def saved_layout(type: PullbackType) -> int:
    """A number that tells layouts of saved leaves apart."""
    return zlib.crc32(f"{type.reverse} {'; '.join(map(str, type.saved))}".encode())


class Boxing:
    """Emits conversions through `emitter`; `emitter.object(x)` gives a borrowed reference to a Python object."""

    def __init__(self, emitter: CodeEmitter, rebuild: Callable[[Type], Callable[..., Any]] | None = None):
        self.e = emitter
        self.rebuild = rebuild
        self.slots: list[str] = []
        # Whether Python code may run before all is unboxed (`careful`) or during the call (`hold_arrays`): what was
        # read out of something mutable then needs a reference of its own.
        self.careful = False
        self.hold_arrays = False
        self.objects: list[str] = []  # the mutable objects that came in, in the order in which one meets them
        self.first = 0  # where the objects of the input that is being read begin
        self.made: list[str] = []  # those made for a result
        self.optional = 0
        self.saved_slot: str | None = None  # the first pullback's capsule, which will own the context's memory

    # ----------------------------------------------------------------------------------------- helpers

    def api(self, name: str, result: str, arguments: str) -> str:
        return self.e.module.external(name, result, arguments)

    def data(self, name: str) -> str:
        return self.e.module.external(name)

    def field(self, type: str, base: str, offset: int, hint: str = "t") -> str:
        return self.e.field(type, base, offset, "", hint)

    def object(self, value: object) -> str:
        return self.e.object(value)

    def require_equal(self, type: str, x: str, y: str, miss: str) -> None:
        self.e.require(self.e.let(f"icmp eq {type} {x}, {y}"), miss)

    def require_type(self, object: str, expected: str, miss: str) -> None:
        self.require_equal("ptr", self.field("ptr", object, layout.OB_TYPE, "type"), expected, miss)

    def slot(self) -> str:
        """An alloca for a reference, null at first."""
        name = self.e.alloca("ptr", "reference")
        self.e.allocas.append(f"  store ptr null, ptr {name}")
        self.slots.append(name)
        return name

    def keep(self, object: str) -> str:
        """Put a new reference into a slot of its own."""
        slot = self.slot()
        self.e.emit(f"store ptr {object}, ptr {slot}")
        return slot

    def release_slots(self) -> None:
        for slot in self.slots:
            self.decref(self.e.let(f"load ptr, ptr {slot}"))
            self.e.emit(f"store ptr null, ptr {slot}")

    def decref(self, object: str) -> None:
        """Nothing for null."""
        self.e.call("void", self.api("Py_DecRef", "void", "ptr"), f"ptr {object}")

    def incref(self, object: str) -> None:
        self.e.call("void", self.api("Py_IncRef", "void", "ptr"), f"ptr {object}")

    # --------------------------------------------------------------------------------------- unboxing

    def unbox(self, type: Type, o: str, miss: str) -> list[str]:
        """The components of the leaves of `type`, read from the object `o`; elsewhere to the block `miss`."""
        if isinstance(type, Scalar):
            return [self.unbox_python(type, o, miss)]
        method = getattr(self, "unbox_" + _METHODS[type.__class__])
        return method(type, o, miss)

    def unbox_python(self, scalar: Scalar, o: str, miss: str) -> str:
        if scalar is F64:
            self.require_type(o, self.data("PyFloat_Type"), miss)
            return self.field("double", o, layout.FLOAT_VALUE, "x")
        if scalar is BOOL:
            is_true = self.e.let(f"icmp eq ptr {o}, {self.data('_Py_TrueStruct')}")
            is_false = self.e.let(f"icmp eq ptr {o}, {self.data('_Py_FalseStruct')}")
            self.e.require(self.e.let(f"or i1 {is_true}, {is_false}"), miss)
            return is_true
        if scalar is I64:
            self.require_type(o, self.data("PyLong_Type"), miss)
            return self.unbox_int(o, miss)
        return self.unbox_numpy(NpScalar(scalar), o, miss)[0]

    def unbox_int(self, o: str, miss: str) -> str:
        """One digit is read at once; longer ints by the API, those past 64 bits are a miss."""
        e = self.e
        tag = self.field("i64", o, layout.LONG_TAG, "tag")
        if layout.VERSION >= (3, 12):
            compact = e.let(f"icmp ult i64 {tag}, {2 << 3}")
            sign_bits = e.let(f"and i64 {tag}, 3")
            sign = e.let(f"sub i64 1, {sign_bits}")
        else:
            shifted = e.let(f"add i64 {tag}, 1")
            compact = e.let(f"icmp ult i64 {shifted}, 3")
            sign = tag
        fast, slow, done, fits = (e.name(n) for n in ("small", "large", "int", "fits"))
        e.branch(compact, fast, slow, likely=True)
        e.start(fast)
        digit = e.let(f"zext i32 {self.field('i32', o, layout.LONG_DIGIT)} to i64")
        small = e.let(f"mul i64 {sign}, {digit}")
        e.jump(done)
        e.start(slow)
        large = e.call("i64", self.api("zyg_long", "i64", "ptr, ptr"), f"ptr {o}", f"ptr {self.scratch()}")
        overflow = e.let(f"load i32, ptr {self.scratch()}")
        e.branch(e.let(f"icmp eq i32 {overflow}, 0"), fits, miss)
        e.start(fits)
        e.jump(done)
        e.start(done)
        return e.let(f"phi i64 [ {small}, %{fast} ], [ {large}, %{fits} ]", "n")

    _scratch: str | None = None

    def scratch(self) -> str:
        if self._scratch is None:
            self._scratch = self.e.alloca("i64", "scratch")
        return self._scratch

    def unbox_numpy(self, type: NpScalar, o: str, miss: str) -> list[str]:
        scalar = type.scalar
        self.require_type(o, self.data(f"numpy.{NUMPY_SCALARS[scalar].__name__}"), miss)
        if scalar is BOOL:
            return [self.e.let(f"icmp ne i8 {self.field('i8', o, layout.SCALAR_VALUE)}, 0")]
        return [self.field(component_types([scalar])[0], o, layout.SCALAR_VALUE, "x")]

    def unbox_complex(self, type: Complex, o: str, miss: str) -> list[str]:
        self.require_type(o, self.data("numpy.complex128" if type.numpy else "PyComplex_Type"), miss)
        offset = layout.SCALAR_VALUE if type.numpy else layout.COMPLEX_VALUE
        return [self.field("double", o, offset, "re"), self.field("double", o, offset + 8, "im")]

    def unbox_none(self, type: Type, o: str, miss: str) -> list[str]:
        self.require_equal("ptr", o, self.data("_Py_NoneStruct"), miss)
        return []

    def unbox_const(self, type: Const, o: str, miss: str) -> list[str]:
        """Identity; strings and numbers may also be equal ones of the same type."""
        e, value = self.e, type.value
        if value is None:
            return self.unbox_none(type, o, miss)
        expected = self.object(value)
        same = e.let(f"icmp eq ptr {o}, {expected}")
        if not isinstance(value, (str, bytes, int, float, complex)):
            e.require(same, miss)
            return []
        go_on, compare = e.name("same"), e.name("compare")
        e.branch(same, go_on, compare, likely=True)
        e.start(compare)
        equal = e.call("i1", self.api("zyg_equal_constants", "i1", "ptr, ptr"), f"ptr {o}", f"ptr {expected}")
        e.branch(equal, go_on, miss)
        e.start(go_on)
        return []

    def unbox_tuple(self, type: Tuple, o: str, miss: str) -> list[str]:
        self.require_type(o, self.data("PyTuple_Type"), miss)
        return self.unbox_tuple_items(type.items, o, miss)

    def unbox_tuple_items(self, items: tuple[Type, ...], o: str, miss: str) -> list[str]:
        self.require_equal("i64", self.field("i64", o, layout.OB_SIZE), str(len(items)), miss)
        leaves = []
        for index, item in enumerate(items):
            leaves += self.unbox(item, self.field("ptr", o, layout.TUPLE_ITEMS + 8 * index, "item"), miss)
        return leaves

    def unbox_list(self, type: ListType, o: str, miss: str) -> list[str]:
        self.objects.append(o)
        self.require_type(o, self.data("PyList_Type"), miss)
        self.require_equal("i64", self.field("i64", o, layout.OB_SIZE), str(len(type.items)), miss)
        items: list[str] = []
        if type.items:
            table = self.field("ptr", o, layout.LIST_ITEMS)
            for index in range(len(type.items)):
                items.append(self.hold(self.field("ptr", table, 8 * index, "item")))
        return [leaf for item, o in zip(type.items, items) for leaf in self.unbox(item, o, miss)]

    def hold(self, o: str) -> str:
        """An object that its container may lose."""
        if self.careful:
            self.incref(o)
            self.keep(o)
        return o

    def pin_arrays(self, types: tuple[Type, ...], parts: list[str], ctx: str, failed: str) -> None:
        """Keep Python code that is called from here from moving the memory of arrays; `parts` are their components."""
        at = 0
        for type in types:
            if isinstance(type, Array):
                pin = self.e.module.external("zyg_pin", "i1", "ptr, ptr", "nounwind")
                self.e.require(self.e.call("i1", pin, f"ptr {ctx}", f"ptr {parts[at + 1]}", hint="pinned"), failed)
            at += len(components(type))

    def unbox_range(self, type: Type, o: str, miss: str) -> list[str]:
        self.require_type(o, self.data("PyRange_Type"), miss)
        parts = [self.field("ptr", o, layout.RANGE_START + 8 * k) for k in range(3)]
        return [leaf for part in parts for leaf in self.unbox(I64, part, miss)]

    def unbox_struct(self, type: Struct, o: str, miss: str) -> list[str]:
        """A named tuple is read like a tuple, a frozen dataclass field by field with getattr."""
        self.require_type(o, self.object(type.cls), miss)
        if issubclass(type.cls, tuple):
            return self.unbox_tuple_items(type.items, o, miss)
        pairs = zip(type.names, type.items, strict=True)
        return [leaf for name, item in pairs for leaf in self.unbox(item, self.attribute(o, name, miss), miss)]

    def attribute(self, o: str, name: str, miss: str) -> str:
        getattr_ = self.api("zyg_getattr", "ptr", "ptr, ptr")
        value = self.e.call("ptr", getattr_, f"ptr {o}", f"ptr {self.object(_interned(name))}", hint=name)
        self.keep(self.checked(value, miss))
        return value

    def unbox_object(self, type: ObjectOf, o: str, miss: str) -> list[str]:
        """An instance that has just these attributes: those in slots by getattr, the others out of its __dict__."""
        e = self.e
        self.objects.append(o)
        self.require_type(o, self.object(type.cls), miss)
        slots = slot_names(type.cls)
        inside = [n for n in type.names if n not in slots]
        values: dict[str, str] = {}
        if getattr(type.cls, "__dictoffset__", 0):
            get = self.api("PyObject_GenericGetDict", "ptr", "ptr, ptr")
            names = self.checked(e.call("ptr", get, f"ptr {o}", "ptr null", hint="dict"), miss)
            self.keep(names)
            size = e.call("i64", self.api("PyDict_Size", "i64", "ptr"), f"ptr {names}")
            self.require_equal("i64", size, str(len(inside)), miss)
            for name in inside:
                values[name] = self.item(names, name, miss)
        for name in slots:
            if name in type.names:
                values[name] = self.attribute(o, name, miss)
            else:
                getattr_ = self.api("zyg_getattr", "ptr", "ptr, ptr")
                value = e.call("ptr", getattr_, f"ptr {o}", f"ptr {self.object(_interned(name))}", hint=name)
                self.keep(value)
                self.require_equal("ptr", value, "null", miss)
        pairs = zip(type.names, type.items, strict=True)
        return [leaf for name, item in pairs for leaf in self.unbox(item, values[name], miss)]

    def item(self, table: str, key: str, miss: str) -> str:
        lookup = self.api("zyg_lookup", "ptr", "ptr, ptr")
        value = self.e.call("ptr", lookup, f"ptr {table}", f"ptr {self.object(_interned(key))}", hint="item")
        return self.hold(self.checked(value, miss))

    def unbox_dict(self, type: DictType, o: str, miss: str) -> list[str]:
        """A dict that has just these keys, in this order."""
        e = self.e
        self.objects.append(o)
        self.require_type(o, self.data("PyDict_Type"), miss)
        size = e.call("i64", self.api("PyDict_Size", "i64", "ptr"), f"ptr {o}")
        self.require_equal("i64", size, str(len(type.keys)), miss)
        if not type.keys:
            return []
        place = e.alloca("[3 x ptr]", "entry")  # where PyDict_Next stands, the key, the value
        e.set_field("i64", "0", place, 0)
        following = self.api("PyDict_Next", "i32", "ptr, ptr, ptr, ptr")
        values = []
        for key in type.keys:
            more = e.call(
                "i32", following, f"ptr {o}", f"ptr {place}", f"ptr {e.at(place, 8)}", f"ptr {e.at(place, 16)}"
            )
            e.require(e.let(f"icmp ne i32 {more}, 0"), miss)
            self.unbox_const(Const(key), self.field("ptr", place, 8, "key"), miss)
            values.append(self.hold(self.field("ptr", place, 16, "value")))
        return [leaf for item, value in zip(type.items, values) for leaf in self.unbox(item, value, miss)]

    def unbox_sequence(self, type: Sequence, o: str, miss: str) -> list[str]:
        """A list of run-time length as arrays, which a Python function makes of it."""
        e = self.e
        self.objects.append(o)
        self.require_type(o, self.data("PyList_Type"), miss)
        if type.item in (F64, I64):
            name, make = ("zyg_list_floats", np.empty) if type.item is F64 else ("zyg_list_ints", _empty_ints)
            fill = self.api(name, "ptr", "ptr, ptr")
            array = e.call("ptr", fill, f"ptr {o}", f"ptr {self.object(make)}", hint="column")
            self.keep(self.checked(array, miss))
            parts = self.unbox(children(type)[1], array, miss)
            e.require(e.let(f"icmp sgt i64 {parts[2]}, 0"), miss)  # an empty list has another type
            return [parts[2], *parts]
        from ..calling import columns

        function = self.object(columns(type))
        call = self.api("zyg_call_or_null", "ptr", "ptr, ptr")
        made = self.checked(e.call("ptr", call, f"ptr {function}", f"ptr {o}", hint="columns"), miss)
        self.keep(made)
        length = self.field("ptr", made, layout.TUPLE_ITEMS, "length")
        leaves = self.unbox(I64, length, miss)
        for index, array in enumerate(children(type)[1:]):
            leaves += self.unbox(array, self.field("ptr", made, layout.TUPLE_ITEMS + 8 * (index + 1), "column"), miss)
        return leaves

    def unbox_shared(self, type: Shared, o: str, miss: str) -> list[str]:
        self.require_equal("ptr", o, self.objects[self.first + type.number], miss)
        return []

    def unbox_opaque(self, type: Type, o: str, miss: str) -> list[str]:
        return []

    def unbox_optional(self, type: Optional, o: str, miss: str) -> list[str]:
        e = self.e
        some, done, before = e.name("some"), e.name("optional"), e.label
        absent = e.let(f"icmp eq ptr {o}, {self.data('_Py_NoneStruct')}")
        e.branch(absent, done, some)
        e.start(some)
        leaves = self.unbox(type.item, o, miss)
        after = e.label
        e.jump(done)
        e.start(done)
        result = [e.let(f"phi i1 [ false, %{before} ], [ true, %{after} ]", "present")]
        for t, leaf in zip(component_types(flatten(type.item)), leaves, strict=True):
            zero = {"ptr": "null", "double": "0.0", "float": "0.0", "i1": "false"}.get(t, "0")
            result.append(e.let(f"phi {t} [ {zero}, %{before} ], [ {leaf}, %{after} ]"))
        return result

    def unbox_closure(self, type: Closure, o: str, miss: str) -> list[str]:
        """A function of the same code and globals; what it captured and its defaults, by their types."""
        e = self.e
        self.require_type(o, self.data("PyFunction_Type"), miss)
        self.require_equal("ptr", self.field("ptr", o, layout.FUNCTION_CODE), self.object(type.code), miss)
        globals_ = self.object(type.function.__globals__)
        self.require_equal("ptr", self.field("ptr", o, layout.FUNCTION_GLOBALS), globals_, miss)
        leaves: list[str] = []
        if type.captured:
            closure = self.hold(self.field("ptr", o, layout.FUNCTION_CLOSURE, "closure"))
            for index, item in enumerate(type.captured):
                cell = self.field("ptr", closure, layout.TUPLE_ITEMS + 8 * index, "cell")
                leaves += self.unbox_cell(item, cell, miss)
        for offset, expected, items in ((layout.FUNCTION_DEFAULTS, len(type.defaults), type.defaults),):
            table = self.field("ptr", o, offset, "defaults")
            if not expected:
                self.require_equal("ptr", table, "null", miss)
            else:
                e.require(e.let(f"icmp ne ptr {table}, null"), miss)
                self.hold(table)
                leaves += self.unbox_tuple_items(items, table, miss)
        table = self.field("ptr", o, layout.FUNCTION_KWDEFAULTS, "kwdefaults")
        if not type.kwdefaults:
            self.require_equal("ptr", table, "null", miss)
            return leaves
        e.require(e.let(f"icmp ne ptr {table}, null"), miss)
        lookup = self.api("zyg_lookup", "ptr", "ptr, ptr")
        for name, item in type.kwdefaults:
            value = e.call("ptr", lookup, f"ptr {table}", f"ptr {self.object(_interned(name))}", hint=name)
            e.require(e.let(f"icmp ne ptr {value}, null"), miss)
            leaves += self.unbox(item, self.hold(value), miss)
        return leaves

    def unbox_cell(self, type: Type, cell: str, miss: str) -> list[str]:
        contents = self.field("ptr", cell, layout.CELL_CONTENTS, "contents")
        self.e.require(self.e.let(f"icmp ne ptr {contents}, null"), miss)
        return self.unbox(type, self.hold(contents), miss)

    def unbox_array(self, type: Array, o: str, miss: str) -> list[str]:
        base, shape, strides = self.unbox_ndarray(type, TYPE_NUMBERS[type.dtype], o, miss)
        return base + shape + strides

    def unbox_complex_array(self, type: ComplexArray, o: str, miss: str) -> list[str]:
        """Seen as floats, with the axis of the parts behind the others."""
        base, shape, strides = self.unbox_ndarray(type, [np.dtype(complex).num], o, miss)
        return base + shape + ["2"] + ([*strides, "8"] if type.layout != "C" else [])

    def unbox_ndarray(
        self, type: Array | ComplexArray, type_numbers: list[int], o: str, miss: str
    ) -> tuple[list[str], list[str], list[str]]:
        """An ndarray proper (or one of a mapped file), of the right dtype in native byte order, aligned, writable if it
        will be written: data and owner, shape, strides."""
        e = self.e
        cls = self.field("ptr", o, layout.OB_TYPE, "type")
        plain = e.let(f"icmp eq ptr {cls}, {self.data('numpy.ndarray')}")
        mapped = e.let(f"icmp eq ptr {cls}, {self.data('numpy.memmap')}")
        e.require(e.let(f"or i1 {plain}, {mapped}"), miss)
        self.require_equal("i32", self.field("i32", o, layout.ARRAY_NDIM), str(type.ndim), miss)
        descr = self.field("ptr", o, layout.ARRAY_DESCR, "descr")
        number = self.field("i32", descr, layout.DESCR_TYPE_NUMBER)
        fits = e.let(f"icmp eq i32 {number}, {type_numbers[0]}")
        for other in type_numbers[1:]:
            fits = e.let(f"or i1 {fits}, {e.let(f'icmp eq i32 {number}, {other}')}")
        e.require(fits, miss)
        order = self.field("i8", descr, layout.DESCR_BYTEORDER)
        e.require(e.let(f"icmp ne i8 {order}, {ord('>')}"), miss)
        wanted = layout.FLAG_ALIGNED | (layout.FLAG_WRITEABLE if type.writable else 0)
        if type.layout == "C":
            wanted |= layout.FLAG_C_CONTIGUOUS
        flags = e.let(f"and i32 {self.field('i32', o, layout.ARRAY_FLAGS)}, {wanted}")
        self.require_equal("i32", flags, str(wanted), miss)
        base = [self.field("ptr", o, layout.ARRAY_DATA, "data"), e.let(f"getelementptr i8, ptr {o}, i64 1", "owner")]
        numbers: list[list[str]] = []
        for offset in (layout.ARRAY_SHAPE, layout.ARRAY_STRIDES)[: 1 + (type.layout != "C")] if type.ndim else ():
            table = self.field("ptr", o, offset)
            numbers.append([self.field("i64", table, 8 * k) for k in range(type.ndim)])
        if self.hold_arrays:
            self.incref(o)
            self.keep(o)
        shape, strides = [*numbers, [], []][:2]
        return base, shape, strides

    def unbox_pullback(self, type: PullbackType, o: str, miss: str) -> list[str]:
        """The leaves that a pullback saved, out of its `Saved` capsule (or that of the object's __zyg_saved__)."""
        e = self.e
        find = self.api("zyg_saved_find", "ptr", "ptr, i64, ptr")
        slot = self.slot()
        saved = e.call("ptr", find, f"ptr {o}", f"i64 {saved_layout(type)}", f"ptr {slot}", hint="saved")
        e.require(e.let(f"icmp ne ptr {saved}, null"), miss)
        fields = iter(Record(type.saved).fields)
        leaves = []
        for t in type.saved:
            words = [self.load_saved(saved, *next(fields)) for _ in components(by_value(t))]
            if isinstance(t, Tape):
                place = e.alloca("[3 x ptr]", "tape")
                for k, word in enumerate(words):
                    e.set_field("ptr", word, place, 8 * k, "tape")
                words = [place]
            elif isinstance(t, Array):
                # Counted by the capsule as a whole: other threads may be using it too.
                words[1] = e.let(f"getelementptr i8, ptr {e.let(f'load ptr, ptr {slot}')}, i64 1", "owner")
            leaves += words
        return leaves

    def load_saved(self, saved: str, offset: int, type: str) -> str:
        if type == "i1":
            return self.e.let(f"trunc i8 {self.field('i8', saved, runtime.SAVED.leaves + offset)} to i1")
        return self.field(type, saved, runtime.SAVED.leaves + offset)

    # ----------------------------------------------------------------------------------------- boxing

    def box(self, type: Type, leaves: list[str], ctx: str, failed: str) -> str:
        """A new reference to the object of `type` with these leaves; to the block `failed` with an exception set."""
        if isinstance(type, (Given, Shared)):
            o = self.objects[type.number] if isinstance(type, Given) else self.made[type.number]
            self.incref(o)
            return o
        if isinstance(type, MUTABLE) and not self.optional:
            number = len(self.made)
            self.made.append("")
            self.made[number] = self.box_by_rebuild(type, leaves, ctx, failed)
            return self.made[number]
        if is_native(type):
            return self.checked(self.box_native(type, leaves, ctx, failed), failed)
        if isinstance(type, Optional):
            return self.box_optional(type, leaves, ctx, failed)
        if isinstance(type, OneOf):
            return self.box_one_of(type, leaves, ctx, failed)
        return self.box_by_rebuild(type, leaves, ctx, failed)

    def checked(self, object: str, failed: str) -> str:
        self.e.require(self.e.let(f"icmp ne ptr {object}, null"), failed)
        return object

    def box_native(self, type: Type, leaves: list[str], ctx: str, failed: str) -> str:
        e = self.e
        if isinstance(type, (Scalar, NpScalar)):
            return self.box_scalar(type, leaves[0])
        if isinstance(type, Complex):
            made = self.api("PyComplex_FromDoubles", "ptr", "double, double")
            return e.call("ptr", made, f"double {leaves[0]}", f"double {leaves[1]}")
        if isinstance(type, Array):
            number = TYPE_NUMBERS[type.dtype][0]
            return self.box_array(type, number, SIZES[type.dtype], leaves[:2], leaves[2:])
        if isinstance(type, ComplexArray):
            n = type.ndim  # of the array of parts, the last axis goes
            shape_and_strides = leaves[2 : 2 + n] + leaves[3 + n : 3 + 2 * n]
            return self.box_array(type, np.dtype(complex).num, 16, leaves[:2], shape_and_strides)
        if isinstance(type, Tuple):
            made = self.checked(e.call("ptr", self.api("PyTuple_New", "ptr", "i64"), f"i64 {len(type.items)}"), failed)
            slot = self.keep(made)
            self.fill_tuple(made, type.items, leaves, ctx, failed)
            e.emit(f"store ptr null, ptr {slot}")
            return made
        value = type.value if isinstance(type, Const) else None
        if value is None or value is True or value is False:
            name = {None: "_Py_NoneStruct", True: "_Py_TrueStruct", False: "_Py_FalseStruct"}[value]
            return self.new_reference(self.data(name))
        constant = self.object(value)
        self.incref(constant)
        return constant

    def box_optional(self, type: Optional, leaves: list[str], ctx: str, failed: str) -> str:
        e = self.e
        some, none, done = e.name("some"), e.name("none"), e.name("optional")
        e.branch(leaves[0], some, none)
        e.start(none)
        nothing = self.new_reference(self.data("_Py_NoneStruct"))
        e.jump(done)
        e.start(some)
        self.optional += 1
        item = self.box(type.item, leaves[1:], ctx, failed)
        self.optional -= 1
        after = e.label
        e.jump(done)
        e.start(done)
        return e.let(f"phi ptr [ {nothing}, %{none} ], [ {item}, %{after} ]", "optional")

    def box_one_of(self, type: OneOf, leaves: list[str], ctx: str, failed: str) -> str:
        e = self.e
        done, at = e.name("one_of"), 1
        incoming = []
        self.optional += 1
        for number, item in enumerate(type.items):
            count = len(value_types(flatten(item)))
            following = ""
            if number < len(type.items) - 1:
                here, following = e.name("option"), e.name("next_option")
                e.branch(e.let(f"icmp eq i64 {leaves[0]}, {number}"), here, following)
                e.start(here)
            value = self.box(item, leaves[at : at + count], ctx, failed)
            incoming.append(f"[ {value}, %{e.label} ]")
            e.jump(done)
            if following:
                e.start(following)
            at += count
        self.optional -= 1
        e.start(done)
        return e.let(f"phi ptr {', '.join(incoming)}", "one_of")

    def fill_tuple(
        self, made: str, items: tuple[Type, ...], leaves: list[str], ctx: str, failed: str, first: int = 0
    ) -> None:
        """Items go into the tuple as soon as they are made, so that the tuple owns them if a later one fails."""
        at = 0
        for index, item in enumerate(items, first):
            count = len(value_types(flatten(item)))
            value = self.box(item, leaves[at : at + count], ctx, failed)
            self.e.emit(f"store ptr {value}, ptr {self.e.at(made, layout.TUPLE_ITEMS + 8 * index)}")
            at += count

    def new_reference(self, immortal: str) -> str:
        """To None, True or False, which are not counted from 3.12 on."""
        if not layout.IMMORTAL:
            count = self.field("i64", immortal, layout.OB_REFCNT)
            self.e.set_field("i64", self.e.let(f"add i64 {count}, 1"), immortal, layout.OB_REFCNT)
        return immortal

    def box_scalar(self, type: Scalar | NpScalar, x: str) -> str:
        e = self.e
        scalar = type.scalar if isinstance(type, NpScalar) else type
        if scalar is F64:
            return e.call("ptr", self.api("PyFloat_FromDouble", "ptr", "double"), f"double {x}")
        if scalar is I64:
            return e.call("ptr", self.api("PyLong_FromLongLong", "ptr", "i64"), f"i64 {x}")
        if scalar is BOOL:
            chosen = e.let(f"select i1 {x}, ptr {self.data('_Py_TrueStruct')}, ptr {self.data('_Py_FalseStruct')}")
            return self.new_reference(chosen)
        cls = self.data(f"numpy.{NUMPY_SCALARS[scalar].__name__}")
        if scalar is F32:
            wide = e.let(f"fpext float {x} to double")
            return e.call("ptr", self.api("zyg_make_float", "ptr", "ptr, double"), f"ptr {cls}", f"double {wide}")
        extend = "zext" if scalar is U8 else "sext"
        wide = e.let(f"{extend} {component_types([scalar])[0]} {x} to i64")
        return e.call("ptr", self.api("zyg_make_int", "ptr", "ptr, i64"), f"ptr {cls}", f"i64 {wide}")

    def box_array(
        self, type: Array | ComplexArray, type_number: int, size: int, base: list[str], numbers: list[str]
    ) -> str:
        e = self.e
        data, owner = base
        table = e.alloca(f"[{max(1, len(numbers))} x i64]", "dims")
        for k, number in enumerate(numbers):
            e.set_field("i64", number, table, 8 * k)
        strides = e.at(table, 8 * type.ndim) if type.layout != "C" and type.ndim else "null"
        callee = self.api("zyg_box_array", "ptr", "ptr, ptr, i32, i32, ptr, ptr, i64")
        boxed = e.call(
            "ptr", callee, f"ptr {data}", f"ptr {owner}", f"i32 {type_number}", f"i32 {type.ndim}",
            f"ptr {table}", f"ptr {strides}", f"i64 {size}",
        )  # fmt: skip
        return boxed if type.writable else e.call("ptr", self.api("zyg_box_readonly", "ptr", "ptr"), f"ptr {boxed}")

    def box_by_rebuild(self, type: Type, leaves: list[str], ctx: str, failed: str) -> str:
        """rebuild(type)(*boxed leaves); a pullback's only leaf is the capsule with what it saved."""
        e = self.e
        if self.rebuild is None:
            from ..calling import rebuild

            self.rebuild = rebuild
        items = _rebuild_arguments(type)
        made = self.checked(e.call("ptr", self.api("PyTuple_New", "ptr", "i64"), f"i64 {len(items)}"), failed)
        slot = self.keep(made)
        if isinstance(type, PullbackType):
            capsule = self.save(type, leaves, ctx, failed)
            self.incref(capsule)
            e.emit(f"store ptr {capsule}, ptr {e.at(made, layout.TUPLE_ITEMS)}")
        else:
            self.fill_tuple(made, items, leaves, ctx, failed)
        function = self.object(self.rebuild(type))
        call = self.api("PyObject_Call", "ptr", "ptr, ptr, ptr")
        result = self.checked(e.call("ptr", call, f"ptr {function}", f"ptr {made}", "ptr null"), failed)
        e.emit(f"store ptr null, ptr {slot}")
        self.decref(made)
        return result

    def write_back(self, write: Any, function: object, leaves: list[str], ctx: str, failed: str) -> None:
        """Call `function` with an object that came in and the boxed parts of what became of it."""
        e = self.e
        items = _rebuild_arguments(write.content)
        made = self.checked(e.call("ptr", self.api("PyTuple_New", "ptr", "i64"), f"i64 {len(items) + 1}"), failed)
        slot = self.keep(made)
        self.incref(self.objects[write.number])
        e.emit(f"store ptr {self.objects[write.number]}, ptr {e.at(made, layout.TUPLE_ITEMS)}")
        self.fill_tuple(made, items, leaves, ctx, failed, 1)
        call = self.api("PyObject_Call", "ptr", "ptr, ptr, ptr")
        arguments = (f"ptr {self.object(function)}", f"ptr {made}", "ptr null")
        self.decref(self.checked(e.call("ptr", call, *arguments), failed))
        e.emit(f"store ptr null, ptr {slot}")
        self.decref(made)

    def save(self, type: PullbackType, leaves: list[str], ctx: str, failed: str) -> str:
        """A capsule with a record of the saved leaves; the first one will own the memory of the context."""
        e = self.e
        record = Record(type.saved)
        parent = e.let(f"load ptr, ptr {self.saved_slot}") if self.saved_slot else "null"
        new = self.api("zyg_saved_new", "ptr", "i64, i64, ptr")
        layout_number = f"i64 {saved_layout(type)}"
        made = e.call("ptr", new, layout_number, f"i64 {max(8, record.size)}", f"ptr {parent}", hint="capsule")
        capsule = self.checked(made, failed)
        slot = self.keep(capsule)
        if self.saved_slot is None:
            self.saved_slot = slot
        saved = self.field("ptr", capsule, layout.CAPSULE_POINTER, "saved")
        words: list[str] = []
        index = 0
        keep = self.api("zyg_keep", "i1", "ptr, ptr")
        for t in type.saved:
            parts = leaves[index : index + len(components(by_value(t)))]
            index += len(parts)
            if isinstance(t, Array):
                kept = e.call("i1", keep, f"ptr {ctx}", f"ptr {parts[1]}")
                e.require(kept, failed)
            words += parts
        for (offset, register), word in zip(record.fields, words, strict=True):
            if register == "i1":
                register, word = "i8", e.let(f"zext i1 {word} to i8")
            e.set_field(register, word, saved, runtime.SAVED.leaves + offset)
        return capsule

    # ------------------------------------------------------------------------- calls of Python functions

    def call(self, function: str, types: tuple[Type, ...], leaves: list[str], ctx: str, failed: str) -> str:
        """Call `function` with boxed arguments; gives a new reference."""
        e = self.e
        self.made = []
        made = self.checked(e.call("ptr", self.api("PyTuple_New", "ptr", "i64"), f"i64 {len(types)}"), failed)
        slot = self.keep(made)
        self.fill_tuple(made, types, leaves, ctx, failed)
        call = self.api("PyObject_Call", "ptr", "ptr, ptr, ptr")
        result = e.call("ptr", call, f"ptr {function}", f"ptr {made}", "ptr null")
        e.emit(f"store ptr null, ptr {slot}")
        self.decref(made)
        return self.checked(result, failed)

    def unbox_result(self, result: str, type: Type, ctx: str, failed: str) -> list[str]:
        """The leaves of what a Python function returned, which lives on until the context ends if it holds arrays."""
        e = self.e
        wrong = e.name("wrong_type")
        leaves = [] if type is NONE else self.unbox(type, result, wrong)
        if any(isinstance(leaf, Array) for leaf in flatten(type)):
            keep = self.api("zyg_keep_object", "i1", "ptr, ptr")
            e.require(e.call("i1", keep, f"ptr {ctx}", f"ptr {result}"), failed)
        else:
            self.decref(result)
        if type is not NONE:
            go_on = e.name("unboxed")
            e.jump(go_on)
            e.start(wrong)
            expected = self.object(str(type))
            e.call("void", self.api("zyg_wrong_result", "void", "ptr, ptr"), f"ptr {result}", f"ptr {expected}")
            e.jump(failed)
            e.start(go_on)
        return leaves


_METHODS: dict[type, str] = {
    NpScalar: "numpy", type(NONE): "none", Const: "const", Tuple: "tuple", ListType: "list", RangeType: "range",
    Sequence: "sequence", DictType: "dict", ObjectOf: "object", Shared: "shared", Opaque: "opaque",
    Struct: "struct", Optional: "optional", Closure: "closure", Array: "array", PullbackType: "pullback",
    Complex: "complex", ComplexArray: "complex_array",
}  # fmt: skip


def is_native(type: Type) -> bool:
    """Whether objects of this type are made without the help of Python code."""
    return type is NONE or isinstance(type, (Scalar, NpScalar, Array, Tuple, Const, Complex, ComplexArray))


def _rebuild_arguments(type: Type) -> tuple[Type, ...]:
    """The structured types of the arguments that rebuild(type) takes."""
    if isinstance(type, PullbackType):
        return (NONE,)
    if isinstance(type, RangeType):
        return (I64, I64, I64)
    if isinstance(type, Sequence):
        return children(type)
    if isinstance(type, (Struct, ListType, Closure, DictType, ObjectOf)):
        return type.items
    raise TypeError(f"a value of type {type} cannot be given to Python")


def _empty_ints(length: int) -> np.ndarray:
    return np.empty(length, np.int64)


def _interned(name: str) -> str:
    import sys

    return sys.intern(name)
