"""Stop words of languages, one list a file."""

from __future__ import annotations

import functools
from importlib.resources import files


@functools.cache
def stop_words(language: str) -> frozenset[str]:
    """The stop words of a language; none if there is no list."""
    lists = files("podium.text.stop_words")
    name = f"{language}.txt"
    if not any(entry.name == name for entry in lists.iterdir()):
        return frozenset()
    lines = (lists / name).read_text("utf-8").splitlines()
    return frozenset(line.strip() for line in lines if line.strip() and not line.startswith("#"))
