"""Write data with the names of its features and how they were computed, so that a model trained on it knows both."""

from __future__ import annotations

import json
from dataclasses import replace

from podium.base.errors import MissingPackageError
from podium.base.files import writing
from podium.data.frames import to_frame
from podium.data.table import Table
from podium.formats.letor.letor import write_letor
from podium.formats.sniff import table_kind


def write_described(data: Table, target: str) -> None:
    """Write a dataset: Parquet if the name ends in .parquet, else LETOR text, which holds no positions.

    Names and descriptions of features are in the metadata of Parquet, for LETOR text in `<file>.features`.
    """
    if table_kind(target) == "parquet":
        _write_parquet(data, target)
        return
    write_letor(replace(data, positions=None), target)
    if target != "-" and data.feature_names is not None:
        about = {"features": data.feature_names} | ({} if data.info is None else {"info": dict(data.info)})
        with writing(f"{target}.features") as file:
            file.write(json.dumps(about, indent=1).encode())


def _write_parquet(data: Table, target: str) -> None:
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingPackageError("pyarrow", f"Writing {target}", "frames") from None

    frame = to_frame(data, backend="pyarrow")
    if data.info is not None:
        frame = frame.replace_schema_metadata({"podium": json.dumps(dict(data.info))})
    with writing(target) as file:
        pyarrow.parquet.write_table(frame, file)
