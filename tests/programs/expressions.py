"""Expressions of random numeric programs, over the variables that a program has bound."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any

from hypothesis import strategies as st

FLOATS: tuple[float, ...] = (0.7, 1.3, -0.4, 0.25, 2.1, -1.6, 0.9, 0.5, -0.8, 1.0, 0.0, -1.0, 2.0, -0.0)
CONSTANTS = ("0.5", "1.0", "2.0", "-1.0", "0.25", "3", "1", "2", "-2", "0.1", "1.5")


class Expressions(ABC):
    """Writes lines and expressions, asking `draw` for every choice."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw
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
        self.generators: list[str] = []
        self.budget = 0

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

    @abstractmethod
    def statements(self, most: int) -> None:
        """Up to so many statements, of those that the program may still have."""

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
        forms += ["flag"] * 2 * bool(self.named("q"))
        if depth > 0:
            forms += ["and", "or", "not", "greater"]
        match self.choose(forms):
            case "less":
                return f"{self.float(depth)} < {self.float(0)}"
            case "greater":
                return f"{self.float(0)} >= {self.float(0)}"
            case "flag":
                return f"{self.choose(('', 'not '))}{self.choose(self.named('q'))}"
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
        forms += ["item"] * 2 * bool(self.named("l"))
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

    def float_item(self, depth: int) -> str:
        name = self.choose(self.named("l"))
        return f"{name}[{self.index(name, min(depth, 1))}]"

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
