"""The likewise command."""
