"""The page that shows the API: drawn from its own description, with our style sheet and without any script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from ninja import NinjaAPI
from ninja.openapi.docs import DocsBase


class Page(DocsBase):
    """Every route with who may call it, what it takes, what it gives and how it refuses."""

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        """The page."""
        described = dict(api.get_openapi_schema())
        context = {
            "api": described["info"],
            "about": _prose(described["info"]["description"]),
            "groups": _groups(described),
            "schemas": list(_schemas(described)),
            "description": self.get_openapi_url(api, kwargs),
            "base": f"{request.scheme}://{request.get_host()}",
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
        "about": _prose(route.get("description", "")),
        "who": " or ".join(_who(route)),
        "parameters": [
            {
                "name": each["name"],
                "place": each["in"],
                "required": each.get("required", False),
                "type": _type(each["schema"]),
                "about": _words(each.get("description") or each["schema"].get("description", "")),
            }
            for each in route.get("parameters", [])
        ],
        "body": _name(body) if body else "",
        "gives": [(", ".join(codes), name) for name, codes in _answers(route).items()],
    }


def _answers(route: Mapping[str, Any]) -> dict[str, list[str]]:
    """The statuses by what is answered with them."""
    found: dict[str, list[str]] = {}
    for code, answer in sorted(route["responses"].items()):
        found.setdefault(_type(_content(answer)), []).append(str(code))
    return found


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
            "about": _words(schema.get("description", "")),
            "fields": [
                {
                    "name": key,
                    "type": _type(each),
                    "about": _words(each.get("description", "")),
                    "needed": key in required,
                }
                for key, each in schema.get("properties", {}).items()
            ],
            "values": schema.get("enum", []),
        }


def _prose(text: str) -> list[SafeString]:
    """A text's paragraphs."""
    return [_words(paragraph) for paragraph in text.split("\n\n")]


def _words(text: str) -> SafeString:
    """Plain text, with what stands between backticks set as code."""
    shapes = ("{}", '<code class="literal">{}</code>')
    parts = enumerate(text.split("`"))
    return format_html_join("", "{}", ((format_html(shapes[index % 2], part),) for index, part in parts))


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
