"""Sessions in the database, closed: what a session holds (a comment typed, a secret not yet confirmed, an answer that a
provider owes) is read with our key alone, and counts under the name of that one session alone."""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session

from approvals.ledger import boxes, keys
from approvals.ledger.sealing import Tampered


class SessionStore(db.SessionStore):
    """Django's own store of sessions; only how a session is written out is ours. A row copied under another name, by
    somebody who may write into the database, holds nothing."""

    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session

    @property
    def _place(self) -> str:
        return f"django_session.session_data:{self.session_key or ''}"

    def encode(self, session_dict: dict[str, Any]) -> str:
        clear = self.serializer().dumps(session_dict)
        return urlsafe_b64encode(boxes.close("session", clear, place=self._place)).decode()

    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        """What a session holds; one that was not closed here is empty, and its person signs in again."""
        text = session_data.encode() if isinstance(session_data, str) else session_data
        try:
            return dict(self.serializer().loads(boxes.reopen("session", urlsafe_b64decode(text), place=self._place)))
        except (Tampered, keys.UnknownKey, binascii.Error, ValueError):
            return {}
