"""Requirements of learners on data: each check raises a clear error before work starts."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import DataError, IncompatibleError
from podium.data.dataset import Dataset


def needs_grades(data: Dataset, who: str) -> Array:
    """Require at least two grades; returns the distinct grades, ascending."""
    if data.labels is None:
        has = "only preferences" if data.preferences is not None else "neither labels nor preferences"
        raise IncompatibleError(
            f"{who} learns from grades, but the data has {has}. Use data with labels"
            + (", or a pairwise method such as ranknet or rankboost." if data.preferences is not None else ".")
        )
    grades = np.unique(data.labels)
    if len(grades) < 2:
        problem = f"all {data.n_documents} documents have grade {grades[0]:g}" if len(grades) else "there are none"
        raise DataError(f"{who} needs documents of at least two grades, but {problem}.", where=data.source)
    return grades


def needs_pairs(data: Dataset, who: str) -> None:
    """Require at least one preference, explicit or between two grades of a query."""
    if data.preferences is not None:
        if len(data.preferences) == 0:
            raise DataError(f"{who} learns from preferences, but the list of them is empty.", where=data.source)
        return
    needs_grades(data, who)
    assert data.labels is not None
    if not (np.diff(data.labels)[np.diff(data.query_index) == 0] != 0).any():
        raise DataError(
            f"{who} compares documents of different grades, but no query has two grades. "
            "Check that the query ids are right.",
            where=data.source,
        )


def needs_weights(data: Dataset, who: str) -> None:
    """Require at least one document with a weight in a query with other documents."""
    weighted = np.flatnonzero(data.relevance())
    if not (data.sizes[data.query_index[weighted]] > 1).any():
        raise DataError(
            f"{who} learns from documents with a weight, but none has one beside other documents of its query. "
            "Check the document weights and the query ids.",
            where=data.source,
        )


def needs_relevance(data: Dataset, who: str, *, relevant: float) -> None:
    """Require at least one query with a document of grade `relevant` or more and one below."""
    grades = needs_grades(data, who)
    assert data.labels is not None
    good = np.add.reduceat(data.labels >= relevant, data.offsets[:-1][data.sizes > 0])
    if ((good > 0) & (good < data.sizes[data.sizes > 0])).any():
        return
    raise DataError(
        f"{who} needs binary labels, made by calling a grade of at least relevant={relevant:g} relevant; then no query "
        f"has both relevant and other documents (grades go from {grades[0]:g} to {grades[-1]:g}). Set relevant to the "
        "least grade that should count.",
        where=data.source,
    )


def needs_no_weights(data: Dataset, who: str) -> None:
    """Require data without query weights."""
    if data.query_weights is not None:
        raise IncompatibleError(
            f"{who} has no query weights: each of its updates is a whole step. Remove them, or use oc-svm."
        )
