"""Inputs that are drawn: arrays of given dimensions with zeros and ones among them, of all strides, with nan and inf.

A parameter of a case is described by an `A`:

    A("n m")                    a matrix; dimensions of the same name are of the same length in all parameters of a call
    A("n|n m|1 m|")             one of these, drawn with the signature; an empty one has no dimensions
    A("n m", dtypes="dfl")      element types by NumPy's characters; "dflib?" and so on
    A("n", values="positive")   what the numbers are like: VALUES
    Num("dlFI?")                a number: d float, l int, ? bool, D complex; F, I and B are np.float32, np.int32, np.uint8
    "text", None, (0, 1), ...   anything else is a constant that is passed as it is

A signature fixes what code is compiled for (types, numbers of dimensions, layouts); of each, many inputs are drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Rng = np.random.Generator
LENGTHS = (0, 1, 2, 3, 4, 7)
APART = ("any", "finite", "ties", "positive", "above", "ascending")


@dataclass(frozen=True)
class A:
    """An array."""

    dims: str = "n|n m|n m k"
    dtypes: str = "dfli"
    values: str = "any"
    least: int = 0  # the shortest that a dimension may be
    layouts: str = "CS"  # C contiguous, S with strides of its own


@dataclass(frozen=True)
class Num:
    """A number."""

    kinds: str = "d"
    values: str = "any"
    choices: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Fixed:
    """A parameter as it is in one signature."""

    spec: A | Num | Any
    dims: tuple[str, ...] = ()
    dtype: str = ""
    layout: str = "C"

    def __str__(self) -> str:
        if isinstance(self.spec, A):
            return f"{self.dtype}[{' '.join(self.dims)}]{'' if self.layout == 'C' else self.layout}"
        return self.dtype if isinstance(self.spec, Num) else repr(self.spec)


def signature(rng: Rng, specs: dict[str, Any], plain: bool) -> dict[str, Fixed]:
    """What each parameter is; with `plain`, doubles (where there may be) in order, for derivatives."""
    alternatives = max([len(s.dims.split("|")) for s in specs.values() if isinstance(s, A)] or [1])
    choice = int(rng.integers(alternatives))
    fixed: dict[str, Fixed] = {}
    for name, spec in specs.items():
        if isinstance(spec, A):
            dims = spec.dims.split("|")
            dtype = "d" if plain and "d" in spec.dtypes else str(rng.choice(list(spec.dtypes)))
            layout = "C" if plain and rng.random() < 0.7 else str(rng.choice(list(spec.layouts)))
            fixed[name] = Fixed(spec, tuple(dims[choice % len(dims)].split()), dtype, layout)
        elif isinstance(spec, Num):
            fixed[name] = Fixed(
                spec, (), "d" if plain and "d" in spec.kinds and not spec.choices else str(rng.choice(list(spec.kinds)))
            )
        else:
            fixed[name] = Fixed(spec)
    return fixed


def inputs(rng: Rng, fixed: dict[str, Fixed], smooth: bool) -> dict[str, Any]:
    """One draw; `smooth` numbers are finite, apart from each other and from where functions have kinks."""
    lengths: dict[str, int] = {}
    if smooth:
        sizes: tuple[int, ...] = (2, 3, 4)
    else:
        sizes = LENGTHS
    drawn: dict[str, Any] = {}
    for name, f in fixed.items():
        if isinstance(f.spec, A):
            shape = []
            for dim in f.dims:
                if dim.isdigit():
                    shape.append(int(dim))
                    continue
                if dim not in lengths:
                    least = max(s.spec.least for s in fixed.values() if isinstance(s.spec, A) and dim in s.dims)
                    lengths[dim] = int(rng.choice([s for s in sizes if s >= least] or [least]))
                shape.append(lengths[dim])
            found = draw(rng, f, tuple(shape), smooth, lengths)
            if smooth and f.dtype in "dfD" and f.spec.values in APART:
                found = np.asarray(
                    found + np.dtype(f.dtype).type(0.011 * len(drawn))
                )  # apart from the numbers of other parameters
            drawn[name] = strided(rng, found, f.layout)
        elif isinstance(f.spec, Num):
            value = number(rng, f, smooth, lengths)
            if smooth and type(value) is float and f.spec.values in APART and not f.spec.choices:
                value += 0.011 * len(drawn)
            drawn[name] = value
        else:
            drawn[name] = f.spec
    return drawn


def strided(rng: Rng, a: np.ndarray, layout: str) -> np.ndarray:
    """The same numbers in memory of another order."""
    if layout == "C" or a.ndim == 0:
        return a
    how = int(rng.integers(4))
    if how == 0 and a.ndim > 1:
        return np.asfortranarray(a)
    if how == 3 and a.ndim > 1:
        order = rng.permutation(a.ndim)
        return np.ascontiguousarray(a.transpose(order)).transpose(np.argsort(order))
    wide = np.zeros((*a.shape[:-1], 2 * a.shape[-1]), a.dtype)
    if how == 1:
        wide[..., ::2] = a
        return wide[..., ::2]
    backwards = np.ascontiguousarray(a[::-1])
    return backwards[::-1]


def number(rng: Rng, f: Fixed, smooth: bool, lengths: dict[str, int]) -> Any:
    spec: Num = f.spec
    if spec.choices:
        return spec.choices[int(rng.integers(len(spec.choices)))]
    kinds: dict[str, Callable[[Any], Any]] = {
        "d": float, "l": int, "?": bool, "D": complex, "F": np.float32, "I": np.int32, "B": np.uint8, "G": np.float64,
    }  # fmt: skip
    dtype = {"F": "f", "I": "i", "G": "d"}.get(f.dtype, f.dtype)
    return kinds[f.dtype](VALUES[spec.values](rng, (), dtype, smooth, lengths).item())


def draw(rng: Rng, f: Fixed, shape: tuple[int, ...], smooth: bool, lengths: dict[str, int]) -> np.ndarray:
    spec: A = f.spec
    name, _, argument = spec.values.partition(":")
    maker = VALUES[name]
    found = (
        maker(rng, shape, f.dtype, smooth, lengths, argument)
        if argument
        else maker(rng, shape, f.dtype, smooth, lengths)
    )
    return np.asarray(found).astype(f.dtype)


def _reals(rng: Rng, shape: tuple[int, ...], smooth: bool) -> np.ndarray:
    """Normal numbers; smooth ones are 0.02 apart from each other and from every integer, in absolute value too."""
    if not smooth:
        return np.round(rng.normal(size=shape) * 2.0, 3)
    size = int(np.prod(shape))
    grid = np.arange(-2 * size - 6, 2 * size + 6) * 0.17 + 0.083
    grid = grid[np.abs(grid - np.round(grid)) > 0.05]
    apart = grid[np.abs(grid) > 0.0]
    magnitudes = rng.permutation(np.unique(np.abs(apart))[::2])[:size]  # those of both signs are 0.004 apart
    # So that sums of several differ, too; the third decimal stays 3, as far as can be from where rounding to two of them jumps.
    magnitudes = magnitudes + 0.01 * rng.integers(-3, 4, size)
    return (magnitudes * rng.choice([-1.0, 1.0], size)).reshape(shape) * (1.0 if size < 10 else 0.7)


def any_(rng: Rng, shape: tuple[int, ...], dtype: str, smooth: bool, lengths: dict[str, int]) -> np.ndarray:
    if dtype == "?":
        return rng.random(shape) < 0.5
    if dtype in "lihB":
        low = 0 if dtype == "B" else -4
        return rng.integers(low, 6, shape)
    real = _reals(rng, shape, smooth)
    if dtype == "D":
        real = real + 1j * _reals(rng, shape, smooth)
    if not smooth and real.size and rng.random() < 0.35:
        real = np.array(real)
        special = rng.choice(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e100, 1e-100, 1.0]))
        real.flat[int(rng.integers(real.size))] = (
            special if dtype != "f" or abs(special) in (0, 1) or not np.isfinite(special) else 1.0
        )
    return real


def finite(rng: Rng, shape: tuple[int, ...], dtype: str, smooth: bool, lengths: dict[str, int]) -> np.ndarray:
    found = np.asarray(any_(rng, shape, dtype, smooth, lengths))
    if dtype not in "dfD":
        return found
    return np.where(np.isfinite(found) & (np.abs(found) < 100), found, 1.0)


def ties(rng: Rng, shape: tuple[int, ...], dtype: str, smooth: bool, lengths: dict[str, int]) -> np.ndarray:
    """Small integers, so that there are equal ones; smooth ones differ."""
    if smooth or dtype == "?":
        return finite(rng, shape, dtype, smooth, lengths)
    found = rng.integers(0 if dtype == "B" else -2, 4, shape)
    return found + 1j * rng.integers(-2, 3, shape) if dtype == "D" else found


def positive(rng: Rng, shape: tuple[int, ...], dtype: str, smooth: bool, lengths: dict[str, int]) -> np.ndarray:
    return np.abs(finite(rng, shape, dtype, smooth, lengths)) + (1 if dtype in "liB" else 0.1)


def unit(rng: Rng, shape: tuple[int, ...], dtype: str, smooth: bool, lengths: dict[str, int]) -> np.ndarray:
    """Between -0.95 and 0.95."""
    if dtype in "liB?":
        return rng.integers(0, 2, shape)
    found = rng.uniform(0.05, 0.95, shape) * rng.choice([-1.0, 1.0], shape)
    return found + 0.3j * rng.uniform(-1, 1, shape) if dtype == "D" else found


def probability(rng: Rng, shape: tuple[int, ...], dtype: str, smooth: bool, lengths: dict[str, int]) -> np.ndarray:
    """Between 0.05 and 0.95."""
    return rng.uniform(0.05, 0.95, shape)


def above(rng: Rng, shape: tuple[int, ...], dtype: str, smooth: bool, lengths: dict[str, int]) -> np.ndarray:
    """Above one."""
    return positive(rng, shape, dtype, smooth, lengths) + 1


def few(rng: Rng, shape: tuple[int, ...], dtype: str, smooth: bool, lengths: dict[str, int]) -> np.ndarray:
    """From 0 to 3: numbers of times, powers, shifts."""
    return rng.integers(0, 4, shape)


def index(
    rng: Rng, shape: tuple[int, ...], dtype: str, smooth: bool, lengths: dict[str, int], of: str = "n"
) -> np.ndarray:
    """Indices of a dimension, negative ones too; rarely one outside."""
    length = int(of) if of.isdigit() else lengths.get(of, 2)
    low = -length if dtype in "li" else 0
    found = rng.integers(low, max(length, low + 1), shape)
    if not smooth and found.size and rng.random() < 0.1:
        found = np.array(found)
        found.flat[0] = length + 1
    return found


def definite(rng: Rng, shape: tuple[int, ...], dtype: str, smooth: bool, lengths: dict[str, int]) -> np.ndarray:
    """Symmetric (Hermitian) positive definite matrices; rarely one that is not."""
    root = finite(rng, shape, dtype, True, lengths)
    found = root @ np.conj(np.swapaxes(root, -1, -2)) + (1 + shape[-1]) * np.eye(shape[-1])
    return found if smooth or rng.random() < 0.85 else found - 3 * np.trace(found, axis1=-2, axis2=-1)[..., None, None]


def regular(rng: Rng, shape: tuple[int, ...], dtype: str, smooth: bool, lengths: dict[str, int]) -> np.ndarray:
    """Matrices that are well conditioned, if `smooth` well enough for differences; rarely a singular one."""
    found = np.asarray(finite(rng, shape, dtype, True, lengths)) + (12.0 if smooth else 4.0) * np.eye(*shape[-2:])
    return found if smooth or rng.random() < 0.85 else found * 0.0


def deficient(rng: Rng, shape: tuple[int, ...], dtype: str, smooth: bool, lengths: dict[str, int]) -> np.ndarray:
    """Square matrices whose rank is smaller than their length, to rounding."""
    n = shape[-1]
    return np.asarray(finite(rng, (n, max(n - 1, 0)), dtype, True, lengths)) @ np.asarray(
        finite(rng, (max(n - 1, 0), n), dtype, True, lengths)
    )


def symmetric(rng: Rng, shape: tuple[int, ...], dtype: str, smooth: bool, lengths: dict[str, int]) -> np.ndarray:
    """With eigenvalues that are apart."""
    root = np.asarray(finite(rng, shape, dtype, True, lengths))
    return 0.3 * (root + np.conj(np.swapaxes(root, -1, -2))) + np.diag(np.arange(shape[-1]) * 3.0)


def ascending(rng: Rng, shape: tuple[int, ...], dtype: str, smooth: bool, lengths: dict[str, int]) -> np.ndarray:
    return np.sort(finite(rng, shape, dtype, smooth, lengths), axis=-1)


VALUES: dict[str, Callable[..., Any]] = {
    "any": any_, "finite": finite, "ties": ties, "positive": positive, "unit": unit, "probability": probability, "above": above, "few": few,
    "index": index, "definite": definite, "regular": regular, "deficient": deficient, "symmetric": symmetric, "ascending": ascending,
}  # fmt: skip
