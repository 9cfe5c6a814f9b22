"""Numbers in order; and doubles filled, added and copied, element by element: of one row, or of rows; `n` rows of `m`, and for each
array the bytes from one row, and one element, to the next.  Also multiples of one row that are added to rows.

Eight at a time where elements lie together.  Where an array is added to that begins less than that behind the other one, what has
just been written is read: one at a time.  That is told by the first rows. Others may be as near only where the rows of the two are not
equally far apart, and such arrays never overlap here: a copy between ranges that meet goes by way of a temporary array, and what is
added in place is copied before if it overlaps in another way than element by element (library/numpy_/inplace.py).  For modules with
many loops over elements (lowering/whole_arrays.py).
"""

from __future__ import annotations

from .rowloops import ADDED, COPIED, over_rows

_BEHIND = """\
  %address_a = ptrtoint ptr %a to i64
  %address_b = ptrtoint ptr %b to i64
  %behind = sub i64 %address_a, %address_b
  %behind_1 = sub i64 %behind, 1
  %is_read = icmp ult i64 %behind_1, 63"""
_VALUES = """\
  %first = insertelement <8 x double> poison, double %value.one, i64 0
  %value.several = shufflevector <8 x double> %first, <8 x double> poison, <8 x i32> zeroinitializer"""
_FILLED = "  store {1} %value.{0}, ptr %a.{0}, align 8"
_SCALED = """\
  %x.{0} = load {1}, ptr %a.{0}, align 8
  %y.{0} = load {1}, ptr %b.{0}, align 8
  %p.{0} = fmul {1} %value.{0}, %y.{0}
  %z.{0} = fadd {1} %x.{0}, %p.{0}
  store {1} %z.{0}, ptr %a.{0}, align 8"""
_FACTOR = """\
  %factor.at = mul i64 %i, %x0
  %factor = getelementptr i8, ptr %x, i64 %factor.at
  %value.one = load double, ptr %factor, align 8
"""


# 0, 1, ... up to the number of elements, which lie together.
_COUNTED = """
define void @zyg_count_up(i64 %n, ptr %a) {
entry:
  %whole = and i64 %n, -8
  br label %eight
eight:
  %k = phi i64 [ 0, %entry ], [ %k.next, %together ]
  %x = phi <8 x i64> [ <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>, %entry ], [ %x.next, %together ]
  %again = icmp slt i64 %k, %whole
  br i1 %again, label %together, label %rest
together:
  %a.8 = getelementptr i64, ptr %a, i64 %k
  store <8 x i64> %x, ptr %a.8, align 8
  %k.next = add i64 %k, 8
  %x.next = add <8 x i64> %x, splat (i64 8)
  br label %eight
rest:
  %j = phi i64 [ %k, %eight ], [ %j.next, %one ]
  %left = icmp slt i64 %j, %n
  br i1 %left, label %one, label %done
one:
  %a.1 = getelementptr i64, ptr %a, i64 %j
  store i64 %j, ptr %a.1
  %j.next = add i64 %j, 1
  br label %rest
done:
  ret void
}
"""


TEXTS = {
    "zyg_count_up": _COUNTED,
    "zyg_copy_to": over_rows("zyg_copy_to", "ab", COPIED, before=_BEHIND, unless="%is_read"),
    "zyg_add_to": over_rows("zyg_add_to", "ab", ADDED, before=_BEHIND, unless="%is_read"),
    # a += outer(x, b): all rows of b are the first one.
    "zyg_add_outer": over_rows(
        "zyg_add_outer", "ab", _SCALED, "ptr %x, i64 %x0", row=_FACTOR + _VALUES, rows={"b": "0"}
    ),
    "zyg_fill": over_rows("zyg_fill", "a", _FILLED, "double %value.one", _VALUES),
}
