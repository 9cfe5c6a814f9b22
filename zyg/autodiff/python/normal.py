"""The form of object SSA that is differentiated.

* Every block can be reached, and one block returns.
* A block with a handler has at most one instruction that has a reverse and may raise, and none that may raise behind it.  An
  exception then means that nothing of the block has happened, and the way back from the handler leads to the start of it.
  Or it has several that only look, and a landing for exceptions (`landing`).
* Such a block has one edge into it and no parameters, so that nothing has to be known of it when it was not completed.
* What a `for` loop goes through gives items that an `item` instruction takes apart, at the head of the loop's body.
* A `yield` is alone in its block; so is, in a generator, the return.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any, NamedTuple

from zyg.errors import Unsupported
from zyg.frontend.bytecode import SUPER_HINT, SUPER_OF_ANOTHER, assigns_first
from zyg.ir.analysis import is_call_of, use_counts
from zyg.ir.core import Block, Const, Function, Instr, Target, Value, clone
from zyg.ir.types import BOOL, OBJECT

from .. import objects
from ..objects import delegation, held_attributes, reach, sources
from ..trying import ENTER, LEAVE
from . import begun, escaping, landing, sites
from .above import above
from .items import iterate_what_is_passed, separate_items
from .starred import pass_parts

# Ops that do not raise, so that a block may hold any number of them.
_SILENT = frozenset(
    "tuple list is is_not make_slice free_cell unbound assertion_error string new_cell set_cell make_function push_exception "
    "pop_exception forget item jump return branch switch match_sequence match_mapping locals build_class".split()
)

_CLEANING = frozenset("push_exception pop_exception unbound forget reraise jump".split())

# Where a generator waits for its consumer.
SUSPENDED = frozenset({"yield", "yield_from"})

# Ops that may raise, and have no reverse.
_WITHOUT_REVERSE = frozenset("global check_match import_name import_from".split())


class Normal(NamedTuple):
    """A function in normal form."""

    function: Function
    exits: list[
        Block
    ]  # where a generator may be left: the return, each `yield`, and what exceptions that leave it go through
    # What exceptions that leave a watched function go through. It goes on to the return, as if the exception were the result:
    # `compile` has it raised again there.
    left: Block | None
    landings: dict[Block, Block]  # of blocks with several operations


def normalise(function: Function, watched: bool = False, brief: bool = False) -> Normal:
    """A copy of a decoded function, in normal form; in `brief` each operation has a block of its own where there is a handler."""
    f = clone(function)
    generator = bool(f.attrs.get("generator"))
    _drop_cleaning(f)
    _explicit_super(f)
    _check_keys(f)
    _set_items_of_displays(f)
    if not brief:
        _copy_attributes(f)
    for _, instr in f.instructions():
        if instr.op == "dict_setitem":  # of a dict comprehension, which is like any other dict
            instr.op = "setitem"
    _pass_directly(f)
    handed = None if brief else Value(OBJECT)
    counts = use_counts(f)
    for block in list(f.blocks):
        _expand_yield_from(f, block, handed, counts)
    _remove_unreachable(f)
    iterate_what_is_passed(f)
    separate_items(f, brief)
    for block in list(f.blocks):
        _separate_yields(f, block)
    handlers = {b.handler.block for b in f.blocks if b.handler is not None}
    catching = {h for h in handlers if not _only_cleans_up(h)}
    left = _handle_what_leaves(f, generator) if watched else None
    several: list[Block] = []
    for block in list(f.blocks):
        if block.handler is not None:
            several += _split_at_raising(f, block, brief)
    _one_return(f, alone=generator, left=None if generator else left)
    _single_entry_of_trying_blocks(f)
    _remove_unreachable(f)
    if handed is not None and use_counts(f)[handed]:
        made = Instr("call_object", [Const(delegation.handed_over, OBJECT)], [handed], {"keywords": ()})
        f.entry.instrs.insert(0, made)
    _tell_of_trying(f, catching)
    landings = landing.add_landings(f, several)
    _unique_names(f)
    _take_pullbacks(f)
    exits = [b for b in f.blocks if b.terminator.op == "return" or b.instrs[0].op in SUSPENDED or b is left]
    return Normal(f, exits if generator else [], left, landings)


def has_handlers(function: Function) -> bool:
    """Whether there is a handler that does more than to clean up and raise again."""
    return any(b.handler is not None and not _only_cleans_up(b.handler.block) for b in function.blocks)


def _drop_cleaning(f: Function) -> None:
    """Comprehensions that are part of the function (3.12) put variables back when they raise: nobody sees that. (What puts
    sys.exc_info() back has to stay.)"""
    for block in f.blocks:
        if block.handler is not None and _only_cleans_up(block.handler.block, _CLEANING - {"pop_exception"}):
            block.handler = None


def _only_cleans_up(block: Block, ops: frozenset[str] = _CLEANING) -> bool:
    seen: set[Block] = set()
    work = [block]
    while work:
        b = work.pop()
        if b not in seen:
            seen.add(b)
            if any(i.op not in ops for i in b.instrs):
                return False
            work.extend(successors(b))
    return True


def _handle_what_leaves(f: Function, generator: bool) -> Block | None:
    """A handler for all that is raised and not handled: it leaves the pullback with the exception."""
    raising = [b for b in f.blocks if b.handler is None and any(map(may_raise, b.instrs))]
    if not raising:
        return None
    exception = Value(OBJECT, "exception")
    caught, mark, left = Block("left", [exception]), Block("left.mark"), Block("left.for_good")
    for block in raising:
        block.handler = Target(caught)
    if not generator:
        caught.instrs = [Instr("return", [exception])]
        f.blocks.append(caught)
        return caught
    caught.instrs = [Instr("jump", targets=[Target(mark)])]
    mark.instrs = [Instr("jump", targets=[Target(left)])]
    left.instrs.append(Instr("reraise", [exception]))
    f.blocks += [caught, mark, left]
    return left


def _take_pullbacks(f: Function) -> None:
    """At the start of each handler: the pullback of what the exception has left, if it came out of a call."""
    for block in dict.fromkeys(b.handler.block for b in f.blocks if b.handler is not None):
        made = Instr("call_object", [Const(escaping.take, OBJECT), block.params[0]], [Value(OBJECT)], {"keywords": ()})
        block.instrs.insert(0, made)


def _pass_directly(f: Function) -> None:
    """`f(*[x, y])` is `f(x, y)`, and `f(**kwargs)` with the parameter `**kwargs`, or with a display of a dict, needs no copy in between."""
    code = f.attrs.get("code")
    passed_on = f.params[-1] if code is not None and code.co_flags & 0x08 else None
    counts = use_counts(f)
    for block in f.blocks:
        made = {i.results[0]: i for i in block.instrs if len(i.results) == 1}
        for instr in block.instrs:
            if instr.op != "call_spread":
                continue
            if len(instr.operands) == 3:
                space = made.get(instr.operands[2])
                merge = next(
                    (i for i in block.instrs if i.op == "dict_merge" and i.operands[0] is instr.operands[2]), None
                )
                if (
                    space is not None
                    and space.op == "dict"
                    and not space.operands
                    and counts[space.result] == 2
                    and merge is not None
                    and (merge.operands[1] is passed_on or _is_display(merge.operands[1], block, merge, counts))
                ):
                    instr.operands[2] = merge.operands[1]
                    merge.op = space.op = "dropped"
                else:
                    pass_parts(block, instr, counts)
                continue
            arguments = made.get(instr.operands[1])
            if arguments is not None and arguments.op in ("tuple", "list") and counts[arguments.result] == 1:
                instr.op, instr.operands = "call_object", [instr.operands[0], *arguments.operands]
                instr.attrs = {**instr.attrs, "keywords": ()}
                arguments.op = "dropped"
            else:
                pass_parts(block, instr, counts)
        block.instrs[:] = [i for i in block.instrs if i.op != "dropped"]


def _is_display(v: Value, block: Block, user: Instr, counts: Counter[Value]) -> bool:
    """Whether a value is a dict that is written out in front of its only user."""
    before = block.instrs[: block.instrs.index(user)]
    made = next((i for i in before if v in i.results), None)
    fills = [i for i in before if i.op in _FILL and i.operands[0] is v and v not in i.operands[1:]]
    return made is not None and made.op == "dict" and counts[v] == len(fills) + 1


_FILL = frozenset({"setitem", "dict_update"})


def _expand_yield_from(f: Function, block: Block, handed: Value | None, counts: Counter[Value]) -> None:
    """`yield from` as a loop that yields what `delegation.delegated` gives, and hands on what it is sent; or as it is, for a generator
    that can be handed over to (`handed`: the list of these). Not within a handler: that it counts as tried has to be told at each step."""
    if block.handler is not None:
        handed = None
    for n, instr in enumerate(block.instrs):
        if instr.op != "yield_from":
            continue
        position = instr.position
        made_for = handed is not None and _is_made_for(block.instrs[:n], instr, counts)
        iterator, sent, pair, going_on, more, item, got = (Value(OBJECT) for _ in range(7))
        more.type = BOOL
        head, body, after = (Block(f"{block.name}.{what}") for what in ("from", "give", "given"))
        after.params = [instr.result]
        after.instrs = block.instrs[n + 1 :]
        start = Instr("iter", [instr.operands[0]], [iterator], {}, [], position)
        goes = Instr("jump", targets=[Target(head, [Const(None, OBJECT)])], position=position)
        block.instrs[n:] = [start, goes] if handed is None else [goes]
        head.params = [sent]
        step = [Const(delegation.delegated, OBJECT), iterator, sent]
        head.instrs = [
            Instr("call_object", step, [pair], {"keywords": ()}, [], position),
            Instr("unpack", [pair], [going_on, item], {"count": 2}, [], position),
            Instr("truth", [going_on], [more], {}, [], position),
            Instr("branch", [more], targets=[Target(body), Target(after, [item])], position=position),
        ]
        give = Instr("yield", [item], [got], {}, [], position)
        body.instrs = [give, Instr("jump", targets=[Target(head, [got])], position=position)]
        for made in (head, body, after):
            if block.handler is not None:
                made.handler = Target(block.handler.block, list(block.handler.args))
        blocks = [head, body, after]
        if handed is not None:
            iterable = None if made_for else instr.operands[0]
            blocks[:0] = _begin(block, iterable, iterator, handed, after, position)
        at = f.blocks.index(block)
        f.blocks[at + 1 : at + 1] = blocks
        _expand_yield_from(f, after, handed, counts)
        return


def _is_made_for(before: list[Instr], instr: Instr, counts: Counter[Value]) -> bool:
    """Whether what `yield from` goes through is what a function gives that was called for it, just before. (Methods are called without
    being read.)"""
    if not before or before[-1].op != "call_object" or before[-1].results != instr.operands:
        return False
    call = before[-1]
    callee = call.operands[0]
    read = any(i.op == "getattr" and i.results == [callee] for i in before)
    return counts[call.result] == 1 and not call.attrs["keywords"] and not isinstance(callee, Const) and not read


def _begin(
    block: Block, iterable: Value | None, iterator: Value, handed: Value, after: Block, position: Any
) -> list[Block]:
    """At the end of a block: `yield from` the iterable, or what the call gives that the block ends with, in one go, if it is a generator
    that can be handed over to."""
    begins, can_be, possible, value = (Value(OBJECT) for _ in range(4))
    possible.type = BOOL
    otherwise = block.instrs.pop()
    before, here, behind, other = (Block(f"{block.name}.{what}") for what in ("mark", "all", "end", "other"))

    def call(function: Any, *operands: Value, result: Value) -> Instr:
        return Instr("call_object", [Const(function, OBJECT), *operands], [result], {"keywords": ()}, [], position)

    if iterable is not None:
        start = call(begun.begin_over, iterable, handed, result=begins)
    else:
        made = block.instrs.pop()
        site = Const(sites.new_site(), OBJECT)
        start = call(begun.begin, site, made.operands[0], handed, *made.operands[1:], result=begins)
        start.position = made.position
    block.instrs += [
        start,
        call(begun.is_handed_over, begins, result=can_be),
        Instr("truth", [can_be], [possible], {}, [], position),
        Instr("branch", [possible], targets=[Target(before), Target(other)], position=position),
    ]
    before.instrs = [Instr("jump", targets=[Target(here)], position=position)]
    here.instrs = [
        Instr("yield_from", [begins], [value], {}, [], position),
        Instr("jump", targets=[Target(behind)], position=position),
    ]
    behind.instrs = [Instr("jump", targets=[Target(after, [value])], position=position)]
    other.instrs = [call(begun.iterator_of, begins, result=iterator), otherwise]
    return [before, here, behind, other]


def may_raise(instr: Instr) -> bool:
    return (
        instr.op not in _SILENT and "counts" not in instr.attrs and not is_call_of(instr, sources.finish, ENTER, LEAVE)
    )


def successors(block: Block) -> list[Block]:
    """Where control may go from a block, handler included."""
    found = [t.block for t in block.successors()]
    if block.handler is not None:
        found.append(block.handler.block)
    return found


def _remove_unreachable(f: Function) -> None:
    seen = {f.entry}
    work = [f.entry]
    while work:
        for b in successors(work.pop()):
            if b not in seen:
                seen.add(b)
                work.append(b)
    f.blocks[:] = [b for b in f.blocks if b in seen]


def _split_at_raising(f: Function, block: Block, brief: bool) -> list[Block]:
    """End a block behind each instruction that has a reverse and may raise, before the next one that may raise; but let those that
    only look share blocks, unless in `brief`. The blocks with several are returned."""
    handler = block.handler
    assert handler is not None
    groups: list[list[Instr]] = [[]]
    full = True  # what comes before the first one that may raise needs no handler
    looking = [0]  # per group how many operations share it
    for instr in block.instrs:
        if may_raise(instr):
            reverses = instr.op not in _WITHOUT_REVERSE
            looks = not brief and landing.only_looks(instr)
            shares = looks or landing.may_be_last(instr)
            if full or (looking[-1] and reverses and (not shares or looking[-1] == landing.MOST)):
                groups.append([])
                looking.append(0)
            full = reverses and not looks
            looking[-1] += shares
        elif not landing.stands_between(instr) if looking[-1] else instr.op not in objects.CONSTANT:
            full = True  # a list behind a global, say: it has been made when the call that it is for raises
        groups[-1].append(instr)
    block.instrs = groups[0]
    block.handler = None
    current, at = block, f.blocks.index(block)
    several: list[Block] = []
    for n, group in enumerate(groups[1:], 1):
        following = Block(f"{block.name}.{n}")
        following.instrs = group
        following.handler = Target(handler.block, list(handler.args))
        following.in_iterator = block.in_iterator
        current.instrs.append(Instr("jump", targets=[Target(following)], position=group[0].position))
        f.blocks.insert(at + n, following)
        current = following
        if looking[n] > 1:
            several.append(following)
    return several


def _one_return(f: Function, alone: bool, left: Block | None) -> None:
    returning = [b for b in f.blocks if b.terminator.op == "return"]
    if not alone and left is None and len(returning) <= 1 and not any(b.handler is not None for b in returning):
        return
    value = Value(OBJECT, "")
    end = Block("end", [value])
    for block in returning:
        ret = block.instrs.pop()
        block.instrs.append(Instr("jump", targets=[Target(end, list(ret.operands))], position=ret.position))
    end.instrs.append(Instr("return", [value]))
    f.blocks.append(end)
    if alone:
        mark, last = Block("end.mark"), Block("end.return")
        last.instrs = end.instrs
        mark.instrs = [Instr("jump", targets=[Target(last)])]
        end.instrs = [Instr("jump", targets=[Target(mark)])]
        f.blocks += [mark, last]


def _single_entry_of_trying_blocks(f: Function) -> None:
    edges = f.predecessors()
    handlers = {b.handler.block for b in f.blocks if b.handler is not None}
    for block in list(f.blocks):
        if block.handler is None:
            continue
        if len(edges[block]) == 1 and not block.params and block is not f.entry and block not in handlers:
            continue
        # What was the block takes the edges and the parameters; its instructions move.
        inner = Block(f"{block.name}.try")
        inner.instrs, block.instrs = block.instrs, []
        inner.handler, block.handler = block.handler, None
        inner.in_iterator = block.in_iterator
        block.instrs.append(Instr("jump", targets=[Target(inner)], position=inner.instrs[0].position))
        f.blocks.insert(f.blocks.index(block) + 1, inner)


def _tell_of_trying(f: Function, catching: set[Block]) -> None:
    """Have it counted when control is in the blocks whose exceptions go to these handlers (but not while a generator is
    suspended there)."""
    if not catching:
        return
    _catch_what_is_thrown(f, catching)
    inside = {b for b in f.blocks if b.handler is not None and b.handler.block in catching and not _yields(b)}
    _take_in_silent(f, inside)
    ends = {b.handler.block for b in inside if b.handler is not None} - inside
    for block in list(f.blocks):
        if block.terminator.op == "return" and block in inside:
            block.instrs.insert(-1, _call(LEAVE))
        for target in block.terminator.targets:
            if (target.block in inside or target.block in ends) == (block in inside):
                continue
            told = _call(LEAVE) if block in inside else _call(ENTER, Const(None, OBJECT))
            if len(block.terminator.targets) == 1:
                block.instrs.insert(-1, told)
            else:
                between = Block(f"{block.name}.told")
                between.in_iterator = block.in_iterator
                between.instrs = [told, Instr("jump", targets=[Target(target.block, target.args)])]
                target.block, target.args = between, []
                f.blocks.insert(f.blocks.index(block) + 1, between)
    for block in ends:
        block.instrs.insert(0, _call(LEAVE))


def _yields(block: Block) -> bool:
    return block.instrs[0].op == "yield"


def _call(function: Any, *operands: Value) -> Instr:
    return Instr("call_object", [Const(function, OBJECT), *operands], [Value(OBJECT)], {"keywords": ()})


def _catch_what_is_thrown(f: Function, catching: set[Block]) -> None:
    """What is thrown into a generator is raised again where it counts as tried."""
    for block in list(f.blocks):
        handler = block.handler
        if handler is None or handler.block not in catching or not _yields(block):
            continue
        exception = Value(OBJECT, "exception")
        thrown, again = Block(f"{block.name}.thrown", [exception]), Block(f"{block.name}.again")
        thrown.instrs = [Instr("jump", targets=[Target(again)])]
        again.instrs = [Instr("reraise", [exception])]
        again.handler = handler
        block.handler = Target(thrown)
        at = f.blocks.index(block)
        f.blocks[at + 1 : at + 1] = [thrown, again]


def _take_in_silent(f: Function, inside: set[Block]) -> None:
    """Blocks between others that do not raise, and therefore have no handler."""
    edges = f.predecessors()
    work = [t.block for b in inside for t in b.successors()]
    while work:
        block = work.pop()
        if block in inside or block.handler is not None or any(map(may_raise, block.instrs)):
            continue
        if all(source in inside and target is not source.handler for source, target in edges[block]):
            inside.add(block)
            work += [t.block for t in block.successors()]


def _separate_yields(f: Function, block: Block) -> None:
    for n, instr in enumerate(block.instrs):
        if instr.op != "yield":
            continue
        before, here, after = (Block(f"{block.name}.{what}") for what in ("mark", "yield", "resume"))
        after.instrs = block.instrs[n + 1 :]
        block.instrs[n:] = [Instr("jump", targets=[Target(before)], position=instr.position)]
        before.instrs = [Instr("jump", targets=[Target(here)], position=instr.position)]
        here.instrs = [instr, Instr("jump", targets=[Target(after)], position=instr.position)]
        if block.handler is not None:
            _note_cleaning(f, block.handler.block)
            here.handler, after.handler = (Target(block.handler.block, list(block.handler.args)) for _ in range(2))
        at = f.blocks.index(block)
        f.blocks[at + 1 : at + 1] = [before, here, after]
        _separate_yields(f, after)
        return


def _note_cleaning(f: Function, handler: Block) -> None:
    """Whether the generator does something when it is closed at a `yield` that has this handler: True; or the names of the exceptions
    that handlers are for, if these are classes that GeneratorExit is none of."""
    names = _names_of_others(f, handler)
    known = f.attrs.get("cleans_up", frozenset())
    f.attrs["cleans_up"] = True if known is True or not names else known | names


def _names_of_others(f: Function, handler: Block) -> frozenset[str]:
    """The names of the exceptions that a GeneratorExit is compared with on its way out of the generator; none if more is done there."""
    makers = {r: i for _, i in f.instructions() for r in i.results}
    names: set[str] = set()
    block: Block | None = handler
    seen: set[Block] = set()
    while block is not None:
        if block in seen or any(i.op not in _CLEANING and i.op not in _COMPARING for i in block.instrs):
            return frozenset()
        seen.add(block)
        last = block.terminator
        if last.op == "reraise":
            block = None if block.handler is None else block.handler.block
        elif last.op == "jump":
            block = last.targets[0].block
        else:
            check = makers.get(last.operands[0]) if last.op == "branch" else None
            if check is None or check.op != "check_match":
                return frozenset()
            classes = makers.get(check.operands[1])
            wanted = (
                []
                if classes is None
                else [classes]
                if classes.op == "global"
                else [makers.get(v) for v in classes.operands]
            )
            if not wanted or any(made is None or made.op != "global" for made in wanted):
                return frozenset()
            names |= {made.attrs["name"] for made in wanted if made is not None}
            block = last.targets[1].block
    return frozenset(names)


_COMPARING = frozenset({"global", "tuple", "check_match", "branch", "jump", "reraise"})


def _explicit_super(f: Function) -> None:
    """`super()` finds its arguments in the caller's frame: here they are passed. Of what is only called, the function is found, and
    the object passed to it."""
    makers = {r: i for _, i in f.instructions() for r in i.results}
    cell = next(
        (i.results[0] for _, i in f.instructions() if i.op == "free_cell" and i.attrs["name"] == "__class__"), None
    )
    if cell is None or not f.params:
        return
    counts = use_counts(f)
    for _, instr in f.instructions():
        if instr.op == "dict_merge":  # which names the callee in its errors
            counts[instr.operands[2]] -= 1
    made: dict[Value, tuple[Block, Instr]] = {}
    read: dict[Value, Instr] = {}
    for block, instr in list(f.instructions()):
        if instr.op == "getattr" and instr.operands[0] in made and counts[instr.operands[0]] == 1:
            read[instr.result] = instr
        if instr.op not in ("call_object", "call_spread"):
            continue
        if instr.operands[0] in read and counts[instr.operands[0]] == 1:
            getting = read[instr.operands[0]]
            home, making = made[getting.operands[0]]
            home.instrs.remove(making)
            x = making.operands[2]
            getting.operands[:] = [Const(above, OBJECT), *making.operands, Const(getting.attrs["name"], OBJECT)]
            getting.op, getting.attrs = "call_object", {"keywords": ()}
            if instr.op == "call_spread":
                _pass_first(block, instr, x, makers, counts)
            else:
                instr.operands.insert(1, x)
            continue
        if instr.op == "call_spread":
            continue
        callee = makers.get(instr.operands[0])
        if callee is None or callee.op != "global" or callee.attrs["name"] != "super" or len(instr.operands) != 1:
            continue
        if assigns_first(f.attrs["code"]):
            raise Unsupported(SUPER_OF_ANOTHER, instr.position, hint=SUPER_HINT)
        owner = Value(OBJECT)
        at = block.instrs.index(instr)
        fetch = Instr("get_cell", [cell], [owner], {"name": "__class__"}, [], instr.position)
        block.instrs.insert(at, fetch)
        instr.operands += [owner, f.params[0]]
        made[instr.result] = block, instr


def _pass_first(block: Block, call: Instr, x: Value, makers: dict[Value, Instr], counts: dict[Value, int]) -> None:
    """Let `f(*args)` be `f(x, *args)`."""
    args = call.operands[1]
    made = makers.get(args)
    if made is not None and made.op == "tuple" and counts[args] == 1:
        made.operands.insert(0, x)
        return
    whole = call.operands[1] = Value(OBJECT)
    if isinstance(args, Const):
        steps = [Instr("tuple", [x, *[Const(item, OBJECT) for item in args.value]], [whole], {}, [], call.position)]
    else:
        items = Value(OBJECT)
        steps = [
            Instr("list", [x], [items], {}, [], call.position),
            Instr("list_extend", [items, args], [], {}, [], call.position),
            Instr("list_to_tuple", [items], [whole], {}, [], call.position),
        ]
    at = block.instrs.index(call)
    block.instrs[at:at] = steps


def _check_keys(f: Function) -> None:
    """Displays of dicts and sets look at their keys first."""
    for block, instr in list(f.instructions()):
        if instr.op in ("set", "dict"):
            keys = [v for v in instr.operands[:: 1 + (instr.op == "dict")] if not isinstance(v, Const)]
            if keys:
                callee = Const(reach.check_keys, OBJECT)
                made = Instr("call_object", [callee, *keys], [Value(OBJECT)], {"keywords": ()}, [], instr.position)
                block.instrs.insert(block.instrs.index(instr), made)


def _set_items_of_displays(f: Function) -> None:
    """What `{**x, "a": y}` says of items comes into the dict by itself, and not by way of another dict."""
    counts = use_counts(f)
    for block in f.blocks:
        made: dict[Value, list[tuple[Any, Value]]] = {}
        instrs: list[Instr] = []
        for instr in block.instrs:
            items = _items_of_display(instr)
            if items is not None and counts[instr.result] == 1:
                made[instr.result] = items
            if instr.op == "dict_update" and instr.operands[1] in made:
                instrs[:] = [i for i in instrs if instr.operands[1] not in i.results]
                for key, value in made[instr.operands[1]]:
                    operands = [instr.operands[0], Const(key, OBJECT), value]
                    instrs.append(Instr("dict_setitem", operands, [], {}, [], instr.position))
            else:
                instrs.append(instr)
        block.instrs[:] = instrs


def _copy_attributes(f: Function) -> None:
    """What `{**vars(x)}`, `f(**vars(x))`, and the same of `x.__dict__`, take out of an object need not be its own dict, nor what
    `x.__dict__.update(d)` changes."""
    counts = use_counts(f)
    made = {r: i for _, i in f.instructions() for r in i.results}
    for block in f.blocks:
        for before, instr in pairwise(block.instrs):
            if len(before.results) != 1 or counts[before.result] != 1 or before.result not in instr.operands[:2]:
                continue
            of_dict = before.op == "getattr" and before.attrs["name"] == "__dict__"
            if instr.op == "getattr" and instr.attrs["name"] == "update" and of_dict and counts[instr.result] == 1:
                _update_attributes(block, before, instr)
            elif instr.op not in _TAKE_OUT or before.result is instr.operands[0]:
                continue
            elif of_dict:
                before.op, before.attrs = "call_object", {"keywords": ()}
                before.operands.insert(0, Const(held_attributes.held_in, OBJECT))
            elif before.op == "call_object" and len(before.operands) == 2 and not before.attrs["keywords"]:
                callee = made.get(before.operands[0])
                if callee is not None and callee.op == "global" and callee.attrs["name"] == "vars":
                    before.operands.insert(0, Const(held_attributes.held_by, OBJECT))
        block.instrs[:] = [i for i in block.instrs if i.op != "dropped"]


def _update_attributes(block: Block, held: Instr, method: Instr) -> None:
    """`x.__dict__.update(d)` as one call, where nothing comes in between."""
    call = block.instrs[block.instrs.index(method) + 1]
    if (
        call.op == "call_object"
        and len(call.operands) == 2
        and call.operands[0] is method.result
        and call.operands[1] is not method.result
        and not call.attrs["keywords"]
    ):
        call.operands[:1] = [Const(held_attributes.update_held, OBJECT), held.operands[0]]
        held.op = method.op = "dropped"


_TAKE_OUT = frozenset({"dict_update", "dict_merge"})


def _items_of_display(instr: Instr) -> list[tuple[Any, Value]] | None:
    """The items of a display of a dict whose keys are texts."""
    items: list[tuple[Any, Value]]
    if instr.op == "frozen_key_dict":
        items = list(zip(instr.attrs["keys"], instr.operands))
    elif instr.op == "dict":
        keys = [key.value if isinstance(key, Const) else None for key in instr.operands[::2]]
        items = list(zip(keys, instr.operands[1::2]))
    else:
        return None
    return items if all(type(key) is str for key, _ in items) else None


def _unique_names(f: Function) -> None:
    taken: set[str] = set()
    for block in f.blocks:
        base, number = block.name, 1
        while block.name in taken:
            number += 1
            block.name = f"{base}.{number}"
        taken.add(block.name)
