"""What pytest needs to know of the whole tree."""

import gc
import os

import pytest

# The links at the root show `zyg/ir` and `zyg/backend`; what is behind them is collected once, under zyg.
collect_ignore = ["ir", "backend", "build", "dist"]

# SSA is verified after every stage in all tests.
os.environ.setdefault("ZYG_VERIFY", "1")


@pytest.fixture(autouse=True)
def rules_end_with_their_test():
    """A rule that a test, or an example of the docs, registers (for np.linalg.norm, say) holds in it only."""
    from zyg import rules

    of_zyg = os.path.dirname(rules.__file__)
    tables = {"adjoint": rules._rules, "tangent": rules._tangents}
    before = {id(rule) for table in tables.values() for rule in table.values()}
    yield
    for kind, table in tables.items():
        for rule in list(table.values()):
            file = getattr(getattr(rule.function, "__code__", None), "co_filename", "")
            if id(rule) not in before and not file.startswith(of_zyg):  # zyg's own come with its library, by need
                rules.remove(rule.target, kind)


@pytest.fixture(autouse=True, scope="module")
def collections_leave_out_earlier_modules():
    """The garbage collector looks at what the tests of one module made. All that was compiled before, by other modules, is
    millions of objects: to go through them takes seconds, in each test that collects garbage and now and then in any other.

    By itself it looks less often than Python's thresholds have it, which would go through all of a module's again and again."""
    gc.set_threshold(10_000, 20, 20)
    gc.collect()
    gc.freeze()
