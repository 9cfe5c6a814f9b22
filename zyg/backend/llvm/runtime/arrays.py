"""Arrays that compiled code makes, their owners, and the end of a call that has any."""

from .layout import BUCKET, fill

TEXT = fill(
    BUCKET
    + """
declare i64 @llvm.umax.i64(i64, i64)
declare ptr @zyg_bump(ptr, i64)
declare ptr @malloc(i64)
declare ptr @zyg_large_new(i64, i1)
declare ptr @aligned_alloc(i64, i64)
declare ptr @zyg_shelf_new(i64)
declare void @zyg_shelf_give(ptr)
declare void @Py_DecRef(ptr)
declare void @Py_IncRef(ptr)
declare void @free(ptr)
declare void @zyg_pool_give(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @zyg_arena_finish(ptr)

; An array of so many bytes; null if there is no memory.
define ptr @zyg_array_any(ptr %ctx, i64 %bytes, i1 %zeroed) {
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
  %made = call ptr @zyg_bump(ptr %ctx, i64 $H_size)
  %no_header = icmp eq ptr %made, null
  br i1 %no_header, label %fail, label %data
data:
  %new = phi ptr [ %free, %pop_header ], [ %made, %new_header ]
  %large = icmp uge i64 %bytes, $POOLED
  br i1 %large, label %pooled, label %plain
pooled:
  %block = call ptr @zyg_large_new(i64 %bytes, i1 %zeroed)
  br label %test
plain:
  %tiny = icmp ult i64 %bytes, $SHELVED
  br i1 %tiny, label %small, label %aligned
small:
  %one = call i64 @llvm.umax.i64(i64 %bytes, i64 1)
  %small_data = call ptr @malloc(i64 %one)
  br label %plain_test
aligned:
  %held = call i1 @holds_gil(ptr %ctx)
  br i1 %held, label %shelf, label %fresh
shelf:
  %shelf_data = call ptr @zyg_shelf_new(i64 %bytes)
  br label %plain_test
fresh:
  %up = add i64 %bytes, 63
  %rounded = and i64 %up, -64
  %fresh_data = call ptr @aligned_alloc(i64 64, i64 %rounded)
  br label %plain_test
plain_test:
  %plain_data = phi ptr [ %small_data, %small ], [ %shelf_data, %shelf ], [ %fresh_data, %fresh ]
  %plain_failed = icmp eq ptr %plain_data, null
  %clear = xor i1 %plain_failed, true
  %do_clear = and i1 %clear, %zeroed
  br i1 %do_clear, label %clear_new, label %test
clear_new:
  call void @llvm.memset.p0.i64(ptr %plain_data, i8 0, i64 %bytes, i1 false)
  br label %test
test:
  %new_data = phi ptr [ %block, %pooled ], [ %plain_data, %plain_test ], [ %plain_data, %clear_new ]
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

define internal i1 @holds_gil(ptr %ctx) {
  %thread_at = getelementptr i8, ptr %ctx, i64 $C_thread
  %thread = load ptr, ptr %thread_at
  %held = icmp eq ptr %thread, null
  ret i1 %held
}

; Free the data of a header: to the shelves, which are for who holds the GIL, or to the pool.
define internal void @give(ptr %header, ptr %data, i1 %held) {
  %bytes_at = getelementptr i8, ptr %header, i64 $H_bytes
  %bytes = load i64, ptr %bytes_at
  %kept = icmp uge i64 %bytes, $SHELVED
  br i1 %kept, label %back, label %plain
back:
  br i1 %held, label %shelf, label %pool
shelf:
  call void @zyg_shelf_give(ptr %data)
  ret void
pool:
  call void @zyg_pool_give(ptr %data)
  ret void
plain:
  call void @free(ptr %data)
  ret void
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
  %pin_now_at = getelementptr i8, ptr %header, i64 $H_pin
  %pin_now = load ptr, ptr %pin_now_at
  call void @Py_DecRef(ptr %pin_now)
  call void @Py_DecRef(ptr %object)
  %free_at = getelementptr i8, ptr %ctx, i64 $C_headers
  %free = load ptr, ptr %free_at
  %next_at = getelementptr i8, ptr %header, i64 $H_next
  store ptr %free, ptr %next_at
  store ptr %header, ptr %free_at
  ret void
later:
  %kept_at = getelementptr i8, ptr %ctx, i64 $C_kept
  %before = load ptr, ptr %kept_at
  %pin_at = getelementptr i8, ptr %header, i64 $H_pin
  %pin = load ptr, ptr %pin_at
  %first = getelementptr i8, ptr %header, i64 16
  store ptr %before, ptr %first
  %pin_node_object = getelementptr i8, ptr %header, i64 24
  store ptr %pin, ptr %pin_node_object
  store ptr %first, ptr %header
  %node_object = getelementptr i8, ptr %header, i64 8
  store ptr %object, ptr %node_object
  store ptr %header, ptr %kept_at
  ret void
}

; Free what a bucket keeps; the headers become free ones.
define internal void @flush(ptr %ctx, ptr %bucket) {
entry:
  %held = call i1 @holds_gil(ptr %ctx)
  %free_at = getelementptr i8, ptr %ctx, i64 $C_headers
  br label %each
each:
  %h = load ptr, ptr %bucket
  %end = icmp eq ptr %h, null
  br i1 %end, label %done, label %one
one:
  %data_at = getelementptr i8, ptr %h, i64 $H_data
  %data = load ptr, ptr %data_at
  call void @give(ptr %h, ptr %data, i1 %held)
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

define void @zyg_flush_all(ptr %ctx) {
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

; Free the data of all arrays of a list, with the GIL held, or give up the reference where an ndarray owns them.
define void @zyg_free_arrays(ptr %list) {
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
  call void @give(ptr %h, ptr %data, i1 true)
  br label %freed
theirs:
  %pin_at = getelementptr i8, ptr %h, i64 $H_pin
  %pin = load ptr, ptr %pin_at
  call void @Py_DecRef(ptr %pin)
  call void @Py_DecRef(ptr %object)
  br label %freed
freed:
  br label %each
done:
  ret void
}

define void @zyg_free_kept(ptr %list) {
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

; The end of a call that has left something behind. The GIL is held.
define void @zyg_ctx_free(ptr %ctx) {
  %arrays_at = getelementptr i8, ptr %ctx, i64 $C_arrays
  %arrays = load ptr, ptr %arrays_at
  call void @zyg_free_arrays(ptr %arrays)
  call void @zyg_flush_all(ptr %ctx)
  %kept_at = getelementptr i8, ptr %ctx, i64 $C_kept
  %kept = load ptr, ptr %kept_at
  call void @zyg_free_kept(ptr %kept)
  call void @zyg_arena_finish(ptr %ctx)
  ret void
}

; The call owns a reference to the object (which it takes over).
define i1 @zyg_keep_object(ptr %ctx, ptr %object) {
  %node = call ptr @zyg_bump(ptr %ctx, i64 64)
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
"""
)
