"""Columns of a frame that describe queries: numbers, words, rows in any order, what is refused."""

import numpy as np
import pandas as pd
import pytest

import podium
from podium.base.errors import DataError
from podium.data.frames import from_frame
from podium.data.query_values import category_number

FRAME = pd.DataFrame(
    {
        "qid": [2, 1, 2, 1], "label": [1, 0, 0, 1], "bm25": [1.0, 2.0, 3.0, 4.0], "market": ["de", "uk", "de", "uk"],
        "length": [3, 5, 3, 5],
    }
)  # fmt: skip


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_they_are_of_queries_in_the_order_of_the_data(backend):
    frame = {"pandas": lambda: FRAME, "polars": lambda: _polars(), "pyarrow": lambda: _arrow()}[backend]()
    data = from_frame(frame, query_features=["market", "length"])
    assert data.query_ids.tolist() == ["2", "1"]
    assert data.query_features.tolist() == [[category_number("de"), 3.0], [category_number("uk"), 5.0]]
    assert data.query_feature_names == ("market", "length")
    assert data.feature_names == ("bm25",)
    assert data.grouped().query_features.tolist() == data.query_features.tolist()


def _polars():
    return pytest.importorskip("polars").DataFrame(FRAME.to_dict("list"))


def _arrow():
    return pytest.importorskip("pyarrow").table(FRAME.to_dict("list"))


def test_numbers_as_text_are_numbers_and_a_feature_may_describe_the_query_too():
    frame = FRAME.assign(market=["1", "2", "1", "2"])
    data = from_frame(frame, query_features=["market"], features=["bm25", "length"])
    assert data.query_features.ravel().tolist() == [1.0, 2.0]
    both = from_frame(FRAME, query_features=["length"], features=["bm25", "length"])
    assert both.n_features == 2
    assert both.query_features.ravel().tolist() == [3.0, 5.0]


def test_what_differs_within_a_query_or_is_missing_is_refused():
    with pytest.raises(DataError, match="query 2: its rows have different values of 'bm25'"):
        from_frame(FRAME, query_features=["bm25", "market"], features=["length"])
    with pytest.raises(DataError, match="no column 'markt'"):
        from_frame(FRAME, query_features=["markt"])
    with pytest.raises(DataError, match="column 'market': row 1 has no value"):
        from_frame(FRAME.assign(market=["de", None, "de", None]), query_features=["market"])
    with pytest.raises(DataError, match=r"query_features=\['market'\]"):
        from_frame(FRAME)


def test_a_model_takes_them_from_a_frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)).round(3), columns=["bm25", "age"])
    frame = frame.assign(qid=np.repeat(np.arange(10), 6), market=np.repeat(["de", "uk"], 30), label=np.arange(60) % 3)
    data = from_frame(frame, query_features=["market"])
    model = podium.train(data, "listnet(transform=shared)")
    np.testing.assert_array_equal(model.score(frame), model.score(data))
    with pytest.raises(DataError, match="needs the query feature 'market'"):
        model.score(frame.drop(columns="market"))
