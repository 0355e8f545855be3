"""Many runs: read from a file, done in parallel, kept line by line, gone on with after a stop."""
