"""`with` of generators that handle what leaves the body: they swallow it, let it pass, make something else of it, or go on."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

import pytest

from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn


class Wrong(Exception):
    def __init__(self, amount: Any):
        super().__init__(amount)
        self.amount = amount


@contextmanager
def swallowing(s, x):
    s[0] *= 1.0 + 0.1 * x
    try:
        yield s[0] * x
    except (Wrong, StopIteration, RuntimeError) as error:
        s[0] += 0.3 * x * error.args[0]
    s[0] *= 1.0 + 0.2 * x


@contextmanager
def passing_by(s, x):
    try:
        yield s[0] * x
    finally:
        s[0] *= 1.0 + 0.2 * x


@contextmanager
def raising_again(s, x):
    try:
        yield s[0] * x
    except (Wrong, StopIteration, RuntimeError) as error:
        s[0] *= error.args[0]
        raise


@contextmanager
def raising_another(s, x):
    try:
        yield s[0]
    except (Wrong, StopIteration, RuntimeError) as error:
        s[0] *= 1.0 + 0.4 * x
        raise Wrong(error.args[0] * x) from error


@contextmanager
def going_on(s, x):
    try:
        yield s[0]
    except (Wrong, StopIteration, RuntimeError) as error:
        s[0] *= 1.0 + 0.4 * x
        yield error.args[0]


@contextmanager
def going_on_anyway(s, x):
    yield s[0]
    s[0] *= 1.0 + 0.4 * x
    yield x


@contextmanager
def over_before(s, x):
    """Nothing is left for the exception to be thrown into."""
    with swallowing(s, x) as y, passing_by(s, x):
        yield y


MANAGERS = [swallowing, passing_by, raising_again, raising_another, going_on, going_on_anyway, over_before]
EXCEPTIONS = [Wrong, StopIteration, RuntimeError]


def program(manager, kind, times=3):
    def f(x):
        s = [1.0 + x]
        total = 0.0
        for k in range(times):
            try:
                with manager(s, x) as y:
                    total += y * s[0]
                    s[0] *= 1.0 + 0.1 * x
                    if k != 1:
                        raise kind(s[0] * (x + k))
                total += s[0] * x
            except (Wrong, StopIteration, RuntimeError) as error:
                if type(error.args[0]) is float:
                    total += 0.5 * error.args[0]
                s[0] *= 1.0 + 0.3 * x
        return total * s[0]

    return f


@pytest.mark.parametrize("kind", EXCEPTIONS)
@pytest.mark.parametrize("manager", MANAGERS)
def test_derivatives(manager, kind):
    check(program(manager, kind), times=2, rel=1e-6, step=1e-3)


@each_in_long_turn
@pytest.mark.parametrize("manager", [swallowing, passing_by, raising_again, raising_another])
def test_second_derivatives(manager):
    check_second(program(manager, Wrong), step=1e-3)
