"""From Python objects to native values, written as LLVM code.

`unbox` reads the leaves of a structured type out of an object, going to a block `miss` where the object is not of that type;
nothing has happened by then that would have to be undone, but for temporary references, which live in slots.
"""

from __future__ import annotations

import sys

import numpy as np

from ...ir.dtypes import NUMPY_SCALARS
from ...ir.types import (
    BOOL,
    F64,
    I64,
    NONE,
    Array,
    Closure,
    Complex,
    ComplexArray,
    Const,
    DictType,
    Fortran,
    ListType,
    NpScalar,
    ObjectOf,
    Opaque,
    Optional,
    PullbackType,
    RangeType,
    Scalar,
    Sequence,
    Shared,
    Sized,
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
from .python_objects import TYPE_NUMBERS, PythonObjects, saved_layout
from .text import Record, by_value, component_types, components


class Unboxing(PythonObjects):
    """A method for each structured type, under its name."""

    def unbox(self, type: Type, o: str, miss: str) -> list[str]:
        """The components of the leaves of `type`, read from the object `o`; elsewhere to the block `miss`."""
        if isinstance(type, Scalar):
            return [self.unbox_python(type, o, miss)]
        method = getattr(self, "unbox_" + _METHODS[type.__class__])
        return method(type, o, miss)

    def unbox_argument(self, type: Type, o: str, miss: str) -> list[str]:
        """The same of an argument, where an array in Fortran order is not of the type of any strided array."""
        leaves = self.unbox(type, o, miss)
        if isinstance(type, Sized) and type.array.layout != "C" and type.array.ndim > 1 and not type.ones:
            e = self.e
            flag = e.let(f"and i32 {self.field('i32', o, layout.ARRAY_FLAGS)}, {layout.FLAG_F_CONTIGUOUS}")
            told = e.let(f"icmp eq i32 {flag}, 0")
            for length in leaves[2 : 2 + type.array.ndim]:
                told = e.let(f"or i1 {told}, {e.let(f'icmp eq i64 {length}, 0')}")
            e.require(told, miss)
        return leaves

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
        if not isinstance(value, (str, bytes, int, float, complex, np.integer)):
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
        self.meet(o, "list")
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
        value = self.e.call("ptr", getattr_, f"ptr {o}", f"ptr {self.object(sys.intern(name))}", hint=name)
        self.keep(self.checked(value, miss))
        return value

    def unbox_object(self, type: ObjectOf, o: str, miss: str) -> list[str]:
        """An instance that has just these attributes: those in slots by getattr, the others out of its __dict__."""
        e = self.e
        self.meet(o, type.cls)
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
                value = e.call("ptr", getattr_, f"ptr {o}", f"ptr {self.object(sys.intern(name))}", hint=name)
                self.keep(value)
                self.require_equal("ptr", value, "null", miss)
        pairs = zip(type.names, type.items, strict=True)
        return [leaf for name, item in pairs for leaf in self.unbox(item, values[name], miss)]

    def item(self, table: str, key: str, miss: str) -> str:
        lookup = self.api("zyg_lookup", "ptr", "ptr, ptr")
        value = self.e.call("ptr", lookup, f"ptr {table}", f"ptr {self.object(sys.intern(key))}", hint="item")
        return self.hold(self.checked(value, miss))

    def unbox_dict(self, type: DictType, o: str, miss: str) -> list[str]:
        """A dict that has just these keys, in this order."""
        e = self.e
        self.meet(o, "dict")
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
        self.meet(o, "list")
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

        if isinstance(type.item, Sequence):
            self.tables.append(o)
        function = self.object(columns(type), "columns", type)
        call = self.api("zyg_call_or_null", "ptr", "ptr, ptr")
        made = self.checked(e.call("ptr", call, f"ptr {function}", f"ptr {o}", hint="columns"), miss)
        self.keep(made)
        length = self.field("ptr", made, layout.TUPLE_ITEMS, "length")
        leaves = self.unbox(I64, length, miss)
        for index, array in enumerate(children(type)[1:]):
            leaves += self.unbox(array, self.field("ptr", made, layout.TUPLE_ITEMS + 8 * (index + 1), "column"), miss)
        if isinstance(type.item, Struct) and type.item.lent:
            place = layout.TUPLE_ITEMS + 8 * len(children(type))
            self.tables.append(self.field("ptr", made, place, "objects"))
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
            value = e.call("ptr", lookup, f"ptr {table}", f"ptr {self.object(sys.intern(name))}", hint=name)
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

    def unbox_fortran(self, type: Fortran, o: str, miss: str) -> list[str]:
        """The components of the transpose."""
        item = type.transpose
        numbers = TYPE_NUMBERS[item.dtype] if isinstance(item, Array) else [np.dtype(complex).num]
        base, shape, _ = self.unbox_ndarray(item, numbers, o, miss, layout.FLAG_F_CONTIGUOUS)
        for length in shape:
            self.e.require(self.e.let(f"icmp sgt i64 {length}, 1"), miss)
        return base + shape[::-1] + ["2"] * isinstance(item, ComplexArray)

    def unbox_sized(self, type: Sized, o: str, miss: str) -> list[str]:
        leaves = self.unbox(type.array, o, miss)
        for axis, length in enumerate(leaves[2 : 2 + type.array.ndim]):
            self.e.require(self.e.let(f"icmp {'eq' if axis in type.ones else 'ne'} i64 {length}, 1"), miss)
        return leaves

    def unbox_ndarray(
        self,
        type: Array | ComplexArray,
        type_numbers: list[int],
        o: str,
        miss: str,
        contiguous: int = layout.FLAG_C_CONTIGUOUS,
    ) -> tuple[list[str], list[str], list[str]]:
        """An ndarray proper (or one of a mapped file), of the right dtype in native byte order, aligned, writable or not
        as the type says: data and owner, shape, strides."""
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
        asked = layout.FLAG_ALIGNED | layout.FLAG_WRITEABLE | (contiguous if type.layout == "C" else 0)
        # What code for arrays that cannot be written gives cannot be written, either: it is for no others.
        wanted = asked if type.writable else asked & ~layout.FLAG_WRITEABLE
        flags = e.let(f"and i32 {self.field('i32', o, layout.ARRAY_FLAGS)}, {asked}")
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


_METHODS: dict[type, str] = {
    NpScalar: "numpy", type(NONE): "none", Const: "const", Tuple: "tuple", ListType: "list", RangeType: "range",
    Sequence: "sequence", DictType: "dict", ObjectOf: "object", Shared: "shared", Opaque: "opaque",
    Struct: "struct", Optional: "optional", Closure: "closure", Array: "array", PullbackType: "pullback",
    Complex: "complex", ComplexArray: "complex_array", Fortran: "fortran",
    Sized: "sized",
}  # fmt: skip


def _empty_ints(length: int) -> np.ndarray:
    return np.empty(length, np.int64)
