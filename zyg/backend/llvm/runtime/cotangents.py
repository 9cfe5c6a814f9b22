"""Sums of cotangents, for reverse halves through Python: of two that flow, and in the shadows of lists, dicts and objects.

Numbers that are floats, tuples of them, and what is absent (None) are added here; all else by Python, as `accumulate` of
`autodiff/objects/cotangents.py` does.  What is done is what the functions in Python do that stand in `self` first.
"""

from __future__ import annotations

from .layout import fill
from .pull_text import written
from .questions import QUESTIONS

DEPTH = 50  # of tuples in tuples: deeper ones are left to Python, which counts them

_SELF = """  %in_python = item %self, 0
  %words_object = item %self, 1
  %words = getelementptr i8, ptr %words_object, i64 $BYTES_DATA
  %class = item %self, 2
  %general = item %self, 3
"""


def _pull(name: str, about: str, parts: str, body: str) -> str:
    """(back, d, shadows): what runs backs with these parts behind the function, of which `y` has a shadow of items that is a list, %shadow,
    of %count items and held. Where there is nothing in it, nothing is to be done; the body goes on to one of the labels behind it."""
    places = "".join(f"  %{part} = item %back, {k}\n" for k, part in enumerate(parts.split(), 1))
    return f"""
; Of {about}: a back is ({name}, {parts.replace(" ", ", ")}). `self` as above.
define ptr @{name}(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {{
entry:
{_SELF}  %back = at ptr, %args, 0
  %shadows = at ptr, %args, 2
  %type = field ptr, %shadows, $OB_TYPE
  %ours = icmp eq ptr %type, %class
  br i1 %ours, label %begin, label %slow
begin:
{places}  %items = slot 0
  %shadow = call ptr @shadow_of(ptr %items, ptr %y)
  %absent = icmp eq ptr %shadow, null
  br i1 %absent, label %error.test, label %look
error.test:
  %error = call ptr @PyErr_Occurred()
  %wrong = icmp ne ptr %error, null
  br i1 %wrong, label %fail, label %done
look:
  %shadow_type = field ptr, %shadow, $OB_TYPE
  %list = icmp eq ptr %shadow_type, @PyList_Type
  br i1 %list, label %hold, label %slow
hold:
  %count = field i64, %shadow, $OB_SIZE
  %empty = icmp eq i64 %count, 0
  br i1 %empty, label %done, label %have
have:
  call void @Py_IncRef(ptr %shadow)
{body}clear:
  %uncleared = call i32 @PyList_SetSlice(ptr %shadow, i64 0, i64 %count, ptr null)
  %cleared = icmp eq i32 %uncleared, 0
  br i1 %cleared, label %let_go, label %drop
let_go:
  call void @Py_DecRef(ptr %shadow)
  br label %done
leave:
  call void @Py_DecRef(ptr %shadow)
  br label %slow
drop:
  call void @Py_DecRef(ptr %shadow)
  br label %fail
done:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
slow:
  %result = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 3, ptr null)
  ret ptr %result
fail:
  ret ptr null
}}
"""


_PART = """  %start = call i64 @PyLong_AsSsize_t(ptr %first)
  %step = call i64 @PyLong_AsSsize_t(ptr %by)
  %undone = call i32 @add_items(ptr %shadows, ptr %words, ptr %general, ptr %x, i64 %start, i64 %step, ptr %shadow, i64 0, i64 %count)
  switch i32 %undone, label %drop [ i32 0, label %clear
                                    i32 1, label %leave ]
"""

_JOINED = """  %length = call i64 @PyLong_AsSsize_t(ptr %length_object)
  %beyond = icmp sgt i64 %count, %length
  br i1 %beyond, label %second, label %first
second:
  %unadded = call i32 @add_items(ptr %shadows, ptr %words, ptr %general, ptr %b, i64 0, i64 1, ptr %shadow, i64 %length, i64 %count)
  switch i32 %unadded, label %drop [ i32 0, label %first
                                     i32 1, label %leave ]
first:
  %to_a = call i32 @add_items(ptr %shadows, ptr %words, ptr %general, ptr %a, i64 0, i64 1, ptr %shadow, i64 0, i64 %length)
  %added = icmp eq i32 %to_a, 0
  br i1 %added, label %clear, label %drop
"""

_PERMUTED = """  %order_type = field ptr, %order, $OB_TYPE
  %order_list = icmp eq ptr %order_type, @PyList_Type
  br i1 %order_list, label %make, label %leave
make:
  %total = field i64, %order, $OB_SIZE
  %made = call ptr @PyList_New(i64 0)
  %unmade = icmp eq ptr %made, null
  br i1 %unmade, label %drop, label %fill.test
fill.test:
  %length = field i64, %made, $OB_SIZE
  %short = icmp slt i64 %length, %total
  br i1 %short, label %fill, label %each.test
fill:
  %unfilled = call i32 @PyList_Append(ptr %made, ptr @_Py_NoneStruct)
  %filled = icmp eq i32 %unfilled, 0
  br i1 %filled, label %fill.test, label %lose
each.test:
  %k = phi i64 [ 0, %fill.test ], [ %k1, %put ]
  %in_shadow = icmp slt i64 %k, %count
  %in_order = icmp slt i64 %k, %total
  %more = and i1 %in_shadow, %in_order
  br i1 %more, label %each, label %replace
each:
  %numbers = field ptr, %order, $LIST_ITEMS
  %number = at ptr, %numbers, %k
  %at = call i64 @PyLong_AsSsize_t(ptr %number)
  %places = field ptr, %shadow, $LIST_ITEMS
  %c = at ptr, %places, %k
  call void @Py_IncRef(ptr %c)
  %unput = call i32 @PyList_SetItem(ptr %made, i64 %at, ptr %c)
  %put_there = icmp eq i32 %unput, 0
  br i1 %put_there, label %put, label %lose
put:
  %k1 = add i64 %k, 1
  br label %each.test
replace:
  %unreplaced = call i32 @PyList_SetSlice(ptr %shadow, i64 0, i64 %count, ptr %made)
  call void @Py_DecRef(ptr %made)
  %replaced = icmp eq i32 %unreplaced, 0
  br i1 %replaced, label %let_go, label %drop
lose:
  call void @Py_DecRef(ptr %made)
  br label %drop
"""

_REVERSED = """  %total = call i64 @PyLong_AsSsize_t(ptr %total_object)
  br label %fill.test
fill.test:
  %length = field i64, %shadow, $OB_SIZE
  %short = icmp slt i64 %length, %total
  br i1 %short, label %fill, label %turn
fill:
  %unfilled = call i32 @PyList_Append(ptr %shadow, ptr @_Py_NoneStruct)
  %filled = icmp eq i32 %unfilled, 0
  br i1 %filled, label %fill.test, label %drop
turn:
  %unturned = call i32 @PyList_Reverse(ptr %shadow)
  %turned = icmp eq i32 %unturned, 0
  br i1 %turned, label %let_go, label %drop
"""

_SET = """  %start = call i64 @PyLong_AsSsize_t(ptr %start_object)
  %stop = call i64 @PyLong_AsSsize_t(ptr %stop_object)
  %length = call i64 @PyLong_AsSsize_t(ptr %length_object)
  %reaches = icmp sgt i64 %count, %start
  br i1 %reaches, label %kind.test, label %let_go
kind.test:
  %value_type = field ptr, %value, $OB_TYPE
  %value_list = icmp eq ptr %value_type, @PyList_Type
  br i1 %value_list, label %take, label %leave
take:
  %end = add i64 %start, %length
  %taken = call ptr @PyList_GetSlice(ptr %shadow, i64 %start, i64 %end)
  %untaken = icmp eq ptr %taken, null
  br i1 %untaken, label %drop, label %before
before:
  %made = call ptr @PyList_New(i64 0)
  %unmade = icmp eq ptr %made, null
  br i1 %unmade, label %give_up, label %fill.test
fill.test:
  %k = phi i64 [ %start, %before ], [ %k1, %filled_one ]
  %more = icmp slt i64 %k, %stop
  br i1 %more, label %fill, label %replace
fill:
  %unfilled = call i32 @PyList_Append(ptr %made, ptr @_Py_NoneStruct)
  %filled = icmp eq i32 %unfilled, 0
  br i1 %filled, label %filled_one, label %lose
filled_one:
  %k1 = add i64 %k, 1
  br label %fill.test
replace:
  %unreplaced = call i32 @PyList_SetSlice(ptr %shadow, i64 %start, i64 %end, ptr %made)
  %replaced = icmp eq i32 %unreplaced, 0
  br i1 %replaced, label %give, label %lose
give:
  call void @Py_DecRef(ptr %made)
  %given = field i64, %taken, $OB_SIZE
  %undone = call i32 @add_items(ptr %shadows, ptr %words, ptr %general, ptr %value, i64 0, i64 1, ptr %taken, i64 0, i64 %given)
  call void @Py_DecRef(ptr %taken)
  %is_done = icmp eq i32 %undone, 0
  br i1 %is_done, label %let_go, label %drop
lose:
  call void @Py_DecRef(ptr %made)
  br label %give_up
give_up:
  call void @Py_DecRef(ptr %taken)
  br label %drop
"""

_PULLS = [
    _pull(
        "zyg_pull_set", "items that were set to those of a list", "y start_object stop_object value length_object", _SET
    ),
    _pull("zyg_pull_part", "some items of a list, from the first place on at every step", "y x first by", _PART),
    _pull("zyg_pull_joined", "the sum of two lists, of which one has a length", "y a b length_object", _JOINED),
    _pull("zyg_pull_permuted", "a list that was sorted, by where each of its items was before", "y order", _PERMUTED),
    _pull("zyg_pull_reversed", "a list that was reversed, of a length", "y total_object", _REVERSED),
]

_TEXT = (
    """
declare ptr @PyLong_FromVoidPtr(ptr)
declare i64 @PyLong_AsSsize_t(ptr)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyFloat_FromDouble(double)
declare ptr @PyErr_Occurred()
declare void @PyErr_Clear()
declare ptr @PyDict_GetItemWithError(ptr, ptr)
declare i32 @PyDict_SetItem(ptr, ptr, ptr)
declare ptr @PyDict_New()
declare i32 @PyDict_DelItem(ptr, ptr)
declare void @PyDict_Clear(ptr)
declare i32 @PyDict_Next(ptr, ptr, ptr, ptr)
declare i32 @PySet_Contains(ptr, ptr)
declare ptr @PyList_New(i64)
declare i32 @PyList_Append(ptr, ptr)
declare ptr @PyList_GetItem(ptr, i64)
declare i32 @PyList_SetItem(ptr, i64, ptr)
declare i32 @PyList_SetSlice(ptr, i64, i64, ptr)
declare i32 @PyList_Reverse(ptr)
declare ptr @PyList_GetSlice(ptr, i64, i64)
declare ptr @PyTuple_New(i64)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyObject_GetAttr(ptr, ptr)
declare i32 @PyObject_SetAttr(ptr, ptr, ptr)
declare i32 @PyType_IsSubtype(ptr, ptr)
declare i32 @PyUnicode_ReadChar(ptr, i64)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
@PyFloat_Type = external global i8
@PyLong_Type = external global i8
@PyTuple_Type = external global i8
@PyList_Type = external global i8
@PyDict_Type = external global i8
@PyBool_Type = external global i8
@PyBytes_Type = external global i8
@PyUnicode_Type = external global i8
@_Py_NoneStruct = external global i8
@_Py_TrueStruct = external global i8
@_Py_FalseStruct = external global i8

; The sum of two cotangents: a new reference, or null with an error. `general` adds what is neither a float nor a tuple.
define internal ptr @sum(ptr %x, ptr %y, ptr %general, i64 %depth) {
entry:
  %both = alloca [2 x ptr]
  %x_none = icmp eq ptr %x, @_Py_NoneStruct
  br i1 %x_none, label %second, label %first.test
second:
  call void @Py_IncRef(ptr %y)
  ret ptr %y
first.test:
  %y_none = icmp eq ptr %y, @_Py_NoneStruct
  br i1 %y_none, label %first, label %types
first:
  call void @Py_IncRef(ptr %x)
  ret ptr %x
types:
  %x_type = field ptr, %x, $OB_TYPE
  %y_type = field ptr, %y, $OB_TYPE
  %one_type = icmp eq ptr %x_type, %y_type
  br i1 %one_type, label %float.test, label %other
float.test:
  %float = icmp eq ptr %x_type, @PyFloat_Type
  br i1 %float, label %floats, label %tuple.test
floats:
  %x_value = field double, %x, $FLOAT_VALUE
  %y_value = field double, %y, $FLOAT_VALUE
  %value = fadd double %x_value, %y_value
  %number = call ptr @PyFloat_FromDouble(double %value)
  ret ptr %number
tuple.test:
  %tuple = icmp eq ptr %x_type, @PyTuple_Type
  br i1 %tuple, label %lengths, label %other
lengths:
  %count = field i64, %x, $OB_SIZE
  %y_count = field i64, %y, $OB_SIZE
  %as_many = icmp eq i64 %count, %y_count
  %shallow = icmp slt i64 %depth, $DEPTH
  %fits = and i1 %as_many, %shallow
  br i1 %fits, label %make, label %other
make:
  %made = call ptr @PyTuple_New(i64 %count)
  %unmade = icmp eq ptr %made, null
  br i1 %unmade, label %fail, label %each.test
each.test:
  %k = phi i64 [ 0, %make ], [ %k1, %put ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %each, label %done
each:
  %a = item %x, %k
  %b = item %y, %k
  %deeper = add i64 %depth, 1
  %c = call ptr @sum(ptr %a, ptr %b, ptr %general, i64 %deeper)
  %none = icmp eq ptr %c, null
  br i1 %none, label %lose, label %put
put:
  put %c, %made, %k
  %k1 = add i64 %k, 1
  br label %each.test
lose:
  call void @Py_DecRef(ptr %made)
  br label %fail
done:
  ret ptr %made
other:
  store ptr %x, ptr %both
  %both1 = getelementptr ptr, ptr %both, i64 1
  store ptr %y, ptr %both1
  %by_python = call ptr @PyObject_Vectorcall(ptr %general, ptr %both, i64 2, ptr null)
  ret ptr %by_python
fail:
  ret ptr null
}

; The shadow of the items of an object (borrowed), null if there is none, or with an error. It gives the key, too.
define internal ptr @shadow_of(ptr %items, ptr %x) {
  %key = call ptr @PyLong_FromVoidPtr(ptr %x)
  %no_key = icmp eq ptr %key, null
  br i1 %no_key, label %fail, label %look
look:
  %shadow = call ptr @PyDict_GetItemWithError(ptr %items, ptr %key)
  call void @Py_DecRef(ptr %key)
  ret ptr %shadow
fail:
  ret ptr null
}

; Add to the item of a shadow, a list, at a position that it has. 0 if that is done.
define internal i32 @add_at(ptr %shadow, i64 %at, ptr %d, ptr %general) {
entry:
  %old = call ptr @PyList_GetItem(ptr %shadow, i64 %at)
  %outside = icmp eq ptr %old, null
  br i1 %outside, label %fail, label %add
add:
  call void @Py_IncRef(ptr %old)
  %new = call ptr @sum(ptr %old, ptr %d, ptr %general, i64 0)
  call void @Py_DecRef(ptr %old)
  %none = icmp eq ptr %new, null
  br i1 %none, label %fail, label %set
set:
  %unset = call i32 @PyList_SetItem(ptr %shadow, i64 %at, ptr %new)
  ret i32 %unset
fail:
  ret i32 -1
}

; Add to what a shadow, a dict, has at a key. 0 if that is done.
define internal i32 @add_item(ptr %shadow, ptr %key, ptr %d, ptr %general) {
  %old = call ptr @PyDict_GetItemWithError(ptr %shadow, ptr %key)
  %absent = icmp eq ptr %old, null
  br i1 %absent, label %error.test, label %hold
error.test:
  %error = call ptr @PyErr_Occurred()
  %wrong = icmp ne ptr %error, null
  br i1 %wrong, label %fail, label %first
first:
  %unset = call i32 @PyDict_SetItem(ptr %shadow, ptr %key, ptr %d)
  ret i32 %unset
hold:
  call void @Py_IncRef(ptr %old)
  %new = call ptr @sum(ptr %old, ptr %d, ptr %general, i64 0)
  call void @Py_DecRef(ptr %old)
  %none = icmp eq ptr %new, null
  br i1 %none, label %fail, label %set
set:
  %unput = call i32 @PyDict_SetItem(ptr %shadow, ptr %key, ptr %new)
  call void @Py_DecRef(ptr %new)
  ret i32 %unput
fail:
  ret i32 -1
}

; Whether what an object has, or would have, as the shadow of its items is exactly a dict: 1 if so, 0 if not.
define internal i32 @has_dict(ptr %shadows, ptr %words, ptr %x) {
  %items = slot 0
  %shadow = call ptr @shadow_of(ptr %items, ptr %x)
  %absent = icmp eq ptr %shadow, null
  br i1 %absent, label %error.test, label %look
error.test:
  %error = call ptr @PyErr_Occurred()
  %wrong = icmp ne ptr %error, null
  br i1 %wrong, label %fail, label %mapping
mapping:
  %x_type = field ptr, %x, $OB_TYPE
  %derived = call i32 @PyType_IsSubtype(ptr %x_type, ptr @PyDict_Type)
  ret i32 %derived
look:
  %type = field ptr, %shadow, $OB_TYPE
  %dict = icmp eq ptr %type, @PyDict_Type
  %found = zext i1 %dict to i32
  ret i32 %found
fail:
  call void @PyErr_Clear()
  ret i32 0
}

; That dict (borrowed), made if there is none; null with an error.
define internal ptr @dict_of(ptr %shadows, ptr %words, ptr %x) {
  %items = slot 0
  %shadow = call ptr @shadow_of(ptr %items, ptr %x)
  %absent = icmp eq ptr %shadow, null
  br i1 %absent, label %error.test, label %there
there:
  ret ptr %shadow
error.test:
  %error = call ptr @PyErr_Occurred()
  %wrong = icmp ne ptr %error, null
  br i1 %wrong, label %fail, label %new
new:
  %made = call ptr @PyDict_New()
  %unmade = icmp eq ptr %made, null
  br i1 %unmade, label %fail, label %key
key:
  %key_ = call ptr @PyLong_FromVoidPtr(ptr %x)
  %no_key = icmp eq ptr %key_, null
  br i1 %no_key, label %lose, label %note
note:
  %unset = call i32 @PyDict_SetItem(ptr %items, ptr %key_, ptr %made)
  call void @Py_DecRef(ptr %key_)
  call void @Py_DecRef(ptr %made)
  %kept = slot 1
  %unkept = call i32 @PyList_Append(ptr %kept, ptr %x)
  %neither = or i32 %unset, %unkept
  %noted = icmp eq i32 %neither, 0
  br i1 %noted, label %done, label %fail
done:
  ret ptr %made
lose:
  call void @Py_DecRef(ptr %made)
  br label %fail
fail:
  ret ptr null
}

; Add the items of a list from `from` up to `to` to the cotangents of the items of a sequence from `start` on, at every `step`. 0 if that
; is done; 1 if it is left to Python, and nothing is done.
define internal i32 @add_items(ptr %shadows, ptr %words, ptr %general, ptr %sequence, i64 %start, i64 %step, ptr %ds, i64 %from, i64 %to) {
entry:
  ; Backwards the first place is the last one.
  %backwards = icmp slt i64 %step, 0
  %behind = add i64 %start, 1
  %filled_to = select i1 %backwards, i64 %behind, i64 %start
  %items = slot 0
  %shadow = call ptr @shadow_of(ptr %items, ptr %sequence)
  %absent = icmp eq ptr %shadow, null
  br i1 %absent, label %error.test, label %there
error.test:
  %error = call ptr @PyErr_Occurred()
  %wrong = icmp ne ptr %error, null
  br i1 %wrong, label %fail, label %new
new:
  %made = call ptr @PyList_New(i64 0)
  %unmade = icmp eq ptr %made, null
  br i1 %unmade, label %fail, label %key
key:
  %key_ = call ptr @PyLong_FromVoidPtr(ptr %sequence)
  %no_key = icmp eq ptr %key_, null
  br i1 %no_key, label %lose, label %note
note:
  %unset = call i32 @PyDict_SetItem(ptr %items, ptr %key_, ptr %made)
  call void @Py_DecRef(ptr %key_)
  %kept = slot 1
  %unkept = call i32 @PyList_Append(ptr %kept, ptr %sequence)
  %neither = or i32 %unset, %unkept
  %noted = icmp eq i32 %neither, 0
  br i1 %noted, label %fill, label %lose
lose:
  call void @Py_DecRef(ptr %made)
  br label %fail
there:
  %type = field ptr, %shadow, $OB_TYPE
  %list = icmp eq ptr %type, @PyList_Type
  br i1 %list, label %hold, label %left
hold:
  call void @Py_IncRef(ptr %shadow)
  br label %fill
fill:
  %to_fill = phi ptr [ %made, %note ], [ %shadow, %hold ]
  br label %fill.test
fill.test:
  %length = field i64, %to_fill, $OB_SIZE
  %short = icmp slt i64 %length, %filled_to
  br i1 %short, label %append_none, label %each.test
append_none:
  %unfilled = call i32 @PyList_Append(ptr %to_fill, ptr @_Py_NoneStruct)
  %filled = icmp eq i32 %unfilled, 0
  br i1 %filled, label %fill.test, label %drop
each.test:
  %k = phi i64 [ %from, %fill.test ], [ %k1, %next ]
  %at = phi i64 [ %start, %fill.test ], [ %at1, %next ]
  %given = field i64, %ds, $OB_SIZE
  %in_list = icmp slt i64 %k, %given
  %in_range = icmp slt i64 %k, %to
  %more = and i1 %in_list, %in_range
  br i1 %more, label %each, label %done
each:
  %places = field ptr, %ds, $LIST_ITEMS
  %d = at ptr, %places, %k
  %size = field i64, %to_fill, $OB_SIZE
  %inside = icmp slt i64 %at, %size
  br i1 %inside, label %none.test, label %reach.test
reach.test:
  %next_place = icmp eq i64 %at, %size
  br i1 %next_place, label %append, label %reach
reach:
  %unreached = call i32 @PyList_Append(ptr %to_fill, ptr @_Py_NoneStruct)
  %reached = icmp eq i32 %unreached, 0
  br i1 %reached, label %each, label %drop
none.test:
  %nothing = icmp eq ptr %d, @_Py_NoneStruct
  br i1 %nothing, label %next, label %add
add:
  call void @Py_IncRef(ptr %d)
  %unadded = call i32 @add_at(ptr %to_fill, i64 %at, ptr %d, ptr %general)
  call void @Py_DecRef(ptr %d)
  br label %check
append:
  %unappended = call i32 @PyList_Append(ptr %to_fill, ptr %d)
  br label %check
check:
  %status = phi i32 [ %unadded, %add ], [ %unappended, %append ]
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %next, label %drop
next:
  %k1 = add i64 %k, 1
  %at1 = add i64 %at, %step
  br label %each.test
drop:
  call void @Py_DecRef(ptr %to_fill)
  br label %fail
done:
  call void @Py_DecRef(ptr %to_fill)
  ret i32 0
left:
  ret i32 1
fail:
  ret i32 -1
}

; (shadows, sequence, start, ds). `self` is (what does the same in Python, words, the class of shadows, what adds cotangents).
define ptr @zyg_add_all(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
"""
    + _SELF
    + """  %shadows = at ptr, %args, 0
  %sequence = at ptr, %args, 1
  %start_object = at ptr, %args, 2
  %ds = at ptr, %args, 3
  %type = field ptr, %shadows, $OB_TYPE
  %ours = icmp eq ptr %type, %class
  %ds_type = field ptr, %ds, $OB_TYPE
  %listed = icmp eq ptr %ds_type, @PyList_Type
  %start_type = field ptr, %start_object, $OB_TYPE
  %of_int = icmp eq ptr %start_type, @PyLong_Type
  %o = and i1 %ours, %listed
  %usual = and i1 %o, %of_int
  br i1 %usual, label %begin, label %slow
begin:
  %start = call i64 @PyLong_AsSsize_t(ptr %start_object)
  %count = field i64, %ds, $OB_SIZE
  %undone = call i32 @add_items(ptr %shadows, ptr %words, ptr %general, ptr %sequence, i64 %start, i64 1, ptr %ds, i64 0, i64 %count)
  switch i32 %undone, label %fail [ i32 0, label %done
                                    i32 1, label %slow ]
done:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
slow:
  %result = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 4, ptr null)
  ret ptr %result
fail:
  ret ptr null
}
"""
    + "".join(_PULLS)
    + """
; (shadows, shadow, part, d). `self` is (what does the same in Python, the class of shadows of attributes, what adds cotangents).
define ptr @zyg_add_part(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
  %in_python = item %self, 0
  %class = item %self, 1
  %general = item %self, 2
  %shadow = at ptr, %args, 1
  %part = at ptr, %args, 2
  %d = at ptr, %args, 3
  %type = field ptr, %shadow, $OB_TYPE
  %list = icmp eq ptr %type, @PyList_Type
  br i1 %list, label %position, label %dict.test
position:
  %part_type = field ptr, %part, $OB_TYPE
  %int = icmp eq ptr %part_type, @PyLong_Type
  br i1 %int, label %index, label %slow
index:
  %at = call i64 @PyLong_AsSsize_t(ptr %part)
  %size = field i64, %shadow, $OB_SIZE
  %inside = icmp ult i64 %at, %size
  br i1 %inside, label %add, label %sign.test
sign.test:
  %negative = icmp slt i64 %at, 0
  br i1 %negative, label %forget, label %reach.test
reach.test:
  %length = field i64, %shadow, $OB_SIZE
  %short = icmp slt i64 %length, %at
  br i1 %short, label %reach, label %append
reach:
  %unreached = call i32 @PyList_Append(ptr %shadow, ptr @_Py_NoneStruct)
  %reached = icmp eq i32 %unreached, 0
  br i1 %reached, label %reach.test, label %fail
append:
  %unappended = call i32 @PyList_Append(ptr %shadow, ptr %d)
  %appended = icmp eq i32 %unappended, 0
  br i1 %appended, label %done, label %fail
add:
  %unadded = call i32 @add_at(ptr %shadow, i64 %at, ptr %d, ptr %general)
  %added = icmp eq i32 %unadded, 0
  br i1 %added, label %done, label %fail
dict.test:
  %dict = icmp eq ptr %type, @PyDict_Type
  br i1 %dict, label %item, label %holder.test
item:
  %undone = call i32 @add_item(ptr %shadow, ptr %part, ptr %d, ptr %general)
  br label %check
holder.test:
  %derived = call i32 @PyType_IsSubtype(ptr %type, ptr %class)
  %holder = icmp ne i32 %derived, 0
  br i1 %holder, label %name.test, label %slow
name.test:
  %name_type = field ptr, %part, $OB_TYPE
  %text = icmp eq ptr %name_type, @PyUnicode_Type
  br i1 %text, label %letter, label %slow
letter:
  %c = call i32 @PyUnicode_ReadChar(ptr %part, i64 0)
  %special = icmp eq i32 %c, 95
  %empty = icmp eq i32 %c, -1
  %strange = or i1 %special, %empty
  br i1 %strange, label %forget, label %read
read:
  %old = call ptr @PyObject_GetAttr(ptr %shadow, ptr %part)
  %unread = icmp eq ptr %old, null
  br i1 %unread, label %forget, label %sum_up
forget:
  call void @PyErr_Clear()
  br label %slow
sum_up:
  %new = call ptr @sum(ptr %old, ptr %d, ptr %general, i64 0)
  call void @Py_DecRef(ptr %old)
  %none = icmp eq ptr %new, null
  br i1 %none, label %fail, label %set_attribute
set_attribute:
  %unwritten = call i32 @PyObject_SetAttr(ptr %shadow, ptr %part, ptr %new)
  call void @Py_DecRef(ptr %new)
  br label %check
check:
  %status = phi i32 [ %undone, %item ], [ %unwritten, %set_attribute ]
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %done, label %fail
done:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
slow:
  %result = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 4, ptr null)
  ret ptr %result
fail:
  ret ptr null
}

; The cotangent of a tuple of so many items, `d` (None, or a tuple), with those of its items at some places: null without an error
; where this is left to Python.
define internal ptr @join(ptr %d, i64 %count, ptr %numbers, ptr %parts, i64 %part_count, ptr %general) {
entry:
  %places = field i64, %numbers, $OB_SIZE
  %as_many = icmp eq i64 %places, %part_count
  %d_none = icmp eq ptr %d, @_Py_NoneStruct
  br i1 %as_many, label %kind.test, label %no
kind.test:
  br i1 %d_none, label %make, label %tuple.test
tuple.test:
  %d_type = field ptr, %d, $OB_TYPE
  %d_tuple = icmp eq ptr %d_type, @PyTuple_Type
  %d_count = field i64, %d, $OB_SIZE
  %d_long = icmp eq i64 %d_count, %count
  %d_fits = and i1 %d_tuple, %d_long
  br i1 %d_fits, label %make, label %no
make:
  %made = call ptr @PyTuple_New(i64 %count)
  %unmade = icmp eq ptr %made, null
  br i1 %unmade, label %no, label %fill.test
fill.test:
  %f = phi i64 [ 0, %make ], [ %f1, %fill_one ]
  %to_fill = icmp slt i64 %f, %count
  br i1 %to_fill, label %fill, label %each.test
fill:
  br i1 %d_none, label %fill_one, label %copy
copy:
  %of_d = item %d, %f
  br label %fill_one
fill_one:
  %filling = phi ptr [ @_Py_NoneStruct, %fill ], [ %of_d, %copy ]
  call void @Py_IncRef(ptr %filling)
  put %filling, %made, %f
  %f1 = add i64 %f, 1
  br label %fill.test
each.test:
  %k = phi i64 [ 0, %fill.test ], [ %k1, %next ]
  %more = icmp slt i64 %k, %part_count
  br i1 %more, label %each, label %done
each:
  %part = at ptr, %parts, %k
  %nothing = icmp eq ptr %part, @_Py_NoneStruct
  br i1 %nothing, label %next, label %number.test
number.test:
  %number = item %numbers, %k
  %number_type = field ptr, %number, $OB_TYPE
  %int = icmp eq ptr %number_type, @PyLong_Type
  br i1 %int, label %read, label %drop
read:
  %at = call i64 @PyLong_AsSsize_t(ptr %number)
  %inside = icmp ult i64 %at, %count
  br i1 %inside, label %add, label %drop
add:
  %old = item %made, %at
  %new = call ptr @sum(ptr %old, ptr %part, ptr %general, i64 0)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %drop, label %set
set:
  put %new, %made, %at
  call void @Py_DecRef(ptr %old)
  br label %next
next:
  %k1 = add i64 %k, 1
  br label %each.test
done:
  ret ptr %made
drop:
  call void @Py_DecRef(ptr %made)
  br label %no
no:
  ret ptr null
}

; (d, x, places, *parts): the cotangent of a tuple x, with those of its items. `self` is (what does the same in Python, what is known of
; classes by their identity or None, what adds cotangents): where places may be names, that has the numbers for which they stand.
define ptr @zyg_join(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
  %in_python = item %self, 0
  %classes = item %self, 1
  %general = item %self, 2
  %d = at ptr, %args, 0
  %x = at ptr, %args, 1
  %places = at ptr, %args, 2
  %parts = getelementptr ptr, ptr %args, i64 3
  %part_count = sub i64 %nargs, 3
  %type = field ptr, %x, $OB_TYPE
  %derived = call i32 @PyType_IsSubtype(ptr %type, ptr @PyTuple_Type)
  %tuple = icmp ne i32 %derived, 0
  br i1 %tuple, label %count, label %slow
count:
  %length = field i64, %x, $OB_SIZE
  %by_number = icmp eq ptr %classes, @_Py_NoneStruct
  br i1 %by_number, label %go, label %class
class:
  %known = call ptr @shadow_of(ptr %classes, ptr %type)
  %unknown = icmp eq ptr %known, null
  br i1 %unknown, label %error.test, label %names
names:
  %several = item %known, 1
  %found = call ptr @PyDict_GetItemWithError(ptr %several, ptr %places)
  %unfound = icmp eq ptr %found, null
  br i1 %unfound, label %error.test, label %length.test
length.test:
  %their_length = item %found, 0
  %for = call i64 @PyLong_AsSsize_t(ptr %their_length)
  %fits = icmp eq i64 %for, %length
  br i1 %fits, label %numbers, label %slow
numbers:
  %of_names = item %found, 1
  br label %go
go:
  %numbers_ = phi ptr [ %places, %count ], [ %of_names, %numbers ]
  %result = call ptr @join(ptr %d, i64 %length, ptr %numbers_, ptr %parts, i64 %part_count, ptr %general)
  %none = icmp eq ptr %result, null
  br i1 %none, label %error.test, label %done
done:
  ret ptr %result
error.test:
  %error = call ptr @PyErr_Occurred()
  %wrong = icmp ne ptr %error, null
  br i1 %wrong, label %fail, label %slow
slow:
  %by_python = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 %nargs, ptr null)
  ret ptr %by_python
fail:
  ret ptr null
}

; (back, d, shadows) of the sum of a list: a back is (zyg_pull_summed, list, its length).
define ptr @zyg_pull_summed(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
"""
    + _SELF
    + """
  %back = at ptr, %args, 0
  %d = at ptr, %args, 1
  %shadows = at ptr, %args, 2
  %type = field ptr, %shadows, $OB_TYPE
  %ours = icmp eq ptr %type, %class
  %none = icmp eq ptr %d, @_Py_NoneStruct
  br i1 %ours, label %none.test, label %slow
none.test:
  br i1 %none, label %nothing, label %begin
begin:
  %items = item %back, 1
  %count_object = item %back, 2
  %count = call i64 @PyLong_AsSsize_t(ptr %count_object)
  %ds = call ptr @PyList_New(i64 0)
  %unmade = icmp eq ptr %ds, null
  br i1 %unmade, label %fail, label %fill.test
fill.test:
  %length = field i64, %ds, $OB_SIZE
  %short = icmp slt i64 %length, %count
  br i1 %short, label %fill, label %add
fill:
  %unfilled = call i32 @PyList_Append(ptr %ds, ptr %d)
  %filled = icmp eq i32 %unfilled, 0
  br i1 %filled, label %fill.test, label %lose
add:
  %undone = call i32 @add_items(ptr %shadows, ptr %words, ptr %general, ptr %items, i64 0, i64 1, ptr %ds, i64 0, i64 %count)
  switch i32 %undone, label %lose [ i32 0, label %added
                                    i32 1, label %leave ]
added:
  call void @Py_DecRef(ptr %ds)
  %result = call ptr @PyTuple_New(i64 3)
  %no_result = icmp eq ptr %result, null
  br i1 %no_result, label %fail, label %give
give:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  call void @Py_IncRef(ptr %d)
  put @_Py_NoneStruct, %result, 0
  put @_Py_NoneStruct, %result, 1
  put %d, %result, 2
  ret ptr %result
nothing:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
leave:
  call void @Py_DecRef(ptr %ds)
  br label %slow
slow:
  %done = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 3, ptr null)
  ret ptr %done
lose:
  call void @Py_DecRef(ptr %ds)
  br label %fail
fail:
  ret ptr null
}

; (shadows, d, y, *items) of the display of a list y: a list of the cotangents of the items, or None.
define ptr @zyg_made_list(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
"""
    + _SELF
    + """
  %shadows = at ptr, %args, 0
  %y = at ptr, %args, 2
  %total = sub i64 %nargs, 3
  %type = field ptr, %shadows, $OB_TYPE
  %ours = icmp eq ptr %type, %class
  br i1 %ours, label %begin, label %slow
begin:
  %items = slot 0
  %shadow = call ptr @shadow_of(ptr %items, ptr %y)
  %absent = icmp eq ptr %shadow, null
  br i1 %absent, label %error.test, label %look
error.test:
  %error = call ptr @PyErr_Occurred()
  %wrong = icmp ne ptr %error, null
  br i1 %wrong, label %fail, label %nothing
look:
  %shadow_type = field ptr, %shadow, $OB_TYPE
  %list = icmp eq ptr %shadow_type, @PyList_Type
  br i1 %list, label %some.test, label %slow
some.test:
  %count = field i64, %shadow, $OB_SIZE
  %empty = icmp eq i64 %count, 0
  br i1 %empty, label %nothing, label %take
take:
  call void @Py_IncRef(ptr %shadow)
  %taken = call ptr @PyList_GetSlice(ptr %shadow, i64 0, i64 %count)
  %untaken = icmp eq ptr %taken, null
  br i1 %untaken, label %drop, label %clear
clear:
  %uncleared = call i32 @PyList_SetSlice(ptr %shadow, i64 0, i64 %count, ptr null)
  %cleared = icmp eq i32 %uncleared, 0
  br i1 %cleared, label %fill.test, label %lose
fill.test:
  %length = field i64, %taken, $OB_SIZE
  %short = icmp slt i64 %length, %total
  br i1 %short, label %fill, label %done
fill:
  %unfilled = call i32 @PyList_Append(ptr %taken, ptr @_Py_NoneStruct)
  %filled = icmp eq i32 %unfilled, 0
  br i1 %filled, label %fill.test, label %lose
lose:
  call void @Py_DecRef(ptr %taken)
  br label %drop
drop:
  call void @Py_DecRef(ptr %shadow)
  br label %fail
done:
  call void @Py_DecRef(ptr %shadow)
  ret ptr %taken
nothing:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
slow:
  %result = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 %nargs, ptr null)
  ret ptr %result
fail:
  ret ptr null
}

; (shadows, mapping, keys, ds, first): add to the cotangents of the values at keys what stands in a list or tuple from `first` on, as far
; as there is something. `self` as above.
define ptr @zyg_add_keys(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
entry:
"""
    + _SELF
    + """
  %shadows = at ptr, %args, 0
  %mapping = at ptr, %args, 1
  %keys = at ptr, %args, 2
  %ds = at ptr, %args, 3
  %first_object = at ptr, %args, 4
  %type = field ptr, %shadows, $OB_TYPE
  %ours = icmp eq ptr %type, %class
  %keys_type = field ptr, %keys, $OB_TYPE
  %keys_tuple = icmp eq ptr %keys_type, @PyTuple_Type
  %ds_type = field ptr, %ds, $OB_TYPE
  %ds_tuple = icmp eq ptr %ds_type, @PyTuple_Type
  %ds_list = icmp eq ptr %ds_type, @PyList_Type
  %listed = or i1 %ds_tuple, %ds_list
  %o = and i1 %ours, %keys_tuple
  %usual = and i1 %o, %listed
  br i1 %usual, label %ask, label %slow
ask:
  %dict = call i32 @has_dict(ptr %shadows, ptr %words, ptr %mapping)
  switch i32 %dict, label %fail [ i32 1, label %begin
                                  i32 0, label %slow ]
begin:
  %first = call i64 @PyLong_AsSsize_t(ptr %first_object)
  %count = field i64, %keys, $OB_SIZE
  br label %each.test
each.test:
  %k = phi i64 [ 0, %begin ], [ %k1, %next ]
  %at = add i64 %first, %k
  %given = field i64, %ds, $OB_SIZE
  %in_keys = icmp slt i64 %k, %count
  %in_ds = icmp slt i64 %at, %given
  %more = and i1 %in_keys, %in_ds
  br i1 %more, label %each, label %done
each:
  %in_tuple = getelementptr i8, ptr %ds, i64 $TUPLE_ITEMS
  br i1 %ds_tuple, label %read, label %of_list
of_list:
  %in_list = field ptr, %ds, $LIST_ITEMS
  br label %read
read:
  %places = phi ptr [ %in_tuple, %each ], [ %in_list, %of_list ]
  %d = at ptr, %places, %at
  %nothing = icmp eq ptr %d, @_Py_NoneStruct
  br i1 %nothing, label %next, label %add
add:
  %shadow = call ptr @dict_of(ptr %shadows, ptr %words, ptr %mapping)
  %no_shadow = icmp eq ptr %shadow, null
  br i1 %no_shadow, label %fail, label %put
put:
  %key = item %keys, %k
  call void @Py_IncRef(ptr %d)
  %undone = call i32 @add_item(ptr %shadow, ptr %key, ptr %d, ptr %general)
  call void @Py_DecRef(ptr %d)
  %added = icmp eq i32 %undone, 0
  br i1 %added, label %next, label %fail
next:
  %k1 = add i64 %k, 1
  br label %each.test
done:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
slow:
  %result = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 5, ptr null)
  ret ptr %result
fail:
  ret ptr null
}

; (back, d, shadows) of the union of two dicts: a back is (zyg_pull_united, y, a, b, a frozenset of the keys of b). `self` as above.
define ptr @zyg_pull_united(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
entry:
  %position = alloca i64
  %key_at = alloca ptr
  %value_at = alloca ptr
"""
    + _SELF
    + """
  %back = at ptr, %args, 0
  %shadows = at ptr, %args, 2
  %type = field ptr, %shadows, $OB_TYPE
  %ours = icmp eq ptr %type, %class
  br i1 %ours, label %begin, label %slow
begin:
  %y = item %back, 1
  %a = item %back, 2
  %b = item %back, 3
  %keys = item %back, 4
  %items = slot 0
  %shadow = call ptr @shadow_of(ptr %items, ptr %y)
  %absent = icmp eq ptr %shadow, null
  br i1 %absent, label %error.test, label %look
error.test:
  %error = call ptr @PyErr_Occurred()
  %wrong = icmp ne ptr %error, null
  br i1 %wrong, label %fail, label %done
look:
  %y_dict = call i32 @has_dict(ptr %shadows, ptr %words, ptr %y)
  %a_dict = call i32 @has_dict(ptr %shadows, ptr %words, ptr %a)
  %b_dict = call i32 @has_dict(ptr %shadows, ptr %words, ptr %b)
  %ab = and i32 %a_dict, %b_dict
  %all = and i32 %y_dict, %ab
  switch i32 %all, label %fail [ i32 1, label %hold
                                 i32 0, label %slow ]
hold:
  call void @Py_IncRef(ptr %shadow)
  store i64 0, ptr %position
  br label %next
next:
  %more = call i32 @PyDict_Next(ptr %shadow, ptr %position, ptr %key_at, ptr %value_at)
  %some = icmp ne i32 %more, 0
  br i1 %some, label %each, label %clear
each:
  %d = load ptr, ptr %value_at
  %key = load ptr, ptr %key_at
  %nothing = icmp eq ptr %d, @_Py_NoneStruct
  br i1 %nothing, label %next, label %whose
whose:
  call void @Py_IncRef(ptr %d)
  call void @Py_IncRef(ptr %key)
  %second = call i32 @PySet_Contains(ptr %keys, ptr %key)
  switch i32 %second, label %lose [ i32 0, label %to_a
                                    i32 1, label %to_b ]
to_a:
  br label %find
to_b:
  br label %find
find:
  %of = phi ptr [ %a, %to_a ], [ %b, %to_b ]
  %target = call ptr @dict_of(ptr %shadows, ptr %words, ptr %of)
  %no_target = icmp eq ptr %target, null
  br i1 %no_target, label %lose, label %add
add:
  %undone = call i32 @add_item(ptr %target, ptr %key, ptr %d, ptr %general)
  call void @Py_DecRef(ptr %key)
  call void @Py_DecRef(ptr %d)
  %added = icmp eq i32 %undone, 0
  br i1 %added, label %next, label %drop
clear:
  call void @PyDict_Clear(ptr %shadow)
  call void @Py_DecRef(ptr %shadow)
  br label %done
lose:
  call void @Py_DecRef(ptr %key)
  call void @Py_DecRef(ptr %d)
  br label %drop
drop:
  call void @Py_DecRef(ptr %shadow)
  br label %fail
done:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
slow:
  %result = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 3, ptr null)
  ret ptr %result
fail:
  ret ptr null
}

; (back, d, shadows) of an update of a dict by another one: a back is (zyg_pull_updated, y, other, the keys of the other one). `self` as
; above.
define ptr @zyg_pull_updated(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
entry:
"""
    + _SELF
    + """
  %back = at ptr, %args, 0
  %shadows = at ptr, %args, 2
  %type = field ptr, %shadows, $OB_TYPE
  %ours = icmp eq ptr %type, %class
  br i1 %ours, label %begin, label %slow
begin:
  %y = item %back, 1
  %other = item %back, 2
  %keys = item %back, 3
  %items = slot 0
  %shadow = call ptr @shadow_of(ptr %items, ptr %y)
  %absent = icmp eq ptr %shadow, null
  br i1 %absent, label %error.test, label %look
error.test:
  %error = call ptr @PyErr_Occurred()
  %wrong = icmp ne ptr %error, null
  br i1 %wrong, label %fail, label %done
look:
  %y_dict = call i32 @has_dict(ptr %shadows, ptr %words, ptr %y)
  %other_dict = call i32 @has_dict(ptr %shadows, ptr %words, ptr %other)
  %both = and i32 %y_dict, %other_dict
  switch i32 %both, label %fail [ i32 1, label %hold
                                  i32 0, label %slow ]
hold:
  call void @Py_IncRef(ptr %shadow)
  %count = field i64, %keys, $OB_SIZE
  br label %each.test
each.test:
  %left = phi i64 [ %count, %hold ], [ %k, %next ]
  %more = icmp sgt i64 %left, 0
  br i1 %more, label %each, label %leave
each:
  %k = sub i64 %left, 1
  %key = item %keys, %k
  %d = call ptr @PyDict_GetItemWithError(ptr %shadow, ptr %key)
  %none = icmp eq ptr %d, null
  br i1 %none, label %missing, label %take
missing:
  %raised = call ptr @PyErr_Occurred()
  %failed = icmp ne ptr %raised, null
  br i1 %failed, label %drop, label %next
take:
  call void @Py_IncRef(ptr %d)
  %kept = call i32 @PyDict_DelItem(ptr %shadow, ptr %key)
  %taken = icmp eq i32 %kept, 0
  br i1 %taken, label %given, label %lose
given:
  %nothing = icmp eq ptr %d, @_Py_NoneStruct
  br i1 %nothing, label %let_go, label %find
find:
  %target = call ptr @dict_of(ptr %shadows, ptr %words, ptr %other)
  %no_target = icmp eq ptr %target, null
  br i1 %no_target, label %lose, label %add
add:
  %undone = call i32 @add_item(ptr %target, ptr %key, ptr %d, ptr %general)
  %added = icmp eq i32 %undone, 0
  br i1 %added, label %let_go, label %lose
let_go:
  call void @Py_DecRef(ptr %d)
  br label %next
next:
  br label %each.test
leave:
  call void @Py_DecRef(ptr %shadow)
  br label %done
lose:
  call void @Py_DecRef(ptr %d)
  br label %drop
drop:
  call void @Py_DecRef(ptr %shadow)
  br label %fail
done:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
slow:
  %result = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 3, ptr null)
  ret ptr %result
fail:
  ret ptr null
}

; (back, d, shadows) of an item of a dict: a back is (zyg_pull_dict_item, y, key). `self` as above.
define ptr @zyg_pull_dict_item(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
entry:
"""
    + _SELF
    + """
  %back = at ptr, %args, 0
  %d = at ptr, %args, 1
  %shadows = at ptr, %args, 2
  %nothing = icmp eq ptr %d, @_Py_NoneStruct
  br i1 %nothing, label %done, label %look
look:
  %type = field ptr, %shadows, $OB_TYPE
  %ours = icmp eq ptr %type, %class
  br i1 %ours, label %begin, label %slow
begin:
  %y = item %back, 1
  %key = item %back, 2
  %dict = call i32 @has_dict(ptr %shadows, ptr %words, ptr %y)
  switch i32 %dict, label %fail [ i32 1, label %find
                                  i32 0, label %slow ]
find:
  %target = call ptr @dict_of(ptr %shadows, ptr %words, ptr %y)
  %no_target = icmp eq ptr %target, null
  br i1 %no_target, label %fail, label %add
add:
  %undone = call i32 @add_item(ptr %target, ptr %key, ptr %d, ptr %general)
  %added = icmp eq i32 %undone, 0
  br i1 %added, label %done, label %fail
done:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
slow:
  %result = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 3, ptr null)
  ret ptr %result
fail:
  ret ptr null
}

; (shadows, sequence, places, ds): add the items of a list to the cotangents of the items of a sequence at places, a tuple or list of ints.
; `self` as above.
define ptr @zyg_add_at_places(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
entry:
"""
    + _SELF
    + """
  %shadows = at ptr, %args, 0
  %sequence = at ptr, %args, 1
  %places = at ptr, %args, 2
  %ds = at ptr, %args, 3
  %type = field ptr, %shadows, $OB_TYPE
  %ours = icmp eq ptr %type, %class
  %ds_type = field ptr, %ds, $OB_TYPE
  %ds_list = icmp eq ptr %ds_type, @PyList_Type
  %places_type = field ptr, %places, $OB_TYPE
  %places_tuple = icmp eq ptr %places_type, @PyTuple_Type
  %places_list = icmp eq ptr %places_type, @PyList_Type
  %listed = or i1 %places_tuple, %places_list
  %o = and i1 %ours, %ds_list
  %usual = and i1 %o, %listed
  br i1 %usual, label %begin, label %slow
begin:
  ; There is a shadow from now on.
  %undone = call i32 @add_items(ptr %shadows, ptr %words, ptr %general, ptr %sequence, i64 0, i64 1, ptr %ds, i64 0, i64 0)
  switch i32 %undone, label %fail [ i32 0, label %find
                                    i32 1, label %slow ]
find:
  %items = slot 0
  %shadow = call ptr @shadow_of(ptr %items, ptr %sequence)
  %absent = icmp eq ptr %shadow, null
  br i1 %absent, label %fail, label %look
look:
  call void @Py_IncRef(ptr %shadow)
  %count = field i64, %places, $OB_SIZE
  %in_tuple = getelementptr i8, ptr %places, i64 $TUPLE_ITEMS
  br label %types.test
types.test:
  %t = phi i64 [ 0, %look ], [ %t1, %types.next ]
  %t_more = icmp slt i64 %t, %count
  br i1 %t_more, label %types.each, label %each.test
types.each:
  br i1 %places_tuple, label %types.read, label %types.list
types.list:
  %t_list = field ptr, %places, $LIST_ITEMS
  br label %types.read
types.read:
  %t_table = phi ptr [ %in_tuple, %types.each ], [ %t_list, %types.list ]
  %t_place = at ptr, %t_table, %t
  %t_type = field ptr, %t_place, $OB_TYPE
  %t_int = icmp eq ptr %t_type, @PyLong_Type
  br i1 %t_int, label %types.next, label %leave
types.next:
  %t1 = add i64 %t, 1
  br label %types.test
each.test:
  %k = phi i64 [ 0, %types.test ], [ %k1, %next ]
  %given = field i64, %ds, $OB_SIZE
  %in_places = icmp slt i64 %k, %count
  %in_ds = icmp slt i64 %k, %given
  %more = and i1 %in_places, %in_ds
  br i1 %more, label %each, label %done
each:
  %ds_table = field ptr, %ds, $LIST_ITEMS
  %d = at ptr, %ds_table, %k
  %nothing = icmp eq ptr %d, @_Py_NoneStruct
  br i1 %nothing, label %next, label %where
where:
  br i1 %places_tuple, label %read, label %of_list
of_list:
  %in_list = field ptr, %places, $LIST_ITEMS
  br label %read
read:
  %table = phi ptr [ %in_tuple, %where ], [ %in_list, %of_list ]
  %place = at ptr, %table, %k
  %at = call i64 @PyLong_AsSsize_t(ptr %place)
  br label %reach.test
reach.test:
  %size = field i64, %shadow, $OB_SIZE
  %short = icmp slt i64 %size, %at
  br i1 %short, label %reach, label %end.test
reach:
  %unreached = call i32 @PyList_Append(ptr %shadow, ptr @_Py_NoneStruct)
  %reached = icmp eq i32 %unreached, 0
  br i1 %reached, label %reach.test, label %drop
end.test:
  %at_end = icmp eq i64 %size, %at
  br i1 %at_end, label %append, label %add
append:
  %unappended = call i32 @PyList_Append(ptr %shadow, ptr %d)
  br label %check
add:
  call void @Py_IncRef(ptr %d)
  %unadded = call i32 @add_at(ptr %shadow, i64 %at, ptr %d, ptr %general)
  call void @Py_DecRef(ptr %d)
  br label %check
check:
  %status = phi i32 [ %unappended, %append ], [ %unadded, %add ]
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %next, label %drop
next:
  %k1 = add i64 %k, 1
  br label %each.test
leave:
  call void @Py_DecRef(ptr %shadow)
  br label %slow
drop:
  call void @Py_DecRef(ptr %shadow)
  br label %fail
done:
  call void @Py_DecRef(ptr %shadow)
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
slow:
  %result = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 4, ptr null)
  ret ptr %result
fail:
  ret ptr null
}

"""
    + QUESTIONS
)
TEXT = fill(written(_TEXT), {"DEPTH": DEPTH})
