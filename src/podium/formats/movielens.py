"""MovieLens ratings: the file u.data of MovieLens-100k, `user item rating time` with tabs between, a rating per line.

    >>> import io
    >>> lines = b"196\\t242\\t3\\t881250949\\n186\\t302\\t4\\t891717742\\n196\\t302\\t5\\t881251000\\n"
    >>> ratings = read_movielens(io.BytesIO(lines))
    >>> ratings.users.tolist(), ratings.items.tolist()
    (['196', '186'], ['242', '302'])
    >>> ratings.matrix().tolist()
    [[3.0, 5.0], [nan, 4.0]]

The data is at grouplens.org, for research and not for redistribution; podium does not contain it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array, Ints, Singles
from podium.base.errors import DataError
from podium.base.files import Source, reading, source_name


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of items by users; both are numbered in order of first appearance."""

    users: NDArray[np.object_]  # (U,) ids
    items: NDArray[np.object_]  # (I,) ids
    user: Ints  # (N,) numbers
    item: Ints  # (N,) numbers
    rating: Array  # (N,)
    time: Ints  # (N,) seconds since 1970

    def __len__(self) -> int:
        return len(self.rating)

    def matrix(self) -> Singles:
        """The rating of each item by each user; NaN if there is none."""  # (U, I)
        matrix = np.full((len(self.users), len(self.items)), np.nan, np.float32)
        matrix[self.user, self.item] = self.rating
        return matrix


def read_movielens(source: Source) -> Ratings:
    """Read ratings from a path, "-" or a binary file, gzipped or not."""
    name = source_name(source)
    users: dict[str, int] = {}
    items: dict[str, int] = {}
    rows: dict[tuple[int, int], tuple[float, int]] = {}
    with reading(source) as file:
        for number, raw in enumerate(file, 1):
            where = f"{name}:{number}"
            parts = raw.decode("utf-8", "replace").strip("\r\n").split("\t")
            if parts == [""]:
                continue
            if len(parts) != 4 or not (parts[0] and parts[1]):
                raise DataError(
                    f"expected user, item, rating and time with tabs between; got {len(parts)} of these 4 parts "
                    f"({raw[:60]!r}).",
                    where=where,
                )
            key = users.setdefault(parts[0], len(users)), items.setdefault(parts[1], len(items))
            if key in rows:
                raise DataError(f"user {parts[0]} has rated item {parts[1]} before. Keep one of the two.", where=where)
            rows[key] = _rating(parts[2], where), _time(parts[3], where)
    if not rows:
        raise DataError("no ratings: the file is empty.", where=name)
    pairs, values = np.array(list(rows), np.int64), list(rows.values())
    return Ratings(
        np.array(list(users), object),
        np.array(list(items), object),
        pairs[:, 0],
        pairs[:, 1],
        np.array([rating for rating, _ in values]),
        np.array([time for _, time in values], np.int64),
    )


def _rating(word: str, where: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"expected a rating, a finite number; got {word[:40]!r}.", where=where)
    return value


def _time(word: str, where: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 19):
        raise DataError(f"expected a time in whole seconds; got {word[:40]!r}.", where=where)
    return int(word)
