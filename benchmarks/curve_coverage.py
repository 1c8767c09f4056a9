"""Coverage of the forecasts of learning curves: how often the 90 % interval of v(2Q) holds the value found later.

    python -m benchmarks.curve_coverage

Synthetic data of 2Q training queries; the curve sees Q of them. Runs whose forecast is refused are counted apart.
"""

from __future__ import annotations

import numpy as np

from podium import make_letor_like
from podium.data import Fold
from podium.evaluation.curves.learning_curve import learning_curve
from podium.evaluation.evaluate import evaluate
from podium.methods import method
from podium.training import fit

RUNS = 50
METHOD = "regression(penalty=0.01)"
SETTINGS = {"24 features, Q = 64": (64, 24, 0.5), "80 features, Q = 128, more noise": (128, 80, 1.0)}
"""Queries that the curve sees, features, noise of the grades."""


def run(queries: int, features: int, noise: float, *, seed: int) -> tuple[bool, bool] | None:
    """Whether the intervals of the value and of the gain hold those found with twice the queries; None if refused."""
    data, _ = make_letor_like(2 * queries + 300, (8, 12), n_features=features, noise=noise, seed=seed)
    train, test = data.select(np.arange(2 * queries)), data.select(np.arange(2 * queries, data.n_queries))
    curve = learning_curve(Fold(train.select(np.arange(queries)), None, test, "Fold1"), METHOD, seed=seed)
    if curve.refusal() is not None:
        return None
    forecast = curve.forecast()
    model = fit(method(METHOD).learner, train, metric=curve.metric, seed=seed)
    later = float(np.nanmean(evaluate(test, model.score(test), [curve.metric]).values[0]))
    value, gain = forecast.interval, forecast.gain_interval
    return value.low <= later <= value.high, gain.low <= later - curve.means[-1] <= gain.high


def main() -> None:
    """Print the coverage in each setting."""
    for name, setting in SETTINGS.items():
        outcomes: list[tuple[bool, bool]] = []
        seed = 100
        while len(outcomes) < RUNS:
            outcome = run(*setting, seed=seed)
            seed += 1
            outcomes += [] if outcome is None else [outcome]
        value, gain = np.mean(outcomes, axis=0)
        refused = seed - 100 - RUNS
        print(f"{name}: {RUNS} forecasts, {refused} refused; v(2Q) held {value:.0%}, the gain {gain:.0%}")


if __name__ == "__main__":
    main()
