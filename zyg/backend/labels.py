"""Keys of dicts that carry no derivative, and are compared without code."""

from __future__ import annotations

from typing import Any

from . import pulls
from .phrases import PLAIN_KEYS


def _is_label(key: Any) -> bool:
    return type(key) in PLAIN_KEYS or (type(key) is tuple and PLAIN_KEYS.issuperset(map(type, key)))


# Whether a key is one of these: "a" or (1, "b"), not (1, 0.5). (A built-in function: emitted code asks it, too.)
is_label = pulls.deferred("ask", _is_label, start=pulls.COTANGENTS)
pulls.COTANGENTS.when_started(lambda: pulls.settle(is_label, "zyg_is_label", part="cotangents"))

__all__ = ["is_label"]
