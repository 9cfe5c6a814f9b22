"""What the library knows of NumPy and SciPy, in code that goes through Python: derivatives against differences, first and second."""

from __future__ import annotations

import statistics
import warnings

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn
from zyg.fallback import python_pullback

pytestmark = each_in_turn

scipy_special = pytest.importorskip("scipy.special")
X = np.array([0.3, -0.7, 1.2, 0.4, -0.1])
M = 0.5 * np.sin(1.0 + 1.7 * np.arange(9)).reshape(3, 3) + 2.0 * np.eye(3)

EXPRESSIONS = """np.trace(m @ m, offset=1)|np.add.reduce(x)|np.add.reduce(m, axis=1, keepdims=True)|np.multiply.reduce(x)|np.maximum.reduce(x)
np.logaddexp.reduce(x)|np.add.accumulate(x)|np.multiply.accumulate(x)|np.maximum.accumulate(x)|np.add.outer(x, x)
np.subtract.outer(x, x[:2])|np.multiply(x, x, where=x > 0, out=np.zeros(5))|np.log(x, where=x > 0, out=2.0 * x)|np.sinc(x)|np.i0(x)
np.ptp(x)|x.cumprod()|x.compress(x > 0)|np.compress(x > 0, x)|np.angle(x + 1j * x[0])|np.nanmean(x)|np.nansum(m, axis=0)|np.nanstd(x)
np.block([[m, 2.0 * m], [m, m]])|sp.betainc(2.0, 3.0, 0.3 + 0.1 * x[0])|sp.betainc(2.0, 3.0, abs(x) / 2)|np.average(x, weights=abs(x))
np.nan_to_num(x)|np.select([x > 0, x < -0.5], [x, 2 * x], 0.0)|np.choose(np.array([0, 1, 0, 1, 0]), [x, 2 * x])|np.extract(x > 0, x)
np.linalg.multi_dot([m, m, m])|np.linalg.norm(m, 2)|np.linalg.norm(x, 3)|np.mean(x, dtype=float)|np.sum(x, where=x > 0)
np.sum(x, initial=2.0)|np.max(x, initial=0.0)|np.mean(m, axis=0, where=m > 0)|np.add(x, x, dtype=float)|np.sqrt(x * x + 1.0, out=np.empty(5))
np.polyder(x)|np.polyint(x)|np.convolve(x, x)|np.corrcoef(m)|np.partition(x, 2)|np.concatenate([x, x], out=np.empty(10))
np.float32(x[0]).astype(float) * 1.0|np.linalg.cond(m)|np.gradient(x)|np.interp(x, np.arange(5.0), x)|np.nancumsum(x)
np.r_[x, 1.0, x[0], 0:2]|np.c_[x, x * x, np.arange(5)]|np.vectorize(lambda v: v * v * x[1] if v > 0 else -v)(x)
np.vectorize(lambda v, w: (v * w, 1.0))(m, x[0])[0]|np.piecewise(x, [x < 0, x > 1], [lambda v: v * v * x[0], 2.0, lambda v: v**3])
np.einsum("ii->i", m)|np.einsum("iij->j", m[:, :, None] * x)|np.add.reduceat(x, [0, 2, 3, 1])|np.sum(np.add.reduceat(m, [], axis=1)) + x|np.multiply.reduceat(m, [0, 1], axis=1)
st.fmean(list(x), weights=[x[0], 2.0, 3.0, 1.0, 1.0])|st.correlation(list(x), [1.0, 2.0, 3.0, 4.0, 7.0 * x[1]])|st.covariance(x.tolist(), [1.0, 2.0, 3.0, 4.0, x[0]])
st.linear_regression([1.0, 2.0, 3.0, 4.0, x[0]], list(x)).intercept|st.linear_regression([1.0, 2.0], [x[0], 1.0], proportional=True).slope
np.einsum("ij...,jk...->ik...", m[:, :, None], m[:, :, None])|np.einsum("...ij,...jk", m[None], x[:3, None] * m[:, :1, None])|np.einsum("...,i...", x[0], m)
np.einsum(m, [0, 1], m, [1, 2], [2, 0])|np.einsum(m, (1, 0), x[:3], (1,))|np.einsum(m, [..., 1], [...])|np.einsum([x[0], x[1], 2.0], [0], m, [0, ...])|np.einsum(x, [0], x, [0], [])
np.einsum("ii,ij->j", m, m)|np.einsum("ii,jj->ij", m, m[1:, 1:])|np.einsum("i...i,j->j...", m[:, None] * m[:, :, None], x)|np.einsum("ii", [[x[0], x[1]], [2.0, x[2]]])
np.einsum("ij,jk->ik", m, m, dtype=float, order="F")|np.einsum("i,i", x, [1, 2, 3, 4, 5], dtype="f8", casting="safe")|np.einsum("ij,jk,kl->li", m, m, m, optimize=["einsum_path", (0, 2), (0, 1)])
np.broadcast_arrays(x[:3], m)[0] * m|np.broadcast_arrays(m, x[0], [[x[1]], [2.0], [x[2]]])[2]|np.meshgrid(x, [x[0], x[1]], copy=False)[1]
np.meshgrid(x[:3], m, copy=False, indexing="ij")[0]|np.meshgrid(x, x, m, copy=False, sparse=True)[0] * x[0]|np.meshgrid(m, copy=False)[0]
np.lib.stride_tricks.sliding_window_view(x, 3)|np.fromfunction(lambda i, j: m[i, j] ** 2, (3, 3), dtype=int)|np.trim_zeros(x)""".replace("\n", "|").split("|")  # fmt: skip
ONCE = {
    "np.float32(x[0]).astype(float) * 1.0", "sp.betainc(2.0, 3.0, 0.3 + 0.1 * x[0])", "sp.betainc(2.0, 3.0, abs(x) / 2)",
}  # fmt: skip
STATEMENTS = """np.copyto(z, x)|np.copyto(z, x, where=x > 0)|np.putmask(z, x > 0, x)|np.put(z, [0, 3], x[:2])|z.put([1], x[0])|z[1:2].reshape(()).put([0], x[0])
np.put(z, [0, 3], [x[0], 2.0])|z.put([0, -1], (x[0] * x[1], x[2]))|np.put(z, range(3), [1, 2]); z[2] *= z[0]|np.put(z, [[0], [2]], x[:1]); z[0] *= z[2]|np.put(z, [1, 1], [x[0], x[1]])
np.put(z, [0, 9, -9], x[:3], mode="clip")|np.put(z, [1, 9, -9], x[:2], "wrap")|np.put(z[::2], [0, 1, 2], x)|np.put(z, 1, x[:1])|np.put(z, [], x)
np.copyto(z, [1, x[0], 2.0, x[1], 3], where=[True, True, False, True, False])|np.copyto(z, x[:1], where=x[:1] < 5); np.copyto(z, x[0], where=True)
np.putmask(z, z > 0, [x[0], x[1]])|np.putmask(z, [True, False, True, False, True], x[:3] * x[0])|np.putmask(z, x > 5, [])
w = x * x; np.copyto(z, w, where=x > 0); w[:] = 0.0; z *= x|w = x[:1] * 1.0; np.copyto(z, w, where=x > 0); w[0] = 5.0; z *= w|w = x[:2] * 1.0; np.multiply.at(z, [0, 1], w); w[0] = 5.0; z[:2] *= w
w = x[:2] * 1.0; np.put(z, [0, 1, 2], w); w[0] = 5.0; z[:2] *= w|w = x[:2] * 1.0; np.putmask(z, x > 0, w); w[0] = 5.0; z[:2] *= w|w = x[:1] * 1.0; np.add.at(z, [0, 0], w); w[0] = 5.0; z[:1] *= w
np.add.at(z, [0, 0], x[:2])|np.multiply(x, x, out=z)|np.place(z, x > 0, x[:2])|np.put_along_axis(z, np.array([1, 3]), x[:2], 0)
np.multiply.at(z, [0, 0, 1, 0], x[:4])|np.maximum.at(z, [1, 1], x[:2])|np.square.at(z, [[0, 2], [0, 3]])|z.flat = x[:2]|z.real = x|z.partition(2)
np.einsum("ii->i", m + 0 * m)[:] = 0.0; np.einsum("i->i", z)[1:3] = x[0]|np.multiply(x, z, where=x > 0, out=z)""".replace(
    "\n", "|"
).split("|")


def groups(texts, most=4):
    """Several at a time: what takes long is compiling the program around them."""
    return [texts[k : k + most] for k in range(0, len(texts), most)]


def program(texts):
    body = []
    for n, text in enumerate(texts):
        body.append(f"z = 2.0 * x + 1.0; {text}; y{n} = z" if text in STATEMENTS else f"y{n} = {text}")
    result = " + ".join(f"np.sum(np.sin({1.3 + 0.1 * n} * y{n} + 0.2)).real" for n in range(len(texts)))
    space = {"np": np, "sp": scipy_special, "st": statistics}
    exec("\n    ".join(["def f(x, m):", *body, f"return {result}\n"]), space)
    return space["f"]


def directions():
    numbers = np.random.default_rng(1)
    return numbers.normal(size=5), numbers.normal(size=(3, 3))


def slope(f, x, m, dx, dm):
    gx, gm = zyg.gradient(f, x, m)
    total = 0.0
    if gx is not None:
        total = total + np.sum(gx * dx)
    if gm is not None:
        total = total + np.sum(gm * dm)
    return total


def along(f, dx, dm, h):
    return (f(X + h * dx, M + h * dm) - f(X - h * dx, M - h * dm)) / (2 * h)


def product(cotangents, dx, dm):
    return sum(np.sum(c * v) for c, v in zip(cotangents, (dx, dm)) if c is not None)


@each_in_long_turn
@pytest.mark.parametrize(
    "texts",
    [*groups([t for t in EXPRESSIONS if t not in ONCE]), *groups(STATEMENTS), *([t] for t in EXPRESSIONS if t in ONCE)],
    ids="|".join,
)
@pytest.mark.filterwarnings("ignore")
def test_derivatives_through_python(texts):
    f = program(texts)
    dx, dm = directions()
    x, m = X.copy(), M.copy()
    value, back = python_pullback(f, (x, m), {})
    assert value == pytest.approx(f(X.copy(), M.copy()), rel=1e-13)
    single = any("float32" in text for text in texts)
    h, tolerance = (1e-3, 1e-3) if single else (1e-6, 1e-6)
    assert product(back(1.0), dx, dm) == pytest.approx(along(f, dx, dm, h), rel=tolerance, abs=tolerance)
    assert np.array_equal(x, X) and np.array_equal(m, M)
    if not ONCE.isdisjoint(texts):
        return
    _, back = python_pullback(slope, (f, X, M, dx, dm), {})

    def first(x, m):
        return product(python_pullback(f, (x, m), {})[1](1.0), dx, dm)

    assert product(back(1.0)[1:3], dx, dm) == pytest.approx(along(first, dx, dm, 1e-5), rel=1e-5, abs=1e-5)


def test_what_stays_refused_names_the_remedy():
    def views(x):
        return np.sum(np.lib.stride_tricks.as_strided(x, (2, 2), (8, 8)) ** 2)

    with pytest.raises(zyg.Unsupported, match=r"elements share memory.*(\n.*)*pass a copy"):
        python_pullback(views, (X,), {})[1](1.0)

    def by_all(x):
        return scipy_special.betainc(x, 3.0, 0.4)

    with pytest.raises(zyg.Unsupported, match=r"scipy\.special\.betainc"):
        python_pullback(by_all, (2.0,), {})[1](1.0)


def test_jitted_functions_give_arrays_to_python_code():
    """An inner function runs natively, and its array has the cotangents that come to it."""

    @zyg.jit
    def inner(x, s):
        y = np.empty_like(x)
        for k in range(len(x)):
            y[k] = x[k] * x[k] * s
        return y

    def outer(x, s):
        with warnings.catch_warnings():
            y = inner(x, s)
        kept = {"y": y}
        y[0] += 1.0
        return np.sum(kept["y"] ** 3)

    value, back = python_pullback(outer, (X, 1.5), {})
    y = 1.5 * X**2
    y[0] += 1.0
    assert value == pytest.approx(np.sum(y**3))
    dx, ds = back(1.0)
    np.testing.assert_allclose(dx, 3 * y**2 * 3.0 * X)
    assert ds == pytest.approx(np.sum(3 * y**2 * X**2))


def rows_replaced(x):
    r = [[x[0], 1.0], [x[1], x[2]]]
    y = np.array(r)
    r[1] = [3.0, 3.0]
    return (y * y).sum()


def items_taken_out(x):
    row = [x[0], x[1]]
    y = np.average(row, weights=[x[2], x[4] + 1.0])
    row.pop()
    return y


def blocks_taken_out(x):
    m = [[x[:2], x[1:3]]]
    y = np.block(m)
    m.pop()
    return (y * y).sum()


def larger_ones(x):
    return np.sqrt(np.fmax(x, 0.0)).sum() + np.sqrt(-np.fmin(x - 1.3, 0.0)).sum()


@pytest.mark.parametrize("f", [rows_replaced, items_taken_out, blocks_taken_out, larger_ones], ids=lambda f: f.__name__)
def test_lists_that_change_after_the_call_and_infinite_slopes_of_what_was_not_chosen(f):
    value, back = python_pullback(f, (X,), {})
    assert value == f(X)
    wanted = [(f(X + 1e-6 * e) - f(X - 1e-6 * e)) / 2e-6 for e in np.eye(5)]
    np.testing.assert_allclose(back(1.0)[0], wanted, atol=1e-6)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.nansum(-1.0 - x * x) ** 0.5,
        lambda x: 1.0 / np.nansum(x * 0.0),
        lambda x: np.nanmean(x) / 0.0,
        lambda x: np.median(x).round(2) + np.trapezoid(x).item(),
        lambda x: np.sum(np.nanmean(x) * np.ones(3, np.float32)),
    ],
)
def test_numbers_are_of_the_classes_that_numpy_gives(f):
    with np.errstate(all="ignore"):
        value, back = python_pullback(f, (X,), {})
        wanted = f(X)
        assert type(value) is type(wanted)
        np.testing.assert_equal(value, wanted)
        back(1.0)


def total(x):
    found = 0.0
    for v in x:
        found = found + v
    return found


def counted(x):
    found = x[0] > 0, np.sum(x > 9), 2.0
    for k in range(2):
        found = found[0], found[1], found[2] * (k + 1)
    return found


@pytest.mark.parametrize(
    "f",
    [
        lambda x: 1.0 / total(x * 0.0),
        lambda x: total(-x * x) ** 0.5,
        lambda x: 1.0 / zyg.jit(total)(x * 0.0),
        lambda x: 1.0 / counted(x)[1] + ~counted(x)[0] * x[0],
        lambda x: 1.0 / (counted(x)[2] - 5.0) + x[0],
    ],
    ids=["loop", "power", "jitted", "tuple", "python"],
)
def test_numbers_of_loops_are_of_the_classes_that_they_have_in_cpython(f):
    with np.errstate(all="ignore"):
        value, back = python_pullback(f, (X,), {})
        wanted = np.float64(np.inf) if "jit" in f.__code__.co_names else f(X)
        assert type(value) is type(wanted)
        np.testing.assert_equal(value, wanted)
        back(1.0)
    with pytest.raises(ZeroDivisionError):
        python_pullback(lambda x: x[0].item() / (counted(x)[2] - 4.0), (X,), {})


def test_what_is_written_to_another_type_is_added_up_in_that_type_or_refused():
    x = np.array([[1e8, 1.0], [1.0, 1.0], [1.0, 2.0]], np.float32)

    def f(x):
        y = np.empty(2)
        np.sum(x, axis=0, out=y)
        return y[0]

    value, back = python_pullback(f, (x,), {})
    assert value == f(x) == 100000002.0
    with pytest.raises(zyg.Unsupported):
        back(1.0)


@each_in_long_turn
def test_second_derivatives_by_arrays_that_are_written_afterwards():
    def f(x):
        z = 2.0 * x
        y = np.sinc(z)
        z[:] = 0.5
        return np.sum(y * y)

    def slopes(x):
        return np.sum(python_pullback(f, (x,), {})[1](1.0)[0] * np.arange(5.0))

    wanted = [(slopes(X + 1e-5 * e) - slopes(X - 1e-5 * e)) / 2e-5 for e in np.eye(5)]
    np.testing.assert_allclose(python_pullback(slopes, (X,), {})[1](1.0)[0], wanted, rtol=1e-6, atol=1e-6)


def dot_in_place(x, a):
    np.dot(a, x, out=a)


def clip_in_place(x, a):
    np.clip(a, 1.0, x + 1.0, out=a)


def divide_in_place(x, a):
    np.divide(a, x, out=a, where=a > 1.5)


@each_in_long_turn
@pytest.mark.parametrize("write", [dot_in_place, clip_in_place, divide_in_place])
def test_second_derivatives_by_what_is_written_with_a_number(write):
    """What came to the other arguments was given to the wrong ones."""

    def f(x):
        a = np.arange(4.0) * x + 1.0
        write(x, a)
        return np.sum(a**3)

    slope = lambda x: python_pullback(f, (x,), {})[1](1.0)[0]
    wanted = (slope(0.7 + 1e-5) - slope(0.7 - 1e-5)) / 2e-5
    assert python_pullback(slope, (0.7,), {})[1](1.0)[0] == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("cache", [False, True])
@pytest.mark.parametrize("otypes", [None, [float]])
def test_vectorize_calls_the_function_as_often_as_numpy_does(cache, otypes):
    def f(x):
        seen = []
        y = np.vectorize(lambda v: seen.append(v * v) or v * x[1], otypes=otypes, cache=cache)(x[:2])
        return y.sum() * len(seen) + seen[0] + 3.0 * seen[1]

    value, back = python_pullback(f, (X,), {})
    assert value == f(X)
    wanted = [(f(X + 1e-6 * e) - f(X - 1e-6 * e)) / 2e-6 for e in np.eye(5)]
    np.testing.assert_allclose(back(1.0)[0], wanted, atol=1e-8)


def test_natively_vectorize_calls_the_function_as_often():
    def f(x):
        seen = [x[1]]
        y = np.vectorize(lambda v: seen.append(v * seen[-1]) or v * seen[-1])(x)
        return y.sum() + sum(seen)

    value, (dx,) = zyg.withgradient(f, X)
    np.testing.assert_allclose(value, f(X), rtol=1e-14)
    wanted = [(f(X + 1e-6 * e) - f(X - 1e-6 * e)) / 2e-6 for e in np.eye(5)]
    np.testing.assert_allclose(dx, wanted, atol=1e-8)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.vectorize(lambda v: v * np.sum(v), signature="(n)->(n)")(x[:4].reshape(2, 2)),
        lambda x: np.vectorize(lambda v, p: v * p[0], excluded=[1])(x, [x[0], 2.0]),
        lambda x: np.vectorize(lambda v, w: v * w)(x, w=x[::-1]),
    ],
    ids=["signature", "excluded", "keyword"],
)
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_what_vectorize_does_besides_is_refused(f):
    assert np.array_equal(python_pullback(f, (X,), {})[0], f(X))
    with pytest.raises(zyg.Unsupported):
        zyg.gradient(lambda x: np.sum(f(x)), X)


def test_attributes_of_arrays_that_take_nothing():
    def f(x):
        y = 2.0 * x
        y.flat = []
        try:
            y.imag = x
        except TypeError:
            y = y * x
        return np.sum(y)

    value, back = python_pullback(f, (X,), {})
    assert value == f(X)
    np.testing.assert_allclose(back(1.0)[0], 4.0 * X)


def test_eigenvectors_have_the_signs_of_numpys():
    def along(m):
        w, v = np.linalg.eig(m)
        return np.sum(w * np.arange(3.0)) + np.sum(v * np.cos(np.arange(9.0)).reshape(3, 3))

    m = np.array([[1.05, 2.05, 0.3], [3.05, 4.05, -0.2], [0.1, 0.4, 9.0]])
    values, vectors = python_pullback(np.linalg.eig, (m,), {})[0]
    assert np.array_equal(values, np.linalg.eig(m)[0]) and np.array_equal(vectors, np.linalg.eig(m)[1])
    value, back = python_pullback(along, (m,), {})
    assert value == along(m)
    d = np.sin(np.arange(9.0)).reshape(3, 3)
    slope = (along(m + 1e-6 * d) - along(m - 1e-6 * d)) / 2e-6
    assert abs(np.sum(back(1.0)[0] * d) - slope) < 1e-6


def test_variances_have_a_derivative_by_the_degrees_of_freedom():
    f = lambda x, ddof: np.var(x, ddof=ddof)
    by_ddof = python_pullback(f, (X, 0.5), {})[1](1.0)[1]
    assert abs(by_ddof - (f(X, 0.5 + 1e-6) - f(X, 0.5 - 1e-6)) / 2e-6) < 1e-6
