"""What the first gradient of a small function does not load, and how it is compiled."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import zyg
from zyg.frontend import later

from .turns import each_in_turn

SCALAR = """
import sys, zyg
zyg.gradient(lambda x, y: x * y + x, 2.0, 3.0)
print(" ".join(m for m in sys.modules if m.startswith("zyg.")))
"""


def loaded_by(code):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ZYG_")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return set(done.stdout.split())


def test_scalar_code_does_without():
    loaded = loaded_by(SCALAR)
    assert "zyg.frontend.infer" in loaded
    assert not loaded & {
        "zyg.ir.text", "zyg.ir.verify", "zyg.autodiff.checkpointing", "zyg.inspection", "zyg.checking", "zyg.bench",
        "zyg.backend.python", "zyg.backend.llvm.cache", "zyg.backend.llvm.runtime.arrays",
        "zyg.backend.llvm.runtime.boxes", "zyg.backend.llvm.lowering.arrays", "zyg.library.complex_", "zyg.library.lists_",
        "zyg.library.operator_", "zyg.library.numpy_", "zyg.library.tangents", "zyg.library.pullbacks",
        "zyg.autodiff.elementwise", "zyg.autodiff.tangent", "dataclasses",
        *(f"zyg.ir.passes.{name}" for name in ("distribute", "expand", "fuse", "mem2reg", "rare", "side_by_side", "stacks")),
        *(f"zyg.frontend.{name}" for name in later.__all__ if name not in ("construction", *later.IN_CIRCLES)),
    }  # fmt: skip


def test_import_is_light():
    loaded = loaded_by("import sys, zyg\nprint(' '.join(sys.modules))")
    assert not loaded & {"numpy", "llvmlite", "zyg.api", "zyg.frontend"}


@each_in_turn
def test_the_records_of_the_compiler_are_quick_to_build():
    """@dataclass costs 0.3 ms a class when a module is loaded; zyg.ir.records costs next to nothing."""
    package = Path(zyg.__file__).parent
    loaded = loaded_by(SCALAR)
    for path in package.rglob("*.py"):
        name = ".".join(path.relative_to(package.parent).with_suffix("").parts)
        if name not in loaded:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "dataclasses":
                assert "dataclass" not in [alias.name for alias in node.names], path
