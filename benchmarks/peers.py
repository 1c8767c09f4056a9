"""Other tools, where they are installed."""

from __future__ import annotations

import importlib
from types import ModuleType


def peer(module: str) -> ModuleType | str:
    """The module, or why there is none."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return "not installed"
    except Exception as error:  # a tool that does not work here is a row that says so
        return f"does not import here: {type(error).__name__}"
