"""What boxing and unboxing call for objects other than plain numbers."""

from .layout import fill

TEXT = fill(
    """
declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr)
declare ptr @PyDict_GetItemWithError(ptr, ptr)
declare ptr @PyObject_CallOneArg(ptr, ptr)
declare ptr @PyErr_Format(ptr, ptr, ...)
declare ptr @PyFloat_FromDouble(double)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyObject_GenericGetAttr(ptr, ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare void @PyErr_Clear()
declare void @Py_DecRef(ptr)
@PyExc_TypeError = external global ptr
@wrong_result = private constant [52 x i8] c"a Python function returned %R where %U was expected\\00"

define i64 @zyg_long(ptr %object, ptr %overflow) {
  %value = call i64 @PyLong_AsLongLongAndOverflow(ptr %object, ptr %overflow)
  ret i64 %value
}

; As `object.__getattribute__`: a `__getattr__` of the class is not asked for a slot in which there is nothing.
define ptr @zyg_getattr(ptr %object, ptr %name) {
  %value = call ptr @PyObject_GenericGetAttr(ptr %object, ptr %name)
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

define ptr @zyg_call_or_null(ptr %function, ptr %argument) {
  %value = call ptr @PyObject_CallOneArg(ptr %function, ptr %argument)
  %failed = icmp eq ptr %value, null
  br i1 %failed, label %clear, label %done
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

; Whether all of n pointers differ: each is compared with those before it.
define i1 @zyg_all_different(ptr %objects, i64 %n) {
entry:
  br label %each
each:
  %i = phi i64 [ 0, %entry ], [ %next, %passed ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %one, label %different
one:
  %place = getelementptr ptr, ptr %objects, i64 %i
  %x = load ptr, ptr %place
  br label %others
others:
  %j = phi i64 [ 0, %one ], [ %following, %compare ]
  %left = icmp slt i64 %j, %i
  br i1 %left, label %compare, label %passed
compare:
  %other = getelementptr ptr, ptr %objects, i64 %j
  %y = load ptr, ptr %other
  %following = add i64 %j, 1
  %same = icmp eq ptr %x, %y
  br i1 %same, label %met, label %others
passed:
  %next = add i64 %i, 1
  br label %each
met:
  ret i1 false
different:
  ret i1 true
}

; Drop what is in n slots for references, which are null then.
define void @zyg_drop_all(ptr %slots, i64 %n) {
entry:
  br label %each
each:
  %i = phi i64 [ 0, %entry ], [ %next, %one ], [ %next, %drop ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %one, label %done
one:
  %place = getelementptr ptr, ptr %slots, i64 %i
  %object = load ptr, ptr %place
  %next = add i64 %i, 1
  %empty = icmp eq ptr %object, null
  br i1 %empty, label %each, label %drop
drop:
  store ptr null, ptr %place
  call void @Py_DecRef(ptr %object)
  br label %each
done:
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
"""
)
