"""Writes what is generated in the documentation: the table of operations, those of Python's and NumPy's functions, and the output of every
stage.

    python docs/generate.py

The output of the stages is that of the oldest Python supported; other versions decode other bytecode.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from zyg.ir.ops import OPS, Op

HERE = Path(__file__).parent
EFFECTS = {
    "pure": "none",
    "read": "reads memory",
    "write": "writes memory",
    "check": "may raise",
    "value_check": "may raise while its value is used",
    "effect": "any",
}


def derivative(op: Op) -> str:
    if callable(op.vjp):
        return "rule"
    return {"none": "none", "structural": "structural"}[op.vjp]


def row(op: Op) -> str:
    text = op.doc.replace("|", "\\|").replace("<", "&lt;")
    return f"| `{op.name}` | {text} | {EFFECTS[op.effects]} | {derivative(op)} |"


def ops(level: str) -> str:
    rows = [row(op) for op in OPS.values() if op.level == level]
    return "\n".join(["| op | meaning | effects | derivative |", "|---|---|---|---|", *rows])


def power() -> Callable[..., Any]:
    """The function of the walk."""
    spec = importlib.util.spec_from_file_location("power", HERE / "power.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.power


def listing(code: object) -> str:
    """A listing in a fence, without the directories of file names and without the widest comments."""
    text = str(code).replace(str(HERE) + "/", "")
    return "```\n" + "\n".join(line.rstrip() for line in text.strip("\n").splitlines()) + "\n```"


def bytecode() -> str:
    import contextlib
    import dis
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        dis.dis(power())
    return listing(out.getvalue())


def stage(name: str, *args: Any, **keywords: Any) -> Callable[[], str]:
    def show() -> str:
        import zyg

        return listing(getattr(zyg, f"code_{name}")(power(), *args, **keywords))

    return show


def second() -> str:
    import zyg

    return listing(zyg.code_typed(zyg.derivative(zyg.derivative(lambda x: x * x * x)), 2.0))


# ------------------------------------------------------------------------------------------------------ NumPy's functions

HOMES = {
    "numpy": "numpy.",
    "arrays": "ndarray.",
    "scalars": "generic. complexfloating.",
    "ufunc methods": "ufunc.",
    "linalg": "numpy.linalg.",
    "fft": "numpy.fft.",
    "random": "numpy.random. Generator. RandomState.",
    "special": "scipy.special.",
    "scipy_linalg": "scipy.linalg.",
}
TYPES = {"d": "f64", "f": "f32", "l": "i64", "i": "i32", "B": "u8", "?": "bool", "D": "c128"}


def arrays_tests() -> tuple[Any, Any]:
    """The registry as the differential test sees it, and its cases: what is said of element types is what it proves."""
    root = str(HERE.parent)
    if root not in sys.path:
        sys.path.insert(0, root)
    from tests.arrays import registered
    from tests.arrays.cases import CASES

    return registered, CASES


def functions(home: str) -> str:
    registered, cases = arrays_tests()
    prefixes, longer = HOMES[home].split(), [p for text in HOMES.values() for p in text.split()]
    with_rules = registered.library_rules()
    rules, targets = {name for name, _ in with_rules}, [rule.target for _, rule in with_rules]
    rows = []
    for name, (target, entry) in sorted(registered.entries_with_code().items()):
        prefix = max((p for p in longer if name.startswith(p)), key=len, default="")
        if prefix not in prefixes:
            continue
        own = [c for c in cases if name in map(registered.name_of, c.covers)]
        first = [next((s for s in c.specs.values() if hasattr(s, "dtypes")), None) for c in own]
        types = [text for char, text in TYPES.items() if any(s and char in s.dtypes for s in first)]
        takes, leaves = registered.parameters(target, entry)
        if name in rules:
            slopes = "rule"
        elif not any(c.derivative for c in own):
            slopes = "none"
        else:
            slopes = "rules of its parts" if registered.uses_rules(entry, targets) else "from its code"
        rows.append(
            f"| `{name.replace('numpy.', 'np.', 1)}` | {listed(takes)} | {listed(leaves)} | {' '.join(types)} | {slopes} |"
        )
    return "\n".join(
        ["| function | takes | does not take | element types | derivative |", "|---|---|---|---|---|", *rows]
    )


def listed(names: list[str]) -> str:
    return ", ".join(f"`{n}`" for n in names)


# ------------------------------------------------------------------------------------------------------ Python's library

MODULES = {"_bisect": "bisect", "_functools": "functools", "_operator": "operator"}
CLASSES = (str, int, float, complex, tuple, list, dict)


def python_library() -> str:
    from zyg.library import registry

    found: dict[str, set[str]] = {}
    for key in registry.all_entries():
        if isinstance(key, tuple):
            _, cls, name = key
            if cls in CLASSES:
                found.setdefault(f"methods of `{cls.__name__}`", set()).add(name)
            continue
        function: Any = getattr(key, "object", None)
        module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
        module = MODULES.get(module, module) if isinstance(module, str) else None
        if module in sys.stdlib_module_names and "." not in name:
            found.setdefault(f"`{module}`", set()).add(name)
    rows = [f"| {where} | {listed(sorted(names))} |" for where, names in sorted(found.items())]
    return "\n".join(["| of | there are |", "|---|---|", *rows])


SECTIONS: dict[str, Callable[[], str]] = {
    "machine ops": lambda: ops("machine"),
    "python ops": lambda: ops("python"),
    "bytecode": bytecode,
    "ssa": stage("ssa", 2.0, 5),
    "typed": stage("typed", 2.0, 5, optimised=False),
    "optimised": stage("typed", 2.0, 5),
    "adjoint": stage("adjoint", 2.0, 5),
    "split": stage("adjoint", 2.0, 5, split=True),
    "tangent": stage("tangent", 2.0, 5),
    "llvm": stage("llvm", 2.0, 5, optimised=False),
    "native": stage("native", 2.0, 5),
    "second": second,
    "python library": python_library,
    **{f"functions {home}": lambda home=home: functions(home) for home in HOMES},
}
MACHINE = {"native"}  # hangs on the CPU
MARKED = re.compile(r"<!-- made: ([\w ]+) -->\n.*?<!-- end -->", re.DOTALL)


def page(text: str, machine: bool = True) -> str:
    """`text` with every marked section made again; without those that hang on the machine, if it is not to be."""

    def made(match: re.Match[str]) -> str:
        name = match[1]
        if name in MACHINE and not machine:
            return match[0]
        return f"<!-- made: {name} -->\n{SECTIONS[name]()}\n<!-- end -->"

    return MARKED.sub(made, text)


def pages() -> list[Path]:
    return [path for path in sorted(HERE.glob("*.md")) if MARKED.search(path.read_text())]


if __name__ == "__main__":
    if sys.version_info[:2] != (3, 11):
        sys.exit("the stages are shown as Python 3.11 makes them: run this with it")
    for path in pages():
        path.write_text(page(path.read_text()))
