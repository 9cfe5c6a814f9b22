"""Values that stand side by side and look alike: objects of one class in a list, dicts with the same keys, rows of a table.

What each of many objects looks like (`structure.form`), a shadow for each, and the gradient of each: that takes microseconds for an
object, a hundred times what a loop over them does with it.  So all of them are looked at together, attribute by attribute: a *column*
is what an attribute is like in all of them.  That is possible if no object stands in two places; all else is left to `structure`,
object by object, which gives the same.
"""

from __future__ import annotations

import functools
import gc
import operator
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, count, repeat
from typing import Any

import numpy as np

from zyg.autodiff.identity import ByIdentity
from zyg.backend import pulls
from zyg.backend.cpython import type_version
from zyg.ir.plainly import has_plainly, is_in_class

from . import gathering, structure
from .arithmetic import find
from .attributes import is_slot, plain_lookup
from .cotangents import INERT, Refused
from .holders import CLASSES, Holder, class_for, has_attribute, is_name

Form = tuple[Any, ...]

_REALS = frozenset({float, int})
_NUMBERS = {float}
_NONE = type(None)
_NOTHING_GIVEN = {_NONE}
_NO_OBJECTS = INERT | _REALS | {tuple, np.ndarray}


class Alike:
    """Mutable values of one kind, none of them twice. It stands for the list of their forms, which are made when they are asked for."""

    __slots__ = ("_forms", "_identities", "held", "places")

    def __init__(self, held: list[Any], found: list[Alike]):
        self.held = held
        self._forms: dict[int, Form] = {}
        self.places, self._identities = identities(held)
        if len(self._identities) < len(held):
            raise _Unlike
        for other in found:
            if not self._identities.isdisjoint(other._identities):
                raise _Unlike
        found.append(self)

    def _meets(self, seen: structure.Seen) -> bool:
        return not seen.keys().isdisjoint(self._identities)

    def __len__(self) -> int:
        return len(self.held)

    @abstractmethod
    def __iter__(self) -> Iterator[Form]: ...

    def form_of(self, x: Any) -> Form:
        """The form of one of them. (All are made at once: where one is asked for, most often all are.)"""
        if not self._forms:
            self._forms = dict(zip(self.places, self))
        return self._forms[id(x)]

    def end(self) -> None:
        """The forward pass is over."""

    @abstractmethod
    def prepare(self, shadows: Any) -> None:
        """Make the shadows that they will have."""

    @abstractmethod
    def gather(self, shadows: Any) -> list[Any] | None:
        """The gradients of all of them; None if they are to be asked one by one."""


class _Unlike(Exception):
    """They are not alike, or one object is two of them."""


Column = Any  # Alike, or a form (NUMBER or NOTHING) that all of them have, or the forms as a list


def look(held: list[Any], seen: structure.Seen) -> Alike | None:
    """The values of a list, tuple or dict, if they are of one type and alike; None if not. (They are kept as they are now: the list may
    be changed, and what goes out of it is still known by its identity.)

    >>> look([[1.0], [2.0, 3.0], [], [4.0]], structure.nothing_seen()) is None, look([[1.0], [], [[2.0]], []], structure.nothing_seen()) is None
    (False, True)
    """
    if len(held) <= structure.FEW or type(held[0]) in _NO_OBJECTS:
        return None
    kind = _kind_of(held[0]) if len(held) <= _SHORT else None
    if _unlike.get(kind):
        _unlike[kind] -= 1
        return None
    held, found = list(held), list[Alike]()
    try:
        made = _column(held, {type(held[0])}, found)
    except _Unlike:
        if kind is not None:
            if len(_unlike) >= _MANY:
                _unlike.clear()
            _unlike[kind] = _LEFT_OUT
        return None
    if not isinstance(made, Alike) or any(group._meets(seen) for group in found):
        return None
    if len(seen) > 1:  # else it is all that there is
        for group in found:
            seen.update(dict.fromkeys(group.places, group))
    seen.groups.append(made)
    return made


# Few values of a kind that has turned out not to be alike most likely are not, the next times either: to find out takes as long as to
# look at each by itself.
_unlike: dict[Any, int] = {}
_LEFT_OUT = 16
_SHORT = 32
_MANY = 1000


def _kind_of(x: Any) -> Any:
    """Of a dict its keys; of an object the address of its class, which may be that of another one later; None of a list."""
    if type(x) is not dict:
        return None if type(x) is list else id(type(x))
    return tuple(x) if _KEYS.issuperset(map(type, x)) else None


_KEYS = frozenset({str, int})


def _column(held: list[Any], kinds: set[type], found: list[Alike]) -> Column:
    if kinds <= _REALS:
        return structure.NUMBER
    if kinds <= INERT:
        return structure.NOTHING
    if len(kinds) > 1:
        raise _Unlike
    (kind,) = kinds
    if kind is list:
        return Rows(held, found)
    if kind is dict:
        return Dicts(held, found)
    if kind is np.ndarray:
        return list(map(structure.form, held))
    if kind is tuple:
        flat = structure.FlatTuples.of(held)
        if flat is None:
            raise _Unlike
        return list(flat)
    return Objects(held, found)


def _forms(column: Column) -> Iterable[Form]:
    return repeat(column) if type(column) is tuple else column


def _gathered(column: Column, count: int, flowing: Callable[[], Iterable[Any]], shadows: Any) -> Iterable[Any] | None:
    """The gradients of a column, in which `flowing` are the cotangents that are no shadows'."""
    if column is structure.NOTHING:
        return repeat(None, count)
    if isinstance(column, Alike):
        return column.gather(shadows)
    if column is structure.NUMBER:
        return flowing()
    return [gathering.gather(form, d, shadows) for form, d in zip(column, flowing())]


class Columned(Alike):
    """What has a column for each attribute, or key."""

    __slots__ = ("columns",)
    columns: list[Column]

    def end(self) -> None:
        for column in self.columns:
            if isinstance(column, Alike):
                column.end()

    def prepare(self, shadows: Any) -> None:
        for column in self.columns:
            if isinstance(column, Alike):
                column.prepare(shadows)

    def put_together(
        self, form: RowForm, flowing: Sequence[Callable[[], Iterable[Any]]], shadows: Any
    ) -> list[Any] | None:
        """The gradients, of this form; `flowing`: for each column the cotangents that are no shadows'."""
        columns = []
        for column, of_column in zip(self.columns, flowing):
            made = _gathered(column, len(self), of_column, shadows)
            if made is None:
                return None
            columns.append(made)
        return rows(form, columns, len(self))


class Objects(Columned):
    """Instances of one class that have the same attributes."""

    __slots__ = ("cls", "names", "plan")

    def __init__(self, held: list[Any], found: list[Alike]):
        super().__init__(held, found)
        self.cls = type(held[0])
        self.plan, columns, kinds = attributes_of(held)
        self.names = self.plan.names
        self.columns = [_column(values, types, found) for values, types in zip(columns, kinds)]

    def __iter__(self) -> Iterator[Form]:
        for x, *forms in zip(self.held, *map(_forms, self.columns)):
            yield "object", x, dict(zip(self.names, forms))

    def prepare(self, shadows: Any) -> None:
        super().prepare(shadows)
        if self.plan.few or (shadows.holders and not shadows.holders.keys().isdisjoint(self.places)):
            return
        give_each(shadows.holders, self.places, self._of_holders())

    def _of_holders(self) -> type[Holder]:
        made = CLASSES.get(id(self.cls))
        return class_for(self.held[0], made) if made is None or made.__asked__ else made

    def gather(self, shadows: Any) -> list[Any] | None:
        readers = [self.plan.reader(name) for name in self.names]
        holders = list(map(shadows.holders.get, self.places))
        missing = not all(holders)
        if missing:
            self.plan.few = len(list(filter(None, holders))) < len(holders) // 2
            nothing = self._of_holders()()
            holders = [nothing if holder is None else holder for holder in holders]
        flowing = [functools.partial(reader, holders) for reader in readers]
        cls = structure.fields_class(self.cls, self.names)
        made = self.put_together(cls, flowing, shadows)
        if made is not None and not missing and not all(made):
            self.plan.few = len(list(filter(None, made))) < len(made) // 2
        return made


class Dicts(Columned):
    """Dicts with the same keys."""

    __slots__ = ("keys",)

    def __init__(self, held: list[Any], found: list[Alike]):
        super().__init__(held, found)
        self.keys = tuple(held[0])
        plain = {str, int}.issuperset(map(type, chain.from_iterable(held)))  # others may run code where they are hashed
        if not self.keys or not plain or len(set(map(tuple, held))) > 1:
            raise _Unlike
        columns = [list(map(operator.itemgetter(key), held)) for key in self.keys]
        self.columns = [_column(values, types_in(values), found) for values in columns]

    def __iter__(self) -> Iterator[Form]:
        for x, *forms in zip(self.held, *map(_forms, self.columns)):
            yield "dict", x, dict(zip(self.keys, forms))

    def prepare(self, shadows: Any) -> None:
        super().prepare(shadows)
        if shadows.items.keys().isdisjoint(self.places):
            shadows.items.update(zip(self.places, [{} for _ in self.held]))

    def gather(self, shadows: Any) -> list[Any] | None:
        items = list(map(shadows.items.get, self.places))
        if None in items:
            return None
        flowing = [lambda key=key: [d.get(key) for d in items] for key in self.keys]
        return self.put_together(self.keys, flowing, shadows)


class Rows(Alike):
    """Lists of numbers, which may be of different lengths."""

    __slots__ = ("at_end", "lengths")

    def __init__(self, held: list[Any], found: list[Alike]):
        super().__init__(held, found)
        if not _REALS.issuperset(map(type, chain.from_iterable(held))):
            raise _Unlike
        self.lengths = self.at_end = list(map(len, held))

    def end(self) -> None:
        self.at_end = list(map(len, self.held))

    def __iter__(self) -> Iterator[Form]:
        for x, length in zip(self.held, self.lengths):
            yield "numbers", x, length

    def prepare(self, shadows: Any) -> None:
        if shadows.items.keys().isdisjoint(self.places):
            # As long as they are where the reverse pass begins: what adds to an item finds its place.
            shadows.items.update(zip(self.places, [[None] * length for length in self.at_end]))

    def gather(self, shadows: Any) -> list[Any] | None:
        items = list(map(shadows.items.get, self.places))
        full = None not in items and 0 not in self.lengths and list(map(len, items)) == self.lengths
        if full and set(map(type, chain.from_iterable(items))) == _NUMBERS:
            return list(map(list, items))
        return [gathering.gather(form, None, shadows) for form in self]


class Keyed(Mapping[Any, Form]):
    """The forms of the values of a dict, which are alike."""

    __slots__ = ("_forms", "alike", "names")

    def __init__(self, names: list[Any], alike: Alike):
        self.names = names
        self.alike = alike
        self._forms: dict[Any, Form] | None = None

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.names)

    def __getitem__(self, key: Any) -> Form:
        if self._forms is None:
            self._forms = dict(zip(self.names, self.alike))
        return self._forms[key]


def end(groups: list[Alike]) -> None:
    """The forward pass is over, by which what is alike was changed."""
    for group in groups:
        group.end()


def prepare(groups: list[Alike], shadows: Any) -> None:
    """Make the shadows of what is alike, before a reverse pass."""
    for group in groups:
        group.prepare(shadows)
    shadows.kept += groups


def gather(alike: Alike, shadows: Any) -> list[Any] | None:
    """The gradients of what is alike; None if they are to be gathered one by one."""
    return alike.gather(shadows)


# ------------------------------------------------------------------------------------- which attributes objects have


class Plan:
    """How the attributes of the instances of a class are read: by code of the class's own, which CPython specialises for it."""

    # `in_dict`: no attribute is in a slot; `of_class`: those that the class has, too, which an instance need not have: their places,
    # names, and what the class has.
    __slots__ = ("few", "in_dict", "names", "of_class", "read", "readers", "version", "without_dict")

    def __init__(self, cls: type, names: tuple[str, ...], version: int):
        self.version = version
        self.names = names
        self.without_dict = not cls.__dictoffset__  # up to 3.11; below zero from 3.12 on
        self.few = (
            False  # of many instances few had cotangents, the last time: shadows are made for those that get some
        )
        self.read = _compiled("".join([f"[x.{name} for x in xs]," for name in names]))
        found = [(k, name, _of_class(cls, name)) for k, name in enumerate(names)]
        self.in_dict = not any(is_slot(cls, value) for _, _, value in found)
        self.of_class = [one for one in found if one[2] is not _NOT_THERE and not is_slot(cls, one[2])]
        self.readers: dict[str, Callable[..., list[Any]]] = {}

    def reader(self, name: str) -> Callable[[list[Any]], list[Any]]:
        """A function that reads an attribute of the shadows of instances."""
        made = self.readers.get(name)
        if made is None:
            has_attribute(name)
            made = self.readers[name] = _compiled(f"[x.{name} for x in xs]")
        return made

    def columns(self, held: list[Any]) -> tuple[tuple[list[Any], ...], list[set[type]]] | None:
        """What the attributes are, and their types; None if one of the instances lacks one, or has others."""
        try:
            columns = self.read(held)
        except AttributeError:
            return None
        if self.of_class and not self.are_own(held, columns):
            return None
        kinds = _kinds_of(columns) if self.without_dict else types_alone(held, columns, self.in_dict, self)
        return None if kinds is None else (columns, kinds)

    def are_own(self, held: list[Any], columns: tuple[list[Any], ...]) -> bool:
        """Whether what was read of instances is not the class's. What is the very object that the class has (as a default is, which
        an instance has taken over) may be either: that instance is asked for its `__dict__`."""
        for k, name, value in self.of_class:
            for x in compress(held, map(operator.is_, columns[k], repeat(value))):
                if name not in x.__dict__:
                    return False
        return True

    def kinds(self, held: list[Any], columns: tuple[list[Any], ...]) -> list[set[type]] | None:
        """The types of what the attributes are, of instances that have no others, else None. (To ask an object for its `__dict__` makes one,
        and all that reads its attributes slower from then on: only those are asked that have been before, as the first one has.)"""
        cls = type(held[0])
        if self.in_dict and _has_dict(held[-1]):  # then all may have one
            refers_to = gc.get_referents(*held)
            dicts = refers_to[::2]
            if len(refers_to) == 2 * len(held) and set(map(type, dicts)) == {dict}:  # a dict and the class each
                if len(self.names) == 1:  # which may be that
                    dicts = [x.__dict__ for x in held]
                return _kinds_of(columns) if self._are_in_dicts(dicts) else None
        asked = held[:1] if _has_dict(held[0]) else []
        others = held[len(asked) :]
        refers_to = gc.get_referents(*others)
        found = set(map(type, refers_to))
        if dict in found:
            others, asked = [], []
            for x in held:
                (asked if _has_dict(x) else others).append(x)
            refers_to = gc.get_referents(*others)
            found = set(map(type, refers_to))
        # Each of the others refers to its class and to what its attributes are.
        if len(refers_to) != len(others) * (1 + len(self.names)):
            return None
        if asked:
            dicts = [x.__dict__ for x in asked]
            if not self.in_dict or set(map(type, dicts)) != {dict} or not self._are_in_dicts(dicts):
                return None
        kinds = _kinds_of(columns)
        of_attributes = not any(issubclass(kind, dict) for kind in found) and found <= {type(cls)}.union(*kinds)
        return kinds if of_attributes else None

    def _are_in_dicts(self, dicts: list[Any]) -> bool:
        """Whether instances whose attributes stand in these have no others than those that have been read."""
        return set(map(len, dicts)) == {len(self.names)}


def _has_dict(x: Any) -> bool:
    """Whether an instance has been asked for its `__dict__`, or has a dict in an attribute."""
    return dict in map(type, gc.get_referents(x))


def _kinds_of(columns: Iterable[list[Any]]) -> list[set[type]]:
    return list(map(types_in, columns))


_NOT_THERE = object()


def _of_class(cls: type, name: str) -> Any:
    """What a class or its bases hold under a name, which may be None."""
    return next((c.__dict__[name] for c in cls.__mro__ if name in c.__dict__), _NOT_THERE)


_plans = ByIdentity()


def attributes_of(held: list[Any]) -> tuple[Plan, tuple[list[Any], ...], list[set[type]]]:
    """The plan for instances of one class, what their attributes are, one after the other, and of which types."""
    cls = type(held[0])
    version = type_version(cls)
    plan = _plans.get(id(cls))
    if plan is None or plan.version != version:
        plan = _planned(held[0], version)
    found = plan.columns(held) if plan.names else None
    if found is None and plan.names != structure.fields_of(held[0]):
        plan = _planned(held[0], version)
        found = plan.columns(held) if plan.names else None
    if found is None:
        raise _Unlike
    return plan, found[0], found[1]


def _planned(x: Any, version: int) -> Plan:
    cls = type(x)
    made = Plan(cls, _readable(x) if version else (), version)
    _plans.note(cls, made)
    return made


def _readable(x: Any) -> tuple[str, ...]:
    """The names of the attributes of an object, if reading them runs no code; else none."""
    cls = type(x)
    if issubclass(cls, (BaseException, Holder)) or not structure.has_fields(cls):
        return ()
    if not cls.__flags__ & _HEAP or not plain_lookup(cls) or find(cls, "__getattr__") is not None:
        return ()
    names = structure.fields_of(x)
    if not set(structure.fields_in(cls).slots).issubset(names):
        return ()  # others may have filled the slots that this one has not
    for name in names:
        found = find(cls, name)
        if type(name) is not str or name.startswith("__") or not is_name(name):
            return ()
        if found is None or is_slot(cls, found):
            continue
        if not has_plainly(cls, "__dataclass_fields__") or is_in_class(type(found), "__get__"):
            return ()
    return names


_HEAP = 1 << 9


# ---- what native code does, too (`backend/llvm/runtime/alike.py`), once there are enough calls


def _types_in(values: Iterable[Any]) -> set[type]:
    return set(map(type, values))


def _identities(held: list[Any]) -> tuple[list[int], set[int]]:
    """The identities of what a list holds."""
    places = list(map(id, held))
    return places, set(places)


def _types_alone(held: list[Any], columns: tuple[list[Any], ...], in_dict: bool, plan: Plan) -> list[set[type]] | None:
    """The types of what was read of instances, attribute by attribute, if they hold nothing else."""
    return plan.kinds(held, columns)


def _give_each(mapping: dict[int, Any], places: list[int], cls: type) -> None:
    """A new instance of a class for each of these."""
    mapping.update(zip(places, [cls() for _ in places]))


# Of what the gradients of what is alike are made: a class of named tuples, or the keys of dicts.
RowForm = type | tuple[Any, ...]


def _rows(form: RowForm, columns: list[Any], count: int) -> list[Any] | None:
    """The gradients of so many, from the columns of what they hold: a list of cotangents, or something else where there are none.
    None if they are to be made one by one."""
    none = True  # whether there may be one that has nothing
    given: list[list[Any]] = []  # the columns in which there is something
    for column in columns:
        if type(column) is list:
            kinds = set(map(type, column))
            if Refused in kinds:
                return None
            none = none and _NONE in kinds
            if kinds != _NOTHING_GIVEN:
                given.append(column)
    if not none:
        return _made(form, zip(*columns))
    with_some = _with_some(given)
    result = [None] * count
    those = zip(*[map(column.__getitem__, with_some) if type(column) is list else column for column in columns])
    for k, gradient in zip(with_some, _made(form, those)):
        result[k] = gradient
    return result


def _made(form: RowForm, values: Iterable[tuple[Any, ...]]) -> list[Any]:
    if isinstance(form, tuple):
        return [dict(zip(form, row)) for row in values]
    return list(map(tuple.__new__, repeat(form), values))


def _with_some(columns: list[list[Any]]) -> list[int]:
    """The numbers of the rows in which not all is None."""
    found: list[int] = []
    for column in columns:
        here = list(compress(count(), map(operator.is_not, column, repeat(None))))
        if here != found:
            found = sorted({*found, *here}) if found else here
    return found


def _in_python(function: Any) -> Any:
    """A built-in function that does what this one does."""
    return pulls.deferred("look", function, start=pulls.ALIKE)


types_in, identities, types_alone = map(_in_python, (_types_in, _identities, _types_alone))
give_each, rows = map(_in_python, (_give_each, _rows))


def _natively() -> None:
    pulls.settle(types_in, "zyg_types_in", part="alike")
    pulls.settle(identities, "zyg_identities", part="alike")
    pulls.settle(types_alone, "zyg_types_alone", part="alike")
    pulls.settle(give_each, "zyg_give_each", part="alike")
    pulls.settle(rows, "zyg_gradients", Refused, part="alike")


pulls.ALIKE.when_started(_natively)


def _compiled(expression: str) -> Callable[..., Any]:
    scope: dict[str, Any] = {}
    exec(f"def read(xs): return {expression}", scope)
    return scope["read"]


__all__ = ["Alike", "Keyed", "end", "gather", "look", "prepare"]
