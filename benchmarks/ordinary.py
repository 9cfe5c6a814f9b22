"""Forty ordinary programs, which others wrote as they come to mind and not to see what zyg does of them: finance, games, physics, records,
texts. Natively where zyg can, else through Python, as `zyg.gradient` decides; `ordinary_more` has forty others."""

from __future__ import annotations

import abc
import bisect
import contextlib
import csv
import datetime as dt
import enum
import functools
import heapq
import io
import itertools
import json
import math
import operator
import random
import re
import statistics
import string
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from .everyday import registering

PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {}
program = registering(PROGRAMS)


# ----------------------------------------------------------------------------------------------- a mortgage's schedule
@dataclass
class Loan:
    principal: float
    annual_rate: float
    months: int

    @property
    def rate(self) -> Any:
        return self.annual_rate / 12

    @property
    def payment(self) -> Any:
        r = self.rate
        return self.principal * r / (1 - (1 + r) ** -self.months)

    def schedule(self) -> Iterator[tuple]:
        balance = self.principal
        payment = self.payment
        for month in range(1, self.months + 1):
            interest = balance * self.rate
            paid = payment - interest
            balance -= paid
            yield month, interest, paid, balance


@program(250000.0, 0.043, 1500.0)
def mortgage(principal: float, rate: float, fee: float) -> float:
    loan = Loan(principal, rate, 180)
    by_year = defaultdict(float)
    for month, interest, _, _ in loan.schedule():
        by_year[(month - 1) // 12] += interest
    deductible = sum(min(v, 9000.0) for v in by_year.values())
    return sum(by_year.values()) + fee - 0.3 * deductible


# ------------------------------------------------------------------------------------------- yield of a bond by Newton
class NoConvergence(Exception):
    pass


class Bond:
    def __init__(self, face: Any, coupon: Any, years: Any, frequency: int = 2) -> None:
        self.face = face
        self.coupon = coupon
        self.years = years
        self.frequency = frequency

    def cashflows(self) -> Iterator[Any]:
        c = self.face * self.coupon / self.frequency
        n = self.years * self.frequency
        for i in range(1, n + 1):
            yield i / self.frequency, c + (self.face if i == n else 0.0)

    def price(self, y: Any) -> Any:
        return sum(cf * math.exp(-y * t) for t, cf in self.cashflows())

    def duration(self, y: Any) -> Any:
        return sum(t * cf * math.exp(-y * t) for t, cf in self.cashflows())

    def yield_for(self, price: Any, tol: Any = 1e-10) -> Any:
        y = self.coupon
        for _ in range(20):
            error = self.price(y) - price
            if abs(error) < tol * price:
                return y
            y += error / self.duration(y)
        raise NoConvergence(f"no yield for price {price:.2f}")


@program(97.5, 0.045)
def bond_yield(price: float, coupon: float) -> float:
    bond = Bond(100.0, coupon, 20)
    try:
        y = bond.yield_for(price)
    except NoConvergence:
        y = coupon
    return y - 0.03


# ----------------------------------------------------------------------------------------------------- book of options
def norm_cdf(x: Any) -> Any:
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


class Instrument(abc.ABC):
    def __init__(self, quantity: Any) -> None:
        self.quantity = quantity

    @abc.abstractmethod
    def unit_price(self, market: Any) -> Any: ...

    def value(self, market: Any) -> Any:
        return self.quantity * self.unit_price(market)


class Stock(Instrument):
    def unit_price(self, market: Any) -> Any:
        return market["spot"]


class Option(Instrument):
    def __init__(self, quantity: Any, strike: Any, expiry: Any) -> None:
        super().__init__(quantity)
        self.strike = strike
        self.expiry = expiry

    def d1(self, market: Any) -> Any:
        s, r, vol = market["spot"], market["rate"], market["vol"]
        return (math.log(s / self.strike) + (r + 0.5 * vol**2) * self.expiry) / (vol * math.sqrt(self.expiry))


class Call(Option):
    def unit_price(self, market: Any) -> Any:
        d1 = self.d1(market)
        d2 = d1 - market["vol"] * math.sqrt(self.expiry)
        disc = math.exp(-market["rate"] * self.expiry)
        return market["spot"] * norm_cdf(d1) - self.strike * disc * norm_cdf(d2)


class Put(Option):
    def unit_price(self, market: Any) -> Any:
        d1 = self.d1(market)
        d2 = d1 - market["vol"] * math.sqrt(self.expiry)
        disc = math.exp(-market["rate"] * self.expiry)
        return self.strike * disc * norm_cdf(-d2) - market["spot"] * norm_cdf(-d1)


@program({"spot": 101.0, "rate": 0.02, "vol": 0.25})
def option_book(market: dict[str, float]) -> float:
    book = [
        Stock(50),
        Call(-10, 100.0, 0.5),
        Call(5, 110.0, 1.0),
        Put(10, 95.0, 0.5),
        Put(-4, 90.0, 0.25),
        Call(7, 120.0, 2.0),
        Put(3, 100.0, 1.0),
        Stock(-5),
        Call(2, 105.0, 0.75),
        Put(1, 80.0, 1.5),
        Call(-3, 130.0, 1.0),
        Put(6, 92.5, 0.4),
        Put(-2, 110.0, 0.1),
        Call(4, 97.5, 0.2),
    ]
    longs = [p for p in book if p.quantity > 0]
    gross = sum(p.value(market) for p in longs)
    net = sum(p.value(market) for p in book)
    stressed = {**market, "spot": 0.8 * market["spot"], "vol": market["vol"] + 0.1}
    loss = net - sum(p.value(stressed) for p in book)
    return net + 0.01 * gross - 0.1 * max(loss, 0.0)


# ------------------------------------------------------------------------------------------- game: bodies with vectors
class Vec:
    __slots__ = ("x", "y")

    def __init__(self, x: Any, y: Any) -> None:
        self.x = x
        self.y = y

    def __add__(self, o: Any) -> Vec:
        return Vec(self.x + o.x, self.y + o.y)

    def __sub__(self, o: Any) -> Vec:
        return Vec(self.x - o.x, self.y - o.y)

    def __mul__(self, k: Any) -> Vec:
        return Vec(self.x * k, self.y * k)

    __rmul__ = __mul__

    def length(self) -> Any:
        return math.hypot(self.x, self.y)


class Ball:
    def __init__(self, pos: Any, vel: Any, drag: Any = 0.02) -> None:
        self.pos = pos
        self.vel = vel
        self.drag = drag
        self.alive = True

    def update(self, dt: Any, wind: Any) -> None:
        gravity = Vec(0.0, -9.81)
        relative = self.vel - wind
        acc = gravity - self.drag * relative.length() * relative
        self.vel = self.vel + acc * dt
        self.pos = self.pos + self.vel * dt
        if self.pos.y < 0:
            self.alive = False


@program(22.0, 0.8, 1.5)
def cannon(speed: float, angle: float, wind: float) -> float:
    ball = Ball(Vec(0.0, 1.0), Vec(speed * math.cos(angle), speed * math.sin(angle)))
    target = Vec(30.0, 2.0)
    closest = None
    steps = 0
    while ball.alive and steps < 25:
        ball.update(0.1, Vec(wind, 0.0))
        d = (ball.pos - target).length()
        if closest is None or d < closest:
            closest = d
        steps += 1
    return closest


# --------------------------------------------------------------------------------------------------------- Elo ratings
GAMES = [
    ("ann", "bob", 1),
    ("bob", "cy", 0.5),
    ("cy", "ann", 0),
    ("dee", "ann", 1),
    ("bob", "dee", 0),
    ("cy", "dee", 1),
    ("ann", "cy", 1),
    ("dee", "bob", 0.5),
    ("ann", "bob", 0),
    ("cy", "bob", 1),
    ("dee", "cy", 0),
    ("ann", "dee", 1),
] * 5


@program(24.0, 0.25, 400.0)
def elo_loss(k: float, home_advantage: float, scale: float) -> float:
    ratings = defaultdict(lambda: 1500.0)
    loss = 0.0
    played = Counter()
    for home, away, score in GAMES:
        diff = ratings[home] + home_advantage * 100 - ratings[away]
        expected = 1.0 / (1.0 + 10 ** (-diff / scale))
        loss -= score * math.log(expected) + (1 - score) * math.log(1 - expected)
        played[home] += 1
        played[away] += 1
        step = k if played[home] > 3 else 1.5 * k
        ratings[home] += step * (score - expected)
        ratings[away] -= k * (score - expected)
    return loss / len(GAMES)


# ----------------------------------------------------------------------------------------------- a CSV of measurements
SENSOR = """time,temp,weight
-2.0,-12.5,1
-1.5,-3.5,0.5
-1.0,,
-0.5,13.6,1
0.0,20.1,1
0.5,22.9,1
1.0,25.2,0.5
1.5,,1
2.0,28.9,1
2.5,30.2,0.8
3.0,31.5,1
3.5,n/a,1
4.0,33.2,1
4.5,33.9,0.7
5.0,34.4,1
5.5,34.8,1
6.0,35.2,1
6.5,35.4,0.5
7.0,fail,0
7.5,35.8,1
8.0,35.9,1
8.5,36.1,1
9.0,36.1,1
"""


@program(20.0, 36.5, 0.38)
def sensor_fit(start: float, final: float, k: float) -> float:
    total = 0.0
    weights = 0.0
    skipped = 0
    for row in csv.DictReader(io.StringIO(SENSOR)):
        try:
            t = float(row["time"])
            temp = float(row["temp"])
            w = float(row["weight"])
        except ValueError:
            skipped += 1
            continue
        predicted = final + (start - final) * math.exp(-k * t)
        total += w * (predicted - temp) ** 2
        weights += w
    if skipped > 5:
        raise ValueError("too many bad rows")
    return math.sqrt(total / weights)


# -------------------------------------------------------------------------------------- optics from a JSON description
BENCH = json.dumps(
    {
        "elements": [
            {"kind": "lens", "f": 50.0},
            {"kind": "space", "d": 20.0},
            {"kind": "lens", "f": -80.0},
            {"kind": "space", "d": 35.0},
            {"kind": "mirror", "R": 400.0},
            {"kind": "space", "d": 12.0},
            {"kind": "lens", "f": 120.0},
        ]
    }
)


def matmul2(a: Any, b: Any) -> Any:
    return [[sum(a[i][k] * b[k][j] for k in range(2)) for j in range(2)] for i in range(2)]


@program(1.0, 90.0)
def optical_bench(scale: float, image_distance: float) -> float:
    setup = json.loads(BENCH)
    system = [[1.0, 0.0], [0.0, 1.0]]
    for e in setup["elements"]:
        if e["kind"] == "lens":
            m = [[1.0, 0.0], [-1.0 / (e["f"] * scale), 1.0]]
        elif e["kind"] == "space":
            m = [[1.0, e["d"]], [0.0, 1.0]]
        elif e["kind"] == "mirror":
            m = [[1.0, 0.0], [-2.0 / e["R"], 1.0]]
        else:
            raise KeyError(e["kind"])
        system = matmul2(m, system)
    system = matmul2([[1.0, image_distance], [0.0, 1.0]], system)
    rays = [(y, a) for y in (1.0, -1.0) for a in (0.0, 0.01)]
    heights = [system[0][0] * y + system[0][1] * a for y, a in rays]
    return statistics.fmean(h * h for h in heights)


# ---------------------------------------------------------------------------------------------------- events on a heap
@dataclass(order=True)
class Event:
    time: float
    kind: str = field(compare=False)
    amount: float = field(compare=False, default=0.0)


@program(3.0, 0.7, 0.05)
def event_queue(service: float, arrivals: float, discount: float) -> float:
    queue = []
    for i in range(20):
        heapq.heappush(queue, Event(i / arrivals, "arrive", 10.0 + i))
    busy_until = 0.0
    revenue = 0.0
    waiting = 0.0
    while queue:
        e = heapq.heappop(queue)
        if e.kind == "arrive":
            start = max(e.time, busy_until)
            waiting += start - e.time
            busy_until = start + service
            heapq.heappush(queue, Event(busy_until, "leave", e.amount))
        else:
            revenue += e.amount * math.exp(-discount * e.time)
    return revenue - 0.1 * waiting


# ----------------------------------------------------------------------------------------------------- value iteration
MOVES = {
    "home": {"walk": [("park", 0.9), ("home", 0.1)], "bus": [("work", 0.8), ("home", 0.2)]},
    "park": {"rest": [("park", 1.0)], "walk": [("work", 0.6), ("home", 0.4)]},
    "work": {"work": [("work", 0.7), ("home", 0.3)]},
}


@program(0.9, {"home": 0.5, "park": 1.0, "work": 2.0})
def value_iteration(gamma: float, reward: dict[str, float]) -> float:
    values = dict.fromkeys(MOVES, 0.0)
    for _ in range(15):
        new = {}
        for state, actions in MOVES.items():
            best = max(sum(p * values[s] for s, p in outcome) for outcome in actions.values())
            new[state] = reward[state] + gamma * best
        values = new
    return values["home"]


# ------------------------------------------------------------------------------------------ a small network of classes
class Neuron:
    def __init__(self, weights: Any, bias: Any, act: Any = math.tanh) -> None:
        self.weights = weights
        self.bias = bias
        self.act = act

    def __call__(self, xs: Any) -> Any:
        return self.act(sum((w * x for w, x in zip(self.weights, xs)), self.bias))


class Layer:
    def __init__(self, params: Any, n_in: Any, n_out: Any, act: Any) -> None:
        self.neurons = []
        for _ in range(n_out):
            self.neurons.append(Neuron([next(params) for _ in range(n_in)], next(params), act))

    def __call__(self, xs: Any) -> Any:
        return [n(xs) for n in self.neurons]


class MLP:
    def __init__(self, params: Any, sizes: Any) -> None:
        it = iter(params)
        acts = [math.tanh] * (len(sizes) - 2) + [lambda v: v]
        self.layers = [Layer(it, a, b, act) for a, b, act in zip(sizes, sizes[1:], acts)]

    def __call__(self, xs: Any) -> Any:
        for layer in self.layers:
            xs = layer(xs)
        return xs[0]


@program([0.3, -0.2, 0.1, 0.5, 0.4, -0.1, -0.6, 0.2, 0.05, 0.7, -0.3, 0.2, 0.1])
def neural_net(params: list[float]) -> float:
    net = MLP(params, [2, 3, 1])
    data = [((a / 2, b / 2), float(a != b)) for a in range(3) for b in range(3)]
    return sum((net(x) - y) ** 2 for x, y in data)


# ---------------------------------------------------------------------------------------------------- pharmacokinetics
def rk4(f: Any, state: Any, t: Any, h: Any) -> Any:
    def shifted(k: Any, c: Any) -> Any:
        return {name: v + c * h * k[name] for name, v in state.items()}

    k1 = f(t, state)
    k2 = f(t + h / 2, shifted(k1, 0.5))
    k3 = f(t + h / 2, shifted(k2, 0.5))
    k4 = f(t + h, shifted(k3, 1.0))
    return {n: v + h / 6 * (k1[n] + 2 * k2[n] + 2 * k3[n] + k4[n]) for n, v in state.items()}


@program(100.0, 1.2, 0.3)
def drug_exposure(dose: float, ka: float, ke: float) -> float:
    doses = {0: dose, 4: dose / 2}

    def rhs(t: Any, s: Any) -> Any:
        absorbed = ka * s["gut"]
        return {"gut": -absorbed, "blood": absorbed - ke * s["blood"], "auc": s["blood"] / 20.0}

    state = {"gut": 0.0, "blood": 0.0, "auc": 0.0}
    for step in range(8):
        if step in doses:
            state["gut"] += doses[step]
        state = rk4(rhs, state, step * 1.0, 1.0)
    return state["auc"]


# ---------------------------------------------------------------------------------------------------- a recipe as text
RECIPE = """
2.5 kg flour
300 g butter
1.2 l milk
6 eggs
15 ml vanilla
250 g sugar
pinch of salt
20 g yeast
450 g apples
0.25 l cream
2 lemons
5 g cinnamon
100 g raisins
80 g almonds
1 orange
0.1 kg honey
some water
"""
UNITS = {"kg": 1.0, "g": 1e-3, "l": 1.0, "ml": 1e-3, None: 1.0}
LINE = re.compile(r"^(?P<n>\d+(?:\.\d+)?)\s+(?:(?P<unit>kg|g|l|ml)\s+)?(?P<what>\w+)$")


@program(
    {
        "flour": 1.1,
        "butter": 9.0,
        "milk": 1.3,
        "eggs": 0.3,
        "vanilla": 80.0,
        "sugar": 1.5,
        "yeast": 12.0,
        "apples": 2.2,
        "cream": 4.0,
        "lemons": 0.6,
        "cinnamon": 60.0,
        "raisins": 7.0,
        "almonds": 14.0,
        "orange": 0.8,
        "honey": 11.0,
    },
    4.0,
)
def recipe_cost(prices: dict[str, float], servings: float) -> float:
    small, large = cost_of(prices, servings / 2), cost_of(prices, 3 * servings)
    return 0.3 * small + 0.1 * large + cost_of(prices, servings)


def cost_of(prices: Any, servings: Any) -> Any:
    cost = 0.0
    for line in RECIPE.strip().splitlines():
        m = LINE.match(line)
        if not m:
            continue
        amount = float(m["n"]) * UNITS[m["unit"]]
        price = prices.get(m["what"])
        if price is None:
            raise LookupError(m["what"])
        scaled = amount * servings / 10
        bulk = 0.9 if scaled > 0.55 else 1.0
        cost += bulk * scaled * price
    return cost * (1 + 0.2 * math.exp(-servings / 8))


# ---------------------------------------------------------------------------------------------------------------- XIRR
FLOWS = [
    (dt.date(2020, 1, 15), -1000.0),
    (dt.date(2020, 7, 1), 150.0),
    (dt.date(2021, 2, 1), 200.0),
    (dt.date(2021, 9, 30), 250.0),
    (dt.date(2021, 12, 1), 60.0),
    (dt.date(2022, 1, 10), 80.0),
    (dt.date(2022, 3, 1), -200.0),
    (dt.date(2022, 5, 5), 300.0),
    (dt.date(2022, 6, 15), 45.0),
    (dt.date(2022, 7, 4), 70.0),
    (dt.date(2022, 8, 8), 90.0),
    (dt.date(2022, 9, 9), 65.0),
    (dt.date(2022, 10, 3), 110.0),
    (dt.date(2023, 1, 1), 400.0),
]


def xnpv(rate: Any, flows: Any) -> Any:
    start = flows[0][0]
    return sum(cf / (1 + rate) ** ((day - start).days / 365.0) for day, cf in flows)


@program(1.0, 25.0)
def xirr(scale: float, bonus: float) -> float:
    flows = [(d, cf * scale if cf > 0 else cf) for d, cf in FLOWS]
    flows.append((dt.date(2023, 6, 30), bonus))
    lo, hi = 0.0, 0.1
    f_lo, f_hi = xnpv(lo, flows), xnpv(hi, flows)
    for _ in range(12):
        if abs(f_hi) < 1e-12:
            break
        lo, hi = hi, hi - f_hi * (hi - lo) / (f_hi - f_lo)
        f_lo, f_hi = f_hi, xnpv(hi, flows)
    npv_now = xnpv(0.05, flows)
    return hi + 1e-4 * npv_now


# ----------------------------------------------------------------------------------- thermostat as a machine of states
class Mode(enum.Enum):
    OFF = "off"
    HEAT = "heat"
    BOOST = "boost"


POWER = {Mode.OFF: 0.0, Mode.HEAT: 1.0, Mode.BOOST: 1.8}


class Thermostat:
    def __init__(self, target: Any, band: Any) -> None:
        self.target = target
        self.band = band
        self.mode = Mode.OFF
        self.switches = 0

    def step(self, temperature: Any) -> Any:
        previous = self.mode
        if temperature < self.target - 2 * self.band:
            self.mode = Mode.BOOST
        elif temperature < self.target - self.band:
            self.mode = Mode.HEAT
        elif temperature > self.target + self.band:
            self.mode = Mode.OFF
        if self.mode is not previous:
            self.switches += 1
        return POWER[self.mode]


@program(21.0, 0.3, 2.5)
def thermostat(target: float, loss: float, heater: float) -> float:
    control = Thermostat(target, 0.5)
    temperature = 17.0
    energy = discomfort = 0.0
    for minute in range(90):
        outside = 5.0 + 3.0 * math.sin(minute / 20)
        power = heater * control.step(temperature)
        temperature += 0.1 * (power - 0.2 * loss * (temperature - outside))
        energy += 0.1 * power
        discomfort += (temperature - target) ** 2
    return energy + 0.05 * discomfort + 0.01 * control.switches


# ----------------------------------------------------------------------------------------------------- beam with match
@dataclass(frozen=True)
class PointLoad:
    force: float
    at: float


@dataclass(frozen=True)
class Distributed:
    intensity: float
    start: float
    end: float


def moment(load: Any, span: Any, x: Any) -> Any:
    match load:
        case PointLoad(force=p, at=a):
            reaction = p * (span - a) / span
            return reaction * x - (p * (x - a) if x > a else 0.0)
        case Distributed(intensity=q, start=s, end=e):
            total = q * (e - s)
            centre = (s + e) / 2
            reaction = total * (span - centre) / span
            covered = max(0.0, min(x, e) - s)
            return reaction * x - q * covered * (x - s - covered / 2)
        case _:
            raise TypeError(load)


@program(12.0, 3.5, 6.0)
def beam(force: float, intensity: float, span: float) -> float:
    loads = [PointLoad(force, 2.0), Distributed(intensity, 1.0, 4.0), PointLoad(force / 2, 4.5)]
    xs = [span * i / 19 for i in range(20)]
    moments = [sum(moment(l, span, x) for l in loads) for x in xs]
    worst = max(moments, key=abs)
    mean_sq = sum(m * m for m in moments) / len(moments)
    return worst + 0.1 * math.sqrt(mean_sq)


# --------------------------------------------------------------------------------------- robot arm with a Matrix class
class Matrix:
    def __init__(self, rows: Any) -> None:
        self.rows = rows

    @classmethod
    def identity(cls, n: Any) -> Any:
        return cls([[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)])

    def __matmul__(self, other: Any) -> Matrix:
        cols = list(zip(*other.rows))
        return Matrix([[sum(a * b for a, b in zip(row, col)) for col in cols] for row in self.rows])

    def __getitem__(self, key: Any) -> Any:
        i, j = key
        return self.rows[i][j]


def rotation(angle: Any) -> Any:
    c, s = math.cos(angle), math.sin(angle)
    return Matrix([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def translation(x: Any, y: Any) -> Any:
    return Matrix([[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]])


@program([0.3, -0.5, 0.9], [1.0, 0.8, 0.5])
def robot_arm(angles: list[float], lengths: list[float]) -> float:
    pose = Matrix.identity(3)
    for angle, length in zip(angles, lengths):
        pose = pose @ rotation(angle) @ translation(length, 0.0)
    x, y = pose[0, 2], pose[1, 2]
    heading = math.atan2(pose[1, 0], pose[0, 0])
    return (x - 1.5) ** 2 + (y - 0.7) ** 2 + 0.1 * heading**2


# ------------------------------------------------------------------------------------- Kalman filter with missing data
class Kalman1D:
    def __init__(self, q: Any, r: Any, x0: Any = 0.0, p0: Any = 1.0) -> None:
        self.q, self.r = q, r
        self.x, self.p = x0, p0
        self.history = []

    def predict(self) -> Kalman1D:
        self.p += self.q
        return self

    def update(self, z: Any) -> Any:
        innovation = z - self.x
        s = self.p + self.r
        gain = self.p / s
        self.x += gain * innovation
        self.p *= 1 - gain
        self.history.append((self.x, self.p))
        return -0.5 * (math.log(2 * math.pi * s) + innovation**2 / s)


READINGS = [0.9, 1.1, None, 1.4, 1.2, 1.8, None, None, 2.1, 2.0, 2.4, "bad", 2.2, 2.6, 2.5] * 6


@program(0.05, 0.2)
def readings_with_gaps(q: float, r: float) -> float:
    f = Kalman1D(q, r)
    loglik = 0.0
    for z in READINGS:
        f.predict()
        if z is None:
            continue
        try:
            loglik += f.update(z)
        except TypeError:
            continue
    smooth = sum((b[0] - a[0]) ** 2 for a, b in zip(f.history, f.history[1:]))
    return loglik - 0.1 * smooth


# ---------------------------------------------------------------------------------------------------- circuit by nodes
class Circuit:
    def __init__(self) -> None:
        self.index = {"gnd": 0}
        self.resistors = []

    def node(self, name: Any) -> Any:
        return self.index.setdefault(name, len(self.index))

    def add(self, a: Any, b: Any, ohms: Any) -> Circuit:
        if ohms <= 0:
            raise ValueError("resistance")
        self.resistors.append((self.node(a), self.node(b), 1.0 / ohms))
        return self

    def solve(self, currents: Any) -> Any:
        n = len(self.index)
        A = [[0.0] * n for _ in range(n)]
        b = [0.0] * n
        for i, j, g in self.resistors:
            A[i][i] += g
            A[j][j] += g
            A[i][j] -= g
            A[j][i] -= g
        for name, current in currents.items():
            b[self.index[name]] += current
        for k in range(1, n):
            for i in range(k + 1, n):
                m = A[i][k] / A[k][k]
                for j in range(k, n):
                    A[i][j] -= m * A[k][j]
                b[i] -= m * b[k]
        v = [0.0] * n
        for i in range(n - 1, 0, -1):
            v[i] = (b[i] - sum(A[i][j] * v[j] for j in range(i + 1, n))) / A[i][i]
        return {name: v[i] for name, i in self.index.items()}


@program(100.0, 220.0, 0.5)
def circuit(r1: float, r2: float, current: float) -> float:
    c = Circuit()
    for i in range(4):
        c.add(f"n{i}", f"n{i + 1}", 10.0 * (i + 1)).add("gnd", f"n{i}", r2 + i)
    c.add("n4", "a", 15.0)
    c.add("gnd", "a", r1).add("a", "b", r2).add("b", "gnd", 330.0).add("b", "c", 47.0).add("c", "gnd", r1)
    v = c.solve({"a": current, "c": 0.1})
    return v["b"] ** 2 / 330.0


# ---------------------------------------------------------------------------------------------------------- impedances
class Component:
    def impedance(self, w: Any) -> Any:
        raise NotImplementedError

    def __add__(self, other: Any) -> Series:
        return Series(self, other)

    def __or__(self, other: Any) -> Parallel:
        return Parallel(self, other)


class R(Component):
    def __init__(self, ohms: Any) -> None:
        self.ohms = ohms

    def impedance(self, w: Any) -> Any:
        return complex(self.ohms, 0.0)


class L(Component):
    def __init__(self, henry: Any) -> None:
        self.henry = henry

    def impedance(self, w: Any) -> Any:
        return 1j * w * self.henry


class C(Component):
    def __init__(self, farad: Any) -> None:
        self.farad = farad

    def impedance(self, w: Any) -> Any:
        return 1 / (1j * w * self.farad)


class Series(Component):
    def __init__(self, *parts: Any) -> None:
        self.parts = parts

    def impedance(self, w: Any) -> Any:
        return sum(p.impedance(w) for p in self.parts)


class Parallel(Component):
    def __init__(self, *parts: Any) -> None:
        self.parts = parts

    def impedance(self, w: Any) -> Any:
        return 1 / sum(1 / p.impedance(w) for p in self.parts)


@program(120.0, 0.01, 2e-6)
def crossover(r: float, l: float, c: float) -> float:
    network = (R(r) + L(l)) | (C(c) + R(8.0)) | R(1000.0)
    error = 0.0
    for f in (100.0, 200.0, 350.0, 500.0, 700.0, 1000.0, 1500.0, 2000.0, 3000.0, 5000.0):
        z = network.impedance(2 * math.pi * f)
        error += (abs(z) / 100 - 1.0) ** 2
    return error


# --------------------------------------------------------------------------------------------------------- Monte Carlo
@program(100.0, 0.2, 0.03)
def asian_option(spot: float, vol: float, rate: float) -> float:
    rng = random.Random(42)
    strike, steps, paths = 100.0, 6, 10
    step = 1.0 / steps
    payoffs = []
    for _ in range(paths):
        s = spot
        path = []
        for _ in range(steps):
            z = rng.gauss(0.0, 1.0)
            s *= math.exp((rate - vol * vol / 2) * step + vol * math.sqrt(step) * z)
            path.append(s)
        average = sum(path) / len(path)
        payoffs.append(max(average - strike, 0.0))
    return math.exp(-rate) * sum(payoffs) / paths


# ----------------------------------------------------------------------------------------------- statistics of returns
STOCK_A = [0.01, -0.02, 0.015, 0.03, -0.01, 0.005, 0.02, -0.015]
STOCK_B = [0.005, 0.01, -0.01, 0.02, 0.0, -0.005, 0.01, 0.012]


@program(0.6, 0.001)
def sharpe(weight: float, risk_free: float) -> float:
    returns = [weight * a + (1 - weight) * b for a, b in zip(STOCK_A, STOCK_B)]
    excess = [r - risk_free for r in returns]
    mean = statistics.fmean(excess)
    sd = statistics.stdev(excess)
    downside = [min(0.0, r) ** 2 for r in excess]
    sortino = mean / math.sqrt(statistics.fmean(downside))
    return mean / sd * math.sqrt(12) + 0.1 * sortino


# ------------------------------------------------------------------------------------------ boiling point of a mixture
class Antoine(NamedTuple):
    A: float
    B: float
    C: float

    def pressure(self, t: Any) -> Any:
        return 10 ** (self.A - self.B / (self.C + t))


SPECIES = {
    "water": Antoine(8.07131, 1730.63, 233.426),
    "ethanol": Antoine(8.20417, 1642.89, 230.3),
    "methanol": Antoine(8.08097, 1582.271, 239.726),
}


@program({"water": 0.5, "ethanol": 0.3, "methanol": 0.2}, 760.0)
def bubble_point(x: dict[str, float], pressure: float) -> float:
    return statistics.fmean(boiling(x, p) for p in (0.5 * pressure, pressure, 1.5 * pressure))


def boiling(x: Any, pressure: Any) -> Any:
    total = sum(x.values())
    fractions = {k: v / total for k, v in x.items()}

    def excess(t: Any) -> Any:
        return sum(f * SPECIES[k].pressure(t) for k, f in fractions.items()) - pressure

    azeotrope = {k: SPECIES[k].pressure(78.2) / pressure for k in x}
    t0, t1 = 40.0, 130.0
    f0, f1 = excess(t0), excess(t1)
    for _ in range(12):
        try:
            t2 = t1 - f1 * (t1 - t0) / (f1 - f0)
        except ZeroDivisionError:
            break
        if abs(t2 - t1) < 1e-9:
            break
        t0, f0, t1, f1 = t1, f1, t2, excess(t2)
    vapour = {k: f * SPECIES[k].pressure(t1) / pressure for k, f in fractions.items()}
    spread = sum((vapour[k] / fractions[k] - azeotrope[k]) ** 2 for k in SPECIES)
    return t1 + 10 * vapour["ethanol"] + spread


# ---------------------------------------------------------------------------------------------------- formulas as text
TOKEN = re.compile(r"\s*(?:(\d+\.?\d*)|([a-z]\w*)|(.))")
PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "^": operator.pow}


def to_rpn(text: Any) -> Any:
    out, stack = [], []
    for number, name, op in TOKEN.findall(text):
        if number:
            out.append(float(number))
        elif name:
            out.append(name)
        elif op == "(":
            stack.append(op)
        elif op == ")":
            while stack[-1] != "(":
                out.append(stack.pop())
            stack.pop()
        else:
            while stack and stack[-1] != "(" and PRECEDENCE[stack[-1]] >= PRECEDENCE[op]:
                out.append(stack.pop())
            stack.append(op)
    return out + stack[::-1]


@program(2.0, 3.0)
def formulas_as_text(x: float, y: float) -> float:
    variables = {"x": x, "y": y, "pi": math.pi}
    total = 0.0
    for formula in (
        "3*x + y/2",
        "(x - y) * (x + 2*pi)",
        "x^2 + 0.5*y^2",
        "pi*x^2*(y + 1/3)",
        "2*x*y - (x + y)/(1 + x^2)",
        "((x + 1)*(y + 1) - 1)^2",
    ):
        stack = []
        for token in to_rpn(formula):
            if isinstance(token, float):
                stack.append(token)
            elif token in OPERATORS:
                b, a = stack.pop(), stack.pop()
                stack.append(OPERATORS[token](a, b))
            else:
                stack.append(variables[token])
        total += stack.pop()
    return total


# -------------------------------------------------------------------------------------------------------------- routes
ROADS = [
    ("A", "B", 4.0, 50),
    ("A", "C", 2.0, 30),
    ("B", "D", 5.0, 100),
    ("C", "B", 1.0, 50),
    ("C", "D", 8.0, 80),
    ("C", "E", 10.0, 120),
    ("D", "E", 2.0, 50),
    ("D", "F", 6.0, 80),
    ("E", "F", 3.0, 100),
    ("B", "E", 9.0, 100),
    ("F", "G", 4.0, 80),
    ("G", "H", 7.0, 120),
    ("E", "H", 12.0, 120),
    ("H", "I", 2.0, 30),
    ("G", "I", 8.0, 80),
    ("I", "J", 5.0, 100),
    ("H", "J", 6.5, 120),
    ("D", "G", 9.0, 100),
    ("J", "K", 3.0, 50),
    ("I", "K", 7.0, 100),
    ("C", "I", 25.0, 130),
    ("K", "L", 4.0, 80),
]


@program(0.12, 1.6)
def cheapest_route(time_value: float, fuel: float) -> float:
    there = min_cost("A", "L", time_value, fuel)
    back = min_cost("L", "B", 1.5 * time_value, fuel)
    return there + back


def min_cost(start: Any, goal: Any, time_value: Any, fuel: Any) -> Any:
    graph = defaultdict(list)
    for a, b, km, speed in ROADS:
        cost = km * time_value * 60 / speed + km * 0.06 * fuel * (1 + (speed / 100) ** 2)
        graph[a].append((b, cost))
        graph[b].append((a, cost))
    best = {start: 0.0}
    queue = [(0.0, start)]
    done = set()
    while queue:
        cost, town = heapq.heappop(queue)
        if town in done:
            continue
        done.add(town)
        if town == goal:
            break
        for other, c in graph[town]:
            if cost + c < best.get(other, math.inf):
                best[other] = cost + c
                heapq.heappush(queue, (cost + c, other))
    return best[goal]


# -------------------------------------------------------------------------------------------------- interpolated table
class Table:
    def __init__(self, points: Any) -> None:
        self.points = sorted(points)
        self.xs = [p[0] for p in self.points]

    def __call__(self, x: Any) -> Any:
        if not self.xs[0] <= x <= self.xs[-1]:
            raise ValueError(f"{x} outside of table")
        i = min(bisect.bisect_right(self.xs, x), len(self.xs) - 1)
        (x0, y0), (x1, y1) = self.points[i - 1], self.points[i]
        return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


TORQUE = Table([(1000, 120.0), (2000, 170.0), (3000, 210.0), (4000, 220.0), (5000, 205.0), (6000, 180.0), (0, 80.0)])


@program(1200.0, 8.5, 0.3)
def car_acceleration(mass: float, gearing: float, radius: float) -> float:
    v, t, shifts = 5.0, 0.0, 0
    gear = gearing
    for _ in range(40):
        rpm = v / radius * gear * 60 / (2 * math.pi)
        try:
            torque = TORQUE(rpm)
        except ValueError:
            gear *= 0.7
            shifts += 1
            continue
        force = torque * gear / radius - 0.4 * v * v
        v += 0.1 * force / mass
        t += 0.1
    return v + 0.2 * shifts


# ----------------------------------------------------------------------------------------- drawdown of an equity curve
RETURNS = [0.02, -0.01, 0.03, -0.05, 0.01, 0.04, -0.02, -0.03, 0.05, 0.01, 0.02, -0.04, 0.03, 0.02, -0.01, 0.015] * 6


@program(1.5, 0.002)
def drawdown(leverage: float, cost: float) -> float:
    growth = [1 + leverage * r - cost * abs(leverage) for r in RETURNS]
    equity = list(itertools.accumulate(growth, operator.mul, initial=1.0))
    peaks = list(itertools.accumulate(equity, max))
    drawdowns = [1 - e / p for e, p in zip(equity, peaks)]
    worst = max(drawdowns)
    ulcer = math.sqrt(sum(d * d for d in drawdowns) / len(drawdowns))
    cagr = equity[-1] ** (12 / len(RETURNS)) - 1
    return cagr / (worst + ulcer)


# ------------------------------------------------------------------------------------------------ taxes of a household
BRACKETS = {
    "federal": [(0, 0.10), (11000, 0.12), (44725, 0.22), (95375, 0.24), (182100, 0.32)],
    "state": [(0, 0.02), (20000, 0.04), (60000, 0.055)],
}


@dataclass
class Person:
    name: str
    salary: float
    pension: float = 0.0
    children: int = 0


def bracket_tax(income: Any, brackets: Any) -> Any:
    tax = 0.0
    limits = [b[0] for b in brackets[1:]] + [math.inf]
    for (low, rate), high in zip(brackets, limits):
        if income <= low:
            break
        tax += rate * (min(income, high) - low)
    return tax


@program(
    [
        Person("Ada", 98000.0, 5000.0),
        Person("Bo", 43000.0, 1500.0, 2),
        Person("Cy", 15500.0),
        Person("Di", 210000.0, 9000.0, 1),
    ]
)
def household_tax(people: list[Person]) -> float:
    totals = Counter()
    couples = [replace(a, salary=(a.salary + b.salary) / 2) for a, b in itertools.combinations(people, 2)]
    for p in people + couples:
        taxable = max(0.0, p.salary - p.pension - 12000.0)
        for kind, brackets in BRACKETS.items():
            totals[kind] += bracket_tax(taxable, brackets)
        totals["credit"] -= min(2000.0 * p.children, 0.05 * p.salary)
    income = sum(p.salary for p in people)
    return income - sum(totals.values())


# --------------------------------------------------------------------------------------------------------- naive Bayes
DOCS = [
    ("spam", "win money now win prize"),
    ("spam", "cheap money offer now"),
    ("ham", "meeting now about the offer"),
    ("ham", "lunch with the team"),
    ("spam", "prize offer win"),
    ("ham", "the prize committee meeting"),
]


@program(0.7, 0.5)
def naive_bayes(alpha: float, prior: float) -> float:
    counts = defaultdict(Counter)
    vocabulary = set()
    for label, text in DOCS:
        words = text.split()
        counts[label].update(words)
        vocabulary.update(words)
    totals = {label: sum(c.values()) for label, c in counts.items()}
    loss = 0.0
    for label, text in DOCS:
        scores = {}
        for cls, p in (("spam", prior), ("ham", 1 - prior)):
            score = math.log(p)
            for w in text.split():
                score += math.log((counts[cls][w] + alpha) / (totals[cls] + alpha * len(vocabulary)))
            scores[cls] = score
        top = max(scores.values())
        z = sum(math.exp(s - top) for s in scores.values())
        loss -= scores[label] - top - math.log(z)
    return loss / len(DOCS)


# ----------------------------------------------------------------------------------------------- bigram language model
CORPUS = "the cat sat on the mat the dog sat on the cat the end".split()
UNIGRAMS = Counter(CORPUS)
BIGRAMS = Counter(zip(CORPUS, CORPUS[1:]))


@program(0.6, 0.1)
def perplexity(lam: float, delta: float) -> float:
    text = ["the", "dog", "sat", "on", "the", "mat", "the", "bird", "sat"] * 8
    n = sum(UNIGRAMS.values())
    v = len(UNIGRAMS) + 1

    @functools.cache
    def unigram(w: Any) -> Any:
        return (UNIGRAMS[w] + delta) / (n + delta * v)

    def bigram(a: Any, b: Any) -> Any:
        seen = UNIGRAMS.get(a)
        if not seen:
            return unigram(b)
        return lam * BIGRAMS[a, b] / seen + (1 - lam) * unigram(b)

    logs = [math.log2(bigram(a, b)) for a, b in zip(text, text[1:])]
    return 2 ** (-sum(logs) / len(logs))


# ----------------------------------------------------------------------------------------------- population with delay
@program(0.9, 200.0, 0.2)
def fishery(growth: float, capacity: float, harvest: float) -> float:
    juveniles = deque([30.0, 28.0, 25.0], maxlen=3)
    adults = 80.0
    catches = []
    for year in range(200):
        recruits = juveniles[0]
        caught = harvest * adults if year >= 5 else 0.0
        catches.append(caught)
        births = growth * adults * math.exp(-adults / capacity)
        juveniles.append(0.6 * births)
        adults = 0.8 * adults + recruits - caught
        if adults < 1.0:
            break
    recent = catches[-10:]
    return sum(recent) / len(recent) + 0.05 * adults


# -------------------------------------------------------------------------------------------------- rocket with stages
class Stage:
    g0 = 9.80665

    def __init__(self, name: Any, dry: Any, fuel: Any, isp: Any, thrust: Any) -> None:
        self.name = name
        self.dry = dry
        self.fuel = fuel
        self.isp = isp
        self.thrust = thrust

    @property
    def mass(self) -> Any:
        return self.dry + self.fuel

    @property
    def burn_time(self) -> Any:
        return self.fuel * self.isp * self.g0 / self.thrust

    def __repr__(self) -> str:
        return f"Stage({self.name!r})"


class Rocket:
    def __init__(self, payload: Any, stages: Any) -> None:
        self.payload = payload
        self.stages = list(stages)

    def above(self, i: Any) -> Any:
        return self.payload + sum(s.mass for s in self.stages[i + 1 :])

    def delta_v(self) -> Iterator[Any]:
        for i, s in enumerate(self.stages):
            rest = self.above(i)
            yield s.isp * s.g0 * math.log((rest + s.mass) / (rest + s.dry))

    def gravity_loss(self) -> Any:
        return sum(0.3 * s.g0 * s.burn_time / (i + 1) for i, s in enumerate(self.stages))


@program(500.0, 20000.0, 320.0)
def rocket(payload: float, fuel: float, isp: float) -> float:
    best = -math.inf
    for split in (0.6, 0.65, 0.7, 0.725, 0.75, 0.8, 0.85):
        r = Rocket(
            payload,
            [
                Stage("first", 1500.0, split * fuel, 290.0, 4e5),
                Stage("second", 400.0, (1 - split) * fuel, isp, 9e4),
                Stage("kick", 80.0, 300.0, 305.0, 1e4),
            ],
        )
        total = sum(r.delta_v()) - r.gravity_loss()
        best = max(best, total)
    return best / 1000


# ------------------------------------------------------------------------------------------------------ PID controller
class PID:
    def __init__(self, kp: Any, ki: Any, kd: Any, *, limit: Any = 10.0) -> None:
        self.kp, self.ki, self.kd = kp, ki, kd
        self.limit = limit
        self.integral = 0.0
        self._last: float | None = None

    def __call__(self, error: Any, dt: Any) -> Any:
        self.integral += error * dt
        derivative = 0.0 if self._last is None else (error - self._last) / dt
        self._last = error
        u = self.kp * error + self.ki * self.integral + self.kd * derivative
        return max(-self.limit, min(self.limit, u))


@dataclass
class Tank:
    level: float = 0.0
    inflow: float = 0.0

    def step(self, u: Any, dt: Any) -> None:
        self.inflow += dt * (u - self.inflow) / 0.5
        self.level += dt * (self.inflow - 0.3 * math.sqrt(max(self.level, 1e-6)))


@program(2.0, 0.4, 0.1)
def pid_tuning(kp: float, ki: float, kd: float) -> float:
    controller, tank = PID(kp, ki, kd), Tank()
    cost = 0.0
    for k in range(50):
        target = 1.0 if k < 25 else 2.0
        error = target - tank.level
        u = controller(error, 0.1)
        tank.step(u, 0.1)
        cost += 0.1 * (error**2 + 0.01 * u**2)
    return cost


# -------------------------------------------------------------------------------------------------- orders by customer
Order = namedtuple("Order", "customer month amount")
ORDERS = [
    Order("acme", 1, 120.0),
    Order("zeta", 1, 40.0),
    Order("acme", 2, 80.0),
    Order("bolt", 1, 300.0),
    Order("zeta", 3, 75.0),
    Order("bolt", 2, 20.0),
    Order("acme", 4, 210.0),
    Order("bolt", 4, 90.0),
    Order("core", 3, 55.0),
    Order("zeta", 4, 61.0),
    Order("core", 1, 10.0),
    Order("acme", 3, 35.0),
]
ORDERS += [
    Order(c, m, 20.0 + 7 * m + len(ORDERS))
    for m in range(1, 11)
    for c in ("dune", "acme", "echo", "core", "fox", "bolt", "gale")
]


@program(0.05, 100.0, 0.02)
def rebates(rate: float, threshold: float, interest: float) -> float:
    ranked = []
    by_customer = operator.attrgetter("customer")
    for customer, orders in itertools.groupby(sorted(ORDERS, key=by_customer), key=by_customer):
        orders = list(orders)
        value = sum(o.amount * (1 + interest) ** (10 - o.month) for o in orders)
        rebate = rate * max(0.0, value - threshold) + sum(1.0 for o in orders if o.month >= 9)
        ranked.append((value - rebate, customer))
    ranked.sort(reverse=True)
    top = ranked[:3]
    return sum(net / (i + 1) for i, (net, _) in enumerate(top))


# ------------------------------------------------------------------------------------------------- hidden Markov model
STATES = ("rainy", "sunny")


@program(
    {"rainy": {"rainy": 0.7, "sunny": 0.3}, "sunny": {"rainy": 0.4, "sunny": 0.6}},
    {"rainy": {"walk": 0.1, "shop": 0.4, "clean": 0.5}, "sunny": {"walk": 0.6, "shop": 0.3, "clean": 0.1}},
)
def hmm_loglik(transition: dict[str, dict[str, float]], emission: dict[str, dict[str, float]]) -> float:
    observations = ["walk", "shop", "clean", "clean", "walk", "walk", "shop", "clean"] * 3
    alpha = {s: 0.5 * emission[s][observations[0]] for s in STATES}
    loglik = 0.0
    for o in observations[1:]:
        scale = sum(alpha.values())
        loglik += math.log(scale)
        alpha = {s: a / scale for s, a in alpha.items()}
        alpha = {to: emission[to][o] * sum(alpha[s] * transition[s][to] for s in STATES) for to in STATES}
    return loglik + math.log(sum(alpha.values()))


# ------------------------------------------------------------------------------------------------------------ molecule
class Atom(NamedTuple):
    element: str
    x: float
    y: float
    z: float


LJ = {
    ("C", "C"): (0.1, 3.4),
    ("C", "H"): (0.05, 3.0),
    ("H", "H"): (0.02, 2.6),
    ("C", "O"): (0.12, 3.3),
    ("H", "O"): (0.06, 2.9),
}
CHARGE = {"C": 0.2, "H": 0.1, "O": -0.5}


@program(3.2, 0.4, 1.0)
def molecule(spacing: float, tilt: float, dielectric: float) -> float:
    atoms = [
        Atom("C", 0.0, 0.0, 0.0),
        Atom("C", spacing, 0.0, 0.0),
        Atom("O", 2 * spacing * math.cos(tilt), 2 * spacing * math.sin(tilt), 0.0),
    ]
    atoms += [Atom("H", a.x, a.y + 1.1 * spacing, 0.5) for a in atoms[:2]]
    atoms += [Atom("C", a.x, a.y, a.z + 2.0 * spacing) for a in atoms[:4]]
    energy = 0.0
    for a, b in itertools.combinations(atoms, 2):
        r = math.dist(a[1:], b[1:])
        eps, sigma = LJ[tuple(sorted((a.element, b.element)))]
        s6 = (sigma / r) ** 6
        energy += 4 * eps * (s6 * s6 - s6)
        energy += 3.32 * CHARGE[a.element] * CHARGE[b.element] / (dielectric * r)
    return energy


# ----------------------------------------------------------------------------------------------- a ray through a scene
@dataclass
class V3:
    x: float
    y: float
    z: float

    def __add__(self, o: Any) -> V3:
        return V3(self.x + o.x, self.y + o.y, self.z + o.z)

    def __sub__(self, o: Any) -> V3:
        return V3(self.x - o.x, self.y - o.y, self.z - o.z)

    def __mul__(self, k: Any) -> V3:
        return V3(self.x * k, self.y * k, self.z * k)

    def dot(self, o: Any) -> Any:
        return self.x * o.x + self.y * o.y + self.z * o.z

    def unit(self) -> Any:
        return self * (1.0 / math.sqrt(self.dot(self)))


class Sphere:
    def __init__(self, centre: Any, radius: Any, colour: Any) -> None:
        self.centre, self.radius, self.colour = centre, radius, colour

    def hit(self, origin: Any, direction: Any) -> Any:
        oc = origin - self.centre
        b = oc.dot(direction)
        disc = b * b - oc.dot(oc) + self.radius**2
        if disc < 0:
            return None
        t = -b - math.sqrt(disc)
        return t if t > 1e-4 else None

    def normal(self, p: Any) -> Any:
        return (p - self.centre).unit()


class Plane:
    colour = 0.4

    def __init__(self, height: Any) -> None:
        self.height = height

    def hit(self, origin: Any, direction: Any) -> Any:
        if abs(direction.y) < 1e-9:
            return None
        t = (self.height - origin.y) / direction.y
        return t if t > 1e-4 else None

    def normal(self, p: Any) -> V3:
        return V3(0.0, 1.0, 0.0)


def trace(scene: Any, origin: Any, direction: Any, light: Any, depth: int = 0) -> Any:
    hits = [(t, shape) for shape in scene if (t := shape.hit(origin, direction)) is not None]
    if not hits or depth > 1:
        return 0.1
    t, shape = min(hits, key=lambda h: h[0])
    p = origin + direction * t
    n = shape.normal(p)
    diffuse = max(0.0, n.dot((light - p).unit()))
    reflected = direction - n * (2 * direction.dot(n))
    return shape.colour * (0.2 + 0.8 * diffuse) + 0.3 * trace(scene, p, reflected, light, depth + 1)


@program(1.0, 3.0, 0.8)
def reflections(radius: float, light_height: float, colour: float) -> float:
    scene = [Sphere(V3(0.0, 0.5, 4.0), radius, colour), Sphere(V3(1.5, 0.0, 3.0), 0.5, 0.6), Plane(-1.0)]
    light = V3(-2.0, light_height, 0.0)
    pixels = [
        trace(scene, V3(0.0, 0.0, 0.0), V3(px, py, 1.0).unit(), light) for px in (-0.1, 0.4) for py in (-0.3, 0.1)
    ]
    return sum(pixels) / len(pixels)


# ----------------------------------------------------------------------------------------------------- colours as text
def parse_hex(code: Any) -> Any:
    code = code.lstrip("#")
    if len(code) != 6 or any(c not in string.hexdigits for c in code):
        raise ValueError(f"bad colour {code!r}")
    return tuple(int(code[i : i + 2], 16) / 255 for i in (0, 2, 4))


def luminance(rgb: Any, gamma: Any) -> Any:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** gamma for c in rgb]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear))


@program(0.35, 2.4)
def palette_contrast(mix: float, gamma: float) -> float:
    base = parse_hex("#1f77b4")
    palette = ["#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "oops", "#8c564b", "#e377c2", "#bcbd22"]
    ratios = []
    for code in palette:
        try:
            other = parse_hex(code)
        except ValueError:
            continue
        blend = tuple((1 - mix) * a + mix * b for a, b in zip(base, other))
        hi, lo = sorted((luminance(blend, gamma), luminance(other, gamma)), reverse=True)
        ratios.append((hi + 0.05) / (lo + 0.05))
    return sum(math.log(r) for r in ratios) / len(ratios)


# ------------------------------------------------------------------------------------------------ survival of patients
PATIENTS = [
    {"id": i, "months": m, "event": e, "group": g, "age": a}
    for i, (m, e, g, a) in enumerate(
        [
            (5, True, "A", 61),
            (12, False, "A", 55),
            (3, True, "B", 70),
            (20, True, "A", 48),
            (9, True, "B", 66),
            (15, False, "B", 59),
            (7, True, "A", 63),
            (30, False, "A", 51),
            (2, True, "B", 74),
            (18, True, "B", 62),
            (11, True, "A", 57),
            (6, False, "B", 69),
        ]
        * 5
    )
]


@program({"shape": 1.3, "scale": 15.0, "age": 0.03, "groups": {"A": 0.0, "B": 0.4}})
def weibull_survival(params: dict[str, Any]) -> float:
    loglik = 0.0
    per_group = {}
    for p in PATIENTS:
        effect = params["groups"][p["group"]] + params["age"] * (p["age"] - 60)
        lam = params["scale"] * math.exp(-effect)
        z = (p["months"] / lam) ** params["shape"]
        ll = -z
        if p["event"]:
            ll += math.log(params["shape"] / lam) + (params["shape"] - 1) * math.log(p["months"] / lam)
        per_group.setdefault(p["group"], []).append(ll)
        loglik += ll
    worst = min(sum(v) / len(v) for v in per_group.values())
    return loglik + 0.5 * worst


# -------------------------------------------------------------------------------------------- pipeline with decorators
REGISTRY: dict[str, Callable] = OrderedDict()


def step(name: Any) -> Any:
    def decorate(f: Any) -> Any:
        @functools.wraps(f)
        def wrapper(values: Any, **options: Any) -> Any:
            if not values:
                raise ValueError(f"{name}: nothing to do")
            return f(values, **options)

        REGISTRY[name] = wrapper
        return wrapper

    return decorate


@step("detrend")
def detrend(values: Any, slope: Any = 0.0) -> Any:
    return [v - slope * i for i, v in enumerate(values)]


@step("smooth")
def smooth(values: Any, alpha: Any = 0.5) -> Any:
    out = [values[0]]
    for v in values[1:]:
        out.append(alpha * v + (1 - alpha) * out[-1])
    return out


@step("clip")
def clip(values: Any, low: Any = -1.0, high: Any = 1.0) -> Any:
    return [min(max(v, low), high) for v in values]


SIGNAL = [math.sin(i / 3) + 0.05 * i for i in range(60)]


@program(0.4, 0.06, 0.9)
def signal_pipeline(alpha: float, slope: float, high: float) -> float:
    steps = [("detrend", {"slope": slope}), ("smooth", {"alpha": alpha}), ("clip", {"high": high}), ("squash", {})]
    values = SIGNAL
    missing = []
    for name, options in steps:
        try:
            values = REGISTRY[name](values, **options)
        except KeyError:
            missing.append(name)
    energy = sum(v * v for v in values)
    rough = sum((b - a) ** 2 for a, b in itertools.pairwise(values))
    return energy + 5 * rough + len(missing)


# ------------------------------------------------------------------------------------------- link budget with defaults
@contextlib.contextmanager
def stage(log: Any, name: Any) -> Iterator[Any]:
    log.append(name)
    try:
        yield log
    finally:
        log.append("end " + name)


DEFAULTS = {
    "tx_power": 10.0,
    "tx_gain": 15.0,
    "rx_gain": 20.0,
    "frequency": 2.4e9,
    "distance": 5e5,
    "noise_temp": 290.0,
    "loss": 2.0,
}


def db(x: Any) -> Any:
    return 10 * math.log10(x)


@program({"tx_power": 12.0, "distance": 6e5}, 1e6)
def link_budget(overrides: dict[str, float], bandwidth: float) -> float:
    log = []
    margins = {}
    for name, extra in [
        ("clear", {}),
        ("rain", {"loss": 6.0}),
        ("hot", {"noise_temp": 400.0}),
        ("high", {"frequency": 8.4e9, "rx_gain": 35.0}),
        ("near", {"distance": 1e5}),
        ("weak", {"tx_power": 2.0, "loss": 1.5}),
        ("dish", {"rx_gain": 32.0}),
    ]:
        p = ChainMap(extra, overrides, DEFAULTS)
        with stage(log, name):
            path = 20 * math.log10(4 * math.pi * p["distance"] * p["frequency"] / 2.998e8)
            received = db(p["tx_power"]) + p["tx_gain"] + p["rx_gain"] - path - p["loss"]
            noise = db(1.380649e-23 * p["noise_temp"] * bandwidth)
            margins[name] = received - noise
    worst = min(margins, key=margins.get)
    return margins[worst] + 0.1 * sum(margins.values())
