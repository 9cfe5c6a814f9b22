"""Modules made into objects by several threads."""

import ctypes
import signal
import threading
import time

import numpy as np
import pytest

import zyg
from zyg.backend.llvm import workers
from zyg.backend.llvm.engine import Engine, engine
from zyg.backend.llvm.splitting import PIECE, split
from zyg.backend.llvm.text import ModuleText
from zyg.backend.llvm.workers import Crew, Job, Worker, at_once

TEXT = "define i64 @f{n}(i64 %x) {{\n  %y = add i64 %x, {n}\n  ret i64 %y\n}}\n"

pytestmark = pytest.mark.each_in_turn


def machines(count):
    engine()  # LLVM knows the processor then
    return [Worker(Engine._machine) for _ in range(count)]


def test_objects_come_in_the_order_of_the_jobs():
    found = at_once(machines(3), [Job(TEXT.format(n=n)) for n in range(20)])
    assert all(f"f{n}\0".encode() in image for n, image in enumerate(found))
    library = engine().link(found, [], [f"f{n}" for n in range(20)], {})
    assert [ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(library[f"f{n}"])(1) for n in range(20)] == [*range(1, 21)]


def test_the_first_error_is_raised_when_all_threads_are_done():
    before = threading.active_count()
    with pytest.raises(RuntimeError, match="does not read"):
        at_once(machines(2), [Job(TEXT.format(n=1)), Job("rubbish"), *(Job(TEXT.format(n=n)) for n in range(2, 9))])
    assert threading.active_count() <= before + 1  # one may be about to end


def test_an_interrupt_waits_for_the_threads(monkeypatch):
    under_way, done = threading.Event(), threading.Event()

    def do(self, job):
        if threading.current_thread() is threading.main_thread():
            under_way.wait()
            raise KeyboardInterrupt
        under_way.set()
        done.wait(0.05)
        done.set()
        return b""

    monkeypatch.setattr(Worker, "do", do)
    with pytest.raises(KeyboardInterrupt):
        at_once(machines(2), [Job(""), Job("")])
    assert done.is_set()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers here")
def test_a_signal_handler_that_raises_waits_for_the_threads(monkeypatch):
    class Alarm(Exception):
        pass

    def alarm(*_):
        raise Alarm

    under_way, done = threading.Event(), threading.Event()

    def do(self, job):
        if threading.current_thread() is threading.main_thread():
            under_way.wait()
        else:
            under_way.set()
            time.sleep(0.2)
            done.set()
        return b""

    monkeypatch.setattr(Worker, "do", do)
    before = signal.signal(signal.SIGALRM, alarm)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(Alarm):
            at_once(machines(2), [Job(""), Job("")])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert done.is_set()


def test_an_interrupt_where_a_thread_is_made_waits_for_none(monkeypatch):
    def interrupted(self, **_):
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "__init__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        at_once(machines(2), [Job(TEXT.format(n=1)), Job(TEXT.format(n=2))])


def test_without_another_thread_one_does_all(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert len(at_once(machines(2), [Job(TEXT.format(n=n)) for n in range(3)])) == 3


def test_what_is_compiled_while_others_work_has_the_first_worker_alone(monkeypatch):
    """As by a signal's handler."""
    monkeypatch.setattr("zyg.backend.llvm.engine.SMALL", 0)
    monkeypatch.setattr("zyg.backend.llvm.engine.threads", lambda: 2)
    e, jobs = engine(), [Job(TEXT.format(n=n)) for n in range(3)]
    with e.lock, e.crew(jobs, 2) as crew:
        crew.begin(jobs[0])
        before = threading.active_count()
        assert len(e.objects(jobs)) == 3 and threading.active_count() <= before
        assert len(crew.objects(jobs[1:])) == 3
    assert e.crews == 0


def test_an_interrupt_while_a_failure_waits_is_not_lost(monkeypatch):
    def interrupted(helpers, errors):
        errors.append(KeyboardInterrupt())

    monkeypatch.setattr(workers, "_wait", interrupted)
    with pytest.raises(KeyboardInterrupt) as raised, Crew(machines(1)):
        raise ValueError("lowering failed")
    assert isinstance(raised.value.__context__, ValueError)


def test_what_is_chosen_one_by_one_is_so_by_machines_prepared_for_it():
    text = "define double @f(ptr %p, i64 %n) {\n  %a = getelementptr double, ptr %p, i64 %n\n  %x = load double, ptr %a\n  ret double %x\n}\n"
    jobs = [Job(text, None, how) for how in ("careful", "straight", "quick", "careful")]
    own, new = machines(1), machines(1)
    own[0].prepare(jobs)
    images = at_once(own, jobs)
    assert images[0] == images[3]
    assert images[0] == at_once(new, jobs[:1])[0]  # the option holds for machines that were prepared only
    for image in images:
        library = engine().link([image], [], ["f"], {})
        numbers = (ctypes.c_double * 3)(1.5, 2.5, 3.5)
        assert ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_int64)(library["f"])(numbers, 2) == 3.5


def test_workers_make_the_same_code_whichever_jobs_prepared_them():
    text = """define double @f(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%j, %loop]
  %s = phi double [0.0, %entry], [%t, %loop]
  %a = getelementptr double, ptr %p, i64 %i
  %v = load double, ptr %a
  %t = fadd double %s, %v
  %j = add i64 %i, 1
  %more = icmp slt i64 %j, %n
  br i1 %more, label %loop, label %done
done:
  ret double %t
}
"""
    quick, straight = Job(text, None, "quick"), Job(text, None, "straight")
    first, second = machines(2)
    first.prepare([straight])
    second.prepare([quick])
    assert first.do(quick) == second.do(quick)


def test_pieces_depend_on_the_code_alone_and_hold_what_is_inlined():
    module = ModuleText()
    for n in range(40):
        lines = "\n".join(f"  %v{k} = call fastcc i64 @py.g{n}(i64 %x)" for k in range(60))
        module.functions.append(f"define internal fastcc i64 @py.f{n}(i64 %x) {{\nentry:\n{lines}\n  ret i64 %v0\n}}")
        module.functions.append(f"define internal fastcc i64 @py.g{n}(i64 %x) {{\nentry:\n  ret i64 %x\n}}")
    symbols = {f"@py.{letter}{n}" for letter in "fg" for n in range(40)}
    found = split(module, symbols, {f"@py.g{n}" for n in range(40)})
    assert len(found) > 2 and found == split(module, symbols, {f"@py.g{n}" for n in range(40)})
    assert all(p.text.count("\n") < 2 * PIECE and p.kind for p in found)
    assert not any("declare fastcc" in p.text for p in found)
    apart = split(module, symbols)
    assert any("declare fastcc" in p.text for p in apart)
    assert sum(p.text.count("define ") for p in apart) == 80


def test_a_program_in_pieces_is_right_with_any_number_of_threads(monkeypatch):
    def f(x, w):
        h = np.tanh(x @ w)
        s = np.exp(h - np.max(h, axis=1, keepdims=True))
        s = s / np.sum(s, axis=1, keepdims=True)
        t = np.where(s > 0.3, s, 0.1 * s) @ w.T
        u = np.sort(np.mean(t * t, axis=0)) - np.sum(t, axis=0)
        return np.sum(np.sqrt(1.0 + u * u)) + np.mean(np.abs(h)) + np.sum(np.maximum(t, 0.1) ** 2)

    x, w = np.random.default_rng(0).normal(size=(2, 4, 4))
    values = []
    for count in (1, 3):
        monkeypatch.setattr("zyg.backend.llvm.engine.threads", lambda count=count: count)
        values.append(zyg.gradient(zyg.jit(lambda x, w, count=count: f(x, w)), x, w))
    assert all(np.array_equal(a, b) for a, b in zip(*values, strict=True))
    e = np.zeros_like(x)
    e[1, 2] = 1e-6
    assert abs((f(x + e, w) - f(x - e, w)) / 2e-6 - values[0][0][1, 2]) < 1e-6
    assert workers.threads() >= 1
