"""Evaluate what is constant, and simplify by identities that hold exactly.

Input: any function.  Output: the same function with fewer and cheaper instructions.  Constants are evaluated by the op
table's `eval`; algebraic identities are used only where they hold for every IEEE value (x + 0.0 stays: x may be -0.0)
or where the instruction's fast-math flags allow it.  Branches on constants are left to simplify_cfg.

`run(function, final=True)` also drops `stop` and `checkpoint`, which mean something to differentiation only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..analysis import reverse_postorder
from ..core import Const, Function, Instr, Value, const
from ..interpret import machine_value
from ..ops import OPS, VIEWS
from ..types import BOOL, F32, F64, I32, I64, OBJECT, U8, Array, Scalar, Type
from .rewriting import replace_elsewhere, same, substitute

# What a rule gives: a value to use instead, a new (op, operands) for the instruction, or None.
Folded = Value | tuple[str, list[Value]] | None


def run(function: Function, final: bool = False) -> bool:
    folder = _Folder(function, final)
    return folder.run()


class _Folder:
    def __init__(self, function: Function, final: bool):
        self.function = function
        self.final = final
        self.replaced: dict[Value, Value] = {}
        self.made: dict[Value, Instr] = {}  # by the instructions seen so far; operands are already replaced
        self.changed = False

    def run(self) -> bool:
        replaced, made = self.replaced, self.made
        order = reverse_postorder(self.function)
        for block in order:
            kept = []
            for instr in block.instrs:
                if replaced:
                    substitute(instr, replaced)
                if self.final and instr.op == "checkpoint":
                    continue
                value = self.simplify(instr) if instr.op in _FOLDED else None
                if value is not None:
                    replaced[instr.results[0]] = value
                    self.changed = True
                    continue
                for r in instr.results:
                    made[r] = instr
                kept.append(instr)
            if len(kept) < len(block.instrs):
                block.instrs[:] = kept
                self.changed = True
        replace_elsewhere(self.function, replaced, order)
        return self.changed

    def simplify(self, instr: Instr) -> Value | None:
        """A value to use instead of the instruction, which may be rewritten in place."""
        for _ in range(8):  # each rewriting makes it simpler; a few suffice
            rule = _RULES.get(instr.op)
            if rule is None and instr.op not in _FOLDABLE:
                return None
            constant = instr.op in _FOLDABLE
            for v in instr.operands:
                if v.type is OBJECT:  # Python's operators promise nothing
                    return None
                constant = constant and isinstance(v, Const)
            if constant:
                folded = evaluate(instr)
                if folded is not None:
                    return folded
            new = rule(self, instr) if rule is not None else None
            if new is None:
                return None
            self.changed = True
            if isinstance(new, Value):
                return new
            instr.op, instr.operands = new
            if "nsw" in instr.attrs:  # promised for other operands
                instr.attrs = {k: v for k, v in instr.attrs.items() if k != "nsw"}
        return None


# ------------------------------------------------------------------------------------------------ evaluation

_FOLDABLE = frozenset(
    name for name, op in OPS.items()
    if op.eval is not None and op.effects in ("pure", "value_check") and op.level == "machine" and name != "stop"
)  # fmt: skip
_EXACT_IN_F32 = frozenset({"add", "sub", "mul", "div", "sdiv", "neg", "abs", "sqrt", "fmin", "fmax", "minimum", "maximum", "floor", "ceil",
                           "trunc", "rint", "copysign", "select"})  # fmt: skip


def evaluate(instr: Instr) -> Const | None:
    """The constant that an instruction with constant operands gives; None if that is not known exactly, or it
    raises."""
    type = instr.results[0].type
    if not isinstance(type, Scalar):
        return None
    operand_types = {v.type for v in instr.operands}
    if F32 in operand_types and instr.op not in _EXACT_IN_F32 and type is not BOOL:
        return None
    function = OPS[instr.op].eval
    assert function is not None
    operands = [v.value for v in instr.operands if isinstance(v, Const)]
    assert len(operands) == len(instr.operands)
    try:
        value = function(*operands)
    except (ArithmeticError, ValueError, TypeError):
        return None
    return literal(value, type)


def literal(value: Any, type: Scalar) -> Const | None:
    """`value` as a constant of the type, rounded or wrapped as the machine does."""
    if type.kind in "iu" and not isinstance(value, int):
        return None
    return const(machine_value(value, type), type)


# ------------------------------------------------------------------------------------------- algebraic rules


def _value(v: Value) -> Any:
    return v.value if isinstance(v, Const) else None


def _is(v: Value, number: float) -> bool:
    """Whether `v` is the literal `number`, sign of zero included."""
    if not isinstance(v, Const) or isinstance(v.value, bool) or v.value != number:
        return False
    return number != 0 or not isinstance(v.value, float) or math.copysign(1.0, v.value) == math.copysign(1.0, number)


def _flags(instr: Instr) -> frozenset[str]:
    return instr.attrs.get("fast") or frozenset()


def _is_float(instr: Instr) -> bool:
    type = instr.operands[0].type
    return isinstance(type, Scalar) and type.kind == "f"


def _is_int(instr: Instr) -> bool:
    type = instr.operands[0].type
    return isinstance(type, Scalar) and type.kind in "iu"


def _made_by(folder: _Folder, v: Value, op: str) -> Instr | None:
    instr = folder.made.get(v)
    return instr if instr is not None and instr.op == op else None


def _order(folder: _Folder, instr: Instr) -> tuple[Value, Value]:
    """The operands of a commutative op with a literal put second."""
    x, y = instr.operands
    if isinstance(x, Const) and not isinstance(y, Const):
        instr.operands = [y, x]
        folder.changed = True
        return y, x
    return x, y


def _add(folder: _Folder, instr: Instr) -> Folded:
    if not isinstance(instr.operands[0].type, Scalar):
        return None
    x, y = _order(folder, instr)
    if _is_int(instr):
        if _is(y, 0):
            return x
        if instr.op == "add":
            return _add_constants(folder, x, y)
        return None
    if _is(y, -0.0) or (_is(y, 0.0) and "nsz" in _flags(instr)):
        return x
    if negated := _made_by(folder, y, "neg"):
        return "sub", [x, negated.operands[0]]
    if negated := _made_by(folder, x, "neg"):
        return "sub", [y, negated.operands[0]]
    return None


def _add_constants(folder: _Folder, x: Value, y: Value) -> Folded:
    """(a + c) + d -> a + (c + d), exact as integers wrap."""
    inner = _made_by(folder, x, "add")
    if inner is None or not isinstance(y, Const) or not isinstance(inner.operands[1], Const):
        return None
    assert isinstance(y.type, Scalar)
    total = literal(inner.operands[1].value + y.value, y.type)
    assert total is not None
    return "add", [inner.operands[0], total]


def _sub(folder: _Folder, instr: Instr) -> Folded:
    x, y = instr.operands
    if not isinstance(x.type, Scalar):
        return None
    if _is_int(instr):
        if _is(y, 0):
            return x
        if same(x, y):
            return const(0, x.type)
        if instr.op == "sub" and isinstance(y, Const):
            opposite = literal(-y.value, x.type)
            assert opposite is not None
            return "add", [x, opposite]
        return ("neg" if instr.op == "sub" else "cneg", [y]) if _is(x, 0) else None
    if _is(y, 0.0):
        return x
    if _is(x, -0.0):
        return "neg", [y]
    if negated := _made_by(folder, y, "neg"):
        return "add", [x, negated.operands[0]]
    return None


def _mul(folder: _Folder, instr: Instr) -> Folded:
    x, y = _order(folder, instr)
    if not isinstance(x.type, Scalar):
        return None
    if _is(y, 1):
        return x
    if _is(y, -1):
        return "cneg" if instr.op == "cmul" else "neg", [x]
    if _is_int(instr):
        return const(0, x.type) if _is(y, 0) else None
    if isinstance(y, Const) and y.value == 0 and {"nnan", "nsz"} <= _flags(instr):
        return const(0.0, x.type)
    if (a := _made_by(folder, x, "neg")) is not None:
        if (b := _made_by(folder, y, "neg")) is not None:
            return "mul", [a.operands[0], b.operands[0]]
        if isinstance(y, Const):
            return "mul", [a.operands[0], const(-y.value, y.type)]
    return None


def _div(folder: _Folder, instr: Instr) -> Folded:
    x, y = instr.operands
    if not isinstance(y, Const) or not _is_float(instr):
        return None
    if y.value == 1.0:
        return x
    if y.value == -1.0:
        return "neg", [x]
    mantissa, exponent = math.frexp(y.value) if math.isfinite(y.value) else (0.0, 0)
    limit = 126 if y.type is F32 else 1022
    if abs(mantissa) == 0.5 and abs(exponent - 1) < limit:  # a power of two, whose inverse is exact
        return "mul", [x, const(1.0 / y.value, y.type)]
    return None


def _neg(folder: _Folder, instr: Instr) -> Folded:
    inner = _made_by(folder, instr.operands[0], "neg")
    return inner.operands[0] if inner is not None else None


def _pow(folder: _Folder, instr: Instr) -> Folded:
    x, y = instr.operands
    exponent = _value(y)
    if not isinstance(exponent, float) or not isinstance(x.type, Scalar):
        return None
    if exponent == 1.0:
        return x
    if exponent == 2.0:
        return "mul", [x, x]
    if exponent == 0.0:
        return const(1.0, x.type)
    return None


def _ipow(folder: _Folder, instr: Instr) -> Folded:
    x, n = instr.operands
    return {0: const(1, x.type), 1: x, 2: ("cmul", [x, x])}.get(_value(n))


def _floordiv(folder: _Folder, instr: Instr) -> Folded:
    x, y = instr.operands
    return _cut(folder, x) if _is_int(instr) and _is(y, 1) else None


def _cut(folder: _Folder, x: Value) -> Folded:
    """`x` as the result of an operation that carries no derivative."""
    return x if folder.final or isinstance(x, Const) or x.type is BOOL else ("stop", [x])


def _mod(folder: _Folder, instr: Instr) -> Folded:
    """Of 1, it is 0, but carries the derivative of `x`."""
    x, y = instr.operands
    unused = folder.final or isinstance(x, Const) or x.type is BOOL
    return const(0, x.type) if _is_int(instr) and _is(y, 1) and unused else None


def _abs(folder: _Folder, instr: Instr) -> Folded:
    x = instr.operands[0]
    if _made_by(folder, x, "abs"):
        return x
    if _is_float(instr) and (negated := _made_by(folder, x, "neg")):
        return "abs", [negated.operands[0]]
    return None


def _select(folder: _Folder, instr: Instr) -> Folded:
    c, x, y = instr.operands
    if isinstance(c, Const):
        return x if c.value else y
    if same(x, y):
        return x
    if inverted := _made_by(folder, c, "not"):
        return "select", [inverted.operands[0], y, x]
    if x.type is BOOL:
        return _select_bool(c, x, y)
    return None


def _select_bool(c: Value, x: Value, y: Value) -> Folded:
    if _value(x) is True:
        return c if _value(y) is False else ("or", [c, y])
    if _value(y) is False:
        return "and", [c, x]
    if _value(x) is False and _value(y) is True:
        return "not", [c]
    return None


_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}
_MIRRORED = {"eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}


def _not(folder: _Folder, instr: Instr) -> Folded:
    x = instr.operands[0]
    if x.type is not BOOL:
        return None
    made = folder.made.get(x)
    if made is None:
        return None
    if made.op == "not":
        return made.operands[0]
    # for floats, `not (x < y)` also holds if one is nan
    if made.op in _OPPOSITE and (_is_int(made) or (made.op in ("eq", "ne") and _is_float(made))):
        return _OPPOSITE[made.op], list(made.operands)
    return None


def _compare(folder: _Folder, instr: Instr) -> Folded:
    x, y = instr.operands
    if not isinstance(x.type, Scalar) or not isinstance(y.type, Scalar):
        return None
    if isinstance(x, Const) and not isinstance(y, Const):
        return _MIRRORED[instr.op], [y, x]
    if x.type.kind != "f" and same(x, y):
        return const(instr.op in ("eq", "le", "ge"), BOOL)
    if x.type is BOOL and isinstance(y, Const) and instr.op in ("eq", "ne"):
        return x if y.value == (instr.op == "eq") else ("not", [x])
    return None


def _and(folder: _Folder, instr: Instr) -> Folded:
    x, y = _order(folder, instr)
    if same(x, y):
        return _cut(folder, x)
    if x.type is BOOL and isinstance(y, Const):
        return x if y.value else y
    if _is_int(instr) and _is(y, 0):
        return y
    return _cut(folder, x) if _is_int(instr) and _is(y, -1) else None


def _or(folder: _Folder, instr: Instr) -> Folded:
    x, y = _order(folder, instr)
    if same(x, y):
        return _cut(folder, x)
    if x.type is BOOL and isinstance(y, Const):
        return y if y.value else x
    return _cut(folder, x) if _is_int(instr) and _is(y, 0) else None


def _xor(folder: _Folder, instr: Instr) -> Folded:
    x, y = _order(folder, instr)
    if x.type is BOOL and isinstance(y, Const):
        return ("not", [x]) if y.value else x
    return _cut(folder, x) if _is_int(instr) and _is(y, 0) else None


def _shift(folder: _Folder, instr: Instr) -> Folded:
    return _cut(folder, instr.operands[0]) if _is(instr.operands[1], 0) else None


def _cast(folder: _Folder, instr: Instr) -> Folded:
    x, type = instr.operands[0], instr.results[0].type
    if x.type == type:
        return x
    assert isinstance(type, Scalar)
    if isinstance(x, Const):
        return _cast_constant(x, type)
    inner = _made_by(folder, x, "cast")
    if inner is not None and _exact(inner.operands[0].type, x.type):
        source = inner.operands[0]
        return source if source.type == type else ("cast", [source])
    return None


def _cast_constant(x: Const, type: Scalar) -> Const | None:
    if not isinstance(x.value, (bool, int, float)):
        return None
    if type is BOOL:
        return const(bool(x.value), BOOL)
    if type.kind == "f":
        try:
            return literal(float(x.value), type)
        except OverflowError:
            return None
    if isinstance(x.value, float):
        if not math.isfinite(x.value):
            return None
        whole = int(x.value)
        result = literal(whole, type)
        return result if result is not None and result.value == whole else None
    return literal(int(x.value), type)


_EXACT_CASTS = {
    BOOL: {U8, I32, I64, F32, F64}, U8: {I32, I64, F32, F64}, I32: {I64, F64}, F32: {F64},
}  # fmt: skip


def _exact(source: Type, to: Type) -> bool:
    """Whether a cast loses nothing."""
    return isinstance(source, Scalar) and to in _EXACT_CASTS.get(source, ())


def _stop(folder: _Folder, instr: Instr) -> Folded:
    x = instr.operands[0]
    return x if folder.final or isinstance(x, Const) or _made_by(folder, x, "stop") else None


def _slope(folder: _Folder, instr: Instr) -> Folded:
    return instr.operands[0] if folder.final else None


def _dim(folder: _Folder, instr: Instr) -> Folded:
    """The length of what was made here is known where it was made."""
    axis = instr.attrs["axis"]
    made = folder.made.get(instr.operands[0])
    if made is None:
        return None
    if made.op == "alloc":
        return made.operands[axis]
    if made.op in ("reshape", "broadcast"):
        return made.operands[1 + axis]
    if made.op == "view":
        return _dim_of_view(instr, made, axis)
    if made.op == "transpose":
        sources = [k for k, to in enumerate(made.attrs["axes"]) if to == axis]
        if len(sources) == 1:
            instr.attrs = {"axis": sources[0]}
            return "dim", [made.operands[0]]
    return None


def _dim_of_view(instr: Instr, view: Instr, axis: int) -> Folded:
    at = 1  # the next operand
    kept = -1  # the axis of the result
    dimension = -1
    for letter in view.attrs["spec"]:
        kept += letter != "i"
        dimension += letter != "n"
        if kept == axis and letter == "n":
            return const(1)
        if kept == axis and letter == "s":
            return view.operands[at + 1]
        if kept == axis and letter == ":":
            instr.attrs = {"axis": dimension}
            return "dim", [view.operands[0]]
        at += {"i": 1, "s": 3, ":": 0, "n": 0}[letter]
    return None


def _reshapable(folder: _Folder, instr: Instr) -> Folded:
    type = instr.operands[0].type
    return const(True) if isinstance(type, Array) and type.layout == "C" else None


def _same(folder: _Folder, instr: Instr) -> Folded:
    x, y = instr.operands
    return const(True) if x is y and isinstance(x.type, Array) else None


def _overlap(folder: _Folder, instr: Instr) -> Folded:
    """What is made here has no memory in common with what is made elsewhere, or comes from outside."""
    roots = []
    for v in instr.operands:
        while (made := folder.made.get(v)) is not None and made.op in VIEWS:
            v = made.operands[0]
        new = made is not None and made.op == "alloc"
        if not new and v not in folder.function.params:
            return None
        roots.append((v, new))
    (x, x_new), (y, y_new) = roots
    return const(False) if x is not y and (x_new or y_new) else None


_RULES: dict[str, Callable[[_Folder, Instr], Folded]] = {
    "add": _add, "cadd": _add, "sub": _sub, "csub": _sub, "mul": _mul, "cmul": _mul, "div": _div, "sdiv": _div,
    "neg": _neg, "pow": _pow, "ipow": _ipow, "floordiv": _floordiv, "mod": _mod,
    "abs": _abs, "select": _select, "not": _not, "and": _and, "or": _or, "xor": _xor, "shl": _shift, "shr": _shift,
    **dict.fromkeys(_OPPOSITE, _compare),
    "cast": _cast, "stop": _stop, "slope": _slope, "dim": _dim, "reshapable": _reshapable, "same": _same,
    "overlap": _overlap,
}  # fmt: skip
_FOLDED = _FOLDABLE.union(_RULES)
