"""Numbers that go through objects of foreign code: refused where a derivative would be lost, and only there."""

import array
import collections
import concurrent.futures
import copy
import ctypes
import datetime
import io
import queue
import threading
import xml.etree.ElementTree as ET
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

import zyg
from tests.oracles import differences
from tests.turns import each_in_turn
from zyg.autodiff.objects import reach
from zyg.fallback import python_pullback


def through_queue(x):
    q = queue.SimpleQueue()
    q.put(x * x)
    return q.get() * 2.0


def constant_through_queue(x):
    q = queue.SimpleQueue()
    q.put(3.0)
    return q.get() * x


def through_poly1d(x):
    return np.poly1d([x, 1.0])(2.0)


def constant_poly1d(x):
    return x * float(np.poly1d([3.0, 1.0])(2.0))


def array_of_objects(x):
    a = np.array([x, 1.0], dtype=object)
    return a[0] * 2.0


def written_into_array_of_objects(x):
    a = np.empty(2, dtype=object)
    a[0] = x
    return a[0] * 2.0


def sum_of_array_of_objects(x):
    return np.sum(np.array([x, 1.0], dtype=object)) * 2.0


def array_of_constant_objects(x):
    a = np.array([3.0, "b"], dtype=object)
    return a[0] * x


def key_of_a_display(x):
    total = 0.0
    for k in {x: 1.0}:
        total += k
    return total


def key_that_was_set(x):
    d = {}
    d[x] = 1.0
    return max(d) * 2.0


def key_by_items(x):
    d = {}
    d[x] = 1.0
    return sum(k * v for k, v in d.items())


def key_in_a_tuple(x):
    d = {}
    d[x, 1] = 1.0
    return sum(k[0] for k in d)


def key_by_setdefault(x):
    d = {}
    d.setdefault(x, 1.0)
    return next(iter(d)) * 2.0


def key_of_a_comprehension(x):
    return sum({k * x: 1.0 for k in (1.0, 2.0)})


def counted(x):
    return max(collections.Counter([x, 0.5])) * 2.0


def constant_keys(x):
    table = {0.5: 1.0, 1.5: 2.0}
    return sum(k * w * x for k, w in table.items())


def keys_of_text(x):
    d = {"a": x}
    d["b"] = 2.0 * x
    return sum(d[k] for k in d) + len(max(d))


def by_executor(x):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: x * x).result()


def mapped_by_executor(x):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return sum(pool.map(lambda v: v * x, [1.0, 2.0]))


def by_thread(x):
    results = []
    worker = threading.Thread(target=lambda: results.append(x * x))
    worker.start()
    worker.join()
    return results[0]


def by_thread_of_its_own(x):
    class Worker(threading.Thread):
        def run(self):
            self.result = x * x

    worker = Worker()
    worker.start()
    worker.join()
    return worker.result


class Reading:
    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        return np.array([self.value, 2.0 * self.value])


class Scaled:
    def __init__(self, value):
        self.value = value

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ufunc(self.value)


def through_array_protocol(x):
    return float(np.sum(np.asarray(Reading(x))))


def sine_by_array_protocol(x):
    return float(np.sum(np.sin(Reading(x))))


def through_array_ufunc(x):
    return float(np.sin(Scaled(x)))


def attribute_of_a_number_in_c(x):
    c = ctypes.c_double()
    c.value = x
    return c.value * 2.0


def saved_and_loaded(x):
    file = io.BytesIO()
    np.save(file, np.array([x]))
    file.seek(0)
    return float(np.load(file)[0])


def by_a_ufunc_of_python(x):
    return float(np.frompyfunc(lambda v: v * x, 1, 1)(np.array([1.0, 2.0])).sum())


def item_of_memory(x):
    return memoryview(np.array([x, 1.0]))[0] * 2.0


def items_of_memory(x):
    return sum(memoryview(np.array([x, 1.0])))


def executed(x):
    names = {"x": x}
    exec("y = x * x", names)
    return names["y"]


def sparse_product(x):
    return float((scipy.sparse.csr_matrix(np.array([[x, 0.0], [0.0, 1.0]])) @ np.array([1.0, 1.0]))[0])


class Scale:
    def __init__(self, by):
        self.by = by

    def __mul__(self, other):
        return other * self.by

    __rmul__ = None


def object_times_array(x):
    return float((Scale(x) * np.array([1.0, 2.0])).sum())


def _objects(x):
    return np.array([x, 2.0, 3.0]).astype(object)


def _zeros_after(write):
    """A program that writes an array of objects into one of numbers."""

    def written(x):
        z = np.zeros(3)
        write(z, _objects(x))
        return float(np.sum(z * z))

    return written


def _assign(z, o):
    z[:] = o


def _assign_items(z, o):
    z[:] = list(o)


def _assign_flat(z, o):
    z.flat = o


def _put_by_method(z, o):
    z.put([0, 1, 2], o)


def _out(z, o):
    np.multiply(o, 2, out=z, casting="unsafe")


OBJECTS_WRITTEN = {
    "setitem": _assign, "items": _assign_items, "flat": _assign_flat, "put_method": _put_by_method, "out": _out,
    "fill": lambda z, o: z.fill(o[0]),
    "copyto": lambda z, o: np.copyto(z, o, casting="unsafe"),
    "put": lambda z, o: np.put(z, [0, 1, 2], o),
    "add_at": lambda z, o: np.add.at(z, [0, 1, 1], o),
    "put_along_axis": lambda z, o: np.put_along_axis(z, np.arange(3), o, 0),
}  # fmt: skip
OBJECTS_READ = {
    "loop": lambda x: sum([v * v for v in _objects(x)]),
    "unpacked": lambda x: (lambda a, b, c: a * b * c)(*_objects(x)),
    "map": lambda x: sum(map(abs, _objects(x))),
    "flat": lambda x: sum(v for v in _objects(x).flat),
    "array of items": lambda x: float(np.sum(np.array(list(_objects(x))) ** 2)),
    "reversed": lambda x: sum(reversed(_objects(x))),
    "zip": lambda x: sum(a * b for a, b in zip(_objects(x), [x, 1.0, 1.0])),
    "sorted": lambda x: sorted(_objects(x))[0] ** 2,
    "rows": lambda x: sum(row[0] for row in _objects(x).reshape(3, 1)),
    "astype": lambda x: float(_objects(x).astype(float).sum()),
    "tolist": lambda x: sum(_objects(x).tolist()),
    "keyword": lambda x: float(np.sum(a=_objects(x))),
}


@pytest.mark.parametrize("name", [*OBJECTS_WRITTEN, *OBJECTS_READ])
def test_numbers_through_arrays_of_objects_are_refused(name: str) -> None:
    f = _zeros_after(OBJECTS_WRITTEN[name]) if name in OBJECTS_WRITTEN else OBJECTS_READ[name]
    value, back = python_pullback(f, (1.5,), {})
    assert value == f(1.5)
    with pytest.raises(zyg.Unsupported, match="array of objects"):
        back(1.0)


def _buffer(x):
    return memoryview(np.array([x, 2.0, 3.0]))


def _doubles(x):
    return array.array("d", [x, 2.0, 3.0])


class Pair:
    def __init__(self, *items):
        self.items = list(items)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, k):
        return self.items[k]


def _deque(x):
    return collections.deque([x, 2.0, 3.0])


def _user_list(x):
    return collections.UserList([x, 2.0, 3.0])


def _own(x):
    return Pair(x, 2.0, 3.0)


BUFFERS = {
    "array": lambda b: np.array(b).sum(),
    "sum": lambda b: np.sum(b),
    "exp": lambda b: np.exp(b)[0],
    "dot": lambda b: np.dot(b, b),
    "where": lambda b: np.where([True, False, True], b, 1.0).sum(),
    "setitem": lambda b: np.sum(_filled(b) ** 2),
}


def _filled(b):
    z = np.zeros(3)
    z[:] = b
    return z


@pytest.mark.parametrize("make", [_buffer, _doubles, _deque, _user_list, _own])
@pytest.mark.parametrize("name", BUFFERS)
def test_numpy_reads_buffers_and_sequences(make, name: str) -> None:
    def f(x):
        return float(BUFFERS[name](make(x)))

    value, back = python_pullback(f, (1.5,), {})
    assert value == f(1.5)
    h = 1e-6
    assert back(1.0)[0] == pytest.approx((f(1.5 + h) - f(1.5 - h)) / (2 * h), rel=1e-7)


def written_into_a_memoryview(x):
    z = np.zeros(3)
    memoryview(z)[1] = x
    return float(z @ z)


def array_that_shares_memory_with_a_buffer(x):
    a = array.array("d", [x, 2.0])
    y = np.asarray(a)
    a[0] = x * x
    return float(y[0])


REFUSED = [
    attribute_of_a_number_in_c, saved_and_loaded, by_a_ufunc_of_python, item_of_memory, items_of_memory, executed, sparse_product,
    through_queue, through_poly1d, array_of_objects, written_into_array_of_objects, sum_of_array_of_objects, key_of_a_display,
    key_that_was_set, key_by_items, key_in_a_tuple, key_by_setdefault, key_of_a_comprehension, counted, by_executor,
    mapped_by_executor, by_thread, by_thread_of_its_own, through_array_protocol, sine_by_array_protocol, through_array_ufunc,
    written_into_a_memoryview, array_that_shares_memory_with_a_buffer,
]  # fmt: skip
CONSTANT = [
    (constant_through_queue, 3.0), (constant_poly1d, 7.0), (array_of_constant_objects, 3.0), (constant_keys, 3.5),
    (keys_of_text, 3.0), (object_times_array, 3.0),
]  # fmt: skip


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_what_would_be_lost_is_refused(f) -> None:
    with pytest.raises(zyg.Unsupported) as caught:
        value, back = python_pullback(f, (1.5,), {})
        assert value == f(1.5)
        back(1.0)
    error = caught.value
    assert error.position is not None
    assert error.position.file == __file__
    assert error.hint


@pytest.mark.parametrize(("f", "slope"), CONSTANT, ids=lambda f: getattr(f, "__name__", ""))
def test_constants_may_go_through(f, slope) -> None:
    value, back = python_pullback(f, (1.5,), {})
    assert value == f(1.5)
    assert back(1.0) == (slope,)


def exact(x):
    return float(Fraction(x) * Fraction(x) + Fraction(1, 3))


def decimals(x):
    return float(Decimal(x) * Decimal(2) + Decimal("0.5"))


def ratio(n):
    return float(Fraction(n, 4) * 2)


@pytest.mark.parametrize(("f", "slope"), [(exact, 3.0), (decimals, 2.0)])
def test_fractions_and_decimals(f, slope) -> None:
    value, back = python_pullback(f, (1.5,), {})
    assert value == f(1.5)
    assert back(1.0) == pytest.approx((slope,))


def test_fraction_of_two() -> None:
    assert python_pullback(ratio, (3,), {})[1](1.0) == pytest.approx((0.5,))


def same(x):
    return x


@zyg.adjoint(same)
def _same_adjoint(x):
    return x, lambda d: (3.0 * d,)


def test_a_rule_that_returns_its_argument() -> None:
    """What goes through the result is not what goes through the argument; written, they cannot be told apart."""

    def read(x):
        y = same(x)
        return np.sum(y[1:] * x[1:])

    def hooked(x):
        return np.sum(zyg.hook(lambda d: 3.0 * d, x) * x)

    def written(x):
        y = same(x)
        x[0] = 2.0 * x[1]
        return np.sum(y * y)

    assert python_pullback(read, (np.array([1.0, 2.0, 3.0]),), {})[1](1.0)[0].tolist() == [0.0, 8.0, 12.0]
    assert python_pullback(hooked, (np.array([1.0, 2.0]),), {})[1](1.0)[0].tolist() == [4.0, 8.0]
    x = np.array([1.0, 2.0])
    value, back = python_pullback(written, (x,), {})
    assert (value, x.tolist()) == (20.0, [4.0, 2.0])
    with pytest.raises(zyg.Unsupported, match="return a copy"):
        back(1.0)


def by_nditer(x):
    y = x.copy()
    with np.nditer(y, op_flags=["readwrite"]) as it:
        for v in it:
            v[...] = v * v
    return np.sum(y * x)


def by_memoryview(x):
    y = x.copy()
    m = memoryview(y)
    m[0] = m[1] * x[2]
    return np.sum(y * x)


def by_data(x):
    y = x.copy()
    y.data[0] = x[1] * 2.0
    return np.sum(y * x)


def by_windows(x):
    y = x.copy()
    np.lib.stride_tricks.sliding_window_view(y, 2, writeable=True)[0, 1] = x[2]
    return np.sum(y * x)


def by_strides(x):
    y = x.copy()
    v = np.lib.stride_tricks.as_strided(y, (2,), (8,))
    v[0] = x[1] * 3.0
    return np.sum(y * y)


def by_ctypes(x):
    y = x.copy()
    np.ctypeslib.as_array(np.ctypeslib.as_ctypes(y))[0] = x[1] * 3.0
    return np.sum(y * x)


def broadcast_before_a_write(x):
    z = x.copy()
    b = np.broadcast_to(z, (2, 3))
    z[0] = 0.0 * x[1] + z[0]  # as it was, but for the derivative
    return np.sum(b)


def a_grid_before_a_write(x):
    z = x.copy()
    b, _ = np.meshgrid(z, z, copy=False)
    z[0] = x[1]
    return np.sum(b)


def item_by_item(x):
    d = {float(v): v * v for v in x}
    return sum(d.values()) + sum(d)


@each_in_turn
@pytest.mark.parametrize(
    "f",
    [
        by_nditer,
        by_memoryview,
        by_data,
        by_windows,
        by_strides,
        by_ctypes,
        broadcast_before_a_write,
        a_grid_before_a_write,
        item_by_item,
    ],
    ids=lambda f: f.__name__,
)
def test_what_others_write_into_an_array(f) -> None:
    with pytest.raises(zyg.Unsupported):
        python_pullback(f, (np.array([1.5, 0.7, 2.0]),), {})[1](1.0)


def test_arrays_that_are_lent_and_only_read() -> None:
    def f(x):
        y = x * x
        m = memoryview(y)
        y[0] = x[1] * y[2]
        b = np.broadcast_to(y, (2, 3))
        return np.sum(y * x) + np.sum(b) + 0.0 * len(m)

    x = np.array([1.5, 0.5, 2.0])
    expected = [x[1] * x[2] ** 2, 3 * x[1] ** 2 + 4 * x[1] + (x[0] + 2) * x[2] ** 2, 3 * x[2] ** 2 + 4 * x[2]]
    expected[2] += (x[0] + 2) * x[1] * 2 * x[2]
    assert np.allclose(python_pullback(f, (x,), {})[1](1.0)[0], expected)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("name", ["conj", "conjugate"])
def test_the_conjugate_of_a_real_array_is_the_array(name):
    def f(x):
        try:
            z = x.copy()
            v = getattr(z, name)()
            z[0] = x[1] * 3
        except KeyError:
            pass
        return np.sum(v * x)

    x = np.array([1.0, 2.0, 3.0])
    value, (gradient,) = zyg.withgradient(f, x)
    assert value == f(x)
    np.testing.assert_allclose(gradient, [6.0, 7.0, 6.0])


class CopiedByState:
    def __init__(self, v):
        self.v = v

    def __setstate__(self, state):
        self.v = state["v"] ** 2


class CopiedDeeply(CopiedByState):
    def __deepcopy__(self, memo):
        return CopiedDeeply(self.v**2)


@pytest.mark.parametrize("cls, copied", [(CopiedByState, copy.copy), (CopiedDeeply, copy.deepcopy)])
def test_copies_by_code_of_the_class_are_refused(cls, copied) -> None:
    with pytest.raises(zyg.Unsupported, match=f"copy of a {cls.__name__}, whose __") as error:
        python_pullback(lambda x: copied([cls(x)] if copied is copy.deepcopy else cls(x)), (3.0,), {})
    assert error.value.position is not None


@each_in_turn
def test_what_moves_elements_into_an_array_that_it_is_given():
    """The places of the elements are found by the same function, which must not write them there."""

    def joined(x):
        out = np.zeros(6)
        np.concatenate((x, x * x), out=out)
        return out.sum()

    value, back = python_pullback(joined, (np.array([1.0, 2.0, 3.0]),), {})
    assert value == 20.0
    np.testing.assert_array_equal(back(1.0)[0], [3.0, 5.0, 7.0])

    def taken(x):
        out = np.zeros(2)
        np.take(x, [1, 2], 0, out)
        return (out * out).sum()

    value, back = python_pullback(taken, (np.array([1.0, 2.0, 3.0]),), {})
    assert value == 13.0
    with pytest.raises(zyg.Unsupported, match=r"numpy\.take"):
        back(1.0)


# -------------------------------------------------------------------------------------- dates: of C code, and closed


class Day(datetime.date):
    """Has attributes of its own, and an operator in Python."""

    rate = 1.0

    def __mul__(self, other):
        return self.rate * other


def flows(x, start, amounts):
    total = 0.0
    for k, amount in enumerate(amounts):
        due = start + datetime.timedelta(days=30 * k)
        if due >= start and (start, due) != (due, start + datetime.timedelta(1)):
            total += amount / (1.0 + x) ** ((due - start).days / 365.0)
    return total


def of_own_class(x):
    day = Day(2020, 1, 31)
    day.rate = x * x
    return day * x


@each_in_turn
@pytest.mark.filterwarnings("ignore::zyg.errors.FallbackWarning")
def test_dates_carry_nothing_and_classes_of_ones_own_do():
    start, amounts = datetime.date(2020, 1, 1), [3.0, 4.0, 5.0]
    by_rate, by_start, by_amounts = zyg.gradient(flows, 0.05, start, amounts)
    years = [30 * k / 365.0 for k in range(3)]
    expected = sum(-y * a * 1.05 ** (-y - 1.0) for y, a in zip(years, amounts))
    np.testing.assert_allclose(by_rate, expected, rtol=1e-12)
    assert by_start is None
    np.testing.assert_allclose(by_amounts, [1.05**-y for y in years], rtol=1e-12)
    assert zyg.withgradient(of_own_class, 2.0) == (8.0, (12.0,))  # x^3


UTC = datetime.UTC


def since(span, hours):
    return (datetime.timedelta(days=1) + span - datetime.timedelta(hours=hours)) / datetime.timedelta(days=1)


class Zone(datetime.tzinfo):
    """Of a user's, in Python."""

    def utcoffset(self, when):
        return datetime.timedelta(hours=2)

    def dst(self, when):
        return datetime.timedelta(0)


def hours(price):
    start, total = datetime.datetime(2024, 3, 1, 8, 30), 0.0
    for k in range(5):
        end = start + datetime.timedelta(minutes=20 + k % 7)
        span = (end - start).total_seconds() / 3600.0
        total += price * span * (1.2 if end.hour >= 9 or end.weekday() > 4 else 1.0)
        start = end + 2 * datetime.timedelta(hours=1)
    return total * total * (start.date() - datetime.date(2024, 2, 1)).days


def in_zones(price):
    start = datetime.datetime(2024, 3, 1, 8, 30, tzinfo=Zone())
    end = datetime.datetime(2024, 3, 1, 8, 30, tzinfo=UTC)
    return price**3 * (end - start).total_seconds() * (end.utcoffset() - start.utcoffset()).seconds


def by_days(price):
    rates = {datetime.date(2024, 1, 1): 0.9, datetime.date(2024, 2, 1): price}
    total = 0.0
    for day in sorted(rates):
        total += rates[day] ** 2 * day.replace(day=5).day + rates.get(day + datetime.timedelta(days=31), 0.5)
    return total * divmod(datetime.timedelta(days=3), datetime.timedelta(days=2))[0]


@each_in_turn
@pytest.mark.filterwarnings("ignore::zyg.errors.FallbackWarning")
@pytest.mark.parametrize("f", [hours, in_zones, by_days])
def test_programs_with_dates(f):
    value, (slope,) = zyg.withgradient(f, 0.7)
    assert value == f(0.7)
    assert slope == pytest.approx(differences.derivative(f, 0.7), rel=1e-7)
    second = zyg.derivative(zyg.derivative(f))(0.7)
    assert second == pytest.approx(differences.derivative(zyg.derivative(f), 0.7), rel=1e-6)


@each_in_turn
@pytest.mark.filterwarnings("ignore::zyg.errors.FallbackWarning")
@pytest.mark.parametrize(
    "f",
    [
        lambda x: datetime.timedelta(seconds=x).total_seconds(),
        lambda x: (datetime.datetime(2020, 1, 1) + datetime.timedelta(seconds=x)).timestamp() * 2.0,
        lambda x: (x * datetime.timedelta(days=1) - datetime.timedelta(days=2)) / datetime.timedelta(hours=1),
        lambda x: max([datetime.timedelta(seconds=x), datetime.timedelta(0)]).total_seconds(),
        lambda x: (datetime.date(2020, 1, 1) + datetime.timedelta(x)).toordinal() * 1.5,
        lambda x: datetime.datetime.fromtimestamp(x).second * 2.0,
        lambda x: divmod(datetime.timedelta(seconds=x), datetime.timedelta(hours=1))[1].total_seconds(),
        lambda x: sum([datetime.timedelta(seconds=x)] * 2, datetime.timedelta(0)) / datetime.timedelta(1),
        lambda x: abs(-datetime.timedelta(seconds=x)).days + 1.0,
        lambda x: next(iter({datetime.timedelta(seconds=x): 1})).total_seconds(),
        lambda x: copy.deepcopy(datetime.timedelta(seconds=x)).total_seconds(),
        lambda x: (datetime.datetime(2020, 1, 1, tzinfo=UTC) + datetime.timedelta(seconds=x)).timestamp(),
        lambda x: zyg.derivative(lambda y: y * datetime.timedelta(seconds=x).total_seconds())(2.0),
        lambda x: since(datetime.timedelta(seconds=x), hours=2),
    ],
)
def test_a_number_that_goes_into_a_date_is_refused_when_it_comes_out(f):
    with pytest.raises(zyg.Unsupported, match=r"cannot see into|derivative of"):
        zyg.gradient(f, 86400.5)


def read_from_xml(x):
    return float(ET.fromstring("<a><b>3.5</b></a>").find("b").text) * x


def counted_in_xml(x):
    parser = ET.XMLPullParser(["start", "end"])
    parser.feed("<a><b/></a>")
    return x * len(list(parser.read_events()))


def built_xml(x):
    builder = ET.TreeBuilder()
    builder.start("a", {})
    builder.data("3.5")
    builder.end("a")
    return float(builder.close().text) * x


@pytest.mark.parametrize(("f", "slope"), [(read_from_xml, 3.5), (counted_in_xml, 4.0), (built_xml, 3.5)])
def test_lists_of_c_code_with_empty_places(f, slope):
    assert python_pullback(f, (0.7,), {})[1](1.0) == (slope,)


def test_what_objects_of_c_code_hold():
    builder = ET.TreeBuilder(element_factory=read_from_xml)  # its stack is a list of 20 places, none of them written
    assert read_from_xml in reach.entered([builder], deep=True)
    assert read_from_xml in reach.entered([iter([[(read_from_xml,)]])], deep=True)
