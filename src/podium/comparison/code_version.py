"""Code version: a hash of the code that a result depends on, so that a saved result is not reused after an edit.

It covers every source file that `run_task` and the parts of the method import, also of plug-ins, and the versions of
the packages that compute. Code that only prints, draws, serves, exports or tests is not imported: editing it changes no
result.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import secrets
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path

from podium.base.registry import Named
from podium.jit.sources import files_digest, sources_digest

PACKAGES = ("numpy", "scipy", "numba", "lightgbm", "clarabel", "optuna")


def code_version(*parts: Named) -> str:
    """Hash of the code of a task, of the packages that compute, and of the modules that define these parts.

    It is random if a source file cannot be trusted, as in a notebook or after an edit while the process runs.
    """
    modules = sorted({type(part).__module__ for whole in parts for part in _parts(whole)})
    task = files_digest(f"{__package__}.run_task", Path(__file__).with_name("run_task.py"))
    digests = [digest or secrets.token_hex() for digest in (task, *map(sources_digest, modules))]
    return hashlib.sha256("\n".join([*digests, *_versions()]).encode()).hexdigest()


def _parts(value: object) -> Iterator[Named]:
    """Named values: the value itself, and those among its parameters."""
    if isinstance(value, Named):
        yield value
        for field in dataclasses.fields(value):  # type: ignore[arg-type]
            yield from _parts(getattr(value, field.name))
    elif isinstance(value, tuple):
        for member in value:
            yield from _parts(member)


@functools.cache
def _versions() -> tuple[str, ...]:
    versions = []
    for name in PACKAGES:
        try:
            versions.append(f"{name} {installed(name)}")
        except PackageNotFoundError:
            versions.append(f"{name} none")
    return tuple(versions)
