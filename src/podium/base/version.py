"""The version of podium."""

from __future__ import annotations

import functools


@functools.cache
def version() -> str:
    """The installed version, or 0+source if run from the source tree."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("podium")
    except PackageNotFoundError:
        return "0+source"


__version__ = version()
