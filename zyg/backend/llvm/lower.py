"""Typed SSA to LLVM assembly.

Input: a module of functions without `object` values.  Output: `Lowered`, one LLVM module as text in which the IR
function `f` is `@py.f`, with the calling convention

    fastcc {i32 status, results...} @py.f(ptr ctx?, leaves...)

(a function in which nothing can fail returns its results alone);
status 0 is success; k > 0 is the k-th entry of the error table `Lowered.errors`; -1 means that a Python exception is
set. `ctx` (see runtime.py) is passed only to functions that need it, so that scalar functions stay plain.

An array is {data, owner, shape, strides}; the strides are absent for layout C.  The owner is the header of memory that
`alloc` made, or a Python object with its lowest bit set, whose counting is not this call's business.  A stack is {top,
begin, end} of its current chunk; in its function these are three allocas, which LLVM turns into registers.  A tape is a
pointer to such three words; in results and in memory it is the words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ...ir.analysis import Loops
from ...ir.core import Function, Instr, Module
from ...ir.readymade import is_library
from .kept import keep
from .lowered import LANES, WHOLE_ARRAYS, ErrorSite, FunctionABI, Lowered, VectorMath
from .lowering.function import FunctionLowering
from .lowering.registry import has_loops, lowering, may_fail, uses_context
from .parameters import needed_components
from .text import ModuleText, Places, symbol

MANY_LOOPS = 8  # over elements of whole arrays, from which on these are most of a module
FEW_LOOPS = 1  # that operations on all elements of arrays may be in a module before equal ones are a function


def lower(
    module: Module,
    entry: str,
    vector_variants: VectorMath,
    exported: bool = False,
    lines: bool = False,
    masks: bool = False,
    apart: bool = False,
    written: Callable[[Lowered, str], None] | None = None,
) -> Lowered:
    """Lower `entry` and all that it calls. `exported` keeps `entry` as a function of its own when LLVM optimises, `lines`
    tells LLVM where in the source instructions come from, `masks`: the processor can leave out lanes of vectors. `apart`: large
    functions of the library are modules of their own (kept.py). `written` is told of each function when it is there, as the last of the module."""
    names = _reachable(module, entry)
    lowered = Lowered(ModuleText(), [ErrorSite("SystemError", "no error")], [], masks=masks, keeps=apart)
    if any("lanes" in module.functions[name].attrs for name in names):
        lowered.module.flags.add(LANES)
    whole = {name for name in names if "elements" in module.functions[name].attrs}
    own = {name: _instrs(module.functions[name]) for name in names}
    instrs = [i for of in own.values() for i in of]
    if sum("elements" in i.attrs or i.attrs.get("callee") in whole for i in instrs) > MANY_LOOPS:
        lowered.module.flags.add(WHOLE_ARRAYS)
    in_lanes = {name for name in names if _in_lanes(lowered, module.functions[name])}
    callees = {n: [i.attrs["callee"] for i in of if i.op == "call"] for n, of in own.items()}
    recursive = _recursive(module, callees)
    needs_ctx = _closure(callees, [n for n, of in own.items() if n in recursive or any(map(uses_context, of))])
    runs_python = _closure(callees, [n for n, of in own.items() if any(lowering(i.op).runs_python for i in of)])
    if WHOLE_ARRAYS in lowered.module.flags and LANES not in lowered.module.flags:
        settled = [n for n in names if n in in_lanes or not _computes(module.functions[n])]
        lowered.settled = {symbol("py." + n) for n in settled}
        callers: dict[str, list[str]] = {}
        for n in names:
            for callee in callees[n]:
                callers.setdefault(callee, []).append(n)
        # Where loops stand in a function of their own, what they do in lanes is in it.
        once = [n for n in settled if n in in_lanes and len(callers[n]) == 1]
        lowered.inlined = {symbol("py." + n) for n in once if module.functions[callers[n][0]].attrs.get("shallow")}
        lowered.straight = {
            symbol("py." + n) for n in settled if n not in in_lanes and not module.functions[n].attrs.get("shallow")
        }
        lowered.light = {symbol("py." + n) for n in names if module.functions[n].attrs.get("light")} - lowered.settled
    lowered.shares = sum(map(has_loops, instrs)) > FEW_LOOPS
    lowered.calls_python = any(i.op == "pycall" for i in instrs)
    fails = _closure(callees, [n for n, of in own.items() if n in recursive or any(map(may_fail, of))])
    needed = needed_components(module, [name for name in names if name != entry])
    for name in names:
        f = module.functions[name]
        taken = tuple(wanted for parameter in needed.get(name, ()) for wanted in parameter)
        lowered.signatures[name] = FunctionABI(
            symbol("py." + name),
            name in needs_ctx,
            tuple(p.type for p in f.params),
            f.results,
            name in runs_python,
            name == entry and any(n in recursive for n in names),
            name in fails,
            None if all(taken) else taken,
        )

    def write(to: Lowered, name: str, linkage: str) -> None:
        kind = _lowering_of(module.functions[name], name in in_lanes)
        function = kind(to, module.functions[name], name in recursive, vector_variants)
        if lines:
            function.places = Places(to.module, module.functions[name])
        function.lower(linkage)

    def stays(name: str) -> bool:
        function = module.functions[name]
        return (
            apart
            and is_library(function)
            and name not in recursive
            and keep(lowered, _reachable(module, name), write, module)
        )

    for name in _reachable(module, entry, stays):
        write(lowered, name, "" if exported and name == entry else "internal ")
        if written is not None:
            written(lowered, name)
    return lowered


def _computes(function: Function) -> bool:
    """Whether LLVM's optimiser may find something in a function's loops; else it orders what others do."""
    if len(function.blocks) == 1:
        return False
    from ...ir.passes.outline import computes  # on demand: only code for whole arrays needs it

    return any(map(computes, Loops(function).all))


def _lowering_of(function: Function, in_lanes: bool) -> type[FunctionLowering]:
    """What writes a function; what writes in lanes is loaded on demand."""
    if not in_lanes:
        return FunctionLowering
    if "vector" in function.attrs:
        from .lowering.vectors import VectorLowering

        return VectorLowering
    from .lowering.each import EachLowering

    return EachLowering


def _in_lanes(lowered: Lowered, function: Function) -> bool:
    """Whether a function is written in lanes."""
    if "vector" in function.attrs:
        return True
    if "each" not in function.attrs:
        return False
    from .lowering.each import plain_loop

    loop = lowered.plain_loops[function.name] = plain_loop(function)
    return loop is not None


def _instrs(f: Function) -> list[Instr]:
    return [i for b in f.blocks for i in b.instrs]


def _callees(f: Function) -> list[str]:
    return [i.attrs["callee"] for i in _instrs(f) if i.op == "call"]


def _reachable(module: Module, entry: str, stays: Callable[[str], bool] = lambda _: False) -> list[str]:
    """The functions that are called, but for those that stay elsewhere, and what only they call."""
    seen, found, work = {entry}, [entry], [entry]
    while work:
        for callee in _callees(module.functions[work.pop()]):
            if callee not in seen:
                seen.add(callee)
                if not stays(callee):
                    found.append(callee)
                    work.append(callee)
    return found


def _closure(callees: Mapping[str, list[str]], first: Iterable[str]) -> set[str]:
    """These functions, and those that call one of them."""
    result = set(first)
    grew = bool(result)
    while grew:
        more = {n for n, called in callees.items() if n not in result and not result.isdisjoint(called)}
        result |= more
        grew = bool(more)
    return result


def _recursive(module: Module, callees: Mapping[str, list[str]]) -> set[str]:
    """The functions that may call themselves, directly or not, and to any depth."""
    result = set()
    for name, called in callees.items():
        seen: set[str] = set()
        work = list(called)
        while work:
            n = work.pop()
            if n not in seen:
                seen.add(n)
                work += callees[n]
        if name in seen and not module.functions[name].attrs.get("shallow"):
            result.add(name)
    return result
