"""A data folder, or one file: to folds of training, validation and test data.

    DATA/Fold1/train.txt  vali.txt  test.txt      several folds
    DATA/train.txt  vali.txt  test.txt            one fold; vali and test may be missing
    DATA.txt                                      one file, split by query 60/20/20 with a seed

Validation data is called vali, valid, validation, val or dev. Files are LETOR (.txt, .dat, .svm, .letor, .svmlight, or
no ending) or .csv, also with .gz; .parquet (a file, or a folder of such files) or .arrow; or caches (.pod, see `podium
cache`). Parquet and caches may also lie on any store that fsspec knows, e.g. s3://bucket/train.parquet.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from podium.base.errors import DataError, ParameterError
from podium.data.fold import Fold
from podium.data.frames import from_frame
from podium.data.inputs import widened
from podium.data.splits import split
from podium.data.table import Table
from podium.formats.cache.cache import is_cache, open_cache
from podium.formats.letor.letor import read_letor
from podium.formats.remote import is_url
from podium.formats.sniff import TABLES
from podium.formats.tables.table_parts import PARTS, is_parquet
from podium.formats.tables.tables import read_table

_ENDINGS = (
    "",
    *(end + gz for end in (".txt", ".dat", ".svm", ".letor", ".svmlight") for gz in ("", ".gz")),
    *TABLES,
    ".pod",
)


def read_folder(path: str | os.PathLike[str], *, seed: int = 0, **roles: Any) -> list[Fold]:
    """The folds of a data folder, or one fold from a single file, split by query with the seed.

    `roles` name the columns of tables, as for `from_frame`.
    """
    root = Path(path)
    if is_data_folder(path):
        folders = sorted((_fold_number(p), p) for p in root.iterdir() if p.is_dir() and _fold_number(p) >= 0)
        return [_read_fold(folder, roles) for _, folder in folders] or [_read_fold(root, roles)]
    if not root.exists() and os.fspath(path) != "-" and not is_url(path):
        raise DataError("no such file or folder.", where=str(root))
    data = read_data(path, **roles)
    train, valid, test = split(data, (0.6, 0.2, 0.2), seed=seed)
    return [Fold(train, valid, test, root.name)]


def read_data(source: Any, *, n_features: int | None = None, **roles: Any) -> Table:
    """One dataset from a data frame or a file: CSV, Parquet or Arrow by its name, a cache, else LETOR.

    A folder of Parquet files is one table, in the order of their names. "-" is LETOR on standard input. The
    features of a cache stay on disk and are read in blocks.

    `n_features` is the number of features, where a LETOR file may not mention the last ones. `roles` name the columns
    of a table, as for `from_frame`: label="grade", qid="query".
    """
    if is_url(source) and not is_cache(source) and not is_parquet(source):
        raise DataError(
            "no cache and no Parquet there; of a store, only these are read. Copy the file to this machine, write it "
            "as a cache (podium cache FILE -o train.pod), and copy that folder to the store.",
            where=source,
        )
    if is_table(source):
        return read_table(source, **roles)
    if not isinstance(source, str | os.PathLike) and not hasattr(source, "read"):
        return from_frame(source, **roles)
    if roles:  # of LETOR files and caches
        raise ParameterError(
            f"{min(roles)} names a column, which a LETOR file or a cache does not have. Leave it out, or give .csv or "
            ".parquet."
        )
    if not is_cache(source):
        return read_letor(source, n_features=n_features)
    data = open_cache(source)
    if n_features is not None and n_features < data.n_features:
        raise DataError(f"{data.n_features} features; expected {n_features}.", where=data.source)
    return data if n_features is None else widened(data, n_features)


def is_data_folder(path: str | os.PathLike[str]) -> bool:
    """Whether it is a folder of data in parts or folds; not a cache, which is a folder too, nor a folder of Parquet."""
    return os.path.isdir(path) and not is_cache(path) and not is_table(path)


def is_table(source: Any) -> bool:
    """Whether it is the path of a table: CSV, Parquet or Arrow by its name, or a folder of Parquet files."""
    return is_parquet(source) or (isinstance(source, str | os.PathLike) and os.fspath(source).lower().endswith(TABLES))


def _fold_number(path: Path) -> int:
    """The number in a fold's name; −1 where it is not one."""
    match = re.fullmatch(r"fold[-_ ]?(\d+)", path.name, re.IGNORECASE)
    return int(match[1]) if match else -1


def _read_fold(folder: Path, roles: dict[str, Any]) -> Fold:
    files = {part: _find(folder, part) for part in PARTS}
    if files["train"] is None:
        found = ", ".join(sorted(p.name for p in folder.iterdir())[:10]) or "nothing"
        raise DataError(
            "no training data: looked for train.txt (or .dat .svm .letor .csv .parquet .arrow .pod, also .gz), "
            f"or folders Fold1, Fold2, …; found {found}. Name the files train, vali and test, or give one file.",
            where=str(folder),
        )
    parts = {part: read_data(file, **roles) for part, file in files.items() if file is not None}
    width = max(data.n_features for data in parts.values())
    wide = {part: widened(data, width).grouped() for part, data in parts.items()}
    return Fold(wide["train"], wide.get("valid"), wide.get("test"), folder.name)


def _find(folder: Path, part: str) -> Path | None:
    """The file of a part; two of them are one too many."""
    names = {name + end for name in PARTS[part] for end in _ENDINGS}
    named = sorted(p for p in folder.iterdir() if p.name.lower() in names)
    found = [p for p in named if p.is_file() or is_cache(p) or is_table(p)]
    if len(found) > 1:
        raise DataError(
            f"more than one file of {part} data: {', '.join(p.name for p in found)}. Keep one.", where=str(folder)
        )
    return found[0] if found else None
