"""What only tells something (logging, warnings, traceback, text): it runs as it is, and code of the user's that it enters is followed."""

from __future__ import annotations

import ast
import codecs
import configparser
import contextlib
import difflib
import io
import json
import logging
import logging.handlers
import pathlib
import pprint
import sys
import textwrap
import traceback
import warnings

import pytest

import zyg
from tests.autodiff.against_differences import check, check_second
from tests.oracles import differences
from tests.turns import each_in_long_turn, each_in_turn
from zyg.autodiff.objects.api import pullback
from zyg.errors import Unsupported

pytestmark = each_in_turn


def logger_with(handler, kind=logging.Logger):
    logger = kind("told")
    logger.addHandler(handler)
    return logger


class Noted(logging.Handler):
    """It keeps what it is told."""

    def __init__(self):
        super().__init__()
        self.total = 0.0
        self.records = []

    def emit(self, record):
        self.total = self.total + record.args[0] * record.args[0]
        self.records.append(record)


def handler_that_adds_up(x):
    handler = Noted()
    logger = logger_with(handler)
    logger.info("loss %s", x * x)
    logger.info("loss %s of %s", x * x * x, x)
    return handler.total * x


def handler_that_keeps_records(x):
    handler = Noted()
    logger = logger_with(handler)
    logger.warning("loss %s and %s", x * x, x)
    logger.error(x * x, 1.0)
    record, other = handler.records
    return record.args[0] * x + record.args[1] * 3.0 + other.msg


def memory_handler(x):
    handler = logging.handlers.MemoryHandler(100)
    logger_with(handler).critical("%s %s", x * x, "text")
    return handler.buffer[0].args[0] * 3.0


def dict_of_arguments(x):
    handler = logging.handlers.MemoryHandler(100)
    logger_with(handler).info("%(loss)s", {"loss": x * x})
    return handler.buffer[0].args["loss"] * 3.0


def extra(x):
    handler = logging.handlers.MemoryHandler(100)
    more = {"loss": x * x, "step": 1}
    logger_with(handler).info("a", extra=more)
    return handler.buffer[0].loss * 3.0 + more["loss"]


def adapter(x):
    class Adapter(logging.LoggerAdapter):
        total = 0.0

        def process(self, message, kwargs):
            self.total = self.total + kwargs.pop("weight") * x
            return message, kwargs

    told = Adapter(logger_with(logging.NullHandler()), {})
    told.info("a", weight=x * x)
    return told.total


class Filter(logging.Filter):
    def __init__(self, factor):
        self.factor, self.seen = factor, 0.0

    def filter(self, record):
        self.seen = self.seen + self.factor
        return True


class Formatter(logging.Formatter):
    seen = 0.0

    def format(self, record):
        self.seen = self.seen + record.args[0]
        return super().format(record)


def filter_and_formatter(x):
    handler = logging.StreamHandler(io.StringIO())
    handler.setFormatter(Formatter())
    handler.addFilter(Filter(x * x))
    logger = logger_with(handler)
    logger.addFilter(Filter(x))
    logger.info("%s", x * x * x)
    return handler.formatter.seen + handler.filters[0].seen * 2.0 + logger.filters[0].seen * 3.0


class Stream:
    """Some writer of the user's."""

    def __init__(self, factor):
        self.factor, self.total, self.lines = factor, 0.0, []

    def write(self, text):
        self.total = self.total + self.factor * len(text)
        self.lines.append(text)

    def flush(self):
        self.total = self.total * self.factor


def stream(x):
    written = Stream(x)
    logger_with(logging.StreamHandler(written)).info("abc")
    return written.total


class Told:
    """It counts how often it is shown."""

    def __init__(self, value):
        self.value, self.shown = value, 1.0

    def __str__(self):
        self.shown = self.shown * self.value
        return "told"

    __repr__ = __str__


def argument_that_is_shown(x):
    a = Told(x)
    logger_with(logging.StreamHandler(io.StringIO())).info("%s %r", a, a)
    return a.shown


def shown_in_a_list(x):
    a = Told(x)
    pprint.pformat({"a": [a, (a,)]})
    return a.shown


def parent_has_the_handler(x):
    handler = Noted()
    parent = logger_with(handler)
    child = logging.Logger("child")
    child.parent = parent
    child.info("%s", x * x)
    return handler.total


class Bad(Exception):
    def __str__(self):
        self.args[0].append(self.args[1] * 2.0)
        return "bad"


def exception_that_is_shown(x):
    seen = []
    try:
        raise Bad(seen, x * x)
    except Bad:
        logger_with(logging.StreamHandler(io.StringIO())).exception("it was")
    return seen[0] * x


def exception_that_is_formatted(x):
    seen = []
    try:
        raise Bad(seen, x * x)
    except Bad as error:
        text = traceback.format_exc() + "".join(traceback.format_exception(error))
        traceback.print_exception(error, file=io.StringIO())
    return sum(seen) * x * text.count("bad")


def printed_to_the_users_stream(x):
    written = Stream(x)
    pprint.pprint([1, 2, 3], stream=written)
    try:
        raise ValueError("no")
    except ValueError:
        traceback.print_exc(limit=0, file=written)
    return written.total


def standard_output_is_the_users(x):
    written = Stream(x)
    with contextlib.redirect_stdout(written):
        pprint.pprint([1, 2])
        print("abc")
    return written.total


def standard_error_is_the_users(x):
    written = Stream(x)
    with contextlib.redirect_stderr(written):
        logger = logging.Logger("none")
        logger.parent = logging.Logger("top")
        logger.warning("abc")
    return written.total


def warnings_are_shown_by_the_user(x):
    seen = []
    before = warnings.showwarning
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *rest: seen.append(x * len(str(message)))
        try:
            warnings.warn("abc", stacklevel=1)
            warnings.warn("abcd", RuntimeWarning, stacklevel=2)
        finally:
            warnings.showwarning = before
    return seen[0] * seen[1]


def record_factory(x):
    made = []
    before = logging.getLogRecordFactory()

    def make(*args, **kwargs):
        record = before(*args, **kwargs)
        made.append(record.args[0] * x)
        return record

    logging.setLogRecordFactory(make)
    try:
        logger_with(logging.StreamHandler(io.StringIO())).info("%s", x * x)
    finally:
        logging.setLogRecordFactory(before)
    return made[0]


class OwnLogger(logging.Logger):
    total = 0.0

    def makeRecord(self, *args, **kwargs):
        self.total = self.total + args[5][0]
        return super().makeRecord(*args, **kwargs)

    def isEnabledFor(self, level):
        self.total = self.total * 2.0
        return level > 10


def logger_of_the_users_class(x):
    logger = logger_with(logging.handlers.MemoryHandler(100), OwnLogger)
    logger.info("%s", x * x)
    logger.debug("%s", x)
    return logger.total + logger.handlers[0].buffer[0].args[0]


def encoder(x):
    seen = []

    def default(value):
        seen.append(x * len(value))
        return sorted(value)

    text = json.dumps({"a": {1, 2, 3}}, default=default)
    written = Stream(x)
    json.dump([1, 2], written)
    return seen[0] * len(text) + written.total


def wrapped(x):
    return x * x * len(textwrap.fill("a b c d", 3)) * len(textwrap.dedent("  a\n  b"))


def fallback_of_a_setting(x):
    settings = configparser.ConfigParser()
    settings.read_string("[a]\nrate = 0.5\n")
    return settings.getfloat("a", "rate") * x + settings.getfloat("a", "other", fallback=x * x)


def hooks_of_a_decoder(x):
    data = json.loads('{"a": 1.5}', object_hook=lambda d: {k: v * x for k, v in d.items()})
    return data["a"] * json.loads("[2.5]")[0]


def test_hooks_of_a_decoder():
    _, back = pullback(hooks_of_a_decoder, (0.7,))
    with pytest.raises(Unsupported, match="makes of Python code that it calls"):
        back(1.0)


def parts_of_paths(x):
    return x * len((pathlib.PurePosixPath("a") / "b.txt").with_suffix(".c").name)


def caught_in_the_handler(x):
    class Failing(logging.Handler):
        def emit(self, record):
            seen.append(record.args[0] * 2.0)
            raise KeyError("no")

    seen = []
    with contextlib.suppress(KeyError):
        logger_with(Failing()).info("%s", x * x)
    return seen[0]


class Manager:
    """Some object of the user's that a handler has."""

    def __init__(self, x):
        self.x, self.total = x, 0.0

    def note(self, text):
        self.total = self.total + self.x * len(text)


class Managed(logging.StreamHandler):
    def format(self, record):
        text = super().format(record)
        self.manager.note(text)
        return text


def handler_with_an_object(x):
    handler = Managed(io.StringIO())
    handler.manager = Manager(x * x)
    logger_with(handler).info("abc")
    return handler.manager.total


def stream_behind_a_writer(x):
    class Bytes(Stream):
        def write(self, data):
            super().write(data.decode())

    written = Bytes(x)
    writer = codecs.getwriter("utf-8")(written)
    logger_with(logging.StreamHandler(writer)).info("abc")
    print("abcd", file=writer)
    return written.total


def what_an_exception_holds(x):
    class Name(Told):
        def __fspath__(self):
            return "a"

    name = Name(x)
    try:
        raise FileNotFoundError(2, "no", name)
    except FileNotFoundError as error:
        text = traceback.format_exc() + str(error)
    return name.shown * text.count("told")


def level_of_a_record(x):
    handler = logging.handlers.MemoryHandler(100)
    logger_with(handler).log(20, x)
    return handler.buffer[0].levelno * handler.buffer[0].msg


def chunks_of_an_encoder(x):
    seen = []

    def default(value):
        seen.append(x * len(value))
        return sorted(value)

    text = "".join(json.JSONEncoder(default=default, indent=1).iterencode({"a": {1, 2}}))
    return seen[0] * len(text)


def replaced_method(x):
    seen = []

    def emit(self, record):
        seen.append(record.args[0] * x)

    before = logging.StreamHandler.emit
    logging.StreamHandler.emit = emit
    try:
        logger_with(logging.StreamHandler(io.StringIO())).info("%s", x * x)
    finally:
        logging.StreamHandler.emit = before
    return seen[0]


def wrapped_exceptions(x):
    seen = []
    try:
        try:
            raise Bad(seen, x)
        except Bad as bad:
            raise RuntimeError("other") from bad
    except RuntimeError:
        logger_with(logging.StreamHandler(io.StringIO())).exception("it was %s", x)
    return seen[0] * len(seen)


PROGRAMS = [
    handler_with_an_object, stream_behind_a_writer, what_an_exception_holds, level_of_a_record, chunks_of_an_encoder,
    replaced_method, wrapped_exceptions,
    handler_that_adds_up, handler_that_keeps_records, memory_handler, dict_of_arguments, extra, adapter,
    filter_and_formatter, stream, argument_that_is_shown, shown_in_a_list, parent_has_the_handler, exception_that_is_shown,
    exception_that_is_formatted, printed_to_the_users_stream, standard_output_is_the_users, standard_error_is_the_users,
    warnings_are_shown_by_the_user, record_factory, logger_of_the_users_class, encoder, wrapped, fallback_of_a_setting,
    parts_of_paths, caught_in_the_handler,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_derivative(program):
    value, back = pullback(program, (0.7,))
    assert value == pytest.approx(program(0.7), rel=1e-14)
    (got,) = back(1.0)
    assert (got or 0.0) == pytest.approx(differences.derivative(program, 0.7), rel=1e-6)


def test_place_of_a_record():
    def helper(logger, v):
        logger.info("%s", v, stacklevel=2)

    def told(x):
        logger.info("%s", x)
        helper(logger, x)
        logger.log(20, "a")
        return x * x

    text = []
    for handler in (logging.StreamHandler(io.StringIO()), Shown()):
        handler.setFormatter(logging.Formatter("%(filename)s:%(lineno)d"))
        logger = logger_with(handler)
        told(0.7)
        pullback(told, (0.7,))
        text.append(handler.stream.getvalue().splitlines())
    for lines in text:
        assert lines[:3] == lines[3:] == [f"{pathlib.Path(__file__).name}:{line}" for line in places(told)]


class Shown(logging.StreamHandler):
    def __init__(self):
        super().__init__(io.StringIO())

    def emit(self, record):
        super().emit(record)


def places(f):
    first = f.__code__.co_firstlineno
    return first + 1, first + 2, first + 3


def test_place_of_a_warning():
    def warned(x):
        warnings.warn("abc", stacklevel=1)
        return x * x

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warned(0.7)
        pullback(warned, (0.7,))
    first, second = caught
    assert (first.filename, first.lineno, str(first.message)) == (second.filename, second.lineno, str(second.message))


def test_nobody_listens():
    def told(x):
        logger.debug("%s", Told(x))
        return x * x

    logger = logger_with(logging.NullHandler())
    logger.setLevel(logging.INFO)
    assert pullback(told, (0.7,))[1](1.0) == (pytest.approx(1.4),)


@each_in_long_turn
@pytest.mark.parametrize(
    "program", [handler_that_adds_up, memory_handler, stream, wrapped, fallback_of_a_setting], ids=lambda p: p.__name__
)
@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_second_derivative(program):
    expected = differences.derivative(lambda v: zyg.gradient(program, v)[0], 0.7)
    assert zyg.hessian(program, 0.7) == pytest.approx(expected, rel=1e-6)


@pytest.mark.filterwarnings("ignore::zyg.FallbackWarning")
def test_first_gradient_compiles_nothing_of_the_library():
    def told(x):
        try:
            raise KeyError("k")
        except KeyError:
            logger.exception("bad %s", x)
        return x * x

    logger = logger_with(logging.StreamHandler(io.StringIO()))
    compiled = []

    def seen(frame, event, arg):
        if event == "call" and frame.f_code.co_name == "_compile" and "autodiff" in frame.f_code.co_filename:
            compiled.append(frame.f_locals["code"].co_filename)

    sys.setprofile(seen)
    try:
        pullback(told, (0.7,))
    finally:
        sys.setprofile(None)
    assert not [name for name in compiled if "logging" in name or "traceback" in name]


def words_that_are_chosen(x):
    table, total = {"alpha": x, "beta": x * x, "gamma": 3.0}, 0.0
    for word in ("alfa", "bata", "gamma"):
        (name,) = difflib.get_close_matches(word, table, 1)
        total += table[name] * len(difflib.get_close_matches(word, list(table), n=2, cutoff=0.5))
    matcher = difflib.SequenceMatcher(None, "abcd", "bcde")
    total += matcher.ratio() * x + len(list(difflib.unified_diff(["a"], ["b"]))) * x
    for text in ("[1, 2.5]", "{'k': 3.0}", "("):
        try:
            made = ast.literal_eval(text)
            total += sum(made.values() if isinstance(made, dict) else made) * x
        except SyntaxError as error:
            total += x * (error.lineno or 0)
    numbers = difflib.get_close_matches([x, 2.0], [[x, 2.0], [1.0]], 1)
    return total + numbers[0][0] * x


def test_words_that_are_chosen():
    check(words_that_are_chosen)


@each_in_long_turn
def test_second_derivatives_of_words_that_are_chosen():
    check_second(words_that_are_chosen)
