"""How well a clustering agrees with known labels."""
