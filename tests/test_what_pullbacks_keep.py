"""What the pullback of a user's rule has captured: it finds that as it was when the rule returned, the very objects, and what it
changes is the program's. The oracle is CPython, which calls the rule and its pullback by hand."""

import collections
import copy
import functools
import threading
import types
import warnings
import weakref
from random import Random

import numpy as np
import pytest

import zyg
from tests.turns import each_in_turn
from zyg.autodiff.objects import keeping
from zyg.autodiff.objects.api import pullback as python_pullback

pytestmark = each_in_turn

THROUGH_PYTHON = pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
X = np.array([3.0, 4.0])
LOG, TOTAL, SCALES = [], np.zeros(2), [2.0]


class Workspace:
    def __init__(self, n):
        self.buffer, self.seen = np.zeros(n), []

    def fill(self, values):
        self.buffer[:] = values


STATE = Workspace(2)


def with_rule(rule):
    def square(x, *held):
        return (x * x).sum()

    zyg.adjoint(square)(rule)
    return square


def through_python(f):
    def g(x):
        return f({0: x}[0])

    return g


# ------------------------------------------------------------------------------------- what is one, or shares memory


def a_view(x):
    matrix = np.zeros((2, 2))
    diagonal = matrix.reshape(4)[::3]

    def back(d):
        diagonal[:] = 2 * x * d
        return (matrix @ np.ones(2),)

    return (x * x).sum(), back


def views_in_a_list(x):
    matrix = np.zeros((2, 2))
    rows = [matrix[0], matrix[1]]

    def back(d):
        for k, row in enumerate(rows):
            row[:] = x[k] * d
        return (matrix.sum(axis=1),)

    return (x * x).sum(), back


def array_of_an_object(x):
    work = Workspace(2)
    buffer = work.buffer

    def back(d):
        buffer[:] = 2 * x * d
        return (work.buffer.copy(),)

    return (x * x).sum(), back


def bound_methods(x):
    items, work = [], Workspace(2)
    add, fill = items.append, work.fill

    def back(d):
        add(d)
        fill(2 * x * items[-1])
        return (work.buffer.copy(),)

    return (x * x).sum(), back


def by_a_class(x):
    buffer = np.zeros(2)

    class Work:
        scale = 2.0

        @staticmethod
        def put(v):
            buffer[:] = v * Work.scale

    def back(d):
        Work.put(x * d)
        return (buffer.copy(),)

    return (x * x).sum(), back


def a_list_twice(x):
    items = [x]
    held = {"items": items, "again": (items,)}

    def back(d):
        held["items"][0] = held["items"][0] * 2 * d
        found = held["again"][0].pop()
        items.append(x)
        return (found,)

    return (x * x).sum(), back


def by_a_helper(x):
    buffer, count = np.zeros(2), 0

    def bump(d):
        nonlocal count
        count += 1
        buffer[:] = 2 * x * d

    def back(d):
        before = count
        bump(d)
        return (buffer * (count - before),)

    return (x * x).sum(), back


def by_partial(x):
    buffer = np.zeros(2)

    def run(target, source, d):
        target[:] = 2 * x * d
        return (source.copy(),)

    return (x * x).sum(), functools.partial(run, buffer[:], buffer)


def by_default(x):
    buffer = np.zeros(2)

    def back(d, target=buffer, source=buffer[::-1]):
        target[:] = 2 * x * d
        return (source[::-1].copy(),)

    return (x * x).sum(), back


ALIASES = [
    a_view, views_in_a_list, array_of_an_object, bound_methods, by_a_class, a_list_twice, by_a_helper, by_partial, by_default,
]  # fmt: skip


@THROUGH_PYTHON
@pytest.mark.parametrize("rule", ALIASES)
def test_what_is_one_stays_one(rule):
    square = with_rule(rule)
    expected = rule(X)[1](1.0)[0]
    assert expected.tolist() == [6.0, 8.0]
    for f in (square, through_python(square)):
        assert zyg.gradient(f, X)[0].tolist() == [6.0, 8.0]
        _, back = zyg.pullback(f, X)
        assert back(1.0)[0].tolist() == [6.0, 8.0] and back(-2.0)[0].tolist() == [-12.0, -16.0]
    rows = zyg.jacobian(through_python(lambda x: square(x) * np.array([1.0, -2.0])), X)[0]
    assert rows.tolist() == [[6.0, 8.0], [-12.0, -16.0]]


@THROUGH_PYTHON
@pytest.mark.parametrize("rule", ALIASES)
def test_second_derivatives_of_what_is_one(rule):
    square = with_rule(rule)
    f = through_python(lambda x: square(x) * x[0])
    expected = np.array([[18.0, 8.0], [8.0, 6.0]])
    slope = lambda x: (zyg.gradient(f, x)[0] * np.array([1.0, 2.0])).sum()
    assert zyg.gradient(slope, X)[0].tolist() == (expected @ np.array([1.0, 2.0])).tolist()
    assert zyg.hessian(f, X).tolist() == expected.tolist()


# ------------------------------------------------------------------------------------- effects


def notes_in_a_global_list(x):
    log = LOG

    def back(d):
        log.append(d)
        return (2 * x * d,)

    return (x * x).sum(), back


def notes_in_a_list_of_an_object(x):
    seen = STATE.seen

    def back(d):
        seen.append(d)
        return (2 * x * d,)

    return (x * x).sum(), back


def notes_by_a_bound_method(x):
    note = LOG.append

    def back(d):
        note(d)
        return (2 * x * d,)

    return (x * x).sum(), back


def notes_in_an_argument(x, log=LOG):
    def back(d):
        log.append(d)
        return (2 * x * d, None)

    return (x * x).sum(), back


def adds_to_an_array(x):
    total = TOTAL

    def back(d):
        total[0] += d
        return (2 * x * d,)

    return (x * x).sum(), back


def adds_to_a_view(x):
    total = TOTAL[:1]

    def back(d):
        np.add(total, d, out=total)
        return (2 * x * d,)

    return (x * x).sum(), back


def found():
    return [float(d) for d in [*LOG, *STATE.seen]] or [float(TOTAL[0])]


def clear():
    LOG.clear()
    STATE.seen.clear()
    TOTAL[:] = 0.0


EFFECTS = [
    notes_in_a_global_list, notes_in_a_list_of_an_object, notes_by_a_bound_method, notes_in_an_argument, adds_to_an_array,
    adds_to_a_view,
]  # fmt: skip


@THROUGH_PYTHON
@pytest.mark.parametrize("number", [False, True])
@pytest.mark.parametrize("rule", EFFECTS)
def test_what_a_pullback_changes_is_the_programs(rule, number):
    square = with_rule((lambda *args: rule(np.asarray(args[0]), *args[1:])) if number else rule)
    x = 3.0 if number else X
    held = (LOG,) if rule is notes_in_an_argument else ()
    for f in (lambda x: square(x, *held) + 2.0 * square(x, *held), through_python(lambda x: square(x, *held) * 3.0)):
        clear()
        values = [rule(np.asarray(x))[1] for _ in range(2)]
        seeds = [2.0, 1.0] if f.__name__ == "<lambda>" else [3.0]
        for back, d in zip(values, seeds):
            back(d)
        expected = found()
        clear()
        np.testing.assert_array_equal(zyg.gradient(f, x)[0], 6.0 * np.asarray(x))
        assert found() == expected
        clear()
        _, back = zyg.pullback(f, x)
        back(1.0)
        back(1.0)
        assert sum(found()) == 2 * sum(expected)
    clear()


@THROUGH_PYTHON
def test_where_rules_and_pullbacks_note_in_one_list():
    """The program has changed the list since: the pullback finds what was in it, and what it adds is added."""
    log, lengths = [], []

    def rule(x):
        held = log
        held.append("forward")

        def back(d):
            lengths.append(len(held))
            held.append(float(d))
            return (2 * x * d,)

        return (x * x).sum(), back

    square = with_rule(rule)

    def f(x):
        y = square(x) + 2 * square(x)
        log.append("end")
        return y

    def run(through):
        log.clear()
        lengths.clear()
        assert zyg.gradient(through(f), X)[0].tolist() == [18.0, 24.0]
        assert log == ["forward", "forward", "end", 2.0, 1.0]

    run(through_python)
    run(lambda f: f)


# ------------------------------------------------------------------------------------- what the program changes


def keeps_a_list(x):
    scales = SCALES
    return (x * x).sum(), lambda d: (x * scales[0] * d,)


def keeps_an_array(x):
    total = TOTAL
    total[:] = x
    return (x * x).sum(), lambda d: (2 * total * d,)


def keeps_a_view(x):
    TOTAL[:] = x
    total = TOTAL[::-1]
    return (x * x).sum(), lambda d: (2 * total[::-1] * d,)


def keeps_what_it_gives_away(x):
    y = x.copy()
    GIVEN.append(y)
    return (x * x).sum(), lambda d: (2 * y * d,)


def keeps_what_it_gives_weakly(x):
    y = x.copy()
    GIVEN.append(weakref.ref(y))
    return (x * x).sum(), lambda d: (2 * y * d,)


def keeps_what_it_gives_a_view_of(x):
    y = x.copy()
    GIVEN.append(y[1:])
    return (x * x).sum(), lambda d: (2 * y * d,)


def keeps_what_a_function_writes(x):
    y = x.copy()

    def write():
        y[:] = 100.0

    GIVEN.append(write)
    return (x * x).sum(), lambda d: (2 * y * d,)


def gives_the_pullback_away(x):
    y = x.copy()

    def back(d):
        if d is None:
            y[:] = 100.0
            return None
        return (2 * y * d,)

    GIVEN.append(back)
    return (x * x).sum(), back


def gives_the_cell_away(x):
    y = x.copy()

    def back(d):
        return (2 * y * d,)

    GIVEN.append(types.SimpleNamespace(cell=back.__closure__[0]))
    return (x * x).sum(), back


GIVEN = []
KEEPING = [
    keeps_a_list, keeps_an_array, keeps_a_view, keeps_what_it_gives_away, keeps_what_it_gives_weakly,
    keeps_what_it_gives_a_view_of, keeps_what_a_function_writes, gives_the_pullback_away, gives_the_cell_away,
]  # fmt: skip


def change_all():
    SCALES[0], TOTAL[:] = 100.0, 100.0
    for given in GIVEN:
        if isinstance(given, weakref.ref):
            given()[:] = 100.0
        elif isinstance(given, np.ndarray):
            given[:] = 100.0
        elif isinstance(given, types.SimpleNamespace):
            given.cell.cell_contents[:] = 100.0
        elif given.__code__.co_argcount:
            given(None)
        else:
            given()
    GIVEN.clear()


@THROUGH_PYTHON
@pytest.mark.parametrize("rule", KEEPING)
def test_what_the_program_changes_is_as_it_was(rule):
    square = with_rule(rule)

    def f(x):
        SCALES[0] = 2.0
        y = square(x)
        change_all()
        return y * square(x)

    def g(x):
        y = f(x)
        change_all()
        return y

    _, back = python_pullback(g, (X,), {})
    for _ in range(2):
        expected = 4 * 25 * X
        if rule is keeps_a_list:
            expected = 25 * X * (2.0 + 100.0)
        assert back(1.0)[0].tolist() == expected.tolist()
        assert TOTAL.tolist() == [100.0, 100.0] and SCALES == [100.0]


@THROUGH_PYTHON
def test_a_number_with_what_the_program_changes():
    def rule(x):
        scales, total = SCALES, TOTAL
        return x * x, lambda d: (d * scales[0] * total[0],)

    def square(x):
        return x * x

    zyg.adjoint(square)(rule)

    def f(x):
        SCALES[0], TOTAL[0] = 2.0, 5.0
        y = square(x)
        SCALES[0], TOTAL[0] = 100.0, 100.0
        return y

    assert python_pullback(f, (3.0,), {})[1](1.0) == (10.0,)


@THROUGH_PYTHON
@pytest.mark.parametrize("by_name", [False, True])
def test_an_array_that_both_change_is_refused(by_name):
    """The pullback finds what it was, and cannot also leave what it makes of that."""

    def rule(x):
        work = TOTAL
        work[:] = 2 * x

        def back(d):
            if by_name:
                work[:] *= d
            else:
                np.multiply(work, d, out=work)
            return (work.copy(),)

        return (x * x).sum(), back

    square = with_rule(rule)
    assert python_pullback(square, (X,), {})[1](2.0)[0].tolist() == [12.0, 16.0] == TOTAL.tolist()
    with pytest.raises(zyg.Unsupported, match="one of the changes would be lost") as caught:
        python_pullback(lambda x: square(x) * square(3 * x), (X,), {})[1](1.0)
    assert "a copy" in str(caught.value)


@THROUGH_PYTHON
def test_pullbacks_that_have_views_of_one_array():
    """What the one writes the other one finds."""
    total = np.zeros(4)

    def writes(x):
        part = total[1:3]

        def back(d):
            np.add(part, d, out=part)
            return (2 * x * d,)

        return (x * x).sum(), back

    def reads(x):
        whole = total
        return (x * x).sum(), lambda d: (2 * x * d + whole[:2],)

    first, second = (lambda x: (x * x).sum()), (lambda x: (x * x).sum())
    zyg.adjoint(first)(reads)
    zyg.adjoint(second)(writes)
    _, back = python_pullback(lambda x: first(x) + second(x), (X,), {})
    assert back(1.0)[0].tolist() == [12.0, 17.0] and total.tolist() == [0.0, 1.0, 1.0, 0.0]
    assert back(1.0)[0].tolist() == [12.0, 18.0] and total.tolist() == [0.0, 2.0, 2.0, 0.0]


def test_arrays_of_a_pullback_alone_are_not_looked_at():
    def rule(x):
        y, n = 2 * x, 3.0
        return (x * x).sum(), lambda d: (y * d * n / 3,)

    _, user = rule(X)
    assert keeping.kept(user, rule, rule) is user
    _, user = keeps_what_it_gives_away(X)
    assert isinstance(keeping.kept(user, rule, rule), keeping.Watching)
    change_all()


# ------------------------------------------------------------------------------------- hooks


@THROUGH_PYTHON
@pytest.mark.parametrize("slots", [False, True])
def test_attributes_stand_in_the_order_that_the_program_made(slots):
    o = types.SimpleNamespace(a=1.0, b=0.0)

    def f(x):
        def see(d):
            o.seen = d
            return d * o.a

        y = zyg.hook(see, x)
        for name in "pqrstuvw":
            setattr(o, name, 1.0)
        del o.b
        o.b, o.a = 5.0, 7.0
        return y * x

    names = [*"apqrstuvwb", "seen"]
    assert zyg.gradient(through_python(f), 3.0) == (6.0,)
    assert list(vars(o)) == names and o.a == 7.0


@THROUGH_PYTHON
def test_defaults_are_what_they_were():
    def g(d, k=2.0, *, n=3.0):
        return d * k * n

    def f(x):
        g.__defaults__, g.__kwdefaults__ = (2.0,), {"n": 3.0}
        y = zyg.hook(g, x)
        g.__defaults__ = (5.0,)
        y = zyg.hook(g, y)
        g.__kwdefaults__["n"] = 7.0
        y = zyg.hook(g, y)
        g.__defaults__, g.__kwdefaults__ = None, None
        return y

    assert zyg.gradient(through_python(f), 1.0) == (6.0 * 15.0 * 35.0,)
    assert g.__defaults__ is g.__kwdefaults__ is None


@THROUGH_PYTHON
def test_none_of_a_hook_is_zero():
    def nothing(d):
        return None

    def by_name(d):
        LOG.append(d)

    for see in (nothing, by_name, lambda d: None, collections.deque().append):
        f = lambda a, b, see=see: zyg.hook(see, a) * b
        for g in (f, lambda a, b, f=f: f({0: a}[0], b)):
            assert zyg.gradient(g, 2.0, 3.0) == (0.0, 2.0)
            (x, y) = zyg.gradient(lambda a, b, g=g: g(a, b).sum(), np.ones(2), 3.0)
            assert x.tolist() == [0.0, 0.0] and y == 2.0
            assert zyg.gradient(lambda a, b, g=g: g(a * 1j, b).imag, 2.0, 3.0) == (0.0, 2.0)
            assert zyg.gradient(lambda a, g=g: g(a, float("inf")), 2.0) == (0.0,)
            assert zyg.hessian(lambda a, g=g: g(a, a), 2.0) == 1.0
    clear()


# ------------------------------------------------------------------------------------- pullbacks that have a state


def adds_up(x):
    buffer = np.zeros(2)

    def back(d):
        buffer[:] += 2 * x * d
        return (buffer.copy(),)

    return (x * x).sum(), back


def adds_up_by_a_view(x):
    matrix = np.zeros((2, 2))
    diagonal = matrix.reshape(4)[::3]

    def back(d):
        diagonal[:] += 2 * x * d
        return (matrix @ np.ones(2),)

    return (x * x).sum(), back


def counts(x):
    n = 0

    def back(d):
        nonlocal n
        n += 1
        return (2 * x * d * n,)

    return (x * x).sum(), back


def empties_a_list(x):
    items = [x, x]

    def back(d):
        return ((items.pop() + items.pop()) * d,)

    return (x * x).sum(), back


@THROUGH_PYTHON
@pytest.mark.parametrize("rule", [adds_up, adds_up_by_a_view, counts, empties_a_list])
def test_rows_of_a_jacobian_are_apart(rule):
    """A pullback that is called twice finds what it has left, as when CPython calls it twice; rows are of calls of their own."""
    square = with_rule(rule)
    scales = np.array([1.0, 10.0])

    def overwrites(x):
        y = square(x) * scales
        x[:] = 0.0
        return y

    for f in (lambda x: square(x) * scales, lambda x: square({0: x}[0]) * scales, lambda x: overwrites({0: x}[0])):
        assert zyg.jacobian(f, X.copy())[0].tolist() == [[6.0, 8.0], [60.0, 80.0]]
        assert zyg.jvp(f, (X.copy(),), (np.array([1.0, 2.0]),))[1].tolist() == [22.0, 220.0]
    if rule is empties_a_list:
        return
    by_hand = rule(X)[1]
    expected = [by_hand(1.0)[0].tolist(), by_hand(10.0)[0].tolist()]
    for f in (square, through_python(square)):
        _, back = zyg.pullback(f, X)
        assert [back(1.0)[0].tolist(), back(10.0)[0].tolist()] == expected


# ------------------------------------------------------------------------------------- at random


class World:
    """Arrays, lists and objects that are in one another, by several names and views."""

    def __init__(self):
        self.array, self.list = np.zeros((2, 3)), []
        self.inner = types.SimpleNamespace(array=np.zeros(3), items=[self.array[0]])
        self.object = types.SimpleNamespace(array=self.array[1], items=self.list, n=0.0, inner=self.inner)
        self.dict = {"a": self.array, "l": [self.list, self.object]}

    def ways(self):
        a, o = self.array, self.object
        return [
            a, a[0], a.T, a.ravel()[::2], a[1], (a, o), {"x": [o.array]}, o, o.inner, o.inner.items, self.dict, self.list,
            self.list.append, o.array.fill,
        ]  # fmt: skip

    def state(self):
        return repr((self.array, self.list, self.object, self.inner, self.dict))


def arrays_in(x, seen):
    if id(x) in seen:
        return []
    seen[id(x)] = x
    if isinstance(x, np.ndarray):
        return [x]
    x = getattr(x, "__self__", x)
    parts = x.values() if isinstance(x, dict) else vars(x).values() if isinstance(x, types.SimpleNamespace) else x
    return [
        a
        for part in (parts if isinstance(x, (dict, list, tuple, types.SimpleNamespace)) else ())
        for a in arrays_in(part, seen)
    ]


def changed(way, what, d):
    if what == "arrays":
        for a in arrays_in(way, {}):
            np.add(a, d, out=a)
    elif callable(way):
        way(d)
    elif isinstance(way, list):
        way.append(d)
    elif isinstance(way, dict):
        way[f"new{len(way)}"] = d
    elif isinstance(way, types.SimpleNamespace):
        way.n = getattr(way, "n", 0.0) + d


def read(ways):
    total = 0.0
    for way in ways:
        total += sum(float(a.sum()) for a in arrays_in(way, {}))
        way = getattr(way, "__self__", way)
        if isinstance(way, list):
            total += sum(x for x in way if isinstance(x, float))
        total += len(way) if isinstance(way, (dict, list)) else getattr(way, "n", 0.0)
    return total


def random_rule(random, world, writes):
    ways = [(random.randrange(14), random.random() < 0.3) for _ in range(3)]
    changes = [(random.choice(["arrays", "other"]), random.randrange(3)) for _ in range(random.randrange(3) * writes)]
    by_default = random.random() < 0.5

    def rule(x):
        a, b, c = [(World() if fresh else world[0]).ways()[k] for k, fresh in ways]

        def helper(held, d):
            for what, k in changes:
                changed(held[k], what, float(d))

        def back(d):
            helper((a, b, c), d)
            return (2 * x * d + read((a, b, c)),)

        def back_by_default(d, *, held=(a, b, c)):
            helper(held, d)
            return (2 * x * d + read(held),)

        return (x * x).sum(), back_by_default if by_default else back

    return rule


def first_square(x):
    return (x * x).sum()


def second_square(x):
    return (x * x).sum()


@THROUGH_PYTHON
@pytest.mark.parametrize("seed", range(40))
def test_random_rules(seed):
    """Without changes of the program the pullbacks leave what they leave in CPython; what the program changes is as it was for those that
    only read it."""
    random = Random(seed)
    world = [World()]
    writes = random.random() < 0.6
    rules = [random_rule(random, world, writes) for _ in range(2)]

    def by_hand():
        world[0] = World()
        backs = [rule(X)[1] for rule in rules]
        found = [backs[1](2.0 * d)[0] + backs[0](d)[0] for d in (1.0, -2.0)]
        return found, world[0].state()

    def change():
        w = world[0]
        w.array += 7.0
        w.inner.array, w.object.items, w.object.n = w.array[0], [5.0], 9.0
        w.list.append(3.0)
        w.dict["k"] = 1

    def f(x):
        y = first_square({0: x}[0]) + 2 * second_square(x)
        if not writes:
            change()
        return y

    expected, state = by_hand()
    if not writes:
        change()
        state = world[0].state()
    world[0] = World()
    zyg.adjoint(first_square)(rules[0])
    zyg.adjoint(second_square)(rules[1])
    try:
        _, back = python_pullback(f, (X,), {})
        found = [back(1.0)[0].tolist(), back(-2.0)[0].tolist()]
    finally:
        zyg.rules.remove(first_square)
        zyg.rules.remove(second_square)
    assert found == [e.tolist() for e in expected] and world[0].state() == state


def test_what_cannot_be_copied_may_be_given_where_there_are_rules():
    """The arguments are kept for further rows, if the call meets a rule: a lock is the same one then."""

    def squared(x):
        return x * x

    zyg.adjoint(squared)(lambda x: (x * x, lambda d: (2 * x * d,)))

    def locked(x, lock):
        with lock:
            return squared(x) * 3.0

    lock = threading.Lock()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        assert zyg.jvp(locked, (2.0, lock), (1.0, None)) == (12.0, 12.0)
        assert zyg.jacobian(lambda x: locked(x, lock), 2.0) in (12.0, (12.0,))


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_copies():
    for f in (lambda x: x * x * x, lambda x: sum(x * k * k for k in {1, int(x)})):
        _, back = zyg.pullback(f, 2.0)
        assert copy.deepcopy([back])[0](1.0) == copy.copy(back)(1.0) == back(1.0)
