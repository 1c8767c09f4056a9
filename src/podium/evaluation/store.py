"""Store: the finished parts of a comparison in a folder, so that an interrupted one goes on where it ended.

DIR/runs/FOLD-METHOD.json       what came out, under a key of everything that it depends on
DIR/models/FOLD-METHOD.podium   the model
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.data.dataset import Dataset
from podium.data.folder import Fold
from podium.errors import DataError
from podium.files import write_aside
from podium.methods import method
from podium.metrics import Metric
from podium.version import version

if TYPE_CHECKING:
    from podium.evaluation.compare import Outcome


class Store:
    """Outcomes on disk; one is found again when method, data, metrics, seed and podium's version are the same."""

    def __init__(self, folder: str | os.PathLike[str], metrics: Sequence[Metric], seed: int) -> None:
        self.folder, self.metrics, self.seed = Path(folder), tuple(metrics), seed
        self._digests: dict[int, str] = {}
        for part in ("runs", "models"):
            try:
                (self.folder / part).mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise DataError(f"cannot be made a folder: {error.strerror}.", where=str(self.folder / part)) from error

    def read(self, fold: Fold, name: str) -> dict[str, Any] | None:
        """The outcome of a method on a fold, without its model; None where it is not there or not the same."""
        run, model = self._paths(fold.name, name)
        try:
            kept = json.loads(run.read_bytes())
            if kept["key"] != self._key(fold, name) or kept["model"] != _hash(model):
                return None
            values = np.array(kept["values"], np.float64)  # null becomes NaN
            return {
                "learner": kept["learner"],
                "info": kept["info"],
                "seconds": kept["seconds"],
                "query_ids": tuple(kept["query_ids"]),
                "values": values.reshape(len(self.metrics), len(kept["query_ids"])),
                "details": kept.get("details", {}),
            }
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, fold: Fold, outcome: Outcome) -> None:
        """Keep an outcome: its model first, so that what is found is complete."""
        run, model = self._paths(fold.name, outcome.method)
        assert outcome.model is not None
        outcome.model.save(model)
        kept = {
            "key": self._key(fold, outcome.method),
            "method": outcome.method,
            "fold": fold.name,
            "learner": outcome.learner,
            "model": _hash(model),
            "seconds": outcome.seconds,
            "info": outcome.info,
            "metrics": [str(metric) for metric in self.metrics],
            "query_ids": outcome.query_ids,
            "values": [[None if np.isnan(v) else v for v in row] for row in outcome.values.tolist()],
            "details": outcome.details,
        }
        with write_aside(run) as file:
            file.write(json.dumps(kept, indent=1, ensure_ascii=False).encode())

    def _paths(self, fold: str, name: str) -> tuple[Path, Path]:
        stem = file_stem(fold, name)
        return self.folder / "runs" / f"{stem}.json", self.folder / "models" / f"{stem}.podium"

    def _key(self, fold: Fold, name: str) -> str:
        chosen = method(name)
        parts = [version(), name, repr(chosen.learner), repr(chosen.grid), str(self.seed)]
        parts += [metric.tag() for metric in self.metrics]
        parts += [self._digest(data) for data in (fold.train, fold.vali, fold.test)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def _digest(self, data: Dataset | None) -> str:
        if data is None:
            return "-"
        if id(data) not in self._digests:
            names = [None if ids is None else list(map(str, ids)) for ids in (data.query_ids, data.document_ids)]
            named = hashlib.sha256(json.dumps([names, data.feature_names]).encode()).hexdigest()
            self._digests[id(data)] = data.digest() + named
        return self._digests[id(data)]


def file_stem(fold: str, name: str) -> str:
    """A file name for a fold and a method; where characters had to go, a hash keeps it apart from others."""
    text = f"{fold}-{name}"
    safe = re.sub(r"[^A-Za-z0-9._=-]+", "-", text).strip("-.")[:80]
    return safe if safe == text else f"{safe}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
