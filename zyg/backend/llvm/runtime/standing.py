"""Whether what was found out still holds: words of memory (the versions of classes, the code of functions) are as they were."""

from __future__ import annotations

from .layout import fill
from .pull_text import written

_TEXT = """
declare void @Py_IncRef(ptr)
@_Py_TrueStruct = external global i8
@_Py_FalseStruct = external global i8

; (bytes of pairs of an address and what stands there, 32 bits, in 64 each)
define ptr @zyg_stands(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
entry:
  %table = at ptr, %args, 0
  %size = field i64, %table, $OB_SIZE
  %first = getelementptr i8, ptr %table, i64 $BYTES_DATA
  %count = lshr i64 %size, 4
  br label %each.test
each.test:
  %k = phi i64 [ 0, %entry ], [ %k1, %each ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %each, label %answer
each:
  %offset = shl i64 %k, 4
  %pair = getelementptr i8, ptr %first, i64 %offset
  %word = field ptr, %pair, 0
  %expected = field i32, %pair, 8
  %present = load i32, ptr %word
  %k1 = add i64 %k, 1
  %same = icmp eq i32 %present, %expected
  br i1 %same, label %each.test, label %answer
answer:
  %found = phi ptr [ @_Py_TrueStruct, %each.test ], [ @_Py_FalseStruct, %each ]
  call void @Py_IncRef(ptr %found)
  ret ptr %found
}
"""
TEXT = fill(written(_TEXT))
