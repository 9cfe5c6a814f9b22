"""NumPy's random numbers: draws are constants, whatever the seed and their number; by the parameters of a distribution there is no
derivative. What is chosen, permuted or shuffled is picked by places that are drawn, so that derivatives go through it, as natively.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from . import calls, foreign, numpy_items
from .calls import known
from .numpy_backs import of_floats

# How many parameters come before the number of draws. (What draws by ints alone has none: integers are no variables.)
_PARAMETERS = {
    **dict.fromkeys("random random_sample rand randn standard_normal standard_exponential standard_cauchy".split(), 0),
    **dict.fromkeys("bytes integers randint random_integers tomaxint".split(), 0),
    **dict.fromkeys("exponential chisquare standard_gamma standard_t rayleigh weibull pareto power".split(), 1),
    **dict.fromkeys("poisson geometric zipf logseries dirichlet".split(), 1),
    **dict.fromkeys("normal uniform lognormal gamma beta laplace logistic gumbel f noncentral_chisquare vonmises wald".split(), 2),
    **dict.fromkeys("binomial negative_binomial multinomial multivariate_normal".split(), 2),
    **dict.fromkeys("triangular noncentral_f hypergeometric".split(), 3),
}  # fmt: skip
_OF_DRAWING = frozenset({"size", "dtype", "out", "method", "endpoint", "check_valid", "tol"})


def drawn(name: str, count: int, generator: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    draw = getattr(generator, name)
    if kwargs.get("out") is not None:
        return calls.call_foreign(draw, *args, **kwargs)
    parameters = (*args[:count], *[x for key, x in kwargs.items() if count and key not in _OF_DRAWING])
    what = f"a derivative of what `{name}` draws by its parameters"
    hint = "draw standard numbers, and scale them: m + s * rng.standard_normal(n)"
    y, back = foreign.result(draw(*args, **kwargs), what, hint, parameters)
    return y, None if back is None else (_run_drawn, back, count, len(args), tuple(kwargs))


def _run_drawn(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, inner, count, placed, names = back
    given = calls.run(inner, d, shadows)
    if given is None:
        return None
    first = given[: min(count, placed)]
    named = iter(given[min(count, placed) :])
    by_name = [next(named, None) if key not in _OF_DRAWING else None for key in names]
    return (None, *first, *[None] * (placed - len(first)), *by_name)


def _choice(generator: Any, a: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    if not of_floats(a) or a.ndim != 1:
        return _of_places(generator.choice, a, *args, **kwargs)
    return _picked(a, generator.choice(len(a), *args, **kwargs), 2 + len(args) + len(kwargs))


def _permutation(generator: Any, x: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    if not of_floats(x) or args or kwargs:
        return _of_places(generator.permutation, x, *args, **kwargs)
    return _picked(x, generator.permutation(len(x)), 2)


def _of_places(draw: Any, x: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """Of what is drawn from so many ints; else it is up to code that zyg cannot see into."""
    if type(x) is int and not any(isinstance(v, (float, list, np.ndarray)) for v in (*args, *kwargs.values())):
        return draw(x, *args, **kwargs), None
    return calls.call_foreign(draw, x, *args, **kwargs)


def _picked(x: Any, places: Any, count: int) -> tuple[Any, Any]:
    y, back = numpy_items.getitem(x, places)
    return y, None if back is None else (_run_picked, back, count)


def _run_picked(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    calls.run(back[1], d, shadows)
    return (None,) * back[2]


def _shuffle(generator: Any, x: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    if not of_floats(x) or args or kwargs:
        return calls.call_foreign(generator.shuffle, x, *args, **kwargs)
    moved, picked = numpy_items.getitem(x, generator.permutation(len(x)))
    return None, (_run_shuffled, picked, numpy_items.setitem(x, ..., moved))


def _run_shuffled(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    calls.run(back[2], None, shadows)
    calls.run(back[1], None, shadows)
    return None, None


def _of_class(name: str, handler: Any) -> None:
    """A method of both classes. (Cython's methods are Python's: what is bound is a function.)"""
    for cls in (np.random.Generator, np.random.RandomState):
        if name in vars(cls):
            known(vars(cls)[name])(functools.partial(behind_function, handler))


def behind_function(handler: Any, generator: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    y, back = handler(generator, *args, **kwargs)
    return y, None if back is None else (calls.run_unshifted, back)


for _name, _count in _PARAMETERS.items():
    _of_class(_name, functools.partial(drawn, _name, _count))
_of_class("choice", _choice)
_of_class("permutation", _permutation)
_of_class("shuffle", _shuffle)
_of_class("seed", lambda generator, *args, **kwargs: (generator.seed(*args, **kwargs), None))


def seeded(f: Any, *args: Any, **kwargs: Any) -> tuple[Any, None]:
    """What it draws is no function of the seed that has a derivative."""
    return f(*args, **kwargs), None


for _f in (np.random.default_rng, np.random.SeedSequence, np.random.RandomState, np.random.Generator, np.random.PCG64):
    known(_f)(functools.partial(seeded, _f))
