"""State of a service process: models, index, data, feedback, keys, threads, counts."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.base.errors import ParameterError, PodiumError
from podium.jit.tiers import compile_always
from podium.service.domain_errors import BusyError, NotFoundError
from podium.service.fair_threads import Lane
from podium.service.models.versions import Models
from podium.service.prometheus import Monitor
from podium.service.ranker import Ranker
from podium.service.rate_limit import RateLimit
from podium.service.security import Keys
from podium.service.settings import Settings
from podium.service.shown_data import read_shown_data

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.service.behaviour_filler import BehaviourFiller
    from podium.service.experiments.ab_tests import Experiments
    from podium.service.experiments.shadow import Shadow
    from podium.service.feedback.events import Feedback
    from podium.text.index.index import Index


class State:
    """State of a process; `close` ends its threads and closes its files."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.keys = Keys(settings.keys)
        self.rate_limit = RateLimit(settings.rate, settings.burst)
        self.monitor = Monitor()
        self.in_work: Counter[str | None] = Counter()
        """Number of requests in work, by caller; None for requests that need no key."""
        threads = max(2, os.cpu_count() or 1)
        share = threads if self.keys.open else threads - 1
        self.quick, self.slow = (Lane(name, threads=threads, share=share) for name in ("quick", "slow"))
        self._large: dict[str, asyncio.Semaphore] = {}
        self._folders = _folders(settings)
        compile_always()  # many small requests follow
        self.index: Index | None = None
        self.index_lock = threading.Lock()
        if settings.index:
            from podium.text.index.index import Index

            self._index_mark = _file_mark(settings.index)
            self.index = Index.open(settings.index)
        self.data: Dataset | None = None
        if settings.data:
            from podium.formats import read_data

            self.data = read_data(settings.data).grouped()
        names = [] if self.data is None else [self.data.query_name(q) for q in range(self.data.n_queries)]
        self.query_places = {name: q for q, name in enumerate(names)}
        """Index of each query in the data, by name."""
        self.shown = read_shown_data(settings, self.data)
        self.models = Models(settings.shelf or None, index=self.index)
        self._log_failed_models()
        self._add_models(settings.models, settings.aliases)
        if self.index is not None:
            from podium.service.search import warm_search

            engines = [entry.engine for entry in self.models.current.entries.values()]
            warm_search(self.index, [engine for engine in engines if engine is not None])
        self.feedback: Feedback | None = None
        self.experiments: Experiments | None = None
        self.shadow: Shadow | None = None
        self.behaviour: BehaviourFiller | None = None
        if settings.store:
            self._open_store()
        self.ranker = Ranker(
            self.models, self.monitor, self.feedback, self.experiments, self.shadow, settings.logged_documents,
            self.behaviour,
        )  # fmt: skip
        self._stop = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="podium-watch", daemon=True)
        self._watcher.start()

    def _open_store(self) -> None:
        from podium.service.behaviour_filler import BehaviourFiller
        from podium.service.experiments.ab_tests import Experiments
        from podium.service.experiments.shadow import Shadow
        from podium.service.feedback.events import Feedback
        from podium.service.feedback.stored_fields import StoredFields

        settings = self.settings
        fields = StoredFields(settings.index) if settings.index else None
        self.feedback = Feedback(
            settings.store, queue=settings.queue, keep_days=settings.keep_days, keep_bytes=settings.keep_bytes,
            count=lambda what, by: self.monitor.feedback.labels(what).inc(by),
            keys=None if fields is None else fields.keys,
        )  # fmt: skip
        self.experiments = Experiments(self.feedback)
        self.shadow = Shadow(self.feedback, self.monitor.count_trial)
        self.behaviour = BehaviourFiller(self.feedback, fields)
        self.behaviour.follow(self.models.current)

    def _add_models(self, files: Sequence[str], aliases: Sequence[str]) -> None:
        entries = self.models.add_files(files)
        for text in aliases:
            alias, equals, word = text.partition("=")
            if not equals:
                raise ParameterError(f"an alias is given as default=web@3; got {text!r}.")
            now = self.models.current.aliases.get(alias)
            if now is None or now.model != self.models.current.find(word).key:
                self.models.set_alias(alias, word)
        first = next(iter(entries or self.models.current.entries.values()), None)
        if "default" not in self.models.current.aliases and first is not None:
            self.models.set_alias("default", first.key)

    @contextmanager
    def working(self, caller: str | None) -> Iterator[None]:
        """Count a request while it is being answered; raises 503 if there are too many, in total or of its caller."""
        most = self.settings.concurrency
        own = most if self.keys.open else max(1, most // 2)  # one key leaves room for the others
        if caller is not None and (self.in_work.total() >= most or self.in_work[caller] >= own):
            raise BusyError("too many requests at once. Try again.")
        self.in_work[caller] += 1
        try:
            yield
        finally:
            self.in_work[caller] -= 1

    def large(self, caller: str) -> AbstractAsyncContextManager[None]:
        """Wait until a caller has few large bodies in work, so that waiting bodies are not held in memory."""
        places = self.settings.concurrency // 4 if self.keys.open else 2
        return self._large.setdefault(caller, asyncio.Semaphore(max(1, places)))

    def lane_of(self, role: str | None) -> Lane:
        """Threads for calls of a role; requests of judges and administrators may take minutes."""
        return self.slow if role in ("judge", "admin") else self.quick

    def without_folders(self, text: str) -> str:
        """Remove the folders of the service's files from a message: callers need not know them."""
        for folder in self._folders:
            text = text.replace(folder, "")
        return text

    def _watch(self) -> None:
        while not self._stop.wait(1.0):
            for follow in (self._follow_models, self._follow_behaviour, self._follow_index, self._follow_experiments):
                try:
                    follow()
                except Exception as error:  # whatever it is, the thread lives on
                    log("error", what="follow", detail=f"{type(error).__name__}: {error}")

    def _follow_models(self) -> None:
        if self.models.follow():
            self._log_failed_models()

    def _follow_behaviour(self) -> None:
        if self.behaviour is not None:
            self.behaviour.follow(self.models.current)

    def _follow_index(self) -> None:
        if self.index is not None:
            with self.searching():
                pass

    @contextmanager
    def searching(self) -> Iterator[Index]:
        """Lock the index for one thread, refreshed if another process wrote to it; raises 404 if there is none."""
        if self.index is None:
            raise NotFoundError("the service has no index. Start it with one: podium serve my.index")
        with self.index_lock:
            mark = _file_mark(self.settings.index)
            if mark not in (None, self._index_mark):
                self.index.refresh()
                self._index_mark = mark
            yield self.index

    def _follow_experiments(self) -> None:
        if self.experiments is not None:
            self.experiments.follow()
            self.experiments.apply_rules()

    def reload(self) -> None:
        """Read the keys, the model store and the index again; parts that cannot be read stay as they are."""
        try:
            self.keys = Keys(self.settings.keys)
            self.models.reload()
            self._log_failed_models()
            if self.index is not None:
                with self.index_lock:
                    self.index.refresh()
        except (PodiumError, OSError) as error:
            log("error", what="reload", detail=str(error))

    def _log_failed_models(self) -> None:
        for path, why in self.models.failed.items():
            log("error", what="model", path=path, detail=why)

    def close(self) -> None:
        """Finish queued work, stop the threads and close the files."""
        self._stop.set()
        self._watcher.join()
        for lane in (self.quick, self.slow):
            lane.close()
        if self.shadow is not None:
            self.shadow.close()
        if self.feedback is not None:
            self.feedback.close()  # it reads stored fields until its queue is empty
        if self.behaviour is not None:
            self.behaviour.close()
        if self.index is not None:
            self.index.close()


def _folders(settings: Settings) -> list[str]:
    """Folders of all files named in the settings, longest first, relative and absolute."""
    files = [*settings.models, settings.index, settings.data, settings.store, settings.keys, settings.shelf]
    files += [settings.queries, settings.guidelines]
    folders = {folder for file in files if file for folder in (os.path.dirname(file), str(Path(file).resolve().parent))}
    if settings.shelf:
        folders |= {settings.shelf, str(Path(settings.shelf).resolve())}
    absolute = (folder.rstrip("/") + "/" for folder in folders if os.path.isabs(folder) and len(folder) > 1)
    return sorted(absolute, key=len, reverse=True)


def _file_mark(path: str) -> tuple[int, ...] | None:
    """Inode, size and time of a SQLite file and its log: a fingerprint that changes on each write; None if missing."""
    mark: tuple[int, ...] = ()
    for name in (path, f"{path}-wal"):
        try:
            about = os.stat(name)
        except OSError:
            if name == path:
                return None
            continue
        mark += (about.st_ino, about.st_size, about.st_mtime_ns)
    return mark


def log(level: str, **about: Any) -> None:
    """Write a line of JSON to standard error; never bodies or keys."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    print(json.dumps({"time": stamp, "level": level, **about}), file=sys.stderr, flush=True)
