"""Winners of battles of two, in the words of arenas: a, model_a, the player's name; tie, draw, both bad; or a's score.

>>> from podium.formats.tables.records import Records
>>> rows = Records({"a": ["x", "x", "y"], "b": ["y", "z", "z"], "winner": ["model_a", "tie (bothbad)", "z"]})
>>> outcomes(rows, {"a": "a", "b": "b", "winner": "winner"})
array([ 1.,  0., -1.])
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.base.columns import is_missing
from podium.base.errors import DataError
from podium.formats.tables.records import Records

_SIDES = {
    **dict.fromkeys(("a", "modela", "playera", "left", "first", "responsea", "assistanta", "sidea", "teama"), 1.0),
    **dict.fromkeys(("b", "modelb", "playerb", "right", "second", "responseb", "assistantb", "sideb", "teamb"), -1.0),
    **dict.fromkeys(
        ("tie", "ties", "tied", "draw", "equal", "same", "both", "neither", "tiebothbad", "bothbad", "bothgood",
         "tiebothgood"),
        0.0,
    ),
}  # fmt: skip
_SCORES = {"1": 1.0, "1.0": 1.0, "0.5": 0.0, ".5": 0.0, "½": 0.0, "0": -1.0, "0.0": -1.0}
"""Outcomes by the score of a, as in chess."""


def outcomes(records: Records, roles: Mapping[str, str]) -> Array:
    """1 if a won, −1 if b won, 0 if they tied; NaN if the battle was not judged."""  # (B,)
    first, second, winners = (_cells(records, roles[role]) for role in ("a", "b", "winner"))
    words = {_word(cell) for cell in set(winners)} - {""}
    sides = {**_SIDES, _squeezed(roles["a"]): 1.0, _squeezed(roles["b"]): -1.0}
    if words <= set(_SCORES):
        sides = _SCORES
    meaning = {cell: sides.get(_squeezed(cell) if sides is not _SCORES else _word(cell)) for cell in set(winners)}
    result = np.empty(len(winners))
    for row, (a, b, winner) in enumerate(zip(first, second, winners, strict=True)):
        if winner == "":
            result[row] = np.nan
            continue
        named = 1.0 if winner == a else -1.0 if winner == b else None
        side = meaning[winner]
        if named is not None and side is not None and named != side:
            raise DataError(
                f"the winner {winner!r} is a player's name, and a word for the other side or a tie. Rename the player.",
                where=records.where(row),
            )
        outcome = side if named is None else named
        if outcome is None:
            raise DataError(
                f"the winner is {winner!r}; expected a, b, tie, or the name of one of the two, {a!r} and {b!r}.",
                where=records.where(row),
            )
        result[row] = outcome
    return result


def _cells(records: Records, column: str) -> list[str]:
    cells: Any = records.columns[column]
    values = cells if isinstance(cells, list) else cells.to_list()
    return ["" if is_missing(value) else _word(value) for value in values]


def _word(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _squeezed(word: str) -> str:
    return "".join(letter for letter in word.lower() if letter.isalnum())
