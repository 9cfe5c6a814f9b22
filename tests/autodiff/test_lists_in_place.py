"""What lists do in place and what is made of them: reversed, sorted, items deleted and inserted, parts set by lists, tuples, the list itself and
iterators; parts with steps, sums of a list with itself, copies; also of derived classes, and with what is no index. Against differences."""

from __future__ import annotations

import pytest

from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_long_turn, each_in_turn

pytestmark = each_in_turn


def weighed(items, x):
    return sum((k + 1) * v * v for k, v in enumerate(items)) + (items[0] * x if items else 0.0)


def reversed_in_place(x):
    a = [x, 2.0 * x, 3.0]
    a.reverse()
    total = weighed(a, x)
    a.append(x * x)
    a.reverse()
    a[1] *= x
    a.reverse()
    return total + weighed(a, x) + weighed([[x, 1.0], [x * x]][::-1][0], x)


def deleted(x):
    a, d, total = [x, x * x, 3.0, x, 2.0 * x], {"a": x, "b": x * x, 3: x}, 0.0
    for k in (0, -1, 1):
        del a[k]
        total += weighed(a, x)
        a[0] = a[0] * x
    del d["a"], d[3]
    d["a"] = x * x * d["b"]
    total += d["a"]
    for key in (7, -7):
        try:
            del a[key]
        except IndexError:
            total += x
    try:
        del d["z"]
    except KeyError:
        total += x
    return total + weighed(a, x)


def parts_set(x):
    total = 0.0
    for k, (start, stop) in enumerate(((0, 2), (1, 1), (-2, None), (None, None), (3, 1), (5, 9))):
        a, b = [x, x * x, 3.0, 2.0 * x], [x, k * x, 1.0]
        a[start:stop] = b
        b[0] = 7.0 * x
        total += weighed(a, x) + weighed(b, x)
        a[start:stop] = (x, x * x)
        total += weighed(a, x)
        a[start:stop] = []
        a[1:1] = a
        total += weighed(a, x)
        a[:1] = (v * x for v in b)
        a[::2] = [x * v for v in a[::2]]
        total += weighed(a, x)
    return total


def parts_read(x):
    a, total = [x, x * x, 3.0, 2.0 * x, 1.0], 0.0
    for key in (
        slice(None, None, -1),
        slice(3, None, -1),
        slice(None, 1, -1),
        slice(-1, -4, -2),
        slice(0, 4, 2),
        slice(4, 1),
    ):
        b = a[key]
        b.append(x)
        b[0] *= x
        total += weighed(b, x) + weighed(a, x)
        a[1] = a[1] * 1.1
    return total


def sums(x):
    a = [x, 2.0]
    b = a + a
    b[1] = x * x
    single, nothing = [x], []
    c = b + single + a[::-1] + b.copy()
    a[0] = 5.0
    c.extend(c)
    c.extend([x])
    c += a
    return weighed(b, x) + weighed(c, x) + weighed(a + nothing, x) + weighed(nothing + a, x)


def sorted_in_place(x):
    a, total = [3.0 * x, x, 2, x * x], 0.0
    for reverse in (False, True):
        a.sort(reverse=reverse)
        total += weighed(a, x)
        a[1] += 3.0 * x
    b = [x, "a"]
    try:
        b.sort()
    except TypeError:
        total += b[0] * x
    return total


class Index:
    def __init__(self, k):
        self.k = k

    def __index__(self):
        return self.k


class Derived(list):
    def reverse(self):
        super().reverse()
        self.append(1.0)

    def __delitem__(self, key):
        super().__delitem__(key)
        self.insert(0, 2.0)


def of_other_kinds(x):
    a = [x, x * x, 3.0, 2.0 * x]
    a[Index(1) : Index(2)] = [x, x]
    total = weighed(a[Index(0) : 3 : Index(1)], x) + weighed(a[:: Index(-1)], x)
    del a[Index(0)]
    d = Derived(a)
    d.reverse()
    del d[1]
    d[0:2] = (x, 4.0)
    return total + weighed(a, x) + weighed(d, x) + weighed(d[::-1], x)


FUNCTIONS = [reversed_in_place, deleted, parts_set, parts_read, sums, sorted_in_place, of_other_kinds]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_first_derivatives(f):
    check(f)


@each_in_long_turn
@pytest.mark.parametrize("f", FUNCTIONS)
def test_second_derivatives(f):
    check_second(f)
