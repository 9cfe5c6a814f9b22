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
