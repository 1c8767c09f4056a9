"""Fold: training, validation and test data."""

from __future__ import annotations

from dataclasses import dataclass

from podium.data.dataset import Dataset


@dataclass(frozen=True)
class Fold:
    """Training, validation and test data; in each, the rows of a query are adjacent."""

    train: Dataset  # data to learn from
    valid: Dataset | None  # data that tunes and stops early; None if there is none
    test: Dataset | None  # data that measures; None if there is none
    name: str  # name of the fold, such as Fold1

    def __post_init__(self) -> None:
        for part in ("train", "valid", "test"):
            data = getattr(self, part)
            if data is not None:
                object.__setattr__(self, part, data.grouped())
