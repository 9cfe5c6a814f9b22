"""The modules math, cmath and operator."""

from __future__ import annotations

import cmath
import functools
import inspect
import keyword
import math
import operator
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

from zyg.autodiff import objects
from zyg.errors import Unsupported
from zyg.ir.ops import OPS
from zyg.ir.trace import digamma_of

from . import arithmetic, builtins_, calls, draining, foreign, iteration, queries, reach, reentry, subscripts
from .backs import run_padded
from .calls import known
from .conversions import is_convertible, number_of
from .cotangents import NUMBERS, accumulate, is_number, real_like
from .passing import passes
from .shadows import add_all

_TWO_OVER_SQRT_PI = 2.0 / math.sqrt(math.pi)

# The slope of each function, from its value and its argument. An infinite one meets the cotangent in the back, so that
# nothing times infinity is nothing.
SLOPES: dict[Callable[..., Any], Callable[[float, float], float]] = {
    math.sin: lambda y, x: math.cos(x),
    math.cos: lambda y, x: -math.sin(x),
    math.tan: lambda y, x: 1.0 + y * y,
    math.asin: lambda y, x: over(math.sqrt((1.0 - x) * (1.0 + x))),
    math.acos: lambda y, x: -over(math.sqrt((1.0 - x) * (1.0 + x))),
    math.atan: lambda y, x: 1.0 / (1.0 + x * x),
    math.sinh: lambda y, x: math.cosh(x),
    math.cosh: lambda y, x: math.sinh(x),
    math.tanh: lambda y, x: 1.0 - y * y,
    math.asinh: lambda y, x: 1.0 / math.sqrt(x * x + 1.0),
    math.acosh: lambda y, x: over(math.sqrt((x - 1.0) * (x + 1.0))),
    math.atanh: lambda y, x: over((1.0 - x) * (1.0 + x)),
    math.exp: lambda y, x: y,
    math.exp2: lambda y, x: y * math.log(2.0),
    math.expm1: lambda y, x: y + 1.0,
    math.log2: lambda y, x: 1.0 / (x * math.log(2.0)),
    math.log10: lambda y, x: 1.0 / (x * math.log(10.0)),
    math.log1p: lambda y, x: 1.0 / (1.0 + x),
    math.sqrt: lambda y, x: over(2.0 * y),
    math.cbrt: lambda y, x: over(3.0 * y * y),
    math.fabs: lambda y, x: 1.0 if x > 0 else -1.0 if x < 0 else 0.0,
    math.degrees: lambda y, x: 180.0 / math.pi,
    math.radians: lambda y, x: math.pi / 180.0,
    math.erf: lambda y, x: _TWO_OVER_SQRT_PI * math.exp(-x * x),
    math.erfc: lambda y, x: -_TWO_OVER_SQRT_PI * math.exp(-x * x),
    math.gamma: lambda y, x: y * digamma_of(x),
    math.lgamma: lambda y, x: digamma_of(x),
    math.log: lambda y, x: 1.0 / x,
}

# The slopes by the first argument, where the others are constants.
SLOPES_BY_FIRST: dict[Callable[..., Any], Callable[..., float]] = {
    math.pow: lambda y, x, c: c * normal(y) * over(x),
}


def over(x: float) -> float:
    """1 / x"""
    return 1.0 / x if x else math.inf


def normal(x: float) -> float:
    """A number that is not so small that digits are lost."""
    return x


def _unary(f: Callable[..., Any], slope: Callable[[float, float], float]) -> Callable[..., tuple[Any, Any]]:
    with_kink = f is math.fabs

    def handler(x: Any, /) -> tuple[Any, Any]:
        if type(x) is not float and not is_number(x) and is_convertible(x):
            return _converted(handler, x)
        y = f(x)
        if with_kink and y == 0:
            return y, (arithmetic.run_kink,)
        s = slope(y, x if type(x) is float else float(x))
        return y, s if s - s == 0.0 else (run_infinite, s)

    return handler


def _converted(handler: Callable[..., tuple[Any, Any]], *xs: Any, to: Any = float) -> tuple[Any, Any]:
    """Numbers are made of arguments that are none, and then it goes on."""
    numbers: list[Any] = []
    backs: list[Any] = []
    with reentry.gathering(backs):
        for x in xs:
            number, back = (x, None) if is_number(x) or not is_convertible(x) else calls.KNOWN[to](x)
            numbers.append(number)
            backs.append(back)
        y, back = handler(*numbers)
    return y, (run_converted, back, backs)


def run_converted(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given: list[Any] = list(calls.run(back[1], d, shadows) or (None,))
    given += [None] * (1 + len(back[2]) - len(given))
    for k in range(len(back[2]) - 1, -1, -1):
        if back[2][k] is not None:
            part = calls.run(back[2][k], given[1 + k], shadows)
            given[1 + k] = None if part is None else part[1]
    return given


def _of_numbers(handler: Callable[..., tuple[Any, Any]], to: Any = float) -> Callable[..., tuple[Any, Any]]:
    """The handler of a function of numbers, or of what numbers are made of."""

    def checked(*xs: Any) -> tuple[Any, Any]:
        if NUMBERS.issuperset(map(type, xs)) or all(is_number(x) or not is_convertible(x) for x in xs):
            return handler(*xs)
        return _converted(handler, *xs, to=to)

    return checked


def run_infinite(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (None, arithmetic.strong(d, back[1]))


for _f, _slope in SLOPES.items():
    if _f is not math.log:  # which takes a base
        known(_f, exact=True)(_unary(_f, _slope))


@known(math.log)
@_of_numbers
def _log(x: Any, base: Any = None) -> tuple[Any, Any]:
    if base is None:
        return math.log(x), 1.0 / float(x)
    y = math.log(x, base)
    return y, (_run_log, float(x), float(base), y)


def _run_log(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    _, x, base, y = back
    return None, d / (x * math.log(base)), -d * y / (base * math.log(base))


@known(math.pow)
@_of_numbers
def _pow(x: Any, y: Any, /) -> tuple[Any, Any]:
    value = math.pow(x, y)
    return value, (run_partials, arithmetic.pow_, value, float(x), float(y))


def run_partials(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """(run_partials, rule, y, operands...): a rule that gives the cotangents of the operands, as that of an operator."""
    return None if d is None else (None, *[c() if callable(c) else c for c in back[1](d, *back[2:])])


def _by_op(f: Callable[..., Any], op: str) -> None:
    """By the rule in the op table."""
    rule = OPS[op].vjp

    @known(f)
    @_of_numbers
    def handler(*args: Any) -> tuple[Any, Any]:
        y = f(*args)
        return y, (run_partials, rule, y, *map(float, args))


for _f, _op in ((math.atan2, "atan2"), (math.copysign, "copysign"), (math.fmod, "fmod"), (math.remainder, "remainder"),
                (math.nextafter, "nextafter")):  # fmt: skip
    _by_op(_f, _op)
if sys.version_info >= (3, 13):
    _by_op(math.fma, "fma")


@known(math.hypot)
@_of_numbers
def _hypot(*xs: Any) -> tuple[Any, Any]:
    y = math.hypot(*xs)
    return y, (_run_hypot, y, xs)


def _run_hypot(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, xs = back
    return None if d is None else (None, *[d * float(x) / y if y else 0.0 * d for x in xs])


@known(math.ldexp)
@_of_numbers
def _ldexp(x: Any, i: int, /) -> tuple[Any, Any]:
    return math.ldexp(x, i), (_run_first, math.ldexp(1.0, i))


def _run_first(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (None, d * back[1], None)


@known(math.modf)
@_of_numbers
def _modf(x: Any, /) -> tuple[Any, Any]:
    return math.modf(x), (_run_modf,)


def _run_modf(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (None, d[0])


@known(math.frexp)
@_of_numbers
def _frexp(x: Any, /) -> tuple[Any, Any]:
    m, e = math.frexp(x)
    return (m, e), (_run_frexp, math.ldexp(1.0, -e))


def _run_frexp(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None or d[0] is None else (None, d[0] * back[1])


@known(math.fsum)
def _fsum(iterable: Any, /) -> tuple[Any, Any]:
    if type(iterable) in (list, tuple) and NUMBERS.issuperset(map(type, iterable)):
        return math.fsum(iterable), (_run_linear, draining.drained(iterable)[1], [1.0] * len(iterable))
    iterator, rec = iteration.with_backs(iterable)
    numbers: list[Any] = []
    backs: list[Any] = []
    drain = draining.give_backs, backs, rec
    with draining.undone(drain):
        for item, back in iterator:
            backs.append(back)
            number, backs[-1] = number_of(item, back)
            if not is_convertible(number):  # what is no number raises before the next one is asked for
                break
            numbers.append(number)
        else:
            draining.note_end(iterator, backs)
            return math.fsum(numbers), (_run_each, drain)
        return math.fsum([number]), None


def _run_each(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Each item gets `d`."""
    drain = back[1]
    return None, draining.give(drain, None if d is None else [d] * len(drain[1]), shadows)


@known(math.dist, exact=True)
@passes()
def _dist(p: Any, q: Any, /) -> tuple[Any, Any]:
    if type(p) is tuple and type(q) is tuple and _FLOAT.issuperset(map(type, p + q)):  # as a rule
        y = math.dist(p, q)
        return y, (_run_dist, y, p, q)
    if type(p) is list and type(q) is list and _FLOAT.issuperset(map(type, p + q)):
        y = math.dist(p, q)
        return y, (_run_dist_of, y, p[:], q[:], p, q)
    if _is_of_floats(p) and _is_of_floats(q):
        y = math.dist(p, q)
        return y, (_run_dist_of, y, tuple(p), tuple(q), p if type(p) is list else None, q if type(q) is list else None)
    y, back = _dist_of_items(p, q)
    return y, (run_padded, back, 3)


_FLOAT = frozenset({float})


def _is_of_floats(x: Any) -> bool:
    """Whether it is a list of floats, or a tuple that is gone through in the usual way."""
    t = type(x)
    usual = t is list or t is tuple or (issubclass(t, tuple) and t.__iter__ is tuple.__iter__)
    return usual and _FLOAT.issuperset(map(type, x))


def _run_dist(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    _, y, p, q = back
    if y == 0.0:
        first = second = (0.0 * d,) * len(p)
    elif len(p) == 3:
        (a, b, c), (u, v, w) = p, q
        a, b, c = (a - u) / y * d, (b - v) / y * d, (c - w) / y * d
        first, second = (a, b, c), (-a, -b, -c)
    elif len(p) == 2:
        (a, b), (u, v) = p, q
        a, b = (a - u) / y * d, (b - v) / y * d
        first, second = (a, b), (-a, -b)
    else:
        first = tuple([(a - u) / y * d for a, u in zip(p, q)])
        second = tuple(map(operator.neg, first))
    return None, first, second


def _run_dist_of(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The same where one is a list."""
    given = _run_dist(back[:4], d, shadows)
    if given is None:
        return None
    parts = [None, given[1], given[2]]
    for k in (2, 1):
        x = back[3 + k]
        if x is not None:
            add_all(shadows, x, 0, parts[k])
            parts[k] = None
    return parts


def _dist_of_items(p: Any, q: Any) -> tuple[Any, Any]:
    if not (_stands(p) and _stands(q)):
        return calls.call(_dist_of_tuples, (p, q))
    if not all(
        NUMBERS.issuperset(map(type, iteration.own_items(x))) or all(map(is_number, iteration.own_items(x)))
        for x in (p, q)
    ):
        raise Unsupported(
            "math.dist of objects in differentiated code",
            foreign.position_of(foreign.caller()),
            hint="make floats of them: math.dist([float(a) for a in p], ...)",
        )
    return _of_two(math.dist, p, q)


def _stands(x: Any) -> bool:
    """Whether nobody is asked for the items."""
    return draining.is_standing(x) or iteration.stepped_as(type(x)) is not type(x)


def _dist_of_tuples(p: Any, q: Any) -> float:
    """math.dist, which makes tuples of what is none."""
    p = p if isinstance(p, tuple) else tuple(p)
    return math.dist(p, q if isinstance(q, tuple) else tuple(q))


def _of_two(f: Any, p: Any, q: Any) -> tuple[Any, Any]:
    ps, of_p = draining.drained(p)
    with draining.undone(of_p):
        qs, of_q = draining.drained(q)
    with reentry.undone((_run_of_two, (_run_linear, of_p, ()), (_run_linear, of_q, ()))):
        if f is not math.dist and not all(map(is_number, [*ps, *qs])):
            y, back = calls.call(_added_products, (ps, qs))
            return y, (_run_added_products, back, (ps, of_p), (qs, of_q))
        y = f(ps, qs)
    if f is math.dist:
        first = [(a - b) / y if y else 0.0 for a, b in zip(ps, qs)]
        second = list(map(operator.neg, first))
    else:
        first, second = qs, ps
    return y, (_run_of_two, (_run_linear, of_p, first), (_run_linear, of_q, second))


def _run_linear(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """Each of the items that were taken gets `d` times its weight."""
    _, drain, weights = back
    return None, draining.give(drain, None if d is None else [d * w for w in weights], shadows)


def _run_of_two(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    second = _run_linear(back[2], d, shadows)[
        1
    ]  # what was taken last is undone first: both may be copies of one iterator
    return None, _run_linear(back[1], d, shadows)[1], second


def _added_products(p: Any, q: Any) -> Any:
    """math.sumprod of what are no numbers, in code that is differentiated."""
    total: Any = 0
    for a, b in zip(p, q, strict=True):
        total = total + a * b
    return total


def _run_added_products(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, (ps, of_p), (qs, of_q) = back
    calls.run(inner, d, shadows)
    second = draining.give(of_q, _all_of(qs, shadows), shadows)
    return None, draining.give(of_p, _all_of(ps, shadows), shadows), second


def _all_of(made: list[Any], shadows: Any) -> Any:
    taken = shadows.take_list(made)
    return None if taken is None else [*taken, *[None] * (len(made) - len(taken))]


if sys.version_info >= (3, 12):
    known(math.sumprod)(functools.partial(_of_two, math.sumprod))

builtins_.queries(
    math.floor, math.ceil, math.trunc, math.isqrt, math.gcd, math.lcm, math.comb, math.perm, math.factorial,
    math.isnan, math.isinf, math.isfinite, math.isclose, math.ulp,
)  # fmt: skip

# ------------------------------------------------------------------------------------------------------ cmath

COMPLEX_SLOPES: dict[Callable[..., Any], Callable[[Any, Any], Any]] = {
    cmath.exp: lambda y, x: y,
    cmath.sin: lambda y, x: cmath.cos(x),
    cmath.cos: lambda y, x: -cmath.sin(x),
    cmath.tan: lambda y, x: 1.0 + y * y,
    cmath.sinh: lambda y, x: cmath.cosh(x),
    cmath.cosh: lambda y, x: cmath.sinh(x),
    cmath.tanh: lambda y, x: 1.0 - y * y,
    cmath.asin: lambda y, x: 1.0 / cmath.sqrt(1.0 - x * x),
    cmath.acos: lambda y, x: -1.0 / cmath.sqrt(1.0 - x * x),
    cmath.atan: lambda y, x: 1.0 / (1.0 + x * x),
    cmath.asinh: lambda y, x: 1.0 / cmath.sqrt(1.0 + x * x),
    cmath.acosh: lambda y, x: 1.0 / (cmath.sqrt(x - 1.0) * cmath.sqrt(x + 1.0)),
    cmath.atanh: lambda y, x: 1.0 / (1.0 - x * x),
    cmath.log10: lambda y, x: 1.0 / (x * math.log(10.0)),
    cmath.sqrt: lambda y, x: 0.5 / y if y else math.inf,
}


def _complex_unary(f: Callable[..., Any], slope: Callable[[Any, Any], Any]) -> Callable[..., tuple[Any, Any]]:
    def handler(z: Any, /) -> tuple[Any, Any]:
        if type(z) is not complex and not is_number(z) and is_convertible(z):
            return _converted(handler, z, to=complex)
        y = f(z)
        return y, (_run_complex_unary, slope, y, z)

    return handler


def _run_complex_unary(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, slope, y, z = back
    if d is None:
        return None
    try:
        c = arithmetic.strong(d, slope(y, complex(z)).conjugate())
    except ZeroDivisionError:
        if d != 0:
            raise
        c = 0j
    return None, real_like(z, c)


for _f, _slope in COMPLEX_SLOPES.items():
    known(_f)(_complex_unary(_f, _slope))


@known(cmath.log)
def _clog(z: Any, base: Any = None) -> tuple[Any, Any]:
    if base is None:
        return cmath.log(z), (_run_complex_unary, _inverse, None, z)
    y = cmath.log(z, base)
    return y, (_run_clog, z, base, y)


def _inverse(y: Any, z: Any) -> Any:
    return 1.0 / z


def _run_clog(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    _, z, base, y = back
    log = cmath.log(base)
    return None, real_like(z, d * (1.0 / (z * log)).conjugate()), real_like(base, d * (-y / (base * log)).conjugate())


@known(cmath.phase)
def _phase(z: Any) -> tuple[Any, Any]:
    return cmath.phase(z), (_run_phase, z)


def _run_phase(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    z = complex(back[1])
    square = z.real * z.real + z.imag * z.imag
    return None if d is None else (None, real_like(back[1], d * complex(-z.imag, z.real) / square if square else 0j))


@known(cmath.polar)
def _polar(z: Any) -> tuple[Any, Any]:
    return cmath.polar(z), (_run_polar, z)


def _run_polar(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    z = complex(back[1])
    r = abs(z)
    total = 0j
    if r:
        total += (d[0] or 0.0) * z / r + (d[1] or 0.0) * complex(-z.imag, z.real) / (r * r)
    return None, real_like(back[1], total)


@known(cmath.rect)
def _rect(r: Any, phi: Any) -> tuple[Any, Any]:
    y = cmath.rect(r, phi)
    return y, (_run_rect, cmath.rect(1.0, phi), y)


def _run_rect(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    _, direction, y = back
    d = complex(d)
    return None, (d * direction.conjugate()).real, (d * (1j * y).conjugate()).real


builtins_.constant(cmath.isnan, cmath.isinf, cmath.isfinite, cmath.isclose)

# --------------------------------------------------------------------------------------------------- operator


def _operator(f: Callable[..., Any], record: Callable[..., tuple[Any, Any]]) -> None:
    partials = _PARTIALS.get(f)

    @passes(lambda variables: [(_run_operator,)])
    def handler(*operands: Any) -> tuple[Any, Any]:
        if partials is not None and len(operands) == 2 and type(operands[0]) is float and type(operands[1]) is float:
            return f(*operands), (partials, operands)
        y, back = record(*operands)
        return y, None if back is None else (_run_operator, back)

    if type(record) is FunctionType:
        calls.takes_what(handler, record)
    known(f, exact=True)(handler)


def _run_sum(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (None, d, d)


def _run_difference(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None if d is None else (None, d, -d)


def _run_product(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    a, b = back[1]
    return None, d * b, d * a


# Of floats: what has no other meaning.
_PARTIALS = {operator.add: _run_sum, operator.sub: _run_difference, operator.mul: _run_product}


def _run_operator(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    inner = back[1]
    given = inner[0](inner, d, shadows)
    return None if given is None else (None, *given)


for _name, _record in arithmetic.BINARY_RECORD.items():
    _operator(getattr(operator, {"and": "and_", "or": "or_"}.get(_name, _name)), _record)
    _operator(getattr(operator, f"i{_name}"), arithmetic.RECORD["ipow_" if _name == "pow" else f"i{_name}"])
for _name in arithmetic.UNARY:
    _operator(getattr(operator, _name), arithmetic.RECORD[_name])
_operator(operator.abs, arithmetic.record_abs)
for _name, _record in queries.QUERIES.items():
    if _name != "contains":
        _operator(getattr(operator, {"not": "not_"}.get(_name, _name)), _record)
_operator(operator.getitem, subscripts.record_getitem)


@known(operator.setitem)
@passes(lambda variables: [(builtins_.run_shift,)])
def _setitem(x: Any, key: Any, value: Any, /) -> tuple[Any, Any]:
    return builtins_.shift((None, subscripts.record_setitem(x, key, value)))


@known(operator.delitem)
@passes(lambda variables: [(builtins_.run_shift,)])
def _delitem(x: Any, key: Any, /) -> tuple[Any, Any]:
    return builtins_.shift((None, subscripts.record_delitem(x, key)))


_operator(operator.concat, arithmetic.BINARY_RECORD["add"])
_operator(operator.iconcat, arithmetic.RECORD["iadd"])


@known(operator.call)
@passes(lambda variables: [(builtins_.run_shift,)])
def _call(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    return builtins_.shift(calls.call(f, args, kwargs))


builtins_.constant(
    operator.is_, operator.is_not,
)  # fmt: skip
builtins_.queries(
    operator.contains, operator.countOf, operator.indexOf, operator.index,
)  # fmt: skip


@known(operator.length_hint, exact=True)
def _length_hint(x: Any, default: Any = 0, /) -> tuple[Any, Any]:
    """Of iterators that zyg has in the place of builtin ones it is as long as those would be."""
    if isinstance(x, iteration.Iterator) and type(default) is int:
        return x.length_hint(default), None
    return builtins_._query(operator.length_hint, reach.PLAIN, False, x, default)


@known(iteration.Iterator.length_hint, iteration.Iterator.__length_hint__, exact=True)
def _length_hint_in_turn(x: iteration.Iterator, *default: int) -> tuple[Any, Any]:
    """The same in a second derivative, where what an iterator is made of is another one; and by the name of the method."""
    if default and not x.tells_length():
        return default[0], None
    what = "the second derivative of a length hint" if default else "a length hint by the method `__length_hint__`"
    hint = "ask what the iterator goes through for its length"
    raise Unsupported(what, foreign.position_of(foreign.caller()), hint=hint)


def getter(f: Any) -> Callable[..., tuple[Any, Any]]:
    """How to call an `operator.itemgetter`, `attrgetter` or `methodcaller`."""

    if type(f) is operator.itemgetter:
        keys = f.__reduce__()[1]
        if len(keys) == 1:
            return _item_getter(keys[0])
        return functools.partial(_get_all, subscripts.record_getitem, keys)
    if type(f) is operator.attrgetter:
        names = f.__reduce__()[1]
        if are_names(names):
            return calls.forward_of(reader_of(names))
        return functools.partial(_get_all, functools.partial(_path, objects.attributes.record_getattr), names)
    return functools.partial(_call_method, f)


def are_names(names: Any) -> bool:
    return all(part.isidentifier() and not keyword.iskeyword(part) for name in names for part in name.split("."))


@functools.lru_cache(1000)
def reader_of(names: tuple[str, ...]) -> Any:
    """`attrgetter(*names)` as a function in Python."""
    read = ", ".join([f"x.{name}" for name in names])
    return eval(f"lambda x: ({read})", {})


@passes()
def _call_method(f: Any, x: Any) -> tuple[Any, Any]:
    """`methodcaller(name, ...)(x)`. Its arguments gather in its shadow."""
    name, keys = _signature(f)
    count = sum(map(str.isdigit, keys))
    values = kept_arguments(f)
    method, of_method = objects.attributes.record_getattr(x, name)
    return _call_got(method, values[:count], dict(zip(keys[count:], values[count:])), f, of_method, keys)


@passes(lambda variables: [(_run_call_method, variables["f"], variables["of_method"], variables["keys"])])
def _call_got(method: Any, args: Any, kwargs: Any, f: Any, of_method: Any, keys: Any) -> tuple[Any, Any]:
    y, back = calls.call(method, args, kwargs)
    return y, (_run_call_method, back, f, of_method, keys)


def _run_call_method(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, f, of_method, keys = back
    given = calls.run(inner, d, shadows)
    if given is not None:
        _gather_arguments((_gather_arguments, f, keys), given[1:], shadows)
    whole = calls.run(of_method, None if given is None else given[0], shadows)
    return None, None if whole is None else whole[0]


def _parts(f: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    kind, args = f.__reduce__()[:2]
    if not isinstance(kind, functools.partial):
        return args[0], args[1:], {}
    name, *rest = (*kind.args, *args)
    return name, tuple(rest), kind.keywords


def _signature(f: Any) -> tuple[str, tuple[str, ...]]:
    """The name of the method, and under what each argument of a `methodcaller` is in its shadow: numbers, then the keywords."""
    name, rest, keywords = _parts(f)
    return name, (*map(str, range(len(rest))), *keywords)


builtins_.constant(_signature)


def kept_arguments(f: Any) -> tuple[Any, ...]:
    """The arguments that a `methodcaller` gives to the method."""
    _, rest, keywords = _parts(f)
    return *rest, *keywords.values()


@known(kept_arguments)
def _kept_arguments(f: Any) -> tuple[Any, Any]:
    return kept_arguments(f), (_gather_arguments, f, _signature(f)[1])


def _gather_arguments(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    for key, c in zip(back[2], d or ()):
        if c is not None:
            shadows.add_attr(back[1], key, c)


@known(operator.methodcaller)
def _methodcaller(name: str, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    y = operator.methodcaller(name, *args, **kwargs)
    return y, (_run_methodcaller, y, len(args), tuple(kwargs))


def _run_methodcaller(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, y, count, names = back
    taken = [shadows.take_attr(y, key) for key in (*map(str, range(count)), *names)]
    return None, None, *taken


def _path(record: Any, x: Any, name: str) -> tuple[Any, Any]:
    backs = []
    for part in name.split("."):
        x, back = record(x, part)
        backs.append(back)
    return x, (_run_path, backs)


def _run_path(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    for inner in reversed(back[1]):
        given = calls.run(inner, d, shadows)
        d = None if given is None else given[0]
    return (d,)


def _item_getter(key: Any) -> Callable[[Any], tuple[Any, Any]]:
    """`itemgetter(key)`, as a function (CPython calls it faster than a partial object)."""
    is_place = type(key) is int

    def get_one(x: Any) -> tuple[Any, Any]:
        if is_place and type(x) is tuple:
            return x[key], (_run_get_one, key, len(x))
        return builtins_.shift(subscripts.record_getitem(x, key))

    return get_one


_GETS_ONE = passes(lambda variables: [(builtins_.run_shift,)])(_item_getter(0)).__code__


def place_got(forward: Any) -> int | None:
    """The place whose item is got, if `forward` is that of an `itemgetter` of one."""
    if type(forward) is not FunctionType or forward.__code__ is not _GETS_ONE:
        return None
    key = inspect.getclosurevars(forward).nonlocals["key"]
    return key if type(key) is int else None


def _run_get_one(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    if d is None:
        return None
    parts: list[Any] = [None] * back[2]
    parts[back[1]] = d
    return None, tuple(parts)


def _get_all(record: Any, keys: Any, x: Any) -> tuple[Any, Any]:
    made = [record(x, key) for key in keys]
    if len(made) == 1:
        return builtins_.shift(made[0])
    return tuple([y for y, _ in made]), (_run_get_all, [back for _, back in made])


def _run_get_all(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    total: Any = None
    for k in range(len(back[1]) - 1, -1, -1):
        given = calls.run(back[1][k], None if d is None else d[k], shadows)
        total = accumulate(total, None if given is None else given[0])
    return None, total


builtins_.constant(operator.itemgetter, operator.attrgetter)
