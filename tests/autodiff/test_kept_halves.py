"""Halves of zyg's own functions that come from the disk are those that would have been compiled."""

import math
import os
import subprocess
import sys
import types

import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects import calls, cotangents, shadows
from zyg.autodiff.python import compile, kept
from zyg.backend import pullbacks


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("ZYG_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(zyg, "_imported_at", math.inf)
    kept._circumstances.cache_clear()
    yield tmp_path / "cache"
    kept._circumstances.cache_clear()


def halves(f, bound):
    """Compiled, or taken from the disk: the forward half, as a function, and its code object."""
    compile._cache.pop(id(f.__code__), None)
    code = compile.differentiated(f.__code__, bound, f.__globals__)
    return types.FunctionType(code, f.__globals__, closure=f.__closure__), code


def shown(code):
    """What a code object is, with those in it."""
    inner = [c.__code__ if isinstance(c, types.FunctionType) else c for c in code.co_consts]
    within = [shown(c) for c in inner if isinstance(c, types.CodeType)]
    return code.co_code, code.co_names, code.co_varnames, code.co_exceptiontable, code.co_linetable, within


@each_in_turn
@pytest.mark.parametrize("f, bound", [(cotangents.accumulate, False), (shadows.Shadows.add_item, True)])
def test_halves_come_back_from_the_disk(place, monkeypatch, f, bound):
    made, code = halves(f, bound)
    assert list(place.iterdir())
    monkeypatch.setattr(compile, "_compile", None)
    again, kept_code = halves(f, bound)
    assert kept_code is not code and shown(kept_code) == shown(code)
    assert compile.is_half(kept_code) and not compile.is_watched(kept_code)
    if not bound:
        (x, back), (y, back_again) = made(1.5, 2.0), again(1.5, 2.0)
        assert x == y == 3.5
        assert [back[0](back, 2.0, None), back_again[0](back_again, 2.0, None)] == [(None, 2.0, 2.0)] * 2
    monkeypatch.undo()
    third = compile.differentiated(kept_code, False, f.__globals__)
    assert shown(third) == shown(compile.differentiated(code, False, f.__globals__))


def test_marks_that_stand_for_pullbacks_are_the_same_objects(place):
    """Code asks for them by their identity: the mark of a generator's steps, of which the one that undoes them is not called."""
    code = shadows.Shadows.add_item.__code__
    marks = tuple([getattr(pullbacks, name) for name in ("HELD", "NOTHING", "PLAIN", "STEP", "VIEWED")])
    with_them = code.replace(co_consts=(*marks, (1, marks)))
    kept.store(code, (False, False), (with_them, types.FunctionType(with_them, {}), False))
    *found, (_, within) = kept.load(code, (False, False))[0].co_consts
    assert all(x is mark for x, mark in zip([*found, *within], marks * 2, strict=True))


@each_in_turn
@pytest.mark.parametrize(
    "f, bound", [(cotangents.accumulate, False), (shadows.Shadows.add_item, True), (calls.call, False)]
)
@pytest.mark.parametrize("which", ["forward", "reverse"])
def test_halves_of_halves_come_back_from_the_disk(place, monkeypatch, f, bound, which):
    made, code = halves(f, bound)
    half = made if which == "forward" else compile.reverse_of(code)
    _, second = halves(half, False)
    monkeypatch.setattr(compile, "_compile", None)
    _, kept_code = halves(half, False)
    assert kept_code is not second and shown(kept_code) == shown(second)
    assert compile.differentiated_less(kept_code, 1) == (half.__code__, 0)
    assert compile.is_half(kept_code) and compile.is_half(compile.reverse_of(kept_code).__code__)


IN_A_PROCESS = """
from tests.autodiff.test_kept_halves import compile
from zyg.autodiff.objects import calls, cotangents, foreign_calls, shadows
compiled = []
before = compile._compile
compile._compile = lambda code, *rest: (compiled.append(code.co_qualname), before(code, *rest))[1]
for f in (cotangents.accumulate, shadows.Shadows.add_item, calls.call, foreign_calls.run_foreign):
    code = compile.differentiated(f.__code__, False, f.__globals__)
    half = compile.differentiated(code, False, f.__globals__)
    reverse = compile.reverse_of(half)
    compile.differentiated(reverse.__code__, False, reverse.__globals__)
print(len(compiled))
"""


@each_in_long_turn
def test_another_process_finds_them(tmp_path):
    """Whatever order sets have there, and wherever objects are."""
    environment = {**os.environ, "ZYG_CACHE_DIR": str(tmp_path / "cache")}

    def run(seed):
        command = [sys.executable, "-c", IN_A_PROCESS]
        env = {**environment, "PYTHONHASHSEED": seed}
        return int(subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout)

    assert run("1") >= 12
    assert run("2") == 0


def test_nothing_is_kept_once_the_source_is_another(place, monkeypatch):
    """What was imported made the halves, not what is in the files by now."""
    monkeypatch.setattr(zyg, "_imported_at", 0.0)
    halves(cotangents.accumulate, False)
    assert not place.exists()


def test_rules_of_users_are_not_kept(place):
    def rule(x):
        return x

    rule.__module__, rule.__qualname__ = "mathematics_of_theirs", "rule"
    kept.store(
        rule.__code__, (False, False), (rule.__code__.replace(co_consts=(None, rule)), cotangents.accumulate, False)
    )
    assert not place.exists()


def test_functions_are_told_apart(place):
    table = [(lambda x: x + 1.0), (lambda x: x + 1.0),
             (lambda x: x + 1.0), (lambda x: x + 2.0)]  # fmt: skip
    assert len({kept._key(f.__code__, (False, False)) for f in table}) == len(table)
    changed = table[0].__code__.replace(co_consts=(None, 2.0))
    assert kept._key(changed, (False, False)) != kept._key(table[0].__code__, (False, False))


def test_what_has_no_name_is_not_kept(place):
    code = shadows.Shadows.add_item.__code__
    for constant in ([1.0], {}, object(), lambda x: x, {}.get):
        with_it = code.replace(co_consts=(constant,))
        kept.store(code, (False, False), (with_it, types.FunctionType(with_it, {}), False))
        assert not place.exists()
    assert kept.load(code, (False, False)) is None
