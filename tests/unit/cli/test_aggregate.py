"""`podium aggregate`: runs and votes in, a run out that `podium evaluate` reads."""

import json

import pytest

from podium.cli.main import app
from podium.data.trec import read_run

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
