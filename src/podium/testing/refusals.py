"""Checks of error messages: one line that says what is wrong and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from podium.base.errors import PodiumError


def refused(action: Callable[[], Any], *, says: str, when: str) -> None:
    """Assert that the action raises a PodiumError that matches the pattern `says`."""
    try:
        action()
    except PodiumError as error:
        is_clear(error)
        assert re.search(says, str(error)), f"{when}: the error should say {says!r}, but is: {error}"
        return
    raise AssertionError(f"{when}: nothing was refused")


def is_clear(error: PodiumError) -> None:
    """Assert one line of 30 to 400 characters that ends with a full stop."""
    words = str(error)
    assert "\n" not in words, f"an error of several lines: {words}"
    assert 30 <= len(words) <= 400, f"an error of {len(words)} characters: {words}"
    assert words.endswith("."), f"an error without a full stop: {words}"
