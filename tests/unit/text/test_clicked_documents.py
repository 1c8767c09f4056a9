"""Clicks as fields of documents: counts, the queries that led to clicks, and test queries that stay out."""

import json

import pytest

from podium.base.errors import DataError
from podium.clicks import ClickLog, write_clicks
from podium.formats.query_texts import QueryTexts
from podium.text.collection.clicked_documents import document_clicks, fields_with_queries, with_clicks
from podium.text.index.index import Index

PAGES = [("red shoes", ["a", "b"], [1]), ("red shoes", ["b", "a"], [1, 2]), ("boots", ["a", "c"], [2])]
DOCUMENTS = [{"id": "a", "text": "x"}, {"id": "b", "text": "x"}, {"id": "c", "text": "x"}, {"id": "d", "text": "x"}]


def numbers(clicked):
    return {id: (one.clicks, one.impressions, one.queries) for id, one in clicked.items()}


def test_clicks_impressions_and_queries_of_each_document():
    assert numbers(document_clicks(ClickLog.from_pages(PAGES))) == {
        "a": (2, 3, ["red shoes"]), "b": (1, 2, ["red shoes"]), "c": (1, 1, ["boots"]),
    }  # fmt: skip


def test_only_the_queries_that_are_named_count_by_id_or_by_text():
    log = ClickLog.from_pages(PAGES)
    expected = {"a": (0, 1, []), "c": (1, 1, ["boots"])}
    assert numbers(document_clicks(log, QueryTexts({"7": "Boots "}, "q"))) == {**expected, "c": (1, 1, ["Boots "])}
    assert numbers(document_clicks(log, QueryTexts({"boots": "boots"}, "q"))) == expected
    with pytest.raises(DataError, match="no query of <pages> is among those of q"):
        document_clicks(log, QueryTexts({"1": "hats"}, "q"))


def test_documents_get_fields_and_those_without_impressions_zeros():
    a, _, _, d = with_clicks(DOCUMENTS, document_clicks(ClickLog.from_pages(PAGES)))
    assert a == {"id": "a", "text": "x", "clicks": 2, "impressions": 3, "queries": "red shoes"}
    assert d == {"id": "d", "text": "x", "clicks": 0, "impressions": 0}
    with pytest.raises(DataError, match="a field 'clicks' already"):
        list(with_clicks([{"id": "a", "clicks": 3}], {}))


def test_the_queries_are_searched():
    log = ClickLog.from_pages(PAGES)
    documents, fields = fields_with_queries(with_clicks(DOCUMENTS, document_clicks(log)), None, id=None, title=None)
    assert fields == ["text", "queries"]
    assert len(list(documents)) == 4
    assert fields_with_queries(iter(()), ["text"], id=None, title=None)[1] == ["text", "queries"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in DOCUMENTS))
    (tmp_path / "train.tsv").write_text("id\ttext\n7\tboots\n")
    write_clicks(ClickLog.from_pages(PAGES), tmp_path / "log.jsonl")
    return tmp_path


def run(*words):
    from typer.testing import CliRunner

    from podium.cli.main import app

    return CliRunner().invoke(app, list(words))


def test_the_command_indexes_clicks_of_training_queries(files):
    result = run("index", "docs.jsonl", "-o", "my.index", "--clicks", "log.jsonl", "--clicks-of", "train.tsv")
    assert result.exit_code == 0, result.output
    assert "leak" not in result.output
    assert "searched   text, queries" in result.output
    index = Index.open("my.index")
    assert index.search("boots").ids == ["c"]
    assert index.search("shoes").ids == []
    assert index.document("c")["clicks"] == 1
    index.close()
    (files / "more.jsonl").write_text('{"id": "e", "text": "y"}\n')
    result = run("index", "more.jsonl", "-o", "my.index", "--add", "--clicks", "log.jsonl", "--clicks-of", "train.tsv")
    assert result.exit_code == 0, result.output


def test_the_command_warns_of_leaks_and_refuses_what_makes_no_sense(files):
    result = run("index", "docs.jsonl", "-o", "all.index", "--clicks", "log.jsonl")
    assert result.exit_code == 0
    assert "leak" in result.output
    assert run("index", "docs.jsonl", "-o", "b.index", "--clicks-of", "train.tsv").exit_code == 2
    assert run("index", "docs.jsonl", "-o", "plain.index").exit_code == 0
    result = run("index", "docs.jsonl", "-o", "plain.index", "--replace", "--clicks", "log.jsonl")
    assert result.exit_code == 2
    assert "made without --clicks" in result.output
