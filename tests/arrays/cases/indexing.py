"""Indices of all kinds, read and written; taking, putting, choosing; sorting and searching; sets and counting."""

from __future__ import annotations

import numpy as np

from ..case import case
from ..drawing import A, Num

get, put = (np.ndarray, "__getitem__"), (np.ndarray, "__setitem__")

for _f, _dims in (
    (lambda a: a[1:], "n|n m"), (lambda a: a[::-1], "n|n m"), (lambda a: a[:, 1:3], "n m|n m k"), (lambda a: a[..., 0], "n m|n m k"),
    (lambda a: a[None, :, 1:], "n m"), (lambda a: a[-2:, ::2], "n m"), (lambda a: a[:, None], "n|n m"), (lambda a: a[...], "n|n m|"),
    (lambda a: a[1], "n|n m"), (lambda a: a[-1, 0], "n m|n m k"), (lambda a: a[:, -1], "n m|n m k"), (lambda a: a[3:0:-1], "n|n m"),
):  # fmt: skip
    case(get, _f, a=A(_dims, "dlD"), exact=True)
case(get, lambda a, i: a[i], a=A("n|n m|n m k", "dlD", least=1), i=A("p|p q", "l", "index:n"), exact=True)
case(get, lambda a, i: a[:, i], a=A("m n|m n k", "dl", least=1), i=A("p", "li", "index:n"), exact=True)
case(
    get,
    lambda a, i, j: a[i, j],
    a=A("n m|n m k", "dlD", least=1),
    i=A("p", "l", "index:n"),
    j=A("p", "l", "index:m"),
    exact=True,
)
case(
    get,
    lambda a, i, j: a[i[:, None], j],
    a=A("n m", "dl", least=1),
    i=A("p", "l", "index:n"),
    j=A("q", "l", "index:m"),
    exact=True,
)
case(get, lambda a, m: a[m], a=A("n|n m", "dlD"), m=A("n|n m", "?"), exact=True)
case(get, lambda a, m: a[m], a=A("n m", "dl"), m=A("n", "?"), exact=True)
case(get, lambda a, m: a[:, m], a=A("n m", "dl"), m=A("m", "?"), exact=True)
case(get, lambda a: a[a > 0.5], a=A("n|n m", "d"), exact=True)
case(get, lambda a: a[[0, 1, 0]], a=A("n|n m", "dl", least=2), exact=True)
case(get, lambda a, i: a[1, i], a=A("3 n|3 n k", "dl", least=1), i=A("p", "l", "index:n"), exact=True)
case(
    get,
    lambda a, i, k: a[i, 0, k],
    a=A("n 2 m", "dl", least=1),
    i=A("p", "l", "index:n"),
    k=A("p", "l", "index:m"),
    exact=True,
)
case(get, lambda a, i: a[..., i], a=A("m n", "dl", least=1), i=A("p", "l", "index:n"), exact=True)
case(get, lambda a, i: a[i, None], a=A("n|n m", "d", least=1), i=A("p", "l", "index:n"), exact=True)


def _set_slice(a, v):
    b = a.copy()
    b[1:, 0] = v
    return b


def _set_scalar(a, x):
    b = a.copy()
    b[::2] = x
    return b


def _set_fancy(a, i, v):
    b = a.copy()
    b[i] = v
    return b


def _set_mask(a, m, x):
    b = a.copy()
    b[m] = x
    return b


def _set_masked(a, v):
    b = a.copy()
    b[a > 0.5] = v[a > 0.5] * 2.0
    return b


def _add_fancy(a, i, v):
    b = a.copy()
    b[i] += v
    return b


def _scale_mask(a, m):
    b = a.copy()
    b[m] *= 3.0
    return b


def _set_pairs(a, i, j, v):
    b = a * 1.0
    b[i, j] = v
    return b


def _add_at(a, i, v):
    b = a.copy()
    np.add.at(b, i, v)
    return b


def _self_overlap(a):
    b = a.copy()
    b[1:] += b[:-1]
    b[:] = b[::-1]
    return b


case(put, _set_slice, a=A("n m|n m", "dl", least=1), v=A("|1", "dl", "finite"))
case(put, _set_scalar, a=A("n|n m", "dfl"), x=Num("dl", "few"))
case(put, _set_fancy, a=A("n", "d", least=1), i=A("p", "l", "index:n"), v=A("|1|p", "d"))
case(put, _set_mask, a=A("n|n m", "dl"), m=A("n|n m", "?"), x=Num("l", "few"))
case(put, _set_masked, a=A("n|n m", "d"), v=A("n|n m", "d"))
case(put, _add_fancy, a=A("n|n m", "d", least=1), i=A("p", "l", "index:n"), v=A("p|m", "d"))
case(put, _scale_mask, a=A("n|n m", "d"), m=A("n|n m", "?"))
case(put, _set_pairs, a=A("n m", "d", least=1), i=A("p", "l", "index:n"), j=A("p", "l", "index:m"), v=A("p", "d"))
case(put, _self_overlap, a=A("n|n m", "dl"))
case((np.ufunc, "at"), _add_at, a=A("n|n m", "d", least=1), i=A("p", "l", "index:n"), v=A("p|m", "d"))

case(
    [np.take, (np.ndarray, "take")],
    lambda a, i: (np.take(a, i), a.take(i, axis=0)),
    a=A("n|n m", "dl", least=1),
    i=A("p", "l", "index:n"),
    exact=True,
)
case(np.take, lambda a, i: np.take(a, i, axis=1), a=A("m n", "dl", least=1), i=A("p", "l", "index:n"), exact=True)
case(np.take, lambda a, i: np.take(a, i), a=A("n", "dl", least=1), i=Num("l", choices=(0, -1, 9)), derivative=False)
case(
    np.take_along_axis,
    lambda a, i: np.take_along_axis(a, i, axis=0),
    a=A("n|n m", "dlD", least=1),
    i=A("p|p m", "l", "index:n"),
    exact=True,
)
case(
    np.take_along_axis,
    lambda a, i: np.take_along_axis(a, i, axis=1),
    a=A("m n", "dlD", least=1),
    i=A("m p", "l", "index:n"),
    exact=True,
)
case(np.compress, lambda m, a: np.compress(m, a), m=A("n", "?"), a=A("n", "dl"), exact=True)
case(np.extract, lambda m, a: np.extract(m, a), m=A("n|n m", "?"), a=A("n|n m", "dl"), exact=True)
case(np.select, lambda a, b: np.select([a > 1.0, a > 0.0], [b, a * b], 0.5), a=A("n|n m", "d"), b=A("n|n m", "d"))
case(np.choose, lambda i, a, b: np.choose(i, [a, b]), i=A("n", "l", "unit"), a=A("n", "d"), b=A("n", "d"))
case(np.piecewise, lambda a: np.piecewise(a, [a < 0, a >= 0], [-1.0, 1.0]), a=A("n", "d"))


def _put(a, i, v):
    b = a.copy()
    np.put(b, i, v)
    return b


def _copyto(a, v):
    b = a.copy()
    np.copyto(b, v)
    return b


def _put_along(a, i, v):
    b = a.copy()
    np.put_along_axis(b, i, v, axis=0)
    return b


def _place(a, m, v):
    b = a.copy()
    np.putmask(b, m, v)
    return b


def _put_method(a, i, v):
    b = a.copy()
    b.put(i, v)
    return b


def _fill_place(a, m, v):
    b = a.copy()
    np.place(b, m, v)
    return b


case((np.ndarray, "put"), _put_method, a=A("n m|n", "d", least=1), i=A("p", "l", "index:n"), v=A("q|", "d", least=1))
case(np.place, _fill_place, a=A("n|n m", "d"), m=A("n|n m", "?"), v=A("p", "d"))
case((np.ndarray, "compress"), lambda a, m: a.compress(m, axis=0), a=A("n|n m", "dlD"), m=A("n", "?"), exact=True)
case((np.ndarray, "choose"), lambda i, a, b: i.choose([a, b]), i=A("n", "l", "unit"), a=A("n", "d"), b=A("n", "d"))
case(
    np.ix_,
    lambda a, i, j: a[np.ix_(i, j)],
    a=A("n m|n m k", "dlD", least=1),
    i=A("p", "l", "index:n"),
    j=A("q", "l", "index:m"),
    exact=True,
)
case(np.put, _put, a=A("n", "d", least=1), i=A("p", "l", "index:n"), v=A("p", "d", least=1))
case(np.copyto, _copyto, a=A("n m|n", "dl"), v=A("m|n", "d", "finite"))
case(np.put_along_axis, _put_along, a=A("n", "dD", least=1), i=A("p", "l", "index:n"), v=A("p", "d"))
case(np.putmask, _place, a=A("n", "d"), m=A("n", "?"), v=A("n", "d"))

case([np.sort], lambda a: np.sort(a), a=A("n|n m", "dfl", "ties"))
case(np.sort, lambda a: np.sort(a, axis=0), a=A("n|n m", "dl"))
case(np.sort, lambda a: np.sort(a, axis=None), a=A("n m", "dl"))
case(
    [np.argsort, (np.ndarray, "argsort")],
    lambda a: (np.argsort(a, kind="stable"), a.argsort(axis=0, kind="stable")),
    a=A("n|n m", "dfl", "ties"),
    derivative=False,
)


def _sort(a):
    b = a.copy()
    b.sort()
    return b


case((np.ndarray, "sort"), _sort, a=A("n|n m", "dl"))
case(np.sort_complex, lambda a: np.sort_complex(a), a=A("n|n m", "dlD"))
case(np.argsort, lambda a: np.argsort(a), a=A("n|n m", "dfl", "ties"), derivative=False)
case(np.partition, lambda a: np.sort(np.partition(a, 1)[:2]), a=A("n", "dl", least=2))
case(np.argpartition, lambda a: a[np.argpartition(a, 1)][:1], a=A("n", "d", least=2), derivative=False)
case(np.lexsort, lambda a, b: np.lexsort((a, b)), a=A("n", "dl", "ties"), b=A("n", "l", "ties"), derivative=False)
case(
    [np.searchsorted, (np.ndarray, "searchsorted")],
    lambda a, v: (np.searchsorted(a, v), a.searchsorted(v, side="right"), a.searchsorted(v, sorter=np.argsort(a))),
    a=A("n", "dl", "ascending"),
    v=A("p|p q|", "dl", "finite"),
    derivative=False,
)
case(np.digitize, lambda v, a: np.digitize(v, a), v=A("p", "d", "finite"), a=A("n", "d", "ascending"), derivative=False)
case(
    np.interp,
    lambda x, xp, fp: np.interp(x, xp, fp),
    x=A("p", "d", "finite"),
    xp=A("n", "d", "ascending", 1),
    fp=A("n", "d", "finite"),
    exact=False,
)
case(
    np.interp,
    lambda x, xp, fp: np.interp(x, xp, fp),
    x=Num("d", "finite"),
    xp=A("n", "d", "ascending", 1),
    fp=A("n", "d", "finite"),
)
case(
    np.interp,
    lambda x, xp, fp: np.interp(3.0 * x, xp, fp, left=-1.0, right=2.0),  # (it jumps at the ends)
    x=A("p", "d", "finite"),
    xp=A("n", "d", "ascending", 1),
    fp=A("n", "d", "finite"),
)
case(
    [np.nonzero, (np.ndarray, "nonzero")],
    lambda a: (np.nonzero(a)[0], a.nonzero()[0]),
    a=A("n|n m", "dl?", "ties"),
    derivative=False,
)
case(np.flatnonzero, lambda a: np.flatnonzero(a), a=A("n|n m", "dl?", "ties"), derivative=False)
case(np.argwhere, lambda a: np.argwhere(a), a=A("n|n m", "dl?", "ties"), derivative=False)
case(np.unique, lambda a: np.unique(a), a=A("n|n m", "dl", "ties"), exact=True)
case(np.unique_values, lambda a: np.unique_values(a), a=A("n|n m", "df", "ties"), exact=True)
case(np.unique_counts, lambda a: np.unique_counts(a), a=A("n|n m", "dl", "ties"), exact=True, derivative=False)
case(np.unique_inverse, lambda a: np.unique_inverse(a), a=A("n|n m", "dl", "ties"), exact=True, derivative=False)
case(np.unique_all, lambda a: np.unique_all(a), a=A("n|n m", "dl", "ties"), exact=True, derivative=False)
case(np.unique_counts, lambda a: np.unique_counts(a).values, a=A("n|n m", "d", "finite"))
case(np.unique_inverse, lambda a: np.unique_inverse(a).values, a=A("n|n m", "d", "finite"))
case(np.unique_all, lambda a: np.unique_all(a).values, a=A("n|n m", "d", "finite"))
case(
    np.isin,
    lambda a, b: np.isin(a, b, kind="table", invert=True),
    a=A("n|n m", "l?", "ties"),
    b=A("m", "l", "ties"),
    derivative=False,
)
case(np.isin, lambda a, b: np.isin(a, b), a=A("n|n m", "dl", "ties"), b=A("m", "dl", "ties"), derivative=False)
case(np.bincount, lambda i: np.bincount(i), i=A("n", "l", "few"), derivative=False)
case(np.bincount, lambda i, w: np.bincount(i, weights=w), i=A("n", "l", "few"), w=A("n", "d", "finite"))
case(np.bincount, lambda i: np.bincount(i, minlength=5), i=A("n", "l", "few"), derivative=False)
case(np.histogram, lambda a: np.histogram(a, 3, np.array([0.1, 2.0])), a=A("n", "df", "finite"), derivative=False)
case(
    [np.histogram, np.histogram_bin_edges],
    lambda a: (
        np.histogram(a, "auto"),
        np.histogram_bin_edges(a, "fd", (-1, 2)),
        np.histogram_bin_edges(a, "doane"),
        np.histogram_bin_edges(a, "scott"),
        np.histogram_bin_edges(a, "rice", weights=None),
    ),
    a=A("n", "dfl", "finite"),
    derivative=False,
)
case(np.histogram, lambda a: np.histogram(a, bins=4), a=A("n", "dl", "finite"), derivative=False)
case(
    np.histogram,
    lambda a, b: np.histogram(a, b),
    a=A("n", "d", "finite"),
    b=A("m", "d", "ascending", 2),
    derivative=False,
)
case(np.unravel_index, lambda i: np.unravel_index(i, (3, 4)), i=A("n", "l", "few"), derivative=False)
case(
    np.ravel_multi_index,
    lambda i, j: np.ravel_multi_index((i, j), (4, 4)),
    i=A("n", "l", "few"),
    j=A("n", "l", "few"),
    derivative=False,
)
case(
    np.shares_memory,
    lambda a: (np.shares_memory(a, a[1:]), np.shares_memory(a, a.copy())),
    a=A("n|n m", "dl", least=2),
    derivative=False,
)
case(np.may_share_memory, lambda a: np.may_share_memory(a, a.copy()), a=A("n|n m", "dl", least=2), derivative=False)


def _partition(a):
    b = a.copy()
    b.partition(1)
    return b[:1]


case((np.ndarray, "partition"), _partition, a=A("n", "d", least=2))
case((np.ndarray, "argpartition"), lambda a: a[a.argpartition(1)][:1], a=A("n", "d", least=2), derivative=False)


def _flat(a):
    total = 0.0
    for x in a.flat:
        total += x * x
    return total


def _places(a):
    total = 0.0
    for (i, j), x in np.ndenumerate(a):
        total += (i + 2 * j) * x
    for i, j in np.ndindex(a.shape):
        total += a[i, j]
    return total


case(np.ndarray.flat, _flat, a=A("n|n m", "d", "finite"))
case([np.ndenumerate, np.ndindex], _places, a=A("n m", "d", "finite"))
case(np.ndarray.flags, lambda a: a.flags.c_contiguous, a=A("n m", "d", layouts="C"), derivative=False)
case(np.histogram_bin_edges, lambda a: np.histogram_bin_edges(a, 4), a=A("n", "d", "finite"), derivative=False)
case((np.ndarray, "tobytes"), lambda a: a.tobytes(), a=A("n", "dl"), derivative=False, refused=True)
case((np.ndarray, "view"), lambda a: a.view(np.int64), a=A("n", "d", layouts="C"), derivative=False, refused=True)
case((np.ndarray, "view"), lambda a: a.view(), a=A("n|n m", "dlD"), exact=True)
case((np.ndarray, "view"), lambda a: a.view(complex), a=A("2|4|n 2|m 4", "d"), exact=True)
case((np.ndarray, "view"), lambda z: z.view(float), z=A("n|n m|m 1", "D"), exact=True)
case((np.ndarray, "resize"), lambda a: a.copy().resize((2,)), a=A("n", "d"), derivative=False, refused=True)
case((np.ufunc, "outer"), lambda a, b: np.subtract.outer(a, b), a=A("n|n m", "dl"), b=A("m", "dl"), exact=True)
