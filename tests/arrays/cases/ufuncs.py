"""Universal functions."""

from __future__ import annotations

import numpy as np

from ..case import case
from ..drawing import A, Num

SHAPES = "n|n m|1 m|"


def _one(function: np.ufunc, dtypes: str, values: str, exact: bool = False, derivative: bool = True) -> None:
    case(function, lambda a: function(a), a=A(SHAPES, dtypes, values), exact=exact, derivative=derivative)
    case(function, lambda x: function(x), x=Num("dlFI" if "i" in dtypes else "dF", values), exact=exact,
         derivative=derivative)  # fmt: skip


# Where they are smooth; values outside of the domain are drawn where "any" is said.
for _f, _v in (
    (np.sin, "any"), (np.cos, "any"), (np.tan, "unit"), (np.arcsin, "unit"), (np.arccos, "unit"), (np.arctan, "any"),
    (np.sinh, "any"), (np.cosh, "any"), (np.tanh, "any"), (np.arcsinh, "any"), (np.arccosh, "above"),
    (np.arctanh, "unit"), (np.sqrt, "positive"), (np.exp, "any"), (np.expm1, "any"), (np.exp2, "any"),
    (np.log, "positive"), (np.log2, "positive"), (np.log10, "positive"), (np.log1p, "positive"),
):  # fmt: skip
    _one(_f, "dfliD", _v)
for _f, _v in (
    (np.cbrt, "positive"), (np.deg2rad, "any"), (np.rad2deg, "any"), (np.radians, "any"), (np.degrees, "any"),
):  # fmt: skip
    _one(_f, "dfli", _v)
for _f in (np.square, np.conjugate, np.positive, np.negative):
    _one(_f, "dfliD", "any", exact=_f is not np.square)
_one(np.reciprocal, "dfD", "positive")
_one(np.absolute, "dfliD", "any")
_one(np.fabs, "dfli", "any", exact=True)
_one(np.sign, "dfli", "any", exact=True)
case(np.sign, lambda a: np.sign(a), a=A(SHAPES, "D"))
for _f in (np.floor, np.ceil, np.trunc, np.rint):
    _one(_f, "dfli", "any", exact=True)
for _f in (np.isnan, np.isinf, np.isfinite):
    _one(_f, "dfliD", "any", exact=True, derivative=False)
_one(np.signbit, "dfli", "any", exact=True, derivative=False)
_one(np.logical_not, "dfli?", "ties", exact=True, derivative=False)
_one(np.invert, "li?B", "any", exact=True, derivative=False)
_one(np.spacing, "df", "finite", exact=True, derivative=False)


def _two(
    function: np.ufunc,
    dtypes: str,
    values: str = "any",
    exact: bool = False,
    derivative: bool = True,
    second: str | None = None,
) -> None:
    options = {"exact": exact, "derivative": derivative}
    case(function, lambda a, b: function(a, b), a=A("n m|n 1|n|m", dtypes, values),
         b=A("n m|1 m|n|n m", dtypes, second or values), **options)  # fmt: skip
    case(function, lambda a, x: function(a, x), a=A("n|n m", dtypes, values),
         x=Num("".join(c for c in "dl?" if c in dtypes) + ("F" if "f" in dtypes else ""), second or values), **options)  # fmt: skip


for _f in (np.add, np.subtract, np.multiply):
    _two(_f, "dfli?D" if _f is not np.subtract else "dfliD")
_two(np.true_divide, "dfliD", "finite")
for _f in (np.maximum, np.minimum, np.fmax, np.fmin):
    _two(_f, "dfli", exact=True)
_two(np.floor_divide, "dfli", "finite", exact=True, derivative=False, second="positive")
_two(np.remainder, "dfli", "finite", second="positive")
_two(np.fmod, "dfli", "finite", second="positive")
_two(np.power, "df", "positive", second="finite")
_two(np.power, "li", "few", derivative=False)
_two(np.float_power, "dfl", "positive", second="finite")
_two(np.arctan2, "dfli")
_two(np.hypot, "dfli")
_two(np.copysign, "dfl", exact=True)
_two(np.logaddexp, "dfl")
_two(np.logaddexp2, "dfl")
_two(np.heaviside, "df", exact=True)
_two(np.nextafter, "df", "finite", exact=True, derivative=False)
for _f in (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal):
    _two(_f, "dfli?", "ties", exact=True, derivative=False)
for _f in (np.logical_and, np.logical_or, np.logical_xor):
    _two(_f, "dfli?", "ties", exact=True, derivative=False)
for _f in (np.bitwise_and, np.bitwise_or, np.bitwise_xor):
    _two(_f, "li?", exact=True, derivative=False)
for _f in (np.left_shift, np.right_shift):
    _two(_f, "li", "few", exact=True, derivative=False)
for _f in (np.gcd, np.lcm):
    _two(_f, "li", "few", exact=True, derivative=False)
case(np.ldexp, lambda a, n: np.ldexp(a, n), a=A("n", "df", "finite"), n=A("n", "li", "few"), exact=True)
case(np.modf, lambda a: np.modf(a), a=A("n|n m", "df", "finite"))
case(np.frexp, lambda a: np.frexp(a), a=A("n|n m", "df", "finite"), derivative=False)
case(np.divmod, lambda a, b: np.divmod(a, b), a=A("n", "dl", "finite"), b=A("n", "dl", "positive"), derivative=False)


def _out(a, b):
    r = np.empty(a.shape)
    np.multiply(a, b, out=r)
    return r


def _where(a, b, m):
    r = np.full(a.shape, 2.0)
    np.add(a, b, out=r, where=m)
    return r


case(np.multiply, _out, a=A("n|n m", "d"), b=A("n|m", "d"))
case(np.add, _where, a=A("n|n m", "d"), b=A("n|m", "d"), m=A("n|n m", "?"))
case(np.clip, lambda a: np.clip(a, -0.51, 0.52), a=A(SHAPES, "dfD"[:2]))
case(np.clip, lambda a, lo, hi: np.clip(a, lo, hi), a=A("n m", "d"), lo=A("m", "d"), hi=A("n m", "d"))
case(np.clip, lambda a: np.clip(a, 0, 2), a=A("n", "li"))
case((np.ndarray, "clip"), lambda a: a.clip(0, 1), a=A("n|n m", "dl"))
case(np.where, lambda c, a, b: np.where(c, a, b), c=A("n|n m|n m", "?"), a=A("n|m|1 m", "dfl"), b=A("n|n m|n m", "dfl"))
case(np.where, lambda c, a: np.where(c, a, 0.5), c=A("n|n m", "?l"), a=A("n|n m", "df"))
case(np.where, lambda c: np.where(c), c=A("n|n m", "?l"), derivative=False)
case(np.nan_to_num, lambda a: np.nan_to_num(a), a=A("n|n m", "df"), derivative=True)
case(np.real, lambda a: np.real(a), a=A("n|n m", "dD"))
case(np.imag, lambda a: np.imag(a), a=A("n|n m", "dD"))
case(np.angle, lambda a: np.angle(a), a=A("n", "D", "positive"))
case(np.conj, lambda a: np.conj(a), a=A("n|n m", "dD"))
case(np.round, lambda a: np.round(a), a=A("n|n m", "dfl"))
# (Differences of second order would step over the jumps.)
case(np.round, lambda a: np.round(a, 2), a=A("n|n m", "d", "finite"), second=False)
case(np.sinc, lambda a: np.sinc(a), a=A("n", "d", "finite"))
case(np.isclose, lambda a, b: np.isclose(a, b), a=A("n", "dl", "ties"), b=A("n", "dl", "ties"), derivative=False)
case(np.allclose, lambda a, b: np.allclose(a, b), a=A("n", "dl", "ties"), b=A("n", "dl", "ties"), derivative=False)
case(
    np.array_equal,
    lambda a, b: np.array_equal(a, b),
    a=A("n", "dl", "ties"),
    b=A("n|n m", "dl", "ties"),
    derivative=False,
)
case(np.isscalar, lambda x: np.isscalar(x), x=Num("dl"), derivative=False)
for _c in (np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_):
    case(
        _c,
        (lambda c: lambda x: c(x))(_c),
        x=Num("l?" if _c is np.uint8 else "dlF", "few" if _c is np.uint8 else "finite"),
        exact=True,
        derivative=_c is np.float64,
    )
for _name in ("isposinf", "isneginf", "isreal", "iscomplex"):
    case(
        getattr(np, _name),
        eval(f"lambda a: np.{_name}(a)"),
        a=A("n|n m", "dD" if "inf" not in _name else "df"),
        derivative=False,
    )
case(
    [np.isrealobj, np.iscomplexobj], lambda a: (np.isrealobj(a), np.iscomplexobj(a)), a=A("n", "dlD"), derivative=False
)
case(
    np.array_equiv,
    lambda a, b: np.array_equiv(a, b),
    a=A("n m", "dl", "ties"),
    b=A("m|1 m", "dl", "ties"),
    derivative=False,
)
case(np.bitwise_count, lambda a: np.bitwise_count(a), a=A("n", "li"), derivative=False)
case(np.fix, lambda a: np.fix(a), a=A("n|n m", "df"), exact=True)
case(np.i0, lambda a: np.i0(a), a=A("n", "d", "finite"), tolerance=256)
case([np.around, (np.ndarray, "round")], lambda a: (np.around(a, 1), a.round(1)), a=A("n|n m", "d", "finite"))
case(
    [(np.generic, "round"), (np.generic, "clip")],
    lambda a: (a[0].round(), a[0].clip(0.0, 1.0)),
    a=A("n", "d", "finite", 1),
)
for _name in ("sum", "mean", "prod", "max", "min", "var", "std", "conj", "conjugate"):
    case((np.generic, _name), eval(f"lambda a: a[0].{_name}()"), a=A("n", "d", "finite", 1), derivative=_name != "std")
case(np.unstack, lambda a: np.unstack(a), a=A("3|3 n", "d"), exact=True)
case(np.asfortranarray, lambda a: np.asfortranarray(a), a=A("n m", "d"), exact=True)
case((np.ndarray, "__copy__"), lambda a: a.__copy__(), a=A("n m", "d"), exact=True)

_LIMITS = lambda a: (np.finfo(a.dtype).eps, np.finfo(a.dtype).max, np.iinfo(np.int32).max, np.finfo(float).tiny)
case([np.finfo, np.iinfo], _LIMITS, a=A("n", "df"), exact=True, derivative=False)
case(
    [np.promote_types, np.can_cast, np.issubdtype, np.isdtype],
    lambda a: (
        a.astype(np.promote_types(a.dtype, np.float32)),
        1 if np.can_cast(a.dtype, np.int32, "same_kind") else 2,
        1 if np.issubdtype(a.dtype, np.floating) else 2,
        1 if np.isdtype(a.dtype, "integral") else 2,
    ),
    a=A("n", "dfli"),
    derivative=False,
)
case(
    [(np.generic, _name) for _name in ("any", "all", "argmax", "argmin", "cumsum", "cumprod")],
    lambda a: (a[0].any(), a[0].all(), a[0].argmax(), a[0].argmin(), a[0].cumsum(), a[0].cumprod()),
    a=A("n", "d", "finite", 1),
)
