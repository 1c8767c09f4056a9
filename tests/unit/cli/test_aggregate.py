"""`podium aggregate`: runs and votes in, a run out that `podium evaluate` reads."""

import json

import numpy as np
import pytest

from podium.cli.main import app
from podium.formats.trec.trec import read_run

ONE = "q1 Q0 a 1 3 x\nq1 Q0 b 2 2 x\nq2 Q0 a 1 3 x\nq2 Q0 c 2 1 x\n"
TWO = "q1 Q0 b 1 9 y\nq1 Q0 c 2 8 y\nq2 Q0 c 1 9 y\nq2 Q0 a 2 8 y\n"
VOTES = "# FILE NAME: v.toc\n# ALTERNATIVE NAME 1: Ann Lee\n# ALTERNATIVE NAME 2: Bob\n2: 1,2\n1: {1,2}\n"


@pytest.fixture
def runs(tmp_path):
    one, two = tmp_path / "one.run", tmp_path / "two.run"
    one.write_text(ONE)
    two.write_text(TWO)
    return [str(one), str(two)]


def call(*words):
    with pytest.raises(SystemExit) as stop:
        app(list(map(str, words)))
    return stop.value.code


def test_a_consensus_is_a_run_that_evaluate_reads(runs, tmp_path, capsys):
    out, qrels = tmp_path / "fused.run", tmp_path / "qrels"
    qrels.write_text("q1 0 b 1\nq2 0 a 1\nq2 0 c 0\n")
    assert call("aggregate", *runs, "--method", "rrf(k=1)", "-o", out) == 0
    assert capsys.readouterr().out == ""
    fused = read_run(out)
    assert fused.tag == "rrf(k=1.0)"
    assert fused.document_ids[: fused.offsets[1]].tolist() == ["b", "a", "c"]  # 1/3 + 1/2, 1/2, 1/3
    assert fused.scores[:3] == pytest.approx([1 / 3 + 1 / 2, 1 / 2, 1 / 3])
    assert call("evaluate", qrels, out, "-m", "mrr", "--json") == 0
    assert json.loads(capsys.readouterr().out)


def test_without_a_file_the_run_is_printed(runs, capsys):
    assert call("aggregate", *runs, "--method", "combsum") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["q1", "Q0", "a", "1", "1.0", "combsum"]
    assert len(lines) == 5


def test_explain_shows_weights_and_agreement(tmp_path, capsys):
    votes = tmp_path / "v.toc"
    votes.write_text(VOTES)
    assert call("aggregate", votes, "--method", "kemeny", "--explain") == 0
    shown = capsys.readouterr()
    assert [line.split() for line in shown.out.splitlines()] == [
        ["voter", "weight", "tau"],
        ["1", "2", "1.0000"],
        ["2", "1", "–"],
    ]
    assert "1 of 1 queries proven optimal" in shown.err


def test_json_holds_what_explain_says(runs, capsys):
    assert call("aggregate", *runs, "--method", "footrule", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [voter["voter"] for voter in found["voters"]] == ["one", "two"]
    assert found["cost"] == found["bound"]
    assert found["queries"] == 2


def test_names_with_spaces_become_words_in_the_run(tmp_path, capsys):
    votes = tmp_path / "v.toc"
    votes.write_text(VOTES)
    assert call("aggregate", votes) == 0
    assert capsys.readouterr().out.split()[2] == "Ann_Lee"


def test_a_table_is_aggregated(tmp_path, capsys):
    votes = tmp_path / "votes.csv"
    votes.write_text("query,voter,document,score\n1,x,a,3\n1,x,b,2\n1,y,a,9\n1,y,c,1\n2,x,a,1\n")
    assert call("aggregate", votes) == 1
    assert "voter y ranks nothing for query 2, which others rank." in capsys.readouterr().err
    assert call("aggregate", votes, "--missing", "allow", "--method", "combsum") == 0
    assert [line.split()[2] for line in capsys.readouterr().out.splitlines()] == ["a", "b", "c", "a"]


def test_warnings_are_lines(tmp_path, capsys):
    run = tmp_path / "one.run"
    run.write_text("".join(f"q Q0 d{i} 0 {100 - i // 20} x\n" for i in range(60)))
    assert call("aggregate", run, "--method", "pmop") == 0
    shown = capsys.readouterr().err
    assert shown.startswith("warning: pmop: 1 of 1 queries have more than 50 documents (query q has 60)")
    assert shown.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--method", "bordo"], 2, "No aggregator 'bordo'. Did you mean 'borda'?"),
        (["-o", "nowhere/fused.run"], 1, "does not exist"),
    ],
)
def test_misuse_is_told_in_one_line(runs, words, code, message, capsys):
    assert call("aggregate", *runs, *words) == code
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("\n") == 1


def test_a_method_that_needs_scores_refuses_votes_by_file_and_line(tmp_path, capsys):
    votes = tmp_path / "v.toc"
    votes.write_text(VOTES)
    assert call("aggregate", votes, "--method", "combmnz") == 1
    assert f"{votes}:4: combmnz adds up scores, but voter 1 gave none" in capsys.readouterr().err


def test_runs_over_different_queries_are_refused_unless_allowed(runs, tmp_path, capsys):
    (tmp_path / "two.run").write_text(TWO.replace("q2", "q3"))
    assert call("aggregate", *runs) == 1
    assert "two.run:3: query q3 is ranked here but not in" in capsys.readouterr().err
    assert call("aggregate", *runs, "--missing", "allow") == 0


def test_letor_agg_files_say_which_end_is_the_top(tmp_path, capsys):
    agg = tmp_path / "agg.txt"
    agg.write_text("0 qid:1 1:1 2:NULL #docid = a\n1 qid:1 1:2 2:5 #docid = b\n")
    assert call("aggregate", agg, "--method", "borda") == 0
    assert capsys.readouterr().out.split()[2] == "b"
    agg.write_text("0 qid:1 1:1 2:4 #docid = a\n1 qid:1 1:2 2:5 #docid = b\n")
    assert call("aggregate", agg, "--method", "borda", "--top", "smallest") == 0
    assert capsys.readouterr().out.split()[2] == "a"


def searches(folder, *, queries, noises, seed=0):
    """Runs of engines that see how good documents are with noise of their own, and the qrels."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(queries, 30))
    paths = [folder / f"engine{e}.run" for e in range(len(noises))]
    for path, noise in zip(paths, noises, strict=True):
        seen = truth + noise * rng.normal(size=truth.shape)
        path.write_text("".join(f"{q} Q0 d{j} 0 {seen[q, j]} {path.stem}\n" for q, j in np.ndindex(seen.shape)))
    lines = [f"{q} 0 d{j} {int(truth[q, j] > 1)}\n" for q, j in np.ndindex(truth.shape)]
    half = len(lines) // 2
    for name, part in (("train.qrels", lines[:half]), ("test.qrels", lines[half:])):
        (folder / name).write_text("".join(part))
    return paths


@pytest.mark.parametrize("method", ["voter-weights", "cranking(rounds=20,sweeps=40)"])
def test_what_is_trained_is_a_run_that_evaluate_and_compare_read(method, tmp_path, capsys):
    paths = searches(tmp_path, queries=24, noises=[0.5, 1.0, 4.0])
    out, train, test = tmp_path / "fused.run", tmp_path / "train.qrels", tmp_path / "test.qrels"
    assert call("aggregate", *paths, "--method", method, "--train", train, "-o", out, "--explain") == 0
    shown = capsys.readouterr()
    weights = [float(line.split()[1]) for line in shown.out.splitlines()[1:]]
    assert weights[0] > weights[1] > weights[2]
    assert "trained: queries 12" in shown.err
    assert call("evaluate", test, out, "-m", "ndcg@10", "--json") == 0
    assert json.loads(capsys.readouterr().out)
    assert call("compare", test, out, *paths, "-m", "ndcg@10") == 0
    table = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert table[0] == ["run", "ndcg@10", "from", "to", "letters"]
    assert {row[0] for row in table[1:]} == {str(out), *map(str, paths)}
    assert table[-1][0] == str(paths[2])


def test_training_alone_means_voter_weights(tmp_path, capsys):
    paths = searches(tmp_path, queries=12, noises=[0.5, 2.0])
    assert call("aggregate", *paths, "--train", tmp_path / "train.qrels", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["method"] == "voter-weights"
    assert sum(voter["weight"] for voter in found["voters"]) == pytest.approx(1.0)


def test_a_letor_agg_file_can_be_learned_from(tmp_path, capsys):
    rng = np.random.default_rng(1)
    lines = []
    for q in range(20):
        good, bad = rng.permutation(10), rng.permutation(10)
        lines += [f"{int(good[j] > 6)} qid:{q} 1:{good[j] + 1} 2:{bad[j] + 1} #docid = d{j}\n" for j in range(10)]
    train, test = tmp_path / "train.txt", tmp_path / "test.txt"
    train.write_text("".join(lines[:100]))
    test.write_text("".join(lines[100:]))
    assert call("aggregate", test, "--train", train, "--explain") == 0
    weights = [float(line.split()[1]) for line in capsys.readouterr().out.splitlines()[1:]]
    assert weights[0] > 0.9


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--method", "cranking"], 2, "cranking learns from judged queries: add --train QRELS"),
        (
            ["--method", "rrf", "--train", "qrels"],
            2,
            "rrf learns nothing: leave --train out, tune a parameter by --tune, or use",
        ),
        (
            ["--method", "voter-weights(method=lamdarank)", "--train", "qrels"],
            2,
            "No method 'lamdarank'",
        ),
        (["--train", "qrels"], 1, "in none of 2 queries is one document graded above another"),
    ],
)
def test_methods_that_learn_and_judgments_go_together(runs, words, code, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("q9 0 b 1\n")
    assert call("aggregate", *runs, *words) == code
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("\n") == 1


def test_a_parameter_is_tuned_on_judged_queries(runs, tmp_path, capsys):
    out, qrels = tmp_path / "fused.run", tmp_path / "qrels"
    qrels.write_text("q1 0 b 1\nq2 0 a 1\nq2 0 c 0\n")
    assert call("aggregate", *runs, "--train", qrels, "--method", "rrf", "--tune", "k=1..5", "-o", out) == 0
    assert "trained: chosen rrf(k=" in capsys.readouterr().err
    assert read_run(out).tag.startswith("rrf(k=")
    assert call("aggregate", *runs, "--train", qrels, "--method", "pos-fuse", "-o", out) == 0
    assert read_run(out).tag == "pos-fuse"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--tune", "k=1..5"], "add --train QRELS"),
        (["--train", "x", "--method", "map-fuse", "--tune", "k=1"], "Leave --tune out"),
        (["--train", "{qrels}", "--tune", "k=a"], "at most 10000 values"),
        (["--train", "{qrels}", "--tune", "z=1,2"], "no number called 'z' to tune; it has k"),
    ],
)
def test_tuning_that_cannot_be_done_is_told_in_one_line(runs, tmp_path, words, message, capsys):
    qrels = tmp_path / "qrels"
    qrels.write_text("q1 0 b 1\nq2 0 a 1\n")
    assert call("aggregate", *runs, *(word.format(qrels=qrels) for word in words)) != 0
    assert message in capsys.readouterr().err
