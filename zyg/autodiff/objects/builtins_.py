"""Builtin functions and classes, and the methods of builtin containers."""

from __future__ import annotations

import array
import builtins
import functools
import operator
import sys
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from zyg.errors import Unsupported

from . import calls, containers, foreign, iteration
from .arithmetic import BINARY_RECORD, find, is_python, method_of, record_abs
from .calls import known, method
from .cotangents import NUMBERS, NUMERIC, is_number, real_like
from .iteration import Iterator

_SORT = sorted


def shift(made: tuple[Any, Any]) -> tuple[Any, Any]:
    """From the back of an operation to that of a call: nothing for the function, then the cotangents of the operands."""
    y, back = made
    return y, None if back is None else (run_shift, back)


def run_shift(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else (None, *given)


def run_constant(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """Nothing flows."""


# ------------------------------------------------------------------------------------------- without derivative


def constant(*functions: Any) -> None:
    """Calls of these give values that carry no derivative."""
    for f in functions:
        known(f, exact=True)(functools.partial(_constant, f))


def _constant(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    return f(*args, **kwargs), None


constant(
    print, len, isinstance, issubclass, callable, hasattr, id, hash, repr, ascii, chr, ord, bin, hex, oct, format, input,
    type, str, bytes, bytearray, bool, range, slice, object, memoryview, property, staticmethod, classmethod,
    open, dir, any, all, sys.getsizeof, compile, breakpoint, builtins.__build_class__, __import__,
    sys.getrecursionlimit, sys.setrecursionlimit, sys.exc_info, sys.intern,
)  # fmt: skip


def user_frame() -> Any:
    """The frame of the user's code that called what is being handled."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("zyg."):
        frame = frame.f_back
    return frame


@known(globals)
def _globals() -> tuple[Any, Any]:
    return user_frame().f_globals, None


@known(super)
def _super(*args: Any) -> tuple[Any, Any]:
    y = super(*args)
    bound = len(args) == 2 and not isinstance(args[1], type) and isinstance(args[1], (tuple, *NUMERIC))
    return y, (_run_third_of_three,) if bound else None


def _run_third_of_three(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """`super(cls, x)` stands for `x`, where that has a cotangent that flows."""
    return None, None, d


def _unknown_names(what: str) -> Any:
    hint = "use the variables by name, or pass a dictionary of them"
    raise Unsupported(f"{what} in code that is differentiated, whose variables are not in its frame", hint=hint)


@known(locals)
def _locals() -> tuple[Any, Any]:
    return _unknown_names("locals()")


@known(vars)
def _vars(*args: Any) -> tuple[Any, Any]:
    if not args:
        return _unknown_names("vars()")
    return foreign.hidden(vars(*args), "a derivative through vars(x)", "read the attributes by name, with getattr")


def _evaluated(f: Any, code: Any, globals: Any = None, locals: Any = None) -> tuple[Any, Any]:
    if globals is None:
        return _unknown_names(f"{f.__name__} without the names to use")
    y = f(code, globals, locals)
    return foreign.hidden(y, "a derivative through code that is evaluated from a string", "write a function")


known(eval)(functools.partial(_evaluated, eval))
known(exec)(functools.partial(_evaluated, exec))


# ------------------------------------------------------------------------------------------------- numbers


@known(abs, exact=True)
def _abs(x: Any) -> tuple[Any, Any]:
    return shift(record_abs(x))


@known(float, exact=True)
def _float(x: Any = 0.0, /) -> tuple[Any, Any]:
    t = type(x)
    if t is float:
        return x, 1.0
    if t is str or t is bool:
        return float(x), None
    made = method_of(x, "__float__") or method_of(x, "__index__")
    if made is not None:
        return _shifted_method(calls.call(made, ()))
    return float(x), 1.0 if not isinstance(x, np.ndarray) else (run_float_of_array, x)


def run_float_of_array(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is not None:
        shadows.add_array(back[1], d)


def _shifted_method(made: tuple[Any, Any]) -> tuple[Any, Any]:
    y, back = made
    return y, None if back is None else (run_shift, back)


@known(int)
def _int(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    # An int of an int is that int, which counts as a number; of a float it is an integer by nature.
    if len(args) == 1 and type(args[0]) is int:
        return args[0], 1.0
    return int(*args, **kwargs), None


@known(complex)
def _complex(real: Any = 0.0, imag: Any = None) -> tuple[Any, Any]:
    if isinstance(real, str):
        return complex(real), None
    if imag is None:
        y = complex(real)
        return y, (run_complex, real)
    return complex(real, imag), (run_complex, real, imag)


def run_complex(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    if len(back) == 2:
        return None, real_like(back[1], complex(d))
    return None, real_like(back[1], complex(d)), real_like(back[2], -1j * complex(d))


@known(round)
def _round(x: Any, ndigits: Any = None) -> tuple[Any, Any]:
    method = method_of(x, "__round__")
    if method is not None:
        return _shifted_method(calls.call(method, () if ndigits is None else (ndigits,)))
    y = round(x) if ndigits is None else round(x, ndigits)
    if ndigits is None or type(x) is int:
        return y, None
    return y, 0.0


@known(divmod)
def _divmod(a: Any, b: Any) -> tuple[Any, Any]:
    method = method_of(a, "__divmod__")
    if method is not None:
        return _shifted_method(calls.call(method, (b,)))
    (q, _), (r, second) = BINARY_RECORD["floordiv"](a, b), BINARY_RECORD["mod"](a, b)
    return (q, r), (run_divmod, second)


def run_divmod(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], None if d is None else d[1], shadows)
    return None if given is None else (None, *given)


@known(pow)
def _pow(base: Any, exp: Any, mod: Any = None) -> tuple[Any, Any]:
    if mod is not None:
        return pow(base, exp, mod), None
    return shift(BINARY_RECORD["pow"](base, exp))


# ---------------------------------------------------------------------------------------------- reductions


@known(sum)
def _sum(iterable: Any, /, start: Any = 0) -> tuple[Any, Any]:
    t = type(iterable)
    if t is list and (type(start) is int or type(start) is float) and _REAL.issuperset(map(type, iterable)):
        return sum(iterable, start), (run_sum_of_list, iterable, len(iterable))
    iterator, rec = iteration.with_backs(iterable)
    both = list(iterator)
    if type(start) in NUMBERS and all(type(v) in NUMBERS for v, _ in both):
        # As CPython adds them up, compensated from 3.12 on.
        y = sum([v for v, _ in both], start)
        return y, (run_sum, [b for _, b in both], rec, start)
    total = start
    steps = []
    for value, back in both:
        total, step = BINARY_RECORD["add"](total, value)
        steps.append((step, back))
    return total, (run_sum_by_steps, steps, rec)


_REAL = frozenset({float, int})


def run_sum_of_list(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    x = back[1]
    for index in range(back[2]):
        shadows.add_item(x, index, d)
    return None, None, d


def run_sum(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, backs, rec, start = back
    for inner in reversed(backs):
        if inner is not None:
            inner[0](inner, d, shadows)
    whole = None if rec is None else rec[0](rec, None, shadows)
    return None, None if whole is None else whole[0], d if d is None else real_like(start, d)


def run_sum_by_steps(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, steps, rec = back
    for step, inner in reversed(steps):
        given = calls.run(step, d, shadows)
        if inner is not None:
            inner[0](inner, None if given is None else given[1], shadows)
        d = None if given is None else given[0]
    whole = None if rec is None else rec[0](rec, None, shadows)
    return None, None if whole is None else whole[0], d


_MISSING = object()


def _extreme(function: Any) -> Any:
    def handler(*args: Any, key: Any = None, default: Any = _MISSING) -> tuple[Any, Any]:
        if len(args) > 1:
            if key is None:
                y = function(args)
                at = next(k for k, v in enumerate(args) if v is y)
                return y, (run_chosen_argument, at, len(args))
            keys = [calls.call(key, (v,))[0] for v in args]
            at = function(range(len(args)), key=keys.__getitem__)
            return args[at], (run_chosen_argument, at, len(args))
        iterator, rec = iteration.with_backs(args[0])
        both = list(iterator)
        if not both:
            if default is _MISSING:
                function(())  # raises the ValueError
            return default, (run_default,)
        items = [v for v, _ in both]
        keys = items if key is None else [calls.call(key, (v,))[0] for v in items]
        at = function(range(len(items)), key=keys.__getitem__)
        return items[at], (run_chosen_item, at, [b for _, b in both], rec)

    return handler


known(min)(_extreme(min))
known(max)(_extreme(max))


def run_chosen_argument(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """What was chosen gets all; the first where several are equal, as in Python."""
    _, at, length = back
    result = [None] * (length + 1)
    result[at + 1] = d
    return (*result, None, None)


def run_chosen_item(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, at, backs, rec = back
    for k in range(len(backs) - 1, -1, -1):
        inner = backs[k]
        if inner is not None:
            c = d if k == at else None if d is None or not is_number(d) else 0.0 * d
            inner[0](inner, c, shadows)
    whole = None if rec is None else rec[0](rec, None, shadows)
    return None, None if whole is None else whole[0], None, None


def run_default(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, None, d, d


# ---------------------------------------------------------------------------------------- containers from iterables


@known(list)
def _list(iterable: Any = (), /) -> tuple[Any, Any]:
    y: list[Any] = []
    back = containers.record_list_extend(y, iterable)
    return y, (run_made, back)


def run_made(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = back[1][0](back[1], None, shadows)
    return None if given is None else (None, given[1])


@known(tuple)
def _tuple(iterable: Any = (), /) -> tuple[Any, Any]:
    if type(iterable) is tuple:
        return iterable, (run_same,)
    iterator, rec = iteration.pairs(iterable)
    if rec is None:
        return tuple(iterator), None
    both = list(iterator)
    return tuple([v for v, _ in both]), (run_tuple, [b for _, b in both], rec)


def run_same(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, d


def run_tuple(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, backs, rec = back
    for k in range(len(backs) - 1, -1, -1):
        inner = backs[k]
        if inner is not None:
            inner[0](inner, None if d is None else d[k], shadows)
    whole = rec[0](rec, None, shadows)
    return None, None if whole is None else whole[0]


@known(set)
def _set(iterable: Any = (), /) -> tuple[Any, Any]:
    y: set[Any] = set()
    back = containers.record_set_update(y, iterable)
    return y, None if back is None else (run_made, back)


def _frozen(cls: type, iterable: Any = (), /) -> tuple[Any, Any]:
    iterator, rec = iteration.with_backs(iterable)
    both: dict[Any, Any] = {}
    for item, back in iterator:
        both.setdefault(item, back)
    y = frozenset.__new__(cls, both)
    return y, (_run_frozen, y, both, rec)


known(frozenset)(functools.partial(_frozen, frozenset))


def _run_frozen(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, both, rec = back
    taken = shadows.take_dict(y) or {}
    for item, inner in reversed(both.items()):
        if inner is not None:
            inner[0](inner, taken.get(item), shadows)
    whole = None if rec is None else rec[0](rec, None, shadows)
    return None, None if whole is None else whole[0]


@known(frozenset.__new__)
def _frozenset_new(cls: type, iterable: Any = ()) -> tuple[Any, Any]:
    y, back = _frozen(cls, iterable)
    return y, (_run_after_class, back)


def _run_after_class(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, *calls.run(back[1], d, shadows)


@method(set, "__init__")
def _set_init(x: set[Any], values: Any = ()) -> tuple[Any, Any]:
    set.clear(x)
    return None, containers.record_set_update(x, values)


@known(dict)
def _dict(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    y: dict[Any, Any] = {}
    back = containers.record_dict_update(y, args[0]) if args else None
    y.update(kwargs)
    return y, (run_dict, y, back, len(args), tuple(kwargs))


def run_dict(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, inner, count, names = back
    rest = [shadows.take_key(y, name) for name in names]
    if not count:
        return None, *rest
    given = inner[0](inner, None, shadows)
    return None, None if given is None else given[1], *rest


@known(deque)
def _deque(iterable: Any = (), maxlen: Any = None) -> tuple[Any, Any]:
    iterator, rec = iteration.with_backs(iterable)
    both = list(iterator)
    y = deque([v for v, _ in both], maxlen)
    backs = [b for _, b in both]
    return y, (run_filled, y, backs[len(backs) - len(y) :], rec, 1)


def run_filled(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """What a new sequence has gathered goes to the items that it was made of, argument `at` of the call."""
    _, y, backs, rec, at = back
    containers._give(shadows.take_list(y) or (), backs, shadows)
    whole = None if rec is None else rec[0](rec, None, shadows)
    return None if whole is None else (*[None] * at, whole[0])


@known(array.array)
def _array(typecode: str, iterable: Any = (), /) -> tuple[Any, Any]:
    if isinstance(iterable, (bytes, bytearray, str)) or typecode not in "fd":
        return array.array(typecode, iterable), None
    iterator, rec = iteration.with_backs(iterable)
    both = list(iterator)
    y = array.array(typecode, [v for v, _ in both])
    return y, (run_filled, y, [b for _, b in both], rec, 2)


@known(sorted)
def _sorted(iterable: Any, /, *, key: Any = None, reverse: bool = False) -> tuple[Any, Any]:
    made, back = _list(iterable)
    order = _order(made, key, reverse)
    y = [made[k] for k in order]
    return y, (run_sorted, y, made, order, back)


def _order(items: list[Any], key: Any, reverse: Any) -> list[int]:
    keys = items if key is None else [calls.call(key, (v,))[0] for v in items]
    return _SORT(range(len(items)), key=keys.__getitem__, reverse=reverse)


def run_sorted(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, made, order, inner = back
    for index, c in zip(order, shadows.take_list(y) or ()):
        if c is not None:
            shadows.add_item(made, index, c)
    given = inner[0](inner, None, shadows)
    return None, None if given is None else given[1]


# ---------------------------------------------------------------------------------------------- iterators


@known(iter)
def _iter(x: Any, sentinel: Any = _MISSING) -> tuple[Any, Any]:
    if sentinel is not _MISSING:
        return Iterator(_until(x, sentinel), "callable_iterator"), None
    return shift(iteration.record_iter(x))


def _until(f: Any, sentinel: Any) -> Any:
    while True:
        y, back = calls.call(f, ())
        if y == sentinel:
            return
        yield y, None if back is None else (iteration.run_call, back, ())


@known(next)
def _next(it: Any, default: Any = _MISSING) -> tuple[Any, Any]:
    step = find(type(it), "__next__")
    if step is None:
        return next(it), None  # raises the TypeError
    if is_python(step) and not isinstance(it, Iterator):
        try:
            return _shifted_method(calls.call(step.__get__(it, type(it)), ()))
        except StopIteration:
            if default is _MISSING:
                raise
            return default, (run_default,)
    has, item, back = iteration.record_next(it)
    if not has:
        if default is _MISSING:
            raise StopIteration
        return default, (run_next_default,)
    return item, None if back is None else (run_next, back)


def run_next(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    back[1][0](back[1], d, shadows)


def run_next_default(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, None, d


def _made(pairs: Any, kind: str, rec: Any) -> tuple[Any, Any]:
    return Iterator(pairs, kind), None if rec is None or rec is iteration.NOTHING else (run_shift, rec)


@known(enumerate)
def _enumerate(iterable: Any, start: int = 0) -> tuple[Any, Any]:
    iterator, rec = iteration.pairs(iterable)
    if rec is None:
        return enumerate_plainly(iterator, start), None
    return _made(_enumerated(iterator, start), "enumerate", rec)


def enumerate_plainly(iterator: Any, start: int) -> Any:
    return Iterator(((pair, None) for pair in enumerate(iterator, start)), "enumerate")


def _enumerated(iterator: Any, start: int) -> Any:
    for index, (item, back) in enumerate(iterator, start):
        yield (index, item), None if back is None else (iteration.run_second, back)


@known(zip)
def _zip(*iterables: Any, strict: bool = False) -> tuple[Any, Any]:
    sources = [iteration.with_backs(x) for x in iterables]
    recs = tuple([rec for _, rec in sources])
    pairs = _zipped([iterator for iterator, _ in sources], strict)
    back = None if all(r is None or r is iteration.NOTHING for r in recs) else (iteration.run_holders, recs)
    return Iterator(pairs, "zip"), back


def _zipped(iterators: list[Any], strict: bool) -> Any:
    for group in zip(*iterators, strict=strict):
        yield tuple([item for item, _ in group]), (iteration.run_zip, [back for _, back in group])


@known(map)
def _map(f: Any, /, *iterables: Any) -> tuple[Any, Any]:
    sources = [iteration.with_backs(x) for x in iterables]
    recs = (None, *[rec for _, rec in sources])
    back = None if all(r is None or r is iteration.NOTHING for r in recs) else (iteration.run_holders, recs)
    return Iterator(_mapped(f, [iterator for iterator, _ in sources]), "map"), back


def _mapped(f: Any, iterators: list[Any]) -> Any:
    for group in zip(*iterators):
        y, back = calls.forward_of(f)(*[item for item, _ in group])
        yield y, (iteration.run_call, back, [inner for _, inner in group])


@known(filter)
def _filter(f: Any, iterable: Any, /) -> tuple[Any, Any]:
    iterator, rec = iteration.with_backs(iterable)
    y, back = _made(_filtered(f, iterator), "filter", rec)
    return y, None if back is None else (_run_second_of_two, back)


def _run_second_of_two(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else (None, *given)


def _filtered(f: Any, iterator: Any) -> Any:
    for item, back in iterator:
        if item if f is None else calls.call(f, (item,))[0]:
            yield item, back


@known(reversed)
def _reversed(x: Any) -> tuple[Any, Any]:
    made = method_of(x, "__reversed__")
    if made is not None:
        y, back = calls.call(made, ())
        return y, None if back is None else (run_shift, back)
    if isinstance(x, (list, deque, array.array)):
        return Iterator(_backwards(x), "list_reverseiterator"), None
    if isinstance(x, tuple):
        iterator, rec = iteration.tuple_pairs(x)
        return Iterator(iter(list(iterator)[::-1]), "reversed"), (run_shift, rec)
    if isinstance(x, (iteration.Values, iteration.Items)):
        iterator, rec = iteration.pairs(x)
        return Iterator(iter(list(iterator)[::-1]), "reversed"), None
    if is_python(find(type(x), "__getitem__")):
        return Iterator(_backwards_by_items(x), "reversed"), None
    y = reversed(x)
    if isinstance(x, np.ndarray):
        return Iterator(iter(list(iteration.with_backs(x)[0])[::-1]), "reversed"), None
    return y, None


def _backwards(x: Any) -> Any:
    for index in range(len(x) - 1, -1, -1):
        if index < len(x):
            yield x[index], (iteration.run_list_item, x, index)


def _backwards_by_items(x: Any) -> Any:
    for index in range(len(x) - 1, -1, -1):
        item, back = containers.record_getitem(x, index)
        yield item, None if back is None else (_run_item_method, back)


def _run_item_method(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    calls.run(back[1], d, shadows)


# ---------------------------------------------------------------------------------------------- attributes


@known(getattr)
def _getattr(x: Any, name: str, default: Any = _MISSING, /) -> tuple[Any, Any]:
    from . import attributes

    try:
        return shift(attributes.record_getattr(x, name))
    except AttributeError:
        if default is _MISSING:
            raise
        return default, (_run_third,)


def _run_third(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, None, None, d


@known(setattr)
def _setattr(x: Any, name: str, value: Any, /) -> tuple[Any, Any]:
    from . import attributes

    back = attributes.record_setattr(x, value, name)
    return None, None if back is None else (_run_setattr, back)


def _run_setattr(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = back[1][0](back[1], None, shadows)
    return None if given is None else (None, given[0], None, given[1])


@known(delattr)
def _delattr(x: Any, name: str, /) -> tuple[Any, Any]:
    from . import attributes

    return None, attributes.record_delattr(x, name)


# ---------------------------------------------------------------------------------------------- methods of list


@method(list, "append", exact=True)
def _append(x: list[Any], value: Any) -> tuple[Any, Any]:
    list.append(x, value)
    return None, (containers.run_appended, x, len(x) - 1)


@method(list, "extend")
def _extend(x: list[Any], values: Any) -> tuple[Any, Any]:
    return None, containers.record_list_extend(x, values)


@method(list, "insert")
def _insert(x: Any, index: int, value: Any) -> tuple[Any, Any]:
    at = operator.index(index)
    at = max(at + len(x), 0) if at < 0 else min(at, len(x))
    x.insert(index, value)
    return None, (run_inserted, x, at)


def run_inserted(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    shadow = shadows.items.get(id(back[1]))
    if shadow and len(shadow) > back[2]:
        return None, None, shadow.pop(back[2])
    return None


@method(list, "pop")
def _pop(x: list[Any], index: int = -1) -> tuple[Any, Any]:
    y = x.pop(index)
    return y, (run_popped, x, index if index >= 0 else index + len(x) + 1)


def run_popped(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """The item is there again, with the cotangent of what was popped."""
    _, x, index = back
    shadow = shadows.items.get(id(x))
    if shadow is not None and index < len(shadow):
        shadow.insert(index, d)
    elif d is not None:
        shadows.add_item(x, index, d)


@method(list, "remove")
def _remove(x: Any, value: Any) -> tuple[Any, Any]:
    index = x.index(value)
    del x[index]
    return None, (containers.run_deleted, x, (index,))


@method(list, "clear")
def _clear(x: Any) -> tuple[Any, Any]:
    x.clear()
    return None, (run_cleared, x)


def run_cleared(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    shadows.take_list(back[1])


@method(list, "copy")
def _list_copy(x: list[Any]) -> tuple[Any, Any]:
    y = x[:]
    return y, (containers.run_list_slice, y, x, range(len(x)))


@method(list, "reverse")
def _reverse(x: Any) -> tuple[Any, Any]:
    x.reverse()
    return None, (run_permuted, x, range(len(x) - 1, -1, -1))


@method(list, "sort")
def _sort(x: list[Any], *, key: Any = None, reverse: bool = False) -> tuple[Any, Any]:
    order = _order(x, key, reverse)
    x[:] = [x[k] for k in order]
    return None, (run_permuted, x, order)


def run_permuted(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, x, order = back
    taken = shadows.take_list(x)
    if taken is not None:
        result = [None] * len(order)
        for at, c in zip(order, taken):
            result[at] = c
        shadows.list_of(x)[:] = result


def _query(cls: type, *names: str) -> None:
    for name in names:
        method(cls, name, exact=True)(functools.partial(_ask, getattr(cls, name)))


def _ask(f: Any, x: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    return f(x, *args, **kwargs), None


_query(list, "index", "count", "__len__", "__contains__", "__repr__", "__eq__", "__sizeof__")
_query(tuple, "index", "count", "__len__", "__contains__", "__repr__", "__eq__", "__hash__")
_query(dict, "__len__", "__contains__", "__repr__", "__eq__", "keys")
_query(set, "__len__", "__contains__", "__repr__", "__eq__", "isdisjoint", "issubset", "issuperset")
_query(frozenset, "__len__", "__contains__", "__repr__", "__eq__", "isdisjoint", "issubset", "issuperset")
_query(deque, "index", "count", "__len__", "__contains__", "__repr__", "__eq__")
_query(object, "__repr__", "__str__", "__format__", "__hash__", "__eq__", "__ne__", "__sizeof__", "__dir__")
_query(int, "bit_length", "bit_count", "to_bytes")
_query(float, "is_integer", "as_integer_ratio", "hex", "__repr__", "__format__", "__str__")
_query(range, "index", "count", "__len__", "__contains__")


def _operator_method(cls: type, name: str, handler: Callable[..., Any]) -> None:
    method(cls, name)(handler)


def _getitem_method(x: Any, key: Any) -> tuple[Any, Any]:
    return containers.plain_getitem(x, key)


def _setitem_method(x: Any, key: Any, value: Any) -> tuple[Any, Any]:
    return None, containers.plain_setitem(x, key, value)


def _delitem_method(x: Any, key: Any) -> tuple[Any, Any]:
    return None, containers.plain_delitem(x, key)


def _iter_method(x: Any) -> tuple[Any, Any]:
    iterator, rec = iteration.plain_pairs(x)
    return (Iterator(iterator), None if rec is iteration.NOTHING else rec) if rec is not None else (iterator, None)


for _cls in (list, dict, tuple, deque, array.array):
    _operator_method(_cls, "__getitem__", _getitem_method)
    _operator_method(_cls, "__iter__", _iter_method)
    if _cls is not tuple:
        _operator_method(_cls, "__setitem__", _setitem_method)
        _operator_method(_cls, "__delitem__", _delitem_method)


@method(list, "__init__")
def _list_init(x: list[Any], values: Any = ()) -> tuple[Any, Any]:
    list.clear(x)
    return None, containers.record_list_extend(x, values)


@method(dict, "__init__")
def _dict_init(x: dict[Any, Any], *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    return _dict_update(x, *args, **kwargs)


# ---------------------------------------------------------------------------------------------- methods of dict


@method(dict, "get")
def _get(x: dict[Any, Any], key: Any, default: Any = None) -> tuple[Any, Any]:
    if key in x:
        return dict.__getitem__(x, key), (iteration.run_dict_item, x, key)
    return default, (_run_get_default,)


def _run_get_default(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, None, d


@method(dict, "setdefault")
def _setdefault(x: dict[Any, Any], key: Any, default: Any = None) -> tuple[Any, Any]:
    if key in x:
        return x[key], (iteration.run_dict_item, x, key)
    x[key] = default
    return default, (_run_setdefault, x, key)


def _run_setdefault(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    from .cotangents import accumulate

    return None, None, accumulate(d, shadows.take_key(back[1], back[2]))


@method(dict, "pop")
def _dict_pop(x: dict[Any, Any], key: Any, default: Any = _MISSING) -> tuple[Any, Any]:
    if key in x:
        return x.pop(key), (_run_dict_popped, x, key)
    if default is _MISSING:
        x.pop(key)  # raises the KeyError
    return default, (_run_get_default,)


def _run_dict_popped(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    if d is not None:
        shadows.add_key(back[1], back[2], d)


@method(dict, "popitem")
def _popitem(x: dict[Any, Any]) -> tuple[Any, Any]:
    key, value = x.popitem()
    return (key, value), (iteration.run_dict_pair, x, key)


@method(dict, "update")
def _dict_update(x: dict[Any, Any], *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    back = containers.record_dict_update(x, args[0]) if args else None
    dict.update(x, kwargs)
    return None, (run_dict_method, x, back, tuple(kwargs), len(args))


def run_dict_method(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, x, inner, names, count = back
    rest = [shadows.take_key(x, name) for name in names]
    if not count:
        return None, *rest
    given = inner[0](inner, None, shadows)
    return None, None if given is None else given[1], *rest


@method(dict, "copy")
def _dict_copy(x: dict[Any, Any]) -> tuple[Any, Any]:
    y = x.copy()
    return y, (_run_dict_copy, y, x)


def _run_dict_copy(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    for key, c in (shadows.take_dict(back[1]) or {}).items():
        if c is not None:
            shadows.add_key(back[2], key, c)


@method(dict, "clear")
def _dict_clear(x: Any) -> tuple[Any, Any]:
    x.clear()
    return None, (_run_dict_cleared, x)


def _run_dict_cleared(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    shadows.take_dict(back[1])


@method(dict, "values")
def _values(x: Any) -> tuple[Any, Any]:
    return iteration.Values(x), None


@method(dict, "items")
def _items(x: Any) -> tuple[Any, Any]:
    return iteration.Items(x), None


@known(dict.fromkeys)
def _fromkeys(keys: Any, value: Any = None) -> tuple[Any, Any]:
    y = dict.fromkeys(keys, value)
    return y, (_run_fromkeys, y, tuple(y))


def _run_fromkeys(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    from .cotangents import accumulate

    total: Any = None
    for key in back[2]:
        total = accumulate(total, shadows.take_key(back[1], key))
    return None, None, total


# --------------------------------------------------------------------------------------- methods of set, deque


@method(set, "add")
def _set_add(x: Any, value: Any) -> tuple[Any, Any]:
    return None, containers.record_set_add(x, value)


method(set, "discard", exact=True)(functools.partial(_ask, set.discard))
method(set, "remove", exact=True)(functools.partial(_ask, set.remove))
method(set, "clear", exact=True)(functools.partial(_ask, set.clear))


@method(set, "copy")
def _set_copy(x: Any) -> tuple[Any, Any]:
    y = set(x)
    return y, (_run_dict_copy, y, x)


@method(set, "update")
def _set_update(x: Any, *values: Any) -> tuple[Any, Any]:
    backs = [containers.record_set_update(x, v) for v in values]
    return None, (_run_set_updates, backs)


def _run_set_updates(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    result = []
    for inner in reversed(back[1]):
        given = None if inner is None else inner[0](inner, None, shadows)
        result.append(None if given is None else given[1])
    return (None, *reversed(result))


@method(set, "union")
def _union(x: Any, *others: Any) -> tuple[Any, Any]:
    y = set(x)
    backs = [containers.record_set_update(y, v) for v in others]
    return y, (_run_union, y, x, backs)


def _run_union(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    result = _run_set_updates((None, back[3]), None, shadows)
    _run_dict_copy(back, None, shadows)
    return result


def _subset(f: Any, x: Any, /, *others: Any) -> tuple[Any, Any]:
    y = f(x, *others)
    return y, (_run_dict_copy, y, x)


for _name in ("intersection", "difference"):
    method(set, _name)(functools.partial(_subset, getattr(set, _name)))


@method(deque, "append")
def _deque_append(x: Any, value: Any) -> tuple[Any, Any]:
    if x.maxlen is not None and len(x) == x.maxlen:
        if not x.maxlen:
            return None, None
        x.append(value)
        return None, (_run_rotated_in, x, len(x) - 1, 0)
    x.append(value)
    return None, (containers.run_appended, x, len(x) - 1)


def _run_rotated_in(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """A full deque of bounded length: what came in goes, and what fell out at the other end is there again."""
    _, x, index, fallen = back
    shadow = shadows.list_of(x)
    shadow.extend([None] * (index + 1 - len(shadow)))
    c = shadow.pop(index)
    shadow.insert(fallen, None)
    return None, c


@method(deque, "appendleft")
def _appendleft(x: Any, value: Any) -> tuple[Any, Any]:
    if x.maxlen is not None and len(x) == x.maxlen:
        if not x.maxlen:
            return None, None
        x.appendleft(value)
        return None, (_run_rotated_in, x, 0, len(x) - 1)
    x.appendleft(value)
    return None, (_run_prepended, x)


def _run_prepended(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    shadow = shadows.items.get(id(back[1]))
    return (None, shadow.pop(0)) if shadow else None


@method(deque, "pop")
def _deque_pop(x: Any) -> tuple[Any, Any]:
    y = x.pop()
    return y, (run_popped, x, len(x))


@method(deque, "popleft")
def _popleft(x: Any) -> tuple[Any, Any]:
    y = x.popleft()
    return y, (run_popped, x, 0)


@method(deque, "extend")
def _deque_extend(x: Any, values: Any) -> tuple[Any, Any]:
    if x.maxlen is None:
        return None, containers.record_list_extend(x, values)
    iterator, rec = iteration.with_backs(values)
    return None, (_run_steps, [(_deque_append(x, v)[1], b) for v, b in list(iterator)], rec)


@method(deque, "extendleft")
def _extendleft(x: Any, values: Any) -> tuple[Any, Any]:
    iterator, rec = iteration.with_backs(values)
    return None, (_run_steps, [(_appendleft(x, v)[1], b) for v, b in list(iterator)], rec)


def _run_steps(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    for step, inner in reversed(back[1]):
        given = calls.run(step, None, shadows)
        if inner is not None:
            inner[0](inner, None if given is None else given[1], shadows)
    whole = None if back[2] is None else back[2][0](back[2], None, shadows)
    return None if whole is None else (None, whole[0])


@method(deque, "rotate")
def _rotate(x: Any, n: int = 1) -> tuple[Any, Any]:
    length = len(x)
    x.rotate(n)
    return None, (run_permuted, x, [(k - n) % length for k in range(length)])


@method(deque, "copy", "__copy__")
def _deque_copy(x: Any) -> tuple[Any, Any]:
    y = x.copy()
    return y, (containers.run_list_slice, y, x, range(len(x)))


for _cls in (deque, array.array):
    for _name in ("insert", "remove", "reverse", "clear"):
        if hasattr(_cls, _name):
            method(_cls, _name, exact=True)(calls.METHODS[list, _name])
method(array.array, "append")(lambda x, value: (x.append(value), (containers.run_appended, x, len(x) - 1)))
method(array.array, "pop", exact=True)(calls.METHODS[list, "pop"])
method(array.array, "extend", exact=True)(calls.METHODS[list, "extend"])
_query(array.array, "index", "count", "tobytes", "buffer_info")


@method(array.array, "tolist")
def _tolist(x: Any) -> tuple[Any, Any]:
    y = x.tolist()
    return y, (containers.run_list_slice, y, x, range(len(x)))


# --------------------------------------------------------------------------------------- methods of immutables


@method(complex, "conjugate")
def _conjugate(x: complex) -> tuple[Any, Any]:
    return x.conjugate(), (_run_conjugate,)


def _run_conjugate(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (complex(d).conjugate(),)


@method(float, "conjugate")
def _same_number(x: Any) -> tuple[Any, Any]:
    return x, (_run_self,)


method(int, "conjugate")(_same_number)


def _run_self(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return (d,)


def _text_methods(cls: type) -> None:
    for name in dir(cls):
        if callable(getattr(cls, name)) and not name.startswith("__") and name not in ("join", "maketrans", "fromhex"):
            method(cls, name, exact=True)(functools.partial(_ask, getattr(cls, name)))
    method(cls, "join", exact=True)(functools.partial(_ask, cls.join))


_text_methods(str)
_text_methods(bytes)
