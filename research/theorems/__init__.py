"""What the papers prove, measured on small problems."""
