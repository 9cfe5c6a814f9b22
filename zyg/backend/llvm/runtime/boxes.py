"""Arrays for Python: the argument that it is, a view, or a fresh array."""

from .layout import fill

TEXT = fill(
    """
declare i32 @PyArray_SetBaseObject(ptr, ptr)
declare ptr @PyWeakref_NewRef(ptr, ptr)
declare i1 @zyg_keep_object(ptr, ptr)
declare ptr @PyArray_New(ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)
declare void @Py_DecRef(ptr)
declare void @Py_IncRef(ptr)
@zyg_array_handler = external global i8
@numpy.memmap = external global i8
@numpy.ndarray = external global i8

define internal i1 @is_array(ptr %object) {
  %class_at = getelementptr i8, ptr %object, i64 $OB_TYPE
  %class = load ptr, ptr %class_at
  %plain = icmp eq ptr %class, @numpy.ndarray
  %mapped = icmp eq ptr %class, @numpy.memmap
  %either = or i1 %plain, %mapped
  ret i1 %either
}

; While the call lasts, the memory of an array that Python owns stays where it is: NumPy does not resize arrays to which
; there are weak references, even if asked not to look.  False with an exception set, or if there is no memory.
define i1 @zyg_pin(ptr %ctx, ptr %owner) {
entry:
  %number = ptrtoint ptr %owner to i64
  %tag = and i64 %number, 1
  %ours = icmp eq i64 %tag, 0
  br i1 %ours, label %done, label %theirs
theirs:
  %first = getelementptr i8, ptr %owner, i64 -1
  br label %each
each:
  %object = phi ptr [ %first, %theirs ], [ %base, %up ]
  %nothing = icmp eq ptr %object, null
  br i1 %nothing, label %done, label %look
look:
  %is_array = call i1 @is_array(ptr %object)
  br i1 %is_array, label %hold, label %done
hold:
  %pin = call ptr @PyWeakref_NewRef(ptr %object, ptr null)
  %failed = icmp eq ptr %pin, null
  br i1 %failed, label %no, label %keep
keep:
  %kept = call i1 @zyg_keep_object(ptr %ctx, ptr %pin)
  br i1 %kept, label %up, label %no
up:
  %base_at = getelementptr i8, ptr %object, i64 $ARRAY_BASE
  %base = load ptr, ptr %base_at
  br label %each
done:
  ret i1 true
no:
  ret i1 false
}

; Whether the ndarray shows just these data.
define internal i1 @shows(ptr %object, ptr %data, i32 %type, i32 %nd, ptr %dims, ptr %strides, i64 %itemsize) {
entry:
  %is_array = call i1 @is_array(ptr %object)
  br i1 %is_array, label %same_data, label %no
same_data:
  %data_at = getelementptr i8, ptr %object, i64 $ARRAY_DATA
  %its_data = load ptr, ptr %data_at
  %data_equal = icmp eq ptr %its_data, %data
  %nd_at = getelementptr i8, ptr %object, i64 $ARRAY_NDIM
  %its_nd = load i32, ptr %nd_at
  %nd_equal = icmp eq i32 %its_nd, %nd
  %descr_at = getelementptr i8, ptr %object, i64 $ARRAY_DESCR
  %descr = load ptr, ptr %descr_at
  %type_at = getelementptr i8, ptr %descr, i64 $DESCR_TYPE_NUMBER
  %its_type = load i32, ptr %type_at
  ; The real part of a complex array starts where that does, with the same strides.
  %it_is_complex = icmp eq i32 %its_type, $COMPLEX128
  %shown_is_complex = icmp eq i32 %type, $COMPLEX128
  %parts_equal = icmp eq i1 %it_is_complex, %shown_is_complex
  ; Memory of which a part was shown before is owned by an array of bytes, as many as it may have of items.
  %it_is_bytes = icmp eq i32 %its_type, $UBYTE
  %shown_is_bytes = icmp eq i32 %type, $UBYTE
  %bytes_equal = icmp eq i1 %it_is_bytes, %shown_is_bytes
  %kind_equal = and i1 %parts_equal, %bytes_equal
  %place_equal = and i1 %data_equal, %nd_equal
  %both = and i1 %place_equal, %kind_equal
  br i1 %both, label %contiguity, label %no
contiguity:
  %no_strides = icmp eq ptr %strides, null
  %flags_at = getelementptr i8, ptr %object, i64 $ARRAY_FLAGS
  %flags = load i32, ptr %flags_at
  %c_bit = and i32 %flags, $FLAG_C_CONTIGUOUS
  %is_c = icmp ne i32 %c_bit, 0
  %with_strides = xor i1 %no_strides, true
  %layout_ok = or i1 %is_c, %with_strides
  br i1 %layout_ok, label %shapes, label %no
shapes:
  %its_dims_at = getelementptr i8, ptr %object, i64 $ARRAY_SHAPE
  %its_dims = load ptr, ptr %its_dims_at
  %its_strides_at = getelementptr i8, ptr %object, i64 $ARRAY_STRIDES
  %its_strides = load ptr, ptr %its_strides_at
  %n = sext i32 %nd to i64
  br label %each
each:
  %k = phi i64 [ 0, %shapes ], [ %k1, %next ]
  %more = icmp slt i64 %k, %n
  br i1 %more, label %dim, label %yes
dim:
  %a_at = getelementptr i64, ptr %dims, i64 %k
  %a = load i64, ptr %a_at
  %b_at = getelementptr i64, ptr %its_dims, i64 %k
  %b = load i64, ptr %b_at
  %dim_equal = icmp eq i64 %a, %b
  br i1 %dim_equal, label %stride, label %no
stride:
  br i1 %no_strides, label %next, label %compare
compare:
  %c_at = getelementptr i64, ptr %strides, i64 %k
  %c = load i64, ptr %c_at
  %d_at = getelementptr i64, ptr %its_strides, i64 %k
  %d = load i64, ptr %d_at
  %stride_equal = icmp eq i64 %c, %d
  br i1 %stride_equal, label %next, label %no
next:
  %k1 = add i64 %k, 1
  br label %each
yes:
  ret i1 true
no:
  ret i1 false
}

; An ndarray on memory that `base` owns (a new reference to it is taken).
define internal ptr @view(ptr %base, ptr %data, i32 %type, i32 %nd, ptr %dims, ptr %strides) {
entry:
  %is_array = call i1 @is_array(ptr %base)
  br i1 %is_array, label %its_flags, label %make
its_flags:
  %flags_at = getelementptr i8, ptr %base, i64 $ARRAY_FLAGS
  %flags = load i32, ptr %flags_at
  %writeable = and i32 %flags, $FLAG_WRITEABLE
  br label %make
make:
  %writes = phi i32 [ 0, %entry ], [ %writeable, %its_flags ]
  %all = or i32 %writes, $FLAG_ALIGNED
  %made = call ptr @PyArray_New(ptr @numpy.ndarray, i32 %nd, ptr %dims, i32 %type, ptr %strides, ptr %data, i32 0,
                                i32 %all, ptr null)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %null, label %own
own:
  call void @Py_IncRef(ptr %base)
  %status = call i32 @PyArray_SetBaseObject(ptr %made, ptr %base)
  %bad = icmp ne i32 %status, 0
  br i1 %bad, label %drop, label %done
drop:
  call void @Py_DecRef(ptr %made)
  br label %null
done:
  ret ptr %made
null:
  ret ptr null
}

; An ndarray that owns the data of a header from now on: the header keeps a reference to it, so that compiled code may
; go on using them; unless it is the `last` that is done with them, there is a weak reference, as for `zyg_pin`.
define internal ptr @hand_over(ptr %header, i32 %type, i32 %nd, ptr %dims, ptr %strides, i1 %last) {
  %data_at = getelementptr i8, ptr %header, i64 $H_data
  %data = load ptr, ptr %data_at
  %made = call ptr @PyArray_New(ptr @numpy.ndarray, i32 %nd, ptr %dims, i32 %type, ptr %strides, ptr %data, i32 0,
                                i32 1281, ptr null)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %done, label %own
own:
  %flags_at = getelementptr i8, ptr %made, i64 $ARRAY_FLAGS
  %flags = load i32, ptr %flags_at
  %owning = or i32 %flags, $FLAG_OWNDATA
  store i32 %owning, ptr %flags_at
  call void @Py_IncRef(ptr @zyg_array_handler)
  %handler_at = getelementptr i8, ptr %made, i64 $ARRAY_HANDLER
  store ptr @zyg_array_handler, ptr %handler_at
  br i1 %last, label %pinned, label %make_pin
make_pin:
  %weak = call ptr @PyWeakref_NewRef(ptr %made, ptr null)
  br label %pinned
pinned:
  %pin = phi ptr [ null, %own ], [ %weak, %make_pin ]
  %pin_at = getelementptr i8, ptr %header, i64 $H_pin
  store ptr %pin, ptr %pin_at
  %object_at = getelementptr i8, ptr %header, i64 $H_object
  store ptr %made, ptr %object_at
  call void @Py_IncRef(ptr %made)
  br label %done
done:
  ret ptr %made
}

; An array for Python: the argument that it is, a view, or a fresh array; a new reference or null.
define ptr @zyg_box_any(ptr %data, ptr %owner, i32 %type, i32 %nd, ptr %dims, ptr %strides, i64 %itemsize,
                          i1 %last) {
entry:
  %number = ptrtoint ptr %owner to i64
  %bit = and i64 %number, 1
  %tagged = icmp ne i64 %bit, 0
  br i1 %tagged, label %python, label %fresh
python:
  %object = getelementptr i8, ptr %owner, i64 -1
  br label %existing
existing:
  %base = phi ptr [ %object, %python ], [ %theirs, %known ]
  %same = call i1 @shows(ptr %base, ptr %data, i32 %type, i32 %nd, ptr %dims, ptr %strides, i64 %itemsize)
  br i1 %same, label %itself, label %on_base
itself:
  call void @Py_IncRef(ptr %base)
  ret ptr %base
on_base:
  %shown = call ptr @view(ptr %base, ptr %data, i32 %type, i32 %nd, ptr %dims, ptr %strides)
  ret ptr %shown
fresh:
  %object_at = getelementptr i8, ptr %owner, i64 $H_object
  %theirs = load ptr, ptr %object_at
  %free = icmp eq ptr %theirs, null
  br i1 %free, label %whole, label %known
known:
  br label %existing
whole:
  %data_at = getelementptr i8, ptr %owner, i64 $H_data
  %its_data = load ptr, ptr %data_at
  %from_start = icmp eq ptr %its_data, %data
  %contiguous = icmp eq ptr %strides, null
  br i1 %from_start, label %count, label %part
count:
  %k = phi i64 [ 0, %whole ], [ %k1, %next ]
  %total = phi i64 [ %itemsize, %whole ], [ %product, %next ]
  %extent = phi i64 [ %itemsize, %whole ], [ %reached, %next ]
  %n = sext i32 %nd to i64
  %more = icmp slt i64 %k, %n
  br i1 %more, label %times, label %compare
times:
  %dim_at = getelementptr i64, ptr %dims, i64 %k
  %dim = load i64, ptr %dim_at
  %product = mul i64 %total, %dim
  br i1 %contiguous, label %next, label %step
step:
  %stride_at = getelementptr i64, ptr %strides, i64 %k
  %stride = load i64, ptr %stride_at
  %steps = sub i64 %dim, 1
  %way = mul i64 %steps, %stride
  %further = add i64 %extent, %way
  br label %next
next:
  %reached = phi i64 [ %product, %times ], [ %further, %step ]
  %k1 = add i64 %k, 1
  br label %count
compare:
  %bytes_at = getelementptr i8, ptr %owner, i64 $H_bytes
  %bytes = load i64, ptr %bytes_at
  %all = icmp eq i64 %total, %bytes
  %no_gaps = icmp eq i64 %extent, %bytes
  %its_all = and i1 %all, %no_gaps
  br i1 %its_all, label %give, label %part
give:
  %given = call ptr @hand_over(ptr %owner, i32 %type, i32 %nd, ptr %dims, ptr %strides, i1 %last)
  ret ptr %given
part:
  %size = alloca i64
  %part_bytes_at = getelementptr i8, ptr %owner, i64 $H_bytes
  %part_bytes = load i64, ptr %part_bytes_at
  store i64 %part_bytes, ptr %size
  %memory = call ptr @hand_over(ptr %owner, i32 $UBYTE, i32 1, ptr %size, ptr null, i1 %last)
  %no_memory = icmp eq ptr %memory, null
  br i1 %no_memory, label %null, label %show
show:
  %result = call ptr @view(ptr %memory, ptr %data, i32 %type, i32 %nd, ptr %dims, ptr %strides)
  call void @Py_DecRef(ptr %memory)
  ret ptr %result
null:
  ret ptr null
}

; A view that cannot be written, in place of an ndarray that can. Takes a reference and gives one; null stays null.
define ptr @zyg_box_readonly(ptr %array) {
entry:
  %nothing = icmp eq ptr %array, null
  br i1 %nothing, label %as_is, label %look
look:
  %flags_at = getelementptr i8, ptr %array, i64 $ARRAY_FLAGS
  %flags = load i32, ptr %flags_at
  %writes = and i32 %flags, $FLAG_WRITEABLE
  %already = icmp eq i32 %writes, 0
  br i1 %already, label %as_is, label %another
another:
  %data_at = getelementptr i8, ptr %array, i64 $ARRAY_DATA
  %data = load ptr, ptr %data_at
  %nd_at = getelementptr i8, ptr %array, i64 $ARRAY_NDIM
  %nd = load i32, ptr %nd_at
  %descr_at = getelementptr i8, ptr %array, i64 $ARRAY_DESCR
  %descr = load ptr, ptr %descr_at
  %type_at = getelementptr i8, ptr %descr, i64 $DESCR_TYPE_NUMBER
  %type = load i32, ptr %type_at
  %dims_at = getelementptr i8, ptr %array, i64 $ARRAY_SHAPE
  %dims = load ptr, ptr %dims_at
  %strides_at = getelementptr i8, ptr %array, i64 $ARRAY_STRIDES
  %strides = load ptr, ptr %strides_at
  %shown = call ptr @view(ptr %array, ptr %data, i32 %type, i32 %nd, ptr %dims, ptr %strides)
  call void @Py_DecRef(ptr %array)
  %failed = icmp eq ptr %shown, null
  br i1 %failed, label %null, label %shut
shut:
  %its_flags_at = getelementptr i8, ptr %shown, i64 $ARRAY_FLAGS
  %its_flags = load i32, ptr %its_flags_at
  %bits = xor i32 $FLAG_WRITEABLE, -1
  %without = and i32 %its_flags, %bits
  store i32 %without, ptr %its_flags_at
  ret ptr %shown
as_is:
  ret ptr %array
null:
  ret ptr null
}
"""
)
