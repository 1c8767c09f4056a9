"""Query features beside those of documents: with-query, crossed and query-profile."""

from dataclasses import replace

import numpy as np
import pytest

import podium
from podium.base.errors import DataError, IncompatibleError
from podium.data.dataset import Dataset
from podium.data.query_values import CATEGORY, category_number
from podium.metrics import Metric
from podium.solvers import mean_metric
from podium.testing import linear_data
from podium.transforms import Crossed, Identity, QueryProfile, WithQuery
from podium.transforms.query_columns import fit_query_columns, query_columns

NDCG = Metric.parse("ndcg@10")
BARE = linear_data(4, 6)
LENGTHS = np.array([1.0, 2.0, 3.0, 6.0])
MARKETS = np.array([category_number(word) for word in ("de", "uk", "de", "fr")])
DATA = replace(BARE, query_features=np.column_stack([LENGTHS, MARKETS]), query_feature_names=("length", "market"))
Z = (LENGTHS - 3.0) / LENGTHS.std()


def columns(data=DATA, queries=()):
    return query_columns(queries, fit_query_columns(queries, DATA, "test"), data, "test")


def test_numbers_become_z_scores_and_words_a_column_for_each():
    z = columns()
    np.testing.assert_allclose(z[:, 0], Z)
    order = [sorted({*MARKETS}).index(market) for market in MARKETS]
    np.testing.assert_array_equal(z[:, 1:], np.eye(3)[order])
    assert (MARKETS >= CATEGORY).all()


def test_a_word_that_was_not_there_and_a_missing_number_are_zero():
    new = replace(DATA, query_features=np.tile([np.nan, category_number("jp")], (4, 1)))
    np.testing.assert_array_equal(columns(new), np.zeros((4, 4)))


def test_with_query_appends_them_to_every_document_of_the_query():
    transform = WithQuery(of=Identity(), queries=("length",))
    features = transform.features(transform.fit(DATA), DATA)
    np.testing.assert_array_equal(features[:, :3], np.asarray(DATA.features))
    np.testing.assert_allclose(features[:, 3], np.repeat(Z, 6), rtol=1e-6)


def test_crossed_appends_products():
    transform = Crossed(of=Identity(), queries=("length",))
    features = transform.features(transform.fit(DATA), DATA)
    X = np.asarray(DATA.features)
    np.testing.assert_allclose(features, np.hstack([X, X * np.repeat(Z, 6)[:, None]]), rtol=1e-5, atol=1e-6)


def switching(n_queries, seed):
    """Queries of two kinds, in which the feature counts for and against a document."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n_queries) % 2
    X = rng.normal(size=(n_queries * 10, 2)).astype(np.float32)
    labels = (X[:, 0] * np.repeat(2 * kind - 1, 10) > 0.5).astype(float)
    return Dataset(
        X, labels, np.arange(n_queries + 1) * 10, query_features=kind[:, None] + 1.0, query_feature_names=("kind",)
    )


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("listnet(transform=crossed)", 0.95),
        pytest.param(
            "lambdamart(transform=with-query,rounds=30,num_leaves=4,min_data_in_leaf=5)", 0.95, marks=pytest.mark.slow
        ),
    ],
)
def test_a_ranker_can_switch_by_the_query(text, least):
    model, test = podium.train(switching(40, 0), text), switching(40, 1)
    assert mean_metric(NDCG, model.score(test), test) > least
    assert mean_metric(NDCG, podium.train(switching(40, 0), "listnet").score(test), test) < 0.7


def test_a_profile_has_means_and_deviations_of_the_first_documents_and_the_logarithm_of_their_number():
    X = np.asarray(BARE.features, np.float64).reshape(4, 6, 3)
    top = np.array([x[np.argsort(-x[:, 1])[:2]] for x in X])
    transform = QueryProfile(by="2", top=2)
    state = transform.fit(BARE)
    raw = np.hstack([top.mean(axis=1), top.std(axis=1), np.full((4, 1), np.log(6))])
    np.testing.assert_allclose(state["mean"], raw.mean(axis=0), rtol=1e-6)
    profile = transform.profile(state, BARE)
    six = raw[:, :6]
    np.testing.assert_allclose(profile[:, :6], (six - six.mean(axis=0)) / six.std(axis=0), rtol=1e-5)
    assert (profile[:, 6] == 0).all()  # all queries have six documents
    features = transform.features(state, BARE)
    np.testing.assert_allclose(features[:, 3:], np.repeat(profile, 6, axis=0), rtol=1e-5, atol=1e-7)
    assert (columns(DATA, ("query-profile(by=2,top=2)",)) == profile).all()


def test_a_feature_of_a_profile_has_a_name_or_a_number():
    named = replace(BARE, feature_names=("bm25", "length", "age"))
    for by, data in (("length", named), ("2", named), ("2", BARE)):
        assert QueryProfile(by=by).fit(data)["feature"].tolist() == [1]
    for by in ("bm25", "4", "0"):
        with pytest.raises(IncompatibleError, match="neither a feature's name nor a number from 1 to 3"):
            podium.train(BARE, f"listnet(transform=query-profile(by={by}))")


@pytest.mark.parametrize("name", ["with-query", "crossed"])
def test_data_without_query_features_is_refused_with_the_file_to_write(name, tmp_path):
    with pytest.raises(DataError, match=r"needs query features.*DATA\.queries.*queries=\[query-profile\]"):
        podium.train(BARE, f"listnet(transform={name})")
    with pytest.raises(DataError, match=r"needs the query feature 'size', and the data has length, market"):
        podium.train(DATA, f"listnet(transform={name}(queries=[size]))")
    model = podium.train(DATA, f"listnet(transform={name})")
    assert model.query_columns == ("length", "market")
    model.save(tmp_path / "m.podium")
    assert podium.load(tmp_path / "m.podium").score(DATA).tobytes() == model.score(DATA).tobytes()
    assert podium.train(BARE, f"listnet(transform={name}(queries=[query-profile]))").query_columns == ()


def test_products_that_do_not_fit_into_memory_are_refused():
    n = 1_000_000
    large = Dataset(
        np.broadcast_to(np.float32(0), (n, 200)), np.arange(n) % 3 * 1.0, np.arange(0, n + 1, 1000),
        query_features=np.random.default_rng(0).normal(size=(1000, 20)),
    )  # fmt: skip
    with pytest.raises(IncompatibleError, match=r"products of 200 features and 20 of queries would need about 17 GB"):
        Crossed().check(large)


def test_an_id_is_no_category():
    words = np.array([[category_number(f"w{k}")] for k in range(1001)])
    many = Dataset(np.zeros((1001, 1), np.float32), None, np.arange(1002), query_features=words)
    with pytest.raises(DataError, match="'q1' has 1001 different words"):
        WithQuery().fit(many)
