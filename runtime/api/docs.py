"""The page that shows the API: drawn from its own description, with our style sheet and without any script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from ninja import NinjaAPI
from ninja.openapi.docs import DocsBase


class Page(DocsBase):
    """Every route with who may call it, what it takes, what it gives and how it refuses."""

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        """The page."""
        described = dict(api.get_openapi_schema())
        context = {
            "api": described["info"],
            "about": described["info"]["description"].split("\n\n"),
            "groups": _groups(described),
            "schemas": list(_schemas(described)),
            "description": self.get_openapi_url(api, kwargs),
        }
        return render(request, "api/docs.html", context)


def _groups(described: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for path, methods in described["paths"].items():
        for method, route in methods.items():
            found.setdefault(route["tags"][0], []).append(_route(path, method, route))
    return found


def _route(path: str, method: str, route: Mapping[str, Any]) -> dict[str, Any]:
    body = route.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    return {
        "id": route["operationId"],
        "method": method.upper(),
        "path": path,
        "summary": route["summary"],
        "about": route.get("description", "").split("\n\n"),
        "who": " or ".join(_who(route)),
        "parameters": [
            {
                "name": each["name"],
                "place": each["in"],
                "required": each.get("required", False),
                "type": _type(each["schema"]),
                "about": each.get("description") or each["schema"].get("description", ""),
            }
            for each in route.get("parameters", [])
        ],
        "body": _name(body) if body else "",
        "gives": [
            {"status": code, "type": _type(_content(answer))} for code, answer in sorted(route["responses"].items())
        ],
    }


def _who(route: Mapping[str, Any]) -> Iterator[str]:
    for scheme in route.get("security", []):
        for name in scheme:
            yield "an agent, by its credential" if name == "Credential" else "a person, by their session"


def _content(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    schema: Mapping[str, Any] = answer.get("content", {}).get("application/json", {}).get("schema", {})
    return schema


def _schemas(described: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, schema in sorted(described.get("components", {}).get("schemas", {}).items()):
        required = set(schema.get("required", []))
        yield {
            "name": name,
            "about": schema.get("description", ""),
            "fields": [
                {"name": key, "type": _type(each), "about": each.get("description", ""), "required": key in required}
                for key, each in schema.get("properties", {}).items()
            ],
            "values": schema.get("enum", []),
        }


def _name(schema: Mapping[str, Any]) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _type(schema: Mapping[str, Any]) -> str:
    """A schema in a few words."""
    if "$ref" in schema:
        return _name(schema)
    if "enum" in schema:
        return " | ".join(str(value) for value in schema["enum"])
    for words in ("anyOf", "oneOf", "allOf"):
        if words in schema:
            return " or ".join(dict.fromkeys(_type(each) for each in schema[words]))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "anything"))
