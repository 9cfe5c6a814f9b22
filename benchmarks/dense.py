"""Denser programs than those of `compiled.py`: of 23 to 51 lines, with ten functions of NumPy or more, written by others to see
whether the level for compile times holds for what we have not looked at."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiled import with_copies


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


def transformer_block(x, Wqkv, Wo, W1, W2, gam, bet):
    """A block of attention with rotated positions and a gated layer."""
    n, d = x.shape
    heads, hd = 2, d // 2
    mu = x.mean(-1, keepdims=True)
    va = x.var(-1, keepdims=True)
    y = (x - mu) / np.sqrt(va + 1e-5) * gam + bet
    q, k, v = np.split(y @ Wqkv, 3, axis=-1)
    q = q.reshape(n, heads, hd).transpose(1, 0, 2)
    k = k.reshape(n, heads, hd).transpose(1, 0, 2)
    v = v.reshape(n, heads, hd).transpose(1, 0, 2)
    pos = np.arange(n)
    freq = 1.0 / 100.0 ** (np.arange(0, hd, 2) / hd)
    ang = np.outer(pos, freq)
    c, s = np.cos(ang), np.sin(ang)
    qr = np.concatenate([q[..., ::2] * c - q[..., 1::2] * s, q[..., ::2] * s + q[..., 1::2] * c], -1)
    kr = np.concatenate([k[..., ::2] * c - k[..., 1::2] * s, k[..., ::2] * s + k[..., 1::2] * c], -1)
    sc = np.einsum("hid,hjd->hij", qr, kr) / np.sqrt(hd)
    sc = np.where(np.tril(np.ones((n, n), dtype=bool)), sc, -1e9)
    sc = sc - sc.max(-1, keepdims=True)
    a = np.exp(sc)
    a /= a.sum(-1, keepdims=True)
    o = np.matmul(a, v).transpose(1, 0, 2).reshape(n, d) @ Wo
    x = x + o
    rms = x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + 1e-6) * gam
    hdn = rms @ W1
    hdn = hdn / (1 + np.exp(-hdn))
    x = x + hdn @ W2
    ent = -np.sum(a * np.log(a + 1e-9)) / n
    tgt = np.roll(x, -1, axis=0)
    cos = np.sum(x * tgt, -1) / (np.linalg.norm(x, axis=-1) * np.linalg.norm(tgt, axis=-1))
    return np.mean((x[:-1] - tgt[:-1]) ** 2) + 0.01 * ent + cos.mean() + np.abs(o).max()


def kalman_smoother(A, H, logq, logr, ys):
    """A Kalman filter in matrices, then backwards."""
    n = A.shape[0]
    T = len(ys)
    Q = np.diag(np.exp(logq))
    Rm = np.diag(np.exp(logr))
    I = np.eye(n)
    m = np.zeros(n)
    Pm = np.eye(n)
    ll = 0.0
    ms = np.zeros((T, n))
    Ps = np.zeros((T, n, n))
    mp = np.zeros((T, n))
    Pp = np.zeros((T, n, n))
    nis = np.zeros(T)
    for t, y in enumerate(ys):
        m = A @ m
        Pm = A @ Pm @ A.T + Q
        mp[t] = m
        Pp[t] = Pm
        S = H @ Pm @ H.T + Rm
        e = y - H @ m
        K = np.linalg.solve(S, H @ Pm).T
        m = m + K @ e
        J = I - K @ H
        Pm = J @ Pm @ J.T + K @ Rm @ K.T
        Pm = (Pm + Pm.T) / 2
        _sgn, ld = np.linalg.slogdet(S)
        nis[t] = e @ np.linalg.solve(S, e)
        ll -= 0.5 * (nis[t] + ld + len(y) * np.log(2 * np.pi))
        ms[t] = m
        Ps[t] = Pm
    sm = ms[-1].copy()
    sP = Ps[-1].copy()
    rough = 0.0
    tr = np.trace(sP)
    for t in range(T - 2, -1, -1):
        G = np.linalg.solve(Pp[t + 1], A @ Ps[t]).T
        new = ms[t] + G @ (sm - mp[t + 1])
        sP = Ps[t] + G @ (sP - Pp[t + 1]) @ G.T
        rough += np.sum((sm - A @ new) ** 2)
        tr += np.trace(sP)
        sm = new
    ev = np.linalg.eigvalsh(Q)
    return -ll + 0.1 * rough / T + tr / T + np.var(nis) * 0.01 + np.log(ev).sum() * 0.1 + np.linalg.norm(sm)


def convnet(x, K, b, W, gam, labels):
    """A convolution by windows, pooled and gated; what its kernels have in common."""
    N = x.shape[0]
    F = K.shape[0]
    win = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    y = np.einsum("nchwij,fcij->nfhw", win, K) + b[None, :, None, None]
    mu = y.mean(axis=(0, 2, 3), keepdims=True)
    va = y.var(axis=(0, 2, 3), keepdims=True)
    y = gam[:, None, None] * (y - mu) / np.sqrt(va + 1e-5)
    y = np.where(y > 0, y, np.expm1(np.minimum(y, 0)))
    p = y.reshape(N, F, 5, 2, 5, 2).max(axis=(3, 5))
    f = p.reshape(N, -1)
    sq = f.reshape(N, F, 25).mean(-1)
    ex = 1 / (1 + np.exp(-sq))
    f = (f.reshape(N, F, 25) * ex[..., None]).reshape(N, -1)
    lg = f @ W.T
    lg -= lg.max(1, keepdims=True)
    lp = lg - np.log(np.exp(lg).sum(1, keepdims=True))
    pr = np.exp(lp)
    pt = pr[np.arange(N), labels]
    focal = -np.mean((1 - pt) ** 2 * np.log(pt))
    ent = -np.sum(pr * lp, axis=1).mean()
    gm = np.einsum("nfhw,nghw->nfg", y, y) / y[0, 0].size
    style = np.sum(np.triu(gm.mean(0), 1) ** 2)
    tv = np.abs(np.diff(y, axis=2)).mean() + np.abs(np.diff(y, axis=3)).mean()
    kn = np.linalg.norm(K.reshape(F, -1), axis=1)
    ortho = K.reshape(F, -1) @ K.reshape(F, -1).T
    ortho = np.sum((ortho / np.outer(kn, kn) - np.eye(F)) ** 2)
    top = np.sort(pr, axis=1)[:, ::-1]
    margin = np.mean(top[:, 0] - top[:, 1])
    return focal + 0.1 * ent + 0.01 * style + 0.01 * tv + 0.1 * ortho - 0.1 * margin


def stat_summary(X, w, u):
    """What statistics has to say of a table: moments, quantiles, eigenvectors, densities, distances."""
    n, _d = X.shape
    m, s = X.mean(0), X.std(0, ddof=1)
    Z = (X - m) / s
    sk, ku = (Z**3).mean(0), (Z**4).mean(0) - 3
    jb = n / 6 * (sk**2 + ku**2 / 4)
    q25, q50, q75 = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
    iqr = q75 - q25
    mad = np.median(np.abs(X - q50), axis=0)
    C = np.corrcoef(X, rowvar=False)
    ev, V = np.linalg.eigh(np.cov(X.T))
    pc = (X - m) @ V[:, ::-1][:, :2]
    pr = ev / ev.sum()
    effr = np.exp(-np.sum(pr * np.log(pr)))
    y = X @ w
    o = np.argsort(y)
    ys = y[o]
    lor = np.cumsum(np.exp(ys)) / np.exp(ys).sum()
    gini = 1 - 2 * np.trapezoid(lor, dx=1 / n)
    trim = ys[n // 10 : -n // 10].mean()
    wins = np.clip(y, ys[2], ys[-3]).std()
    wt = u / u.sum()
    wm = np.average(y, weights=wt)
    wv = np.sum(wt * (y - wm) ** 2) / (1 - np.sum(wt**2))
    B, res, _rk, sv = np.linalg.lstsq(np.c_[np.ones(n), X], y + u, rcond=None)
    h = 1.06 * y.std() * n**-0.2
    kde = np.exp(-0.5 * ((np.linspace(-2, 2, 9)[:, None] - y) / h) ** 2).mean(1) / (h * np.sqrt(2 * np.pi))
    Dm = np.sqrt(((X[:, None] - X) ** 2).sum(-1) + 1e-9)
    A = Dm - Dm.mean(0) - Dm.mean(1)[:, None] + Dm.mean()
    dcov = np.sqrt((A * np.outer(u - u.mean(), u - u.mean())).mean() ** 2)
    ac = np.array([(y[k:] * y[: n - k]).mean() for k in range(3)])
    maha = np.einsum("ij,jk,ik->i", X - m, np.linalg.pinv(np.cov(X.T)), X - m)
    return (
        jb.mean()
        + (mad / iqr).sum()
        + np.abs(np.triu(C, 1)).sum()
        + effr
        + pc.std()
        + gini
        + trim
        + wins
        + wv
        + B[1:] @ w
        + res.sum()
        + sv.max() / sv.min()
        + np.interp(0.3, np.linspace(-2, 2, 9), kde)
        + dcov
        + ac[1] / ac[0]
        + maha.max()
        + np.log(kde).sum()
    )


def graph_physics(x, edges, We, Wm, Wn):
    """Messages over a graph of particles; its Laplacian, shape and neighbours."""
    n = len(x)
    src, dst = edges[:, 0], edges[:, 1]
    deg = np.bincount(dst, minlength=n).astype(float)
    v = np.zeros_like(x)
    loss = 0.0
    for _ in range(3):
        d = x[src] - x[dst]
        r2 = (d**2).sum(1, keepdims=True)
        m = np.tanh(np.hstack([x[src], x[dst], r2]) @ We)
        m = m * (1 / (1 + np.exp(-(m @ Wm))))
        lg = m.sum(1)
        lg = lg - lg.max()
        e = np.exp(lg)
        den = np.zeros(n)
        np.add.at(den, dst, e)
        att = e / (den[dst] + 1e-9)
        agg = np.zeros((n, 8))
        np.add.at(agg, dst, att[:, None] * m)
        upd = np.concatenate([x, agg], axis=1) @ Wn
        v = 0.9 * v + 0.1 * upd
        f = np.zeros((n, 3))
        np.subtract.at(f, src, d * np.exp(-r2))
        np.add.at(f, dst, d * np.exp(-r2))
        x = x + v + 0.05 * f / np.maximum(deg, 1)[:, None]
        x -= x.mean(axis=0)
        loss += np.mean(v**2)
    A = np.zeros((n, n))
    A[src, dst] = 1.0
    A = np.maximum(A, A.T)
    np.fill_diagonal(A, 0.0)
    Dh = 1 / np.sqrt(A.sum(1) + 1)
    Lp = np.eye(n) - Dh[:, None] * A * Dh
    smooth = np.trace(x.T @ Lp @ x)
    I = np.cov(x, rowvar=False) + 1e-3 * np.eye(3)
    shape = np.linalg.eigvalsh(I)
    aniso = shape[-1] / shape.sum()
    pd = np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1) + np.eye(n))
    rep = np.sum(np.triu(1 / pd**2, 1))
    knn = np.partition(pd, 3, axis=1)[:, :3].mean()
    L = np.linalg.cholesky(I)
    white = np.linalg.solve(L, x.T)
    kurt = np.mean(white**4)
    ang = np.arctan2(x[:, 1], x[:, 0])
    order = np.abs(np.mean(np.exp(6j * ang)))
    return loss + 0.1 * smooth + aniso + 0.01 * rep + knn + 0.1 * kurt + order + np.log(np.diag(L)).sum()


_draw = np.random.default_rng(0)


def n(size: Any) -> Any:
    return _draw.normal(size=size)


INTO, FROM = np.array([1, 2, 3, 4, 5, 0, 3]), np.array([0, 1, 2, 3, 4, 5, 0])
PROGRAMS = {
    "transformer": with_copies(
        transformer, (n((6, 8)), n((8, 8)), n((8, 8)), n((8, 8)), n((8, 16)), n((16, 8)), n(8), n(8))
    ),
    "process": with_copies(process, (n((10, 2)), n(10), n((4, 2)), np.array([0.1, 0.2]), 0.3, -1.0)),
    "burgers": with_copies(burgers, (n((8, 8)), 0.1, n((8, 8)))),
    "steps of a mixture": with_copies(steps_of_a_mixture, (n((20, 3)), n((2, 3)), n(2), np.array([0.5, 0.5]))),
    "statistics": with_copies(statistics, (n((30, 4)), n(30), np.array([0.1, 0.2, 0.3, 0.4]))),
    "kalman": with_copies(kalman, (n(25), 0.1, 0.5, 0.3)),
    "convolution": with_copies(
        convolution, (n((2, 6, 6, 3)), n((3, 3, 3, 4)), n((16, 5)), np.array([1, 3])), (0, 1, 2)
    ),
    "graph": with_copies(graph, (n((6, 3)), FROM, INTO, n((3, 3)), n((6, 3)), n(3)), (0, 3, 4, 5)),
    "transformer block": with_copies(
        transformer_block,
        (
            n((12, 8)),
            n((8, 24)) * 0.3,
            n((8, 8)) * 0.3,
            n((8, 16)) * 0.3,
            n((16, 8)) * 0.3,
            np.ones(8),
            np.zeros(8),
        ),
    ),
    "kalman smoother": with_copies(
        kalman_smoother,
        (
            n((4, 4)) * 0.3,
            n((2, 4)),
            n(4) * 0.1,
            n(2) * 0.1,
            n((30, 2)),
        ),
    ),
    "convnet": with_copies(
        convnet,
        (
            n((2, 1, 12, 12)),
            n((4, 1, 3, 3)) * 0.3,
            n(4) * 0.1,
            n((3, 100)) * 0.1,
            np.ones(4),
            np.array([0, 2]),
        ),
        (0, 1, 2, 3, 4),
    ),
    "stat summary": with_copies(stat_summary, (n((40, 5)), n(5), _draw.uniform(size=40))),
    "graph physics": with_copies(
        graph_physics,
        (
            n((16, 3)),
            _draw.integers(0, 16, (40, 2)),
            n((7, 8)) * 0.4,
            n((8, 8)) * 0.4,
            n((11, 3)) * 0.3,
        ),
        (0, 2, 3, 4),
    ),
}
