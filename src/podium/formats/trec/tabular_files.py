"""Write qrels and runs as CSV, JSON or Parquet, which can hold ids with blanks.

JSON is query → document → number, as in ranx; with topics, a list of objects.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence

from podium.base.errors import MissingPackageError
from podium.base.files import Source, source_name, writing
from podium.formats.sniff import table_kind

ENDINGS = (".csv", ".csv.gz", ".json", ".json.gz", ".parquet")


def is_tabular(target: Source) -> bool:
    """Whether a file is to be CSV, JSON or Parquet, by its name."""
    return source_name(target).lower().endswith(ENDINGS)


def write_tabular(columns: dict[str, Sequence[object]], target: Source) -> None:
    """Write columns: query, document and the last, a number; further ones in between, or topic after query."""
    name = source_name(target).lower()
    if table_kind(name) == "parquet":
        _write_parquet(columns, target)
        return
    text = io.StringIO()
    if ".json" in name[-8:] and "topic" in columns:
        records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        json.dump(records, text, indent=1, ensure_ascii=False)
    elif ".json" in name[-8:]:
        nested: dict[str, dict[str, object]] = {}
        queries, documents, *_, values = columns.values()
        for query, document, value in zip(queries, documents, values, strict=True):
            nested.setdefault(str(query), {})[str(document)] = value
        json.dump(nested, text, indent=1, ensure_ascii=False)
    else:
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(columns)
        rows.writerows(zip(*columns.values(), strict=True))
    with writing(target) as file:
        file.write(text.getvalue().encode("utf-8", "surrogateescape"))


def _write_parquet(columns: dict[str, Sequence[object]], target: Source) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError:
        raise MissingPackageError("pyarrow", f"Writing {source_name(target)}", "frames") from None
    with writing(target) as file:
        pyarrow.parquet.write_table(pa.table({name: list(column) for name, column in columns.items()}), file)
