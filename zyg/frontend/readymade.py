"""Functions of the library that need not be inferred, since an earlier process has compiled them.

A function of library code that is compiled once for arguments of the same types (`shared`) is the same in every program.  Where it is
large its machine code is kept on disk (backend/llvm/kept.py), and beside it, by what was asked of it, what the caller has to know: of
what form the result is, and how the code is called.  A function that is found so has one instruction, `readymade`: no stage looks at
anything else, and those that would have to say so by NeedsBody.

Where derivatives go through it, the two halves of its adjoint (autodiff/forward.py) are kept in the same way, in entries beside its own, one
for each choice of parameters to differentiate by, and of arrays that stay as they are until the reverse half has run.

The entry's name is a digest of the function and the types of its arguments, the options, and all source of zyg: it cannot be stale.  It is
data alone (`marshal`).
"""

from __future__ import annotations

import marshal
import sys
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg import circumstances
from zyg.ir.core import Function, Value
from zyg.ir.readymade import NeedsBody, Readymade, function_of
from zyg.ir.records import record, replace
from zyg.ir.types import SCALARS, Array, Scalar, Type
from zyg.rules import users_rules

from .sized import ResultLengths
from .values import Abstract, ArrayValue, ComplexArrayValue, ComplexValue, Known, Number, Same, TupleValue

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from zyg.ir.core import Module

    from .evaluator import Evaluator
    from .functions import Outline
    from .values import FunctionValue

_PLAIN = (str, int, float, bool, bytes, type(None))
_wanted: set[str] = set()  # code whose body was asked for in this process


@record(frozen=True)
class Offer:
    """As what a function would be kept if it were compiled by itself (among the `offers` in its attributes): the name of the entry, and what it gives;
    `halves`: whether its adjoint may be kept, too; `found`: that is there, so others will take it that its own code is.  An offer of a half
    of that has the summary of the whole function and what that writes to, by which parameters it is differentiated, and which array
    parameters are lent to it (autodiff/state.py); `made` is what there is of the two halves, which a pullback compiles one after the other."""

    name: str
    types: tuple[Any, ...]
    form: Any
    halves: bool = False
    found: bool = False
    half: str = ""
    summary: tuple[tuple[Any, ...], ...] = ()
    written: tuple[int, ...] | None = None
    wrt: tuple[int, ...] = ()
    lent: tuple[int, ...] = ()
    made: dict[str, Readymade] | None = None

    def __repr__(self) -> str:
        return f"offer {self.name[:8]}"


class _NotPlain(Exception):
    """Something that is found in this process only."""


# --------------------------------------------------------------------------------------------------- names


def name_of(e: Evaluator, f: FunctionValue, outline: Outline, shape: Any, named: Hashable) -> str | None:
    """The entry for a call of a function with arguments of this shape (functions.Outline); None if there cannot be one."""
    if outline.order or named or f.captured or users_rules():
        return None
    source = circumstances.source()
    if source is None:
        return None
    options = e.context.options
    settings = (
        sorted(options.fastmath), options.vectormath, options.error_model, options.boundscheck, e.context.level, e.context.forwards,
        e.inference.fixed,
    )  # fmt: skip
    try:
        what = (f.code.co_filename, f.code.co_qualname, f.code.co_firstlineno, _plain(shape[0][1:]), _plain(shape[1:]))
    except _NotPlain:
        return None
    from zyg.backend.llvm import cache as disk

    return disk.digest(repr(("readymade", source, sys.version, _versions(), settings, what)))


def _plain(x: Any) -> Any:
    """A shape that means the same in every process."""
    if isinstance(x, (Scalar, Array)):
        return str(x)
    if type(x) is tuple:
        if x and x[0] == "function":  # it is told from others by an address
            raise _NotPlain
        return tuple(map(_plain, x))
    if type(x) is Same and isinstance(x.object, np.dtype) and x.object.kind in "biufc":
        return "dtype", x.object.str
    if type(x) is Same and isinstance(x.object, np.ufunc) and getattr(np, x.object.__name__, None) is x.object:
        return "ufunc", x.object.__name__
    if x in (bool, int, float, complex, str, bytes, type(None), tuple):
        return x.__name__
    if type(x) not in _PLAIN:
        raise _NotPlain
    return x


@cache
def _versions() -> tuple[str, ...]:
    """Of what the code depends on besides."""
    from zyg.library.provider import provider

    found = provider()
    return *circumstances.versions(), str(found and found.bits)


# --------------------------------------------------------------------------------------------------- finding


def find(
    e: Evaluator, f: FunctionValue, name: str, leaves: Sequence[Value], function: str
) -> tuple[Function, Abstract, list[ResultLengths]] | None:
    """The function that takes these values, what it gives, in terms of the results of its instruction, and how long arrays among these are."""
    found = _halves(e, f, name) or _whole(name)
    if found is None:
        return None
    code, types, form = found
    if e.context.level and _leads_derivatives(code, types) and not code.halves:
        return None
    results = [Value(_type(t)) for t in types]
    params = [Value(v.type, f"a{n}") for n, v in enumerate(leaves)]
    made = function_of(code, function, params, results, e.position)
    made.attrs["name"] = f.code.co_qualname
    return made, _formed(form, iter(results)), [() if isinstance(t, str) else t[-1] for t in types]


def _leads_derivatives(code: Readymade, types: Sequence[Any]) -> bool:
    """Whether derivatives may go through it."""
    from zyg.autodiff.activity import differentiable

    flows, _, written, *_ = code.summary
    return bool(written) or any(flow and differentiable(_type(t)) for flow, t in zip(flows, types, strict=True))


def _whole(name: str) -> tuple[Readymade, Any, Any] | None:
    """Its code, and the types and the form of what it gives."""
    found = _read(name)
    if found is None:
        return None
    code, types, form = found
    code = Readymade(*code)
    return None if code.symbol in _wanted or not _is_there(code) else (code, types, form)


def _halves(e: Evaluator, f: FunctionValue, name: str) -> tuple[Readymade, Any, Any] | None:
    """The same, with the halves of its adjoint; its own code may not be there. Or there is only that, as no derivative has gone through
    it until now: if one does, they will be made."""
    from .functions import WITH_ADJOINT

    if not _has_halves(e):
        return None
    whole, found = _whole(name), _read(_beside(name))
    if found is None:
        return (replace(whole[0], halves=name), *whole[1:]) if whole is not None and f.code in WITH_ADJOINT else None
    summary, types, form, written = found
    code = Readymade(f"whole_{name}", "", (), False, False, None, (), summary, written) if whole is None else whole[0]
    return None if code.symbol in _wanted else (replace(code, halves=name), types, form)


def halves_of(code: Readymade, wrt: Sequence[int], lent: Sequence[int]) -> tuple[Readymade, Readymade]:
    """The halves of the adjoint by these parameters, of which some are lent; NeedsBody if they are not there."""
    found = _read(_beside(code.halves, wrt, lent))
    if found is not None:
        forward, reverse = (Readymade(*fields) for fields in found)
        if {forward.symbol, reverse.symbol}.isdisjoint(_wanted) and _is_there(forward) and _is_there(reverse):
            return forward, reverse
    raise NeedsBody(code)


def _has_halves(e: Evaluator) -> bool:
    """Whether this is differentiated once, in reverse mode."""
    return e.context.level == 1 and not e.context.forwards


def _beside(name: str, *which: Sequence[int]) -> str:
    """The entry that says that there are halves, or has those by some parameters, of which some are lent."""
    from zyg.backend.llvm import cache as disk

    return disk.digest(f"the halves of {name} {[[*numbers] for numbers in which]}")


def _read(name: str) -> Any:
    from zyg.backend.llvm import cache as disk

    content = disk.load(name)
    try:
        return None if content is None else marshal.loads(content)
    except (EOFError, ValueError, TypeError):
        return None


def _is_there(code: Readymade) -> bool:
    from zyg.backend.llvm.engine import is_there

    return is_there(code)


def want(code: Readymade) -> None:
    """From now on this process makes the body."""
    _wanted.add(code.symbol)


# --------------------------------------------------------------------------------------------------- keeping


def offer(e: Evaluator, name: str, function: Function, value: Abstract, lengths: Sequence[ResultLengths]) -> None:
    """Have a function, which gives this value, kept by this name if that is possible."""
    with suppress(_NotPlain):
        halves = _has_halves(e)
        found = halves and _read(_beside(name)) is not None
        types = tuple(map(_written, function.results, lengths))
        function.attrs["offers"] = (Offer(name, types, _form(value), halves, found),)


def offer_halves(
    whole: Function,
    summary: tuple[tuple[Any, ...], ...],
    wrt: Sequence[int],
    lent: Sequence[int],
    halves: tuple[Function, Function],
) -> None:
    """Have the halves of its adjoint by these parameters, of which some are lent, kept if the function would be."""
    from zyg.ir.passes.writes import written_alone

    as_whole: list[Offer] = [offered for offered in whole.attrs["offers"] if offered.halves]
    if as_whole:
        told = {"summary": summary, "written": written_alone(whole), "wrt": tuple(wrt), "lent": tuple(lent)}
        pairs = [replace(offered, **told, made={}) for offered in as_whole]
        for half, function in zip(("forward", "reverse"), halves):
            function.attrs["offers"] = tuple([replace(own, half=half) for own in pairs])


def keep(module: Module, offers: dict[str, Readymade], texts: Mapping[str, str]) -> None:
    """Have later processes find the code of functions that are on offer, whose assembly is in `texts`."""
    from zyg.autodiff.activity import summarise
    from zyg.backend.llvm.engine import engine

    for name, code in offers.items():
        function = module.functions[name]
        about = replace(code, summary=summarise(module, name)[name].key(), written=function.attrs.get("written"))
        own = engine().on_disk(about, texts[code.symbol])
        if own is None:
            continue
        for offered in function.attrs["offers"]:
            _keep_as(offered, own)


def _keep_as(offered: Offer, code: Readymade) -> None:
    from zyg.backend.llvm import cache as disk

    if offered.made is None:
        disk.store(offered.name, marshal.dumps((_fields(code), offered.types, offered.form)))
        return
    offered.made[offered.half] = code
    if len(offered.made) == 2:
        both = _fields(offered.made["forward"]), _fields(offered.made["reverse"])
        disk.store(_beside(offered.name, offered.wrt, offered.lent), marshal.dumps(both))
        disk.store(
            _beside(offered.name), marshal.dumps((offered.summary, offered.types, offered.form, offered.written))
        )


def _fields(code: Readymade) -> tuple[Any, ...]:
    return (
        code.symbol,
        code.entry,
        code.imports,
        code.needs_ctx,
        code.fails,
        code.taken,
        code.errors,
        code.summary,
        code.written,
    )


def _form(v: Abstract) -> Any:
    if isinstance(v, Number) and v.classes is None:
        return "number", v.numpy
    if isinstance(v, ArrayValue):
        return ("array",)
    if isinstance(v, Known) and type(v.object) in _PLAIN:
        return "known", v.object
    if isinstance(v, TupleValue):
        return "tuple", tuple(map(_form, v.items))
    if isinstance(v, ComplexValue) and v.classes is None:
        return "complex", v.numpy, _form(v.re), _form(v.im)
    if isinstance(v, ComplexArrayValue):
        return "complex array", _form(v.floats)
    raise _NotPlain


def _formed(form: Any, leaves: Iterator[Value]) -> Any:
    kind, *rest = form
    if kind == "number":
        return Number(next(leaves), rest[0])
    if kind == "array":
        return ArrayValue(next(leaves))
    if kind == "known":
        return Known(rest[0])
    if kind == "tuple":
        return TupleValue(tuple(_formed(item, leaves) for item in rest[0]))
    if kind == "complex":
        return ComplexValue(_formed(rest[1], leaves), _formed(rest[2], leaves), rest[0])
    return ComplexArrayValue(_formed(rest[0], leaves))


def _written(type: Type, lengths: ResultLengths) -> Any:
    if isinstance(type, Array):
        return str(type.dtype), type.ndim, type.layout, type.writable, lengths
    if not isinstance(type, Scalar):
        raise _NotPlain
    return str(type)


def _type(written: Any) -> Type:
    if isinstance(written, str):
        return SCALARS[written]
    dtype, *rest, _ = written
    return Array(SCALARS[dtype], *rest)


__all__ = ["NeedsBody", "Offer", "find", "halves_of", "keep", "name_of", "offer", "offer_halves", "want"]
