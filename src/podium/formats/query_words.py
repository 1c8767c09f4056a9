"""Words about the queries of labelled data: a column of a table, or of the `.queries` files next to LETOR files."""

from __future__ import annotations

import os

from podium.base.errors import DataError
from podium.formats.folder import data_files, is_table
from podium.formats.query_features_file import read_query_words
from podium.formats.tables.query_column import read_table_column


def words_about_queries(path: str | os.PathLike[str], column: str) -> dict[str, str]:
    """Read what a column says of each query of a data file or folder, by the query's id."""
    words: dict[str, str] = {}
    for file in data_files(path):
        if is_table(file):
            words |= read_table_column(file, column)
        elif os.path.exists(f"{file}.queries"):
            words |= read_query_words(f"{file}.queries", column)
        else:
            raise DataError(
                f"nothing says the {column} of its queries. Write a file {os.path.basename(file)}.queries: a header "
                f"'query {column}', then a line per query.",
                where=file,
            )
    return words
