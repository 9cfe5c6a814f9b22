"""hook with anything that can be called, showgrad, isderiving, nestlevel, stop_gradient."""

import array
import collections
import functools
import operator
import threading
import time
import types

import numpy as np
import pytest

import zyg
from tests.turns import by_one_python_a_day, each_in_turn


def test_row_34_hooks():
    assert zyg.gradient(lambda a, b: zyg.hook(operator.neg, a) * b, 2, 3) == (-3.0, 2.0)
    clip = lambda limit: zyg.gradient(lambda a: zyg.hook(lambda d: max(-limit, min(limit, d)), a) * -2, 3.0)
    assert clip(0.5) == (-0.5,) and clip(5.0) == (-2.0,)


def test_row_34_a_hook_that_prints(capsys):
    assert zyg.gradient(lambda a, b: zyg.hook(lambda d: print("a =", d) or d, a) * b, 2, 3) == (3.0, 2.0)
    assert zyg.gradient(lambda a, b: zyg.showgrad(a) * b, 2, 3) == (3.0, 2.0)
    assert capsys.readouterr().out == "a = 3.0\ngradient: 3.0\n"


SEEN = []


def recorded(d):
    SEEN.append(d)
    return d


class Recorder:
    def __init__(self):
        self.seen = []

    def __call__(self, d):
        self.seen.append(d)
        return 2 * d

    def tripled(self, d):
        self.seen.append(d)
        return 3 * d


def test_hooks_that_compiled_code_does_not_know_are_called():
    SEEN.clear()
    assert zyg.gradient(lambda a: zyg.hook(recorded, a) * 2, 3.0) == (2.0,)
    (g,) = zyg.gradient(lambda a: zyg.hook(recorded, a).sum(), np.ones(3))
    assert g.tolist() == [1.0, 1.0, 1.0]
    assert SEEN[0] == 2.0 and SEEN[1].tolist() == [1.0, 1.0, 1.0]
    assert zyg.gradient(lambda a: zyg.hook(abs, a) * -2, 3.0) == (2.0,)
    assert zyg.gradient(lambda a: zyg.hook(functools.partial(operator.mul, 5.0), a) * -2, 3.0) == (-10.0,)
    assert zyg.gradient(lambda a: zyg.hook(lambda d: np.clip(d, -1, 1), a) * -2, 3.0) == (-1.0,)
    (g,) = zyg.gradient(lambda a: zyg.hook(np.sort, a)[1] * -2 + a[0], np.ones(2))
    assert g.tolist() == [-1.0, 0.0]


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_hooks_that_keep_a_state():
    recorder = Recorder()
    assert zyg.gradient(lambda a: zyg.hook(recorder, a) * 2, 3.0) == (4.0,)
    assert zyg.gradient(lambda a: zyg.hook(recorder.tripled, a) * 2, 3.0) == (6.0,)
    seen = []
    zyg.gradient(lambda a: zyg.hook(seen.append, a) * 2, 3.0)
    assert recorder.seen == [2.0, 2.0] and seen == [2.0]


def fails(d):
    raise RuntimeError("in the hook")


@pytest.mark.parametrize(
    "function, error, words",
    [
        (fails, RuntimeError, "in the hook"),
        (3, TypeError, "hook takes a function and a value"),
        (lambda: 1.0, TypeError, "takes 0 positional arguments but 1 was given"),
        (lambda d: d[0], TypeError, "not subscriptable"),
        (lambda d: "a", TypeError, "does not give a cotangent of the kind"),
        (lambda d: (d,), TypeError, "does not give a cotangent of the kind"),
        (functools.lru_cache(lambda d: "a"), TypeError, "gave 'a' for the cotangent 1.0"),
    ],
)
def test_wrong_hooks(function, error, words):
    with pytest.raises(error, match=words):
        zyg.gradient(lambda a: zyg.hook(function, a), 3.0)


def test_a_hook_that_gives_none():
    assert zyg.gradient(lambda a: zyg.hook(lambda d: None, a) + 2 * a, 3.0) == (2.0,)


def test_row_36_levels(capsys):
    def f(x):
        print(zyg.nestlevel(), zyg.isderiving())
        return x

    grad = lambda f, x: zyg.gradient(f, x)[0]
    f(1)
    grad(f, 1)
    grad(lambda x: x * grad(f, x), 1)
    assert capsys.readouterr().out == "0 False\n1 True\n2 True\n"


def test_stop_gradient():
    assert zyg.gradient(lambda x: x * zyg.stop_gradient(x), 3.0) == (3.0,)
    assert zyg.gradient(lambda x: zyg.stop_gradient(x), 3.0) == (None,)
    (g,) = zyg.gradient(lambda a: zyg.stop_gradient(a)[0] * a[0], np.array([3.0, 1.0]))
    assert g.tolist() == [3.0, 0.0]


class Held:
    def __init__(self, v):
        self.v = v


def stopped_array(a):
    m = zyg.stop_gradient(a)
    a[0] = 5.0
    return m[0] * a[0] + a[1]


def stopped_list(a):
    items = [a[0], a[1]]
    m = zyg.stop_gradient((items, a[0]))
    items[0] = 5.0
    return m[0][0] * a[1] * m[1]


def stopped_object(a):
    o = Held(a)
    m = zyg.stop_gradient(o)
    o.v = a * 3.0
    return m.v[0] * o.v[1]


def through_python(f):
    def g(a):
        try:
            return f(a)
        except KeyError:
            return 0.0

    return g


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("f, gradient", [(stopped_array, [0, 1]), (stopped_list, [0, 4]), (stopped_object, [0, 6])])
def test_what_stop_gradient_gives_is_a_copy(f, gradient):
    a = lambda: np.array([2.0, 3.0])
    for g in (f, through_python(f)):
        value, (found,) = zyg.withgradient(g, a())
        assert value == f(a()) == zyg.jit(f)(a())
        assert found.tolist() == gradient
        assert zyg.jvp(g, (a(),), (np.ones(2),)) == (value, sum(gradient))


# ------------------------------------------------------------------------------------- hooks that change what they captured


def noted(log, d):
    log.append(d)


def appends():
    log = []

    def see(d):
        log.append(d)
        return d

    return see, log


def sets_keys():
    log = {}

    def see(d):
        log[len(log)] = d
        return d

    return see, log


def nested_list():
    log = {"seen": [[]]}

    def see(d):
        for seen in log["seen"]:
            seen += [d]
        return d

    return see, log["seen"][0]


def rebinds():
    count, seen = 0, ()

    def see(d):
        nonlocal count, seen
        count += 1
        seen = (*seen, d)
        return d

    return see, lambda: list(seen[:count])


def writes_an_array():
    log, at = np.zeros(3), [0]

    def see(d):
        log[at[0]] = d
        at[0] += 1
        return d

    return see, log


def passes_it_on():
    log = []

    def see(d):
        noted(log, d)
        return d

    return see, log


def by_an_inner_function():
    log = []

    def see(d):
        keep = lambda: log.append(d)
        keep()
        return d

    return see, log


def by_a_captured_function():
    inner, log = appends()
    return lambda d: inner(d), log


def by_partial():
    log = []

    def see(log, d):
        log.append(d)
        return d

    return functools.partial(see, log), log


class Counter:
    def __init__(self):
        self.total, self.seen = 0.0, []

    def __call__(self, d):
        self.total += d
        self.seen.append(d)
        return d

    def through_another(self, d):
        return self(d)


def of_an_object():
    counter = Counter()
    return counter, lambda: counter.seen if counter.total == sum(counter.seen) else counter.total


def of_a_method():
    counter = Counter()
    return counter.through_another, lambda: counter.seen if counter.total == sum(counter.seen) else counter.total


def of_a_captured_object():
    counter = Counter()
    return (lambda d: counter(d)), lambda: counter.seen if counter.total == sum(counter.seen) else counter.total


STATEFUL = [
    appends, sets_keys, nested_list, rebinds, writes_an_array, passes_it_on, by_an_inner_function, by_a_captured_function,
    by_partial, of_an_object, of_a_method, of_a_captured_object,
]  # fmt: skip


def found(log):
    log = log() if callable(log) else log
    return [float(d) for d in (log.values() if isinstance(log, dict) else log)]


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("make", STATEFUL)
@pytest.mark.parametrize("objects", [False, True])
def test_what_a_hook_changes_stays_changed(make, objects):
    see, log = make()

    def f(x):
        if objects:
            {x: 1, "a": 2}.clear()
        for _ in range(3):
            x = zyg.hook(see, x) * 3
        return x

    assert zyg.gradient(f, 2.0) == (27.0,)
    assert found(log) == [3.0, 9.0, 27.0]


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_a_hook_finds_what_the_one_before_has_changed():
    count = 0

    def see(d):
        nonlocal count
        count += 1
        return d * count

    def f(x):
        for _ in range(3):
            x = zyg.hook(see, x) * 3
        return x

    assert zyg.gradient(f, 2.0) == (27.0 * 6,) and count == 3


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("objects", [False, True])
def test_what_a_hook_only_reads_is_as_it_was(objects):
    log = []

    def f(x):
        if objects:
            {x: 1, "a": 2}.clear()
        scales, array = [2.0], np.array([5.0])
        see = lambda d: log.append(d) or d * k * scales[0] * array[0]
        k = 2.0
        while k < 4.0:
            x = zyg.hook(see, x)
            scales[0], array[0] = 7.0, 11.0
            k += 1.0
        return x

    assert zyg.gradient(f, 1.0) == (2.0 * 2.0 * 5.0 * 3.0 * 7.0 * 11.0,)
    assert log == [1.0, 3.0 * 7.0 * 11.0]


@each_in_turn
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("make", STATEFUL)
def test_hooks_with_a_state_in_higher_derivatives(make):
    see, log = make()
    f = lambda x: zyg.hook(see, {0: x}[0]) ** 3
    assert zyg.hessian(f, 2.0) == 12.0
    assert [d for d in found(log) if d] == [12.0]
    see, log = make()
    assert zyg.jvp(f, (2.0,), (1.0,)) == (8.0, 12.0)
    assert [d for d in found(log) if d] == [12.0]
    see, log = make()
    assert zyg.derivative(zyg.derivative(f))(2.0) == 12.0
    assert [d for d in found(log) if d] == [12.0]


TOTAL = np.zeros(1)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_a_hook_that_writes_an_array_where_the_backward_pass_runs_by_itself():
    captured = np.zeros(1)

    def see_captured(d):
        captured[0] += d
        return d

    def see_global(d):
        TOTAL[0] += d
        return d

    def check(see, total):
        total[0] = 0.0
        f = lambda x: zyg.hook(see, x) * 3
        assert zyg.gradient(f, 1.0) == (3.0,) and total[0] == 3.0
        back = zyg.pullback(f, 1.0)[1]
        assert back(1.0) == (3.0,) and total[0] == 6.0
        assert zyg.gradient(lambda x: zyg.checkpoint(f, x), 1.0) == (3.0,) and total[0] == 9.0

    check(see_captured, captured)
    check(see_global, TOTAL)

    def inside(x):
        return zyg.pullback(lambda v: zyg.hook(see_global, v) * 3, x)[1](1.0)[0]

    with pytest.raises(zyg.Unsupported, match="the array is a copy there"):
        zyg.jit(inside)(1.0)


# ------------------------------------------------------------ what a hook reads, and what it changes, through helpers of all kinds


THROUGH_PYTHON = pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")


def seen_through_python(f):
    """The function, with something that native code refuses in front."""

    def g(x):
        {x: 1, "a": 2}.clear()
        return f(x)

    return g


def gradient_of(f):
    (g,) = zyg.gradient(seen_through_python(f), 3.0)
    return float(g)


def scaled(d, k):
    return d * k[0]


def noting(o):
    o.n += 1


class Scales:
    def __init__(self, k=2.0):
        self.k, self.n, self.inner, self.rows = k, 0, [k], {"a": [k]}

    def scaled(self, d):
        return d * self.k

    def counted(self, k, d):
        self.n += 1
        return d * k[0]

    def __mul__(self, d):
        return self.k * d

    @property
    def doubled(self):
        return 2 * self.k


class InSlots:
    __slots__ = ("k", "n")

    def __init__(self, k=2.0):
        self.k, self.n = k, 0


class OfItems(list):
    pass


def set_item(k):
    k[0] = 100.0


def set_attribute(o):
    o.k = 100.0


READ = {
    "a helper that gets a list": (lambda: [2.0], lambda k: lambda d: scaled(d, k), set_item),
    "a helper that gets an array": (lambda: np.array([2.0]), lambda k: lambda d: scaled(d, k), set_item),
    "a view": (lambda: np.arange(8.0)[2::2], lambda k: lambda d: scaled(d, k), set_item),
    "a list derived": (lambda: OfItems([2.0]), lambda k: lambda d: scaled(d, k), set_item),
    "a deque": (lambda: collections.deque([2.0]), lambda k: lambda d: scaled(d, k), set_item),
    "an ordered dict": (
        lambda: collections.OrderedDict([(1, 0.0), (0, 2.0)]),
        lambda k: lambda d: scaled(d, k),
        set_item,
    ),
    "a set": (lambda: {2.0}, lambda k: lambda d: d * sum(k), lambda k: k.add(98.0)),
    "numbers in bytes": (lambda: array.array("d", [2.0]), lambda k: lambda d: scaled(d, k), set_item),
    "an array of objects": (lambda: np.array([2.0, None]), lambda k: lambda d: scaled(d, k), set_item),
    "a method": (Scales, lambda o: lambda d: o.scaled(d), set_attribute),
    "a bound method": (Scales, lambda o: o.scaled, set_attribute),
    "an operator": (Scales, lambda o: lambda d: o * d, set_attribute),
    "a property": (Scales, lambda o: lambda d: o.doubled / 2 * d, set_attribute),
    "a slot": (InSlots, lambda o: lambda d: o.k * d, set_attribute),
    "a namespace": (lambda: types.SimpleNamespace(k=2.0), lambda o: lambda d: o.k * d, set_attribute),
    "an integer": (lambda: Scales(2), lambda o: lambda d: o.k * d, set_attribute),
    "a default": (lambda: [2.0], lambda k: lambda d, k=k: scaled(d, k), set_item),
    "a keyword": (lambda: [2.0], lambda k: lambda d, *, k=k: scaled(d, k), set_item),
    "a partial": (lambda: [2.0], lambda k: functools.partial(lambda k, d: d * k[0], k), set_item),
    "a partial of a method": (lambda: [2.0], lambda k: functools.partial(Scales().counted, k), set_item),
    "what is in an object in an object": (
        lambda: types.SimpleNamespace(o=Scales()),
        lambda o: lambda d: o.o.rows["a"][0] * d,
        lambda o: set_item(o.o.rows["a"]),
    ),
    "an attribute that comes": (
        Scales,
        lambda o: lambda d: d * getattr(o, "more", 2.0),
        lambda o: setattr(o, "more", 100.0),
    ),
    "an attribute that goes": (Scales, lambda o: lambda d: d * getattr(o, "k", 100.0), lambda o: delattr(o, "k")),
    "items that come": (lambda: [2.0], lambda k: lambda d: d * sum(k), lambda k: k.append(98.0)),
    "keys that come": (lambda: {0: 2.0}, lambda k: lambda d: d * sum(k.values()), lambda k: k.update({1: 98.0})),
    "an object of which a helper counts": (
        Scales,
        lambda o: lambda d: noting(o) or d * o.k,
        set_attribute,
    ),
    "one that a jitted function has": (lambda: [2.0], lambda k: functools.lru_cache(lambda d: scaled(d, k)), set_item),
}


@by_one_python_a_day
@THROUGH_PYTHON
@pytest.mark.parametrize("name", READ)
def test_what_a_hook_reads_by_a_helper_is_as_it_was(name):
    make, hook_of, change = READ[name]
    held = []

    def f(x):
        k = make()
        held.append(k)
        y = zyg.hook(hook_of(k), x)
        change(k)
        return y

    assert gradient_of(f) == 2.0
    found, expected = held[0], make()
    change(expected)
    if isinstance(expected, np.ndarray):
        assert found.tolist() == expected.tolist()
    elif isinstance(expected, Scales):
        assert {**vars(found), "n": 0} == vars(expected)
    elif not isinstance(expected, (InSlots, types.SimpleNamespace)):
        assert found == expected  # what the program has made of it stays
    pullback = zyg.pullback(seen_through_python(f), 3.0)[1]
    assert pullback(1.0) == pullback(1.0) == (2.0,)  # however often


@THROUGH_PYTHON
def test_what_a_function_that_a_rule_is_given_reads_is_as_it_was():
    def apply(g, x):
        return g(x)

    @zyg.adjoint(apply)
    def _(g, x):
        return g(x), lambda d: (None, d * (g(x + 1.0) - g(x)))

    def f(x):
        k = [2.0]
        y = apply(lambda v: scaled(v, k), x)
        k[0] = 100.0
        return y

    assert gradient_of(f) == 2.0


class Total:
    def __init__(self):
        self._t, self.k, self.d = 0.0, 0, 0.0

    @property
    def t(self):
        return self._t

    @t.setter
    def t(self, value):
        self._t = value

    def __bool__(self):
        return True

    def __enter__(self):
        self.t += self.d

    def __exit__(self, *error):
        pass

    def __add__(self, d):
        self.t += d
        return self

    def __getitem__(self, d):
        self.t += d
        return 2 * d

    def __contains__(self, d):
        self.t += d
        return True

    def __len__(self):
        self.t += self.d
        return 1

    def hook(self, d):
        self.t += d
        return 2 * d


class Inherited(Total):
    def hook(self, d):
        return super().hook(d)


def add_by_setattr(p, d):
    setattr(p, "t", p.t + d)  # noqa: B010
    return 2 * d


def add_by_dict(p, d):
    p.__dict__["_t"] += d
    return 2 * d


def add_by_vars(p, d):
    vars(p)["_t"] += d
    return 2 * d


def add_by_property(p, d):
    p.t += d
    return 2 * d


def add_to_enumerated(p, d):
    for _, q in enumerate([p]):
        q.t += d
    return 2 * d


def add_to_filtered(p, d):
    for q in filter(None, [p]):
        q.t += d
    return 2 * d


def add_to_largest(p, d):
    max([p], key=id).t += d
    return 2 * d


def add_to_items(p, d):
    for q in (p,):
        q.t += d
    return 2 * d


def add_by_super(p, d):
    return p.hook(d)


def add_by_with(p, d):
    p.d = d
    with p:
        return 2 * d


def add_by_operator(p, d):
    return (p + d).d + 2 * d


def add_by_subscript(p, d):
    return p[d]


def add_by_contains(p, d):
    return 2 * d if d in p else 0.0


def add_by_len(p, d):
    p.d = d
    return 2 * d * len(p)


ADDING = [
    add_by_setattr, add_by_dict, add_by_vars, add_by_property, add_to_enumerated, add_to_filtered, add_to_largest, add_to_items,
    add_by_super, add_by_with, add_by_operator, add_by_subscript, add_by_contains, add_by_len,
]  # fmt: skip


@each_in_turn
@THROUGH_PYTHON
@pytest.mark.parametrize("between", [False, True])
@pytest.mark.parametrize("bound", [False, True])
@pytest.mark.parametrize("add", ADDING)
def test_however_a_hook_changes_an_object_the_change_stays(add, bound, between):
    p = Inherited()
    see = functools.partial(add, p) if bound else lambda d: add(p, d)

    def f(x):
        for _ in range(3):
            x = zyg.hook(see, x)
            if between:
                p.k += 1  # another attribute
        return x

    assert gradient_of(f) == 8.0 and p.t == 7.0 and p.k == 3 * between
    p.t = 0.0
    back = zyg.pullback(seen_through_python(f), 3.0)[1]
    assert back(1.0) == back(1.0) == (8.0,) and p.t == 14.0
    assert zyg.derivative(zyg.derivative(lambda x: f({0: x}[0]) ** 2))(3.0) == 16.0


@THROUGH_PYTHON
@pytest.mark.parametrize("add", ADDING)
def test_where_hook_and_program_change_one_attribute(add):
    """It is found as it is where code says that the function changes it, else refused: never lost."""
    p = Inherited()

    def f(x):
        x = zyg.hook(functools.partial(add, p), x)
        p.t += 10.0
        return x

    try:
        assert gradient_of(f) == 2.0
    except zyg.Unsupported as error:
        assert "one of the changes would be lost" in str(error) and add is not add_by_property
        assert p.t == 10.0
    else:
        assert p.t == 11.0


def sorted(log, d):  # (which has the name of a builtin function)
    log.append(d)


def add_to_groups(groups, d):
    for _, group in groups.items():
        group += [d]


def add_to_reversed(rows, d):
    for row in reversed(rows):
        row.append(d)


def add_to_matched(log, d):
    match log:
        case [inner]:
            inner.append(d)


@THROUGH_PYTHON
@pytest.mark.parametrize(
    "make, add, of",
    [
        (list, sorted, lambda log: log),
        (list, list.append, lambda log: log),
        (lambda: {"a": []}, add_to_groups, lambda log: log["a"]),
        (lambda: [[]], add_to_reversed, lambda log: log[0]),
        (lambda: [[]], add_to_matched, lambda log: log[0]),
        (collections.deque, lambda log, d: log.append(d), list),
        (lambda: array.array("d"), lambda log, d: log.append(d), list),
    ],
)
def test_however_a_hook_changes_a_container_the_change_stays(make, add, of):
    def check(log, see):
        def f(x):
            for _ in range(2):
                x = zyg.hook(see, x) * 3
            return x

        assert gradient_of(f) == 9.0 and of(log) == [3.0, 9.0]

    log = make()
    check(log, lambda d: add(log, d) or d)
    log = make()
    check(log, lambda d, log=log: add(log, d) or d)
    log = make()
    check(log, lambda d, *, log=log: add(log, d) or d)
    log = make()
    check(log, functools.partial(lambda log, d: add(log, d) or d, log))
    log = make()
    held = types.SimpleNamespace(log=[log])
    check(log, lambda d: add(held.log[0], d) or d)


@THROUGH_PYTHON
def test_hooks_with_one_variable():
    n, log = 0, []

    def bump():
        nonlocal n
        n += 1

    def see(d):
        bump()
        log.append(n)
        return d

    gradient_of(lambda x: zyg.hook(see, zyg.hook(see, x)))
    assert log == [1, 2] and n == 2


@THROUGH_PYTHON
def test_attributes_of_functions_and_what_a_hook_makes():
    def see(d):
        see.n += 1
        if not hasattr(made, "scale"):
            made.scale = float(see.n)
        return d * made.scale

    see.n, made = 1, types.SimpleNamespace()
    assert gradient_of(lambda x: zyg.hook(see, zyg.hook(see, x))) == 4.0
    assert see.n == 3 and made.scale == 2.0


@THROUGH_PYTHON
@pytest.mark.parametrize("natively", [False, True])
def test_a_hook_reads_what_another_one_has_changed(natively):
    total = np.zeros(1)

    def adds(d):
        total[0] += d
        return d

    reads = lambda d: d * (1.0 + total[0])
    f = lambda x: zyg.hook(adds, zyg.hook(reads, x)) * 3
    (g,) = zyg.gradient(f if natively else seen_through_python(f), 2.0)
    assert g == 12.0


@THROUGH_PYTHON
def test_aliases_are_one():
    """What a hook keeps, and what it compares, are the program's objects, not copies."""
    inner, kept = [2.0], []
    outer = {"inner": inner, "again": [inner]}

    def see(d):
        assert outer["inner"] is inner is outer["again"][0]
        kept.append(inner)
        return d * outer["again"][0][0]

    def f(x):
        inner[0] = 2.0
        x = zyg.hook(see, x)
        inner[0] = 100.0
        return x

    assert gradient_of(f) == 2.0
    assert kept[0] is inner and inner == [100.0]


@THROUGH_PYTHON
def test_views_of_one_array():
    a = np.zeros(4)
    view = a[1:]

    def see(d):
        return d * (a[1] + view[0])

    def adds(d):
        view[0] += 1.0
        return d

    def f(x, change, see):
        a[:] = 1.0
        x = zyg.hook(see, x)
        change[...] = 100.0
        return x

    assert gradient_of(lambda x: f(x, view, see)) == gradient_of(lambda x: f(x, a, see)) == 2.0
    assert a.tolist() == [100.0] * 4
    assert gradient_of(lambda x: f(x, a[2:], adds)) == 1.0
    assert a.tolist() == [1.0, 2.0, 100.0, 100.0]
    read_only = a[:]
    read_only.flags.writeable = False
    with pytest.raises(zyg.Unsupported, match="keeps an array that is written afterwards"):
        gradient_of(lambda x: f(x, a, lambda d: d * scaled(d, read_only)))


@THROUGH_PYTHON
def test_a_hook_within_a_hook():
    k, log = [2.0], []

    def inner(d):
        log.append(d)
        return d * k[0]

    def outer(d):
        return d * zyg.gradient(seen_through_python(lambda v: zyg.hook(inner, v) * k[0]), 1.0)[0]

    def f(x):
        k[0] = 2.0
        x = zyg.hook(outer, x)
        k[0] = 5.0
        x = zyg.hook(inner, x)
        k[0] = 100.0
        return x

    assert gradient_of(f) == 5.0 * 2.0 * 2.0
    assert log == [1.0, 2.0] and k == [100.0]


@THROUGH_PYTHON
def test_a_hook_that_raises_leaves_what_the_program_has():
    k, n = [2.0], 0

    def see(d):
        nonlocal n
        n += 1
        if n == 1:
            raise KeyError(k[0])
        return d * k[0]

    def f(x):
        k[0] = 2.0
        x = zyg.hook(see, x)
        k[0] = 100.0
        return x

    back = zyg.pullback(seen_through_python(f), 3.0)[1]
    with pytest.raises(KeyError, match=r"2\.0"):
        back(1.0)
    assert k == [100.0] and n == 1
    assert back(1.0) == (2.0,) and k == [100.0] and n == 2


@THROUGH_PYTHON
def test_pullbacks_in_threads():
    """Each finds what was captured as it was for it, though they share it."""
    k = [0.0]

    def see(d):
        time.sleep(0.001)
        return d * scaled(1.0, k)

    def f(x, scale):
        k[0] = scale
        x = zyg.hook(see, x)
        k[0] = 100.0
        return x

    backs = [zyg.pullback(seen_through_python(lambda x, s=s: f(x, s)), 3.0)[1] for s in range(8)]
    found = [0.0] * len(backs)

    def run(n):
        for _ in range(3):
            found[n] = backs[n](1.0)[0]

    threads = [threading.Thread(target=run, args=(n,)) for n in range(len(backs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == list(range(8)) and k == [100.0]


@THROUGH_PYTHON
def test_second_derivatives_where_the_program_changes_what_a_hook_reads():
    log = []

    def f(x, change=True):
        k, scale = [2.0], 3.0
        see = lambda d: log.append(0) or d * k[0] * scale
        y = zyg.hook(see, {0: x}[0]) ** 3
        if change:
            k[0], scale = 100.0, 100.0
        return y

    for change in (False, True):
        log.clear()
        slope = lambda x, change=change: zyg.gradient(lambda v: f(v, change), x)[0]
        value, (second,) = zyg.withgradient(slope, 2.0)
        assert value == 6 * 3 * 4 and second == 6 * 6 * 2 and log
    o = Scales()

    def g(x):
        o.k = 2.0
        y = zyg.hook(lambda d: o.scaled(d), {0: x}[0]) ** 3
        o.k = 100.0
        return y

    with pytest.raises(zyg.Unsupported, match="keeps an object that changes afterwards"):
        zyg.gradient(lambda x: zyg.gradient(g, x)[0], 2.0)
