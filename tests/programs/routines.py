"""Helpers that a random program calls: recursion over arrays that are changed on the way, generators that are left early,
functions within functions that change what is around them."""

from __future__ import annotations

from .expressions import Expressions


class Routines(Expressions):
    def do_flag(self) -> None:
        """A bool that is set on the way, and looked at by conditions elsewhere."""
        name = self.choose([self.new("q"), *self.named("q")])
        self.line(f"{name} = {self.choose(('False', 'True', self.condition()))}")
        self.kinds[name] = "q"

    def do_search(self) -> None:
        """Two loops of which the inner one leaves both, by a flag or by its else."""
        if len(self.loops) > 1:
            return
        flag, i, j = self.new("q"), self.new("i"), self.new("i")
        self.line(f"{flag} = False")
        self.frozen |= {i, j}
        by_else = self.chance(40)
        with self.block(f"for {i} in range({self.number(1, 4)}):"):
            self.kinds |= {i: "i"}
            self.loops.append("for")
            self.statements(2)
            with self.block(f"for {j} in range({self.choose(('3', i))}):"):
                self.kinds |= {j: "i"}
                self.loops.append("for")
                self.statements(2)
                with self.block(f"if {self.condition()}:"):
                    self.statements(1)
                    self.line(f"{flag} = True")
                    self.line("break")
                self.statements(2)
                self.loops.pop()
            if by_else:
                with self.block("else:"):
                    self.statements(1)
                    self.line("continue")
                self.statements(1)
                self.line("break")
            else:
                with self.block(f"if {flag}:"):
                    self.statements(1)
                    self.line("break")
                self.statements(2)
            self.loops.pop()
        if self.chance(40):
            with self.block("else:"):
                self.statements(2)
        self.kinds[flag] = "q"

    def do_inner(self) -> None:
        """A function within the function, of several statements, that changes what is around it."""
        if self.inside_helper or self.scoped or self.indent > 3:
            return
        name, outer, loops = self.new("g"), dict(self.kinds), self.loops
        frozen, closures, doubtful = set(self.frozen), self.closures, self.doubtful
        changed = [n for n in self.named("fa") if n not in self.frozen][:4]
        with self.block(f"def {name}(z):"):
            if changed:
                self.line(f"nonlocal {', '.join(changed)}")
            self.kinds = {n: k for n, k in outer.items() if k == "i" or n in changed} | {"z": "f"}
            self.frozen |= {n for n, k in outer.items() if k == "i"}
            self.loops, self.closures, self.doubtful = [], [], []
            self.inside_helper = True
            self.statements(4)
            self.inside_helper = False
            self.line(f"return {self.float(1)} + z")
        self.kinds, self.loops, self.frozen, self.doubtful = outer, loops, frozen, doubtful
        self.closures = [*closures, name]
        if self.chance(70):
            self.do_inner_call()

    def do_inner_call(self) -> None:
        name = self.choose(self.named("f") or [self.new("v")])
        self.line(f"{name} = {self.choose(self.closures)}({self.float(1)}) * {self.float(0)}")
        self.kinds.setdefault(name, "f")

    def do_generated(self) -> None:
        """A loop over a generator function, with an iterable beside it perhaps."""
        source = f"{self.choose(self.generators)}({self.float(1)}, {self.number(0, 4)})"
        element, other = self.new("e"), self.new("e")
        form = self.choose(("plain", "plain", "zip", "enumerate"))
        arrays = self.named("a")
        if form == "zip" and arrays:
            header = f"for {element}, {other} in zip({source}, {self.choose(arrays)}):"
        elif form == "enumerate":
            header = f"for {other}, {element} in enumerate({source}):"
        else:
            header = f"for {element} in {source}:"
        with self.block(header):
            self.kinds[element] = "f"
            if form == "zip" and arrays:
                self.kinds[other] = "f"
            self.loops.append("for")
            self.statements(3)
            self.loops.pop()

    # ---------------------------------------------------------------------------------------- whole functions

    def generator(self, name: str) -> None:
        """A generator function, which yields in one place: native code does not take all that do so in several."""
        with self.block(f"def {name}(x, n):"):
            self.kinds, self.frozen = {"x": "f", "n": "i"}, {"n", "j"}
            self.statements(1)
            with self.block("for j in range(n):"):
                self.kinds["j"] = "i"
                self.loops.append("generator")
                self.statements(2)
                with self.block(f"if {self.condition()}:"):
                    self.line(self.choose(("return", "continue", "break")))
                self.line(f"yield {self.float(1)} + x")
                self.statements(2)
                self.loops.pop()
        self.kinds, self.frozen = {}, set()
        self.line("")

    def divided(self, name: str) -> None:
        """Recursion on the halves of an array, which is changed before, between and behind the calls."""
        with self.block(f"def {name}(a, x, n=3):"):
            self.kinds, self.frozen = {"a": "a", "x": "f", "n": "i"}, {"n"}
            with self.block("if n <= 0 or len(a) < 2:"):
                self.statements(1)
                self.line(f"return {self.float(1)} + x")
            self.statements(2)
            parts = self.choose((("a[: len(a) // 2]", "a[len(a) // 2 :]"), ("a[1:]", "a[:-1]"), ("a[::2]", "a[1::2]")))
            self.line(f"left = {name}({parts[0]}, {self.float(1)}, n - 1)")
            self.kinds["left"] = "f"
            self.statements(2)
            if self.chance(60):
                self.line(f"left = left * {name}({parts[1]}, {self.float(1)}, n - 1) + left")
                self.statements(1)
            self.line(f"return {self.float(1)} + left")
        self.kinds, self.frozen = {}, set()
        self.line("")

    def in_turns(self, name: str) -> None:
        """Two functions that call each other, and change an array."""
        for this, that in ((name, f"{name}_back"), (f"{name}_back", name)):
            with self.block(f"def {this}(a, x, n=4):"):
                self.kinds, self.frozen = {"a": "a", "x": "f", "n": "i"}, {"n"}
                with self.block("if n <= 0:"):
                    self.line(f"return {self.float(1)}")
                self.statements(2)
                with self.block(f"if {self.condition()}:"):
                    self.line(f"return {self.float(1)} * {that}(a, {self.float(1)}, n - 1)")
                self.statements(1)
                self.line(f"return {that}(a, {self.float(1)}, n - {self.number(1, 2)}) + {self.float(1)}")
            self.kinds, self.frozen = {}, set()
            self.line("")
