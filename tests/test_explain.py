"""zyg.explain: what is native, what is not, and why; what is on the tape."""

import math

import numpy as np

import zyg
from zyg.__main__ import main


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
