"""From pictures to vectors, computed once and kept."""
