"""Derivatives inside of differentiated code: zyg's own functions are differentiated as the Python code that they are.

`zyg.gradient(f, x)` in object code is the forward half of `f`, called, and its reverse half, called. Both are code that the
adjoint pass made, and is differentiated like other code, with the run-time functions that it calls. What these look up (what
function is meant, what a value looks like) carries no derivative, and runs as it is: that is what is said here.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MethodType
from typing import Any

import numpy as np

from zyg import fallback, params, rules, tracebacks, transforms
from zyg.autodiff import trying
from zyg.autodiff.python import accesses, escaping, forms, inlining, knowledge
from zyg.autodiff.python import nested as halves
from zyg.errors import Unsupported
from zyg.ir.records import replace
from zyg.library import registry

from . import (
    adapters,
    anew,
    attributes,
    builtins_,
    calls,
    class_statements,
    classes,
    cotangents,
    dataclasses_,
    foreign,
    functions,
    generators,
    holders,
    inner,
    iteration,
    keeping,
    later,
    library_calls,
    native,
    numpy_,
    passing,
    reach,
    reentry,
    reversals,
    scattering,
    shadows,
    spreading,
    structure,
    telling,
    together,
    user_rules,
)
from . import in_turn as in_turn  # which has the short paths
from .arithmetic import find, is_python, method_of
from .backs import run_padded, run_shifted
from .calls import known
from .cotangents import NUMERIC
from .passing import passes


def _plainly(function: Any) -> Any:
    def handler(*args: Any, **kwargs: Any) -> tuple[Any, None]:
        return function(*args, **kwargs), None

    return handler


for _function in (
    calls.refresh, calls.known_function, calls.known_entry, reach.entered, structure.form, structure.forms_of, structure.fields_of, structure.fields_class, structure.gradient_class, together.end, knowledge.begin, knowledge.release, accesses.readers, accesses.writers, inlining.as_it_was, inlining.are_natural,
    builtins_.user_frame, registry.find, registry.method, registry.modules_of, user_rules.note_met, user_rules.enter, user_rules.leave, rules.epoch, transforms.describe, transforms.transform_of, foreign.caller, foreign.place_in_half, foreign.module_of_caller, scattering.misfit, user_rules.misfit, foreign.is_foreign, foreign.name_of, find,
    is_python, class_statements.metaclass, class_statements.forward_of_body,
    class_statements.runs_code, generators.acts_when_closed, generators.hand_to_hook, passing.innermost, generators.gives_items_of_another, generators.goes_on, generators.begin, generators.end, generators.forget, escaping.watch_generators, trying.enter, trying.leave, escaping.name_at, classes.arguments_are_known, classes.has_known_arguments, classes.attributes_from, classes.note_attribute, classes.is_noted, classes.show_dict,
    holders.class_for, shadows.joined_now, attributes.attribute_handler, dataclasses_.signature,
    numpy_.of_objects, numpy_.is_hidden, foreign.is_opaque, iteration.is_number_key, iteration.place_of_keys,
    dataclasses_._is_plain, class_statements.with_known_code, anew.made_by_statement, anew.about,
    functions.Function.bind, functions.Function.bind_method, cotangents.numbers_of, telling.entered_by, telling.level_of, telling.entry_of, telling.is_only_read, telling._chooses_text, reach.own_streams, adapters.with_defaults, adapters.making, adapters.making_spread, adapters.constructing, later.__getattr__,
):  # fmt: skip
    known(_function)(_plainly(_function))


@known(user_rules.in_forward_mode)
def _in_forward_mode(depth: int = 0) -> tuple[bool, None]:
    """That is asked for a derivative within the one that is being taken."""
    return user_rules.in_forward_mode(depth + 1), None


@known(together.prepare)
def _prepare(groups: Any, shadows: Any) -> tuple[None, None]:
    """Shadows that the first derivative makes one by one are seen where it is differentiated."""
    return None, None


@known(together.gather)
def _gather_together(alike: Any, shadows: Any) -> tuple[None, None]:
    """And gathered one by one."""
    return None, None


@known(method_of)
def _method_of(x: Any, name: str) -> tuple[Any, Any]:
    found = method_of(x, name)
    return found, (_run_method_of, found) if type(found) is MethodType and issubclass(
        type(x), (tuple, *NUMERIC)
    ) else None


def _run_method_of(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, *attributes.run_bound_method(back, d, shadows), None


def _forward(find: Any) -> Any:
    def handler(f: Any, by_name: bool = False) -> tuple[Any, Any]:
        forward = find(f, by_name)
        return forward, (_run_forward, forward) if type(forward) is functools.partial else None

    return handler


known(calls.forward_of)(_forward(calls.forward_of))
known(calls.forward_in_python)(_forward(calls.forward_in_python))


def _run_forward(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, _bound_to(back[1], shadows)


def _bound_to(forward: Any, shadows: Any) -> Any:
    """The cotangent of a callable, from what its forward half has gathered: that of what a method is bound to."""
    held = shadows.take_attr(forward, "args") if type(forward) is functools.partial else None
    return None if held is None else held[-1]


known(reversals.step)(reversals.record_step)
known(keeping.kept)(keeping.kept_in_turn)
known(keeping.Watching.__call__)(keeping.call_in_turn)


@known(cotangents.joined_by_name, exact=True)
@passes()
def _joined_by_name(d: Any, x: Any, places: Any, *parts: Any) -> tuple[Any, Any]:
    return calls.call(cotangents.joined_by_places, (d, x, places, *parts))


@known(foreign.vanishes)
def _vanishes(shadow: Any) -> tuple[bool, None]:
    """What happens to be 0, as the cotangent of a misfit where the fit is perfect, has a derivative."""
    return False, None


@known(halves.attach, escaping.attach)
def _attach(exception: BaseException, back: Any, depth: int = 0, *kept: Any) -> tuple[Any, Any]:
    """The pullback is a value like others: an attribute of the exception."""
    escaping.attach(exception, back, depth + 1)
    tracebacks.note(exception)
    return None, (_run_attach, exception, escaping.name_at(depth + 1))


def _run_attach(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return None, None, shadows.take_attr(back[1], back[2]), None


@known(halves.take, escaping.take)
def _take(exception: BaseException, depth: int = 0) -> tuple[Any, Any]:
    return _taken(*escaping.taken(exception, depth + 1), exception, depth)


@known(escaping.taken)
def _take_within(exception: BaseException, depth: int = 0) -> tuple[Any, Any]:
    return _taken_within(escaping.taken(exception, depth + 1), exception, depth)


@known(escaping.swallowed)
def _swallowed(exception: BaseException, depth: int = 0, constants: tuple[int, ...] = ()) -> tuple[Any, Any]:
    return _taken(escaping.swallowed(exception, depth + 1, constants), 1, exception, depth)


@known(escaping.left_call)
def _left_call(exception: BaseException) -> tuple[Any, Any]:
    return _taken(*escaping.left_in(exception, 1), exception, 0)


@known(escaping.left_in)
def _left_in(exception: BaseException, depth: int) -> tuple[Any, Any]:
    return _taken_within(escaping.left_in(exception, depth + 1), exception, depth)


def _taken(back: Any, within: int, exception: BaseException, depth: int) -> tuple[Any, Any]:
    """`within`: within how many others the pullback is that was left."""
    tracebacks.note(exception)
    return back, None if back is None else (
        _run_taken, exception, escaping.name_at(depth + 1), within, foreign.caller(),
    )  # fmt: skip


def _run_taken(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    """What the functions on the way have put around it comes from places that are not known."""
    _, exception, name, within, place = back
    for _ in range(within):
        if d is not None:
            if any(map(reentry.matters, d[2:])):
                raise escaping.refusal(place, "a second derivative")
            d = d[1]
    if d is not None:
        shadows.add_attr(exception, name, d)


def _taken_within(made: tuple[Any, int], exception: BaseException, depth: int) -> tuple[Any, Any]:
    return made, None if made[0] is None else (_run_taken_within, _taken(*made, exception, depth)[1])


def _run_taken_within(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _run_taken(back[1], None if d is None else d[0], shadows)


@known(forms.run_watched)
@passing.passes(lambda variables: [(_run_run_watched,)])
@passing.passes_in_turn()
def _run_watched(watched: Any, cells: Any, scope: Any, *args: Any) -> tuple[Any, Any]:
    y, back = calls.call(watched.function(cells, scope), args)
    return y, None if back is None else (_run_run_watched, back)


def _run_run_watched(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else (None, None, None, None, *given[1:])


@known(calls.call)
@passing.passes()
@passing.passes_in_turn()
def _call(f: Any, args: Any, kwargs: Any = None) -> tuple[Any, Any]:
    return _through(calls.forward_in_python(f, by_name=bool(kwargs)), args, kwargs)


@known(calls.call_in_python)
@passing.passes()
@passing.passes_in_turn()
def _call_in_python(f: Any, args: Any, kwargs: Any = None) -> tuple[Any, Any]:
    return _through(calls.forward_in_python(f, by_name=bool(kwargs)), args, kwargs)


@passing.passes(lambda variables: [(_run_through, variables["forward"])])
def _through(forward: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Differentiate a call of the forward half: what it gives is a value and its pullback, which gives the cotangents in the order
    of the call."""
    y, back = spreading.record_spread(forward, tuple(args), kwargs or {})
    return y, None if back is None else (_run_through, back, forward)


def _run_through(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The forward half came in the place of the function that it belongs to, and what looked it up."""
    given = calls.run(back[1], d, shadows)
    return None if given is None else (None, _bound_to(back[2], shadows), *given[1:])


@known(library_calls.call_entry)
def _call_entry(f: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """What the library has natively has native pullbacks, and these have native ones."""
    if isinstance(kwargs.get("out"), np.ndarray) and library_calls.knows(f):
        y, back = calls.call(library_calls.into, (f, kwargs["out"], args, kwargs))
        return y, None if back is None else (_run_called_into, back)
    if library_calls.call_entry(f, args, kwargs) is None:
        return None, None
    return calls.call(library_calls.entry_in_python, (f, args, kwargs))


def _run_called_into(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """`into` was called with the array besides, whose cotangent is in its shadow."""
    given = calls.run(back[1], d, shadows)
    return None if given is None else (*given[:2], *given[3:])


known(inner.call)(inner.call_call)
known(inner.call_call)(inner.refuse_call_call)
known(inner.copied)(inner.call_copied)
known(inner.opened)(_plainly(inner.opened))
known(library_calls.required)(_plainly(library_calls.required))
known(library_calls._none_by)(_plainly(library_calls._none_by))
known(library_calls.entry_value)(library_calls.call_entry_value)
known(library_calls.entry_cotangents)(library_calls.call_entry_cotangents)
known(library_calls.partial_cotangents)(library_calls.call_partial_cotangents)


@known(functions.call_bound)
@passing.passes()
@passing.passes_in_turn()
def _call_bound(entry: Any, f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """Arguments are brought in their places as ever; it is the forward half that is differentiated."""
    slots, places = functions.arrange(entry, f, args, kwargs)
    return _call_arranged(entry.bind(f), f, tuple(slots), places)


@passing.passes(lambda variables: _around_bound(variables))
@passing.passes_in_turn(functions.by_places)
def _call_arranged(forward: Any, f: Any, slots: tuple[Any, ...], places: Any) -> tuple[Any, Any]:
    pair, back = calls.call(forward, slots)
    if places is None or pair[1] is None:
        return pair, None if back is None else (_run_bound, back)
    made = (pair[0], (functions.run_bound, pair[1], f, *places))
    return made, None if back is None else (_run_arranged, (functions.run_bound, (_run_inner, back), f, *places))


passing.stands_for(_call_arranged, functions.call_bound)


@known(native.NativeFirst.call)
@passing.passes()
@passing.passes_in_turn()
def _call_in_its_turn(first: Any, f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """By its code, as other functions: what native code refuses would have shadows of its own here, and what it changes be lost."""
    return _call_bound(first.entry, f, *args, **kwargs)


def _around_bound(variables: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    around = functions.by_places(variables)
    return [(_run_arranged,), *around, (_run_inner,)] if around else [(_run_bound,)]


def _run_arranged(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The cotangents of the parameters go where these came from."""
    return (None, None, *calls.run(back[1], d, shadows))


def _run_inner(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """What is asked of the pullback of a bound call is asked of that of the forward half, which is in it."""
    if d is not None and d[1] is not None:
        d = (d[0], d[1][1])
    return calls.run(back[1], d, shadows)


def _run_bound(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else (None, None, None, *given[1:])


@passing.passes(lambda variables: _around_transform(variables))
def call_transform(transform: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """A call of zyg.gradient and the like, or of what zyg.grad and the like gave."""
    direct = transform.kind in transforms.DIRECT_KINDS
    names = tuple(kwargs)
    if "argnums" in kwargs and transform.kind in transforms.ARGNUMS:
        argnums = kwargs.pop("argnums")
        transform = replace(transform, argnums=None if argnums is None else transforms.checked_argnums(argnums))
    function, rest = (args[0], args[1:]) if direct else (transform.function, args)
    if kwargs and not rest and transform.kind in ("gradient", "withgradient", "pullback"):
        raise TypeError(transforms.by_name_alone(transform.kind, transforms.describe(function), names))
    made = None if kwargs else inner.call(transform, function, rest)
    if made is not None:
        y, back = made
        back = back if direct or back is None else (run_shifted, back)
        return y, back if back is None or not names else (run_padded, back, 1 + len(args) + len(names))
    _refuse_iterators(function, rest, kwargs)
    by_params = direct and any(isinstance(x, params.Params) for x in rest)
    implementation = params.through_python if by_params else fallback.implementation(transform)
    y, back = calls.call(implementation, (transform, function, rest, kwargs))
    return y, None if back is None else (_run_transform, back, direct, len(rest), kwargs, names)


def _refuse_iterators(*given: Any) -> None:
    """What the inner derivative takes from an iterator that was made outside of it would get its cotangents there, and they be lost
    outside."""
    for x in structure.objects_of(structure.form(given)):
        if not isinstance(x, iteration.Iterator):
            continue
        whole = x.whole if isinstance(x, iteration.Direct) else None
        if type(whole) is not list or structure.holds_numbers(structure.form(whole)):
            hint = "make it there, or make a list of it before: `items = list(...)`, which both may go through"
            what = f"an inner derivative of a function that takes from an iterator made outside of it, a {x.kind}"
            raise Unsupported(what, foreign.position_of(foreign.caller()), hint=hint)


def _around_transform(variables: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    v = variables
    return [(_run_transform, v["direct"], len(v["rest"]), v["kwargs"], v["names"])]


def _run_transform(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, direct, count, kwargs, names = back
    given = calls.run(inner, d, shadows)
    if given is None:
        return None
    _, _, d_function, d_args, *_ = given
    d_kwargs = [shadows.take_key(kwargs, name) if name in kwargs else None for name in names]
    first = (None, d_function) if direct else (d_function,)
    return (*first, *(d_args if d_args is not None else [None] * count), *d_kwargs)
