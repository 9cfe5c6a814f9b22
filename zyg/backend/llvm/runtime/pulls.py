"""Cotangents of small arrays, for reverse halves through Python: one call for what would be ten of NumPy's and of Python's.

`zyg_pull` runs a back, a tuple (zyg_pull, y, a, b, p, q, plan): `y` was computed of `a` and `b`, of which `p` and `q` were kept. It takes
the shadow of `y` away, and adds to those of `a` and `b`, in nested loops. A plan says which loop each of the five goes
along, by its axes: so the cotangents of products of matrices, of sums along axes, and of what was broadcast are the same
loops with other steps, of which some are 0. What is added to two arrays at a place is a rule (RULES).

`zyg_record` makes such backs: it carries out an operator, or calls a function, and copies what is to be kept.

Arrays are of float64, and small. All else is left to functions in Python.
"""

from __future__ import annotations

from . import pull_parts, pull_rules, records
from .layout import fill
from .pull_rules import extents
from .pull_text import written

# What all that run backs with shadows begin with: what `self` and the arguments are. Anything but shadows of ours, without refusals, is left
# to Python.
_HEADER = """
  %in_python = item %self, 0
  %words_object = item %self, 1
  %words = getelementptr i8, ptr %words_object, i64 $BYTES_DATA
  %descr = item %self, 2
  %bools = item %self, 3
  %class = item %self, 4
  %of_array = item %self, 5
  %back = at ptr, %args, 0
  %d = at ptr, %args, 1
  %shadows = at ptr, %args, 2
  %type = field ptr, %shadows, $OB_TYPE
  %ours = icmp eq ptr %type, %class
  br i1 %ours, label %refused.test, label %slow
refused.test:
  %refusals = slot $REFUSALS
  %refusal_count = call i64 @PyDict_Size(ptr %refusals)
  %all_had = icmp eq i64 %refusal_count, 0
  br i1 %all_had, label %start, label %slow
"""

TEXT = (
    """
define internal ptr @give_number(ptr %wanted_at, ptr %value_at) {
  %wanted = load i1, ptr %wanted_at
  br i1 %wanted, label %make, label %none
make:
  %value = load double, ptr %value_at
  %made = call ptr @PyFloat_FromDouble(double %value)
  ret ptr %made
none:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
}

; (back, d, shadows). `self` is (what runs backs in Python, words, float64, bool, the class of shadows, "of_array").
define ptr @zyg_pull(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
entry:
  %sizes = alloca [5 x [$LOOPS x i64]]
  %steps = alloca [5 x [$LOOPS x i64]]
  %places = alloca [5 x ptr]
  %values = alloca [5 x double]
  %owned_a = alloca ptr
  %owned_b = alloca ptr
  %wanted_a = alloca i1
  %wanted_b = alloca i1
  store ptr null, ptr %owned_a
  store ptr null, ptr %owned_b
"""
    + _HEADER
    + """
start:
  %y = item %back, 1
  %a = item %back, 2
  %b = item %back, 3
  %p = item %back, 4
  %q = item %back, 5
  %plan = item %back, 6
  %plan_object = item %plan, 0
  %plan_data = getelementptr i8, ptr %plan_object, i64 $BYTES_DATA
  %number_of_rule = load i64, ptr %plan_data
  %rule = at ptr, @rules, %number_of_rule
  %limit = field i64, %plan_data, $PLAN_LIMIT
  %flags = field i32, %plan_data, $PLAN_FLAGS
  %skip = field i32, %plan_data, $PLAN_SKIP
  %maps = getelementptr i8, ptr %plan_data, i64 $PLAN_MAPS
  %map_p = getelementptr i8, ptr %maps, i64 $MAP_p
  %map_q = getelementptr i8, ptr %maps, i64 $MAP_q
  %map_a = getelementptr i8, ptr %maps, i64 $MAP_a
  %map_b = getelementptr i8, ptr %maps, i64 $MAP_b
  %number_bit = and i32 %flags, $Y_IS_NUMBER
  %of_number = icmp ne i32 %number_bit, 0
  %none = icmp eq ptr %d, @_Py_NoneStruct
  br i1 %of_number, label %flowing, label %taking
flowing:
  br i1 %none, label %nothing, label %read_d
read_d:
  call void @stay(ptr %sizes, ptr %steps)
  store ptr %values, ptr %places
  %d_type = field ptr, %d, $OB_TYPE
  %d_is_int = icmp eq ptr %d_type, @PyLong_Type
  br i1 %d_is_int, label %slow, label %read_number
read_number:
  %d_read = call i1 @number(ptr %d, ptr %values)
  br i1 %d_read, label %others, label %slow
taking:
  %views = slot $VIEWS
  %key = call ptr @PyLong_FromVoidPtr(ptr %y)
  %no_key = icmp eq ptr %key, null
  br i1 %no_key, label %fail, label %look
look:
  %arrays = slot $MEMORY
  %dy = call ptr @PyDict_GetItemWithError(ptr %views, ptr %key)
  %no_dy = icmp eq ptr %dy, null
  br i1 %no_dy, label %untaken, label %have_dy
untaken:
  %memory = call i64 @PyDict_Size(ptr %arrays)
  call void @Py_DecRef(ptr %key)
  %no_memory = icmp eq i64 %memory, 0
  br i1 %no_memory, label %nothing, label %slow
have_dy:
  %dy_fits = call i1 @is_array(ptr %dy, ptr %descr)
  br i1 %dy_fits, label %lay_dy, label %drop_key
drop_key:
  call void @Py_DecRef(ptr %key)
  br label %slow
lay_dy:
  %dy_data = field ptr, %dy, $ARRAY_DATA
  store ptr %dy_data, ptr %places
  %dy_laid = call i1 @lay_out(ptr %dy, ptr %maps, ptr %sizes, ptr %steps)
  br i1 %dy_laid, label %hold, label %drop_key
hold:
  call void @Py_IncRef(ptr %dy)
  br label %others
others:
  %key_ = phi ptr [ null, %read_number ], [ %key, %hold ]
  %dy_ = phi ptr [ null, %read_number ], [ %dy, %hold ]
  role p
  %bools_bit = and i32 %flags, $P_IS_BOOLS
  %of_bools = icmp ne i32 %bools_bit, 0
  %descr_p = select i1 %of_bools, ptr %bools, ptr %descr
  %kept_p = call i1 @kept(ptr %p, ptr %descr_p, ptr %map_p, ptr %sizes_p, ptr %steps_p, ptr %place_p, ptr %value_p)
  br i1 %kept_p, label %second, label %undo
second:
  role q
  %kept_q = call i1 @kept(ptr %q, ptr %descr, ptr %map_q, ptr %sizes_q, ptr %steps_q, ptr %place_q, ptr %value_q)
  br i1 %kept_q, label %first_target, label %undo
first_target:
  role a
  %to_a = call i1 @target(ptr %shadows, ptr %words, ptr %a, ptr %descr, ptr %of_array, ptr %map_a, ptr %sizes_a, ptr %steps_a,
                          ptr %place_a, ptr %value_a, ptr %owned_a, ptr %wanted_a)
  br i1 %to_a, label %second_target, label %undo
second_target:
  role b
  %to_b = call i1 @target(ptr %shadows, ptr %words, ptr %b, ptr %descr, ptr %of_array, ptr %map_b, ptr %sizes_b, ptr %steps_b,
                          ptr %place_b, ptr %value_b, ptr %owned_b, ptr %wanted_b)
  br i1 %to_b, label %extents, label %undo
extents:
"""
    + extents()
    + """
  %n01 = mul i64 %n0, %n1
  %n23 = mul i64 %n2, %n3
  %count = mul i64 %n01, %n23
  %few = icmp sle i64 %count, %limit
  %good = and i1 %fit, %few
  br i1 %good, label %take, label %undo
take:
  %taken = icmp ne ptr %key_, null
  br i1 %taken, label %away, label %go
away:
  %views2 = slot $VIEWS
  %deleted = call i32 @PyDict_DelItem(ptr %views2, ptr %key_)
  %arrays2 = slot $MEMORY
  %memory2 = call i64 @PyDict_Size(ptr %arrays2)
  %no_memory2 = icmp eq i64 %memory2, 0
  br i1 %no_memory2, label %go, label %seek
seek:
  %sought = call ptr @PyDict_GetItemWithError(ptr %arrays2, ptr %key_)
  %unfound = icmp eq ptr %sought, null
  br i1 %unfound, label %go, label %forget
forget:
  %forgotten = call i32 @PyDict_DelItem(ptr %arrays2, ptr %key_)
  br label %go
go:
  call void @run(ptr %rule, i64 %n0, i64 %n1, i64 %n2, i64 %n3, ptr %places, ptr %steps)
  br i1 %taken, label %release, label %results
release:
  call void @Py_DecRef(ptr %key_)
  call void @Py_DecRef(ptr %dy_)
  br label %results
results:
  call void @release(ptr %owned_a)
  call void @release(ptr %owned_b)
  %a_wanted = load i1, ptr %wanted_a
  %b_wanted = load i1, ptr %wanted_b
  %some = or i1 %a_wanted, %b_wanted
  br i1 %some, label %tuple, label %nothing
tuple:
  %before = sext i32 %skip to i64
  %length = add i64 %before, 2
  %result = call ptr @PyTuple_New(i64 %length)
  %no_result = icmp eq ptr %result, null
  br i1 %no_result, label %fail, label %fill
fill:
  %result_items = getelementptr i8, ptr %result, i64 $TUPLE_ITEMS
  br label %skip_one.test
skip_one.test:
  %s = phi i64 [ 0, %fill ], [ %s1, %skip_one ]
  %more_to_skip = icmp slt i64 %s, %before
  br i1 %more_to_skip, label %skip_one, label %give
skip_one:
  %skip_place = getelementptr ptr, ptr %result_items, i64 %s
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  store ptr @_Py_NoneStruct, ptr %skip_place
  %s1 = add i64 %s, 1
  br label %skip_one.test
give:
  %of_a = call ptr @give_number(ptr %wanted_a, ptr %value_a)
  %of_b = call ptr @give_number(ptr %wanted_b, ptr %value_b)
  %place_of_a = getelementptr ptr, ptr %result_items, i64 %before
  store ptr %of_a, ptr %place_of_a
  %place_of_b = getelementptr ptr, ptr %place_of_a, i64 1
  store ptr %of_b, ptr %place_of_b
  %no_a = icmp eq ptr %of_a, null
  %no_b = icmp eq ptr %of_b, null
  %lacking = or i1 %no_a, %no_b
  br i1 %lacking, label %lose, label %given
lose:
  call void @Py_DecRef(ptr %result)
  ret ptr null
given:
  ret ptr %result
undo:
  call void @release(ptr %owned_a)
  call void @release(ptr %owned_b)
  %no_key_ = icmp eq ptr %key_, null
  br i1 %no_key_, label %wrong.test, label %undo_key
undo_key:
  call void @Py_DecRef(ptr %key_)
  call void @Py_DecRef(ptr %dy_)
  br label %wrong.test
wrong.test:
  %wrong = call ptr @PyErr_Occurred()
  %right = icmp eq ptr %wrong, null
  br i1 %right, label %slow, label %fail
slow:
  %done = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 3, ptr null)
  ret ptr %done
nothing:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
fail:
  ret ptr null
}

define internal void @release(ptr %at) {
  %x = load ptr, ptr %at
  %none = icmp eq ptr %x, null
  br i1 %none, label %done, label %drop
drop:
  call void @Py_DecRef(ptr %x)
  ret void
done:
  ret void
}
"""
    + """
; (back, d, shadows) of an operator with two numbers: a back is (zyg_pull_number, y, a, b). `self` is (what runs it in Python, which of
; ARITHMETICS).
define ptr @zyg_pull_number(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
entry:
  %values = alloca [4 x double]
  %in_python = item %self, 0
  %which_object = item %self, 1
  %which = field i8, %which_object, $BYTES_DATA
  %back = at ptr, %args, 0
  %d_object = at ptr, %args, 1
  %none = icmp eq ptr %d_object, @_Py_NoneStruct
  br i1 %none, label %nothing, label %look
look:
  %d_type = field ptr, %d_object, $OB_TYPE
  %float = icmp eq ptr %d_type, @PyFloat_Type
  br i1 %float, label %read, label %slow
read:
  %d = field double, %d_object, $FLOAT_VALUE
  %y_object = item %back, 1
  %a_object = item %back, 2
  %b_object = item %back, 3
  %y_place = getelementptr double, ptr %values, i64 1
  %a_place = getelementptr double, ptr %values, i64 2
  %b_place = getelementptr double, ptr %values, i64 3
  %y_read = call i1 @number(ptr %y_object, ptr %y_place)
  %a_read = call i1 @number(ptr %a_object, ptr %a_place)
  %b_read = call i1 @number(ptr %b_object, ptr %b_place)
  %ya_read = and i1 %y_read, %a_read
  %all_read = and i1 %ya_read, %b_read
  br i1 %all_read, label %choose, label %slow
choose:
  %y = load double, ptr %y_place
  %a = load double, ptr %a_place
  %b = load double, ptr %b_place
  switch i8 %which, label %slow [ i8 $ARITHMETIC_add, label %sum
                                  i8 $ARITHMETIC_sub, label %difference
                                  i8 $ARITHMETIC_mul, label %product
                                  i8 $ARITHMETIC_truediv, label %quotient ]
sum:
  br label %give
difference:
  %minus = fneg double %d
  br label %give
product:
  %by_a = fmul double %d, %b
  %by_b = fmul double %d, %a
  br label %give
quotient:
  %zero = fcmp oeq double %b, 0.0
  br i1 %zero, label %slow, label %divide
divide:
  %c = fdiv double %d, %b
  %minus_c = fneg double %c
  %e = fmul double %minus_c, %y
  %e_nan = fcmp uno double %e, 0.0
  %d_zero = fcmp oeq double %d, 0.0
  %vanishes = and i1 %e_nan, %d_zero
  %e_strong = select i1 %vanishes, double 0.0, double %e
  br label %give
give:
  %first = phi double [ %d, %sum ], [ %d, %difference ], [ %by_a, %product ], [ %c, %divide ]
  %second = phi double [ %d, %sum ], [ %minus, %difference ], [ %by_b, %product ], [ %e_strong, %divide ]
  %x = call ptr @PyFloat_FromDouble(double %first)
  %z = call ptr @PyFloat_FromDouble(double %second)
  %no_x = icmp eq ptr %x, null
  %no_z = icmp eq ptr %z, null
  %lacking = or i1 %no_x, %no_z
  br i1 %lacking, label %fail, label %both
both:
  %result = call ptr @pair(ptr %x, ptr %z)
  ret ptr %result
nothing:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
slow:
  %done = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 3, ptr null)
  ret ptr %done
fail:
  ret ptr null
}

; (back, d, shadows) of an element: a back is (zyg_pull_item, x, key). `self` is that of `zyg_pull`.
define ptr @zyg_pull_item(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
entry:
"""
    + _HEADER
    + """
start:
  %none = icmp eq ptr %d, @_Py_NoneStruct
  br i1 %none, label %nothing, label %look
look:
  %d_type = field ptr, %d, $OB_TYPE
  %float = icmp eq ptr %d_type, @PyFloat_Type
  %x = item %back, 1
  %key = item %back, 2
  %array = call i1 @is_array(ptr %x, ptr %descr)
  %usual = and i1 %float, %array
  br i1 %usual, label %ask, label %slow
ask:
  %element = call i1 @names_element(ptr %x, ptr %key)
  br i1 %element, label %find, label %slow
find:
  %amount = field double, %d, $FLOAT_VALUE
  %shadow = call ptr @shadow(ptr %shadows, ptr %words, ptr %x, ptr %descr, ptr %of_array)
  %failed = icmp eq ptr %shadow, null
  br i1 %failed, label %fail, label %found
found:
  %fits = call i1 @is_array(ptr %shadow, ptr %descr)
  br i1 %fits, label %named, label %drop
named:
  %still = call i1 @names_element(ptr %shadow, ptr %key)
  br i1 %still, label %index, label %drop
index:
  %at = call ptr @element(ptr %shadow, ptr %key)
  %outside = icmp eq ptr %at, null
  br i1 %outside, label %drop, label %add
add:
  %old = load double, ptr %at
  %new = fadd double %old, %amount
  store double %new, ptr %at
  call void @Py_DecRef(ptr %shadow)
  br label %nothing
drop:
  call void @Py_DecRef(ptr %shadow)
  br label %slow
nothing:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
slow:
  %done = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 3, ptr null)
  ret ptr %done
fail:
  ret ptr null
}

; (back, d, shadows) of an assignment to an element: a back is (zyg_pull_written, x, key, value). `self` is that of `zyg_pull`.
define ptr @zyg_pull_written(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
entry:
"""
    + _HEADER
    + """
start:
  %x = item %back, 1
  %key = item %back, 2
  %views = slot $VIEWS
  %number = call ptr @PyLong_FromVoidPtr(ptr %x)
  %no_number = icmp eq ptr %number, null
  br i1 %no_number, label %fail, label %find
find:
  %shadow = call ptr @PyDict_GetItemWithError(ptr %views, ptr %number)
  call void @Py_DecRef(ptr %number)
  %absent = icmp eq ptr %shadow, null
  br i1 %absent, label %slow, label %found
found:
  %fits = call i1 @is_array(ptr %shadow, ptr %descr)
  br i1 %fits, label %named, label %slow
named:
  %element = call i1 @names_element(ptr %shadow, ptr %key)
  br i1 %element, label %index, label %slow
index:
  %at = call ptr @element(ptr %shadow, ptr %key)
  %outside = icmp eq ptr %at, null
  br i1 %outside, label %slow, label %take
take:
  %amount = load double, ptr %at
  %given = call ptr @PyFloat_FromDouble(double %amount)
  %not_given = icmp eq ptr %given, null
  br i1 %not_given, label %fail, label %pack
pack:
  %result = call ptr @PyTuple_New(i64 3)
  %no_result = icmp eq ptr %result, null
  br i1 %no_result, label %drop, label %fill
drop:
  call void @Py_DecRef(ptr %given)
  br label %fail
fill:
  store double 0.0, ptr %at
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  put @_Py_NoneStruct, %result, 0
  put @_Py_NoneStruct, %result, 1
  put %given, %result, 2
  ret ptr %result
slow:
  %done = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 3, ptr null)
  ret ptr %done
fail:
  ret ptr null
}
"""
)
TEXT = fill(written(pull_parts.TEXT + records.TEXT + TEXT) + pull_rules.text(), pull_rules.names())
