"""Pictures in: folders, lists of paths, arrays; broken files are named and left out."""
