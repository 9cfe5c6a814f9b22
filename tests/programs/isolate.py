"""Running things in a forked process, so that what crashes takes nobody along."""

from __future__ import annotations

import os
import pickle
import signal
import tempfile
import time
from collections.abc import Callable
from typing import Any


class Crash(Exception):
    """The process died by a signal, or hung; `program` is what it was at, the one of this `number`."""

    def __init__(self, name: str, program: Any, number: int):
        super().__init__(name)
        self.program = program
        self.number = number


class Marker:
    """Remembers, outside the process, which program is being run, and the how manieth it is."""

    def __init__(self) -> None:
        self.path = tempfile.mkstemp(prefix="zyg-programs-")[1]
        self.number = 0

    def at(self, program: Any) -> None:
        self.number += 1
        with open(self.path, "wb") as file:
            pickle.dump((program, self.number), file)

    def read(self) -> tuple[Any, int]:
        with open(self.path, "rb") as file:
            data = file.read()
        return pickle.loads(data) if data else (None, 0)

    def __enter__(self) -> Marker:
        return self

    def __exit__(self, *exception: object) -> None:
        os.unlink(self.path)


def processor_time(pid: int) -> float:
    """Seconds that a process has computed for, which do not depend on what else the machine does."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            user, system = file.read().rpartition(")")[2].split()[11:13]
    except OSError:
        return time.monotonic()
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def forked(function: Callable[[Marker], Any], seconds: float) -> Any:
    """What `function` gives, run in a forked process; Crash if that dies or takes too long over one program."""
    with Marker() as marker, tempfile.TemporaryFile() as out:
        pid = os.fork()
        if pid == 0:
            try:
                pickle.dump(function(marker), out)
                out.flush()
                os._exit(0)
            except BaseException:
                import traceback

                traceback.print_exc()
            os._exit(1)
        last, since, used = None, time.monotonic(), processor_time(pid)
        pause = 0.002
        while True:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                break
            time.sleep(pause)
            pause = min(0.1, 1.2 * pause)
            stamp = os.stat(marker.path).st_mtime_ns
            if stamp != last:
                last, since, used = stamp, time.monotonic(), processor_time(pid)
            elif processor_time(pid) - used > seconds or time.monotonic() - since > 20 * seconds:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                raise Crash(f"hung for {seconds:.0f} s", *marker.read())
        if os.WIFSIGNALED(status):
            raise Crash(signal.Signals(os.WTERMSIG(status)).name, *marker.read())
        if os.WEXITSTATUS(status):
            raise Crash(f"exit status {os.WEXITSTATUS(status)}", *marker.read())
        out.seek(0)
        return pickle.load(out)


def crash_of(program: Any, check: Callable[[Any], object], seconds: float = 10.0) -> str:
    """How the check of this program dies; empty if it does not."""

    def attempt(marker: Marker) -> None:
        marker.at(program)
        os.close(2)  # the interpreter's dying words
        try:
            check(program)
        except Exception:
            return

    try:
        forked(attempt, seconds)
    except Crash as crash:
        return str(crash)
    return ""


def smaller(source: str, fails: Callable[[str], bool], seconds: float = 60.0) -> str:
    """A program that still fails, with lines and blocks left out."""
    deadline = time.monotonic() + seconds
    lines = source.splitlines()
    changed = True
    while changed:
        changed = False
        for i in reversed(range(len(lines))):
            if time.monotonic() > deadline:
                return "\n".join(lines)
            if i >= len(lines):
                continue
            end = _end_of_block(lines, i)
            for middle in ([], [line[4:] for line in lines[i + 1 : end]]):  # without the block, or without its header
                candidate = lines[:i] + middle + lines[end:]
                text = "\n".join(candidate)
                if candidate != lines and _compiles(text) and fails(text):
                    lines, changed = candidate, True
                    break
    return "\n".join(lines)


def _end_of_block(lines: list[str], start: int) -> int:
    """The line after the block that the line at `start` begins."""
    depth = _depth(lines[start])
    end = start + 1
    for i in range(start + 1, len(lines)):
        if lines[i].strip():
            if _depth(lines[i]) <= depth:
                break
            end = i + 1
    return end


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _compiles(source: str) -> bool:
    try:
        compile(source, "", "exec")
    except SyntaxError:
        return False
    return "def f(" in source
