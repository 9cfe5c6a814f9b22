"""zyg.explain: what is native, what is not, and why; what is on the tape."""

import copy
import math
import warnings
from typing import Any

import numpy as np
import pytest

import zyg
from benchmarks import applications, everyday
from zyg import fallback, pipeline
from zyg.__main__ import main

from .turns import by_one_python_a_day, each_in_turn


def helper(x):
    return math.sin(x) * x


def loops(x):
    for _ in range(3):
        x = math.sin(x)
    return x


def lookup(table, key):
    return table[key]


def mixed(x, table):
    print("not shown")
    return helper(x) * lookup(table, "a") * loops(x)


def power(x, n):
    r = 1.0
    for _ in range(n):
        r = r * x
    return r


def guarded(x):
    try:
        return helper(x)
    except ValueError:
        return 0.0


def refused(x):
    return str(helper(x))


def test_native(capsys):
    found = zyg.explain(power, 2.0, 10)
    assert found.native and found
    assert found.tape is not None
    assert found.tape.peak == 80
    (saved,) = found.tape.saved
    assert (saved.count, saved.bytes, saved.source) == (10, 80, "r = r * x")
    text = str(found)
    assert "power(x: f64, n: i64)" in text
    assert "derivative: native" in text
    assert "80 bytes" in text
    assert repr(found) == text


def test_callees_of_a_function_that_goes_through_python(capsys):
    table = {("a", 1): 0, "a": 2.0}
    found = zyg.explain(mixed, 1.0, table)
    assert capsys.readouterr().out == ""
    assert not found.native
    how = {"helper": "through Python, inlined", "lookup": "through Python", "loops": "native"}
    assert {piece.name: piece.how for piece in found.callees} == how
    text = str(found)
    assert "argument 'table'" in text
    assert "native          loops(x: f64)" in text
    assert "through Python, inlined helper(x: f64)" in text
    assert "through Python  lookup(" in text


def test_the_reason_has_line_construct_and_remedy():
    found = zyg.explain(guarded, 1.0)
    assert not found.native
    assert found.root.refusal is not None
    text = str(found)
    assert "try:" in text
    assert "^^^" in text
    assert "instead: " in text


def test_a_jitted_function_is_refused_instead():
    found = zyg.explain(zyg.jit(mixed), 1.0, {("a", 1): 0, "a": 2.0})
    assert "refused" in str(found)
    assert found.strict


def test_arguments_are_left_alone_and_errors_are_noted():
    def overwrites(a):
        a[0] = 0.0
        return a[0] / 0.0 if len(a) > 2 else math.log(-a[1] * a[1])

    a = np.array([1.0, 2.0])
    text = str(zyg.explain(overwrites, a))
    assert a.tolist() == [1.0, 2.0]
    assert "ValueError" in text


def test_not_run():
    def noisy(x):
        raise AssertionError("this should not run")

    assert zyg.explain(noisy, 1.0, run=False).tape is None


def test_star_arguments_and_keywords():
    def inner(*xs, scale=1.0, **more):
        return sum(xs) * scale * more["c"]

    def outer(x, table):
        return inner(x, 2.0, scale=3.0, c=4.0) + table["a"]

    found = zyg.explain(outer, 1.0, {("a", 1): 0, "a": 2.0})
    (piece,) = [p for p in found.callees if p.name.endswith("inner")]
    assert [name for name, _ in piece.parameters] == ["xs[0]", "xs[1]", "scale", "c"]
    assert zyg.explain(power, 2.0, n=3).root.signature == "power(x: f64, n: i64)"


def test_html():
    html = zyg.explain(mixed, 1.0, {("a", 1): 0, "a": 2.0})._repr_html_()
    assert html.count("<table>") == 1
    assert "helper(x: f64)" in html
    assert zyg.explain(power, 2.0, 10)._repr_html_().count("<table>") == 2


def test_from_the_shell(capsys, tmp_path):
    path = tmp_path / "square.py"
    path.write_text("def square(x):\n    return x * x\n")
    assert main(["explain", f"{path}:square", "2.0"]) == 0
    assert "derivative: native" in capsys.readouterr().out
    assert main(["explain", f"{path}:cube", "2.0"]) == 1
    assert "zyg explain" in capsys.readouterr().err


class Spring:
    def __init__(self, k):
        self.k = k

    def force(self, x):
        return -self.k * x


def test_methods_are_looked_at_as_functions():
    found = zyg.explain(Spring(2.0).force, 1.5)
    assert found.native
    assert found.root.signature == "Spring.force(self: Spring(k: f64), x: f64)"
    assert "mul" in zyg.code_adjoint(Spring(2.0).force, 1.5)
    assert all(piece.name == "helper" for piece in zyg.explain(zyg.grad(helper), 1.0).callees)


def test_callees_are_the_users_own():
    """Named tuples of the compiler were shown where a derivative inside of Python code compiled something."""

    def slope(a, x):
        try:
            return zyg.derivative(lambda t: math.sin(a * t))(x)
        except KeyError:
            return 0.0

    names = [piece.name.rpartition(".")[2] for piece in zyg.explain(slope, 1.3, 0.4).callees]
    assert names in ([], ["<lambda>"])


# ---------------------------------------------------------------------- what it says and what happens are one


def hazard(k, rows):
    total = 0.0
    for row in rows:
        total -= (row["months"] / 15.0) ** k
    return total


def hazard_of_objects(k, rows):
    total = 0.0
    for row in rows:
        total -= (row.k / 15.0) ** k
    return total


def falls_back(function: Any, args: tuple[Any, ...]) -> str | None:
    """The reason that the warning gives, if a gradient gives one."""
    fallback._warned.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        zyg.gradient(function, *copy.deepcopy(args))
    texts = [str(w.message) for w in caught if issubclass(w.category, zyg.FallbackWarning)]
    return texts[0].partition("The reason: ")[2] if texts else None


@by_one_python_a_day
@pytest.mark.parametrize("count", [5, 40, 41, 60])
def test_long_lists_of_records_and_objects(count):
    for function, rows in (
        (hazard, [{"months": 5.0 + n} for n in range(count)]),
        (hazard_of_objects, [Spring(5.0 + n) for n in range(count)]),
    ):
        found = zyg.explain(function, 1.3, rows)
        assert found.native is (falls_back(function, (1.3, rows)) is None) is True
        assert found.tape is not None and ("list[" in found.root.signature) is (count > 8)


PROGRAMS = {**everyday.PROGRAMS, **applications.PROGRAMS}
del PROGRAMS["dict comprehensions"]  # which takes 13 s to compile twice, and verify


@each_in_turn
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_verdict_is_what_happens(name):
    function, args = PROGRAMS[name]
    found = zyg.explain(function, *copy.deepcopy(args))
    said = None if found.native else str(found.root.refusal)
    assert said == falls_back(function, args)
    assert not any("raises" in note for note in found.notes)


def scaled(x, n, table):
    return x * n * table["a"]


def test_it_asks_as_the_gradient_does_where_integers_have_to_be_constants():
    def total(a, axis, n):
        return np.sum(np.sum(a, axis=axis)) * n

    args = (np.ones((2, 3)), 1, 3)
    found = zyg.explain(total, *args)
    assert found.native and falls_back(total, args) is None
    assert found.root.signature.endswith("axis: i64, n: i64)")


def test_what_has_been_refused_is_refused():
    """A gradient does not try again what it has refused for arguments of the kind."""
    good, bad = {"a": 2.0, "b": 1}, {"a": 2.0, 3: 1}
    assert zyg.explain(scaled, 2.0, 3, good).native
    reason = falls_back(scaled, (2.0, 3, bad))
    assert reason is not None and "keys that are not strings" in reason
    text = str(zyg.explain(scaled, 2.0, 3, good))
    assert "derivative: through Python" in text and "a call before this one" in text and reason.splitlines()[0] in text


def test_a_call_that_leaves_native_code():
    def big(n):
        return 2.0 * n if n * n > 5 else 3.0 * n

    found = zyg.explain(big, 2**40)
    assert found.native and any("through Python all the same" in note for note in found.notes)
    assert "integer" in str(falls_back(big, (2**40,)))


def test_it_compiles_once(monkeypatch):
    monkeypatch.setattr(zyg.rules, "users_rules", lambda: False)  # (other tests leave some)
    zyg.explain(loops, 1.0)
    with pipeline.timings() as times:
        zyg.explain(loops, 1.0)
    assert [stage for _, stage, _ in times if stage == "typed"] == ["typed"]


def test_deep_structures_do_not_end_the_run():
    def length(node, x):
        return x if node is None else length(node[1], x + node[0])

    def outer(x):
        node = None
        for n in range(400):
            node = (float(n), node)
        return length(node, x) * len(str(x))

    assert zyg.explain(outer, 1.0).notes == ()
