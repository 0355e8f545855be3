"""Published clustering methods to compare with: on the same vectors, oracle and budget."""
