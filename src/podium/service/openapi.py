"""The OpenAPI description of the service, made from the table of routes and the structs of the wire."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from podium.base.version import version
from podium.service.bodies import JSON
from podium.service.endpoint import Endpoint
from podium.service.schemas import ProblemDetails

_TEXT = {"type": "string"}


def describe(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """The description, as a value for JSON."""
    kinds = list(dict.fromkeys(kind for one in endpoints for kind in (*one.reads, *one.answers)))
    refs, schemas = msgspec.json.schema_components([ProblemDetails, *kinds], ref_template="#/components/schemas/{name}")
    where = dict(zip([ProblemDetails, *kinds], refs, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for one in endpoints:
        paths.setdefault(re.sub(r":\w+}", "}", one.path), {})[one.method.lower()] = _operation(one, where)
    keys = {
        "bearer": {"type": "http", "scheme": "bearer"},
        "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "podium", "version": version(), "description": "Ranks documents by models."},
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": keys},
    }


def _operation(one: Endpoint, where: dict[Any, Any]) -> dict[str, Any]:
    names = re.findall(r"{(\w+)(?::\w+)?}", one.path)
    parameters = [{"name": name, "in": "path", "required": True, "schema": _TEXT} for name in names]
    parameters += [{"name": name, "in": "query", "required": False, "schema": _TEXT} for name in one.parameters]
    content = {JSON: {"schema": _any(one.answers, where)}} if one.answers else {"text/plain": {"schema": _TEXT}}
    problem = {"application/problem+json": {"schema": where[ProblemDetails]}}
    found: dict[str, Any] = {
        "summary": one.says,
        "operationId": "_".join([one.method.lower(), *re.findall(r"\w+", re.sub(r":\w+}", "}", one.path))]),
        "parameters": parameters,
        "responses": {
            str(one.status): {"description": "Done.", "content": content},
            "default": {"description": "What went wrong.", "content": problem},
        },
        "security": [] if one.role is None else [{"bearer": []}, {"key": []}],
    }
    if one.reads or one.also:
        bodies: dict[str, Any] = {JSON: {"schema": _any(one.reads, where)}} if one.reads else {}
        bodies |= {kind: {"schema": {"type": "string", "format": "binary"}} for kind in one.also}
        found["requestBody"] = {"required": True, "content": bodies}
    return found


def _any(kinds: Sequence[Any], where: dict[Any, Any]) -> dict[str, Any]:
    found = [where[kind] for kind in kinds]
    return found[0] if len(found) == 1 else {"anyOf": found}
