"""`podium judges next` and `label`: judge, train, choose what to judge next, and train again."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from podium.data import make_letor_like
from podium.formats import read_data, write_letor
from podium.judgments import read_judgments

METHOD = "bagged(of=regression,members=3)"
MADE, _ = make_letor_like(16, (5, 8), n_features=5, seed=0)
LETOR = replace(MADE, document_ids=np.array([f"d{row}" for row in range(MADE.n_documents)], dtype=object))


def fill(path, truth):
    """Give every row of a sheet its true grade; returns the rows."""
    rows_of = enumerate(truth.query_index.tolist())
    grades = {(truth.query_name(q), truth.document_name(row)): truth.labels[row] for row, q in rows_of}
    rows = list(csv.DictReader(path.read_text().splitlines()))
    for row in rows:
        row["grade"] = f"{grades[row['query'], row['document']]:g}"
    with path.open("w", newline="") as file:
        sheet = csv.DictWriter(file, rows[0])
        sheet.writeheader()
        sheet.writerows(rows)
    return rows


def done(result):
    assert result.exit_code == 0, result.stderr
    return result


def test_two_rounds_of_judging_with_the_commands(podium, tmp_path):
    write_letor(replace(LETOR, labels=np.full(LETOR.n_documents, np.nan)), tmp_path / "pool.txt")
    done(
        podium("judges", "next", "pool.txt", "--picker", "random", "--queries", "5", "--documents", "4", "-o", "1.csv")
    )
    first = fill(tmp_path / "1.csv", LETOR)
    assert (
        "20 documents judged in 5 queries" in done(podium("judges", "label", "pool.txt", "1.csv", "-o", "1.txt")).stderr
    )
    done(podium("train", "1.txt", "--method", METHOD, "--valid", "none", "-o", "1.podium"))
    words = (
        "--model",
        "1.podium",
        "--queries",
        "3",
        "--documents",
        "2",
        "--judge",
        "ann",
        "--judge",
        "bob",
        "-o",
        "2.csv",
    )
    asked = done(podium("judges", "next", "1.txt", *words))
    assert "to judge: 6 documents of 3 queries, picked by elo" in asked.stderr
    assert "do not evaluate on them" in asked.stderr
    second = fill(tmp_path / "2.csv", LETOR)
    assert list(second[0]) == ["query", "document", "judge", "grade", "picked_by", "chance"]
    assert {(row["judge"], row["picked_by"], row["chance"]) for row in second} == {
        ("ann", "elo", "1"),
        ("bob", "elo", "1"),
    }
    before = {(row["query"], row["document"]) for row in first}
    assert not before & {(row["query"], row["document"]) for row in second}  # never what is judged
    assert len(read_judgments(tmp_path / "2.csv").grades) == 12
    done(podium("judges", "label", "1.txt", "2.csv", "-o", "2.txt"))
    labels = read_data(tmp_path / "2.txt").labels
    judged = ~np.isnan(labels)
    assert judged.sum() == 26
    np.testing.assert_array_equal(labels[judged], LETOR.labels[judged])
    trained = done(podium("train", "2.txt", "--method", METHOD, "--valid", "none", "-o", "2.podium"))
    assert f"{LETOR.n_documents - 26} documents without a label" in trained.stdout


def test_tables_with_and_without_labels_and_ids_with_blanks(podium, tmp_path):
    (tmp_path / "pool.csv").write_text(
        "qid,document_id,x\n" + "".join(f"{q},d {k},{(7 * k + q) % 5}\n" for q in range(4) for k in range(3))
    )
    done(
        podium("judges", "next", "pool.csv", "--picker", "random", "--queries", "2", "--documents", "2", "-o", "s.csv")
    )
    text = (tmp_path / "s.csv").read_text()
    (tmp_path / "s.csv").write_text(text.replace(",judge,,", ",judge,1,", 2).replace(",judge,,", ",judge,0,"))
    result = done(podium("judges", "label", "pool.csv", "s.csv", "-o", "labelled.csv"))
    assert result.stderr == "4 documents judged in 2 queries; 8 documents without a label\n"
    trained = done(podium("train", "labelled.csv", "--method", "regression", "--valid", "none"))
    assert "labelled.csv: 8 of 12 labels are missing, the first in row" in trained.stderr
    again = podium("judges", "next", "labelled.csv", "--picker", "random", "--queries", "9", "--documents", "9")
    assert len(again.stdout.splitlines()) == 1 + 8
    assert podium("judges", "next", "pool.csv", "--label", "grade", "--picker", "random").exit_code == 1


def test_labels_that_change_and_judgments_of_other_documents_are_counted(podium, tmp_path):
    (tmp_path / "data.txt").write_text("1 qid:q 1:1 #docid = a\nnan qid:q 1:2 #docid = b\n")
    (tmp_path / "s.csv").write_text("query,document,judge,grade\nq,a,ann,2\nq,z,ann,2\n")
    result = done(podium("judges", "label", "data.txt", "s.csv"))
    assert result.stdout == "2 qid:q 1:1 #docid = a\nnan qid:q 1:2 #docid = b\n"
    assert "1 of them had another label; 1 judgment of documents that are not in data.txt" in result.stderr
    (tmp_path / "s.csv").write_text("query,document,judge,grade\nq,z,ann,2\n")
    assert (
        "no judgment is of a document of data.txt; the first is of 'z'"
        in podium("judges", "label", "data.txt", "s.csv").stderr
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--picker", "elo"), "elo needs a model"),
        (("--picker", "best"), "best"),
        (("--model", "none.podium"), "none.podium"),
    ],
)
def test_what_is_missing_is_said(podium, tmp_path, words, message):
    write_letor(replace(LETOR, labels=np.full(LETOR.n_documents, np.nan)), tmp_path / "pool.txt")
    result = podium("judges", "next", "pool.txt", *words)
    assert result.exit_code in (1, 2)
    assert message in result.stderr
