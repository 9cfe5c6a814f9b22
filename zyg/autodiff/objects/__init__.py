"""Differentiation of operations on objects whose types are known when the code runs: what the code that the adjoint pass
makes for the Python back end calls.

*Cotangents.*  None is zero; a number for a number; a tuple of cotangents for a tuple.  Mutable objects have a shadow instead,
found by identity in the `Shadows` of one run of the reverse pass.

*Backs.*  What the forward half keeps of an operation is its back: None (nothing flows), or a tuple `(run, saved...)`, which
is run as `back[0](back, d, shadows)` and gives a tuple with a cotangent per operand, or None where all are None. Of a call of
a function of one number a back may also be a float, the slope.  A back has to be run even if `d` is None: a mutable result
has its cotangent in its shadow.

*Tables.*
    RECORD[op](*operands, *attributes)   runs an operation: (result, back), (results..., back), or the back alone where there is no
                                         result; ATTRS tells the attributes, in their order
    RULES[op](d, y, *operands)           the cotangents of the operands, for operands of the exact types in NUMBERS, which the forward half may
                                         compute by itself
    PLAIN[op](shadows, d, y, *operands)  the same for what the forward half always computes by itself
    CONSTANT                             what carries nothing
    forward_of(f)(*args)                 (value, back) of a call; its back gives the cotangent of `f` first
    loop(x)                              (iterator, back) of a `for` loop: of pairs (item, back of the item), or of plain items if the back is None
"""

from __future__ import annotations

from . import (
    adapters,
    arithmetic,
    attributes,
    builtins_,
    calls,
    cells,
    class_statements,
    classes,
    construction,
    container_operators,
    contexts,
    copy_,
    dataclasses_,
    dates,
    deque_methods,
    dict_methods,
    draining,
    draws,
    exact,
    fields_apart,
    filling,
    functools_,
    gathering,
    generator_items,
    generators,
    heaps,
    held_attributes,
    in_step,
    item_methods,
    iterables_,
    iteration,
    itertools_,
    keys,
    mapped,
    mappings,
    matches,
    math_,
    methods_,
    native,
    numpy_,
    numpy_cumulative,
    numpy_functions,
    numpy_in_python,
    numpy_items,
    numpy_memory,
    numpy_methods,
    numpy_products,
    numpy_random,
    numpy_shortcuts,
    patterns,
    queries,
    reach,
    reductions,
    reentry,
    reversals,
    scattering,
    set_methods,
    spreading,
    statistics_,
    stdlib_,
    stepped,
    structure,
    subscripts,
    telling,
    texts,
    threads,
    together,
    unpacking,
    watched,
    zyg_,
)
from .calls import call, forward_of
from .cotangents import NUMBERS, accumulate, joined, joined_by_name
from .holders import has_attribute
from .iteration import loop, pairs
from .shadows import Shadows

RULES = arithmetic.RULES
BY_FIRST = arithmetic.BY_FIRST
BY_SECOND = arithmetic.BY_SECOND
PLAIN = construction.PLAIN

RECORD = {
    **arithmetic.RECORD,
    **attributes.RECORD,
    **cells.RECORD,
    **patterns.RECORD,
    **construction.RECORD,
    **subscripts.RECORD,
    **queries.RECORD,
    "call_keywords": calls.record_keywords,
    "call_object": calls.record_call,
    "call_spread": spreading.record_spread,
    "iter": iteration.record_iter,
    "next": iteration.record_next,
    **unpacking.RECORD,
}

# The attributes of an operation that RECORD takes behind the operands.
ATTRS: dict[str, tuple[str, ...]] = {
    "getattr": ("name",),
    "setattr": ("name",),
    "delattr": ("name",),
    "unpack": ("count",),
    "unpack_rest": ("before", "after"),
    "frozen_key_dict": ("keys",),
    "make_function": ("has",),
    "match_class": ("count",),
    "get_cell": ("name",),
    "convert": ("conversion",),
    "format": ("conversion",),
}

CONSTANT = frozenset(
    "lt le eq ne gt ge not is is_not contains truth global name locals del_global del_name set_name string format convert "
    "import_name import_from import_star make_slice len_ build_class assertion_error unbound free_cell new_cell checked_local "
    "match_sequence match_mapping push_exception pop_exception check_match check_group prepare_reraise forget "
    "setup_annotations class_deref dict_or_global intrinsic".split()
)

__all__ = [
    "ATTRS",
    "CONSTANT",
    "NUMBERS",
    "PLAIN",
    "RECORD",
    "RULES",
    "Shadows",
    "accumulate",
    "adapters",
    "builtins_",
    "call",
    "class_statements",
    "classes",
    "container_operators",
    "contexts",
    "copy_",
    "dataclasses_",
    "dates",
    "deque_methods",
    "dict_methods",
    "draining",
    "draws",
    "exact",
    "fields_apart",
    "filling",
    "forward_of",
    "functools_",
    "gathering",
    "generator_items",
    "generators",
    "has_attribute",
    "heaps",
    "held_attributes",
    "in_step",
    "item_methods",
    "iterables_",
    "itertools_",
    "joined",
    "joined_by_name",
    "keys",
    "loop",
    "mapped",
    "mappings",
    "matches",
    "math_",
    "methods_",
    "native",
    "numpy_",
    "numpy_cumulative",
    "numpy_functions",
    "numpy_in_python",
    "numpy_items",
    "numpy_memory",
    "numpy_methods",
    "numpy_products",
    "numpy_random",
    "numpy_shortcuts",
    "pairs",
    "queries",
    "reach",
    "reductions",
    "reentry",
    "reversals",
    "scattering",
    "set_methods",
    "statistics_",
    "stdlib_",
    "stepped",
    "structure",
    "telling",
    "texts",
    "threads",
    "together",
    "watched",
    "zyg_",
]  # fmt: skip
