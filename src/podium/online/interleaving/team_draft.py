"""Team-draft interleaving (Radlinski, Kurup and Joachims, 2008): two rankers pick their best documents in turn."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Container, Iterable, Sequence

from podium.base.registry import register
from podium.online.interleaving.base import Interleaving


@register
class TeamDraft(Interleaving):
    """Team draft: the ranker with fewer picks, by a coin if equal, takes its best document left at each position.

    Credit: 1 for a click on a document of the first ranker's team, −1 for one of the second's. A page ends with the
        shorter list: beyond it, one ranker alone would collect clicks. A last round in which only one of the rankers
        could go first has one pick, so that every position is as likely to be of either team.
    Use it for: the standard experiment; robust, and simple to explain.
    Reference: Radlinski, Kurup and Joachims, How does clickthrough data reflect retrieval quality?, CIKM 2008. There,
        whether a list's last round has one pick or two depends on its coin, which is not quite fair.
    """

    def merge(
        self, first: Sequence[str], second: Sequence[str], rng: random.Random, *, length: int
    ) -> tuple[list[str], list[float]]:
        page: dict[str, float] = {}
        left = deque(first), deque(second)
        while len(page) < length:
            for ranked in left:
                while ranked and ranked[0] in page:
                    ranked.popleft()
            if not all(left):
                break
            beginner = int(rng.random() < 0.5)
            both = left[0][0] != left[1][0] or None not in (_best(ranked, {*page, left[0][0]}) for ranked in left)
            for team in (beginner, 1 - beginner)[: 2 if both else 1]:
                document = _best(left[team], page)
                if document is not None and len(page) < length:
                    page[document] = 1.0 if team == 0 else -1.0
            if not both:
                break
        return list(page), list(page.values())

    def merge_many(
        self, lists: Sequence[Sequence[str]], rng: random.Random, *, length: int
    ) -> tuple[list[str], list[list[float]]]:
        """Merge lists in rounds: in a random order, each ranker takes its best document left (Schuth et al., 2014).

        Credit: 1 for the ranker whose team has the document. A round has no more picks than any ranker has documents
        left, so that every position is as likely to be of any team.
        """
        page: dict[str, int] = {}
        while len(page) < length:
            fewest = min(sum(document not in page for document in ranked) for ranked in lists)
            teams = shuffled(len(lists), rng)[:fewest]
            for team in teams[: length - len(page)]:
                document = _best(lists[team], page)
                assert document is not None, "enough are left for a round in any order"
                page[document] = team
            if len(teams) < len(lists):
                break
        return list(page), [[float(team == k) for k in range(len(lists))] for team in page.values()]


def shuffled(n: int, rng: random.Random) -> list[int]:
    """Numbers from 0 to n − 1 in a random order."""
    return sorted(range(n), key=[rng.random() for _ in range(n)].__getitem__)


def _best(ranked: Iterable[str], used: Container[str]) -> str | None:
    """Best document that is not used."""
    return next((document for document in ranked if document not in used), None)
