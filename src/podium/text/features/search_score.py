"""The score of a search as a feature, whatever the search: what a learned ranking starts from."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import IncompatibleError
from podium.base.registry import register
from podium.jit.tiers import tier
from podium.text.context import Context
from podium.text.expansion.expansion import Expansion
from podium.text.features.base import Feature, FieldFeature
from podium.text.features.term_dependence import DependencePhrases, DependenceTerms, DependenceWindows
from podium.text.retrieval.base import Retrieval, Scratch, Sums, Totals, WordRetrieval
from podium.text.retrieval.bm25 import BM25
from podium.text.retrieval.sdm import SequentialDependence
from podium.text.stages.joined_lists import ranked

_LISTED = 100
"""Documents of a list, if it is not that of the first stage."""
_STEPS = 4  # of small work, per count


@register
class SearchScore(Feature):
    """The score of a document in a search, as in search_score(by=rm3): any `--by` of podium search.

    Scores of words, sdm and expansions are computed for any document or text. Of other searches, such as rrf, the
    score is that in the list of the first stage, or the lowest of the list if the document is not in it; a text that
    is not in the index has none.
    """

    name = "search_score"
    of_candidates = True
    by: Retrieval = BM25()
    """Search whose score it is."""

    def values(self, context: Context) -> Array:
        if context.by == self.by and context.first_scores is not None:
            return np.asarray(context.first_scores, np.float64)
        if isinstance(self.by, Expansion):
            return word_scores(self.by.of, context.asking(self.by.expanded(context.index, context.query)))
        if isinstance(self.by, WordRetrieval):
            return word_scores(self.by, context)
        if isinstance(self.by, SequentialDependence):
            return dependence_scores(self.by, context)
        return _listed(self.by, context)


def word_scores(how: WordRetrieval, context: Context) -> Array:
    """The scores of documents by their words."""  # (n,)
    index, query, n = context.index, context.query, len(context)
    if not n or not len(query.terms):
        return np.zeros(n)
    weights, statistics = how.weights(index.fields, index.weights), context.statistics
    counts = np.tensordot(weights, context.words.counts[:-1], axes=1).T  # (m, n)
    terms, rows = np.nonzero(counts)
    postings = (np.searchsorted(terms, np.arange(len(counts) + 1)), rows.astype(np.int32), counts[terms, rows])
    lengths, scratch = weights @ context.sizes[:-1, 0], Scratch.of(n)
    sums = Sums(np.arange(len(counts)), postings, lengths, np.zeros(n, np.bool_), scratch, lambda _, make: make())
    totals = Totals(float(statistics.totals[:-1] @ weights), statistics.cf[:, :-1] @ weights)
    with tier(_STEPS * len(rows)):
        touched = scratch.touched[: how.scores(sums, query, statistics, totals)]
    scores = how.without_words(lengths, query, totals)
    scores[touched] = scratch.scores[touched]
    return scores


def dependence_scores(how: SequentialDependence, context: Context) -> Array:
    """The scores of documents by sdm."""  # (n,)
    parts: tuple[tuple[float, FieldFeature], ...] = (
        (how.terms, DependenceTerms(mu=how.mu)),
        (how.phrases, DependencePhrases(mu=how.pair_mu)),
        (how.windows, DependenceWindows(mu=how.pair_mu, window=how.window)),
    )
    return np.asarray(sum(share * (part.values(context) - _of_nothing(part, context)) for share, part in parts))


def _of_nothing(part: FieldFeature, context: Context) -> float:
    """The value of a document of length 0, which scores of the search leave out."""
    view, total = part.view(context), context.totals[-1, 1]
    if view is None or total == 0.0:
        return 0.0
    cf = view.terms[-1, 1]
    return float(view.times[cf > 0] @ np.log(cf[cf > 0] / total))


def _listed(how: Retrieval, context: Context) -> Array:
    """The scores of documents in the list that a search returns."""  # (n,)
    if context.records is not None:
        raise IncompatibleError(
            f"texts that are not in the index have no place in the list of {how}, whose score the model needs. Train "
            "on candidates of a first stage that scores texts, such as --by bm25, rm3 or sdm."
        )
    first = context.candidates
    if first.by == how and first.first_scores is not None:
        numbers, scores = first.numbers, first.first_scores
    else:
        scores, numbers = ranked(how, context.index, context.query, _LISTED, None)
    of_document = dict(zip(numbers.tolist(), scores.tolist(), strict=True))
    lowest = min(of_document.values(), default=0.0)
    return np.array([of_document.get(number, lowest) for number in context.numbers.tolist()], np.float64)
