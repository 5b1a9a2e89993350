"""Signing in, and confirming who one is: allauth's flows, with what Placet asks of them. Nobody signs up.

Who has a second factor is never asked for less: not at the sign-in, and not where they confirm that it is them.
"""

from __future__ import annotations

from approvals.signin.adapter import Adapter as Adapter
from approvals.signin.entering import confirm as confirm
from approvals.signin.entering import end_sessions as end_sessions
from approvals.signin.entering import enter as enter
from approvals.signin.entering import local as local
from approvals.signin.entering import sign_out_elsewhere as sign_out_elsewhere
from approvals.signin.entering import within_limits as within_limits
from approvals.signin.factors import Factor as Factor
from approvals.signin.factors import drop_factors as drop_factors
from approvals.signin.factors import factors as factors
from approvals.signin.proofs import unproven as unproven
