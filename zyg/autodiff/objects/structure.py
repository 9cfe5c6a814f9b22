"""Values with structure, as users see their gradients: lists of lists, dicts, objects, tuples of arrays.

A *form* is what a value was like at one point of the program: a mutable object may look different when the reverse pass
comes by.  Gradients of values of a form are put together in gathering.py, and taken apart in scattering.py.
"""

from __future__ import annotations

import array
import functools
import gc
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, compress
from types import BuiltinFunctionType, CellType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np

from zyg.autodiff import objects
from zyg.autodiff.identity import ByIdentity
from zyg.backend.cpython import type_version, version_word
from zyg.gradient_classes import gradient_class
from zyg.ir.plainly import get_plainly, own_attributes

from . import foreign, iteration
from .cotangents import DATES, INERT, NUMERIC, SETS, Refused, is_closed, is_number
from .shadows import join_class

Form = tuple[Any, ...]
NUMBER: Form = ("number",)  # a real one
COMPLEX: Form = ("number", "complex")
NOTHING: Form = ("nothing",)
SEQUENCES = (list, deque, array.array)
FEW = 3  # as many things side by side are looked at one by one


_REALS = frozenset({float, int})


class Flat(dict[Any, Form]):
    """The forms of what a dict holds, if that is nothing but numbers and what carries nothing."""

    __slots__ = ()


class Seen(dict[int, Any]):
    """What the objects look like that a value has been found to hold, by identity; NOTHING as long as that is being found out.
    `groups`: those that are alike, together."""

    __slots__ = ("groups",)
    groups: list[Any]


def nothing_seen(groups: list[Any] | None = None) -> Seen:
    """Nothing so far."""
    made = Seen()
    made.groups = [] if groups is None else groups
    return made


def forms_of(args: Iterable[Any]) -> tuple[list[Form], list[Any]]:
    """What each of several values looks like now, and what they hold that is alike."""
    groups: list[Any] = []
    return [NUMBER if type(x) is float else form(x, nothing_seen(groups)) for x in args], groups


def form(x: Any, seen: Seen | None = None) -> Form:
    """What a value looks like now."""
    t = type(x)
    if t is dict or t is list:  # of which there may be many, as of objects of a class
        if seen is None:
            seen = nothing_seen()
        key = id(x)
        known = seen.get(key)
        if known is not None:
            return _again_form(known, x)
        seen[key] = NOTHING
        made = seen[key] = _form_of_plain_dict(x, seen) if t is dict else _form_of_list(x, seen)
        return made
    if t is float or t is int:
        return NUMBER
    if t in INERT:
        return NOTHING
    if seen is None:
        seen = nothing_seen()
    fields = _fields.get(id(t))
    if fields is None or not fields.alone or fields.word.value != fields.version:
        if is_number(x):
            return COMPLEX if issubclass(t, (complex, np.complexfloating)) else NUMBER
        if issubclass(t, np.ndarray):
            return ("array", x) if x.dtype.kind in "fciu" else NOTHING
        if is_closed(t) or issubclass(t, _WITHOUT_FORM):
            return NOTHING
        if issubclass(t, tuple):
            return _form_of_tuple(x, seen)
        fields = fields_in(t)
    key = id(x)
    known = seen.get(key)
    if known is None:
        seen[key] = NOTHING
        made = seen[key] = _form_of_fields(x, fields, seen) if fields.alone else _form_of_object(x, t, seen)
        return made
    return _again_form(known, x)


def _again_form(known: Any, x: Any) -> Form:
    """The form of what has been met before: nothing if it is part of itself."""
    if known is NOTHING:
        return NOTHING
    return "again", known if type(known) is tuple else known.form_of(x)


_WITHOUT_FORM = ModuleType, type, BuiltinFunctionType


def _form_of_tuple(x: tuple[Any, ...], seen: Seen) -> Form:
    if id(x) in seen:
        return NOTHING
    seen[id(x)] = NOTHING
    forms: Any = _flat_forms(x)
    if forms is None and len(x) > FEW and len(set(map(type, x))) == 1:
        forms = objects.together.look(list(x), seen)
    if forms is None:
        forms = [form(v, seen) for v in x]
    del seen[id(x)]
    return ("tuple", x, forms)


def _form_of_plain_dict(x: dict[Any, Any], seen: Seen) -> Form:
    if len(x) > FEW and (len(x) > _SMALL or type(next(iter(x.values()))) not in _OF_PYTHON):
        return _form_of_dict(x, seen)
    if _REALS.issuperset(map(type, x.values())):
        return ("dict", x, Flat(dict.fromkeys(x, NUMBER)))
    forms: dict[Any, Form] = {}
    for key, v in x.items():
        t = type(v)
        forms[key] = NUMBER if t is float else NOTHING if t is str else form(v, seen)
    return ("dict", x, forms)


# Of a dict as many are looked at one by one where they are no objects of classes: that takes less.
_SMALL = 8
_OF_PYTHON = frozenset({float, int, str, bool, type(None), list, dict})


def _form_of_dict(x: dict[Any, Any], seen: Seen) -> Form:
    held = list(dict.values(x))
    kinds = objects.together.types_in(held)
    if kinds <= _FLAT and type(x) is dict:
        if kinds <= _REALS:
            return ("dict", x, Flat(dict.fromkeys(x, NUMBER)))
        return ("dict", x, Flat({k: NUMBER if type(v) in _REALS else NOTHING for k, v in x.items()}))
    keys = list(dict.keys(x))  # (What is asked may load other modules.)
    if len(kinds) == 1:
        alike = objects.together.look(held, seen)
        if alike is not None:
            return ("dict", x, objects.together.Keyed(keys, alike))
    return ("dict", x, {k: NUMBER if type(v) is float else form(v, seen) for k, v in zip(keys, held)})


def _form_of_list(x: list[Any], seen: Seen) -> Form:
    if not x:
        return ("numbers", x, 0)
    if len(x) > FEW or type(x[0]) in _WITHOUT_IDENTITY:
        return _form_of_items(x, x, seen)
    forms: list[Form] = []
    for v in x:
        forms.append(NUMBER if type(v) is float else form(v, seen))
    return ("list", x, forms)


def _form_of_items(x: Any, held: list[Any], seen: Seen) -> Form:
    kinds = objects.together.types_in(held)
    if kinds <= _REALS:
        return ("numbers", x, len(held))
    if kinds <= INERT:
        return ("list", x, [NOTHING] * len(held))
    if len(kinds) == 1:
        together = FlatTuples.of(held) if kinds == _TUPLE else objects.together.look(held, seen)
        if together is not None:
            return ("list", x, together)
    return ("list", x, [NUMBER if type(v) is float else form(v, seen) for v in held])


def _form_of_fields(x: Any, fields: Fields, seen: Seen) -> Form:
    forms: dict[str, Form] = {}
    for name in fields.of(x):
        v = getattr(x, name, None)
        forms[name] = NUMBER if type(v) is float else NOTHING if v is None else form(v, seen)
    return ("object", x, forms) if forms else NOTHING


def _form_of_object(x: Any, t: type, seen: Seen) -> Form:
    if issubclass(t, SEQUENCES):
        return _form_of_items(x, list(iteration.own_items(x)), seen)
    if issubclass(t, (set, frozenset)):
        items = tuple(iteration.own_items(x))
        return NOTHING if INERT.issuperset(map(type, items)) else ("set", x, items)
    if issubclass(t, dict):
        return _form_of_dict(x, seen)
    if t is MappingProxyType:
        mapping = gc.get_referents(x)[0]
        return form(mapping, seen) if type(mapping) is dict and "__module__" not in mapping else NOTHING
    if issubclass(t, FunctionType):
        if not x.__closure__:
            return NOTHING
        return ("function", x, [(c, form(content(c), seen)) for c in x.__closure__])
    if issubclass(t, MethodType):
        return ("method", x, form(x.__self__, seen))
    if issubclass(t, functools.partial):
        return ("partial", x, form(x.args, seen), form(x.keywords, seen))
    if issubclass(t, Names):
        return ("dict", x.space, {k: form(x.space[k], seen) for k in x.used if k in x.space})
    if t is memoryview:
        return form(x.obj if isinstance(x.obj, array.array) else np.asarray(x), seen)
    if str(t.__dict__.get("__module__")).startswith(_OF_THE_COMPILER):
        return NOTHING
    return _form_of_fields(x, fields_in(t), seen)


def has_fields(t: type) -> bool:
    """Whether the form of instances of a class is that of an object with attributes, if they have any."""
    return not issubclass(t, _OTHERS) and not str(t.__dict__.get("__module__")).startswith(_OF_THE_COMPILER)


# Classes whose objects carry no derivative, and refer to all of a program's SSA: what compilation left with a function or an error.
_OF_THE_COMPILER = "zyg.ir.", "zyg.frontend.", "zyg.dispatch", "zyg.errors", "zyg.pipeline", "zyg.assumptions"


class FlatForms(tuple[Form, ...]):
    """The forms of the items of a tuple that holds nothing but numbers and what carries nothing: none of it has a shadow."""

    def gather(self, d: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
        """The gradient of the tuple."""
        if d is None:
            return None
        if Refused in map(type, d):
            raise next(c for c in d if type(c) is Refused).error
        given = tuple([c if f is NUMBER else None for f, c in zip(self, d)])
        return None if given.count(None) == len(given) else given


_flat: dict[tuple[type, ...], FlatForms] = {}  # by the types of the items, for tuples of no class derived from `tuple`
_NOTHING_IN = INERT | DATES
_FLAT = _REALS | _NOTHING_IN
_TUPLE = {tuple}
_WITHOUT_IDENTITY = _FLAT | {tuple}
_FLOWING = {float, int, type(None)}
_MANY = 1000


def _flat_forms(x: tuple[Any, ...]) -> FlatForms | None:
    types = tuple(map(type, x))
    if type(x) is not tuple or not _FLAT.issuperset(types):
        return None
    forms = _flat.get(types)
    if forms is None:
        if len(_flat) >= _MANY:
            _flat.clear()
        forms = _flat[types] = FlatForms([NUMBER if t in _REALS else NOTHING for t in types])
    return forms


class FlatTuples:
    """The forms of a list of tuples that hold nothing but numbers and what carries nothing, of which there may be many: they
    are found out when they are wanted, as such a tuple never looks different."""

    __slots__ = ("_held", "_types")

    def __init__(self, held: list[tuple[Any, ...]], types: list[type]):
        self._held = held
        self._types = types  # of all the items

    @staticmethod
    def of(held: list[tuple[Any, ...]]) -> FlatTuples | None:
        types = list(map(type, chain.from_iterable(held)))
        return FlatTuples(held.copy(), types) if _FLAT.issuperset(types) else None

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[Form]:
        return map(form, self._held)

    def are_gradients(self, cotangents: list[Any]) -> bool:
        """Whether what has come to the tuples is the gradient as it is: numbers where numbers are, in one of them at least."""
        rows = cotangents
        if None in rows:
            rows = [(None,) * len(x) if d is None else d for x, d in zip(self._held, rows)]
        if set(map(type, rows)) != _TUPLE or list(map(len, rows)) != list(map(len, self._held)):
            return False
        flat = list(chain.from_iterable(rows))
        if not set(map(type, flat)) <= _FLOWING:
            return False
        if not _REALS.issuperset(self._types):
            inert = list(compress(flat, map(_NOTHING_IN.__contains__, self._types)))
            if inert.count(None) < len(inert):
                return False
        return not any((None,) * n in cotangents for n in set(map(len, rows)))


class Names:
    """The names that some code is run with, most of which are no business of its own: those of a module lead everywhere."""

    __slots__ = ("space", "used")

    def __init__(self, space: dict[str, Any], used: Iterable[str]):
        self.space = space
        self.used = frozenset(used)


def mapping_of(x: Any) -> dict[Any, Any] | None:
    """The dict that a MappingProxyType shows, that of a class with its attributes."""
    if type(x) is not MappingProxyType:
        return None
    mapping = gc.get_referents(x)[0]
    if type(mapping) is not dict:
        return None
    if "__module__" in mapping:
        join_class(mapping)
    return mapping


def content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


class Fields:
    """What the objects of a class hold, as far as the class says it. `alone`: they have a form by that, and no other one."""

    __slots__ = ("alone", "declared", "gradients", "of_exception", "slots", "version", "word")

    def __init__(self, cls: type):
        self.version = type_version(cls)
        self.word = version_word(cls)
        self.declared = tuple(get_plainly(cls, "__dataclass_fields__", ()))
        self.of_exception = issubclass(cls, BaseException)
        self.slots = tuple(_slots_of(cls))
        self.gradients: dict[tuple[str, ...], Any] = {}  # the classes of their gradients, by the names of attributes
        self.alone = bool(cls.__flags__ & _HEAP) and not issubclass(cls, SETS) and has_fields(cls)

    def of(self, x: Any) -> Iterable[str]:
        """The names of what an object holds: those of a dataclass in their order, then `__dict__`, then slots. (What a dataclass
        declares need not be an instance's: a ClassVar, a default that was not taken over, what was deleted.)"""
        own = own_attributes(x)  # of any kind, where a class answers to all names
        if type(own) is dict and not (self.declared or self.slots or self.of_exception):
            return tuple(own)
        names: dict[str, None] = dict.fromkeys(self.declared)
        if isinstance(own, dict):
            names = {name: None for name in self.declared if name in own or name in self.slots}
            names.update(dict.fromkeys(own))
        if self.of_exception:
            from . import classes

            kept = [n for n in classes.attributes_of_c(x) if classes.flows(getattr(x, n, None))]
            names = dict.fromkeys(["args", *kept, *[n for n in names if n not in classes.OF_ZYG]])
        for name in self.slots:
            if hasattr(x, name):
                names[name] = None
            else:
                names.pop(name, None)
        return names


_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_fields = ByIdentity()


def fields_in(cls: type) -> Fields:
    """What is known of the objects of a class."""
    found = _fields.get(id(cls))
    if found is None or found.word.value != found.version:
        found = Fields(cls)
        if found.version:
            _fields.note(cls, found)
    return found


def fields_class(cls: type, names: tuple[str, ...]) -> Any:
    """The named tuple that holds the gradient by an instance of `cls` with these attributes."""
    fields = _fields.get(id(cls))
    made = None if fields is None else fields.gradients.get(names)
    if made is None:
        plain = tuple(n.lstrip("_") for n in names)
        made = gradient_class(cls, names if plain == names or len(set(plain)) < len(plain) else plain)
        if fields is not None:
            fields.gradients[names] = made
    return made


def _slots_of(cls: type) -> Iterator[str]:
    for c in cls.__mro__:
        slots = c.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__"):
                if name.startswith("__") and not name.endswith("__"):
                    name = f"_{c.__name__.lstrip('_')}{name}"
                # (A class may have a property under the name of a slot of its base.)
                owner = next((k for k in cls.__mro__ if name in k.__dict__), None)
                if owner is c:
                    yield name


def fields_of(x: Any) -> tuple[str, ...]:
    """The names of what an object holds."""
    return tuple(fields_in(type(x)).of(x))


def holds_numbers(form: Form) -> bool:
    """Whether a value of this form carries any derivative."""
    kind = form[0]
    if kind in ("number", "array", "numbers"):
        return True
    if kind == "nothing":
        return False
    return any(map(holds_numbers, parts_of(form)))


def has_shadow(form: Form, shadows: Any) -> bool:
    """Whether a cotangent has come to anything in a value of this form."""
    if form[0] in ("number", "nothing"):
        return False
    if foreign.has_shadow(form[1], shadows):
        return True
    return form[0] not in ("array", "numbers") and any(has_shadow(part, shadows) for part in parts_of(form))


def objects_of(form: Form) -> Iterable[Any]:
    """The objects that a value of this form is, holds or has captured."""
    if form[0] == "object":
        yield form[1]
    if form[0] not in ("number", "array", "numbers", "nothing"):
        for part in parts_of(form):
            yield from objects_of(part)


form_of = form  # (under a name that is no parameter)


def parts_of(form: Form) -> Iterable[Form]:
    """The forms of what a value of this form holds."""
    kind = form[0]
    if kind in ("tuple", "list"):
        return form[2]
    if kind in ("dict", "object"):
        return form[2].values()
    if kind == "function":
        return [f for _, f in form[2]]
    if kind == "set":
        return map(form_of, form[2])
    return form[2:]


_OTHERS = (
    *(
        tuple,
        *NUMERIC,
        *SEQUENCES,
        dict,
        np.ndarray,
        memoryview,
        MappingProxyType,
        ModuleType,
        type,
        BuiltinFunctionType,
    ),
    *(FunctionType, MethodType, functools.partial, Names),
)
