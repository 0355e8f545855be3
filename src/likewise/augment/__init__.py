"""Views: what 'the same picture' means before anyone is asked."""
