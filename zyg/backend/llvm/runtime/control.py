"""The GIL, signals, and how deep recursion may go."""

from .layout import fill

TEXT = fill(
    """
declare i32 @PyErr_CheckSignals()
declare i32 @clock_gettime(i32, ptr)
declare i32 @pthread_attr_destroy(ptr)
declare i32 @pthread_attr_getstack(ptr, ptr, ptr)
declare i32 @pthread_getattr_np(i64, ptr)
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @pthread_self()
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
@zyg_main_thread = global i64 0
@main_limit = internal global ptr null

define internal i64 @now() {
  %time = alloca [2 x i64]
  %ignored = call i32 @clock_gettime(i32 1, ptr %time)
  %seconds = load i64, ptr %time
  %nanos_at = getelementptr i8, ptr %time, i64 8
  %nanos = load i64, ptr %nanos_at
  %scaled = mul i64 %seconds, 1000000000
  %result = add i64 %scaled, %nanos
  ret i64 %result
}

; Add up work, and poll when there is enough.
define i32 @zyg_work(ptr %ctx, i64 %amount) {
  %work_at = getelementptr i8, ptr %ctx, i64 $C_work
  %before = load i64, ptr %work_at
  %work = add i64 %before, %amount
  store i64 %work, ptr %work_at
  %little = icmp slt i64 %work, $POLL_WORK
  br i1 %little, label %go_on, label %poll
go_on:
  ret i32 0
poll:
  %status = call i32 @zyg_poll(ptr %ctx)
  ret i32 %status
}

; -1 if a signal handler raised. A call that has run for long gives up the GIL.
define i32 @zyg_poll(ptr %ctx) cold {
entry:
  %work_at = getelementptr i8, ptr %ctx, i64 $C_work
  store i64 0, ptr %work_at
  %now = call i64 @now()
  %start_at = getelementptr i8, ptr %ctx, i64 $C_poll_start
  %start = load i64, ptr %start_at
  %first = icmp eq i64 %start, 0
  br i1 %first, label %begin, label %later
begin:
  store i64 %now, ptr %start_at
  br label %go_on
later:
  %thread_at = getelementptr i8, ptr %ctx, i64 $C_thread
  %thread = load ptr, ptr %thread_at
  %away = icmp ne ptr %thread, null
  %limit = select i1 %away, i64 $AWAY_NS, i64 $HOLD_NS
  %elapsed = sub i64 %now, %start
  %long = icmp sge i64 %elapsed, %limit
  br i1 %long, label %look, label %go_on
look:
  store i64 %now, ptr %start_at
  call void @zyg_gil_take(ptr %ctx)
  %status = call i32 @PyErr_CheckSignals()
  %raised = icmp ne i32 %status, 0
  br i1 %raised, label %error, label %give
give:
  call void @zyg_gil_give(ptr %ctx)
  br label %go_on
go_on:
  ret i32 0
error:
  ret i32 -1
}

define void @zyg_gil_give(ptr %ctx) {
  %thread = call ptr @PyEval_SaveThread()
  %thread_at = getelementptr i8, ptr %ctx, i64 $C_thread
  store ptr %thread, ptr %thread_at
  ret void
}

define void @zyg_gil_take(ptr %ctx) {
  %thread_at = getelementptr i8, ptr %ctx, i64 $C_thread
  %thread = load ptr, ptr %thread_at
  %held = icmp eq ptr %thread, null
  br i1 %held, label %done, label %take
take:
  call void @PyEval_RestoreThread(ptr %thread)
  store ptr null, ptr %thread_at
  br label %done
done:
  ret void
}

; The lowest address that recursion in this thread may reach. The main thread's is looked up once (it is slow there).
define ptr @zyg_stack_limit() {
entry:
  %attributes = alloca [16 x i64]
  %address = alloca ptr
  %size = alloca i64
  %self = call i64 @pthread_self()
  %main = load i64, ptr @zyg_main_thread
  %is_main = icmp eq i64 %self, %main
  %known = load ptr, ptr @main_limit
  %have = icmp ne ptr %known, null
  %cached = and i1 %is_main, %have
  br i1 %cached, label %old, label %ask
old:
  ret ptr %known
ask:
  %status = call i32 @pthread_getattr_np(i64 %self, ptr %attributes)
  %failed = icmp ne i32 %status, 0
  br i1 %failed, label %guess, label %read
read:
  %ignored = call i32 @pthread_attr_getstack(ptr %attributes, ptr %address, ptr %size)
  %ignored2 = call i32 @pthread_attr_destroy(ptr %attributes)
  %low = load ptr, ptr %address
  %bytes = load i64, ptr %size
  %quarter = lshr i64 %bytes, 2
  %margin = call i64 @llvm.umin.i64(i64 %quarter, i64 $STACK_MARGIN)
  %limit = getelementptr i8, ptr %low, i64 %margin
  br i1 %is_main, label %remember, label %done
remember:
  store ptr %limit, ptr @main_limit
  br label %done
done:
  ret ptr %limit
guess:
  %below = getelementptr i8, ptr %attributes, i64 -$STACK_MARGIN
  ret ptr %below
}
"""
)
