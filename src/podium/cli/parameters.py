"""Meaning and range of the parameters of a method or part, as its source says them."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import sys
from typing import Any

_BOUNDS = {"above": "> {:g}", "least": "≥ {:g}", "below": "< {:g}", "most": "≤ {:g}"}


def meanings(cls: type) -> dict[str, str]:
    """Meaning of each field: the text below it in the class or in a base class, or the comment behind it."""
    explained: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("podium"):
            explained |= _explained(base.__module__, base.__name__)
    return explained


def bounds(field: dataclasses.Field[Any]) -> str:
    """Range of a field: > 0, ≤ 1; empty if every number will do."""
    return ", ".join(_BOUNDS[key].format(field.metadata[key]) for key in _BOUNDS if key in field.metadata)


def _explained(module: str, name: str) -> dict[str, str]:
    classes, lines = _source(module)
    body, explained = classes[name].body if name in classes else [], {}
    for statement, after in zip(body, [*body[1:], None], strict=True):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
            explained[statement.target.id] = inspect.cleandoc(after.value.value)
            continue
        rest = lines[(statement.end_lineno or 1) - 1].encode()[statement.end_col_offset or 0 :].decode().strip()
        comment = rest.lstrip("# ").strip()
        if rest.startswith("#") and not comment.startswith(("type:", "noqa", "fmt:")):
            explained[statement.target.id] = comment
    return explained


@functools.cache
def _source(module: str) -> tuple[dict[str, ast.ClassDef], list[str]]:
    """Classes of a module by name, and its lines; nothing if it has no source, such as code in a notebook."""
    try:
        source = inspect.getsource(sys.modules[module])
    except (KeyError, OSError, TypeError):
        return {}, []
    return {node.name: node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}, source.splitlines()
