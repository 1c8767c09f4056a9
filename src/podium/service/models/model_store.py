"""Model store: models by name@version, and aliases for them. It is immutable; a swap creates a new one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from podium.base.errors import IncompatibleError, UnknownNameError
from podium.clicks.behaviour.base import BehaviourFeature
from podium.data.dataset import Dataset
from podium.model import Model
from podium.service.domain_errors import NotFoundError, RequestError

if TYPE_CHECKING:
    from podium.engine import Engine, TextRanker

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True, eq=False)
class Entry:
    """A model of the model store, with its name and version."""

    name: str
    version: int
    model: Model
    sha256: str
    size: int
    engine: Engine | None = None
    """Search engine of the service's index with this model; None if there is no index that fits."""

    @cached_property
    def key(self) -> str:
        return f"{self.name}@{self.version}"

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the model's features; numbers from 1 if they have none."""
        return self.model.feature_names or tuple(str(l + 1) for l in range(self.model.n_features))

    @cached_property
    def behaviour(self) -> dict[int, BehaviourFeature]:
        """Behaviour features by their columns."""
        about = self.model.info.get("features")
        listed = about.get("behaviour") if isinstance(about, dict) else None
        names = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
        return {self.columns[name]: BehaviourFeature.parse(name) for name in names if name in self.columns}

    @cached_property
    def text_ranker(self) -> TextRanker | None:
        """Ranker of texts with the statistics of the service's index; None if there is no index that fits."""
        if self.engine is None:
            return None
        from podium.engine import TextRanker

        return TextRanker(self.engine.index, self.model)

    @cached_property
    def has_odds(self) -> bool:
        """Whether the model's scores give probabilities of ranks."""
        nothing = Dataset.from_arrays(np.zeros((1, self.model.n_features), np.float32))
        try:
            self.model.distribution(nothing, scores=np.zeros(1))
        except IncompatibleError:
            return False
        return True

    @cached_property
    def commas(self) -> int:
        """Largest number of commas in a document's features as JSON, with those in names."""
        return self.model.n_features - 1 + sum(name.count(",") for name in self.feature_names)

    @cached_property
    def columns(self) -> dict[str, int]:
        """Column of each feature, by name."""
        return {name: l for l, name in enumerate(self.feature_names)}


@dataclass(frozen=True)
class Alias:
    """A name for a model; `version` counts its changes."""

    model: str
    version: int


@dataclass(frozen=True, eq=False)
class ModelStore:
    """Immutable model store: models by name@version, and aliases."""

    entries: Mapping[str, Entry]
    aliases: Mapping[str, Alias]

    def find(self, word: str) -> Entry:
        """Find a model by alias, by name@version, or the newest version of a name."""
        alias = self.aliases.get(word)
        entry = self.entries.get(word if alias is None else alias.model) or self._newest(word)
        if entry is None:
            names = [*self.aliases, *self.entries]
            raise NotFoundError(str(UnknownNameError("model", word, names, see="GET /v1/models")))
        return entry

    def _newest(self, name: str) -> Entry | None:
        return max(self.versions(name), key=lambda entry: entry.version, default=None)

    def versions(self, name: str) -> list[Entry]:
        """All versions of a name."""
        return [entry for entry in self.entries.values() if entry.name == name]

    def aliases_of(self, entry: Entry) -> list[str]:
        return [name for name, alias in self.aliases.items() if alias.model == entry.key]


def is_name(name: str) -> bool:
    """Whether a text can be the name of a model or an alias."""
    return bool(_NAME.fullmatch(name)) and ".." not in name


def check_name(name: str) -> str:
    """Return the name, or raise a clear error if a model cannot have it."""
    if not is_name(name):
        raise RequestError(
            f"{name[:80]!r} is not a name. Up to 64 lower-case letters, digits, '.', '_' and '-' are, from a letter or "
            "digit on, without '..'.",
        )
    return name
