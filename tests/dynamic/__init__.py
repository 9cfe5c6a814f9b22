"""Random dynamic programs (containers, objects, exceptions, closures, generators) against CPython and dual numbers."""
