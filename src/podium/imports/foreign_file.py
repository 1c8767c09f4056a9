"""Models of other tools: the result of a reader, and safe access to the values of a file."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, NoReturn

from podium.base.errors import ModelFileError
from podium.scorers.forms import LinearForm
from podium.scorers.trees.forest import Forest


@dataclass(frozen=True, eq=False)
class ForeignModel:
    """A model of another tool, as read from its file."""

    format: str
    form: Forest | LinearForm
    names: tuple[str, ...] | None = None
    version: str | None = None
    notes: dict[str, Any] = field(default_factory=dict)  # for the user: details that were kept, left out or assumed


MOST_FEATURES = 2**20
MOST_BYTES = 512 * 2**20
REFUSED = "This model cannot be imported: "


def refuse(why: str) -> NoReturn:
    """Raise the error for a file that cannot be imported."""
    raise ModelFileError(f"{REFUSED}{why}")


def json_object(raw: bytes) -> dict[str, Any]:
    """Parse a JSON object; numbers may be infinite, since some tools write the infinity of float32."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:  # includes bytes that are not UTF-8
        refuse(f"it is not JSON, or damaged ({str(error)[:80]}).")
    if not isinstance(value, dict):
        refuse("its JSON is not an object.")
    return value


def at(value: object, *path: str | int, kind: type | tuple[type, ...] = dict) -> Any:
    """The value at a path of keys; raises a clear error unless it is of the `kind`. Booleans are no numbers."""
    for step in path:
        inside = value.get(step) if isinstance(value, dict) else None
        if isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            inside = value[step]
        if inside is None:
            refuse(f"{'.'.join(map(str, path))} is missing.")
        value = inside
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        refuse(f"{'.'.join(map(str, path))} is not what it should be: {str(value)[:40]!r}.")
    return value


def numbers(value: object, what: str, *, length: int | None = None, whole: bool = False) -> list[Any]:
    """Check a list of numbers, and its length if `length` is set: floats, or integers if `whole`."""
    kinds = (int,) if whole else (int, float)
    if not isinstance(value, list) or any(not isinstance(item, kinds) or isinstance(item, bool) for item in value):
        refuse(f"{what} is not a list of {'whole ' if whole else ''}numbers.")
    if length is not None and len(value) != length:
        refuse(f"{what} has {len(value)} entries; {length} are expected.")
    return value if whole else [number(item, what) for item in value]


def n_features_of(value: object) -> int:
    """Check a number of features."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= MOST_FEATURES:
        refuse(f"it claims {str(value)[:20]} features; from 1 to {MOST_FEATURES} are possible.")
    return value


def _plain(text: Any) -> Any:
    """The text; None if it has underscores (1_000), which only Python reads as a number."""
    return None if isinstance(text, str) and "_" in text else text


def number(text: object, what: str) -> float:
    """Parse a number."""
    try:
        return float(_plain(text))
    except (TypeError, ValueError, OverflowError):
        refuse(f"{what} is not a number: {str(text)[:40]!r}.")


def whole(text: object, what: str) -> int:
    """Parse an integer."""
    try:
        return int(_plain(text))
    except (TypeError, ValueError, OverflowError):
        refuse(f"{what} is not a whole number: {str(text)[:40]!r}.")


def names_of(value: object, n_features: int) -> tuple[str, ...] | None:
    """Feature names; None unless there is one for each feature and all differ."""
    if not isinstance(value, list) or len(value) != n_features or not all(isinstance(name, str) for name in value):
        return None
    return tuple(value) if len(set(value)) == len(value) and all(value) else None
