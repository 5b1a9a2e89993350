"""How bodies are read: as strictly as the arguments of a call. One text has one meaning, or it is refused."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja.parser import Parser

from approvals.ledger import canonical
from runtime.api.errors import CODES, Problem


class StrictParser(Parser):
    """Bodies are JSON without doubled keys, NaN, numbers that change by reading, or halves of characters."""

    def parse_body(self, request: HttpRequest) -> Any:
        """The value of the body. Raises Problem or Unrepresentable, with the place of the fault."""
        if request.content_type != "application/json":
            raise Problem(415, *CODES[415], field="Content-Type")
        # 1.0 is not an integer to those who read a body's members; as a value of arguments or state it is 1 again.
        return canonical.parse(request.body, whole=False)
