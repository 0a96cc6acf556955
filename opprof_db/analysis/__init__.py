"""What the numbers mean: what may be compared, what changed, what holds a kernel back. Reads through views only."""
