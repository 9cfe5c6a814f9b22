"""Statements of random dynamic programs that are small programs of a kind which people write: a tape of one's own, interpreters,
searches in graphs, tables of partial results, elimination, trampolines, coroutines.
"""

from __future__ import annotations

from collections.abc import Callable

from .features import Writing

TOOLS = {
    "Value": """
class Value:
    def __init__(self, data, parents=(), back=lambda: None):
        self.data = data
        self.slope = 0.0
        self.parents = set(parents)
        self.back = back

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other))

        def back():
            self.slope += out.slope
            other.slope += out.slope

        out.back = back
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other))

        def back():
            self.slope += other.data * out.slope
            other.slope += self.data * out.slope

        out.back = back
        return out

    def tanh(self):
        t = math.tanh(self.data)
        out = Value(t, (self,))
        out.back = lambda: setattr(self, "slope", self.slope + (1 - t**2) * out.slope)
        return out

    __radd__ = __add__
    __rmul__ = __mul__

    def backward(self):
        order, seen = [], set()

        def build(value):
            if value not in seen:
                seen.add(value)
                for parent in sorted(value.parents, key=lambda p: p.data):
                    build(parent)
                order.append(value)

        build(self)
        self.slope = 1.0
        for value in reversed(order):
            value.back()
        return self
""",
    "interpret": """
def interpret(tokens, names):
    at = 0

    def atom():
        nonlocal at
        token = tokens[at]
        at += 1
        if token == "(":
            value = total()
            at += 1
            return value
        if token == "-":
            return -atom()
        return names[token] if isinstance(token, str) else token

    def product():
        nonlocal at
        value = atom()
        while at < len(tokens) and tokens[at] == "*":
            at += 1
            value = value * atom()
        return value

    def total():
        nonlocal at
        value = product()
        while at < len(tokens) and tokens[at] in ("+", "-"):
            sign, at = tokens[at], at + 1
            value = value + product() if sign == "+" else value - product()
        return value

    return total()


def execute(code, stack=()):
    stack, names, at = list(stack), {}, 0
    while at < len(code):
        operation, *operands = code[at]
        at += 1
        match operation, operands:
            case "push", [value]:
                stack.append(value)
            case "add" | "mul" as name, []:
                b, a = stack.pop(), stack.pop()
                stack.append(a + b if name == "add" else a * b)
            case "store", [name]:
                names[name] = stack[-1]
            case "load", [name]:
                stack.append(names.get(name, 0.5))
            case "jump", [least, to] if stack[-1] > least and len(stack) < 6:
                at = to
            case "call", [function, count]:
                stack[-count:] = [function(*stack[-count:])]
    return stack[-1] * len(stack)
""",
    "distances": """
def distances(graph, start):
    best, queue = {start: 0.0}, [(0.0, start)]
    while queue:
        d, node = heapq.heappop(queue)
        if d > best[node]:
            continue
        for other, weight in graph.get(node, {}).items():
            new = d + abs(weight) + 0.1
            if other not in best or new < best[other]:
                best[other] = new
                heapq.heappush(queue, (new, other))
    return best


def spread(links, start, z):
    reached, queue = {start: z}, deque([start])
    while queue:
        node = queue.popleft()
        for other in links[node]:
            if other not in reached:
                reached[other] = reached[node] * 0.5 + 0.1 * len(other)
                queue.append(other)
            else:
                reached[other] += 0.01 * reached[node]
    return reached


def ordered_by(links):
    done, order = set(), []

    def go(node):
        if node in done:
            return
        done.add(node)
        for other in links.get(node, ()):
            go(other)
        order.append(node)

    for node in links:
        go(node)
    return order[::-1]


class Parts:
    def __init__(self, weights):
        self.above = list(range(len(weights)))
        self.weights = list(weights)

    def find(self, i):
        while self.above[i] != i:
            self.above[i] = self.above[self.above[i]]
            i = self.above[i]
        return i

    def join(self, i, j):
        i, j = self.find(i), self.find(j)
        if i != j:
            if self.weights[i] < self.weights[j]:
                i, j = j, i
            self.above[j] = i
            self.weights[i] += self.weights[j] * 0.5
        return self.weights[i]
""",
    "aligned": """
def aligned(a, b, gap):
    table = {}

    def best(i, j):
        if (i, j) not in table:
            if i == 0 or j == 0:
                table[i, j] = (i + j) * gap
            else:
                table[i, j] = min(best(i - 1, j - 1) + (a[i - 1] - b[j - 1]) ** 2, best(i - 1, j) + gap, best(i, j - 1) + gap)
        return table[i, j]

    return best(len(a), len(b)) + 0.1 * len(table)


def packed(weights, values, room):
    best = [0.0] * (room + 1)
    for weight, value in zip(weights, values):
        for left in range(room, weight - 1, -1):
            best[left] = max(best[left], best[left - weight] + value)
    return best[-1]


def eliminated(rows):
    n = len(rows)
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for row in rows[k + 1 :]:
            factor = row[k] / rows[k][k]
            row[k:] = [y - factor * z for y, z in zip(row[k:], rows[k][k:])]
    found = [0.0] * n
    for k in reversed(range(n)):
        found[k] = (rows[k][n] - sum(rows[k][j] * found[j] for j in range(k + 1, n))) / rows[k][k]
    return found


def merged(values):
    if len(values) < 2:
        return list(values)
    a, b = merged(values[::2]), merged(values[1::2])
    out = []
    while a and b:
        out.append((a if a[0] <= b[0] else b).pop(0))
    return out + a + b


def quick(values, low=0, high=None):
    high = len(values) - 1 if high is None else high
    if low < high:
        i = low
        for j in range(low, high):
            if values[j] < values[high]:
                values[i], values[j] = values[j], values[i]
                i += 1
        values[i], values[high] = values[high], values[i]
        quick(values, low, i - 1)
        quick(values, i + 1, high)
    return values


def root(function, z, steps=6):
    low, high = z - 1.0, z + 1.0
    for _ in range(steps):
        middle = (low + high) * 0.5
        low, high = (middle, high) if function(middle) < function(high) else (low, middle)
        if high - low < 0.1:
            break
    else:
        return high
    return low
""",
    "bounced": """
def bounced(step):
    while callable(step):
        step = step()
    return step


def down(z, n):
    return z if n <= 0 else lambda: up(math.sin(z), n - 1)


def up(z, n):
    return z * 0.5 if n <= 0 else lambda: down(z + 0.25, n - 1)


def passing(z, n, then):
    if n <= 0:
        return then(z)
    return passing(z * 0.5, n - 1, lambda y: then(y * z + 0.1))


def composed(*functions):
    return functools.reduce(lambda f, g: lambda z: g(f(z)), functions, lambda z: z)


def curried(function):
    def more(*args):
        return function(*args) if len(args) >= 3 else lambda *others: more(*args, *others)
    return more


def fixed(maker):
    return (lambda f: f(f))(lambda f: maker(lambda *args: f(f)(*args)))
""",
    "primed": """
def primed(function):
    @functools.wraps(function)
    def start(*args):
        coroutine = function(*args)
        next(coroutine)
        return coroutine
    return start


@primed
def averaging(z):
    total, count = z, 1
    while True:
        try:
            got = yield total / count
        except LookupError as error:
            total = total * error.args[0]
        else:
            total, count = total + got, count + 1


@primed
def keeping(into, by):
    try:
        while True:
            into.append((yield sum(into)) * by)
    except GeneratorExit:
        into.append(by)
        raise


def relayed(z, inner):
    try:
        got = yield from inner
    except ValueError as error:
        got = error.args[0] * 0.5
    finally:
        LOG.append(z * 0.01)
    yield got * z
    return z


def failing(z, n):
    for k in range(n):
        got = yield z * k
        z = z * 0.5 + (got or 0.25)
    raise ValueError(z)
""",
}
NAMES = {
    "interpret": "(?:interpret|execute)",
    "distances": "(?:distances|spread|ordered_by|Parts)",
    "aligned": "(?:aligned|packed|eliminated|merged|quick|root)",
    "bounced": "(?:bounced|passing|composed|curried|fixed)",
    "primed": "(?:averaging|keeping|relayed)",
}


def interpreters(w: Writing) -> None:
    """A tape, an expression's tokens, a machine with a stack."""
    v = lambda: w.value(0)
    form = w.choose(["tape", "tokens", "machine"])
    if form == "tape":
        a, b = w.new("value"), w.new("value")
        w.line(f"{a}, {b} = Value({v()}), Value({v()})")
        texts = [
            f"({a} * {b} + {a}).tanh()",
            f"({a} + {b}) * ({a} * {v()})",
            f"sum([{a}, {b}, {a} * {a}])",
            f"{v()} * {a}.tanh() + {b} * {b}",
        ]
        w.line(f"{a}_ = ({w.choose(texts)}).backward()")
        w.let(
            "x",
            w.choose(
                [
                    f"{a}.slope * {v()} + {b}.slope",
                    f"{a}_.data * {a}.slope",
                    f"{a}.slope * {b}.slope + len({a}_.parents)",
                ]
            ),
        )
    elif form == "tokens":
        leaf = lambda: w.choose(["'p'", "'q'", v()])
        some = [
            f"{leaf()}, '*', {leaf()}, '+', {leaf()}",
            f"'-', {leaf()}, '*', '(', {leaf()}, '-', {leaf()}, ')'",
            f"'(', {leaf()}, ')', '*', '(', '-', {leaf()}, ')'",
        ]
        w.let("x", f"interpret([{w.choose(some)}, '-', {w.choose(some)}], {{'p': {v()}, 'q': {v()}}})")
    else:
        code = [
            f"('push', {v()})",
            f"('push', {v()})",
            "('store', 'a')",
            w.choose(["('add',)", "('mul',)"]),
            "('load', 'a')",
        ]
        code += [
            w.choose(
                [
                    f"('jump', {v()}, {w.choose('14')})",
                    "('call', max, 2)",
                    f"('call', lambda y: y * {v()}, 1)",
                    "('load', 'b')",
                ]
            ),
            "('add',)",
        ]
        w.let("x", f"execute([{', '.join(code)}], [{v()}])")


def searches(w: Writing) -> None:
    """Graphs, partial results, orders, elimination."""
    v = lambda: w.value(0)
    texts = [
        f"distances({{'a': {{'b': {v()}, 'c': {v()}}}, 'b': {{'d': {v()}}}, 'c': {{'d': {v()}, 'b': 0.1}}}}, 'a')['d']"
    ]
    texts += [f"sum(spread({{'a': ['b', 'cc'], 'b': ['cc', 'd'], 'cc': ['a'], 'd': []}}, 'a', {v()}).values())"]
    texts += [
        f"sum({{'a': {v()}, 'b': {v()}, 'c': 0.5}}[n] * i for i, n in enumerate(ordered_by({{'a': ['c'], 'b': ['a', 'c']}})))"
    ]
    texts += [f"(lambda p: p.join(0, 1) + p.join({w.integer()} % 3, 2) * p.join(1, 2))(Parts([{v()}, {v()}, {v()}]))"]
    texts += [
        f"aligned([{v()}, {v()}], [{v()}, {v()}, {v()}], {w.choose(['0.5', v()])})",
        f"packed([1, 2, 2], [{v()}, {v()}, {v()}], 3 + {w.integer()})",
    ]
    texts += [f"sum(i * z for i, z in enumerate({w.choose(['merged', 'quick'])}([{v()}, {v()}, {v()}, {v()}]), 1))"]
    texts += [f"root(lambda y: y * {v()} + {v()}, {v()})", f"root(math.sin, {v()}, {w.integer()})"]
    row = lambda k: (
        "["
        + ", ".join(f"abs({v()}) + 3.0" if j == k else v() if j == 3 else f"math.sin({v()})" for j in range(4))
        + "]"
    )
    texts += [
        f"sum(eliminated([{row(0)}, {row(1)}, {row(2)}]))",
        f"eliminated([{row(2)}, {row(1)}, {row(0)}])[{w.integer()} % 3]",
    ]
    w.let("x", w.choose(texts))


def passing_on(w: Writing) -> None:
    """Functions that give functions: trampolines, continuations, composition, currying, recursion without a name."""
    v = lambda: w.value(0)
    texts = [
        f"bounced({w.choose(['down', 'up'])}({v()}, {w.integer()}))",
        f"passing({v()}, {w.integer()}, lambda y: y * {v()})",
    ]
    texts += [
        f"composed(math.sin, lambda z: z * {v()}, {w.choose(['abs', 'math.cos', f'functools.partial(max, {v()})'])})({v()})"
    ]
    texts += [
        f"curried(lambda a, b, c: a * b + c)({v()})({v()})({v()})",
        f"curried(lambda a, b, c: a - b * c)({v()}, {v()})({v()})",
    ]
    texts += [
        f"fixed(lambda again: lambda z, n: z if n <= 0 else again(z * {v()} + 0.1, n - 1) * 0.5)({v()}, {w.integer()})"
    ]
    texts += [f"sum(map(composed(*[lambda z, k=k: z * k + {v()} for k in range(1, 3)]), ({v()}, {v()})))"]
    w.let("x", w.choose(texts))


def coroutines(w: Writing) -> None:
    """Generators that are sent to and thrown into, through others."""
    v = lambda: w.value(0)
    a = w.new("co")
    form = w.choose(["averaging", "keeping", "relayed"])
    if form == "averaging":
        w.line(f"{a} = averaging({v()})")
        x = w.let("x", f"{a}.send({v()})")
        w.line(
            w.choose(
                [
                    f"{x} = {x} * {a}.throw(LookupError({v()}))",
                    f"{x} = {x} - {a}.send({v()})",
                    f"{x} = sum(map({a}.send, ({v()}, {x})))",
                ]
            )
        )
        w.line(f"{a}.close()")
    elif form == "keeping":
        w.line(f"{a}_ = [{v()}]")
        w.line(f"{a} = keeping({a}_, {v()})")
        w.line(f"{a}.send({v()})")
        x = w.let("x", f"{a}.send({v()})")
        w.line(f"{a}.close()")
        w.line(f"{x} = {x} + sum({a}_) * {a}_[-1]")
    else:
        inner = w.choose([f"failing({v()}, {w.integer()})", f"iter(({v()}, {v()}))", f"steps({v()}, 2)"])
        w.line(f"{a} = relayed({v()}, {inner if not inner.startswith(('iter', 'steps')) else f'(y for y in {inner})'})")
        x = w.let("x", f"next({a})")
        with w.block("try:"):
            w.line(
                w.choose(
                    [f"{x} = {x} + {a}.throw(ValueError({v()}))", f"{x} = {x} * sum({a})", f"{x} = {x} - next({a})"]
                )
            )
        with w.block("except (TypeError, StopIteration):"):
            w.line(f"{x} = {x} * {v()}")
        w.line(f"{a}.close()")


STATEMENTS: tuple[Callable[[Writing], None], ...] = (interpreters, searches, passing_on, coroutines)
