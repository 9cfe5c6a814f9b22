"""Numbers in order; and doubles filled, added and copied, element by element: of one row, or of rows; `n` rows of `m`, and for each
array the bytes from one row, and one element, to the next.

Eight at a time where elements lie together.  Where an array is added to that begins less than that behind the other one, what has
just been written is read: one at a time.  That is told by the first rows. Others may be as near only where the rows of the two are not
equally far apart, and such arrays never overlap here: a copy between ranges that meet goes by way of a temporary array, and what is
added in place is copied before if it overlaps in another way than element by element (library/numpy_/inplace.py).  For modules with
many loops over elements (lowering/whole_arrays.py).
"""

from __future__ import annotations

from string import Template

_ROWS = Template("""
define void @$name(i64 %n, i64 %m, ptr %a, i64 %a0, i64 %a1, $other) {
entry:
$before
  %vectors = and i64 %m, -8
  %whole = select i1 %near, i64 %vectors, i64 0
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %ended ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %row, label %done
row:
  %i.next = add i64 %i, 1
  %a.at = mul i64 %i, %a0
  %a.row = getelementptr i8, ptr %a, i64 %a.at
$row
  br label %eight
eight:
  %k = phi i64 [ 0, %row ], [ %k.next, %together ]
  %again = icmp slt i64 %k, %whole
  br i1 %again, label %together, label %rest
together:
  %k.next = add i64 %k, 8
  %a.8 = getelementptr double, ptr %a.row, i64 %k
$eight
  br label %eight
rest:
  %j = phi i64 [ %k, %eight ], [ %j.next, %one ]
  %left = icmp slt i64 %j, %m
  br i1 %left, label %one, label %ended
one:
  %j.next = add i64 %j, 1
  %a.j = mul i64 %j, %a1
  %a.1 = getelementptr i8, ptr %a.row, i64 %a.j
$one
  br label %rest
ended:
  br label %next
done:
  ret void
}
""")

_OF_TWO = """\
  %near_a = icmp eq i64 %a1, 8
  %near_b = icmp eq i64 %b1, 8
  %near_both = and i1 %near_a, %near_b
  %address_a = ptrtoint ptr %a to i64
  %address_b = ptrtoint ptr %b to i64
  %behind = sub i64 %address_a, %address_b
  %behind_1 = sub i64 %behind, 1
  %apart = icmp uge i64 %behind_1, 63
  %near = and i1 %near_both, %apart"""
_ROW = """\
  %b.at = mul i64 %i, %b0
  %b.row = getelementptr i8, ptr %b, i64 %b.at"""
_EIGHT = """\
  %b.8 = getelementptr double, ptr %b.row, i64 %k
"""
_ONE = """\
  %b.j = mul i64 %j, %b1
  %b.1 = getelementptr i8, ptr %b.row, i64 %b.j
"""
_COPIED = """\
  %x.{0} = load {1}, ptr %b.{0}, align 8
  store {1} %x.{0}, ptr %a.{0}, align 8"""
_ADDED = """\
  %x.{0} = load {1}, ptr %a.{0}, align 8
  %y.{0} = load {1}, ptr %b.{0}, align 8
  %z.{0} = fadd {1} %x.{0}, %y.{0}
  store {1} %z.{0}, ptr %a.{0}, align 8"""
_FILLED = """\
  %near = icmp eq i64 %a1, 8
  %first = insertelement <8 x double> poison, double %value, i64 0
  %values = shufflevector <8 x double> %first, <8 x double> poison, <8 x i32> zeroinitializer"""


def _of_two(name: str, work: str) -> str:
    eight, one = (work.format(*names) for names in (("8", "<8 x double>"), ("1", "double")))
    other = "ptr %b, i64 %b0, i64 %b1"
    return _ROWS.substitute(name=name, other=other, before=_OF_TWO, row=_ROW, eight=_EIGHT + eight, one=_ONE + one)


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
    "zyg_copy_to": _of_two("zyg_copy_to", _COPIED),
    "zyg_add_to": _of_two("zyg_add_to", _ADDED),
    "zyg_fill": _ROWS.substitute(
        name="zyg_fill",
        other="double %value",
        before=_FILLED,
        row="",
        eight="  store <8 x double> %values, ptr %a.8, align 8",
        one="  store double %value, ptr %a.1, align 8",
    ),
}
