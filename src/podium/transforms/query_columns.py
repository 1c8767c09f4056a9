"""Query columns: the numbers z(q) that describe a query, on one scale.

They are query features of the data, all or those named, and profiles of the query's documents (`query-profile`). A
number becomes its z-score over the training queries; a category becomes a column of 0 and 1 for each value of the
training queries, so that a value that was not there is 0 in all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import DataError, ModelFileError
from podium.base.json_arrays import packed_json, unpacked_json
from podium.data.query_values import CATEGORY, how_to_give, query_feature_names, query_values
from podium.transforms.base import State
from podium.transforms.stacked import Stacked

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.transforms.query_profile import QueryProfile

NAMES = "queries.names"
_PARTS = ("queries.source", "queries.value", "queries.centre", "queries.scale")
_MOST_VALUES = 1000
"""Values of a category: more are not a description but an id."""


def fit_query_columns(queries: tuple[str, ...], data: Dataset, who: str) -> State:
    """Fit to the training queries; `queries` are names of query features and profiles, none: all query features."""
    given = tuple(name for name in queries if not _is_profile(name)) if queries else query_feature_names(data)
    if not queries and not given:
        raise DataError(
            f"{who} needs query features, and the data has none. {how_to_give('NAME')} Or describe queries by their "
            "documents: queries=[query-profile].",
            where=data.source,
        )
    columns = [column for k, name in enumerate(given) for column in _columns(k, query_values(data, name, who), name)]
    parts = np.array(columns, np.float64).reshape(-1, 4).T.copy()
    state: State = {NAMES: packed_json(given), **dict(zip(_PARTS, parts, strict=True))}
    for number, profile in enumerate(_profiles(queries)):
        state |= {f"{_folder(number)}{name}": array for name, array in profile.fit_profile(data).items()}
    return state


def query_columns(queries: tuple[str, ...], state: State, data: Dataset, who: str) -> Array:
    """The columns of the queries of a dataset."""  # (Q, m)
    names = names_of(state)
    source, value, centre, scale = (state.get(part, np.empty(0)) for part in _PARTS)
    if len({part.shape for part in (source, value, centre, scale)}) > 1 or not np.isin(source, range(len(names))).all():
        raise ModelFileError("The model's query features are damaged. Train it again.")
    raw = [query_values(data, name, who) for name in names]
    parts = []
    for k, category, shift, factor in zip(source.astype(int), value, centre, scale, strict=True):
        z = (raw[k] - shift) * factor if np.isnan(category) else (raw[k] == category).astype(np.float64)
        parts.append(np.nan_to_num(z, nan=0.0, posinf=0.0, neginf=0.0)[:, None])
    for number, profile in enumerate(_profiles(queries)):
        folder = _folder(number)
        own = {name.removeprefix(folder): array for name, array in state.items() if name.startswith(folder)}
        parts.append(profile.profile(own, data))
    return np.concatenate([np.zeros((data.n_queries, 0)), *parts], axis=1)


def names_of(state: State) -> tuple[str, ...]:
    """The query features that fitted query columns read."""
    names = unpacked_json(state, NAMES)
    if not isinstance(names, list):
        raise ModelFileError("The names of the model's query features are damaged. Train it again.")
    return tuple(map(str, names))


def moments(values: Array) -> tuple[Array, Array]:
    """Mean of each column, and one over its deviation, 0 if it is constant; missing values are left out."""
    there = np.isfinite(values)
    counts = np.maximum(there.sum(axis=0), 1)
    mean = np.where(there, values, 0.0).sum(axis=0) / counts
    deviation = np.sqrt((np.where(there, values - mean, 0.0) ** 2).sum(axis=0) / counts)
    flat = deviation <= 1e-6 * np.maximum(np.abs(mean), 1e-30)
    return mean, np.where(flat, 0.0, 1.0 / np.where(flat, 1.0, deviation))


def _columns(source: int, values: Array, name: str) -> list[tuple[float, float, float, float]]:
    """(source, category or NaN, centre, scale) of each column that a query feature becomes."""
    if not (values >= CATEGORY).any():
        mean, scale = moments(values[:, None])
        return [(source, np.nan, mean[0], scale[0])]
    categories = np.unique(values[~np.isnan(values)])
    if len(categories) > _MOST_VALUES:
        raise DataError(
            f"the query feature {name!r} has {len(categories)} different words; at most {_MOST_VALUES} are taken. "
            "Leave it out by naming the others: queries=[…]."
        )
    return [(source, category, 0.0, 1.0) for category in categories]


def _is_profile(name: str) -> bool:
    return name.partition("(")[0].strip() == "query-profile"


def _profiles(queries: tuple[str, ...]) -> list[QueryProfile]:
    from podium.transforms.query_profile import QueryProfile

    return [QueryProfile.parse(text) for text in queries if _is_profile(text)]


def _folder(number: int) -> str:
    return f"profile{number}."


@dataclass(frozen=True, repr=False)
class OnQueries(Stacked):
    """The base class of transforms of the features of `of` together with query columns."""

    per_query = True
    queries: tuple[str, ...] = ()
    """Names of query features, or query-profile; all query features by default."""

    def query_columns(self, state: State) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*super().query_columns(state), *names_of(state)]))

    def check(self, data: Dataset) -> None:
        super().check(data)
        fit_query_columns(self.queries, data, self.name)

    def fit(self, data: Dataset) -> State:
        columns = fit_query_columns(self.queries, data, self.name)
        return columns | self.fit_below(data)
