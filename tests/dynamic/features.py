"""Statements of random dynamic programs beyond numbers in containers: text, generators that are made and driven inside, classes
made inside, exceptions that carry values, closures with shared variables, and the standard library's containers.

Further kinds of variables: s text; k object of a class made inside, with `z`, `half` and `act`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

TOOLS = {
    "Trouble": """
class Trouble(Exception):
    def __init__(self, z, n=0):
        super().__init__(z * 0.5, n)
        self.z = z


class Worse(Trouble):
    @property
    def doubled(self):
        return 2.0 * self.z
""",
    "risky": """
def risky(z, n):
    try:
        if n % 3 == 0:
            raise Trouble(z * z, n)
        if n % 3 == 1:
            raise Worse(math.sin(z)) from ValueError(z)
        return z * 0.5
    finally:
        LOG.append(z * 0.01)
""",
    "drawn": """
def drawn(z, n):
    total, got = z, 0.0
    for i in range(n):
        got = yield total * 0.5 + got
        if got is None:
            got = 0.25 * z
        total = math.sin(total) + got
    return total


def drawn_twice(z, n):
    first = yield from drawn(z, n)
    second = yield from drawn(first * 0.5, 1)
    return first * second
""",
    "drive": """
def drive(g, values):
    total = next(g)
    try:
        for v in values:
            total = total * 0.5 + g.send(v)
        g.close()
    except StopIteration as end:
        total += end.value
    return total
""",
    "scoped": """
@contextlib.contextmanager
def scoped(o, z):
    before = o.u
    o.u = before * z
    try:
        yield o
    finally:
        o.v = o.u + 0.5
        o.u = before
""",
    "Asked": """
class Asked:
    def __init__(self, z):
        self.z = z
        self.seen = [z]

    def __init_subclass__(cls, by=0.5):
        cls.by = by

    by = 0.25

    def note(self, v):
        self.seen.append(self.seen[-1] * self.by + self.z * v)
        if len(self.seen) % 3 == 0:
            LOG.append(self.seen[-1] * 0.01)

    @property
    def total(self):
        return sum(self.seen)

    def __len__(self):
        self.note(0.25)
        return 2

    def __bool__(self):
        self.note(0.125)
        return bool(self.z > 0)

    def __index__(self):
        self.note(0.2)
        return 1 if self.z > 0.25 else 0

    def __lt__(self, other):
        self.note(0.5)
        other.note(-0.5)
        return self.z < other.z

    def __eq__(self, other):
        self.note(0.75)
        return self is other

    __hash__ = object.__hash__

    def __contains__(self, n):
        self.note(n * 0.1)
        return n % 2 == 0

    def __repr__(self):
        self.note(0.3)
        return "ab"

    def __iter__(self):
        for k in range(2):
            self.note(k * 0.5)
            yield self.seen[-1] * 0.5

    def __call__(self, *args):
        self.note(len(args) * 0.5)
        return len(args)


def by_total(a, b):
    a.note(0.5)
    return -1 if a.z < b.z else 1


class Writer:
    def __init__(self, z):
        self.z = z

    def write(self, text):
        self.z = self.z * 0.75 + len(text) * 0.1
""",
}
NAMES = {"Trouble": "(?:Trouble|Worse|risky)", "drawn": "(?:drawn|drawn_twice)", "Asked": "(?:Asked|by_total|Writer)"}


class Writing(Protocol):
    """What these statements take of the writer."""

    names: list[str]
    frozen: set[str]
    inner: int
    indent: int
    loops: int

    def choose(self, options: Sequence[str]) -> str: ...
    def chance(self, percent: int) -> bool: ...
    def named(self, kind: str) -> list[str]: ...
    def new(self, kind: str) -> str: ...
    def bind(self, name: str) -> None: ...
    def line(self, text: str) -> None: ...
    def let(self, kind: str, text: str) -> str: ...
    def block(self, header: str) -> AbstractContextManager[None]: ...
    def integer(self) -> str: ...
    def condition(self) -> str: ...
    def value(self, depth: int = 2) -> str: ...
    def statements(self, count: int) -> None: ...


def text(w: Writing) -> None:
    """Text that is made of numbers, and decides what is calculated."""
    options = [
        f'"a" if {w.condition()} else "b"',
        f'"ab"[{w.integer()} % 2]',
        f'f"""k{{{w.integer()} % 3}}"""',
        '"a b".split()[0]',
    ]
    options += [f'f"""{{({w.value(0)}):.0f}}""".strip("-")', f'str({w.integer()}) + "a"']
    options += [f'"-".join(sorted({d}))' for d in w.named("d")[:1]]
    options += [f"{s}.upper()" for s in w.named("s")[:1]] + [f"{s} * 2" for s in w.named("s")[:1]]
    s = w.let("s", w.choose(options))
    form = w.choose(["key", "test", "loop", "length", "parsed"])
    if form == "key" and w.named("d"):
        d = w.choose(w.named("d"))
        w.line(f"{d}[{s}] = {d}.get({s}, {w.value(0)}) * 0.5 + {w.value(0)}")
    elif form == "test":
        with w.block(f"if {s} == 'a' or {s}.endswith('1'):"):
            w.statements(1)
    elif form == "loop":
        x = w.let("x", w.value(0))
        if x not in w.frozen:
            with w.block(f"for letter in {s}[:3]:"):
                w.line(f"{x} = {x} * (0.5 if letter.isdigit() else 0.75) + {w.value(0)}")
    elif form == "length":
        w.let("x", f"{w.value(1)} * len({s}) * 0.25")
    else:
        w.let("x", f"{w.value(1)} * int(f'{{len({s})}}') * 0.25")


def generator(w: Writing) -> None:
    """Generators that are driven: sent to, delegated to, left, cut short by what consumes them."""
    v = lambda: w.value(0)
    g = w.new("gen")
    source = w.choose([f"drawn({v()}, 3)", f"drawn_twice({v()}, 2)", f"drawn({v()}, {w.integer()} + 1)"])
    form = w.choose(["drive", "left", "pipeline", "zip", "made", "chained", "value"])
    if form == "drive":
        w.let("x", f"drive({source}, [{v()}, {v()}, {v()}])")
    elif form == "left":
        w.line(f"{g} = {source}")
        x = w.let("x", f"next({g})")
        if x not in w.frozen:
            with w.block(f"for y in {g}:"):
                w.line(f"{x} = {x} * 0.5 + y")
                with w.block(f"if {w.condition()}:"):
                    w.line("break")
        if w.chance(40):
            w.let("x", f"next({g}, {v()})")
    elif form == "pipeline":
        w.let("x", f"sum(y * y for y in (z * {v()} for z in {source}) if y > -0.5)")
    elif form == "zip":
        w.let("x", f"sum(y * z for (_, y), z in zip(enumerate({source}), ({v()}, {v()})))")
    elif form == "chained":
        w.let(
            "x",
            f"sum(itertools.islice(itertools.chain({source}, [{v()}]), 3)) + max(itertools.accumulate([{v()}, {v()}]))",
        )
    elif form == "value":
        w.let("x", f"(lambda g: (lambda y: next(g, 0.5) * y)(next(g)))({source})")
    else:
        names, loops, w.loops = list(w.names), w.loops, 0
        with w.block(f"def {g}(x_, n_):"):
            w.inner += 1
            w.names[:] = [n for n in w.names if n[0] != "q"]
            w.bind("x_")
            w.line("while n_ > 0:")
            w.line("    n_ -= 1")
            w.line("    x_ = math.cos(x_) * 0.5")
            w.line(f"    yield x_ + {w.value(0)}")
            w.statements(1)
            w.line(f"yield {w.value(1)}")
            w.inner -= 1
        w.names, w.loops = names, loops
        w.let(
            "x", w.choose([f"sum({g}({v()}, 2))", f"[*{g}({v()}, 1)][-1]", f"min({g}({v()}, 2), key=lambda z: z * z)"])
        )


def class_statement(w: Writing) -> None:
    """A class made inside: with a base, a property, a class attribute, and what it captures."""
    name = w.new("K")
    bases = ["", "", "(Base)", "(list)", "(dict)"] + [f"(type({k}))" for k in w.named("k")[:1]]
    base = w.choose(bases)
    known = base.startswith("(type")
    x = w.let("x", w.value(0))
    with w.block(f"class {name}{base}:"):
        w.line(f"weight = {w.value(0)}")
        if not (known and w.chance(50)):
            with w.block("def __init__(self, z):"):
                if base == "(list)":
                    w.line(f"super().__init__([z, {x}])")
                elif base == "(dict)":
                    w.line(f"super().__init__(a=z, b={x})")
                elif base:
                    w.line("super().__init__(z * 0.5)")
                w.line("self.z = z")
        with w.block("@property\n" + "    " * w.indent + "def half(self):"):
            w.line(f"return self.z * 0.5 + {w.choose(['self.weight', f'{name}.weight', x, '0.25'])}")
        with w.block("@half.setter\n" + "    " * w.indent + "def half(self, value):"):
            w.line("self.z = 2.0 * value")
        inherited = f"super().act(y) + {x}" if known or base == "(Base)" else "self.z * y"
        total = {"(list)": "sum(self) * y", "(dict)": "sum(self.values()) * y"}.get(base, inherited)
        with w.block("def act(self, y):"):
            w.line(f"return {w.choose([total, f'math.sin(self.z) * y + {x}', 'self.half * y'])}")
    k = w.new("k")
    w.line(f"{k} = {name}({w.value(1)})")
    w.bind(k)
    object_of_class(w)


def object_of_class(w: Writing) -> None:
    k = w.choose(w.named("k"))
    w.line(
        w.choose(
            [
                f"{k}.z {w.choose(['+', '-', '*'])}= {w.value(0)}",
                f"{k}.half = {w.value(1)}",
                f"type({k}).weight = {w.value(0)}",
                f"{k}.weight = {w.value(0)}",
                f"{k}.extra = {k}.act({w.value(0)})",
            ]
        )
    )
    w.let(
        "x",
        w.choose(
            [f"{k}.act({w.value(0)})", f"{k}.half", f"{k}.z * {k}.weight", f"getattr({k}, 'extra', {w.value(0)})"]
        ),
    )


def trouble(w: Writing) -> None:
    """Exceptions that carry values, through functions, out of loops, chained."""
    x = w.let("x", w.value(0))
    free = x not in w.frozen and not w.inner
    looped = free and w.chance(50)
    with w.block("for i_ in range(3):" if looped else "if True:"):
        with w.block("try:"):
            w.statements(1)
            w.line(
                w.choose(
                    [
                        f"{'y_' if not free else x} = risky({w.value(0)}, {'i_' if looped else w.integer()})",
                        f"raise Trouble({w.value(1)}, {w.integer()})",
                        f"raise Worse({w.value(0)}) from Trouble({w.value(0)})",
                        f"LOG.append(risky({w.value(0)}, 2))",
                    ]
                )
            )
        with w.block("except Worse as error:"):
            w.let("x", w.choose(["error.doubled", "error.z * error.args[0]", f"error.args[0] + {w.value(0)}"]))
        with w.block("except Trouble as error:"):
            w.let("x", w.choose([f"error.z * {w.value(0)}", "sum(error.args)", "error.args[0] - error.z"]))
            if looped and w.chance(30):
                w.line("continue")
        if w.chance(30):
            with w.block("else:"):
                w.line(f"LOG.append({w.value(0)} * 0.1)")
        if free and w.chance(40):
            with w.block("finally:"):
                w.line(f"{x} = {x} * 0.5 + {w.value(0)}")


def shared(w: Writing) -> None:
    """Closures that share variables, and functions kept in containers."""
    make, add, get = w.new("make"), w.new("add"), w.new("get")
    form = w.choose(["pair", "list", "self", "default"])
    if form == "pair":
        with w.block(f"def {make}(total):"):
            w.line("count, log = 0, []")
            with w.block("def add(z):"):
                w.line("nonlocal total, count")
                w.line(f"total = total * 0.5 + z * {w.value(0)}")
                w.line("count += 1")
                w.line("log.append(total)")
                w.line("return total")
            w.line("return add, lambda: total * count + sum(log)")
        w.line(f"{add}, {get} = {make}({w.value(0)})")
        with w.block(f"for i_ in range({w.integer()}):"):
            w.line(f"{add}({w.value(0)} + i_)")
        w.let("x", f"{get}() + {add}({w.value(0)}) * 0.5")
    elif form == "list":
        w.line(f"{make} = [lambda z, c=c: z * c + {w.value(0)} for c in ({w.value(0)}, 0.5)]")
        w.let("x", f"{make}[{w.integer()} % 2]({w.value(0)}) + sum(h(0.5) for h in {make})")
    elif form == "self":
        with w.block(f"def {make}(z, n):"):
            w.line(f"return z if n <= 0 else {make}(z * 0.5 + {w.value(0)}, n - 1) * {w.value(0)}")
        w.let("x", f"{make}({w.value(0)}, 2)")
    else:
        with w.block(f"def {make}(y, *rest, by={w.value(0)}, **more):"):
            w.line(f"return y * by + sum(rest) + sum(more.values()) * {w.value(0)}")
        w.let("x", w.choose([f"{make}({w.value(0)})", f"{make}({w.value(0)}, 0.5, by=2, c={w.value(0)})"]))


def library(w: Writing) -> None:
    """Heaps, sorted lists, dicts with defaults, counters, queues of bounded length, groups."""
    v = lambda: w.value(0)
    h = w.new("h")
    form = w.choose(["heap", "sorted", "default", "counter", "queue", "groups", "context"])
    if form == "heap":
        w.line(f"{h} = [{v()}, {v()}, {v()}, {v()}]")
        w.line(f"heapq.heapify({h})")
        w.line(f"heapq.heappush({h}, {v()})")
        w.let(
            "x",
            w.choose(
                [
                    f"heapq.heappop({h}) * {h}[0]",
                    f"heapq.heapreplace({h}, {v()}) + {h}[1]",
                    f"sum(heapq.nlargest(2, {h}))",
                ]
            ),
        )
    elif form == "sorted":
        w.line(f"{h} = sorted([{v()}, {v()}, {v()}])")
        w.line(f"bisect.insort({h}, {v()})")
        w.let("x", f"{h}[bisect.bisect({h}, {v()}) % 4] * {h}[0]")
    elif form == "default":
        w.line(f"{h} = collections.defaultdict({w.choose(['float', 'list', 'lambda: 0.5'])})")
        with w.block(f"for i_, y_ in enumerate([{v()}, {v()}, {v()}]):"):
            w.line(f"item = {h}[i_ % 2]")
            w.line(f"{h}[i_ % 2] = item + ([y_] if isinstance(item, list) else y_)")
        w.let("x", f"sum(sum(y) if isinstance(y, list) else y for y in {h}.values())")
    elif form == "counter":
        w.line(f"{h} = collections.Counter(a={v()}, b={v()})")
        w.line(f"{h}.update(a={v()}, c={v()})")
        w.line(f"{h}['c'] -= {v()}")
        w.let("x", f"{h}['a'] * {h}['missing'] + sum({h}.values()) * {h}['c']")
    elif form == "queue":
        w.line(f"{h} = deque([{v()}, {v()}], maxlen=3)")
        w.line(f"{h}.append({v()})")
        w.line(
            w.choose([f"{h}.appendleft({v()})", f"{h}.rotate(1)", f"{h}.extend([{v()}, {v()}])", f"{h}[0] *= {v()}"])
        )
        w.let("x", f"{h}.popleft() * {h}[-1] + sum({h})")
    elif form == "groups":
        w.let(
            "x",
            f"sum(sum(g) * (2 if k else 1) for k, g in itertools.groupby([{v()}, {v()}, {v()}], key=lambda y: y > 0))",
        )
    elif w.named("o"):
        o = w.choose(w.named("o"))
        with w.block(f"with scoped({o}, {v()}):"):
            w.statements(1)
        w.let("x", f"{o}.u + {o}.v")


def asked(w: Writing) -> None:
    """Objects whose special methods change something, asked by operators, builtin functions and the library."""
    a, b = w.new("asked"), w.new("asked")
    cls = "Asked"
    if w.chance(20):
        cls = w.new("Asked")
        with w.block(f"class {cls}(Asked{w.choose(['', ', by=0.75', f', by={w.value(0)}'])}):"):
            w.line(w.choose(["pass", f"shift = {w.value(0)}"]))
    w.line(f"{a}, {b} = {cls}({w.value(0)}), {cls}({w.value(1)})")
    questions = [
        f"{w.value(0)} * len({a})",
        f"({w.value(0)} if {a} else {w.value(0)})",
        f"({w.value(0)} if not {a} else {w.value(0)})",
        f"({w.value(0)} if {a} and {b} else 0.5)",
        f"[{w.value(0)}, {w.value(0)}][{a}]",
        f"sum([{w.value(0)}, {w.value(0)}, 0.5][{a}:])",
        f"max({a}, {b}).z",
        f"min([{a}, {b}, {a}]).z",
        f"sorted([{a}, {b}, {cls}({w.value(0)})])[0].total",
        f"sorted([{a}, {b}], key=functools.cmp_to_key(by_total))[1].z",
        f"sorted([1, 0], key={a})[0] * {w.value(0)}",
        f"({w.value(0)} if {a} == {b} else 0.25)",
        f"({w.value(0)} if {a} in [{b}, {a}] else 0.25)",
        f"[{b}, {a}].index({a}) * {w.value(0)}",
        f"({w.value(0)} if {w.integer()} in {a} else 0.75)",
        f"len(f'{{{a}}}{{{b}!r}}') * {w.value(0)}",
        f"len('%s' % {a}) * {w.value(0)}",
        f"bisect.bisect_left([{a}, {b}], {a}) * {w.value(0)}",
        f"sum({a}) * {w.value(0)}",
        f"({w.value(0)} if any({a}) else 0.25)",
        f"({w.value(0)} if ({a}, 1) < ({b}, 2) else 0.25)",
        f"heapq.nsmallest(1, [{a}, {b}])[0].z",
        f"(lambda out: (print('ab', {w.integer()}, file=out), out.z)[1])(Writer({w.value(0)}))",
        f"{a}.by * {w.value(0)}",
        f"{{{a}: {w.value(0)}}}[{a}]",
    ]
    x = w.let("x", w.choose(questions))
    form = w.choose(["plain", "loop", "test", "try", "list"])
    free = x not in w.frozen
    if form == "loop" and free:
        with w.block("for i_ in range(2):"):
            w.line(f"{x} = {x} * 0.5 + {w.choose(questions)}")
    elif form == "test":
        with w.block(f"if {w.choose([a, f'not {b}', f'{a} < {b}', f'{a} == {a}', f'{a} != {b}', f'1 in {b}'])}:"):
            w.statements(1)
    elif form == "try" and free:
        with w.block("try:"):
            w.line(f"{x} = {w.choose(questions)} + [{w.value(0)}][{a}]")
        with w.block("except IndexError:"):
            w.line(f"{x} = {x} * 0.5 + {b}.total")
    elif form == "list":
        with w.block(f"while {a} < {b} and len({a}.seen) < 4:"):
            w.line(f"{a}.note({w.value(0)})")
    w.let("x", f"({a}.total + {b}.total) * 0.1")


STATEMENTS: tuple[Callable[[Writing], None], ...] = (text, generator, class_statement, trouble, shared, library, asked)
