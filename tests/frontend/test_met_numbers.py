"""What CPython would call an int and machine code a float, since the two met where control flow joins: nothing is said about
its class that CPython might answer otherwise."""

from __future__ import annotations

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn

pytestmark = each_in_turn


def power(x, n):
    r = 1
    for _ in range(n):
        r *= x
    return r


def by_type(x, n):
    return 1.0 if type(power(x, n)) is float else 2.0


def by_isinstance(x, n):
    return 1.0 if isinstance(power(x, n), int) else 2.0


def by_pattern(x, n):
    match power(x, n):
        case int():
            return 1.0
        case float():
            return 2.0
    return 3.0


def by_attribute(x, n):
    return power(x, n).__class__ is int


def after_arithmetic(x, n):
    return isinstance(-power(x, n) * 2 + 1, int)


def a_flag(x, n):
    y = x > n or 2.5
    return isinstance(y, bool)


def the_larger(x, n):
    return isinstance(max(n, x), int)


def complex_or_not(x, n):
    z = 1
    for _ in range(n):
        z = z * (x + 1j)
    return isinstance(z, complex)


def in_a_list(x, n):
    xs = [1]
    for _ in range(n):
        xs.append(x)
    return isinstance(xs[0], int)


def in_a_dict(x, n):
    d = {"a": 1}
    if n:
        d["a"] = x
    return isinstance(d["a"], int)


def in_a_tuple(x, n):
    t = (1, 2)
    if n:
        t = (x, 2)
    return isinstance(t[0], int)


def in_a_tuple_by_its_number(x, n):
    r = power(x, n)
    return isinstance((r, -r)[n - 3], int)


def of_a_recursive_function(x, n):
    return type(recursive(x, n)) is float


def recursive(x, n):
    return 1 if n == 0 else recursive(x, n - 1) * x


def of_a_sum(x, n):
    xs = [x]
    for _ in range(n):
        xs.append(x)
    return isinstance(sum(xs), int)


def called(x, n):
    return type(power(x, n))(2.5)


def shifted(x, n):
    return power(x, n) << 2


def repeated(x, n):
    return len([1.0] * power(x, n))


def bits(x, n):
    return power(x, n).bit_length()


REFUSED = [
    by_type, by_isinstance, by_pattern, by_attribute, after_arithmetic, a_flag, the_larger, complex_or_not, in_a_list, in_a_dict,
    in_a_tuple, in_a_tuple_by_its_number, of_a_recursive_function, of_a_sum, called, shifted, repeated, bits,
]  # fmt: skip


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_a_question_that_has_no_one_answer_is_refused(f):
    with pytest.raises(zyg.Unsupported, match=r"on one path and .* on another") as caught:
        zyg.jit(f)(2.5, 0)
    assert "begin with 1.0 instead of 1" in str(caught.value)


class Above:
    def __init__(self, z):
        self.z = z

    def __bool__(self):
        return self.z > 0.5


def found(a):
    """0 if there is none, else NumPy's."""
    return sum(z for z in a if z > 0.0)


def asked_for_its_truth(a):
    return 1.0 if Above(found(a)) else 2.0


def added_flags(a):
    return (found(a) > 1.0) + (found(a) > 0.5)


def inverted_flag(a):
    return ~(found(a) > 1.0)


@pytest.mark.parametrize("f", [asked_for_its_truth, added_flags, inverted_flag], ids=lambda f: f.__name__)
def test_flags_of_numbers_that_may_be_numpys_are_not_said_to_be(f):
    """The answer of `__bool__` was an error where CPython has none, and sums of flags were wrong."""
    with pytest.raises(zyg.Unsupported, match=r"bool on one path and numpy\.bool on another") as caught:
        zyg.jit(f)(np.array([-1.0]))
    assert "bool(x)" in str(caught.value)


def flags_that_mean_the_same(a):
    flag = found(a) > 0.5
    return (1.0 if flag else 2.0) + 3.0 * flag + (flag & (found(a) > 0.1)) + (not flag)


@pytest.mark.parametrize("a", [(-1.0,), (2.0,)])
def test_flags_of_numbers_that_may_be_numpys_are_numbers_and_answers(a):
    assert zyg.jit(flags_that_mean_the_same)(np.array(a)) == flags_that_mean_the_same(np.array(a))


BUILTINS_ON_ARRAYS = {
    "sum and max": lambda x: sum(x) + max(x),
    "the minimum times the sum": lambda x: min(x) * sum(x) * sum(x),
    "compared": lambda x: (sum(x) > max(x)) * 2.0 + x[0],
    "a float to begin with": lambda x: sum(x, 0.5) * max(x) ** 2,
    "normalised": lambda x: (sum(x) - min(x)) / (max(x) - min(x) + 1.0),
    "the sum of the largest": lambda x: sum(sorted(x)[-2:]) ** 2 - max(x, default=0.0),
}


@pytest.mark.parametrize("name", BUILTINS_ON_ARRAYS)
def test_a_sum_beside_what_is_found_in_a_loop(name):
    """sum(x) is 0 of an empty array and NumPy's number of others; max(x) is there only if there is an element."""
    f, x, step = BUILTINS_ON_ARRAYS[name], np.array([3.0, -1.0, 2.0]), 1e-5
    assert zyg.jit(f)(x) == f(x)
    moved = [x + step * unit for unit in np.eye(3)], [x - step * unit for unit in np.eye(3)]
    slopes = [(f(up) - f(down)) / (2 * step) for up, down in zip(*moved)]
    np.testing.assert_allclose(zyg.grad(f)(x), slopes, rtol=1e-8, atol=1e-8)
    g = zyg.grad(f)
    columns = [(g(up) - g(down)) / (2 * step) for up, down in zip(*moved)]
    np.testing.assert_allclose(zyg.hessian(f, x), np.array(columns).T, rtol=1e-8, atol=1e-8)


def added(x, n):
    y = None
    if n:
        y = x[0]
    return sum(x) + y


def added_in_place(x, n):
    y = None
    if n:
        y = x[0]
    y += sum(x)
    return y


def compared(x, n):
    y = None
    if n:
        y = x[0]
    return y < sum(x)


@pytest.mark.parametrize("f", [added, added_in_place, compared], ids=lambda f: f.__name__)
def test_none_beside_a_number_that_may_be_of_several_classes(f):
    x = np.array([1.0, 2.0])
    assert zyg.jit(f)(x, 1) == f(x, 1)
    with pytest.raises(TypeError, match=r"'int or numpy\.float64'"):
        zyg.jit(f)(x, 0)


def test_which_class_it_has_is_told_where_it_is_asked():
    """Native code, called from Python, does not say `int or numpy.float64`."""

    def f(x, n):
        try:
            return added(x, n)
        except TypeError as error:
            return x[0] * len(str(error))

    x = np.array([1.0, 2.0])
    with pytest.warns(zyg.FallbackWarning):
        assert zyg.gradient(f, x, 0)[0][0] == f(x, 0)
    assert list(zyg.gradient(f, x, 1)[0]) == [2.0, 1.0]


def both_allowed(x, n):
    return isinstance(power(x, n), (int, float))


def a_float_anyway(x, n):
    return isinstance(power(x, n) * 2.0, float), isinstance(power(x, n) / 2, float)


def an_int_all_along(x, n):
    r = 1
    for _ in range(n):
        r *= 3
    return isinstance(r, int), type(r) is int, r << 2


def before_they_meet(x, n):
    r = 1
    known = isinstance(r, int)
    for _ in range(n):
        r *= x
    return known


def real_part(x, n):
    return power(x, n).real, power(x, n).conjugate()


@pytest.mark.parametrize("f", [both_allowed, a_float_anyway, an_int_all_along, before_they_meet, real_part])
@pytest.mark.parametrize("n", [0, 3])
def test_what_has_one_answer_is_compiled(f, n):
    assert zyg.jit(f)(2.5, n) == f(2.5, n)


def test_the_number_itself_is_a_float():
    result = zyg.jit(power)(2.5, 0)
    assert result == 1 and type(result) is float


def test_gradients_fall_back_to_python():
    def f(x, n):
        r = 1
        for _ in range(n):
            r *= x
        return x * 2 if isinstance(r, int) else r

    with pytest.warns(zyg.FallbackWarning, match="a test of the type"):
        assert zyg.gradient(f, 3.0, 0) == (2.0, None)
    assert zyg.gradient(f, 3.0, 2) == (6.0, None)
