"""Results folder of a comparison: outcomes and models of finished tasks, so that an interrupted one can be resumed.

DIR/runs/FOLD-METHOD.json       the outcome, with a key of everything that it depends on
DIR/models/FOLD-METHOD.podium   the model

A seed other than 0 is part of the name: FOLD-METHOD-seed3. Files are written aside and renamed; half-written files of a
killed process are removed when the folder is locked next.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from podium.base.errors import DataError
from podium.base.files import claimed, sweep, write_aside
from podium.comparison.plan import Task
from podium.evaluation.compare import Outcome


class Store:
    """Outcomes on disk. An outcome is reused if its key is the same, and neither it nor its model file has changed."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        for part in ("runs", "models"):
            try:
                (self.folder / part).mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise DataError(f"cannot be made a folder: {error.strerror}.", where=str(self.folder / part)) from error

    def read(self, task: Task, key: str) -> Outcome | None:
        """Read the outcome of a task, without its model; None if it is missing, or has another key."""
        try:
            kept = json.loads(self._run(task).read_bytes())
            if kept["key"] != key or kept["model"] != _hash(self.model(task)) or kept.pop("sum") != _sum(kept):
                return None
            values = np.array(kept["values"], np.float64)  # null becomes NaN
            return Outcome(
                method=task.method,
                fold=task.fold,
                learner=kept["learner"],
                info=kept["info"],
                seconds=kept["provenance"]["seconds"],
                query_ids=tuple(kept["query_ids"]),
                values=values.reshape(-1, len(kept["query_ids"])),
                model=None,
                details=kept.get("details", {}),
                seed=task.seed,
                provenance=kept["provenance"],
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, task: Task, key: str, outcome: Outcome) -> None:
        """Write an outcome, its model first, so that an outcome on disk is complete."""
        assert outcome.model is not None
        outcome.model.save(self.model(task))
        kept = {
            "key": key,
            "method": task.method,
            "fold": task.fold,
            "seed": task.seed,
            "learner": outcome.learner,
            "model": _hash(self.model(task)),
            "info": outcome.info,
            "query_ids": outcome.query_ids,
            "values": [[None if np.isnan(v) else v for v in row] for row in outcome.values.tolist()],
            "details": outcome.details,
            "provenance": outcome.provenance,
        }
        kept["sum"] = _sum(kept)
        with write_aside(self._run(task)) as file:
            file.write(json.dumps(kept, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace"))

    def model(self, task: Task) -> Path:
        """Path of a task's model."""
        return self.folder / "models" / f"{file_stem(task)}.podium"

    def _run(self, task: Task) -> Path:
        return self.folder / "runs" / f"{file_stem(task)}.json"


@contextmanager
def locked(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Lock a folder, and remove the half-written files of killed processes."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    with claimed(place):
        for part in ("", "runs", "models"):
            sweep(place / part)
        yield


def file_stem(task: Task) -> str:
    """File name of a task; if characters are replaced, a hash is added, so that names stay unique."""
    text = f"{task.fold}-{task.method}" + (f"-seed{task.seed}" if task.seed else "")
    safe = re.sub(r"[^A-Za-z0-9._=-]+", "-", text).strip("-.")[:80]
    return safe if safe == text else f"{safe}-{hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


def _sum(kept: dict[str, Any]) -> str:
    """Hash of an outcome, as in its file."""
    return hashlib.sha256(json.dumps(kept).encode()).hexdigest()


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
