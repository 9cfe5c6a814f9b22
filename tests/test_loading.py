"""Interrupts while modules of zyg are loaded: later calls work, whenever they come."""

from __future__ import annotations

import subprocess
import sys

import pytest

INTERRUPTED = """
import os, signal, sys, warnings
import numpy as np
import zyg
warnings.simplefilter("ignore")

wanted, handled, calling = int(sys.argv[1]), 0, False
loads = 0

def interrupt(frame, event, argument):
    '''Behind some of the functions that modules call, in turn: the decorators by which they enter something into tables.'''
    global loads
    if event == "return" and frame.f_back is not None and frame.f_back.f_code.co_name == "<module>":
        if frame.f_back.f_globals["__name__"].startswith("zyg."):
            loads += 1
            if loads % 300 == 100 * wanted:
                os.kill(os.getpid(), signal.SIGUSR1)

def handler(number, frame):
    global handled, calling
    handled += 1
    if calling:
        calling = False
        raise KeyboardInterrupt

signal.signal(signal.SIGUSR1, handler)

def native(x):
    return np.sum(np.exp(-x * x)) + np.sort(x)[0]

def dynamic(x):
    try:
        return {str(k): x * k for k in range(4)}[input.__name__]
    except KeyError:
        return sum({k: x * k for k in range(4)}.values())

def called(f, x):
    global calling
    while True:
        sys.setprofile(interrupt)  # (Python forgets it where a handler raises in it)
        try:
            calling = True
            result = zyg.gradient(f, x)[0]
            calling = False
            return result
        except KeyboardInterrupt:
            pass

x = np.array([0.3, 0.2])
assert np.allclose(called(native, x), -2 * x * np.exp(-x * x) + [0, 1]), called(native, x)
assert called(dynamic, 1.5) == 6.0
assert signal.getsignal(signal.SIGUSR1) is handler
assert handled > 3, handled
"""


@pytest.mark.skipif(not hasattr(__import__("signal"), "SIGUSR1"), reason="there is no such signal here")
@pytest.mark.parametrize("which", [0, 1, 2])
def test_calls_work_whose_first_ones_were_interrupted(which: int) -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, str(which)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


HANDLED = """
import os, signal, sys, time

came = []
signal.signal(signal.SIGTERM, lambda number, frame: came.append(number))

def hook(event, arguments):
    if event == "exec" and getattr(arguments[0], "co_filename", "").endswith("rules.py"):
        os.kill(os.getpid(), signal.SIGTERM)
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


@pytest.mark.skipif(sys.platform == "win32", reason="a signal that is sent ends a process there")
def test_signals_that_come_meanwhile_are_handled_afterwards() -> None:
    done = subprocess.run([sys.executable, "-c", HANDLED], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
