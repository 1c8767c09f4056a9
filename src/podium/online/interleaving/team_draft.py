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


def _best(ranked: Iterable[str], used: Container[str]) -> str | None:
    """Best document that is not used."""
    return next((document for document in ranked if document not in used), None)
