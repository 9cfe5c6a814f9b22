"""The model: Lotka-Volterra by RK4, and how far it is from the data.  Plain Python, nothing of zyg in it."""

from __future__ import annotations

import csv
import math
from importlib import resources

import numpy as np

STEPS = 20  # RK4 steps a year
NAMES = ("alpha", "beta", "gamma", "delta", "hare 1900", "lynx 1900")


def pelts():
    """The years, and the pelts of hare and lynx in thousands.

    >>> years, hare, lynx = pelts()
    >>> years[0], float(hare[0]), float(lynx[0]), len(years)
    (1900, 30.0, 4.0, 21)
    """
    text = resources.files("zyg.demo").joinpath("pelts.csv").read_text()
    rows = list(csv.DictReader(text.splitlines()))
    years = [int(row["year"]) for row in rows]
    return years, np.array([float(row["hare"]) for row in rows]), np.array([float(row["lynx"]) for row in rows])


def slope(h, l, alpha, beta, gamma, delta):
    """Hares multiply and are eaten; lynxes starve unless there are hares."""
    return (alpha - beta * l) * h, (delta * h - gamma) * l


def step(h, l, alpha, beta, gamma, delta, dt):
    """One step of RK4."""
    h1, l1 = slope(h, l, alpha, beta, gamma, delta)
    h2, l2 = slope(h + 0.5 * dt * h1, l + 0.5 * dt * l1, alpha, beta, gamma, delta)
    h3, l3 = slope(h + 0.5 * dt * h2, l + 0.5 * dt * l2, alpha, beta, gamma, delta)
    h4, l4 = slope(h + dt * h3, l + dt * l3, alpha, beta, gamma, delta)
    return h + dt / 6.0 * (h1 + 2.0 * h2 + 2.0 * h3 + h4), l + dt / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4)


def loss(q, hare, lynx, steps):
    """The sum of squared differences of logarithms; `q` is the logarithms of the rates and the initial state."""
    alpha = math.exp(q[0])
    beta = math.exp(q[1])
    gamma = math.exp(q[2])
    delta = math.exp(q[3])
    h = math.exp(q[4])
    l = math.exp(q[5])
    dt = 1.0 / steps
    total = 0.0
    for year in range(len(hare)):
        if year > 0:
            for _ in range(steps):
                h, l = step(h, l, alpha, beta, gamma, delta, dt)
        total += math.log(h / hare[year]) ** 2 + math.log(l / lynx[year]) ** 2
    return total


def trajectory(q, years, steps):
    """The fitted pelts of each year."""
    alpha, beta, gamma, delta, h, l = (math.exp(x) for x in q)
    points = [(h, l)]
    for _ in range(years - 1):
        for _ in range(steps):
            h, l = step(h, l, alpha, beta, gamma, delta, 1.0 / steps)
        points.append((h, l))
    return points
