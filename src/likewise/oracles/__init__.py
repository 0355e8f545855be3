"""Oracles: simulated annotators, replayed answers, and a person at a terminal."""
