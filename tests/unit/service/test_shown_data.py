"""What people see of the service's data: texts of queries, fields of documents, the scale of grades, guidelines."""

import json

import numpy as np
import pytest

import podium
from podium.base.errors import DataError, ParameterError
from podium.data.dataset import Dataset
from podium.service.settings import Settings
from podium.service.shown_data import read_shown_data, scale_of

IDS = ["q1", "q2", "3"]


@pytest.fixture
def served(start, models, tmp_path):
    """Data of three queries, two of which have a text; d1 of its documents is in the index."""
    rng = np.random.default_rng(0)
    data = Dataset.from_arrays(
        rng.random((6, 3)), [0, 2, 0, 1, 0, 0], qid=np.repeat(np.array(IDS, object), [3, 2, 1]),
        document_ids=["d1", "d2", "d3", "d1", "d2", "d3"],
    )  # fmt: skip
    podium.write_letor(data, tmp_path / "data.txt")
    lines = [{"id": "q1", "text": "Winter Tent"}, {"id": "q2", "text": "naïve café"}, {"id": "x", "text": "other"}]
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    (tmp_path / "guidelines.txt").write_text("\ufeffGrade kindly.\n", "utf-8")
    podium.Index.create(tmp_path / "my.index", [{"id": "d1", "title": "Tent", "price": 9.5}]).close()
    files = {name: str(tmp_path / file) for name, file in (
        ("data", "data.txt"), ("queries", "queries.jsonl"), ("guidelines", "guidelines.txt"), ("index", "my.index"),
    )}  # fmt: skip
    return start(models=(str(models / "plain.podium"), str(models / "trees.podium")), **files)


def test_queries_are_listed_with_texts_and_numbers_of_documents_part_by_part(served):
    assert served("GET", "/v1/queries").json == {
        "queries": IDS, "total": 3, "documents": [3, 2, 1], "texts": ["Winter Tent", "naïve café", None],
    }  # fmt: skip
    assert served("GET", "/v1/queries?from=1&k=1").json["queries"] == ["q2"]
    assert served("GET", "/v1/queries?from=7").json == {"queries": [], "total": 3, "documents": [], "texts": []}
    for words, found in (("tent", ["q1"]), ("CAF%C3%89", ["q2"]), ("Q", ["q1", "q2"]), ("other", [])):
        assert served("GET", f"/v1/queries?search={words}").json["queries"] == found
    for wrong in ("from=-1", "k=many", "k=1e3"):
        assert served("GET", f"/v1/queries?{wrong}").status == 422


def test_a_query_has_its_text_and_the_stored_fields_of_documents_that_are_in_the_index(served):
    answer = served("GET", "/v1/queries/q1").json
    assert answer["text"] == "Winter Tent"
    assert answer["stored"] == {"d1": {"id": "d1", "title": "Tent", "price": 9.5}}
    assert served("GET", "/v1/queries/3").json["text"] is None


def test_models_say_whether_they_have_odds_and_can_search(served):
    models = {one["model"]: (one["odds"], one["searches"]) for one in served("GET", "/v1/models").json["models"]}
    assert models == {"plain@1": (False, False), "trees@1": (False, False)}


def test_the_scale_is_that_of_the_data_unless_the_settings_say_another(served):
    about = served("GET", "/v1/about").json
    assert (about["scale"], about["guidelines"]) == (2, "Grade kindly.")
    assert read_shown_data(Settings(scale=7), None).scale == 7
    for labels, scale in (([0, 1], 1), ([0, 9], 9), ([0, 10], 4), ([0, 0.5], 4), ([0, 0], 4)):
        assert scale_of(Dataset.from_arrays(np.ones((2, 1)), labels, group=[2])) == scale
    assert scale_of(None) == 4
    with pytest.raises(ParameterError, match="scale must be from 1 to 9"):
        Settings(scale=10)


def test_texts_of_other_queries_and_unreadable_guidelines_are_refused(tmp_path):
    (tmp_path / "queries.tsv").write_text("7\theat\n")
    data = Dataset.from_arrays(np.ones((2, 1)), [0, 1], qid=np.array(["a", "a"], object)).grouped()
    with pytest.raises(DataError, match="none of its 1 ids is a query of the data, whose first is 'a'"):
        read_shown_data(Settings(queries=str(tmp_path / "queries.tsv")), data)
    with pytest.raises(DataError, match="No such file"):
        read_shown_data(Settings(guidelines=str(tmp_path / "none.txt")), None)
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    with pytest.raises(DataError, match="not text in UTF-8"):
        read_shown_data(Settings(guidelines=str(tmp_path / "latin.txt")), None)
    (tmp_path / "long.txt").write_bytes(b"a" * 60_000)
    with pytest.raises(ParameterError, match="at most 50000 bytes"):
        read_shown_data(Settings(guidelines=str(tmp_path / "long.txt")), None)
