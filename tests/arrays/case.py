"""What a case says of a function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """`function` calls what `covers` names, with parameters as `specs` describes them.

    exact: no rounding is allowed; tolerance: in units of the last place of the largest number of the result.
    derivative: whether there is one to be checked; by: the parameters that have it, all if empty.
    memory: whether the result shares memory with a parameter where NumPy's does, and nowhere else.
    refused: compiled code says that it does not do this.
    """

    covers: tuple[Any, ...]
    function: Callable[..., Any]
    specs: dict[str, Any]
    exact: bool = False
    tolerance: float = 16.0
    derivative: bool = True
    second: bool = True
    memory: bool = True
    refused: bool = False
    name: str = ""

    def __str__(self) -> str:
        return self.name


CASES: list[Case] = []
NUMBERS: Counter[str] = Counter()  # of the cases that have a name so far


def case(covers: Any, function: Callable[..., Any], /, **specs: Any) -> None:
    """Adds a case. Keywords are the parameters of `function`, but those that Case knows."""
    targets = covers if isinstance(covers, list) else [covers]
    options = {k: specs.pop(k) for k in list(specs) if k in Case.__dataclass_fields__ and k not in _names(function)}
    first = targets[0]
    base = first[1] if isinstance(first, tuple) else getattr(first, "__name__", str(first))
    if isinstance(first, tuple):
        base = f"{first[0].__name__}.{base}"
    CASES.append(Case(tuple(targets), function, specs, name=f"{base}#{NUMBERS[base]}", **options))
    NUMBERS[base] += 1


def _names(function: Callable[..., Any]) -> tuple[str, ...]:
    code = function.__code__
    return code.co_varnames[: code.co_argcount]
