"""Programs as entries of the cache on disk (backend/llvm/cache.py), for functions with `cache=True`.

An entry has the name of a request: what the function is, the types of its arguments, options, all of zyg's source, and versions.  It says what
the program depends on (places.py): guards and hidden inputs as inference left them, by the ways to the objects in them, with digests of
what was found there.  Where all of it is as it was, the program is what inference would make now.  The machine code is in entries of its own, by
the assembly that it was made of; here are their names, and how they are linked and called.

It is data alone (`marshal`).  What the code refers to is made anew, or found where it was.  A program with anything in it that cannot be told so
is not kept: it is compiled in each process.
"""

from __future__ import annotations

import importlib
import marshal
import sys
import types
import weakref
from collections.abc import Sequence
from typing import Any

from .. import circumstances, departures, rules
from ..assumptions import Input, can_change, input_value
from ..backend.calling import Signature, columns, rebuild, writer
from ..backend.llvm import cache as disk
from ..backend.llvm.lowered import ErrorSite
from ..backend.llvm.native import Pieces, link_program
from ..backend.tracebacks import make_raiser, placing
from ..errors import InternalError, UntypableValue
from ..ir import types as t
from ..ir.core import Position
from ..ir.readymade import Readymade
from ..ir.records import _FIELDS, record
from ..pipeline import Compiled, Request
from ..transforms import Transform
from ..typeof import input_type
from .describing import PLAIN, NotPlain, digest, is_zygs, named
from .places import Places, given, reached


class Anew:
    """A program that was found, compiled when somebody asks what it is made of. (It does not keep functions alive, as it may belong to
    them.)"""

    def __init__(self, request: Request, transform: Transform):
        self._what = request.types, request.keywords, request.options, request.fixed, request.exact
        self._of = [weakref.ref(transform)]
        self._made: Compiled | None = None

    def also_of(self, transform: Transform) -> None:
        """It is the program of another function, too."""
        self._of = [weakref.ref(transform), *[one for one in self._of if one() is not None]]

    def __call__(self) -> Compiled:
        made = self._made
        if made is None:
            from .. import pipeline
            from ..callables import make_callable

            transform = next((found for one in self._of if (found := one()) is not None), None)
            if transform is None:
                raise InternalError(
                    "a program that was found on disk is asked for more than it is, and its function is gone", "kept"
                )
            made = self._made = pipeline.compile(Request(make_callable(transform), *self._what))
        return made


@record(eq=False)
class Found:
    """What is known of a program without inference (in the place of `Inferred`); who asks for more has it compiled."""

    guards: tuple[tuple[Any, ...], ...]
    parameters: tuple[t.Type, ...]
    inputs: tuple[Input, ...]
    result: t.Type
    writes: tuple[t.Write, ...]
    anew: Anew

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.anew().inferred, name)


class Program:
    """A request as it is looked for on disk."""

    def __init__(self, request: Request, transform: Transform):
        self.request = request
        self.transform = transform
        self.name = _name_of(request)

    def find(self) -> Compiled | None:
        """The program, if there is one that is as it was."""
        content = disk.load(self.name) if self.name is not None else None
        if content is None:
            return None
        steps, *rest = marshal.loads(content)
        there = reached(steps, given(self.request.function, self.request.types))
        return None if there is None else _Reading(self, there).compiled(*rest)

    def way(self) -> tuple[Any, ...] | None:
        """What has helped where this was refused, if that is known: it is no more than where to look first."""
        content = None if self.name is None else disk.load(disk.key(self.name, "way"))
        return None if content is None else marshal.loads(content)

    def keep_way(self, way: tuple[Any, ...]) -> None:
        if self.name is not None and self.way() != way:
            disk.store(disk.key(self.name, "way"), marshal.dumps(way))

    def keep(self, compiled: Compiled) -> None:
        """Have later processes find it, if it can be told."""
        if self.name is None or self.name != _name_of(self.request):  # it was changed meanwhile
            return
        try:
            content = _Writing(self.request).program(compiled)
        except NotPlain:
            return
        disk.store(self.name, marshal.dumps(content))


def _name_of(request: Request) -> str | None:
    source = circumstances.source()
    if source is None:
        return None
    what = (request.keywords, request.fixed, request.exact, request.options)
    try:
        described = digest(request.function, request.types, what)
    except NotPlain:
        return None
    return disk.key(described.hex(), "program", source, sys.version, *circumstances.versions())


# ------------------------------------------------------------------------------------------------- writing


class _Writing:
    def __init__(self, request: Request):
        self.given = given(request.function, request.types)
        self.places = Places(self.given)

    def program(self, compiled: Compiled) -> Any:
        inferred, native = compiled.inferred, compiled.native
        guards = self.guards(inferred.guards)
        inputs = [self.input(source) for source in inferred.inputs]
        writes = [self.write(one) for one in inferred.writes]
        recipes = native.lowered.recipes
        objects = [
            self.made(recipes[n]) if n in recipes else self.object(x) for n, x in enumerate(native.lowered.objects)
        ]
        errors = [self.error(site) for site in native.lowered.errors]
        effects = None if native.signature.departed is None else departures.effects(inferred)
        pieces = native.pieces
        library = [(code.symbol, code.entry, code.imports) for code in pieces.library]
        code = pieces.images, pieces.imports, library, pieces.providers, _provided(pieces.providers)
        rest = (
            guards,
            inputs,
            writes,
            self.type(inferred.result),
            objects,
            errors,
            effects,
            departures.calls_out(inferred),
            native.signature.guarded,
            code,
        )
        self.places.finish(self.given)
        return _plain((self.places.steps, *rest))

    def guards(self, guards: tuple[tuple[Any, ...], ...]) -> list[Any]:
        """Those whose container is known, until all are."""
        written: list[Any] = []
        left = list(guards)
        while left:
            later = [guard for guard in left if not self.guard(guard, written)]
            if len(later) == len(left):
                raise NotPlain
            left = later
        return written

    def guard(self, guard: tuple[Any, ...], written: list[Any]) -> bool:
        places = self.places
        kind, owner, *rest = guard
        if kind == "order":  # of a set: it is another in another process
            raise NotPlain
        if kind in ("rule", "tangent rule"):
            if rest[0] is not None and rules.is_users(rest[0]):
                raise NotPlain
            if _is_of_zyg(owner):  # it need not be loaded; what has no name cannot be given a rule
                place = named(owner)
                if place is not None:
                    written.append(("own rule", -1, kind, *place))
                return True
        if kind in ("lacks", "mro") and not can_change(owner) or _is_of_zyg(owner):
            return True
        if not places.knows(owner):
            return False
        if kind == "function" and any(now is not then for now, then in zip(_refers_to(owner), rest, strict=True)):
            raise NotPlain  # another thread has changed it since
        first = places.of(owner)
        if kind in ("rule", "tangent rule"):
            written.append(("own rule", first, kind))
        elif kind in ("function", "mro", "imported") or kind == "ruled instances" and not rest[0]:
            written.append((kind, first))
        elif kind == "lacks":
            written.append((kind, first, *rest))
        elif kind == "attr":
            name, value = rest
            step = "attr" if isinstance(owner, type) and vars(owner).get(name) is value else "got"
            written.append((kind, first, name, places.of(value, (step, first, name))))
        elif kind == "global":
            name, value = rest
            written.append((kind, first, name, places.of(value, ("item", first, name))))
        elif kind == "cell":
            written.append((kind, first, places.of(rest[0], ("content", first))))
        elif kind == "builtin":
            inside, name, value = rest
            second = places.of(inside)
            written.append((kind, first, second, name, places.of(value, ("item", second, name))))
        elif kind == "missing":
            inside, name = rest
            written.append((kind, first, places.of(inside) if inside else -1, name))
        else:
            raise NotPlain
        return True

    def input(self, source: Input) -> Any:
        container = source.container
        step = None
        if source.kind == "cell" and not self.places.knows(container):
            step = "held", self.places.of(container.cell_contents)
        return source.kind, self.places.of(container, step), source.name, digest(source.type)

    def write(self, write: t.Write) -> Any:
        return write.number, self.type(write.content), write.removed

    def type(self, x: Any) -> Any:
        """A type, or a part of one."""
        if isinstance(x, t.Scalar):
            return "scalar", x.name
        if isinstance(x, (t.PullbackType, t.Closure, t.Stack, t.Tape)):
            raise NotPlain
        if isinstance(x, t.Type):
            return type(x).__name__, *[self.type(getattr(x, name)) for name in getattr(x, _FIELDS)]
        if type(x) is tuple:
            return "tuple", *map(self.type, x)
        return self.object(x)

    def object(self, x: Any) -> Any:
        return ("plain", x) if type(x) in PLAIN else ("place", self.places.of(x))

    def made(self, recipe: tuple[Any, ...]) -> Any:
        kind, *what = recipe
        if kind == "write":
            return kind, self.write(what[0])
        if kind == "placing":
            position, own_frames = what
            return kind, tuple(position), own_frames
        return (kind, *map(self.type, what))

    def error(self, site: ErrorSite) -> Any:
        position = None if site.position is None else tuple(site.position)
        return self.object(site.exception), site.message, position, tuple(map(self.type, site.types))


# Types of which there is one each, compared by identity.
_ONES = {type(one).__name__: one for one in (t.NONE, t.RANGE, t.OBJECT)}


def _is_of_zyg(x: Any) -> bool:
    """Whether this is a module of zyg, the names in one, or a function or class of one: that is told by all of its source."""
    if type(x) is dict:
        name = x.get("__name__")
        return is_zygs(name) and x is vars(sys.modules.get(str(name), sys))
    if isinstance(x, types.ModuleType):
        return is_zygs(x.__name__)
    return is_zygs(type(x).__module__) or type(x) in (types.FunctionType, type) and is_zygs(x.__module__)


def _refers_to(function: types.FunctionType) -> tuple[Any, ...]:
    return function.__code__, function.__defaults__, function.__kwdefaults__


def _plain(x: Any) -> Any:
    """What is written, if it is nothing but data."""
    if type(x) in (tuple, list):
        return tuple(map(_plain, x))
    if type(x) not in PLAIN:
        raise NotPlain
    return x


def _provided(providers: Sequence[str]) -> str:
    """What is said by those who know where C functions are, which are there from now on."""
    modules = [importlib.import_module(name) for name in providers if is_zygs(name)]
    return " ".join([module.told() for module in modules if hasattr(module, "told")])


# ------------------------------------------------------------------------------------------------- reading


class _Reading:
    def __init__(self, program: Program, there: list[Any]):
        self.program = program
        self.there = there

    def compiled(
        self,
        guards: Any,
        inputs: Any,
        writes: Any,
        result: Any,
        objects: Any,
        errors: Any,
        effects: Any,
        calls_out: bool,
        guarded: bool,
        code: Any,
    ) -> Compiled | None:
        request = self.program.request
        images, imports, library, providers, told = code
        if told != _provided(providers):
            return None
        try:
            sources = tuple([self.input(*source) for source in inputs])
        except (UntypableValue, NameError, ValueError, NotPlain):
            return None
        anew = Anew(request, self.program.transform)
        found = Found(
            tuple([self.guard(*guard) for guard in guards]), request.types, sources, self.type(result),
            tuple([self.write(*one) for one in writes]), anew,
        )  # fmt: skip
        departures.note_calls_out(found, calls_out)
        self.errors = [self.error(*site) for site in errors]
        self.departed = None if effects is None else departures.Handler(lambda: effects)
        signature = Signature(
            request.types,
            found.result,
            tuple([(s.kind, s.type) for s in sources]),
            guarded,
            bool(request.keywords),
            True,
            found.writes,
        )
        pieces = Pieces(
            images, imports, [Readymade(s, e, i, False, False, None, (), ()) for s, e, i in library], providers
        )
        native = link_program(pieces, [self.made(*recipe) for recipe in objects], signature, lambda: anew().native)
        return None if native is None else Compiled(found, native, anew)

    def guard(self, kind: str, first: int, *rest: Any) -> tuple[Any, ...]:
        x: Any = self.there[first] if first >= 0 else tuple(rest[1:])
        if kind == "own rule":
            return kind, rest[0], x
        if kind == "function":
            return kind, x, *_refers_to(x)
        if kind == "mro":
            return kind, x, x.__mro__
        if kind == "ruled instances":
            return kind, x, False
        if kind in ("lacks", "imported"):
            return kind, x, *rest
        if kind == "missing":
            inside, name = rest
            return kind, x, {} if inside < 0 else self.there[inside], name
        if kind == "builtin":
            inside, name, value = rest
            return kind, x, self.there[inside], name, self.there[value]
        *names, value = rest
        return kind, x, *names, self.there[value]

    def input(self, kind: str, container: int, name: str | None, described: bytes) -> Input:
        type = input_type(input_value(Input(kind, self.there[container], name, t.NONE)))
        if digest(type) != described:
            raise NotPlain
        return Input(kind, self.there[container], name, type)

    def write(self, number: int, content: Any, removed: tuple[str, ...]) -> t.Write:
        return t.Write(number, self.type(content), removed)

    def type(self, written: Any) -> Any:
        kind, *parts = written
        if kind == "scalar":
            return t.SCALARS[parts[0]]
        if kind == "tuple":
            return tuple(map(self.type, parts))
        if kind in ("plain", "place"):
            return self.object(kind, *parts)
        return _ONES[kind] if kind in _ONES else getattr(t, kind)(*map(self.type, parts))

    def object(self, kind: str, x: Any) -> Any:
        if kind == "place":
            return self.there[x]
        return sys.intern(x) if type(x) is str else x

    def made(self, kind: str, *what: Any) -> Any:
        if kind == "raiser":
            return make_raiser(self.errors, self.departed is not None)
        if kind == "departed":
            return self.departed
        if kind == "write":
            return writer(self.write(*what[0]))
        if kind == "placing":
            position, own_frames = what
            return placing(Position(*position), own_frames)
        if kind in ("plain", "place"):
            return self.object(kind, *what)
        return {"rebuild": rebuild, "columns": columns}[kind](self.type(what[0]))

    def error(self, exception: Any, message: str, position: Any, types: Any) -> ErrorSite:
        where = None if position is None else Position(*position)
        return ErrorSite(self.object(*exception), message, where, tuple(map(self.type, types)))


__all__ = ["Program"]
