"""What is left for `object.__init__` and `object.__new__` is an error, by CPython's rules."""

from __future__ import annotations

import pytest

from tests.side_by_side import check
from tests.turns import each_in_turn

pytestmark = [pytest.mark.filterwarnings("ignore::zyg.FallbackWarning"), each_in_turn]


class Plain:
    pass


class Named:
    def __init__(self, v, **rest):
        super().__init__(**rest)
        self.v = v


class Listed:
    def __init__(self, v, *rest):
        super().__init__(*rest)
        self.v = v


class Passing:
    def __init__(self, v):
        super().__init__(v)
        self.v = v


class ByName:
    def __init__(self, v, *rest, **named):
        object.__init__(self, *rest, **named)
        self.v = v


class Middle(Named):
    def __init__(self, v, w, **rest):
        super().__init__(v, **rest)
        self.w = w


class New:
    def __new__(cls, *args):
        return super().__new__(cls, *args)

    def __init__(self, v):
        self.v = v


class NewOnly:
    def __new__(cls, v):
        made = super().__new__(cls)
        made.v = v
        return made


class NewPassing(NewOnly):
    def __init__(self, v):
        object.__init__(self, v)


class Both(NewOnly):
    def __init__(self, v, **rest):
        super().__init__(**rest)
        self.w = v


class Making:
    def __new__(cls, v):
        return object.__new__(Made)


class Made(Making):
    def __init__(self, v):
        self.v = v * v


class Again:
    __init__ = object.__init__


EXAMPLES = {
    "nothing left": lambda x: Named(x).v * x,
    "a keyword": lambda x: Named(x, z=1).v,
    "a keyword of a base": lambda x: Middle(x, x, z=1).v,
    "taken by a base": lambda x: Middle(x, 2.0).v * x,
    "a position": lambda x: Listed(x, 3).v,
    "no position": lambda x: Listed(x).v * x,
    "always": lambda x: Passing(x).v,
    "by the class": lambda x: ByName(x, x).v,
    "by the class and name": lambda x: ByName(x, k=x).v,
    "by the class, nothing": lambda x: ByName(x).v * x,
    "of an object without": lambda x: object.__init__(Plain(), x) or x,
    "of an object without, nothing": lambda x: object.__init__(Plain()) or x * x,
    "of an object whose class has __new__": lambda x: object.__init__(NewOnly(x), x) or x * x,
    "new": lambda x: New(x).v,
    "new only": lambda x: NewOnly(x).v * x,
    "new, and init that passes": lambda x: NewPassing(x).v,
    "new, and init": lambda x: Both(x).v * Both(x).w,
    "new, and init with more": lambda x: Both(x, k=x).v,
    "object.__new__": lambda x: object.__new__(Plain, x) or x,
    "object.__new__ of what has an init": lambda x: (object.__new__(Named, x) is None) + x * x,
    "an object of a class that is derived": lambda x: Making(x).v,
    "a class without": lambda x: Plain(x) or x,
    "a class without, by name": lambda x: Plain(k=x) or x,
    "object's own init": lambda x: Again(x) or x,
    "object's own init, nothing": lambda x: (Again() is None) + x * x,
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_left_is_an_error(name):
    check(EXAMPLES[name], 1.5)
