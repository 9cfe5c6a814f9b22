"""What native entries call: the next record on a miss, binding of arguments, guards, errors."""

from .layout import fill

TEXT = fill(
    """
declare i32 @PyObject_RichCompareBool(ptr, ptr, i32)
declare ptr @PyDict_GetItemWithError(ptr, ptr)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyLong_FromVoidPtr(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare void @PyErr_Clear()
declare void @Py_DecRef(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

; A miss: on to the next record.
define ptr @zyg_miss(ptr %self, ptr %args, i64 %nargs, ptr %kwnames, ptr %record) {
  %at = getelementptr i8, ptr %record, i64 $R_next
  %next = load ptr, ptr %at
  %code = load ptr, ptr %next
  %result = musttail call ptr %code(ptr %self, ptr %args, i64 %nargs, ptr %kwnames, ptr %next)
  ret ptr %result
}

; Arguments by position, keyword and default into `out`; false if they do not fit.
define i1 @zyg_bind(ptr %args, i64 %given, ptr %kwnames, ptr %record, ptr %out) {
entry:
  %count_at = getelementptr i8, ptr %record, i64 $R_parameter_count
  %count = load i64, ptr %count_at
  %positional_at = getelementptr i8, ptr %record, i64 $R_positional_count
  %positional = load i64, ptr %positional_at
  %only_at = getelementptr i8, ptr %record, i64 $R_positional_only
  %only = load i64, ptr %only_at
  %names_at = getelementptr i8, ptr %record, i64 $R_names
  %names = load ptr, ptr %names_at
  %defaults_at = getelementptr i8, ptr %record, i64 $R_defaults
  %defaults = load ptr, ptr %defaults_at
  %too_many = icmp sgt i64 %given, %positional
  br i1 %too_many, label %bad, label %clear
clear:
  %bytes = shl i64 %count, 3
  call void @llvm.memset.p0.i64(ptr %out, i8 0, i64 %bytes, i1 false)
  %given_bytes = shl i64 %given, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %args, i64 %given_bytes, i1 false)
  %no_keywords = icmp eq ptr %kwnames, null
  br i1 %no_keywords, label %fill, label %keywords
keywords:
  %keyword_count_at = getelementptr i8, ptr %kwnames, i64 $OB_SIZE
  %keyword_count = load i64, ptr %keyword_count_at
  br label %keyword
keyword:
  %k = phi i64 [ 0, %keywords ], [ %k_next, %store ]
  %more = icmp slt i64 %k, %keyword_count
  br i1 %more, label %look, label %fill
look:
  %name_offset = shl i64 %k, 3
  %name_base = getelementptr i8, ptr %kwnames, i64 $TUPLE_ITEMS
  %name_at = getelementptr i8, ptr %name_base, i64 %name_offset
  %name = load ptr, ptr %name_at
  br label %search
search:
  %j = phi i64 [ %only, %look ], [ %j_next, %differs ]
  %some = icmp slt i64 %j, %count
  br i1 %some, label %compare, label %bad
compare:
  %parameter_at = getelementptr ptr, ptr %names, i64 %j
  %parameter = load ptr, ptr %parameter_at
  %identical = icmp eq ptr %parameter, %name
  br i1 %identical, label %found, label %differs_maybe
differs_maybe:
  %equal = call i1 @zyg_equal_constants(ptr %name, ptr %parameter)
  br i1 %equal, label %found, label %differs
differs:
  %j_next = add i64 %j, 1
  br label %search
found:
  %place = getelementptr ptr, ptr %out, i64 %j
  %occupant = load ptr, ptr %place
  %free = icmp eq ptr %occupant, null
  br i1 %free, label %store, label %bad
store:
  %source = add i64 %given, %k
  %value_at = getelementptr ptr, ptr %args, i64 %source
  %value = load ptr, ptr %value_at
  store ptr %value, ptr %place
  %k_next = add i64 %k, 1
  br label %keyword
fill:
  %p = phi i64 [ 0, %clear ], [ 0, %keyword ], [ %p_next, %filled ]
  %left = icmp slt i64 %p, %count
  br i1 %left, label %check, label %good
check:
  %slot = getelementptr ptr, ptr %out, i64 %p
  %present = load ptr, ptr %slot
  %missing = icmp eq ptr %present, null
  br i1 %missing, label %default, label %filled
default:
  %default_at = getelementptr ptr, ptr %defaults, i64 %p
  %default_value = load ptr, ptr %default_at
  store ptr %default_value, ptr %slot
  %required = icmp eq ptr %default_value, null
  br i1 %required, label %bad, label %filled
filled:
  %p_next = add i64 %p, 1
  br label %fill
good:
  ret i1 true
bad:
  ret i1 false
}

define i1 @zyg_equal_constants(ptr %x, ptr %y) {
  %x_type_at = getelementptr i8, ptr %x, i64 $OB_TYPE
  %x_type = load ptr, ptr %x_type_at
  %y_type_at = getelementptr i8, ptr %y, i64 $OB_TYPE
  %y_type = load ptr, ptr %y_type_at
  %same_type = icmp eq ptr %x_type, %y_type
  br i1 %same_type, label %compare, label %no
compare:
  %answer = call i32 @PyObject_RichCompareBool(ptr %x, ptr %y, i32 2)
  %failed = icmp slt i32 %answer, 0
  br i1 %failed, label %error, label %tell
error:
  call void @PyErr_Clear()
  br label %no
tell:
  %equal = icmp eq i32 %answer, 1
  ret i1 %equal
no:
  ret i1 false
}

; Called when a watched word has changed: whether all guards still hold. If so the new words are the expected ones, and
; the hidden inputs have been fetched again.
define i1 @zyg_revalidate(ptr %record) {
entry:
  %count_at = getelementptr i8, ptr %record, i64 $R_guard_count
  %count = load i64, ptr %count_at
  %guards_at = getelementptr i8, ptr %record, i64 $R_guards
  %guards = load ptr, ptr %guards_at
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %k1, %holds ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %guard, label %refresh
guard:
  %offset = mul i64 %k, $G_size
  %at = getelementptr i8, ptr %guards, i64 %offset
  %kind = load i64, ptr %at
  %object_at = getelementptr i8, ptr %at, i64 8
  %object = load ptr, ptr %object_at
  %expected_at = getelementptr i8, ptr %at, i64 24
  %expected = load ptr, ptr %expected_at
  %is_word = icmp eq i64 %kind, $G_word
  br i1 %is_word, label %word, label %lookup
word:
  %present = load ptr, ptr %object
  %same_word = icmp eq ptr %present, %expected
  br i1 %same_word, label %holds, label %fails
lookup:
  %name_at = getelementptr i8, ptr %at, i64 16
  %name = load ptr, ptr %name_at
  %found = call ptr @PyDict_GetItemWithError(ptr %object, ptr %name)
  %missing = icmp eq ptr %found, null
  %is_absent = icmp eq i64 %kind, $G_absent
  br i1 %missing, label %not_there, label %there
not_there:
  call void @PyErr_Clear()
  br i1 %is_absent, label %holds, label %fails
there:
  br i1 %is_absent, label %fails, label %compare
compare:
  %anything = icmp eq ptr %expected, null
  %identical = icmp eq ptr %expected, %found
  %fits = or i1 %anything, %identical
  br i1 %fits, label %place, label %fails
place:
  %place_at = getelementptr i8, ptr %at, i64 32
  %place_ptr = load ptr, ptr %place_at
  %nowhere = icmp eq ptr %place_ptr, null
  br i1 %nowhere, label %holds, label %put
put:
  store ptr %found, ptr %place_ptr
  br label %holds
holds:
  %k1 = add i64 %k, 1
  br label %next
refresh:
  %watch_count_at = getelementptr i8, ptr %record, i64 $R_watch_count
  %watch_count = load i64, ptr %watch_count_at
  %watch_at = getelementptr i8, ptr %record, i64 $R_watch
  %watch = load ptr, ptr %watch_at
  br label %each
each:
  %w = phi i64 [ 0, %refresh ], [ %w1, %set ]
  %some = icmp slt i64 %w, %watch_count
  br i1 %some, label %set, label %good
set:
  %pair = getelementptr {ptr, i64}, ptr %watch, i64 %w
  %address = load ptr, ptr %pair
  %value = load i64, ptr %address
  %value_at = getelementptr i8, ptr %pair, i64 8
  store i64 %value, ptr %value_at
  %w1 = add i64 %w, 1
  br label %each
good:
  ret i1 true
fails:
  ret i1 false
}

; A failed check: the Python function makes the error, and gives a function that raises it from the user's line. Or that
; gives what is kept for `zyg_departed`.
define ptr @zyg_fail(ptr %raiser, i32 %status, ptr %values) cold {
  %known = icmp sgt i32 %status, 0
  br i1 %known, label %make, label %null
make:
  %args = alloca [2 x ptr]
  %wide = sext i32 %status to i64
  %number = call ptr @PyLong_FromLongLong(i64 %wide)
  %address = call ptr @PyLong_FromVoidPtr(ptr %values)
  store ptr %number, ptr %args
  %second = getelementptr i8, ptr %args, i64 8
  store ptr %address, ptr %second
  %raise = call ptr @PyObject_Vectorcall(ptr %raiser, ptr %args, i64 2, ptr null)
  call void @Py_DecRef(ptr %number)
  call void @Py_DecRef(ptr %address)
  %failed = icmp eq ptr %raise, null
  br i1 %failed, label %null, label %go
go:
  %kept = call ptr @PyObject_Vectorcall(ptr %raise, ptr %args, i64 0, ptr null)
  call void @Py_DecRef(ptr %raise)
  ret ptr %kept
null:
  ret ptr null
}

; An error that CPython does not raise, once all is cleaned up: the handler gets it and the callable with its arguments, and gives
; the value of the call, or the error, which is raised then.
define ptr @zyg_departed(ptr %handler, ptr %kept, ptr %self, ptr %args, i64 %nargs, ptr %kwnames) cold {
entry:
  %given = and i64 %nargs, 9223372036854775807
  %named = icmp ne ptr %kwnames, null
  br i1 %named, label %count, label %copy
count:
  %keyword_count_at = getelementptr i8, ptr %kwnames, i64 $OB_SIZE
  %keyword_count = load i64, ptr %keyword_count_at
  br label %copy
copy:
  %keywords = phi i64 [ 0, %entry ], [ %keyword_count, %count ]
  %values = add i64 %given, %keywords
  %room = add i64 %values, 2
  %all = alloca ptr, i64 %room
  store ptr %kept, ptr %all
  %second = getelementptr ptr, ptr %all, i64 1
  store ptr %self, ptr %second
  %rest = getelementptr ptr, ptr %all, i64 2
  %bytes = shl i64 %values, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %rest, ptr %args, i64 %bytes, i1 false)
  %positional = add i64 %given, 2
  %result = call ptr @PyObject_Vectorcall(ptr %handler, ptr %all, i64 %positional, ptr %kwnames)
  %refused = icmp eq ptr %result, %kept
  br i1 %refused, label %raise, label %done
raise:
  %null = call ptr @PyObject_Vectorcall(ptr %kept, ptr %all, i64 0, ptr null)
  call void @Py_DecRef(ptr %kept)
  br label %done
done:
  %value = phi ptr [ %result, %copy ], [ %null, %raise ]
  call void @Py_DecRef(ptr %kept)
  ret ptr %value
}
"""
)
