"""`podium clicks`: its commands on small logs, what they refuse, and that nothing half-written is left."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from podium.clicks import Fitted, read_clicks
from podium.data import make_letor_like
from podium.formats import read_letor, read_preferences, write_letor

UBI = [
    {"query_id": "1", "user_query": "Shoes", "query_response_hit_ids": ["a", "b"]},
    {"action_name": "click", "query_id": "1", "event_attributes": {"object": {"object_id": "b"}}},
    {"action_name": "buy", "query_id": "1", "event_attributes": {"object": {"object_id": "b"}}},
    {"query_id": "2", "user_query": "hats"},
]
METARANK = [
    {"event": "ranking", "id": "r1", "items": [{"id": "a"}, {"id": "b"}], "fields": [{"name": "q", "value": "hat"}]},
    {"event": "interaction", "ranking": "r1", "type": "view", "item": "b"},
]


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """A file of judged documents and a log of simulated clicks on them."""
    folder = tmp_path_factory.mktemp("clicks")
    data, _ = make_letor_like(12, (6, 9), n_features=4, seed=1)
    write_letor(data, folder / "data.txt")
    from podium.clicks import simulate, write_clicks

    write_clicks(simulate(read_letor(folder / "data.txt"), pages=1500, depth=5, seed=0), folder / "log.jsonl")
    return folder


def lines(path, records):
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return str(path)


def test_ubi_is_imported_with_actions_as_clicks_and_grades(podium, tmp_path):
    source = lines(tmp_path / "ubi.ndjson", UBI)
    done = podium("clicks", "import", "ubi", source, "--action", "click", "--action", "buy=2", "-o", "log.jsonl")
    assert done.exit_code == 0, done.output
    assert "dropped 1 page" in done.stderr
    assert "wrote log.jsonl: 1 page of 1 query, 2 pairs, 1 click" in done.stderr
    log = read_clicks(tmp_path / "log.jsonl")
    assert (log.query_ids.tolist(), log.clicks.tolist(), log.grades.tolist()) == (["shoes"], [0, 1], [0.0, 2.0])


def test_metarank_is_imported_with_its_field_of_queries(podium, tmp_path):
    source = lines(tmp_path / "events.jsonl", METARANK)
    done = podium("clicks", "import", "metarank", source, "--action", "view", "--query-field", "q", "-o", "log.parquet")
    assert done.exit_code == 0, done.output
    assert read_clicks(tmp_path / "log.parquet").clicks.tolist() == [0, 1]


def test_public_logs_are_imported(podium, tmp_path):
    (tmp_path / "yandex.txt").write_text("1\t0\tQ\t7\t0\ta\tb\n1\t5\tC\tb\n")
    (tmp_path / "tiangong.txt").write_text("1\t7\t[1, 2]\t[1, 1]\t[0, 1]\n")
    (tmp_path / "bandit.csv").write_text("item,position,click,propensity\n4,2,1,0.5\n")
    for form, file in (("yandex", "yandex.txt"), ("tiangong", "tiangong.txt"), ("open-bandit", "bandit.csv")):
        assert podium("clicks", "import", form, file, "-o", "log.jsonl").exit_code == 0
        assert read_clicks(tmp_path / "log.jsonl").clicks.sum() == 1


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["import", "yandex", "a", "b"], "yandex is one file; got 2"),
        (["import", "yandex", "a", "--action", "view"], "--action is for ubi and metarank"),
        (["import", "metarank", "a", "--action", "buy=2"], "grades of actions are for ubi"),
        (["import", "ubi", "a", "--action", "buy=x"], "expected a number after ="),
        (["import", "ubi", "a", "--query-field", "q"], "--query-field is for metarank"),
        (["import", "xml", "a"], "is not one of"),
        (["import", "ubi", "a", "--rank", "pos"], "--rank names a column, for csv; got ubi"),
        (["import", "yandex", "a", "--ranker", "x"], "--ranker is for ubi and csv; got yandex"),
        (["check", "a", "--drop", "odd"], "--drop and -o go together"),
        (["fit", "a", "--model", "pmb"], "Did you mean 'pbm'"),
        (["fit", "a", "-o", "-"], "is not text for standard output"),
        (["compare", "a", "--folds", "3", "--held-out", "b"], "give one of them"),
        (["compare", "a", "--models", "foo"], "No click model 'foo'"),
        (["label", "a", "b", "--how", "coek"], "Did you mean 'coec'"),
        (["label", "a", "b", "--grades", "many"], "expected a number of grades, quantiles or none"),
        (["simulate", "a", "--curve", "1;2"], "separated by commas"),
    ],
)
def test_misuse_is_refused_before_any_work(podium, tmp_path, words, error):
    (tmp_path / "a").write_text("0 qid:1 1:1\n")
    done = podium("clicks", *words)
    assert done.exit_code == 2, done.output
    assert error in " ".join(done.stderr.split())


def test_an_import_does_not_replace_what_it_reads(podium, tmp_path):
    source = lines(tmp_path / "log.jsonl", UBI)
    done = podium("clicks", "import", "ubi", source, "-o", "log.jsonl")
    assert done.exit_code == 2
    assert "would replace the file that is read" in done.stderr
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == 4


def test_a_log_is_checked_with_a_page_and_odd_pages_dropped(podium, tmp_path):
    pages = [{"query": "q", "documents": ["a", "b", "<c>"], "clicks": clicks} for clicks in ([1], [], [1, 2, 3])]
    log = lines(tmp_path / "log.jsonl", pages)
    done = podium("clicks", "check", log, "--report", "page.html", "--drop", "odd", "-o", "clean.jsonl")
    assert done.exit_code == 0, done.output
    assert "rank  shown  clicked" in done.stdout
    assert "1 of 3 pages: every document was clicked. (all-clicked)" in done.stdout
    assert "2 ranks cannot be compared with rank 1. (unconnected-ranks)" in done.stdout
    assert read_clicks(tmp_path / "clean.jsonl").n_pages == 2
    page = (tmp_path / "page.html").read_text()
    for text in ("Clicks by rank", "The ranks fall into 3 parts: 1; 2; 3.", "all-clicked", "<svg", "</html>"):
        assert text in page
    assert podium("clicks", "check", log, "--drop", "bots", "-o", "x.jsonl").exit_code == 2
    codes = [one["code"] for one in json.loads(podium("clicks", "check", log, "--json").stdout)]
    assert codes == ["all-clicked", "unconnected-ranks", "clicks-by-rank"]


def test_a_log_without_clicks_fails_the_check(podium, tmp_path):
    log = lines(tmp_path / "log.jsonl", [{"query": "q", "documents": ["a"], "clicks": []}])
    done = podium("clicks", "check", log)
    assert done.exit_code == 1
    assert "(no-clicks)" in done.stdout


def test_a_model_is_fitted_and_saved(podium, tmp_path, judged):
    done = podium("clicks", "fit", str(judged / "log.jsonl"), "--model", "pbm", "-o", "pbm.podium")
    assert done.exit_code == 0, done.output
    assert "examined   1.000 0." in done.stdout
    assert repr(Fitted.load(tmp_path / "pbm.podium").model) == "pbm"
    said = json.loads(podium("clicks", "fit", str(judged / "log.jsonl"), "--model", "rctr", "--json").stdout)
    assert (said["model"], len(said["examination"])) == ("rctr", 5)


def test_models_are_compared_best_first_with_a_page(podium, tmp_path, judged):
    words = ("clicks", "compare", str(judged / "log.jsonl"), "--models", "gctr,pbm,cascade", "--folds", "2")
    done = podium(*words, "--report", "page.html")
    assert done.exit_code == 0, done.output
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == ["model", "pbm", "gctr", "cascade"]
    assert rows[1][1] == "best"
    assert "cascade: " in done.stderr
    assert "cannot be compared" in done.stderr
    page = (tmp_path / "page.html").read_text()
    for text in ("Leaderboard", "Perplexity at each rank", "How far down people look", "</html>"):
        assert text in page
    said = json.loads(podium(*words, "--json").stdout)
    assert [model["best"] for model in said["models"]] == [True, False, False]


def test_clicks_become_labels_and_preferences(podium, tmp_path, judged):
    data, log = str(judged / "data.txt"), str(judged / "log.jsonl")
    done = podium("clicks", "label", data, log, "--how", "pbm", "--grades", "5", "-o", "train.txt")
    assert done.exit_code == 0, done.output
    assert "in 12 of 12 queries" in done.stderr
    labelled = read_letor(tmp_path / "train.txt")
    assert set(np.unique(labelled.labels)) <= {0.0, 1.0, 2.0, 3.0, 4.0}
    truth = read_letor(data)
    assert np.corrcoef(labelled.labels, truth.labels)[0, 1] > 0.9
    real = podium("clicks", "label", data, log, "--how", "ctr", "-o", "real.txt")
    assert "measure with linear gains" in real.stderr
    done = podium("clicks", "prefer", data, log, "--rule", "click-rates", "--level", "0.05", "-o", "prefs.tsv")
    assert done.exit_code == 0, done.output
    edges = read_preferences(tmp_path / "prefs.tsv", truth)
    winners, losers = (
        truth.labels[
            edges.preferences.edges[:, k].astype(int)
            + np.repeat(truth.offsets[:-1], np.diff(edges.preferences.offsets))
        ]
        for k in (0, 1)
    )
    assert (winners > losers).mean() > 0.9


def test_simulated_logs_can_be_ranked_by_scores(podium, tmp_path, judged):
    data = read_letor(judged / "data.txt")
    (tmp_path / "good.txt").write_text("".join(f"{label}\n" for label in data.labels))
    words = ("--pages", "50", "--depth", "3", "--curve", "1,0.5", "--model", "ubm", "-o", "log.jsonl")
    done = podium("clicks", "simulate", str(judged / "data.txt"), "good.txt", *words)
    assert done.exit_code == 0, done.output
    log = read_clicks(tmp_path / "log.jsonl")
    assert (log.n_pages, log.sizes.max()) == (50, 3)
    grade = dict(zip(data.document_ids, data.labels, strict=True))
    first = log.document_ids[log.pairs[log.offsets[:-1]]]
    best = {q: data.labels[a:b].max() for q, a, b in zip(data.query_ids, data.offsets, data.offsets[1:], strict=False)}
    assert [grade[document] for document in first] == [best[log.query_ids[q]] for q in log.page_query]


KILLED = """
    import os, signal, sys
    from podium.cli.main import app
    def kill(*_):
        os.kill(os.getpid(), signal.{signal})
    os.{moment} = kill
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell in the background switches off
    app(sys.argv[1:])
"""


@pytest.mark.parametrize(("how", "moment"), [("SIGKILL", "replace"), ("SIGINT", "fsync")])
def test_a_killed_import_leaves_the_old_log_whole(tmp_path, how, moment):
    source = lines(tmp_path / "ubi.ndjson", UBI)
    (tmp_path / "log.jsonl").write_text("the old log")
    program = textwrap.dedent(KILLED).format(signal=how, moment=moment)
    words = [sys.executable, "-c", program, "clicks", "import", "ubi", source, "-o", str(tmp_path / "log.jsonl")]
    done = subprocess.run(words, capture_output=True, env=os.environ | {"PYTHONFAULTHANDLER": ""})
    assert done.returncode == (-signal.SIGKILL if how == "SIGKILL" else 130), done.stderr
    assert (tmp_path / "log.jsonl").read_text() == "the old log"
    if how == "SIGINT":
        assert sorted(file.name for file in tmp_path.iterdir()) == ["log.jsonl", "ubi.ndjson"]


def test_a_table_is_imported_with_its_columns_and_the_ids_of_queries(podium, tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "shown.csv").write_text("words,sku,place,hit,arm\nRed shoes,a,1,0,A\nRed shoes,b,2,1,A\nhats,c,1,1,B\n")
    (tmp_path / "queries.tsv").write_text("q1\tred shoes\nq2\tcoats\n")
    words = ["clicks", "import", "csv", "shown.csv", "--query", "words", "--rank", "place", "--clicked", "hit"]
    done = podium(*words, "--ranker", "arm", "--queries", "queries.tsv", "-o", "log.jsonl")
    assert done.exit_code == 0, done.output
    assert "1 of 2 pages joined by the queries of queries.tsv; 1 page of 1 query left out, e.g. 'hats'" in done.stderr
    assert "rankers A, B, from arm" in done.stderr
    log = read_clicks(tmp_path / "log.jsonl")
    assert (log.query_ids.tolist(), log.document_ids.tolist(), log.clicks.tolist()) == (["q1"], ["a", "b"], [0, 1])


def test_labels_and_preferences_are_joined_by_the_text_of_a_query(podium, judged, tmp_path):
    pages = [json.loads(line) for line in (judged / "log.jsonl").read_text().splitlines()]
    texted = [page | {"query": f"Text of  {page['query']}"} for page in pages]
    lines(tmp_path / "texts.jsonl", texted)
    queries = lines(
        tmp_path / "queries.jsonl", [{"id": id, "text": f"text of {id}"} for id in {p["query"] for p in pages}]
    )
    data = str(judged / "data.txt")
    for command in ("label", "prefer"):
        refused = podium("clicks", command, data, "texts.jsonl")
        assert refused.exit_code == 1
        assert "--queries" in refused.stderr
        joined = podium("clicks", command, data, "texts.jsonl", "--queries", queries)
        assert joined.exit_code == 0, joined.stderr
        assert joined.stdout == podium("clicks", command, data, str(judged / "log.jsonl")).stdout
