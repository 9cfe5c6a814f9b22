"""What reads and writes text runs as it is, unless a number has been put into it, or code of the user's."""

from __future__ import annotations

import configparser
import csv
import io
import shlex

import pytest

import zyg
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn

TABLE = "time,temp,weight\n0,20.5,1.0\n5,25.0,2.0\n10,30.5\n"


def rows_by_name(x):
    total = 0.0
    for row in csv.DictReader(io.StringIO(TABLE)):
        if row["weight"] is not None:
            total += float(row["temp"]) * x ** float(row["weight"])
    return total


def rows_of_lines(x):
    reader = csv.reader(TABLE.splitlines())
    names = next(reader)
    return sum(float(row[1]) * x for row in reader) * len(names) * reader.line_num


def rows_at_once(x):
    rows = list(csv.DictReader(TABLE.splitlines(), restval="3"))
    return sum(float(row["weight"]) * x * x for row in rows)


def numbers_without_quotes(x):
    return sum(a * x for row in csv.reader(["1,2.5", "3,4"], quoting=csv.QUOTE_NONNUMERIC) for a in row)


def rest_is_a_number(x):
    return sum(float(row["temp"]) * float(row["weight"]) for row in csv.DictReader(io.StringIO(TABLE), restval=x))


def rest_is_a_number_later(x):
    reader = csv.DictReader(io.StringIO(TABLE))
    total = 0.0
    for row in reader:
        total += float(row["weight"]) * x
        reader.restval = x * x
    return total


def lines_by_a_generator(x):
    seen = []

    def lines():
        for line in TABLE.splitlines():
            seen.append(x)
            yield line

    total = sum(float(row["temp"]) for row in csv.DictReader(lines()))
    return total * x + sum(seen)


def lines_by_a_generator_in_c(x):
    seen = []

    def lines():
        for line in TABLE.splitlines():
            seen.append(x * x)
            yield line

    count = 0
    for row in csv.reader(lines()):
        count += len(row)
    return count * x + sum(seen)


class Derived(csv.DictReader):
    """It gives more than text."""

    scale = 1.0

    def __next__(self):
        row = super().__next__()
        row["scaled"] = float(row["temp"]) * self.scale
        return row


def derived_class(x):
    reader = Derived(io.StringIO(TABLE))
    reader.scale = x
    return sum(row["scaled"] for row in reader) * x


class Sheet:
    """It is written to."""

    def __init__(self, scale):
        self.scale = scale
        self.total = 0.0

    def write(self, text):
        self.total += len(text) * self.scale
        return self.total


def written_to_an_object(x):
    sheet = Sheet(x)
    csv.writer(sheet).writerow(["a", 1])
    writer = csv.DictWriter(sheet, ["a", "b"])
    writer.writeheader()
    return sheet.total * x


def written_as_text(x):
    out = io.StringIO()
    writer = csv.writer(out)
    written = writer.writerow(["a", 2.5, 1])
    writer.writerows([["b", 1], ("c", None)])
    csv.DictWriter(out, ["a", "b"]).writerow({"a": 1, "b": "text"})
    return written * x + len(out.getvalue()) * x * x


class Cell:
    """Its text is asked for."""

    def __init__(self, value):
        self.value = value
        self.asked = 0.0

    def __str__(self):
        self.asked += self.value
        return "cell"


def cells_that_are_asked(x):
    cell = Cell(x)
    csv.writer(io.StringIO()).writerow([cell, 1])
    csv.writer(io.StringIO()).writerows([[cell], ["a"]])
    return cell.asked * x


def text_as_a_file(x):
    out = io.StringIO("1.5\n2\n")
    first = float(out.readline())
    out.seek(0, 2)
    with out:
        out.write("3\n")
        print(4, "b", file=out)
        out.writelines(["5\n", "6\n"])
        return (first + len(out.getvalue()) + out.tell()) * x


def lines_of_text(x):
    return sum(float(line) * x for line in io.StringIO("1.5\n2\n"))


def settings(x):
    parser = configparser.ConfigParser()
    parser.read_string("[a]\nrate = 1.5\ncount=2\n[b]\nrate = ${a}\n")
    return parser.getfloat("a", "rate") * x ** float(parser["a"]["count"]) + parser.getfloat("c", "d", fallback=x)


def numbers_in_settings(x):
    parser = configparser.RawConfigParser()
    parser.add_section("a")
    parser.set("a", "rate", x * x)
    return parser.get("a", "rate", raw=True) * 2.0


def settings_converted_by_the_program(x):
    parser = configparser.ConfigParser(converters={"scaled": lambda text: float(text) * x})
    parser.read_string("[a]\nrate = 1.5\n")
    return parser.getscaled("a", "rate") * x


def words(x):
    return len(shlex.join(["a b", "c"])) * x + len(shlex.split("a 'b c' d")) * x * x


CASES = [
    *(rows_by_name, rows_of_lines, rows_at_once, numbers_without_quotes, rest_is_a_number, rest_is_a_number_later),
    *(lines_by_a_generator, lines_by_a_generator_in_c, derived_class, written_to_an_object, written_as_text),
    *(cells_that_are_asked, text_as_a_file, lines_of_text, settings, numbers_in_settings, words),
    settings_converted_by_the_program,
]


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_derivatives(f):
    y, back = pullback(f, (1.5,))
    assert y == f(1.5)
    assert back(1.0)[0] == pytest.approx(differences.derivative(f, 1.5), rel=1e-6)


@each_in_long_turn
@pytest.mark.filterwarnings("ignore::zyg.errors.FallbackWarning")
@pytest.mark.parametrize("f", [f for f in CASES[:9] if "generator" not in f.__name__], ids=lambda f: f.__name__)
def test_second_derivatives(f):
    second = pullback(lambda x: zyg.gradient(f, x)[0], (1.5,))[1](1.0)[0]
    slope = differences.derivative(lambda x: pullback(f, (x,))[1](1.0)[0], 1.5)
    assert (second or 0.0) == pytest.approx(slope, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("lines", [[1.0], ["a", 2]], ids=str)
def test_lines_that_are_no_text(lines):
    def f(x):
        return x * len(list(csv.reader(lines)))

    with pytest.raises(csv.Error) as ours:
        pullback(f, (2.0,))
    with pytest.raises(csv.Error) as cpython:
        f(2.0)
    assert str(ours.value) == str(cpython.value)


def test_the_first_of_two_texts():
    def f(x):
        total, d = 0.0, {"a": x, "b": x * x}
        for u, v in (("a", "b"), ("b", "a"), ("a", "a")):
            total += d[min(u, v)] * d[max(u, v)] * len(max(u, v))
        try:
            total += max("a", x)
        except TypeError as error:
            total += len(str(error)) * x
        return total

    y, back = pullback(f, (0.7,))
    assert y == f(0.7)
    assert back(1.0)[0] == pytest.approx(differences.derivative(f, 0.7), rel=1e-8)
