"""Functions of the library that an earlier process has compiled: what a later one makes of them is the same, to the last bit."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import zyg
from tests.turns import each_in_long_turn, each_in_turn
from zyg import circumstances
from zyg.backend.llvm import cache
from zyg.frontend import readymade

PREAMBLE = """
import warnings
import numpy as np
import zyg
from zyg.frontend import readymade
warnings.simplefilter("error", zyg.FallbackWarning)
found = []
find = readymade.find
def finding(*args):
    result = find(*args)
    if result is not None:
        found.append(args[1].name)
    return result
readymade.find = finding
"""

FUNCTIONS = (
    PREAMBLE
    + """
def statistics(x):
    c = x.T @ x / len(x) + np.eye(x.shape[1])
    w, v = np.linalg.eigh(c)
    r = x @ v[:, -1]
    return np.median(r) + np.sum(np.quantile(r, [0.25, 0.75]) ** 2) + np.sum(np.sort(r)[:3]) + w[0] * np.sum(v[:, 0] ** 3)

def spectrum(x):
    w, v = np.linalg.eigh(x)
    return np.sum(w * v[0] ** 3)

x = np.random.default_rng(3).normal(size=(7, 3))
a = x[:3] + x[:3].T
def show(*values):
    for one in values:
        print(np.asarray(one).tobytes().hex())
    print(len(found), *sorted({*found}))
"""
)
GRADIENTS = FUNCTIONS + "show(zyg.gradient(statistics, x), zyg.jit(statistics)(x), zyg.gradient(spectrum, a))"
# Derivatives go through functions that are ready otherwise.
OTHERS = FUNCTIONS + "show(zyg.hvp(spectrum, a, a * 0.5))"


def lines(code, directory, **more):
    environment = {**os.environ, "ZYG_CACHE_DIR": str(directory), "PYTHONPATH": os.pathsep.join(sys.path), **more}
    code += "\nzyg.settle()"  # what is made with care is on disk
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@each_in_turn
def test_a_later_process_gives_the_same_bits(tmp_path):
    *first, none = lines(GRADIENTS, tmp_path / "cache")
    *second, some = lines(GRADIENTS, tmp_path / "cache")
    count, *names = some.split()
    assert first == second and len(first) == 3
    assert int(none.split()[0]) < int(count) and {"middles", "quantiles_of_rows", "eigh_cotangent"} <= {*names}


@each_in_long_turn
def test_derivatives_through_what_is_ready(tmp_path):
    lines(GRADIENTS, tmp_path / "cache")
    assert lines(OTHERS, tmp_path / "cache")[:-1] == lines(OTHERS, tmp_path / "another")[:-1]


MATRICES = PREAMBLE + "x = np.random.default_rng(3).normal(size=(5, 5)).astype(np.float32)\n"
# Their products are small functions of the library, of which others consist.
PRODUCTS = MATRICES + "zyg.jit(lambda x: (x @ x)[0, 0] + (x @ x.T)[0, 0] + (x.T @ x)[0, 0])(x)"
OF_PRODUCTS = (
    MATRICES
    + """
def vectors(x):
    w, v = np.linalg.eigh(x @ x.T)
    return w[0] + v[0, 0]
f = lambda x: (x @ x)[0, 0] + (x @ x.T)[0, 0] + np.sum(zyg.gradient(vectors, x)[0] ** 2)
print(np.asarray(zyg.jit(f)(x)).tobytes().hex())
print(*found)
print(len(readymade._wanted))
"""
)


@each_in_long_turn
def test_what_is_ready_may_be_made_as_well(tmp_path):
    place = tmp_path / "cache"
    lines(PRODUCTS, place)
    value, some, wanted = lines(OF_PRODUCTS, place)  # `x @ x.T` is the same with a derivative as without
    assert "rows_into" in some and "eigh_cotangent" not in some and wanted == "0"
    # What has others in it is kept, though these were there; what writes to its arguments is not asked for where these vary.
    again, more, wanted = lines(OF_PRODUCTS, place)
    assert again == value and "eigh_cotangent" in more and wanted == "0"


ERRORS = (
    PREAMBLE
    + """
def spectrum(x):
    w, v = np.linalg.eigh(x)
    return w[0] + v[0, 0]

def middle(x, q):
    return np.quantile(x, q)

def caught(f, *args):
    try:
        return f(*args)
    except Exception as error:
        frames = []
        trace = error.__traceback__
        while trace is not None:
            frames.append((trace.tb_frame.f_code.co_name, trace.tb_lineno))
            trace = trace.tb_next
        return type(error).__name__, str(error), frames[-1]

print(caught(zyg.jit(spectrum), np.full((3, 3), np.nan)))
print(caught(zyg.jit(middle), np.ones(3), 1.5))
print(len(found) > 0)
"""
)


@each_in_long_turn
def test_errors_are_those_of_the_program(tmp_path):
    *first, _ = lines(ERRORS, tmp_path / "cache")
    *second, some = lines(ERRORS, tmp_path / "cache")
    assert first == second
    assert some == "True"


# Halves of adjoints that an earlier process has made: of what is called in a loop, twice with the same types, once without a derivative, ...
HALVES = (
    PREAMBLE
    + """
def loop(x, y):
    total = 0.0
    for k in range(len(y)):
        total += np.median(x * y[k]) * np.corrcoef(x[:, 0] * y[k], y)[0, 1]
    return total

def passive(x, y):
    return np.corrcoef(x[:, 0], x[:, 1])[0, 1] * np.median(x)

def both(x, y):
    return passive(x, y) * np.corrcoef(y, y[::-1] + x[0, 0])[0, 1]

def checkpointed(x, y):
    return zyg.checkpoint(loop, x, y) + loop(x, y)

def one(x, y):
    return np.corrcoef(x[:, 0], y, rowvar=True)

def changing(x, y):
    before = np.median(np.cumprod(x[:, ::-1], axis=0)) * np.prod(x[:3, 0])
    x *= np.cumprod(y)[:, None]
    return before * np.prod(x[:, 1])

r = np.random.default_rng(4)
x, y = r.normal(size=(6, 2)), r.normal(size=6)
def show(*values):
    for one in values:
        print(np.asarray(one).tobytes().hex())
"""
)
CALLS = [
    "show(*zyg.gradient(loop, x, y))",
    "show(*zyg.grad(both, 1)(x, y)); show(*zyg.grad(passive, 0)(x, y))",
    "show(*zyg.gradient(checkpointed, x, y))",
    "y, back = zyg.pullback(one, x, y); show(y, *back(y), *back(y * 2.0), *back(y))",
    "show(*zyg.gradient(changing, x.copy(), y)); y, back = zyg.pullback(changing, x, y); x[:] = 1.0; show(y, *back(1.0), *back(1.0))",
    "show(zyg.hvp(passive, x, y, x * 0.5, argnums=0)); show(*zyg.gradient(passive, x, y)[:1])",
    "show(zyg.jacobian(one, x, y, argnums=1)); show(*zyg.jvp(loop, (x, y), (x, y)))",
]


@each_in_long_turn
@pytest.mark.parametrize("call", CALLS)
def test_halves_of_adjoints(tmp_path, call):
    place = tmp_path / "cache"
    everything = HALVES + f"{call}\nprint(*found)"
    lines(HALVES + "zyg.gradient(loop, x, y)", place)
    *expected, _ = lines(everything, tmp_path / "another")
    *second, _ = lines(everything, place)
    *third, names = lines(everything, place)
    assert expected == second == third
    assert {*names.split()} & {"middles", "normalised", "unweighted_covariances", "running_products"} or "hvp" in call


@each_in_long_turn
def test_all_that_a_program_lacks_is_there_the_next_time(tmp_path):
    """Of several functions the adjoint by other parameters, and for arrays that change afterwards."""
    place = tmp_path / "cache"
    counted = """
from zyg import pipeline
compile, times = pipeline._compile, []
pipeline._compile = lambda *args: times.append(1) or compile(*args)
def several(x, y):
    return both(x, y) * np.linalg.lstsq(x, y, rcond=None)[0][0] * np.interp(x[0, 0], np.arange(2.0), y[:2])
"""
    lines(HALVES + counted + "zyg.gradient(several, x, y)", place)
    for call, least in (("zyg.grad(several, 0)(x, y)", 1), ("zyg.pullback(several, x, y)[1](1.0)", 2)):
        lines(HALVES + counted + call, place)
        assert lines(HALVES + counted + call + "\nprint(len(times))", place) == [str(least)]


USED = """
from zyg import pipeline
compile, times = pipeline._compile, []
pipeline._compile = lambda *args: times.append(1) or compile(*args)
def values(x, y):
    counts, edges = np.histogram(x[:, 0], bins=3, weights=y)
    return np.cumsum(np.sort(y)), x[np.triu_indices(len(x), -3, 2)], counts, edges
def used(x, y):
    return sum([np.sum(v ** 3) for v in values(x, y)])
def unused(x, y):
    c, g, counts, edges = values(x, y)
    return np.sum(x * x) * y[0]
def weighed(x, y):
    return np.sum(values(x, y)[2] ** 2)
def raising(x, y):
    q = np.quantile(y, y[0])
    return np.sum(x * x)
"""


@each_in_long_turn
def test_derivatives_go_elsewhere(tmp_path):
    """What is not differentiated in one program is in another; nobody waits for code that is not wanted."""
    place, another = tmp_path / "cache", tmp_path / "another"
    for first, then in (("unused", "used"), ("weighed", "used"), ("used", "unused"), ("used", "weighed")):
        call = HALVES + USED + f"show(*filter(np.any, zyg.gradient({then}, x, y)))\nprint(*found)\nprint(len(times))"
        lines(HALVES + USED + f"zyg.gradient({first}, x, y)", place / first)
        expected = lines(call, another)[:-2]
        assert lines(call, place / first)[:-2] == expected
        *again, names, count = lines(call, place / first)
        assert again == expected and count == "1"
        wanted = {"places_in_triangle", "least_and_largest", "equal_steps", "weighed_in_bins"}
        assert wanted <= {*names.split()}


@each_in_long_turn
def test_what_is_not_wanted_raises_all_the_same(tmp_path):
    call = (
        HALVES
        + USED
        + "y[0] = {}\ntry:\n    show(*zyg.gradient(raising, x, y))\nexcept ValueError as e:\n    print(e)\n"
    )
    lines(HALVES + "zyg.gradient(lambda x, y: np.sum(np.quantile(x[:, 0], y)), x, 0.5)", tmp_path)
    for value in (0.5, 1.5, 1.5):
        text = lines(call.format(value) + "print(*found)", tmp_path)
        assert ("range [0, 1]" in text[0]) == (value > 1.0) and "quantiles_of_rows" in text[-1]


@each_in_long_turn
def test_what_is_ready_with_rules_of_users_has_them(tmp_path):
    rule = "@zyg.adjoint(np.sqrt)\ndef rule(x):\n    return np.sqrt(x), lambda d: (0.0 * d,)\n"
    call = "show(*zyg.gradient(passive, x, y)[:1]); print(*found)"
    lines(HALVES + "zyg.gradient(passive, x, y)", tmp_path / "cache")
    *expected, _ = lines(HALVES + rule + call, tmp_path / "another")
    *found, names = lines(HALVES + rule + call, tmp_path / "cache")
    assert found == expected and not names


@each_in_long_turn
def test_errors_in_halves_are_those_of_the_program(tmp_path):
    code = (
        ERRORS + "print(caught(zyg.grad(lambda x, q: np.sum(np.quantile(x, q))), np.arange(3.0), 1.5))\nprint(*found)"
    )
    good = "zyg.gradient(lambda x, q: np.sum(np.quantile(x, q)), np.arange(3.0), 0.5)"
    lines(PREAMBLE + good, tmp_path / "cache")
    *expected, _ = lines(code, tmp_path / "another")
    *found, names = lines(code, tmp_path / "cache")
    assert found[:2] + found[3:] == expected[:2] + expected[3:] and "quantiles_of_rows" in names


@each_in_long_turn
def test_entries_that_are_damaged_or_gone_are_made_again(tmp_path):
    place = tmp_path / "cache"
    *expected, _ = lines(GRADIENTS, place)
    for entry in sorted(place.iterdir())[::2]:
        entry.write_bytes(entry.read_bytes()[:100])
    assert lines(GRADIENTS, place)[:-1] == expected
    for entry in sorted(place.iterdir())[1::2]:
        entry.unlink()
    assert lines(GRADIENTS, place)[:-1] == expected


def middle(x):
    return np.median(x) + np.sum(np.sort(x)[:2])


@pytest.fixture
def found(monkeypatch):
    """The functions that are found ready, in this process too."""
    names = []
    find = readymade.find

    def finding(e, f, *rest):
        result = find(e, f, *rest)
        if result is not None:
            names.append(f.name)
        return result

    monkeypatch.setattr(readymade, "find", finding)
    return names


@each_in_long_turn
def test_who_looks_at_a_program_sees_all_of_it(found):
    x = np.array([3.0, 1.0, 2.0])
    typed, assembly = str(zyg.code_typed(zyg.grad(middle), x)), str(zyg.code_llvm(zyg.grad(middle), x))
    assert not found and " = readymade " not in typed and "zyg_library" not in assembly


@each_in_turn
def test_source_that_changed_meanwhile_is_not_trusted(monkeypatch):
    monkeypatch.setattr(zyg, "_imported_at", 0.0)
    assert circumstances.source.__wrapped__() is None  # (not that which is remembered)


@each_in_turn
def test_source_that_was_replaced_by_older_files_is_not_trusted(monkeypatch, tmp_path):
    source = tmp_path / "source.py"
    source.write_text("")
    os.utime(source, (0, 0))
    monkeypatch.setattr(circumstances, "ROOT", tmp_path)
    assert circumstances.source.__wrapped__() is None  # (not that which is remembered)


@each_in_turn
def test_a_shape_with_anything_of_this_process_has_no_name():
    assert readymade._plain((("number", False, None), ("known", (bool, True)))) == (
        ("number", False, None),
        ("known", ("bool", True)),
    )
    for shape in (("function", 1, 2), ("known", object()), ("number", False, frozenset({int}))):
        with pytest.raises(readymade._NotPlain):
            readymade._plain((shape,))


def test_an_entry_is_data(tmp_path, monkeypatch):
    monkeypatch.setenv("ZYG_CACHE_DIR", str(tmp_path))
    cache.store("entry", b"no marshal at all")
    assert readymade._whole("entry") is None
