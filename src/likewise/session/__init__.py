"""One person's work on disk: the answer log, orientations, export."""
