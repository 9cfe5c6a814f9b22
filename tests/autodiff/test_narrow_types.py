"""Numbers of types that native code has not (complex64, float16, short integers): functions of the library go through Python, with NumPy's
own values and the derivatives of a wider type."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn
from zyg.fallback import python_pullback

pytestmark = [each_in_turn, pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")]

Z = np.array([1 + 2j, 3 - 1j, -0.5 + 0.25j], np.complex64)
OF_COMPLEX = """np.angle(z).sum()|np.linalg.norm(z)|np.linalg.norm(z, 1)|np.linalg.norm(np.outer(z, z) + np.diag(z), 2)|np.angle(z, deg=True)[1]
np.abs(np.convolve(z, z)).sum()|np.abs(np.diff(z)).sum()|np.sort(z)[1].real|np.linalg.svd(np.outer(z, z) + np.diag(z))[1].sum()
np.angle(z[1])|np.abs(np.linalg.pinv(np.outer(z, z[:2]) + np.eye(3, 2))).sum()|np.interp(0.3, [0.0, 1.0, 2.0], z).imag
np.angle([z[0], z[1]]).sum()|np.abs(np.trapezoid(z, axis=-1))|np.angle(z)[np.array([0, 0])].sum()""".replace(
    "\n", "|"
).split("|")
OF_OTHERS = (
    "np.median(a)|np.linalg.norm(a, 3)|np.median(a, axis=0, keepdims=True)[0]|np.quantile(a, 0.3)|np.ptp(a)".split("|")
)


def function(text, name):
    return eval(f"lambda {name}: {text}", {"np": np})


@pytest.mark.parametrize("text", OF_COMPLEX)
def test_complex64_has_the_derivatives_of_complex128(text):
    f = function(text, "z")
    value, (found,) = zyg.withgradient(f, Z)
    (expected,) = zyg.gradient(f, Z.astype(complex))
    assert value == f(Z) and type(value) is type(f(Z))
    assert found.dtype == np.complex64
    assert found == pytest.approx(expected, rel=2e-5, abs=2e-6)


@each_in_long_turn
@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.int16, np.uint16, np.uint32])
@pytest.mark.parametrize("text", OF_OTHERS)
def test_other_types_have_those_of_float64(text, dtype):
    a = np.array([1, 7, 4, 2], dtype)
    f = function(text, "a")
    value, (found,) = zyg.withgradient(f, a)
    assert value == f(a) and type(value) is type(f(a))
    assert found == pytest.approx(zyg.gradient(f, a.astype(float))[0], rel=1e-3 if dtype is np.float16 else 1e-12)


@pytest.mark.parametrize("kind", [np.complex64, np.complex128])
@pytest.mark.parametrize(
    "text",
    """np.angle(z).sum()|np.linalg.norm(z)|np.linalg.svd(z)[1].sum()|np.angle(z[0, 0])|np.linalg.norm(z, axis=0).prod()""".split(
        "|"
    ),
)
def test_second_derivatives(text, kind):
    def matrix(a):
        return np.array([[a[0] * a[1] + 1j, a[0]], [2.0, a[1] * a[1]]], kind)

    f = function(text, "z")
    g = function(text, "z")
    found = zyg.hessian(lambda a: f(matrix(a)), np.array([2.0, 1.0]))

    def slopes(a):
        return zyg.gradient(lambda a: g(np.array([[a[0] * a[1] + 1j, a[0]], [2.0, a[1] * a[1]]])), a)[0]

    x, h = np.array([2.0, 1.0]), 1e-5
    expected = np.array([(slopes(x + h * v) - slopes(x - h * v)) / (2 * h) for v in np.eye(2)])
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_a_type_without_a_wider_one_is_named():
    with pytest.raises(zyg.Unsupported, match=r"numpy\.median.*an array of dtype uint64") as caught:
        zyg.gradient(lambda a: np.median(a), np.array([1, 2, 4], np.uint64))
    assert "use an array of float64" in str(caught.value)
    with pytest.raises(zyg.Unsupported, match=r"numpy\.median.*an array of dtype (float128|longdouble)"):
        zyg.gradient(lambda a: np.median(a), np.array([1, 2, 4], np.longdouble))


def test_values_without_a_derivative():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert zyg.gradient(lambda z: float(len(np.angle(z))), Z) == (None,)


@pytest.mark.parametrize(
    "text",
    """(np.array([x, 1j]) * (1 + 2j)).imag.sum()|(np.array([[x * x + 1j, x], [2.0, x * x]]) ** 2).imag.sum()
np.concatenate([[x, 2j], [1.0, x * 1j]]).dot(np.array([1 + 1j, 2.0, 3j, 1j])).imag|np.abs(np.multiply([x * x, 1j], 1 + 2j)).sum()
np.abs(np.array([abs((2 + 1j) * x), 1j, x]) * np.array([1 + 2j, 1.0, 3j]) + x).sum()""".replace("\n", "|").split("|"),
)
def test_reals_beside_complex_numbers_have_real_derivatives(text):
    f = function(text, "x")
    _, back = python_pullback(f, (2.0,), {})
    (found,) = back(1.0)
    assert isinstance(found, float)
    assert found == pytest.approx((f(2 + 1e-6) - f(2 - 1e-6)) / 2e-6, rel=1e-8)
