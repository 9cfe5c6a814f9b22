"""The strides of an array in another shape, found when the code runs."""

from .layout import fill

TEXT = fill(
    """
; Whether an array can be seen in another shape of the same size without a copy, and the strides that show it so: NumPy's
; rule (_attempt_nocopy_reshape in numpy/core/src/multiarray/shape.c).  Axes of both shapes are taken in groups of the same
; size; those of the array that are in one group have to lie in memory as one.
define i1 @zyg_reshape(i64 %itemsize, i64 %nd, ptr %dims, ptr %strides, i64 %to_nd, ptr %to_dims, ptr %to_strides) {
entry:
  %room = call i64 @llvm.umax.i64(i64 %nd, i64 1)
  %old_dims = alloca i64, i64 %room
  %old_strides = alloca i64, i64 %room
  br label %drop_ones
drop_ones:
  %d = phi i64 [ 0, %entry ], [ %d1, %dropped ]
  %count = phi i64 [ 0, %entry ], [ %count1, %dropped ]
  %empty = phi i1 [ false, %entry ], [ %empty1, %dropped ]
  %more_dims = icmp slt i64 %d, %nd
  br i1 %more_dims, label %one, label %all
one:
  %dim_at = getelementptr i64, ptr %dims, i64 %d
  %dim = load i64, ptr %dim_at
  %stride_at = getelementptr i64, ptr %strides, i64 %d
  %stride = load i64, ptr %stride_at
  %is_one = icmp eq i64 %dim, 1
  %is_zero = icmp eq i64 %dim, 0
  %empty1 = or i1 %empty, %is_zero
  %old_dim_at = getelementptr i64, ptr %old_dims, i64 %count
  store i64 %dim, ptr %old_dim_at
  %old_stride_at = getelementptr i64, ptr %old_strides, i64 %count
  store i64 %stride, ptr %old_stride_at
  %next_count = add i64 %count, 1
  %count1 = select i1 %is_one, i64 %count, i64 %next_count
  br label %dropped
dropped:
  %d1 = add i64 %d, 1
  br label %drop_ones
all:
  br i1 %empty, label %trailing, label %groups
groups:
  %oi = phi i64 [ 0, %all ], [ %oj2, %grouped ]
  %ni = phi i64 [ 0, %all ], [ %nj2, %grouped ]
  %olds_left = icmp slt i64 %oi, %count
  %news_left = icmp slt i64 %ni, %to_nd
  %both_left = and i1 %olds_left, %news_left
  br i1 %both_left, label %group, label %trailing
group:
  %oi_at = getelementptr i64, ptr %old_dims, i64 %oi
  %op0 = load i64, ptr %oi_at
  %ni_at = getelementptr i64, ptr %to_dims, i64 %ni
  %np0 = load i64, ptr %ni_at
  %oj0 = add i64 %oi, 1
  %nj0 = add i64 %ni, 1
  br label %match
match:
  %op = phi i64 [ %op0, %group ], [ %op, %more_new ], [ %op1, %more_old ]
  %np = phi i64 [ %np0, %group ], [ %np1, %more_new ], [ %np, %more_old ]
  %oj = phi i64 [ %oj0, %group ], [ %oj, %more_new ], [ %oj1, %more_old ]
  %nj = phi i64 [ %nj0, %group ], [ %nj1, %more_new ], [ %nj, %more_old ]
  %equal = icmp eq i64 %op, %np
  br i1 %equal, label %merge, label %unequal
unequal:
  %smaller = icmp slt i64 %np, %op
  br i1 %smaller, label %more_new, label %more_old
more_new:
  %nj_at = getelementptr i64, ptr %to_dims, i64 %nj
  %factor_new = load i64, ptr %nj_at
  %np1 = mul i64 %np, %factor_new
  %nj1 = add i64 %nj, 1
  br label %match
more_old:
  %oj_at = getelementptr i64, ptr %old_dims, i64 %oj
  %factor_old = load i64, ptr %oj_at
  %op1 = mul i64 %op, %factor_old
  %oj1 = add i64 %oj, 1
  br label %match
merge:
  %ok = phi i64 [ %oi, %match ], [ %ok1, %as_one ]
  %ok1 = add i64 %ok, 1
  %pairs_left = icmp slt i64 %ok1, %oj
  br i1 %pairs_left, label %pair, label %place
pair:
  %outer_at = getelementptr i64, ptr %old_strides, i64 %ok
  %outer = load i64, ptr %outer_at
  %inner_at = getelementptr i64, ptr %old_strides, i64 %ok1
  %inner = load i64, ptr %inner_at
  %inner_dim_at = getelementptr i64, ptr %old_dims, i64 %ok1
  %inner_dim = load i64, ptr %inner_dim_at
  %whole = mul i64 %inner, %inner_dim
  %fits = icmp eq i64 %outer, %whole
  br i1 %fits, label %as_one, label %no
as_one:
  br label %merge
place:
  %last_old = sub i64 %oj, 1
  %last_old_at = getelementptr i64, ptr %old_strides, i64 %last_old
  %last_stride = load i64, ptr %last_old_at
  br label %each_new
each_new:
  %nk = phi i64 [ %nj, %place ], [ %nk1, %set_new ]
  %new_stride = phi i64 [ %last_stride, %place ], [ %next_stride, %set_new ]
  %nk1 = sub i64 %nk, 1
  %news_to_set = icmp sge i64 %nk1, %ni
  br i1 %news_to_set, label %set_new, label %grouped
set_new:
  %new_stride_at = getelementptr i64, ptr %to_strides, i64 %nk1
  store i64 %new_stride, ptr %new_stride_at
  %new_dim_at = getelementptr i64, ptr %to_dims, i64 %nk1
  %new_dim = load i64, ptr %new_dim_at
  %next_stride = mul i64 %new_stride, %new_dim
  br label %each_new
grouped:
  %oj2 = phi i64 [ %oj, %each_new ]
  %nj2 = phi i64 [ %nj, %each_new ]
  br label %groups
trailing:
  ; what is left of the new axes is of length 1, or the array is empty
  %rest = phi i64 [ 0, %all ], [ %ni, %groups ]
  br label %each_rest
each_rest:
  %r = phi i64 [ %rest, %trailing ], [ %r1, %set_rest ]
  %rest_left = icmp slt i64 %r, %to_nd
  br i1 %rest_left, label %set_rest, label %yes
set_rest:
  %rest_at = getelementptr i64, ptr %to_strides, i64 %r
  store i64 %itemsize, ptr %rest_at
  %r1 = add i64 %r, 1
  br label %each_rest
yes:
  ret i1 true
no:
  ret i1 false
}
declare i64 @llvm.umax.i64(i64, i64)
"""
)
