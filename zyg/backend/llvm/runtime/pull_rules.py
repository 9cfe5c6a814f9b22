"""What is added to cotangents of small arrays: rules, as the innermost of nested loops. (`pulls` says what for.)"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

import numpy as np

ROLES = ("y", "p", "q", "a", "b")
LOOPS = 4
ALIGNED = -128  # in the place of a map: the last axis goes with the last loop, and so on
Y_IS_NUMBER, P_IS_BOOLS = 1, 2  # flags
# Where a plan has what: which rule, how many steps at most, flags, how many Nones come before the cotangents of numbers, maps.
PLAN = "qqII20b"
# What a record has: its kind, by which loop it calculates, how many steps at most, and for arrays, for an array and a number, for a
# number and an array: what is kept as p, and as q (of KEPT), whether a and b are wanted.
ARITHMETIC, PRODUCT, FUNCTION, POWER = 0, 1, 2, 3  # kinds
KEPT = ("", "y", "a", "b")
SLOTS = ("VIEWS", "KEEPING", "REFUSALS", "MEMORY")  # of the class of shadows, in the order in which offsets come
CASE = "4B"  # of each of these


class Formula:
    """Straight-line code of a rule."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def do(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def mul(self, a: str, b: str) -> str:
        return self.do(f"fmul double {a}, {b}")

    def div(self, a: str, b: str) -> str:
        return self.do(f"fdiv double {a}, {b}")

    def sub(self, a: str, b: str) -> str:
        return self.do(f"fsub double {a}, {b}")

    def add(self, a: str, b: str) -> str:
        return self.do(f"fadd double {a}, {b}")

    def neg(self, a: str) -> str:
        return self.do(f"fneg double {a}")

    def call(self, name: str, *xs: str) -> str:
        return self.do(f"call double @{name}({', '.join(f'double {x}' for x in xs)})")

    def where(self, condition: str, a: str, b: str) -> str:
        return self.do(f"select i1 {condition}, double {a}, double {b}")

    def is_zero(self, a: str) -> str:
        return self.do(f"fcmp oeq double {a}, 0.0")

    def strong(self, c: str, d: str) -> str:
        """Nothing times an infinite slope is nothing."""
        nan = self.do(f"fcmp uno double {c}, 0.0")
        return self.where(self.do(f"and i1 {nan}, {self.is_zero(d)}"), "0.0", c)

    def times(self, d: str, slope: str) -> str:
        return self.strong(self.mul(d, slope), d)


Parts = tuple[str, str | None]
Rule = Callable[[Formula, str, str, str], Parts]


def _quotient(f: Formula, d: str, y: str, b: str) -> Parts:
    first = f.strong(f.div(d, b), d)
    return first, f.strong(f.mul(f.neg(first), y), d)


def _absolute(f: Formula, d: str, x: str, q: str) -> Parts:
    """(The slope of a nan is nan.)"""
    sign = f.call("llvm.copysign.f64", "1.0", x)
    slope = f.where(f.do(f"fcmp uno double {x}, 0.0"), x, sign)
    return f.where(f.is_zero(x), "0.0", f.mul(d, slope)), None


def _power(f: Formula, d: str, x: str, n: str) -> Parts:
    """(NumPy takes a root where the exponent is 1/2, of minus infinity, too.)"""
    m = f.sub(n, "1.0")
    is_root = f.do(f"fcmp oeq double {m}, 0.5")
    power = f.where(is_root, f.call("llvm.sqrt.f64", x), f.call("zyg_pow", x, m))
    return f.times(d, f.mul(n, power)), None


# By name: what is added to the cotangents of a and b, by that of y, and what was kept.
RULES: dict[str, Rule] = {
    "sum": lambda f, d, p, q: (d, d),
    "difference": lambda f, d, p, q: (d, f.neg(d)),
    "product": lambda f, d, p, q: (f.times(d, q), f.times(d, p)),
    "quotient": _quotient,
    "over": lambda f, d, p, q: (f.div(d, q), None),
    "negative": lambda f, d, p, q: (f.neg(d), None),
    "square": lambda f, d, p, q: (f.times(d, f.mul("2.0", p)), None),
    "power": _power,
    "absolute": _absolute,
    "reciprocal": lambda f, d, p, q: (f.times(d, f.neg(f.mul(p, p))), None),
    "sqrt": lambda f, d, p, q: (f.times(d, f.div("0.5", p)), None),
    "exp": lambda f, d, p, q: (f.times(d, p), None),
    "log": lambda f, d, p, q: (f.times(d, f.div("1.0", p)), None),
    "log1p": lambda f, d, p, q: (f.times(d, f.div("1.0", f.add("1.0", p))), None),
    "sin": lambda f, d, p, q: (f.times(d, f.call("cos", p)), None),
    "cos": lambda f, d, p, q: (f.times(d, f.neg(f.call("sin", p))), None),
    "tanh": lambda f, d, p, q: (f.times(d, f.sub("1.0", f.mul(p, p))), None),
    "picked": lambda f, d, p, q: (f.where(f.do(f"fcmp oeq double {p}, {q}"), d, "0.0"), None),  # where an index is a place
    "masked": lambda f, d, p, q: (f.mul(d, p), None),
    "first": lambda f, d, p, q: (f.where(f.is_zero(p), "0.0", d), f.where(f.is_zero(p), d, "0.0")),
    "second": lambda f, d, p, q: (f.where(f.is_zero(p), d, "0.0"), f.where(f.is_zero(p), "0.0", d)),
}  # fmt: skip
MASKS = frozenset({"masked", "first", "second"})  # of which p is an array of bools


def _loop(name: str, rule: Rule) -> str:
    """The innermost loop of a rule: `n` steps."""
    f = Formula()
    first, second = rule(f, "%d", "%p", "%q")
    roles = [r for r in ROLES if (r != "b" or second is not None)]
    lines = [f"define internal void @rule.{name}(i64 %n, ptr %places, ptr %steps) {{", "entry:"]
    for r in roles:
        k = ROLES.index(r)
        lines += [
            f"  %{r}.place = getelementptr ptr, ptr %places, i64 {k}",
            f"  %{r}.0 = load ptr, ptr %{r}.place",
            f"  %{r}.step.at = getelementptr [{LOOPS} x i64], ptr %steps, i64 {k}, i64 {LOOPS - 1}",
            f"  %{r}.step = load i64, ptr %{r}.step.at",
        ]
    lines += ["  br label %each", "each:", "  %k = phi i64 [ 0, %entry ], [ %k.next, %each ]"]
    lines += [f"  %{r}.at = phi ptr [ %{r}.0, %entry ], [ %{r}.next, %each ]" for r in roles]
    lines.append("  %d = load double, ptr %y.at")
    if name in MASKS:
        lines += ["  %p.byte = load i8, ptr %p.at", "  %p = uitofp i8 %p.byte to double"]
    else:
        lines.append("  %p = load double, ptr %p.at")
    lines += ["  %q = load double, ptr %q.at", *f.lines]
    for r, c in (("a", first), ("b", second)):
        if c is not None:
            lines += [
                f"  %{r}.old = load double, ptr %{r}.at",
                f"  %{r}.new = fadd double %{r}.old, {c}",
                f"  store double %{r}.new, ptr %{r}.at",
            ]
    lines += [f"  %{r}.next = getelementptr i8, ptr %{r}.at, i64 %{r}.step" for r in roles]
    lines += [
        "  %k.next = add i64 %k, 1",
        "  %more = icmp slt i64 %k.next, %n",
        "  br i1 %more, label %each, label %done",
        "done:",
        "  ret void",
        "}",
    ]
    return "\n".join(lines) + "\n"


# Arithmetic, by name: an instruction, and whether its result may be too small to be exact.
ARITHMETICS = {"add": ("fadd", False), "sub": ("fsub", False), "mul": ("fmul", True), "truediv": ("fdiv", True)}


def _arithmetic(name: str, instruction: str, may_vanish: bool) -> str:
    """The innermost loop of an operator: y of p and q. In the place of a comes a number that is no longer 0 where NumPy might give a
    warning."""
    lines = [f"define internal void @arithmetic.{name}(i64 %n, ptr %places, ptr %steps) {{", "entry:"]
    for r in ("y", "p", "q"):
        k = ROLES.index(r)
        lines += [
            f"  %{r}.place = getelementptr ptr, ptr %places, i64 {k}",
            f"  %{r}.0 = load ptr, ptr %{r}.place",
            f"  %{r}.step.at = getelementptr [{LOOPS} x i64], ptr %steps, i64 {k}, i64 {LOOPS - 1}",
            f"  %{r}.step = load i64, ptr %{r}.step.at",
        ]
    lines += [
        f"  %a.place = getelementptr ptr, ptr %places, i64 {ROLES.index('a')}",
        "  %a.0 = load ptr, ptr %a.place",
        "  %doubt.0 = load double, ptr %a.0",
        "  br label %each",
        "each:",
        "  %k = phi i64 [ 0, %entry ], [ %k.next, %each ]",
        "  %doubt = phi double [ %doubt.0, %entry ], [ %doubt.new, %each ]",
    ]
    lines += [f"  %{r}.at = phi ptr [ %{r}.0, %entry ], [ %{r}.next, %each ]" for r in ("y", "p", "q")]
    lines += [
        "  %p = load double, ptr %p.at",
        "  %q = load double, ptr %q.at",
        f"  %y = {instruction} double %p, %q",
        "  store double %y, ptr %y.at",
        "  %nothing = fmul double %y, 0.0",  # or nan
    ]
    if may_vanish:
        lines += [
            "  %size = call double @llvm.fabs.f64(double %y)",
            "  %tiny = fcmp olt double %size, 0x0010000000000000",
            "  %p.some = fcmp one double %p, 0.0",
            "  %q.some = fcmp one double %q, 0.0",
            "  %both = and i1 %p.some, %q.some",
            "  %vanished = and i1 %tiny, %both",
            "  %more.doubt = select i1 %vanished, double 1.0, double %nothing",
        ]
    lines += [
        f"  %doubt.new = fadd double %doubt, {'%more.doubt' if may_vanish else '%nothing'}",
        *[f"  %{r}.next = getelementptr i8, ptr %{r}.at, i64 %{r}.step" for r in ("y", "p", "q")],
        "  %k.next = add i64 %k, 1",
        "  %more = icmp slt i64 %k.next, %n",
        "  br i1 %more, label %each, label %done",
        "done:",
        "  store double %doubt.new, ptr %a.0",
        "  ret void",
        "}",
    ]
    return "\n".join(lines) + "\n"


def extents() -> str:
    """How often each loop goes round: as often as all that go along it say, of which those with one element stay where they are."""
    lines = []
    for loop in range(LOOPS):
        before = "1"
        for k, r in enumerate(ROLES):
            n = f"%size.{r}{loop}"
            lines += [
                f"  {n}.at = getelementptr [{LOOPS} x i64], ptr %sizes, i64 {k}, i64 {loop}",
                f"  {n} = load i64, ptr {n}.at",
                f"  {n}.one = icmp eq i64 {n}, 1",
                f"  {n}.step.at = getelementptr [{LOOPS} x i64], ptr %steps, i64 {k}, i64 {loop}",
                f"  {n}.step = load i64, ptr {n}.step.at",
                f"  {n}.step.new = select i1 {n}.one, i64 0, i64 {n}.step",
                f"  store i64 {n}.step.new, ptr {n}.step.at",
                f"  {n}.n = select i1 {n}.one, i64 {before}, i64 {n}",
                f"  {n}.first = icmp eq i64 {before}, 1",
                f"  {n}.same = icmp eq i64 {before}, {n}.n",
                f"  {n}.fits = or i1 {n}.first, {n}.same",
            ]
            before = f"{n}.n"
        lines += [f"  %n{loop} = add i64 {before}, 0"]
    fits = [f"%size.{r}{loop}.fits" for loop in range(LOOPS) for r in ROLES]
    total = "true"
    for k, name in enumerate(fits):
        lines.append(f"  %fits{k} = and i1 {total}, {name}")
        total = f"%fits{k}"
    return "\n".join(lines) + f"\n  %fit = and i1 {total}, true\n"


def moved() -> str:
    """Where the five are in the innermost loop."""
    lines = []
    for k, r in enumerate(ROLES):
        lines += [f"  %{r}.base.at = getelementptr ptr, ptr %places, i64 {k}", f"  %{r}.0 = load ptr, ptr %{r}.base.at"]
        for loop in range(LOOPS - 1):
            lines += [
                f"  %{r}.s{loop}.at = getelementptr [{LOOPS} x i64], ptr %steps, i64 {k}, i64 {loop}",
                f"  %{r}.s{loop} = load i64, ptr %{r}.s{loop}.at",
                f"  %{r}.m{loop} = mul i64 %{r}.s{loop}, %i{loop}",
                f"  %{r}.{loop + 1} = getelementptr i8, ptr %{r}.{loop}, i64 %{r}.m{loop}",
            ]
        lines += [
            f"  %{r}.here = getelementptr ptr, ptr %here, i64 {k}",
            f"  store ptr %{r}.{LOOPS - 1}, ptr %{r}.here",
        ]
    return "\n".join(lines) + "\n"


def names() -> dict[str, int]:
    """What the text of native code calls these constants."""
    fields = re.findall(r"\d*\w", PLAN)
    places = {n: struct.calcsize("".join(fields[:k])) for k, n in enumerate(("RULE", "LIMIT", "FLAGS", "SKIP", "MAPS"))}
    return {
        "LOOPS": LOOPS,
        "ALIGNED": ALIGNED,
        "Y_IS_NUMBER": Y_IS_NUMBER,
        "P_IS_BOOLS": P_IS_BOOLS,
        **{slot: k for k, slot in enumerate(SLOTS)},
        "PRODUCT": PRODUCT,
        "FUNCTION": FUNCTION,
        "POWER": POWER,
        "FLOAT64": np.dtype(float).num,
        "CASE_BYTES": struct.calcsize(CASE),
        **{f"PLAN_{n}": at for n, at in places.items()},
        **{f"MAP_{r}": LOOPS * k for k, r in enumerate(ROLES)},
        **{f"KEPT_{n}": k for k, n in enumerate(KEPT) if n},
        **{f"ARITHMETIC_{n}": k for k, n in enumerate(ARITHMETICS)},
    }


def text() -> str:
    """All of them, in tables."""
    tables = [
        f"@{name} = internal constant [{len(names)} x ptr] [{', '.join(f'ptr @{kind}.{n}' for n in names)}]\n"
        for name, kind, names in (("arithmetics", "arithmetic", ARITHMETICS), ("rules", "rule", RULES))
    ]
    loops = [_loop(name, rule) for name, rule in RULES.items()]
    return "".join([*tables, *loops, *(_arithmetic(name, *how) for name, how in ARITHMETICS.items())])
