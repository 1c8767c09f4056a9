"""Comparison of click models on held-out results pages, with bootstrap intervals over queries.

>>> from podium.clicks import simulate
>>> from podium.data import make_letor_like
>>> data, _ = make_letor_like(20, seed=1)
>>> log = simulate(data, pages=2000, depth=10, seed=0)
>>> compare_click_models(log, ["rctr", "pbm"], folds=2).best.name
'pbm'

Results pages are held out at random, so that most queries of held-out pages have training pages; others are left out.
Queries are resampled for the intervals, the same for all models, so that differences are paired.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arguments import random_numbers
from podium.base.arrays import Array, Flags, Int32s, Ints
from podium.base.errors import DataError, ParameterError, counted
from podium.base.progress import Progress, part_of, quiet
from podium.base.shown import Shown, ShownTable, Value
from podium.clicks import ClickModel, Measures
from podium.clicks.models.base import Fitted, Predicted
from podium.clicks.models.goodness_of_fit import log_chance, measure_predicted
from podium.evaluation.paired import Interval

if TYPE_CHECKING:
    from podium.clicks.log.click_log import ClickLog

DRAWS = 1000
LEVEL = 0.95
_BLOCK = 100  # draws at a time
_GROUPS = 10_000  # more queries than that are resampled in random groups


@dataclass(frozen=True)
class ComparedModel:
    """A click model's metrics on held-out results pages."""

    name: str
    measures: Measures
    log_likelihood: Interval
    perplexity: Interval
    conditional_perplexity: Interval
    rmse: Interval
    behind: Interval
    """Its log-likelihood of an impression below that of the best model."""
    examined: tuple[float, ...]
    """Examination probability of each rank, relative to rank 1, by the last fit; NaN if it is not identified."""

    @property
    def comparable(self) -> bool:
        """Whether it was measured on all clicks; the cascade model cannot explain a second click on a page."""
        return self.measures.ignored_clicks == 0

    @property
    def ties(self) -> bool:
        """Whether it may be as good as the best model: the interval of the difference has 0 in it."""
        return self.comparable and self.behind.low <= 0.0


@dataclass(frozen=True, repr=False)
class ClickComparison(Shown):
    """Click models, best log-likelihood first, then those measured on fewer clicks."""

    models: tuple[ComparedModel, ...]
    pages: int
    """Held-out results pages that were measured."""
    skipped: int
    """Held-out results pages whose query has no training page."""
    queries: int
    source: str | None

    @property
    def best(self) -> ComparedModel:
        return self.models[0]

    def _shown(self) -> ShownTable:
        rows: list[list[Value]] = [
            [model.name, m.log_likelihood, *model.log_likelihood, m.perplexity, m.conditional_perplexity, m.rmse]
            for model in self.models
            for m in [model.measures]
        ]
        heads = ["model", "log-likelihood", "from", "to", "perplexity", "conditional", "rmse"]
        title = f"Click models on {counted(self.pages, 'held-out page')}"
        return ShownTable(title, heads, rows, notes=["from, to: 95 % intervals of the log-likelihood"])


def compare_click_models(
    log: ClickLog,
    models: Sequence[str | ClickModel] = (),
    *,
    folds: int = 5,
    held_out: ClickLog | None = None,
    seed: int = 0,
    progress: Progress = quiet,
) -> ClickComparison:
    """Compare click models, by default all: fit on all but a fold of pages, measure on it, for every fold.

    With `held_out`, models are fitted on the log and measured on those pages instead. Models are the stages of
    `progress`.
    """
    named = models or ClickModel.catalogue()
    chosen = [ClickModel.parse(model) if isinstance(model, str) else model for model in named]
    names = [repr(model) for model in chosen]
    if len(set(names)) < len(names):
        raise ParameterError(f"a click model is given twice: {', '.join(names)}.")
    if held_out is None:
        tested, fold = log, _folds(log, folds, seed)
        mask = _seen(log, fold)
    else:
        tested, fold = held_out, np.zeros(held_out.n_pages, np.int64)
        mask = np.isin(held_out.query_ids, log.query_ids[np.unique(log.page_query)])[held_out.page_query]
    part = tested.select(mask)
    if part.n_impressions == 0:
        raise DataError(
            "no held-out page has a query that a training page has; click models learn queries one by one.",
            where=tested.source,
        )
    predictions = []
    for model in chosen:
        progress(0.0, repr(model))
        predictions.append(_predicted(model, log, tested=tested, fold=fold, mask=mask, progress=progress))
    return _compared(dict(zip(names, predictions, strict=True)), part, seed=seed, skipped=int((~mask).sum()))


@dataclass(frozen=True)
class _Held:
    """A model's predictions for the held-out results pages."""

    log: ClickLog  # with the clicks that the model can explain
    expected: Predicted
    relevance: Array
    ignored: int
    examined: tuple[float, ...]


def _folds(log: ClickLog, folds: int, seed: int) -> Ints:
    if not 2 <= folds <= max(log.n_pages, 2):
        raise ParameterError(f"folds must be from 2 to the {log.n_pages} pages; got {folds}.")
    return random_numbers(seed).permutation(log.n_pages) % folds


def _seen(log: ClickLog, fold: Ints) -> Flags:
    """Results pages whose query has a page in another fold."""
    counts = np.zeros((log.n_queries, int(fold.max(initial=0)) + 1), np.int64)
    np.add.at(counts, (log.page_query, fold), 1)
    seen: Flags = counts.sum(axis=1)[log.page_query] > counts[log.page_query, fold]
    return seen


def _predicted(
    model: ClickModel,
    log: ClickLog,
    *,
    tested: ClickLog,
    fold: Ints,
    mask: Flags,
    progress: Progress,
) -> _Held:
    """Fit for every fold of the tested pages, which may be those of the log, and predict the pages of the mask."""
    arrays = [np.zeros(tested.n_impressions) for _ in range(4)]
    n = int(fold.max(initial=0)) + 1
    used = model.usable(tested)
    fitted: Fitted | None = None
    for k in range(n):
        one_fit = part_of(progress, k, n, repr(model))
        fitted = model.fit(log.select(fold != k) if tested is log else log, progress=one_fit)
        pages = (fold == k) & mask
        part = used.select(pages)
        expected = fitted.predict(part)
        parts = (expected.conditional, expected.marginal, expected.examined, fitted.relevance_in(part))
        rows = pages[used.page_of]
        for whole, values in zip(arrays, parts, strict=True):
            whole[rows] = values
    assert fitted is not None
    rows = mask[used.page_of]
    conditional, marginal, examined, relevance = (values[rows] for values in arrays)
    kept = used.select(mask)
    ignored = int(tested.clicks[rows].sum()) - int(kept.clicks.sum())
    return _Held(kept, Predicted(conditional, marginal, examined), relevance, ignored, _examination(fitted))


def _examination(fitted: Fitted) -> tuple[float, ...]:
    relative = fitted.examined / fitted.examined[0]
    apart = fitted.model.splits_products & (fitted.components != fitted.components[0])
    return tuple(np.where(apart, np.nan, relative).tolist())


class _Resampled:
    """Statistics of the pages of a log over resampled queries: sums over impressions, all or by rank."""

    def __init__(self, log: ClickLog, seed: int) -> None:
        import scipy.sparse as sp

        codes = np.unique(log.page_query, return_inverse=True)[1]
        if codes.max(initial=0) >= _GROUPS:
            codes = random_numbers(seed).permutation(codes.max() + 1)[codes] % _GROUPS
        self.query, self.rank = codes[log.page_of], log.ranks() - 1
        self.n_queries, self.n_ranks = int(codes.max(initial=0)) + 1, int(self.rank.max(initial=0)) + 1
        self.weights = np.repeat(log.page_counts, log.sizes)
        self.seed, self._matrix = seed, sp.csr_array
        self.shown = self.sums(np.ones(log.n_impressions))
        self.shown_at = self.sums_at(np.ones(log.n_impressions))

    def _draws(self) -> Iterator[Array]:
        """The number of times each query is drawn, a block of draws at a time."""
        rng = np.random.default_rng(self.seed)
        n = self.n_queries
        for _ in range(0, DRAWS, _BLOCK):
            yield np.stack([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(_BLOCK)]).astype(np.float64)

    def sums(self, values: Array) -> Array:
        """Σ over impressions, of each draw."""  # (B,)
        return self._sums(values, np.zeros(len(values), np.int32), 1)[:, 0]

    def sums_at(self, values: Array) -> Array:
        """Σ over the impressions of each rank, of each draw."""  # (B, R)
        return self._sums(values, self.rank, self.n_ranks)

    def _sums(self, values: Array, column: Int32s, n_columns: int) -> Array:
        """Sums by column; −∞ (a click that a model holds impossible) in every draw that has its query."""
        never, shape = np.isneginf(values), (self.n_queries, n_columns)
        each = self._matrix((self.weights * np.where(never, 0.0, values), (self.query, column)), shape=shape)
        bad = self._matrix((never.astype(np.float64), (self.query, column)), shape=shape)
        parts = []
        for draw in self._draws():
            parts.append(np.asarray(draw @ each))
            if never.any():
                parts[-1][np.asarray(draw @ bad) > 0] = -np.inf
        return np.concatenate(parts)

    def means(self, values: Array) -> Array:
        return self.sums(values) / self.shown

    def perplexities(self, logs: Array) -> Array:
        """The mean over ranks, of each draw; ranks that a draw does not have are left out."""
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            at = np.where(self.shown_at > 0, np.exp(-self.sums_at(logs) / self.shown_at), np.nan)
        return np.asarray(np.nanmean(at, axis=1), np.float64)


def _compared(predictions: dict[str, _Held], part: ClickLog, *, seed: int, skipped: int) -> ClickComparison:
    resampled = _Resampled(part, seed)
    each = predictions.values()
    likelihoods = [log_chance(held.log, held.expected.conditional) for held in each]
    measured = [measure_predicted(held.log, held.expected, held.relevance, ignored=held.ignored) for held in each]
    means = [resampled.means(values) for values in likelihoods]
    comparable = [measures for measures in measured if not measures.ignored_clicks] or measured
    best = measured.index(max(comparable, key=lambda measures: measures.log_likelihood))
    models = []
    for (name, held), measures, logs, mean in zip(predictions.items(), measured, likelihoods, means, strict=True):
        marginal = log_chance(held.log, held.expected.marginal)
        squares = (held.log.clicks - held.expected.marginal) ** 2
        models.append(
            ComparedModel(
                name,
                measures,
                log_likelihood=_interval(mean),
                perplexity=_interval(resampled.perplexities(marginal)),
                conditional_perplexity=_interval(resampled.perplexities(logs)),
                rmse=_interval(np.sqrt(resampled.means(squares))),
                behind=_interval(means[best] - mean),
                examined=held.examined,
            )
        )
    models.sort(key=lambda model: (not model.comparable, -model.measures.log_likelihood))
    queries = len(np.unique(part.page_query))
    return ClickComparison(tuple(models), part.n_pages, skipped, queries, part.source)


def _interval(draws: Array) -> Interval:
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="inverted_cdf")
    return Interval(float(low), float(high))
