"""Second derivatives and Jacobians by some of the arguments. Oracle: derivatives by hand."""

import math

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn

X, A, K = 0.7, np.array([0.5, 1.5]), 2
DIRECTIONS = 0.3, np.array([1.0, -2.0]), 0.5


def f(x, a, k):
    return x * x * k * np.sum(a**3) + math.sin(x) * a[0] * a[1] * k


def through_python(x, a, k):
    try:
        return f(x, a, k)
    except KeyError:
        return 0.0


def _second():
    cubes, product = np.sum(A**3), A[0] * A[1]
    by_x_a = 6 * X * K * A**2 + math.cos(X) * K * A[::-1]
    by_x_k = 2 * X * cubes + math.cos(X) * product
    by_a_k = 3 * X * X * A**2 + math.sin(X) * A[::-1]
    by_a_a = np.diag(6 * X * X * K * A) + math.sin(X) * K * np.array([[0.0, 1.0], [1.0, 0.0]])
    by_x_x = 2 * K * cubes - math.sin(X) * product * K
    return [[by_x_x, by_x_a, by_x_k], [by_x_a, by_a_a, by_a_k], [by_x_k, by_a_k, 0.0]]


SECOND = _second()
FIRST = (
    2 * X * K * np.sum(A**3) + math.cos(X) * K * A[0] * A[1],
    3 * X * X * K * A**2 + math.sin(X) * K * A[::-1],
    X * X * np.sum(A**3) + math.sin(X) * A[0] * A[1],
)


def same(found, expected):
    if isinstance(expected, tuple):
        return type(found) is tuple and len(found) == len(expected) and all(map(same, found, expected))
    return type(found) is not tuple and np.shape(found) == np.shape(expected) and np.allclose(found, expected)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@each_in_turn
@pytest.mark.parametrize("by", [0, np.int64(1), (0, 1, 2), [2, 0]], ids=str)
@pytest.mark.parametrize("function", [f, through_python], ids=lambda f: f.__name__)
def test_by(function, by) -> None:
    several = not isinstance(by, (int, np.integer))
    numbers = tuple(by) if several else (int(by),)

    def chosen(of):
        return tuple(of(n) for n in numbers) if several else of(numbers[0])

    row = lambda i: chosen(lambda j: SECOND[i][j])
    assert same(zyg.hessian(function, X, A, K, argnums=by), chosen(row))
    product = lambda i: sum(np.tensordot(SECOND[i][j], DIRECTIONS[j], np.ndim(DIRECTIONS[j])) for j in numbers)
    assert same(zyg.hvp(function, X, A, K, chosen(lambda n: DIRECTIONS[n]), argnums=by), chosen(product))
    assert same(zyg.jacobian(function, X, A, K, argnums=by), chosen(lambda n: FIRST[n]))


@each_in_turn
def test_inside_of_compiled_code() -> None:
    @zyg.jit
    def found(x, a):
        (by_x, across), _ = zyg.hessian(f, x, a, 2, argnums=(0, 1))
        return by_x, across, zyg.hvp(f, x, a, 2, a, argnums=1), zyg.jacobian(f, x, a, 2, argnums=[1])[0]

    by_x, across, product, first = found(X, A)
    assert same((by_x, across, product, first), (SECOND[0][0], SECOND[0][1], SECOND[1][1] @ A, FIRST[1]))
    with pytest.raises(TypeError, match="hessian of f by argument 3, but 3 positional arguments were given"):
        zyg.jit(lambda x, a: zyg.hessian(f, x, a, 2, argnums=3))(X, A)
    with pytest.raises(ValueError, match="twice"):
        zyg.jit(lambda x, a: zyg.jacobian(f, x, a, 2, argnums=(0, 0)))(X, A)


def row_in_object_code(x):
    try:
        return zyg.jacobian(f, x, A, 2, argnums=(0, 1))[1][1] * x
    except KeyError:
        return 0.0


def block_in_object_code(x):
    try:
        return zyg.hessian(f, x, A, 2, argnums=(0, 1))[1][0][1] * x
    except KeyError:
        return 0.0


def written_blocks(x):
    """Blocks are arrays of their own, also where native code has them in one matrix."""
    try:
        h = zyg.hessian(f, x, A, 2, argnums=(0, 1))
        h[0][1][0] *= 2
        h[1][1][0, 1] = 3 * x
        return np.sum(h[1][0] ** 2) + h[0][1][0] * np.sum(h[1][1])
    except KeyError:
        return 0.0


def written_rows(x):
    try:
        j = zyg.jacobian(lambda a, b: (a * b * x, a * b * x), A, A * 2, argnums=(0, 1))
        j[0][0][0, 0] *= x * 2
        return np.sum(j[0][0] ** 3) + np.sum(j[0][1] * j[1][0]) + np.sum(j[1][1])
    except KeyError:
        return 0.0


@each_in_long_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("found", [written_blocks, written_rows])
def test_blocks_are_written_in_object_code(found) -> None:
    h = 1e-3
    by_differences = (8 * (found(X + h) - found(X - h)) - (found(X + 2 * h) - found(X - 2 * h))) / (12 * h)
    value, (slope,) = zyg.withgradient(found, X)
    assert value == pytest.approx(found(X)) and slope == pytest.approx(by_differences, rel=1e-8)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("tail", [lambda y: (y, y[1:], y), lambda y: (y[::-1], y)], ids=["part", "reversed"])
def test_results_that_share_memory_go_on_sharing_it_in_object_code(tail) -> None:
    def shared(x):
        y = x * x
        for _ in range(3):
            y = y * x
        return tail(y)

    def found(x):
        named = {("x", 1): x}
        first, *others = shared(named["x", 1])
        first[1] *= 3.0
        return np.sum(first**2) + sum(np.sum(v**3) for v in others)

    x = np.array([0.3, 0.7, 1.1])
    by_differences = [(found(x + 1e-6 * e) - found(x - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    assert zyg.gradient(found, x)[0] == pytest.approx(np.array(by_differences), rel=1e-6, abs=1e-6)


@each_in_long_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize(
    "found, expected",
    [(row_in_object_code, FIRST[1][1] * X), (block_in_object_code, SECOND[1][0][1] * X)],
)
def test_inside_of_object_code(found, expected) -> None:
    value, (slope,) = zyg.withgradient(found, X)
    assert value == pytest.approx(expected)
    by_x = (found(X + 1e-4) - found(X - 1e-4)) / 2e-4
    assert slope == pytest.approx(by_x, rel=1e-6)


@each_in_turn
def test_what_a_function_writes_is_not_seen_by_the_next_pass() -> None:
    def written(x, total):
        total += x * x
        return np.sum(total * x)

    x = np.arange(1.0, 12.0)
    expected = np.diag(6 * x)
    assert same(zyg.hessian(written, x, np.zeros(11)), expected)
    twice = lambda x, total: x * written(x, total)
    values = zyg.jacobian(twice, x, np.zeros(11), argnums=0)
    assert same(values, np.eye(11) * np.sum(x**3) + np.outer(x, 3 * x * x))


def test_methods_and_what_is_wrong() -> None:
    class Scaled:
        def __init__(self):
            self.k = 3.0

        def value(self, x, y):
            return self.k * x * x * y

    assert zyg.hessian(Scaled().value, 2.0, 5.0, argnums=(0, 1)) == ((30.0, 12.0), (12.0, 0.0))
    assert zyg.jacobian(Scaled().value, 2.0, 5.0, argnums=1) == 12.0
    for make in (zyg.hessian, zyg.jacobian, lambda *args, **options: zyg.hvp(*args, 1.0, **options)):
        with pytest.raises(TypeError, match="by argument 3, but 3 positional arguments were given"):
            make(f, X, A, K, argnums=3)
        with pytest.raises(TypeError, match="by argument -4, but 3 positional arguments were given"):
            make(f, X, A, K, argnums=-4)
        with pytest.raises(TypeError, match="argnums is an int or a tuple of ints"):
            make(f, X, A, K, argnums=1.5)
    with pytest.raises(TypeError, match="a direction for each"):
        zyg.hvp(f, X, A, K, 1.0, argnums=(0, 1))
    with pytest.raises(TypeError, match=r"zyg.hvp\(f, x, v\)"):
        zyg.hvp(f, X)


@each_in_turn
def test_directions_that_do_not_fit() -> None:
    def cubes(a):
        return np.sum(a**3)

    with pytest.raises(ValueError, match=r"a tangent for .*cubes has another shape .* its length is 2, not 3"):
        zyg.hvp(cubes, np.ones(3), np.ones(2))
    with pytest.raises(zyg.Unsupported, match=r"a tangent for .*cubes of another structure"):
        zyg.hvp(cubes, np.ones(3), np.ones((3, 1)))
    with pytest.raises(TypeError, match="takes real ones"):
        zyg.hvp(cubes, np.ones(3), np.ones(3) * 1j)


def dynamic(x, y, table={1: 2.0}):  # noqa: B006
    try:
        return math.sin(x) * x * table[1] * y**3
    except KeyError:
        return x


@each_in_long_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize(
    "f",
    [
        pytest.param(  # as one case: what both compile takes ten seconds
            lambda x: (
                zyg.hessian(dynamic, x, 1.3, argnums=(0, 1))[0][1] * x
                + zyg.hvp(dynamic, x, 1.3, (1.0, x), argnums=(0, 1))[1] * x
            ),
            marks=each_in_long_turn,
        ),
        lambda x: zyg.jacobian(dynamic, x, 1.3, argnums=(1, 0))[1] * x,
        lambda x: zyg.value_and_grad(dynamic, argnums=1)(x, 1.3)[1] * x,
    ],
    ids=["hessian and hvp", "jacobian", "value_and_grad"],
)
def test_derivatives_of_these_through_python(f) -> None:
    h = 1e-3
    by_differences = (8 * (f(0.7 + h) - f(0.7 - h)) - (f(0.7 + 2 * h) - f(0.7 - 2 * h))) / (12 * h)
    assert zyg.gradient(f, 0.7)[0] == pytest.approx(by_differences, rel=1e-8)


def test_hvp_says_how_it_takes_arguments_and_direction():
    """Who writes it as `jvp` is written."""
    with pytest.raises(TypeError, match=r"the direction stands behind the arguments: zyg\.hvp\(f, x, y, v\)"):
        zyg.hvp(lambda x, y: x * y, 2.0, (1.0, 0.0), argnums=(0, 1))
    for argnums in (0, (0, 1)):
        with pytest.raises(TypeError, match=r"one by one.*zyg\.hvp\(f, x, y, v\); it is zyg\.jvp"):
            zyg.hvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 0.0), argnums=argnums)
    assert zyg.hvp(lambda p: p[0] * p[1], (2.0, 3.0), (1.0, 0.0)) == (0.0, 1.0)


def _without_derivative_by_shape(special, where):
    """A function of SciPy's, which has no derivative by its shape, and its slope."""
    native = lambda x, a: special.gammainc(a, x)

    def dynamic(x, a):
        try:
            return special.gammainc(a, x)
        except KeyError:
            return x

    drawing = lambda x, a: special.gammainc(a, x) * np.random.default_rng(0).uniform(1.0, 1.0, 3)
    slope = lambda x, a: np.exp(-x) * x ** (a - 1) / special.gamma(a)
    return {"natively": native, "through Python": dynamic, "in one run": drawing}[where], slope


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@each_in_long_turn
@pytest.mark.parametrize("where", ["natively", "through Python", "in one run"])
def test_arguments_that_are_not_asked_for_are_constants(where) -> None:
    """There may be no derivative by them."""
    special = pytest.importorskip("scipy.special")
    x, a, d = np.array([0.5, 1.5, 2.5]), 2.0, np.array([1.0, -1.0, 2.0])
    f, by_hand = _without_derivative_by_shape(special, where)
    slope = by_hand(x, a)
    total, turned = lambda x, a: np.sum(f(x, a)), lambda a, x, b: f(x, a) * b
    assert np.allclose(zyg.jacobian(f, x, a, argnums=0), np.diag(slope))
    assert same(zyg.jacobian(f, x, a, argnums=(0,)), (np.diag(slope),))
    by_b, by_x = zyg.jacobian(turned, a, x, d, argnums=(2, 1))
    assert np.allclose(by_b, np.diag(special.gammainc(a, x))) and np.allclose(by_x, np.diag(slope * d))
    assert np.allclose(zyg.grad(total)(x, a), slope)
    assert np.allclose(zyg.value_and_grad(lambda x, a: (total(x, a), a), has_aux=True)(x, a)[1], slope)
    assert np.allclose(zyg.jvp(f, (x, a), (d, None))[1], slope * d)
    if where != "in one run":
        assert np.allclose(zyg.pushforward(f, x, a)[1](d, None), slope * d)
    with pytest.raises(zyg.Unsupported, match="gammainc by an argument that it has none by"):
        zyg.jacobian(f, x, a)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize("same_list", [False, True])
def test_a_list_that_is_two_arguments_has_one_derivative(n, same_list) -> None:
    def f(xs, ys):
        try:
            return xs[0] * ys[0] * xs[1]
        except KeyError:
            return 0.0

    xs = [2.0, 3.0]
    ys = xs if same_list else [2.0, 3.0]
    expected = [12.0, 4.0] if same_list else [[6.0, 4.0], [6.0, 0.0]][n]
    assert zyg.grad(f, n)(xs, ys) == expected
    assert np.allclose(zyg.jacobian(f, xs, ys, argnums=n), expected)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@each_in_long_turn
@pytest.mark.parametrize("function", [f, through_python], ids=lambda f: f.__name__)
def test_negative_numbers_count_from_the_end(function) -> None:
    second = lambda by: zyg.hessian(function, X, A, K, argnums=by)
    assert same(second(-2), SECOND[1][1])
    assert same(second((0, -2)), ((SECOND[0][0], SECOND[0][1]), (SECOND[1][0], SECOND[1][1])))
    assert same(zyg.hvp(function, X, A, K, DIRECTIONS[1], argnums=-2), SECOND[1][1] @ DIRECTIONS[1])
    assert same(zyg.jacobian(function, X, A, K, argnums=(-1, 0)), (FIRST[2], FIRST[0]))
    assert same(zyg.grad(function, -2)(X, A, K), FIRST[1])
    assert same(zyg.value_and_grad(function, (-1, 1))(X, A, K)[1], (FIRST[2], FIRST[1]))
    assert same(zyg.gradient(lambda x: zyg.grad(function, -3)(x, A, K), X)[0], SECOND[0][0])
    with pytest.raises(ValueError, match="twice"):
        zyg.grad(function, (2, -1))(X, A, K)


def test_negative_numbers_of_methods_and_in_compiled_code() -> None:
    class Scaled:
        def __init__(self):
            self.k = 3.0

        def value(self, x, y):
            return self.k * x * x * y

        slope = zyg.grad(value, -1)

    scaled = Scaled()
    assert zyg.grad(scaled.value, -1)(2.0, 5.0) == 12.0 == scaled.slope(2.0, 5.0)
    assert zyg.grad(scaled.value, -2)(2.0, 5.0) == 60.0
    with pytest.raises(TypeError, match="by argument -3, but 2 positional arguments were given"):
        zyg.grad(scaled.value, -3)(2.0, 5.0)
    found = zyg.jit(lambda x, a: (zyg.grad(f, -2)(x, a, 2), zyg.hvp(f, x, a, 2, a, argnums=-2)))(X, A)
    assert same(found, (FIRST[1], SECOND[1][1] @ A))
    # An int of another type than a float's: its gradient is one all the same.
    assert zyg.grad(lambda x, n: x * n, -1)(2.0, 3) == 2.0


def test_arguments_by_name_are_constants() -> None:
    with pytest.raises(TypeError, match=r"was given .those given by name are constants.: pass it by position"):
        zyg.grad(lambda x, y: x * y, 1)(2.0, y=3.0)


def test_what_is_made_of_a_function_has_its_name_and_docstring() -> None:
    """As functools.wraps has it, and JAX."""

    @zyg.grad
    def slope(x):
        """Of a square."""
        return x * x

    def cube(x):
        """x ** 3"""
        return x**3

    assert slope.__doc__ == "Of a square." and slope.__name__ == "slope" and slope.__wrapped__(3.0) == 9.0
    assert slope.__qualname__ == slope.__wrapped__.__qualname__ and slope.__module__ == __name__
    for made in (
        zyg.derivative(cube),
        zyg.value_and_grad(cube),
        zyg.jit(zyg.grad(cube)),
        zyg.derivative(zyg.derivative(cube)),
    ):
        assert made.__doc__ == "x ** 3" and made.__name__ == "cube"
    assert repr(zyg.grad(cube)).startswith("<zyg.grad(") and "cube" in repr(zyg.grad(cube))
