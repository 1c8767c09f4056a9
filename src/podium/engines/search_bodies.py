"""Searches in the language of each engine: a template with {{query}}, how many documents, and the features to log.

>>> search_body("solr", {"query": "{{query}}"}, "red shoes", k=10)
{'query': 'red shoes', 'limit': 10, 'fields': ['id', 'score']}
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from podium.base.errors import ParameterError

Engine = Literal["elasticsearch", "opensearch", "solr", "vespa"]
Body = dict[str, Any]
LOG = "podium"
"""The name of the log in answers of the LTR plugins."""

_TEMPLATES: dict[Engine, Body] = {
    "elasticsearch": {"query": {"multi_match": {"query": "{{query}}"}}},
    "opensearch": {"query": {"multi_match": {"query": "{{query}}"}}},
    "solr": {"query": "{{query}}", "params": {"defType": "edismax"}},
    "vespa": {"yql": "select * from sources * where userQuery()", "query": "{{query}}"},
}
_ELASTICSEARCH: dict[str, tuple[type, ...]] = {"ext": (dict,), "rescore": (list, dict)}
_KINDS: dict[Engine, dict[str, tuple[type, ...]]] = {
    "elasticsearch": _ELASTICSEARCH, "opensearch": _ELASTICSEARCH, "solr": {"fields": (list, str)}, "vespa": {},
}  # fmt: skip
"""The kinds of what is added to, by its key."""
PATHS: dict[Engine, str] = {
    "elasticsearch": "/_search",
    "opensearch": "/_search",
    "solr": "/select",
    "vespa": "/search/",
}
"""What follows the URL: of an index (Elasticsearch, OpenSearch), a core or collection (Solr), or a server (Vespa)."""


def template_of(engine: Engine) -> Body:
    """The search by default: the query's words in all fields, or in those that the engine searches by default."""
    return copy.deepcopy(_TEMPLATES[engine])


def search_body(
    engine: Engine,
    template: Mapping[str, Any],
    text: str,
    *,
    k: int,
    log_features: str | None = None,
    vector: Sequence[float] | None = None,
) -> Body:
    """The body of a search for a query.

    `{{query}}` in texts of the template becomes the query, and the text `{{vector}}` its vector. `log_features` is a
    feature set (LTR plugins), a feature store (Solr) or a rank profile with match-features (Vespa).
    """
    for key, kinds in _KINDS[engine].items():
        if not isinstance(template.get(key, kinds[0]()), kinds):
            raise ParameterError(f"{key} of the template is of another kind than {engine} takes: {template[key]!r}.")
    body = _filled(template, text, None if vector is None else list(vector))
    assert isinstance(body, dict), "a template is an object"
    return _FINISH[engine](body, text, k, log_features)


def _filled(part: Any, text: str, vector: list[float] | None) -> Any:
    if isinstance(part, str):
        if part == "{{vector}}":
            if vector is None:
                raise ParameterError("the template has {{vector}}, and a query has no vector.")
            return vector
        return part.replace("{{query}}", text)
    if isinstance(part, Mapping):
        return {key: _filled(value, text, vector) for key, value in part.items()}
    return [_filled(value, text, vector) for value in part] if isinstance(part, list) else part


def _elasticsearch(body: Body, text: str, k: int, log_features: str | None) -> Body:
    """Features are logged by a rescorer of weight 0, which changes neither documents nor scores."""
    finished = {"size": k, "_source": False, **body}
    if log_features is None:
        return finished
    before = body.get("rescore", [])
    rescorers = before if isinstance(before, list) else [before]
    sltr = {"featureset": log_features, "params": {"keywords": text}}
    query = {"rescore_query": {"sltr": sltr}, "query_weight": 1, "rescore_query_weight": 0}
    log = {"ltr_log": {"log_specs": {"name": LOG, "rescore_index": len(rescorers)}}}
    rescore = [*rescorers, {"window_size": finished["size"], "query": query}]
    return {**finished, "rescore": rescore, "ext": {**body.get("ext", {}), **log}}


def _solr(body: Body, text: str, k: int, log_features: str | None) -> Body:
    """Features in the dense format: the sparse one, if the server has it by default, leaves out defaults."""
    fields = body.get("fields", ["id", "score"])
    listed = [fields] if isinstance(fields, str) else list(fields)
    if log_features is not None:
        quoted = text.replace("\\", "\\\\").replace("'", "\\'")
        listed.append(f"[features store={log_features} format=dense efi.keywords='{quoted}']")
    return {**body, "limit": body.get("limit", k), "fields": listed}


def _vespa(body: Body, text: str, k: int, log_features: str | None) -> Body:
    profile = {} if log_features is None else {"ranking.profile": log_features}
    return {"hits": k, **body, **profile}


_FINISH: dict[Engine, Callable[[Body, str, int, str | None], Body]] = {
    "elasticsearch": _elasticsearch,
    "opensearch": _elasticsearch,
    "solr": _solr,
    "vespa": _vespa,
}
