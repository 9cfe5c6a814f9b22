"""numpy.fft.  The values are those of NumPy's own transforms, which are called with the GIL; each takes microseconds and up.

The transforms are linear: the tangent of a transform is the transform of the tangent, and its adjoint is the other transform,
scaled the other way (`norm`).  Those of several axes are made of those of one, as in NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import zyg
from zyg.frontend import arrays, orders
from zyg.frontend.functions import unchecked
from zyg.frontend.scalars import to_int
from zyg.frontend.values import Abstract, ArrayValue, ComplexArrayValue, Known, Number, known
from zyg.ir.types import F32, F64, Array

from ..intrinsics import cut
from ..registry import emits, implements
from .common import axis_index, is_sequence
from .joining import along

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator

NONE, LAST = Known(None), Known(-1)
OTHER = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


class Transform:
    """Called from compiled code: a transform of NumPy's, of an array of floats, which has real and imaginary parts in an axis
    more if it is complex; what it gives is such an array too."""

    def __init__(self, name: str, is_complex: bool, axis: int, norm: str | None):
        self.name, self.is_complex, self.axis, self.norm = name, is_complex, axis, norm
        self.made_of = name, is_complex, axis, norm  # (keeping/places.py)
        self.__name__ = self.__qualname__ = f"np.fft.{name}"

    def __call__(self, floats: Any, n: int | None = None) -> Any:
        a = floats.view(complex)[..., 0] if self.is_complex else floats
        result = np.ascontiguousarray(getattr(np.fft, self.name)(a, n, self.axis, self.norm))
        return result.view(float).reshape((*result.shape, 2)) if result.dtype.kind == "c" else result


def _transform(e: Evaluator, name: str, a: Abstract, n: Abstract, axis: Abstract, norm: Abstract) -> Abstract:
    from zyg.frontend.exceptions import python_call

    a = e.call(known(np.asarray), [a])
    assert isinstance(a, (ArrayValue, ComplexArrayValue))
    scalar = arrays.element_type(a)
    if scalar is F32:
        raise e.refuse(f"np.fft.{name} of float32, which gives complex64", hint="convert it first: a.astype(float)")
    if name == "rfft" and isinstance(a, ComplexArrayValue):
        e.type_error("ufunc 'rfft_n_even' did not contain a loop with signature matching types")
    if isinstance(a, ArrayValue) and scalar is not F64:
        a = e.call(known(np.asarray), [a, Known(float)])
    place = arrays.axis_of(e, axis, arrays.ndim(a))
    scaling = arrays.constant(e, norm, "the norm of a transform")
    if scaling is not None and not isinstance(scaling, str) or scaling not in OTHER:
        e.throw("ValueError", f'Invalid norm value {scaling}; should be "backward","ortho" or "forward".')
    assert scaling is None or isinstance(scaling, str)
    called = Transform(name, isinstance(a, ComplexArrayValue), place, scaling)
    args: list[Abstract] = [arrays.memory(a)]
    if not (isinstance(n, Known) and n.object is None):
        args.append(Number(to_int(e, n)))
    real = name == "irfft"
    ndim = arrays.ndim(a)
    made = python_call(e, called, args, Array(F64, ndim if real else ndim + 1), reads=True)
    assert isinstance(made, ArrayValue)
    return orders.relaid(e, made if real else ComplexArrayValue(made), a, "K")


@emits(np.fft.fft)
def fft(e: Evaluator, a: Abstract, n: Abstract = NONE, axis: Abstract = LAST, norm: Abstract = NONE) -> Abstract:
    return _transform(e, "fft", a, n, axis, norm)


@emits(np.fft.ifft)
def ifft(e: Evaluator, a: Abstract, n: Abstract = NONE, axis: Abstract = LAST, norm: Abstract = NONE) -> Abstract:
    return _transform(e, "ifft", a, n, axis, norm)


@emits(np.fft.rfft)
def rfft(e: Evaluator, a: Abstract, n: Abstract = NONE, axis: Abstract = LAST, norm: Abstract = NONE) -> Abstract:
    return _transform(e, "rfft", a, n, axis, norm)


@emits(np.fft.irfft)
def irfft(e: Evaluator, a: Abstract, n: Abstract = NONE, axis: Abstract = LAST, norm: Abstract = NONE) -> Abstract:
    return _transform(e, "irfft", a, n, axis, norm)


# ------------------------------------------------------------------------------------------------------- rules


def of_length(a: Any, n: int, axis: int) -> Any:
    """The array cut, or continued with zeros, to this length along an axis."""
    m = a.shape[axis]
    result = np.zeros((*a.shape[:axis], n, *a.shape[axis + 1 :]), a.dtype)
    k = min(m, n)
    result[along(axis, slice(0, k))] = a[along(axis, slice(0, k))]
    return result


def swapped(norm: Any) -> Any:
    """The norm that scales the inverse transform as this one scales the transform."""
    if norm is None or norm == "backward":
        return "forward"
    return "backward" if norm == "forward" else norm


def like(d: Any, a: Any, axis: int) -> Any:
    """A complex cotangent as that of an array, which may be of another length along the axis, or real."""
    made = of_length(d, a.shape[axis], axis)
    return made if a.dtype.kind == "c" else made.real.copy()


@zyg.adjoint(np.fft.fft)
def _(a, n=None, axis=-1, norm=None):
    x = np.asarray(a)
    k = axis_index(axis, x.ndim)
    return np.fft.fft(x, n, k, norm), lambda d: (like(np.fft.ifft(d, None, k, swapped(norm)), x, k), None, None, None)


@zyg.adjoint(np.fft.ifft)
def _(a, n=None, axis=-1, norm=None):
    x = np.asarray(a)
    k = axis_index(axis, x.ndim)
    return np.fft.ifft(x, n, k, norm), lambda d: (like(np.fft.fft(d, None, k, swapped(norm)), x, k), None, None, None)


@unchecked
def halves(count: int, n: int, inner: float) -> Any:
    """How often the frequencies of a half spectrum stand in the whole one: the first, and the last of an even one, once."""
    result = np.empty(count)
    for k in range(count):
        result[k] = 1.0 if k == 0 or 2 * k == n else inner
    return result


def weighed(d: Any, n: int, axis: int, inner: float) -> Any:
    return d * halves(d.shape[axis], n, inner).reshape((d.shape[axis],) + (1,) * (d.ndim - axis - 1))


@zyg.adjoint(np.fft.rfft)
def _(a, n=None, axis=-1, norm=None):
    x = np.asarray(a)
    k = axis_index(axis, x.ndim)
    length = x.shape[k] if n is None else n

    def back(d):
        made = np.fft.irfft(weighed(d, length, k, 0.5), length, k, swapped(norm))
        return of_length(made, x.shape[k], k), None, None, None

    return np.fft.rfft(x, n, k, norm), back


@zyg.adjoint(np.fft.irfft)
def _(a, n=None, axis=-1, norm=None):
    x = np.asarray(a)
    k = axis_index(axis, x.ndim)
    length = 2 * (x.shape[k] - 1) if n is None else n

    def back(d):
        return like(weighed(np.fft.rfft(d, None, k, swapped(norm)), length, k, 2.0), x, k), None, None, None

    return np.fft.irfft(x, n, k, norm), back


@zyg.tangent(np.fft.fft)
def _(a, n=None, axis=-1, norm=None):
    return np.fft.fft(a, n, axis, norm), lambda da, dn=None, daxis=None, dnorm=None: np.fft.fft(da, n, axis, norm)


@zyg.tangent(np.fft.ifft)
def _(a, n=None, axis=-1, norm=None):
    return np.fft.ifft(a, n, axis, norm), lambda da, dn=None, daxis=None, dnorm=None: np.fft.ifft(da, n, axis, norm)


@zyg.tangent(np.fft.rfft)
def _(a, n=None, axis=-1, norm=None):
    return np.fft.rfft(a, n, axis, norm), lambda da, dn=None, daxis=None, dnorm=None: np.fft.rfft(da, n, axis, norm)


@zyg.tangent(np.fft.irfft)
def _(a, n=None, axis=-1, norm=None):
    return np.fft.irfft(a, n, axis, norm), lambda da, dn=None, daxis=None, dnorm=None: np.fft.irfft(da, n, axis, norm)


# -------------------------------------------------------------------------------------- transforms made of these


@implements(np.fft.hfft)
def hfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    return np.fft.irfft(np.conjugate(np.asarray(a)), n, axis, swapped(norm))


@implements(np.fft.ihfft)
def ihfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    return np.conjugate(np.fft.rfft(a, n, axis, swapped(norm)))


def axes_and_lengths(a: Any, s: Any, axes: Any) -> Any:
    """The axes of a transform, and the length along each (None: as it is)."""
    if axes is None:
        count = a.ndim if s is None else len(s)
        found = tuple(range(a.ndim - count, a.ndim))
    else:
        found = tuple([axis_index(k, a.ndim) for k in tuple(axes)])
    if s is None:
        return found, (None,) * len(found)
    if len(s) != len(found):
        raise ValueError("Shape and axes have different lengths.")
    return found, tuple([a.shape[k] if n == -1 else n for k, n in zip(found, tuple(s))])


def over_axes(transform: Any, a: Any, axes: Any, s: Any, norm: Any) -> Any:
    """The transforms along the axes, the last one first."""
    for k, n in tuple(zip(axes, s))[::-1]:
        a = transform(a, n, k, norm)
    return a


@implements(np.fft.fftn)
def fftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    x = np.asarray(a)
    where, lengths = axes_and_lengths(x, s, axes)
    return over_axes(np.fft.fft, x + 0j if len(where) == 0 else x, where, lengths, norm)


@implements(np.fft.ifftn)
def ifftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    x = np.asarray(a)
    where, lengths = axes_and_lengths(x, s, axes)
    return over_axes(np.fft.ifft, x + 0j if len(where) == 0 else x, where, lengths, norm)


@implements(np.fft.rfftn)
def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    x = np.asarray(a)
    where, lengths = axes_and_lengths(x, s, axes)
    half = np.fft.rfft(x, lengths[-1], where[-1], norm)
    return over_axes(np.fft.fft, half, where[:-1], lengths[:-1], norm)


@implements(np.fft.irfftn)
def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    x = np.asarray(a)
    where, lengths = axes_and_lengths(x, s, axes)
    for k, n in tuple(zip(where[:-1], lengths[:-1])):
        x = np.fft.ifft(x, n, k, norm)
    return np.fft.irfft(x, lengths[-1], where[-1], norm)


@implements(np.fft.fft2)
def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return np.fft.fftn(a, s, axes, norm)


@implements(np.fft.ifft2)
def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return np.fft.ifftn(a, s, axes, norm)


@implements(np.fft.rfft2)
def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return np.fft.rfftn(a, s, axes, norm)


@implements(np.fft.irfft2)
def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return np.fft.irfftn(a, s, axes, norm)


# ------------------------------------------------------------------------------------------------- frequencies


def moved(x: Any, axes: Any, sign: int) -> Any:
    a = np.asarray(x)
    where = tuple(range(a.ndim)) if axes is None else tuple(axes) if is_sequence(axes) else (axes,)
    result = a.copy() if len(where) == 0 else a
    for k in where:
        n = a.shape[axis_index(k, a.ndim)]
        result = np.roll(result, n // 2 if sign > 0 else -(n // 2), k)
    return result


@implements(np.fft.fftshift)
def fftshift(x: Any, axes: Any = None) -> Any:
    return moved(x, axes, 1)


@implements(np.fft.ifftshift)
def ifftshift(x: Any, axes: Any = None) -> Any:
    return moved(x, axes, -1)


@implements(np.fft.fftfreq)
@unchecked
def fftfreq(n: int, d: Any = 1.0) -> Any:
    if isinstance(n, float):
        raise ValueError("n should be an integer")
    step = 1.0 / (cut(n) * d)
    result = np.empty(n)
    half = (n - 1) // 2 + 1
    for k in range(n):
        result[k] = (k if k < half else cut(k - n)) * step
    return result


@implements(np.fft.rfftfreq)
@unchecked
def rfftfreq(n: int, d: Any = 1.0) -> Any:
    if isinstance(n, float):
        raise ValueError("n should be an integer")
    step = 1.0 / (cut(n) * d)
    result = np.empty(n // 2 + 1)
    for k in range(n // 2 + 1):
        result[k] = k * step
    return result
