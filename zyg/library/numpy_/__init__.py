"""NumPy: one entry per function, in the module of its concept.

Arrays are passed as they are; what loops over elements is Python code, whose indices are in range by construction and so
are not checked (`unchecked`).  What is done element by element says what it does to numbers (`ufuncs.ufunc`).
"""
