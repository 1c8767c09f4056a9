"""`podium train`: read training data and validation data, or hold validation data out."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from podium.base.errors import DataError, ParameterError, PodiumWarning
from podium.cli import console
from podium.cli.train_base import with_base
from podium.cli.train_clicks import weigh

if TYPE_CHECKING:
    from podium.clicks import Weighing
    from podium.data.table import Table
    from podium.metrics import Metric

HELD_OUT = 0.2
"""Fraction of the queries to hold out by default."""
Parts = tuple["Table", "Table | None", str]
"""Training data, validation data, and where the latter comes from, in words."""


def read_parts(
    data: str,
    valid: str | None,
    *,
    roles: dict[str, Any],
    weighing: Weighing | None,
    metric: Metric,
    seed: int,
    base: str | None = None,
    needs_none: Callable[[Table], bool] = lambda _: False,
) -> Parts:
    """Read training and validation data; `valid` is a file, a fraction of the queries to hold out, or none.

    `base` is a file of scores or a model, to which the trained model's scores are to be added. `needs_none` says
    whether the method for the data learns from all queries, so that none is held out by default.

    By default a fraction is held out if the data has no validation part, unless `metric` cannot measure it. With
    `weighing`, training data has weights from clicks in place of grades, and so has validation data that is held out
    from it or that has no grades.
    """
    from podium.formats import read_data

    training, validation = _read(data, roles)
    fraction = _fraction(valid)
    if valid is not None and valid != "none" and fraction is None:
        validation = read_data(valid, n_features=training.n_features, **roles)
    for part in (training, validation):
        _say_if_one_query(part)
    if base is not None:
        training, validation = with_base(base, training, validation)
    learned = training if weighing is None else weigh(weighing, training, to_learn=True)
    if valid == "none":
        return learned, None, "none"
    if valid is None and validation is None and needs_none(learned):
        return learned, None, "by cross-validation"
    if fraction is not None or validation is None:
        judged = training if weighing is None else _by_clicks(weighing, training)
        return _held_out(learned, judged, fraction, metric=metric, seed=seed)
    if weighing is not None and not _has_grades(validation):
        validation = weigh(weighing, validation, to_learn=False)
    return learned, validation, str(validation.source)


def _has_grades(data: Table) -> bool:
    """Whether some document is judged relevant; LETOR files write 0 for unjudged ones."""
    return data.labels is not None and bool((data.labels > 0).any())


def _by_clicks(weighing: Weighing, data: Table) -> Table:
    """The data to measure by clicks; what is worth a warning was said when it was weighted to learn from."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PodiumWarning)
        return weighing.validation(data).data


def _held_out(learned: Table, judged: Table, asked: float | None, *, metric: Metric, seed: int) -> Parts:
    """Hold out a fraction of the queries, if enough of them can decide between rankers by their grades or clicks."""
    from podium.data.splits import LEAST_DECIDING, deciding, parts_of, queries_to_hold_out

    whole, fraction = judged.grouped(), HELD_OUT if asked is None else asked
    if whole.labels is None and whole.document_weights is None:
        if asked is not None:
            raise ParameterError("--valid: preferences have no labels to measure by. Leave it out, or give a file.")
        return learned, None, "none, since there are no labels to measure by"
    decides = deciding(whole)
    queries = queries_to_hold_out(whole, fraction, decides, seed=seed)
    if queries is None:
        what = "documents of different labels" if whole.document_weights is None else "clicks"
        few = f"{decides.sum()} of {whole.n_queries} queries have {what}"
        return learned, None, f"none, since {few}, and {LEAST_DECIDING} are needed to hold some out"
    training, held = parts_of(learned.grouped(), queries)[0], parts_of(whole, queries)[1]
    why = None if asked is not None else _unmeasurable(held, metric)
    if why is not None:
        return learned, None, f"none, since {why}"
    by = f"--valid {fraction:g}{' (the default)' if asked is None else ''}"
    return training, held, f"{held.n_queries} of {whole.n_queries} queries of {whole.source}, held out by {by}"


def _unmeasurable(held: Table, metric: Metric) -> str | None:
    """Why a metric cannot measure validation data; None if it can."""
    import numpy as np

    from podium.solvers import mean_metric

    if held.labels is None:
        return None  # document weights have a metric of their own
    try:  # any scores will do
        value = mean_metric(metric, np.arange(held.n_documents, 0.0, -1.0), held.grouped())
    except DataError as error:
        return f"{metric} cannot measure these labels ({str(error).rstrip('.')})"
    return f"nothing is relevant by {metric}" if np.isnan(value) else None


def _read(data: str, roles: dict[str, Any]) -> tuple[Table, Table | None]:
    """Read a file, or the parts of a folder; `roles` name the columns of tables."""
    from pathlib import Path

    from podium.formats import read_data, read_folder
    from podium.formats.folder import is_data_folder

    if not is_data_folder(data):
        return read_data(data, **roles), None
    folds = read_folder(data, **roles)
    if len(folds) > 1:
        raise DataError(
            f"has {len(folds)} folds. Train on one, e.g. {Path(data) / folds[0].name}, or use podium compare.",
            where=data,
        )
    return folds[0].train, folds[0].valid


def _say_if_one_query(part: Table | None) -> None:
    if part is not None and part.n_queries == 1 and part.n_documents > 1:
        console.say(
            f"warning: {part.source}: all {part.n_documents} documents are one query. Documents are compared "
            "within their query; if these are of several, add qid:… to every line."
        )


def _fraction(valid: str | None) -> float | None:
    """The fraction that a text such as 0.2 or 20% says; None if it is none or a file."""
    match = re.fullmatch(r"(\d++(?:\.\d*+)?|\.\d++)\s*+(%?)", valid or "")
    if match is None:
        return None
    fraction = float(match[1]) / (100.0 if match[2] else 1.0)
    if not 0.0 < fraction < 1.0:
        raise ParameterError(
            f"--valid {valid}: a fraction of the queries is above 0 and below 1, e.g. 0.2 or 20%. For no validation "
            f"data, give none; for a file of that name, ./{valid}."
        )
    return fraction
