"""What to write instead of functions and classes of libraries that native code does not know, or that zyg cannot see into: one
table, by module, class and name."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from zyg.ir.plainly import get_plainly

from .homes import found, home, public_module

_EQUATION = (
    "the derivative of a solution follows from its equation: 'Implicit differentiation' in docs/custom-adjoints.md"
)
_INTEGRAL = (
    "the derivative of an integral is an integral, that of the solution of a differential equation follows from the equation: "
    "'Implicit differentiation' in docs/custom-adjoints.md"
)
# What a rule for them is made of.
_RULES = {"scipy.optimize": _EQUATION, "scipy.integrate": _INTEGRAL}

_TEXT = "write the expression as Python code, or make a function of the text outside: f = eval('lambda x: ...')"
_NO_MATRIX = "use arrays of two axes, np.asarray(x), with @ for products"
_TIMES = "take the number outside of the function, (a - b).days for instance, and pass it"
_OF_SYMMETRIC = "of a symmetric matrix: w, V = np.linalg.eigh(A), and V @ np.diag({}) @ V.T"
# What zyg knows, in their place.
_EQUIVALENT = {
    "numpy.lib.stride_tricks.as_strided": "np.lib.stride_tricks.sliding_window_view(x, n) for windows, np.broadcast_to(x, shape) for what is "
    "repeated, slices and x.reshape(...) for other views",
    "scipy.linalg.sqrtm": _OF_SYMMETRIC.format("np.sqrt(w)"),
    "scipy.linalg.logm": _OF_SYMMETRIC.format("np.log(w)"),
    "scipy.linalg.cosm": _OF_SYMMETRIC.format("np.cos(w)"),
    "scipy.linalg.sinm": _OF_SYMMETRIC.format("np.sin(w)"),
    "scipy.linalg.tanhm": _OF_SYMMETRIC.format("np.tanh(w)"),
    "scipy.linalg.signm": _OF_SYMMETRIC.format("np.sign(w)"),
    "scipy.linalg.fractional_matrix_power": _OF_SYMMETRIC.format("w**t"),
    "scipy.integrate.trapezoid": "np.trapezoid",
    "scipy.signal.convolve": "np.convolve",
    "scipy.linalg.svdvals": "np.linalg.svd(A, compute_uv=False)",
    "scipy.linalg.toeplitz": "of a column c: c[np.abs(np.arange(n)[:, None] - np.arange(n))], where n is len(c)",
} | {
    f"scipy.linalg.{name}": f"np.linalg.{name}"
    for name in ("eig", "eigh", "eigvals", "eigvalsh", "lstsq", "norm", "pinv", "qr", "svd")
}
# What to write instead, natively and through Python,
_EITHER_WAY = {
    "builtins.eval": _TEXT,
    "builtins.exec": "write the statements as Python code, or run the text outside, and call the functions that it defines",
    "pickle.loads": "copy.deepcopy(x) in the place of pickle.loads(pickle.dumps(x))",
    "numpy.ma": "pass the data and the mask as two arrays, np.asarray(x) and x.mask, and choose: np.where(mask, 0.0, x)",
    "numpy.matrix": _NO_MATRIX,
    "numpy.matrixlib": _NO_MATRIX,
    "numpy.void": "make an array of the field outside of the function, x = records['b'].copy(), and pass that",
}
# and natively.
_INSTEAD = _EITHER_WAY | {
    "builtins.str": "go by numbers, or look into the text outside of the function: native code can show a text that is made at run time (in "
    "print, in the message of an exception), and no more",
    "generator": "keep what it remembers in an object with a method, and call that in the place of `send`, or loop over the items",
    "heapq": "keep the list sorted: bisect.insort(q, x) puts an item in, q.pop(0) takes the smallest out",
    "heapq.nsmallest": "sorted(xs)[:n]",
    "heapq.nlargest": "sorted(xs, reverse=True)[:n]",
    "heapq.merge": "sorted([*xs, *ys])",
    "random": "draw outside of the function and pass the numbers as a list, [random.gauss(0.0, 1.0) for _ in range(n)], or draw with "
    "NumPy: rng = np.random.default_rng(seed)",
    "collections.Counter": "count in a dict: d[key] = d.get(key, 0) + 1",
    "collections.defaultdict": "use a dict, whose keys are texts: d[key] = d.get(key, 0.0) + x, or d.setdefault(key, []).append(x) for lists",
    "builtins.__missing__": "use a dict, and say what it is without the key: d.get(key, default)",
    "_collections_abc": "go through the list or tuple that it holds (xs.data of a UserList), or give the class an __iter__ of its own",
    "dict": "make a tuple of it outside of the function, ITEMS = tuple(d.items()), and go through that",
    "dict.fromkeys": "{key: x for key in keys}",
    "collections.ChainMap": "use one dict: {**second, **first}",
    "collections.OrderedDict": "use a dict, which has an order too",
    "collections.deque": "use a list: q.append(x), and q.pop(0) in the place of q.popleft()",
    "queue": "use a list: q.append(x), q.pop(0)",
    "statistics.linear_regression": "np.polyfit(x, y, 1), which gives slope and intercept",
    "statistics.correlation": "np.corrcoef(x, y)[0, 1]",
    "statistics.covariance": "np.cov(x, y)[0, 1]",
    "statistics.quantiles": "np.quantile(xs, [0.25, 0.5, 0.75])",
    "statistics.geometric_mean": "math.exp(sum(math.log(x) for x in xs) / len(xs))",
    "statistics.harmonic_mean": "len(xs) / sum(1 / x for x in xs)",
    "statistics.NormalDist": "write out the formula, with scipy.special.ndtr((x - mean) / deviation) for cdf(x) and ndtri for inv_cdf",
    "statistics": "sum(xs) / len(xs) in the place of statistics.mean(xs), or functions of NumPy: np.mean, np.std, np.median",
    "itertools.combinations": "write loops: for i, a in enumerate(xs): for b in xs[i + 1:]",
    "itertools.permutations": "write loops",
    "operator.itemgetter": "write it as a function: lambda x: x[0]",
    "operator.attrgetter": "write it as a function: lambda x: x.name",
    "operator.methodcaller": "write it as a function: lambda x: x.method()",
    "datetime": _TIMES,
    "zyg.params.Params": "pass the arrays that it is by as arguments, zyg.gradient(f, W, b), or differentiate by parameters outside of compiled code",
    "decimal": "use floats, or convert it outside of the function: float(d)",
    "fractions": "use floats: 1 / 3",
    "enum": "take the member itself for a number, of a class derived from enum.IntEnum, or from float and enum.Enum; or keep the numbers in "
    "global variables",
    "contextlib": "write what it does in front of the block and behind it, without `with`",
    "re": "look into the text outside of the function, and pass what is found",
    "functools.lru_cache": "leave the cache out, or fill a list with the values, from the smallest argument on",
    "functools.cmp_to_key": "sort by a key: sorted(xs, key=lambda x: ...), with a tuple for several criteria",
    "functools._lru_cache_wrapper": "call the function itself, f.__wrapped__(x), or leave the cache out",
}
OUTSIDE = "call it outside of the function and pass what it gives, or write out what is needed of it"


def remedy(name: str) -> str | None:
    """For a function, by its name with the module.

    >>> remedy("scipy.optimize.brentq") == remedy("scipy.optimize"), remedy("scipy.optimizer.f"), remedy("eval") == remedy("builtins.eval")
    (True, None, True)
    """
    return _find(_INSTEAD, name) or _find(_EQUIVALENT, name) or _find(_RULES, name)


def remedy_for(x: Any) -> str | None:
    """For an object, by its class and the classes that this is derived from; for an array by what its elements are as well.

    >>> import enum
    >>> remedy_for(enum.Enum("Side", "CALL PUT").PUT) == remedy("enum.Enum"), remedy_for(1.0)
    (True, None)
    """
    classes = [*type(x).__mro__, *((x.dtype.type,) if isinstance(x, np.ndarray) else ())]
    return next((known for cls in classes if (known := remedy(qualified(cls))) is not None), None)


def _find(table: dict[str, str], name: str) -> str | None:
    parts = (name if "." in name else f"builtins.{name}").split(".")
    return next((known for n in range(len(parts), 0, -1) if (known := table.get(".".join(parts[:n])))), None)


def remedy_in(filename: str, function: str = "") -> str:
    """For code in a file of a library, in a function.

    >>> remedy_in("/lib/python3.12/random.py", "Random.seed") == remedy("random.seed"), remedy_in("/lib/python3.12/heapq.py", "merge")
    (True, 'sorted([*xs, *ys])')
    >>> remedy_in("/models/optimize/model.py") == OUTSIDE
    True
    >>> print(remedy_in("/lib/site-packages/scipy/optimize/_zeros_py.py").splitlines()[1])
    give it a rule for its derivative: the derivative of a solution follows from its equation: 'Implicit differentiation' in docs/custom-adjoints.md
    """
    filename = filename.removeprefix("<frozen ").removesuffix(">")  # of modules that come with the interpreter
    path = f"/{filename.replace(chr(92), '/').removesuffix('.py')}/{function.replace('.', '/')}/"
    names = [name for name in (*_INSTEAD, *_RULES) if f"/{name.replace('.', '/')}/" in path]
    name = max(names, key=len, default="")
    if name in _RULES:
        return f"{OUTSIDE}\ngive it a rule for its derivative: {_RULES[name]}"
    return _INSTEAD[name] if name and "/site-packages/" not in path else OUTSIDE


_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@", "lshift": "<<",
    "rshift": ">>", "and": "&", "or": "|", "xor": "^", "lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">=",
}  # fmt: skip
_FORMS = {
    "neg": "-x", "pos": "+x", "invert": "~x", "abs": "abs(x)", "len": "len(x)", "getitem": "x[i]", "setitem": "x[i] = y",
    "delitem": "del x[i]", "contains": "y in x", "iter": "iter(x)", "next": "next(x)", "float": "float(x)", "int": "int(x)",
    "bool": "bool(x)", "complex": "complex(x)", "round": "round(x)", "divmod": "divmod(x, y)", "reversed": "reversed(x)",
}  # fmt: skip


def operator_for(method: str) -> str | None:
    """How users write what is a special method of built-in classes.

    >>> operator_for("__iadd__"), operator_for("__rsub__"), operator_for("__len__"), operator_for("__enter__"), operator_for("append")
    ('x += y', 'y - x', 'len(x)', None, None)
    """
    if not (method.startswith("__") and method.endswith("__")):
        return None
    name = method[2:-2]
    if name in _FORMS:
        return _FORMS[name]
    for prefix, form in (("", "x {} y"), ("i", "x {}= y"), ("r", "y {} x")):
        symbol = _SYMBOLS.get(name.removeprefix(prefix)) if name.startswith(prefix) else None
        if symbol is not None:
            return form.format(symbol)
    return None


def qualified(function: Any) -> str:
    """The name of a function, a class, or a method that is bound, with the module that users have it from.

    >>> import heapq, random, collections
    >>> qualified(heapq.heappush), qualified(random.random), qualified(collections.Counter().values), qualified(len), qualified(np.hypot)
    ('heapq.heappush', 'random.Random.random', 'collections.Counter.values', 'len', 'numpy.hypot')
    """
    if not isinstance(get_plainly(function, "__qualname__"), str) and not isinstance(function, np.ufunc):
        function = type(function)
    module, name = home(function), function.__name__ if isinstance(function, np.ufunc) else function.__qualname__
    module = public_module(module, name, function)
    public = module.lstrip("_")
    if public != module and found(public, name) is function:
        module = public
    return name if module in ("builtins", "__main__", "") else f"{module}.{name}"


def instead_of(function: Any) -> str:
    """For what native code does not know: a function, a class, or a method that is bound."""
    name = qualified(function)
    known = remedy(name)
    if known is not None:
        known = f"{OUTSIDE}; {known}" if known in _RULES.values() else known
        return known if name not in _EQUIVALENT else f"{known}; or give it a rule: @zyg.adjoint({name}, returns=...)"
    if "." not in name or name.partition(".")[0] in sys.stdlib_module_names:
        return OUTSIDE
    if name.rpartition(".")[2].startswith("_"):
        return "write it in Python, or give a rule to the function around it, with @zyg.adjoint"
    return f"write it in Python, or give it a rule: @zyg.adjoint({name})"


def rule_of(name: str) -> str:
    """For what zyg cannot see into, by its name with the module, where a derivative is to go through it.

    >>> rule_of("mine.f"), rule_of("pickle.loads") == remedy("pickle.loads")
    ('give it a rule with @zyg.adjoint(mine.f)', True)
    """
    known = _find(_EITHER_WAY, name)
    if known is not None:
        return known
    rule, about, other = f"give it a rule with @zyg.adjoint({name})", _find(_RULES, name), _find(_EQUIVALENT, name)
    if other is not None:
        return f"{other}; or {rule}"
    return rule + (f" ({about})" if about is not None else "")


__all__ = ["OUTSIDE", "instead_of", "operator_for", "qualified", "remedy", "remedy_for", "remedy_in", "rule_of"]
