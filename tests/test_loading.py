"""Signals that come while modules of zyg are loaded: their handlers, which may raise, wait until these are there."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.turns import by_one_python_a_day

INTERRUPTED = """
import signal, sys, warnings
import numpy as np
import zyg
warnings.simplefilter("ignore")

wanted, handled, inside = int(sys.argv[1]), 0, 0
loads = 0

def interrupt(frame, event, argument):
    '''Behind some of the functions that modules call, in turn: the decorators by which they enter something into tables.'''
    global loads
    if event == "return" and frame.f_back is not None and frame.f_back.f_code.co_name == "<module>":
        if frame.f_back.f_globals["__name__"].startswith("zyg."):
            loads += 1
            if loads % 300 == 100 * wanted:
                signal.raise_signal(signal.SIGINT)

def handler(number, frame):
    global handled, inside
    handled += 1
    while frame is not None:
        inside += frame.f_code.co_name == "<module>" and frame.f_globals["__name__"].startswith("zyg.")
        frame = frame.f_back

signal.signal(signal.SIGINT, handler)

def native(x):
    return np.sum(np.exp(-x * x)) + np.sort(x)[0]

def dynamic(x):
    try:
        return {str(k): x * k for k in range(4)}[input.__name__]
    except KeyError:
        return sum({k: x * k for k in range(4)}.values())

sys.setprofile(interrupt)
x = np.array([0.3, 0.2])
assert np.allclose(zyg.gradient(native, x)[0], -2 * x * np.exp(-x * x) + [0, 1])
assert zyg.gradient(dynamic, 1.5) == (6.0,)
assert signal.getsignal(signal.SIGINT) is handler
assert handled > 3 and not inside, (handled, inside)
"""


@by_one_python_a_day
@pytest.mark.parametrize("which", [0, 1, 2])
def test_no_handler_is_called_while_a_module_is_executed(which: int) -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, str(which)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


HANDLED = """
import signal, sys, time

came = []
signal.signal(signal.SIGTERM, lambda number, frame: came.append(number))

def hook(event, arguments):
    if event == "exec" and getattr(arguments[0], "co_filename", "").endswith("rules.py"):
        signal.raise_signal(signal.SIGTERM)
        assert not came

sys.addaudithook(hook)
import zyg
zyg.adjoint
for _ in range(100):
    if came:
        break
    time.sleep(0.1)
assert came == [signal.SIGTERM], came
"""


def test_signals_that_come_meanwhile_are_handled_afterwards() -> None:
    done = subprocess.run([sys.executable, "-c", HANDLED], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
