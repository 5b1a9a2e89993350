"""Sought: by which words of their arguments open approvals are found, with nothing of them in clear.

A word is kept as a token: the first eight bytes of an HMAC of the whole word, folded, under a key of its workspace that
is not in the database. Who reads the table learns which approvals share a word, and no word. Tokens are made by the
sweep, after the approval was opened or edited, and go with what they are of: when it is edited, erased, or was settled
some days ago, or when policy comes to mask a field. What is masked or secret has none.
"""

from __future__ import annotations

import hmac
import logging
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from hashlib import sha256
from itertools import islice
from typing import Any, Final
from uuid import UUID

from django.db import DatabaseError, models

from approvals import edits, masking, policies, revisions, rows
from approvals.approvals import ENDED, Approval
from approvals.edits import money
from approvals.edits.view import View, root
from approvals.ledger import canonical, keys
from approvals.people import Workspace
from approvals.policies import Policy
from approvals.revisions import Revision
from approvals.rulings import UNPROVEN

log = logging.getLogger(__name__)

MOST: Final = 100
"""So many different words of one approval are kept: the first ones, in the order in which its page shows them."""
MOST_OF_ONE: Final = 20
"""So many of them are of one value, so that a long text leaves room for the others."""
READ: Final = 4_000
"""So many characters of one value are looked at."""
LONGEST: Final = 64
KEPT_FOR: Final = timedelta(days=2)
"""For so long what was settled can be found."""
_WORD: Final = re.compile(r"\d+\.\d+|\w+")
_THOUSANDS: Final = re.compile(r"(?<=\d)[,'’](?=\d{3}(?!\d))")


class Token(models.Model):
    """That an approval has a word. A number below zero is no word: it says that revision number ``-token`` is yet to be
    looked through."""

    id = models.BigAutoField(primary_key=True)
    workspace = models.ForeignKey("approvals.Workspace", models.PROTECT, related_name="+")
    approval = models.ForeignKey("approvals.Approval", models.PROTECT, related_name="+")
    token = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "token", "approval"], name="one_token_of_a_word")]
        indexes = [models.Index(fields=["approval"], condition=models.Q(token__lt=0), name="approvals_to_look_through")]

    def __str__(self) -> str:
        return f"{self.token:x}"


# The words of a text


def words(text: str) -> Iterator[str]:
    """The words of a text as they are compared: folded, figures without their thousands' marks, ``1240.00`` also as
    ``1240``. Single letters and what is longer than LONGEST are no words."""
    folded = unicodedata.normalize("NFKC", text[:READ]).casefold()
    for found in _WORD.finditer(_THOUSANDS.sub("", folded)):
        word = found[0].strip("_")
        if 1 < len(word) <= LONGEST or word.isdigit():
            yield word
            if "." in word:
                yield word.partition(".")[0]


def words_of(approval: Approval, revision: Revision) -> list[str]:
    """The words of a revision that tokens are made of. Raises what reading it raises where it is not as it was
    written."""
    tool = edits.Tool(approval.schema, money.hints(approval.summary), masking.of(approval))
    args = canonical.parse(revisions.args_of(revision))
    found = dict.fromkeys(word for text in _texts(root(tool, args)) for word in _some(text))
    return list(islice(found, MOST))


def _some(text: str) -> list[str]:
    return list(islice(dict.fromkeys(words(text)), MOST_OF_ONE))


def _texts(place: View) -> Iterator[str]:
    """The values of a place and inside of it, without those that nobody may see."""
    if place.secret:
        return
    if isinstance(place.value, (dict, list)):
        for child in place.children():
            yield from _texts(child)
    elif isinstance(place.value, str):
        yield place.value
    elif isinstance(place.value, (int, float)) and not isinstance(place.value, bool):
        amount = money.readable(place.value, place.currency) if place.currency else None
        yield f"{place.value} {amount or ''}"


# Tokens


def token(workspace_id: UUID, word: str, number: int) -> int:
    """The token of a word in a workspace under the root key of this number. Raises UnknownKey."""
    key = hmac.digest(keys.derive("search", number), workspace_id.bytes, sha256)
    return int.from_bytes(hmac.digest(key, word.encode(), sha256)[:8], "big") >> 1


def numbers() -> set[int]:
    """The root keys under which tokens may have been made."""
    return {keys.current(), *keys.KeyCheck.objects.values_list("number", flat=True)}


def having(workspace_id: UUID, text: str, numbers: Iterable[int]) -> models.Q | None:
    """What makes an approval one that has all words of a text, by tokens under these root keys; None where the text has
    none."""
    wanted = list(dict.fromkeys(words(text)))[:MOST_OF_ONE]
    if not wanted:
        return None
    condition = models.Q()
    for word in wanted:
        same = Token.objects.filter(workspace=workspace_id, token__in=_under_each(workspace_id, word, numbers))
        condition &= models.Q(pk__in=same.values("approval_id"))
    return condition


def _under_each(workspace_id: UUID, word: str, numbers: Iterable[int]) -> list[int]:
    found = []
    for number in sorted(numbers):
        try:
            found.append(token(workspace_id, word, number))
        except keys.UnknownKey:
            continue  # nothing that was written with it can be found any more
    return found


# Verbs


def mark(approval: Approval, revision: Revision) -> None:
    """Have the sweep look through a revision that was just written; in its transaction."""
    to_do = Token(workspace_id=approval.workspace_id, approval=approval, token=-revision.number)
    Token.objects.bulk_create([to_do], ignore_conflicts=True)


revisions.ADDED.append(mark)


def look_through(limit: int = 100) -> int:
    """Make the tokens of what was opened or edited, each approval's in a transaction of its own. Returns how many were
    looked through. One that fails keeps no other waiting."""
    marked = Token.objects.filter(token__lt=0).order_by("pk").values_list("workspace_id", "approval_id")[:limit]
    return sum(_look_through(*one) for one in dict.fromkeys(marked))


def _look_through(workspace_id: UUID, key: UUID) -> bool:
    try:
        with rows.within(workspace_id):
            # No policy comes into force meanwhile that would mask a field of it.
            policies.lock(Workspace(pk=workspace_id))
            approval = Approval.objects.get(pk=key)
            Token.objects.filter(approval=approval, token__gte=-approval.revision).delete()
            Token.objects.bulk_create(_made(approval))
        return True
    except DatabaseError as fault:
        log.warning("The words of %s cannot be noted: %s", rows.public_id(Approval.PREFIX, key), fault)
        return False


def _made(approval: Approval) -> list[Token]:
    if approval.status != Approval.Status.PENDING:
        return []
    try:
        found = words_of(approval, revisions.current_revision(approval))
    except UNPROVEN as fault:
        log.warning("%s is found by no word: %s", approval.public_id, fault)
        return []
    number = keys.current()
    made = {token(approval.workspace_id, word, number) for word in found}
    return [Token(workspace_id=approval.workspace_id, approval=approval, token=each) for each in sorted(made)]


def forget_masked(workspace_id: UUID, before: Policy | None, now: Policy) -> None:
    """Forget the words of every tool of which policy masks more from now on, and look anew through what is open; in the
    transaction in which the policy comes into force."""
    old, new = _masks(before), _masks(now)
    grown = [tool for tool, places in new.items() if not set(places) <= set(old.get(tool, ()))]
    if not grown:
        return
    theirs = Approval.objects.filter(workspace=workspace_id, tool__in=grown)
    Token.objects.filter(approval__in=theirs).delete()
    for approval in theirs.filter(status=Approval.Status.PENDING).only("pk", "workspace_id", "revision").iterator(500):
        to_do = Token(workspace_id=workspace_id, approval=approval, token=-approval.revision)
        Token.objects.bulk_create([to_do], ignore_conflicts=True)


def _masks(policy: Policy | None) -> Mapping[str, Any]:
    try:
        return policy.contents.get("masks", {}) if policy else {}
    except UNPROVEN:
        return {}


policies.IN_FORCE.append(forget_masked)


def forget_settled(limit: int = 500) -> int:
    """Forget the words of what was settled longer ago than KEPT_FOR. Returns of how many approvals."""
    ended = Approval.objects.filter(ENDED, decided_at__lt=rows.now() - KEPT_FOR, pk=models.OuterRef("approval"))
    old = Token.objects.filter(models.Exists(ended)).values_list("workspace_id", "approval_id").distinct()[:limit]
    for workspace_id, key in (found := list(old)):
        with rows.within(workspace_id):
            Token.objects.filter(approval=key).delete()
    return len(found)


def erase(workspace_id: UUID, chain: str) -> None:
    """Forget the words of a chain's approvals; in the transaction that erases them."""
    mine = Approval.objects.filter(workspace=workspace_id, chain=chain)
    Token.objects.filter(approval__in=mine).delete()
