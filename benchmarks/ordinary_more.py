"""Forty more ordinary programs, by another hand than those of `ordinary`."""

from __future__ import annotations

import contextlib
import csv
import datetime
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
from collections import Counter, defaultdict, deque, namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from .everyday import registering
from .ordinary import PID, C, L, R, Vec, norm_cdf

PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {}
program = registering(PROGRAMS)


# ------------------------------------------------------------------------------------ finance: bond price and duration
@dataclass
class Bond:
    face: float
    coupon: float
    years: int
    freq: int = 2

    def cash_flows(self) -> Iterator[Any]:
        n = self.years * self.freq
        c = self.face * self.coupon / self.freq
        for k in range(1, n + 1):
            yield k / self.freq, c + (self.face if k == n else 0.0)

    def price(self, y: Any) -> Any:
        return sum(cf / (1 + y / self.freq) ** (self.freq * t) for t, cf in self.cash_flows())


@program(0.045, 0.004)
def bond_portfolio(y: float, spread: float) -> float:
    holdings = {
        "gov5": (Bond(100.0, 0.03, 5), 20),
        "gov10": (Bond(100.0, 0.04, 10), 10),
        "corp7": (Bond(100.0, 0.055, 7), 15),
    }
    total = 0.0
    for name, (bond, qty) in holdings.items():
        s = spread if name.startswith("corp") else 0.0
        bump = 1e-2
        base = bond.price(y + s)
        duration = (bond.price(y + s - bump) - bond.price(y + s + bump)) / (2 * bump * base)
        total += qty * base + duration
    return total


# ------------------------------------------------------------------------ mortgage schedule with a list of namedtuples
Payment = namedtuple("Payment", "month interest principal balance")


@program(200000.0, 0.05)
def mortgage_interest(principal: float, rate: float) -> float:
    months = 120
    r = rate / 12
    pay = principal * r / (1 - (1 + r) ** -months)
    balance = principal
    schedule = []
    for m in range(1, months + 1):
        interest = balance * r
        princ = pay - interest
        balance -= princ
        schedule.append(Payment(m, interest, princ, balance))
    by_year = defaultdict(float)
    for p in schedule:
        by_year[(p.month - 1) // 12] += p.interest
    return sum(v / 1.02**k for k, v in by_year.items())


# --------------------------------------------------------------------------------------- option pricing: binomial tree
class OptionType(enum.Enum):
    CALL = 1
    PUT = -1


@program(100.0, 95.0, 0.03, 0.2)
def american_put(spot: float, strike: float, rate: float, vol: float) -> float:
    kind = OptionType.PUT
    n = 16
    dt = 1.0 / n
    up = math.exp(vol * math.sqrt(dt))
    down = 1 / up
    p = (math.exp(rate * dt) - down) / (up - down)
    disc = math.exp(-rate * dt)

    def payoff(s: Any) -> Any:
        return max(kind.value * (s - strike), 0.0)

    values = [payoff(spot * up**j * down ** (n - j)) for j in range(n + 1)]
    for step in range(n - 1, -1, -1):
        values = [
            max(disc * (p * hi + (1 - p) * lo), payoff(spot * up**j * down ** (step - j)))
            for j, (lo, hi) in enumerate(zip(values, values[1:]))
        ]
    return values[0]


# ----------------------------------------------------------------------- implied volatility with newton and exceptions
class ConvergenceError(Exception):
    pass


def black_scholes(s: Any, k: Any, t: Any, r: Any, sigma: Any) -> Any:
    d1 = (math.log(s / k) + (r + sigma**2 / 2) * t) / (sigma * math.sqrt(t))
    d2 = d1 - sigma * math.sqrt(t)
    return s * norm_cdf(d1) - k * math.exp(-r * t) * norm_cdf(d2)


def implied_vol(price: Any, s: Any, k: Any, t: Any, r: Any, guess: Any = 0.3, tol: Any = 1e-12) -> Any:
    sigma = guess
    for _ in range(50):
        d1 = (math.log(s / k) + (r + sigma**2 / 2) * t) / (sigma * math.sqrt(t))
        vega = s * math.sqrt(t) * math.exp(-d1 * d1 / 2) / math.sqrt(2 * math.pi)
        if vega < 1e-8:
            raise ConvergenceError("vega too small")
        diff = black_scholes(s, k, t, r, sigma) - price
        sigma -= diff / vega
        if abs(diff) < tol:
            return sigma
    raise ConvergenceError(f"no convergence for {price}")


@program(100.0, 10.5)
def smile_mean(spot: float, atm_price: float) -> float:
    quotes = {
        90.0: atm_price + 5.8,
        95.0: atm_price + 2.6,
        100.0: atm_price,
        105.0: atm_price - 2.3,
        110.0: atm_price - 4.4,
        115.0: atm_price - 6.2,
        300.0: atm_price * 4,
    }
    vols = []
    for k, price in quotes.items():
        try:
            vols.append(implied_vol(price, spot, k, 1.0, 0.02))
        except (ConvergenceError, ValueError, ZeroDivisionError, OverflowError):
            continue
    return statistics.fmean(vols)


# --------------------------------------------------------------------------------- Game: projectile with drag and Vec2


@program(30.0, 0.8, 0.01)
def projectile_range(speed: float, angle: float, drag: float) -> float:
    pos = Vec(0.0, 0.0)
    vel = Vec(speed * math.cos(angle), speed * math.sin(angle))
    g = Vec(0.0, -9.81)
    dt = 0.1
    while True:
        old = pos
        acc = g - vel * (drag * vel.length())
        vel = vel + acc * dt
        pos = pos + vel * dt
        if pos.y < 0:
            frac = old.y / (old.y - pos.y)
            return old.x + frac * (pos.x - old.x)


# ------------------------------------------------------------------------------- chemistry: molar mass via regex parse
@program({"H": 1.008, "C": 12.011, "O": 15.999, "N": 14.007, "Ca": 40.078})
def formula_masses(weights: dict[str, float]) -> float:
    pat = re.compile(r"([A-Z][a-z]?)(\d*)|(\()|(\))(\d*)")

    def mass(formula: Any) -> Any:
        stack = [0.0]
        for m in pat.finditer(formula):
            el, n, op, _, k = m.groups()
            if el:
                stack[-1] += weights[el] * (int(n) if n else 1)
            elif op:
                stack.append(0.0)
            else:
                group = stack.pop()
                stack[-1] += group * (int(k) if k else 1)
        return stack[0]

    a = mass("C6H12O6")
    b = mass("Ca(OH)2")
    c = mass("CH3(CH2)4COOH")
    d = mass("Ca(NO3)2")
    others = [mass(f) for f in "H2O CO2 C2H5OH C8H10N4O2 NH4NO3 (NH4)2CO3 Ca(HCO3)2 C17H21NO4".split()]
    return a / b + c / d + sum(others) / max(others)


# ------------------------------------------------------ electrical circuit: complex impedance ladder, abstract classes


@program(50.0, 1e-6, 2e-3)
def filter_response(r: float, c: float, l: float) -> float:
    net = R(10.0) + (L(l) | C(c) | R(r)) + C(3e-6)
    total = 0.0
    for decade in range(1, 7):
        for m in (1, 2, 5):
            w = 2 * math.pi * m * 10.0**decade
            total += math.log10(abs(net.impedance(w)))
    return total


# --------------------------------------------------------------------------- grades: weighted with dropping the lowest
@program([78.0, 92.5, 60.0, 88.4, 71.0, 95.0, 83.5], 66.0, 81.0)
def course_grade(homework: list[float], midterm: float, final: float) -> float:
    weights = dict(homework=0.3, midterm=0.25, final=0.45)
    students = []
    for shift in range(-8, 9):
        hw = [min(100.0, h + 2 * shift) for h in homework]
        hw.remove(min(hw))
        scores = {"homework": sum(hw) / len(hw), "midterm": midterm + shift, "final": max(midterm, final) + shift}
        students.append(sum(weights[k] * v for k, v in scores.items()))
    mean = sum(students) / len(students)
    sd = math.sqrt(sum((s - mean) ** 2 for s in students) / (len(students) - 1))
    return mean + sd


# ----------------------------------------------------------------------------------------- RPN / expression evaluation
OPS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "^": operator.pow}
FUNCS = {"sin": math.sin, "exp": math.exp, "sqrt": math.sqrt, "ln": math.log}


@program(1.3, 0.7)
def rpn(x: float, y: float) -> float:
    env = {"x": x, "y": y, "pi": math.pi, "g": 9.81}

    def evaluate(text: Any) -> Any:
        stack = []
        for tok in text.split():
            if tok in OPS:
                b = stack.pop()
                a = stack.pop()
                stack.append(OPS[tok](a, b))
            elif tok in FUNCS:
                stack.append(FUNCS[tok](stack.pop()))
            else:
                try:
                    stack.append(env[tok])
                except KeyError:
                    stack.append(float(tok))
        if len(stack) != 1:
            raise ValueError("malformed expression: " + text)
        return stack[0]

    return (
        evaluate("x y * sin x 2 ^ y + sqrt /")
        + evaluate("x ln y exp * 3.5 - pi x * +")
        + evaluate("x y + x y - * x x * y y * + / exp")
        + evaluate("2 x ^ y 3 ^ * 1.5 +")
        + sum(
            evaluate(t)
            for t in (
                "2 pi * x g / sqrt *",
                "g x x * * 2 /",
                "x y / ln 1 + sqrt 0.5 -",
                "1 1 x / 1 y / + /",
                "x 2 ^ y 2 ^ + sqrt pi /",
                "x sin 2 ^ y sin 2 ^ + 1 -",
                "x y * 3 ^ 2.5 / x exp +",
            )
        )
    )


# ----------------------------------------------------------------------------------- recursive-descent parser with AST
@dataclass(frozen=True)
class Num:
    v: float

    def eval(self, env: Any) -> Any:
        return self.v


@dataclass(frozen=True)
class Var:
    name: str

    def eval(self, env: Any) -> Any:
        return env[self.name]


@dataclass(frozen=True)
class Bin:
    op: str
    l: object
    r: object

    def eval(self, env: Any) -> Any:
        a, b = self.l.eval(env), self.r.eval(env)
        match self.op:
            case "+":
                return a + b
            case "-":
                return a - b
            case "*":
                return a * b
            case "/":
                return a / b
        raise ValueError(self.op)


def parse(text: Any) -> Any:
    toks = re.findall(r"\d+\.?\d*|\w+|[-+*/()]", text) + ["end"]
    pos = 0

    def peek() -> Any:
        return toks[pos]

    def take() -> Any:
        nonlocal pos
        pos += 1
        return toks[pos - 1]

    def expr() -> Any:
        node = term()
        while peek() in "+-":
            node = Bin(take(), node, term())
        return node

    def term() -> Any:
        node = atom()
        while peek() in "*/":
            node = Bin(take(), node, atom())
        return node

    def atom() -> Any:
        t = take()
        if t == "(":
            node = expr()
            take()
            return node
        if t[0].isdigit():
            return Num(float(t))
        return Var(t)

    return expr()


@program(2.0, 3.0, 0.5)
def tree_of_a_formula(a: float, b: float, c: float) -> float:
    tree = parse("(a + 2*b) * (c - a/b) + 3.5 * a * (b - c) / (a + b + 1) - 2 * (a * a + b * b * (c + 1)) / (7 + a)")
    env = {"a": a, "b": b, "c": c}
    first = tree.eval(env)
    env["a"] = first / 10
    return tree.eval(env)


# ----------------------------------------------------------------------------- queue simulation: M/M/1 with fixed seed
@program(1.0, 1.4)
def mm1_wait(lam: float, mu: float) -> float:
    rng = random.Random(7)
    clock = 0.0
    free_at = 0.0
    waits = []
    for _ in range(120):
        clock += -math.log(1.0 - rng.random()) / lam
        service = -math.log(1.0 - rng.random()) / mu
        start = max(clock, free_at)
        waits.append(start - clock)
        free_at = start + service
    return sum(waits) / len(waits)


# ----------------------------------------------------------------------------------------- event simulation with heapq
@program(3.0, 1.5)
def workshop(t_a: float, t_b: float) -> float:
    events = []
    counter = itertools.count()
    for i in range(30):
        heapq.heappush(events, (0.7 * i, next(counter), "arrive", i))
    busy = {"A": 0.0, "B": 0.0}
    done = {}
    while events:
        now, _, kind, job = heapq.heappop(events)
        if kind == "arrive":
            start = max(now, busy["A"])
            busy["A"] = start + t_a * (1 + 0.1 * (job % 3))
            heapq.heappush(events, (busy["A"], next(counter), "finish_a", job))
        elif kind == "finish_a":
            start = max(now, busy["B"])
            busy["B"] = start + t_b
            heapq.heappush(events, (busy["B"], next(counter), "finish_b", job))
        else:
            done[job] = now
    return sum(done.values()) / len(done)


# ---------------------------------------------------------- Dijkstra on a dict graph with weights that depend on speed
@program(50.0, 80.0)
def travel_time(city_speed: float, highway_speed: float) -> float:
    roads = [
        ("A", "B", 12, "c"),
        ("A", "C", 30, "h"),
        ("B", "C", 9, "c"),
        ("B", "D", 40, "h"),
        ("C", "D", 22, "c"),
        ("C", "E", 55, "h"),
        ("D", "F", 18, "c"),
        ("E", "F", 6, "c"),
        ("D", "E", 14, "h"),
    ]
    towns = "FGHIJKLMNOQRSTUVWXYZP"
    for i, (u, v) in enumerate(zip(towns, towns[1:])):
        roads.append((u, v, 5 + 3 * i % 11, "hc"[i % 2]))
        roads.append((u, towns[(i + 4) % len(towns)], 20 + i, "h"))
    graph = defaultdict(list)
    for u, v, km, kind in roads:
        t = km / (highway_speed if kind == "h" else city_speed)
        graph[u].append((v, t))
        graph[v].append((u, t))
    dist = {"A": 0.0}
    seen = set()
    heap = [(0.0, "A")]
    while heap:
        d, u = heapq.heappop(heap)
        if u in seen:
            continue
        seen.add(u)
        if u == "P":
            break
        for v, w in graph[u]:
            nd = d + w
            if nd < dist.get(v, math.inf):
                dist[v] = nd
                heapq.heappush(heap, (nd, v))
    return 60 * dist["P"]


# ------------------------------------------------------------------------------------ CSV report: group by and revenue
SALES = """region,product,units,price
north,apple,120,0.5
north,pear,80,0.75
south,apple,200,0.45
south,pear,50,0.8
south,plum,70,1.1
west,apple,90,0.55
west,plum,130,1.0
east,apple,60,0.52
east,pear,145,0.71
east,plum,33,1.2
east,kiwi,210,0.3
north,kiwi,75,0.35
south,kiwi,140,0.28
west,pear,101,0.77
"""


@program(0.19, 0.05)
def sales_report(vat: float, discount: float) -> float:
    revenue = defaultdict(lambda: defaultdict(float))
    for row in csv.DictReader(io.StringIO(SALES)):
        units = int(row["units"])
        price = float(row["price"])
        net = units * price
        if units > 100:
            net *= 1 - discount
        revenue[row["region"]][row["product"]] += net * (1 + vat)
    totals = {region: sum(prods.values()) for region, prods in revenue.items()}
    best = max(totals, key=totals.get)
    return totals[best] + 0.1 * sum(totals.values())


# --------------------------------------------------- linear regression, pure Python with Cramer / gaussian elimination
@program([1.0, 2.1, 2.9, 4.2, 5.1, 5.8, 7.3], [2.3, 4.1, 6.2, 8.1, 9.7, 12.4, 14.2])
def quad_fit(xs: list[float], ys: list[float]) -> float:
    deg = 3
    A = [[sum(x ** (i + j) for x in xs) for j in range(deg + 1)] for i in range(deg + 1)]
    b = [sum(y * x**i for x, y in zip(xs, ys)) for i in range(deg + 1)]
    n = len(b)
    for k in range(n):
        piv = max(range(k, n), key=lambda r: abs(A[r][k]))
        A[k], A[piv] = A[piv], A[k]
        b[k], b[piv] = b[piv], b[k]
        for i in range(k + 1, n):
            f = A[i][k] / A[k][k]
            for j in range(k, n):
                A[i][j] -= f * A[k][j]
            b[i] -= f * b[k]
    coef = [0.0] * n
    for i in reversed(range(n)):
        coef[i] = (b[i] - sum(A[i][j] * coef[j] for j in range(i + 1, n))) / A[i][i]
    return sum(c * 8.0**i for i, c in enumerate(coef))


# ----------------------------------------------------------------------------------------- matrix class with operators
class Matrix:
    def __init__(self, rows: Any) -> None:
        self.rows = [list(r) for r in rows]

    @classmethod
    def identity(cls, n: Any) -> Any:
        return cls([[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)])

    @property
    def T(self) -> Matrix:
        return Matrix(zip(*self.rows))

    def __matmul__(self, o: Any) -> Matrix:
        cols = list(zip(*o.rows))
        return Matrix([[sum(a * b for a, b in zip(r, c)) for c in cols] for r in self.rows])

    def __add__(self, o: Any) -> Matrix:
        return Matrix([[a + b for a, b in zip(r, s)] for r, s in zip(self.rows, o.rows)])

    def __getitem__(self, ij: Any) -> Any:
        i, j = ij
        return self.rows[i][j]

    def trace(self) -> Any:
        return sum(self[i, i] for i in range(len(self.rows)))


@program(0.3, 0.2)
def rotations(a: float, b: float) -> float:
    rx = Matrix([[1, 0, 0], [0, math.cos(a), -math.sin(a)], [0, math.sin(a), math.cos(a)]])
    rz = Matrix([[math.cos(b), -math.sin(b), 0], [math.sin(b), math.cos(b), 0], [0, 0, 1]])
    m = Matrix.identity(3)
    for _ in range(3):
        m = rz @ rx @ m
    s = m + m.T
    return s.trace() + m[0, 2]


# ----------------------------------------------------------------- bank account with transactions and custom exception
class InsufficientFunds(Exception):
    def __init__(self, needed: Any) -> None:
        super().__init__(f"need {needed:.2f} more")
        self.needed = needed


class Account:
    fee = 0.5

    def __init__(self, balance: Any = 0.0) -> None:
        self._balance = balance
        self.history = []

    @property
    def balance(self) -> Any:
        return self._balance

    def deposit(self, amount: Any) -> None:
        if amount <= 0:
            raise ValueError("amount must be positive")
        self._balance += amount
        self.history.append(("deposit", amount))

    def withdraw(self, amount: Any) -> None:
        total = amount + self.fee
        if total > self._balance:
            raise InsufficientFunds(total - self._balance)
        self._balance -= total
        self.history.append(("withdraw", amount))


class Savings(Account):
    def __init__(self, balance: Any, rate: Any) -> None:
        super().__init__(balance)
        self.rate = rate

    def month_end(self) -> None:
        self.deposit(self._balance * self.rate / 12)


@program(500.0, 0.04)
def bank_year(start: float, rate: float) -> float:
    acc = Savings(start, rate)
    debts = 0.0
    for month in range(1, 31):
        for amount in (120.0, 80.0 + 5 * month, 45.5):
            try:
                acc.withdraw(amount)
            except InsufficientFunds as e:
                debts += e.needed * 1.1
        acc.deposit(230.0)
        acc.month_end()
    interest = sum(a for kind, a in acc.history if kind == "deposit" and a != 230.0)
    return acc.balance - debts + interest


# ----------------------------------------------------------------- physics: N-body with dataclass objects as arguments
@dataclass
class Body:
    name: str
    mass: float
    pos: list
    vel: list


def make_bodies() -> Any:
    return [
        Body("sun", 1.0, [0.0, 0.0], [0.0, 0.0]),
        Body("earth", 3e-6, [1.0, 0.0], [0.0, 1.0]),
        Body("mars", 3e-7, [0.0, 1.52], [-0.81, 0.0]),
    ]


@program(1.0, 1.0)
def orbits(sun_mass: float, v0: float) -> float:
    bodies = make_bodies()
    bodies[0].mass = sun_mass
    bodies[1].vel[1] = v0
    dt = 0.05
    for _ in range(6):
        for a, b in itertools.combinations(bodies, 2):
            dx = [q - p for p, q in zip(a.pos, b.pos)]
            r3 = (dx[0] ** 2 + dx[1] ** 2) ** 1.5
            for k in range(2):
                a.vel[k] += dt * b.mass * dx[k] / r3
                b.vel[k] -= dt * a.mass * dx[k] / r3
        for body in bodies:
            body.pos = [p + dt * v for p, v in zip(body.pos, body.vel)]
    kin = sum(0.5 * b.mass * sum(v * v for v in b.vel) for b in bodies)
    return kin * 1e6 + math.dist(bodies[1].pos, bodies[2].pos)


# -------------------------------------------------------------------- signal: moving average with deque and generators
def moving_average(values: Any, n: Any) -> Iterator[Any]:
    window = deque(maxlen=n)
    for v in values:
        window.append(v)
        if len(window) == n:
            yield sum(window) / n


def exponential(values: Any, alpha: Any) -> Iterator[Any]:
    it = iter(values)
    level = next(it)
    yield level
    for v in it:
        level = alpha * v + (1 - alpha) * level
        yield level


@program(0.3, 2.0)
def smoothing(alpha: float, amp: float) -> float:
    signal = [amp * math.sin(0.4 * k) + 0.1 * (k % 3) for k in range(120)]
    ma = list(moving_average(signal, 5))
    ex = list(exponential(signal, alpha))
    return sum(abs(a - b) for a, b in zip(ma, ex[4:]))


# --------------------------------------------------------------------- stats: bootstrap-like percentiles / robust mean
@program(
    [
        3.1,
        4.7,
        2.2,
        8.9,
        5.5,
        4.4,
        3.8,
        6.1,
        5.0,
        2.9,
        7.2,
        4.1,
        3.3,
        5.7,
        6.4,
        4.9,
        2.6,
        3.9,
        4.3,
        5.2,
        8.1,
        6.6,
        5.9,
        14.0,
    ]
)
def robust_mean(data: list[float]) -> float:
    def percentile(values: Any, q: Any) -> Any:
        values = sorted(values)
        pos = q * (len(values) - 1)
        lo = math.floor(pos)
        hi = math.ceil(pos)
        return values[lo] + (pos - lo) * (values[hi] - values[lo])

    q1, q3 = percentile(data, 0.25), percentile(data, 0.75)
    iqr = q3 - q1
    kept = [x for x in data if q1 - 1.5 * iqr <= x <= q3 + 1.5 * iqr]
    med = percentile(kept, 0.5)
    mad = percentile([abs(x - med) for x in kept], 0.5)
    w = [1 / (1 + ((x - med) / mad) ** 2) for x in kept]
    for _ in range(8):
        med = sum(a * b for a, b in zip(w, kept)) / sum(w)
        w = [1 / (1 + ((x - med) / mad) ** 2) for x in kept]
    return med


# -------------------------------------------------------------------------------------------- naive Bayes text scoring
@program(1.0, 0.4)
def spam_filter(smooth: float, prior: float) -> float:
    train = {
        "spam": [
            "win money now",
            "cheap money offer win",
            "limited offer now",
            "you win a limited prize",
            "claim prize money now please",
        ],
        "ham": [
            "meeting at noon",
            "see you at the meeting",
            "project money report",
            "lunch at noon tomorrow",
            "please send the report to me",
        ],
    }
    counts = {label: Counter(w for doc in docs for w in doc.split()) for label, docs in train.items()}
    vocab = set().union(*counts.values())
    priors = {"spam": prior, "ham": 1 - prior}

    def posterior(text: Any) -> Any:
        logs = {}
        for label, c in counts.items():
            total = sum(c.values()) + smooth * len(vocab)
            logs[label] = math.log(priors[label]) + sum(math.log((c[w] + smooth) / total) for w in text.lower().split())
        m = max(logs.values())
        z = sum(math.exp(v - m) for v in logs.values())
        return math.exp(logs["spam"] - m) / z

    texts = [
        "money at noon now",
        "send me the prize",
        "lunch tomorrow at the meeting",
        "claim cheap offer now please",
        "see the report",
    ]
    return posterior("Win a project offer") + sum(posterior(t) ** 2 for t in texts)


# ------------------------------------------------------------------------------ Neural net with Value-free plain lists
class Layer:
    def __init__(self, n_in: Any, n_out: Any, rng: Any, act: Any) -> None:
        self.w = [[rng.uniform(-1, 1) for _ in range(n_in)] for _ in range(n_out)]
        self.b = [0.0] * n_out
        self.act = act

    def __call__(self, x: Any) -> Any:
        return [self.act(sum(wi * xi for wi, xi in zip(row, x)) + b) for row, b in zip(self.w, self.b)]


_rng = random.Random(3)
NET = [Layer(2, 8, _rng, math.tanh), Layer(8, 6, _rng, math.tanh), Layer(6, 1, _rng, lambda v: 1 / (1 + math.exp(-v)))]


@program(0.4, -1.2)
def tiny_mlp(a: float, b: float) -> float:
    loss = 0.0
    for target, shift in ((1.0, 0.0), (0.0, 0.5), (1.0, -0.3)):
        h = [a + shift, b - shift]
        for layer in NET:
            h = layer(h)
        p = h[0]
        loss -= target * math.log(p) + (1 - target) * math.log(1 - p)
    return loss / 3


# --------------------------------------------------------------- PID control with callable class and logging of states


@program(2.0, 0.5, 0.1)
def heating_by_pid(kp: float, ki: float, kd: float) -> float:
    pid = PID(kp, ki, kd)
    temp = 15.0
    log = []
    for k in range(60):
        u = pid(21.0 - temp, 0.1)
        temp += 0.1 * (0.8 * u - 0.15 * (temp - 10.0))
        log.append({"t": k * 0.1, "temp": temp, "u": u})
    return sum((r["temp"] - 21.0) ** 2 + 0.01 * r["u"] ** 2 for r in log)


# ----------------------------------------------------------------- Tree: decision / hierarchical budget with recursion
@program(
    {
        "name": "root",
        "cost": 1.0,
        "children": [
            {
                "name": "hull",
                "cost": 4.0,
                "children": [
                    {"name": "plate", "cost": 0.7, "children": []},
                    {"name": "rib", "cost": 0.4, "children": []},
                ],
            },
            {
                "name": "engine",
                "cost": 9.0,
                "children": [
                    {"name": "pump", "cost": 2.5, "children": [{"name": "seal", "cost": 0.1, "children": []}]},
                    {"name": "fan", "cost": 1.2, "children": []},
                ],
            },
            {
                "name": "cabin",
                "cost": 3.0,
                "children": [
                    {
                        "name": "seat",
                        "cost": 0.3,
                        "children": [
                            {"name": "belt", "cost": 0.05, "children": []},
                            {"name": "foam", "cost": 0.02, "children": []},
                        ],
                    },
                    {"name": "window", "cost": 0.25, "children": [{"name": "seal", "cost": 0.1, "children": []}]},
                    {"name": "door", "cost": 0.8, "children": []},
                ],
            },
            {
                "name": "wing",
                "cost": 6.0,
                "children": [
                    {"name": n, "cost": c, "children": [{"name": "rivet", "cost": 0.01, "children": []}]}
                    for n, c in (("spar", 1.4), ("flap", 0.9), ("skin", 2.0), ("tip", 0.4), ("slat", 0.6))
                ],
            },
            {
                "name": "tail",
                "cost": 2.2,
                "children": [
                    {"name": n, "cost": c, "children": []} for n, c in (("fin", 0.8), ("rudder", 0.9), ("trim", 0.1))
                ],
            },
        ],
    },
    0.07,
)
def bill_of_materials(tree: dict[str, Any], overhead: float) -> float:
    qty = {"plate": 12, "rib": 30, "seal": 8}

    def cost(node: Any, depth: int = 0) -> Any:
        own = node["cost"] * qty.get(node["name"], 1)
        below = sum(cost(c, depth + 1) for c in node["children"])
        return (own + below) * (1 + overhead / (1 + depth))

    def walk(node: Any, path: Any = ()) -> Iterator[Any]:
        path = path + (node["name"],)
        yield "/".join(path), node["cost"]
        for c in node["children"]:
            yield from walk(c, path)

    most = max(walk(tree), key=lambda item: item[1])
    return cost(tree) + most[1] * len(most[0])


# ------------------------------------------------------------ memoised recursion: optimal stopping/dice with lru_cache
@program(6.0, 0.95)
def dice_game(prize: float, discount: float) -> float:
    @functools.cache
    def value(score: Any, rolls: Any) -> Any:
        if rolls == 0 or score >= 12:
            return prize if score >= 12 else score / 4
        stop = score / 4
        go = discount * sum(value(score + k, rolls - 1) for k in range(1, 7)) / 6
        return max(stop, go)

    return value(0, 4)


# -------------------------------------------------------------------------------- edit distance with costs (alignment)
@program(1.0, 1.5, 0.8)
def alignment(ins: float, delete: float, subst: float) -> float:
    a, b = "conservation", "conversation"
    m, n = len(a), len(b)
    d = [[0.0] * (n + 1) for _ in range(m + 1)]
    for i in range(1, m + 1):
        d[i][0] = i * delete
    for j in range(1, n + 1):
        d[0][j] = j * ins
    for i, ca in enumerate(a, 1):
        for j, cb in enumerate(b, 1):
            cost = 0 if ca == cb else subst * (0.5 if {ca, cb} <= set("aeiou") else 1.0)
            d[i][j] = min(d[i - 1][j] + delete, d[i][j - 1] + ins, d[i - 1][j - 1] + cost)
    return d[m][n]


# ------------------------------------------------------------------------------------ HMM forward algorithm with dicts
@program(0.7, 0.4)
def weather_model(stay: float, wet: float) -> float:
    states = ("sun", "rain")
    trans = {"sun": {"sun": stay, "rain": 1 - stay}, "rain": {"sun": wet, "rain": 1 - wet}}
    emit = {"sun": {"walk": 0.6, "shop": 0.3, "clean": 0.1}, "rain": {"walk": 0.1, "shop": 0.4, "clean": 0.5}}
    obs = "walk shop clean clean walk shop walk clean walk walk clean shop shop walk clean clean walk".split()
    alpha = {s: 0.5 * emit[s][obs[0]] for s in states}
    logp = 0.0
    for o in obs[1:]:
        norm = sum(alpha.values())
        logp += math.log(norm)
        alpha = {s: v / norm for s, v in alpha.items()}
        alpha = {s: emit[s][o] * sum(alpha[r] * trans[r][s] for r in states) for s in states}
    return logp + math.log(sum(alpha.values()))


# --------------------------------------------------------------------------- portfolios with dates: XIRR / discounting
@program(0.06, 1000.0)
def dated_npv(rate: float, first: float) -> float:
    flows = [
        ("2021-01-15", -first),
        ("2021-07-01", 120.5),
        ("2022-01-15", 240.0),
        ("2022-09-30", 310.0),
        ("2023-03-15", 205.0),
        ("2023-12-31", 415.0),
        ("2024-06-30", 120.0),
        ("2024-12-31", 80.0),
    ]
    t0 = datetime.date.fromisoformat(flows[0][0])

    def npv(r: Any) -> Any:
        total = 0.0
        for day, amount in flows:
            years = (datetime.date.fromisoformat(day) - t0).days / 365.0
            total += amount / (1 + r) ** years
        return total

    r = 0.1
    for _ in range(4):
        h = 1e-6
        f = npv(r)
        r -= f / ((npv(r + h) - npv(r - h)) / (2 * h))
    return npv(rate) / 100 + r * 10


# ------------------------------------------------------------------- Ray tracer (one ray, spheres), NamedTuple vectors
class V3(NamedTuple):
    x: float
    y: float
    z: float

    def __add__(self, o: Any) -> V3:
        return V3(self.x + o.x, self.y + o.y, self.z + o.z)

    def __sub__(self, o: Any) -> V3:
        return V3(self.x - o.x, self.y - o.y, self.z - o.z)

    def scale(self, k: Any) -> V3:
        return V3(self.x * k, self.y * k, self.z * k)

    def dot(self, o: Any) -> Any:
        return self.x * o.x + self.y * o.y + self.z * o.z

    def unit(self) -> Any:
        return self.scale(1 / math.sqrt(self.dot(self)))


@dataclass
class Sphere:
    center: V3
    radius: float
    color: float

    def hit(self, origin: Any, direction: Any) -> float | None:
        oc = origin - self.center
        b = oc.dot(direction)
        disc = b * b - (oc.dot(oc) - self.radius**2)
        if disc < 0:
            return None
        t = -b - math.sqrt(disc)
        return t if t > 1e-6 else None


@program(1.0, 5.0)
def ray_shade(radius: float, light_y: float) -> float:
    scene = [
        Sphere(V3(0.0, 0.0, 5.0), radius, 0.9),
        Sphere(V3(1.5, 0.3, 6.0), 0.7, 0.6),
        Sphere(V3(0.0, -101.0, 5.0), 100.0, 0.3),
    ]
    light = V3(3.0, light_y, 0.0)
    origin = V3(0.0, 0.0, 0.0)
    total = 0.0
    for px, py in itertools.product((-0.2, 0.05, 0.25), (-0.15, -0.05, 0.08)):
        ray = V3(px, py, 1.0).unit()
        hits = [(t, s) for s in scene if (t := s.hit(origin, ray)) is not None]
        if not hits:
            continue
        t, sphere = min(hits, key=lambda h: h[0])
        p = origin + ray.scale(t)
        normal = (p - sphere.center).unit()
        total += sphere.color * max(0.0, normal.dot((light - p).unit()))
    return total


# ----------------------------------------------------------------------- polynomials with dict of exponents (symbolic)
class Poly:
    def __init__(self, terms: Any) -> None:
        self.terms = {e: c for e, c in terms.items() if c != 0}

    def __add__(self, o: Any) -> Poly:
        out = dict(self.terms)
        for e, c in o.terms.items():
            out[e] = out.get(e, 0.0) + c
        return Poly(out)

    def __mul__(self, o: Any) -> Poly:
        out = {}
        for (e1, c1), (e2, c2) in itertools.product(self.terms.items(), o.terms.items()):
            out[e1 + e2] = out.get(e1 + e2, 0.0) + c1 * c2
        return Poly(out)

    def diff(self) -> Poly:
        return Poly({e - 1: e * c for e, c in self.terms.items() if e})

    def __call__(self, x: Any) -> Any:
        return sum(c * x**e for e, c in self.terms.items())


@program(0.5, 1.2, 0.9)
def poly_newton(a: float, b: float, x0: float) -> float:
    p = Poly({0: -2.0, 1: a, 3: b})
    q = p * p + Poly({2: a})
    dq = q.diff()
    x = x0
    for _ in range(12):
        x = x - 0.1 * q(x) / (1 + abs(dq(x)))
    return x * q(x)


# -------------------------------------------------------------------------- Inventory policy, Enum states, json config
CONFIG = '{"reorder": 20, "lot": 50, "lead": 2, "demand": [12, 9, 15, 7, 18, 11, 14, 10, 8, 16, 13, 9]}'


@program(0.8, 3.5, 25.0)
def inventory_cost(hold: float, short: float, order_cost: float) -> float:
    cfg = json.loads(CONFIG)
    cfg["demand"] = cfg["demand"] * 4
    stock = 40
    pipeline = deque()
    costs = Counter()
    for week, demand in enumerate(cfg["demand"]):
        while pipeline and pipeline[0][0] <= week:
            stock += pipeline.popleft()[1]
        stock -= demand
        if stock >= 0:
            costs["hold"] += hold * stock
        else:
            costs["short"] += short * -stock
        if stock + sum(q for _, q in pipeline) < cfg["reorder"]:
            pipeline.append((week + cfg["lead"], cfg["lot"]))
            costs["order"] += order_cost
    for _ in costs.most_common():
        pass
    return sum(costs.values()) / len(cfg["demand"])


# ----------------------------------------------------------------------------- Adaptive Simpson recursion with closure
@program(0.2, 3.0, 2.5)
def adaptive_simpson(a: float, b: float, k: float) -> float:
    def f(x: Any) -> Any:
        return math.exp(-x * x / 2) * math.cos(k * x)

    def simpson(fa: Any, fm: Any, fb: Any, a: Any, b: Any) -> Any:
        return (b - a) / 6 * (fa + 4 * fm + fb)

    def rec(a: Any, b: Any, fa: Any, fm: Any, fb: Any, whole: Any, tol: Any, depth: Any) -> Any:
        m = (a + b) / 2
        flm, frm = f((a + m) / 2), f((m + b) / 2)
        left, right = simpson(fa, flm, fm, a, m), simpson(fm, frm, fb, m, b)
        if depth == 0 or abs(left + right - whole) < 15 * tol:
            return left + right + (left + right - whole) / 15
        return rec(a, m, fa, flm, fm, left, tol / 2, depth - 1) + rec(m, b, fm, frm, fb, right, tol / 2, depth - 1)

    fa, fm, fb = f(a), f((a + b) / 2), f(b)
    return rec(a, b, fa, fm, fb, simpson(fa, fm, fb, a, b), 1e-6, 10)


# ---------------------------------------------------------------- generic ODE solver with callbacks: SIR with Scenario
@dataclass(frozen=True)
class SIR:
    s: float
    i: float
    r: float


def rk4(f: Any, y: Any, dt: Any) -> Any:
    def shift(k: Any, h: Any) -> Any:
        return SIR(y.s + h * k.s, y.i + h * k.i, y.r + h * k.r)

    k1 = f(y)
    k2 = f(shift(k1, dt / 2))
    k3 = f(shift(k2, dt / 2))
    k4 = f(shift(k3, dt))
    return SIR(
        *(
            getattr(y, n) + dt / 6 * (getattr(k1, n) + 2 * getattr(k2, n) + 2 * getattr(k3, n) + getattr(k4, n))
            for n in ("s", "i", "r")
        )
    )


@program(0.5, 0.2)
def epidemic_peak(beta: float, gamma: float) -> float:
    def rhs(y: Any) -> Any:
        inf = beta * y.s * y.i
        return SIR(-inf, inf - gamma * y.i, gamma * y.i)

    y = SIR(0.98, 0.02, 0.0)
    peak = 0.0
    for _ in range(10):
        y = rk4(rhs, y, 1.0)
        peak = max(peak, y.i)
    return peak + 0.1 * y.r


# ------------------------------------------------------------------ units conversion with context manager & decorators
def validated(**limits: Any) -> Any:
    def deco(f: Any) -> Any:
        @functools.wraps(f)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            for name, (lo, hi) in limits.items():
                if name in kwargs and not lo <= kwargs[name] <= hi:
                    raise ValueError(f"{name} out of range")
            return f(*args, **kwargs)

        return wrapper

    return deco


@validated(temp=(-60, 60), humidity=(0, 100))
def heat_index(*, temp: Any, humidity: Any) -> Any:
    t = temp * 9 / 5 + 32
    hi = 0.5 * (t + 61.0 + (t - 68.0) * 1.2 + humidity * 0.094)
    if (hi + t) / 2 >= 80:
        hi = (
            -42.379
            + 2.04901523 * t
            + 10.14333127 * humidity
            - 0.22475541 * t * humidity
            - 6.83783e-3 * t * t
            - 5.481717e-2 * humidity**2
            + 1.22874e-3 * t * t * humidity
            + 8.5282e-4 * t * humidity**2
            - 1.99e-6 * (t * humidity) ** 2
        )
    return (hi - 32) * 5 / 9


@program(31.0, 62.0)
def hottest_day(temp: float, humidity: float) -> float:
    worst = None
    errors = 0
    for hour in range(24):
        t = temp - 6 * math.cos(2 * math.pi * (hour - 3) / 24)
        h = humidity + 15 * math.cos(2 * math.pi * (hour - 4) / 24)
        try:
            value = heat_index(temp=t, humidity=h * (1.5 if hour == 5 else 1.0))
        except ValueError:
            errors += 1
            continue
        if worst is None or value > worst:
            worst = value
    return worst - 0.5 * errors


# ---------------------------------------------------------------------- Kalman filter with class, plain floats and log
class Kalman1D:
    def __init__(self, q: Any, r: Any, x0: Any = 0.0, p0: Any = 1.0) -> None:
        self.q, self.r = q, r
        self.x, self.p = x0, p0
        self.loglik = 0.0

    def predict(self) -> Kalman1D:
        self.p += self.q
        return self

    def update(self, z: Any) -> Kalman1D:
        s = self.p + self.r
        innov = z - self.x
        gain = self.p / s
        self.x += gain * innov
        self.p *= 1 - gain
        self.loglik -= 0.5 * (math.log(2 * math.pi * s) + innov**2 / s)
        return self


@program(0.05, 0.4)
def kalman_nll(q: float, r: float) -> float:
    data = [1.1, 0.9, None, 1.4, 1.3, 1.7, None, None, 2.2, 1.9, 2.4, 2.2, 2.8, None, 2.9, 3.1] * 8
    kf = Kalman1D(q, r)
    for z in data:
        kf.predict()
        if z is not None:
            kf.update(z)
    return -kf.loglik


# --------------------------------------------------------------------------- Markov chain / pagerank with dict of sets
LINKS = {
    "home": {"about", "shop", "blog"},
    "about": {"home"},
    "shop": {"home", "cart"},
    "blog": {"home", "shop", "about"},
    "cart": {"shop"},
}


@program(0.85)
def pagerank(damping: float) -> float:
    n = len(LINKS)
    rank = dict.fromkeys(LINKS, 1.0 / n)
    for _ in range(20):
        new = dict.fromkeys(LINKS, (1 - damping) / n)
        for page, outs in LINKS.items():
            share = damping * rank[page] / len(outs)
            for o in outs:
                new[o] += share
        if max(abs(new[p] - rank[p]) for p in LINKS) < 1e-9:
            break
        rank = new
    ordered = sorted(rank.items(), key=lambda kv: -kv[1])
    return ordered[0][1] - ordered[-1][1] + sum(r * math.log(r) for _, r in ordered)


# ------------------------------------------------------------ Geo: haversine and route with waypoints parsed from text
TRACK = """
48.1372,11.5755,Munich
48.3705,10.8978,Augsburg
48.4011,9.9876,Ulm
48.7758,9.1829,Stuttgart
49.0069,8.4037,Karlsruhe
49.4875,8.4660,Mannheim
50.1109,8.6821,Frankfurt
50.3569,7.5890,Koblenz
50.7374,7.0982,Bonn
50.9375,6.9603,Cologne
51.2277,6.7735,Duesseldorf
51.4556,7.0116,Essen
51.9607,7.6261,Muenster
52.2799,8.0472,Osnabrueck
53.0793,8.8017,Bremen
53.5511,9.9937,Hamburg
53.8655,10.6866,Luebeck
54.0924,12.0991,Rostock
53.6355,11.4012,Schwerin
52.5200,13.4050,Berlin
51.3397,12.3731,Leipzig
51.0504,13.7373,Dresden
"""


@program(6371.0, 52.5)
def route_hours(earth_radius: float, speed: float) -> float:
    points = []
    for line in TRACK.strip().splitlines():
        lat, lon, name = line.split(",")
        points.append((math.radians(float(lat)), math.radians(float(lon)), name))

    def haversine(p: Any, q: Any) -> Any:
        a = math.sin((q[0] - p[0]) / 2) ** 2 + math.cos(p[0]) * math.cos(q[0]) * math.sin((q[1] - p[1]) / 2) ** 2
        return 2 * earth_radius * math.asin(math.sqrt(a))

    legs = [haversine(p, q) for p, q in itertools.pairwise(points)]
    cumulative = list(itertools.accumulate(legs))
    stops = {name: d / speed + 0.25 * i for i, (d, (*_, name)) in enumerate(zip(cumulative, points[1:]))}
    return stops["Hamburg"] + 0.1 * stops["Ulm"]


# -------------------------------------------------- layered materials: composition via protocols, str formatted report
class Wall:
    def __init__(self) -> None:
        self._layers = []

    def add(self, name: Any, thickness: Any, k: Any) -> Wall:
        self._layers.append((name, thickness, k))
        return self

    def __iter__(self) -> Any:
        return iter(self._layers)

    def __len__(self) -> int:
        return len(self._layers)

    def u_value(self, r_in: Any = 0.13, r_out: Any = 0.04) -> Any:
        return 1.0 / (r_in + sum(d / k for _, d, k in self) + r_out)

    def report(self, t_in: Any, t_out: Any) -> Any:
        q = self.u_value() * (t_in - t_out)
        t = t_in - q * 0.13
        lines = []
        for name, d, k in self:
            t -= q * d / k
            lines.append(f"{name:<12}{d * 1000:6.1f} mm {t:6.2f} C")
        return q, t, "\n".join(lines)


@program(0.12, 21.0)
def wall_loss(insulation: float, t_in: float) -> float:
    total = 0.0
    for t_out in (-15.0, -10.0, -5.0, 0.0, 4.0, 8.0, 12.0):
        wall = (
            Wall()
            .add("plaster", 0.015, 0.7)
            .add("brick", 0.24, 0.5)
            .add("wool", insulation, 0.035)
            .add("render", 0.02, 0.9)
        )
        q, surface, text = wall.report(t_in, t_out)
        total += q * len(wall) + abs(surface - t_out) + 0.0 * len(text)
    return total


# --------------------------------------------------------------------------------------------------------- Elo ratings
class Player:
    registry: ClassVar[dict[str, Any]] = {}

    def __init__(self, name: Any, rating: Any) -> None:
        self.name = name
        self.rating = rating
        self.games = 0

    def expected(self, other: Any) -> Any:
        return 1 / (1 + 10 ** ((other.rating - self.rating) / 400))

    def __lt__(self, other: Any) -> bool:
        return self.rating < other.rating


@program(1500.0, 24.0)
def elo_tournament(start: float, k: float) -> float:
    names = ["ann", "bob", "cy", "dee"]
    players = {n: Player(n, start + 10 * i) for i, n in enumerate(names)}
    results = (
        "ann bob 1;cy dee 0;ann cy 0.5;bob dee 1;dee ann 0;bob cy 0.5;ann bob 0;cy dee 1;"
        "dee bob 1;cy ann 0;dee cy 0;bob ann 1;cy bob 1;ann dee 0.5;"
        "ann cy 0;dee ann 1;bob dee 0.5;ann bob 1;cy dee 0.5;bob cy 0;dee ann 0;cy ann 1;bob dee 1;ann bob 0;"
        "cy bob 0;dee ann 0.5;cy dee 1;ann bob 1;bob dee 0;cy ann 0.5;dee bob 1;ann dee 1;cy bob 1;dee cy 0"
    )
    for game in results.split(";"):
        a, b, score = game.split()
        pa, pb = players[a], players[b]
        ea = pa.expected(pb)
        delta = k * (float(score) - ea)
        pa.rating += delta
        pb.rating -= delta
        for p in (pa, pb):
            p.games += 1
    ranking = sorted(players.values(), reverse=True)
    return ranking[0].rating - ranking[-1].rating + 0.01 * max(players.values()).rating


# --------------------------------------------- State machine: traffic/rocket stages with contextmanager and strategies
class Stage(enum.Enum):
    BOOST = "boost"
    COAST = "coast"
    LAND = "land"


@contextlib.contextmanager
def recording(name: Any, log: Any) -> Iterator[Any]:
    log.append(f"begin {name}")
    yield log
    log.append(f"end {name}")


@program(1200.0, 25.0, 4.0)
def rocket_apogee(thrust: float, fuel: float, dry: float) -> float:
    log = []
    h = v = 0.0
    m_fuel = fuel
    stage = Stage.BOOST
    best = 0.0
    with recording("flight", log) as events:
        for _ in range(200):
            mass = dry + m_fuel
            if stage is Stage.BOOST:
                a = thrust / mass - 9.81
                m_fuel -= 0.6
                if m_fuel <= 1.5:
                    stage = Stage.COAST
                    events.append(f"burnout at {h:.1f}")
            elif stage is Stage.COAST:
                a = -9.81 - 0.002 * v * abs(v) / mass
                if v < 0:
                    stage = Stage.LAND
                    best = h
            else:
                break
            v += a * 0.2
            h += v * 0.2
    return best / 100 + len(log)
