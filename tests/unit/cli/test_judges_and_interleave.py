"""`podium judges` and `podium interleave`: votes and clicks in, labels and verdicts out."""

import json

import numpy as np
import pytest

from podium.data.dataset import Dataset
from podium.formats.preference_file import read_preferences
from podium.formats.trec.trec import read_qrels
from podium.online.verdict import verdict

VOTES = """query,document,judge,grade
q1,a,ann,2
q1,a,bob,2
q1,a,cy,1
q1,b,ann,0
q1,b,bob,1
q1,b,cy,0
q2,a,ann,1
q2,a,bob,1
q2,a,cy,2
q2,c,ann,0
q2,c,bob,
"""
ONE = "q1 Q0 a 1 3 x\nq1 Q0 b 2 2 x\nq1 Q0 c 3 1 x\nq2 Q0 a 1 3 x\nq2 Q0 c 2 1 x\n"
TWO = "q1 Q0 b 1 9 y\nq1 Q0 c 2 8 y\nq2 Q0 c 1 9 y\nq2 Q0 a 2 8 y\nq3 Q0 a 2 8 y\n"


@pytest.fixture(autouse=True)
def files(tmp_path):
    for name, text in (("votes.csv", VOTES), ("one.run", ONE), ("two.run", TWO)):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_agreement_is_a_table_of_coefficients(podium):
    done = podium("judges", "agreement", "votes.csv", "--draws", "50")
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["judges", "coefficient", "value", "low", "high", "items"]
    assert "Krippendorff's α (ordinal)" in lines[2]
    assert [line.split("  ")[0] for line in lines[4:]] == ["ann, bob", "ann, cy", "bob, cy"]
    assert "Fleiss" not in done.stdout  # items have one to three judgments
    assert done.stderr == "2 queries, 4 documents, 3 judges, 10 judgments, 1 row without a grade\n"


def test_agreement_as_json_has_fleiss_where_every_item_has_as_many_judgments(podium, files):
    (files / "votes.csv").write_text("".join(VOTES.splitlines(keepends=True)[:10]))
    found = json.loads(podium("judges", "agreement", "votes.csv", "--json", "--weights", "linear").stdout)
    names = [one["name"] for one in found]
    assert names[3] == "Fleiss' κ"
    assert names[4] == "Cohen's κ (linear)"
    assert all(one["low"] <= one["value"] <= one["high"] for one in found)


def test_pairs_of_many_judges_are_left_out(podium, files):
    rows = [f"q,{item},j{judge},{(item + judge) % 2}\n" for item in range(3) for judge in range(11)]
    (files / "many.csv").write_text("query,document,judge,grade\n" + "".join(rows))
    done = podium("judges", "agreement", "many.csv", "--draws", "5")
    assert "Fleiss" in done.stdout
    assert "Cohen" not in done.stdout


def test_the_consensus_is_printed_as_qrels(podium):
    done = podium("judges", "consensus", "votes.csv")
    assert done.stdout == "q1 0 a 2\nq1 0 b 0\nq2 0 a 1\nq2 0 c 0\n"
    assert "1 document with one judgment only" in done.stderr


def test_the_consensus_is_written_with_support_and_preferences(podium, files):
    done = podium("judges", "consensus", "votes.csv", "--how", "dawid-skene", "-o", "l.csv", "--preferences", "p.tsv")
    assert done.exit_code == 0
    assert "ann: right in" in done.stderr
    head, first, *_ = (files / "l.csv").read_text().splitlines()
    assert head == "query,document,label,support,spread,judgments"
    assert first.startswith("q1,a,2.0,0.99")
    rows = [line.split("\t") for line in (files / "p.tsv").read_text().splitlines()]
    assert [row[:3] for row in rows] == [["qid", "winner", "loser"], ["q1", "a", "b"], ["q2", "a", "c"]]


def test_written_labels_and_preferences_are_read_by_other_commands(podium, files):
    assert podium("judges", "consensus", "votes.csv", "-o", "l.qrels", "--preferences", "p.tsv").exit_code == 0
    assert read_qrels(files / "l.qrels").labels.tolist() == [2, 0, 1, 0]
    data = Dataset.from_arrays(np.eye(4), qid=["q1", "q1", "q2", "q2"], document_ids=list("abac"))
    assert len(read_preferences(files / "p.tsv", data).preferences) == 2
    assert podium("evaluate", "l.qrels", "one.run", "-m", "ndcg@10").exit_code == 0


def test_the_consensus_as_json_has_the_tables_of_judges(podium):
    found = json.loads(podium("judges", "consensus", "votes.csv", "--how", "dawid-skene", "--json").stdout)
    assert [one["judge"] for one in found["judges"]] == ["ann", "bob", "cy"]
    assert all(sum(row) == pytest.approx(1.0) for one in found["judges"] for row in one["table"])
    assert found["items"][0]["judgments"] == 3


def test_a_pool_is_a_sheet_to_fill_in(podium, files):
    done = podium("judges", "pool", "one.run", "two.run", "--depth", "2", "--judge", "ann", "-o", "sheet.csv")
    assert done.exit_code == 0
    rows = [line.split(",") for line in (files / "sheet.csv").read_text().splitlines()]
    assert rows[0] == ["query", "document", "judge", "grade"]
    expected = [pair.split() for pair in ("q1 a", "q1 b", "q1 c", "q2 a", "q2 c", "q3 a")]
    assert sorted(rows[1:]) == [[*pair, "ann", ""] for pair in expected]
    assert "one.run: 4 documents, 1 found by no other run" in done.stderr
    assert "to judge: 6 documents of 3 queries" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["agreement", "nope.csv"], 1, "nope.csv: no such file"),
        (["agreement", "one.run"], 1, "no column 'query'"),
        (["consensus", "votes.csv", "--how", "mode"], 2, "--how"),
        (["consensus", "votes.csv", "-o", "no/such/folder.qrels"], 1, "no/such"),
        ([], 2, "Missing command"),
        (["agrement"], 2, "Did you mean 'agreement'?"),
    ],
)
def test_misuse_of_judges_is_said_in_one_line(podium, words, code, message):
    done = podium("judges", *words)
    assert done.exit_code == code
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_pages_are_written_and_their_clicks_judged(podium, files):
    made = podium("interleave", "one.run", "two.run", "--pages", "100", "--seed", "3", "-o", "pages.jsonl")
    assert made.stderr == "1 query is in one run only and left out\n"
    pages = [json.loads(line) for line in (files / "pages.jsonl").read_text().splitlines()]
    assert len(pages) == 200
    for page in pages:
        page["clicks"] = [page["documents"].index("a") + 1] if page["query"] == "q1" else []
    (files / "log.jsonl").write_text("".join(json.dumps(page) + "\n" for page in pages))
    done = podium("interleave", "one.run", "two.run", "--verdict", "log.jsonl", "--seed", "3", "--json")
    expected = verdict([sum(page["credits"][click - 1] for click in page["clicks"]) for page in pages])
    assert json.loads(done.stdout) == {"method": "team-draft", **json.loads(json.dumps(expected.to_dict()))}
    shown = podium("interleave", "one.run", "two.run", "--verdict", "log.jsonl", "--seed", "3")
    assert "wins of one" in shown.stdout
    assert "people prefer one to two" in shown.stderr
    wrong = podium("interleave", "one.run", "two.run", "--verdict", "log.jsonl", "--seed", "4")
    assert wrong.exit_code == 1
    assert "shows other documents than team-draft with seed 4" in wrong.stderr


def test_pages_go_to_standard_output_without_a_file(podium):
    done = podium("interleave", "one.run", "two.run", "--method", "probabilistic(tau=1)", "--length", "2")
    pages = [json.loads(line) for line in done.stdout.splitlines()]
    assert [page["page"] for page in pages] == ["q1-1", "q2-1"]
    assert all(len(page["documents"]) == len(page["credits"]) == 2 for page in pages)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--method", "optimized"], 2, "Did you mean 'optimised'?"),
        (["--verdict", "log.jsonl", "-o", "x"], 2, "give one of them"),
        (["--verdict", "log.jsonl"], 1, "log.jsonl: no such file"),
    ],
)
def test_misuse_of_interleave_is_said_in_one_line(podium, words, code, message):
    done = podium("interleave", "one.run", "two.run", *words)
    assert done.exit_code == code
    assert message in done.stderr.splitlines()[-1]


def test_every_way_to_interleave_has_a_page(podium):
    for name in ("team-draft", "probabilistic", "optimised"):
        assert "Credit:" in podium("methods", name).stdout
