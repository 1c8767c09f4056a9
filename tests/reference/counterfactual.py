"""The value of a ranker from a log, page by page as the formulas read."""

from __future__ import annotations

import math
from typing import Any


def page_values(how: str, pages: Any, omega: Any, alpha: Any, beta: Any, rho: Any, guess: Any, clip: float) -> Any:
    """(z, s) of each page: `pages` are (query, documents, clicked positions from 1); the rest are dictionaries."""
    found = []
    for query, documents, clicked in pages:
        place = {document: k for k, document in enumerate(documents, 1)}
        z = s = 0.0
        for document, weight in omega[query].items():
            r = guess.get((query, document), 0.0)
            if how in ("dm", "dr"):
                z += weight * r
            if document not in place or how == "dm":
                continue
            k = place[document]
            share = weight / max(rho[query, document], clip)
            click = float(k in clicked)
            z += share * (click - beta[k - 1] - (alpha[k - 1] * r if how == "dr" else 0.0))
            s += share * alpha[k - 1]
        found.append((z, s / sum(omega[query].values()) if how == "snips" else 1.0))
    return found


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
