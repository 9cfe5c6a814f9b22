"""From a code object to untyped SSA: a method per instruction of the vocabulary of `bytecode`, under the instruction's name.

Input is a code object, output a Function of Python ops on `object` whose parameters are the code's arguments, in the
order of `co_varnames`.  machine.py executes the instructions symbolically.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from types import CodeType
from typing import Any

from ..ir.analysis import is_call_of
from ..ir.core import Const, Function, Instr, Value
from ..ir.types import BOOL, F64, I64, NONE, OBJECT
from .machine import NULL, Machine, Null, Place, untouched

_INT64 = range(-(2**63), 2**63)


_captured: dict[tuple[int, Any], tuple[weakref.ref[CodeType], Function]] = {}


def capture(code: CodeType, leave: Any = None) -> Function:
    """The SSA of a code object, untyped. It is cached: clone it before changing it. `leave` is called with the iterator of a loop where
    the loop is left from the middle; `iter` has the attribute "alone" where it is of what a call has just given, and "left" then, if
    its loop may be left so.

    >>> print(capture((lambda x: x * x + 1.0).__code__))  # doctest: +ELLIPSIS
    func @lambda(%x: object) -> object {...
    entry:
      %0 = mul %x, %x : object...
      %1 = add %0, 1.0 : object...
      return %1...
    }
    """
    key = id(code), leave
    found = _captured.get(key)
    if found is not None and found[0]() is code:
        shared = found[1]
    else:
        captured = Capture(code)
        captured.leave = leave
        shared = captured.run()
        if leave is not None:
            _settle_leaving(shared, leave)
        _captured[key] = (weakref.ref(code, functools.partial(_captured.pop, key)), shared)
    # The cache must not keep the code alive, so the function that it holds does not refer to it.
    function = Function(shared.name, shared.blocks, shared.results)
    function.attrs = {**shared.attrs, "code": code}
    return function


def _settle_leaving(function: Function, leave: Any) -> None:
    """Drop the calls of `leave` with what is no iterator of a loop; note which loops there are others of."""
    iterators = {i.result: i for _, i in function.instructions() if i.op == "iter"}
    left = {i.operands[1] for _, i in function.instructions() if is_call_of(i, leave)}
    for iterator, made in iterators.items():
        if "alone" in made.attrs and iterator in left:
            made.attrs["left"] = True
    for block in function.blocks:
        block.instrs[:] = [i for i in block.instrs if not is_call_of(i, leave) or i.operands[1] in iterators]


def constant(value: Any) -> Const:
    """A constant as an operand; integers past 64 bits are objects."""
    kind = type(value)
    if kind is float:
        return Const(value, F64)
    if kind is int:
        return Const(value, I64 if value in _INT64 else OBJECT)
    if kind is bool:
        return Const(value, BOOL)
    return Const(value, NONE if value is None else OBJECT)


# Methods that differ in the op only.


def _loader(op: str) -> Callable[[Capture, str], None]:
    def load(self: Capture, name: str) -> None:
        self.push(self.emit(op, attrs={"name": name}))

    return load


def _storer(op: str) -> Callable[[Capture, str], None]:
    def store(self: Capture, name: str) -> None:
        self.emit_typed(op, (), self.pop(), name=name)

    return store


def _deleter(op: str) -> Callable[[Capture, str], None]:
    def delete(self: Capture, name: str) -> None:
        self.emit_typed(op, (), name=name)

    return delete


def _builder(op: str) -> Callable[[Capture, int], None]:
    def build(self: Capture, count: int) -> None:
        self.push(self.emit(op, *self.pop_many(count)))

    return build


def _extender(op: str) -> Callable[[Capture, int], None]:
    def extend(self: Capture, depth: int) -> None:
        item = self.pop()
        self.emit_typed(op, (), self.peek(depth), item)

    return extend


class Capture(Machine):
    """The machine with its instructions."""

    leave: Any = None  # see `capture`

    # ---------------------------------------------------------------------------------------- control flow

    def _branch_if(self, jump_if: bool) -> None:
        condition, negated = self.condition()
        falls, jumps = self._successors()
        if jump_if != negated:
            self.branch(condition, jumps, falls)
        else:
            self.branch(condition, falls, jumps)

    def POP_JUMP_IF_FALSE(self, arg: int) -> None:
        self._branch_if(False)

    def POP_JUMP_IF_TRUE(self, arg: int) -> None:
        self._branch_if(True)

    def _branch_if_none(self, jump_if: bool) -> None:
        test = self.emit("is", self.pop(), Const(None, NONE))
        (condition,) = self.emit_typed("truth", (BOOL,), test)
        falls, jumps = self._successors()
        self.branch(condition, *((jumps, falls) if jump_if else (falls, jumps)))

    def POP_JUMP_IF_NONE(self, arg: int) -> None:
        self._branch_if_none(True)

    def POP_JUMP_IF_NOT_NONE(self, arg: int) -> None:
        self._branch_if_none(False)

    def _jump_or_pop(self, jump_if: bool) -> None:
        """The jump keeps the value, falling through drops it; the dropped place is not read."""
        value = self.peek(1)
        if value.type is OBJECT:
            (condition,) = self.emit_typed("truth", (BOOL,), value)
        else:
            assert isinstance(value, Const)
            condition = Const(bool(value.value), BOOL)
        falls, jumps = self._successors()
        self.entered.setdefault(falls, untouched(self.stack[:-1]))
        self.branch(condition, *((jumps, falls) if jump_if else (falls, jumps)))

    def JUMP_IF_FALSE_OR_POP(self, arg: int) -> None:
        self._jump_or_pop(False)

    def JUMP_IF_TRUE_OR_POP(self, arg: int) -> None:
        self._jump_or_pop(True)

    def JUMP_FORWARD(self, arg: int) -> None:
        self.jump(self.basic.successors[0])

    JUMP_BACKWARD = JUMP_FORWARD

    def FOR_ITER(self, arg: int) -> None:
        iterator = self.peek(1)
        more, item = self.emit_typed("next", (BOOL, OBJECT), iterator)
        body, done = self._successors()
        self.entered.setdefault(done, untouched(self.stack[:-1]))
        self.push(item)
        self.branch(more, body, done)

    def RETURN_VALUE(self, arg: int) -> None:
        self._append(Instr("return", [self.pop()]))

    def RAISE_VARARGS(self, count: int) -> None:
        self.may_raise = True
        self._append(Instr("raise", self.pop_many(count)))

    def RERAISE(self, arg: int) -> None:
        self.may_raise = True
        self._append(Instr("reraise", [self.pop()]))

    # --------------------------------------------------------------------------------------- operand stack

    def POP_TOP(self, arg: int) -> None:
        item = self.stack[-1]
        if self.leave is not None and not isinstance(item, (Null, Const)):
            value = self.peek(1)
            # What was made in this block is none but by a loop of which nothing was taken.
            if not isinstance(value, Const) and (isinstance(item, Place) or not self._made_here(value)):
                may_raise = self.may_raise
                self.emit("call_object", Const(self.leave, OBJECT), value, attrs={"keywords": ()})
                self.may_raise = (
                    may_raise  # that does not; a handler would get what a comprehension is about to put back
                )
        self.stack.pop()

    def END_SEND(self, arg: int) -> None:
        del self.stack[-2]

    def PUSH_NULL(self, arg: int) -> None:
        self.stack.append(NULL)

    RETURN_GENERATOR = PUSH_NULL

    def SWAP(self, depth: int) -> None:
        stack = self.stack
        stack[-1], stack[-depth] = stack[-depth], stack[-1]

    def COPY(self, depth: int) -> None:
        self.push(NULL if self.stack[-depth] is NULL else self.peek(depth))

    def LOAD_CONST(self, value: Any) -> None:
        self.stack.append(constant(value))

    # ------------------------------------------------------------------------------------------- variables

    def LOAD_FAST(self, index: int) -> None:
        cell = self.cells.get(index)
        self.stack.append(self._read_local(index) if cell is None else cell)

    def LOAD_FAST_CHECK(self, index: int) -> None:
        if self.bound >> index & 1:
            self.LOAD_FAST(index)
            return
        self.stack.append(self._checked(index))

    def _checked(self, index: int) -> Value:
        """The variable's value, or UnboundLocalError; from here on it is known to be bound."""
        name = self.names[index]
        value = self.emit("checked_local", self._read_local(index), name=name, attrs={"name": name})
        self.has_checks = True
        self._write_local(index, value)
        self.bound |= 1 << index
        return value

    def STORE_FAST(self, index: int) -> None:
        value = self.pop()
        if isinstance(value, Const) and value.value is None:
            self._forget(index)
        self._write_local(index, value)
        if index not in self.restored:
            self.bound |= 1 << index

    def DELETE_FAST(self, index: int) -> None:
        if not self.bound >> index & 1 and not self._just_bound(index):
            self._checked(index)
        if not self._just_bound(index):
            self._read_local(index)  # settles the value where blocks meet
        self._forget(index)
        self._write_local(index, self._initial(index))
        self.bound &= ~(1 << index)

    def _forget(self, index: int) -> None:
        """A variable is deleted, or set to None: tell that its object may go, where it is known without a new block
        parameter."""
        block, variables = self.block, self.variables
        value = None
        while value is None:
            value = variables.current.get(block, {}).get(index)
            edges = variables.edges.get(block, [])
            if value is None and (block not in variables.sealed or len(edges) != 1 or block.params):
                return  # blocks that have parameters already are handlers: the variable may not be live in them
            if value is None:
                block = edges[0][0]
        value = variables.resolve(value)
        if not isinstance(value, Const) and value is not self.unbound_marker:
            self.emit_typed("forget", (), value, name=self.names[index])

    def _just_bound(self, index: int) -> bool:
        """`name = None; del name` is how a handler forgets its exception."""
        before = self.body.instructions[self.index - 1]
        return self.index > self.basic.start and before.op == "STORE_FAST" and before.arg == index

    def LOAD_FAST_AND_CLEAR(self, index: int) -> None:
        self.stack.append(self._read_local(index))
        self._write_local(index, self._initial(index))

    def MAKE_CELL(self, index: int) -> None:
        if index in self.cells or (self.basic is self._first and self._in_prologue()):
            return
        initial = self._read_local(index)
        operands = [] if initial is self.unbound_marker else [initial]
        name = self.names[index]
        self._write_local(index, self.emit("new_cell", *operands, name=name, attrs={"name": name}))

    def _in_prologue(self) -> bool:
        instructions = self.body.instructions
        return all(instructions[k].op == "MAKE_CELL" for k in range(self.index))

    def _cell(self, index: int) -> Value:
        cell = self.cells.get(index)
        return self._read_local(index) if cell is None else cell

    def LOAD_DEREF(self, index: int) -> None:
        name = self.names[index]
        self.push(self.emit("get_cell", self._cell(index), name=name, attrs={"name": name}))

    def STORE_DEREF(self, index: int) -> None:
        self.emit_typed("set_cell", (), self._cell(index), self.pop())

    def DELETE_DEREF(self, index: int) -> None:
        self.emit_typed("del_cell", (), self._cell(index), name=self.names[index])

    def LOAD_FROM_DICT_OR_DEREF(self, index: int) -> None:
        self.push(self.emit("class_deref", self.pop(), self._cell(index), attrs={"name": self.names[index]}))

    LOAD_GLOBAL, STORE_GLOBAL, DELETE_GLOBAL = _loader("global"), _storer("set_global"), _deleter("del_global")
    LOAD_NAME, STORE_NAME, DELETE_NAME = _loader("name"), _storer("set_name"), _deleter("del_name")

    def LOAD_LOCALS(self, arg: int) -> None:
        self.push(self.emit("locals"))

    def LOAD_FROM_DICT_OR_GLOBALS(self, name: str) -> None:
        self.push(self.emit("dict_or_global", self.pop(), attrs={"name": name}))

    def SETUP_ANNOTATIONS(self, arg: int) -> None:
        self.emit_typed("setup_annotations", ())

    # ------------------------------------------------------------------------------------------- operators

    def BINARY_OP(self, op: str) -> None:
        right, left = self.pop(), self.pop()
        self.push(self.arith(op, left, right))

    COMPARE_OP = BINARY_OP

    def UNARY_NEGATIVE(self, arg: int) -> None:
        self.push(self.arith("neg", self.pop()))

    def UNARY_POSITIVE(self, arg: int) -> None:
        self.push(self.emit("pos", self.pop()))

    def UNARY_INVERT(self, arg: int) -> None:
        self.push(self.arith("invert", self.pop()))

    def UNARY_NOT(self, arg: int) -> None:
        self.push(self.arith("not", self.pop()))

    def IS_OP(self, inverted: bool) -> None:
        right, left = self.pop(), self.pop()
        self.push(self.emit("is_not" if inverted else "is", left, right))

    def CONTAINS_OP(self, inverted: bool) -> None:
        container, item = self.pop(), self.pop()
        found = self.emit("contains", item, container)
        self.push(self.emit("not", found) if inverted else found)

    def BINARY_SUBSCR(self, arg: int) -> None:
        key, container = self.pop(), self.pop()
        self.push(self.emit("getitem", container, key))

    def STORE_SUBSCR(self, arg: int) -> None:
        value, container, key = self.pop_many(3)
        self.emit_typed("setitem", (), container, key, value)

    def DELETE_SUBSCR(self, arg: int) -> None:
        container, key = self.pop_many(2)
        self.emit_typed("delitem", (), container, key)

    def BUILD_SLICE(self, count: int) -> None:
        self.push(self.emit("make_slice", *self.pop_many(count)))

    def BINARY_SLICE(self, arg: int) -> None:
        container, start, stop = self.pop_many(3)
        self.push(self.emit("getitem", container, self.emit("make_slice", start, stop)))

    def STORE_SLICE(self, arg: int) -> None:
        value, container, start, stop = self.pop_many(4)
        self.emit_typed("setitem", (), container, self.emit("make_slice", start, stop), value)

    # ------------------------------------------------------------------------------- attributes and calls

    def LOAD_ATTR(self, name: str) -> None:
        self.push(self.emit("getattr", self.pop(), attrs={"name": name}))

    def LOAD_METHOD(self, name: str) -> None:
        method = self.emit("getattr", self.pop(), attrs={"name": name})
        self.push(NULL)
        self.push(method)

    def STORE_ATTR(self, name: str) -> None:
        value, owner = self.pop_many(2)
        self.emit_typed("setattr", (), owner, value, name=name)

    def DELETE_ATTR(self, name: str) -> None:
        self.emit_typed("delattr", (), self.pop(), name=name)

    def SUPER(self, explicit: bool) -> None:
        """super(class, self), or super() for which class and self need not be loaded."""
        super_type, owner, instance = self.pop_many(3)
        if explicit:
            self.push(self.emit("call_object", super_type, owner, instance, attrs={"keywords": ()}))
            return
        for value in (instance, owner):
            if self.block.instrs[-1].op == "get_cell" and self.block.instrs[-1].results[0] is value:
                self.block.instrs.pop()
        self.push(self.emit("call_object", super_type, attrs={"keywords": ()}))

    def _callable(self) -> list[Value]:
        """The two places below the arguments: the callable, and perhaps its first argument."""
        upper = NULL if self.stack[-1] is NULL else self.peek(1)
        lower = NULL if self.stack[-2] is NULL else self.peek(2)
        del self.stack[-2:]
        return [item for item in (lower, upper) if isinstance(item, Value)]

    def CALL(self, arg: tuple[int, tuple[str, ...]]) -> None:
        count, keywords = arg
        arguments = self.pop_many(count)
        function = self._callable()
        self.push(self.emit("call_object", *function, *arguments, attrs={"keywords": keywords}))

    def CALL_FUNCTION_EX(self, flags: int) -> None:
        arguments = self.pop_many(1 + (flags & 1))
        (function,) = self._callable()
        self.push(self.emit("call_spread", function, *arguments))

    def MAKE_FUNCTION(self, flags: int) -> None:
        code = self.pop()
        assert isinstance(code, Const)
        has = tuple(n for bit, n in enumerate(("defaults", "kwdefaults", "annotations", "closure")) if flags >> bit & 1)
        operands = self.pop_many(len(has))
        self.push(self.emit("make_function", *operands, attrs={"code": code.value, "has": has}))

    def LOAD_BUILD_CLASS(self, arg: int) -> None:
        self.push(self.emit("build_class"))

    def INTRINSIC(self, arg: tuple[str, int]) -> None:
        name, count = arg
        self.push(self.emit("intrinsic", *self.pop_many(count), attrs={"name": name}))

    # ------------------------------------------------------------------------------------------ containers

    BUILD_TUPLE, BUILD_LIST, BUILD_SET = _builder("tuple"), _builder("list"), _builder("set")
    BUILD_STRING = _builder("string")

    def BUILD_MAP(self, count: int) -> None:
        self.push(self.emit("dict", *self.pop_many(2 * count)))

    def BUILD_CONST_KEY_MAP(self, count: int) -> None:
        keys = self.pop()
        assert isinstance(keys, Const)
        self.push(self.emit("frozen_key_dict", *self.pop_many(count), attrs={"keys": keys.value}))

    LIST_APPEND, LIST_EXTEND = _extender("list_append"), _extender("list_extend")
    SET_ADD, SET_UPDATE, DICT_UPDATE = _extender("set_add"), _extender("set_update"), _extender("dict_update")

    def DICT_MERGE(self, depths: tuple[int, int]) -> None:
        container, function = depths
        mapping = self.pop()
        self.emit_typed("dict_merge", (), self.peek(container), mapping, self.peek(function))

    def MAP_ADD(self, depth: int) -> None:
        key, value = self.pop_many(2)
        self.emit_typed("dict_setitem", (), self.peek(depth), key, value)

    def LIST_TO_TUPLE(self, arg: int) -> None:
        self.push(self.emit("list_to_tuple", self.pop()))

    def UNPACK_SEQUENCE(self, count: int) -> None:
        items = self.emit_typed("unpack", (OBJECT,) * count, self.pop(), count=count)
        self.stack.extend(reversed(items))

    def UNPACK_EX(self, arg: int) -> None:
        before, after = arg & 0xFF, arg >> 8
        types = (OBJECT,) * (before + 1 + after)
        items = self.emit_typed("unpack_rest", types, self.pop(), before=before, after=after)
        self.stack.extend(reversed(items))

    def GET_ITER(self, arg: int) -> None:
        attrs: dict[str, Any] = {}
        before = self.body.instructions[self.index - 1].op
        if self.leave is not None and self.index > self.basic.start and before in ("CALL", "CALL_FUNCTION_EX"):
            attrs["alone"] = True  # what a call has just given goes nowhere else
        self.push(self.emit("iter", self.pop(), attrs=attrs))

    def FORMAT_VALUE(self, arg: tuple[str, bool]) -> None:
        conversion, has_spec = arg
        self.push(self.emit("format", *self.pop_many(1 + has_spec), attrs={"conversion": conversion}))

    def CONVERT_VALUE(self, conversion: str) -> None:
        self.push(self.emit("convert", self.pop(), attrs={"conversion": conversion}))

    # ------------------------------------------------------------------------------------------- match

    def GET_LEN(self, arg: int) -> None:
        self.push(self.emit("len_", self.peek(1)))

    def MATCH_SEQUENCE(self, arg: int) -> None:
        self.push(self.emit_typed("match_sequence", (BOOL,), self.peek(1))[0])

    def MATCH_MAPPING(self, arg: int) -> None:
        self.push(self.emit_typed("match_mapping", (BOOL,), self.peek(1))[0])

    def MATCH_KEYS(self, arg: int) -> None:
        self.push(self.emit("match_keys", self.peek(2), self.peek(1)))

    def MATCH_CLASS(self, count: int) -> None:
        subject, cls, names = self.pop_many(3)
        self.push(self.emit("match_class", subject, cls, names, attrs={"count": count}))

    # ----------------------------------------------------------------------------------------- imports

    def IMPORT_NAME(self, name: str) -> None:
        level, names = self.pop_many(2)
        self.push(self.emit("import_name", level, names, attrs={"name": name}))

    def IMPORT_FROM(self, name: str) -> None:
        self.push(self.emit("import_from", self.peek(1), attrs={"name": name}))

    def IMPORT_STAR(self, arg: int) -> None:
        self.emit_typed("import_star", (), self.pop())

    # -------------------------------------------------------------------------------------- exceptions

    def LOAD_ASSERTION_ERROR(self, arg: int) -> None:
        self.push(self.emit("assertion_error"))

    def BEFORE_WITH(self, arg: int) -> None:
        leave, value = self.emit_typed("with_enter", (OBJECT, OBJECT), self.pop())
        self.push(leave)
        self.push(value)

    def WITH_EXCEPT_START(self, arg: int) -> None:
        self.push(self.emit("with_exit", self.peek(4), self.peek(1)))

    def PUSH_EXC_INFO(self, arg: int) -> None:
        exception = self.pop()
        self.push(self.emit("push_exception", exception))
        self.push(exception)

    def POP_EXCEPT(self, arg: int) -> None:
        self.emit_typed("pop_exception", (), self.pop())

    def CHECK_EXC_MATCH(self, arg: int) -> None:
        classes = self.pop()
        self.push(self.emit_typed("check_match", (BOOL,), self.peek(1), classes)[0])

    def CHECK_EG_MATCH(self, arg: int) -> None:
        exception, classes = self.pop_many(2)
        rest, match = self.emit_typed("check_group", (OBJECT, OBJECT), exception, classes)
        self.push(rest)
        self.push(match)

    def PREP_RERAISE_STAR(self, arg: int) -> None:
        original, raised = self.pop_many(2)
        self.push(self.emit("prepare_reraise", original, raised))

    # -------------------------------------------------------------------------------------- generators

    def YIELD_VALUE(self, arg: int) -> None:
        self.push(self.emit("yield", self.pop()))

    def YIELD_FROM(self, arg: int) -> None:
        self.push(self.emit("yield_from", self.pop()))


Capture.methods = {name: method for name, method in vars(Capture).items() if name.isupper()}
