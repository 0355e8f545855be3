"""Data sets, protocol, runs: every method on equal terms."""
