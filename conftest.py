"""What pytest needs to know of the whole tree."""

import os

import pytest

# The links at the root show `zyg/ir` and `zyg/backend`; what is behind them is collected once, under zyg.
collect_ignore = ["ir", "backend", "build", "dist"]

# SSA is verified after every stage in all tests.
os.environ.setdefault("ZYG_VERIFY", "1")


@pytest.fixture(autouse=True)
def rules_of_examples_end(request):
    """A rule that an example of the docs registers (for np.linalg.norm, say) holds in that example only."""
    yield
    if isinstance(request.node, pytest.DoctestItem):
        from zyg import rules

        for kind, table in ("adjoint", rules._rules), ("tangent", rules._tangents):
            for rule in list(table.values()):
                if rule.function.__code__.co_filename.startswith("<doctest"):
                    rules.remove(rule.target, kind)
