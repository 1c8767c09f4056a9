"""Auto: linear models and boosted trees, blended in the proportion that is best on validation data."""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.base.errors import ParameterError, PodiumError
from podium.base.registry import param, register
from podium.data.dataset import Dataset
from podium.ensembles.composite import parsed, report
from podium.ensembles.mixture import Mixture, mixed
from podium.ensembles.stack import columns, tuned
from podium.learner import Learned
from podium.metrics import Metric
from podium.model import Model
from podium.solvers import Watch, mean_metric

_LINEAR = ("listnet", "listnet(transform=query-zscore)")
_TREES = (
    "lambdamart(growth=leaves,num_leaves=7,transform=identity)",
    "lambdamart(growth=leaves,num_leaves=31,transform=identity)",
    "lambdamart(growth=leaves,num_leaves=7,transform=add-minmax)",
    "lambdamart(growth=levels,max_depth=4,transform=identity)",
    "yetirank(growth=levels,max_depth=6,transform=identity)",
)
_SHARES = tuple(k / 10 for k in range(11))


@register
class Auto(Mixture):
    """Linear models and boosted trees, each with and without scaling within queries, blended by validation data.

    Formula: s(x) = (1 − a)·mean of z_b(x) over linear members + a·mean of z_b(x) over trees, z_b the score of member b
        less its mean in the query, over its standard deviation there (0 if all are equal). a is one of 0, 0.1, …, 1,
        the best by the metric on validation data, and `share` without. A part without weight is dropped.
    Ties: documents that all members tie are tied.
    Cost: five fits of boosted trees and six of ListNet, which take little; scoring costs the sum of theirs.
    Use it for: the best ranking without a choice of one's own: small or large data, scaled features or not. Members
        that cannot learn from the data, such as linear ones from infinite values, are left out (`info["left_out"]`).
        Engines cannot run it: export lambdamart or listnet instead.
    """

    linear: tuple[str, ...] = _LINEAR
    """Methods of the first part."""
    trees: tuple[str, ...] = _TREES
    """Methods of the second part; those whose scaling changes nothing in the data are left out."""
    share: float = param(default=0.7, least=0, most=1)
    """Weight of the second part without validation data."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for text in (*self.linear, *self.trees):
            parsed(text)  # raises an error if there is no such method

    @property
    def takes_document_weights(self) -> bool:  # type: ignore[override]
        return all(parsed(text).learner.takes_document_weights for text in (*self.linear, *self.trees))

    def check(self, data: Dataset) -> None:
        errors = [error for text in (*self.linear, *self.trees) if (error := _refusal(text, data))]
        if len(errors) == len(self.linear) + len(self.trees):
            raise errors[0] if errors else ParameterError("auto: give methods, e.g. 'auto(linear=[listnet])'.")

    def learn(self, data: Dataset, rng: np.random.Generator, watch: Watch) -> Learned:
        members, left_out = self._fitted(data, rng, watch)
        n_linear, n_trees = (sum(part == own for own, _ in members) for part in (0, 1))
        models = [model for _, model in members]
        share = self._share(models, n_linear, watch)
        shares = np.repeat([(1 - share) / max(n_linear, 1), share / max(n_trees, 1)], [n_linear, n_trees])
        about = [
            {"learner": repr(model.learner), "valid": model.info.get("valid"), "share": float(weight)}
            for model, weight in zip(models, shares, strict=True)
        ]
        record: dict[str, Any] = {
            "stopped": f"all members fitted; {share:.0%} of the score is by trees",
            "iterations": sum(int(model.info.get("iterations", 0)) for model in models),
            "members": about,
            **({"left_out": left_out} if left_out else {}),
        }
        return Learned(self, mixed(models, shares), record)

    def _fitted(
        self, data: Dataset, rng: np.random.Generator, watch: Watch
    ) -> tuple[list[tuple[int, Model]], dict[str, str]]:
        """Fitted members with the number of their part, and why others are left out; raises if none can be fitted."""
        texts = [(part, text) for part, own in enumerate((self.linear, self.trees)) for text in own]
        members, errors = list[tuple[int, Model]](), dict[str, PodiumError]()
        for number, seed in enumerate(rng.integers(2**31, size=len(texts)).tolist()):
            part, text = texts[number]
            if parsed(text).learner.transform.worth_trying(data):
                try:
                    members.append((part, tuned(text, data, seed=seed, watch=watch)))
                except PodiumError as error:
                    errors[text] = error
            report(watch, number + 1, len(texts))
        if errors and not members:
            raise next(iter(errors.values()))
        return members, {text: str(error) for text, error in errors.items()}

    def _share(self, members: list[Model], n_linear: int, watch: Watch) -> float:
        """Weight of the trees: the best on validation data, of equals the one nearest to `share`."""
        if n_linear in (0, len(members)):
            return float(n_linear == 0)
        if watch.valid is None:
            return self.share
        z = columns(members, watch.valid)
        linear, trees = z[:, :n_linear].mean(axis=1), z[:, n_linear:].mean(axis=1)
        metric, valid = watch.metric or Metric.parse("ndcg@10"), watch.valid
        tried = {a: mean_metric(metric, (1 - a) * linear + a * trees, valid) for a in _SHARES}
        return max(tried, key=lambda a: (-np.inf if np.isnan(tried[a]) else tried[a], -abs(a - self.share)))

    def digest(self) -> str:
        return "".join(parsed(text).learner.digest() for text in (*self.linear, *self.trees))


def _refusal(text: str, data: Dataset) -> PodiumError | None:
    """The error by which a method refuses data before work starts; None if it does not."""
    try:
        parsed(text).learner.check(data)
    except PodiumError as error:
        return error
    return None
