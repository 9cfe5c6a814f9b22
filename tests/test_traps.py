"""What other systems for automatic differentiation get wrong; one test per trap.

Expected derivatives are closed forms where there is one, else dual numbers running the same function.
"""

import math
import threading

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn
from zyg.fallback import python_pullback

from .oracles import differences, dual

pytestmark = each_in_turn


def check(f, *args, rel=1e-12):
    """Value as CPython's, gradient as by dual numbers; returns the gradient."""
    copies = lambda: [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    value, gradients = zyg.withgradient(f, *copies())
    assert value == pytest.approx(f(*copies()), rel=1e-14, nan_ok=True)
    _, expected = dual.value_and_gradient(f, *copies())
    for got, want in zip(gradients, expected):
        np.testing.assert_allclose(np.zeros_like(want) if got is None else got, want, rtol=rel, atol=1e-13)
    return gradients


# ------------------------------------------------------------------------------------- loop-carried variables


def test_swapped_variables():
    def f(x, y, n):
        for _ in range(n):
            x, y = y, x * 0.5
        return x - 3 * y

    for n in range(5):
        check(f, 1.5, -0.7, n)


def test_rotated_variables():
    def f(a, b, c, n):
        for _ in range(n):
            a, b, c = b, c, a * b + c
        return a + 2 * b - c

    for n in range(6):
        check(f, 0.3, 1.1, -0.4, n)


def test_fibonacci_of_floats():
    def f(x):
        a, b = x, 1.0
        for _ in range(10):
            a, b = b, a + b
        return b

    assert zyg.gradient(f, 2.0) == (55.0,)


def test_zero_trip_loops():
    def f(x, n):
        y = x * x
        for i in range(n):
            y = y * x + i
        while n > 0:
            n -= 1
            y = math.sin(y)
        return y

    assert zyg.gradient(f, 3.0, 0) == (6.0, None)
    check(f, 0.7, 3)

    def never(x, a):
        total = x
        for e in a:
            total *= e
        return total

    dx, da = zyg.gradient(never, 2.0, np.zeros(0))
    assert dx == 1.0
    assert da.shape == (0,)


def test_a_variable_set_before_a_loop_and_overwritten_in_it():
    def f(x, n):
        y = math.exp(x)
        for i in range(n):
            y = x * i
        return y

    assert zyg.gradient(f, 0.5, 0)[0] == pytest.approx(math.exp(0.5))
    assert zyg.gradient(f, 0.5, 3)[0] == 2.0


def test_a_variable_whose_last_value_is_used_after_the_loop():
    def f(x):
        last = 0.0
        for i in range(4):
            last = x**i
            x = x + last
        return last * x

    check(f, 0.3)


def test_continue_and_break():
    def f(x, n):
        total = 0.0
        for i in range(n):
            if i % 3 == 1:
                continue
            x = math.sin(x) + 0.2
            if x * i > 4.0:
                break
            total += x * i
        else:
            total *= x
        return total

    for n in (0, 1, 2, 5, 20):
        check(f, 0.9, n)


def test_break_at_the_first_iteration_and_else():
    def f(x, n):
        while n > 0:
            n -= 1
            if x > 1.0:
                break
            x *= 1.5
        else:
            return x * x
        return -x

    for n in (0, 1, 3, 6):
        check(f, 0.4, n)
        check(f, 2.0, n)


def test_a_loop_that_is_left_from_the_middle_only():
    """What is computed before the test is used behind it: the next iteration computes it anew before that is differentiated."""

    def f(x, n):
        total = 0.0
        while True:
            y = x * 1.1
            if n <= 0:
                break
            total += y * y * x
            x = y
            n -= 1
        return total

    for n in (0, 1, 2, 5):
        check(f, 1.3, n)


def test_a_loop_that_goes_on_before_the_test_that_leaves_it():
    def f(x, n):
        total = 0.0
        while True:
            y = math.sin(x) * x
            n -= 1
            if n % 3 == 0:
                x = x + y * y
                continue
            total += y * x
            if n < 0:
                break
        return total

    for n in (0, 1, 3, 7):
        check(f, 1.3, n)


def test_an_inner_loop_that_the_function_is_left_from():
    def f(x, n):
        total = 0.0
        while True:
            y = math.sin(x) * x
            w = np.array([y * y, x])
            while True:
                w = w * math.cos(y) + x
                n -= 1
                if n % 4 == 0:
                    break
                if n % 4 == 1:
                    x = x * w[0] * 0.5
                    continue
                y = y * w[1]
                if n < 0:
                    return total + x * y
            total += y * x * w[0]
            x = x * 0.9 + 0.01 * y

    for n in (1, 6, 12):
        check(f, 0.8, n)


def test_a_generator_whose_first_item_is_taken_by_itself():
    def powers(x, n):
        for i in range(n):
            yield x * i
            x = x * 1.1

    def f(x, n):
        items = powers(x, n)
        last = next(items)
        total = 0.0
        for item in items:
            total += last * item
            last = item
        return total

    for n in (1, 2, 5):
        check(f, 1.3, n)


def test_a_loop_that_is_entered_again_with_a_number_of_another_kind():
    """A float of Python's at first, one of NumPy's around the loop, and one of Python's when it is entered again."""

    def f(x, y, n):
        total = 0.0
        while True:
            n -= 1
            while True:
                if n < 0:
                    break
                for _ in range(2):
                    n -= 1
                    a = np.array([x, 0.5])
                    total += x
                    x = y * a[0]
            total += x * y
            x = 1.1
            if n < -2:
                break
        return total

    for n in (0, 1, 5):
        check(f, 1.3, 0.7, n)


def test_nested_loops():
    def f(x, n, m):
        total = 0.0
        for i in range(n):
            y = x
            for j in range(i):
                for k in range(m):
                    y = y * x + j * k
                total += y
            x = x * 0.9
        return total + x

    for n, m in ((0, 3), (3, 0), (3, 2), (5, 3)):
        check(f, 0.6, n, m)


def test_return_out_of_nested_loops():
    def f(x, n):
        for i in range(n):
            for j in range(n):
                x = x * 1.1 + 0.01 * i
                if x > 2.0:
                    return x * j
        return x - 1

    for n in (0, 1, 2, 5):
        check(f, 1.2, n)


def test_values_saved_on_some_paths_of_a_loop_that_tests_at_its_end():
    # The last, partial, iteration pushes too: the room reserved on the tape has to reckon with it.
    def f(x, n):
        i = 0
        while i < n:
            i += 1
            j = 0
            while j < i:
                j += 1
                x = j * 1.0 if x > 50.0 else sum([x * k for k in range(3)], 0.0) * x
        return x

    for n in (0, 1, 2, 5):
        check(f, -0.4, n, rel=1e-10)


def test_an_int_that_becomes_a_float():
    def f(x, n):
        r = 1
        total = 0
        for _ in range(n):
            r *= x
            total = total + r
        return total + 0 * x

    for n in (0, 1, 4):
        check(f, 1.3, n)


def test_none_until_it_is_set():
    def f(a):
        best = None
        for e in a:
            if best is None or e > best:
                best = e * 1.0
        return 0.0 if best is None else best * best

    (da,) = zyg.gradient(f, np.array([1.0, 5.0, 3.0]))
    assert da.tolist() == [0.0, 10.0, 0.0]
    assert zyg.gradient(f, np.zeros(0))[0].shape == (0,)


# ------------------------------------------------------------------------------------------------ mutation


def test_an_array_overwritten_after_its_old_value_was_used():
    def f(a):
        y = a[0] * a[1]
        a[0] = 7.0
        return y * a[0]

    assert zyg.gradient(f, np.array([2.0, 3.0]))[0].tolist() == [21.0, 14.0]

    def g(a, n):
        for _ in range(n):
            for i in range(1, len(a)):
                a[i] = a[i] * a[i - 1] + 0.1
            a[0] = a[-1] * 0.5
        return a[0] + a[1] * a[2]

    for n in (0, 1, 4):
        check(g, np.array([0.5, 1.5, -0.7]), n)


def test_mutated_arguments_are_mutated_for_the_caller():
    def f(a, x):
        a[0] *= x
        a[1:] += 1.0
        return a[0] * a[1]

    a = np.array([2.0, 3.0, 4.0])
    value, (da, dx) = zyg.withgradient(f, a, 5.0)
    assert a.tolist() == [10.0, 4.0, 5.0]
    assert value == 40.0
    assert da.tolist() == [20.0, 10.0, 0.0]
    assert dx == 8.0


def test_a_temporary_buffer_reused_across_iterations():
    def f(x, n):
        buffer = np.zeros(3)
        total = 0.0
        for i in range(n):
            buffer[0] = x * i
            buffer[1] = buffer[0] * x
            buffer[2] += buffer[1]
            total += buffer[0] * buffer[2]
        return total

    for n in (0, 1, 5):
        check(f, 0.8, n)


def test_a_buffer_that_is_made_in_every_iteration():
    def f(x, n):
        total = 0.0
        for i in range(n):
            buffer = np.empty(2)
            buffer[0] = x
            buffer[1] = buffer[0] * i
            total += buffer[1] * buffer[0]
            x = total * 0.1
        return total

    for n in (0, 1, 6):
        check(f, 0.8, n)


def test_two_buffers_that_change_roles():
    def f(a, n):
        old = a.copy()
        new = np.zeros_like(a)
        for _ in range(n):
            for i in range(len(a)):
                new[i] = old[i] * old[i - 1] + 0.2
            old, new = new, old
        return old[0] * old[-1] + new[1]

    for n in (0, 1, 2, 5):
        check(f, np.array([0.9, -0.4, 1.2]), n)


def test_aliased_views():
    def f(a):
        left = a[:-1]
        right = a[1:]
        for i in range(len(left)):
            right[i] = right[i] * left[i]
        left[0] = 3.0 * right[0]
        return a[0] * a[-1] + left[1]

    (da,) = check(f, np.array([0.5, 2.0, 3.0]))
    assert da is not None

    def rows(b):
        row = b[1]
        column = b[:, 0]
        row[0] = column[0] * 2.0
        column[1] *= row[1]
        return b[1, 0] * b[0, 0] + row[0]

    check(rows, np.array([[1.0, 2.0], [3.0, 4.0]]))
    check(rows, np.array([[1.0, 2.0], [3.0, 4.0]]).T)


def test_reversed_and_strided_views():
    def f(a):
        back = a[::-1]
        every = a[::2]
        every[0] = back[0] * 2.0
        back[1] += every[1]
        return a[0] + a[1] * a[2] + a[3]

    check(f, np.array([1.0, 2.0, 3.0, 4.0]))
    check(f, np.arange(8.0)[::2] + 1.0)
    check(f, np.arange(8.0)[::-2])


def test_overlapping_copies_of_slices():
    def f(a):
        a[1:] = a[:-1]
        a[:2] = a[2:4]
        return a[0] * 2 + a[1] * 3 + a[2] * 5 + a[3] * 7

    check(f, np.array([1.0, 2.0, 3.0, 4.0]))


def test_arguments_that_overlap():
    def read(a, b):
        return a[0] * b[0] + a[1]

    a = np.array([2.0, 3.0])
    da, db = zyg.gradient(read, a, a)  # read only: the partial derivatives
    assert da.tolist() == [2.0, 1.0]
    assert db.tolist() == [2.0, 0.0]

    def write(a, b):
        a[0] = b[1] * b[0]
        return a[0] + b[0]

    expected = np.array([2.0, 3.0])
    assert zyg.jit(write)(a, a) == write(expected, expected)
    assert a.tolist() == expected.tolist()
    with pytest.raises(ValueError, match=r"overlap|memory"):
        zyg.gradient(write, a, a)
    b = np.array([1.0, 2.0, 3.0, 4.0])
    with pytest.raises(ValueError, match=r"overlap|memory"):
        zyg.gradient(write, b[:3], b[1:])
    da, db = zyg.gradient(write, b[:2], b[2:])  # neighbours do not overlap
    assert da.tolist() == [0.0, 0.0]
    assert db.tolist() == [5.0, 3.0]


def test_an_element_that_overwrites_its_own_index_source():
    def f(a, k):
        for i in range(len(k)):
            a[k[i]] = a[k[i]] * a[0] + 1.0
        return a[0] + 2 * a[1] + 3 * a[2]

    check(f, np.array([0.5, 1.5, 2.5]), np.array([0, 2, 2, -1, 0]))


def test_out_of_range_and_negative_indices():
    def f(a, i):
        return a[i] * a[i]

    a = np.array([1.0, 2.0, 3.0])
    assert zyg.gradient(f, a, -1)[0].tolist() == [0.0, 0.0, 6.0]
    for i in (3, -4):
        with pytest.raises(IndexError):
            zyg.gradient(f, a, i)


# -------------------------------------------------------------------------------- singular points and kinks


def test_an_untaken_branch_does_not_poison():
    def f(x):
        return math.sqrt(x) if x > 0.0 else 0.0 * x

    assert zyg.gradient(f, 0.0) == (0.0,)
    assert zyg.gradient(f, 4.0) == (0.25,)

    def g(x):
        y = 1.0
        if x > 0:
            y = math.log(x) / x
        return y + 2 * x

    assert zyg.gradient(g, 0.0) == (2.0,)
    assert zyg.gradient(g, -1.0) == (2.0,)

    def select(a, x):
        # Both sides are computed, as np.where would; the singular one gets an exact zero.
        root = math.sqrt(x)
        ratio = a[0] / a[1]
        return x if x < 1.0 else root + ratio

    da, dx = zyg.gradient(select, np.array([1.0, 0.0]), 0.0)
    assert da.tolist() == [0.0, 0.0]
    assert dx == 1.0


def test_zero_times_the_slope_of_a_root_is_zero():
    def f(x):
        return 0.0 * math.sqrt(x) + x

    assert zyg.gradient(f, 0.0) == (1.0,)


def test_powers_at_zero():
    power = lambda x, n: x**n
    assert zyg.gradient(power, 0.0, 0)[0] == 0.0
    assert zyg.gradient(power, 0.0, 1)[0] == 1.0
    assert zyg.gradient(power, 0.0, 2)[0] == 0.0
    assert zyg.gradient(power, 0.0, 2.0) == (0.0, 0.0)
    assert zyg.gradient(power, 0.0, 1.0) == (1.0, 0.0)
    assert zyg.gradient(power, 0.0, 0.0)[0] == 0.0
    assert zyg.gradient(lambda y: 0.0**y, 2.0) == (0.0,)
    assert zyg.gradient(lambda x: x**0, 3.0) == (0.0,)
    assert zyg.gradient(lambda x: x**0.0, 3.0) == (0.0,)
    assert zyg.gradient(lambda x: x**2, -3.0) == (-6.0,)
    assert zyg.gradient(power, -3.0, 3)[0] == 27.0
    assert zyg.derivative(zyg.derivative(lambda x: x**2))(0.0) == 2.0
    assert zyg.derivative(zyg.derivative(lambda x: x**3))(0.0) == 0.0


def test_powers_of_negative_numbers_raise_as_documented():
    with pytest.raises((ValueError, zyg.ZygError)):
        zyg.jit(lambda x, y: x**y)(-8.0, 1 / 3)
    with pytest.raises(ZeroDivisionError):
        zyg.jit(lambda x, y: x**y)(0.0, -1.0)


def test_subgradients_at_kinks():
    assert zyg.gradient(lambda x: abs(x), 0.0) == (0.0,)
    assert zyg.gradient(lambda x: abs(x), -2.0) == (-1.0,)
    # max and min give one of their arguments, as in Python the first of equal ones, and that one's derivative.
    assert zyg.gradient(lambda x, y: max(x, y), 1.0, 1.0) == (1.0, 0.0)
    assert zyg.gradient(lambda x, y: min(x, y), 1.0, 1.0) == (1.0, 0.0)
    assert zyg.gradient(lambda x: max(x, 0.0), 0.0) == (1.0,)
    assert zyg.gradient(lambda x: max(0.0, x), 0.0) == (0.0,)
    assert zyg.gradient(lambda x: math.sqrt(x), 0.0) == (math.inf,)
    assert zyg.gradient(lambda x: math.hypot(x, 0.0), 0.0)[0] in (0.0, 1.0)


def test_rounding_has_zero_slope_and_integers_have_none():
    assert zyg.gradient(lambda x: x * int(x), 2.5) == (2.0,)
    assert zyg.gradient(lambda x: float(x // 1.0) * x, 2.5) == (2.0,)
    assert zyg.gradient(lambda x: x % 2.0, 5.5) == (1.0,)
    assert zyg.gradient(lambda x: float(int(x)), 2.5) == (None,)
    assert zyg.gradient(lambda x, y: y, 1.0, 2.0) == (None, 1.0)
    assert zyg.gradient(lambda x: 0.0 * x, 1.0) == (0.0,)
    assert zyg.gradient(lambda x: 3.0, 1.0) == (None,)


# ----------------------------------------------------------------------------------------------- pullbacks


def test_a_pullback_called_twice():
    def f(a, n):
        for _ in range(n):
            for i in range(len(a)):
                a[i] = math.sin(a[i]) * a[i - 1]
        return a[0] + a[1]

    a = np.array([0.5, 1.5])
    value, back = zyg.pullback(f, a, 3)
    first = back(1.0)[0].copy()
    a[:] = 100.0  # the pullback is of the arguments as they were
    second = back(2.0)[0]
    np.testing.assert_allclose(second, 2 * first, rtol=1e-15)
    np.testing.assert_allclose(back(1.0)[0], first, rtol=0)
    expected = dual.gradient(f, np.array([0.5, 1.5]), 3)[0]
    np.testing.assert_allclose(first, expected, rtol=1e-12)
    assert value == f(np.array([0.5, 1.5]), 3)


def test_a_pullback_called_from_threads():
    def f(x, n):
        for i in range(n):
            x = math.sin(x) + 0.001 * i
        return x

    _, back = zyg.pullback(f, 0.3, 2000)
    expected = back(1.0)[0]
    results: list[float] = []
    threads = [threading.Thread(target=lambda: results.extend(back(1.0)[0] for _ in range(20))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 80


# --------------------------------------------------------------------- derivatives through derivatives


def test_newton_with_a_compiled_second_derivative():
    def f(x):
        return x**4 - 3 * x**3 + 2

    @zyg.jit
    def newton(x, n):
        for _ in range(n):
            slope = zyg.derivative(f)(x)
            curvature = zyg.derivative(zyg.derivative(f))(x)
            x -= slope / curvature
        return x

    assert newton(3.0, 20) == pytest.approx(2.25, rel=1e-12)


def test_no_confusion_of_perturbations():
    # d/dx (x * d/dy (x + y)) is 1, not 2.
    f = lambda x: x * zyg.derivative(lambda y: x + y)(1.0)
    assert zyg.derivative(f)(1.0) == 1.0
    g = lambda x: x * zyg.derivative(lambda y: x * y * y)(3.0)
    assert zyg.derivative(g)(2.0) == 2 * 2.0 * 6.0


def test_second_and_third_derivatives_through_loops_and_mutation():
    def f(x):
        a = np.zeros(3)
        a[0] = x
        for i in range(1, 3):
            a[i] = a[i - 1] * a[i - 1] + x
            a[i - 1] *= a[i]
        return a[0] + a[1] * a[2]

    expected = f
    compiled = f
    for order in (1, 2, 3):
        compiled = zyg.derivative(compiled)
        assert compiled(0.7) == pytest.approx(dual.value_of(dual.derivative(expected, order)(0.7)), rel=1e-11), order


def test_recursion():
    def f(x, n):
        return x if n == 0 else math.sin(x * f(x, n - 1)) + f(0.5 * x, n - 1)

    check(f, 0.7, 4)
    second = zyg.derivative(zyg.derivative(lambda x: f(x, 3)))(0.7)
    assert second == pytest.approx(dual.value_of(dual.derivative(lambda x: f(x, 3), 2)(0.7)), rel=1e-11)


def is_even(x, n):
    return x if n == 0 else 2.0 * is_odd(x * x, n - 1)


def is_odd(x, n):
    return x if n == 0 else 0.5 * is_even(math.sin(x), n - 1)


def test_mutual_recursion():
    for n in range(5):
        check(is_even, 0.8, n)


def test_closures_that_write_what_they_capture():
    def f(x):
        total = x

        def add(y):
            nonlocal total
            total = total * y + x
            return total

        for i in range(3):
            add(i * x)
        return add(total) + total

    check(f, 0.7)


# ------------------------------------------------------------- GradBench's particle and saddle, reverse over reverse


def test_saddle_by_gradients_within_gradients():
    """min over x of max over y of |start|^2-like quadratic: both searches are loops that call gradients."""

    def objective(x, y):
        return x * x - y * y + 0.5 * x * y + 0.3 * x - 0.2 * y

    def best_y(x):
        y = 0.0
        for _ in range(60):
            y += 0.3 * zyg.gradient(objective, x, y)[1]
        return y

    def outer(x):
        return objective(x, best_y(x))

    @zyg.jit
    def solve(x):
        for _ in range(60):
            x -= 0.3 * zyg.gradient(outer, x)[0]
        return x

    x = solve(1.0)
    # The stationary point of the quadratic form.
    matrix, right = np.array([[2.0, 0.5], [0.5, -2.0]]), np.array([-0.3, 0.2])
    expected = np.linalg.solve(matrix, right)
    assert x == pytest.approx(expected[0], rel=1e-9)
    assert best_y(x) == pytest.approx(expected[1], rel=1e-9)


def test_particle_with_a_gradient_inside_the_loop():
    """A particle falls in a field given by a potential; the gradient is through the gradients of every step."""

    def potential(x, y, w):
        return 1.0 / math.hypot(x - 10.0, y - w) + 1.0 / math.hypot(x - 10.0, y)

    def final(w):
        x, y, vx, vy = 0.0, 8.0, 0.75, 0.0
        steps = 0
        while y > 5.0 and steps < 200:
            _, dy, _ = zyg.gradient(potential, x, y, w)
            dx, _, _ = zyg.gradient(potential, x, y, w)
            x += 0.1 * vx
            y += 0.1 * vy
            vx -= 0.1 * dx
            vy -= 0.1 * (dy + 0.5)
            steps += 1
        return x * x + 0.1 * y

    def final_by_hand(w):
        x, y, vx, vy = 0.0, 8.0, 0.75, 0.0
        steps = 0
        while y > 5.0 and steps < 200:
            r1, r2 = math.hypot(x - 10.0, y - w), math.hypot(x - 10.0, y)
            dx = -(x - 10.0) / r1**3 - (x - 10.0) / r2**3
            dy = -(y - w) / r1**3 - y / r2**3
            x += 0.1 * vx
            y += 0.1 * vy
            vx -= 0.1 * dx
            vy -= 0.1 * (dy + 0.5)
            steps += 1
        return x * x + 0.1 * y

    value, (dw,) = zyg.withgradient(final, 6.0)
    assert value == pytest.approx(final_by_hand(6.0), rel=1e-12)
    assert dw == pytest.approx(dual.gradient(final_by_hand, 6.0)[0], rel=1e-10)


def test_arrays_in_use_are_not_resized():
    """A callback may not move memory that compiled code reads, even if it tells NumPy not to look."""
    refused = []

    @staticmethod  # a callable that is not compiled
    def shrink(a):
        for array in (a, a.base):
            if array is not None:
                with pytest.raises(ValueError, match="resize") as caught:
                    array.resize(1 << 20, refcheck=False)
                refused.append(str(caught.value))

    def of_argument(a):
        shrink(a)
        return a[0] + a[-1]

    def of_own(n):
        a = np.ones(n)
        shrink(a)
        a[1] = 5.0
        return a

    array = np.arange(6.0)
    assert zyg.jit(of_argument)(array) == 5.0
    assert zyg.jit(of_argument)(array[1:]) == 6.0
    result = zyg.jit(of_own)(4)
    assert len(refused) == 4
    assert result.tolist() == [1.0, 5.0, 1.0, 1.0]
    for a in (array, result):  # afterwards they can be
        a.resize(8, refcheck=False)
        assert a.shape == (8,)


EXTREMES = [
    ("len of a range", lambda a, b, c: len(range(a, b, c)), (5, -(2**63), -(2**62))),
    ("steps of the smallest integer", lambda a, b, c: len(range(a, b, c)), (2**62, -(2**63), -(2**63))),
    ("a range whose gap passes 2**63", lambda a, b: len(range(a, b, 1 << 40)), (-(2**63), 2**63 - 1)),
    ("a range up", lambda a, b, c: len(range(a, b, c)), (-5, 2**63 - 1, 2**62)),
    ("an empty range", lambda a, b, c: len(range(a, b, c)), (5, 7, -(2**63))),
    ("a short range", lambda a, b, c: len(range(a, b, c)), (10, 0, -3)),
    ("a slice down", lambda a, k: a[::k].copy(), (np.arange(11.0), -(2**63))),
    ("a slice up", lambda a, k: a[3::k].copy(), (np.arange(11.0), 2**63 - 1)),
    ("a slice by a constant", lambda a: a[:: -(2**63)].copy(), (np.arange(11.0),)),
    ("size past 64 bits", lambda n: np.zeros((n, n, 4)).size, (2**31,)),
    ("length past 64 bits of bytes", lambda n: len(np.ones(n)), (2**60,)),
    ("zero to a negative power", lambda a, b: a**b, (0, -2)),
    ("the inverse of a subnormal", lambda x: x**-1, (5e-324,)),
    ("ldexp by a float", lambda x: math.ldexp(x, 2.0), (1.5,)),
]


@pytest.mark.parametrize("function, args", [e[1:] for e in EXTREMES], ids=[e[0] for e in EXTREMES])
def test_extremes(function, args):
    try:
        expected = function(*args)
    except Exception as error:
        with pytest.raises(type(error)) as caught:
            zyg.jit(function)(*args)
        assert str(caught.value) == str(error) or isinstance(error, OverflowError)
    else:
        np.testing.assert_array_equal(zyg.jit(function)(*args), expected)


def test_texts_that_are_formatted():
    def percent(x, n):
        if x > 0:
            raise ValueError("%.3f of %d" % (x, n))  # noqa: UP031
        raise KeyError("%s" % x)  # noqa: UP031

    def method(x, n):
        raise ValueError("{1} and {0:.2f}".format(x, n))  # noqa: UP030, UP032

    for function, args in ((percent, (1.25, 3)), (percent, (-1.25, 3)), (method, (0.5, 7))):
        with pytest.raises((ValueError, KeyError)) as expected:
            function(*args)
        with pytest.raises(expected.type) as caught:
            zyg.jit(function)(*args)
        assert str(caught.value) == str(expected.value)


@pytest.mark.parametrize(
    "cut",
    [lambda n: n // 1, lambda n: n >> 0, lambda n: n << 0, lambda n: n | 0, lambda n: n ^ 0, lambda n: n & -1,
     lambda n: n & n, lambda n: n | n, lambda n: round(n)],
)  # fmt: skip
def test_integer_operations_cut_the_derivative_where_they_change_nothing_too(cut):
    f = lambda x, n: x * cut(n) * 2.0
    assert zyg.gradient(f, 2.0, 3) == (6.0, None)
    assert zyg.jvp(f, (2.0, 3), (1.0, 1.0)) == (12.0, 6.0)
    assert zyg.gradient(lambda x, n: x * n + x * cut(n), 2.0, 3) == (6.0, 2.0)
    assert zyg.gradient(lambda x, n: x * len(range(cut(n))), 2.0, 3) == (3.0, None)


@pytest.mark.parametrize(
    "rest", [lambda n: n % 1, lambda n: n % -1, lambda n: ((3 - n) % 4 - n) % 1 * -0.5, lambda n: np.int64(1) * n % -1]
)
def test_remainders_that_are_always_zero_carry_a_derivative(rest):
    f = lambda x, n: x * (1.0 + rest(n))
    assert f(2.0, 3) == 2.0
    assert zyg.gradient(f, 2.0, 3) == (1.0, 2.0)
    assert zyg.jvp(f, (2.0, 3), (1.0, 1.0)) == (2.0, 3.0)


def test_a_quotient_by_minus_one_carries_none():
    assert zyg.gradient(lambda x, n: x * (n // -1), 2.0, 3) == (-3.0, None)


def test_a_result_that_is_overwritten():
    """A rule that uses its result has to keep what it was."""

    def f(a):
        d = np.linalg.det(a)
        total = np.sum(d * d)
        d[:] = 0.0
        a[:] = 0.0
        return total

    a = np.array([[[2.0, 1.0], [0.5, 3.0]], [[1.0, 2.0], [-1.0, 0.5]]])
    expected = np.array([[[33.0, -5.5], [-11.0, 22.0]], [[2.5, 5.0], [-10.0, 5.0]]])
    for back in (zyg.pullback(f, a.copy())[1], python_pullback(f, (a.copy(),), {})[1]):
        np.testing.assert_allclose(back(1.0)[0], expected, rtol=1e-12)


@pytest.mark.parametrize("cleanup", ["z = x", "pass", "z = x if x > 1 else 2.0"])
def test_what_is_raised_through_a_finally_gets_to_the_handler_around_it(cleanup):
    """The cleanup alone does nothing that could be seen, and was taken for one that nothing is around."""
    scope: dict = {}
    exec(
        "def f(x):\n"
        "    z = 3.0\n"
        "    try:\n"
        "        try:\n"
        "            raise KeyError(x)\n"
        "        finally:\n"
        f"            {cleanup}\n"
        "    except LookupError as e:\n"
        "        return e.args[0] * z\n",
        scope,
    )
    f = scope["f"]
    with pytest.raises(zyg.errors.Unsupported, match="try"):
        zyg.jit(f)(1.5)
    with pytest.warns(zyg.FallbackWarning):
        assert zyg.gradient(f, 1.5)[0] == pytest.approx(differences.derivative(f, 1.5, 1e-3))
