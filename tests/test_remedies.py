"""Messages lead somewhere: names that users can import, what to write instead, the line."""

from __future__ import annotations

import bisect
import contextlib
import copy
import datetime
import enum
import functools
import heapq
import itertools
import math
import pickle
import random
import re
import statistics
from collections import ChainMap, Counter, UserDict, UserList, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import zyg
from zyg import rules
from zyg.fallback import python_pullback

from .oracles.differences import derivative
from .turns import each_in_turn

pytestmark = each_in_turn


def test_names_are_those_that_users_import() -> None:
    integrate = pytest.importorskip("scipy.integrate")
    stats = pytest.importorskip("scipy.stats")
    with pytest.raises(zyg.Unsupported, match=r"@zyg.adjoint\(scipy\.integrate\.quad\)"):
        python_pullback(lambda x: integrate.quad(lambda t: t * x, 0.0, 1.0)[0], (1.0,), {})[1](1.0)
    with pytest.raises(zyg.Unsupported, match=r"@zyg.adjoint\(scipy\.stats\.rv_continuous\.logpdf\)"):
        python_pullback(lambda x: stats.norm.logpdf(x), (1.0,), {})[1](1.0)


def test_the_cotangent_of_a_dict() -> None:
    _, back = zyg.pullback(lambda x: {"a": x, "b": x * 2.0}, 2.0)
    with pytest.raises(TypeError, match="should be a dict with the keys 'a', 'b', not a float"):
        back(1.0)
    assert back({"b": 1.0}) == (2.0,)


def test_an_unfinished_generator_says_where_it_is() -> None:
    def steps(x: float) -> Iterator[float]:
        try:
            yield x
            yield x * 2.0
        finally:
            x *= 3.0

    def f(x: float) -> float:
        items = steps(x)
        return next(items)

    with pytest.raises(zyg.Unsupported, match=r"was not finished(.|\n)*, in \".*steps\"\n *def steps"):
        python_pullback(f, (2.0,), {})


def test_keywords_of_functions_that_compiled_code_does_not_know() -> None:
    called = functools.lru_cache(lambda x, *, scale, shift: x * scale + shift)
    zyg.adjoint(called, returns=float)(
        lambda x, *, scale, shift: (called(x, scale=scale, shift=shift), lambda d: (d * scale,))
    )
    try:
        f = zyg.jit(lambda x, s: called(x, scale=s * 2.0, shift=1.0))
        assert f(3.0, 0.5) == 4.0
    finally:
        rules.remove(called)


def test_all_elements_are_set_through_flat() -> None:
    def f(a: np.ndarray, v: np.ndarray) -> float:
        a = a * 1.0
        setattr(a, "flat", v)  # noqa: B010
        return np.sum(a * np.arange(6.0).reshape(2, 3))

    value, (da, dv) = zyg.withgradient(zyg.jit(f), np.ones((2, 3)), np.array([1.0, 2.0, 3.0, 4.0]))
    assert value == 0 + 2 + 6 + 12 + 4 + 10 and not da.any() and dv.tolist() == [4.0, 6.0, 2.0, 3.0]


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_solvers_and_integrals_point_at_implicit_differentiation() -> None:
    integrate, optimize = pytest.importorskip("scipy.integrate"), pytest.importorskip("scipy.optimize")
    by_root = lambda x: optimize.brentq(lambda t: t * t - x, 0.0, 10.0)
    for f in (by_root, lambda x: integrate.quad(lambda t: t * x, 0.0, 1.0)[0]):
        with pytest.raises(zyg.Unsupported, match=r"'Implicit differentiation' in docs/custom-adjoints\.md"):
            zyg.gradient(f, 2.0)
        with pytest.raises(zyg.Unsupported, match=r"'Implicit differentiation' in docs/custom-adjoints\.md"):
            zyg.jit(f)(2.0)

    @zyg.adjoint(optimize.brentq)
    def _(g: Callable[[float], float], low: float, high: float) -> Any:
        x = optimize.brentq(g, low, high)

        def back(d: float) -> Any:
            _, pull = zyg.pullback(lambda h: h(x), g)
            return pull(-d / zyg.derivative(g)(x))[0], None, None

        return x, back

    try:
        assert zyg.gradient(by_root, 2.0)[0] == pytest.approx(0.5 / 2.0**0.5)
    finally:
        rules.remove(optimize.brentq)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_text_that_is_run_says_what_to_write() -> None:
    with pytest.raises(zyg.Unsupported, match=r"eval without the names(.|\n)*test_remedies(.|\n)*eval\('lambda x"):
        zyg.gradient(lambda x: eval("x * x"), 2.0)
    with pytest.raises(zyg.Unsupported, match=r"through `eval`, which zyg cannot see into(.|\n)*as Python code"):
        zyg.gradient(lambda x: eval("x * x", {"x": x}), 2.0)
    with pytest.raises(zyg.Unsupported, match="write the statements as Python code"):
        zyg.gradient(lambda x: (d := {"x": x}, exec("y = x", d), d["y"])[2], 2.0)


def copied(x: float) -> float:
    return pickle.loads(pickle.dumps([x]))[0] * x


def copied_otherwise(x: float) -> float:
    return copy.deepcopy([x])[0] * x


WEIGHTS = pickle.dumps([3.0])


def with_weights(x: float) -> float:
    return pickle.loads(WEIGHTS)[0] * x + len(pickle.dumps(x)) * 0.0


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_copies_by_way_of_bytes_are_refused() -> None:
    """The copy was a constant."""
    with pytest.raises(zyg.Unsupported, match=r"copy\.deepcopy"):
        zyg.gradient(copied, 2.0)
    assert zyg.gradient(copied_otherwise, 2.0) == (4.0,)
    assert zyg.gradient(with_weights, 2.0) == (3.0,)


def changing(a: list[float]) -> float:
    a[0] = 2.0 * a[0]
    return a[0]


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_a_rule_that_changes_its_argument_says_where_it_was_called() -> None:
    zyg.adjoint(changing)(lambda a: (changing(a), lambda d: ([2.0 * d],)))
    try:
        with pytest.raises(zyg.Unsupported, match=r"changes its argument(.|\n)*test_remedies\.py(.|\n)*changing\(a\)"):
            python_pullback(lambda x: (a := [x], changing(a), a[0])[2], (1.5,), {})[1](1.0)
    finally:
        rules.remove(changing)


def test_integers_past_64_bits_say_which_operation() -> None:
    for f, symbol in (
        (lambda n: n * n, r"\*"),
        (lambda n: n + n, r"\+"),
        (lambda n: n**5, r"\*\*"),
        (lambda n: -n - n - n, "-"),
    ):
        with pytest.raises(
            OverflowError, match=f"integer result of {symbol} does not fit into 64 bits: begin with a float"
        ):
            zyg.jit(f)(2**62)


of_no_module = type("OfNoModule", (), {"__module__": None, "__call__": lambda self, x: x * x})()


def test_instances_of_a_class_that_is_of_no_module() -> None:
    assert python_pullback(lambda x: of_no_module(x), (3.0,), {})[1](1.0) == (6.0,)


def test_loops_over_arrays_of_several_numbers_of_dimensions_are_refused():
    def f(x, c):
        v = x.sum(axis=0)
        if c:
            v = x.copy()
        total = 0.0
        for row in v:
            total = total + np.sum(row)
        return total

    with pytest.raises(zyg.Unsupported, match="one number of dimensions here and another there"):
        zyg.jit(f)(np.ones((4, 4)), True)


# ------------------------------------------------------------------------------- what to write instead, natively


def by_heap(x: float) -> float:
    queue: list[float] = []
    for n in range(5):
        heapq.heappush(queue, x * (5 - n))
    return heapq.heappop(queue)


def by_insort(x: float) -> float:
    queue: list[float] = []
    for n in range(5):
        bisect.insort(queue, x * (5 - n))
    return queue.pop(0)


def by_counter(x: float) -> float:
    return sum(count * x for count in Counter("abca").values())


COUNTER = Counter("abca")


def by_global_counter(x: float) -> float:
    return sum(count * x for count in COUNTER.values())


def by_counts(x: float) -> float:
    d: dict[str, int] = {}
    for key in "abca":
        d[key] = d.get(key, 0) + 1
    return sum(count * x for count in d.values())


def by_counters(x: float) -> float:
    d: Any = defaultdict(Counter)
    d["a"]["b"] += 1
    return d["a"]["b"] * x


def by_default(x: float) -> float:
    d: Any = defaultdict(float)
    for key in ("a", "b", "a"):
        d[key] += x
    return d["a"]


def by_get(x: float) -> float:
    d: dict[str, float] = {}
    for key in ("a", "b", "a"):
        d[key] = d.get(key, 0.0) + x
    return d["a"]


def by_chain(x: float) -> float:
    return ChainMap({"a": x}, {"b": 2.0})["a"]


def by_merged(x: float) -> float:
    return {**{"b": 2.0}, **{"a": x}}["a"]


def by_random(x: float) -> float:
    rng = random.Random(1)
    return sum(math.exp(x * rng.gauss(0.0, 1.0)) for _ in range(10))


def by_seed(x: float) -> float:
    random.seed(1)
    return x * random.random()


def by_draws(x: float, draws: list[float]) -> float:
    return sum(math.exp(x * draw) for draw in draws)


def by_numpys_draws(x: float) -> float:
    rng = np.random.default_rng(1)
    total = 0.0
    for _ in range(10):
        total += math.exp(x * rng.normal(0.0, 1.0))
    return total


def by_deque(x: float) -> float:
    queue = deque([x, 2 * x])
    queue.append(x)
    return queue.popleft()


def by_list(x: float) -> float:
    queue = [x, 2 * x]
    queue.append(x)
    return queue.pop(0)


def by_combinations(x: float) -> float:
    return sum(a * b for a, b in itertools.combinations([x, 2 * x, 3 * x], 2))


def by_loops(x: float) -> float:
    xs, total = [x, 2 * x, 3 * x], 0.0
    for i, a in enumerate(xs):
        for b in xs[i + 1 :]:
            total += a * b
    return total


WORDS = re.compile("a")


def by_pattern(x: float) -> float:
    return x * len(WORDS.findall("abca"))


by_cache = functools.lru_cache(lambda x: x * x)


def by_cache_inside(x: float) -> float:
    return by_cache(x)


def by_wrapped(x: float) -> float:
    return by_cache.__wrapped__(x)


def by_smallest(x: float) -> float:
    return heapq.nsmallest(2, [x, 2 * x])[0]


def by_sorted(x: float) -> float:
    return sorted([x, 2 * x])[:2][0]


class Side(enum.Enum):
    CALL = 1
    PUT = -1


class Sign(enum.IntEnum):
    CALL = 1
    PUT = -1


class Rate(float, enum.Enum):
    LOW = 0.5


def by_value_of_a_member(x: float) -> float:
    return x * Side.PUT.value


def by_value_of_an_argument(x: float, side: Side = Side.PUT) -> float:
    return x * side.value


def by_member(x: float) -> float:
    return x * Sign.PUT * Rate.LOW


def by_members(x: float) -> float:
    return sum(x * side.value for side in Side)


def by_name_of_a_member(x: float) -> float:
    return x if Side["PUT"] is Side.PUT else 0.0


@contextlib.contextmanager
def doubled(x: float) -> Iterator[float]:
    yield 2.0 * x


def by_manager(x: float) -> float:
    with doubled(x) as y:
        return x * y


def by_local_cache(x: float) -> float:
    @functools.cache
    def power(n: int) -> float:
        return x if n == 0 else power(n - 1) * x

    return power(3)


def by_filled_list(x: float) -> float:
    powers = [x]
    for n in range(1, 4):
        powers.append(powers[n - 1] * x)
    return powers[3]


def by_lists_by_default(x: float) -> float:
    d: Any = defaultdict(list)
    for key in ("a", "b", "a"):
        d[key].append(x)
    return sum(d["a"])


def by_set_default(x: float) -> float:
    d: dict[str, list[float]] = {}
    for key in ("a", "b", "a"):
        d.setdefault(key, []).append(x)
    return sum(d["a"])


class Ones(UserDict):
    def __missing__(self, key: str) -> float:
        return 1.0


def by_missing(x: float) -> float:
    d = Ones()
    d["a"] = x
    return d["a"] * d["b"]


def by_get_with_default(x: float) -> float:
    d = {"a": x}
    return d["a"] * d.get("b", 1.0)


def by_keys(x: float) -> float:
    return dict.fromkeys("ab", x)["a"]


def by_comprehension(x: float) -> float:
    return {key: x for key in ("a", "b")}["a"]  # noqa: C420


def by_masked(x: float) -> float:
    return np.ma.masked_array([x, 2 * x], [False, True]).sum()


def by_where(x: float) -> float:
    return np.sum(np.where(np.array([False, True]), 0.0, np.array([x, 2 * x])))


def by_matrix(x: float) -> float:
    return (np.matrix([[x, 1.0], [2.0, 3.0]]) * np.matrix([[1.0], [1.0]])).sum()


def by_product(x: float) -> float:
    return np.sum(np.array([[x, 1.0], [2.0, 3.0]]) @ np.array([[1.0], [1.0]]))


MASKED = np.ma.masked_array([1.0, 2.0], [False, True])
RECORDS = np.zeros(3, [("a", np.int8), ("b", np.float64)])


def by_masked_outside(x: float) -> float:
    return (x * MASKED).sum()


def by_records_outside(x: float) -> float:
    return (x * RECORDS["b"]).sum()


def by_date(x: float) -> float:
    return x * datetime.date.fromisoformat("2021-01-05").day


def by_sums_that_begin_with_an_int(x: float) -> float:
    sums = [sum(x * i for i in range(n)) for n in range(3)]
    largest = max(sums, key=lambda y: abs(y))
    return largest * 2.0 if isinstance(largest, float) else x


def by_sums_that_begin_with_a_float(x: float) -> float:
    sums = [sum((x * i for i in range(n)), 0.0) for n in range(3)]
    largest = max(sums, key=lambda y: abs(y))
    return largest * 2.0 if isinstance(largest, float) else x


def by_length_of_text(x: float) -> float:
    return x * len(f"{x:.3f}")


def by_mean(x: float) -> float:
    return statistics.mean([x, 2 * x])


DRAWS = [0.1, -0.3, 0.2]
REFUSED: dict[str, tuple[Any, str, tuple[Any, ...] | None]] = {
    "a heap": (by_heap, "heapq.heappush.*bisect.insort", (by_insort, 2.0)),
    "the smallest": (by_smallest, r"sorted\(xs\)\[:n\]", (by_sorted, 2.0)),
    "a Counter": (by_counter, r"collections.Counter, a class.*d.get\(key, 0\) \+ 1", (by_counts, 2.0)),
    "a Counter outside": (by_global_counter, r"d.get\(key, 0\) \+ 1", (by_counts, 2.0)),
    "Counters": (by_counters, r"class Counter as an argument of collections.defaultdict.*d.get\(key, 0.0\)", None),
    "a defaultdict": (by_default, r"d.get\(key, 0.0\)", (by_get, 2.0)),
    "a ChainMap": (by_chain, r"__missing__.*\{\*\*second, \*\*first\}", (by_merged, 2.0)),
    "a generator of random numbers": (by_random, "random.Random, a class.*draw outside.*as a list", (by_draws, 0.3, DRAWS)),
    "random numbers": (by_seed, "draw outside.*default_rng", (by_numpys_draws, 0.3)),
    "a deque": (by_deque, "q.pop\\(0\\)", (by_list, 2.0)),
    "combinations": (by_combinations, "write loops", (by_loops, 2.0)),
    "a pattern": (by_pattern, "re.Pattern.findall.*outside of the function, and pass", None),
    "a cache": (by_cache_inside, "__wrapped__", (by_wrapped, 2.0)),
    "the length of a text": (by_length_of_text, "the length of a str.*go by numbers", None),
    "statistics": (by_mean, "np.mean", None),
    "the value of a member": (by_value_of_a_member, "the member itself.*enum.IntEnum", (by_member, 2.0)),
    "the value of a member that comes in": (by_value_of_an_argument, "the member itself.*enum.IntEnum", (by_member, 2.0)),
    "the members": (by_members, "the member itself.*enum.IntEnum", (by_member, 2.0)),
    "a member by its name": (by_name_of_a_member, "the member itself.*enum.IntEnum", (by_member, 2.0)),
    "a generator as a context manager": (by_manager, "in front of the block and behind it", None),
    "a cache that is made inside": (by_local_cache, "leave the cache out, or fill a list", (by_filled_list, 2.0)),
    "lists by default": (by_lists_by_default, r"d.setdefault\(key, \[\]\).append\(x\)", (by_set_default, 2.0)),
    "what is missing": (by_missing, r"d.get\(key, default\)", (by_get_with_default, 2.0)),
    "fromkeys": (by_keys, r"\{key: x for key in keys\}", (by_comprehension, 2.0)),
    "masked arrays": (by_masked, r"np.where\(mask, 0.0, x\)", (by_where, 2.0)),
    "masked arrays outside": (by_masked_outside, r"np.where\(mask, 0.0, x\)", (by_where, 2.0)),
    "matrices": (by_matrix, "@ for products", (by_product, 2.0)),
    "records outside": (by_records_outside, r"records\['b'\].copy\(\)", None),
    "a date": (by_date, "take the number outside", None),
    "sums": (by_sums_that_begin_with_an_int, r"sum\(xs, 0.0\)", (by_sums_that_begin_with_a_float, 2.0)),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of np.matrix
@pytest.mark.parametrize("name", REFUSED)
def test_what_to_write_instead_of_the_library(name: str) -> None:
    function, text, instead = REFUSED[name]
    with pytest.raises(zyg.Unsupported, match=f"(?s){text}") as caught:
        zyg.jit(function)(0.5)
    assert "instead: " in str(caught.value) and "compiled" not in str(caught.value)
    if instead is not None:
        written, *args = instead
        assert zyg.jit(written)(*args) == pytest.approx(written(*args))
        assert zyg.gradient(zyg.jit(written), *args)[0] == pytest.approx(
            derivative(lambda x: written(x, *args[1:]), args[0])
        )


@pytest.mark.filterwarnings("ignore::zyg.errors.FallbackWarning", "ignore::PendingDeprecationWarning")
def test_what_python_refuses_of_masked_arrays_matrices_and_records() -> None:
    matrix = np.ones((2, 2)).view(np.matrix)
    for function, arg, text in (
        (by_masked, 2.0, r"np.where\(mask, 0.0, x\)"),
        (lambda x: x.sum(), MASKED, r"np.where\(mask, 0.0, x\)"),
        (lambda x: (x * x).sum(), matrix, "@ for products"),
        (lambda x: x.sum(), RECORDS["b"], r"by a field of it.*records\['b'\].copy\(\)"),
        (lambda x: x["b"].sum(), RECORDS, r"records\['b'\].copy\(\)"),
    ):
        with pytest.raises(zyg.Unsupported, match=f"(?s){text}"):
            zyg.gradient(function, arg)
    np.testing.assert_array_equal(zyg.gradient(lambda x: x.sum(), RECORDS["b"].copy())[0], np.ones(3))


class Leaf:
    def __init__(self, x: float):
        self.x = x
        self.leaves: list[Leaf] = []


def of_leaves(x: float, n: int) -> float:
    leaves = [Leaf(x * k) for k in range(n) if k % 2]
    return sum(leaf.x for leaf in leaves)


TEXT = "abc " * 100


def of_long_text(x: float) -> float:
    return x * len(TEXT.title().translate({}))


def test_messages_are_about_the_users_code() -> None:
    with pytest.raises(zyg.Unsupported, match=r"(?s)objects that hold other lists.*instead: make each object where"):
        zyg.jit(of_leaves)(2.0, 5)
    with pytest.raises(zyg.Unsupported) as caught:
        zyg.jit(of_long_text)(2.0)
    assert max(map(len, str(caught.value).splitlines())) < 300


def test_long_lists_say_how_long_they_may_be_and_what_to_pass() -> None:
    rows = [(float(n), str(n)) for n in range(50)]
    with pytest.raises(TypeError, match=r"(?s)more than 40 items \(50\).*a list or an array of each of the numbers"):
        zyg.jit(lambda rows: sum(row[0] for row in rows))(rows)
    with pytest.raises(TypeError, match=r"(?s)more than 40 items \(51\).*\[float\(x\) for x in xs\]"):
        zyg.jit(lambda xs: sum(xs))([*map(float, range(50)), 1])


# ---------------------------------------------------------------------------------- warnings: the line, and a remedy


def by_pattern_of_keys(d: Any) -> float:
    match d:
        case {"k": v}:
            return v * v
    return 0.0


def by_key(d: Any) -> float:
    if "k" in d:
        v = d["k"]
        return v * v
    return 0.0


def by_own_attribute(x: float) -> float:
    by_own_attribute.last = x
    return x * x


def by_argument(x: float, kept: list[float]) -> float:
    kept[0] = x
    return x * x


class Values(UserList):
    pass


def by_values(x: float) -> float:
    return sum(Values([x, x * x]))


def by_data(x: float) -> float:
    return sum(Values([x, x * x]).data)


def by_sentinel(x: float) -> float:
    xs = [x, 2 * x, -1.0]
    return sum(iter(lambda: xs.pop(0), -1.0))


def by_while(x: float) -> float:
    xs, total = [x, 2 * x, -1.0], 0.0
    while (v := xs.pop(0)) != -1.0:
        total += v
    return total


class Registry:
    classes: dict[str, Any] = {"leaf": Leaf}  # noqa: RUF012


TUPLE_OF_CLASSES = tuple(Registry.classes.values())


def by_registry(x: float) -> float:
    return sum(c(x).x for c in Registry.classes.values())


def by_tuple_of_classes(x: float) -> float:
    return sum(c(x).x for c in TUPLE_OF_CLASSES)


def through_layers(x: float, layers: Any) -> float:
    for w, b in layers:
        x = w[0] * x + b[0]
    return x


def by_comparing_two(x: float) -> float:
    return sorted([x, 1.0], key=functools.cmp_to_key(lambda a, b: (a > b) - (a < b)))[0]


def by_key_of_one(x: float) -> float:
    return sorted([x, 1.0], key=lambda a: a)[0]


def by_correlation(x: float) -> float:
    return statistics.correlation([x, 2.0, 3.0], [1.0, 2.0, 4.0])


def by_corrcoef(x: float) -> float:
    return np.corrcoef(np.array([x, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]))[0, 1]


def by_regression(x: float) -> float:
    return statistics.linear_regression([x, 2.0, 3.0], [1.0, 2.0, 4.0]).slope


def by_polyfit(x: float) -> float:
    return np.polyfit(np.array([x, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]), 1)[0]


_chain: dict[str, Any] = {"math": math}
exec(
    "def g0(x): return math.sin(x)\n" + "".join(f"def g{i}(x): return g{i - 1}(x) * x\n" for i in range(1, 70)), _chain
)


def by_chain_of_calls(x: float) -> float:
    return _chain["g69"](x)


def by_loop(x: float) -> float:
    y = math.sin(x)
    for _ in range(69):
        y *= x
    return y


LAYERS = [(np.array([1.0]), np.array([0.5])) for _ in range(41)]
WARNED: dict[str, tuple[Any, tuple[Any, ...], str, str, Any]] = {
    "a mapping pattern": (by_pattern_of_keys, ({"k": 2.0},), 'case {"k": v}:', 'if "k" in d', by_key),
    "an attribute of a function": (by_own_attribute, (2.0,), "by_own_attribute.last = x", "in a list", None),
    "a UserList": (by_values, (2.0,), "sum(Values([x, x * x]))", "xs.data", by_data),
    "iter with a sentinel": (by_sentinel, (2.0,), "iter(lambda: xs.pop(0), -1.0)", "while (x := f()) != sentinel", by_while),
    "a dict of classes": (by_registry, (2.0,), "in Registry.classes.values()", "a tuple of it outside", by_tuple_of_classes),
    "a list of arrays": (lambda xs, x: through_layers(x, xs), (LAYERS, 2.0), "lambda xs, x", "tuple(xs)", None),
    "a comparison": (by_comparing_two, (0.5,), "functools.cmp_to_key", "sorted(xs, key=", by_key_of_one),
    "a correlation": (by_correlation, (0.5,), "statistics.correlation", "np.corrcoef", by_corrcoef),
    "a regression": (by_regression, (0.5,), "statistics.linear_regression", "np.polyfit", by_polyfit),
    "a chain of calls": (_chain["g69"], (0.9,), 'in "g', "in a loop", by_loop),
}  # fmt: skip


@pytest.mark.parametrize("name", WARNED)
def test_warnings_name_the_line_and_what_to_write(name: str) -> None:
    function, args, line, text, instead = WARNED[name]
    with pytest.warns(zyg.FallbackWarning) as caught:
        found = zyg.gradient(function, *args)
    message = str(caught[0].message)
    assert line in message
    assert text in message.partition("instead: ")[2]
    if instead is not None:
        assert zyg.jit(instead)(*args) == pytest.approx(function(*args))
        by_instead = zyg.gradient(zyg.jit(instead), *args)
        assert by_instead == found or by_instead == pytest.approx(found)


def test_what_lists_of_arrays_and_kept_values_are_to_be_written_as() -> None:
    through = zyg.jit(through_layers)
    expected = zyg.gradient(through, 2.0, tuple(LAYERS))
    assert expected[1][0][0][0] == 2.0
    layers = np.stack([np.stack(layer) for layer in LAYERS])
    by_stack = zyg.gradient(through, 2.0, layers)
    assert by_stack[0] == expected[0] and by_stack[1][0, 0, 0] == 2.0
    assert zyg.gradient(zyg.jit(by_argument), 2.0, [0.0])[0] == 4.0
