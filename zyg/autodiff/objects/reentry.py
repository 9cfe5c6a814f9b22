"""Python code that C code enters by itself: special methods of operands, callbacks, hooks of classes.

C code is run by `followed`, which finds the Python functions that its operands bring along. As long as the C code runs, these
functions have another code object, a trap: called by C, a trap calls the function as differentiated code does, and notes the
pullback. So CPython's own protocols (reflected operators, `__len__` for a missing `__bool__`, checks of what a method gives)
are followed, each method runs once, and the reverse pass undoes the calls where the operation is undone.

A cotangent of what the C code gave goes to the call that gave this very object, else it is a refusal of all that the calls gave;
a cotangent of an argument of such a call goes to the operand that is the same object, else it is a refusal, too.

Nothing is looked for where all operands are of types that run no Python code (`PLAIN`), or of classes whose methods do nothing
but calculate with attributes of such types.
"""

from __future__ import annotations

import functools
import operator
import threading
import weakref
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from zyg.backend.python import leaving
from zyg.errors import Unsupported

from .. import trying
from ..identity import ByIdentity
from . import arithmetic, calls, foreign, iteration, later, scattering, sources, structure, watched
from .cotangents import INERT, Refused, accumulate, is_number, refused_in
from .passing import leaves, passes
from .reach import PLAIN, entered

# ----------------------------------------------------------------------------------------------------------------- traps


class Trap:
    """Stands for a function as long as C code runs that may call it. (It holds nothing that could hold the function: traps are kept.)"""

    __slots__ = ("count", "function", "own")

    def __init__(self, f: FunctionType):
        self.function = weakref.ref(f)  # what is called is there
        self.own = f.__code__
        self.count = 0

    def code(self) -> CodeType:
        """It has the trap as a constant."""
        template = _GENERATOR if self.own.co_flags & 0x20 else _FUNCTION
        return template.replace(
            co_consts=tuple([self if c == "trap" else c for c in template.co_consts]),
            co_freevars=self.own.co_freevars,
            co_name=self.own.co_name,
            co_qualname=self.own.co_qualname,
            co_filename=self.own.co_filename,
            co_firstlineno=self.own.co_firstlineno,
        )

    def plain(self) -> FunctionType:
        """The function without a trap, for calls that are not to be followed: of another thread."""
        f: Any = self.function()
        plain = FunctionType(self.own, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
        plain.__kwdefaults__ = f.__kwdefaults__
        return plain

    def called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        run = _running.run
        return self.plain()(*args, **kwargs) if run is None else run.call(self.function(), args, kwargs)


def _template(source: str) -> CodeType:
    return next(c for c in compile(source, __file__, "eval").co_consts if isinstance(c, CodeType))


_FUNCTION = _template("lambda *args, **kwargs: 'trap'.called(args, kwargs)")
_GENERATOR = _template("lambda *args, **kwargs: (yield from 'trap'.called(args, kwargs))")

_traps: dict[int, Trap] = {}  # those that are set, by the identity of the function
_kept = ByIdentity()  # of functions: (their code, a trap, the trap's code), to be set again
_lock = threading.Lock()


def _set(functions: list[FunctionType]) -> None:
    with _lock:
        for f in functions:
            trap = _traps.get(id(f))
            if trap is None:
                kept = _kept.of(f)
                if kept is None or kept[0] is not f.__code__:
                    trap = Trap(f)
                    kept = f.__code__, trap, trap.code()
                    _kept.note(f, kept)
                trap = _traps[id(f)] = kept[1]
                f.__code__ = kept[2]
            trap.count += 1


def _release(functions: list[FunctionType]) -> None:
    with _lock:
        for f in functions:
            trap = _traps[id(f)]
            trap.count -= 1
            if not trap.count:
                f.__code__ = trap.own
                del _traps[id(f)]


def trapped(f: FunctionType) -> FunctionType | None:
    """What `f` is if it has a trap, which another thread has set."""
    trap = _traps.get(id(f))
    return None if trap is None or f.__code__ is trap.own else trap.plain()


class _Running(threading.local):
    """The C code that this thread runs with traps."""

    run: Run | None = None


_running = _Running()


def running() -> Run | None:
    """The C code that is being followed."""
    return _running.run


# ------------------------------------------------------------------------------------------------------------------ runs


class Run:
    """One run of C code: the calls that it made, as (value, arguments, back)."""

    __slots__ = ("changed", "functions", "log", "outer", "watched")

    def __init__(
        self,
        functions: list[FunctionType],
        log: list[tuple[Any, tuple[Any, ...], Any]],
        watched: list[tuple[Any, Any]] | None = None,
    ):
        self.functions = functions
        self.log = log
        self.outer: Run | None = None
        # Of what C code may change what it was like when it went on last, and what it has changed before.
        self.watched = list(watched or ())
        self.changed: set[int] = set()

    def __enter__(self) -> Run:
        self.outer = _running.run
        _set(self.functions)
        _running.run = self
        return self

    def __exit__(self, *exception: Any) -> None:
        _running.run = self.outer
        _release(self.functions)

    def pause(self) -> None:
        self.changed.update(map(id, watched.changed(self.watched)))
        self.__exit__()

    def resume(self) -> None:
        self.__enter__()
        if self.watched:
            self.watched = watched.watch([x for x, _ in self.watched]) or []

    def settle(self, held: list[tuple[Any, Any]]) -> None:
        """The code is done: what was only changed by what it called is as it was."""
        self.changed.update(map(id, watched.changed(self.watched)))
        held[:] = [pair for pair in held if id(pair[0]) in self.changed]

    def call(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """C code calls a function: that is followed."""
        self.pause()
        try:
            trying.enter()  # C code may catch what is raised
            try:
                value, back = calls.forward_by_others(f, bool(kwargs))(*args, **kwargs)
            finally:
                trying.leave()
        except BaseException as error:
            left = later.escaping.left_call(error)
            if left is not None:
                self.log.append((None, (*args, *kwargs.values()), left))
            elif (back := later.escaping.swallowed(error)) is not None:
                self.log.append((None, (), back))
            raise
        finally:
            self.resume()
        if back is not None:
            self.log.append((value, (*args, *kwargs.values()), back))
        if isinstance(value, iteration.Iterator):
            return self.noted(value)
        return value

    def next_of(self, iterator: iteration.Iterator) -> Any:
        """C code takes an item of an iterator of differentiated code, which runs what makes it."""
        self.pause()
        try:
            value, back = _step(iterator)
        finally:
            self.resume()
        if back is not None:
            self.log.append((None if value is _END else value, (), back))
        if value is _END:
            raise StopIteration
        return value

    def noted(self, iterator: iteration.Iterator) -> Any:
        """C code goes through what a function gave."""
        while True:
            inside = _running.run is self
            if inside:
                self.pause()
            try:
                pair = next(iterator.pairs, None)
            finally:
                if inside:
                    self.resume()
            if pair is None:
                return
            self.log.append((pair[0], (), pair[1]))
            yield pair[0]


_END = object()


def _step(iterator: iteration.Iterator) -> Any:
    """(the next item, its back), or the mark of the end with what undoes that it was looked for."""
    pair = next(iterator.pairs, None)
    return pair or (_END, sources.record_finish(iterator.pairs)[1])


def steps_on(operands: tuple[Any, ...]) -> bool:
    """Whether there are iterators of differentiated code, which run what makes their items."""
    return any(isinstance(x, iteration.Iterator) for x in operands)


@passes()
def followed(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    deep: bool = False,
    others: tuple[Any, ...] = (),
    watched: Any = None,
    inside: bool = True,
) -> tuple[Any, Any]:
    """(value, back) of a call of C code; the back gives a cotangent for each argument, and for each keyword argument.

    others: what else the code works on. deep: it may call any method, and what it gets. inside: it may look at what containers
    hold.
    """
    kwargs = kwargs or {}
    operands = (*args, *kwargs.values())
    functions = entered((*operands, *others), deep, inside)
    if not _PROXIES.isdisjoint(map(type, operands)) and f not in _OF_PROXIES:
        what = f"{foreign.name_of(f)} of a weakref.proxy, in code that is differentiated through Python"
        hint = "use weakref.ref and call it, or a method of the object by its name"
        raise Unsupported(what, foreign.position_of(foreign.caller()), hint=hint)
    if not functions and not steps_on(operands):
        return f(*args, **kwargs), None
    log: list[tuple[Any, tuple[Any, ...], Any]] = []
    value = run_with_traps(f, args, kwargs, functions, log, watched)
    if not log:
        return value, None
    return value, (run_followed, value, operands, log, foreign.caller(), foreign.name_of(f), others)


_PROXIES = frozenset(weakref.ProxyTypes)
_OF_PROXIES = frozenset({isinstance, issubclass, type, id, repr, callable})  # what these tell is not of the object


def run_with_traps(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    functions: list[FunctionType],
    log: list[tuple[Any, tuple[Any, ...], Any]],
    watched: Any = None,
) -> Any:
    """What C code gives; the calls of `functions` that it makes go to the log."""
    run = Run(functions, log, watched)
    try:
        with run:
            value = f(*args, **kwargs)
    except BaseException as error:
        _leave(error, run, (*args, *kwargs.values()))
        raise
    if watched is not None and log:
        run.settle(watched)
    return value


class undone:
    """`with undone(back):` what was done before is undone where an exception that leaves the block is caught. `calls`: a list in
    `back` of the pullbacks of calls that are made in the block, to which that of one that is left is added."""

    __slots__ = ("back", "calls")

    def __init__(self, back: Any, calls: list[Any] | None = None):
        self.back = back
        self.calls = calls

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if error is not None:
            if self.calls is not None and trying.bodies:
                left = later.escaping.left_call(error)
                if left is not None:
                    self.calls.append(left)
            leave(error, self.back)


def leave(error: BaseException, back: Any) -> None:
    """What was done before is undone where this exception is caught."""
    if trying.bodies:
        later.escaping.attach(error, (_run_left, later.escaping.swallowed(error), back, foreign.caller()))


def leave_call(error: BaseException, run: Any, *more: Any) -> None:
    """An exception has left a call that is made for items: where it is caught, `run` brings cotangents to these."""
    left = later.escaping.left_call(error) if trying.bodies else None
    if left is not None:
        later.escaping.attach(error, (_run_left, None, (run, left, *more), foreign.caller()))


_INSTEAD = "write a loop, or a generator that returns"


def stopped(f: Any, end: StopIteration) -> BaseException:
    """What to raise where a function that an iterator calls has raised StopIteration: the iterator is at its end, then, and whoever
    finds that does not know what the function has done."""
    if f is next and later.escaping.swallowed(end) is None:
        return end
    return Unsupported(
        f"StopIteration out of `{foreign.name_of(f)}`, which an iterator calls",
        foreign.position_of(foreign.caller()),
        hint=_INSTEAD,
    )


def out_of_iterator(exception: BaseException) -> BaseException:
    """What to raise where an exception leaves the code that stands for an iterator of the library, as `map`, in a loop: StopIteration is
    the end of these, to which there is no way from there."""
    if not isinstance(exception, StopIteration):
        return exception
    trace = exception.__traceback__
    made = Unsupported(
        "StopIteration out of a function which an iterator calls",
        foreign.position_of((trace.tb_frame.f_code, trace.tb_lasti)) if trace is not None else None,
        hint=_INSTEAD,
    )
    made.__cause__ = exception
    return made


leaving["library"] = out_of_iterator


def _run_left(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    _, raised, done, place = back
    calls.run(raised, None, shadows)
    if matters(calls.run(done, None, shadows)):  # (a callee has kept what it was given, and then raised)
        raise Unsupported(
            "the derivative by what was passed to a call that was left by an exception, which was caught",
            foreign.position_of(place),
            hint="write a loop in the `try` block, in the place of the function that takes all items",
        )


def gathering(backs: list[Any]) -> undone:
    """`with gathering(backs):` the same for what is done meanwhile, whose backs come into the list."""
    return undone((run_gathered, backs))


def run_gathered(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    return tuple([calls.run(inner, None, shadows) for inner in reversed(back[1])])


def _leave(error: BaseException, run: Run, operands: tuple[Any, ...]) -> None:
    """The code is left by an exception: what was called is undone where that is caught."""
    if not trying.bodies:
        return
    raised = later.escaping.swallowed(error)  # of an iterator that C code went through
    if raised is not None:
        run.log.append((None, (), raised))
    if run.log:
        later.escaping.attach(error, (run_followed, None, operands, run.log, foreign.caller(), "C code", ()))


def run_followed(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, value, operands, log, place, name, others = back
    flowing: list[Any] = [None] * len(operands)
    given_by = None
    refused: Refused | None = None
    if d is not None and type(value) not in INERT:
        given_by = next((k for k in range(len(log) - 1, -1, -1) if log[k][0] is value), None)
        if given_by is None:
            refused = refused_in(d) or _refusal(
                f"a derivative through what `{name}` makes of Python code that it calls", place
            )
    elif foreign.has_shadow(value, shadows) and not any(v is value for v, _, _ in log):
        refused = _refusal(f"a derivative through what `{name}` makes of Python code that it calls", place)
    for k in range(len(log) - 1, -1, -1):
        made, arguments, inner = log[k]
        c = d if k == given_by else refused if refused is not None and type(made) not in INERT else None
        if c is refused and c is not None and not is_number(made):
            scattering.refuse(structure.form(made), c, shadows)
            c = None
        given = calls.run(inner, c, shadows)
        for x, part in zip(arguments, given[1:] if given is not None else ()):
            if part is not None:
                _give(x, part, operands, others, flowing, shadows, place, name)
    return flowing if any(c is not None for c in flowing) else None


leaves(run_followed)(run_with_traps)

# What passes its operands on only: an integer that is the same as one of them is that.
_PASSING = frozenset(f"_operator.{name}" for name in "contains lt le eq ne gt ge".split())


def _give(
    x: Any, part: Any, operands: Any, others: Any, flowing: list[Any], shadows: Any, place: Any, name: str
) -> None:
    """The cotangent of an argument of a call that C code made goes to the operand that is the argument."""
    same = [k for k, v in enumerate(operands) if v is x]
    if same and (len(same) == 1 or type(x) is tuple) and (type(x) not in (int, bool) or name in _PASSING):
        flowing[same[0]] = accumulate(flowing[same[0]], part)
        return
    if not matters(part):
        return
    if type(x) is tuple and type(part) is tuple:  # of the library's own code, `*args` of what it was called with
        for item, c in zip(x, part):
            _give(item, c, operands, others, flowing, shadows, place, name)
        return
    refused = refused_in(part) or _refusal(f"a derivative by what `{name}` passes to Python code", place)
    for k, v in enumerate((*operands, *others)):
        for held in v if isinstance(v, (list, tuple)) else (v,):
            if foreign.is_opaque(held):
                shadows.mark(held, refused)
        c = scattering.refuse(structure.form(v), refused, shadows)
        if c is not None and k < len(flowing):
            flowing[k] = accumulate(flowing[k], c)


def matters(c: Any) -> bool:
    if isinstance(c, (tuple, list)):
        return any(map(matters, c))
    return c is not None and not (isinstance(c, float) and c == 0.0)


def _refusal(what: str, place: Any) -> Refused:
    hint = "call the function or method by itself, and use what it gives"
    return Refused(Unsupported(what, foreign.position_of(place), hint=hint))


class SecondRun(Run):
    """A run of C code within what is differentiated again: of a call both its value and its pullback are what is differentiated."""

    __slots__ = ("calls", "name")

    def __init__(
        self, functions: list[FunctionType], log: list[tuple[Any, tuple[Any, ...], Any]], name: str, watched: Any
    ):
        super().__init__(functions, log, watched)
        self.name = name
        # (place in the log, value, arguments, those by keyword, back)
        self.calls: list[tuple[int, Any, tuple[Any, ...], dict[str, Any], Any]] = []

    def call(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.pause()
        try:
            (value, inner), back = calls.call(calls.call, (f, args, kwargs))
        except Exception as error:
            raise refused_again(self.name) from error
        finally:
            self.resume()
        if isinstance(value, iteration.Iterator):
            raise refused_again(self.name)
        self._keep(value, inner, args, kwargs, back)
        return value

    def next_of(self, iterator: iteration.Iterator) -> Any:
        self.pause()
        try:
            (value, inner), back = calls.call(_step, (iterator,))
        except Exception as error:
            raise refused_again(self.name) from error
        finally:
            self.resume()
        self._keep(None if value is _END else value, inner, (), {}, back)
        if value is _END:
            raise StopIteration
        return value

    def _keep(self, value: Any, inner: Any, args: tuple[Any, ...], kwargs: dict[str, Any], back: Any) -> None:
        at = -1
        if inner is not None:
            at = len(self.log)
            self.log.append((value, (*args, *kwargs.values()), inner))
        self.calls.append((at, value, args, kwargs, back))


def refused_again(name: str) -> Unsupported:
    return Unsupported(
        f"a second derivative through Python code that `{name}` calls, and that raises, is a generator, or works on C objects",
        foreign.position_of(foreign.caller()),
        hint="call the function or method by itself",
    )


@calls.known(run_with_traps)
def _run_with_traps(
    f: Any, args: Any, kwargs: Any, functions: Any, log: list[Any], watched: Any = None
) -> tuple[Any, Any]:
    """A second derivative: the log is a list like others."""
    name = foreign.name_of(f)
    run = SecondRun(functions, log, name, watched)
    try:
        with run:
            value = f(*args, **kwargs)
    except Exception as error:
        if run.calls and trying.bodies and not isinstance(error, Unsupported):
            raise refused_again(name) from error  # what was called would not be undone where this is caught
        raise
    if watched is not None and log:
        run.settle(watched)
    return value, (_run_again, value, args, kwargs, log, run.calls, name, foreign.caller())


def _run_again(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, value, args, kwargs, log, made, name, place = back
    operands = (*args, *kwargs.values())
    taken = shadows.take_list(log) or []
    flowing: list[Any] = [None] * len(operands)
    given_by = next((k for k in range(len(made) - 1, -1, -1) if made[k][1] is value), None)
    refused: Refused | None = None
    if given_by is None and (
        matters(d) and type(value) not in INERT if d is not None else foreign.has_shadow(value, shadows)
    ):
        refused = _refusal(f"a second derivative through what `{name}` makes of Python code that it calls", place)
    for k in range(len(made) - 1, -1, -1):
        at, item, by_position, by_name, inner = made[k]
        entry = taken[at] if 0 <= at < len(taken) else None
        of_value, of_arguments, of_back = (None, None, None) if entry is None else entry
        if k == given_by:
            of_value = accumulate(of_value, d)
        elif refused is not None and is_number(item):
            of_value = refused
        given = calls.run(inner, (of_value, of_back), shadows)
        arguments = (*by_position, *by_name.values())
        parts = [None] * len(by_position)
        if by_position and given is not None and given[2] is not None:
            parts = list(given[2])
        parts += [shadows.take_key(by_name, key) for key in by_name]
        for x, part, more in zip(arguments, parts, of_arguments or [None] * len(arguments)):
            part = accumulate(part, more)
            if part is not None:
                _give(x, part, operands, (), flowing, shadows, place, name)
    # (A class that `type` made has got it by the calls of hooks, which have taken it out again.)
    if refused is not None and (d is not None or foreign.has_shadow(value, shadows)):
        for k, v in enumerate(operands):
            flowing[k] = accumulate(flowing[k], scattering.refuse(structure.form(v), refused, shadows))
    for key, c in zip(kwargs, flowing[len(args) :]):
        if c is not None:
            shadows.add_key(kwargs, key, c)
    of_args = tuple(flowing[: len(args)])
    return None, None, of_args if any(c is not None for c in of_args) else None


@passes(lambda variables: [(run_called,)])
def called(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], deep: bool = False) -> tuple[Any, Any]:
    """The same as a call: the back gives the cotangent of the function first."""
    value, back = followed(f, args, kwargs, deep)
    return value, None if back is None else (run_called, back)


def run_called(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else (None, *given)


def index_of(key: Any) -> tuple[Any, Any]:
    """A key of a sequence as it is, or what its `__index__` gives, or the parts of a slice; with what undoes that."""
    if type(key) in PLAIN:
        return key, None
    if type(key) is slice:
        parts = key.start, key.stop, key.step
        if PLAIN.issuperset(map(type, parts)):
            return key, None
        made = [index_of(part) for part in parts]
        if all(back is None for _, back in made):
            return key, None
        return slice(*[part for part, _ in made]), (_run_indices, [back for _, back in made])
    if not arithmetic.is_python(arithmetic.find(type(key), "__index__")):
        return key, None
    return followed(operator.index, (key,))


def by_index(*places: int) -> Callable[[Any], Any]:
    """For what handles a call: the arguments at these places are asked for their `__index__` before."""

    def decorate(handler: Any) -> Any:
        @functools.wraps(handler)
        def asking(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
            if PLAIN.issuperset(map(type, args[places[0] :])):
                return handler(*args, **kwargs)
            made = [index_of(x) if k in places else (x, None) for k, x in enumerate(args)]
            y, back = handler(*[x for x, _ in made], **kwargs)
            asked = [inner for _, inner in made if inner is not None]
            return y, (run_at_index, back, (_run_indices, asked)) if asked else back

        return asking

    return decorate


def _run_indices(back: tuple[Any, ...], d: Any, shadows: Any) -> None:
    for inner in reversed(back[1]):
        calls.run(inner, None, shadows)


def run_at_index(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """(run_at_index, back of what was done there, what undoes that the index was asked for)"""
    given = calls.run(back[1], d, shadows)
    calls.run(back[2], None, shadows)
    return given


__all__ = [
    "by_index",
    "called",
    "followed",
    "gathering",
    "index_of",
    "matters",
    "run_at_index",
    "run_gathered",
    "trapped",
    "undone",
]
