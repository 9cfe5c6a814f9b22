"""NumPy's functions that make, join, sort, search and transform arrays: what the table of cases (tests/arrays) has no place
for: exceptions and their texts, arguments of all kinds, what stays a view, derivatives of all orders."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from zyg.errors import Unsupported
from zyg.pipeline import timings

from ..turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn

RNG = np.random.default_rng(1)
A = np.arange(6.0).reshape(2, 3)
V = A[0]
X = RNG.normal(size=(3, 6))
Z = X + 1j * RNG.normal(size=(3, 6))
S = np.sort(RNG.normal(size=9))


def same(ours, numpys, tolerance):
    if isinstance(numpys, (tuple, list)):
        assert isinstance(ours, (tuple, list)) and len(ours) == len(numpys)
        for p, q in zip(ours, numpys):
            same(p, q, tolerance)
        return
    ours, numpys = np.asarray(ours), np.asarray(numpys)
    assert ours.dtype == numpys.dtype and ours.shape == numpys.shape
    np.testing.assert_allclose(ours, numpys, rtol=tolerance, atol=tolerance)


def agree(function, *inputs, tolerance=0.0):
    """Value or exception for each of the inputs."""
    compiled = zyg.jit(function)
    for args in inputs:
        copies = lambda: [a.copy() if isinstance(a, np.ndarray) else a for a in args]  # noqa: B023
        try:
            expected = function(*copies())
        except Exception as error:
            with pytest.raises(Exception) as raised:
                compiled(*copies())
            assert type(raised.value) is type(error) and str(raised.value) == str(error)
        else:
            same(compiled(*copies()), expected, tolerance)


def constructors():
    agree(
        lambda n, k: (np.eye(n, 5, k), np.tri(n, 4, k), np.zeros((n, 2)), np.full((n, 2), 1j)), (3, 1), (4, -2), (0, 9)
    )
    agree(lambda n: np.zeros((n, 2)), (-1,))
    agree(
        lambda a: (np.full((2, 3), a), np.zeros_like(a, shape=(2, 0)), np.array([a, a]), np.array(a, ndmin=3)),
        (V,),
        (V + 1j,),
    )
    agree(
        lambda a, b, n: np.linspace(a, b, n),
        (0, 1, 5),
        (2.0, 2.0, 4),
        (1, 2, 0),
        (1, 2, -1),
        (np.array([1, 2]), 5.0, 3),
    )
    agree(lambda a, b: np.linspace(a, b, 4, endpoint=False, retstep=True), (0.0, 1.0), (0, 1j))
    agree(lambda a, b: np.geomspace(a, b, 5), (-2.0, -50.0), (0.0, 1.0), tolerance=1e-13)
    agree(lambda x, y: np.meshgrid(x, y, indexing="ij", sparse=True) + np.meshgrid(x, y, x), (V, A[:, 0]))
    agree(lambda v, k: np.diag(v, k), (V, -1), (A, 1), (np.zeros((2, 2, 2)), 0))
    agree(lambda m, k: (np.tril(m, k), np.triu(m, k)), (A, -1), (V, 0), (np.ones((2, 0, 3)), 1))
    agree(lambda n: (np.indices((n, 3)), np.fromfunction(lambda i, j: i + 10 * j, (n, 3))), (2,), (0,))


def test_an_absurd_size():
    with pytest.raises(MemoryError):
        zyg.jit(lambda n: np.empty((n, n, n))[0, 0])(10**5)


def joining():
    agree(lambda a, b: np.concatenate((a, b)), (A, A[:, :2]), (V, A), (1.0, V), (V.astype(np.int32), V > 1))
    agree(lambda a, b: (np.block([[a, b], [b, a]]), np.dstack((a, b)), np.column_stack((a, b))), (A, A + 1j))
    agree(lambda a, b: np.stack((a, b), axis=-1), (A, A), (V, A), (A[:0], A[:0]))
    agree(lambda a, k: np.split(a, (k,), axis=-1) + np.array_split(a, 2, axis=1), (A, 1), (A, 5), (A, -1))
    agree(lambda a: np.split(a, 2, axis=1), (A,))
    agree(
        lambda a, k: (np.tile(a, (k, 2)), np.roll(a, (k, 1), axis=(0, 1)), np.repeat(a, 2, axis=0)),
        (A, 2),
        (A.T, 0),
        (A, -0),
    )
    agree(
        lambda a, s: (np.roll(a, s), np.roll(a, s, 1), np.roll(a, s, (0, 1))),
        (A, np.array([1, -2])),
        (A[:0], np.array([3])),
        (A, np.array([1, 2, 3])),
        (A, np.array([[1]])),
    )
    agree(lambda a, r: np.repeat(a, r, axis=0), (A, np.array([0, 3])), (A, np.array([1, 2, 3])), (A, np.array([-1, 1])))
    agree(lambda a, k: (np.insert(a, k, 5.0, axis=1), np.delete(a, k, axis=1)), (A, 1), (A, -1), (A, 7))
    agree(
        lambda a, k: (np.pad(a, k, mode="reflect"), np.pad(a, ((k, 1), (0, 2)), constant_values=7)),
        (A, 5),
        (A, 0),
        (A, -1),
    )


def test_parts_of_a_split_are_views():
    def f(a):
        np.split(a, 2)[0][0] = 9.0
        return a

    assert zyg.jit(f)(A.copy())[0, 0] == 9.0


def test_grids_without_copies_are_views():
    def whole(x, y):
        a, b = np.meshgrid(x, y, copy=False)
        x[0] = 3.0 * x[1]
        return np.sum(a * a * b)

    def sparse(x, y):
        a, b = np.meshgrid(x, y, copy=False, sparse=True)
        a[0, 0] = 5.0 * x[1]
        return np.sum(x * x) + np.sum(a * b)

    def kind(x):
        return isinstance(np.meshgrid(x, x, copy=False, sparse=True), tuple)

    x, y = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0])
    assert zyg.jit(whole)(x.copy(), y.copy()) == whole(x.copy(), y.copy())
    assert zyg.jit(sparse)(x.copy(), y.copy()) == sparse(x.copy(), y.copy())
    assert zyg.jit(kind)(x) == kind(x)
    # 9 (10 x1^2 + x2^2) and 26 x1^2 + x2^2 + 9 (5 x1 + x1 + x2)
    np.testing.assert_allclose(zyg.gradient(whole, x.copy(), y.copy())[0], [0.0, 360.0, 54.0])
    np.testing.assert_allclose(zyg.gradient(sparse, x.copy(), y.copy())[0], [0.0, 158.0, 15.0])
    np.testing.assert_allclose(zyg.hessian(whole, x.copy(), y.copy()), np.diag([0.0, 180.0, 18.0]))
    with pytest.raises(ValueError, match="read-only"):
        zyg.jit(lambda x: np.meshgrid(x, x, copy=False)[0].fill(1.0))(x)


def sorting():
    sizes = [RNG.integers(0, k, n).astype(float) for n in (0, 1, 12, 13, 25, 100) for k in (3, 1000)]
    agree(
        lambda a: (np.sort(a), np.argsort(a, kind="stable"), np.unique(a, return_counts=True)), *((a,) for a in sizes)
    )
    special = Z.copy()
    special[0, 1], special[1, 1], special[2, 1] = np.nan, complex(1, np.nan), complex(np.nan, 1)
    agree(lambda a: (np.sort(a, axis=0), np.sort(a, None)), (np.where(X > 1, np.nan, X),), (special,), (X[:0],))
    agree(lambda a, k: np.sort(np.partition(a, k)[: k + 1]), (V, 1), (V, 9))
    agree(lambda a, b: (np.isin(a, b), np.lexsort((a, b))), (V, V[::-1]))


def searching():
    agree(lambda a, v: (np.searchsorted(a, v), np.digitize(v, a, right=True)), (S, X), (S, 0.3), (S, np.nan))
    sevens = np.array([7])
    agree(lambda a, i: np.take(a, i, axis=1), (A[:0], sevens), (A[:0, :0], sevens), (A[:, :0], sevens), (A, sevens))
    agree(
        lambda x, w: np.bincount(x, w, 4), (np.array([1, 2, 2]), S[:3]), (np.array([1, -1]), S[:2]), (np.array([1]), S)
    )
    agree(
        lambda a: np.histogram(a, 5, weights=a * a),
        (S,),
        (S[:0],),
        (np.ones(3),),
        (np.array([np.nan]),),
        tolerance=1e-14,
    )
    agree(
        lambda x, xp, fp: np.interp(x, xp, fp, left=-1.0),
        (X, S, S**2),
        (0.2, S, S * 1j),
        (X, S[:0], S[:0]),
        (X, S, S[:3]),
    )


def signals_and_statistics():
    agree(lambda f, h: (np.gradient(f, h), np.trapezoid(f, dx=h)), (S, 0.1), (S[:1], 0.1), tolerance=1e-13)
    agree(lambda a, v: (np.convolve(a, v, "same"), np.correlate(a, v, "full")), (S, S[:3]), (S[:3] * 1j, S), (S, S[:0]),
          tolerance=1e-13)  # fmt: skip
    agree(
        lambda a: (np.quantile(a, [0.1, 0.5], axis=1), np.median(a)),
        (X,),
        (np.where(X > 1, np.nan, X),),
        tolerance=1e-14,
    )
    agree(lambda a, q: np.percentile(a, q), (X, 101.0), (X, 30), tolerance=1e-14)
    agree(lambda a: (np.cov(a), np.corrcoef(a), np.unwrap(9 * a)), (X,), tolerance=1e-12)


FAMILIES = [sorting, signals_and_statistics, constructors, searching, joining]


@each_in_long_turn
@pytest.mark.parametrize("check", FAMILIES)
def test_families(check):
    check()


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
def test_transforms(name):
    function = eval(f"lambda a: (np.fft.{name}(a, axis=0), np.fft.{name}(a, 4, norm='ortho'), np.fft.{name}(a, 9))")
    agree(function, (X,), (X[:, ::2].astype(int),), *([] if name == "rfft" else [(Z.T,)]))


def test_transforms_of_several_axes():
    agree(lambda a, n: (np.fft.fft2(a, s=(n, 5)), np.fft.irfft2(a), np.fft.fftshift(a, axes=1)), (X, 4), (Z, 3), (X, 0))


SMOOTH = [
    (lambda x: np.sum(np.sort(x[0])[:3] ** 3), X),
    (lambda x: np.sum(np.interp(x[0], S, S**2 + x[1, 0]) ** 2), X),
    (lambda z: np.sum(np.abs(np.fft.ifft(z, 8)) ** 2) + np.sum(np.fft.irfft(z, 7) ** 3), Z),
]


@each_in_long_turn
@pytest.mark.parametrize("n", range(len(SMOOTH)))
def test_derivatives(n):
    function, x = SMOOTH[n]
    step = RNG.normal(size=x.shape) + (1j * RNG.normal(size=x.shape) if x.dtype == complex else 0)

    def line(t):
        return function(x + t * step)

    h = 1e-4
    expected = (8 * (line(h) - line(-h)) - (line(2 * h) - line(-2 * h))) / (12 * h)
    (gradient,) = zyg.gradient(function, x)
    assert np.sum((np.conj(gradient) * step).real) == pytest.approx(expected, rel=1e-7)
    slope = lambda t: zyg.jvp(line, (t,), (1.0,))[1]
    assert slope(0.0) == pytest.approx(expected, rel=1e-7)
    second = zyg.derivative(zyg.derivative(line))(0.0)
    assert second == pytest.approx((slope(1e-5) - slope(-1e-5)) / 2e-5, rel=1e-5)


@pytest.mark.parametrize(
    "function, text",
    [
        (lambda a: np.sort(a, order="x"), r"np\.sort\(order=\.\.\.\)(.|\n)*kind='stable'"),
        (lambda a: np.pad(a, 1, mode="empty"), r"np\.pad\(mode=\.\.\.\)(.|\n)*reflect"),
        (lambda a: np.packbits(a), r"np\.packbits, which is not supported natively"),
        (lambda a: np.fft.fft(a.astype(np.float32)), "float32, which gives complex64"),
    ],
)
def test_what_is_refused_is_named(function, text):
    with pytest.raises(Unsupported, match=text):
        zyg.jit(function)(np.ones(3))


def test_turns_that_are_an_argument_are_one_program():
    f = zyg.jit(lambda a, k: np.rot90(a, k))
    with timings() as times:
        for k in (0, 1, 2, 3, -1):
            np.testing.assert_array_equal(f(A, k), np.rot90(A, k))
    assert sum(stage == "native" for _, stage, _ in times) == 1


def test_a_polynomial_without_roots_is_a_number():
    """Which native code, where it would be an array, says."""
    with pytest.raises(NotImplementedError, match=r"np\.poly of no roots"):
        zyg.jit(lambda z: np.poly(z))(np.array([]))
    with pytest.warns(zyg.FallbackWarning), pytest.raises(NotImplementedError, match=r"np\.poly of no roots"):
        zyg.grad(lambda z: np.sum(np.poly(z)))(np.array([]))
    assert zyg.jit(lambda z: np.poly(z))(np.array([1.0, 2.0])).tolist() == [1.0, -3.0, 2.0]
