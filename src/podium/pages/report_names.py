"""Names for the report of a search: texts of its queries, and titles of the documents that it explains."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from podium.pages.report import Names

if TYPE_CHECKING:
    from podium.evaluation.compare import Comparison
    from podium.text.collection.collection import Topic
    from podium.text.index.index import Index


def names_of(comparison: Comparison, topics: Iterable[Topic], index: Index) -> Names:
    """Texts of the queries, and titles of those documents that a pair of the comparison compares."""
    pairs = [
        pair
        for outcomes in comparison.by_method.values()
        for outcome in outcomes
        for pair in outcome.details.get("pairs") or []
    ]
    ids = {str(document["document"]) for pair in pairs for document in pair["documents"]}
    stored = {id: index.store.document(id) or {} for id in sorted(ids)}
    titles = {id: str(fields["title"]) for id, fields in stored.items() if fields.get("title")}
    return Names({topic.id: topic.text for topic in topics}, titles)
