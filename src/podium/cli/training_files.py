"""Training and validation data of a command: files, or a folder with both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podium.cli import console

if TYPE_CHECKING:
    from podium.data.table import Table


def read_training(data: str, valid: str | None, roles: dict[str, Any]) -> tuple[Table, Table | None]:
    """Read training data, and validation data if there is any; `roles` name the columns of tables."""
    from pathlib import Path

    from podium.base.errors import DataError
    from podium.formats import read_data, read_folder
    from podium.formats.folder import is_data_folder

    validation: Table | None = None
    if is_data_folder(data):
        folds = read_folder(data, **roles)
        if len(folds) > 1:
            raise DataError(
                f"has {len(folds)} folds. Train on one, e.g. {Path(data) / folds[0].name}, or use podium compare.",
                where=data,
            )
        training: Table = folds[0].train
        validation = folds[0].valid
    else:
        training = read_data(data, **roles)
    if valid is not None:
        validation = read_data(valid, n_features=training.n_features, **roles)
    for part in (training, validation):
        if part is not None and part.n_queries == 1 and part.n_documents > 1:
            console.say(
                f"warning: {part.source}: all {part.n_documents} documents are one query. Documents are compared "
                "within their query; if these are of several, add qid:… to every line."
            )
    return training, validation
