"""What a loop goes through where that is neither a list nor a dict: the cotangents of items are added by the part of it that they
belong to."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from itertools import count, repeat, tee
from operator import itemgetter
from typing import Any

from zyg.backend.labels import is_label

from .cotangents import accumulate
from .iteration import Direct, Endless, Items, Values, mark_keys, place_of_keys
from .shadows import add_all

NOBODY = (None, None)


class Whole:
    """What a loop goes through, if that is not a list or dict itself."""

    __slots__ = ("found",)

    says_where = False  # whether a part is (a list or another whole, the part of that)

    def __init__(self) -> None:
        self.found: Any = NOBODY

    @abstractmethod
    def adder(self, shadows: Any) -> Callable[[Any, Any], None]:
        """What adds the cotangent of an item, by the part that the item belongs to, in one reverse pass."""

    def add_all(self, shadows: Any, parts: Sequence[Any], ds: list[Any]) -> None:
        """Add the cotangents of items by their parts, the last one first."""
        add = self.adder(shadows)
        for k in range(len(parts) - 1, -1, -1):
            if ds[k] is not None:
                add(parts[k], ds[k])

    def parts(self, shadows: Any) -> tuple[Any, ...] | None:
        """Where items are tuples, whose items belong to one part of something each: the shadows of these, None for what has none.
        (Compiled code adds to them by itself.)"""
        return None

    def apart(self, shadows: Any, count: int) -> tuple[Any, ...] | None:
        """Where items are tuples, whose items belong to a place each in some list, and the part is a tuple of these places: the
        shadows of the lists. (Compiled code adds to them by itself.)"""
        return None

    def add(self, shadows: Any, part: Any, d: Any) -> None:
        of, adder = self.found
        if of is not shadows:
            adder = self.adder(shadows)
            self.found = shadows, adder
        adder(part, d)


class Tuples(Whole):
    """What gives tuples of items of lists, all at the same place."""

    __slots__ = ()

    def adder(self, shadows: Any) -> Callable[[Any, Any], None]:
        found = self.parts(shadows)
        assert found is not None
        if len(found) == 2:
            return _adder_of_pairs(*found)

        def add(part: Any, d: Any) -> None:
            for shadow, c in zip(found, d):
                if c is None or shadow is None:
                    continue
                if part < len(shadow):  # (as `add_at`, without a call for each item)
                    old = shadow[part]
                    shadow[part] = c if old is None else old + c if type(old) is float else accumulate(old, c)
                else:
                    add_at(shadow, part, c)

        return add


def _adder_of_pairs(first: Any, second: Any) -> Callable[[Any, Any], None]:
    """The same for two shadows."""

    def add(part: Any, d: Any) -> None:
        a, b = d
        if a is not None and first is not None:
            if part < len(first):
                old = first[part]
                first[part] = a if old is None else old + a if type(old) is float else accumulate(old, a)
            else:
                add_at(first, part, a)
        if b is not None and second is not None:
            if part < len(second):
                old = second[part]
                second[part] = b if old is None else old + b if type(old) is float else accumulate(old, b)
            else:
                add_at(second, part, b)

    return add


class Lists(Tuples):
    """What `zip` of lists goes through."""

    __slots__ = ("lists",)

    def __init__(self, lists: tuple[Any, ...]):  # (what small loops take is this)
        self.found = NOBODY
        self.lists = lists

    def parts(self, shadows: Any) -> tuple[Any, ...]:
        known = shadows.items
        if len(self.lists) == 2:  # as a rule
            a, b = self.lists
            first = known.get(id(a))
            if first is None:
                first = shadows.new_list(a)
            second = known.get(id(b))
            return first, shadows.new_list(b) if second is None else second
        return tuple([shadows.new_list(x) if (made := known.get(id(x))) is None else made for x in self.lists])

    def add_all(self, shadows: Any, parts: Sequence[Any], ds: list[Any]) -> None:
        if not parts or None in ds or parts[-1] - parts[0] != len(parts) - 1:  # (places go up)
            super().add_all(shadows, parts, ds)
            return
        for x, column in zip(self.lists, zip(*ds)):
            add_all(shadows, x, parts[0], list(column))


class ListsAndTuples(Tuples):
    """What `zip` goes through where there are tuples: what comes to their items gathers in lists, until it is taken."""

    __slots__ = ("iterables",)

    def __init__(self, iterables: tuple[Any, ...]):
        self.found = NOBODY
        self.iterables = iterables

    def parts(self, shadows: Any) -> tuple[Any, ...]:
        items = shadows.items
        found = items.get(id(self))  # by pass: several may run at once
        if found is None and len(self.iterables) == 2:  # as a rule
            a, b = self.iterables
            if type(a) is type(b) is tuple:
                found = items[id(self)] = [None] * len(a), [None] * len(b)
        if found is None:
            made: list[Any] = []  # (in a loop: there are few)
            for x in self.iterables:
                if isinstance(x, tuple):
                    made.append([None] * tuple.__len__(x))
                else:
                    shadow = items.get(id(x))
                    made.append(shadows.list_of(x) if shadow is None else shadow)
            found = items[id(self)] = tuple(made)
        return found

    def taken(self, shadows: Any) -> list[Any]:
        """What has come to tuples; None for lists."""
        found = shadows.items.pop(id(self), None)
        if found is None:
            return [None] * len(self.iterables)
        if len(found) == 2:
            a, b = self.iterables
            if type(a) is type(b) is tuple:
                return [tuple(found[0]), tuple(found[1])]
        taken: list[Any] = []
        for x, ds in zip(self.iterables, found):
            taken.append(tuple(ds) if isinstance(x, tuple) else None)
        return taken


class NumberedTuple(ListsAndTuples):
    """What `enumerate` of a tuple goes through: (the tuple,)."""

    __slots__ = ()

    def parts(self, shadows: Any) -> tuple[Any, ...]:
        return None, *super().parts(shadows)


def add_at(shadow: list[Any], index: int, d: Any) -> None:
    """Add to a place of a shadow, which may be shorter than its list."""
    if index < len(shadow):
        old = shadow[index]
        shadow[index] = d if old is None else old + d if type(old) is float else accumulate(old, d)
    else:
        shadow.extend([None] * (index - len(shadow)))
        shadow.append(d)


class Numbered(Tuples):
    """What `enumerate` of a list goes through."""

    __slots__ = ("items",)

    def __init__(self, items: list[Any]):
        self.found = NOBODY
        self.items = items

    def parts(self, shadows: Any) -> tuple[Any, ...]:
        shadow = shadows.items.get(id(self.items))
        return None, shadows.new_list(self.items) if shadow is None else shadow


def steps_of(x: Any) -> tuple[Any, Any, Any] | None:
    """(items, the parts that these are, of what) for what can be stepped through without running code; None for others. What items
    of numbers alone are of is None."""
    t = type(x)
    if t is list:
        return iter(x), count(), x
    if t is range:
        return iter(x), repeat(None), None
    if t is Direct or t is Endless:
        items, parts = tee(x.base)
        return map(_FIRST, items), map(_SECOND, parts), x.whole
    if (t is Values or t is Items) and type(x._mapping) is dict:
        mapping = x._mapping
        if t is Values:
            return iter(mapping.values()), iter(mapping), _Held(mapping)
        return iter(mapping.items()), iter(mapping), Entries(mapping)
    return None


_FIRST, _SECOND = itemgetter(0), itemgetter(1)


def adder_of(whole: Any, shadows: Any) -> Callable[[Any, Any], None]:
    """What adds the cotangent of an item of `steps_of`."""
    if type(whole) is list:
        shadow = shadows.list_of(whole)
        return lambda part, d: add_at(shadow, part, d)
    return _add_nowhere if whole is None else whole.adder(shadows)


def _add_nowhere(part: Any, d: Any) -> None:
    pass


class _Nowhere(Whole):
    """What nothing comes to."""

    __slots__ = ()

    def adder(self, shadows: Any) -> Callable[[Any, Any], None]:
        return _add_nowhere


NOWHERE = _Nowhere()


class _Held(Whole):
    """What a loop over `values()` of a dict goes through."""

    __slots__ = ("mapping",)

    def __init__(self, mapping: dict[Any, Any]):
        super().__init__()
        self.mapping = mapping

    def adder(self, shadows: Any) -> Callable[[Any, Any], None]:
        return lambda key, d: shadows.add_key(self.mapping, key, d)


class Together(Whole):
    """What gives tuples whose items are parts of something else each: `zip` of what `zip`, `enumerate` and the like give. A part is
    a tuple of their parts."""

    __slots__ = ("wholes",)

    def __init__(self, wholes: list[Any]):
        super().__init__()
        self.wholes = wholes

    def apart(self, shadows: Any, count: int) -> tuple[Any, ...] | None:
        if len(self.wholes) != count or not all(type(x) is list for x in self.wholes):
            return None
        return tuple(map(shadows.list_of, self.wholes))

    def adder(self, shadows: Any) -> Callable[[Any, Any], None]:
        found = self.apart(shadows, len(self.wholes))
        if found is not None:
            return _adder_at_places(found)
        adders = [adder_of(x, shadows) for x in self.wholes]

        def add(parts: tuple[Any, ...], d: Any) -> None:
            for add_to, part, c in zip(adders, parts, d):
                if c is not None:
                    add_to(part, c)

        return add


def _adder_at_places(found: tuple[Any, ...]) -> Callable[[Any, Any], None]:
    """The same for shadows of lists."""

    def add(places: tuple[int, ...], d: Any) -> None:
        for shadow, at, c in zip(found, places, d):
            if c is None:
                continue
            if at < len(shadow):  # (as `add_at`, without a call for each item)
                old = shadow[at]
                shadow[at] = c if old is None else old + c if type(old) is float else accumulate(old, c)
            else:
                add_at(shadow, at, c)

    return add


def together(iterables: tuple[Any, ...], strict: bool) -> Direct | None:
    """`zip`, where each of the iterables has parts; else None."""
    kinds = set(map(type, iterables))
    if not _STEPPED.issuperset(kinds) or kinds <= _ENDLESS:
        return None
    found = []
    for x in iterables:
        steps = steps_of(x)
        if steps is None:
            return None
        found.append(steps)
    items, parts, wholes = zip(*found)
    return Direct(zip(zip(*items, strict=strict), zip(*parts)), Together([*wholes]), "zip")


_ENDLESS = frozenset({Endless})
_STEPPED = frozenset({list, range, Direct, Values, Items, Endless})


class Counted(Whole):
    """What `enumerate` of something that has parts goes through."""

    __slots__ = ("whole",)

    def __init__(self, whole: Any):
        super().__init__()
        self.whole = whole

    def adder(self, shadows: Any) -> Callable[[Any, Any], None]:
        inner = adder_of(self.whole, shadows)

        def add(part: Any, d: Any) -> None:
            if d[1] is not None:
                inner(part, d[1])

        return add


def counted(x: Any, start: int) -> Direct | None:
    """`enumerate`, of what has parts; else None."""
    steps = steps_of(x) if type(x) in _STEPPED and type(x) is not Endless else None
    if steps is None or steps[2] is None:
        return None
    items, parts, whole = steps
    return Direct(zip(enumerate(items, start), parts), Counted(whole), "enumerate")


class Entries(Whole):
    """What a loop over `items()` of a dict goes through."""

    __slots__ = ("mapping", "place")

    def __init__(self, mapping: dict[Any, Any], keys: Any = None):
        """`keys`: where the class of the dict may have others in their place."""
        self.found = NOBODY
        self.mapping = mapping
        plain = all(map(is_label, mapping if keys is None else keys))
        self.place = None if plain else place_of_keys(mapping)

    def parts(self, shadows: Any) -> tuple[Any, ...] | None:
        if self.place is not None:
            return None
        shadow = shadows.items.get(id(self.mapping))
        return None, shadows.dict_of(self.mapping) if shadow is None else shadow

    def adder(self, shadows: Any) -> Callable[[Any, Any], None]:
        shadow = shadows.dict_of(self.mapping)
        get = shadow.get
        if self.place is None:  # keys carry nothing

            def add_value(key: Any, d: Any) -> None:
                c = d[1]
                if c is not None:
                    old = get(key)
                    shadow[key] = c if old is None else old + c if type(old) is float else accumulate(old, c)

            return add_value

        def add(key: Any, d: Any) -> None:
            by_key, c = d
            if by_key is not None:
                mark_keys(self.mapping, key, by_key, shadows, self.place)
            if c is not None:
                old = get(key)
                shadow[key] = c if old is None else old + c if type(old) is float else accumulate(old, c)

        return add
