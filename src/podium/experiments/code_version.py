"""Code version: a hash of the code that a result depends on, so that a kept result is not reused after an edit.

It covers podium's own source, the versions of the packages that compute, and the source of plug-in modules that define
a part of the method. Modules that only print or draw are left out: editing them changes no result.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import secrets
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

import podium
from podium.registry import Named

PACKAGES = ("numpy", "scipy", "numba", "lightgbm", "clarabel", "optuna")
PRESENTATION = (
    "__init__.py",
    "__main__.py",
    "cli",
    "service",
    "sklearn.py",
    "testing.py",
    "evaluation/report.py",
    "evaluation/report_page.py",
    "evaluation/published.py",
    "experiments/overview.py",
)
"""Parts of podium that change no result of an experiment."""


def code_version(*parts: Named) -> str:
    """A hash of podium's code, of the packages it computes with, and of the plug-ins that define these parts."""
    modules = sorted({type(part).__module__ for whole in parts for part in _parts(whole)})
    plugins = [_source_hash(module) for module in modules if module.partition(".")[0] != "podium"]
    return hashlib.sha256("\n".join([_own_hash(), *_versions(), *plugins]).encode()).hexdigest()


def _parts(value: Any) -> Iterator[Named]:
    """A named value, and the named values among its parameters."""
    if isinstance(value, Named):
        yield value
        for field in dataclasses.fields(value):  # type: ignore[arg-type]
            yield from _parts(getattr(value, field.name))
    elif isinstance(value, tuple):
        for one in value:
            yield from _parts(one)


@functools.cache
def _own_hash() -> str:
    root = Path(podium.__file__).parent
    left_out = tuple(root / part for part in PRESENTATION)
    return _hash_files(file for file in _sources(root) if not any(file.is_relative_to(part) for part in left_out))


@functools.cache
def _versions() -> tuple[str, ...]:
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {installed(name)}")
        except PackageNotFoundError:
            found.append(f"{name} none")
    return tuple(found)


def _source_hash(module: str) -> str:
    """A hash of the package that a module belongs to; a random one if there is no source file, as in a notebook."""
    for name in (module.partition(".")[0], module):  # a namespace package has no file
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is not None and Path(file).is_file():
            return _hash_files(_sources(Path(file).parent) if Path(file).name == "__init__.py" else [Path(file)])
    return secrets.token_hex()


def _sources(root: Path) -> list[Path]:
    return sorted(file for file in root.rglob("*") if file.suffix in (".py", ".toml"))


def _hash_files(files: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for file in files:
        content = file.read_bytes()
        found.update(f"{file.name} {len(content)}\n".encode("utf-8", "surrogateescape") + content)
    return found.hexdigest()
