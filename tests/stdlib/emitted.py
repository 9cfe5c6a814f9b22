"""The standard library's own tests, run on modules that went through SSA and the Python back end.

    python -m tests.stdlib.emitted textwrap json [-v]
    python -m tests.stdlib.emitted test.test_grammar [-v]

Each name is a module or a package: its code is decoded, emitted again and imported in the place of the original, then
`test.test_<name>` runs.  A name that starts with "test." is that of a test of the language: it is emitted itself.
Run one module per process: the modules stay replaced.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import signal
import sys
import unittest
from types import CodeType

from zyg.backend.python import CannotEmit, emit
from zyg.errors import Unsupported
from zyg.frontend.capture import capture

emitted = 0


def round_trip(code: CodeType) -> CodeType:
    """The code object after a trip through SSA, with those inside it; asynchronous code and readers of frames as is."""
    global emitted
    try:
        result = emit(capture(code), code, nested=round_trip)
    except (Unsupported, CannotEmit):
        return code
    emitted += 1
    return result


class Loader(importlib.machinery.SourceFileLoader):
    """Compiles from source, then round-trips."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return round_trip(compile(self.get_data(path), path, "exec", dont_inherit=True))


class Finder(importlib.abc.MetaPathFinder):
    def __init__(self, names: set[str]):
        self.names = names

    def find_spec(self, fullname, path=None, target=None):
        if fullname not in self.names and fullname.partition(".")[0] not in self.names:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = Loader(spec.loader.name, spec.loader.path)
        return spec


def replace(names: list[str]) -> None:
    """Import these modules and packages anew, emitted."""
    sys.meta_path.insert(0, Finder(set(names)))
    for loaded in list(sys.modules):
        if loaded in names or loaded.partition(".")[0] in names:
            del sys.modules[loaded]
    for name in names:
        importlib.import_module(name)


def main(arguments: list[str]) -> int:
    names = [a for a in arguments if not a.startswith("-")]
    # What the module is called in the names of its tests, where that differs.
    tests = {"_pydecimal": "decimal", "_strptime": "strptime", "sre_parse": "re"}
    suites = []
    replace(names)
    for name in names:
        module = name if name.startswith("test.") else f"test.test_{tests.get(name, name)}"
        try:
            importlib.import_module(module)
        except (ImportError, unittest.SkipTest) as error:
            print(f"{module}: not here ({error})")
            continue
        suites.append(unittest.defaultTestLoader.loadTestsFromName(module))
    result = unittest.TextTestRunner(verbosity=1 + ("-v" in arguments)).run(unittest.TestSuite(suites))
    print(f"emitted {emitted} code objects of {', '.join(names)}: {result.testsRun} tests,", end=" ")
    print(f"{len(result.failures) + len(result.errors)} failed, {len(result.skipped)} skipped")
    return int(not result.wasSuccessful())


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # as the tests expect it, also in the background
    sys.exit(main(sys.argv[1:]))
