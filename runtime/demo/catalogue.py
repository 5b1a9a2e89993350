"""The payments service as Placet is told of it: four endpoints, each described as MCP describes a tool."""

from __future__ import annotations

from typing import Any, Final

CHARGE: Final = {"type": "string", "title": "Charge", "pattern": "^ch_[0-9A-Za-z]{1,40}$"}
CUSTOMER: Final = {"type": "string", "title": "Customer", "minLength": 1, "maxLength": 120}

GET_CHARGE: Final[dict[str, Any]] = {
    "name": "payments.get_charge",
    "title": "Look up a charge",
    "description": "What was paid, by whom, and how much of it has been given back. Amounts are in cents.",
    "inputSchema": {
        "type": "object",
        "additionalProperties": False,
        "required": ["charge"],
        "properties": {"charge": CHARGE},
    },
    "annotations": {"readOnlyHint": True},
    "placet": {"timeout_seconds": 10},
}

CREATE_REFUND: Final[dict[str, Any]] = {
    "name": "payments.create_refund",
    "title": "Create a refund",
    "description": "Give back a part of a charge, or all of it. The money leaves at once and cannot be called back.",
    "inputSchema": {
        "type": "object",
        "additionalProperties": False,
        "required": ["charge", "amount", "currency", "customer", "reason"],
        "properties": {
            "customer": CUSTOMER,
            "amount": {
                "type": "integer",
                "title": "Amount",
                "description": "How much to give back. Sent in cents.",
                "minimum": 1,
                "maximum": 100000000,
            },
            "currency": {"enum": ["EUR", "GBP", "SEK"], "title": "Currency"},
            "charge": CHARGE,
            "reason": {
                "enum": ["damaged", "wrong item", "charged twice", "service not used", "goodwill"],
                "title": "Reason",
                "description": "What the shop's books say about it.",
            },
            "note": {
                "type": "string",
                "title": "Note",
                "description": "Stands on the customer's statement.",
                "maxLength": 140,
            },
        },
    },
    "annotations": {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True},
    "placet": {"timeout_seconds": 20, "preview": {"tool": "payments.preview_refund"}},
}

PREVIEW_REFUND: Final[dict[str, Any]] = {
    "name": "payments.preview_refund",
    "title": "Preview a refund",
    "description": "What a refund would change. Nothing is given back.",
    "inputSchema": CREATE_REFUND["inputSchema"],
    "annotations": {"readOnlyHint": True},
    "placet": {"timeout_seconds": 5},
}

CLOSE_ACCOUNT: Final[dict[str, Any]] = {
    "name": "payments.close_account",
    "title": "Close an account",
    "description": "Close a customer's account for good.",
    "inputSchema": {
        "type": "object",
        "additionalProperties": False,
        "required": ["customer"],
        "properties": {"customer": CUSTOMER},
    },
    "annotations": {"readOnlyHint": False, "destructiveHint": True},
    "placet": {"timeout_seconds": 20},
}

ENDPOINTS: Final[tuple[dict[str, Any], ...]] = (
    {"definition": GET_CHARGE, "effect": "pure", "summary": "Look up charge {/charge}", "risk": "low"},
    {"definition": PREVIEW_REFUND, "effect": "pure", "summary": "Preview a refund to {/customer}", "risk": "low"},
    {
        "definition": CREATE_REFUND,
        "effect": "keyed",
        "summary": "Refund {/amount|money} to {/customer}",
        "risk": "high",
    },
    {
        "definition": CLOSE_ACCOUNT,
        "effect": "natural",
        "summary": "Close the account of {/customer}",
        "risk": "high",
    },
)
"""Definition, effect class, summary and risk of each, as `definitions.register_tool` takes them."""
