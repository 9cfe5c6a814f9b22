"""Sums over the lanes of several vectors at once."""

from __future__ import annotations

from collections.abc import Callable


def add_up(let: Callable[[str], str], type: str, vectors: list[str], width: int) -> list[tuple[str, list[int]]]:
    """The sum of the lanes of each vector, neighbours first: vectors, and for each which sums its lanes are.

    `let` emits an instruction and gives its name. Two vectors share one as their sums get fewer.
    """
    add = "fadd" if type in ("double", "float") else "add"
    level = [(name, [(k, lane) for lane in range(width)]) for k, name in enumerate(vectors)]
    while level[0][1][-1][1]:  # until there is a lane of each
        shorter: list[tuple[str, list[tuple[int, int]]]] = []
        for n in range(0, len(level), 2):
            pair = level[n : n + 2]
            length = len(pair[0][1])
            places = {label: m * length + at for m, (_, own) in enumerate(pair) for at, label in enumerate(own)}
            even = sorted((p for p in places if p[1] % 2 == 0), key=lambda p: (p[1], p[0]))
            given = f"<{length} x {type}>"
            second = pair[-1][0] if len(pair) > 1 else "poison"
            if len(pair) > 1 and len(pair[-1][1]) < length:
                # The last one of an odd number had nothing to share its vector with.
                fewer = len(pair[-1][1])
                lanes = [f"i32 {k}" if k < fewer else "i32 poison" for k in range(length)]
                second = let(
                    f"shufflevector <{fewer} x {type}> {second}, <{fewer} x {type}> poison, "
                    f"<{length} x i32> <{', '.join(lanes)}>"
                )
            halves = [
                let(
                    f"shufflevector {given} {pair[0][0]}, {given} {second}, "
                    f"<{len(even)} x i32> <{', '.join(f'i32 {places[k, lane + odd]}' for k, lane in even)}>"
                )
                for odd in range(2)
            ]
            total = let(f"{add} <{len(even)} x {type}> {halves[0]}, {halves[1]}")
            shorter.append((total, [(k, lane // 2) for k, lane in even]))
        level = shorter
    return [(name, [k for k, _ in own]) for name, own in level]
