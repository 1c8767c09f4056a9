"""Tables of parameters of registered things: type, default, range, what tuning searches, meaning."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any

from podium.base.registry import Named, field_types, write
from podium.cli.methods import in_words
from podium.cli.parameters import bounds, meanings

from .markdown import code, escaped, table

_LONGEST = 80


def parameters(cls: type[Named], value: Named | None = None) -> str:
    """Table of the parameters of a registered class, with those of a value of it; a sentence if it has none."""
    types_of, meaning = field_types(cls), meanings(cls)
    fields = [field for field in dataclasses.fields(cls) if field.name in types_of]  # type: ignore[arg-type]
    if not fields:
        return "No parameters."
    rows = [
        [
            code(field.name),
            _default(field) if value is None else _written(getattr(value, field.name)),
            escaped(meaning.get(field.name, "")),
            escaped(type_in_words(types_of[field.name])),
            escaped(bounds(field)),
            escaped(in_words(field.metadata["search"])) if "search" in field.metadata else "",
        ]
        for field in fields
    ]
    head = ["parameter", "default" if value is None else "value", "meaning", "type", "range", "tuning searches"]
    kept = [column for column in range(len(head)) if column < 4 or any(row[column] for row in rows)]
    return table([head[column] for column in kept], [[row[column] for column in kept] for row in rows])


def type_in_words(hint: Any) -> str:
    """A declared type in words that a reader of the command line knows."""
    origin, options = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return " or ".join(code(str(option)) for option in options)
    if origin in (typing.Union, types.UnionType):
        return " or ".join("none" if option is type(None) else type_in_words(option) for option in options)
    if origin is tuple:
        return f"list of {type_in_words(options[0])}"
    if isinstance(hint, type) and issubclass(hint, Named):
        return f"a {getattr(hint, 'kind', 'part')}"
    words = {int: "whole number", float: "number", bool: "true or false", str: "text"}
    return words.get(hint, getattr(hint, "__name__", str(hint)))


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return _written(field.default)
    return _written(field.default_factory()) if field.default_factory is not dataclasses.MISSING else "must be given"


def _written(value: object) -> str:
    text = write(value)
    return code(text if len(text) <= _LONGEST else f"{text.partition('(')[0]}()")
