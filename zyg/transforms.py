"""What a callable made by zyg stands for.

Every callable that zyg hands out (`jit(f)`, `grad(f)`, `derivative(f)`, ...) is of one native type; what it means is
this record.  The compiler expands a call of such an object by its record, so transforms nest to any order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .ir.options import Options
from .ir.records import record

# The kinds whose first argument is the function, and those that carry it.
DIRECT_KINDS = (
    "gradient", "withgradient", "pullback", "jacobian", "jvp", "pushforward", "hvp", "hessian",
    "implicit_gradient", "implicit_pullback",
)  # fmt: skip
KINDS = ("jit", "grad", "value_and_grad", "derivative", *DIRECT_KINDS)


@record(frozen=True, eq=False)
class Transform:
    """kind: what is done; function: to what (None for DIRECT_KINDS, which take it as their first argument);
    argnums: by which arguments (grad, value_and_grad); options: None means those of the caller."""

    kind: str
    function: Callable[..., Any] | None = None
    argnums: int | tuple[int, ...] = 0
    options: Options | None = None

    @property
    def name(self) -> str:
        return describe(self)


ATTRIBUTE = "__zyg_transform__"


def transform_of(value: Any) -> Transform | None:
    """The record of a callable made by zyg, or of one of zyg's own public functions; None for anything else."""
    try:
        transform = getattr(value, ATTRIBUTE, None)
    except Exception:
        return None  # a foreign __getattr__ may raise anything
    return transform if isinstance(transform, Transform) else None


def describe(value: Any) -> str:
    """A short name for a callable, transforms spelt out.

    >>> import math
    >>> describe(Transform("derivative", math.sin))
    'derivative(sin)'
    """
    transform = value if isinstance(value, Transform) else transform_of(value)
    if transform is None:
        return getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or repr(value)
    if transform.function is None:
        return transform.kind
    inner = describe(transform.function)
    if transform.kind in ("grad", "value_and_grad") and transform.argnums != 0:
        return f"{transform.kind}({inner}, argnums={transform.argnums})"
    return inner if transform.kind == "jit" else f"{transform.kind}({inner})"
