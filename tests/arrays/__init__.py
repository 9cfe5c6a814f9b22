"""Every NumPy and SciPy function that compiled code knows, against NumPy itself: `python -m tests.arrays --count N --seed S`."""
