"""What a file holds is told by its name and its first line that says something."""

import gzip

import pytest

from podium.formats.sniff import sniff

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
