"""Derivatives taken inside compiled code (being written by the lead; infer helper: please leave this file)."""
