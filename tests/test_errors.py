"""What an error message shows."""

import linecache
import types
import warnings

import numpy as np
import pytest

import zyg
from zyg.errors import ArgumentError, GradcheckError, Unsupported, UntypableValue, ZygError, excerpt
from zyg.ir.core import Position

SOURCE = "def f(x):\n    return größe(x) + print_table(x)\n"


@pytest.fixture
def file():
    name = "<source of the error tests>"
    linecache.cache[name] = (len(SOURCE), None, SOURCE.splitlines(True), name)
    yield name
    linecache.cache.pop(name, None)


def test_the_message_shows_place_caret_types_and_remedy(file):
    line = SOURCE.splitlines()[1]
    start = len(line[: line.index("print_table")].encode())
    position = Position(file, 2, start, 2, start + len("print_table(x)"), "f")
    error = Unsupported("a call of print_table", position, types=[("x", "f64")], hint="write a rule: @zyg.adjoint")
    text = str(error)
    assert text.splitlines() == [
        "a call of print_table",
        f'  File "{file}", line 2, in "f"',
        "    return größe(x) + print_table(x)",
        "                      ^^^^^^^^^^^^^^",
        "types found: x: f64",
        "instead: write a rule: @zyg.adjoint",
    ]


def test_columns_count_bytes_but_carets_count_characters(file):
    line = SOURCE.splitlines()[1]
    start = len(line[: line.index("größe")].encode())
    text = excerpt(Position(file, 2, start, 2, start + len("größe(x)".encode()), "f"))
    source, caret = text.splitlines()[1:]
    assert source[caret.index("^") : caret.rindex("^") + 1] == "größe(x)"


def test_a_source_that_cannot_be_read_leaves_file_and_line():
    assert excerpt(Position("<nowhere>", 7)) == '  File "<nowhere>", line 7'


def test_a_position_is_filled_in_once():
    first, second = Position("a.py", 1), Position("b.py", 2)
    error = Unsupported("something")
    assert error.at(first).at(second).position == first


def test_notes_are_not_repeated():
    error = Unsupported("something").note("called from g").note("called from g")
    assert str(error).count("called from g") == 1


def test_classes():
    assert issubclass(Unsupported, TypeError) and issubclass(Unsupported, ZygError)
    assert issubclass(ArgumentError, TypeError)
    assert issubclass(GradcheckError, AssertionError)
    assert "argument 'x'" in str(UntypableValue("a list", argument="x"))


@pytest.mark.parametrize(
    "asked", ["gradient", "withgradient", "hessian", "hvp", "grad", "value_and_grad", "derivative"]
)
@pytest.mark.parametrize("value", ["text", (1.0, 2.0)])
def test_each_function_names_itself_where_the_value_is_no_number(asked, value):
    function = getattr(zyg, asked)
    with pytest.raises(TypeError, match=f"the {asked} of a function whose value is not a real number") as caught:
        if asked in ("grad", "value_and_grad", "derivative"):
            function(lambda x: value)(1.0)
        else:
            function(lambda x: value, 1.0, *[1.0] * (asked == "hvp"))
    assert ("zyg.jacobian" in str(caught.value)) == (asked not in ("hessian", "hvp"))


def test_jacobian_of_text():
    with pytest.raises(TypeError, match=r"zyg\.jacobian takes functions whose value is a number"):
        zyg.jacobian(lambda x: "text", 1.0)


def real_or_complex(x):
    y = x * x if x > 0.0 else 1j * x
    return y


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_a_value_that_is_real_on_one_path_and_complex_on_another():
    assert zyg.gradient(real_or_complex, 0.75) == (1.5,)
    assert zyg.withgradient(real_or_complex, 0.75) == (0.5625, (1.5,))
    assert zyg.derivative(real_or_complex)(0.75) == 1.5
    with pytest.raises(TypeError, match="not a real number"):
        zyg.gradient(real_or_complex, -0.75)
    with pytest.raises(Unsupported, match="a real number on one path and a complex one on another") as caught:
        zyg.jit(zyg.grad(real_or_complex))(0.75)
    assert "return the real part on each path" in str(caught.value)


def test_code_without_lines():
    for f in (lambda x: 1.0 / (x - 5.0), lambda x: sum([1.0 / (x - 5.0) for _ in {1: x}])):
        bare = types.FunctionType(f.__code__.replace(co_linetable=b""), {})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", zyg.FallbackWarning)
            assert zyg.gradient(bare, 3.0) == (-0.25,)
            with pytest.raises(ZeroDivisionError):
                zyg.gradient(bare, 5.0)


def test_functions_of_packages_are_not_for_jit_and_say_so_without_their_source():
    special, linalg = pytest.importorskip("scipy.special"), pytest.importorskip("scipy.linalg")
    for f, args in ((linalg.eigh, (np.eye(2),)), (special.sph_harm_y, (1, 1, 0.3, 0.2))):
        with pytest.raises(
            zyg.Unsupported, match=rf"zyg\.jit of scipy\..*{f.__name__}.*\ninstead: .*a function of your own"
        ) as caught:
            zyg.jit(f)(*args)
        assert "site-packages" not in str(caught.value)
    with pytest.raises(zyg.Unsupported, match=r"@zyg\.adjoint\(scipy\.special\.ellipj\)"):
        zyg.jit(lambda x: special.ellipj(x, 0.2)[0])(0.3)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("sqrtm", r"np\.linalg\.eigh\(A\).*np\.sqrt\(w\)"),
        ("eigvalsh", r"np\.linalg\.eigvalsh"),
        ("circulant", r"@zyg\.adjoint\(scipy\.linalg\.circulant\)"),
    ],
)
def test_what_a_package_does_in_its_own_code_is_refused_where_it_is_called(name, remedy):
    linalg = pytest.importorskip("scipy.linalg")
    called = getattr(linalg, name)
    with pytest.raises(
        zyg.Unsupported, match=rf"^scipy\.linalg\.{name}, whose .*\n  File .*test_errors.*\n.*\n.*\ninstead: .*{remedy}"
    ) as caught:
        zyg.jit(lambda A: np.sum(called(A)))(np.eye(2))
    assert "site-packages" not in str(caught.value)


def test_what_is_said_in_the_place_of_sqrtm_is_true():
    linalg = pytest.importorskip("scipy.linalg")

    def root(A):
        w, V = np.linalg.eigh(A)
        return V @ np.diag(np.sqrt(w)) @ V.T

    A = np.array([[2.0, 0.5], [0.5, 1.0]])
    np.testing.assert_allclose(zyg.jit(root)(A), linalg.sqrtm(A), rtol=1e-13)
    np.testing.assert_allclose(zyg.grad(lambda A: np.sum(root(A) ** 2))(A), np.eye(2), atol=1e-13)  # of the trace


def test_as_strided_says_what_to_write():
    def pairs(x):
        return np.sum(np.lib.stride_tricks.as_strided(x, (2, 2), (8, 8)))

    remedy = r"\n  File .*\n.*as_strided.*\n.*\ninstead: np\.lib\.stride_tricks\.sliding_window_view\(x, n\) for windows, np\.broadcast_to"
    with pytest.raises(zyg.Unsupported, match=rf"^np\.lib\.stride_tricks\.as_strided, which is not.*{remedy}"):
        zyg.jit(pairs)(np.arange(3.0))
    with (
        pytest.warns(zyg.FallbackWarning),
        pytest.raises(zyg.Unsupported, match=rf"elements share memory.*through Python{remedy}"),
    ):
        zyg.gradient(pairs, np.arange(3.0))


def test_a_text_for_an_element_is_named():
    def f(a):
        a[1] = "x"
        return a[0]

    with pytest.raises(
        zyg.Unsupported,
        match=r"an assignment to an element of an array(\n.*)*a\[1\] = .x.(\n.*)*const 'x'\ninstead: assign a number",
    ):
        zyg.jit(f)(np.ones(3))


@pytest.mark.parametrize(
    "make", [lambda: np.empty(10**15), lambda: np.zeros((10**5, 10**10)), lambda: np.empty((2**45, 2), complex)]
)
def test_arrays_without_memory_are_refused_in_numpys_words(make):
    with pytest.raises(MemoryError) as expected:
        make()
    with pytest.raises(MemoryError) as found:
        zyg.jit(make)()
    assert str(found.value) == str(expected.value)


def test_without_memory_for_a_shape_that_is_not_known():
    with pytest.raises(MemoryError, match="Unable to allocate an array with 1 axis and data type float64"):
        zyg.jit(lambda n: np.empty(n))(10**15)


@pytest.mark.parametrize(
    ("called", "written"),
    [
        (lambda x: list.__iadd__([x[0]], [x[1]]), r"x \+= y"),
        (lambda x: [x[0]].__iadd__([x[1]]), r"x \+= y"),
        (lambda x: x.__rsub__(x), "y - x"),
        (lambda x: np.ndarray.__getitem__(x, 0), r"x\[i\]"),
        (lambda x: [x[0]].__len__(), r"len\(x\)"),
    ],
)
def test_methods_of_operators_name_the_operator(called, written):
    with pytest.raises(zyg.Unsupported, match=rf"test_errors[\s\S]*\ninstead: write the operator: {written}$"):
        zyg.jit(called)(np.ones(2))


@pytest.mark.parametrize(
    ("dtype", "conversion"),
    [
        (np.complex64, "complex128"), (np.float16, "float32"), (np.longdouble, "float64"), (np.int16, "int64"), (np.uint64, "float64"),
        (object, "float64"),
    ],
)  # fmt: skip
def test_arrays_of_other_numbers_say_how_they_are_converted(dtype, conversion):
    with pytest.raises(
        TypeError, match=rf"argument 'x': an array of dtype .*\ninstead: convert it.*x\.astype\(np\.{conversion}\)"
    ):
        zyg.jit(lambda x: x * x)(np.ones(2, dtype))


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_wrong_uses_say_what_was_found_and_what_to_write():
    x, objects = np.array([1.0, 2.0]), np.array([1.0], object)
    cases = {
        r"argnums is .* the positions of arguments \(0 is the first\), not 'x'": lambda: zyg.grad(lambda x: x, "x"),
        r"not None, as that of a function without `return`": lambda: zyg.jacobian(lambda x: None, x),
        r"a structure of such, not a str": lambda: zyg.jacobian(lambda x: "a", x),
        r"argument 'z' of .* is an array of objects.*x\.astype\(float\)": lambda: zyg.grad(lambda y, z: y)(
            1.0, objects
        ),
        r"instead: return a number, such as its sum.*: the hessian is of": lambda: zyg.hessian(lambda x: x * x, x),
    }
    for message, call in cases.items():
        with pytest.raises(TypeError, match=message):
            call()


def test_the_place_of_what_asks_a_generator_for_its_frame():
    def items(x):
        y = x * x
        yield y
        yield y

    def f(x):
        {object(): 1}
        made = items(x)
        next(made)
        return made.gi_frame.f_locals["y"] * x

    for derive in (lambda: zyg.gradient(f, 0.7), lambda: zyg.hvp(f, 0.7, 1.0)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", zyg.FallbackWarning)
            with pytest.raises(zyg.Unsupported, match="gi_frame") as caught:
                derive()
        assert 'made.gi_frame.f_locals["y"]' in str(caught.value)


def test_a_cotangent_of_another_shape_names_the_function_of_its_rule():
    def total(v):
        return v.sum()

    @zyg.adjoint(total)
    def _rule(v):
        return v.sum(), lambda d: (np.ones(3) * d,)

    with pytest.raises(ValueError, match=r"the rule for .*<locals>\.total gave a cotangent of another shape"):
        zyg.gradient(lambda v: total(v) * 2.0, np.ones(2))
