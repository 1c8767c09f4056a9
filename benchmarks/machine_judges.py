"""Prediction-powered inference: coverage of 95 % intervals with good and bad judges, and their width.

    python -m benchmarks.machine_judges

2,000 simulations each; n queries with human and machine labels, 400 more with machine labels. Values of queries are
uniform or, as NDCG often is, mostly high with some at 0. The width is relative to that of human labels alone.
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.evaluation.judging.prediction_powered import prediction_powered

RUNS, OTHERS = 2000, 400
JUDGES = ("good", "biased", "random", "constant")
VALUES = {"uniform": 0.5, "skewed": 0.85 * 5 / 6}
"""Kinds of values, and their means."""


def human_values(kind: str, n: int, rng: np.random.Generator) -> Array:
    """The values of a metric by human labels."""
    if kind == "uniform":
        return rng.uniform(size=n)
    return np.where(rng.random(n) < 0.15, 0.0, rng.beta(5.0, 1.0, n))


def machine_values(judge: str, human: Array, rng: np.random.Generator) -> Array:
    """The values by the labels of a judge."""
    if judge == "good":
        return np.asarray(human + rng.normal(0.0, 0.08, len(human)))
    if judge == "biased":
        return np.asarray(0.4 + 0.5 * human + rng.normal(0.0, 0.1, len(human)))
    return rng.uniform(size=len(human)) if judge == "random" else np.full(len(human), 0.7)


def simulate(kind: str, judge: str, n: int, seed: int) -> tuple[float, float, float]:
    """Coverage, the mean width relative to human labels alone, and the mean λ."""
    rng, held, width, weight = np.random.default_rng(seed), 0, 0.0, 0.0
    for _ in range(RUNS):
        human = human_values(kind, n + OTHERS, rng)
        machine = machine_values(judge, human, rng)
        powered = prediction_powered(human[:n], machine[:n], machine[n:])
        held += powered.interval.low <= VALUES[kind] <= powered.interval.high
        width += powered.error / powered.human_error
        weight += powered.weight
    return held / RUNS, width / RUNS, weight / RUNS


def main() -> None:
    """Print a table."""
    print("values    n    judge      coverage  width  λ")
    for kind in VALUES:
        for n in (20, 40, 80):
            for judge in JUDGES:
                coverage, width, weight = simulate(kind, judge, n, seed=n)
                print(f"{kind:8}  {n:<3}  {judge:9}  {coverage:8.1%}  {width:5.2f}  {weight:.2f}", flush=True)


if __name__ == "__main__":
    main()
