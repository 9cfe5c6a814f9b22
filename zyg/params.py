"""Implicit parameters: gradients by arrays and objects that a function uses without taking them as arguments.

    W, b = np.ones((2, 3)), np.zeros(2)
    params = zyg.Params([W, b])
    grads = zyg.gradient(lambda: loss(W, b), params)
    W -= 0.01 * grads[W]

A parameter is found by identity.  In compiled code the arrays that a function captures, or reads from globals and from
objects, are hidden arguments: the gradient is by all of them, and the answer says which array each one is.  Through the
Python back end the shadows of the parameters, which are found by identity too, are the gradients.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from zyg.ir.plainly import has_plainly

from .transforms import Transform, describe


class Params:
    """An ordered set of arrays (or objects) by identity, to differentiate by.

    Lists, tuples and dicts of parameters are taken apart.

    >>> import numpy as np, zyg
    >>> W, b = np.ones((2, 3)), np.zeros(2)
    >>> params = zyg.Params([W, b])
    >>> params
    Params([float64 array of shape (2, 3), float64 array of shape (2,)])
    >>> len(params), W in params, W.copy() in params
    (2, True, False)
    """

    __slots__ = ("_by_id",)

    def __init__(self, parameters: Iterable[Any] = (), *others: Any):
        if others:
            raise TypeError("Params takes one list of arrays: zyg.Params([W, b]), not zyg.Params(W, b)")
        self._by_id: dict[int, Any] = {}
        for parameter in _taken_apart(parameters):
            self.add(parameter)

    def add(self, parameter: Any) -> None:
        """One more, if it is not there yet."""
        _check(parameter)
        self._by_id.setdefault(id(parameter), parameter)

    def discard(self, parameter: Any) -> None:
        """Without this one."""
        self._by_id.pop(id(parameter), None)

    def __or__(self, other: Params) -> Params:
        return Params([*self, *other])

    def __iter__(self) -> Iterator[Any]:
        return iter(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, parameter: object) -> bool:
        return id(parameter) in self._by_id

    def __getitem__(self, index: int) -> Any:
        return list(self._by_id.values())[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Params) and self._by_id.keys() == other._by_id.keys()

    __hash__: ClassVar[None] = None

    def __repr__(self) -> str:
        return f"Params([{', '.join(map(_described, self))}])"

    def _repr_html_(self) -> str:
        from .inspection.html import code, table

        return table(("parameter", "value"), [(_described(p), code(_shortened(p))) for p in self])


class Grads(Mapping[Any, Any]):
    """Gradients by parameter: `grads[W]`, None where the value does not depend on W. What sums and multiples mean goes by
    parameter; None counts as zero.

    >>> import numpy as np, zyg
    >>> W = np.array([1.0, 2.0])
    >>> grads = zyg.gradient(lambda: W[0] * W[1], zyg.Params([W]))
    >>> grads[W]
    array([2., 1.])
    >>> grads
    Grads({float64 array of shape (2,): array([2., 1.])})
    >>> (2 * grads + grads)[W]
    array([6., 3.])
    """

    __slots__ = ("_by_id", "params")

    def __init__(self, params: Params, gradients: Iterable[Any]):
        self.params = Params(())
        self.params._by_id = dict(params._by_id)  # `params` may get more of them later
        self._by_id = dict(zip(params._by_id, gradients, strict=True))

    def __getitem__(self, parameter: Any) -> Any:
        if parameter not in self.params:
            raise KeyError(
                f"{_described(parameter)} is not one of the {len(self.params)} parameters (they go by identity)"
            )
        return self._by_id[id(parameter)]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.params)

    def __len__(self) -> int:
        return len(self.params)

    def __contains__(self, parameter: object) -> bool:
        return parameter in self.params

    def map(self, function: Callable[[Any], Any]) -> Grads:
        """`function` of each gradient; None stays."""
        return Grads(self.params, (None if g is None else _mapped(function, g) for g in self._by_id.values()))

    def __add__(self, other: Grads) -> Grads:
        if not isinstance(other, Grads):
            return NotImplemented
        if self.params != other.params:
            raise ValueError("gradients by different parameters cannot be added")
        return Grads(self.params, (_sum(g, other._by_id[i]) for i, g in self._by_id.items()))

    def __sub__(self, other: Grads) -> Grads:
        return self + (-other) if isinstance(other, Grads) else NotImplemented

    def __neg__(self) -> Grads:
        return self.map(lambda g: -g)

    def __mul__(self, factor: float) -> Grads:
        return self.map(lambda g: g * factor) if np.isscalar(factor) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> Grads:
        return self.map(lambda g: g / divisor) if np.isscalar(divisor) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None

    def __repr__(self) -> str:
        return f"Grads({{{', '.join(f'{_described(p)}: {g!r}' for p, g in self.items())}}})"

    def _repr_html_(self) -> str:
        from .inspection.html import code, table

        return table(("parameter", "gradient"), [(_described(p), code(_shortened(g))) for p, g in self.items()])


def _mapped(function: Callable[[Any], Any], g: Any) -> Any:
    """Structured gradients number by number."""
    if g is None:
        return None
    if isinstance(g, tuple):
        items = [_mapped(function, x) for x in g]
        return type(g)(*items) if has_plainly(g, "_fields") else tuple(items)
    if isinstance(g, list):
        return [_mapped(function, x) for x in g]
    if isinstance(g, dict):
        return {k: _mapped(function, x) for k, x in g.items()}
    return function(g)


def _sum(x: Any, y: Any) -> Any:
    if x is None or y is None:
        return y if x is None else x
    if isinstance(x, (tuple, list)):
        items = [_sum(a, b) for a, b in zip(x, y, strict=True)]
        return type(x)(*items) if has_plainly(x, "_fields") else type(x)(items)
    if isinstance(x, dict):
        return {k: _sum(x.get(k), y.get(k)) for k in {**x, **y}}
    return x + y


def _taken_apart(parameters: Any) -> Iterator[Any]:
    if isinstance(parameters, np.ndarray) or not isinstance(parameters, Iterable) or isinstance(parameters, str):
        raise TypeError(f"Params takes a list of arrays, such as zyg.Params([W, b]), not {_described(parameters)}")
    for item in parameters.values() if isinstance(parameters, dict) else parameters:
        if isinstance(item, (list, tuple, dict, Params)):
            yield from _taken_apart(item)
        else:
            yield item


def _check(parameter: Any) -> None:
    if isinstance(parameter, np.ndarray):
        if parameter.dtype.kind not in "fciu":
            raise TypeError(f"an array of {parameter.dtype} is not a parameter: there is no derivative by it")
        return
    if isinstance(parameter, (int, float, complex, str, bytes, np.generic, type(None), type, types.FunctionType)):
        raise TypeError(
            f"{parameter!r} is not a parameter: parameters go by identity, which numbers and constants do not have; keep it "
            f"in an array, such as np.array([{parameter!r}]), or in an object, and name that"
        )


def _shortened(value: Any) -> str:
    """An array with no more of its elements than a table has room for; other values as they show themselves."""
    return np.array2string(value, threshold=20, edgeitems=2) if isinstance(value, np.ndarray) else repr(value)


def _described(parameter: Any) -> str:
    if isinstance(parameter, np.ndarray):
        return f"{parameter.dtype} array of shape {parameter.shape}"
    return f"{type(parameter).__qualname__} object" if not isinstance(parameter, (int, float, str)) else repr(parameter)


# --------------------------------------------------------------------------------------------- differentiate


def differentiate(kind: str, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """`gradient(function, params)`, and withgradient and pullback."""
    params = _checked(kind, args, keywords)
    native = None
    if all(isinstance(p, np.ndarray) and p.dtype.kind != "c" for p in params):
        from .api import native as native_for

        plain = function
        if isinstance(function, (types.MethodType, functools.partial)):
            plain = lambda: function()
        native = native_for("implicit_pullback" if kind == "pullback" else "implicit_gradient", plain)(plain)
    if native is None:
        return _through_python(kind, function, params)
    value, arrays, found = native
    if kind == "pullback":
        return value, ImplicitPullback(describe(function), params, lambda d: _collect(params, arrays, found(d)))
    grads = Grads(params, _collect(params, arrays, found))
    return grads if kind == "gradient" else (value, grads)


def through_python(transform: Transform, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The same in code that is differentiated through Python, as one of the implementations there (`fallback.implementation`)."""
    return _through_python(transform.kind, function, _checked(transform.kind, args, keywords))


def _checked(kind: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Params:
    """The parameters that a call is by."""
    refuse(kind, args)
    if len(args) != 1 or not isinstance(args[0], Params) or keywords:
        raise TypeError(f"{kind} by Params takes a function without arguments, and the parameters: {kind}(f, params)")
    return args[0]


def refuse(kind: str, args: tuple[Any, ...]) -> None:
    """Before other derivatives than those that are by parameters: the arguments of a call, or a tuple of them, are none."""
    given = args[0] if kind == "jvp" and isinstance(args[0], tuple) else args
    if kind in ("gradient", "withgradient", "pullback"):
        return
    for a in given:
        if isinstance(a, Params):
            raise TypeError(f"{kind} does not take Params; gradient, withgradient and pullback do")


class ImplicitPullback:
    """The function from a cotangent of a value to the gradients by parameters."""

    __slots__ = ("__weakref__", "_back", "_name", "_params")

    def __init__(self, name: str, params: Params, back: Callable[[Any], Iterable[Any]]):
        self._name, self._params, self._back = name, params, back

    def __call__(self, cotangent: Any, /) -> Grads:
        return Grads(self._params, self._back(cotangent))

    def __repr__(self) -> str:
        return f"<pullback of {self._name} by {len(self._params)} parameters>"


def _through_python(kind: str, function: Any, params: Params) -> Any:
    """The parameters are passed in an argument that nobody looks at: their shadows, and so their gradients, are those of the objects.
    (In one argument, as arrays that share memory would be apart in several.)"""
    from .fallback import python_pullback, with_seed

    value, back = python_pullback(_ignoring, (function, tuple(params)), {})
    if kind == "pullback":
        return value, ImplicitPullback(describe(function), params, lambda d: _of_each(params, back(d)))
    grads = Grads(params, _of_each(params, with_seed(kind, function, value, back)))
    return grads if kind == "gradient" else (value, grads)


def _of_each(params: Params, gradients: tuple[Any, ...]) -> Iterable[Any]:
    return [None] * len(params) if gradients[1] is None else gradients[1]


def _calling(function: Callable[[], Any], parameters: tuple[Any, ...]) -> Any:
    return function()


# As a function of no package: what is in zyg is not differentiated.
_ignoring = types.FunctionType(_calling.__code__, {"__name__": "calling"})


# ------------------------------------------------------------------------------------- arrays that share memory


def _collect(params: Params, arrays: tuple[Any, ...], gradients: tuple[Any, ...]) -> list[Any]:
    """The gradient by each parameter, of those by the arrays that a function used: by identity, and by memory where the
    function used a view of a parameter, or the parameter is one."""
    result = []
    for p in params:
        total = None
        for array, g in zip(arrays, gradients, strict=True):
            if g is None or not isinstance(p, np.ndarray):
                continue
            if array is p:
                total = g if total is None else total + g
            elif np.may_share_memory(array, p) and array.dtype == p.dtype:
                part = _seen_through(p, array, g)
                total = part if total is None else total + part
        result.append(total)
    return result


def _seen_through(p: np.ndarray, array: np.ndarray, g: np.ndarray) -> np.ndarray:
    """What a gradient by `array` is by `p`, whose memory overlaps with it."""
    size = p.dtype.itemsize
    low = min(_bounds(p)[0], _bounds(array)[0])
    memory = np.zeros((max(_bounds(p)[1], _bounds(array)[1]) - low) // size, g.dtype)
    at = lambda x: np.lib.stride_tricks.as_strided(
        memory[(x.__array_interface__["data"][0] - low) // size :],
        x.shape,
        tuple(s // size * memory.itemsize for s in x.strides),
    )
    at(array)[...] += g
    return at(p).copy()


def _bounds(x: np.ndarray) -> tuple[int, int]:
    """The addresses of the first byte of an array, and behind its last."""
    start = x.__array_interface__["data"][0]
    spans = [(n - 1) * s for n, s in zip(x.shape, x.strides)] if x.size else []
    return start + sum(s for s in spans if s < 0), start + sum(s for s in spans if s > 0) + (
        x.itemsize if x.size else 0
    )
