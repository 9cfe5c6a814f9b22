"""gradcheck: derivatives against central differences.

Differences are taken with a step that balances truncation and rounding, h = cbrt(eps) * max(1, |x|), at two step sizes;
the spread of the two tells how far the difference itself can be trusted, and that is allowed for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import places
from .errors import GradcheckError
from .params import Params
from .transforms import describe
from .twins import twins


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

    Arguments and value are numbers (real or complex), arrays, and structures of them: tuples, lists, dicts, dataclasses,
    objects. Every call gets fresh copies of the arguments, so the function may write into them. An argument that the
    function does not depend on (None) has to have differences 0; integers count as numbers where a derivative flows into
    them. With `Params` for arguments the parameters are varied in place.

    Returns a report that is true and prints as a table; raises GradcheckError with that table where they disagree
    (`raises=False`: returns the report, which is false then), TypeError where there is nothing to compare.

    >>> import math, zyg
    >>> bool(zyg.gradcheck(lambda x, y: math.sin(x) * y, 0.5, 2.0))
    True
    """
    from .api import pullback

    keywords = keywords or {}
    by_params = len(args) == 1 and isinstance(args[0], Params)
    roots = list(args[0]) if by_params else list(args)
    value, back = pullback(function, *(args if by_params else twins(args)), **keywords)
    outputs = list(places.places(value))
    inputs = list(places.places(roots))
    if not outputs or not inputs:
        what = (
            f"its value, a {type(value).__qualname__}, holds no number" if not outputs else "no argument holds a number"
        )
        raise TypeError(f"gradcheck of {describe(function)} has nothing to compare: {what}")

    def run(place: places.Place, number: float) -> list[float]:
        """The numbers in the value, with another number in a place of the arguments."""
        if by_params:
            before = places.get(roots, place)
            places.put(roots, place, number)
            try:
                found = function()
            finally:
                places.put(roots, place, before)
        else:
            found = function(*places.put(twins(roots), place, number), **keywords)
        return [float(places.get(found, output)) for output in outputs]

    rows = []
    for output in outputs:
        given = back(places.unit(value, output))
        rows.append([given[p] for p in roots] if by_params else given)
    entries: list[Entry] = []
    for place in inputs:
        x = places.get(roots, place)
        found = [places.entry(row, place) for row in rows]
        whole = isinstance(x, (int, np.integer))
        if whole and all(g is None for g in found):
            continue  # what counts or steers cannot be varied
        h = _step(x, step)
        try:
            wide, narrow = (_differences(run, place, float(x), d) for d in (2.0 * h, h))
        except TypeError:
            if whole:
                continue  # it is used as an index, say
            raise
        values = run(place, float(x))
        name = _name(function, place, by_params)
        for n, output in enumerate(outputs):
            # Richardson's combination of the two; their distance bounds the error of the better one.
            best = (4.0 * narrow[n] - wide[n]) / 3.0
            # What rounding of the values alone can do to a difference quotient:
            rounding = 4.0 * 2.2e-16 * abs(values[n]) / h if math.isfinite(values[n]) else 0.0
            uncertainty = abs(best - narrow[n]) + rounding
            exact = found[n] or 0.0
            tolerance = atol + rtol * max(abs(best), abs(exact)) + 2.0 * uncertainty
            entries.append(Entry(name, "value" + places.text(output), exact, best, uncertainty, tolerance))
    report = GradcheckReport(describe(function), tuple(entries))
    if raises and not report:
        raise GradcheckError(report)
    return report


def _step(x: Any, step: float | None) -> float:
    if step is not None:
        return step
    eps = 1.2e-7 if getattr(x, "dtype", None) == np.float32 else 2.2e-16
    return eps ** (1 / 3) * max(1.0, abs(float(x)))


def _differences(
    run: Callable[[places.Place, float], list[float]], place: places.Place, x: float, h: float
) -> list[float]:
    return [(a - b) / (2.0 * h) for a, b in zip(run(place, x + h), run(place, x - h))]


def _name(function: Any, place: places.Place, by_params: bool) -> str:
    """A place among the arguments by the name of the argument."""
    from .transforms import Transform, argument_name

    (_, at), rest = place[0], place[1:]
    if by_params:
        return f"parameter {at}{places.text(rest)}"
    name = argument_name(Transform("jit", function), at, ())
    return (name if not name.isdecimal() else f"argument {name}") + places.text(rest)
