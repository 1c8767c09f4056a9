"""Files of judgments: read and write tables of votes and qrels."""

from __future__ import annotations

import csv
import io

from podium.base.errors import DataError
from podium.base.files import writing
from podium.formats.folder import is_table
from podium.formats.trec.trec import Qrels, read_qrels, write_qrels
from podium.judgments.judgments import Judgments, read_judgments
from podium.parsing.ids import Ids

JUDGE = "qrels"
"""Name of the judge of qrels, which do not name one."""


def judgments_from(path: str) -> Judgments:
    """Read judgments from a table (.csv, .csv.gz, .parquet) of query, document, judge and grade, or from qrels."""
    if is_table(path):
        return read_judgments(path)
    qrels = read_qrels(path)
    sizes = (qrels.offsets[1:] - qrels.offsets[:-1]).tolist()
    queries = [str(query) for query, n in zip(qrels.query_ids.tolist(), sizes, strict=True) for _ in range(n)]
    documents = [str(document) for document in qrels.document_ids]
    return Judgments.from_rows(queries, documents, [JUDGE] * len(queries), qrels.labels, source=path)


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
