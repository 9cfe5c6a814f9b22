"""Ordinary programs with NumPy of 23 to 30 lines, which others wrote as they come to mind: physics, statistics, learning, signals, finance.
Their compilation is timed (sections/compiling.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .compiled import Program, with_copies

PROGRAMS: dict[str, Program] = {}
_draw = np.random.default_rng(1)


def program(*args: Any, needs: str = "") -> Callable[[Any], Any]:
    """`needs`: the package beside NumPy that it uses."""

    def register(function: Any) -> Any:
        PROGRAMS[function.__name__.replace("_", " ")] = with_copies(function, args)._replace(needs=needs)
        return function

    return register


@program(_draw.uniform(0, 5, (12, 3)), _draw.normal(size=(12, 3)), 5.0)
def lennard_jones(pos, vel, box):
    """Energy, pressure and angular momentum of particles in a periodic box."""
    eps = 1.2
    sigma = 0.9
    mass = 1.5
    n = pos.shape[0]
    cutoff = 0.5 * box
    delta = pos[:, None, :] - pos[None, :, :]
    delta = delta - box * np.round(delta / box)
    r2 = np.sum(delta**2, axis=-1)
    iu, ju = np.triu_indices(n, k=1)
    d2 = r2[iu, ju] + 0.3
    inside = d2 < cutoff**2
    s6 = (sigma**2 / d2) ** 3
    pair = 4.0 * eps * (s6**2 - s6)
    shift = (sigma / cutoff) ** 6
    shift = 4.0 * eps * (shift**2 - shift)
    potential = np.sum(np.where(inside, pair - shift, 0.0))
    vcm = vel.mean(axis=0)
    rel = vel - vcm
    kinetic = 0.5 * mass * np.sum(rel * rel)
    temperature = 2.0 * kinetic / (3.0 * (n - 1))
    dist = np.sqrt(d2)
    force = 24.0 * eps * (2.0 * s6**2 - s6) / dist
    virial = np.sum(np.where(inside, force * dist, 0.0))
    pressure = (n * temperature + virial / 3.0) / box**3
    angular = np.cross(pos, mass * rel).sum(axis=0)
    return potential + kinetic + 0.1 * pressure + 0.01 * np.linalg.norm(angular)


@program(_draw.normal(size=6), _draw.normal(size=(40, 6)), _draw.normal(size=40), 0.3)
def student_regression(beta, X, y, log_scale):
    """A robust regression with an elastic net, and how many parameters it has in effect."""
    nu = 4.0
    lam = 0.1
    alpha = 0.7
    n, p = X.shape
    mean = X.mean(axis=0)
    std = X.std(axis=0, ddof=1)
    Z = (X - mean) / std
    center = y - np.median(y)
    scale = np.exp(log_scale)
    resid = center - Z @ beta
    standardized = resid / scale
    loglik = -0.5 * (nu + 1.0) * np.log1p(standardized**2 / nu)
    loglik = loglik.sum() - n * log_scale
    l1 = np.sum(np.sqrt(beta**2 + 1e-6))
    l2 = 0.5 * np.sum(beta**2)
    penalty = lam * (alpha * l1 + (1 - alpha) * l2)
    weights = (nu + 1.0) / (nu + standardized**2)
    W = Z.T * weights
    info = W @ Z + 0.1 * np.eye(p)
    _sign, logdet = np.linalg.slogdet(info)
    effective = np.trace(np.linalg.solve(info, Z.T @ Z))
    bic = np.log(n) * effective
    lev = np.einsum("ij,jk,ik->i", Z, np.linalg.inv(info), Z)
    return -loglik + n * penalty + 0.5 * logdet + 0.01 * bic + lev.max()


@program(
    _draw.normal(size=(8, 16)) * 0.3,
    np.zeros(16),
    _draw.normal(size=(16, 5)) * 0.3,
    np.zeros(5),
    _draw.normal(size=(20, 8)),
    _draw.integers(0, 5, 20),
)
def mlp(W1, b1, W2, b2, X, labels):
    """A network with a normalised layer and smoothed labels."""
    eps = 1e-5
    h = X @ W1 + b1
    mu = h.mean(axis=1, keepdims=True)
    var = h.var(axis=1, keepdims=True)
    h = (h - mu) / np.sqrt(var + eps)
    inner = np.sqrt(2 / np.pi) * (h + 0.044715 * h**3)
    h = 0.5 * h * (1.0 + np.tanh(inner))
    logits = h @ W2 + b2
    top = logits.max(axis=1, keepdims=True)
    shifted = logits - top
    logz = np.log(np.exp(shifted).sum(axis=1))
    picked = shifted[np.arange(len(labels)), labels]
    nll = np.mean(logz - picked)
    probs = np.exp(shifted - logz[:, None])
    entropy = -np.sum(probs * np.log(probs + 1e-12), axis=1).mean()
    onehot = np.eye(5)[labels]
    brier = np.mean(np.sum((probs - onehot) ** 2, axis=1))
    smooth = 0.1
    target = (1 - smooth) * onehot + smooth / 5
    ce = -(target * (shifted - logz[:, None])).sum(axis=1).mean()
    decay = 1e-3 * (np.sum(W1**2) + np.sum(W2**2))
    return nll + ce + decay - 0.01 * entropy + 0.1 * brier


@program(_draw.normal(size=128), _draw.normal(size=128), 8.0)
def spectral(x, ref, width):
    """What the spectra of two signals have in common."""
    n = x.size
    t = np.arange(n) - (n - 1) / 2
    window = np.exp(-0.5 * (t / (width * 4)) ** 2)
    window /= window.sum()
    xw = x * window
    rw = ref * window
    X = np.fft.rfft(xw)
    Y = np.fft.rfft(rw)
    px = np.abs(X) ** 2
    py = np.abs(Y) ** 2
    freqs = np.fft.rfftfreq(n, d=0.01)
    centroid_x = np.sum(freqs * px) / np.sum(px)
    centroid_y = np.sum(freqs * py) / np.sum(py)
    logdiff = np.log(px + 1e-4) - np.log(py + 1e-4)
    spread = np.sqrt(np.sum((freqs - centroid_x) ** 2 * px) / px.sum())
    coh = np.abs(np.sum(X * np.conj(Y))) / np.sqrt(px.sum() * py.sum())
    kernel = np.array([0.25, 0.5, 0.25])
    lp = np.convolve(x, kernel, mode="same")
    hp = x - lp
    energy = np.mean(hp**2)
    env = np.sqrt(np.convolve(x**2, np.ones(9) / 9, mode="valid") + 1e-6)
    flat = np.exp(np.mean(np.log(px + 1e-6))) / np.mean(px)
    return np.mean(logdiff**2) + 0.1 * (centroid_x - centroid_y) ** 2 + spread + energy - coh + env.std() + flat


@program(_draw.normal(size=(4, 4)) * 0.4, _draw.normal(size=(4, 2)), np.eye(4), np.eye(2))
def riccati(A, B, Q, Rm):
    """A linear regulator: Riccati's equation iterated, then a path."""
    Pm = Q.copy()
    gain = np.zeros((B.shape[1], A.shape[0]))
    for _ in range(15):
        BtP = B.T @ Pm
        S = Rm + BtP @ B
        gain = np.linalg.solve(S, BtP @ A)
        Pnew = Q + A.T @ Pm @ (A - B @ gain)
        Pnew = 0.5 * (Pnew + Pnew.T)
        change = np.max(np.abs(Pnew - Pm))
        Pm = Pnew
        if change < 1e-9:
            break
    closed = A - B @ gain
    x = np.ones(A.shape[0])
    cost = 0.0
    path = np.empty((20, A.shape[0]))
    for t in range(20):
        u = -gain @ x
        cost += x @ Q @ x + u @ Rm @ u
        path[t] = x
        x = closed @ x
    w = np.linalg.eigvalsh(Pm)
    cond = w[-1] / w[0]
    spread = np.linalg.norm(path, axis=1)
    return cost + 0.1 * np.log(cond) + np.sum(spread[1:] / (1 + spread[:-1])) + np.trace(Pm)


@program(np.log(np.array([1.0, 0.7, 1.3])), -0.2, -1.5, _draw.normal(size=(25, 3)), _draw.normal(size=25))
def gp_ard(loglen, logamp, lognoise, X, y):
    """A Gaussian process with a length for each dimension; leave-one-out residues."""
    n, _d = X.shape
    ell = np.exp(loglen)
    Z = X / ell
    sq = np.sum(Z**2, axis=1)
    D2 = sq[:, None] + sq[None, :] - 2.0 * Z @ Z.T
    D2 = np.maximum(D2, 0.0)
    amp2 = np.exp(2.0 * logamp)
    noise2 = np.exp(2.0 * lognoise)
    r_ = np.sqrt(D2 + 1e-10)
    s5 = np.sqrt(5.0) * r_
    K = amp2 * (1.0 + s5 + s5**2 / 3.0) * np.exp(-s5)
    K = K + noise2 * np.eye(n)
    L = np.linalg.cholesky(K)
    alpha = np.linalg.solve(L.T, np.linalg.solve(L, y))
    fit = -0.5 * np.dot(y, alpha)
    complexity = -np.log(np.diagonal(L)).sum()
    const = -0.5 * n * np.log(2.0 * np.pi)
    Kinv = np.linalg.inv(K)
    loo_var = 1.0 / np.diag(Kinv)
    loo_mean = y - alpha * loo_var
    loo = -0.5 * np.mean(np.log(loo_var) + (y - loo_mean) ** 2 / loo_var)
    prior = -0.5 * np.sum(loglen**2) - 0.5 * logamp**2
    return -(fit + complexity + const) - 0.1 * loo - prior


@program(
    _draw.normal(size=(4, 4)),
    _draw.normal(size=4),
    _draw.normal(size=4),
    _draw.normal(size=4) * 0.1,
    _draw.normal(size=50),
)
def hmm(T, pi, mu, logsig, obs):
    """A hidden Markov model, forwards."""
    A = T - T.max(axis=1, keepdims=True)
    A = A - np.log(np.sum(np.exp(A), axis=1, keepdims=True))
    p0 = pi - np.log(np.sum(np.exp(pi)))
    sigma = np.exp(logsig)
    z = (obs[:, np.newaxis] - mu) / sigma
    emis = -0.5 * z**2 - np.log(sigma) - 0.5 * np.log(2 * np.pi)
    n = len(obs)
    k = len(mu)
    alpha = np.zeros((n, k))
    alpha[0] = p0 + emis[0]
    for t in range(1, n):
        s = alpha[t - 1][:, None] + A
        m = s.max(axis=0)
        alpha[t] = m + np.log(np.exp(s - m).sum(axis=0)) + emis[t]
    last = alpha[-1]
    top = last.max()
    loglik = top + np.log(np.exp(last - top).sum())
    post = np.exp(alpha - alpha.max(axis=1, keepdims=True))
    post /= post.sum(axis=1, keepdims=True)
    usage = post.mean(axis=0)
    ent = -np.sum(usage * np.log(usage))
    jumps = np.sum(np.abs(np.diff(post, axis=0)))
    return -loglik - ent + 0.01 * jumps


@program(1.0 + 0.1 * np.exp(-(np.linspace(-3, 2.8, 60) ** 2)), np.zeros(60), 0.02, 9.81)
def shallow_water(h, u, dt, g):
    """Shallow water on a ring, by steps in place."""
    n = len(h)
    dx = 1.0
    h = h.copy()
    u = u.copy()
    flux = np.zeros(n + 1)
    energy0 = np.sum(0.5 * h * u**2 + 0.5 * g * h**2)
    mass0 = h.sum()
    for _ in range(20):
        hm = 0.5 * (h + np.roll(h, 1))
        um = 0.5 * (u + np.roll(u, -1))
        flux[:-1] = hm * u
        flux[-1] = flux[0]
        h -= dt / dx * np.diff(flux)
        grad = (np.roll(h, -1) - np.roll(h, 1)) / (2 * dx)
        adv = u * (np.roll(u, -1) - np.roll(u, 1)) / (2 * dx)
        u -= dt * (g * grad + adv)
        u[0] = 0.0
        u[-1] = 0.0
        u[1:-1] += 0.05 * (u[2:] - 2 * u[1:-1] + u[:-2])
    energy = np.sum(0.5 * h * u**2 + 0.5 * g * h**2)
    mass = h.sum()
    crest = np.max(h)
    rough = np.sum(np.gradient(h, dx) ** 2)
    mean_um = np.mean(um)
    return energy / energy0 + (mass - mass0) ** 2 + crest + rough + mean_um


@program(_draw.normal(size=(16, 6)), _draw.normal(size=(16, 6)), _draw.normal(size=(4, 6)), 0.5)
def contrastive(a, b, centers, temp):
    """A contrastive loss, with soft clusters."""
    na = a / np.linalg.norm(a, axis=1, keepdims=True)
    nb = b / np.linalg.norm(b, axis=1, keepdims=True)
    sim = na @ nb.T / temp
    n = sim.shape[0]
    m1 = np.max(sim, axis=1)
    m0 = np.max(sim, axis=0)
    lse1 = m1 + np.log(np.sum(np.exp(sim - m1[:, None]), axis=1))
    lse0 = m0 + np.log(np.sum(np.exp(sim - m0[None, :]), axis=0))
    pos = np.diag(sim)
    loss = 0.5 * np.mean(lse1 - pos) + 0.5 * np.mean(lse0 - pos)
    d = np.sum((na[:, None] - centers[None]) ** 2, axis=2)
    q = 1.0 / (1.0 + d)
    q = q / q.sum(axis=1, keepdims=True)
    f = q**2 / q.sum(axis=0)
    p = f / np.sum(f, axis=1, keepdims=True)
    kl = np.sum(p * np.log(p / q)) / n
    hard = np.argmin(d, axis=1)
    inertia = d[np.arange(n), hard].mean()
    cov = np.cov(na, rowvar=False)
    off = cov - np.diag(np.diag(cov))
    whiten = np.sum(off**2)
    margin = np.clip(0.2 - (pos - sim.mean(axis=1)), 0, None)
    return loss + kl + 0.1 * inertia + whiten + margin.sum()


@program(100.0, 0.2, 0.05, _draw.normal(size=(50, 12)), np.array([90.0, 100.0, 110.0]))
def asian_option(s0, vol, rate, noise, strikes):
    """Asian options by drawn paths, with drawdowns."""
    n, steps = noise.shape
    T = 1.0
    dt = T / steps
    drift = (rate - 0.5 * vol**2) * dt
    inc = drift + vol * np.sqrt(dt) * noise
    logs = np.cumsum(inc, axis=1)
    paths = s0 * np.exp(logs)
    paths = np.concatenate([np.full((n, 1), s0), paths], axis=1)
    avg = paths[:, 1:].mean(axis=1)
    geo = np.exp(np.log(paths[:, 1:]).mean(axis=1))
    disc = np.exp(-rate * T)
    width = 1.0
    pay = avg[:, None] - strikes[None, :]
    soft = width * np.logaddexp(0.0, pay / width)
    price = disc * soft.mean(axis=0)
    paygeo = width * np.logaddexp(0.0, (geo[:, None] - strikes) / width)
    price_geo = disc * paygeo.mean(axis=0)
    err = disc * soft.std(axis=0) / np.sqrt(n)
    peak = np.maximum.accumulate(paths, axis=1)
    drawdown = np.max((peak - paths) / peak, axis=1)
    rets = np.diff(np.log(paths), axis=1)
    realized = np.sqrt(np.sum(rets**2, axis=1) / T)
    return price.sum() - 0.5 * price_geo.sum() + err.mean() + drawdown.mean() + realized.mean()


@program(_draw.normal(size=10), 0.7, 0.2, 1.3)
def tight_binding(onsite, hop, mag, beta):
    """A chain of sites at a temperature, by eigenvectors."""
    n = len(onsite)
    H = np.zeros((n, n))
    idx = np.arange(n)
    H[idx, idx] = onsite + mag * np.cos(2 * np.pi * idx * 0.618)
    H[idx[:-1], idx[1:]] = -hop
    H[idx[1:], idx[:-1]] = -hop
    H[0, -1] += -0.5 * hop
    H[-1, 0] += -0.5 * hop
    e, v = np.linalg.eigh(H)
    mu = 0.5 * (e[n // 2 - 1] + e[n // 2])
    x = beta * (e - mu)
    occ = 1.0 / (1.0 + np.exp(x))
    energy = np.sum(occ * e)
    s = -(occ * np.log(occ) + (1 - occ) * np.log(1 - occ)).sum()
    free = energy - s / beta
    rho = (v * occ) @ v.T
    density = np.diag(rho)
    current = 2 * hop * np.sum(rho[idx[:-1], idx[1:]])
    ipr = np.sum(v**4, axis=0)
    gap = np.min(np.diff(e))
    mean = density.mean()
    fluct = np.sqrt(np.mean((density - mean) ** 2))
    hartree = 0.5 * np.sum(np.triu(np.outer(density, density), 1))
    return free + 0.1 * hartree + fluct + ipr @ occ - 0.01 * gap + current


@program(
    _draw.normal(size=5),
    _draw.normal(size=8) * 0.2,
    -0.5,
    _draw.normal(size=(60, 5)),
    _draw.integers(0, 8, 60),
    _draw.integers(0, 2, 60).astype(float),
    needs="scipy",
)
def mixed_logistic(beta, u, logtau, X, group, y):
    """A logistic regression with groups, and functions of scipy.special."""
    from scipy import special

    tau = np.exp(logtau)
    eta = X @ beta + tau * u[group]
    p = special.expit(eta)
    ll = np.sum(special.xlogy(y, p) + special.xlog1py(1 - y, -p))
    prior_u = -0.5 * np.sum(u**2) - u.size * 0.5 * np.log(2 * np.pi)
    prior_b = -0.5 * np.sum((beta / 2.5) ** 2)
    prior_t = -np.log1p(tau**2)
    counts = np.bincount(group, minlength=8)
    sums = np.zeros(8)
    np.add.at(sums, group, y - p)
    rate = sums / np.maximum(counts, 1)
    bayes = np.sum(special.gammaln(counts + 1.0) - special.gammaln(1.0 + counts * tau))
    probit = special.ndtr(eta / 1.7)
    gap = np.abs(probit - p).max()
    order = np.argsort(p)
    cum = np.cumsum(y[order] - p[order])
    ks = np.max(np.abs(cum)) / len(y)
    brier = np.mean((p - y) ** 2)
    lse = special.logsumexp(eta)
    sharp = np.mean(p * (1 - p))
    return (
        -(ll + prior_u + prior_b + prior_t)
        + 0.1 * np.sum(rate**2)
        + gap
        + ks
        + brier
        + 0.01 * lse
        - sharp
        + 0.01 * bayes
    )


@program(_draw.normal(size=80), _draw.normal(size=4) * 0.2)
def ar_model(x, coef):
    """An autoregressive model, its spectrum and its residues."""
    n = len(x)
    p = len(coef)
    xc = x - x.mean()
    lagged = np.column_stack([xc[p - k - 1 : n - k - 1] for k in range(p)])
    target = xc[p:]
    resid = target - lagged @ coef
    sigma2 = np.mean(resid**2)
    nll = 0.5 * (n - p) * (np.log(2 * np.pi * sigma2) + 1)
    full = np.correlate(xc, xc, mode="full") / n
    acf = full[n - 1 : n + p]
    toep = acf[np.abs(np.subtract.outer(np.arange(p), np.arange(p)))]
    yw = np.linalg.solve(toep, acf[1:])
    mismatch = np.sum((coef - yw) ** 2)
    w = np.linspace(0, np.pi, 33)
    phase = np.exp(-1j * np.outer(w, np.arange(1, p + 1)))
    transfer = 1.0 - phase @ coef
    psd = sigma2 / np.abs(transfer) ** 2
    logpsd = np.log(psd)
    flat = np.exp(logpsd.mean()) / psd.mean()
    total = np.trapezoid(psd, w) / np.pi
    rho = np.corrcoef(resid[1:], resid[:-1])[0, 1]
    dw = np.sum(np.diff(resid) ** 2) / np.sum(resid**2)
    return nll + mismatch + total - flat + rho**2 + (dw - 2) ** 2


@program(_draw.normal(size=(5, 3)) * 0.5, np.ones(5), np.array([1.0, 2.0, 1.0]))
def kinematics(rotvecs, lengths, goal):
    """A chain of rotations that reaches for a goal and keeps out of a ball."""
    pose = np.eye(3)
    pos = np.zeros(3)
    points = []
    for w, l in zip(rotvecs, lengths):
        theta = np.sqrt(np.sum(w**2) + 1e-12)
        k = w / theta
        K = np.array([[0.0, -k[2], k[1]], [k[2], 0.0, -k[0]], [-k[1], k[0], 0.0]])
        Rm = np.eye(3) + np.sin(theta) * K + (1 - np.cos(theta)) * K @ K
        pose = pose @ Rm
        pos = pos + l * pose[:, 0]
        points.append(pos)
    pts = np.stack(points)
    err = pts[-1] - goal
    reach = np.sqrt(err @ err)
    ortho = np.linalg.norm(pose.T @ pose - np.eye(3))
    obstacle = np.array([0.5, 0.5, 0.5])
    d = np.linalg.norm(pts - obstacle, axis=1)
    barrier = np.sum(np.where(d < 1.0, (1.0 - d) ** 2, 0.0))
    com = np.average(pts, axis=0, weights=lengths)
    height = pts[:, 2]
    floor = np.sum(np.minimum(height, 0.0) ** 2)
    smooth = np.sum((rotvecs[1:] - rotvecs[:-1]) ** 2)
    detp = np.linalg.det(pose)
    return reach + barrier + 0.1 * smooth + floor + com[2] ** 2 + ortho + (detp - 1) ** 2


@program(_draw.normal(size=(16, 16)), _draw.normal(size=(16, 16)), _draw.normal(size=(3, 3)) * 0.3)
def image(img, noisy, kern):
    """An image: filtered, pooled, with total variation and a histogram."""
    h, w = img.shape
    padded = np.pad(img, 1, mode="edge")
    out = np.zeros_like(img)
    for i in range(3):
        for j in range(3):
            out += kern[i, j] * padded[i : i + h, j : j + w]
    fit = 0.5 * np.sum((out - noisy) ** 2)
    dx = np.diff(img, axis=1)
    dy = np.diff(img, axis=0)
    tv = np.sum(np.sqrt(dx[:-1] ** 2 + dy[:, :-1] ** 2 + 1e-3))
    pooled = img.reshape(h // 2, 2, w // 2, 2).max(axis=(1, 3))
    mean = img.reshape(h // 4, 4, w // 4, 4).mean(axis=(1, 3))
    up = np.repeat(np.repeat(mean, 4, axis=0), 4, axis=1)
    detail = img - up
    contrast = np.std(detail)
    act = np.maximum(out, 0.1 * out)
    sat = np.mean(np.clip(act, -1.0, 1.0))
    flipped = img[::-1, ::-1]
    sym = np.mean((img - flipped) ** 2)
    lap = 4 * img[1:-1, 1:-1] - img[2:, 1:-1] - img[:-2, 1:-1] - img[1:-1, 2:] - img[1:-1, :-2]
    bend = np.abs(lap).mean()
    hist = 1 / (1 + np.exp(-10 * (img[..., None] - np.linspace(-1, 1, 4))))
    levels = hist.mean(axis=(0, 1))
    return fit + tv + pooled.sum() + contrast + sat + sym + bend + np.sum(np.diff(levels) ** 2)


@program(np.log(np.array([0.5, 0.3, 0.2])), np.array([1.0, 0.5, 0.0, 0.0]), _draw.uniform(size=(10, 4)))
def kinetics(logk, y0, data):
    """Reactions by Runge and Kutta's steps."""
    k = np.exp(logk)
    S = np.array([[-1.0, 0.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [0.0, 0.0, 1.0]])
    order = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0]])

    def rhs(y):
        rates = k * np.prod(np.where(order > 0, (y + 1e-9) ** order, 1.0), axis=1)
        return S @ rates

    dt = 0.1
    y = y0
    out = np.empty_like(data)
    for step in range(len(data)):
        for _ in range(3):
            k1 = rhs(y)
            k2 = rhs(y + 0.5 * dt * k1)
            k3 = rhs(y + 0.5 * dt * k2)
            k4 = rhs(y + dt * k3)
            y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        out[step] = y
    resid = out - data
    scale = np.abs(data).mean(axis=0) + 0.1
    chi2 = np.sum((resid / scale) ** 2)
    total = out.sum(axis=1)
    drift = np.ptp(total)
    final = out[-1] / out[-1].sum()
    ent = -np.sum(final * np.log(final + 1e-12))
    return chi2 + drift + 0.1 * ent + 0.01 * np.linalg.norm(logk)


@program(_draw.normal(size=(30, 6)), _draw.normal(size=(6, 2)), _draw.normal(size=6) * 0.1)
def factor_analysis(X, W, logpsi):
    """Factors by inverses, determinants and singular values."""
    n, d = X.shape
    q = W.shape[1]
    Xc = X - np.mean(X, axis=0)
    S = Xc.T @ Xc / n
    psi = np.exp(logpsi)
    C = W @ W.T + np.diag(psi)
    _sign, logdet = np.linalg.slogdet(C)
    Cinv = np.linalg.inv(C)
    nll = 0.5 * n * (d * np.log(2 * np.pi) + logdet + np.trace(Cinv @ S))
    M = np.eye(q) + (W.T / psi) @ W
    Z = np.linalg.solve(M, (W.T / psi) @ Xc.T).T
    recon = Z @ W.T
    err = np.mean((Xc - recon) ** 2)
    s = np.linalg.svd(Xc, compute_uv=False)
    explained = s**2 / np.sum(s**2)
    top = explained[:q].sum()
    U, sv, _Vt = np.linalg.svd(W, full_matrices=False)
    proj = Xc @ U
    kurt = np.mean(((proj - proj.mean(0)) / proj.std(0)) ** 4, axis=0) - 3.0
    rot = np.sum(W**4) - np.sum(np.sum(W**2, axis=0) ** 2) / d
    nuclear = sv.sum()
    return nll / n + err - top + 0.1 * np.sum(np.abs(kurt)) - 0.01 * rot + 0.1 * nuclear


@program(np.array([0.3, -0.2]), _draw.normal(size=(5, 2)), np.ones(5) * 0.2, 0.02)
def orbit(v0, planets, masses, dt):
    """An orbit among fixed masses, kept in lists."""
    G = 1.0
    soft = 0.05
    pos = np.array([0.1, 0.2])
    vel = v0.copy()
    traj = []
    energy = []
    for _ in range(40):
        d = planets - pos
        r2 = np.sum(d * d, axis=1) + soft**2
        inv3 = r2**-1.5
        acc = G * np.sum((masses * inv3)[:, None] * d, axis=0)
        vel = vel + dt * acc
        pos = pos + dt * vel
        pot = -G * np.sum(masses / np.sqrt(r2))
        energy.append(0.5 * vel @ vel + pot)
        traj.append(pos.copy())
    traj = np.array(traj)
    energy = np.asarray(energy)
    center = traj.mean(axis=0)
    spread = np.sqrt(((traj - center) ** 2).sum(axis=1)).max()
    steps = np.linalg.norm(np.diff(traj, axis=0), axis=1)
    length = steps.sum()
    heading = np.unwrap(np.arctan2(traj[:, 1], traj[:, 0]))
    turns = heading[-1] - heading[0]
    drift = np.abs(energy - energy[0]).mean()
    return spread + length + 0.1 * turns + drift


@program(_draw.normal(size=8) * 0.1, _draw.normal(size=200), 0.05)
def lms_filter(w0, signal, mu):
    """An adaptive filter, sample by sample."""
    taps = len(w0)
    n = len(signal)
    w = w0.copy()
    errors = np.zeros(n - taps)
    norms = np.zeros(n - taps)
    outputs = np.zeros(n - taps)
    for t in range(n - taps):
        window = signal[t : t + taps][::-1]
        y = w @ window
        e = signal[t + taps] - y
        power = window @ window + 1e-3
        w = w + mu * e * window / power
        errors[t] = e
        outputs[t] = y
        norms[t] = np.linalg.norm(w)
    mse = np.mean(errors**2)
    tail = np.mean(errors[-20:] ** 2)
    half = len(errors) // 2
    ratio = np.var(errors[half:]) / np.var(errors[:half])
    clipped = np.clip(outputs, -1.0, 1.0)
    snr = 10 * np.log10(np.sum(signal[taps:] ** 2) / np.sum(errors**2))
    peak = np.max(np.abs(w))
    smooth = np.sum(np.diff(norms) ** 2)
    rms = np.sqrt(np.mean(np.square(clipped)))
    return mse + tail + 0.1 * ratio - 0.01 * snr + peak + smooth + rms


@program(_draw.normal(size=(3, 2)), np.zeros((3, 2)), np.array([0.2, 0.3, 0.5]), _draw.normal(size=(50, 2)))
def mixture_and_means(mu, logs, pi, X):
    """A mixture of Gaussians with the means that its responsibilities give."""
    n, d = X.shape
    k = len(pi)
    w = np.exp(pi) / np.sum(np.exp(pi))
    diff = X[:, None, :] - mu[None, :, :]
    z = diff * np.exp(-logs)
    quad = -0.5 * np.sum(z**2, axis=2)
    norm = -logs.sum(axis=1) - 0.5 * d * np.log(2 * np.pi)
    logp = quad + norm + np.log(w)
    m = np.max(logp, axis=1, keepdims=True)
    lse = m[:, 0] + np.log(np.sum(np.exp(logp - m), axis=1))
    resp = np.exp(logp - lse[:, None])
    nk = resp.sum(axis=0)
    means = resp.T @ X / nk[:, None]
    shift = np.sum((means - mu) ** 2)
    entropy = -np.sum(resp * np.log(resp + 1e-12)) / n
    var = np.empty_like(mu)
    for j in range(k):
        c = X - means[j]
        var[j] = resp[:, j] @ c**2 / nk[j]
    sep = 0.0
    for a in range(k):
        for b in range(a):
            sep += np.exp(-np.sum((mu[a] - mu[b]) ** 2))
    prior = np.sum(logs**2) + np.sum((nk / n - 1 / k) ** 2)
    hard = resp.max(axis=1).mean()
    return -lse.mean() + 0.1 * shift + 0.1 * entropy + sep + 0.01 * prior + np.log(var).mean() - hard


@program(
    _draw.normal(size=(10, 4)) * 0.5,
    _draw.normal(size=(8, 4)) * 0.5,
    np.zeros(10),
    np.zeros(8),
    _draw.integers(0, 10, 60),
    _draw.integers(0, 8, 60),
    _draw.normal(size=60),
)
def recommender(U, V, bu, bv, users, items, ratings):
    """Factors of a table of ratings, by lists of indices and counts."""
    lam = 0.05
    mean = ratings.mean()
    pu = U[users]
    qv = V[items]
    pred = mean + bu[users] + bv[items] + np.sum(pu * qv, axis=1)
    err = ratings - pred
    delta = 1.0
    small = np.abs(err) <= delta
    huber = np.where(small, 0.5 * err**2, delta * (np.abs(err) - 0.5 * delta))
    data = huber.mean()
    reg = lam * (np.sum(U**2) + np.sum(V**2) + bu @ bu + bv @ bv)
    scores = U @ V.T + bu[:, None] + bv
    prob = np.exp(scores - scores.max(axis=1, keepdims=True))
    prob = prob / prob.sum(axis=1, keepdims=True)
    pop = prob.mean(axis=0)
    diversity = -np.sum(pop * np.log(pop))
    gram = V.T @ V
    ortho = np.sum((gram - np.diag(np.diag(gram))) ** 2)
    counts = np.bincount(users, minlength=U.shape[0])
    per_user = np.bincount(users, weights=err**2, minlength=U.shape[0])
    rmse = np.sqrt(per_user / np.maximum(counts, 1) + 1e-9)
    fair = rmse.std()
    worst = np.max(rmse)
    rank = np.linalg.norm(scores)
    return data + reg - 0.1 * diversity + 0.01 * ortho + fair + 0.1 * worst + 1e-3 * rank


@program(_draw.normal(size=20) * 0.1, np.ones(20) * 0.5, 1.0, _draw.normal(size=20))
def heat_implicit(u0, kappa, T, obs):
    """A heat equation by implicit steps."""
    n = len(u0)
    dx = 1.0 / (n + 1)
    steps = 10
    dt = T / steps * 0.01
    x = np.linspace(dx, 1 - dx, n)
    face = 0.5 * (kappa[1:] + kappa[:-1])
    main = np.zeros(n)
    main[1:] += face
    main[:-1] += face
    main[0] += kappa[0]
    main[-1] += kappa[-1]
    A = np.diag(main) - np.diag(face, 1) - np.diag(face, -1)
    A = A / dx**2
    I = np.eye(n)
    lhs = I + 0.5 * dt * A
    rhs = I - 0.5 * dt * A
    u = u0 + np.sin(np.pi * x)
    total = 0.0
    for k in range(steps):
        source = np.exp(-50 * (x - 0.5) ** 2) * np.cos(k * dt)
        u = np.linalg.solve(lhs, rhs @ u + dt * source)
        total += dx * np.sum(u)
    misfit = 0.5 * np.sum((u - obs) ** 2)
    flux = -kappa * np.gradient(u, dx)
    rough = np.sum(np.diff(kappa) ** 2)
    return misfit + 0.1 * total + 1e-3 * np.sum(flux**2) + rough + u.max()


@program(
    _draw.normal(size=(4, 6)) * 0.3,
    _draw.normal(size=(4, 4)) * 0.3,
    np.zeros(4),
    _draw.normal(size=(4, 2)) * 0.3,
    _draw.normal(size=(15, 6)),
    _draw.normal(size=(15, 2)),
)
def rnn(Wx, Wh, b, Wo, xs, ys):
    """A recurrent network with gates; singular values of its weights."""
    h = np.zeros(Wh.shape[0])
    c = np.zeros_like(h)
    hs = np.zeros((len(xs), len(h)))
    loss = 0.0
    for t in range(len(xs)):
        z = Wx @ xs[t] + Wh @ h + b
        gate = 1.0 / (1.0 + np.exp(-z))
        cand = np.tanh(z)
        c = gate * c + (1.0 - gate) * cand
        h = gate * np.tanh(c)
        if t % 5 == 4:
            h = h * 0.9
        hs[t] = h
        out = h @ Wo
        err = out - ys[t]
        loss += 0.5 * err @ err
    loss /= len(xs)
    act = np.mean(hs**2)
    tar = np.mean((hs[1:] - hs[:-1]) ** 2)
    _q, rr = np.linalg.qr(Wh)
    vol = np.sum(np.log(np.abs(np.diag(rr))))
    sing = np.linalg.svd(Wh, compute_uv=False)
    spectral = np.maximum(sing - 1.0, 0.0).sum()
    decor = np.corrcoef(hs.T)
    off = np.sum(np.tril(decor, -1) ** 2)
    return loss + 0.1 * act + 0.1 * tar - 0.01 * vol + spectral + 0.01 * off


@program(_draw.normal(size=5), _draw.normal(size=(5, 5)), _draw.normal(size=(5, 3)), 0.5)
def portfolio(logits, root, factors, aversion):
    """Weights of a portfolio, their risks, and the eigenvalues of correlations."""
    n = len(logits)
    w = np.exp(logits - logits.max())
    w = w / w.sum()
    cov = root @ root.T / n + 0.1 * np.eye(n)
    vol = np.sqrt(np.diag(cov))
    corr = cov / np.outer(vol, vol)
    mean = factors.mean(axis=1)
    ret = w @ mean
    var = w @ cov @ w
    sd = np.sqrt(var)
    marginal = cov @ w / sd
    contrib = w * marginal
    budget = np.full(n, 1.0 / n)
    parity = np.sum((contrib / sd - budget) ** 2)
    inv = np.linalg.inv(cov)
    ones = np.ones(n)
    wmin = inv @ ones / (ones @ inv @ ones)
    dist = np.sum(np.abs(w - wmin))
    eig = np.linalg.eigvalsh(corr)
    share = eig[-1] / eig.sum()
    hhi = np.sum(w**2)
    exposure = factors.T @ w
    neutral = np.linalg.norm(exposure)
    ordered = np.sort(w)[::-1]
    top = np.cumsum(ordered)[1]
    return -ret + aversion * var + parity + 0.1 * dist + share + hhi + 0.1 * neutral + top
