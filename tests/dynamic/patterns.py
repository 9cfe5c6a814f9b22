"""Statements of random dynamic programs about objects that work together: observers, state machines, visitors, linked objects, copies
that a class makes itself, dispatch by type.
"""

from __future__ import annotations

from collections.abc import Callable

from .features import Writing

TOOLS = {
    "Subject": """
class Subject:
    def __init__(self, z):
        self._z = z
        self.watchers = []

    def watch(self, function):
        self.watchers.append(function)
        return function

    @property
    def z(self):
        return self._z

    @z.setter
    def z(self, value):
        before, self._z = self._z, value
        for watcher in self.watchers:
            watcher(before, value)


class Ledger:
    def __init__(self):
        self.total = 0.0
        self.changes = []

    def note(self, before, after):
        self.total = self.total * 0.5 + after - before
        self.changes.append(after * 0.1)


class Machine:
    def __init__(self, z):
        self.z = z
        self.state = "idle"
        self.table = {"idle": self.idle, "up": self.up, "down": self.down}

    def idle(self, y):
        return "up" if y > self.z else "down"

    def up(self, y):
        self.z = self.z * 0.5 + y
        return "idle" if self.z > 1.0 else "up"

    def down(self, y):
        self.z -= y * 0.25
        return "up"

    def run(self, values):
        for y in values:
            self.state = self.table[self.state](y)
        return self.z * len(self.state)
""",
    "Visitor": """
class Num:
    def __init__(self, z):
        self.z = z


class Add:
    def __init__(self, a, b):
        self.a, self.b = a, b


class Mul(Add):
    pass


class Visitor:
    def visit(self, node):
        return getattr(self, "visit_" + type(node).__name__.lower(), self.otherwise)(node)

    def otherwise(self, node):
        return node * 0.5

    def visit_num(self, node):
        return node.z

    def visit_add(self, node):
        return self.visit(node.a) + self.visit(node.b)


class Multiplying(Visitor):
    depth = 0

    def visit_mul(self, node):
        self.depth += 1
        return self.visit(node.a) * self.visit(node.b) + 0.1 * self.depth

    def visit_add(self, node):
        return super().visit_add(node) * 0.5


def slope_of(node):
    match node:
        case Num(z=z):
            return Num(1.0)
        case Mul(a=a, b=b):
            return Add(Mul(slope_of(a), b), Mul(a, slope_of(b)))
        case Add(a=a, b=b):
            return Add(slope_of(a), slope_of(b))
        case _:
            return node
""",
    "Chain": """
class Link:
    __slots__ = ("z", "next")

    def __init__(self, z, next=None):
        self.z = z
        self.next = next


class Chain:
    def __init__(self, values=()):
        self.first = None
        self.length = 0
        for value in values:
            self.put(value)

    def put(self, value):
        at, before = self.first, None
        while at is not None and at.z < value:
            before, at = at, at.next
        link = Link(value, at)
        if before is None:
            self.first = link
        else:
            before.next = link
        self.length += 1
        return self

    def __iter__(self):
        at = self.first
        while at is not None:
            yield at.z
            at = at.next

    def turn(self):
        done, at = None, self.first
        while at:
            at.next, done, at = done, at, at.next
        self.first = done

    def __delitem__(self, n):
        if n == 0:
            self.first = self.first.next
            return
        at = self.first
        for _ in range(n - 1):
            at = at.next
        at.next = at.next.next

    def each(self, function):
        at = self.first
        while at is not None:
            at.z = function(at.z)
            at = at.next
        return self
""",
    "Named": """
class Named:
    def __init__(self, z):
        self.z = z
        self.pair = (z, 0.5)
        self.rest = [z]
        self.left = self.right = None
        self.asked = 0

    def put(self, z):
        side = "left" if z < self.z else "right"
        below = getattr(self, side)
        if below is None:
            setattr(self, side, Named(z))
        else:
            below.put(z)
        return self

    def __iter__(self):
        for side in ("left", "right"):
            below = getattr(self, side)
            if below is not None:
                yield from below
        yield self.z

    def __len__(self):
        return len(self.rest) + (self.left is not None)

    def __bool__(self):
        self.asked += 1
        return self.z > 0.0
""",
    "Copied": """
class Copied:
    def __init__(self, z, items=None):
        self.z = z
        self.items = [z] if items is None else items

    def __copy__(self):
        return Copied(self.z * 0.5, self.items)


class Adder:
    def __init__(self, z):
        self.z = z

    @functools.singledispatchmethod
    def add(self, value):
        self.z = self.z + value
        return self

    @add.register(list)
    @add.register(tuple)
    def _(self, values):
        for value in values:
            self.add(value)
        return self

    @add.register
    def _(self, values: dict):
        return self.add([v * 0.5 for v in values.values()])

    less = functools.partialmethod(add, -0.5)
""",
}
NAMES = {
    "Subject": "(?:Subject|Machine)",
    "Visitor": "(?:Visitor|Multiplying|slope_of)",
    "Copied": "(?:Copied|Adder)",
}


def patterns(w: Writing) -> None:
    """Observers, state machines, visitors, linked objects, copies made by methods, dispatch by type."""
    v = lambda: w.value(0)
    a = w.new("made")
    form = w.choose(["observer", "machine", "visitor", "slopes", "chain", "copied", "adder", "named"])
    if form == "observer":
        ledger = w.new("ledger")
        w.line(f"{a}, {ledger} = Subject({v()}), Ledger()")
        w.line(f"{a}.watch({ledger}.note)")
        if w.chance(50):
            with w.block(f"@{a}.watch\n" + "    " * w.indent + "def noted(before, after):"):
                w.line(f"{ledger}.total = {ledger}.total + after * {v()}")
        for _ in range(2):
            w.line(
                w.choose(
                    [
                        f"{a}.z = {v()}",
                        f"{a}.z *= {v()}",
                        f"{a}.z, {ledger}.total = {ledger}.total, {a}.z",
                        f"{a}.watchers.reverse()",
                    ]
                )
            )
        w.let("x", f"{ledger}.total + {a}.z * {w.choose(['0.5', f'sum({ledger}.changes)'])}")
    elif form == "machine":
        w.line(f"{a} = Machine({v()})")
        w.let(
            "x",
            f"{a}.run([{v()}, {v()}, {v()}, {v()}]) + {a}.table[{w.choose([repr('up'), f'{a}.state'])}]({v()}).count('u') * {a}.z",
        )
    elif form in ("visitor", "slopes"):
        leaf = lambda: w.choose([f"Num({v()})", f"Num({v()})", v()])
        tree = f"Add(Mul({leaf()}, {leaf()}), {w.choose([leaf(), f'Mul({leaf()}, Add({leaf()}, {leaf()}))'])})"
        visitor = "Multiplying()"
        w.let("x", f"{visitor}.visit({tree if form == 'visitor' else f'slope_of({tree})'})")
    elif form == "chain":
        w.line(f"{a} = Chain([{v()}, {v()}, {v()}])")
        for _ in range(2):
            w.line(w.choose([f"{a}.put({v()})", f"{a}.turn()", f"del {a}[{w.integer()} % 2]", f"{a}.each(lambda z: z * {v()})", f"{a}.first.z = {v()}", f"{a}.first.next.z += {v()}"]))  # fmt: skip
        w.let(
            "x",
            w.choose(
                [
                    f"sum(i * z for i, z in enumerate({a}, 1))",
                    f"max({a})",
                    f"[*{a}][-1] * {a}.length",
                    f"sum(y * z for y, z in itertools.pairwise({a}))",
                ]
            ),
        )
    elif form == "named":
        w.line(f"{a} = Named({v()}).put({v()}).put({v()})")
        name = w.choose(["z", "z", "pair", "rest", "left", "right"])
        values = {"z": [v()], "pair": [f"({v()}, {v()})"], "rest": [f"[{v()}]", f"[{v()}, 0.5]"]}
        w.line(f"setattr({a}, {name!r}, {w.choose(values.get(name, [f'Named({v()})', 'None']))})")
        read = [f"getattr({a}, 'z')", f"getattr({a}, 'p' + 'air')[0]", f"getattr({a}, 'rest')[-1]", f"sum({a})"]
        read += [
            f"getattr(getattr({a}, 'left') or {a}, 'z')",
            f"sum(getattr(y, 'z') for y in (({a}, {a}.left or {a})))",
        ]
        w.let("x", f"{w.choose(read)} * len({a}) + {w.choose(read)} * {a}.asked")
    elif form == "copied":
        w.line(f"{a} = Copied({v()}{w.choose(['', f', [{v()}]'])})")
        w.line(
            f"{a}_ = {w.choose([f'copy.copy({a})', f'copy.deepcopy({a})', f'copy.deepcopy([{a}, {a}])[1]', f'copy.copy([{a}])[0]'])}"
        )
        w.line(w.choose([f"{a}_.items.append({v()})", f"{a}.items[0] = {v()}", f"{a}_.z *= {v()}"]))
        w.let("x", f"{a}.z + {a}_.z * sum({a}.items) + sum({a}_.items)")
    else:
        w.line(f"{a} = Adder({v()})")
        w.let(
            "x",
            f"{a}.add({w.choose([v(), f'[{v()}, ({v()}, {v()})]', f'{{0: {v()}, 1: {v()}}}'])}).z + {a}.{w.choose(['less()', f'add({v()})'])}.z",
        )


STATEMENTS: tuple[Callable[[Writing], None], ...] = (patterns, patterns)
