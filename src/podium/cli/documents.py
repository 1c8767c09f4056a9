"""Read documents for a model, for several commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podium.cli import console

if TYPE_CHECKING:
    from podium.data.table import Table
    from podium.model import Model


def read_documents(source: str, model: Model, *, labels: bool = True, qid: str | None = None) -> Table:
    """Read data with as many features as the model; says so if a LETOR file has fewer.

    `qid` names the column of query ids of a table. Without `labels`, a table needs no column of labels.
    """
    from podium.data.inputs import widened
    from podium.formats import read_data
    from podium.formats.folder import is_table

    roles: dict[str, Any] = {} if qid is None else {"qid": qid}
    if is_table(source) and model.query_columns:
        roles["query_features"] = model.query_columns
    if is_table(source) and model.named_categories():
        roles["categorical"] = model.named_categories()
    if not labels and is_table(source) and model.feature_names is not None:
        roles |= {"label": None, "features": model.feature_names}
    data = read_data(source, **roles)
    if data.feature_names is not None or data.n_features >= model.n_features:
        return data
    console.say(
        f"{data.source}: only features up to {data.n_features} occur; the model was trained with {model.n_features}. "
        "The others count as 0."
    )
    return widened(data, model.n_features)


def say_if_seen(model: Model, data: Table) -> None:
    """Say if the model was trained on queries of this data: metrics on it say little about other data."""
    queries = model.seen(data)
    if queries.seen:
        console.say(
            f"note: {data.source}: the model was trained on {queries}; a metric here is of its own training data."
        )


def read_names(path: str | None) -> tuple[str, ...] | None:
    """Read names of features from a file, one per line; None without a file."""
    from podium.base.errors import DataError
    from podium.base.files import reading

    if path is None:
        return None
    with reading(path) as file:
        raw = file.read()
    try:
        return tuple(line.strip() for line in raw.decode().splitlines() if line.strip())
    except UnicodeDecodeError as error:
        raise DataError(
            f"not UTF-8 at byte {error.start + 1}. Save the names as UTF-8, one per line.", where=path
        ) from None
