"""What changes between the calls of a random dynamic program: globals that are bound anew, functions and methods that are replaced,
objects that globals hold. `CHANGES` are made by the caller; `settings` is what the function makes of them, and changes itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .features import Writing

TOOLS = {
    "GAIN": """
GAIN = 0.5
CONFIG = {"gain": 0.5, "shift": 0.1}
TABLE = [0.5, 0.25]
WEIGHTS = np.array([0.5, 0.25, -0.3])


def set_gain(z):
    global GAIN
    GAIN = z
    return z * 0.5


def rule(z, by=0.5, *, shift=0.0):
    return z * by + shift


def other_rule(z, by=0.25, *, shift=0.1):
    return math.sin(z) - by * shift


class Setting:
    gain = 0.5

    def __init__(self, z):
        self.z = z
        self.past = []

    def act(self, y):
        self.past.append(y)
        return self.z * y

    @classmethod
    def of(cls, z):
        return cls(z * cls.gain)


class Finer(Setting):
    def act(self, y):
        return super().act(y) * 0.5 + self.gain


SETTING = Setting(0.5)
""",
    "HELD": """
HELD = Box(0.7, 0.2)
""",
}
NAMES = {"GAIN": "(?:GAIN|CONFIG|TABLE|WEIGHTS|set_gain|rule|other_rule|Setting|Finer|SETTING)"}

CHANGES = (
    "GAIN = 0.9",
    "GAIN = 2",
    "GAIN = TABLE[0] * 0.5 if TABLE else 0.0",
    "CONFIG['gain'] = 0.3",
    "CONFIG = {'gain': 1.5, 'shift': -0.2}",
    "CONFIG.pop('shift'); CONFIG['shift'] = 0",
    "TABLE.append(0.4)",
    "TABLE[:] = [-0.6]",
    "TABLE = [0.3, 1, 0.2]",
    "WEIGHTS[1] = 0.9",
    "WEIGHTS = WEIGHTS * 2.0",
    "WEIGHTS = np.zeros(3)",
    "rule = other_rule",
    "rule = lambda z, by=0.5, *, shift=0.5: z * z + shift",
    "rule = math.cos",
    "rule.__defaults__ = (0.75,)",
    "rule.__kwdefaults__ = {'shift': 0.6}",
    "other_rule, rule = rule, other_rule",
    "def rule(z, by=2.0):\n    return z + by * GAIN",
    "Setting.gain = 0.9",
    "Setting.act = lambda self, y: self.z - y",
    "Finer.act = Setting.act",
    "Finer.gain = 0.8",
    "SETTING.z = 0.9",
    "SETTING = Setting(1.5)",
    "SETTING = Finer(0.6)",
    "SETTING.extra = 0.7",
    "SETTING.act = lambda y: y * 0.1",
    "SETTING.past.clear()",
    "LOG.clear()",
    "MEMO.clear()",
)
OF_WHAT_IS_PASSED = (
    "HELD.u = 0.9",
    "HELD.v *= 0.5",
    "HELD.items.append(0.4)",
    "HELD.items = [0.1]",
    "HELD.scale = 0.8",
    "HELD = Crate(0.3)",
)


def that_matter(text: str) -> list[str]:
    """Changes to what a program uses."""
    used = re.compile(rf"\b{NAMES['GAIN']}\b").search(text)
    return [*(CHANGES if used else ()), *(OF_WHAT_IS_PASSED if "HELD" in text else ())]


def settings(w: Writing) -> None:
    """Reads globals that change between the calls, and changes them."""
    v = lambda: w.value(0)
    reads = [
        f"GAIN * {v()}",
        f"CONFIG['gain'] - {v()}",
        f"sum(TABLE) * {v()}",
        f"rule({v()})",
        f"SETTING.act({v()})",
        f"SETTING.gain * {v()}",
    ]
    reads += [
        f"Setting({v()}).act({v()})",
        f"Finer({v()}).act(0.5)",
        f"(WEIGHTS @ WEIGHTS) * {v()}",
        f"getattr(SETTING, 'extra', {v()})",
    ]
    reads += [
        f"({v()} if hasattr(SETTING, 'extra') else 0.5)",
        f"({v()} if GAIN > 0.6 else {v()})",
        f"np.sum(WEIGHTS * {v()})",
    ]
    reads += [
        f"sum(map(rule, ({v()}, 0.5)))",
        f"functools.reduce(lambda y, z: y * 0.5 + rule(z), TABLE, {v()})",
        f"len(TABLE) * {v()}",
    ]
    reads += [
        f"Finer.of({v()}).z",
        f"sum(SETTING.past) * {v()}",
        f"(lambda h: h({v()}) + GAIN)(rule)",
        f"other_rule({v()}, by={v()})",
    ]
    w.let("x", w.choose(reads))
    if w.chance(40):
        writes = [
            f"CONFIG['gain'] = {v()}",
            f"TABLE.append({v()})",
            f"SETTING.z = {v()}",
            f"WEIGHTS[0] = {v()}",
            f"set_gain({v()})",
        ]
        writes += [
            f"CONFIG['gain'] *= {v()}",
            f"SETTING.extra = {v()}",
            f"TABLE[-1:] = [{v()}]",
            f"Setting.gain = {v()}",
        ]
        w.line(w.choose(writes))
        w.let("x", w.choose(reads))


STATEMENTS: tuple[Callable[[Writing], None], ...] = (settings,)
