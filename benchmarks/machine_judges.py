"""Prediction-powered inference: coverage of 95 % intervals with good and bad judges, and their width.

    python -m benchmarks.machine_judges

2,000 simulations each; n queries with human and machine labels, 400 more with machine labels. Values of queries are
uniform or, as NDCG often is, mostly high with some at 0. The width is relative to that of human labels alone.

Then the mean over a traffic of 3,000 queries with frequencies rank^−s, from a sample of `podium judges queries` that
the machine judges, n of them humans too: drawn by --human, or any n by weights alone, whose chances are not known.
Printed are the coverage by human labels alone and with the machine, the mean half width with it, and how often a
warning says that the weights are too unequal, with the coverage of the other intervals.
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.evaluation.judging.prediction_powered import Powered, prediction_powered, prediction_powered_sample
from podium.evaluation.judging.sampling import unequal_words
from podium.judgments.query_sample import drawn_queries

RUNS, OTHERS = 2000, 400
TRAFFIC = 3000
HEADS = (0.8, 1.0, 1.3)
"""How steeply frequencies fall with the rank of a query."""
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


def traffic_values(kind: str, rng: np.random.Generator) -> Array:
    """Values of the queries of a traffic, the most frequent first; of `head`, frequent queries are better."""
    if kind != "head":
        return human_values(kind, TRAFFIC, rng)
    better = 0.35 + 0.5 * np.linspace(1.0, 0.0, TRAFFIC) ** 3
    return np.asarray(np.clip(better + 0.3 * (rng.uniform(size=TRAFFIC) - 0.5), 0.0, 1.0))


def powered_sample(values: Array, frequencies: dict[str, float], n: int, *, drawn: bool, seed: int) -> Powered:
    """The estimate from a sample, of which n queries have human labels: those drawn for humans, or any of them."""
    rng = np.random.default_rng(seed)
    sample = drawn_queries(frequencies, n + OTHERS, human=n if drawn else None, seed=seed)
    numbers = np.array([int(query) for query in sample])
    entries, machine = list(sample.values()), 0.2 + 0.7 * values[numbers] + rng.normal(0.0, 0.12, len(numbers))
    weights = np.array([entry.weight for entry in entries])
    if not drawn:
        order = rng.permutation(len(numbers))
        part, rest = order[:n], order[n:]
        return prediction_powered(
            values[numbers[part]], machine[part], machine[rest], weights=weights[part], weights_elsewhere=weights[rest]
        )
    part = np.flatnonzero([entry.human_weight is not None for entry in entries])
    chances = np.array([entry.chance for entry in entries])
    of_part = np.array([entries[row][2:] for row in part.tolist()], float)
    return prediction_powered_sample(
        values[numbers[part]], machine, part, weights=(weights, of_part[:, 0]),
        random=(1.0 - chances, 1.0 - of_part[:, 1]),
    )  # fmt: skip


def of_traffic(kind: str, head: float, n: int, *, drawn: bool) -> str:
    """Coverage and width over RUNS/4 samples, as a row."""
    values = traffic_values(kind, np.random.default_rng(1))
    counts = np.arange(1, TRAFFIC + 1.0) ** -head
    frequencies = {str(query): count for query, count in enumerate(counts.tolist())}
    truth = float(np.average(values, weights=counts))
    held: list[tuple[bool, bool, float, bool]] = []
    for seed in range(RUNS // 4):
        powered = powered_sample(values, frequencies, n, drawn=drawn, seed=seed)
        alone, with_machine = (low <= truth <= high for low, high in (powered.human_interval, powered.interval))
        half = 0.5 * (powered.interval.high - powered.interval.low)
        held.append((alone, with_machine, half, unequal_words(powered.drawn, powered.equal) is not None))
    table = np.array(held, float)
    calm = table[table[:, 3] == 0.0]
    rest = f"{calm[:, 1].mean():.1%}" if len(calm) > len(table) / 10 else "–"
    shares = f"{table[:, 0].mean():8.1%}  {table[:, 1].mean():12.1%}  {table[:, 2].mean():10.3f}"
    return f"{shares}  {table[:, 3].mean():7.0%}  {rest:>9}"


def main() -> None:
    """Print a table."""
    print("values    n    judge      coverage  width  λ")
    for kind in VALUES:
        for n in (20, 40, 80):
            for judge in JUDGES:
                coverage, width, weight = simulate(kind, judge, n, seed=n)
                print(f"{kind:8}  {n:<3}  {judge:9}  {coverage:8.1%}  {width:5.2f}  {weight:.2f}", flush=True)
    print("human part  values    s    n    human alone  with machine  half width  warning  without it")
    for drawn in (True, False):
        for kind in (*VALUES, "head"):
            for head in HEADS:
                for n in (20, 50, 100):
                    row = of_traffic(kind, head, n, drawn=drawn)
                    print(f"{'drawn' if drawn else 'any':10}  {kind:8}  {head}  {n:<3}  {row}", flush=True)


if __name__ == "__main__":
    main()
