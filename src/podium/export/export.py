"""Export a model to a target, with a proof and test vectors; prove a file that was exported earlier."""

from __future__ import annotations

import os
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from podium.base.errors import ModelFileError
from podium.base.files import write_aside
from podium.data.inputs import unlabelled_table
from podium.data.table import Table
from podium.export.base import Target
from podium.export.proof import Proof
from podium.export.prove import prove
from podium.export.replay_vectors import lines
from podium.imports import MOST_BYTES
from podium.model import Model


def export(
    model: Model,
    target: str | Target,
    path: str | PathLike[str],
    *,
    data: object = None,
    feature_names: Sequence[str] | None = None,
) -> Proof:
    """Export a model to a target: writes `path`, and `path`.vectors.jsonl with test vectors to replay in the engine.

    `data` are documents whose rankings are compared: a Dataset, a frame or an array of features. `feature_names` are
    the engine's, in the order of the model's features. If the proof does not hold, the file is called `path`.unproven
    instead. A model that the target cannot express raises an error before anything is written.
    """
    chosen = Target.parse(target) if isinstance(target, str) else target
    exportable = chosen.accept(model, names=None if feature_names is None else tuple(feature_names))
    documents = None if data is None else _documents(model, data)
    raw = chosen.write(exportable)
    proof = prove(exportable, raw, chosen, data=documents)
    name = os.fspath(path)
    with write_aside(name if proof.holds else f"{name}.unproven") as file:
        file.write(raw)
    if proof.holds:
        Path(f"{name}.unproven").unlink(missing_ok=True)  # of an earlier export
    with write_aside(f"{name}.vectors.jsonl") as file:
        scored = np.isfinite(proof.scores)  # podium refuses the others
        file.writelines(line.encode() for line in lines(proof.rows[scored], proof.scores[scored]))
    return proof


def prove_file(
    model: Model,
    target: str | Target,
    path: str | PathLike[str],
    *,
    data: object = None,
    feature_names: Sequence[str] | None = None,
) -> Proof:
    """Prove an existing file, as `export` does; nothing is written."""
    chosen = Target.parse(target) if isinstance(target, str) else target
    exportable = chosen.accept(model, names=None if feature_names is None else tuple(feature_names))
    if os.path.getsize(path) > MOST_BYTES:
        raise ModelFileError(f"{path}: larger than {MOST_BYTES} bytes, which is the most that is read.")
    with open(path, "rb") as file:
        raw = file.read()
    return prove(exportable, raw, chosen, data=None if data is None else _documents(model, data))


def _documents(model: Model, data: object) -> Table:
    return unlabelled_table(data, features=model.feature_names, per_query=model.learner.per_query)
