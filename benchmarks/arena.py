"""Arenas: coverage of rank intervals, and the time of a million battles.

    python -m benchmarks.arena

500 simulations of 8 players and 1,000 battles by Davidson's law, nearly equal players and players apart; compared with
intervals that take one pair at a time (z = 1.96). Then a million battles of 1,000 players, in CPU seconds.
"""

from __future__ import annotations

import time

import numpy as np

from podium.arena import Battles, rate
from podium.arena.rank_intervals import rank_intervals
from podium.base.arrays import AnyArray, Array

RUNS, PLAYERS, BATTLES = 500, 8, 1000
SETTINGS = {"nearly equal": np.linspace(0.05, -0.05, PLAYERS), "apart": np.linspace(1.5, -1.5, PLAYERS)}


def battles(
    strengths: Array, n: int, rng: np.random.Generator, nu: float = 0.5
) -> tuple[AnyArray, AnyArray, list[str]]:
    """Random pairs of players, and the winners by Davidson's law."""
    m = len(strengths)
    i = rng.integers(0, m, n)
    j = (i + 1 + rng.integers(0, m - 1, n)) % m
    half = (strengths[i] - strengths[j]) / 2
    weights = np.column_stack([np.exp(half), np.exp(-half), np.full(n, nu)])
    drawn = (rng.random(n)[:, None] > np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)).sum(axis=1)
    names = np.array([f"p{k:04d}" for k in range(m)], object)
    return names[i], names[j], np.array(["a", "b", "tie"])[np.minimum(drawn, 2)].tolist()


def coverage(strengths: Array, seed: int) -> tuple[float, float]:
    """How often all ranks are within their intervals: simultaneous ones, and those of one pair at a time."""
    rng, held = np.random.default_rng(seed), np.zeros((RUNS, 2))
    truth = np.arange(1, len(strengths) + 1)
    for run in range(RUNS):
        rating = rate(Battles.from_pairs(*battles(strengths, BATTLES, rng)), seed=run)
        for k, critical in enumerate((rating.critical, 1.96)):
            best, worst = rank_intervals(rating.strengths, rating.apart, critical)
            held[run, k] = ((best <= truth) & (truth <= worst)).all()
    together, alone = held.mean(axis=0)
    return float(together), float(alone)


def main() -> None:
    """Print the coverage in each setting, and the time of many battles."""
    for name, strengths in SETTINGS.items():
        together, alone = coverage(strengths, seed=0)
        print(f"{name}: all {PLAYERS} ranks within their intervals in {together:.1%}; one pair at a time {alone:.1%}")
    rng = np.random.default_rng(0)
    columns = battles(rng.normal(size=1000), 1_000_000, rng)
    start = time.process_time()
    rate(Battles.from_pairs(*columns))
    print(f"a million battles of 1,000 players: {time.process_time() - start:.1f} CPU seconds")


if __name__ == "__main__":
    main()
