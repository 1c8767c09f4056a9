"""Fold: data to learn from, to choose settings by, and to be judged on."""

from __future__ import annotations

from dataclasses import dataclass

from podium.data.dataset import Dataset


@dataclass(frozen=True)
class Fold:
    """Training, validation and test data; the rows of a query lie together in each."""

    train: Dataset
    valid: Dataset | None
    test: Dataset | None
    name: str

    def __post_init__(self) -> None:
        for part in ("train", "valid", "test"):
            data = getattr(self, part)
            if data is not None:
                object.__setattr__(self, part, data.grouped())
