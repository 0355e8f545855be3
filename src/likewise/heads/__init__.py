"""Small networks on top of features."""
