"""Plan of a comparison: tasks, each of which is one method on one fold with one seed.

>>> from podium.data import Fold, make_letor_like, split
>>> from podium.metrics import Metric
>>> fold = Fold(*split(make_letor_like(30, seed=1)[0]), name="Fold1")
>>> plan = Plan((fold,), ("random", "listnet"), (Metric.parse("ndcg@10"),), seeds=(0, 1))
>>> [str(task) for task in plan.tasks()]
['Fold1 random', 'Fold1 random, seed 1', 'Fold1 listnet', 'Fold1 listnet, seed 1']
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from podium.base.errors import DataError, ParameterError
from podium.comparison.code_version import code_version
from podium.data.dataset import Dataset
from podium.data.fold import Fold
from podium.evaluation.evaluate import evaluate
from podium.methods import method
from podium.metrics import Metric
from podium.tuning import Grid, Tuning


@dataclass(frozen=True)
class Task:
    """One method on one fold with one seed."""

    fold: str
    method: str
    seed: int = 0

    def __str__(self) -> str:
        return f"{self.fold} {self.method}" + (f", seed {self.seed}" if self.seed else "")


@dataclass(frozen=True, eq=False)
class Plan:
    """Folds, methods, metrics and seeds; `tune_by` chooses hyperparameters and stops early, on validation data."""

    folds: tuple[Fold, ...]
    methods: tuple[str, ...]
    metrics: tuple[Metric, ...]
    seeds: tuple[int, ...] = (0,)
    tune_by: Metric = field(default_factory=lambda: Metric.parse("ndcg@10"))
    search: Tuning = field(default_factory=Grid)  # of hyperparameters, on validation data

    def check(self) -> None:
        """Raise a clear error, before work starts, if a task would fail."""
        if not self.folds:
            raise ParameterError("There is no fold to compare on.")
        if not self.methods:
            raise ParameterError("At least one method is needed, e.g. listnet.")
        if not self.seeds:
            raise ParameterError("At least one seed is needed, e.g. 0.")
        for what, names in (("fold", [fold.name for fold in self.folds]), ("method", self.methods)):
            twice = next((name for name in names if list(names).count(name) > 1), None)
            if twice is not None:
                raise ParameterError(f"The {what} {twice!r} is given twice.")
        self.tune_by.check_tunes()
        for fold in self.folds:
            _check_fold(fold, self.metrics)
            try:
                _check_fold(fold, (self.tune_by,))
            except DataError as error:
                raise DataError(f"{error} Tune by another metric than {self.tune_by}: see --tune-by.") from error
        for name in self.methods:
            learner = method(name).learner
            for fold in self.folds:
                learner.check(fold.train)

    def tasks(self) -> list[Task]:
        """All tasks, fold by fold."""
        return [Task(fold.name, name, seed) for fold in self.folds for name in self.methods for seed in self.seeds]

    def fold(self, task: Task) -> Fold:
        """Fold of a task."""
        return next(fold for fold in self.folds if fold.name == task.fold)

    def key(self, task: Task) -> str:
        """Hash of everything that the outcome of a task depends on: its parameters, its data, and the code."""
        chosen = method(task.method)
        parts = [task.method, repr(chosen.learner), repr(chosen.grid), repr(self.search), str(task.seed)]
        parts += [metric.tag() for metric in (*self.metrics, self.tune_by)]
        parts += [json.dumps(self.digests(task)), self._names[task.fold]]
        parts += [self._code_versions[task.method], chosen.learner.digest()]
        return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()

    def digests(self, task: Task) -> dict[str, str]:
        """Hash of the data of each part of a task's fold."""
        return self._digests[task.fold]

    @cached_property
    def _code_versions(self) -> dict[str, str]:
        metrics = (self.tune_by, *self.metrics)
        return {name: code_version(method(name).learner, self.search, *metrics) for name in self.methods}

    @cached_property
    def _digests(self) -> dict[str, dict[str, str]]:
        return {fold.name: {part: data.digest() for part, data in _parts(fold)} for fold in self.folds}

    @cached_property
    def _names(self) -> dict[str, str]:
        """Hash of the names of queries, documents and features of each fold."""
        return {
            fold.name: hashlib.sha256(json.dumps([_names(data) for _, data in _parts(fold)]).encode()).hexdigest()
            for fold in self.folds
        }


def _check_fold(fold: Fold, metrics: tuple[Metric, ...]) -> None:
    """Raise a clear error if test data is missing, or a metric has no gain for a label."""
    if fold.test is None or fold.test.labels is None:
        raise DataError(
            "no labelled test data, which a comparison reports on. Add test.txt, or give one file to be split.",
            where=fold.name,
        )
    for part in (fold.valid, fold.test):
        if part is not None and part.labels is not None:
            evaluate(part, np.zeros(part.n_documents), metrics)


def _parts(fold: Fold) -> list[tuple[str, Dataset]]:
    parts = (("train", fold.train), ("valid", fold.valid), ("test", fold.test))
    return [(name, data) for name, data in parts if data is not None]


def _names(data: Dataset) -> list[Any]:
    ids = [None if names is None else list(map(str, names)) for names in (data.query_ids, data.document_ids)]
    return [*ids, data.feature_names]
