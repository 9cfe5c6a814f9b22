/* The loss of the demo and its derivative by hand, in C: the same operations as model.py and byhand.py. */
#include <math.h>

typedef struct {
    double h, l;
} State;

typedef struct {
    double alpha, beta, gamma, delta;
} Rates;

static inline State slope(State s, Rates r) {
    return (State){(r.alpha - r.beta * s.l) * s.h, (r.delta * s.h - r.gamma) * s.l};
}

static inline State at(State s, double dt, State k) { return (State){s.h + dt * k.h, s.l + dt * k.l}; }

/* One step; the states at which the slope was taken are left in `stage`. */
static inline State step(State s, Rates r, double dt, State *stage) {
    State k1 = slope(s, r), s2 = at(s, 0.5 * dt, k1), k2 = slope(s2, r), s3 = at(s, 0.5 * dt, k2), k3 = slope(s3, r);
    State s4 = at(s, dt, k3), k4 = slope(s4, r);
    stage[0] = s, stage[1] = s2, stage[2] = s3, stage[3] = s4;
    double d6 = dt / 6.0;
    return (State){s.h + d6 * (k1.h + 2.0 * k2.h + 2.0 * k3.h + k4.h), s.l + d6 * (k1.l + 2.0 * k2.l + 2.0 * k3.l + k4.l)};
}

double loss(const double *q, const double *hare, const double *lynx, long years, long steps) {
    Rates r = {exp(q[0]), exp(q[1]), exp(q[2]), exp(q[3])};
    State s = {exp(q[4]), exp(q[5])}, unused[4];
    double total = 0.0, dt = 1.0 / (double)steps;
    for (long year = 0; year < years; year++) {
        if (year > 0)
            for (long i = 0; i < steps; i++) s = step(s, r, dt, unused);
        double eh = log(s.h / hare[year]), el = log(s.l / lynx[year]);
        total += eh * eh + el * el;
    }
    return total;
}

/* The cotangent of a state from the cotangent k of its slope; adds to the rates' cotangents. */
static inline State back(State s, Rates r, State k, Rates *c) {
    c->alpha += k.h * s.h;
    c->beta -= k.h * s.h * s.l;
    c->gamma -= k.l * s.l;
    c->delta += k.l * s.h * s.l;
    return (State){k.h * (r.alpha - r.beta * s.l) + k.l * r.delta * s.l, k.l * (r.delta * s.h - r.gamma) - k.h * r.beta * s.h};
}

/* `tape` has room for 4 * (years - 1) * steps states, `errors` for `years`. */
double loss_and_gradient(const double *q, const double *hare, const double *lynx, long years, long steps,
                         double *gradient, State *restrict tape, State *restrict errors) {
    Rates r = {exp(q[0]), exp(q[1]), exp(q[2]), exp(q[3])}, c = {0.0, 0.0, 0.0, 0.0};
    State s = {exp(q[4]), exp(q[5])}, first = s;
    double total = 0.0, dt = 1.0 / (double)steps, d2 = 0.5 * dt, d6 = dt / 6.0, d3 = dt / 3.0;
    long k = 0;
    for (long year = 0; year < years; year++) {
        if (year > 0)
            for (long i = 0; i < steps; i++, k++) s = step(s, r, dt, tape + 4 * k);
        double eh = log(s.h / hare[year]), el = log(s.l / lynx[year]);
        total += eh * eh + el * el;
        errors[year] = (State){2.0 * eh / s.h, 2.0 * el / s.l};
    }
    State b = {0.0, 0.0};
    for (long year = years - 1; year >= 0; year--) {
        b.h += errors[year].h, b.l += errors[year].l;
        if (year > 0)
            for (long i = 0; i < steps; i++) {
                const State *t = tape + 4 * --k;
                State g4 = back(t[3], r, (State){d6 * b.h, d6 * b.l}, &c);
                State g3 = back(t[2], r, (State){d3 * b.h + dt * g4.h, d3 * b.l + dt * g4.l}, &c);
                State g2 = back(t[1], r, (State){d3 * b.h + d2 * g3.h, d3 * b.l + d2 * g3.l}, &c);
                State g1 = back(t[0], r, (State){d6 * b.h + d2 * g2.h, d6 * b.l + d2 * g2.l}, &c);
                b.h += (g4.h + g3.h) + (g2.h + g1.h);
                b.l += (g4.l + g3.l) + (g2.l + g1.l);
            }
    }
    gradient[0] = c.alpha * r.alpha, gradient[1] = c.beta * r.beta, gradient[2] = c.gamma * r.gamma;
    gradient[3] = c.delta * r.delta, gradient[4] = b.h * first.h, gradient[5] = b.l * first.l;
    return total;
}

/* For timing from Python without the cost of a call from Python: each of them `times` times. */
void repeat_loss(long times, const double *q, const double *hare, const double *lynx, long years, long steps) {
    double (*volatile call)(const double *, const double *, const double *, long, long) = loss;
    for (long i = 0; i < times; i++) call(q, hare, lynx, years, steps);
}

void repeat_loss_and_gradient(long times, const double *q, const double *hare, const double *lynx, long years,
                              long steps, double *gradient, State *tape, State *errors) {
    for (long i = 0; i < times; i++) loss_and_gradient(q, hare, lynx, years, steps, gradient, tape, errors);
}
