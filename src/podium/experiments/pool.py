"""Crew: processes that do the tasks of an experiment side by side.

Each is an interpreter of its own, with its share of the cores for podium, BLAS and LightGBM, and talks in lines of JSON
(see `podium.experiments.worker`); nothing is forked and nothing is pickled. Data lies in shared memory, results go to
the store. `concurrent.futures` would give up all tasks when one process dies, and could not say which one it did.
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
from dataclasses import asdict, dataclass
from typing import IO, Any

from podium.errors import PodiumError
from podium.experiments.plan import Plan, Task
from podium.experiments.sharing import share
from podium.experiments.store import Store
from podium.threads import default_threads


@dataclass(frozen=True)
class Note:
    """How far a task is; at its end `failed` says what went wrong, if anything did."""

    task: Task
    share: float
    finished: bool = False
    failed: str | None = None
    traceback: str | None = None


class Worker:
    """One process, and a thread that listens to it."""

    def __init__(self, setting: bytes, descriptors: list[int], threads: int, heard: queue.Queue[Any]) -> None:
        self.task: Task | None = None
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "podium.experiments.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=descriptors,
            env=_environment(threads),
            process_group=0,  # Ctrl-C is for the one who started it, who ends this one
        )
        self._say(setting)
        threading.Thread(target=self._listen, args=(self.process.stdout, heard), daemon=True).start()

    def begin(self, task: Task, key: str) -> None:
        """Ask for a task."""
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
            pass  # it is dead, which whoever listens will hear

    def _listen(self, stream: IO[bytes], heard: queue.Queue[Any]) -> None:
        try:
            for line in stream:
                heard.put((self, json.loads(line)))
        except ValueError:
            pass  # closed, or cut off in the middle of a line
        heard.put((self, None))


def run_on_pool(
    plan: Plan, store: Store, next_task: Callable[[], Task | None], *, jobs: int, detailed: bool
) -> Iterator[Note]:
    """Do tasks on so many processes, and say how far each one is.

    `following` gives the next task, None where there is none left. A task whose process dies has failed; another
    process takes its place.
    """
    heard: queue.Queue[tuple[Worker, dict[str, Any] | None]] = queue.Queue()
    threads = max(1, default_threads() // jobs)
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in plan.folds]
        descriptors = [file.fileno() for file in files]
        setting = {
            "folds": [(file.fileno(), share(fold, file)) for fold, file in zip(plan.folds, files, strict=True)],
            "methods": plan.methods,
            "metrics": [str(metric) for metric in plan.metrics],
            "seeds": plan.seeds,
            "search": repr(plan.search),
            "folder": os.fspath(store.folder.absolute()),
            "detailed": detailed,
        }

        def start() -> Worker:
            worker = Worker(json.dumps(setting).encode(), descriptors, threads, heard)
            stack.callback(worker.end)
            return worker

        at_work = {start() for _ in range(jobs)}
        while at_work:
            worker, words = heard.get()
            if worker not in at_work:
                continue  # it was told to end
            if words is None:
                at_work.discard(worker)
                yield _died(worker)
                at_work.add(start())
            elif "share" in words:
                yield Note(_task(worker), words["share"])
            else:
                if "ready" not in words:
                    yield Note(_task(worker), 1.0, True, words.get("failed"), words.get("traceback"))
                worker.task = next_task()
                if worker.task is None:
                    at_work.discard(worker)
                    worker.end()
                else:
                    worker.begin(worker.task, plan.key(worker.task))


def _task(worker: Worker) -> Task:
    assert worker.task is not None, "it answers only when asked"
    return worker.task


def _died(worker: Worker) -> Note:
    code = worker.process.wait()
    how = f"ended with exit code {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"
    if worker.task is None:
        raise PodiumError(
            f"A worker process {how} before it could work. Use one job, where errors show where they are."
        )
    memory = ", as happens when memory runs out; use fewer jobs" if code == -signal.SIGKILL else ""
    return Note(worker.task, 1.0, True, f"its process {how}{memory}.")


def _environment(threads: int) -> dict[str, str]:
    """The environment of a worker: its share of the cores, and the modules that are known here."""
    return {
        **os.environ,
        **dict.fromkeys(_THREADS, str(threads)),
        "PYTHONPATH": os.pathsep.join(place or os.getcwd() for place in sys.path),
    }


_THREADS = ("PODIUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
