"""Rows of doubles by a list of indices: those of a matrix that are taken, and those that are added to; and one element of each row.

An index of a row may count from the end.  That none is out of range is known before (`check_range` of library/numpy_/gathering.py).
Library code that did this was loops with a stack of indices in each program, forwards and backwards, for each use of a list of indices.
"""

from __future__ import annotations

from string import Template

# For each index k of `count`: the row k of `listed` and the row of `table` that is named, of which there are `size`; each matrix with the
# bytes from row to row and from one element to the next.
_EACH = Template("""
define void @$name(i64 %count, i64 %length, ptr %listed, i64 %l0, i64 %l1, ptr %table, i64 %t0, i64 %t1, ptr %index, i64 %step, i64 %size) {
entry:
  %near_l = icmp eq i64 %l1, 8
  %near_t = icmp eq i64 %t1, 8
  %near = and i1 %near_l, %near_t
  %vectors = and i64 %length, -4
  %whole = select i1 %near, i64 %vectors, i64 0
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %k.next, %ended ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %row, label %done
row:
  %k.next = add i64 %k, 1
  %k.at = mul i64 %k, %step
  %place = getelementptr i8, ptr %index, i64 %k.at
  %given = load i64, ptr %place
  %from_end = icmp slt i64 %given, 0
  %moved = add i64 %given, %size
  %i = select i1 %from_end, i64 %moved, i64 %given
  %l.at = mul i64 %k, %l0
  %l.row = getelementptr i8, ptr %listed, i64 %l.at
  %t.at = mul i64 %i, %t0
  %t.row = getelementptr i8, ptr %table, i64 %t.at
  br label %four
four:
  %v = phi i64 [ 0, %row ], [ %v.next, %together ]
  %again = icmp slt i64 %v, %whole
  br i1 %again, label %together, label %rest
together:
  %v.next = add i64 %v, 4
  %l.four = getelementptr double, ptr %l.row, i64 %v
  %t.four = getelementptr double, ptr %t.row, i64 %v
$four
  br label %four
rest:
  %j = phi i64 [ %v, %four ], [ %j.next, %one ]
  %left = icmp slt i64 %j, %length
  br i1 %left, label %one, label %ended
one:
  %j.next = add i64 %j, 1
  %l.j = mul i64 %j, %l1
  %l.one = getelementptr i8, ptr %l.row, i64 %l.j
  %t.j = mul i64 %j, %t1
  %t.one = getelementptr i8, ptr %t.row, i64 %t.j
$one
  br label %rest
ended:
  br label %next
done:
  ret void
}
""")

_TAKEN = """\
  %x.{0} = load {1}, ptr %t.{0}, align 8
  store {1} %x.{0}, ptr %l.{0}, align 8"""
_ADDED = """\
  %x.{0} = load {1}, ptr %l.{0}, align 8
  %y.{0} = load {1}, ptr %t.{0}, align 8
  %z.{0} = fadd {1} %x.{0}, %y.{0}
  store {1} %z.{0}, ptr %t.{0}, align 8"""


def _each(name: str, work: str) -> str:
    four, one = (work.format(*names) for names in (("four", "<4 x double>"), ("one", "double")))
    return _EACH.substitute(name=name, four=four, one=one)


# For each of `count` rows of `table`: the element at its place, and that of the list `listed`.
_PLACES = Template("""
define void @$name(i64 %count, ptr %listed, i64 %l0, ptr %table, i64 %t0, i64 %t1, ptr %places) {
entry:
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %k.next, %row ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %row, label %done
row:
  %k.next = add i64 %k, 1
  %place = getelementptr i64, ptr %places, i64 %k
  %j = load i64, ptr %place
  %l.at = mul i64 %k, %l0
  %l.one = getelementptr i8, ptr %listed, i64 %l.at
  %t.at = mul i64 %k, %t0
  %t.row = getelementptr i8, ptr %table, i64 %t.at
  %j.at = mul i64 %j, %t1
  %t.one = getelementptr i8, ptr %t.row, i64 %j.at
$one
  br label %next
done:
  ret void
}
""")


TEXTS = {
    "zyg_take_rows": _each("zyg_take_rows", _TAKEN),  # listed[k] = table[index[k]]
    "zyg_add_rows": _each("zyg_add_rows", _ADDED),  # table[index[k]] += listed[k]
    "zyg_take_places": _PLACES.substitute(name="zyg_take_places", one=_TAKEN.format("one", "double")),
    "zyg_add_places": _PLACES.substitute(name="zyg_add_places", one=_ADDED.format("one", "double")),
}
