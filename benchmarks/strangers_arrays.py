"""Programs of NumPy users: twenty functions of 25 to 32 lines, in each of which ten to twenty functions of NumPy and SciPy come together, written by
somebody who did not know zyg, to see whether the level for compile times holds for what we have not looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .compiled import Program

try:
    from scipy import special
except ImportError:  # the programs that use it say so
    special: Any = None


def vae(W1, b1, Wm, Ws, Wd, X, eps):
    n, _d = X.shape
    h = X @ W1 + b1
    mu0 = h.mean(axis=1, keepdims=True)
    sd0 = h.std(axis=1, keepdims=True)
    h = (h - mu0) / (sd0 + 1e-5)
    h = np.where(h > 0, h, 0.01 * h)
    mu = h @ Wm
    logvar = np.clip(h @ Ws, -4.0, 4.0)
    z = mu + np.exp(0.5 * logvar) * eps
    logits = z @ Wd
    target = (X > 0).astype(X.dtype)
    bce = np.maximum(logits, 0) - logits * target
    bce += np.log1p(np.exp(-np.abs(logits)))
    recon = bce.sum(axis=1)
    kl = -0.5 * np.sum(1 + logvar - mu**2 - np.exp(logvar), axis=1)
    weights = np.ones(n)
    weights[::2] *= 0.5
    weights /= weights.sum()
    total = np.dot(weights, recon + kl)
    penalty = 0.0
    for W in (W1, Wm, Ws, Wd):
        penalty += np.linalg.norm(W) ** 2
    gram = Wd @ Wd.T
    off = gram - np.diag(np.diag(gram))
    ortho = np.abs(off).max()
    return total + 1e-3 * penalty + 1e-2 * ortho


def ukf(q, y, x0, P0):
    n = len(x0)
    x = x0.copy()
    P = P0.copy()
    kappa = 3.0 - n
    w = np.full(2 * n + 1, 0.5 / (n + kappa))
    w[0] = kappa / (n + kappa)
    Q = np.diag(np.exp(q[:n]))
    R = np.exp(q[n])
    ll = 0.0
    for t in range(len(y)):
        L = np.linalg.cholesky((n + kappa) * P)
        S = np.empty((2 * n + 1, n))
        S[0] = x
        S[1 : n + 1] = x + L.T
        S[n + 1 :] = x - L.T
        F = S.copy()
        F[:, 0] += 0.1 * S[:, 1]
        F[:, 1] -= 0.1 * np.sin(S[:, 0])
        x = w @ F
        D = F - x[np.newaxis, :]
        P = np.einsum("i,ij,ik->jk", w, D, D) + Q
        h = np.hypot(F[:, 0], 1.0)
        yh = np.average(h, weights=w)
        s = np.sum(w * (h - yh) ** 2) + R
        c = D.T @ (w * (h - yh))
        K = c / s
        e = y[t] - yh
        x = x + K * e
        P = P - np.outer(K, K) * s
        ll += -0.5 * (np.log(2 * np.pi * s) + e * e / s)
    return ll


def stft_loss(sig, ref, win, hop):
    n = win.shape[0]
    frames = 1 + (len(sig) - n) // hop
    idx = np.arange(n)[None, :] + hop * np.arange(frames)[:, None]
    a = sig[idx] * win
    b = ref[idx] * win
    A = np.fft.rfft(a, axis=1)
    B = np.fft.rfft(b, axis=-1)
    pa = A.real**2 + A.imag**2
    pb = np.abs(B) ** 2
    freqs = np.fft.rfftfreq(n, d=1.0 / 16)
    mel = np.maximum(0.0, 1 - np.abs(freqs[:, None] - np.linspace(0, 8, 5)) / 2)
    ma = pa @ mel
    mb = pb @ mel
    logdist = np.mean(np.abs(np.log(ma + 1e-6) - np.log(mb + 1e-6)))
    sc = np.linalg.norm(pa - pb) / np.linalg.norm(pb)
    centroid = (pa * freqs).sum(axis=1) / (pa.sum(axis=1) + 1e-9)
    flux = np.diff(np.sqrt(pa + 1e-9), axis=0)
    flux = np.sum(np.maximum(flux, 0) ** 2, axis=1)
    pad = np.pad(sig, (2, 2), mode="reflect")
    sm = np.convolve(pad, np.array([1, 4, 6, 4, 1]) / 16, mode="valid")
    tv = np.sum(np.sqrt((sm[1:] - sm[:-1]) ** 2 + 1e-4))
    env = np.cumsum(np.square(sig)) / (1 + np.arange(sig.size))
    peak = np.max(env) - np.min(env[n:])
    return logdist + sc + 0.1 * centroid.var() + flux.mean() + 0.01 * tv + peak


def reprojection(cams, pts, obs, ci, pi):
    total = 0.0
    res = np.zeros(obs.shape)
    for k in range(cams.shape[0]):
        rv, t, f = cams[k, :3], cams[k, 3:6], cams[k, 6:]
        th = np.sqrt(rv @ rv + 1e-12)
        a = rv / th
        K = np.zeros((3, 3))
        K[0, 1], K[0, 2], K[1, 2] = -a[2], a[1], -a[0]
        K -= K.T
        R = np.eye(3) + np.sin(th) * K + (1 - np.cos(th)) * (K @ K)
        sel = ci == k
        P = pts[pi[sel]] @ R.T + t
        p = P[:, :2] / P[:, 2:]
        r2 = (p**2).sum(axis=1, keepdims=True)
        p = f[0] * (1 + f[1] * r2 + f[2] * r2**2) * p
        res[sel] = p - obs[sel]
    n2 = np.einsum("ij,ij->i", res, res)
    delta = 0.5
    rho = np.where(n2 < delta**2, n2, 2 * delta * np.sqrt(n2) - delta**2)
    total += rho.sum()
    deg = np.zeros(len(pts))
    np.add.at(deg, pi, 1.0)
    c = (pts * deg[:, None]).sum(0) / deg.sum()
    d = pts - c
    cov = d.T @ d / len(pts)
    ev = np.linalg.eigvalsh(cov)
    total += 0.01 * (ev[-1] / ev[0] - 1) ** 2
    med = np.median(n2)
    return total + 0.1 * med


def shallow(h0, u0, v0, depth, dt, nt):
    h, u, v = h0.copy(), u0.copy(), v0.copy()
    g, f = 9.81, 0.1
    ny, nx = h.shape
    mass0 = h.sum()
    hist = np.zeros(nt)
    bathy = np.broadcast_to(depth, (ny, nx))
    for it in range(nt):
        H = h + bathy
        fx = H * u
        fy = H * v
        div = np.zeros_like(h)
        div[:, 1:-1] = (fx[:, 2:] - fx[:, :-2]) / 2.0
        div[1:-1, :] += (fy[2:, :] - fy[:-2, :]) / 2.0
        h -= dt * div
        hx, hy = np.gradient(h)[::-1]
        un = u + dt * (f * v - g * hx)
        v -= dt * (f * u + g * hy)
        u[...] = un
        u[:, [0, -1]] = 0.0
        v[[0, -1], :] = 0.0
        lap = np.roll(u, 1, 0) + np.roll(u, -1, axis=0) - 2 * u
        u += 0.05 * lap
        hist[it] = 0.5 * np.sum(H * (u * u + v * v)) + 0.5 * g * np.vdot(h, h)
    drift = (h.sum() - mass0) ** 2
    vort = (v[:, 1:] - v[:, :-1])[1:, :] - (u[1:, :] - u[:-1, :])[:, 1:]
    enst = np.mean(vort**2)
    t = np.linspace(0.0, 1.0, nt)
    decay = np.trapezoid(hist, t)
    return decay + enst + drift + h[ny // 2, nx // 2 :].max()


def factor_em(Lam, psi, X, iters):
    n, p = X.shape
    k = Lam.shape[1]
    Xc = X - X.mean(axis=0)
    S = np.cov(Xc, rowvar=False, bias=True)
    for _ in range(iters):
        Pi = 1.0 / psi
        LtP = Lam.T * Pi
        M = np.eye(k) + LtP @ Lam
        Mi = np.linalg.inv(M)
        beta = Mi @ LtP
        Ez = Xc @ beta.T
        Ezz = n * Mi + Ez.T @ Ez
        Lam = np.linalg.solve(Ezz, Ez.T @ Xc).T
        psi = np.maximum(np.diagonal(S - Lam @ (Ez.T @ Xc) / n), 1e-3)
    C = Lam @ Lam.T
    C[np.diag_indices(p)] += psi
    sign, ld = np.linalg.slogdet(C)
    ll = -0.5 * n * (p * np.log(2 * np.pi) + ld + np.trace(np.linalg.solve(C, S)))
    comm = 1 - psi / np.diag(C)
    U, s, _Vt = np.linalg.svd(Lam, full_matrices=False)
    V2 = (U * s) ** 2
    vari = np.sum(np.var(V2, axis=0))
    rank = np.sum(s) ** 2 / np.sum(s**2)
    d = np.sqrt(np.diag(C))
    corr = C / np.outer(d, d)
    iu = np.triu_indices(p, k=1)
    worst = np.sort(np.abs(corr[iu]))[-3:].mean()
    return ll / n + vari + 0.1 * rank + worst + comm.min() * sign


def md(pos, vel, q, box, steps):
    n = pos.shape[0]
    x = np.mod(pos, box)
    v = vel - vel.mean(axis=0)
    iu, ju = np.triu_indices(n, 1)
    rc, dt = 2.5, 0.002
    log = []
    F = np.zeros_like(x)
    for _step in range(steps):
        d = x[iu] - x[ju]
        d -= box * np.round(d / box)
        r2 = np.sum(d * d, axis=-1)
        near = r2 < rc * rc
        ir2 = np.where(near, 1.0 / np.maximum(r2, 0.6), 0.0)
        ir6 = ir2**3
        lj = 24 * (2 * ir6**2 - ir6) * ir2
        coul = q[iu] * q[ju] * ir2 * np.sqrt(ir2)
        f = (lj + coul)[:, np.newaxis] * d
        F.fill(0.0)
        np.add.at(F, iu, f)
        np.subtract.at(F, ju, f)
        v = v + dt * F
        x = (x + dt * v) % box
        pe = 4 * np.sum(ir6 * (ir6 - 1)) + np.sum(q[iu] * q[ju] * np.sqrt(ir2))
        ke = 0.5 * np.einsum("ij,ij", v, v)
        log.append(pe + ke)
    e = np.array(log)
    drift = np.polyfit(np.arange(steps), e, 1)[0]
    virial = np.tensordot(F, x, axes=([0], [0]))
    p = np.trace(virial) / (3 * np.prod(box))
    return e.mean() + 10 * drift**2 + p


def crf(E, T, start, tags, mask):
    B, L, K = E.shape
    rows = np.arange(B)
    score = start[tags[:, 0]] + E[rows, 0, tags[:, 0]]
    alpha = start + E[:, 0]
    beta = np.zeros((B, L, K))
    for t in range(1, L):
        m = mask[:, t]
        step = T[tags[:, t - 1], tags[:, t]] + E[rows, t, tags[:, t]]
        score = score + step * m
        nxt = alpha[:, :, None] + T[None] + E[:, t, None, :]
        top = nxt.max(axis=1, keepdims=True)
        lse = np.log(np.exp(nxt - top).sum(axis=1)) + top.squeeze(1)
        alpha = np.where(m[:, None], lse, alpha)
    logZ = special.logsumexp(alpha, axis=1)
    for t in range(L - 2, -1, -1):
        z = T + E[:, t + 1][:, None, :] + beta[:, t + 1][:, None, :]
        beta[:, t] = special.logsumexp(z, axis=2)
    marg = special.softmax(E + beta, axis=-1)
    ent = -(marg * np.log(marg)).sum(axis=(1, 2)) / mask.sum(axis=1)
    nll = logZ - score
    per = nll / np.count_nonzero(mask, axis=1)
    order = np.argsort(per)[::-1]
    hard = per[order[:2]].mean()
    reg = 0.01 * (np.square(T).sum() + np.abs(start).sum())
    eyeT = T[np.arange(K), np.arange(K)]
    smooth = np.ptp(eyeT) + np.logaddexp.reduce(eyeT)
    return nll.mean() + 0.5 * hard - 0.1 * ent.mean() + reg + smooth


def portfolio(w, R, bench, cost):
    w = np.exp(w - np.max(w))
    w /= w.sum()
    T, N = R.shape
    value = np.ones(T + 1)
    cur = w.copy()
    turnover = 0.0
    for t in range(T):
        g = cur * (1 + R[t])
        value[t + 1] = value[t] * g.sum()
        cur = g / g.sum()
        if t % 5 == 4:
            trade = np.abs(cur - w)
            turnover += trade.sum()
            value[t + 1] *= 1 - cost * trade.sum()
            cur[:] = w
    ret = value[1:] / value[:-1] - 1
    peak = np.maximum.accumulate(value)
    dd = np.max((peak - value) / peak)
    excess = ret - bench
    sharpe = excess.mean() / excess.std(ddof=1) * np.sqrt(252)
    q = np.percentile(ret, 10)
    tail = ret[ret <= q]
    cvar = -tail.mean()
    cov = np.cov(R.T)
    rc = w * (cov @ w) / (w @ cov @ w)
    parity = np.sum((rc - 1.0 / N) ** 2)
    beta = np.cov(ret, bench)[0, 1] / np.var(bench, ddof=1)
    ewm = np.convolve(ret, 0.5 ** np.arange(4), "same")
    return -sharpe + 3 * dd + cvar + parity + (beta - 1) ** 2 + 0.1 * turnover + ewm[-5:].sum()


def register(theta, img, ref):
    H, W = img.shape
    c, s = np.cos(theta[0]), np.sin(theta[0])
    A = np.array([[c, -s], [s, c]]) * np.exp(theta[1])
    yy, xx = np.meshgrid(np.arange(H), np.arange(W), indexing="ij")
    grid = np.stack([yy.ravel(), xx.ravel()]).astype(float)
    ctr = np.array([[H - 1], [W - 1]]) / 2
    p = A @ (grid - ctr) + ctr + theta[2:4].reshape(2, 1)
    y = np.clip(p[0], 0, H - 1.001)
    x = np.clip(p[1], 0, W - 1.001)
    y0, x0 = np.floor(y).astype(int), np.floor(x).astype(int)
    fy, fx = y - y0, x - x0
    out = (1 - fy) * (1 - fx) * img[y0, x0]
    out += fy * (1 - fx) * img[y0 + 1, x0]
    out += (1 - fy) * fx * img[y0, x0 + 1]
    out += fy * fx * img[y0 + 1, x0 + 1]
    out = out.reshape(H, W)
    inside = ((p > 0).all(axis=0) & (p[0] < H - 1)).reshape(H, W)
    a = out - out.mean()
    b = ref - ref.mean()
    ncc = np.sum(a * b) / np.sqrt(np.sum(a**2) * np.sum(b**2))
    k = np.ones((3, 3)) / 9
    win = np.lib.stride_tricks.sliding_window_view(out, (3, 3))
    blur = np.einsum("ijkl,kl->ij", win, k)
    ssd = np.mean((blur - ref[1:-1, 1:-1]) ** 2)
    e = np.abs(out - ref)[inside]
    huber = np.sum(np.minimum(e, 0.5) * (e - 0.5 * np.minimum(e, 0.5)))
    return 1 - ncc + ssd + huber / inside.sum()


def gat(X, W, a, src, dst, y):
    n = X.shape[0]
    heads, _, dh = W.shape
    Hh = np.einsum("nf,hfd->hnd", X, W)
    es = np.sum(Hh * a[:, None, :dh], axis=-1)
    ed = np.sum(Hh * a[:, None, dh:], axis=-1)
    e = es[:, src] + ed[:, dst]
    e = np.where(e >= 0, e, 0.2 * e)
    m = np.full((heads, n), -np.inf)
    for h in range(heads):
        np.maximum.at(m[h], dst, e[h])
    ex = np.exp(e - m[:, dst])
    den = np.zeros((heads, n))
    out = np.zeros((n, heads, dh))
    for h in range(heads):
        np.add.at(den[h], dst, ex[h])
        att = ex[h] / den[h, dst]
        np.add.at(out[:, h], dst, att[:, None] * Hh[h, src])
    z = out.reshape(n, -1)
    z = np.tanh(z)
    z = z / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-8)
    logits = z.reshape(n, heads, dh).mean(axis=1)
    logp = logits - np.log(np.exp(logits).sum(axis=1))[:, None]
    ce = -logp[np.arange(n), y].mean()
    L = np.bincount(dst, minlength=n)
    smooth = np.sum((z[src] - z[dst]) ** 2 / np.sqrt(1.0 + L[dst])[:, None])
    return ce + 0.01 * smooth


def logistic_path(lam, X, y, iters):
    n, p = X.shape
    mean, sd = X.mean(0), X.std(0)
    Z = np.column_stack([np.ones(n), (X - mean) / sd])
    beta = np.zeros(p + 1)
    L = np.linalg.norm(Z, 2) ** 2 / (4 * n)
    for _k in range(iters):
        eta = Z @ beta
        mu = special.expit(eta)
        grad = Z.T @ (mu - y) / n
        step = beta - grad / L
        beta = np.sign(step) * np.maximum(np.abs(step) - lam / L, 0.0)
        beta[0] = step[0]
    eta = np.dot(Z, beta)
    w = special.expit(eta) * special.expit(-eta)
    H = (Z * w[:, None]).T @ Z + 1e-3 * np.identity(p + 1)
    Hinv = np.linalg.inv(H)
    se = np.sqrt(np.diag(Hinv))
    zs = beta / se
    pv = 2 * special.ndtr(-np.abs(zs))
    lev = np.einsum("ij,jk,ik->i", Z, Hinv, Z) * w
    dev = -2 * np.sum(special.xlogy(y, special.expit(eta)) + special.xlogy(1 - y, special.expit(-eta)))
    resid = (y - special.expit(eta)) / np.sqrt(w * (1 - lev))
    cook = resid**2 * lev / (1 - lev) / (p + 1)
    aic = dev + 2 * np.sum(pv)
    hl = np.array([c.mean() for c in np.array_split(resid[np.argsort(eta)], 4)])
    return aic / n + np.quantile(cook, 0.9) + hl @ hl


def cn_option(par, S, K, T, nt):
    sigma, rate = np.exp(par[0]), par[1]
    n = S.size
    dt = T / nt
    ds = S[1] - S[0]
    V = np.maximum(S - K, 0.0)
    i = np.arange(1, n - 1)
    a = 0.25 * dt * (sigma**2 * i**2 - rate * i)
    b = -0.5 * dt * (sigma**2 * i**2 + rate)
    c = 0.25 * dt * (sigma**2 * i**2 + rate * i)
    A = np.diag(1 - b) - np.diag(a[1:], -1) - np.diag(c[:-1], k=1)
    B = np.diag(1 + b) + np.diag(a[1:], -1) + np.diag(c[:-1], k=1)
    early = np.zeros((nt, n))
    for m in range(nt):
        rhs = B @ V[1:-1]
        hi = S[-1] - K * np.exp(-rate * (m + 1) * dt)
        rhs[-1] += c[-1] * (V[-1] + hi)
        rhs[0] += a[0] * V[0] * 2
        V = np.concatenate(([0.0], np.linalg.solve(A, rhs), [hi]))
        early[m] = V
    d1 = (np.log(S[1:] / K) + (rate + sigma**2 / 2) * T) / (sigma * np.sqrt(T))
    d2 = d1 - sigma * np.sqrt(T)
    bs = S[1:] * special.ndtr(d1) - K * np.exp(-rate * T) * special.ndtr(d2)
    err = np.linalg.norm(V[1:] - bs, ord=np.inf)
    delta = (V[2:] - V[:-2]) / (2 * ds)
    gamma = np.diff(V, n=2) / ds**2
    price = np.interp(K * 1.05, S, V)
    return price + err + np.sum(delta[::3]) * 0.1 + gamma.max() + early[::2].mean()


def dtw_barycenter(c, series, gamma):
    N, L, _D = series.shape
    m = len(c)
    loss = np.zeros(N)
    for s in range(N):
        diff = c[:, None, :] - series[s][None, :, :]
        dist = np.sqrt((diff**2).sum(-1) + 1e-8)
        R = np.full((m + 1, L + 1), 1e6)
        R[0, 0] = 0.0
        for i in range(1, m + 1):
            for j in range(1, L + 1):
                v = np.array([R[i - 1, j - 1], R[i - 1, j], R[i, j - 1]])
                lo = v.min()
                R[i, j] = dist[i - 1, j - 1] + lo - gamma * np.log(np.sum(np.exp(-(v - lo) / gamma)))
        loss[s] = R[-1, -1]
    w = loss.argsort().argsort() + 1.0
    w = w[::-1] / w.sum()
    curv = c[2:] - 2 * c[1:-1] + c[:-2]
    seg = np.linalg.norm(np.diff(c, axis=0), axis=1)
    length = seg.sum()
    t = np.hstack((0.0, np.cumsum(seg))) / length
    even = np.sum((t - np.linspace(0, 1, m)) ** 2)
    area = 0.5 * np.abs(np.dot(c[:, 0], np.roll(c[:, 1], 1)) - np.dot(c[:, 1], np.roll(c[:, 0], 1)))
    box = np.prod(c.max(axis=0) - c.min(axis=0))
    fill = area / box
    return loss @ w + 0.1 * np.sum(curv**2) + even + 0.01 * fill + 0.1 * np.ptp(loss)


def cp_als(X, A, B, C, sweeps):
    I, J, K = X.shape
    r_ = A.shape[1]
    lam = np.ones(r_)
    X1 = X.reshape(I, J * K)
    X2 = X.transpose(1, 0, 2).reshape(J, -1)
    X3 = np.moveaxis(X, 2, 0).reshape(K, -1)
    reg = 1e-3 * np.eye(r_)
    for _ in range(sweeps):
        kr = (B[:, None, :] * C[None, :, :]).reshape(-1, r_)
        A = X1 @ kr @ np.linalg.inv((B.T @ B) * (C.T @ C) + reg)
        nrm = np.sqrt(np.sum(A**2, axis=0))
        A = A / nrm
        kr = np.einsum("ir,kr->ikr", A, C).reshape(I * K, r_)
        B = np.linalg.solve((A.T @ A) * (C.T @ C) + reg, (X2 @ kr).T).T
        lam = np.linalg.norm(B, axis=0)
        B /= lam
        kr = np.stack([np.kron(A[:, j], B[:, j]) for j in range(r_)], axis=1)
        C = np.linalg.lstsq(kr, X3.T, rcond=None)[0].T
        C *= lam / lam.max()
    Y = np.einsum("ir,jr,kr->ijk", A, B, C)
    fit = 1 - np.linalg.norm((X - Y).ravel()) / np.linalg.norm(X.ravel())
    G = (A.T @ A) * (B.T @ B)
    cong = np.abs(G[np.triu_indices(r_, 1)]).max()
    marg = np.swapaxes(Y, 0, 2).sum(axis=1)
    low = np.sum(np.tril(marg[:I, :I]) ** 2)
    top = np.take(Y, [0, 2], axis=1).flatten().std()
    return fit + cong + 0.01 * low + top


def mvdr(X, pos, ang, w0, load):
    M, T = X.shape
    Z = np.fft.fft(X, axis=1)
    R = Z @ Z.conj().T / T
    R = R + load * np.trace(R).real / M * np.eye(M)
    k = 2 * np.pi * 0.5
    out = np.empty(len(ang))
    for i, th in enumerate(ang):
        a = np.exp(-1j * k * pos * np.sin(th))
        Ra = np.linalg.solve(R, a)
        out[i] = 1.0 / np.real(np.vdot(a, Ra))
    out /= out.max()
    db = 10 * np.log10(out + 1e-9)
    best = np.argmax(db)
    y = w0 @ X
    env = np.abs(Z[0]) + np.abs(Z[-1])
    half = env[: T // 2]
    p = half**2 / np.sum(half**2)
    entropy = -np.sum(p * np.log(p + 1e-12))
    phase = np.angle(Z[1, 1:4] * np.conj(Z[0, 1:4]))
    coh = np.abs(np.mean(np.exp(1j * phase)))
    lag = np.correlate(y, X[0], "full")
    peak = lag[T - 1 - 2 : T - 1 + 3]
    curve = peak[:-2] - 2 * peak[1:-1] + peak[2:]
    lam = np.linalg.eigvalsh(R)
    spread = np.log(lam[-1]) - np.log(lam[:-1]).mean()
    return db[best - 1 : best + 2].sum() + entropy + coh + np.mean(curve**2) + spread


# mesh geometry: laplacian smoothing
def mesh_energy(V, F, rest, lam):
    n = V.shape[0]
    P = V.copy()
    a, b, c = P[F[:, 0]], P[F[:, 1]], P[F[:, 2]]
    N = np.cross(b - a, c - a)
    A2 = np.linalg.norm(N, axis=1)
    area = 0.5 * A2
    vn = np.zeros_like(P)
    for k in range(3):
        np.add.at(vn, F[:, k], N)
    vn /= np.maximum(np.sqrt((vn**2).sum(-1, keepdims=True)), 1e-9)
    E = np.concatenate([F[:, [0, 1]], F[:, [1, 2]], F[:, [2, 0]]])
    E = np.sort(E, axis=1)
    E = np.unique(E[:, 0] * n + E[:, 1])
    i, j = E // n, E % n
    for _ in range(3):
        L = np.zeros((n, 3))
        deg = np.zeros(n)
        np.add.at(L, i, P[j] - P[i])
        np.add.at(L, j, P[i] - P[j])
        deg += np.bincount(i, minlength=n) + np.bincount(j, minlength=n)
        P += lam * L / deg[:, None]
    length = np.sqrt(np.sum((P[i] - P[j]) ** 2, axis=1))
    strain = (length / rest[: len(length)] - 1) ** 2
    vol = np.einsum("ij,ij->", a, np.cross(b, c)) / 6
    cosang = np.clip(
        np.sum((b - a) * (c - a), 1) / (np.linalg.norm(b - a, axis=1) * np.linalg.norm(c - a, axis=1)), -1, 1
    )
    ang = np.arccos(cosang)
    flat = 1 - np.abs(vn @ vn.T)[np.triu_indices(n, 1)].mean()
    return strain.sum() + area.var() + np.abs(vol) + ang.std() + flat + P.max(axis=0) @ P.min(axis=0)


# RNN with momentum SGD unrolled on inner problem (meta learning)
def meta(W, b, lr, X, Y, inner):
    p = [W.copy(), b.copy()]
    m = np.zeros_like(W)
    v = np.zeros_like(b)
    hist = []
    for it in range(inner):
        sl = slice(it % 2, None, 2)
        x, y = X[sl], Y[sl]
        h = np.tanh(x @ p[0].T + p[1])
        e = h - y
        hist.append(np.mean(e**2))
        d = 2 * e * (1 - h**2) / e.size
        gW = d.T @ x
        gb = d.sum(axis=0)
        norm = np.sqrt(np.sum(gW**2) + np.sum(gb**2))
        if norm > 0.5:
            gW, gb = gW * (0.5 / norm), gb * (0.5 / norm)
        m *= 0.9
        m += gW
        v = 0.9 * v + gb
        rate = lr[min(it, len(lr) - 1)]
        p[0] -= rate * m
        p[1] = p[1] - rate * v
    final = np.tanh(X @ p[0].T + p[1]) - Y
    last = np.mean(final**2)
    worst = np.max(np.abs(final), axis=0)
    sim = np.corrcoef(final.T)[0, 1]
    trend = np.dot(hist, np.linspace(0.1, 1, inner)) / inner
    rank = np.sum(np.linalg.svd(p[0], compute_uv=False)[1:])
    return last + 0.1 * worst.mean() + 0.05 * sim + trend + 0.01 * rank + np.var(m)


# survival statistics
def cox(beta, X, time, event, strata, frail):
    order = np.argsort(-time, kind="stable")
    X, time, event, strata = X[order], time[order], event[order], strata[order]
    eta = X @ beta + frail[strata]
    eta -= eta.mean()
    risk = np.exp(eta)
    ll = 0.0
    for s in range(frail.size):
        sel = np.flatnonzero(strata == s)
        if sel.size == 0:
            continue
        cum = np.cumsum(risk[sel])
        ev = event[sel].astype(bool)
        ll += np.sum(eta[sel][ev] - np.log(cum[ev]))
        xbar = np.cumsum(risk[sel, None] * X[sel], axis=0) / cum[:, None]
        sch = (X[sel] - xbar)[ev]
        ll -= 0.01 * np.sum(np.mean(sch, axis=0) ** 2)
    base = event / np.cumsum(risk)
    H = np.cumsum(base[::-1])[::-1]
    surv = np.exp(-np.outer(H, np.exp([-0.5, 0.0, 0.5])))
    rmst = np.trapezoid(surv[::-1], x=time[::-1], axis=0)
    mart = event - H * risk
    dev = np.sign(mart) * np.sqrt(2 * np.abs(mart + event * np.log(np.maximum(event - mart, 1e-8))) + 1e-9)
    shape = np.abs(frail) + 1
    prior = np.sum(special.gammaln(shape) - shape * np.log(shape)) + 0.5 * beta @ beta
    pairs = np.sign(eta[:, None] - eta) * np.sign(time[:, None] - time[None, :])
    soft = np.tanh(eta[:, None] - eta) * (pairs != 0)
    conc = np.triu(soft, 1).sum() / len(eta) ** 2
    return -ll + prior + 0.1 * rmst.std() + np.percentile(dev, 75) + conc


# wave equation inversion with PML + adjoint-like recording
def fwi(c, src, data, dt, dx):
    nz, nx = c.shape
    nt = src.shape[0]
    u_prev, u = np.zeros((nz, nx)), np.zeros((nz, nx))
    damp = np.ones((nz, nx))
    ramp = np.exp(-0.05 * np.arange(3)[::-1] ** 2)
    damp[:3] *= ramp[::-1, None]
    damp[-3:] *= ramp[:, None]
    damp[:, :3] *= ramp[::-1]
    damp[:, -3:] *= ramp
    rec = np.zeros((nt, nx))
    k = (c * dt / dx) ** 2
    for t in range(nt):
        lap = -4.0 * u
        lap[1:] += u[:-1]
        lap[:-1] += u[1:]
        lap[:, 1:] += u[:, :-1]
        lap[:, :-1] += u[:, 1:]
        u_next = damp * (2 * u - damp * u_prev + k * lap)
        u_next[nz // 2, nx // 2] += dt**2 * src[t]
        u_prev, u = u, u_next
        rec[t] = u[2]
    res = rec - data
    spec = np.fft.rfft(res * np.hanning(nt)[:, None], axis=0)
    w = np.linspace(1.0, 0.0, spec.shape[0])[:, None]
    freq = np.sum(w * np.abs(spec) ** 2) / nt
    gz, gx = np.gradient(c, dx)
    tv = np.sum(np.sqrt(gz**2 + gx**2 + 1e-3)) * dx**2
    env = np.sqrt(np.cumsum(rec**2, axis=0)[-1] + 1e-8)
    return freq + 0.5 * np.vdot(res, res) + 0.01 * tv + np.ptp(env) + np.linalg.norm(u, axis=1).max()


def _program(
    function: Any, arguments: Callable[[Any, Any], tuple[Any, ...]], by: tuple[int, ...] | None = None, needs: str = ""
) -> Program:
    """`arguments` gets a generator of random numbers, and its normal numbers."""

    def drawn() -> tuple[Any, ...]:
        rng = np.random.default_rng(5)
        return arguments(rng, rng.normal)

    return Program(function, drawn, True, by, needs)


PROGRAMS = {
    "vae": _program(
        vae,
        lambda r, N: (
            N(size=(6, 5)) * 0.5,
            N(size=5) * 0.1,
            N(size=(5, 2)),
            N(size=(5, 2)) * 0.5,
            N(size=(2, 6)),
            N(size=(8, 6)),
            N(size=(8, 2)),
        ),
    ),
    "ukf": _program(
        ukf, lambda r, N: (np.array([-2.0, -2.5, -1.0]), 1 + r.random(12), np.array([0.3, 0.2]), np.eye(2) * 0.2)
    ),
    "stft loss": _program(stft_loss, lambda r, N: (N(size=64), N(size=64), np.hanning(16), 8)),
    "reprojection": _program(
        reprojection,
        lambda r, N: (
            np.concatenate(
                [N(size=(3, 3)) * 0.3, N(size=(3, 3)) * 0.2 + [0, 0, 6], np.tile([2.0, 0.05, 0.01], (3, 1))], 1
            ),
            N(size=(9, 3)),
            N(size=(20, 2)) * 0.3,
            r.integers(0, 3, 20),
            r.integers(0, 9, 20),
        ),
    ),
    "shallow": _program(
        shallow,
        lambda r, N: (N(size=(7, 8)) * 0.1, N(size=(7, 8)) * 0.1, N(size=(7, 8)) * 0.1, 1 + r.random(8), 0.02, 6),
    ),
    "factor em": _program(factor_em, lambda r, N: (N(size=(6, 2)), 1 + r.random(6), N(size=(30, 6)), 4)),
    "md": _program(md, lambda r, N: (r.random((8, 3)) * 4, N(size=(8, 3)), N(size=8), np.array([4.0, 4.2, 3.9]), 5)),
    "crf": _program(
        crf,
        lambda r, N: (
            N(size=(4, 6, 3)),
            N(size=(3, 3)),
            N(size=3),
            r.integers(0, 3, (4, 6)),
            np.arange(6)[None, :] < np.array([6, 4, 5, 6])[:, None],
        ),
        needs="scipy",
    ),
    "portfolio": _program(portfolio, lambda r, N: (N(size=5) * 0.3, N(size=(40, 5)) * 0.02, N(size=40) * 0.01, 0.002)),
    "register": _program(register, lambda r, N: (np.array([0.1, 0.03, 0.4, -0.3]), N(size=(9, 10)), N(size=(9, 10)))),
    "gat": _program(
        gat,
        lambda r, N: (
            N(size=(7, 4)),
            N(size=(2, 4, 3)),
            N(size=(2, 6)),
            r.integers(0, 7, 20),
            r.permutation(np.r_[np.arange(7), r.integers(0, 7, 13)]),
            r.integers(0, 3, 7),
        ),
    ),
    "logistic path": _program(
        logistic_path, lambda r, N: (0.02, N(size=(30, 4)), (r.random(30) < 0.5).astype(float), 15), needs="scipy"
    ),
    "cn option": _program(
        cn_option, lambda r, N: (np.array([-1.2, 0.04]), np.linspace(0, 200, 41), 97.3, 1.0, 8), needs="scipy"
    ),
    "dtw barycenter": _program(dtw_barycenter, lambda r, N: (N(size=(6, 2)), N(size=(3, 7, 2)), 0.5)),
    "cp als": _program(
        cp_als, lambda r, N: (r.random((3, 4, 5)), r.random((3, 2)), r.random((4, 2)), r.random((5, 2)), 3)
    ),
    "mvdr": _program(
        mvdr, lambda r, N: (N(size=(4, 16)), np.arange(4.0) + 0.1 * N(size=4), np.linspace(-1, 1, 9), N(size=4), 0.1)
    ),
    "mesh energy": _program(
        mesh_energy,
        lambda r, N: (
            N(size=(6, 3)),
            np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1], [5, 2, 1], [5, 3, 2], [5, 4, 3], [5, 1, 4]]),
            1 + r.random(12),
            0.2,
        ),
    ),
    "meta": _program(
        meta,
        lambda r, N: (N(size=(3, 4)), N(size=3), np.array([0.3, 0.2, 0.1]), N(size=(8, 4)), np.tanh(N(size=(8, 3))), 5),
    ),
    "cox": _program(
        cox,
        lambda r, N: (
            N(size=3) * 0.3,
            N(size=(20, 3)),
            r.random(20) * 5,
            (r.random(20) < 0.7).astype(float),
            r.integers(0, 3, 20),
            N(size=3) * 0.3,
        ),
        by=(0, 1, 5),
        needs="scipy",
    ),
    "fwi": _program(fwi, lambda r, N: (1 + 0.1 * N(size=(8, 9)), N(size=12), N(size=(12, 9)) * 0.1, 0.3, 1.0)),
}
