"""Weights of normalised scores: the form of a model for engines that fuse the results of several searches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from podium.base.arrays import Array, Singles
from podium.base.errors import IncompatibleError
from podium.export.base import Target
from podium.export.exported_forms import IN_DOUBLE, Difference, ExportedForm, Summation
from podium.export.supported_form import Exportable, check_names
from podium.export.transforms import UNIT32
from podium.model import Model
from podium.recipe import Recipe
from podium.scorers.forms import LinearForm
from podium.scorers.linear import Linear
from podium.transforms import HybridScores


@dataclass(frozen=True, eq=False)
class Fusion(ExportedForm):
    """Σ w·n over the first stages, n the score as the engine normalises it within the query; weights add up to 1."""

    weights: Array  # (m,)
    scaling: HybridScores
    mean: bool  # the sum is divided by the sum of the weights
    kind = "weights of first stages"
    missing_words = "a stage that did not return the document counts 0, as in podium"
    front = None
    forest = None

    @property
    def filling(self) -> Array:
        return np.zeros(len(self.weights))

    @property
    def within_query(self) -> bool:
        return True

    @property
    def shape(self) -> list[Any]:
        return [len(self.weights), str(self.scaling), self.mean]

    def scores(self, X: Singles, *, single: bool = False) -> Array:
        """Scores of one query, added up in float32 from the first stage to the last."""
        normalised, total, weight_sum = self.scaling.normalised(X), np.zeros(len(X), np.float32), np.float32(0)
        for column, weight in zip(normalised.T, self.weights.astype(np.float32), strict=True):
            total = total + column * weight
            weight_sum += weight
        return np.asarray(total / weight_sum if self.mean else total, np.float64)

    def bound(self, X: Singles, summation: Summation = IN_DOUBLE) -> float:
        """Roundings of each weight, product and sum, and of the sum of weights and the quotient."""
        size = np.abs(self.scaling.normalised(X).astype(np.float64)) @ np.abs(self.weights)
        steps = 2 * len(self.weights) + 4
        return float(np.max(size, initial=0.0) * (steps * UNIT32 / (1 - steps * UNIT32)))

    def _differences(self, theirs: Self, *, single: bool, infinite: bool) -> Iterator[Difference]:
        if not np.array_equal(self.weights.astype(np.float32), theirs.weights.astype(np.float32)):
            yield Difference("value", 0)


class HybridTarget(Target):
    """A search that fuses first stages: takes linear models of their scores, behind transform=hybrid-scores."""

    forms = (Fusion,)
    engine: ClassVar[str]
    """Whose normalisation it is."""
    mean: ClassVar[bool]
    """Whether the engine divides by the sum of the weights."""

    def accept(self, model: Model, *, names: tuple[str, ...] | None = None) -> Exportable:
        form, scaling = model.form(), model.learner.transform
        if not isinstance(form, LinearForm) or not isinstance(scaling, HybridScores) or scaling.engine != self.engine:
            raise IncompatibleError(
                f"{self.name} takes weights of first stages whose scores it normalises. Train e.g. "
                f"'listnet(transform=hybrid-scores(engine={self.engine}))' on their scores: podium features "
                "lexical.run QRELS --also vector.run."
            )
        chosen = check_names(model, names)
        if (form.weights < 0).any() or not (form.weights > 0).any():
            worst = chosen[int(np.argmin(form.weights))]
            raise IncompatibleError(
                f"the weight of {worst} is {form.weights.min():.3g}, and {self.name} takes none below 0: this stage "
                "makes the ranking worse. Train without it."
            )
        weights = form.weights / form.weights.sum()
        theta = {"theta": np.append(weights, 0.0)}
        scaled = Model(Recipe(scorer=Linear(), transform=scaling), theta, {}, model.n_features, model.feature_names, {})
        return Exportable(scaled, Fusion(weights, scaling, self.mean), chosen)

    def write(self, exportable: Exportable) -> bytes:
        assert isinstance(exportable.form, Fusion), "accepted"
        return self.write_weights(exportable.form, exportable.names)

    def write_weights(self, fusion: Fusion, names: tuple[str, ...]) -> bytes:
        """Contents of the file."""
        raise NotImplementedError
