"""Coverage of the forecasts of learning curves: how often the 90 % interval of v(2Q) holds the value found later.

    python -m benchmarks.curve_coverage

Synthetic data of 2Q training queries; the curve sees Q of them. Runs whose forecast is refused are counted apart.
"""

from __future__ import annotations

import numpy as np

from podium import make_letor_like
from podium.data import Fold
from podium.evaluation.curve import learning_curve
from podium.evaluation.evaluate import evaluate
from podium.methods import method
from podium.training import fit

QUERIES, RUNS, METHODS = 128, 50, ("regression(penalty=0.01)", "ranknet(penalty=0.01)")


def run(name: str, seed: int) -> tuple[bool, bool] | None:
    """Whether the intervals of the value and of the gain hold those found with twice the queries; None if refused."""
    data, _ = make_letor_like(2 * QUERIES + 400, (6, 10), n_features=80, noise=1.0, seed=seed)
    train, test = data.select(np.arange(2 * QUERIES)), data.select(np.arange(2 * QUERIES, data.n_queries))
    curve = learning_curve(Fold(train.select(np.arange(QUERIES)), None, test, "Fold1"), name, seed=seed)
    if curve.refusal() is not None:
        return None
    forecast = curve.forecast()
    model = fit(method(name).learner, train, metric=curve.metric, seed=seed)
    later = float(np.nanmean(evaluate(test, model.score(test), [curve.metric]).values[0]))
    value, gain = forecast.interval, forecast.gain_interval
    return value.low <= later <= value.high, gain.low <= later - curve.means[-1] <= gain.high


def main() -> None:
    """Print the coverage for each method."""
    for name in METHODS:
        outcomes, refused, seed = [], 0, 0
        while len(outcomes) < RUNS and seed < 4 * RUNS:
            outcome = run(name, seed)
            seed += 1
            if outcome is None:
                refused += 1
            else:
                outcomes.append(outcome)
        value, gain = np.mean(outcomes, axis=0)
        print(f"{name}: {len(outcomes)} forecasts, {refused} refused; v(2Q) held {value:.0%}, the gain {gain:.0%}")


if __name__ == "__main__":
    main()
