"""State: what a process of the service holds while it runs."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from podium.errors import ParameterError, PodiumError
from podium.service.experiments import Experiments
from podium.service.feedback import Feedback
from podium.service.metrics import Metrics
from podium.service.models import Models
from podium.service.number_rows import read_rows
from podium.service.security import Keys, Rates
from podium.service.settings import Settings
from podium.service.shadow import Shadow

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.text.index import Index

FOLDER = "PODIUM_RUN_FOLDER"
"""The variable that names the folder where the workers of one service tell each other their metrics."""


class State:
    """Models, feedback, keys and counts; `close` ends what runs beside requests."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.keys = Keys(settings.keys)
        self.rates = Rates(settings.rate, settings.burst)
        self.metrics = Metrics(os.environ.get(FOLDER))
        self.in_work = 0
        self.index: Index | None = None
        self.index_lock = threading.Lock()
        if settings.index:
            from podium.text.index import Index

            self.index = Index.open(settings.index)
        self.data: Dataset | None = None
        if settings.data:
            from podium.data import read_data

            self.data = read_data(settings.data).grouped()
        read_rows([b"[0]"], 1)  # so that it is compiled before a request waits for it
        self.models = Models(settings.shelf or None, index=self.index)
        self._tell_failed()
        self._fill_shelf(settings.models, settings.aliases)
        if self.index is not None:
            from podium.service.search import warm_search

            warm_search(
                self.index, [one.engine for one in self.models.shelf.entries.values() if one.engine is not None]
            )
        self.feedback: Feedback | None = None
        self.experiments: Experiments | None = None
        self.shadow: Shadow | None = None
        if settings.store:
            self.feedback = Feedback(
                settings.store, queue=settings.queue, keep_days=settings.keep_days, keep_bytes=settings.keep_bytes,
                count=lambda what, by: self.metrics.count("podium_feedback_total", f'what="{what}"', by),
            )  # fmt: skip
            self.experiments = Experiments(self.feedback)
            self.shadow = Shadow(self.feedback, self.count_trial)
        self._stop = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="podium-watch", daemon=True)
        self._watcher.start()

    def _fill_shelf(self, models: Sequence[str], aliases: Sequence[str]) -> None:
        given = self.models.add_files(models)
        for text in aliases:
            alias, equals, word = text.partition("=")
            if not equals:
                raise ParameterError(f"an alias is given as default=web@3; got {text!r}.")
            now = self.models.shelf.aliases.get(alias)
            if now is None or now.model != self.models.shelf.find(word).key:
                self.models.set_alias(alias, word)
        first = next(iter(given or self.models.shelf.entries.values()), None)
        if "default" not in self.models.shelf.aliases and first is not None:
            self.models.set_alias("default", first.key)

    def _watch(self) -> None:
        while not self._stop.wait(1.0):
            try:
                if self.models.follow():
                    self._tell_failed()
                if self.experiments is not None:
                    self.experiments.follow()
                    self.experiments.apply_rules()
                self.metrics.share()
            except (PodiumError, OSError, ValueError) as error:
                log("error", what="follow", detail=str(error))

    def reload(self) -> None:
        """Read the keys, the folder of models and the index again; what cannot be read stays as it was."""
        try:
            self.keys = Keys(self.settings.keys)
            self.models.reload()
            self._tell_failed()
            if self.index is not None:
                with self.index_lock:
                    self.index.refresh()
        except (PodiumError, OSError) as error:
            log("error", what="reload", detail=str(error))

    def count_trial(self, what: str, experiment: str) -> None:
        """Count a request of an experiment: answered, failed, or dropped by a shadow."""
        if what == "dropped":
            self.metrics.count("podium_shadow_dropped_total", f'experiment="{experiment}"')
        else:
            self.metrics.count("podium_experiment_total", f'experiment="{experiment}",what="{what}"')

    def _tell_failed(self) -> None:
        for path, why in self.models.failed.items():
            log("error", what="model", path=path, detail=why)

    def close(self) -> None:
        """Write what waits, and close files."""
        self._stop.set()
        self._watcher.join()
        if self.shadow is not None:
            self.shadow.close()
        if self.feedback is not None:
            self.feedback.close()
        if self.index is not None:
            self.index.close()


def log(level: str, **about: Any) -> None:
    """Write a line of JSON to standard error. Never bodies, never keys."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    print(json.dumps({"time": stamp, "level": level, **about}), file=sys.stderr, flush=True)
