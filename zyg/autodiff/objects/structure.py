"""Values with structure, as users see their gradients: lists of lists, dicts, objects, tuples of arrays.

A *form* is what a value was like at one point of the program: a mutable object may look different when the reverse pass
comes by.  `gather` makes the gradient of a value of a form from what flows and what shadows hold; `scatter` takes one apart.
"""

from __future__ import annotations

import array
import functools
import gc
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from itertools import chain, compress
from types import BuiltinFunctionType, CellType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np

from zyg.autodiff import objects
from zyg.autodiff.identity import ByIdentity
from zyg.backend.cpython import type_version, version_word
from zyg.errors import Misuse, Unsupported, excerpt
from zyg.gradient_classes import closure_gradient_class, gradient_class
from zyg.named import UnknownName, by_names

from . import foreign, iteration
from .cotangents import DATES, INERT, NUMERIC, SETS, Refused, is_closed, is_number
from .shadows import join_class, shadow_dtype

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
        self.declared = tuple(getattr(cls, "__dataclass_fields__", ()))
        self.of_exception = issubclass(cls, BaseException)
        self.slots = tuple(_slots_of(cls))
        self.gradients: dict[tuple[str, ...], Any] = {}  # the classes of their gradients, by the names of attributes
        self.alone = bool(cls.__flags__ & _HEAP) and not issubclass(cls, SETS) and has_fields(cls)

    def of(self, x: Any) -> Iterable[str]:
        """The names of what an object holds: those of a dataclass in their order, then `__dict__`, then slots. (What a dataclass
        declares need not be an instance's: a ClassVar, a default that was not taken over, what was deleted.)"""
        own = getattr(x, "__dict__", None)  # of any kind, where a class answers to all names
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
    return any(map(holds_numbers, _parts(form)))


def has_shadow(form: Form, shadows: Any) -> bool:
    """Whether a cotangent has come to anything in a value of this form."""
    if form[0] in ("number", "nothing"):
        return False
    if foreign.has_shadow(form[1], shadows):
        return True
    return form[0] not in ("array", "numbers") and any(has_shadow(part, shadows) for part in _parts(form))


def objects_of(form: Form) -> Iterable[Any]:
    """The objects that a value of this form is, holds or has captured."""
    if form[0] == "object":
        yield form[1]
    if form[0] not in ("number", "array", "numbers", "nothing"):
        for part in _parts(form):
            yield from objects_of(part)


form_of = form  # (under a name that is no parameter)


def _parts(form: Form) -> Iterable[Form]:
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

# -------------------------------------------------------------------------------------------------- gather


def gather(form: Form, d: Any, shadows: Any, take: bool = False) -> Any:
    """The gradient of a value: `d` is what flows. With `take`, shadows start again from zero."""
    return _GATHER[form[0]](form, d, shadows, take)


_WITHOUT_ATTRIBUTES = frozenset({list, tuple, dict, deque})


def _check_attributes(x: Any, shadows: Any) -> None:
    """The gradient by a container has no place for attributes that its class adds."""
    if type(x) in _WITHOUT_ATTRIBUTES:
        return
    for name, c in (shadows.attributes_of(x) or {}).items():
        if c is not None and isinstance(name, str) and name in getattr(x, "__dict__", ()):
            raise Unsupported(
                f"a derivative by the attribute `{name}` of a {type(x).__qualname__}, a container whose gradient is by its items",
                hint="pass what the attribute holds by itself, or hold the container in an attribute of a plain class",
            )


def _number(form: Form, d: Any, shadows: Any, take: bool) -> Any:
    if type(d) is Refused:
        raise d.error
    return d


def _nothing(form: Form, d: Any, shadows: Any, take: bool) -> None:
    return None


def _set(form: Form, d: Any, shadows: Any, take: bool) -> None:
    """The items of a set have no places that a gradient could be given in."""
    if take:
        shadows.take_dict(form[1])


def _again(form: Form, d: Any, shadows: Any, take: bool) -> Any:
    """An object that stands in the value before: users see what it has in each place; what is taken is taken once."""
    return None if take else gather(form[1], None, shadows)


def _array(form: Form, d: Any, shadows: Any, take: bool) -> Any:
    x = form[1]
    if not shadows.has_array(x):
        return None
    refused = shadows.refusal_of(x)
    if refused is not None:
        raise refused.error
    return shadows.take_array(x) if take else shadows.of_array(x).copy(order="K")


def _tuple(form: Form, d: Any, shadows: Any, take: bool) -> Any:
    _, x, forms = form
    if type(forms) is FlatForms:
        return forms.gather(d)
    if not take and type(x) is not tuple:
        _check_attributes(x, shadows)
    parts = None if take else _together(forms, shadows)
    if parts is None:
        parts = [gather(f, None if d is None else d[k], shadows, take) for k, f in enumerate(forms)]
    if all(p is None for p in parts):
        return None
    names = getattr(type(x), "_fields", None)
    return tuple(parts) if names is None else gradient_class(type(x), tuple(names))(*parts)


def _together(forms: Any, shadows: Any) -> list[Any] | None:
    """The gradients of values of these forms, if they can be had together."""
    return objects.together.gather(forms, shadows) if isinstance(forms, objects.together.Alike) else None


def _numbers(form: Form, d: Any, shadows: Any, take: bool) -> Any:
    _, x, length = form
    if not take and type(x) is not list:
        _check_attributes(x, shadows)
    items = shadows.items.get(id(x))
    if not items or items.count(None) == len(items):
        return None
    result = [0.0 if v is None else v for v in items]
    if Refused in map(type, result):
        raise next(v for v in result if type(v) is Refused).error
    result.extend([0.0] * (length - len(result)))
    if take:
        shadows.take_list(x)
    return result


def _list(form: Form, d: Any, shadows: Any, take: bool) -> Any:
    _, x, forms = form
    if not take and type(x) is not list:
        _check_attributes(x, shadows)
    parts = None if take or type(forms) is list else _together(forms, shadows)
    if parts is not None:
        return None if not parts or parts[0] is None and _all_none(parts) else parts
    shadow = shadows.items.get(id(x))
    if not shadow and type(forms) is list:
        return _list_without_shadow(forms, shadows, take)
    items: list[Any] = list(shadow or ())
    if take:
        shadows.take_list(x)
    items.extend([None] * (len(forms) - len(items)))
    if type(forms) is FlatTuples and forms.are_gradients(items):
        return items if items.count(None) < len(items) else None
    if type(forms) is list and _carry_nothing(forms):
        return None
    parts = [
        None if f is NOTHING or (v is None and f is NUMBER) else _GATHER[f[0]](f, v, shadows, take)
        for f, v in zip(forms, items)
    ]
    if _all_none(parts):
        return None
    return [0.0 if p is None and f[0] == "number" else p for p, f in zip(parts, forms)]


def _carry_nothing(forms: list[Form]) -> bool:
    return bool(forms) and forms[0] is NOTHING and forms.count(NOTHING) == len(forms)


def _list_without_shadow(forms: list[Form], shadows: Any, take: bool) -> list[Any] | None:
    """The gradient of a list whose items have cotangents in shadows of their own, if any."""
    if _carry_nothing(forms):
        return None
    parts: list[Any] = []
    has_some = False
    for f in forms:
        if f is NUMBER or f is COMPLEX:
            parts.append(0.0)
        elif f is NOTHING:
            parts.append(None)
        else:
            c = _GATHER[f[0]](f, None, shadows, take)
            if c is not None:
                has_some = True
            parts.append(c)
    return parts if has_some else None


def _dict(form: Form, d: Any, shadows: Any, take: bool) -> Any:
    _, x, forms = form
    if not take and type(x) is not dict:
        _check_attributes(x, shadows)
    if type(forms) is not dict and not take and type(forms) is objects.together.Keyed:
        together = _together(forms.alike, shadows)
        if together is not None:
            return None if together[0] is None and _all_none(together) else dict(zip(forms, together))
    items = shadows.items.get(id(x)) or _NO_ITEMS
    if take:
        items = shadows.take_dict(x) or _NO_ITEMS
    if type(forms) is Flat:
        if not items:
            return None
        parts = {k: items.get(k) if f is NUMBER else None for k, f in forms.items()}
        kinds = set(map(type, parts.values()))
        if Refused in kinds:
            raise next(c for c in parts.values() if type(c) is Refused).error
        return None if kinds <= _NONE else parts
    parts = {}
    has_some = False
    for k, f in forms.items():
        if f is NOTHING:
            parts[k] = None
            continue
        c = items.get(k) if f is NUMBER else _GATHER[f[0]](f, items.get(k), shadows, take)
        if c is not None:
            if type(c) is Refused:
                raise c.error
            has_some = True
        parts[k] = c
    return parts if has_some else None


_NONE = frozenset({type(None)})


def _all_none(parts: Iterable[Any]) -> bool:
    return _NONE.issuperset(map(type, parts))


_NO_ITEMS: dict[Any, Any] = {}


def _object(form: Form, d: Any, shadows: Any, take: bool) -> Any:
    _, x, forms = form
    held = shadows.attributes_of(x) or {}
    parts: list[Any] = []
    has_some = False
    for name, f in forms.items():
        c = held.pop(name, None) if take else held.get(name)
        if f is NOTHING:
            parts.append(None)
            continue
        if f is not NUMBER:
            c = _GATHER[f[0]](f, c, shadows, take)
        if c is not None:
            if type(c) is Refused:
                raise c.error
            has_some = True
        parts.append(c)
    return fields_class(type(x), tuple(forms))(*parts) if has_some else None


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


def _function(form: Form, d: Any, shadows: Any, take: bool) -> Any:
    _, f, cells = form
    parts = []
    for cell, inner in cells:
        held = shadows.attributes_of(cell) or {}
        flowing = held.pop("cell_contents", None) if take else held.get("cell_contents")
        parts.append(gather(inner, flowing, shadows, take))
    if all(p is None for p in parts):
        return None
    return closure_gradient_class(f.__name__, f.__code__.co_freevars)(*parts)


def _method(form: Form, d: Any, shadows: Any, take: bool) -> Any:
    return gather(form[2], d, shadows, take)


def _partial(form: Form, d: Any, shadows: Any, take: bool) -> Any:
    _, f, args, keywords = form
    held = shadows.attributes_of(f) or {}
    flowing = held.pop("args", None) if take else held.get("args")
    parts = gather(args, flowing, shadows, take), gather(keywords, None, shadows, take)
    return None if parts == (None, None) else gradient_class(functools.partial, ("args", "keywords"))(*parts)


_GATHER = {
    "number": _number, "nothing": _nothing, "again": _again, "array": _array, "tuple": _tuple, "numbers": _numbers, "list": _list,
    "set": _set, "dict": _dict, "object": _object, "function": _function, "method": _method, "partial": _partial,
}  # fmt: skip


def dense(form: Form, c: Any) -> Any:
    """A cotangent with zeros where there is nothing, as rules of users get it."""
    kind = form[0]
    if kind == "number":
        return 0.0 if c is None else c
    if kind == "array":
        return np.zeros(form[1].shape, shadow_dtype(form[1].dtype)) if c is None else c
    if kind == "numbers":
        return [0.0] * form[2] if c is None else c
    if kind in ("tuple", "list"):
        parts = [dense(f, None if c is None else c[k]) for k, f in enumerate(form[2])]
        names = getattr(type(form[1]), "_fields", None)
        if names is not None:
            return gradient_class(type(form[1]), tuple(names))(*parts)
        return tuple(parts) if kind == "tuple" else parts
    if kind == "dict":
        return {k: dense(f, None if c is None else c[k]) for k, f in form[2].items()}
    if kind == "object":
        parts = [dense(f, None if c is None else c[k]) for k, f in enumerate(form[2].values())]
        return fields_class(type(form[1]), tuple(form[2]))(*parts)
    return c


# --------------------------------------------------------------------------------------------------- refuse


def refuse(form: Form, refused: Refused, shadows: Any) -> Any:
    """Pass a refusal on to all numbers in a value; what flows is the result."""
    return _refuse(form, refused, shadows, set())


def _refuse(form: Form, refused: Refused, shadows: Any, met: set[int]) -> Any:
    """`met`: the forms that it has come to, which may hold themselves."""
    kind = form[0]
    if kind == "number":
        return refused
    if kind not in ("tuple", "method"):  # whose parts flow to who holds them, each time
        if id(form) in met:
            return None
        met.add(id(form))
    if kind == "array":
        shadows.add_array(form[1], refused)
    elif kind == "numbers":
        for index in range(form[2]):
            shadows.add_item(form[1], index, refused)
    elif kind == "tuple":
        flowing = tuple([_refuse(f, refused, shadows, met) for f in form[2]])
        return None if all(p is None for p in flowing) else flowing
    elif kind == "list":
        for index, f in enumerate(form[2]):
            if (c := _refuse(f, refused, shadows, met)) is not None:
                shadows.add_item(form[1], index, c)
    elif kind == "dict":
        for key, f in form[2].items():
            if (c := _refuse(f, refused, shadows, met)) is not None:
                shadows.add_key(form[1], key, c)
    elif kind == "set":
        for item, f in zip(form[2], _parts(form)):
            if (c := _refuse(f, refused, shadows, met)) is not None:
                shadows.add_key(form[1], item, c)
    elif kind == "object":
        for name, f in form[2].items():
            if (c := _refuse(f, refused, shadows, met)) is not None:
                shadows.add_attr(form[1], name, c)
    elif kind == "function":
        for cell, f in form[2]:
            if (c := _refuse(f, refused, shadows, met)) is not None:
                shadows.add_cell(cell, c)
    elif kind == "method":
        return _refuse(form[2], refused, shadows, met)
    elif kind == "partial":
        if (c := _refuse(form[2], refused, shadows, met)) is not None:
            shadows.add_attr(form[1], "args", c)
        _refuse(form[3], refused, shadows, met)
    return None


# -------------------------------------------------------------------------------------------------- scatter


def scatter(form: Form, c: Any, shadows: Any, what: str = "the cotangent") -> Any:
    """Take the cotangent `c` of a value apart: what belongs to mutable objects goes to their shadows; the rest, which
    flows, is the result. `what` names the cotangent in messages."""
    return None if c is None else _SCATTER[form[0]](form, c, shadows, what)


def _scatter_number(form: Form, c: Any, shadows: Any, what: str) -> Any:
    return c if type(c) is float else _as_number(c, what) if form is COMPLEX else _as_real(c, what)


def _scatter_nothing(form: Form, c: Any, shadows: Any, what: str) -> None:
    return None


def _scatter_again(form: Form, c: Any, shadows: Any, what: str) -> None:
    """An object that stands in the value before got all of its cotangent there."""
    if what.startswith(GIVEN) and c is not None:
        raise TypeError(
            f"{what} is of an object that the value holds before: give all of its cotangent there, None here"
        )


GIVEN = "the cotangent of the value"  # that a pullback is called with, as against one that was gathered, which is in all places


def _scatter_array(form: Form, c: Any, shadows: Any, what: str) -> None:
    if callable(c):  # it adds to what it is given
        add, c = c, np.zeros(form[1].shape, np.result_type(form[1].dtype, np.float32))
        add(c)
    _add_array(form[1], c, shadows, what)


def _scatter_numbers(form: Form, c: Any, shadows: Any, what: str) -> None:
    for index, part in enumerate(_sequence(c, form[2], what)):
        if part is not None:
            shadows.add_item(form[1], index, _as_real(part, f"{what}[{index}]"))


def _scatter_tuple(form: Form, c: Any, shadows: Any, what: str) -> Any:
    names = None if type(c) is tuple else getattr(type(form[1]), "_fields", None)
    named = None if names is None else _by_names(c, names, what)
    parts = _sequence(c, len(form[2]), what) if named is None else [named.get(n) for n in names or ()]
    flowing = tuple([scatter(f, p, shadows, f"{what}[{k}]") for k, (f, p) in enumerate(zip(form[2], parts))])
    return None if all(p is None for p in flowing) else flowing


def _scatter_list(form: Form, c: Any, shadows: Any, what: str) -> None:
    for index, (f, part) in enumerate(zip(form[2], _sequence(c, len(form[2]), what))):
        flowing = scatter(f, part, shadows, f"{what}[{index}]")
        if flowing is not None:
            shadows.add_item(form[1], index, flowing)


def _scatter_dict(form: Form, c: Any, shadows: Any, what: str) -> None:
    named = _by_names(c, form[2], what, "key")
    if named is None:
        raise misfit(TypeError, what, f"should be a dict, not {kind_of(c)}")
    for key, part in named.items():
        flowing = scatter(form[2][key], part, shadows, f"{what}[{key!r}]")
        if flowing is not None:
            shadows.add_key(form[1], key, flowing)


def _scatter_method(form: Form, c: Any, shadows: Any, what: str) -> Any:
    return scatter(form[2], c, shadows, what)


def _scatter_partial(form: Form, c: Any, shadows: Any, what: str) -> None:
    args, keywords = _fields_of(c, ("args", "keywords"), what)
    flowing = scatter(form[2], args, shadows, f"{what}.args")
    if flowing is not None:
        shadows.add_attr(form[1], "args", flowing)
    scatter(form[3], keywords, shadows, f"{what}.keywords")


def _scatter_function(form: Form, c: Any, shadows: Any, what: str) -> None:
    names = form[1].__code__.co_freevars
    gradient = closure_gradient_class(form[1].__name__, names)
    if type(c) is gradient:  # in which some variables have other names
        c = tuple(c)
    for name, (cell, inner), part in zip(names, form[2], _fields_of(c, names, what)):
        flowing = scatter(inner, part, shadows, f"{what}.{name}")
        if flowing is not None:
            shadows.add_cell(cell, flowing)


def _scatter_object(form: Form, c: Any, shadows: Any, what: str) -> None:
    for (name, inner), part in zip(form[2].items(), _fields_of(c, form[2], what)):
        flowing = scatter(inner, part, shadows, f"{what}.{name}")
        if flowing is not None:
            shadows.add_attr(form[1], name, flowing)


_SCATTER = {
    "number": _scatter_number, "nothing": _scatter_nothing, "again": _scatter_again, "array": _scatter_array, "numbers": _scatter_numbers,
    "tuple": _scatter_tuple, "list": _scatter_list, "set": _scatter_nothing, "dict": _scatter_dict, "method": _scatter_method,
    "partial": _scatter_partial, "function": _scatter_function, "object": _scatter_object,
}  # fmt: skip


def _by_names(c: Any, names: Iterable[Any], what: str, kind: str = "attribute") -> dict[Any, Any] | None:
    try:
        return by_names(c, names)
    except UnknownName as error:
        raise misfit(TypeError, what, f"has the {kind} {error.name!r}, which the value has not") from None


def _fields_of(c: Any, names: Collection[str], what: str) -> Iterable[Any]:
    """The parts of the cotangent of something with attributes."""
    if type(c) is tuple:
        return _sequence(c, len(names), what)
    if is_number(c) or isinstance(c, (str, list, np.ndarray)):
        raise misfit(
            TypeError, what, f"should have the fields of the value, as a named tuple or object, not be {kind_of(c)}"
        )
    named = _by_names(c, names, what)
    if isinstance(c, dict) and named is not None:
        return [named.get(name) for name in names]
    # (An object may give more by its class: properties, defaults.)
    return [_field(c, name) if named is None or name not in named else named[name] for name in names]


def _field(c: Any, name: str) -> Any:
    value = getattr(c, name, None)
    return getattr(c, name.lstrip("_"), None) if value is None else value


def _as_real(c: Any, what: str) -> Any:
    """The cotangent of a real number, of a complex one the real part: but a caller of a pullback is told."""
    c = _as_number(c, what)
    if not isinstance(c, (complex, np.complexfloating)):
        return c
    if what.startswith(GIVEN):
        raise misfit(TypeError, what, f"should be a real number, not {kind_of(c)}")
    return c.real


def _as_number(c: Any, what: str) -> Any:
    if is_number(c) or isinstance(c, (bool, np.bool_)):
        return float(c) if isinstance(c, (bool, np.bool_)) or type(c) is int else c
    if isinstance(c, np.ndarray) and c.ndim == 0:
        return c[()]
    raise misfit(TypeError, what, f"should be a number, not {kind_of(c)}")


def _sequence(c: Any, length: int, what: str) -> Any:
    if not isinstance(c, (tuple, list, np.ndarray)):
        raise misfit(TypeError, what, f"should be a sequence of {length}, not {kind_of(c)}")
    if len(c) != length:
        raise misfit(ValueError, what, f"should have {length} entries; it has {len(c)}")
    return c


def _add_array(x: np.ndarray, c: Any, shadows: Any, what: str) -> None:
    if not isinstance(c, (np.ndarray, list, tuple)) and not (x.ndim == 0 and is_number(c)):
        raise misfit(TypeError, what, f"should be an array of {x.ndim} dimensions, not {kind_of(c)}")
    c = np.asarray(c)
    if c.dtype.kind not in "fciub":
        raise misfit(TypeError, what, f"should be an array of numbers, not of {c.dtype}")
    if c.dtype.kind == "c" and x.dtype.kind != "c" and what.startswith(GIVEN):
        raise misfit(TypeError, what, f"should be an array of real numbers, not of {c.dtype}")
    if c.shape != x.shape:
        raise misfit(ValueError, what, f"should have the shape {x.shape}, not {c.shape}")
    shadows.add_array(x, c)


def misfit(cls: type[Exception], what: str, said: str) -> Exception:
    """The error of a cotangent that is not as its value is; of one that a rule gave, or another function in the program, with the place."""
    if what.startswith(GIVEN):
        return cls(f"{what} {said}")
    position = foreign.position_of(foreign.place_in_half())
    hint = "return what is like the argument: a number for a number, an array of its shape for an array, a tuple for a tuple, or None"
    if cls is TypeError:
        return Misuse(f"{what} {said}", position, hint=hint)
    return cls(
        "\n".join([f"{what} {said}", *([excerpt(position)] if position is not None else []), f"instead: {hint}"])
    )


def kind_of(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
