"""Files of judgments: read and write tables of votes and qrels."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

from podium.base.errors import DataError
from podium.base.files import writing
from podium.formats.sniff import is_rows
from podium.formats.trec.judged_files import judgment_records
from podium.formats.trec.trec import Qrels, read_qrels, write_qrels
from podium.formats.usual_columns import usual_columns
from podium.judgments.judgments import Judgments, has_judge_columns, judgments_of
from podium.parsing.ids import Ids

JUDGE = "qrels"
"""Name of the judge of qrels, which do not name one."""


def judgments_from(
    path: str,
    *,
    query: str | None = None,
    document: str | None = None,
    judge: str | None = None,
    grade: str | None = None,
) -> Judgments:
    """Read votes of judges, or the qrels of one judge, from a table, JSON, or a TREC file.

    `query`, `document`, `judge` and `grade` name the columns of a table, if they have unusual names.
    """
    if is_rows(path):
        records, columns = (
            judgment_records(path),
            {"query": query, "document": document, "judge": judge, "grade": grade},
        )
        judges = usual_columns(list(records.columns), ("judge",), asked=columns, optional=("judge",), source=path)
        if judges or has_judge_columns(records, columns):
            return judgments_of(records, columns)
    qrels = read_qrels(path, query=query, document=document, grade=grade)
    sizes = (qrels.offsets[1:] - qrels.offsets[:-1]).tolist()
    queries = [str(query) for query, n in zip(qrels.query_ids.tolist(), sizes, strict=True) for _ in range(n)]
    documents = [str(document) for document in qrels.document_ids]
    judgments = Judgments.from_rows(queries, documents, [JUDGE] * len(queries), qrels.labels, source=path)
    return replace(judgments, guessed=qrels.guessed)


def write_judgments(judgments: Judgments, path: str) -> None:
    """Write a table of votes if the name ends with .csv, otherwise qrels; "-" is standard output."""
    if not path.lower().endswith(".csv"):
        write_qrels(_as_qrels(judgments), path)
        return
    names, judges = judgments.item_names(), judgments.judges
    columns = judgments.items.tolist(), judgments.judge_of.tolist(), judgments.grades.tolist()
    rows = [[*names[item], judges[judge], f"{grade:g}"] for item, judge, grade in zip(*columns, strict=True)]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([["query", "document", "judge", "grade"], *rows])
    with writing(path) as file:
        file.write(text.getvalue().encode("utf-8", "surrogateescape"))


def _as_qrels(judgments: Judgments) -> Qrels:
    if len(judgments.judges) > 1:
        raise DataError(
            f"qrels hold one grade a document, and there are {len(judgments.judges)} judges. Write a .csv file, and "
            "make consensus labels of it with podium judges consensus.",
            where=judgments.source,
        )
    import numpy as np

    return Qrels(
        np.array(judgments.query_ids, object), judgments.offsets, Ids.of(judgments.document_ids), judgments.grades
    )
