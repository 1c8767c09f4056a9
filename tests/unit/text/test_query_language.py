"""The query language: its grammar, and its matches and scores against a scan of all documents."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.base.errors import DataError, ParameterError
from podium.text.analyser import Analyser
from podium.text.index.index import Index
from podium.text.phrase_matches import _matches
from podium.text.query_language import Clause, Filter, Fuzzy, Group, Phrase, Prefix, parse
from podium.text.query_matches import positive_leaves
from podium.text.retrieval.filters import Condition
from reference import query_language as reference

PLAIN = Analyser(stem=False, stop=False, shortest=1)
FIELDS = ("title", "text")
ALPHABET = [a + b + c for a in "ab" for b in "ab" for c in "ab"] + ["abba", "bab"]


def word(text, field=None):
    return Phrase((text,), 0, field, quoted=False)


def phrase(text, near=0, field=None):
    return Phrase(tuple(text.split()), near, field)


def group(*clauses):
    return Group(tuple(c if isinstance(c, Clause) else Clause("", c) for c in clauses))


PARSED = {
    "heat transfer": group(word("heat"), word("transfer")),
    '"heat transfer" slab': group(phrase("heat transfer"), word("slab")),
    '"heat transfer"~5': group(phrase("heat transfer", 5)),
    "+heat -cold": group(Clause("+", word("heat")), Clause("-", word("cold"))),
    "heat NOT cold": group(word("heat"), Clause("-", word("cold"))),
    'title:heat title:"a b"': group(word("heat", "title"), phrase("a b", 0, "title")),
    "title:(heat cold)": group(group(word("heat", "title"), word("cold", "title"))),
    "transf* trnasfer~ cold~2": group(Prefix("transf"), Fuzzy("trnasfer"), Fuzzy("cold", 2)),
    "heat^2 transf*^0.5": group(Clause("", word("heat"), 2.0), Clause("", Prefix("transf"), 0.5)),
    "heat OR cold": group(group(word("heat"), word("cold"))),
    "+(heat OR cold) slab": group(Clause("+", group(group(word("heat"), word("cold")))), word("slab")),
    "heat AND slab OR cold": group(
        group(group(Clause("+", word("heat")), Clause("+", word("slab"))), word("cold"))
    ),
    "heat AND NOT cold": group(group(Clause("+", word("heat")), Clause("-", word("cold")))),
    "year>=1990 heat": group(Clause("+", Filter(Condition("year", ">=", ("1990",)))), word("heat")),
    '-author="Ann Lee" heat': group(Clause("-", Filter(Condition("author", "=", ("Ann Lee",)))), word("heat")),
    "(year<1990 OR heat)": group(group(group(Filter(Condition("year", "<", ("1990",))), word("heat")))),
    "e-mail": group(word("e"), word("mail")),
    "+e-mail": group(Clause("+", phrase("e mail"))),
    "Heat, COLD!": group(word("heat"), word("cold")),
    "& ...": group(),
    "": group(),
}  # fmt: skip


@pytest.mark.parametrize("text", PARSED)
def test_a_query_is_parsed_as_documented(text):
    assert parse(text, PLAIN, FIELDS) == PARSED[text]


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ("a (b", 3, "not closed"), ("a) b", 2, "not opened"), ("a ()", 3, "nothing"), ('x "a b', 3, "quote"),
        ("+ a", 1, "right after"), ("a --b", 3, "right after"), ("a OR", 5, "after it"), ("OR a", 1, "between"),
        ("a AND OR b", 7, "between"), ("http://x", 1, "no field 'http'"), ("*", 1, "before"),
        ("a*b", 3, "end of a word"),
        ("a~3", 1, "typos"), ("a~9999999999", 1, "typos"), ("+a OR b", 1, "next to OR"), ("a^x", 2, "weight"),
        ("a^nan", 2, "weight"), ("a^-1", 2, "weight"), ("a^1e9", 2, "weight"), ("a -b^2", 3, "no weight"),
        ("title: a", 1, "right after"), ("-a -b", 1, "add what to find"), ("a (-b)", 4, "add what to find"),
        ('"a b"~', 6, "~n"), ('"a b"~101', 6, "~n"), ("a year>=", 3, "value is missing"), ('""', 1, "words; got 0"),
        ("+&", 1, "a word is missing"), ("e-mail*", 1, "one word"),
    ],
)  # fmt: skip
def test_an_error_says_the_column(text, column, problem):
    with pytest.raises(ParameterError, match=rf"column {column}: .*{problem}"):
        parse(text, PLAIN, FIELDS)


@pytest.mark.parametrize(
    "text",
    [
        "*" * 10_000, "a* " * 17, "a~ " * 17, "a " * 65, "(" * 10_000, "(" * 30 + "a" + ")" * 30, "+" * 10_000,
        '"' * 10_001, '"' + "a " * 65 + '"', "a^" * 5000, "~" * 10_000, "a OR " * 10_000, "NOT " * 10_000,
        "title:" * 10_000, "a-" * 10_000, "year>1 " * 70,
    ],
)  # fmt: skip
def test_hostile_queries_are_refused(text):
    with pytest.raises(ParameterError, match="column"):
        parse(text, PLAIN, FIELDS)


def test_stop_words_count_only_in_quotes_or_alone():
    english = Analyser()
    assert parse("the +of heat", english, FIELDS) == group(word("heat"))
    assert parse("year>1 the", english, FIELDS).clauses[1].node == word("the")
    assert parse('"the" heat', english, FIELDS) == group(phrase("the"), word("heat"))
    assert parse("heat -the", english, FIELDS) == group(word("heat"), Clause("-", word("the")))


@given(
    st.lists(st.sampled_from("abc"), max_size=7),
    st.lists(st.sampled_from("abc"), min_size=1, max_size=3),
    st.integers(0, 4),
)
@settings(max_examples=100, deadline=None)
def test_phrases_are_counted_as_by_enumeration(words, wanted, near):
    of = lambda letters: np.array([ord(letter) for letter in letters], np.int32)  # noqa: E731
    counted = _matches(of(words), of(wanted), near, np.empty(len(wanted), np.int64))
    assert counted == reference.phrase_count(wanted, words, near)


@pytest.mark.parametrize(
    ("text", "near", "count"),
    [("ab", 0, 1), ("ba", 1, 0), ("ba", 2, 1), ("a..b", 1, 0), ("a..b", 2, 1), ("abab", 0, 2), ("ab.ab", 5, 2)],
)
def test_near_counts_the_places_by_which_words_are_moved(text, near, count):
    assert reference.phrase_count("ab", text, near) == count


words = st.sampled_from(ALPHABET)
fields = st.sampled_from([None, *FIELDS])
leaves = (
    st.builds(lambda w, f: word(w, f), words, fields)
    | st.builds(
        lambda w, n, f: Phrase(tuple(w), n, f), st.lists(words, min_size=1, max_size=3), st.integers(0, 3), fields
    )
    | st.builds(Prefix, words.map(lambda w: w[:2]), fields)
    | st.builds(Fuzzy, words, st.integers(1, 2), fields)
)
filters = st.builds(
    lambda sign, n: Filter(Condition("year", sign, (str(n),))), st.sampled_from(["<", "="]), st.integers(0, 3)
)


def groups(nodes):
    clause = st.builds(Clause, st.sampled_from(["", "", "+", "-"]), nodes)
    return st.lists(clause, min_size=1, max_size=4).map(_findable).map(lambda clauses: Group(tuple(clauses)))


def _findable(clauses):
    """At least one clause to find; what is left out has no weight, and a bare filter must hold."""
    first = clauses[0]
    clauses = [Clause("+", first.node), *clauses[1:]] if all(c.sign == "-" for c in clauses) else clauses
    return [Clause("+", c.node) if isinstance(c.node, Filter) and not c.sign else c for c in clauses]


queries = groups(st.recursive(leaves | filters, groups, max_leaves=6))


def written(node):
    """The text of a query."""
    if isinstance(node, Group):
        return "(" + " ".join(c.sign + written(c.node) for c in node.clauses) + ")"
    if isinstance(node, Filter):
        return f"{node.condition.field}{node.condition.sign}{node.condition.values[0]}"
    field = "" if node.field is None else f"{node.field}:"
    if isinstance(node, Prefix):
        return f"{field}{node.letters}*"
    if isinstance(node, Fuzzy):
        return f"{field}{node.word}~{node.typos}"
    return field + (f'"{" ".join(node.words)}"~{node.near}' if node.quoted else node.words[0])


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """Random documents in two segments, some deleted, and an index of them."""
    rng = np.random.default_rng(5)
    draw = lambda most: rng.choice(ALPHABET, rng.integers(0, most)).tolist()  # noqa: E731
    documents = [{"title": draw(4), "text": draw(8), "year": int(rng.integers(4))} for _ in range(60)]
    rows = [{"id": str(k), "year": d["year"], **{f: " ".join(d[f]) for f in FIELDS}} for k, d in enumerate(documents)]
    index = Index.create(tmp_path_factory.mktemp("language") / "i", rows[:40], fields=list(FIELDS), analyser=PLAIN)
    index.add(rows[40:])
    index.delete(["3", "7", "41"])
    yield index, {k: d for k, d in enumerate(documents) if k not in (3, 7, 41)}
    index.close()


@given(queries)
@settings(max_examples=60, deadline=None)
def test_matches_and_scores_are_those_of_a_scan(collection, query):
    index, documents = collection
    text = written(query)[1:-1]
    assert parse(text, PLAIN, FIELDS) == query
    texts = {k: {f: d[f] for f in FIELDS} for k, d in documents.items()}
    holds = lambda year: lambda c: year < int(c.values[0]) if c.sign == "<" else year == int(c.values[0])  # noqa: E731
    matching = {k for k, d in documents.items() if reference.matches(query, texts[k], holds(d["year"]))}
    for weights, by in (({"title": 1, "text": 1}, "bm25"), ({"title": 2, "text": 0}, "bm25(fields=[title^2])")):
        scores = dict(zip(texts, reference.bm25(positive_leaves(query), list(texts.values()), weights), strict=True))
        hits = index.search(text, 100, by=by, syntax=True)
        assert {int(id) for id in hits.ids} == matching
        assert hits.scores == pytest.approx([scores[int(id)] for id in hits.ids], rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("by", ["bm25", "ql", "bm25(k1=0.5,fields=[title^3,text])"])
@pytest.mark.parametrize("text", ["aaa bab aaa", "abb", "Aba, bbb!", "zzz"])
def test_a_text_without_signs_means_what_it_means_without_the_language(collection, text, by):
    index, _ = collection
    plain, language = (index.search(text, 100, by=by, syntax=syntax) for syntax in (False, True))
    assert plain.ids == language.ids
    assert plain.scores.tobytes() == language.scores.tobytes()


@pytest.mark.parametrize("by", ["ql", "sdm"])
def test_other_retrievals_rank_within_the_matches(collection, by):
    index, _ = collection
    hits = index.search("+aaa -bab", 100, by=by, syntax=True)
    assert len(hits)
    assert sorted(hits.ids) == sorted(index.search("+aaa -bab", 100, syntax=True).ids)


def test_a_filter_and_another_filter_hold_together(collection):
    index, documents = collection
    even = lambda numbers: numbers % 2 == 0  # noqa: E731
    hits = index.search("year=2", 100, where=even, syntax=True)
    assert hits.ids
    assert all(documents[int(id)]["year"] == 2 and n % 2 == 0 for id, n in zip(hits.ids, hits.numbers, strict=True))
    assert (hits.scores == 0.0).all()


def test_the_terms_of_a_query_are_what_may_be_marked(collection):
    index, _ = collection
    query = index.query("bab^2 -abba ab* qqq", syntax=True)
    names = [index.store.term(t) for t in query.terms]
    assert names[0] == "bab"
    assert query.times[0] == 2.0
    assert set(names[1:]) == {"aba", "abb", "abba"}
    assert query.unknown == ("qqq",)


def test_a_query_of_another_state_of_the_index_is_refused(tmp_path):
    index = Index.create(tmp_path / "i", [{"id": "a", "text": "heat"}])
    query = index.query("+heat", syntax=True)
    assert index.search(query).ids == ["a"]
    index.add([{"id": "b", "text": "heat"}])
    with pytest.raises(DataError, match="has changed"):
        index.search(query)
    index.close()


def test_a_fuzzy_word_is_near_a_word_or_its_stem(tmp_path):
    index = Index.create(tmp_path / "i", [{"id": "a", "text": "bread baking"}, {"id": "b", "text": "the cold"}])
    assert index.search("braed~", syntax=True).ids == ["a"]
    assert index.search("bakin~2", syntax=True).ids == ["a"]
    assert index.search("teh~", syntax=True).ids == []  # stop words are not near anything
    index.close()
