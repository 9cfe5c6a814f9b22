"""What a pullback that escapes owns: the memory of the call that made it."""

from .layout import fill

TEXT = fill(
    """
declare ptr @PyCapsule_New(ptr, ptr, ptr)
declare ptr @PyObject_GetAttrString(ptr, ptr)
declare ptr @malloc(i64)
declare void @PyErr_Clear()
declare void @Py_DecRef(ptr)
declare void @Py_IncRef(ptr)
declare void @zyg_flush_all(ptr)
declare void @free(ptr)
declare void @zyg_free_arrays(ptr)
declare void @zyg_free_kept(ptr)
declare void @zyg_pool_give(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
@PyCapsule_Type = external global i8
@zyg_saved_name = constant [10 x i8] c"zyg.Saved\\00"
@saved_attribute = private constant [14 x i8] c"__zyg_saved__\\00"

; The capsule takes over the context's memory.
define void @zyg_ctx_escape(ptr %ctx, ptr %capsule) {
entry:
  %saved_at = getelementptr i8, ptr %capsule, i64 $CAPSULE_POINTER
  %saved = load ptr, ptr %saved_at
  call void @zyg_flush_all(ptr %ctx)
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

; The blocks that a pullback owned.
define internal void @free_blocks(ptr %block) {
entry:
  br label %each
each:
  %b = phi ptr [ %block, %entry ], [ %previous, %one ]
  %end = icmp eq ptr %b, null
  br i1 %end, label %done, label %one
one:
  %previous = load ptr, ptr %b
  call void @zyg_pool_give(ptr %b)
  br label %each
done:
  ret void
}

define internal void @saved_free(ptr %capsule) {
  %saved_at = getelementptr i8, ptr %capsule, i64 $CAPSULE_POINTER
  %saved = load ptr, ptr %saved_at
  %arrays_at = getelementptr i8, ptr %saved, i64 $S_arrays
  %arrays = load ptr, ptr %arrays_at
  call void @zyg_free_arrays(ptr %arrays)
  %kept_at = getelementptr i8, ptr %saved, i64 $S_kept
  %kept = load ptr, ptr %kept_at
  call void @zyg_free_kept(ptr %kept)
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
"""
)
