"""The index of this app's tables; each is written in the file of its noun."""

from approvals.approvals import Approval as Approval
from approvals.decisions import Decision as Decision
from approvals.people import Membership as Membership
from approvals.people import Person as Person
from approvals.people import Team as Team
from approvals.people import Workspace as Workspace
from approvals.policies import Policy as Policy
from approvals.revisions import Revision as Revision
from approvals.rulings import Ruling as Ruling
