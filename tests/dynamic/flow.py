"""Statements of random dynamic programs about names and the order of things: what is bound late, deleted or not bound, containers that
change while they are gone through, targets of all kinds, groups within groups of exceptions, generators that are left in `with` and `try`.
"""

from __future__ import annotations

from collections.abc import Callable

from .features import Writing

TOOLS = {
    "stumbling": """
class stumbling:
    def __init__(self, z, n, at):
        self.z, self.n, self.at, self.k = z, n, at, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.k += 1
        self.z = self.z * 0.75 + 0.1
        if self.k == self.at:
            raise ValueError(self.k)
        if self.k > self.n:
            raise StopIteration
        return self.z * self.k

    def __call__(self, *values):
        return next(self) * sum(values)

    def odd(self, *values):
        return bool(self.k % 2) if self(*values) > -100.0 else None

    @property
    def kept(self):
        if "kept_" not in self.__dict__:
            self.kept_ = self.z * self.z
        return self.kept_


def asked_again(items, some, n):
    total = 0.0
    for i in range(n):
        try:
            y = next(items)
            while isinstance(y, tuple):
                y = y[0] + y[-1] if i % 2 else y[-1]
            total = total * 0.5 + y * some.z
            some.z += y * 0.1
        except ValueError:
            total -= some.z
            some.z *= 1.25
        except StopIteration:
            total += 0.1 * some.z
    return total
""",
    "kept": """
class kept:
    def __init__(self, z, *more):
        self.z = z
        self.more = more

    def __enter__(self):
        return (self.z, *self.more) if self.more else self.z

    def __exit__(self, kind, error, trace):
        LOG.append(self.z * 0.01)
        return kind is IndexError


def within_kept(z, n):
    try:
        with kept(z, n) as (y, k):
            for i in range(k + 1):
                got = yield y * i
                y = y * 0.5 + (got or 0.1)
                if i == 2:
                    raise IndexError
    except GeneratorExit:
        LOG.append(y * 0.1)
    else:
        yield y
    finally:
        LOG.append(z * 0.02)
""",
    "grouped": """
def grouped(z, n):
    errors = [ValueError(z), KeyError(z * 0.5), ExceptionGroup("inner", [ValueError(z * 2.0), IndexError(z - 1.0)])]
    raise ExceptionGroup("outer", errors[: n + 1])


def values_of(group):
    return sum(values_of(e) if isinstance(e, BaseExceptionGroup) else e.args[0] for e in group.exceptions)


def sorted_out(z, n):
    total = 0.0
    try:
        try:
            grouped(z, n)
        except* ValueError as some:
            total += values_of(some)
            if n == 2:
                raise TypeError(z * 0.25)
        except* KeyError as some:
            total -= values_of(some) * 0.5
        finally:
            total = total * 0.75
    except* (IndexError, TypeError) as rest:
        total = total + 0.1 * values_of(rest)
    return total
""",
    "tried": """
def tried(z, n):
    for k in range(3):
        try:
            if k == n:
                return z * k
            if n < 0:
                raise ValueError(z)
        except ValueError as error:
            z = z + error.args[0]
            continue
        finally:
            if k == 1:
                break
            z = z * 0.75
    else:
        return -z
    while True:
        try:
            z += 0.25
            return z
        finally:
            if abs(z) < 1.0:
                continue


def counted(z):
    counted.times += 1
    counted.total = counted.total * 0.5 + z
    if counted.times % 2:
        return counted.total
    del counted.__dict__["extra"]
    return z


counted.times, counted.total, counted.extra = 0, 0.5, 1.0


def told_apart(*args, **kwargs):
    match args, kwargs:
        case (y,), {}:
            return y
        case (y, [z, *_]), {}:
            return y * z
        case (y, int(n) | [n]), {"by": by, **rest}:
            return y * n + by + sum(rest.values())
        case (), {"y": y} | {"by": y}:
            return y * 0.5
        case [y, *rest], _ if rest:
            return y - told_apart(*rest)
        case _:
            return 0.25
""",
}
NAMES = {"kept": "(?:kept|within_kept)", "grouped": "(?:grouped|sorted_out)", "tried": "(?:tried|counted|told_apart)"}


def names(w: Writing) -> None:
    """Names that are deleted, not bound, bound late, bound in another function."""
    v = lambda: w.value(0)
    x = w.let("x", v())
    a = w.new("late")
    form = w.choose(["deleted", "unbound", "handler", "late", "lazy", "local", "global", "defaults", "class"])
    if form == "deleted":
        w.line(f"{a} = {v()}")
        w.line(w.choose([f"{x} = {x} * {a}", f"{x} = (lambda: {a})() + {x}", "pass"]))
        with w.block(f"if {w.condition()}:"):
            w.line(f"del {a}")
        with w.block("try:"):
            w.line(f"{x} = {x} + {a}")
        with w.block("except NameError:"):
            w.line(f"{a} = {x} * {v()}")
        w.line(f"{x} = {x} - {a} * 0.5")
    elif form == "unbound":
        with w.block(f"for {a} in range({w.integer()}):"):
            w.line(f"{a}_ = {a} * {v()}")
        with w.block("try:"):
            w.line(f"{x} = {x} * 0.5 + {a}_")
        with w.block("except UnboundLocalError:"):
            w.line(f"{x} = {x} - {v()}")
    elif form == "handler":
        w.line(f"{a} = {v()}")
        with w.block("try:"):
            w.line(f"raise ValueError({a})")
        with w.block(f"except ValueError as {a}:"):
            w.line(f"{x} = {x} + {a}.args[0] * {v()}")
        with w.block("try:"):
            w.line(f"{x} = {x} + {a}")
        with w.block("except NameError:"):
            w.line(f"{x} = {x} * {v()}")
    elif form == "late":
        w.line(f"{a} = {v()}")
        w.line(f"{a}s = [lambda z: z * {a}, lambda z, y={a}: z - y]")
        w.line(f"{a} = {a} * {v()}")
        w.line(f"{x} = sum(h({v()}) for h in {a}s) + {x}")
    elif form == "lazy":
        w.line(f"{a} = {v()}")
        w.line(f"{a}s = ({w.choose([f'y * {a}', f'(y, {a})[1]'])} for y in ({v()}, {a}))")
        w.line(f"{a} = {a} + {v()}")
        w.line(f"{x} = {x} + {w.choose([f'sum({a}s)', f'next({a}s) * {a}', f'[*{a}s][1]'])}")
    elif form == "local":
        w.line(
            w.choose(
                [
                    f"from operator import mul as {a}",
                    f"{a} = __import__('operator').sub",
                    f"import operator as {a}; {a} = {a}.add",
                ]
            )
        )
        w.line(f"{x} = {x} + {a}({v()}, {x})")
    elif form == "global":
        with w.block(f"def {a}(z):"):
            w.line("global LATE")
            w.line(f"LATE = globals().get('LATE', {w.choose(['0.5', 'z'])}) * 0.5 + z")
            w.line("return LATE")
        w.line(f"{x} = {a}({v()}) + {x} * {a}({v()})")
        w.line("globals().pop('LATE')")
    elif form == "defaults":
        with w.block(f"def {a}(y, z={v()}, *rest, by=({v()}, {v()}), **more):"):
            w.line("return y * z - sum(by) + sum(rest) * len(more)")
        w.line(w.choose([f"{a}.__defaults__ = ({v()},)", f"{a}.__kwdefaults__['by'] = ({v()},)", "pass"]))
        w.line(
            f"{x} = {x} + {a}({w.choose([v(), f'{v()}, {v()}', f'*[{v()}, {v()}, {v()}], k={v()}', f'y={v()}, by=[{v()}]'])})"
        )
    else:
        with w.block(f"class {a}:"):
            w.line(f"y = {v()}")
            w.line(f"z = y * {x}")
            w.line(f"y {w.choose('+-*')}= {v()}")
            with w.block(f"for k in range({w.integer()}):"):
                w.line("z = z * 0.5 + k")
        w.line(
            f"{x} = {a}.z + {a}.y * {w.choose(['0.5', f'getattr({a}, repr(0.5), {v()})', f'vars({a}).get(chr(107), {v()})'])}"
        )


def while_gone_through(w: Writing) -> None:
    """Containers that change while they are gone through; slices as objects; iterators that are shared."""
    v = lambda: w.value(0)
    a, x = w.new("through"), w.let("x", v())
    form = w.choose(["list", "list", "dict", "shared", "slices", "sort", "strict", "keys"])
    if form == "list":
        w.line(f"{a} = [{v()}, {v()}, {v()}]")
        with w.block(f"for y_ in {w.choose([a, a, f'reversed({a})', f'iter({a})', f'enumerate({a})'])}:"):
            w.line("y_ = y_[1] if isinstance(y_, tuple) else y_")
            w.line(f"{x} = {x} * 0.5 + y_")
            with w.block(f"if len({a}) < 6 and y_ > {v()}:"):
                w.line(
                    w.choose(
                        [
                            f"{a}.append(y_ * {v()} - 0.5)",
                            f"{a}.insert(0, {v()})",
                            f"{a}.pop()",
                            f"{a}.remove(y_)",
                            f"{a}[-1] = y_ * {v()}",
                            f"{a}[:1] = []",
                        ]
                    )
                )
        w.line(f"{x} = {x} + sum({a})")
    elif form == "dict":
        w.line(f"{a} = {{'a': {v()}, 'b': {v()}}}")
        with w.block("try:"), w.block(f"for k_, y_ in {a}.items():"):
            w.line(f"{x} = {x} * 0.5 + y_")
            w.line(
                w.choose(
                    [f"{a}[k_] = y_ * {v()}", f"{a}[k_ + 'c'] = y_", f"{a}.pop('b', None)", f"{a}.update(a={v()})"]
                )
            )
        with w.block("except RuntimeError:"):
            w.line(f"{x} = {x} * {v()}")
        w.line(f"{x} = {x} + sum({a}.values())")
    elif form == "shared":
        w.line(f"{a} = iter([{v()}, {v()}, {v()}, {v()}, {v()}])")
        w.line(
            f"{x} = {x} + {w.choose([f'sum(y * z for y, z in zip({a}, {a}))', f'next({a}) * sum({a})', f'sum(itertools.islice({a}, 2)) - next({a})', f'max(itertools.takewhile(lambda z: z < 0.9, {a}), default={v()}) + next({a}, 0.5)'])}"
        )
        w.line(f"{x} = {x} * 0.5 + next({a}, {v()})")
    elif form == "slices":
        w.line(f"{a} = [{v()}, {v()}, {v()}, {v()}]")
        w.line(
            f"some_ = slice({w.choose(['None', '0', '1', '-1', '-2'])}, {w.choose(['None', '2', '-1'])}, {w.choose(['None', '2', '-1'])})"
        )
        w.line(
            w.choose(
                [
                    f"{a}[some_] = [y * {v()} for y in {a}[some_]]",
                    f"del {a}[some_]",
                    f"{x} = {x} + sum({a}[some_])",
                    f"{a}.__setitem__(slice(1, 2), ({v()}, {v()}))",
                ]
            )
        )
        w.line(f"{x} = {x} + sum(i * y for i, y in enumerate({a})) + len(range(4)[some_])")
    elif form == "sort":
        w.line(f"{a} = [{v()}, {v()}, {v()}]")
        with w.block("try:"):
            w.line(
                f"{a}.sort(key=lambda z: {w.choose(['1.0 / (z - ' + v() + ')', 'check(z)', f'({a}, z)[1]', 'None if z > 0.6 else z'])})"
            )
            w.line(f"{x} = {x} + {a}[0]")
        with w.block("except (ZeroDivisionError, KeyError, ValueError, TypeError) as error:"):
            w.line(f"{x} = {x} - len({a}) * {v()}")
        w.line(f"{x} = {x} + sum(i * y for i, y in enumerate({a}))")
    elif form == "strict":
        with w.block("try:"):
            w.line(
                f"{x} = {x} + sum(y * z for y, z in zip([{v()}, {v()}], {w.choose([f'({v()}, {v()})', f'steps({v()}, 3)', f'[{v()}]'])}, strict=True))"
            )
        with w.block("except ValueError as error:"):
            w.line(f"{x} = {x} * {v()}")
    else:
        w.line(f"{a} = {{{v()}: {v()}, {v()}: 0.5}}")
        w.line(f"{a}[{v()}] = {v()}")
        w.line(f"{x} = {x} + sum({w.choose([f'{a}.values()', f'{a}[k] for k in sorted({a})'])})")


def targets(w: Writing) -> None:
    """Targets of all kinds, in assignments, loops, `with`; conditions with assignments; functions that tell arguments apart."""
    v = lambda: w.value(0)
    a, x = w.new("target"), w.let("x", v())
    form = w.choose(["with", "for", "unpack", "walrus", "tried", "counted", "told", "groups", "generator"])
    if form == "with":
        w.line(f"{a} = [{v()}, types.SimpleNamespace(z={v()})]")
        target = w.choose([f"{a}[0]", f"{a}[1].z", f"({a}[0], {a}[1].z)", f"[{a}[1].z, *rest_]"])
        with w.block(f"with kept({v()}{', ' + v() if target[0] in '([' else ''}) as {target}, kept({v()}) as y_:"):
            w.line(f"{x} = {x} * {a}[0] + {a}[1].z - y_")
            with w.block(f"if {w.condition()}:"):
                w.line(f"[][{w.integer()}]")
            w.line(f"{a}[0] = {v()}")
        w.line(f"{x} = {x} + {a}[0] * {a}[1].z")
    elif form == "for":
        w.line(f"{a} = [{v()}, types.SimpleNamespace(z={v()})]")
        target, items = w.choose(
            [
                (f"{a}[0]", f"({v()}, {v()})"),
                (f"{a}[1].z", f"({v()}, {v()})"),
                (f"{a}[0], {a}[1].z", f"[({v()}, {v()}), ({v()}, 0.5)]"),
                (f"y_, *{a}[0:0]", f"[({v()}, {v()})]"),
            ]
        )  # type: ignore[misc]
        with w.block(f"for {target} in {items}:"):
            w.line(f"{x} = {x} * 0.5 + {a}[0] * {v()} - {a}[-1].z")
        w.line(f"{x} = {x} + {a}[-1].z * {a}[0]")
    elif form == "unpack":
        w.line(f"{a} = [{v()}, {v()}, {v()}]")
        w.line(w.choose([f"{a}[0], *{a}[1:] = {a}[::-1]", f"i_, {a}[i_] = 1, {v()}", f"{a}[0], {a}[0] = {v()}, {v()}", f"({a}[0], [y_, *{a}[2:]]), z_ = ({v()}, ({v()}, {v()}, {v()})), {v()}", f"{a} = {a}[1:] = [{v()}, {v()}]", f"*{a}, {a} = {a}, [{v()}, {v()}]"]))  # fmt: skip
        w.line(
            f"{x} = {x} + {a}[0] * 2 - {w.choose([f'sum(z for z in {a} if not isinstance(z, list))', f'len({a}) * {v()}'])}"
        )
    elif form == "walrus":
        texts = [
            f"[y_ := {x}, y_ * {v()}, (y_ := y_ + {v()})][1] * y_",
            f"[z_ := y * {v()} for y in ({v()}, {v()}) if (u_ := y) > -9][-1] * z_ + u_",
            f"(y_ := {v()}) + sum(y_ * z for z in ({v()}, y_))",
        ]
        texts += [
            f"max(y_ := {v()}, (z_ := y_ * {v()})) + z_",
            f"(lambda: (y_ := {x}) * y_)()",
            f"{{(k_ := 'a'): (y_ := {v()})}}[k_] * y_",
            f"(y_ if (y_ := {v()}) > {v()} else -y_)",
        ]
        w.line(f"{x} = {x} + {w.choose(texts)}")
        if w.chance(40):
            w.line(f"n_ = {w.integer()}")
            with w.block(f"while (n_ := n_ - 1) >= 0 and (y_ := {x} * 0.5) != {v()}:"):
                w.line(f"{x} = y_ + {v()}")
    elif form == "tried":
        w.line(f"{x} = {x} + tried({v()}, {w.choose(['-1', '0', '1', '2', '5'])})")
    elif form == "counted":
        with w.block("try:"):
            w.line(f"{x} = {x} + counted({v()})")
            w.line(f"{x} = {x} * counted({v()})")
        with w.block("except KeyError:"):
            w.line(f"{x} = {x} - counted.total * counted.times")
        w.line(f"counted.extra = {v()}")
    elif form == "told":
        given = [
            v(),
            f"{v()}, [{v()}, {v()}]",
            f"{v()}, {w.integer()}, by={v()}",
            f"{v()}, [{v()}], by={v()}, k={v()}",
            f"y={v()}",
            f"by={v()}, k=0",
            f"{v()}, {v()}, {v()}",
            "",
            f"*[{v()}, {v()}]",
        ]
        w.line(f"{x} = {x} + told_apart({w.choose(given)})")
    elif form == "groups":
        if w.chance(50):
            w.line(f"{x} = {x} + sorted_out({v()}, {w.choose('012')})")
        else:
            with w.block("try:"):
                w.line(f"grouped({v()}, {w.choose('012')})")
            with w.block("except ExceptionGroup as group:"):
                some = [
                    "group",
                    "group.subgroup(ValueError)",
                    "group.subgroup(lambda e: not isinstance(e, KeyError))",
                    "group.split(ValueError)[0]",
                    "group.derive([ValueError(0.5)])",
                ]
                w.line(f"{x} = {x} + values_of({w.choose(some)})")
    else:
        w.line(f"{a} = within_kept({v()}, {w.integer()})")
        w.line(f"{x} = {x} + {w.choose([f'next({a})', f'sum({a})', f'[*{a}][-1]'])}")
        w.line(w.choose([f"{a}.close()", f"{x} = {x} + sum({a})", f"{x} = {x} - next({a}, {v()})"]))
        w.line(f"{a}.close()")


def that_go_on(w: Writing) -> None:
    """Iterators that raise an exception and are asked again, and leave items aside; keys that keep what they have computed."""
    v = lambda: w.value(0)
    a, x = w.new("stumbler"), w.let("x", v())
    w.line(f"{a} = stumbling({v()}, {w.choose(['3', '5', '9'])}, {w.choose(['1', '2', '4'])})")
    source = w.choose(
        [f"[{v()}, {v()}, {v()}, {v()}]", f"({v()}, {v()}, {v()})", f"steps({v()}, 4)", f"stumbling({v()}, 4, 2)"]
    )
    if w.choose([True, True, True, False]):
        some = [
            f"map({a}, {source})",
            f"filter({a}.odd, {source})",
            f"itertools.filterfalse({a}.odd, {source})",
            f"itertools.takewhile({a}, {source})",
            f"itertools.dropwhile({a}.odd, {source})",
            f"itertools.accumulate({source}, {a})",
            f"itertools.accumulate({a}, initial={v()})",
            f"itertools.starmap({a}, zip({source}, {source}))",
            f"zip({source}, {a})",
            f"zip(map({a}, {source}), {source})",
            f"enumerate({a})",
            f"itertools.chain({source}, {a}, {source})",
            f"itertools.islice(map({a}, {source}), 1, 4, 2)",
            f"itertools.compress(map({a}, {source}), [1, 0, 1, 1])",
            f"itertools.zip_longest({source}, {a}, fillvalue={v()})",
            f"itertools.tee({a})[1]",
            f"itertools.cycle({a})",
            f"itertools.pairwise({a})",
            f"map(lambda group: sum(group[1]), itertools.groupby({source}, {a}.odd))",
            f"(y * {v()} for y in {a})",
        ]
        w.line(f"{x} = {x} + asked_again(iter({w.choose(some)}), {a}, {w.choose(['3', '6', '9'])})")
    else:
        w.line(f"some_ = [{a}, stumbling({v()}, 3, 2), stumbling({v()}, 3, 2)]")
        chosen = [
            "sorted(some_, key=lambda z: z.kept)",
            "[max(some_, key=lambda z: z.kept)]",
            "[z for z in some_ if z.kept > 0.3]",
        ]
        w.line(f"{x} = {x} + sum(z.kept for z in {w.choose(chosen)}) + {a}.kept")
    w.line(f"{x} = {x} * 0.5 + {a}.z")


STATEMENTS: tuple[Callable[[Writing], None], ...] = (names, while_gone_through, targets, targets, that_go_on)
