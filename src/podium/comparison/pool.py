"""Pool: processes that run the tasks of a comparison in parallel.

Each is a fresh Python interpreter with its share of the cores for podium, BLAS and LightGBM, and talks in lines of JSON
(see `podium.comparison.worker`); nothing is forked and nothing is pickled. Data is in shared memory, results go to the
store. `concurrent.futures` would abandon all tasks when one process dies, and could not say which task that was.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from typing import IO, Any

from podium.comparison.plan import Plan, Task
from podium.comparison.sharing import share
from podium.comparison.store import Store
from podium.comparison.task_event import TaskEvent
from podium.errors import IncompatibleError, PodiumError
from podium.methods import method
from podium.threads import default_threads


class Worker:
    """One process, and a thread that reads its answers."""

    def __init__(self, setting: bytes, descriptors: list[int], threads: int, heard: queue.Queue[Any]) -> None:
        self.task: Task | None = None
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "podium.comparison.worker", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=descriptors,
            env=_environment(threads),
            process_group=0,  # Ctrl-C goes to this process, which then ends the worker
        )
        self._say(setting)
        threading.Thread(target=self._listen, args=(self.process.stdout, heard), daemon=True).start()

    def begin(self, task: Task, key: str) -> None:
        """Start a task."""
        self._say(json.dumps({"task": asdict(task), "key": key}).encode())

    def end(self) -> None:
        """Kill the process; what it has finished is in the store."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()

    def _say(self, line: bytes) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the process is dead; `_listen` reports that

    def _listen(self, stream: IO[bytes], heard: queue.Queue[Any]) -> None:
        try:
            for line in stream:
                heard.put((self, json.loads(line)))
        except ValueError:
            pass  # closed, or cut off in the middle of a line
        heard.put((self, None))


def run_on_pool(
    plan: Plan, store: Store, next_task: Callable[[], Task | None], *, jobs: int, detailed: bool
) -> Iterator[TaskEvent]:
    """Run tasks on `jobs` processes, and yield what becomes of each one.

    `next_task` returns the next task, or None if none is left. If a process dies, its task has failed and a new
    process replaces it.
    """
    heard: queue.Queue[tuple[Worker, dict[str, Any] | None]] = queue.Queue()
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
            worker = Worker(json.dumps(setting).encode(), descriptors, threads, heard)
            stack.callback(worker.end)
            return worker

        busy = {start() for _ in range(jobs)}
        while busy:
            worker, answer = heard.get()
            if worker not in busy:
                continue  # it was ended
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
                worker.end()
            else:
                worker.begin(worker.task, plan.key(worker.task))
                yield TaskEvent(worker.task, "running", 0.0)


def _task(worker: Worker) -> Task:
    assert worker.task is not None, "it answers only when asked"
    return worker.task


def _died(worker: Worker) -> TaskEvent:
    code = worker.process.wait()
    how = f"ended with exit code {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"
    if worker.task is None:
        raise PodiumError(f"A worker process {how} before its first task. Use one job to see the error.")
    memory = ", as happens when memory runs out; use fewer jobs" if code == -signal.SIGKILL else ""
    return TaskEvent(worker.task, "failed", error=f"its process {how}{memory}.")


def _environment(threads: int) -> dict[str, str]:
    """The environment of a worker: its share of the cores, and the module path of this process."""
    return {
        **os.environ,
        **dict.fromkeys(_THREADS, str(threads)),
        "PYTHONPATH": os.pathsep.join(place or os.getcwd() for place in sys.path),
    }


_THREADS = ("PODIUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
