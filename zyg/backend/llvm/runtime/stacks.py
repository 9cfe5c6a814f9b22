"""Stacks: chains of chunks in the arena, each twice the size of the one before."""

from .layout import fill

TEXT = fill(
    """
declare i64 @llvm.ctlz.i64(i64, i1)
declare i64 @llvm.umax.i64(i64, i64)
declare i64 @llvm.umin.i64(i64, i64)
declare {i64, i1} @llvm.smul.with.overflow.i64(i64, i64)
declare ptr @zyg_bump(ptr, i64)

; Room for `bytes` more in a new chunk: {top, begin, end}; nulls if there is no memory.
define {ptr, ptr, ptr} @zyg_stack_grow(ptr %ctx, ptr %top, ptr %begin, ptr %end, i64 %bytes) {
entry:
  %absurd = icmp ugt i64 %bytes, 4611686018427387904
  br i1 %absurd, label %fail, label %sized
sized:
  %begin_number = ptrtoint ptr %begin to i64
  %end_number = ptrtoint ptr %end to i64
  %used = sub i64 %end_number, %begin_number
  %twice = shl i64 %used, 1
  %need = add i64 %bytes, $CHUNK_HEADER
  %capped = call i64 @llvm.umin.i64(i64 %twice, i64 1048576)
  %wish = call i64 @llvm.umax.i64(i64 %capped, i64 %need)
  %wish1 = call i64 @llvm.umax.i64(i64 %wish, i64 512)
  %less = sub i64 %wish1, 1
  %zeros = call i64 @llvm.ctlz.i64(i64 %less, i1 false)
  %class = sub i64 64, %zeros
  %power = shl i64 1, %class
  %regular = icmp ule i64 %class, $LARGEST_CHUNK
  br i1 %regular, label %kept, label %exact
kept:
  %slot_number = sub i64 %class, $SMALLEST_CHUNK
  %slots = getelementptr i8, ptr %ctx, i64 $C_chunks
  %slot = getelementptr ptr, ptr %slots, i64 %slot_number
  %old = load ptr, ptr %slot
  %none = icmp eq ptr %old, null
  br i1 %none, label %new, label %reuse
reuse:
  %next = load ptr, ptr %old
  store ptr %next, ptr %slot
  br label %ready
exact:
  %up = add i64 %need, 63
  %rounded = and i64 %up, -64
  %double = shl i64 %rounded, 1
  %large_at = getelementptr i8, ptr %ctx, i64 $C_large
  br label %search
search:
  %link = phi ptr [ %large_at, %exact ], [ %candidate, %wrong ]
  %candidate = load ptr, ptr %link
  %exhausted = icmp eq ptr %candidate, null
  br i1 %exhausted, label %new, label %measure
measure:
  %candidate_size_at = getelementptr i8, ptr %candidate, i64 24
  %candidate_size = load i64, ptr %candidate_size_at
  %enough = icmp uge i64 %candidate_size, %rounded
  %modest = icmp ule i64 %candidate_size, %double
  %fits = and i1 %enough, %modest
  br i1 %fits, label %found, label %wrong
wrong:
  br label %search
found:
  %behind = load ptr, ptr %candidate
  store ptr %behind, ptr %link
  br label %ready
new:
  %size = phi i64 [ %power, %kept ], [ %rounded, %search ]
  %made = call ptr @zyg_bump(ptr %ctx, i64 %size)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %fail, label %ready
ready:
  %chunk = phi ptr [ %old, %reuse ], [ %candidate, %found ], [ %made, %new ]
  %chunk_size = phi i64 [ %power, %reuse ], [ %candidate_size, %found ], [ %size, %new ]
  store ptr %begin, ptr %chunk
  %top_at = getelementptr i8, ptr %chunk, i64 8
  store ptr %top, ptr %top_at
  %end_at = getelementptr i8, ptr %chunk, i64 16
  store ptr %end, ptr %end_at
  %class_at = getelementptr i8, ptr %chunk, i64 24
  %tag = select i1 %regular, i64 %class, i64 %chunk_size
  store i64 %tag, ptr %class_at
  %new_begin = getelementptr i8, ptr %chunk, i64 $CHUNK_HEADER
  %new_end = getelementptr i8, ptr %chunk, i64 %chunk_size
  %a = insertvalue {ptr, ptr, ptr} poison, ptr %new_begin, 0
  %b = insertvalue {ptr, ptr, ptr} %a, ptr %new_begin, 1
  %c = insertvalue {ptr, ptr, ptr} %b, ptr %new_end, 2
  ret {ptr, ptr, ptr} %c
fail:
  ret {ptr, ptr, ptr} zeroinitializer
}

; Room for so many more items in one chunk: {top, begin, end}; an end of null if there is no memory.
define {ptr, ptr, ptr} @zyg_stack_reserve(ptr %ctx, ptr %top, ptr %begin, ptr %end, i64 %count, i64 %item) {
  %both = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %count, i64 %item)
  %overflow = extractvalue {i64, i1} %both, 1
  br i1 %overflow, label %fail, label %look
look:
  %bytes = extractvalue {i64, i1} %both, 0
  %top_number = ptrtoint ptr %top to i64
  %end_number = ptrtoint ptr %end to i64
  %room = sub i64 %end_number, %top_number
  ; A stack that is empty gets a chunk even for nothing, so that its end tells success.
  %some = icmp ne ptr %end, null
  %enough = icmp sge i64 %room, %bytes
  %fits = and i1 %some, %enough
  br i1 %fits, label %there, label %grow
there:
  %a = insertvalue {ptr, ptr, ptr} poison, ptr %top, 0
  %b = insertvalue {ptr, ptr, ptr} %a, ptr %begin, 1
  %c = insertvalue {ptr, ptr, ptr} %b, ptr %end, 2
  ret {ptr, ptr, ptr} %c
grow:
  %new = call {ptr, ptr, ptr} @zyg_stack_grow(ptr %ctx, ptr %top, ptr %begin, ptr %end, i64 %bytes)
  ret {ptr, ptr, ptr} %new
fail:
  ret {ptr, ptr, ptr} zeroinitializer
}

; Where the items pushed under a reserve of so many end: the chunk before if this one is read to its beginning.
define {ptr, ptr, ptr} @zyg_stack_rewind(ptr %top, ptr %begin, ptr %end, i64 %count) {
  %some = icmp sgt i64 %count, 0
  %read = icmp eq ptr %top, %begin
  %previous = and i1 %some, %read
  br i1 %previous, label %back, label %stay
back:
  %new = call {ptr, ptr, ptr} @zyg_stack_back(ptr %begin)
  ret {ptr, ptr, ptr} %new
stay:
  %a = insertvalue {ptr, ptr, ptr} poison, ptr %top, 0
  %b = insertvalue {ptr, ptr, ptr} %a, ptr %begin, 1
  %c = insertvalue {ptr, ptr, ptr} %b, ptr %end, 2
  ret {ptr, ptr, ptr} %c
}

; The chunk before the one that begins at `begin`, skipping empty ones.
define {ptr, ptr, ptr} @zyg_stack_back(ptr %begin) {
entry:
  br label %back
back:
  %b = phi ptr [ %begin, %entry ], [ %previous, %look ]
  %none = icmp eq ptr %b, null
  br i1 %none, label %bottom, label %look
look:
  %chunk = getelementptr i8, ptr %b, i64 -$CHUNK_HEADER
  %previous = load ptr, ptr %chunk
  %top_at = getelementptr i8, ptr %chunk, i64 8
  %top = load ptr, ptr %top_at
  %empty = icmp eq ptr %top, %previous
  br i1 %empty, label %back, label %found
found:
  %end_at = getelementptr i8, ptr %chunk, i64 16
  %end = load ptr, ptr %end_at
  %x = insertvalue {ptr, ptr, ptr} poison, ptr %top, 0
  %y = insertvalue {ptr, ptr, ptr} %x, ptr %previous, 1
  %z = insertvalue {ptr, ptr, ptr} %y, ptr %end, 2
  ret {ptr, ptr, ptr} %z
bottom:
  ret {ptr, ptr, ptr} zeroinitializer
}

; The chunks of a stack that is not used again become free ones of the context.
define void @zyg_stack_drop(ptr %ctx, ptr %begin) {
entry:
  br label %each
each:
  %b = phi ptr [ %begin, %entry ], [ %previous, %keep ], [ %previous, %keep_large ]
  %none = icmp eq ptr %b, null
  br i1 %none, label %done, label %one
one:
  %chunk = getelementptr i8, ptr %b, i64 -$CHUNK_HEADER
  %previous = load ptr, ptr %chunk
  %class_at = getelementptr i8, ptr %chunk, i64 24
  %class = load i64, ptr %class_at
  %regular = icmp ule i64 %class, $LARGEST_CHUNK
  br i1 %regular, label %keep, label %keep_large
keep_large:
  %large_at = getelementptr i8, ptr %ctx, i64 $C_large
  %first_large = load ptr, ptr %large_at
  store ptr %first_large, ptr %chunk
  store ptr %chunk, ptr %large_at
  br label %each
keep:
  %slot_number = sub i64 %class, $SMALLEST_CHUNK
  %slots = getelementptr i8, ptr %ctx, i64 $C_chunks
  %slot = getelementptr ptr, ptr %slots, i64 %slot_number
  %head = load ptr, ptr %slot
  store ptr %head, ptr %chunk
  store ptr %chunk, ptr %slot
  br label %each
done:
  ret void
}
"""
)
