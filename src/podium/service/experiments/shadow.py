"""Shadow experiment: a candidate scores requests after their answer is sent; if it cannot keep up, they are dropped."""

from __future__ import annotations

import contextlib
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from podium.base.errors import PodiumError
from podium.service.experiments.trial import Trial
from podium.service.feedback.events import Feedback, FeedbackError
from podium.service.models.versions import agreement, scores_of
from podium.service.rank_request import Ranked

_WAITING, _HELD = 100, 64_000_000
"""Largest queue: number of requests, and bytes of their features."""
_TOGETHER = 100
"""Number of rows written at once, or those of a second if fewer."""
_INSERT = "INSERT INTO shadow(experiment, request, at, kendall, overlap, difference, seconds) VALUES(?,?,?,?,?,?,?)"


class Shadow:
    """Background thread that scores; calls `count(what, experiment)`: dropped, answered, failed."""

    def __init__(self, store: Feedback, count: Callable[[str, str], None]) -> None:
        self._store, self._count = store, count
        self._waiting: queue.Queue[tuple[Trial, Ranked] | None] = queue.Queue(_WAITING)
        self._held, self._lock = 0, threading.Lock()
        self._thread = threading.Thread(target=self._work, name="podium-shadow", daemon=True)
        self._thread.start()

    def put(self, trial: Trial, ranked: Ranked) -> None:
        """Queue a request for the candidate, or drop it if the queue is full."""
        size = ranked.asked.X.nbytes
        with self._lock:
            room = self._held + size <= _HELD and not self._waiting.full()
            if room:
                self._held += size
                self._waiting.put_nowait((trial, ranked))
        if not room:
            self._count("dropped", trial.experiment.name)

    def close(self) -> None:
        """Score and write all queued requests."""
        self._waiting.put(None)
        self._thread.join()

    def _work(self) -> None:
        rows: list[tuple[Any, ...]] = []
        until, open_ = 0.0, True
        while open_ or rows:
            try:
                item = self._waiting.get(timeout=max(0.01, until - time.monotonic()) if rows else None)
                if item is None:
                    open_ = False
                else:
                    until = until if rows else time.monotonic() + 1.0
                    rows += self._scored(*item)
                    with self._lock:
                        self._held -= item[1].asked.X.nbytes
            except queue.Empty:
                pass
            if rows and (not open_ or len(rows) >= _TOGETHER or time.monotonic() >= until):
                self._write(rows)
                rows = []

    def _scored(self, trial: Trial, ranked: Ranked) -> list[tuple[Any, ...]]:
        """Row of a request for the table; none if the candidate cannot score it."""
        start, name = time.perf_counter(), trial.experiment.name
        try:
            scores = scores_of(trial.candidate, trial.control, ranked.asked.X, ranked.asked.query_features)
        except PodiumError:
            self._count("failed", name)
            return []
        seconds = time.perf_counter() - start
        tau, overlap = agreement(scores, ranked.scores)
        difference = float(np.abs(scores - ranked.scores).mean())
        self._count("answered", name)
        return [(name, ranked.answer.request, time.time_ns() // 1_000_000, tau, overlap, difference, seconds)]

    def _write(self, rows: list[tuple[Any, ...]]) -> None:
        def insert(base: sqlite3.Connection) -> None:
            base.executemany(_INSERT, rows)

        with contextlib.suppress(FeedbackError):  # the store is full or closed: rows of a shadow may be lost
            self._store.change(insert).result()
