"""What turns prose, worked examples and the registry into the site, and refuses what would be wrong on it."""
