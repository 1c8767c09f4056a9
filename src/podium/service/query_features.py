"""Query features of a request: numbers and words that describe the query, for models that were trained with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from podium.data.dataset import Dataset
from podium.data.query_values import category_number
from podium.service.domain_errors import RequestError

if TYPE_CHECKING:
    from podium.service.models.model_store import Entry


def with_query_features(data: Dataset, values: Mapping[str, float | str] | None, entry: Entry) -> Dataset:
    """The documents of one query with the query features that a model reads; a word is a category."""
    names = entry.model.query_columns
    if not names:
        return data
    missing = next((name for name in names if name not in (values or {})), None)
    if values is None or missing is not None:
        raise RequestError(
            f'{entry.key} needs the query feature {missing!r}: send "query_features": {{"{missing}": …}} with the '
            "documents, as JSON.",
            where="query_features",
        )
    numbers = [category_number(str(values[name])) for name in names]
    return replace(data, query_features=np.array([numbers]), query_feature_names=names)
