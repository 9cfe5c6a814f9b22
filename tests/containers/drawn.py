"""What searches by drawn programs have in common."""

from __future__ import annotations

import linecache
from typing import Any

import zyg


def function(text: str, name: str) -> Any:
    """The function `f` of a program, whose lines messages can show."""
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names: dict[str, Any] = {}
    exec(compile(text, name, "exec"), names)
    return names["f"]


def outcome(f: Any, *args: Any) -> Any:
    """What a call gives, or the class of what it raises; what zyg refuses is raised."""
    try:
        return f(*args)
    except zyg.ZygError:
        raise
    except Exception as error:
        return type(error)
