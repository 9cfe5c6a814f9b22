"""State that is reached by more than one way: attributes as a dict, memory as a buffer; and what changes behind one's back."""

from __future__ import annotations

import sys
import types
from typing import ClassVar

import numpy as np
import pytest

import zyg
from tests.oracles import differences
from zyg.autodiff.objects import scattering, structure
from zyg.autodiff.objects.api import pullback
from zyg.autodiff.objects.cotangents import Refused
from zyg.autodiff.objects.shadows import Shadows

H = 1.0


class Plain:
    pass


class FromKeywords:
    def __init__(self, **values):
        self.__dict__.update(values)


class AttributeDict(dict):
    def __init__(self, **values):
        super().__init__(**values)
        self.__dict__ = self


class Borg:
    state: ClassVar[dict] = {}

    def __init__(self):
        self.__dict__ = self.state


def item_of_dict(x):
    a = Plain()
    a.__dict__["w"] = x
    return a.w * x


def updated_by_keywords(x):
    return FromKeywords(w=x, v=x * x).w * 2.0


def updated_vars(x):
    a = Plain()
    vars(a).update(w=x)
    return a.w * a.w


def read_by_dict(x):
    a = Plain()
    a.w = x * x
    return a.__dict__["w"] + x * vars(a)["w"]


def overwritten_by_both(x):
    a = Plain()
    a.w = x
    vars(a)["w"] = a.w * x
    a.w = a.__dict__["w"] * x
    b = vars(a)
    return b["w"] + sum(b.values())


def attribute_dict(x):
    a = AttributeDict(v=x)
    a["w"] = a["v"] * x
    return a["w"] * 2.0


def shared_state(x):
    Borg().w = x * x
    return Borg().w * x


def module_attribute(x):
    sys.modules[__name__].H = x
    return H * H


def memory_by_memoryview(x):
    a = np.array([x, 2.0, 3.0])
    c = np.asarray(memoryview(a))
    c[0] *= x
    return float(a[0])


def memory_of_bytearray(x):
    memory = bytearray(24)
    a = np.frombuffer(memory)
    b = np.frombuffer(memory, offset=8)
    a[1] = x
    b[0] *= x
    return float(a[1] * x)


RIGHT = [
    item_of_dict, updated_by_keywords, updated_vars, read_by_dict, overwritten_by_both, attribute_dict, shared_state,
    module_attribute, memory_by_memoryview, memory_of_bytearray,
]  # fmt: skip


def slope(f, x):
    return (f(x + 1e-6) - f(x - 1e-6)) / 2e-6


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_state_with_two_ways_to_it(f):
    for x in (1.3, 1.1):
        value, back = pullback(f, (x,))
        assert value == pytest.approx(f(x))
        assert back(1.0)[0] == pytest.approx(slope(f, x), rel=1e-6)


def _check(f, x=3.0):
    value, back = pullback(f, (x,))
    assert value == pytest.approx(f(x))
    assert back(1.0)[0] == pytest.approx(slope(f, x), rel=1e-6)


def _changed(f, change):
    for _ in range(3):
        _check(f)
    change()
    for _ in range(3):
        _check(f)


def _holder():
    class Holder:
        def __init__(self, v):
            self.v = v

        def twice(self):
            return self.v * 2.0

    return Holder


def test_attribute_becomes_a_property():
    cls = _holder()

    def change():
        cls.__init__ = lambda self, v: setattr(self, "_v", v)
        cls.v = property(lambda self: self._v * self._v)

    _changed(lambda x: cls(x).v * 2.0, change)


def test_attribute_becomes_a_property_that_is_set():
    cls = _holder()

    def f(x):
        c = cls(x)
        c.v = c.v * 2.0
        return c.v

    _changed(f, lambda: setattr(cls, "v", property(lambda s: s._v, lambda s, v: setattr(s, "_v", v * v))))


def test_setattr_is_added_to_a_base():
    base = _holder()

    class Derived(base):
        pass

    _changed(
        lambda x: Derived(x).v, lambda: setattr(base, "__setattr__", lambda s, n, v: object.__setattr__(s, n, v * v))
    )


def doubled(x):
    return x * 2.0


def test_code_of_a_function_changes():
    def change():
        doubled.__code__ = (lambda x: x * x).__code__

    _changed(lambda x: doubled(x), change)


def test_code_of_a_method_changes():
    cls = _holder()

    def change():
        cls.twice.__code__ = (lambda self: self.v * self.v).__code__

    _changed(lambda x: cls(x).twice(), change)


def test_class_changes_while_it_is_differentiated():
    def f(x):
        class Local:
            def __init__(self, v):
                self.v = v

        total = 0.0
        for k in range(3):
            c = Local(x)
            c.v = c.v * 2.0
            total += c.v
            if k == 1:
                Local.v = property(lambda self: self._v, lambda self, v: setattr(self, "_v", v * v))
        return total

    for _ in range(2):
        _check(f)


class Steps:
    """Counts; `state` tells when the state changes."""

    def __init__(self, x, state):
        self.x, self.held, self.state, self.count = x, [x], state, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.count += 1
        if self.state == "always":
            self.held[0] = self.held[0] * self.x
        if self.count > 3:
            raise StopIteration
        if self.state == "items":
            self.held[0] = self.held[0] * self.x
        return self.x


class Asked:
    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        self.x = self.x * self.__dict__["x"]
        raise AttributeError(name)


class Property:
    def __init__(self, x):
        self.x = x

    @property
    def none(self):
        self.x = self.x * self.x
        raise AttributeError


def stepped(x, state="items"):
    steps = Steps(x, state)
    total = 0.0
    for item in steps:
        total += item * x
    return total * steps.held[0]


def listed(x, state="items"):
    steps = Steps(x, state)
    return sum(list(steps)) * steps.held[0]


def next_or(x):
    steps = Steps(x, "always")
    steps.count = 3
    return next(steps, x) * steps.held[0]


def getattr_or(x):
    a = Asked(x)
    return getattr(a, "foo", x) * a.x


def asked_by_hasattr(x):
    a, b = Asked(x), Property(x)
    return 0.0 if hasattr(a, "foo") or hasattr(b, "none") else a.x * b.x + (x if hasattr(b, "x") else 0.0)


@pytest.mark.parametrize("f", [stepped, listed, next_or, getattr_or, asked_by_hasattr], ids=lambda f: f.__name__)
def test_changes_before_an_exception_that_is_handled_in_passing(f):
    _check(f, 1.3)


@pytest.mark.parametrize("f", [stepped, listed], ids=lambda f: f.__name__)
def test_changes_at_the_end_of_a_loop(f):
    _check(lambda x: f(x, "always"), 1.3)


def test_changes_before_the_index_error_that_ends_a_loop():
    class Items:
        def __init__(self, x):
            self.x, self.held = x, [x]

        def __getitem__(self, index):
            self.held[0] = self.held[0] * self.x
            if index > 2:
                raise IndexError
            return self.x

    def f(x):
        items = Items(x)
        return sum(list(items)) * items.held[0]

    _check(f, 1.3)


def flat(x):
    a = x * np.arange(6.0).reshape(2, 3)
    a.flat[4] *= a.flat[2]
    a.flat[1:3] = [x * x, x]
    steps = a.flat
    return float((a * a).sum() * steps[-1] + steps[::2].sum())


def test_items_of_flat():
    assert pullback(flat, (0.7,))[0] == pytest.approx(flat(0.7))
    assert pullback(flat, (0.7,))[1](1.0)[0] == pytest.approx(differences.derivative(flat, 0.7), rel=1e-7)


@pytest.mark.parametrize(("name", "value"), [("shape", (2, 2)), ("strides", (16,))])
def test_attributes_of_arrays_that_are_assigned_to(name, value):
    with pytest.raises(zyg.Unsupported, match=f"the attribute `{name}` of an array"):
        pullback(lambda x: setattr(x, name, value), (np.zeros(4),))


def test_mapping_proxies_of_numbers():
    assert pullback(lambda x: types.MappingProxyType({"a": x})["a"] * x, (1.5,))[1](1.0) == (3.0,)


class Held:
    k = 0.0


SHOWN = vars(Held)


def by_vars(x):
    Held.k = x * x
    return vars(Held)["k"]


def by_dict(x):
    Held.k = x * x
    return Held.__dict__["k"] * Held.k


def by_get(x):
    Held.k = x * x
    return Held.__dict__.get("k")


def by_items(x):
    Held.k = x * x
    return sum(v for name, v in vars(Held).items() if name == "k")


def taken_outside(x):
    Held.k = x * x
    return SHOWN["k"] + SHOWN.get("k")


def of_a_class_made_here(x):
    class Own:
        k = x * x

    made = type("Made", (Own,), {"m": x})
    return vars(Own)["k"] * made.__dict__["m"]


def set_again(x):
    Held.k = x
    first = vars(Held)["k"]
    Held.k = Held.k * first
    return vars(Held)["k"] * first


CLASS_DICTS = {
    by_vars: 6.0,
    by_dict: 108.0,
    by_get: 6.0,
    by_items: 6.0,
    taken_outside: 12.0,
    of_a_class_made_here: 27.0,
    set_again: 27.0,
}


@pytest.mark.parametrize("f", CLASS_DICTS, ids=lambda f: f.__name__)
def test_attributes_of_a_class_by_its_dict(f):
    y, back = pullback(f, (3.0,))
    assert y == f(3.0)
    assert back(1.0) == (CLASS_DICTS[f],)


def changing_class():
    class A:
        def __init__(self, x):
            self.k = x

        def __add__(self, other):
            return self.k + other

    return A


def test_classes_that_change_behind_and_in_a_derivative():
    kind = changing_class()

    def read(x):
        a = kind(x)
        return a.k * 2 + (a + 1.0)

    def f(x):
        a, t = kind(x), 0.0
        for i in range(4):
            t += a + 1.0
            if i == 1:
                kind.__add__ = lambda self, other: self.k * self.k
            if i == 2:
                kind.k = property(lambda self: 5.0, lambda self, v: None)
        return t

    assert pullback(read, (3.0,))[1](1.0) == (3.0,)
    value, back = pullback(f, (3.0,))
    assert (value, back(1.0)) == (42.0, (8.0,))
    assert (pullback(read, (3.0,))[0], pullback(read, (3.0,))[1](1.0)) == (35.0, (None,))
    kind.k = property(lambda self: self.__dict__["k"] * 10, lambda self, v: self.__dict__.__setitem__("k", v * 3))
    assert pullback(read, (3.0,))[1](1.0) == (60.0 + 2 * 90.0 * 30.0,)
    del kind.k
    kind.__add__ = lambda self, other: other
    assert pullback(read, (3.0,))[1](1.0) == (2.0,)


def test_a_refusal_of_what_holds_itself():
    """(did not come to an end)"""
    numbers: list = [1.0, [2.0]]
    numbers.append(numbers)
    shadows = Shadows()
    refused = Refused(ValueError("refused"))
    scattering.refuse(structure.form(numbers), refused, shadows)
    assert shadows.list_of(numbers)[0] is refused and shadows.list_of(numbers[1])[0] is refused
