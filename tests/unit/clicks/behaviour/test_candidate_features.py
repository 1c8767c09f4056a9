"""Behaviour features of judged queries: those of pages at the time of the query, or at the end of the log."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import podium
from podium.base.errors import DataError, ParameterError, PodiumError
from podium.cli.main import app
from podium.clicks import read_clicks
from podium.clicks.behaviour import behaviour_features
from podium.clicks.behaviour import candidate_features as module
from podium.text.collection.collection import read_queries
from podium.text.index.index import Index
from podium.text.retrieval.candidates import dataset

DAY = 86_400_000
DOCUMENTS = [
    {"id": "a", "text": "tent for two", "brand": "fell", "price": 20, "added": "1970-01-02"},
    {"id": "b", "text": "tent", "brand": "fell", "price": 30},
    {"id": "c", "text": "tent pole", "brand": "tarn", "price": 70, "added": "1970-01-01"},
    {"id": "d", "text": "two poles", "brand": "tarn"},
]
PAGES = [
    {"query": "Tent", "documents": ["a", "c"], "clicks": [2], "time": 1 * DAY},
    {"query": "tent", "documents": ["c", "b"], "clicks": [{"at": 1, "dwell": 3}, {"at": 2, "time": 5 * DAY}],
     "time": 3 * DAY},
    {"query": "pole", "documents": ["c", "d"], "clicks": [2], "time": 4 * DAY},
]  # fmt: skip
QUERIES = [{"id": "q1", "text": "tent", "time": 4 * DAY}, {"id": "q2", "text": "pole two"}]
WANTED = (
    "clicks,rate(by=query-document),clicks(by=query),coec(by=field:brand,days=9),dwell,last,age(field=added),"
    "from_median(field=price),hour"
)


@pytest.fixture
def index(tmp_path):
    index = Index.create(tmp_path / "my.index", DOCUMENTS)
    yield index
    index.close()


def log_of(tmp_path, pages=PAGES):
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, pages)))
    return read_clicks(path)


def expected_of(tmp_path, data, query, names, time):
    """Features of a page with the candidates of a query, without a click, at the end of the log."""
    rows = np.flatnonzero(data.query_ids[data.query_index] == query)
    pages = [page | {"query": names.get(page["query"], page["query"])} for page in PAGES]
    shown = data.document_ids[rows].tolist()
    log = log_of(tmp_path, [*pages, {"query": query, "documents": shown, "clicks": [], "time": time, "page": "asked"}])
    X = behaviour_features(log, WANTED, DOCUMENTS)
    (page,) = np.flatnonzero(log.page_ids == "asked")
    return rows, X[log.offsets[page] : log.offsets[page + 1]]


def test_candidates_have_the_features_of_a_page_at_the_time_of_their_query(tmp_path, index):
    data = dataset(index, QUERIES, features=f"tf,{WANTED}", clicks=log_of(tmp_path))
    assert data.feature_names[1:] == tuple(map(repr, podium.clicks.behaviour.read_behaviour(WANTED)))
    assert data.info["behaviour"] == list(data.feature_names[1:])
    names = {"Tent": "q1", "tent": "q1"}
    for query, time in (("q1", 4 * DAY), ("q2", 5 * DAY + 1)):
        rows, X = expected_of(tmp_path, data, query, names, time)
        np.testing.assert_array_equal(data.features[rows, 1:], X)
    assert dict(zip(data.document_ids, data.features[:, 1], strict=True))["c"] == 2


def test_parts_of_the_queries_have_the_features_of_all_of_them(tmp_path, index, monkeypatch):
    expected = dataset(index, QUERIES, features=f"tf,{WANTED}", clicks=log_of(tmp_path))
    monkeypatch.setattr(module, "_AT_ONCE", 1)
    parts = dataset(index, QUERIES, features=f"tf,{WANTED}", clicks=log_of(tmp_path))
    np.testing.assert_array_equal(parts.features, expected.features)


def test_no_event_at_or_after_the_time_of_a_query_changes_its_features(tmp_path, index):
    query = [{"id": "q1", "text": "tent", "time": "1970-01-04T00:00:00.001Z"}]
    before = dataset(index, query, features=f"tf,{WANTED}", clicks=log_of(tmp_path))
    late = [PAGES[0], PAGES[1] | {"clicks": [1]}, {"query": "tent", "documents": ["a"], "clicks": [1], "time": 9 * DAY}]
    after = dataset(index, query, features=f"tf,{WANTED}", clicks=log_of(tmp_path, late))
    np.testing.assert_array_equal(before.features, after.features)


@pytest.mark.parametrize(
    ("features", "clicks", "time", "words"),
    [
        ("tf,clicks", False, None, r"clicks is a behaviour feature, .*: give clicks=… \(--clicks LOG\)"),
        ("tf", True, None, r"features are of both kinds; add behaviour features, such as rate\(days=7\)"),
        ("clicks", True, None, "features are of both kinds; add features of the text, such as podium"),
        ("tf,clicks(by=user)", True, None, r"clicks\(by=user\) is about the user of a page, and judged queries have"),
        ("tf,seen(field=brand)", True, None, r"podium clicks features"),
        ("tf,clicks(by=field:brnad)", True, None, "No stored field 'brnad'. Did you mean 'brand'"),
        ("tf,clicks", True, "yesterday", "query 'q1': a time must be like 2024-12-10.*got 'yesterday'"),
    ],
)
def test_what_cannot_be_counted_is_refused_in_words(tmp_path, index, features, clicks, time, words):
    query = [{"id": "q1", "text": "tent", "time": time}]
    with pytest.raises(PodiumError, match=words):
        dataset(index, query, features=features, clicks=log_of(tmp_path) if clicks else None)


def test_a_log_without_times_is_refused(tmp_path, index):
    log = log_of(tmp_path, [{"query": "tent", "documents": ["a"], "clicks": []}])
    with pytest.raises(DataError, match="1 of 1 pages have no time"):
        dataset(index, QUERIES, features="tf,clicks", clicks=log)


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_the_command_writes_the_same_features_and_warns_of_leaks(tmp_path, index):
    log_of(tmp_path)
    queries = tmp_path / "queries.jsonl"
    queries.write_text("\n".join(map(json.dumps, QUERIES)))
    log, output = tmp_path / "log.jsonl", tmp_path / "train.parquet"
    done = run("features", tmp_path / "my.index", queries, "--set", f"tf,{WANTED}", "--clicks", log, "-o", output)
    assert done.exit_code == 0, done.output
    assert "1 of 2 queries in" in done.stderr
    assert "warning: 1 query without a time" in done.stderr
    assert "1970-01-06T00:00:00+00:00. If judgments were made from its clicks, they leak" in done.stderr
    written, expected = podium.read_data(output), dataset(
        index, read_queries(queries), features=f"tf,{WANTED}", clicks=log_of(tmp_path)
    )  # fmt: skip
    np.testing.assert_array_equal(written.features, expected.features)
    assert written.info["behaviour"] == expected.info["behaviour"]


def test_the_command_for_pages_takes_documents(tmp_path, index):
    log_of(tmp_path)
    arguments = ["clicks", "features", tmp_path / "log.jsonl", "--set", "clicks(by=field:brand)", "-o"]
    done = run(*arguments, tmp_path / "pages.parquet", "--documents", tmp_path / "my.index")
    assert done.exit_code == 0, done.output
    X = podium.read_data(tmp_path / "pages.parquet").features[:, 0]
    np.testing.assert_array_equal(X, behaviour_features(log_of(tmp_path), "clicks(by=field:brand)", DOCUMENTS)[:, 0])
    refused = run(*arguments, tmp_path / "other.parquet")
    assert isinstance(refused.exception, ParameterError | SystemExit)
    assert "(--documents INDEX|FILE)" in refused.output + str(refused.exception)
