"""Machine code kept on disk between processes: of functions compiled with cache=True, and of what is the same for every program
(the runtime, kernels, zyg's own mathematics).

What is cached is the last and slowest step, from LLVM assembly to an object file.  The key is a digest of the assembly
itself, with the processor and the versions of everything that turns it into code; so an entry can never be stale,
whatever has changed in the user's program.  Inference and the passes before it run as usual.

An entry is the object file behind a digest of its own.  One that does not fit its digest is ignored and written anew.  The
directory has to belong to the user and be writable for nobody else, since what is in it is executed.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

MAGIC = b"zyg object 1\n"
MAX_ENTRIES = 8192


def directory() -> Path:
    """Where entries are: ZYG_CACHE_DIR, or zyg in the user's cache directory."""
    return Path(_directory())


def _directory() -> str:
    chosen = os.environ.get("ZYG_CACHE_DIR")
    if chosen:
        return chosen
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "zyg")


def key(assembly: str, *circumstances: str) -> str:
    """The name of the entry for a module, compiled for these circumstances (processor, versions, settings)."""
    digest = _sha256()
    for part in (assembly, sys.implementation.cache_tag or "", *circumstances):
        digest.update(part.encode())
        digest.update(b"\0")
    return digest.hexdigest()


def digest(text: str) -> str:
    return str(_sha256(text.encode()).hexdigest())


def digest_of(content: bytes) -> bytes:
    return bytes(_sha256(content).digest())


def digest_of_much(content: bytes) -> str:
    """Another digest, in a third of the time."""
    return str(_function_of_python("blake2b", "_blake2", "hashlib")(content).hexdigest())


def load(name: str) -> bytes | None:
    """The object file of an entry; None if there is none that can be used."""
    parts = load_parts(name)
    if parts is None:
        return None
    digest, image = parts
    return bytes(image) if _sha256(image).digest() == digest else None


def changed(path: Path) -> float:
    """When a file was written last, in seconds, or another put in its place that is older."""
    found = path.stat()
    return max(found.st_mtime, found.st_ctime)


def has(name: str) -> bool:
    """Whether there is an entry of this name."""
    place = _usable_directory(create=False)
    return place is not None and os.path.exists(os.path.join(place, name))


def load_parts(name: str) -> tuple[bytes, memoryview] | None:
    """The digest that the content of an entry should have, and the content: who wants some parts of it only has to look at those."""
    place = _usable_directory(create=False)
    if place is None:
        return None
    path = os.path.join(place, name)
    try:
        with open(path, "rb", buffering=0) as file:
            content = file.readall()
    except OSError:
        return None
    if not content.startswith(MAGIC):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # those that were not used for longest are dropped first
    return content[len(MAGIC) : len(MAGIC) + 32], memoryview(content)[len(MAGIC) + 32 :]


def store(name: str, image: bytes) -> None:
    """Keep an object file. A directory that cannot be used is not an error: the next process compiles again."""
    place = _usable_directory(create=True)
    if place is None:
        return
    import tempfile  # loads much, and is needed once per entry

    with contextlib.suppress(OSError):
        descriptor, temporary = tempfile.mkstemp(dir=place, prefix=".new-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(MAGIC + _sha256(image).digest() + image)
            os.replace(
                temporary, os.path.join(place, name)
            )  # at once, so that no other process ever sees half an entry
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        _drop_oldest(place)


def drop(name: str) -> None:
    """Let go of an entry."""
    place = _usable_directory(create=False)
    if place is not None:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(place, name))


def _sha256(content: bytes | memoryview = b"") -> Any:
    return _function_of_python("sha256", "_sha2", "_sha256", "hashlib")(content)


@lru_cache(None)
def _function_of_python(name: str, *modules: str) -> Any:
    """As in hashlib, by the module behind it, if there is one: to load OpenSSL takes as long as a small compilation.  (To look for
    a module that is not there takes a fifth of a millisecond.)"""
    for module in modules:
        with contextlib.suppress(ImportError):
            return getattr(import_module(module), name)
    raise ImportError(f"no {name} in this Python")


def _usable_directory(create: bool) -> str | None:
    place = _directory()
    try:
        if create:
            Path(place).mkdir(mode=0o700, parents=True, exist_ok=True)
        found = os.stat(place)
    except OSError:
        return None
    if not stat.S_ISDIR(found.st_mode):
        return None
    if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
        return None
    return place


_counts: dict[str, int] = {}  # how many entries there are in a directory, as far as this process knows


def _drop_oldest(place: str) -> None:
    """If there are too many. (To look at all of them takes longer than to write one, and some programs write hundreds.)"""
    _counts[place] = _counts.get(place, MAX_ENTRIES) + 1
    if _counts[place] <= MAX_ENTRIES:
        return
    entries = [entry for entry in os.scandir(place) if entry.is_file()]
    _counts[place] = len(entries)
    if len(entries) <= MAX_ENTRIES:
        return
    entries.sort(key=lambda entry: entry.stat().st_mtime)
    for entry in entries[: MAX_ENTRIES // 4]:
        with contextlib.suppress(OSError):
            os.unlink(entry.path)
