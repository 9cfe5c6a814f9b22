"""Products of doubles of any size, in whatever order they lie: which kernel, or BLAS, does one.

`zyg_matmul_32` and `zyg_matmul_64`: c = a @ b, or c += a @ b, for a BLAS with integers of so many bits; the arguments are those
of `zyg_rows` (rowproducts.py).  `zyg_matvec_32` and `zyg_matvec_64`: y = a @ x, or y += a @ x, for a matrix and a vector.  They
never fail: where there is no memory to put something in an order that BLAS takes, the product is made element by element.

Library code that does the same was a tenth of what a program with products took to compile, in each process.
"""

SMALL = 216  # multiplications up to which no call is worth its while
THIN = 64  # the same of a matrix and a vector
# Elements of a result of `zyg_add_dots` beyond which it is better to copy the matrices before they are multiplied.
MOST = 128 * 128
# The least numbers of rows and columns of `zyg_product`, which computes six by 32 elements at a time, and the most
# multiplications: beyond, BLAS may have threads for it.
ROWS, COLUMNS, WORK = 4, 12, 1 << 23

_LENGTHS = "i64 %n, i64 %m, i64 %length"
_MATRICES = "ptr %a, i64 %a0, i64 %a1, ptr %b, i64 %b0, i64 %b1, ptr %c, i64 %c0, i64 %c1, i64 %adds"

_PLACES = """
declare ptr @malloc(i64)
declare void @free(ptr)

; How many elements lie from one to the next, of bytes; 0 where they do not lie in whole steps.
define internal i64 @step(i64 %bytes) alwaysinline {
  %steps = sdiv i64 %bytes, 8
  %back = mul i64 %steps, 8
  %whole = icmp eq i64 %back, %bytes
  %result = select i1 %whole, i64 %steps, i64 0
  ret i64 %result
}

; Whether the elements of a row lie together, and the rows apart; numbers of rows and columns, steps from one to the next.
define internal i1 @by_rows(i64 %rows, i64 %columns, i64 %step0, i64 %step1) alwaysinline {
  %near = icmp eq i64 %step1, 1
  %one_column = icmp eq i64 %columns, 1
  %together = or i1 %near, %one_column
  %far = icmp sge i64 %step0, %columns
  %one_row = icmp eq i64 %rows, 1
  %apart = or i1 %far, %one_row
  %result = and i1 %together, %apart
  ret i1 %result
}

; From one row to the next, as BLAS asks for it: not less than there are elements in one, even if there is only one row.
define internal i64 @leading(i64 %step, i64 %length) alwaysinline {
  %some = icmp sgt i64 %length, 1
  %least = select i1 %some, i64 %length, i64 1
  %more = icmp sgt i64 %step, %least
  %result = select i1 %more, i64 %step, i64 %least
  ret i64 %result
}

; A matrix in an order that BLAS takes: where it is (null: there is no memory), a character, its leading dimension, what to free.
define internal {ptr, i8, i64, ptr} @placed(ptr %x, i64 %rows, i64 %columns, i64 %x0, i64 %x1) {
entry:
  %step0 = call i64 @step(i64 %x0)
  %step1 = call i64 @step(i64 %x1)
  %r = call i1 @by_rows(i64 %rows, i64 %columns, i64 %step0, i64 %step1)
  br i1 %r, label %as_rows, label %look
as_rows:
  %row = call i64 @leading(i64 %step0, i64 %columns)
  br label %done
look:
  %c = call i1 @by_rows(i64 %columns, i64 %rows, i64 %step1, i64 %step0)
  br i1 %c, label %as_columns, label %copy
as_columns:
  %column = call i64 @leading(i64 %step1, i64 %rows)
  br label %done
copy:
  %packed = call i64 @leading(i64 0, i64 %columns)
  %elements = mul i64 %rows, %columns
  %bytes = mul i64 %elements, 8
  %made = call ptr @malloc(i64 %bytes)
  %none = icmp eq ptr %made, null
  br i1 %none, label %done, label %outer
outer:
  %i = phi i64 [ 0, %copy ], [ %i.next, %outer_next ]
  %to_row = phi ptr [ %made, %copy ], [ %to, %outer_next ]
  %from_row = phi ptr [ %x, %copy ], [ %from_row.next, %outer_next ]
  %more_rows = icmp slt i64 %i, %rows
  br i1 %more_rows, label %inner, label %done
inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %element ]
  %to = phi ptr [ %to_row, %outer ], [ %to.next, %element ]
  %from = phi ptr [ %from_row, %outer ], [ %from.next, %element ]
  %more = icmp slt i64 %j, %columns
  br i1 %more, label %element, label %outer_next
element:
  %value = load double, ptr %from
  store double %value, ptr %to
  %j.next = add i64 %j, 1
  %to.next = getelementptr i8, ptr %to, i64 8
  %from.next = getelementptr i8, ptr %from, i64 %x1
  br label %inner
outer_next:
  %i.next = add i64 %i, 1
  %from_row.next = getelementptr i8, ptr %from_row, i64 %x0
  br label %outer
done:
  %place = phi ptr [ %x, %as_rows ], [ %x, %as_columns ], [ null, %copy ], [ %made, %outer ]
  %letter = phi i8 [ $PLAIN, %as_rows ], [ $TRANSPOSED, %as_columns ], [ $PLAIN, %copy ], [ $PLAIN, %outer ]
  %distance = phi i64 [ %row, %as_rows ], [ %column, %as_columns ], [ %packed, %copy ], [ %packed, %outer ]
  %own = phi ptr [ null, %as_rows ], [ null, %as_columns ], [ null, %copy ], [ %made, %outer ]
  %p = insertvalue {ptr, i8, i64, ptr} poison, ptr %place, 0
  %q = insertvalue {ptr, i8, i64, ptr} %p, i8 %letter, 1
  %s = insertvalue {ptr, i8, i64, ptr} %q, i64 %distance, 2
  %t = insertvalue {ptr, i8, i64, ptr} %s, ptr %own, 3
  ret {ptr, i8, i64, ptr} %t
}
"""

_DRIVER = f"""
declare void @zyg_rows(i64, i64, i64, ptr, i64, i64, ptr, i64, i64, ptr, i64, i64, i64)
declare void @blas.dgemm(ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr)

; Small products are on their way at once: what large ones need is not set up for them.
define void @zyg_matmul_$BITS({_LENGTHS}, {_MATRICES}) {{
entry:
  %elements = mul i64 %n, %m
  %work = mul i64 %elements, %length
  %many = icmp sgt i64 %work, {SMALL}
  br i1 %many, label %large, label %small
small:
  musttail call void @zyg_rows({_LENGTHS}, {_MATRICES})
  ret void
large:
  musttail call void @large({_LENGTHS}, {_MATRICES})
  ret void
}}

define internal void @large({_LENGTHS}, {_MATRICES}) noinline {{
entry:
  %letters = alloca [2 x i8]
  %numbers = alloca [6 x i$BITS]
  %factors = alloca [2 x double]
  %elements = mul i64 %n, %m
  %work = mul i64 %elements, %length
  %c_step0 = call i64 @step(i64 %c0)
  %c_step1 = call i64 @step(i64 %c1)
  %c_rows = call i1 @by_rows(i64 %n, i64 %m, i64 %c_step0, i64 %c_step1)
  %adding = icmp ne i64 %adds, 0
  br i1 %c_rows, label %choose, label %apart
apart:
  %c_columns = call i1 @by_rows(i64 %m, i64 %n, i64 %c_step1, i64 %c_step0)
  br i1 %c_columns, label %turned, label %far
turned:
  ; c is a transposed matrix, say its shadow: what is asked for is c.T = b.T @ a.T.
  call void @large(i64 %m, i64 %n, i64 %length, ptr %b, i64 %b1, i64 %b0, ptr %a, i64 %a1, i64 %a0, ptr %c, i64 %c1, i64 %c0, i64 %adds)
  br label %end
far:
  call void @zyg_rows({_LENGTHS}, {_MATRICES})
  br label %end
choose:
$KERNELS
blas:
  %x = call {{ptr, i8, i64, ptr}} @placed(ptr %a, i64 %n, i64 %length, i64 %a0, i64 %a1)
  %y = call {{ptr, i8, i64, ptr}} @placed(ptr %b, i64 %length, i64 %m, i64 %b0, i64 %b1)
  %x_at = extractvalue {{ptr, i8, i64, ptr}} %x, 0
  %y_at = extractvalue {{ptr, i8, i64, ptr}} %y, 0
  %x_letter = extractvalue {{ptr, i8, i64, ptr}} %x, 1
  %y_letter = extractvalue {{ptr, i8, i64, ptr}} %y, 1
  %x_distance = extractvalue {{ptr, i8, i64, ptr}} %x, 2
  %y_distance = extractvalue {{ptr, i8, i64, ptr}} %y, 2
  %x_own = extractvalue {{ptr, i8, i64, ptr}} %x, 3
  %y_own = extractvalue {{ptr, i8, i64, ptr}} %y, 3
  %no_x = icmp eq ptr %x_at, null
  %no_y = icmp eq ptr %y_at, null
  %nowhere = or i1 %no_x, %no_y
  br i1 %nowhere, label %one_by_one, label %call
one_by_one:
  call void @zyg_rows({_LENGTHS}, {_MATRICES})
  br label %freed
call:
  ; What are rows to us are columns to BLAS: it is asked for the transposed of c, which is b.T @ a.T.
  store i8 %y_letter, ptr %letters
  %second = getelementptr i8, ptr %letters, i64 1
  store i8 %x_letter, ptr %second
  store double 1.0, ptr %factors
  %beta = getelementptr double, ptr %factors, i64 1
  %old = select i1 %adding, double 1.0, double 0.0
  store double %old, ptr %beta
  %c_distance = call i64 @leading(i64 %c_step0, i64 %m)
$STORED
  call void @blas.dgemm(ptr %letters, ptr %second, ptr %number0, ptr %number1, ptr %number2, ptr %factors, ptr %y_at, ptr %number3, ptr %x_at, ptr %number4, ptr %beta, ptr %c, ptr %number5)
  br label %freed
freed:
  call void @free(ptr %x_own)
  call void @free(ptr %y_own)
  br label %end
end:
  ret void
}}
"""

_KERNELS = f"""  %a_step0 = call i64 @step(i64 %a0)
  %a_step1 = call i64 @step(i64 %a1)
  %b_step0 = call i64 @step(i64 %b0)
  %b_step1 = call i64 @step(i64 %b1)
  %few_sums = icmp sle i64 %elements, {MOST}
  %a_rows = call i1 @by_rows(i64 %n, i64 %length, i64 %a_step0, i64 %a_step1)
  %b_columns = call i1 @by_rows(i64 %m, i64 %length, i64 %b_step1, i64 %b_step0)
  %dots1 = and i1 %adding, %few_sums
  %dots2 = and i1 %a_rows, %b_columns
  %dots3 = and i1 %dots1, %dots2
  br i1 %dots3, label %dots, label %other
dots:
  call void @zyg_add_dots({_LENGTHS}, ptr %a, i64 %a_step0, ptr %b, i64 %b_step1, ptr %c, i64 %c_step0)
  br label %end
other:
  %tall = icmp sge i64 %n, {ROWS}
  %wide = icmp sge i64 %m, {COLUMNS}
  %short = icmp sle i64 %work, {WORK}
  %a_steps = mul i64 %a_step0, %a_step1
  %a_moves = icmp ne i64 %a_steps, 0
  %b_moves = icmp ne i64 %b_step0, 0
  %b_near = icmp eq i64 %b_step1, 1
  %sizes1 = and i1 %tall, %wide
  %sizes = and i1 %sizes1, %short
  %steps1 = and i1 %a_moves, %b_moves
  %steps = and i1 %steps1, %b_near
  %suits = and i1 %sizes, %steps
  br i1 %suits, label %product, label %blas
product:
  call void @zyg_product({_LENGTHS}, ptr %a, i64 %a_step0, i64 %a_step1, ptr %b, i64 %b_step0, ptr %c, i64 %c_step0, i64 %adds)
  br label %end"""

_DECLARED_KERNELS = """
declare void @zyg_add_dots(i64, i64, i64, ptr, i64, ptr, i64, ptr, i64)
declare void @zyg_product(i64, i64, i64, ptr, i64, i64, ptr, i64, ptr, i64, i64)
"""


_VECTORS = "i64 %n, i64 %length, ptr %a, i64 %a0, i64 %a1, ptr %x, i64 %x0, ptr %y, i64 %y0, i64 %adds"

_OF_VECTORS = f"""
declare void @blas.dgemv(ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr)

; Sums of products, each in the order of the elements of x.
define internal void @sums({_VECTORS}) {{
entry:
  %adding = icmp ne i64 %adds, 0
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %put ]
  %row = phi ptr [ %a, %entry ], [ %row.next, %put ]
  %to = phi ptr [ %y, %entry ], [ %to.next, %put ]
  %more_rows = icmp slt i64 %i, %n
  br i1 %more_rows, label %inner, label %done
inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %element ]
  %from = phi ptr [ %row, %outer ], [ %from.next, %element ]
  %with = phi ptr [ %x, %outer ], [ %with.next, %element ]
  %total = phi double [ 0.0, %outer ], [ %total.next, %element ]
  %more = icmp slt i64 %j, %length
  br i1 %more, label %element, label %sum
element:
  %factor = load double, ptr %from
  %value = load double, ptr %with
  %term = fmul double %factor, %value
  %total.next = fadd double %total, %term
  %j.next = add i64 %j, 1
  %from.next = getelementptr i8, ptr %from, i64 %a1
  %with.next = getelementptr i8, ptr %with, i64 %x0
  br label %inner
sum:
  br i1 %adding, label %add, label %put
add:
  %before = load double, ptr %to
  %after = fadd double %before, %total
  br label %put
put:
  %result = phi double [ %total, %sum ], [ %after, %add ]
  store double %result, ptr %to
  %i.next = add i64 %i, 1
  %row.next = getelementptr i8, ptr %row, i64 %a0
  %to.next = getelementptr i8, ptr %to, i64 %y0
  br label %outer
done:
  ret void
}}

define void @zyg_matvec_$BITS({_VECTORS}) {{
entry:
  %work = mul i64 %n, %length
  %many = icmp sgt i64 %work, {THIN}
  %y_step = call i64 @step(i64 %y0)
  %forward = icmp sgt i64 %y_step, 0
  %large = and i1 %many, %forward
  br i1 %large, label %choose, label %small
small:
  call void @sums({_VECTORS})
  ret void
choose:
  call void @by_blas({_VECTORS}, i64 %y_step)
  ret void
}}

define internal void @by_blas({_VECTORS}, i64 %y_step) noinline {{
entry:
  %letter = alloca i8
  %numbers = alloca [5 x i$BITS]
  %factors = alloca [2 x double]
  %m = call {{ptr, i8, i64, ptr}} @placed(ptr %a, i64 %n, i64 %length, i64 %a0, i64 %a1)
  %m_at = extractvalue {{ptr, i8, i64, ptr}} %m, 0
  %m_letter = extractvalue {{ptr, i8, i64, ptr}} %m, 1
  %m_distance = extractvalue {{ptr, i8, i64, ptr}} %m, 2
  %m_own = extractvalue {{ptr, i8, i64, ptr}} %m, 3
  %step = call i64 @step(i64 %x0)
  %ahead = icmp sgt i64 %step, 0
  br i1 %ahead, label %placed, label %copy
copy:
  %bytes = mul i64 %length, 8
  %made = call ptr @malloc(i64 %bytes)
  %none = icmp eq ptr %made, null
  br i1 %none, label %placed, label %copied
copied:
  %k = phi i64 [ 0, %copy ], [ %k.next, %copied ]
  %from = phi ptr [ %x, %copy ], [ %from.next, %copied ]
  %value = load double, ptr %from
  %to = getelementptr double, ptr %made, i64 %k
  store double %value, ptr %to
  %k.next = add i64 %k, 1
  %from.next = getelementptr i8, ptr %from, i64 %x0
  %again = icmp slt i64 %k.next, %length
  br i1 %again, label %copied, label %placed
placed:
  %x_at = phi ptr [ %x, %entry ], [ null, %copy ], [ %made, %copied ]
  %x_step = phi i64 [ %step, %entry ], [ 1, %copy ], [ 1, %copied ]
  %x_own = phi ptr [ null, %entry ], [ null, %copy ], [ %made, %copied ]
  %no_m = icmp eq ptr %m_at, null
  %no_x = icmp eq ptr %x_at, null
  %nowhere = or i1 %no_m, %no_x
  br i1 %nowhere, label %one_by_one, label %call
one_by_one:
  call void @sums({_VECTORS})
  br label %freed
call:
  ; What are rows to us are columns to BLAS: it is asked for the product with the transposed of them.
  %rows = icmp eq i8 %m_letter, $PLAIN
  %way = select i1 %rows, i8 $TRANSPOSED, i8 $PLAIN
  store i8 %way, ptr %letter
  %first = select i1 %rows, i64 %length, i64 %n
  %second = select i1 %rows, i64 %n, i64 %length
  store double 1.0, ptr %factors
  %beta = getelementptr double, ptr %factors, i64 1
  %adding = icmp ne i64 %adds, 0
  %old = select i1 %adding, double 1.0, double 0.0
  store double %old, ptr %beta
$STORED
  call void @blas.dgemv(ptr %letter, ptr %number0, ptr %number1, ptr %factors, ptr %m_at, ptr %number2, ptr %x_at, ptr %number3, ptr %beta, ptr %y, ptr %number4)
  br label %freed
freed:
  call void @free(ptr %m_own)
  call void @free(ptr %x_own)
  ret void
}}
"""


def matmul(bits: int, kernels: bool) -> str:
    """The function for a BLAS with integers of so many bits; `kernels`: matrixmath.py has kernels for this machine."""
    text = _for_blas(_DRIVER, bits, "%m", "%n", "%length", "%y_distance", "%x_distance", "%c_distance")
    return (_DECLARED_KERNELS if kernels else "") + text.replace(
        "$KERNELS", _KERNELS if kernels else "  br label %blas"
    )


def matvec(bits: int) -> str:
    """The function of a matrix and a vector."""
    return _for_blas(_OF_VECTORS, bits, "%first", "%second", "%m_distance", "%x_step", "%y_step")


def _for_blas(text: str, bits: int, *numbers: str) -> str:
    """The text with what it needs of matrices, and the numbers that BLAS is handed."""
    stored: list[str] = []
    for k, value in enumerate(numbers):
        if bits < 64:
            stored.append(f"  %narrow{k} = trunc i64 {value} to i{bits}")
            value = f"%narrow{k}"
        stored.append(f"  %number{k} = getelementptr i{bits}, ptr %numbers, i64 {k}")
        stored.append(f"  store i{bits} {value}, ptr %number{k}")
    text = (_PLACES + text).replace("$STORED", "\n".join(stored)).replace("$BITS", str(bits))
    return text.replace("$PLAIN", str(ord("N"))).replace("$TRANSPOSED", str(ord("T")))
