"""The page and its HTTP API; this process imports neither torch nor scikit-learn."""
