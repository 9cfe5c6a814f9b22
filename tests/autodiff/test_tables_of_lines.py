"""`csv.reader` and `csv.DictReader` of lines that a generator makes, or an object with `__iter__` and `__next__`: what is done there with numbers
comes between what is done with the rows. Rows of several lines, of numbers, errors of the format. Against differences."""

from __future__ import annotations

import csv

import pytest

from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn

LINES = ['1,"two\r\n', 'lines",3\r\n', "4,5,6\r\n", "\r\n", '7,"a ""b""",9']


def growing(held, x, lines=LINES):
    for line in lines:
        held[0] = held[0] * x
        yield line
    held[0] += x


class Lines:
    def __init__(self, x):
        self.x, self.count, self.total = x, 0, x

    def __iter__(self):
        return self

    def __next__(self):
        if self.count == len(LINES):
            raise StopIteration
        self.count += 1
        self.total *= self.x
        return LINES[self.count - 1]


class Places:
    def __init__(self, x):
        self.total = x

    def __getitem__(self, k):
        self.total *= 1.1 + k * self.total * 0.01
        return LINES[k]


def rows(x):
    held, total = [x], 0.0
    reader = csv.reader(growing(held, x))
    for row in reader:
        total += held[0] * len(row) + sum(map(len, row)) * x + reader.line_num * held[0] ** 2
        held[0] = held[0] * 0.9
    return total + held[0] ** 2 + len(list(reader)) * x


def one_by_one(x):
    held = [x]
    reader = csv.reader(growing(held, x), delimiter=",", quotechar='"')
    total = float(next(reader)[0]) * held[0]
    held[0] = held[0] * 2.0
    total += float(next(reader)[1]) * held[0]
    held[0] = 1.5 * x
    last = list(reader)[-1]
    total += float(last[2]) * held[0]
    try:
        next(reader)
    except StopIteration:
        total += held[0]
    return total + (next(reader, None) is None) * x


def by_names(x):
    held, total = [x], 0.0
    for row in csv.DictReader(growing(held, x, ["a,b\n", "1,2\n", "\n", "3,4\n", "5\n"]), restval="7"):
        total += held[0] * float(row["a"]) + float(row["b"]) * x
        held[0] += total * 0.1
    return total + held[0]


def of_objects(x):
    lines, places, total = Lines(x), Places(x), 0.0
    for row in csv.reader(lines):
        total += lines.total * len(row)
        lines.total += 0.1 * x
    for row in csv.reader(places):
        total += places.total * len(row)
    return total + lines.total * places.total


def numbers(x):
    held, total = [x], 0.0
    lines = ['1.5,"a"\n', '2,"b"\n']
    for a, label in csv.reader(growing(held, x, lines), quoting=csv.QUOTE_NONNUMERIC):
        total += a * held[0] * len(label)
    return total


def wrong(x):
    held, total = [x], 0.0
    for lines in (["1,2", 3], ["1,2\n", None, "4"], ['"a', 'b"c'], ["1\0\n"]):
        try:
            for row in csv.reader(growing(held, x, lines), strict=True):
                total += held[0] * len(row)
        except csv.Error as error:
            total += len(str(error)) * held[0]
    for options in ({"delimiter": ""}, {"quoting": 77}):
        try:
            csv.reader(growing(held, x), **options)
        except TypeError as error:
            total += len(str(error)) * x
    return total


FUNCTIONS = [rows, one_by_one, by_names, of_objects, numbers, wrong]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_first_derivatives(f):
    check(f)


@each_in_long_turn
@pytest.mark.parametrize("f", FUNCTIONS)
def test_second_derivatives(f):
    check_second(f)
