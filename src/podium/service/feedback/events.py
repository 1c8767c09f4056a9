"""Feedback: impressions (documents shown), clicks and judgments, in one SQLite file that survives a crash.

One thread writes to the tables of `podium.service.feedback.database`: all queued rows, up to 1,000, in one transaction
(WAL, synchronous=FULL). Events are acknowledged after it, so that an acknowledged event is on disk. Nobody waits for
impressions; those of 50 ms are written together. A repeated event is ignored; a judge's new grade replaces the old one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import secrets
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from podium.base.arrays import Singles
from podium.base.errors import DataError
from podium.service.domain_errors import BusyError
from podium.service.feedback import behaviour_tables as behaviour
from podium.service.feedback.behaviour_fields import Keys
from podium.service.feedback.database import delete_oldest, open_store, used_bytes
from podium.service.feedback.request_ids import Claims

T = TypeVar("T")
HIGHEST_GRADE = 1000.0
"""Highest grade of a judgment; the lowest is 0."""
_BATCH = 1000
"""Largest number of rows of a transaction."""
_HELD = 32_000_000
"""Largest size in bytes of queued features: a slow disk must not fill the memory."""
_LINGER = 0.05
"""Seconds that impressions wait, to be written together."""
_TIDY = 10.0
"""Seconds between two deletions of old feedback."""


class FeedbackError(BusyError):
    """Feedback cannot be stored now; ranking goes on."""

    seconds = 5


@dataclass(frozen=True, slots=True)
class Impression:
    """Documents shown to a user, best first, with the features that they were ranked by."""

    request: str
    model: str
    feature_names: Sequence[str]
    query: str
    user: str | None
    documents: Sequence[str]
    features: Singles  # (shown, d)
    experiment: str | None = None
    arms: Sequence[float] | None = None  # (shown,) credit of a click; above 0 for the candidate of the experiment
    at: int | None = None  # ms since 1970; None: when it is written


@dataclass(frozen=True, slots=True)
class Action:
    """Action of a user on a document, or the grade of a judge."""

    kind: str
    document: str
    request: str = ""
    query: str = ""
    value: float | None = None  # of a judgment: None takes the judge's grade back
    who: str = ""
    event: str = ""
    at: int | None = None  # ms since 1970; None: now


@dataclass(frozen=True, slots=True)
class Written:
    """Counts of written events."""

    accepted: int
    repeated: int  # were there already
    unknown: int  # name a request that was not logged


@dataclass(slots=True)
class _Job:
    rows: int
    work: Callable[[sqlite3.Connection], Any]
    done: Future[Any] | None
    size: int = 0  # bytes of features


class Feedback:
    """Feedback store. Any thread may add to it; one background thread writes."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        queue: int = 10_000,
        keep_days: float = 0.0,
        keep_bytes: int = 0,
        count: Callable[[str, int], None] = lambda what, by: None,
        keys: Keys | None = None,
    ) -> None:
        """`count(what, rows)` is called after writing: accepted, repeated, unknown, logged, lost, doubled (same id).

        `keys` reads the keys of a stored field of documents, for counts by field.
        """
        self.path = Path(path)
        self._most, self._keep_days, self._keep_bytes, self._count = queue, keep_days, keep_bytes, count
        self._keys = keys
        self._base = open_store(self.path, keep_bytes)
        self._key = _user_key(self.path)
        self._claims = Claims(self.path)
        self._models: dict[tuple[str, tuple[str, ...]], int] = {}
        self._jobs: deque[_Job] = deque()
        self._waiting, self._held, self._closed = 0, 0, False
        self._behind = behaviour.is_behind(self._base, keys)
        self._changed = threading.Condition()
        self._tidied = time.monotonic()
        self._thread = threading.Thread(target=self._write, name="podium-feedback", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Number of queued rows."""
        return self._waiting

    def add(self, actions: Sequence[Action]) -> Future[Written]:
        """Write events, all or none. The future is done once they are on disk."""
        return self._put(_Job(len(actions), lambda base: self._insert_actions(base, actions), Future()))

    def log(self, impression: Impression) -> bool:
        """Queue an impression; False if the queue is full."""
        try:
            size = impression.features.nbytes + len(impression.query) + sum(map(len, impression.documents))
            self._put(_Job(1, lambda base: self._insert_impression(base, impression), None, size))
        except FeedbackError:
            self._count("lost", 1)
            return False
        return True

    def count_behaviour(self, cells: Iterable[str], names: Iterable[str]) -> Future[None]:
        """Keep counts for behaviour features, also of the impressions that are there."""
        return self.change(lambda base: behaviour.require(base, cells, names))

    def own_id(self, id: str, queries: int | None = None) -> str:
        """Id of a client, or a new one if an impression has it; each of the `queries` of a batch appends its number."""
        names = [id] if queries is None else [f"{id}.{number}" for number in range(queries)]
        return id if self._claims.take(names) else f"{id[:47]}-{secrets.token_hex(8)}"

    def change(self, work: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """Run other work in the writer thread. The future is done once its changes are on disk."""
        return self._put(_Job(1, work, Future()))

    def forget(self, user: str) -> Future[tuple[int, int]]:
        """Delete the impressions and events of a user; returns their numbers."""
        return self._put(_Job(1, lambda base: _delete_user(base, self.user_hash(user)), Future()))

    def user_hash(self, user: str) -> bytes:
        """Keyed hash of a user, which is stored instead of the name; the key is in a separate file."""
        return hashlib.blake2b(user.encode("utf-8", "surrogatepass"), key=self._key, digest_size=16).digest()

    def close(self) -> None:
        """Write all queued rows, and close the file."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()
        self._claims.close()
        self._base.close()

    def _put(self, job: _Job) -> Future[Any]:
        with self._changed:
            if self._closed:
                raise FeedbackError("the feedback store is closed.")
            most = self._most if job.done is not None else self._most // 2  # impressions leave room for events
            if self._waiting + job.rows > most or (job.size and self._held + job.size > _HELD):
                raise FeedbackError(f"{self._waiting} events wait to be written, and no more are taken. Try again.")
            self._jobs.append(job)
            self._waiting += job.rows
            self._held += job.size
            self._changed.notify()
        return job.done or Future()

    def _write(self) -> None:
        """Loop of the writer thread, until the store is closed and the queue is empty."""
        while True:
            jobs = self._take()
            if jobs:
                self._commit(jobs)
            elif self._closed:
                return
            elif self._behind:
                self._commit([])
            if time.monotonic() - self._tidied > _TIDY:
                self._tidy()

    def _take(self) -> list[_Job]:
        """Take jobs from the queue: at once if a caller waits for one, else after a moment."""
        with self._changed:
            if not self._jobs and not self._closed and not self._behind:
                self._changed.wait(_TIDY)
            until = time.monotonic() + _LINGER
            while not self._closed and self._waiting < _BATCH and all(job.done is None for job in self._jobs):
                left = until - time.monotonic()
                if left <= 0 or not self._jobs:
                    break
                self._changed.wait(left)
            jobs: list[_Job] = []
            rows = 0
            while self._jobs and (not jobs or rows + self._jobs[0].rows <= _BATCH):
                jobs.append(self._jobs.popleft())
                rows += jobs[-1].rows
                self._held -= jobs[-1].size
            self._waiting -= rows
        for job in jobs:  # a cancelled future gets no result
            if job.done is not None and not job.done.set_running_or_notify_cancel():
                job.done = Future()
        return jobs

    def _commit(self, jobs: list[_Job]) -> None:
        try:
            self._base.execute("BEGIN IMMEDIATE")
            results = [job.work(self._base) for job in jobs]
            behind = behaviour.advance(self._base, more=len(jobs), keys=self._keys)
            self._base.execute("COMMIT")
            self._behind = behind
        except Exception as error:  # the thread must survive
            with contextlib.suppress(sqlite3.Error):
                self._base.execute("ROLLBACK")
            self._models.clear()
            self._behind = False  # until the next transaction that succeeds
            if isinstance(error, sqlite3.OperationalError) or len(jobs) == 1:
                self._fail(jobs, error)
            else:  # one of them cannot be written: that one alone fails
                for job in jobs:
                    self._commit([job])
            return
        shown = [result for job, result in zip(jobs, results, strict=True) if job.done is None]
        self._count("logged", sum(shown))
        self._count("doubled", len(shown) - sum(shown))
        for job, result in zip(jobs, results, strict=True):
            if isinstance(result, Written):
                for what in ("accepted", "repeated", "unknown"):
                    self._count(what, getattr(result, what))
            if job.done is not None:
                job.done.set_result(result)

    def _fail(self, jobs: list[_Job], error: Exception) -> None:
        self._count("lost", sum(job.rows for job in jobs if job.done is None))
        for job in jobs:
            if job.done is not None:
                job.done.set_exception(_in_words(self.path, error))
        if _is_full(error):
            self._tidy()

    def _insert_actions(self, base: sqlite3.Connection, actions: Sequence[Action]) -> Written:
        now, repeated, unknown = time.time_ns() // 1_000_000, 0, 0
        for action in actions:
            judged, request = action.kind == "judgment", action.request
            if judged and action.value is None:
                _take_back(base, action)
                continue
            again = "DO UPDATE SET value=excluded.value, at=excluded.at" if judged else "DO NOTHING"
            row = (
                action.kind, request, action.query, action.document, action.value, action.who, action.event,
                now if action.at is None else min(now, action.at),  # an event of the future would never be deleted
            )  # fmt: skip
            changed = behaviour.Changed(base, request, action.document) if not judged else None
            done = base.execute(
                "INSERT INTO event(kind, request, query, document, value, who, event, at) VALUES(?,?,?,?,?,?,?,?) "
                f"ON CONFLICT(request, document, kind, query, who, event) {again}", row,
            )  # fmt: skip
            repeated += 1 - done.rowcount
            if changed is not None and done.rowcount:
                changed.apply()
            if request and not base.execute("SELECT 1 FROM impression WHERE request=?", (request,)).fetchone():
                unknown += 1
        return Written(len(actions), repeated, unknown)

    def _insert_impression(self, base: sqlite3.Connection, shown: Impression) -> int:
        """Write an impression. Returns 1, or 0 if another impression has its id."""
        names = tuple(shown.feature_names)
        model = self._models.get((shown.model, names))
        if model is None:
            row = shown.model, json.dumps(names)
            base.execute("INSERT OR IGNORE INTO model(name, features) VALUES(?,?)", row)
            model = int(base.execute("SELECT m FROM model WHERE name=? AND features=?", row).fetchone()[0])
            self._models[shown.model, names] = model
        done = base.execute(
            "INSERT OR IGNORE INTO impression(request, at, model, query, user, documents, features, experiment, arms) "
            "VALUES(?,?,?,?,?,?,?,?,?)",
            (
                shown.request, time.time_ns() // 1_000_000 if shown.at is None else shown.at, model, shown.query,
                None if shown.user is None else self.user_hash(shown.user),
                json.dumps(list(shown.documents), ensure_ascii=False), shown.features.tobytes(),
                shown.experiment, None if shown.arms is None else json.dumps(list(shown.arms)),
            ),
        )  # fmt: skip
        return done.rowcount

    def _tidy(self) -> None:
        """Delete feedback that is too old, or the oldest if the file is nearly full; at most 20,000 rows."""
        self._tidied = time.monotonic()
        with contextlib.suppress(Exception):  # another process writes, the disk is full, a row is damaged: next time
            for _ in range(20):
                old = (time.time() - 86_400 * self._keep_days) * 1000 if self._keep_days else -1.0
                if self._keep_bytes and used_bytes(self._base) > 0.9 * self._keep_bytes:
                    old = math.inf
                self._base.execute("BEGIN IMMEDIATE")
                gone = delete_oldest(self._base, old)
                self._base.execute("COMMIT")
                if not gone:
                    break
            self._base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with contextlib.suppress(sqlite3.Error):
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")


def _user_key(path: Path) -> bytes:
    """Key of the users' hashes, from a private file next to the store; created once."""
    key_file = path.with_name(f"{path.name}.key")
    try:
        if not key_file.exists():
            aside = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
            with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(secrets.token_hex(32))
            with contextlib.suppress(FileExistsError):  # another worker was first
                os.link(aside, key_file)
            aside.unlink()
        key = bytes.fromhex(key_file.read_text())
    except OSError as error:
        raise DataError(
            f"cannot be used as the key of users' hashes: {error.strerror}.", where=str(key_file)
        ) from error
    except ValueError:
        key = b""
    if len(key) != 32:
        raise DataError("is damaged: 64 hexadecimal digits are needed. Restore it from a backup.", where=str(key_file))
    return key


def _take_back(base: sqlite3.Connection, action: Action) -> None:
    """Delete the grade of a judge for a document of a query, also if it named a request."""
    base.execute(
        "DELETE FROM event WHERE kind='judgment' AND document=? AND who=? AND (query=? OR query='' AND request IN "
        "(SELECT request FROM impression WHERE query=?))",
        (action.document, action.who, action.query, action.query),
    )


def _delete_user(base: sqlite3.Connection, user: bytes) -> tuple[int, int]:
    behaviour.forget(base, user)
    events = base.execute("DELETE FROM event WHERE request IN (SELECT request FROM impression WHERE user=?)", (user,))
    base.execute("DELETE FROM shadow WHERE request IN (SELECT request FROM impression WHERE user=?)", (user,))
    impressions = base.execute("DELETE FROM impression WHERE user=?", (user,))
    behaviour.lower_counted(base)
    return impressions.rowcount, events.rowcount


def _is_full(error: Exception) -> bool:
    return isinstance(error, sqlite3.Error) and error.sqlite_errorcode == sqlite3.SQLITE_FULL


def _in_words(path: Path, error: Exception) -> FeedbackError:
    if _is_full(error):
        return FeedbackError("the feedback store is full: its disk, or what keep_bytes allows. Ranking goes on.")
    return FeedbackError(f"the feedback store {path.name} cannot be written: {error}. Ranking goes on.")
