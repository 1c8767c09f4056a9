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
from podium.service.schemas import FacetValue, Found, SearchAnswer, SearchRequest
from podium.service.search_ranker import SearchBehaviour, SearchRanker, by_first_stage, by_model
from podium.text.expansion.expansion import Expansion, word_weights
from podium.text.result_fields import all_results, facet, sorted_hits
from podium.text.retrieval.filters import make_filter
from podium.text.snippets import snippet
from podium.text.suggestions import did_you_mean, more_like, other_than

if TYPE_CHECKING:
    from podium.text.index.index import Hits, Index
    from podium.text.query import Query
    from podium.text.retrieval.base import Where


def search_ranker(entry: Entry | None, request: SearchRequest) -> SearchRanker:
    """Ranker that a request asks for; raises an error if its parts do not go together."""
    if (request.query is None) == (request.like is None):
        raise RequestError("a search needs query, the words to search for, or like, the id of a document.")
    ranker = None if entry is None else by_model(entry)
    if request.by is not None and ranker is not None:
        raise RequestError("by: a model has the first stage that it was trained with. Leave one of them out.")
    if request.sort is not None and ranker is not None:
        raise RequestError("sort: results have the order of a field or of a model. Leave one of them out.")
    if request.explain and request.k > EXPLAINED:
        raise RequestError(f"explain for {request.k} documents; at most {EXPLAINED} are taken apart.", where="k")
    ranker = ranker or by_first_stage(request.by or "bm25", "by")
    if request.explain and entry is None and not isinstance(ranker.retrieval, Expansion):
        raise RequestError("explain takes a model or an expanded query apart, so it needs model, or by=rm3, bo1 or kl.")
    return ranker


def search(
    index: Index, ranker: SearchRanker, request: SearchRequest, name: str, behaviour: SearchBehaviour
) -> tuple[SearchAnswer, Impression | None]:
    """Search documents, best first; with the impression to log, which has features if a model ranked them."""
    query, where = _query(index, request)
    page: Any = {"k": request.k, "offset": request.offset, "where": where}
    hits = (
        ranker.search(index, query, behaviour=behaviour, explain=request.explain, **page) if request.sort is None
        else sorted_hits(index, query, sort=request.sort, by=ranker.retrieval, **page)
    )  # fmt: skip
    model = None if ranker.entry is None else ranker.entry.key
    results = [
        _result(index, query, hits, place, rank=request.offset + place + 1, ranker=ranker, explain=request.explain)
        for place in range(len(hits))
    ]
    answer = _answer(index, ranker, request, name, (query, where), model=model, results=results)
    if request.explain and ranker.entry is None and isinstance(ranker.retrieval, Expansion):
        answer.expanded = word_weights(index, ranker.retrieval.expanded(index, query, query.allowing(where)))
    if isinstance(hits, Answer) and hits.how:
        answer.shares = hits.how
    if request.offset > 0 or request.query is None or request.sort is not None:
        return answer, None  # an impression begins at rank 1, has a query, and is by relevance
    names = () if ranker.entry is None else ranker.entry.feature_names
    features = hits.features if isinstance(hits, Answer) else np.empty((len(hits), 0), np.float32)
    return answer, Impression(name, ranker.key, names, request.query, request.user, hits.ids, features, at=behaviour.at)


def interleaved_search(
    index: Index, candidate: SearchRanker, control: SearchRanker, request: SearchRequest, name: str,
    behaviour: SearchBehaviour, *, method: str, most: int,
) -> tuple[SearchAnswer, Impression | None]:  # fmt: skip
    """Interleave what two rankers find, at random by a seed of the query and the user, or without one the request id.

    The first page, up to `most` documents, is merged, as far as both rankers have any; the others follow in the order
    of the control, also on later pages, which are not logged. The score of a document is the control's, or the
    candidate's if the control did not find it.
    """
    from podium.online.interleaving import make_page

    query, where = _query(index, request)
    last, text = request.offset + request.k, request.query or ""
    lists = [
        ranker.search(index, query, behaviour=behaviour, k=max(last, most), where=where)
        for ranker in (candidate, control)
    ]
    seed, length = request.user or name, max(1, min(request.k, most))
    page = make_page(method, lists[0].ids, lists[1].ids, query=text, page=seed, length=length)
    merged = set(page.documents)
    shown = [*page.documents, *(id for id in lists[1].ids if id not in merged)][request.offset : last]
    found = {
        id: (ranker, hits, place)
        for ranker, hits in zip((candidate, control), lists, strict=True)
        for place, id in enumerate(hits.ids)
    }  # the control's, if both found it
    results = []
    for rank, id in enumerate(shown, request.offset + 1):
        ranker, hits, place = found[id]
        results.append(_result(index, query, hits, place, rank=rank, ranker=ranker, explain=False))
    both = f"{control.key}+{candidate.key}"
    answer = _answer(index, control, request, name, (query, where), model=both, results=results)
    if request.offset > 0:
        return answer, None
    no_features = np.empty((len(shown), 0), np.float32)
    return answer, Impression(
        name, both, (), text, request.user, shown, no_features, arms=page.credits, at=behaviour.at
    )


def _query(index: Index, request: SearchRequest) -> tuple[Query, Where | None]:
    """Query and filter of a request."""
    where = make_filter(index, request.where) if request.where else None
    if request.like is None:
        return index.query(request.query or "", syntax=request.syntax), where
    return more_like(index, request.like), other_than(index, request.like, where)


def _result(
    index: Index, query: Query, hits: Hits | Answer, place: int, *, rank: int, ranker: SearchRanker, explain: bool
) -> Found:
    """Document at a place of a ranking, with its snippet."""
    id = hits.ids[place]
    document = index.document(id)
    text = snippet(index, query, document, among=len(hits))
    result = Found(
        id=id, rank=rank, score=float(hits.scores[place]), document=document, snippet=text.text, marks=list(text.marks)
    )
    if isinstance(hits, Answer) and ranker.entry is not None:
        _add_parts(result, hits, ranker.entry, place, explain=explain)
    return result


def _answer(
    index: Index, ranker: SearchRanker, request: SearchRequest, name: str, asked: tuple[Query, Where | None], *,
    model: str | None, results: list[Found],
) -> SearchAnswer:  # fmt: skip
    """Answer with what does not depend on the order of the results: unknown words, a suggestion, facets."""
    query, where = asked
    answer = SearchAnswer(request=name, model=model, results=results, unknown=list(query.unknown), took_ms=0.0)
    meant = did_you_mean(index, query)
    if meant is not None:
        answer.did_you_mean = meant
    if request.facets:
        numbers = all_results(index, query, by=ranker.retrieval, where=where).numbers
        answer.facets = {
            field: [FacetValue(value=value, documents=n) for value, n in facet(index, numbers, field)]
            for field in dict.fromkeys(request.facets)
        }
    return answer


def warm_search(index: Index, engines: Iterable[Engine]) -> None:
    """Search for the words of a document, so that no request waits for the compiler."""
    alive = [segment.numbers[~segment.dead][:1] for segment in index.segments]
    numbers = np.concatenate(alive)[:1] if alive else np.empty(0, np.int64)
    for id in index.ids(numbers):
        text = " ".join(map(str, index.document(id).values()))[:200]
        for hit in index.search(text, 1).ids:
            snippet(index, index.query(text), index.document(hit))
        for engine in engines:
            engine.search(text, 1, fill=lambda _, X: X)


def _add_parts(result: Found, hits: Answer, entry: Entry, place: int, *, explain: bool) -> None:
    result.first_stage = int(hits.first_stage[place])
    if explain:
        values = hits.features[place]
        plain = [float(value) if np.isfinite(value) else None for value in values]
        result.features = dict(zip(entry.feature_names, plain, strict=True))
    if hits.shares is not None:
        result.shares = dict(zip(entry.feature_names, hits.shares[place].tolist(), strict=True))
