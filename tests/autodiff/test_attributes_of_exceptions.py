"""What the program sees in the `__dict__` of an exception is the program's own."""

import pytest

import zyg
from tests.turns import by_one_python_a_day

pytestmark = pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")


class Found(Exception):
    def __init__(self, x):
        self.x = x
        self.y = 2 * x


def taken_over(x):
    try:
        raise Found(x * x)
    except Found as e:
        held = {**vars(e)}
        return sum(held.values()) + len(held) * x


def gone_through(x):
    try:
        raise Found(x * x)
    except Found as e:
        return sum(v * len(k) for k, v in e.__dict__.items()) + x * len(list(vars(e)))


def written_to(x):
    try:
        raise Found(x)
    except Found as e:
        held = vars(e)
        e.z = x * x
        held["w"] = x
        return sum(held.values()) + e.args[0] * e.w + len(held)


def seen_before_it_is_raised(x):
    e = Found(x)
    held = vars(e)
    try:
        raise e
    except Found as caught:
        return sum({**vars(caught)}.values()) + caught.args[0] * caught.x + len(held)


PROGRAMS = [taken_over, gone_through, written_to, seen_before_it_is_raised]


@by_one_python_a_day
@pytest.mark.parametrize("program", PROGRAMS)
def test_attributes_are_those_of_the_program(program):
    value, (gradient,) = zyg.withgradient(program, 3.0)
    h = 1e-5
    assert value == program(3.0)
    assert gradient == pytest.approx((program(3.0 + h) - program(3.0 - h)) / (2 * h), rel=1e-8)
    second_one = zyg.grad(zyg.grad(program))(3.0)
    slope = (zyg.grad(program)(3.0 + h) - zyg.grad(program)(3.0 - h)) / (2 * h)
    assert second_one == pytest.approx(slope, rel=1e-6, abs=1e-8)


def test_exceptions_without_code_are_refused():
    def program(x):
        try:
            raise ValueError(x)
        except ValueError as e:
            return len(vars(e)) * x + e.args[0]

    with pytest.raises(zyg.Unsupported, match="the __dict__ of a ValueError") as caught:
        zyg.grad(program)(3.0)
    assert "len(vars(e)) * x" in str(caught.value)
