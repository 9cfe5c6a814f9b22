"""A network of two layers that learns to read handwritten digits, in plain NumPy; the whole step is one compiled function.

500 images for training and 300 of other writers for testing, from the UCI repository (data/README.md).

    python docs/examples/digits.py
"""

from pathlib import Path

import numpy as np

import zyg

DATA = Path(__file__).parent / "data"


def load(name):
    """Images of 64 numbers between 0 and 1, and digits."""
    rows = np.loadtxt(DATA / f"optdigits-{name}.csv", delimiter=",")
    return rows[:, :64] / 16.0, rows[:, 64].astype(np.int64)


def scores(W1, b1, W2, b2, images):
    hidden = np.tanh(images @ W1 + b1)
    return hidden @ W2 + b2


def loss(W1, b1, W2, b2, images, digits):
    """The mean cross entropy, with a little weight decay."""
    s = scores(W1, b1, W2, b2, images)
    s = s - np.max(s, axis=1, keepdims=True)
    chosen = s[np.arange(len(digits)), digits]
    entropy = np.mean(np.log(np.sum(np.exp(s), axis=1)) - chosen)
    return entropy + 1e-4 * (np.sum(W1 * W1) + np.sum(W2 * W2))


@zyg.jit
def train(W1, b1, W2, b2, images, digits, steps, rate, momentum):
    """Gradient descent with momentum; the weights are updated in place."""
    V1, v1, V2, v2 = np.zeros_like(W1), np.zeros_like(b1), np.zeros_like(W2), np.zeros_like(b2)
    last = 0.0
    for _ in range(steps):
        last, g = zyg.value_and_grad(loss, (0, 1, 2, 3))(W1, b1, W2, b2, images, digits)
        for weights, speed, slope in ((W1, V1, g[0]), (b1, v1, g[1]), (W2, V2, g[2]), (b2, v2, g[3])):
            speed *= momentum
            speed -= rate * slope
            weights += speed
    return last


def start(hidden=32, seed=0):
    generator = np.random.default_rng(seed)
    layer = lambda n, m: generator.normal(size=(n, m)) / np.sqrt(n)
    return layer(64, hidden), np.zeros(hidden), layer(hidden, 10), np.zeros(10)


def right(weights, images, digits):
    """The part of the images that is read rightly."""
    return float(np.mean(np.argmax(scores(*weights, images), axis=1) == digits))


def main(steps=300):
    images, digits = load("train")
    weights = start()
    print(f"before: {right(weights, *load('test')):.1%} of the test images")
    for _ in range(3):
        last = train(*weights, images, digits, steps // 3, 0.2, 0.9)
        print(f"loss {last:.4f}, {right(weights, images, digits):.1%} of the training images, "
              f"{right(weights, *load('test')):.1%} of the test images")  # fmt: skip
    return weights


if __name__ == "__main__":
    main()
