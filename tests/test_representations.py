"""What things look like in a terminal and in a notebook."""

import math
from html.parser import HTMLParser

import numpy as np

import zyg


def five_sin_log(x):
    return 5 * math.sin(math.log(x))


class Reader(HTMLParser):
    """Checks that tags match, and gathers the text."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)


def shown(value) -> str:
    return Reader(value._repr_html_()).text


def test_listings_in_a_notebook():
    for code in (zyg.code_ssa(five_sin_log), zyg.code_adjoint(five_sin_log, 3.0), zyg.code_llvm(five_sin_log, 3.0)):
        assert shown(code) == str.__str__(code)
        assert "<span" in code._repr_html_()


def test_gradcheck_report_in_a_notebook():
    text = shown(zyg.gradcheck(five_sin_log, 3.0))
    assert "gradcheck of five_sin_log: all 1 agree" in text
    assert "difference" in text

    def wrong(a, b):
        return a + b

    zyg.adjoint(wrong)(lambda a, b: (a + b, lambda d: (d, 2 * d)))
    assert "WRONG" in shown(zyg.gradcheck(wrong, 1.0, 2.0, raises=False))


def test_compiled_functions_in_a_notebook():
    compiled = zyg.jit(five_sin_log)
    assert "not called yet" in shown(compiled)
    compiled(3.0)
    assert "zyg.jit(five_sin_log)" in shown(compiled)
    assert "f64" in shown(compiled)
    slope = zyg.derivative(lambda x: x * (x < 1e9))
    slope(3.0)
    assert "<zyg.derivative(" in shown(slope)


def test_parameters_and_their_gradients_are_tables():
    weights, rates, unused = np.arange(1000.0), np.array([0.5, 2.0]), np.zeros(3)
    params = zyg.Params([weights, rates, unused])
    assert "float64 array of shape (1000,)[  0.   1. ... 998. 999.]float64 array of shape (2,)[0.5 2. ]" in shown(
        params
    ).replace("\n", "")
    text = shown(zyg.gradient(lambda: rates[0] * rates[1] + weights[1], params)).replace("\n", "")
    assert text.startswith("parametergradient") and text.endswith("(2,)[2.  0.5]float64 array of shape (3,)None")
