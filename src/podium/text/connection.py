"""The file of a store: opened with checks, and what can go wrong with it in words."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from podium.errors import IndexFileError
from podium.text import schema

APPLICATION = 0x706F6469  # "podi": says to SQLite whose file this is
VERSION = 2
WAIT = 5.0
"""Seconds to wait while another process writes."""
FAULTS = (sqlite3.Error, UnicodeError)
"""What reading a damaged file raises: its words may be damaged too."""


def connect(path: Path) -> sqlite3.Connection:
    """Open a store, or raise a clear error if the file is not one that can be read here."""
    if not path.exists():
        raise IndexFileError(f"{path}: no such index. Make one: podium index DOCUMENTS -o {path}")
    if path.is_dir():
        raise IndexFileError(f"{path}: is a folder; an index is a file.")
    if changeable(path):
        base, found = _about(path, "mode=rw")
    else:
        log = path.with_name(f"{path.name}-wal")
        try:
            base, found = _about(path, "mode=ro")
        except IndexFileError:  # without a log beside the file, which cannot be made here
            if log.exists() and log.stat().st_size:
                raise
            base, found = _about(path, "mode=ro&immutable=1")
    try:
        _check(path, base, *found)
    except BaseException:
        base.close()
        raise
    return base


def changeable(path: Path) -> bool:
    """Whether this process may change the store."""
    return os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)


def _check(path: Path, base: sqlite3.Connection, application: int, version: int) -> None:
    if application != APPLICATION:
        raise IndexFileError(f"{path}: not a podium index. Make one: podium index DOCUMENTS -o FILE")
    if version > VERSION:
        raise IndexFileError(
            f"{path}: was written by a newer podium (format {version}; this one reads {VERSION}). Upgrade podium."
        )
    if version == VERSION:
        return
    if not changeable(path):
        raise IndexFileError(f"{path}: was written by an older podium. Open it once where it can be written.")
    try:
        base.execute("BEGIN IMMEDIATE")
        if base.execute("PRAGMA user_version").fetchone()[0] == version:  # no other process did
            schema.upgrade(base)
            base.execute(f"PRAGMA user_version={VERSION}")
        base.execute("COMMIT")
    except FAULTS as error:
        raise in_words(path, error) from error


def _about(path: Path, mode: str) -> tuple[sqlite3.Connection, list[int]]:
    """A connection, with whose file it is and its version."""
    try:
        base = sqlite3.connect(
            f"{path.absolute().as_uri()}?{mode}",
            uri=True, isolation_level=None, timeout=WAIT, check_same_thread=False,
        )  # fmt: skip
    except FAULTS as error:
        raise in_words(path, error) from error
    try:
        return base, [base.execute(f"PRAGMA {word}").fetchone()[0] for word in ("application_id", "user_version")]
    except FAULTS as error:
        base.close()
        raise in_words(path, error) from error


def in_words(path: Path, error: Exception) -> IndexFileError:
    """The error of SQLite, said plainly."""
    text = str(error)
    if "locked" in text or "busy" in text:
        return IndexFileError(
            f"{path}: another process has been writing to it for {WAIT:g} s. Try again when it is done."
        )
    if "readonly" in text:
        return IndexFileError(f"{path}: cannot be changed here: file or folder is read-only.")
    if "full" in text:
        return IndexFileError(f"{path}: the disk is full; nothing was changed. Free some space.")
    if "not a database" in text:
        return IndexFileError(f"{path}: not a podium index. Make one: podium index DOCUMENTS -o FILE")
    return IndexFileError(f"{path}: damaged, or cannot be read ({text}). Make it again, or restore a copy.")
