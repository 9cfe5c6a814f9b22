"""hook with anything that can be called, showgrad, isderiving, nestlevel, stop_gradient."""

import functools
import operator

import numpy as np
import pytest

import zyg


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


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_a_change_that_cannot_be_followed_is_refused():
    log = []
    see = functools.partial(list.append, log)
    with pytest.raises(zyg.Unsupported, match="the change would be lost"):
        zyg.gradient(lambda x: zyg.hook(see, {0: x}[0]) * 3, 2.0)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("make", [make for make in STATEFUL if make is not by_partial])
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
