"""The pages on which people read what waits for them and say yes or no."""
