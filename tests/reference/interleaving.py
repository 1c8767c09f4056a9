"""Interleaving, slow and obvious: every coin and every draw, by enumeration."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence

Drawn = dict[tuple[tuple[str, ...], tuple[float, ...]], float]


def team_draft(a: Sequence[str], b: Sequence[str], length: int) -> Drawn:
    """(documents, credits) → probability, over all coins: a round of two picks if either ranker can begin it."""
    found: Drawn = defaultdict(float)

    def rounds(documents: tuple[str, ...]) -> dict[int, list[tuple[str, float]]]:
        """The picks of the next round, by who begins."""
        made = {}
        for beginner in (0, 1):
            picks: list[tuple[str, float]] = []
            for team in (beginner, 1 - beginner):
                left = [d for d in (a, b)[team] if d not in documents and d not in [d for d, _ in picks]]
                picks += [(left[0], (1.0, -1.0)[team])] if left else []
            made[beginner] = picks
        return made

    def go_on(documents: tuple[str, ...], credits: tuple[float, ...], p: float) -> None:
        ended = any(all(d in documents for d in ranked) for ranked in (a, b))
        if len(documents) == length or ended:
            found[documents, credits] += p
            return
        made = rounds(documents)
        size = min(len(made[0]), len(made[1]), length - len(documents))
        for picks in made.values():
            after = documents + tuple(d for d, _ in picks[:size]), credits + tuple(c for _, c in picks[:size])
            if size < 2:
                found[after] += p / 2
            else:
                go_on(*after, p / 2)

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


def probabilistic_pages(a: Sequence[str], b: Sequence[str], tau: float) -> Iterator[tuple[float, tuple[float, ...]]]:
    """(probability, credits) of every page, which ends where either list does."""

    def go_on(documents: tuple[str, ...], p: float, credits: tuple[float, ...]) -> Iterator[tuple]:
        left = [{d: r**-tau for r, d in enumerate(ranked, 1) if d not in documents} for ranked in (a, b)]
        if not all(left):
            yield p, credits
            return
        for document in dict.fromkeys([*left[0], *left[1]]):
            own, other = (chances.get(document, 0.0) / sum(chances.values()) for chances in left)
            yield from go_on((*documents, document), p * (own + other) / 2, (*credits, (own - other) / (own + other)))

    return go_on((), 1.0, ())
