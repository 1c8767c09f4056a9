"""Worker: a process that runs tasks of an experiment one after the other; `podium.experiments.pool` starts it.

Standard input brings lines of JSON: first the setting, then one task each. Standard output takes lines of JSON back:
{"ready": true}, or {"unknown": …} if a method of the setting is not known here; then for each task the fields of its
`TaskEvent`s. A finished task is in the store by then. The process ends when its standard input does, or on Linux when
its parent ends, even in the middle of work: so none is left over if the parent is killed.
"""

from __future__ import annotations

import ctypes
import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
import warnings
from contextlib import suppress
from typing import Any, BinaryIO

from podium.compiled import on_long_compilation
from podium.errors import ParameterError, PodiumError
from podium.experiments.plan import Plan, Task
from podium.experiments.run_task import error_text, run_task
from podium.experiments.sharing import open_shared
from podium.experiments.store import Store
from podium.methods import method
from podium.metrics import Metric
from podium.tuning import Tuning

_PAUSE = 0.1
"""Seconds between two reports of how far a task is."""


def main() -> None:
    """Run the tasks that standard input asks for."""
    end_with_parent(int(sys.argv[1]))
    answers = os.fdopen(os.dup(1), "wb")
    warnings.showwarning = lambda message, *_: print(f"warning: {message}", file=sys.stderr)
    os.dup2(2, 1)  # what a library prints must not come between the answers
    lines: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, lines), daemon=True).start()
    setting = json.loads(lines.get())
    try:
        plan = _plan(setting)
    except PodiumError as error:
        _say(answers, unknown=str(error))
        return
    store = Store(setting["folder"])
    _say(answers, ready=True)
    while True:
        asked = json.loads(lines.get())
        _run(plan, Task(**asked["task"]), store, key=asked["key"], detailed=setting["detailed"], answers=answers)


def end_with_parent(parent: int) -> None:
    """Let Linux kill this process when its parent ends; the thread that reads standard input may wait for the GIL."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before the call
            os._exit(0)


_PR_SET_PDEATHSIG = 1


def _read(stream: BinaryIO, lines: queue.Queue[bytes]) -> None:
    for line in stream:
        lines.put(line)
    os._exit(0)


def _plan(setting: dict[str, Any]) -> Plan:
    for name, learner in setting["methods"].items():
        if repr(method(name).learner) != learner:
            raise ParameterError(f"Method {name!r} is another one here: {method(name).learner!r}, not {learner}.")
    return Plan(
        folds=tuple(open_shared(descriptor, about) for descriptor, about in setting["folds"]),
        methods=tuple(setting["methods"]),
        metrics=tuple(map(Metric.parse, setting["metrics"])),
        seeds=tuple(setting["seeds"]),
        tune_by=Metric.parse(setting["tune_by"]),
        search=Tuning.parse(setting["search"]),
    )


def _run(plan: Plan, task: Task, store: Store, *, key: str, detailed: bool, answers: BinaryIO) -> None:
    told = time.monotonic()

    def tell(share: float) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told > _PAUSE:
            told = now
            _say(answers, state="running", share=share)

    try:
        with on_long_compilation(lambda: _say(answers, state="compiling", share=0.0)):
            store.write(task, key, run_task(plan, task, detailed=detailed, tell=tell))
    except Exception as error:
        _say(answers, state="failed", error=error_text(error), traceback=traceback.format_exc())
    else:
        _say(answers, state="done")


def _say(answers: BinaryIO, **words: Any) -> None:
    with _ANSWERING:
        answers.write(json.dumps(words).encode() + b"\n")
        answers.flush()


_ANSWERING = threading.Lock()


if __name__ == "__main__":
    main()
