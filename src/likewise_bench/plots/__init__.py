"""Figures from result rows or from a run."""
