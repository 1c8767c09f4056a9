"""podium features of a log: from what a search engine logged to a model for it."""

import json

import podium as package
from engine_answers import write_log

NAMES = ("title", "text")


def write_files(folder, engine="elasticsearch"):
    """A log of four queries, of which three have judgments."""
    queries = {
        f"q{q}": [(f"d{k}", 3.0 - k, (float((k + q) % 3), float("nan") if k == 1 else 1.0)) for k in range(3)]
        for q in range(4)
    }
    write_log(folder / "log.jsonl", engine, queries, NAMES)
    (folder / "qrels.txt").write_text("".join(f"q{q} 0 d{(2 - q) % 3} 2\nq{q} 0 far 1\n" for q in range(3)))


def test_a_log_becomes_training_data_and_a_model(podium, tmp_path):
    write_files(tmp_path)
    result = podium("features", "log.jsonl", "qrels.txt", "-o", "train.txt", "--run", "shown.run", "--missing", "zero")
    assert result.exit_code == 0, result.stderr
    assert "train.txt: 3 queries, 9 documents, 2 features" in result.stderr
    assert "1 query of 4 without a judgment left out" in result.stderr
    assert "16.7% of the values were not logged by elasticsearch: they are 0" in result.stderr
    assert "candidates hold 50.0% of the relevant documents" in result.stderr
    lines = (tmp_path / "shown.run").read_text().splitlines()
    assert lines[:2] == ["q0 Q0 d0 1 3.0 elasticsearch", "q0 Q0 d1 2 2.0 elasticsearch"]
    data = package.read_data(tmp_path / "train.txt")
    assert data.feature_names == NAMES
    assert data.labels.tolist() == [0, 0, 2, 0, 2, 0, 2, 0, 0]
    trained = podium("train", "train.txt", "--method", "single-feature", "-o", "m.podium")
    assert trained.exit_code == 0, trained.stderr
    model = package.load(tmp_path / "m.podium")
    assert model.info["features"] == {"engine": "elasticsearch", "missing": "zero"}
    assert model.feature_names == NAMES
    (tmp_path / "docs.jsonl").write_text('{"id": "d1", "title": "x", "text": "y"}\n')
    assert podium("index", "docs.jsonl", "-o", "my.index").exit_code == 0
    searched = podium("search", "my.index", "x", "--model", "m.podium")
    assert "trained on features of elasticsearch, which podium does not compute" in searched.stderr


def test_without_judgments_all_queries_are_kept_and_what_does_not_fit_is_said(podium, tmp_path):
    write_files(tmp_path, "solr")
    result = podium("features", "log.jsonl", "-o", "all.txt")
    assert "all.txt: 4 queries, 12 documents, 2 features" in result.stderr
    (tmp_path / "other.txt").write_text("x1 0 d1 1\n")
    for words, says, code in [
        (("log.jsonl", "other.txt"), "called 'q0' …, those of the judgments 'x1' …", 1),
        (("log.jsonl", "queries.tsv", "qrels.txt"), "podium features log.jsonl QRELS", 2),
        (("log.jsonl", "qrels.txt", "--set", "bm25"), "podium features log.jsonl QRELS", 2),
        (("qrels.txt", "qrels.txt", "--missing", "zero"), "qrels.txt is not a log", 2),
        (("my.index",), "no such file", 1),
    ]:
        refused = podium("features", *words)
        assert says in refused.stderr
        assert refused.exit_code == code
    (tmp_path / "bad.jsonl").write_text(json.dumps({"query": "q", "response": {"docs": [{"id": "a"}]}}))
    assert "'a' of query 'q' has no logged features" in podium("features", "bad.jsonl").stderr


def test_scores_of_runs_become_features_and_weights(podium, tmp_path):
    lines = {"lexical": [], "vector": []}
    for q in range(12):
        for k in range(6):
            for name, score in (("lexical", (k * 7 + q) % 5 + 1), ("vector", 0.1 * k + 0.3)):
                if (k + q) % 4 or name == "vector":
                    lines[name].append(f"q{q} Q0 d{k} 1 {score} x")
    for name, rows in lines.items():
        (tmp_path / f"{name}.run").write_text("\n".join(rows) + "\n")
    (tmp_path / "qrels.txt").write_text("".join(f"q{q} 0 d{k} {k // 2}\n" for q in range(11) for k in range(6)))
    made = podium("features", "lexical.run", "qrels.txt", "--also", "vector.run", "-o", "stages.txt")
    assert made.exit_code == 0, made.stderr
    assert "stages.txt: 11 queries, 66 documents, 2 features" in made.stderr
    assert "1 query of 12 without a judgment left out" in made.stderr
    data = package.read_data(tmp_path / "stages.txt")
    assert data.feature_names == ("lexical", "vector")
    twice = podium("features", "lexical.run", "qrels.txt", "--also", "lexical.run")
    assert "two runs are called 'lexical'" in twice.stderr
    (tmp_path / "other.txt").write_text("zz 0 d1 1\n")
    assert "no query of the runs has a judgment" in podium("features", "lexical.run", "other.txt").stderr
