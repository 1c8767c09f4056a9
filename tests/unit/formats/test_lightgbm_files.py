"""LightGBM's files: tables without header, and the files next to data, as its documentation lays them out."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from podium.base.errors import DataError
from podium.formats import read_data
from podium.training import train

SHARED = Path(__file__).parents[3] / "../shared/data/lightgbm-lambdarank"
ROWS = np.array([[2, 0.5, 1.5], [0, -1e-3, 3], [1, 7, 0], [0, 2.25, 8], [1, 1, 1]])
SIZES, WEIGHTS = [2, 3], [2.0, 2.0, 0.5, 0.5, 0.5]


def write(path: Path, rows: str, sizes: Any = SIZES, weights: Any = None) -> Path:
    path.write_text(rows)
    Path(f"{path}.query").write_text("".join(f"{size}\n" for size in sizes))
    if weights is not None:
        Path(f"{path}.weight").write_text("".join(f"{weight}\n" for weight in weights))
    return path


def table(separator: str) -> str:
    return "".join(separator.join(f"{value:g}" for value in row) + "\n" for row in ROWS)


@pytest.mark.parametrize(("name", "separator"), [("t.csv", ","), ("t.tsv", "\t"), ("t.train", "\t"), ("t.txt", ",")])
def test_the_first_column_is_the_label_and_the_query_file_has_the_sizes(
    tmp_path: Path, name: str, separator: str
) -> None:
    data = read_data(write(tmp_path / name, table(separator), weights=WEIGHTS))
    np.testing.assert_array_equal(data.labels, ROWS[:, 0])
    np.testing.assert_array_equal(data.features, ROWS[:, 1:].astype(np.float32))
    assert data.sizes.tolist() == SIZES
    assert data.query_weights.tolist() == [2.0, 0.5]


def test_letor_lines_have_the_same_files_next_to_them(tmp_path: Path) -> None:
    lines = "".join(f"{row[0]:g} 1:{row[1]:g} 2:{row[2]:g}\n" for row in ROWS)
    first = read_data(write(tmp_path / "t.txt", lines, weights=WEIGHTS))
    second = read_data(write(tmp_path / "t.csv", table(","), weights=WEIGHTS))
    assert first.digest() == second.digest()


def test_a_gzipped_table_a_mark_at_its_beginning_and_windows_lines_are_read(tmp_path: Path) -> None:
    plain = read_data(write(tmp_path / "t.csv", table(",")))
    (tmp_path / "z.csv.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + table(",").replace("\n", "\r\n").encode()))
    (tmp_path / "z.csv.query").write_text("2\r\n3\r\n")
    assert read_data(tmp_path / "z.csv.gz").digest() == plain.digest()


def test_missing_values_are_empty_or_words(tmp_path: Path) -> None:
    data = read_data(write(tmp_path / "t.csv", "1,,2\n0,NA,\n1,3,nan\n", [3]))
    np.testing.assert_array_equal(data.features, [[np.nan, 2], [np.nan, np.nan], [3, np.nan]])


def test_a_table_with_header_is_read_by_its_names_whatever_lies_next_to_it(tmp_path: Path) -> None:
    data = read_data(write(tmp_path / "t.csv", "qid,label,x\n1,1,0\n1,0,2\n2,1,1\n", [1, 2]))
    assert data.feature_names == ("x",)
    assert data.sizes.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("rows", "sizes", "weights", "words"),
    [
        (table(","), [2, 4], None, "6"),
        (table(","), ["two"], None, r"t\.csv\.query:1: expected a query's number of lines; got"),
        ("1,2,3\n1,2\n", [2], None, r"t\.csv: a table of numbers without header is expected: .*columns"),
        ("1,2,3\n1,x,2\n", [2], None, r"t\.csv: a table of numbers without header is expected: .*'x'"),
        (",2,3\n1,1,2\n", [2], None, "could not convert string '' to float64 at row 0, column 1"),
        (table(","), SIZES, [1, 1], r"t\.csv\.weight: 2 weights for 5 rows"),
        (table(","), SIZES, [1, 1, "x", 1, 1], r"t\.csv\.weight:3: expected a number; got"),
        (table(","), SIZES, [1, 1, -1, -1, -1], "weight"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_in_words(tmp_path: Path, rows: str, sizes: Any, weights: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        read_data(write(tmp_path / "t.csv", rows, sizes, weights))


def test_positions_are_read(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", table(","), SIZES)
    Path(f"{path}.position").write_text("1\n2\n1\n2\n3\n")
    assert read_data(path).positions.tolist() == [1, 2, 1, 2, 3]
    Path(f"{path}.position").write_text("1\n2\n")
    with pytest.raises(DataError, match="2 positions for 5 rows"):
        read_data(path)
    Path(f"{path}.position").write_text("1\n2\n1\n2\n0.5\n")
    with pytest.raises(DataError, match="positions must be whole numbers"):
        read_data(path)


@pytest.mark.parametrize("ending", ["init", "base_margin"])
def test_initial_scores_are_base_scores(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path / "t.csv", table(","), SIZES)
    Path(f"{path}.{ending}").write_text("1\n2\n3\n4\n5.5\n")
    assert read_data(path).base_scores.tolist() == [1, 2, 3, 4, 5.5]
    Path(f"{path}.{ending}").write_text("1\n2\n")
    with pytest.raises(DataError, match="2 scores for the 5 documents"):
        read_data(path)


@pytest.mark.skipif(not SHARED.exists(), reason="needs LightGBM's example data beside the checkout")
def test_lightgbms_own_example_has_its_queries() -> None:
    data = read_data(SHARED / "rank.train")
    sizes = [int(line) for line in (SHARED / "rank.train.query").read_text().split()]
    assert (data.sizes.tolist(), data.n_documents) == (sizes, sum(sizes))
    model = train(data, "listnet", valid=read_data(SHARED / "rank.test", n_features=data.n_features))
    assert model.info["valid"] > 0.6
