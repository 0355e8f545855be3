"""Benchmark of `likewise`: data sets, baselines, runs, sweeps, tables and plots."""
