"""The conductivity of a rod found from what its ends show: a heat equation whose time steps update arrays in place.

A rod of unknown, varying conductivity is heated at one end.  Given the temperatures at three places over time, the
conductivities are fitted by the gradient of the misfit, which goes back through all the time steps, and through the in-place
updates in them, in one reverse pass.

    python docs/examples/heat.py
"""

import numpy as np

import zyg

CELLS, STEPS = 24, 400
PLACES = np.array([4, 12, 20])


def simulate(conductivity, steps):
    """The temperatures at PLACES after every tenth step."""
    n = len(conductivity) + 1
    u = np.zeros(n)
    seen = np.zeros((steps // 10, len(PLACES)))
    for step in range(steps):
        u[0] = 1.0 + 0.5 * np.sin(0.05 * step)  # the heated end
        flux = conductivity * (u[1:] - u[:-1])
        u[1:-1] += 0.4 * (flux[1:] - flux[:-1])
        u[-1] -= 0.4 * flux[-1]  # the insulated end
        if step % 10 == 9:
            seen[step // 10] = u[PLACES]
    return seen


def misfit(log_conductivity, measured, steps):
    """Half the squares of what is off, and a penalty on roughness."""
    off = simulate(np.exp(log_conductivity), steps) - measured
    rough = np.diff(log_conductivity)
    return 0.5 * np.sum(off * off) + 1e-3 * np.sum(rough * rough)


@zyg.jit
def fit(log_conductivity, measured, steps, rounds, rate):
    """Adam (Kingma and Ba 2015), written out; the array is updated in place."""
    first, second = np.zeros_like(log_conductivity), np.zeros_like(log_conductivity)
    value = 0.0
    for n in range(1, rounds + 1):
        value, slope = zyg.value_and_grad(misfit)(log_conductivity, measured, steps)
        first += 0.1 * (slope - first)
        second += 0.01 * (slope * slope - second)
        log_conductivity -= rate * (first / (1 - 0.9**n)) / (np.sqrt(second / (1 - 0.99**n)) + 1e-12)
    return value


def truth():
    """Half the conductivity in a stretch of the rod."""
    conductivity = np.full(CELLS, 0.8)
    conductivity[8:14] = 0.4
    return conductivity


def main(rounds=600):
    measured = simulate(truth(), STEPS)
    found = np.log(np.full(CELLS, 0.6))
    print(f"misfit at the start {misfit(found, measured, STEPS):.5f}")
    value = fit(found, measured, STEPS, rounds, 0.02)
    print(f"misfit after {rounds} rounds {value:.5f}")
    for cell in range(0, CELLS, 4):
        print(
            f"cells {cell:2}-{cell + 3:2}: {np.exp(found[cell : cell + 4]).round(3)}, true {truth()[cell : cell + 4]}"
        )
    return np.exp(found)


if __name__ == "__main__":
    main()
