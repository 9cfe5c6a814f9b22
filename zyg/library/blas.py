"""BLAS and LAPACK for library code: where they are, and their functions as compiled code calls them.

    blas.gemm(TRANSPOSED, PLAIN, m, n, k, 1.0, a, lda, b, ldb, 0.0, c, ldc)

in library code is a call of dgemm or sgemm, as the first array tells, and of zgetrf if one of them holds complex numbers (whose
numbers by pointer, such as alpha, are arrays of one element then).  Arrays are passed as the address of their data, so
that the caller has to see to their layout; matrices are columns, as Fortran has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zyg.ir.core import const
from zyg.ir.records import record
from zyg.ir.types import F32, F64, I64, U8

from .provider import provider
from .registry import emits

if TYPE_CHECKING:
    from zyg.frontend.evaluator import Evaluator
    from zyg.frontend.values import Abstract

_found = provider()
AVAILABLE = _found is not None
# The element type of arrays of integers that these functions read or write.
INTEGER = np.int32 if _found is not None and _found.bits == 32 else np.int64


@record(frozen=True, eq=False)
class CFunction:
    """A function of BLAS or LAPACK.

    spec: a letter per argument: 'c' a character, 'i' an integer, 'f' a number, all by pointer; 'r', 'w', 'm' an array that is
    read, set, or read and written; 'o' a pointer to an integer that is (a part of) the result. returns: whether the function
    gives a number.
    """

    name: str
    spec: str
    returns: bool = False

    def __call__(self, *args: Any) -> Any:
        raise TypeError(f"{self.name} of BLAS or LAPACK is for native code")

    def emit(self, e: Evaluator, *args: Abstract) -> Abstract:
        from zyg.frontend.scalars import scalar_value
        from zyg.frontend.values import ArrayValue, ComplexArrayValue, Known, Number, TupleValue

        found = provider()
        if found is None:
            raise e.refuse(
                "linear algebra without BLAS and LAPACK: this NumPy has none that can be called",
                hint="install scipy, which has",
            )
        # Arrays of complex numbers are those of their parts, which is how they lie in memory.
        whole = [v.floats if isinstance(v, ComplexArrayValue) else v for v in args]
        scalar = next(v.type.dtype for v in whole if isinstance(v, ArrayValue) and v.type.dtype in (F64, F32))
        types = {"c": U8, "i": I64, "f": scalar}
        operands = []
        for letter, v in zip(self.spec.replace("o", ""), whole, strict=True):
            if isinstance(v, ArrayValue):
                operands.append(v.value)
            elif isinstance(v, Known):
                operands.append(const(types[letter].kind == "f" and float(v.object) or v.object, types[letter]))
            else:
                operands.append(e.builder.cast(scalar_value(e, v), types[letter]))
        spec = "".join("p" if x in "cif" else x for x in self.spec)
        kind = "z" if any(isinstance(v, ComplexArrayValue) for v in args) else "d" if scalar is F64 else "s"
        results = e.emit(
            "foreign",
            *operands,
            types=((scalar,) if self.returns else ()) + (I64,) * self.spec.count("o"),
            symbol=f"blas.{kind}{self.name}",
            spec=spec,
            int=found.bits,
            **({"returns": True} if self.returns else {}),
        )
        made = [Number(v) for v in results]
        return Known(None) if not made else made[0] if len(made) == 1 else TupleValue(tuple(made))


def _function(name: str, spec: str, returns: bool = False) -> CFunction:
    made = CFunction(name, spec.replace(" ", ""), returns)
    emits(made)(made.emit)
    return made


# What stands for a character argument.
PLAIN, TRANSPOSED, CONJUGATED = ord("N"), ord("T"), ord("C")
LOWER, UPPER = ord("L"), ord("U")
LEFT, RIGHT = ord("L"), ord("R")
UNIT, NOT_UNIT = ord("U"), ord("N")
VECTORS, NO_VECTORS, ALL, SOME = ord("V"), ord("N"), ord("A"), ord("S")

dot = _function("dot", "i ri ri", returns=True)
gemv = _function("gemv", "c ii f ri ri f mi")
ger = _function("ger", "ii f ri ri mi")
gemm = _function("gemm", "cc iii f ri ri f mi")
trsm = _function("trsm", "cccc ii f ri mi")
potrf = _function("potrf", "c i mi o")
getrf = _function("getrf", "ii mi w o")
getrs = _function("getrs", "c ii ri r mi o")
syevd = _function("syevd", "cc i mi w mi mi o")
geqrf = _function("geqrf", "ii mi w mi o")
orgqr = _function("orgqr", "iii mi r mi o")
gesdd = _function("gesdd", "c ii mi w wi wi mi m o")
geev = _function("geev", "cc i mi ww wi wi mi o")
# The same of complex matrices, where these are called differently.
gemv_complex = _function("gemv", "c ii r ri ri r mi")
trsm_complex = _function("trsm", "cccc ii r ri mi")
heevd = _function("heevd", "cc i mi w mi mi mi o")
ungqr = _function("ungqr", "iii mi r mi o")
gesdd_complex = _function("gesdd", "c ii mi w wi wi mi m m o")
geev_complex = _function("geev", "cc i mi w wi wi mi m o")
