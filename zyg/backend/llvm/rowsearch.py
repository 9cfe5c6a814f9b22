"""The place of a number in a row of doubles: what the derivative of a largest element asks for.

`zyg_first_equal`: the number of elements, where the first is, the bytes from one to the next, the value; gives the place of the
first element that is the value, or of the first nan if that is one, and the number of elements if there is none.  Eight are
compared at a time where they lie together, and then which of them it was.
"""

FIRST_EQUAL = """
declare i8 @llvm.cttz.i8(i8, i1)

define i64 @zyg_first_equal(i64 %n, ptr %row, i64 %step, double %value) {
entry:
  %nan = fcmp uno double %value, %value
  %value1 = insertelement <8 x double> poison, double %value, i64 0
  %values = shufflevector <8 x double> %value1, <8 x double> poison, <8 x i32> zeroinitializer
  %nan1 = insertelement <8 x i1> poison, i1 %nan, i64 0
  %nans = shufflevector <8 x i1> %nan1, <8 x i1> poison, <8 x i32> zeroinitializer
  %near = icmp eq i64 %step, 8
  %whole = and i64 %n, -8
  %stop = select i1 %near, i64 %whole, i64 0
  br label %block
block:
  %i = phi i64 [ 0, %entry ], [ %i.next, %none ]
  %more = icmp slt i64 %i, %stop
  br i1 %more, label %eight, label %one
eight:
  %place = getelementptr double, ptr %row, i64 %i
  %x = load <8 x double>, ptr %place, align 8
  %equal = fcmp oeq <8 x double> %x, %values
  %odd = fcmp uno <8 x double> %x, %x
  %both = and <8 x i1> %odd, %nans
  %hits = or <8 x i1> %equal, %both
  %bits = bitcast <8 x i1> %hits to i8
  %some = icmp ne i8 %bits, 0
  br i1 %some, label %which, label %none
none:
  %i.next = add i64 %i, 8
  br label %block
which:
  %first = call i8 @llvm.cttz.i8(i8 %bits, i1 true)
  %lane = zext i8 %first to i64
  %found = add i64 %i, %lane
  ret i64 %found
one:
  %k = phi i64 [ %i, %block ], [ %k.next, %other ]
  %left = icmp slt i64 %k, %n
  br i1 %left, label %look, label %nowhere
look:
  %offset = mul i64 %k, %step
  %at = getelementptr i8, ptr %row, i64 %offset
  %y = load double, ptr %at
  %same = fcmp oeq double %y, %value
  %y_nan = fcmp uno double %y, %y
  %y_both = and i1 %y_nan, %nan
  %hit = or i1 %same, %y_both
  br i1 %hit, label %here, label %other
other:
  %k.next = add i64 %k, 1
  br label %one
here:
  ret i64 %k
nowhere:
  ret i64 %n
}
"""
