"""Random numbers: exactly those that NumPy draws, since it is NumPy that draws them.

A generator that the function makes itself is known by its state, which a call takes out of an array and puts back there.
Draws are constants to the derivative: one that depends on the distribution's parameters is refused.  What is chosen, permuted
or shuffled is picked by places that are drawn, so that derivatives go through it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays, lists
from zyg.frontend.merging import settled
from zyg.frontend.values import Abstract, ArrayValue, AttributedValue, Known, MethodValue, describe, is_numeric, known
from zyg.ir.records import record
from zyg.ir.types import BOOL, F64, I64, Array, NpScalar, Scalar, Type

from ..registry import emits, method

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

NONE, TRUE, ZERO = Known(None), Known(True), Known(0)
LEGACY = np.random.mtrand._rand  # the state behind np.random.normal and its like
_LOCAL = threading.local()
_WORD = 2**64


@record(slots=True, eq=False)
class GeneratorValue(AttributedValue):
    """A Generator that compiled code has made: the state of its PCG64, in an array."""

    state: ArrayValue

    def head(self) -> Hashable:
        return ("random generator",)

    def parts(self) -> tuple[Any, ...]:
        return (self.state,)

    def with_parts(self, parts: list[Any]) -> Abstract:
        return GeneratorValue(parts[0])

    def attribute(self, e: Evaluator, name: str) -> Abstract | None:
        found = method(np.random.Generator, name)
        return None if found is None else MethodValue((np.random.Generator, name), self)


def _words(state: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    inner = state["state"]
    numbers = [inner["state"] % _WORD, inner["state"] // _WORD, inner["inc"] % _WORD, inner["inc"] // _WORD,
               state["has_uint32"], state["uinteger"]]  # fmt: skip
    return np.array(numbers, np.uint64).view(np.int64)


def new_state(*seed: Any) -> np.ndarray[Any, Any]:
    """Called from compiled code: the state of a new generator."""
    return _words(np.random.default_rng(*seed).bit_generator.state)


class Draw:
    """Called from compiled code: a method of a generator.  `known` is the generator, or None: then the first argument has its
    state. `plan` says where the arguments go: the number of those by position, the names of the others, the length of `size`."""

    def __init__(self, name: str, known: Any, count: int, names: tuple[str, ...], size: int | None, constants: Any):
        self.name, self.known, self.count, self.names, self.size = name, known, count, names, size
        self.constants = constants
        self.__name__ = self.__qualname__ = f"Generator.{name}"

    def __call__(self, *values: Any) -> Any:
        if self.known is not None:
            return self.draw(self.known, values)
        state, *rest = values
        if not hasattr(_LOCAL, "generator"):
            _LOCAL.generator = np.random.Generator(np.random.PCG64(0))
        generator = _LOCAL.generator
        low, high, inc_low, inc_high, has, number = (int(w) for w in state.view(np.uint64))
        inner = {"state": high * _WORD + low, "inc": inc_high * _WORD + inc_low}
        generator.bit_generator.state = {
            "bit_generator": "PCG64", "state": inner, "has_uint32": has, "uinteger": number
        }  # fmt: skip
        try:
            return self.draw(generator, tuple(rest))
        finally:
            state[...] = _words(generator.bit_generator.state)

    def draw(self, generator: Any, values: tuple[Any, ...]) -> Any:
        keywords = dict(self.constants) | dict(zip(self.names, values[self.count :]))
        if self.size is not None:
            size = values[self.count + len(self.names) :]
            keywords["size"] = size if self.size >= 0 else size[0]
        made = getattr(generator, self.name)(*values[: self.count], **keywords)
        return np.ascontiguousarray(made) if isinstance(made, np.ndarray) and made.ndim else made


@emits(np.random.default_rng)
def default_rng(e: Evaluator, seed: Abstract = NONE) -> Abstract:
    from zyg.frontend.exceptions import python_call

    if isinstance(seed, GeneratorValue) or isinstance(seed, Known) and isinstance(seed.object, np.random.Generator):
        return seed
    args = [] if isinstance(seed, Known) and seed.object is None else [settled(e, seed, "no seed")]
    made = python_call(e, new_state, args, Array(I64, 1), reads=True)
    assert isinstance(made, ArrayValue)
    return GeneratorValue(made)


def draw(
    e: Evaluator, receiver: Abstract, name: str, args: dict[str, Abstract], size: Abstract, result: Scalar, more: int = 0,
    constants: tuple[tuple[str, Any], ...] = (), scalar: Type | None = None, spread: bool = True,
) -> Abstract:  # fmt: skip
    """Call a method of a generator. The numbers are of the element type `result`, a single one of the type `scalar`; each draw
    has `more` axes; if `spread`, there is one for each element of arrays of arguments."""
    from zyg.frontend.exceptions import python_call

    given: list[Abstract] = []
    ndim = 0
    for v in args.values():
        v = settled(e, v, "None is no parameter")
        if not is_numeric(v) and not isinstance(v, arrays.ARRAYS):
            v = e.call(known(np.asarray), [v])
        if isinstance(v, arrays.ARRAYS) and spread:
            ndim = max(ndim, arrays.ndim(v))
        given.append(v)
    length = None
    sizes: list[Abstract] = []
    if not (isinstance(size, Known) and size.object is None):
        items = lists.known_items(e, size)
        if items is None and isinstance(size, Known) and type(size.object) is tuple:
            items = tuple(map(Known, size.object))
        if items is None and not is_numeric(size):
            raise e.refuse(
                "random numbers of this size", types=[describe(size, e.heap)], hint="pass a number or a tuple"
            )
        sizes = list(items) if items is not None else [size]
        length = len(sizes) if items is not None else -1
        ndim = len(sizes)
    outside = receiver.object if isinstance(receiver, Known) else None
    called = Draw(name, outside, 0, tuple(args), length, constants)
    state = [receiver.state] if isinstance(receiver, GeneratorValue) else []
    returned: Type = Array(result, ndim + more) if ndim + more or length == 0 else scalar or result
    return python_call(e, called, [*state, *given, *sizes], returned, reads=outside is not None)


def _distribution(name: str, parameters: dict[str, Any], result: Scalar, more: int = 0) -> Callable[..., Abstract]:
    """An entry for draws from a distribution; a default of None means that there is none."""

    def entry(e: Evaluator, receiver: Abstract, *args: Abstract, **named: Abstract) -> Abstract:
        names = (*parameters, "size")
        if len(args) > len(names):
            raise e.refuse(f"so many arguments of {name}()", hint="see its documentation")
        given = dict(zip(names, args)) | named
        for key in given:
            if key not in names:
                raise e.refuse(f"{name}({key}=...) in native code", hint=f"leave `{key}` out")
        size = given.pop("size", NONE)
        values = {}
        for key, default in parameters.items():
            if key not in given and default is None:
                e.type_error(f"{name}() missing required argument: '{key}'")
            if key in given:
                values[key] = given[key]
        return draw(e, receiver, name, values, size, result, more, spread=more == 0)

    return entry


FLOATS: dict[str, dict[str, Any]] = {
    "normal": {"loc": 0.0, "scale": 1.0}, "uniform": {"low": 0.0, "high": 1.0}, "lognormal": {"mean": 0.0, "sigma": 1.0},
    "exponential": {"scale": 1.0}, "gamma": {"shape": None, "scale": 1.0}, "beta": {"a": None, "b": None},
    "chisquare": {"df": None}, "laplace": {"loc": 0.0, "scale": 1.0}, "logistic": {"loc": 0.0, "scale": 1.0},
    "gumbel": {"loc": 0.0, "scale": 1.0}, "standard_gamma": {"shape": None}, "standard_cauchy": {}, "standard_t": {"df": None},
    "standard_exponential": {}, "rayleigh": {"scale": 1.0}, "weibull": {"a": None}, "pareto": {"a": None},
    "power": {"a": None}, "triangular": {"left": None, "mode": None, "right": None}, "f": {"dfnum": None, "dfden": None},
    "vonmises": {"mu": None, "kappa": None}, "wald": {"mean": None, "scale": None},
}  # fmt: skip
INTEGERS: dict[str, dict[str, Any]] = {
    "poisson": {"lam": 1.0}, "binomial": {"n": None, "p": None}, "geometric": {"p": None},
    "negative_binomial": {"n": None, "p": None}, "zipf": {"a": None}, "logseries": {"p": None},
}  # fmt: skip
VECTORS: dict[str, tuple[dict[str, Any], Any]] = {
    "dirichlet": ({"alpha": None}, F64), "multinomial": ({"n": None, "pvals": None}, I64),
    "multivariate_normal": ({"mean": None, "cov": None}, F64),
}  # fmt: skip


def _legacy(entry: Callable[..., Abstract]) -> Callable[..., Abstract]:
    """The same for the functions of numpy.random, whose state is that of the module."""
    return lambda e, *args, **named: entry(e, Known(LEGACY), *args, **named)


def _everywhere(name: str, entry: Callable[..., Abstract]) -> None:
    for cls in (np.random.Generator, np.random.RandomState):
        if hasattr(cls, name):
            emits((cls, name))(entry)
    function = vars(np.random).get(name)
    if function is not None:
        emits(function)(_legacy(entry))


for _name, _parameters in FLOATS.items():
    _everywhere(_name, _distribution(_name, _parameters, F64))
for _name, _parameters in INTEGERS.items():
    _everywhere(_name, _distribution(_name, _parameters, I64))
for _name, (_parameters, _result) in VECTORS.items():
    _everywhere(_name, _distribution(_name, _parameters, _result, 1))


def _standard(name: str) -> Callable[..., Abstract]:
    def entry(e: Evaluator, receiver: Abstract, size: Abstract = NONE, dtype: Abstract = NONE) -> Abstract:
        scalar = arrays.dtype_of(e, dtype)
        constants = () if scalar is F64 else (("dtype", arrays.numpy_dtype(scalar)),)
        return draw(e, receiver, name, {}, size, scalar, constants=constants, scalar=F64)

    return entry


for _name in ("random", "standard_normal"):
    _everywhere(_name, _standard(_name))
for _cls in (np.random.RandomState,):
    emits((_cls, "random_sample"))(_standard("random_sample"))
emits(vars(np.random)["random_sample"])(_legacy(_standard("random_sample")))


def _of_axes(name: str) -> Callable[..., Abstract]:
    """np.random.rand(2, 3)"""

    def entry(e: Evaluator, receiver: Abstract, *lengths: Abstract) -> Abstract:
        from zyg.frontend.values import TupleValue

        return draw(e, receiver, name, {}, TupleValue(lengths) if lengths else NONE, F64)

    return entry


for _name, _method in (("rand", "random_sample"), ("randn", "standard_normal")):
    emits((np.random.RandomState, _name))(_of_axes(_method))
    emits(vars(np.random)[_name])(_legacy(_of_axes(_method)))


@emits((np.random.Generator, "integers"))
def integers(
    e: Evaluator, receiver: Abstract, low: Abstract, high: Abstract = NONE, size: Abstract = NONE, dtype: Abstract = NONE,
    endpoint: Abstract = ZERO,
) -> Abstract:  # fmt: skip
    scalar = arrays.dtype_of(e, dtype, I64)
    values = {"low": low} if isinstance(high, Known) and high.object is None else {"low": low, "high": high}
    constants = (
        ("dtype", arrays.numpy_dtype(scalar)),
        ("endpoint", bool(arrays.constant(e, endpoint, "the flag endpoint"))),
    )
    one = BOOL if scalar is BOOL else NpScalar(scalar)
    return draw(e, receiver, "integers", values, size, scalar, constants=constants, scalar=one)


def randint(
    e: Evaluator,
    receiver: Abstract,
    low: Abstract,
    high: Abstract = NONE,
    size: Abstract = NONE,
    dtype: Abstract = NONE,
) -> Abstract:
    scalar = arrays.dtype_of(e, dtype, I64)
    values = {"low": low} if isinstance(high, Known) and high.object is None else {"low": low, "high": high}
    given = not (isinstance(dtype, Known) and dtype.object is None)
    constants = (("dtype", arrays.numpy_dtype(scalar)),) if given else ()
    return draw(
        e, receiver, "randint", values, size, scalar, constants=constants, scalar=NpScalar(scalar) if given else None
    )


emits((np.random.RandomState, "randint"))(randint)
emits(vars(np.random)["randint"])(_legacy(randint))


def seed(e: Evaluator, receiver: Abstract, seed: Abstract = NONE) -> Abstract:
    from zyg.frontend.exceptions import python_call

    assert isinstance(receiver, Known)
    return python_call(e, receiver.object.seed, [settled(e, seed, "no seed")])


emits((np.random.RandomState, "seed"))(seed)
emits(vars(np.random)["seed"])(_legacy(seed))


# ------------------------------------------------------------------------------------ chosen, permuted, shuffled


def choice(
    e: Evaluator, receiver: Abstract, a: Abstract, size: Abstract = NONE, replace: Abstract = TRUE, p: Abstract = NONE
) -> Abstract:
    """Of an array: the items at places that are drawn, of its first axis."""
    a = settled(e, a, "None cannot be chosen from")
    if lists.known_items(e, a) is not None:
        a = e.call(known(np.asarray), [a])
    count: Abstract = e.call(known(len), [a]) if isinstance(a, arrays.ARRAYS) else a
    values: dict[str, Abstract] = {"a": count}
    if not (isinstance(p, Known) and p.object is None):
        values["p"] = e.call(known(flattened), [p])
    constants = (("replace", bool(arrays.constant(e, replace, "the flag replace"))),)
    places = _draw_places(e, receiver, values, size, constants)
    return e.call(known(item_or_items), [a, places]) if isinstance(a, arrays.ARRAYS) else places


def flattened(p: Any) -> Any:
    return np.asarray(p)


def item_or_items(a: Any, places: Any) -> Any:
    return a[places]


def _draw_places(
    e: Evaluator, receiver: Abstract, values: dict[str, Abstract], size: Abstract, constants: Any
) -> Abstract:
    """Probabilities are an array that says nothing of the shape of what is drawn."""
    return draw(e, receiver, "choice", values, size, I64, constants=constants, spread=False)


_everywhere("choice", choice)


def permutation(e: Evaluator, receiver: Abstract, x: Abstract) -> Abstract:
    x = settled(e, x, "None cannot be permuted")
    if lists.known_items(e, x) is not None:
        x = e.call(known(np.asarray), [x])
    count = e.call(known(len), [x]) if isinstance(x, arrays.ARRAYS) else x
    places = draw(e, receiver, "permutation", {"x": count}, NONE, I64, 1)
    return e.call(known(item_or_items), [x, places]) if isinstance(x, arrays.ARRAYS) else places


_everywhere("permutation", permutation)


def shuffle(e: Evaluator, receiver: Abstract, x: Abstract) -> Abstract:
    if not isinstance(x, arrays.ARRAYS):
        raise e.refuse(
            "a shuffle of something else than an array", types=[describe(x, e.heap)], hint="make an array of it"
        )
    places = draw(e, receiver, "permutation", {"x": e.call(known(len), [x])}, NONE, I64, 1)
    return e.call(known(put_in_order), [x, places])


def put_in_order(x: Any, places: Any) -> None:
    x[...] = x[places]


_everywhere("shuffle", shuffle)
