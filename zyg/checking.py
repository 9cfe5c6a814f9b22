"""gradcheck: derivatives against central differences.

Differences are taken with a step that balances truncation and rounding, h = cbrt(eps) * max(1, |x|), at two step sizes;
the spread of the two tells how far the difference itself can be trusted, and that is allowed for.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .errors import GradcheckError
from .transforms import describe
from .typeof import struct_fields


@dataclass(frozen=True)
class Entry:
    """One partial derivative: of output component `output` by `place` (such as "x[1, 2]")."""

    place: str
    output: str
    derivative: float
    difference: float
    uncertainty: float
    tolerance: float

    @property
    def ok(self) -> bool:
        if math.isnan(self.derivative) or math.isnan(self.difference):
            return False
        return self.derivative == self.difference or abs(self.derivative - self.difference) <= self.tolerance


@dataclass(frozen=True)
class GradcheckReport:
    """What gradcheck found: true if all entries agree; its text is a table."""

    function: str
    entries: tuple[Entry, ...]

    @property
    def failures(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if not entry.ok)

    @property
    def worst(self) -> Entry | None:
        """The entry that uses most of its tolerance."""
        return max(self.entries, key=lambda e: abs(e.derivative - e.difference) / e.tolerance, default=None)

    def __bool__(self) -> bool:
        return not self.failures

    @property
    def title(self) -> str:
        total, wrong = len(self.entries), len(self.failures)
        found = f"{wrong} of {total} partial derivatives disagree" if wrong else f"all {total} agree"
        return f"gradcheck of {self.function}: {found}"

    def _rows(self) -> list[tuple[str, ...]]:
        """The table, those that disagree first."""
        rows = []
        for e in sorted(self.entries, key=lambda e: e.ok)[:_ROWS]:
            error = abs(e.derivative - e.difference)
            rows.append(("ok" if e.ok else "WRONG", e.place, e.output, f"{e.derivative:.12g}", f"{e.difference:.12g}",
                         f"{error:.2g}", f"{e.tolerance:.2g}"))  # fmt: skip
        return rows

    def __str__(self) -> str:
        table = [_HEADER, *self._rows()]
        widths = [max(len(row[n]) for row in table) for n in range(7)]
        lines = [self.title]
        for row in table:
            cells = [cell.ljust(w) if n < 3 else cell.rjust(w) for n, (cell, w) in enumerate(zip(row, widths))]
            lines.append("  " + "  ".join(cells).rstrip())
        if len(self.entries) > _ROWS:
            lines.append(f"  ... and {len(self.entries) - _ROWS} more")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from .inspection.html import table

        return table(_HEADER, self._rows(), self.title)


_HEADER = ("", "by", "of", "derivative", "difference", "error", "allowed")
_ROWS = 20


def gradcheck(
    function: Callable[..., Any],
    /,
    *args: Any,
    rtol: float = 1e-6,
    atol: float = 1e-7,
    step: float | None = None,
    raises: bool = True,
    keywords: dict[str, Any] | None = None,
) -> GradcheckReport:
    """Compare the derivatives of `function` at `args` with central differences.

    Works for values that are numbers, arrays, or tuples of them. Every call gets fresh copies of the arguments, so the
    function may write into them. An argument that the function does not depend on (None) has to have differences 0.
    Returns a report that is true and prints as a table; raises GradcheckError with that table where they disagree
    (`raises=False`: returns the report, which is false then).

    >>> import math, zyg
    >>> bool(zyg.gradcheck(lambda x, y: math.sin(x) * y, 0.5, 2.0))
    True
    """
    from .api import pullback
    from .matrices import _seed

    keywords = keywords or {}

    def run(values: tuple[Any, ...]) -> list[tuple[str, float]]:
        return list(_numbers(function(*copy.deepcopy(values), **keywords), "value"))

    value, back = pullback(function, *copy.deepcopy(args), **keywords)
    outputs = list(_indices(value, ()))
    names = [name for name, _ in _numbers(value, "value")]
    rows = [back(_seed_at(value, index, _seed)) for index in outputs]
    entries: list[Entry] = []
    for at, arg in enumerate(args):
        name = _argument_name(function, at)
        for index in _indices(arg, ()):
            x = _get(arg, index)
            if not _is_real(x):
                continue
            wide = _differences(run, args, at, index, x, 2.0 * _step(x, step))
            narrow = _differences(run, args, at, index, x, _step(x, step))
            for n, output in enumerate(names):
                # Richardson's combination of the two; their distance bounds the error of the better one.
                best = (4.0 * narrow[n] - wide[n]) / 3.0
                uncertainty = abs(best - narrow[n]) + _rounding(run, args, n, _step(x, step))
                exact = _derivative(rows[n][at], index)
                tolerance = atol + rtol * max(abs(best), abs(exact)) + 2.0 * uncertainty
                entries.append(Entry(name + _subscript(index), output, exact, best, uncertainty, tolerance))
    report = GradcheckReport(describe(function), tuple(entries))
    if raises and not report:
        raise GradcheckError(report)
    return report


def _step(x: Any, step: float | None) -> float:
    import numpy as np

    if step is not None:
        return step
    eps = 1.2e-7 if getattr(x, "dtype", None) == np.float32 else 2.2e-16
    return eps ** (1 / 3) * max(1.0, abs(float(x)))


def _rounding(run: Any, args: tuple[Any, ...], n: int, h: float) -> float:
    """What rounding of the values alone can do to a difference quotient."""
    value = abs(run(args)[n][1])
    return 4.0 * 2.2e-16 * value / h if math.isfinite(value) else 0.0


def _differences(run: Any, args: tuple[Any, ...], at: int, index: tuple[Any, ...], x: Any, h: float) -> list[float]:
    above = run((*args[:at], _with(args[at], index, float(x) + h), *args[at + 1 :]))
    below = run((*args[:at], _with(args[at], index, float(x) - h), *args[at + 1 :]))
    return [(a - b) / (2.0 * h) for (_, a), (_, b) in zip(above, below)]


# ------------------------------------------------------------------------------- numbers inside structures
# A place in a structure is a tuple of steps: an int for a tuple or list, a field name, a tuple of ints for an array.


def _indices(value: Any, prefix: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    import numpy as np

    if isinstance(value, np.ndarray):
        for index in np.ndindex(value.shape):
            yield (*prefix, index)
    elif struct_fields(type(value)) is not None:
        for name in struct_fields(type(value)) or ():
            yield from _indices(getattr(value, name), (*prefix, name))
    elif isinstance(value, (tuple, list)):
        for at, item in enumerate(value):
            yield from _indices(item, (*prefix, at))
    elif _is_number(value):
        yield prefix


def _get(value: Any, index: tuple[Any, ...]) -> Any:
    for at in index:
        value = getattr(value, at) if isinstance(at, str) else value[at]
    return value


def _with(value: Any, index: tuple[Any, ...], number: float) -> Any:
    """A copy of `value` with another number at `index`."""
    import numpy as np

    if not index:
        return type(value)(number) if isinstance(value, np.floating) else number
    at, rest = index[0], index[1:]
    if isinstance(value, np.ndarray):
        changed = value.copy()
        changed[at] = number
        return changed
    if isinstance(at, str):
        if isinstance(value, tuple):
            return value._replace(**{at: _with(getattr(value, at), rest, number)})  # type: ignore[attr-defined]
        changed = copy.copy(value)
        object.__setattr__(changed, at, _with(getattr(value, at), rest, number))
        return changed
    items = [_with(item, rest, number) if n == at else item for n, item in enumerate(value)]
    return type(value)(items)


def _numbers(value: Any, name: str) -> Iterator[tuple[str, float]]:
    for index in _indices(value, ()):
        yield name + _subscript(index), float(_get(value, index))


def _seed_at(value: Any, index: tuple[Any, ...], seed: Callable[[Any, Any], Any]) -> Any:
    """A cotangent of `value` that is 1 at `index`; structures take the plain tuple of their fields' cotangents."""
    import numpy as np

    if isinstance(value, np.ndarray):
        return seed(value, index[0] if index else None)
    names = struct_fields(type(value))
    if names is not None:
        items = [getattr(value, name) for name in names]
        return tuple(_child(item, name, index, seed) for item, name in zip(items, names))
    if isinstance(value, (tuple, list)):
        return type(value)(_child(item, at, index, seed) for at, item in enumerate(value))
    return 1.0


def _child(item: Any, at: Any, index: tuple[Any, ...], seed: Callable[[Any, Any], Any]) -> Any:
    if index and index[0] == at:
        return _seed_at(item, index[1:], seed)
    return _zero(item, seed)


def _zero(value: Any, seed: Callable[[Any, Any], Any]) -> Any:
    names = struct_fields(type(value))
    if names is not None:
        return tuple(_zero(getattr(value, name), seed) for name in names)
    if isinstance(value, (tuple, list)):
        return type(value)(_zero(item, seed) for item in value)
    return seed(value, None)


def _derivative(gradient: Any, index: tuple[Any, ...]) -> float:
    """The entry of a gradient at a place of its argument; a None anywhere above it means 0."""
    for at in index:
        if gradient is None:
            return 0.0
        gradient = getattr(gradient, at) if isinstance(at, str) else gradient[at]
    return 0.0 if gradient is None else float(gradient)


def _is_number(value: Any) -> bool:
    import numpy as np

    return isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)


def _is_real(value: Any) -> bool:
    """Whether differences can be taken here: ints stay what they are."""
    import numpy as np

    return isinstance(value, (float, np.floating))


def _subscript(index: tuple[Any, ...]) -> str:
    text = ""
    for at in index:
        text += f".{at}" if isinstance(at, str) else f"[{', '.join(map(str, at)) if isinstance(at, tuple) else at}]"
    return text


def _argument_name(function: Any, at: int) -> str:
    from .dispatch import argument_name
    from .transforms import Transform

    name = argument_name(Transform("jit", function), at, ())
    return name if not name.isdecimal() else f"argument {name}"
