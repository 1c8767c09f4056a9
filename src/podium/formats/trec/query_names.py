"""Names of queries in qrels and runs: texts replaced by ids, and a hint if one file has texts and the other ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from podium.base.errors import DataError, counted
from podium.formats.query_texts import QueryTexts
from podium.formats.trec.trec import Qrels, Run

Judged = TypeVar("Judged", Qrels, Run)


def with_query_ids(judged: Judged, queries: QueryTexts) -> tuple[Judged, list[str]]:
    """Qrels or a run with ids in place of texts of queries, and sentences that say what was replaced and what was not.

    A name that is neither an id nor a text stays. Two texts of one query are joined.
    """
    where, names = judged.source or "judgments", [str(name) for name in judged.query_ids.tolist()]
    ids = queries.to_ids(names, where=where)
    renamed = [name if id is None else id for name, id in zip(names, ids, strict=True)]
    changed = sum(name != id for name, id in zip(names, renamed, strict=True))
    notes = []
    if changed:
        notes.append(
            f"{where}: {counted(changed, 'query', 'queries')} found by text in {queries.source or 'the queries'}"
        )
    missing = queries.unmatched(names, where=where)
    if missing is not None:
        notes.append(missing)
    return (_renamed(judged, names, renamed) if changed else judged), notes


def differing_names(judged: Sequence[str], ranked: Sequence[str]) -> str:
    """A sentence that says so if one of the two names queries by text and the other by id; otherwise empty."""
    texts = [any(" " in name for name in names) for names in (judged, ranked)]
    if texts[0] == texts[1]:
        return ""
    words = [
        f"by {'text' if is_text else 'id'}, e.g. {names[0]!r}"
        for is_text, names in zip(texts, (judged, ranked), strict=True)
    ]
    return (
        f" The judgments name queries {words[0]}, the run {words[1]}: give a file with both, --queries FILE "
        "(in Python: podium.formats.with_query_ids)."
    )


def _renamed(judged: Judged, names: list[str], renamed: list[str]) -> Judged:
    place = {id: q for q, id in enumerate(dict.fromkeys(renamed))}
    codes = np.array([place[id] for id in renamed])
    sizes = np.diff(judged.offsets)
    order = np.argsort(np.repeat(codes, sizes), kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(codes, sizes))]).astype(np.int64)
    documents = judged.document_ids[order]
    again = documents.repeats(offsets)
    if len(again):
        id = list(place)[int(np.searchsorted(offsets, again[0], side="right")) - 1]
        texts = " and ".join(repr(name) for name, other in zip(names, renamed, strict=True) if other == id)
        raise DataError(
            f"document {documents[int(again[0])]!r} is there under {texts}, which are all query {id!r}. Keep one.",
            where=judged.source,
        )
    columns: dict[str, Any] = {
        "query_ids": np.array(list(place), object),
        "offsets": offsets,
        "document_ids": documents,
    }
    if isinstance(judged, Qrels):
        topics = judged.topics
        if topics is not None and len(place) < len(names):
            raise DataError("two texts of one query cannot be joined with topics. Keep one.", where=judged.source)
        return replace(judged, labels=judged.labels[order], topics=topics, **columns)
    ranks = None if judged.ranks is None else judged.ranks[order]
    return replace(judged, scores=judged.scores[order], ranks=ranks, **columns)
