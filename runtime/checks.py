"""What is checked when a process starts."""
