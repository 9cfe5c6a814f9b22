"""What recording and running back small arrays share: what arrays look like, shadows, loops. (`pulls` says what for.)"""

from __future__ import annotations

from .pull_rules import moved

TEXT = (
    """
declare double @sin(double)
declare double @cos(double)
declare double @zyg_pow(double, double)
declare double @llvm.copysign.f64(double, double)
declare double @llvm.sqrt.f64(double)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare ptr @PyArray_New(ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)
declare ptr @PyLong_FromVoidPtr(ptr)
declare i32 @PyArray_SetBaseObject(ptr, ptr)
declare double @PyLong_AsDouble(ptr)
declare ptr @PyFloat_FromDouble(double)
declare ptr @PyErr_Occurred()
declare void @PyErr_Clear()
declare ptr @PyDict_GetItemWithError(ptr, ptr)
declare i32 @PyDict_SetItem(ptr, ptr, ptr)
declare i32 @PyDict_DelItem(ptr, ptr)
declare i64 @PyDict_Size(ptr)
declare i32 @PyList_Append(ptr, ptr)
declare ptr @PyTuple_New(i64)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyObject_CallMethodObjArgs(ptr, ptr, ...)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
@numpy.ndarray = external global i8
@numpy.float64 = external global i8
@PyFloat_Type = external global i8
@PyLong_Type = external global i8
@PyTuple_Type = external global i8
@_Py_NoneStruct = external global i8

declare ptr @PyArray_NewCopy(ptr, i32)
declare double @llvm.fabs.f64(double)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define internal i1 @is_array(ptr %x, ptr %descr) {
  %type = field ptr, %x, $OB_TYPE
  %array = icmp eq ptr %type, @numpy.ndarray
  br i1 %array, label %look, label %no
look:
  %its = field ptr, %x, $ARRAY_DESCR
  %same = icmp eq ptr %its, %descr
  %flags = field i32, %x, $ARRAY_FLAGS
  %aligned_bit = and i32 %flags, $FLAG_ALIGNED
  %aligned = icmp ne i32 %aligned_bit, 0
  %nd = field i32, %x, $ARRAY_NDIM
  %few = icmp ule i32 %nd, $LOOPS
  %a = and i1 %same, %aligned
  %b = and i1 %a, %few
  ret i1 %b
no:
  ret i1 false
}

; A number as a double.
define internal i1 @number(ptr %x, ptr %out) {
entry:
  %type = field ptr, %x, $OB_TYPE
  %float = icmp eq ptr %type, @PyFloat_Type
  %of_numpy = icmp eq ptr %type, @numpy.float64
  %plain = or i1 %float, %of_numpy
  br i1 %plain, label %read, label %other
read:
  %value = field double, %x, $FLOAT_VALUE
  store double %value, ptr %out
  ret i1 true
other:
  %int = icmp eq ptr %type, @PyLong_Type
  br i1 %int, label %convert, label %no
convert:
  %converted = call double @PyLong_AsDouble(ptr %x)
  store double %converted, ptr %out
  %error = call ptr @PyErr_Occurred()
  %fine = icmp eq ptr %error, null
  br i1 %fine, label %yes, label %clear
clear:
  call void @PyErr_Clear()
  ret i1 false
yes:
  ret i1 true
no:
  ret i1 false
}

; Sizes and steps of an array along each loop; false if it has not the axes that its map names.
define internal i1 @lay_out(ptr %x, ptr %map, ptr %sizes, ptr %steps) {
entry:
  %nd32 = field i32, %x, $ARRAY_NDIM
  %nd = sext i32 %nd32 to i64
  %shape = field ptr, %x, $ARRAY_SHAPE
  %strides = field ptr, %x, $ARRAY_STRIDES
  %first = load i8, ptr %map
  %aligned = icmp eq i8 %first, $ALIGNED
  %shift = sub i64 $LOOPS, %nd
  br label %each
each:
  %l = phi i64 [ 0, %entry ], [ %l1, %next ]
  %named8 = at i8, %map, %l
  %named = sext i8 %named8 to i64
  %by_place = sub i64 %l, %shift
  %axis = select i1 %aligned, i64 %by_place, i64 %named
  %size_at = getelementptr i64, ptr %sizes, i64 %l
  %step_at = getelementptr i64, ptr %steps, i64 %l
  %none = icmp slt i64 %axis, 0
  br i1 %none, label %stay, label %go
stay:
  store i64 1, ptr %size_at
  store i64 0, ptr %step_at
  br label %next
go:
  %there = icmp slt i64 %axis, %nd
  br i1 %there, label %read, label %no
read:
  %n = at i64, %shape, %axis
  store i64 %n, ptr %size_at
  %s = at i64, %strides, %axis
  store i64 %s, ptr %step_at
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %next, label %no
next:
  %l1 = add i64 %l, 1
  %more = icmp slt i64 %l1, $LOOPS
  br i1 %more, label %each, label %yes
yes:
  ret i1 true
no:
  ret i1 false
}

; The same of a number.
define internal void @stay(ptr %sizes, ptr %steps) {
  store <4 x i64> <i64 1, i64 1, i64 1, i64 1>, ptr %sizes, align 8
  store <4 x i64> zeroinitializer, ptr %steps, align 8
  ret void
}

; What was kept: an array, a number, or nothing.
define internal i1 @kept(ptr %x, ptr %descr, ptr %map, ptr %sizes, ptr %steps, ptr %place, ptr %value) {
  %none = icmp eq ptr %x, @_Py_NoneStruct
  br i1 %none, label %nothing, label %some
nothing:
  call void @stay(ptr %sizes, ptr %steps)
  store ptr %value, ptr %place
  store double 0.0, ptr %value
  ret i1 true
some:
  %array = call i1 @is_array(ptr %x, ptr %descr)
  br i1 %array, label %lay, label %maybe
lay:
  %data = field ptr, %x, $ARRAY_DATA
  store ptr %data, ptr %place
  %laid = call i1 @lay_out(ptr %x, ptr %map, ptr %sizes, ptr %steps)
  ret i1 %laid
maybe:
  call void @stay(ptr %sizes, ptr %steps)
  store ptr %value, ptr %place
  %number = call i1 @number(ptr %x, ptr %value)
  ret i1 %number
}

; Let an array have a shadow: false if there is no memory. It takes over the key by which the shadow is found, which may be null.
define internal i1 @remember(ptr %shadows, ptr %words, ptr %x, ptr %key, ptr %shadow) {
  %no_key = icmp eq ptr %key, null
  br i1 %no_key, label %no, label %set
set:
  %views = slot $VIEWS
  %unset = call i32 @PyDict_SetItem(ptr %views, ptr %key, ptr %shadow)
  call void @Py_DecRef(ptr %key)
  %keeping = slot $KEEPING
  %unkept = call i32 @PyList_Append(ptr %keeping, ptr %x)
  %wrong = or i32 %unset, %unkept
  %fine = icmp eq i32 %wrong, 0
  ret i1 %fine
no:
  ret i1 false
}

; The shadow of an array, made if there is none: a new reference; null with or without an error.
define internal ptr @shadow(ptr %shadows, ptr %words, ptr %x, ptr %descr, ptr %of_array) {
entry:
  %views = slot $VIEWS
  %key = call ptr @PyLong_FromVoidPtr(ptr %x)
  %failed = icmp eq ptr %key, null
  br i1 %failed, label %no, label %look
look:
  %found = call ptr @PyDict_GetItemWithError(ptr %views, ptr %key)
  %absent = icmp eq ptr %found, null
  br i1 %absent, label %make, label %have
have:
  call void @Py_IncRef(ptr %found)
  call void @Py_DecRef(ptr %key)
  ret ptr %found
make:
  %base = field ptr, %x, $ARRAY_BASE
  %owns = icmp eq ptr %base, null
  %flags = field i32, %x, $ARRAY_FLAGS
  %contiguous_bit = and i32 %flags, $FLAG_C_CONTIGUOUS
  %contiguous = icmp ne i32 %contiguous_bit, 0
  %nd = field i32, %x, $ARRAY_NDIM
  %some = icmp sgt i32 %nd, 0
  %a = and i1 %owns, %contiguous
  %own = and i1 %a, %some
  br i1 %own, label %new, label %ask
ask:
  call void @Py_DecRef(ptr %key)
  br i1 %owns, label %python, label %view
view:
  ; A view of an array that owns its memory has a view of the shadow of that.
  %base_array = call i1 @is_array(ptr %base, ptr %descr)
  br i1 %base_array, label %owner, label %python
owner:
  %base_base = field ptr, %base, $ARRAY_BASE
  %base_owns = icmp eq ptr %base_base, null
  %base_contiguous = call i1 @is_contiguous(ptr %base)
  %base_plain = and i1 %base_owns, %base_contiguous
  br i1 %base_plain, label %whole, label %python
whole:
  %whole_shadow = call ptr @shadow(ptr %shadows, ptr %words, ptr %base, ptr %descr, ptr %of_array)
  %whole_failed = icmp eq ptr %whole_shadow, null
  br i1 %whole_failed, label %no, label %compare
compare:
  %whole_array = call i1 @is_array(ptr %whole_shadow, ptr %descr)
  br i1 %whole_array, label %compare_sizes, label %unlike
compare_sizes:
  %whole_contiguous = call i1 @is_contiguous(ptr %whole_shadow)
  %whole_size = call i64 @size(ptr %whole_shadow)
  %base_size = call i64 @size(ptr %base)
  %same_size = icmp eq i64 %whole_size, %base_size
  %alike = and i1 %same_size, %whole_contiguous
  br i1 %alike, label %see, label %unlike
unlike:
  call void @Py_DecRef(ptr %whole_shadow)
  br label %python
see:
  %x_data = field ptr, %x, $ARRAY_DATA
  %base_data = field ptr, %base, $ARRAY_DATA
  %whole_data = field ptr, %whole_shadow, $ARRAY_DATA
  %x_word = ptrtoint ptr %x_data to i64
  %base_word = ptrtoint ptr %base_data to i64
  %distance = sub i64 %x_word, %base_word
  %seen_data = getelementptr i8, ptr %whole_data, i64 %distance
  %x_shape = field ptr, %x, $ARRAY_SHAPE
  %x_strides = field ptr, %x, $ARRAY_STRIDES
  %seen = call ptr @PyArray_New(ptr @numpy.ndarray, i32 %nd, ptr %x_shape, i32 $FLOAT64, ptr %x_strides, ptr %seen_data, i32 0,
                                i32 $FLAG_WRITEABLE, ptr null)
  %unseen = icmp eq ptr %seen, null
  br i1 %unseen, label %lose_whole, label %own_whole
lose_whole:
  call void @Py_DecRef(ptr %whole_shadow)
  ret ptr null
own_whole:
  %owned = call i32 @PyArray_SetBaseObject(ptr %seen, ptr %whole_shadow)
  %unowned = icmp ne i32 %owned, 0
  br i1 %unowned, label %lose_seen, label %put
put:
  %seen_key = call ptr @PyLong_FromVoidPtr(ptr %x)
  %put_ = call i1 @remember(ptr %shadows, ptr %words, ptr %x, ptr %seen_key, ptr %seen)
  br i1 %put_, label %give_seen, label %lose_seen
give_seen:
  ret ptr %seen
lose_seen:
  call void @Py_DecRef(ptr %seen)
  ret ptr null
python:
  %asked = call ptr (ptr, ptr, ...) @PyObject_CallMethodObjArgs(ptr %shadows, ptr %of_array, ptr %x, ptr null)
  ret ptr %asked
new:
  %made = call ptr @like(ptr %x)
  %unmade = icmp eq ptr %made, null
  br i1 %unmade, label %drop, label %fill
fill:
  %data = field ptr, %made, $ARRAY_DATA
  %size = call i64 @size(ptr %made)
  %bytes = mul i64 %size, 8
  call void @llvm.memset.p0.i64(ptr %data, i8 0, i64 %bytes, i1 false)
  %set = call i1 @remember(ptr %shadows, ptr %words, ptr %x, ptr %key, ptr %made)
  br i1 %set, label %done, label %lose
done:
  ret ptr %made
lose:
  call void @Py_DecRef(ptr %made)
  ret ptr null
drop:
  call void @Py_DecRef(ptr %key)
  br label %no
no:
  ret ptr null
}

; Where the cotangent of an operand goes: a shadow (a new reference in `owned`), a number, or nowhere.
define internal i1 @target(ptr %shadows, ptr %words, ptr %x, ptr %descr, ptr %of_array, ptr %map, ptr %sizes, ptr %steps,
                           ptr %place, ptr %value, ptr %owned, ptr %wanted) {
  store double 0.0, ptr %value
  store ptr null, ptr %owned
  store i1 false, ptr %wanted
  %array = call i1 @is_array(ptr %x, ptr %descr)
  br i1 %array, label %of_array_, label %other
other:
  %x_type = field ptr, %x, $OB_TYPE
  %of_others = icmp eq ptr %x_type, @numpy.ndarray
  br i1 %of_others, label %ask, label %no_array
ask:
  %asked = call ptr (ptr, ptr, ...) @PyObject_CallMethodObjArgs(ptr %shadows, ptr %of_array, ptr %x, ptr null)
  %unanswered = icmp eq ptr %asked, null
  br i1 %unanswered, label %no, label %got
no_array:
  call void @stay(ptr %sizes, ptr %steps)
  store ptr %value, ptr %place
  %none = icmp eq ptr %x, @_Py_NoneStruct
  br i1 %none, label %yes, label %maybe
maybe:
  %type = field ptr, %x, $OB_TYPE
  %float = icmp eq ptr %type, @PyFloat_Type
  %of_numpy = icmp eq ptr %type, @numpy.float64
  %int = icmp eq ptr %type, @PyLong_Type
  %one = or i1 %float, %of_numpy
  %number = or i1 %one, %int
  store i1 %number, ptr %wanted
  ret i1 %number
yes:
  ret i1 true
of_array_:
  %shadow = call ptr @shadow(ptr %shadows, ptr %words, ptr %x, ptr %descr, ptr %of_array)
  %failed = icmp eq ptr %shadow, null
  br i1 %failed, label %no, label %got
no:
  ret i1 false
got:
  %found = phi ptr [ %asked, %ask ], [ %shadow, %of_array_ ]
  store ptr %found, ptr %owned
  %fit = call i1 @is_array(ptr %found, ptr %descr)
  br i1 %fit, label %lay, label %no
lay:
  %data = field ptr, %found, $ARRAY_DATA
  store ptr %data, ptr %place
  %laid = call i1 @lay_out(ptr %found, ptr %map, ptr %sizes, ptr %steps)
  ret i1 %laid
}

define internal i1 @is_contiguous(ptr %x) {
  %flags = field i32, %x, $ARRAY_FLAGS
  %bit = and i32 %flags, $FLAG_C_CONTIGUOUS
  %yes = icmp ne i32 %bit, 0
  ret i1 %yes
}

define internal i64 @size(ptr %x) {
entry:
  %nd = field i32, %x, $ARRAY_NDIM
  %shape = field ptr, %x, $ARRAY_SHAPE
  br label %count
count:
  %k = phi i32 [ 0, %entry ], [ %k1, %times ]
  %total = phi i64 [ 1, %entry ], [ %product, %times ]
  %more = icmp slt i32 %k, %nd
  br i1 %more, label %times, label %done
times:
  %k64 = sext i32 %k to i64
  %n = at i64, %shape, %k64
  %product = mul i64 %total, %n
  %k1 = add i32 %k, 1
  br label %count
done:
  ret i64 %total
}

; A new array of the shape of an array, in the order of rows; null if there is no memory.
define internal ptr @like(ptr %x) {
  %nd = field i32, %x, $ARRAY_NDIM
  %shape = field ptr, %x, $ARRAY_SHAPE
  %made = call ptr @PyArray_New(ptr @numpy.ndarray, i32 %nd, ptr %shape, i32 $FLOAT64, ptr null, ptr null, i32 0, i32 0, ptr null)
  ret ptr %made
}

; A pair of new references, which it takes over; null if there is no memory.
define internal ptr @pair(ptr %x, ptr %y) {
  %made = call ptr @PyTuple_New(i64 2)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %no, label %fill
fill:
  put %x, %made, 0
  put %y, %made, 1
  ret ptr %made
no:
  call void @Py_DecRef(ptr %x)
  call void @Py_DecRef(ptr %y)
  ret ptr null
}

; A tuple of four.
define internal ptr @pack4(ptr %a, ptr %b, ptr %c, ptr %d) {
  %made = call ptr @PyTuple_New(i64 4)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %no, label %fill
fill:
  call void @Py_IncRef(ptr %a)
  call void @Py_IncRef(ptr %b)
  call void @Py_IncRef(ptr %c)
  call void @Py_IncRef(ptr %d)
  put %a, %made, 0
  put %b, %made, 1
  put %c, %made, 2
  put %d, %made, 3
  ret ptr %made
no:
  ret ptr null
}

declare i64 @PyLong_AsLong(ptr)

; Whether a key names an element of an array by its place, or by a tuple of places.
define internal i1 @names_element(ptr %x, ptr %key) {
entry:
  %nd32 = field i32, %x, $ARRAY_NDIM
  %nd = sext i32 %nd32 to i64
  %type = field ptr, %key, $OB_TYPE
  %int = icmp eq ptr %type, @PyLong_Type
  br i1 %int, label %one, label %several
one:
  %vector = icmp eq i64 %nd, 1
  ret i1 %vector
several:
  %tuple = icmp eq ptr %type, @PyTuple_Type
  br i1 %tuple, label %count, label %no
count:
  %length = field i64, %key, $OB_SIZE
  %all = icmp eq i64 %length, %nd
  %some = icmp sgt i64 %nd, 0
  %good = and i1 %all, %some
  br i1 %good, label %each, label %no
each:
  %k = phi i64 [ 0, %count ], [ %k1, %next ]
  %items = getelementptr i8, ptr %key, i64 $TUPLE_ITEMS
  %item = at ptr, %items, %k
  %item_type = field ptr, %item, $OB_TYPE
  %item_int = icmp eq ptr %item_type, @PyLong_Type
  br i1 %item_int, label %next, label %no
next:
  %k1 = add i64 %k, 1
  %more = icmp slt i64 %k1, %nd
  br i1 %more, label %each, label %yes
yes:
  ret i1 true
no:
  ret i1 false
}

; Where that element is, null if there is none.
define internal ptr @element(ptr %x, ptr %key) {
entry:
  %nd32 = field i32, %x, $ARRAY_NDIM
  %nd = sext i32 %nd32 to i64
  %shape = field ptr, %x, $ARRAY_SHAPE
  %strides = field ptr, %x, $ARRAY_STRIDES
  %data = field ptr, %x, $ARRAY_DATA
  %type = field ptr, %key, $OB_TYPE
  %int = icmp eq ptr %type, @PyLong_Type
  %items = getelementptr i8, ptr %key, i64 $TUPLE_ITEMS
  br label %each
each:
  %k = phi i64 [ 0, %entry ], [ %k1, %next ]
  %at = phi ptr [ %data, %entry ], [ %further, %next ]
  br i1 %int, label %index, label %pick
pick:
  %item_ = at ptr, %items, %k
  br label %index
index:
  %item = phi ptr [ %key, %each ], [ %item_, %pick ]
  %given = call i64 @PyLong_AsLong(ptr %item)
  %n = at i64, %shape, %k
  %negative = icmp slt i64 %given, 0
  %from_end = add i64 %given, %n
  %place = select i1 %negative, i64 %from_end, i64 %given
  %inside = icmp ult i64 %place, %n
  br i1 %inside, label %next, label %no
next:
  %stride = at i64, %strides, %k
  %offset = mul i64 %place, %stride
  %further = getelementptr i8, ptr %at, i64 %offset
  %k1 = add i64 %k, 1
  %more = icmp slt i64 %k1, %nd
  br i1 %more, label %each, label %done
done:
  ret ptr %further
no:
  call void @PyErr_Clear()
  ret ptr null
}

define internal void @run(ptr %rule, i64 %n0, i64 %n1, i64 %n2, i64 %n3, ptr %places, ptr %steps) {
entry:
  %here = alloca [5 x ptr]
  br label %outer
outer:
  %i0 = phi i64 [ 0, %entry ], [ %i0n, %outer.next ]
  br label %middle
middle:
  %i1 = phi i64 [ 0, %outer ], [ %i1n, %middle.next ]
  br label %inner
inner:
  %i2 = phi i64 [ 0, %middle ], [ %i2n, %inner ]
"""
    + moved()
    + """
  call void %rule(i64 %n3, ptr %here, ptr %steps)
  %i2n = add i64 %i2, 1
  %more2 = icmp slt i64 %i2n, %n2
  br i1 %more2, label %inner, label %middle.next
middle.next:
  %i1n = add i64 %i1, 1
  %more1 = icmp slt i64 %i1n, %n1
  br i1 %more1, label %middle, label %outer.next
outer.next:
  %i0n = add i64 %i0, 1
  %more0 = icmp slt i64 %i0n, %n0
  br i1 %more0, label %outer, label %done
done:
  ret void
}
"""
)
