"""Loops over rows of doubles, several elements at a time where they lie together, as LLVM assembly: what kernels do with them is a parameter
(elementloops.py, indexedrows.py)."""

from __future__ import annotations

from collections.abc import Sequence
from string import Template

# `n` rows of `m` elements; the matrices, each with the bytes from one row, and one element, to the next; and what else there is.
_ROWS = Template("""
define void @$name(i64 %n, i64 %m, $parameters) {
entry:
$before
  %vectors = and i64 %m, -$lanes
  %whole = select i1 $near, i64 %vectors, i64 0
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %ended ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %row, label %done
row:
  %i.next = add i64 %i, 1
$row
  br label %several
several:
  %k = phi i64 [ 0, %row ], [ %k.next, %together ]
  %again = icmp slt i64 %k, %whole
  br i1 %again, label %together, label %rest
together:
  %k.next = add i64 %k, $lanes
$together
  br label %several
rest:
  %j = phi i64 [ %k, %several ], [ %j.next, %one ]
  %left = icmp slt i64 %j, %m
  br i1 %left, label %one, label %ended
one:
  %j.next = add i64 %j, 1
$one
  br label %rest
ended:
  br label %next
done:
  ret void
}
""")
_ROW = """\
  %{0}.at = mul i64 {1}, %{0}0
  %{0}.row = getelementptr i8, ptr %{0}, i64 %{0}.at"""
_SEVERAL = "  %{0}.several = getelementptr double, ptr %{0}.row, i64 %k"
_ONE = """\
  %{0}.j = mul i64 %j, %{0}1
  %{0}.one = getelementptr i8, ptr %{0}.row, i64 %{0}.j"""

# Works on elements of two matrices a and b: {0} is where they are, {1} their type.
COPIED = """\
  %x.{0} = load {1}, ptr %b.{0}, align 8
  store {1} %x.{0}, ptr %a.{0}, align 8"""
ADDED = """\
  %x.{0} = load {1}, ptr %a.{0}, align 8
  %y.{0} = load {1}, ptr %b.{0}, align 8
  %z.{0} = fadd {1} %x.{0}, %y.{0}
  store {1} %z.{0}, ptr %a.{0}, align 8"""


def over_rows(
    name: str,
    matrices: Sequence[str],
    work: str,
    other: str = "",
    before: str = "",
    unless: str = "",
    row: str = "",
    rows: dict[str, str] | None = None,
    lanes: int = 8,
) -> str:
    """A function that does `work` on all elements of matrices, so many at a time where those of all lie together.

    other: parameters behind the matrices. before: what is done first, and unless: what it then gives where elements are gone through one by
    one all the same. row: what is done first for each row, and rows: where the row of a matrix is not the one of number %i.
    """
    parameters = [f"ptr %{a}, i64 %{a}0, i64 %{a}1" for a in matrices] + ([other] if other else [])
    at = {**dict.fromkeys(matrices, "%i"), **(rows or {})}
    first, near = [before] if before else [], f"%near_{matrices[0]}"
    first += [f"  %near_{a} = icmp eq i64 %{a}1, 8" for a in matrices]
    for a in matrices[1:]:
        first.append(f"  %near_to_{a} = and i1 {near}, %near_{a}")
        near = f"%near_to_{a}"
    if unless:
        first.append(f"  %near = select i1 {unless}, i1 false, i1 {near}")
        near = "%near"
    return _ROWS.substitute(
        name=name,
        parameters=", ".join(parameters),
        before="\n".join(first),
        near=near,
        lanes=lanes,
        row="\n".join([*([row] if row else []), *(_ROW.format(a, at[a]) for a in matrices)]),
        together="\n".join([*map(_SEVERAL.format, matrices), work.format("several", f"<{lanes} x double>")]),
        one="\n".join([*map(_ONE.format, matrices), work.format("one", "double")]),
    )
