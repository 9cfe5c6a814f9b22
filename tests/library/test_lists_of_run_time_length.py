"""Lists whose length is known only when the code runs, as arguments of NumPy's functions: for each argument that is a list in turn.

In each call below one list after the other is passed to the compiled function, which knows the others as they are written. The result, or
the class of the exception, is NumPy's; or the call is refused, where lengths have to be known when compiling.
"""

from __future__ import annotations

import ast
import re
import warnings

import numpy as np
import pytest

import zyg
from tests.arrays.check import BOXED
from tests.arrays.registered import entries_with_code, parameters
from tests.turns import each_in_turn

pytestmark = each_in_turn

linalg, special = pytest.importorskip("scipy.linalg"), pytest.importorskip("scipy.special")
V, W, M, S = (
    np.array([3.0, 1.0, 2.0]),
    np.array([1, 0, 2]),
    np.arange(6.0).reshape(2, 3),
    np.array([[2.0, 1.0], [1.0, 3.0]]),
)
RNG = np.random.default_rng

CALLS = """
np.all([1, 0, 2])
np.allclose([1., 2.], [1., 2.])
np.amax([1., 3.])
np.amin([1., 3.])
np.angle([1j, 2.])
np.any([1, 0, 2])
np.append([1., 2.], [3., 4.])
np.append([[1., 2.]], [[3., 4.]], 0)
np.apply_along_axis(np.cumsum, 0, [3., 1., 2.])
np.apply_along_axis(lambda r, s: r * s[0], 0, V, [1., 2.])
np.apply_along_axis(lambda r, s: r * s[0], 0, V, s=[1., 2.])
np.apply_over_axes(np.sum, M, [0, 1])
np.arange([1, 2])
np.argmax([1., 3.])
np.argmin([1., 3.])
np.argpartition([3., 1., 2.], 1)
np.argpartition(V, [0, 1])
np.argsort([3., 1., 2.])
np.argwhere([1, 0, 2])
np.around([1.26, 2.], 1)
np.array([1., 2.])
np.array([[1., 2.], [3., 4.]])
np.array([1, 2], float)
np.array_equal([1., 2.], [1., 2.])
np.array_equiv([1., 2.], [[1., 2.]])
np.array_split(V, [1, 2])
np.array_split([1., 2., 3.], 2)
np.asanyarray([1., 2.])
np.asarray([1., 2.])
np.ascontiguousarray([1., 2.])
np.asfortranarray([[1., 2.], [3., 4.]])
np.astype([1., 2.], int)
np.atleast_1d([1., 2.])
np.atleast_2d([1., 2.], [3., 4.])
np.atleast_3d([1., 2.])
np.average([1., 2.], weights=[1., 3.])
np.average(M, [0, 1])
np.bincount([1, 0, 1], [1., 2., 3.])
np.block([1., 2.])
np.block([[1., 2.], [3., 4.]])
np.broadcast_arrays([1., 2.], [[1.], [2.]])
np.broadcast_shapes([2, 1], [1, 3])
np.broadcast_to([1., 2.], [3, 2])
np.choose([1, 0, 2], [[1., 2., 3.], [4., 5., 6.], [7., 8., 9.]])
np.choose(W, [5., 6., 7.])
np.clip([1., 2., 3.], [1., 0., 0.], [4., 1., 2.])
np.column_stack([1., 2.])
np.column_stack([[1., 2.], [3., 4.]])
np.column_stack(([1., 2.], [3., 4.]))
np.compress([1, 0, 1], [3., 1., 2.])
np.compress([True, False, True], M, 1)
np.concatenate([[1., 2.], [3., 4.]])
np.concatenate([[1., 2.], [3., 4.]], None)
np.concatenate(([1., 2.], [3., 4.]))
np.concatenate([1., 2.])
np.convolve([1., 2.], [3., 4., 5.])
np.copy([1., 2.])
np.copyto([1., 2.], V)
np.copyto(V.copy(), [1., 2., 3.])
np.corrcoef([1., 2., 4.], [3., 4., 1.])
np.correlate([1., 2.], [3., 4., 5.])
np.count_nonzero([1, 0, 2])
np.count_nonzero(M, [0, 1])
np.cov([1., 2., 4.], [3., 4., 1.], fweights=[1, 2, 1], aweights=[1., 2., 1.])
np.cross([1., 2., 3.], [3., 1., 2.])
np.cumprod([1., 2.])
np.cumsum([1., 2.])
np.cumulative_prod([1., 2.])
np.cumulative_sum([1., 2.])
np.delete([1., 2., 3.], [0, 2])
np.delete(V, [1])
np.delete(M, [0, 2], 1)
np.delete(V, [True, False, True])
np.delete(V, [0.5, 1.])
np.delete(V, [7, 1])
np.diag([1., 2.])
np.diag_indices_from([[1., 2.], [3., 4.]])
np.diagflat([[1., 2.], [3., 4.]])
np.diagonal([[1., 2.], [3., 4.]])
np.diff([1., 2., 4.], prepend=[3., 4.], append=[5.])
np.diff([1., 2., 4.], [1])
np.digitize([0.5, 2.5], [1., 2., 3.])
np.divmod([3., 4.], [2., 3.])
np.dot([1., 2.], [3., 4.])
np.dsplit(np.ones((1, 1, 3)), [1, 2])
np.dstack([[1., 2.], [3., 4.]])
np.dstack(([1., 2.], [3., 4.]))
np.ediff1d([1., 2., 4.], [9., 8.], [7.])
np.einsum("i,i", [1., 2.], [3., 4.])
np.einsum([1., 2.], [0], [3., 4.], [0], [])
np.empty_like([1, 2]).shape
np.expand_dims([1., 2.], [0, 1])
np.extract([1, 0, 1], [3., 1., 2.])
np.extract([True, False, True], V)
np.eye([2, 3])
np.fill_diagonal([[1., 2.], [3., 4.]], 1)
np.fill_diagonal(M.copy(), [1., 2.])
np.fix([1.5, -1.5])
np.flatnonzero([1, 0, 2])
np.flip([1., 2.])
np.flip(M, [0, 1])
np.fliplr([[1., 2.], [3., 4.]])
np.flipud([[1., 2.], [3., 4.]])
np.float32([1., 2.])
np.float64([1., 2.])
np.int64([1.5, 2.])
np.bool([1, 0])
np.complex128([1., 2.])
np.frexp([1., 2.])
np.fromiter([1., 2.], float)
np.full([2, 3], 1.)
np.full(2, [1., 2.])
np.full((2, 2), [1, 2])
np.full_like([1., 2.], [3., 4.])
np.geomspace([1., 2.], [3., 4.], 3)
np.gradient([1., 2., 4.])
np.gradient(V, [1., 2., 4.])
np.gradient([[1., 2.], [4., 5.]], axis=[0, 1])
np.histogram([0.5, 2.5], [1., 2., 3.], weights=[1., 2.])
np.histogram([0.5, 2.5], 3, [0., 3.])
np.histogram2d([0.5, 2.5], [1., 2.], 2, weights=[1., 2.])
np.histogram2d([0.5, 2.5], [1., 2.], [0., 1., 3.])
np.histogram_bin_edges([0.5, 2.5], [1., 2., 3.])
np.histogramdd([[0.5, 2.5, 1.], [1., 2., 3.]], 2)
np.histogramdd([0.5, 2.5, 1.], 2)
np.histogramdd(S, [2, 2])
np.hsplit(V, [1, 2])
np.hstack([1., 2.])
np.hstack([[1., 2.], [3., 4.]])
np.hstack(([1., 2.], [3., 4.]))
np.i0([1., 2.])
np.imag([1j, 2.])
np.indices([2, 3])
np.inner([1., 2.], [3., 4.])
np.insert([1., 2., 3.], [0, 2], [8., 9.])
np.insert(V, [1], 5.)
np.insert(V, [1, 1], [5., 6.])
np.insert(V, 1, [5., 6.])
np.insert(M, [0, 2], 5., 1)
np.insert(V, [7], 5.)
np.insert(V, [0.5], 5.)
np.interp([0.5, 1.5], [0., 1., 2.], [3., 4., 8.])
np.intersect1d([1., 2.], [2., 3.])
np.isclose([1., 2.], [1., 3.])
np.iscomplex([1j, 2.])
np.iscomplexobj([1., 2.])
np.isin([1., 2.], [2., 3.])
np.isneginf([1., 2.])
np.isposinf([1., 2.])
np.isreal([1., 2.])
np.isrealobj([1., 2.])
np.isscalar([1., 2.])
np.ix_([0, 1], [1, 2])
np.kron([1., 2.], [3., 4.])
np.lexsort([[1., 1., 0.], [3., 1., 3.]])
np.lexsort(([3., 1., 2.], [1., 1., 0.]))
np.linspace([0., 1.], [3., 4.], 3)
np.linspace(0., [3., 4.], 3, axis=1)
np.linspace(0., 1., [3])
np.logspace([0., 1.], [1., 2.], 3)
np.matrix_transpose([[1., 2.], [3., 4.]])
np.matmul([1., 2.], [[1., 2.], [3., 4.]])
np.matvec([[1., 2.], [3., 4.]], [1., 2.])
np.max([1., 3.], initial=0.)
np.max([1., 3.], where=[True, False], initial=0.)
np.may_share_memory([1., 2.], V)
np.mean([1., 3.])
np.mean(M, [0, 1])
np.median([1., 3.])
np.median(M, [0, 1])
np.meshgrid([1., 2.], [3., 4., 5.])
np.min([1., 3.])
np.modf([1.5, 2.])
np.moveaxis(M, [0, 1], [1, 0])
np.moveaxis([[1., 2.]], 0, 1)
np.nan_to_num([1., np.inf])
np.nanargmax([1., 3.])
np.nanargmin([1., 3.])
np.nancumprod([1., 3.])
np.nancumsum([1., 3.])
np.nanmax([1., 3.])
np.nanmean([1., 3.])
np.nanmedian([1., 3.])
np.nanmin([1., 3.])
np.nanpercentile([1., 3., 2.], [10., 50.])
np.nanprod([1., 3.])
np.nanquantile([1., 3., 2.], [0.1, 0.5])
np.nanstd([1., 3.])
np.nansum([1., 3.])
np.nanvar([1., 3.])
np.ndim([1., 3.])
[i for i in np.ndindex([2, 1])]
[v * 2 for v in np.nditer([1., 2.])]
[v for k, v in np.ndenumerate([1., 2.])]
np.nonzero([1, 0, 2])
np.ones([2, 3])
np.ones_like([1, 2])
np.outer([1., 2.], [3., 4.])
np.pad([1., 2.], [1, 2])
np.pad([1., 2.], 1, constant_values=[3., 4.])
np.pad(M, [[1, 2], [0, 1]])
np.pad(V, 1, "linear_ramp", end_values=[3., 4.])
np.partition([3., 1., 2.], 1)
np.partition(V, [0, 1])
np.percentile([3., 1., 2.], [10., 50.])
np.percentile(V, [[10., 50.]])
np.percentile(V, [10, 50])
np.percentile(V, [10., 500.])
np.piecewise([1., 2.], [True, False], [3., 4.])
np.piecewise(V, [[True, False, True]], [3., 4.])
np.piecewise(V, [True, False, True], [lambda v: v + 1, lambda v: v])
np.place([1., 2.], [True, False], [1.])
np.place(V.copy(), [True, False, True], [1., 5.])
np.poly([1., 2.])
np.polyadd([1., 2.], [1., 2., 3.])
np.polyder([1., 2., 3.])
np.polydiv([1., 2., 3.], [1., 2.])
np.polyfit([1., 2., 3.], [1., 2., 4.], 1, w=[1., 2., 1.])
np.polyint([1., 2., 3.])
np.polyint([1., 2., 3.], 2, [1., 2.])
np.polymul([1., 2., 3.], [1., 2.])
np.polysub([1., 2., 3.], [1., 2.])
np.polyval([1., 2., 3.], [1., 2.])
np.prod([1., 2.])
np.ptp([1., 2.])
np.put([1., 2.], [1], [1.])
np.put(V.copy(), [1, 2], [5., 6.])
np.put_along_axis([1., 2.], [1], [1.], 0)
np.put_along_axis(V.copy(), [1, 0], 5., 0)
np.put_along_axis(V.copy(), np.array([1, 0]), [5., 6.], 0)
np.putmask([1., 2.], [True, False], [1.])
np.putmask(V.copy(), [True, False, True], [5., 6.])
np.quantile([3., 1., 2.], [0.1, 0.5])
np.quantile(V, 0.5, weights=[1., 2., 1.], method="inverted_cdf")
np.ravel([[1., 2.]])
np.ravel_multi_index([1, 2], [2, 3])
np.ravel_multi_index([[1, 0], [2, 1]], (2, 3))
np.ravel_multi_index(([1, 0], [2, 1]), (2, 3))
np.real([1j, 2.])
np.repeat([3., 1., 2.], [1, 0, 2])
np.repeat(V, [2])
np.repeat(M, [1, 0, 2], 1)
np.repeat(V, [1, 2])
np.repeat(V, [1., 2., 3.])
np.repeat(V, [1, -2, 3])
np.reshape([1., 2.], [2, 1])
np.resize([1., 2.], [2, 3])
np.roll([1., 2., 3.], [1, 1])
np.roll(M, [1, 2], [0, 1])
np.rollaxis([[1., 2.]], 1)
np.roots([1., -3., 2.])
np.rot90([[1., 2.], [3., 4.]])
np.rot90(M, 1, [0, 1])
np.round([1.26, 2.], 1)
np.searchsorted([1., 2., 3.], [0.5, 2.5])
np.searchsorted(V, [0.5, 2.5], sorter=[1, 2, 0])
np.select([V > 1, V > 2], [[1., 2., 3.], V], 5.)
np.select([[True, False], [False, True]], [[1., 2.], [3., 4.]], 5.)
np.setdiff1d([1., 2.], [2., 3.])
np.setxor1d([1., 2.], [2., 3.])
np.shape([[1., 2.]])
np.shares_memory([1., 2.], V)
np.sinc([1., 2.])
np.size([[1., 2.]])
np.lib.stride_tricks.sliding_window_view([1., 2., 3.], [2])
np.lib.stride_tricks.sliding_window_view([1., 2., 3.], 2)
np.sort([3., 1., 2.])
np.sort_complex([3., 1., 2.])
[p.sum() for p in np.split([1., 2., 3.], [1, 2])]
[p.sum() for p in np.array_split(V, [1, 2])]
[p.sum() for p in np.hsplit(V, [1, 2])]
[p.sum() for p in np.split(V, [1])]
np.split([1., 2., 3.], [1, 2])
np.split(V, [1])
np.split(V, [0.5])
np.split(M, [1, 2], 1)
np.squeeze([[1., 2.]])
np.stack([1., 2.])
np.stack([[1., 2.], [3., 4.]], 1)
np.stack(([1., 2.], [3., 4.]))
np.std([1., 2.])
np.sum([1., 2.])
np.sum(M, [0])
np.swapaxes([[1., 2.]], 0, 1)
np.take([1., 2., 3.], [0, 2])
np.take(M, [0, 2], 1)
np.take_along_axis([1., 2., 3.], [0, 2], 0)
np.take_along_axis(V, [1, 0], 0)
np.take_along_axis(V, [1, 0], None)
np.tensordot([1., 2.], [3., 4.], 1)
np.tensordot(S, S, [0, 1])
np.tensordot(S, S, [[0, 1], [1, 0]])
np.tile([1., 2.], [2, 3])
np.tile(V, [2])
np.trace([[1., 2.], [3., 4.]])
np.transpose([[1., 2.]], [1, 0])
np.trapezoid([1., 2., 4.], [1., 2., 4.])
np.tri([2, 3])
np.tril([[1., 2.], [3., 4.]])
np.tril_indices_from([[1., 2.], [3., 4.]])
np.trim_zeros([0., 1., 0.])
np.triu([[1., 2.], [3., 4.]])
np.triu_indices_from([[1., 2.], [3., 4.]])
np.union1d([1., 2.], [2., 3.])
np.unique([2., 1., 2.])
np.unique([2., 1., 2.], return_counts=True, return_inverse=True)
np.unique_values([2., 1., 2.])
np.unique_counts([2., 1., 2.])
np.unique_inverse([2., 1., 2.])
np.unique_all([2., 1., 2.])
np.isfortran([[2., 1.], [2., 3.]])
np.unravel_index([1, 5], [2, 3])
np.unwrap([0., 7.])
np.vander([1., 2.])
np.var([1., 2.])
np.var([1., 2.], mean=[1.5])
np.vdot([1., 2.], [3., 4.])
np.vecdot([1., 2.], [3., 4.])
np.vecmat([1., 2.], [[1., 2.], [3., 4.]])
np.vectorize(lambda x: x * 2)([1., 2.])
np.vsplit(M, [1])
np.vstack([1., 2.])
np.vstack([[1., 2.], [3., 4.]])
np.vstack(([1., 2.], [3., 4.]))
np.where([1, 0], [1., 2.], [3., 4.])
np.where([1, 0])
np.zeros([2, 3])
np.zeros_like([1., 2.])
np.add([1., 2.], [3., 4.])
np.add(V, V, out=[3., 4., 5.])
np.add(V, V, out=V.copy(), where=[True, False, True])
np.add.at(V.copy(), [0, 0], [1., 2.])
np.add.reduce([1., 2.])
np.add.reduceat([1., 2., 3.], [0, 2])
np.add.accumulate([1., 2., 3.])
np.add.outer([1., 2., 3.], [1., 2.])
V.argpartition([0, 1])
V.choose([1., 2., 3.])
W.choose([1., 2., 3.])
W.choose([1., 2., 3.], [1., 2., 3.], [1., 2., 3.])
V.clip([1., 2., 0.], [4., 1., 2.])
V.compress([True, False, True])
V.dot([1., 2., 3.])
V.copy().fill([1.])
V.item([1])
V.max(where=[True, False, True], initial=0.)
V.copy().partition([0, 1])
V.copy().put([1, 2], [5., 6.])
V.repeat([1, 0, 2])
V.reshape([3, 1])
V.searchsorted([0.5, 2.5])
V.sum([0])
V.take([0, 2])
M.transpose([1, 0])
M.squeeze([0])
M.mean([0, 1])
M.std(where=[True, False, True])
np.float64(2.).repeat([2])
np.float64(2.).clip([1., 2.], [3., 4.])
np.fft.fft([1., 2., 4.])
np.fft.fftn([[1., 2.], [4., 5.]], [2, 2], [0, 1])
np.fft.ifft([1., 2., 4.])
np.fft.rfft([1., 2., 4.])
np.fft.irfft([1., 2., 4.])
np.fft.fft2([[1., 2.], [4., 5.]])
np.fft.fftshift([1., 2., 4.])
np.fft.fftshift(M, [0, 1])
np.fft.ifftshift([1., 2., 4.])
np.linalg.norm([1., 2., 4.])
np.linalg.norm([[1., 2.], [4., 5.]], "fro")
np.linalg.norm(M, axis=[0, 1])
np.linalg.inv([[1., 2.], [4., 5.]])
np.linalg.det([[1., 2.], [4., 5.]])
np.linalg.slogdet([[1., 2.], [4., 5.]])
np.linalg.solve([[1., 2.], [4., 5.]], [1., 2.])
np.linalg.lstsq([[1., 2.], [4., 5.]], [1., 2.])
np.linalg.cholesky([[2., 1.], [1., 3.]])
np.linalg.eigh([[2., 1.], [1., 3.]])[0]
np.linalg.eigvalsh([[2., 1.], [1., 3.]])
np.linalg.eigvals([[2., 1.], [1., 3.]])
np.linalg.qr([[2., 1.], [1., 3.]])
np.linalg.svd([[2., 1.], [1., 3.]])[1]
np.linalg.pinv([[2., 1.], [1., 3.]])
np.linalg.matrix_rank([[2., 1.], [1., 3.]])
np.linalg.matrix_power([[2., 1.], [1., 3.]], 2)
np.linalg.cond([[2., 1.], [1., 3.]])
np.linalg.multi_dot([[2., 1.], [1., 3.]])
np.linalg.multi_dot(([2., 1.], [[2., 1.], [1., 3.]]))
np.linalg.tensorsolve([[2., 1.], [1., 3.]], [1., 2.])
np.linalg.tensorinv([[2., 1.], [1., 3.]], 1)
np.linalg.cross([1., 2., 3.], [3., 1., 2.])
np.linalg.outer([1., 2., 3.], [3., 1., 2.])
np.linalg.matmul([1., 2.], [[3., 1.], [2., 5.]])
np.linalg.vecdot([1., 2., 3.], [3., 1., 2.])
np.linalg.trace([[2., 1.], [1., 3.]])
np.linalg.diagonal([[2., 1.], [1., 3.]])
np.linalg.vector_norm([2., 1.])
np.linalg.matrix_norm([[2., 1.], [1., 3.]])
np.linalg.tensordot([2., 1.], [1., 3.], axes=1)
np.linalg.matrix_transpose([[2., 1.], [1., 3.]])
np.linalg.svdvals([[2., 1.], [1., 3.]])
RNG(1).normal([1., 2.], [0.5, 0.25])
RNG(1).normal(1., 2., [2, 3])
RNG(1).uniform([1., 2.], [3., 4.])
RNG(1).random([2, 3])
RNG(1).standard_normal([2, 3])
RNG(1).integers(0, [5, 10])
RNG(1).exponential([1., 2.])
RNG(1).choice([1., 2., 5.])
RNG(1).choice([1., 2., 5.], p=[0.5, 0.25, 0.25])
RNG(1).permutation([1., 2., 5.])
RNG(1).permuted([1., 2., 5.])
RNG(1).shuffle([1., 2., 5.])
np.random.shuffle([1., 2., 5.])
RNG([1, 2]).random()
RNG(1).multivariate_normal([1., 2.], [[2., 1.], [1., 3.]])
RNG(1).multinomial(5, [0.5, 0.5])
RNG(1).dirichlet([0.5, 0.5])
RNG(1).poisson([1., 2.])
RNG(1).normal(size=[2, 3])
np.random.RandomState(1).normal([1., 2.])
np.add.reduce(M, axis=[0, 1])
np.tril_indices([2])
np.identity([2])
np.int32([1, 2])
np.uint8([1, 2])
np.empty([2, 3]).shape
np.fromfunction(lambda i, j: i + j, [2, 3])
np.linalg.eig([[2., 1.], [1., 3.]])[0]
np.fft.hfft([1., 2., 4.])
np.fft.ihfft([1., 2., 4.])
np.fft.ifftn([[1., 2.], [4., 5.]])
np.fft.rfftn([[1., 2.], [4., 5.]])
np.fft.irfftn([[1., 2.], [4., 5.]])
np.fft.ifft2([[1., 2.], [4., 5.]])
np.fft.rfft2([[1., 2.], [4., 5.]])
np.fft.irfft2([[1., 2.], [4., 5.]])
np.fft.fftfreq([3])
special.logsumexp([1., 2.], b=[1., 2.])
special.softmax([1., 2.])
special.log_softmax([1., 2.])
special.zeta([2., 3.], [1., 2.])
special.polygamma([1, 2], [1., 2.])
special.multigammaln([3., 2.], 2)
special.comb([3., 2.], [2, 1])
special.factorial([3, 2])
special.gammaln([3., 2.])
linalg.cholesky([[2., 1.], [1., 3.]])
linalg.cho_factor(S)[0][1, 1]
linalg.cho_solve((S, True), [1., 2.])
linalg.lu([[2., 1.], [1., 3.]])[1]
linalg.lu_factor([[2., 1.], [1., 3.]])[0]
linalg.lu_solve(linalg.lu_factor(S), [1., 2.])
linalg.solve_triangular([[2., 1.], [1., 3.]], [1., 2.])
linalg.solve([[2., 1.], [1., 3.]], [1., 2.])
linalg.inv([[2., 1.], [1., 3.]])
linalg.det([[2., 1.], [1., 3.]])
linalg.expm([[2., 1.], [1., 3.]])
V.swapaxes([0], 0)
V.prod(where=[True, False, True])
np.tri(3, [2])
""".strip().splitlines()


# What has to be known when compiling, or is not native for other reasons.
REFUSED = """
np.apply_over_axes(np.sum, M, c)
np.array_split(V, c)
np.average(M, c)
np.block(c)
np.broadcast_shapes(c, [1, 3])
np.broadcast_shapes([2, 1], c)
np.broadcast_to([1., 2.], c)
np.dsplit(np.ones((1, 1, 3)), c)
np.einsum([1., 2.], c, [3., 4.], [0], [])
np.einsum([1., 2.], [0], c, [0], [])
np.einsum([1., 2.], [0], [3., 4.], c, [])
np.einsum([1., 2.], [0], [3., 4.], [0], c)
np.expand_dims([1., 2.], c)
np.flip(M, c)
np.complex128(c)
np.full(c, 1.)
np.gradient([[1., 2.], [4., 5.]], axis=c)
np.histogramdd(c, 2)
np.histogramdd(S, c)
np.hsplit(V, c)
np.indices(c)
np.median(M, c)
np.moveaxis(M, c, [1, 0])
np.moveaxis(M, [0, 1], c)
[v * 2 for v in np.nditer(c)]
np.ones(c)
np.pad([1., 2.], c)
np.pad([1., 2.], 1, constant_values=c)
np.pad(M, c)
np.pad(V, 1, "linear_ramp", end_values=c)
np.piecewise([1., 2.], c, [3., 4.])
np.piecewise([1., 2.], [True, False], c)
np.piecewise(V, [[True, False, True]], c)
np.piecewise(V, c, [lambda v: v + 1, lambda v: v])
np.ravel_multi_index([1, 2], c)
np.reshape([1., 2.], c)
np.resize([1., 2.], c)
np.roll(M, [1, 2], c)
np.rot90(M, 1, c)
np.lib.stride_tricks.sliding_window_view([1., 2., 3.], c)
np.split([1., 2., 3.], c)
np.split(V, c)
np.split(M, c, 1)
np.tensordot(S, S, c)
np.tile([1., 2.], c)
np.tile(V, c)
np.transpose([[1., 2.]], c)
np.unravel_index([1, 5], c)
np.vsplit(M, c)
np.zeros(c)
V.reshape(c)
M.transpose(c)
np.fft.fftn([[1., 2.], [4., 5.]], c, [0, 1])
np.fft.fftn([[1., 2.], [4., 5.]], [2, 2], c)
np.fft.fftshift(M, c)
RNG(1).normal(1., 2., c)
RNG(1).random(c)
RNG(1).standard_normal(c)
RNG(1).permuted(c)
RNG(1).shuffle(c)
np.random.shuffle(c)
RNG(1).normal(size=c)
np.random.RandomState(1).normal(c)
np.empty(c).shape
np.fromfunction(lambda i, j: i + j, c)
""".strip().splitlines()


def in_turn(calls: list[str]) -> list[tuple[str, str]]:
    """Each of the calls, with `c` in the place of each of its arguments that is a list, and that list."""
    result = []
    for text in calls:
        tree = ast.parse(text, mode="eval")
        found = [
            a
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            for a in (*node.args, *(k.value for k in node.keywords))
            for a in (a.elts if isinstance(a, ast.Tuple) else (a,))
            if isinstance(a, ast.List) and not any(isinstance(i, ast.Lambda) for i in a.elts)
        ]
        result += [(text[: a.col_offset] + "c" + text[a.end_col_offset :], ast.unparse(a)) for a in found]
    return result


CASES = in_turn(CALLS)


def outcome(function, c):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(c)
        except Exception as error:
            return error


def same(found, expected) -> bool:
    """Whether results are the same; those of no dimensions are numbers (docs/numpy.md)."""
    expected, found = (v[()] if isinstance(v, np.ndarray) and v.ndim == 0 else v for v in (expected, found))
    expected, found = (BOXED.get(type(v), lambda v: v)(v) for v in (expected, found))
    if isinstance(expected, (tuple, list)):
        return (
            isinstance(found, type(expected) if type(expected) in (tuple, list) else tuple)
            and len(found) == len(expected)
            and all(map(same, found, expected))
        )
    if isinstance(expected, (np.ndarray, float, complex)):
        a, b = np.asarray(found), np.asarray(expected)
        return (
            type(found) is type(expected)
            and a.dtype == b.dtype
            and a.shape == b.shape
            and np.allclose(a, b, equal_nan=True, rtol=1e-12, atol=1e-14)
        )
    return type(found) is type(expected) and found == expected


def run(call, given):
    function = eval(f"lambda c: {call}", globals())
    theirs, ours = eval(given), eval(given)
    expected, found = outcome(function, theirs), outcome(zyg.jit(function), ours)
    assert repr(theirs) == repr(ours) or isinstance(found, zyg.Unsupported)
    return expected, found


@pytest.mark.parametrize(("call", "given"), CASES)
def test_each_argument_in_turn(call, given):
    expected, found = run(call, given)
    if isinstance(expected, Exception):
        assert isinstance(found, zyg.Unsupported) or type(found).__name__ == type(expected).__name__, (expected, found)
    elif call in REFUSED:
        assert isinstance(found, zyg.Unsupported), found
    else:
        assert same(found, expected), (expected, found)


# Functions without a parameter that NumPy makes an array of, or that are the same as another one.
OTHERS = """
result_type dtype promote_types issubdtype isdtype can_cast finfo iinfo errstate diag_indices triu_indices hanning hamming
blackman bartlett kaiser r_ c_ mgrid ogrid s_ fft.rfftfreq vectorize.__call__ sliding_window_view
""".split()
SHAPES_AND_AXES = """
axis axis1 axis2 offset dtype out keepdims initial where ddof mean correction order casting copy decimals kind stable k m n ndim
""".split()


def test_every_function_is_among_them():
    names = set(re.findall(r"(?:np|special|linalg)\.((?:linalg\.|fft\.)?\w+)\(", "\n".join(CALLS)))
    names |= {f"ndarray.{name}" for name in re.findall(r"[VWM](?:\.copy\(\))?\.(\w+)\(", "\n".join(CALLS))}
    missing = []
    for name, (target, entry) in entries_with_code().items():
        name = name.removeprefix("numpy.").removeprefix("scipy.linalg.").removeprefix("scipy.special.")
        several = ("generic.", "random.", "Generator.", "ufunc.")  # of these some are
        if isinstance(target, np.ufunc) or name in names or name in OTHERS or name.startswith(several):
            continue
        if any(p not in SHAPES_AND_AXES and not p.startswith("*") for p in parameters(target, entry)[0]):
            missing.append(name)
    assert not missing


# In a list that is built by the function itself, derivatives go through the items.
FUNCTIONS = [
    lambda x, n: np.percentile(x, [100 * i / n for i in range(n)]).sum(),
    lambda x, n: np.sum(np.repeat(x, [i % 2 + 1 for i in range(len(x))]) ** 2),
    lambda x, n: np.sum(np.linspace(0.0, [v * v for v in x], n) ** 2),
    lambda x, n: np.sum(np.insert(x, list(range(n)), [v * v for v in x]) ** 2),
    lambda x, n: np.sum(np.delete(x * x, list(range(n - 2)))),
    lambda x, n: np.quantile([v * v for v in x], [i / n for i in range(n)]).sum(),
    lambda x, n: np.sum(np.stack([part.sum() for part in np.split(x * x, list(range(n)))]) ** 2),
    lambda x, n: np.sum(np.tile(x * x, [2 for _ in range(n - 2)])),
    lambda x, n: np.sum(np.pad(x * x, [1 for _ in range(n - 2)])),
    lambda x, n: np.sum(np.repeat(x * x, range(n))),
    lambda x, n: np.sum(np.column_stack([[v * v, v] for v in x]) * np.arange(4.0)),
]
NOT_NATIVE = (7, 8)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("which", range(len(FUNCTIONS)))
def test_derivatives(which):
    f, x = FUNCTIONS[which], np.array([3.0, 1.0, 2.5, 0.5])
    value, gradient = f(x, 4), zyg.gradient(f, x, 4)[0]
    assert np.isclose(zyg.withgradient(f, x, 4)[0], value)
    for k in range(4):
        step = np.zeros(4)
        step[k] = 1e-6
        assert np.isclose(gradient[k], (f(x + step, 4) - f(x - step, 4)) / 2e-6, atol=1e-6)
    if which in NOT_NATIVE:
        with pytest.raises(zyg.Unsupported):
            zyg.jit(f)(x, 4)
    else:
        assert np.isclose(zyg.jit(f)(x, 4), value)


def test_bins_of_two_dimensions_are_in_a_tuple():
    x, y = np.array([0.5, 2.5, 1.0]), np.array([1.0, 2.0, 3.0])
    counts = zyg.jit(lambda c: np.histogram2d(x, y, c)[0])
    assert np.array_equal(counts(np.array([0.0, 1.0, 3.0])), np.histogram2d(x, y, [0.0, 1.0, 3.0])[0])
    with pytest.raises(NotImplementedError):
        counts(np.array([2, 3]))
    with pytest.raises(ValueError):
        counts(np.array([2]))


EMPTY_OR_NOT = [
    lambda n: np.ndim([(i, 2.0) for i in range(n)]),
    lambda n: np.shape([(i, 2.0) for i in range(n)]),
    lambda n: np.shape([[1.0 * i, 2.0] for i in range(n)]),
    lambda n: np.size([np.ones(2) for i in range(n)]),
    lambda n: np.array([(1.0 * i, 2.0) for i in range(n)]),
]


@pytest.mark.parametrize("which", range(len(EMPTY_OR_NOT)))
def test_empty_lists_of_what_has_a_length_are_no_arrays(which):
    f = EMPTY_OR_NOT[which]
    assert np.array_equal(zyg.jit(f)(2), f(2))
    with pytest.raises(NotImplementedError, match=r"an array of an empty list .* test for an empty list first"):
        zyg.jit(f)(0)


OTHERWISE = [
    lambda x: np.split([q * 1 for q in x], 2),
    lambda x: np.split([x[0], x[1]], 2),
    lambda x: np.split([q * 1 for q in x], [1]),
    lambda x: np.hsplit([q * 1 for q in x], 2),
    lambda x: np.vsplit([x * q for q in x], 2),
    lambda x: np.vsplit([x * q for q in x], [1]),
    lambda x: np.array_split([q * 1 for q in x], 3),
    lambda x: np.trim_zeros([[q, q] for q in x]),
    lambda x: np.trim_zeros([x * q for q in x]),
    lambda x: np.trim_zeros([q - 1 for q in x]),
    lambda x: np.bincount([q * 1 for q in x]),
    lambda x: np.bincount([x[0], x[1]]),
    lambda x: np.bincount([1.5, 2.0]),
    lambda x: np.bincount(x),
]


@pytest.mark.parametrize("which", range(len(OTHERWISE)))
@pytest.mark.filterwarnings("ignore:Non-integer input")
def test_what_lists_give_that_arrays_do_not(which):
    f, x = OTHERWISE[which], np.array([1.0, 2.0])
    try:
        expected = f(x)
    except Exception as e:
        with pytest.raises(type(e)) as found:
            zyg.jit(f)(x)
        assert str(found.value) == str(e)
    else:
        found = zyg.jit(f)(x)
        assert len(found) == len(expected)
        assert all(np.array_equal(a, b) for a, b in zip(found, expected))


def test_another_argument_in_the_place_of_an_axis_is_named():
    with pytest.raises(zyg.Unsupported, match="`axis` is of ints; name the arguments that are others"):
        zyg.jit(lambda x: np.average([q * 1 for q in x], [q * 1 for q in x]))(np.array([1.0, 2.0]))
