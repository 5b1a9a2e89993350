"""The ledger and what it stands on: canonical bytes, keys, sealing, chains of entries, and their verification."""
