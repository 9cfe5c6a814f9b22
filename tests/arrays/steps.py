"""Small arrays through Python: programs that are lists of steps, over a pool of arrays, views and numbers, run by one function.

As all programs are run by the same code object, they cost no compilation: thousands are drawn. Most steps are arithmetic on arrays of
float64, with views of one memory, updates in place, and operands that are one and the same; others have integers, arrays
without dimensions and of no elements among them. Derivatives are compared with the complex step, which NumPy alone takes.

    python -m tests.arrays.steps --count 3000 --seed 1
    python -m tests.arrays.steps --count 100 --second
"""

from __future__ import annotations

import argparse
import random
import warnings
from typing import Any

import numpy as np

import zyg
from zyg.fallback import python_pullback

Step = tuple[str, int, int]
TWICE = np.array([0, 2, 0])
SOME_INTS, OTHER_INTS = np.array([1, -2, 3]), np.array([3, 0, -1], np.int32)


class Holder:
    """What a step reads and sets."""

    def __init__(self, value: Any):
        self.value = value


def ruled(a: Any) -> Any:
    """What has a rule of the user's, which keeps what it was given and what it gives."""
    return np.exp(0.1 * a) * a


@zyg.adjoint(ruled)
def _rule(a: Any) -> Any:
    y = np.exp(0.1 * a) * a
    return y, lambda d: (d * (np.exp(0.1 * a) + 0.1 * y),)


def run(program: list[Step], x: Any, w: Any, s: float) -> Any:
    """The value of a program: a sum of what is in the pool at its end."""
    pool: list[Any] = [x, w, s, x * 1.0, w * 1.0, w[1], w.T, x[1:], s * x[:1], x[:0] * s, SOME_INTS + 0, OTHER_INTS + 0]
    pool += [x[0], np.array([s, 2.0 * s, 0.5]), np.array(s), w[:, 1:], x[::-1]]
    holder = Holder(x + 0.0)
    for op, i, j in program:
        a, b = pool[i], pool[j]
        if op == "add":
            y = a + b
        elif op == "sub":
            y = a - b
        elif op == "mul":
            y = a * b
        elif op == "div":
            y = a / (b * b + 1.5)
        elif op == "inverse":
            y = s / (a * a + 1.5)
        elif op == "with constant":
            y = 0.5 * a - 1.0 + (2.0 - a) / 4.0
        elif op == "of constant":
            y = 2.0 / (a * a + 2)
        elif op == "square":
            y = a**2
        elif op == "cube":
            y = 0.1 * a**3
        elif op == "root":
            y = (a * a + 1.0) ** 0.5
        elif op == "power":
            y = (a * a + 1.0) ** s
        elif op == "neg":
            y = -a
        elif op == "tanh":
            y = np.tanh(a)
        elif op == "exp":
            y = np.exp(0.1 * a)
        elif op == "sin":
            y = np.sin(a) * np.cos(b)
        elif op == "log":
            y = np.log(a * a + 1.5) + np.sqrt(b * b + 0.5)
        elif op == "dot":
            y = np.dot(a, b)
        elif op == "matmul":
            y = a @ b
        elif op == "method":
            y = a.dot(b)
        elif op == "outer":
            y = np.outer(a, b)
        elif op == "sum":
            y = np.sum(a) + a.sum()
        elif op == "sum along":
            y = np.sum(a, 0) + a.sum(axis=-1)[0]
        elif op == "mean":
            y = np.mean(a) - np.mean(a, axis=0) + a.mean()
        elif op == "larger":
            y = np.maximum(a, 0.1) + np.minimum(a, b) * np.maximum(s, b)
        elif op == "extreme":
            y = np.max(a) - a.min()
        elif op == "extreme along":
            y = np.max(a, axis=1, keepdims=True) * np.min(a, 0) + a.max(-1)[0]
        elif op == "of element":
            y = np.exp(0.1 * a[0]) * np.arctan(a[-1])
        elif op == "item":
            y = a[-1]
        elif op == "slice":
            y = a[1:]
        elif op == "reversed":
            y = a[::-1]
        elif op == "transposed":
            y = a.T
        elif op == "flat":
            y = a.reshape(-1)
        elif op == "copy":
            y = a.copy()
        elif op == "stack":
            y = np.stack([a, b])
        elif op == "concatenate":
            y = np.concatenate([a, b])
        elif op == "multiply":
            y = np.multiply(a, b) - np.add(a, s)
        elif op == "hstack":
            y = np.hstack([a, b])
        elif op == "vstack":
            y = np.vstack((a, b))
        elif op == "columns":
            y = np.column_stack([a, b])
        elif op == "append":
            y = np.append(a, b)
        elif op == "beside":
            y = np.concatenate([a, b], axis=-1) - np.stack([a, a], axis=1).sum()
        elif op == "array of":
            y = np.array([a, b]) * np.array([[s, 1.0], [0.5, s]])[0, 0]
        elif op == "where":
            y = np.where(a.real > 0.1, a, b) + np.where(a.real < 0.3, 0.5, s)
        elif op == "clip":
            y = np.clip(a, -0.4, 0.5) + a.clip(s, 9.0)
        elif op == "masked":
            y = a * (b.real > 0) - (a.real < 0.2) / 2.0
        elif op == "picked":
            y = a[a.real > -0.1]
        elif op == "gathered":
            y = a[TWICE] * b[TWICE, None]
        elif op == "at":
            y = a[TWICE, TWICE] + a[0, TWICE]
        elif op == "columns of":
            y = a[:, None] * b - a[..., 0]
        elif op == "part":
            y = a[1:, ::2]
        elif op == "roll":
            y = np.roll(a, 1) - np.roll(b, (1, 2), (0, 1))
        elif op == "rolled":
            y = np.roll(a, -1, axis=0) * 0.5
        elif op == "kept":
            y = a / (np.sum(a * a, axis=-1, keepdims=True) + 1.5) - np.mean(b, keepdims=True)
        elif op == "sums":
            y = np.sum(a, axis=(0, 1)) * np.mean(b, (0,))
        elif op == "of two":
            y = np.power(a * a + 1.5, b) + np.logaddexp(s, 0.5) * np.maximum(s, 0.5)
        elif op == "moved":
            y = np.expand_dims(a, 0) * np.transpose(b) + np.reshape(a, -1)[0]
        elif op == "ruled":
            y = ruled(a)
        elif op == "hold":
            y = holder.value = holder.value + a
        elif op == "held":
            y = holder.value * b
        else:
            if op == "iadd":
                a += b
            elif op == "isub":
                a -= b
            elif op == "imul":
                a *= b
            elif op == "idiv":
                a /= 1.5 + b * b
            elif op == "iscale":
                a *= s
            elif op == "iover":
                a /= s
            elif op == "ishift":
                a += s
            elif op == "set":
                a[0] = b
            elif op == "set slice":
                a[1:] = b
            elif op == "set all":
                a[:] = b
            elif op == "set masked":
                a[a.real > 0.3] = s
            elif op == "set where":
                a[b.real > 0.3] = b[b.real > 0.3]
            elif op == "set column":
                a[:, 0] = b
            elif op == "set each":
                a[TWICE] = b
            elif op == "set number":
                a[..., -1] = s
            elif op == "mask":
                a *= b.real > 0.2
            continue
        pool.append(y)
    total = np.sum(holder.value)
    for y in pool:
        total = total + np.sum(y * y)
    return total


NEW = """add sub mul div inverse,with constant,of constant,square cube root power neg tanh exp sin log dot matmul method outer sum,sum along,extreme,extreme along,of element,mean larger
 item slice reversed transposed flat copy stack concatenate multiply hold held ruled add sub mul add sub mul div
 hstack vstack columns append beside,array of,where clip masked picked gathered at,columns of,part roll rolled kept sums,of two,moved""".replace(
    "\n", ""
)
IN_PLACE = "iadd,isub,imul,idiv,iscale,iover,ishift,mask,set,set slice,set all,set masked,set where,set column,set each,set number".split(
    ","
)
SEVERAL_WORDS = "with constant,of constant,sum along,extreme along,of element,array of,columns of,of two".split(",")
OPS = [name for part in NEW.split(",") for name in ([part] if part in SEVERAL_WORDS else part.split())]
START = 17  # how many are in the pool before the first step
CONSTANTS = 10, 11


def drawn(seed: int, length: int) -> tuple[list[Step], tuple[Any, ...]]:
    """A program, with arguments: each step is one that NumPy takes, with values of moderate size."""
    rng = random.Random(seed)
    numbers = np.random.default_rng(seed)
    args: tuple[Any, ...] = numbers.normal(size=3), numbers.normal(size=(3, 3)), float(numbers.normal()) + 1.5
    ops = OPS
    if rng.random() < 0.3:
        # Whole numbers, many of them 0 or equal: the complex step does not decide which of two to select, and squares of it are not 0.
        args = numbers.integers(-1, 2, 3) * 1.0, numbers.integers(-1, 2, (3, 3)) * 1.0, float(rng.choice((1, 2, -1)))
        ops = [op for op in OPS if op not in ("larger", "extreme", "extreme along", "clip", "of two", "masked")]
    program: list[Step] = []
    count = START
    while len(program) < length:
        in_place = rng.random() < 0.25
        # What was made last takes part most.
        i = rng.choice([rng.randrange(count), max(count - 1 - rng.randrange(4), 0)])
        j = rng.choice([i, rng.randrange(count), max(count - 1 - rng.randrange(4), 0)])
        if in_place and i in (0, 1, 5, 6, 7, 15, 16, *CONSTANTS):  # the arguments, and views of them, stay
            continue
        step = rng.choice(IN_PLACE if in_place else ops), i, j
        # Two runs tell whether a step is taken: it may write to an argument by way of a view.
        copies = [np.copy(a) for a in args[:2]]
        try:
            value = run([*program, step], *args)
        except (TypeError, ValueError, IndexError, AttributeError, np.exceptions.AxisError):
            continue
        if any(not np.array_equal(a, c) for a, c in zip(args, copies)):
            args = (*copies, args[2])
            continue
        if np.iscomplexobj(value) or not np.isfinite(value) or abs(value) > 1e4:
            continue
        try:
            along(run, [*program, step], args, directions(args, 0))
        except (
            TypeError,
            ValueError,
            AttributeError,
            IndexError,
        ):  # what is made of real numbers alone takes no complex ones in place
            continue
        program.append(step)
        count += not in_place
    return program, args


def directions(args: tuple[Any, ...], seed: int) -> tuple[Any, ...]:
    numbers = np.random.default_rng(seed)
    return tuple(
        [numbers.normal(size=np.shape(a)) if isinstance(a, np.ndarray) else float(numbers.normal()) for a in args]
    )


def along(function: Any, program: list[Step], args: tuple[Any, ...], direction: tuple[Any, ...]) -> float:
    """The derivative along a direction, by the complex step."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        try:
            return function(program, *[a + 1e-30j * v for a, v in zip(args, direction)]).imag / 1e-30
        except np.exceptions.ComplexWarning as error:
            raise TypeError from error


def product(gradient: tuple[Any, ...], direction: tuple[Any, ...]) -> float:
    return float(sum(np.sum(g * v) for g, v in zip(gradient, direction) if g is not None))


def slope(program: list[Step], x: Any, w: Any, s: float, direction: tuple[Any, ...]) -> Any:
    """The derivative along a direction, as what is differentiated in turn."""
    _, dx, dw, ds = zyg.gradient(run, program, x, w, s)
    return np.sum(dx * direction[0]) + np.sum(dw * direction[1]) + ds * direction[2]


def check(program: list[Step], args: tuple[Any, ...], second: bool = False) -> str | None:
    """What is wrong with the derivative of a program."""
    first, other = directions(args, 1), directions(args, 2)
    if second:
        _, back = python_pullback(slope, (program, *args, first), {})
        got = product(back(1.0)[1:4], other)
        h = 1e-5
        moved = [tuple([a + t * v for a, v in zip(args, other)]) for t in (h, -h)]
        expected = (along(run, program, moved[0], first) - along(run, program, moved[1], first)) / (2 * h)
        tolerance = 1e-5 * (1.0 + abs(expected))
    else:
        copies = [np.copy(a) for a in args]
        value, back = python_pullback(run, (program, *args), {})
        gradient = back(1.0)[1:]
        if not np.isclose(value, run(program, *args), rtol=0, atol=0):
            return f"the value is {value}, NumPy's {run(program, *args)}"
        if any(not np.array_equal(a, c) for a, c in zip(args, copies)):
            return "an argument has changed"
        again = back(1.0)[1:]
        # (BLAS rounds a sum of products by where the arrays lie in memory.)
        if any(not np.allclose(g, h, rtol=1e-13, atol=1e-13) for g, h in zip(gradient, again) if g is not None):
            return f"a pullback gives {gradient} first, and then {again}"
        got, expected = product(gradient, first), along(run, program, args, first)
        tolerance = 1e-9 * (1.0 + abs(expected))
    return None if abs(got - expected) <= tolerance else f"zyg gives {got}, the complex step {expected}"


def smaller(program: list[Step], args: tuple[Any, ...], second: bool) -> list[Step]:
    """A program that is wrong without its last steps, as far as they can be left out."""
    while len(program) > 1 and check(program[:-1], args, second):
        program = program[:-1]
    return program


def wrong(count: int, seed: int, length: int, second: bool = False) -> list[str]:
    found = []
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for number in range(seed, seed + count):
            program, args = drawn(number, length)
            try:
                problem = check(program, args, second)
            except zyg.Unsupported:  # a method of a number, say
                continue
            if problem:
                found.append(f"seed {number}: {problem}\n  {smaller(program, args, second)}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--length", type=int, default=12)
    parser.add_argument("--second", action="store_true")
    options = parser.parse_args()
    found = wrong(options.count, options.seed, options.length, options.second)
    print(*found, f"{options.count} programs, {len(found)} wrong", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
