"""What is asked of objects, with no shadow in it: whether a key carries no derivative, where a heap puts an item, whether all items are real.

The functions are of the part `cotangents`, as those that ask are."""

from __future__ import annotations

QUESTIONS = """; (key): whether a key of a dict is text, bytes, an int, a bool or None, exactly, or a tuple of these. `self` is (what does the same in
; Python).
define ptr @zyg_is_label(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
entry:
  %key = at ptr, %args, 0
  %type = field ptr, %key, $OB_TYPE
  %tuple = icmp eq ptr %type, @PyTuple_Type
  br i1 %tuple, label %items, label %one
one:
  %alone = call i1 @is_plain(ptr %key)
  br i1 %alone, label %yes, label %no
items:
  %count = field i64, %key, $OB_SIZE
  br label %each.test
each.test:
  %k = phi i64 [ 0, %items ], [ %k1, %each ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %each, label %yes
each:
  %item = item %key, %k
  %plain = call i1 @is_plain(ptr %item)
  %k1 = add i64 %k, 1
  br i1 %plain, label %each.test, label %no
yes:
  call void @Py_IncRef(ptr @_Py_TrueStruct)
  ret ptr @_Py_TrueStruct
no:
  call void @Py_IncRef(ptr @_Py_FalseStruct)
  ret ptr @_Py_FalseStruct
}

define internal i1 @is_plain(ptr %x) {
  %type = field ptr, %x, $OB_TYPE
  %int = icmp eq ptr %type, @PyLong_Type
  %text = icmp eq ptr %type, @PyUnicode_Type
  %bool = icmp eq ptr %type, @PyBool_Type
  %bytes = icmp eq ptr %type, @PyBytes_Type
  %none = icmp eq ptr %x, @_Py_NoneStruct
  %a = or i1 %int, %text
  %b = or i1 %bool, %bytes
  %c = or i1 %a, %b
  %plain = or i1 %c, %none
  ret i1 %plain
}

; Whether `a < b`, of two floats, or of two tuples that begin with different floats: 1 or 0; -1 where something else is compared.
define internal i32 @order(ptr %a, ptr %b) {
  %a_type = field ptr, %a, $OB_TYPE
  %b_type = field ptr, %b, $OB_TYPE
  %one_type = icmp eq ptr %a_type, %b_type
  br i1 %one_type, label %float.test, label %unknown
float.test:
  %float = icmp eq ptr %a_type, @PyFloat_Type
  br i1 %float, label %floats, label %tuple.test
floats:
  %x = field double, %a, $FLOAT_VALUE
  %y = field double, %b, $FLOAT_VALUE
  %less = fcmp olt double %x, %y
  %answer = zext i1 %less to i32
  ret i32 %answer
tuple.test:
  %tuple = icmp eq ptr %a_type, @PyTuple_Type
  br i1 %tuple, label %sizes, label %unknown
sizes:
  %a_size = field i64, %a, $OB_SIZE
  %b_size = field i64, %b, $OB_SIZE
  %a_some = icmp sgt i64 %a_size, 0
  %b_some = icmp sgt i64 %b_size, 0
  %some = and i1 %a_some, %b_some
  br i1 %some, label %firsts, label %unknown
firsts:
  %p = item %a, 0
  %q = item %b, 0
  %p_type = field ptr, %p, $OB_TYPE
  %q_type = field ptr, %q, $OB_TYPE
  %p_float = icmp eq ptr %p_type, @PyFloat_Type
  %q_float = icmp eq ptr %q_type, @PyFloat_Type
  %numbers = and i1 %p_float, %q_float
  br i1 %numbers, label %compare, label %unknown
compare:
  %u = field double, %p, $FLOAT_VALUE
  %v = field double, %q, $FLOAT_VALUE
  %first_less = fcmp olt double %u, %v
  br i1 %first_less, label %yes, label %greater.test
greater.test:
  %greater = fcmp ogt double %u, %v
  br i1 %greater, label %no, label %unknown
yes:
  ret i32 1
no:
  ret i32 0
unknown:
  ret i32 -1
}

; (heap, item): where `heappush` puts an item. `self` is (what does the same in Python): that is asked where `order` does not know.
define ptr @zyg_place_up(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
entry:
  %heap = at ptr, %args, 0
  %item = at ptr, %args, 1
  %count = field i64, %heap, $OB_SIZE
  %places = field ptr, %heap, $LIST_ITEMS
  br label %test
test:
  %at = phi i64 [ %count, %entry ], [ %above, %compare ]
  %more = icmp sgt i64 %at, 0
  br i1 %more, label %look, label %found
look:
  %before = sub i64 %at, 1
  %above = ashr i64 %before, 1
  %other = at ptr, %places, %above
  %below = call i32 @order(ptr %item, ptr %other)
  %known = icmp sge i32 %below, 0
  br i1 %known, label %compare, label %slow
compare:
  %less = icmp eq i32 %below, 1
  br i1 %less, label %test, label %found
found:
  %place = call ptr @PyLong_FromLongLong(i64 %at)
  ret ptr %place
slow:
  %in_python = item %self, 0
  %result = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 2, ptr null)
  ret ptr %result
}

; (heap, item, count): where an item comes that is put at the root of a heap of so many items. `self` as above.
define ptr @zyg_place_down(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
entry:
  %heap = at ptr, %args, 0
  %item = at ptr, %args, 1
  %count_object = at ptr, %args, 2
  %count = call i64 @PyLong_AsSsize_t(ptr %count_object)
  %places = field ptr, %heap, $LIST_ITEMS
  br label %down.test
down.test:
  %at = phi i64 [ 0, %entry ], [ %left, %one ], [ %chosen, %choose ]
  %twice = shl i64 %at, 1
  %left = add i64 %twice, 1
  %inner = icmp slt i64 %left, %count
  br i1 %inner, label %sides, label %up.test
sides:
  %right = add i64 %left, 1
  %two = icmp slt i64 %right, %count
  br i1 %two, label %both, label %one
one:
  br label %down.test
both:
  %a = at ptr, %places, %left
  %b = at ptr, %places, %right
  %smaller = call i32 @order(ptr %a, ptr %b)
  %known = icmp sge i32 %smaller, 0
  br i1 %known, label %choose, label %slow
choose:
  %is_left = icmp eq i32 %smaller, 1
  %chosen = select i1 %is_left, i64 %left, i64 %right
  br label %down.test
up.test:
  %here = phi i64 [ %at, %down.test ], [ %above, %climb ]
  %more = icmp sgt i64 %here, 0
  br i1 %more, label %look, label %found
look:
  %other = at ptr, %places, %here
  %below = call i32 @order(ptr %item, ptr %other)
  %sure = icmp sge i32 %below, 0
  br i1 %sure, label %compare, label %slow
compare:
  %less = icmp eq i32 %below, 1
  br i1 %less, label %climb, label %found
climb:
  %before = sub i64 %here, 1
  %above = ashr i64 %before, 1
  br label %up.test
found:
  %place = call ptr @PyLong_FromLongLong(i64 %here)
  ret ptr %place
slow:
  %in_python = item %self, 0
  %result = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 3, ptr null)
  ret ptr %result
}

; (list): whether all items are floats and ints, exactly. `self` is (what does the same in Python, also for other containers).
define ptr @zyg_all_real(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
  %x = at ptr, %args, 0
  %type = field ptr, %x, $OB_TYPE
  %list = icmp eq ptr %type, @PyList_Type
  br i1 %list, label %begin, label %slow
begin:
  %count = field i64, %x, $OB_SIZE
  %places = field ptr, %x, $LIST_ITEMS
  br label %each.test
each.test:
  %k = phi i64 [ 0, %begin ], [ %k1, %each ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %each, label %yes
each:
  %item = at ptr, %places, %k
  %its_type = field ptr, %item, $OB_TYPE
  %float = icmp eq ptr %its_type, @PyFloat_Type
  %int = icmp eq ptr %its_type, @PyLong_Type
  %real = or i1 %float, %int
  %k1 = add i64 %k, 1
  br i1 %real, label %each.test, label %no
yes:
  call void @Py_IncRef(ptr @_Py_TrueStruct)
  ret ptr @_Py_TrueStruct
no:
  call void @Py_IncRef(ptr @_Py_FalseStruct)
  ret ptr @_Py_FalseStruct
slow:
  %in_python = item %self, 0
  %result = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 1, ptr null)
  ret ptr %result
}
"""

__all__ = ["QUESTIONS"]
