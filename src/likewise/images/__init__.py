"""Image collections from folders, lists of paths and arrays; unreadable files are skipped."""
