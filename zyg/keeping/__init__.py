"""Whole programs on disk: a later process that makes the same call finds machine code, and what has to be known of it, without
inference.

    describing.py   what an object is, in terms that mean the same in every process
    places.py       the ways to the objects that a program refers to
    programs.py     the entries: what is written, and when it is valid
"""
