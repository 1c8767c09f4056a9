"""SQLite files: checked when opened, upgraded to the newest format, and with clear error messages."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from podium.base.errors import PodiumError

WAIT = 5.0
"""Seconds to wait while another process writes."""
FAULTS = (sqlite3.Error, UnicodeError)
"""Errors of reading a damaged file, whose text may be damaged too."""


@dataclass(frozen=True)
class FileFormat:
    """A kind of file that podium keeps in SQLite."""

    noun: str
    name: str
    application: int
    """SQLite's application_id of these files."""
    upgrades: Sequence[Callable[[sqlite3.Connection], None]]
    """Functions that upgrade a file from format 1 to 2, from 2 to 3…; each is called within a transaction."""
    make: str
    repair: str
    error: Callable[[str, str], PodiumError]
    """Makes the error from a message and a path."""

    @property
    def version(self) -> int:
        """The newest format."""
        return 1 + len(self.upgrades)

    def open(self, path: Path) -> sqlite3.Connection:
        """Open a file, or raise a clear error if it does not have this format or cannot be read."""
        if not path.exists():
            raise self.error(f"no such {self.noun}. {self.make}", str(path))
        if path.is_dir():
            raise self.error(f"is a folder; this {self.noun} is a file.", str(path))
        if changeable(path):
            base = self.connect(path)
        else:
            log = path.with_name(f"{path.name}-wal")
            try:
                base = self.connect(path, "mode=ro")
            except PodiumError:  # the log next to the file is missing and cannot be created here
                if log.exists() and log.stat().st_size:
                    raise
                base = self.connect(path, "mode=ro&immutable=1")
        self.check(path, base)
        return base

    def connect(self, path: Path, mode: str = "mode=rw") -> sqlite3.Connection:
        """Connect to any SQLite file, for use by any thread."""
        try:
            base = sqlite3.connect(
                f"{path.absolute().as_uri()}?{mode}",
                uri=True, isolation_level=None, timeout=WAIT, check_same_thread=False,
            )  # fmt: skip
        except FAULTS as error:
            raise self.in_words(path, error) from error
        try:
            _number(base, "application_id")  # the first statement that reads the file
        except FAULTS as error:
            base.close()
            raise self.in_words(path, error) from error
        return base

    def check(self, path: Path, base: sqlite3.Connection) -> None:
        """Upgrade a file to the newest format; if that fails or it is foreign, close it and raise a clear error."""
        try:
            self._check(path, base)
        except FAULTS as error:
            base.close()
            raise self.in_words(path, error) from error
        except BaseException:
            base.close()
            raise

    def _check(self, path: Path, base: sqlite3.Connection) -> None:
        if _number(base, "application_id") != self.application:
            raise self.error(f"not a {self.name}. {self.make}", str(path))
        version = _number(base, "user_version")
        if version > self.version:
            raise self.error(
                f"was written by a newer podium (format {version}; this one reads {self.version}). Upgrade podium.",
                str(path),
            )
        if version == self.version:
            return
        if not changeable(path):
            raise self.error("was written by an older podium. Open it once where it can be written.", str(path))
        base.execute("BEGIN IMMEDIATE")
        for upgrade in self.upgrades[max(0, _number(base, "user_version") - 1) :]:  # or another process did it
            upgrade(base)
        base.execute(f"PRAGMA user_version={self.version}")
        base.execute("COMMIT")

    def in_words(self, path: Path, error: Exception) -> PodiumError:
        """An error of SQLite as a clear message."""
        return self.error(self._words(str(error)), str(path))

    def _words(self, text: str) -> str:
        if "locked" in text or "busy" in text:
            return f"another process has been writing to it for {WAIT:g} s. Try again when it is done."
        if "readonly" in text:
            return "cannot be changed here: file or folder is read-only."
        if "full" in text:
            return "the disk is full; nothing was changed. Free some space."
        if "not a database" in text:
            return f"not a {self.name}. {self.make}"
        return f"damaged, or cannot be read ({text}). {self.repair}"


@contextmanager
def part(base: sqlite3.Connection) -> Iterator[None]:
    """A part of a transaction: all of it takes effect, or nothing if it raises an error."""
    base.execute("SAVEPOINT part")
    try:
        yield
    except BaseException:
        base.execute("ROLLBACK TO part")
        raise
    finally:
        base.execute("RELEASE part")


def changeable(path: Path) -> bool:
    """Whether this process may change a SQLite file and write its log next to it."""
    return os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)


def _number(base: sqlite3.Connection, pragma: str) -> int:
    return int(base.execute(f"PRAGMA {pragma}").fetchone()[0])
