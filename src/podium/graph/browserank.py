"""BrowseRank: the share of time that users spend on each page, as a Markov process in continuous time.

    >>> visits = [(0, 10, 1), (1, 20, 2), (2, 5, None), (0, 30, 2), (2, 15, None), (1, 40, None)]
    >>> {page: round(score, 6) for page, score in browserank(visits).items()}
    {0: 0.334099, 1: 0.463562, 2: 0.202339}

Reference: Liu, Gao, Liu, Zhang, Ma, He and Li, BrowseRank: letting web users vote for page importance, SIGIR 2008.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.graph.links import Links, by_name
from podium.graph.pagerank import stationary
from podium.graph.visits import Visit, check_visit


def browserank(
    visits: Iterable[Visit | tuple[Hashable, float, Hashable | None]],
    *,
    damping: float = 0.85,
    noise: bool = False,
    tolerance: float = 1e-10,
    rounds: int = 200,
) -> dict[Any, float]:
    """The BrowseRank of each page, from visits (page, seconds, next page or None) in order of time; they sum to 1.

    A visit begins a session unless the visit before it went on to the same page. From page i users go on to page j
    with probability damping · w_ij/Σ_j w_ij + (1 − damping) · σ_j, where w counts steps and σ is the share of sessions
    that begin at j; from a page that nobody left for another, with probability σ_j. The score is the stationary share
    of steps times the mean stay, scaled to sum 1. A page without a visit has the mean stay of all visits.

    With `noise`, the stay is corrected for the time that a page takes to load and the like, taken to be chi-square
    distributed: 1/q minimises ((z̄ − 1/q) − ½(s² − 1/q²))² up to z̄, where z̄ and s² are mean and variance of the stays.
    It is z̄ for a page with one visit, and if stays vary more than without any noise (s² ≥ z̄²).
    """
    links, starts, stays = _process(visits)
    sigma = starts / max(starts.sum(), 1.0)
    steps = stationary(
        links, damping, restart=sigma, dangling=sigma, tolerance=tolerance, rounds=rounds, who="browserank"
    )
    every = [seconds for of_page in stays for seconds in of_page]
    mean = float(np.mean(every)) if every else 1.0
    times = steps * np.array([_stay(of_page, noise) if of_page else mean for of_page in stays])
    return by_name(links, times / times.sum() if len(times) else times)


def _process(
    visits: Iterable[Visit | tuple[Hashable, float, Hashable | None]],
) -> tuple[Links, Array, list[list[float]]]:
    """The steps between pages, the number of sessions that begin at each page, and the stays on each."""
    from scipy import sparse

    place: dict[Hashable, int] = {}
    steps: Counter[tuple[int, int]] = Counter()
    starts: Counter[int] = Counter()
    stays: list[list[float]] = []
    expected: Hashable | None = None
    for raw in visits:
        visit = check_visit(Visit(*raw))
        for name in (visit.page, visit.next):
            if name is not None and name not in place:
                place[name] = len(place)
                stays.append([])
        page = place[visit.page]
        stays[page].append(float(visit.seconds))
        if expected is None or visit.page != expected:
            starts[page] += 1
        if visit.next is not None:
            steps[page, place[visit.next]] += 1
        expected = visit.next
    n = len(place)
    ends = np.array(list(steps), np.int64).reshape(-1, 2)
    counts = np.array(list(steps.values()), np.float64)
    matrix = sparse.csr_array((counts, (ends[:, 0], ends[:, 1])), shape=(n, n))
    return Links(list(place), matrix), np.array([float(starts[k]) for k in range(n)]), stays


def _stay(stays: list[float], noise: bool) -> float:
    """1/q: the mean stay, or the mean stay corrected for noise.

    With m = 1/q, (z̄ − m) − ½(s² − m²) = ½m² − m + z̄ − ½s², whose roots are 1 ± √(1 − 2z̄ + s²). If the stays vary
    as much as an exponential distribution or more (s² ≥ z̄²) there is no noise to subtract; else, if z̄ ≤ 1, z̄ is the
    best m ≤ z̄.
    """
    mean = float(np.mean(stays))
    if not noise or len(stays) < 2:
        return mean
    variance = float(np.var(stays, ddof=1))
    if variance >= mean**2 or mean <= 1.0:
        return mean
    return 1.0 + math.sqrt(max(1.0 - 2.0 * mean + variance, 0.0))
