"""Forward mode, Jacobians and second derivatives made of pullbacks: what is done where native code refuses the direct way.

A Jacobian is a pullback per number in the value, and a tangent is the Jacobian times a vector; second derivatives are
derivatives of derivatives.  Slower than the native passes, but of anything that has a pullback.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
from typing import Any

import numpy as np

from zyg.ir.plainly import get_plainly, has_plainly

from . import params
from .errors import Misuse
from .named import UnknownName, by_names
from .rules import users_rules, users_tangent_rules
from .transforms import Argnums, Transform, argument_places, chosen, describe
from .twins import twins
from .typeof import is_dataclass, plain_class

# A place in a structure: the steps that lead to a number, an index, a key or the index of an array's element each; a complex
# number has two.
Path = tuple[Any, ...]
REAL, IMAGINARY = "real", "imag"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)


def _is_complex(value: Any) -> bool:
    return isinstance(value, (complex, np.complexfloating))


def places(value: Any, what: str, within: tuple[int, ...] = ()) -> Iterator[Path]:
    """The places of the real numbers in a structure.  `within`: the objects that one is in, by identity."""
    if _is_number(value):
        yield ()
    elif _is_complex(value):
        yield from ((REAL,), (IMAGINARY,))
    elif isinstance(value, np.ndarray) and value.dtype.kind in "fiuc":
        for index in np.ndindex(value.shape):
            yield from ((index, *path) for path in places(value[index], what))
    elif isinstance(value, (tuple, list)):
        for at, item in zip(_steps(value), value):
            yield from ((at, *path) for path in places(item, what, within))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from ((key, *path) for path in places(item, what, within))
    elif isinstance(value, np.ndarray):
        if value.dtype.kind != "b":
            raise Misuse(f"{what}, with an array of {value.dtype} in it, which are no numbers with derivatives")
    elif _is_instance(value) and id(value) not in within:
        for name, part in (parts_of(value) or {}).items():
            yield from ((name, *path) for path in places(part, what, (*within, id(value))))


def _steps(value: Any) -> Any:
    """How one gets to the items of a tuple or list: by name in a named tuple."""
    return get_plainly(type(value), "_fields") or range(len(value))


def first_places(value: Any, at: Path = (), found: dict[int, Path] | None = None) -> dict[int, Path]:
    """Where the objects in a structure stand first, by identity."""
    found = {} if found is None else found
    if has_identity(value):
        if id(value) in found:
            return found
        found[id(value)] = at
    if not isinstance(value, np.ndarray):
        for step, part in (parts_of(value) or {}).items():
            first_places(part, (*at, step), found)
    return found


def has_identity(value: Any) -> bool:
    """Whether the derivative by this is by the object, in whatever places it stands."""
    if isinstance(value, (list, dict)):
        return True
    return not isinstance(value, (tuple, np.ndarray)) and parts_of(value) is not None


def first_place(value: Any, path: Path) -> Path:
    """Where the number at a place of a structure stands first: what an object in several places gets is told there."""
    found, at = first_places(value), ()
    for step in path:
        at = (*found.get(id(value), at), step)
        value = part_of(value, (step,)) if not isinstance(value, np.ndarray) and step not in (REAL, IMAGINARY) else None
    return at


def seed(value: Any, path: Path) -> Any:
    """The cotangent of a value that is 1 for the number at a place."""
    return filled(value, {first_place(value, path): 1.0}, (), set())


def filled(
    value: Any, numbers: Mapping[Path, Any], at: Path = (), once: set[int] | None = None, within: tuple[int, ...] = ()
) -> Any:
    """The structure of `value` with other numbers in it, 0 where none is given; None for what holds none, and if objects are to
    be filled `once`, for those that are there."""
    if once is not None and has_identity(value):
        if id(value) in once:
            return None
        once.add(id(value))
    if _is_number(value):
        return numbers.get(at, 0.0)
    if _is_complex(value):
        return complex(numbers.get((*at, REAL), 0.0), numbers.get((*at, IMAGINARY), 0.0))
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiuc":
        kept = value.dtype.kind == "c" or value.dtype == np.float32
        array = np.zeros(value.shape, value.dtype if kept else np.float64)
        for index in np.ndindex(value.shape):
            array[index] = filled(value[index], numbers, (*at, index))
        return array
    if isinstance(value, (tuple, list)):
        items = [filled(item, numbers, (*at, n), once, within) for n, item in zip(_steps(value), value)]
        if isinstance(value, list):
            return items
        names = get_plainly(type(value), "_fields")
        return tuple(items) if names is None else _gradient_of(value, dict(zip(names, items)))
    if isinstance(value, dict):
        return {key: filled(item, numbers, (*at, key), once, within) for key, item in value.items()}
    if _is_instance(value) and id(value) not in within:
        within = (*within, id(value))
        parts = parts_of(value) or {}
        return _gradient_of(
            value, {name: filled(part, numbers, (*at, name), once, within) for name, part in parts.items()}
        )
    return None


def _is_instance(value: Any) -> bool:
    """Whether this is an object that has parts by name."""
    return not isinstance(value, (tuple, list, dict, np.ndarray, FunctionType)) and parts_of(value) is not None


def _gradient_of(value: Any, parts: dict[Any, Any]) -> Any:
    """The derivatives of the parts of an instance; None if it has none."""
    from .autodiff.objects.structure import fields_class

    if all(part is None for part in parts.values()):
        return None
    return fields_class(type(value), tuple(parts))(*parts.values())


def picked(found: Any, numbers: tuple[int, ...], argnums: Argnums) -> Any:
    """Of something for each argument what `argnums` asks for."""
    return tuple([found[n] for n in numbers]) if argnums is None or isinstance(argnums, tuple) else found[numbers[0]]


def dot(gradient: Any, tangent: Any) -> Any:
    """A cotangent applied to a tangent of the same structure, of complex numbers the real part; None is zero."""
    if gradient is None or tangent is None:
        return 0.0
    if isinstance(gradient, np.ndarray):
        if gradient.dtype.kind == "c":
            return (gradient.real * np.real(tangent) + gradient.imag * np.imag(tangent)).sum()
        return (gradient * np.asarray(tangent)).sum()
    if _is_complex(gradient):
        return gradient.real * tangent.real + gradient.imag * tangent.imag
    if isinstance(gradient, dict):
        return sum(dot(gradient[key], tangent[key]) for key in gradient)
    if isinstance(gradient, (tuple, list)):
        names = get_plainly(type(gradient), "_fields")
        if names is not None and not isinstance(tangent, (tuple, list)):
            tangent = [tangent.get(n) if isinstance(tangent, dict) else getattr(tangent, n) for n in names]
        return sum(dot(g, t) for g, t in zip(gradient, tangent))
    return gradient * tangent


class Tangents:
    """Tangents of arguments, of their structure. Those of an object in several places are in the first one that is given for it: the
    gradient by it, that they are multiplied with, is in each. What is left out of a dict or object is zero."""

    def __init__(self, function: Any, what: str = "its argument"):
        self.function = function
        self.what = what
        self.first: dict[Path, tuple[str, Any]] = {}  # by the identity of the object and the place in it
        self.open: set[int] = set()  # those that one is in

    @staticmethod
    def of(function: Any, args: Any, tangents: Any) -> tuple[Any, ...]:
        self = Tangents(function)
        return tuple([self.once(x, t, f"argument {n}", ()) for n, (x, t) in enumerate(zip(args, tangents))])

    @staticmethod
    def of_value(function: Any, value: Any, tangent: Any) -> Any:
        """That which a rule gives for the value of its function."""
        return Tangents(function, "its value").once(value, tangent, "its value", ())

    def once(self, arg: Any, tangent: Any, name: str, place: Path) -> Any:
        if tangent is None:
            return None
        if _is_number(arg) or _is_complex(arg) or isinstance(arg, np.ndarray):
            return self.leaf(self.checked(arg, tangent, name), name, place)
        parts = parts_of(arg)
        if has_identity(arg):
            if id(arg) in self.open:
                return None
            place = (id(arg),)
        if parts is None:
            return self.leaf(tangent, name, place)
        self.open.add(id(arg))
        by_name = not isinstance(arg, (tuple, list, dict)) or has_plainly(type(arg), "_fields")
        found = {}
        given = self.taken_apart(arg, parts, tangent, name, by_name)
        for step, part in parts.items():
            at = name + (f".{step}" if by_name else f"[{step!r}]")
            found[step] = self.once(part, given.get(step), at, (*place, step))
        self.open.discard(id(arg))
        if isinstance(arg, (tuple, list)):
            return list(found.values())
        if by_name:
            found.update({str(step).lstrip("_"): t for step, t in found.items()})  # (as the gradient has them)
        return found

    def taken_apart(self, arg: Any, parts: dict[Any, Any], tangent: Any, name: str, by_name: bool) -> dict[Any, Any]:
        """The parts of a tangent, by the steps to those of the argument."""
        named = (by_name or isinstance(arg, dict)) and has_plainly(type(tangent), "_fields")
        if isinstance(tangent, (tuple, list)) and not named:
            if isinstance(arg, dict):
                raise self.wrong(arg, tangent, name, "is a dict")
            if len(tangent) != len(parts):
                raise self.wrong(arg, tangent, name, f"has {len(parts)} items, not {len(tangent)}")
            return dict(zip(parts, tangent))
        if by_name or isinstance(arg, dict):
            try:
                found = by_names(tangent, parts)
            except UnknownName as error:
                kind = "attribute" if by_name else "key"
                raise self.wrong(arg, tangent, name, f"has no {kind} {error.name!r}") from None
            if found is not None:
                return found
        if isinstance(tangent, np.ndarray) and isinstance(arg, (tuple, list)):
            return self.taken_apart(arg, parts, list(tangent), name, by_name)
        raise self.wrong(arg, tangent, name, f"is a {type(arg).__name__}")

    def checked(self, arg: Any, tangent: Any, name: str) -> Any:
        """The tangent of a number or an array."""
        if isinstance(arg, np.ndarray) and arg.dtype.kind in "fiuc":
            if isinstance(tangent, (dict, str)):
                raise self.wrong(arg, tangent, name, "is an array")
            array = np.asarray(tangent)
            if array.ndim != arg.ndim:
                raise self.wrong(arg, tangent, name, f"is an array of {arg.ndim} dimensions, not {array.ndim}")
            for axis, (found, length) in enumerate(zip(array.shape, arg.shape)):
                if found != length:
                    raise ValueError(
                        f"a tangent for {describe(self.function)} has another shape than its argument: along axis {axis} its length is "
                        f"{found}, not {length} ({name})"
                    )
            if array.dtype.kind not in ("fciub" if arg.dtype.kind == "c" else "fiub"):
                raise self.wrong(arg, tangent, name, f"is an array of {arg.dtype}, not {array.dtype}")
            return tangent
        if isinstance(arg, np.ndarray):
            return tangent
        number = tangent[()] if isinstance(tangent, np.ndarray) and tangent.ndim == 0 else tangent
        real = isinstance(number, (bool, np.bool_)) or _is_number(number)
        if not real and not (_is_complex(number) and _is_complex(arg)):
            raise self.wrong(arg, tangent, name, f"is a {'complex' if _is_complex(arg) else 'real'} number")
        return tangent

    def wrong(self, arg: Any, tangent: Any, name: str, why: str) -> Exception:
        return Misuse(
            f"a tangent for {describe(self.function)} of another structure than {self.what}: {name} {why}",
            types=[type(tangent).__name__],
            hint="give a number for a number, an array for an array, a tuple for a tuple, None for zero",
        )

    def leaf(self, tangent: Any, name: str, place: Path) -> Any:
        if not place or type(place[0]) is not int:
            return tangent
        where, before = self.first.setdefault(place, (name, tangent))
        if where == name:
            return tangent
        if not np.array_equal(before, tangent, equal_nan=True):
            raise ValueError(
                f"the tangents that {describe(self.function)} was given for {where} and {name}, which are one, differ: give an object "
                "that is in several places the same tangent in each, or None in all but one"
            )
        return None


def jvp(transform: Transform, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, Any]:
    arguments, tangents = args
    tangents = _tangents_of("jvp", function, arguments, tangents)  # by what the arguments are before the call
    value, back = _for_several(_pulled, function, arguments, keywords)
    return value, _pushed(function, value, back, tangents)


def pushforward(
    transform: Transform, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[Any, Any]:
    return pushed_by(_pulled, function, args, keywords)


def pushed_by(
    pulled: Callable[..., tuple[Any, Any]], function: Any, args: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[Any, Any]:
    """The function runs once: its pullback, which `pulled` gives, refers to the arguments as they were, and to what else of them it
    has by name."""
    params.refuse("pushforward", args)
    given = twins(args)
    value, back = pulled(function, args, keywords)
    form = twins(value)

    def push(*tangents: Any) -> Any:
        return _pushed(function, form, back, _tangents_of("pushforward", function, given, tangents))

    return value, push


def _tangents_of(what: str, function: Any, arguments: Any, tangents: Any) -> tuple[Any, ...]:
    if len(arguments) != len(tangents):
        raise TypeError(f"{what} of {describe(function)} with {len(arguments)} arguments and {len(tangents)} tangents")
    return Tangents.of(function, arguments, tangents)


def pulled_plainly(function: Any, arguments: Any, keywords: dict[str, Any]) -> tuple[Any, Callable[[Any], Any]]:
    """(value, pullback) of a call that follows no rules for forward mode."""
    from .api import pullback

    return pullback(function, *arguments, **keywords)


def _pulled(function: Any, arguments: Any, keywords: dict[str, Any]) -> tuple[Any, Callable[[Any], Any]]:
    """(value, pullback) of a call, where rules for forward mode are followed."""
    if not users_tangent_rules():
        return pulled_plainly(function, arguments, keywords)
    from .fallback import python_pullback

    return python_pullback(function, arguments, keywords, forward=True)


def _for_several(
    pulled: Callable[..., tuple[Any, Any]], function: Any, args: Any, keywords: dict[str, Any]
) -> tuple[Any, Callable[[Any], Any]]:
    """(value, pullback) of a call whose pullback runs several times. That of a rule of the user's may change what it has captured (add
    to an array), and give something else the next time: where the call meets such rules, the function is called once per run, first
    on the arguments and then on what they were."""
    if not users_rules():
        return pulled(function, args, keywords)
    from .autodiff.objects import user_rules

    given, met = twins(args), user_rules.met()
    value, first = pulled(function, args, keywords)
    if user_rules.met() == met:
        return value, first
    backs = [first]

    def back(d: Any) -> Any:
        if backs:
            return backs.pop()(d)
        return pulled(function, args if _same(args, given) else twins(given), keywords)[1](d)

    return value, back


def _same(value: Any, other: Any) -> bool:
    """Whether what was copied is still like the copy, as far as one sees into it."""
    if isinstance(value, np.ndarray):
        return np.shape(value) == np.shape(other) and np.asarray(value).tobytes() == np.asarray(other).tobytes()
    parts = parts_of(value)
    if parts is None:
        return not _is_number(value) or value == other or value != value
    others = parts_of(other) or {}
    return len(parts) == len(others) and all(key in others and _same(part, others[key]) for key, part in parts.items())


def _by_some(back: Any, numbers: tuple[int, ...], count: int) -> Any:
    """The pullback by some of so many arguments: the others are constants, by which there may be no derivative."""
    return back.by(numbers) if len(numbers) < count and hasattr(back, "by") else back


def _pushed(function: Any, value: Any, back: Callable[[Any], Any], tangents: tuple[Any, ...]) -> Any:
    """The tangent of a value: a pullback for each of its numbers."""
    back = _by_some(back, tuple([n for n, t in enumerate(tangents) if t is not None]), len(tangents))
    found = {
        path: sum(dot(g, t) for g, t in zip(back(seed(value, path)), tangents))
        for path in places(value, f"the tangent of the value of {describe(function)}")
    }
    return filled(value, found)


def put_in(args: Any, chosen: Any, places: Any) -> Any:
    """The arguments with the chosen ones in their places."""
    return tuple([x if p is None else chosen[len(p)] for x, p in zip(args, places)])


def _by(function: Any, args: Any, numbers: tuple[int, ...], keywords: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    """The function as one of some of its arguments, and these. Behind them come arrays that share memory with one of them, which
    are thus seen to be other arguments."""
    arrays = [args[n] for n in numbers if isinstance(args[n], np.ndarray)]
    shares = lambda x: isinstance(x, np.ndarray) and any(np.may_share_memory(x, a) for a in arrays)
    numbers = (*numbers, *[n for n, x in enumerate(args) if n not in numbers and shares(x)])
    if len(numbers) == len(args) == 1 and not keywords:
        return function, tuple(args)

    # What is chosen is not among them: beside itself, as an argument that the function writes, it would be refused.
    given = tuple([None if n in numbers else x for n, x in enumerate(args)])
    at = argument_places(numbers, len(args))

    def by(*chosen: Any) -> Any:
        return function(*put_in(given, chosen, at), **keywords)

    by.__wrapped__ = function
    return by, tuple([args[n] for n in numbers])


def _slope(function: Any) -> Callable[..., Any]:
    from .api import gradient

    def slope(*args: Any) -> Any:
        return gradient(function, *args)

    slope.__wrapped__ = get_plainly(function, "__wrapped__", function)
    return slope


def hvp(transform: Transform, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    from .api import gradient

    *arguments, v = args
    numbers = chosen("hvp", transform.argnums, function, len(arguments))
    v = copy.deepcopy(v)  # the direction stays where it is, also where it is the point itself
    by, given = _by(function, arguments, numbers, keywords)
    given_for = Tangents.of(function, given, v if isinstance(transform.argnums, tuple) else (v,))
    directions = (*given_for, *[None] * (len(given) - len(given_for)))
    slope = _slope(by)

    def along(*xs: Any) -> Any:
        return dot(slope(*xs), directions)

    along.__wrapped__ = function
    found = [filled(x, {}) if d is None else d for x, d in zip(given, gradient(along, *given))][: len(numbers)]
    return tuple(found) if isinstance(transform.argnums, tuple) else found[0]


def hessian(transform: Transform, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    from .api import pullback

    numbers = chosen("hessian", transform.argnums, function, len(args))
    by, given = _by(function, args, numbers, keywords)
    kept = [_frozen(x) for x in given]
    gradients, back = pullback(_slope(by), *given)

    def block(k: int, n: int) -> Any:
        """The derivatives of the gradient by argument `k`, by argument `n`."""

        def row(path: Path, shape: tuple[int, ...]) -> Any:
            # The gradient is None where the value does not depend on a part of x.
            here = part_of(gradients[k], path)
            rows = [] if here is None else [back(seed(gradients, (k, *at)))[n] for at in scalars(here, path)]
            return mirrored(kept[n], lambda p, s: stacked([part_of(r, p) for r in rows], shape, s))

        return mirrored(kept[k], row)

    found = [tuple([block(k, n) for n in range(len(numbers))]) for k in range(len(numbers))]
    return tuple(found) if isinstance(transform.argnums, tuple) else found[0][0]


def jacobian(transform: Transform, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    numbers = chosen("jacobian", transform.argnums, function, len(args))
    kept = [_frozen(arg) for arg in args]
    value, back = _for_several(pulled_plainly, function, args, keywords)
    back = _by_some(back, numbers, len(args))
    what = f"the Jacobian of {describe(function)}"
    leaves: list[tuple[Path, tuple[int, ...], list[tuple[Any, ...]]]] = []
    mirrored(value, lambda path, shape: leaves.append((path, shape, [])), what)
    if not leaves:
        raise TypeError(f"jacobian takes functions of numbers and arrays; the value is a {type(value).__name__}")
    for path, _, rows in leaves:
        rows.extend(back(seed(value, at)) for at in scalars(part_of(value, path), path))
    found = {path: rows for path, _, rows in leaves}

    def entry(at: int) -> Any:
        entries = [row[at] for rows in found.values() for row in rows]
        if entries and all(e is None for e in entries):
            return None
        block = lambda path, shape, p, s: stacked([part_of(row[at], p) for row in found[path]], shape, s)
        return mirrored(value, lambda path, shape: mirrored(kept[at], lambda p, s: block(path, shape, p, s), what))

    return picked({n: entry(n) for n in numbers}, numbers, transform.argnums)


# --------------------------------------------------------------- structures: as library/structured.py has them


class _Frozen:
    """An object as it was: `parts` are what stood in its attributes."""

    def __init__(self, object: Any):
        self.object = object
        self.parts: dict[Any, Any] = {}


def _frozen(value: Any, seen: dict[int, Any] | None = None) -> Any:
    """The argument as it is before the call: what a function does to a list, dict or object does not matter to its shape."""
    seen = {} if seen is None else seen
    if id(value) in seen:
        return seen[id(value)]
    within = lambda part: _frozen(part, seen)
    if isinstance(value, tuple):
        return tuple.__new__(type(value), map(within, value))
    if isinstance(value, dict):
        made = seen[id(value)] = {}
        made.update((key, within(item)) for key, item in value.items())
        return made
    if type(value) is list:
        made = seen[id(value)] = []
        made.extend(map(within, value))
        return made
    parts = parts_of(value)
    if parts is None:
        return value
    made = seen[id(value)] = _Frozen(value)
    made.parts.update((key, within(part)) for key, part in parts.items())
    return made


def leaf_shape(value: Any) -> tuple[int, ...] | None:
    """The shape of a number, an array, or a tuple or list of numbers, nested or not; None for anything else."""
    if _is_number(value):
        return ()
    if isinstance(value, np.ndarray):
        return value.shape if value.dtype.kind in "fiu" else None
    if type(value) in (tuple, list) and value and not any(isinstance(item, np.ndarray) for item in value):
        shapes = {leaf_shape(item) for item in value}
        shape = shapes.pop()
        return None if shapes or shape is None else (len(value), *shape)
    return None


def _holds_floats(leaf: Any) -> bool:
    """Integers inside of a structure are constants: counts, indices, shapes."""
    if isinstance(leaf, (tuple, list)):
        return any(map(_holds_floats, leaf))
    return isinstance(leaf, (float, np.floating)) or isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f"


def scalars(value: Any, at: Path) -> Iterator[Path]:
    """The places of the numbers in a leaf, in order."""
    return ((*at, *path) for path in places(value, "a derivative"))


def parts_of(value: Any) -> dict[Any, Any] | None:
    """The parts of a structure by key, index or name; None for what has none."""
    if isinstance(value, _Frozen):
        return value.parts
    if isinstance(value, dict):
        return dict(value)
    if isinstance(value, (tuple, list)):
        return dict(zip(_steps(value), value))
    if isinstance(value, type) or not (is_dataclass(type(value)) or plain_class(type(value))):
        return None
    from .autodiff.objects.structure import fields_of

    return {name: getattr(value, name) for name in fields_of(value)}


def part_of(value: Any, path: Path) -> Any:
    """What stands at a place of a structure, or of a gradient that is like it; None where there is none."""
    for step in path:
        if value is None:
            return None
        if isinstance(value, (dict, list)) or isinstance(value, tuple) and isinstance(step, int):
            value = value[step]
        else:
            value = getattr(value, step) if hasattr(value, step) else getattr(value, str(step).lstrip("_"))
    return value


def mirrored(value: Any, make: Callable[[Path, tuple[int, ...]], Any], what: str = "the Hessian", at: Path = ()) -> Any:
    """The structure with `make(place, shape)` for each leaf; None for what has none."""
    if isinstance(value, (complex, np.complexfloating)) or isinstance(value, np.ndarray) and value.dtype.kind == "c":
        raise Misuse(f"{what}, with a {type(value).__name__} in it that is no real number")
    shape = leaf_shape(value)
    if shape is not None:
        return make(at, shape) if not at or _holds_floats(value) else None
    parts = parts_of(value)
    if parts is None:
        return None
    if len(at) > _DEEP:
        raise Misuse(
            f"{what}, with a {type(value).__name__} in it that holds itself, or more than {_DEEP} objects in each other"
        )
    made = {key: mirrored(part, make, what, (*at, key)) for key, part in parts.items()}
    if all(m is None for m in made.values()):
        return None
    if isinstance(value, dict):
        return made
    if type(value) is list:
        return list(made.values())
    if type(value) is tuple:
        return tuple(made.values())
    return _gradient_of(value.object if isinstance(value, _Frozen) else value, made)


_DEEP = 100


def stacked(entries: list[Any], outer: tuple[int, ...], inner: tuple[int, ...]) -> Any:
    """The cotangents of a leaf, one for each number of another one, in one array; a number for two numbers."""
    rows = [np.zeros(inner) if entry is None else np.asarray(entry) for entry in entries]
    if not rows:
        return np.zeros(outer + inner) if outer + inner else 0.0
    return np.stack(rows).reshape(outer + inner) if outer + inner else rows[0][()].item()


__all__ = ["dot", "filled", "hessian", "hvp", "jacobian", "jvp", "places"]
