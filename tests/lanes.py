"""The fast lane tests a few members of a long registry; the others are marked slow."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def few(members: Iterable[Any], quick: Collection[str]) -> list[Any]:
    """Members as parameters of a test, by name or as values with a name; all but those in `quick` are slow."""
    return [
        pytest.param(member, marks=() if getattr(member, "name", member) in quick else pytest.mark.slow)
        for member in members
    ]
