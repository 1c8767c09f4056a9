"""Gate for changes: whether a ranking is good enough, and not worse than another one.

    >>> from podium.evaluation.evaluate import evaluate
    >>> evaluation = evaluate([1, 0, 0, 1], [2.0, 1.0, 2.0, 1.0], "mrr", qid=["a", "a", "b", "b"])
    >>> [check] = at_least(evaluation, {"mrr": 0.8})
    >>> check.passed, check.words
    (False, 'mrr is 0.75, below 0.8')

Not worse than a base, without a margin: fails if the ranking is significantly worse, by a one-sided paired test for
each metric, corrected by Holm. A ranking as good as the base fails with probability α at most, over all metrics. It
passes if there are too few queries to tell, so it catches large losses only.

With a margin: passes only if the loss is shown to be smaller than the margin (non-inferiority): the one-sided test of
a mean difference of −margin is rejected for every metric, by the randomisation test and by a t test corrected for
skewness (Johnson 1978): few queries that lose much make differences skewed, of which the former alone accepts too many.
A ranking worse by the margin passes with probability α, nearly; no correction is needed, since all metrics have to pass
(an intersection–union test). Too few queries fail.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import ParameterError, UnknownNameError
from podium.evaluation.evaluate import Evaluation, plain
from podium.evaluation.paired import paired_differences, randomisation_test
from podium.evaluation.significance import adjust, p_text
from podium.metrics import Metric


@dataclass(frozen=True)
class GateCheck:
    """One condition of a gate."""

    metric: str
    condition: str
    value: float  # the metric's mean, or its difference from the base
    p: float | None  # of a test, corrected; None without one
    passed: bool
    words: str

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        return {**vars(self), "value": plain(self.value)}


def read_limit(text: str, preset: str | None = None) -> tuple[Metric, float]:
    """The metric and the limit of a condition such as ndcg@10=0.42."""
    name, sign, number = text.rpartition("=")
    try:
        limit = float(number)
    except ValueError:
        limit = float("nan")
    if not sign or not np.isfinite(limit):
        raise ParameterError(f"expected METRIC=NUMBER, e.g. ndcg@10=0.42; got {text!r}.")
    metric = Metric.parse(name, preset=preset)
    if not metric.higher_is_better:
        raise ParameterError(f"less of {metric} is better: it cannot be asked to be at least {limit:g}.")
    return metric, limit


def at_least(evaluation: Evaluation, limits: Mapping[str, float]) -> list[GateCheck]:
    """Check that the means of metrics are not below their limits."""
    means = evaluation.means()
    checks = []
    for name, limit in limits.items():
        if name not in means:
            raise UnknownNameError("metric in the evaluation", name, means)
        value = means[name].value
        passed = bool(value >= limit)
        stated = "has no query that counts" if np.isnan(value) else f"is {value:.6g}"
        words = f"{name} {stated}, {'at least' if passed else 'below'} {limit:g}"
        checks.append(GateCheck(name, f"at least {limit:g}", value, None, passed, words))
    return checks


def not_worse(
    evaluation: Evaluation,
    base: Evaluation,
    *,
    name: str = "the base",
    margin: float | None = None,
    alpha: float = 0.05,
    seed: int = 0,
) -> list[GateCheck]:
    """Check that a ranking is not worse than a base by any metric; both are evaluated on the same queries."""
    if margin is not None and not 0 < margin < np.inf:
        raise ParameterError(f"the margin is the largest loss to be accepted, above 0; got {margin:g}.")
    if not 0 < alpha < 1:
        raise ParameterError(f"alpha lies between 0 and 1; got {alpha:g}.")
    differences, gains = [], []
    for metric, ours, theirs in zip(evaluation.metrics, evaluation.values, base.values, strict=True):
        values, _ = paired_differences(ours, theirs, names=("the run", name))
        differences.append(float(values.mean()))
        gains.append(values if metric.higher_is_better else -values)
    if margin is None:
        ps = adjust([_one_sided(-gain, seed) for gain in gains], "holm").tolist()
        passed = [p > alpha for p in ps]
    else:
        ps = [max(_one_sided(gain + margin, seed), _skewed(gain + margin)) for gain in gains]
        passed = [p <= alpha for p in ps]
    rows = zip(evaluation.metrics, differences, ps, passed, strict=True)
    return [_check(str(metric), value, p, ok, name=name, margin=margin) for metric, value, p, ok in rows]


def _check(metric: str, value: float, p: float, passed: bool, *, name: str, margin: float | None) -> GateCheck:
    if margin is None:
        found = f"not significantly worse than {name}" if passed else f"significantly worse than {name}"
        condition = f"not worse than {name}"
    else:
        condition = f"less than {margin:g} worse than {name}"
        found = condition if passed else f"not shown to be {condition}"
    return GateCheck(metric, condition, value, p, passed, f"{metric} is {found} ({value:+.4f}, {p_text(p)})")


def _one_sided(values: Array, seed: int) -> float:
    """The randomisation test's p-value of a mean above 0: signs are symmetric, so it is half the two-sided one."""
    p = randomisation_test(values, seed=seed)
    return p / 2 if values.mean() > 0 else 1 - p / 2


def _skewed(values: Array) -> float:
    """The p-value of a mean above 0 by Johnson's t, which adds μ₃/(6s²n) + μ₃·mean²/(3s⁴) to the mean."""
    from scipy.special import stdtr

    n, middle, spread = len(values), float(values.mean()), float(values.std(ddof=1))
    if spread <= 1e-12 * abs(middle):
        return float(middle <= 0.0)
    third = float(((values - middle) ** 3).mean())
    shifted = middle + third / (6.0 * spread**2 * n) + third * middle**2 / (3.0 * spread**4)
    return float(stdtr(n - 1, -shifted * math.sqrt(n) / spread))
