"""Programs whose arguments are containers of objects: natively where zyg can, else through Python, as `zyg.gradient` decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .everyday import OTHERS, VALUES, Particle, Point, Slotted, registering

PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {}
program = registering(PROGRAMS)


@dataclass
class _Body:
    position: Point
    speed: Point
    mass: Any


_PARTICLES = [Particle(x, v) for x, v in zip(VALUES, OTHERS)]
_POINTS = [Point(x, y, x * y) for x, y in zip(VALUES, OTHERS)]


@program(_POINTS)
def dataclasses_as_arguments(points: list[Point]) -> float:
    return sum(p.x**2 for p in points)


@program(_PARTICLES[:60])
def energies_of_arguments(particles: list[Particle]) -> float:
    total = 0.0
    for p in particles:
        total += p.v * p.v + p.x
    return total + max(p.energy for p in particles)


@program(_PARTICLES[:40])
def forces_between_arguments(particles: list[Particle]) -> float:
    energy = 0.0
    for i, p in enumerate(particles):
        for q in particles[i + 1 :]:
            d = p.x - q.x
            energy += 1.0 / (d * d + 0.1)
    return energy


@program(_PARTICLES[:100])
def arguments_that_move(particles: list[Particle]) -> float:
    for _ in range(5):
        for p in particles:
            p.v -= 0.1 * p.x
            p.x += 0.1 * p.v
    return sum(p.x * p.v for p in particles)


@program([Slotted(x, y) for x, y in zip(VALUES, OTHERS)])
def slotted_arguments(items: list[Slotted]) -> float:
    return sum(item.value * item.weight for item in items)


@program([_Body(Point(x, y), Point(y, x), 1.0 + 0.1 * x) for x, y in zip(VALUES[:100], OTHERS)])
def objects_in_arguments(bodies: list[_Body]) -> float:
    total = 0.0
    for body in bodies:
        total += 0.5 * body.mass * body.speed.dot(body.speed) + body.position.x
    return total


@program({f"p{k}": p for k, p in enumerate(_PARTICLES[:60])})
def dicts_of_objects(particles: dict[str, Particle]) -> float:
    return sum(p.x * p.v for p in particles.values())


@program([{"x": x, "v": v} for x, v in zip(VALUES[:100], OTHERS)])
def lists_of_dicts(records: list[dict[str, float]]) -> float:
    return sum(r["x"] * r["v"] ** 2 for r in records)


@program(tuple([x, y] for x, y in zip(VALUES[:60], OTHERS)))
def tuples_of_lists(rows: tuple[list[float], ...]) -> float:
    total = 0.0
    for row in rows:
        total += row[0] * row[1]
    return total


@program({f"p{k}": p for k, p in enumerate(_PARTICLES[:60])}, [f"p{(7 * k) % 60}" for k in range(30)] * 3)
def few_of_many_objects(particles: dict[str, Particle], names: list[str]) -> float:
    total = 0.0
    for name in names:
        p = particles[name]
        total += p.x * p.v
    return total
