"""What people are told of a broken glass after somebody looked at it."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from approvals import glass
from tests.approvals.test_glass import Duty
from tests.approvals.test_glass import duty as duty
from tests.cast import ask, refund

pytestmark = pytest.mark.usefixtures("heard")


def test_its_history_tells_what_was_found(duty: Duty) -> None:
    """AZ-16: who looked at it, whether it was right, and why."""
    approval = ask(duty.cast, refund())
    duty.broken(approval)
    refused = glass.review(duty.cast.northwind, approval, by=duty.cast.priya, finding="wrong", note="It could wait.")
    assert refused is None
    client = Client()
    client.force_login(duty.cast.dana)
    page = client.get(f"/w/northwind/approvals/{approval.public_id}").content.decode()
    told = re.sub("<[^>]+>", "", page)
    assert "Priya found that it was wrong to break the glass" in told and told.count("It could wait.") == 2
