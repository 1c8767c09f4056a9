"""Battles: who met whom, and who won; in pairs, or several players at once.

    >>> battles = Battles.from_pairs(["gpt", "gpt", "llama"], ["llama", "mistral", "mistral"], ["a", "tie", "mistral"])
    >>> battles
    Battles(3 battles of 3 players, 1 tie)

A battle is a list of its players from the best; those of equal rank are tied. Players are numbered by name, so that the
order of battles and of their sides does not matter. In files and frames the columns a, b and winner are found by their
usual names (`usual_columns`), or battle, player and rank if more than two may meet; judge, group and weight are
optional. A battle without a winner was not judged: it is counted as `unfilled`, and left out.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.arena.winners import outcomes
from podium.base.arrays import Array, Flags, Ints
from podium.base.columns import number_ids
from podium.base.errors import DataError, counted
from podium.formats.tables.records import Records, frame_records, json_records, read_records
from podium.formats.trec.judged_rows import ids, numbers
from podium.formats.usual_columns import said, usual_columns

ROLES = ("a", "b", "winner", "battle", "player", "rank", "judge", "group", "weight")
"""Columns of battles that can be named."""


@dataclass(frozen=True, eq=False)
class Labels:
    """A name for each battle, e.g. its judge."""

    names: tuple[str, ...]  # sorted
    of: Ints  # (B,)

    @classmethod
    def of_column(cls, column: Sequence[Any] | NDArray[Any], what: str, source: str | None = None) -> Labels:
        """Names numbered in their order."""
        codes, names = number_ids(column, what, where=source)
        order = sorted(range(len(names)), key=names.__getitem__)
        place = np.empty(len(names), np.int64)
        place[order] = np.arange(len(names))
        return cls(tuple(names[k] for k in order), place[codes])

    def take(self, rows: Ints) -> Labels:
        """The labels of some battles; names that none of them has are left out."""
        used, of = np.unique(self.of[rows], return_inverse=True)
        return Labels(tuple(self.names[k] for k in used.tolist()), of)


@dataclass(frozen=True, eq=False)
class Battles:
    """B battles of m players; the players of battle k are entries[offsets[k]:offsets[k+1]], the best first."""

    players: tuple[str, ...]  # (m,) sorted
    entries: Ints  # (E,)
    ranks: Ints  # (E,) equal ones are tied
    offsets: Ints  # (B+1,)
    weights: Array  # (B,)
    judges: Labels | None = None
    groups: Labels | None = None
    unfilled: int = 0  # battles without a winner
    source: str | None = None
    guessed: str | None = None
    """Which columns of its file were taken for what."""

    @classmethod
    def from_pairs(
        cls,
        a: Sequence[Any] | NDArray[Any],
        b: Sequence[Any] | NDArray[Any],
        winner: Sequence[Any],
        *,
        weights: Array | None = None,
    ) -> Battles:
        """Battles of two: their players, and the winner of each: a, b, tie, or a player's name."""
        records = Records({"a": list(a), "b": list(b), "winner": list(winner)})
        battles = battles_of(records, {})
        return battles if weights is None else replace(battles, weights=_checked(np.asarray(weights, float), records))

    @property
    def n_battles(self) -> int:
        return len(self.weights)

    @property
    def sizes(self) -> Ints:
        """The number of players of each battle."""  # (B,)
        return np.diff(self.offsets)

    @property
    def in_pairs(self) -> bool:
        """Whether every battle is one of two players."""
        return bool((self.sizes == 2).all())

    @property
    def tied(self) -> Flags:
        """Whether any players of a battle are tied."""  # (B,)
        same = np.zeros(len(self.entries), np.bool_)
        same[1:] = self.ranks[1:] == self.ranks[:-1]
        same[self.offsets[:-1]] = False
        return np.asarray(np.add.reduceat(same, self.offsets[:-1]) > 0)

    def battles_each(self) -> Array:
        """The weight of the battles of each player."""  # (m,)
        return np.asarray(np.bincount(self.entries, np.repeat(self.weights, self.sizes), len(self.players)), float)

    def group(self, number: int) -> Battles:
        """The battles of a group, with the players that it has."""
        assert self.groups is not None, "of battles with groups"
        rows = np.flatnonzero(self.groups.of == number)
        sizes = self.sizes
        entries = np.flatnonzero(np.isin(np.repeat(np.arange(self.n_battles), sizes), rows))
        used, numbers_of = np.unique(self.entries[entries], return_inverse=True)
        return Battles(
            tuple(self.players[k] for k in used.tolist()),
            numbers_of,
            self.ranks[entries],
            np.append(0, np.cumsum(sizes[rows])),
            self.weights[rows],
            None if self.judges is None else self.judges.take(rows),
            source=self.source,
        )

    def __repr__(self) -> str:
        ties = int(self.tied.sum())
        parts = [f"{counted(self.n_battles, 'battle')} of {counted(len(self.players), 'player')}", counted(ties, "tie")]
        parts += [counted(len(self.judges.names), "judge")] if self.judges else []
        parts += [counted(len(self.groups.names), "group")] if self.groups else []
        return f"Battles({', '.join(parts)})"


def read_battles(path: str | os.PathLike[str], **columns: str | None) -> Battles:
    """Read battles from CSV, TSV, JSON, JSON lines, Parquet or Arrow; `columns` name columns of unusual names by role.

    Roles are a, b and winner, or battle, player and rank; and judge, group and weight.
    """
    return battles_of(read_records(path), columns)


def battles_from_frame(frame: Any, *, source: str | None = None, **columns: str | None) -> Battles:
    """Battles from a data frame of pandas, polars or pyarrow; `columns` as for `read_battles`."""
    return battles_of(frame_records(frame, source=source), columns)


def as_battles(battles: Any, **columns: str | None) -> Battles:
    """Battles from themselves, a file, a frame, or a list of dictionaries."""
    if isinstance(battles, Battles):
        return battles
    if isinstance(battles, str | os.PathLike):
        return read_battles(battles, **columns)
    if isinstance(battles, list | tuple):
        return battles_of(json_records(battles, None, source=None), columns)
    return battles_from_frame(battles, **columns)


def battles_of(records: Records, asked: Mapping[str, str | None]) -> Battles:
    """Battles from rows; `asked` are names of columns by role."""
    names = list(records.columns)
    long = usual_columns(names, ("player",), asked=asked, optional=("player",), source=records.source)
    pairs = usual_columns(names, ("a", "b"), asked=asked, optional=("a", "b"), source=records.source)
    main = ("battle", "player", "rank") if long and not pairs else ("a", "b", "winner")
    more = ("judge", "group", "weight")
    roles = usual_columns(names, (*main, *more), asked=asked, optional=more, source=records.source)
    battles = (_of_rows if "rank" in roles else _of_pairs)(records, roles)
    if not battles.n_battles:
        raise DataError(f"no battles: expected rows with {', '.join(main[:-1])} and {main[-1]}.", where=records.source)
    return replace(battles, source=records.source, guessed=said(roles, asked) or None)


def _of_pairs(records: Records, roles: Mapping[str, str]) -> Battles:
    """A row is a battle of a and b."""
    result = outcomes(records, roles)
    rows = np.flatnonzero(~np.isnan(result))
    result = result[rows]
    sides = [ids(records, roles[side], side, rows) for side in ("a", "b")]
    players = Labels.of_column(np.concatenate(sides), "player", records.source)
    first, second = players.of[: len(rows)], players.of[len(rows) :]
    same = np.flatnonzero(first == second)
    if len(same):
        raise DataError(
            f"{players.names[first[same[0]]]!r} meets itself. Drop the row.", where=records.where(int(rows[same[0]]))
        )
    won = np.where((result > 0) | ((result == 0) & (first < second)), first, second)
    entries = np.column_stack([won, first + second - won]).ravel()
    ranks = np.column_stack([np.ones(len(rows), np.int64), np.where(result == 0, 1, 2)]).ravel()
    return Battles(
        players.names, entries, ranks, 2 * np.arange(len(rows) + 1), *_about(records, roles, rows),
        unfilled=len(records.columns[roles["a"]]) - len(rows),
    )  # fmt: skip


def _of_rows(records: Records, roles: Mapping[str, str]) -> Battles:
    """A row is the rank of a player in a battle."""
    ranks = numbers(records, roles["rank"], "rank")
    rows = np.flatnonzero(~np.isnan(ranks))
    battles = Labels.of_column(ids(records, roles["battle"], "battle", rows), "battle", records.source)
    players = Labels.of_column(ids(records, roles["player"], "player", rows), "player", records.source)
    order = np.lexsort((players.of, ranks[rows], battles.of))
    of, entries = battles.of[order], players.of[order]
    twice = np.unique(of * len(players.names) + entries, return_counts=True)[1]
    if (twice > 1).any():
        _refuse_twice(records, battles, players, rows)
    sizes = np.bincount(of, minlength=len(battles.names))
    alone = np.flatnonzero(sizes == 1)
    if len(alone):
        name = battles.names[alone[0]]
        raise DataError(
            f"battle {name!r} has one player with a rank; two or more are needed. Drop it.", where=records.source
        )
    offsets = np.append(0, np.cumsum(sizes)).astype(np.int64)
    dense = np.unique(ranks[rows], return_inverse=True)[1][order] + 1
    weights, *labels = _about(records, roles, rows)
    weights, firsts = weights[order], offsets[:-1]
    judges, groups = (None if names is None else replace(names, of=names.of[order]) for names in labels)
    for what, names in (("judge", judges), ("group", groups)):
        if names is not None and (names.of != np.repeat(names.of[firsts], sizes)).any():
            raise DataError(f"a battle has more than one {what}; all its rows need the same.", where=records.source)
    if (weights != np.repeat(weights[firsts], sizes)).any():
        raise DataError("a battle has more than one weight; all its rows need the same.", where=records.source)
    return Battles(
        players.names, entries, dense, offsets, weights[firsts],
        None if judges is None else judges.take(firsts), None if groups is None else groups.take(firsts),
        unfilled=len(ranks) - len(rows),
    )  # fmt: skip


def _refuse_twice(records: Records, battles: Labels, players: Labels, rows: Ints) -> None:
    seen: set[tuple[int, int]] = set()
    for row, key in enumerate(zip(battles.of.tolist(), players.of.tolist(), strict=True)):
        if key in seen:
            raise DataError(
                f"player {players.names[key[1]]!r} is in battle {battles.names[key[0]]!r} twice. Keep one row.",
                where=records.where(int(rows[row])),
            )
        seen.add(key)


def _about(records: Records, roles: Mapping[str, str], rows: Ints) -> tuple[Array, Labels | None, Labels | None]:
    """Weights, judges and groups of some rows."""
    weights = np.ones(len(rows))
    if "weight" in roles:
        weights = _checked(numbers(records, roles["weight"], "weight")[rows], records, rows)
    labels = [
        Labels.of_column(ids(records, roles[role], role, rows), role, records.source) if role in roles else None
        for role in ("judge", "group")
    ]
    return weights, labels[0], labels[1]


def _checked(weights: Array, records: Records, rows: Ints | None = None) -> Array:
    bad = np.flatnonzero(~((weights > 0.0) & (weights <= _MOST)))
    if len(bad):
        row = int(bad[0] if rows is None else rows[bad[0]])
        raise DataError(
            f"the weight must be a number above 0, at most {_MOST:g}; got {weights[bad[0]]:g}.",
            where=records.where(row),
        )
    return weights


_MOST = 1e12
"""Largest weight of a battle: sums of many stay far from overflow."""
