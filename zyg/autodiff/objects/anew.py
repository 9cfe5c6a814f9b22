"""Classes that a program makes anew each time it runs: what is found out about one holds for the next one like it.

What a class statement in a function makes is another class each time, with nothing known of it. How its instances' attributes are found
and set, and what a call of it is, depends on little: under which names it holds things, of which types these are, and on its bases. By
these the answers are kept. They are asked for as long as the class has the version that it had behind its class statement: who sets
something in it, or in a base, gives it another one, and it is looked at as any class is.
"""

from __future__ import annotations

from types import FunctionType, GetSetDescriptorType, MemberDescriptorType, NoneType
from typing import Any

from zyg.backend.cpython import type_version, version_word

from ..identity import lasts, note

# What a class may hold: by their types alone is known what these do. Text, tuples and dicts stand under names such as `__module__`,
# and are plain attributes else; there are no answers about their names (`Known.answers`).
_HELD = frozenset(
    {FunctionType, str, NoneType, tuple, dict, property, staticmethod, classmethod}
    | {GetSetDescriptorType, MemberDescriptorType}
)
_LINE = "__firstlineno__"  # the one number that a class holds from 3.13 on


class Known:
    """What is known of a class. Besides, what was made for it: that goes with the class."""

    __slots__ = ("answers", "like", "made", "version", "word")

    def __init__(self, word: Any, version: int, like: Any, answers: dict[Any, Any]):
        self.word = word
        self.version = version
        self.like = like  # what tells the classes that are like it
        self.answers = answers  # by what was asked: of these classes, as long as nothing in them has changed
        self.made: dict[Any, Any] = {}


_known: dict[type, Known] = {}
_answers: dict[Any, dict[Any, Any]] = {}
_MANY = 1000


def made_by_statement(cls: Any) -> None:
    """A class statement has just made a class."""
    if type(cls) is not type or "<locals>" not in cls.__qualname__:
        return
    held = cls.__dict__
    types = tuple([type(x) if name != _LINE else NoneType for name, x in held.items()])
    if not _HELD.issuperset(types):
        return
    bases = [base if base is object else _likeness(base) for base in cls.__bases__]
    version = type_version(cls)
    if None in bases or not version:
        return
    like = tuple(held), types, *bases
    answers = _answers.get(like)
    if answers is None:
        if len(_answers) >= _MANY:
            _answers.clear()
        answers = _answers[like] = {}
    note(_known, cls, (cls,), Known(version_word(cls), version, like, answers))


def _likeness(base: type) -> Any:
    """What stands for a base: another one that it stands for, too, has the same answers. None if there is nothing to rely on."""
    known = about(base)
    if known is not None:
        return known.like
    version = type_version(base)
    return (base, version) if version and lasts(base) else None


def about(cls: Any) -> Known | None:
    """What is known of a class that was made anew, and is as it was made; None of others."""
    known = _known.get(cls)
    return known if known is not None and known.word.value == known.version else None


def forget() -> None:
    _known.clear()
    _answers.clear()


__all__ = ["Known", "about", "forget", "made_by_statement"]
