"""Example collection for offline use: the docstrings of Python's standard library.

They are read from the source files; nothing is imported. Known-item search: the first line of a docstring is a query,
and its object the only relevant document. The document is the rest of the docstring.
"""

from __future__ import annotations

import ast
import inspect
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_SKIPPED = {"site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "turtledemo", "__pycache__"}
_WORDS_OF_QUERY, _WORDS_OF_REST = 4, 15
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def standard_library() -> tuple[list[dict[str, Any]], list[dict[str, str]], dict[str, dict[str, float]]]:
    """Documents, queries, and judgments: query → document → 1."""
    documents: dict[str, dict[str, Any]] = {}
    queries: list[dict[str, str]] = []
    qrels: dict[str, dict[str, float]] = {}
    seen: set[str] = set()
    for name, kind, text in _docstrings():
        summary, _, rest = text.partition("\n\n")
        first = " ".join(summary.split())
        body = text
        if len(first.split()) >= _WORDS_OF_QUERY and len(rest.split()) >= _WORDS_OF_REST and first not in seen:
            seen.add(first)
            body, id = rest, f"q{len(queries) + 1}"
            queries.append({"id": id, "text": first})
            qrels[id] = {name: 1.0}
        title = name.replace(".", " ").replace("_", " ").strip()
        documents[name] = {"id": name, "title": title, "text": body, "kind": kind, "module": name.split(".")[0]}
    return list(documents.values()), queries, qrels


def _docstrings() -> Iterator[tuple[str, str, str]]:
    """The name, kind and docstring of every documented object, each name once."""
    folder, seen = Path(sysconfig.get_paths()["stdlib"]), set[str]()
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        if _SKIPPED.intersection(parts):
            continue
        module = ".".join(parts).removesuffix(".__init__")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # invalid escape sequences in the library
                tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue
        for name, kind, text in _walk(tree, module):
            if name not in seen:
                seen.add(name)
                yield name, kind, text


def _walk(node: _Documented, name: str) -> Iterator[tuple[str, str, str]]:
    kinds = {ast.Module: "module", ast.ClassDef: "class"}
    text = ast.get_docstring(node, clean=False)
    if text and len(text.split()) >= _WORDS_OF_QUERY:
        yield name, kinds.get(type(node), "function"), inspect.cleandoc(text)
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _walk(child, f"{name}.{child.name}")
