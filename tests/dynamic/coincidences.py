"""Statements of random dynamic programs in which things happen to be one: what is written is what is read, the receiver is an argument,
one object is passed twice, a name is bound twice, a result is left where it is.
"""

from __future__ import annotations

from collections.abc import Callable

from .features import Writing

TOOLS = {
    "blend": """
def blend(p, q, r=0.5):
    p[0], q[1] = q[1] * r, p[0] + q[0]
    return p


def last_of(z, *more, **named):
    for z in more:
        pass
    for z in named.values():
        z = z * 0.5
    return z


def rebound(z, l):
    first = z
    z, l = l[0] * z, [z, *l]
    l[0] = z = z + l[1]
    return z * first + l[0]


def again(z, l=None, *, seen=[0.25, 0.5]):
    l = seen if l is None else l
    l[0], seen[1] = seen[1] * z, l[0]
    return l[0] + seen[0]


class Pair:
    def __init__(self, left, right):
        self.left = left
        self.right = right

    def swap(self, other):
        self.left, other.right = other.right * 0.5, self.left
        return self

    def __add__(self, other):
        return Pair(self.left + other.right, other.left - self.right)

    def __iadd__(self, other):
        self.left += other.right
        self.right -= other.left
        return self

    def __eq__(self, other):
        return self is other

    __hash__ = None

    def total(self, z=1.0):
        return self.left * z - self.right
""",
}
NAMES = {"blend": "(?:blend|last_of|rebound|again|Pair)"}


def in_lists(w: Writing) -> None:
    l = w.choose(w.named("l")) if w.named("l") else w.let("l", f"[{w.value(0)}, {w.value(0)}, 0.5]")
    m = w.choose(w.named("l"))
    v = lambda: w.value(0)
    forms = [
        f"{l}[:] = {m}",
        f"{l}[0], {l}[0] = {v()}, {l}[1]",
        f"{l}[0] = {l}[-1] = {v()}",
        f"{l}[1], {m}[0] = {m}[0], {l}[1]",
        f"{l}[:2] = {l}[1::-1]",
        f"{l}[0] = {l}[0]",
        f"{l}[0] += {l}[0]",
        f"{l}[0] *= {l}[-1]",
        f"{l}.append({l}.pop())",
        f"{l}.insert(0, {l}.pop())",
        f"{l}[0] = max({l}) + min({m})",
        f"{l}[{l}.index(max({l}))] = {l}[0]",
        f"{l}[0] * {v()}",
        f"sorted({l})",
        f"blend({l}, {m})",
        f"blend({l}, blend({m}, {l}), {l}[0])[0]",
        f"blend(blend({l}, {l}), {m})[1] += {v()}",
        f"{l}[:] = [p * q for p, q in zip({l}, {l})]",
        f"{l}[:] = [z + {l}[0] for z in {l} if z is not None]",
        f"{l}[:] = [*{l}[1:], {l}[0]]",
        f"{l}[1:2] = {l}[:1]",
        f"{l}[:], {m}[:] = {m}[:], {l}[:]",
        f"del {l}[len({l}):]",
    ]
    if w.chance(70):
        w.line(w.choose(forms))
    elif w.chance(50):
        with w.block(f"if len({l}) < 9:"):
            w.line(
                w.choose(
                    [f"{l}.extend({l}[:2])", f"{l}.extend({m})", f"{l}[len({l}):] = {l}[:1]", f"{l}[1:1] = {m}[:2]"]
                )
            )
    else:
        i = w.new("i")
        with w.block(f"for {i}, {l}[0] in enumerate({m}[:3]):"):
            w.line(w.choose([f"{l}[1] += {l}[0] * {v()}", f"{m}[-1] = {l}[0] + {i}", "pass"]))


def in_variables(w: Writing) -> None:
    v = lambda: w.value(1)
    own = [x for x in w.named("x") if x not in w.frozen]
    if not own or w.inner:
        w.let("x", w.choose([f"(lambda z, y: z * y - z)(*[{v()}] * 2)", f"(lambda z: z + z * z)({v()})"]))
        return
    x, y = w.choose(own), w.choose(own)
    w.line(
        w.choose(
            [
                f"{x} = {x}",
                f"{x} += {x}",
                f"{x} *= {x} - {y}",
                f"{x}, {x} = {v()}, {x} * 0.5",
                f"{x}, {y} = {y}, {x}",
                f"{x}, {y}, {x} = {y}, {x}, {v()}",
                f"{x} = {y} = {v()}",
                f"{x} = ({y} := {v()}) * {y} + {y}",
                f"{x} = {x} * ({x} := {v()}) - {x}",
                f"{x} = [{x} := {v()}, {x} * 0.5, {x}][1]",
                f"({x}, {y}), {x} = [{v()}, {x}], {y}",
                f"[{x}, *{w.new('rest')}] = {x}, {y}, {x}",
                f"{x} = {x} if {x} > {x} * 0.5 else {y}",
                f"{x} = min({x}, {x} + 0.0) + max({y}, {x})",
                f"for {x} in ({x}, {y}, {x} * {y}): pass",
                f"{x} = sum([{x}, {x}, {y}]) + sum({x} * z for z in ({x}, {x}))",
                f"{x} = (lambda z={x}: z * {x})()",
                f"{x} = last_of({x}, {y}, {x}, k={x})",
                f"{x} = last_of({x}, *[{x}] * 2)",
                f"{x} - {y}; {x} = {x} * {x} ** 2",
                f"{x} = [{x} for {x} in ({x}, {y})][0] + {x}",
                f"{x} = 0.5 * {x} if {x} is {x} else {y}",
                f"{x} = {x} and {x} or {x}",
            ]
        )
    )


def in_calls(w: Writing) -> None:
    v = lambda: w.value(0)
    l = w.choose(w.named("l")) if w.named("l") else w.let("l", f"[{v()}, {v()}]")
    x = w.choose(w.named("x")) if w.named("x") else v()
    w.let(
        "x",
        w.choose(
            [
                f"rebound({x}, {l})",
                f"rebound({l}[0], {l})",
                f"rebound(rebound({x}, {l}), [{x}, {x}])",
                f"again({x})",
                f"again({l}[0], {l})",
                f"again({x}, seen={l})",
                f"again({x}, {l}, seen={l})",
                f"math.fma({x}, {x}, {x})" if w.chance(1) else f"math.hypot({x}, {x} + 1.0)",
                f"math.atan2({x}, 1.0 + {x} * {x})",
                f"pow(1.5 + {x} * {x}, {x})",
                f"(lambda a, b, c: a * b - c)({x}, {x}, {l}[0])",
                f"sum(map(lambda a, b: a * b, {l}, {l}))",
                # (Not `a is not b`: equal floats may be one object.)
                f"sum(a * b for i, a in enumerate({l}) for j, b in enumerate({l}) if i is not j)",
                f"sum(a * b for a, b in zip({l}, {l}[1:]))",
                f"blend([*{l}], [*{l}])[0]",
            ]
        ),
    )


def in_objects(w: Writing) -> None:
    v = lambda: w.value(0)
    p, q = w.new("pair"), w.new("pair")
    w.line(f"{p} = Pair({v()}, {v()})")
    w.line(f"{q} = {w.choose([p, f'Pair({p}.right, {v()})', f'{p}.swap({p})', f'{p} + {p}'])}")
    for _ in range(2):
        w.line(
            w.choose(
                [
                    f"{p}.swap({q})",
                    f"{p}.swap({p}).left += {v()}",
                    f"{p} += {q}",
                    f"{p} += {p}",
                    f"{q} = {p} + {q}",
                    f"{p}.left = {p}.left",
                    f"{p}.left = {q}.right = {v()}",
                    f"{p}.left, {q}.left = {q}.left, {p}.right",
                    f"{p}.left *= {p}.left - {q}.right",
                    f"{p}.total({p}.left)",
                    f"for {p}.left in ({v()}, {q}.right, {p}.left): pass",
                    f"{p}, {q} = {q}, {p}",
                    f"{p}.left = {p}.total({p}.swap({q}).right)",
                    f"{q} = {p}",
                ]
            )
        )
    w.let(
        "x",
        w.choose(
            [f"{p}.total({q}.left)", f"({p} + {q}).total() * {p}.left", f"sum(r.total() for r in ({p}, {q}, {p}))"]
        ),
    )


def in_arrays(w: Writing) -> None:
    v = lambda: w.value(0)
    a = w.choose(w.named("a")) if w.named("a") else w.let("a", f"np.array([{v()}, {v()}, {v()}], float)")
    b = w.choose(w.named("a"))
    forms = [
        f"{a}[:] = {a}[::-1]",
        f"{a}[:] = {a} * {b} + {a}",
        f"{a}[1:] = {a}[:-1]",
        f"{a}[:-1] += {a}[1:]",
        f"{a}[1:] -= {a}[0] * {b}[:-1]",
        f"{a}[0] = {a}.sum() - {a}[0]",
        f"{a}[0], {a}[1] = {a}[1], {a}[0]",
        f"{a}[[0, 1]] = {a}[[1, 0]]",
        f"{a}[[0, 1, 0]] = {b}",
        f"{a}[{a} > {a}[0]] = {a}[0]",
        f"{a}[...] = {a}",
        f"{a}[:] = np.where({a} > {b}, {a}, {a} * {v()})",
        f"np.add.at({a}, [0, 0, 1], {a})",
        f"np.multiply({a}, {a}, out={a})",
        f"np.add({a}, {b}, out={a})",
        f"np.copyto({a}, {b})",
        f"{a}.sum() * {v()}",
        f"{a} * {b}",
        f"{a}[:] = np.outer({a}, {a})[0]",
        f"{a}[:] = np.array([{a}, {b}]).T @ np.array([{a}[0], {v()}])",
        f"{a}[:] = np.concatenate([{a}[1:], {a}[:1]])",
        f"{a}[:] = np.sort({a})[::-1] + {a}",
    ]
    if a not in w.frozen and not w.inner:
        forms += [
            f"{a} += {a}",
            f"{a} *= {a} * 0.5",
            f"{a} -= {a}[0]",
            f"{a} += {a}[::-1]",
            f"{a} = {a} * 0.5; {a}[0] = {a}[1]",
            f"{a} = {a} * 0.5; {a}[1:] = {a}[:-1]",
            f"{a} = {a} + {b}; {a}[[2, 0]] = {a}[[0, 1]]",
            f"{a} = {a} * {b}; np.add.at({a}, [1, 1], {a}[:2])",
            f"{a} = {b} = {a} * {b}",
        ]
    w.line(w.choose(forms))
    w.let("x", w.choose([f"{a} @ {a}", f"{a}.sum()", f"{a} @ {b}", f"np.max({a} * {b})", f"{a}[0] * {a}[-1]"]))


PLAIN: tuple[Callable[[Writing], None], ...] = (in_lists, in_variables, in_calls, in_objects, in_arrays)


def in_dicts(w: Writing) -> None:
    v = lambda: w.value(0)
    d = w.choose(w.named("d")) if w.named("d") else w.let("d", f"{{'a': {v()}, 'b': {v()}}}")
    e = w.choose(w.named("d"))
    w.line(
        w.choose(
            [
                f"{d}.update({d})",
                f"{d}.update({e}, a={d}['b'])",
                f"{d}['a'] = {d}['a']",
                f"{d}['a'] = {e}['b'] = {v()}",
                f"{d}['a'], {e}['a'] = {e}['b'], {d}['a']",
                f"{d}['b'] = {d}.pop('b')",
                f"{d}['a'] += {d}['a'] * {e}['b']",
                f"{d}.setdefault('a', {v()})",
                f"for {d}['a'] in ({v()}, {e}['b'], {d}['a']): pass",
                f"for key, {d}['b'] in list({e}.items()): LOG.append({d}['b'] * 0.1)",
                f"{{**{d}, **{e}}}['a'] * {v()}",
                f"{d}.update({{k: z * {d}[k] for k, z in {d}.items()}})",
                f"{d}.update(zip({e}, {d}.values()))",
                f"{d}['a'], {d}['b'] = {d}.values() if len({d}) == 2 else ({v()}, 0.5)",
                f"with contextlib.nullcontext({v()}) as {d}['a']: {e}['b'] += {d}['a']",
            ]
        )
    )


def with_iterators(w: Writing) -> None:
    v = lambda: w.value(0)
    l = w.choose(w.named("l")) if w.named("l") else w.let("l", f"[{v()}, {v()}, {v()}]")
    i = w.new("items")
    w.line(
        f"{i} = iter({w.choose([l, f'[*{l}, {v()}]', f'tuple({l})', f'map(math.sin, {l})', f'(z * {v()} for z in {l})'])})"
    )
    w.let(
        "x",
        w.choose(
            [
                f"sum(p * q for p, q in zip({i}, {i}))",
                f"sum(p - q for p, q in zip({i}, [*{i}]))",
                f"next({i}) * sum({i}) + sum({i})",
                f"sum(next({i}, 0.5) * z for z in {i})",
                f"sum(z for z in {i} for z in ({i}, [z]).__getitem__(1))",
                f"[*{i}, *{i}][0]",
                f"max({i}) - sum({i}, {v()})",
                f"functools.reduce(lambda p, q: p * q - p, {i}, next({i}))",
                f"sum(itertools.chain({i}, {l}, {i}))",
                f"sum(itertools.islice({i}, 1)) * next({i}, 0.25)",
                f"({i} is iter({i})) * sum({i})",
                f"(lambda p, *q: p * sum(q))(*{i}, *{i}, {v()})",
            ]
        ),
    )


def in_nests(w: Writing) -> None:
    """Containers with one thing in several places."""
    v = lambda: w.value(0)
    n = w.new("nest")
    l = w.choose(w.named("l")) if w.named("l") else w.let("l", f"[{v()}, {v()}]")
    w.line(
        f"{n} = {w.choose([f'[{l}] * 2', f'[{l}, [*{l}], {l}]', f'[[{v()}, {v()}]] * 3', f'list(itertools.repeat({l}, 2))', f'[row for row in ({l}, {l})]'])}"
    )
    for _ in range(2):
        w.line(
            w.choose(
                [
                    f"{n}[0][0] = {v()}",
                    f"{n}[0][1] += {n}[1][0]",
                    f"{n}[0], {n}[1] = {n}[1], {n}[0]",
                    f"{n}[0] = {n}[1]",
                    f"{n}[0] = [*{n}[0]]",
                    f"{n}.append({n}[0])",
                    f"for row_ in {n}: row_[0] *= {v()}",
                    f"{n}[-1][:] = {n}[0]",
                    f"for {n}[0][1] in {n}[-1][:2]: pass",
                    f"{n}[1], {n}[0][0] = {n}[0], {n}[1][1]",
                    f"blend(*{n}[:2])",
                    f"{n} += {n}[:1]",
                ]
            )
        )
    w.let(
        "x",
        w.choose(
            [
                f"sum(map(sum, {n}))",
                f"sum({n}, [])[-1] + sum({n}[0])",
                f"sum(row[0] * other[1] for row in {n} for other in {n})",
                f"max({n}, key=sum)[0]",
                f"sum(p * q for p, q in zip(*{n}[:2]))",
                f"copy.deepcopy({n})[0][0] * {n}[-1][1]",
                f"sum(dict(zip('ab', {n}))['b'])",
            ]
        ),
    )


def left_by_exceptions(w: Writing) -> None:
    """What is half done when an exception comes is not undone."""
    v = lambda: w.value(0)
    l = w.choose(w.named("l")) if w.named("l") else w.let("l", f"[{v()}, {v()}]")
    x = w.let("x", v())
    with w.block("try:"):
        w.line(
            w.choose(
                [
                    f"{l}[0], {l}[99] = {v()}, {l}[0]",
                    f"{l}[0] = {l}[99] = {v()}",
                    f"{l}.extend(check(z) for z in [0.5, {v()}, 99.0])" if w.chance(30) else f"{l}.index({v()} + 99.0)",
                    f"[{l}.__setitem__(0, z) for z in ({v()}, {v()}, [{x}][9])]",
                    f"{l}[0], ({x}, {l}[1]) = {v()}, {l}[0]",
                    f"{x}, {l}[0] = {v()}, {l}[99]",
                    f"{l}[0] += [{v()}].pop(7)",
                    f"({x} := {v()}) / 0.0",
                    f"{l}.sort(key=lambda z: 1.0 / (z - z))",
                ]
            )
        )
    with w.block("except Exception as error:"):
        w.line(w.choose([f"{l}[-1] = {l}[0] * 0.5", f"{l}[1] += {x}", "error = None", f"{l}[0] = {l}[0]"]))
    w.line(f"{x} = {x} + {l}[0]")


STATEMENTS: tuple[Callable[[Writing], None], ...] = (
    *PLAIN,
    in_dicts,
    with_iterators,
    in_nests,
    left_by_exceptions,
)
