"""The seam: all that the machine may ask of approvals. Nothing else of this app is imported by it."""

from __future__ import annotations

from approvals import halts, rights, starting
from approvals.answered import Answer, answer
from approvals.approvals import expire_due, open_among, resolution, withdraw
from approvals.asked import Asked, Held, ask
from approvals.changes import Change
from approvals.changes import held as propose
from approvals.clearance import REHEARSED, Cleared, Lapsed, NotCleared, clearance, lapsed
from approvals.concerns import of as concerns
from approvals.deadlines import do_due
from approvals.departures import TELLS
from approvals.edits.places import ABSENT
from approvals.edits.tree import Tree
from approvals.edits.tree import grow as tree
from approvals.erasure import StillOpen, erase
from approvals.filing import file_all
from approvals.fresh import confirm_at
from approvals.habits import look_around
from approvals.judgements import Judgement, hold, judge, refuse
from approvals.ledger_places import tabs as ledger_tabs
from approvals.masking import NOTHING_MASKED, Masked
from approvals.masking import in_chain as masked
from approvals.masking import now as masked_now
from approvals.outcomes import report
from approvals.people import LEAVING, holders, may, names
from approvals.people import named as person_named
from approvals.pins import Pin, pin, value_at
from approvals.pins import of as pin_of
from approvals.places import Place
from approvals.places import add as add_place
from approvals.policies import NeedsApproval, changing
from approvals.policy_diff import inside as differences
from approvals.previews import Foreseen
from approvals.previews import attach as attach_preview
from approvals.previews import read as read_preview
from approvals.previews import wanted as preview_wanted
from approvals.proposals import Proposal, ToolFacts, covered
from approvals.resolutions import Resolution
from approvals.schemas import Admission, Inadmissible, admit
from approvals.schemas.order import order_of, ordered
from approvals.sought import forget_settled, look_through
from approvals.verifications import due as verifications_due
from approvals.verifications import go_on as verify_on
from approvals.votes import Refused
from approvals.vouched import may as vouched_may
from approvals.workspaces import entered as workspace_of
from approvals.workspaces import named as workspace_named
from approvals.workspaces import of_person as workspaces_of
from approvals.workspaces import only as only_workspace

__all__ = [
    "ABSENT",
    "LEAVING",
    "NOTHING_MASKED",
    "REHEARSED",
    "TELLS",
    "Admission",
    "Answer",
    "Asked",
    "Change",
    "Cleared",
    "Foreseen",
    "Held",
    "Inadmissible",
    "Judgement",
    "Lapsed",
    "Masked",
    "NeedsApproval",
    "NotCleared",
    "Pin",
    "Place",
    "Proposal",
    "Refused",
    "Resolution",
    "StillOpen",
    "ToolFacts",
    "Tree",
    "add_place",
    "admit",
    "answer",
    "ask",
    "attach_preview",
    "changing",
    "clearance",
    "concerns",
    "confirm_at",
    "covered",
    "differences",
    "do_due",
    "erase",
    "expire_due",
    "file_all",
    "forget_settled",
    "halts",
    "hold",
    "holders",
    "judge",
    "lapsed",
    "ledger_tabs",
    "look_around",
    "look_through",
    "masked",
    "masked_now",
    "may",
    "names",
    "only_workspace",
    "open_among",
    "order_of",
    "ordered",
    "person_named",
    "pin",
    "pin_of",
    "preview_wanted",
    "propose",
    "read_preview",
    "refuse",
    "report",
    "resolution",
    "rights",
    "starting",
    "tree",
    "value_at",
    "verifications_due",
    "verify_on",
    "vouched_may",
    "withdraw",
    "workspace_named",
    "workspace_of",
    "workspaces_of",
]
