"""Image embeddings: encoders, the embedding loop and the cache of computed vectors.

Importing this package, its registry or the bundled encoder never imports torch.
"""
