"""The page and its JSON API; no torch in this process."""
