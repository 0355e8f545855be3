"""Query strategies: which pairs of images to ask about next."""
