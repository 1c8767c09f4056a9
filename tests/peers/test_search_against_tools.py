"""Search: what queries of the query language match in tantivy; variants of BM25 in bm25s and rank_bm25."""

import numpy as np
import pytest

from podium.text.analyser import Analyser
from podium.text.index.index import Index

FIELDS = ("title", "text")
PLAIN = Analyser(stem=False, stop=False, shortest=1)
WORDS = ["heat", "heats", "heating", "cold", "colds", "slab", "flow", "flew", "fly", "wing", "wings", "wave"]
SAME = [
    "heat", "heat cold", "+heat cold", "+heat +cold", "heat -cold", "+heat -cold -slab", '"heat cold"',
    '"flow heat slab"',
    '+"heat cold" wing', 'heat -"heat cold"', "title:heat", "+title:heat +text:cold", 'title:"wing heat"',
    "title:heat -text:slab", "heat OR cold", "heat AND cold", "(heat OR cold) AND slab", "heat AND (cold OR slab)",
    "+(heat cold) -slab", "(+heat +cold) OR (+wing +wave)", "heat^2 cold", "NOT heat cold",
    "+heat +(cold OR wing) -slab", '"wing wing"', "(title:heat OR title:cold) -wing", "heat AND cold AND slab",
    '"heat cold" OR "cold heat"', '"heat cold"~1', '"flow wave"~2', "+wave -title:wave", "missing", "heat missing",
    "+heat +missing",
]  # fmt: skip


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The same random documents in podium and in tantivy."""
    tantivy = pytest.importorskip("tantivy")
    rng = np.random.default_rng(7)
    draw = lambda most: " ".join(rng.choice(WORDS, rng.integers(0, most)))  # noqa: E731
    documents = [{"id": str(k), "title": draw(4), "text": draw(16)} for k in range(400)]
    ours = Index.create(tmp_path_factory.mktemp("peer") / "i", documents, fields=list(FIELDS), analyser=PLAIN)
    schema = tantivy.SchemaBuilder().add_text_field("id", stored=True, tokenizer_name="raw")
    for field in FIELDS:
        schema = schema.add_text_field(field, tokenizer_name="whitespace")
    theirs = tantivy.Index(schema.build())
    writer = theirs.writer()
    for document in documents:
        writer.add_document(tantivy.Document(**{name: [value] for name, value in document.items()}))
    writer.commit()
    theirs.reload()
    yield ours, theirs
    ours.close()


def found_by(index, query):
    searcher = index.searcher()
    return {searcher.doc(address)["id"][0] for _, address in searcher.search(query, 1000).hits}


@pytest.mark.parametrize("text", SAME)
def test_a_query_matches_what_tantivy_matches(both, text):
    ours, theirs = both
    matching = set(ours.search(text, 1000, syntax=True).ids)
    assert matching == found_by(theirs, theirs.parse_query(text, list(FIELDS)))
    assert matching or "missing" in text


@pytest.mark.parametrize("word", ["hea", "col", "f", "wing"])
def test_a_prefix_matches_what_tantivy_matches(both, word):
    import tantivy

    ours, theirs = both
    queries = [(tantivy.Occur.Should, tantivy.Query.regex_query(theirs.schema, f, f"{word}.*")) for f in FIELDS]
    matching = set(ours.search(f"{word}*", 1000, syntax=True).ids)
    assert matching == found_by(theirs, tantivy.Query.boolean_query(queries))
    assert matching


@pytest.mark.parametrize("typos", [1, 2])
@pytest.mark.parametrize("word", ["heta", "flw", "wings", "cold", "hetas"])
def test_a_fuzzy_word_matches_what_tantivy_matches(both, word, typos):
    import tantivy

    ours, theirs = both
    queries = [
        (
            tantivy.Occur.Should,
            tantivy.Query.fuzzy_term_query(theirs.schema, f, word, distance=typos, transposition_cost_one=True),
        )
        for f in FIELDS
    ]
    matching = set(ours.search(f"{word}~{typos}", 1000, syntax=True).ids)
    assert matching == found_by(theirs, tantivy.Query.boolean_query(queries))
    assert matching


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Texts as lists of words, and an index of them."""
    rng = np.random.default_rng(9)
    words = [rng.choice([f"w{k}" for k in range(15)], rng.integers(1, 20)).tolist() for _ in range(80)]
    rows = [{"id": str(k), "text": " ".join(text)} for k, text in enumerate(words)]
    index = Index.create(tmp_path_factory.mktemp("variants") / "i", rows, fields=["text"], analyser=PLAIN)
    yield index, words
    index.close()


QUERIES = (["w1"], ["w2", "w5"], ["w0", "w14", "w7"])


@pytest.mark.parametrize("variant", ["lucene", "robertson", "atire", "l", "plus"])
def test_variants_of_bm25_are_those_of_bm25s(texts, variant):
    bm25s = pytest.importorskip("bm25s")
    index, words = texts
    method = {"l": "bm25l", "plus": "bm25+"}.get(variant, variant)
    peer = bm25s.BM25(method=method, k1=1.2, b=0.75, delta=1.0 if variant == "plus" else 0.5)
    peer.index(words, show_progress=False)
    for query in QUERIES:
        theirs = peer.get_scores(query) * (2.2 if variant == "lucene" else 1.0)
        hits = index.search(" ".join(query), 100, by=f"bm25(variant={variant})")
        complete = {str(k): theirs[k] for k, text in enumerate(words) if set(query) <= set(text)}  # no term is missing
        ours = {id: score for id, score in zip(hits.ids, hits.scores, strict=True) if id in complete}
        assert ours == pytest.approx(complete, rel=1e-5)
        assert ours


def test_bm25_plus_is_that_of_rank_bm25(texts):
    """Its BM25L multiplies by the term frequency once more."""
    rank_bm25 = pytest.importorskip("rank_bm25")
    index, words = texts
    peer = rank_bm25.BM25Plus(words, k1=1.2, b=0.75)
    for query in QUERIES:
        theirs = peer.get_scores(query)
        hits = index.search(" ".join(query), 100, by="bm25(variant=plus)")
        complete = {str(k): theirs[k] for k, text in enumerate(words) if set(query) <= set(text)}
        ours = {id: score for id, score in zip(hits.ids, hits.scores, strict=True) if id in complete}
        assert ours == pytest.approx(complete, rel=1e-12)
