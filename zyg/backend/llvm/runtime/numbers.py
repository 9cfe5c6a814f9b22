"""Arithmetic that takes a loop."""

from .layout import fill

TEXT = fill(
    """
declare i64 @llvm.abs.i64(i64, i1)
declare {i64, i1} @llvm.smul.with.overflow.i64(i64, i64)

; Whether two arrays share no byte although their ranges of addresses intersect: all elements of each lie at its first
; address plus multiples of the greatest common divisor of the strides (0 where a dimension has one element).
define i1 @zyg_apart(ptr %a, ptr %b, i64 %a_size, i64 %b_size, ptr %strides, i64 %count) {
entry:
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %k1, %reduced ]
  %divisor = phi i64 [ 0, %entry ], [ %x, %reduced ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %one, label %decide
one:
  %stride_at = getelementptr i64, ptr %strides, i64 %k
  %signed = load i64, ptr %stride_at
  %stride = call i64 @llvm.abs.i64(i64 %signed, i1 false)
  br label %euclid
euclid:
  %x = phi i64 [ %divisor, %one ], [ %y, %step ]
  %y = phi i64 [ %stride, %one ], [ %rest, %step ]
  %zero = icmp eq i64 %y, 0
  br i1 %zero, label %reduced, label %step
step:
  %rest = urem i64 %x, %y
  br label %euclid
reduced:
  %k1 = add i64 %k, 1
  br label %next
decide:
  %none = icmp eq i64 %divisor, 0
  br i1 %none, label %no, label %compare
compare:
  %a_number = ptrtoint ptr %a to i64
  %b_number = ptrtoint ptr %b to i64
  %difference = sub i64 %b_number, %a_number
  %remainder = srem i64 %difference, %divisor
  %negative = icmp slt i64 %remainder, 0
  %lifted = add i64 %remainder, %divisor
  %offset = select i1 %negative, i64 %lifted, i64 %remainder
  %after = icmp sge i64 %offset, %a_size
  %end = add i64 %offset, %b_size
  %before = icmp sle i64 %end, %divisor
  %apart = and i1 %after, %before
  ret i1 %apart
no:
  ret i1 false
}

; Whether copying n elements of the array at b, whose stride is sb, to that at a, one after the other as NumPy does it for arrays of
; one dimension, reads an element that it has written. NumPy begins at the end where b lies before a and reaches it; strides that
; go opposite ways take a temporary there.
define i1 @zyg_overtakes(ptr %a, ptr %b, i64 %n, i64 %sa, i64 %sb) {
entry:
  %directions = xor i64 %sa, %sb
  %opposed = icmp slt i64 %directions, 0
  %equal = icmp eq i64 %sa, %sb
  %a_stays = icmp eq i64 %sa, 0
  %b_stays = icmp eq i64 %sb, 0
  %one = or i1 %opposed, %equal
  %two = or i1 %a_stays, %b_stays
  %fine = or i1 %one, %two
  br i1 %fine, label %no, label %begin
begin:
  %down = icmp slt i64 %sa, 0
  %last = sub i64 %n, 1
  %a_first = ptrtoint ptr %a to i64
  %b_first = ptrtoint ptr %b to i64
  %a_span = mul i64 %last, %sa
  %b_span = mul i64 %last, %sb
  %a_last = add i64 %a_first, %a_span
  %b_last = add i64 %b_first, %b_span
  %a_low = select i1 %down, i64 %a_last, i64 %a_first
  %b_low = select i1 %down, i64 %b_last, i64 %b_first
  %a_step = call i64 @llvm.abs.i64(i64 %sa, i1 false)
  %b_step = call i64 @llvm.abs.i64(i64 %sb, i1 false)
  %b_length = mul i64 %n, %b_step
  %b_end = add i64 %b_low, %b_length
  %lower = icmp ult i64 %b_low, %a_low
  %reaches = icmp ugt i64 %b_end, %a_low
  %backwards = and i1 %lower, %reaches
  %start = sub i64 %b_low, %a_low
  br label %next
next:
  %k = phi i64 [ 0, %begin ], [ %k1, %on ]
  %at = phi i64 [ %start, %begin ], [ %at1, %on ]
  %more = icmp slt i64 %k, %n
  br i1 %more, label %look, label %no
look:
  %place = sdiv i64 %at, %a_step
  %rest = srem i64 %at, %a_step
  %meets = icmp eq i64 %rest, 0
  %above = icmp sge i64 %at, 0
  %below = icmp slt i64 %place, %n
  %inside = and i1 %above, %below
  %written = and i1 %meets, %inside
  %earlier = icmp slt i64 %place, %k
  %later = icmp sgt i64 %place, %k
  %before = select i1 %backwards, i1 %later, i1 %earlier
  %wrong = and i1 %written, %before
  br i1 %wrong, label %yes, label %on
on:
  %k1 = add i64 %k, 1
  %at1 = add i64 %at, %b_step
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}

; How NumPy's iterator lays out what it makes of operands (npyiter_find_best_axis_ordering): an insertion sort of the axes, the innermost
; first, by the steps of all operands, which are in a table row by row. Two axes stay where an operand has it so; where none does and
; one has it otherwise they change places; steps of 0 say nothing. In comes the length of each axis, out its stride.
define void @zyg_arrange(ptr %steps, i64 %operands, i64 %axes, i64 %item, ptr %order, ptr %strides) {
entry:
  br label %insert
insert:
  %count = phi i64 [ 0, %entry ], [ %count1, %placed ]
  %more = icmp slt i64 %count, %axes
  br i1 %more, label %begin, label %sizes
begin:
  %back = sub i64 %axes, %count
  %new = sub i64 %back, 1
  br label %search
search:
  %k = phi i64 [ %count, %begin ], [ %k1, %compared ]
  %place = phi i64 [ %count, %begin ], [ %better, %compared ]
  %some = icmp sgt i64 %k, 0
  br i1 %some, label %look, label %shift
look:
  %k1 = sub i64 %k, 1
  %order_at = getelementptr i64, ptr %order, i64 %k1
  %old = load i64, ptr %order_at
  br label %ask
ask:
  %n = phi i64 [ 0, %look ], [ %n1, %next ]
  %swaps = phi i1 [ false, %look ], [ %swaps1, %next ]
  %left = icmp slt i64 %n, %operands
  br i1 %left, label %one, label %compared
one:
  %row = mul i64 %n, %axes
  %mine = add i64 %row, %new
  %other = add i64 %row, %old
  %mine_at = getelementptr i64, ptr %steps, i64 %mine
  %other_at = getelementptr i64, ptr %steps, i64 %other
  %mine_signed = load i64, ptr %mine_at
  %other_signed = load i64, ptr %other_at
  %x = call i64 @llvm.abs.i64(i64 %mine_signed, i1 false)
  %y = call i64 @llvm.abs.i64(i64 %other_signed, i1 false)
  %x_says = icmp ne i64 %x, 0
  %y_says = icmp ne i64 %y, 0
  %says = and i1 %x_says, %y_says
  %usual = icmp uge i64 %x, %y
  %stays = and i1 %says, %usual
  %swaps1 = or i1 %swaps, %says
  br i1 %stays, label %shift, label %next
next:
  %n1 = add i64 %n, 1
  br label %ask
compared:
  %better = select i1 %swaps, i64 %k1, i64 %place
  br label %search
shift:
  %to = phi i64 [ %place, %search ], [ %place, %one ]
  br label %move
move:
  %m = phi i64 [ %count, %shift ], [ %m1, %moving ]
  %behind = icmp sgt i64 %m, %to
  br i1 %behind, label %moving, label %placed
moving:
  %m1 = sub i64 %m, 1
  %from_at = getelementptr i64, ptr %order, i64 %m1
  %into_at = getelementptr i64, ptr %order, i64 %m
  %moved = load i64, ptr %from_at
  store i64 %moved, ptr %into_at
  br label %move
placed:
  %to_at = getelementptr i64, ptr %order, i64 %to
  store i64 %new, ptr %to_at
  %count1 = add i64 %count, 1
  br label %insert
sizes:
  %j = phi i64 [ 0, %insert ], [ %j1, %axis ]
  %size = phi i64 [ %item, %insert ], [ %larger, %axis ]
  %rest = icmp slt i64 %j, %axes
  br i1 %rest, label %axis, label %done
axis:
  %which_at = getelementptr i64, ptr %order, i64 %j
  %which = load i64, ptr %which_at
  %stride_at = getelementptr i64, ptr %strides, i64 %which
  %length = load i64, ptr %stride_at
  store i64 %size, ptr %stride_at
  %larger = mul i64 %size, %length
  %j1 = add i64 %j, 1
  br label %sizes
done:
  ret void
}

; x ** n for n >= 0 by squaring; the flag tells of overflow.
define {i64, i1} @zyg_ipow(i64 %x, i64 %n) {
entry:
  br label %loop
loop:
  %power = phi i64 [ 1, %entry ], [ %new_power, %next ]
  %base = phi i64 [ %x, %entry ], [ %square, %next ]
  %left = phi i64 [ %n, %entry ], [ %half, %next ]
  %base_over = phi i1 [ false, %entry ], [ %square_over, %next ]
  %over = phi i1 [ false, %entry ], [ %new_over, %next ]
  %done = icmp sle i64 %left, 0
  br i1 %done, label %end, label %next
next:
  %bit = and i64 %left, 1
  %odd = icmp ne i64 %bit, 0
  %times = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %power, i64 %base)
  %product = extractvalue {i64, i1} %times, 0
  %times_over = extractvalue {i64, i1} %times, 1
  %either = or i1 %times_over, %base_over
  %taken_over = and i1 %odd, %either
  %new_over = or i1 %over, %taken_over
  %new_power = select i1 %odd, i64 %product, i64 %power
  %squared = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %base, i64 %base)
  %square = extractvalue {i64, i1} %squared, 0
  %this_over = extractvalue {i64, i1} %squared, 1
  %square_over = or i1 %base_over, %this_over
  %half = lshr i64 %left, 1
  br label %loop
end:
  %pair = insertvalue {i64, i1} poison, i64 %power, 0
  %result = insertvalue {i64, i1} %pair, i1 %over, 1
  ret {i64, i1} %result
}
"""
)
