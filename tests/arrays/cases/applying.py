"""Makers with brackets, functions applied to lines, sets, windows, polynomials, and what else is put together of others."""

from __future__ import annotations

import numpy as np

from ..case import case
from ..drawing import A, Num

SQUARE = np.vectorize(lambda x, y: x * x * 1.0 if x > y else -y)

_R, _C, _S = ((type(maker), "__getitem__") for maker in (np.r_, np.c_, np.s_))
case(_R, lambda a, b, x: np.r_[a, x, 0:3, b], a=A("n", "dfl"), b=A("m", "dl"), x=Num("dl", "finite"), exact=True)
case(_R, lambda a, b: np.r_["0,2", a, b], a=A("n|n m", "dl"), b=A("n|k m", "dl"), exact=True)
case(_R, lambda a: (np.r_["1,3,0", a, a], np.r_[0:1:5j]), a=A("n", "d"))
case(_C, lambda a, b: np.c_[a, b], a=A("n|n m", "dl"), b=A("n|n", "dl"), exact=True)
case(_S, lambda a: (a[np.s_[1:, 0]], a[np.index_exp[0]]), a=A("n m", "dl", least=1), exact=True)
case(
    (type(np.mgrid), "__getitem__"),
    lambda n: (np.mgrid[0:n, 1:4], np.mgrid[0:n:0.3], np.mgrid[0:1:4j, 0:n]),
    n=Num("l", choices=(0, 1, 3)),
    derivative=False,
)
case(
    (type(np.ogrid), "__getitem__"),
    lambda n: (np.ogrid[0:n, 1:4], np.ogrid[0:1:3j, 0:n:2]),
    n=Num("l", choices=(0, 1, 3)),
    derivative=False,
)

case(np.vectorize, lambda a, b: np.vectorize(lambda x, y: x * y)(a, b), a=A("n 1|n", "dl"), b=A("m|n", "d"))
case((np.vectorize, "__call__"), lambda a, x: SQUARE(a, x), a=A("n|n m|", "dl"), x=Num("d", "finite"))
case(
    np.apply_along_axis, lambda a: np.apply_along_axis(lambda r: np.cumsum(r), 0, a), a=A("n|n m|n m k", "dl", "finite")
)
case(np.apply_along_axis, lambda a: np.apply_along_axis(lambda r: r.sum() * 2, -1, a), a=A("n m", "dl", "finite"))
case(
    np.apply_along_axis,
    lambda a: np.apply_along_axis(lambda r, s: np.outer(r, r) * s, 1, a, 2.0),
    a=A("n m k", "d", "finite", least=1),
)
case(np.apply_over_axes, lambda a: np.apply_over_axes(np.sum, a, (0, -1)), a=A("n m|n m k", "dl", "finite"))

case(
    [np.union1d, np.setxor1d],
    lambda a, b: (np.union1d(a, b), np.setxor1d(a, b)),
    a=A("n|n m", "dl", "ties"),
    b=A("m", "dl", "ties"),
    exact=True,
)
case(
    [np.intersect1d, np.setdiff1d],
    lambda a, b: (np.intersect1d(a, b), np.setdiff1d(a, b), np.intersect1d(a, b, return_indices=True)),
    a=A("n|n m", "dl", "ties"),
    b=A("m", "dl", "ties"),
    exact=True,
    derivative=False,
)

case(
    [np.hanning, np.hamming, np.blackman, np.bartlett],
    lambda n: (np.hanning(n), np.hamming(n), np.blackman(n), np.bartlett(n)),
    n=Num("l", choices=(-1, 0, 1, 2, 7)),
    derivative=False,
)
case(np.kaiser, lambda n, x: np.kaiser(n, x), n=Num("l", choices=(1, 2, 7)), x=Num("d", "unit"), tolerance=64)

case(
    [np.polyadd, np.polysub],
    lambda a, b: (np.polyadd(a, b), np.polysub(a, b)),
    a=A("n", "dl", "finite"),
    b=A("m", "dl", "finite"),
)
case(np.polymul, lambda a, b: np.polymul(a, b), a=A("n", "dl", "finite"), b=A("m", "dl", "finite"))
case(np.polyint, lambda a: (np.polyint(a), np.polyint(a, 2, [1.0, 2.0])), a=A("n", "dl", "finite"))

case(
    np.interp,
    lambda x, xp, fp: np.interp(x, xp, fp, period=3.0),
    x=A("n|n m", "d", "finite"),
    xp=A("m", "d", "ascending", least=1),
    fp=A("m", "d", "finite", least=1),
)
case(np.trim_zeros, lambda a: (np.trim_zeros(a), np.trim_zeros(a, "b")), a=A("n", "dl", "ties"), exact=True)
case(np.astype, lambda a: np.astype(a, np.float64), a=A("n|n m", "dfl"), exact=True)
case(np.fromiter, lambda a: np.fromiter((x * 2 for x in a), float, 2), a=A("n", "d", "finite"), exact=True)
case(np.squeeze, lambda a: (np.squeeze(a), a.squeeze()), a=A("n|n m|n 1 m|", "dlD"), exact=True, derivative=False)
case(np.squeeze, lambda a: np.squeeze(a[None, :, :, None]), a=A("n m", "dl"), exact=True, derivative=False)
case(np.squeeze, lambda a: np.sum(np.sin(np.squeeze(a))), a=A("n|n m|n 1 m|", "d", "finite"))
case(
    np.broadcast_shapes,
    lambda n: np.broadcast_shapes((n, 1), 3, (1, 1, 3)),
    n=Num("l", choices=(0, 1, 3)),
    derivative=False,
)


def _nditer(a):
    total = 0.0
    for x in np.nditer(a):
        total = total * 0.5 + np.square(x)
    return total


case(np.nditer, _nditer, a=A("n|n m", "d", "finite", least=1, layouts="C"))


def _errstate(a):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(a > 0, np.log(np.abs(a)), 0.0)


case([np.errstate, (np.errstate, "__enter__")], _errstate, a=A("n|n m", "d"))

case(
    [np.where, np.choose, np.select],
    lambda m, a, b: (np.where(m, a, b), np.choose(m.astype(int), [a, b]), np.select([m, ~m], [a, b * 2])),
    m=A("n", "?"),
    a=A("n", "dflD"),
    b=A("n", "dfD"),
    exact=True,
)


def _put_all(a, m, v):
    np.place(a, m, v)
    np.putmask(a, ~m, v)
    return a


case([np.place, np.putmask], _put_all, a=A("n", "dfl?"), m=A("n", "?"), v=A("n", "dfl?", "few"), derivative=False)
