"""Answers of search engines to searches: documents, scores, and the features that the engine logged for them.

A file has one answer for each line, `{"query": ID, "response": {…}}`, as `podium ask` writes them, or answers as the
engine gave them, with the query's id in a field of their own:

Elasticsearch,   hits.hits[]       _id, _score; features of the LTR plugins: fields._ltrlog[0].LOG[] {name, value};
OpenSearch                         of named queries with their scores: matched_queries {name: score}
Solr             response.docs[]   id, score; features: "[features]": "name=1.5,other=0"
Vespa            root.children[]   id or fields.documentid, relevance; features: fields.matchfeatures,
                                   fields.summaryfeatures, fields.rankfeatures {name: value}

Answers are strangers' data: every value is checked, and an error names its line.

>>> answer = {"query": "q1", "response": {"docs": [{"id": "d7", "[features]": "title=1.5,price=9"}]}}
>>> read_answer(answer, "log.jsonl:1").documents
[EngineDocument(id='d7', score=None, features={'title': 1.5, 'price': 9.0})]
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn

from podium.base.errors import DataError
from podium.base.files import Source, reading, source_name
from podium.formats.sniff import EngineName, answer_engine
from podium.formats.tables.records import json_stream

QUERY_FIELDS = ("query_id", "qid", "query")
"""Fields that hold the id of an answer's query, by default."""


@dataclass(frozen=True)
class EngineDocument:
    """A document of an answer."""

    id: str
    score: float | None
    features: dict[str, float] | None
    """By name, NaN if the engine has no value; None if it logged none."""


@dataclass(frozen=True)
class EngineAnswer:
    """An engine's answer to a query: documents as they were shown."""

    query: str
    engine: EngineName
    documents: list[EngineDocument]
    where: str


def read_answers(
    source: Source, *, query_field: str | None = None, id_field: str | None = None
) -> Iterator[EngineAnswer]:
    """Read answers one by one; `query_field` and `id_field` are where ids of queries and documents are, with dots."""
    name = source_name(source)
    with reading(source) as file:
        for number, (line, record) in enumerate(json_stream(file, name), 1):
            where = f"{name}: answer {number}" if line is None else f"{name}:{line}"
            yield read_answer(record, where, query_field=query_field, id_field=id_field)


def read_answer(
    record: object, where: str, *, query_field: str | None = None, id_field: str | None = None
) -> EngineAnswer:
    """Read an answer, alone or as the `response` of a record that names its query."""
    if not isinstance(record, Mapping):
        raise DataError(f"expected an answer of a search engine, an object; got {str(record)[:40]!r}.", where=where)
    inner = record.get("response")
    response = inner if answer_engine(inner) is not None else record
    engine = answer_engine(response)
    if engine is None:
        _refuse(response, where)
    assert isinstance(response, Mapping), "recognised"
    partial = _PARTIAL[engine](response)
    if partial is not None:
        raise DataError(f"the engine's answer is not whole: {partial}. Ask again.", where=where)
    query, documents = _query(record, query_field, where), []
    for place, hit in enumerate(_HITS[engine](response), 1):
        if not isinstance(hit, Mapping):
            raise DataError(f"document {place} is no object: {str(hit)[:40]!r}.", where=where)
        documents.append(_READERS[engine](hit, id_field, f"{where}, document {place}"))
    return EngineAnswer(query, engine, documents, where)


def _refuse(response: object, where: str) -> NoReturn:
    error = response.get("error") if isinstance(response, Mapping) else None
    if error is not None:
        raise DataError(f"the engine answered with an error: {str(error)[:200]}", where=where)
    keys = ", ".join(map(repr, list(response)[:8])) if isinstance(response, Mapping) else ""
    raise DataError(
        "not an answer of a search engine that podium knows: expected hits.hits (Elasticsearch, OpenSearch), "
        f"response.docs (Solr) or root.children (Vespa); there are {keys or 'no fields'}.",
        where=where,
    )


def _query(record: Mapping[str, Any], field: str | None, where: str) -> str:
    values = [_inside(record, name) for name in (QUERY_FIELDS if field is None else (field,))]
    for value in values:
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return str(value)
    raise DataError(
        f"no id of the query: no text or number in {' or '.join(QUERY_FIELDS) if field is None else field}. Write "
        'answers as {"query": ID, "response": ANSWER}, or say where it is, e.g. --query-field '
        "responseHeader.params.qid.",
        where=where,
    )


def _inside(record: object, path: str) -> object:
    """The value at a path of keys with dots; None if there is none. A key may itself have dots."""
    if not isinstance(record, Mapping):
        return None
    if path in record:
        return record[path]
    head, dot, rest = path.partition(".")
    return _inside(record.get(head), rest) if dot else None


def _id(hit: Mapping[str, Any], places: tuple[str, ...], where: str) -> str:
    for place in places:
        value = _inside(hit, place)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return str(value)
    raise DataError(f"a document without an id: no {' or '.join(places)}. Name its field: --id-field.", where=where)


def _number(value: object, name: str, where: str) -> float:
    """A feature's value, NaN if it is missing."""
    if value is None or value != value:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _LARGEST:
        why = "a tensor" if isinstance(value, Mapping) else f"{str(value)[:40]!r}"
        raise DataError(
            f"feature {name[:80]!r} is {why}; a number within float32 is expected. Leave it out of the log.",
            where=where,
        )
    return float(value)


_LARGEST = 3.4028234663852886e38


def _score(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    return float(value) if is_number else None  # type: ignore[arg-type]


def _merge(features: dict[str, float], name: object, value: float, where: str) -> None:
    """Add a value; the same again is fine, another one is an error."""
    if not isinstance(name, str) or not name:
        raise DataError(f"a feature's name must be text; got {str(name)[:40]!r}.", where=where)
    before = features.setdefault(name, value)
    if before != value and not (math.isnan(before) and math.isnan(value)):
        raise DataError(f"feature {name!r} has two values, {before!r} and {value!r}. Log it once.", where=where)


def _elasticsearch(hit: Mapping[str, Any], id_field: str | None, where: str) -> EngineDocument:
    logs = _inside(hit, "fields._ltrlog")
    named = hit.get("matched_queries")
    features: dict[str, float] | None = None
    if logs is not None:
        features = {}
        for log in logs if isinstance(logs, list) else [logs]:
            for entries in log.values() if isinstance(log, Mapping) else [log]:
                _add_log(features, entries, where)
    elif isinstance(named, Mapping):
        features = {str(name): _number(value, str(name), where) for name, value in named.items()}
    places = ("_id",) if id_field is None else (id_field, f"_source.{id_field}", f"fields.{id_field}")
    return EngineDocument(_id(hit, places, where), _score(hit.get("_score")), features)


def _add_log(features: dict[str, float], entries: object, where: str) -> None:
    """Add the entries of a log of the plugins: {name, value} each, or, of old versions, values by name."""
    if isinstance(entries, Mapping):
        entries = [{"name": name, "value": value} for name, value in entries.items()]
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise DataError("_ltrlog must have lists of {name, value}.", where=where)
    for entry in entries:
        name = entry.get("name")
        _merge(features, name, _number(entry.get("value"), str(name), where), where)


def _solr(hit: Mapping[str, Any], id_field: str | None, where: str) -> EngineDocument:
    text = hit.get("[features]", hit.get("features"))
    if text is not None and not isinstance(text, str):
        raise DataError(f'"[features]" must be text, as name=1.5,other=0; got {str(text)[:40]!r}.', where=where)
    features = None if text is None else _csv_features(text, where)
    return EngineDocument(_id(hit, (id_field or "id",), where), _score(hit.get("score")), features)


_SIGNS = re.compile(r"[(),]")


def _parts(text: str) -> list[str]:
    """The parts between commas; names of features may have some within parentheses."""
    if "(" not in text:
        return text.split(",")
    cuts, waiting = list[int](), list[int]()
    for sign in _SIGNS.finditer(text):
        if sign[0] == ",":
            waiting.append(sign.start())
            continue
        cuts += waiting if sign[0] == "(" else []  # commas before ) are within a name
        waiting = []
    return [text[a + 1 : b] for a, b in pairwise([-1, *cuts, *waiting, len(text)])]


def _csv_features(text: str, where: str) -> dict[str, float]:
    features: dict[str, float] = {}
    for part in _parts(text) if text.strip() else []:
        name, _, word = part.rpartition("=")
        try:
            value = float(word)
        except ValueError:
            value = math.inf
        if not name.strip() or abs(value) > _LARGEST:
            raise DataError(
                f'"[features]" must be name=number, separated by commas; got {part[:60]!r}. Other separators are '
                "not read.",
                where=where,
            )
        _merge(features, name.strip(), value, where)
    return features


_CACHED = "vespa.summaryFeatures.cached"
_DOCUMENT = re.compile(r"id:[^:]*:[^:]*:[^:]*:(.+)", re.DOTALL)


def _vespa(hit: Mapping[str, Any], id_field: str | None, where: str) -> EngineDocument:
    if "children" in hit:
        raise DataError("a group of documents; ungrouped answers are read. Ask without grouping.", where=where)
    features: dict[str, float] | None = None
    for place in ("fields.matchfeatures", "fields.summaryfeatures", "fields.rankfeatures"):
        logged = _inside(hit, place)
        if logged is None:
            continue
        if not isinstance(logged, Mapping):
            raise DataError(f"{place} must be an object with names and numbers.", where=where)
        features = {} if features is None else features
        for name, value in logged.items():
            if name != _CACHED:
                _merge(features, name, _number(value, str(name), where), where)
    if id_field is not None:
        id = _id(hit, (f"fields.{id_field}", id_field), where)
    else:
        id = _id(hit, ("fields.documentid", "id"), where)
        whole = _DOCUMENT.fullmatch(id)
        id = id if whole is None else whole.group(1)
    return EngineDocument(id, _score(hit.get("relevance")), features)


def _failed_shards(response: Mapping[str, Any]) -> str | None:
    if response.get("timed_out") is True:
        return "the search timed out"
    failed = _inside(response, "_shards.failed")
    return f"{failed} shards failed" if isinstance(failed, int) and failed > 0 else None


def _partial_results(response: Mapping[str, Any]) -> str | None:
    return "responseHeader.partialResults is true" if _inside(response, "responseHeader.partialResults") else None


def _vespa_errors(response: Mapping[str, Any]) -> str | None:
    errors, coverage = _inside(response, "root.errors"), _inside(response, "root.coverage")
    if errors:
        return f"root.errors: {str(errors)[:200]}"
    if not isinstance(coverage, Mapping) or coverage.get("full", True) is True:
        return None
    degraded = coverage.get("degraded")
    reasons = [str(why) for why, holds in degraded.items() if holds] if isinstance(degraded, Mapping) else []
    if reasons == ["match-phase"]:  # as its rank profile asks
        return None
    because = f" ({', '.join(reasons)})" if reasons else ""
    return f"root.coverage is {coverage.get('coverage')} %{because}"


_PARTIAL: dict[EngineName, Callable[[Mapping[str, Any]], str | None]] = {
    "elasticsearch": _failed_shards, "solr": _partial_results, "vespa": _vespa_errors,
}  # fmt: skip
_HITS: dict[EngineName, Callable[[Mapping[str, Any]], list[Any]]] = {
    "elasticsearch": lambda response: response["hits"]["hits"],
    "solr": lambda response: response["response"]["docs"],
    "vespa": lambda response: response["root"].get("children", []),
}
_READERS: dict[EngineName, Callable[[Mapping[str, Any], str | None, str], EngineDocument]] = {
    "elasticsearch": _elasticsearch, "solr": _solr, "vespa": _vespa,
}  # fmt: skip
