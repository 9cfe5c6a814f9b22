"""The rows of the feature list that come from the founding documents, with their numbers: row N is test_row_NN_..."""

import cmath
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import zyg

from .turns import each_in_turn


def line(x):
    return 5 * x + 3


def plane(x, y):
    return 2 * x + 3 * y


def five_sin_log(x):
    return 5 * math.sin(math.log(x))


def power(x, n):
    r = 1
    while n > 0:
        n -= 1
        r *= x
    return r


def instructions(text: str) -> list[str]:
    """The instructions in the body of the LLVM IR that is shown."""
    bodies = re.findall(r"^define[^\n]*\{\n(.*?)^\}", str(text), re.MULTILINE | re.DOTALL)
    lines = [re.sub(r";.*", "", row).strip() for body in bodies for row in body.splitlines()]
    return [row for row in lines if row and not row.endswith(":")]


def test_row_01_derivative_of_a_line():
    f = lambda x: 5 * x + 3
    assert zyg.jit(f)(10) == f(10) == 53
    assert zyg.derivative(f)(10) == 5


def test_row_02_derivative_of_a_line_is_a_constant_in_llvm():
    (only,) = instructions(zyg.code_llvm(zyg.derivative(line), 10))
    assert re.fullmatch(r"ret double (5\.0+e\+00|5\.0|0x4014000000000000)", only), only
    native = [row.strip() for row in str(zyg.code_native(zyg.derivative(line), 10)).splitlines()]
    code = [row for row in native if re.match(r"[a-z]", row) and not row.endswith(":")]
    assert re.match(r"ret", code[-1])
    assert len(code) == 2, code  # a move and a return


def test_row_03_the_derivative_is_an_ordinary_function():
    d = zyg.derivative(five_sin_log)
    expected = lambda x: 5 * math.cos(math.log(x)) / x
    assert d(3.0) == pytest.approx(expected(3.0), rel=1e-15)
    assert "log" in str(zyg.code_llvm(d, 3.0))
    assert zyg.jit(d)(3.0) == d(3.0)
    assert list(map(d, [1.0, 2.0])) == [d(1.0), d(2.0)]

    @zyg.jit
    def twice(f, x):
        return f(x) + f(x)

    assert twice(d, 3.0) == 2 * d(3.0)
    assert zyg.derivative(d)(3.0) == pytest.approx(-(5 * (math.sin(math.log(3)) + math.cos(math.log(3)))) / 9)


def test_row_04_derivative_is_for_one_variable_and_names_gradient():
    with pytest.raises(TypeError, match="gradient"):
        zyg.derivative(plane)
    assert zyg.gradient(plane, 1, 1) == (2.0, 3.0)


def test_row_05_gradient_is_a_tuple():
    assert zyg.gradient(line, 10) == (5.0,)


def mygradient(f, *xs):
    _, back = zyg.pullback(f, *xs)
    return back(1.0)


def test_row_06_gradient_is_pullback_seeded_with_one():
    assert mygradient(math.sin, 0.5) == (0.8775825618903728,)
    assert mygradient(plane, 1, 1) == zyg.gradient(plane, 1, 1)
    assert zyg.jit(mygradient)(math.sin, 0.5) == (0.8775825618903728,)
    assert zyg.jit(mygradient)(plane, 1, 1) == (2.0, 3.0)


def test_row_07_pullback():
    y, back = zyg.pullback(math.sin, 0.5)
    assert y == 0.479425538604203
    assert back(1.0) == (0.8775825618903728,)
    assert back(1.0) == (0.8775825618903728,)
    assert back(2.0) == (2 * 0.8775825618903728,)
    assert back(0.0) == (0.0,)


def dsin(x):
    return math.sin(x), lambda dy: (dy * math.cos(x),)


def test_row_08_a_pullback_by_hand_composes():
    def gradsin(x):
        _, back = dsin(x)
        return back(1)

    assert gradsin(0.5) == (0.8775825618903728,)
    assert zyg.jit(gradsin)(0.5) == (0.8775825618903728,)

    def composed(x):
        y, back = zyg.pullback(line, x)
        z, dback = dsin(y)
        return z, back(dback(1.0)[0])[0]

    expected = (math.sin(5.5), 5 * math.cos(5.5))
    assert composed(0.5) == expected
    assert zyg.jit(composed)(0.5) == expected


def test_row_10_readable_representations():
    assert "five_sin_log" in repr(zyg.jit(five_sin_log))
    assert "five_sin_log" in repr(zyg.derivative(five_sin_log))
    assert "derivative" in repr(zyg.derivative(five_sin_log))
    assert "five_sin_log" in repr(zyg.grad(five_sin_log))
    _, back = zyg.pullback(five_sin_log, 3.0)
    assert "five_sin_log" in repr(back)
    assert "pullback" in repr(back).lower()
    assert " at 0x" not in repr(back)
    assert "func @" in str(zyg.code_ssa(five_sin_log, 3.0))
    assert "func @" in repr(zyg.code_ssa(five_sin_log, 3.0))


def calls(rows: list[str]) -> list[str]:
    return re.findall(r"call [^@\n]*@([\w.]+)", "\n".join(rows))


def test_row_11_llvm_of_the_derivative_is_minimal():
    def arithmetic(rows: list[str]) -> list[str]:
        return sorted(row.split(" = ")[1].split()[0] for row in rows if re.search(r"= f(div|mul|add|sub)\b", row))

    rows = instructions(zyg.code_llvm(zyg.derivative(five_sin_log), 3.0))
    mathematics = [name for name in calls(rows) if "log" in name or "cos" in name or "sin" in name]
    assert sorted(re.sub(r"^llvm\.|\.f64$", "", name) for name in mathematics) == ["cos", "log"]
    assert set(arithmetic(rows)) == {"fdiv", "fmul"}
    exact = zyg.jit(zyg.derivative(five_sin_log), error_model="numpy")
    rows = instructions(zyg.code_llvm(exact, 3.0))
    assert sorted(re.sub(r"^llvm\.|\.f64$", "", name) for name in calls(rows)) == ["cos", "log"]
    assert not [row for row in rows if row.startswith(("br ", "switch ", "store "))]
    assert arithmetic(rows) in (["fdiv", "fmul"], ["fdiv", "fmul", "fmul"])


def test_row_12_higher_derivatives():
    log, sin, cos = math.log, math.sin, math.cos
    d1 = zyg.derivative(five_sin_log)
    d2 = zyg.derivative(d1)
    d3 = zyg.derivative(d2)
    d4 = zyg.derivative(d3)
    x, t = 3.0, log(3.0)
    assert d2(x) == pytest.approx(-(5 * (sin(t) + cos(t))) / x**2, rel=1e-14)
    assert d3(x) == pytest.approx(5 * (3 * sin(t) + cos(t)) / x**3, rel=1e-13)
    assert d4(x) == pytest.approx(-50 * sin(t) / x**4, rel=1e-12)


def test_row_13_power_by_a_while_loop():
    assert zyg.jit(power)(2, 5) == 32
    assert zyg.gradient(power, 2, 5) == (80.0, None)
    assert zyg.derivative(lambda x: power(x, 5))(2) == 80
    assert zyg.derivative(zyg.derivative(lambda x: power(x, 5)))(2.0) == 160


def test_row_14_the_adjoint_of_a_loop_is_a_loop_with_a_stack():
    text = str(zyg.code_adjoint(power, 2.0, 5))
    assert "stack<f64>" in text
    assert len(re.findall(r"\bpush\b", text)) == 1
    assert len(re.findall(r"\bpop\b", text)) == 1
    assert text == str(zyg.code_adjoint(power, 2.0, 50)), "the code does not hang on the trip count"


def test_row_15_control_flow_is_blocks_and_branches():
    text = re.sub(r"#.*", "", str(zyg.code_ssa(power, 2, 5)))
    assert re.search(r"\bbranch %\w+, ", text)
    assert re.search(r"^loop\(%[\w.]+: object, %[\w.]+: object\):", text, re.MULTILINE)
    assigned = re.findall(r"^\s*%([\w.]+)(?:, %[\w.]+)* =", text, re.MULTILINE)
    assert len(assigned) == len(set(assigned)) > 0


@dataclass
class Point:
    x: float
    y: float


def width(p):
    return p.x


def height(p):
    return p.y


def plus(a, b):
    return Point(width(a) + width(b), height(a) + height(b))


def dist(p):
    return math.sqrt(width(p) ** 2 + height(p) ** 2)


def test_row_18_indexing_tuples_attributes_constructors():
    def indexed(a, i):
        pair = (a[i] * a[i + 1], a[0])
        return pair[0] + 2 * pair[1]

    da, di = zyg.gradient(indexed, np.array([2.0, 3.0, 5.0]), 1)
    assert da.tolist() == [2.0, 5.0, 3.0]
    assert di is None
    (dp,) = zyg.gradient(lambda a: a.x, Point(1, 2))
    assert (dp.x, dp.y) == (1.0, None)
    (dp,) = zyg.gradient(dist, Point(1, 2))
    assert (dp.x, dp.y) == pytest.approx((0.4472135954999579, 0.8944271909999159), rel=1e-15)
    assert zyg.gradient(lambda x: dist(plus(Point(x, 1.0), Point(0.5, x))), 1.0)[0] == pytest.approx(
        (1.5 + 2.0) / math.hypot(1.5, 2.0)
    )


def test_row_21_rules_on_getters_and_constructor():
    @dataclass
    class Vec:
        x: float
        y: float

    def first(p):
        return p.x

    def second(p):
        return p.y

    def length(p):
        return math.sqrt(first(p) ** 2 + second(p) ** 2)

    compiled = zyg.grad(length)
    before = compiled(Vec(1, 2))
    assert (before.x, before.y) == pytest.approx((0.4472135954999579, 0.8944271909999159), rel=1e-15)
    through_constructor = zyg.derivative(lambda x: length(Vec(x, 1)))
    assert through_constructor(1) == pytest.approx(0.7071067811865475, rel=1e-15)

    zyg.adjoint(first)(lambda p: (p.x, lambda d: (Vec(d, 0.0),)))
    zyg.adjoint(second)(lambda p: (p.y, lambda d: (Vec(0.0, 10 * d),)))

    (dp,) = zyg.gradient(lambda p: second(p), Vec(1, 2))
    assert (dp.x, dp.y) == (0.0, 10.0)
    after = compiled(Vec(1, 2))  # compiled before the rules: sees them without a refresh
    assert (after.x, after.y) == pytest.approx((0.4472135954999579, 8.944271909999159), rel=1e-15)

    zyg.adjoint(Vec)(lambda a, b: (Vec(a, b), lambda d: (100 * d.x, d.y)))
    assert through_constructor(1) == pytest.approx(70.71067811865475, rel=1e-15)
    assert zyg.gradient(lambda x: length(Vec(x, 1)), 1)[0] == pytest.approx(70.71067811865475, rel=1e-15)


def test_row_22_chaining_pullbacks_by_hand():
    s = lambda x: math.sin(x**2) * 5
    assert zyg.withgradient(s, 4.0) == (-1.4395165833253265, (pytest.approx(-38.30637921293538, rel=1e-15),))
    y1, back1 = zyg.pullback(lambda x: x**2, 4.0)
    y2, back2 = zyg.pullback(lambda x: math.sin(x), y1)
    y3, back3 = zyg.pullback(lambda x: x * 5.0, y2)
    assert y3 == s(4.0)
    assert back3(1.0) == (5.0,)
    assert back2(back3(1.0)[0])[0] == pytest.approx(-4.788297401616923, rel=1e-15)
    assert back1(back2(back3(1.0)[0])[0])[0] == pytest.approx(-38.30637921293538, rel=1e-15)


def fresh_add() -> Callable[[float, float], float]:
    def add(a, b):
        return a + b

    return add


@each_in_turn
def test_row_28_complex_numbers():
    """The adjoint of y = f(x) is multiplication by the conjugate of f'(x), on both sides of compilation."""
    for f, slope in ((cmath.sin, cmath.cos), (cmath.exp, cmath.exp), (lambda z: z * z, lambda z: 2 * z)):
        for z in (0.5 + 0j, 0.3 - 1.2j):
            y, back = zyg.pullback(f, z)
            assert y == f(z)
            for d in (1.0, 1j, 2 - 0.5j):
                assert back(d)[0] == pytest.approx(slope(z).conjugate() * d)
            assert zyg.gradient(lambda z, f=f: f(z).real, z)[0] == pytest.approx(slope(z).conjugate())
            assert zyg.gradient(lambda z, f=f: f(z).imag, z)[0] == pytest.approx(1j * slope(z).conjugate())
    assert zyg.gradient(abs, 3 + 4j) == (0.6 + 0.8j,)
    with pytest.raises(TypeError, match="pullback"):
        zyg.gradient(lambda z: z * z, 1j)


def test_row_28_making_a_complex_number_is_taking_it_apart():
    """The adjoint of Complex(a, b) gives the parts of the cotangent."""
    y, back = zyg.pullback(complex, 1.0, 2.0)
    assert y == 1 + 2j and back(3 - 4j) == (3.0, -4.0)
    assert zyg.gradient(lambda a, b: abs(complex(a, b)), 3.0, 4.0) == (0.6, 0.8)


def test_row_29_rule_of_add_in_a_larger_computation():
    add = fresh_add()

    @zyg.adjoint(add)
    def add_rule(a, b):
        return add(a, b), lambda d: (d, d)

    assert zyg.gradient(add, 1, 2) == (1.0, 1.0)
    y, back = zyg.pullback(add, 1.0, 2.0)
    assert y == 3.0
    assert back(2.5) == (2.5, 2.5)
    da, db = zyg.gradient(lambda a, b: math.sin(add(a, b) * a), 0.3, 0.4)
    assert da == pytest.approx(math.cos(0.21) * (0.7 + 0.3))
    assert db == pytest.approx(math.cos(0.21) * 0.3)


def test_row_30_rule_of_mul():
    def mul(a, b):
        return a * b

    @zyg.adjoint(mul)
    def mul_rule(a, b):
        return mul(a, b), lambda d: (d * b, d * a)

    assert zyg.gradient(mul, 2, 3) == (3.0, 2.0)
    assert zyg.jit(zyg.grad(mul, (0, 1)))(2, 3) == (3.0, 2.0)


def test_row_31_a_rule_computes_its_own_way(capsys):
    add = fresh_add()

    @zyg.adjoint(add)
    def add_rule(a, b):
        total = a + b + 1000.0  # shows which of the two ran
        print("I'll be back!?")
        return total, lambda d: (d * total, d)

    assert add(2, 3) == 5
    assert zyg.jit(lambda a, b: add(a, b))(2, 3) == 5
    assert capsys.readouterr().out == ""
    assert zyg.withgradient(lambda a, b: 2 * add(a, b), 2.0, 3.0) == (2010.0, (2010.0, 2.0))
    assert capsys.readouterr().out == "I'll be back!?\n"


def negative(x):
    return -x


def test_row_34_hook(capsys):
    import operator

    assert zyg.gradient(lambda a, b: zyg.hook(operator.neg, a) * b, 2, 3) == (-3.0, 2.0)
    assert zyg.gradient(lambda a, b: zyg.hook(negative, a) * b, 2, 3) == (-3.0, 2.0)

    def show(d):
        print("d =", d)
        return d

    assert zyg.gradient(lambda a, b: zyg.hook(show, a) * b, 2, 3) == (3.0, 2.0)
    assert capsys.readouterr().out == "d = 3.0\n"
    clip = lambda d: max(-1.0, min(1.0, d))
    assert zyg.gradient(lambda a, b: zyg.hook(clip, a) * b, 2, 3) == (1.0, 2.0)
    assert zyg.jit(lambda a, b: zyg.hook(clip, a) * b)(2, 3) == 6
    assert zyg.gradient(lambda a, b: zyg.showgrad(a) * b, 2.0, 3.0) == (3.0, 2.0)
    assert "3.0" in capsys.readouterr().out


def test_row_35_checkpoint(capsys):
    assert zyg.gradient(lambda x: zyg.checkpoint(math.sin, x), 1) == (0.5403023058681398,)

    def noisy(x):
        print("here")
        return math.sin(x)

    assert zyg.gradient(lambda x: zyg.checkpoint(noisy, x), 1.0) == (0.5403023058681398,)
    assert capsys.readouterr().out == "here\n" * 2
    assert zyg.jit(lambda x: zyg.checkpoint(noisy, x))(1.0) == math.sin(1.0)
    assert capsys.readouterr().out == "here\n"

    def segment(x, n):
        for _ in range(n):
            x = math.sin(x) + 0.1
        return x

    def plain(x):
        for _ in range(4):
            x = segment(x, 5)
        return x

    def checkpointed(x):
        for _ in range(4):
            x = zyg.checkpoint(segment, x, 5)
        return x

    assert zyg.gradient(checkpointed, 0.7)[0] == pytest.approx(zyg.gradient(plain, 0.7)[0], rel=1e-14)


def test_row_36_isderiving_and_nestlevel(capsys):
    def f(x):
        print(zyg.nestlevel(), "levels of nesting", zyg.isderiving())
        return x

    def grad(f, x):
        return zyg.gradient(f, x)[0]

    f(1)
    zyg.jit(f)(1)
    assert capsys.readouterr().out == "0 levels of nesting False\n" * 2
    grad(f, 1)
    assert capsys.readouterr().out == "1 levels of nesting True\n"
    grad(lambda x: x * grad(f, x), 1)
    assert capsys.readouterr().out == "2 levels of nesting True\n"


def test_row_37_gradcheck():
    assert zyg.gradcheck(five_sin_log, 3.0)
    assert zyg.gradcheck(math.sin, 0.5)
    assert zyg.gradcheck(lambda a: a[0] * a[1] + math.exp(a[2]), np.array([1.0, 2.0, 0.5]))
    add = fresh_add()
    zyg.adjoint(add)(lambda a, b: (a + b, lambda d: (d, d)))
    assert zyg.gradcheck(add, 1.0, 2.0)
    wrong = fresh_add()
    zyg.adjoint(wrong)(lambda a, b: (a + b, lambda d: (d, 2 * d)))
    with pytest.raises(zyg.GradcheckError, match="2"):
        zyg.gradcheck(wrong, 1.0, 2.0)


def u(x):
    return math.sin(x)


def v(x):
    return math.exp(x)


@pytest.mark.parametrize(
    ("name", "f", "df"),
    [
        ("x", lambda x: x, lambda x: 1.0),
        ("constant", lambda x: 3.0 + 0 * x, lambda x: 0.0),
        ("-u", lambda x: -u(x), lambda x: -math.cos(x)),
        ("u + v", lambda x: u(x) + v(x), lambda x: math.cos(x) + math.exp(x)),
        ("u v", lambda x: u(x) * v(x), lambda x: v(x) * math.cos(x) + u(x) * math.exp(x)),
        ("u / v", lambda x: u(x) / v(x), lambda x: (v(x) * math.cos(x) - u(x) * math.exp(x)) / v(x) ** 2),
        ("u^n", lambda x: u(x) ** 4, lambda x: 4 * u(x) ** 3 * math.cos(x)),
        ("u(v)", lambda x: u(v(x)), lambda x: math.cos(v(x)) * math.exp(x)),
    ],
    ids=lambda p: p if isinstance(p, str) else "",
)
def test_row_39_table_of_derivatives(name, f, df):
    for x in (0.3, 1.7, -0.6):
        assert zyg.derivative(f)(x) == pytest.approx(df(x), rel=1e-14, abs=1e-15), name


def test_row_40_one_backward_pass_for_many_parameters(capsys):
    def probe(x):
        return x

    def announce(x):
        def back(d):
            print("backward")
            return (d,)

        return x, back

    zyg.adjoint(probe)(announce)

    def f(w):
        total = 0.0
        for i in range(len(w)):
            total += (i + 1) * w[i] * w[i]
        return probe(total)

    w = np.linspace(1.0, 2.0, 1000)
    (dw,) = zyg.gradient(f, w)
    assert capsys.readouterr().out == "backward\n"
    np.testing.assert_allclose(dw, 2 * np.arange(1, 1001) * w, rtol=1e-14)
    many = zyg.gradient(lambda a, b, c, d, e: probe(a * b * c * d * e), 1.0, 2.0, 3.0, 4.0, 5.0)
    assert many == (120.0, 60.0, 40.0, 30.0, 24.0)
    assert capsys.readouterr().out == "backward\n"


def test_every_row_has_a_test():
    files = Path(__file__).parent.rglob("test_*.py")
    rows = {int(n) for file in files for n in re.findall(r"^def test_row_(\d+)_", file.read_text(), re.MULTILINE)}
    assert rows == set(range(1, 41))
