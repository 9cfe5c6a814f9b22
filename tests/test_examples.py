"""The examples of the documentation do what they say; their gradients are checked against differences."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import zyg

from .oracles import differences
from .turns import each_in_turn

FOLDER = Path(__file__).parents[1] / "docs" / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def gaussian_process_is_fitted():
    gaussian = example("gaussian_process")
    x, y = gaussian.data()
    parameters = gaussian.fit(x, y)
    slope = differences.gradient(lambda p: gaussian.negative_log_likelihood(p, x, y), parameters)[0]
    assert np.max(np.abs(slope)) < 1e-5
    gradient = zyg.gradient(gaussian.negative_log_likelihood, parameters + 0.3, x, y)[0]
    expected = differences.gradient(lambda p: gaussian.negative_log_likelihood(p, x, y), parameters + 0.3)[0]
    assert gradient == pytest.approx(expected, rel=1e-7)
    assert np.exp(parameters[2]) == pytest.approx(0.1, rel=0.3)
    at = np.linspace(0.5, 5.5, 6)
    assert np.max(np.abs(gaussian.predicted(parameters, x, y, at) - np.sin(1.5 * at))) < 0.15


def digits_are_learned():
    digits = example("digits")
    images, classes = digits.load("train")
    assert images.shape == (500, 64) and set(classes) == set(range(10))
    weights = digits.start()
    before = digits.loss(*weights, images, classes)
    first = digits.train(*weights, images, classes, 1, 0.2, 0.9)
    assert first == pytest.approx(before, rel=1e-12)
    last = digits.train(*weights, images, classes, 60, 0.2, 0.9)
    assert last < 0.2 * first and digits.right(weights, *digits.load("test")) > 0.85
    # Along a direction of all the weights.
    directions = [np.random.default_rng(n).normal(size=w.shape) for n, w in enumerate(weights)]
    _, slopes = zyg.value_and_grad(digits.loss, (0, 1, 2, 3))(*weights, images, classes)
    along = sum(np.sum(d * s) for d, s in zip(directions, slopes))
    moved = lambda h: digits.loss(*(w + h * d for w, d in zip(weights, directions)), images, classes)
    assert along == pytest.approx((moved(1e-5) - moved(-1e-5)) / 2e-5, rel=1e-6)


def rod_is_fitted():
    heat = example("heat")
    measured = heat.simulate(heat.truth(), 60)
    found = np.log(np.full(heat.CELLS, 0.6))
    slope = zyg.gradient(heat.misfit, found, measured, 60)[0]
    expected = differences.gradient(lambda c: heat.misfit(c, measured, 60), found)[0]
    assert slope == pytest.approx(expected, rel=1e-6, abs=1e-9)
    before = heat.misfit(found, measured, 60)
    assert heat.fit(found, measured, 60, 100, 0.02) < 0.1 * before


EXAMPLES = {"gaussian_process": gaussian_process_is_fitted, "digits": digits_are_learned, "heat": rod_is_fitted}


def test_every_example_is_checked():
    elsewhere = {"nested_optimisation"}  # test_nested_optimisation.py
    assert {path.stem for path in FOLDER.glob("*.py")} == {*EXAMPLES, *elsewhere}


@each_in_turn
@pytest.mark.parametrize("name", list(EXAMPLES))
def test_examples(name):
    EXAMPLES[name]()
