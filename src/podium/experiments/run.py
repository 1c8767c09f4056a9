"""Run: an experiment from its plan to a comparison, on one process or several.

    >>> from podium.data import Fold, make_letor_like, split
    >>> train, vali, test = split(make_letor_like(30, seed=1)[0])
    >>> found = compare([Fold(train, vali, test, "made up")], ["random", "single-feature"], ["ndcg@10"])
    >>> found.ranking()[0]
    'single-feature'

With a folder, every finished task is kept there at once, and the same call later goes on where this one ended. The
results are the same bits on any number of processes.
"""

from __future__ import annotations

import tempfile
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from os import PathLike
from typing import Literal

from podium.data.fold import Fold
from podium.errors import ExperimentError, ParameterError
from podium.evaluation.compare import Comparison, Outcome
from podium.evaluation.details import describe_fold
from podium.evaluation.evaluate import read_metrics
from podium.evaluation.report import write_report
from podium.experiments.plan import Plan, Task
from podium.experiments.pool import run_on_pool
from podium.experiments.run_task import error_text, work
from podium.experiments.store import Store, held
from podium.methods import method
from podium.metrics import Metric
from podium.model import Model
from podium.search import Search


@dataclass(frozen=True)
class Seen:
    """What a watcher of an experiment hears: how far a task is, and whether it is at its end."""

    task: Task
    share: float
    state: Literal["running", "done", "kept", "failed"]  # kept: an earlier run had done it


@dataclass(frozen=True)
class Failure:
    """A task that failed, and why."""

    task: Task
    why: str
    traceback: str | None = None

    def __str__(self) -> str:
        return f"{self.task}: {self.why}"


Watcher = Callable[[Seen], None]


def compare(
    folds: Sequence[Fold],
    methods: Sequence[str],
    metrics: Sequence[str | Metric] = ("ndcg@10",),
    *,
    preset: str | None = None,
    seed: int | Sequence[int] = 0,
    search: str | Search = "grid",
    folder: str | PathLike[str] | None = None,
    jobs: int = 1,
    watch: Watcher | None = None,
) -> Comparison:
    """Train and judge every method on every fold.

    The first metric also tunes and stops: what is tuned is what is reported. With a `folder`, models, tables and
    per-query values are written there, and what an earlier call with the same arguments finished is not done again.
    With several seeds, the values of each query are averaged over them. Several `jobs` are processes of their own,
    which know the methods of podium and of its entry points. Where some tasks fail the others are finished first; the
    error then carries the comparison of the methods that did not.
    """
    if jobs < 1:
        raise ParameterError(f"jobs must be at least 1; got {jobs}.")
    seeds = (seed,) if isinstance(seed, int) else tuple(dict.fromkeys(seed))
    searching = Search.parse(search) if isinstance(search, str) else search
    plan = Plan(tuple(folds), tuple(dict.fromkeys(methods)), read_metrics(metrics, preset), seeds, searching)
    plan.check()
    outcomes, failures = run(plan, folder=folder, jobs=jobs, watch=watch)
    lost = {failure.task.method for failure in failures}
    left = tuple(outcome for outcome in outcomes if outcome.method not in lost)
    comparison = Comparison(plan.metrics, seeds[0], left, tuple(map(describe_fold, folds))) if left else None
    if folder is not None and comparison is not None:
        write_report(comparison, folder)
    if failures:
        raise _error(failures, len(plan.tasks()), comparison, kept=folder is not None)
    assert comparison is not None
    return comparison


def run(
    plan: Plan, *, folder: str | PathLike[str] | None, jobs: int, watch: Watcher | None
) -> tuple[list[Outcome], list[Failure]]:
    """The outcomes of all tasks in the order of the plan, but for those that failed."""
    watch = watch or (lambda _: None)
    tasks = plan.tasks()
    with ExitStack() as stack:
        found: dict[Task, Outcome] = {}
        store = None
        if folder is not None:
            stack.enter_context(held(folder))
            store = Store(folder)
            for task in tasks:
                kept = store.read(task, plan.key(task))
                if kept is not None:
                    found[task] = kept
                    watch(Seen(task, 1.0, "kept"))
        left = [task for task in tasks if task not in found]
        if min(jobs, len(left)) > 1:
            failures = _side_by_side(plan, left, found, store, jobs=min(jobs, len(left)), watch=watch)
        else:
            failures = _one_by_one(plan, left, found, store, watch=watch)
    return [found[task] for task in tasks if task in found], failures


class Schedule:
    """What is left to do, longest first: first of each method on some fold, as nobody knows how long it takes."""

    def __init__(self, tasks: list[Task], done: list[Outcome], search: Search) -> None:
        self._left, self._search = list(tasks), search
        self._seconds: dict[str, float] = {}
        for outcome in done:
            self.learn(outcome)

    def learn(self, outcome: Outcome) -> None:
        """Take note of how long a method takes."""
        self._seconds[outcome.method] = max(outcome.seconds, self._seconds.get(outcome.method, 0.0))

    def next_task(self) -> Task | None:
        """The next task, which is then no longer left; None where there is none."""
        if not self._left:
            return None
        task = max(self._left, key=self._length)  # the first of equals
        self._left.remove(task)
        return task

    def _length(self, task: Task) -> tuple[float, int]:
        unknown = task.method not in self._seconds
        return (float("inf"), self._search.fits(method(task.method))) if unknown else (self._seconds[task.method], 0)


def _one_by_one(
    plan: Plan, left: list[Task], found: dict[Task, Outcome], store: Store | None, *, watch: Watcher
) -> list[Failure]:
    failures = []
    for task in left:

        def tell(share: float, task: Task = task) -> None:
            watch(Seen(task, share, "running"))

        try:
            outcome = work(plan, task, detailed=store is not None, tell=tell)
            if store is not None:
                store.write(task, plan.key(task), outcome)
        except Exception as error:
            failures.append(Failure(task, error_text(error), traceback.format_exc()))
            watch(Seen(task, 1.0, "failed"))
        else:
            found[task] = outcome
            watch(Seen(task, 1.0, "done"))
    return failures


def _side_by_side(
    plan: Plan, left: list[Task], found: dict[Task, Outcome], store: Store | None, *, jobs: int, watch: Watcher
) -> list[Failure]:
    failures = []
    schedule = Schedule(left, list(found.values()), plan.search)
    with ExitStack() as stack:
        place = store or Store(stack.enter_context(tempfile.TemporaryDirectory(prefix="podium-")))
        for note in run_on_pool(plan, place, schedule.next_task, jobs=jobs, detailed=store is not None):
            if not note.finished:
                watch(Seen(note.task, note.share, "running"))
                continue
            outcome = None if note.failed else place.read(note.task, plan.key(note.task))
            if outcome is None:
                why = note.failed or f"what it wrote to {place.folder} is no longer there."
                failures.append(Failure(note.task, why, note.traceback))
                watch(Seen(note.task, 1.0, "failed"))
                continue
            if store is None:
                outcome = replace(outcome, model=Model.load(place.model(note.task)))
            found[note.task] = outcome
            schedule.learn(outcome)
            watch(Seen(note.task, 1.0, "done"))
    return failures


def _error(failures: list[Failure], tasks: int, comparison: Comparison | None, *, kept: bool) -> ExperimentError:
    words = "; ".join(str(failure) for failure in failures)
    rest = "" if len(failures) == tasks else " The others are finished" + (" and kept." if kept else ".")
    error = ExperimentError(f"{len(failures)} of {tasks} failed: {words}{rest}", comparison)
    for failure in failures:
        if failure.traceback is not None:
            error.add_note(f"{failure.task}:\n{failure.traceback}")
    return error
