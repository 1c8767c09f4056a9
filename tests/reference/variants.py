"""Registered values off their defaults, and short versions of what takes long: for contracts over the registry."""

from __future__ import annotations

import dataclasses
import importlib.util
import typing
from collections.abc import Iterator
from typing import Any, TypeVar

from podium.errors import ParameterError
from podium.recipe import Recipe
from podium.registry import Named, field_types

T = TypeVar("T")


def variants(cls: type[Named]) -> Iterator[Named]:
    """The default, then every field moved off its default alone, then a value with all of them moved."""
    default = cls()
    yield default
    moved = default
    for name, hint in field_types(cls).items():
        for value in _others(getattr(default, name), hint):
            try:
                yield dataclasses.replace(default, **{name: value})
                moved = dataclasses.replace(moved, **{name: value})
            except ParameterError:
                continue
            break
    if moved != default:
        yield moved


def installed(cls: type[Named]) -> bool:
    """Whether the optional package that carries the thing's name is there."""
    return cls.name != "torch" or importlib.util.find_spec("torch") is not None


def short(value: T, steps: int) -> T:
    """The same solver, or recipe, with so many iterations at most."""
    if isinstance(value, Recipe):
        return dataclasses.replace(value, solver=short(value.solver, steps))
    return with_fields(value, iterations=steps, epochs=steps, rounds=steps)


def with_fields(value: T, **settings: Any) -> T:
    """The value with those of the settings that it has."""
    known = {field.name for field in dataclasses.fields(value)}  # type: ignore[arg-type]
    return dataclasses.replace(value, **{k: v for k, v in settings.items() if k in known})  # type: ignore[type-var]


def _others(value: Any, hint: Any) -> list[Any]:
    """Other values of the same type, some of which will be within bounds."""
    options = typing.get_args(hint)
    if typing.get_origin(hint) is typing.Literal:
        return [option for option in options if option != value]
    if typing.get_origin(hint) is tuple:
        return [(3, 2)]
    if type(None) in options:
        return [7, 0.7, None]
    if isinstance(hint, type) and issubclass(hint, Named):
        return [made for made in (kind() for kind in hint.catalogue().values()) if made != value]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(value, float):
        return [value * 1.5 + 1e-7, value * 0.7]
    return []
