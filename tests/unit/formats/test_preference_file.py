"""Preferences from files."""

import io
from dataclasses import replace

import numpy as np
import pytest

from podium.base.errors import DataError
from podium.data import Dataset
from podium.data.preferences import from_rows
from podium.formats import read_letor, read_preferences, write_letor

DATA = Dataset.from_arrays(np.eye(4), [0, 0, 0, 0], qid=["b", "a", "b", "a"], document_ids=["x", "x", "y", "z"])


def edges(text: str, data: Dataset = DATA) -> list[list[list[float]]]:
    preferences = read_preferences(io.BytesIO(text.encode()), data).preferences
    return [part.tolist() for part in np.split(preferences.edges, preferences.offsets[1:-1])]


@pytest.mark.parametrize(
    "text",
    [
        "a z x 0.8\nb x y\n",
        "qid\twinner\tloser\tprobability\nb\tx\ty\t1\na\tz\tx\t0.8\n",
        "# by hand\nqid,winner,loser,probability\n\nb, x, y, 1\na, z, x, .8\n",
    ],
)
def test_documents_are_named_by_query_and_id(text):
    assert edges(text) == [[[0, 1, 1, 1]], [[1, 0, 0.8, 1]]]  # query b came first


def test_rows_within_the_query_name_documents_without_ids():
    assert edges("a 1 0\n", replace(DATA, document_ids=None)) == [[], [[1, 0, 1, 1]]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a x\n", r":1: expected: query winner loser"),
        ("a x z\nc x y\n", r":2: no query 'c'"),
        ("a x y\n", r":1: query 'a' has no document 'y'"),
        ("a x x\n", r":1: document 'x' of query 'a' is preferred to itself"),
        ("a x z 1.5\n", r":1: the probability must be a number from 0 to 1; got '1.5'"),
        ("a x z p\n", r":1: the probability must be"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text, message):
    with pytest.raises(DataError, match=message):
        edges(text)


def test_a_document_id_that_comes_twice_is_no_name():
    data = Dataset.from_arrays(np.eye(2), [0, 0], qid=["a", "a"], document_ids=["x", "x"])
    with pytest.raises(DataError, match="more than one document 'x'"):
        edges("a x x\n", data)


def test_preferences_lie_beside_a_letor_file(tmp_path):
    data = replace(DATA, preferences=from_rows([0, 3], [1, 2], [1, 0.25], offsets=DATA.grouped().offsets))
    write_letor(data, tmp_path / "a.txt")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.txt", "a.txt.preferences"]
    back = read_letor(tmp_path / "a.txt")
    assert back.digest() == data.digest()
    assert np.array_equal(back.preferences.edges, data.preferences.edges)
    with pytest.raises(DataError, match="give a path"):
        write_letor(data, io.BytesIO())
