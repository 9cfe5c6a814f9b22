"""What compiled code calls besides the C library and CPython, in LLVM assembly: memory, errors, the callable type.

The runtime comes in parts that are compiled and linked when first needed: CORE (the callable type, argument binding,
errors), MEMORY (arena, arrays, stacks, saved pullbacks, the GIL).  Functions of our own mathematics are in specials.py.

Memory of a call.  Its *context* lives on the native stack of the entry.  It owns an *arena*: blocks that come from a
pool and go back to it, carved from one end; chunks of stacks and headers of arrays come out of it.  Array data come
from malloc, so that NumPy can own them when they are returned; headers of live arrays are in a list, and whatever is in
it when the call ends, by whichever exit, is freed.  Released arrays are kept for reuse by the next `alloc` of the same
size.

A stack is a chain of chunks in the arena, each twice the size of the one before.  Reading a stack never changes its
memory, so a copy of its position can be read again, also from other threads.
"""

from __future__ import annotations

from .. import cpython as layout


class CTX:
    """Offsets in the context."""

    top = 0  # arena: next free byte, end of the block, the block
    end = 8
    block = 16
    arrays = 24  # list of headers
    headers = 32  # free headers
    poll_count = 40
    thread = 48  # the saved PyThreadState while the GIL is released
    stack_limit = 56
    kept = 64  # list of (next, object) that live as long as the call
    first_block = 72  # if not 0: no block from the pool, this size for the first (the memory will escape)
    poll_start = 80
    cache = 88  # released arrays by size
    chunks = 152  # dropped chunks of stacks by size
    zeroed = 248  # so far everything starts as 0
    error = 248  # values for an error's message
    error_slots = 8
    size = 312


class HEADER:
    """Offsets in the header of an array's memory."""

    count = 0
    next = 8
    previous = 16
    data = 24
    bytes = 32
    object = 40  # the ndarray that owns the data since Python has seen them (a counted reference)
    size = 64


class SAVED:
    """Offsets in what the capsule of a pullback points to."""

    layout = 0
    blocks = 8
    arrays = 16
    kept = 24
    parent = 32
    leaves = 64


class CALLABLE:
    """Offsets in an instance of the callable type."""

    vectorcall = layout.OB_HEAD
    record = layout.OB_HEAD + 8
    dispatcher = layout.OB_HEAD + 16
    dict = layout.OB_HEAD + 24
    weakrefs = layout.OB_HEAD + 32
    entries = layout.OB_HEAD + 40  # what the chain of records belongs to
    size = layout.OB_HEAD + 48


class RECORD:
    """Offsets in the record of an entry: what native code needs to know of one specialisation of one callable."""

    code = 0  # ptr (self, args, nargsf, kwnames, record)
    next = 8  # the record to try on a miss
    watch_count = 16
    watch = 24  # (address, expected word) pairs
    guard_count = 32
    guards = 40  # (kind, object, name, expected, place) five words each
    inputs = 48  # objects of the hidden inputs
    parameter_count = 56
    positional_count = 64
    positional_only = 72
    names = 80
    defaults = 88
    size = 96


class GUARD:
    """Kinds of guards."""

    word = 0  # the word at `object` is `expected`
    name = 1  # dict `object` has `name`: `expected`, or anything if null; it is stored at `place` if that is not null
    absent = 2  # dict `object` does not have `name`
    size = 40


POOL_BYTES = 1 << 30  # what the pool keeps at most
BLOCK_BYTES = 1 << 16
LARGE_BLOCK = 1 << 22  # from here on blocks are aligned and advised for huge pages
LARGEST_BLOCK = 1 << 26
SMALLEST_CHUNK = 9  # log2
LARGEST_CHUNK = 20
CHUNK_HEADER = 32  # begin, top and end of the chunk before; the chunk's log2 size
POLL_INTERVAL = 256
HOLD_NS = 5_000_000  # the GIL is given up after this time
AWAY_NS = 50_000_000  # and taken back for a look at signals so often
STACK_MARGIN = 1 << 18

_C = {f"C_{k}": v for k, v in vars(CTX).items() if isinstance(v, int)}
_NAMES = {
    **_C,
    **{f"H_{k}": v for k, v in vars(HEADER).items() if isinstance(v, int)},
    **{f"S_{k}": v for k, v in vars(SAVED).items() if isinstance(v, int)},
    **{f"J_{k}": v for k, v in vars(CALLABLE).items() if isinstance(v, int)},
    **{f"R_{k}": v for k, v in vars(RECORD).items() if isinstance(v, int)},
    **{f"G_{k}": v for k, v in vars(GUARD).items() if isinstance(v, int)},
    **{k: v for k, v in vars(layout).items() if k.isupper() and isinstance(v, int)},
    **{k: v for k, v in globals().copy().items() if k.isupper() and isinstance(v, int)},
}


def _fill(template: str) -> str:
    """Replace $NAME by numbers."""
    for name in sorted(_NAMES, key=len, reverse=True):
        template = template.replace("$" + name, str(_NAMES[name]))
    return template


CORE = _fill(
    """
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare void @PyObject_GC_UnTrack(ptr)
declare void @PyObject_ClearWeakRefs(ptr)
declare void @PyObject_GC_Del(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyDict_GetItemWithError(ptr, ptr)
declare void @PyErr_Clear()
declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyLong_FromVoidPtr(ptr)
declare ptr @PyFloat_FromDouble(double)
declare ptr @PyObject_GetAttr(ptr, ptr)
declare i32 @PyObject_RichCompareBool(ptr, ptr, i32)
declare ptr @PyErr_Format(ptr, ptr, ...)
@PyExc_TypeError = external global ptr
@wrong_result = private constant [52 x i8] c"a Python function returned %R where %U was expected\\00"

; Every callable's vectorcall slot: on to the code of its first record.
define ptr @zyg_vectorcall(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
  %at = getelementptr i8, ptr %self, i64 $J_record
  %record = load ptr, ptr %at
  %code = load ptr, ptr %record
  %result = tail call ptr %code(ptr %self, ptr %args, i64 %nargs, ptr %kwnames, ptr %record)
  ret ptr %result
}

; The code of the last record: the dispatcher, written in Python.
define ptr @zyg_dispatch(ptr %self, ptr %args, i64 %nargs, ptr %kwnames, ptr %record) {
  %at = getelementptr i8, ptr %self, i64 $J_dispatcher
  %dispatcher = load ptr, ptr %at
  %result = tail call ptr @PyObject_Vectorcall(ptr %dispatcher, ptr %args, i64 %nargs, ptr %kwnames)
  ret ptr %result
}

; A miss: on to the next record.
define ptr @zyg_miss(ptr %self, ptr %args, i64 %nargs, ptr %kwnames, ptr %record) {
  %at = getelementptr i8, ptr %record, i64 $R_next
  %next = load ptr, ptr %at
  %code = load ptr, ptr %next
  %result = musttail call ptr %code(ptr %self, ptr %args, i64 %nargs, ptr %kwnames, ptr %next)
  ret ptr %result
}

define i32 @zyg_traverse(ptr %self, ptr %visit, ptr %arg) {
  %type_at = getelementptr i8, ptr %self, i64 $OB_TYPE
  %type = load ptr, ptr %type_at
  %a = call i32 %visit(ptr %type, ptr %arg)
  %a_stop = icmp ne i32 %a, 0
  br i1 %a_stop, label %stop, label %second
second:
  %dict_at = getelementptr i8, ptr %self, i64 $J_dict
  %dict = load ptr, ptr %dict_at
  %no_dict = icmp eq ptr %dict, null
  br i1 %no_dict, label %third, label %visit_dict
visit_dict:
  %b = call i32 %visit(ptr %dict, ptr %arg)
  %b_stop = icmp ne i32 %b, 0
  br i1 %b_stop, label %stop, label %third
third:
  %dispatcher_at = getelementptr i8, ptr %self, i64 $J_dispatcher
  %dispatcher = load ptr, ptr %dispatcher_at
  %no_dispatcher = icmp eq ptr %dispatcher, null
  br i1 %no_dispatcher, label %fourth, label %visit_dispatcher
visit_dispatcher:
  %c = call i32 %visit(ptr %dispatcher, ptr %arg)
  %c_stop = icmp ne i32 %c, 0
  br i1 %c_stop, label %stop, label %fourth
fourth:
  %entries_at = getelementptr i8, ptr %self, i64 $J_entries
  %entries = load ptr, ptr %entries_at
  %no_entries = icmp eq ptr %entries, null
  br i1 %no_entries, label %done, label %visit_entries
visit_entries:
  %d = call i32 %visit(ptr %entries, ptr %arg)
  ret i32 %d
stop:
  %status = phi i32 [ %a, %0 ], [ %b, %visit_dict ], [ %c, %visit_dispatcher ]
  ret i32 %status
done:
  ret i32 0
}

; The dispatcher is not cleared: another object of the same garbage may still call this one.
define i32 @zyg_clear(ptr %self) {
  %dict_at = getelementptr i8, ptr %self, i64 $J_dict
  %dict = load ptr, ptr %dict_at
  store ptr null, ptr %dict_at
  call void @Py_DecRef(ptr %dict)
  ret i32 0
}

define void @zyg_dealloc(ptr %self) {
  %type_at = getelementptr i8, ptr %self, i64 $OB_TYPE
  %type = load ptr, ptr %type_at
  call void @PyObject_GC_UnTrack(ptr %self)
  %weakrefs_at = getelementptr i8, ptr %self, i64 $J_weakrefs
  %weakrefs = load ptr, ptr %weakrefs_at
  %none = icmp eq ptr %weakrefs, null
  br i1 %none, label %clear, label %weak
weak:
  call void @PyObject_ClearWeakRefs(ptr %self)
  br label %clear
clear:
  %ignored = call i32 @zyg_clear(ptr %self)
  %dispatcher_at = getelementptr i8, ptr %self, i64 $J_dispatcher
  %dispatcher = load ptr, ptr %dispatcher_at
  call void @Py_DecRef(ptr %dispatcher)
  %entries_at = getelementptr i8, ptr %self, i64 $J_entries
  %entries = load ptr, ptr %entries_at
  call void @Py_DecRef(ptr %entries)
  call void @PyObject_GC_Del(ptr %self)
  call void @Py_DecRef(ptr %type)
  ret void
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

define i64 @zyg_long(ptr %object, ptr %overflow) {
  %value = call i64 @PyLong_AsLongLongAndOverflow(ptr %object, ptr %overflow)
  ret i64 %value
}

; A failed check: the Python function makes the error, and gives a function that raises it from the user's line.
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
  %never = call ptr @PyObject_Vectorcall(ptr %raise, ptr %args, i64 0, ptr null)
  call void @Py_DecRef(ptr %raise)
  call void @Py_DecRef(ptr %never)
  br label %null
null:
  ret ptr null
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

define ptr @zyg_getattr(ptr %object, ptr %name) {
  %value = call ptr @PyObject_GetAttr(ptr %object, ptr %name)
  %missing = icmp eq ptr %value, null
  br i1 %missing, label %clear, label %done
clear:
  call void @PyErr_Clear()
  br label %done
done:
  ret ptr %value
}

define ptr @zyg_lookup(ptr %dict, ptr %name) {
  %value = call ptr @PyDict_GetItemWithError(ptr %dict, ptr %name)
  %missing = icmp eq ptr %value, null
  br i1 %missing, label %clear, label %done
clear:
  call void @PyErr_Clear()
  br label %done
done:
  ret ptr %value
}

define void @zyg_wrong_result(ptr %object, ptr %expected) {
  %type = load ptr, ptr @PyExc_TypeError
  %ignored = call ptr (ptr, ptr, ...) @PyErr_Format(ptr %type, ptr @wrong_result, ptr %object, ptr %expected)
  call void @Py_DecRef(ptr %object)
  ret void
}

define ptr @zyg_make_float(ptr %class, double %x) {
  %value = call ptr @PyFloat_FromDouble(double %x)
  %result = call ptr @zyg_make(ptr %class, ptr %value)
  ret ptr %result
}

define ptr @zyg_make_int(ptr %class, i64 %x) {
  %value = call ptr @PyLong_FromLongLong(i64 %x)
  %result = call ptr @zyg_make(ptr %class, ptr %value)
  ret ptr %result
}

define internal ptr @zyg_make(ptr %class, ptr %value) {
  %failed = icmp eq ptr %value, null
  br i1 %failed, label %null, label %call
call:
  %args = alloca ptr
  store ptr %value, ptr %args
  %result = call ptr @PyObject_Vectorcall(ptr %class, ptr %args, i64 1, ptr null)
  call void @Py_DecRef(ptr %value)
  ret ptr %result
null:
  ret ptr null
}

; Whether two arrays share no byte although their ranges of addresses intersect: all elements of each lie at its first
; address plus multiples of the greatest common divisor of the strides (0 where a dimension has one element).
define i1 @zyg_apart(ptr %a, ptr %b, i64 %a_size, i64 %b_size, ptr %strides, i64 %count) {
entry:
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %k1, %reduced ]
  %divisor = phi i64 [ 0, %entry ], [ %x, %reduced ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %one, label %decide
one:
  %stride_at = getelementptr i64, ptr %strides, i64 %k
  %signed = load i64, ptr %stride_at
  %stride = call i64 @llvm.abs.i64(i64 %signed, i1 false)
  br label %euclid
euclid:
  %x = phi i64 [ %divisor, %one ], [ %y, %step ]
  %y = phi i64 [ %stride, %one ], [ %rest, %step ]
  %zero = icmp eq i64 %y, 0
  br i1 %zero, label %reduced, label %step
step:
  %rest = urem i64 %x, %y
  br label %euclid
reduced:
  %k1 = add i64 %k, 1
  br label %next
decide:
  %none = icmp eq i64 %divisor, 0
  br i1 %none, label %no, label %compare
compare:
  %a_number = ptrtoint ptr %a to i64
  %b_number = ptrtoint ptr %b to i64
  %difference = sub i64 %b_number, %a_number
  %remainder = srem i64 %difference, %divisor
  %negative = icmp slt i64 %remainder, 0
  %lifted = add i64 %remainder, %divisor
  %offset = select i1 %negative, i64 %lifted, i64 %remainder
  %after = icmp sge i64 %offset, %a_size
  %end = add i64 %offset, %b_size
  %before = icmp sle i64 %end, %divisor
  %apart = and i1 %after, %before
  ret i1 %apart
no:
  ret i1 false
}

declare i64 @llvm.abs.i64(i64, i1)

; x ** n for n >= 0 by squaring; the flag tells of overflow.
define {i64, i1} @zyg_ipow(i64 %x, i64 %n) {
entry:
  br label %loop
loop:
  %power = phi i64 [ 1, %entry ], [ %new_power, %next ]
  %base = phi i64 [ %x, %entry ], [ %square, %next ]
  %left = phi i64 [ %n, %entry ], [ %half, %next ]
  %base_over = phi i1 [ false, %entry ], [ %square_over, %next ]
  %over = phi i1 [ false, %entry ], [ %new_over, %next ]
  %done = icmp sle i64 %left, 0
  br i1 %done, label %end, label %next
next:
  %bit = and i64 %left, 1
  %odd = icmp ne i64 %bit, 0
  %times = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %power, i64 %base)
  %product = extractvalue {i64, i1} %times, 0
  %times_over = extractvalue {i64, i1} %times, 1
  %either = or i1 %times_over, %base_over
  %taken_over = and i1 %odd, %either
  %new_over = or i1 %over, %taken_over
  %new_power = select i1 %odd, i64 %product, i64 %power
  %squared = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %base, i64 %base)
  %square = extractvalue {i64, i1} %squared, 0
  %this_over = extractvalue {i64, i1} %squared, 1
  %square_over = or i1 %base_over, %this_over
  %half = lshr i64 %left, 1
  br label %loop
end:
  %pair = insertvalue {i64, i1} poison, i64 %power, 0
  %result = insertvalue {i64, i1} %pair, i1 %over, 1
  ret {i64, i1} %result
}

declare {i64, i1} @llvm.smul.with.overflow.i64(i64, i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""
)

MEMORY = _fill(
    """
declare ptr @malloc(i64)
declare ptr @calloc(i64, i64)
declare ptr @aligned_alloc(i64, i64)
declare void @free(ptr)
declare i32 @madvise(ptr, i64, i32)
declare i32 @sched_yield()
declare i32 @clock_gettime(i32, ptr)
declare i64 @pthread_self()
declare i32 @pthread_getattr_np(i64, ptr)
declare i32 @pthread_attr_getstack(ptr, ptr, ptr)
declare i32 @pthread_attr_destroy(ptr)
declare void @Py_DecRef(ptr)
declare void @Py_IncRef(ptr)
declare void @PyErr_Clear()
declare i32 @PyErr_CheckSignals()
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare ptr @PyCapsule_New(ptr, ptr, ptr)
declare ptr @PyObject_GetAttrString(ptr, ptr)
declare ptr @PyArray_New(ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)
declare i32 @PyArray_SetBaseObject(ptr, ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare i64 @llvm.ctlz.i64(i64, i1)
declare i64 @llvm.umax.i64(i64, i64)
declare i64 @llvm.umin.i64(i64, i64)
@PyCapsule_Type = external global i8
@numpy.ndarray = external global i8
@numpy.memmap = external global i8
@numpy.data_handler = external global i8
@zyg_saved_name = constant [10 x i8] c"zyg.Saved\\00"
@saved_attribute = private constant [14 x i8] c"__zyg_saved__\\00"
@pool = internal global ptr null
@pool_bytes = internal global i64 0
@pool_lock = internal global i32 0
@zyg_main_thread = global i64 0
@zyg_arena_bytes = global i64 0
@main_limit = internal global ptr null

; ---------------------------------------------------------------- the pool of blocks; block: {previous, size}

define internal void @lock() {
entry:
  br label %try
try:
  %old = atomicrmw xchg ptr @pool_lock, i32 1 acquire
  %free = icmp eq i32 %old, 0
  br i1 %free, label %done, label %wait
wait:
  %ignored = call i32 @sched_yield()
  br label %try
done:
  ret void
}

define internal void @unlock() {
  store atomic i32 0, ptr @pool_lock release, align 4
  ret void
}

; A block of `need` to `limit` bytes out of the pool, or null.
define internal ptr @pool_take(i64 %need, i64 %limit) {
entry:
  %first = load ptr, ptr @pool
  %none = icmp eq ptr %first, null
  br i1 %none, label %no, label %locked
locked:
  call void @lock()
  br label %look
look:
  %link = phi ptr [ @pool, %locked ], [ %block, %next ]
  %block = load ptr, ptr %link
  %end = icmp eq ptr %block, null
  br i1 %end, label %unlock, label %test
test:
  %size_at = getelementptr i8, ptr %block, i64 8
  %size = load i64, ptr %size_at
  %enough = icmp uge i64 %size, %need
  %modest = icmp ule i64 %size, %limit
  %fits = and i1 %enough, %modest
  br i1 %fits, label %take, label %next
next:
  br label %look
take:
  %following = load ptr, ptr %block
  store ptr %following, ptr %link
  %bytes = load i64, ptr @pool_bytes
  %less = sub i64 %bytes, %size
  store i64 %less, ptr @pool_bytes
  br label %unlock
unlock:
  %result = phi ptr [ null, %look ], [ %block, %take ]
  call void @unlock()
  ret ptr %result
no:
  ret ptr null
}

define internal void @give_back(ptr %block) {
entry:
  %none = icmp eq ptr %block, null
  br i1 %none, label %done, label %each
each:
  %b = phi ptr [ %block, %entry ], [ %previous, %given ]
  %previous = load ptr, ptr %b
  %size_at = getelementptr i8, ptr %b, i64 8
  %size = load i64, ptr %size_at
  call void @lock()
  %bytes = load i64, ptr @pool_bytes
  %total = add i64 %bytes, %size
  %room = icmp ule i64 %total, $POOL_BYTES
  %big = icmp uge i64 %size, $BLOCK_BYTES
  %keep = and i1 %room, %big
  br i1 %keep, label %put, label %drop
put:
  store i64 %total, ptr @pool_bytes
  %head = load ptr, ptr @pool
  store ptr %head, ptr %b
  store ptr %b, ptr @pool
  call void @unlock()
  br label %given
drop:
  call void @unlock()
  call void @free(ptr %b)
  br label %given
given:
  %more = icmp ne ptr %previous, null
  br i1 %more, label %each, label %done
done:
  ret void
}

; ------------------------------------------------------------------------------------------------ the arena

; Make the arena's block one with room for `bytes`.
define internal i1 @more(ptr %ctx, i64 %bytes) noinline cold {
entry:
  %absurd = icmp ugt i64 %bytes, 4611686018427387904
  br i1 %absurd, label %fail, label %sized
sized:
  %need = add i64 %bytes, 64
  %block_at = getelementptr i8, ptr %ctx, i64 $C_block
  %old = load ptr, ptr %block_at
  %first_at = getelementptr i8, ptr %ctx, i64 $C_first_block
  %first = load i64, ptr %first_at
  %escapes = icmp ne i64 %first, 0
  %is_first = icmp eq ptr %old, null
  br i1 %is_first, label %start_size, label %double
start_size:
  %start = select i1 %escapes, i64 %first, i64 $BLOCK_BYTES
  br label %choose
double:
  %old_size_at = getelementptr i8, ptr %old, i64 8
  %old_size = load i64, ptr %old_size_at
  %twice = shl i64 %old_size, 1
  %capped = call i64 @llvm.umin.i64(i64 %twice, i64 $LARGEST_BLOCK)
  br label %choose
choose:
  %wish = phi i64 [ %start, %start_size ], [ %capped, %double ]
  %enough = call i64 @llvm.umax.i64(i64 %wish, i64 %need)
  ; What escapes takes no more than it is likely to need, and little things not from the pool.
  %little = icmp ult i64 %enough, $BLOCK_BYTES
  %own = and i1 %escapes, %little
  br i1 %own, label %fresh, label %pooled
pooled:
  %most = shl i64 %enough, 2
  %at_least = select i1 %escapes, i64 %enough, i64 %need
  %at_most = select i1 %escapes, i64 %most, i64 -1
  %pool_block = call ptr @pool_take(i64 %at_least, i64 %at_most)
  %got = icmp ne ptr %pool_block, null
  br i1 %got, label %ready, label %fresh
fresh:
  %huge = icmp uge i64 %enough, $LARGE_BLOCK
  br i1 %huge, label %large, label %small
large:
  %up2 = add i64 %enough, 2097151
  %size2 = and i64 %up2, -2097152
  %block2 = call ptr @aligned_alloc(i64 2097152, i64 %size2)
  %failed2 = icmp eq ptr %block2, null
  br i1 %failed2, label %fail, label %advise
advise:
  %ignored = call i32 @madvise(ptr %block2, i64 %size2, i32 14)
  br label %made
small:
  %up1 = add i64 %enough, 63
  %size1 = and i64 %up1, -64
  %block1 = call ptr @aligned_alloc(i64 64, i64 %size1)
  %failed1 = icmp eq ptr %block1, null
  br i1 %failed1, label %fail, label %made
made:
  %new = phi ptr [ %block2, %advise ], [ %block1, %small ]
  %new_size = phi i64 [ %size2, %advise ], [ %size1, %small ]
  %new_size_at = getelementptr i8, ptr %new, i64 8
  store i64 %new_size, ptr %new_size_at
  br label %ready
ready:
  %block = phi ptr [ %pool_block, %pooled ], [ %new, %made ]
  store ptr %old, ptr %block
  %size_at = getelementptr i8, ptr %block, i64 8
  %size = load i64, ptr %size_at
  store ptr %block, ptr %block_at
  %top = getelementptr i8, ptr %block, i64 64
  store ptr %top, ptr %ctx
  %end = getelementptr i8, ptr %block, i64 %size
  %end_at = getelementptr i8, ptr %ctx, i64 $C_end
  store ptr %end, ptr %end_at
  ret i1 true
fail:
  ret i1 false
}

; `bytes` (a multiple of 64) out of the arena, or null.
define internal ptr @bump(ptr %ctx, i64 %bytes) {
entry:
  br label %try
try:
  %top = load ptr, ptr %ctx
  %end_at = getelementptr i8, ptr %ctx, i64 $C_end
  %end = load ptr, ptr %end_at
  %top_number = ptrtoint ptr %top to i64
  %end_number = ptrtoint ptr %end to i64
  %room = sub i64 %end_number, %top_number
  %fits = icmp ule i64 %bytes, %room
  br i1 %fits, label %take, label %grow
take:
  %new_top = getelementptr i8, ptr %top, i64 %bytes
  store ptr %new_top, ptr %ctx
  ret ptr %top
grow:
  %ok = call i1 @more(ptr %ctx, i64 %bytes)
  br i1 %ok, label %try, label %fail
fail:
  ret ptr null
}

; ------------------------------------------------------------------------------------------------- arrays

define ptr @zyg_array_new(ptr %ctx, i64 %bytes, i1 %zeroed) {
entry:
  %absurd = icmp ugt i64 %bytes, 4611686018427387904
  br i1 %absurd, label %fail, label %cached
cached:
  %bucket = call ptr @bucket(ptr %ctx, i64 %bytes)
  %old = load ptr, ptr %bucket
  %empty = icmp eq ptr %old, null
  br i1 %empty, label %header, label %look
look:
  %old_bytes_at = getelementptr i8, ptr %old, i64 $H_bytes
  %old_bytes = load i64, ptr %old_bytes_at
  %fits = icmp eq i64 %old_bytes, %bytes
  br i1 %fits, label %reuse, label %header
reuse:
  %old_next_at = getelementptr i8, ptr %old, i64 $H_next
  %old_next = load ptr, ptr %old_next_at
  store ptr %old_next, ptr %bucket
  br i1 %zeroed, label %clear_old, label %link
clear_old:
  %old_data_at = getelementptr i8, ptr %old, i64 $H_data
  %old_data = load ptr, ptr %old_data_at
  call void @llvm.memset.p0.i64(ptr %old_data, i8 0, i64 %bytes, i1 false)
  br label %link
header:
  %free_at = getelementptr i8, ptr %ctx, i64 $C_headers
  %free = load ptr, ptr %free_at
  %none = icmp eq ptr %free, null
  br i1 %none, label %new_header, label %pop_header
pop_header:
  %free_next_at = getelementptr i8, ptr %free, i64 $H_next
  %free_next = load ptr, ptr %free_next_at
  store ptr %free_next, ptr %free_at
  br label %data
new_header:
  %made = call ptr @bump(ptr %ctx, i64 $H_size)
  %no_header = icmp eq ptr %made, null
  br i1 %no_header, label %fail, label %data
data:
  %new = phi ptr [ %free, %pop_header ], [ %made, %new_header ]
  %large = icmp uge i64 %bytes, 262144
  %lazy = and i1 %large, %zeroed
  br i1 %lazy, label %zero_pages, label %plain
zero_pages:
  %pages = call ptr @calloc(i64 %bytes, i64 1)
  br label %test
plain:
  %tiny = icmp ult i64 %bytes, 512
  br i1 %tiny, label %small, label %aligned
small:
  %one = call i64 @llvm.umax.i64(i64 %bytes, i64 1)
  %small_data = call ptr @malloc(i64 %one)
  br label %plain_test
aligned:
  %up = add i64 %bytes, 63
  %rounded = and i64 %up, -64
  %aligned_data = call ptr @aligned_alloc(i64 64, i64 %rounded)
  br label %plain_test
plain_test:
  %plain_data = phi ptr [ %small_data, %small ], [ %aligned_data, %aligned ]
  %plain_failed = icmp eq ptr %plain_data, null
  %clear = xor i1 %plain_failed, true
  %do_clear = and i1 %clear, %zeroed
  br i1 %do_clear, label %clear_new, label %test
clear_new:
  call void @llvm.memset.p0.i64(ptr %plain_data, i8 0, i64 %bytes, i1 false)
  br label %test
test:
  %new_data = phi ptr [ %pages, %zero_pages ], [ %plain_data, %plain_test ], [ %plain_data, %clear_new ]
  %failed = icmp eq ptr %new_data, null
  br i1 %failed, label %no_data, label %fill
no_data:
  %head = load ptr, ptr %free_at
  %new_next_at = getelementptr i8, ptr %new, i64 $H_next
  store ptr %head, ptr %new_next_at
  store ptr %new, ptr %free_at
  br label %fail
fill:
  %data_at = getelementptr i8, ptr %new, i64 $H_data
  store ptr %new_data, ptr %data_at
  %bytes_at = getelementptr i8, ptr %new, i64 $H_bytes
  store i64 %bytes, ptr %bytes_at
  br label %link
link:
  %h = phi ptr [ %old, %reuse ], [ %old, %clear_old ], [ %new, %fill ]
  store i64 1, ptr %h
  %object_at = getelementptr i8, ptr %h, i64 $H_object
  store ptr null, ptr %object_at
  %list_at = getelementptr i8, ptr %ctx, i64 $C_arrays
  %first = load ptr, ptr %list_at
  %next_at = getelementptr i8, ptr %h, i64 $H_next
  store ptr %first, ptr %next_at
  %previous_at = getelementptr i8, ptr %h, i64 $H_previous
  store ptr null, ptr %previous_at
  store ptr %h, ptr %list_at
  %alone = icmp eq ptr %first, null
  br i1 %alone, label %done, label %back
back:
  %back_at = getelementptr i8, ptr %first, i64 $H_previous
  store ptr %h, ptr %back_at
  br label %done
done:
  ret ptr %h
fail:
  ret ptr null
}

define internal ptr @bucket(ptr %ctx, i64 %bytes) {
  %blocks = lshr i64 %bytes, 6
  %high = lshr i64 %bytes, 9
  %mixed = xor i64 %blocks, %high
  %number = and i64 %mixed, 7
  %base = getelementptr i8, ptr %ctx, i64 $C_cache
  %at = getelementptr ptr, ptr %base, i64 %number
  ret ptr %at
}

; Whether compiled code counts the owners: not of Python objects (lowest bit set), not of null.
define internal i1 @counted(ptr %owner) {
  %number = ptrtoint ptr %owner to i64
  %bit = and i64 %number, 1
  %untagged = icmp eq i64 %bit, 0
  %some = icmp ne ptr %owner, null
  %result = and i1 %untagged, %some
  ret i1 %result
}

define void @zyg_array_retain(ptr %owner) {
  %counted = call i1 @counted(ptr %owner)
  br i1 %counted, label %add, label %done
add:
  %count = load i64, ptr %owner
  %more = add i64 %count, 1
  store i64 %more, ptr %owner
  br label %done
done:
  ret void
}

define void @zyg_array_release(ptr %ctx, ptr %owner) {
entry:
  %counted = call i1 @counted(ptr %owner)
  br i1 %counted, label %subtract, label %done
subtract:
  %count = load i64, ptr %owner
  %less = sub i64 %count, 1
  store i64 %less, ptr %owner
  %dead = icmp eq i64 %less, 0
  br i1 %dead, label %unlink, label %done
unlink:
  %next_at = getelementptr i8, ptr %owner, i64 $H_next
  %next = load ptr, ptr %next_at
  %previous_at = getelementptr i8, ptr %owner, i64 $H_previous
  %previous = load ptr, ptr %previous_at
  %is_first = icmp eq ptr %previous, null
  %list_at = getelementptr i8, ptr %ctx, i64 $C_arrays
  %previous_next = getelementptr i8, ptr %previous, i64 $H_next
  %link = select i1 %is_first, ptr %list_at, ptr %previous_next
  store ptr %next, ptr %link
  %is_last = icmp eq ptr %next, null
  br i1 %is_last, label %cache, label %back
back:
  %back_at = getelementptr i8, ptr %next, i64 $H_previous
  store ptr %previous, ptr %back_at
  br label %cache
cache:
  %object_at = getelementptr i8, ptr %owner, i64 $H_object
  %object = load ptr, ptr %object_at
  %mine = icmp eq ptr %object, null
  br i1 %mine, label %recycle, label %theirs
theirs:
  call void @let_go(ptr %ctx, ptr %owner, ptr %object)
  br label %done
recycle:
  %bytes_at = getelementptr i8, ptr %owner, i64 $H_bytes
  %bytes = load i64, ptr %bytes_at
  %bucket = call ptr @bucket(ptr %ctx, i64 %bytes)
  %head = load ptr, ptr %bucket
  %empty = icmp eq ptr %head, null
  br i1 %empty, label %put, label %compare
compare:
  %head_bytes_at = getelementptr i8, ptr %head, i64 $H_bytes
  %head_bytes = load i64, ptr %head_bytes_at
  %same = icmp eq i64 %head_bytes, %bytes
  br i1 %same, label %put, label %flush
flush:
  call void @flush(ptr %ctx, ptr %bucket)
  br label %put
put:
  %rest = load ptr, ptr %bucket
  store ptr %rest, ptr %next_at
  store ptr %owner, ptr %bucket
  br label %done
done:
  ret void
}

; Give up the reference to the ndarray that owns an array's data: at once if we hold the GIL, else when the call ends, for
; which the header serves as the list's node.
define internal void @let_go(ptr %ctx, ptr %header, ptr %object) {
  %thread_at = getelementptr i8, ptr %ctx, i64 $C_thread
  %thread = load ptr, ptr %thread_at
  %held = icmp eq ptr %thread, null
  br i1 %held, label %now, label %later
now:
  call void @Py_DecRef(ptr %object)
  %free_at = getelementptr i8, ptr %ctx, i64 $C_headers
  %free = load ptr, ptr %free_at
  %next_at = getelementptr i8, ptr %header, i64 $H_next
  store ptr %free, ptr %next_at
  store ptr %header, ptr %free_at
  ret void
later:
  %kept_at = getelementptr i8, ptr %ctx, i64 $C_kept
  %first = load ptr, ptr %kept_at
  store ptr %first, ptr %header
  %node_object = getelementptr i8, ptr %header, i64 8
  store ptr %object, ptr %node_object
  store ptr %header, ptr %kept_at
  ret void
}

; Free what a bucket keeps; the headers become free ones.
define internal void @flush(ptr %ctx, ptr %bucket) {
entry:
  %free_at = getelementptr i8, ptr %ctx, i64 $C_headers
  br label %each
each:
  %h = load ptr, ptr %bucket
  %end = icmp eq ptr %h, null
  br i1 %end, label %done, label %one
one:
  %data_at = getelementptr i8, ptr %h, i64 $H_data
  %data = load ptr, ptr %data_at
  call void @free(ptr %data)
  %next_at = getelementptr i8, ptr %h, i64 $H_next
  %next = load ptr, ptr %next_at
  store ptr %next, ptr %bucket
  %head = load ptr, ptr %free_at
  store ptr %head, ptr %next_at
  store ptr %h, ptr %free_at
  br label %each
done:
  ret void
}

define internal void @flush_all(ptr %ctx) {
entry:
  br label %each
each:
  %k = phi i64 [ 0, %entry ], [ %k1, %each ]
  %base = getelementptr i8, ptr %ctx, i64 $C_cache
  %bucket = getelementptr ptr, ptr %base, i64 %k
  call void @flush(ptr %ctx, ptr %bucket)
  %k1 = add i64 %k, 1
  %more = icmp ult i64 %k1, 8
  br i1 %more, label %each, label %done
done:
  ret void
}

; Free the data of all arrays of a list, or give up the reference where an ndarray owns them.
define internal void @free_arrays(ptr %list) {
entry:
  br label %each
each:
  %h = phi ptr [ %list, %entry ], [ %next, %freed ]
  %end = icmp eq ptr %h, null
  br i1 %end, label %done, label %one
one:
  %next_at = getelementptr i8, ptr %h, i64 $H_next
  %next = load ptr, ptr %next_at
  %object_at = getelementptr i8, ptr %h, i64 $H_object
  %object = load ptr, ptr %object_at
  %mine = icmp eq ptr %object, null
  br i1 %mine, label %release, label %theirs
release:
  %data_at = getelementptr i8, ptr %h, i64 $H_data
  %data = load ptr, ptr %data_at
  call void @free(ptr %data)
  br label %freed
theirs:
  call void @Py_DecRef(ptr %object)
  br label %freed
freed:
  br label %each
done:
  ret void
}

define internal void @free_kept(ptr %list) {
entry:
  br label %each
each:
  %node = phi ptr [ %list, %entry ], [ %next, %one ]
  %end = icmp eq ptr %node, null
  br i1 %end, label %done, label %one
one:
  %next = load ptr, ptr %node
  %object_at = getelementptr i8, ptr %node, i64 8
  %object = load ptr, ptr %object_at
  call void @Py_DecRef(ptr %object)
  br label %each
done:
  ret void
}

; ------------------------------------------------------------------------------------- contexts and pullbacks

; Note how much of the arena a call has used, for whoever asks (zyg_arena_bytes).
define internal void @account(ptr %ctx) {
entry:
  %block_at = getelementptr i8, ptr %ctx, i64 $C_block
  %block = load ptr, ptr %block_at
  %top = load ptr, ptr %ctx
  %top_number = ptrtoint ptr %top to i64
  %block_number = ptrtoint ptr %block to i64
  %used = sub i64 %top_number, %block_number
  br label %each
each:
  %b = phi ptr [ %block, %entry ], [ %previous, %one ]
  %total = phi i64 [ %used, %entry ], [ %sum, %one ]
  %previous = load ptr, ptr %b
  %last = icmp eq ptr %previous, null
  br i1 %last, label %done, label %one
one:
  %size_at = getelementptr i8, ptr %previous, i64 8
  %size = load i64, ptr %size_at
  %sum = add i64 %total, %size
  br label %each
done:
  store i64 %total, ptr @zyg_arena_bytes
  ret void
}

define void @zyg_ctx_finish(ptr %ctx) {
  %block_at = getelementptr i8, ptr %ctx, i64 $C_block
  %block = load ptr, ptr %block_at
  %unused = icmp eq ptr %block, null
  br i1 %unused, label %done, label %finish
finish:
  call void @account(ptr %ctx)
  %arrays_at = getelementptr i8, ptr %ctx, i64 $C_arrays
  %arrays = load ptr, ptr %arrays_at
  call void @free_arrays(ptr %arrays)
  call void @flush_all(ptr %ctx)
  %kept_at = getelementptr i8, ptr %ctx, i64 $C_kept
  %kept = load ptr, ptr %kept_at
  call void @free_kept(ptr %kept)
  call void @give_back(ptr %block)
  br label %done
done:
  ret void
}

; The capsule takes over the context's memory.
define void @zyg_ctx_escape(ptr %ctx, ptr %capsule) {
entry:
  %saved_at = getelementptr i8, ptr %capsule, i64 $CAPSULE_POINTER
  %saved = load ptr, ptr %saved_at
  call void @flush_all(ptr %ctx)
  %block_at = getelementptr i8, ptr %ctx, i64 $C_block
  %block = load ptr, ptr %block_at
  %blocks_at = getelementptr i8, ptr %saved, i64 $S_blocks
  store ptr %block, ptr %blocks_at
  %kept_at = getelementptr i8, ptr %ctx, i64 $C_kept
  %kept = load ptr, ptr %kept_at
  %saved_kept_at = getelementptr i8, ptr %saved, i64 $S_kept
  store ptr %kept, ptr %saved_kept_at
  %arrays_at = getelementptr i8, ptr %ctx, i64 $C_arrays
  %arrays = load ptr, ptr %arrays_at
  %saved_arrays_at = getelementptr i8, ptr %saved, i64 $S_arrays
  store ptr %arrays, ptr %saved_arrays_at
  ret void
}

define ptr @zyg_saved_new(i64 %layout, i64 %bytes, ptr %parent) {
  %total = add i64 %bytes, $S_leaves
  %saved = call ptr @malloc(i64 %total)
  %failed = icmp eq ptr %saved, null
  br i1 %failed, label %null, label %fill
fill:
  call void @llvm.memset.p0.i64(ptr %saved, i8 0, i64 $S_leaves, i1 false)
  store i64 %layout, ptr %saved
  %capsule = call ptr @PyCapsule_New(ptr %saved, ptr @zyg_saved_name, ptr @saved_free)
  %no_capsule = icmp eq ptr %capsule, null
  br i1 %no_capsule, label %free, label %own
own:
  %parent_at = getelementptr i8, ptr %saved, i64 $S_parent
  store ptr %parent, ptr %parent_at
  call void @Py_IncRef(ptr %parent)
  ret ptr %capsule
free:
  call void @free(ptr %saved)
  br label %null
null:
  ret ptr null
}

; The blocks that a pullback owned: contexts that escape take new ones, so the pool would only ever grow by them.
define internal void @free_blocks(ptr %block) {
entry:
  br label %each
each:
  %b = phi ptr [ %block, %entry ], [ %previous, %one ]
  %end = icmp eq ptr %b, null
  br i1 %end, label %done, label %one
one:
  %previous = load ptr, ptr %b
  call void @free(ptr %b)
  br label %each
done:
  ret void
}

define internal void @saved_free(ptr %capsule) {
  %saved_at = getelementptr i8, ptr %capsule, i64 $CAPSULE_POINTER
  %saved = load ptr, ptr %saved_at
  %arrays_at = getelementptr i8, ptr %saved, i64 $S_arrays
  %arrays = load ptr, ptr %arrays_at
  call void @free_arrays(ptr %arrays)
  %kept_at = getelementptr i8, ptr %saved, i64 $S_kept
  %kept = load ptr, ptr %kept_at
  call void @free_kept(ptr %kept)
  %blocks_at = getelementptr i8, ptr %saved, i64 $S_blocks
  %blocks = load ptr, ptr %blocks_at
  call void @free_blocks(ptr %blocks)
  %parent_at = getelementptr i8, ptr %saved, i64 $S_parent
  %parent = load ptr, ptr %parent_at
  call void @Py_DecRef(ptr %parent)
  call void @free(ptr %saved)
  ret void
}

; What `object`, a capsule or an object that has one, saved in this layout; null if it is something else.  `slot` gets a
; new reference to the capsule.
define ptr @zyg_saved_find(ptr %object, i64 %layout, ptr %slot) {
entry:
  %type_at = getelementptr i8, ptr %object, i64 $OB_TYPE
  %type = load ptr, ptr %type_at
  %is_capsule = icmp eq ptr %type, @PyCapsule_Type
  br i1 %is_capsule, label %direct, label %attribute
direct:
  call void @Py_IncRef(ptr %object)
  br label %check
attribute:
  %found = call ptr @PyObject_GetAttrString(ptr %object, ptr @saved_attribute)
  %missing = icmp eq ptr %found, null
  br i1 %missing, label %clear, label %check
clear:
  call void @PyErr_Clear()
  br label %no
check:
  %capsule = phi ptr [ %object, %direct ], [ %found, %attribute ]
  store ptr %capsule, ptr %slot
  %capsule_type_at = getelementptr i8, ptr %capsule, i64 $OB_TYPE
  %capsule_type = load ptr, ptr %capsule_type_at
  %right_type = icmp eq ptr %capsule_type, @PyCapsule_Type
  br i1 %right_type, label %name, label %no
name:
  %name_at = getelementptr i8, ptr %capsule, i64 $CAPSULE_NAME
  %its_name = load ptr, ptr %name_at
  %right_name = icmp eq ptr %its_name, @zyg_saved_name
  br i1 %right_name, label %compare, label %no
compare:
  %saved_at = getelementptr i8, ptr %capsule, i64 $CAPSULE_POINTER
  %saved = load ptr, ptr %saved_at
  %its_layout = load i64, ptr %saved
  %right_layout = icmp eq i64 %its_layout, %layout
  br i1 %right_layout, label %yes, label %no
yes:
  ret ptr %saved
no:
  ret ptr null
}

; The call owns a reference to the object (which it takes over).
define i1 @zyg_keep_object(ptr %ctx, ptr %object) {
  %node = call ptr @bump(ptr %ctx, i64 64)
  %failed = icmp eq ptr %node, null
  br i1 %failed, label %no, label %link
link:
  %kept_at = getelementptr i8, ptr %ctx, i64 $C_kept
  %first = load ptr, ptr %kept_at
  store ptr %first, ptr %node
  %object_at = getelementptr i8, ptr %node, i64 8
  store ptr %object, ptr %object_at
  store ptr %node, ptr %kept_at
  ret i1 true
no:
  ret i1 false
}

; Keep the Python object that owns an array's memory, if it is one.
define i1 @zyg_keep(ptr %ctx, ptr %owner) {
  %number = ptrtoint ptr %owner to i64
  %bit = and i64 %number, 1
  %tagged = icmp ne i64 %bit, 0
  br i1 %tagged, label %keep, label %yes
keep:
  %object = getelementptr i8, ptr %owner, i64 -1
  call void @Py_IncRef(ptr %object)
  %ok = call i1 @zyg_keep_object(ptr %ctx, ptr %object)
  ret i1 %ok
yes:
  ret i1 true
}

; ------------------------------------------------------------------------------------------ arrays for Python

define internal i1 @is_array(ptr %object) {
  %class_at = getelementptr i8, ptr %object, i64 $OB_TYPE
  %class = load ptr, ptr %class_at
  %plain = icmp eq ptr %class, @numpy.ndarray
  %mapped = icmp eq ptr %class, @numpy.memmap
  %either = or i1 %plain, %mapped
  ret i1 %either
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
  %float_or_same = icmp eq i32 %its_type, %type
  %both = and i1 %data_equal, %nd_equal
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
; go on using them.
define internal ptr @hand_over(ptr %header, i32 %type, i32 %nd, ptr %dims) {
  %data_at = getelementptr i8, ptr %header, i64 $H_data
  %data = load ptr, ptr %data_at
  %made = call ptr @PyArray_New(ptr @numpy.ndarray, i32 %nd, ptr %dims, i32 %type, ptr null, ptr %data, i32 0,
                                i32 1281, ptr null)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %done, label %own
own:
  %flags_at = getelementptr i8, ptr %made, i64 $ARRAY_FLAGS
  %flags = load i32, ptr %flags_at
  %owning = or i32 %flags, $FLAG_OWNDATA
  store i32 %owning, ptr %flags_at
  call void @Py_IncRef(ptr @numpy.data_handler)
  %handler_at = getelementptr i8, ptr %made, i64 $ARRAY_HANDLER
  store ptr @numpy.data_handler, ptr %handler_at
  %object_at = getelementptr i8, ptr %header, i64 $H_object
  store ptr %made, ptr %object_at
  call void @Py_IncRef(ptr %made)
  br label %done
done:
  ret ptr %made
}

; An array for Python: the argument that it is, a view, or a fresh array; a new reference or null.
define ptr @zyg_box_array(ptr %data, ptr %owner, i32 %type, i32 %nd, ptr %dims, ptr %strides, i64 %itemsize) {
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
  %maybe = and i1 %from_start, %contiguous
  br i1 %maybe, label %count, label %part
count:
  %k = phi i64 [ 0, %whole ], [ %k1, %times ]
  %total = phi i64 [ %itemsize, %whole ], [ %product, %times ]
  %n = sext i32 %nd to i64
  %more = icmp slt i64 %k, %n
  br i1 %more, label %times, label %compare
times:
  %dim_at = getelementptr i64, ptr %dims, i64 %k
  %dim = load i64, ptr %dim_at
  %product = mul i64 %total, %dim
  %k1 = add i64 %k, 1
  br label %count
compare:
  %bytes_at = getelementptr i8, ptr %owner, i64 $H_bytes
  %bytes = load i64, ptr %bytes_at
  %all = icmp eq i64 %total, %bytes
  br i1 %all, label %give, label %part
give:
  %given = call ptr @hand_over(ptr %owner, i32 %type, i32 %nd, ptr %dims)
  ret ptr %given
part:
  %size = alloca i64
  %part_bytes_at = getelementptr i8, ptr %owner, i64 $H_bytes
  %part_bytes = load i64, ptr %part_bytes_at
  store i64 %part_bytes, ptr %size
  %memory = call ptr @hand_over(ptr %owner, i32 2, i32 1, ptr %size)
  %no_memory = icmp eq ptr %memory, null
  br i1 %no_memory, label %null, label %show
show:
  %result = call ptr @view(ptr %memory, ptr %data, i32 %type, i32 %nd, ptr %dims, ptr %strides)
  call void @Py_DecRef(ptr %memory)
  ret ptr %result
null:
  ret ptr null
}

; ------------------------------------------------------------------------------------------------- stacks

; Room for `bytes` more in a new chunk: {top, begin, end}; nulls if there is no memory.
define {ptr, ptr, ptr} @zyg_stack_grow(ptr %ctx, ptr %top, ptr %begin, ptr %end, i64 %bytes) {
entry:
  %absurd = icmp ugt i64 %bytes, 4611686018427387904
  br i1 %absurd, label %fail, label %sized
sized:
  %begin_number = ptrtoint ptr %begin to i64
  %end_number = ptrtoint ptr %end to i64
  %used = sub i64 %end_number, %begin_number
  %twice = shl i64 %used, 1
  %need = add i64 %bytes, $CHUNK_HEADER
  %capped = call i64 @llvm.umin.i64(i64 %twice, i64 1048576)
  %wish = call i64 @llvm.umax.i64(i64 %capped, i64 %need)
  %wish1 = call i64 @llvm.umax.i64(i64 %wish, i64 512)
  %less = sub i64 %wish1, 1
  %zeros = call i64 @llvm.ctlz.i64(i64 %less, i1 false)
  %class = sub i64 64, %zeros
  %power = shl i64 1, %class
  %regular = icmp ule i64 %class, $LARGEST_CHUNK
  br i1 %regular, label %kept, label %exact
kept:
  %slot_number = sub i64 %class, $SMALLEST_CHUNK
  %slots = getelementptr i8, ptr %ctx, i64 $C_chunks
  %slot = getelementptr ptr, ptr %slots, i64 %slot_number
  %old = load ptr, ptr %slot
  %none = icmp eq ptr %old, null
  br i1 %none, label %new, label %reuse
reuse:
  %next = load ptr, ptr %old
  store ptr %next, ptr %slot
  br label %ready
exact:
  %up = add i64 %need, 63
  %rounded = and i64 %up, -64
  br label %new
new:
  %size = phi i64 [ %power, %kept ], [ %rounded, %exact ]
  %made = call ptr @bump(ptr %ctx, i64 %size)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %fail, label %ready
ready:
  %chunk = phi ptr [ %old, %reuse ], [ %made, %new ]
  %chunk_size = phi i64 [ %power, %reuse ], [ %size, %new ]
  store ptr %begin, ptr %chunk
  %top_at = getelementptr i8, ptr %chunk, i64 8
  store ptr %top, ptr %top_at
  %end_at = getelementptr i8, ptr %chunk, i64 16
  store ptr %end, ptr %end_at
  %class_at = getelementptr i8, ptr %chunk, i64 24
  store i64 %class, ptr %class_at
  %new_begin = getelementptr i8, ptr %chunk, i64 $CHUNK_HEADER
  %new_end = getelementptr i8, ptr %chunk, i64 %chunk_size
  %a = insertvalue {ptr, ptr, ptr} poison, ptr %new_begin, 0
  %b = insertvalue {ptr, ptr, ptr} %a, ptr %new_begin, 1
  %c = insertvalue {ptr, ptr, ptr} %b, ptr %new_end, 2
  ret {ptr, ptr, ptr} %c
fail:
  ret {ptr, ptr, ptr} zeroinitializer
}

; The chunk before the one that begins at `begin`, skipping empty ones.
define {ptr, ptr, ptr} @zyg_stack_back(ptr %begin) {
entry:
  br label %back
back:
  %b = phi ptr [ %begin, %entry ], [ %previous, %look ]
  %none = icmp eq ptr %b, null
  br i1 %none, label %bottom, label %look
look:
  %chunk = getelementptr i8, ptr %b, i64 -$CHUNK_HEADER
  %previous = load ptr, ptr %chunk
  %top_at = getelementptr i8, ptr %chunk, i64 8
  %top = load ptr, ptr %top_at
  %empty = icmp eq ptr %top, %previous
  br i1 %empty, label %back, label %found
found:
  %end_at = getelementptr i8, ptr %chunk, i64 16
  %end = load ptr, ptr %end_at
  %x = insertvalue {ptr, ptr, ptr} poison, ptr %top, 0
  %y = insertvalue {ptr, ptr, ptr} %x, ptr %previous, 1
  %z = insertvalue {ptr, ptr, ptr} %y, ptr %end, 2
  ret {ptr, ptr, ptr} %z
bottom:
  ret {ptr, ptr, ptr} zeroinitializer
}

; The chunks of a stack that is not used again become free ones of the context.
define void @zyg_stack_drop(ptr %ctx, ptr %begin) {
entry:
  br label %each
each:
  %b = phi ptr [ %begin, %entry ], [ %previous, %keep ], [ %previous, %one ]
  %none = icmp eq ptr %b, null
  br i1 %none, label %done, label %one
one:
  %chunk = getelementptr i8, ptr %b, i64 -$CHUNK_HEADER
  %previous = load ptr, ptr %chunk
  %class_at = getelementptr i8, ptr %chunk, i64 24
  %class = load i64, ptr %class_at
  %regular = icmp ule i64 %class, $LARGEST_CHUNK
  br i1 %regular, label %keep, label %each
keep:
  %slot_number = sub i64 %class, $SMALLEST_CHUNK
  %slots = getelementptr i8, ptr %ctx, i64 $C_chunks
  %slot = getelementptr ptr, ptr %slots, i64 %slot_number
  %head = load ptr, ptr %slot
  store ptr %head, ptr %chunk
  store ptr %chunk, ptr %slot
  br label %each
done:
  ret void
}

; ---------------------------------------------------------------------------------------- the GIL, and signals

define internal i64 @now() {
  %time = alloca [2 x i64]
  %ignored = call i32 @clock_gettime(i32 1, ptr %time)
  %seconds = load i64, ptr %time
  %nanos_at = getelementptr i8, ptr %time, i64 8
  %nanos = load i64, ptr %nanos_at
  %scaled = mul i64 %seconds, 1000000000
  %result = add i64 %scaled, %nanos
  ret i64 %result
}

; -1 if a signal handler raised. A call that has run for long gives up the GIL.
define i32 @zyg_poll(ptr %ctx) cold {
entry:
  %count_at = getelementptr i8, ptr %ctx, i64 $C_poll_count
  store i64 $POLL_INTERVAL, ptr %count_at
  %now = call i64 @now()
  %start_at = getelementptr i8, ptr %ctx, i64 $C_poll_start
  %start = load i64, ptr %start_at
  %first = icmp eq i64 %start, 0
  br i1 %first, label %begin, label %later
begin:
  store i64 %now, ptr %start_at
  br label %go_on
later:
  %thread_at = getelementptr i8, ptr %ctx, i64 $C_thread
  %thread = load ptr, ptr %thread_at
  %away = icmp ne ptr %thread, null
  %limit = select i1 %away, i64 $AWAY_NS, i64 $HOLD_NS
  %elapsed = sub i64 %now, %start
  %long = icmp sge i64 %elapsed, %limit
  br i1 %long, label %look, label %go_on
look:
  store i64 %now, ptr %start_at
  call void @zyg_gil_take(ptr %ctx)
  %status = call i32 @PyErr_CheckSignals()
  %raised = icmp ne i32 %status, 0
  br i1 %raised, label %error, label %give
give:
  call void @zyg_gil_give(ptr %ctx)
  br label %go_on
go_on:
  ret i32 0
error:
  ret i32 -1
}

define void @zyg_gil_give(ptr %ctx) {
  %thread = call ptr @PyEval_SaveThread()
  %thread_at = getelementptr i8, ptr %ctx, i64 $C_thread
  store ptr %thread, ptr %thread_at
  ret void
}

define void @zyg_gil_take(ptr %ctx) {
  %thread_at = getelementptr i8, ptr %ctx, i64 $C_thread
  %thread = load ptr, ptr %thread_at
  %held = icmp eq ptr %thread, null
  br i1 %held, label %done, label %take
take:
  call void @PyEval_RestoreThread(ptr %thread)
  store ptr null, ptr %thread_at
  br label %done
done:
  ret void
}

; The lowest address that recursion in this thread may reach. The main thread's is looked up once (it is slow there).
define ptr @zyg_stack_limit() {
entry:
  %attributes = alloca [16 x i64]
  %address = alloca ptr
  %size = alloca i64
  %self = call i64 @pthread_self()
  %main = load i64, ptr @zyg_main_thread
  %is_main = icmp eq i64 %self, %main
  %known = load ptr, ptr @main_limit
  %have = icmp ne ptr %known, null
  %cached = and i1 %is_main, %have
  br i1 %cached, label %old, label %ask
old:
  ret ptr %known
ask:
  %status = call i32 @pthread_getattr_np(i64 %self, ptr %attributes)
  %failed = icmp ne i32 %status, 0
  br i1 %failed, label %guess, label %read
read:
  %ignored = call i32 @pthread_attr_getstack(ptr %attributes, ptr %address, ptr %size)
  %ignored2 = call i32 @pthread_attr_destroy(ptr %attributes)
  %low = load ptr, ptr %address
  %bytes = load i64, ptr %size
  %quarter = lshr i64 %bytes, 2
  %margin = call i64 @llvm.umin.i64(i64 %quarter, i64 $STACK_MARGIN)
  %limit = getelementptr i8, ptr %low, i64 %margin
  br i1 %is_main, label %remember, label %done
remember:
  store ptr %limit, ptr @main_limit
  br label %done
done:
  ret ptr %limit
guess:
  %below = getelementptr i8, ptr %attributes, i64 -$STACK_MARGIN
  ret ptr %below
}
"""
)
