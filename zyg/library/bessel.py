"""scipy.special: Bessel functions and their relatives.

Their recurrences give the derivatives by the argument (NIST Handbook of Mathematical Functions, chapters 10 and 11).  There is
none by the order: one that is asked for is refused.
"""

from __future__ import annotations

import numpy as np
from scipy import special as sc

from .special import special

special("i0", "i0", lambda x, y: sc.i1(x))
special("i1", "i1", lambda x, y: sc.i0(x) - (0.5 + x * x / 16.0 if x == 0 else y / x))
special("i0e", "i0e", lambda x, y: sc.i1e(x) - np.sign(x) * y)
special("i1e", "i1e", lambda x, y: sc.i0e(x) - np.sign(x) * y - (0.5 if x == 0 else y / x))
special("k0", "k0", lambda x, y: -sc.k1(x))
special("k1", "k1", lambda x, y: -sc.k0(x) - y / x)
special("k0e", "k0e", lambda x, y: y - sc.k1e(x))
special("k1e", "k1e", lambda x, y: y - sc.k0e(x) - y / x)
special("j0", "j0", lambda x, y: -sc.j1(x))
special("j1", "j1", lambda x, y: sc.j0(x) - (0.5 - x * x / 16.0 if x == 0 else y / x))
special("y0", "y0", lambda x, y: -sc.y1(x))
special("y1", "y1", lambda x, y: sc.y0(x) - y / x)

special("jv", "jv", None, lambda v, x, y: 0.5 * (sc.jv(v - 1.0, x) - sc.jv(v + 1.0, x)))
special("yv", "yv", None, lambda v, x, y: 0.5 * (sc.yv(v - 1.0, x) - sc.yv(v + 1.0, x)))
special("iv", "iv", None, lambda v, x, y: 0.5 * (sc.iv(v - 1.0, x) + sc.iv(v + 1.0, x)))
special("kv", "kv", None, lambda v, x, y: -0.5 * (sc.kv(v - 1.0, x) + sc.kv(v + 1.0, x)))
special("ive", "ive", None, lambda v, x, y: 0.5 * (sc.ive(v - 1.0, x) + sc.ive(v + 1.0, x)) - np.sign(x) * y)
special("kve", "kve", None, lambda v, x, y: y - 0.5 * (sc.kve(v - 1.0, x) + sc.kve(v + 1.0, x)))
special("yn", "yn", None, lambda n, x, y: 0.5 * (sc.yv(n - 1.0, x) - sc.yv(n + 1.0, x)))
special("kn", "kn", None, lambda n, x, y: -0.5 * (sc.kv(n - 1.0, x) + sc.kv(n + 1.0, x)))
special("struve", "struve", None, lambda v, x, y: sc.struve(v - 1.0, x) - v / x * y)
special("modstruve", "modstruve", None, lambda v, x, y: sc.modstruve(v - 1.0, x) - v / x * y)
