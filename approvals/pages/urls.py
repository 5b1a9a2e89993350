"""The pages of people."""

from __future__ import annotations

from django.urls import path

from approvals.pages import edit, history, inbox, live, review

urlpatterns = [
    path("", inbox.home, name="home"),
    path("w/<slug:slug>/", inbox.inbox, name="inbox"),
    path("w/<slug:slug>/approvals/<str:approval_id>", review.review, name="review"),
    path("w/<slug:slug>/approvals/<str:approval_id>/decision", review.decision, name="decision"),
    path("w/<slug:slug>/approvals/<str:approval_id>/edit", edit.edit, name="edit"),
    path("w/<slug:slug>/history", history.history, name="history"),
    path("w/<slug:slug>/live", live.live, name="live"),
]
