"""Files of judgments and runs that are not TREC text: tables, JSON, and BEIR folders.

A BEIR folder holds corpus.jsonl, queries.jsonl and qrels/test.tsv; as judgments it means its qrels/test.tsv, or the one
file of its qrels folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from podium.base.errors import DataError
from podium.base.files import Source, reading, source_name
from podium.formats.judgment_json import nested_numbers, rated_records, refuse_answer
from podium.formats.sniff import is_json, table_kind
from podium.formats.tables.records import Records, json_records, json_values, read_records
from podium.formats.trec.judged_rows import Grouped, Kind, grouped_rows


def read_rows(source: Source, kind: Kind, asked: Mapping[str, str | None]) -> Grouped | Mapping[str, Any]:
    """The judgments or the run in a table or a JSON file, grouped by query; or as a dictionary, if it holds one."""
    name = source_name(source)
    if is_json(source):
        with reading(source) as file:
            values, lines = json_values(file, name)
        refuse_answer(values, source=name)
        nested = nested_numbers(values)
        if nested is not None and not any(asked.values()):
            if kind == "grade" and not any(nested.values()):
                raise DataError("no judgments: none of its queries has documents.", where=name)
            return nested
        rated = rated_records(values, source=name) if kind == "grade" else None
        records = rated or json_records(values, lines, source=name)
        return grouped_rows(records, kind, {} if rated else asked)
    return grouped_rows(read_records(source), kind, asked)


def judgment_records(source: Source) -> Records:
    """The rows of a table or JSON file of judgments, one per query, document and judge."""
    if not is_json(source):
        return read_records(source)
    with reading(source) as file:
        values, lines = json_values(file, source_name(source))
    refuse_answer(values, source=source_name(source))
    rated = rated_records(values, source=source_name(source))
    return rated or json_records(values, lines, source=source_name(source))


def qrels_file(source: Source) -> Source:
    """The file of judgments in a BEIR folder, or in its folder qrels; any other source as it is."""
    if not isinstance(source, str | os.PathLike) or not Path(source).is_dir():
        return source
    folder = Path(source)
    folder = folder / "qrels" if (folder / "qrels").is_dir() else folder
    files = sorted(path for path in folder.iterdir() if table_kind(path.name) == "tsv")
    test = [path for path in files if path.name in ("test.tsv", "test.tsv.gz")]
    if len(test or files) != 1:
        names = ", ".join(path.name for path in files) or "no .tsv file"
        raise DataError(
            f"is a folder; as judgments it should hold qrels/test.tsv, as BEIR's do; it holds {names}. Name the file.",
            where=os.fspath(source),
        )
    return (test or files)[0]
