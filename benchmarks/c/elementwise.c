/* Sums of elementwise expressions with their gradients, fused by hand; compiled with -ffast-math. */
#include "case.h"

#include <math.h>

/* in = m, s, x...: sum exp(-(x - m)^2 / (2 s s)) */
void gaussian_primal(Case *c) {
    double m = c->in[0], scale = -0.5 / (c->in[1] * c->in[1]), total = 0.0;
    const double *restrict x = c->in + 2;
    for (long i = 0; i < c->n; i++) total += exp((x[i] - m) * (x[i] - m) * scale);
    c->value = total;
}

void gaussian_adjoint(Case *c) {
    double m = c->in[0], s = c->in[1], scale = -0.5 / (s * s), total = 0.0, first = 0.0, second = 0.0;
    const double *restrict x = c->in + 2;
    double *restrict dx = c->grad + 2;
    for (long i = 0; i < c->n; i++) {
        double u = x[i] - m, e = exp(u * u * scale), d = e * u;
        total += e;
        first += d;
        second += d * u;
        dx[i] = 2.0 * scale * d;
    }
    c->value = total;
    c->grad[0] = -2.0 * scale * first;
    c->grad[1] = -2.0 * scale * second / s;
}

/* in = delta, m, x...: Huber's loss */
void huber_primal(Case *c) {
    double delta = c->in[0], m = c->in[1], total = 0.0;
    const double *restrict x = c->in + 2;
    for (long i = 0; i < c->n; i++) {
        double r = x[i] - m, a = fabs(r);
        total += a <= delta ? 0.5 * r * r : delta * (a - 0.5 * delta);
    }
    c->value = total;
}

void huber_adjoint(Case *c) {
    double delta = c->in[0], m = c->in[1], total = 0.0, dm = 0.0, ddelta = 0.0;
    const double *restrict x = c->in + 2;
    double *restrict dx = c->grad + 2;
    for (long i = 0; i < c->n; i++) {
        double r = x[i] - m, a = fabs(r), d = a <= delta ? r : copysign(delta, r);
        total += a <= delta ? 0.5 * r * r : delta * (a - 0.5 * delta);
        ddelta += a <= delta ? 0.0 : a - delta;
        dx[i] = d;
        dm -= d;
    }
    c->value = total;
    c->grad[0] = ddelta;
    c->grad[1] = dm;
}

/* in = two numbers that are not used, then x..., y...: sum of tanh(x y + x) log(1 + y y) */
void activation_primal(Case *c) {
    long n = c->n;
    const double *restrict x = c->in + 2, *restrict y = x + n;
    double total = 0.0;
    for (long i = 0; i < n; i++) total += tanh(x[i] * y[i] + x[i]) * log(1.0 + y[i] * y[i]);
    c->value = total;
}

void activation_adjoint(Case *c) {
    long n = c->n;
    const double *restrict x = c->in + 2, *restrict y = x + n;
    double *restrict dx = c->grad, *restrict dy = dx + n, total = 0.0;
    for (long i = 0; i < n; i++) {
        double t = tanh(x[i] * y[i] + x[i]), w = 1.0 + y[i] * y[i], l = log(w), d = (1.0 - t * t) * l;
        total += t * l;
        dx[i] = d * (y[i] + 1.0);
        dy[i] = d * x[i] + 2.0 * t * y[i] / w;
    }
    c->value = total;
}
