"""The value of a ranker from a log, page by page as the formulas read."""

from __future__ import annotations

import math
from typing import Any


def page_values(
    how: str, pages: Any, omega: Any, alpha: Any, beta: Any, rho: Any, guess: Any, clip: float, shrinkage: float = 0.0
) -> Any:
    """(z, s, fixed) of each page: `pages` are (query, documents, clicked positions from 1); the rest are dictionaries.

    The value is Σz/Σs and the mean of fixed.
    """
    mean = {}
    for query, weights in omega.items():
        exposure = {document: r for (name, document), r in rho.items() if name == query}
        total = sum(r * weights.get(document, 0.0) / max(r, clip) for document, r in exposure.items() if r > 0)
        mean[query] = total / sum(exposure.values())
    found = []
    for query, documents, clicked in pages:
        place = {document: k for k, document in enumerate(documents, 1)}
        z = s = fixed = 0.0
        for document, weight in omega[query].items():
            r = guess.get((query, document), 0.0)
            if how not in ("ips", "snips"):
                fixed += weight * r
            if document not in place or how == "dm":
                continue
            k = place[document]
            share = weight / max(rho[query, document], clip)
            w = share / mean[query]
            share *= {
                "switch": float(w <= shrinkage),
                "dros": shrinkage / (w * w + shrinkage),
                "sub-gaussian": 1 / (1 - shrinkage + shrinkage * w),
            }.get(how, 1.0)
            click = float(k in clicked)
            z += share * (click - beta[k - 1] - (0.0 if how in ("ips", "snips") else alpha[k - 1] * r))
            s += share * alpha[k - 1]
        found.append((z, s / sum(omega[query].values()) if how in ("snips", "sndr") else 1.0, fixed))
    return found


def replayed(how: str, pages: Any, lists: Any, discounts: Any, alpha: Any, beta: Any) -> float:
    """Value by rips or sips: the mean click of pages that agree with the ranker's list, by rank and query.

    `lists` are the ranker's, by query; `discounts` are by rank. A rank that no page reaches counts 0.
    """
    total = 0.0
    for query, documents in lists.items():
        own = [page for page in pages if page[0] == query]
        for k in range(1, len(discounts) + 1):
            clicks = []
            for _, shown, clicked in own:
                depth = len(shown) if how == "sips" else k
                if len(shown) >= k and shown[:depth] == documents[:depth]:
                    clicks.append((float(k in clicked) - beta[k - 1]) / alpha[k - 1])
            total += len(own) * discounts[k - 1] * (sum(clicks) / len(clicks) if clicks else 0.0)
    return total / len(pages)


def dcg_weights(run: Any, cutoff: float = math.inf) -> Any:
    """The discount of each document of a run without ties."""
    return {
        query: {
            document: 1 / math.log2(rank + 1)
            for rank, (document, _) in enumerate(sorted(scores.items(), key=lambda item: -item[1]), 1)
            if rank <= cutoff
        }
        for query, scores in run.items()
    }
