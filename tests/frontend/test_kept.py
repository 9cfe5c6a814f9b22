"""Untyped SSA of zyg's own functions on disk: what is read there is what was decoded."""

import marshal
import os
import subprocess
import sys
from pathlib import Path
from types import CodeType, FunctionType

import numpy as np

import zyg
import zyg.library.numpy_.products
import zyg.library.numpy_.sorting
import zyg.library.numpy_.statistics
import zyg.library.numpy_.triangular
from tests.turns import each_in_long_turn
from zyg.backend.llvm import cache
from zyg.frontend import kept, prepare
from zyg.ir.text import format_function

ROOT = Path(zyg.__file__).parent


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_the_sources_are_all_that_decoding_is_made_of():
    code = "import sys, zyg.frontend.prepare\nprint(*(m.__file__ for m in sys.modules.values() if m.__name__.split('.')[0] == 'zyg'))"
    needed = {Path(name).relative_to(ROOT).as_posix() for name in run(code)}
    # Packages, and what only errors say, make no SSA.
    assert needed - {"errors.py", "homes.py", "remedies.py"} - set(kept.SOURCES) <= {
        n for n in needed if n.endswith("__init__.py")
    }
    assert set(kept.SOURCES) - needed == {"frontend/kept.py"}


def shown(prepared):
    """All that is in it, blocks and values by number."""
    blocks = {b: n for n, b in enumerate(prepared.function.blocks)}
    values = {}
    for b in prepared.function.blocks:
        for v in (*b.params, *(r for i in b.instrs for r in i.results)):
            values[v] = len(values)
    of = lambda table: [(blocks[b], [values.get(v, v) for v in found]) for b, found in table.items()]
    return (
        format_function(prepared.function),
        [(b.name, b.in_iterator, [i.position for i in b.instrs]) for b in blocks],
        [(blocks[b], n) for b, n in prepared.order.items()],
        of(prepared.live),
        [(blocks[b], sorted(blocks[x] for x in found)) for b, found in prepared.loops.items()],
        of(prepared.iterators),
        list(map(list, prepared.carried.items())) and [(blocks[b], found) for b, found in prepared.carried.items()],
        prepared.size,
        sorted(values[v] for v in prepared.named),
        prepared.trying,
    )


def constants(prepared):
    found = []
    for block, instr in prepared.function.instructions():
        for v in (*instr.operands, *(a for t in instr.targets for a in t.args), *block.params):
            if hasattr(v, "value"):
                found.append((type(v.value), repr(v.value), v.type))
        found += [(k, type(x), id(x) if isinstance(x, CodeType) else repr(x)) for k, x in instr.attrs.items()]
    return found


@each_in_long_turn
def test_what_is_read_is_what_was_written():
    count = 0
    for name, module in sorted(sys.modules.items()):
        if not name.startswith("zyg.library.") or module is None:
            continue
        for function in list(vars(module).values()):
            if isinstance(function, FunctionType) and function.__module__ == name:
                code = function.__code__
                try:
                    decoded = prepare._read(code)
                except zyg.errors.ZygError:
                    continue
                written = kept._written(decoded, code)
                if written is not None:
                    count += 1
                    back = kept._read(marshal.loads(marshal.dumps(written)), code)
                    assert shown(back) == shown(decoded), function
                    assert constants(back) == constants(decoded), function
    assert count > 200


def test_functions_with_other_objects_are_not_kept():
    def caught(x):
        try:
            return x + 1
        except ValueError:
            return 0

    assert kept._written(prepare._read(caught.__code__), caught.__code__) is None
    chosen = lambda x: x in {1, 2, 3}
    assert kept._written(prepare._read(chosen.__code__), chosen.__code__) is None


PROGRAM = """
import numpy as np, zyg
from zyg.frontend import prepare
read = []
original = prepare._read
prepare._read = lambda code: (read.append(code.co_qualname), original(code))[1]
x = np.linspace(0.3, 2.0, 20)
made = zyg.gradient(lambda x: np.median(x) + np.sum(np.linalg.cholesky(np.outer(x, x) + np.eye(20))) + np.std(x), x)[0]
print(len([name for name in read if name != "<lambda>"]), made.tobytes().hex())
"""


@each_in_long_turn
def test_a_second_process_finds_them_and_computes_the_same(tmp_path):
    environment = {"ZYG_CACHE_DIR": str(tmp_path / "kept")}
    first, gradient = run(PROGRAM, **environment)
    second, again = run(PROGRAM, **environment)
    assert int(first) > 30 and int(second) <= prepare.FEW + 3
    assert gradient == again
    for entry in (tmp_path / "kept").iterdir():  # what is not whole is not used
        entry.write_bytes(entry.read_bytes()[:-1])
    third, still = run(PROGRAM, **environment)
    assert third == first and still == gradient
    for entry in (tmp_path / "kept").iterdir():
        content = bytearray(entry.read_bytes())
        content[len(content) // 3] ^= 1
        entry.write_bytes(bytes(content))
    assert run(PROGRAM, **environment)[1] == gradient
    assert np.frombuffer(bytes.fromhex(gradient)).shape == (20,)


def test_of_what_is_damaged_the_rest_is_used_and_written_again(tmp_path, monkeypatch):
    monkeypatch.setenv("ZYG_CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr(kept, "_added", {b"one": b"first", b"two": b"second"})
    kept.store()
    (entry,) = (tmp_path / "kept").iterdir()
    table, images = kept._loaded(entry.name)
    assert {key: bytes(images[begin:end]) for key, (_, begin, end) in table.items()} == {
        b"one": b"first",
        b"two": b"second",
    }
    entry.write_bytes(entry.read_bytes().replace(b"first", b"worst"))
    kept._added[b"three"] = b"third"
    kept.store()
    table, images = kept._loaded(entry.name)
    assert {key: bytes(images[begin:end]) for key, (_, begin, end) in table.items()} == {
        b"two": b"second",
        b"three": b"third",
    }
    whole = entry.read_bytes()
    at = whole.index(b"two")  # in the table
    flipped = [whole[:n] + bytes([whole[n] ^ 8]) + whole[n + 1 :] for n in range(at - 8, at + 12)]
    for content in (b"", whole[:60], whole + b"x", *flipped):
        entry.write_bytes(content)
        assert kept._loaded(entry.name) == ({}, b"")


def test_a_file_that_has_become_large_is_begun_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("ZYG_CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr(kept, "_added", {b"one": bytes(200)})
    monkeypatch.setattr(kept, "LARGEST", 100)
    kept.store()
    kept._added[b"two"] = b"second"
    kept.store()
    assert list(kept._loaded(next((tmp_path / "kept").iterdir()).name)[0]) == [b"two"]


def test_source_that_was_changed_after_it_was_imported_is_not_trusted(monkeypatch):
    monkeypatch.setattr(zyg, "_imported_at", 0.0)
    kept._name.cache_clear()
    try:
        assert kept._name() is None
    finally:
        kept._name.cache_clear()
    monkeypatch.undo()
    assert kept._name() is not None


def test_code_that_differs_in_anything_has_another_key():
    one = compile("def f(x):\n    return x + 1", "a.py", "exec").co_consts[0]
    keys = {
        kept._key(compile(text, file, "exec").co_consts[0])
        for file in ("a.py", "b.py")
        for text in ("def f(x):\n    return x + 1", "def f(x):\n    return x + 1.0", "def f(x):\n\n    return x + 1")
    }
    assert len(keys) == 6 and kept._key(one) in keys
    assert all(len(key) == 32 for key in keys) and cache.digest_of(b"") != cache.digest_of(b"\0")
