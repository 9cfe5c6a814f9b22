"""A hypothesis strategy for Python programs: `programs()` gives a `Program`, source text and arguments.

A program is a function `f` of floats, ints and arrays with a float as value, and up to three helpers.  It terminates
(loops are counted), keeps to domains where the mathematics is defined, and reads no variable that is not bound, apart
from rare slips that must raise the same exception everywhere.  The writer keeps track of what each variable holds:

    f  float     i  small int     m  int or float     o  None or float
    t  pair of floats     a  1-d array     b  2-d array     k  1-d array of ints
    s  object of a dataclass with fields u and v
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

FLOATS: tuple[float, ...] = (0.7, 1.3, -0.4, 0.25, 2.1, -1.6, 0.9, 0.5, -0.8, 1.0, 0.0, -1.0, 2.0, -0.0)
CONSTANTS = ("0.5", "1.0", "2.0", "-1.0", "0.25", "3", "1", "2", "-2", "0.1", "1.5")


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


class Writer:
    """Writes one program, statement by statement, asking `draw` for every choice."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any], budget: int) -> None:
        self.draw = draw
        self.budget = budget
        self.lines: list[str] = []
        self.indent = 0
        self.kinds: dict[str, str] = {}  # what is bound here, and to what
        self.doubtful: list[str] = []  # what is bound on some paths only
        self.frozen: set[str] = set()  # loop counters, which only the loop changes
        self.counter = 0
        self.loops: list[str] = []  # "for", "while" or "middle", innermost last
        self.scalar_helpers: list[tuple[str, int]] = []
        self.array_helpers: list[str] = []
        self.closures: list[str] = []
        self.inside_helper = False
        self.globals: list[str] = []
        self.tools: set[str] = set()  # which of the fixed helpers the program has
        self.floats = FLOATS  # what arguments are drawn from
        self.scoped = 0  # inside a lambda or comprehension

    # ------------------------------------------------------------------------------------------------ choices

    def choose(self, options: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(options))

    def chance(self, percent: int) -> bool:
        # Rare things are large draws, so that shrinking removes them.
        return self.draw(st.integers(0, 99)) >= 100 - percent

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def named(self, kinds: str) -> list[str]:
        return [name for name, kind in self.kinds.items() if kind in kinds]

    def new(self, prefix: str) -> str:
        self.counter += 1
        return f"{prefix}{self.counter}"

    # ------------------------------------------------------------------------------------------------- output

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    @contextmanager
    def block(self, header: str):
        self.line(header)
        self.indent += 1
        kinds, closures, length = dict(self.kinds), list(self.closures), len(self.lines)
        yield
        if len(self.lines) == length:
            self.line("pass")
        self.doubtful += [n for n, kind in self.kinds.items() if n not in kinds and kind == "f"]
        self.kinds, self.closures = kinds, closures
        self.indent -= 1

    # -------------------------------------------------------------------------------------------- expressions

    def integer(self, depth: int = 2) -> str:
        ints = self.named("i")
        arrays = self.named("ab")
        forms = ["const"] + ["name"] * 3 * bool(ints) + ["len"] * bool(arrays) + ["item"] * bool(self.named("k"))
        if depth > 0:
            forms += ["mod", "floordiv", "sum", "int", "min", "abs", "round", "shift"]
        match self.choose(forms):
            case "const":
                return str(self.number(0, 4))
            case "name":
                return self.choose(ints)
            case "len":
                return f"len({self.choose(arrays)})"
            case "item":
                k = self.choose(self.named("k"))
                return f"int({k}[{self.index(k, depth - 1)}])"
            case "mod":
                return f"({self.integer(depth - 1)} - {self.integer(depth - 1)}) % {self.number(1, 5)}"
            case "floordiv":
                return f"{self.integer(0)} // {self.number(1, 3)}"
            case "sum":
                return f"({self.integer(depth - 1)} + {self.integer(0)}) % 6"
            case "int":
                return f"int(3 * math.sin({self.float(depth - 1)}))"
            case "min":
                return f"{self.choose(('min', 'max'))}({self.integer(depth - 1)}, {self.integer(0)})"
            case "abs":
                return f"abs({self.integer(0)} - {self.integer(0)})"
            case "round":
                return f"round(2 * math.cos({self.float(depth - 1)}))"
            case _:
                return f"({self.integer(0)} & 3) << 1"

    def index(self, array: str, depth: int = 1) -> str:
        """An index into the first dimension; nearly always in range."""
        forms = ["mod", "zero", "minus", *[n for n in self.frozen if n in self.kinds] * 2]
        form = self.choose(forms)
        if form == "mod":
            return f"{self.integer(depth)} % len({array})" if depth > 0 else "0"
        if form == "zero":
            return "0"
        if form == "minus":
            return "-1"
        return f"{form} % len({array})"

    def element(self, array: str, depth: int = 1) -> str:
        if self.kinds[array] == "a":
            return f"{array}[{self.index(array, depth)}]"
        second = self.choose(["0", "-1", f"{self.integer(0)} % {array}.shape[1]"])
        brackets = f"[{self.index(array, depth)}][{second}]"
        return array + (brackets if self.chance(20) else brackets.replace("][", ", ", 1))

    def condition(self, depth: int = 1) -> str:
        forms = ["less", "less", "chain", "parity"]
        if depth > 0:
            forms += ["and", "or", "not", "greater"]
        match self.choose(forms):
            case "less":
                return f"{self.float(depth)} < {self.float(0)}"
            case "greater":
                return f"{self.float(0)} >= {self.float(0)}"
            case "chain":
                return f"-0.5 < {self.float(0)} <= {self.float(0)}"
            case "parity":
                return f"({self.integer(depth)}) % 2 == {self.number(0, 1)}"
            case "and":
                return f"{self.condition(depth - 1)} and {self.condition(0)}"
            case "or":
                return f"({self.condition(depth - 1)} or {self.condition(0)})"
            case _:
                return f"not ({self.condition(depth - 1)})"

    def float(self, depth: int = 2) -> str:
        names, arrays, pairs = self.named("fm"), self.named("ab"), self.named("t")
        forms = ["name"] * 4 * bool(names) + ["const"] + ["element"] * 2 * bool(arrays) + ["pair"] * bool(pairs)
        forms += ["integer"] * bool(self.named("i")) + ["field"] * 2 * bool(self.named("s"))
        forms += ["global"] * bool(self.globals)
        if depth > 0:
            forms += ["add", "sub", "mul", "mul", "div", "math", "math", "power", "extreme", "neg", "if", "abs"]
            forms += ["helper"] * 2 * bool(self.scalar_helpers) + ["closure"] * 2 * bool(self.closures)
            forms += ["sum"] * bool(self.named("a")) + ["mod", "sumrange", "cast", "walrus", "divmod", "generator"]
            forms += ["apply"] * bool(self.closures and "apply" in self.tools)
        form = self.choose(forms)
        return getattr(self, f"float_{form}")(depth)

    def float_name(self, depth: int) -> str:
        if self.doubtful and self.chance(1):
            return self.choose(self.doubtful)
        return self.choose(self.named("fm"))

    def float_field(self, depth: int) -> str:
        return f"{self.choose(self.named('s'))}.{self.choose('uv')}"

    def float_global(self, depth: int) -> str:
        return self.choose(self.globals)

    def float_walrus(self, depth: int) -> str:
        if self.scoped:
            return self.float(depth - 1)  # a lambda or comprehension: the name would not reach the function
        name = self.new("v")
        return f"(({name} := {self.float(depth - 1)}) * {name})"

    def float_divmod(self, depth: int) -> str:
        return f"divmod({self.float(depth - 1)}, 0.7)[{self.number(0, 1)}]"

    def float_generator(self, depth: int) -> str:
        fold = self.choose(("sum", "max", "min"))
        self.scoped += 1
        text = f"{fold}({self.float(0)} * j - {self.float(0)} for j in range({self.number(1, 3)}))"
        self.scoped -= 1
        return text

    def float_apply(self, depth: int) -> str:
        return f"apply({self.choose(self.closures)}, {self.float(depth - 1)})"

    def float_const(self, depth: int) -> str:
        return self.choose(CONSTANTS[:5])

    def float_element(self, depth: int) -> str:
        return self.element(self.choose(self.named("ab")), min(depth, 1))

    def float_pair(self, depth: int) -> str:
        return f"{self.choose(self.named('t'))}[{self.number(0, 1)}]"

    def float_integer(self, depth: int) -> str:
        return f"{self.integer(0)} * {self.choose(CONSTANTS[:5])}"

    def float_add(self, depth: int) -> str:
        return f"({self.float(depth - 1)} + {self.float(depth - 1)})"

    def float_sub(self, depth: int) -> str:
        return f"({self.float(depth - 1)} - {self.float(depth - 1)})"

    def float_mul(self, depth: int) -> str:
        return f"{self.float(depth - 1)} * {self.float(depth - 1)}"

    def float_div(self, depth: int) -> str:
        return f"{self.float(depth - 1)} / (1.5 + ({self.float(0)}) ** 2)"

    def float_math(self, depth: int) -> str:
        inner = self.float(depth - 1)
        function = self.choose(("sin", "cos", "tanh", "atan", "exp", "sqrt", "log", "sinh", "erf", "hypot", "log1p"))
        match function:
            case "exp" | "sinh":
                return f"math.{function}(-abs({inner}))"
            case "sqrt":
                return f"math.sqrt(0.1 + abs({inner}))"
            case "log":
                return f"math.log(1.0 + ({inner}) ** 2)"
            case "log1p":
                return f"math.log1p(({inner}) ** 2)"
            case "hypot":
                return f"math.hypot({inner}, 0.5)"
            case _:
                return f"math.{function}({inner})"

    def float_power(self, depth: int) -> str:
        if self.chance(25):
            return f"(0.5 + abs({self.float(depth - 1)})) ** math.sin({self.float(0)})"
        return f"({self.float(depth - 1)}) ** {self.choose(('2', '3', '2.0', '0', '1'))}"

    def float_extreme(self, depth: int) -> str:
        args = [self.float(depth - 1) for _ in range(self.number(2, 3))]
        return f"{self.choose(('min', 'max'))}({', '.join(args)})"

    def float_neg(self, depth: int) -> str:
        return f"-({self.float(depth - 1)})"

    def float_abs(self, depth: int) -> str:
        return f"abs({self.float(depth - 1)})"

    def float_if(self, depth: int) -> str:
        return f"({self.float(depth - 1)} if {self.condition(0)} else {self.float(depth - 1)})"

    def float_mod(self, depth: int) -> str:
        return f"({self.float(depth - 1)}) % 1.7"

    def float_cast(self, depth: int) -> str:
        return f"float({self.float(depth - 1)})"

    def float_helper(self, depth: int) -> str:
        name, count = self.choose(self.scalar_helpers)
        return f"{name}({', '.join(self.float(depth - 1) for _ in range(count))})"

    def float_closure(self, depth: int) -> str:
        return f"{self.choose(self.closures)}({self.float(depth - 1)})"

    def float_sum(self, depth: int) -> str:
        array = self.choose(self.named("a"))
        return self.choose((f"sum(e * e for e in {array})", f"sum({array}[1:])", f"{array}.sum()", f"sum({array})"))

    def float_sumrange(self, depth: int) -> str:
        count, scale = self.choose((self.integer(0), "3")), self.float(0)
        return f"sum([{scale} * j for j in range({count})], 0.0)"

    # --------------------------------------------------------------------------------------------- statements

    def statement(self) -> None:
        self.budget -= 1
        forms = ["assign"] * 4 + ["augment"] * 3 + ["if"] * 3 + ["pair", "integer", "none"]
        if len(self.loops) < 3:
            forms += ["for"] * 3 + ["while"] * 2
        if len(self.named("f")) > 1:
            forms += ["swap"] * 2
        if self.named("ab"):
            forms += ["write"] * 4 + ["view", "fill", "iterate"]
        if self.array_helpers and self.named("a"):
            forms += ["poke"] * 2
        forms += ["allocate", "mixed", "unpack", "items"]
        if "Pair" in self.tools:
            forms += ["struct"] * 2
        if "keywords" in self.tools:
            forms += ["keywords"]
        if self.loops:
            forms += ["leave"] * 2
        if not self.inside_helper:
            forms += ["closure"]
        forms += ["return", "raise"] if self.indent > 1 else []
        getattr(self, f"do_{self.choose(forms)}")()

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
            self.line("break" if self.loops[-1] == "middle" else self.choose(("break", "continue")))

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

    def program(self) -> Program:
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
        self.inside_helper = False
        parameters = {"x": "f"}
        for name, kind, percent in (("y", "f", 60), ("n", "i", 40), ("a", "a", 45), ("b", "b", 20), ("k", "k", 10)):
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
