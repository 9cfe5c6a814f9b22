"""Looking at every stage of a compilation, as text with the source lines in it.

    zyg.code_ssa(f)                   what was decoded from the bytecode
    zyg.code_typed(f, *args)          after inference and optimisation for these arguments
    zyg.code_adjoint(f, *args)        its reverse-mode derivative
    zyg.code_tangent(f, *args)        its forward-mode derivative, value and tangent interleaved
    zyg.code_llvm(f, *args)           LLVM IR
    zyg.code_native(f, *args)         assembly
    zyg.explain(f, *args)             what is native and what is not, and why; what is on the tape

`f` may be plain or compiled, or a transform such as `zyg.derivative(f)`; arguments are values, or types of
zyg.ir.types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import ArgumentError, Misuse, Unsupported
from ..fallback import strict
from ..transforms import describe
from .explain import explain
from .listing import Code, list_asm, list_llvm, list_module
from .stages import adjoint_module, compiled, object_adjoint, ssa_function, tangent_module, typed_module
from .tape import tape_bytes

__all__ = [
    "Code",
    "code_adjoint",
    "code_llvm",
    "code_native",
    "code_ssa",
    "code_tangent",
    "code_typed",
    "explain",
    "tape_bytes",
]


def code_ssa(function: Callable[..., Any], /, *args: Any) -> Code:
    """The SSA of a Python function as decoded, before any types are known; the arguments do not matter.

    >>> import zyg
    >>> def twice(x):
    ...     return 2 * x
    >>> "mul 2, %x" in zyg.code_ssa(twice)
    True
    """
    return list_module([ssa_function(function)])


def code_typed(function: Callable[..., Any], /, *args: Any, optimised: bool = True) -> Code:
    """The typed SSA of a call with `args`; `optimised=False` shows what inference emitted."""
    return list_module(typed_module(function, args, optimised))


def code_adjoint(function: Callable[..., Any], /, *args: Any, split: bool = False, optimised: bool = True) -> Code:
    """The reverse-mode derivative of a call with `args`, in SSA: value and gradients in one function, or with `split`
    the forward and the reverse function of a pullback.

    Of a function that native code refuses: the forward and the reverse half that run in Python's interpreter, on objects."""
    try:
        return list_module(adjoint_module(function, args, split, optimised))
    except (Unsupported, ArgumentError) as error:
        if strict(function) or isinstance(error, Misuse):
            raise
        refusal = error.with_traceback(None)
    return list_module(object_adjoint(function), f"{describe(function)} goes through Python. The reason: {refusal}")


def code_tangent(function: Callable[..., Any], /, *args: Any, lanes: int = 1, optimised: bool = True) -> Code:
    """The forward-mode derivative of a call with `args`, in SSA: behind each instruction the one for its tangent, or with
    `lanes` for so many of them. Tangents of the arguments are the last parameters, those of the results the last results.

    >>> import zyg
    >>> text = zyg.code_tangent(lambda x: 1.0 / x, 2.0)
    >>> print(*[line.strip() for line in text.splitlines() if " div " in line], sep="\\n")
    %1 = div 1.0, %x : f64
    %2 = div %d_x, %x : f64
    """
    return list_module(tangent_module(function, args, lanes, optimised))


def code_llvm(function: Callable[..., Any], /, *args: Any, optimised: bool = True, raw: bool = False) -> Code:
    """The LLVM IR of a call with `args`: the body, without the entry that Python calls. `raw` keeps declarations,
    attributes and metadata."""
    native = compiled(function, args).native
    return list_llvm(native.llvm_with_places(optimised), raw)


def code_native(function: Callable[..., Any], /, *args: Any, raw: bool = False) -> Code:
    """The machine code of a call with `args`, as assembly. `raw` keeps the assembler's directives."""
    return list_asm(compiled(function, args).native.asm_with_places(), raw)
