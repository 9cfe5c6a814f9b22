"""The two nested optimisations of Siskind and Pearlmutter, "Using Polyvariant Union-Free Flow Analysis to Compile a
Higher-Order Functional-Programming Language with a First-Class Derivative Operator to Efficient Fortran-like Code" (2008).

`saddle` finds min over (x1, y1) of max over (x2, y2) of (x1² + y1²) − (x2² + y2²): the outer optimiser differentiates the
inner one, which differentiates the function.  `particle` finds the charge that steers a particle into the origin: Newton's
law takes the gradient of a potential inside the loop that the optimiser differentiates.

Each of the two derivatives may be in forward or in reverse mode: four programs, all native.

    python docs/examples/nested_optimisation.py
"""

import itertools
import math
import time

import zyg

# Points are tuples, so these work in any dimension; each compiles for the lengths that it meets.


def minus(u, v):
    return tuple([a - b for a, b in zip(u, v)])


def plus(u, v):
    return tuple([a + b for a, b in zip(u, v)])


def scaled(k, v):
    return tuple([k * a for a in v])


def magnitude(v):
    return math.sqrt(sum([a * a for a in v]))


def distance(u, v):
    return magnitude(minus(u, v))


def reverse(f, x):
    """The gradient in reverse mode."""
    return zyg.gradient(f, x)[0]


def forward(f, x):
    """The gradient in forward mode, a component at a time."""
    components = ()
    for n in range(len(x)):
        direction = tuple([1.0 if k == n else 0.0 for k in range(len(x))])
        components = (*components, zyg.jvp(f, (x,), (direction,))[1])
    return components


def argmin(gradient, f, x):
    """Gradient descent with a step size that doubles after ten steps that went well and halves after one that did not."""
    fx, gx, eta, steps = f(x), gradient(f, x), 1e-5, 0
    while magnitude(gx) > 1e-5:
        if steps == 10:
            eta, steps = 2.0 * eta, 0
            continue
        nearby = minus(x, scaled(eta, gx))
        if distance(x, nearby) <= 1e-5:
            break
        f_nearby = f(nearby)
        if f_nearby < fx:
            x, fx, gx, steps = nearby, f_nearby, gradient(f, nearby), steps + 1
        else:
            eta, steps = eta / 2.0, 0
    return x


def argmax(gradient, f, x):
    return argmin(gradient, lambda x: -f(x), x)


def saddle(outer, inner):
    start = (1.0, 1.0)

    def f(p, q):
        return (p[0] * p[0] + p[1] * p[1]) - (q[0] * q[0] + q[1] * q[1])

    def largest(p):
        return f(p, argmax(inner, lambda q: f(p, q), start))

    p = argmin(outer, largest, start)
    return p, argmax(inner, lambda q: f(p, q), start)


def flight(gradient, w):
    """The square of where the particle crosses the axis, by Euler's method."""
    charges = ((10.0, 10.0 - w), (10.0, 0.0))

    def potential(x):
        return sum([1.0 / distance(x, c) for c in charges])

    dt = 0.1
    x, velocity = (0.0, 8.0), (0.75, 0.0)
    while True:
        acceleration = scaled(-1.0, gradient(potential, x))
        following = plus(x, scaled(dt, velocity))
        if following[1] <= 0.0:
            break
        x, velocity = following, plus(velocity, scaled(dt, acceleration))
    hit = plus(x, scaled(-x[1] / velocity[1], velocity))
    return hit[0] * hit[0]


def particle(outer, inner):
    return argmin(outer, lambda w: flight(inner, w[0]), (0.0,))[0]


def main():
    for problem in (saddle, particle):
        for outer, inner in itertools.product((forward, reverse), repeat=2):
            solve = zyg.jit(lambda: problem(outer, inner))  # noqa: B023
            solve()
            start = time.perf_counter()
            solution = solve()
            elapsed = time.perf_counter() - start
            print(f"{problem.__name__}: {outer.__name__} over {inner.__name__}: {solution} in {elapsed * 1e3:.2f} ms")


if __name__ == "__main__":
    main()
