"""Progress of a running comparison on standard error: the data that is read, then a bar over its tasks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from podium.base.errors import counted
from podium.cli import console, progress
from podium.comparison import Observer, Spec, TaskEvent
from podium.data import Dataset, Fold
from podium.evaluation.compare import Comparison
from podium.formats.folder import is_data_folder


class Watching(Observer):
    """Shows the progress of a spec, and calls `show` with each finished comparison."""

    def __init__(self, spec: Spec, show: Callable[[str, Comparison], None]) -> None:
        self._spec, self._show, self._stack = spec, show, ExitStack()
        self._name, self._total = "", 0
        self._count = dict.fromkeys(("kept", "done", "failed"), 0)
        self._bar: progress.Bar | None = None

    def __enter__(self) -> Watching:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        running = self._bar is not None
        self._end_bar()
        if kind is not None and issubclass(kind, KeyboardInterrupt) and running and self._spec.output is not None:
            done, folder = self._count["kept"] + self._count["done"], self._spec.folder(self._name)
            console.say(f"{done} of {self._total} are kept in {folder}; the same command goes on from there.")

    def reading(self, name: str, place: str) -> None:
        self._stack.enter_context(progress.reading(place))

    def read(self, name: str, folds: list[Fold]) -> None:
        self._stack.close()
        describe(folds, self._spec.datasets[name])
        self._name, self._count = name, dict.fromkeys(self._count, 0)
        self._total = len(folds) * len(self._spec.methods) * len(self._spec.seeds)
        self._bar = self._stack.enter_context(progress.progress_bar(self._total))

    def task(self, event: TaskEvent) -> None:
        assert self._bar is not None, "tasks run after their data is read"
        if event.state == "compiling":
            self._bar.compiling(event.task.method)
        self._bar.put(str(event.task), event.share, finished=event.ended, skipped=event.state == "kept")
        if event.ended:
            self._count[event.state] += 1

    def compared(self, name: str, comparison: Comparison) -> None:
        self._end_bar()
        self._show(name, comparison)

    def _end_bar(self) -> None:
        self._stack.close()
        if self._bar is not None and self._count["kept"]:
            folder = self._spec.folder(self._name)
            console.say(f"{self._count['kept']} of {self._total} were found in {folder} and not done again.")
        self._bar = None


def describe(folds: list[Fold], data: str) -> None:
    """Print the sizes of the data: of several folds the number of different test queries, and the sizes of each."""
    parts: dict[str, list[Dataset | None]] = {
        "train": [fold.train for fold in folds],
        "valid": [fold.valid for fold in folds],
        "test": [fold.test for fold in folds],
    }
    sizes = [f"{part} {_between([0 if d is None else d.n_queries for d in of])}" for part, of in parts.items()]
    features = counted(folds[0].train.n_features, "feature")
    if len(folds) > 1:
        different = {part.query_name(q) for part in parts["test"] if part is not None for q in range(part.n_queries)}
        queries = counted(len(different), "query", "queries")
        console.say(f"{data}: {queries}, {len(folds)} folds, each with {', '.join(sizes)}; {features}")
    else:
        split = "" if is_data_folder(data) else ", split by query 60/20/20"
        console.say(f"{data}: 1 fold{split}; queries: {', '.join(sizes)}; {features}")
    if any(fold.valid is None for fold in folds):
        console.say("no validation data: every method keeps its default hyperparameters, none is tuned.")


def _between(sizes: list[int]) -> str:
    """The smallest and the largest of some sizes."""
    return str(sizes[0]) if min(sizes) == max(sizes) else f"{min(sizes)}–{max(sizes)}"
