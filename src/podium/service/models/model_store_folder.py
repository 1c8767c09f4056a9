"""Folder of the model store: files NAME/VERSION.podium, each written aside, then hard-linked, so none is replaced."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from podium.base.errors import DataError
from podium.base.files import lock

_PUT = ".put-"
"""Prefix of files that are being received."""


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot be made: {error.strerror}.", where=str(folder)) from error


@contextmanager
def receiving(folder: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """Temporary file for a model that is being received; it is deleted when the block ends.

    It is locked, so that other processes can distinguish it from a leftover of a killed one.
    """
    while True:
        handle, path = tempfile.mkstemp(prefix=_PUT, dir=folder)
        lock(handle, wait=True)
        if os.fstat(handle).st_nlink:
            break
        os.close(handle)  # another process removed it as a leftover before it was locked
    try:
        with os.fdopen(handle, "wb") as file:
            yield Path(path), file
    finally:  # after it is closed: Windows removes no open file
        Path(path).unlink(missing_ok=True)


def keep(source: str | os.PathLike[str], target: Path) -> None:
    """Copy a file to its place: to a temporary file, then by a hard link, which never replaces another version."""
    make_folder(target.parent)
    with receiving(target.parent) as (aside, file):
        with open(source, "rb") as content:
            shutil.copyfileobj(content, file, 1 << 20)
        file.flush()
        os.fsync(file.fileno())
        os.link(aside, target)


def remove_left_over(folder: Path) -> None:
    """Remove temporary files of killed processes, which no process has locked, from a folder that is locked."""
    for path in [*folder.glob(f"{_PUT}*"), *folder.glob(f"*/{_PUT}*")]:
        with contextlib.suppress(OSError), open(path, "rb") as file:
            lock(file, wait=False)
            path.unlink(missing_ok=True)
    for path in folder.glob(".aliases.json.*.part"):  # written only while the folder is locked, as it is now
        path.unlink(missing_ok=True)


def is_version(text: str) -> bool:
    """Whether the name of a file is a version: a whole number."""
    return text.isascii() and text.isdecimal() and len(text) <= 10


def digest(path: str | os.PathLike[str]) -> tuple[str, int]:
    """SHA-256 and size of a file."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest(), os.fstat(file.fileno()).st_size
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}.", where=os.fspath(path)) from None
