"""Run the spec of a comparison on each of its datasets, with an overview of several: the work of `podium compare`.

>>> from podium.comparison import read_spec, run_spec
>>> comparisons = run_spec(read_spec("comparison.toml"))  # doctest: +SKIP
>>> comparisons["OHSUMED"].ranking()[0]  # doctest: +SKIP
'lambdarank'
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from podium.base.errors import ComparisonError, DataError
from podium.base.threads import default_threads
from podium.comparison.pool import run_on_pool
from podium.comparison.results_folder import locked
from podium.comparison.run import Pool, compare
from podium.comparison.spec import Spec, write_spec
from podium.comparison.task_event import TaskEvent
from podium.data.fold import Fold
from podium.evaluation.compare import Comparison
from podium.evaluation.evaluate import read_metrics
from podium.formats.folder import data_files, is_table, read_folder
from podium.formats.query_words import words_about_queries


class Observer:
    """Observer of a running spec. A subclass overrides the events that it needs."""

    def reading(self, name: str, place: str) -> None:
        """A dataset is about to be read."""

    def read(self, name: str, folds: list[Fold]) -> None:
        """A dataset has been read."""

    def task(self, event: TaskEvent) -> None:
        """A task of the dataset is running, or has ended."""

    def compared(self, name: str, comparison: Comparison) -> None:
        """All tasks of the dataset have ended."""


def run_spec(spec: Spec, *, observer: Observer | None = None, pool: Pool = run_on_pool) -> dict[str, Comparison]:
    """Run the comparison on each dataset; returns them by name.

    With an output folder, everything is written there, and tasks that an earlier run of the same spec finished are not
    run again. If tasks fail, the others are finished first; the error then carries the comparisons, by dataset. `pool`
    runs tasks in parallel, as for `compare`.

    `observer`: gets the `TaskEvent`s.
    `spec`: a comparison, as `read_spec` reads it.
    """
    observer = observer or Observer()
    metrics = read_metrics(spec.metrics, spec.preset)
    tune_by = read_metrics([spec.tune_by], spec.preset)[0]
    comparisons: dict[str, Comparison] = {}
    errors: list[ComparisonError] = []
    with ExitStack() as stack:
        if spec.output is not None:
            _make_folder(spec.output)
            stack.enter_context(locked(spec.output))
            write_spec(spec)
        for name, place in spec.datasets.items():
            observer.reading(name, place)
            folds = read_folder(place, seed=spec.seeds[0], **_roles(spec, place))
            segments = None if spec.by is None else words_about_queries(place, spec.by)
            observer.read(name, folds)
            try:
                comparison = compare(
                    folds, spec.methods, metrics, tune_by=tune_by, seed=spec.seeds, search=spec.search,
                    output=spec.folder(name), jobs=spec.jobs or default_threads(), observer=observer.task,
                    dataset=name, by=segments, pool=pool,
                )  # fmt: skip
            except ComparisonError as error:
                errors.append(error)
                comparison = error.comparison
            if comparison is not None:
                comparisons[name] = comparison
                observer.compared(name, comparison)
        if spec.output is not None and len(spec.datasets) > 1 and comparisons:
            from podium.pages.overview import write_overview

            write_overview(comparisons, spec.output)
    if errors:
        raise _joined(errors, comparisons)
    return comparisons


def _roles(spec: Spec, place: str) -> dict[str, Any]:
    """Columns of tables that describe the query, among them the one that results are given by."""
    tables = any(map(is_table, data_files(place))) if spec.by is not None and os.path.exists(place) else False
    names = dict.fromkeys([*spec.query_features, *([spec.by] if tables else [])])
    return {"query_features": tuple(names)} if names else {}


def _make_folder(output: str) -> None:
    try:
        Path(output).mkdir(exist_ok=True)
    except OSError as error:
        raise DataError(f"this folder cannot be made: {error.strerror}.", where=output) from error


def _joined(errors: list[ComparisonError], comparisons: dict[str, Comparison]) -> ComparisonError:
    joined = ComparisonError(" ".join(map(str, errors)), comparisons)
    for error in errors:
        for note in getattr(error, "__notes__", ()):
            joined.add_note(note)
    return joined
