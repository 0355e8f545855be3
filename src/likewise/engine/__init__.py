"""Device, precision, processes, the loop. Nothing here knows what a cluster is."""
