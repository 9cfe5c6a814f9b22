"""Programs that use the standard library: heaps, sorted lists, caches, statistics, exact numbers, generators in generators."""

import _thread
import bisect
import contextlib
import csv
import dataclasses
import functools
import heapq
import io
import itertools
import pickle
import statistics
import threading
import warnings
from collections import OrderedDict, defaultdict
from decimal import Decimal
from fractions import Fraction

import numpy as np


def heap(x):
    h = []
    for v in (3 * x, x, 2 * x):
        heapq.heappush(h, v)
    first, second = heapq.heappop(h), heapq.heappop(h)
    return first * 2 + second * second


def heap_of_pairs(x):
    h = [(3 * x, "a"), (x, "b"), (2 * x, "c"), (x * x, "e")]
    heapq.heapify(h)
    d, _ = heapq.heapreplace(h, (x * x, "d"))
    return d + sum(p[0] * k for k, p in enumerate(h)) + heapq.heappushpop(h, (0.1 * x, "f"))[0]


def merged(x):
    return sum(k * v for k, v in enumerate(heapq.merge([x, 3 * x], [2 * x]))) + sum(heapq.nlargest(2, [x, 2 * x, -x]))


def inserted(x):
    xs = [0.0, 1.0, 2.0]
    at = bisect.bisect(xs, x)
    bisect.insort(xs, x)
    bisect.insort_left(xs, -x, key=lambda v: v)
    return (x - xs[at]) * xs[3] + bisect.bisect_left(xs, 1.0) * x + xs[0]


@functools.cache
def squared(x):
    return x * x


def cached_by_number(x):
    return squared(x) + squared(x=x) * 2 + squared(x + 0.0)


def cached_with_equal_numbers(x):
    return squared(x) * squared(zyg_constant(x))


def zyg_constant(x):
    import zyg

    return zyg.stop_gradient(x)


@functools.lru_cache(32)
def of_nothing_that_moves(n):
    return n * n


def caches_asked(x):
    return x * of_nothing_that_moves.cache_info().maxsize


def cached_recursion(x):
    @functools.lru_cache(None)
    def f(n):
        return x if n < 2 else f(n - 1) * x + f(n - 2)

    first = f(6)
    f.cache_clear()
    return first + f(3)


def cached_lists(x):
    @functools.lru_cache
    def f(n, y=1.0, *, by=2.0):
        if n > 2:
            raise ValueError(n)
        return [n * x * y * by, x * x]

    made = f(1)
    made[0] = made[0] * x
    total = f(1)[0] * made[1] + f(2, y=x, by=x)[0] * f(2, y=x, by=x)[1]
    for n in range(5):
        try:
            total += f(n)[0] * f(1)[1]
        except ValueError:
            total += x
    return total


def cached_truths(x):
    """True is 1 where it is to the cache."""

    def weight(k, times=1):
        return x * times * (2.0 if k is True else x)

    plain, typed = functools.lru_cache(weight), functools.lru_cache(typed=True)(weight)
    return plain(1) + 3.0 * plain(True) + 5.0 * plain(1, 2) + 7.0 * plain(True, 2) + typed(1, 2) * typed(True, times=2)


def of_data(x):
    data = [x, 2.0 * x, x * x, 3.0]
    return sum(f(data) for f in (statistics.mean, statistics.fmean, statistics.median, statistics.variance, statistics.pvariance,
                                 statistics.stdev, statistics.pstdev, statistics.geometric_mean, statistics.harmonic_mean))  # fmt: skip


def of_samples(x):
    data = [x, 2.0 * x, x * x, 3.0]
    chosen = (
        statistics.median_low(data) * statistics.median_high(data) * statistics.mode(data)
        + statistics.multimode(data)[2]
    )
    fitted = statistics.NormalDist.from_samples(data)
    return (
        chosen * statistics.median_grouped(data, 2.0 * x) + fitted.inv_cdf(x) * fitted.pdf(x) + fitted.quantiles(3)[0]
    )


def first_out(x):
    d = OrderedDict(a=x, b=2 * x)
    d.move_to_end("a")
    _, v = d.popitem(last=False)
    d["c"] = v * x
    return sum(k * v for k, v in enumerate(d.values())) + len(d.keys()) + len({"a": x}.keys())


def exact(x):
    half = Fraction.from_float(x) / 2
    third = Fraction(1, 3).limit_denominator(10)
    return float(half * Fraction.from_decimal(Decimal(x)) + third)


def methods_of_exact_numbers(x):
    """Each operator by its method, of both classes, and what the class makes."""
    total = 0.0
    for made, two in ((Fraction.__new__(Fraction, x), Fraction(2)), (Decimal(x), Decimal(2))):
        for op in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
            total += float(getattr(made, f"__{op}__")(two)) + float(getattr(made, f"__r{op}__")(two)) * x
        total += float(made.__divmod__(two)[1]) * float(made.__rdivmod__(two)[1])
        total += float(made.__neg__()) * float(made.__pos__()) * float(made.__abs__())
    return total + Fraction(x).__float__()


def decimals(x):
    a = Decimal(x)
    return float(a.sqrt() + (a + 1).ln() + a.exp() + (a + 1).log10() + Decimal.from_float(x) * a)


def inner(x):
    total = 0.0
    for k in range(3):
        total += x * k
        yield x + k
    return total * x


def delegating(x):
    value = yield from inner(x)
    yield value
    nothing = yield from [x, 2.0 * x]
    yield x if nothing is None else 0.0


def delegated(x):
    return sum(k * v for k, v in enumerate(delegating(x)))


def averaging(x):
    total, sent = 0.0, 0.0
    while sent is not None:
        total += sent * x
        sent = yield total
    return total * x


def driven(x):
    g = averaging(x)
    total = next(g)
    try:
        for v in (x, x * x, None):
            total = total * 0.5 + g.send(v)
    except StopIteration as end:
        total += end.value

    def once(z):
        y = yield z
        return y * z

    h = once(x)
    next(h)
    try:
        h.send(x * 3.0)
    except StopIteration as end:
        return total * end.value
    return 0.0


def outer(x, got):
    got.append((yield from averaging(x)))


def sent_through(x):
    got = []
    g = outer(x, got)
    next(g)
    r = g.send(x * x) + g.send(2.0)
    try:
        g.send(None)
    except StopIteration:
        r += got[0]
    return r


class Countdown:
    def __init__(self, x):
        self.x = x
        self.left = 2

    def __iter__(self):
        return self

    def __next__(self):
        if not self.left:
            raise StopIteration(self.x * 5.0)
        self.left -= 1
        return self.x * self.left


def from_an_object(x):
    def g():
        yield (yield from Countdown(x * x))

    return sum(g()) * x


def wait():
    threading.Event().wait(0.0)


def in_a_thread(x):
    worker = threading.Thread(target=wait)
    worker.start()
    worker.join()
    _thread.start_new_thread(wait, ())
    return x * x


def keys_with_effects(x):
    seen = []
    ys = sorted([3 * x, x, 2 * x], key=lambda v: seen.append(v * v) or v)
    top = max([x, 2 * x], key=lambda v: seen.append(v) or v) * min(x, 3.0, key=lambda v: seen.append(2 * v) or v)
    zs = [x, -x, 0.5 * x]
    zs.sort(key=lambda v: seen.append(v * x) or v)
    kept = list(filter(lambda v: seen.append(v * 2) or v > 0, [x, -x, 3 * x, -x]))
    left = list(itertools.filterfalse(lambda v: seen.append(v * 3) or v > 0, [x, -x, x]))
    first = list(itertools.takewhile(lambda v: seen.append(v) or v < 1.5, [x, x * x, 3.0, x]))
    rest = list(itertools.dropwhile(lambda v: seen.append(v) or v < 1.0, [x, 3.0, x]))
    groups = [sum(g) * k for k, g in itertools.groupby([x, x * x, 2.0], key=lambda v: (seen.append(v), v > 1)[1])]
    return sum(seen) * ys[0] * top + sum(kept) * zs[1] + left[0] + sum(first) * sum(rest) + groups[1] * seen[0]


def keys_between_items(x):
    log = [1.0]

    def items():
        for k in range(3):
            log.append(x * k)
            yield log[-1] * 0.5 + k

    top = max(items(), key=lambda v: log[-1] * (log.append(v) is None))
    low = min((v * x for v in items()), key=lambda v: log.append(v * x) or -v)
    return top * low + sum(log)


class Counting(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.w = args[0] * 2
        return made


class Counted(metaclass=Counting):
    def __init__(self, v):
        self.v = v


def made_by_metaclasses(x):
    class Local(metaclass=Counting):
        def __init__(self, v):
            self.v = v * x

    return Counted(x).w * Counted(3.0).v * Counted(x).v + Local(x).v * Local(2.0).w


class Bag(dict):
    def __init__(self, z):
        super().__init__(a=z, b=2 * z)
        self.z = z * z

    @property
    def half(self):
        return self.z * 0.5


class Row(list):
    weight = 0.5

    def total(self):
        return sum(self) * self.weight


def attributes_of_containers(x):
    bag, row = Bag(x), Row([x, 2 * x])
    row.weight = bag.half
    bag.z += row.total()
    return bag.z * bag["b"] + sum(bag.values()) * row.weight + getattr(row, "other", x)


def eigenvalues(x):
    a = np.array([[x, 1.0], [0.5, 2.0 * x]])
    w, _ = np.linalg.eig(a)
    return float(w[0] * w[0] * w[1] + np.sum(np.linalg.eigvals(a * x)))


def numbers_as_arrays(x):
    n = np.array([x, 2.0 * x])[1]
    total = n.reshape(1)[0] * n.ravel()[0] + n.flatten()[0] * n.copy() + np.sum(n.squeeze() * n.transpose())
    total = total + n.take(0) * n.repeat(2)[1] + n.cumsum()[0] * n.cumprod()[0] + n.tolist() * n[None][0] * n[()]
    quotients, rests = np.divmod(np.array([7.3, 2.0]), n)
    mantissa, exponent = np.frexp(n)
    return float(total + np.sum(rests * quotients) + mantissa * exponent)


def covariances(x):
    rows = np.array([[x, 2.0, x * x], [1.0, x, 0.3]])
    return float(np.sum(np.cov(rows) * np.array([[1.0, 2.0], [0.5, 3.0]])) + np.corrcoef(rows)[0, 1])


def histograms(x):
    points = np.array([[0.1, 0.2], [0.8, 0.9], [0.4, 0.6]])
    counts, _ = np.histogramdd(points, bins=2, weights=np.array([x, x * x, 2.0]))
    return float(np.sum(counts * np.array([[1.0, 2.0], [3.0, 4.0]])))


def larger_and_smaller(x):
    return float(np.fmax(x, 2.0 * x) * np.fmin(3.0 * x, x * x + 9.0) + np.fmax(2.0 * x, x) * np.fmin(9.0, x))


def written_arrays(x):
    v = np.array([x, x * x, 1.0 - x])
    a = np.zeros(3)
    np.copyto(a, v)
    np.copyto(a, 2.0 * v, where=np.array([True, False, False]))
    np.putmask(a, np.array([False, True, False]), v * v)
    b = np.ones((2, 2))
    np.put(b, [0, 3], v[:2])
    b.put([1], x)
    np.fill_diagonal(b, 3.0 * x)
    return float(np.sum(a * a) + np.sum(b * b)) + np.float32(2.0 * x).astype(float) / 2.0 - x


def integers_of_numpy(x):
    total = 0.0
    for kind in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):
        total += x * kind(2) + float(kind(3.0 + 2.0 * x))
    return total


def pickled(x):
    text = pickle.loads(pickle.dumps("ab"))
    return x * x if text == "ab" else x


def polynomials(x):
    p = np.array([1.0, -x, 0.5 * x * x, -0.1])
    total = np.sum(np.polyder(p) ** 2) + np.sum(np.polyint(p) ** 2) + np.sum(np.poly(np.array([x, 2.0 * x])))
    return float(total + np.sum(np.abs(np.roots(p)) ** 2))


def along_an_axis(x):
    rows = np.array([[x, 1.0], [x * x, 2.0 * x]])
    return float(np.sum(np.apply_along_axis(lambda row: row[0] * row, 1, rows) ** 2))


class Scale:
    factor = 2.0


def made_again(x):
    found = defaultdict(float)
    found.__init__(float, a=x * x)
    ordered = OrderedDict()
    ordered.__init__(b=2.0 * x)
    smallest = sum(heapq.nsmallest(2, [3.0 * x, x, 2.0 * x]))
    return found["a"] * ordered.copy()["b"] + smallest * type.__getattribute__(Scale, "factor")


def bound_by_hand(x):
    def scaled(v, k):
        return v * k * x

    class Held:
        @property
        def item(self):
            return self.v * x

        @item.setter
        def item(self, value):
            self.v = value * value

    held = Held()
    Held.item.__set__(held, 2.0 * x)
    return scaled.__get__(x)(3.0) * Held.item.__get__(held)


def picked_at_random(x):
    total = 0.0
    for rng in (np.random.default_rng(3), np.random.RandomState(3)):
        if isinstance(rng, np.random.RandomState):
            rng.seed(5)
        a = np.array([x, 2.0 * x, x * x])
        total += np.sum(rng.choice(a, 2) * np.array([1.0, 2.0])) + rng.permutation(a)[0] ** 2
        rng.shuffle(a)
        total += a[1] ** 3
    return total


def parts_of_arrays(x):
    a = np.array([3.0 * x, x, 2.0 * x, x * x])
    a.partition(1)
    b = np.array([x, 2.0, x])
    np.place(b, np.array([True, False, True]), [x * x, 3.0 * x])
    c = np.zeros((1, 3))
    np.put_along_axis(c, np.array([[2]]), x * x, 1)
    d = np.trim_zeros(np.array([0.0, x, x * x, 0.0]))
    windows = np.lib.stride_tricks.sliding_window_view(np.array([x, x * x, 2.0 * x]), 2)
    sums = np.add.reduceat(np.array([x, x * x, 3.0, x]), [0, 2])
    return a[0] * a[1] + b[0] * b[2] + c[0, 2] * d[1] + windows[1, 0] * windows[0, 1] + sums[0] * sums[1]


def of_pairs(x):
    xs, ys = [x, 1.0, 2.0 * x, 3.5], [2.0, x * x, 1.0, x]
    slope, intercept = statistics.linear_regression(xs, ys)
    return statistics.correlation(xs, ys) + statistics.covariance(xs, ys) + slope * intercept


class Setting(type):
    def __setattr__(cls, name, value):
        for set_plainly in [super().__setattr__]:  # (called at once it would not be bound)
            set_plainly(name, value)

    def __delattr__(cls, name):
        for delete_plainly in [super().__delattr__]:
            delete_plainly(name)


def attributes_of_classes(x):
    class Holder(metaclass=Setting):
        r = 1.0

    Holder.s = x
    del Holder.s
    type.__setattr__(Holder, "r", x * x)
    type.__setattr__(Holder, "q", x)
    total = Holder.r * Holder.q
    type.__delattr__(Holder, "q")
    return total + hasattr(Holder, "q")


def data_class_made_inside(x):
    @dataclasses.dataclass
    class Pair:
        first: float
        second: float = x * x

    return Pair(x).second * Pair(2.0 * x).first


def told(x):
    part = Fraction(3, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("abc", stacklevel=1)
    with io.StringIO() as text, contextlib.redirect_stdout(text):
        print("abc", part.numerator)
        words = text.getvalue().split()
    return x * x * part.numerator * part.denominator * part.as_integer_ratio()[1] * len(words)


def tables_of_text(x):
    text = io.StringIO("a\n")
    writer = csv.writer(text)
    written = writer.writerow(["a", 1.5]) + len(text.getvalue())
    writer.writerows([[2, "b"], ("c", None)])
    return sum(float(row[1]) * x for row in csv.reader(["a,1.5", "b,2"])) * written * x


def in_error_states(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.float64(x) * x)


def kinds_of_errors(x):
    called = np.seterrcall(None)
    before = np.seterr(divide="ignore", over="ignore")
    try:
        return x * x + np.float64(1.0) / np.float64(np.inf)
    finally:
        np.seterr(**before)
        np.seterrcall(called)


def operators_of_sequences_by_name(x):
    rows = [x, x * x]
    rows = list.__iadd__(rows, [3 * x])
    rows = list.__imul__(rows, 2)
    more = list.__add__(rows, list.__mul__([x], 2)) + list.__rmul__([2 * x], 2)
    pair = tuple.__add__((x,), tuple.__mul__((x * x,), 2)) + tuple.__rmul__((x,), 2)
    return sum(v * k for k, v in enumerate(more)) * sum(v * k for k, v in enumerate(pair))


def properties_with_other_functions(x):
    class Sized:
        def __init__(self, v):
            self.v = v

        size = property()
        size = size.getter(lambda self: self.v * self.v)

        def forgotten(self):
            self.v = self.v * 3.0

        size = size.deleter(forgotten)

    made = Sized(x)
    first = made.size
    del made.size
    return first * made.size


def grids(x):
    a = np.array([x, x * x])
    rows, columns = np.meshgrid(a, np.array([1.0, 2.0, x]), copy=False)
    one, other = np.broadcast_arrays(a, np.array([[x], [2.0]]))
    return np.sum(rows * columns**2) + np.sum(one**2 * other)


PROGRAMS = {
    f.__name__: f
    for f in (
        eigenvalues,
        in_error_states,
        kinds_of_errors,
        numbers_as_arrays,
        covariances,
        histograms,
        larger_and_smaller,
        written_arrays,
        integers_of_numpy,
        pickled,
        made_again,
        polynomials,
        along_an_axis,
        bound_by_hand,
        *(
            heap,
            heap_of_pairs,
            merged,
            inserted,
            cached_by_number,
            caches_asked,
            cached_recursion,
            cached_lists,
            cached_truths,
            of_data,
            of_samples,
            first_out,
            exact,
            decimals,
            methods_of_exact_numbers,
            told,
            tables_of_text,
        ),
        *(
            delegated,
            sent_through,
            from_an_object,
            in_a_thread,
            keys_with_effects,
            made_by_metaclasses,
            attributes_of_containers,
            attributes_of_classes,
            data_class_made_inside,
        ),
        *(picked_at_random, parts_of_arrays, of_pairs),
        *(operators_of_sequences_by_name, properties_with_other_functions, grids),
    )
}
