"""How long the arrays are that loops carry round, and those that come on one of several ways.

An axis of such an array is as long as on all edges, if these agree.  For a loop that is assumed before its back edges are known, as types
are, and given up where they bring something else: what is left then is that the length is not 1, if it is so on all edges, and nothing in the
end.  So in `for _ in range(n): x = x + step(x)` the sum is of arrays that are known to be of one shape, as it is in front of the loop.

What may be assumed of a parameter only ever becomes less, so the evaluation of a loop comes to an end.  Where variables take over each
other's arrays (`a, b, c = b, c, a`) each round may find out about one more of them: after some rounds nothing is assumed any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from zyg.ir.core import Value, array_type, const

from .sized import Meaning, is_not_one_by, length_of

if TYPE_CHECKING:
    from .evaluator import Evaluator

# How much may be known of a length at most, as nothing on the edges has spoken against it: the value that it is, what it means, that it is
# not 1, or nothing.
_VALUE, _MEANING, _NOT_ONE, _NOTHING = 3, 2, 1, 0
MAX_ROUNDS = 16  # of the evaluation of a block, in which anything is assumed

# Of an axis: how much is known, what the length means, and the value that it is on all edges, if it is one (and no number).
Fact = tuple[int, Meaning | None, Value | None]
_UNKNOWN: Fact = (_NOTHING, None, None)


class CarriedLengths:
    """The lengths of block parameters that are arrays."""

    def __init__(self, e: Evaluator):
        self.e = e
        self.most: dict[Value, list[int]] = {}
        self.facts: dict[Value, tuple[Fact, ...]] = {}

    def of_parameter(self, param: Value, before: Value | None, values: Sequence[Any], rounds: int) -> Value:
        """The parameter for what the edges bring, `values`, of which none need be there on some: `param`, if what is known of that still
        holds, else a new one.  `before`: what was the parameter until now; `rounds`: how often its block has been evaluated."""
        ndim = array_type(param).ndim
        most = list(self.most.get(before, ())) if before is not None else []
        if len(most) != ndim or rounds >= MAX_ROUNDS:
            most = [_VALUE if rounds < MAX_ROUNDS else _NOTHING] * ndim
        others = [v for v in values if v is not param]
        facts = tuple([self._fact(param, others, axis, most) for axis in range(ndim)])
        if param in self.facts and facts != self.facts[param]:
            param = Value(param.type, param.name)
        if param not in self.facts:
            self._tell(param, facts)
        self.most[param] = most
        return param

    def _fact(self, param: Value, values: Sequence[Any], axis: int, most: list[int]) -> Fact:
        if not all(isinstance(v, Value) for v in values):
            most[axis] = _NOTHING
        if not values:  # nothing but itself
            return self.facts[param][axis] if param in self.facts else _UNKNOWN
        if most[axis] == _NOTHING:
            return _UNKNOWN
        lengths = dict.fromkeys([length_of(self.e, v, axis) for v in values])
        if len(lengths) > 1:
            lengths.pop(((param, axis), None), None)
        means = {m for m, _ in lengths}
        if most[axis] >= _MEANING and len(means) == 1:
            m, value = next(iter(lengths))
            if len(lengths) > 1:
                most[axis] = _MEANING
            return _MEANING, m, value if most[axis] == _VALUE and not isinstance(m, int) else None
        most[axis] = _NOT_ONE if all(is_not_one_by(self.e, m) for m in means) else _NOTHING
        return most[axis], None, None

    def _tell(self, param: Value, facts: tuple[Fact, ...]) -> None:
        self.facts[param] = facts
        known = self.e.lengths
        known.sized[param] = frozenset(axis for axis, (level, _, _) in enumerate(facts) if level == _NOT_ONE)
        known.told[param] = [const(m) if isinstance(m, int) else value for _, m, value in facts]
        known.as_of[param] = [m if isinstance(m, tuple) else None for _, m, _ in facts]
        for axis, (_, m, value) in enumerate(facts):
            if isinstance(m, Value) and value is None:
                known.means[param, axis] = m
