"""scipy.special, as far as it is listed here: functions of real numbers, on numbers and on arrays.

SciPy is needed by who calls these functions only.  What has no operation of its own is called by pointer, from
`scipy.special.cython_special`; the derivatives are formulas (most are in the NIST Handbook of Mathematical Functions).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special as sc

from zyg.frontend.merging import settled
from zyg.frontend.scalars import math_op, to_float
from zyg.frontend.values import Abstract, ComplexValue, Number, describe, is_number, known
from zyg.ir.core import Const, const
from zyg.ir.foreign import provide
from zyg.ir.types import F32, F64, I32

from .intrinsics import cut
from .numpy_.ufuncs import ufunc
from .provider import pointer_in
from .registry import emits, implements

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

_SQRT_PI = 1.7724538509055160273
_SQRT_2PI = 2.5066282746310005024
_SQRT_HALF = 0.70710678118654752440


@lru_cache(None)
def _address(name: str) -> int | None:
    """The function of doubles of that name."""
    from scipy.special import cython_special

    table = cython_special.__pyx_capi__
    for number in range(4):
        key = name if not number else f"__pyx_fuse_{number - 1}{name}"
        if key in table and _signature(table[key]).startswith("double (double"):
            return pointer_in(table[key])
    return None


def _signature(capsule: Any) -> str:
    return repr(capsule).partition('"')[2].partition('"')[0]


provide("special", _address)


def special(name: str, value: str | Callable[..., Any], *partials: Callable[..., Any] | None) -> Any:
    """The ufunc `scipy.special.<name>`: `value` is an operation of the IR ("op:..."), a function of cython_special, or Python
    code; `partials` are the derivatives by each argument, functions of the arguments and of the value, None where there is
    none (which only what is called by pointer may have). Gives what the ufunc does to numbers."""
    assert isinstance(value, str) or None not in partials, name

    def emitter(e: Evaluator, *args: Abstract) -> Abstract:
        from zyg.frontend.frames import Context

        numbers = [settled(e, v, "None is no number") for v in args]
        if any(isinstance(v, ComplexValue) for v in numbers) or not all(map(is_number, numbers)):
            raise e.refuse(
                f"scipy.special.{name} of this", types=[describe(v, e.heap) for v in args], hint="pass real numbers"
            )
        strong = [v for v in numbers if isinstance(v, Number) and v.numpy]
        single = bool(strong) and all(v.type is F32 for v in strong)
        given = [Number(to_float(e, v), True) for v in numbers]

        def of(depth: int) -> Number:
            # The derivative of the value is a function of the value, which is made anew for it: to be differentiated once
            # less often.
            result = plain()
            for x, partial in zip(given, partials) if depth else ():
                if partial is not None and not isinstance(x.value, Const):
                    with e.in_context(Context(e.options, depth - 1, e.context.forwards)):
                        slope = e.call(known(partial), [*given, of(depth - 1)])
                    result = Number(e.op("slope", result.value, to_float(e, slope), x.value), True)
            return result

        def plain() -> Number:
            # An argument without a derivative is left as it is, so that one that is asked for is refused.
            stopped = [
                x if partial is None or isinstance(x.value, Const) else Number(e.op("stop", x.value), True)
                for x, partial in zip(given, partials)
            ]
            if not isinstance(value, str):
                made = e.call(known(value), list(stopped))
                return Number(to_float(e, made), True)
            if value.startswith("op:"):
                return Number(math_op(e, value[3:], *(x.value for x in stopped)), True)
            (result,) = e.emit("foreign", *(x.value for x in stopped), const(0, I32), types=(F64,), int=32, returns=True,
                               symbol=f"special.{value}", spec="v" * (len(stopped) + 1))  # fmt: skip
            return Number(result, True)

        made = of(e.context.level)
        return Number(e.builder.cast(made.value, F32), True) if single else made

    function = getattr(sc, name, None) if name else None
    if function is not None:
        ufunc(function)(emitter)
    return emitter


# --------------------------------------------------------------------------------------- values in Python


def expit(x: float) -> float:
    t = np.exp(-abs(x))
    return (1.0 if x >= 0 else t) / (1.0 + t)


def log_expit(x: float) -> float:
    return min(x, 0.0) - np.log1p(np.exp(-abs(x)))


def logit(x: float) -> float:
    if 0.3 <= x <= 0.65:
        s = 2.0 * (x - 0.5)
        return np.log1p(s) - np.log1p(-s)
    return np.log(x / (1.0 - x))


def xlogy(x: float, y: float) -> float:
    return 0.0 if x == 0 and y == y else x * np.log(y)


def xlog1py(x: float, y: float) -> float:
    return 0.0 if x == 0 and y == y else x * np.log1p(y)


def entr(x: float) -> float:
    return -x * np.log(x) if x > 0 else (0.0 if x == 0 else (x if x != x else -np.inf))


def rel_entr(x: float, y: float) -> float:
    if x > 0 and y > 0:
        return x * np.log(x / y)
    return 0.0 if x == 0 and y >= 0 else (x + y if x != x or y != y else np.inf)


def kl_div(x: float, y: float) -> float:
    if x > 0 and y > 0:
        return x * np.log(x / y) - x + y
    return y if x == 0 and y >= 0 else (x + y if x != x or y != y else np.inf)


def quotient(x: float, y: float) -> float:
    """x / y; 0 where both are 0."""
    return 0.0 if x == 0 and y == 0 else x / y


def trigamma(x: float) -> float:
    """The derivative of psi."""
    return float(sc.polygamma(1, x))


def tetragamma(x: float) -> float:
    """The derivative of trigamma: by its recurrence up to where the asymptotic series is exact to the last digits."""
    total = 0.0
    while x < 20.0:
        total -= 2.0 / (x * x * x)
        x += 1.0
    r = 1.0 / (x * x)
    series = 1.0 / 2.0 - r * (1.0 / 6.0 - r * (1.0 / 6.0 - r * (3.0 / 10.0 - r * (5.0 / 6.0 - r * (691.0 / 210.0)))))
    return total - r * (1.0 + 1.0 / x + r * series)


def psi_times(y: float, x: float, rest: Callable[[], float]) -> float:
    """y * psi(x), of a y that has the factor 1 / gamma(x); where that is 0 its limit, which the reflection formula gives. `rest`:
    the other factors of y, times gamma(1 - x)."""
    if x > 0.0 or x != np.floor(x):
        return y * sc.psi(x)
    return y * sc.psi(1.0 - x) - rest() * np.cos(np.pi * x)


def exprel_slope(x: float) -> float:
    """The derivative of (exp(x) - 1) / x, near 0 by its series."""
    if abs(x) >= 1.0:
        return (np.exp(x) - sc.exprel(x)) / x
    total = 0.0
    for n in range(18, 0, -1):
        total = (n + x * total) / (n + 1.0)
    return total


def boxcox_slope(log: float, k: float, y: float) -> float:
    """The derivative of y = (exp(k * log) - 1) / k by k."""
    return log * log * exprel_slope(k * log)


def huber(d: float, r: float) -> float:
    if d < 0.0:
        return np.inf
    return 0.5 * r * r if abs(r) <= d else d * (abs(r) - 0.5 * d)


def pseudo_huber(d: float, r: float) -> float:
    if d < 0.0:
        return np.inf
    if d == 0.0 or r == 0.0:
        return 0.0
    u = r / d
    return d * d * (u * u / (np.hypot(1.0, u) + 1.0))


def ndtr(x: float) -> float:
    return 0.5 * sc.erfc(-x * _SQRT_HALF)


# -------------------------------------------------------------------------------------------- the table

_density = lambda x: np.exp(-0.5 * x * x) / _SQRT_2PI

for _name in ("exp2", "expm1", "log1p", "cbrt"):
    special(_name, f"op:{_name}", {
        "exp2": lambda x, y: 0.69314718055994530942 * y,
        "expm1": lambda x, y: y + 1.0,
        "log1p": lambda x, y: 1.0 / (1.0 + x),
        "cbrt": lambda x, y: quotient(1.0, 3.0 * y * y),
    }[_name])  # fmt: skip
special("gammaln", "op:lgamma", lambda x, y: sc.psi(x))
special("gamma", "op:gamma", lambda x, y: y * sc.psi(x))
emits(trigamma)(special("", "op:trigamma", lambda x, y: tetragamma(x)))
special("psi", "op:digamma", lambda x, y: trigamma(x))
special("rgamma", "rgamma", lambda x, y: -psi_times(y, x, lambda: sc.gamma(1.0 - x)))
special("erf", "op:erf", lambda x, y: 2.0 / _SQRT_PI * np.exp(-x * x))
special("erfc", "op:erfc", lambda x, y: -2.0 / _SQRT_PI * np.exp(-x * x))
special("erfcx", "erfcx", lambda x, y: 2.0 * x * y - 2.0 / _SQRT_PI)
special("erfi", "erfi", lambda x, y: 2.0 / _SQRT_PI * np.exp(x * x))
special("erfinv", "erfinv", lambda x, y: 0.5 * _SQRT_PI * np.exp(y * y))
special("erfcinv", "erfcinv", lambda x, y: -0.5 * _SQRT_PI * np.exp(y * y))
special("dawsn", "dawsn", lambda x, y: 1.0 - 2.0 * x * y)
special("expit", expit, lambda x, y: y * sc.expit(-x))
special("log_expit", log_expit, lambda x, y: sc.expit(-x))
special("logit", logit, lambda x, y: 1.0 / (x * (1.0 - x)))
special("xlogy", xlogy, lambda x, y, z: np.log(y), lambda x, y, z: quotient(x, y))
special("xlog1py", xlog1py, lambda x, y, z: np.log1p(y), lambda x, y, z: quotient(x, 1.0 + y))
special("entr", entr, lambda x, y: -np.log(x) - 1.0)
special("rel_entr", rel_entr, lambda x, y, z: np.log(x / y) + 1.0, lambda x, y, z: -quotient(x, y))
special("kl_div", kl_div, lambda x, y, z: np.log(x / y), lambda x, y, z: 1.0 - quotient(x, y))
special("beta", "beta", lambda a, b, y: y * sc.psi(a) - psi_times(y, a + b, lambda: sc.gamma(a) * sc.gamma(b) * sc.gamma(1.0 - a - b)),
        lambda a, b, y: y * sc.psi(b) - psi_times(y, a + b, lambda: sc.gamma(a) * sc.gamma(b) * sc.gamma(1.0 - a - b)))  # fmt: skip
special("betaln", "betaln", lambda a, b, y: sc.psi(a) - sc.psi(a + b), lambda a, b, y: sc.psi(b) - sc.psi(a + b))
special("ndtr", ndtr, lambda x, y: _density(x))
special("log_ndtr", "log_ndtr", lambda x, y: np.exp(-0.5 * x * x - y) / _SQRT_2PI)
special("ndtri", "ndtri", lambda x, y: _SQRT_2PI * np.exp(0.5 * y * y))
special("gammainc", "gammainc", None, lambda a, x, y: np.exp((a - 1.0) * np.log(x) - x - sc.gammaln(a)))
special("gammaincc", "gammaincc", None, lambda a, x, y: -np.exp((a - 1.0) * np.log(x) - x - sc.gammaln(a)))
special("betainc", "betainc", None, None,
        lambda a, b, x, y: np.exp((a - 1.0) * np.log(x) + (b - 1.0) * np.log1p(-x) - sc.betaln(a, b)))  # fmt: skip
special("exp10", "exp10", lambda x, y: 2.30258509299404568402 * y)
special("cosm1", "cosm1", lambda x, y: -np.sin(x))
special("exprel", "exprel", lambda x, y: exprel_slope(x))
special("powm1", "powm1", lambda x, y, z: y * np.power(x, y - 1.0), lambda x, y, z: (z + 1.0) * np.log(x))
special("boxcox", "boxcox", lambda x, k, y: np.power(x, k - 1.0), lambda x, k, y: boxcox_slope(np.log(x), k, y))
special("boxcox1p", "boxcox1p", lambda x, k, y: np.power(1.0 + x, k - 1.0),
        lambda x, k, y: boxcox_slope(np.log1p(x), k, y))  # fmt: skip
special("inv_boxcox", "inv_boxcox", lambda y, k, x: np.power(x, 1.0 - k),
        lambda y, k, x: -np.power(x, 1.0 - k) * boxcox_slope(np.log(x), k, y))  # fmt: skip
special("inv_boxcox1p", "inv_boxcox1p", lambda y, k, x: np.power(1.0 + x, 1.0 - k),
        lambda y, k, x: -np.power(1.0 + x, 1.0 - k) * boxcox_slope(np.log1p(x), k, y))  # fmt: skip
special("huber", huber, lambda d, r, y: max(abs(r) - d, 0.0), lambda d, r, y: min(max(r, -d), d))
special("pseudo_huber", pseudo_huber, lambda d, r, y: 2.0 * quotient(y, d) - quotient(r, d) * r / np.hypot(1.0, r / d),
        lambda d, r, y: r / np.hypot(1.0, r / d))  # fmt: skip


# ------------------------------------------------------------------------------------- sums of exponentials


@implements(sc.logsumexp)
def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False) -> Any:
    x = np.asarray(a)
    top = cut(np.max(x, axis=axis, keepdims=True))
    top = np.where(np.isfinite(top), top, 0.0).astype(top.dtype)
    terms = np.exp(x - top)
    if b is not None:
        terms = terms * b
    total = np.log(np.sum(terms, axis=axis, keepdims=keepdims))
    if keepdims:
        return total + top
    if axis is None:
        return total + top.ravel()[0]
    return total + np.squeeze(top, axis=axis)


@implements(sc.softmax)
def softmax(x: Any, axis: Any = None) -> Any:
    a = np.asarray(x)
    terms = np.exp(a - cut(np.max(a, axis=axis, keepdims=True)))
    return terms / np.sum(terms, axis=axis, keepdims=True)


@implements(sc.log_softmax)
def log_softmax(x: Any, axis: Any = None) -> Any:
    a = np.asarray(x)
    shifted = a - cut(np.max(a, axis=axis, keepdims=True))
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))
