"""Synthetic metasearch data: engines of unequal quality rank the same documents, whose grades are known.

    >>> rankings, qrels = make_metasearch(20, noises=(0.5, 2.0), seed=1)
    >>> rankings.voters, rankings.n_queries, len(qrels.query_ids)
    (('engine1', 'engine2'), 20, 20)

A document's merit is a normal number; those above 0.8 and 1.5 have grades 1 and 2. An engine sees the merit with
normal noise, whose size is the engine's, writes its scores on its own scale, and lists the best documents it sees.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from podium.aggregation.rankings.rankings import Rankings
from podium.base.arguments import random_numbers
from podium.formats.trec.trec import Qrels
from podium.parsing.ids import Ids


def make_metasearch(
    n_queries: int = 100,
    *,
    noises: Sequence[float] = (0.7, 0.9, 1.3, 2.0, 3.0, 5.0),
    documents: int = 60,
    depth: int = 30,
    seed: int = 0,
) -> tuple[Rankings, Qrels]:
    """Simulate the engines' lists for queries of this many documents each, and the judgments of all documents."""
    rng = random_numbers(seed)
    merit = rng.normal(size=(n_queries, documents))
    seen = merit[:, None] + np.array(noises)[:, None] * rng.normal(size=(n_queries, len(noises), documents))
    best = np.argsort(-seen, axis=2)[:, :, : min(depth, documents)]  # (Q, V, depth)
    scale = np.arange(1.0, len(noises) + 1)[:, None]
    scores = scale * np.take_along_axis(seen, best, axis=2)
    query, voter, _ = np.indices(best.shape)
    names = np.array([f"d{d:03d}" for d in range(documents)], dtype=object)
    queries = np.array([f"q{q}" for q in range(n_queries)], dtype=object)
    engines = [f"engine{v + 1}" for v in range(len(noises))]
    rankings = Rankings.from_entries(
        queries[query.ravel()],
        np.array(engines, dtype=object)[voter.ravel()],
        names[best.ravel()],
        scores=scores.ravel(),
        voters=engines,
    )
    grades = np.digitize(merit, _GRADES).astype(np.float64)
    offsets = np.arange(n_queries + 1, dtype=np.int64) * documents
    return rankings, Qrels(queries, offsets, Ids.of(np.tile(names, n_queries)), grades.ravel())


_GRADES = (0.8, 1.5)  # merits from which the grade is 1, and 2
