"""Damaged text files: every reader reads them, or refuses them in words, within two seconds; and reads them rightly.

Files that are right are damaged at random places, by bytes, numbers, marks of the formats and pieces moved about. What
a reader with a slow and obvious twin accepts, the twin reads as well, and alike. Many more of them:

    python tests/fuzz/test_damaged_texts.py 100000 [FIRST]
"""

import contextlib
import faulthandler
import io
import itertools
import json
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
import engine_answers
import podium
from fuzz.json_mutations import mutated_value
from podium.aggregation.rankings.letor_agg import read_letor_agg
from podium.aggregation.rankings.preflib import read_preflib
from podium.aggregation.rankings.rankings_table import read_rankings_table
from podium.arena.battles import read_battles
from podium.base.errors import PodiumError
from podium.cli.ask import _template
from podium.clicks import read_propensities
from podium.clicks.importers.metarank import read_metarank
from podium.clicks.importers.open_bandit import read_open_bandit
from podium.clicks.importers.tiangong import read_tiangong
from podium.clicks.importers.ubi import read_ubi
from podium.clicks.importers.yandex import read_yandex
from podium.comparison import read_spec
from podium.engines.search_bodies import Engine, search_body
from podium.engines.stores import plan
from podium.explanation.ablation import read_groups
from podium.formats.engines.logged_features import read_logged_features
from podium.formats.movielens import read_movielens
from podium.formats.nbest import read_nbest
from podium.formats.preference_file import read_preferences
from podium.formats.query_features_file import read_query_features
from podium.formats.relations_file import read_relations
from podium.formats.scores_file import read_scores
from podium.formats.tables.tables import read_table
from podium.formats.topics_file import read_topics
from podium.formats.trec.trec import read_qrels, read_run
from podium.graph.links import read_links
from podium.graph.visits import read_visits
from podium.imports import import_model
from podium.judgments.judgments import read_judgments
from podium.judgments.machine_judge import answered
from podium.metrics.base import Metric
from podium.service.settings import Settings
from podium.text.collection.collection import read_documents, read_queries
from podium.text.collection.html_page import html_text
from reference import letor, trec
from reference.foreign import damaged, files

pytestmark = pytest.mark.slow

SECONDS = 2.0
GRADED = podium.Dataset.from_arrays(
    np.zeros((4, 1), np.float32), [0, 1, 2, 0], qid=[1, 1, 2, 2], document_ids=list("abcd")
)


class Reader(NamedTuple):
    good: bytes
    read: Callable[[bytes], Any]
    same: Callable[[Any, bytes], bool] = lambda found, raw: True


def from_stream(read: Callable[..., Any], **options: Any) -> Callable[[bytes], Any]:
    return lambda raw: read(io.BytesIO(raw), **options)


def from_file(ending: str, read: Callable[[Path], Any]) -> Callable[[bytes], Any]:
    def reads(raw: bytes) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"file{ending}"
            path.write_bytes(raw)
            return read(path)

    return reads


def same_letor(data: Any, raw: bytes) -> bool:
    lines = letor.read(raw)
    X = data.features if isinstance(data.features, np.ndarray) else data.features.toarray()
    expected = np.zeros_like(X)
    for row, line in enumerate(lines):
        for feature, value in line.features.items():
            expected[row, feature - 1] = value
    return np.array_equal(X, expected, equal_nan=True) and data.labels.tolist() == [line.label for line in lines]


def same_trec(columns: int) -> Callable[[Any, bytes], bool]:
    def same(found: Any, raw: bytes) -> bool:
        values = found.labels if columns == 4 else found.scores
        parts = [slice(*pair) for pair in itertools.pairwise(found.offsets)]
        said = {
            str(query): dict(zip(map(str, found.document_ids[part]), values[part].tolist(), strict=True))
            for query, part in zip(found.query_ids, parts, strict=True)
        }
        expected, _ = trec.read(raw, columns)
        return said == {
            name(query): {name(key): value for key, value in one.items()} for query, one in expected.items()
        }

    return same


def name(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def same_html(found: Any, raw: bytes) -> bool:
    return len(found["text"]) <= 4 * len(raw) + 100


def lines(*records: Any) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in records).encode()


CLICKS = lines(
    {"query": "q7", "documents": ["d3", "d1"], "clicks": [2, {"at": 1, "time": 5, "dwell": 2.5}], "count": 2}
)
UBI = lines(
    {"query_id": "a", "user_query": "x", "query_response_object_ids": ["1", "2"], "timestamp": "2024-01-01T00:00:00Z"},
    {"query_id": "a", "action_name": "click", "event_attributes": {"object": {"object_id": "2"}}},
)
METARANK = lines(
    {"event": "ranking", "id": "r1", "timestamp": "1599391467000", "fields": [{"name": "query", "value": "x"}],
     "items": [{"id": "a"}, {"id": "b"}]},
    {"event": "interaction", "id": "i1", "ranking": "r1", "timestamp": "1599391467001", "type": "click", "item": "b"},
)  # fmt: skip
TIANGONG = b"""<sessions><session num='1'><interaction num='1'><query_id>3</query_id><results><result rank='1'><docid>7
</docid></result></results><clicked><click><rank>1</rank></click></clicked></interaction></session></sessions>"""
THETA = {"how": "swap", "ranks": [1, 2, 3], "theta": [1.0, 0.5, 0.25], "low": [1.0, 0.4, 0.2], "high": [1.0, 0.6, 0.3]}
LETOR = b"2 qid:7 1:0.5 3:-1e-3 #docid = a\n0 qid:7 2:nan #docid = b\n1 qid:8 1:.25 12:7\n"
PREFLIB = b"# ALTERNATIVE NAME 1: Ann\n# ALTERNATIVE NAME 2: Bob\n# NUMBER VOTERS: 3\n2: {1,2}\n1: 2,1\n"
BANDIT = b"timestamp,item_id,position,click,propensity_score\n2019-11-24 00:00:00,7,1,0,0.25\n"
SPEC = b'datasets = ["DATA"]\nmethods = ["listnet", "lambdamart(num_leaves=7)"]\nmetrics = ["map"]\nseeds = [0, 1]\n'
SETTINGS = b'port = 9000\nworkers = 2\nmodels = ["a.podium"]\nrate = 2.5\n'
HTML = b"<title>A &amp; b</title><!-- c --><p class='x'>d &#8211; <b>e</b><script>if (a<b) c()</script><p>f"
WORKBENCH = {"name": "n", "judgmentRatings": [{"query": "x", "ratings": [{"docId": "a", "rating": "1.0"}]}]}
JUDGMENTS = {
    "workbench": WORKBENCH,
    "answer of the workbench": {"took": 1, "hits": {"total": {"value": 1}, "hits": [{"_source": WORKBENCH}]}},
    "_rank_eval": {
        "requests": [{"id": "x", "request": {"query": {}}, "ratings": [{"_index": "i", "_id": "a", "rating": 2}]}],
        "metric": {"dcg": {"k": 20}},
    },
    "cases": {"queries": [{"query_text": "x", "ratings": [{"doc_id": "a", "rating": 1}, {"doc_id": 7, "rating": 0}]}]},
    "ratings": {"queries": [{"query": "x", "ratings": {"a": 1, "b": 0.5}}]},
    "book": {"query_doc_pairs": [
        {"query_text": "x", "doc_id": "a", "judgements": [{"rating": 1, "user_email": "m"}]},
    ]},
    "dictionary": {"x": {"a": 1, "b": 0}, "y": {"a": 2.5}},
}  # fmt: skip
DOCUMENTS = {
    ".dump.jsonl": lines({"_index": "i", "_id": "a", "_source": {"text": "x"}}, {"_id": 7, "_source": {"text": "y"}}),
    ".bulk.jsonl": lines({"index": {"_id": "a"}}, {"text": "x", "n": 3}, {"create": {"_index": "i"}}, {"text": "y"}),
    ".hits.json": lines({"hits": {"total": {"value": 1}, "hits": [{"_id": "a", "_source": {"text": "x"}}]}}),
    ".jsonl": b'{"id": "a", "title": "x y", "text": "z", "n": 3.5}\n{"id": "b", "text": "w"}\n',
    ".json": b'[{"id": "a", "text": "z"}, {"id": 7}]',
    ".csv": b'id,title,year\na,"x, y",1990\nb,z,2.5\n',
    ".tsv": b"id\ttext\na\tx y\nb\tz\n",
    ".smart": b".I 1\n.T\nheat\n.W\nflow in slabs\nmore\n.I 2\n.W\nwing\n",
    ".trec": b"<DOC>\n<DOCNO> A </DOCNO>\n<TITLE>heat</TITLE>\nflow <b>in</b>\n</DOC>\n<DOC><DOCNO>B</DOCNO>x</DOC>\n",
    ".html": HTML,
    ".md": b"# Heat\n\nflow in *slabs*\n",
}
QUERIES = {
    ".jsonl": b'{"id": "1", "text": "heat", "vector": [0.5, 1]}\n{"id": 2, "text": "wing"}\n',
    ".tsv": b"1\theat\n2\twing\n",
    ".top": b"<top>\n<num> Number: 301\n<title> Topic: heat flow\n</top>\n<top><num>302<title>wing</top>\n",
}


LOGGED = [("a", 2.5, [1.0, 0.5]), ("b", 1.0, [0.0, float("nan")])]
ENGINES = {
    name: lines(*({"query": query, "response": getattr(engine_answers, name)(LOGGED, ["x", "y"])} for query in "qr"))
    for name in ("elasticsearch", "solr", "vespa")
}
BATTLES = b"a,b,winner,judge,weight\nx,y,x,m,1\ny,z,tie,n,2.5\n"
LONG_BATTLES = b"battle,player,rank\n1,x,1\n1,y,2\n1,z,2\n2,x,1\n2,z,2\n"
MACHINE = lines({"query": "q", "document": "d", "judge": "machine:m", "grade": 2, "answer": "2", "hash": "0f"})
GROUPS = b'text = ["bm25", "title"]\nlinks = [3, 4]\n'
TEMPLATE = lines({"query": {"match": {"title": "{{query}}"}}, "rescore": [], "ext": {}, "fields": ["id"]})
STORED = {
    "solr": lines([{"store": "s", "name": "x", "class": "c", "params": {"q": "{!func}x"}}]),
    "elasticsearch-ltr": lines(
        {"featureset": {"name": "s", "features": [{"name": "x", "template": {"match_all": {}}}]}}
    ),
}


def searching(path: Path) -> Any:
    engines: list[Engine] = ["elasticsearch", "solr", "vespa"]
    return [search_body(engine, _template(str(path)), "heat", k=3, log_features="s") for engine in engines]


def documents(path: Path) -> list[Any]:
    return list(read_documents(path))


def settings(path: Path) -> Settings:
    return Settings.read(str(path), environment={})


def importing(name: str) -> Callable[[bytes], Any]:
    return lambda raw: import_model(raw, format=name.partition(" ")[0])


def judged_json(raw: bytes) -> Any:
    """As qrels; as the votes of judges it is read alike, or refused too."""
    with contextlib.suppress(PodiumError):
        from_file(".json", read_judgments)(raw)
    return from_stream(read_qrels)(raw)


READERS = {
    "letor": Reader(LETOR, from_stream(podium.read_letor), same_letor),
    "letor without qid": Reader(b"2 1:0.5 3:1\n0 2:4 5:12345678.5\n", from_stream(podium.read_letor), same_letor),
    "letor-agg": Reader(b"1 qid:7 1:30 2:NULL #docid = A\n0 qid:7 1:12 2:5 #docid = B\n", from_stream(read_letor_agg)),
    "qrels": Reader(b"q1 0 d1 1\nq1 0 d2 0\n\xc3\xa9 0 d3 2.5\n", from_stream(read_qrels), same_trec(4)),
    "run": Reader(b"q1 Q0 d1 1 3.5 t\nq1 Q0 d2 2 -1e-3 t\nq2 Q0 d3 1 7 t\n", from_stream(read_run), same_trec(6)),
    "scores": Reader(b"0.5\n1\n-2e3\n4\n", from_stream(read_scores, data=GRADED)),
    "scores of ranklib": Reader(b"1\t0\t0.5\n1\t1\t1\n2\t0\t-2e3\n2\t1\t4\n", from_stream(read_scores, data=GRADED)),
    "preflib": Reader(PREFLIB, from_stream(read_preflib)),
    "preferences": Reader(
        b"qid winner loser probability\n1 a b 0.75\n2 d c\n", from_stream(read_preferences, data=GRADED)
    ),
    "table": Reader(b"qid,label,f1,f2\n1,2,0.5,1\n1,0,,3\n2,1,1e-3,-4\n", from_file(".csv", read_table)),
    "judgments": Reader(b"query,document,judge,grade\nq,d,a,1\nq,d,b,2\n", from_file(".csv", read_judgments)),
    **{f"judgments of {name}": Reader(json.dumps(one).encode(), judged_json) for name, one in JUDGMENTS.items()},
    "topics": Reader(b"1 1 a 1\n1 2 b 0.5\n2 1 d 2\n", from_stream(read_topics, data=GRADED)),
    "relations": Reader(b"1 a b 0.5 1\n2 c d -1 2\n", from_stream(read_relations, data=GRADED)),
    "query features": Reader(b"query market size\n1 de 2.5\n2 at 3\n", from_stream(read_query_features, data=GRADED)),
    "rankings": Reader(b"query,voter,document,rank\n1,x,a,1\n1,x,b,2\n", from_file(".csv", read_rankings_table)),
    "clicks": Reader(CLICKS, from_stream(podium.read_clicks)),
    "ubi": Reader(UBI, from_stream(read_ubi)),
    "metarank": Reader(METARANK, from_stream(read_metarank)),
    "tiangong": Reader(TIANGONG, from_stream(read_tiangong)),
    "tiangong with tabs": Reader(b"1\t3\t[7, 8]\t[0, 0]\t[0, 1]\t[1, 2]\n", from_stream(read_tiangong)),
    "yandex": Reader(b"1\t0\tQ\t7\t0\t10\t11\t12\n1\t5\tC\t11\n", from_stream(read_yandex)),
    "open bandit": Reader(BANDIT, from_stream(read_open_bandit)),
    "movielens": Reader(b"196\t242\t3\t881250949\n186\t302\t4\t891717742\n", from_stream(read_movielens)),
    "nbest": Reader(
        b"0 ||| a b ||| LM: -1.5 TM0: 0.5 2 ||| -3.5\n0 ||| c ||| LM: -2 ||| -4\n", from_stream(read_nbest)
    ),
    "links": Reader(b"a\tb\nb\tc\t2.5\n# x\n", lambda raw: list(read_links(io.BytesIO(raw)))),
    "visits": Reader(b"a\t3.5\tb\nb\t2\n", lambda raw: list(read_visits(io.BytesIO(raw)))),
    **{f"log of {name}": Reader(raw, from_stream(read_logged_features)) for name, raw in ENGINES.items()},
    "battles": Reader(BATTLES, from_file(".csv", read_battles)),
    "battles of several": Reader(LONG_BATTLES, from_file(".csv", read_battles)),
    "answers of a machine judge": Reader(MACHINE, from_file(".jsonl", lambda path: set(answered(str(path))))),
    "template of a search": Reader(TEMPLATE, from_file(".json", searching)),
    "groups": Reader(GROUPS, from_file(".toml", lambda path: read_groups(str(path)))),
    **{
        f"features for {name}": Reader(raw, lambda raw, name=name: plan(name, None, raw))
        for name, raw in STORED.items()
    },
    "propensities": Reader(json.dumps(THETA).encode(), from_stream(read_propensities)),
    "spec": Reader(SPEC, from_file(".toml", read_spec)),
    "settings": Reader(SETTINGS, from_file(".toml", settings)),
    "metric": Reader(b"ndcg@10[exp2,log2,ties=mean]", lambda raw: Metric.parse(raw.decode("utf-8", "replace"))),
    "html": Reader(HTML, lambda raw: html_text(raw.decode("utf-8", "replace")), same_html),
    **{f"documents{end}": Reader(raw, from_file(end, documents)) for end, raw in DOCUMENTS.items()},
    **{f"queries{end}": Reader(raw, from_file(end, read_queries)) for end, raw in QUERIES.items()},
    **{f"import {name}": Reader(raw, importing(name)) for name, raw in files().items()},
}
OF_JSON = [name for name, reader in READERS.items() if reader.good.startswith((b'{"', b'[{"'))]
MARKS = [
    b"\t", b",", b" ", b"\r", b"\n", b'"', b"'", b"{", b"}", b"]", b"#", b"qid:", b":", b"nan", b"inf", b"-inf", b"-0",
    b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc2\xb2", b"\xd9\xa3", b"1_000", b"0x10", b"9" * 400, b"1e400", b"2147483648",
    b"9223372036854775808", b"<", b"<!--", b"</", b"&#99999999999;", b"|||", b"\\ud800", b"true", b"\x1f\x8b", b"\0",
]  # fmt: skip


def mutated(raw: bytes, rng: np.random.Generator) -> bytes:
    """A damaged copy, by a few random edits, or by one or two marks of text formats."""
    if rng.random() < 0.5:
        return damaged(raw, rng)
    out = bytearray(raw)
    for _ in range(rng.integers(1, 3)):
        at = int(rng.integers(0, len(out) + 1))
        out[at : at + int(rng.integers(0, 3))] = MARKS[rng.integers(0, len(MARKS))]
    return bytes(out)


def mutated_json(raw: bytes, rng: np.random.Generator) -> bytes:
    """Lines of JSON of which one or two values are odd."""
    values = [json.loads(line) for line in (raw.splitlines() if raw.count(b"\n{") else [raw])]
    mutated_value(values, rng)
    return lines(*values)


def outcome(name: str, raw: bytes) -> str:
    """Whether a file was read or refused; an error if it was neither, took long, or was read wrongly."""
    reader, start = READERS[name], time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = reader.read(raw)
        except PodiumError as error:
            return "refused" if len(str(error)) < 10_000 else f"an error of {len(str(error))} characters"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    if time.process_time() - start > SECONDS:
        return f"took {time.process_time() - start:.1f} s"
    try:
        return "read" if reader.same(found, raw) else "read wrongly"
    except ValueError as error:
        return f"read, and its twin does not: {error}"


@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_read_rightly_or_refused_in_words(name):
    READERS[name].read(READERS[name].good)  # which may compile
    assert outcome(name, READERS[name].good) == "read"
    rng = np.random.default_rng(11)
    for _ in range(60):
        raw = mutated(READERS[name].good, rng)
        assert outcome(name, raw) in ("read", "refused"), raw


@pytest.mark.parametrize("name", OF_JSON)
def test_odd_values_in_json_are_read_or_refused_in_words(name):
    rng = np.random.default_rng(12)
    for _ in range(150):
        raw = mutated_json(READERS[name].good, rng)
        assert outcome(name, raw) in ("read", "refused"), raw


def main(count: int, first: int) -> int:
    """Damage and read `count` files. Prints how many were read, and those that were neither read nor refused."""
    counts, wrong = Counter[str](), 0
    for number in range(first, first + count):
        name = list(READERS)[number % len(READERS)]
        raw = mutated(READERS[name].good, np.random.default_rng(number))
        faulthandler.dump_traceback_later(30, exit=True)
        said = outcome(name, raw)
        counts[said] += 1
        if said not in ("read", "refused"):
            wrong += 1
            print(number, name, said[:300], raw[:300] if len(raw) < 2000 else len(raw), flush=True)
    found = f"{counts['read']} read, {counts['refused']} refused, {wrong} neither read rightly nor refused in words"
    print(f"{count} files of {len(READERS)} kinds: {found}")
    return int(wrong > 0)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
