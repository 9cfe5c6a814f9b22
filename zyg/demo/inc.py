"""The derivative by hand in C, where there is a C compiler."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from importlib import resources
from pathlib import Path

import numpy as np

FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-fPIC", "-shared")


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


class InC:
    """`byhand.c`, compiled into a temporary directory; `InC.make` gives None and a reason where that does not work."""

    def __init__(self, library: ctypes.CDLL, hare: np.ndarray, lynx: np.ndarray, steps: int) -> None:
        library.loss.restype = library.loss_and_gradient.restype = ctypes.c_double
        self.library = library
        self.gradient = np.zeros(6)
        self._memory = np.zeros((8 * (len(hare) - 1) * steps, 1)), np.zeros((2 * len(hare), 1)), hare, lynx
        tape, errors = self._memory[:2]
        self._data = _pointer(hare), _pointer(lynx), ctypes.c_long(len(hare)), ctypes.c_long(steps)
        self._room = _pointer(self.gradient), _pointer(tape), _pointer(errors)

    @classmethod
    def make(cls, hare: np.ndarray, lynx: np.ndarray, steps: int) -> tuple[InC | None, str]:
        compiler = next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)
        if compiler is None:
            return None, "no C compiler found"
        source = resources.files("zyg.demo").joinpath("byhand.c").read_text()
        with tempfile.TemporaryDirectory(prefix="zyg-demo-") as directory:
            target = Path(directory, "byhand.so")
            Path(directory, "byhand.c").write_text(source)
            command = [compiler, *FLAGS, str(target.with_suffix(".c")), "-o", str(target), "-lm"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                return None, f"{Path(compiler).name} failed: {done.stderr.strip()[:200]}"
            return cls(ctypes.CDLL(str(target)), hare, lynx, steps), Path(compiler).name

    def value_and_gradient(self, q: np.ndarray) -> tuple[float, np.ndarray]:
        value = self.library.loss_and_gradient(_pointer(q), *self._data, *self._room)
        return value, self.gradient.copy()

    def repeat_value(self, q: np.ndarray, times: int) -> None:
        self.library.repeat_loss(ctypes.c_long(times), _pointer(q), *self._data)

    def repeat_value_and_gradient(self, q: np.ndarray, times: int) -> None:
        self.library.repeat_loss_and_gradient(ctypes.c_long(times), _pointer(q), *self._data, *self._room)
