"""c += a @ b.T for matrices of doubles whose rows lie together, for machines with vectors of 512 bits.

The reverse of a product of matrices is such a product, often of few rows that are long; NumPy's BLAS takes twice as long for
it, since it packs both matrices first, and knows the wide vectors of few processors.  Here blocks of four by four sums are
held in registers (at the edges rows are taken several times, and nothing is written); parts of the rows that fit into the first cache are gone through at a time (Goto and van de Geijn,
"Anatomy of high-performance matrix multiplication", ACM Trans. Math. Softw. 34, 2008).

The order of summation is not that of BLAS, so only what adds to cotangents takes it.
"""

from __future__ import annotations

import llvmlite.binding as llvm

from .horizontal import add_up

NAMES = frozenset({"zyg_add_dots"})

_LANES = 8
_PART = 512  # of the length of rows at a time
_GROUP = 8  # rows of b at a time: 32 kB of parts
_BLOCK = 4

_HEAD = """
declare <8 x double> @llvm.fma.v8f64(<8 x double>, <8 x double>, <8 x double>)
declare <8 x double> @llvm.masked.load.v8f64.p0(ptr, i32, <8 x i1>, <8 x double>)
declare <4 x double> @llvm.masked.load.v4f64.p0(ptr, i32, <4 x i1>, <4 x double>)
declare void @llvm.masked.store.v4f64.p0(<4 x double>, ptr, i32, <4 x i1>)
declare i64 @llvm.smin.i64(i64, i64)

; c[i, j] += the sum of a[i, l] * b[j, l]; lengths, then each matrix with the distance of its rows.
define void @zyg_add_dots(i64 %n, i64 %m, i64 %length, ptr %a, i64 %step_a, ptr %b, i64 %step_b, ptr %c, i64 %step_c) noinline optnone {
entry:
  %empty_n = icmp slt i64 %n, 1
  %empty_m = icmp slt i64 %m, 1
  %empty_l = icmp slt i64 %length, 1
  %empty_any = or i1 %empty_n, %empty_m
  %empty = or i1 %empty_any, %empty_l
  br i1 %empty, label %done, label %part
part:
  %l = phi i64 [ 0, %entry ], [ %l1, %part_next ]
  %left = sub i64 %length, %l
  %count = call i64 @llvm.smin.i64(i64 %left, i64 $PART)
  br label %group
group:
  %g = phi i64 [ 0, %part ], [ %g1, %group_next ]
  %g1 = add i64 %g, $GROUP
  %end = call i64 @llvm.smin.i64(i64 %g1, i64 %m)
  br label %rows
rows:
  %i = phi i64 [ 0, %group ], [ %i1, %rows_next ]
  %more_i = sub i64 %n, %i
  %row_i = mul i64 %i, %step_a
  %at_i = add i64 %row_i, %l
  %a_i = getelementptr double, ptr %a, i64 %at_i
  %row_c = mul i64 %i, %step_c
  br label %columns
columns:
  %j = phi i64 [ %g, %rows ], [ %j1, %columns ]
  %more_j = sub i64 %end, %j
  %row_j = mul i64 %j, %step_b
  %at_j = add i64 %row_j, %l
  %b_j = getelementptr double, ptr %b, i64 %at_j
  %at_c = add i64 %row_c, %j
  %c_ij = getelementptr double, ptr %c, i64 %at_c
  call void @block(i64 %count, ptr %a_i, i64 %step_a, i64 %more_i, ptr %b_j, i64 %step_b, i64 %more_j, ptr %c_ij, i64 %step_c)
  %j1 = add i64 %j, 4
  %again_j = icmp slt i64 %j1, %end
  br i1 %again_j, label %columns, label %rows_next
rows_next:
  %i1 = add i64 %i, 4
  %again_i = icmp slt i64 %i1, %n
  br i1 %again_i, label %rows, label %group_next
group_next:
  %again_g = icmp slt i64 %g1, %m
  br i1 %again_g, label %group, label %part_next
part_next:
  %l1 = add i64 %l, $PART
  %again_l = icmp slt i64 %l1, %length
  br i1 %again_l, label %part, label %done
done:
  ret void
}
"""


def available() -> bool:
    """Whether this machine has what the function takes."""
    if not llvm.get_process_triple().startswith("x86_64"):
        return False
    features = llvm.get_host_cpu_features()
    return all(features.get(name) for name in ("avx512f", "avx512dq", "avx512vl", "fma"))


def text() -> str:
    """The function as LLVM assembly."""
    return _HEAD.replace("$PART", str(_PART)).replace("$GROUP", str(_GROUP)) + _block()


def _block() -> str:
    """The function for a block: its rows in both matrices, of which there are not less than one."""
    lines: list[str] = []

    def let(what: str) -> str:
        name = f"%t{len(lines)}"
        lines.append(f"  {name} = {what}")
        return name

    vector = f"<{_LANES} x double>"
    pairs = [(i, j) for i in range(_BLOCK) for j in range(_BLOCK)]
    rows = {f"{x}{k}": (x, k) for x in "ab" for k in range(_BLOCK)}
    for x, count in (("a", "high"), ("b", "wide")):
        lines.append(f"  %last_{x} = sub i64 %{count}, 1")
    for name, (x, k) in rows.items():
        row = let(f"call i64 @llvm.smin.i64(i64 {k}, i64 %last_{x})")
        offset = let(f"mul i64 %step_{x}, {row}")
        lines.append(f"  %{name} = getelementptr double, ptr %{x}, i64 {offset}")
    lines.append(f"  %sums = alloca [{len(pairs)} x {vector}], align 64")
    lines.append("  br label %step")

    def spread(number: str, lanes: int) -> str:
        one = let(f"insertelement <{lanes} x i64> poison, i64 {number}, i64 0")
        return let(f"shufflevector <{lanes} x i64> {one}, <{lanes} x i64> poison, <{lanes} x i32> zeroinitializer")

    def numbers(lanes: int) -> str:
        return f"<{', '.join(f'i64 {k}' for k in range(lanes))}>"

    lines.append("step:")
    lines.append("  %k = phi i64 [ 0, %entry ], [ %k.next, %step ]")
    for i, j in pairs:
        lines.append(f"  %s{i}{j} = phi {vector} [ zeroinitializer, %entry ], [ %n{i}{j}, %step ]")
    left = let("sub i64 %count, %k")
    mask = let(f"icmp sgt <{_LANES} x i64> {spread(left, _LANES)}, {numbers(_LANES)}")
    for name in rows:
        place = let(f"getelementptr double, ptr %{name}, i64 %k")
        masked = f"i32 8, <{_LANES} x i1> {mask}, {vector} zeroinitializer"
        lines.append(f"  %v.{name} = call {vector} @llvm.masked.load.v8f64.p0(ptr {place}, {masked})")
    for i, j in pairs:
        given = f"{vector} %v.a{i}, {vector} %v.b{j}, {vector} %s{i}{j}"
        lines.append(f"  %n{i}{j} = call {vector} @llvm.fma.v8f64({given})")
    lines.append(f"  %k.next = add i64 %k, {_LANES}")
    lines.append("  %more = icmp slt i64 %k.next, %count")
    lines.append("  br i1 %more, label %step, label %ended")
    lines.append("ended:")
    for n, (i, j) in enumerate(pairs):
        place = let(f"getelementptr {vector}, ptr %sums, i64 {n}")
        lines.append(f"  store {vector} %n{i}{j}, ptr {place}, align 64")
    lines.append(f"  %rows = call i64 @llvm.smin.i64(i64 %high, i64 {_BLOCK})")
    mask = let(f"icmp sgt <{_BLOCK} x i64> {spread('%wide', _BLOCK)}, {numbers(_BLOCK)}")
    lines.append("  br label %row")
    lines.append("row:")
    lines.append("  %r = phi i64 [ 0, %ended ], [ %r.next, %row ]")
    first = let(f"mul i64 %r, {_BLOCK}")
    vectors = []
    for j in range(_BLOCK):
        place = let(f"getelementptr {vector}, ptr %sums, i64 {let(f'add i64 {first}, {j}')}")
        vectors.append(let(f"load {vector}, ptr {place}, align 64"))
    ((total, _),) = add_up(let, "double", vectors, _LANES)
    four, masked = f"<{_BLOCK} x double>", f"i32 8, <{_BLOCK} x i1> {mask}"
    place = let(f"getelementptr double, ptr %c, i64 {let('mul i64 %r, %step_c')}")
    before = let(f"call {four} @llvm.masked.load.v4f64.p0(ptr {place}, {masked}, {four} zeroinitializer)")
    after = let(f"fadd {four} {before}, {total}")
    lines.append(f"  call void @llvm.masked.store.v4f64.p0({four} {after}, ptr {place}, {masked})")
    lines.append("  %r.next = add i64 %r, 1")
    lines.append("  %again = icmp slt i64 %r.next, %rows")
    lines.append("  br i1 %again, label %row, label %done")
    lines.append("done:")
    lines.append("  ret void")
    given = "i64 %count, ptr %a, i64 %step_a, i64 %high, ptr %b, i64 %step_b, i64 %wide, ptr %c, i64 %step_c"
    return f"define internal void @block({given}) {{\nentry:\n" + "\n".join(lines) + "\n}\n"
