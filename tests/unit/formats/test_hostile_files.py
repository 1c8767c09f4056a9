"""Files that are written to take long are read or refused at once: work grows as the file does, and no faster."""

import contextlib
import io
import time

import pytest

from podium.aggregation.rankings.letor_agg import read_letor_agg
from podium.aggregation.rankings.preflib import read_preflib
from podium.base.errors import DataError, PodiumError
from podium.formats import QueryTexts, read_letor
from podium.formats.trec.trec import read_qrels, read_run
from podium.imports import import_model
from podium.text.collection.collection import read_documents, read_queries

SECONDS = 2.0  # of the processor; what looks again and again at 300 kB takes many minutes
SIZE = 300_000


def stream(read):
    return lambda raw, folder: read(io.BytesIO(raw) if read is not import_model else raw)


def file(read, ending):
    def reads(raw, folder):
        path = folder / f"hostile{ending}"
        path.write_bytes(raw)
        return list(read(path))

    return reads


def times(unit: bytes) -> bytes:
    return unit * (SIZE // len(unit))


DOCUMENTS, QUERIES, PAGE = file(read_documents, ".txt"), file(read_queries, ".txt"), file(read_documents, ".html")
HOSTILE = {
    "digits of a label": (stream(read_letor), times(b"1") + b"x qid:1 1:1\n"),
    "digits of a value": (stream(read_letor), b"1 qid:1 1:" + times(b"1") + b"x\n"),
    "digits of a feature": (stream(read_letor), b"1 qid:1 " + times(b"1") + b":1\n"),
    "points of a value": (stream(read_letor), b"1 qid:1 1:" + times(b"1.") + b"\n"),
    "comment": (stream(read_letor), b"1 qid:1 1:1 #" + times(b"docid ") + b"\n"),
    "blanks of a comment": (stream(read_letor), b"1 qid:1 1:1 #docid" + times(b" ") + b"\n"),
    "lists": (stream(read_letor_agg), b"1 qid:7 1:" + times(b"3") + b"x\n"),
    "votes": (stream(read_preflib), b"1: " + times(b"1,") + b"x}\n"),
    "blanks of a vote": (stream(read_preflib), b"1: 1" + times(b" ") + b"{\n"),
    "braces of a vote": (stream(read_preflib), b"1: " + times(b"{1") + b"\n"),
    "names": (stream(read_preflib), b"".join(b"# ALTERNATIVE NAME %d: a\n" % k for k in range(10_000)) + b"1: 1\n"),
    "qrels": (stream(read_qrels), b"q 0 d " + times(b"1") + b"x\n"),
    "run": (stream(read_run), b"q Q0 d 1 " + times(b"1") + b"x t\n"),
    "brackets of judgments": (stream(read_qrels), b'[{"query":' + times(b"[")),
    "objects of judgments": (stream(read_qrels), times(b'{"q":')),
    "keys of judgments": (stream(read_qrels), b"{" + b",".join(b'"q%d":{}' % k for k in range(25_000)) + b"}"),
    "rows with new names": (stream(read_qrels), b"".join(b'{"k%d":1}\n' % k for k in range(20_000))),
    "blanks before judgments": (stream(read_qrels), times(b" ") + b"{"),
    "names of columns": (stream(read_qrels), b"query,docid,grade," + times(b"x,") + b"\n"),
    "different names of columns": (stream(read_qrels), b"query,docid," + b",".join(b"%d" % k for k in range(50_000))),
    "quotes of a table": (stream(read_qrels), b"query,docid,grade\n" + times(b'"""')),
    "digits of a grade": (stream(read_qrels), b"query,docid,grade\nq,d," + times(b"1") + b"x\n"),
    "digits of a JSON grade": (stream(read_run), b'{"q": {"d": ' + times(b"1") + b"}}"),
    "lines of a table": (stream(read_run), b"query,docid,score\n" + times(b"\n")),
    "one document again and again": (stream(read_qrels), b"query,docid,grade\n" + times(b"q,d,1\n")),
    "texts of queries": (stream(QueryTexts.read), b"id,text\n" + times(b"\n")),
    "topics without text": (stream(QueryTexts.read), times(b"<top>")),
    "titles without an end": (DOCUMENTS, b"<DOC><DOCNO>1</DOCNO>" + times(b"<title>") + b"</DOC>\n"),
    "tags without an end": (DOCUMENTS, b"<DOC><DOCNO>1</DOCNO>" + times(b"<") + b"</DOC>\n"),
    "documents in a line": (DOCUMENTS, times(b"<DOC><DOCNO>1</DOCNO></DOC>")),
    "topics without an end": (QUERIES, times(b"<top>")),
    "titles of a topic": (QUERIES, b"<top><num>1" + times(b"<title>") + b"</top>"),
    "comments": (PAGE, times(b"<!--")),
    "comments that end otherwise": (PAGE, times(b"<!--->")),
    "declarations": (PAGE, times(b"<!")),
    "sections": (PAGE, times(b"<![CDATA[")),
    "tags": (PAGE, times(b"<a ")),
    "attributes": (PAGE, b"<a " + times(b"a='")),
    "open titles": (PAGE, times(b"<title>") + times(b"</b>")),
    "scripts": (PAGE, times(b"<script>")),
    "end tags": (PAGE, times(b"</")),
    "references": (PAGE, times(b"&#")),
    "digits of a reference": (PAGE, b"&#" + times(b"1") + b";"),
    "attributes of a model": (stream(import_model), b"## LambdaMART\n<tree " + times(b"a ")),
    "words of a model": (stream(import_model), b"## LambdaMART\n<ensemble>" + times(b"a<tree></tree>")),
    "brackets of a model": (stream(import_model), b'{"learner": ' + times(b"[")),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_takes_no_long_time(name, tmp_path):
    read, raw = HOSTILE[name]
    seconds = []
    for _ in range(2):  # the first time may compile
        start = time.process_time()
        with contextlib.suppress(PodiumError):
            read(raw, tmp_path)
        seconds.append(time.process_time() - start)
    assert min(seconds) < SECONDS


def test_one_feature_with_a_huge_number_is_refused_unless_it_was_announced():
    text = b"1 qid:1 1:0.5 2147483647:1\n0 qid:1 1:0.2\n"
    with pytest.raises(DataError, match=r"1048576 features at most .*Number the features that occur from 1"):
        read_letor(io.BytesIO(text))
    assert read_letor(io.BytesIO(text), n_features=2**31 - 1).n_features == 2**31 - 1
