"""What compiled code calls besides the C library and CPython, in LLVM assembly: memory, errors, the callable type.

The runtime comes in parts, a module here for each, which are compiled and linked when compiled code first needs one of
their symbols: code for scalars never sees the parts for arrays.  A part may use others, but not in a circle.  Functions
of our own mathematics are in specials.py.

Memory of a call.  Its *context* lives on the native stack of the entry.  It owns an *arena*: blocks that come from a
pool and go back to it, carved from one end; chunks of stacks and headers of arrays come out of it.  Array data come
from malloc, the larger ones by way of the pool, so that NumPy can own them when they are returned; headers of live arrays
are in a list, and whatever is in it when the call ends, by whichever exit, is freed.  Released arrays are kept for reuse by
the next `alloc` of the same size.

A stack is a chain of chunks in the arena, each twice the size of the one before.  Reading a stack never changes its
memory, so a copy of its position can be read again, also from other threads.
"""

from __future__ import annotations

from importlib import import_module

from .layout import CALLABLE, CTX, GUARD, HEADER, POLL_WORK, RECORD, SAVED

PARTS: dict[str, tuple[str, ...]] = {
    "callables": ("zyg_vectorcall", "zyg_dispatch", "zyg_traverse", "zyg_clear", "zyg_dealloc"),
    "entries": ("zyg_miss", "zyg_bind", "zyg_equal_constants", "zyg_revalidate", "zyg_fail", "zyg_departed"),
    "placed": ("zyg_place",),
    "objects": (
        "zyg_long", "zyg_getattr", "zyg_lookup", "zyg_call_or_null", "zyg_wrong_result", "zyg_make_float", "zyg_make_int",
        "zyg_all_different", "zyg_drop_all",
    ),
    "lists": ("zyg_list_floats", "zyg_list_ints"),
    "numbers": ("zyg_apart", "zyg_overtakes", "zyg_ipow", "zyg_arrange"),
    "memory": (
        "zyg_pool_take", "zyg_pool_give", "zyg_large_new", "zyg_pool_limit", "zyg_pool_hold", "zyg_pool_release",
    ),
    "shelves": ("zyg_shelf_new", "zyg_shelf_give", "zyg_array_allocator"),
    "arena": ("zyg_bump", "zyg_arena_finish", "zyg_arena_bytes"),
    "stacks": ("zyg_stack_grow", "zyg_stack_back", "zyg_stack_drop", "zyg_stack_reserve", "zyg_stack_rewind"),
    "arrays": (
        "zyg_array_any", "zyg_array_retain", "zyg_array_release", "zyg_flush_all", "zyg_free_arrays", "zyg_free_kept",
        "zyg_ctx_free", "zyg_keep_object", "zyg_keep",
    ),
    "fastpaths": (
        "zyg_array_new", "zyg_array_make", "zyg_array_make2", "zyg_array_make3", "zyg_array_make4", "zyg_box_array", "zyg_ctx_finish",
    ),
    "saved": ("zyg_ctx_escape", "zyg_saved_new", "zyg_saved_find", "zyg_saved_name"),
    "shapes": ("zyg_reshape",),
    "generators": ("zyg_generator_ready",),
    "pulls": (
        "zyg_pull", "zyg_pull_item", "zyg_pull_number", "zyg_pull_written", "zyg_record", "zyg_item",
    ),
    "cotangents": (
        "zyg_add_all", "zyg_add_part", "zyg_join", "zyg_pull_part", "zyg_pull_joined", "zyg_pull_permuted", "zyg_pull_reversed",
        "zyg_pull_set", "zyg_pull_summed", "zyg_pull_united", "zyg_pull_updated", "zyg_pull_dict_item", "zyg_add_keys", "zyg_add_at_places",
        "zyg_made_list", "zyg_all_real", "zyg_is_label", "zyg_place_up", "zyg_place_down",
    ),
    "alike": ("zyg_types_in", "zyg_identities", "zyg_types_alone", "zyg_give_each", "zyg_gradients"),
    "standing": ("zyg_stands",),
    "boxes": ("zyg_box_any", "zyg_box_readonly", "zyg_pin"),
    "control": ("zyg_poll", "zyg_work", "zyg_gil_give", "zyg_gil_take", "zyg_stack_limit", "zyg_main_thread"),
}  # fmt: skip
HOT = {"fastpaths", "shelves"}  # parts that LLVM optimises
LARGE = {"pulls", "cotangents", "alike"}  # parts that LLVM simplifies, but takes no care with their code
# Parts for scalars are compiled in less time than it takes to load what finds code on disk, if that is not loaded yet.
QUICK = {"callables", "entries", "placed", "objects", "numbers", "control"}
HOMES = {symbol: part for part, symbols in PARTS.items() for symbol in symbols}


def text(part: str) -> str:
    """The LLVM assembly of a part."""
    return import_module(f".{part}", __name__).TEXT


__all__ = [
    "CALLABLE",
    "CTX",
    "GUARD",
    "HEADER",
    "HOMES",
    "HOT",
    "LARGE",
    "PARTS",
    "POLL_WORK",
    "QUICK",
    "RECORD",
    "SAVED",
    "text",
]
