"""podium ask and podium push against a server in this process."""

import json

import pytest

from engine_answers import ANSWERS
from fake_engines import LtrStores, serving

QUERIES = '{"id": "q1", "text": "red shoes"}\n{"id": "q2", "text": "coats"}\n'


def ok(result):
    assert result.exit_code == 0, result.stderr
    return result


@pytest.mark.parametrize("engine", ["opensearch", "solr"])
def test_from_a_live_engine_to_training_data(podium, tmp_path, monkeypatch, engine):
    (tmp_path / "queries.jsonl").write_text(QUERIES)
    (tmp_path / "qrels.txt").write_text("q1 0 d2 1\nq2 0 d1 1\n")
    answer = ANSWERS[engine]([("d1", 2.0, (1.0, 0.5)), ("d2", 1.0, (2.0, 3.0))], ("title", "text"))
    monkeypatch.setenv("PODIUM_ENGINE_AUTH", "ann:secret")
    with serving(lambda *_: (200, answer)) as fake:
        words = ("ask", engine, "queries.jsonl", "--url", f"{fake.url}/shop/", "--log-features", "mine")
        shown = ok(podium(*words, "--dry-run"))
        assert not fake.requests
        assert shown.stdout.startswith(
            f"POST {fake.url}/shop/_s" if engine == "opensearch" else f"POST {fake.url}/shop/sel"
        )
        assert "red shoes" in shown.stdout
        done = ok(podium(*words, "-o", "answers.jsonl", "--run", "shown.run"))
        assert fake.headers[0]["Authorization"] == "Basic YW5uOnNlY3JldA=="
    assert "answers.jsonl: 2 answered now, 0 before, 0 without an answer" in done.stderr
    assert "secret" not in (tmp_path / "answers.jsonl").read_text()
    assert (tmp_path / "shown.run").read_text().startswith("q1 Q0 d1 1 2.0 ")
    made = ok(podium("features", "answers.jsonl", "qrels.txt", "-o", "train.txt"))
    assert "train.txt: 2 queries, 4 documents, 2 features" in made.stderr


def test_queries_without_an_answer_are_an_error_and_the_others_are_kept(podium, tmp_path):
    (tmp_path / "queries.jsonl").write_text(QUERIES)
    (tmp_path / "body.json").write_text('{"query": {"match": {"name": "{{query}}"}}}')
    answer = ANSWERS["elasticsearch"]([("d1", 2.0, (1.0,))], ("title",))

    def respond(method, path, body):
        return (200, answer) if body["query"]["match"]["name"] == "coats" else (500, {"error": "down"})

    with serving(respond) as fake:
        words = (
            "ask",
            "elasticsearch",
            "queries.jsonl",
            "--url",
            fake.url,
            "--template",
            "body.json",
            "--retries",
            "0",
        )
        result = podium(*words, "--run", "shown.run")
    assert result.exit_code == 1
    assert "1 query without an answer, the first 'q1': status 500" in result.stderr
    assert len((tmp_path / "answers.jsonl").read_text().splitlines()) == 1
    assert (tmp_path / "shown.run").read_text().split()[:3] == ["q2", "Q0", "d1"]


def test_nothing_is_sent_without_a_url_and_templates_are_checked(podium, tmp_path):
    (tmp_path / "queries.jsonl").write_text(QUERIES)
    (tmp_path / "body.json").write_text('{"query": "words"}')
    for words, says in [
        (("ask", "solr", "queries.jsonl"), "Missing option '--url'"),
        (("ask", "solr", "queries.jsonl", "--url", "host:8983"), "--url must begin with http://"),
        (("ask", "solr", "queries.jsonl", "--url", "http://h", "--template", "body.json"), "object with {{query}}"),
        (("push", "m.json", "--to", "solr"), "Missing option '--url'"),
        (("push", "m.json.unproven", "--to", "solr", "--url", "http://h"), "is unproven"),
        (("push", "m.json", "--to", "solr", "--url", "http://h"), "no such file"),
    ]:
        result = podium(*words)
        assert result.exit_code != 0
        assert says in result.stderr


def test_a_model_is_pushed_with_its_feature_set(podium, tmp_path):
    model = {"model": {"name": "m1", "model": {"type": "model/linear", "definition": '{"a": 1.0}'}}}
    features = {
        "featureset": {"name": "podium", "features": [{"name": "a", "params": [], "template": {"match_all": {}}}]}
    }
    (tmp_path / "m.json").write_text(json.dumps(model))
    (tmp_path / "set.json").write_text(json.dumps(features))
    with serving(LtrStores()) as fake:
        words = ("push", "m.json", "--feature-set", "set.json", "--to", "opensearch-ltr", "--url", fake.url)
        planned = ok(podium(*words, "--dry-run")).stdout
        assert not fake.requests
        assert f"POST {fake.url}/_ltr/_featureset/podium/_createmodel" in planned
        done = ok(podium(*words)).stdout.splitlines()
        assert done == ["the feature store added", "feature set podium added", "model m1 added"]
        assert ok(podium(*words)).stdout.splitlines()[-1] == "model m1 is there already"
