"""The benchmark programs, in the Python that a user would write: scalar loops, `u[i, j]`, updates in place.

Each has a C counterpart in `c/programs.c` that performs the same floating-point operations in the same order, so that
values agree to the last bit when neither side contracts multiplications and additions.
"""

from __future__ import annotations

import math

import numpy as np


def power(x, n):
    """x**n by n multiplications."""
    r = 1.0
    while n > 0:
        n -= 1
        r *= x
    return r


def slope(x, y, z, sigma, rho, beta):
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z


def lorenz(x, y, z, sigma, rho, beta, h, steps):
    """The sum of the coordinates after `steps` steps of RK4 along the Lorenz system."""
    for _ in range(steps):
        x1, y1, z1 = slope(x, y, z, sigma, rho, beta)
        x2, y2, z2 = slope(x + 0.5 * h * x1, y + 0.5 * h * y1, z + 0.5 * h * z1, sigma, rho, beta)
        x3, y3, z3 = slope(x + 0.5 * h * x2, y + 0.5 * h * y2, z + 0.5 * h * z2, sigma, rho, beta)
        x4, y4, z4 = slope(x + h * x3, y + h * y3, z + h * z3, sigma, rho, beta)
        x += h / 6.0 * (x1 + 2.0 * x2 + 2.0 * x3 + x4)
        y += h / 6.0 * (y1 + 2.0 * y2 + 2.0 * y3 + y4)
        z += h / 6.0 * (z1 + 2.0 * z2 + 2.0 * z3 + z4)
    return x + y + z


def wave(u0, c, dt, steps):
    """The energy-like sum after `steps` steps of u_tt = c lap(u) - u^3, with u and v updated in place."""
    n, m = u0.shape
    u = u0.copy()
    v = np.zeros_like(u0)
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                w = u[i, j]
                laplacian = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * w
                v[i, j] += dt * (c * laplacian - w * w * w)
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] += dt * v[i, j]
    total = 0.0
    for i in range(n):
        for j in range(m):
            total += u[i, j] * u[i, j] + v[i, j] * v[i, j]
    return 0.5 * total


def nbody(x0, v0, mass, dt, steps):
    """The kinetic energy after `steps` leapfrog steps (drift, kick, drift) of bodies that attract each other."""
    n = len(mass)
    x = x0.copy()
    v = v0.copy()
    half = 0.5 * dt
    for _ in range(steps):
        for i in range(n):
            for k in range(3):
                x[i, k] += half * v[i, k]
        for i in range(n):
            for j in range(i + 1, n):
                dx = x[i, 0] - x[j, 0]
                dy = x[i, 1] - x[j, 1]
                dz = x[i, 2] - x[j, 2]
                d2 = dx * dx + dy * dy + dz * dz
                w = dt / (d2 * math.sqrt(d2))
                a = w * mass[j]
                b = w * mass[i]
                v[i, 0] -= dx * a
                v[i, 1] -= dy * a
                v[i, 2] -= dz * a
                v[j, 0] += dx * b
                v[j, 1] += dy * b
                v[j, 2] += dz * b
        for i in range(n):
            for k in range(3):
                x[i, k] += half * v[i, k]
    energy = 0.0
    for i in range(n):
        energy += 0.5 * mass[i] * (v[i, 0] * v[i, 0] + v[i, 1] * v[i, 1] + v[i, 2] * v[i, 2])
    return energy


def gauss_seidel(u0, f, sweeps):
    """Half the sum of squares after `sweeps` Gauss-Seidel sweeps, in place, of lap(u) = f on a grid of width one."""
    n, m = u0.shape
    u = u0.copy()
    for _ in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])
    total = 0.0
    for i in range(n):
        for j in range(m):
            total += u[i, j] * u[i, j]
    return 0.5 * total


def five_sin_log(x):
    """The function of the call-overhead measurements."""
    return 5 * math.sin(math.log(x))


def twenty_lines(x, y, a, b, c):
    """A scalar function of twenty lines; its first gradient is what compile latency is measured on."""
    r = x * x + y * y
    s = math.sqrt(r + 1.0)
    p = a * x + b * y + c
    q = math.exp(-0.5 * r)
    if p > 0.0:
        w = math.log(1.0 + p) * q
    else:
        w = -p * q * s
    t = math.sin(p) * s
    u = math.cos(p) / s
    total = 0.0
    for _ in range(5):
        t = 0.5 * t + u * w
        u = 0.5 * u - t * q
        if t > u:
            total += t - u
        else:
            total += (u - t) * a
    v = total * total / (1.0 + total * total)
    z = v * math.tanh(w + t)
    return z + b * math.atan2(t, s) - c * u
