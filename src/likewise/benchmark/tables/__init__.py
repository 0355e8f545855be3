"""From rows of results to tables: what is averaged, what stands beside it, how it is written."""
