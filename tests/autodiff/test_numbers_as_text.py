"""A number that was written into text or bytes and read from them is a constant, as docs/semantics.md says."""

import json
import struct

import numpy as np
import pytest

import zyg

WAYS = {
    "struct": lambda x: struct.unpack("d", struct.pack("d", x))[0],
    "json": lambda x: json.loads(json.dumps([x]))[0],
    "str": lambda x: float(str(x)),
    "an f-string": lambda x: float(f"{x:.17g}"),
    "bytes of an array": lambda x: np.frombuffer(np.array([x]).tobytes())[0],
}


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_numbers_out_of_text_are_constants(way):
    assert zyg.gradient(lambda x: way(x) * 2.0, 0.7) == (None,)
    assert zyg.gradient(lambda x: way(x) * x, 0.7) == (0.7,)
