"""OpenAPI description of the service, from the table of routes and the request and answer structs."""

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
    """OpenAPI description of endpoints, as a JSON value."""
    kinds = list(dict.fromkeys(kind for endpoint in endpoints for kind in (*endpoint.reads, *endpoint.answers)))
    refs, schemas = msgspec.json.schema_components([ProblemDetails, *kinds], ref_template="#/components/schemas/{name}")
    where = dict(zip([ProblemDetails, *kinds], refs, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        path = re.sub(r":\w+}", "}", endpoint.path)
        paths.setdefault(path, {})[endpoint.method.lower()] = _operation(endpoint, path, where)
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


def _operation(endpoint: Endpoint, path: str, where: dict[Any, Any]) -> dict[str, Any]:
    names, answers, reads = re.findall(r"{(\w+)}", path), endpoint.answers, endpoint.reads
    parameters = [{"name": name, "in": "path", "required": True, "schema": _TEXT} for name in names]
    parameters += [{"name": name, "in": "query", "required": False, "schema": _TEXT} for name in endpoint.parameters]
    content = {JSON: {"schema": _any(answers, where)}} if answers else {"text/plain": {"schema": _TEXT}}
    problem = {"application/problem+json": {"schema": where[ProblemDetails]}}
    operation: dict[str, Any] = {
        "summary": endpoint.says,
        "operationId": "_".join([endpoint.method.lower(), *re.findall(r"\w+", path)]),
        "parameters": parameters,
        "responses": {
            str(endpoint.status): {"description": "Done.", "content": content},
            "default": {"description": "What went wrong.", "content": problem},
        },
        "security": [] if endpoint.role is None else [{"bearer": []}, {"key": []}],
    }
    if reads or endpoint.also:
        bodies: dict[str, Any] = {JSON: {"schema": _any(reads, where)}} if reads else {}
        bodies |= {kind: {"schema": {"type": "string", "format": "binary"}} for kind in endpoint.also}
        operation["requestBody"] = {"required": True, "content": bodies}
    return operation


def _any(kinds: Sequence[Any], where: dict[Any, Any]) -> dict[str, Any]:
    schemas = [where[kind] for kind in kinds]
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
