"""Whether an exception that is raised now is caught by differentiated code.

A handler undoes what a call had done before the exception left it. So functions that are called while a `try` body runs
are called in their watched form, which leaves a pullback with what is raised in them; at all other times in their plain form.
"""

from __future__ import annotations

# An item per `try` body that is being run, in any thread. (Exactly a list, which emitted code looks at.)
bodies: list[None] = []

# For emitted code.
ENTER, LEAVE = bodies.append, bodies.pop


def enter() -> None:
    """What is called from here on may raise what the caller catches."""
    bodies.append(None)


def leave() -> None:
    bodies.pop()


__all__ = ["ENTER", "LEAVE", "bodies", "enter", "leave"]
