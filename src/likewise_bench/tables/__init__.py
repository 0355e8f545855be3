"""Tables from result rows."""
