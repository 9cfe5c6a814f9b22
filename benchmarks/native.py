"""Builds and runs the C counterparts; without a C compiler there is nothing to compare with, and callers say so."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import numpy as np

SOURCES = Path(__file__).parent / "c"
FLAGS = ("-O3", "-march=native", "-fPIC", "-shared", "-std=gnu11")
EXACT = ("-ffp-contract=off",)
CONTRACT = ("-ffp-contract=fast",)
FAST = ("-ffast-math",)


def compilers() -> dict[str, str]:
    """The C compilers on the PATH, one gcc and one clang (the newest), by family; `cc` if it is neither.

    >>> set(compilers()) <= {"gcc", "clang", "cc"}
    True
    """
    found: dict[str, str] = {}
    clangs = ["clang", *(f"clang-{version}" for version in range(40, 13, -1))]
    for family, names in (("gcc", ["gcc"]), ("clang", clangs), ("cc", ["cc"])):
        path = next(filter(None, map(shutil.which, names)), None)
        if path and not (family == "cc" and found):
            found[family] = path
    return found


@functools.cache
def scratch() -> Path:
    """A directory that lives as long as the process."""
    directory = tempfile.TemporaryDirectory(prefix="zyg-bench-")
    scratch.keep = directory
    return Path(directory.name)


def build(compiler: str, source: str, output: str, flags: Sequence[str]) -> Path:
    target = scratch() / output
    command = [compiler, *flags, str(SOURCES / source), "-o", str(target), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
    return target


class CaseStruct(ctypes.Structure):
    _fields_ = (
        ("input", ctypes.c_void_p),
        ("grad", ctypes.c_void_p),
        ("work", ctypes.c_void_p),
        ("tape", ctypes.c_void_p),
        ("n", ctypes.c_long),
        ("steps", ctypes.c_long),
        ("value", ctypes.c_double),
    )


@dataclass
class Case:
    """One C program with its inputs and memory."""

    inputs: np.ndarray
    gradient: np.ndarray
    tape: int
    n: int
    steps: int
    work: int = 0
    struct: CaseStruct = field(init=False)
    keep: tuple[np.ndarray, ...] = field(init=False)

    def __post_init__(self) -> None:
        work, tape = np.zeros(max(self.work, 1)), np.zeros(max(self.tape, 1))
        self.keep = (work, tape)
        pointers = [a.ctypes.data for a in (self.inputs, self.gradient, work, tape)]
        self.struct = CaseStruct(*pointers, self.n, self.steps, 0.0)


class Programs:
    """The programs of a source file as built by one compiler."""

    def __init__(self, compiler: str, label: str, flags: Sequence[str] = EXACT, source: str = "programs.c") -> None:
        self.label = label
        output = f"{source.removesuffix('.c')}-{label}.so"
        self.library = ctypes.CDLL(str(build(compiler, source, output, [*FLAGS, *flags])))
        self.library.seconds.restype = ctypes.c_double

    def run(self, name: str, case: Case) -> float:
        getattr(self.library, name)(ctypes.byref(case.struct))
        return case.struct.value

    def seconds(self, name: str, case: Case, repeats: int) -> float:
        return self.library.seconds(getattr(self.library, name), ctypes.byref(case.struct), ctypes.c_long(repeats))


def call_extension(compiler: str, label: str) -> ModuleType:
    """A C extension with 5*sin(log(x)) and its derivative as METH_FASTCALL functions."""
    include = sysconfig.get_paths()["include"]
    if not os.path.exists(os.path.join(include, "Python.h")):
        raise RuntimeError("Python.h is not installed")
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    path = build(compiler, "call.c", f"call{suffix}", [*FLAGS, *EXACT, f"-I{include}", f"-DLABEL={label}"])
    spec = importlib.util.spec_from_file_location("call", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
