"""What all sections share: how long to measure, and the C programs as built by each compiler."""

from __future__ import annotations

import functools
import importlib.util
import os
import time
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from .. import native

T = TypeVar("T")


def today() -> int:
    """The day whose turn it is; that of the tests of the same run (tests/turns.py), past midnight too."""
    return int(os.environ.get("ZYG_TESTS_DAY") or int(time.time()) // 86400)


@dataclass(frozen=True)
class Settings:
    quick: bool
    rounds: int
    data: Path | None = None  # a copy of ADBench's folder `data`
    day: int = field(default_factory=today)

    @property
    def seconds(self) -> float:
        """The length of one sample."""
        return 0.002 if self.quick else 0.01

    def few(self, cases: Iterable[T], every: int = 20) -> list[T]:
        """The cases; if it has to be quick, one of twenty (of so many), other ones on each day. (The tests check the results of all.)"""
        listed = list(cases)
        every = min(every, len(listed)) if self.quick else 1
        return listed[self.day % every :: every]

    def describe(self) -> str:
        found = ", ".join(Path(path).name for path in native.compilers().values()) or "no C compiler: no ratios to C"
        there = lambda name: "present" if has(name) else "absent"
        return f"C by {found}; Numba {there('numba')}, JAX {there('jax')}; {self.rounds} rounds"


@functools.cache
def builds(contract: bool) -> tuple[native.Programs, ...]:
    """The C programs by every compiler."""
    flags = native.CONTRACT if contract else native.EXACT
    suffix = "-contract" if contract else ""
    return tuple(native.Programs(path, family + suffix, flags) for family, path in native.compilers().items())


@functools.cache
def fast_builds(source: str) -> tuple[native.Programs, ...]:
    """The C programs of another file by every compiler, with -ffast-math."""
    return tuple(native.Programs(path, f, native.FAST, source) for f, path in native.compilers().items())


def has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def has_numba() -> bool:
    return has("numba")


def say_what_is_absent(*packages: str) -> None:
    for name in packages:
        if not has(name):
            print(f"{name} is absent (pip install {name}): no comparison with it")


def numba_version(function: Callable[..., Any], **options: Any) -> Any:
    """`function` compiled by Numba, with the functions of its module that it calls."""
    import numba

    scope = dict(function.__globals__)
    for name in function.__code__.co_names:
        callee = scope.get(name)
        if isinstance(callee, types.FunctionType):
            scope[name] = numba.njit(**options)(callee)
    copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
    return numba.njit(**options)(copy)
