"""scipy.special: relatives of the gamma function, elliptic and exponential integrals, hypergeometric functions, and the
distributions that are made of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special as sc

from zyg.frontend.elementwise import lift
from zyg.frontend.operators import binary
from zyg.frontend.scalars import to_float
from zyg.frontend.values import Abstract, Known, Number, known

from .numpy_.ufuncs import NONE, operand
from .registry import emits, implements
from .special import psi_times, special

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

_TWO_PI = 6.2831853071795864769
_SQRT_2PI = 2.5066282746310005024
_SQRT_HALF = 0.70710678118654752440

# ------------------------------------------------------------------------------- the gamma function and zeta

# (2 k)! / B(2 k), of the Euler-Maclaurin formula
_ZETA = (
    12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1.8924375803183791606e9, 7.47242496e10, -2.950130727918164224e12,
    1.1646782814350067249e14, -4.5979787224074726105e15, 1.8152105401943546773e17, -7.1661652561756670113e18,
)  # fmt: skip


def hurwitz(x: float, q: float) -> float:
    """The sum of (n + q)**-x from n = 0 on, by the Euler-Maclaurin formula (as in Cephes, which SciPy has)."""
    if x == 1.0:
        return np.inf
    if x < 1.0 or x != x or q != q:
        return np.nan
    if q <= 0.0:
        if q == np.floor(q):
            return np.inf
        if x != np.floor(x):
            return np.nan
    if q > 1e8:
        return (1.0 / (x - 1.0) + 1.0 / (2.0 * q)) * np.power(q, 1.0 - x)
    total = np.power(q, -x)
    a, b, n = q, 0.0, 0
    while n < 9 or a <= 9.0:
        n += 1
        a += 1.0
        b = np.power(a, -x)
        total += b
        if abs(b) < 1.1e-16 * abs(total):
            return total
    total += b * a / (x - 1.0) - 0.5 * b
    factor, k = 1.0, 0.0
    for divisor in _ZETA:
        factor *= x + k
        b /= a
        term = factor * b / divisor
        total += term
        if abs(term) < 1.1e-16 * abs(total):
            return total
        factor *= x + k + 1.0
        b /= a
        k += 2.0
    return total


def _hurwitz(e: Evaluator, x: Abstract, q: Abstract) -> Abstract:
    return Number(to_float(e, e.call(known(hurwitz), [Number(to_float(e, v), True) for v in (x, q)])), True)


def _sums(x: float) -> tuple[float, float]:
    """Riemann's zeta function of x >= 0 and its derivative, by the Euler-Maclaurin formula from 1 / 10**x on."""
    value, slope = 1.0, 0.0
    for n in range(2, 10):
        power = np.power(float(n), -x)
        value += power
        slope -= np.log(float(n)) * power
    power, log = np.power(10.0, -x), np.log(10.0)
    rest = 10.0 / (x - 1.0) + 0.5
    value += rest * power
    slope -= (log * rest + 10.0 / (x - 1.0) / (x - 1.0)) * power
    factor, by_x, k = x, 1.0, 0.0  # x * (x + 1) * ... and its derivative
    power /= 10.0
    for divisor in _ZETA:
        value += factor * power / divisor
        slope += (by_x - log * factor) * power / divisor
        for step in (k + 1.0, k + 2.0):
            by_x = by_x * (x + step) + factor
            factor *= x + step
        power /= 100.0
        k += 2.0
    return value, slope


def riemann_slope(x: float, y: float) -> float:
    """The derivative of Riemann's zeta function; of negative numbers by the functional equation."""
    if x > 1100.0:
        return 0.0
    if x >= 0.0:
        return _sums(x)[1]
    value, slope = _sums(1.0 - x)
    others = np.exp(sc.gammaln(1.0 - x) + np.log(_TWO_PI) * x) / np.pi
    half = 0.5 * np.pi
    by_log = (np.log(_TWO_PI) - sc.psi(1.0 - x)) * value - slope
    return others * (by_log * np.sin(half * x) + half * value * np.cos(half * x))


_riemann = special("zetac", "zetac", riemann_slope)


@emits(sc.zeta)
def zeta(e: Evaluator, x: Abstract, q: Abstract = NONE) -> Abstract:
    if isinstance(q, Known) and q.object is None:
        return binary(e, "add", lift(e, ("zetac", "special"), _riemann, [operand(e, x)], 1), Known(1.0))
    return lift(e, ("zeta", "special"), _hurwitz, [operand(e, x), operand(e, q)], 1)


@implements(sc.polygamma)
def polygamma(n: Any, x: Any) -> Any:
    order, at = np.asarray(n), np.asarray(x)
    next_ = order + 1.0
    higher = np.where(order % 2 == 1, 1.0, -1.0) * sc.gamma(next_) * sc.zeta(next_, at)
    return np.where(order == 0, sc.psi(at), higher)


@implements(vars(sc)["multigammaln"])
def multigammaln(a: Any, d: int) -> Any:
    at = np.asarray(a)
    if d != np.floor(d):
        raise ValueError("d should be a positive integer (dimension)")
    if np.any(at <= 0.5 * (d - 1)):
        raise ValueError(f"condition a > 0.5 * (d-1) ({0.5 * (d - 1)}) not met")
    total = np.zeros(at.shape) + d * (d - 1) * 0.25 * np.log(np.pi)
    for j in range(d):
        total = total + sc.gammaln(at - 0.5 * j)
    return total


@implements(sc.comb)
def comb(N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Any:
    if exact:
        if repetition:
            return math.comb(N + k - 1, k) if N + k > 0 else 1 if k == 0 else 0
        return math.comb(N, k) if N >= 0 and k >= 0 else 0
    n, chosen = np.asarray(N), np.asarray(k)
    if repetition:
        return np.where((chosen == 0) & (n >= 0), 1.0, sc.comb(n + chosen - 1, chosen))
    return np.where((chosen <= n) & (n >= 0) & (chosen >= 0), sc.binom(n, chosen), 0.0)


@implements(sc.factorial)
def factorial(n: Any, exact: bool = False) -> Any:
    if exact:
        return math.factorial(n) if n >= 0 else 0
    at = np.asarray(n)
    return np.where(at < 0, 0.0, sc.gamma(at + 1.0))


special("loggamma", "loggamma", lambda x, y: sc.psi(x))
special("gammasgn", "gammasgn", lambda x, y: 0.0)


def _psi_of_rest(n: float, k: float, y: float) -> float:
    """binom(n, k) * psi(n - k + 1)"""
    return psi_times(y, n - k + 1.0, lambda: sc.beta(n + 1.0, k - n))


special("binom", "binom", lambda n, k, y: y * sc.psi(n + 1.0) - _psi_of_rest(n, k, y),
        lambda n, k, y: _psi_of_rest(n, k, y) - psi_times(y, k + 1.0, lambda: sc.beta(n + 1.0, -k)))  # fmt: skip


def _poch_slope(z: float, m: float, y: float) -> float:
    """The derivative of poch(z, m) by z; where both its gammas are infinite, their quotient is that of their reflections."""
    if z <= 0.0 and z + m <= 0.0 and z == np.floor(z) and m == np.floor(m):
        return y * (sc.psi(1.0 - z - m) - sc.psi(1.0 - z))
    return y * sc.psi(z + m) - psi_times(y, z, lambda: sc.gamma(z + m) * sc.gamma(1.0 - z))


special("poch", "poch", _poch_slope, lambda z, m, y: y * sc.psi(z + m))

# ------------------------------------------------------------------------------------------------ integrals


def ellipk_slope(m: float) -> float:
    if abs(m) < 0.125:
        return 0.39269908169872415481 * sc.hyp2f1(1.5, 1.5, 2.0, m)
    return (sc.ellipe(m) / (1.0 - m) - sc.ellipk(m)) / (2.0 * m)


def ellipe_slope(m: float) -> float:
    if abs(m) < 0.125:
        return -0.39269908169872415481 * sc.hyp2f1(0.5, 1.5, 2.0, m)
    return (sc.ellipe(m) - sc.ellipk(m)) / (2.0 * m)


def incomplete_slope(phi: float, m: float, kind: float) -> float:
    """The derivative by a small m of the incomplete integral of the first kind (1) or the second (-1), by its series."""
    s, c = np.sin(phi), np.cos(phi)
    moment, power, factor, total = phi, s * c, 1.0, 0.0
    for n in range(1, 26):
        moment = ((2 * n - 1) * moment - power) / (2 * n)  # the integral of sin ** (2 n)
        weight = factor * (2 * n - 1) / (2 * n)
        total += (n * weight if kind > 0 else -0.5 * factor) * moment
        power *= s * s
        factor = weight * m
    return total


def ellipkinc_slope(phi: float, m: float, y: float) -> float:
    if abs(m) < 0.125:
        return incomplete_slope(phi, m, 1.0)
    rest = np.sin(2.0 * phi) / (4.0 * (1.0 - m) * np.sqrt(1.0 - m * np.sin(phi) ** 2))
    return (sc.ellipeinc(phi, m) / (1.0 - m) - y) / (2.0 * m) - rest


def spence_slope(z: float) -> float:
    """log(z) / (1 - z), near 1 by its series."""
    u = z - 1.0
    if abs(u) >= 0.01:
        return -np.log(z) / u
    total = 0.0
    for n in range(9, 0, -1):
        total = 1.0 / n - u * total
    return -total


special("ellipk", "ellipk", lambda m, y: ellipk_slope(m))
special("ellipkm1", "ellipkm1", lambda p, y: -ellipk_slope(1.0 - p))
special("ellipe", "ellipe", lambda m, y: ellipe_slope(m))
special("ellipkinc", "ellipkinc", lambda phi, m, y: 1.0 / np.sqrt(1.0 - m * np.sin(phi) ** 2),
        lambda phi, m, y: ellipkinc_slope(phi, m, y))  # fmt: skip
special("ellipeinc", "ellipeinc", lambda phi, m, y: np.sqrt(1.0 - m * np.sin(phi) ** 2),
        lambda phi, m, y: incomplete_slope(phi, m, -1.0) if abs(m) < 0.125 else (y - sc.ellipkinc(phi, m)) / (2.0 * m))  # fmt: skip
special("spence", "spence", lambda z, y: spence_slope(z))
special("expi", "expi", lambda x, y: np.exp(x) / x)
special("exp1", "exp1", lambda x, y: -np.exp(-x) / x)
special("expn", "expn", None, lambda n, x, y: -y * (1.0 + 1.0 / x) if n < 1.0 else -sc.expn(n - 1.0, x))
special("owens_t", "owens_t", lambda h, a, y: -0.5 / _SQRT_2PI * np.exp(-0.5 * h * h) * sc.erf(a * h * _SQRT_HALF),
        lambda h, a, y: np.exp(-0.5 * h * h * (1.0 + a * a)) / (_TWO_PI * (1.0 + a * a)))  # fmt: skip

special("hyp0f1", "hyp0f1", None, lambda b, x, y: sc.hyp0f1(b + 1.0, x) / b)
special("hyp1f1", "hyp1f1", None, None, lambda a, b, x, y: a / b * sc.hyp1f1(a + 1.0, b + 1.0, x))
special("hyperu", "hyperu", None, None, lambda a, b, x, y: -a * sc.hyperu(a + 1.0, b + 1.0, x))
special("hyp2f1", "hyp2f1", None, None, None,
        lambda a, b, c, x, y: a * b / c * sc.hyp2f1(a + 1.0, b + 1.0, c + 1.0, x))  # fmt: skip

# -------------------------------------------------------------------------------- distributions and inverses

special("gammaincinv", "gammaincinv", None, lambda a, p, y: np.exp(sc.gammaln(a) + y + (1.0 - a) * np.log(y)))
special("gammainccinv", "gammainccinv", None, lambda a, p, y: -np.exp(sc.gammaln(a) + y + (1.0 - a) * np.log(y)))
special("betaincinv", "betaincinv", None, None,
        lambda a, b, p, y: np.exp(sc.betaln(a, b) + (1.0 - a) * np.log(y) + (1.0 - b) * np.log1p(-y)))  # fmt: skip
special("ndtri_exp", "ndtri_exp", lambda x, y: _SQRT_2PI * np.exp(x + 0.5 * y * y))


def student_density(df: float, t: float) -> float:
    log_scale = sc.gammaln(0.5 * (df + 1.0)) - sc.gammaln(0.5 * df) - 0.5 * np.log(np.pi * df)
    return np.exp(log_scale - 0.5 * (df + 1.0) * np.log1p(t * t / df))


def gamma_density(a: float, b: float, x: float) -> float:
    return np.exp(b * np.log(a) + (b - 1.0) * np.log(x) - a * x - sc.gammaln(b))


special("stdtr", "stdtr", None, lambda df, t, y: student_density(df, t))
special("chdtr", "chdtr", None, lambda v, x, y: gamma_density(0.5, 0.5 * v, x))
special("chdtrc", "chdtrc", None, lambda v, x, y: -gamma_density(0.5, 0.5 * v, x))
special(
    "gdtr", "gdtr", lambda a, b, x, y: x / a * gamma_density(a, b, x), None, lambda a, b, x, y: gamma_density(a, b, x)
)
special("gdtrc", "gdtrc", lambda a, b, x, y: -x / a * gamma_density(a, b, x), None,
        lambda a, b, x, y: -gamma_density(a, b, x))  # fmt: skip
special("pdtr", "pdtr", None, lambda k, m, y: -np.exp(np.floor(k) * np.log(m) - m - sc.gammaln(np.floor(k) + 1.0)))
special("pdtrc", "pdtrc", None, lambda k, m, y: np.exp(np.floor(k) * np.log(m) - m - sc.gammaln(np.floor(k) + 1.0)))
