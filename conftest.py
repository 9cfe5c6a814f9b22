"""What pytest needs to know of the whole tree."""

import os

# The links at the root show `zyg/ir` and `zyg/backend`; what is behind them is collected once, under zyg.
collect_ignore = ["ir", "backend", "build", "dist"]

# SSA is verified after every stage in all tests.
os.environ.setdefault("ZYG_VERIFY", "1")
