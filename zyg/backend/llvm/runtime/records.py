"""Records of what is done with small arrays, by operators and functions, and of elements of vectors. (`pulls` says what for.)"""

from __future__ import annotations

from .pull_rules import extents

TEXT = """
; A copy in the order of rows: a new reference, or null.
define internal ptr @copy(ptr %x) {
  %flags = field i32, %x, $ARRAY_FLAGS
  %contiguous_bit = and i32 %flags, $FLAG_C_CONTIGUOUS
  %contiguous = icmp ne i32 %contiguous_bit, 0
  br i1 %contiguous, label %plain, label %general
general:
  %made = call ptr @PyArray_NewCopy(ptr %x, i32 0)
  ret ptr %made
plain:
  %new = call ptr @like(ptr %x)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %no, label %fill
fill:
  %from = field ptr, %x, $ARRAY_DATA
  %to = field ptr, %new, $ARRAY_DATA
  %size = call i64 @size(ptr %x)
  %bytes = mul i64 %size, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  ret ptr %new
no:
  ret ptr null
}

; What is kept, by its number in KEPT: a new reference, or null.
define internal ptr @keep(i8 %which, ptr %y, ptr %a, ptr %b, ptr %descr) {
  switch i8 %which, label %none [ i8 $KEPT_y, label %the_y
                                  i8 $KEPT_a, label %the_a
                                  i8 $KEPT_b, label %the_b ]
none:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
the_y:
  br label %some
the_a:
  br label %some
the_b:
  br label %some
some:
  %x = phi ptr [ %y, %the_y ], [ %a, %the_a ], [ %b, %the_b ]
  %array = call i1 @is_array(ptr %x, ptr %descr)
  br i1 %array, label %copied, label %itself
copied:
  %made = call ptr @copy(ptr %x)
  ret ptr %made
itself:
  call void @Py_IncRef(ptr %x)
  ret ptr %x
}

declare ptr @PyObject_GetItem(ptr, ptr)

; (x, key): an element of an array. `self` is (what does it in Python, what runs backs, float64).
define ptr @zyg_item(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
entry:
  %in_python = item %self, 0
  %run = item %self, 1
  %descr = item %self, 2
  %two = icmp eq i64 %nargs, 2
  br i1 %two, label %look, label %slow
look:
  %x = at ptr, %args, 0
  %key = at ptr, %args, 1
  %array = call i1 @is_array(ptr %x, ptr %descr)
  br i1 %array, label %ask, label %slow
ask:
  %element = call i1 @names_element(ptr %x, ptr %key)
  br i1 %element, label %get, label %slow
get:
  %y = call ptr @PyObject_GetItem(ptr %x, ptr %key)
  %failed = icmp eq ptr %y, null
  br i1 %failed, label %fail, label %got
got:
  %y_type = field ptr, %y, $OB_TYPE
  %number = icmp eq ptr %y_type, @numpy.float64
  br i1 %number, label %record, label %other
record:
  %back_ = call ptr @PyTuple_New(i64 3)
  %no_back = icmp eq ptr %back_, null
  br i1 %no_back, label %drop, label %fill
fill:
  call void @Py_IncRef(ptr %run)
  call void @Py_IncRef(ptr %x)
  call void @Py_IncRef(ptr %key)
  put %run, %back_, 0
  put %x, %back_, 1
  put %key, %back_, 2
  %pair = call ptr @pair(ptr %y, ptr %back_)
  ret ptr %pair
other:
  call void @Py_DecRef(ptr %y)
  br label %slow
drop:
  call void @Py_DecRef(ptr %y)
  ret ptr null
slow:
  %done = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 %nargs, ptr null)
  ret ptr %done
fail:
  ret ptr null
}

; (a, b) or (a). `self` is (what records in Python, a function, zyg_pull, the record, float64, plans for arrays, for an array and a
; number, for a number and an array, and what runs the back of two numbers, or None; of a product: for vectors, vector and matrix, matrix
; and vector, matrices; of a power: of a square, of others).
define ptr @zyg_record(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
entry:
  %sizes = alloca [5 x [$LOOPS x i64]]
  %steps = alloca [5 x [$LOOPS x i64]]
  %places = alloca [5 x ptr]
  %values = alloca [5 x double]
  %in_python = item %self, 0
  %function = item %self, 1
  %pull = item %self, 2
  %record_object = item %self, 3
  %record = getelementptr i8, ptr %record_object, i64 $BYTES_DATA
  %descr = item %self, 4
  %items = getelementptr i8, ptr %self, i64 $TUPLE_ITEMS
  %plans = getelementptr ptr, ptr %items, i64 5
  %kind = load i64, ptr %record
  %which = at i64, %record, 1
  %limit = at i64, %record, 2
  %cases = getelementptr i64, ptr %record, i64 3
  %unary = icmp eq i64 %kind, $FUNCTION
  %needed = select i1 %unary, i64 1, i64 2
  %enough = icmp eq i64 %nargs, %needed
  %no_names = icmp eq ptr %kwnames, null
  %right_count = and i1 %enough, %no_names
  br i1 %right_count, label %look, label %slow
look:
  %a = at ptr, %args, 0
  %a_array = call i1 @is_array(ptr %a, ptr %descr)
  br i1 %unary, label %one, label %two
one:
  br i1 %a_array, label %some_one, label %slow
some_one:
  %one_nd = field i32, %a, $ARRAY_NDIM
  %one_some = icmp sgt i32 %one_nd, 0
  br i1 %one_some, label %by_function, label %slow
two:
  %b2 = at ptr, %args, 1
  %b_array = call i1 @is_array(ptr %b2, ptr %descr)
  switch i64 %kind, label %operands [ i64 $PRODUCT, label %arrays
                                      i64 $POWER, label %power ]
power:
  %power_value = getelementptr double, ptr %values, i64 1
  %exponent_read = call i1 @number(ptr %b2, ptr %power_value)
  %exponent = load double, ptr %power_value
  %exponent_some = fcmp one double %exponent, 0.0
  br i1 %a_array, label %power_axes, label %slow
power_axes:
  %power_nd = field i32, %a, $ARRAY_NDIM
  %power_has = icmp sgt i32 %power_nd, 0
  %power_some = and i1 %exponent_read, %exponent_some
  %power_usual = and i1 %power_has, %power_some
  %square = fcmp oeq double %exponent, 2.0
  %power_case = select i1 %square, i32 0, i32 1
  br i1 %power_usual, label %by_function, label %slow
arrays:
  %both_arrays = and i1 %a_array, %b_array
  br i1 %both_arrays, label %by_axes, label %slow
by_axes:
  %a_nd = field i32, %a, $ARRAY_NDIM
  %b_nd = field i32, %b2, $ARRAY_NDIM
  %a_less = sub i32 %a_nd, 1
  %b_less = sub i32 %b_nd, 1
  %a_few = icmp ult i32 %a_less, 2
  %b_few = icmp ult i32 %b_less, 2
  %few_axes = and i1 %a_few, %b_few
  %a_twice = shl i32 %a_less, 1
  %product_case = add i32 %a_twice, %b_less
  br i1 %few_axes, label %by_function, label %slow
by_function:
  %case_f = phi i32 [ 0, %some_one ], [ %product_case, %by_axes ], [ %power_case, %power_axes ]
  %b_f = phi ptr [ @_Py_NoneStruct, %some_one ], [ %b2, %by_axes ], [ %b2, %power_axes ]
  %y_f = call ptr @PyObject_Vectorcall(ptr %function, ptr %args, i64 %nargs, ptr null)
  %failed_f = icmp eq ptr %y_f, null
  br i1 %failed_f, label %fail, label %of_type
of_type:
  %y_is_array = call i1 @is_array(ptr %y_f, ptr %descr)
  %y_type = field ptr, %y_f, $OB_TYPE
  %y_float = icmp eq ptr %y_type, @numpy.float64
  %dot_f = icmp eq i32 %case_f, 0
  %as_dot_ = and i1 %y_float, %dot_f
  %of_product = icmp eq i64 %kind, $PRODUCT
  %as_dot = and i1 %as_dot_, %of_product
  %expected = or i1 %y_is_array, %as_dot
  br i1 %expected, label %chosen_f, label %drop_f
drop_f:
  call void @Py_DecRef(ptr %y_f)
  br label %slow
chosen_f:
  br label %made
operands:
  br i1 %a_array, label %a_is, label %a_is_not
a_is:
  br i1 %b_array, label %match, label %left
a_is_not:
  br i1 %b_array, label %right, label %neither
neither:
  ; Two numbers, of which one is NumPy's: NumPy calculates.
  %run_numbers = item %self, 8
  %numbers_known = icmp ne ptr %run_numbers, @_Py_NoneStruct
  %ta = field ptr, %a, $OB_TYPE
  %tb = field ptr, %b2, $OB_TYPE
  %a_numpy = icmp eq ptr %ta, @numpy.float64
  %b_numpy = icmp eq ptr %tb, @numpy.float64
  %a_float = icmp eq ptr %ta, @PyFloat_Type
  %b_float = icmp eq ptr %tb, @PyFloat_Type
  %a_int = icmp eq ptr %ta, @PyLong_Type
  %b_int = icmp eq ptr %tb, @PyLong_Type
  %a_python = or i1 %a_float, %a_int
  %b_python = or i1 %b_float, %b_int
  %a_real = or i1 %a_numpy, %a_python
  %b_real = or i1 %b_numpy, %b_python
  %one_numpy = or i1 %a_numpy, %b_numpy
  %both_real = and i1 %a_real, %b_real
  %two_numbers = and i1 %one_numpy, %both_real
  %numbers = and i1 %two_numbers, %numbers_known
  br i1 %numbers, label %calculate, label %slow
calculate:
  %y_n = call ptr @PyObject_Vectorcall(ptr %function, ptr %args, i64 2, ptr null)
  %failed_n = icmp eq ptr %y_n, null
  br i1 %failed_n, label %fail, label %number_back
number_back:
  %back_n = call ptr @pack4(ptr %run_numbers, ptr %y_n, ptr %a, ptr %b2)
  %no_back_n = icmp eq ptr %back_n, null
  br i1 %no_back_n, label %drop_n, label %number_pair
number_pair:
  %pair_n = call ptr @pair(ptr %y_n, ptr %back_n)
  ret ptr %pair_n
drop_n:
  call void @Py_DecRef(ptr %y_n)
  ret ptr null
match:
  ; One of them has the shape of the result: that with more axes, or more elements.
  %ca = call i1 @is_contiguous(ptr %a)
  %cb = call i1 @is_contiguous(ptr %b2)
  %cc = and i1 %ca, %cb
  %ma_nd = field i32, %a, $ARRAY_NDIM
  %mb_nd = field i32, %b2, $ARRAY_NDIM
  %size_a = call i64 @size(ptr %a)
  %size_b = call i64 @size(ptr %b2)
  %more_axes = icmp sgt i32 %ma_nd, %mb_nd
  %same_axes = icmp eq i32 %ma_nd, %mb_nd
  %more_elements = icmp sge i64 %size_a, %size_b
  %same_and_more = and i1 %same_axes, %more_elements
  %a_whole = or i1 %more_axes, %same_and_more
  %whole2 = select i1 %a_whole, ptr %a, ptr %b2
  %whole_size = select i1 %a_whole, i64 %size_a, i64 %size_b
  %part_size = select i1 %a_whole, i64 %size_b, i64 %size_a
  %whole_is = icmp sge i64 %whole_size, %part_size
  %match_ok = and i1 %cc, %whole_is
  br i1 %match_ok, label %begin, label %slow
left:
  %left_ok = call i1 @is_contiguous(ptr %a)
  br i1 %left_ok, label %begin, label %slow
right:
  %right_ok = call i1 @is_contiguous(ptr %b2)
  br i1 %right_ok, label %begin, label %slow
begin:
  %case_a = phi i32 [ 0, %match ], [ 1, %left ], [ 2, %right ]
  %whole = phi ptr [ %whole2, %match ], [ %a, %left ], [ %b2, %right ]
  %case_a64 = sext i32 %case_a to i64
  %plan_there = at ptr, %plans, %case_a64
  %no_plan = icmp eq ptr %plan_there, @_Py_NoneStruct
  br i1 %no_plan, label %slow, label %measure
measure:
  %total = call i64 @size(ptr %whole)
  %not_many = icmp sle i64 %total, %limit
  %whole_nd = field i32, %whole, $ARRAY_NDIM
  %has_axes = icmp sgt i32 %whole_nd, 0
  %usual = and i1 %not_many, %has_axes
  br i1 %usual, label %first_operand, label %slow
first_operand:
  role p
  %laid_p = call i1 @kept(ptr %a, ptr %descr, ptr @aligned, ptr %sizes_p, ptr %steps_p, ptr %place_p, ptr %value_p)
  br i1 %laid_p, label %second_operand, label %slow
second_operand:
  role q
  %laid_q = call i1 @kept(ptr %b2, ptr %descr, ptr @aligned, ptr %sizes_q, ptr %steps_q, ptr %place_q, ptr %value_q)
  br i1 %laid_q, label %result, label %slow
result:
  %y_a = call ptr @like(ptr %whole)
  %failed_a = icmp eq ptr %y_a, null
  br i1 %failed_a, label %fail, label %lay_y
lay_y:
  %y_data = field ptr, %y_a, $ARRAY_DATA
  store ptr %y_data, ptr %places
  %laid_y = call i1 @lay_out(ptr %y_a, ptr @aligned, ptr %sizes, ptr %steps)
  %sizes_a = getelementptr [$LOOPS x i64], ptr %sizes, i64 3
  %steps_a = getelementptr [$LOOPS x i64], ptr %steps, i64 3
  call void @stay(ptr %sizes_a, ptr %steps_a)
  %sizes_b = getelementptr [$LOOPS x i64], ptr %sizes, i64 4
  %steps_b = getelementptr [$LOOPS x i64], ptr %steps, i64 4
  call void @stay(ptr %sizes_b, ptr %steps_b)
  %place_a = getelementptr ptr, ptr %places, i64 3
  %place_b = getelementptr ptr, ptr %places, i64 4
  store ptr %values, ptr %place_a
  store ptr %values, ptr %place_b
  store double 0.0, ptr %values
  br label %extents
extents:
EXTENTS
  %n01 = mul i64 %n0, %n1
  %n23 = mul i64 %n2, %n3
  %count = mul i64 %n01, %n23
  ; The whole one is as large as the result.
  %as_whole = icmp eq i64 %count, %total
  %fit_whole = and i1 %fit, %as_whole
  %good = and i1 %fit_whole, %laid_y
  br i1 %good, label %go, label %drop_a
go:
  %rule = at ptr, @arithmetics, %which
  call void @run(ptr %rule, i64 %n0, i64 %n1, i64 %n2, i64 %n3, ptr %places, ptr %steps)
  %doubt = load double, ptr %values
  %sure = fcmp oeq double %doubt, 0.0
  br i1 %sure, label %made, label %drop_a
drop_a:
  call void @Py_DecRef(ptr %y_a)
  br label %slow
made:
  %case = phi i32 [ %case_f, %chosen_f ], [ %case_a, %go ]
  %y = phi ptr [ %y_f, %chosen_f ], [ %y_a, %go ]
  %b = phi ptr [ %b_f, %chosen_f ], [ %b2, %go ]
  %case64 = sext i32 %case to i64
  %plan = at ptr, %plans, %case64
  %is_product = icmp eq i64 %kind, $PRODUCT
  %how_case = select i1 %is_product, i64 0, i64 %case64
  %how = getelementptr [$CASE_BYTES x i8], ptr %cases, i64 %how_case
  %keep_p = load i8, ptr %how
  %keep_q = at i8, %how, 1
  %want_a8 = at i8, %how, 2
  %want_a = icmp ne i8 %want_a8, 0
  %want_b8 = at i8, %how, 3
  %want_b = icmp ne i8 %want_b8, 0
  %p = call ptr @keep(i8 %keep_p, ptr %y, ptr %a, ptr %b, ptr %descr)
  %no_p = icmp eq ptr %p, null
  br i1 %no_p, label %drop_y, label %keep_second
keep_second:
  %q = call ptr @keep(i8 %keep_q, ptr %y, ptr %a, ptr %b, ptr %descr)
  %no_q = icmp eq ptr %q, null
  br i1 %no_q, label %drop_p, label %pack
pack:
  %back = call ptr @PyTuple_New(i64 7)
  %no_back = icmp eq ptr %back, null
  br i1 %no_back, label %drop_q, label %fill
fill:
  %a_ = select i1 %want_a, ptr %a, ptr @_Py_NoneStruct
  %b_ = select i1 %want_b, ptr %b, ptr @_Py_NoneStruct
  call void @Py_IncRef(ptr %pull)
  call void @Py_IncRef(ptr %y)
  call void @Py_IncRef(ptr %a_)
  call void @Py_IncRef(ptr %b_)
  call void @Py_IncRef(ptr %plan)
  put %pull, %back, 0
  put %y, %back, 1
  put %a_, %back, 2
  put %b_, %back, 3
  put %p, %back, 4
  put %q, %back, 5
  put %plan, %back, 6
  %pair = call ptr @pair(ptr %y, ptr %back)
  ret ptr %pair
drop_q:
  call void @Py_DecRef(ptr %q)
  br label %drop_p
drop_p:
  call void @Py_DecRef(ptr %p)
  br label %drop_y
drop_y:
  call void @Py_DecRef(ptr %y)
  br label %fail
slow:
  %done = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 %nargs, ptr %kwnames)
  ret ptr %done
fail:
  ret ptr null
}

@aligned = internal constant [$LOOPS x i8] [i8 $ALIGNED, i8 $ALIGNED, i8 $ALIGNED, i8 $ALIGNED]
""".replace("EXTENTS", extents())
