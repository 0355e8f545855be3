"""Theorems of the papers, checked numerically on small problems."""
