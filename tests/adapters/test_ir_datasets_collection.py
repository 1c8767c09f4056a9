"""ir_datasets: documents, queries and judgments in one call, from files of that package's own formats."""

import pytest

ir_datasets = pytest.importorskip("ir_datasets", reason="needs pip install 'podium[adapters]'")

import podium
from podium.integrations.ir_datasets import collection
from podium.text import dataset


def test_a_collection_becomes_an_index_and_training_data(tmp_path):
    (tmp_path / "docs.tsv").write_text("d1\theat flow\nd2\tcold wall\nd3\theat in a wall\n")
    (tmp_path / "queries.tsv").write_text("1\theat\n2\twall\n")
    (tmp_path / "qrels").write_text("1 0 d1 2\n1 0 d2 0\n2 0 d2 1\n")
    files = {name: str(tmp_path / file) for name, file in (("docs_tsv", "docs.tsv"), ("queries_tsv", "queries.tsv"))}
    loaded = collection(ir_datasets.create_dataset(**files, qrels_trec=str(tmp_path / "qrels")))
    assert next(iter(loaded.documents)) == {"id": "d1", "text": "heat flow"}
    assert loaded.queries == [{"id": "1", "text": "heat"}, {"id": "2", "text": "wall"}]
    assert loaded.qrels == {"1": {"d1": 2.0, "d2": 0.0}, "2": {"d2": 1.0}}
    index = podium.Index.create(tmp_path / "c.index", loaded.documents)
    data = dataset(index, loaded.queries, loaded.qrels, features="bm25,length")
    assert data.labels.tolist() == [2.0, 0.0, 1.0, 0.0]
    index.close()
