"""Classes with a `__getattribute__` of their own, which changes something: it is called for what the program asks, and for nothing else."""

import functools

import pytest

import zyg
from tests.autodiff.against_differences import check, check_second

LOG: list[str] = []


class Asked:
    def __init__(self, x):
        self.v = x

    def __getattribute__(self, name):
        LOG.append(name)
        held = object.__getattribute__(self, "__dict__")
        if "v" in held:
            held["v"] = held["v"] * 1.5
        return object.__getattribute__(self, name)

    def method(self):
        return self.v

    @property
    def squared(self):
        return self.v * self.v

    @functools.cached_property
    def cubed(self):
        return self.v**3


def read(o, x):
    return o.v * o.v


def by_vars(o, x):
    return vars(o)["v"] * o.v


def by_dict(o, x):
    d = o.__dict__
    return d["v"] * o.v


def by_class(o, x):
    return o.v * (o.__class__ is Asked) * isinstance(o, Asked)


def asked_for_another_class(o, x):
    return isinstance(o, float) + o.v


def called(o, x):
    return o.method() * o.squared * o.cubed * o.cubed


def written(o, x):
    o.v = x * o.v
    setattr(o, "v", getattr(o, "v") * x)  # noqa: B010, B009
    vars(o)["v"] = vars(o)["v"] * x
    return getattr(o, "missing", o.v) * hasattr(o, "v")


def matched(o, x):
    match o:
        case Asked(v=v):
            return v * o.v


def held(o, x):
    items = [o, *[o]]
    a, b = items
    d = {"o": a}
    d.update(p=b)
    return d["o"].v * d.pop("p").v * (o in items)


def compared(o, x):
    return max([o, Asked(x * x)], key=lambda p: p.v).v * o.v


def passed(o, x):
    def f(*args, **names):
        return args[0].v * names["o"].v

    return functools.partial(f, o)(o=o)


def deleted(o, x):
    del o.v
    object.__setattr__(o, "v", x * x)
    return object.__getattribute__(o, "v")


PROGRAMS = [
    read, by_vars, by_dict, by_class, asked_for_another_class, called, written, matched, held, compared, passed, deleted,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_getattribute_is_called_for_what_the_program_asks(program):
    def f(x):
        return program(Asked(x), x)

    LOG.clear()
    value = f(0.7)
    log = list(LOG)
    LOG.clear()
    assert zyg.withgradient(f, 0.7)[0] == pytest.approx(value, rel=1e-13)
    assert log == LOG
    check(f, times=2)
    check_second(f)
