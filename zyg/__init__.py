"""zyg: gradients of Python functions, compiled.

    import zyg

    @zyg.jit
    def f(x):
        return 5 * x + 3

    f(10.0)                  # 53.0, native code
    zyg.gradient(f, 10.0)    # (5.0,)

Everything is loaded at first use: `import zyg` imports neither NumPy nor LLVM.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from . import loading

__version__ = "0.1.0"
_imported_at = time.time()  # source that is newer is not that of this process
loading.begin()

# Where each public name lives.
_HOMES = {
    "jit": "api",
    "gradient": "api",
    "jvp": "forward",
    "pushforward": "forward",
    "hvp": "forward",
    "hessian": "matrices",
    "withgradient": "api",
    "pullback": "api",
    "jacobian": "matrices",
    "grad": "api",
    "value_and_grad": "api",
    "derivative": "api",
    "hook": "inside",
    "showgrad": "inside",
    "checkpoint": "inside",
    "checkpointed": "inside",
    "stop_gradient": "inside",
    "isderiving": "inside",
    "nestlevel": "inside",
    "adjoint": "rules",
    "tangent": "rules",
    "gradcheck": "checking",
    "Params": "params",
    "Grads": "params",
    "code_ssa": "inspection",
    "code_tangent": "inspection",
    "code_typed": "inspection",
    "code_adjoint": "inspection",
    "code_llvm": "inspection",
    "code_native": "inspection",
    "explain": "inspection",
    "settle": "settling",
    "ZygError": "errors",
    "Unsupported": "errors",
    "ArgumentError": "errors",
    "FallbackWarning": "errors",
    "GradcheckError": "errors",
    "InternalError": "errors",
    "SpecialisationWarning": "errors",
}

__all__ = [
    "ArgumentError",
    "FallbackWarning",
    "GradcheckError",
    "Grads",
    "InternalError",
    "Params",
    "SpecialisationWarning",
    "Unsupported",
    "ZygError",
    "adjoint",
    "checkpoint",
    "checkpointed",
    "code_adjoint",
    "code_llvm",
    "code_native",
    "code_ssa",
    "code_tangent",
    "code_typed",
    "derivative",
    "explain",
    "grad",
    "gradcheck",
    "gradient",
    "hessian",
    "hook",
    "hvp",
    "isderiving",
    "jacobian",
    "jit",
    "jvp",
    "nestlevel",
    "pullback",
    "pushforward",
    "settle",
    "showgrad",
    "stop_gradient",
    "tangent",
    "value_and_grad",
    "withgradient",
]

if TYPE_CHECKING:
    from .api import (
        derivative,
        grad,
        gradient,
        jit,
        pullback,
        value_and_grad,
        withgradient,
    )
    from .checking import gradcheck
    from .errors import (
        ArgumentError,
        FallbackWarning,
        GradcheckError,
        InternalError,
        SpecialisationWarning,
        Unsupported,
        ZygError,
    )
    from .forward import hvp, jvp, pushforward
    from .inside import checkpoint, checkpointed, hook, isderiving, nestlevel, showgrad, stop_gradient
    from .inspection import code_adjoint, code_llvm, code_native, code_ssa, code_tangent, code_typed, explain
    from .matrices import hessian, jacobian
    from .params import Grads, Params
    from .rules import adjoint, tangent
    from .settling import settle


def __getattr__(name: str) -> Any:
    from importlib import import_module

    home = _HOMES.get(name)
    if home is not None:
        value = getattr(import_module(f".{home}", __name__), name)
        globals()[name] = value
        return value
    if not name.startswith("_"):
        try:
            return import_module(f".{name}", __name__)
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
