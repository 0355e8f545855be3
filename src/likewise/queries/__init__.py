"""Which question to ask next."""
