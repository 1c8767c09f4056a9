"""Process pool that runs the tasks of a comparison in parallel.

Each process has its share of the cores for podium, BLAS and LightGBM. Data is in shared memory, results go to the
results folder, and messages are lines of JSON (see `podium.comparison.worker`). `concurrent.futures` would abandon all
tasks if one process dies, and could not say which task that was.
"""

from __future__ import annotations

import os
import queue
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

from podium.base.errors import IncompatibleError, PodiumError
from podium.base.json_process import Child
from podium.base.threads import default_threads
from podium.comparison.plan import Plan, Task
from podium.comparison.results_folder import Store
from podium.comparison.sharing import share
from podium.comparison.task_event import TaskEvent
from podium.methods import method


class Worker(Child):
    """A process that runs tasks, and a thread that reads its answers."""

    def __init__(
        self, setting: dict[str, Any], descriptors: list[int], threads: int, answers: queue.Queue[Any]
    ) -> None:
        super().__init__(
            "podium.comparison.worker", descriptors=descriptors, environment=dict.fromkeys(_THREADS, str(threads))
        )
        self.task: Task | None = None
        self.send(setting)
        threading.Thread(target=self._listen, args=(answers,), daemon=True).start()

    def begin(self, task: Task, key: str) -> None:
        """Start a task."""
        self.send({"task": asdict(task), "key": key})

    def _listen(self, answers: queue.Queue[Any]) -> None:
        while (answer := self.receive()) is not None:
            answers.put((self, answer))
        answers.put((self, None))


def run_on_pool(
    plan: Plan, store: Store, next_task: Callable[[], Task | None], *, jobs: int, detailed: bool
) -> Iterator[TaskEvent]:
    """Run tasks on `jobs` processes, and yield the events of each.

    `next_task` returns the next task, or None if none is left. If a process dies, its task has failed and a new
    process replaces it.
    """
    answers: queue.Queue[tuple[Worker, dict[str, Any] | None]] = queue.Queue()
    threads = max(1, default_threads() // jobs)
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in plan.folds]
        descriptors = [file.fileno() for file in files]
        setting = {
            "folds": [(file.fileno(), share(fold, file)) for fold, file in zip(plan.folds, files, strict=True)],
            "methods": {name: repr(method(name).learner) for name in plan.methods},
            "metrics": [str(metric) for metric in plan.metrics],
            "tune_by": str(plan.tune_by),
            "seeds": plan.seeds,
            "search": repr(plan.search),
            "folder": os.fspath(store.folder.absolute()),
            "detailed": detailed,
        }

        def start() -> Worker:
            worker = Worker(setting, descriptors, threads, answers)
            stack.callback(worker.kill)
            return worker

        busy = {start() for _ in range(jobs)}
        while busy:
            worker, answer = answers.get()
            if worker not in busy:
                continue  # it was stopped
            if answer is None:
                busy.discard(worker)
                yield _died(worker)
                busy.add(start())
                continue
            if "unknown" in answer:
                raise IncompatibleError(
                    f"{answer['unknown']} Processes of a comparison know podium's own methods and those of installed "
                    "plug-ins (entry points of the group podium), not what a script registers. Use one job, or make "
                    "the module a plug-in: see CONTRIBUTING.md."
                )
            if "state" in answer:
                event = TaskEvent(_task(worker), **answer)
                yield event
                if not event.ended:
                    continue
            worker.task = next_task()
            if worker.task is None:
                busy.discard(worker)
                worker.kill()
            else:
                worker.begin(worker.task, plan.key(worker.task))
                yield TaskEvent(worker.task, "running", 0.0)


def _task(worker: Worker) -> Task:
    assert worker.task is not None, "a worker answers only to a task"
    return worker.task


def _died(worker: Worker) -> TaskEvent:
    how = worker.exit()
    if worker.task is None:
        raise PodiumError(f"A worker process {how} before its first task. Use one job to see the error.")
    killed = hasattr(signal, "SIGKILL") and worker.process.returncode == -signal.SIGKILL
    memory = ", as happens when memory runs out; use fewer jobs" if killed else ""
    return TaskEvent(worker.task, "failed", error=f"its process {how}{memory}.")


_THREADS = ("PODIUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
