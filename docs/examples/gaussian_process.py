"""A Gaussian process fitted to data by the gradient of its marginal likelihood, through a Cholesky factorisation.

The covariance of the values at x is a smooth part of some length and height, and noise.  Its three parameters, given by their
logarithms, are those under which the data is most likely.

    python docs/examples/gaussian_process.py
"""

import math

import numpy as np

import zyg


def covariance(parameters, a, b):
    """The covariance of the smooth part between points a and b."""
    length, height = np.exp(parameters[0]), np.exp(parameters[1])
    distance = (a[:, None] - b) / length
    return height * height * np.exp(-0.5 * distance * distance)


def negative_log_likelihood(parameters, x, y):
    """Minus the logarithm of the density of y (Rasmussen and Williams 2006, algorithm 2.1)."""
    n = len(x)
    K = covariance(parameters, x, x) + np.exp(2.0 * parameters[2]) * np.eye(n)
    L = np.linalg.cholesky(K)
    z = np.linalg.solve(L, y)
    return 0.5 * np.sum(z * z) + np.sum(np.log(np.diag(L))) + 0.5 * n * math.log(2.0 * math.pi)


def fit(x, y, start=(0.0, 0.0, -1.0), rounds=60):
    """The parameters of the greatest likelihood, by the method of Broyden, Fletcher, Goldfarb and Shanno."""
    likelihood = zyg.value_and_grad(negative_log_likelihood)
    p = np.array(start)
    inverse = np.eye(len(p))  # of the Hessian, by what the gradients show of it
    value, slope = likelihood(p, x, y)
    for _ in range(rounds):
        step = -inverse @ slope
        scale = min(1.0, 1.0 / np.max(np.abs(step)))
        while scale > 1e-9 and not likelihood(p + scale * step, x, y)[0] <= value + 1e-4 * scale * (slope @ step):
            scale *= 0.5
        step *= scale
        value, new = likelihood(p + step, x, y)
        p, change, slope = p + step, new - slope, new
        if np.max(np.abs(slope)) < 1e-8:
            break
        if (curvature := change @ step) > 0.0:
            project = np.eye(len(p)) - np.outer(step, change) / curvature
            inverse = project @ inverse @ project.T + np.outer(step, step) / curvature
    return p


def predicted(parameters, x, y, at):
    """The mean of the process at other points, given the data."""
    K = covariance(parameters, x, x) + np.exp(2.0 * parameters[2]) * np.eye(len(x))
    return covariance(parameters, at, x) @ np.linalg.solve(K, y)


def data(n=40, noise=0.1):
    generator = np.random.default_rng(0)
    x = np.sort(generator.uniform(0.0, 6.0, n))
    return x, np.sin(1.5 * x) + noise * generator.normal(size=n)


def main():
    x, y = data()
    parameters = fit(x, y)
    length, height, noise = np.exp(parameters)
    print(f"length {length:.3f}, height {height:.3f}, noise {noise:.3f} (0.1 was added)")
    print(f"negative log likelihood {negative_log_likelihood(parameters, x, y):.4f}")
    at = np.linspace(0.5, 5.5, 6)
    for point, mean in zip(at, predicted(parameters, x, y, at)):
        print(f"x = {point:.1f}: {mean:+.3f}, without noise {math.sin(1.5 * point):+.3f}")


if __name__ == "__main__":
    main()
