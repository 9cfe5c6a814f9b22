"""Code that is made at once, and once more with care beside the program."""

import gc
import os
import subprocess
import sys
import textwrap
import threading
import time
import warnings
import weakref
from contextlib import ExitStack

import numpy as np
import pytest

import zyg
from tests.turns import by_one_python_a_day, each_in_long_turn
from zyg.backend.llvm import tiers, workers
from zyg.backend.llvm.background import Background, background
from zyg.backend.llvm.engine import engine
from zyg.backend.llvm.jobs import job_of
from zyg.backend.llvm.lowering.function import FunctionLowering
from zyg.backend.llvm.splitting import COMPUTES, Piece, pointer, through_pointers
from zyg.backend.llvm.text import name_of, symbol
from zyg.backend.llvm.workers import Crew, Job

PROGRAM = """
import numpy as np

def größe(x, w, steps):
    total = 0.0
    for n in range(steps):
        h = np.tanh(x @ w + n)
        e = np.exp(h - h.max(axis=1, keepdims=True))
        p = e / e.sum(axis=1, keepdims=True)
        s = np.sqrt(np.var(p, axis=0) + 1.0) + np.mean(np.abs(h), axis=0)
        x[1:] = x[1:] * 0.5 + np.where(p[1:] > 0.3, p[1:], h[:-1])
        x[:, 0] += np.cumsum(s)[-1] + np.log1p(np.sum(p * p))
        q = np.linalg.solve(w.T @ w + np.eye(len(w)), s)
        a = np.column_stack([q, np.diag(w) + np.bincount(np.array([3, 1, 1, 0]), minlength=4)])
        t = 0.0
        for i in range(len(a)):
            t += 0.1 * w[i, i] + a[i, 0] * a[i, 1]
        total += np.sum(np.sin(q)) + np.sum(x[::-1] ** 2) + np.min(h) + t
    return total
"""


@pytest.fixture
def program(tmp_path):
    """A function of which no code has been made yet. (Each time another one, with a source.)"""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    namespace = {}
    exec(compile(PROGRAM, str(path), "exec"), namespace)
    return namespace["größe"]


@pytest.fixture
def held():
    """Nothing is made beside the tests until it is left."""
    background.settle()
    with ExitStack() as stack:
        stack.enter_context(background.held())
        yield stack.close
    background.settle()


def arguments(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(5, 4)), rng.normal(size=(4, 4)), 3


def careful_of(transform):
    """The second tier of what a transform compiled last."""
    found = [c for c in gc.get_objects() if type(c) is tiers.Careful and c.native() is not None]
    return found[-1]


def same(one, other):
    return all(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))


@by_one_python_a_day
def test_results_are_the_same_to_the_last_bit(program, held):
    g = zyg.grad(program, (0, 1))
    before = [g(*arguments(n)) for n in range(5)]
    careful = careful_of(g)
    assert careful.library is None and len(careful.pointers) > 8
    later = {job.text: job for job in careful.jobs}  # (light loops have no pipeline until then)
    assert any(job.text in later and job.effort.brief and not later[job.text].effort.brief for job in careful.quick)
    at_once = list(careful.addresses)
    held()
    zyg.settle()
    assert careful.library is not None
    replaced = [a for a, name in zip(careful.addresses, careful.pointers.values()) if name not in careful.stay]
    assert len(replaced) > 8 and set(replaced).isdisjoint(at_once)
    after = [g(*arguments(n)) for n in range(5)]
    assert all(map(same, before, after))


@by_one_python_a_day
def test_what_computes_is_made_with_care_at_once_where_arguments_are_large(program, held, monkeypatch):
    """Small ones have its vectors at once, and its registers later: the same values."""
    small = zyg.grad(program, (0, 1))
    values = [small(*arguments(n)) for n in range(3)]
    of_small = careful_of(small)
    monkeypatch.setattr("zyg.dispatch._SMALL", 0)
    large = zyg.grad(zyg.jit(lambda x, w, steps: program(x, w, steps)), (0, 1))
    for n, value in enumerate(values):
        assert same(large(*arguments(n)), value)
    of_large = careful_of(large)
    assert not of_small.stay and of_large.stay
    assert {j.generator for j in of_small.quick} == {"quick"}
    assert {j.generator for j in of_large.quick} > {"quick"}
    optimised = lambda careful: {j.effort for j in careful.quick if j.effort and not j.effort.brief}
    assert optimised(of_small) == optimised(of_large)


@by_one_python_a_day
def test_a_long_function_is_begun_while_others_are_lowered(program, monkeypatch):
    begun, lowered = [], []
    monkeypatch.setattr(tiers, "TWICE", 1000)
    begin, write = Crew.begin, FunctionLowering.lower
    monkeypatch.setattr(Crew, "begin", lambda crew, job: (begun.append(len(lowered)), begin(crew, job)))
    monkeypatch.setattr(FunctionLowering, "lower", lambda self, linkage: (lowered.append(self), write(self, linkage)))
    g = zyg.grad(program, (0, 1))
    values = [g(*arguments(n)) for n in range(3)]
    assert len(begun) == 1 and begun[0] < len(lowered)
    monkeypatch.setattr("zyg.backend.llvm.tiers.threads", lambda: 1)
    again = zyg.grad(zyg.jit(lambda x, w, steps: program(x, w, steps)), (0, 1))
    assert all(same(g, again(*arguments(n))) for n, g in enumerate(values))


@by_one_python_a_day
def test_lowering_that_fails_waits_for_what_was_begun(program, monkeypatch):
    begin, write = Crew.begin, FunctionLowering.lower
    begun = []
    monkeypatch.setattr(tiers, "TWICE", 1000)
    monkeypatch.setattr(Crew, "begin", lambda crew, job: (begun.append(crew), begin(crew, job)))

    def fails(self, linkage):
        if begun:
            raise KeyboardInterrupt
        write(self, linkage)

    monkeypatch.setattr(FunctionLowering, "lower", fails)
    interval = sys.getswitchinterval()
    with pytest.raises(KeyboardInterrupt):
        zyg.grad(program, (0, 1))(*arguments())
    assert begun and not any(helper.work is not workers._nothing for helper in begun[0]._helpers)
    assert sys.getswitchinterval() == interval and gc.isenabled()
    monkeypatch.undo()
    zyg.grad(program, (0, 1))(*arguments())


@by_one_python_a_day
def test_nothing_is_made_twice_where_that_is_switched_off(program, monkeypatch):
    first = zyg.grad(program, (0, 1))(*arguments())
    zyg.settle()
    monkeypatch.setenv("ZYG_BACKGROUND", "0")
    made = []
    monkeypatch.setattr(tiers.Careful, "begin", lambda self, *rest: made.append(self))
    namespace = {}
    exec(PROGRAM, namespace)
    assert same(first, zyg.grad(namespace["größe"], (0, 1))(*arguments())) and not made


@by_one_python_a_day
@pytest.mark.parametrize("options", [{"cache": True}, {"fastmath": True}])
def test_nothing_is_made_twice_where_it_is_kept_or_values_are_free(program, options, monkeypatch):
    made = []
    monkeypatch.setattr(tiers.Careful, "begin", lambda self, *rest: made.append(self))
    zyg.grad(zyg.jit(program, **options), (0, 1))(*arguments())
    assert not made


def test_little_code_is_made_once(monkeypatch):
    made = []
    monkeypatch.setattr(tiers.Careful, "begin", lambda self, *rest: made.append(self))
    zyg.gradient(lambda x: np.sum(np.exp(x) * np.sin(x)), np.ones(5))
    assert not made


@each_in_long_turn
def test_a_call_that_is_under_way_goes_over(program, held):
    g = zyg.grad(program, (0, 1))
    x, w, _ = arguments()
    g(x.copy(), w, 1)
    careful = careful_of(g)
    at_once = list(careful.addresses)
    there = []

    def call():
        g(x.copy(), w, 120_000)
        there.append(list(careful.addresses) != at_once)

    thread = threading.Thread(target=call)
    thread.start()
    held()
    thread.join()
    assert there == [True]


@by_one_python_a_day
def test_errors_are_those_of_the_first_code(program, held):
    g = zyg.grad(program, (0, 1))
    x, w, steps = arguments()
    g(x.copy(), w, steps)
    texts = []
    for _ in range(2):
        with pytest.raises(ValueError) as raised:
            g(x.copy(), w[1:], steps)
        texts.append((str(raised.value), raised.traceback[-1].lineno))
        held()
        zyg.settle()
    assert texts[0] == texts[1]


@by_one_python_a_day
def test_code_that_is_gone_is_not_made(program, held):
    g = zyg.grad(program, (0, 1))
    g(*arguments())
    careful = careful_of(g)
    native = careful.native
    del g, program
    for _ in range(3):
        gc.collect()
    assert native() is None
    held()
    zyg.settle()
    assert careful.library is None


@by_one_python_a_day
def test_code_that_went_over_goes_away(program):
    g = zyg.grad(program, (0, 1))
    g(*arguments())
    zyg.settle()
    gone = weakref.ref(careful_of(g))
    del g, program
    gc.collect()
    engine().graveyard.clear()
    gc.collect()
    assert gone() is None


def run(text, **environment):
    code = PROGRAM + textwrap.dedent(text)
    found = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    assert not found.stderr, found.stderr
    return found.stdout


@by_one_python_a_day
@pytest.mark.parametrize("pause", ["0", "0.02", "0.1"])
def test_a_program_may_end_at_any_time(pause):
    text = """
        import time, zyg
        x, w = np.ones((5, 4)), np.eye(4)
        zyg.grad(größe, (0, 1))(x, w, 2)
        time.sleep({pause})
        print("done")
    """
    assert run(text.replace("{pause}", pause)) == "done\n"


@each_in_long_turn
def test_what_is_compiled_when_the_program_ends_works():
    text = """
        import atexit, zyg
        def at_the_end():
            print(zyg.grad(größe, (0, 1))(np.ones((5, 4)), np.eye(4), 2)[1].shape)
        atexit.register(at_the_end)
        zyg.grad(lambda x, w, n: größe(x, w, n), (0, 1))(np.ones((5, 4)), np.eye(4), 2)
    """
    assert run(text) == "(4, 4)\n"


@each_in_long_turn
def test_threads_may_compile_when_the_program_ends():
    text = """
        import atexit, threading, time, zyg
        def at_the_end():
            time.sleep(0.2)
            print(zyg.grad(lambda x: np.sum(x * 3.0))(np.ones(2)))
        atexit.register(at_the_end)
        begun = threading.Event()
        def compile_on(n=0):
            while True:
                zyg.grad(lambda x, w, k: größe(x, w, k), (0, 1))(np.ones((5, 4)), np.eye(4), 2)
                begun.set()
        threading.Thread(target=compile_on, daemon=True).start()
        begun.wait()
    """
    assert run(text) == "[3. 3.]\n"


needs_forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")


@needs_forks
@each_in_long_turn
def test_who_forks_is_not_warned():
    text = """
        import os, sys, warnings, zyg
        zyg.grad(größe, (0, 1))(np.ones((5, 4)), np.eye(4), 2)
        warned = []
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            for n in range(3):
                child = os.fork()
                if child == 0:
                    os._exit(0)
                os.waitpid(child, 0)
        print(warned)
        zyg.settle()
    """
    assert run(text, OPENBLAS_NUM_THREADS="1") == "[]\n"


@needs_forks
@each_in_long_turn
def test_signals_while_a_fork_waits():
    text = """
        import os, signal, sys, threading, time, zyg
        def stop(*rest):
            raise KeyboardInterrupt
        def other():
            zyg.grad(lambda x: np.sum(x * 3.0))(np.ones(2))
            done.append(True)
        sys.unraisablehook = lambda told: None
        signal.signal(signal.SIGALRM, stop)
        for n in range(6):
            zyg.grad(lambda x, w, k: größe(x, w, k), (0, 1))(np.ones((5, 4)), np.eye(4), 2)
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.001 * (n + 1))
                child = os.fork()
                signal.setitimer(signal.ITIMER_REAL, 0)
                if child == 0:
                    os._exit(0)
            except (KeyboardInterrupt, SystemError):
                # (CPython's "error return without exception set", if a handler raises where os.fork is about to return.)
                signal.setitimer(signal.ITIMER_REAL, 0)
            done = []
            thread = threading.Thread(target=other, daemon=True)
            thread.start()
            thread.join(20)
            assert done
        print("done")
    """
    assert run(text) == "done\n"


@by_one_python_a_day
def test_what_programs_referred_to_goes_away_in_the_threads_of_the_program(program, held):
    class Told:
        def __del__(self):
            where.append(threading.current_thread().name)

    where = []
    zyg.grad(program, (0, 1))(*arguments())
    engine().graveyard.append(Told())
    held()
    zyg.settle()
    assert not where
    zyg.gradient(lambda x: np.sum(x * 5.0), np.ones(2))
    assert where == [threading.current_thread().name]


@needs_forks
@each_in_long_turn
def test_a_fork_waits_for_llvm_and_both_go_on():
    text = """
        import os, sys, time, zyg
        g = zyg.grad(größe, (0, 1))
        first = g(np.ones((5, 4)), np.eye(4), 2)
        children = []
        for n in range(6):
            time.sleep(0.01 * n)
            child = os.fork()
            if child == 0:
                again = g(np.ones((5, 4)), np.eye(4), 2)
                new = zyg.grad(lambda x, w, k: größe(x, w, k), (0, 1))(np.ones((5, 4)), np.eye(4), 2)
                zyg.settle()
                last = g(np.ones((5, 4)), np.eye(4), 2)
                ok = all(a.tobytes() == b.tobytes() for found in (again, new, last) for a, b in zip(first, found))
                os._exit(0 if ok else 1)
            children.append(child)
        zyg.settle()
        print([os.waitpid(child, 0)[1] for child in children])
    """
    assert run(text) == "[0, 0, 0, 0, 0, 0]\n"


@by_one_python_a_day
def test_threads_compile_meanwhile(program):
    g = zyg.grad(program, (0, 1))
    first = g(*arguments())
    results = []

    def work(n):
        zyg.gradient(lambda x: np.sum(np.exp(x) * n), np.ones(3))
        results.append(same(first, g(*arguments())))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    zyg.settle()
    assert results == [True] * 4


class Recorder:
    """A task of a background of its own."""

    def __init__(self, done, jobs=1, there=True, error=None):
        self.done, self.jobs, self.there, self.error = done, [Job(str(n)) for n in range(jobs)], there, error

    def wanted(self):
        return self.there

    def finish(self, objects):
        if self.error is not None:
            raise self.error
        self.done.append(objects)
        return True


class Slow:
    """In the place of a worker."""

    def __init__(self):
        self.begun, self.go_on = threading.Event(), threading.Event()

    def do(self, job):
        self.begun.set()
        self.go_on.wait()
        return job.text.encode()


def a_background():
    own = Background()
    own.worker = Slow()
    return own, own.worker


def test_tasks_are_done_in_turn_and_what_nobody_wants_is_left_out():
    own, worker = a_background()
    done = []
    worker.go_on.set()
    own.add(Recorder(done, 2))
    own.add(Recorder(done, there=False))
    own.add(Recorder(done, 3))
    own.settle()
    assert done == [[b"0", b"1"], [b"0", b"1", b"2"]]


def test_who_holds_it_waits_for_the_job_under_way_only():
    own, worker = a_background()
    done = []
    own.add(Recorder(done, 2))
    worker.begun.wait()
    threading.Timer(0.05, worker.go_on.set).start()
    with own.held():
        assert done == [] and own.is_held()
        own.settle()  # there is nothing to wait for, as long as it is held
    own.settle()
    assert done == [[b"0", b"1"]]


def test_nothing_is_begun_after_the_end_and_threads_may_add():
    own, worker = a_background()
    done = []
    own.add(Recorder(done))
    worker.begun.wait()
    threading.Timer(0.05, worker.go_on.set).start()
    own.end()
    assert [t for t in threading.enumerate() if t.name == "zyg compiles with care"] == []
    thread = threading.Thread(target=own.add, args=(Recorder(done),), daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()
    own.settle()
    assert not done


@needs_forks
def test_a_child_collects_garbage_though_another_thread_waits():
    own, worker = a_background()
    own.add(Recorder([]))
    thread = threading.Thread(target=own.settle)
    thread.start()
    while gc.isenabled():
        time.sleep(0.001)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads
        child = os.fork()
    if child == 0:
        os._exit(0 if gc.isenabled() else 1)
    worker.go_on.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0 and gc.isenabled()


def test_who_works_does_not_wait_for_itself():
    own, worker = a_background()
    done = []
    worker.go_on.set()
    task = Recorder(done)
    task.wanted = lambda: own.settle() is None
    own.add(task)
    own.settle()
    assert done == [[b"0"]]


def test_a_thread_whose_beginning_was_interrupted_does_nothing(monkeypatch):
    own, worker = a_background()
    done = []
    worker.go_on.set()
    start = threading.Thread.start

    def interrupted(self):
        start(self)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            own.add(Recorder(done))
    own.add(Recorder(done))
    own.settle()
    assert done == [[b"0"], [b"0"]]


def test_a_task_that_fails_does_not_stop_the_others(monkeypatch):
    own, worker = a_background()
    failed, done = [], []
    monkeypatch.setattr(threading, "excepthook", lambda args: failed.append(args.exc_type))
    worker.go_on.set()
    with own.held():
        own.add(Recorder(done, error=RuntimeError("no")))
        own.add(Recorder(done))
    own.settle()
    assert done == [[b"0"]] and failed == [RuntimeError]


def test_where_there_are_no_more_threads_it_is_tried_again(monkeypatch):
    own, worker = a_background()
    done = []
    worker.go_on.set()

    def refuse(self):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        own.add(Recorder(done))
    assert done == []
    own.settle()
    assert done == [[b"0"]]


def test_calls_go_through_pointers():
    name = "py.größe"
    text = f"declare i32 {symbol(name)}(ptr)\n  %r = tail call fastcc i32 {symbol(name)}(ptr {symbol('py.f')})\n  call void @py.f()\n"
    changed = through_pointers(text, {symbol(name)})
    at = pointer(symbol(name))
    assert changed.splitlines() == [
        f"{at} = external global ptr",
        f"declare i32 {symbol(name)}(ptr)",
        f'  %"to 1" = load ptr, ptr {at}',
        '  %r = tail call fastcc i32 %"to 1"(ptr @py.f)',
        "  call void @py.f()",
    ]
    assert name_of(at) == f"to {name}"
    assert through_pointers(text, set()) == text


def test_registers_of_functions_of_many_branches_are_chosen_quickly():
    """With care it takes LLVM seconds and minutes: each of many values comes from each of many blocks."""
    edges = ", ".join(f"[ %v{n}, %b{n} ]" for n in range(200))
    phis = "".join(f"  %p{n} = phi double {edges}\n" for n in range(60))
    assert job_of(Piece(phis, COMPUTES), False).generator == "quick"
    assert job_of(Piece(phis[: len(phis) // 3], COMPUTES), False).generator == "careful"
