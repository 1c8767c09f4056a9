"""Features against the slow reference, on random collections and on the worked example."""

import dataclasses
import itertools

import numpy as np
import pytest

from podium.base.errors import DataError, ParameterError, UnknownNameError
from podium.base.registry import field_types
from podium.testing import variants
from podium.text.analyser import Analyser
from podium.text.context import Context
from podium.text.features import Feature, Plan, read_features, register_feature
from podium.text.index.index import Index
from reference import text_features as reference

PLAIN = Analyser(stem=False)
BODIES = {
    "d1": ("ranking documents", "learning to rank documents by learning rank models"),
    "d2": ("web search", "rank the web documents"),
    "d3": ("", "cooking rice"),
}
REFERENCE = {function.__name__: function for function in reference.OF_ONE}


@pytest.fixture
def worked(tmp_path):
    documents = [{"id": id, "title": title, "body": body} for id, (title, body) in BODIES.items()]
    index = Index.create(
        tmp_path / "i", documents, fields=["title", "body"], analyser=Analyser(stem=False, stop=False, shortest=1)
    )
    yield index
    index.close()


WORKED = {
    "tf": (4, 1, 0),
    "log_tf": (2.197225, 0.693147, 0),
    "norm_tf": (0.5, 0.25, 0),
    "idf": (1.504077, 1.504077, 1.504077),
    "tfidf": (3.008155, 0.405465, 0),
    "bm25": (1.661177, 0.499176, 0),
    "lmir_abs": (-1.364286, -1.897120, -2.099853),
    "lmir_dir": (-1.741354, -1.744010, -1.744177),
    "lmir_jm": (-1.415390, -2.824589, -4.045763),
    "covered": (2, 1, 0),
    "exact": (1, 0, 0),
    "ngram_bm25": (0.759034, 0, 0),
    "span": (1, 1, 0),
    "edit": (0.75, 1, 1),
}


@pytest.mark.parametrize("name", WORKED)
def test_the_worked_example_of_the_body_to_the_digit(worked, name):
    words = "learning rank" if name in ("exact", "ngram_bm25", "edit") else "learning rank unseen"
    context = Context(worked, worked.query(words), worked.numbers(["d1", "d2", "d3"]))
    found = Feature.parse(f"{name}(field=body)").values(context)
    assert found == pytest.approx(WORKED[name], abs=5e-7)


def test_the_worked_example_of_the_title(worked):
    context = Context(worked, worked.query("learning rank"), worked.numbers(["d1", "d2", "d3"]))
    for name in WORKED:
        expected = (1, 1, 1) if name == "edit" else (0, 0, 0)
        assert Feature.parse(f"{name}(field=title)").values(context) == pytest.approx(expected, abs=0), name
    assert Feature.parse("length(field=title)").values(context).tolist() == [2, 2, 0]


def test_unknown_words_are_listed(worked):
    query = worked.query("learning rank unseen")
    assert query.unknown == ("unseen",)
    assert [worked.store.term(t) for t in query.terms] == ["learning", "rank"]
    assert query.sequence[-1] == -1


def all_features(fields):
    """Every feature of the reference with its defaults and every parameter moved, of every field."""
    for name in REFERENCE:
        for feature in variants(Feature.catalogue()[name]):
            if "field" not in field_types(type(feature)):
                yield feature
            else:
                yield from (dataclasses.replace(feature, field=field) for field in (*fields, "whole"))


def settings(feature):
    given = {one.name: getattr(feature, one.name) for one in dataclasses.fields(feature)}
    return given.pop("field", "whole"), given


def draw(rng):
    """A small collection: empty fields and documents, repeats, stop words."""
    words = np.array(["the", "of", "a", *(f"w{k}" for k in range(rng.integers(1, 9)))])
    fields = ("title", "text") if rng.random() < 0.7 else ("text",)
    documents = []
    for k in range(rng.integers(1, 9)):
        sizes = {field: int(rng.choice([0, 1, 2, rng.integers(3, 14)])) for field in fields}
        texts = {field: rng.choice(words, size).tolist() for field, size in sizes.items()}
        documents.append({"id": f"d{k}", **texts})
    kind = rng.random()
    pool = words[:3] if kind < 0.15 else np.append(words, ["unseen", "w0"])
    query = rng.choice(pool, rng.integers(0, 6)).tolist()
    return fields, documents, query


def grown(rng, path, fields, documents):
    """An index of the documents, in one to three segments, after deletions; and the documents left."""
    cuts = sorted(rng.integers(0, len(documents) + 1, rng.integers(0, 3)).tolist())
    parts = [documents[a:b] for a, b in zip([0, *cuts], [*cuts, len(documents)], strict=True)]
    index = Index.create(path, (), fields=fields, analyser=PLAIN)
    for part in parts:
        if part:
            index.add([{"id": one["id"], **{f: " ".join(one[f]) for f in fields}} for one in part])
    gone = [one["id"] for one in documents if rng.random() < 0.15]
    if gone:
        index.delete(gone)
    return index, [one for one in documents if one["id"] not in gone]


def compare(index, fields, documents, query, features):
    """Largest difference of the features to the reference."""
    collection = reference.Collection(documents, fields)
    asked = reference.Asked(collection, query)
    order = documents[::-1]
    scores = np.linspace(1.0, 0.2, len(order))
    context = Context(index, index.query(" ".join(query)), index.numbers([one["id"] for one in order]), scores)
    for feature in features:
        field, given = settings(feature)
        expected = [REFERENCE[feature.name](collection, asked, one, field, **given) for one in order]
        found = feature.values(context)
        assert np.allclose(found, expected, rtol=1e-10, atol=1e-12), (feature, query, documents, found, expected)
    for field, shift in itertools.product((*fields, "whole"), (0.0, -0.5, -9.0)):
        expected = reference.prf(collection, order, scores + shift, field, k=2)
        context.first_scores = scores + shift
        found = Feature.parse(f"prf(field={field},k=2)").values(context)
        assert np.allclose(found, expected, rtol=1e-9, atol=1e-9), (field, shift, query, documents)
    for rank in (1, 100) if len(documents) > 2 else ():
        expected, unique = reference.lsi(collection, asked, "whole", rank)
        if unique:
            found = Feature.parse(f"lsi(rank={rank})").values(context)
            assert np.allclose(found[::-1], expected, atol=1e-3), (rank, query, documents, found, expected)


def test_features_equal_the_slow_reference_on_random_collections(tmp_path):
    rng, seen = np.random.default_rng(11), 0
    everything = {fields: list(all_features(fields)) for fields in (("title", "text"), ("text",))}
    for k in range(50):
        fields, documents, query = draw(rng)
        index, left = grown(rng, tmp_path / f"{k}", fields, documents)
        several = everything[fields]
        some = rng.choice(len(several), 25, replace=False)
        compare(index, fields, left, query, [several[one] for one in some])
        seen += len(index.segments) > 1
        index.close()
    assert seen > 10


def test_every_registered_feature_of_words_has_a_reference():
    families = (
        "matching",
        "over_words",
        "language_models",
        "proximity",
        "similarity",
        "query_level",
        "term_dependence",
    )
    modules = {f"podium.text.features.{family}" for family in families}
    known = {name for name, cls in Feature.catalogue().items() if cls.__module__ in modules}
    assert known == {*REFERENCE, "prf", "lsi"}


def test_a_query_without_known_words_scores_0_everywhere(worked):
    for text in ("", "unseen", "the unseen", "!!!"):
        query = worked.query(text)
        if len(query.terms):
            continue
        context = Context(worked, query, worked.numbers(["d1", "d3"]), np.array([2.0, 1.0]))
        for feature in all_features(("title", "body")):
            if feature.name != "length":
                assert not feature.values(context).any(), (feature, text)


def test_a_query_whose_words_were_all_deleted_is_like_one_of_unknown_words(tmp_path):
    index = Index.create(tmp_path / "i", [{"id": str(k), "text": f"common w{k}"} for k in range(10)], analyser=PLAIN)
    index.delete(["3"])
    query = index.query("common w3")
    assert query.unknown == ("w3",)
    context = Context(index, query, index.numbers(["1", "2"]))
    assert Feature.parse("covered_ratio").values(context).tolist() == [1, 1]
    assert not len(index.search("w3"))
    index.close()


def test_features_are_float32_in_a_matrix(worked):
    context = Context(worked, worked.query("rank web"), worked.numbers(["d2", "d1"]))
    X = Plan(read_features("tf,bm25(field=body)", worked), worked).matrix(context)
    assert X.dtype == np.float32
    assert X[:, 0].tolist() == [3, 2]


@pytest.mark.parametrize("query", ["learning rank", "rank documents by rank", "unseen", ""])
def test_a_plan_computes_what_each_feature_computes(worked, query):
    features = [*all_features(("title", "body")), *read_features("podium", worked)[::-1]]
    context = Context(worked, worked.query(query), worked.numbers(["d3", "d1"]), np.array([2.0, 1.0]))
    X = Plan(features, worked).matrix(context)
    for column, feature in zip(X.T, features, strict=True):
        assert column.tolist() == feature.values(context).astype(np.float32).tolist(), feature


def test_sets_are_read_and_wrong_names_are_refused(worked):
    assert len(read_features("podium", worked)) == len(set(read_features("podium", worked)))
    assert len(read_features("letor3-ohsumed", worked)) == 45
    with pytest.raises(UnknownNameError, match="bm25"):
        read_features("bm52", worked)
    with pytest.raises(ParameterError, match="twice"):
        read_features("tf,tf", worked)
    with pytest.raises(UnknownNameError, match="titel"):
        Feature.parse("tf(field=titel)").values(Context(worked, worked.query("rank"), worked.numbers(["d1"])))


def test_a_function_becomes_a_feature(worked, monkeypatch):
    from podium.base.registry import Named

    monkeypatch.setitem(Named._catalogues, "feature", dict(Named._catalogues["feature"]))
    register_feature("shouting", lambda query, documents, index: [len(d["body"]) + len(query) for d in documents])
    context = Context(worked, worked.query("rank"), worked.numbers(["d3", "d2"]))
    feature = read_features("shouting", worked)[0]
    assert repr(feature) == "shouting"
    assert feature.values(context).tolist() == [len("cooking rice") + 4, len("rank the web documents") + 4]
    register_feature("short", lambda query, documents, index: [1.0])
    with pytest.raises(DataError, match="2 numbers expected"):
        Feature.parse("short").values(context)


def test_feedback_by_negative_scores_is_nearest_to_the_best_documents(tmp_path):
    """Logarithms of probabilities, which a language model as first stage gives, once turned the feature round."""
    documents = [{"id": "a", "text": "red fish"}, {"id": "b", "text": "red bird"}, {"id": "c", "text": "blue stone"}]
    index = Index.create(tmp_path / "i", documents, analyser=PLAIN)
    context = Context(index, index.query("red"), index.numbers(["a", "b", "c"]), np.array([-5.0, -6.0, -40.0]))
    found = Feature.parse("prf(k=2)").values(context)
    assert found[0] > found[1] > 0.0 == found[2]
    index.close()
