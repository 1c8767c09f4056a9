"""Worker process that runs tasks of a comparison one after the other; `podium.comparison.pool` starts it.

Standard input has lines of JSON: first the setting, then one task each. Standard output has lines of JSON too:
{"ready": true}, or {"unknown": …} if a method of the setting is not registered here; then the fields of each
`TaskEvent`. A finished task is then in the results folder.
"""

from __future__ import annotations

import sys
import time
import traceback
import warnings
from typing import Any

from podium.base.errors import ParameterError, PodiumError
from podium.base.json_process import Parent
from podium.comparison.plan import Plan, Task
from podium.comparison.results_folder import Store
from podium.comparison.run_task import error_text, run_task
from podium.comparison.sharing import open_shared
from podium.jit.compiled import on_long_compilation
from podium.methods import method
from podium.metrics import Metric
from podium.tuning import Tuning

_PAUSE = 0.1
"""Seconds between two reports of progress."""


def main() -> None:
    """Run the tasks of standard input."""
    warnings.showwarning = lambda message, *_: print(f"warning: {message}", file=sys.stderr)
    parent = Parent()
    setting = parent.receive()
    try:
        plan = _plan(setting)
    except PodiumError as error:
        parent.send(unknown=str(error))
        return
    store = Store(setting["folder"])
    parent.send(ready=True)
    while True:
        request = parent.receive()
        _run(plan, Task(**request["task"]), store, key=request["key"], detailed=setting["detailed"], parent=parent)


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


def _run(plan: Plan, task: Task, store: Store, *, key: str, detailed: bool, parent: Parent) -> None:
    last = time.monotonic()

    def report(share: float, _: str = "", /) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > _PAUSE:
            last = now
            parent.send(state="running", share=share)

    try:
        with on_long_compilation(lambda: parent.send(state="compiling", share=0.0)):
            store.write(task, key, run_task(plan, task, detailed=detailed, progress=report))
    except Exception as error:
        parent.send(state="failed", error=error_text(error), traceback=traceback.format_exc())
    else:
        parent.send(state="done")


if __name__ == "__main__":
    main()
