"""Implicit parameters. Oracle: the derivatives of a quadratic loss by hand."""

import numpy as np
import pytest

import zyg
from zyg import pipeline

from .turns import each_in_turn

W = np.arange(6.0).reshape(2, 3)
b = np.array([0.5, -0.5])
x = np.array([1.0, 2.0, 3.0])


@pytest.fixture(autouse=True)
def fresh():
    W[...] = np.arange(6.0).reshape(2, 3)
    b[...] = [0.5, -0.5]


def loss():
    total = 0.0
    for i in range(2):
        z = b[i]
        for j in range(3):
            z += W[i, j] * x[j]
        total += z * z
    return total


def by_hand():
    z = W @ x + b
    return 2 * np.outer(z, x), 2 * z


def test_row_26_gradient_by_arrays_that_are_globals():
    params = zyg.Params([W, b])
    grads = zyg.gradient(lambda: loss(), params)
    assert grads[W].shape == W.shape and grads[b].shape == b.shape
    np.testing.assert_allclose(grads[W], by_hand()[0])
    np.testing.assert_allclose(grads[b], by_hand()[1])


def test_row_26_update_in_place_and_again_without_compiling():
    global W, b
    params = zyg.Params([W, b])
    zyg.gradient(loss, params)
    losses = [loss()]
    with pipeline.timings() as compiled:
        for _ in range(5):
            grads = zyg.gradient(loss, params)
            np.testing.assert_allclose(grads[W], by_hand()[0])
            W -= 0.01 * grads[W]
            b -= 0.01 * grads[b]
            losses.append(loss())
    assert compiled == [] and losses == sorted(losses, reverse=True)


def test_withgradient_and_pullback():
    params = zyg.Params([W, b])
    value, grads = zyg.withgradient(loss, params)
    assert value == loss()
    y, back = zyg.pullback(loss, params)
    assert y == value
    np.testing.assert_allclose(back(2.0)[b], 2.0 * grads[b])
    np.testing.assert_allclose(back(1.0)[W], grads[W])
    W[...] = 0.0
    np.testing.assert_allclose(back(1.0)[W], grads[W])


def test_captured_arrays():
    def make(scale):
        v = np.array([2.0, 3.0, 4.0])
        return (lambda: scale * v[0] * v[1] * W[0, 1]), v

    f, v = make(10.0)
    grads = zyg.gradient(f, zyg.Params([v, W, b]))
    assert grads[v].tolist() == [30.0, 20.0, 0.0]
    assert grads[W].tolist() == [[0.0, 60.0, 0.0], [0.0, 0.0, 0.0]]
    assert grads[b] is None


class Model:
    def __init__(self):
        self.weights = np.array([2.0, 3.0])
        self.scale = 5.0

    def __call__(self, t):
        return self.scale * self.weights[0] * t * t + self.weights[1]

    def loss(self):
        return self(3.0)


def test_attributes_of_objects():
    model = Model()
    grads = zyg.gradient(lambda: model(3.0), zyg.Params([model.weights]))
    assert grads[model.weights].tolist() == [45.0, 1.0]
    assert zyg.gradient(model.loss, zyg.Params([model.weights]))[model.weights].tolist() == [45.0, 1.0]


def test_an_object_as_a_parameter_has_a_structured_gradient():
    model = Model()
    grads = zyg.gradient(lambda: model(3.0), zyg.Params([model]))
    assert grads[model].weights.tolist() == [45.0, 1.0] and grads[model].scale == 18.0
    doubled = 2 * grads
    assert doubled[model].scale == 36.0 and doubled[model].weights.tolist() == [90.0, 2.0]


@each_in_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_through_the_python_back_end():
    def f():
        z = {"z": W @ x + b}["z"]
        return float((z * z).sum())

    grads = zyg.gradient(f, zyg.Params([W, b]))
    np.testing.assert_allclose(grads[W], by_hand()[0])
    np.testing.assert_allclose(grads[b], by_hand()[1])
    value, back = zyg.pullback(f, zyg.Params([b]))
    assert value == pytest.approx(loss())
    np.testing.assert_allclose(back(1.0)[b], by_hand()[1])


def test_parameters_go_by_identity_and_share_memory_with_their_views():
    row = W[0]
    f = lambda: row[1] * row[2] * W[1, 1]
    whole = zyg.gradient(f, zyg.Params([W]))[W]
    assert whole.tolist() == [[0.0, 8.0, 4.0], [0.0, 2.0, 0.0]]
    part = W[:, 1]
    assert zyg.gradient(f, zyg.Params([part]))[part].tolist() == [8.0, 2.0]
    backwards = W[::-1, ::2]
    assert zyg.gradient(f, zyg.Params([backwards]))[backwards].tolist() == [[0.0, 0.0], [0.0, 4.0]]


def test_params_are_an_ordered_set_by_identity():
    params = zyg.Params([W, [b, W], {"x": x}])
    assert list(map(id, params)) == [id(W), id(b), id(x)] and len(params) == 3
    assert W in params and W.copy() not in params and params[1] is b
    params.discard(b)
    assert b not in params and len(params | zyg.Params([b])) == 3
    assert repr(zyg.Params([W])) == "Params([float64 array of shape (2, 3)])"


def test_grads_can_be_iterated_and_added():
    params = zyg.Params([W, b])
    grads = zyg.gradient(lambda: W[0, 0] * 3.0, params)
    assert len(grads) == 2 and [p is q for p, q in zip(grads, params)] == [True, True]
    assert W in grads and x not in grads
    total = 2 * grads + zyg.gradient(loss, params) / 2 - grads
    np.testing.assert_allclose(total[W], by_hand()[0] / 2 + [[3, 0, 0], [0, 0, 0]])
    np.testing.assert_allclose(total[b], by_hand()[1] / 2)
    assert grads[b] is None and (-grads)[W][0, 0] == -3.0 and grads.map(np.abs)[W][0, 0] == 3.0
    assert [g is None for _, g in grads.items()] == [False, True]
    assert "float64 array of shape (2,): None" in repr(grads)
    with pytest.raises(KeyError, match="not one of the 2 parameters"):
        grads[x]
    with pytest.raises(ValueError, match="different parameters"):
        grads + zyg.gradient(loss, zyg.Params([W]))


@pytest.mark.parametrize(
    "act, words",
    [
        (lambda: zyg.Params([3.0]), "by identity, which numbers and constants do not have"),
        (lambda: zyg.Params(W), r"zyg\.Params\(\[W, b\]\)"),
        (lambda: zyg.Params([np.array(["a"])]), "no derivative by it"),
        (lambda: zyg.gradient(lambda y: y, zyg.Params([W]), 3.0), "takes a function without arguments"),
        (lambda: zyg.jacobian(loss, zyg.Params([W])), "jacobian does not take Params"),
        (lambda: zyg.jit(lambda: zyg.gradient(loss, PARAMS))(), "Params in native code"),
    ],
)
def test_what_is_wrong_is_said(act, words):
    with pytest.raises(TypeError, match=words):
        act()


PARAMS = zyg.Params([W])


def test_a_jitted_loss():
    assert zyg.gradient(zyg.jit(loss), zyg.Params([b]))[b].tolist() == by_hand()[1].tolist()


def test_what_does_not_take_parameters_says_so():
    """jvp gave the sum of the gradient: silently wrong."""
    w = np.array([1.0, 3.0])
    loss = lambda: np.sum(w * w)
    by = zyg.Params([w])
    for call in (
        lambda: zyg.jvp(loss, (by,), (np.array([1.0, 0.0]),)),
        lambda: zyg.pushforward(loss, by),
        lambda: zyg.grad(loss)(by),
        lambda: zyg.derivative(loss)(by),
        lambda: zyg.hessian(loss, by),
    ):
        with pytest.raises(TypeError, match="does not take Params; gradient, withgradient and pullback do"):
            call()
    with pytest.raises(TypeError, match=r"zyg\.Params\(\[W, b\]\), not zyg\.Params\(W, b\)"):
        zyg.Params(w, w)
    with pytest.raises(zyg.Unsupported, match=r"instead: pass the arrays .* as arguments, zyg\.gradient\(f, W, b\)"):
        zyg.jit(lambda: zyg.gradient(loss, zyg.Params([w])))()
