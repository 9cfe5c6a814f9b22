"""How often Python looks for garbage while something makes many objects that live to its end: rarely.

A compilation makes hundreds of thousands of them, a derivative through Python some for each operation.  Python looks through
what is new at every 700 objects, and now and then through all there are, whose number grows with what was run: that takes a
fifth of a compilation, and more than half of a long derivative.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

Thresholds = tuple[int, int, int]

COMPILING: Thresholds = (500_000, 50, 10)
# Cycles that the user's program leaves behind are found when there are some 10 MB of them; what is old is looked through when there is
# much more of it.
RUNNING: Thresholds = (100_000, 500, 50)

_lock = threading.RLock()  # (what runs in a thread that holds it, such as `__del__`, may come here)
_wanted: list[Thresholds] = []
_before: Thresholds = (0, 0, 0)
_set: Thresholds = (0, 0, 0)


def begin(thresholds: Thresholds) -> None:
    """From here on garbage is looked for as rarely as that. Begun in several threads, what is rarest holds until its end."""
    global _before
    with _lock:
        present = gc.get_threshold()
        as_set = bool(_wanted) and present == _set
        if not as_set:  # (the program may have set others meanwhile)
            _before = present
        known = as_set and thresholds in _wanted
        _wanted.append(thresholds)
        if not known:
            _arrange()


def end(thresholds: Thresholds) -> None:
    with _lock:
        _wanted.remove(thresholds)
        if thresholds not in _wanted and gc.get_threshold() == _set:
            _arrange()


def _arrange() -> None:
    global _set
    # (0 as the first: garbage is not looked for at all)
    _set = max([_before, *_wanted]) if _before[0] else _before
    gc.set_threshold(*_set)


@contextlib.contextmanager
def rarely(thresholds: Thresholds) -> Iterator[None]:
    begin(thresholds)
    try:
        yield
    finally:
        end(thresholds)
