"""Statements of random dynamic programs about the rest of the language: containers of all kinds and their methods, comprehensions,
arguments, iterators and generators that are thrown into, context managers, groups of exceptions, nested functions.
"""

from __future__ import annotations

from collections.abc import Callable

from .features import Writing

TOOLS = {
    "Default": """
class Default(dict):
    def __missing__(self, key):
        self[key] = made = len(key) * self.get("a", 0.5)
        return made


class Stack(list):
    def push(self, *values):
        self.extend(values)
        return self

    def top(self, z=0.5):
        return self[-1] * z if self else z
""",
    "Countdown": """
class Countdown:
    def __init__(self, z, n):
        self.z = z
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        self.z = math.sin(self.z) + 0.1 * self.n
        return self.z


class Old:
    def __init__(self, *values):
        self.values = values
        self.asked = 0.0

    def __getitem__(self, i):
        self.asked += 0.1 * self.values[0]
        return self.values[i]


def ticks(z):
    try:
        while True:
            z = math.cos(z)
            try:
                yield z
            except ValueError as error:
                z = error.args[0] * 0.5
                yield -z
    finally:
        LOG.append(z * 0.01)
""",
    "area_of": """
@functools.singledispatch
def area_of(x):
    return x * 0.5


@area_of.register(list)
@area_of.register(tuple)
def _(x):
    return sum(area_of(item) for item in x)


@area_of.register
def _(x: dict):
    return sum(area_of(x[k]) * len(k) for k in x)
""",
    "positional": """
def positional(a, b=0.5, /, c=0.25, *rest, d, e=1.5, **more):
    return a * b + c * d - e * sum(rest) + sum(v * len(k) for k, v in more.items())


def passed(f, /, *args, **kwargs):
    return f(*args, **kwargs) + 0.1 * len(args)


def default_list(z, seen=[]):
    seen.append(z)
    return sum(seen[-2:])


TOTAL = 0.5


def add_global(z):
    global TOTAL
    TOTAL = TOTAL * 0.5 + z
    return TOTAL
""",
    "is_even": """
def is_even(z, n):
    return z if n == 0 else is_odd(z * 0.5, n - 1) + 0.1


def is_odd(z, n):
    return -z if n == 0 else is_even(math.sin(z), n - 1)


def leave_by(z, n):
    for i in range(3):
        try:
            if i == n:
                return z * i
            if z > 1.0:
                z *= 0.5
                continue
            z += 0.1
        except ZeroDivisionError:
            return z
        else:
            z -= 0.25
        finally:
            LOG.append(z * 0.001)
            if n == 7:
                break
    else:
        z = z * 2.0
    return z - 1.0
""",
}
NAMES = {
    "Default": "(?:Default|Stack)",
    "Countdown": "(?:Countdown|Old|ticks)",
    "positional": "(?:positional|passed|default_list|add_global|TOTAL)",
    "is_even": "(?:is_even|leave_by)",
}


def containers(w: Writing) -> None:
    """Dicts with keys of all kinds, sets that decide, subclasses of dict and list; their methods."""
    v = lambda: w.value(0)
    form = w.choose(["dict", "dict", "set", "default", "stack", "slices"])
    if form == "dict":
        e = w.new("e")
        w.line(f"{e} = {{{w.integer()}: {v()}, (1, 'a'): {v()}, None: {w.value(1)}, 'k': [{v()}, {v()}]}}")
        changes = [f"{e}[5] = {e}.pop({w.integer()}, {v()})", f"{e}['k'].append({e}.popitem()[1][0])", f"del {e}[None]"]
        changes += [f"{e}.setdefault('m', []).append({v()})", f"{e}[1, 'a'] += {v()}", f"{e} = {{**{e}, 9: {v()}}}"]
        changes += [
            f"{e}.update({{True: {v()}}}, z={v()})",
            f"{e} = dict.fromkeys(list({e})[:2], {v()}) | {{'k': [0.5]}}",
        ]
        changes += [f"{e} = dict(sorted({e}.items(), key=lambda kv: str(kv[0]), reverse=True))"]
        w.line(w.choose(changes))
        texts = [
            f"sum(z for z in {e}.values() if not isinstance(z, list))",
            f"sum({e}['k'])",
            f"{e}.get((1, 'a'), {v()})",
        ]
        texts += [
            f"[z for k, z in reversed({e}.items()) if k != 'k' and k != 'm'][0]",
            f"{e}.get(None, {v()}) * len({e})",
        ]
        texts += [f"sum(len(k) for k in {e}.keys() & {{'k', 'z', 'q'}}) * {v()}"]
        w.let("x", w.choose(texts))
    elif form == "set":
        m = w.new("m")
        w.line(f"{m} = {{{w.integer()}, {w.integer()}, 5}}")
        changes = [f"{m}.add({w.integer()})", f"{m}.discard({w.integer()})", f"{m} |= {{7}}", f"{m} = {m} - {{5}}"]
        w.line(w.choose([*changes, f"{m} = {{i * 2 for i in {m} if i}}", f"{m} ^= {{0, 1}}"]))
        texts = [
            f"sum({v()} * i for i in sorted({m}))",
            f"({v()} if {w.integer()} in {m} else {v()})",
            f"len({m}) * {v()}",
        ]
        w.let(
            "x",
            w.choose(
                [
                    *texts,
                    f"sum({{{v()}, {v()}}})",
                    f"max({{z * z for z in ({v()}, {v()})}})",
                    f"({v()} if {m} <= {{1, 2, 5}} else {v()})",
                ]
            ),
        )
    elif form == "default":
        a = w.new("default")
        w.line(f"{a} = Default(a={v()})")
        w.line(
            w.choose(
                [f"{a}['bb'] += {v()}", f"{a}['ccc'] = {v()}", f"{a}['a'] = {a}['dd'] * {v()}", f"{a}.update(bb={v()})"]
            )
        )
        w.let(
            "x",
            w.choose(
                [f"{a}['bb'] + {a}['eee']", f"sum({a}.values())", f"{a}.get('ccc', {v()})", f"len({a}) * {a}['a']"]
            ),
        )
    elif form == "stack":
        a = w.new("stack")
        w.line(f"{a} = Stack({w.choose([f'[{v()}]', ''])})")
        w.line(
            w.choose(
                [
                    f"{a}.push({v()}, {v()})",
                    f"{a} += [{v()}]",
                    f"{a}.push({v()}).push({a}.top())",
                    f"{a}.insert(0, {v()})",
                ]
            )
        )
        w.let(
            "x",
            w.choose([f"{a}.top({v()})", f"sum({a})", f"{a}.push({v()}).pop() * len({a})", f"sum({a}[:1] + [{v()}])"]),
        )
    else:
        a = w.new("long")
        w.line(f"{a} = [{v()}, {v()}, {v()}, {v()}, {v()}]")
        changes = [f"{a}[::2] = [{v()}, {v()}, {v()}]", f"del {a}[1::2]", f"{a}[1:3] = []", f"{a}[2:2] = [{v()}] * 2"]
        changes += [
            f"{a}[-2:] = {a}[:2]",
            f"{a}[:] = ({v()}, *{a}[1:])",
            f"{a} = {a}[3:] + {a}[:3]",
            f"{a}.extend(z * 2 for z in {a}[:2])",
        ]
        w.line(w.choose([*changes, f"{a} *= 2", f"{a}.remove({a}[-1])", f"{a}[1], *{a}[2:4], {a}[0] = {a}[:4]"]))
        texts = [f"sum({a}[::-1][:2])", f"sum(i * z for i, z in enumerate({a}, 1))", f"{a}[-1] * {a}.count({a}[0])"]
        w.let(
            "x",
            w.choose([*texts, f"sum(y - z for y, z in zip({a}, {a}[1:]))", f"max({a}, key=abs) + {a}[len({a}) // 2]"]),
        )


def comprehension(w: Writing) -> None:
    """Comprehensions that nest, filter, assign, capture."""
    v = lambda: w.value(0)
    i = w.integer()
    texts = [
        f"sum([y * z for y in ({v()}, {v()}) for z in (y, {v()}) if z < 1.0])",
        f"sum(sum(row) for row in [[{v()} * j for j in range(k)] for k in range(3)])",
    ]
    texts += [
        f"sum({{k: z * {v()} for k, z in zip('abc', ({v()}, {v()}))}}.values())",
        f"sum(y for z in ({v()}, {v()}) if (y := z * {v()}) > -0.5)",
    ]
    texts += [
        f"sum(h({v()}) for h in [lambda z, k=k: z * k for k in range({i})])",
        f"sum(h({v()}) for h in [lambda z: z * k for k in range(1, 3)])",
    ]
    texts += [
        f"[a for a, *_ in (({v()}, 1), ({v()}, 2, 3))][1]",
        f"any(z > {v()} for z in ({v()}, {v()})) * {v()}",
        f"all([z < 0.5 for z in ({v()}, {v()})]) * {v()}",
    ]
    texts += [
        f"sum(sorted(z * {v()} for z in ({v()}, {v()}, 0.5))[:2])",
        f"max([(z * z, z) for z in ({v()}, {v()}, {v()})])[1]",
        f"math.prod(z + {v()} for z in ({v()}, 1.5))",
    ]
    texts += [
        f"sum(x_ if j % 2 else -x_ for j, x_ in enumerate(({v()}, {v()}, {v()})))",
        f"next((z for z in ({v()}, {v()}) if z > 0.5), {v()})",
        f"sum(z for row in zip(*[({v()}, {v()}), ({v()}, 0.5)]) for z in row)",
    ]
    texts += [
        f"min((abs(z), z) for z in ({v()}, {v()}))[1]",
        f"math.fsum(z * {v()} for z in ({v()}, {v()}))",
        f"sum(1 for z in ({v()}, {v()}) if z > 0) * {v()}",
    ]
    x = w.let("x", w.choose(texts))
    if w.chance(20) and x not in w.frozen:
        with w.block(f"if (y_ := {x} * {v()}) > {v()}:"):
            w.line(f"{x} = y_ - {x}")


def arguments(w: Writing) -> None:
    """All ways to pass arguments; mutable defaults, globals, recursion; functions left by all ways."""
    v = lambda: w.value(0)
    texts = [
        f"positional({v()}, d={v()})",
        f"positional({v()}, {v()}, {v()}, {v()}, {v()}, d={v()}, z={v()})",
        f"positional(*({v()}, {v()}), **{{'d': {v()}, 'a': {v()}}})",
    ]
    texts += [
        f"passed(positional, {v()}, d={v()})",
        f"passed(lambda *a, **k: sum(a) - k['u'], {v()}, {v()}, u={v()})",
        f"passed(max, *[{v()}, {v()}], {v()})",
    ]
    texts += [
        f"default_list({v()})",
        f"default_list({v()}, [{v()}])",
        f"add_global({v()}) * TOTAL",
        f"is_even({v()}, {w.integer()})",
        f"leave_by({v()}, {w.choose(['0', '1', '5', '7'])})",
    ]
    texts += [
        f"functools.partial(positional, {v()}, d={v()})(c={v()})",
        f"area_of([{v()}, ({v()}, {v()})])",
        f"area_of({{'a': {v()}, 'bb': [{v()}]}})",
        f"(lambda a, *, b={v()}: a * b)({v()})",
    ]
    texts += [
        f"sum((*[{v()}], *({v()}, {v()})))",
        f"operator.methodcaller('get', 'a', {v()})({{'a': {v()}}})",
        f"operator.itemgetter(1)([{v()}, {v()}])",
    ]
    w.let("x", w.choose(texts))
    if w.chance(25):
        a = w.new("x")
        w.line(f"{a}, (y_, *rest), *_ = {v()}, ({v()}, {v()}, {v()}), {v()}")
        w.bind(a)
        w.let("x", f"y_ * sum(rest) + {a}")


def iterators(w: Writing) -> None:
    """Objects with `__next__`, generators that are thrown into and closed, itertools."""
    v = lambda: w.value(0)
    form = w.choose(["library", "library", "object", "ticks", "old"])
    if form == "library":
        three = f"({v()}, {v()}, {v()})"
        texts = [
            f"sum(a * b for a, b in itertools.product({three}, (0.5, {v()})))",
            f"sum(a * b for a, b in itertools.combinations({three}, 2))",
            f"sum(a - 0.5 * b for a, b in itertools.permutations({three}, 2))",
        ]
        texts += [
            f"sum(a * b for a, b in itertools.pairwise({three}))",
            f"sum(itertools.starmap(operator.mul, [({v()}, {v()}), ({v()}, 0.5)]))",
            f"sum(itertools.takewhile(lambda z: z < 0.9, {three}))",
        ]
        texts += [
            f"sum(itertools.dropwhile(lambda z: z < 0.9, {three}))",
            f"sum(a * b for a, b in itertools.zip_longest({three}, [{v()}], fillvalue={v()}))",
            f"list(itertools.accumulate({three}, lambda a, b: a * 0.5 + b))[-1]",
        ]
        texts += [
            f"sum(itertools.chain.from_iterable([{three}, [{v()}]]))",
            f"sum(itertools.islice(itertools.cycle({three}), 5))",
            f"sum(itertools.compress({three}, (1, 0, 1)))",
            f"sum(z * k for z, k in zip({three}, itertools.count(1)))",
        ]
        texts += [
            f"sum(itertools.repeat({v()}, 3))",
            f"(lambda a, b: sum(a) * next(b))(*itertools.tee({three}))",
            f"sum(itertools.filterfalse(lambda z: z > 0.5, {three}))",
            f"functools.reduce(lambda a, b: a * b + 0.1, {three}, {v()})",
        ]
        w.let("x", w.choose(texts))
    elif form == "old":
        a = w.new("old")
        w.line(f"{a} = Old({v()}, {v()}, {v()})")
        w.let(
            "x",
            w.choose(
                [
                    f"sum({a})",
                    f"list({a})[1]",
                    f"sum(y * z for y, z in zip({a}, ({v()}, {v()})))",
                    f"max(*{a})",
                    f"({v()} if {v()} in {a} else 0.5)",
                ]
            ),
        )
        w.let("x", f"{a}.asked")
    else:
        a = w.new("it")
        w.line(f"{a} = {f'Countdown({v()}, {w.integer()} + 1)' if form == 'object' else f'ticks({v()})'}")
        x = w.let("x", f"next({a})")
        if x not in w.frozen:
            with w.block(f"for y_ in {a}:"):
                w.line(f"{x} = {x} * 0.5 + y_")
                with w.block(f"if y_ > {v()} or LOG.append(y_ * 0.1) or len(LOG) > 4:"):
                    w.line("break")
        if form == "object":
            w.let("x", w.choose([f"sum({a})", f"{a}.z", f"next({a}, {v()})", f"sum(itertools.islice({a}, 2))"]))
        else:
            if w.chance(50):
                w.let("x", f"{a}.throw(ValueError({v()}))")
            w.line(f"{a}.close()")


def contexts(w: Writing) -> None:
    """Several managers, an ExitStack, exceptions that are suppressed; groups of exceptions; handlers that raise again."""
    v = lambda: w.value(0)
    x = w.let("x", v())
    if x in w.frozen:
        return
    form = w.choose(["stack", "suppress", "both", "group", "again", "closing"])
    if form == "stack":
        with w.block("with contextlib.ExitStack() as stack_:"):
            w.line(f"stack_.callback(LOG.append, {x} * 0.1)")
            w.line(f"stack_.callback(lambda: LOG.append({v()} * 0.1))")
            w.statements(1)
            w.line(f"{x} = {x} * {v()}")
    elif form == "suppress":
        with w.block("with contextlib.suppress(ValueError, IndexError):"):
            w.line(f"{x} = {x} * {v()}")
            with w.block(f"if {w.condition()}:"):
                w.line(f"raise {w.choose(['ValueError', 'IndexError'])}({v()})")
            w.line(f"{x} += {v()}")
    elif form == "both" and w.named("o"):
        o = w.choose(w.named("o"))
        with w.block(f"with Scope({o}, {v()}) as y_, contextlib.nullcontext({v()}) as z_:"):
            w.line(f"{x} = y_.u * z_")
            with w.block(f"if {w.condition()}:"):
                w.line("raise ValueError('left')")
    elif form == "group":
        with w.block("try:"):
            w.line(f"raise ExceptionGroup('several', [ValueError({v()}), KeyError({v()}), TypeError('t')])")
        with w.block("except* (ValueError, KeyError) as several:"):
            w.line(f"{x} = sum(e.args[0] for e in several.exceptions) * {v()}")
        with w.block("except* TypeError:"):
            w.line(f"{x} += {v()}")
    elif form == "again":
        with w.block("try:"):
            with w.block("try:"):
                w.line(f"{x} = {x} * {v()}")
                w.line(w.choose([f"raise ValueError({x})", "1 // 0", f"LOG.append({x} * 0.1)"]))
            with w.block("except ValueError as error:"):
                w.line(
                    w.choose(["raise", f"raise KeyError(error.args[0] * {v()}) from error", f"{x} += error.args[0]"])
                )
            with w.block("finally:"):
                w.line(f"LOG.append({x} * 0.1)")
        with w.block("except Exception as error:"):
            w.line(f"{x} = {x} + (error.args[0] if not isinstance(error, ZeroDivisionError) else {v()})")
    else:
        with w.block(f"with contextlib.closing(ticks({v()})) as ticks_:"):
            w.line(f"{x} = next(ticks_) * {v()}")
            with w.block(f"if {w.condition()}:"):
                w.line(f"{x} += next(ticks_)")


def nested_functions(w: Writing) -> None:
    """Variables of several functions around; a recursion in one; a closure per round of a loop; methods that are made."""
    v = lambda: w.value(0)
    outer, x = w.new("outer"), w.new("x")
    form = w.choose(["nonlocal", "loop", "recursion", "method"])
    if form == "nonlocal":
        with w.block(f"def {outer}(y_):"):
            w.line("total = y_")
            with w.block("def middle(z):"):
                w.line("count = 0.5")
                with w.block("def inner(u):"):
                    w.line("nonlocal total, count")
                    w.line(f"count += u * {v()}")
                    w.line("total = total * 0.5 + count")
                    w.line(f"return u + {v()}")
                w.line("return inner(z) + inner(total) * count")
            w.line("return middle(y_) + middle(total) - total")
        w.line(f"{x} = {outer}({v()})")
    elif form == "loop":
        w.line(f"{outer} = []")
        with w.block(f"for i_ in range({w.integer()}):"):
            w.line(f"y_ = i_ * {v()}")
            w.line(f"{outer}.append(lambda z: z * y_ + i_)")
        w.line(f"{x} = sum(h({v()}) for h in {outer})")
    elif form == "recursion":
        with w.block(f"def {outer}(tree, depth=0):"):
            with w.block("if not isinstance(tree, (list, tuple)):"):
                w.line("return tree * 0.5 ** depth")
            w.line(f"return sum({outer}(t, depth + 1) for t in tree) + {v()}")
        w.line(f"{x} = {outer}([{v()}, ({v()}, [{v()}, 0.5])])")
    else:
        w.line(f"{outer} = types.SimpleNamespace(z={v()}, w=0.5)")
        w.line(f"{outer}.act = lambda y: {outer}.z * y + {outer}.w")
        w.line(f"{outer}.w {w.choose('+-*')}= {v()}")
        w.line(f"{x} = {outer}.act({v()}) + sum(z for z in vars({outer}).values() if not callable(z))")
    w.bind(x)


STATEMENTS: tuple[Callable[[Writing], None], ...] = (
    containers, comprehension, comprehension, arguments, iterators, contexts, nested_functions,
)  # fmt: skip
