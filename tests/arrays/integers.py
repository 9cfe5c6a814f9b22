"""The derivatives of cases by integers against those by floats of the same values, where the value is the same.

Everything is asked of zyg: what is wrong for floats is found by differences (check.py).  Compiled code is compared by itself and
through Python, in reverse and forward mode.  None and zeros count as equal: which of them it is hangs on paths in the program,
which are not the same (a comparison of unsigned numbers with 0, say).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import zyg
from zyg.autodiff.objects.api import pullback as python_pullback

from .case import Case
from .check import copies, cotangent, inner, outcome
from .drawing import APART, A, Rng, inputs, signature

DTYPES = ("int64", "int32", "uint8")
BACK_ENDS = ("natively", "through Python")


def whole(case: Case, rng: Rng, dtype: str) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Arguments with integers in the place of doubles, in all arrays or in one, and the same as floats; None if NumPy gives
    something else for them, or nothing."""
    fixed = signature(rng, case.specs, plain=True)
    drawn = inputs(rng, fixed, smooth=True)
    reals = [n for n, f in fixed.items() if isinstance(f.spec, A) and f.dtype == "d"]
    if not reals:
        return None
    chosen = reals if rng.random() < 0.7 else [reals[int(rng.integers(len(reals)))]]
    ints, floats = dict(drawn), dict(drawn)
    for name in chosen:
        values = _apart(drawn[name]) if fixed[name].spec.values in APART else np.rint(drawn[name])
        floats[name] = np.asarray(np.abs(values) if dtype == "uint8" else values)
        ints[name] = floats[name].astype(dtype)
    theirs, ours = outcome(case.function, copies(floats)), outcome(case.function, copies(ints))
    return (ints, floats) if _same(ours, theirs) else None


def _apart(a: np.ndarray) -> np.ndarray:
    """Whole numbers in the same order whose magnitudes differ: of equal ones, sorting takes one or another by their type."""
    size = np.abs(a).ravel()
    return np.sign(a) * np.argsort(np.argsort(size)).reshape(a.shape)


def _same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, (tuple, list)):
        return isinstance(ours, type(theirs)) and len(ours) == len(theirs) and all(map(_same, ours, theirs))
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        return False
    a, b = np.asarray(ours), np.asarray(theirs)
    if a.dtype.kind not in "fciu" or b.dtype.kind not in "fc" or a.shape != b.shape or not np.all(np.isfinite(b)):
        return False
    if a.dtype == np.float16:  # of a function of uint8
        return False
    return bool(np.allclose(a, b, rtol=1e-9, atol=1e-9))


class Refusal(Exception):
    """One of the derivatives is refused: there is nothing to compare."""


def mismatches(case: Case, rng: Rng, dtype: str, back_end: str) -> Iterator[str]:
    made = whole(case, rng, dtype)
    if made is None:
        return
    ints, floats = made
    weights = cotangent(rng, case.function(*copies(floats).values()))
    try:
        wanted = _cotangents(case, floats, weights, back_end)
        found = _cotangents(case, ints, weights, back_end)
        yield from (_text(case, ints, f"{back_end}, by {name}", g, w)
                    for name, g, w in zip(ints, found, wanted) if not _near(g, w))  # fmt: skip
        if back_end != BACK_ENDS[0]:
            return
        directions = [_direction(rng, v) for v in ints.values()]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error", zyg.FallbackWarning)
            tangent = zyg.jvp(case.function, tuple(copies(ints).values()), tuple(directions))[1]
    except (zyg.Unsupported, zyg.FallbackWarning) as error:
        raise Refusal(str(error)) from None
    along = sum(inner(g, v) for g, v in zip(found, directions) if g is not None and v is not None)
    forward = 0.0 if tangent is None else _inner(weights, tangent)
    if not _near(forward, along):
        yield _text(case, ints, "forward and reverse mode", forward, along)


def _cotangents(case: Case, drawn: dict[str, Any], weights: Any, back_end: str) -> tuple[Any, ...]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", zyg.FallbackWarning)
        given = tuple(copies(drawn).values())
        if back_end == BACK_ENDS[0]:
            return zyg.pullback(case.function, *given)[1](weights)
        return python_pullback(case.function, given)[1](weights)


def _direction(rng: Rng, v: Any) -> Any:
    """Into which an argument is moved, integers too."""
    if isinstance(v, np.ndarray) and v.dtype.kind in "iuf":
        return rng.uniform(-1.0, 1.0, v.shape)
    return float(rng.uniform(-1.0, 1.0)) if type(v) is float else None


def _inner(a: Any, b: Any) -> float:
    if b is None:
        return 0.0
    return sum(map(_inner, a, b)) if isinstance(b, (tuple, list)) else inner(a, b)


def _near(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, (tuple, list)) or isinstance(found, (tuple, list)):
        found, wanted = (x or () for x in (found, wanted))
        count = max(len(found), len(wanted))
        return all(_near(g, w) for g, w in zip(*((*x, *[None] * (count - len(x))) for x in (found, wanted))))
    g, w = (0.0 if x is None else x for x in (found, wanted))
    if not isinstance(g, (int, float, complex, np.ndarray, np.generic)):
        return True  # of an object: parts that are no arrays
    return bool(np.allclose(g, w, rtol=1e-6, atol=1e-9, equal_nan=True))


def _text(case: Case, drawn: dict[str, Any], what: str, found: Any, wanted: Any) -> str:
    shown = "\n".join(f"    {n} = {v!r}" for n, v in drawn.items())
    return f"{case} of integers, {what}: {found!r} instead of {wanted!r}\n{shown}"
