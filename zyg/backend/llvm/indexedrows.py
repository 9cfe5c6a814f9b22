"""Rows of doubles by a list of indices: those of a matrix that are taken, and those that are added to; and one element of each row.

An index of a row may count from the end.  That none is out of range is known before (`check_range` of library/numpy_/gathering.py).
Library code that did this was loops with a stack of indices in each program, forwards and backwards, for each use of a list of indices.
"""

from __future__ import annotations

from string import Template

from .rowloops import ADDED, COPIED, over_rows

# The row of a list, and the row of a table that is named, of which there are `size`.
_NAMED = """\
  %i.at = mul i64 %i, %step
  %place = getelementptr i8, ptr %index, i64 %i.at
  %given = load i64, ptr %place
  %from_end = icmp slt i64 %given, 0
  %moved = add i64 %given, %size
  %named = select i1 %from_end, i64 %moved, i64 %given"""


def _by_index(name: str, listed: str, table: str, work: str) -> str:
    """The list of rows and the table are what `work` calls so.  Such rows are short: four elements at a time."""
    index = "ptr %index, i64 %step, i64 %size"
    return over_rows(name, listed + table, work, index, row=_NAMED, rows={table: "%named"}, lanes=4)


# For each of `n` rows of the table: the element at its place, and that of the list.
_PLACES = Template("""
define void @$name(i64 %n, ptr %$list, i64 %${list}0, ptr %$table, i64 %${table}0, i64 %${table}1, ptr %places) {
entry:
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %row ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %row, label %done
row:
  %i.next = add i64 %i, 1
  %place = getelementptr i64, ptr %places, i64 %i
  %j = load i64, ptr %place
  %$list.at = mul i64 %i, %${list}0
  %$list.one = getelementptr i8, ptr %$list, i64 %$list.at
  %$table.at = mul i64 %i, %${table}0
  %$table.row = getelementptr i8, ptr %$table, i64 %$table.at
  %j.at = mul i64 %j, %${table}1
  %$table.one = getelementptr i8, ptr %$table.row, i64 %j.at
$work
  br label %next
done:
  ret void
}
""")


def _at_places(name: str, listed: str, table: str, work: str) -> str:
    return _PLACES.substitute(name=name, list=listed, table=table, work=work.format("one", "double"))


TEXTS = {
    "zyg_take_rows": _by_index("zyg_take_rows", "a", "b", COPIED),  # list[k] = table[index[k]]
    "zyg_add_rows": _by_index("zyg_add_rows", "b", "a", ADDED),  # table[index[k]] += list[k]
    "zyg_take_places": _at_places("zyg_take_places", "a", "b", COPIED),
    "zyg_add_places": _at_places("zyg_add_places", "b", "a", ADDED),
}
