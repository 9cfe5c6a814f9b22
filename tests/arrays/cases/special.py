"""scipy.special; nothing where SciPy is not installed."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from ..case import case
from ..drawing import A, Num

if importlib.util.find_spec("scipy") is not None:
    from scipy import special

    def _one(name: str, values: str, dtypes: str = "df", **options: Any) -> None:
        function = getattr(special, name)
        case(function, lambda a: function(a), a=A("n|n m|", dtypes, values), tolerance=256, **options)
        case(function, lambda x: function(x), x=Num("d", values), tolerance=256, **options)

    for _name, _values in (
        ("gammaln", "positive"), ("gamma", "positive"), ("rgamma", "positive"), ("loggamma", "positive"), ("digamma", "positive"),
        ("psi", "positive"), ("erf", "finite"), ("erfc", "unit"), ("erfcx", "unit"), ("erfinv", "unit"), ("erfcinv", "probability"),
        ("erfi", "unit"), ("dawsn", "finite"), ("expit", "finite"), ("log_expit", "finite"), ("ndtr", "finite"),
        ("ndtri", "probability"), ("log_ndtr", "finite"), ("j0", "positive"), ("j1", "positive"), ("y0", "positive"),
        ("y1", "positive"), ("i0", "unit"), ("i1", "unit"), ("i0e", "unit"), ("i1e", "unit"), ("k0", "positive"), ("k1", "positive"),
        ("k0e", "positive"), ("k1e", "positive"), ("exp1", "positive"), ("expi", "positive"), ("spence", "positive"),
        ("expm1", "finite"), ("log1p", "positive"), ("cbrt", "positive"), ("exp2", "finite"), ("exp10", "unit"), ("sinc", "finite"),
        ("entr", "positive"), ("exprel", "finite"), ("cosm1", "finite"), ("ellipk", "unit"), ("ellipe", "unit"),
        ("boxcox1p", "positive"), ("cosdg", "finite"), ("sindg", "finite"), ("round", "finite"),
    ):  # fmt: skip
        if (
            hasattr(special, _name)
            and special.__dict__[_name].__class__.__name__ == "ufunc"
            and special.__dict__[_name].nin == 1
        ):
            _one(_name, _values)
    _one("logit", "unit", derivative=False)
    _one("zetac", "above")
    _one("zetac", "finite")
    case(special.logit, lambda a: special.logit(a * a), a=A("n|n m", "d", "unit"), tolerance=256)
    for _name, _first, _second in (
        ("beta", "positive", "positive"), ("betaln", "positive", "positive"), ("xlogy", "positive", "positive"),
        ("xlog1py", "positive", "positive"), ("rel_entr", "positive", "positive"), ("kl_div", "positive", "positive"),
        ("gammainc", "positive", "positive"), ("gammaincc", "positive", "positive"), ("binom", "positive", "unit"),
        ("poch", "positive", "positive"), ("huber", "positive", "finite"), ("pseudo_huber", "positive", "finite"),
        ("boxcox", "positive", "unit"), ("inv_boxcox", "unit", "positive"),
        ("owens_t", "finite", "finite"), ("zeta", "above", "positive"),
    ):  # fmt: skip
        if hasattr(special, _name) and getattr(getattr(special, _name), "nin", 2) == 2:
            case(getattr(special, _name), (lambda f: lambda a, b: f(a, b))(getattr(special, _name)),
                 a=A("n|n m", "d", _first), b=A("n|m", "d", _second), tolerance=1024)  # fmt: skip
    for _name in ("jv", "yv", "iv", "kv", "ive", "kve", "jn", "yn", "kn"):
        if hasattr(special, _name):
            case(
                getattr(special, _name),
                (lambda f: lambda a: f(2, a))(getattr(special, _name)),
                a=A("n", "d", "positive"),
                tolerance=1024,
            )
    # Several in one program, as each costs a compilation.
    together = lambda names: [f for n in names.split() if (f := getattr(special, n, None)) is not None]
    case(
        together("chdtr chdtrc gdtr gdtrc stdtr pdtr pdtrc"),
        lambda a: (
            special.chdtr(3.0, a) * a + special.chdtrc(2.0, a) + special.gdtr(1.5, 2.0, a) + special.gdtrc(a, 2.0, 1.5)
            + special.stdtr(3.0, a) + special.pdtr(2.0, a) * a + special.pdtrc(1.0, a)
        ),
        a=A("n", "d", "positive"),
        tolerance=1024,
    )  # fmt: skip
    case(
        together("gammaincinv gammainccinv betaincinv ndtri_exp"),
        lambda a: (
            special.gammaincinv(2.0, a) + special.gammainccinv(3.0, a) + special.betaincinv(2.0, 3.0, a)
            + special.ndtri_exp(-a)
        ),
        a=A("n", "d", "probability"),
        tolerance=4096,
    )  # fmt: skip
    case(
        together("ellipkm1 ellipeinc ellipkinc expn hyp0f1 hyp2f1 hyperu struve modstruve"),
        lambda a: (
            special.ellipkm1(a) + special.ellipeinc(1.2, a) + special.ellipeinc(a, 0.3) + special.ellipkinc(a, 0.3)
            + special.expn(2, a) + special.hyp0f1(1.5, a) + special.hyp2f1(1.0, 1.5, 2.0, a)
            + special.hyperu(1.0, 1.5, a) + special.struve(1.0, a) + special.modstruve(1.0, a)
        ),
        a=A("n", "d", "probability"),
        tolerance=4096,
    )  # fmt: skip
    case(
        together("boxcox1p inv_boxcox1p powm1 gammasgn"),
        lambda a, k: special.boxcox1p(a, k) + special.inv_boxcox1p(a, k) + special.powm1(a, k) + special.gammasgn(a),
        a=A("n", "d", "positive"),
        k=Num("d", "positive"),
        tolerance=1024,
    )
    case(special.logsumexp, lambda a: special.logsumexp(a), a=A("n|n m", "d", "finite", 1))
    case(special.logsumexp, lambda a: special.logsumexp(a, axis=0), a=A("n|n m", "d", "finite", 1))
    case(special.logsumexp, lambda a: special.logsumexp(a, axis=1, keepdims=True), a=A("n m", "d", "finite", 1))
    case(special.softmax, lambda a: special.softmax(a), a=A("n|n m", "d", "finite", 1))
    case(special.softmax, lambda a: special.softmax(a, axis=-1), a=A("n|n m", "d", "finite", 1))
    case(special.log_softmax, lambda a: special.log_softmax(a, axis=0), a=A("n|n m", "d", "finite", 1))
    _multigammaln = vars(special)["multigammaln"]
    case(_multigammaln, lambda x: _multigammaln(x, 2), x=Num("d", "above"), tolerance=256)
    case(special.comb, lambda n: special.comb(n, 2), n=Num("d", "above"), tolerance=256)
    case(special.polygamma, lambda a: special.polygamma(1, a), a=A("n", "d", "positive"), tolerance=1024)
    case(special.factorial, lambda n: special.factorial(n), n=A("n", "d", "few"), tolerance=256, derivative=False)
    case(special.betainc, lambda x: special.betainc(2.0, 3.0, x * x), x=A("n", "d", "unit"), tolerance=1024)
    case(special.hyp1f1, lambda x: special.hyp1f1(1.5, 2.5, x), x=A("n", "d", "unit"), tolerance=1024)

    from scipy import linalg

    from zyg.library import scipy_linalg, scipy_matfuncs

    SQUARE = A("n n", "d", "definite", 1)
    case(linalg.cholesky, lambda a: linalg.cholesky(a, lower=True), a=SQUARE, tolerance=2000)
    case(linalg.cholesky, lambda a: linalg.cholesky(a), a=SQUARE, tolerance=2000)
    case(
        [linalg.cho_factor, linalg.cho_solve],
        lambda a, b: linalg.cho_solve(linalg.cho_factor(a), b),
        a=SQUARE,
        b=A("n|n k", "d", "finite"),
        tolerance=2000,
    )
    case(
        linalg.solve_triangular,
        lambda a, b: linalg.solve_triangular(a, b, lower=True),
        a=A("n n", "d", "regular", 1),
        b=A("n|n k", "d", "finite"),
        tolerance=2000,
    )
    case(
        [linalg.lu_factor, scipy_linalg.lu_of],
        lambda a: linalg.lu_factor(a),
        a=A("3 3|4 2|2 4|10 10", "dfD", "finite", 1),
        tolerance=2000,
    )
    case(
        [linalg.lu_solve],
        lambda a, b: [linalg.lu_solve(linalg.lu_factor(a), b, trans=t) for t in (0, 1, 2)],
        a=A("n n", "dD", "regular", 1),
        b=A("n|n k", "d", "finite"),
        tolerance=2000,
    )
    case(
        linalg.lu,
        lambda a: (linalg.lu(a), linalg.lu(a, p_indices=True)[0], linalg.lu(a, permute_l=True)[0]),
        a=A("3 3|4 2|2 4", "d", "finite", 1),
        tolerance=2000,
    )
    case(
        [linalg.expm, scipy_matfuncs.exponential],
        lambda a: linalg.expm(a),
        a=A("n n|p n n", "dfD", "finite", 1),
        tolerance=1e4,
    )
    case(linalg.expm, lambda a: linalg.expm(a * 0.01), a=A("n n", "d", "finite", 1), tolerance=1e4)
    case(linalg.expm, lambda a: linalg.expm(np.tril(a)), a=A("n n", "d", "finite", 1), tolerance=1e4)
    case(
        linalg.solve,
        lambda a, b: linalg.solve(a, b),
        a=A("n n", "d", "regular", 1),
        b=A("n|n k", "d", "finite"),
        tolerance=2000,
    )
    case(linalg.inv, lambda a: linalg.inv(a), a=A("n n", "d", "regular", 1), tolerance=2000)
    case(linalg.det, lambda a: linalg.det(a), a=A("n n", "d", "regular", 1), tolerance=1e4)
