"""Random search for hyperparameters."""

import math
from typing import Any

import numpy as np

from podium.base.registry import param, register
from podium.methods import Method
from podium.model import Model
from podium.tuning import Dimension, Fit, Grid, Tuning, space


@register
class RandomSearch(Tuning):
    """Independent draws from where each hyperparameter is worth a search; the best on validation data is chosen.

    The method's own values are tried first, ties go to the earlier trial. A method without hyperparameters to search
    has its grid tried.
    Reference: Bergstra & Bengio, Random search for hyper-parameter optimization, JMLR 2012.
    """

    trials: int = param(default=30, least=1)
    name = "random"

    def fits(self, chosen: Method) -> int:
        return self.trials if space(chosen) else Grid().fits(chosen)

    def run(self, chosen: Method, fit: Fit, *, seed: int) -> Model:
        dimensions, rng = space(chosen), np.random.default_rng(seed)
        if not dimensions:
            return Grid().run(chosen, fit, seed=seed)
        learner, trials, best, number = chosen.learner, list[dict[str, Any]](), None, 0
        for k in range(self.trials):
            model, _ = fit(learner)
            trials.append({name: one.get(learner) for name, one in dimensions.items()} | {"valid": model.info["valid"]})
            if best is None or model.info["valid"] > best.info["valid"]:
                best, number = model, k
            for one in dimensions.values():
                learner = one.put(learner, _draw(one, rng))
        assert best is not None, "there is one trial at least"
        return best.with_info(trials=trials, chosen=number)


def _draw(dimension: Dimension, rng: np.random.Generator) -> Any:
    """A value from a list, or uniform between two ends, on a logarithmic scale if the parameter says so."""
    if isinstance(dimension.where, list):
        return dimension.where[rng.integers(len(dimension.where))]
    low, high, *scale = dimension.where
    value = math.exp(rng.uniform(math.log(low), math.log(high))) if scale else rng.uniform(low, high)
    return round(value) if isinstance(low, int) else min(max(value, low), high)
