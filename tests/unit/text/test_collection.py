"""Reading documents and queries from files."""

import gzip
import json
from collections import namedtuple

import pytest

from podium.base.errors import DataError
from podium.text.collection.collection import Topic, read_documents, read_queries, read_query_column
from podium.text.collection.html_page import html_text
from podium.text.collection.plain_documents import plain


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_json_lines_plain_and_gzipped(tmp_path):
    lines = '{"id": "a", "text": "x"}\n\n{"id": 2, "text": "é"}\n'
    expected = [{"id": "a", "text": "x"}, {"id": 2, "text": "é"}]
    assert list(read_documents(written(tmp_path / "d.jsonl", lines))) == expected
    (tmp_path / "d.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    assert list(read_documents(tmp_path / "d.jsonl.gz")) == expected


def test_a_bad_line_is_named(tmp_path):
    with pytest.raises(DataError, match=r"d\.jsonl:2: not JSON"):
        list(read_documents(written(tmp_path / "d.jsonl", '{"id": 1}\n{"id": \n')))
    with pytest.raises(DataError, match=r"d\.jsonl:2: expected a JSON object, got list"):
        list(read_documents(written(tmp_path / "d.jsonl", '{"id": 1}\n[1]\n')))


def test_a_list_in_a_json_file(tmp_path):
    assert list(read_documents(written(tmp_path / "d.json", '[{"id": 1}, {"id": 2}]'))) == [{"id": 1}, {"id": 2}]


def test_tables(tmp_path):
    path = written(tmp_path / "d.csv", 'id,title,year,price\na,"One, two",1990,2.5\nb,Three,,\n')
    assert list(read_documents(path)) == [
        {"id": "a", "title": "One, two", "year": 1990, "price": 2.5},
        {"id": "b", "title": "Three"},
    ]
    with pytest.raises(DataError, match=r"d\.csv:3: 1 values, 2 expected"):
        list(read_documents(written(tmp_path / "d.csv", "id,text\na,b\nc\n")))


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    rows = [{"id": "a", "text": "x", "n": 1}, {"id": "b", "text": None, "n": 2}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "d.parquet")
    shares = []
    found = list(read_documents(tmp_path / "d.parquet", progress=shares.append))
    assert found == [{"id": "a", "text": "x", "n": 1}, {"id": "b", "n": 2}]
    assert shares[-1] == 1.0
    (tmp_path / "no.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(DataError, match="not a Parquet file"):
        list(read_documents(tmp_path / "no.parquet"))


def test_smart_files(tmp_path):
    text = ".I 1\n.T\nHeat in\nslabs\n.A\nSmith\n.W\nsome text\n.I 2\n.W\nother\n"
    assert list(read_documents(written(tmp_path / "cran.all", text))) == [
        {"id": "1", "title": "Heat in\nslabs", "author": "Smith", "text": "some text"},
        {"id": "2", "text": "other"},
    ]


def test_trec_text(tmp_path):
    text = (
        "<DOC>\n<DOCNO> FT-1 </DOCNO>\n<HEADLINE>Up &\nup</HEADLINE>\n<TEXT>\nOne <P>two\n</TEXT>\n</DOC>\n"
        "<DOC>\n<DOCNO>FT-2</DOCNO>\n<TEXT>Three</TEXT>\n</DOC>\n"
    )
    first, second = read_documents(written(tmp_path / "ft", text))
    assert first["id"] == "FT-1"
    assert first["title"] == "Up & up"
    assert first["text"].split() == ["One", "two"]
    assert second == {"id": "FT-2", "text": "Three"}
    with pytest.raises(DataError, match="no <DOCNO>"):
        list(read_documents(written(tmp_path / "bad", "<DOC>\nx\n</DOC>\n")))
    with pytest.raises(DataError, match="not closed"):
        list(read_documents(written(tmp_path / "bad", "<DOC>\n<DOCNO>1</DOCNO>\n")))


def test_a_folder_of_texts(tmp_path):
    (tmp_path / "sub").mkdir()
    written(tmp_path / "a.md", "# A title\n\ntext of a\n")
    written(tmp_path / "sub" / "b_c.txt", "text of b")
    written(tmp_path / "c.html", "<title>C &amp; D</title><style>x{}</style><p>one</p><script>no</script>two")
    written(tmp_path / "ignored.py", "print()")
    found = {one["id"]: one for one in read_documents(tmp_path)}
    assert set(found) == {"a.md", "sub/b_c.txt", "c.html"}
    assert found["a.md"]["title"] == "A title"
    assert found["sub/b_c.txt"]["title"] == "b c"
    assert (found["c.html"]["title"], found["c.html"]["text"].split()) == ("C & D", ["one", "two"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no text files"):
        list(read_documents(tmp_path / "empty"))


def test_a_single_text_file_is_a_document_unless_it_holds_many(tmp_path):
    [one] = read_documents(written(tmp_path / "a.md", "# A title\n\ntext"))
    assert (one["id"], one["title"]) == ("a.md", "A title")
    assert len(list(read_documents(written(tmp_path / "b.txt", '{"id": 1}\n{"id": 2}\n')))) == 2
    [page] = read_documents(written(tmp_path / "c.html", "<!-- x --><title>T</title><p>text"))
    assert (page["title"], page["text"]) == ("T", "text")


def test_text_that_is_not_utf8_is_read_as_latin_1(tmp_path):
    (tmp_path / "a.txt").write_bytes("naïve".encode("latin-1"))
    assert [one["text"] for one in read_documents(tmp_path)] == ["naïve"]


def test_what_is_no_collection_is_refused_in_words(tmp_path):
    with pytest.raises(DataError, match="cannot tell what this is"):
        list(read_documents(written(tmp_path / "x", "hello\n")))
    with pytest.raises(DataError, match="the file is empty"):
        list(read_documents(written(tmp_path / "x", "")))
    with pytest.raises(DataError, match="no such file"):
        list(read_documents(tmp_path / "nothing"))
    with pytest.raises(DataError, match=r"feed\.xml: no documents"):
        list(read_documents(written(tmp_path / "feed.xml", "<?xml version='1.0'?><rss>hello</rss>")))


def test_named_tuples_are_documents():
    given = namedtuple("Doc", "doc_id text")("a", "x")
    assert plain(given) == {"doc_id": "a", "text": "x"}
    with pytest.raises(DataError, match="must be a dict"):
        plain("text")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("q.jsonl", '{"id": 1, "text": "one two"}\n{"id": "b", "query": "three"}\n'),
        ("q.tsv", "1\tone two\nb\tthree\n"),
        ("q.tsv", "id\ttext\n1\tone two\nb\tthree\n"),
        ("q.csv", "id,text\n1,one two\nb,three\n"),
        (
            "topics",
            "<top>\n<num> Number: 1\n<title> one\ntwo\n</top>\n<top>\n<num> b\n<title>three\n<desc> no\n</top>\n",
        ),
        ("cran.qry", ".I 1\n.W\none two\n.I b\n.W\nthree\n"),
    ],
)
def test_queries(tmp_path, name, text):
    assert read_queries(written(tmp_path / name, text)) == [Topic("1", "one two"), Topic("b", "three")]


def test_queries_may_carry_vectors_and_must_differ(tmp_path):
    lines = json.dumps({"id": 1, "text": "x", "vector": [1, 0.5]}) + "\n"
    assert read_queries(written(tmp_path / "q.jsonl", lines))[0].vector == (1.0, 0.5)
    with pytest.raises(DataError, match="query '1' is there twice"):
        read_queries(written(tmp_path / "q.jsonl", lines * 2))
    with pytest.raises(DataError, match='needs an "id" and a "text"'):
        read_queries(written(tmp_path / "q.jsonl", '{"text": "x"}\n'))


def test_pages_keep_blocks_apart_and_inline_tags_together():
    assert html_text("<p>a<b>b</b></p><ul><li>c<li>d</ul>")["text"].split() == ["ab", "c", "d"]


def test_a_column_of_queries_is_read_by_id(tmp_path):
    path = tmp_path / "queries.jsonl"
    path.write_text('{"id": 1, "type": "a"}\n{"qid": "2", "text": "x"}\n{"_id": "3", "type": 7}\n')
    assert read_query_column(path, "type") == {"1": "a", "3": "7"}
    table = tmp_path / "queries.csv"
    table.write_bytes(b"\xef\xbb\xbfquery_id,type\r\n1,a\r\n2,\r\n")
    assert read_query_column(table, "type") == {"1": "a"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"id": 1, "type": "a"}\n{"id": 1, "type": "b"}\n', "query 1 is there twice, with different 'type'"),
        ('{"id": 1, "type": ["a"]}\n', "query 1: 'type' is no single value"),
        ('{"id": 1, "kind": "a"}\n', "no column 'type'; there are: id, kind."),
        ('{"type": "a"}\n', 'a query needs an "id"'),
        ("\n", "no queries: the file is empty"),
    ],
)
def test_a_column_of_queries_that_says_nothing_clear_is_an_error(tmp_path, text, words):
    path = tmp_path / "queries.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match=words):
        read_query_column(path, "type")
