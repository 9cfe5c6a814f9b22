"""From a call to native code: find or make the specialisation for the types of the arguments, and keep it honest.

A callable made by zyg is a native object whose entries check argument types by themselves.  What they do not know they
hand to the Dispatcher here, which binds the arguments as Python would, types them, compiles if need be, and calls.  New
specialisations are put in front of the older ones, so the second call with the same types never comes here.

Compiled code rests on assumptions: that a global still names the same function, that a module's attribute is still the
same, that no rule was registered since.  The native entry sees when one may have been broken (a dict's version tag, a
cell's content, the epoch of the rules) and looks the names up again by itself; the call comes here if one is broken.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import os
import sys
import threading
import types
import warnings
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from . import params, pipeline, rules
from .errors import (
    ArgumentError,
    IntegerArgumentTooLarge,
    InternalError,
    Misuse,
    NeedsConstant,
    SpecialisationWarning,
    Unsupported,
    UntypableValue,
)
from .fallback import Refusal, Refusals, fall_back, may_fall_back
from .ir.options import Options
from .ir.records import field, record
from .ir.types import MUTABLE, Closure, Type, children
from .transforms import ATTRIBUTE, DIRECT_KINDS, Transform, describe, transform_of
from .typeof import Typing, type_of

# So many specialisations of one function are kept; more of them warn, and push out the oldest.
LIMIT = 64

# One compilation at a time: inference and the tables here are not made for several threads.
compile_lock = threading.RLock()
_held: list[Any] = []  # while the process is forked


def _hold() -> None:
    """No child is left with half of what another thread was compiling."""
    compile_lock.acquire()
    held: list[Any] = [compile_lock]
    engine = sys.modules.get("zyg.backend.llvm.engine")
    if engine is not None and hasattr(engine, "hold"):
        held += engine.hold()
    _held[:] = held


def _let_go() -> None:
    held = _held.copy()
    _held.clear()
    for lock in reversed(held):
        lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_let_go, after_in_child=_let_go)


# ------------------------------------------------------------------------------------------- assumptions


def native_guards(guards: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Guards as the native entry takes them: about words of memory, and about names in dicts."""
    native: dict[Any, tuple[Any, ...]] = {}

    def add(*guard: Any) -> None:
        native.setdefault((guard[0], *map(id, guard[1:])), guard)

    for guard in guards:
        kind, *rest = guard
        if kind in ("rule", "tangent rule", "ruled instances"):
            # All of them at once, by the epoch of the registry: a new rule is rare.
            native["rules"] = ("word", rules.epoch_address, rules.epoch())
        elif kind == "missing":
            namespace, builtin_names, name = rest
            add("absent", namespace, name)
            add("absent", builtin_names, name)
        elif kind == "attr":
            _add_attribute(add, *rest)
        elif kind == "lacks":
            owner, name = rest
            if _can_change(owner):
                add("lacks", owner, name)
        elif kind == "function":
            _add_function(native, *rest)
        else:
            add(*guard)
    return list(native.values())


_IMMUTABLE_TYPE, _HEAP_TYPE = 1 << 8, 1 << 9


def _add_attribute(add: Callable[..., None], owner: Any, name: str, expected: Any) -> None:
    """An attribute of a module or a class: of a class it may be in a base, and must not be in the classes before."""
    if not isinstance(owner, type):
        if name in vars(owner):  # else a module's __getattr__ made it up
            add("attr", owner, name, expected)
        return
    for base in owner.__mro__:
        if not _can_change(base):
            return
        if name in vars(base):
            add("attr", base, name, vars(base)[name])
            return
        add("lacks", base, name)


def _can_change(cls: type) -> bool:
    """Whether attributes can be set: a builtin class stays as it is."""
    return bool(cls.__flags__ & _HEAP_TYPE) and not cls.__flags__ & _IMMUTABLE_TYPE


def _add_function(native: dict[Any, tuple[Any, ...]], function: types.FunctionType, *expected: Any) -> None:
    """What a function object refers to, word by word."""
    from .backend import cpython as layout

    fields = (layout.FUNCTION_CODE, layout.FUNCTION_DEFAULTS, layout.FUNCTION_KWDEFAULTS)
    for offset, value in zip(fields, expected, strict=True):
        address = id(function) + offset
        native["word", address] = ("word", address, 0 if value is None else id(value))


def rules_hold(guards: Iterable[tuple[Any, ...]], parameters: Iterable[Type] = ()) -> bool:
    """Whether the functions that had no rule still have none, and the others the same one; and whether the closures
    among the arguments are still one type for all that have their code."""
    if any(map(_has_singled_out, parameters)):
        return False
    find = {
        "rule": rules.rule_for,
        "tangent rule": rules.tangent_rule_for,
        "ruled instances": rules.has_ruled_instances,
    }
    return all(find[guard[0]](guard[1]) is guard[2] for guard in guards if guard[0] in find)


def _has_singled_out(type: Type) -> bool:
    if isinstance(type, Closure) and type.captured and rules.singled_out(type.code):
        return True
    return any(map(_has_singled_out, children(type)))


def _is_mutable(type: Type) -> bool:
    return isinstance(type, MUTABLE)


def input_value(source: Any) -> Any:
    """What a hidden input (a number or an array in a global or a cell) holds now; raises as Python's lookup would."""
    if source.kind == "cell":
        return source.container.cell_contents
    try:
        return source.container[source.name]
    except KeyError:
        raise NameError(f"name {source.name!r} is not defined", name=source.name) from None


def inputs_fit(inputs: Iterable[Any]) -> bool:
    """Whether the hidden inputs have the types that were compiled for."""
    try:
        return all(type_of(input_value(source)) == source.type for source in inputs)
    except (UntypableValue, NameError, ValueError):
        return False


# ---------------------------------------------------------------------------------------- specialisations


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


def native_input(source: Any) -> tuple[Any, ...]:
    return ("cell", source.container) if source.kind == "cell" else ("global", source.container, source.name)


@record(eq=False)
class Binder:
    """Binds a call's arguments as Python does, to positional arguments (as few as possible) and keyword-only ones."""

    function: Any
    bind: Callable[..., Any] = field(init=False)
    made_for: tuple[Any, ...] = field(init=False)

    def fits(self, function: types.FunctionType) -> bool:
        """Whether the parameters and their defaults are still those that this was made for."""
        now = _parameters(function)
        return len(now) == len(self.made_for) and all(x is y for x, y in zip(now, self.made_for, strict=True))

    def __post_init__(self) -> None:
        code = self.function.__code__
        self.made_for = _parameters(self.function)
        positional = code.co_varnames[: code.co_argcount]
        only = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        at = code.co_argcount + code.co_kwonlyargcount
        rest = code.co_varnames[at] if code.co_flags & 0x04 else None
        extra = code.co_varnames[at + bool(rest)] if code.co_flags & 0x08 else None
        self.bind = _make_binder(self.function, positional, only, rest, extra)

    def __call__(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        given, rest, only = self.bind(*args, **keywords)
        only = {name: value for name, value in only.items() if value is not _default}
        if rest:
            return self._filled(given, 0) + rest, only
        count = len(given)
        while count and given[count - 1] is _default:
            count -= 1
        return self._filled(given[:count], len(given) - count), only

    def _filled(self, given: tuple[Any, ...], dropped: int) -> tuple[Any, ...]:
        """Defaults in front of a given argument are passed like it."""
        if not any(v is _default for v in given):
            return given
        defaults = self.function.__defaults__ or ()
        offset = len(given) + dropped - len(defaults)
        return tuple(defaults[i - offset] if v is _default else v for i, v in enumerate(given))


class _Default:
    def __repr__(self) -> str:
        return "..."


_default = _Default()


def _parameters(function: types.FunctionType) -> tuple[Any, ...]:
    return function.__code__, function.__defaults__, *(function.__kwdefaults__ or ())


def _make_binder(
    function: types.FunctionType, positional: Any, only: Any, rest: str | None, extra: str | None
) -> Callable[..., Any]:
    """A Python function with the signature and the name of `function`, so that CPython itself words the errors."""
    code = function.__code__
    # Names such as ".0" (of a comprehension) cannot be written down; they cannot be passed by keyword either.
    plain = {name: name if name.isidentifier() else f"_{at}" for at, name in enumerate(positional)}
    optional = len(positional) - len(function.__defaults__ or ())
    parts = []
    for at, name in enumerate(positional):
        parts.append(plain[name] if at < optional else f"{plain[name]}=__default")
        if at + 1 == code.co_posonlyargcount:
            parts.append("/")
    if rest is not None or only:
        parts.append(f"*{rest or ''}")
    kwdefaults = function.__kwdefaults__ or {}
    parts.extend(f"{name}=__default" if name in kwdefaults else name for name in only)
    if extra is not None:
        parts.append(f"**{extra}")
    given = "".join(f"{plain[name]}, " for name in positional)
    named = ", ".join([f"{name!r}: {name}" for name in only] + ([f"**{extra}"] if extra else []))
    source = f"def bind({', '.join(parts)}):\n    return ({given}), {rest or '()'}, {{{named}}}\n"
    namespace: dict[str, Any] = {"__default": _default}
    exec(builtins.compile(source, "<zyg binder>", "exec"), namespace)
    bind = namespace["bind"]
    bind.__name__, bind.__qualname__ = function.__name__, function.__qualname__
    bind.__code__ = bind.__code__.replace(co_name=function.__code__.co_name, co_qualname=function.__qualname__)
    return bind


_ATTEMPTS = 4


class _Changed(Exception):
    """A hidden input has another type than a moment ago."""


class Dispatcher:
    """The Python side of one callable: `transform` says what it means, `specialisations` what was compiled so far."""

    def __init__(
        self,
        transform: Transform,
        refused: Callable[..., Any] = fall_back,
        accept: Callable[[Any], None] = lambda inferred: None,
    ):
        self.transform = transform
        # Raises Unsupported for typed code that is right, but not wanted here.
        self.accept = accept
        # What is done about a call that native code refuses, unless the refusal is an error.
        self.refused = refused
        self.refusals: Refusals | None = None
        # Several for one key differ in the types of global or captured inputs.
        self.specialisations: dict[Any, list[Specialisation]] = {}
        # Arguments, by position or name, whose integers are compiled for by their values: axes, say.
        self.by_value: frozenset[int | str] = frozenset()
        self._fixed = False
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
        args, keywords = self.bind(args, keywords)
        for _ in range(_ATTEMPTS):
            specialisation = self._native(args, keywords)
            if isinstance(specialisation, Refusal):
                return self.refused(self.transform, args, keywords, specialisation)
            with contextlib.suppress(_Changed):
                return specialisation.call(*args, *keywords.values())
        raise RuntimeError(f"{self.name}: the types of globals or captured variables change faster than it is compiled")

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
                raise error.with_traceback(None) from None
            refused = error
        if isinstance(refused, ArgumentError):
            refused = Unsupported(str(refused))
        if shape is not None:
            sharing.note_refusal(shape, args, keywords, refused)
        return self._refuse(args, keywords, refused.with_traceback(None))

    def _refuse(self, args: tuple[Any, ...], keywords: dict[str, Any], error: Unsupported) -> Refusal:
        self.refusals = self.refusals or Refusals()
        return self.refusals.add(args, keywords, error)

    def _call_unbound(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Differentiate a bound method or a partial as the function under it, which stays the same from call to call,
        while the object bound here may be new each time. What is bound takes part and is left out of the answer."""
        if isinstance(function, types.MethodType):
            plain, bound, named = function.__func__, (function.__self__,), {}
        else:
            plain, bound, named = function.func, function.args, function.keywords
        named, hidden, kind = {**named, **keywords}, len(bound), self.transform.kind
        if kind == "jvp" and len(args) == 2 and all(type(a) is tuple for a in args):
            return self._callable()(plain, (*bound, *args[0]), (*(None,) * hidden, *args[1]), **named)
        if kind in ("jvp", "hvp", "hessian"):
            return self._callable()(lambda x, **named: plain(*bound, x, **named), *args, **named)
        found = self._callable()(plain, *bound, *args, **named)
        if kind in ("gradient", "jacobian"):
            return found[hidden:]
        value, second = found
        return value, second[hidden:] if isinstance(second, tuple) else lambda d: second(d)[hidden:]

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

    def types_of(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Type, ...]:
        """The types of the arguments; an error names the argument that has none."""
        result = []
        typing = Typing()
        for at, value in enumerate([*args, *keywords.values()]):
            typing.by_value = (at if at < len(args) else list(keywords)[at - len(args)]) in self.by_value
            try:
                result.append(typing.of(value))
            except UntypableValue as error:
                named = list(keywords)[at - len(args)] if at >= len(args) else argument_name(self.transform, at, args)
                message = f"{self.name}(): argument '{named}': {error}"
                kind = IntegerArgumentTooLarge if isinstance(error, OverflowError) else ArgumentError
                raise kind(message, named) from None
        return tuple(result)

    def specialise(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Specialisation:
        """The specialisation for these arguments, compiled now if need be."""
        try:
            return self._specialise(args, keywords)
        except NeedsConstant:
            with compile_lock:
                return self._specialise_by_value(args, keywords)

    def _specialise_by_value(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Specialisation:
        """Where something has to be a constant, it may be one with integers taken by their values: those of variables,
        then also those of one argument, then those of all. What has helped once is done from then on."""
        given: list[int | str] = [*range(len(args)), *keywords]
        choices = [self.by_value, *(self.by_value | {at} for at in given), self.by_value | set(given)]
        before = self.by_value, self._fixed
        self._fixed = True
        refused: NeedsConstant | None = None
        for choice in choices:
            self.by_value = choice
            try:
                return self._specialise(args, keywords)
            except NeedsConstant as error:
                refused = refused or error
            except BaseException:
                self.by_value, self._fixed = before
                raise
        self.by_value, self._fixed = before
        assert refused is not None
        raise refused

    def _specialise(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Specialisation:
        types = self.types_of(args, keywords)
        key = (types, tuple(keywords))
        with compile_lock:
            known = self.specialisations.get(key, [])
            for specialisation in known:
                before = specialisation.entry
                if specialisation.confirm():
                    if specialisation.entry is not before:
                        self._install()
                    return specialisation
            specialisation = self._compile(types, tuple(keywords))
            if specialisation.entry is None:
                return specialisation
            # Those whose assumptions are broken are of no use any more; those for other types of inputs may be.
            kept = [s for s in known if s.usable()]
            self.specialisations.pop(key, None)
            self.specialisations[key] = [specialisation, *kept]
            self._install()
            return specialisation

    # ---------------------------------------------------------------------------------------- compiling

    def request(self, types: tuple[Type, ...], keywords: tuple[str, ...] = ()) -> pipeline.Request:
        callee = self._callable()
        if callee is None:
            raise InternalError("the callable of a dispatcher is gone", "dispatch")
        return pipeline.Request(callee, types, keywords, effective_options(self.transform), self._fixed)

    def _compile(self, types: tuple[Type, ...], keywords: tuple[str, ...]) -> Specialisation:
        names, positional_only = self._names(len(types) - len(keywords), keywords)
        shape = None
        if self.transform.function is not None:
            from . import sharing  # on demand: what it needs of the front end is loaded by the first compilation

            shape, asked = sharing.shape_of(self.transform), (types, keywords, self._fixed)
            for compiled in sharing.find(shape, *asked) if shape is not None else ():
                self.accept(compiled.inferred)
                specialisation = Specialisation(self.name, compiled, names, positional_only, len(keywords))
                if specialisation.confirm():
                    return specialisation
        # Another thread may change what the code refers to while it is compiled, and do so again and again.  In the end
        # code is run as of when it was compiled, which was during the call, but it is not kept.
        for _ in range(_ATTEMPTS):
            compiled = pipeline.compile(self.request(types, keywords))
            self.accept(compiled.inferred)
            specialisation = Specialisation(self.name, compiled, names, positional_only, len(keywords))
            with pipeline.timed(self.name, "entry"):
                if specialisation.confirm():
                    if shape is not None:
                        sharing.note(shape, compiled, *asked)
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


# ------------------------------------------------------------------------------------------------ helpers


def make_callable(transform: Transform, **options: Any) -> Any:
    """The native callable that stands for a transform; `options` are those of its Dispatcher."""
    from .backend.calling import new_callable

    _dress()
    dispatcher = Dispatcher(transform, **options)
    function = transform.function
    compiled = transform.kind == "jit"
    name = describe(transform)
    attributes: dict[str, Any] = {ATTRIBUTE: transform, DISPATCHER: dispatcher}
    if function is not None:
        attributes["__wrapped__"] = function
        attributes["__module__"] = getattr(function, "__module__", None)
    if compiled:
        attributes["__doc__"] = getattr(function, "__doc__", None)
        attributes["__qualname__"] = getattr(function, "__qualname__", name)
        name = getattr(function, "__name__", name)
    native = new_callable(dispatcher, name, **attributes)
    dispatcher.attach(native)
    return native


DISPATCHER = "__zyg_dispatcher__"
_dressed = False


def _dress() -> None:
    """Give the native type what is written in Python: its repr, and the names that Numba's dispatchers have."""
    global _dressed
    if _dressed:
        return
    with pipeline.rare_collections():
        from .backend.callable import callable_type

        cls: Any = callable_type()
    cls.__repr__ = _represent
    cls._repr_html_ = _represent_html
    cls.__reduce__ = _reduce
    cls.py_func = property(lambda self: python_function(self), doc="The Python function under all transforms.")
    cls.signatures = property(_signatures, doc="The tuples of argument types that there is native code for.")
    cls.inspect_llvm = _inspect_llvm
    cls.inspect_asm = _inspect_asm
    _dressed = True


def _represent(self: Any) -> str:
    transform = transform_of(self)
    if transform is None:
        return f"<zyg native code of {getattr(self, '__name__', '?')}>"
    inner = describe(transform)
    return f"<zyg.jit({inner})>" if transform.kind == "jit" else f"<zyg.{inner}>"


def _represent_html(self: Any) -> str:
    """A table of what there is native code for."""
    from .inspection.html import Markup, code, table

    rows = [
        (code(", ".join(map(str, types))), code(str(s.compiled.inferred.result)))
        for types, s in _specialisations(self).items()
    ]
    dispatcher: Dispatcher | None = getattr(self, DISPATCHER, None)
    refusals = dispatcher.refusals.errors() if dispatcher is not None and dispatcher.refusals is not None else []
    rows += [("through Python: " + error.what, "") for error in refusals]
    title = code(repr(self))
    return table(("native code for", "gives"), rows, title) if rows else Markup(f"<div>{title}: not called yet</div>")


def _reduce(self: Any) -> Any:
    """Compiled functions are pickled by name, as functions are; what was made of them is made again."""
    transform = transform_of(self)
    if transform is None or transform.kind == "jit":
        return self.__qualname__
    return make_callable, (transform,)


def _specialisations(self: Any) -> dict[tuple[Type, ...], Specialisation]:
    dispatcher: Dispatcher | None = getattr(self, DISPATCHER, None)
    if dispatcher is None:
        return {}
    return {s.compiled.inferred.parameters: s for group in dispatcher.specialisations.values() for s in group}


def _signatures(self: Any) -> list[tuple[Type, ...]]:
    return list(_specialisations(self))


def _inspect(self: Any, signature: tuple[Type, ...] | None, show: Callable[[Any], Any]) -> Any:
    specialisations = _specialisations(self)
    if signature is None:
        return {types: show(s.compiled.native) for types, s in specialisations.items()}
    return show(specialisations[tuple(signature)].compiled.native)


def _inspect_llvm(self: Any, signature: tuple[Type, ...] | None = None) -> Any:
    """The LLVM IR for a signature, or by signature for all."""
    return _inspect(self, signature, lambda native: native.llvm_optimised)


def _inspect_asm(self: Any, signature: tuple[Type, ...] | None = None) -> Any:
    """The assembly for a signature, or by signature for all."""
    return _inspect(self, signature, lambda native: native.asm)


def effective_options(transform: Transform) -> Options:
    """A transform's own options, or those of the function under it, or the defaults."""
    while transform.options is None:
        inner = transform_of(transform.function)
        if inner is None:
            return Options()
        transform = inner
    return transform.options


def python_function(value: Any) -> Any:
    """What is under all transforms."""
    for _ in range(1000):
        transform = transform_of(value)
        if transform is None or transform.function is None:
            return value
        value = transform.function
    return value


def argument_name(transform: Transform, at: int, args: tuple[Any, ...]) -> str:
    """The name of positional argument number `at` of a call of a transform, as far as it has one."""
    function = transform.function
    if transform.kind in DIRECT_KINDS:
        if at == 0:
            return "function"
        function, at = args[0], at - 1
    function = python_function(function)
    if isinstance(function, types.MethodType):
        function, at = function.__func__, at + 1
    code = getattr(function, "__code__", None)
    if not isinstance(code, types.CodeType):
        return str(at)
    if at < code.co_argcount:
        return code.co_varnames[at]
    if code.co_flags & 0x04:
        return f"{code.co_varnames[code.co_argcount + code.co_kwonlyargcount]}[{at - code.co_argcount}]"
    return str(at)


def check_one_variable(function: Any, given: int | None = None) -> None:
    """`derivative` takes functions of one variable: TypeError otherwise, at once where the signature tells."""
    plain = python_function(function)
    count = given
    if given is None:
        bound = isinstance(plain, types.MethodType)
        code = getattr(plain, "__code__", None)
        if not isinstance(code, types.CodeType):
            return
        required = code.co_argcount - len(plain.__defaults__ or ()) - bound
        count = required if required > 1 else 1
    if count != 1:
        takes = "is called with" if given is not None else "has"
        raise TypeError(
            f"derivative takes functions of one variable, but {describe(function)} {takes} {count}; "
            "use zyg.gradient(f, *args), or zyg.grad(f, argnums=...)"
        )


__all__ = ["LIMIT", "Dispatcher", "Specialisation", "make_callable"]
