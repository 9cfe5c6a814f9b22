"""The command line: zyg demo, zyg inspect, zyg explain, zyg bench."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

STAGES = ("ssa", "typed", "adjoint", "tangent", "llvm", "native")

DESCRIPTION = "zyg compiles Python functions and their derivatives to native code."
INSPECT = """Show a function at a stage of its compilation.

    zyg inspect pow.py:power 2.0 5 --stage adjoint
    zyg inspect mymodule:loss "np.zeros(3)" --stage llvm

Arguments are Python expressions (numpy is there as np, math as math, and so are the names of the file);
they give the types that the function is compiled for."""

EXPLAIN = """Tell what of a function's derivative is native code, what is not and why, and what is on the tape.

    zyg explain pow.py:power 2.0 5

Arguments are as for `zyg inspect`. The function is run on them."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (sys.argv without the program's name); returns the exit status."""
    try:
        status = _run(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # Whoever read our output has seen enough, as `head` does. What is left in the buffer goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + 13  # as if by SIGPIPE


def _run(words: list[str]) -> int:
    # `demo` and `bench` have options of their own, which argparse must leave alone.
    if words[:1] == ["demo"]:
        return _status(importlib.import_module("zyg.demo").main(words[1:]))
    if words[:1] == ["bench"]:
        return bench(words[1:])
    options = _parser().parse_args(words)
    if options.command in ("inspect", "explain"):
        return inspect(options)
    _parser().print_help()
    return 0


def _status(result: Any) -> int:
    return result if isinstance(result, int) else 0


def _parser() -> argparse.ArgumentParser:
    from . import __version__

    parser = argparse.ArgumentParser(prog="zyg", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"zyg {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command")
    commands.add_parser("demo", help="fit a predator-prey model to real data by compiled gradients")
    raw = argparse.RawDescriptionHelpFormatter
    look = commands.add_parser("inspect", help="show a function at a stage", description=INSPECT, formatter_class=raw)
    look.add_argument("function", help="file.py:function or module:function")
    look.add_argument("args", nargs="*", help="arguments to compile for, as Python expressions")
    look.add_argument("--stage", choices=STAGES, default="typed")
    look.add_argument("--derivative", action="store_true", help="of the derivative of the function")
    look.add_argument("--raw", action="store_true", help="before optimisation")
    why = commands.add_parser(
        "explain", help="what is native and what is not, and why", description=EXPLAIN, formatter_class=raw
    )
    why.add_argument("function", help="file.py:function or module:function")
    why.add_argument("args", nargs="*", help="arguments, as Python expressions")
    commands.add_parser("bench", help="small benchmarks: calls, compile times, loops")
    return parser


# ------------------------------------------------------------------------------------------------ inspect


def inspect(options: argparse.Namespace) -> int:
    from . import inspection
    from .api import derivative
    from .errors import ZygError

    try:
        module, function = _load(options.function)
        args = [_evaluate(text, module) for text in options.args]
        if options.command == "explain":
            print(inspection.explain(function, *args))
            return 0
        if options.derivative:
            function = derivative(function)
        show = getattr(inspection, f"code_{options.stage}")
        keywords = {"optimised": False} if options.raw and options.stage not in ("ssa", "native") else {}
        print(show(function, *args, **keywords))
    except (_Usage, ZygError, TypeError, ValueError) as error:
        print(f"zyg {options.command}: {error}", file=sys.stderr)
        return 1
    return 0


class _Usage(Exception):
    """The command line names something that is not there."""


def _load(place: str) -> tuple[ModuleType, Any]:
    """The module and the function that "file.py:name" or "module:name" names; `name` may have dots."""
    where, colon, name = place.rpartition(":")
    if not colon or not where or not name:
        raise _Usage(f"{place!r} should be file.py:function or module:function")
    if where.endswith(".py"):
        path = Path(where)
        if not path.is_file():
            raise _Usage(f"there is no file {where}")
        sys.path.insert(0, str(path.parent.resolve()))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(path.stem, module)
        spec.loader.exec_module(module)
    else:
        sys.path.insert(0, "")
        try:
            module = importlib.import_module(where)
        except ModuleNotFoundError as error:
            raise _Usage(str(error)) from None
    found: Any = module
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise _Usage(f"{where} has no {name!r}") from None
    return module, found


def _evaluate(text: str, module: ModuleType) -> Any:
    """The value of an argument given on the user's own command line."""
    import math

    import numpy as np

    try:
        return eval(text, {"np": np, "math": math, **vars(module)})
    except Exception as error:
        raise _Usage(f"argument {text!r}: {type(error).__name__}: {error}") from None


# -------------------------------------------------------------------------------------------------- bench


def bench(words: list[str]) -> int:
    """The benchmarks of the source tree if there are any, else those that are part of the package."""
    from . import bench as micro

    return micro.main(words)


if __name__ == "__main__":
    sys.exit(main())
