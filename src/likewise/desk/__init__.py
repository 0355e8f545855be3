"""Orientations at work: questions ready, answers kept, a trainer beside; for page and terminal."""
