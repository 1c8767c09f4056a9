"""Shelf: models by name@version, and aliases for them. It never changes; a swap makes another one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from podium.base.errors import UnknownNameError
from podium.model import Model
from podium.service.domain_errors import NotFoundError, RequestError

if TYPE_CHECKING:
    from podium.engine import Engine

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True, eq=False)
class Entry:
    """A model with its place on the shelf."""

    name: str
    version: int
    model: Model
    sha256: str
    size: int
    engine: Engine | None = None
    """Searches the index with this model, where the service has one that fits."""

    @cached_property
    def key(self) -> str:
        return f"{self.name}@{self.version}"

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The model's features; numbers from 1 where they have no names."""
        return self.model.feature_names or tuple(str(l + 1) for l in range(self.model.n_features))

    @cached_property
    def commas(self) -> int:
        """The most commas of a document's features in JSON, those in names included."""
        return self.model.n_features - 1 + sum(name.count(",") for name in self.feature_names)

    @cached_property
    def columns(self) -> dict[str, int]:
        """The place of each feature."""
        return {name: l for l, name in enumerate(self.feature_names)}


@dataclass(frozen=True)
class Alias:
    """A name for a model; `version` counts its changes."""

    model: str
    version: int


@dataclass(frozen=True, eq=False)
class Shelf:
    """Models by name@version, and aliases."""

    entries: Mapping[str, Entry]
    aliases: Mapping[str, Alias]

    def find(self, word: str) -> Entry:
        """The model of an alias, of a name@version, or the newest of a name."""
        alias = self.aliases.get(word)
        found = self.entries.get(word if alias is None else alias.model) or self._newest(word)
        if found is None:
            known = [*self.aliases, *self.entries]
            raise NotFoundError(str(UnknownNameError("model", word, known, see="GET /v1/models")))
        return found

    def _newest(self, name: str) -> Entry | None:
        return max(self.versions(name), key=lambda entry: entry.version, default=None)

    def versions(self, name: str) -> list[Entry]:
        """The models of one name."""
        return [entry for entry in self.entries.values() if entry.name == name]

    def aliases_of(self, entry: Entry) -> list[str]:
        return [name for name, alias in self.aliases.items() if alias.model == entry.key]


def is_name(name: str) -> bool:
    """Whether a model or an alias may be called so."""
    return bool(_NAME.fullmatch(name)) and ".." not in name


def check_name(name: str) -> str:
    """The name, or a clear error if a model cannot be called so."""
    if not is_name(name):
        raise RequestError(
            f"{name[:80]!r} is not a name. Up to 64 lower-case letters, digits, '.', '_' and '-' are, from a letter or "
            "digit on, without '..'.",
        )
    return name
