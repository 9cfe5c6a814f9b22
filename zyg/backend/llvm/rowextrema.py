"""Where the largest and smallest elements of the rows of a matrix of doubles are.

The first of equal ones counts, and the first nan, which is better than all numbers.  Eight elements are looked at at a time: of one row
where they lie together, of eight rows where these lie side by side, which are columns in memory.  In long rows the extremum is found
first, and then its place (rowsearch.py), which waits for less.
"""

from __future__ import annotations

from string import Template

LONG = 64  # elements

# `n` rows of `m` elements, of which there is one at least; the bytes from one row, and one element, to the next; where the places go.
_ROWS = Template("""
declare double @llvm.vector.reduce.$reduction.v8f64(<8 x double>)
declare i64 @zyg_$extremum(i64, ptr, ptr)
declare i1 @llvm.vector.reduce.or.v8i1(<8 x i1>)
declare i64 @llvm.vector.reduce.umin.v8i64(<8 x i64>)

define void @$name(i64 %n, i64 %m, ptr %rows, i64 %s0, i64 %s1, ptr %places) {
entry:
  %value = alloca double
  %near = icmp eq i64 %s1, 8
  %many = icmp sge i64 %m, $long
  %long = and i1 %near, %many
  %vectors = and i64 %m, -8
  %whole = select i1 %near, i64 %vectors, i64 0
  %wide = icmp sgt i64 %whole, 0
  %beside = icmp eq i64 %s0, 8
  %eights = and i64 %n, -8
  %columns = select i1 %beside, i64 %eights, i64 0
  br label %next8
next8:
  %k8 = phi i64 [ 0, %entry ], [ %k8.next, %ended8 ]
  %more8 = icmp slt i64 %k8, %columns
  br i1 %more8, label %row8, label %next
$eight
ended8:
  %k8.next = add i64 %k8, 8
  br label %next8
next:
  %k = phi i64 [ %k8, %next8 ], [ %k.next, %ended ]
  %more = icmp slt i64 %k, %n
  br i1 %more, label %row, label %done
row:
  %at = mul i64 %k, %s0
  %row.0 = getelementptr i8, ptr %rows, i64 %at
  br i1 %long, label %search, label %short
search:
  %s.place = call i64 @zyg_$extremum(i64 %m, ptr %row.0, ptr %value)
  %s.there = getelementptr i64, ptr %places, i64 %k
  store i64 %s.place, ptr %s.there
  br label %ended
short:
  br i1 %wide, label %lanes, label %single
lanes:
  %firsts = load <8 x double>, ptr %row.0, align 8
  br label %loopl
loopl:
  %jl = phi i64 [ 8, %lanes ], [ %jl.next, %lookl ]
  %bestl = phi <8 x double> [ %firsts, %lanes ], [ %bestl.next, %lookl ]
  %placel = phi <8 x i64> [ zeroinitializer, %lanes ], [ %placel.next, %lookl ]
  %againl = icmp slt i64 %jl, %whole
  br i1 %againl, label %lookl, label %together
lookl:
  %xl.at = getelementptr double, ptr %row.0, i64 %jl
  %xl = load <8 x double>, ptr %xl.at, align 8
  %beyondl = fcmp $better <8 x double> %xl, %bestl
  %numberl = fcmp ord <8 x double> %bestl, %bestl
  %takenl = and <8 x i1> %beyondl, %numberl
  %bestl.next = select <8 x i1> %takenl, <8 x double> %xl, <8 x double> %bestl
  %herel.1 = insertelement <8 x i64> poison, i64 %jl, i64 0
  %herel = shufflevector <8 x i64> %herel.1, <8 x i64> poison, <8 x i32> zeroinitializer
  %placel.next = select <8 x i1> %takenl, <8 x i64> %herel, <8 x i64> %placel
  %jl.next = add i64 %jl, 8
  br label %loopl
together:
  %odd = fcmp uno <8 x double> %bestl, %bestl
  %some = call i1 @llvm.vector.reduce.or.v8i1(<8 x i1> %odd)
  %top = call nnan double @llvm.vector.reduce.$reduction.v8f64(<8 x double> %bestl)
  %top.1 = insertelement <8 x double> poison, double %top, i64 0
  %tops = shufflevector <8 x double> %top.1, <8 x double> poison, <8 x i32> zeroinitializer
  %equal = fcmp oeq <8 x double> %bestl, %tops
  %hits = select i1 %some, <8 x i1> %odd, <8 x i1> %equal
  %lane = add <8 x i64> %placel, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %candidates = select <8 x i1> %hits, <8 x i64> %lane, <8 x i64> splat (i64 -1)
  %placel.1 = call i64 @llvm.vector.reduce.umin.v8i64(<8 x i64> %candidates)
  %top.or.nan = select i1 %some, double 0x7FF8000000000000, double %top
  br label %loop
$one
ended:
  %k.next = add i64 %k, 1
  br label %next
done:
  ret void
}
""")

# One row, or eight.
_LOOP = Template("""\
  br label %loop$e
loop$e:
  %j$e = phi i64 [ 1, %$start ], [ %j$e.next, %look$e ]$more_j
  %best$e = phi $double [ %first$e, %$start ], [ %best$e.next, %look$e ]$more_best
  %place$e = phi $i64 [ $zero, %$start ], [ %place$e.next, %look$e ]$more_place
  %again$e = icmp slt i64 %j$e, %m
  br i1 %again$e, label %look$e, label %store$e
look$e:
  %offset$e = mul i64 %j$e, %s1
  %x$e.at = getelementptr i8, ptr %row$e.0, i64 %offset$e
  %x$e = load $double, ptr %x$e.at, align 8
  %beyond$e = fcmp $better $double %x$e, %best$e
  %number$e = fcmp ord $double %best$e, %best$e
  %taken$e = and $i1 %beyond$e, %number$e
  %best$e.next = select $i1 %taken$e, $double %x$e, $double %best$e
$here
  %place$e.next = select $i1 %taken$e, $i64 %here$e, $i64 %place$e
  %j$e.next = add i64 %j$e, 1
  br label %loop$e
store$e:
  %place$e.at = getelementptr i64, ptr %places, i64 %k$e
  store $i64 %place$e, ptr %place$e.at, align 8
  br label %ended$e""")

_ROW_8 = """\
row8:
  %at8 = mul i64 %k8, %s0
  %row8.0 = getelementptr i8, ptr %rows, i64 %at8
  %first8 = load <8 x double>, ptr %row8.0, align 8
"""
_HERE_8 = """\
  %here8.1 = insertelement <8 x i64> poison, i64 %j8, i64 0
  %here8 = shufflevector <8 x i64> %here8.1, <8 x i64> poison, <8 x i32> zeroinitializer"""
_ROW = """\
single:
  %first = load double, ptr %row.0, align 8
"""
_FROM_LANES = {
    "more_j": ", [ %whole, %together ]",
    "more_best": ", [ %top.or.nan, %together ]",
    "more_place": ", [ %placel.1, %together ]",
}


def _rows(name: str, extremum: str, reduction: str, better: str) -> str:
    types = {t: f"<8 x {t}>" for t in ("double", "i64", "i1")}
    eight = _LOOP.substitute(
        types,
        e="8",
        better=better,
        start="row8",
        zero="zeroinitializer",
        here=_HERE_8,
        **dict.fromkeys(_FROM_LANES, ""),
    )
    one = _LOOP.substitute(
        {t: t for t in types},
        e="",
        better=better,
        start="single",
        zero="0",
        here="  %here = add i64 %j, 0",
        **_FROM_LANES,
    )
    return _ROWS.substitute(
        name=name,
        extremum=extremum,
        reduction=reduction,
        better=better,
        long=LONG,
        eight=_ROW_8 + eight,
        one=_ROW + one,
    )


TEXTS = {
    "zyg_row_largest": _rows("zyg_row_largest", "largest", "fmax", "ugt"),
    "zyg_row_smallest": _rows("zyg_row_smallest", "smallest", "fmin", "ult"),
}
