"""Channels relay what the core decided; the words are made once, in `card`."""
