"""Pairs of players with the outcomes of all their battles; a million battles are a few pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from podium.arena.battles import Battles
from podium.arena.pair_laws import Counts
from podium.base.arrays import Array, Flags, Ints


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of players, the first before the second by name, with what happened."""

    n_players: int
    first: Ints  # (P,)
    second: Ints  # (P,)
    counts: Counts
    judge: Ints | None = None  # (P,) if the pairs of each judge are kept apart

    @property
    def battles(self) -> Array:
        """The weight of all battles of each pair."""  # (P,)
        return self.counts.wins + self.counts.ties + self.counts.losses

    def differences(self, strengths: Array) -> Array:
        """The first's strength less the second's."""  # (P,)
        return strengths[self.first] - strengths[self.second]


def pairs_of(battles: Battles, *, by_judge: bool = False) -> Pairs:
    """The pairs of battles; battles of more than two players count once for each pair of theirs."""
    better, worse, tied, weights, battle = _duels(battles)
    m, first = len(battles.players), np.minimum(better, worse)
    key = first * m + np.maximum(better, worse)
    judge = battles.judges.of[battle] if by_judge and battles.judges is not None else None
    if judge is not None:
        key += judge * m * m
    different, of = np.unique(key, return_inverse=True)

    def total(chosen: Flags) -> Array:
        return np.asarray(np.bincount(of, weights * chosen, minlength=len(different)), float)

    won = (better == first) & ~tied
    counts = Counts(total(won), total(tied), total(~won & ~tied))
    pair = different % (m * m)
    return Pairs(m, pair // m, pair % m, counts, None if judge is None else different // (m * m))


def _duels(battles: Battles) -> tuple[Ints, Ints, Flags, Array, Ints]:
    """Each pair of each battle: the better, the worse, whether they tied, the weight, and the battle."""
    parts = []
    for size in np.unique(battles.sizes).tolist():
        which = np.flatnonzero(battles.sizes == size)
        at = battles.offsets[which]
        for i in range(size - 1):
            for j in range(i + 1, size):
                tied = battles.ranks[at + i] == battles.ranks[at + j]
                parts.append((battles.entries[at + i], battles.entries[at + j], tied, battles.weights[which], which))
    better, worse, tied, weights, battle = (np.concatenate(column) for column in zip(*parts, strict=True))
    return better, worse, tied, weights, battle
