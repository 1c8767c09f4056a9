"""Collections of `ir_datasets`: documents, queries and judgments in one call, for an index and training data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from podium.base.errors import DataError, MissingPackageError

try:
    import ir_datasets
except ImportError:
    raise MissingPackageError("ir_datasets", "podium.integrations.ir_datasets", "adapters") from None


@dataclass(frozen=True)
class Collection:
    """Documents, each read when it is asked for, queries, and judgments: query → document → grade."""

    dataset: Any
    queries: list[dict[str, str]]
    qrels: dict[str, dict[str, float]]

    @property
    def documents(self) -> Iterator[dict[str, Any]]:
        """The documents, one after another, with their ids as `id`."""
        for document in self.dataset.docs_iter():
            record = document._asdict()
            yield {"id": record.pop("doc_id"), **record}


def collection(name: str | Any) -> Collection:
    """A collection by its name in ir_datasets, such as "cranfield", or a dataset of that package.

    The text of a query is its field `text`, or without one its first field with text, such as a title. What ir_datasets
    has not downloaded before, it downloads.
    """
    dataset = ir_datasets.load(name) if isinstance(name, str) else name
    if not dataset.has_docs():
        raise DataError(f"{name} has no documents.")
    queries = [_query(query._asdict()) for query in dataset.queries_iter()] if dataset.has_queries() else []
    qrels: dict[str, dict[str, float]] = {}
    for judgment in dataset.qrels_iter() if dataset.has_qrels() else ():
        qrels.setdefault(judgment.query_id, {})[judgment.doc_id] = float(judgment.relevance)
    return Collection(dataset, queries, qrels)


def _query(record: dict[str, Any]) -> dict[str, str]:
    id = record.pop("query_id")
    text = record.get("text") or next((value for value in record.values() if isinstance(value, str) and value), "")
    return {"id": id, "text": text}
