"""No page is left out: each address that shows one stands among the scenes, or is said to show none."""

from __future__ import annotations

from contextlib import suppress

import pytest
from django.test import Client
from django.urls import Resolver404, get_resolver, resolve, reverse

from tests.approvals.pages.conftest import Reads
from tests.cast import Cast
from tests.scenes import places

pytestmark = [pytest.mark.committed, pytest.mark.usefixtures("heard")]
IN_THE_GALLERY = {"run", "call", "checkpoint", "agent", "tool", "grant", "ask_grant"}
"""Made by tests/runtime/gallery.py and exhibits.py."""
OF_SIGNING_IN = {
    *("account_login", "account_reauthenticate", "join", "reset", "mfa_index", "mfa_list_webauthn"),
    *("mfa_authenticate", "mfa_reauthenticate", "mfa_reauthenticate_webauthn", "mfa_view_recovery_codes"),
    *("mfa_generate_recovery_codes", "mfa_deactivate_totp", "mfa_edit_webauthn", "mfa_remove_webauthn"),
}
"""Looked at in tests/approvals/pages/test_account_pages.py, in the middle of what people do there."""
NO_PAGE_OF_THEIR_OWN = {
    *("healthz", "metrics", "home", "live", "history", "ledger_export", "look", "looks", "account_logout"),
    *("mfa_login_webauthn", "oidc_first", "oidc_begin", "oidc_confirm", "oidc_link", "oidc_callback"),
}
"""What answers with words for a program, with a part of a page, or by leading elsewhere."""


def unseen(names: set[str], client: Client) -> set[str]:
    """Those of the names whose address answers a reader: the others take what is posted, and nothing else."""
    slots = get_resolver().reverse_dict
    found = set()
    for name in names:
        _, parts = slots.getlist(name)[0][0][0]
        filled = {part: "northwind" if part == "slug" else "1" for part in parts}
        if client.get(reverse(name, kwargs=filled)).status_code != 405:
            found.add(name)
    return found


def test_every_page_is_a_scene(cast: Cast, reads: Reads) -> None:
    seen = IN_THE_GALLERY | OF_SIGNING_IN | NO_PAGE_OF_THEIR_OWN
    for _, _, path, _ in places.of(cast):
        with suppress(Resolver404):
            seen.add(str(resolve(path.partition("?")[0]).url_name))
    names = {name for name in get_resolver().reverse_dict if isinstance(name, str)}
    assert sorted(unseen(names - seen, reads(cast.omar))) == []
