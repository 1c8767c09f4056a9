"""Ablation: what a method loses without a group of features, tested query by query.

>>> from podium.data.splits import split
>>> from podium.data.synthetic import make_letor_like
>>> training, valid = split(make_letor_like(30, n_features=8, seed=1)[0], (0.7, 0.3))
>>> tested = ablate(training, valid, "regression", groups={"first": ["1", "2"], "last": ["7", "8"]})
>>> sorted(tested.systems)
['all features', 'without first', 'without last']
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Ints
from podium.base.errors import DataError, ParameterError, UnknownNameError
from podium.base.files import reading
from podium.base.progress import Progress, quiet
from podium.evaluation.select_features import Fitted
from podium.evaluation.significance import SystemComparison, compare_systems

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.learner import Learner
    from podium.metrics import Metric

WHOLE = "all features"


def ablate(
    data: Dataset,
    valid: Dataset,
    method: str | Learner = "listnet",
    *,
    groups: Mapping[str, Sequence[str]],
    metric: str | Metric = "ndcg@10",
    seed: int = 0,
    progress: Progress = quiet,
) -> SystemComparison:
    """Fit a method without each group of features in turn, and compare it on validation data with all features.

    Features are names, or numbers from 1. The tests are those of `compare_systems`, with all features as the baseline.
    """
    fitted = Fitted.of(data, valid, method, metric, seed)
    left = {WHOLE: np.arange(data.n_features)}
    for name, features in groups.items():
        left[f"without {name}"] = np.setdiff1d(left[WHOLE], _columns(data, name, features))
    if len(left) == 1:
        raise ParameterError("ablate: there is no group of features to leave out.")
    for name, kept in left.items():
        if not len(kept):
            raise ParameterError(f"ablate: {name} no feature is left. Leave out fewer.")
    values = []
    for k, kept in enumerate(left.values()):
        values.append(fitted.model(kept)[1])
        progress((k + 1) / len(left))
    return compare_systems(values, list(left), metric=fitted.metric, baseline=WHOLE, seed=seed)


def read_groups(path: str) -> dict[str, tuple[str, ...]]:
    """Read groups of features from a TOML file: lines such as text = ["bm25", "title"], or numbers from 1."""
    with reading(path) as file:
        raw = file.read()
    try:
        groups = tomllib.loads(raw.decode())
    except (ValueError, RecursionError) as error:
        raise DataError(f"it is not TOML: {error}. Write a line for each group: text = [1, 2].", where=path) from None
    for name, features in groups.items():
        if not isinstance(features, list) or not all(isinstance(l, str | int) for l in features):
            raise DataError(f"group {name!r} is not a list of features. Write {name} = [1, 2], or names.", where=path)
    return {name: tuple(map(str, features)) for name, features in groups.items()}


def _columns(data: Dataset, group: str, features: Sequence[str]) -> Ints:
    """Columns of features by name, or by number from 1."""
    names = data.feature_names or tuple(str(l + 1) for l in range(data.n_features))
    place = {str(l + 1): l for l in range(data.n_features)} | {name: l for l, name in enumerate(names)}
    for feature in features:
        if feature not in place:
            raise UnknownNameError(f"feature of group {group!r}:", feature, names)
    return np.array([place[feature] for feature in features], np.int64)
