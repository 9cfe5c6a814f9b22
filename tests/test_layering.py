"""Imports go one way: the rest of zyg -> zyg.backend -> zyg.ir."""

import ast
from pathlib import Path

import zyg
from tests.turns import each_in_turn

pytestmark = each_in_turn

ROOT = Path(zyg.__file__).parent


def imports(path: Path):
    """The absolute names of the modules that a file imports, inside functions too."""
    package = ["zyg", *path.relative_to(ROOT).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def below(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def test_ir_imports_only_ir():
    for path in (ROOT / "ir").rglob("*.py"):
        for name in imports(path):
            assert not below(name, "zyg") or below(name, "zyg.ir"), f"{path} imports {name}"
            assert not below(name, "llvmlite") and not below(name, "bytecode"), f"{path} imports {name}"


def test_backend_imports_only_ir():
    for path in (ROOT / "backend").rglob("*.py"):
        for name in imports(path):
            allowed = below(name, "zyg.ir") or below(name, "zyg.backend")
            assert not below(name, "zyg") or allowed, f"{path} imports {name}"


def test_only_the_backend_imports_llvmlite():
    for path in ROOT.rglob("*.py"):
        if not path.is_relative_to(ROOT / "backend"):
            assert not any(below(name, "llvmlite") for name in imports(path)), f"{path} imports llvmlite"


def test_inside_ir_what_is_basic_imports_nothing_above_it():
    order = [
        "types", "dtypes", "core", "foreign", "trace", "ops", "builder", "text", "parsing", "analysis", "verify", "interpret",
        "passes",
    ]  # fmt: skip
    for path in (ROOT / "ir").rglob("*.py"):
        layer = path.relative_to(ROOT / "ir").parts[0].removesuffix(".py")
        if layer not in order:
            continue
        # `str(function)` needs the printer; that one import stands inside the method.
        exempt = {("core", "text")}
        for name in imports(path):
            parts = name.split(".")
            if parts[:2] == ["zyg", "ir"] and len(parts) > 2 and parts[2] in order and (layer, parts[2]) not in exempt:
                assert order.index(parts[2]) <= order.index(layer), f"{path} imports {name}"
