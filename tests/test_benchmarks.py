"""The benchmarks measure what they say: C does what the Python programs do, and its derivatives are right."""

import numpy as np
import pytest

from benchmarks import cases, programs
from benchmarks.cases import BENCHMARKS, flat_gradient
from benchmarks.sections.settings import builds

from .oracles import differences, dual

SMALL = {
    "power": lambda: cases.make_power(7),
    "lorenz": lambda: cases.make_lorenz(200),
    "wave": lambda: cases.make_wave(3, 8),
    "nbody": lambda: cases.make_nbody(20),
    "gauss_seidel": lambda: cases.make_gauss_seidel(2, 8),
}


@pytest.mark.parametrize("name", BENCHMARKS)
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
