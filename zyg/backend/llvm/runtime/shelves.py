"""Blocks of memory for small arrays, a list for each number of cache lines: the C library takes longer to find and to join
those than small functions of arrays take to compute.

Blocks of SHELVED up to POOLED bytes lie here between calls, aligned to cache lines; SHELF_BYTES at most, then all go back to
the C library.  Only who holds the GIL takes a block or gives one back, so there is no lock: two atomic operations would
take as long as the rest.  NumPy frees arrays by `zyg_array_allocator`, its "memory handler" (NEP 49), and holds it then.
"""

from .layout import fill

_ALLOCATOR = "zyg".ljust(127, "\0").replace("\0", "\\00")

TEXT = fill(
    """
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @$USABLE_SIZE(ptr)
declare ptr @aligned_alloc(i64, i64)
declare ptr @calloc(i64, i64)
declare ptr @malloc(i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)
declare void @zyg_pool_give(ptr)
@zyg_pool_limit = external global i64
@shelves = internal global [$SHELVES x ptr] zeroinitializer
@shelf_bytes = internal global i64 0
; NumPy's PyDataMem_Handler: a name, the version, then a context and what allocates and frees.
@zyg_array_allocator = global {[127 x i8], i8, ptr, ptr, ptr, ptr, ptr} {[127 x i8] c"$ALLOCATOR", i8 1, ptr null,
  ptr @array_malloc, ptr @array_calloc, ptr @array_realloc, ptr @array_free}

; A block of less than POOLED bytes, and no less than SHELVED, from a shelf or the C library; null if there is none.
define ptr @zyg_shelf_new(i64 %bytes) {
entry:
  %up = add i64 %bytes, 63
  %lines = lshr i64 %up, 6
  %shelf = getelementptr ptr, ptr @shelves, i64 %lines
  %first = load ptr, ptr %shelf
  %none = icmp eq ptr %first, null
  %size = shl i64 %lines, 6
  br i1 %none, label %fresh, label %take
take:
  %next = load ptr, ptr %first
  store ptr %next, ptr %shelf
  %kept = load i64, ptr @shelf_bytes
  %left = sub i64 %kept, %size
  store i64 %left, ptr @shelf_bytes
  ret ptr %first
fresh:
  %new = call ptr @aligned_alloc(i64 64, i64 %size)
  ret ptr %new
}

; A block of any size from the C library: back to a shelf, to the pool, or to the system.  What is not aligned (NumPy has made
; it larger in the meantime) goes to the system.
define void @zyg_shelf_give(ptr %block) {
entry:
  %nothing = icmp eq ptr %block, null
  br i1 %nothing, label %done, label %measure
measure:
  %usable = call i64 @$USABLE_SIZE(ptr %block)
  %large = icmp uge i64 %usable, $POOLED
  br i1 %large, label %pool, label %small
pool:
  call void @zyg_pool_give(ptr %block)
  ret void
small:
  %address = ptrtoint ptr %block to i64
  %below = and i64 %address, 63
  %odd = icmp ne i64 %below, 0
  %tiny = icmp ult i64 %usable, $SHELVED
  %unfit = or i1 %odd, %tiny
  br i1 %unfit, label %free, label %keep
keep:
  %lines = lshr i64 %usable, 6
  %size = shl i64 %lines, 6
  %shelf = getelementptr ptr, ptr @shelves, i64 %lines
  %limit = load i64, ptr @zyg_pool_limit
  %most = call i64 @llvm.umin.i64(i64 %limit, i64 $SHELF_BYTES)
  %kept = load i64, ptr @shelf_bytes
  %total = add i64 %kept, %size
  %full = icmp ugt i64 %total, %most
  br i1 %full, label %empty, label %put
put:
  store i64 %total, ptr @shelf_bytes
  %head = load ptr, ptr %shelf
  store ptr %head, ptr %block
  store ptr %block, ptr %shelf
  ret void
empty:
  call void @clear()
  br label %free
free:
  call void @free(ptr %block)
  br label %done
done:
  ret void
}

define internal void @clear() noinline cold {
entry:
  br label %each
each:
  %k = phi i64 [ $FIRST_SHELF, %entry ], [ %k1, %next ]
  %shelf = getelementptr ptr, ptr @shelves, i64 %k
  %first = load ptr, ptr %shelf
  store ptr null, ptr %shelf
  br label %one
one:
  %block = phi ptr [ %first, %each ], [ %following, %some ]
  %end = icmp eq ptr %block, null
  br i1 %end, label %next, label %some
some:
  %following = load ptr, ptr %block
  call void @free(ptr %block)
  br label %one
next:
  %k1 = add i64 %k, 1
  %more = icmp ult i64 %k1, $SHELVES
  br i1 %more, label %each, label %done
done:
  store i64 0, ptr @shelf_bytes
  ret void
}

define internal ptr @array_malloc(ptr %self, i64 %bytes) {
  %new = call ptr @malloc(i64 %bytes)
  ret ptr %new
}

define internal ptr @array_calloc(ptr %self, i64 %count, i64 %bytes) {
  %new = call ptr @calloc(i64 %count, i64 %bytes)
  ret ptr %new
}

define internal ptr @array_realloc(ptr %self, ptr %old, i64 %bytes) {
  %new = call ptr @realloc(ptr %old, i64 %bytes)
  ret ptr %new
}

define internal void @array_free(ptr %self, ptr %data, i64 %bytes) {
  tail call void @zyg_shelf_give(ptr %data)
  ret void
}
""".replace("$ALLOCATOR", _ALLOCATOR)
)
