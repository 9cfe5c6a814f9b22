"""The derivative of `model.loss` by hand: what a careful person writes without zyg, in Python."""

from __future__ import annotations

import math

import numpy as np


def loss_and_gradient(q, hare, lynx, steps, gradient):
    """The loss; its gradient by `q` is written into `gradient`. Keeps the state at every stage of every step."""
    alpha = math.exp(q[0])
    beta = math.exp(q[1])
    gamma = math.exp(q[2])
    delta = math.exp(q[3])
    h = math.exp(q[4])
    l = math.exp(q[5])
    years = len(hare)
    dt = 1.0 / steps
    d2 = 0.5 * dt
    d6 = dt / 6.0
    tape = np.empty(((years - 1) * steps + 1, 8))
    error_h = np.empty(years)
    error_l = np.empty(years)
    total = 0.0
    k = 0
    for year in range(years):
        if year > 0:
            for _ in range(steps):
                h1 = (alpha - beta * l) * h
                l1 = (delta * h - gamma) * l
                ha = h + d2 * h1
                la = l + d2 * l1
                h2 = (alpha - beta * la) * ha
                l2 = (delta * ha - gamma) * la
                hb = h + d2 * h2
                lb = l + d2 * l2
                h3 = (alpha - beta * lb) * hb
                l3 = (delta * hb - gamma) * lb
                hc = h + dt * h3
                lc = l + dt * l3
                h4 = (alpha - beta * lc) * hc
                l4 = (delta * hc - gamma) * lc
                tape[k, 0] = h
                tape[k, 1] = l
                tape[k, 2] = ha
                tape[k, 3] = la
                tape[k, 4] = hb
                tape[k, 5] = lb
                tape[k, 6] = hc
                tape[k, 7] = lc
                k += 1
                h += d6 * (h1 + 2.0 * h2 + 2.0 * h3 + h4)
                l += d6 * (l1 + 2.0 * l2 + 2.0 * l3 + l4)
        eh = math.log(h / hare[year])
        el = math.log(l / lynx[year])
        total += eh**2 + el**2
        error_h[year] = 2.0 * eh / h
        error_l[year] = 2.0 * el / l
    ch = 0.0  # the cotangents of h, l and the rates
    cl = 0.0
    ca = 0.0
    cb = 0.0
    cg = 0.0
    cd = 0.0
    for back in range(years):
        year = years - 1 - back
        ch += error_h[year]
        cl += error_l[year]
        if year > 0:
            for _ in range(steps):
                k -= 1
                sh = ch
                sl = cl
                kh = d6 * ch  # of the fourth slope
                kl = d6 * cl
                for stage in range(4):
                    x = tape[k, 6 - 2 * stage]
                    y = tape[k, 7 - 2 * stage]
                    gh = kh * (alpha - beta * y) + kl * delta * y
                    gl = kl * (delta * x - gamma) - kh * beta * x
                    ca += kh * x
                    cb -= kh * x * y
                    cg -= kl * y
                    cd += kl * x * y
                    sh += gh
                    sl += gl
                    weight = dt if stage == 0 else d2
                    outer = d6 if stage == 2 else 2.0 * d6
                    kh = outer * ch + weight * gh
                    kl = outer * cl + weight * gl
                ch = sh
                cl = sl
    gradient[0] = ca * alpha
    gradient[1] = cb * beta
    gradient[2] = cg * gamma
    gradient[3] = cd * delta
    gradient[4] = ch * math.exp(q[4])
    gradient[5] = cl * math.exp(q[5])
    return total
