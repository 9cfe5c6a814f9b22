"""A hypothesis strategy for Python programs: `programs()` gives a `Program`, source text and arguments.

A program is a function `f` of floats, ints and arrays with a float as value, and up to three helpers.  It terminates
(loops are counted), keeps to domains where the mathematics is defined, and reads no variable that is not bound, apart
from rare slips that must raise the same exception everywhere.  The writer keeps track of what each variable holds:

    f  float     i  small int     m  int or float     o  None or float
    t  pair of floats     a  1-d array     b  2-d array     k  1-d array of ints
    s  object of a dataclass with fields u and v     l  list of floats     q  bool
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from .expressions import CONSTANTS, FLOATS
from .routines import Routines
from .wholes import Wholes

TOOLS = {
    "Pair": """
from dataclasses import dataclass

@dataclass
class Pair:
    u: float
    v: float

def mix(s, x):
    return Pair(s.v * x, s.u + x)
""",
    "apply": """
def apply(function, x):
    return function(function(x) * 0.5)
""",
    "keywords": """
def keywords(x, y=0.25, *rest, z=2.0):
    for e in rest:
        x = x * e + 0.5
    return x * z - y
""",
}


@dataclass(frozen=True)
class Program:
    source: str
    parameters: tuple[str, ...]
    args: tuple[Any, ...]

    def fresh_args(self) -> tuple[Any, ...]:
        return tuple(arg.copy() if isinstance(arg, np.ndarray) else arg for arg in self.args)

    def __repr__(self) -> str:
        args = "\n".join(f"#   {name} = {arg!r}".replace("\n", "") for name, arg in zip(self.parameters, self.args))
        return f"\n{self.source}\n# called with\n{args}\n"


class Writer(Wholes, Routines):
    """Writes one program, statement by statement; at most `budget` of them in a function."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any], budget: int) -> None:
        super().__init__(draw)
        self.budget = budget
        self.focus = "numbers"  # what the program prefers

    # --------------------------------------------------------------------------------------------- statements

    def statement(self) -> None:
        self.budget -= 1
        forms = self.forms()
        weighted = [*forms["numbers"], *forms["arrays"], *forms["routines"], *forms[self.focus] * 3]
        getattr(self, f"do_{self.choose(weighted)}")()

    def forms(self) -> dict[str, list[str]]:
        """The statements that may stand here; each program prefers those of one heading."""
        numbers = (
            ["assign"] * 4 + ["augment"] * 3 + ["if"] * 3 + ["pair", "integer", "none", "mixed", "unpack", "items"]
        )
        arrays, routines = ["allocate"], ["list", "flag"]
        if len(self.loops) < 3:
            numbers += ["for"] * 3 + ["while"] * 2
            routines += ["search"]
        if len(self.named("f")) > 1:
            numbers += ["swap"] * 2
        if self.named("ab"):
            arrays += ["write"] * 4 + ["view", "fill", "iterate", "exchange", "move"]
        if self.named("a"):
            arrays += ["choice", "rebind", "exchange"]
        if self.named("b"):
            arrays += ["rows"]
        if self.named("l"):
            routines += ["list"] * 2
        if self.array_helpers and self.named("a"):
            routines += ["poke"] * 2
        if self.generators:
            routines += ["generated"] * 2
        if self.closures:
            routines += ["inner_call"]
        if "Pair" in self.tools:
            numbers += ["struct"] * 2
        if "keywords" in self.tools:
            numbers += ["keywords"]
        if self.loops:
            numbers += ["leave"] * 2
        if not self.inside_helper:
            routines += ["closure", "inner"]
        numbers += ["return", "raise"] if self.indent > 1 else []
        return {"numbers": numbers, "arrays": arrays, "routines": routines}

    def statements(self, most: int) -> None:
        for _ in range(self.number(1, most)):
            if self.budget > 0:
                self.statement()

    def do_assign(self) -> None:
        value = self.float()
        name = self.new("v") if self.chance(35) else self.choose(self.named("fm") or [self.new("v")])
        self.line(f"{name} = {value}")
        self.kinds.setdefault(name, "f")

    def do_augment(self) -> None:
        names = self.named("fm")
        if names:
            self.line(f"{self.choose(names)} {self.choose(('+=', '*=', '-='))} {self.float()}")

    def do_swap(self) -> None:
        names = self.named("f")
        first, second = self.choose(names), self.choose(names)
        if self.chance(40) and len(names) > 2:
            third = self.choose(names)
            self.line(f"{first}, {second}, {third} = {second}, {third}, {self.float(1)}")
        else:
            self.line(f"{first}, {second} = {second}, {self.choose((first, self.float(1)))}")

    def do_pair(self) -> None:
        pairs = self.named("t")
        if pairs and self.chance(50):
            names = [self.choose(self.named("f") or [self.new("v")]) for _ in range(2)]
            self.line(f"{names[0]}, {names[1]} = {self.choose(pairs)}")
            for name in names:
                self.kinds.setdefault(name, "f")
            return
        name = self.choose([self.new("p"), *pairs])
        self.line(f"{name} = ({self.float(1)} * 1.0, {self.float(1)} * 1.0)")
        self.kinds[name] = "t"

    def do_unpack(self) -> None:
        names = [self.choose([*self.named("f"), self.new("v")]) for _ in range(3)]
        values = [self.float(1) for _ in range(3)]
        form = self.choose(("nested", "starred", "chained"))
        if form == "nested":
            self.line(
                f"({names[0]}, {names[1]}), {names[2]} = ({values[0]} * 1.0, {values[1]} * 1.0), {values[2]} * 1.0"
            )
        elif form == "starred":
            rest = self.new("r")
            self.line(f"{names[0]}, *{rest} = ({values[0]} * 1.0, {values[1]} * 1.0, {values[2]} * 1.0)")
            self.line(f"{names[1]} = {names[2]} = {rest}[0] + {rest}[-1]")
        else:
            self.line(f"{names[0]} = {names[1]} = {names[2]} = {values[0]} * 1.0")
        for name in names:
            self.kinds.setdefault(name, "f")

    def do_items(self) -> None:
        """A loop over a tuple or over neighbours in an array."""
        arrays, element, other = self.named("a"), self.new("e"), self.new("e")
        if arrays and self.chance(50):
            array = self.choose(arrays)
            header = f"for {element}, {other} in zip({array}, {array}[1:]):"
        else:
            header = f"for {element}, {other} in ((1.0, {self.float(1)} * 1.0), ({self.float(1)} * 1.0, 0.5)):"
        with self.block(header):
            self.kinds[element] = self.kinds[other] = "f"
            self.loops.append("for")
            self.statements(3)
            self.loops.pop()

    def do_struct(self) -> None:
        structs = self.named("s")
        if structs and self.chance(60):
            self.line(
                f"{self.choose(structs)}.{self.choose('uv')} {self.choose(('=', '+=', '*='))} {self.float(1)} * 1.0"
            )
            return
        name = self.choose([self.new("s"), *structs])
        if structs and self.chance(30):
            self.line(f"{name} = mix({self.choose(structs)}, {self.float(1)} * 1.0)")
        else:
            self.line(f"{name} = Pair({self.float(1)} * 1.0, v={self.float(1)} * 1.0)")
        self.kinds[name] = "s"

    def do_keywords(self) -> None:
        name = self.choose(self.named("f") or [self.new("v")])
        call = self.choose((
            f"keywords({self.float(1)})",
            f"keywords(y={self.float(1)}, x={self.float(1)})",
            f"keywords({self.float(1)}, {self.float(1)}, {self.float(1)}, z={self.float(1)})",
            f"keywords(*({self.float(1)}, {self.float(1)}))",
        ))  # fmt: skip
        self.line(f"{name} = {call}")
        self.kinds.setdefault(name, "f")

    def do_integer(self) -> None:
        name = self.choose([self.new("i"), *(n for n in self.named("i") if n not in self.frozen)])
        self.line(f"{name} = {self.integer()}")
        self.kinds[name] = "i"

    def do_mixed(self) -> None:
        """An int that becomes a float on some path, or in a loop."""
        name = self.new("m")
        self.line(f"{name} = {self.number(0, 3)}")
        self.kinds[name] = "m"

    def do_none(self) -> None:
        """None until it is set."""
        optional = self.named("o")
        if not optional:
            name = self.new("o")
            self.line(f"{name} = None")
            self.kinds[name] = "o"
            return
        name, value = self.choose(optional), self.float(1)
        with self.block(f"if {name} is None or {name} < {value}:"):
            self.line(f"{name} = {value}")

    def do_if(self) -> None:
        with self.block(f"if {self.condition()}:"):
            self.statements(3)
        if self.chance(25):
            with self.block(f"elif {self.condition()}:"):
                self.statements(2)
        if self.chance(50):
            with self.block("else:"):
                self.statements(2)

    def do_for(self) -> None:
        name = self.new("i")
        bound = self.choose([str(self.number(0, 4)), self.integer(1)])
        header = self.choose((f"range({bound})", f"range({bound})", f"range(1, {bound})", f"reversed(range({bound}))",
                              f"range({bound}, -1, -1)"))  # fmt: skip
        self.frozen.add(name)
        with self.block(f"for {name} in {header}:"):
            self.kinds[name] = "i"
            self.loops.append("for")
            self.statements(4)
            self.loops.pop()
        if self.chance(15):
            with self.block("else:"):
                self.statements(2)

    def do_while(self) -> None:
        name = self.new("c")
        bound = self.choose([str(self.number(0, 4)), self.integer(0)])
        self.line(f"{name} = 0")
        self.kinds[name] = "i"
        self.frozen.add(name)
        condition = f"{name} < {bound}" + (f" and {self.condition(0)}" if self.chance(30) else "")
        if self.chance(25):
            self.leave_from_the_middle(name, condition)
            return
        with self.block(f"while {condition}:"):
            self.line(f"{name} += 1")
            self.loops.append("while")
            self.statements(4)
            self.loops.pop()
        if self.chance(15):
            with self.block("else:"):
                self.statements(2)

    def leave_from_the_middle(self, name: str, condition: str) -> None:
        """`while True` with statements before the test and behind it."""
        with self.block("while True:"):
            self.line(f"{name} += 1")
            self.loops.append("middle")
            self.statements(2)
            if self.chance(30):
                with self.block(f"if {name} < 5 and {self.condition()}:"):
                    self.statements(1)
                    self.line("continue")
            with self.block(f"if not ({condition}):"):
                self.line(self.choose(("break", "break", "return " + self.float(1))))
            self.statements(3)
            self.loops.pop()

    def do_iterate(self) -> None:
        arrays = self.named("a")
        if not arrays:
            return
        array, element, index = self.choose(arrays), self.new("e"), self.new("i")
        form = self.choose(("plain", "enumerate", "zip"))
        header = {
            "plain": f"for {element} in {array}:",
            "enumerate": f"for {index}, {element} in enumerate({array}):",
            "zip": f"for {index}, {element} in zip(range(3), {array}):",
        }[form]
        with self.block(header):
            self.kinds[element] = "f"
            if form != "plain":
                self.kinds[index] = "i"
                self.frozen.add(index)
            self.loops.append("for")
            self.statements(3)
            self.loops.pop()

    def do_leave(self) -> None:
        with self.block(f"if {self.condition()}:"):
            if self.chance(30):
                self.statements(1)
            # `continue` in front of the only test that leaves a loop might go on for ever.
            self.line("break" if self.loops[-1] in ("middle", "generator") else self.choose(("break", "continue")))

    def do_return(self) -> None:
        if self.chance(40):
            with self.block(f"if {self.condition()}:"):
                self.line(f"return {self.float(1)} + 0.0")

    def do_raise(self) -> None:
        if self.chance(8):
            with self.block(f"if {self.condition()}:"):
                self.line(f'raise {self.choose(("ValueError", "ArithmeticError"))}("stopped")')

    def do_write(self) -> None:
        array = self.choose(self.named("ab"))
        target = self.element(array)
        if self.chance(2):
            target = f"{array}[7]"
        self.line(f"{target} {self.choose(('=', '=', '+=', '*=', '-='))} {self.float()}")

    def do_view(self) -> None:
        array = self.choose(self.named("ab"))
        name = self.new("w")
        if self.kinds[array] == "b":
            row = self.choose((f"{array}[{self.index(array)}]", f"{array}[:, 0]", f"{array}[-1, 1:]"))
            self.line(f"{name} = {row}")
        else:
            self.line(f"{name} = {array}[{self.choose(('1:', ':-1', '::-1', '::2', ':', '0:2'))}]")
        # A view may be empty; what is written through it is guarded.
        with self.block(f"if len({name}) > 0:"):
            self.kinds[name] = "a"
            self.statements(3)

    def do_fill(self) -> None:
        array = self.choose(self.named("ab"))
        forms = [f"{array}.fill({self.float(1)})", f"{array}[:] = {self.float(1)}"]
        if self.kinds[array] == "a":
            forms += [f"{array}[1:] = {self.float(1)}", f"{array}[:] = {array}.copy()"]
            forms += [f"{array}[1:] = {array}[:-1]"]
        self.line(self.choose(forms))

    def do_allocate(self) -> None:
        arrays = self.named("a")
        forms = ["np.zeros(4)", "np.ones(3)", f"np.full(3, {self.choose(CONSTANTS[:5])})", "np.arange(3.0)"]
        for array in arrays[:2]:
            forms += [f"{array}.copy()", f"np.zeros_like({array})"]
        name = self.choose([self.new("a"), *(n for n in arrays if n.startswith("a"))])
        self.line(f"{name} = {self.choose(forms)}")
        self.kinds[name] = "a"

    def do_poke(self) -> None:
        name = self.new("v")
        self.line(f"{name} = {self.choose(self.array_helpers)}({self.choose(self.named('a'))}, {self.float(1)})")
        self.kinds[name] = "f"

    def do_closure(self) -> None:
        name, targets = self.new("g"), self.named("f")
        outer, loops = dict(self.kinds), self.loops
        if self.chance(30):
            self.kinds = {n: k for n, k in outer.items() if k in "fi"} | {"z": "f"}
            self.scoped += 1
            self.line(f"{name} = lambda z: {self.float(1)} * z")
            self.scoped -= 1
            self.kinds = outer
            self.closures.append(name)
            return
        with self.block(f"def {name}(z):"):
            if targets and self.chance(30):
                target = self.choose(targets)
                self.line(f"nonlocal {target}")
                self.line(f"{target} = {target} * 0.5 + z")
            self.kinds = {n: k for n, k in outer.items() if k in "fia"} | {"z": "f"}
            self.loops = []
            self.line(f"return {self.float(1)} + z")
            self.loops = loops
        self.closures.append(name)

    # ---------------------------------------------------------------------------------------------- functions

    def function(self, name: str, parameters: dict[str, str], budget: int) -> None:
        saved = self.kinds, self.budget, self.frozen, self.doubtful, self.closures
        self.kinds, self.budget, self.frozen, self.doubtful, self.closures = dict(parameters), budget, set(), [], []
        with self.block(f"def {name}({', '.join(parameters)}):"):
            self.kinds = dict(parameters)
            while self.budget > 0:
                self.statement()
            terms = [f"{n}" for n in self.named("fm")][:6]
            terms += [f"{n}.sum()" for n in self.named("a")][:2]
            terms += [f"{n}[0] * {n}[1]" for n in self.named("t")][:1]
            terms += [f"{n}.u * {n}.v" for n in self.named("s")][:1]
            terms += [f"(0.0 if {n} is None else {n})" for n in self.named("o")][:1]
            terms += [f"{n}[0, 0] * {n}[-1, -1]" for n in self.named("b")][:1]
            terms += [f"sum({n})" for n in self.named("l")][:1]
            self.line(f"return {' + '.join(terms) if terms else '1.0'}")
        self.kinds, self.budget, self.frozen, self.doubtful, self.closures = saved
        self.line("")

    def recursive(self, name: str) -> None:
        with self.block(f"def {name}(x, n=3):"):
            self.kinds = {"x": "f", "n": "i"}
            with self.block("if n <= 0:"):
                self.line(f"return {self.float(1)} + x")
            self.line(f"return {self.float(1)} * {name}(0.5 * x + 0.1, n - 1)")
        self.kinds = {}
        self.line("")

    def part(self, kind: str, budget: int) -> None:
        """A helper of another shape than `function`'s."""
        saved, self.budget = self.budget, budget
        getattr(self, kind)(kind)
        self.budget = saved
        (self.generators if kind == "generator" else self.array_helpers).append(kind)

    def program(self) -> Program:
        self.focus = self.choose(("numbers", "arrays", "routines"))
        self.line("import math")
        self.line("")
        self.line("import numpy as np")
        self.line("")
        for tool, text in TOOLS.items():
            if self.chance(20):
                self.tools.add(tool)
                self.lines += [*text.strip("\n").split("\n"), ""]
        if self.chance(15):
            self.globals.append("SCALE")
            self.line(f"SCALE = {self.choose(FLOATS)}")
        self.line("")
        self.inside_helper = True
        if self.chance(25):
            self.recursive("recurse")
            self.scalar_helpers.append(("recurse", 1))
        if self.chance(40):
            self.function("helper", {"x": "f", "y": "f"}, self.number(1, 4))
            self.scalar_helpers.append(("helper", 2))
        if self.chance(25):
            self.function("poke", {"a": "a", "x": "f"}, self.number(1, 4))
            self.array_helpers.append("poke")
        for kind, percent in (("generator", 20), ("divided", 15), ("in_turns", 12)):
            if self.chance(percent):
                self.part(kind, self.number(1, 5))
        self.inside_helper = False
        parameters = {"x": "f"}
        chances = {"y": ("f", 60), "n": ("i", 40), "a": ("a", 45), "b": ("b", 20), "k": ("k", 10)}
        if self.focus == "arrays":
            chances |= {"a": ("a", 100), "c": ("a", 80), "b": ("b", 40)}
        for name, (kind, percent) in chances.items():
            if self.chance(percent):
                parameters[name] = kind
        self.function("f", parameters, self.budget)
        if self.chance(15):
            self.floats = (self.choose(FLOATS),)  # all are equal
        args = tuple(self.argument(kind) for kind in parameters.values())
        return Program("\n".join(self.lines), tuple(parameters), args)

    def argument(self, kind: str) -> Any:
        values = lambda count: [self.choose(self.floats) for _ in range(count)]
        match kind:
            case "f":
                return self.choose(self.floats)
            case "i":
                return self.number(0, 4)
            case "a":
                return np.array(values(self.number(2, 4)))
            case "b":
                shape = self.number(2, 3), self.number(2, 3)
                array = np.array(values(shape[0] * shape[1])).reshape(shape)
                return array.T if self.chance(20) else array
            case _:
                return np.array([self.number(-2, 5) for _ in range(3)])


@st.composite
def programs(draw: Any, largest: int = 14) -> Program:
    return Writer(draw, draw(st.integers(1, largest))).program()
