"""What is compiled of a module that was lowered: in which pieces, and with what effort."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .lowered import LANES, WHOLE_ARRAYS, Lowered
from .splitting import COMPUTES, LIGHT, STRAIGHT, Piece, split
from .workers import Effort, Job

MANY_PHIS = 100_000  # characters, from which on LLVM chooses registers for seconds, with care: a list's items through many branches
LARGE = 3000  # lines of assembly from which on loops are not unrolled, which costs a third of the time that LLVM takes
# Lines from which on a function of the library is made quickly for good: LLVM takes minutes with care (lanes of complex eigenvectors).
HUGE = 30_000


def effort(assembly: str, brief: bool = False) -> Effort:
    """For a module, `brief` if a call of it is over at once."""
    several, arrays = _has_flag(assembly, LANES), _has_flag(assembly, WHOLE_ARRAYS)
    return Effort(
        brief=brief and not several,
        level=1 if arrays and not several else 3,
        slp=several,
        unroll=assembly.count("\n") < LARGE,
        careful=several or not arrays,
    )


def _has_flag(assembly: str, flag: str) -> bool:
    return f"\n!{flag} = " in assembly


def jobs_of(lowered: Lowered, brief: bool) -> list[Job]:
    """What is compiled: modules, what takes longest first."""
    return [job_of(p, brief) for p in split(lowered.module, lowered.settled, lowered.inlined, lowered.straight)]


def job_of(piece: Piece, brief: bool) -> Job:
    what = effort(piece.text, brief or piece.kind not in (COMPUTES, LIGHT))
    if _phis(piece.text) > MANY_PHIS:
        return Job(piece.text, what, "quick")
    return Job(piece.text, what, "straight" if piece.kind == STRAIGHT else "careful")


def _phis(assembly: str) -> int:
    """How many characters say which values come from which blocks."""
    return sum(len(line) for line in assembly.split("\n") if " = phi " in line)


def used(lowered: Lowered, imports: Iterable[str], images: Sequence[bytes]) -> list[str]:
    """Of the vector variants that LLVM might have called only those that it does call have to be there."""
    idle = {n for n in lowered.module.vector_symbols if not any(n.encode() in image for image in images)}
    return [n for n in imports if n not in idle]


__all__ = ["HUGE", "effort", "job_of", "jobs_of", "used"]
