"""The demo: its data, its model, its derivative by hand, and the command."""

import math

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn
from zyg.__main__ import main
from zyg.demo import byhand, fit, model
from zyg.demo.inc import InC
from zyg.demo.run import start

from .oracles import dual

YEARS, HARE, LYNX = model.pelts()
FITTED = (0.5402, 0.02717, 0.7964, 0.02369, 34.60, 5.845)


def by_hand(q):
    gradient = np.zeros(6)
    return byhand.loss_and_gradient(q, HARE, LYNX, model.STEPS, gradient), gradient


def test_the_data_are_those_published():
    assert list(range(1900, 1921)) == YEARS
    assert (HARE[3], LYNX[4], HARE[-1], LYNX[-1]) == (77.4, 59.4, 24.7, 8.6)
    assert HARE.sum() == pytest.approx(715.7)
    assert LYNX.sum() == pytest.approx(423.5)


def test_the_derivative_by_hand_is_right():
    q = start(HARE, LYNX)
    value, gradient = by_hand(q)
    assert value == model.loss(q, HARE, LYNX, model.STEPS)
    np.testing.assert_allclose(gradient, dual.gradient(model.loss, q, HARE, LYNX, 20)[0], rtol=1e-12)


def test_the_fit_by_hand_finds_the_published_parameters():
    *_, last = fit.minimise(by_hand, start(HARE, LYNX))
    assert np.exp(last.x) == pytest.approx(FITTED, rel=1e-3)


def test_the_derivative_in_c_is_right():
    in_c, reason = InC.make(HARE, LYNX, model.STEPS)
    if in_c is None:
        pytest.skip(reason)
    q = start(HARE, LYNX)
    value, gradient = in_c.value_and_gradient(q)
    assert value == pytest.approx(by_hand(q)[0], rel=1e-14)
    np.testing.assert_allclose(gradient, by_hand(q)[1], rtol=1e-11)


def test_the_gradient_by_zyg_is_right():
    q = start(HARE, LYNX)
    value, gradient = zyg.value_and_grad(model.loss)(q, HARE, LYNX, model.STEPS)
    assert value == model.loss(q, HARE, LYNX, model.STEPS)
    np.testing.assert_allclose(gradient, by_hand(q)[1], rtol=1e-11)


@each_in_turn
def test_the_command(capsys):
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert "The derivatives agree." in out
    fitted = [
        float(row.split()[-1]) for row in out.splitlines() if row.startswith("  ") and row.split()[0] in "alpha beta"
    ]
    assert fitted == pytest.approx(FITTED[:2], rel=1e-3)


def test_the_command_shows_every_stage(capsys):
    assert main(["demo", "--show"]) == 0
    out = capsys.readouterr().out
    assert "func @" in out
    assert "define " in out
    assert "model.py" in out


@each_in_turn
def test_a_disagreement_is_an_error(monkeypatch, capsys):
    monkeypatch.setattr(byhand, "loss_and_gradient", lambda q, h, l, s, g: 1.0 + 0.0 * q[0])
    assert main(["demo"]) == 1
    assert "DISAGREE" in capsys.readouterr().out


def test_the_minimiser_on_a_valley():
    def rosenbrock(x):
        a, b = float(x[0]), float(x[1])
        value = (1 - a) ** 2 + 100 * (b - a * a) ** 2
        return value, np.array([-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)])

    *_, last = fit.minimise(rosenbrock, np.array([-1.2, 1.0]))
    assert last.x == pytest.approx([1.0, 1.0], rel=1e-6)
    assert math.isclose(last.value, 0.0, abs_tol=1e-12)
