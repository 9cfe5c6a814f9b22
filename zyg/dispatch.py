"""From a call to native code: find or make the specialisation for the types of the arguments, and keep it honest.

A callable made by zyg is a native object whose entry code checks argument types by itself.  What it does not know it
hands to the Dispatcher here, which binds the arguments as Python would, types them, compiles if need be, and calls.
New specialisations are chained in front of the older ones, so the second call with the same types never comes here.

Compiled code rests on assumptions: that a global still names the same function, that a module's attribute is still
the same, that no rule was registered since.  For each there is a word of memory that changes when the assumption may
have been broken: a dict's version tag, a cell's content, the epoch of the rules.  The entry compares these *watch
words* at each call; if one differs the call comes here, the assumptions are looked at one by one, and the code is
confirmed or compiled anew.
"""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import threading
import types
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import pipeline
from .errors import ArgumentError, InternalError, SpecialisationWarning, UntypableValue
from .ir.options import Options
from .ir.types import Type
from .rules import epoch_address, rule_for
from .transforms import ATTRIBUTE, DIRECT_KINDS, Transform, describe, transform_of
from .typeof import type_of

# So many specialisations of one function are entered natively; further ones go through the dispatcher (which may drop
# them again: it knows that nobody is running one), with a warning.
LIMIT = 64

# One compilation at a time: inference and the tables here are not made for several threads.
compile_lock = threading.RLock()


# ------------------------------------------------------------------------------------------- assumptions


def _dict_word(d: dict[Any, Any]) -> int:
    from .backend.cpython import DICT_VERSION

    return id(d) + DICT_VERSION


def watch_words(guards: list[Any]) -> list[int]:
    """The addresses of the words that change when one of `guards` may have ceased to hold."""
    from .backend.cpython import CELL_CONTENTS

    words: dict[int, None] = {}
    for guard in guards:
        kind = guard[0]
        if kind == "global":
            words[_dict_word(guard[1])] = None
        elif kind == "builtin":
            words[_dict_word(guard[1])] = None
            words[_dict_word(guard[2])] = None
        elif kind == "attr":
            words[_dict_word(vars(guard[1]))] = None
        elif kind == "cell":
            words[id(guard[1]) + CELL_CONTENTS] = None
        elif kind == "rule":
            words[epoch_address] = None
        else:
            raise InternalError(f"unknown guard {guard!r}", "dispatch")
    return list(words)


_missing = object()


def holds(guard: Any) -> bool:
    """Whether an assumption of compiled code is still true."""
    match guard[0]:
        case "global":
            _, namespace, name, expected = guard
            return namespace.get(name, _missing) is expected
        case "builtin":
            _, namespace, builtin_names, name, expected = guard
            return name not in namespace and builtin_names.get(name, _missing) is expected
        case "attr":
            _, module, name, expected = guard
            return vars(module).get(name, _missing) is expected
        case "cell":
            _, cell, expected = guard
            try:
                return cell.cell_contents is expected
            except ValueError:
                return expected is _missing
        case _:
            _, function, rule = guard
            return rule_for(function) is rule


def input_value(source: Any) -> Any:
    """What a hidden input (a number or an array in a global or a cell) holds now; raises as Python's lookup would."""
    if source.kind == "cell":
        return source.container.cell_contents
    try:
        return source.container[source.name]
    except KeyError:
        raise NameError(f"name {source.name!r} is not defined", name=source.name) from None


# ---------------------------------------------------------------------------------------- specialisations


@dataclass(eq=False)
class Specialisation:
    """Native code for one combination of types.

    entry: the back end's entry code; call: a callable that runs this entry alone; words: addresses of the watch words,
    whose expected values are `entry.expected`.
    """

    types: tuple[Type, ...]
    keywords: tuple[str, ...]
    compiled: pipeline.Compiled
    entry: Any
    call: Callable[..., Any]
    words: list[int]

    @property
    def guards(self) -> list[Any]:
        return self.compiled.inferred.guards

    def confirm(self) -> bool:
        """Whether all assumptions hold; if so the entry is told the present values of the watch words."""
        # Words are read before the assumptions are looked at: a change in between is then seen at the next call.
        now = [ctypes.c_uint64.from_address(word).value for word in self.words]
        if not all(map(holds, self.guards)):
            return False
        try:
            if any(type_of(input_value(i)) != i.type for i in self.compiled.inferred.inputs):
                return False
        except UntypableValue:
            return False
        for at, value in enumerate(now):
            self.entry.expected[at] = value
        return True


@dataclass(eq=False)
class _Binder:
    """Binds a call's arguments as Python does, to positional arguments (as few as possible) and keyword-only ones."""

    function: Any
    bind: Callable[..., Any] = field(init=False)

    def __post_init__(self) -> None:
        code = self.function.__code__
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


class Dispatcher:
    """The Python side of one callable: `transform` says what it means, `specialisations` what was compiled so far."""

    def __init__(self, transform: Transform):
        self.transform = transform
        # Several for one key differ in the types of global or captured inputs.
        self.specialisations: dict[Any, list[Specialisation]] = {}
        self._binder: _Binder | None = None
        self._installed: list[Specialisation] = []
        self._overflow: OrderedDict[int, Specialisation] = OrderedDict()
        self._callable: Any = lambda: None
        self._warned = False

    def attach(self, native: Any) -> None:
        self._callable = weakref.ref(native)

    @property
    def options(self) -> Options:
        return effective_options(self.transform)

    # ------------------------------------------------------------------------------------------ calling

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        args, keywords = self.bind(args, keywords)
        return self.specialise(args, keywords).call(*args, *keywords.values())

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
        if binder is None or binder.function.__code__ is not transform.function.__code__:
            binder = self._binder = _Binder(transform.function)
        return binder(args, keywords)

    def types_of(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Type, ...]:
        """The types of the arguments; an error names the argument that has none."""
        result = []
        for at, value in enumerate([*args, *keywords.values()]):
            try:
                result.append(type_of(value))
            except UntypableValue as error:
                named = list(keywords)[at - len(args)] if at >= len(args) else self.argument_name(at, args)
                raise ArgumentError(f"{self.name}(): argument '{named}': {error}", named) from None
        return tuple(result)

    def argument_name(self, at: int, args: tuple[Any, ...]) -> str:
        return argument_name(self.transform, at, args)

    @property
    def name(self) -> str:
        return describe(self.transform)

    def specialise(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Specialisation:
        """The specialisation for these arguments, compiled now if need be."""
        types = self.types_of(args, keywords)
        key = (types, tuple(keywords))
        with compile_lock:
            known = self.specialisations.setdefault(key, [])
            for specialisation in known:
                if specialisation.confirm():
                    return specialisation
            self._forget(key, [s for s in known if not all(map(holds, s.guards))])
            specialisation = self._compile(types, tuple(keywords))
            self.specialisations.setdefault(key, []).insert(0, specialisation)
            if not keywords:
                self._install(key, specialisation)
            return specialisation

    # ---------------------------------------------------------------------------------------- compiling

    def request(self, types: tuple[Type, ...], keywords: tuple[str, ...] = ()) -> pipeline.Request:
        callee = self._callable()
        if callee is None:
            raise InternalError("the callable of a dispatcher is gone", "dispatch")
        return pipeline.Request(callee, types, keywords, self.options)

    def _compile(self, types: tuple[Type, ...], keywords: tuple[str, ...]) -> Specialisation:
        from .backend.llvm import Signature, make_entry

        # A guard that changes while we compile makes the code stale before it is used: try again then.
        for _ in range(10):
            compiled = pipeline.compile(self.request(types, keywords))
            inferred = compiled.inferred
            words = watch_words(inferred.guards)
            signature = Signature(
                parameters=inferred.parameters, inputs=inferred.inputs, result=inferred.result
            )
            with pipeline.timed(self.name, "entry"):
                entry = make_entry(compiled.native, signature, self.name, watch=words)
            call = _raw_callable(entry, self.name, types)
            specialisation = Specialisation(types, keywords, compiled, entry, call, words)
            if specialisation.confirm():
                return specialisation
        raise RuntimeError(f"{self.name}: what it refers to changes faster than it can be compiled")

    def _install(self, key: Any, specialisation: Specialisation) -> None:
        """Let the callable's native entry know the new specialisation, if there is room."""
        if len(self._installed) < LIMIT:
            self._installed.append(specialisation)
            self._link()
            return
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"{self.name} has been compiled for {LIMIT} combinations of argument types and assumptions; calls with "
                "further ones are slower. Are constants (strings, classes, new function objects) passed as arguments?",
                SpecialisationWarning,
                stacklevel=4,
            )
        self._overflow[id(specialisation)] = specialisation
        if len(self._overflow) > LIMIT:
            _, oldest = self._overflow.popitem(last=False)
            for specialisations in self.specialisations.values():
                if oldest in specialisations:
                    specialisations.remove(oldest)

    def _link(self) -> None:
        """Chain the entries, newest first, on to the dispatcher."""
        from .backend.llvm import set_entry

        native = self._callable()
        if native is None:
            return
        for newer, older in zip(self._installed[:0:-1], self._installed[-2::-1]):
            newer.entry.miss.value = older.entry.address
        set_entry(native, self._installed[-1].entry)

    def _forget(self, key: Any, stale: list[Specialisation]) -> None:
        """Drop specialisations whose assumptions are broken. Those linked stay alive: a thread may be inside."""
        for specialisation in stale:
            self.specialisations[key].remove(specialisation)
            self._overflow.pop(id(specialisation), None)


def _raw_callable(entry: Any, name: str, types: tuple[Type, ...]) -> Any:
    """A callable that runs one entry and nothing else. Its guards were checked before, so a miss is a bug."""
    from .backend.llvm import new_callable, set_entry

    def disagreement(*args: Any, **keywords: Any) -> Any:
        raise InternalError(
            f"{name}: the native entry refused arguments ({', '.join(type(a).__name__ for a in args)}) that were "
            f"typed as ({', '.join(map(str, types))})",
            "entry",
        )

    raw = new_callable(disagreement, name)
    set_entry(raw, entry)
    return raw


# ------------------------------------------------------------------------------------------------ helpers


def make_callable(transform: Transform) -> Any:
    """The native callable that stands for a transform."""
    from .backend.llvm import new_callable

    dispatcher = Dispatcher(transform)
    name = describe(transform)
    native = new_callable(dispatcher, name)
    dispatcher.attach(native)
    setattr(native, ATTRIBUTE, transform)
    native.__zyg_dispatcher__ = dispatcher
    function = transform.function
    if function is not None:
        native.__wrapped__ = function
        for attribute in ("__module__", "__doc__", "__defaults__", "__kwdefaults__", "__annotations__"):
            if transform.kind != "jit" and attribute in ("__doc__", "__annotations__"):
                continue
            with contextlib.suppress(AttributeError):
                setattr(native, attribute, getattr(function, attribute))
    native.__name__ = getattr(function, "__name__", name) if transform.kind == "jit" else name
    native.__qualname__ = getattr(function, "__qualname__", name) if transform.kind == "jit" else name
    return native


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


__all__ = ["LIMIT", "Dispatcher", "Specialisation", "holds", "make_callable", "watch_words"]
