"""hook with anything that can be called, showgrad, isderiving, nestlevel, stop_gradient."""

import functools
import operator

import numpy as np
import pytest

import zyg


def test_row_34_hooks():
    assert zyg.gradient(lambda a, b: zyg.hook(operator.neg, a) * b, 2, 3) == (-3.0, 2.0)
    clip = lambda limit: zyg.gradient(lambda a: zyg.hook(lambda d: max(-limit, min(limit, d)), a) * -2, 3.0)
    assert clip(0.5) == (-0.5,) and clip(5.0) == (-2.0,)


def test_row_34_a_hook_that_prints(capsys):
    assert zyg.gradient(lambda a, b: zyg.hook(lambda d: print("a =", d) or d, a) * b, 2, 3) == (3.0, 2.0)
    assert zyg.gradient(lambda a, b: zyg.showgrad(a) * b, 2, 3) == (3.0, 2.0)
    assert capsys.readouterr().out == "a = 3.0\ngradient: 3.0\n"


SEEN = []


def recorded(d):
    SEEN.append(d)
    return d


class Recorder:
    def __init__(self):
        self.seen = []

    def __call__(self, d):
        self.seen.append(d)
        return 2 * d

    def tripled(self, d):
        self.seen.append(d)
        return 3 * d


def test_hooks_that_compiled_code_does_not_know_are_called():
    SEEN.clear()
    assert zyg.gradient(lambda a: zyg.hook(recorded, a) * 2, 3.0) == (2.0,)
    (g,) = zyg.gradient(lambda a: zyg.hook(recorded, a).sum(), np.ones(3))
    assert g.tolist() == [1.0, 1.0, 1.0]
    assert SEEN[0] == 2.0 and SEEN[1].tolist() == [1.0, 1.0, 1.0]
    assert zyg.gradient(lambda a: zyg.hook(abs, a) * -2, 3.0) == (2.0,)
    assert zyg.gradient(lambda a: zyg.hook(functools.partial(operator.mul, 5.0), a) * -2, 3.0) == (-10.0,)
    assert zyg.gradient(lambda a: zyg.hook(lambda d: np.clip(d, -1, 1), a) * -2, 3.0) == (-1.0,)
    (g,) = zyg.gradient(lambda a: zyg.hook(np.sort, a)[1] * -2 + a[0], np.ones(2))
    assert g.tolist() == [-1.0, 0.0]


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_hooks_that_keep_a_state():
    recorder = Recorder()
    assert zyg.gradient(lambda a: zyg.hook(recorder, a) * 2, 3.0) == (4.0,)
    assert zyg.gradient(lambda a: zyg.hook(recorder.tripled, a) * 2, 3.0) == (6.0,)
    seen = []
    zyg.gradient(lambda a: zyg.hook(seen.append, a) * 2, 3.0)
    assert recorder.seen == [2.0, 2.0] and seen == [2.0]


def fails(d):
    raise RuntimeError("in the hook")


@pytest.mark.parametrize(
    "function, error, words",
    [
        (fails, RuntimeError, "in the hook"),
        (3, TypeError, "hook takes a function and a value"),
        (lambda: 1.0, TypeError, "takes 0 positional arguments but 1 was given"),
        (lambda d: d[0], TypeError, "not subscriptable"),
        (lambda d: "a", TypeError, "does not give a cotangent of the kind"),
        (lambda d: (d,), TypeError, "does not give a cotangent of the kind"),
        (functools.lru_cache(lambda d: "a"), TypeError, "gave 'a' for the cotangent 1.0"),
    ],
)
def test_wrong_hooks(function, error, words):
    with pytest.raises(error, match=words):
        zyg.gradient(lambda a: zyg.hook(function, a), 3.0)


def test_a_hook_that_gives_none():
    assert zyg.gradient(lambda a: zyg.hook(lambda d: None, a) + 2 * a, 3.0) == (2.0,)


def test_row_36_levels(capsys):
    def f(x):
        print(zyg.nestlevel(), zyg.isderiving())
        return x

    grad = lambda f, x: zyg.gradient(f, x)[0]
    f(1)
    grad(f, 1)
    grad(lambda x: x * grad(f, x), 1)
    assert capsys.readouterr().out == "0 False\n1 True\n2 True\n"


def test_stop_gradient():
    assert zyg.gradient(lambda x: x * zyg.stop_gradient(x), 3.0) == (3.0,)
    assert zyg.gradient(lambda x: zyg.stop_gradient(x), 3.0) == (None,)
    (g,) = zyg.gradient(lambda a: zyg.stop_gradient(a)[0] * a[0], np.array([3.0, 1.0]))
    assert g.tolist() == [3.0, 0.0]
