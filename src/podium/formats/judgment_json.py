"""Judgments in JSON documents of other tools, as records of query, document, grade, and judge if there is one.

- OpenSearch's Search Relevance Workbench: `{"judgmentRatings": [{"query", "ratings": [{"docId", "rating"}]}]}`, also
  as answered by its API, in `hits.hits[]._source`.
- `_rank_eval` of Elasticsearch and OpenSearch: `{"requests": [{"id", "ratings": [{"_id", "rating"}]}]}`.
- Quepid: exported cases `{"queries": [{"query_text", "ratings": [{"doc_id", "rating"}]}]}`, exported ratings
  `{"queries": [{"query", "ratings": {document: rating}}]}`, and books
  `{"query_doc_pairs": [{"query_text", "doc_id", "judgements": [{"rating", "user_email"}]}]}`.
- ranx, pytrec_eval: `{query: {document: number}}`.

    >>> rated_records([{"query": "rain coat", "ratings": [{"docId": "d7", "rating": "1.0"}]}]).columns
    {'query': ['rain coat'], 'document': ['d7'], 'grade': ['1.0']}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from podium.base.errors import DataError
from podium.formats.tables.records import Records, row_records

_LISTS = ("judgmentRatings", "requests", "queries", "query_doc_pairs")
_QUERIES = ("query", "query_text", "id")
_DOCUMENTS = ("docId", "doc_id", "_id")


def rated_records(values: Sequence[Any], *, source: str | None = None) -> Records | None:
    """The judgments in JSON values, if they have one of these forms; None if they have not."""
    entries = list(_entries(values))
    if not entries or not all(
        isinstance(entry, Mapping) and ("ratings" in entry or "judgements" in entry) for entry in entries
    ):
        return None
    rows = [row for number, entry in enumerate(entries, 1) for row in _rows(entry, f"{source}: query {number}")]
    if not rows:
        raise DataError("no judgments: none of its queries has ratings.", where=source)
    return row_records(rows, source=source)


def refuse_answer(values: Sequence[Any], *, source: str | None = None) -> None:
    """Refuse the answer of `_rank_eval`, which lacks the ratings of documents that were not retrieved."""
    for value in values:
        answer = value.get("rank_eval", value) if isinstance(value, Mapping) else None
        if isinstance(answer, Mapping) and "details" in answer and {"metric_score", "quality_level"} & answer.keys():
            raise DataError(
                "is an answer of _rank_eval, which rates only what was retrieved. Expected the body of the request, "
                "whose requests have all ratings.",
                where=source,
            )


def nested_numbers(values: Sequence[Any]) -> Mapping[str, Mapping[str, Any]] | None:
    """The dictionary query → document → number, if this is what the file holds; otherwise None."""
    if len(values) != 1 or not isinstance(values[0], Mapping) or not values[0]:
        return None
    whole: Mapping[str, Any] = values[0]
    return whole if all(isinstance(documents, Mapping) for documents in whole.values()) else None


def _entries(values: Sequence[Any]) -> Iterator[Any]:
    """What holds the ratings: an entry for each query, or for each pair of query and document."""
    for value in values:
        lists = [value[key] for key in _LISTS if isinstance(value, Mapping) and isinstance(value.get(key), list)]
        hits = value.get("hits") if isinstance(value, Mapping) else None
        if lists:
            yield from lists[0]
        elif isinstance(hits, Mapping) and isinstance(hits.get("hits"), list):
            yield from _entries([hit.get("_source") for hit in hits["hits"] if isinstance(hit, Mapping)])
        else:
            yield value


def _rows(entry: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    query = _value(entry, _QUERIES, "query", where)
    if "judgements" in entry:
        document = _value(entry, _DOCUMENTS, "document", where)
        for vote in _listed(entry["judgements"], where):
            yield {"query": query, "document": document, "judge": vote.get("user_email") or "unknown",
                   "grade": vote.get("rating")}  # fmt: skip
    elif isinstance(entry["ratings"], Mapping):
        for document, rating in entry["ratings"].items():
            yield {"query": query, "document": document, "grade": rating}
    else:
        for rated in _listed(entry["ratings"], where):
            document = _value(rated, _DOCUMENTS, "document", where)
            yield {"query": query, "document": document, "grade": rated.get("rating")}


def _listed(ratings: Any, where: str) -> list[Mapping[str, Any]]:
    if not isinstance(ratings, list) or not all(isinstance(rated, Mapping) for rated in ratings):
        raise DataError("its ratings must be a list of objects, each with a document and a rating.", where=where)
    return ratings


def _value(entry: Mapping[str, Any], names: Sequence[str], what: str, where: str) -> Any:
    value = next((entry[name] for name in names if entry.get(name) is not None), None)
    if value is None:
        raise DataError(
            f"no {what}: expected {' or '.join(names)}; got {', '.join(map(str, entry))[:200]}.", where=where
        )
    return value
