"""`apply` and `broadcast`: meaning, fusion, expansion into loops, and the reverse, on IR text."""

from __future__ import annotations

import numpy as np
import pytest

from zyg.autodiff.adjoint import adjoint
from zyg.autodiff.tangent import tangent
from zyg.ir.interpret import run
from zyg.ir.parsing import parse_module
from zyg.ir.passes import expand, fuse, optimise, side_by_side
from zyg.ir.text import format_module
from zyg.ir.verify import VerifyError, verify

from ..turns import each_in_turn

ELEMENTS = """
func @square(%x: f64, %m: f64) -> f64 {
entry:
  %d = sub %x, %m : f64
  %e = mul %d, %d : f64
  return %e
}
func @exponential(%x: f64) -> f64 {
entry:
  %e = exp %x : f64
  return %e
}
func @identity(%x: f64) -> f64 {
entry:
  return %x
}
func @product(%x: f64, %y: f64) -> f64 {
entry:
  %e = mul %x, %y : f64
  return %e
}
"""

CHAIN = (
    ELEMENTS
    + """
func @f(%x: array<f64, 1, C>, %m: f64) -> f64 {
entry:
  %n = dim %x {axis=0} : i64
  %t = alloc %n {fill="empty"} : array<f64, 1, C>
  apply @square %t, %x, %m {modes=("set",)}
  %u = alloc %n {fill="empty"} : array<f64, 1, C>
  apply @exponential %u, %t {modes=("set",)}
  %s = apply @identity %u {modes=()} : f64
  return %s
}
"""
)

OUTER = (
    ELEMENTS
    + """
func @f(%x: array<f64, 1, C>, %y: array<f64, 2, A>) -> f64 {
entry:
  %n = dim %y {axis=0} : i64
  %k = dim %y {axis=1} : i64
  %w = broadcast %x, %n, %k : array<f64, 2, A>
  %t = alloc %n, %k {fill="empty"} : array<f64, 2, C>
  apply @product %t, %w, %y {modes=("set",)}
  apply @square %t, %t, 0.5 {modes=("set",)}
  %s = apply @identity %t {modes=()} : f64
  return %s
}
"""
)

NEIGHBOURS = (
    ELEMENTS
    + """
func @f(%x: array<f64, 1, C>) -> f64 {
entry:
  %n = dim %x {axis=0} : i64
  %m = sub %n, 2 : i64
  %d = alloc %n {fill="zeros"} : array<f64, 1, C>
  %front = view %d, 0, %m, 1 {spec="s"} : array<f64, 1, C>
  %middle = view %d, 1, %m, 1 {spec="s"} : array<f64, 1, C>
  %back = view %d, 2, %m, 1 {spec="s"} : array<f64, 1, C>
  %t = view %x, 0, %m, 1 {spec="s"} : array<f64, 1, C>
  apply @square %middle, %t, 0.5 {modes=("add",)}
  apply @square %back, %t, 0.1 {modes=("add",)}
  apply @identity %front, %t {modes=("add",)}
  %s = apply @product %d, %x {modes=()} : f64
  return %s
}
"""
)

X = np.linspace(-1.0, 1.0, 7)
LONG = np.linspace(-1.0, 1.0, 150)
Y = np.arange(42.0).reshape(7, 6)[:, ::-1].T / 20.0


def chain(x, m):
    return np.exp((x - m) ** 2).sum()


def outer(x, y):
    return ((x * y - 0.5) ** 2).sum()


def neighbours(x):
    t = x[:-2]
    return (x * (np.pad((t - 0.5) ** 2, 1) + np.pad((t - 0.1) ** 2, (2, 0)) + np.pad(t, (0, 2)))).sum()


def module_of(text):
    module = parse_module(text)
    verify(module)
    return module


@pytest.mark.parametrize(
    "text, args, oracle",
    [(CHAIN, (X, 0.3), chain), (OUTER, (X, Y), outer), (NEIGHBOURS, (LONG,), neighbours)],
)
@pytest.mark.parametrize("passes", [(), (fuse.run,), (expand.run,), (fuse.run, side_by_side.run, expand.run)])
def test_what_it_means(text, args, oracle, passes):
    module = module_of(text)
    for each in passes:
        each(module)
        verify(module)
    assert run(module, *args, entry="f")[0] == pytest.approx(oracle(*args), rel=1e-14)


def test_slices_that_lie_close_together_are_added_to_by_one():
    module = module_of(NEIGHBOURS)
    side_by_side.run(module)
    (apply,) = [i for _, i in module.functions["f"].instructions() if i.op == "apply" and not i.results]
    assert apply.attrs["neighbours"] == (((0, 2), (1, 1), (2, 0)),) and apply.attrs["modes"] == ("set", "add", "add")
    assert format_module(parse_module(format_module(module))) == format_module(module)


def test_text_round_trip():
    module = module_of(OUTER)
    assert format_module(parse_module(format_module(module))) == format_module(module)


def test_a_chain_becomes_one_apply_without_temporaries():
    module = module_of(CHAIN)
    fuse.run(module)
    assert [i.op for _, i in module.functions["f"].instructions()] == ["dim", "apply", "return"]


def test_nothing_is_fused_past_a_write():
    text = CHAIN.replace("  %u = alloc", "  fill %x, 0.0\n  %u = alloc")
    module = module_of(text)
    expected = run(module, X.copy(), 0.3, entry="f")
    fuse.run(module)
    assert run(module, X.copy(), 0.3, entry="f") == expected
    assert "alloc" in [i.op for _, i in module.functions["f"].instructions()]


@each_in_turn
@pytest.mark.parametrize("text, args, oracle", [(CHAIN, (X, 0.3), chain), (OUTER, (X, Y), outer)])
@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("split", [False, True])
def test_reverse(text, args, oracle, fused, split):
    module = module_of(text)
    if fused:
        optimise(module, "clean", verify=True)
    made = adjoint(module, "f", [True, True], split=split)
    verify(module)
    for level in ("typed", "full"):
        if level == "full":
            optimise(module, "full", verify=True)
        given = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        if split:
            value, *saved = run(module, *given, entry=made.forward)
            gradients = run(module, *saved, 1.0, entry=made.reverse)
        else:
            value, *gradients = run(module, *given, 1.0, entry=made.function)
        assert value == pytest.approx(oracle(*args))
        for k, g in enumerate(gradients):
            assert np.asarray(g) == pytest.approx(differences(oracle, args, k), rel=1e-6, abs=1e-7)


def test_the_reverse_of_a_reverse():
    module = module_of(CHAIN)
    optimise(module, "clean", verify=True)
    first = adjoint(module, "f", [True, True])
    second = adjoint(module, first.function, [True, True, False], outputs=[2])
    optimise(module, "full", verify=True)
    *_, by_x, by_m = run(module, X, 0.3, 1.0, 1.0, entry=second.function)
    slope = lambda x, m: (-2 * (x - m) * np.exp((x - m) ** 2)).sum()
    assert by_m == pytest.approx(differences(slope, (X, 0.3), 1), rel=1e-6)
    assert by_x == pytest.approx(differences(slope, (X, 0.3), 0), rel=1e-6)


@pytest.mark.parametrize("order_is_free", [False, True])
def test_value_and_derivative_take_one_loop_if_the_order_of_their_sums_is_free(order_is_free):
    module = module_of(CHAIN.replace("= exp %x :", "= exp %x {vectormath=true} :") if order_is_free else CHAIN)
    optimise(module, "clean")
    made = adjoint(module, "f", [True, True])
    optimise(module, "full", verify=True)
    calls = [i for _, i in module.functions[made.function].instructions() if i.op == "call"]
    assert len(calls) == (1 if order_is_free else 2)


SEVERAL = (
    ELEMENTS
    + """
func @f(%x: array<f64, 1, C>, %m: f64) -> f64 {
entry:
  %n = dim %x {axis=0} : i64
  %t = alloc %n {fill="empty"} : array<f64, 1, C>
  apply @square %t, %x, %m {modes=("set",)}
  %u = alloc %n {fill="empty"} : array<f64, 1, C>
  apply @exponential %u, %t {modes=("set",)}
  %v = alloc %n {fill="empty"} : array<f64, 1, C>
  apply @product %v, %u, %t {modes=("set",)}
  %s = apply @product %v, %t {modes=()} : f64
  return %s
}
"""
)


def test_arrays_that_are_read_several_times_are_fused():
    module = module_of(SEVERAL)
    t = (X - 0.3) ** 2
    expected = (np.exp(t) * t * t).sum()
    assert run(module, X, 0.3, entry="f")[0] == pytest.approx(expected, rel=1e-14)
    fuse.run(module)
    verify(module)
    assert [i.op for _, i in module.functions["f"].instructions()] == ["dim", "apply", "return"]
    assert run(module, X, 0.3, entry="f")[0] == pytest.approx(expected, rel=1e-14)


REDUCED = (
    ELEMENTS
    + """
func @f(%a: array<f64, 3, C>) -> array<f64, 2, C> {
entry:
  %n = dim %a {axis=0} : i64
  %k = dim %a {axis=1} : i64
  %m = dim %a {axis=2} : i64
  %out = alloc %n, %m {fill="empty"} : array<f64, 2, C>
  fill %out, 1.0
  %kept = reshape %out, %n, 1, %m : array<f64, 3, C>
  %seen = broadcast %kept, %n, %k, %m : array<f64, 3, A>
  apply @identity %seen, %a {modes=("add",)}
  return %out
}
"""
)


@pytest.mark.parametrize("kind", ["add", "mul", "max", "min"])
@pytest.mark.parametrize("shape", [(2, 9, 3), (2, 0, 3), (1, 1, 1), (0, 2, 3)])
def test_reductions_along_an_axis(kind, shape):
    a = np.random.default_rng(0).normal(size=shape)
    function = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}[kind]
    expected = function.reduce(a, axis=1, initial=1.0)
    for axis, dims in ((1, "%n, 1, %m"), (0, "1, %k, %m"), (2, "%n, %k, 1")):
        outer = {0: "%k, %m", 1: "%n, %m", 2: "%n, %k"}[axis]
        text = (
            REDUCED.replace("%n, 1, %m", dims).replace("alloc %n, %m", f"alloc {outer}").replace('"add"', f'"{kind}"')
        )
        module = module_of(text)
        expected = function.reduce(a, axis=axis, initial=1.0)
        for step in (lambda m: None, expand.run):
            step(module)
            verify(module)
            assert run(module, a, entry="f")[0] == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("change", [('modes=("set",)', "modes=()"), ("%x, %m {", "%x {"), ("@square %t", "@nobody %t")])
def test_the_verifier_knows_apply(change):
    with pytest.raises(VerifyError):
        verify(parse_module(CHAIN.replace(*change, 1)))


def differences(f, args, k, h=1e-6):
    """Central differences of f by its k-th argument."""
    moved = lambda index, by: [
        a if n != k else (a + by if index is None else with_one(a, index, by)) for n, a in enumerate(args)
    ]
    slope = lambda index: (f(*moved(index, h)) - f(*moved(index, -h))) / (2 * h)
    if not isinstance(args[k], np.ndarray):
        return slope(None)
    result = np.empty(args[k].shape)
    for index in np.ndindex(*args[k].shape):
        result[index] = slope(index)
    return result


def with_one(a, index, by):
    a = a.copy()
    a[index] += by
    return a


IN_PLACE = (
    ELEMENTS
    + """
func @both(%x: f64, %m: f64) -> (f64, f64, f64) {
entry:
  %d = mul %x, %x : f64
  %e = mul %d, %m : f64
  return %d, %m, %e
}
func @f(%x: array<f64, 1, C>, %m: f64) -> (f64, f64) {
entry:
  %n = dim %x {axis=0} : i64
  %t = alloc %n {fill="empty"} : array<f64, 1, C>
  copyto %t, %x
  apply @square %t, %t, %m {modes=("set",)}
  %u = alloc %n {fill="zeros"} : array<f64, 1, C>
  copyto %u, %x
  %s = apply @both %t, %u, %t, %m {modes=("set", "set")} : f64
  %r = apply @product %t, %u {modes=()} : f64
  return %s, %r
}
"""
)


@pytest.mark.parametrize("split", [False, True])
def test_the_tangent_of_apply_is_apply(split):
    module = parse_module(IN_PLACE)
    optimise(module, "clean") if split else None
    made = tangent(module, "f", [True, False])
    verify(module)
    text = format_module(module)
    body = text[text.index(f"func @{made.function}(") :]
    assert "apply" in body and "loop" not in body and "head" not in body
    x, t, m = np.array([0.5, -2.0, 3.0]), np.array([1.0, 0.25, -1.5]), 0.75
    square = (x + 1e-30j * t - m) ** 2
    expected = np.array([np.sum(square**2 * m), np.sum(square**2 * m)])  # what %u was set to does not vary
    for _ in range(2):
        found = run(module, x.copy(), m, t.copy(), entry=made.function)
        np.testing.assert_allclose(found, [*expected.real, *expected.imag / 1e-30], rtol=1e-14)
        optimise(module, "full", entry=made.function, verify=True)


def test_what_is_set_beside_and_nobody_reads_is_not():
    text = IN_PLACE.replace("@both %t, %u, %t, %m", "@both %t, %u, %x, %m").replace(
        "@product %t, %u", "@product %u, %u"
    )
    module = parse_module(text)
    x = np.array([0.5, -2.0, 3.0])
    expected = run(module, x.copy(), 0.75, entry="f")
    side_by_side.run(module)
    verify(module)
    assert [i.attrs["modes"] for _, i in module.functions["f"].instructions() if i.results and i.op == "apply"] == [
        ("set",), (),
    ]  # fmt: skip
    assert run(module, x.copy(), 0.75, entry="f") == expected


def test_a_new_array_that_comes_round_a_loop_is_not_written_behind_where_it_is_read():
    """The array that `k` rounds of the loop leave is the one from before it if there is none."""
    text = (
        ELEMENTS
        + """
func @f(%x: array<f64, 1, C>, %k: i64) -> (array<f64, 1, C>, array<f64, 1, C>) {
entry:
  %n = dim %x {axis=0} : i64
  %a = alloc %n {fill="empty"} : array<f64, 1, C>
  apply @identity %a, %x {modes=("set",)}
  jump loop(%a, 0)
loop(%c: array<f64, 1, C>, %i: i64):
  %more = lt %i, %k : bool
  branch %more, body, done
body:
  %z = alloc %n {fill="zeros"} : array<f64, 1, C>
  %next = add %i, 1 : i64
  jump loop(%z, %next)
done:
  apply @product %a, %a, %x {modes=("set",)}
  %r = alloc %n {fill="empty"} : array<f64, 1, C>
  apply @identity %r, %c {modes=("set",)}
  %s = alloc %n {fill="empty"} : array<f64, 1, C>
  apply @exponential %s, %x {modes=("set",)}
  return %r, %s
}
"""
    )
    x = np.array([1.0, 2.0, 3.0])
    module = parse_module(text)
    side_by_side.run(module)
    verify(module)
    for k, expected in ((0, x * x), (1, np.zeros(3))):
        np.testing.assert_allclose(run(module, x.copy(), k, entry="f")[0], expected)
