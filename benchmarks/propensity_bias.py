"""Bias of propensities and how often their intervals hold the truth, where each estimator's own assumptions hold.

    python -m benchmarks.propensity_bias [--logs 40]

Shuffled pages of unlike length for randomised; documents whose relevance is σ(w·x) for regression-em. Printed is, for
ranks from 2, the mean of θ over the truth with its standard error and, if the estimator gives intervals, the share
that holds the truth. It takes about five minutes.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np

from podium.base.errors import PodiumWarning
from podium.clicks import ClickLog, Propensities, simulate
from podium.data.synthetic import make_letor_like
from podium.propensities import propensities

DEPTH = 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=40)
    asked = parser.parse_args()
    report("randomised, pages of 2 and 6 documents", shuffled, asked.logs)
    report("regression-em, relevance σ(w·x)", well_specified, asked.logs)
    report("regression-em, the same with few clicks", lambda seed: well_specified(seed, shift=-2.5), asked.logs)


def report(name: str, estimate: Callable[[int], Propensities], logs: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PodiumWarning)
        found = [estimate(seed) for seed in range(logs)]
    true = 1.0 / np.arange(1, DEPTH + 1)
    ratio = np.array([one.theta / true for one in found])[:, 1:]
    error = ratio.std(axis=0, ddof=1) / np.sqrt(logs)
    print(f"{name}: " + "  ".join(f"{m:.3f} ± {e:.3f}" for m, e in zip(ratio.mean(axis=0), error, strict=True)))
    held = np.array([(one.low <= true) & (true <= one.high) for one in found])[:, 1:]
    if np.isfinite(found[0].low).all():
        print(
            "    intervals that hold the truth: " + "  ".join(f"{share:.3f}" for share in held.mean(axis=0)), flush=True
        )


def shuffled(seed: int) -> Propensities:
    """Of good documents on short pages and bad ones on long pages."""
    rng, pages = np.random.default_rng(seed), []
    for _ in range(6000):
        size, low, high = ((2, 0.7, 0.9), (DEPTH, 0.1, 0.3))[rng.integers(2)]
        chance, order = np.linspace(low, high, size), rng.permutation(size)
        clicks = 1 + np.flatnonzero(rng.random(size) < chance[order] / np.arange(1, size + 1))
        pages.append((f"q{size}", [f"d{d}" for d in order], clicks.tolist()))
    return propensities(ClickLog.from_pages(pages), "randomised")


def well_specified(seed: int, shift: float = -1.0) -> Propensities:
    """Of one ranker that is right in part, with P(click at k) = σ(w·x)/k."""
    data, _ = make_letor_like(200, (10, 10), n_features=6, seed=2)
    z = np.asarray(data.features, np.float64)
    z = (z - z.mean(axis=0)) / z.std(axis=0)
    rng = np.random.default_rng(seed)
    log = simulate(data, [z[:, 0] + rng.normal(size=len(z))], pages=40_000, depth=DEPTH, seed=seed)
    chance = np.zeros(log.n_pairs)
    pair = log.find_pairs(data.query_ids[data.query_index], data.document_ids)
    gamma = 1.0 / (1.0 + np.exp(-shift - z @ [0.8, -0.6, 0.5, 0.0, 0.4, 0.0]))
    chance[pair[pair >= 0]] = gamma[pair >= 0]
    log = log.with_clicks(rng.random(log.n_impressions) < chance[log.pairs] / log.ranks())
    return propensities(log, "regression-em(draws=0)", data)


if __name__ == "__main__":
    main()
