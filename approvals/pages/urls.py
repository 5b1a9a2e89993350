"""The pages of people."""

from __future__ import annotations

from django.urls import path

from approvals.pages import (
    account,
    edit,
    export,
    glass,
    history,
    hours,
    inbox,
    ledger,
    live,
    metrics,
    nudge,
    oversight,
    people,
    provider,
    remarks,
    review,
    saved,
    verification,
)
from approvals.pages.policy import draft, rule, writing
from approvals.pages.policy import page as policy

urlpatterns = [
    path("", inbox.home, name="home"),
    path("accounts/", account.account, name="account"),
    path("accounts/hours/", hours.hours_page, name="hours"),
    path("accounts/others/", account.sign_out_elsewhere, name="sign_out_elsewhere"),
    path("accounts/join/", account.join, name="join"),
    path("accounts/reset/", account.reset, name="reset"),
    path("accounts/identities/<str:identity>/unlink/", account.unlink, name="unlink"),
    path("accounts/oidc/first/", provider.first, name="oidc_first"),
    path("accounts/oidc/<str:short>/", provider.begin, name="oidc_begin"),
    path("accounts/oidc/<str:short>/confirm/", provider.confirm, name="oidc_confirm"),
    path("accounts/oidc/<str:short>/link/", provider.link, name="oidc_link"),
    path("accounts/oidc/<str:short>/callback/", provider.callback, name="oidc_callback"),
    path("metrics", metrics.metrics, name="metrics"),
    path("w/<slug:slug>/", inbox.inbox, name="inbox"),
    path("w/<slug:slug>/approvals/<str:approval_id>", review.review, name="review"),
    path("w/<slug:slug>/approvals/<str:approval_id>/decision", review.decision, name="decision"),
    path("w/<slug:slug>/approvals/<str:approval_id>/comments", remarks.comment, name="comment"),
    path("w/<slug:slug>/approvals/<str:approval_id>/edit", edit.edit, name="edit"),
    path("w/<slug:slug>/approvals/<str:approval_id>/glass", glass.review, name="glass"),
    path("w/<slug:slug>/approvals/<str:approval_id>/nudge", nudge.nudge, name="nudge"),
    path("w/<slug:slug>/history", history.moved, name="history"),
    path("w/<slug:slug>/ledger", history.ledger, name="ledger"),
    path("w/<slug:slug>/ledger/entries", ledger.entries, name="ledger_entries"),
    path("w/<slug:slug>/ledger/entries/<str:entry_id>", ledger.entry, name="ledger_entry"),
    path("w/<slug:slug>/policy", policy.page, name="policy"),
    path("w/<slug:slug>/policy/drafts", draft.begin, name="policy_begin"),
    path("w/<slug:slug>/policy/drafts/<str:draft_id>", draft.page, name="policy_draft"),
    path("w/<slug:slug>/policy/drafts/<str:draft_id>/text", writing.page, name="policy_text"),
    path("w/<slug:slug>/policy/drafts/<str:draft_id>/rule", rule.page, name="policy_rule"),
    path("w/<slug:slug>/policy/drafts/<str:draft_id>/act", draft.act, name="policy_act"),
    path("w/<slug:slug>/ledger/export", export.export, name="ledger_export"),
    path("w/<slug:slug>/ledger/filters", saved.save, name="filter_save"),
    path("w/<slug:slug>/ledger/filters/<str:filter_id>/remove", saved.remove, name="filter_remove"),
    path("w/<slug:slug>/ledger/verification", verification.page, name="verification"),
    path("w/<slug:slug>/oversight", oversight.page, name="oversight"),
    path("w/<slug:slug>/people", people.page, name="people"),
    path("w/<slug:slug>/people/<str:invitation>/withdraw", people.withdraw, name="withdraw_invitation"),
    path("w/<slug:slug>/live", live.live, name="live"),
]
