"""Large blocks of memory, kept between calls: what a call gives back, the next one takes without the system clearing its
pages again, which takes several times as long as most of what is computed in them.

Blocks of POOLED bytes and more come from the pool and go back to it: those of arenas, the data of arrays, also of those that
Python owned in the meantime.  All are the C library's (malloc), so the pool is a list of what could be freed as well.  It keeps at most `zyg_pool_limit` bytes; if more
is given back, it is emptied first.  What nobody took for IDLE seconds is freed when something is given back.  The system is
told that it may have the pages of large blocks while they lie in the pool (MADV_FREE), which it takes when it runs short.

A block in the pool has in it: the next one, its size, when it came.  One list for each power of two.
"""

from .layout import fill

TEXT = fill(
    """
declare i32 @clock_gettime(i32, ptr)
declare i32 @madvise(ptr, i64, i32)
declare i32 @sched_yield()
declare i64 @llvm.ctlz.i64(i64, i1)
declare i64 @llvm.umax.i64(i64, i64)
declare i64 @$USABLE_SIZE(ptr)
declare ptr @aligned_alloc(i64, i64)
declare ptr @calloc(i64, i64)
declare void @free(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
@pool = internal global [64 x ptr] zeroinitializer
@pool_bytes = internal global i64 0
@pool_lock = internal global i32 0
@zyg_pool_limit = global i64 0

define internal void @lock() {
entry:
  br label %try
try:
  %old = atomicrmw xchg ptr @pool_lock, i32 1 acquire
  %free = icmp eq i32 %old, 0
  br i1 %free, label %done, label %wait
wait:
  %ignored = call i32 @sched_yield()
  br label %try
done:
  ret void
}

define internal void @unlock() {
  store atomic i32 0, ptr @pool_lock release, align 4
  ret void
}

; A process is forked while no thread is at the pool: in the child there is nobody who would open the lock again.
define void @zyg_pool_hold() {
  call void @lock()
  ret void
}

define void @zyg_pool_release() {
  call void @unlock()
  ret void
}

define internal i64 @seconds() {
  %time = alloca [2 x i64]
  %ignored = call i32 @clock_gettime(i32 $COARSE_CLOCK, ptr %time)
  %seconds = load i64, ptr %time
  ret i64 %seconds
}

define internal i64 @class(i64 %bytes) {
  %zeros = call i64 @llvm.ctlz.i64(i64 %bytes, i1 false)
  %capped = icmp eq i64 %zeros, 64
  %log = sub i64 63, %zeros
  %class = select i1 %capped, i64 0, i64 %log
  ret i64 %class
}

; A block of `need` to `limit` bytes out of the pool, or null.  Some of each list are looked at.
define ptr @zyg_pool_take(i64 %need, i64 %limit) {
entry:
  %kept = load atomic i64, ptr @pool_bytes monotonic, align 8
  %none = icmp ult i64 %kept, %need
  br i1 %none, label %no, label %locked
locked:
  call void @lock()
  %first = call i64 @class(i64 %need)
  %last = call i64 @class(i64 %limit)
  br label %list
list:
  %k = phi i64 [ %first, %locked ], [ %k1, %next_list ]
  %head_at = getelementptr ptr, ptr @pool, i64 %k
  br label %look
look:
  %link = phi ptr [ %head_at, %list ], [ %block, %next ]
  %tries = phi i64 [ 0, %list ], [ %tries1, %next ]
  %block = load ptr, ptr %link
  %end = icmp eq ptr %block, null
  %enough_tries = icmp ugt i64 %tries, 32
  %stop = or i1 %end, %enough_tries
  br i1 %stop, label %next_list, label %test
test:
  %size_at = getelementptr i8, ptr %block, i64 8
  %size = load i64, ptr %size_at
  %enough = icmp uge i64 %size, %need
  %modest = icmp ule i64 %size, %limit
  %fits = and i1 %enough, %modest
  br i1 %fits, label %take, label %next
next:
  %tries1 = add i64 %tries, 1
  br label %look
next_list:
  %k1 = add i64 %k, 1
  %more = icmp ule i64 %k1, %last
  br i1 %more, label %list, label %unlock
take:
  %following = load ptr, ptr %block
  store ptr %following, ptr %link
  %bytes = load i64, ptr @pool_bytes
  %less = sub i64 %bytes, %size
  store i64 %less, ptr @pool_bytes
  br label %unlock
unlock:
  %result = phi ptr [ null, %next_list ], [ %block, %take ]
  call void @unlock()
  ret ptr %result
no:
  ret ptr null
}

; Back to the pool, or to the system.
define void @zyg_pool_give(ptr %block) {
entry:
  %nothing = icmp eq ptr %block, null
  br i1 %nothing, label %done, label %measure
measure:
  %size = call i64 @$USABLE_SIZE(ptr %block)
  %limit = load i64, ptr @zyg_pool_limit
  %small = icmp ult i64 %size, $POOLED
  %large = icmp ugt i64 %size, %limit
  %unfit = or i1 %small, %large
  br i1 %unfit, label %free, label %keep
free:
  call void @free(ptr %block)
  br label %done
keep:
  call void @lend(ptr %block, i64 %size)
  %now = call i64 @seconds()
  %size_at = getelementptr i8, ptr %block, i64 8
  store i64 %size, ptr %size_at
  %time_at = getelementptr i8, ptr %block, i64 16
  store i64 %now, ptr %time_at
  call void @lock()
  %bytes = load i64, ptr @pool_bytes
  %total = add i64 %bytes, %size
  %full = icmp ugt i64 %total, %limit
  br i1 %full, label %empty, label %age
empty:
  %all = call ptr @unlink(i64 9223372036854775807)
  br label %put
age:
  %old = sub i64 %now, $IDLE
  %idle = call ptr @unlink_idle(i64 %old, i64 %now)
  br label %put
put:
  %unlinked = phi ptr [ %all, %empty ], [ %idle, %age ]
  %class = call i64 @class(i64 %size)
  %head_at = getelementptr ptr, ptr @pool, i64 %class
  %head = load ptr, ptr %head_at
  store ptr %head, ptr %block
  store ptr %block, ptr %head_at
  %left = load i64, ptr @pool_bytes
  %sum = add i64 %left, %size
  store i64 %sum, ptr @pool_bytes
  call void @unlock()
  br label %each
each:
  %b = phi ptr [ %unlinked, %put ], [ %following, %one ]
  %end = icmp eq ptr %b, null
  br i1 %end, label %done, label %one
one:
  %following = load ptr, ptr %b
  call void @free(ptr %b)
  br label %each
done:
  ret void
}

; The system may take the pages of a large block; who writes them first keeps them.  Whole huge pages only: to lend a part
; of one is to split it, which takes longer than the rest.
define internal void @lend(ptr %block, i64 %size) {
  %large = icmp uge i64 %size, $LARGE_BLOCK
  br i1 %large, label %advise, label %done
advise:
  %begin = ptrtoint ptr %block to i64
  %stop = add i64 %begin, %size
  %past = add i64 %begin, 2097215
  %from = and i64 %past, -2097152
  %to = and i64 %stop, -2097152
  %length = sub i64 %to, %from
  %start = inttoptr i64 %from to ptr
  ; Nothing if the length is 0.
  %ignored = call i32 @madvise(ptr %start, i64 %length, i32 $MADV_FREE)
  br label %done
done:
  ret void
}

; At most once a second: the blocks that came before `old`.
@looked = internal global i64 0
define internal ptr @unlink_idle(i64 %old, i64 %now) {
  %last = load i64, ptr @looked
  %same = icmp eq i64 %last, %now
  br i1 %same, label %no, label %look
look:
  store i64 %now, ptr @looked
  %idle = call ptr @unlink(i64 %old)
  ret ptr %idle
no:
  ret ptr null
}

; All blocks of the pool that came before a time, as a list.
define internal ptr @unlink(i64 %before) {
entry:
  br label %list
list:
  %k = phi i64 [ 0, %entry ], [ %k1, %next_list ]
  %gone = phi ptr [ null, %entry ], [ %gone_so_far, %next_list ]
  %head_at = getelementptr ptr, ptr @pool, i64 %k
  br label %look
look:
  %link = phi ptr [ %head_at, %list ], [ %block, %stays ], [ %link, %goes ]
  %gone_so_far = phi ptr [ %gone, %list ], [ %gone_so_far, %stays ], [ %block, %goes ]
  %block = load ptr, ptr %link
  %end = icmp eq ptr %block, null
  br i1 %end, label %next_list, label %test
test:
  %time_at = getelementptr i8, ptr %block, i64 16
  %time = load i64, ptr %time_at
  %idle = icmp slt i64 %time, %before
  br i1 %idle, label %goes, label %stays
stays:
  br label %look
goes:
  %following = load ptr, ptr %block
  store ptr %following, ptr %link
  %size_at = getelementptr i8, ptr %block, i64 8
  %size = load i64, ptr %size_at
  %bytes = load i64, ptr @pool_bytes
  %less = sub i64 %bytes, %size
  store i64 %less, ptr @pool_bytes
  store ptr %gone_so_far, ptr %block
  br label %look
next_list:
  %k1 = add i64 %k, 1
  %more = icmp ult i64 %k1, 64
  br i1 %more, label %list, label %done
done:
  ret ptr %gone_so_far
}

; Memory from the pool or the C library, of POOLED bytes or more; null if there is none.
define ptr @zyg_large_new(i64 %bytes, i1 %zeroed) {
entry:
  %huge = icmp uge i64 %bytes, $LARGE_BLOCK
  ; What was added for whole huge pages, and the C library may have added for the alignment.
  %slack = select i1 %huge, i64 3162112, i64 8192
  %eighth = lshr i64 %bytes, 3
  %most = add i64 %bytes, %eighth
  %limit = add i64 %most, %slack
  %old = call ptr @zyg_pool_take(i64 %bytes, i64 %limit)
  %none = icmp eq ptr %old, null
  br i1 %none, label %fresh, label %reuse
reuse:
  br i1 %zeroed, label %clear, label %as_it_is
clear:
  call void @llvm.memset.p0.i64(ptr %old, i8 0, i64 %bytes, i1 false)
  br label %as_it_is
as_it_is:
  ret ptr %old
fresh:
  ; The system's pages are zeros.
  br i1 %zeroed, label %zeros, label %any
zeros:
  %cleared = call ptr @calloc(i64 %bytes, i64 1)
  br label %made
any:
  ; The last huge page is whole if more than half of it is wanted: the rest of the block would have small pages, hundreds of
  ; faults, and to lend it takes longer than all others.
  %align = select i1 %huge, i64 2097152, i64 64
  %up = add i64 %bytes, 63
  %rounded = and i64 %up, -64
  %half_more = add i64 %bytes, 1048576
  %nearest = and i64 %half_more, -2097152
  %whole = call i64 @llvm.umax.i64(i64 %rounded, i64 %nearest)
  %room = select i1 %huge, i64 %whole, i64 %rounded
  %aligned = call ptr @aligned_alloc(i64 %align, i64 %room)
  br label %made
made:
  %new = phi ptr [ %cleared, %zeros ], [ %aligned, %any ]
  %size = phi i64 [ %bytes, %zeros ], [ %room, %any ]
  %failed = icmp eq ptr %new, null
  %plain = xor i1 %huge, true
  %done = or i1 %failed, %plain
  br i1 %done, label %return, label %advise
advise:
  %begin = ptrtoint ptr %new to i64
  %past = add i64 %begin, 4095
  %from = and i64 %past, -4096
  %skipped = sub i64 %from, %begin
  %length = sub i64 %size, %skipped
  %start = inttoptr i64 %from to ptr
  %ignored = call i32 @madvise(ptr %start, i64 %length, i32 $MADV_HUGEPAGE)
  br label %return
return:
  ret ptr %new
}
"""
)
