"""NumPy's rules of promotion (NEP 50): all pairs of element types, all operators, weak Python numbers; out, where and dtype."""

from __future__ import annotations

import operator
import warnings
from collections import namedtuple

import numpy as np
import pytest

import zyg

from ..turns import each_in_turn

pytestmark = each_in_turn

DTYPES = [np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_]
# Types that native code does not have: what would be one of these is refused.
ABSENT = (np.float16, np.int8, np.int16, np.uint16, np.uint32, np.uint64)
OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.lt, operator.eq,
    operator.and_, operator.lshift,
]  # fmt: skip
FUNCTIONS = [np.arctan2, np.maximum, np.fmod, np.copysign, np.logaddexp, np.where, np.power, np.gcd, np.logical_xor]


def array(dtype, seed):
    generator = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return np.append(generator.normal(size=3), [0.0, np.inf, np.nan]).astype(dtype)
    low, high = {np.bool_: (0, 2), np.uint8: (0, 256)}.get(dtype, (-9, 9))
    return generator.integers(low, high, 6).astype(dtype)


def outcome(function, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args)
        except (TypeError, ValueError, OverflowError, zyg.errors.Unsupported) as error:
            return error


def agree(mine, numpys, what):
    if isinstance(numpys, Exception):
        assert isinstance(mine, Exception) and isinstance(numpys, type(mine)), (what, mine, numpys)
        return
    if numpys.dtype in ABSENT:
        assert isinstance(mine, zyg.errors.Unsupported), (what, mine)
        return
    assert not isinstance(mine, Exception), (what, mine)
    mine = np.asarray(mine)
    assert mine.dtype == numpys.dtype, what
    np.testing.assert_allclose(mine, numpys, rtol=3e-7 if mine.dtype == np.float32 else 1e-14, err_msg=str(what))


@pytest.mark.parametrize("function", OPERATORS + FUNCTIONS, ids=lambda f: f.__name__)
def test_pairs_of_element_types(function):
    used = (lambda a, b: np.where(a > 0, a, b)) if function is np.where else function
    mine = zyg.jit(lambda a, b: used(a, b))
    rng = np.random.default_rng(sum(map(ord, function.__name__)))
    pairs = [(a, b) for a in DTYPES for b in DTYPES]
    for n in rng.choice(len(pairs), size=6, replace=False):
        a, b = (array(d, k) for k, d in enumerate(pairs[n]))
        agree(outcome(mine, a, b), outcome(used, a, b), (function, pairs[n]))


@pytest.mark.parametrize("number", [2, 300, -1, 2**31, 0.5, True], ids=str)
def test_python_numbers_are_weak(number):
    rng = np.random.default_rng(abs(int(number)) % 97)
    for function in rng.choice(np.array([operator.add, operator.mul, operator.lt, np.maximum], dtype=object), 2):
        mine = zyg.jit(lambda a: function(a, number))  # noqa: B023
        for dtype in DTYPES[1:]:
            a = array(dtype, 3)
            agree(outcome(mine, a), outcome(lambda a: function(a, number), a), (function, dtype, number))  # noqa: B023


def test_out_where_and_dtype():
    a = np.linspace(-2.0, 2.0, 6).reshape(2, 3)

    def everything(a):
        single = np.zeros((2, 3), np.float32)
        np.add(a, 1, out=single)
        logs = np.full((2, 3), -1.0)
        np.log(a, where=a > 0.0, out=logs)
        own = a.copy()
        np.multiply(own, own, own)
        shifted = np.arange(7.0)
        np.add(shifted[:-1], shifted[1:], out=shifted[1:])
        wholes, rest = np.zeros((2, 3)), np.zeros((2, 3))
        np.modf(a, out=(rest, wholes))
        return single, logs, own, shifted, rest, wholes, np.multiply(a, 3, dtype=np.float32)

    for mine, numpys in zip(zyg.jit(everything)(a), everything(a), strict=True):
        assert mine.dtype == numpys.dtype
        np.testing.assert_allclose(mine, numpys, rtol=1e-6)


@pytest.mark.parametrize(
    "function, message",
    [
        (lambda a: np.add(a, 1.5, out=np.zeros(3, int)), "Cannot cast ufunc 'add' output"),
        (lambda a: np.exp(a, where=a > 0.0), "without `out`"),
        (lambda a: np.add(a, a, out=np.zeros(2)), "broadcast"),
        (lambda a: np.sum(a, axis=1), "axis 1 is out of bounds"),
        (lambda a: np.max(a[:0]), "zero-size array to reduction operation maximum"),
        (lambda a: np.sum(a.astype(np.uint8)), "uint64"),
    ],
)
def test_what_is_refused_or_raises(function, message):
    with pytest.raises(Exception, match=message):
        zyg.jit(function)(np.ones(3))


def test_float32_stays_float32_in_the_gradient():
    x = np.linspace(0.1, 1.0, 5, dtype=np.float32)
    f = lambda x: np.sum(np.exp(x) * np.mean(x) - np.max(x) * np.std(x))
    (g,) = zyg.gradient(f, x)
    assert g.dtype == np.float32 and zyg.jit(f)(x).dtype == np.float32
    (exact,) = zyg.gradient(f, x.astype(float))
    np.testing.assert_allclose(g, exact, rtol=1e-4)


NUMBERS = [
    float("nan"), float("inf"), 300.5, -1.5, 3e10, 1e30, 2**40, 300, -1, np.float64("nan"), np.float64(300.5), np.float64(3e10),
    np.int64(2**40), np.int64(300), np.int32(-1), np.float32(300.5), np.array(np.nan), np.array(300), np.array([np.nan]),
    np.array([3e10, -1.0]), np.array([2**40, 300, -7]),
]  # fmt: skip


def put(v, dtype):
    y = np.zeros(3, dtype)
    y[0] = v
    return y


def put_all(v, dtype):
    y = np.zeros((2, 3), dtype)
    y[0, :2] = v
    return y


def put_picked(v, dtype):
    y = np.zeros(5, dtype)
    y[[0, 3]] = v
    return y


CONVERSIONS = [
    put, put_all, put_picked, lambda v, dtype: np.full(2, v, dtype), lambda v, dtype: np.asarray(v).astype(dtype),
    lambda v, dtype: np.array([v, 1], dtype), lambda v, dtype: dtype(v),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "dtype"), [(f, d) for f in CONVERSIONS for d in (np.uint8, np.int32, np.int64)][::2]
)
def test_numbers_become_elements_as_numpy_has_it(function, dtype):
    """Whole arrays are converted as C does it; a single element as Python's `int` does, with its exceptions."""
    mine = zyg.jit(lambda v: function(v, dtype))
    for v in NUMBERS:
        found, wanted = outcome(mine, v), outcome(lambda v: function(v, dtype), v)
        if isinstance(wanted, Exception):
            assert type(found) is type(wanted), (v, found, wanted)
        elif not (function is CONVERSIONS[5] and isinstance(v, np.ndarray)):  # of arrays in lists
            assert not isinstance(found, Exception), (v, found)
            assert np.array_equal(found, wanted) and np.shape(found) == np.shape(wanted), (v, found, wanted)


X, I = np.array([[1.5, 2.5, -3.5], [0.25, 4.0, 5.0]]), np.array([[1, 2, -3], [0, 4, 5]])
INTO = [
    lambda a, o: np.sum(a, axis=0, out=o), lambda a, o: np.mean(a, axis=0, out=o), lambda a, o: np.std(a, axis=0, out=o),
    lambda a, o: np.argmax(a, axis=0, out=o), lambda a, o: np.clip(a[0], 0, 1, out=o), lambda a, o: a[0].round(out=o),
    lambda a, o: np.fix(a[0], out=o), lambda a, o: np.ptp(a, axis=0, out=o), lambda a, o: np.cumsum(a[0], out=o),
    lambda a, o: np.nanmean(a, axis=0, out=o), lambda a, o: np.nanargmax(a, axis=0, out=o), lambda a, o: np.sum(a, out=o),
]  # fmt: skip


@pytest.mark.parametrize("function", INTO)
def test_out_of_another_kind(function):
    mine = zyg.jit(lambda a, o: function(a, o))
    for a, dtype in ((X, np.float32), (X, np.int64), (I, np.float64), (I, np.uint8)):
        ours, theirs = np.zeros(3, dtype), np.zeros(3, dtype)
        found, wanted = outcome(mine, a, ours), outcome(function, a, theirs)
        if isinstance(wanted, Exception):
            assert isinstance(wanted, type(found)), (found, wanted)
        else:
            assert found is ours and np.array_equal(ours, theirs)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64])
def test_the_gradient_by_integers_is_of_floats(dtype):
    f = lambda i: np.sum(np.sin(i.astype(float)) * i)
    i = np.arange(3).astype(dtype)
    (given,), x = zyg.gradient(f, i), i.astype(float)
    assert given.dtype == float and np.allclose(given, np.sin(x) + x * np.cos(x))
    assert np.allclose(zyg.hvp(f, i, np.ones(3)), 2 * np.cos(x) - x * np.sin(x))


def test_there_is_no_gradient_by_truth_values():
    f = lambda i: np.sum(np.sin(i.astype(float)) * i)
    assert zyg.gradient(f, np.arange(3) > 1) == (None,)


def test_powers_and_logarithms_at_their_edges():
    x = np.array([-np.inf, -0.0, 4.0])
    z = np.array([0j, 1 + 1j, -1 - 2j])

    def f(x, z):
        x **= 0.5
        return x, np.power(-x, 0.5), np.log2(z), np.exp2(z), np.expm1(z), np.log1p(z), np.rint(z * 1.7)

    with np.errstate(all="ignore"):
        for found, wanted in zip(zyg.jit(f)(x.copy(), z), f(x, z), strict=True):
            assert np.allclose(found, wanted, equal_nan=True) and np.array_equal(
                np.signbit(np.real(found)), np.signbit(np.real(wanted))
            )
    for function in (np.fmod, np.gcd):
        with pytest.raises(TypeError):
            zyg.jit(lambda z: function(z, z))(z)  # noqa: B023


def test_statistics_of_singles():
    a = np.array([[0.5, np.inf, 1.0], [2.0, np.nan, 1.5]], np.float32)

    def f(a, u):
        return (
            np.mean(a, axis=1, where=a > 0.7), np.var(a, where=a > 0.7), np.nanstd(a, axis=1), np.quantile(a[1, ::2], 0.5),
            np.quantile(a[1, ::2], [0.5, 1.0]), np.cov(a[:, ::2]), *np.average(a, returned=True), np.clip(u, -1, 300),
        )  # fmt: skip

    given = a, np.array([0, 7, 255], np.uint8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for found, wanted in zip(zyg.jit(f)(*given), f(*given), strict=True):
            assert np.asarray(found).dtype == np.asarray(wanted).dtype
            assert np.allclose(found, wanted, equal_nan=True, rtol=1e-6)


Pair = namedtuple("Pair", "first second")


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.mean(x) / (1.5, 2),
        lambda x: (1.5, 2) - x.mean(),
        lambda x: [4.0, x[0]] ** np.max(x),
        lambda x: (1, 2) // x.sum(),
        lambda x: divmod(x.sum() + 0.3, [2, 5])[1],
        lambda x: x.sum() < [1.0, 9.0],
        lambda x: x.sum() == (1.0, 3.0),
        lambda x: Pair(1.0, 3.0) != x.sum(),
    ],
)
def test_lists_and_tuples_beside_a_number_of_numpys_are_arrays(f):
    x = np.array([1.0, 2.0])
    found, wanted = zyg.jit(f)(x), f(x)
    assert found.dtype == wanted.dtype and np.array_equal(found, wanted)
    if found.dtype == float:
        slopes = zyg.jacobian(f, x)[0]
        steps = np.eye(2) * 1e-6
        assert np.allclose(
            0.0 if slopes is None else slopes, np.transpose([(f(x + h) - f(x - h)) / 2e-6 for h in steps])
        )
