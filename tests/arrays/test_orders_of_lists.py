"""In which order arrays lie that are put together of lists whose length is known only when the code runs."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn

pytestmark = each_in_turn


def windows(x, n):
    return np.stack([x[i % len(x) : i % len(x) + 1] for i in range(n)])


def appended(x, n):
    xs = []
    for i in range(n):
        xs.append(x * i)
    return np.stack(xs, 1)


def after_one_in_c_order(x, n):
    xs = [np.zeros(x.shape)]
    for _ in range(n):
        xs.append(x)
    return np.stack(xs, 2)


def an_item(x, n):
    xs = [x * i for i in range(n)]
    return xs[n - 1] * 2


def summed(x, n):
    total = x * 0
    for part in [x * i for i in range(n)]:
        total = total + part
    return total


FUNCTIONS = [
    windows,
    appended,
    after_one_in_c_order,
    an_item,
    summed,
    lambda x, n: np.concatenate([x for i in range(n)]),
    lambda x, n: np.concatenate([x for i in range(n)], 1),
    lambda x, n: np.vstack([x for i in range(n)]),
    lambda x, n: np.hstack([x for i in range(n)]),
    lambda x, n: np.dstack([x for i in range(n)]),
    lambda x, n: np.column_stack([x for i in range(n)]),
    lambda x, n: np.stack([x for i in range(n)], -1),
    lambda x, n: np.stack([x + 1j for i in range(n)], -1),
    lambda x, n: np.concatenate([x.T if i > n else x for i in range(n)]) if x.shape[0] == x.shape[1] else x + 0,
    lambda x, n: np.concatenate([x for i in range(n)], None),
    lambda x, n: np.array([x for i in range(n)]),
]
FORTRAN = np.asfortranarray(np.arange(8.0).reshape(4, 2))
THREE = np.arange(24.0).reshape(4, 2, 3)
ARRAYS = {
    "Fortran": FORTRAN,
    "C": FORTRAN.copy("C"),
    "square": np.arange(9.0).reshape(3, 3).T,
    "strided": np.arange(64.0).reshape(8, 8)[::2, ::-3].T,
    "row": FORTRAN[:1],
    "Fortran of three": np.asfortranarray(THREE),
    "moved": THREE.transpose(1, 0, 2),
    "backwards": np.asfortranarray(THREE)[:, ::-1],
}


@pytest.mark.parametrize("which", range(len(FUNCTIONS)))
@pytest.mark.parametrize("name", ARRAYS)
def test_what_is_put_together_lies_as_in_numpy(which, name):
    function, x = FUNCTIONS[which], ARRAYS[name]
    expected, found = function(x, 3), zyg.jit(function)(x, 3)
    assert np.array_equal(found, expected)
    assert found.strides == expected.strides


def test_the_order_is_seen_by_ravel():
    function = lambda x, n: np.concatenate([x for i in range(n)]).ravel("A")
    assert np.array_equal(zyg.jit(function)(FORTRAN, 2), function(FORTRAN, 2))


def several(x, n):
    xs = []
    for i in range(n):
        xs.append(x + i if i % 2 else x)
    return xs


def the_last(xs):
    z = xs[0]
    for q in xs:
        z = q
    return z


def one_or_another(x, n):
    xs = several(x, n)
    z = xs[0]
    if n > 2:
        z = xs[1]
    return z


def after_repeated(x, n):
    """An array whose strides are all 0 in front of those that have others."""
    xs = []
    for _ in range(n):
        xs.append(np.broadcast_to(x[(0,) * x.ndim], x.shape))
    xs.append(x.copy("K"))
    return xs


SEEN = [
    lambda x, n: the_last(several(x, n)).reshape(-1, order="A") + 0.0,
    lambda x, n: the_last(several(x, n)) * 2.0,
    lambda x, n: one_or_another(x, n).ravel(order="A"),
    lambda x, n: one_or_another(x, n).copy(),
    lambda x, n: several(x, n)[0].copy(order="K"),
    lambda x, n: several(x, n)[0].copy(order="A"),
    lambda x, n: np.array(several(x, n)[0]),
    lambda x, n: np.array(several(x, n)[0]).ravel(order="A"),
    lambda x, n: max(several(x, n), key=lambda q: q.flat[1]) + 1.0,
    lambda x, n: np.zeros_like(several(x, n)[0]),
    lambda x, n: np.copy(several(x, n)[0]),
    lambda x, n: (lambda z: np.stack([z, z]))(the_last(several(x, n))),
    lambda x, n: [q * 1.0 for q in several(x, n)][n - 1] + 0.0,
    lambda x, n: [q[::-1] for q in several(x, n)][n - 1] + 0.0,
    lambda x, n: [np.flip(q) for q in several(x, n)][n - 1] + 0.0,
    lambda x, n: np.array([x + 1j for i in range(n)][n - 1]),
    lambda x, n: (lambda xs: xs[0] + xs[n])(after_repeated(x, n)),
    lambda x, n: after_repeated(x, n)[0] + 0.0,
    lambda x, n: after_repeated(x, n)[0].copy(),
    lambda x, n: (lambda xs: xs[0] + xs[n])([np.broadcast_to(x[0], x.shape)] * n + [x for i in range(n)]),
    lambda x, n: [np.broadcast_to(x[:1], x.shape) for i in range(n)][n - 1] + x,
]


@pytest.mark.parametrize("which", range(len(SEEN)))
@pytest.mark.parametrize("name", ARRAYS)
def test_what_is_taken_out_lies_as_it_was_put_in(which, name):
    function, x = SEEN[which], ARRAYS[name]
    expected, found = function(x, 3), zyg.jit(function)(x, 3)
    assert np.array_equal(found, expected)
    several = [k for k, d in enumerate(expected.shape) if d > 1]  # along other axes strides say nothing
    assert [found.strides[k] for k in several] == [expected.strides[k] for k in several]


@pytest.mark.parametrize("name", [name for name in ARRAYS if ARRAYS[name].ndim == 2])
def test_by_ravel_and_flags(name):
    """Of arrays that are not known to lie in C order, gaps or not."""
    x = ARRAYS[name]
    for f in (
        lambda x, n: the_last(several(x.T, n)).ravel(order="K"),
        lambda x, n: several(x.T, n)[0].ravel(order="K"),
        lambda x, n: max(several(x.T, n), key=lambda q: q[0, 1 % q.shape[1]]).ravel(order="K"),
    ):
        assert np.array_equal(zyg.jit(f)(x, 3), f(x, 3))
    for f in (
        lambda x, n: one_or_another(x.T, n).flags.f_contiguous,
        lambda x, n: several(x.T, 1)[0].flags.c_contiguous,
    ):
        assert zyg.jit(f)(x, 3) == f(x, 3)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: [x[:, :1] for i in range(n)][n - 1].flags.c_contiguous,
        lambda x, n: [x.T[:, ::2] for i in range(n)][n - 1].strides[0],
    ],
)
def test_gaps_are_not_kept(function):
    with pytest.raises(zyg.Unsupported, match="are not contiguous"):
        zyg.jit(function)(np.ones((4, 4)), 3)


def strides_of(y):
    return y.strides[0]


def put_in(xs, a):
    xs.append(a[:, :3])


def read_first(what):
    """What is read of the last item in a loop that puts one with gaps into the list afterwards."""

    def function(a, n):
        xs = [np.ones((3, 3))]
        result = 0
        for _ in range(n):
            result += what(xs[-1])
            xs.append(a[:, :3])
        return result

    return function


def by_functions(a, n):
    xs = [np.ones((3, 3))]
    result = 0
    for _ in range(n):
        result += strides_of(the_last(xs))
        put_in(xs, a)
    return result


def from_another_list(a, n):
    xs, ys = [np.ones((3, 3))], [np.ones((3, 3))]
    result = 0
    for _ in range(n):
        result += ys[-1].strides[0]
        ys.append(xs[-1])
        xs.append(a[:, :3])
    return result


def of_a_part(a, n):
    xs = [np.ones((3, 3))]
    result = 0
    for _ in range(n):
        result += the_last(xs[:]).T.strides[1]
        xs.append(a[:, :3])
    return result


def in_tuples(a, n):
    xs = [(np.ones((3, 3)), 0)]
    result = 0
    for i in range(n):
        result += xs[-1][0].strides[0]
        xs.append((a[:, :3], i))
    return result


def exchanged(a, n):
    xs, ys = [np.ones((3, 3))], [np.ones((3, 3))]
    result = 0
    for _ in range(n):
        xs, ys = ys, xs
        result += xs[-1].strides[0]
        ys.append(a[:, :3])
    return result


def made_elsewhere(a, n):
    xs = [a[:, :3] for _ in range(n)]
    return xs[0]


@pytest.mark.parametrize(
    "function",
    [
        read_first(lambda y: y.strides[0]),
        read_first(lambda y: 1 if y.flags["C_CONTIGUOUS"] else 100),
        read_first(lambda y: 1 if y.flags.contiguous else 100),
        read_first(lambda y: 1 if y.flags.forc else 100),
        read_first(lambda y: sum(float(v) for v in np.nditer(y))),
        read_first(strides_of),
        by_functions,
        from_another_list,
        of_a_part,
        in_tuples,
        exchanged,
        lambda a, n: made_elsewhere(a, n).strides[0],
        lambda a, n: strides_of(made_elsewhere(a, n).T),
    ],
)
def test_gaps_are_not_kept_of_what_is_put_in_later(function):
    with pytest.raises(zyg.Unsupported, match="are not contiguous"):
        zyg.jit(function)(np.arange(18.0).reshape(3, 6), 2)


def beside_a_list(a, n):
    """Gaps in one list are no matter of other arrays."""
    xs, ys = [], []
    for _ in range(n):
        xs.append(a[:, :3])
        ys.append(a[:, :3].copy())
    own = a.strides[0] + a[:, :3].strides[0] + a.flags.c_contiguous + a[:, :3].flags.c_contiguous
    return (
        own
        + ys[0].strides[0]
        + ys[0].flags.c_contiguous
        + (xs[0] * 2).strides[0]
        + np.stack(xs).strides[1]
        + xs[0][1, 1]
    )


def contiguous_in_either_order(a, n):
    xs = [np.ones((3, 3)).T]
    result = 0
    for i in range(n):
        result += xs[-1].flags.c_contiguous * 10 + xs[-1].flags.f_contiguous
        xs.append(a[:, :3].T if i % 2 else np.ones((3, 3)).T)
    return result


@pytest.mark.parametrize("function", [beside_a_list, contiguous_in_either_order])
def test_what_is_kept_can_be_read(function):
    x = np.arange(18.0).reshape(3, 6)
    assert zyg.jit(function)(x, 4) == function(x, 4)


def turned(turn):
    """Of the last item of a list of arrays that were in C order, but for the order of their axes: how it lies, and its elements."""

    def function(x, n):
        xs = []
        for i in range(n):
            xs.append(turn(x * i))
        y = the_last(xs)
        return y.flags.c_contiguous, y.flags.f_contiguous, y + 0.0, y.ravel(order="A") + 0.0

    return function


@pytest.mark.parametrize("shape", [(2, 3, 4), (1, 3, 4), (3, 1, 1), (2, 0, 3), (0, 2, 1), (1, 1, 1)])
@pytest.mark.parametrize("turn", [lambda x: x.T, lambda x: x.transpose(2, 0, 1), lambda x: (x + 1j).transpose(1, 2, 0)])
def test_turned_arrays_are_kept_as_they_stand(shape, turn):
    function, x = turned(turn), np.arange(float(np.prod(shape))).reshape(shape)
    expected, found = function(x, 3), zyg.jit(function)(x, 3)
    assert found[:2] == expected[:2]
    assert np.array_equal(found[2], expected[2]) and np.array_equal(found[3], expected[3])
    several = [k for k, d in enumerate(expected[2].shape) if d > 1]  # along other axes strides say nothing
    if x.size:
        assert [found[2].strides[k] for k in several] == [expected[2].strides[k] for k in several]


def test_turned_arrays_have_derivatives():
    weights = np.arange(24.0).reshape(4, 2, 3)

    def f(x):
        xs = []
        for i in range(3):
            xs.append((x * x * i).transpose(2, 0, 1))
        return np.sum(the_last(xs) * weights) + np.sum((xs[1] + 1j).imag * xs[1])

    x = np.linspace(0.5, 1.5, 24).reshape(2, 3, 4)
    wanted = 4 * x * weights.transpose(1, 2, 0) + 2 * x
    assert np.allclose(zyg.gradient(f, x)[0], wanted)
    assert np.allclose(zyg.hvp(f, x, np.ones_like(x)), wanted / x)


def taken_out(x, n):
    return np.stack([the_last(several(x * x, n)), after_repeated(x, n)[0] * x, several(x[::2], n)[0].repeat(2, 0)])


@pytest.mark.parametrize("function", [appended, after_one_in_c_order, windows, taken_out])
def test_derivatives(function):
    weights = np.arange(1.0, 100.0)
    f = lambda x: np.sum(np.sin(function(x, 3)).ravel() * weights[: function(x, 3).size])
    gradient = zyg.gradient(f, FORTRAN)[0]
    for at in np.ndindex(FORTRAN.shape):
        step = np.zeros(FORTRAN.shape)
        step[at] = 1e-6
        assert np.isclose(gradient[at], (f(FORTRAN + step) - f(FORTRAN - step)) / 2e-6, atol=1e-5)
    along = np.cos(FORTRAN)
    wanted = (zyg.gradient(f, FORTRAN + 1e-6 * along)[0] - zyg.gradient(f, FORTRAN - 1e-6 * along)[0]) / 2e-6
    assert np.allclose(zyg.hvp(f, FORTRAN, along), wanted, atol=1e-3)
