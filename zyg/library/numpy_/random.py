"""Random numbers: exactly those that NumPy draws, since it is NumPy that draws them.

A generator that the function makes itself is known by its state, which a call takes out of an array and puts back there.
Draws are constants to the derivative: one that depends on the distribution's parameters is refused.  What is chosen, permuted
or shuffled is picked by places that are drawn, so that derivatives go through it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.frontend import arrays, lists
from zyg.frontend.merging import settled
from zyg.frontend.values import (
    Abstract,
    ArrayValue,
    AttributedValue,
    Known,
    MethodValue,
    Number,
    describe,
    is_numeric,
    known,
)
from zyg.ir.records import record
from zyg.ir.types import BOOL, F64, I64, Array, NpScalar, Scalar, Type

from ..intrinsics import cut
from ..registry import emits, method
from .bit_generators import lent, new_state, single

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

NONE, TRUE, ZERO = Known(None), Known(True), Known(0)
LEGACY = np.random.mtrand._rand  # the state behind np.random.normal and its like


@record(slots=True, eq=False)
class GeneratorValue(AttributedValue):
    """A Generator that compiled code has made (bit_generators.py)."""

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


def _is_none(v: Abstract) -> bool:
    return isinstance(v, Known) and v.object is None


def _constant(e: Evaluator, v: Abstract) -> Abstract:
    """A seed, or how many numbers are drawn: that has no derivative, whatever an argument it comes from is differentiated by."""
    return e.call(known(cut), [v])


class Draw:
    """Called from compiled code: a method of a generator.  `known` is the generator, or None: then the first argument has its
    state. `names` are those of the arguments, `size` is the number of those after them that say how many are drawn (-1: one
    that is no tuple)."""

    def __init__(self, name: str, known: Any, names: tuple[str, ...], size: int | None, constants: Any):
        self.name, self.known, self.names, self.size = name, known, names, size
        self.constants = constants
        self.__name__ = self.__qualname__ = f"Generator.{name}"

    def __call__(self, *values: Any) -> Any:
        if self.known is not None:
            return self.draw(self.known, values)
        state, *rest = values
        at_hand = lent()
        at_hand.take(state)
        try:
            return self.draw(at_hand.generator, tuple(rest))
        finally:
            at_hand.give(state)

    def draw(self, generator: Any, values: tuple[Any, ...]) -> Any:
        keywords = dict(self.constants) | dict(zip(self.names, values))
        if self.size is not None:
            size = values[len(self.names) :]
            keywords["size"] = size if self.size >= 0 else size[0]
        made = getattr(generator, self.name)(**keywords)
        return np.ascontiguousarray(made) if isinstance(made, np.ndarray) and made.ndim else made


@emits(np.random.default_rng)
def default_rng(e: Evaluator, seed: Abstract = NONE) -> Abstract:
    from zyg.frontend.exceptions import python_call

    if isinstance(seed, GeneratorValue) or isinstance(seed, Known) and isinstance(seed.object, np.random.Generator):
        return seed
    args = [] if isinstance(seed, Known) and seed.object is None else [_constant(e, settled(e, seed, "no seed"))]
    made = python_call(e, new_state, args, Array(I64, 1), reads=True)
    assert isinstance(made, ArrayValue)
    return GeneratorValue(made)


def _is_int(v: Abstract) -> bool:
    return isinstance(v, Number) and v.type is I64


def draw(
    e: Evaluator, receiver: Abstract, name: str, args: dict[str, Abstract], size: Abstract, result: Scalar, more: int = 0,
    constants: tuple[tuple[str, Any], ...] = (), scalar: Type | None = None, spread: bool = True, positional: bool = False,
) -> Abstract:  # fmt: skip
    """Call a method of a generator. The numbers are of the element type `result`, a single one of the type `scalar`; each draw
    has `more` axes; if `spread`, there is one for each element of arrays of arguments. `positional`: these are the method's first
    parameters."""
    from zyg.frontend.exceptions import python_call

    given: list[Abstract] = []
    ndim = 0
    for v in args.values():
        v = settled(e, v, "None is no parameter")
        if not is_numeric(v) and not isinstance(v, arrays.ARRAYS):
            v = e.call(known(np.asarray), [v])
        if isinstance(v, arrays.ARRAYS) and spread:
            ndim = max(ndim, arrays.ndim(v))
        given.append(_constant(e, v) if result is I64 and _is_int(v) else v)
    length = None
    sizes: list[Abstract] = []
    if not _is_none(size):
        items = lists.known_items(e, size)
        if items is None and isinstance(size, Known) and type(size.object) is tuple:
            items = tuple(map(Known, size.object))
        if items is None and not is_numeric(size):
            raise e.refuse(
                "random numbers of this size", types=[describe(size, e.heap)], hint="pass a number or a tuple"
            )
        sizes = [_constant(e, v) for v in (items if items is not None else [size])]
        length = len(sizes) if items is not None else -1
        ndim = len(sizes)
    outside = receiver.object if isinstance(receiver, Known) else None
    called = Draw(name, outside, tuple(args), length, constants)
    if outside is not None and (positional or not args) and not constants and length is None:
        called = getattr(outside, name)  # which costs a third
    state = [receiver.state] if isinstance(receiver, GeneratorValue) else []
    returned: Type = Array(result, ndim + more) if ndim + more or length == 0 else scalar or result
    return python_call(e, called, [*state, *given, *sizes], returned, reads=outside is not None)


def _distribution(name: str, parameters: dict[str, Any], result: Scalar, more: int = 0) -> Callable[..., Abstract]:
    """An entry for draws from a distribution; a default of None means that there is none."""

    def entry(e: Evaluator, receiver: Abstract, *args: Abstract, **named: Abstract) -> Abstract:
        names = (*parameters, "size")
        if len(args) > len(names):
            raise e.refuse(f"so many arguments of {name}()", hint=f"write {name}({', '.join(names)})")
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
        if isinstance(receiver, GeneratorValue) and _is_none(size):
            numbers = {key: values.get(key, Known(default)) for key, default in parameters.items()}
            drawn = single(e, receiver.state, name, numbers)
            if drawn is not None:
                return drawn
        first = tuple(values) == tuple(parameters)[: len(values)]
        return draw(e, receiver, name, values, size, result, more, spread=more == 0, positional=first)

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


def _everywhere(name: str, entry: Callable[..., Abstract], lists: tuple[str, ...] = ()) -> None:
    for cls in (np.random.Generator, np.random.RandomState):
        if hasattr(cls, name):
            emits((cls, name), lists=lists)(entry)
    function = vars(np.random).get(name)
    if function is not None:
        emits(function, lists=("args", "named") if lists else ())(_legacy(entry))


for _name, _parameters in FLOATS.items():
    _everywhere(_name, _distribution(_name, _parameters, F64))
for _name, _parameters in INTEGERS.items():
    _everywhere(_name, _distribution(_name, _parameters, I64))
for _name, (_parameters, _result) in VECTORS.items():
    _everywhere(_name, _distribution(_name, _parameters, _result, 1))


def _standard(name: str) -> Callable[..., Abstract]:
    def entry(e: Evaluator, receiver: Abstract, size: Abstract = NONE, dtype: Abstract = NONE) -> Abstract:
        scalar = arrays.dtype_of(e, dtype)
        if isinstance(receiver, GeneratorValue) and _is_none(size) and scalar is F64:
            drawn = single(e, receiver.state, name, {})
            if drawn is not None:
                return drawn
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
    values = {"low": low} if _is_none(high) else {"low": low, "high": high}
    closed = bool(arrays.constant(e, endpoint, "the flag endpoint"))
    if isinstance(receiver, GeneratorValue) and _is_none(size) and scalar is I64:
        bounds = (Known(0), low) if len(values) == 1 else (low, high)
        drawn = single(e, receiver.state, "integers", {"low": bounds[0], "high": bounds[1], "closed": Known(closed)})
        if drawn is not None:
            return drawn
    constants = () if scalar is I64 and not closed else (("dtype", arrays.numpy_dtype(scalar)), ("endpoint", closed))
    one = BOOL if scalar is BOOL else NpScalar(scalar)
    return draw(e, receiver, "integers", values, size, scalar, constants=constants, scalar=one, positional=True)


def randint(
    e: Evaluator,
    receiver: Abstract,
    low: Abstract,
    high: Abstract = NONE,
    size: Abstract = NONE,
    dtype: Abstract = NONE,
) -> Abstract:
    scalar = arrays.dtype_of(e, dtype, I64)
    values = {"low": low} if _is_none(high) else {"low": low, "high": high}
    given = not _is_none(dtype)
    constants = (("dtype", arrays.numpy_dtype(scalar)),) if given else ()
    return draw(
        e, receiver, "randint", values, size, scalar, constants=constants, scalar=NpScalar(scalar) if given else None
    )


emits((np.random.RandomState, "randint"))(randint)
emits(vars(np.random)["randint"])(_legacy(randint))


def seed(e: Evaluator, receiver: Abstract, seed: Abstract = NONE) -> Abstract:
    from zyg.frontend.exceptions import python_call

    assert isinstance(receiver, Known)
    return python_call(e, receiver.object.seed, [_constant(e, settled(e, seed, "no seed"))])


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
    if not _is_none(p):
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


_everywhere("shuffle", shuffle, lists=("x",))
