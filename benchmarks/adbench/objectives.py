"""The objectives in the Python that a user would write: as plain loops, and with whole arrays."""

from __future__ import annotations

import math

import numpy as np

# ------------------------------------------------------------------------------------------------ Gaussian mixture model


def log_wishart(d, m, gamma):
    """The normalising constant of the Wishart prior of one component."""
    n = d + m + 1
    multigamma = 0.25 * d * (d - 1) * math.log(math.pi)
    for j in range(1, d + 1):
        multigamma += math.lgamma(0.5 * (n + 1 - j))
    return n * d * (math.log(gamma) - 0.5 * math.log(2.0)) - multigamma


def logsumexp(x):
    largest = x[0]
    for v in x:
        if v > largest:
            largest = v
    total = 0.0
    for v in x:
        total += math.exp(v - largest)
    return largest + math.log(total)


def gmm_loops(alphas, means, icf, x, gamma, m):
    """The log posterior of a Gaussian mixture; icf holds the factors of the inverse covariances, the diagonal by logarithms
    first, then what is below it by columns.

    The inner loops go over a block of 64 points, whose coordinates lie together and stay in the cache: L (x - mu) as
    L x - L mu."""
    n, d = x.shape
    k = len(alphas)
    factors = np.empty((k, d, d))
    shifts = np.empty((k, d))
    weights = np.empty(k)
    prior = 0.0
    for c in range(k):
        total = 0.0
        squares = 0.0
        at = d
        for j in range(d):
            diagonal = math.exp(icf[c, j])
            factors[c, j, j] = diagonal
            total += icf[c, j]
            squares += diagonal * diagonal
            for r in range(j + 1, d):
                factors[c, r, j] = icf[c, at]
                squares += icf[c, at] * icf[c, at]
                at += 1
        for r in range(d):
            shift = 0.0
            for j in range(r + 1):
                shift += factors[c, r, j] * means[c, j]
            shifts[c, r] = shift
        weights[c] = alphas[c] + total
        prior += 0.5 * gamma * gamma * squares - m * total

    blocks = (n + 63) // 64
    coordinates = np.empty((blocks, d, 64))
    for i in range(n):
        for j in range(d):
            coordinates[i // 64, j, i % 64] = x[i, j]
    terms = np.empty((k, 64))
    y = np.empty(64)
    norms = np.empty(64)
    largest = np.empty(64)
    sums = np.empty(64)
    total = 0.0
    for b in range(blocks):
        size = min(64, n - b * 64)
        for c in range(k):
            for i in range(size):
                norms[i] = 0.0
            for r in range(d):
                for i in range(size):
                    y[i] = -shifts[c, r]
                for j in range(r):
                    for i in range(size):
                        y[i] += factors[c, r, j] * coordinates[b, j, i]
                for i in range(size):
                    component = y[i] + factors[c, r, r] * coordinates[b, r, i]
                    norms[i] += component * component
            for i in range(size):
                terms[c, i] = weights[c] - 0.5 * norms[i]
        for i in range(size):
            largest[i] = terms[0, i]
            sums[i] = 0.0
        for c in range(1, k):
            for i in range(size):
                largest[i] = max(largest[i], terms[c, i])
        for c in range(k):
            for i in range(size):
                sums[i] += np.exp(terms[c, i] - largest[i])
        for i in range(size):
            total += largest[i] + np.log(sums[i])
    constant = -0.5 * n * d * math.log(2.0 * math.pi) - k * log_wishart(d, m, gamma)
    return constant + total - n * logsumexp(alphas) + prior


def gmm_points(alphas, means, icf, x, gamma, m):
    """The same as ADBench's own programs have it: point by point, from the packed factors."""
    n, d = x.shape
    k = len(alphas)
    diagonal = np.empty((k, d))
    weights = np.empty(k)
    prior = 0.0
    for c in range(k):
        total = 0.0
        squares = 0.0
        for j in range(d):
            diagonal[c, j] = math.exp(icf[c, j])
            total += icf[c, j]
            squares += diagonal[c, j] * diagonal[c, j]
        for j in range(d, icf.shape[1]):
            squares += icf[c, j] * icf[c, j]
        weights[c] = alphas[c] + total
        prior += 0.5 * gamma * gamma * squares - m * total

    terms = np.empty(k)
    centred = np.empty(d)
    y = np.empty(d)
    total = 0.0
    for i in range(n):
        for c in range(k):
            for j in range(d):
                centred[j] = x[i, j] - means[c, j]
                y[j] = diagonal[c, j] * centred[j]
            at = d
            for j in range(d):
                for r in range(j + 1, d):
                    y[r] += icf[c, at] * centred[j]
                    at += 1
            norm = 0.0
            for j in range(d):
                norm += y[j] * y[j]
            terms[c] = weights[c] - 0.5 * norm
        total += logsumexp(terms)
    constant = -0.5 * n * d * math.log(2.0 * math.pi) - k * log_wishart(d, m, gamma)
    return constant + total - n * logsumexp(alphas) + prior


def gmm_arrays(alphas, means, icf, x, gamma, m):
    """The same with whole arrays; a matrix product for each component."""
    n, d = x.shape
    k = len(alphas)
    columns, rows = np.triu_indices(d, 1)  # what is below the diagonal, column by column
    points = x.T.copy()
    diagonal = np.exp(icf[:, :d])
    sums = np.sum(icf[:, :d], axis=1)
    terms = np.empty((k, n))
    for c in range(k):
        factor = np.diag(diagonal[c])
        factor[rows, columns] = icf[c, d:]
        y = factor @ points - (factor @ means[c])[:, None]
        terms[c] = alphas[c] + sums[c] - 0.5 * np.sum(y * y, axis=0)
    largest = np.max(terms, axis=0)
    total = np.sum(largest + np.log(np.sum(np.exp(terms - largest), axis=0)))
    top = np.max(alphas)
    normaliser = top + np.log(np.sum(np.exp(alphas - top)))
    squares = np.sum(diagonal * diagonal) + np.sum(icf[:, d:] * icf[:, d:])
    prior = 0.5 * gamma * gamma * squares - m * np.sum(sums)
    constant = -0.5 * n * d * math.log(2.0 * math.pi) - k * log_wishart(d, m, gamma)
    return constant + total - n * normaliser + prior


# ---------------------------------------------------------------------------------------------------------------- LSTM


def sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x))


def lstm_loops(main, extra, state, sequence):
    """The loss of a diagonal LSTM that predicts the next character; the state is updated in place."""
    layers = main.shape[0] // 2
    length, b = sequence.shape
    state = state.copy()
    x = np.empty(b)
    total = 0.0
    for t in range(length - 1):
        for j in range(b):
            x[j] = sequence[t, j] * extra[0, j]
        for layer in range(layers):
            w = 2 * layer
            for j in range(b):
                hidden = state[w, j]
                forget = sigmoid(x[j] * main[w, j] + main[w + 1, j])
                ingate = sigmoid(hidden * main[w, b + j] + main[w + 1, b + j])
                outgate = sigmoid(x[j] * main[w, 2 * b + j] + main[w + 1, 2 * b + j])
                change = math.tanh(hidden * main[w, 3 * b + j] + main[w + 1, 3 * b + j])
                cell = state[w + 1, j] * forget + ingate * change
                state[w + 1, j] = cell
                state[w, j] = outgate * math.tanh(cell)
                x[j] = state[w, j]
        exponentials = 0.0
        for j in range(b):
            exponentials += math.exp(x[j] * extra[1, j] + extra[2, j])
        normaliser = math.log(2.0 + exponentials)
        for j in range(b):
            total += sequence[t + 1, j] * (x[j] * extra[1, j] + extra[2, j] - normaliser)
    return -total / (b * (length - 1))


def lstm_arrays(main, extra, state, sequence):
    """The same with whole arrays."""
    layers = main.shape[0] // 2
    length, b = sequence.shape
    state = state.copy()
    total = 0.0
    for t in range(length - 1):
        x = sequence[t] * extra[0]
        for layer in range(layers):
            weight, bias = main[2 * layer], main[2 * layer + 1]
            hidden, cell = state[2 * layer], state[2 * layer + 1]
            forget = 1.0 / (1.0 + np.exp(-(x * weight[:b] + bias[:b])))
            ingate = 1.0 / (1.0 + np.exp(-(hidden * weight[b : 2 * b] + bias[b : 2 * b])))
            outgate = 1.0 / (1.0 + np.exp(-(x * weight[2 * b : 3 * b] + bias[2 * b : 3 * b])))
            change = np.tanh(hidden * weight[3 * b :] + bias[3 * b :])
            state[2 * layer + 1] = cell * forget + ingate * change
            state[2 * layer] = outgate * np.tanh(state[2 * layer + 1])
            x = state[2 * layer]
        prediction = x * extra[1] + extra[2]
        normalised = prediction - np.log(2.0 + np.sum(np.exp(prediction)))
        total += np.sum(sequence[t + 1] * normalised)
    return -total / (b * (length - 1))


LOOPS = {"gmm": gmm_loops, "lstm": lstm_loops}
POINTS = {"gmm": gmm_points}
ARRAYS = {"gmm": gmm_arrays, "lstm": lstm_arrays}
