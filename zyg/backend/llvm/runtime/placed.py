"""Exceptions of Python functions that compiled code has called get the line of the user's code from where it did."""

TEXT = """
declare void @PyErr_Fetch(ptr, ptr, ptr)
declare void @PyErr_NormalizeException(ptr, ptr, ptr)
declare i32 @PyException_SetTraceback(ptr, ptr)
declare ptr @PyObject_CallOneArg(ptr, ptr)
declare ptr @PyObject_CallNoArgs(ptr)
declare void @Py_DecRef(ptr)

; The Python function gives one that raises the exception again (see tracebacks.placing).
define void @zyg_place(ptr %placing) cold {
  %class_at = alloca ptr
  %error_at = alloca ptr
  %frames_at = alloca ptr
  call void @PyErr_Fetch(ptr %class_at, ptr %error_at, ptr %frames_at)
  call void @PyErr_NormalizeException(ptr %class_at, ptr %error_at, ptr %frames_at)
  %class = load ptr, ptr %class_at
  %error = load ptr, ptr %error_at
  %frames = load ptr, ptr %frames_at
  %framed = icmp ne ptr %frames, null
  br i1 %framed, label %set, label %ask
set:
  %ignored = call i32 @PyException_SetTraceback(ptr %error, ptr %frames)
  br label %ask
ask:
  %raise = call ptr @PyObject_CallOneArg(ptr %placing, ptr %error)
  %failed = icmp eq ptr %raise, null
  br i1 %failed, label %done, label %go
go:
  %null = call ptr @PyObject_CallNoArgs(ptr %raise)
  call void @Py_DecRef(ptr %raise)
  br label %done
done:
  call void @Py_DecRef(ptr %class)
  call void @Py_DecRef(ptr %error)
  call void @Py_DecRef(ptr %frames)
  ret void
}
"""
