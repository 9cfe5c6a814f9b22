"""Statements on arrays and lists as wholes: names that change hands, views that overlap, rows that are exchanged."""

from __future__ import annotations

from .expressions import Expressions


class Wholes(Expressions):
    def rebindable(self) -> list[str]:
        """One-dimensional arrays whose names may come to stand for others. (A view's name is bound on one path only.)"""
        return [name for name in self.named("a") if not name.startswith("w")]

    def do_exchange(self) -> None:
        """Two buffers that change places, or two elements."""
        names = self.rebindable()
        if len(names) > 1 and self.chance(60):
            first = self.choose(names)
            second, *rest = [n for n in names if n != first]
            if rest and self.chance(40):
                self.line(f"{first}, {second}, {rest[-1]} = {second}, {rest[-1]}, {first}")
            else:
                self.line(f"{first}, {second} = {second}, {self.choose((first, first, f'{first} * {self.float(1)}'))}")
            return
        one, other = self.element(self.choose(self.named("ab"))), self.element(self.choose(self.named("ab")))
        scale = self.choose(("", "", f" * {self.float(1)}"))
        self.line(f"{one}, {other} = {other}, {one}{scale}")

    def do_choice(self) -> None:
        """An array picked on the way: one name for one of two, which is written through."""
        names = self.named("a")
        one, other = self.choose(names), self.choose(names)
        name = self.choose([self.new("a"), *self.rebindable()])
        form = self.choose(("alias", "ternary", "ternary", "branch", "view"))
        if form == "alias":
            self.line(f"{name} = {one}")
        elif form == "ternary":
            self.line(f"{name} = {one} if {self.condition()} else {other}")
        elif form == "view":
            self.line(f"{name} = {one}[::-1]")
        else:
            self.line(f"{name} = {one}")
            with self.block(f"if {self.condition()}:"):
                self.statements(2)
                self.line(f"{name} = {other}")
        self.kinds[name] = "a"
        if self.chance(60):
            self.line(f"{self.element(name)} {self.choose(('+=', '*=', '='))} {self.float(1)}")

    def do_rebind(self) -> None:
        """An array made of what the name stood for before, of another length perhaps."""
        names = self.rebindable()
        if not names:
            return
        name = self.choose(names)
        form = self.choose(("scaled", "mapped", "grown", "shrunk", "differences", "square"))
        if form == "scaled":
            self.line(f"{name} = {name} * {self.choose((self.float(1), name))} + {self.float(0)}")
        elif form == "mapped":
            self.line(f"{name} = np.array([e * {self.float(0)} for e in {name}])")
        elif form == "grown":
            with self.block(f"if len({name}) < 6:"):
                self.line(f"{name} = np.concatenate(({name}, {self.choose((f'{name}[::-1]', f'{name}[1:] * 0.5'))}))")
        elif form == "shrunk":
            with self.block(f"if len({name}) > 2:"):
                self.line(f"{name} = {name}[{self.choose(('1:', ':-1', '::2'))}]{self.choose(('', '.copy()'))}")
        elif form == "differences":
            with self.block(f"if len({name}) > 2:"):
                self.line(f"{name} = {name}[1:] * {self.float(0)} - {name}[:-1]")
        else:
            self.line(f"{name} = {name} * {name}")

    def do_move(self) -> None:
        """Slices of one array assigned to others of it."""
        name = self.choose(self.named("ab"))
        value = self.float(1)
        forms = [
            f"{name}[1:] = {name}[:-1] * {value}", f"{name}[:-1] = {name}[1:]", f"{name}[1:] += {name}[:-1]",
            f"{name}[:-1] *= {name}[1:]", f"{name}[::-1] = {name}.copy()", f"{name}[:] = {name}[::-1].copy()",
            f"{name} += {value}", f"{name} *= {value}", f"{name}[::2] -= {value}", f"{name} += {name}",
        ]  # fmt: skip
        if self.kinds[name] == "b":
            forms += [
                f"{name}[0], {name}[-1] = {name}[-1].copy(), {name}[0] * {value}", f"{name}[:, 0] = {name}[:, -1]",
                f"{name}.T[0] += {name}.T[-1] * {value}", f"{name}.T[-1] = {name}[:, 0]",
                f"{name}[[0, -1]] = {name}[[-1, 0]]",
            ]  # fmt: skip
        self.line(self.choose(forms))

    def do_rows(self) -> None:
        """A loop over the rows of a matrix, which are written through."""
        matrices = self.named("b")
        if not matrices:
            return
        matrix, name = self.choose(matrices), self.new("w")
        with self.block(f"for {name} in {matrix}{self.choose(('', '', '.T', '[::-1]'))}:"):
            self.kinds[name] = "a"
            self.loops.append("for")
            self.line(f"{self.element(name)} {self.choose(('+=', '*=', '='))} {self.float(1)}")
            self.statements(3)
            self.loops.pop()

    def do_list(self) -> None:
        """Lists of floats: made, grown, cut, handed on; never empty."""
        lists = self.named("l")
        if not lists or self.chance(20):
            name = self.choose([self.new("l"), *lists])
            values = ", ".join(f"{self.float(1)} * 1.0" for _ in range(self.number(1, 3)))
            forms = [f"[{values}]"] + [f"{n}{tail}" for n in lists[:2] for tail in ("", "[:]", "[::-1]")]
            self.line(f"{name} = {self.choose(forms)}")
            self.kinds[name] = "l"
            return
        name, value = self.choose(lists), f"{self.float(1)} * 1.0"
        item, other = (f"{name}[{self.index(name)}]" for _ in range(2))
        form = self.choose(("append", "item", "augment", "exchange", "pop", "insert", "walk", "walk", "reverse", "add"))
        if form in ("append", "insert", "add"):
            text = {"append": f"{name}.append({value})", "insert": f"{name}.insert({self.index(name)}, {value})"}
            with self.block(f"if len({name}) < 8:"):
                self.line(text.get(form, f"{name} = {name} + [{value}]"))
        elif form == "item":
            self.line(f"{item} = {value}")
        elif form == "augment":
            self.line(f"{item} {self.choose(('+=', '*=', '-='))} {value}")
        elif form == "exchange":
            self.line(f"{item}, {other} = {other}, {item}")
        elif form == "pop":
            target = self.choose(self.named("f") or [self.new("v")])
            with self.block(f"if len({name}) > 1:"):
                self.line(f"{target} = {name}.pop({self.choose(('', '0', '-1'))})")
        elif form == "reverse":
            self.line(f"{name}.reverse()")
        else:
            element = self.new("e")
            with self.block(f"for {element} in {name}[:4]:"):
                self.kinds[element] = "f"
                self.loops.append("for")
                self.statements(3)
                self.loops.pop()
