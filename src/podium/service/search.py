"""Search: the index that the service was started with, by its first stage or by a model on the shelf."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from podium.engine import Answer, Engine
from podium.service.domain_errors import RequestError
from podium.service.feedback.events import Impression
from podium.service.models.model_store import Entry
from podium.service.schemas import Found, SearchAnswer, SearchRequest
from podium.text.index.index import Index
from podium.text.snippets import snippet

EXPLAINED = 20
"""The most documents whose scores are taken apart at once: trees take some 60 ms each."""


def search(
    index: Index, entry: Entry | None, request: SearchRequest, name: str
) -> tuple[SearchAnswer, Impression | None]:
    """The documents of the index for a query, best first, and what is to be kept of them if a model ranked them."""
    if entry is not None and entry.engine is None:
        raise RequestError(
            f"{entry.key} was not trained on features of this index, so it cannot rank what it finds.",
        )
    if request.by is not None and entry is not None:
        raise RequestError("by: a model has the first stage that it was trained with. Leave one of them out.")
    if request.explain and request.k > EXPLAINED:
        raise RequestError(f"explain for {request.k} documents; at most {EXPLAINED} are taken apart.", where="k")
    if request.explain and entry is None:
        raise RequestError("explain takes a model apart, so it needs a model.")
    found: Any = (
        index.search(request.query, request.k, by=request.by or "bm25")
        if entry is None or entry.engine is None
        else entry.engine.search(request.query, request.k, explain=request.explain)
    )
    asked, results = index.query(request.query), []
    for place, (id, score) in enumerate(zip(found.ids, found.scores.tolist(), strict=True)):
        document = index.document(id)
        text = snippet(index, asked, document)
        one = Found(id=id, rank=place + 1, score=score, document=document, snippet=text.text, marks=list(text.marks))
        if isinstance(found, Answer) and entry is not None:
            _add_parts(one, found, entry, place, explain=request.explain)
        results.append(one)
    answer = SearchAnswer(
        request=name,
        model=None if entry is None else entry.key,
        results=results,
        unknown=list(asked.unknown),
        took_ms=0.0,
    )
    if not isinstance(found, Answer) or entry is None:
        return answer, None
    if found.how:
        answer.shares = found.how
    return answer, Impression(
        name, entry.key, entry.feature_names, request.query, request.user, found.ids, found.features
    )


def warm_search(index: Index, engines: Iterable[Engine]) -> None:
    """Search for the words of a document, so that no request waits until functions are compiled."""
    alive = [segment.numbers[~segment.dead][:1] for segment in index.segments]
    numbers = np.concatenate(alive)[:1] if alive else np.empty(0, np.int64)
    for id in index.ids(numbers):
        text = " ".join(map(str, index.document(id).values()))[:200]
        for hit in index.search(text, 1).ids:
            snippet(index, index.query(text), index.document(hit))
        for engine in engines:
            engine.search(text, 1)


def _add_parts(one: Found, found: Answer, entry: Entry, place: int, *, explain: bool) -> None:
    one.first_stage = int(found.first_stage[place])
    if explain:
        values = found.features[place]
        plain = [float(value) if np.isfinite(value) else None for value in values]
        one.features = dict(zip(entry.feature_names, plain, strict=True))
    if found.shares is not None:
        one.shares = dict(zip(entry.feature_names, found.shares[place].tolist(), strict=True))
