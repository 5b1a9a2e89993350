"""Campaigns: proofs and measurements against real processes, run by `bin/prove` and `bin/bench`.

Each one gets a whole Placet of its own in a throw-away place, shows its progress on standard error, and ends with one
JSON object as the last line of standard output.
"""
