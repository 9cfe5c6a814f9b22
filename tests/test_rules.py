"""The registry of custom rules; what they do to gradients is in test_api_rules.py."""

import ctypes
import functools
import math

import pytest

import zyg
from zyg import rules


def test_a_rule_is_found_by_identity():
    def f(x):
        return x

    @zyg.adjoint(f)
    def rule(x):
        return x, lambda d: (d,)

    found = rules.rule_for(f)
    assert found is not None and found.function is rule and found.target is f
    assert rules.rule_for(lambda x: x) is None
    assert "f" in repr(found)


def test_a_rule_of_a_method_is_found_through_instances_and_the_class():
    class C:
        def m(self, x):
            return x

    zyg.adjoint(C.m)(lambda self, x: (x, lambda d: (None, d)))
    assert rules.rule_for(C().m) is rules.rule_for(C.m) is not None


def test_methods_of_builtin_types_go_by_type_and_name():
    assert rules.key_of([].append) == rules.key_of([1].append)
    assert rules.key_of([].append) != rules.key_of([].pop)
    assert rules.key_of(math.sin) != rules.key_of(math.cos)


def test_classes_and_callable_objects_can_have_rules():
    class C:
        pass

    zyg.adjoint(C)(lambda: (C(), lambda d: ()))
    assert rules.rule_for(C) is not None
    partial = functools.partial(math.pow, 2.0)
    zyg.adjoint(partial)(lambda x: (partial(x), lambda d: (d,)))
    assert rules.rule_for(partial) is not None


def test_each_registration_advances_the_epoch_that_native_code_reads():
    word = ctypes.c_uint64.from_address(rules.epoch_address)
    before = rules.epoch()
    assert word.value == before

    def f(x):
        return x

    zyg.adjoint(f)(lambda x: (x, lambda d: (d,)))
    assert rules.epoch() == word.value == before + 1
    zyg.adjoint(f)(lambda x: (x, lambda d: (2 * d,)))
    assert rules.epoch() == before + 2
    rules.remove(f)
    assert rules.rule_for(f) is None and rules.epoch() == before + 3
    with pytest.raises(KeyError, match=r"there is no adjoint rule for .*f\b"):
        rules.remove(f)


def test_what_is_not_callable_is_refused():
    with pytest.raises(TypeError, match=r"write @zyg\.adjoint"):
        zyg.adjoint(3)
    with pytest.raises(TypeError, match="has to be a function"):
        zyg.adjoint(math.sin)(3)
    assert rules.rule_for(math.sin) is None or rules.rule_for(math.sin).function != 3


def test_rules_with_other_parameters_are_refused_when_they_are_registered():
    def f(x, y, *, k=1.0):
        return x * y * k

    bad = {
        "has no parameter for: 'y'; a rule takes the arguments of its function.*def rule\\(x, y\\)": lambda x: (
            x,
            None,
        ),
        "has more parameters than .*: 'z'": lambda x, y, z: (x, None),
        "has no parameter for: 'x', 'y'": lambda: (1.0, None),
    }
    for register in (zyg.adjoint, zyg.tangent):
        for message, rule in bad.items():
            with pytest.raises(TypeError, match=message):
                register(f)(rule)
        with pytest.raises(TypeError, match="has more parameters than sin"):
            register(math.sin)(lambda x, y: (x, None))
    assert zyg.rules.rule_for(f) is None
    for rule in (
        lambda *args, **keywords: None,
        lambda x, y: None,
        lambda x, y, z=1.0: None,
        lambda x, y, k: None,
        lambda x, *, y: None,
        lambda a, b, /, k=2.0: None,
    ):
        zyg.adjoint(f)(rule)
    rules.remove(f)

    class Scaled:
        def __init__(self, k):
            self.k = k

        def value(self, x):
            return self.k * x

    for target in (Scaled.value, Scaled(2.0).value):
        zyg.adjoint(target)(lambda self, x: (self.k * x, lambda d: (None, self.k * d)))
        with pytest.raises(TypeError, match="has no parameter for"):
            zyg.adjoint(target)(lambda x: (x, None))
        rules.remove(target)
    zyg.adjoint(Scaled)(lambda k: (Scaled(k), lambda d: (d.k,)))
    rules.remove(Scaled)


def test_rules_of_either_kind_are_removed_by_their_kind():
    def f(x):
        return x

    zyg.tangent(f)(lambda x: (x, lambda dx: dx))
    with pytest.raises(
        KeyError, match=r"no adjoint rule for .*f; its tangent rule goes by zyg.rules.remove\(.*f, .*tangent"
    ):
        rules.remove(f)
    with pytest.raises(ValueError, match='"adjoint" or "tangent", not \'jvp\''):
        rules.remove(f, "jvp")
    rules.remove(f, "tangent")
    assert rules.tangent_rule_for(f) is None
    zyg.adjoint(f)(lambda x: (x, lambda d: (d,)))
    with pytest.raises(KeyError, match=r"no tangent rule for .*its adjoint rule goes by"):
        rules.remove(f, "tangent")
    rules.remove(f)


class Held:
    @property
    def area(self):
        return 1.0

    @functools.cached_property
    def length(self):
        return 1.0


def test_a_rule_for_a_property_is_that_of_its_function():
    with pytest.raises(TypeError, match=r"write @zyg.adjoint\(Held.area.fget\)"):
        zyg.adjoint(Held.area)
    with pytest.raises(TypeError, match=r"write @zyg.tangent\(Held.length.func\)"):
        zyg.tangent(Held.length)
    with pytest.raises(TypeError, match=r"write @zyg.adjoint\(f\)"):
        zyg.adjoint(3.0)
