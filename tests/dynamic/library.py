"""Statements of random dynamic programs about the standard library's containers and tools, and about objects that stand for others:
ordered dicts, counters, chain maps, heaps of tuples, caches; proxies, lazy attributes, descriptors with deleters.
"""

from __future__ import annotations

from collections.abc import Callable

from .features import Writing

TOOLS = {
    "cached": """
@functools.cache
def cached(z):
    return math.sin(z) * 0.5 + z * z


@functools.lru_cache(maxsize=4)
def power(z, n):
    return 1.0 if n <= 0 else 0.5 * power(z, n - 1) * z + 0.1
""",
    "Proxy": """
class Proxy:
    def __init__(self, inner, z=0.5):
        object.__setattr__(self, "inner", inner)
        object.__setattr__(self, "asked", z)

    def __getattr__(self, name):
        object.__setattr__(self, "asked", self.asked * 0.5 + 0.25)
        return getattr(self.inner, name)

    def __setattr__(self, name, value):
        setattr(self.inner, name, value * self.asked if name == "u" else value)

    def __call__(self, *args):
        return self.inner(*args) * self.asked


class Lazy:
    def __init__(self, function):
        self.function = function

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, item, owner=None):
        if item is None:
            return self
        value = item.__dict__[self.name] = self.function(item)
        return value


class Checked:
    def __init__(self, least, unset=0.1):
        self.least = least
        self.unset = unset

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, item, owner=None):
        return self if item is None else getattr(item, self.name, self.unset)

    def __set__(self, item, value):
        if value < self.least:
            raise ValueError(value - self.least)
        setattr(item, self.name, value)

    def __delete__(self, item):
        self.unset = self.unset + 0.5 * getattr(item, self.name)
        delattr(item, self.name)


class Account:
    level = Checked(-0.5)

    def __init__(self, z):
        self.z = z
        self.history = {}

    @Lazy
    def worth(self):
        return self.z * self.z + self.level

    @property
    def balance(self):
        return sum(self.history.values()) + self.z

    @balance.setter
    def balance(self, value):
        self.history[len(self.history)] = value - self.balance

    @balance.deleter
    def balance(self):
        self.z = self.z + self.history.pop(0, 0.25)

    def __getattribute__(self, name):
        if name == "twofold":
            return object.__getattribute__(self, "z") * 2.0
        return object.__getattribute__(self, name)

    def __class_getitem__(cls, z):
        return cls(z * 0.5)
""",
}
NAMES = {"cached": "(?:cached|power)", "Proxy": "(?:Proxy|Account)"}


def containers(w: Writing) -> None:
    v = lambda: w.value(0)
    h = w.new("h")
    form = w.choose(
        ["ordered", "chain", "counter", "heap", "merge", "deque", "grouped", "namedtuple", "cache", "tools"]
    )
    if form == "ordered":
        w.line(f"{h} = collections.OrderedDict([('p', {v()}), ('q', {v()}), ('r', {v()})])")
        w.line(
            w.choose(
                [
                    f"{h}.move_to_end('p')",
                    f"{h}.move_to_end('r', last=False)",
                    f"{h}['p'] = {v()}",
                    f"{h}.update(q={v()}, s={v()})",
                    f"del {h}['q']",
                ]
            )
        )
        w.let("x", w.choose([f"{h}.popitem(last=False)[1] * {v()}", f"sum(i * z for i, z in enumerate({h}.values(), 1))", f"next(reversed({h}.values()))", f"{h}.popitem()[1] + sum({h}.values())"]))  # fmt: skip
    elif form == "chain":
        w.line(f"{h} = collections.ChainMap({{'a': {v()}}}, {{'a': {v()}, 'b': {v()}}})")
        w.line(
            w.choose(
                [
                    f"{h}['b'] = {v()}",
                    f"{h}['a'] *= {v()}",
                    f"{h} = {h}.new_child({{'b': {v()}}})",
                    f"del {h}['a']",
                    f"{h}.maps[1]['b'] = {v()}",
                ]
            )
        )
        w.let(
            "x",
            w.choose([f"{h}['a'] * {h}['b']", f"sum({h}.values())", f"{h}.get('c', {v()})", f"len({h}) * {h}['b']"]),
        )
    elif form == "counter":
        w.line(f"{h} = collections.Counter({{'a': {v()}, 'b': {v()}}})")
        w.line(
            w.choose(
                [
                    f"{h}.subtract(a={v()})",
                    f"{h} += collections.Counter(a={v()}, c={v()})",
                    f"{h}['b'] += {v()}",
                    f"{h}.update('abb')",
                    f"{h} |= collections.Counter(a={v()})",
                ]
            )
        )
        w.let(
            "x",
            w.choose(
                [
                    f"{h}.most_common(1)[0][1]",
                    f"{h}['a'] + {h}['zz'] * {v()}",
                    f"sum((+{h}).values()) + {v()}",
                    f"{h}.total()",
                ]
            ),
        )
    elif form == "heap":
        w.line(f"{h} = [({v()}, 0, {v()}), ({v()}, 1, {v()})]")
        w.line(f"heapq.heapify({h})")
        with w.block(f"for i_, y_ in enumerate(({v()}, {v()})):"):
            w.line(
                w.choose(
                    [
                        f"heapq.heappush({h}, (y_, i_ + 2, y_ * {v()}))",
                        f"last_ = heapq.heappushpop({h}, (y_, i_ + 2, {v()}))",
                    ]
                )
            )
        w.let(
            "x",
            w.choose(
                [
                    f"heapq.heappop({h})[2] * {h}[0][0]",
                    f"sum(z for *_, z in heapq.nsmallest(2, {h}))",
                    f"heapq.heappop({h})[0] + heapq.heappop({h})[2]",
                ]
            ),
        )
    elif form == "merge":
        texts = [f"sum(z * 0.5 ** i for i, z in enumerate(heapq.merge(sorted([{v()}, {v()}]), sorted([{v()}, 0.5]))))"]
        texts += [
            f"list(heapq.merge([{v()}], [{v()}], key=lambda z: -z))[0]",
            f"heapq.nlargest(2, [{v()}, {v()}, {v()}], key=abs)[1]",
        ]
        w.let("x", w.choose([*texts, f"bisect.bisect([-1.0, {v()}, 1.0], {v()}, key=lambda z: z * 2) * {v()}"]))
    elif form == "deque":
        w.line(f"{h} = deque([{v()}, {v()}, {v()}], {w.choose(['3', '4', 'None'])})")
        changes = [
            f"{h}.extendleft(({v()}, {v()}))",
            f"{h}.rotate(-1)",
            f"{h}.insert(1, {v()}) if {h}.maxlen is None else None",
            f"{h}.remove({h}[1])",
        ]
        w.line(
            w.choose(
                [
                    *changes,
                    f"{h}[1], {h}[-1] = {h}[-1], {v()}",
                    f"{h} += [{v()}]",
                    f"{h}.reverse()",
                    f"{h}.append({h}.popleft() * {v()})",
                ]
            )
        )
        w.let(
            "x",
            w.choose(
                [
                    f"sum(i * z for i, z in enumerate({h}))",
                    f"{h}.pop() - {h}[0]",
                    f"sum(itertools.islice({h}, 1, None))",
                    f"{h}.index({h}[-1]) * {v()} + {h}[0]",
                ]
            ),
        )
    elif form == "grouped":
        keys = w.choose(["lambda z: z > 0", "lambda z: int(z * 2)", "bool", "round"])
        w.line(f"{h} = collections.defaultdict(list)")
        with w.block(f"for k_, g_ in itertools.groupby([{v()}, {v()}, {v()}, {v()}], key={keys}):"):
            w.line(
                w.choose(
                    [
                        f"{h}[k_].append(sum(g_))",
                        f"{h}[k_] += g_",
                        f"{h}[k_].append(next(g_))",
                        f"{h}[k_].extend(z * {v()} for z in g_)",
                    ]
                )
            )
        w.let(
            "x",
            w.choose(
                [
                    f"sum(sum(z) * (1 + (k == 0)) for k, z in {h}.items())",
                    f"sum(z[-1] for z in {h}.values())",
                    f"len({h}) * {v()}",
                ]
            ),
        )
    elif form == "namedtuple":
        w.line(f"{h} = Duo({v()}, v={v()})._replace({w.choose('uv')}={v()})")
        w.let(
            "x",
            w.choose(
                [
                    f"{h}.u * {h}[1]",
                    f"sum({h})",
                    f"{h}._asdict()['v']",
                    f"Duo._make(({v()}, {h}.u)).v",
                    f"max({h}, Duo({v()}, 0.5)).v",
                    f"dict(zip({h}._fields, {h}))['u']",
                ]
            ),
        )
    elif form == "cache":
        texts = [
            f"cached({v()})",
            f"cached({v()}) + cached({v()})",
            f"power({v()}, {w.integer()})",
            f"sum(map(cached, ({v()}, {v()})))",
        ]
        w.let(
            "x",
            w.choose([*texts, f"sum(cached(z) for z in ({v()}, {v()}, 0.5))", f"power({v()}, 2) * power({v()}, 2)"]),
        )
    else:
        three = f"({v()}, {v()}, {v()})"
        texts = [
            f"sum(itertools.starmap(lambda y, z=0.5: y * z, (({v()},), ({v()}, {v()}))))",
            f"sum(y or z for y, z in itertools.zip_longest({three}, ({v()},), fillvalue=0.25))",
        ]
        texts += [
            f"list(itertools.accumulate({three}, initial={v()}))[-2]",
            f"sum(itertools.islice({three}, 0, None, 2))",
            f"max(itertools.accumulate({three}, max))",
        ]
        texts += [
            f"operator.attrgetter('u', 'v')(Duo({v()}, {v()}))[1]",
            f"sum(map(operator.sub, {three}, ({v()}, 0.5)))",
            f"functools.reduce(operator.add, {three})",
        ]
        texts += [
            f"sum(sorted({three}, key=lambda z: (z > 0, -z))[:2])",
            f"(lambda it: next(it) * sum(it))(iter({three}))",
            f"math.hypot(1.0 + {v()} ** 2, {v()})",
        ]
        texts += [
            f"math.dist((1.5 + {v()} ** 2, {v()}), (-0.5, {v()}))",
            f"functools.partialmethod(Base.act).__get__(Base({v()}), Base)({v()})",
        ]
        w.let(
            "x",
            w.choose(
                [
                    *texts,
                    f"sum(iter([{v()}, {v()}, None].pop, 0.5) if False else {three})",
                    f"sum(y * z for y, z in itertools.product({three}, repeat=2))",
                ]
            ),
        )


def stand_ins(w: Writing) -> None:
    """Attributes that are calculated, checked, kept, deleted, or another object's."""
    v = lambda: w.value(0)
    a = w.new("stand")
    if w.chance(40) and w.named("o"):
        w.line(f"{a} = Proxy({w.choose(w.named('o'))}, {v()})")
        w.line(
            w.choose(
                [f"{a}.u = {v()}", f"{a}.v += {v()}", f"{a}.step({v()})", f"{a}.area = {v()}", f"{a} = Proxy({a})"]
            )
        )
        w.let(
            "x",
            w.choose(
                [
                    f"{a}.u * {a}.v",
                    f"{a}({v()})",
                    f"{a}.area + {a}.asked",
                    f"sum({a}.items)",
                    f"getattr({a}, 'missing', {v()})",
                    f"{a}.twice_u",
                ]
            ),
        )
        return
    w.line(f"{a} = {w.choose([f'Account({v()})', f'Account[{v()}]'])}")
    x = w.let("x", v())
    if x in w.frozen or w.inner:
        return
    for _ in range(2):
        with w.block("try:"):
            w.line(w.choose([f"{a}.level = {v()}", f"{a}.level -= {v()}", f"del {a}.level", f"{a}.balance = {v()}", f"{a}.balance += {v()}", f"del {a}.balance", f"del {a}.worth", f"{a}.z = {a}.worth"]))  # fmt: skip
        with w.block("except ValueError as error:"):
            w.line(f"{x} = {x} + error.args[0] * {v()}")
        with w.block("except AttributeError:"):
            w.line(f"{a}.z = {v()}")
    w.line(
        f"{x} = {x} + {w.choose([f'{a}.level', f'{a}.worth * {a}.worth', f'{a}.balance', f'{a}.twofold', f'sum({a}.history.values())', f'Account.level.unset * {v()}'])}"
    )


STATEMENTS: tuple[Callable[[Writing], None], ...] = (containers, containers, stand_ins)
