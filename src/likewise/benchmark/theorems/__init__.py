"""What the papers prove, measured: one file a theorem, each with its figure; docs/theorems.md."""
