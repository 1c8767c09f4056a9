"""Goodness of fit of a click model on held-out pages: log-likelihood, perplexity, AUC, RMSE.

Log-likelihood (natural) per page and per impression; perplexity at a rank, 2^(−mean log₂ P(c_r)), with P(C_r = 1)
whatever was clicked above, and its mean over ranks; conditional perplexity with P(c_r | clicks above); area under the
curve and root mean squared error of predicted clicks; if the log has grades, NDCG@10 and the share of pairs of
documents that relevance puts in the right order, means over pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.clicks.log.click_log import ClickLog
from podium.clicks.models.base import Fitted, Predicted
from podium.metrics import Metric

Preset = Literal["podium", "pyclick"]


@dataclass(frozen=True)
class Measures:
    """Goodness of fit of a click model on a log."""

    log_likelihood_per_page: float
    """Natural logarithm of the probability of the clicks on a page, mean over pages."""
    log_likelihood: float
    """Per impression."""
    perplexity: float
    """Of P(click) at a rank, mean over ranks: 1 is perfect, 2 a tossed coin."""
    perplexity_at: tuple[float, ...]
    """At ranks 1, 2, …; NaN if no page has the rank."""
    conditional_perplexity: float
    """The same of P(click | the clicks above it)."""
    auc: float
    """Of P(click); NaN if all or none were clicked."""
    rmse: float
    """Root of the mean square of click − P(click), over impressions."""
    ndcg_at_10: float
    """Of documents by relevance, mean over pages with a grade for every document; NaN if there is none."""
    pair_accuracy: float
    """Share of pairs of different grade that relevance orders rightly, mean over the same pages."""
    ignored_clicks: int
    """Clicks that have probability 0 in the model and were left out."""


def measure(fitted: Fitted, log: ClickLog, *, preset: Preset = "podium") -> Measures:
    """Evaluate a fitted click model on the pages of a log.

    `preset="pyclick"` computes as PyClick does: log-likelihood is the mean over pages of each page's mean, and
    perplexity at a rank divides by all pages, also those without that rank. The numbers of its DBN and CCM cannot be
    reproduced and are not exact: its tail recursion reads the parameters of positions from the top instead of from the
    next rank, and it charges 1 − α for positions that were not examined. Its cascade model (CM) gives every no-click
    after the first click 1e-6.

    `fitted`: a model that was fitted to other pages, if the figures are to say how well it predicts.
    `log`: the pages to predict; pairs that the model does not know have its prior.
    `preset`: formulas of podium or of pyclick, see above.
    """
    used = fitted.model.usable(log)
    ignored = int(log.clicks.sum()) - int(used.clicks.sum())
    return measure_predicted(used, fitted.predict(used), fitted.relevance_in(used), preset=preset, ignored=ignored)


def measure_predicted(
    used: ClickLog, expected: Predicted, relevance: Array, *, preset: Preset = "podium", ignored: int = 0
) -> Measures:
    """Evaluate predictions of a log, from the probabilities of each impression and the relevance of its document."""
    if used.n_impressions == 0:
        raise DataError("the log has no impressions; there is nothing to measure.", where=used.source)
    clicks, weights = used.clicks.astype(np.float64), np.repeat(used.page_counts, used.sizes)
    conditional, marginal = (log_chance(used, p) for p in (expected.conditional, expected.marginal))
    total = float((weights * conditional).sum())
    each = total / weights.sum()
    if preset == "pyclick":
        shown = np.maximum(used.sizes, 1)
        means = np.bincount(used.page_of, conditional, minlength=used.n_pages) / shown
        each = float(np.average(means, weights=used.page_counts))
    at = _perplexity(used, marginal, weights, preset)
    conditional_at = _perplexity(used, conditional, weights, preset)
    ndcg, accuracy = _graded(relevance, used)
    return Measures(
        log_likelihood_per_page=total / used.n_page_views,
        log_likelihood=float(each),
        perplexity=float(np.nanmean(at)),
        perplexity_at=tuple(at.tolist()),
        conditional_perplexity=float(np.nanmean(conditional_at)),
        auc=_auc(expected.marginal, clicks, weights),
        rmse=float(np.sqrt(np.average((clicks - expected.marginal) ** 2, weights=weights))),
        ndcg_at_10=ndcg,
        pair_accuracy=accuracy,
        ignored_clicks=ignored,
    )


def log_chance(log: ClickLog, chance: Array) -> Array:
    """Log-probability of each impression's click or no click."""
    with np.errstate(divide="ignore"):
        return np.where(log.clicks > 0, np.log(chance), np.log1p(-chance))


def _perplexity(log: ClickLog, logs: Array, weights: Array, preset: Preset) -> Array:
    ranks = log.ranks() - 1
    pages = np.bincount(ranks, weights)
    divisor = np.where(pages > 0, log.n_page_views, np.nan) if preset == "pyclick" else pages
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(np.exp(-np.bincount(ranks, weights * logs) / divisor), np.float64)


def _auc(scores: Array, clicks: Array, weights: Array) -> float:
    """P(a clicked impression scores above one that was not), ties counting half."""
    _, group = np.unique(scores, return_inverse=True)
    hits, misses = np.bincount(group, weights * clicks), np.bincount(group, weights * (1.0 - clicks))
    if hits.sum() == 0 or misses.sum() == 0:
        return float("nan")
    below = np.cumsum(misses) - misses
    return float((hits * (below + 0.5 * misses)).sum() / (hits.sum() * misses.sum()))


def _graded(relevance: Array, log: ClickLog) -> tuple[float, float]:
    """NDCG@10 and pair accuracy of relevance over pages with a grade for every document."""
    if log.grades is None:
        return float("nan"), float("nan")
    missing = np.bincount(log.page_of, np.isnan(log.grades), minlength=log.n_pages)
    whole = (missing == 0) & (log.sizes > 0)
    part = log.select(whole)
    if part.n_pages == 0 or part.grades is None:
        return float("nan"), float("nan")
    scores = relevance[whole[log.page_of]]
    gain = Metric.parse("ndcg@10")(scores, np.maximum(part.grades, 0.0), part.offsets)  # spam is below 0
    right = Metric.parse("pairaccuracy")(scores, part.grades, part.offsets)
    return _mean(gain, part.page_counts), _mean(right, part.page_counts)


def _mean(values: Array, weights: Array) -> float:
    there = ~np.isnan(values)
    return float(np.average(values[there], weights=weights[there])) if there.any() else float("nan")
