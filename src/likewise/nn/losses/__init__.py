"""Loss functions, grouped by what they act on."""
