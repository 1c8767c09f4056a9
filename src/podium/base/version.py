"""Which podium this is."""

from __future__ import annotations


def version() -> str:
    """The version that is installed."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("podium")
    except PackageNotFoundError:  # run from its source tree
        return "0+source"


__version__ = version()
