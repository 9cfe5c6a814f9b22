"""The callable type: calls go to the first record, the dispatcher comes last; the slots that the garbage collector calls."""

from .layout import fill

TEXT = fill(
    """
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare void @PyObject_ClearWeakRefs(ptr)
declare void @PyObject_GC_Del(ptr)
declare void @PyObject_GC_UnTrack(ptr)
declare void @Py_DecRef(ptr)

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
"""
)
