"""What records the calls of NumPy's tests, on a module of our own; NumPy's are tried by `python -m tests.arrays.upstream`."""

from __future__ import annotations

import importlib.util

import numpy as np

from ..programs.isolate import Marker
from ..turns import each_in_turn
from .recording import Recorder, rewritten
from .upstream import check, written

MODULE = """
import numpy as np
from numpy.testing import assert_raises

def test_one():
    a = np.arange(6.0).reshape(2, 3)
    a[0, ::2] = np.nan
    b = a.T
    b += 1
    assert np.nansum(b[1:], axis=-1, keepdims=True).shape == (2, 1)
    assert_raises(ValueError, np.nanmax, a, 5)
    np.argmax(np.array(["text"], object))
"""


@each_in_turn
def test_calls_are_recorded_before_they_are_made_and_are_tried(tmp_path):
    file = tmp_path / "test_of_ours.py"
    file.write_text(MODULE)
    recorder = Recorder(1)
    spec = rewritten("test_of_ours", str(file), recorder)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.test_one()
    sources = [written(call).source.splitlines()[1].strip() for call in recorder.calls]
    assert sources == [
        "return np.arange(a)",
        "return a.reshape(2, 3)",
        "a[0, ::2] = b",
        "a += 1",
        "return a[1:]",
        "return np.nansum(a, axis=-1, keepdims=True)",
        "return np.nanmax(a, 5)",
    ]
    assert recorder.outside == 2
    in_place = recorder.calls[3].args[0]
    assert in_place.strides == (8, 24) and np.nansum(in_place) == 13.0
    with Marker() as marker:
        found = check(recorder.calls, False, marker)
        assert (found.done, found.same, found.wrong, found.refused) == (7, 7, [], {})
        derivatives = check([recorder.calls[5]], True, marker)
        assert (derivatives.same, derivatives.wrong, derivatives.refused) == (1, [], {})
