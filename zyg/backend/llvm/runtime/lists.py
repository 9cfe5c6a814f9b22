"""Lists of Python floats or ints as arrays."""

from .layout import fill

# `one` gives an item's value, or goes to `wrong`.
_COLUMN = """
define ptr @zyg_list_$kind(ptr %list, ptr %empty) {
entry:
  %size_at = getelementptr i8, ptr %list, i64 $OB_SIZE
  %size = load i64, ptr %size_at
  %length = call ptr @PyLong_FromLongLong(i64 %size)
  %no_length = icmp eq ptr %length, null
  br i1 %no_length, label %failed, label %make
make:
  %array = call ptr @PyObject_CallOneArg(ptr %empty, ptr %length)
  call void @Py_DecRef(ptr %length)
  %no_array = icmp eq ptr %array, null
  br i1 %no_array, label %failed, label %made
made:
  %now = load i64, ptr %size_at
  %same = icmp eq i64 %now, %size
  br i1 %same, label %fill, label %wrong
fill:
  %items_at = getelementptr i8, ptr %list, i64 $LIST_ITEMS
  %items = load ptr, ptr %items_at
  %data_at = getelementptr i8, ptr %array, i64 $ARRAY_DATA
  %data = load ptr, ptr %data_at
  br label %head
head:
  %k = phi i64 [ 0, %fill ], [ %k1, %store ]
  %more = icmp ult i64 %k, %size
  br i1 %more, label %item, label %done
item:
  %item_at = getelementptr ptr, ptr %items, i64 %k
  %one = load ptr, ptr %item_at
  %type_at = getelementptr i8, ptr %one, i64 $OB_TYPE
  %type = load ptr, ptr %type_at
  %right = icmp eq ptr %type, @$class
  br i1 %right, label %read, label %wrong
$read
store:
  %to = getelementptr i64, ptr %data, i64 %k
  store $llvm %value, ptr %to
  %k1 = add i64 %k, 1
  br label %head
done:
  ret ptr %array
wrong:
  call void @Py_DecRef(ptr %array)
  ret ptr null
failed:
  call void @PyErr_Clear()
  ret ptr null
}
"""

_FLOAT = """read:
  %value_at = getelementptr i8, ptr %one, i64 $FLOAT_VALUE
  %value = load double, ptr %value_at
  br label %store"""

_INT = """read:
  %overflow = alloca i32
  %value = call i64 @PyLong_AsLongLongAndOverflow(ptr %one, ptr %overflow)
  %over = load i32, ptr %overflow
  %fits = icmp eq i32 %over, 0
  br i1 %fits, label %store, label %wrong"""


def _column(kind: str, cls: str, llvm: str, read: str) -> str:
    text = _COLUMN.replace("$kind", kind).replace("$class", cls).replace("$llvm", llvm).replace("$read", read)
    if "%overflow = alloca" in text:  # once, not per item
        text = text.replace("  %overflow = alloca i32\n", "").replace("entry:\n", "entry:\n  %overflow = alloca i32\n")
    return text


TEXT = fill(
    """
declare ptr @PyObject_CallOneArg(ptr, ptr)
declare ptr @PyLong_FromLongLong(i64)
declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr)
declare void @PyErr_Clear()
declare void @Py_DecRef(ptr)
@PyFloat_Type = external global ptr
@PyLong_Type = external global ptr
"""
    + _column("floats", "PyFloat_Type", "double", _FLOAT)
    + _column("ints", "PyLong_Type", "i64", _INT)
)
