"""Checks of everything with a name: its text gives it back, and its docstring has the headings."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

from podium.base.registry import Named


def text_gives_it_back(value: Named) -> None:
    """Its repr parses to an equal value."""
    parsed = type(value).parse(repr(value))
    assert parsed == value, f"{value!r} parses as {parsed!r}"
    assert repr(parsed) == repr(value), f"{value!r} is written {parsed!r} after parsing"


def page_has_headings(value: Named, headings: Sequence[str]) -> None:
    """Its docstring has the fixed headings, in their order, each followed by text."""
    page = inspect.getdoc(type(value)) or ""
    places = [page.find(f"\n{heading}: ") for heading in headings]
    missing = [heading for heading, place in zip(headings, places, strict=True) if place < 0]
    assert not missing, f"the docstring of {value.name} lacks {', '.join(missing)}"
    assert places == sorted(places), f"the headings of {value.name} are not in the order {', '.join(headings)}"
