"""Derivatives computed in ways that share nothing with zyg: dual numbers and differences."""
