"""`Likewise`: a Gaussian-process classifier on embeddings, refitted after every few answers."""
