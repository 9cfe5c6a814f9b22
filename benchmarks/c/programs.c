/* The benchmark programs in C, with adjoints written by hand that keep what they need on a store-all tape.
 *
 * Every function takes a Case: `in` holds the inputs one after another, `grad` receives the gradient in the same order,
 * `work` is scratch memory, and `tape` the tape, allocated beforehand by the caller (so no allocation is timed here).
 * The primal programs do the same operations in the same order as benchmarks/programs.py.
 */
#include "case.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ power: in = x */

void power_primal(Case *c) {
    double x = c->in[0], r = 1.0;
    for (long n = c->n; n > 0; n--) r *= x;
    c->value = r;
}

void power_adjoint(Case *c) {
    double x = c->in[0], r = 1.0, *restrict tape = c->tape;
    long n = c->n;
    for (long i = 0; i < n; i++) {
        tape[i] = r;
        r *= x;
    }
    double dr = 1.0, dx = 0.0;
    for (long i = n - 1; i >= 0; i--) {
        dx += dr * tape[i];
        dr *= x;
    }
    c->value = r;
    c->grad[0] = dx;
}

/* -------------------------------------------------------- Lorenz, RK4: in = x, y, z, sigma, rho, beta, then h */

typedef struct {
    double x, y, z;
} Point;

static inline Point slope(double x, double y, double z, double sigma, double rho, double beta) {
    return (Point){sigma * (y - x), x * (rho - z) - y, x * y - beta * z};
}

void lorenz_primal(Case *c) {
    const double *in = c->in;
    double x = in[0], y = in[1], z = in[2], sigma = in[3], rho = in[4], beta = in[5], h = in[6];
    for (long s = 0; s < c->steps; s++) {
        Point a = slope(x, y, z, sigma, rho, beta);
        Point b = slope(x + 0.5 * h * a.x, y + 0.5 * h * a.y, z + 0.5 * h * a.z, sigma, rho, beta);
        Point d = slope(x + 0.5 * h * b.x, y + 0.5 * h * b.y, z + 0.5 * h * b.z, sigma, rho, beta);
        Point e = slope(x + h * d.x, y + h * d.y, z + h * d.z, sigma, rho, beta);
        x += h / 6.0 * (a.x + 2.0 * b.x + 2.0 * d.x + e.x);
        y += h / 6.0 * (a.y + 2.0 * b.y + 2.0 * d.y + e.y);
        z += h / 6.0 * (a.z + 2.0 * b.z + 2.0 * d.z + e.z);
    }
    c->value = x + y + z;
}

/* The adjoint of `slope` at (x, y, z) for the cotangent k of its result: adds to p (state) and q (parameters). */
static inline void slope_adjoint(double x, double y, double z, double sigma, double rho, double beta, Point k, Point *p,
                                 Point *q) {
    p->x += k.y * (rho - z) + k.z * y - sigma * k.x;
    p->y += sigma * k.x - k.y + k.z * x;
    p->z += -(k.y * x) - beta * k.z;
    q->x += k.x * (y - x);
    q->y += k.y * x;
    q->z -= k.z * z;
}

/* Keeps the state at the four stages of every step: 12 doubles a step. */
void lorenz_adjoint(Case *c) {
    const double *in = c->in;
    double *restrict tape = c->tape;
    double x = in[0], y = in[1], z = in[2], sigma = in[3], rho = in[4], beta = in[5], h = in[6];
    long steps = c->steps;
    for (long s = 0; s < steps; s++) {
        double *restrict t = tape + 12 * s;
        Point a = slope(x, y, z, sigma, rho, beta);
        double x2 = x + 0.5 * h * a.x, y2 = y + 0.5 * h * a.y, z2 = z + 0.5 * h * a.z;
        Point b = slope(x2, y2, z2, sigma, rho, beta);
        double x3 = x + 0.5 * h * b.x, y3 = y + 0.5 * h * b.y, z3 = z + 0.5 * h * b.z;
        Point d = slope(x3, y3, z3, sigma, rho, beta);
        double x4 = x + h * d.x, y4 = y + h * d.y, z4 = z + h * d.z;
        Point e = slope(x4, y4, z4, sigma, rho, beta);
        t[0] = x, t[1] = y, t[2] = z, t[3] = x2, t[4] = y2, t[5] = z2;
        t[6] = x3, t[7] = y3, t[8] = z3, t[9] = x4, t[10] = y4, t[11] = z4;
        x += h / 6.0 * (a.x + 2.0 * b.x + 2.0 * d.x + e.x);
        y += h / 6.0 * (a.y + 2.0 * b.y + 2.0 * d.y + e.y);
        z += h / 6.0 * (a.z + 2.0 * b.z + 2.0 * d.z + e.z);
    }
    c->value = x + y + z;
    Point p = {1.0, 1.0, 1.0}, q = {0.0, 0.0, 0.0};
    double h2 = 0.5 * h, h3 = h / 3.0, h6 = h / 6.0;
    for (long s = steps - 1; s >= 0; s--) {
        const double *restrict t = tape + 12 * s;
        Point k4 = {h6 * p.x, h6 * p.y, h6 * p.z}, w = {0.0, 0.0, 0.0};
        slope_adjoint(t[9], t[10], t[11], sigma, rho, beta, k4, &w, &q);
        Point k3 = {h3 * p.x + h * w.x, h3 * p.y + h * w.y, h3 * p.z + h * w.z}, w3 = {0.0, 0.0, 0.0};
        slope_adjoint(t[6], t[7], t[8], sigma, rho, beta, k3, &w3, &q);
        Point k2 = {h3 * p.x + h2 * w3.x, h3 * p.y + h2 * w3.y, h3 * p.z + h2 * w3.z}, w2 = {0.0, 0.0, 0.0};
        slope_adjoint(t[3], t[4], t[5], sigma, rho, beta, k2, &w2, &q);
        Point k1 = {h6 * p.x + h2 * w2.x, h6 * p.y + h2 * w2.y, h6 * p.z + h2 * w2.z}, w1 = {0.0, 0.0, 0.0};
        slope_adjoint(t[0], t[1], t[2], sigma, rho, beta, k1, &w1, &q);
        p.x += (w.x + w3.x) + (w2.x + w1.x);
        p.y += (w.y + w3.y) + (w2.y + w1.y);
        p.z += (w.z + w3.z) + (w2.z + w1.z);
    }
    double *g = c->grad;
    g[0] = p.x, g[1] = p.y, g[2] = p.z, g[3] = q.x, g[4] = q.y, g[5] = q.z;
}

/* The same with 3 doubles a step: the stages are computed again from the state at the start of the step. */
void lorenz_adjoint_tuned(Case *c) {
    const double *in = c->in;
    double *restrict tape = c->tape;
    double x = in[0], y = in[1], z = in[2], sigma = in[3], rho = in[4], beta = in[5], h = in[6];
    long steps = c->steps;
    for (long s = 0; s < steps; s++) {
        double *restrict t = tape + 3 * s;
        t[0] = x, t[1] = y, t[2] = z;
        Point a = slope(x, y, z, sigma, rho, beta);
        Point b = slope(x + 0.5 * h * a.x, y + 0.5 * h * a.y, z + 0.5 * h * a.z, sigma, rho, beta);
        Point d = slope(x + 0.5 * h * b.x, y + 0.5 * h * b.y, z + 0.5 * h * b.z, sigma, rho, beta);
        Point e = slope(x + h * d.x, y + h * d.y, z + h * d.z, sigma, rho, beta);
        x += h / 6.0 * (a.x + 2.0 * b.x + 2.0 * d.x + e.x);
        y += h / 6.0 * (a.y + 2.0 * b.y + 2.0 * d.y + e.y);
        z += h / 6.0 * (a.z + 2.0 * b.z + 2.0 * d.z + e.z);
    }
    c->value = x + y + z;
    Point p = {1.0, 1.0, 1.0}, q = {0.0, 0.0, 0.0};
    double h2 = 0.5 * h, h3 = h / 3.0, h6 = h / 6.0;
    for (long s = steps - 1; s >= 0; s--) {
        const double *restrict t = tape + 3 * s;
        double x1 = t[0], y1 = t[1], z1 = t[2];
        Point a = slope(x1, y1, z1, sigma, rho, beta);
        double x2 = x1 + h2 * a.x, y2 = y1 + h2 * a.y, z2 = z1 + h2 * a.z;
        Point b = slope(x2, y2, z2, sigma, rho, beta);
        double x3 = x1 + h2 * b.x, y3 = y1 + h2 * b.y, z3 = z1 + h2 * b.z;
        Point d = slope(x3, y3, z3, sigma, rho, beta);
        double x4 = x1 + h * d.x, y4 = y1 + h * d.y, z4 = z1 + h * d.z;
        Point k4 = {h6 * p.x, h6 * p.y, h6 * p.z}, w = {0.0, 0.0, 0.0};
        slope_adjoint(x4, y4, z4, sigma, rho, beta, k4, &w, &q);
        Point k3 = {h3 * p.x + h * w.x, h3 * p.y + h * w.y, h3 * p.z + h * w.z}, w3 = {0.0, 0.0, 0.0};
        slope_adjoint(x3, y3, z3, sigma, rho, beta, k3, &w3, &q);
        Point k2 = {h3 * p.x + h2 * w3.x, h3 * p.y + h2 * w3.y, h3 * p.z + h2 * w3.z}, w2 = {0.0, 0.0, 0.0};
        slope_adjoint(x2, y2, z2, sigma, rho, beta, k2, &w2, &q);
        Point k1 = {h6 * p.x + h2 * w2.x, h6 * p.y + h2 * w2.y, h6 * p.z + h2 * w2.z}, w1 = {0.0, 0.0, 0.0};
        slope_adjoint(x1, y1, z1, sigma, rho, beta, k1, &w1, &q);
        p.x += (w.x + w3.x) + (w2.x + w1.x);
        p.y += (w.y + w3.y) + (w2.y + w1.y);
        p.z += (w.z + w3.z) + (w2.z + w1.z);
    }
    double *g = c->grad;
    g[0] = p.x, g[1] = p.y, g[2] = p.z, g[3] = q.x, g[4] = q.y, g[5] = q.z;
}

/* ------------------------------------------------------- wave, n x n: in = c, dt, then u0; the gradient is of u0 */

static inline void wave_step(long n, double c2, double dt, double *restrict u, double *restrict v) {
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++) {
            long k = i * n + j;
            double w = u[k];
            double laplacian = u[k - n] + u[k + n] + u[k - 1] + u[k + 1] - 4.0 * w;
            v[k] += dt * (c2 * laplacian - w * w * w);
        }
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++) u[i * n + j] += dt * v[i * n + j];
}

static inline double wave_value(long size, const double *restrict u, const double *restrict v) {
    double total = 0.0;
    for (long k = 0; k < size; k++) total += u[k] * u[k] + v[k] * v[k];
    return 0.5 * total;
}

void wave_primal(Case *c) {
    long n = c->n, size = n * n;
    double *restrict u = c->work, *restrict v = u + size;
    memcpy(u, c->in + 2, size * sizeof(double));
    memset(v, 0, size * sizeof(double));
    for (long s = 0; s < c->steps; s++) wave_step(n, c->in[0], c->in[1], u, v);
    c->value = wave_value(size, u, v);
}

/* One reverse step, in gather form.  v is 0 on the edge, so its cotangent vb is too, and an inner point may gather from
 * all its neighbours without asking where it lies; only the edge itself is done apart. */
static inline void wave_step_adjoint(long n, double c2, double dt, const double *restrict u, double *restrict ub,
                                     double *restrict vb) {
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++) vb[i * n + j] += dt * ub[i * n + j];
    double dc = dt * c2, d3 = 3.0 * dt;
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++) {
            long k = i * n + j;
            double w = u[k], b = vb[k];
            ub[k] += dc * (vb[k - n] + vb[k + n] + vb[k - 1] + vb[k + 1] - 4.0 * b) - d3 * w * w * b;
        }
    for (long j = 1; j < n - 1; j++) {
        ub[j] += dc * vb[n + j];
        ub[(n - 1) * n + j] += dc * vb[(n - 2) * n + j];
        ub[j * n] += dc * vb[j * n + 1];
        ub[j * n + n - 1] += dc * vb[j * n + n - 2];
    }
}

static inline void wave_reverse(Case *c, const double *restrict u, double *restrict v) {
    long n = c->n, size = n * n;
    double *restrict ub = c->grad, *restrict vb = v; /* vb starts as v */
    memcpy(ub, u, size * sizeof(double));
    for (long s = c->steps - 1; s >= 0; s--) wave_step_adjoint(n, c->in[0], c->in[1], c->tape + s * size, ub, vb);
}

/* The simple form: u is copied to the tape before every step. */
void wave_adjoint(Case *c) {
    long n = c->n, size = n * n;
    double *restrict u = c->work, *restrict v = u + size;
    memcpy(u, c->in + 2, size * sizeof(double));
    memset(v, 0, size * sizeof(double));
    for (long s = 0; s < c->steps; s++) {
        memcpy(c->tape + s * size, u, size * sizeof(double));
        wave_step(n, c->in[0], c->in[1], u, v);
    }
    c->value = wave_value(size, u, v);
    wave_reverse(c, u, v);
}

/* Tuned: u of the next step is written straight to the tape, and the reverse sweep goes over memory once a step. */
void wave_adjoint_tuned(Case *c) {
    long n = c->n, size = n * n, steps = c->steps;
    double c2 = c->in[0], dt = c->in[1], *restrict v = c->work, *restrict tape = c->tape;
    memcpy(tape, c->in + 2, size * sizeof(double));
    memset(v, 0, size * sizeof(double));
    for (long s = 0; s < steps; s++) {
        const double *restrict u = tape + s * size;
        double *restrict next = tape + (s + 1) * size;
        memcpy(next, u, n * sizeof(double));
        memcpy(next + size - n, u + size - n, n * sizeof(double));
        for (long i = 1; i < n - 1; i++) {
            next[i * n] = u[i * n];
            next[i * n + n - 1] = u[i * n + n - 1];
            for (long j = 1; j < n - 1; j++) {
                long k = i * n + j;
                double w = u[k];
                double laplacian = u[k - n] + u[k + n] + u[k - 1] + u[k + 1] - 4.0 * w;
                double a = v[k] + dt * (c2 * laplacian - w * w * w);
                v[k] = a;
                next[k] = w + dt * a;
            }
        }
    }
    c->value = wave_value(size, tape + steps * size, v);
    wave_reverse(c, tape + steps * size, v);
}

/* --------------------------------------- n bodies, leapfrog: in = dt, x0 (n x 3), v0 (n x 3), mass (n); gradient of
 * x0, v0, mass */

static inline void drift(long n, double half, double *restrict x, const double *restrict v) {
    for (long i = 0; i < 3 * n; i++) x[i] += half * v[i];
}

static inline void kick(long n, double dt, const double *restrict x, double *restrict v, const double *restrict mass) {
    for (long i = 0; i < n; i++)
        for (long j = i + 1; j < n; j++) {
            double dx = x[3 * i] - x[3 * j], dy = x[3 * i + 1] - x[3 * j + 1], dz = x[3 * i + 2] - x[3 * j + 2];
            double d2 = dx * dx + dy * dy + dz * dz;
            double w = dt / (d2 * sqrt(d2));
            double a = w * mass[j], b = w * mass[i];
            v[3 * i] -= dx * a, v[3 * i + 1] -= dy * a, v[3 * i + 2] -= dz * a;
            v[3 * j] += dx * b, v[3 * j + 1] += dy * b, v[3 * j + 2] += dz * b;
        }
}

static inline double kinetic(long n, const double *restrict v, const double *restrict mass) {
    double energy = 0.0;
    for (long i = 0; i < n; i++) {
        const double *p = v + 3 * i;
        energy += 0.5 * mass[i] * (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    }
    return energy;
}

void nbody_primal(Case *c) {
    long n = c->n;
    double dt = c->in[0], half = 0.5 * dt, *restrict x = c->work, *restrict v = x + 3 * n;
    const double *restrict mass = c->in + 1 + 6 * n;
    memcpy(x, c->in + 1, 3 * n * sizeof(double));
    memcpy(v, c->in + 1 + 3 * n, 3 * n * sizeof(double));
    for (long s = 0; s < c->steps; s++) {
        drift(n, half, x, v);
        kick(n, dt, x, v, mass);
        drift(n, half, x, v);
    }
    c->value = kinetic(n, v, mass);
}

/* Per step the positions at the kick and, per pair, the weight and the squared distance are kept. */
void nbody_adjoint(Case *c) {
    long n = c->n, n3 = 3 * n, record = n3 + n * (n - 1);
    double dt = c->in[0], half = 0.5 * dt;
    double *restrict x = c->work, *restrict v = x + n3, *restrict tape = c->tape;
    const double *restrict mass = c->in + 1 + 2 * n3;
    memcpy(x, c->in + 1, n3 * sizeof(double));
    memcpy(v, c->in + 1 + n3, n3 * sizeof(double));
    for (long s = 0; s < c->steps; s++) {
        drift(n, half, x, v);
        double *restrict t = tape + s * record;
        for (long i = 0; i < n3; i++) t[i] = x[i];
        t += n3;
        for (long i = 0; i < n; i++)
            for (long j = i + 1; j < n; j++, t += 2) {
                double dx = x[3 * i] - x[3 * j], dy = x[3 * i + 1] - x[3 * j + 1], dz = x[3 * i + 2] - x[3 * j + 2];
                double d2 = dx * dx + dy * dy + dz * dz;
                double w = dt / (d2 * sqrt(d2));
                double a = w * mass[j], b = w * mass[i];
                t[0] = w, t[1] = d2;
                v[3 * i] -= dx * a, v[3 * i + 1] -= dy * a, v[3 * i + 2] -= dz * a;
                v[3 * j] += dx * b, v[3 * j + 1] += dy * b, v[3 * j + 2] += dz * b;
            }
        drift(n, half, x, v);
    }
    c->value = kinetic(n, v, mass);
    double *restrict xb = c->grad, *restrict vb = xb + n3, *restrict mb = vb + n3;
    for (long i = 0; i < n; i++) {
        const double *p = v + 3 * i;
        mb[i] = 0.5 * (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        for (long k = 0; k < 3; k++) vb[3 * i + k] = mass[i] * p[k], xb[3 * i + k] = 0.0;
    }
    for (long s = c->steps - 1; s >= 0; s--) {
        const double *restrict t = tape + s * record, *restrict pairs = t + n3;
        for (long i = 0; i < n3; i++) vb[i] += half * xb[i];
        for (long i = 0; i < n; i++)
            for (long j = i + 1; j < n; j++, pairs += 2) {
                double dx = t[3 * i] - t[3 * j], dy = t[3 * i + 1] - t[3 * j + 1], dz = t[3 * i + 2] - t[3 * j + 2];
                double w = pairs[0], d2 = pairs[1];
                const double *p = vb + 3 * i, *q = vb + 3 * j;
                double si = dx * p[0] + dy * p[1] + dz * p[2], sj = dx * q[0] + dy * q[1] + dz * q[2];
                double r = mass[i] * sj - mass[j] * si; /* the cotangent of w */
                mb[i] += w * sj;
                mb[j] -= w * si;
                double e = -3.0 * w / d2 * r, a = w * mass[j], b = w * mass[i];
                double gx = b * q[0] - a * p[0] + e * dx;
                double gy = b * q[1] - a * p[1] + e * dy;
                double gz = b * q[2] - a * p[2] + e * dz;
                xb[3 * i] += gx, xb[3 * i + 1] += gy, xb[3 * i + 2] += gz;
                xb[3 * j] -= gx, xb[3 * j + 1] -= gy, xb[3 * j + 2] -= gz;
            }
        for (long i = 0; i < n3; i++) vb[i] += half * xb[i];
    }
}

/* -------------------------------------------- Gauss-Seidel, n x n: in = u0, f; the gradient is of both, in that order */

static inline void sweep(long n, double *u, const double *restrict f) {
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++) {
            long k = i * n + j;
            u[k] = 0.25 * (u[k - n] + u[k + n] + u[k - 1] + u[k + 1] - f[k]);
        }
}

static inline double half_squares(long size, const double *u) {
    double total = 0.0;
    for (long k = 0; k < size; k++) total += u[k] * u[k];
    return 0.5 * total;
}

void gauss_seidel_primal(Case *c) {
    long size = c->n * c->n;
    double *u = c->work;
    memcpy(u, c->in, size * sizeof(double));
    for (long s = 0; s < c->steps; s++) sweep(c->n, u, c->in + size);
    c->value = half_squares(size, u);
}

/* The iteration is linear, so no value is kept.  Reverse order; what flows to the left neighbour stays in a register. */
void gauss_seidel_adjoint(Case *c) {
    long n = c->n, size = n * n;
    double *u = c->work, *restrict ub = c->grad, *restrict fb = ub + size;
    memcpy(u, c->in, size * sizeof(double));
    for (long s = 0; s < c->steps; s++) sweep(n, u, c->in + size);
    c->value = half_squares(size, u);
    memcpy(ub, u, size * sizeof(double));
    memset(fb, 0, size * sizeof(double));
    for (long s = c->steps - 1; s >= 0; s--)
        for (long i = n - 2; i >= 1; i--) {
            double *restrict row = ub + i * n, *restrict above = row - n, *restrict below = row + n;
            double here = row[n - 2];
            for (long j = n - 2; j >= 1; j--) {
                double d = 0.25 * here;
                here = row[j - 1] + d;
                row[j] = 0.0;
                row[j + 1] += d;
                above[j] += d;
                below[j] += d;
                fb[i * n + j] -= d;
            }
            row[0] = here;
        }
}
