"""A session at work: criteria with their question queues, results and edits, and the worker."""
