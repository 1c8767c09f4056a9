"""HTML reports on click logs: the findings of the data doctor, and a comparison of click models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import AnyArray
from podium.base.errors import counted
from podium.clicks.connected_ranks import parts_of_ranks
from podium.clicks.doctor import odd_pages
from podium.pages.kit import bars, lines, paragraph, points, shades, static_page, table

if TYPE_CHECKING:
    from podium.clicks.log.click_log import ClickLog
    from podium.data.doctor.check import Finding
    from podium.evaluation.compare_clicks import ClickComparison, ComparedModel
    from podium.evaluation.paired import Interval

RANKS = 20
"""Ranks in the charts."""
_EXAMPLES = 10
_ODD = {
    "robots": "visits of very many pages",
    "all-clicked": "every document was clicked",
    "fast-clicks": "clicks within 0.2 s",
}


def check_page(log: ClickLog, findings: Sequence[Finding]) -> str:
    """HTML report of the data doctor on a click log."""
    summary = (
        f"{log.source or 'log'}: {log.n_page_views:.0f} pages of {counted(log.n_queries, 'query', 'queries')}, "
        f"{counted(log.n_pairs, 'pair')}, {counted(int(log.clicks.sum()), 'click')}"
    )
    sections = {"Findings": _findings(findings)}
    if log.n_impressions:
        sections |= {
            "Clicks by rank": _by_rank(log),
            "Which ranks can be compared": _connection(log),
            "Odd pages": _odd(log),
        }
    return static_page("Check of a click log", summary, sections)


def comparison_page(comparison: ClickComparison) -> str:
    """HTML report on compared click models."""
    summary = (
        f"{comparison.source or 'log'}: {counted(comparison.pages, 'held-out page')} of "
        f"{counted(comparison.queries, 'query', 'queries')}"
    )
    comparable = [model for model in comparison.models if model.comparable]
    likelihood = {model.name: (model.measures.log_likelihood, model.log_likelihood) for model in comparable}
    perplexity = {model.name: model.measures.perplexity_at[:RANKS] for model in comparable}
    examined = {model.name: model.examined[:RANKS] for model in comparison.models}
    sections = {
        "Leaderboard": _leaders(comparison),
        "Log-likelihood of an impression": points(
            likelihood, label="Log-likelihood of each model", x_name="natural logarithm; right is better"
        ),
        "Perplexity at each rank": lines(
            perplexity, label="Perplexity by rank", x_name="rank", y_name="perplexity; lower is better", low=1.0
        ),
        "How far down people look": lines(
            examined, label="Examination by rank", x_name="rank", y_name="relative to rank 1"
        )
        + paragraph(
            "Examination probability by the last fit of each model. Ranks at which a model cannot separate position "
            "from relevance, because no document was shown both there and at rank 1, are left out.",
            note=True,
        ),
    }
    return static_page("Comparison of click models", summary, sections)


def leaderboard(comparison: ClickComparison) -> tuple[list[str], list[list[str]]]:
    """The table of compared models, best first, with confidence intervals in brackets."""
    graded = any(not math.isnan(model.measures.ndcg_at_10) for model in comparison.models)
    heads = ["model", "", "log-likelihood", "", "perplexity", "", "conditional", "AUC", "RMSE"]
    heads += ["NDCG@10", "pairs right"] if graded else []
    rows = []
    for model in comparison.models:
        fit = model.measures
        row = [model.name, _mark(model, comparison.best), _number(fit.log_likelihood), _span(model.log_likelihood)]
        row += [_number(fit.perplexity), _span(model.perplexity), _number(fit.conditional_perplexity)]
        row += [_number(fit.auc), _number(fit.rmse)]
        row += [_number(fit.ndcg_at_10), _number(fit.pair_accuracy)] if graded else []
        rows.append(row)
    return heads, rows


def _mark(model: ComparedModel, best: ComparedModel) -> str:
    if not model.comparable:
        return "other clicks"
    return "best" if model is best else "ties" if model.ties else ""


def _leaders(comparison: ClickComparison) -> str:
    heads, rows = leaderboard(comparison)
    chosen = [k for k, model in enumerate(comparison.models) if model.ties]
    notes = [
        "Best first by the log-likelihood of an impression. In brackets: 95 % intervals over queries. A model ties "
        "with the best if the interval of their difference, on the same queries, has 0 in it."
    ]
    if comparison.skipped:
        notes.append(f"{counted(comparison.skipped, 'held-out page')} of queries without a training page left out.")
    notes += [
        f"{model.name} leaves out {counted(model.measures.ignored_clicks, 'click')} that it holds impossible: its "
        "figures cannot be compared with the others."
        for model in comparison.models
        if not model.comparable
    ]
    leaders = table(heads, rows, label="Click models", chosen=chosen, words=2)
    return leaders + "".join(paragraph(note, note=True) for note in notes)


def _findings(findings: Sequence[Finding]) -> str:
    rows = [
        [finding.level, finding.title, finding.why, finding.todo, "; ".join(finding.examples)]
        for finding in findings
        if finding.code != "clicks-by-rank"
    ]
    if not rows:
        return paragraph("Nothing wrong was found.")
    return table(["", "what", "why it matters", "what to do", "examples"], rows, label="Findings", words=5)


def clicks_by_rank(log: ClickLog) -> tuple[AnyArray, AnyArray]:
    """Impressions and clicks of each rank."""
    ranks, weights = log.ranks() - 1, np.repeat(log.page_counts, log.sizes)
    return np.bincount(ranks, weights), np.bincount(ranks, weights * log.clicks)


def _by_rank(log: ClickLog) -> str:
    shown, clicked = (values[:RANKS] for values in clicks_by_rank(log))
    rates = np.divide(clicked, shown, out=np.full(len(shown), np.nan), where=shown > 0)
    picture = bars(rates.tolist(), label="Click rate by rank", x_name="rank", y_name="share of impressions clicked")
    rows = [[str(k + 1), f"{shown[k]:.0f}", f"{clicked[k]:.0f}", _number(rate)] for k, rate in enumerate(rates)]
    detail = table(["rank", "shown", "clicked", "rate"], rows, label="Clicks by rank")
    return (
        picture
        + paragraph("Rates that fall with the rank are position bias and relevance together.", note=True)
        + f"<details><summary>As a table</summary>{detail}</details>"
    )


def _connection(log: ClickLog) -> str:
    import scipy.sparse as sp

    ranks = log.ranks()
    n = min(int(ranks.max()), RANKS)
    near = ranks <= n
    at = sp.csr_array((np.ones(near.sum()), (log.pairs[near], ranks[near] - 1)), shape=(log.n_pairs, n))
    at.sum_duplicates()
    at.data[:] = 1.0
    picture = shades(
        (at.T @ at).toarray().tolist(), label="Documents shown at both of two ranks", x_name="rank", y_name="rank"
    )
    parts = parts_of_ranks(log)
    groups = [np.flatnonzero(parts == part) + 1 for part in np.unique(parts[parts > 0])]
    words = [_listed(group.tolist()) for group in groups]
    if len(groups) == 1:
        verdict = "All ranks are connected: position bias can be separated from relevance."
    else:
        verdict = (
            f"The ranks fall into {len(groups)} parts: {'; '.join(words[:5])}{'; …' if len(words) > 5 else ''}. "
            "Between parts, position bias cannot be separated from relevance."
        )
    return (
        picture
        + paragraph("Darker: more documents of a query were shown at both ranks, at different times.", note=True)
        + paragraph(verdict)
    )


def _odd(log: ClickLog) -> str:
    rows = []
    for code, mask in odd_pages(log).items():
        names = [f"page {p + 1}, query {log.query_ids[log.page_query[p]]}" for p in np.flatnonzero(mask)[:_EXAMPLES]]
        rows.append([code, _ODD[code], "; ".join(names), str(int(mask.sum()))])
    return table(["", "what", "examples", "pages"], rows, label="Odd pages", words=3) + paragraph(
        "They are dropped only if asked: podium clicks check LOG --drop odd -o clean.parquet", note=True
    )


def _listed(ranks: list[int]) -> str:
    shown = ", ".join(map(str, ranks[:8]))
    return f"{shown}, …" if len(ranks) > 8 else shown


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.4f}"


def _span(span: Interval) -> str:
    return f"[{_number(span.low)}, {_number(span.high)}]"
