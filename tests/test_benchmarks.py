"""The benchmarks measure what they say: C does what the Python programs do, and its derivatives are right."""

import numpy as np
import pytest

from benchmarks import (
    applications,
    arguments,
    cases,
    dense,
    designs,
    dynamic,
    everyday,
    library,
    mixed,
    ordinary,
    ordinary_arrays,
    ordinary_more,
    ordinary_third,
    programs,
    small_arrays,
    strangers_arrays,
)
from benchmarks.cases import BENCHMARKS, flat_gradient
from benchmarks.sections.settings import Settings, builds
from tests.turns import each_in_long_turn, each_in_turn

from .oracles import differences, dual

SMALL = {
    "power": lambda: cases.make_power(7),
    "lorenz": lambda: cases.make_lorenz(200),
    "wave": lambda: cases.make_wave(3, 8),
    "nbody": lambda: cases.make_nbody(20),
    "gauss_seidel": lambda: cases.make_gauss_seidel(2, 8),
}


@each_in_turn
@pytest.mark.parametrize("name", list(BENCHMARKS))
def test_c_agrees_with_python(name):
    benchmark = BENCHMARKS[name]
    args, make_case = SMALL[name]()
    expected = benchmark.function(*args)
    numerical = differences.gradient(benchmark.function, *args)
    numerical = flat_gradient(tuple(numerical[i] for i in benchmark.argnums))
    exact = dual.gradient(benchmark.function, *args)
    exact = flat_gradient(tuple(exact[i] for i in benchmark.argnums))
    if not builds(contract=False):
        pytest.skip("no C compiler")
    for build in builds(contract=False):
        for adjoint in filter(None, (benchmark.adjoint, benchmark.tuned)):
            case = make_case()
            assert build.run(benchmark.primal, case) == expected, build.label
            assert build.run(adjoint, case) == expected, build.label
            scale = np.max(np.abs(numerical))
            np.testing.assert_allclose(case.gradient, numerical, atol=1e-9 * scale, rtol=0)
            np.testing.assert_allclose(case.gradient, exact, atol=1e-13 * scale, rtol=1e-11)


@each_in_turn
@pytest.mark.parametrize("name", BENCHMARKS)
def test_zyg_agrees_with_python(name):
    import zyg

    benchmark = BENCHMARKS[name]
    args, _ = SMALL[name]()
    assert zyg.jit(benchmark.function)(*args) == benchmark.function(*args)
    value, gradients = zyg.value_and_grad(benchmark.function, benchmark.argnums)(*args)
    assert value == benchmark.function(*args)
    exact = dual.gradient(benchmark.function, *args)
    exact = flat_gradient(tuple(exact[i] for i in benchmark.argnums))
    np.testing.assert_allclose(flat_gradient(gradients), exact, atol=1e-13 * np.max(np.abs(exact)), rtol=1e-11)


def test_zyg_agrees_on_the_function_of_twenty_lines():
    import zyg

    args = (0.3, 0.4, 0.5, 0.6, 0.7)
    value, gradients = zyg.withgradient(programs.twenty_lines, *args)
    assert value == programs.twenty_lines(*args)
    assert gradients == pytest.approx(dual.gradient(programs.twenty_lines, *args), rel=1e-12)


@each_in_turn
@pytest.mark.parametrize("name", dynamic.PROGRAMS)
def test_gradients_of_dynamic_programs(name):
    import math

    from benchmarks.sections.dynamic import flat, through_python

    function, args = dynamic.PROGRAMS[name]
    found = list(flat(through_python(function, args)))
    numbers = list(flat(args))
    for at, x in enumerate(numbers):
        h = 1e-6
        values = [function(*_replaced(args, at, x + step), math) for step in (h, -h)]
        assert found[at] == pytest.approx((values[0] - values[1]) / (2 * h), rel=1e-5, abs=1e-6)


BY_OTHERS = ordinary_arrays.PROGRAMS | dense.PROGRAMS | strangers_arrays.PROGRAMS


@each_in_long_turn
@pytest.mark.parametrize("name", BY_OTHERS)
def test_values_and_gradients_of_programs_with_arrays(name):
    import zyg

    function, arguments, _, by, needs = BY_OTHERS[name]
    if needs:
        pytest.importorskip(needs)
    by = by or [k for k, a in enumerate(arguments()) if np.asarray(a).dtype == float]
    drawn = np.random.default_rng(3)
    directions = [drawn.normal(size=np.shape(arguments()[k])) for k in by]

    def along(h):
        args = list(arguments())
        for k, direction in zip(by, directions):
            args[k] = args[k] + h * direction
        return float(function(*args))

    value, gradients = zyg.value_and_grad(zyg.jit(function), tuple(by))(*arguments())
    assert value == pytest.approx(along(0.0), rel=1e-12)
    slope = sum(np.sum(np.asarray(g) * d) for g, d in zip(gradients, directions))
    assert slope == pytest.approx(differences.derivative(along, 0.0, 1e-4), rel=1e-7)


EVERYDAY = (
    everyday.PROGRAMS
    | designs.PROGRAMS
    | applications.PROGRAMS
    | mixed.PROGRAMS
    | library.PROGRAMS
    | small_arrays.PROGRAMS
)


@each_in_long_turn
@pytest.mark.parametrize("name", list(EVERYDAY))
def test_gradients_of_everyday_programs(name):
    from benchmarks.sections.dynamic import disagreement

    assert disagreement(*EVERYDAY[name]) is None


@each_in_turn
@pytest.mark.filterwarnings("ignore::zyg.errors.FallbackWarning")
@pytest.mark.parametrize("name", list(arguments.PROGRAMS))
def test_gradients_by_containers_of_objects(name):
    from benchmarks.sections.dynamic import disagreement, gradient_as_called

    assert disagreement(*arguments.PROGRAMS[name]) is None
    assert disagreement(*arguments.PROGRAMS[name], gradient_as_called) is None


ORDINARY = ordinary.PROGRAMS | ordinary_more.PROGRAMS | ordinary_third.PROGRAMS


@each_in_turn
@pytest.mark.filterwarnings("ignore::zyg.errors.FallbackWarning")
@pytest.mark.parametrize("name", list(ORDINARY))
def test_values_and_gradients_of_ordinary_programs(name):
    import zyg
    from benchmarks.sections.dynamic import disagreement, gradient_as_called

    function, args = ORDINARY[name]
    value, gradients = zyg.withgradient(function, *args)
    assert value == function(*args)
    assert gradients == gradient_as_called(function, args)
    assert disagreement(function, args, gradient_as_called) is None


def test_a_quick_run_takes_some_of_the_cases_and_all_of_them_over_some_days():
    for count in (1, 2, 9, 20, 71, 120):
        by_day = [Settings(quick=True, rounds=3, day=day).few(range(count)) for day in range(20010, 20030)]
        assert all(1 <= len(cases) <= count // 20 + 1 for cases in by_day)
        assert set().union(*by_day) == set(range(count))
    assert Settings(quick=False, rounds=3).few("abc") == ["a", "b", "c"]


def test_names_of_dynamic_programs_are_unique():
    tables = [dynamic, everyday, designs, applications, mixed, arguments, ordinary, ordinary_more, ordinary_third]
    names = [name for table in tables for name in table.PROGRAMS]
    assert sorted(set(names)) == sorted(names)


def _replaced(args, at, number):
    """The arguments with another number in place number `at`."""
    left = at

    def replaced(value):
        nonlocal left
        if isinstance(value, dict):
            return {k: replaced(value[k]) for k in sorted(value)}
        if isinstance(value, (list, tuple)):
            return type(value)(map(replaced, value))
        left -= 1
        return number if left == -1 else value

    return replaced(args)


@each_in_turn
@pytest.mark.filterwarnings("error::zyg.errors.FallbackWarning")
def test_orbits_are_native_and_agree():
    import zyg

    expected = zyg.value_and_grad(dynamic.orbit_scalars, (0, 1, 2, 3))(1.0, 0.2, 0.1, 0.9, 20)
    for function in dynamic.WAYS.values():
        value, gradient = zyg.value_and_grad(function, (0, 1, 2, 3))(1.0, 0.2, 0.1, 0.9, 20)
        assert value == pytest.approx(expected[0], rel=1e-13)
        assert gradient == pytest.approx(expected[1], rel=1e-11)
