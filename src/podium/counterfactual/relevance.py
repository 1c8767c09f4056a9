"""Relevance r̂ predicted from a log, for the direct method and doubly robust estimators of off-policy evaluation.

No prediction is used on the data it was fitted to. A click model knows every pair (query, document) by itself, so the
pages of a log are dealt into folds, and r̂ of a page is that of the model fitted to the pages of the other folds. A
ranking model knows pairs by their features, so it is fitted to other queries.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from podium.base.arguments import random_numbers
from podium.base.arrays import Array, Ints
from podium.base.errors import DataError
from podium.clicks.log.click_log import ClickLog
from podium.clicks.log.queries_by_text import BY_TEXT
from podium.clicks.models.base import ClickModel
from podium.clicks.propensity_file import Propensities
from podium.data.dataset import Dataset
from podium.data.table import Table
from podium.formats.trec.trec import AnyRun, Run, as_run
from podium.losses import Logistic
from podium.metrics import NDCG
from podium.recipe import Recipe
from podium.training import fit

FOLDS = 5
_LOGISTIC = Recipe(loss=Logistic(highest=1.0))


@dataclass(frozen=True, eq=False)
class Guessed:
    """Predicted relevance r̂ of the pairs of a log, and of other documents by name."""

    fold: Ints  # (P,) of each page
    pairs: Array  # (F, U) r̂ of each pair for the pages of each fold
    others: dict[tuple[str, str], float] | None  # by (query, document); None: documents never shown count 0


def guess(log: ClickLog, relevance: str | ClickModel | AnyRun, *, propensities: Propensities, seed: int = 0) -> Guessed:
    """Predict r̂ by a click model, fitted in folds of pages, or by a run whose scores are probabilities of relevance."""
    if isinstance(relevance, str | ClickModel):
        model = ClickModel.parse(relevance) if isinstance(relevance, str) else relevance
        return _by_clicks(log, model, propensities, seed)
    run = as_run(relevance)
    scores = run.scores
    if len(scores) and not ((scores >= 0) & (scores <= 1)).all():
        bad = scores[(scores < 0) | (scores > 1)][0]
        raise DataError(f"relevance must be probabilities from 0 to 1; got {bad:g}.", where=run.source)
    queries = np.repeat(np.array([str(name) for name in run.query_ids], object), np.diff(run.offsets))
    documents = [str(name) for name in run.document_ids]
    pair = log.find_pairs(queries, documents)
    pairs = np.full(log.n_pairs, np.nan)
    pairs[pair[pair >= 0]] = scores[pair >= 0]
    others = dict(zip(zip(queries.tolist(), documents, strict=True), scores.tolist(), strict=True))
    return Guessed(np.zeros(log.n_pages, np.int64), pairs[None], others)


def _by_clicks(log: ClickLog, model: ClickModel, propensities: Propensities, seed: int) -> Guessed:
    alpha, beta = (float(values[0]) for values in propensities.at([1]))
    if not alpha > 0:
        raise DataError("the propensities lack rank 1, at which click models give relevance. Use how='ips'.")
    fold = random_numbers(seed).permutation(log.n_pages) % min(FOLDS, max(log.n_pages, 2))
    pairs = np.empty((int(fold.max()) + 1, log.n_pairs))
    for k in range(len(pairs)):
        rest = log.select(fold != k)
        if rest.n_impressions == 0:
            raise DataError("the log has too few pages to fit a click model in folds. Use how='ips'.", where=log.source)
        fitted = model.fit(rest)
        seen = fitted.impressions > 0
        at_top = fitted.attractiveness()
        # a pair that the other folds do not show gets their mean
        pairs[k] = (np.where(seen, at_top, at_top[seen].mean()) - beta) / alpha
    return Guessed(fold.astype(np.int64), np.clip(pairs, 0.0, 1.0), None)


def cross_fitted(data: Table, log: ClickLog, *, propensities: Propensities, seed: int = 0) -> Run:
    """Predict r̂ of every document by logistic regression on its features, fitted to the clicks of other queries.

    The label of a pair is its clicks, corrected for position: Σ (c − β)/Σ α over its impressions, cut to [0, 1].
    """
    from scipy.special import expit

    data = data.grouped()
    queries = np.array([data.query_name(q) for q in range(data.n_queries)], object)
    documents = [data.document_name(row) for row in range(data.n_documents)]
    pairs = log.find_pairs(queries[data.query_index], documents)
    labels = np.append(corrected_rates(log, propensities), np.nan)[pairs]
    labelled = ~np.isnan(labels)
    if not labelled.any():
        raise DataError(
            f"none of the log's documents is in the data; they are joined by query and document ids. {BY_TEXT}",
            where=data.source,
        )
    fold = random_numbers(seed).permutation(data.n_queries) % min(FOLDS, max(data.n_queries, 2))
    scores = np.empty(data.n_documents)
    for k in range(int(fold.max()) + 1):
        rows = labelled & (fold != k)[data.query_index]
        if not rows.any():
            raise DataError("too few queries have clicks to fit a model in folds. Use how='ips'.", where=data.source)
        train = Dataset.from_arrays(
            data.features[rows], labels[rows], qid=data.query_index[rows], feature_names=data.feature_names
        ).grouped()
        held_out = (fold == k)[data.query_index]
        scores[held_out] = fit(_LOGISTIC, train, metric=NDCG(), seed=seed).score(data)[held_out]
    return Run(queries, data.offsets, documents, expit(scores), source="relevance")  # type: ignore[arg-type]


def corrected_rates(log: ClickLog, propensities: Propensities) -> Array:
    """Click rate of each pair without position bias: Σ (c − β)/Σ α in [0, 1]; NaN if no rank has a propensity."""
    alpha, beta = propensities.at(log.ranks())
    used = np.nan_to_num(alpha) > 0
    counts = np.repeat(log.page_counts, log.sizes)[used]
    pairs = log.pairs[used]
    earned = np.bincount(pairs, counts * (log.clicks[used] - beta[used]), minlength=log.n_pairs)
    looked = np.bincount(pairs, counts * alpha[used], minlength=log.n_pairs)
    with np.errstate(invalid="ignore"):
        return np.clip(earned / looked, 0.0, 1.0)
