"""A file of another tool: the model that a reader finds in it, and safe ways to look into it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, NoReturn

from podium.base.errors import ModelFileError
from podium.scorers.forms import LinearForm
from podium.scorers.trees.forest import Forest


@dataclass(frozen=True, eq=False)
class Foreign:
    """A model of another tool."""

    format: str
    form: Forest | LinearForm
    names: tuple[str, ...] | None = None
    version: str | None = None
    notes: dict[str, Any] = field(default_factory=dict)  # for people: what was kept, left out or made up


MOST_FEATURES = 2**20
REFUSED = "This model cannot be imported: "


def refuse(why: str) -> NoReturn:
    """Raise the error of a foreign file that cannot be used."""
    raise ModelFileError(f"{REFUSED}{why}")


def json_object(raw: bytes) -> dict[str, Any]:
    """The object of a JSON text; numbers may be infinite, as float32 infinity is written by some tools."""
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError) as error:  # includes bytes that are not UTF-8
        refuse(f"it is not JSON, or damaged ({str(error)[:80]}).")
    if not isinstance(found, dict):
        refuse("its JSON is not an object.")
    return found


def at(value: Any, *path: str | int, kind: type | tuple[type, ...] = dict) -> Any:
    """The value at a path of keys, which must be of a kind; numbers and texts are never true or false."""
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


def numbers(value: Any, what: str, *, length: int | None = None, whole: bool = False) -> list[Any]:
    """A list of numbers, of a length where one is given; floats unless they have to be whole."""
    kinds = (int,) if whole else (int, float)
    if not isinstance(value, list) or any(not isinstance(one, kinds) or isinstance(one, bool) for one in value):
        refuse(f"{what} is not a list of {'whole ' if whole else ''}numbers.")
    if length is not None and len(value) != length:
        refuse(f"{what} has {len(value)} entries; {length} are expected.")
    return value if whole else [number(one, what) for one in value]


def n_features_of(value: Any) -> int:
    """A number of features that is possible."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= MOST_FEATURES:
        refuse(f"it claims {str(value)[:20]} features; from 1 to {MOST_FEATURES} are possible.")
    return value


def _plain(text: Any) -> Any:
    """A text without Python's 1_000, which no other tool reads."""
    return None if isinstance(text, str) and "_" in text else text


def number(text: Any, what: str) -> float:
    """The number of a text."""
    try:
        return float(_plain(text))
    except (TypeError, ValueError, OverflowError):
        refuse(f"{what} is not a number: {str(text)[:40]!r}.")


def whole(text: Any, what: str) -> int:
    """The whole number of a text."""
    try:
        return int(_plain(text))
    except (TypeError, ValueError, OverflowError):
        refuse(f"{what} is not a whole number: {str(text)[:40]!r}.")


def names_of(value: Any, n_features: int) -> tuple[str, ...] | None:
    """Feature names, where there is one for each and no two are alike."""
    if not isinstance(value, list) or len(value) != n_features or not all(isinstance(name, str) for name in value):
        return None
    return tuple(value) if len(set(value)) == len(value) and all(value) else None
