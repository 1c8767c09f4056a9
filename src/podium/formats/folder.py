"""Read a data folder, or one file, as folds of training, validation and test data.

    DATA/Fold1/train.txt  vali.txt  test.txt      several folds
    DATA/train.txt  vali.txt  test.txt            one fold; vali and test may be missing
    DATA.txt                                      one file, split by query 60/20/20 with a seed

Validation data is called vali, valid, validation, val or dev. Files are LETOR (.txt, .dat, .svm, .letor, .svmlight, or
no ending) or .csv, also with .gz; .parquet (a file, or a folder of such files) or .arrow; or caches (.pod, see `podium
cache`). Parquet and caches may also be on any store that fsspec supports, e.g. s3://bucket/train.parquet.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, TypeGuard, cast

from podium.base.errors import DataError, ParameterError
from podium.base.files import Source
from podium.data.categories import with_categories
from podium.data.fold import Fold
from podium.data.frames import from_frame
from podium.data.inputs import widened
from podium.data.table import Table
from podium.formats.cache.cache import is_cache, open_cache
from podium.formats.letor.letor import read_letor
from podium.formats.lightgbm_files import is_lightgbm_table, read_lightgbm_table, with_side_files
from podium.formats.remote import is_url
from podium.formats.sniff import TABLES
from podium.formats.tables.table_parts import PARTS, is_parquet

_ENDINGS = (
    "",
    *(end + gz for end in (".txt", ".dat", ".svm", ".letor", ".svmlight") for gz in ("", ".gz")),
    *TABLES,
    ".pod",
)


def read_folder(path: str | os.PathLike[str], *, seed: int = 0, **roles: Any) -> list[Fold]:
    """Read the folds of a data folder, or one fold from a single file, split by query with the seed.

    `roles` name the columns of tables, as for `from_frame`.

    `path`: a folder with train, vali and test, or with Fold1, Fold2, … of them.
    `seed`: of the split of a single file.
    """
    root = Path(path)
    if is_data_folder(path):
        folders = sorted((_fold_number(p), p) for p in root.iterdir() if p.is_dir() and _fold_number(p) >= 0)
        return [_read_fold(folder, roles) for _, folder in folders] or [_read_fold(root, roles)]
    if not root.exists() and os.fspath(path) != "-" and not is_url(path):
        raise DataError("no such file or folder.", where=str(root))
    from podium.data.splits import split

    data = read_data(path, **roles)
    train, valid, test = split(data, (0.6, 0.2, 0.2), seed=seed)
    return [Fold(train, valid, test, root.name)]


def read_data(source: object, *, n_features: int | None = None, **roles: Any) -> Table:
    """Read a dataset from a data frame or a file: CSV, Parquet or Arrow by its name, a cache, else LETOR.

    A folder of Parquet files is one table, in the order of their names. "-" is LETOR on standard input. The
    features of a cache stay on disk and are read in blocks. A table of numbers without header, with a .query file next
    to it, is LightGBM's (`formats.lightgbm_files`).

    `n_features` is the number of features, if a LETOR file may not mention the last ones. `roles` name the columns
    of a table, as for `from_frame`: label="grade", qid="query"; `categorical` also numbers features of a LETOR file.

    `source`: a path, or an open file: LETOR, CSV, Parquet, Arrow, a folder of parts, or podium's cache.
    """
    of_numbers = isinstance(source, str | os.PathLike) or hasattr(source, "read")
    if of_numbers and not is_table(source) and "categorical" in roles:
        categorical = roles.pop("categorical")
        return with_categories(read_data(source, n_features=n_features, **roles), categorical)
    if is_url(source) and not is_cache(source) and not is_parquet(source):
        raise DataError(
            "no cache and no Parquet there; of a store, only these are read. Copy the file to this machine, write it "
            "as a cache (podium cache FILE -o train.pod), and copy that folder to the store.",
            where=source,
        )
    if not roles and is_lightgbm_table(source):
        data = with_side_files(read_lightgbm_table(source), source)
        return data if n_features is None else widened(data, n_features)
    if is_table(source):
        from podium.formats.tables.tables import read_table

        return read_table(source, **roles)
    if not isinstance(source, str | os.PathLike) and not hasattr(source, "read"):
        return from_frame(source, **roles)
    if roles:  # of LETOR files and caches
        raise ParameterError(
            f"{min(roles)} names a column, which a LETOR file or a cache does not have. Leave it out, or give .csv or "
            ".parquet."
        )
    if not is_cache(source):
        return with_side_files(read_letor(cast(Source, source), n_features=n_features), source)
    data = open_cache(source)
    if n_features is not None and n_features < data.n_features:
        raise DataError(f"{data.n_features} features; expected {n_features}.", where=data.source)
    return data if n_features is None else widened(data, n_features)


def is_data_folder(path: str | os.PathLike[str]) -> bool:
    """Whether this is a folder of data in parts or folds, and not a cache or a folder of Parquet files."""
    return os.path.isdir(path) and not is_cache(path) and not is_table(path)


def is_table(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether this is the path of a table: CSV, Parquet or Arrow by its name, or a folder of Parquet files."""
    return is_parquet(source) or (isinstance(source, str | os.PathLike) and os.fspath(source).lower().endswith(TABLES))


def data_files(path: str | os.PathLike[str]) -> list[str]:
    """The files of a data folder, of all parts and folds; the path itself if it is one file."""
    if not is_data_folder(path):
        return [os.fspath(path)]
    root = Path(path)
    folders = [folder for folder in sorted(root.iterdir()) if folder.is_dir() and _fold_number(folder) >= 0] or [root]
    files = [_find(folder, part) for folder in folders for part in PARTS]
    return [os.fspath(file) for file in files if file is not None]


def _fold_number(path: Path) -> int:
    """The number in a fold's name; −1 if it is no fold."""
    match = re.fullmatch(r"fold[-_ ]?(\d+)", path.name, re.IGNORECASE)
    return int(match[1]) if match else -1


def _read_fold(folder: Path, roles: dict[str, Any]) -> Fold:
    files = {part: _find(folder, part) for part in PARTS}
    if files["train"] is None:
        present = ", ".join(sorted(p.name for p in folder.iterdir())[:10]) or "nothing"
        raise DataError(
            "no training data: looked for train.txt (or .dat .svm .letor .csv .parquet .arrow .pod, also .gz), "
            f"or folders Fold1, Fold2, …; found {present}. Name the files train, vali and test, or give one file.",
            where=str(folder),
        )
    parts = {part: read_data(file, **roles) for part, file in files.items() if file is not None}
    width = max(data.n_features for data in parts.values())
    wide = {part: widened(data, width).grouped() for part, data in parts.items()}
    return Fold(wide["train"], wide.get("valid"), wide.get("test"), folder.name)


def _find(folder: Path, part: str) -> Path | None:
    """The file of a part, if there is one; two are an error."""
    names = {name + end for name in PARTS[part] for end in _ENDINGS}
    named = sorted(p for p in folder.iterdir() if p.name.lower() in names)
    files = [p for p in named if p.is_file() or is_cache(p) or is_table(p)]
    if len(files) > 1:
        raise DataError(
            f"more than one file of {part} data: {', '.join(p.name for p in files)}. Keep one.", where=str(folder)
        )
    return files[0] if files else None
