"""Values that are alike, for derivatives through Python: which types they have, whether objects hold nothing else than what was read of
them, their shadows, their gradients.

What is done is what the functions in Python do that stand in `self` first (`autodiff/objects/together.py`); what is unusual is left to
them.
"""

from __future__ import annotations

from .layout import fill
from .pull_text import written

_TEXT = """
declare ptr @PyLong_FromVoidPtr(ptr)
declare i64 @PyLong_AsSsize_t(ptr)
declare ptr @PySet_New(ptr)
declare i32 @PySet_Add(ptr, ptr)
declare ptr @PyList_New(i64)
declare ptr @PyTuple_New(i64)
declare ptr @PyDict_New()
declare i64 @PyDict_Size(ptr)
declare i32 @PyDict_SetItem(ptr, ptr, ptr)
declare ptr @PyType_GetSlot(ptr, i32)
declare i64 @PyType_GetFlags(ptr)
declare i32 @PyType_IsSubtype(ptr, ptr)
declare ptr @PyType_GenericAlloc(ptr, i64)
declare ptr @PyObject_GenericGetDict(ptr, ptr)
declare ptr @PyObject_CallNoArgs(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare void @PyErr_Clear()
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
@PyFloat_Type = external global i8
@PyTuple_Type = external global i8
@PyList_Type = external global i8
@PyDict_Type = external global i8
@PyType_Type = external global i8
@_Py_NoneStruct = external global i8
@_Py_TrueStruct = external global i8

; The types of the items of a list, a set; null with an error.
define internal ptr @types_in(ptr %list) {
entry:
  %types = call ptr @PySet_New(ptr null)
  %none = icmp eq ptr %types, null
  br i1 %none, label %fail, label %each.test
each.test:
  %k = phi i64 [ 0, %entry ], [ %k1, %next ]
  %before = phi ptr [ null, %entry ], [ %type, %next ]
  %count = field i64, %list, $OB_SIZE
  %more = icmp slt i64 %k, %count
  br i1 %more, label %each, label %done
each:
  %items = field ptr, %list, $LIST_ITEMS
  %item = at ptr, %items, %k
  %type = field ptr, %item, $OB_TYPE
  %same = icmp eq ptr %type, %before
  br i1 %same, label %next, label %add
add:
  call void @Py_IncRef(ptr %type)
  %unadded = call i32 @PySet_Add(ptr %types, ptr %type)
  call void @Py_DecRef(ptr %type)
  %added = icmp eq i32 %unadded, 0
  br i1 %added, label %next, label %drop
next:
  %k1 = add i64 %k, 1
  br label %each.test
drop:
  call void @Py_DecRef(ptr %types)
  br label %fail
done:
  ret ptr %types
fail:
  ret ptr null
}

; (list): the types of its items, a set. `self` is (what does the same in Python, also for other things).
define ptr @zyg_types_in(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
  %list = at ptr, %args, 0
  %type = field ptr, %list, $OB_TYPE
  %usual = icmp eq ptr %type, @PyList_Type
  br i1 %usual, label %begin, label %slow
begin:
  %types = call ptr @types_in(ptr %list)
  ret ptr %types
slow:
  %in_python = item %self, 0
  %result = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 1, ptr null)
  ret ptr %result
}

; (list): the identities of its items, as a list and as a set. `self` as above.
define ptr @zyg_identities(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
  %list = at ptr, %args, 0
  %type = field ptr, %list, $OB_TYPE
  %usual = icmp eq ptr %type, @PyList_Type
  br i1 %usual, label %begin, label %slow
begin:
  %count = field i64, %list, $OB_SIZE
  %made = call ptr @PyList_New(i64 %count)
  %unmade = icmp eq ptr %made, null
  br i1 %unmade, label %fail, label %each.test
each.test:
  %k = phi i64 [ 0, %begin ], [ %k1, %put ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %each, label %all
each:
  %items = field ptr, %list, $LIST_ITEMS
  %item = at ptr, %items, %k
  %identity = call ptr @PyLong_FromVoidPtr(ptr %item)
  %lacking = icmp eq ptr %identity, null
  br i1 %lacking, label %drop, label %put
put:
  %places = field ptr, %made, $LIST_ITEMS
  %place = getelementptr ptr, ptr %places, i64 %k
  store ptr %identity, ptr %place
  %k1 = add i64 %k, 1
  br label %each.test
all:
  %set = call ptr @PySet_New(ptr %made)
  %no_set = icmp eq ptr %set, null
  br i1 %no_set, label %drop, label %both
both:
  %result = call ptr @PyTuple_New(i64 2)
  %no_result = icmp eq ptr %result, null
  br i1 %no_result, label %lose, label %give
give:
  put %made, %result, 0
  put %set, %result, 1
  ret ptr %result
lose:
  call void @Py_DecRef(ptr %set)
  br label %drop
drop:
  call void @Py_DecRef(ptr %made)
  br label %fail
fail:
  ret ptr null
slow:
  %in_python = item %self, 0
  %by_python = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 1, ptr null)
  ret ptr %by_python
}

; What an object refers to: its class; a dict; how often to these, how often to something that was read of it, how often to other things.
%Found = type { ptr, ptr, i64, i64, i64, i64 }

; What was read of an object is there in a row: at %k of each of the columns.
%Read = type { %Found, ptr, i64 }

define internal i32 @visit(ptr %x, ptr %read) {
entry:
  %class.at = getelementptr %Found, ptr %read, i64 0, i32 0
  %dict.at = getelementptr %Found, ptr %read, i64 0, i32 1
  %to_class = getelementptr %Found, ptr %read, i64 0, i32 2
  %to_dict = getelementptr %Found, ptr %read, i64 0, i32 3
  %to_read = getelementptr %Found, ptr %read, i64 0, i32 4
  %to_other = getelementptr %Found, ptr %read, i64 0, i32 5
  %class = load ptr, ptr %class.at
  %is_class = icmp eq ptr %x, %class
  br i1 %is_class, label %count, label %kind.test
kind.test:
  %type = field ptr, %x, $OB_TYPE
  %dict = icmp eq ptr %type, @PyDict_Type
  br i1 %dict, label %note, label %float.test
note:
  store ptr %x, ptr %dict.at
  br label %count
float.test:
  %float = icmp eq ptr %type, @PyFloat_Type
  br i1 %float, label %look, label %flags.test
flags.test:
  ; A dict of a class of its own may be what stands for `__dict__`.
  %flags = call i64 @PyType_GetFlags(ptr %type)
  %of_dict = and i64 %flags, $DICT_SUBCLASS
  %strange = icmp ne i64 %of_dict, 0
  br i1 %strange, label %count, label %look
look:
  %columns.at = getelementptr %Read, ptr %read, i64 0, i32 1
  %columns = load ptr, ptr %columns.at
  %row.at = getelementptr %Read, ptr %read, i64 0, i32 2
  %row = load i64, ptr %row.at
  %width = field i64, %columns, $OB_SIZE
  br label %each.test
each.test:
  %j = phi i64 [ 0, %look ], [ %j1, %each ]
  %more = icmp slt i64 %j, %width
  br i1 %more, label %each, label %count
each:
  %column = item %columns, %j
  %values = field ptr, %column, $LIST_ITEMS
  %value = at ptr, %values, %row
  %j1 = add i64 %j, 1
  %found = icmp eq ptr %value, %x
  br i1 %found, label %count, label %each.test
count:
  %counter = phi ptr [ %to_class, %entry ], [ %to_dict, %note ], [ %to_other, %flags.test ], [ %to_read, %each ], [ %to_other, %each.test ]
  %before = load i64, ptr %counter
  %after = add i64 %before, 1
  store i64 %after, ptr %counter
  ret i32 0
}

; (objects, columns, in_dict, what Python wants to know): a set of types for each of the columns, which are what was read of the objects, if these hold nothing else;
; None if not. in_dict: what was read stands in the dicts of those that have one, and nowhere else. `self` as above.
define ptr @zyg_types_alone(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
entry:
  %read = alloca %Read
  %objects = at ptr, %args, 0
  %columns = at ptr, %args, 1
  %in_dict_object = at ptr, %args, 2
  %in_dict = icmp eq ptr %in_dict_object, @_Py_TrueStruct
  %objects_type = field ptr, %objects, $OB_TYPE
  %objects_list = icmp eq ptr %objects_type, @PyList_Type
  %columns_type = field ptr, %columns, $OB_TYPE
  %columns_tuple = icmp eq ptr %columns_type, @PyTuple_Type
  %usual = and i1 %objects_list, %columns_tuple
  br i1 %usual, label %some.test, label %slow
some.test:
  %count = field i64, %objects, $OB_SIZE
  %width = field i64, %columns, $OB_SIZE
  %empty = icmp eq i64 %count, 0
  br i1 %empty, label %slow, label %columns.test
columns.test:
  %c = phi i64 [ 0, %some.test ], [ %c1, %column.long ]
  %more_columns = icmp slt i64 %c, %width
  br i1 %more_columns, label %column.test, label %class
column.test:
  %column = item %columns, %c
  %column_type = field ptr, %column, $OB_TYPE
  %column_list = icmp eq ptr %column_type, @PyList_Type
  br i1 %column_list, label %column.long, label %slow
column.long:
  %c1 = add i64 %c, 1
  %column_length = field i64, %column, $OB_SIZE
  %as_long = icmp eq i64 %column_length, %count
  br i1 %as_long, label %columns.test, label %slow
class:
  %first_items = field ptr, %objects, $LIST_ITEMS
  %first = load ptr, ptr %first_items
  %class_ = field ptr, %first, $OB_TYPE
  %traverse = call ptr @PyType_GetSlot(ptr %class_, i32 $TP_TRAVERSE)
  %untraversed = icmp eq ptr %traverse, null
  br i1 %untraversed, label %forget, label %begin
begin:
  %class.at = getelementptr %Found, ptr %read, i64 0, i32 0
  %dict.at = getelementptr %Found, ptr %read, i64 0, i32 1
  %to_class.at = getelementptr %Found, ptr %read, i64 0, i32 2
  %to_dict.at = getelementptr %Found, ptr %read, i64 0, i32 3
  %to_read.at = getelementptr %Found, ptr %read, i64 0, i32 4
  %to_other.at = getelementptr %Found, ptr %read, i64 0, i32 5
  %columns.at = getelementptr %Read, ptr %read, i64 0, i32 1
  %row.at = getelementptr %Read, ptr %read, i64 0, i32 2
  store ptr %class_, ptr %class.at
  store ptr %columns, ptr %columns.at
  br label %each.test
each.test:
  %k = phi i64 [ 0, %begin ], [ %k1, %next ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %each, label %types
each:
  %items = field ptr, %objects, $LIST_ITEMS
  %x = at ptr, %items, %k
  %type = field ptr, %x, $OB_TYPE
  %one_class = icmp eq ptr %type, %class_
  br i1 %one_class, label %go_through, label %slow
go_through:
  store i64 %k, ptr %row.at
  store ptr null, ptr %dict.at
  store i64 0, ptr %to_class.at
  store i64 0, ptr %to_dict.at
  store i64 0, ptr %to_read.at
  store i64 0, ptr %to_other.at
  %stopped = call i32 %traverse(ptr %x, ptr @visit, ptr %read)
  %to_class = load i64, ptr %to_class.at
  %to_dict = load i64, ptr %to_dict.at
  %once = icmp eq i64 %to_class, 1
  br i1 %once, label %dict.test, label %slow
dict.test:
  switch i64 %to_dict, label %slow [ i64 0, label %values.test
                                     i64 1, label %has_dict ]
values.test:
  %to_read = load i64, ptr %to_read.at
  %to_other = load i64, ptr %to_other.at
  %all_read = icmp eq i64 %to_read, %width
  %no_other = icmp eq i64 %to_other, 0
  %alone = and i1 %all_read, %no_other
  br i1 %alone, label %next, label %slow
has_dict:
  br i1 %in_dict, label %ask, label %slow
ask:
  %dict = load ptr, ptr %dict.at
  %own = call ptr @PyObject_GenericGetDict(ptr %x, ptr null)
  %no_own = icmp eq ptr %own, null
  br i1 %no_own, label %forget, label %asked
asked:
  call void @Py_DecRef(ptr %own)
  %it = icmp eq ptr %own, %dict
  br i1 %it, label %size.test, label %slow
size.test:
  %size = call i64 @PyDict_Size(ptr %dict)
  %as_wide = icmp eq i64 %size, %width
  br i1 %as_wide, label %next, label %slow
next:
  %k1 = add i64 %k, 1
  br label %each.test
types:
  %result = call ptr @PyList_New(i64 %width)
  %no_result = icmp eq ptr %result, null
  br i1 %no_result, label %fail, label %types.test
types.test:
  %t = phi i64 [ 0, %types ], [ %t1, %types.put ]
  %more_types = icmp slt i64 %t, %width
  br i1 %more_types, label %types.each, label %done
types.each:
  %column_ = item %columns, %t
  %of_column = call ptr @types_in(ptr %column_)
  %no_types = icmp eq ptr %of_column, null
  br i1 %no_types, label %drop, label %types.put
types.put:
  %places = field ptr, %result, $LIST_ITEMS
  %place = getelementptr ptr, ptr %places, i64 %t
  store ptr %of_column, ptr %place
  %t1 = add i64 %t, 1
  br label %types.test
done:
  ret ptr %result
drop:
  call void @Py_DecRef(ptr %result)
  br label %fail
fail:
  ret ptr null
forget:
  call void @PyErr_Clear()
  br label %slow
slow:
  %in_python = item %self, 0
  %by_python = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 %nargs, ptr null)
  ret ptr %by_python
}

; (mapping, keys, class): new instances of a class at keys of a dict. `self` as above.
define ptr @zyg_give_each(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
  %mapping = at ptr, %args, 0
  %keys = at ptr, %args, 1
  %class = at ptr, %args, 2
  %mapping_type = field ptr, %mapping, $OB_TYPE
  %dict = icmp eq ptr %mapping_type, @PyDict_Type
  %keys_type = field ptr, %keys, $OB_TYPE
  %list = icmp eq ptr %keys_type, @PyList_Type
  %usual = and i1 %dict, %list
  br i1 %usual, label %each.test, label %slow
each.test:
  %k = phi i64 [ 0, %0 ], [ %k1, %set ]
  %count = field i64, %keys, $OB_SIZE
  %more = icmp slt i64 %k, %count
  br i1 %more, label %each, label %done
each:
  %made = call ptr @PyObject_CallNoArgs(ptr %class)
  %unmade = icmp eq ptr %made, null
  br i1 %unmade, label %fail, label %set
set:
  %items = field ptr, %keys, $LIST_ITEMS
  %key = at ptr, %items, %k
  %unset = call i32 @PyDict_SetItem(ptr %mapping, ptr %key, ptr %made)
  call void @Py_DecRef(ptr %made)
  %k1 = add i64 %k, 1
  %is_set = icmp eq i32 %unset, 0
  br i1 %is_set, label %each.test, label %fail
done:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
fail:
  ret ptr null
slow:
  %in_python = item %self, 0
  %by_python = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 3, ptr null)
  ret ptr %by_python
}

; (form, columns, count): so many rows, a list. `form` is a class derived from tuple, or the keys of dicts; a column is a list, or anything
; else where it has nothing. A row that has nothing is None. None, if what is refused is among what columns have.
; `self` is (what does the same in Python, the class of what is refused).
define ptr @zyg_gradients(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {
entry:
  %refused = item %self, 1
  %form = at ptr, %args, 0
  %columns = at ptr, %args, 1
  %columns_type = field ptr, %columns, $OB_TYPE
  %columns_list = icmp eq ptr %columns_type, @PyList_Type
  br i1 %columns_list, label %form.test, label %slow
form.test:
  %width = field i64, %columns, $OB_SIZE
  %form_type = field ptr, %form, $OB_TYPE
  %keys = icmp eq ptr %form_type, @PyTuple_Type
  br i1 %keys, label %keys.test, label %class.test
keys.test:
  %key_count = field i64, %form, $OB_SIZE
  %one_each = icmp eq i64 %key_count, %width
  br i1 %one_each, label %begin, label %slow
class.test:
  %of_type = call i32 @PyType_IsSubtype(ptr %form_type, ptr @PyType_Type)
  %class = icmp ne i32 %of_type, 0
  br i1 %class, label %tuple.test, label %slow
tuple.test:
  %derived = call i32 @PyType_IsSubtype(ptr %form, ptr @PyTuple_Type)
  %of_tuples = icmp ne i32 %derived, 0
  br i1 %of_tuples, label %begin, label %slow
begin:
  %count_object = at ptr, %args, 2
  %count = call i64 @PyLong_AsSsize_t(ptr %count_object)
  br label %columns.test
columns.test:
  %c = phi i64 [ 0, %begin ], [ %c1, %column.next ]
  %more_columns = icmp slt i64 %c, %width
  br i1 %more_columns, label %column.test, label %make
column.test:
  %table_ = field ptr, %columns, $LIST_ITEMS
  %column_ = at ptr, %table_, %c
  %column_type_ = field ptr, %column_, $OB_TYPE
  %is_list_ = icmp eq ptr %column_type_, @PyList_Type
  br i1 %is_list_, label %column.length, label %column.next
column.length:
  %length = field i64, %column_, $OB_SIZE
  %fits = icmp eq i64 %length, %count
  br i1 %fits, label %column.next, label %slow
column.next:
  %c1 = add i64 %c, 1
  br label %columns.test
make:
  %result = call ptr @PyList_New(i64 %count)
  %no_result = icmp eq ptr %result, null
  br i1 %no_result, label %fail, label %each.test
each.test:
  %k = phi i64 [ 0, %make ], [ %k1, %put ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %look.test, label %done
look.test:
  %j = phi i64 [ 0, %each.test ], [ %j1, %look.next ]
  %some = phi i1 [ false, %each.test ], [ %some1, %look.next ]
  %more_to_look = icmp slt i64 %j, %width
  br i1 %more_to_look, label %look, label %looked
look:
  %value = call ptr @value_in(ptr %columns, i64 %j, i64 %k)
  %given = icmp ne ptr %value, @_Py_NoneStruct
  %value_type = field ptr, %value, $OB_TYPE
  %is_refused = icmp eq ptr %value_type, %refused
  br i1 %is_refused, label %refuse, label %look.next
look.next:
  %some1 = or i1 %some, %given
  %j1 = add i64 %j, 1
  br label %look.test
looked:
  br i1 %some, label %new, label %nothing
nothing:
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  br label %put
new:
  br i1 %keys, label %new_dict, label %new_tuple
new_tuple:
  %tuple = call ptr @PyType_GenericAlloc(ptr %form, i64 %width)
  %no_tuple = icmp eq ptr %tuple, null
  br i1 %no_tuple, label %drop, label %tuple.each.test
tuple.each.test:
  %n = phi i64 [ 0, %new_tuple ], [ %n1, %tuple.each ]
  %more_of_tuple = icmp slt i64 %n, %width
  br i1 %more_of_tuple, label %tuple.each, label %put
tuple.each:
  %part = call ptr @value_in(ptr %columns, i64 %n, i64 %k)
  call void @Py_IncRef(ptr %part)
  put %part, %tuple, %n
  %n1 = add i64 %n, 1
  br label %tuple.each.test
new_dict:
  %dict = call ptr @PyDict_New()
  %no_dict = icmp eq ptr %dict, null
  br i1 %no_dict, label %drop, label %dict.each.test
dict.each.test:
  %m = phi i64 [ 0, %new_dict ], [ %m1, %dict.each ]
  %more_of_dict = icmp slt i64 %m, %width
  br i1 %more_of_dict, label %dict.each, label %put
dict.each:
  %key = item %form, %m
  %item = call ptr @value_in(ptr %columns, i64 %m, i64 %k)
  %unset = call i32 @PyDict_SetItem(ptr %dict, ptr %key, ptr %item)
  %m1 = add i64 %m, 1
  %is_set = icmp eq i32 %unset, 0
  br i1 %is_set, label %dict.each.test, label %lose
lose:
  call void @Py_DecRef(ptr %dict)
  br label %drop
put:
  %row = phi ptr [ @_Py_NoneStruct, %nothing ], [ %tuple, %tuple.each.test ], [ %dict, %dict.each.test ]
  %places = field ptr, %result, $LIST_ITEMS
  %place = getelementptr ptr, ptr %places, i64 %k
  store ptr %row, ptr %place
  %k1 = add i64 %k, 1
  br label %each.test
done:
  ret ptr %result
refuse:
  call void @Py_DecRef(ptr %result)
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
drop:
  call void @Py_DecRef(ptr %result)
  br label %fail
fail:
  ret ptr null
slow:
  %in_python = item %self, 0
  %by_python = call ptr @PyObject_Vectorcall(ptr %in_python, ptr %args, i64 3, ptr null)
  ret ptr %by_python
}

; What a column has in a row (borrowed).
define internal ptr @value_in(ptr %columns, i64 %j, i64 %k) alwaysinline {
  %table = field ptr, %columns, $LIST_ITEMS
  %column = at ptr, %table, %j
  %type = field ptr, %column, $OB_TYPE
  %list = icmp eq ptr %type, @PyList_Type
  br i1 %list, label %have, label %nothing
have:
  %values = field ptr, %column, $LIST_ITEMS
  %value = at ptr, %values, %k
  ret ptr %value
nothing:
  ret ptr @_Py_NoneStruct
}
"""
# Py_tp_traverse, Py_TPFLAGS_DICT_SUBCLASS: of CPython's stable interface
TEXT = fill(written(_TEXT), {"TP_TRAVERSE": 71, "DICT_SUBCLASS": 1 << 29})
