"""Factors of matrices of doubles, and systems solved by them: by loops where there are few rows, else by LAPACK.

`zyg_factor_64`: the LU factorisation of a packed matrix in its place, as LAPACK's getrf makes it of the transposed; whether it is
singular.  `zyg_solve_factored_64`: the rows of x, which are right-hand sides, become inv(a) @ x, or inv(a).T @ x, for the square
matrix a that was factored so.  `zyg_cholesky_64`: the lower triangle of a packed matrix becomes Cholesky's factor, the upper zeros;
whether the matrix is not positive definite.  The same with 32, for a LAPACK with integers of so many bits.

They do what library code did (library/numpy_/triangular.py, which has the same for other numbers), in the same order, operation by
operation.  That was inferred, optimised and written anew in each program, though its machine code was kept on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

SMALL = 8  # rows up to which loops are faster than a call of LAPACK, as in library/numpy_/triangular.py


class _Text:
    """A function that is written statement by statement; its variables are in memory, which the optimiser undoes."""

    def __init__(self, bits: int, parameters: str):
        self.bits = bits
        self.parameters = parameters
        self.slots: list[str] = []
        self.lines: list[str] = []
        self.count = 0

    def new(self, prefix: str = "t") -> str:
        self.count += 1
        return f"{prefix}.{self.count}"

    def add(self, *lines: str) -> None:
        self.lines += lines

    def let(self, text: str) -> str:
        name = f"%{self.new()}"
        self.add(f"{name} = {text}")
        return name

    def slot(self, type: str, value: str | None = None) -> str:
        name = f"%{self.new('slot')}"
        self.slots.append(f"{name} = alloca {type}")
        if value is not None:
            self.add(f"store {type} {value}, ptr {name}")
        return name

    def label(self, name: str) -> None:
        self.add(f"br label %{name}", f"{name}:")

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        then, after = self.new("then"), self.new("after")
        self.add(f"br i1 {condition}, label %{then}, label %{after}", f"{then}:")
        yield
        self.label(after)

    @contextmanager
    def loop(self, start: str, stop: str, down: bool = False) -> Iterator[str]:
        """for i in range(start, stop), or in reversed(range(start, stop))"""
        at = self.slot("i64", start)
        head, body, done = self.new("head"), self.new("body"), self.new("done")
        self.label(head)
        i = self.let(f"load i64, ptr {at}")
        more = self.let(f"icmp slt i64 {i}, {stop}")
        self.add(f"br i1 {more}, label %{body}, label %{done}", f"{body}:")
        self.add(f"store i64 {self.let(f'add i64 {i}, 1')}, ptr {at}")
        if down:
            last = self.let(f"sub i64 {stop}, 1")
            yield self.let(f"sub i64 {last}, {self.let(f'sub i64 {i}, {start}')}")
        else:
            yield i
        self.add(f"br label %{head}", f"{done}:")

    def element(self, matrix: str, row: str, width: str, column: str) -> str:
        """Where an element of a packed matrix is."""
        index = self.let(f"add i64 {self.let(f'mul i64 {row}, {width}')}, {column}")
        return self.let(f"getelementptr double, ptr {matrix}, i64 {index}")

    def get(self, place: str) -> str:
        return self.let(f"load double, ptr {place}")

    def put(self, place: str, value: str) -> None:
        self.add(f"store double {value}, ptr {place}")

    def less(self, place: str, one: str, other: str) -> None:
        """place -= one * other"""
        self.put(place, self.let(f"fsub double {self.get(place)}, {self.let(f'fmul double {one}, {other}')}"))

    def total(self, place: str) -> str:
        """A variable that begins with what is there: a sum that is not in memory while it is made."""
        return self.slot("double", self.get(place))

    def swap(self, one: str, other: str) -> None:
        x, y = self.get(one), self.get(other)
        self.put(one, y)
        self.put(other, x)

    def pivot(self, k: str) -> str:
        """Where the number of the row or column that came to place k is."""
        return self.let(f"getelementptr i{self.bits}, ptr %pivots, i64 {k}")

    def exchanged(self, k: str) -> str:
        """Which one it is."""
        given = self.let(f"load i{self.bits}, ptr {self.pivot(k)}")
        wide = given if self.bits == 64 else self.let(f"sext i{self.bits} {given} to i64")
        return self.let(f"sub i64 {wide}, 1")

    def call(self, name: str, arguments: Sequence[str | tuple[str, str]]) -> str:
        """A call of LAPACK: pointers, and values by their types; what it says of the result, in the last argument."""
        given = []
        for argument in arguments:
            if isinstance(argument, str):
                given.append(f"ptr {argument}")
                continue
            type_, value = argument
            if type_ == "i64" and self.bits < 64:
                type_, value = f"i{self.bits}", self.let(f"trunc i64 {value} to i{self.bits}")
            given.append(f"ptr {self.slot(type_, value)}")
        said = self.slot(f"i{self.bits}", "0")
        self.add(f"call void @blas.d{name}({', '.join([*given, f'ptr {said}'])})")
        return self.let(f"load i{self.bits}, ptr {said}")

    def text(self, name: str, declared: str, result: str) -> str:
        lines = [*self.slots, "br label %begin", "begin:", *self.lines]
        body = "\n".join(line if line.endswith(":") else f"  {line}" for line in lines)
        return f"{declared}\ndefine {result} @{name}({self.parameters}) {{\nentry:\n{body}\n}}\n"


def _declared(name: str, arguments: int) -> str:
    return f"declare void @blas.d{name}({', '.join(['ptr'] * arguments)})"


def factor(bits: int) -> str:
    t = _Text(bits, "i64 %n, i64 %m, ptr noalias %lu, ptr noalias %pivots")
    fewer = t.let("icmp slt i64 %n, %m")
    least = t.let(f"select i1 {fewer}, i64 %n, i64 %m")
    with t.when(t.let(f"icmp sgt i64 {least}, {SMALL}")):
        said = t.call("getrf", [("i64", "%m"), ("i64", "%n"), "%lu", ("i64", "%m"), "%pivots"])
        none = t.let(f"icmp sgt i{bits} {said}, 0")
        t.add(f"ret i64 {t.let(f'zext i1 {none} to i64')}")
        t.add(f"{t.new('never')}:")
    singular = t.slot("i64", "0")
    with t.loop("0", least) as k:
        after = t.let(f"add i64 {k}, 1")
        best = t.slot("i64", k)
        with t.loop(after, "%m") as j:
            size = t.let(f"call double @llvm.fabs.f64(double {t.get(t.element('%lu', k, '%m', j))})")
            so_far = t.element("%lu", k, "%m", t.let(f"load i64, ptr {best}"))
            largest = t.let(f"call double @llvm.fabs.f64(double {t.get(so_far)})")
            with t.when(t.let(f"fcmp ogt double {size}, {largest}")):
                t.add(f"store i64 {j}, ptr {best}")
        found = t.let(f"load i64, ptr {best}")
        one_more = t.let(f"add i64 {found}, 1")
        number = one_more if bits == 64 else t.let(f"trunc i64 {one_more} to i{bits}")
        t.add(f"store i{bits} {number}, ptr {t.pivot(k)}")
        none = t.let(f"fcmp oeq double {t.get(t.element('%lu', k, '%m', found))}, 0.0")
        with t.when(none):
            t.add(f"store i64 1, ptr {singular}")
        with t.when(t.let(f"xor i1 {none}, true")):
            with t.when(t.let(f"icmp ne i64 {found}, {k}")), t.loop("0", "%n") as i:
                t.swap(t.element("%lu", i, "%m", k), t.element("%lu", i, "%m", found))
            scale = t.let(f"fdiv double 1.0, {t.get(t.element('%lu', k, '%m', k))}")
            with t.loop(after, "%m") as j:
                place = t.element("%lu", k, "%m", j)
                t.put(place, t.let(f"fmul double {t.get(place)}, {scale}"))
            with t.loop(after, "%n") as i:
                head = t.get(t.element("%lu", i, "%m", k))
                with t.loop(after, "%m") as j:
                    t.less(t.element("%lu", i, "%m", j), head, t.get(t.element("%lu", k, "%m", j)))
    t.add(f"ret i64 {t.let(f'load i64, ptr {singular}')}")
    return t.text(f"zyg_factor_{bits}", f"{_declared('getrf', 6)}\ndeclare double @llvm.fabs.f64(double)", "i64")


def solve_factored(bits: int) -> str:
    """The matrix is (p @ l @ u).T, with l[j, k] at lu[k, j] below its unit diagonal, u[k, j] at lu[j, k]."""
    t = _Text(bits, "i64 %count, i64 %n, ptr noalias %lu, ptr noalias %pivots, ptr noalias %x, i64 %transposed")
    turned = t.let("icmp ne i64 %transposed, 0")

    def x(r: str, k: str) -> str:
        return t.element("%x", r, "%n", k)

    def lu(j: str, k: str) -> str:
        return t.get(t.element("%lu", j, "%n", k))

    with t.when(t.let(f"icmp sgt i64 %n, {SMALL}")):
        letter = t.let(f"select i1 {turned}, i8 {ord('N')}, i8 {ord('T')}")
        t.call("getrs", [("i8", letter), ("i64", "%n"), ("i64", "%count"), "%lu", ("i64", "%n"), "%pivots", "%x",
                         ("i64", "%n")])  # fmt: skip
        t.add("ret void", f"{t.new('never')}:")
    with t.loop("0", "%count") as r:
        with t.when(turned):
            with t.loop("0", "%n") as k:
                t.swap(x(r, k), x(r, t.exchanged(k)))
            with t.loop("0", "%n") as k:
                after, head = t.let(f"add i64 {k}, 1"), t.get(x(r, k))
                with t.loop(after, "%n") as j:
                    t.less(x(r, j), lu(k, j), head)
            with t.loop("0", "%n", down=True) as k:
                after, total = t.let(f"add i64 {k}, 1"), t.total(x(r, k))
                with t.loop(after, "%n") as j:
                    t.less(total, lu(j, k), t.get(x(r, j)))
                t.put(x(r, k), t.let(f"fdiv double {t.get(total)}, {lu(k, k)}"))
        with t.when(t.let(f"xor i1 {turned}, true")):
            with t.loop("0", "%n") as k:
                total = t.total(x(r, k))
                with t.loop("0", k) as j:
                    t.less(total, lu(k, j), t.get(x(r, j)))
                t.put(x(r, k), t.let(f"fdiv double {t.get(total)}, {lu(k, k)}"))
            with t.loop("0", "%n", down=True) as k:
                after, total = t.let(f"add i64 {k}, 1"), t.total(x(r, k))
                with t.loop(after, "%n") as j:
                    t.less(total, lu(k, j), t.get(x(r, j)))
                t.put(x(r, k), t.get(total))
            with t.loop("0", "%n", down=True) as k:
                t.swap(x(r, k), x(r, t.exchanged(k)))
    t.add("ret void")
    return t.text(f"zyg_solve_factored_{bits}", _declared("getrs", 9), "void")


def cholesky(bits: int) -> str:
    t = _Text(bits, "i64 %n, ptr %a")
    large = t.let(f"icmp sgt i64 %n, {SMALL}")
    with t.when(large):
        said = t.call("potrf", [("i8", str(ord("U"))), ("i64", "%n"), "%a", ("i64", "%n")])
        with t.when(t.let(f"icmp ne i{bits} {said}, 0")):
            t.add("ret i64 1", f"{t.new('never')}:")
    with t.when(t.let(f"xor i1 {large}, true")), t.loop("0", "%n") as i:
        with t.loop("0", i) as j:
            place = t.element("%a", i, "%n", j)
            total = t.total(place)
            with t.loop("0", j) as l:
                t.less(total, t.get(t.element("%a", i, "%n", l)), t.get(t.element("%a", j, "%n", l)))
            t.put(place, t.let(f"fdiv double {t.get(total)}, {t.get(t.element('%a', j, '%n', j))}"))
        place = t.element("%a", i, "%n", i)
        total = t.total(place)
        with t.loop("0", i) as l:
            of_row = t.get(t.element("%a", i, "%n", l))
            t.less(total, of_row, of_row)
        with t.when(t.let(f"fcmp ole double {t.get(total)}, 0.0")):  # a nan goes on, as in OpenBLAS
            t.add("ret i64 1", f"{t.new('never')}:")
        t.put(place, t.let(f"call double @llvm.sqrt.f64(double {t.get(total)})"))
    with t.loop("0", "%n") as i:
        after = t.let(f"add i64 {i}, 1")
        with t.loop(after, "%n") as j:
            t.put(t.element("%a", i, "%n", j), "0.0")
    t.add("ret i64 0")
    return t.text(f"zyg_cholesky_{bits}", f"{_declared('potrf', 5)}\ndeclare double @llvm.sqrt.f64(double)", "i64")


TEXTS: dict[str, Callable[[], str]] = {
    f"zyg_{name}_{bits}": lambda make=make, bits=bits: make(bits)
    for name, make in (("factor", factor), ("solve_factored", solve_factored), ("cholesky", cholesky))
    for bits in (32, 64)
}
