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

# What all that run backs with shadows begin with: what `self` and the arguments are. Anything but shadows of ours, without refusals, is left
# to Python.
_HEADER = """
  %self_items = getelementptr i8, ptr %self, i64 $TUPLE_ITEMS
  %in_python = load ptr, ptr %self_items
  %words_at = getelementptr ptr, ptr %self_items, i64 1
  %words_object = load ptr, ptr %words_at
  %words = getelementptr i8, ptr %words_object, i64 $BYTES_DATA
  %descr_at = getelementptr ptr, ptr %self_items, i64 2
  %descr = load ptr, ptr %descr_at
  %bools_at = getelementptr ptr, ptr %self_items, i64 3
  %bools = load ptr, ptr %bools_at
  %class_at = getelementptr ptr, ptr %self_items, i64 4
  %class = load ptr, ptr %class_at
  %of_array_at = getelementptr ptr, ptr %self_items, i64 5
  %of_array = load ptr, ptr %of_array_at
  %back = load ptr, ptr %args
  %d_at = getelementptr ptr, ptr %args, i64 1
  %d = load ptr, ptr %d_at
  %shadows_at = getelementptr ptr, ptr %args, i64 2
  %shadows = load ptr, ptr %shadows_at
  %type_at = getelementptr i8, ptr %shadows, i64 $OB_TYPE
  %type = load ptr, ptr %type_at
  %ours = icmp eq ptr %type, %class
  br i1 %ours, label %refused.test, label %slow
refused.test:
  %refusals_word_at = getelementptr i64, ptr %words, i64 2
  %refusals_word = load i64, ptr %refusals_word_at
  %refusals_at = getelementptr i8, ptr %shadows, i64 %refusals_word
  %refusals = load ptr, ptr %refusals_at
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
  %items = getelementptr i8, ptr %back, i64 $TUPLE_ITEMS
  %y_at = getelementptr ptr, ptr %items, i64 1
  %y = load ptr, ptr %y_at
  %a_at = getelementptr ptr, ptr %items, i64 2
  %a = load ptr, ptr %a_at
  %b_at = getelementptr ptr, ptr %items, i64 3
  %b = load ptr, ptr %b_at
  %p_at = getelementptr ptr, ptr %items, i64 4
  %p = load ptr, ptr %p_at
  %q_at = getelementptr ptr, ptr %items, i64 5
  %q = load ptr, ptr %q_at
  %plan_at = getelementptr ptr, ptr %items, i64 6
  %plan = load ptr, ptr %plan_at
  %plan_items = getelementptr i8, ptr %plan, i64 $TUPLE_ITEMS
  %plan_object = load ptr, ptr %plan_items
  %plan_data = getelementptr i8, ptr %plan_object, i64 $BYTES_DATA
  %number_of_rule = load i64, ptr %plan_data
  %rule_at = getelementptr ptr, ptr @rules, i64 %number_of_rule
  %rule = load ptr, ptr %rule_at
  %limit_at = getelementptr i8, ptr %plan_data, i64 $PLAN_LIMIT
  %limit = load i64, ptr %limit_at
  %flags_at = getelementptr i8, ptr %plan_data, i64 $PLAN_FLAGS
  %flags = load i32, ptr %flags_at
  %skip_at = getelementptr i8, ptr %plan_data, i64 $PLAN_SKIP
  %skip = load i32, ptr %skip_at
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
  %d_type_at = getelementptr i8, ptr %d, i64 $OB_TYPE
  %d_type = load ptr, ptr %d_type_at
  %d_is_int = icmp eq ptr %d_type, @PyLong_Type
  br i1 %d_is_int, label %slow, label %read_number
read_number:
  %d_read = call i1 @number(ptr %d, ptr %values)
  br i1 %d_read, label %others, label %slow
taking:
  %views_word = load i64, ptr %words
  %views_at = getelementptr i8, ptr %shadows, i64 %views_word
  %views = load ptr, ptr %views_at
  %key = call ptr @PyLong_FromVoidPtr(ptr %y)
  %no_key = icmp eq ptr %key, null
  br i1 %no_key, label %fail, label %look
look:
  %arrays_word_at = getelementptr i64, ptr %words, i64 3
  %arrays_word = load i64, ptr %arrays_word_at
  %arrays_at = getelementptr i8, ptr %shadows, i64 %arrays_word
  %arrays = load ptr, ptr %arrays_at
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
  %dy_data_at = getelementptr i8, ptr %dy, i64 $ARRAY_DATA
  %dy_data = load ptr, ptr %dy_data_at
  store ptr %dy_data, ptr %places
  %dy_laid = call i1 @lay_out(ptr %dy, ptr %maps, ptr %sizes, ptr %steps)
  br i1 %dy_laid, label %hold, label %drop_key
hold:
  call void @Py_IncRef(ptr %dy)
  br label %others
others:
  %key_ = phi ptr [ null, %read_number ], [ %key, %hold ]
  %dy_ = phi ptr [ null, %read_number ], [ %dy, %hold ]
  %sizes_p = getelementptr [$LOOPS x i64], ptr %sizes, i64 1
  %steps_p = getelementptr [$LOOPS x i64], ptr %steps, i64 1
  %place_p = getelementptr ptr, ptr %places, i64 1
  %value_p = getelementptr double, ptr %values, i64 1
  %bools_bit = and i32 %flags, $P_IS_BOOLS
  %of_bools = icmp ne i32 %bools_bit, 0
  %descr_p = select i1 %of_bools, ptr %bools, ptr %descr
  %kept_p = call i1 @kept(ptr %p, ptr %descr_p, ptr %map_p, ptr %sizes_p, ptr %steps_p, ptr %place_p, ptr %value_p)
  br i1 %kept_p, label %second, label %undo
second:
  %sizes_q = getelementptr [$LOOPS x i64], ptr %sizes, i64 2
  %steps_q = getelementptr [$LOOPS x i64], ptr %steps, i64 2
  %place_q = getelementptr ptr, ptr %places, i64 2
  %value_q = getelementptr double, ptr %values, i64 2
  %kept_q = call i1 @kept(ptr %q, ptr %descr, ptr %map_q, ptr %sizes_q, ptr %steps_q, ptr %place_q, ptr %value_q)
  br i1 %kept_q, label %first_target, label %undo
first_target:
  %sizes_a = getelementptr [$LOOPS x i64], ptr %sizes, i64 3
  %steps_a = getelementptr [$LOOPS x i64], ptr %steps, i64 3
  %place_a = getelementptr ptr, ptr %places, i64 3
  %value_a = getelementptr double, ptr %values, i64 3
  %to_a = call i1 @target(ptr %shadows, ptr %words, ptr %a, ptr %descr, ptr %of_array, ptr %map_a, ptr %sizes_a, ptr %steps_a,
                          ptr %place_a, ptr %value_a, ptr %owned_a, ptr %wanted_a)
  br i1 %to_a, label %second_target, label %undo
second_target:
  %sizes_b = getelementptr [$LOOPS x i64], ptr %sizes, i64 4
  %steps_b = getelementptr [$LOOPS x i64], ptr %steps, i64 4
  %place_b = getelementptr ptr, ptr %places, i64 4
  %value_b = getelementptr double, ptr %values, i64 4
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
  %views_word2 = load i64, ptr %words
  %views_at2 = getelementptr i8, ptr %shadows, i64 %views_word2
  %views2 = load ptr, ptr %views_at2
  %deleted = call i32 @PyDict_DelItem(ptr %views2, ptr %key_)
  %arrays_word_at2 = getelementptr i64, ptr %words, i64 3
  %arrays_word2 = load i64, ptr %arrays_word_at2
  %arrays_at2 = getelementptr i8, ptr %shadows, i64 %arrays_word2
  %arrays2 = load ptr, ptr %arrays_at2
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
  %self_items = getelementptr i8, ptr %self, i64 $TUPLE_ITEMS
  %in_python = load ptr, ptr %self_items
  %which_at = getelementptr ptr, ptr %self_items, i64 1
  %which_object = load ptr, ptr %which_at
  %which_data = getelementptr i8, ptr %which_object, i64 $BYTES_DATA
  %which = load i8, ptr %which_data
  %back = load ptr, ptr %args
  %d_at = getelementptr ptr, ptr %args, i64 1
  %d_object = load ptr, ptr %d_at
  %none = icmp eq ptr %d_object, @_Py_NoneStruct
  br i1 %none, label %nothing, label %look
look:
  %d_type_at = getelementptr i8, ptr %d_object, i64 $OB_TYPE
  %d_type = load ptr, ptr %d_type_at
  %float = icmp eq ptr %d_type, @PyFloat_Type
  br i1 %float, label %read, label %slow
read:
  %d_value_at = getelementptr i8, ptr %d_object, i64 $FLOAT_VALUE
  %d = load double, ptr %d_value_at
  %items = getelementptr i8, ptr %back, i64 $TUPLE_ITEMS
  %y_at = getelementptr ptr, ptr %items, i64 1
  %y_object = load ptr, ptr %y_at
  %a_at = getelementptr ptr, ptr %items, i64 2
  %a_object = load ptr, ptr %a_at
  %b_at = getelementptr ptr, ptr %items, i64 3
  %b_object = load ptr, ptr %b_at
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
  %d_type_at = getelementptr i8, ptr %d, i64 $OB_TYPE
  %d_type = load ptr, ptr %d_type_at
  %float = icmp eq ptr %d_type, @PyFloat_Type
  %items = getelementptr i8, ptr %back, i64 $TUPLE_ITEMS
  %x_at = getelementptr ptr, ptr %items, i64 1
  %x = load ptr, ptr %x_at
  %key_at = getelementptr ptr, ptr %items, i64 2
  %key = load ptr, ptr %key_at
  %array = call i1 @is_array(ptr %x, ptr %descr)
  %usual = and i1 %float, %array
  br i1 %usual, label %ask, label %slow
ask:
  %element = call i1 @names_element(ptr %x, ptr %key)
  br i1 %element, label %find, label %slow
find:
  %d_value_at = getelementptr i8, ptr %d, i64 $FLOAT_VALUE
  %amount = load double, ptr %d_value_at
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
  %items = getelementptr i8, ptr %back, i64 $TUPLE_ITEMS
  %x_at = getelementptr ptr, ptr %items, i64 1
  %x = load ptr, ptr %x_at
  %key_at = getelementptr ptr, ptr %items, i64 2
  %key = load ptr, ptr %key_at
  %views_word = load i64, ptr %words
  %views_at = getelementptr i8, ptr %shadows, i64 %views_word
  %views = load ptr, ptr %views_at
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
  %results = getelementptr i8, ptr %result, i64 $TUPLE_ITEMS
  store ptr @_Py_NoneStruct, ptr %results
  %second = getelementptr ptr, ptr %results, i64 1
  store ptr @_Py_NoneStruct, ptr %second
  %third = getelementptr ptr, ptr %results, i64 2
  store ptr %given, ptr %third
  ret ptr %result
slow:
  %done = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 3, ptr null)
  ret ptr %done
fail:
  ret ptr null
}
"""
)
TEXT = fill(pull_parts.TEXT + records.TEXT + TEXT + pull_rules.text(), pull_rules.names())
