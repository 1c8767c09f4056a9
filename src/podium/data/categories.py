"""Categories: text, or numbers without an order, as codes 0, 1, 2 … that trees split into sets.

    >>> coded(["red", "blue", None, "red"], what="colour")[0].tolist()
    [0.0, 1.0, nan, 0.0]

Codes go by falling frequency in the training data, and are kept with the model. What was not seen there, and what is
missing, is NaN. A whole number is the same category as its text: 5, 5.0 and "5".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from podium.base.arrays import Array, is_sparse
from podium.base.columns import exact_ids
from podium.base.errors import DataError, ModelFileError

if TYPE_CHECKING:
    from podium.data.table import Table

Categories = Mapping[int, tuple[str, ...]]
"""The categories of each feature that has them, by its column from 0; code k is the k-th."""
MOST = 65_535
"""Largest number of categories of a feature."""
T = TypeVar("T", bound="Table")


def coded(
    values: object, *, what: str, where: str | None = None, kept: Sequence[str] | None = None
) -> tuple[Array, tuple[str, ...]]:
    """The code of each value, and the categories: `kept`, or those of the values by falling frequency."""
    ids = exact_ids(values, what, where=where, optional=True)
    texts = [None if value is None else str(value) for value in ids.tolist()]
    if kept is None:
        names, counts = np.unique([text for text in texts if text is not None], return_counts=True)
        if len(names) > MOST:
            raise DataError(
                f"{what}: {len(names)} categories; the most are {MOST}. Is it an id? Leave it out, or join rare ones.",
                where=where,
            )
        kept = [str(names[k]) for k in np.lexsort((np.arange(len(names)), -counts))] if len(names) else []
    place: dict[str | None, float] = {text: float(code) for code, text in enumerate(kept)}
    return np.array([place.get(text, np.nan) for text in texts], np.float64), tuple(kept)


def with_categories(data: T, columns: Sequence[str]) -> T:
    """The data with whole-number features, named or numbered from 1, as categories."""
    chosen = [_column(name, data) for name in columns]
    if data.categories:
        raise DataError("the data has categories already.", where=data.source)
    X = _dense(data)
    categories: dict[int, tuple[str, ...]] = {}
    for column in sorted(set(chosen)):
        X[:, column], categories[column] = coded(X[:, column], what=_called(data, column), where=data.source)
    return data.with_features(X, data.feature_names, categories=categories)


def aligned_categories(data: T, categories: Categories | None) -> T:
    """The data with the codes of a model's categories.

    Where the data has no categories, its numbers are the categories if these are numbers, or codes if they are text.
    """
    theirs = data.categories or {}
    if theirs == (categories or {}):
        return data
    strange = sorted(set(theirs) - set(categories or {}))
    if strange:
        raise DataError(
            f"{_called(data, strange[0])} has categories, but the model was trained with numbers there.",
            where=data.source,
        )
    X = _dense(data)
    for column, kept in (categories or {}).items():
        if column in theirs:
            lookup = np.append(coded(list(theirs[column]), what="category", kept=kept)[0], np.nan)
            X[:, column] = lookup[np.where(np.isnan(X[:, column]), len(lookup) - 1, X[:, column]).astype(np.int64)]
            continue
        if not any(map(_is_number, kept)):  # numbers in place of text are codes
            valid = np.isin(X[:, column], np.arange(len(kept)))
            X[:, column] = np.where(valid, X[:, column], np.float32(np.nan))
            continue
        X[:, column] = coded(X[:, column], what=_called(data, column), where=data.source, kept=kept)[0]
    return data.with_features(X, data.feature_names, categories=categories)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _dense(data: Table) -> Any:
    """A copy of the features in memory."""
    X: Any = data.features
    return X.toarray() if is_sparse(X) else np.array(X[:], np.float32)


def _called(data: Table, column: int) -> str:
    return f"feature {column + 1 if data.feature_names is None else repr(data.feature_names[column])}"


def _column(name: str, data: Table) -> int:
    names = data.feature_names or ()
    if name in names:
        return names.index(name)
    if name.isdecimal() and 1 <= int(name) <= data.n_features:
        return int(name) - 1
    raise DataError(f"no feature {name!r}; categories are features by their name, or number from 1.", where=data.source)


def categories_of(entries: Any, n_features: int) -> Categories | None:
    """Categories of a model file."""
    if not entries:
        return None
    try:
        categories = {int(column): tuple(map(str, kept)) for column, kept in entries.items()}
    except (AttributeError, TypeError, ValueError) as error:
        raise ModelFileError(f"Its categories cannot be read ({error!r}). Train it again.") from None
    if not all(0 <= column < n_features and len(kept) <= MOST for column, kept in categories.items()):
        raise ModelFileError("Its categories are not those of its features. Train it again.")
    return categories
