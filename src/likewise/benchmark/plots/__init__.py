"""Figures, each from rows of results or from a run made for it; the same input, the same file."""
