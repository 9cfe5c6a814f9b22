"""Denser programs than those of `compiled.py`: of thirty to forty lines, with ten functions of NumPy or more, written by others to see
whether the level for compile times holds for what we have not looked at."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiled import Program


def transformer(x, Wq, Wk, Wv, W1, W2, g, b):
    """A block of attention in two heads, tied embeddings."""
    T, D = x.shape
    H = 2

    def ln(z):
        mu = z.mean(axis=-1, keepdims=True)
        v = z.var(axis=-1, keepdims=True)
        return g * (z - mu) / np.sqrt(v + 1e-5) + b

    h = ln(x)
    q = (h @ Wq).reshape(T, H, D // H).transpose(1, 0, 2)
    k = (h @ Wk).reshape(T, H, D // H).transpose(1, 0, 2)
    v = (h @ Wv).reshape(T, H, D // H).transpose(1, 0, 2)
    s = q @ k.transpose(0, 2, 1) / np.sqrt(D // H)
    mask = np.triu(np.ones((T, T), dtype=bool), k=1)
    s = np.where(mask, -1e9, s)
    s = s - s.max(axis=-1, keepdims=True)
    e = np.exp(s)
    a = e / e.sum(axis=-1, keepdims=True)
    o = (a @ v).transpose(1, 0, 2).reshape(T, D)
    x = x + o
    h = ln(x)
    u = h @ W1
    u = 0.5 * u * (1 + np.tanh(0.79788 * (u + 0.044715 * u**3)))
    x = x + u @ W2
    x = ln(x)
    logits = x @ x.T
    m = logits.max(axis=1, keepdims=True)
    lse = m[:, 0] + np.log(np.exp(logits - m).sum(axis=1))
    loss = np.mean(lse - np.diag(logits))
    reg = np.sum(W1**2) + np.sum(W2**2)
    return loss + 1e-3 * reg


def process(X, y, Xs, logl, ls, ln):
    """A Gaussian process: marginal likelihood, predictions, leave-one-out residues."""
    l = np.exp(logl)
    s2 = np.exp(2 * ls)
    noise = np.exp(2 * ln)
    d = (X[:, None, :] - X[None, :, :]) / l
    r2 = np.sum(d * d, axis=-1)
    K = s2 * np.exp(-0.5 * r2)
    K = K + noise * np.eye(len(X))
    L = np.linalg.cholesky(K)
    z = np.linalg.solve(L, y)
    al = np.linalg.solve(L.T, z)
    ds = (Xs[:, None, :] - X[None, :, :]) / l
    Ks = s2 * np.exp(-0.5 * np.sum(ds * ds, axis=-1))
    mu = Ks @ al
    V = np.linalg.solve(L, Ks.T)
    var = s2 - np.sum(V * V, axis=0)
    nll = 0.5 * y @ al + np.sum(np.log(np.diag(L))) + 0.5 * len(y) * np.log(2 * np.pi)
    loo = al / np.diag(np.linalg.inv(K))
    pen = np.sum(logl**2) + ls**2
    q = np.quantile(mu, 0.5)
    w = np.maximum(var, 1e-6)
    score = np.mean((mu - q) ** 2 / w + np.log(w))
    return nll + 0.1 * score + np.mean(loo**2) + pen


def burgers(u, nu, f):
    """Burgers' equation in two dimensions, in place."""
    dt = 0.01
    dx = 0.1
    v = np.zeros_like(u)
    for _ in range(5):
        un = u.copy()
        vn = v.copy()
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - dt / dx * un[1:-1, 1:-1] * (un[1:-1, 1:-1] - un[1:-1, :-2])
            - dt / dx * vn[1:-1, 1:-1] * (un[1:-1, 1:-1] - un[:-2, 1:-1])
            + nu * dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, :-2])
            + nu * dt / dx**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[:-2, 1:-1])
            + dt * f[1:-1, 1:-1]
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - dt / dx * un[1:-1, 1:-1] * (vn[1:-1, 1:-1] - vn[1:-1, :-2])
            - dt / dx * vn[1:-1, 1:-1] * (vn[1:-1, 1:-1] - vn[:-2, 1:-1])
            + nu * dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, :-2])
            + nu * dt / dx**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[:-2, 1:-1])
        )
        u[0, :] = u[1, :]
        u[-1, :] = 0
        u[:, 0] = u[:, -2]
        u[:, -1] = u[:, 1]
        v[0] = 0
        v[-1] = 0
        v[:, 0] = v[:, 1]
        v[:, -1] = 0
    ke = 0.5 * np.sum(u**2 + v**2)
    vort = (v[1:-1, 2:] - v[1:-1, :-2] - u[2:, 1:-1] + u[:-2, 1:-1]) / (2 * dx)
    ens = np.sum(vort**2)
    return ke + 1e-3 * ens


def steps_of_a_mixture(x, mu, ls, p):
    """Three steps of expectation and maximisation."""
    N, D = x.shape
    K = len(mu)
    for _ in range(3):
        lp = np.zeros((N, K))
        for k in range(K):
            d = x - mu[k]
            s = np.exp(ls[k])
            lp[:, k] = np.log(p[k]) - 0.5 * np.sum(d * d, axis=1) / s**2 - D * ls[k]
        m = np.max(lp, axis=1, keepdims=True)
        r = np.exp(lp - m)
        r = r / np.sum(r, axis=1, keepdims=True)
        Nk = r.sum(axis=0)
        p = Nk / N
        mu = r.T @ x / Nk[:, None]
        new = np.empty(K)
        for k in range(K):
            d = x - mu[k]
            new[k] = 0.5 * np.log(np.sum(r[:, k] * np.sum(d * d, axis=1)) / (D * Nk[k]) + 1e-3)
        ls = new
    ll = np.sum(m[:, 0] + np.log(np.exp(lp - m).sum(axis=1)))
    ent = -np.sum(r * np.log(r + 1e-12))
    order = np.argsort(p)
    mu = mu[order]
    sep = np.linalg.norm(mu[0] - mu[1])
    return ll + 0.1 * ent + sep


def statistics(X, y, w):
    """A regression on principal components, and robust statistics of its residues."""
    Xc = X - X.mean(axis=0)
    sd = Xc.std(axis=0, ddof=1)
    Z = Xc / sd
    C = Z.T @ Z / (len(Z) - 1)
    ev, V = np.linalg.eigh(C)
    S = Z @ V[:, -2:]
    A = np.column_stack([np.ones(len(S)), S])
    beta = np.linalg.solve(A.T @ A, A.T @ y)
    r = y - A @ beta
    mad = np.median(np.abs(r - np.median(r)))
    u = r / (1.4826 * mad)
    hub = np.where(np.abs(u) < 1.345, 0.5 * u**2, 1.345 * np.abs(u) - 0.9)
    q = np.quantile(r, [0.1, 0.9])
    trimmed = np.clip(r, q[0], q[1])
    skew = np.mean(trimmed**3) / np.mean(trimmed**2) ** 1.5
    srt = np.sort(r)
    gini = np.sum((2 * np.arange(1, len(r) + 1) - len(r) - 1) * srt) / len(r)
    ac = np.array([np.sum(r[k:] * r[: len(r) - k]) for k in range(1, 4)]) / np.sum(r * r)
    rank = np.argsort(np.argsort(y))
    sp = np.corrcoef(rank, X @ w)[0, 1]
    pen = np.sum(np.abs(w)) + np.sum(w**2)
    logdet = np.linalg.slogdet(C)[1]
    cs = np.cumsum(r)
    dd = np.max(np.maximum.accumulate(cs) - cs)
    return hub.mean() + skew + gini + np.sum(ac**2) + sp + pen - logdet + 0.1 * dd + ev[-1]


def kalman(z, q, r, a):
    """A Kalman filter, and its smoother."""
    F = np.array([[1.0, 0.1, 0.0], [0.0, 1.0, 0.1], [0.0, 0.0, a]])
    H = np.array([[1.0, 0.0, 0.0]])
    Q = q * np.eye(3)
    x = np.zeros(3)
    P = np.eye(3)
    n = len(z)
    xs = np.zeros((n, 3))
    Ps = np.zeros((n, 3, 3))
    ll = 0.0
    for k in range(n):
        x = F @ x
        P = F @ P @ F.T + Q
        v = z[k] - (H @ x)[0]
        S = (H @ P @ H.T)[0, 0] + r
        K = (P @ H.T) / S
        x = x + K[:, 0] * v
        P = (np.eye(3) - K @ H) @ P
        P = 0.5 * (P + P.T)
        xs[k] = x
        Ps[k] = P
        ll -= 0.5 * (np.log(2 * np.pi * S) + v * v / S)
    for k in range(n - 2, -1, -1):
        Pp = F @ Ps[k] @ F.T + Q
        C = Ps[k] @ F.T @ np.linalg.inv(Pp)
        xs[k] += C @ (xs[k + 1] - F @ xs[k])
        Ps[k] += C @ (Ps[k + 1] - Pp) @ C.T
    sm = np.sum((z - xs[:, 0]) ** 2)
    tr = np.trace(Ps.sum(axis=0))
    return ll + 0.1 * sm + 0.01 * tr


def convolution(x, k, W, t):
    """A convolution, pooling, a classifier and what it is judged by."""
    B, H, Wd, _ = x.shape
    kh, kw, _, O = k.shape
    mu = x.mean(axis=(0, 1, 2))
    sd = np.sqrt(x.var(axis=(0, 1, 2)) + 1e-5)
    x = (x - mu) / sd
    out = np.zeros((B, H - kh + 1, Wd - kw + 1, O))
    for i in range(kh):
        for j in range(kw):
            out += np.tensordot(x[:, i : i + H - kh + 1, j : j + Wd - kw + 1], k[i, j], axes=1)
    out = np.maximum(out, 0.1 * out)
    p = out.reshape(B, 2, 2, 2, 2, O).max(axis=(2, 4))
    p = p.reshape(B, -1)
    n = np.linalg.norm(p, axis=1, keepdims=True)
    p = p / np.maximum(n, 1e-6)
    lg = p @ W
    lg = lg - lg.max(axis=1, keepdims=True)
    lp = lg - np.log(np.exp(lg).sum(axis=1, keepdims=True))
    loss = -lp[np.arange(B), t].mean()
    pr = np.exp(lp)
    ent = -np.sum(pr * lp, axis=1).mean()
    onehot = np.zeros((B, 5))
    onehot[np.arange(B), t] = 1.0
    brier = np.mean(np.sum((pr - onehot) ** 2, axis=1))
    l2 = np.sum(k**2) + np.sum(W**2)
    l1 = np.abs(W).sum()
    acc = (np.argmax(lg, axis=1) == t).mean()
    return loss + 0.1 * ent + brier + 1e-3 * l2 + 1e-4 * l1 + 0 * acc


def graph(h, src, dst, W, U, a):
    """Two layers of attention over a graph."""
    N = len(h)
    for _ in range(2):
        z = h @ W
        m = np.concatenate([z[src], z[dst]], axis=1) @ U
        e = np.tanh(m) @ a
        mx = np.full(N, -np.inf)
        np.maximum.at(mx, dst, e)
        w = np.exp(e - mx[dst])
        den = np.zeros(N)
        np.add.at(den, dst, w)
        al = w / den[dst]
        agg = np.zeros_like(z)
        np.add.at(agg, dst, al[:, None] * z[src])
        deg = np.bincount(dst, minlength=N)
        agg = agg / np.sqrt(np.maximum(deg, 1))[:, None]
        h = h + np.maximum(agg, 0)
        mu = h.mean(axis=0)
        h = (h - mu) / np.sqrt(h.var(axis=0) + 1e-5)
    A = np.zeros((N, N))
    A[src, dst] = 1.0
    A = A + A.T
    D = np.diag(A.sum(axis=1))
    Lp = D - A
    smooth = np.trace(h.T @ Lp @ h)
    g = h.max(axis=0) + h.mean(axis=0)
    s = g @ g
    return s + 0.1 * smooth + np.sum(W * W)


_draw = np.random.default_rng(0)


def n(size: Any) -> Any:
    return _draw.normal(size=size)


def _program(function: Any, arguments: tuple[Any, ...], by: tuple[int, ...] | None = None) -> Program:
    return Program(
        function, lambda: tuple([np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments]), True, by
    )


INTO, FROM = np.array([1, 2, 3, 4, 5, 0, 3]), np.array([0, 1, 2, 3, 4, 5, 0])
PROGRAMS = {
    "transformer": _program(
        transformer, (n((6, 8)), n((8, 8)), n((8, 8)), n((8, 8)), n((8, 16)), n((16, 8)), n(8), n(8))
    ),
    "process": _program(process, (n((10, 2)), n(10), n((4, 2)), np.array([0.1, 0.2]), 0.3, -1.0)),
    "burgers": _program(burgers, (n((8, 8)), 0.1, n((8, 8)))),
    "steps of a mixture": _program(steps_of_a_mixture, (n((20, 3)), n((2, 3)), n(2), np.array([0.5, 0.5]))),
    "statistics": _program(statistics, (n((30, 4)), n(30), np.array([0.1, 0.2, 0.3, 0.4]))),
    "kalman": _program(kalman, (n(25), 0.1, 0.5, 0.3)),
    "convolution": _program(convolution, (n((2, 6, 6, 3)), n((3, 3, 3, 4)), n((16, 5)), np.array([1, 3])), (0, 1, 2)),
    "graph": _program(graph, (n((6, 3)), FROM, INTO, n((3, 3)), n((6, 3)), n(3)), (0, 3, 4, 5)),
}
