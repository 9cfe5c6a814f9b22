"""Class methods of builtin classes, methods of numbers that only tell something, and functions of C code that zyg cannot see into, with numbers and
text: called by name, from variables, with keywords, wrongly; with rules that come and go; what they refuse. Against CPython and differences."""

from __future__ import annotations

import binascii
import datetime
import struct
import zlib
from collections import OrderedDict, defaultdict

import pytest

import zyg
from tests.autodiff.against_differences import check, check_second
from tests.turns import each_in_long_turn, each_in_turn
from zyg import rules
from zyg.autodiff.objects.api import pullback

pytestmark = each_in_turn

DAYS = ["2021-01-15", "2021-07-01", "2022-09-30"]


def dates(x):
    total, parse = x, datetime.date.fromisoformat
    for day in DAYS:
        d = datetime.date.fromisoformat(day)
        total += x * (parse(day) - datetime.date.fromordinal(d.toordinal() - 3)).days + d.replace(day=2).day * x
        total += x * datetime.datetime.strptime(day, "%Y-%m-%d").month + d.isocalendar()[1] * x * x
    for wrong in ("2021-13-01", 3):
        try:
            datetime.date.fromisoformat(wrong)
        except (ValueError, TypeError) as error:
            total += len(str(error)) * x
    return total


def keys(x):
    total, make = x, dict.fromkeys
    for k in range(3):
        d = dict.fromkeys("abc", x * k)
        e = make(["a", k, None], [x])
        e["a"].append(x * x)
        o = OrderedDict.fromkeys((1, 2), d["a"])
        f = defaultdict.fromkeys(range(3), x)
        f[1] *= x
        d["b"] = d["a"] * x
        total += sum(d.values()) + sum(e[None]) + o[2] * x + sum(f.values()) + len(dict.fromkeys(()))
    return total


def numbers(x):
    total = x
    for cls, args in ((int, (b"ab", "big")), (bool, (b"\1", "little"))):
        total += cls.from_bytes(*args) * x
    for k in range(3):
        total += int.from_bytes(b"ab", byteorder="big", signed=bool(k)) * x + float.fromhex("0x1.8p3") * x
        total += bytes.fromhex("a0b0")[k % 2] * x + k.to_bytes(2, "big")[1] * x + (x * k).is_integer() * x
        total += len((2.5 * k).hex()) * x + k.bit_length() * x * x + len("abc".translate(str.maketrans("a", "b"))) * x
    return total


def wrongly(x):
    total = x
    for wrong in (lambda: int.from_bytes(b"ab", "middle"), lambda: float.fromhex("g"), lambda: dict.fromkeys()):
        try:
            wrong()
        except (ValueError, TypeError) as error:
            total += len(str(error)) * x
    return total


def binary(x):
    packed = struct.pack("<3d", 1.0, 2.0, 3.0)
    format, total = struct.Struct("<d"), x
    for k in range(3):
        total += struct.unpack_from("<d", packed, 8 * k)[0] * x + format.unpack_from(packed, 8 * k)[0] * x * x
        total += len(struct.pack("<id", k, x)) * x + len(format.pack(x * k)) * x + zlib.crc32(packed) % 7 * x
    for (v,) in struct.iter_unpack("<d", packed):
        total += v * x * format.size
    a, b, c = struct.unpack("<3d", packed)
    target = bytearray(8)
    format.pack_into(target, 0, 2.5)
    try:
        struct.unpack("<d", b"123")
    except struct.error as error:
        total += len(str(error)) * x
    return total + a * b * c * x + format.unpack(target)[0] * x


FUNCTIONS = [dates, keys, numbers, binary]


@pytest.mark.parametrize("f", [*FUNCTIONS, wrongly])
def test_first_derivatives(f):
    check(f)


@each_in_long_turn
@pytest.mark.parametrize("f", FUNCTIONS)
def test_second_derivatives(f):
    check_second(f)


def test_a_derivative_through_what_cannot_be_seen_into_is_refused():
    for f in (
        lambda n: zlib.adler32(b"abc", n) * 1.0,
        lambda n: binascii.crc32(b"abc", n) * 1.0,
        lambda n: sum(map(zlib.adler32, [b"abc"], [n])),
    ):
        _, back = pullback(f, (3,))
        with pytest.raises(zyg.Unsupported, match=r"(?s)cannot see into.*test_functions_in_c"):
            back(1.0)
        assert back(None) == (None,)


def test_numbers_that_are_read_from_bytes_are_constants():
    """Wherever they stand there: a place is an index."""
    packed = struct.pack("<3d", 1.5, 2.5, 3.5)
    row = struct.Struct("<d")
    for read in (
        lambda n: struct.unpack_from("<d", packed, n)[0],
        lambda n: row.unpack_from(packed, n)[0],
        lambda n: struct.unpack("<d", packed[n : n + 8])[0],
        lambda n: len(struct.pack("<d", n)) * struct.calcsize("<d") / 32,
    ):
        value, back = pullback(lambda x, n: read(n) * x, (2.0, 8))  # noqa: B023
        assert value == 2.0 * read(8)
        assert back(1.0) == (read(8), None)
        assert pullback(lambda n: read(n), (8,))[1](1.0) == (None,)  # noqa: B023
    with pytest.raises(struct.error):
        pullback(lambda x: struct.unpack("<d", packed)[0] * x, (2.0,))


@pytest.mark.parametrize(
    ("target", "call", "args"),
    [
        (int.from_bytes, lambda x: int.from_bytes(b"ab", "big") * x, (b"ab", "big")),
        (datetime.date.fromisoformat, lambda x: datetime.date.fromisoformat("2021-01-15").day * x, ("2021-01-15",)),
    ],
)
def test_rules_that_come_and_go(target, call, args):
    def f(x):
        total = 0.0
        for _ in range(2):
            total += call(x)
        return total

    expected = 2.0 * call(1.0)
    for _ in range(3):
        assert pullback(f, (3.0,))[1](1.0) == (expected,)
    seen = []

    @zyg.adjoint(target)
    def rule(*given):
        seen.append(given)
        return target(*given), lambda d: (None,) * len(given)

    try:
        assert pullback(f, (3.0,))[1](1.0) == (expected,)
        assert seen == [args] * 2
    finally:
        rules.remove(target)
    assert pullback(f, (3.0,))[1](1.0) == (expected,)
    assert len(seen) == 2


def test_names_that_stand_for_something_else_later():
    space = {"date": datetime.date}
    exec("def f(x):\n    return date.fromisoformat('2021-01-15').day * x", space)
    f = space["f"]
    for _ in range(2):
        assert pullback(f, (2.0,))[1](1.0) == (15.0,)

    class Other:
        @classmethod
        def fromisoformat(cls, text):
            return cls

        day = 3.0

    space["date"] = Other
    for _ in range(2):
        assert pullback(f, (2.0,))[1](1.0) == (3.0,)
    space["date"] = datetime.datetime
    assert pullback(f, (2.0,))[1](1.0) == (15.0,)
