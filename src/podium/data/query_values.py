"""Query features: a column of them by its name, and numbers for words."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import DataError

if TYPE_CHECKING:
    from podium.data.table import Table

CATEGORY = 2.0**52
"""Words have numbers from here on."""


def category_number(word: str) -> float:
    """A finite number as it is; of any other word, a whole number from 2^52 to 2^53 by its letters alone."""
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if math.isfinite(number):
        return number
    digest = hashlib.blake2b(word.encode("utf-8", "surrogateescape"), digest_size=8).digest()
    return CATEGORY + int.from_bytes(digest, "little") % 2**52


def query_feature_names(data: Table) -> tuple[str, ...]:
    """The names of the query features; q1, q2, … if they have none."""
    if data.query_features is None:
        return ()
    return data.query_feature_names or tuple(f"q{k}" for k in range(1, data.query_features.shape[1] + 1))


def query_values(data: Table, column: str, who: str) -> Array:
    """A column of the query features, which `who` needs; zeros if there is no document."""  # (Q,)
    names = query_feature_names(data)
    if data.query_features is not None and column in names:
        return np.asarray(data.query_features[:, names.index(column)], np.float64)
    if not data.n_documents:
        return np.zeros(data.n_queries)
    has = f"has {', '.join(names)}" if names else "has none"
    raise DataError(
        f"{who} needs the query feature {column!r}, and the data {has}. {how_to_give(column)}", where=data.source
    )


def how_to_give(column: str) -> str:
    """How query features come with data, in words."""
    return (
        f"Write a file DATA.queries: a header 'query {column}', then a line per query. Of a table, name its column: "
        f"--query-features {column}."
    )
