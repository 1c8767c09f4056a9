"""Predicted grades for `podium rank --format grades` and `podium evaluate --grades`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podium.base.errors import ParameterError
from podium.cli import console
from podium.cli.documents import read_documents

if TYPE_CHECKING:
    from podium.data.table import Table
    from podium.model import Model


def grade_lines(model: Model, documents: Table, thresholds: str | None) -> list[str]:
    """A predicted grade per line, in the order of the data; `thresholds` is labelled data to learn them from."""
    if thresholds is not None:
        model = model.with_thresholds(read_documents(thresholds, model))
    return [f"{grade:g}\n" for grade in model.grades(documents).tolist()]


def evaluate_grades(data: str, files: list[str], *, others: bool, as_json: bool) -> None:
    """Print how near the predicted grades of each file are to the labels of data; `others`: other options are set."""
    from podium.evaluation.grades import evaluate_grades
    from podium.evaluation.text_tables import format_value
    from podium.formats import read_data
    from podium.formats.folder import is_table
    from podium.formats.scores_file import read_scores

    if others:
        raise ParameterError("--grades compares documents one by one: only --json goes with it.")
    labelled = read_data(data, features=[]) if is_table(data) else read_data(data)
    results = {name: evaluate_grades(labelled, read_scores(name, labelled)) for name in files}
    if as_json:
        report = {name: result.to_dict() for name, result in results.items()}
        console.print_json(next(iter(report.values())) if len(report) == 1 else {"files": report})
        return
    rows = [
        [name, *map(format_value, (of.mae, of.accuracy, of.quadratic_kappa)), str(of.documents)]
        for name, of in results.items()
    ]
    console.print_table(["file", "mae", "accuracy", "quadratic-kappa", "documents"], rows)
