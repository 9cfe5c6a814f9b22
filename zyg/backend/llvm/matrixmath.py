"""Products of matrices of doubles, for machines with vectors of 512 bits: NumPy's BLAS knows those of few processors.
(Those of few elements, for all machines, are in rowproducts.py; which is for what, in matmul.py.)

Both hold a block of sums in registers, and go at a time through parts of the matrices that fit into the first cache (Goto and
van de Geijn, "Anatomy of high-performance matrix multiplication", ACM Trans. Math. Softw. 34, 2008).  Blocks are of six rows, the
last ones of four where that leaves out fewer; rows that are not there are the last one again.

`zyg_product`: c = a @ b, or c += a @ b, where rows of b and c lie together.  A panel of b, which is copied where it is used more
than twice, is multiplied row by row by numbers of a.  Each element is one sum in the order of the rows of b, with products that
are not rounded: so has OpenBLAS it, and the results are the same to the last bit where a has no more than 256 columns (beyond,
it adds up parts).

`zyg_add_dots`: c += a @ b.T, where all rows lie together, as in the reverse of a product; often they are few and long.  BLAS
would copy both matrices first.  The order of summation is not that of BLAS, so only what adds to cotangents takes it.
"""

from __future__ import annotations

from collections.abc import Callable

import llvmlite.binding as llvm

from . import elementloops, factors, indexedrows, rowextrema, rowsearch
from .horizontal import add_up
from .matmul import matmul, matvec
from .rowproducts import ROWS

_LANES = 8
_VECTOR = f"<{_LANES} x double>"
_TALL, _SHORT = 6, 4  # rows of blocks of sums
_DEPTH = 256  # rows of a panel
_VECTORS = 4  # in a row of a block of `product`
_OFTEN = 2 * _TALL  # rows of a up to which b is not copied: it is read twice
_PART = 1024  # of the length of rows at a time, in `add_dots`
_BLOCK = 4  # rows of b at a time: 32 kB of parts

_DECLARED = """
declare <8 x double> @llvm.fma.v8f64(<8 x double>, <8 x double>, <8 x double>)
declare <8 x double> @llvm.masked.load.v8f64.p0(ptr, i32, <8 x i1>, <8 x double>)
declare <4 x double> @llvm.masked.load.v4f64.p0(ptr, i32, <4 x i1>, <4 x double>)
declare void @llvm.masked.store.v8f64.p0(<8 x double>, ptr, i32, <8 x i1>)
declare void @llvm.masked.store.v4f64.p0(<4 x double>, ptr, i32, <4 x i1>)
declare i64 @llvm.smin.i64(i64, i64)
"""

_ADD_DOTS = """
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
  br label %columns
columns:
  %j = phi i64 [ 0, %part ], [ %j1, %columns_next ]
  %more_j = sub i64 %m, %j
  %row_j = mul i64 %j, %step_b
  %at_j = add i64 %row_j, %l
  %b_j = getelementptr double, ptr %b, i64 %at_j
  br label %rows
rows:
  %i = phi i64 [ 0, %columns ], [ %i1, %rows_next ]
  %more_i = sub i64 %n, %i
  %row_i = mul i64 %i, %step_a
  %at_i = add i64 %row_i, %l
  %a_i = getelementptr double, ptr %a, i64 %at_i
  %row_c = mul i64 %i, %step_c
  %at_c = add i64 %row_c, %j
  %c_ij = getelementptr double, ptr %c, i64 %at_c
  switch i64 %more_i, label %tall [ $LOW ]
tall:
  call void @block$TALL(i64 %count, ptr %a_i, i64 %step_a, i64 %more_i, ptr %b_j, i64 %step_b, i64 %more_j, ptr %c_ij, i64 %step_c)
  br label %rows_next
low:
  call void @block$SHORT(i64 %count, ptr %a_i, i64 %step_a, i64 %more_i, ptr %b_j, i64 %step_b, i64 %more_j, ptr %c_ij, i64 %step_c)
  br label %rows_next
rows_next:
  %taken = phi i64 [ $TALL, %tall ], [ $SHORT, %low ]
  %i1 = add i64 %i, %taken
  %again_i = icmp slt i64 %i1, %n
  br i1 %again_i, label %rows, label %columns_next
columns_next:
  %j1 = add i64 %j, $BLOCK
  %again_j = icmp slt i64 %j1, %m
  br i1 %again_j, label %columns, label %part_next
part_next:
  %l1 = add i64 %l, $PART
  %again_l = icmp slt i64 %l1, %length
  br i1 %again_l, label %part, label %done
done:
  ret void
}
"""


_PRODUCT = """
; c[i, j] = the sum of a[i, l] * b[l, j], or adds it to c; length is at least 1 (products of few elements go elsewhere); lengths, then each matrix with the distance of its rows (and columns).
define void @zyg_product(i64 %n, i64 %m, i64 %length, ptr %a, i64 %step_a, i64 %next_a, ptr %b, i64 %step_b, ptr %c, i64 %step_c, i64 %adds) noinline optnone {
entry:
  %panel = alloca [$PANEL x <8 x double>], align 64
  %empty_n = icmp slt i64 %n, 1
  %empty_m = icmp slt i64 %m, 1
  %empty = or i1 %empty_n, %empty_m
  %again = icmp sgt i64 %n, $OFTEN
  br i1 %empty, label %done, label %part
part:
  %l = phi i64 [ 0, %entry ], [ %l1, %part_next ]
  %adding = phi i64 [ %adds, %entry ], [ 1, %part_next ]
  %left = sub i64 %length, %l
  %count = call i64 @llvm.smin.i64(i64 %left, i64 $DEPTH)
  %row_b = mul i64 %l, %step_b
  %b_l = getelementptr double, ptr %b, i64 %row_b
  %column_a = mul i64 %l, %next_a
  %a_l = getelementptr double, ptr %a, i64 %column_a
  br label %columns
columns:
  %j = phi i64 [ 0, %part ], [ %j1, %columns_next ]
  %wide = sub i64 %m, %j
  %b_lj = getelementptr double, ptr %b_l, i64 %j
  %edge = icmp slt i64 %wide, $WIDTH
  %copies = or i1 %again, %edge
  br i1 %copies, label %copy, label %ready
copy:
  call void @pack(i64 %count, ptr %b_lj, i64 %step_b, i64 %wide, ptr %panel)
  br label %ready
ready:
  %rows_b = phi ptr [ %panel, %copy ], [ %b_lj, %columns ]
  %next_b = phi i64 [ $WIDTH, %copy ], [ %step_b, %columns ]
  br label %rows
rows:
  %i = phi i64 [ 0, %ready ], [ %i1, %rows_next ]
  %high = sub i64 %n, %i
  %row_a = mul i64 %i, %step_a
  %a_il = getelementptr double, ptr %a_l, i64 %row_a
  %row_c = mul i64 %i, %step_c
  %at_c = add i64 %row_c, %j
  %c_ij = getelementptr double, ptr %c, i64 %at_c
  switch i64 %high, label %tall [ $LOW ]
tall:
  call void @sums$TALL(i64 %count, ptr %a_il, i64 %step_a, i64 %next_a, i64 %high, ptr %rows_b, i64 %next_b, i64 %wide, ptr %c_ij, i64 %step_c, i64 %adding)
  br label %rows_next
low:
  call void @sums$SHORT(i64 %count, ptr %a_il, i64 %step_a, i64 %next_a, i64 %high, ptr %rows_b, i64 %next_b, i64 %wide, ptr %c_ij, i64 %step_c, i64 %adding)
  br label %rows_next
rows_next:
  %taken = phi i64 [ $TALL, %tall ], [ $SHORT, %low ]
  %i1 = add i64 %i, %taken
  %again_i = icmp slt i64 %i1, %n
  br i1 %again_i, label %rows, label %columns_next
columns_next:
  %j1 = add i64 %j, $WIDTH
  %again_j = icmp slt i64 %j1, %m
  br i1 %again_j, label %columns, label %part_next
part_next:
  %l1 = add i64 %l, $DEPTH
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


def text(name: str) -> str:
    """A function of NAMES as LLVM assembly."""
    return _DECLARED + NAMES[name]()


class _Lines:
    """The lines of a function."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def let(self, what: str) -> str:
        """A name for a result."""
        name = f"%t{len(self.lines)}"
        self.lines.append(f"  {name} = {what}")
        return name

    def add(self, *lines: str) -> None:
        """Instructions, and labels, which end in a colon."""
        self.lines += [line if line.endswith(":") else f"  {line}" for line in lines]

    def spread(self, type: str, number: str, lanes: int) -> str:
        one = self.let(f"insertelement <{lanes} x {type}> poison, {type} {number}, i64 0")
        return self.let(
            f"shufflevector <{lanes} x {type}> {one}, <{lanes} x {type}> poison, <{lanes} x i32> zeroinitializer"
        )

    def mask(self, count: str, first: int = 0, lanes: int = _LANES) -> str:
        """Which lanes are there, if so many are from the one with number 0 on."""
        numbers = ", ".join(f"i64 {first + k}" for k in range(lanes))
        return self.let(f"icmp sgt <{lanes} x i64> {self.spread('i64', count, lanes)}, <{numbers}>")

    def rows(self, matrix: str, step: str, high: str, count: int) -> list[str]:
        """Where `count` rows begin, of which `high` are there: for those that are not, the last that is."""
        self.add(f"%last_{matrix} = sub i64 {high}, 1")
        found = []
        for k in range(count):
            row = self.let(f"call i64 @llvm.smin.i64(i64 {k}, i64 %last_{matrix})")
            found.append(self.let(f"getelementptr double, ptr %{matrix}, i64 {self.let(f'mul i64 {step}, {row}')}"))
        return found

    def load(self, place: str, mask: str, otherwise: str) -> str:
        given = f"ptr {place}, i32 8, <{_LANES} x i1> {mask}, {_VECTOR} {otherwise}"
        return self.let(f"call {_VECTOR} @llvm.masked.load.v8f64.p0({given})")

    def function(self, name: str, parameters: str) -> str:
        return f"define internal void @{name}({parameters}) {{\nentry:\n" + "\n".join(self.lines) + "\n}\n"


def _with_numbers(driver: str, **numbers: int) -> str:
    """The text of a function with its blocks, which are of TALL rows, the last ones of SHORT where that leaves out fewer."""
    low = [left for left in range(1, 2 * _SHORT + 1) if left <= _SHORT or left > _TALL]
    driver = driver.replace("$LOW", " ".join(f"i64 {left}, label %low" for left in low))
    for name, number in {**numbers, "TALL": _TALL, "SHORT": _SHORT}.items():
        driver = driver.replace(f"${name}", str(number))
    return driver


def _product() -> str:
    numbers = {"PANEL": _DEPTH * _VECTORS, "DEPTH": _DEPTH, "WIDTH": _LANES * _VECTORS, "OFTEN": _OFTEN}
    return _with_numbers(_PRODUCT, **numbers) + _pack() + _sums(_TALL) + _sums(_SHORT)


def _pack() -> str:
    """The function that copies a panel of b: `count` rows of which `wide` elements are there; the others are 0."""
    w = _Lines()
    masks = [w.mask("%wide", _LANES * v) for v in range(_VECTORS)]
    w.add("br label %step", "step:", "%k = phi i64 [ 0, %entry ], [ %k.next, %step ]")
    row = w.let(f"getelementptr double, ptr %b, i64 {w.let('mul i64 %k, %step_b')}")
    target = w.let(f"getelementptr [{_VECTORS} x {_VECTOR}], ptr %panel, i64 %k")
    for v, mask in enumerate(masks):
        part = w.load(w.let(f"getelementptr double, ptr {row}, i64 {_LANES * v}"), mask, "zeroinitializer")
        w.add(f"store {_VECTOR} {part}, ptr {w.let(f'getelementptr {_VECTOR}, ptr {target}, i64 {v}')}, align 64")
    w.add("%k.next = add i64 %k, 1", "%more = icmp slt i64 %k.next, %count")
    w.add("br i1 %more, label %step, label %done", "done:", "ret void")
    return w.function("pack", "i64 %count, ptr %b, i64 %step_b, i64 %wide, ptr %panel")


def _sums(height: int) -> str:
    """The function for a block of c: `high` rows (not less than one) with `wide` columns, some of which may be beyond it.

    Rows that are not there are the last one once more, also where they are added to: what was there is read before."""
    w = _Lines()
    block = [(r, v) for r in range(height) for v in range(_VECTORS)]
    rows = w.rows("a", "%step_a", "%high", height)
    w.add("br label %step", "step:")
    w.add("%k = phi i64 [ 0, %entry ], [ %k.next, %step ]", "%at = phi i64 [ 0, %entry ], [ %at.next, %step ]")
    w.add(*(f"%s{r}{v} = phi {_VECTOR} [ zeroinitializer, %entry ], [ %n{r}{v}, %step ]" for r, v in block))
    panel = w.let(f"getelementptr double, ptr %b, i64 {w.let('mul i64 %k, %next_b')}")
    places = [w.let(f"getelementptr {_VECTOR}, ptr {panel}, i64 {v}") for v in range(_VECTORS)]
    vectors = [w.let(f"load {_VECTOR}, ptr {place}, align 8") for place in places]
    factors = [w.spread("double", w.let(f"load double, ptr {w.let(f'getelementptr double, ptr {row}, i64 %at')}"), _LANES)
               for row in rows]  # fmt: skip
    for r, v in block:
        given = f"{_VECTOR} {factors[r]}, {_VECTOR} {vectors[v]}, {_VECTOR} %s{r}{v}"
        w.add(f"%n{r}{v} = call {_VECTOR} @llvm.fma.v8f64({given})")
    w.add("%k.next = add i64 %k, 1", "%at.next = add i64 %at, %next_a", "%more = icmp slt i64 %k.next, %count")
    w.add("br i1 %more, label %step, label %ended", "ended:")
    targets = w.rows("c", "%step_c", "%high", height)
    masks = [w.mask("%wide", _LANES * v) for v in range(_VECTORS)]
    places = {(r, v): w.let(f"getelementptr double, ptr {targets[r]}, i64 {_LANES * v}") for r, v in block}
    # Not by masks: what is not loaded would be waited for even so.
    w.add("%add = icmp ne i64 %adding, 0", "br i1 %add, label %old, label %new", "old:")
    after = {
        (r, v): w.let(f"fadd {_VECTOR} {w.load(places[r, v], masks[v], 'zeroinitializer')}, %n{r}{v}") for r, v in block
    }
    w.add("br label %new", "new:")
    values = {at: w.let(f"phi {_VECTOR} [ %n{at[0]}{at[1]}, %ended ], [ {after[at]}, %old ]") for at in block}
    for r, v in block:
        given = f"{_VECTOR} {values[r, v]}, ptr {places[r, v]}, i32 8, <8 x i1> {masks[v]}"
        w.add(f"call void @llvm.masked.store.v8f64.p0({given})")
    w.add("ret void")
    matrices = "ptr %a, i64 %step_a, i64 %next_a, i64 %high, ptr %b, i64 %next_b, i64 %wide, ptr %c, i64 %step_c"
    return w.function(f"sums{height}", f"i64 %count, {matrices}, i64 %adding")


def _add_dots() -> str:
    return _with_numbers(_ADD_DOTS, PART=_PART, BLOCK=_BLOCK) + _dots(_TALL) + _dots(_SHORT)


def _dots(height: int) -> str:
    """The function for a block: its rows in both matrices, of which there are not less than one."""
    w = _Lines()
    pairs = [(i, j) for i in range(height) for j in range(_BLOCK)]
    rows = [w.rows("a", "%step_a", "%high", height), w.rows("b", "%step_b", "%wide", _BLOCK)]
    w.add(f"%sums = alloca [{len(pairs)} x {_VECTOR}], align 64", f"%whole = and i64 %count, -{_LANES}")

    def vectors_at(k: str, load: Callable[[str], str]) -> list[list[str]]:
        return [[load(w.let(f"getelementptr double, ptr {row}, i64 {k}")) for row in own] for own in rows]

    # What is left over comes first: the loop has no masks, each of which would cost as much as a product.
    w.add("%left = sub i64 %count, %whole")
    mask = w.mask("%left")
    a, b = vectors_at("%whole", lambda place: w.load(place, mask, "zeroinitializer"))
    w.add(*(f"%f{i}{j} = fmul {_VECTOR} {a[i]}, {b[j]}" for i, j in pairs))
    w.add("%some = icmp sgt i64 %whole, 0", "br i1 %some, label %step, label %ended", "step:")
    w.add("%k = phi i64 [ 0, %entry ], [ %k.next, %step ]")
    w.add(*(f"%s{i}{j} = phi {_VECTOR} [ %f{i}{j}, %entry ], [ %n{i}{j}, %step ]" for i, j in pairs))
    a, b = vectors_at("%k", lambda place: w.let(f"load {_VECTOR}, ptr {place}, align 8"))
    for i, j in pairs:
        w.add(f"%n{i}{j} = call {_VECTOR} @llvm.fma.v8f64({_VECTOR} {a[i]}, {_VECTOR} {b[j]}, {_VECTOR} %s{i}{j})")
    w.add(f"%k.next = add i64 %k, {_LANES}", "%more = icmp slt i64 %k.next, %whole")
    w.add("br i1 %more, label %step, label %ended", "ended:")
    w.add(*(f"%e{i}{j} = phi {_VECTOR} [ %f{i}{j}, %entry ], [ %n{i}{j}, %step ]" for i, j in pairs))
    for n, (i, j) in enumerate(pairs):
        w.add(f"store {_VECTOR} %e{i}{j}, ptr {w.let(f'getelementptr {_VECTOR}, ptr %sums, i64 {n}')}, align 64")
    w.add(f"%rows = call i64 @llvm.smin.i64(i64 %high, i64 {height})")
    mask = w.mask("%wide", lanes=_BLOCK)
    w.add("br label %row", "row:", "%r = phi i64 [ 0, %ended ], [ %r.next, %row ]")
    own = w.let(f"getelementptr [{_BLOCK} x {_VECTOR}], ptr %sums, i64 %r")
    places = [w.let(f"getelementptr {_VECTOR}, ptr {own}, i64 {j}") for j in range(_BLOCK)]
    vectors = [w.let(f"load {_VECTOR}, ptr {place}, align 64") for place in places]
    ((total, _),) = add_up(w.let, "double", vectors, _LANES)
    four, masked = f"<{_BLOCK} x double>", f"i32 8, <{_BLOCK} x i1> {mask}"
    target = w.let(f"getelementptr double, ptr %c, i64 {w.let('mul i64 %r, %step_c')}")
    before = w.let(f"call {four} @llvm.masked.load.v4f64.p0(ptr {target}, {masked}, {four} zeroinitializer)")
    after = w.let(f"fadd {four} {before}, {total}")
    w.add(f"call void @llvm.masked.store.v4f64.p0({four} {after}, ptr {target}, {masked})")
    w.add("%r.next = add i64 %r, 1", "%again = icmp slt i64 %r.next, %rows", "br i1 %again, label %row, label %done")
    w.add("done:", "ret void")
    matrices = "ptr %a, i64 %step_a, i64 %high, ptr %b, i64 %step_b, i64 %wide, ptr %c, i64 %step_c"
    return w.function(f"block{height}", f"i64 %count, {matrices}")


_TEXTS = (rowsearch.TEXTS, rowextrema.TEXTS, indexedrows.TEXTS, elementloops.TEXTS)
NAMES: dict[str, Callable[[], str]] = {
    "zyg_product": _product,
    "zyg_add_dots": _add_dots,
    "zyg_rows": lambda: ROWS,
    "zyg_matmul_32": lambda: matmul(32, available()),
    "zyg_matmul_64": lambda: matmul(64, available()),
    "zyg_matvec_32": lambda: matvec(32),
    "zyg_matvec_64": lambda: matvec(64),
    **factors.TEXTS,
    **{name: lambda text=text: text for texts in _TEXTS for name, text in texts.items()},
}
# Made of functions to be inlined; and with loops of their own. The others are as they are to be.
DRIVERS = frozenset({"zyg_matmul_32", "zyg_matmul_64"})
LOOPS = frozenset({"zyg_matvec_32", "zyg_matvec_64", *factors.TEXTS})
