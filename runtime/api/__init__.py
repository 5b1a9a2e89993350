"""The API under /api/v1/, for machines and for people with a session. Approvals' own routes: `approvals/api*.py`."""
