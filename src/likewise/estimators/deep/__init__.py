"""Deep clustering methods of the papers: CC, OCC, PCL and DSAC (needs torch)."""
