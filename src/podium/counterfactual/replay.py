"""Replay of a ranker: clicks on those logged pages that begin as the ranker's own list.

    rips   z = Σ_k 1[the first k documents are the ranker's]/P(that) · ω_k/α_k · (c_k − β_k)
    sips   the same, if all documents of the page are the ranker's

P is the share of the query's pages in the log. No click model is needed: a click at rank k may depend on the documents
above it (rips), or on the whole page (sips). Few pages agree with another ranker's list, so the intervals are wide; a
rank that no page reaches counts as never shown. Ties keep the order of the run.
Reference: McInerney et al., Counterfactual evaluation of slate recommendations with sequential reward interactions, KDD
2020; Li et al., Unbiased offline evaluation of contextual-bandit-based news article recommendation algorithms, WSDM
2011.
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Flags, Int32s, Ints
from podium.clicks.log.click_log import ClickLog
from podium.clicks.propensity_file import Propensities
from podium.counterfactual.discounts import Discount
from podium.counterfactual.page_values import Pages, PageValues, sums_of
from podium.formats.trec.trec import Run
from podium.jit.sorting import order_all


def replayed(pages: Pages, run: Run, discount: Discount, curve: Propensities, *, whole: bool) -> PageValues:
    """Contribution of each page to a ranker's value by rips, or by sips if `whole` pages must agree."""
    log = pages.log
    lists = _lists(log, run)
    agrees = _agrees(log, pages.ranks, lists, whole=whole)
    by_rank = discount.of(pages.ranks, curve)
    depth = int(pages.ranks.max())
    cells = log.page_query[pages.page_of] * np.int64(depth + 1) + pages.ranks
    n_cells = log.n_queries * (depth + 1)
    counts = np.repeat(log.page_counts, log.sizes)
    used = agrees & pages.has_propensity
    value = np.divide(pages.earned, pages.alpha, out=np.zeros(len(counts)), where=used)
    times = sums_of(cells, counts * used, n_cells)
    sums = sums_of(cells, counts * used * value, n_cells)
    mean = np.divide(sums, times, out=np.zeros(n_cells), where=times > 1)  # one page alone says nothing of its spread
    views = sums_of(log.page_query, log.page_counts, log.n_queries)
    share = times / np.maximum(np.repeat(views, depth + 1), 1e-300)
    weights = np.divide(by_rank, share[cells], out=np.zeros(len(counts)), where=used & (share[cells] > 0))
    stretch = np.sqrt(np.divide(times, times - 1.0, out=np.ones(n_cells), where=times > 1))  # the mean was fitted
    rest = pages.by_page(weights * stretch[cells] * (value - mean[cells]) * used)
    omega = np.append(0.0, discount.of(np.arange(1, depth + 1), curve))
    lengths = np.minimum(np.array([len(lists.get(q, ())) for q in range(log.n_queries)]), depth)
    there = np.arange(depth + 1) <= lengths[:, None]
    fitted = (omega * there * mean.reshape(-1, depth + 1)).sum(axis=1)
    total = (omega * there).sum(axis=1)
    never = (omega * there * (times.reshape(-1, depth + 1) == 0)).sum(axis=1)
    clicks = np.divide(weights, pages.alpha, out=np.zeros(len(counts)), where=used)
    zeros = np.zeros(log.n_pages)
    return PageValues(
        rest + fitted[log.page_query], zeros + 1.0, zeros, clicks, np.zeros(log.n_queries), never, total, zeros
    )


def _lists(log: ClickLog, run: Run) -> dict[int, Ints]:
    """Codes of the documents of each query of the log, in the ranker's order."""
    code = {str(name): number for number, name in enumerate(dict.fromkeys(log.document_ids))}
    number = {str(name): q for q, name in enumerate(log.query_ids)}
    rows, _ = order_all(run.scores, run.offsets)
    names = [code.get(str(name), -2) for name in np.asarray(run.document_ids)[rows]]
    parts = np.split(np.array(names, np.int64), run.offsets[1:-1])
    return {number[str(query)]: part for query, part in zip(run.query_ids, parts, strict=True) if str(query) in number}


def _agrees(log: ClickLog, ranks: Int32s, lists: dict[int, Ints], *, whole: bool) -> Flags:
    """Whether a page is the ranker's list down to each impression, or as a whole."""
    code = {str(name): number for number, name in enumerate(dict.fromkeys(log.document_ids))}
    shown = np.array([code[str(name)] for name in log.document_ids], np.int64)[log.pairs]
    depth = int(ranks.max())
    table = np.full((log.n_queries, depth + 1), -1, np.int64)
    for query, part in lists.items():
        table[query, 1 : 1 + len(part[:depth])] = part[:depth]
    same = table[log.page_query[log.page_of], ranks] == shown
    place = np.arange(len(same)) - np.repeat(log.offsets[:-1], log.sizes)
    same &= ranks == place + 1
    wrong = np.concatenate(([0], np.cumsum(~same)))
    until = np.repeat(log.offsets[1:], log.sizes) if whole else np.arange(1, len(same) + 1)
    agrees: Flags = wrong[until] == wrong[np.repeat(log.offsets[:-1], log.sizes)]
    return agrees
