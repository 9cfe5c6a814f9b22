"""Python code that C code enters by itself: special methods of operands, callbacks, hooks of classes.

C code is run by `followed`, which finds the Python functions that its operands bring along. As long as the C code runs, these
functions have another code object, a trap: called by C, a trap calls the function as differentiated code does, and notes the
pullback. So CPython's own protocols (reflected operators, `__len__` for a missing `__bool__`, checks of what a method gives)
are followed, each method runs once, and the reverse pass undoes the calls where the operation is undone.

A cotangent of what the C code gave goes to the call that gave this very object, else it is a refusal of all that the calls gave;
a cotangent of an argument of such a call goes to the operand that is the same object, else it is a refusal, too.

Nothing is looked for where all operands are of types that run no Python code (`PLAIN`), or of classes whose methods do nothing
but calculate with attributes of such types.
"""

from __future__ import annotations

import builtins
import ctypes
import gc
import operator
import threading
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from decimal import Decimal
from fractions import Fraction
from types import (
    BuiltinFunctionType,
    CodeType,
    EllipsisType,
    FunctionType,
    MethodType,
    ModuleType,
    NoneType,
    NotImplementedType,
)
from typing import Any

import numpy as np

from zyg.backend.phrases import HASHED
from zyg.errors import Unsupported
from zyg.frontend.capture import capture
from zyg.ir.core import Const, Instr, Value

from ..identity import ByIdentity, note
from . import arithmetic, calls, foreign, iteration, structure
from .cotangents import INERT, Refused, accumulate, is_number, refused_in

# Operators, text, truth and conversions of exactly these types run no Python code, whatever the instance.
PLAIN: frozenset[type] = frozenset(
    {float, int, bool, complex, str, bytes, bytearray, NoneType, EllipsisType, NotImplementedType, range, type}
    | {ModuleType, CodeType, FunctionType, BuiltinFunctionType, MethodType, Fraction, Decimal}
    | {c for c in np.sctypeDict.values() if c is not np.object_}
)

# The same for what only asks how long something is, or whether it is empty.
SIZED: frozenset[type] = PLAIN | {list, tuple, dict, set, frozenset, deque, OrderedDict, defaultdict}

# Those of them that may bring functions along, to be called.
_CALLABLE = frozenset({FunctionType, BuiltinFunctionType, MethodType, type})
_INERT = PLAIN - _CALLABLE

_SEQUENCES = (list, tuple, set, frozenset, deque)

# Modules of the library whose functions call nothing of the user's.
_CLOSED = frozenset(
    "abc typing enum fractions decimal numbers pathlib datetime random re os io inspect threading logging warnings "
    "string uuid types zyg".split()
)

_OWN = "zyg.autodiff.objects.stdlib_"  # what stands there for code in C

# Special methods that C code does not call to ask an operand something: those that differentiated code calls by itself.
_OTHERS = frozenset(
    f"__{name}__"
    for name in "init new del init_subclass set_name class_getitem enter exit call setattr delattr setitem delitem next "
    "post_init getstate setstate reduce reduce_ex copy deepcopy add radd iadd sub rsub isub mul rmul imul truediv rtruediv "
    "itruediv pow rpow ipow matmul rmatmul imatmul neg pos abs".split()
)


# ------------------------------------------------------------------------------------------------------- which functions


def entered(values: Iterable[Any], deep: bool = False) -> list[FunctionType]:
    """The Python functions that C code may call which works on these values: special methods of their classes; with `deep` any
    methods, and the values are called if they can be.

    >>> class Point:
    ...     def __lt__(self, other): return print("compared")
    >>> [f.__name__ for f in entered([Point(), 3.0, "a", [1, 2]])]
    ['__lt__']
    """
    found: dict[int, FunctionType] = {}
    seen: set[int] = set()
    work = list(values)
    plain = _INERT if deep else PLAIN
    while work:
        x = work.pop()
        t = type(x)  # (isinstance would ask `x.__class__`, which may run code)
        if t in plain:
            continue
        if issubclass(t, _SEQUENCES):
            if not plain.issuperset(map(type, x)) and id(x) not in seen:
                seen.add(id(x))
                work.extend(x)
        elif issubclass(t, dict):
            if not (plain.issuperset(map(type, x)) and plain.issuperset(map(type, x.values()))) and id(x) not in seen:
                seen.add(id(x))
                work.extend(x)
                work.extend(x.values())
        elif t is FunctionType:
            _add(found, x)
        elif t is MethodType:
            work.append(x.__func__)
        elif issubclass(t, type):
            _add_methods(found, x, True, seen)
            _add_methods(found, t, deep, seen)
        elif issubclass(t, np.ndarray):
            if x.dtype.kind == "O":
                work.extend(x.flat)
        elif issubclass(t, (iteration.Values, iteration.Items, iteration.Keys)):
            work.append(x._mapping)
        elif t is structure.Names:
            _add_all(found, work, [x.space[name] for name in x.used if name in x.space])
        elif t is np.ufunc:
            _add_all(found, work, _function_of(x))
        elif t is BuiltinFunctionType:
            if type(x.__self__) is not ModuleType:
                work.append(x.__self__)
        elif id(x) not in seen and (deep or not _calculates(x)):
            seen.add(id(x))
            _add_methods(found, t, deep, seen)
            _add_all(found, work, _held(x, t))
    return list(found.values())


_HEAP = 1 << 9


def _add_all(found: dict[int, FunctionType], work: list[Any], values: Iterable[Any]) -> None:
    """What is to be called if it can be."""
    for x in values:
        f = x.__func__ if type(x) is MethodType else x
        if type(f) is FunctionType:
            _add(found, f)
        else:
            work.append(x)


def _function_of(f: np.ufunc) -> list[Any]:
    """The Python function that a ufunc is made of (`obj` of NumPy's PyUFuncObject, which is public), if it is."""
    if not f.__name__.endswith("(vectorized)"):
        return []
    return [ctypes.py_object.from_address(id(f) + _UFUNC_OBJECT).value]


class _UFunc(ctypes.Structure):
    """What NumPy's ufuncobject.h declares, up to `obj`."""

    _fields_ = [
        *((name, ctypes.c_int) for name in ("nin", "nout", "nargs", "identity")),
        *((name, ctypes.c_void_p) for name in ("functions", "data")),
        *((name, ctypes.c_int) for name in ("ntypes", "reserved1")),
        *((name, ctypes.c_void_p) for name in ("name", "types", "doc", "ptr", "obj")),
    ]


_UFUNC_OBJECT = object.__basicsize__ + _UFunc.obj.offset


def _held(x: Any, t: type) -> Iterable[Any]:
    """What an object of a foreign class holds, which may call it."""
    module = str(t.__module__)
    if module.startswith("zyg."):
        return ()
    if module.partition(".")[0] in foreign.FOREIGN_PACKAGES:
        return list(getattr(x, "__dict__", {}).values())
    if not _methods_of(t)[2]:  # not of Python
        return [v for v in gc.get_referents(x) if type(v) is not dict or "__builtins__" not in v]
    return ()


def _add(found: dict[int, FunctionType], f: FunctionType) -> None:
    if id(f) not in found and not f.__code__.co_flags & 0x280 and _is_followed(f):
        found[id(f)] = f


def _is_followed(f: FunctionType) -> bool:
    module = f.__globals__.get("__name__")
    if isinstance(module, str) and module != _OWN and (module.partition(".")[0] in _CLOSED or foreign.is_foreign(f)):
        return False
    try:
        return f not in calls.KNOWN
    except TypeError:
        return True


# Per class what it was when its methods were looked at, the special ones, and all; whether those that ask something only calculate.
_methods: dict[type, tuple[int, tuple[FunctionType, ...], tuple[FunctionType, ...], bool]] = {}
_MANY = 2000


def _methods_of(cls: type) -> tuple[int, tuple[FunctionType, ...], tuple[FunctionType, ...], bool]:
    from zyg.backend.cpython import type_version

    version = type_version(cls)
    known = _methods.get(cls)
    if known is not None and version and known[0] == version:
        return known
    special: list[FunctionType] = []
    every: list[FunctionType] = []
    harmless = True
    for c in cls.__mro__:
        if not c.__flags__ & _HEAP:
            continue
        for name, held in list(vars(c).items()):
            functions = _functions_in(held)
            every += functions
            if name.startswith("__") and name.endswith("__"):
                special += functions
                harmless = harmless and (
                    name in _OTHERS or not any(_is_followed(f) and not only_calculates(f) for f in functions)
                )
    made = version, tuple(special), tuple(every), harmless
    if len(_methods) > _MANY:
        _methods.clear()
    if not _passing(cls):
        _methods[cls] = made
    return made


def _passing(cls: type) -> bool:
    """Whether a class was made in a function: it is not kept."""
    return "<locals>" in cls.__qualname__


def _functions_in(held: Any) -> list[FunctionType]:
    """The functions in something that stands in a class."""
    if type(held) is FunctionType:
        return [held]
    if isinstance(held, (staticmethod, classmethod)):
        return _functions_in(held.__func__)
    if type(held) is property:
        return [f for part in (held.fget, held.fset, held.fdel) for f in _functions_in(part)]
    return []


def _add_methods(found: dict[int, FunctionType], cls: type, every: bool, seen: set[int]) -> None:
    if id(cls) not in seen:
        seen.add(id(cls))
        _, special, all_, _ = _methods_of(cls)
        for f in all_ if every else special:
            _add(found, f)


def _calculates(x: Any) -> bool:
    """Whether the special methods that ask an object something do nothing but calculate with attributes of plain types."""
    _, _, every, harmless = _methods_of(type(x))
    if not harmless or not every:
        return False
    held = getattr(x, "__dict__", None)
    if type(held) is dict:
        if not PLAIN.issuperset(map(type, held.values())):
            return False
        if not type(x).__dictoffset__:
            return True
    names = structure.fields_of(x) if held is None or hasattr(type(x), "__slots__") else ()
    return all(type(getattr(x, name, None)) in PLAIN for name in names)


_SAFE = frozenset(
    "global getattr tuple lt le eq ne gt ge is is_not not truth contains return jump branch getitem add sub mul truediv mod "
    "neg pos floordiv pow convert format string free_cell get_cell unbound checked_local and or xor invert".split()
)
_PURE = frozenset({hash, len, isinstance, issubclass, type, id, abs, str, repr, int, float, bool, tuple, round})
# What these give carries no derivative.
_CONSTANTS = frozenset("lt le eq ne gt ge is is_not not contains truth convert format string".split())
_GIVING_CONSTANTS = frozenset("hash len isinstance issubclass type id str repr int bool".split())
# Methods whose value C code takes to be text, or an int.
_TYPED = frozenset(
    f"__{name}__" for name in "str repr format hash len bool int index bytes sizeof length_hint contains".split()
)
_verdicts = ByIdentity()  # of code objects: whether their functions do nothing but calculate, with which builtins


def only_calculates(f: FunctionType) -> bool:
    """Whether a function changes nothing, as far as its own code tells, calls nothing but some builtins, and gives nothing that
    carries a derivative.

    >>> only_calculates(lambda self: hash(self.name)), only_calculates(lambda self: self.names.append(1))
    (True, False)
    """
    found = _verdicts.of(f.__code__)
    if found is None:
        found = _builtins_called(f.__code__)
        _verdicts.note(f.__code__, found)
    return found is not False and not any(name in f.__globals__ for name in found)


def _builtins_called(code: CodeType) -> Any:
    """The names of the builtins that are called; False if more happens."""
    if code.co_flags & 0x2A0:
        return False
    try:
        function = capture(code)
    except Unsupported:
        return False
    makers = {r: i for _, i in function.instructions() for r in i.results}
    passed: dict[Value, list[Value]] = {}
    names: set[str] = set()
    given: list[Value] = []
    for block, instr in function.instructions():
        if instr.op == "call_object":
            callee = makers.get(instr.operands[0])
            if callee is None or callee.op != "global" or getattr(builtins, callee.attrs["name"], None) not in _PURE:
                return False
            names.add(callee.attrs["name"])
        elif instr.op not in _SAFE or block.handler is not None:
            return False
        elif instr.op == "return":
            given += instr.operands
        for target in instr.targets:
            for p, v in zip(target.block.params, target.args, strict=True):
                passed.setdefault(p, []).append(v)
    if code.co_name not in _TYPED and not all(_is_constant(v, makers, passed, set()) for v in given):
        return False
    return frozenset(names)


def _is_constant(v: Value, makers: dict[Value, Instr], passed: dict[Value, list[Value]], seen: set[Value]) -> bool:
    """Whether a value carries no derivative, wherever it comes from."""
    if isinstance(v, Const) or v in seen:
        return True
    seen.add(v)
    if v in passed:
        return all(_is_constant(x, makers, passed, seen) for x in passed[v])
    made = makers.get(v)
    if made is None or made.op == "global":
        return made is not None and made.attrs["name"] in ("NotImplemented", "True", "False")
    if made.op != "call_object":
        return made.op in _CONSTANTS
    callee = makers.get(made.operands[0])
    return callee is not None and callee.op == "global" and callee.attrs["name"] in _GIVING_CONSTANTS


# ------------------------------------------------------------------------------------------------------------------ keys

_CHANGING = frozenset(
    "setitem delattr delitem set_cell del_cell set_global del_global yield yield_from set_add import_star".split()
)
_MUTATORS = frozenset(
    "add append appendleft clear discard extend extendleft insert pop popitem popleft put remove reverse send setdefault sort "
    "update write".split()
)
_changing = ByIdentity()  # of code objects: whether their functions change something


def changes(f: FunctionType) -> bool:
    """Whether a function changes something that may carry a derivative, as far as its own code tells.

    >>> changes(lambda self: self.seen.append(self)), changes(lambda self: hash(self.name()))
    (True, False)
    """
    found = _changing.of(f.__code__)
    if found is None:
        found = _is_changing(f.__code__)
        _changing.note(f.__code__, found)
    return found


def _is_changing(code: CodeType) -> bool:
    try:
        function = capture(code)
    except Unsupported:
        return True
    makers = {r: i for _, i in function.instructions() for r in i.results}
    for _, instr in function.instructions():
        if instr.op in _CHANGING:
            return True
        if instr.op == "setattr" and not _is_constant(instr.operands[1], makers, {}, set()):
            return True
        if instr.op in ("call_object", "call_spread"):
            callee = makers.get(instr.operands[0])
            if callee is not None and callee.op == "getattr" and callee.attrs["name"] in _MUTATORS:
                return True
    return False


def check_key(key: Any) -> None:
    """Refuse what is about to be a key of a dict or set, or is looked for there, if that runs code that changes something: the
    reverse pass asks for the hash of a key, too."""
    t = type(key)
    if t in PLAIN or (t in HASHED and t is not tuple):
        return
    if t is tuple or t is frozenset:
        for part in key:
            check_key(part)
        return
    found: dict[int, FunctionType] = {}
    for name in ("__hash__", "__eq__"):
        for f in _functions_in(arithmetic.find(t, name)):
            _add(found, f)
    for f in found.values():
        if changes(f):
            raise Unsupported(
                f"a key of a dict or set whose `{f.__name__}` changes something, in code that is differentiated through Python",
                foreign.position_of(foreign.caller()),
                hint="let it calculate only, or use a list, or another key",
            )
    from ..python import inline

    inline._note_class(t)
    note(HASHED, t, (t,))


def check_keys(*keys: Any) -> None:
    """The same for the keys of a display."""


@calls.known(check_keys, exact=True)
def _check_keys(*keys: Any) -> tuple[Any, Any]:
    for key in keys:
        if type(key) not in PLAIN:
            check_key(key)
    return None, None


# ----------------------------------------------------------------------------------------------------------------- traps


class Trap:
    """Stands for a function as long as C code runs that may call it."""

    __slots__ = ("count", "function", "own", "plain")

    def __init__(self, f: FunctionType):
        self.function = f
        self.own = f.__code__
        self.count = 0
        # For calls that are not to be followed: of another thread.
        self.plain = FunctionType(self.own, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
        self.plain.__kwdefaults__ = f.__kwdefaults__

    def code(self) -> CodeType:
        """It has the trap as a constant. (Who kept it in the trap would keep both for ever.)"""
        template = _GENERATOR if self.own.co_flags & 0x20 else _FUNCTION
        return template.replace(
            co_consts=tuple([self if c == "trap" else c for c in template.co_consts]),
            co_freevars=self.own.co_freevars,
            co_name=self.own.co_name,
            co_qualname=self.own.co_qualname,
            co_filename=self.own.co_filename,
            co_firstlineno=self.own.co_firstlineno,
        )

    def called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        run = _running.run
        return self.plain(*args, **kwargs) if run is None else run.call(self.function, args, kwargs)


def _template(source: str) -> CodeType:
    return next(c for c in compile(source, __file__, "eval").co_consts if isinstance(c, CodeType))


_FUNCTION = _template("lambda *args, **kwargs: 'trap'.called(args, kwargs)")
_GENERATOR = _template("lambda *args, **kwargs: (yield from 'trap'.called(args, kwargs))")

_traps: dict[int, Trap] = {}  # those that are set, by the identity of the function
_lock = threading.Lock()


def _set(functions: list[FunctionType]) -> None:
    with _lock:
        for f in functions:
            trap = _traps.get(id(f))
            if trap is None:
                trap = _traps[id(f)] = Trap(f)
                f.__code__ = trap.code()
            trap.count += 1


def _release(functions: list[FunctionType]) -> None:
    with _lock:
        for f in functions:
            trap = _traps[id(f)]
            trap.count -= 1
            if not trap.count:
                f.__code__ = trap.own
                del _traps[id(f)]


def trapped(f: FunctionType) -> FunctionType | None:
    """What `f` is if it has a trap, which another thread has set."""
    trap = _traps.get(id(f))
    return None if trap is None or f.__code__ is trap.own else trap.plain


class _Running(threading.local):
    """The C code that this thread runs with traps."""

    run: Run | None = None


_running = _Running()


# ------------------------------------------------------------------------------------------------------------------ runs


class Run:
    """One run of C code: the calls that it made, as (value, arguments, back)."""

    __slots__ = ("changed", "functions", "log", "outer", "watched")

    def __init__(self, functions: list[FunctionType], watched: list[tuple[Any, Any]] | None = None):
        self.functions = functions
        self.log: list[tuple[Any, tuple[Any, ...], Any]] = []
        self.outer: Run | None = None
        # Of what C code may change what it was like when it went on last, and what it has changed before.
        self.watched = list(watched or ())
        self.changed: set[int] = set()

    def __enter__(self) -> Run:
        self.outer = _running.run
        _set(self.functions)
        _running.run = self
        return self

    def __exit__(self, *exception: Any) -> None:
        _running.run = self.outer
        _release(self.functions)

    def pause(self) -> None:
        self.changed.update(map(id, structure.changed(self.watched)))
        self.__exit__()

    def resume(self) -> None:
        self.__enter__()
        if self.watched:
            self.watched = structure.watch([x for x, _ in self.watched]) or []

    def settle(self, watched: list[tuple[Any, Any]]) -> None:
        """The code is done: what was only changed by what it called is as it was."""
        self.changed.update(map(id, structure.changed(self.watched)))
        watched[:] = [pair for pair in watched if id(pair[0]) in self.changed]

    def call(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """C code calls a function: that is followed."""
        self.pause()
        try:
            value, back = calls.call(f, args, kwargs)
        except BaseException as error:
            self.note_left(error, args, kwargs)
            raise
        finally:
            self.resume()
        if back is not None:
            self.log.append((value, (*args, *kwargs.values()), back))
        if isinstance(value, iteration.Iterator):
            return self.noted(value)
        return value

    def note_left(self, error: BaseException, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        from ..python import escaping

        back = escaping.swallowed(error)
        if back is not None:
            self.log.append((None, (), back))

    def noted(self, iterator: iteration.Iterator) -> Any:
        """C code goes through what a function gave."""
        while True:
            inside = _running.run is self
            if inside:
                self.pause()
            try:
                pair = next(iterator.pairs, None)
            finally:
                if inside:
                    self.resume()
            if pair is None:
                return
            self.log.append((pair[0], (), pair[1]))
            yield pair[0]


def followed(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    deep: bool = False,
    others: tuple[Any, ...] = (),
    watched: Any = None,
) -> tuple[Any, Any]:
    """(value, back) of a call of C code; the back gives a cotangent for each argument, and for each keyword argument.

    others: what else the code works on. deep: it may call any method, and what it gets.
    """
    kwargs = kwargs or {}
    operands = (*args, *kwargs.values())
    functions = entered((*operands, *others), deep)
    if not functions:
        return f(*args, **kwargs), None
    run = Run(functions, watched)
    try:
        with run:
            value = f(*args, **kwargs)
    except BaseException as error:
        _leave(error, run, operands)
        raise
    if watched is not None and run.log:
        run.settle(watched)
    if not run.log:
        return value, None
    return value, (run_followed, value, operands, run.log, foreign.caller(), foreign.name_of(f), others)


class undone:
    """`with undone(back):` what was done before is undone where an exception that leaves the block is caught."""

    __slots__ = ("back",)

    def __init__(self, back: Any):
        self.back = back

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        from ..python import escaping

        if error is not None and escaping.watched:
            inner = escaping.swallowed(error)
            escaping.attach(error, self.back if inner is None else (run_at_index, inner, self.back))


def _leave(error: BaseException, run: Run, operands: tuple[Any, ...]) -> None:
    """The code is left by an exception: what was called is undone where that is caught."""
    from ..python import escaping

    if run.log and escaping.watched:
        escaping.attach(error, (run_followed, None, operands, run.log, foreign.caller(), "C code", ()))


def run_followed(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, value, operands, log, place, name, others = back
    flowing: list[Any] = [None] * len(operands)
    given_by = None
    refused: Refused | None = None
    if d is not None and type(value) not in INERT:
        given_by = next((k for k in range(len(log) - 1, -1, -1) if log[k][0] is value), None)
        if given_by is None:
            refused = refused_in(d) or _refusal(
                f"a derivative through what `{name}` makes of Python code that it calls", place
            )
    elif foreign.has_shadow(value, shadows) and not any(v is value for v, _, _ in log):
        refused = _refusal(f"a derivative through what `{name}` makes of Python code that it calls", place)
    for k in range(len(log) - 1, -1, -1):
        made, arguments, inner = log[k]
        c = d if k == given_by else refused if refused is not None and type(made) not in INERT else None
        if c is refused and c is not None and not is_number(made):
            structure.refuse(structure.form(made), c, shadows)
            c = None
        given = calls.run(inner, c, shadows)
        for x, part in zip(arguments, given[1:] if given is not None else ()):
            if part is not None:
                _give(x, part, operands, others, flowing, shadows, place, name)
    return flowing if any(c is not None for c in flowing) else None


def _give(
    x: Any, part: Any, operands: Any, others: Any, flowing: list[Any], shadows: Any, place: Any, name: str
) -> None:
    """The cotangent of an argument of a call that C code made goes to the operand that is the argument."""
    same = [k for k, v in enumerate(operands) if v is x]
    if same and (len(same) == 1 or type(x) is tuple) and type(x) not in (int, bool):
        flowing[same[0]] = accumulate(flowing[same[0]], part)
        return
    if not _matters(part):
        return
    refused = refused_in(part) or _refusal(f"a derivative by what `{name}` passes to Python code", place)
    for k, v in enumerate((*operands, *others)):
        for held in v if isinstance(v, (list, tuple)) else (v,):
            if foreign.is_opaque(held):
                shadows.mark(held, refused)
        c = structure.refuse(structure.form(v), refused, shadows)
        if c is not None and k < len(flowing):
            flowing[k] = accumulate(flowing[k], c)


def _matters(c: Any) -> bool:
    if isinstance(c, tuple):
        return any(map(_matters, c))
    return c is not None and not (isinstance(c, float) and c == 0.0)


def _refusal(what: str, place: Any) -> Refused:
    hint = "call the function or method by itself, and use what it gives"
    return Refused(Unsupported(what, foreign.position_of(place), hint=hint))


@calls.known(followed)
def _followed_again(
    f: Any, args: Any, kwargs: Any = None, deep: bool = False, others: Any = (), watched: Any = None
) -> Any:
    """A second derivative."""
    operands = (*args, *(kwargs or {}).values(), *others)
    if entered(operands, deep):
        raise Unsupported(
            f"a second derivative through Python code that `{foreign.name_of(f)}` calls",
            foreign.position_of(foreign.caller()),
            hint="call the function or method by itself",
        )
    return (f(*args, **(kwargs or {})), None), None


def called(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], deep: bool = False) -> tuple[Any, Any]:
    """The same as a call: the back gives the cotangent of the function first."""
    value, back = followed(f, args, kwargs, deep)
    return value, None if back is None else (run_called, back)


def run_called(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else (None, *given)


# ------------------------------------------------------------------------------------------- operations of the language

# In these `x in c` asks x for its hash only, and what has the same.
_HASHED = frozenset({dict, set, frozenset, str, bytes, range})


def _comparison(f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], tuple[Any, Any]]:
    def record(a: Any, b: Any) -> tuple[Any, Any]:
        if (type(a) in PLAIN or _is_plain_tuple(a)) and (type(b) in PLAIN or _is_plain_tuple(b)):
            return f(a, b), None
        return followed(f, (a, b))

    return record


def _is_plain_tuple(x: Any) -> bool:
    return type(x) is tuple and PLAIN.issuperset(map(type, x))


def _contains(item: Any, container: Any) -> tuple[Any, Any]:
    t = type(container)
    if t in _HASHED:
        if t is not str and type(item) not in PLAIN:
            check_key(item)
        return item in container, None
    y, back = followed(operator.contains, (container, item))
    return y, None if back is None else (_run_query, back, "in", foreign.caller())


def _truth(x: Any) -> tuple[Any, Any]:
    return (bool(x), None) if type(x) in SIZED else _tested(bool, x)


def _not(x: Any) -> tuple[Any, Any]:
    return (not x, None) if type(x) in SIZED else _tested(operator.not_, x)


def _tested(f: Callable[[Any], bool], x: Any) -> tuple[Any, Any]:
    y, back = followed(f, (x,))
    return y, None if back is None else (_run_query, back, "the truth", foreign.caller())


def _run_query(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """Where only a truth matters nothing flows to the operands; what a method has kept of them would."""
    _, inner, name, place = back
    if _matters(tuple(calls.run(inner, d, shadows) or ())):
        hint = "call the method by itself"
        raise Unsupported(
            f"a derivative by an operand of `{name}`, which a special method has kept",
            foreign.position_of(place),
            hint=hint,
        )


_CONVERSIONS: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}


def _convert(x: Any, conversion: str) -> tuple[Any, Any]:
    return followed(_CONVERSIONS[conversion], (x,))


def _format(x: Any, *more: Any) -> tuple[Any, Any]:
    *spec, conversion = more
    if not conversion:
        return followed(format, (x, *spec))
    text, back = _convert(x, conversion)
    return format(text, *spec), back if back is None else (_run_formatted, back)


def _run_formatted(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], None, shadows)
    return None if given is None else (*given, None)


# What such an operation may be done plainly on, by operand.
DIRECT: dict[str, tuple[AbstractSet[type], ...]] = {
    **dict.fromkeys(("lt", "le", "eq", "ne", "gt", "ge"), (PLAIN, PLAIN)),
    "contains": (HASHED, _HASHED),
    "not": (SIZED,),
    "truth": (SIZED,),
    "format": (PLAIN, PLAIN),
    "convert": (PLAIN,),
}
QUERIES: dict[str, Callable[..., tuple[Any, Any]]] = {
    **{name: _comparison(getattr(operator, name)) for name in ("lt", "le", "eq", "ne", "gt", "ge")},
    "contains": _contains,
    "not": _not,
    "truth": _truth,
}
RECORD = {**QUERIES, "convert": _convert, "format": _format}


def index_of(key: Any) -> tuple[Any, Any]:
    """A key of a sequence as it is, or what its `__index__` gives, or the parts of a slice; with what undoes that."""
    if type(key) in PLAIN:
        return key, None
    if type(key) is slice:
        parts = key.start, key.stop, key.step
        if PLAIN.issuperset(map(type, parts)):
            return key, None
        made = [index_of(part) for part in parts]
        return slice(*[part for part, _ in made]), (_run_indices, [back for _, back in made])
    if not hasattr(type(key), "__index__"):
        return key, None
    return followed(operator.index, (key,))


def _run_indices(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    for inner in reversed(back[1]):
        calls.run(inner, None, shadows)


def run_at_index(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """(run_at_index, back of what was done there, what undoes that the index was asked for)"""
    given = calls.run(back[1], d, shadows)
    calls.run(back[2], None, shadows)
    return given


def _truth_of(name: str) -> Callable[..., tuple[Any, Any]]:
    record = QUERIES[name]

    def record_truth(a: Any, b: Any) -> tuple[bool, Any]:
        y, back = record(a, b)
        if back is None and type(y) is bool:
            return y, None
        truth, second = QUERIES["truth"](y)
        if second is not None:
            back = (_run_both, second, back)
        return truth, None if back is None else (_run_query, back, name, foreign.caller())

    return record_truth


def _run_both(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    calls.run(back[1], None, shadows)
    return calls.run(back[2], None, shadows)


# Comparisons of which only the truth matters.
TRUTHS = {name: _truth_of(name) for name in ("lt", "le", "eq", "ne", "gt", "ge")}


def _of_second_order(record: Callable[..., tuple[Any, Any]]) -> None:
    @calls.known(record)
    def again(*operands: Any) -> tuple[Any, Any]:
        if entered(operands):
            return _followed_again(record, operands)
        return record(*operands), None


for _record in (*RECORD.values(), *TRUTHS.values()):
    _of_second_order(_record)


__all__ = [
    "DIRECT",
    "PLAIN",
    "QUERIES",
    "RECORD",
    "SIZED",
    "TRUTHS",
    "called",
    "check_key",
    "check_keys",
    "entered",
    "followed",
    "index_of",
    "only_calculates",
    "run_at_index",
    "trapped",
]
