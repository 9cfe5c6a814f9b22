"""Memory of arrays that others see, too: whether it has been written is found out when a pullback has been made."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from .shadows import key_of


class _Memory:
    """The memory of an array, as another array sees it that has a shadow of its own."""

    def __init__(self, array: np.ndarray):
        self.array = array
        self.__array_interface__ = array.__array_interface__


def seen_by(x: Any) -> np.ndarray | None:
    """The array whose memory this is, if it was made by `apart`."""
    return x.array if type(x) is _Memory else None


def apart(array: np.ndarray) -> np.ndarray:
    """An array over the same memory, with a shadow of its own."""
    return np.asarray(_Memory(array))


class _Watched:
    """An array, what is in it (None: something that was written by others), and whom to tell: a list, or an error to raise.
    `lent`: what differentiated code writes by itself does not count."""

    __slots__ = ("array", "content", "lent", "told")

    def __init__(self, array: np.ndarray, told: list[bool] | Exception, lent: bool):
        self.array = array
        self.content: bytes | None = array.tobytes()
        self.lent = lent
        self.told = told

    def is_written(self) -> bool:
        return self.content is None or self.array.tobytes() != self.content


class _Shared(threading.local):
    """Of the pullbacks that are being made."""

    def __init__(self) -> None:
        self.arrays: list[_Watched] = []


_shared = _Shared()


def begin() -> int:
    """A pullback is about to be made."""
    return len(_shared.arrays)


def check(mark: int) -> None:
    """The forward pass is over: what was to stay as it was has not been written."""
    for watched in _shared.arrays[mark:]:
        if isinstance(watched.told, Exception) and watched.is_written():
            raise watched.told


def end(mark: int) -> None:
    """The pullback is made, or has failed."""
    arrays = _shared.arrays
    for watched in arrays[mark:]:
        if isinstance(watched.told, list) and watched.is_written():
            watched.told.append(True)
    del arrays[mark:]


def writing(array: np.ndarray) -> list[_Watched]:
    """Differentiated code is about to write to an array: the watched ones that are one with it, for `written`."""
    found = []
    for watched in _shared.arrays:
        if np.may_share_memory(array, watched.array):
            if watched.is_written() or not watched.lent or key_of(array) != key_of(watched.array):
                watched.content = None
            found.append(watched)
    return found


def written(found: list[_Watched]) -> None:
    """It has written."""
    for watched in found:
        if watched.content is not None:
            watched.content = watched.array.tobytes()


def watch(array: np.ndarray, lent: bool = False) -> list[bool]:
    """Something is in it when the array has been written between now and the end of the forward pass."""
    told: list[bool] = []
    _shared.arrays.append(_Watched(array, told, lent))
    return told


def keep(array: np.ndarray, error: Exception) -> None:
    """It is an error if the array is written between now and the end of the forward pass."""
    _shared.arrays.append(_Watched(array, error, False))


def held_by(value: Any, operands: tuple[Any, ...]) -> list[np.ndarray]:
    """The arrays among operands that `value`, which foreign code gave, may write to."""
    from .foreign import is_opaque

    given = [v for x in operands for v in (x if isinstance(x, (list, tuple)) else (x,))]
    arrays = [x for x in given if isinstance(x, np.ndarray) and x.dtype.kind in "fc" and x.flags.writeable]
    if isinstance(value, np.ndarray):
        return [x for x in arrays if value.flags.writeable and np.may_share_memory(value, x)]
    return arrays if isinstance(value, memoryview) or (arrays and is_opaque(value)) else []


__all__ = ["apart", "begin", "check", "end", "held_by", "keep", "seen_by", "watch", "writing", "written"]
