"""Comparison on a cluster: each method on each fold is a task of one worker; outcomes go to the same results folder."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace

from podium.base.progress import quiet
from podium.comparison.plan import Plan, Task
from podium.comparison.results_folder import Store
from podium.comparison.run import Pool
from podium.comparison.run_task import error_text, run_task
from podium.comparison.task_event import TaskEvent
from podium.data.fold import Fold
from podium.distributed import parts
from podium.distributed.dask_cluster import Cluster
from podium.evaluation.compare import Outcome


def pool(cluster: Cluster) -> Pool:
    """Pool like `run_on_pool`, on the workers of a cluster."""
    return functools.partial(run_on_cluster, cluster)


def run_on_cluster(
    cluster: Cluster, plan: Plan, store: Store, next_task: Callable[[], Task | None], *, jobs: int, detailed: bool
) -> Iterator[TaskEvent]:
    """Run tasks on the workers, and yield the events of each. A task whose worker is lost runs again.

    If the whole cluster is lost, an error is raised; finished tasks are in the store.
    """
    readable = replace(plan, folds=tuple(_stored(fold, cluster) for fold in plan.folds))
    running: dict[object, Task] = {}

    def begin() -> Iterator[TaskEvent]:
        task = next_task()
        if task is not None:
            running[cluster.start(_run, readable, task, detailed)] = task
            yield TaskEvent(task, "running", 0.0)

    for _ in range(jobs):
        yield from begin()
    while running:
        handle, outcome = cluster.first(list(running))
        task = running.pop(handle)
        if isinstance(outcome, Outcome):
            store.write(task, plan.key(task), outcome)
            yield TaskEvent(task, "done")
        else:
            yield TaskEvent(task, "failed", error=error_text(outcome), traceback=_trace(outcome))
        yield from begin()


def _run(plan: Plan, task: Task, detailed: bool) -> Outcome:
    return run_task(plan, task, detailed=detailed, progress=quiet)


def _stored(fold: Fold, cluster: Cluster) -> Fold:
    valid, test = (None if part is None else parts.stored(part, cluster) for part in (fold.valid, fold.test))
    return Fold(parts.stored(fold.train, cluster), valid, test, fold.name)


def _trace(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))
