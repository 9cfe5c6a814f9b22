"""Trees of dicts, lists and objects as arguments: what they look like on entry, and the gradients that mirror them. Against differences."""

from __future__ import annotations

import copy
import math
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import zyg
from zyg.autodiff.objects.api import pullback


class Node:
    def __init__(self, value: Any, *parts: Any):
        self.value = value
        self.parts = list(parts)
        self._weight = 2.0


class Slotted:
    __slots__ = ("parts", "value")

    def __init__(self, value: Any, *parts: Any):
        self.value = value
        self.parts = list(parts)


@dataclass
class Data:
    value: Any
    parts: Any = ()
    name: str = "data"


class Pair:
    def __init__(self, left: Any, right: Any):
        self.left = left
        self.right = right


class Record(dict):
    """With an attribute beside its items."""


def moved(value: Any, step: float, at: list[int], met: dict[int, Any]) -> Any:
    """A copy in which one of the floats, the one that `at` counts down to, is another one; what is met again is one object there, too."""
    if type(value) is float:
        at[0] -= 1
        return value + step if at[0] == -1 else value
    if id(value) in met:
        return met[id(value)]
    if isinstance(value, dict):
        made = met[id(value)] = copy.copy(value)
        made.update({k: moved(v, step, at, met) for k, v in value.items()})
        return made
    if isinstance(value, list):
        made = met[id(value)] = type(value)()
        made.extend([moved(v, step, at, met) for v in value])
        return made
    if isinstance(value, tuple):
        return tuple([moved(v, step, at, met) for v in value])
    names = names_of(value)
    if not names:
        return value
    made = met[id(value)] = copy.copy(value)
    for name in names:
        setattr(made, name, moved(getattr(value, name), step, at, met))
    return made


def names_of(value: Any) -> list[str]:
    slots = getattr(type(value), "__slots__", ())
    return list(slots or getattr(value, "__dict__", ()))


def leaves(value: Any, gradient: Any, met: set[int]) -> Iterator[float]:
    """The gradient by each float, in the order of `moved`; what is met again has been there before."""
    if type(value) is float:
        yield 0.0 if gradient is None else gradient
        return
    if id(value) in met:
        return
    if not isinstance(value, tuple):
        met.add(id(value))
    if isinstance(value, dict):
        assert gradient is None or list(gradient) == list(value)
        for k, v in value.items():
            yield from leaves(v, None if gradient is None else gradient[k], met)
    elif isinstance(value, (list, tuple)):
        assert gradient is None or len(gradient) == len(value)
        for k, v in enumerate(value):
            yield from leaves(v, None if gradient is None else gradient[k], met)
    else:
        for name in names_of(value):
            yield from leaves(getattr(value, name), getattr(gradient, name.lstrip("_"), None), met)


def check(function: Any, make: Any) -> Any:
    """The gradient, which is what differences say, twice; the tree is left as the function leaves it."""
    given, plainly = make(), make()
    value, back = pullback(function, (given,))
    assert value == function(plainly)
    (gradient,), (again,) = back(1.0), back(1.0)
    assert repr(gradient) == repr(again)
    found = list(leaves(make(), gradient, set()))
    for k, slope in enumerate(found):
        f1, f2, f3, f4 = (function(moved(make(), h, [k], {})) for h in (1e-4, -1e-4, 2e-4, -2e-4))
        expected = (8.0 * (f1 - f2) - (f3 - f4)) / 12e-4
        assert math.isclose(slope, expected, rel_tol=1e-7, abs_tol=1e-8), (k, slope, expected)
    return gradient


def tree(depth: int = 3, at: int = 1, count: int = 2) -> dict[str, Any]:
    parts = [tree(depth - 1, count * at + k, count) for k in range(count)] if depth else []
    return {"name": f"n{at}", "cost": 0.3 + 0.07 * at, "parts": parts}


def cost(node: Any) -> Any:
    return node["cost"] ** 2 + 0.5 * sum(cost(p) * math.sin(p["cost"]) for p in node["parts"])


@pytest.mark.parametrize("depth, count", [(0, 0), (1, 1), (3, 1), (3, 2), (2, 3), (1, 9), (2, 5)])
def test_dicts_in_lists_in_dicts(depth: int, count: int) -> None:
    gradient = check(cost, lambda: tree(depth, 1, count))
    assert gradient["name"] is None and (depth or gradient["parts"] is None)


def test_what_is_not_read_has_nothing() -> None:
    gradient = check(lambda t: t["parts"][1]["cost"] * t["cost"], lambda: tree(2))
    assert gradient["parts"][0] is None and gradient["parts"][1]["parts"] is None
    assert check(lambda t: 2.0, tree) is None
    nested = lambda: {
        "a": {"b": {"c": 1.0, "d": [1.0, 2.0]}, "e": 2.0},
        "f": {"g": [{"h": 3.0}, {"h": 4.0, "i": None}]},
    }
    gradient = check(lambda c: c["a"]["b"]["d"][1] * c["f"]["g"][1]["h"], nested)
    assert gradient == {
        "a": {"b": {"c": None, "d": [0.0, 4.0]}, "e": None},
        "f": {"g": [None, {"h": 2.0, "i": None}]},
    }


def test_kinds_of_values_side_by_side() -> None:
    def make() -> Any:
        flat = {f"k{k}": 0.5 + k for k in range(12)}
        return {
            "int": 3, "none": None, "true": True, "text": "a", "flat": flat, "few": {"a": 1.5, "b": 2}, "row": [0.7, 1.2, 0.4],
            "mixed": [0.3, "b", None, {"x": 0.2}], "short": [0.9, {"x": 0.8}], "pair": (0.6, [1.1], {"y": 1.4}), "rows": [[0.1, 0.2], [0.3], []],
            "objects": {"a": Data(0.4), "b": Data(0.5, (1.0,))}, "ints": [1, 2], "empty": {}, "one": {"z": [0.2]},
        }  # fmt: skip

    def f(c: Any) -> Any:
        total = (
            c["int"] * c["flat"]["k3"]
            + c["few"]["a"] * c["few"]["b"]
            + sum(c["row"]) * c["mixed"][0] * c["mixed"][3]["x"]
        )
        total += c["short"][0] * c["short"][1]["x"] + c["pair"][0] * c["pair"][1][0] * c["pair"][2]["y"]
        total += sum(map(sum, c["rows"])) ** 2 + c["objects"]["a"].value * c["objects"]["b"].parts[0]
        return total + len(c["empty"]) + c["ints"][1] * c["one"]["z"][0]

    gradient = check(f, make)
    assert gradient["int"] == 3.5 and gradient["empty"] is None and gradient["mixed"][1:3] == [None, None]
    assert list(gradient) == list(make()) and gradient["rows"][2] is None


def total(node: Any) -> Any:
    return node.value**2 + sum(total(p) * math.cos(p.value) for p in node.parts)


@pytest.mark.parametrize("cls", [Node, Slotted, Data], ids=lambda cls: cls.__name__)
def test_objects_in_lists_of_objects(cls: Any) -> None:
    def node(value: float, *parts: Any) -> Any:
        return cls(value, list(parts)) if cls is Data else cls(value, *parts)

    make = lambda: node(0.3, node(0.4, node(0.5)), node(0.6, *[node(0.1 * k) for k in range(6)]), node(0.7))
    check(total, make)
    gradient = check(lambda n: n.parts[0].value * n.value, make)
    assert gradient.parts[1:] == [None, None] and gradient.parts[0].parts is None


def test_objects_with_two_branches() -> None:
    def make(depth: int = 4, at: float = 0.5) -> Any:
        return Pair(make(depth - 1, 1.1 * at), make(depth - 1, 0.9 * at)) if depth else at

    def go(node: Any) -> Any:
        return math.sin(node) if type(node) is float else go(node.left) * 0.5 + go(node.right) ** 2

    check(go, make)
    gradient = check(lambda n: n.left.right.left.right * n.left.right.left.left, make)
    assert gradient.right is None and gradient.left.left is None and gradient.left._fields == ("left", "right")


def test_one_part_in_several_places() -> None:
    def shared() -> Any:
        part = tree(1)
        return {"name": "top", "cost": 0.4, "parts": [part, part, tree(0, 5)]}

    gradient = check(cost, shared)
    assert gradient["parts"][0] == gradient["parts"][1] and gradient["parts"][0] is not gradient["parts"][1]

    def rows() -> Any:
        row, empty = [0.2, 0.3], []
        return {"a": row, "b": [row, empty, empty], "c": {"row": row, "empty": empty}}

    def f(c: Any) -> Any:
        c["c"]["empty"].append(c["a"][0] * 2.0)
        return c["b"][0][1] * c["b"][1][0] + c["c"]["row"][0] * c["b"][2][0]

    gradient = check(f, rows)
    assert gradient["a"] == gradient["b"][0] == gradient["c"]["row"] and gradient["b"][1] is None


@pytest.mark.parametrize("of", [dict, list, Node])
def test_parts_that_lead_back(of: Any) -> None:
    def make() -> Any:
        if of is dict:
            top: Any = {"value": 0.4, "up": None, "parts": []}
            top["parts"] += [{"value": 0.5, "up": top, "parts": []}, {"value": 0.6, "up": top, "parts": [top]}]
        elif of is list:
            top = [0.4, []]
            top[1] += [[0.5, top], [0.6, top, [top]]]
        else:
            top = Node(0.4)
            top.parts += [Node(0.5, top), Node(0.6, top, top)]
        return top

    def f(top: Any) -> Any:
        if of is dict:
            return sum(p["value"] * p["up"]["value"] ** 2 for p in top["parts"]) + top["parts"][1]["parts"][0]["value"]
        if of is list:
            return sum(p[0] * p[1][0] ** 2 for p in top[1]) + top[1][1][2][0][0]
        return sum(p.value * p.parts[0].value ** 2 for p in top.parts) + top.parts[1].parts[1].value

    check(f, make)


def test_a_part_that_is_open_and_one_that_is_done() -> None:
    """What an object looks like that leads to itself, once from within and once from beside."""

    def make() -> Any:
        loop: Any = {"x": 0.7}
        loop["self"] = loop
        return [loop, {"again": loop, "y": 0.3}]

    gradient = check(lambda c: c[0]["self"]["x"] * c[1]["again"]["x"] * c[1]["y"], make)
    assert gradient[1]["again"] == gradient[0] and gradient[0]["self"] is None


def grown(t: Any) -> Any:
    for p in t["parts"]:
        p["parts"].append({"name": "new", "cost": p["cost"] * t["cost"], "parts": []})
        p["extra"] = p["cost"] ** 2
    return cost(t) + sum(p["extra"] for p in t["parts"])


def pruned(t: Any) -> Any:
    lost = t["parts"].pop()
    t["parts"][0]["parts"].clear()
    del lost["name"]
    own = t["parts"][0].pop("cost")
    t["parts"][0]["cost"] = own * lost["cost"]
    return cost(t) * cost(lost) + own


def replaced(t: Any) -> Any:
    t["parts"] = [*t["parts"][::-1], t["parts"][0]]
    t["cost"] = t["parts"][0]["cost"] * t["cost"]
    t["parts"][1]["parts"] = {"now": t["parts"][0]}
    t["parts"][1]["cost"] += t["parts"][1]["parts"].pop("now")["cost"]
    t["parts"][1]["parts"] = ()
    return cost(t)


@pytest.mark.parametrize("change", [grown, pruned, replaced], ids=lambda f: f.__name__)
def test_trees_that_change(change: Any) -> None:
    gradient = check(change, lambda: tree(2))
    assert [len(p["parts"]) for p in gradient["parts"] if p["parts"] is not None] in ([2, 2], [2])
    check(lambda t: change(t["parts"][1]) * t["cost"] + cost(t), lambda: tree(3, 1, 2))


def test_gradients_are_nobody_elses() -> None:
    given = tree(2)
    before = copy.deepcopy(given)
    _, back = pullback(cost, (given,))
    (first,), (second,) = back(1.0), back(1.0)
    wanted = copy.deepcopy(second)
    first["parts"][0]["cost"] = 7.0
    first["parts"][1]["parts"].clear()
    first.clear()
    assert second == wanted and given == before
    given["parts"].clear()
    given["cost"] = 9.0
    assert back(1.0) == (wanted,) and back(2.0)[0]["cost"] == 2.0 * wanted["cost"]


def test_classes_derived_from_containers() -> None:
    for cls in (OrderedDict, Record, lambda d: defaultdict(float, d)):
        check(lambda c: c["a"] * c["b"]["x"], lambda cls=cls: cls({"a": 0.5, "b": cls({"x": 0.4})}))

    class Rows(list):
        pass

    check(lambda c: c[0][0] * c[1][0][1], lambda: Rows([[0.3], Rows([[0.4, 0.5]])]))

    def with_attribute(c: Any) -> Any:
        return c.scale * c["x"]

    given = Record(x=0.5)
    given.scale = 2.0
    for whole, f in ((given, with_attribute), ({"in": given}, lambda c: with_attribute(c["in"]))):
        with pytest.raises(zyg.Unsupported, match="the attribute `scale` of a Record"):
            pullback(f, (whole,))[1](1.0)
    inner = Rows([0.5])
    inner.scale = 2.0
    with pytest.raises(zyg.Unsupported, match="the attribute `scale` of a "):
        pullback(lambda c: c[0].scale * c[0][0], ([inner, 1.0],))[1](1.0)
    inner.clear()
    with pytest.raises(zyg.Unsupported, match="the attribute `scale` of a "):
        pullback(lambda c: c["in"].scale * 2.0, ({"in": inner},))[1](1.0)


def test_refusals_in_parts() -> None:
    def f(c: Any) -> Any:
        return np.poly1d([c["a"]["x"], 1.0])(0.5) + c["b"]

    for give in (
        lambda x: {"a": {"x": x}, "b": 1.0},
        lambda x: {"a": OrderedDict(x=x, y=1), "b": 1.0, "c": [], "d": []},
    ):
        with pytest.raises(zyg.Unsupported):
            _, back = pullback(f, (give(0.5),))
            back(1.0)


def test_exceptions_on_the_way() -> None:
    def f(t: Any) -> Any:
        found = 0.0
        for p in t["parts"]:
            try:
                found += p["cost"] * p["price"]
            except KeyError:
                p["price"] = p["cost"] + t["cost"]
                found += p["price"] ** 2
        return found

    def make() -> Any:
        made = tree(1)
        made["parts"][1]["price"] = 0.9
        return made

    check(f, make)
    with pytest.raises(KeyError):
        pullback(lambda t: t["parts"][0]["price"], (make(),))


def test_second_derivatives_and_forward_mode() -> None:
    def f(t: Any) -> Any:
        return t["cost"] ** 3 * sum(p["cost"] ** 2 * p["parts"][0].value for p in t["parts"]) + len(
            t["name"].join("ab")
        )

    def make(x: float = 0.5) -> Any:
        return {
            "name": "top",
            "cost": x,
            "parts": [{"cost": 0.4, "parts": [Node(0.3)]}, {"cost": x * 2.0, "parts": [Node(x)]}],
        }

    def slope(x: Any) -> Any:
        (g,) = zyg.gradient(f, make(x))
        inner = g["parts"][1]
        assert g["name"] is None and g["parts"][0]["parts"][0].parts is None
        return g["cost"] + 2.0 * inner["cost"] + inner["parts"][0].value

    along = lambda x: f(make(x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zyg.FallbackWarning)
        for x in (0.5, 0.7):
            expected = 0.16 * 0.3 * 3 * x**2 + 4.0 * 6 * x**5
            assert math.isclose(slope(x), expected, rel_tol=1e-12)
            assert math.isclose(zyg.jvp(along, (x,), (1.0,))[1], expected, rel_tol=1e-12)
            second = 0.16 * 0.3 * 6 * x + 4.0 * 30 * x**4
            assert math.isclose(zyg.derivative(slope)(x), second, rel_tol=1e-12)
            assert math.isclose(zyg.jvp(slope, (x,), (1.0,))[1], second, rel_tol=1e-12)


def test_many_objects_in_dicts() -> None:
    for asked in (False, True):  # for their `__dict__`
        for count in (4, 8, 9, 20):

            def make(count: int = count, asked: bool = asked) -> Any:
                made = {f"p{k}": Pair(0.3 + 0.1 * k, 0.7 - 0.02 * k) for k in range(count)}
                if asked:
                    [vars(p) for p in made.values()]
                return made

            check(lambda d: sum(p.left * p.right**2 for p in d.values()), make)
            gradient = check(lambda d: d["p1"].left * d["p2"].right, make)
            assert gradient["p0"] is None and gradient["p1"]._fields == ("left", "right")


def test_objects_of_which_one_has_more() -> None:
    for extra in ("more", "another"):

        def make(extra: str = extra) -> Any:
            made = {f"p{k}": Pair(0.3 + 0.1 * k, 0.7) for k in range(6)}
            for p in made.values():
                vars(p)
            setattr(made["p2"], extra, [0.4, 0.5])
            del made["p4"].right
            made["p4"].third = 0.1  # as many as the others have
            return made

        gradient = check(lambda d, extra=extra: getattr(d["p2"], extra)[1] * d["p4"].third + d["p3"].right, make)
        assert gradient["p2"]._fields == ("left", "right", extra) and gradient["p4"]._fields == ("left", "third")


def test_one_attribute_in_a_dict_that_was_asked_for() -> None:
    class One:
        pass

    def make() -> Any:
        made = {f"p{k}": One() for k in range(6)}
        for k, p in enumerate(made.values()):
            p.only = {"x": 0.2 * k, "y": 0.3}
        return made

    def asked() -> Any:
        made = make()
        for p in made.values():
            vars(p)
        return made

    for given in (make, asked):
        check(lambda d: sum(p.only["x"] * p.only["y"] for p in d.values()), given)


def test_an_attribute_of_the_class_in_place_of_ones_own() -> None:
    class Default:
        right = 0.25

        def __init__(self, left: Any, **more: Any):
            self.left = left
            vars(self).update(more)

    def make() -> Any:
        return {f"p{k}": Default(0.3 + 0.1 * k, **({"other": 0.5} if k % 2 else {"right": 0.6})) for k in range(6)}

    check(lambda d: sum(p.left * p.right for p in d.values()) * d["p1"].other, make)


def test_text_in_displays_of_lists() -> None:
    def f(t: Any, path: Any = ()) -> Any:
        path = [*path, t["name"], *"ab"]
        kept = [*path, t["cost"], *path]
        kept.pop()
        kept.append(kept.pop(len(path)) * 2.0)
        found = [*("x", "y"), t["cost"], *[None, "z"]]
        found[2] *= found[2]
        found.insert(1, t["cost"])
        return kept[-1] * found[3] + found[1] + len("/".join(path)) * t["cost"] + sum(f(p, path) for p in t["parts"])

    check(f, lambda: tree(2))


def test_sums_of_nothing() -> None:
    def f(t: Any) -> Any:
        empty = [p["cost"] for p in t["parts"] if p["cost"] > 100.0]
        first = sum(empty, t["cost"])
        empty.append(t["cost"] ** 2)
        return first * sum(empty) + sum([], t["cost"]) + sum(t["parts"][0]["parts"][0]["parts"], 0.5)

    check(f, lambda: tree(2))


def test_tuples_from_generators() -> None:
    def walk(t: Any, path: Any = ()) -> Iterator[Any]:
        yield t["cost"], path, (t["name"], (t["cost"] ** 2, 1))
        for p in t["parts"]:
            yield from walk(p, (*path, p["name"]))

    def long(t: Any) -> Iterator[Any]:
        for p in t["parts"]:
            yield (p["cost"], *range(20), p["cost"] ** 2)
            yield (p["cost"], [p["cost"]])

    def f(t: Any) -> Any:
        found = max(walk(t), key=lambda item: item[0])
        return (
            found[0] * found[2][1][0] * len(found[1])
            + min(long(t), key=lambda item: item[0])[-1]
            + max(walk(t))[2][1][0]
        )

    check(f, lambda: tree(2))


def taken_out(bodies: list[Any], k: int, whole: bool) -> Any:
    """Objects go out of a list that is the only one to have them, and others come."""
    total = 0.0
    for n in range(k):
        total = total + bodies.pop().mass ** 2
        note = Body(float(n), 1.0)  # which may lie where the other did
        total = total + note.mass
    bodies.insert(0, Body(3.0, 2.0))
    return total + sum(b.mass * b.mass for b in bodies) if whole else total


class Body:
    def __init__(self, mass: float, speed: float):
        self.mass = mass
        self.speed = speed


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("count", [3, 8, 45, 60])
def test_objects_that_go_out_of_the_list_have_their_gradients(count: int, whole: bool) -> None:
    bodies = [Body(1.0 + k, 2.0) for k in range(count)]
    _, back = pullback(taken_out, (bodies, 2, whole))
    gradient = back(1.0)[0]
    assert [g and round(g.mass, 9) for g in gradient] == [
        2.0 + 2.0 * k if whole or k >= count - 2 else None for k in range(count)
    ]
    assert len(bodies) == count - 1
