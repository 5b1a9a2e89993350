"""One rule of a draft, written by a form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from approvals import policy_drafts, policy_source, rows
from approvals.pages.door import Visit
from approvals.pages.policy import fields, rule_form, trial, whens
from approvals.pages.policy.draft import address, draft_of, number_of, writer
from approvals.pages.policy.drafting import Drafted
from approvals.pages.policy.page import names
from approvals.pages.policy.rule_form import RuleForm
from approvals.policies import PolicyFault
from approvals.policy_documents import KINDS
from approvals.policy_drafts import Draft
from approvals.votes import Refused

VERDICTS = {
    "require_approval": ("People are asked", "and the agent waits for them"),
    "allow": ("It goes at once", "nobody is asked"),
    "deny": ("It is refused", "and the agent is told why"),
}


@require_http_methods(["GET", "HEAD", "POST"])
@writer
def page(request: Visit, draft_id: str) -> HttpResponse:
    """The form for the rule that the address names, or for a new one; what is sent is put into the draft."""
    draft = draft_of(request, draft_id)
    with rows.within(request.workspace):
        drafted = Drafted(request.workspace, draft, request.user)
        source, teams = drafted.source, names(request.workspace)
        if source is None:
            messages.warning(request, "Mend the text first: it cannot be read, so no rule of it can be shown.")
            return redirect(address(request, draft, "policy_text"))
        index = _index(request, source)
        old = source["rules"][index] if index is not None else rule_form.NEW
        place = (len(source["rules"]) if index is None else index) + 1
        if request.method != "POST":
            return _shown(request, drafted, rule_form.of_rule(old, place), index)
        form = rule_form.of_post(request.POST, teams, old)
        gone = request.POST.get("do") == "remove" and index is not None
        try:
            rule = None if gone else _checked(request, source, form, index)
        except PolicyFault as fault:
            return _shown(request, drafted, form, index, fault=fault)
    done = rule_form.put(source, index, rule, form.place)
    answer = policy_drafts.save(draft, by=request.user, number=number_of(request), text=policy_source.text(done))
    if isinstance(answer, Refused):
        return _refused(request, draft, form, index, answer)
    messages.success(request, f"Rule {form.id if rule else old.get('id')} is {'saved' if rule else 'removed'}.")
    return redirect(address(request, draft) + (f"#rule-{rule['id']}" if rule else ""))


def _index(request: Visit, source: Mapping[str, Any]) -> int | None:
    """Where the rule stands that the address names; None for a new one. Raises Http404."""
    wanted = request.GET.get("rule", "")
    if not wanted:
        return None
    found = next((index for index, rule in enumerate(source["rules"]) if rule.get("id") == wanted), None)
    if found is None:
        raise Http404
    return found


def _checked(request: Visit, source: Mapping[str, Any], form: RuleForm, index: int | None) -> dict[str, Any]:
    rule = rule_form.rule_of(form)
    others = [str(each.get("id")) for number, each in enumerate(source["rules"]) if number != index]
    rule_form.check(request.workspace, source, rule, others)
    return rule


def _refused(request: Visit, draft: Draft, form: RuleForm, index: int | None, refused: Refused) -> HttpResponse:
    with rows.within(request.workspace):
        fresh = policy_drafts.named(request.workspace, draft.public_id) or draft
        return _shown(request, Drafted(request.workspace, fresh, request.user), form, index, refused=refused)


def _shown(request: Visit, drafted: Drafted, form: RuleForm, index: int | None, **more: Any) -> HttpResponse:
    fault: PolicyFault | None = more.get("fault")
    part = fault.pointer.split("/")[1] if fault and fault.pointer else ""
    known = {field.name for field in fields.FIELDS} | {"id", "match", "verdict", "approvals"}
    told: dict[str, Any] = {
        "here": "policy",
        "drafted": drafted,
        "draft": drafted.draft,
        "form": form,
        "is_new": index is None,
        "numbers": range(1, len((drafted.source or {}).get("rules", ())) + (2 if index is None else 1)),
        "verdicts": [(name, *words) for name, words in VERDICTS.items()],
        "comparisons": [(name, words) for name, (words, _) in whens.COMPARISONS.items()],
        "teams": [(slug, name, form.counts.get(slug, "")) for slug, name in names(request.workspace).items()],
        "unknown_teams": sorted(set(form.counts) - set(names(request.workspace))),
        "fields": [(field, form.words[field.name], part == field.name) for field in fields.FIELDS],
        "kinds": KINDS,
        "kept": [
            (name, policy_source.text(value) if isinstance(value, dict) else value) for name, value in form.kept.items()
        ],
        "as_yaml": not drafted.text.lstrip().startswith("{"),
        "part": part,
        "elsewhere": bool(fault) and part not in known,
    }
    told |= trial.choices(request.workspace, drafted.document or drafted.in_force)
    status = 422 if fault or more.get("refused") else 200
    return render(request, "policy/rule.html", told | more, status=status)
