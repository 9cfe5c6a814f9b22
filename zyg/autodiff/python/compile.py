"""Code objects of the two halves, cached by the code object that they belong to."""

from __future__ import annotations

import sys
import types
import weakref
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from types import CodeType, FunctionType, MappingProxyType
from typing import Any

from zyg.backend.python import emit
from zyg.frontend.capture import capture
from zyg.ir.core import Block, Const, Function, Instr, Target, Value, clone, const
from zyg.ir.types import BOOL, OBJECT
from zyg.own import ABOVE, AUTODIFF, is_own
from zyg.pipeline import rare_collections

from ..identity import ByIdentity
from ..objects import sources
from . import escaping, nested, sites
from .brief import with_quiet_calls
from .class_bodies import as_function, is_class_body
from .comprehensions import taken_in
from .computed import computed_attributes, constants_read, fields_read, members_read
from .counted import with_known_loops
from .forms import Watched, ask_at_start
from .forward import ForwardHalf
from .inlining import with_generators
from .lookups import settle_lookups
from .normal import has_handlers, normalise
from .plain_forward import plain_forward
from .plain_reverse import plain_reverse
from .reverse import ReverseHalf

# By identity, since code objects compare by value.
_cache = ByIdentity()  # per form, (watched, for methods), the code object of the forward half

# The SSA of the halves, which are functions like others: they may be differentiated in turn; for a forward half its reverse.
_halves = ByIdentity()  # (half or _Later, its reverse or None)

_origins = ByIdentity()  # of forward halves: references to the code that they belong to

_BACK = "back"  # the name of pullbacks


# They run when a class is made.
_ABOUT_CLASSES = frozenset(
    str(Path(types.__file__).with_name(f"{name}.py")) for name in ("abc", "dataclasses", "enum", "inspect", "typing")
)


def differentiated(
    code: CodeType, bound: bool = False, namespace: dict[str, Any] | None = None, watched: bool = False
) -> CodeType:
    """The code object of the forward half of the adjoint of a function with code `code`; `namespace`: with these global
    variables, most likely.  `watched`: it leaves its pullback with exceptions.

    Its parameters are those of `code`, in the order of `co_varnames`, all positional (`*args` as a tuple, `**kwargs` as a dict);
    its free variables are the same.  It returns the value and a pullback `back`: a tuple whose first item is the reverse half,
    to be called as `back[0](back, d, shadows)`; that gives None (for the function) and a cotangent for each parameter.  With
    `bound` it gives no None: the cotangent of the first parameter, `self`, is that of the bound method that is called.

    The forward half of a generator function is a generator function that gives the pullback first, then what the generator
    gives.  Its reverse half is a generator function too: each time it is resumed it undoes what the generator did since it
    gave an item; it gives the cotangent of what was sent then, and wants that of the item.  At the end it returns the
    cotangents of the parameters.  So, for what was taken last: `r = back[0](back, d, shadows)`, `next(r)` undoes what came
    after the last item, `r.send(d_item)` what came before it, and so on; after the first item it ends.
    """
    form = watched, bound
    forms = _cache.of(code)
    if forms is not None and form in forms:
        return forms[form]
    own = _is_run_time(code) and code.co_filename.endswith(".py")
    made = _from_disk(code, namespace, form) if own and namespace is not None else None
    if made is None:
        if bound:
            made = _for_methods(code, differentiated(code, False, namespace, watched))
        else:
            with rare_collections():
                made = _compile(code, namespace, watched)
        if own:
            _to_disk(code, form, made)
    forms = _cache.of(code)
    if forms is None:
        forms = {}
        _cache.note(code, forms)
    forms[form] = made
    _origins.note(made, weakref.ref(code))
    return made


def is_half(code: CodeType) -> bool:
    """Whether a code object is one that the pass made."""
    return id(code) in _halves


def differentiated_less(code: CodeType, times: int) -> tuple[CodeType | None, int]:
    """The code whose forward half `code` is, that of which that is the forward half, and so on; and how many times are left when there
    is none. None: it is gone."""
    while times and (origin := _origins.of(code)) is not None:
        code, times = origin(), times - 1
        if code is None:
            break
    return code, times


def reverse_of(code: CodeType) -> FunctionType | None:
    """The reverse half that the pullbacks of a forward half begin with."""
    half = _halves.get(id(code))
    return None if half is None else half[1]


def cleans_up(code: CodeType) -> bool | frozenset[str]:
    """Whether the generator function whose forward half `code` is gives items within a `try` or `with` statement; the names of the
    exceptions that its handlers are for, if they are for no others."""
    found = _halves[id(code)][0].attrs.get("cleans_up") or False
    CLEAN_UP.note(code, found)
    return found


CLEAN_UP = ByIdentity()  # what has been found of that: a generator is asked when it is made


def hands_on_at(code: CodeType) -> int | None:
    """If the function whose reverse half `code` is returns what it calls, and keeps it nowhere: where in its pullback that of the call
    is."""
    half = _halves.of(code)
    return None if half is None else half[0].attrs.get("hands_on_at")


def only_gives_items(code: CodeType) -> bool:
    """Whether a generator whose forward half `code` is does no more: nobody has to know where it is suspended. Where there are handlers
    it says on its tape where an exception has left it."""
    found = not _halves[id(code)][0].attrs.get("cleans_up") and (
        is_watched(code) or not escaping.generators_are_watched
    )
    GIVE_ITEMS.note(code, found)
    return found


# What has been found of that: a generator is asked whenever another one gives its items.
GIVE_ITEMS = ByIdentity()


def is_watched(code: CodeType) -> bool:
    """Whether a forward half leaves its pullback with exceptions."""
    return _halves[id(code)][0].attrs["other_form"] is None  # or else that is the watched one


def forget() -> None:
    """Compile everything anew when it is next called."""
    forget_callees()
    _cache.clear()


def forget_unwatched() -> None:
    """Compile anew what is other where there are handlers: generators, and derivatives of halves, which ask for their form."""
    forget_callees()
    for key, forms in list(_cache.items()):
        if key in _halves or any(_halves[id(made)][0].attrs.get("generator") for made in forms.values()):
            _cache.pop(key, None)
    GIVE_ITEMS.clear()


def forget_callees() -> None:
    """Let compiled code look its callees up again: there are new rules."""
    sites.forget_sites()


def _compile(code: CodeType, namespace: dict[str, Any] | None, watched: bool) -> CodeType:
    half = _ssa(code)
    if half is not None:
        function = nested.plain(half)
        other = half.attrs.get("other_form")
        if other is not None and escaping.generators_are_watched and not function.attrs.get("generator"):
            ask_at_start(function, other)
    else:
        function = capture(code, sources.leave)
    if half is None and not _runs_rarely(code):
        function = taken_in(function, namespace)
        if namespace is not None and not watched:
            function = with_generators(function, namespace)
        if namespace is not None:
            function = with_known_loops(function, namespace)
    if half is None and _is_run_time(code) and namespace is not None:
        function = with_quiet_calls(function, namespace)
    if half is None and is_class_body(code):
        function = as_function(clone(function))  # what was captured is kept, and may be wanted again
    if half is None and has_handlers(function):
        escaping.watch_generators()
    generator = bool(function.attrs.get("generator"))
    watched = watched or (generator and escaping.generators_are_watched)
    brief = half is not None or _runs_rarely(code)
    computed = computed_attributes(code, namespace) if namespace is not None and not brief else frozenset[str]()
    fields = fields_read(code, namespace, computed) if namespace is not None and computed else computed
    members = members_read(function, namespace) if namespace is not None and not brief else {}
    constants = constants_read(function, namespace) if namespace is not None and not brief else {}
    forward, reverse = halves(function, watched, brief, computed, members, constants, watched and _passes(code), fields)
    if half is not None:  # its handlers are the pass's own, unless the function had some
        forward.attrs["cleans_up"] = half.attrs.get("cleans_up", False)
    runs = _reverse_function(reverse)
    install(forward, runs)
    other = None if watched else Watched(code, False)
    forward.attrs["other_form"] = other
    ready = plain_forward(forward)
    for _, instr in ready.instructions():
        if instr.op == "tuple" and instr.results[0].name == _BACK:
            instr.results[0].name = ""  # it needs no local variable
    made = emit(ready if other is None or generator else ask_at_start(ready, other))
    _remember(made, forward, runs)
    return made


def _passes(code: CodeType) -> bool:
    """Whether this is a function that run-time functions are called by on the way to what raises, or its half: what it puts around
    pullbacks hangs on what it was given."""
    of, _ = differentiated_less(code, sys.maxsize)
    return of is not None and escaping.is_on_the_way(of)


def _is_run_time(code: CodeType) -> bool:
    """Whether this is one of the run-time functions, or of those that call them. For a derivative of a derivative many are compiled,
    and most of them run a few times."""
    return is_own(code.co_filename, AUTODIFF) or code.co_filename in ABOVE


def _runs_rarely(code: CodeType) -> bool:
    return code.co_filename in _ABOUT_CLASSES or _is_run_time(code)


class _Later:
    """In the place of the SSA of a half that comes from the disk. It is made when it is asked for: for a third derivative."""

    def __init__(self, code: CodeType, namespace: dict[str, Any], form: tuple[bool, bool], of_reverse: bool):
        self.code, self.namespace, self.form, self.of_reverse = code, namespace, form, of_reverse
        watched, bound = form
        self.attrs = {"other_form": None if watched else Watched(code, bound)}

    def make(self, runs: FunctionType | None) -> Function:
        """`runs`: the reverse half that is there, if this is for a forward half: its pullbacks begin with that."""
        watched, bound = self.form
        made = _compile(self.code, self.namespace, watched)
        made = _for_methods(self.code, made) if bound else made
        forward, anew = _halves[id(made)]
        if self.of_reverse:
            return _halves[id(anew.__code__)][0]
        assert runs is not None
        install(forward, runs, anew)
        return forward


def _ssa(code: CodeType) -> Function | None:
    """The SSA of a half; None if this is none."""
    half, runs = _halves.of(code) or (None, None)
    if isinstance(half, _Later):
        half = half.make(runs)
        _remember(code, half, runs)
    return half


def _from_disk(code: CodeType, namespace: dict[str, Any], form: tuple[bool, bool]) -> CodeType | None:
    """The forward half of a function of zyg's own, or of such a half."""
    from . import kept  # on demand: second derivatives want it

    found = kept.load(code, form)
    if found is None:
        return None
    made, runs, handlers = found
    if handlers:
        escaping.watch_generators()
    _halves.note(made, (_Later(code, namespace, form, False), runs))
    _halves.note(runs.__code__, (_Later(code, namespace, form, True), None))
    return made


def _to_disk(code: CodeType, form: tuple[bool, bool], made: CodeType) -> None:
    from . import kept

    forward, runs = _halves[id(made)]
    if not forward.attrs.get("generator"):
        kept.store(code, form, (made, runs, not is_half(code) and has_handlers(capture(code))))


def _for_methods(original: CodeType, made: CodeType) -> CodeType:
    """The same forward half, whose pullback gives the cotangent of a bound method in the place of that of `self`."""
    forward, runs = _ssa(made), _halves[id(made)][1]
    assert forward is not None and runs is not None
    reverse = _ssa(runs.__code__)
    assert reverse is not None
    bound = clone(reverse)
    without_function(bound)
    instead = _reverse_function(bound)
    other = clone(forward)
    install(other, instead, runs)
    watched = forward.attrs["other_form"]
    other.attrs["other_form"] = None if watched is None else Watched(original, True)
    replaced = {id(runs): instead, id(watched): other.attrs["other_form"]}
    code = made.replace(co_consts=tuple(replaced.get(id(x), x) for x in made.co_consts))
    _remember(code, other, instead)
    return code


def _reverse_function(reverse: Function) -> FunctionType:
    ready = plain_reverse(reverse)
    settle_lookups(ready)
    code = emit(ready)
    _remember(code, reverse)
    return FunctionType(code, {})


def _remember(code: CodeType, half: Function, runs: FunctionType | None = None) -> None:
    _halves.note(code, (half, runs))


def without_function(reverse: Function) -> None:
    """Let a reverse half give the cotangents of the parameters alone: the first is then that of a bound method."""
    for block in reverse.blocks:
        if block.terminator.op == "return":
            result = block.terminator.operands[0]
            for instr in block.instrs:
                if result in instr.results:
                    del instr.operands[0]


def halves(
    function: Function,
    watched: bool = False,
    brief: bool = False,
    computed: AbstractSet[str] = frozenset(),
    members: Mapping[tuple[str, str], type] = MappingProxyType({}),
    constants: Mapping[tuple[str, str], type] = MappingProxyType({}),
    passes: bool = False,
    fields: AbstractSet[str] = frozenset(),
) -> tuple[Function, Function]:
    """The SSA of the two halves. The forward half returns a pair; where its pullback wants the reverse half stands None, until
    `install` puts it there.  `watched`: whether exceptions that leave the function leave its pullback with the exception.
    `brief`: the halves take less time to make and more to run. `computed`: attributes that likely are; `fields`: those of them that are fields of named tuples.
    `members`: see `members_read`. `constants`: see `constants_read`. `passes`: whether parameters are to be in their variables after an exception has left the function."""
    normal = normalise(function, watched, brief)
    forward = ForwardHalf(normal, brief, computed, members, constants, fields)
    reverse = ReverseHalf(forward)
    made = reverse.run()
    half = forward.function
    half.attrs["gathered"] = {half.params.index(p): kind for p, kind in forward.gathered.items()}
    code = half.attrs.pop("code", None)
    half.name = f"{function.name}.fwd"
    half.attrs["keep"] = made.attrs["keep"] = True
    if code is not None:
        half.attrs["free"] = tuple(code.co_freevars)
    if forward.marked:
        _make_early(forward, reverse.kept, normal.left)
    elif forward.returning is not None:
        made.attrs["hands_on_at"] = _hands_on_at(forward, forward.returning, reverse.kept, normal.left)
        _return_pair(forward, reverse.kept, normal.left, passes)
    return half, made


def _hands_on_at(forward: ForwardHalf, block: Block, kept: list[Value], left: Block | None) -> int | None:
    """Of a function with one return, in this block: see `hands_on_at`."""
    (result,) = block.terminator.operands
    parameters: dict[Value, Value] = {}  # of what comes there, but from `left`
    if result in block.params:
        edges = [target for source, target in forward.edges[block] if source is not left]
        if len(edges) != 1:
            return None
        parameters = dict(zip(edges[0].args, block.params, strict=True))
        result = next((given for given, p in parameters.items() if p is result), result)
    back = forward.backs.get(result)
    back = parameters.get(back, back) if back is not None else None
    if back is None or forward.counts[result] != 1 or back not in kept:
        return None
    return 1 + kept.index(back)


def _make_early(forward: ForwardHalf, kept: list[Value], left: Block | None) -> None:
    """A generator may be left at several places: it makes its pullback at its start, and gives it before anything else. An exception
    that leaves it from `left` takes it along, for a loop that alone has the generator."""
    back = Value(OBJECT, _BACK)
    made = [
        Instr("tuple", [Const(None, OBJECT), *kept], [back]),
        Instr("yield", [back], [Value(OBJECT)]),
    ]
    forward.function.entry.instrs[forward.prologue : forward.prologue] = made
    if left is not None and left in forward.live:
        (exception,) = left.terminator.operands
        leaving = [Const(escaping.leave_generator, OBJECT), exception, back]
        left.instrs.insert(-1, Instr("call_object", leaving, [Value(OBJECT)], {"keywords": ()}))


def _return_pair(forward: ForwardHalf, kept: list[Value], left: Block | None, passes: bool) -> None:
    """The pullback is made where the function returns. What was raised in it comes there as well, from `left`: it leaves with the
    pullback."""
    block = forward.returning
    assert block is not None
    ret = block.instrs.pop()
    back, pair = Value(OBJECT, _BACK), Value(OBJECT)
    block.instrs.append(Instr("tuple", [Const(None, OBJECT), *kept], [back], {}, [], ret.position))
    (result,) = ret.operands
    returns = [
        Instr("tuple", [result, back], [pair], {}, [], ret.position),
        Instr("return", [pair], [], {}, [], ret.position),
    ]
    if left is None or left not in forward.live:
        block.instrs += returns
        return
    raised = Value(BOOL, "raised")
    block.params.append(raised)
    for source, target in forward.edges[block]:
        target.args.append(const(source is left))
    leaving, returning = Block(f"{block.name}.raise"), Block(f"{block.name}.return")
    attached = [result, back]
    if passes:  # what is used here keeps its place till then
        in_cells = {i.operands[0] for i in forward.function.entry.instrs if i.op == "new_cell" and i.operands}
        attached += [Const(0, OBJECT), *[p for p in forward.function.params if p not in in_cells]]
    leaving.instrs = [
        Instr("call_object", [Const(escaping.attach, OBJECT), *attached], [Value(OBJECT)], {"keywords": ()}),
        Instr("reraise", [result]),
    ]
    returning.instrs = returns
    block.instrs.append(Instr("branch", [raised], [], {}, [Target(leaving), Target(returning)]))
    forward.function.blocks += [returning, leaving]


def install(forward: Function, reverse: FunctionType, instead: FunctionType | None = None) -> None:
    """Put the reverse half into the pullback that the forward half returns, in the place of None or of another one."""
    for _, instr in forward.instructions():
        if instr.op == "tuple" and instr.results[0].name == _BACK:
            first = instr.operands[0]
            if isinstance(first, Const) and first.value is instead:
                instr.operands[0] = Const(reverse, OBJECT)
