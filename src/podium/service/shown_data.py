"""Facts for people who look at the service's data: texts of queries, guidelines for judges, the scale of grades."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from podium.base.errors import DataError, ParameterError

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.service.settings import Settings

MOST_GRADE = 9
"""Highest grade that a key of the keyboard gives."""
_USUAL = 4
_LONGEST = 50_000
"""Largest size of the guidelines, in bytes."""


@dataclass(frozen=True)
class ShownData:
    """Texts of queries by id, guidelines for judges ("" for none), and the highest grade."""

    texts: dict[str, str]
    guidelines: str
    scale: int


def read_shown_data(settings: Settings, data: Dataset | None) -> ShownData:
    """Read the files of the settings; the scale of grades is that of the settings, else that of the data's labels."""
    texts: dict[str, str] = {}
    if settings.queries:
        from podium.text.collection.collection import read_queries

        texts = {topic.id: topic.text for topic in read_queries(settings.queries)}
        _check_ids(texts, data, settings.queries)
    return ShownData(texts, _guidelines(settings.guidelines), settings.scale or scale_of(data))


def _check_ids(texts: dict[str, str], data: Dataset | None, path: str) -> None:
    """Raise a clear error if the texts are of other queries than those of the data."""
    if data is not None and data.n_queries and not any(data.query_name(q) in texts for q in range(data.n_queries)):
        raise DataError(
            f"none of its {len(texts)} ids is a query of the data, whose first is {data.query_name(0)!r}; the first "
            f"here is {next(iter(texts))!r}. Give the queries that the data was made of.",
            where=path,
        )


def scale_of(data: Dataset | None) -> int:
    """Highest grade of the data's labels if they are whole numbers up to 9, else 4."""
    if data is None or data.labels is None or not len(data.labels):
        return _USUAL
    highest = float(np.max(data.labels))
    return int(highest) if highest in range(1, MOST_GRADE + 1) else _USUAL


def _guidelines(path: str) -> str:
    if not path:
        return ""
    try:
        if os.path.getsize(path) > _LONGEST:
            raise ParameterError(f"{path}: guidelines have at most {_LONGEST} bytes; got {os.path.getsize(path)}.")
        return Path(path).read_text("utf-8-sig").strip()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}.", where=path) from None
    except UnicodeDecodeError:
        raise DataError("not text in UTF-8.", where=path) from None
