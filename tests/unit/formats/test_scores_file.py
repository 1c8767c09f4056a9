"""Scores files."""

from __future__ import annotations

import io

import numpy as np
import pytest

from podium.base.errors import DataError
from podium.data import Dataset
from podium.formats.scores_file import read_scores

# Rows of query b lie apart.
DATA = Dataset.from_arrays(np.eye(3), [1, 0, 2], qid=["b", "a", "b"], source="train.txt")


def read(text: bytes) -> list[float]:
    return read_scores(io.BytesIO(text), DATA).tolist()


def test_one_number_per_line_follows_the_lines_of_the_data() -> None:
    assert read(b"0.5\n-1e3\n7\n") == [0.5, -1000.0, 7.0]


def test_blank_lines_and_a_missing_last_newline_do_not_matter() -> None:
    assert read(b"\n1\n2\n\n3") == [1.0, 2.0, 3.0]


def test_ranklib_scores_find_their_document_by_query_and_index() -> None:
    assert read(b"a\t0\t5\nb\t1\t6\nb\t0\t4\n") == [4.0, 5.0, 6.0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "0 scores for the 3 documents of train.txt"),
        (b"1\n2\n", "2 scores for the 3 documents"),
        (b"1\n2\nx\n", "<data>:3: expected a score; got 'x'"),
        (b"1\nnan\n3\n", "<data>:2: score nan"),
        (b"1\n2 3\n3\n", "<data>:2: 2 columns, but line 1 has 1"),
        (b"1 2\n1 2\n1 2\n", "<data>:1: expected one score per line"),
        (b"q Q0 d 1 2.5 t\n", "TREC run"),
        (b"b 0 1\nb 1 1\nc 0 1\n", "<data>:3: query 'c' is not in the data"),
        (b"b 0 1\nb 2 1\na 0 1\n", "<data>:2: document 2 of query b, which has 2"),
        (b"b 0 1\nb 0 1\na 0 1\n", "<data>:2: document 0 of query b is scored twice"),
        (b"b -1 1\nb 0 1\na 0 1\n", "<data>:1: document -1"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: bytes, words: str) -> None:
    with pytest.raises(DataError, match=words):
        read(text)
