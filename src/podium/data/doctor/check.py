"""The data doctor: find problems in data that spoil training or evaluation; say where, why, and what to do.

>>> from podium.data.synthetic import make_letor_like
>>> data, _ = make_letor_like(50)
>>> check({"train": data})
[]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from podium.base.arrays import Ints
from podium.data.dataset import Dataset
from podium.data.inputs import labelled_data

Level = Literal["error", "warning", "note"]
_MANY = 1000  # documents that make a lone query suspicious
_EXAMPLES = 5


@dataclass(frozen=True)
class Finding:
    """A problem in the data. An error spoils results, a warning may, a note is for information."""

    level: Level
    code: str
    title: str
    where: str
    why: str
    todo: str
    examples: tuple[str, ...] = ()


def check(datasets: object) -> list[Finding]:
    """List the problems of a dataset or frame, or of several by name (train, valid, test…), errors first.

    `datasets`: a dataset or frame, or a dictionary of them by name, between which leaks are found too.
    """
    from podium.data.doctor.check_features import between_parts, feature_findings
    from podium.data.doctor.check_kernels import Summary

    named = datasets if isinstance(datasets, Mapping) else {"data": datasets}
    tables = {name: labelled_data(data) for name, data in named.items()}
    parts = [(name, data, Summary(data.features)) for name, data in tables.items()]
    findings: list[Finding] = []
    for name, data, seen in parts:
        findings += [*query_findings(name, data), *label_findings(name, data), *feature_findings(name, data, seen)]
    for first, second in combinations(parts, 2):
        findings += between_parts(first, second)
    return sorted(findings, key=lambda finding: ("error", "warning", "note").index(finding.level))


def query_findings(name: str, data: Dataset) -> Iterator[Finding]:
    """Problems of queries: a single one, of one document, or with scattered rows."""
    if data.n_queries == 1 and data.n_documents > 1:
        yield Finding(
            "error" if data.n_documents > _MANY else "warning",
            "one-query",
            f"All {data.n_documents} documents are one query.",
            name,
            "Documents are compared within their query only; with one query, everything is compared with everything, "
            "and nothing can be held out.",
            "Add qid:… to every line, or put the sizes of the queries into a side file ending in .query.",
        )
    single = np.flatnonzero(data.sizes == 1)
    if len(single):
        yield Finding(
            "warning" if 2 * len(single) > data.n_queries else "note",
            "single-document",
            f"{len(single)} of {data.n_queries} queries have one document.",
            name,
            "There is nothing to order in them: they teach nothing, and metrics are trivial on them.",
            "Drop them, or check that qid is the query and not the document.",
            examples(data, single),
        )
    if data.rows is not None:
        yield Finding(
            "note",
            "scattered-queries",
            "The rows of some queries are not adjacent.",
            name,
            "podium puts them together and gives scores back in the order of the file; other tools may take each "
            "piece for another query.",
            "Nothing for podium; sort the file by query for other tools.",
        )


def label_findings(name: str, data: Dataset) -> Iterator[Finding]:
    """Problems of labels: too few grades, odd ones, queries with one grade only."""
    if data.labels is None:
        if data.preferences is None:
            yield Finding(
                "note",
                "no-labels",
                "There are no labels and no preferences.",
                name,
                "The data can be ranked, but not learned from or evaluated on.",
                "Add labels if this data is meant for training or evaluation.",
            )
        return
    data = data.judged()
    if data.n_documents == 0:
        return
    assert data.labels is not None, "of judged documents"
    if data.labels.min() == data.labels.max():
        yield Finding(
            "error" if data.preferences is None else "note",
            "one-grade",
            f"Every label is {data.labels[0]:g}.",
            name,
            "Without two different grades no order is better than another.",
            "Check that the label is the first column, or read the right file.",
        )
        return
    yield from _queries_without_contrast(name, data)
    yield from _odd_labels(name, data)


def examples(data: Dataset, queries: Ints) -> tuple[str, ...]:
    """Names of the first few queries."""
    return tuple(f"query {data.query_name(int(q))}" for q in queries[:_EXAMPLES])


def _queries_without_contrast(name: str, data: Dataset) -> Iterator[Finding]:
    assert data.labels is not None
    filled = np.flatnonzero(data.sizes > 0)
    low = np.minimum.reduceat(data.labels, data.offsets[filled])
    high = np.maximum.reduceat(data.labels, data.offsets[filled])
    flat = filled[(low == high) & (data.sizes[filled] > 1)]
    if len(flat):
        yield Finding(
            "warning" if 2 * len(flat) > data.n_queries else "note",
            "single-label",
            f"{len(flat)} of {data.n_queries} queries have the same label on all documents.",
            name,
            "No order of them is better than another. Metrics skip a query without a relevant document or give it a "
            "fixed value, so means over queries depend on the convention.",
            "Keep them if they are real; compare results only under one convention.",
            examples(data, flat),
        )


def _odd_labels(name: str, data: Dataset) -> Iterator[Finding]:
    assert data.labels is not None
    top, bottom = data.labels.max(), data.labels.min()
    if top > 20:
        yield Finding(
            "error" if top > 1000 else "warning",
            "large-labels",
            f"The largest label is {top:g}; its gain 2^y − 1 is {'beyond numbers' if top > 1000 else f'{2**top:.2g}'}.",
            name,
            "One such document outweighs all others in NDCG and in losses that use it.",
            "Map labels to a few grades (0 to 4), or use a metric with linear gain.",
        )
    if bottom < 0:
        yield Finding(
            "warning",
            "negative-labels",
            f"The smallest label is {bottom:g}.",
            name,
            "Its gain 2^y − 1 is negative: NDCG leaves the range 0 to 1, and other tools refuse it.",
            "Shift labels so that the worst is 0.",
        )
    broken = np.flatnonzero(data.labels != np.rint(data.labels))
    if len(broken):
        yield Finding(
            "note",
            "fractional-labels",
            f"{len(broken)} of {data.n_documents} labels are not whole numbers.",
            name,
            "That is fine for podium; metrics with a relevance threshold and other tools expect grades.",
            "Nothing, or round them to grades.",
            tuple(f"{label:g}" for label in data.labels[broken[:_EXAMPLES]]),
        )
