"""Data frames and table files."""

from dataclasses import replace

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from podium.base.errors import DataError, MissingPackageError, ParameterError
from podium.data import Dataset, from_frame, to_frame
from podium.data.inputs import labelled_data, unlabelled_table
from podium.formats import read_data, read_table

COLUMNS = {
    "qid": ["b", "a", "b"],
    "label": [1, 0, 2],
    "bm25": [1.5, None, 3.0],
    "clicks": [1, 2, None],
    "is_new": [True, False, True],
    "docid": ["u", "v", "w"],
}
MAKERS = {
    "pandas": pd.DataFrame,
    "pandas nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "polars": pl.DataFrame,
    "polars lazy": lambda columns: pl.DataFrame(columns).lazy(),
    "pyarrow": pa.table,
}


@pytest.mark.parametrize("maker", MAKERS)
def test_every_kind_of_frame_gives_the_same_data(maker):
    data = from_frame(MAKERS[maker](COLUMNS))
    assert data.feature_names == ("bm25", "clicks", "is_new")
    assert data.query_ids.tolist() == ["b", "a"]
    assert data.document_ids.tolist() == ["u", "v", "w"]
    assert data.labels.tolist() == [1, 0, 2]
    expected = [[1.5, 1, 1], [np.nan, 2, 0], [3, np.nan, 1]]
    assert np.array_equal(data.features, np.array(expected, np.float32), equal_nan=True)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_round_trip_in_input_order(backend):
    data = from_frame(pl.DataFrame(COLUMNS))
    frame = to_frame(data, backend=backend)
    back = from_frame(frame)
    assert back.digest() == data.digest()
    assert back.feature_names == data.feature_names
    assert back.document_ids.tolist() == data.document_ids.tolist()
    assert pl.DataFrame(frame if backend != "pandas" else frame.to_dict("list"))["qid"].to_list() == COLUMNS["qid"]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_weights_round_trip_and_are_no_features(backend):
    bare = replace(from_frame(pl.DataFrame(COLUMNS)), labels=np.array([1.0, 0, 1]))
    data = replace(bare, query_weights=np.array([2.0, 1.0]), document_weights=np.array([0.5, 1.0, 3.0]))
    frame = to_frame(data, backend=backend)
    back = from_frame(frame)
    assert back.feature_names == data.feature_names
    assert back.query_weights.tolist() == [2, 1]
    assert back.document_weights.tolist() == [0.5, 1, 3]
    assert unlabelled_table(frame).features.shape == data.features.shape
    alone = nw.from_native(frame).drop("qid").to_native()
    assert unlabelled_table(alone).query_weights is None
    assert from_frame(frame, features=["query_weight"]).query_weights is None
    with pytest.raises(DataError, match="has a column 'query_weight'"):
        labelled_data(nw.from_native(alone).drop("label").to_native(), [1, 0, 1], group=[3])


def test_whole_numbers_held_as_floats_are_ids_without_a_point():
    data = from_frame(pd.DataFrame({"qid": [7.0, 8.0], "label": [0, 1], "x": [1, 2]}))
    assert data.query_ids.tolist() == ["7", "8"]


def test_columns_are_chosen_by_name():
    frame = pl.DataFrame({"query": [1, 1, 2], "grade": [1, 0, 2], "x": [1.0, 2, 3], "y": [4.0, 5, 6], "w": [2.0, 2, 1]})
    data = from_frame(frame, qid="query", label="grade", features=["y"], query_weight="w")
    assert data.features.ravel().tolist() == [4, 5, 6]
    assert data.query_weights.tolist() == [2, 1]
    scattered = from_frame(frame[[0, 2, 1]], qid="query", label="grade", query_weight="w")
    assert scattered.query_weights.tolist() == [2, 1]
    clicks = from_frame(frame, qid="query", label=None, features=["x"], document_weight="w")
    assert clicks.document_weights.tolist() == [2, 2, 1]
    assert to_frame(clicks)["document_weight"].tolist() == [2, 2, 1]
    bare = from_frame(frame, qid=None, label=None)
    assert (bare.n_queries, bare.labels, bare.n_features) == (1, None, 5)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"qid": [1], "lable": [1], "x": [1]}, {}, r"no column 'label' \(label\); did you mean 'lable'\?"),
        (
            {"qid": [1], "label": [1], "x": [1]},
            {"features": ["zzz"]},
            r"no column 'zzz' \(features\); there are: qid, label, x",
        ),
        ({"qid": [1], "label": [1], "title": ["a"]}, {}, r"column 'title' holds String, not numbers"),
        ({"qid": [1], "label": ["a"], "x": [1]}, {}, r"column 'label' holds String"),
        ({"qid": [1, None], "label": [1, 0], "x": [1, 2]}, {}, r"column 'qid': row 1 has no value"),
        ({"qid": [1, 1], "label": [None, None], "x": [1, 2]}, {}, r"no row has a label"),
        ({"qid": [1], "label": [float("inf")], "x": [1]}, {}, r"row 0: label inf"),
        ({"qid": [1, 1], "label": [1, 0], "x": [1.0, float("inf")]}, {}, r"column 'x': row 1 is inf"),
        ({"qid": [1, 1], "label": [1, 0], "x": [1.0, 1e300]}, {}, r"column 'x': row 1 is 1e\+300"),
        ({"qid": [1], "label": [1]}, {}, r"no columns of features"),
        (
            {"qid": [1, 1], "label": [1, 0], "x": [1, 2], "w": [1, 2]},
            {"query_weight": "w"},
            r"query 1: its rows have different weights",
        ),
    ],
)
def test_what_is_wrong_with_a_frame_is_said(columns, options, message):
    with pytest.raises(DataError, match=message):
        from_frame(pl.DataFrame(columns), **options)


def test_what_is_no_frame_is_refused():
    with pytest.raises(DataError, match="expected a pandas, polars or pyarrow frame; got list"):
        from_frame([[1, 2]])


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz", "data.parquet"])
def test_table_files_are_read_by_their_name(tmp_path, name):
    data = from_frame(pl.DataFrame(COLUMNS))
    frame = to_frame(data, backend="pandas")
    path = tmp_path / name
    frame.to_parquet(path) if name.endswith("parquet") else frame.to_csv(path, index=False)
    assert read_data(path).digest() == data.digest()
    assert read_table(path).source == str(path)


def test_a_csv_column_may_turn_from_whole_to_real_far_down(tmp_path):
    path = tmp_path / "late.csv"
    path.write_text("qid,label,x\n" + "1,0,1\n" * 5000 + "1,1,0.5\n")
    assert read_table(path).features[-1, 0] == 0.5


def test_broken_and_missing_table_files_are_refused(tmp_path):
    path = tmp_path / "broken.parquet"
    path.write_bytes(b"no parquet at all")
    with pytest.raises(DataError, match=r"broken.parquet: .* cannot read this table"):
        read_table(path)
    with pytest.raises(DataError, match="no such file"):
        read_table(tmp_path / "none.csv")


def test_a_parquet_file_damaged_anywhere_is_refused_or_read(tmp_path):
    frame, path, refused = to_frame(from_frame(pl.DataFrame(COLUMNS))), tmp_path / "data.parquet", []
    frame.to_parquet(path)
    raw, rng = path.read_bytes(), np.random.default_rng(0)
    for _ in range(200):
        bad = bytearray(raw)
        for at in rng.integers(0, len(raw), 8):
            bad[at] ^= 1 << rng.integers(8)
        path.write_bytes(bad[: rng.integers(1, len(raw))] if rng.random() < 0.2 else bad)
        try:
            read_table(path)
        except DataError as error:
            refused.append(str(error))
    assert len(refused) > 100
    assert all(words.startswith(f"{path}: ") for words in refused)


def test_a_reader_that_panics_is_an_error_of_the_file(tmp_path, monkeypatch):
    class PanicException(BaseException):
        """What polars raises, which is no Exception."""

    def panic(*args, **options):
        raise PanicException("called `Option::unwrap()` on a `None` value")

    (tmp_path / "data.csv").write_text("qid,label,x\n1,0,1\n")
    monkeypatch.setattr("narwhals.read_csv", panic)
    with pytest.raises(DataError, match=r"data.csv: polars cannot read this table: called `Option::unwrap"):
        read_table(tmp_path / "data.csv")


def test_frames_and_columns_are_read_as_files_are(tmp_path):
    frame = pd.DataFrame({"query": [1, 2, 1], "grade": [1, 0, 2], "x": [1.0, 2, 3]})
    data = read_data(frame, qid="query", label="grade")
    frame.to_csv(tmp_path / "data.csv", index=False)
    assert read_data(tmp_path / "data.csv", qid="query", label="grade").digest() == data.digest()
    with pytest.raises(DataError, match=r"no column 'label' \(label\).*label=… or --label"):
        read_data(frame)
    (tmp_path / "data.txt").write_text("1 qid:1 1:1\n")
    with pytest.raises(ParameterError, match="label names a column, which a LETOR file or a cache does not have"):
        read_data(tmp_path / "data.txt", label="grade")
    with pytest.raises(DataError, match="expected a pandas, polars or pyarrow frame; got int"):
        read_data(7)


def test_without_a_frame_package_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match=r"pip install 'podium\[frames\]'"):
        read_table("data.csv")
    with pytest.raises(MissingPackageError, match=r"needs polars, which is not installed\. Run: pip install"):
        to_frame(Dataset.from_arrays([[1.0]]), backend="polars")
