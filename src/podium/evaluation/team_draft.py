"""Team draft (Radlinski, Kurup and Joachims, 2008): two captains choose in turn, each its best document left."""

from __future__ import annotations

import random
from collections.abc import Sequence

from podium.evaluation.interleaving import Interleaving
from podium.registry import register


@register
class TeamDraft(Interleaving):
    """Each position goes to the ranker with fewer picks, by a coin if equal; it takes its best document left.

    Credit: 1 for a click on a document of the first ranker's team, −1 for one of the second's. A ranker whose list is
        used up picks no more.
    Use it for: the standard comparison; robust, and simple to explain.
    Reference: Radlinski, Kurup and Joachims, How does clickthrough data reflect retrieval quality?, CIKM 2008.
    """

    def merge(
        self, first: Sequence[str], second: Sequence[str], rng: random.Random, *, length: int
    ) -> tuple[list[str], list[float]]:
        documents: list[str] = []
        credits: list[float] = []
        used: set[str] = set()
        places, picks = [0, 0], [0, 0]
        lists = (first, second)
        while len(documents) < length:
            for team in (0, 1):
                while places[team] < len(lists[team]) and lists[team][places[team]] in used:
                    places[team] += 1
            left = [team for team in (0, 1) if places[team] < len(lists[team])]
            if not left:
                break
            if len(left) == 2 and picks[0] == picks[1]:
                team = int(rng.random() < 0.5)
            else:
                team = min(left, key=lambda team: picks[team])
            document = lists[team][places[team]]
            used.add(document)
            documents.append(document)
            credits.append(1.0 if team == 0 else -1.0)
            picks[team] += 1
        return documents, credits
