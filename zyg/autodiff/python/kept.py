"""Halves of zyg's own run-time functions, kept on disk between processes.

A derivative of a derivative differentiates a hundred functions of `zyg.autodiff`, whoever asks for it, and a third derivative their
halves: most of what its first call takes. What comes of them is the same in each process, so their code objects are entries of the
cache that machine code is in (`backend/llvm/cache.py`), by a digest of all of zyg's source. Like machine code they are executed: the
directory is the user's own.

In the constants of such code is what modules hold under a name, which is found there again, and places of calls, which begin
anew; in that of a half of a half also what the half has in its constants. Code with anything else in it is not kept.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import io
import marshal
import pickle
import sys
import types
from functools import cache, lru_cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

import zyg
from zyg.backend import pullbacks
from zyg.backend.llvm import cache as disk
from zyg.backend.opcodes import UNBOUND
from zyg.backend.pulls import State
from zyg.ir.plainly import get_plainly

from .. import objects
from ..identity import ByIdentity
from ..trying import bodies
from . import escaping
from .compile import is_half
from .forms import Watched
from .sites import new_site
from .starred import calling, shape_of

Kept = tuple[CodeType, FunctionType, bool]  # forward half, reverse half, whether the function has handlers
_BY_NAME = (type, FunctionType, BuiltinFunctionType, np.ufunc)
_IMMUTABLE = (
    tuple,
    slice,
    frozenset,
    str,
    bytes,
    int,
    float,
    complex,
    bool,
    type(None),
    type(...),
    type(NotImplemented),
)


def load(code: CodeType, form: tuple[bool, bool]) -> Kept | None:
    """The halves of a function with code `code`, in the form that is wanted; None if there are none."""
    key = _key(code, form)
    image = None if key is None else disk.load(key)
    if image is None:
        return None
    try:
        return _Reader(image, code).load()
    except (pickle.UnpicklingError, AttributeError, ImportError, EOFError, ValueError, TypeError, KeyError):
        return None


def store(code: CodeType, form: tuple[bool, bool], kept: Kept) -> None:
    """Keep them, if all that is in them can be."""
    key = _key(code, form)
    if key is None:
        return
    file = io.BytesIO()
    try:
        _Writer(file, code, kept[1]).dump(kept)
    except (pickle.PicklingError, AttributeError, TypeError, ValueError):
        return
    disk.store(key, file.getvalue())


def _key(code: CodeType, form: tuple[bool, bool]) -> str | None:
    circumstances = _circumstances()
    if circumstances is None:
        return None
    # (The halves of halves ask for their form where there are watched generators.)
    asking = is_half(code) and escaping.generators_are_watched
    try:
        return disk.key(f"{_shown(code)} {form} {asking}", circumstances)
    except _Unnamed:
        return None


def _shown(code: CodeType) -> str:
    """All that tells a code object from others, which may be in the same line, or differ in a constant only."""
    found = _texts.of(code)
    if found is None:
        found = disk.digest(_text(code))
        _texts.note(code, found)
    return found


_texts = ByIdentity()


def _text(code: CodeType) -> str:
    place = code.co_filename, code.co_qualname, code.co_firstlineno, code.co_linetable, code.co_exceptiontable
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    names = code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars
    return repr((place, counts, names, code.co_code, [_shown_constant(c) for c in code.co_consts]))


def _shown_constant(x: Any) -> str:
    if type(x) is CodeType:
        return _shown(x)
    if type(x) in (tuple, frozenset):
        shown = map(_shown_constant, x)
        return f"{type(x).__name__} {list(shown) if type(x) is tuple else sorted(shown)}"  # sets have another order in each process
    if isinstance(x, _IMMUTABLE):
        return f"{type(x).__name__} {x!r}"
    if type(x) is FunctionType and is_half(x.__code__):
        return f"half {_shown(x.__code__)}"
    if type(x) is FunctionType and (shape := shape_of(x)) is not None:
        return f"call {shape}"
    if type(x) is Watched:
        return f"watched {x.code and _shown(x.code)} {x.bound}"
    # What else is in the constants of a half is found by its name, or it begins anew.
    if type(x) is list and x == new_site():
        return "site"
    of = x.__self__ if type(x) is BuiltinFunctionType and not isinstance(x.__self__, ModuleType) else None
    name = next((name for name, held in _held() if held is x or held is of is not None), None)
    if name is None and (
        of is not None or not isinstance(x, _BY_NAME) or "<locals>" in get_plainly(x, "__qualname__", "")
    ):
        raise _Unnamed
    return f"{type(x).__name__} {name} {getattr(x, '__module__', None)} {getattr(x, '__qualname__', None) or x}"


class _Unnamed(Exception):
    """Something in the constants of a half that is not told from others by a name."""


_ROOT = Path(zyg.__file__).parent


@cache
def _circumstances() -> str | None:
    """A digest of all that the halves depend on; None if nobody can tell, since the source is not there, or was changed after it
    was imported."""
    digest = hashlib.sha256(importlib.util.MAGIC_NUMBER + np.__version__.encode())
    paths = sorted(_ROOT.rglob("*.py"))
    if not paths or max(map(disk.changed, paths)) > zyg._imported_at:
        return None
    for path in paths:
        digest.update(str(path.relative_to(_ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


class _Writer(pickle.Pickler):
    def __init__(self, file: Any, code: CodeType, reverse: FunctionType):
        super().__init__(file, protocol=5)
        self.names = {id(x): name for name, x in (*_held(), *_nested(code, ()))}
        self.reverse = reverse
        self.sites: dict[int, int] = {}

    def persistent_id(self, obj: Any) -> Any:
        name = self.names.get(id(obj))
        if name is not None:
            return name
        if type(obj) is list and obj == new_site():
            return "site", self.sites.setdefault(id(obj), len(self.sites))
        if not isinstance(obj, (*_IMMUTABLE, *_BY_NAME, CodeType, Watched)) or _is_of_the_user(obj):
            raise pickle.PicklingError(f"{obj!r} is not found by a name")
        return None

    def reducer_override(self, obj: Any) -> Any:
        if obj is self.reverse:
            return _function, (obj.__code__,)
        if type(obj) is FunctionType and (shape := shape_of(obj)) is not None:
            return _calling, shape
        if type(obj) is CodeType:
            bare = obj.replace(co_consts=(None,) * len(obj.co_consts))
            return _code, (marshal.dumps(bare), obj.co_consts)
        if type(obj) is Watched:
            return Watched, (obj.code, obj.bound)
        if type(obj) is BuiltinFunctionType and not isinstance(obj.__self__, (ModuleType, type(None))):
            if id(obj.__self__) not in self.names:  # or else a copy of it would be found
                raise pickle.PicklingError(f"{obj!r} is not found by a name")
            return getattr, (obj.__self__, obj.__name__)
        return NotImplemented  # by its name


class _Reader(pickle.Unpickler):
    def __init__(self, image: bytes, code: CodeType):
        super().__init__(io.BytesIO(image))
        self.named = dict((*_held(), *_nested(code, ())))
        self.sites: dict[int, list[Any]] = {}

    def persistent_load(self, pid: Any) -> Any:
        if pid[0] == "site":
            return self.sites.setdefault(pid[1], new_site())
        if pid[0] == "module" and pid not in self.named:
            return getattr(importlib.import_module(pid[1]), pid[2])
        return self.named[pid]


def _is_of_the_user(obj: Any) -> bool:
    """Whether this is a class or function (a rule, perhaps) that another process need not have."""
    package = (get_plainly(obj, "__module__") or "zyg").partition(".")[0] if isinstance(obj, _BY_NAME) else "zyg"
    return package not in ("zyg", "numpy") and package not in sys.stdlib_module_names


def _held() -> list[tuple[Any, Any]]:
    """What is not found under a name of its own, with one."""
    return [
        *((("bodies",), bodies), (("unbound",), UNBOUND), *_MARKS),
        *_of_modules(len(sys.modules), len(objects.RECORD)),
    ]


# What stands for pullbacks, and is told by its identity.
_MARKS = [(("mark", name), getattr(pullbacks, name)) for name in ("HELD", "NOTHING", "PLAIN", "STEP", "VIEWED")]


@lru_cache(1)
def _of_modules(modules: int, records: int) -> list[tuple[Any, Any]]:
    """With so many modules loaded: what `types` has, run-time functions that became native ones (zyg/backend/pulls.py), and what records."""
    return [
        *((("types", name), x) for name, x in vars(types).items() if isinstance(x, type)),
        *(
            (("module", of, name), x)
            for of, module in sorted(sys.modules.items())
            if of.startswith("zyg.autodiff.")
            for name, x in list(vars(module).items())
            if type(x) is BuiltinFunctionType and type(x.__self__) is State
        ),
        *((("record", name), f) for name, f in objects.RECORD.items()),
    ]


def _nested(code: CodeType, path: tuple[int, ...]) -> list[tuple[Any, Any]]:
    """The code object of a function, and those of the functions in it, by where they are; of a half also the reverse half, and what
    leads to the watched one."""
    found: list[tuple[Any, Any]] = [(("code", *path), code)]
    for k, x in enumerate(code.co_consts):
        if type(x) is CodeType:
            found += _nested(x, (*path, k))
        elif type(x) is Watched or type(x) is FunctionType and is_half(x.__code__):
            found.append((("constant", *path, k), x))
    return found


def _code(bare: bytes, constants: tuple[Any, ...]) -> CodeType:
    return marshal.loads(bare).replace(co_consts=constants)


def _calling(*shape: Any) -> FunctionType:
    return calling(*shape)


def _function(code: CodeType) -> FunctionType:
    return FunctionType(code, {})


__all__ = ["Kept", "load", "store"]
