"""Feature sets: podium's text features as feature definitions of a search engine, under the same names.

>>> features = feature_set(["lucene_bm25(field=title)", "stored(field=stars)"], "solr")
>>> features.definitions[0]["params"]
{'q': '{!dismax qf=title}${keywords}'}

The features of the sets `elasticsearch` and `solr` are the engine's to the bit, if it analyses text in the same way;
others it computes in its own: `FeatureSet.notes` says how they differ. For those, log the features of training
documents in the engine and train on the log.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from podium.base.errors import IncompatibleError, ParameterError, UnknownNameError
from podium.export.base import dumps
from podium.text.features import Feature

STORE = "podium"
"""The name of a feature set."""
_TEXT = "{{keywords}}"


@dataclass(frozen=True)
class FeatureSet:
    """Feature definitions in an engine's language, and notes on how they differ from podium's."""

    definitions: list[dict[str, Any]]
    body: bytes  # of the request to the engine
    notes: tuple[str, ...]


def feature_set(names: Sequence[str], target: str, *, store: str = STORE, missing: bool = False) -> FeatureSet:
    """Define features, by their names in podium, for elasticsearch-ltr, opensearch-ltr or solr.

    `missing` says that the model tells missing values from 0: Solr, which makes them 0, is told so.
    """
    if target not in _ENGINES:
        raise ParameterError(f"{target} has no feature sets; {', '.join(_ENGINES)} have.")
    define, body = _ENGINES[target]
    definitions, notes, unknown = [], [], []
    for name in names:
        feature = _parsed(name, target)
        definition = None if feature is None else define(feature, name, store)
        if definition is not None and missing and target == "solr" and feature is not None and feature.name == "stored":
            definition["params"]["defaultValue"] = "NaN"
        if feature is None or definition is None:
            unknown.append(name)
        else:
            definitions.append(definition)
            notes += [_NOTES[feature.name]] if _NOTES[feature.name] not in notes else []
    if unknown:
        raise IncompatibleError(
            f"{target} has no counterpart of {unknown[0]!r}"
            + (f" and {len(unknown) - 1} other features" if len(unknown) > 1 else "")
            + f". It has {_supported(target)} of a field, and stored: e.g. podium features --set "
            f"{'solr' if target == 'solr' else 'elasticsearch'}."
        )
    return FeatureSet(definitions, dumps(body(definitions, store), indent=1).encode() + b"\n", tuple(notes))


def _supported(target: str) -> str:
    """The features of a text field that an engine has."""
    define, _ = _ENGINES[target]
    names = [name for name in _NOTES if name != "stored"]
    *first, last = [name for name in names if define(Feature.parse(f"{name}(field=title)"), name, STORE) is not None]
    return f"{', '.join(first)} and {last}"


_SAME = "the engine's, to the bit, if its analysis gives the same terms, and if it has the same documents in one shard"
_NOTES = {
    "lucene_bm25": f"lucene_bm25: {_SAME}; k1 and b are those of the field's similarity.",
    "lucene_phrase": f"lucene_phrase: {_SAME}; k1 and b are those of the field's similarity.",
    "lucene_length": f"lucene_length: {_SAME}.",
    "bm25": "bm25: the engine's has no factor k1 + 1, stores lengths in one byte, and takes k1 and b from its index; "
    "its analysis and its document counts, by shard, are its own.",
    "exact": "exact: the engine's is the score of the phrase, not the number of times that it occurs.",
    "length": "length: the engine's comes from a norm of one byte, and counts what its analysis keeps.",
    "stored": "stored: the number in the field, as in podium; dates are not made days.",
}


def _parsed(name: str, target: str) -> Feature | None:
    """The feature of a name, if the engine may have it; features of whole documents have no field to query."""
    try:
        feature = Feature.parse(name)
    except (UnknownNameError, ParameterError):
        return None
    return feature if feature.name in _NOTES and getattr(feature, "field", "") not in ("", "whole") else None


def _elasticsearch(feature: Feature, name: str, store: str) -> dict[str, Any] | None:
    field = feature.field  # type: ignore[attr-defined]
    stored = {"field_value_factor": {"field": field, "missing": 0}, "query": {"exists": {"field": field}}}
    template = {
        "lucene_bm25": _or_zero({"match": {field: _TEXT}}),
        "lucene_phrase": _or_zero({"match_phrase": {field: _TEXT}}),
        "bm25": {"match": {field: _TEXT}},
        "exact": {"match_phrase": {field: _TEXT}},
        "stored": {"function_score": {**stored, "boost_mode": "replace"}},
    }.get(feature.name)
    if template is None:
        return None
    params = [] if feature.name == "stored" else ["keywords"]
    return {"name": name, "params": params, "template_language": "mustache", "template": template}


def _or_zero(query: dict[str, Any]) -> dict[str, Any]:
    """A query that matches every document, with the score 0 if it does not; it would be missing to trees otherwise."""
    return {"bool": {"must": {"constant_score": {"filter": {"match_all": {}}, "boost": 0}}, "should": query}}


def _solr(feature: Feature, name: str, store: str) -> dict[str, Any]:
    field = feature.field  # type: ignore[attr-defined]
    kind, params = {
        "lucene_bm25": ("SolrFeature", {"q": f"{{!dismax qf={field}}}${{keywords}}"}),
        "lucene_phrase": ("SolrFeature", {"q": f"{{!field f={field}}}${{keywords}}"}),
        "lucene_length": ("FieldLengthFeature", {"field": field}),
        "bm25": ("SolrFeature", {"q": f"{{!dismax qf={field}}}${{keywords}}"}),
        "exact": ("SolrFeature", {"q": f"{{!field f={field}}}${{keywords}}"}),
        "length": ("FieldLengthFeature", {"field": field}),
        "stored": ("FieldValueFeature", {"field": field}),
    }[feature.name]
    return {"store": store, "name": name, "class": f"org.apache.solr.ltr.feature.{kind}", "params": params}


Define = Callable[[Feature, str, str], dict[str, Any] | None]
"""(feature, name, store) → its definition; None if the engine has no counterpart."""
Body = Callable[[list[dict[str, Any]], str], Any]
"""(definitions, store) → the body of the request."""


def _featureset(definitions: list[dict[str, Any]], store: str) -> dict[str, Any]:
    return {"featureset": {"name": store, "features": definitions}}


_ENGINES: dict[str, tuple[Define, Body]] = {
    "elasticsearch-ltr": (_elasticsearch, _featureset),
    "opensearch-ltr": (_elasticsearch, _featureset),
    "solr": (_solr, lambda definitions, _: definitions),
}
