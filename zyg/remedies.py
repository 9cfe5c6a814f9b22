"""What to write instead of functions of other libraries, where more is known than that zyg cannot see into them."""

from __future__ import annotations

_EQUATION = (
    "the derivative of a solution follows from its equation: 'Implicit differentiation' in docs/custom-adjoints.md"
)
_INTEGRAL = (
    "the derivative of an integral is an integral, that of the solution of a differential equation follows from the equation: "
    "'Implicit differentiation' in docs/custom-adjoints.md"
)
_TEXT = "write the expression as Python code, or make a function of the text outside: f = eval('lambda x: ...')"
# By module, or module and name.
_KNOWN = {
    "scipy.optimize": _EQUATION,
    "scipy.integrate": _INTEGRAL,
    "builtins.eval": _TEXT,
    "builtins.exec": "write the statements as Python code, or run the text outside, and call the functions that it defines",
    "pickle.loads": "copy.deepcopy(x) in the place of pickle.loads(pickle.dumps(x))",
}


def remedy(name: str) -> str | None:
    """For a function, by its name with the module.

    >>> remedy("scipy.optimize.brentq") == remedy("scipy.optimize"), remedy("scipy.optimizer.f"), remedy("eval") == remedy("builtins.eval")
    (True, None, True)
    """
    parts = (name if "." in name else f"builtins.{name}").split(".")
    return next((found for n in range(len(parts), 0, -1) if (found := _KNOWN.get(".".join(parts[:n])))), None)


def remedy_in(filename: str) -> str | None:
    """For code in a file of a library.

    >>> remedy_in("/lib/site-packages/scipy/optimize/_zeros_py.py") == remedy("scipy.optimize"), remedy_in("/models/optimize/model.py")
    (True, None)
    """
    path = filename.replace("\\", "/")
    return next((found for name, found in _KNOWN.items() if f"/{name.replace('.', '/')}/" in path), None)


__all__ = ["remedy", "remedy_in"]
