"""What is asked of text that is one of several constants."""

import enum

import pytest

import zyg
from tests.turns import by_one_python_a_day


def length(x):
    s = "a" if x > 1 else "bb"
    return x * len(s)


@pytest.mark.parametrize("x", [0.5, 1.5])
def test_length_of_a_choice(x):
    assert zyg.jit(length)(x) == length(x)
    assert zyg.gradient(length, x) == (len("a" if x > 1 else "bb"),)


def test_a_character_at_a_place_found_when_the_code_runs():
    def f(x, n):
        return x * 3.0 if "abc"[n] == "b" else x

    g = zyg.jit(f)
    assert [g(1.5, n) for n in (0, 1, -1, -2)] == [f(1.5, n) for n in (0, 1, -1, -2)]
    with pytest.raises(IndexError, match="string index out of range"):
        g(1.5, 3)


TEXTS = {
    "a choice": "'ab' if x > 1 else 'z'",
    "one that may be empty": "'ab' if x > 1 else ''",
    "one that may be None": "'ab' if x > 1 else None",
    "a constant": "'ab'",
}
QUESTIONS = [
    "s in 'cab'", "s not in 'cab'", "'b' in s", "1 in s", "s < 'b'", "'b' >= s", "min(s, 'b') == 'ab'", "callable(s)",
    "int('3' if x > 1 else '4')", "float('3.5' if x > 1 else '4')", "int(s or '7')",
]  # fmt: skip


def outcome(f, x):
    try:
        return f(x)
    except zyg.errors.Unsupported:
        return None
    except (TypeError, ValueError) as error:
        return type(error)


@by_one_python_a_day
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_is_asked_of_text(text, question):
    f = eval(f"lambda x: [x * ({question}) for s in [{text}]][0]")
    for x in (0.5, 1.5):
        assert outcome(zyg.jit(f), x) in (None, outcome(f, x)), x


@pytest.mark.parametrize(
    "made",
    [
        "repr('ab')", "ascii('é')", "str('ab')", "format('a', '>3')", "format(3, '03d')", "format(1.5, '.2f')", "repr(3)",
        "repr('')", "repr(None)", "str(1.5)", "format('a')", "f'{3!r:>4}'",
    ],
)  # fmt: skip
def test_text_of_constants(made):
    f = eval(f"lambda x: x * (({made}) == {eval(made)!r}) + len({made})")
    assert zyg.jit(f)(1.5) == f(1.5) == 1.5 + len(eval(made))


def test_text_of_numbers_of_run_time(capsys):
    def f(x, n):
        print(repr(x), ascii(n), format(x, ".3f"), format(n, "04d"), str(x), repr("x"), sep="|")
        return x

    zyg.jit(f)(1.0625, 7)
    f(1.0625, 7)
    compiled, wanted = capsys.readouterr().out.splitlines()
    assert compiled == wanted
    with pytest.raises(zyg.errors.Unsupported, match="text made of bytes"):
        zyg.jit(lambda x: x * len(str(b"ab", "utf8")))(1.0)


class Colour(enum.StrEnum):
    RED = "red"


class Odd(str):
    def __contains__(self, part):
        return True


def test_text_of_classes_derived_from_str():
    odd, letter = Odd("blue"), Odd("r")

    def f(x, y):
        return (
            (x if Colour.RED in "red green" else y) + (x if "re" in Colour.RED else y) + (x if letter in "green" else y)
        )

    assert zyg.jit(f)(1.0, 0.25) == f(1.0, 0.25) == 3.0
    assert outcome(zyg.jit(lambda x: x if "red" in odd else 0.0), 1.5) in (None, 1.5)
