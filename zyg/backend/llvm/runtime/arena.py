"""The arena of a call: blocks that come from a pool and go back to it, carved from one end."""

from .layout import fill

TEXT = fill(
    """
declare i32 @madvise(ptr, i64, i32)
declare i64 @llvm.umax.i64(i64, i64)
declare i64 @llvm.umin.i64(i64, i64)
declare ptr @aligned_alloc(i64, i64)
declare ptr @zyg_pool_take(i64, i64)
declare void @zyg_pool_give(ptr)
@spare = internal global ptr null
@zyg_arena_bytes = global i64 0

define internal void @give_back(ptr %block) {
entry:
  %none = icmp eq ptr %block, null
  br i1 %none, label %done, label %each
each:
  %b = phi ptr [ %block, %entry ], [ %previous, %given ]
  %previous = load ptr, ptr %b
  ; One of the usual size stays at hand: most calls need no other.
  %size_at = getelementptr i8, ptr %b, i64 8
  %size = load i64, ptr %size_at
  %usual = icmp eq i64 %size, $BLOCK_BYTES
  br i1 %usual, label %swap, label %give
swap:
  %before = atomicrmw xchg ptr @spare, ptr %b acq_rel
  %was_free = icmp eq ptr %before, null
  br i1 %was_free, label %given, label %give
give:
  %unwanted = phi ptr [ %b, %each ], [ %before, %swap ]
  call void @zyg_pool_give(ptr %unwanted)
  br label %given
given:
  %more = icmp ne ptr %previous, null
  br i1 %more, label %each, label %done
done:
  ret void
}

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
  %stays = xor i1 %escapes, true
  %plain = and i1 %is_first, %stays
  %little_need = icmp ule i64 %need, $BLOCK_BYTES
  %usual = and i1 %plain, %little_need
  br i1 %usual, label %at_hand, label %other
at_hand:
  %spare = atomicrmw xchg ptr @spare, ptr null acq_rel
  %there = icmp ne ptr %spare, null
  br i1 %there, label %ready, label %other
other:
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
  %any = call i64 @llvm.umax.i64(i64 %most, i64 $LARGEST_BLOCK)
  %at_most = select i1 %escapes, i64 %most, i64 %any
  %pool_block = call ptr @zyg_pool_take(i64 %at_least, i64 %at_most)
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
  %ignored = call i32 @madvise(ptr %block2, i64 %size2, i32 $MADV_HUGEPAGE)
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
  ; A block of the pool says how large it is.
  %block = phi ptr [ %pool_block, %pooled ], [ %new, %made ], [ %spare, %at_hand ]
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
define ptr @zyg_bump(ptr %ctx, i64 %bytes) {
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

; The end of a call that had no arrays and kept no objects.
define void @zyg_arena_finish(ptr %ctx) {
  %block_at = getelementptr i8, ptr %ctx, i64 $C_block
  %block = load ptr, ptr %block_at
  %unused = icmp eq ptr %block, null
  br i1 %unused, label %done, label %finish
finish:
  call void @account(ptr %ctx)
  call void @give_back(ptr %block)
  br label %done
done:
  ret void
}
"""
)
