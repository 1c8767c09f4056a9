"""Search in the index of the service, by a retrieval method or by a model of the model store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.engine import Answer, Engine
from podium.service.domain_errors import RequestError
from podium.service.feedback.events import Impression
from podium.service.models.model_store import Entry
from podium.service.rank_request import EXPLAINED
from podium.service.schemas import Found, SearchAnswer, SearchRequest
from podium.text.retrieval.filters import make_filter
from podium.text.snippets import snippet

if TYPE_CHECKING:
    from podium.text.index.index import Index


def search(
    index: Index, entry: Entry | None, request: SearchRequest, name: str
) -> tuple[SearchAnswer, Impression | None]:
    """Search documents, best first; with the impression to log if a model ranked them."""
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
    where = make_filter(index, request.where) if request.where else None
    page: Any = {"k": request.k, "offset": request.offset, "where": where}
    hits = (
        index.search(request.query, by=request.by or "bm25", **page)
        if entry is None or entry.engine is None
        else entry.engine.search(request.query, explain=request.explain, **page)
    )
    query, results = index.query(request.query), []
    for place, (id, score) in enumerate(zip(hits.ids, hits.scores.tolist(), strict=True)):
        document = index.document(id)
        text = snippet(index, query, document)
        rank, marks = request.offset + place + 1, list(text.marks)
        result = Found(id=id, rank=rank, score=score, document=document, snippet=text.text, marks=marks)
        if isinstance(hits, Answer) and entry is not None:
            _add_parts(result, hits, entry, place, explain=request.explain)
        results.append(result)
    answer = SearchAnswer(
        request=name,
        model=None if entry is None else entry.key,
        results=results,
        unknown=list(query.unknown),
        took_ms=0.0,
    )
    if not isinstance(hits, Answer) or entry is None:
        return answer, None
    if hits.how:
        answer.shares = hits.how
    if request.offset > 0:  # an impression begins at rank 1
        return answer, None
    return answer, Impression(
        name, entry.key, entry.feature_names, request.query, request.user, hits.ids, hits.features
    )


def warm_search(index: Index, engines: Iterable[Engine]) -> None:
    """Search for the words of a document, so that no request waits for the compiler."""
    alive = [segment.numbers[~segment.dead][:1] for segment in index.segments]
    numbers = np.concatenate(alive)[:1] if alive else np.empty(0, np.int64)
    for id in index.ids(numbers):
        text = " ".join(map(str, index.document(id).values()))[:200]
        for hit in index.search(text, 1).ids:
            snippet(index, index.query(text), index.document(hit))
        for engine in engines:
            engine.search(text, 1)


def _add_parts(result: Found, hits: Answer, entry: Entry, place: int, *, explain: bool) -> None:
    result.first_stage = int(hits.first_stage[place])
    if explain:
        values = hits.features[place]
        plain = [float(value) if np.isfinite(value) else None for value in values]
        result.features = dict(zip(entry.feature_names, plain, strict=True))
    if hits.shares is not None:
        result.shares = dict(zip(entry.feature_names, hits.shares[place].tolist(), strict=True))
