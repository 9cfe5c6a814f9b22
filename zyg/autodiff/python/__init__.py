"""The adjoint of Python functions as CPython runs them: from decoded SSA to the code objects of a forward and a reverse half.

The reversal is that of `zyg.autodiff.adjoint`, but what a program of objects does is known only when it runs, and its control
flow need not be structured.  So here

* the forward half records at each place where control meets which way it came, and the reverse half goes that way back.
  No loop has to be recognised: handlers of exceptions, irreducible graphs and generators are edges like others;
* operations on objects come with their pullbacks (`zyg.autodiff.objects`): the forward half keeps what they return;
* the tape is one flat list per call.

`normal` brings decoded SSA into the form that is differentiated, `activity` finds what carries no derivative whatever the
objects are, `adjoint` is the pass, and `differentiated` gives the code object of the forward half.
"""

from .compile import cleans_up, differentiated, forget_callees, halves, is_half, is_watched

__all__ = ["cleans_up", "differentiated", "forget_callees", "halves", "is_half", "is_watched"]
