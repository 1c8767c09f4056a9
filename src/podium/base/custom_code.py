"""Custom code: errors of functions that a user wrote, with their file and line and in one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from podium.base.errors import PluginError, PodiumError


def place_of(function: Any) -> str:
    """File and line of the definition of a function."""
    plain = plain_function(function)
    return f"{shown(plain.__code__.co_filename)}:{plain.__code__.co_firstlineno + _decorators(plain)}"


def shown(file: str | Path) -> str:
    """A file's path as a user would write it: relative if it is in the current folder."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def plain_function(function: Any) -> Any:
    """The Python function of a compiled function or a method."""
    function = getattr(function, "py_func", function)
    return getattr(function, "__func__", function)


def is_custom(function: Any) -> bool:
    """Whether a function is not podium's own."""
    return not str(getattr(plain_function(function), "__module__", "podium")).startswith("podium.")


def require_compiled(function: Any, what: str) -> None:
    """Raise a clear error with the line of a function that is not under `@compiled`."""
    if not hasattr(function, "py_func"):
        plain = plain_function(function)
        place = f"{place_of(plain)}: " if hasattr(plain, "__code__") else ""
        raise PluginError(
            f"{place}{what} is not compiled. Put @compiled above its def (from podium.jit.compiled import compiled)."
        )


@contextmanager
def readable_errors(function: Any, what: str, *, called_with: str = "") -> Iterator[None]:
    """Raise errors of a custom function as one line: its place, and what went wrong when it was compiled or called."""
    try:
        yield
    except PodiumError:
        raise
    except Exception as error:
        if not is_custom(function) or not hasattr(plain_function(function), "__code__"):
            raise
        name = plain_function(function).__name__
        if type(error).__module__.startswith("numba"):
            line, reason = _of_compiler(error)
            place = place_of(function) if line is None else f"{shown(_file(function))}:{line}"
            raise PluginError(f"{place}: {what} {name!r} cannot be compiled: {reason}") from error
        failure = f"{what} {name!r} raised {type(error).__name__}{called_with}: {error}"
        raise PluginError(f"{place_of(function)}: {failure}") from error


def _file(function: Any) -> str:
    return str(plain_function(function).__code__.co_filename)


def _of_compiler(error: Exception) -> tuple[int | None, str]:
    """The line that the compiler names last, and its reason in one line."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [int(line) for line in re.findall(r'^File ".*?", line (\d+):', text, re.MULTILINE)]
    reasons = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in reasons if not line.startswith(_NOISE)]
    return (lines[-1] if lines else None), (telling or reasons or ["?"])[0]


_NOISE = ("Failed in", "File ", "def ", "<source", "During:", "- ", "@", "^")
"""Beginnings of lines in a message of the compiler that say where, not why."""


def _decorators(function: Any) -> int:
    """Lines between the first decorator of a function and its `def`."""
    import inspect

    try:
        lines, _ = inspect.getsourcelines(function)
    except (OSError, TypeError):
        return 0
    return next((n for n, line in enumerate(lines) if line.lstrip().startswith("def ")), 0)
