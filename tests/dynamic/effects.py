"""Statements of random dynamic programs about the order in which effects happen and who sees them: expressions whose parts change
something, `finally` and `with` that change what is returned or raised, chained exceptions, variables of several functions.
"""

from __future__ import annotations

from collections.abc import Callable

from .features import Writing

TOOLS = {
    "tell": """
TOLD = [0.5]


def tell(z):
    TOLD.append(TOLD[-1] * 0.5 + z)
    return z


def told(z, n=1):
    for k in range(n):
        yield tell(z * 0.5 ** k) + TOLD[-1] * 0.25


def ordered(a, b=0.5, *rest, c=0.25, **more):
    return a - 0.5 * b + sum(z * (k + 1) for k, z in enumerate(rest)) + c * sum(more.values()) + TOLD[-1] * 0.125
""",
    "settled": """
def settled(z, n):
    try:
        if n == 0:
            return z
        if n == 1:
            raise ValueError(z * 0.5)
        if n == 2:
            raise KeyError(z * 0.25)
        z = z * 2.0
    except ValueError as error:
        z = z + error.args[0]
        return z * 0.5
    finally:
        z = z - 0.25
        LOG.append(z * 0.01)
        if n == 2:
            return z * 0.75
    return z


def passed_on(z, n):
    total = z
    for k in range(n + 1):
        try:
            try:
                total = total * 0.5 + settled(z, k)
                if k == 1:
                    continue
                if k == 3:
                    break
                raise IndexError(total)
            finally:
                total += 0.1 * z
        except IndexError as error:
            total = total - 0.25 * error.args[0]
        else:
            total = total + 1.0
    return total


def chained(z, n):
    try:
        try:
            raise ValueError(z)
        except ValueError as error:
            if n == 0:
                raise KeyError(z * 0.5) from error
            if n == 1:
                raise KeyError(z * 0.25) from None
            raise KeyError(error.args[0] * 0.75)
    except KeyError as error:
        before = error.__cause__ or error.__context__
        return error.args[0] + (before.args[0] if n != 1 else 0.5) * (1.0 if error.__suppress_context__ else 0.5)
""",
    "Guard": """
class Guard:
    def __init__(self, z, kinds=(ValueError,)):
        self.z = z
        self.kinds = kinds

    def __enter__(self):
        self.z = self.z * 0.5
        return self

    def __exit__(self, kind, error, trace):
        if error is not None and error.args:
            self.z = self.z + 0.5 * error.args[0]
        LOG.append(self.z * 0.01)
        return kind is not None and issubclass(kind, self.kinds)


def guarded(z, n):
    with Guard(z) as guard:
        guard.z += z
        if n == 0:
            return guard.z
        if n == 1:
            raise ValueError(z * guard.z)
        z = z - guard.z
    return z + guard.z * 0.25


def within(z, n):
    for k in range(3):
        with Guard(z, (ValueError, IndexError)) as outer, Guard(outer.z) as inner:
            z = z * 0.5 + inner.z
            if k == n:
                break
            if k == n - 1:
                continue
            if k == n - 2:
                raise IndexError(z)
        z = z + outer.z * inner.z
    return z
""",
}
NAMES = {
    "tell": "(?:tell|told|ordered|TOLD)",
    "settled": "(?:settled|passed_on|chained)",
    "Guard": "(?:Guard|guarded|within)",
}


def order(w: Writing) -> None:
    """Operands, arguments, subscripts, comparisons and items that have effects."""
    v = lambda: w.value(0)
    t = lambda: f"tell({v()})"
    texts = [
        f"{t()} - TOLD[-1] * {t()}",
        f"ordered({t()}, {t()}, {t()}, c={t()})",
        f"ordered(*({t()}, {t()}), d={t()}, **{{'e': {t()}}})",
    ]
    texts += [
        f"({t()} if {t()} > {t()} else TOLD[-1])",
        f"(0.5 if {t()} < {t()} < {t()} else TOLD[-1])",
        f"({t()} and {t()} or {t()})",
    ]
    texts += [
        f"{{{w.integer()}: {t()}, 'k': {t()}}}['k'] + TOLD[-1]",
        f"[{t()}, {t()}][int({t()} > 0)]",
        f"({t()}, TOLD[-1], {t()})[1]",
    ]
    texts += [
        f"any(tell(z) > {v()} for z in ({v()}, {v()}, 0.5)) * TOLD[-1]",
        f"all(tell(z) < {v()} for z in ({v()}, {v()})) + TOLD[-1]",
    ]
    texts += [f"next(tell(z) for z in ({v()}, {v()}) if tell(z) != {v()}) + TOLD[-1] if {v()} != {v()} else TOLD[-1]"]
    texts += [
        f"sum(y * z for y, z in zip(told({v()}, 3), (tell(e) for e in ({v()}, {v()})))) + TOLD[-1]",
        f"sum(tell(z) * TOLD[-1] for z in ({v()}, {v()}))",
    ]
    texts += [
        f"max((tell(z), TOLD[-1]) for z in ({v()}, {v()}))[1]",
        f"sum(told({v()}, 3)) - TOLD[-1]",
        f"min(told({v()}, 2)) * TOLD[-1]",
    ]
    texts += [
        f"[tell(z) + TOLD[-2] for z in ({v()}, {v()}) if tell(z) > {v()} or TOLD[-1] < 2.0][-1:] == [] and 0.5 or TOLD[-1]"
    ]
    texts += [
        f"sum({{k: tell(z) for k, z in zip('ab', ({v()}, {v()}))}}.values()) + TOLD[-1]",
        f"(lambda y, z={t()}: y * z + TOLD[-1])({t()})",
    ]
    texts += [
        f"sum(sorted(told({v()}, 3), key=lambda z: tell(-z))[:2]) + TOLD[-1]",
        f"functools.reduce(lambda y, z: tell(y * 0.5 + z), told({v()}, 2))",
    ]
    x = w.let("x", w.choose(texts))
    if x in w.frozen or w.inner:
        return
    form = w.choose(["none", "targets", "augmented", "while", "loop"])
    if form == "targets":
        l = w.new("told")
        w.line(f"{l} = [0.5, {v()}, {v()}]")
        w.line(w.choose([f"{l}[int({t()} > 0)], {l}[2] = {t()}, TOLD[-1]", f"{l}[0] = {l}[1] = {t()}", f"{l}[1:] = told({v()}, 2)", f"*{l}, {x} = told({v()}, 3)"]))  # fmt: skip
        w.line(f"{x} = {x} + sum({l})")
    elif form == "augmented":
        w.line(
            w.choose(
                [f"{x} += {t()} + {x}", f"{x} *= tell({x})", f"TOLD[-1] += {t()}", f"TOLD[int({t()} > 9.0)] -= {t()}"]
            )
        )
        w.line(f"{x} = {x} + TOLD[-1] * TOLD[0]")
    elif form == "while":
        with w.block(f"while tell({x}) > {v()} and len(TOLD) < 40:"):
            w.line(f"{x} = {x} * 0.5 - abs({v()}) - 0.25")
    elif form == "loop":
        with w.block(f"for {w.new('y')}_ in told({v()}, {w.integer()}):"):
            w.line(f"{x} = tell({x} * 0.5) + TOLD[0]")
            if w.chance(40):
                with w.block(f"if TOLD[-1] > {v()}:"):
                    w.line(w.choose(["break", "continue"]))
            w.line(f"TOLD[0] = {x} * {v()}")


def leaving(w: Writing) -> None:
    """Functions that are left by exceptions, with `finally` and `with` on their way."""
    v, n = lambda: w.value(0), w.choose(["0", "1", "2", "3", w.integer()])
    texts = [
        f"settled({v()}, {n})",
        f"passed_on({v()}, {n})",
        f"chained({v()}, {n})",
        f"guarded({v()}, {n})",
        f"within({v()}, {n})",
    ]
    if w.chance(60):
        w.let(
            "x",
            w.choose(
                [*texts, f"sum(settled({v()}, k) for k in range(4))", f"sum(map(guarded, ({v()}, {v()}), (0, 1)))"]
            ),
        )
        return
    x, guard = w.let("x", v()), w.new("guard")
    if x in w.frozen or w.inner:
        return
    kinds = w.choose(["(ValueError,)", "(KeyError, IndexError)", "(Exception,)"])
    with w.block("try:"):
        with w.block(f"with Guard({v()}, {kinds}) as {guard}:"):
            w.line(f"{x} = {x} * {guard}.z + {v()}")
            with w.block(f"if {w.condition()}:"):
                w.line(
                    w.choose(
                        [
                            f"raise ValueError({x})",
                            f"raise KeyError({v()})",
                            f"[{x}][3]",
                            f"raise IndexError({v()}, {x})",
                            "{}[0.5]",
                        ]
                    )
                )
            w.line(f"{x} = {x} - {w.choose(texts)}")
        w.line(f"{x} += {guard}.z")
    with w.block("except (KeyError, IndexError) as error:"):
        w.line(f"{x} = {x} * 0.5 + {guard}.z + {w.choose(['len(error.args)', '0.25', v()])}")
    with w.block("except ValueError as error:"):
        w.line("error.add_note('seen')")
        w.line(f"{x} = {x} - error.args[0] * {v()}")
    if w.chance(50):
        with w.block("finally:"):
            w.line(f"{x} = {x} * 0.75 + {guard}.z * {v()}")


def outer_variables(w: Writing) -> None:
    """Variables that functions and generators of several levels change, while others read them."""
    v = lambda: w.value(0)
    outer, x = w.new("shared"), w.new("x")
    form = w.choose(["accumulate", "generator", "handler", "deleted", "later"])
    with w.block(f"def {outer}(y_, n_):"):
        w.line("total, count = y_, 0")
        with w.block("def change(z):"):
            w.line("nonlocal total, count")
            w.line("count += 1")
            w.line(f"total = total * 0.5 + z * {v()}")
            w.line("return total")
        if form == "accumulate":
            w.line("values = [change(z) * total for z in (y_, total, count)]")
            w.line("return sum(values) + total + sum(map(change, values))")
        elif form == "generator":
            with w.block("def each():"):
                w.line("nonlocal total")
                with w.block("for k in range(n_):"):
                    w.line("total = total + 0.25 * k")
                    w.line("got = yield change(total)")
                    w.line("total = total if got is None else total * got")
            w.line("steps_ = each()")
            w.line("value = next(steps_, y_) + total")
            with w.block("if n_ > 1:"):
                w.line(f"value = value * steps_.send({v()}) + total")
            w.line("return value + sum(steps_) + total * count")
        elif form == "handler":
            with w.block("def attempt(z):"):
                w.line("nonlocal total")
                with w.block("try:"):
                    w.line("total = change(z) + 0.25")
                    with w.block("if count > 1:"):
                        w.line("raise ValueError(total)")
                    w.line("return total")
                with w.block("finally:"):
                    w.line("total = total * 0.5")
            with w.block("for k in range(n_):"):
                with w.block("try:"):
                    w.line("y_ = y_ + attempt(y_)")
                with w.block("except ValueError as error:"):
                    w.line("total = total + error.args[0] * y_")
            w.line("return total + y_ * count")
        elif form == "deleted":
            with w.block("if n_ > 1:"):
                w.line("del total")
            with w.block("try:"):
                w.line("y_ = change(y_)")
            with w.block("except NameError:"):
                w.line("total = y_ * 0.5")
            w.line("return change(y_) + total + count")
        else:
            w.line("table = {}")
            with w.block("for k in range(2):"):
                w.line("table[k] = lambda z, k=k: later(z) * (k + 1) + total")
            w.line("later = lambda z: change(z) - 0.5")
            w.line("first = table[0](y_)")
            w.line("later = change")
            w.line("return first + table[1](y_) * total")
    w.line(f"{x} = {outer}({v()}, {w.integer()})")
    w.bind(x)


STATEMENTS: tuple[Callable[[Writing], None], ...] = (order, order, leaving, outer_variables)
