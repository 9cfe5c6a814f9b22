"""How long the arrays are that loops carry round, and those that come on one of several ways.

An axis of such an array is as long as on all edges, if these agree.  For a loop that is assumed before its back edges are known, as types
are, and given up where they bring something else: what is left then is that the length is not 1, if it is so on all edges, and nothing in the
end.  So in `for _ in range(n): x = x + step(x)` the sum is of arrays that are known to be of one shape, as it is in front of the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from zyg.ir.core import Value, array_type, const

from .sized import Meaning, is_not_one_by, length_of

if TYPE_CHECKING:
    from .evaluator import Evaluator

# How much may be known of a length at most, as nothing on the edges has spoken against it: which one it is, that it is not 1, or nothing.
_SAME, _NOT_ONE, _NOTHING = 2, 1, 0

# Of an axis: how much is known, what the length means, and the value that it is on all edges, if it is one.
Fact = tuple[int, Meaning | None, Value | None]
_UNKNOWN: Fact = (_NOTHING, None, None)


class CarriedLengths:
    """The lengths of block parameters that are arrays."""

    def __init__(self, e: Evaluator):
        self.e = e
        self.most: dict[Value, list[int]] = {}
        self.facts: dict[Value, tuple[Fact, ...]] = {}

    def of_parameter(self, param: Value, before: Value | None, values: Sequence[Any]) -> Value:
        """The parameter for what the edges bring, `values`, of which none need be there on some: `param`, if what is known of that still
        holds, else a new one.  `before`: what was the parameter until now."""
        ndim = array_type(param).ndim
        most = self.most.get(before, []) if before is not None else []
        most = list(most) if len(most) == ndim else [_SAME] * ndim
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
        if most[axis] == _SAME and len(means) == 1:
            return _SAME, means.pop(), next(iter(lengths))[1] if len(lengths) == 1 else None
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
