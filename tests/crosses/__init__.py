"""Crosses of features with features, written by hand: every kind of operand with every way to use it, in every mode of differentiation."""
