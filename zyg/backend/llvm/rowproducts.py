"""Products of matrices of few doubles, in whatever order they lie, for any machine.

`zyg_rows`: c = a @ b, or c += a @ b; the numbers of rows and columns of c and the length of a sum, then each matrix with the bytes
from row to row and from column to column.  Each element is one sum in the order of the rows of b, with products that are
rounded.  Four elements of a row are computed at a time, as a vector where the columns of b and c lie together.

Library code that does the same would be inferred and compiled anew for each layout, in each program.
"""

ROWS = """
define void @zyg_rows(i64 %n, i64 %m, i64 %length, ptr %a, i64 %a0, i64 %a1, ptr %b, i64 %b0, i64 %b1, ptr %c, i64 %c0, i64 %c1, i64 %adds) {
entry:
  %empty_n = icmp slt i64 %n, 1
  %empty_m = icmp slt i64 %m, 1
  %empty = or i1 %empty_n, %empty_m
  %add = icmp ne i64 %adds, 0
  %whole = and i64 %m, -4
  %near_b = icmp eq i64 %b1, 8
  %near_c = icmp eq i64 %c1, 8
  %near = and i1 %near_b, %near_c
  %b2 = mul i64 %b1, 2
  %b3 = mul i64 %b1, 3
  %b4 = mul i64 %b1, 4
  %c2 = mul i64 %c1, 2
  %c3 = mul i64 %c1, 3
  %c4 = mul i64 %c1, 4
  br i1 %empty, label %done, label %row
row:
  %i = phi i64 [ 0, %entry ], [ %i.next, %row_next ]
  %a_i = phi ptr [ %a, %entry ], [ %a_i.next, %row_next ]
  %c_i = phi ptr [ %c, %entry ], [ %c_i.next, %row_next ]
  br label %tiles
tiles:
  %j = phi i64 [ 0, %row ], [ %j.next, %tile_next ]
  %b_j = phi ptr [ %b, %row ], [ %b_j.next, %tile_next ]
  %c_ij = phi ptr [ %c_i, %row ], [ %c_ij.next, %tile_next ]
  %has_tile = icmp slt i64 %j, %whole
  br i1 %has_tile, label %tile, label %singles
tile:
  %no_terms = icmp slt i64 %length, 1
  br i1 %no_terms, label %put, label %kind
kind:
  br i1 %near, label %vector, label %scalar
vector:
  %l = phi i64 [ 0, %kind ], [ %l.next, %vector ]
  %a_il = phi ptr [ %a_i, %kind ], [ %a_il.next, %vector ]
  %b_lj = phi ptr [ %b_j, %kind ], [ %b_lj.next, %vector ]
  %sum = phi <4 x double> [ zeroinitializer, %kind ], [ %sum.next, %vector ]
  %x = load double, ptr %a_il
  %x1 = insertelement <4 x double> poison, double %x, i64 0
  %x4 = shufflevector <4 x double> %x1, <4 x double> poison, <4 x i32> zeroinitializer
  %y4 = load <4 x double>, ptr %b_lj, align 8
  %xy = fmul <4 x double> %x4, %y4
  %sum.next = fadd <4 x double> %sum, %xy
  %a_il.next = getelementptr i8, ptr %a_il, i64 %a1
  %b_lj.next = getelementptr i8, ptr %b_lj, i64 %b0
  %l.next = add i64 %l, 1
  %more = icmp slt i64 %l.next, %length
  br i1 %more, label %vector, label %put
scalar:
  %sl = phi i64 [ 0, %kind ], [ %sl.next, %scalar ]
  %sa = phi ptr [ %a_i, %kind ], [ %sa.next, %scalar ]
  %sb = phi ptr [ %b_j, %kind ], [ %sb.next, %scalar ]
  %s0 = phi double [ 0.0, %kind ], [ %s0.next, %scalar ]
  %s1 = phi double [ 0.0, %kind ], [ %s1.next, %scalar ]
  %s2 = phi double [ 0.0, %kind ], [ %s2.next, %scalar ]
  %s3 = phi double [ 0.0, %kind ], [ %s3.next, %scalar ]
  %sx = load double, ptr %sa
  %p1 = getelementptr i8, ptr %sb, i64 %b1
  %p2 = getelementptr i8, ptr %sb, i64 %b2
  %p3 = getelementptr i8, ptr %sb, i64 %b3
  %y0 = load double, ptr %sb
  %y1 = load double, ptr %p1
  %y2 = load double, ptr %p2
  %y3 = load double, ptr %p3
  %xy0 = fmul double %sx, %y0
  %xy1 = fmul double %sx, %y1
  %xy2 = fmul double %sx, %y2
  %xy3 = fmul double %sx, %y3
  %s0.next = fadd double %s0, %xy0
  %s1.next = fadd double %s1, %xy1
  %s2.next = fadd double %s2, %xy2
  %s3.next = fadd double %s3, %xy3
  %sa.next = getelementptr i8, ptr %sa, i64 %a1
  %sb.next = getelementptr i8, ptr %sb, i64 %b0
  %sl.next = add i64 %sl, 1
  %smore = icmp slt i64 %sl.next, %length
  br i1 %smore, label %scalar, label %gathered
gathered:
  %g0 = insertelement <4 x double> poison, double %s0.next, i64 0
  %g1 = insertelement <4 x double> %g0, double %s1.next, i64 1
  %g2 = insertelement <4 x double> %g1, double %s2.next, i64 2
  %g3 = insertelement <4 x double> %g2, double %s3.next, i64 3
  br label %put
put:
  %sums = phi <4 x double> [ zeroinitializer, %tile ], [ %sum.next, %vector ], [ %g3, %gathered ]
  br i1 %near_c, label %together, label %apart
together:
  br i1 %add, label %add_together, label %store_together
add_together:
  %old = load <4 x double>, ptr %c_ij, align 8
  %new = fadd <4 x double> %old, %sums
  br label %store_together
store_together:
  %values = phi <4 x double> [ %sums, %together ], [ %new, %add_together ]
  store <4 x double> %values, ptr %c_ij, align 8
  br label %tile_next
apart:
  %q1 = getelementptr i8, ptr %c_ij, i64 %c1
  %q2 = getelementptr i8, ptr %c_ij, i64 %c2
  %q3 = getelementptr i8, ptr %c_ij, i64 %c3
  %e0 = extractelement <4 x double> %sums, i64 0
  %e1 = extractelement <4 x double> %sums, i64 1
  %e2 = extractelement <4 x double> %sums, i64 2
  %e3 = extractelement <4 x double> %sums, i64 3
  br i1 %add, label %add_apart, label %store_apart
add_apart:
  %o0 = load double, ptr %c_ij
  %o1 = load double, ptr %q1
  %o2 = load double, ptr %q2
  %o3 = load double, ptr %q3
  %n0 = fadd double %o0, %e0
  %n1 = fadd double %o1, %e1
  %n2 = fadd double %o2, %e2
  %n3 = fadd double %o3, %e3
  br label %store_apart
store_apart:
  %v0 = phi double [ %e0, %apart ], [ %n0, %add_apart ]
  %v1 = phi double [ %e1, %apart ], [ %n1, %add_apart ]
  %v2 = phi double [ %e2, %apart ], [ %n2, %add_apart ]
  %v3 = phi double [ %e3, %apart ], [ %n3, %add_apart ]
  store double %v0, ptr %c_ij
  store double %v1, ptr %q1
  store double %v2, ptr %q2
  store double %v3, ptr %q3
  br label %tile_next
tile_next:
  %j.next = add i64 %j, 4
  %b_j.next = getelementptr i8, ptr %b_j, i64 %b4
  %c_ij.next = getelementptr i8, ptr %c_ij, i64 %c4
  br label %tiles
singles:
  %r = phi i64 [ %whole, %tiles ], [ %r.next, %store_single ]
  %b_r = phi ptr [ %b_j, %tiles ], [ %b_r.next, %store_single ]
  %c_ir = phi ptr [ %c_ij, %tiles ], [ %c_ir.next, %store_single ]
  %has_single = icmp slt i64 %r, %m
  br i1 %has_single, label %single, label %row_next
single:
  %none = icmp slt i64 %length, 1
  br i1 %none, label %single_put, label %terms
terms:
  %tl = phi i64 [ 0, %single ], [ %tl.next, %terms ]
  %ta = phi ptr [ %a_i, %single ], [ %ta.next, %terms ]
  %tb = phi ptr [ %b_r, %single ], [ %tb.next, %terms ]
  %t = phi double [ 0.0, %single ], [ %t.next, %terms ]
  %tx = load double, ptr %ta
  %ty = load double, ptr %tb
  %txy = fmul double %tx, %ty
  %t.next = fadd double %t, %txy
  %ta.next = getelementptr i8, ptr %ta, i64 %a1
  %tb.next = getelementptr i8, ptr %tb, i64 %b0
  %tl.next = add i64 %tl, 1
  %tmore = icmp slt i64 %tl.next, %length
  br i1 %tmore, label %terms, label %single_put
single_put:
  %total = phi double [ 0.0, %single ], [ %t.next, %terms ]
  br i1 %add, label %add_single, label %store_single
add_single:
  %before = load double, ptr %c_ir
  %after = fadd double %before, %total
  br label %store_single
store_single:
  %value = phi double [ %total, %single_put ], [ %after, %add_single ]
  store double %value, ptr %c_ir
  %r.next = add i64 %r, 1
  %b_r.next = getelementptr i8, ptr %b_r, i64 %b1
  %c_ir.next = getelementptr i8, ptr %c_ir, i64 %c1
  br label %singles
row_next:
  %i.next = add i64 %i, 1
  %a_i.next = getelementptr i8, ptr %a_i, i64 %a0
  %c_i.next = getelementptr i8, ptr %c_i, i64 %c0
  %again = icmp slt i64 %i.next, %n
  br i1 %again, label %row, label %done
done:
  ret void
}
"""
