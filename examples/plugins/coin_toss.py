"""A coin for every position: whose best remaining document comes next."""

import random
from collections.abc import Sequence

from podium.base.registry import register
from podium.online.interleaving import Interleaving


@register
class CoinToss(Interleaving):
    """Each position goes to either ranker by a fair coin, which adds its best document that is not on the page.

    Credit: 1 for a click on a document that the first ranker added, −1 for one of the second. The page ends with the
        shorter list, so that both rankers could have added each document.
    Use it for: comparing with team draft, whose rounds balance the two rankers on every page.
    Reference: none; an example for contributors.
    """

    def merge(
        self, first: Sequence[str], second: Sequence[str], rng: random.Random, *, length: int
    ) -> tuple[list[str], list[float]]:
        page: dict[str, float] = {}
        while len(page) < length:
            rest = [[document for document in ranked if document not in page] for ranked in (first, second)]
            if not all(rest):
                break
            team = int(rng.random() < 0.5)
            page[rest[team][0]] = 1.0 if team == 0 else -1.0
        return list(page), list(page.values())
