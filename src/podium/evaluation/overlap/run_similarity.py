"""Similarity of runs, query by query: do two systems show the same documents?

>>> runs = {"x": {"1": {"a": 2.0, "b": 1.0}}, "y": {"1": {"a": 2.0, "c": 1.0}}}
>>> similarity = compare_rankings(runs, k=2)
>>> similarity.pairs[0].means["jaccard@2"]
0.3333333333333333
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.base.shown import Shown, ShownTable, Value
from podium.evaluation.overlap.rank_overlap import Scores, jaccard, rank_biased_overlap, tau_ap, top_overlap
from podium.formats.trec.trec import AnyRun, Run, as_run


@dataclass(frozen=True)
class SimilarPair:
    """Two runs: the mean of each similarity over the queries that both answer."""

    a: str
    b: str
    means: dict[str, float]
    queries: int
    only_one: int
    """Queries that one of them does not answer; they do not count."""


@dataclass(frozen=True, repr=False)
class Similarity(Shown):
    """Similarities of all pairs of runs."""

    runs: tuple[str, ...]
    pairs: tuple[SimilarPair, ...]

    def matrix(self, name: str) -> Array:
        """A similarity of each two runs; 1 of a run with itself."""  # (runs, runs)
        table = np.eye(len(self.runs))
        places = {run: k for k, run in enumerate(self.runs)}
        for pair in self.pairs:
            i, j = places[pair.a], places[pair.b]
            table[i, j] = table[j, i] = pair.means[name]
        return table

    def _shown(self) -> ShownTable:
        names = list(self.pairs[0].means)
        rows: list[list[Value]] = [
            [pair.a, pair.b, *(pair.means[name] for name in names), pair.queries] for pair in self.pairs
        ]
        missing = sum(pair.only_one for pair in self.pairs)
        notes = ["means over the queries that both runs answer; 1: the same"]
        notes += [f"{missing} answers without another run's are left out"] if missing else []
        return ShownTable("", ["run", "other", *names, "queries"], rows, notes=notes)


def compare_rankings(runs: Mapping[str, AnyRun], *, p: float = 0.9, k: int = 10) -> Similarity:
    """Compare the rankings of every two runs: RBO, its lower bound, overlap and Jaccard index of the first k, τ_AP."""
    if len(runs) < 2:
        raise DataError(f"a comparison needs two runs; got {', '.join(runs) or 'none'}.")
    measures: dict[str, Callable[[Scores, Scores], float]] = {
        "rbo": partial(rank_biased_overlap, p=p),
        "rbo-min": partial(rank_biased_overlap, p=p, rest="none"),
        f"overlap@{k}": partial(top_overlap, k=k),
        f"jaccard@{k}": partial(jaccard, k=k),
        "tau-ap": tau_ap,
    }
    lists = {name: _by_query(as_run(run)) for name, run in runs.items()}
    pairs = tuple(_pair(a, b, lists, measures) for a, b in itertools.combinations(runs, 2))
    return Similarity(tuple(runs), pairs)


def _by_query(run: Run) -> dict[str, dict[str, float]]:
    bounds = zip(run.query_ids.tolist(), itertools.pairwise(run.offsets.tolist()), strict=True)
    return {
        str(query): dict(zip(map(str, run.document_ids[a:b]), run.scores[a:b].tolist(), strict=True))
        for query, (a, b) in bounds
    }


def _pair(
    a: str,
    b: str,
    lists: Mapping[str, Mapping[str, Scores]],
    measures: Mapping[str, Callable[[Scores, Scores], float]],
) -> SimilarPair:
    first, second = lists[a], lists[b]
    both = [query for query in first if query in second]
    if not both:
        raise DataError(f"{a} and {b} answer no query in common. Check that they write query ids alike.")
    means = {}
    for name, measure in measures.items():
        values = np.array([measure(first[query], second[query]) for query in both])
        counted = values[~np.isnan(values)]
        means[name] = float(counted.mean()) if len(counted) else float("nan")
    return SimilarPair(a, b, means, len(both), len(first) + len(second) - 2 * len(both))
