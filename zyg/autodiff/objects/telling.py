"""Functions of the library, written in Python, that only tell something: they format, write out, read text, and carry no derivative.

They are called as they are, as functions in C are. Code of the user's that they enter (a handler of a logger, `write` of a stream,
`__str__` of what is told) is followed as that which C code enters (reentry.py): it is found at what they work on, at what that holds,
and at what the modules themselves have (`_DOORS`). What they keep of what they were given are records of `logging`, whose making is
followed, too.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Mapping
from types import FunctionType
from typing import Any, ClassVar

from zyg.ir.plainly import get_plainly

from . import builtins_, calls, foreign, reach, reentry, texts
from .arithmetic import find
from .calls import known
from .cotangents import INERT
from .foreign_calls import run_entered
from .functions import Function, call_bound
from .passing import passes

# Their functions that keep what they are given, or give it back.
_KEEPING = frozenset(
    "logging.makeLogRecord json.encoder.JSONEncoder.iterencode logging.LoggerAdapter logging.config string.Formatter json.load difflib.SequenceMatcher".split()
)
_STORING = "__init__", "__new__", "__setattr__", "__call__"

# What the modules have by name that may be the user's.
_DOORS = {
    "logging": ("root", "lastResort", "_logRecordFactory", "_loggerClass"),
    "warnings": ("showwarning", "formatwarning", "_showwarnmsg", "_showwarnmsg_impl", "_formatwarnmsg"),
}
_OTHER_CODE = 0x2A0  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR: it runs later


def handler_of(f: FunctionType) -> Any:
    """What a call of a function means that only tells something; None of another one.

    >>> handler_of(warnings.simplefilter) is None, handler_of(functools.wraps) is None
    (False, True)
    """
    module = f.__globals__.get("__name__")
    if module not in reach.TOLD and module not in reach.READ:
        return None
    if f.__closure__ or f.__code__.co_flags & _OTHER_CODE or f.__code__.co_filename != _file_of(module):
        return None
    if module == "logging" and f.__qualname__ == "Logger.makeRecord":
        return functools.partial(make_record, f)
    if f.__name__ in _STORING or f.__name__.startswith(("set", "add")) or _keeps(f"{module}.{f.__qualname__}"):
        return None
    return functools.partial(tell if module in reach.TOLD else read, f)


def _file_of(module: str) -> Any:
    return getattr(sys.modules.get(module), "__file__", None)


def _keeps(name: str) -> bool:
    return any(name.startswith(kept) for kept in _KEEPING)


def is_told(f: FunctionType) -> bool:
    """Whether a function only tells something."""
    return handler_of(f) is not None


# ----------------------------------------------------------------------------------------------------- what is told


@passes()
def tell(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    if _is_too_low(f, args):
        return None, None
    functions = entered_by(f, args, kwargs)
    if functions:
        return _tell_followed(f, args, kwargs, functions)
    run, given = _at_level(f, args, kwargs, 0)
    value = run(*args, **given)
    return (value, None) if type(value) in INERT else _given(f, value, args, kwargs)


@passes(lambda variables: [(reentry.run_called,)])
def _tell_followed(f: Any, args: Any, kwargs: dict[str, Any], functions: list[FunctionType]) -> tuple[Any, Any]:
    log: list[Any] = []
    run, given = _at_level(f, args, kwargs, 1)
    value = reentry.run_with_traps(run, args, given, functions, log)
    back = None
    if type(value) not in INERT:
        value, back = _given(f, value, args, kwargs)
    if not log:
        return value, back
    operands = (*args, *kwargs.values())
    return value, (
        run_entered,
        back,
        (reentry.run_followed, None, operands, log, foreign.caller(), foreign.name_of(f), ()),
    )


def _given(f: Any, value: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, Any]:
    what = f"a derivative through what `{foreign.name_of(f)}` gives"
    return foreign.result(value, what, "take the number from where it comes from", (f, *args, *kwargs.values()))


@known(tell, exact=True)
def _tell_again(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """In a second derivative."""
    if _is_too_low(f, args):
        return (None, None), None
    functions = entered_by(f, args, kwargs)
    if not functions:
        run, given = _at_level(f, args, kwargs, 0)
        value = run(*args, **given)
        if type(value) in INERT:
            return (value, None), None
        made, back = calls.call(_given, (f, value, args, kwargs))
        return made, None if back is None else (_run_again, back, 3, len(args), kwargs)
    made, back = calls.call(_tell_followed, (f, args, kwargs, functions))
    return made, None if back is None else (_run_again, back, 2, len(args), kwargs)


def _run_again(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    """The arguments were given as a tuple, at that place, and a dict."""
    _, inner, at, count, kwargs = back
    given = calls.run(inner, d, shadows)
    by_position = None if given is None else given[at]
    by_name = [shadows.take_key(kwargs, name) for name in kwargs]
    return None, None, *(by_position or (None,) * count), *by_name


def entered_by(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[FunctionType]:
    """The functions that are followed while a function tells something."""
    module = f.__globals__["__name__"]
    functions = reach.entered((*args, *kwargs.values(), *_behind(module)), deep=True)
    if _logs(f) and (functions or _is_kept(_logger(f, args))):
        make = sys.modules["logging"].Logger.makeRecord
        functions += [make] if type(make) is FunctionType else []
    return functions


def _behind(module: str) -> list[Any]:
    """What functions of a module reach by name that may run code of the user's."""
    space = vars(sys.modules[module])
    found = [space[name] for name in _DOORS.get(module.partition(".")[0], ()) if name in space]
    found += reach.own_streams()
    error = sys.exc_info()[1]
    return found if error is None else [*found, error]


@passes()
def read(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    if is_only_read(args, kwargs) or _chooses_text(f, args, kwargs):
        return f(*args, **kwargs), None
    return call_bound(entry_of(f), f, *args, **kwargs)


@known(read, exact=True)
def _read_again(f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    if is_only_read(args, kwargs) or _chooses_text(f, args, kwargs):
        return (f(*args, **kwargs), None), None
    made, back = calls.call(call_bound, (entry_of(f), f, *args), kwargs)
    return made, None if back is None else (_run_in_full, back)


def _run_in_full(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    given = calls.run(back[1], d, shadows)
    return None if given is None else given[1:]  # (`call_bound` was given the entry besides)


def _chooses_text(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether it is `difflib.get_close_matches`, which goes through words, those that are keys of a dict, too; the numbers that it is given
    say how many, and how close."""
    if (
        f.__name__ != "get_close_matches"
        or len(args) < 2
        or not _HOW.issuperset(map(type, (*args[2:], *kwargs.values())))
    ):
        return False
    return type(args[0]) is str and type(args[1]) in _WORDS and _TEXT.issuperset(map(type, args[1]))


_HOW = frozenset({int, float})
_WORDS = frozenset({list, tuple, dict, set, frozenset})
_TEXT = frozenset({str})


def is_only_read(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether nothing is given but text, and objects of the modules themselves that hold no numbers, and bring no code of the user's
    along."""
    operands = (*args, *kwargs.values())
    rows = texts.reads_rows(operands[0]) if len(operands) == 1 else None
    if rows is not None:
        return rows
    if len(operands) == 2 and texts.writes_row(*operands):
        return True
    if not all(texts.is_text(x) or type(x) is object or type(x).__module__ in reach.READ for x in operands):
        return False
    if texts.hold_text(operands):
        return True
    if not all(foreign.is_of_library(f.__code__.co_filename) for f in reach.entered(operands, deep=True)):
        return False
    return not texts.hold_numbers(operands)


entry_of = functools.cache(Function)


# ------------------------------------------------------------------------------------------------------- warnings


@known(warnings.warn, exact=True)
@passes()
def warn(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """`warnings.warn`, with the place of the user's code that calls it."""
    made = _Warning.of(*args, **kwargs)
    f, given = (warnings.warn, args) if made is None else (warnings.warn_explicit, made)
    named = kwargs if made is None else {}
    functions = reach.entered((*args, *kwargs.values(), *_behind("warnings")), deep=True)
    if not functions:
        f(*given, **named)
        return None, None
    log: list[Any] = []
    reentry.run_with_traps(f, given, named, functions, log)
    operands = (*args, *kwargs.values())
    entered = (reentry.run_followed, None, operands, log, foreign.caller(), "warnings.warn", ())
    return None, (run_entered, None, entered) if log else None


class _Warning:
    """What `warnings.warn_explicit` takes for what `warnings.warn` was given."""

    registries: ClassVar[dict[str, dict[Any, Any]]] = {}  # by file: which warnings there were

    @classmethod
    def of(cls, message: Any = "", category: Any = None, stacklevel: Any = 1, source: Any = None, **other: Any) -> Any:
        if isinstance(message, Warning):
            category = type(message)
        elif category is None:
            category = UserWarning
        if other or type(stacklevel) is not int or not (isinstance(category, type) and issubclass(category, Warning)):
            return None
        frame: Any = builtins_.user_frame()
        while frame is not None and (stacklevel := stacklevel - 1) > 0:
            frame = frame.f_back
            while frame is not None and frame.f_globals.get("__name__", "").startswith("zyg."):
                frame = frame.f_back
        if frame is None:
            return None
        name = frame.f_code.co_filename
        module = frame.f_globals.get("__name__")
        return message, category, name, frame.f_lineno, module, cls.registries.setdefault(name, {}), None, source


# -------------------------------------------------------------------------------------------------------- logging


_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40, "critical": 50}
_LOGGING = frozenset({*_LEVELS, "warn", "exception", "fatal", "log"})


def _is_too_low(f: Any, args: tuple[Any, ...]) -> bool:
    """Whether nobody listens to what is told, as a logger of the library's own class knows."""
    level = _LEVELS.get(f.__name__)
    if level is None or not args or f.__qualname__ != f"Logger.{f.__name__}":
        return False
    logging = sys.modules["logging"]
    if type(args[0]) not in (logging.Logger, logging.RootLogger):
        return False
    asked = logging.Logger.isEnabledFor
    return get_plainly(asked, "__globals__") is vars(logging) and not asked(args[0], level)


def _is_kept(logger: Any) -> bool:
    """Whether a handler may keep a record: all of the library's write it out, but for those that hand records on."""
    handlers = sys.modules.get("logging.handlers")
    keeping = () if handlers is None else (handlers.BufferingHandler, handlers.QueueHandler)
    while logger is not None:
        for h in logger.handlers:
            if type(h).__module__ not in _OF_LOGGING or isinstance(h, keeping):
                return True
        logger = logger.parent if logger.propagate else None
    return False


_OF_LOGGING = frozenset({"logging", "logging.handlers"})


def _logs(f: Any) -> bool:
    """Whether a function of `logging` makes a record."""
    owner, _, name = f.__qualname__.rpartition(".")
    return name in _LOGGING and owner in ("", "Logger") and f.__globals__["__name__"] == "logging"


def _logger(f: Any, args: tuple[Any, ...]) -> Any:
    return args[0] if "." in f.__qualname__ and args else sys.modules["logging"].root


def _at_level(f: Any, args: Any, kwargs: dict[str, Any], between: int) -> tuple[Any, dict[str, Any]]:
    """What to call, with which arguments by name, for a logger to find who has called it: there are frames of zyg's in between,
    so many of them behind the one that asks."""
    level = level_of(f, args, kwargs, between)
    if level is None:
        return f, kwargs
    if "stacklevel" in kwargs:
        return f, {**kwargs, "stacklevel": level}
    return functools.partial(f, stacklevel=level), kwargs


def level_of(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], between: int) -> int | None:
    logging = sys.modules.get("logging")
    if logging is None or not _logs(f) or find(type(_logger(f, args)), "_log") is not logging.Logger._log:
        return None
    frame: Any = sys._getframe(2)
    wanted = kwargs.get("stacklevel", 1)
    count = between
    while frame is not None and type(wanted) is int:
        if not logging._is_internal_frame(frame):
            count += 1
            wanted -= not frame.f_globals.get("__name__", "").startswith("zyg.")
        if wanted <= 0:
            return count
        frame = frame.f_back
    return None


def make_record(f: Any, logger: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """`Logger.makeRecord`: the record has what was told, its arguments, and `extra`, as attributes."""
    logging = sys.modules["logging"]
    given = _parameters(*args, **kwargs)
    values = given["args"]
    asked = values and isinstance(values, tuple) and isinstance(values[0], Mapping) and type(values[0]) is not dict
    if asked or logging._logRecordFactory is not logging.LogRecord:
        return call_bound(entry_of(f), f, logger, *args, **kwargs)
    record = f(logger, *args, **kwargs)
    return record, (_run_record, record, given, tuple(_PLACES[: len(args)]), tuple(kwargs))


def _parameters(
    name: Any = None, level: Any = None, fn: Any = None, lno: Any = None, msg: Any = None, args: Any = None,
    exc_info: Any = None, func: Any = None, extra: Any = None, sinfo: Any = None,
) -> dict[str, Any]:  # fmt: skip
    return {"msg": msg, "args": args, "extra": extra}


_PLACES = "name level fn lno msg args exc_info func extra sinfo".split()


def _run_record(back: tuple[Any, ...], d: Any, shadows: Any) -> Any:
    _, record, given, by_position, by_name = back
    flowing = {name: shadows.take_attr(record, name) for name in ("msg", "args")}  # (a level is a code)
    for name in given["extra"] or ():
        c = shadows.take_attr(record, name)
        if c is not None:
            shadows.add_key(given["extra"], name, c)
    return None, None, *[flowing.get(name) for name in (*by_position, *by_name)]
