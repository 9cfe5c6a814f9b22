"""`python -m tests.arrays --count N --seed S`: signatures of cases drawn at random, values and derivatives.

python -m tests.arrays                   every case once
python -m tests.arrays --count 500       500 signatures
python -m tests.arrays np.sum fft        the cases whose names hold one of these
python -m tests.arrays --second          second derivatives of every case, reverse and forward over reverse
python -m tests.arrays --what integers   derivatives by integers against those by floats of the same values
python -m tests.arrays --overwriting     what goes in and comes out is overwritten behind the call
"""

from __future__ import annotations

import argparse
import faulthandler
import itertools
import sys
import time

import numpy as np

from . import integers
from .cases import CASES
from .check import Checker, Refused, drawn
from .overwriting import overwriting
from .registered import covered, entries, with_entries


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.arrays", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("names", nargs="*")
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument(
        "--overwriting", action="store_true", help="with what goes in and comes out overwritten behind it"
    )
    parser.add_argument("--second", action="store_true", help="second derivatives only, of every case")
    parser.add_argument(
        "--what",
        nargs="*",
        choices=("values", "derivatives", "second", "python", "integers"),
        help="python: derivatives by the Python back end; integers: by integers against those by floats",
    )
    options = parser.parse_args()
    faulthandler.enable()
    known = entries()
    there = with_entries(CASES)
    absent = sorted({str(c).split("#")[0] for c in CASES if c not in there})
    chosen = [c for c in there if not options.names or any(n in str(c) for n in options.names)]
    print(f"{len(there)} cases of {len(CASES)}; without an entry: {', '.join(absent)}")
    print(f"entries without a case: {', '.join(sorted(set(known) - covered(CASES)))}\n", flush=True)
    rng = np.random.default_rng(options.seed)
    wrong = refused = done = 0
    begin = time.monotonic()
    picks = [chosen[int(i)] for i in rng.integers(len(chosen), size=options.count)] if options.count else chosen
    checkers: dict[int, Checker] = {}
    for c in picks:
        seed = int(rng.integers(2**31))
        if options.overwriting:
            changed = overwriting(c, drawn(c, np.random.default_rng(seed))) if c.derivative else None
            if changed is None:
                continue
            checkers[id(c)] = Checker(changed)
        checker = checkers.setdefault(id(c), Checker(c))
        for what in options.what or (("second",) if options.second else ("values", "derivatives")):
            if what != "values" and not c.derivative:
                continue
            if what == "second" and not c.second:
                continue
            own = np.random.default_rng(seed)
            if what == "integers":
                run = itertools.chain.from_iterable(
                    integers.mismatches(c, np.random.default_rng(seed), dtype, back_end)
                    for dtype in integers.DTYPES
                    for back_end in integers.BACK_ENDS
                )
            elif what == "values":
                run = checker.values(own, options.draws)
            elif what == "second":
                run = checker.second_derivatives(own)
            else:
                run = checker.through_python(own) if what == "python" else checker.derivatives(own)
            try:
                for text in run:
                    wrong += 1
                    print(f"WRONG {text}", flush=True)
                    break
            except (Refused, integers.Refusal) as error:
                refused += 1
                print(f"REFUSED {str(error)[:1000]}", flush=True)
            except Exception as error:
                wrong += 1
                print(f"ERROR {c} seed {seed}: {type(error).__name__}: {str(error)[:600]}", flush=True)
            done += 1
    print(f"\n{done} checks in {time.monotonic() - begin:.0f} s: {wrong} wrong, {refused} refused")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
