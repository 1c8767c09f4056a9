"""What trees may do with each feature: rise or fall with it, split on it beside others, and what its use costs.

Features are named by users as the data names them, or by their number from 1; LightGBM counts columns from 0. Behind a
transform, a feature's settings are those of every column that comes from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Ints
from podium.base.errors import IncompatibleError, ParameterError, UnknownNameError
from podium.data.dataset import Dataset
from podium.data.table import Sources

if TYPE_CHECKING:
    from podium.scorers.trees.trees import Trees


def check_constraints(trees: Trees, data: Dataset) -> None:
    """Raise a clear error if settings of features name none of the data's, or contradict each other."""
    origin = _origin(data)
    rising, falling = (_features(names, origin) for names in (trees.rising, trees.falling))
    both = sorted(rising & falling)
    if both:
        raise ParameterError(f"feature {_called(both[0], origin)} cannot be both in rising and in falling.")
    of_categories = sorted((rising | falling) & set(data.categories or ()))
    if of_categories and data.sources is None:
        raise ParameterError(
            f"feature {_called(of_categories[0], origin)} has categories, which have no order to rise or fall with."
        )
    for group in trees.together:
        _features(group, origin)
    if trees.costs and len(trees.costs) != origin.n_features:
        raise ParameterError(
            f"costs has {len(trees.costs)} numbers; the data has {origin.n_features} features. Give a number for each, "
            "0 for those that are free."
        )
    if trees.costs and min(trees.costs) < 0:
        raise ParameterError(f"costs must be at least 0; got {min(trees.costs)}.")


def constraints(trees: Trees, data: Dataset) -> dict[str, Any]:
    """LightGBM's parameters of single features, for transformed data; empty if there are none."""
    if not trees.constrained:
        return {}
    check_constraints(trees, data)
    origin = _origin(data)
    columns = origin.feature
    if (columns < 0).any():
        raise IncompatibleError(
            "rising, falling, together and costs speak of single features, but the transform mixes several in a "
            "column. Use transform=identity, or one that keeps features apart."
        )
    settings: dict[str, Any] = {}
    if trees.rising or trees.falling:
        # LightGBM's "advanced" method lets leaves differ in the wrong direction by a rounding error
        settings |= {
            "monotone_constraints": monotone_signs(trees, data).tolist(),
            "monotone_constraints_method": "intermediate",
        }
    if trees.together:
        settings["interaction_constraints"] = _groups(trees.together, origin)
    if trees.costs:
        costs = np.array(trees.costs)[columns].tolist()
        settings |= {"cegb_tradeoff": 1.0, "cegb_penalty_feature_coupled": costs}
    return settings


def monotone_signs(trees: Trees, data: Dataset) -> Ints:
    """1 for each column with which scores must rise, −1 for those with which they must fall, else 0."""  # (d,)
    origin = _origin(data)
    signs = np.zeros(origin.n_features, np.int64)
    signs[sorted(_features(trees.rising, origin))] = 1
    signs[sorted(_features(trees.falling, origin))] = -1
    return signs[origin.feature]


def _origin(data: Dataset) -> Sources:
    if data.sources is not None:
        return data.sources
    return Sources(np.arange(data.n_features), data.feature_names, data.n_features)


def _groups(together: Sequence[Sequence[str]], origin: Sources) -> list[list[int]]:
    """Columns that may be on one path; a feature that no group names may be there alone."""
    groups = [_features(names, origin) for names in together]
    alone = set(range(origin.n_features)).difference(*groups)
    every = [*groups, *({feature} for feature in sorted(alone))]
    return [np.flatnonzero(np.isin(origin.feature, sorted(group))).tolist() for group in every]


def _features(names: Sequence[str], origin: Sources) -> set[int]:
    """Original features, from 0, that are called by these names or numbers from 1."""
    return {_feature(name, origin) for name in names}


def _feature(name: str, origin: Sources) -> int:
    if set(name) & set(",()[]") or name != name.strip():
        raise ParameterError(
            f"feature {name!r}: a name with brackets, commas or outer blanks cannot be read back from a model. Give "
            "the feature's number, from 1."
        )
    if origin.names is not None and name in origin.names:
        return origin.names.index(name)
    if name.isdecimal() and 1 <= int(name) <= origin.n_features:
        return int(name) - 1
    if origin.names is None or name.isdecimal():
        raise ParameterError(f"there is no feature {name!r}; the data has the features 1 to {origin.n_features}.")
    raise UnknownNameError("feature", name, origin.names)


def _called(feature: int, origin: Sources) -> str:
    return str(feature + 1) if origin.names is None else repr(origin.names[feature])
