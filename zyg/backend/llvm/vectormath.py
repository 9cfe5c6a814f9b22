"""Mathematical functions of vectors, where the C library's are slow: straight-line formulas, several elements at a time.

`exp`, `expm1`, `log`, `log1p`, `tanh`, `atan` and `atan2` of doubles, for machines with fused multiply-add, and `pow` for those with AVX-512: at
most 2 ulp off (tests measure), special values as in C; log1p of exp, which is softplus, at once.  They take a third to two thirds of the time of glibc's vector functions;
where this module has no function, or the machine no such instructions, those are called.  Sums in lanes have the formulas in
their loops (lowering/vectors.py); loops that LLVM vectorises call them as functions.

Arguments are reduced as in Sun's fdlibm (Ng, 1993): exp(x) = 2**n exp(r), log(x) = k log 2 + log(m) with the series in
s = f / (2 + f); the polynomials are those through the Chebyshev nodes.  With AVX-512, log(x) = k log 2 - log(c) + log(1 + r), where
c of five bits is about 1 / m and r = c m - 1 is exact (Tang, "Table-driven implementation of the logarithm function", ACM TOMS
16, 1990); `pow` carries such a logarithm as the sum of two doubles (Dekker, 1971; so do fdlibm's and the C libraries').  Nothing is
gathered: tables have eight or sixteen entries, one or two registers.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence

LANES = (4, 8)


def _bits(x: float) -> int:
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def _number(bits: int) -> float:
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


LOG2_E = 1.4426950408889634
LN2_HI = 6.93147180369123816490e-01  # with 32 bits: n times it is exact
LN2_LO = 1.90821492927058770002e-10
ROUND = 6755399441055744.0  # 1.5 * 2**52: what is added to it is rounded to an integer, which stands in the lowest bits
ROUND_BITS = 0x4338000000000000
ONE_BITS = 0x3FF0000000000000
HALF_BITS = 0x3FE0000000000000
TWO_BITS = 0x4000000000000000
SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
EXPONENT_BITS = 0xFFF0000000000000 - (1 << 64)
ZEROS, INFINITIES = 2 | 4, 8 | 16  # bits of AVX-512's classes of numbers
LARGE = 1e308  # a power that large, and 1.44 times it, is a number
LARGEST_OF_EXP = 709.782712893384  # beyond, exp is infinite
BELOW_EXP = 746.0  # exp of less than its negative is 0
SMALLEST_NORMAL = 2.2250738585072014e-308
# (exp(r) - 1 - r) / r**2 for abs(r) <= log(2) / 2, ascending.
EXP = (
    0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333326129,
    0.0013888888888883744, 0.00019841269874840768, 2.4801587325562125e-05, 2.7557255374658744e-06,
    2.755727362486648e-07, 2.510522763655176e-08, 2.0914694560351592e-09,
)  # fmt: skip
# The same from -log(2) / 16 - THETA to log(2) / 16 - THETA.
EXP_OF_AN_EIGHTH = (
    0.500000000000029, 0.166666666666491, 0.04166666657085151, 0.008333333635967404, 0.0013889778193415573,
    0.00019829643248281474,
)  # fmt: skip
# 2**(k / 8) exp(THETA), which are doubles to a thirtieth of their last place (Gal, "Computing elementary functions: a new approach for
# achieving high accuracy and good performance", 1986), so that nothing need be added for what was left of them.
THETA = 817297749144 / 2.0**50
EIGHTHS = (
    1.0007261697569447, 1.0912996264004335, 1.1900706812443795, 1.297781280315207, 1.4152405214919515,
    1.5433307322681848, 1.68301409759839, 1.835339887615685,
)  # fmt: skip
# log(c) for c = 1, 1 + 1/16, ..., negative, rounded to 42 places, so that what k log 2 adds is exact, and what was left.
SIXTEENTHS = (
    0.0, -0.06062462181648698, -0.11778303565643, -0.17185025692674571, -0.22314355131425145, -0.2719337154835557,
    -0.31845373111855224, -0.3629054936893681, -0.40546510810827385, -0.4462871026285029, -0.4855078157816024,
    -0.5232481437644765, -0.5596157879353996, -0.5947071077466717, -0.6286086594222979, -0.6613984822454313,
)  # fmt: skip
SIXTEENTHS_LO = (
    0.0, 5.213620639136504e-14, 4.654729747598445e-14, 8.649239607212071e-14, 4.169796584527195e-14,
    -8.604306772808733e-14, 1.7625431312172662e-14, -3.6708569716349383e-16, 1.094708713660664e-13,
    8.33959316905439e-14, -9.840465278232627e-14, -7.135550660118121e-14, -2.3119493838005378e-14,
    -2.1107989157842298e-14, -7.620483823189371e-14, 6.628791790390747e-14,
)  # fmt: skip
# (log(1 + r) - r) / r**2 from -1/32 - 2**-16 to 0.0324, and (log(1 + r) - r + r**2 / 2) / r**3 for abs(r) <= 1/32 + 2**-16.
LOG_NEAR_1 = (
    -0.4999999999999959, 0.33333333333333287, -0.25000000005248413, 0.20000000001637744, -0.16666648463747533,
    0.1428570500399581, -0.1252337830261073, 0.11127689789276708,
)  # fmt: skip
LOG_NEAR_1_BEYOND = (
    0.3333333333333333, -0.2499999999999973, 0.1999999999999975, -0.16666666670321975, 0.14285714289088483,
    -0.12499986540510935, 0.11111098686739135, -0.1001835149285997, 0.0910784916718294,
)  # fmt: skip
EXP_TWICE = tuple(c * 2.0 ** (k + 1) for k, c in enumerate(EXP))  # (exp(2r) - 1 - 2r) / 2 / r**2
# (log((1 + s) / (1 - s)) - 2s) / s**3 as powers of s**2, for abs(s) <= 0.2.
LOG = (
    0.6666666666666666, 0.4000000000000794, 0.28571428567275936, 0.2222222304835159,
    0.18181737626302938, 0.15388867805613718, 0.13209708242059462, 0.13609030262858499,
)  # fmt: skip
# (atan(z) - z) / z**3 as powers of z**2, for abs(z) <= 1/2, and an eighth of a turn as the sum of two.
ATAN = (
    -0.33333333333333326, 0.199999999999916, -0.14285714284106285, 0.11111110990139533, -0.09090904370311348,
    0.07692198451257941, -0.06665052856794013, 0.058664967492257074, -0.05157516225552972, 0.04283578705573422,
    -0.02895352123252625, 0.011152908092096216,
)  # fmt: skip
EIGHTH, EIGHTH_LO = math.pi / 4, 3.061616997868383e-17
HUGE = 1e300  # sums of larger numbers may be infinite

# For log(1 + exp(-abs(x))): the exponential is computed PLACES * 2**56 times as large, as a normal number, and its multiple k of 2**56,
# from 0 to 15, names c of about PLACES / (PLACES + k), and 1 for 0.  By Gal again, PLACES 2**(k / 16), c - 1 and -log(c) are doubles to
# an eighth of their last place, and so is 1 / PLACES.
PLACE = 2.0**56
POWERS = (
    15.485359090947288, 16.170954510150263, 16.886903831776262, 17.634550937896986, 18.415299209326584,
    19.230614159856035, 20.082026187115044, 20.971133445225004, 21.899604844635157, 22.869183184772872,
    23.881688425388177, 24.9390211027331, 26.04316589698819, 27.196195357632487, 28.40027379374975,
    29.65766133657321,
)  # fmt: skip
# From their bits the sixteenths are taken that are added to the exponent with n.
RAISED_POWERS = tuple(_number(_bits(x * PLACE) - (k << 48)) for k, x in enumerate(POWERS))
# (exp(r) - 1 - r) / r**2 for abs(r) <= log(2) / 32.
EXP_OF_A_SIXTEENTH = (
    0.5000000000000006, 0.16666666664417887, 0.04166666665965425, 0.008333471922786856, 0.0013889128958894975,
)  # fmt: skip
# c / PLACES, c - 1, and -log(c).
RECIPROCALS = (
    0.06457712695759171, 0.060659885813456556, 0.05719070410661321, 0.054096866381931764, 0.05132058358189173,
    0.04881535136239833, 0.046543322625068335, 0.0444733837055168, 0.04257971939768025, 0.04084073235768616,
    0.03923821504909985, 0.037756709212246976, 0.03638300643994063, 0.03510575379563434, 0.033915137224823505,
    0.032810510335562544,
)  # fmt: skip
LOWERED_RECIPROCALS = tuple(c / PLACE for c in RECIPROCALS)
RECIPROCALS_LESS_1 = (
    0.0, -0.06065988576276611, -0.11438141024498069, -0.16229059838079224, -0.20528233447743274,
    -0.2440767550024989, -0.27925993586500547, -0.3113136833305884, -0.34063775513514755, -0.3675665939039595,
    -0.392382149876877, -0.4153237997558781, -0.4365960804692717, -0.4563747963162165, -0.47481192145485457,
    -0.4919174654965766,
)  # fmt: skip
LOGS_OF_RECIPROCALS = (
    0.0, 0.06257765637037332, 0.12146890666640014, 0.17708401475152408, 0.22976836511159765, 0.2798154357379813,
    0.3274767280113068, 0.3729693849758765, 0.4164822067856012, 0.4581803507281855, 0.49820913060922406,
    0.5366970888462903, 0.5737584666405137, 0.609495233387406, 0.6439988356969812, 0.6771113751054663,
)  # fmt: skip


class Vector:
    """A vector in a function that is being written: a name for each register's worth of it."""

    __slots__ = ("names", "writer")

    def __init__(self, writer: Writer, names: Names):
        self.writer, self.names = writer, names

    def __add__(self, other: Operand) -> Vector:
        return self.writer.binary("fadd", self, other)

    def __sub__(self, other: Operand) -> Vector:
        return self.writer.binary("fsub", self, other)

    def __mul__(self, other: Operand) -> Vector:
        return self.writer.binary("fmul", self, other)

    def __truediv__(self, other: Operand) -> Vector:
        return self.writer.binary("fdiv", self, other)

    def __neg__(self) -> Vector:
        w = self.writer
        return Vector(w, w.each("fneg {type} {0}", self.names))

    def below(self, other: Operand) -> Names:
        return self.writer.compare("olt", self, other)

    def above(self, other: Operand) -> Names:
        return self.writer.compare("ogt", self, other)

    def equals(self, other: Operand) -> Names:
        return self.writer.compare("oeq", self, other)

    def bits(self) -> Bits:
        w = self.writer
        return Bits(w, w.each("bitcast {type} {0} to {integers}", self.names))


class Bits:
    """The same bits as integers."""

    __slots__ = ("names", "writer")

    def __init__(self, writer: Writer, names: Names):
        self.writer, self.names = writer, names

    def op(self, op: str, other: Bits | int) -> Bits:
        w = self.writer
        right = w.all(f"splat (i64 {other})") if isinstance(other, int) else other.names
        return Bits(w, w.each(op + " {integers} {0}, {1}", self.names, right))

    def number(self) -> Vector:
        w = self.writer
        return Vector(w, w.each("bitcast {integers} {0} to {type}", self.names))


Names = tuple[str, ...]  # also of what a comparison gave
Operand = Vector | float


class Writer:
    """Writes one function on vectors of `parts` registers of so many lanes."""

    def __init__(self, lanes: int, parts: int, wide: bool):
        self.lanes, self.parts, self.wide = lanes, parts, wide and lanes == 8
        self.types = {"type": f"<{lanes} x double>", "integers": f"<{lanes} x i64>", "masks": f"<{lanes} x i1>"}
        self.lines: list[str] = []
        self.declared: dict[str, str] = {}  # LLVM's functions that are called

    def let(self, what: str) -> str:
        name = f"%t{len(self.lines)}"
        self.lines.append(f"  {name} = {what}")
        return name

    def each(self, template: str, *operands: Names) -> Names:
        """An instruction for each part."""
        return tuple(self.let(template.format(*names, **self.types)) for names in zip(*operands, strict=True))

    def all(self, constant: str) -> Names:
        return (constant,) * self.parts

    def of(self, x: Operand) -> Names:
        if isinstance(x, Vector):
            return x.names
        return self.all(f"splat ({_constant(x)})")

    def call(self, name: str, *args: Operand, more: tuple[str, ...] = ()) -> Vector:
        """A call of one of LLVM's functions; `more` are constant arguments behind the vectors."""
        type = self.types["type"]
        types = [type] * len(args) + [m.split()[0] if not m.startswith("<") else type for m in more]
        self.declared[name] = f"declare {type} @{name}({', '.join(types)})"
        given = ", ".join([*(f"{{type}} {{{k}}}" for k in range(len(args))), *more])
        return Vector(self, self.each(f"call {{type}} @{name}({given})", *map(self.of, args)))

    def binary(self, op: str, x: Operand, y: Operand) -> Vector:
        return Vector(self, self.each(op + " {type} {0}, {1}", self.of(x), self.of(y)))

    def compare(self, how: str, x: Operand, y: Operand) -> Names:
        return self.each(f"fcmp {how} {{type}} {{0}}, {{1}}", self.of(x), self.of(y))

    def both(self, x: Names, y: Names) -> Names:
        return self.each("and {masks} {0}, {1}", x, y)

    def either(self, x: Names, y: Names) -> Names:
        return self.each("or {masks} {0}, {1}", x, y)

    def select(self, mask: Names, x: Operand, y: Operand) -> Vector:
        """x where the mask is set, else y."""
        return Vector(self, self.each("select {masks} {0}, {type} {1}, {type} {2}", mask, self.of(x), self.of(y)))

    def fma(self, x: Operand, y: Operand, z: Operand) -> Vector:
        """x * y + z, rounded once."""
        return self.call(f"llvm.fma.v{self.lanes}f64", x, y, z)

    def abs(self, x: Vector) -> Vector:
        return self.call(f"llvm.fabs.v{self.lanes}f64", x)

    def rounded(self, x: Vector) -> Vector:
        return self.call(f"llvm.rint.v{self.lanes}f64", x)

    def copysign(self, x: Vector, sign: Vector) -> Vector:
        return self.call(f"llvm.copysign.v{self.lanes}f64", x, sign)

    def processor(self, name: str, *args: Operand, more: tuple[str, ...] = ()) -> Vector:
        """One of AVX-512's operations, for all lanes."""
        return self.call(f"llvm.x86.avx512.{name}.pd.512", *args, more=more)

    def looked_up(self, table: tuple[float, ...], at: Bits) -> Vector:
        """The entries of a table of eight or sixteen that the lowest bits name, by AVX-512."""
        type, integers = self.types["type"], self.types["integers"]
        registers = [f"{type} <{', '.join(map(_constant, table[k : k + 8]))}>" for k in range(0, len(table), 8)]
        name = f"llvm.x86.avx512.{'permvar.df' if len(registers) == 1 else 'vpermi2var.pd'}.512"
        first, *second = registers
        self.declared[name] = f"declare {type} @{name}({', '.join([type, integers, *(type for _ in second)])})"
        given = ", ".join([first, f"{integers} {{0}}", *second])
        return Vector(self, self.each(f"call {type} @{name}({given})", at.names))

    def within(self, x: Vector, limit: float) -> Vector:
        """x, or the limit with its sign where that is nearer to 0 or x is a nan, by AVX-512."""
        return self.processor("mask.range", x, limit, more=("i32 2", *self.unmasked(), "i32 4"))

    def of_class(self, x: Vector, kinds: int) -> Names:
        """Whether the numbers are of some kinds, by AVX-512."""
        name, type, masks = "llvm.x86.avx512.fpclass.pd.512", self.types["type"], self.types["masks"]
        self.declared[name] = f"declare {masks} @{name}({type}, i32)"
        return self.each(f"call {masks} @{name}({type} {{0}}, i32 {kinds})", x.names)

    def unmasked(self) -> tuple[str, ...]:
        return f"{self.types['type']} zeroinitializer", "i8 -1"

    def polynomial(self, x: Vector, coefficients: tuple[float, ...]) -> Vector:
        """In pairs, half of the operations, which do not wait for each other; then one pair after the other.  Pairs of pairs would wait
        less, but what counts is how many operations there are: the processor is at the next elements meanwhile."""
        square = x * x
        terms: list[Operand] = [self.fma(b, x, a) for a, b in zip(coefficients[::2], coefficients[1::2])]
        terms += coefficients[2 * len(terms) :]
        result = terms[-1]
        for term in terms[-2::-1]:
            result = self.fma(result, square, term)
        assert isinstance(result, Vector)
        return result


def _reduced(w: Writer, x: Vector) -> tuple[Vector, Vector]:
    """ROUND + n, and exp(r) - 1, where x = n log 2 + r."""
    shifted = w.fma(x, LOG2_E, ROUND)
    n = shifted - ROUND
    r = w.fma(n, -LN2_LO, w.fma(n, -LN2_HI, x))
    return shifted, w.fma(r * r, w.polynomial(r, EXP), r)


def _power_of_two(shifted: Vector, first: int = ONE_BITS) -> Vector:
    """2**n of ROUND + n, times that whose bits are `first`."""
    return shifted.bits().op("shl", 52).op("add", first).number()


def _scaled(w: Writer, x: Vector, n: Vector) -> Vector:
    """x * 2**n, rounded down if it is no integer, by AVX-512."""
    # 4: rounding as the processor is set.
    return w.processor("mask.scalef", x, n, more=(*w.unmasked(), "i32 4"))


def _scaled_by_halves(x: Vector, shifted: Vector) -> Vector:
    """x * 2**n of ROUND + n for x about 1, over the whole range of results."""
    half = shifted.bits().op("sub", ROUND_BITS).op("add", 1 << 20).op("lshr", 1).op("sub", 1 << 19)
    rest = shifted.bits().op("sub", ROUND_BITS).op("sub", half)
    power = lambda k: k.op("add", 1023).op("shl", 52).number()
    return x * power(half) * power(rest)


def exp(w: Writer, x: Vector) -> Vector:
    if w.wide:
        return _exp(w, x, None)
    # Beyond, the result is 0 or inf; a nan stays one.
    x = w.select(x.below(-1000.0), -1000.0, x)
    x = w.select(x.above(1000.0), 1000.0, x)
    shifted, rest = _reduced(w, x)
    return _scaled_by_halves(rest + 1.0, shifted)


def _exp(w: Writer, x: Vector, small: Vector | None = None, about: Vector | None = None) -> Vector:
    """exp(x + small), by AVX-512; `about` is ROUND / 8 + n, for those who have n before they have `small`."""
    # n in eighths: 2**n is an entry of the table times a power of 2, of which the processor takes the floor.
    shifted = about or w.fma(x, LOG2_E, ROUND / 8)
    n = shifted - ROUND / 8
    r = w.fma(n, -LN2_HI, x) - THETA
    r = w.fma(n, -LN2_LO, r) if small is None else r + w.fma(n, -LN2_LO, small)
    # Where x is beyond what has a result, infinite or a nan, n alone makes it 0, inf or a nan.
    r = w.within(r, 1.0)
    rest = w.fma(r * r, w.polynomial(r, EXP_OF_AN_EIGHTH), r)
    entry = w.looked_up(EIGHTHS, shifted.bits())
    return _scaled(w, w.fma(entry, rest, entry), n)


def expm1(w: Writer, x: Vector) -> Vector:
    low = w.select(x.below(-40.0), -40.0, x)
    low = w.select(low.above(710.0), 710.0, low)
    shifted, rest = _reduced(w, low)
    # Half of it first, which cannot overflow.
    power = _power_of_two(shifted, HALF_BITS)
    result = w.fma(power, rest, power - 0.5) * 2.0
    return w.select(w.abs(x).below(1e-17), x, result)  # -0.0, and what is no normal number


def tanh(w: Writer, x: Vector) -> Vector:
    size = w.abs(x)
    size = w.select(size.above(22.0), 22.0, size)
    # exp(2 abs(x)) - 1 = 2**n exp(2r) - 1 by half of exp(2r) - 1.
    shifted = w.fma(size, 2 * LOG2_E, ROUND)
    n = shifted - ROUND
    r = w.fma(n, -LN2_LO / 2, w.fma(n, -LN2_HI / 2, size))
    half = w.fma(r * r, w.polynomial(r, EXP_TWICE), r)
    power = _power_of_two(shifted, TWO_BITS)
    grown = w.fma(power, half, w.fma(power, 0.5, -1.0))
    return w.copysign(grown / (grown + 2.0), x)


def _logarithm(w: Writer, k: Vector, f: Vector, small: Vector | None) -> Vector:
    """k log 2 + log(1 + f); `small` is added."""
    s = f / (f + 2.0)
    z = s * s
    half = f * f * 0.5
    tail = k * LN2_LO if small is None else w.fma(k, LN2_LO, small)
    inner = w.fma(s, w.fma(w.polynomial(z, LOG), z, half), tail)
    return w.fma(k, LN2_HI, f - (half - inner))


def _apart(x: Vector) -> tuple[Vector, Vector]:
    """m about 1 (from 0.7 to 1.4) and k, where x = m 2**k is a normal number."""
    bits = x.bits()
    above = bits.op("sub", SQRT_HALF_BITS)
    m = bits.op("sub", above.op("and", EXPONENT_BITS)).number()
    return m, above.op("ashr", 52).op("add", ROUND_BITS).number() - ROUND


class _Taken:
    """x = m 2**exponent taken apart by AVX-512, m from 1 to 2: log(x) = hi + lo + log(1 + r), where r = c m - 1.

    0 and inf have the exponents -inf and inf, which make hi and lo infinite; m of what is less than 0 is a nan."""

    def __init__(self, w: Writer, x: Vector):
        rounded = (*w.unmasked(), "i32 4")
        exponent = lambda v: w.processor("mask.getexp", v, more=rounded)
        self.exponent = exponent(x)
        m = w.processor("mask.getmant", x, more=("i32 8", *rounded))
        about = w.processor("rcp14", m, more=w.unmasked())
        self.c = c = w.processor("mask.rndscale", about, more=(f"i32 {5 << 4 | 8}", *rounded))  # to 5 places
        self.r = w.fma(c, m, -1.0)  # exact
        k = self.exponent - exponent(c)
        at = c.bits().op("lshr", 48)  # the four bits behind the first
        self.hi = w.fma(k, LN2_HI, w.looked_up(SIXTEENTHS, at))  # exact
        self.lo = w.fma(k, LN2_LO, w.looked_up(SIXTEENTHS_LO, at))

    def logarithm(self, w: Writer, r: Vector) -> Vector:
        return self.hi + (r + w.fma(r * r, w.polynomial(r, LOG_NEAR_1), self.lo))

    def in_two(self, w: Writer) -> tuple[Vector, Vector, Vector]:
        """The logarithm as the sum of two, the second of which is a thousandth of the first at most, to 2**-63; and, earlier, about
        what it is, to a millionth."""
        r = self.r
        half = -(r * 0.5)
        s = w.fma(half, r, r)  # r - r**2 / 2
        first = self.hi + s
        left = (self.lo + w.fma(half, r, r - s)) + (s - (first - self.hi))
        cube = r * r * r
        third, fourth, *_ = LOG_NEAR_1_BEYOND
        about = w.fma(cube, w.fma(fourth, r, third), first)
        return first, w.fma(cube, w.polynomial(r, LOG_NEAR_1_BEYOND), left), about


def log(w: Writer, x: Vector) -> Vector:
    if w.wide:
        taken = _Taken(w, x + 0.0)  # not -0.0
        return taken.logarithm(w, taken.r)
    tiny = x.below(SMALLEST_NORMAL)
    m, k = _apart(w.select(tiny, x * 2.0**54, x))
    return _beyond(w, x, _logarithm(w, k - w.select(tiny, 54.0, 0.0), m - 1.0, None))


def log1p(w: Writer, x: Vector) -> Vector:
    u = x + 1.0
    lost = x - (u - 1.0)
    if w.wide:
        taken = _Taken(w, u)
        # What was lost in the sum, in proportion: where u is about 1 that gives x again. It is a nan if u is 0 or infinite.
        lost = w.within(_scaled(w, lost, -taken.exponent), 1.0)
        return w.copysign(taken.logarithm(w, w.fma(taken.c, lost, taken.r)), x)
    m, k = _apart(u)
    # Near 0 x itself is taken, and nothing is lost.
    f = w.select(k.equals(0.0), x, m - 1.0)
    # Some bits of it will do.
    lost = w.select(w.compare("one", k, 0.0), lost / u, 0.0)
    return w.select(x.equals(0.0), x, _beyond(w, u, _logarithm(w, k, f, lost)))  # of -0.0


def log1p_of_exp(w: Writer, x: Vector) -> Vector:
    """log(1 + exp(x)) by AVX-512: infinite where exp(x) is, as the two functions are one after the other."""
    # log(1 + exp(x)) = x + log(1 + exp(-x)). Of a nan it is what the sum at the end says.
    low = w.processor("mask.range", x, BELOW_EXP, more=("i32 14", *w.unmasked(), "i32 4"))
    shifted = w.fma(low, LOG2_E, ROUND / 16)
    n = shifted - ROUND / 16
    r = w.fma(n, -LN2_LO, w.fma(n, -LN2_HI, low))
    rest = w.fma(r * r, w.polynomial(r, EXP_OF_A_SIXTEENTH), r)
    power = w.looked_up(RAISED_POWERS, shifted.bits()).bits().op("add", shifted.bits().op("shl", 48)).number()
    t = w.fma(power, rest, power)
    at = (t + ROUND * PLACE).bits()
    r = w.fma(
        w.looked_up(LOWERED_RECIPROCALS, at), t, w.looked_up(RECIPROCALS_LESS_1, at)
    )  # c (1 + t) - 1, rounded once
    # What need not wait for the end; it is exact where x is negative.
    above = w.processor("max", 0.0, x, more=("i32 4",)) + w.looked_up(LOGS_OF_RECIPROCALS, at)  # a nan if x is one
    above = w.select(x.above(LARGEST_OF_EXP), math.inf, above)
    return above + w.fma(r * r, w.polynomial(r, LOG_NEAR_1), r)


def pow(w: Writer, x: Vector, y: Vector) -> Vector:
    """By AVX-512. What is said of y alone is computed once where y is the same for all."""
    integral = w.compare("oeq", w.rounded(y), y)
    half = y * 0.5
    odd = w.both(integral, w.compare("one", w.rounded(half), half))
    y_finite = w.select(y.below(-LARGE), -LARGE, w.select(y.above(LARGE), LARGE, y))  # 1**inf is 1
    size = w.abs(x)
    taken = _Taken(w, w.select(integral, size, x))  # a negative number to a power that is none is a nan
    hi, lo, about = taken.in_two(w)
    about = w.select(w.of_class(x, ZEROS | INFINITIES), taken.exponent, about)  # of -inf, too
    product = y_finite * hi
    small = w.fma(y_finite, lo, w.fma(y_finite, hi, -product))
    result = _exp(w, product, small, w.fma(about, y_finite * LOG2_E, ROUND / 8))
    result = w.select(odd, w.copysign(result, x), result)
    one = w.either(w.compare("oeq", y, 0.0), w.both(w.compare("uno", y, y), x.equals(1.0)))
    return w.select(one, 1.0, result)


def _angle(w: Writer, low: Vector, high: Vector) -> tuple[Names, Vector]:
    """Whether low / high, which is 1 at most, is above a half, and what its arc tangent is more than an eighth of a turn then, else
    all of it."""
    above = (low + low).above(high)
    # low - high is exact then.
    z = w.select(above, low - high, low) / w.select(above, low + high, high)
    square = z * z
    return above, w.fma(z * square, w.polynomial(square, ATAN), z)


def _turned(w: Writer, steep: Names, above: Names, rest: Vector) -> Vector:
    """The angle in the first quadrant; from the other axis if it is steep."""
    eighths = w.select(above, 1.0, w.select(steep, 2.0, 0.0))
    return w.fma(eighths, EIGHTH, w.fma(eighths, EIGHTH_LO, w.select(steep, -rest, rest)))


def atan(w: Writer, x: Vector) -> Vector:
    size = w.abs(x)
    steep = size.above(1.0)
    above, rest = _angle(w, w.select(steep, 1.0, size), w.select(steep, size, 1.0))
    return w.copysign(_turned(w, steep, above, rest), x)


def atan2(w: Writer, y: Vector, x: Vector) -> Vector:
    rise, run = w.abs(y), w.abs(x)
    steep = rise.above(run)
    low, high = w.select(steep, run, rise), w.select(steep, rise, run)
    endless = w.both(low.equals(math.inf), high.equals(math.inf))
    huge = high.above(HUGE)
    low, high = w.select(huge, low * 0.25, low), w.select(huge, high * 0.25, high)
    above, rest = _angle(w, low, w.select(high.equals(0.0), 1.0, high))
    angle = _turned(w, steep, w.either(above, endless), w.select(endless, 0.0, rest))
    back = w.each("icmp slt {integers} {0}, zeroinitializer", x.bits().names)  # of -0.0, too
    return w.copysign(w.select(back, -(angle - 4.0 * EIGHTH_LO) + 4.0 * EIGHTH, angle), y)


def _beyond(w: Writer, x: Vector, result: Vector) -> Vector:
    """The logarithm of what is not a positive finite number."""
    odd = w.select(x.equals(0.0), -math.inf, w.select(x.below(0.0), math.nan, x))
    return w.select(w.both(x.above(0.0), x.below(math.inf)), result, odd)


FUNCTIONS: dict[str, Callable[..., Vector]] = {
    "exp": exp, "expm1": expm1, "log": log, "log1p": log1p, "tanh": tanh, "pow": pow,
    "log1p_of_exp": log1p_of_exp, "atan": atan, "atan2": atan2,
}  # fmt: skip
BINARY = frozenset({"pow", "atan2"})
ONLY_WIDE = frozenset({"pow", "log1p_of_exp"})
# What is computed at once of one function of another, where the inner one is for nothing else.
COMPOSED = {("log1p", "exp"): "log1p_of_exp"}

NAMES = {f"zyg_v{lanes}_{name}": (name, lanes) for name in FUNCTIONS for lanes in LANES}


def wider(symbol: str, wide: bool) -> str | None:
    """The function that a function of four lanes calls, where registers have eight: it is for what is left over in loops."""
    name, lanes = NAMES[symbol]
    return f"zyg_v8_{name}" if wide and lanes == 4 else None


def _parameters(name: str, type: str) -> tuple[list[str], str]:
    """Their names, and how they are declared."""
    names = ["%x", "%y"] if name in BINARY else ["%x"]
    return names, ", ".join(f"{type} {n}" for n in names)


def _by_half(symbol: str, wider: str) -> str:
    names, parameters = _parameters(NAMES[symbol][0], "<4 x double>")
    twice = f"<8 x i32> <{', '.join(f'i32 {k % 4}' for k in range(8))}>"
    lines = [
        f"define <4 x double> @{symbol}({parameters}) nounwind willreturn memory(none) {{",
        *(f"  {n}2 = shufflevector <4 x double> {n}, <4 x double> poison, {twice}" for n in names),
        f"  %both = call <8 x double> @{wider}({', '.join(f'<8 x double> {n}2' for n in names)})",
        f"  %one = shufflevector <8 x double> %both, <8 x double> poison, {_numbers(range(4))}",
        "  ret <4 x double> %one",
        "}",
        "",
    ]
    return "\n".join(lines)


def text(symbol: str, wide: bool) -> tuple[set[str], str]:
    """A function of NAMES in LLVM assembly, and what it declares; `wide`: for a processor with AVX-512."""
    name, lanes = NAMES[symbol]
    whole = f"<{lanes} x double>"
    if half := wider(symbol, wide):
        types = ", ".join("<8 x double>" for _ in _parameters(name, whole)[0])
        return {f"declare <8 x double> @{half}({types})"}, _by_half(symbol, half)
    register = min(lanes, 8 if wide else 4)
    w = Writer(register, lanes // register, wide)
    names, parameters = _parameters(name, whole)
    result = written(w, name, *names)
    lines = [f"define {whole} @{symbol}({parameters}) nounwind willreturn memory(none) {{", *w.lines]
    return set(w.declared.values()), "\n".join([*lines, f"  ret {whole} {result}", "}", ""])


def written(w: Writer, name: str, *args: str) -> str:
    """Write a function of vectors as wide as all parts; gives the name of the result."""
    return joined(w, FUNCTIONS[name](w, *(Vector(w, in_parts(w, x)) for x in args)).names)


def in_parts(w: Writer, x: str) -> Names:
    """A vector as wide as all parts, in its parts."""
    if w.parts == 1:
        return (x,)
    lanes = w.lanes * w.parts
    whole = f"<{lanes} x double>"
    parts = [_numbers(range(k, k + w.lanes)) for k in range(0, lanes, w.lanes)]
    return tuple(w.let(f"shufflevector {whole} {x}, {whole} poison, {part}") for part in parts)


def joined(w: Writer, parts: Sequence[str]) -> str:
    width = w.lanes
    while len(parts) > 1:
        type = f"<{width} x double>"
        width *= 2
        join = _numbers(range(width))
        parts = [w.let(f"shufflevector {type} {a}, {type} {b}, {join}") for a, b in zip(parts[::2], parts[1::2])]
    return parts[0]


def _constant(x: float) -> str:
    return f"double 0x{_bits(x):016X}"


def _numbers(lanes: range) -> str:
    return f"<{len(lanes)} x i32> <{', '.join(f'i32 {k}' for k in lanes)}>"
