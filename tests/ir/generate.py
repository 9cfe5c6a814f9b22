"""Random typed functions: nested loops and branches, guards, arrays, variables in memory, stacks, calls.

The functions terminate, index in bounds (behind guards) and use every shape that inference and differentiation make.
"""

from __future__ import annotations

import random

from zyg.ir.builder import Builder
from zyg.ir.core import Block, Function, Instr, Module, Value, const
from zyg.ir.types import BOOL, F64, I64, Array, Stack, Tuple

ARRAY = Array(F64, 1)
CELL = Array(F64, 0)
UNARY = ("sin", "cos", "exp", "tanh", "neg", "abs", "floor", "sqrt", "cbrt", "neg", "neg")
BINARY = ("add", "sub", "mul", "div", "fmin", "fmax", "add", "sub", "mul", "sdiv")
CONSTANTS = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, -4.0, 0.1)
EXTREMES = (2**63 - 1, -(2**63), 2**62, -(2**63) + 1)


class Generator:
    """Builds one function by a random walk over statements."""

    def __init__(self, seed: int, arrays: bool = True):
        self.random = random.Random(seed)
        self.arrays = arrays
        self.module = Module()
        self.budget = self.random.choice((8, 20, 40))

    def make(self) -> Module:
        if self.random.random() < 0.4:
            self.function("helper", 6, 2)
        self.function("main", self.budget, 3)
        return self.module

    def function(self, name: str, budget: int, depth: int) -> None:
        self.f = Function(name)
        entry = Block("entry")
        self.f.blocks.append(entry)
        types = [F64, F64, I64, BOOL] + ([ARRAY, ARRAY] if self.arrays else [])
        entry.params = [Value(t, n) for t, n in zip(types, ("x", "y", "n", "c", "a", "b"), strict=False)]
        self.f.results = (F64, I64, *([ARRAY] if self.arrays else []))
        self.b = Builder(self.f, entry)
        self.left = budget
        scope = list(entry.params)
        self.statements(scope, depth)
        self.finish(scope)
        self.module.add(self.f)

    def finish(self, scope: list[Value]) -> None:
        values = [self.pick(scope, F64), self.pick(scope, I64)]
        if self.arrays:
            values.append(self.pick(scope, ARRAY))
        self.b.ret(*values)

    def pick(self, scope: list[Value], type) -> Value:
        found = [v for v in scope if v.type == type]
        chance = self.random.random()
        if type is F64 and chance < 0.15:
            return const(self.random.choice(CONSTANTS))
        if type is I64 and chance < 0.2:
            return const(self.random.choice(EXTREMES) if chance < 0.02 else self.random.randint(-2, 4))
        if type is BOOL and (chance < 0.1 or not found):
            return const(self.random.random() < 0.5)
        return self.random.choice(found[-6:] if self.random.random() < 0.7 else found)

    def statements(self, scope: list[Value], depth: int) -> None:
        count = self.random.randint(2, 8)
        for _ in range(count):
            if self.left <= 0:
                return
            self.left -= 1
            kinds = [self.arithmetic] * 4 + [self.integers] * 2 + [self.logic] * 2
            if self.arrays:
                kinds += [self.element] * 3 + [self.allocate, self.views, self.cell]
            if depth > 0:
                kinds += [self.conditional, self.loop] * 2 + [self.early_return]
                if self.arrays:
                    kinds += [self.stacks]
            if "helper" in self.module.functions:
                kinds += [self.call]
            kind = self.random.choice(kinds)
            if kind in (self.conditional, self.loop, self.early_return, self.stacks):
                kind(scope, depth - 1)
            else:
                kind(scope)

    # ---------------------------------------------------------------------------------- straight-line code

    def arithmetic(self, scope: list[Value]) -> None:
        r = self.random
        chance = r.random()
        if chance < 0.3:
            value = self.b.op(r.choice(UNARY), self.pick(scope, F64))
        elif chance < 0.75:
            value = self.b.op(r.choice(BINARY), self.pick(scope, F64), self.pick(scope, F64))
        elif chance < 0.82:
            value = self.b.op("pow", self.pick(scope, F64), const(r.choice((0.0, 1.0, 3.0, 0.5))))
        elif chance < 0.9:
            value = self.b.op("select", self.pick(scope, BOOL), self.pick(scope, F64), self.pick(scope, F64))
        else:
            value = self.b.op("cast", self.pick(scope, I64), type=F64)
        scope.append(value)

    def integers(self, scope: list[Value]) -> None:
        r = self.random
        op = r.choice(("add", "sub", "mul", "cadd", "csub", "neg", "mod", "floordiv", "select", "stop", "cneg"))
        x = self.pick(scope, I64)
        if op in ("neg", "cneg", "stop"):
            value = self.b.op(op, x)
        elif op in ("mod", "floordiv"):
            value = self.b.op(op, x, const(r.choice((-3, 1, 2, 7))))
        elif op == "mul":
            value = self.b.op("mod", self.b.op("mul", x, self.pick(scope, I64)), const(1000))
        elif op == "select":
            value = self.b.op("select", self.pick(scope, BOOL), x, self.pick(scope, I64))
        else:
            value = self.b.op(op, x, self.pick(scope, I64))
        scope.append(value)

    def logic(self, scope: list[Value]) -> None:
        r = self.random
        chance = r.random()
        if chance < 0.4:
            type = r.choice((F64, I64, I64))
            compare = r.choice(("lt", "le", "eq", "ne", "gt", "ge"))
            value = self.b.op(compare, self.pick(scope, type), self.pick(scope, type))
        elif chance < 0.6:
            value = self.b.op("not", self.pick(scope, BOOL))
        elif chance < 0.9:
            value = self.b.op(r.choice(("and", "or", "xor")), self.pick(scope, BOOL), self.pick(scope, BOOL))
        else:
            condition = self.b.op("or", self.pick(scope, BOOL), self.pick(scope, BOOL))
            self.b.emit("guard", condition, exc="ValueError", message="not either")
            return
        scope.append(value)

    def index(self, scope: list[Value], array: Value) -> Value:
        """An index with everything that inference puts before an access."""
        length = self.b.op("dim", array, axis=0)
        i = self.pick(scope, I64)
        counters = [v for v in scope if v.name == "i"]
        if counters and self.random.random() < 0.7:
            i = self.random.choice(counters)
            if self.random.random() < 0.6:
                i = self.b.op(self.random.choice(("cadd", "csub", "add")), i, const(self.random.randint(-1, 2)))
        if self.random.random() < 0.6:
            below = self.b.op("lt", i, const(0))
            i = self.b.op("select", below, self.b.op("add", i, length), i)
        inside = self.b.op("and", self.b.op("ge", i, const(0)), self.b.op("lt", i, length))
        self.b.emit("guard", inside, exc="IndexError", message="index out of range")
        return i

    def element(self, scope: list[Value]) -> None:
        array = self.pick(scope, ARRAY)
        i = self.index(scope, array)
        kind = self.random.choice(("load", "load", "store", "accum"))
        if kind == "load":
            scope.append(self.b.op("load", array, i))
        else:
            self.b.emit(kind, array, self.pick(scope, F64), i)

    def allocate(self, scope: list[Value]) -> None:
        length = const(self.random.randint(0, 4))
        array = self.b.op("alloc", length, type=ARRAY, fill="zeros")
        if self.random.random() < 0.5:
            self.b.emit("fill", array, self.pick(scope, F64))
        scope.append(array)

    def views(self, scope: list[Value]) -> None:
        array = self.pick(scope, ARRAY)
        length = self.b.op("dim", array, axis=0)
        half = self.b.op("floordiv", length, const(2))
        start = self.random.choice((const(0), half))
        scope.append(self.b.op("view", array, start, half, const(1), type=ARRAY, spec="s"))

    def cell(self, scope: list[Value]) -> None:
        """A captured variable: a cell that is written here and read later."""
        cells = [v for v in scope if v.type == CELL]
        if not cells or self.random.random() < 0.3:
            cell = self.b.op("alloc", type=CELL, fill="zeros")
            scope.append(cell)
        else:
            cell = self.random.choice(cells)
        kind = self.random.choice(("load", "store", "accum"))
        if kind == "load":
            scope.append(self.b.op("load", cell))
        else:
            self.b.emit(kind, cell, self.pick(scope, F64))

    def call(self, scope: list[Value]) -> None:
        helper = self.module.functions["helper"]
        operands = [self.pick(scope, p.type) for p in helper.params]
        scope += self.b.emit("call", *operands, types=helper.results, callee="helper")

    # ------------------------------------------------------------------------------------------ control flow

    def conditional(self, scope: list[Value], depth: int) -> None:
        then, other, join = (self.b.new_block(n) for n in ("then", "else", "join"))
        types = self.random.sample([F64, I64, BOOL, *([ARRAY] if self.arrays else [])], k=2)
        join.params = [Value(t) for t in types]
        self.b.branch(self.pick(scope, BOOL), then, other)
        for block in (then, other):
            self.b.at(block)
            inner = list(scope)
            self.statements(inner, depth)
            self.b.jump(join, *[self.pick(inner, t) for t in types])
        self.b.at(join)
        scope += join.params

    def early_return(self, scope: list[Value], depth: int) -> None:
        leave, go_on = self.b.new_block("leave"), self.b.new_block("on")
        self.b.branch(self.pick(scope, BOOL), leave, go_on)
        self.b.at(leave)
        if self.random.random() < 0.2:
            self.b.append(Instr("raise", attrs={"exc": "RuntimeError", "message": "left"}))
        else:
            self.finish(scope)
        self.b.at(go_on)

    def loop(self, scope: list[Value], depth: int) -> None:
        """for i in range(start, stop, step), with values carried around, sometimes with a break."""
        r = self.random
        head, body, done = (self.b.new_block(n) for n in ("loop", "body", "done"))
        step = r.choice((1, 1, 1, 2, -1))
        start, stop = const(r.randint(0, 2)), const(r.randint(0, 4))
        if r.random() < 0.5 and self.arrays:
            stop = self.b.op("dim", self.pick(scope, ARRAY), axis=0)
        counters = [v for v in scope if v.name == "i"]
        if counters and r.random() < 0.3:
            start = r.choice(counters)
        elif r.random() < 0.2 and self.arrays:
            stop = self.b.op("csub", self.b.op("dim", self.pick(scope, ARRAY), axis=0), const(1))
        if step < 0:
            start, stop = stop, const(r.randint(-1, 1))
        types = r.choices([F64, I64, BOOL, *([ARRAY] if self.arrays else [])], k=r.randint(0, 3))
        counter = Value(I64, "i")
        head.params = [counter, *(Value(t) for t in types)]
        self.b.jump(head, start, *[self.pick(scope, t) for t in types])
        self.b.at(head)
        more = self.b.op("lt" if step > 0 else "gt", counter, stop)
        self.b.branch(more, body, done)
        self.b.at(body)
        inner = [*scope, *head.params]
        self.statements(inner, depth)
        if r.random() < 0.2:
            go_on = self.b.new_block("on")
            leave = self.b.new_block("break")
            self.b.branch(self.pick(inner, BOOL), leave, go_on)
            self.b.at(leave).jump(done)
            self.b.at(go_on)
        following = self.b.op(r.choice(("add", "cadd")), counter, const(step))
        self.b.jump(head, following, *[self.pick(inner, t) for t in types])
        self.b.at(done)
        scope += head.params

    def stacks(self, scope: list[Value], depth: int) -> None:
        """Push in one loop, pop in another."""
        r = self.random
        types = r.choice(([F64], [ARRAY], [F64, I64], [F64, ARRAY, F64]))
        stack = self.b.op("stack", type=Stack(types[0] if len(types) == 1 else Tuple(tuple(types))))
        count = const(r.randint(0, 4))
        outside = [self.pick(scope, t) for t in types]
        for popping in (False, True):
            head, body, done = (self.b.new_block(n) for n in ("loop", "body", "done"))
            counter, carried = Value(I64, "k"), Value(types[0], "z")
            head.params = [counter, carried]
            self.b.jump(head, const(0), self.pick(scope, types[0]))
            self.b.at(head).branch(self.b.op("lt", counter, count), body, done)
            self.b.at(body)
            inner = [*scope, counter, carried]
            if popping:
                inner += self.b.emit("pop", stack, types=tuple(types))
            self.statements(inner, 0)
            if not popping:
                values = [v if r.random() < 0.4 else self.pick(inner, v.type) for v in outside]
                self.b.emit("push", stack, *values)
            following = self.b.op("add", counter, const(1))
            self.b.jump(head, following, self.pick(inner, types[0]))
            self.b.at(done)
            scope.append(carried)
