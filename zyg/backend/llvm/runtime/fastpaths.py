"""What calls with few arrays need at every call, without the cases that such calls do not have: an array of less than
POOLED bytes, the ndarray that it becomes, the end of a call that has left nothing behind.

Optimised, unlike the other parts, to which it passes on everything else.  The header of an array comes from the entry's frame,
so such a call needs no arena.
"""

from .layout import BUCKET, fill

TEXT = fill(
    BUCKET
    + """
declare {i64, i1} @llvm.umul.with.overflow.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
declare ptr @PyArray_New(ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)
declare ptr @malloc(i64)
declare ptr @zyg_array_any(ptr, i64, i1)
declare ptr @zyg_box_any(ptr, ptr, i32, i32, ptr, ptr, i64, i1)
declare ptr @zyg_shelf_new(i64)
declare void @Py_IncRef(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @zyg_ctx_free(ptr)
@zyg_array_handler = external global i8
@numpy.ndarray = external global i8

; An array of so many bytes; null if there is no memory.
define ptr @zyg_array_new(ptr %ctx, i64 %bytes, i1 %zeroed) {
entry:
  %modest = icmp ult i64 %bytes, $POOLED
  ; Shelves are for who holds the GIL.
  %thread_at = getelementptr i8, ptr %ctx, i64 $C_thread
  %thread = load ptr, ptr %thread_at
  %held = icmp eq ptr %thread, null
  %free_at = getelementptr i8, ptr %ctx, i64 $C_headers
  %header = load ptr, ptr %free_at
  %there = icmp ne ptr %header, null
  %bucket = call ptr @bucket(ptr %ctx, i64 %bytes)
  %old = load ptr, ptr %bucket
  %nothing_old = icmp eq ptr %old, null
  %plain = and i1 %modest, %held
  %ready = and i1 %there, %nothing_old
  %fast = and i1 %plain, %ready
  br i1 %fast, label %choose, label %any, !prof !0
any:
  %general = tail call ptr @zyg_array_any(ptr %ctx, i64 %bytes, i1 %zeroed)
  ret ptr %general
choose:
  %tiny = icmp ult i64 %bytes, $SHELVED
  br i1 %tiny, label %small, label %shelf
small:
  %one = call i64 @llvm.umax.i64(i64 %bytes, i64 1)
  %small_data = call ptr @malloc(i64 %one)
  br label %test
shelf:
  %shelf_data = call ptr @zyg_shelf_new(i64 %bytes)
  br label %test
test:
  %data = phi ptr [ %small_data, %small ], [ %shelf_data, %shelf ]
  %failed = icmp eq ptr %data, null
  br i1 %failed, label %no, label %got, !prof !1
no:
  ret ptr null
got:
  br i1 %zeroed, label %clear, label %link
clear:
  call void @llvm.memset.p0.i64(ptr %data, i8 0, i64 %bytes, i1 false)
  br label %link
link:
  %next_at = getelementptr i8, ptr %header, i64 $H_next
  %next_free = load ptr, ptr %next_at
  store ptr %next_free, ptr %free_at
  store i64 1, ptr %header
  %data_at = getelementptr i8, ptr %header, i64 $H_data
  store ptr %data, ptr %data_at
  %bytes_at = getelementptr i8, ptr %header, i64 $H_bytes
  store i64 %bytes, ptr %bytes_at
  %object_at = getelementptr i8, ptr %header, i64 $H_object
  store ptr null, ptr %object_at
  %list_at = getelementptr i8, ptr %ctx, i64 $C_arrays
  %first = load ptr, ptr %list_at
  store ptr %first, ptr %next_at
  %previous_at = getelementptr i8, ptr %header, i64 $H_previous
  store ptr null, ptr %previous_at
  store ptr %header, ptr %list_at
  %alone = icmp eq ptr %first, null
  br i1 %alone, label %done, label %back
back:
  %back_at = getelementptr i8, ptr %first, i64 $H_previous
  store ptr %header, ptr %back_at
  br label %done
done:
  ret ptr %header
}

; The same of so many items.
define ptr @zyg_array_make(ptr %ctx, i64 %length, i64 %item, i1 %zeroed) {
  %both = call {i64, i1} @llvm.umul.with.overflow.i64(i64 %length, i64 %item)
  %overflow = extractvalue {i64, i1} %both, 1
  br i1 %overflow, label %fail, label %make, !prof !1
make:
  %bytes = extractvalue {i64, i1} %both, 0
  %header = tail call ptr @zyg_array_new(ptr %ctx, i64 %bytes, i1 %zeroed)
  ret ptr %header
fail:
  ret ptr null
}

; The same of several dimensions; 1 if the size in bytes does not fit into 64 bits.
define ptr @zyg_array_make2(ptr %ctx, i64 %first, i64 %second, i64 %item, i1 %zeroed) {
  %row = call {i64, i1} @llvm.umul.with.overflow.i64(i64 %item, i64 %first)
  %row_overflow = extractvalue {i64, i1} %row, 1
  %row_bytes = extractvalue {i64, i1} %row, 0
  %both = call {i64, i1} @llvm.umul.with.overflow.i64(i64 %row_bytes, i64 %second)
  %overflow = extractvalue {i64, i1} %both, 1
  %big = or i1 %row_overflow, %overflow
  br i1 %big, label %fail, label %make, !prof !1
make:
  %bytes = extractvalue {i64, i1} %both, 0
  %header = tail call ptr @zyg_array_new(ptr %ctx, i64 %bytes, i1 %zeroed)
  ret ptr %header
fail:
  ret ptr inttoptr (i64 1 to ptr)
}

define ptr @zyg_array_make3(ptr %ctx, i64 %first, i64 %second, i64 %third, i64 %item, i1 %zeroed) {
  %row = call {i64, i1} @llvm.umul.with.overflow.i64(i64 %item, i64 %first)
  %overflow = extractvalue {i64, i1} %row, 1
  br i1 %overflow, label %fail, label %make, !prof !1
make:
  %bytes = extractvalue {i64, i1} %row, 0
  %header = call ptr @zyg_array_make2(ptr %ctx, i64 %second, i64 %third, i64 %bytes, i1 %zeroed)
  ret ptr %header
fail:
  ret ptr inttoptr (i64 1 to ptr)
}

define ptr @zyg_array_make4(ptr %ctx, i64 %first, i64 %second, i64 %third, i64 %fourth, i64 %item, i1 %zeroed) {
  %row = call {i64, i1} @llvm.umul.with.overflow.i64(i64 %item, i64 %first)
  %overflow = extractvalue {i64, i1} %row, 1
  br i1 %overflow, label %fail, label %make, !prof !1
make:
  %bytes = extractvalue {i64, i1} %row, 0
  %header = call ptr @zyg_array_make3(ptr %ctx, i64 %second, i64 %third, i64 %fourth, i64 %bytes, i1 %zeroed)
  ret ptr %header
fail:
  ret ptr inttoptr (i64 1 to ptr)
}

; An array for Python: a new reference or null.  One that was made in this call, which is over after this (`last`), and is
; returned as a whole, becomes an ndarray that owns the data: the call has nothing more to do with them, but the header still
; says whose they are, if they are returned twice.
define ptr @zyg_box_array(ptr %ctx, ptr %data, ptr %owner, i32 %type, i32 %nd, ptr %dims, ptr %strides, i64 %itemsize,
                          i1 %last) {
entry:
  %number = ptrtoint ptr %owner to i64
  %bit = and i64 %number, 1
  %untagged = icmp eq i64 %bit, 0
  %contiguous = icmp eq ptr %strides, null
  %simple = and i1 %untagged, %contiguous
  %maybe = and i1 %simple, %last
  br i1 %maybe, label %look, label %any
look:
  %object_at = getelementptr i8, ptr %owner, i64 $H_object
  %theirs = load ptr, ptr %object_at
  %mine = icmp eq ptr %theirs, null
  %data_at = getelementptr i8, ptr %owner, i64 $H_data
  %its_data = load ptr, ptr %data_at
  %from_start = icmp eq ptr %its_data, %data
  %whole = and i1 %mine, %from_start
  br i1 %whole, label %count, label %any
count:
  %k = phi i64 [ 0, %look ], [ %k1, %times ]
  %total = phi i64 [ %itemsize, %look ], [ %product, %times ]
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
  br i1 %all, label %make, label %any
any:
  %general = tail call ptr @zyg_box_any(ptr %data, ptr %owner, i32 %type, i32 %nd, ptr %dims, ptr %strides,
                                        i64 %itemsize, i1 %last)
  ret ptr %general
make:
  %made = call ptr @PyArray_New(ptr @numpy.ndarray, i32 %nd, ptr %dims, i32 %type, ptr null, ptr %data, i32 0,
                                i32 1281, ptr null)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %no, label %own, !prof !1
no:
  ret ptr null
own:
  %flags_at = getelementptr i8, ptr %made, i64 $ARRAY_FLAGS
  %flags = load i32, ptr %flags_at
  %owning = or i32 %flags, $FLAG_OWNDATA
  store i32 %owning, ptr %flags_at
  call void @Py_IncRef(ptr @zyg_array_handler)
  %handler_at = getelementptr i8, ptr %made, i64 $ARRAY_HANDLER
  store ptr @zyg_array_handler, ptr %handler_at
  store ptr %made, ptr %object_at
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
  br i1 %is_last, label %done, label %back
back:
  %back_at = getelementptr i8, ptr %next, i64 $H_previous
  store ptr %previous, ptr %back_at
  br label %done
done:
  ret ptr %made
}

; The end of a call.
define void @zyg_ctx_finish(ptr %ctx) {
  %block_at = getelementptr i8, ptr %ctx, i64 $C_block
  %block = load ptr, ptr %block_at
  %arrays_at = getelementptr i8, ptr %ctx, i64 $C_arrays
  %arrays = load ptr, ptr %arrays_at
  %kept_at = getelementptr i8, ptr %ctx, i64 $C_kept
  %kept = load ptr, ptr %kept_at
  %cache_at = getelementptr i8, ptr %ctx, i64 $C_cache
  %cache = load <8 x i64>, ptr %cache_at, align 8
  %cached = call i64 @llvm.vector.reduce.or.v8i64(<8 x i64> %cache)
  %block_word = ptrtoint ptr %block to i64
  %arrays_word = ptrtoint ptr %arrays to i64
  %kept_word = ptrtoint ptr %kept to i64
  %a = or i64 %block_word, %arrays_word
  %b = or i64 %kept_word, %cached
  %c = or i64 %a, %b
  %nothing = icmp eq i64 %c, 0
  br i1 %nothing, label %done, label %free
free:
  tail call void @zyg_ctx_free(ptr %ctx)
  ret void
done:
  ret void
}

declare i64 @llvm.vector.reduce.or.v8i64(<8 x i64>)
!0 = !{!"branch_weights", i32 100, i32 1}
!1 = !{!"branch_weights", i32 1, i32 100}
"""
)
