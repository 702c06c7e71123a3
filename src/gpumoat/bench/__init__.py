"""What to run on a real GPU. The results are committed under ``data/measurements``; pages render from those."""
