"""Convert Parquet and Arrow files batch by batch to a dataset on disk, for data larger than memory."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from podium.base.columns import text_ids
from podium.base.errors import DataError, MissingPackageError
from podium.data.dataset import Dataset
from podium.data.frames import (
    ROW_NUMBERS,
    column_numbers,
    complete,
    from_frame,
    label_numbers,
    roles_of,
    weights_of_queries,
)
from podium.data.table import Table
from podium.formats.remote import is_url
from podium.formats.spool import MatrixSpool, TextSpool
from podium.formats.tables.table_parts import is_parquet, parquet_files
from podium.formats.tables.tables import info_of, table_errors
from podium.parsing.growing import Growing
from podium.parsing.ids import encoded

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 2**16  # rows


def spool_table(path: str | os.PathLike[str], folder: Path, **roles: Any) -> Table:
    """Convert Parquet, in one file or several, or an Arrow file to a dataset on disk; `roles` as for `from_frame`."""
    name = os.fspath(path)
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingPackageError("pyarrow", f"Reading {name}", "frames")
    if not is_url(name) and not os.path.exists(path):
        raise DataError("no such file.", where=name)
    with table_errors(name, "pyarrow"):
        batches, schema = _batches(name)
        features = roles.pop("features", None)
        asked = {"label": "label", "qid": "qid", "document_id": None, **dict.fromkeys(ROW_NUMBERS), **roles}
        columns, chosen = roles_of(list(schema.names), asked, features, name)
        table = _Rows(folder, name, columns, chosen)
        for batch in batches:
            table.add(batch)
        return replace(table.finished(), info=info_of(schema))
    raise AssertionError("returned or raised above")


class _Rows:
    """The rows read so far, on disk."""

    def __init__(self, folder: Path, source: str, roles: dict[str, str | None], features: list[str]) -> None:
        self.source, self.roles, self.features = source, roles, features
        self.matrix = MatrixSpool(folder, n_features=len(features))
        self.ids = TextSpool(folder, "ids") if roles["document_id"] is not None else None
        numbers = [role for role in ("label", *ROW_NUMBERS) if roles[role] is not None]
        self.numbers = {role: Growing(np.float64) for role in numbers}
        self.queries: dict[str, int] = {}  # id → number, by first appearance
        self.codes = Growing(np.int64)

    def add(self, batch: pa.Table) -> None:
        """Append the rows of a batch."""
        import narwhals as nw

        batch.validate(full=True)
        frame: Any = nw.from_native(batch, eager_only=True)
        weights = [self.roles[role] for role in ROW_NUMBERS if self.roles[role] not in self.features]

        def column(role: str) -> Any:
            name = self.roles[role]
            return None if name is None else complete(frame[name], name, self.source)

        try:
            part = from_frame(
                frame.drop([name for name in weights if name is not None]), label=None, qid=None,
                document_id=self.roles["document_id"], features=self.features, source=self.source,
            )  # fmt: skip
            columns = {role: column_numbers(column(role), self.source) for role in self.numbers if role != "label"}
            if "label" in self.numbers:
                columns["label"] = label_numbers(frame[self.roles["label"]], self.source)
            qid = column("qid")
            names = [""] * part.n_documents if qid is None else text_ids(qid.to_native(), "query id", where=self.source)
        except DataError as error:
            raise DataError(f"{error} (rows are counted from row {self.matrix.rows} here)") from None
        self.matrix.add_rows(cast(Any, part.features))
        self.matrix.rows += part.n_documents
        for role, values in columns.items():
            self.numbers[role].extend(values)
        if self.ids is not None and part.document_ids is not None:
            self.ids.extend([encoded(str(name)) for name in part.document_ids])
        self.codes.extend(np.array([self.queries.setdefault(q, len(self.queries)) for q in names], np.int64))

    def finished(self) -> Table:
        """All rows as a dataset."""
        finished = {role: numbers.finished() for role, numbers in self.numbers.items()}
        data = Dataset.from_arrays(
            self.matrix.finished(), finished.get("label"), qid=self.codes.finished(), feature_names=self.features,
            document_weights=finished.get("document_weight"), source=self.source,
        )  # fmt: skip
        names = np.array(list(self.queries) if self.roles["qid"] is not None else ["0"], dtype=object)
        data = replace(data, query_ids=names[: data.n_queries])
        if self.ids is not None:
            data = replace(data, document_ids=cast(Any, self.ids.finished()))
        if "base_score" in finished:
            data = data.with_base_scores(finished["base_score"])
        if "shown_at" in finished:
            data = data.with_positions(finished["shown_at"])
        if "row_weight" in finished:
            data = replace(data, row_weights=finished["row_weight"])
        if "query_weight" in finished:
            data = replace(data, query_weights=weights_of_queries(data, finished["query_weight"]))
        return data


def _batches(name: str) -> tuple[Iterator[Any], Any]:
    """The rows of a file in small tables, and its schema."""
    import pyarrow as pa

    if is_parquet(name):
        schema = next(parquet_files(name))[1].schema_arrow
        batches = (batch for _, file in parquet_files(name) for batch in file.iter_batches(_BATCH))
        return (pa.Table.from_batches([batch]) for batch in batches), schema
    import pyarrow.ipc

    parts = pyarrow.ipc.open_file(pa.OSFile(name))
    whole = (parts.get_batch(k) for k in range(parts.num_record_batches))
    cut = (batch.slice(a, _BATCH) for batch in whole for a in range(0, batch.num_rows, _BATCH))
    return (pa.Table.from_batches([batch]) for batch in cut), parts.schema
