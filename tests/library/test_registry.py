"""Entries are found by need: a module is imported when a function that it may have is looked for."""

from __future__ import annotations

import sys

import numpy as np

import zyg
from zyg.library import registry
from zyg.library.numpy_.ufuncs import ufunc


def test_every_entry_is_where_one_looks_for_it():
    for key, entry in registry.all_entries().items():
        target = key[1] if isinstance(key, tuple) else getattr(key, "object", key)
        home = registry.home(target)
        where = [f"zyg.library.{name}" for name in registry.modules_of(home)]
        own = getattr(target, "__module__", None)  # a function of ours with its entry beside it
        lifted = isinstance(target, np.ufunc) and entry.module == ufunc.__module__  # the emitter is that of all ufuncs
        assert entry.module in (*where, own) or lifted, (target, home)


def test_homes():
    assert registry.home(np.sin) == registry.home(np.ndarray.sum) == registry.home(np.ndarray.T) == "numpy"
    assert registry.home(np.linalg.inv) == "numpy.linalg"
    assert registry.home(np.random.rand) == "numpy.random"
    assert registry.home([].append) == "builtins"
    assert registry.home(test_homes) == __name__
    assert registry.modules_of("numpy.no.such.module") == registry.modules_of("numpy")
    assert registry.modules_of("numpyx") == ()


def test_what_is_foreign_is_not_found():
    assert registry.find(sys.getsizeof) is None
    assert registry.find(test_homes) is None
    assert registry.find(zyg.gradient) is None
