"""The service: its endpoints and the bodies of requests and answers, from its OpenAPI description."""

from __future__ import annotations

from typing import Any

from podium.service.app import DESCRIBED
from podium.service.openapi import describe

from .markdown import code, escaped, page, table


def pages() -> dict[str, str]:
    """The page of the service."""
    about = describe(DESCRIBED)
    operations = [
        _operation(method, path, operation)
        for path, methods in about["paths"].items()
        for method, operation in methods.items()
    ]
    schemas = [_schema(name, schema) for name, schema in about["components"]["schemas"].items()]
    return {
        "service.md": page(
            "# Service API",
            "Endpoints of `podium serve`, as described by its `/openapi.json`. [The ranking service](../service.md) "
            "shows how to use them. Every error is an `application/problem+json` of the form "
            "[`ProblemDetails`](#problemdetails).",
            "## Endpoints",
            *operations,
            "## Requests and answers",
            *schemas,
        )
    }


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    status, answer = next((status, answer) for status, answer in operation["responses"].items() if status != "default")
    rows = [[code(value["name"]), f"in the {value['in']}", ""] for value in operation["parameters"]]
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        rows.append(["body", code(kind), _type(content["schema"])])
    for kind, content in answer["content"].items():
        rows.append([f"answer {status}", code(kind), _type(content["schema"])])
    key = "Needs a key, if the service has keys." if operation["security"] else "Needs no key."
    body = table(["part", "place or media type", "form"], rows)
    return page(f"### {method.upper()} {code(path)}", f"{escaped(operation['summary'])} {key}", body).strip()


def _schema(name: str, schema: dict[str, Any]) -> str:
    required = set(schema.get("required", ()))
    rows = [
        [
            code(field),
            _type(value),
            "must be given" if field in required else code(repr(value["default"])) if "default" in value else "",
            escaped(value.get("description", "")),
        ]
        for field, value in schema.get("properties", {}).items()
    ]
    fields = table(["field", "type", "by default", "what it is"], rows) if rows else _type(schema)
    return page(f"### {name}", escaped(schema.get("description", "")), fields).strip()


def _type(schema: dict[str, Any] | bool) -> str:
    """A schema in words, with links to schemas that have a name."""
    if isinstance(schema, bool):
        return "anything"
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{code(name)}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_type(option) for option in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(code(str(value)) for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}" if "items" in schema else "list"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])}"
    return escaped(str(schema.get("type", "anything")))
