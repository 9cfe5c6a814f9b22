"""From a call to native code: find or make the specialisation for the types of the arguments, and keep it honest.

A callable made by zyg is a native object whose entries check argument types by themselves.  What they do not know they
hand to the Dispatcher here, which binds the arguments as Python would (binding.py), types them, compiles if need be, and
calls.  New specialisations are put in front of the older ones, so the second call with the same types never comes here.

Compiled code rests on assumptions (assumptions.py); the call comes here if one is broken.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
import types
import warnings
import weakref
from collections.abc import Callable, Container, Generator, Iterator
from typing import Any, cast

import numpy as np

from . import params, pipeline, rules
from .assumptions import inputs_fit, native_guards, native_input, rules_hold
from .binding import Binder
from .departures import Departed
from .errors import (
    ArgumentError,
    IntegerArgumentTooLarge,
    InternalError,
    Misuse,
    NeedsConstant,
    SpecialisationWarning,
    Unsupported,
    UntypableValue,
    in_library,
)
from .fallback import Refusal, Refusals, fall_back, may_fall_back
from .homes import home
from .ir.options import Options
from .ir.records import record, replace
from .ir.types import MUTABLE, Const, Tuple, Type, children
from .transforms import (
    DIRECT_KINDS,
    Transform,
    argument_name,
    check_one_variable,
    chosen,
    describe,
    effective_options,
    transform_of,
)
from .typeof import MAX_LIST, MAX_ROWS, Typing, plain_class

# So many specialisations of one function are kept; more of them warn, and push out the oldest.
LIMIT = 64

# What is done to a bound method is done to its function, whose first argument is then the object; to a partial, likewise.
_TAKEN_APART = {
    "jit": types.MethodType,
    "grad": (types.MethodType, functools.partial),
    "value_and_grad": (types.MethodType, functools.partial),
}
_unbound: dict[tuple[Any, ...], Any] = {}  # by the identity of the function, which what is kept here keeps alive


def taken_apart(function: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The function under a bound method or a partial, and the arguments that are bound.

    >>> taken_apart(functools.partial(pow, 2, mod=5))
    (<built-in function pow>, (2,), {'mod': 5})
    """
    if isinstance(function, types.MethodType):
        return function.__func__, (function.__self__,), {}
    return function.func, function.args, function.keywords


# One compilation at a time: inference and the tables here are not made for several threads.
compile_lock = threading.RLock()
# What holds the locks while the process is forked, by the threads that fork.
_held: dict[int, types.GeneratorType[None, None, None]] = {}


def _locks() -> Generator[None]:
    """No child is left with half of what another thread was compiling, until this is closed."""
    with compile_lock:
        engine = sys.modules.get("zyg.backend.llvm.engine")
        if engine is not None and hasattr(engine, "holding"):
            yield from engine.holding()
        else:
            yield


def _hold() -> None:
    """Python forks whatever is raised here, by a signal's handler: that is passed on when there is all that is to be held."""
    interrupts: list[BaseException] = []
    locks = _held.get(threading.get_ident())
    while not (locks is not None and locks.gi_suspended) and len(interrupts) < 100:
        locks = _held[threading.get_ident()] = cast("types.GeneratorType[None, None, None]", _locks())
        try:
            next(locks)
        except BaseException as error:
            interrupts.append(error)
    try:
        if interrupts:
            raise interrupts[0]
    finally:
        interrupts.clear()  # (with it goes what it refers to)


def _let_go() -> None:
    locks = _held.pop(threading.get_ident(), None)
    if locks is not None:
        locks.close()


if hasattr(os, "register_at_fork"):
    for _ in range(2):  # a handler may raise before the first line of a function: the other call does what is left then
        os.register_at_fork(before=_hold, after_in_parent=_let_go, after_in_child=_let_go)


@record(eq=False)
class Specialisation:
    """Native code for one combination of types.

    `names` are those of the parameters, "" where one has none; the last `keyword_only` of them can
    be passed by keyword only.  `call` runs this code alone, all arguments by position; `entry` is the code in a chain.
    """

    name: str
    compiled: pipeline.Compiled
    names: tuple[str, ...]
    positional_only: int
    keyword_only: int
    epoch: int = -1
    call: Any = None
    entry: Any = None

    def confirm(self) -> bool:
        """Whether all assumptions hold. Afterwards `call` and `entry` are up to date."""
        from .backend.calling import make_entry

        inferred = self.compiled.inferred
        epoch = rules.epoch()
        if self.epoch == epoch:
            return bool(self.entry.revalidate()) and inputs_fit(inferred.inputs)
        if not rules_hold(inferred.guards, inferred.parameters) or not inputs_fit(inferred.inputs):
            return False
        guards = native_guards(inferred.guards)
        inputs = [native_input(source) for source in inferred.inputs]
        try:
            self.entry = make_entry(
                self.compiled.native,
                self.names,
                guards=guards,
                inputs=inputs,
                positional_only=self.positional_only,
                keyword_only=self.keyword_only,
            )
        except ValueError:
            return False  # a guard does not hold
        if self.call is None:
            self.stand_alone()
        self.epoch = epoch
        return True

    def stand_alone(self) -> None:
        """Make `call`. It has no guards: whatever another thread changes from here on, this call came before."""
        from .backend.calling import make_entry, new_callable, set_entries

        inputs = [native_input(source) for source in self.compiled.inferred.inputs]
        self.call = new_callable(self._disagree, self.name)
        set_entries(self.call, [make_entry(self.compiled.native, inputs=inputs)])

    def usable(self) -> bool:
        """Whether this may fit again, for other values of its hidden inputs."""
        inferred = self.compiled.inferred
        return rules_hold(inferred.guards, inferred.parameters) and bool(self.entry.revalidate())

    def _disagree(self, *args: Any, **keywords: Any) -> Any:
        """The types were looked at before; if native code still refuses them, then a hidden input changed in between,
        or the two disagree on what a type is."""
        if not inputs_fit(self.compiled.inferred.inputs):
            raise _Changed
        inferred = self.compiled.inferred
        if inferred.writes and any(any(map(_is_mutable, (s.type, *children(s.type)))) for s in inferred.inputs):
            raise Unsupported(
                f"a call of {self.name} that changes an argument which it also reads as a global or captured variable",
                hint="pass a copy, or read the argument",
            )
        found = ", ".join(type(a).__name__ for a in args)
        types = ", ".join(map(str, self.compiled.inferred.parameters))
        raise InternalError(f"{self.name}: the native entry refused arguments ({found}) of types ({types})", "entry")


def _constants(types: tuple[Type, ...]) -> Iterator[Any]:
    """The constants among arguments, those in tuples included."""
    for type in types:
        if isinstance(type, Const):
            yield type.value
        elif isinstance(type, Tuple):
            yield from _constants(type.items)


def _is_mutable(type: Type) -> bool:
    return isinstance(type, MUTABLE)


@record(frozen=True)
class ByValue:
    """Whose integers code is compiled for by their values (axes, say): arguments, by position or name, and variables that the
    function has by name."""

    arguments: frozenset[int | str] = frozenset()
    variables: bool = False


_ATTEMPTS = 4
_SMALL = 1 << 20  # bytes of all arrays that a call is given


def _are_small(args: tuple[Any, ...]) -> bool:
    """Whether a call with these arguments is likely to be over in some milliseconds. (What a function has captured is not looked at.)"""
    total = 0
    for x in args:
        if isinstance(x, (int, float, complex, str, types.FunctionType)) or x is None:
            continue
        if not isinstance(x, (np.ndarray, np.generic)):
            return False
        total += x.nbytes
    return total <= _SMALL


class _Changed(Exception):
    """A hidden input has another type than a moment ago."""


class Dispatcher:
    """The Python side of one callable: `transform` says what it means, `specialisations` what was compiled so far."""

    def __init__(
        self,
        transform: Transform,
        refused: Callable[..., Any] = fall_back,
        accept: Callable[[Any], None] = lambda inferred: None,
        exact: bool | None = None,
    ):
        self.transform = transform
        # Raises Unsupported for typed code that is right, but not wanted here.
        self.accept = accept
        # Whether Python code goes on with what is given as CPython would (False: as after a call of jitted code). None: it is for the
        # user, who gets what native code makes, and what Python makes where that would raise what CPython does not.
        self.exact = exact
        self.departures = 0
        # What is done about a call that native code refuses, unless the refusal is an error.
        self.refused = refused
        self.refusals: Refusals | None = None
        # Several for one key differ in the types of global or captured inputs.
        self.specialisations: dict[Any, list[Specialisation]] = {}
        # What has helped where something has to be a constant; replaced as a whole, as others may be typing arguments.
        self.by_value = ByValue()
        # Whether lists of objects may be taken as lists of what the objects hold, which are then only read.
        self._lends = exact is None
        self._unbound: Any = False  # not looked for
        self._binder: Binder | None = None
        self._callable: Any = lambda: None
        self._warned = False

    def attach(self, native: Any) -> None:
        self._callable = weakref.ref(native)

    @property
    def name(self) -> str:
        return describe(self.transform)

    # ------------------------------------------------------------------------------------------ calling

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        refusal = self.refusals.find(args, keywords) if self.refusals is not None else None
        if refusal is not None:
            return self.refused(self.transform, args, keywords, refusal)
        if self.transform.kind in DIRECT_KINDS and any(isinstance(a, params.Params) for a in args[1:]):
            return params.differentiate(self.transform.kind, args[0], args[1:], keywords)
        if self.transform.kind in DIRECT_KINDS and args and isinstance(args[0], (types.MethodType, functools.partial)):
            return self._call_unbound(args[0], args[1:], keywords)
        if self.transform.kind in _TAKEN_APART:
            if self._unbound is False:
                self._unbound = self.unbound()
            if self._unbound is not None:
                return self._call_apart(args, keywords)
        args, keywords = self.bind(args, keywords)
        for _ in range(_ATTEMPTS):
            specialisation = self._native(args, keywords)
            if isinstance(specialisation, Refusal):
                return self.refused(self.transform, args, keywords, specialisation)
            with contextlib.suppress(_Changed):
                try:
                    return specialisation.call(*args, *keywords.values())
                except Departed as error:
                    departed = error.with_traceback(None)
                found = self.departed(departed, args, keywords)
                return found() if found is departed.raising else found
        raise RuntimeError(f"{self.name}: the types of globals or captured variables change faster than it is compiled")

    def native_code(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Specialisation | None:
        """The native code that a call would run; None if it goes another way."""
        if self.refusals is not None and self.refusals.find(args, keywords) is not None:
            return None
        found = self._native(args, keywords)
        return None if isinstance(found, Refusal) else found

    def _native(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Specialisation | Refusal:
        """The native code for a call, or why there is none if the call can go another way."""
        from . import sharing  # on demand: what it needs of the front end is loaded by the first compilation

        shape = sharing.shape_of(self.transform) if self.transform.function is not None else None
        known = sharing.find_refusal(shape, args, keywords) if shape is not None else None
        if known is not None:
            return self._refuse(args, keywords, known)
        try:
            return self.specialise(args, keywords)
        except (InternalError, RecursionError) as error:
            if not may_fall_back(self.transform, args):
                raise
            what = str(error) if isinstance(error, InternalError) else f"the compiler's recursion: {error}"
            refused = Unsupported(what, hint="this is for zyg to mend: please report it")
        except (Unsupported, ArgumentError) as error:
            # Where in the compiler it was noticed helps nobody; the message has the place in the user's source.
            if (isinstance(error, Misuse) and self.refused is fall_back) or not may_fall_back(self.transform, args):
                raise self._of_its_own(error).with_traceback(None) from None
            refused = error
        if isinstance(refused, ArgumentError):
            refused = Unsupported(refused.what, hint=refused.hint)
        if shape is not None:
            sharing.note_refusal(shape, args, keywords, refused)
        return self._refuse(args, keywords, refused.with_traceback(None))

    def _of_its_own(self, error: Unsupported | ArgumentError) -> Unsupported | ArgumentError:
        """The refusal of a function that users have not written, without the places in its source."""
        from .autodiff.objects.foreign import FOREIGN_PACKAGES
        from .frontend.arguments import shown

        function = self.transform.function
        if isinstance(error, ArgumentError) or error.caller is not None or not in_library(error.position):
            return error
        if home(function).partition(".")[0] not in FOREIGN_PACKAGES:
            return error
        return Unsupported(
            f"zyg.{self.transform.kind} of {shown(function)}, whose own code native code does not take",
            hint="call it as it is, and pass what it gives to a function of your own, which zyg.jit compiles",
        )

    def departed(self, departed: Departed, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """A call that native code has ended with an error which CPython would not raise, another way; if there is none, the function
        that raises the error. The next call is native again: to find out takes some 20 us, and little beside the other way."""
        if self.exact is False or not may_fall_back(self.transform, args):
            return departed.raising
        self.departures += 1
        done = departed.effects()
        if done:
            departed.note(f"It is not computed again in Python, as {done}.")
            return departed.raising
        return self.refused(self.transform, args, keywords, Refusal(departed.why))

    def _refuse(self, args: tuple[Any, ...], keywords: dict[str, Any], error: Unsupported) -> Refusal:
        self.refusals = self.refusals or Refusals()
        return self.refusals.add(args, keywords, error)

    def _call_unbound(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Differentiate a bound method or a partial as the function under it, which stays the same from call to call,
        while the object bound here may be new each time. What is bound takes part and is left out of the answer."""
        plain, bound, named = taken_apart(function)
        named, hidden, kind = {**named, **keywords}, len(bound), self.transform.kind
        if kind == "jvp" and len(args) == 2 and all(type(a) is tuple for a in args):
            return self._callable()(plain, (*bound, *args[0]), (*(None,) * hidden, *args[1]), **named)
        if kind in ("jvp", "hvp", "hessian") or kind == "jacobian" and self.transform.argnums is not None:
            unbound: Any = lambda *free, **named: plain(*bound, *free, **named)
            unbound.__wrapped__ = plain
            return self._callable()(unbound, *args, **named)
        found = self._callable()(plain, *bound, *args, **named)
        if kind in ("gradient", "jacobian"):
            return found[hidden:]
        value, second = found
        return value, second[hidden:] if isinstance(second, tuple) else lambda d: second(d)[hidden:]

    def _call_apart(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        kind, function, argnums = self.transform.kind, self.transform.function, self.transform.argnums
        if kind != "jit":
            chosen(kind, argnums, function, len(args))
        _, bound, named = taken_apart(function)
        return self._unbound(*bound, *args, **{**named, **keywords})

    def unbound(self) -> Any:
        """What `zyg.grad` and `zyg.jit` of a bound method call: there is one for all objects that the method may be bound to, which are
        arguments to it. None for other functions."""
        transform = self.transform
        function, argnums = transform.function, transform.argnums
        if transform.kind not in _TAKEN_APART or not isinstance(function, _TAKEN_APART[transform.kind]):
            return None
        plain, bound, _ = taken_apart(function)
        if isinstance(function, types.MethodType) and not plain_class(type(bound[0])):
            return None
        if transform.kind != "jit" and argnums is not None:
            behind = lambda n: n + len(bound) if n >= 0 else n
            argnums = tuple(map(behind, argnums)) if isinstance(argnums, tuple) else behind(argnums)
        key = (transform.kind, argnums, transform.options, transform.has_aux, id(plain))
        found = _unbound.get(key)
        if found is None:
            from .callables import make_callable

            with compile_lock:
                while len(_unbound) >= LIMIT:
                    _unbound.pop(next(iter(_unbound)))
                found = _unbound.setdefault(key, make_callable(replace(transform, function=plain, argnums=argnums)))
        return found

    def bind(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and keyword arguments as they are compiled for."""
        transform = self.transform
        if transform.kind in DIRECT_KINDS:
            if not args:
                raise TypeError(f"{transform.kind}() missing 1 required positional argument: the function")
            return args, keywords
        if transform.kind == "derivative":
            check_one_variable(transform.function, len(args))
        if transform.kind != "jit" or not isinstance(transform.function, types.FunctionType):
            return args, keywords
        binder = self._binder
        if binder is None or not binder.fits(transform.function):
            binder = self._binder = Binder(transform.function)
        return binder(args, keywords)

    def _arguments_with_gradients(self, count: int) -> Container[int]:
        """By which of so many arguments a gradient is asked for."""
        kind, argnums = self.transform.kind, self.transform.argnums
        if kind in ("gradient", "withgradient", "pullback") or (kind in ("grad", "value_and_grad") and argnums is None):
            return range(kind in DIRECT_KINDS, count)
        if kind not in ("grad", "value_and_grad"):
            return ()
        numbers = argnums if isinstance(argnums, tuple) else (argnums or 0,)
        return [n if n >= 0 else n + count for n in numbers]

    def types_of(
        self, args: tuple[Any, ...], keywords: dict[str, Any], apart: int, by_value: ByValue
    ) -> tuple[Type, ...]:
        """The types of the arguments; an error names the argument that has none. Objects in lists of up to `apart` are looked at one
        by one."""
        result = []
        typing = Typing()
        typing.lends_beyond = apart if self._lends else None
        asked, first = self._arguments_with_gradients(len(args)), self.transform.kind in DIRECT_KINDS
        for at, value in enumerate([*args, *keywords.values()]):
            typing.by_value = (at if at < len(args) else list(keywords)[at - len(args)]) in by_value.arguments
            typing.differentiated = at in asked
            typing.derivative = self.transform.kind != "jit" and at >= first
            try:
                result.append(self.type_of(typing, value))
            except UntypableValue as error:
                named = list(keywords)[at - len(args)] if at >= len(args) else argument_name(self.transform, at, args)
                what = f"{self.name}(): argument '{named}': {error.what}"
                kind = IntegerArgumentTooLarge if isinstance(error, OverflowError) else ArgumentError
                raise kind(what, named, error.hint) from None
        return tuple(result)

    def type_of(self, typing: Typing, value: Any) -> Type:
        return typing.argument(value)

    def specialise(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Specialisation:
        """The specialisation for these arguments, compiled now if need be. Where objects in lists are not only read, those of short
        lists are looked at one by one."""
        try:
            return self._specialise_apart(args, keywords, MAX_ROWS)
        except Unsupported as error:
            if not self._has_short_lists(args, keywords):
                raise
            refused = error
        try:
            found = self._specialise_apart(args, keywords, MAX_LIST)
        except ArgumentError:
            raise refused from None
        else:
            self._keep_way(args, keywords, MAX_LIST, self.by_value)
            return found
        finally:
            del refused  # which has this frame, and so the arguments, in its traceback

    def _has_short_lists(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
        """Whether there are objects that are lent and can be looked at one by one."""
        try:
            by_value = self.by_value
            long = self.types_of(args, keywords, MAX_ROWS, by_value)
            return self.types_of(args, keywords, MAX_LIST, by_value) != long
        except ArgumentError:
            return False

    def _specialise_apart(self, args: tuple[Any, ...], keywords: dict[str, Any], apart: int) -> Specialisation:
        try:
            return self._specialise(args, keywords, apart, self.by_value)
        except NeedsConstant:
            with compile_lock:
                return self._specialise_by_value(args, keywords, apart)

    def _specialise_by_value(self, args: tuple[Any, ...], keywords: dict[str, Any], apart: int) -> Specialisation:
        """Where something has to be a constant, it may be one with integers taken by their values: those of variables,
        then also those of one argument, then those of all. What has helped once is done from then on."""
        given: list[int | str] = [*range(len(args)), *keywords]
        before = self.by_value.arguments
        refused: NeedsConstant | None = None
        for arguments in (before, *(before | {at} for at in given), before | set(given)):
            choice = ByValue(arguments, True)
            try:
                found = self._specialise(args, keywords, apart, choice)
            except NeedsConstant as error:
                refused = refused or error
            else:
                self.by_value = choice
                self._keep_way(args, keywords, apart, choice)
                return found
        assert refused is not None
        raise refused

    def _keep_way(self, args: tuple[Any, ...], keywords: dict[str, Any], apart: int, by_value: ByValue) -> None:
        """Have other processes know what has helped where this call was refused at first."""
        types = self.types_of(args, keywords, MAX_ROWS, ByValue())
        if self.options(types).cache:
            program = self._program(types, tuple(keywords), False)
            program.keep_way((apart, tuple(sorted(by_value.arguments, key=str)), by_value.variables))

    def _by_known_way(self, types: tuple[Type, ...], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """What is on disk for a call that other processes have refused at first, if anything is."""
        way = self._program(types, tuple(keywords), False).way()
        if way is None:
            return None
        apart, arguments, variables = way
        choice = ByValue(frozenset(arguments), variables)
        try:
            found = self._specialise(args, keywords, apart, choice, False)
        except ArgumentError:
            return None
        if found is not None and choice != ByValue():
            self.by_value = choice
        return found

    def _specialise(
        self, args: tuple[Any, ...], keywords: dict[str, Any], apart: int, by_value: ByValue, compiles: bool = True
    ) -> Any:
        """The specialisation for these types; without `compiles` None if there is none by now."""
        types = self.types_of(args, keywords, apart, by_value)
        key = (types, tuple(keywords))
        with compile_lock:
            known = self.specialisations.get(key, [])
            for specialisation in known:
                before = specialisation.entry
                if specialisation.confirm():
                    if specialisation.entry is not before:
                        self._install()
                    return specialisation
            if compiles and apart == MAX_ROWS and by_value == ByValue() and self.options(types).cache:
                found = self._by_known_way(types, args, keywords)
                if found is not None:
                    return found
            small = _are_small((*args, *keywords.values()))
            specialisation = self._compile(types, tuple(keywords), by_value.variables, compiles, small)
            if specialisation is None or specialisation.entry is None:
                return specialisation
            # Those whose assumptions are broken are of no use any more; those for other types of inputs may be.
            kept = [s for s in known if s.usable()]
            self.specialisations.pop(key, None)
            self.specialisations[key] = [specialisation, *kept]
            self._install()
            return specialisation

    # ---------------------------------------------------------------------------------------- compiling

    def options(self, types: tuple[Type, ...]) -> Options:
        """Those that a call with arguments of these types is compiled with. The function may be one of the arguments: then it says
        whether what is made of it is kept."""
        options = effective_options(self.transform)
        if self.transform.kind in DIRECT_KINDS:
            given = [effective_options(found) for x in _constants(types) if (found := transform_of(x)) is not None]
            options = replace(options, cache=any(one.cache for one in given))
        return options

    def request(self, types: tuple[Type, ...], keywords: tuple[str, ...], fixed: bool) -> pipeline.Request:
        callee = self._callable()
        if callee is None:
            raise InternalError("the callable of a dispatcher is gone", "dispatch")
        return pipeline.Request(callee, types, keywords, self.options(types), fixed, bool(self.exact), bodies=False)

    def _program(self, types: tuple[Type, ...], keywords: tuple[str, ...], fixed: bool) -> Any:
        """A request as it is looked for on disk."""
        from .keeping.programs import Program  # on demand

        return Program(self.request(types, keywords, fixed), self.transform)

    def _compile(
        self, types: tuple[Type, ...], keywords: tuple[str, ...], fixed: bool, compiles: bool, small: bool
    ) -> Any:
        names, positional_only = self._names(len(types) - len(keywords), keywords)
        shape = None
        if self.transform.function is not None:
            from . import sharing  # on demand: what it needs of the front end is loaded by the first compilation

            shape, asked = sharing.shape_of(self.transform), (types, keywords, fixed)
            for compiled in sharing.find(shape, *asked) if shape is not None else ():
                if compiled.anew is not None:
                    compiled.anew.also_of(self.transform)
                self.accept(compiled.inferred)
                specialisation = Specialisation(self.name, compiled, names, positional_only, len(keywords))
                if specialisation.confirm():
                    return specialisation
        request = replace(self.request(types, keywords, fixed), small=small)
        program = None
        if request.options.cache and not pipeline.settings.dump:
            with pipeline.timed(self.name, "kept"):
                program = self._program(types, keywords, fixed)
                found = program.find()
                if found is not None:
                    self.accept(found.inferred)
                    specialisation = Specialisation(self.name, found, names, positional_only, len(keywords))
                    if specialisation.confirm():
                        if shape is not None:
                            sharing.note(shape, found, *asked)
                        return specialisation
        if not compiles:
            return None
        # Another thread may change what the code refers to while it is compiled, and do so again and again.  In the end
        # code is run as of when it was compiled, which was during the call, but it is not kept.
        for _ in range(_ATTEMPTS):
            compiled = pipeline.compile(request)
            self.accept(compiled.inferred)
            specialisation = Specialisation(self.name, compiled, names, positional_only, len(keywords))
            with pipeline.timed(self.name, "entry"):
                if specialisation.confirm():
                    if shape is not None:
                        sharing.note(shape, compiled, *asked)
                    if program is not None:
                        program.keep(compiled)
                    return specialisation
        specialisation.stand_alone()
        specialisation.entry = None
        return specialisation

    def _names(self, positional: int, keywords: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
        """The names of parameters, and how many of the first can be passed by position only."""
        function = self.transform.function
        if self.transform.kind == "jit" and isinstance(function, types.FunctionType):
            code = function.__code__
            if positional <= code.co_argcount:
                return (*code.co_varnames[:positional], *keywords), min(positional, code.co_posonlyargcount)
        return ("",) * positional + keywords, positional

    def _install(self) -> None:
        """Give the native callable its entries, newest first, and drop the oldest if there are too many."""
        from .backend.calling import set_entries

        native = self._callable()
        if native is None:
            return
        if sum(map(len, self.specialisations.values())) > LIMIT:
            self._drop_oldest()
        newest = [s.entry for group in reversed(self.specialisations.values()) for s in group]
        set_entries(native, newest)

    def _drop_oldest(self) -> None:
        del self.specialisations[next(iter(self.specialisations))]
        if not self._warned and self._arguments_vary():
            self._warned = True
            warnings.warn(
                f"{self.name} is being compiled for more than {LIMIT} combinations of argument types; the oldest are "
                "dropped. Are constants (strings, classes, new function objects) passed as arguments?",
                SpecialisationWarning,
                stacklevel=5,
            )

    def _arguments_vary(self) -> bool:
        """Whether there is so much code for the arguments' sake, and not for that of the functions that are differentiated."""
        if self.transform.kind not in DIRECT_KINDS:
            return True
        return len({(types[1:], keywords) for types, keywords in self.specialisations}) > LIMIT // 2


__all__ = ["LIMIT", "Dispatcher", "Specialisation", "compile_lock"]
