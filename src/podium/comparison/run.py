"""Run a comparison of methods, from its plan to its results, in one process or several.

    >>> import podium
    >>> data, _ = podium.make_letor_like(30, seed=1)
    >>> podium.compare(data, ["random", "single-feature"], "ndcg@10").ranking()[0]
    'single-feature'

With an output folder, every finished task is saved there at once, and the same call resumes an interrupted comparison.
The results are the same bits on any number of processes.
"""

from __future__ import annotations

import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arguments import whole_number
from podium.base.errors import ComparisonError, DataError, ParameterError
from podium.comparison.plan import Plan, Task
from podium.comparison.pool import run_on_pool
from podium.comparison.results_folder import Store, locked
from podium.comparison.run_task import error_text, run_task
from podium.comparison.task_event import TaskEvent, TaskObserver
from podium.data.fold import Fold
from podium.data.inputs import labelled_data
from podium.data.splits import split
from podium.evaluation.by_segment import with_segments
from podium.evaluation.compare import Comparison, Outcome
from podium.evaluation.details import describe_fold
from podium.evaluation.evaluate import read_metrics
from podium.jit.compiled import on_long_compilation
from podium.methods import method
from podium.metrics import Metric
from podium.model import Model
from podium.tuning import Tuning

Pool = Callable[..., Iterator[TaskEvent]]
"""Function that runs tasks and writes their outcomes to a store, like `run_on_pool`."""


def compare(
    data: Any,
    methods: str | Sequence[str],
    metrics: str | Metric | Sequence[str | Metric] = "ndcg@10",
    *,
    labels: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    group: ArrayLike | None = None,
    tune_by: str | Metric = "ndcg@10",
    preset: str | None = None,
    seed: int | Sequence[int] = 0,
    search: str | Tuning = "grid",
    output: str | PathLike[str] | None = None,
    jobs: int = 1,
    observer: TaskObserver | None = None,
    dataset: str = "",
    by: Mapping[Any, Any] | None = None,
    pool: Pool = run_on_pool,
) -> Comparison:
    """Train and evaluate every method on every fold.

    `data` is a fold or a list of folds, as `read_folder` and `k_folds` give them. A Dataset, a frame, or features with
    `labels` and `qid` or `group` are split by query into 60 % training, 20 % validation and 20 % test data, by the
    first seed.

    `metrics` are reported on test data; `tune_by` chooses hyperparameters and stops early, on validation data. With an
    `output` folder, models, tables and per-query values are written there, and tasks that an earlier call with the same
    arguments finished are not run again. With several seeds, the values of each query are averaged over them. `jobs`
    is the number of processes; several of them know podium's own methods and those of installed plug-ins. If some tasks
    fail, the others are finished first; the error then carries the comparison of the methods that did not fail.
    `dataset` is the name of the data in the report. `by` maps query ids to segments, such as markets, to compare the
    methods in each of them with the first method. `observer` gets the `TaskEvent`s. `pool` runs tasks in parallel: on
    processes of this machine, or on a cluster.

    `preset`: compute each metric as a tool does, e.g. letor3 or trec, if the metric itself names no convention.
    `search`: how hyperparameters are tuned: a `Tuning`, or its text, such as `grid` or `optuna(trials=50)`.
    `methods`: a method or several, by name or specification, e.g. `lambdamart(rounds=100)`.
    `seed`: a seed of training, or several, whose values are averaged for each query.
    """
    jobs = whole_number(jobs, "jobs", least=1)
    several: Any = (seed,) if np.ndim(seed) == 0 else seed
    seeds = tuple(dict.fromkeys(whole_number(number, "seed", least=0) for number in several))
    if not seeds:
        raise ParameterError("At least one seed is needed, e.g. 0.")
    plan = Plan(
        _folds(data, labels, qid=qid, group=group, seed=seeds[0]),
        tuple(dict.fromkeys([methods] if isinstance(methods, str) else methods)),
        read_metrics(metrics, preset),
        seeds,
        tune_by=read_metrics([tune_by], preset)[0],
        search=Tuning.parse(search) if isinstance(search, str) else search,
    )
    plan.check()
    with nullcontext() if output is None else locked(output):  # until its report is written
        outcomes, failures = run(plan, folder=output, jobs=jobs, observer=observer, pool=pool)
        failed = {failure.task.method for failure in failures}
        left = tuple(outcome for outcome in outcomes if outcome.method not in failed)
        comparison = None
        if left:
            about = tuple(map(describe_fold, plan.folds))
            comparison = Comparison(plan.metrics, seeds[0], left, about, tune_by=plan.tune_by, dataset=dataset)
            comparison = comparison if by is None else with_segments(comparison, by)
        if output is not None and comparison is not None:
            from podium.pages.report import write_report

            write_report(comparison, output)
    if failures:
        raise _error(failures, len(plan.tasks()), comparison, kept=output is not None)
    assert comparison is not None
    return comparison


def _folds(
    data: Any, labels: ArrayLike | None, *, qid: ArrayLike | None, group: ArrayLike | None, seed: int
) -> tuple[Fold, ...]:
    """Folds as given, or one fold split from other data."""
    if isinstance(data, Fold):
        data = [data]
    if isinstance(data, list | tuple) and all(isinstance(fold, Fold) for fold in data):
        if labels is not None or qid is not None or group is not None:
            raise DataError("folds have their labels and queries in them; labels, qid and group are for arrays.")
        return tuple(data)
    labelled = labelled_data(data, labels, qid=qid, group=group)
    train, valid, test = split(labelled, (0.6, 0.2, 0.2), seed=seed)
    return (Fold(train, valid, test, "Fold1"),)


def run(
    plan: Plan,
    *,
    folder: str | PathLike[str] | None,
    jobs: int,
    observer: TaskObserver | None,
    pool: Pool = run_on_pool,
) -> tuple[list[Outcome], list[TaskEvent]]:
    """Run all tasks: their outcomes in the order of the plan, and the failures."""
    observer = observer or (lambda _: None)
    tasks = plan.tasks()
    with ExitStack() as stack:
        outcomes: dict[Task, Outcome] = {}
        store = None
        if folder is not None:
            stack.enter_context(locked(folder))
            store = Store(folder)
            for task in tasks:
                outcome = store.read(task, plan.key(task))
                if outcome is not None:
                    outcomes[task] = outcome
                    observer(TaskEvent(task, "kept"))
        left = [task for task in tasks if task not in outcomes]
        if min(jobs, len(left)) > 1 or (left and pool is not run_on_pool):
            failures = _run_in_parallel(
                plan, left, outcomes, store, jobs=min(jobs, len(left)), observer=observer, pool=pool
            )
        else:
            failures = _run_in_turn(plan, left, outcomes, store, observer=observer)
    return [outcomes[task] for task in tasks if task in outcomes], failures


class Schedule:
    """Queue of the tasks that are left, longest first; methods of unknown duration come before all others."""

    def __init__(self, tasks: list[Task], done: list[Outcome], search: Tuning) -> None:
        self._left, self._search = list(tasks), search
        self._seconds: dict[str, float] = {}
        for outcome in done:
            self.learn(outcome)

    def learn(self, outcome: Outcome) -> None:
        """Record the duration of a method."""
        self._seconds[outcome.method] = max(outcome.seconds, self._seconds.get(outcome.method, 0.0))

    def next_task(self) -> Task | None:
        """Remove and return the next task; None if none is left."""
        if not self._left:
            return None
        task = max(self._left, key=self._length)  # ties go to the first
        self._left.remove(task)
        return task

    def _length(self, task: Task) -> tuple[float, int]:
        unknown = task.method not in self._seconds
        return (float("inf"), self._search.fits(method(task.method))) if unknown else (self._seconds[task.method], 0)


def _run_in_turn(
    plan: Plan, left: list[Task], outcomes: dict[Task, Outcome], store: Store | None, *, observer: TaskObserver
) -> list[TaskEvent]:
    failures = []
    for task in left:

        def report(share: float, _: str = "", task: Task = task) -> None:
            observer(TaskEvent(task, "running", share))

        def compiling(task: Task = task) -> None:
            observer(TaskEvent(task, "compiling", 0.0))

        report(0.0)
        try:
            with on_long_compilation(compiling):
                outcome = run_task(plan, task, detailed=store is not None, progress=report)
            if store is not None:
                store.write(task, plan.key(task), outcome)
        except Exception as error:
            failures.append(TaskEvent(task, "failed", error=error_text(error), traceback=traceback.format_exc()))
            observer(failures[-1])
        else:
            outcomes[task] = outcome
            observer(TaskEvent(task, "done"))
    return failures


def _run_in_parallel(
    plan: Plan,
    left: list[Task],
    outcomes: dict[Task, Outcome],
    store: Store | None,
    *,
    jobs: int,
    observer: TaskObserver,
    pool: Pool,
) -> list[TaskEvent]:
    failures = []
    schedule = Schedule(left, list(outcomes.values()), plan.search)
    with ExitStack() as stack:
        place = store or Store(stack.enter_context(tempfile.TemporaryDirectory(prefix="podium-")))
        for event in pool(plan, place, schedule.next_task, jobs=jobs, detailed=store is not None):
            if event.state == "done":
                outcome = place.read(event.task, plan.key(event.task))
                if outcome is None:
                    gone = f"what it wrote to {place.folder} is no longer there."
                    event = TaskEvent(event.task, "failed", error=gone)
                else:
                    if store is None:
                        outcome = replace(outcome, model=Model.load(place.model(event.task)))
                    outcomes[event.task] = outcome
                    schedule.learn(outcome)
            if event.state == "failed":
                failures.append(event)
            observer(event)
    return failures


def _error(failures: list[TaskEvent], tasks: int, comparison: Comparison | None, *, kept: bool) -> ComparisonError:
    words = "; ".join(f"{failure.task}: {failure.error}" for failure in failures)
    rest = "" if len(failures) == tasks else " The others are finished" + (" and kept." if kept else ".")
    error = ComparisonError(f"{len(failures)} of {tasks} failed: {words}{rest}", comparison)
    for failure in failures:
        if failure.traceback is not None:
            error.add_note(f"{failure.task}:\n{failure.traceback}")
    return error
