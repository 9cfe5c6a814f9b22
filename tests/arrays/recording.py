"""What NumPy's own test modules call: pytest runs them, rewritten so that calls, operators and subscripts go by a recorder."""

from __future__ import annotations

import ast
import contextlib
import importlib.machinery
import importlib.util
import operator
import os
import random
import sys
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .registered import entries

# The element types of compiled code, and how large an array may be to be kept.
TYPES = frozenset("dfliB?D")
SIZE, LENGTH = 4096, 32

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.MatMult: "@",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<",
    ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.USub: "-", ast.UAdd: "+", ast.Invert: "~",
}  # fmt: skip

UNARY: dict[str, Callable[[Any], Any]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod,
    "**": operator.pow, "@": operator.matmul, "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift,
    ">>": operator.rshift, "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv, "//=": operator.ifloordiv, "%=": operator.imod,
    "**=": operator.ipow, "@=": operator.imatmul, "&=": operator.iand, "|=": operator.ior, "^=": operator.ixor, "<<=": operator.ilshift,
    ">>=": operator.irshift,
}  # fmt: skip


@dataclass(frozen=True)
class Call:
    """`form` says how it is written: a function, a method of the first argument, an operator (with two operands or one,
    in place), or a subscript that is read or written; `name` is what tests of zyg call what is called."""

    form: str
    name: str
    target: Any
    args: tuple[Any, ...]
    keywords: dict[str, Any]


class Outside(Exception):
    """A value that compiled code is not meant for."""


class Recorder:
    """Keeps calls, a few of each signature."""

    def __init__(self, keep: int) -> None:
        self.keep = keep
        self.calls: list[Call] = []
        self.seen = 0
        self.outside = 0
        self._counts: dict[Hashable, int] = {}
        known = entries()
        self._methods = {t[1]: name for name, t in known.items() if isinstance(t, tuple) and t[0] is np.ndarray}
        self._makers = {t[0]: name for name, t in known.items() if isinstance(t, tuple) and t[1] == "__getitem__"}
        self._functions = {id(t): (name, t) for name, t in known.items() if callable(t)}
        self._functions.update({id(getattr(np, n)): (f"numpy.{n}", getattr(np, n)) for n in ("abs", "bool")})

    def note(self, form: str, name: str, target: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self.seen += 1
        try:
            key = (form, name, kind(args), tuple(sorted((k, kind(v)) for k, v in keywords.items())))
            count = self._counts.get(key, 0)
            if count >= self.keep:
                return
            self._counts[key] = count + 1
            memo: dict[int, Any] = {}
            kept = {k: copied(v, memo) for k, v in keywords.items()}
            self.calls.append(Call(form, name, target, copied(args, memo), kept))
        except Outside:
            self.outside += 1

    # ------------------------------------------------------------------------------- what rewritten modules call

    def call(self, function: Any, /, *args: Any, **keywords: Any) -> Any:
        self.called(function, args, keywords)
        return function(*args, **keywords)

    def called(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        own = getattr(function, "__self__", None)
        name = getattr(function, "__name__", "")
        if id(function) in self._functions:
            self.note("function", *self._functions[id(function)], args, keywords)
        elif type(own) is np.ndarray and name in self._methods:
            self.note("method", self._methods[name], name, (own, *args), keywords)
        elif isinstance(own, np.ufunc) and name in ("reduce", "accumulate", "outer", "at", "reduceat"):
            self.note("function", f"numpy.{own.__name__}.{name}", function, args, keywords)
        elif name in ("assert_raises", "raises", "assert_raises_regex", "assert_warns", "warns") and len(args) > 1:
            rest = args[2:] if name == "assert_raises_regex" else args[1:]
            if rest and callable(rest[0]):
                self.called(rest[0], rest[1:], keywords)

    def unary(self, sign: str, v: Any) -> Any:
        if isinstance(v, np.ndarray):
            self.note("operator", sign, None, (v,), {})
        return UNARY[sign](v)

    def binary(self, sign: str, v: Any, other: Any) -> Any:
        if isinstance(v, np.ndarray) or isinstance(other, np.ndarray):
            self.note("operator", sign, None, (v, other), {})
        return BINARY[sign](v, other)

    def get(self, v: Any, key: Any) -> Any:
        if type(v) is np.ndarray:
            self.note("read", "[]", None, (v, key), {})
        elif type(v) in self._makers:
            self.note("read", self._makers[type(v)], None, (Made(self._makers[type(v)]), key), {})
        return v[key]

    def set(self, value: Any, v: Any, key: Any) -> None:
        if type(v) is np.ndarray:
            self.note("write", "[] =", None, (v, key, value), {})
        v[key] = value


@dataclass(frozen=True)
class Made:
    """What stands in front of brackets without being an array: np.r_."""

    name: str


# --------------------------------------------------------------------------------------------------------------- values


def kind(v: Any) -> Hashable:
    """What calls of one signature have in common; Outside if compiled code is not meant for it."""
    if isinstance(v, (np.ndarray, np.generic)):
        if (
            type(v) is not np.ndarray
            and not isinstance(v, np.generic)
            or v.dtype.char not in TYPES
            or not v.dtype.isnative
        ):
            raise Outside
        if v.size > SIZE or (isinstance(v, np.ndarray) and not v.flags.aligned):
            raise Outside
        special = v.dtype.kind in "fc" and not bool(np.isfinite(v).all())
        flags = (v.flags.c_contiguous, v.flags.f_contiguous, v.flags.writeable) if isinstance(v, np.ndarray) else None
        return (v.dtype.char, tuple(min(n, 3) for n in v.shape), flags, special)
    if v is None or v is Ellipsis or type(v) is str:
        return v
    if type(v) is bool:
        return (bool, v)
    if type(v) is int:
        if abs(v) >= 2**63:
            raise Outside
        return max(-4, min(4, v))
    if type(v) in (float, complex):
        return (type(v), v == 0, v == v, abs(v) == np.inf)
    if type(v) is slice:
        return (slice, kind(v.start), kind(v.stop), kind(v.step))
    if type(v) in (tuple, list):
        if len(v) > LENGTH:
            raise Outside
        return (type(v), *map(kind, v))
    if isinstance(v, Made):
        return v
    if isinstance(v, np.dtype):  # (NumPy crashes where one of its own tests' types is compared with float)
        if v.char not in TYPES:
            raise Outside
        return ("dtype", v.char)
    if (
        v in (float, int, bool, complex)
        or isinstance(v, type)
        and issubclass(v, np.generic)
        and np.dtype(v).char in TYPES
    ):
        return v
    raise Outside


def copied(v: Any, memo: dict[int, Any]) -> Any:
    """A copy in the same layout; one array that is there twice stays one."""
    if isinstance(v, np.ndarray):
        if id(v) not in memo:
            memo[id(v)] = same_layout(v)
        return memo[id(v)]
    if type(v) in (tuple, list):
        return type(v)(copied(item, memo) for item in v)
    if type(v) is slice:
        return slice(copied(v.start, memo), copied(v.stop, memo), copied(v.step, memo))
    return v


def same_layout(v: np.ndarray) -> np.ndarray:
    """A copy with these strides, in memory of its own."""
    odd = any(s % v.itemsize for s in v.strides)
    if v.size and v.ndim and not any(v.strides):
        made = np.broadcast_to(v.flat[0].copy(), v.shape)
    elif v.size == 0 or odd or 0 in v.strides or v.flags.c_contiguous or v.flags.f_contiguous:
        made = v.copy("K")
    else:
        reach = [(n - 1) * s for n, s in zip(v.shape, v.strides, strict=True)]
        low = sum(r for r in reach if r < 0)
        room = np.zeros(sum(map(abs, reach)) // v.itemsize + 1, v.dtype)
        made = np.ndarray(v.shape, v.dtype, room, -low, v.strides)
        made[...] = v
    if not v.flags.writeable:
        made.flags.writeable = False
    return made


# ------------------------------------------------------------------------------------------------------------ rewriting

RECORDER = "__zyg_recorder__"
PLAIN = {"super", "locals", "globals", "vars", "dir", "eval", "exec"}  # they look at the frame that calls them


class Rewriter(ast.NodeTransformer):
    def recorded(self, node: ast.AST, method: str, *args: ast.expr, keywords: tuple[ast.keyword, ...] = ()) -> ast.Call:
        function = ast.Attribute(ast.Name(RECORDER, ast.Load()), method, ast.Load())
        return ast.copy_location(ast.Call(function, list(args), list(keywords)), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in PLAIN:
            return node
        return self.recorded(node, "call", node.func, *node.args, keywords=tuple(node.keywords))

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return self.recorded(node, "binary", ast.Constant(OPERATORS[type(node.op)]), node.left, node.right)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) != 1 or type(node.ops[0]) not in OPERATORS:
            return node
        return self.recorded(node, "binary", ast.Constant(OPERATORS[type(node.ops[0])]), node.left, node.comparators[0])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if type(node.op) not in OPERATORS:
            return node
        return self.recorded(node, "unary", ast.Constant(OPERATORS[type(node.op)]), node.operand)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        sign = ast.Constant(OPERATORS[type(node.op)] + "=")
        value = self.recorded(node, "binary", sign, ast.Name(node.target.id, ast.Load()), node.value)
        return ast.copy_location(ast.Assign([node.target], value), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return self.recorded(node, "get", node.value, key_of(node.slice))

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) != 1 or not isinstance(target, ast.Subscript):
            return node
        written = self.recorded(node, "set", node.value, target.value, key_of(target.slice))
        return ast.copy_location(ast.Expr(written), node)


def key_of(node: ast.expr) -> ast.expr:
    """The key of a subscript as an expression that stands alone."""
    if isinstance(node, ast.Slice):
        parts = [part or ast.Constant(None) for part in (node.lower, node.upper, node.step)]
        return ast.Call(ast.Name("slice", ast.Load()), parts, [])
    if isinstance(node, ast.Tuple):
        return ast.Tuple([key_of(item) for item in node.elts], ast.Load())
    return node


class Loader(importlib.machinery.SourceFileLoader):
    """Loads a module rewritten, from its source and into no cache."""

    recorder: Recorder

    def get_code(self, fullname: str) -> Any:
        tree = Rewriter().visit(ast.parse(self.get_data(self.path)))
        return compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)

    def exec_module(self, module: Any) -> None:
        module.__dict__[RECORDER] = self.recorder
        super().exec_module(module)


class Finder:
    """Stands before the finders of Python: the modules of these files are rewritten."""

    def __init__(self, recorder: Recorder, files: set[str]) -> None:
        self.recorder = recorder
        self.files = files

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if not name.rpartition(".")[2].startswith("test_"):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.origin not in self.files:
            return None
        return rewritten(name, spec.origin, self.recorder)


def rewritten(name: str, file: str, recorder: Recorder) -> Any:
    """The specification of a module whose calls are recorded."""
    loader = Loader(name, file)
    loader.recorder = recorder
    return importlib.util.spec_from_file_location(name, file, loader=loader)


def recorded(file: str, keep: int) -> Recorder:
    """What the tests of a file call; whether they pass does not matter here."""
    import pytest

    recorder = Recorder(keep)
    finder: Any = Finder(recorder, {file})
    sys.meta_path.insert(0, finder)
    random.seed(0)
    np.random.seed(0)
    with silent():
        pytest.main([file, "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow"])
    sys.meta_path.remove(finder)
    return recorder


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Nothing comes out of this process."""
    kept = [os.dup(1), os.dup(2)]
    with open(os.devnull, "w") as nowhere:
        sys.stdout.flush()
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            sys.stdout.flush()
            for n, descriptor in enumerate(kept, 1):
                os.dup2(descriptor, n)
                os.close(descriptor)
