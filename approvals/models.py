"""The index of this app's tables; each is written in the file of its noun."""

from approvals.approvals import Approval as Approval
from approvals.comments import Comment as Comment
from approvals.deputies import Absence as Absence
from approvals.due_steps import DueStep as DueStep
from approvals.filing import Filed as Filed
from approvals.glass import GlassReview as GlassReview
from approvals.grants import Grant as Grant
from approvals.grants import GrantUse as GrantUse
from approvals.halts import Halt as Halt
from approvals.hours import WorkingHours as WorkingHours
from approvals.identities import Identity as Identity
from approvals.invitations import Invitation as Invitation
from approvals.ledger.entries import Chain as Chain
from approvals.ledger.entries import Entry as Entry
from approvals.ledger.keys import KeyCheck as KeyCheck
from approvals.ledger.sealing import DataKey as DataKey
from approvals.people import Membership as Membership
from approvals.people import Person as Person
from approvals.people import Team as Team
from approvals.people import Workspace as Workspace
from approvals.policies import Policy as Policy
from approvals.resets import Reset as Reset
from approvals.revisions import Revision as Revision
from approvals.rulings import Ruling as Ruling
from approvals.said import Decision as Decision
from approvals.watchers import Watcher as Watcher
