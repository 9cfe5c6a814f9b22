"""Places in rows, which library code asks for in each program anew: of a number, of an index that is out of range, of the largest
element, of flags that are set; and the numbers of a row that are between two.

Where elements lie together 32 or eight are looked at at a time, and then which of them it was.  `step`: the bytes from one to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import Template

# The place of the first element for which a test holds, and the number of elements if there is none.
_FIRST = Template("""
define $linkage i64 @$name(i64 %n, ptr %row, i64 %step, $type %value) {
entry:
  %near = icmp eq i64 %step, 8
  %together = select i1 %near, i64 %n, i64 0
  %stop32 = and i64 %together, -32
  %stop8 = and i64 %together, -8
$before
  br label %block32
$blocks
one:
  %k = phi i64 [ %i8, %block8 ], [ %k.next, %other ]
  %left = icmp slt i64 %k, %n
  br i1 %left, label %look, label %nowhere
look:
  %offset = mul i64 %k, %step
  %at = getelementptr i8, ptr %row, i64 %offset
  %y = load $type, ptr %at
$one
  br i1 %hit, label %here, label %other
other:
  %k.next = add i64 %k, 1
  br label %one
here:
  ret i64 %k
nowhere:
  ret i64 %n
}
""")
# $w elements at a time, from where others have come to.
_BLOCKS = Template("""\
block$w:
  %i$w = phi i64 [ $start ], [ %i$w.next, %none$w ]
  %more$w = icmp slt i64 %i$w, %stop$w
  br i1 %more$w, label %look$w, label %$after
look$w:
  %place$w = getelementptr $type, ptr %row, i64 %i$w
  %x$w = load <$w x $type>, ptr %place$w, align 8
$test
  %bits$w = bitcast <$w x i1> %hits$w to i$w
  %some$w = icmp ne i$w %bits$w, 0
  br i1 %some$w, label %which$w, label %none$w
none$w:
  %i$w.next = add i64 %i$w, $w
  br label %block$w
which$w:
  %first$w = call i$w @llvm.cttz.i$w(i$w %bits$w, i1 true)
  %lane$w = zext i$w %first$w to i64
  %found$w = add i64 %i$w, %lane$w
  ret i64 %found$w""")


def _first(name: str, type: str, linkage: str, compared: Sequence[str], before: str, many: str, one: str) -> str:
    """A function of _FIRST.  `compared`: what is the same in all lanes; `many`: how the lanes `$x` become `$hits`."""
    lines, blocks = [before] if before else [], []
    for width, start, after in ((32, "0, %entry", "block8"), (8, "%i32, %block32", "one")):
        lanes = f"<{width} x {type}>"
        for value in compared:
            lines += [
                f"  %{value}{width}.1 = insertelement {lanes} poison, {type} %{value}, i64 0",
                f"  %{value}{width} = shufflevector {lanes} %{value}{width}.1, {lanes} poison, <{width} x i32> zeroinitializer",
            ]
        test = Template(many).substitute(w=width, lanes=lanes)
        blocks.append(_BLOCKS.substitute(w=width, type=type, start=start, after=after, test=test))
    return _FIRST.substitute(
        name=name, type=type, linkage=linkage, before="\n".join(lines), blocks="\n".join(blocks), one=one
    )


# The value, or a nan if it is one.
FIRST_EQUAL = (
    _first(
        "first_number", "double", "internal", ["value"], "",
        "  %hits$w = fcmp oeq $lanes %x$w, %value$w", "  %hit = fcmp oeq double %y, %value",
    )
    + _first(
        "first_nan", "double", "internal", [], "",
        "  %hits$w = fcmp uno $lanes %x$w, zeroinitializer", "  %hit = fcmp uno double %y, %value",
    )
    + """
define i64 @zyg_first_equal(i64 %n, ptr %row, i64 %step, double %value) {
  %number = fcmp ord double %value, %value
  br i1 %number, label %usual, label %odd
usual:
  %place = call i64 @first_number(i64 %n, ptr %row, i64 %step, double %value)
  ret i64 %place
odd:
  %nan = call i64 @first_nan(i64 %n, ptr %row, i64 %step, double 0.0)
  ret i64 %nan
}
"""
)  # fmt: skip

# An index that does not name one of `value` elements, from the front or, below zero, from the end.
FIRST_OUTSIDE = _first(
    "zyg_first_outside", "i64", "", ["value", "range"],
    "  %range = mul i64 %value, 2",
    "  %moved$w = add $lanes %x$w, %value$w\n  %hits$w = icmp uge $lanes %moved$w, %range$w",
    "  %y_moved = add i64 %y, %value\n  %hit = icmp uge i64 %y_moved, %range",
)  # fmt: skip

# The extremum of a row that is not empty, and its place; a nan counts as better than all numbers.  What comes later and is equal
# changes nothing.  The place is looked for in the part of 1024 elements where the extremum is.
_EXTREMUM = Template("""
declare i1 @llvm.vector.reduce.or.v8i1(<8 x i1>)
declare double @llvm.vector.reduce.$reduction.v8f64(<8 x double>)
declare i64 @zyg_first_equal(i64, ptr, i64, double)

define i64 @$name(i64 %n, ptr %row, ptr %value) {
entry:
  %first = load double, ptr %row
  %usual = fcmp ord double %first, %first
  %vectors = icmp sge i64 %n, 16
  br i1 %usual, label %part, label %at_once
part:
  %i = phi i64 [ 0, %entry ], [ %i.next, %ended ]
  %place = phi i64 [ 0, %entry ], [ %place.next, %ended ]
  %best = phi double [ %first, %entry ], [ %best.next, %ended ]
  %i.next = add i64 %i, 1024
  %stop = call i64 @llvm.smin.i64(i64 %i.next, i64 %n)
  ; The last sixteen may have been seen: they change nothing.
  %last = sub i64 %stop, 16
  %whole = select i1 %vectors, i64 %stop, i64 %i
  %best1 = insertelement <8 x double> poison, double %best, i64 0
  %bests = shufflevector <8 x double> %best1, <8 x double> poison, <8 x i32> zeroinitializer
  br label %block
block:
  %k = phi i64 [ %i, %part ], [ %k.next, %sixteen ]
  %a = phi <8 x double> [ %bests, %part ], [ %a.next, %sixteen ]
  %b = phi <8 x double> [ %bests, %part ], [ %b.next, %sixteen ]
  %odd = phi <8 x i1> [ zeroinitializer, %part ], [ %odd.next, %sixteen ]
  %more = icmp slt i64 %k, %whole
  br i1 %more, label %sixteen, label %together
sixteen:
  %from = call i64 @llvm.smin.i64(i64 %k, i64 %last)
  %at = getelementptr double, ptr %row, i64 %from
  %x = load <8 x double>, ptr %at, align 8
  %at1 = getelementptr double, ptr %at, i64 8
  %y = load <8 x double>, ptr %at1, align 8
  %x_better = fcmp $better <8 x double> %x, %a
  %a.next = select <8 x i1> %x_better, <8 x double> %x, <8 x double> %a
  %y_better = fcmp $better <8 x double> %y, %b
  %b.next = select <8 x i1> %y_better, <8 x double> %y, <8 x double> %b
  %nans = fcmp uno <8 x double> %x, %y
  %odd.next = or <8 x i1> %odd, %nans
  %k.next = add i64 %k, 16
  br label %block
together:
  %b_better = fcmp $better <8 x double> %b, %a
  %c = select <8 x i1> %b_better, <8 x double> %b, <8 x double> %a
  %c1 = call nnan double @llvm.vector.reduce.$reduction.v8f64(<8 x double> %c)
  %some = call i1 @llvm.vector.reduce.or.v8i1(<8 x i1> %odd)
  %reached1 = select i1 %some, double 0x7FF8000000000000, double %c1
  br label %rest
rest:
  %l = phi i64 [ %whole, %together ], [ %l.next, %one ]
  %reached = phi double [ %reached1, %together ], [ %reached.next, %one ]
  %left = icmp slt i64 %l, %stop
  br i1 %left, label %one, label %ended
one:
  %at2 = getelementptr double, ptr %row, i64 %l
  %z = load double, ptr %at2
  %z_better = fcmp $better double %z, %reached
  %z_nan = fcmp uno double %z, %z
  %z_taken = or i1 %z_better, %z_nan
  %reached.next = select i1 %z_taken, double %z, double %reached
  %l.next = add i64 %l, 1
  br label %rest
ended:
  %new = fcmp une double %reached, %best
  %place.next = select i1 %new, i64 %i, i64 %place
  %best.next = select i1 %new, double %reached, double %best
  %again = icmp slt i64 %i.next, %n
  %number = fcmp ord double %best.next, %best.next
  %on = and i1 %again, %number
  br i1 %on, label %part, label %done
done:
  store double %best.next, ptr %value
  %there = getelementptr double, ptr %row, i64 %place.next
  %behind = sub i64 %n, %place.next
  %ahead = call i64 @zyg_first_equal(i64 %behind, ptr %there, i64 8, double %best.next)
  %where = add i64 %place.next, %ahead
  ret i64 %where
at_once:
  store double %first, ptr %value
  ret i64 0
}
""")
LARGEST = _EXTREMUM.substitute(name="zyg_largest", reduction="fmax", better="ogt")
SMALLEST = _EXTREMUM.substitute(name="zyg_smallest", reduction="fmin", better="olt")

# How many of a row of bytes are not zero; and where these are, in order, which fills `places`.
COUNT_SET = """
declare i32 @llvm.ctpop.i32(i32)

define i64 @zyg_count_set(i64 %n, ptr %flags, i64 %step) {
entry:
  %near = icmp eq i64 %step, 1
  %whole = and i64 %n, -32
  %stop = select i1 %near, i64 %whole, i64 0
  br label %block
block:
  %i = phi i64 [ 0, %entry ], [ %i.next, %many ]
  %count = phi i64 [ 0, %entry ], [ %count.next, %many ]
  %more = icmp slt i64 %i, %stop
  br i1 %more, label %many, label %one
many:
  %place = getelementptr i8, ptr %flags, i64 %i
  %x = load <32 x i8>, ptr %place, align 1
  %set = icmp ne <32 x i8> %x, zeroinitializer
  %bits = bitcast <32 x i1> %set to i32
  %own = call i32 @llvm.ctpop.i32(i32 %bits)
  %own.wide = zext i32 %own to i64
  %count.next = add i64 %count, %own.wide
  %i.next = add i64 %i, 32
  br label %block
one:
  %k = phi i64 [ %i, %block ], [ %k.next, %look ]
  %sum = phi i64 [ %count, %block ], [ %sum.next, %look ]
  %left = icmp slt i64 %k, %n
  br i1 %left, label %look, label %done
look:
  %offset = mul i64 %k, %step
  %at = getelementptr i8, ptr %flags, i64 %offset
  %y = load i8, ptr %at
  %is_set = icmp ne i8 %y, 0
  %added = zext i1 %is_set to i64
  %sum.next = add i64 %sum, %added
  %k.next = add i64 %k, 1
  br label %one
done:
  ret i64 %sum
}
"""

PLACES_SET = """
define void @zyg_places_set(i64 %count, ptr %places, i64 %n, ptr %flags, i64 %step) {
entry:
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %look ]
  %k = phi i64 [ 0, %entry ], [ %k.next, %look ]
  %room = icmp slt i64 %k, %count
  %left = icmp slt i64 %i, %n
  %more = and i1 %room, %left
  br i1 %more, label %look, label %done
look:
  %offset = mul i64 %i, %step
  %at = getelementptr i8, ptr %flags, i64 %offset
  %flag = load i8, ptr %at
  %place = getelementptr i64, ptr %places, i64 %k
  store i64 %i, ptr %place
  %set = icmp ne i8 %flag, 0
  %added = zext i1 %set to i64
  %k.next = add i64 %k, %added
  %i.next = add i64 %i, 1
  br label %next
done:
  ret void
}
"""

# The numbers from `low` to `high` of a row of doubles that lie together, put where there is room for all; how many are less, and how
# many these are.
COLLECT = """
declare i8 @llvm.ctpop.i8(i8)
declare void @llvm.masked.compressstore.v8f64(<8 x double>, ptr, <8 x i1>)

define i64 @zyg_collect(i64 %n, ptr %row, double %low, double %high, ptr %between, ptr %count) {
entry:
  %stop = and i64 %n, -8
  %low1 = insertelement <8 x double> poison, double %low, i64 0
  %lows = shufflevector <8 x double> %low1, <8 x double> poison, <8 x i32> zeroinitializer
  %high1 = insertelement <8 x double> poison, double %high, i64 0
  %highs = shufflevector <8 x double> %high1, <8 x double> poison, <8 x i32> zeroinitializer
  br label %block
block:
  %i = phi i64 [ 0, %entry ], [ %i.next, %many ]
  %below = phi i64 [ 0, %entry ], [ %below.next, %many ]
  %found = phi i64 [ 0, %entry ], [ %found.next, %many ]
  %more = icmp slt i64 %i, %stop
  br i1 %more, label %many, label %one
many:
  %place = getelementptr double, ptr %row, i64 %i
  %x = load <8 x double>, ptr %place, align 8
  %less = fcmp olt <8 x double> %x, %lows
  %less.bits = bitcast <8 x i1> %less to i8
  %less.count = call i8 @llvm.ctpop.i8(i8 %less.bits)
  %less.wide = zext i8 %less.count to i64
  %below.next = add i64 %below, %less.wide
  %over = fcmp oge <8 x double> %x, %lows
  %under = fcmp ole <8 x double> %x, %highs
  %hits = and <8 x i1> %over, %under
  %bits = bitcast <8 x i1> %hits to i8
  %there = getelementptr double, ptr %between, i64 %found
  call void @llvm.masked.compressstore.v8f64(<8 x double> %x, ptr align 8 %there, <8 x i1> %hits)
  %own = call i8 @llvm.ctpop.i8(i8 %bits)
  %own.wide = zext i8 %own to i64
  %found.next = add i64 %found, %own.wide
  %i.next = add i64 %i, 8
  br label %block
one:
  %k = phi i64 [ %i, %block ], [ %k.next, %look ]
  %below1 = phi i64 [ %below, %block ], [ %below1.next, %look ]
  %found1 = phi i64 [ %found, %block ], [ %found1.next, %look ]
  %left = icmp slt i64 %k, %n
  br i1 %left, label %look, label %done
look:
  %at = getelementptr double, ptr %row, i64 %k
  %y = load double, ptr %at
  %y.there = getelementptr double, ptr %between, i64 %found1
  store double %y, ptr %y.there
  %y.less = fcmp olt double %y, %low
  %y.less.wide = zext i1 %y.less to i64
  %below1.next = add i64 %below1, %y.less.wide
  %y.over = fcmp oge double %y, %low
  %y.under = fcmp ole double %y, %high
  %y.hit = and i1 %y.over, %y.under
  %y.hit.wide = zext i1 %y.hit to i64
  %found1.next = add i64 %found1, %y.hit.wide
  %k.next = add i64 %k, 1
  br label %one
done:
  store i64 %found1, ptr %count
  ret i64 %below1
}
"""

TEXTS = {
    "zyg_collect": COLLECT,
    "zyg_first_equal": FIRST_EQUAL,
    "zyg_first_outside": FIRST_OUTSIDE,
    "zyg_largest": LARGEST,
    "zyg_smallest": SMALLEST,
    "zyg_count_set": COUNT_SET,
    "zyg_places_set": PLACES_SET,
}
