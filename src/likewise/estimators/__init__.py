"""Interactive clustering estimators: one base class, and the methods built on it."""
