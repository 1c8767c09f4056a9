"""The plain case, what an odd input is, and small makers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

N, QUERIES = 30, 6
ROWS = np.arange(N)
X = (ROWS[:, None] * np.array([7, 11, 13]) % np.array([17, 23, 29])).astype(np.float64)
Y = (ROWS * 5 // 6 % 3).astype(np.float64)
QID = (ROWS * 7 % QUERIES + 1).tolist()
SCORES = (ROWS * 11 % 31).astype(np.float64).tolist()
DOCUMENTS = (ROWS + 1).tolist()
WEIGHTS = [1.0, 2.0, 0.5, 4.0, 1.0, 2.0]
"""Of the queries in order of first appearance."""
GROUP = [5] * QUERIES
FEATURES = ["bm25", "clicks", "age"]

EQUAL = None
"""All numbers are those of the plain case."""


@dataclass(frozen=True)
class Odd:
    """One odd input in the place of one argument."""

    name: str
    argument: str
    make: Callable[[Any], Any]
    words: str | None = EQUAL  # that the refusal matches
    like: Callable[[Any], Any] | None = None  # the plain input whose numbers are expected; None: the plain case

    def __str__(self) -> str:
        return f"{self.argument} {self.name}"


def masked(values: Any, *, where: Any) -> Any:
    return np.ma.masked_array(np.asarray(values), mask=where)


def objects(values: Any) -> Any:
    made = np.empty(len(values), object)
    made[:] = list(values)
    return made


def replaced(values: Any, value: Any, at: int = 1) -> list[Any]:
    return [value if row == at else old for row, old in enumerate(values)]


def strided(values: Any) -> Any:
    return np.repeat(np.asarray(values), 2, axis=0)[::2]


def read_only(values: Any) -> Any:
    made = np.array(values)
    made.flags.writeable = False
    return made


def structured(values: Any) -> Any:
    return np.array([(value,) for value in values], [("a", "f8")])


def holes(values: Any) -> Any:
    """The features with a missing value."""
    made = np.array(values, np.float64)
    made[3, 1] = np.nan
    return made


def whole(values: Any) -> list[int]:
    return [int(value) for value in values]


def positive(values: Any) -> list[float]:
    return [float(value > 0) for value in values]


TEXT = "must be numbers|is no number"
ROW = "one per row"
