"""Random Python programs that zyg has to run as CPython does and differentiate as dual numbers do."""
