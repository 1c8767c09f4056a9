"""The file of a store: opened with checks, and what can go wrong with it in words."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from podium.errors import IndexFileError

APPLICATION = 0x706F6469  # "podi": says to SQLite whose file this is
VERSION = 1
WAIT = 5.0
"""Seconds to wait while another process writes."""


def connect(path: Path) -> sqlite3.Connection:
    """Open a store, or raise a clear error if the file is not one that can be read here."""
    if not path.exists():
        raise IndexFileError(f"{path}: no such index. Make one: podium index DOCUMENTS -o {path}")
    if path.is_dir():
        raise IndexFileError(f"{path}: is a folder; an index is a file.")
    if os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK):
        base, found = _about(path, "mode=rw")
    else:
        log = path.with_name(f"{path.name}-wal")
        try:
            base, found = _about(path, "mode=ro")
        except IndexFileError:  # without a log beside the file, which cannot be made here
            if log.exists() and log.stat().st_size:
                raise
            base, found = _about(path, "mode=ro&immutable=1")
    if found[0] != APPLICATION:
        base.close()
        raise IndexFileError(f"{path}: not a podium index. Make one: podium index DOCUMENTS -o FILE")
    if found[1] > VERSION:
        base.close()
        raise IndexFileError(
            f"{path}: was written by a newer podium (format {found[1]}; this one reads {VERSION}). Upgrade podium."
        )
    return base


def _about(path: Path, mode: str) -> tuple[sqlite3.Connection, list[int]]:
    """A connection, with whose file it is and its version."""
    try:
        base = sqlite3.connect(
            f"{path.absolute().as_uri()}?{mode}",
            uri=True, isolation_level=None, timeout=WAIT, check_same_thread=False,
        )  # fmt: skip
    except sqlite3.Error as error:
        raise in_words(path, error) from error
    try:
        return base, [base.execute(f"PRAGMA {word}").fetchone()[0] for word in ("application_id", "user_version")]
    except sqlite3.Error as error:
        base.close()
        raise in_words(path, error) from error


def in_words(path: Path, error: sqlite3.Error) -> IndexFileError:
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
