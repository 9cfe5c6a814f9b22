"""Lists of lists whose lengths are known when the code runs: rows are in one memory, and their items are set where they are.
What would show the difference to lists of references is refused, never wrong."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import zyg

from ..turns import each_in_turn
from . import tables

pytestmark = each_in_turn


def sums(x: float, n: int, m: int) -> float:
    table = [[0.0] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            table[i][j] = x * (i + 1) + j
    for i in range(1, n):
        for j in range(1, m):
            table[i][j] += table[i - 1][j - 1] * table[i][j - 1]
    return table[n - 1][m - 1]


def built(x: float, n: int, m: int) -> float:
    rows = []
    for _ in range(n):
        row = []
        for j in range(m):
            row.append(x * j)
        rows.append(row)
    total = 0.0
    for row in rows:
        row[0] = x * x
        for v in row:
            total += v
    return total + rows[1][0]


def jagged(x: float, n: int, m: int) -> float:
    rows = [[x] * (i + 1) for i in range(n)]
    for i in range(2, n):
        for j in range(1, i):
            rows[i][j] = rows[i - 1][j - 1] + rows[i - 1][j] * x
    return sum(rows[n - 1])


def filled(rows: list[list[float]], x: float) -> None:
    for i in range(len(rows)):
        for j in range(len(rows[i])):
            rows[i][j] = x * (i + j) + rows[i][j]


def by_a_function(x: float, n: int, m: int) -> float:
    rows = [[1.0] * m for _ in range(n)]
    filled(rows, x)
    filled(rows, x * x)
    return rows[1][1]


def made_again(x: float, n: int, m: int) -> float:
    total = 0.0
    for k in range(3):
        rows = [[x + k] * m for _ in range(n)]
        for i in range(1, n):
            rows[i][0] = rows[i - 1][0] * x
        total += rows[n - 1][0]
    return total


def by_the_row(x: float, n: int, m: int) -> float:
    rows = [[x] * m for _ in range(n)]
    for i in range(n):
        row = rows[i]
        row[i % m] = x * i
        again = rows[i]
        again[0] += row[i % m]
    return sum(map(sum, rows)) + len(rows[0])


def whole_numbers(x: float, n: int, m: int) -> float:
    rows = [[0] * m for _ in range(n)]
    for i in range(n):
        rows[i][i % m] = i + 2
    return x ** rows[1][1]


def row_put_in_twice(x: float, n: int, m: int) -> float:
    rows = []
    row = [0.0] * m
    for _ in range(n):
        rows.append(row)
    rows[0][0] = x
    return rows[1][0]


def repeated(x: float, n: int, m: int) -> float:
    rows = [[0.0] * m] * n
    rows[0][0] = x
    return rows[1][0]


def read_by_its_own_name(x: float, n: int, m: int) -> float:
    rows = []
    row = [0.0] * m
    rows.append(row)
    for _ in range(n):
        rows.append([1.0] * m)
    rows[0][0] = x
    return row[0]


def shallow_copy(x: float, n: int, m: int) -> float:
    rows = [[0.0] * m for _ in range(n)]
    others = rows[:]
    others[0][0] = x
    return rows[0][0]


def kept_while_it_grows(x: float, n: int, m: int) -> float:
    rows = [[1.0] * m for _ in range(n)]
    row = rows[0]
    for _ in range(20):
        rows.append([2.0] * m)
    rows[0][0] = x
    return row[0]


def appended(rows: list[list[float]], row: list[float], x: float) -> None:
    for _ in range(20):
        rows.append([x, x])
    row[0] = x


def kept_by_a_function(x: float, n: int, m: int) -> float:
    rows = [[1.0] * m for _ in range(n)]
    appended(rows, rows[0], x)
    return rows[0][0]


def replaced(x: float, n: int, m: int) -> float:
    rows = [[x] * m for _ in range(n)]
    row = rows[0]
    rows[0] = [2.0] * m
    row[0] = x * x
    rows[1][0] = 3 * x
    return row[0] + rows[0][0] + rows[1][0]


def of_another_type(x: float, n: int, m: int) -> float:
    rows = [[0] * m for _ in range(n)]
    rows[1][1] = x
    return rows[1][1]


def appended_and_read(x: float, n: int, m: int) -> float:
    rows = [[1.0] * 3 for _ in range(n)]
    row = [x] * 3
    if n > m:
        rows.append(row)
        rows[n][0] = 3.0 * x
    rows[0][1] = 2.0
    return row[0]


def put_in_by_a_function(x: float, n: int, m: int) -> float:
    def put(rows: list[list[float]], row: list[float]) -> None:
        rows.append(row)

    rows = [[1.0] * 3 for _ in range(n)]
    row = [x] * 3
    put(rows, row)
    rows[n][0] = 3.0 * x
    return row[0] + row[1]


def identity(x: float, n: int, m: int) -> float:
    rows = [[x] * m for _ in range(n)]
    row = rows[1]
    return x * x if row is rows[1] else x


NATIVE = [
    sums, built, jagged, by_a_function, made_again, by_the_row, whole_numbers, appended_and_read, put_in_by_a_function,
]  # fmt: skip
REFUSED = [
    identity,
    row_put_in_twice, repeated, read_by_its_own_name, shallow_copy, kept_while_it_grows, kept_by_a_function, replaced,
    of_another_type,
]  # fmt: skip


def difference(f: Callable[..., float]) -> float:
    return (f(0.7 + 1e-6, 5, 4) - f(0.7 - 1e-6, 5, 4)) / 2e-6


@pytest.mark.parametrize("f", NATIVE)
def test_rows_are_set_in_place(f: Callable[..., float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", zyg.FallbackWarning)
        value, (d, *_) = zyg.withgradient(f, 0.7, 5, 4)
    assert value == pytest.approx(f(0.7, 5, 4), rel=1e-12)
    assert d == pytest.approx(difference(f), rel=1e-6)


@pytest.mark.parametrize("f", REFUSED)
def test_other_names_of_a_row_are_refused_and_right_through_python(f: Callable[..., float]) -> None:
    with pytest.raises(zyg.Unsupported):
        zyg.jit(f)(0.7, 5, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        value, (d, *_) = zyg.withgradient(f, 0.7, 5, 4)
    assert value == f(0.7, 5, 4)
    assert (d or 0.0) == pytest.approx(difference(f), rel=1e-6)


def test_second_derivatives() -> None:
    second = (sums(0.7 + 1e-4, 5, 4) - 2 * sums(0.7, 5, 4) + sums(0.7 - 1e-4, 5, 4)) / 1e-8
    assert zyg.derivative(zyg.derivative(lambda x: sums(x, 5, 4)))(0.7) == pytest.approx(second, rel=1e-4)


def test_random_programs() -> None:
    counts = tables.search(6, seed=7)
    assert counts["native"] > 2, counts


def test_the_error_names_the_place() -> None:
    with pytest.raises(
        zyg.Unsupported, match=r"(?s)has another name too.*return row\[0\].*make the list of lists first"
    ):
        zyg.jit(kept_while_it_grows)(0.7, 5, 4)


def global_rows(i: int) -> Any:
    ROWS[i][0] = 5.0
    return ROWS[i][0]


ROWS = [[1.0, 2.0] for _ in range(50)]


def test_rows_of_a_global_are_not_written() -> None:
    with pytest.raises(zyg.Unsupported):
        zyg.jit(global_rows)(1)
    assert ROWS[1] == [1.0, 2.0]


# -------------------------------------------------------------------------------------------- arguments and results


def row_sizes(k: int) -> list[list[float]]:
    return [[0.1 * i + 0.01 * j for j in range(i % 4)] for i in range(k)]


def cubes(rows: list[list[float]]) -> float:
    return sum(x**3 for row in rows for x in row)


def product(a: list[list[float]], b: list[list[float]]) -> float:
    n = len(a)
    c = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            for k in range(n):
                c[i][j] += a[i][k] * b[k][j]
    return sum(map(sum, c))


def flat(rows: list[list[float]]) -> list[float]:
    return [x for row in rows for x in row or ()]  # (empty rows: none natively, None through Python)


def natively(f: Callable[..., Any], *args: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error", zyg.FallbackWarning)
        return f(*args)


@pytest.mark.parametrize("k", [9, 60])
def test_the_gradient_by_rows_of_any_number(k: int) -> None:
    rows = row_sizes(k)
    value, (d,) = natively(zyg.withgradient, cubes, rows)
    assert value == pytest.approx(cubes(rows), rel=1e-12)
    assert [len(r) for r in d] == [len(r) for r in rows]
    assert flat(d) == pytest.approx([3 * x * x for row in rows for x in row])


def test_the_gradient_by_two_tables() -> None:
    a = [[0.1 * ((3 * i + 7 * j) % 11) for j in range(12)] for i in range(12)]
    b = [[x + 0.5 for x in row] for row in a]
    d_a, d_b = natively(zyg.gradient, product, a, b)
    assert d_a[3] == pytest.approx([sum(row) for row in b])
    assert d_b[3] == pytest.approx([sum(row[3] for row in a)] * 12)


def test_tables_as_results() -> None:
    table = zyg.jit(lambda rows, w: [[w * x for x in row] for row in rows])
    assert table(row_sizes(20), 2.0) == [[2.0 * x for x in row] for row in row_sizes(20)]
    triangle = zyg.jit(lambda x, n: [[x * j for j in range(i)] for i in range(n)])
    assert triangle(0.5, 4) == [[0.5 * j for j in range(i)] for i in range(4)]
    assert triangle(0.5, 0) == []
    rows = row_sizes(20)
    assert zyg.jit(lambda rows: rows)(rows) is rows
    with pytest.raises(zyg.Unsupported, match="return a copy"):
        zyg.jit(lambda rows: rows[2])(rows)
    with pytest.raises(zyg.Unsupported, match="one of them alone"):
        zyg.jit(lambda n: (rows := [[1.0] * n for _ in range(n)], rows[0]))(3)


def test_rows_of_arguments_are_not_written() -> None:
    def change(rows: list[list[float]]) -> float:
        rows[0][0] = 2.0
        return rows[0][0]

    def other(rows: list[list[float]], row: list[float]) -> float:
        row[0] = 2.0
        return rows[0][0]

    rows = [[1.0] for _ in range(10)]
    for f, args in ((change, (rows,)), (other, (rows, [1.0]))):
        with pytest.raises(zyg.Unsupported):
            zyg.jit(f)(*args)
    assert rows[0] == [1.0]


def test_second_derivatives_by_rows() -> None:
    rows = row_sizes(10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        found = zyg.hvp(cubes, rows, rows)  # the direction is the very object that the point is
    assert flat(found) == pytest.approx([6 * x * x for row in rows for x in row])
    of_gradient = lambda t: sum(a * b for r, s in zip(zyg.gradient(cubes, t)[0], rows) for a, b in zip(r, s))
    assert flat(natively(zyg.gradient, of_gradient, row_sizes(10))[0]) == pytest.approx(flat(found))
