"""zyg: gradients of Python functions, compiled."""
