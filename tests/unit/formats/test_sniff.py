"""What a file holds is told by its name and its first line that says something."""

import gzip

import pytest

from podium.formats.sniff import holds_qrels, sniff

CASES = {
    "letor": [
        "2 qid:1 1:0.5 2:1 # doc 7\n",
        "# made up\n\n1 qid:1 1:1 2:0\n",
        "1 1:0.5 2:0.3 3:1\n",
        "0 qid:a\n",
        "\ufeff1 qid:1 1:1\n",
    ],
    "qrels": [
        "1 0 d1 1\n",
        "1 0 msmarco_v2.1_doc_01_1#0_2 1\n",
        "1 0 clueweb,12#7:3 0\n",
        "q:1 0 http://a.b/#x,y 2\n",
        "# a comment, with a comma\n1 Q0 d -1\n",
        "1 0 d high\n",
    ],
    "run": ["1 Q0 d 1 0.5 tag\n", "1 Q0 d#1 1 0.5 a tag of words\n", "q,1 Q0 d 1 0.5 tag\n"],
    "scores": ["0.5\n1\n", "1 0 0.25\n"],
    "preflib": ["# FILE NAME: votes\n1: 1,2\n"],
    "unknown": ["", "# nothing\n", "a b\n", "1 2 3 4 5\n"],
}


@pytest.mark.parametrize(("wanted", "text"), [(kind, text) for kind, texts in CASES.items() for text in texts])
def test_the_first_line_tells_the_format(wanted, text, tmp_path):
    (tmp_path / "file").write_text(text)
    assert sniff(tmp_path / "file") == wanted
    (tmp_path / "file.gz").write_bytes(gzip.compress(text.encode()))
    assert sniff(tmp_path / "file.gz") == wanted


@pytest.mark.parametrize(
    ("name", "wanted"), [("a.csv", "table"), ("a.CSV.gz", "table"), ("a.parquet", "table"), ("a.soc", "preflib")]
)
def test_some_endings_tell_it_without_a_look(name, wanted):
    assert sniff(name) == wanted


def test_standard_input_is_not_looked_into():
    assert sniff("-") == "unknown"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("query-id\tcorpus-id\tscore\nq\td\t1\n", "table"),
        ("\ufeffQuery Text;Doc ID;Rating\nq;d;1\n", "table"),
        ('{"q": {"d": 1}}', "json"),
        (' [\n {"query": "q"}]', "json"),
        ("[1] 0 d 1\n", "qrels"),
        ("query\t0\tdocument\t1\n", "qrels"),
    ],
)
def test_columns_of_judgments_and_json_are_told_by_their_beginning(text, wanted, tmp_path):
    (tmp_path / "file").write_text(text)
    assert sniff(tmp_path / "file") == wanted


def test_a_table_is_judgments_for_a_run_and_data_for_scores(tmp_path):
    for name, text in {
        "labels.csv": "query,sku,label\nq,d,1\n", "data.csv": "qid,docid,label,x\n1,d,1,2\n", "qrels": "q 0 d 1\n",
        "a.run": "q Q0 d 1 1 t\n", "a.csv": "qid,docno,score\nq,d,1\n", "scores.txt": "1\n", "scores.csv": "0.5\n",
    }.items():  # fmt: skip
        (tmp_path / name).write_text(text)

    def is_qrels(judged, ranked):
        return holds_qrels(tmp_path / judged, ranked if ranked == "-" else tmp_path / ranked)

    assert all(is_qrels("labels.csv", ranked) for ranked in ("a.run", "a.csv", "-"))
    assert all(is_qrels("qrels", ranked) for ranked in ("a.run", "scores.txt", "-"))
    assert not any(is_qrels("data.csv", ranked) for ranked in ("scores.txt", "scores.csv", "-"))
