"""Interleaving, slow and obvious: every coin and every draw, by enumeration."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence

Drawn = dict[tuple[tuple[str, ...], tuple[float, ...]], float]


def team_draft(a: Sequence[str], b: Sequence[str], length: int) -> Drawn:
    """(documents, credits) → probability, over all coins."""
    found: Drawn = defaultdict(float)

    def go_on(documents: tuple[str, ...], credits: tuple[float, ...], p: float) -> None:
        best = [next((d for d in mine if d not in documents), None) for mine in (a, b)]
        picks = [credits.count(1.0), credits.count(-1.0)]
        if len(documents) == length or best == [None, None]:
            found[documents, credits] += p
            return
        may = [
            team
            for team in (0, 1)
            if best[team] is not None and (best[1 - team] is None or picks[team] <= picks[1 - team])
        ]
        for team in may:
            go_on((*documents, str(best[team])), (*credits, (1.0, -1.0)[team]), p / len(may))

    go_on((), (), 1.0)
    return dict(found)


def probabilistic(a: Sequence[str], b: Sequence[str], length: int, tau: float) -> dict[tuple[str, ...], tuple]:
    """documents → (probability, for each position the mean of +1 or −1 over all assignments of rankers)."""
    weight: dict[tuple[str, ...], float] = defaultdict(float)
    signs: dict[tuple[str, ...], list[float]] = {}
    for documents in itertools.permutations(dict.fromkeys([*a, *b]), length):
        for rankers in itertools.product((0, 1), repeat=length):
            p = 1.0
            for place, (document, ranker) in enumerate(zip(documents, rankers, strict=True)):
                mine = (a, b)[ranker]
                left = {d: r**-tau for r, d in enumerate(mine, 1) if d not in documents[:place]}
                p *= 0.5 * left.get(document, 0.0) / sum(left.values()) if left else 0.0
            weight[documents] += p
            sums = signs.setdefault(documents, [0.0] * length)
            for place, ranker in enumerate(rankers):
                sums[place] += p * (1.0, -1.0)[ranker]
    return {d: (w, tuple(x / w for x in signs[d])) for d, w in weight.items() if w > 0}
