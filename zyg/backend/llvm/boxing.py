"""From native values to Python objects, written as LLVM code, and calls of Python functions with what is boxed.

`box` makes the object of a structured type from its leaves.  Where native code would gain nothing (structs, closures,
pullbacks) it calls a Python function, `rebuild`, with the boxed leaves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.dtypes import NUMPY_SCALARS
from ...ir.types import (
    BOOL,
    F32,
    F64,
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
    Optional,
    PullbackType,
    RangeType,
    Scalar,
    Sequence,
    Shared,
    Struct,
    Tuple,
    Type,
    children,
    flatten,
)
from .. import cpython as layout
from . import runtime
from .python_objects import TYPE_NUMBERS, saved_layout
from .text import SIZES, Record, by_value, component_types, components, value_types
from .unboxing import Unboxing


class Boxing(Unboxing):
    """Conversions both ways.

    last: whether what is boxed are results, at which nothing in this call looks afterwards.
    """

    last = False

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

    def box_native(self, type: Type, leaves: list[str], ctx: str, failed: str) -> str:
        e = self.e
        if isinstance(type, (Scalar, NpScalar)):
            return self.box_scalar(type, leaves[0])
        if isinstance(type, Complex):
            made = self.api("PyComplex_FromDoubles", "ptr", "double, double")
            return e.call("ptr", made, f"double {leaves[0]}", f"double {leaves[1]}")
        if isinstance(type, Array):
            number = TYPE_NUMBERS[type.dtype][0]
            return self.box_array(type, number, SIZES[type.dtype], leaves[:2], leaves[2:], ctx)
        if isinstance(type, ComplexArray):
            n = type.ndim  # of the array of parts, the last axis goes
            shape_and_strides = leaves[2 : 2 + n] + leaves[3 + n : 3 + 2 * n]
            return self.box_array(type, np.dtype(complex).num, 16, leaves[:2], shape_and_strides, ctx)
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
        self, type: Array | ComplexArray, type_number: int, size: int, base: list[str], numbers: list[str], ctx: str
    ) -> str:
        e = self.e
        data, owner = base
        table = e.alloca(f"[{max(1, len(numbers))} x i64]", "dims")
        for k, number in enumerate(numbers):
            e.set_field("i64", number, table, 8 * k)
        strides = e.at(table, 8 * type.ndim) if type.layout != "C" and type.ndim else "null"
        callee = self.api("zyg_box_array", "ptr", "ptr, ptr, ptr, i32, i32, ptr, ptr, i64, i1")
        boxed = e.call(
            "ptr", callee, f"ptr {ctx}", f"ptr {data}", f"ptr {owner}", f"i32 {type_number}", f"i32 {type.ndim}",
            f"ptr {table}", f"ptr {strides}", f"i64 {size}", f"i1 {str(self.last).lower()}",
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
        function = self.object(self.rebuild(type), "rebuild", type)
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
        arguments = (f"ptr {self.object(function, 'write', write)}", f"ptr {made}", "ptr null")
        self.decref(self.checked(e.call("ptr", call, *arguments), failed))
        e.emit(f"store ptr null, ptr {slot}")
        self.decref(made)

    def save(self, type: PullbackType, leaves: list[str], ctx: str, failed: str) -> str:
        """A capsule with a record of the saved leaves; the first one will own the memory of the context."""
        e = self.e
        record = Record(type.saved)
        if self.saved_slot is None:
            self.saved_slot = self.slot()
        owner = self.saved_slot
        parent = e.let(f"load ptr, ptr {owner}")
        new = self.api("zyg_saved_new", "ptr", "i64, i64, ptr")
        layout_number = f"i64 {saved_layout(type)}"
        made = e.call("ptr", new, layout_number, f"i64 {max(8, record.size)}", f"ptr {parent}", hint="capsule")
        capsule = self.checked(made, failed)
        self.keep(capsule)
        first = e.let(f"icmp eq ptr {parent}, null")
        # Known when running only: pullbacks may be on one path and not on others.
        self.incref(e.let(f"select i1 {first}, ptr {capsule}, ptr null"))
        e.emit(f"store ptr {e.let(f'select i1 {first}, ptr {capsule}, ptr {parent}')}, ptr {owner}")
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
