"""Constructors, copies, shapes, views, joining and splitting."""

from __future__ import annotations

import numpy as np

from ..case import case
from ..drawing import A, Num

ANY = "dfliB?D"
SHAPES = "n|n m|n m k|"

# ---------------------------------------------------------------------------------------------------------- constructors

case(np.zeros, lambda n: np.zeros(n), n=Num("l", choices=(0, 1, 3, -1)), exact=True, derivative=False)
case(
    np.zeros,
    lambda n, m: np.zeros((n, m), np.int64),
    n=Num("l", choices=(0, 2)),
    m=Num("l", choices=(1, 3)),
    exact=True,
    derivative=False,
)
case(
    np.ones,
    lambda n, m: np.ones((n, m)),
    n=Num("l", choices=(0, 2)),
    m=Num("l", choices=(1, 3)),
    exact=True,
    derivative=False,
)
case(np.ones, lambda n: np.ones(n, dtype=complex), n=Num("l", choices=(0, 3)), exact=True, derivative=False)
case(np.empty, lambda n: np.empty((n, 2), np.float32).shape, n=Num("l", choices=(0, 3)), derivative=False)
case(np.full, lambda n, x: np.full((n, 2), x), n=Num("l", choices=(0, 3)), x=Num("dl?", "finite"), exact=True)
case(
    np.full,
    lambda n, x: np.full(n, x, dtype=np.float32),
    n=Num("l", choices=(0, 3)),
    x=Num("dl", "few"),
    exact=True,
    derivative=False,
)  # rounded to float32
for _name in ("zeros_like", "ones_like"):
    case(getattr(np, _name), eval(f"lambda a: np.{_name}(a)"), a=A(SHAPES, ANY), exact=True, derivative=False)
    case(
        getattr(np, _name),
        eval(f"lambda a: np.{_name}(a, dtype=np.int64)"),
        a=A("n m", "df"),
        exact=True,
        derivative=False,
    )
case(np.empty_like, lambda a: np.empty_like(a).shape, a=A(SHAPES, ANY), exact=True, derivative=False)
case(np.full_like, lambda a, x: np.full_like(a, x), a=A(SHAPES, "dfl"), x=Num("dl", "finite"), exact=True)
case(np.fromiter, lambda a: np.fromiter((x * x for x in a), float), a=A("n", "d", "finite"))
case(np.arange, lambda n: np.arange(n), n=Num("ld", "finite"), exact=True, derivative=False)
case(
    np.arange,
    lambda a, b, s: np.arange(a, b, s),
    a=Num("ld", "finite"),
    b=Num("ld", "finite"),
    s=Num("ld", choices=(1, -2, 3)),
    exact=True,
    derivative=False,
)
case(
    np.arange,
    lambda a, b: np.arange(a, b, 0.3),
    a=Num("d", "finite"),
    b=Num("d", "finite"),
    exact=True,
    derivative=False,
)
case(np.linspace, lambda a, b: np.linspace(a, b, 7), a=Num("dl", "finite"), b=Num("dl", "finite"))
case(
    np.linspace,
    lambda a, b, n: np.linspace(a, b, n, endpoint=False),
    a=Num("d", "finite"),
    b=Num("d", "finite"),
    n=Num("l", choices=(0, 1, 4)),
)
case(np.logspace, lambda a, b: np.logspace(a, b, 5), a=Num("d", "unit"), b=Num("d", "unit"))
case(np.geomspace, lambda a, b: np.geomspace(a, b, 5), a=Num("d", "positive"), b=Num("d", "positive"))
case(np.eye, lambda n: np.eye(n), n=Num("l", choices=(0, 1, 3)), exact=True, derivative=False)
case(np.eye, lambda n: np.eye(n, 4, k=1, dtype=np.float32), n=Num("l", choices=(0, 1, 3)), exact=True, derivative=False)
case(np.identity, lambda n: np.identity(n), n=Num("l", choices=(0, 1, 3)), exact=True, derivative=False)
case(np.diag, lambda a: np.diag(a), a=A("n|n m", "dfl"))
case(np.diag, lambda a: np.diag(a, 1), a=A("n|n m", "dl"))
case(np.diag, lambda a: np.diag(a, -1), a=A("n|n m", "d"))
case(np.diagflat, lambda a: np.diagflat(a), a=A("n|n m", "dl"))
case(np.diagonal, lambda a: np.diagonal(a), a=A("n m|n m k", "dl"))
case(np.diagonal, lambda a: np.diagonal(a, 1), a=A("n m", "dl"))
case((np.ndarray, "diagonal"), lambda a: a.diagonal(), a=A("n m|n m k", "dl"))
case(np.tri, lambda n: np.tri(n, 3, -1), n=Num("l", choices=(0, 1, 4)), exact=True, derivative=False)
case(np.tril, lambda a: np.tril(a), a=A("n m|n m k", "dfl"))
case(np.tril, lambda a: np.tril(a, -1), a=A("n m", "dfl"))
case(np.triu, lambda a: np.triu(a), a=A("n m|n m k", "dfl"))
case(np.triu, lambda a: np.triu(a, 1), a=A("n m", "dfl"))
case(np.tril_indices, lambda n: np.tril_indices(n), n=Num("l", choices=(0, 1, 4)), derivative=False)
case(np.tril_indices, lambda n: np.tril_indices(n, -1), n=Num("l", choices=(0, 1, 4)), derivative=False)
case(np.triu_indices, lambda n: np.triu_indices(n, 1), n=Num("l", choices=(0, 1, 4)), derivative=False)
case(np.diag_indices, lambda n: np.diag_indices(n), n=Num("l", choices=(0, 1, 4)), derivative=False)
case(np.tril_indices_from, lambda a: np.tril_indices_from(a), a=A("n m", "d"), derivative=False)
case(np.triu_indices_from, lambda a: np.triu_indices_from(a), a=A("n m", "d"), derivative=False)
case(np.diag_indices_from, lambda a: np.diag_indices_from(a), a=A("n n", "d"), derivative=False)
case(np.indices, lambda n: np.indices((n, 3)), n=Num("l", choices=(0, 2)), derivative=False)
case(np.vander, lambda a: np.vander(a), a=A("n", "dl", "unit"))
case(np.vander, lambda a: np.vander(a, 4, increasing=True), a=A("n", "d", "unit"))


def _doubled(one, other):
    return one * 2, other * 2


case(np.meshgrid, lambda a, b: np.meshgrid(a, b), a=A("n", "dl"), b=A("m", "dl"))
case(np.meshgrid, lambda a, b: np.meshgrid(a, b, indexing="ij"), a=A("n", "dl"), b=A("m", "dl"))
# (NumPy lets what it repeats be written, and warns that it will not.)
case(np.meshgrid, lambda a, b: _doubled(*np.meshgrid(a, b, copy=False)), a=A("n|n k", "dl"), b=A("m", "dl"))
case(
    np.meshgrid, lambda a, b: _doubled(*np.meshgrid(a, b, copy=False, sparse=True)), a=A("n|n k", "dl"), b=A("m", "dl")
)
case(
    np.meshgrid,
    lambda a, b: _doubled(*np.meshgrid(a, b, a, copy=False, indexing="ij")[1:]),
    a=A("n", "dl"),
    b=A("m", "d"),
)
case(
    np.fromfunction,
    lambda n: np.fromfunction(lambda i, j: i + 2 * j, (n, 3)),
    n=Num("l", choices=(1, 2)),
    derivative=False,
)
case(np.fill_diagonal, lambda a: np.fill_diagonal(a, 2.5), a=A("n m", "d"), derivative=False)

case(np.array, lambda x, y: np.array([[x, 1.0], [y, x]]), x=Num("dl", "finite"), y=Num("dl", "finite"), exact=True)
case(np.array, lambda a: np.array(a), a=A(SHAPES, ANY), exact=True)
case(np.array, lambda a: np.array(a, dtype=np.float32), a=A(SHAPES, "dfl", "finite"), derivative=False)
case(np.array, lambda a, b: np.array([a, b]), a=A("n|n m", "dl"), b=A("n|n m", "dl"), exact=True)
case(np.asarray, lambda a: np.asarray(a), a=A(SHAPES, ANY), exact=True)
case(np.asarray, lambda a: np.asarray(a, dtype=float), a=A(SHAPES, "dfl"), exact=True)
case(np.asarray, lambda x, y: np.asarray([x, y]), x=Num("dl", "finite"), y=Num("dl", "finite"), exact=True)
case(np.ascontiguousarray, lambda a: np.ascontiguousarray(a), a=A(SHAPES, "dflD"), exact=True)
case(np.ascontiguousarray, lambda a: np.ascontiguousarray(a.T), a=A("n m|n m k", "dlD"), exact=True)
case(np.asarray, lambda a: (np.asarray(a, order="F"), np.asarray(a, copy=True)), a=A(SHAPES, ANY), exact=True)
case(np.array, lambda a: (np.array(a, order="F"), np.array(a, copy=None, order="C")), a=A(SHAPES, "dD"), exact=True)
case([np.copy, (np.ndarray, "copy")], lambda a: (np.copy(a), a.copy()), a=A(SHAPES, ANY), exact=True)


def _fill(a, x):
    b = a.copy()
    b.fill(x)
    return b


case((np.ndarray, "fill"), _fill, a=A(SHAPES, "dfl"), x=Num("dl", "few"), exact=True)
case((np.ndarray, "item"), lambda a: a.item(), a=A("1|1 1|", "dfl?"), exact=True)
case((np.ndarray, "item"), lambda a: a.item(1, 0), a=A("n m", "dfl"), exact=True)
case((np.ndarray, "astype"), lambda a: a.astype(np.float32), a=A(SHAPES, "dfl?", "finite"), derivative=False)
case((np.ndarray, "astype"), lambda a: a.astype(np.int64), a=A(SHAPES, "dfli?", "finite"), derivative=False)
case((np.ndarray, "astype"), lambda a: a.astype(float), a=A(SHAPES, "dfli?B"), exact=True)
case((np.ndarray, "astype"), lambda a: a.astype(complex), a=A("n|n m", "dflD"), exact=True)
case((np.ndarray, "astype"), lambda a: a.astype(bool), a=A("n|n m", "dfl", "ties"), exact=True, derivative=False)
case((np.ndarray, "tolist"), lambda a: a.tolist(), a=A("n", "dl", "finite"), exact=True)

# ---------------------------------------------------------------------------------------------------------------- shapes

case(
    [np.reshape, (np.ndarray, "reshape")],
    lambda a: (np.reshape(a, -1), a.reshape(a.size)),
    a=A(SHAPES, "dflD"),
    exact=True,
)
case((np.ndarray, "reshape"), lambda a: a.reshape(2, -1), a=A("4|2 m|2 m k", "dl"), exact=True)
case(
    (np.ndarray, "reshape"),
    lambda a: a.reshape(2, -1, order="F"),
    a=A("4|2 m|2 m k|m 2 2", "dlD", layouts="C"),
    exact=True,
)
case((np.ndarray, "reshape"), lambda a: a.reshape((a.shape[0], 1, -1)), a=A("n|n m", "dl", least=1), exact=True)
case(
    [np.reshape, (np.ndarray, "reshape")],
    lambda a: (np.reshape(a, -1, "F"), a.reshape(a.shape[::-1], order="F"), a.reshape(-1, copy=True)),
    a=A(SHAPES, "dlD", layouts="C"),
    exact=True,
)
case(
    (np.ndarray, "reshape"),
    lambda a: a.reshape(a.size, order="A"),
    a=A("n m|n m k", "dlD"),
    exact=True,
    derivative=False,
)
case([np.ravel, (np.ndarray, "ravel")], lambda a: (np.ravel(a), a.ravel()), a=A(SHAPES, "dlD"), exact=True)
case(
    (np.ndarray, "ravel"), lambda a: (a.ravel("F"), a.ravel("A")), a=A("n m|n m k", "dlD"), exact=True, derivative=False
)
case((np.ndarray, "ravel"), lambda a: a.ravel("K"), a=A("n m", "dlD"), exact=True, derivative=False)
case((np.ndarray, "flatten"), lambda a: a.flatten(), a=A(SHAPES, "dlD"), exact=True)
case((np.ndarray, "flatten"), lambda a: (a.flatten("f"), a.flatten("A")), a=A(SHAPES, "dlD"), exact=True)
case([np.shape, np.ndim, np.size], lambda a: (np.shape(a), np.ndim(a), np.size(a)), a=A(SHAPES, ANY), derivative=False)
case([(np.ndarray, "__len__")], lambda a: len(a), a=A("n|n m", ANY), derivative=False)
case(
    [np.ndarray.shape, np.ndarray.size, np.ndarray.ndim],
    lambda a: (a.shape, a.size, a.ndim),
    a=A(SHAPES, ANY),
    derivative=False,
)
case([np.ndarray.itemsize, np.ndarray.nbytes], lambda a: (a.itemsize, a.nbytes), a=A(SHAPES, ANY), derivative=False)
case(
    [np.ndarray.T, np.transpose, (np.ndarray, "transpose")],
    lambda a: (a.T, np.transpose(a), a.transpose()),
    a=A(SHAPES, "dlD"),
    exact=True,
)
case(np.transpose, lambda a: np.transpose(a, (2, 0, 1)), a=A("n m k", "dlD"), exact=True)
case((np.ndarray, "transpose"), lambda a: a.transpose(1, 0, 2), a=A("n m k", "dl"), exact=True)
case(np.ndarray.mT, lambda a: a.mT, a=A("n m|n m k", "dl"), exact=True)
case(np.matrix_transpose, lambda a: np.matrix_transpose(a), a=A("n m|n m k", "dl"), exact=True)
case([np.ndarray.real, np.ndarray.imag], lambda a: (a.real + 0, a.imag + 0), a=A("n|n m", "dD"), exact=True)
case(
    [np.swapaxes, (np.ndarray, "swapaxes")],
    lambda a: (np.swapaxes(a, 0, 1), a.swapaxes(0, -1)),
    a=A("n m|n m k", "dl"),
    exact=True,
)
case(np.moveaxis, lambda a: np.moveaxis(a, 0, -1), a=A("n m|n m k", "dl"), exact=True)
case(np.rollaxis, lambda a: np.rollaxis(a, 2), a=A("n m k", "dl"), exact=True)
case(np.expand_dims, lambda a: np.expand_dims(a, 0), a=A(SHAPES, "dl"), exact=True)
case(np.expand_dims, lambda a: np.expand_dims(a, (0, -1)), a=A("n|n m", "dl"), exact=True)
case(
    [np.squeeze, (np.ndarray, "squeeze")],
    lambda a: (np.squeeze(a, axis=0), a.squeeze(0)),
    a=A("1 n|1 n 1", "dl"),
    exact=True,
)
case(np.squeeze, lambda a: np.squeeze(a, axis=0), a=A("n m", "dl"), exact=True, derivative=False)  # raises
case(np.atleast_1d, lambda a: np.atleast_1d(a), a=A(SHAPES, "dl"), exact=True)
case(np.atleast_2d, lambda a: np.atleast_2d(a), a=A(SHAPES, "dl"), exact=True)
case(np.atleast_3d, lambda a: np.atleast_3d(a), a=A("n|n m", "dl"), exact=True)
case(np.broadcast_to, lambda a: np.broadcast_to(a, (4, 3)), a=A("1 3|3|4 1", "dl"), exact=True)
case(np.broadcast_to, lambda a: np.broadcast_to(a, (4, 3)), a=A("2 3", "dl"), exact=True, derivative=False)  # raises
# What it gives cannot be written here; NumPy warns of writing.
case(np.broadcast_arrays, lambda a, b: [x * 1.0 for x in np.broadcast_arrays(a, b)], a=A("n 1", "d"), b=A("m", "d"))
case(
    np.broadcast_shapes,
    lambda a, b: np.broadcast_shapes(a.shape, b.shape),
    a=A("n 1", "d"),
    b=A("m", "d"),
    derivative=False,
)
for _name in ("flip", "fliplr", "flipud"):
    case(
        getattr(np, _name),
        eval(f"lambda a: np.{_name}(a)"),
        a=A("n m|n m k" if _name == "fliplr" else "n|n m", "dl"),
        exact=True,
    )
case(np.flip, lambda a: np.flip(a, axis=1), a=A("n m|n m k", "dl"), exact=True)
case(np.rot90, lambda a: np.rot90(a), a=A("n m", "dl"), exact=True)
case(np.rot90, lambda a, k: np.rot90(a, k), a=A("n m|n m k", "dl"), k=Num("l", choices=(0, 1, 2, 3, -1, 6)), exact=True)
case(np.rot90, lambda a, k: np.rot90(a, k, (2, 0)), a=A("n m k", "d"), k=Num("l", choices=(0, 1, 2, 3)), exact=True)
case(np.roll, lambda a: np.roll(a, 2), a=A("n|n m", "dl"), exact=True)
case(np.roll, lambda a, s: np.roll(a, s, axis=0), a=A("n|n m", "dl"), s=Num("l", "finite"), exact=True)
case(np.tile, lambda a: np.tile(a, 2), a=A("n|n m", "dl"), exact=True)
case(np.tile, lambda a: np.tile(a, (2, 3)), a=A("n|n m", "dl"), exact=True)
case(
    [np.repeat, (np.ndarray, "repeat")],
    lambda a: (np.repeat(a, 2), a.repeat(3, axis=0)),
    a=A("n|n m", "dl"),
    exact=True,
)
case(np.repeat, lambda a: np.repeat(a, 2, axis=1), a=A("n m", "dl"), exact=True)
case(np.repeat, lambda a, c: np.repeat(a, c), a=A("n", "dl"), c=A("n", "l", "few"), exact=True)
case(np.pad, lambda a: np.pad(a, 1), a=A("n|n m", "dl"), exact=True)
case(
    np.pad,
    lambda a: (
        np.pad(a, ((1, 2), (3, 0)), "maximum"),
        np.pad(a, 1, "mean"),
        np.pad(a, (0, 2), "median"),
        np.pad(a, ((3, 0), (0, 2)), "linear_ramp", end_values=(5, -4)),
    ),
    a=A("n m", "dfl", "finite", least=1),
)
case(
    np.pad,
    lambda a: (
        np.pad(a, ((1, 2), (3, 0)), "maximum", stat_length=((2, 5), (4, 1))),
        np.pad(a, 1, "mean", stat_length=2),
        np.pad(a, (1, 2), "median", stat_length=(2, 3)),
        np.pad(a, 2, "minimum", stat_length=(1, 9)),
    ),
    a=A("n m", "dfl", "finite", least=1),
)
case(np.pad, lambda a: np.pad(a, 2, mode="edge"), a=A("n", "dl", least=1), exact=True)
case(np.pad, lambda a: np.pad(a, ((2, 1), (0, 3)), mode="edge"), a=A("n m", "dl", least=1), exact=True)
case(np.pad, lambda a: np.pad(a, ((5, 1), (0, 4)), mode="reflect"), a=A("n m", "dl", least=1), exact=True)
case(np.pad, lambda a: np.pad(a, (4, 5), mode="symmetric"), a=A("n|n m", "d", least=1), exact=True)
case(np.pad, lambda a: np.pad(a, ((1, 4), (3, 0)), mode="wrap"), a=A("n m", "dl", least=1), exact=True)
case(np.resize, lambda a: np.resize(a, (2, 3)), a=A("n|n m", "dl", least=1), exact=True)

# ------------------------------------------------------------------------------------------------- joining and splitting

case(np.concatenate, lambda a, b: np.concatenate((a, b)), a=A("n|n m", "dfl?D"), b=A("m|k m", "dflD"), exact=True)
case(np.concatenate, lambda a, b: np.concatenate([a, b], axis=1), a=A("n m", "dl"), b=A("n k", "dl"), exact=True)
case(np.concatenate, lambda a, b: np.concatenate([a, b], axis=None), a=A("n m", "dl"), b=A("k", "dl"), exact=True)
case(np.stack, lambda a, b: np.stack([a, b]), a=A("n|n m", "dfl"), b=A("n|n m", "dl"), exact=True)
case(np.stack, lambda a, b, c: np.stack((a, b), out=c) + c, a=A("n", "d"), b=A("n", "d"), c=A("2 n", "d"), exact=True)
case(np.stack, lambda a, b: np.stack((a, b), axis=-1), a=A("n|n m", "dl"), b=A("n|n m", "dl"), exact=True)
case(np.vstack, lambda a, b: np.vstack([a, b]), a=A("m|n m", "dl"), b=A("m|k m", "dl"), exact=True)
case(np.hstack, lambda a, b: np.hstack([a, b]), a=A("n|n m", "dl"), b=A("m|n k", "dl"), exact=True)
case(np.dstack, lambda a, b: np.dstack([a, b]), a=A("n|n m", "dl"), b=A("n|n m", "dl"), exact=True)
case(np.column_stack, lambda a, b: np.column_stack([a, b]), a=A("n|n m", "dl"), b=A("n|n", "dl"), exact=True)
case(np.append, lambda a, b: np.append(a, b), a=A("n|n m", "dl"), b=A("m", "dl"), exact=True)
case(np.append, lambda a, x: np.append(a, x), a=A("n", "dl"), x=Num("d", "finite"), exact=True)
case(np.insert, lambda a, x: np.insert(a, 1, x), a=A("n", "d", least=2), x=Num("d", "finite"), exact=True)
case(np.delete, lambda a: np.delete(a, 1), a=A("n", "d", least=2), exact=True)
case(
    np.insert,
    lambda a, v: np.insert(a, [2, 0, 2], v, axis=0),
    a=A("n|n m", "dlD", least=2),
    v=A("3|3 m", "d"),
    exact=True,
)
case(np.delete, lambda a: np.delete(a, slice(0, None, 2), axis=0), a=A("n|n m", "dlD"), exact=True)
case(np.split, lambda a: np.split(a, 2), a=A("4|2 m", "dl"), exact=True)
case(np.split, lambda a: np.split(a, [1, 3]), a=A("n|n m", "dl"), exact=True)
case(np.array_split, lambda a: np.array_split(a, 3), a=A("n|n m", "dl"), exact=True)
case(np.hsplit, lambda a: np.hsplit(a, 2), a=A("4|n 4", "dl"), exact=True)
case(np.vsplit, lambda a: np.vsplit(a, 2), a=A("4 n", "dl"), exact=True)
case(np.dsplit, lambda a: np.dsplit(a, 2), a=A("n m 4", "dl"), exact=True)
case(np.block, lambda a, b: np.block([[a, b], [b, a]]), a=A("n n", "dl"), b=A("n n", "dl"), exact=True)

# ------------------------------------------------------------------------------------------------- what is said of them

case(np.ndarray.dtype, lambda a: np.zeros(2, a.dtype), a=A("n", ANY), exact=True, derivative=False)
case(np.dtype, lambda a: np.zeros(2, np.dtype(a.dtype)), a=A("n", ANY), exact=True, derivative=False)
case(np.ndarray.strides, lambda a: a.strides, a=A("n m", "dl", layouts="C", least=1), derivative=False)
case(np.asanyarray, lambda a: np.asanyarray(a), a=A(SHAPES, ANY), exact=True)
case(np.result_type, lambda a, b: np.zeros(2, np.result_type(a, b)), a=A("n", "dfl"), b=A("n", "dfl"), derivative=False)
case([(np.generic, "item"), (np.complexfloating, "item")], lambda a: a[0].item(), a=A("n", "dlD", least=1), exact=True)
case((np.complexfloating, "item"), lambda a: (a[0] * 2).item(), a=A("n", "D", least=1), exact=True)
case((np.generic, "astype"), lambda a: a[0].astype(np.int64), a=A("n", "dfl", "finite", least=1), derivative=False)
case(
    [(np.generic, name) for name in ("reshape", "ravel", "flatten", "copy", "squeeze", "transpose", "repeat", "take", "conj")],
    lambda a: (
        a[0].reshape(1), a[0].reshape((1, -1)), a[0].reshape(()), a[0].ravel(), a[0].flatten(), a[0].copy(), a[0].squeeze(), a[0].transpose(),
        a[0].repeat(3), a[0].take([0, 0]), a[0].conj(), a[0].T, a[0][None], a[0][..., None], a[0][()], np.sum(a)[None, None],
        a[0].astype(a.dtype, copy=False), a[0].astype(np.complex128, casting="safe"),
    ),
    a=A("n", "dliD", least=1),
    exact=True,
)  # fmt: skip
case((np.generic, "nonzero"), lambda a: a[0].nonzero(), a=A("n", "d", least=1), derivative=False)
case(
    [(np.generic, "tolist"), (np.complexfloating, "tolist")],
    lambda a: a[0].tolist(),
    a=A("n", "dlD", least=1),
    exact=True,
)
case((np.complexfloating, "conj"), lambda a: a[0].conj(), a=A("n", "D", least=1), exact=True)
case(
    [(np.ndarray, "conj"), (np.ndarray, "conjugate")],
    lambda a: (a.conj(), a.conjugate()),
    a=A("n|n m", "dD"),
    exact=True,
)
case(np.linalg.matrix_transpose, lambda a: np.linalg.matrix_transpose(a), a=A("n m|n m k", "dl"), exact=True)
case(np.complex128, lambda x: np.complex128(x), x=Num("dl", "finite"), exact=True)

case(np.split, lambda a: np.split(a, 2), a=A("3", "dl"), derivative=False)


def _concatenate_into(a, b):
    out = np.zeros((a.shape[0], a.shape[1] + b.shape[1]))
    return np.concatenate((a, b), axis=1, out=out), out


def _take_into(a):
    out = np.ones(2)
    return np.take(a, np.array([1, 0]), out=out), out


case(np.concatenate, _concatenate_into, a=A("n m", "dl"), b=A("n k", "dl"))
case([np.take, (np.ndarray, "take")], _take_into, a=A("n", "d", least=2))
case(np.geomspace, lambda a, b: np.geomspace(a, b, 4, axis=-1), a=A("n", "df", "positive"), b=A("n|", "df", "positive"), tolerance=64)  # fmt: skip
case(np.logspace, lambda a, b: np.logspace(a, 2.0, 4, base=b), a=A("n", "d", "unit"), b=A("n|", "d", "positive"), tolerance=64)  # fmt: skip
case(np.cumulative_sum, lambda a: np.cumulative_sum(a, axis=-1, include_initial=True), a=A("n|n m", "dfi", "finite"))
case(np.cumulative_prod, lambda a: np.cumulative_prod(a, axis=0), a=A("n|n m", "dl", "finite"))
windows = np.lib.stride_tricks.sliding_window_view
case(windows, lambda a: np.sin(windows(a, 3)), a=A("3|6", "dfD", "finite"))
case(windows, lambda a: 2 * windows(a, (2, 3)), a=A("4 5|2 3", "dl", "finite"))
case(windows, lambda a: windows(a, (2, 3)), a=A("n|n m", "dl", "finite"), derivative=False)
case(windows, lambda a: np.mean(windows(a, 2, axis=-1), axis=-1) @ np.ones(windows(a, 2, -1).shape[-2]), a=A("3 4|5", "d", "finite"))  # fmt: skip
case(
    np.isfortran,
    lambda a: (np.isfortran(a), np.isfortran(a.T)),
    a=A("n|n m|n m k", "dlD"),
    exact=True,
    derivative=False,
)
case(
    np.ndarray.flags,
    lambda a: (
        a.flags["C_CONTIGUOUS"], a.T.flags["C"], a.flags["F_CONTIGUOUS"], a.flags["F"], a.flags["FNC"], a.flags["FORC"],
        a.flags["A"], a.flags["BEHAVED"], a.T.flags["WRITEABLE"],
    ),
    a=A("n|n m|n m k", "dlD"),
    exact=True,
    derivative=False,
)  # fmt: skip
