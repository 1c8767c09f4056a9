"""Plug-in files: custom losses, metrics, features and other things with a name in plain Python files.

`podium --plugin my.py` and the environment variable PODIUM_PLUGINS, a list of paths as in PATH, name them. Processes
that podium starts inherit the variable, so that they know the same names.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from pathlib import Path

from podium.base.custom_code import shown
from podium.base.errors import ParameterError, PluginError, PodiumError

VARIABLE = "PODIUM_PLUGINS"


def add_plugin(path: str) -> None:
    """Name a plug-in file for this process and those that it starts; raises a clear error if it is none."""
    file = Path(path).absolute()
    if not file.is_file() or file.suffix != ".py":
        what = "is not a Python file" if file.exists() else "no such file"
        raise ParameterError(f"--plugin {path}: {what}. Give a file such as my.py.")
    if str(file) not in map(str, plugin_files()):
        os.environ[VARIABLE] = os.pathsep.join(filter(None, [os.environ.get(VARIABLE), str(file)]))


def plugin_files() -> list[Path]:
    """The files that the environment names."""
    return [Path(path).absolute() for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path]


def is_plugin_module(module: str) -> bool:
    """Whether a module of this name is a plug-in file."""
    return any(file.stem == module for file in plugin_files())


def load_plugin_files() -> None:
    """Import every plug-in file, which registers what it defines; modules next to it can be imported too."""
    for file in plugin_files():
        _load(file)


def place_in_plugin(error: BaseException) -> str | None:
    """File and line of a plug-in file in which an error came up; None if it did not come up in one."""
    files = set(map(str, plugin_files()))
    if isinstance(error, SyntaxError) and error.filename in files:
        return f"{shown(error.filename)}:{error.lineno}"
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    return f"{shown(own[-1].filename)}:{own[-1].lineno}" if own else None


def _load(file: Path) -> None:
    loaded = sys.modules.get(file.stem)
    if loaded is not None and getattr(loaded, "__file__", None) == str(file):
        return
    if not file.is_file():
        raise PluginError(f"{file}: no such file, though {VARIABLE} names it.")
    if not file.stem.isidentifier() or _other_module(file):
        raise PluginError(f"{file}: {file.stem!r} cannot be its name as a module, or is another module's. Rename it.")
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))
        importlib.invalidate_caches()
    try:
        importlib.import_module(file.stem)
    except Exception as error:
        what = str(error) if isinstance(error, PodiumError) else f"{type(error).__name__}: {error}"
        raise PluginError(f"{place_in_plugin(error) or shown(file)}: {what}") from error


def _other_module(file: Path) -> bool:
    """Whether there is a module of the file's name elsewhere."""
    spec = importlib.util.find_spec(file.stem)
    return spec is not None and spec.origin != str(file)
