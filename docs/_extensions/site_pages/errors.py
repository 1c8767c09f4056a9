"""Errors and warnings: the tree, and what each means."""

from __future__ import annotations

from podium.base import errors

from .api import described, module_names
from .docstrings import as_markdown
from .markdown import page


def pages() -> dict[str, str]:
    """The page of errors."""
    classes = module_names("podium.base.errors")
    parts = [
        described(f"podium.base.errors.{name}", cls) for name, cls in classes.items() if issubclass(cls, BaseException)
    ]
    return {
        "errors.md": page(
            "# Errors and warnings",
            as_markdown(errors.__doc__),
            "On the command line an error is one line on standard error; the exit code is 1 if something failed, 2 "
            "if the command was misused, and 130 if it was interrupted.",
            *parts,
        )
    }
