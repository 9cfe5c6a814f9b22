"""Generators become part of the loops that go through them.

`for v in g(a):` with a generator function of Python code, known by its name when the function around is compiled, is the code of
`g` with the body of the loop in the place of each `yield`: there is no generator, and nothing to resume, in either half.

    before:    call, iter             ->   before:    branch <is it g?>, g.entry, otherwise
    head(p):   next; branch                g...:      v = ...; jump body.1       (in the place of `yield v`)
    body:      ...; jump head(q)           body.1:    ...; jump g.resumed.1      (p is a variable now, which becomes q here)
    done:      ...                         g...:      jump done                  (in the place of `return`)
                                           otherwise: the loop as it was

That it is still `g`, with the same code and without a rule, is looked at before the loop. The generator must not be able to tell that
it is none: it has no handlers, and nothing is sent to it. What leaves the function by an exception while a handler of
differentiated code waits for it is compiled in the watched form, which has its generators.

In `for v in g(h(a)):` the loop of `g` over its parameter is one over `h(a)`, which becomes part of it in turn. As a generator does
nothing before it is asked for an item, the call may stand anywhere before that loop, once it is certain that it is of `h`: so the
generators among the arguments are looked at together with `g`.
"""

from __future__ import annotations

import itertools
import sys
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from zyg import rules
from zyg.frontend.capture import capture
from zyg.ir.analysis import is_call_of, use_counts
from zyg.ir.core import Block, Const, Function, Instr, Target, Value, clone, clone_blocks
from zyg.ir.types import BOOL, NONE, OBJECT
from zyg.transforms import transform_of

from ..identity import lasts
from ..objects import calls, foreign, reentry, sources, telling, user_rules
from .activity import ARITHMETIC
from .comprehensions import drop_unused, plain_variables, replace, taken_in
from .copied import find_values, onward, values_used
from .items import steps_a_loop
from .stepped_in import SteppedIn
from .stepping import ONLY_OF_GENERATORS, generator_of, named

NOTHING = Const(None, NONE)

# What may stand between the call and the loop: it has no effect, and does not ask whether there was a call.
_WITHOUT_EFFECT = frozenset("is is_not truth list tuple jump branch".split())
# What may stand between the calls of generators that are arguments together: it does not tell whether there was such a call before.
_BETWEEN = frozenset({"global", "get_cell", *ARITHMETIC})
# By how many instructions a function may grow: each takes its time to compile.
_GROWTH = 200
_DEEPEST = 4  # how many generators within each other


class Known:
    """A generator function that a name stood for when a function was compiled, or what the library has in the place of one."""

    __slots__ = ("code", "epoch", "function")

    def __init__(self, function: Any):
        self.function = function
        self.code = function.__code__ if type(function) is FunctionType else None
        self.epoch = rules.epoch()


def as_it_was(known: Known) -> Any:
    """The function that was taken in, if its code still says what it does; else None."""
    f = known.function
    if known.code is not None and f.__code__ is not known.code:
        return None
    if known.epoch != rules.epoch():
        if _has_rule(f) if known.code is None else not _is_its_code(f):
            return None
        known.epoch = rules.epoch()
    return f


def are_natural(*numbers: Any) -> bool:
    """Whether these are ints that say how many items there are."""
    return all(type(n) is int and 0 <= n <= sys.maxsize for n in numbers)


def _has_rule(f: Any) -> bool:
    return rules.rule_for(f) is not None or user_rules.tangent_of(f) is not None


def _is_its_code(f: FunctionType) -> bool:
    """Whether nothing but its code says what a call of a function is under differentiation."""
    return not (
        rules.singled_out(f.__code__)
        or _has_rule(f)
        or f in calls.KNOWN
        or transform_of(f) is not None
        or foreign.is_compiler(f)
        or foreign.is_foreign(f)
        or telling.is_told(f)
        or reentry.trapped(f) is not None
    )


def with_generators(function: Function, namespace: dict[str, Any], within: tuple[CodeType, ...] = ()) -> Function:
    """The function with generators taken into its loops; itself if there are none. `namespace`: its global variables; `within`: the
    generators that it is taken into itself."""
    code = function.attrs.get("code")
    if not isinstance(code, CodeType) or len(within) > _DEEPEST:
        return function
    if not any(i.op == "iter" for _, i in function.instructions()):
        return function
    f = clone(function)
    limit = _size(f) + _GROWTH
    found = False
    while (loop := _next_loop(f, namespace, (*within, code), limit)) is not None:
        loop.take_in()
        found = True
    if not found:
        return function
    drop_unused(f)
    plain_variables(f)
    return f


def _size(f: Function) -> int:
    return sum(len(b.instrs) for b in f.blocks)


def _next_loop(
    f: Function, namespace: dict[str, Any], within: tuple[CodeType, ...], limit: int
) -> _Loop | SteppedIn | None:
    """The next loop over a generator that can be taken in, or what takes the steps of one; the function may get as long as `limit`."""
    counts = use_counts(f)
    for _, instr in f.instructions():
        if is_call_of(instr, sources.leave):
            counts[instr.operands[1]] -= 1
    makers = {r: (b, i) for b, i in f.instructions() for r in i.results}
    steps: dict[Value, list[tuple[Block, Instr]]] = {}
    passed = {a for b in f.blocks for t in onward(b) for a in t.args}
    for block in f.blocks:
        if len(block.instrs) == 2 and block.instrs[0].op == "next" and steps_a_loop(block, block.instrs[0]):
            steps.setdefault(block.instrs[0].operands[0], []).append((block, block.instrs[0]))
    for block in f.blocks:
        for instr in block.instrs:
            if (
                instr.op != "iter"
                or instr.attrs.get("looked_at")
                or instr.result not in steps
                or counts[instr.result] != len(steps[instr.result])
            ):
                continue
            made = makers.get(instr.operands[0])
            if made is None or made[1].op != "call_object" or counts[made[1].result] != 1:
                continue
            instr.attrs["looked_at"] = True
            if made[1].result in passed or instr.result in passed:
                continue
            if len(steps[instr.result]) > 1:
                stepped = _stepped_in(
                    f, block, made, instr, steps[instr.result], limit, makers, counts, namespace, within
                )
                if stepped is not None:
                    return stepped
                continue
            ((head, step),) = steps[instr.result]
            loop = _Loop(f, block, made, instr, head, step, limit)
            if loop.fits() and loop.find_generator(makers, counts, namespace, within):
                return loop
    return None


def _stepped_in(
    f: Function,
    block: Block,
    call: tuple[Block, Instr],
    made: Instr,
    steps: list[tuple[Block, Instr]],
    limit: int,
    makers: dict[Value, tuple[Block, Instr]],
    counts: Any,
    namespace: dict[str, Any],
    within: tuple[CodeType, ...],
) -> SteppedIn | None:
    """The steps of a generator that stand in several places, if it is certain which it is."""
    home, instr = call
    if home is not block and _comes_again(block, home):
        return None
    found = _called(f, instr, makers, counts, namespace, within)
    if found is None or found.known is not None or found.counts:
        return None
    arguments = dict(zip(found.code.co_varnames, instr.operands[1:]))
    position = instr.position if found.of_library else None
    g = _prepared(found.code, arguments, found.cells, namespace, within, position)
    if g is None or _size(g) * len(steps) > limit - _size(f):
        return None
    stepped = SteppedIn(f, block, instr, made, steps, g)
    return stepped if stepped.fits() else None


def _comes_again(block: Block, without: Block) -> bool:
    """Whether control may come from a block to the same again, by a way that does not go through another one."""
    seen: set[Block] = set()
    work = [t.block for t in onward(block)]
    while work:
        following = work.pop()
        if following is block:
            return True
        if following is not without and following not in seen:
            seen.add(following)
            work += [t.block for t in onward(following)]
    return False


class _Callee(NamedTuple):
    """A generator function that is called."""

    code: CodeType
    cells: dict[str, Value]  # for its free variables
    known: Known | None  # what tells that it is still this one, unless it can be no other
    of_library: bool = False
    counts: tuple[Value, ...] = ()  # arguments that have to be natural numbers, which they most likely are


def _called(
    f: Function,
    call: Instr,
    makers: dict[Value, tuple[Block, Instr]],
    counts: Any,
    namespace: dict[str, Any],
    within: tuple[CodeType, ...],
) -> _Callee | None:
    """The generator function that a call is of, if that is known, and its code may stand in `within`."""
    callee, *arguments = call.operands
    made = makers.get(callee)
    if made is None or call.attrs["keywords"]:
        return None
    certain = "certain" in call.attrs
    cells: dict[str, Value] = {}
    library = generator_of(makers, call, namespace)
    if library is not None:
        called, code, numbers = library
        if _has_rule(called):
            return None
        return _Callee(code, cells, None if certain else Known(called), True, () if certain else numbers)
    known = None
    if made[1].op == "global":
        g = namespace.get(made[1].attrs["name"])
        if type(g) is not FunctionType or g.__globals__ is not namespace or g.__closure__ is not None:
            return None
        if not lasts(g) or not _is_its_code(g):
            return None
        code = g.__code__
        known = None if certain else Known(g)
    elif made[1].op == "make_function":
        code = made[1].attrs["code"]
        calls = sum(
            i.op == "call_object" and i.operands[0] is callee and callee not in i.operands[1:]
            for _, i in f.instructions()
        )
        if calls != counts[callee] or not {"closure", "annotations"}.issuperset(made[1].attrs["has"]):
            return None
        if rules.singled_out(code):
            return None
        if "closure" in made[1].attrs["has"]:
            closure = makers.get(made[1].operands[-1])
            if closure is None or closure[1].op != "tuple":
                return None
            cells = dict(zip(code.co_freevars, closure[1].operands, strict=True))
    else:
        return None
    if code.co_flags & 0x2AC != 0x20 or code.co_kwonlyargcount or code.co_argcount != len(arguments):
        return None
    if any(c is code for c in within) or code.co_filename != within[-1].co_filename:
        return None
    return _Callee(code, cells, known)


class _Loop:
    """A loop over what a call gives."""

    def __init__(
        self, f: Function, block: Block, call: tuple[Block, Instr], made: Instr, head: Block, step: Instr, limit: int
    ):
        self.f = f
        self.room = limit - _size(f)
        self.block = block  # where the loop begins
        self.home, self.call = call
        self.made = made
        # The calls of generator functions among the arguments, with what tells that they are of these; and the same as they are then.
        self.inner: list[tuple[Instr, Known | None]] = []
        self.counts: list[Value] = []  # arguments that have to be natural numbers
        self.certain: list[Instr] = []
        self.head = head
        self.step = step
        self.before = block  # the block from which the loop is entered
        self.known: Known | None = None  # unless it can only be this generator function
        self.generator: Function | None = None
        self.edges = f.predecessors()
        # The loop without its head: what can go on to the next item.
        self.inside: dict[Block, None] = {}

    def fits(self) -> bool:
        """Whether the loop is entered at one place, and goes through what is called once; and no handler waits for what the generator
        raises."""
        at = self.block.instrs.index(self.made)
        if any(b.handler is not None for b in (self.home, self.block, self.head)):
            return False
        if self.home is not self.block and _comes_again(self.block, self.home):
            return False
        if any(i.op not in _WITHOUT_EFFECT for i in self.block.instrs[at + 1 :]):
            return False
        entering = [source for source, _ in self.edges[self.head]]
        while self.before not in entering:
            onward = [t.block for t in self.before.successors() if self._leads_on(t.block)]
            if len(onward) != 1:
                return False
            self.before = onward[0]
        if self.before.terminator.op != "jump" or self.before is self.head or self.before.handler is not None:
            return False
        work = [source for source in entering if source is not self.before]
        while work:
            block = work.pop()
            if block is not self.head and block not in self.inside:
                self.inside[block] = None
                work += [source for source, _ in self.edges[block]]
        return self.f.entry not in self.inside and self.before not in self.inside

    def _leads_on(self, block: Block) -> bool:
        return len(self.edges[block]) == 1 and all(i.op in _WITHOUT_EFFECT for i in block.instrs)

    def _comes_at_once(self) -> bool:
        """Whether the loop comes right behind the call."""
        return self.home is self.block and self.block.instrs[self.block.instrs.index(self.made) - 1] is self.call

    def find_generator(
        self,
        makers: dict[Value, tuple[Block, Instr]],
        counts: Any,
        namespace: dict[str, Any],
        within: tuple[CodeType, ...],
    ) -> bool:
        """Whether what is called is a generator function that can be taken in."""
        found = _called(self.f, self.call, makers, counts, namespace, within)
        if found is None:
            return False
        self.known = found.known
        if self.known is not None:
            if not self._comes_at_once():
                return False
            self.counts += found.counts
            self._find_inner(makers, counts, namespace, within)
            if self.known.function in ONLY_OF_GENERATORS and not self._is_of_generators():
                return False
        certain: dict[Value, Value] = {}
        for call, _ in self.inner:
            result = certain[call.result] = Value(OBJECT)
            operands = [certain.get(v, v) for v in call.operands]
            self.certain.append(
                Instr("call_object", operands, [result], {**call.attrs, "certain": True}, [], call.position)
            )
        arguments = [certain.get(v, v) for v in self.call.operands[1:]]
        parameters = dict(zip(found.code.co_varnames, arguments))
        return self._prepare(found.code, parameters, found.cells, namespace, within, found.of_library)

    def _is_of_generators(self) -> bool:
        """Whether what it goes through comes from calls that are taken in, too: for `zip` and `islice` from calls of generator functions,
        which do nothing before their first step.  (Others ask for an iterator when they are called: all do, before any takes a step.)"""
        assert self.known is not None
        called = self.known.function
        made = {call.result for call, _ in self.inner}
        iterables = self.call.operands[1:2] if called is itertools.islice else self.call.operands[1:]
        if any(v not in made for v in iterables) or any(v in made for v in self.counts):
            return False
        known = [known.function for _, known in self.inner if known is not None]
        return called is enumerate or all(type(f) is FunctionType for f in known)

    def _find_inner(
        self,
        makers: dict[Value, tuple[Block, Instr]],
        counts: Any,
        namespace: dict[str, Any],
        within: tuple[CodeType, ...],
    ) -> None:
        """The calls right before this one that make generators for it, and for each other."""
        wanted = set(self.call.operands[1:])
        at = self.block.instrs.index(self.call)
        for instr in reversed(self.block.instrs[:at]):
            if instr.op == "call_object" and counts[instr.result] == 1 and instr.result in wanted:
                found = _called(self.f, instr, makers, counts, namespace, within)
                if found is None:
                    return
                self.inner.insert(0, (instr, found.known))
                self.counts += found.counts
                wanted.update(instr.operands[1:])
            elif instr.op == "getattr":
                if named(makers, instr.result, namespace) is None:
                    return
            elif instr.op not in _WITHOUT_EFFECT and instr.op not in _BETWEEN:
                return

    def _prepare(
        self,
        code: CodeType,
        arguments: dict[str, Value],
        cells: dict[str, Value],
        namespace: dict[str, Any],
        within: tuple[CodeType, ...],
        of_library: bool = False,
    ) -> bool:
        """The generator's own code, with arguments and cells in the places of parameters and free variables."""
        g = _prepared(code, arguments, cells, namespace, within, self.call.position if of_library else None)
        if g is None:
            return False
        yields = sum(i.op == "yield" for _, i in g.instructions())
        body = sum(len(b.instrs) for b in self.inside)
        if _size(g) + body * yields > self.room:
            return False
        self.generator = g
        return True

    # ---- the loop with the generator's code

    def take_in(self) -> None:
        f, g, head = self.f, self.generator, self.head
        assert g is not None
        out = head.terminator.targets[1]
        item = self.step.results[1]
        into = head.terminator.targets[0]
        entered = next(t for t in self.before.successors() if t.block is head)
        moved = [self.call, self.made, *[call for call, _ in self.inner]]
        for block in {self.block, self.home}:
            block.instrs = [i for i in block.instrs if i not in moved]
        for block in f.blocks:
            block.instrs[:] = [
                i for i in block.instrs if not (is_call_of(i, sources.leave) and i.operands[1] is self.made.result)
            ]
        # What the loop changes, and what is made in it and used behind it, comes from several places now.
        inside = {*self.inside, head}
        made_inside = {v for b in self.inside for v in (*b.params, *[r for i in b.instrs for r in i.results])}
        outside = {v for b in f.blocks if b not in inside for v in values_used(b)}
        made_inside.add(item)
        variables: dict[Value, None] = dict.fromkeys([*head.params, *[v for v in made_inside if v in outside]])
        assigned: dict[Block, list[tuple[Value, Value]]] = {}  # at the ends of blocks

        g.entry.params = []
        resumed: list[Block] = []
        copies: list[Block] = []
        stands_for: dict[
            Block, dict[Value, Value]
        ] = {}  # per copied block what takes the place of the values of the loop
        for block in list(g.blocks):
            while (at := next((n for n, i in enumerate(block.instrs) if i.op == "yield"), None)) is not None:
                given = block.instrs[at]
                after = Block(f"{block.name}.resumed")
                after.in_iterator = block.in_iterator
                after.instrs = block.instrs[at + 1 :]
                values: dict[Value, Value] = {item: given.operands[0]}
                names = f"{block.name}.given"
                blocks = clone_blocks(list(self.inside), values, lambda name, names=names: f"{names}.{name}")
                originals = dict(zip(self.inside, blocks, strict=True))
                target = Target(originals.get(into.block, into.block), [values.get(a, a) for a in into.args])
                if into.block is head:  # a loop without a body
                    target = Target(after)
                    assigned[block] = list(zip(head.params, [values.get(a, a) for a in into.args], strict=True))
                assigned.setdefault(block, []).append((item, given.operands[0]))
                block.instrs[at:] = [Instr("jump", targets=[target], position=given.position)]
                for copy in blocks:
                    stands_for[copy] = values
                    for t in copy.successors():
                        if t.block is head:
                            back = Block(f"{copy.name}.on")
                            back.instrs = [Instr("jump", targets=[Target(after)], position=copy.terminator.position)]
                            assigned[back] = list(zip(head.params, t.args, strict=True))
                            t.block, t.args = back, []
                            copies.append(back)
                copies += blocks
                resumed.append(after)
                block = after
        parts = [*g.blocks, *resumed]
        for block in parts:
            if block.terminator.op == "return":
                ends = Instr("jump", targets=[Target(out.block, list(out.args))], position=block.terminator.position)
                block.instrs[-1] = ends
        self._enter(entered, g.entry, assigned)
        at = f.blocks.index(self.before) + 1
        f.blocks[at:at] = [*([self.other] if self.other is not None else []), *parts, *copies]
        if self.known is None:  # the loop as it was is not wanted
            f.blocks[:] = [b for b in f.blocks if b not in inside]
        find_values(f, variables, assigned, stands_for)

    def _enter(self, entered: Target, start: Block, assigned: dict[Block, list[tuple[Value, Value]]]) -> None:
        """Go to the generator's code, if it is the generator that it was."""
        position = self.call.position
        first = Block(f"{self.before.name}.generator")
        first.instrs = [*self.certain, Instr("jump", targets=[Target(start)], position=position)]
        assigned[first] = list(zip(self.head.params, entered.args, strict=True))
        self.other: Block | None = None
        if self.known is None:
            self.before.instrs[-1] = Instr("jump", targets=[Target(first)], position=position)
        else:
            other = self.other = Block(f"{self.before.name}.otherwise")
            other.instrs = [*[call for call, _ in self.inner], self.call, self.made, self.before.instrs.pop()]
            calls = [(self.call, self.known), *self.inner]
            block = self.before
            questions: list[tuple[Value, list[Value]]] = [
                (call.operands[0], [Const(as_it_was, OBJECT), Const(known, OBJECT)])
                for call, known in calls
                if known is not None
            ]
            if self.counts:
                questions.append((Const(True, OBJECT), [Const(are_natural, OBJECT), *self.counts]))
            for n, (found, operands) in enumerate(questions):
                following = first if n + 1 == len(questions) else Block(f"{self.before.name}.and.{n}")
                expected, same, truth = Value(OBJECT), Value(OBJECT), Value(BOOL)
                block.instrs += [
                    Instr("call_object", operands, [expected], {"keywords": ()}, [], position),
                    Instr("is", [found, expected], [same], {}, [], position),
                    Instr("truth", [same], [truth], {}, [], position),
                    Instr("branch", [truth], targets=[Target(following), Target(other)], position=position),
                ]
                if following is not first:
                    self.f.blocks.insert(self.f.blocks.index(block) + 1, following)
                block = following
            self.f.blocks.insert(self.f.blocks.index(self.before) + len(questions), first)
            return
        self.f.blocks.insert(self.f.blocks.index(self.before) + 1, first)


def _prepared(
    code: CodeType,
    arguments: dict[str, Value],
    cells: dict[str, Value],
    namespace: dict[str, Any],
    within: tuple[CodeType, ...],
    position: Any,
) -> Function | None:
    """A generator's own code, with arguments and cells in the places of parameters and free variables; None if it cannot be taken in.
    `position`: where it is called, if it is of the library."""
    if "__class__" in code.co_freevars:  # `super()` asks for the first argument of the function that it is in
        return None
    g = clone(taken_in(capture(code, sources.leave), namespace))
    _loops_for_yield_from(g)
    if position is not None:
        _iterators_of_their_own(g)
    g = clone(with_generators(g, namespace, within))
    instrs = [i for _, i in g.instructions()]
    if not any(i.op == "yield" for i in instrs) or any(b.handler is not None for b in g.blocks):
        return None
    if any(i.op in ("new_cell", "yield_from", "locals", "build_class", "name") for i in instrs):
        return None
    if position is not None:
        for instr in instrs:
            instr.position = position
    instead = {p: arguments[p.name] for p in g.params}
    for block in g.blocks:
        block.in_iterator = block.in_iterator or ("generator" if position is None else "library")
        for instr in list(block.instrs):
            if instr.op == "free_cell":
                instead[instr.result] = cells[instr.attrs["name"]]
                block.instrs.remove(instr)
            elif instr.op == "yield":
                instead[instr.result] = NOTHING  # nothing is sent
    replace(g, instead)
    return g


def _iterators_of_their_own(g: Function) -> None:
    """`it = iter(x)`, and `for v in it: break` for a step of it, in what stands for the library: `it` is what the loop goes through."""
    makers = {r: i for _, i in g.instructions() for r in i.results}
    own: dict[Value, Value] = {}
    for block in g.blocks:
        for instr in list(block.instrs):
            called = makers.get(instr.operands[0]) if instr.op == "call_object" else None
            if called is not None and called.op == "global" and called.attrs["name"] == "iter":
                instr.op, instr.operands, instr.attrs = "iter", instr.operands[1:], {}
                own[instr.result] = instr.result
            elif instr.op == "iter" and instr.operands[0] in own:
                own[instr.result] = instr.operands[0]
                block.instrs.remove(instr)
    if not own:
        return
    for block in list(g.blocks):
        block.instrs[:] = [i for i in block.instrs if not (is_call_of(i, sources.leave) and i.operands[1] in own)]
        at = next((n for n, i in enumerate(block.instrs) if i.op == "next"), 0)
        if at:
            step = Block(f"{block.name}.step")
            step.instrs = block.instrs[at:]
            block.instrs[at:] = [Instr("jump", targets=[Target(step)], position=step.instrs[0].position)]
            g.blocks.insert(g.blocks.index(block) + 1, step)
    replace(g, {v: iterator for v, iterator in own.items() if v is not iterator})


def _loops_for_yield_from(g: Function) -> None:
    """`yield from` as a loop that yields, which it is where nothing is sent and its value is not used."""
    counts = use_counts(g)
    for block in list(g.blocks):
        while (at := next((n for n, i in enumerate(block.instrs) if i.op == "yield_from"), None)) is not None:
            instr = block.instrs[at]
            if counts[instr.result]:
                break
            iterator, more, item = Value(OBJECT), Value(BOOL), Value(OBJECT)
            head, body, after = (Block(f"{block.name}.{what}") for what in ("from", "give", "given"))
            after.instrs = block.instrs[at + 1 :]
            position = instr.position
            block.instrs[at:] = [
                Instr("iter", [instr.operands[0]], [iterator], {}, [], position),
                Instr("jump", targets=[Target(head)], position=position),
            ]
            head.instrs = [
                Instr("next", [iterator], [more, item], {}, [], position),
                Instr("branch", [more], targets=[Target(body), Target(after)], position=position),
            ]
            body.instrs = [
                Instr("yield", [item], [Value(OBJECT)], {}, [], position),
                Instr("jump", targets=[Target(head)], position=position),
            ]
            where = g.blocks.index(block) + 1
            g.blocks[where:where] = [head, body, after]
            block = after


__all__ = ["as_it_was", "with_generators"]
