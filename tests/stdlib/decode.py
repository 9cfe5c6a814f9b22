"""How much of the standard library the decoder reads: `python -m tests.stdlib.decode [part of a path ...]`.

Every code object of every module is decoded and the SSA verified.  Functions that are neither generators nor
asynchronous are what the rate is about; the rest is counted too.
"""

from __future__ import annotations

import sys
import sysconfig
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

from zyg.errors import Unsupported
from zyg.frontend.capture import capture
from zyg.ir.verify import verify

LIBRARY = Path(sysconfig.get_path("stdlib"))
_OPTIMIZED, _GENERATOR, _ASYNCHRONOUS = 0x1, 0x20, 0x80 | 0x100 | 0x200


def modules(parts: list[str]) -> list[Path]:
    """The library's source files whose path has one of `parts` (all without any), its own tests left out."""
    paths = []
    for path in sorted(LIBRARY.rglob("*.py")):
        inside = path.relative_to(LIBRARY)
        if {"site-packages", "test", "tests", "idle_test"} & set(inside.parts):
            continue
        if not parts or any(part in inside.as_posix() for part in parts):
            paths.append(path)
    return paths


def code_objects(path: Path) -> Iterator[CodeType]:
    """All code objects of a source file, the module's first."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        todo = [compile(path.read_bytes(), str(path), "exec", dont_inherit=True)]
    while todo:
        code = todo.pop()
        yield code
        todo.extend(c for c in code.co_consts if isinstance(c, CodeType))


def kind(code: CodeType) -> str:
    if code.co_flags & _ASYNCHRONOUS:
        return "asynchronous"
    if code.co_flags & _GENERATOR:
        return "generator"
    return "function" if code.co_flags & _OPTIMIZED else "class or module"


def decode(paths: list[Path], report=print) -> tuple[Counter[str], Counter[str]]:
    """Decode and verify everything in `paths`: (how many there are, how many failed), per kind of code."""
    total: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for path in paths:
        for code in code_objects(path):
            total[kind(code)] += 1
            try:
                verify(capture(code))
            except Unsupported as error:
                failed[kind(code)] += 1
                if kind(code) != "asynchronous":
                    report(error)
            except Exception as error:
                failed[kind(code)] += 1
                place = traceback.extract_tb(error.__traceback__)[-1]
                where = f"{path}:{code.co_firstlineno} {code.co_qualname}"
                report(f"{where}: {type(error).__name__} {error} [{place.name}]")
    return total, failed


def main(arguments: list[str]) -> int:
    start = time.perf_counter()
    paths = modules(arguments)
    total, failed = decode(paths)
    seconds = time.perf_counter() - start
    print(f"Python {sys.version.split()[0]}: {len(paths)} files, {sum(total.values())} code objects, {seconds:.0f} s")
    for name, count in sorted(total.items()):
        print(f"  {name:16} {count - failed[name]:6} of {count:6} decode ({100 * (1 - failed[name] / count):.2f} %)")
    return int(failed["function"] > 0.01 * total["function"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
