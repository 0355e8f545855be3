"""Sweeps: many runs from one file, in parallel processes, resumable."""
