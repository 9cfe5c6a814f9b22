/* ADBench's GMM and LSTM objectives in C with adjoints by hand, to be compiled with -ffast-math, which gives vector versions of
 * exp, log and tanh where the C library has them.
 *
 * The mixture is computed for blocks of points, so that the inner loops run over points, with the triangular products
 * kept for the way back; the gradient by the means is one product L^T (sum of weighted y) per component, the sum over points
 * being linear.  The LSTM is a reverse sweep over the gates of every step.
 */
#include "case.h"

#include <math.h>
#include <string.h>

#define B 32 /* points in a block */

typedef double Row[B];

typedef struct {
    long n, d, k, m, width;
    double gamma;
    const double *alphas, *means, *icf, *x;
} Mixture;

/* in = n, d, k, gamma, m, then alphas, means, icf, x */
static Mixture mixture(const Case *c) {
    Mixture g;
    const double *in = c->in;
    g.n = (long)in[0], g.d = (long)in[1], g.k = (long)in[2], g.gamma = in[3], g.m = (long)in[4];
    g.width = g.d * (g.d + 1) / 2;
    g.alphas = in + 5;
    g.means = g.alphas + g.k;
    g.icf = g.means + g.k * g.d;
    g.x = g.icf + g.k * g.width;
    return g;
}

static double log_wishart(long d, long m, double gamma) {
    long n = d + m + 1;
    double multigamma = 0.25 * d * (d - 1) * log(M_PI);
    for (long j = 1; j <= d; j++) multigamma += lgamma(0.5 * (n + 1 - j));
    return n * d * (log(gamma) - 0.5 * log(2.0)) - multigamma;
}

static double logsumexp(const double *x, long n) {
    double largest = x[0], total = 0.0;
    for (long i = 1; i < n; i++) largest = x[i] > largest ? x[i] : largest;
    for (long i = 0; i < n; i++) total += exp(x[i] - largest);
    return largest + log(total);
}

/* work = factors (k d d, lower triangles by rows), weights (k), centred (d B), terms (k B), y (k d B), sums (k d) */
static inline __attribute__((always_inline)) double mixture_run(Case *c, int adjoint) {
    Mixture g = mixture(c);
    long n = g.n, d = g.d, k = g.k;
    double *factors = c->work, *weights = factors + k * d * d;
    Row *centred = (Row *)(weights + k), *terms = centred + d, *ys = terms + k;
    double *sums = (double *)(ys + k * d), *dfactors = sums + k * d;
    double prior = 0.0, total = 0.0;
    for (long j = 0; j < k; j++) {
        const double *icf = g.icf + j * g.width;
        double sum = 0.0, squares = 0.0, *L = factors + j * d * d;
        for (long a = 0; a < d; a++) {
            double e = exp(icf[a]);
            L[a * d + a] = e;
            sum += icf[a];
            squares += e * e;
        }
        const double *l = icf + d;
        for (long b = 0; b < d; b++)
            for (long a = b + 1; a < d; a++) {
                L[a * d + b] = *l;
                squares += *l * *l;
                l++;
            }
        weights[j] = g.alphas[j] + sum;
        prior += 0.5 * g.gamma * g.gamma * squares - g.m * sum;
    }
    double *dalphas = c->grad, *dmeans = dalphas + k, *dicf = dmeans + k * d;
    if (adjoint) {
        memset(c->grad, 0, sizeof(double) * k * (1 + d + g.width));
        memset(sums, 0, sizeof(double) * k * d);
        memset(dfactors, 0, sizeof(double) * k * d * d);
    }
    for (long first = 0; first < n; first += B) {
        long count = n - first < B ? n - first : B;
        for (long j = 0; j < k; j++) {
            const double *mean = g.means + j * d, *L = factors + j * d * d;
            Row *y = adjoint ? ys + j * d : ys;
            Row norm = {0};
            for (long a = 0; a < d; a++)
                for (long p = 0; p < B; p++)
                    centred[a][p] = p < count ? g.x[(first + p) * d + a] - mean[a] : 0.0;
            long a = 0;
            for (; a + 2 <= d; a += 2) { /* two rows at a time */
                Row r = {0}, s = {0};
                for (long b = 0; b <= a; b++) {
                    double u = L[a * d + b], v = L[(a + 1) * d + b];
                    for (long p = 0; p < B; p++) r[p] += u * centred[b][p], s[p] += v * centred[b][p];
                }
                double v = L[(a + 1) * d + a + 1];
                for (long p = 0; p < B; p++) {
                    s[p] += v * centred[a + 1][p];
                    norm[p] += r[p] * r[p] + s[p] * s[p];
                    y[a][p] = r[p], y[a + 1][p] = s[p];
                }
            }
            for (; a < d; a++) {
                Row r = {0};
                for (long b = 0; b <= a; b++)
                    for (long p = 0; p < B; p++) r[p] += L[a * d + b] * centred[b][p];
                for (long p = 0; p < B; p++) norm[p] += r[p] * r[p], y[a][p] = r[p];
            }
            for (long p = 0; p < B; p++) terms[j][p] = weights[j] - 0.5 * norm[p];
        }
        Row largest, sum = {0};
        for (long p = 0; p < B; p++) largest[p] = terms[0][p];
        for (long j = 1; j < k; j++)
            for (long p = 0; p < B; p++) largest[p] = terms[j][p] > largest[p] ? terms[j][p] : largest[p];
        for (long j = 0; j < k; j++)
            for (long p = 0; p < B; p++) sum[p] += terms[j][p] = exp(terms[j][p] - largest[p]);
        for (long p = 0; p < count; p++) total += largest[p] + log(sum[p]);
        if (!adjoint) continue;
        for (long p = 0; p < B; p++) sum[p] = p < count ? 1.0 / sum[p] : 0.0;
        for (long j = 0; j < k; j++) {
            const double *mean = g.means + j * d;
            Row *y = ys + j * d;
            double weight = 0.0;
            for (long p = 0; p < B; p++) weight += terms[j][p] *= sum[p];
            dalphas[j] += weight;
            for (long a = 0; a < d; a++)
                for (long p = 0; p < B; p++)
                    centred[a][p] = p < count ? g.x[(first + p) * d + a] - mean[a] : 0.0;
            for (long a = 0; a < d; a++) {
                double s = 0.0, *dL = dfactors + (j * d + a) * d;
                Row r;
                for (long p = 0; p < B; p++) s += r[p] = y[a][p] * terms[j][p];
                sums[j * d + a] += s;
                for (long b = 0; b <= a; b++) {
                    double t = 0.0;
                    for (long p = 0; p < B; p++) t += r[p] * centred[b][p];
                    dL[b] -= t;
                }
            }
        }
    }
    c->value = -0.5 * n * d * log(2.0 * M_PI) - k * log_wishart(d, g.m, g.gamma) + total
               - n * logsumexp(g.alphas, k) + prior;
    if (!adjoint) return c->value;
    double normaliser = logsumexp(g.alphas, k), squared = g.gamma * g.gamma;
    for (long j = 0; j < k; j++) {
        const double *L = factors + j * d * d, *dL = dfactors + j * d * d, *s = sums + j * d;
        double weight = dalphas[j], *out = dicf + j * g.width, *l = out + d;
        for (long a = 0; a < d; a++) {
            double e = L[a * d + a];
            for (long b = 0; b <= a; b++) dmeans[j * d + b] += L[a * d + b] * s[a];
            out[a] = weight + dL[a * d + a] * e + squared * e * e - g.m;
        }
        for (long b = 0; b < d; b++)
            for (long a = b + 1; a < d; a++) *l++ = dL[a * d + b] + squared * L[a * d + b];
        dalphas[j] = weight - n * exp(g.alphas[j] - normaliser);
    }
    return c->value;
}

void gmm_primal(Case *c) { mixture_run(c, 0); }
void gmm_adjoint(Case *c) { mixture_run(c, 1); }

/* in = layers, length, b, then main, extra, state, sequence; work = state (2 layers b), its cotangents, three rows;
 * tape = for each step and layer: hidden, x, cell before, forget, ingate, outgate, change, tanh(cell), each b numbers; then the
 * last x of every step. */

static double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }

/* A layer: what is at hand in rows of b numbers, so that the loop is one over vectors. */
static inline __attribute__((always_inline)) void step(long b, const double *restrict w, const double *restrict v,
        double *restrict hidden, double *restrict cell, double *restrict x, double *restrict kept, int keep) {
    for (long j = 0; j < b; j++) {
        double given = x[j], old = hidden[j], before = cell[j];
        double forget = sigmoid(given * w[j] + v[j]), ingate = sigmoid(old * w[b + j] + v[b + j]);
        double outgate = sigmoid(given * w[2 * b + j] + v[2 * b + j]), change = tanh(old * w[3 * b + j] + v[3 * b + j]);
        double next = before * forget + ingate * change, squashed = tanh(next);
        if (keep) {
            kept[j] = old, kept[b + j] = given, kept[2 * b + j] = before, kept[3 * b + j] = forget;
            kept[4 * b + j] = ingate, kept[5 * b + j] = outgate, kept[6 * b + j] = change, kept[7 * b + j] = squashed;
        }
        cell[j] = next;
        x[j] = hidden[j] = outgate * squashed;
    }
}

static inline __attribute__((always_inline)) void step_back(long b, const double *restrict w, const double *restrict kept,
        double *restrict dw, double *restrict dv, double *restrict dhidden, double *restrict dcell, double *restrict dx) {
    for (long j = 0; j < b; j++) {
        double hidden = kept[j], given = kept[b + j], cell = kept[2 * b + j], forget = kept[3 * b + j];
        double ingate = kept[4 * b + j], outgate = kept[5 * b + j], change = kept[6 * b + j], squashed = kept[7 * b + j];
        double d = dx[j] + dhidden[j], dnext = dcell[j] + d * outgate * (1.0 - squashed * squashed);
        double df = dnext * cell * forget * (1.0 - forget), di = dnext * change * ingate * (1.0 - ingate);
        double dout = d * squashed * outgate * (1.0 - outgate), dc = dnext * ingate * (1.0 - change * change);
        dcell[j] = dnext * forget;
        dhidden[j] = di * w[b + j] + dc * w[3 * b + j];
        dx[j] = df * w[j] + dout * w[2 * b + j];
        dw[j] += df * given, dv[j] += df;
        dw[b + j] += di * hidden, dv[b + j] += di;
        dw[2 * b + j] += dout * given, dv[2 * b + j] += dout;
        dw[3 * b + j] += dc * hidden, dv[3 * b + j] += dc;
    }
}

static inline __attribute__((always_inline)) void lstm_run(Case *c, int adjoint, long b) {
    const double *in = c->in;
    long layers = (long)in[0], length = (long)in[1];
    const double *main = in + 3, *extra = main + 8 * layers * b, *start = extra + 3 * b, *sequence = start + 2 * layers * b;
    double *state = c->work, *tape = c->tape, total = 0.0;
    double *restrict x = state + 4 * layers * b;
    long record = 8 * b;
    memcpy(state, start, sizeof(double) * 2 * layers * b);
    for (long t = 0; t < length - 1; t++) {
        const double *given = sequence + t * b, *target = given + b;
        for (long j = 0; j < b; j++) x[j] = given[j] * extra[j];
        for (long layer = 0; layer < layers; layer++) {
            const double *restrict w = main + 8 * layer * b, *restrict v = w + 4 * b;
            double *restrict hidden = state + 2 * layer * b, *restrict cell = hidden + b;
            double *restrict kept = tape;
            if (adjoint) tape += record;
            step(b, w, v, hidden, cell, x, kept, adjoint);
        }
        double sum = 2.0;
        for (long j = 0; j < b; j++) sum += exp(x[j] * extra[b + j] + extra[2 * b + j]);
        double normaliser = log(sum);
        for (long j = 0; j < b; j++) total += target[j] * (x[j] * extra[b + j] + extra[2 * b + j] - normaliser);
    }
    double scale = -1.0 / (double)(b * (length - 1));
    c->value = total * scale;
    if (!adjoint) return;
    double *dmain = c->grad, *dextra = dmain + 8 * layers * b, *dstate = state + 2 * layers * b;
    memset(dmain, 0, sizeof(double) * (8 * layers * b + 3 * b));
    memset(dstate, 0, sizeof(double) * 2 * layers * b);
    for (long t = length - 2; t >= 0; t--) {
        const double *given = sequence + t * b, *target = given + b;
        const double *last = tape - record;
        double sum = 2.0, targets = 0.0, *restrict p = x + b, *restrict dx = p + b;
        for (long j = 0; j < b; j++) {
            x[j] = last[5 * b + j] * last[7 * b + j];
            sum += p[j] = exp(x[j] * extra[b + j] + extra[2 * b + j]);
            targets += target[j];
        }
        for (long j = 0; j < b; j++) {
            double d = scale * (target[j] - targets * p[j] / sum);
            dx[j] = d * extra[b + j];
            dextra[b + j] += d * x[j];
            dextra[2 * b + j] += d;
        }
        for (long layer = layers - 1; layer >= 0; layer--) {
            const double *restrict w = main + 8 * layer * b;
            double *restrict dw = dmain + 8 * layer * b, *restrict dv = dw + 4 * b;
            double *restrict dhidden = dstate + 2 * layer * b, *restrict dcell = dhidden + b;
            const double *restrict kept = tape -= record;
            step_back(b, w, kept, dw, dv, dhidden, dcell, dx);
        }
        for (long j = 0; j < b; j++) dextra[j] += dx[j] * given[j];
    }
}

/* ADBench's b is 14; a constant tells the compiler that rows do not overlap. */
static inline __attribute__((always_inline)) void lstm(Case *c, int adjoint) {
    if (c->in[2] == 14.0)
        lstm_run(c, adjoint, 14);
    else
        lstm_run(c, adjoint, (long)c->in[2]);
}

void lstm_primal(Case *c) { lstm(c, 0); }
void lstm_adjoint(Case *c) { lstm(c, 1); }
