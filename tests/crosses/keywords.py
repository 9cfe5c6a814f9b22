"""Arguments in all orders: kinds of callables x by position, by keyword, spread x the order in which keywords stand."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import operator
import types
import typing
from collections import namedtuple
from collections.abc import Iterator
from typing import Any


def plain(a: Any, b: Any = 2.0, c: Any = 3.0) -> Any:
    return a * a * b * c**3


def by_keyword_only(a: Any, *, b: Any = 2.0, c: Any = 3.0) -> Any:
    return a * a * b * c**3


def positional(a: Any, b: Any = 2.0, /, c: Any = 3.0) -> Any:
    return a * a * b * c**3


def of_any(*args: Any, **kwargs: Any) -> Any:
    named = dict(zip("abc", args, strict=False)) | kwargs
    return named["a"] ** 2 * named.get("b", 2.0) * named.get("c", 3.0) ** 3


def rest(a: Any, **kwargs: Any) -> Any:
    return a * a * kwargs.get("b", 2.0) * kwargs.get("c", 3.0) ** 3


def generated(a: Any, b: Any = 2.0, c: Any = 3.0) -> Iterator[Any]:
    yield a * a * b
    yield c**3


def recursive(a: Any, b: Any = 2.0, c: Any = 3.0, n: int = 2) -> Any:
    return a * a * b * c**3 if n == 0 else recursive(c=c, n=n - 1, b=b, a=a)


@functools.wraps(plain)
def wrapped(*args: Any, **kwargs: Any) -> Any:
    return plain(*args, **kwargs)


class Base:
    def __init__(self, a: Any, b: Any = 2.0, c: Any = 3.0):
        self.a, self.b, self.c = a, b, c

    def method(self, a: Any, b: Any = 2.0, c: Any = 3.0) -> Any:
        return self.a * a * a * b * c**3

    def __call__(self, a: Any, b: Any = 2.0, c: Any = 3.0) -> Any:
        return self.a * a * a * b * c**3

    @classmethod
    def of_class(cls, a: Any, b: Any = 2.0, c: Any = 3.0) -> Any:
        return a * a * b * c**3

    @staticmethod
    def static(a: Any, b: Any = 2.0, c: Any = 3.0) -> Any:
        return a * a * b * c**3

    @property
    def given(self) -> Any:
        return lambda a, b=2.0, c=3.0: self.a * a * a * b * c**3

    @functools.lru_cache  # noqa: B019
    def cached(self, a: Any, b: Any = 2.0, c: Any = 3.0) -> Any:
        return a * a * b * c**3

    fixed = functools.partialmethod(method)


class Derived(Base):
    def __init__(self, c: Any, b: Any, a: Any):
        super().__init__(b=b, c=c, a=a)

    def method(self, a: Any, b: Any = 2.0, c: Any = 3.0) -> Any:
        return super().method(c=c, a=a, b=b)


class MadeByNew:
    def __new__(cls, a: Any, b: Any = 2.0, c: Any = 3.0) -> Any:
        made = super().__new__(cls)
        made.__dict__.update(c=c, b=b, a=a)
        return made


class Failure(Exception):
    def __init__(self, a: Any, b: Any = 2.0, c: Any = 3.0):
        super().__init__(a)
        self.a, self.b, self.c = a, b, c


@dataclasses.dataclass
class Data:
    a: Any
    b: Any = 2.0
    c: Any = 3.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class ByName:
    a: Any
    b: Any = 2.0
    c: Any = 3.0


class Typed(typing.NamedTuple):
    a: Any
    b: Any = 2.0
    c: Any = 3.0


Named = namedtuple("Named", "a b c", defaults=[2.0, 3.0])


def value(o: Any) -> Any:
    return o.a**2 * o.b * o.c**3


KNOWN = {
    "plain": plain, "by_keyword_only": by_keyword_only, "positional": positional, "of_any": of_any, "rest": rest, "generated": generated, "recursive": recursive, "wrapped": wrapped,
    "Base": Base, "Derived": Derived, "MadeByNew": MadeByNew, "Failure": Failure, "Data": Data, "ByName": ByName, "Typed": Typed, "Named": Named, "value": value,
    "cached": functools.lru_cache(plain), "of_partial": functools.partial(plain, c=5.0), "functools": functools, "operator": operator, "dataclasses": dataclasses, "types": types,
}  # fmt: skip
CALLS = (
    *(f"{f}(ARGS)" for f in "plain by_keyword_only positional of_any rest recursive wrapped cached of_partial Base.of_class Base.static".split()),
    *(f"value({f}(ARGS))" for f in "Base MadeByNew Failure Data ByName Typed Named types.SimpleNamespace".split()), "value(Derived(ARGS))", "value(dataclasses.replace(Data(x, 1.5, x), ARGS))", "value(Named(x, 1.5, x)._replace(ARGS))",
    *(f"Base(1.5 * x).{f}(ARGS)" for f in "method of_class static given fixed".split()), "Base(1.5 * x)(ARGS)", "Derived(1.0, x, x).method(ARGS)", "Base.method(Base(x), ARGS)", "Base(1.5).cached(ARGS)",
    "functools.partial(plain, ARGS)()", "functools.partial(Base(x).method, ARGS)()", "operator.methodcaller('method', ARGS)(Base(x))", "(lambda a, b=2.0, c=3.0: a * a * b * c**3)(ARGS)", "(lambda a, b=2.0, c=3.0: a * b * c**3 * x)(ARGS)",
    "sum(generated(ARGS))", "dict(ARGS)['a'] * x", "(lambda f: f(ARGS))(Base(x).method)", "next(iter(map(lambda v: plain(ARGS), [x])))", "functools.reduce(lambda t, v: t + plain(ARGS), [x, 2.0], x)", "max([x, 2.0], key=lambda v: plain(ARGS))",
    "[plain(ARGS) for v in (1, 2)][1]", "operator.call(plain, ARGS)", "plain(ARGS) if x > 0 else plain(x)", "getattr(Base(x), 'method')(ARGS)", "types.MethodType(Base.method, Base(x))(ARGS)", "plain(a=plain(ARGS), b=x)",
)  # fmt: skip
GIVEN = {"a": "x", "b": "x * 2.0", "c": "x + 1.0"}


def arguments() -> Iterator[str]:
    for names in ("abc", "ab", "ac"):
        for count in range(len(names) + 1 if names != "ac" else 2):
            first = [GIVEN[n] for n in names[:count]]
            for order in itertools.permutations(names[count:]):
                yield ", ".join([*first, *(f"{n}={GIVEN[n]}" for n in order)])
                if order:
                    yield ", ".join([*first, "**{" + ", ".join(f"'{n}': {GIVEN[n]}" for n in order) + "}"])
                    yield ", ".join(
                        [
                            *(["*[" + ", ".join(first) + "]"] if first else []),
                            f"{order[0]}={GIVEN[order[0]]}",
                            "**{" + ", ".join(f"'{n}': {GIVEN[n]}" for n in order[1:]) + "}",
                        ]
                    )


def programs(seed: int) -> Iterator[str]:
    return itertools.islice(_all(), seed, None)


def _all() -> Iterator[str]:
    for args, call in itertools.product(arguments(), CALLS):
        yield "return " + call.replace("ARGS", args)
