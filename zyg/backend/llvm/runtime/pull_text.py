"""Lines of the text about small arrays that stand for several of LLVM's: what is read and written by its place. (`pulls` says what for.)

%n = field i32, %x, $ARRAY_NDIM     what an object has at an offset
%n = at i64, %shape, %axis          an element of a vector
%b = item %back, 3                  an item of a tuple (borrowed)
put %b, %back, 3                    the same, written (the reference is taken over)
%views = slot $VIEWS                what an instance of the class of shadows has, by the offsets in %words
role p                              where %sizes, %steps, %places and %values are about one of the five
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

from .pull_rules import LOOPS, ROLES

_LINES: dict[str, Callable[..., str]] = {
    r"(%[\w.]+) = field (\w+), (\S+), (\S+)": lambda n, value, type, base, offset: (
        f"  %at{n} = getelementptr i8, ptr {base}, i64 {offset}\n  {value} = load {type}, ptr %at{n}"
    ),
    r"(%[\w.]+) = at (\w+), (\S+), (\S+)": lambda n, value, type, base, index: (
        f"  %at{n} = getelementptr {type}, ptr {base}, i64 {index}\n  {value} = load {type}, ptr %at{n}"
    ),
    r"(%[\w.]+) = item (\S+), (\S+)": lambda n, value, tuple, index: (
        f"{_item(n, tuple, index)}\n  {value} = load ptr, ptr %at{n}"
    ),
    r"put (\S+), (\S+), (\S+)": lambda n, value, tuple, index: (
        f"{_item(n, tuple, index)}\n  store ptr {value}, ptr %at{n}"
    ),
    r"(%[\w.]+) = slot (\S+)": lambda n, value, number: (
        f"  %word{n}.at = getelementptr i64, ptr %words, i64 {number}\n  %word{n} = load i64, ptr %word{n}.at\n"
        f"  %at{n} = getelementptr i8, ptr %shadows, i64 %word{n}\n  {value} = load ptr, ptr %at{n}"
    ),
    r"role (\w)": lambda n, r: "\n".join(
        f"  %{one}_{r} = getelementptr {type}, ptr %{all}, i64 {ROLES.index(r)}"
        for one, all, type in (
            ("sizes", "sizes", f"[{LOOPS} x i64]"), ("steps", "steps", f"[{LOOPS} x i64]"), ("place", "places", "ptr"), ("value", "values", "double"),
        )
    ),
}  # fmt: skip
_ANY = re.compile(r"^  (?:%[\w.]+ = (?:field|at|item|slot)|put|role) .*$", re.MULTILINE)


def _item(n: int, tuple: str, index: str) -> str:
    return f"  %items{n} = getelementptr i8, ptr {tuple}, i64 $TUPLE_ITEMS\n  %at{n} = getelementptr ptr, ptr %items{n}, i64 {index}"


def written(text: str) -> str:
    """The text with these lines written out."""
    numbers = itertools.count()

    def line(match: re.Match[str]) -> str:
        for pattern, write in _LINES.items():
            found = re.fullmatch(f"  {pattern}", match[0])
            if found is not None:
                return write(next(numbers), *found.groups())
        raise AssertionError(match[0])

    return _ANY.sub(line, text)


__all__ = ["written"]
