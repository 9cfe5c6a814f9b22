"""scipy.special."""
