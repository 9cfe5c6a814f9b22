"""Random dynamic Python programs: `program(number)` is the one of that number, source text and arguments.

A program is a function `f` with a float as value, and the classes, helpers and globals that it uses.  It terminates, keeps to
domains where the mathematics is defined, and indexes what is there, except inside `try`.  The writer keeps track of what each
variable holds, by the first letter of its name:

    x float     n small int     l list of two or more floats     d dict with the keys "a" and "b", floats
    o object (Box or a class derived from it)     g function of a float     t tuple of two floats     q list of lists
    a array of three floats     w anything

Two names may stand for one object.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from . import changes, coincidences, language, matching, small_arrays
from .expressions import KEYS, Expressions
from .tools import PARTS, Program, assemble

FLOATS = (0.7, 1.3, -0.4, 0.25, 1.1, -1.6, 0.9, 0.5, -0.8, 1.0, 0.0, -1.0, 2.0, -0.0)
INTEGERS = (2, -1, 3, 0)
RARE = ("None", "True", "'ab'", "[]", "[0.5, [1.5, (0.25,)]]", "[np.ones(3), 0.5]", "{'a': np.zeros(3), 'b': {'a': 1}}")

STATEMENTS = [statement for part in PARTS for statement in part.STATEMENTS]
PLAIN = (language.comprehension, language.arguments, *small_arrays.STATEMENTS, *coincidences.PLAIN, *matching.PLAIN)


class Writer(Expressions):
    """Writes one program, statement by statement; at most `budget` of them. `plain`: of what native code is likely to take."""

    def __init__(self, random: Random, budget: int, plain: bool) -> None:
        super().__init__(random, plain)
        self.budget = budget
        self.floats = FLOATS if self.chance(85) else (self.choose(FLOATS),)  # all are equal

    # -------------------------------------------------------------------------------------------- statements

    def statements(self, count: int) -> None:
        for _ in range(count):
            if self.budget <= 0:
                return
            self.budget -= 1
            self.statement()

    def statement(self) -> None:
        forms: list[Callable[[], None]] = [self.assign_float] * 3
        forms += [lambda: self.keep(self.let("l", self.new_list())), lambda: self.keep(self.let("d", self.new_dict()))]
        forms += [lambda: self.keep(self.let("o", self.new_object()))]
        forms += [lambda: self.keep(self.let("t", f"({self.value(1)}, {self.value(1)})")), self.nested_list]
        forms += [self.list_statement] * 3 * bool(self.named("l"))
        forms += [self.dict_statement] * 2 * bool(self.named("d"))
        forms += [self.object_statement] * 3 * bool(self.named("o"))
        forms += [self.nested_statement] * bool(self.named("q"))
        if self.indent < 4:
            forms += [self.branch, self.loop, self.loop, self.closure, self.consume]
            if self.plain:
                forms += [lambda form=form: form(self) for form in PLAIN]
            else:
                forms += [self.attempt, self.attempt, self.context, self.dispatch]
                forms += [lambda form=form: form(self) for form in STATEMENTS]
        forms += [self.leave] * bool(self.loops)
        self.choose(forms)()

    def keep(self, name: str) -> None:
        pass

    def assign_float(self) -> None:
        own = [x for x in self.named("x") if x not in self.frozen]
        if own and not self.inner and self.chance(30):
            self.line(f"{self.choose(own)} {self.choose('+-*')}= {self.value(1)}")
        elif own and len(own) > 1 and not self.inner and self.chance(20):
            a, b = self.choose(own), self.choose(own)
            self.line(f"{a}, {b} = {b}, {self.value(1)}")
        else:
            self.let("x", self.value())

    def nested_list(self) -> None:
        if self.named("l"):
            l = self.choose(self.named("l"))
            self.let("q", self.choose([f"[{l}, {l}]", f"[{l}, {self.new_list()}]", f"[[{self.value(0)}, 0.5], {l}]"]))

    def nested_statement(self) -> None:
        q = self.choose(self.named("q"))
        self.line(
            self.choose(
                [
                    f"{q}[0][{self.choose((0, 1))}] {self.choose(('', '+', '*'))}= {self.value(1)}",
                    f"{q}.append({self.choose(self.named('l'))})" if self.named("l") else f"{q}.reverse()",
                    f"{q}[0], {q}[1] = {q}[1], {q}[0]",
                    f"{q}[1] = [z * 0.5 for z in {q}[0]]",
                ]
            )
        )

    def list_statement(self) -> None:
        l = self.choose(self.named("l"))
        v = lambda: self.value(1)
        self.line(
            self.choose(
                [
                    f"{l}.append({v()})",
                    f"{l}.append({v()})",
                    f"{l}[{self.index(l)}] = {v()}",
                    f"{l}[{self.index(l)}] = {v()}",
                    f"{l}[{self.index(l)}] += {v()}",
                    f"{l}[{self.index(l)}] *= {v()}",
                    f"{l}.insert({self.choose((0, 1, -1, 7))}, {v()})",
                    f"{l}.extend([{v()}, {self.value(0)}])",
                    f"{l} += [{v()}]" if not self.inner else f"{l}.extend([{v()}])",
                    f"{l}.reverse()",
                    f"{l}.sort()",
                    f"{l}.sort(key=lambda z: z * z, reverse=True)",
                    f"{l}[0], {l}[1] = {l}[1], {l}[0]",
                    f"{l}[:1] = [{v()}, {self.value(0)}]",
                    f"{l}[1:] = [z * 0.5 for z in {l}]",
                    f"del {l}[2:]",
                    f"{l}[:] = {l}[::-1]",
                    f"LOG.append({l}[0])",
                ]
            )
        ) if self.chance(80) else self.take(l)

    def take(self, l: str) -> None:
        with self.block(f"if len({l}) > 2:"):
            form = self.choose([f"{l}.pop()", f"{l}.pop(0)", f"{l}.pop(1)"])
            self.line(self.choose([form, f"del {l}[0]", f"{l}[0] += {form}"]))
            x = self.new("x")
            self.line(f"{x}, *rest = {l}")
            self.line(f"{l}[-1] = {x} + sum(rest)")

    def dict_statement(self) -> None:
        d = self.choose(self.named("d"))
        self.line(
            self.choose(
                [
                    f"{d}[{self.key()}] = {self.value(1)}",
                    f"{d}[{self.key()}] += {self.value(1)}",
                    f"{d}[{self.choose(KEYS)!r}] = {self.value(1)}",
                    f"{d}.update(a={self.value(0)}, c={self.value(0)})",
                    f"{d}.setdefault({self.choose(KEYS)!r}, {self.value(0)})",
                    f"{d}['a'] = {d}.pop('c', {self.value(0)})",
                    f"{d}.pop('e', None)",
                    f"{d} |= {{'b': {self.value(0)}}}" if not self.inner else f"{d}.update(b={self.value(0)})",
                    f"{d}['a'], {d}['b'] = {d}['b'], {d}['a']",
                ]
            )
        )

    def object_statement(self) -> None:
        o = self.choose(self.named("o"))
        options = [
            f"{o}.u = {self.value(1)}",
            f"{o}.v {self.choose('+-*')}= {self.value(1)}",
            f"{o}.area = {self.value(1)}",
            f"{o}.step({self.value(1)})",
            f"{o}.push({self.value(1)})",
            f"{o}[0] = {self.value(1)}",
            f"{o}[-1] += {self.value(1)}",
            f"{o} += {self.value(0)}" if not self.inner else f"{o}.u += {self.value(0)}",
            f"setattr({o}, 'v', {self.value(0)})",
            f"{o}.u, {o}.v = {o}.v, {o}.u",
            f"Box.scale = {self.value(0)}" if self.chance(10) else f"{o}.scale = {self.value(0)}",
        ]
        if self.named("l"):
            options.append(f"{o}.items = {self.choose(self.named('l'))}")
        self.line(self.choose(options))

    # ------------------------------------------------------------------------------------------- control flow

    def branch(self) -> None:
        with self.block(f"if {self.condition()}:"):
            self.statements(2)
        if self.chance(50):
            with self.block("else:"):
                self.statements(2)

    def loop(self) -> None:
        options = [("n", f"for @ in range({self.up_to(4)}):")]
        for l in self.named("l")[:2]:
            options += [("x", f"for @ in {l}[:4]:"), ("x", f"for @ in tuple({l})[:4]:")]
        for d in self.named("d")[:1]:
            options += [("x", f"for key, @ in list({d}.items()):"), ("x", f"for @ in list({d}.values()):")]
        for o in self.named("o")[:1]:
            options += [("x", f"for @ in list({o})[:4]:")]
        options.append(("x", f"for @ in steps({self.value(0)}, 3):"))
        options += [("n", "while"), ("n", "while True")]
        kind, header = self.choose(options)
        name = self.new(kind)
        self.loops += 1
        if header == "while True":
            self.leave_from_the_middle(name)
        elif header == "while":
            self.line(f"{name} = {self.up_to(4, 1)}")
            with self.block(f"while {name} > 0:"):
                self.line(f"{name} -= 1")
                self.bind(name)
                self.frozen.add(name)
                self.statements(3)
        else:
            with self.block(header.replace("@", name, 1)):
                self.bind(name)
                self.frozen.add(name)
                self.statements(3)
        self.loops -= 1
        if self.chance(15):
            with self.block("else:"):
                self.statements(1)

    def leave_from_the_middle(self, name: str) -> None:
        """A loop with statements before its test and behind it."""
        self.line(f"{name} = {self.up_to(3)}")
        with self.block("while True:"):
            self.line(f"{name} -= 1")
            self.bind(name)
            self.frozen.add(name)
            loops, self.loops = self.loops, 0  # `continue` there would go on for ever
            self.statements(2)
            self.loops = loops
            self.line(f"if {name} < 0 or {self.condition()}:")
            self.line("    break")
            self.statements(2)

    def leave(self) -> None:
        with self.block(f"if {self.condition()}:"):
            self.line(self.choose(["break", "continue"]))

    def attempt(self) -> None:
        with self.block("try:"):
            self.statements(1)
            self.line(
                self.choose(
                    [
                        f"check({self.value(1)})",
                        f"LOG.append(check({self.value(1)}))",
                        f"raise ValueError({self.value(0)}, {self.value(0)})",
                        f"[][{self.integer()}]",
                        f"{{'a': 1.0}}[{self.choose(KEYS)!r}]",
                        "1.0 / 0.0",
                        f"math.sqrt(-1.0 - {self.value(0)} ** 2)",
                        f"assert {self.condition()}",
                        "None.u",
                        "pass",
                    ]
                )
            )
            self.statements(1)
        error = self.choose(
            ["ValueError", "(KeyError, IndexError)", "(ZeroDivisionError, AssertionError, AttributeError)", "Exception"]
        )
        if self.chance(30):
            with self.block(f"except {error} as error:"):
                x = self.let("x", f"error.args[1] if len(error.args) > 1 else {self.value(0)}")
                self.statements(1)
                self.line(f"{x} = {x} * 0.5")
        else:
            with self.block(f"except {error}:"):
                self.statements(2)
        if error != "Exception" and self.chance(80):
            with self.block("except Exception:"):
                self.statements(1)
        if self.chance(25):
            with self.block("else:"):
                self.statements(1)
        if self.chance(30):
            with self.block("finally:"):
                loops, self.loops = self.loops, 0  # `continue` there would swallow the exception
                self.statements(1)
                self.loops = loops

    def context(self) -> None:
        if not self.named("o"):
            return
        o = self.new("o")
        with self.block(f"with Scope({self.choose(self.named('o'))}, {self.value(1)}) as {o}:"):
            self.bind(o)
            self.frozen.add(o)
            self.statements(2)
            if self.chance(30):
                with self.block(f"if {self.condition()}:"):
                    self.line("raise ValueError('left')")

    def closure(self) -> None:
        g = self.new("g")
        forms = ["lambda", "def", "counter", "method"]
        form = self.choose(forms if self.plain else [*forms, "twice", "table", "decorated"])
        if form == "lambda":
            self.line(f"{g} = lambda z: z * {self.value(1)}")
        elif form == "counter":
            self.line(f"{g} = counter({self.value(0)})")
        elif form == "twice":
            self.line(f"{g} = twice(lambda z: math.sin(z) * {self.value(0)})")
        elif form == "method" and self.named("o"):
            o = self.choose(self.named("o"))
            self.line(f"{g} = {self.choose([o, f'{o}.step', f'{o}.push({self.value(0)}).step'])}")
        elif form == "table":
            self.line(f"{g} = {{0: math.sin, 1: lambda z: z * {self.value(0)}}}[{self.integer()} % 2]")
        else:
            if form == "decorated":
                self.line("@twice")
            own = [n for n in self.names if n not in self.frozen and n[0] == "x"]
            changed = self.choose(own) if own and not self.inner and self.chance(50) and self.indent == 1 else None
            names, loops, self.loops = list(self.names), self.loops, 0
            with self.block(f"def {g}(x_):"):
                if changed is not None:
                    self.line(f"nonlocal {changed}")
                self.inner += 1
                self.names = [n for n in self.names if n[0] != "q"]
                self.bind("x_")
                self.statements(2)
                if changed is not None:
                    self.line(f"{changed} = {changed} * 0.5 + {self.value(1)}")
                self.line(f"return {self.value(1)}")
                self.inner -= 1
            self.names, self.loops = names, loops
        self.bind(g)

    def dispatch(self) -> None:
        subject = self.choose([f"({self.value(0)}, {self.integer()})", f"{{'k': {self.value(0)}}}", self.integer()])
        x = self.new("x")
        with self.block(f"match {subject}:"):
            with self.block(f"case ({x}, 0):"):
                self.line(f"LOG.append({x})")
            with self.block(f"case {{'k': {x}}} | ({x}, 1 | 2):"):
                self.bind(x)
                self.statements(2)
            with self.block("case _:"):
                self.line(f"{x} = {self.value(0)}")
        self.line(f"LOG.append({x}) if {self.condition()} else None")

    def consume(self) -> None:
        sources = [f"steps({self.value(0)}, 3)", f"steps({self.value(0)}, n=2, pull={self.value(0)})"]
        source = self.choose([*sources, f"trailing({self.value(0)}, {self.up_to(3)})"])
        if self.chance(30):
            self.consume_in_two(source)
            return
        options = [f"sum({source})", f"max({source})", f"next({source})", f"[*{source}, 0.5][0]"]
        options.append(f"sum(z * w for z, w in zip({source}, (0.5, {self.value(0)})))")
        options.append(f"deque({source}, maxlen=1)[0]")
        self.let("x", self.choose(options))

    def consume_in_two(self, source: str) -> None:
        """What a generator gives first, and then the rest of it."""
        items, x = self.new("items"), self.new("x")
        self.line(f"{items} = {source}")
        self.line(f"{x} = next({items})")
        with self.block(f"for y_ in {items}:"):
            self.line(f"{x} = {x} * 0.5 + y_ * {self.value(0)}")
            if self.chance(30):
                self.line(f"if y_ > {self.value(0)}:")
                self.line(f"    {self.choose(['break', 'continue'])}")
            self.line(f"{x} = {x} - {self.value(0)} * y_")
        self.bind(x)

    # ---------------------------------------------------------------------------------------------- programs

    def program(self) -> Program:
        kinds = self.choose(["x", "xx", "xl", "xd", "xo", "lx", "xlo", "xnd", "xxt", "xa", "xao", "xw", "wx"])
        parameters = tuple(f"{kind}{at}" for at, kind in enumerate(kinds))
        self.counter = len(kinds)
        for name in parameters:
            self.bind(name)
        calls = (tuple(map(self.argument, kinds)), *(tuple(map(self.other_argument, kinds)) for _ in range(2)))
        self.indent = 1
        self.statements(1 + self.up_to(self.budget, 2))
        result = [self.value(2)]
        for kind in "xldoauw":
            if self.named(kind):
                self.names = [n for n in self.names if n[0] != kind] + self.named(kind)[-1:]
                result.append({"x": lambda: self.named("x")[-1], "l": lambda: f"sum({self.named('l')[-1]})",
                               "d": lambda: f"sum({self.named('d')[-1]}.values())",
                               "o": lambda: f"{self.named('o')[-1]}.u", "a": lambda: f"np.sum({self.named('a')[-1]})",
                               "u": lambda: f"{self.named('u')[-1]}.w[1]",
                               "w": lambda: f"measure({self.named('w')[-1]})"}[kind]())  # fmt: skip
        self.line(f"return math.tanh(0.25 * ({' + '.join(result)})) + 0.1 * sum(LOG)")
        body = "\n".join([f"def f({', '.join(parameters)}):", *self.lines])
        if "o" in kinds and self.chance(20):  # the same object in each call
            calls = tuple(tuple("HELD" if kind == "o" else text for kind, text in zip(kinds, texts)) for texts in calls)
        before = tuple("\n".join(self.some(changes.that_matter(body + repr(calls)))) for _ in calls[1:])
        return assemble(body, parameters, calls, self.choose, self.plain, ("", *before))

    def some(self, options: list[str]) -> list[str]:
        return [self.choose(options) for _ in range(self.up_to(2))] if options else []

    def argument(self, kind: str) -> str:
        number = lambda: repr(self.choose(self.floats))
        return {
            "x": number,
            "n": lambda: str(self.up_to(3)),
            "l": lambda: f"[{', '.join(number() for _ in range(self.up_to(4, 2)))}]",
            "d": lambda: f"{{'a': {number()}, 'b': {number()}}}",
            "o": lambda: f"{self.choose(('Box', 'Crate'))}({number()}, {number()})",
            "t": lambda: f"({number()}, {number()})",
            "a": lambda: f"np.array([{number()}, {number()}, {number()}])",
            "w": lambda: self.argument(self.choose("xxnldoat")) if self.chance(80) else self.choose(RARE),
        }[kind]()

    def other_argument(self, kind: str) -> str:
        """For a further call: of another type, now and then."""
        return str(self.choose(INTEGERS)) if kind == "x" and self.chance(20) else self.argument(kind)


def program(number: int, statements: int = 14) -> Program:
    """The program of this number, of at most so many statements."""
    random = Random(number)
    return Writer(random, random.randint(2, statements), plain=random.random() < 0.4).program()
