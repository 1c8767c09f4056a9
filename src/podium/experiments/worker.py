"""Worker: a process that does tasks of an experiment one after the other; `podium.experiments.pool` starts it.

Standard input brings lines of JSON: first the setting, then a task each. Standard output takes lines of JSON back:
{"ready": true}, then of each task {"share": 0.4} from time to time, and {"done": true} or {"failed": …} at its end.
What came out is in the store by then. When standard input ends, so does this process, in the middle of work or not:
so none is left over when whoever started it was killed.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
import traceback
from typing import Any, BinaryIO

from podium.experiments.plan import Plan, Task
from podium.experiments.run_task import error_text, work
from podium.experiments.sharing import opened
from podium.experiments.store import Store
from podium.metrics import Metric
from podium.search import Search

_PAUSE = 0.1
"""Seconds between two notes of how far a task is."""


def main() -> None:
    """Do what standard input asks for."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between the answers
    lines: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, lines), daemon=True).start()
    setting = json.loads(lines.get())
    plan = _plan(setting)
    store = Store(setting["folder"])
    _say(answers, ready=True)
    while True:
        asked = json.loads(lines.get())
        _do(plan, Task(**asked["task"]), store, key=asked["key"], detailed=setting["detailed"], answers=answers)


def _read(stream: BinaryIO, lines: queue.Queue[bytes]) -> None:
    for line in stream:
        lines.put(line)
    os._exit(0)


def _plan(setting: dict[str, Any]) -> Plan:
    return Plan(
        folds=tuple(opened(descriptor, about) for descriptor, about in setting["folds"]),
        methods=tuple(setting["methods"]),
        metrics=tuple(map(Metric.parse, setting["metrics"])),
        seeds=tuple(setting["seeds"]),
        search=Search.parse(setting["search"]),
    )


def _do(plan: Plan, task: Task, store: Store, *, key: str, detailed: bool, answers: BinaryIO) -> None:
    told = time.monotonic()

    def tell(share: float) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told > _PAUSE:
            told = now
            _say(answers, share=share)

    try:
        store.write(task, key, work(plan, task, detailed=detailed, tell=tell))
    except Exception as error:
        _say(answers, failed=error_text(error), traceback=traceback.format_exc())
    else:
        _say(answers, done=True)


def _say(answers: BinaryIO, **words: Any) -> None:
    answers.write(json.dumps(words).encode() + b"\n")
    answers.flush()


if __name__ == "__main__":
    main()
