"""Labelling: put judgments into data as labels, and keep what is not judged as such.

>>> from podium.data.dataset import Dataset
>>> data = Dataset.from_arrays([[1.0], [2.0], [3.0]], qid=["q", "q", "q"], document_ids=["a", "b", "c"])
>>> votes = Judgments.from_rows(["q", "q"], ["a", "c"], ["ann", "ann"], [2, 0])
>>> labelled(data, votes).data.labels.tolist()
[2.0, nan, 0.0]
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from podium.base.errors import DataError
from podium.base.files import writing
from podium.data.frames import columns_of
from podium.data.table import Table
from podium.formats.letor.letor import write_letor
from podium.judgments.consensus import How, consensus
from podium.judgments.judgment_files import judgments_from
from podium.judgments.judgments import Judgments


@dataclass(frozen=True, eq=False)
class Labelled:
    """Data with labels of judges."""

    data: Table
    judged: int  # documents of the data with a judgment
    changed: int  # of these, with another label before
    absent: int  # judged documents that the data does not have


def judgments_of_files(paths: Sequence[str]) -> Judgments:
    """The judgments of several files together."""
    parts = [judgments_from(path) for path in paths]
    if len(parts) == 1:
        return parts[0]
    rows = [
        (*names[item], part.judges[judge], grade)
        for part in parts
        for names in [part.item_names()]
        for item, judge, grade in zip(part.items, part.judge_of, part.grades, strict=True)
    ]
    return Judgments.from_rows(*(list(column) for column in zip(*rows, strict=True)), source=", ".join(paths))


def labelled(data: Table, judgments: Judgments, how: How = "majority") -> Labelled:
    """Set the consensus of the judges as labels; documents without a judgment keep their label, or have none (NaN)."""
    labels = consensus(judgments, how).with_labels(data, unjudged=np.nan).labels
    assert labels is not None, "set above"
    before = np.full(data.n_documents, np.nan) if data.labels is None else data.labels
    judged = ~np.isnan(labels)
    if not judged.any():
        query, document = judgments.item_names()[0]
        raise DataError(
            f"no judgment is of a document of {data.source or 'the data'}; the first is of {document!r} of query "
            f"{query!r}. Judgments are joined by query and document ids.",
            where=judgments.source,
        )
    changed = int((judged & ~np.isnan(before) & (before != labels)).sum())
    named = {(data.query_name(q), data.document_name(row)) for row, q in enumerate(data.query_index.tolist())}
    absent = sum(name not in named for name in judgments.item_names())
    return Labelled(replace(data, labels=np.where(judged, labels, before)), int(judged.sum()), changed, absent)


def write_labelled(data: Table, path: str) -> None:
    """Write data as CSV if the path ends in .csv, otherwise as LETOR; a missing label is empty, or nan."""
    if not path.lower().endswith(".csv"):
        write_letor(data, path)
        return
    columns = columns_of(data)
    text = io.StringIO()
    sheet = csv.writer(text, lineterminator="\n")
    sheet.writerow(columns)
    cells = [["" if value != value else value for value in column] for column in columns.values()]
    sheet.writerows(zip(*cells, strict=True))
    with writing(path) as file:
        file.write(text.getvalue().encode("utf-8", "surrogateescape"))
