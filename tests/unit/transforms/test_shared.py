"""shared: weights of all tasks and of each, from pooled to separate; unseen tasks; clusters; trees refuse it."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import podium
from podium.base.errors import DataError, IncompatibleError, ParameterError
from podium.base.matrix_on_disk import Rows
from podium.data.dataset import Dataset
from podium.data.query_values import category_number
from podium.export import export
from podium.methods import method
from podium.transforms import Identity, Shared
from podium.transforms.tasks import k_means


def markets(n_queries, seed, *, values=(0.0, 1.0), documents=8):
    """Queries of two markets, in which the second feature counts for and against a document."""
    rng = np.random.default_rng(seed)
    market = np.arange(n_queries) % 2
    X = rng.normal(size=(n_queries * documents, 3)).astype(np.float32)
    utility = X[:, 0] + np.where(np.repeat(market, documents) == 1, 1.0, -1.0) * X[:, 1]
    about = np.column_stack([np.array(values)[market], rng.normal(size=n_queries)])
    return Dataset(
        X, np.digitize(utility, [0, 1.5]).astype(float), np.arange(n_queries + 1) * documents,
        query_features=about, query_feature_names=("market", "length"),
    )  # fmt: skip


DATA, TEST = markets(20, 0), markets(10, 1)


def test_features_are_those_of_all_and_a_copy_for_the_task():
    transform = Shared(of=Identity(), strength=2.0)
    features = transform.features(transform.fit(DATA), DATA)
    assert isinstance(features, sp.csr_array)
    X, task = np.asarray(DATA.features), np.repeat(DATA.query_features[:, 0], 8)[:, None]
    np.testing.assert_array_equal(features.toarray(), np.hstack([X, 2 * X * (task == 0), 2 * X * (task == 1)]))


def test_a_small_strength_pools_the_tasks():
    texts = ("listnet(penalty=0.1,transform=shared(strength=1e-5))", "listnet(penalty=0.1)")
    shared, pooled = (podium.train(DATA, text).score(TEST) for text in texts)
    np.testing.assert_allclose(shared, pooled, atol=1e-5)


def test_a_large_strength_separates_the_tasks():
    """w_t = ρv_t has the penalty λ‖w_t‖²/ρ², so that λρ² is as λ for a task alone; it has half of the queries."""
    alone = [np.flatnonzero(DATA.query_features[:, 0] == task) for task in (0, 1)]
    shared = podium.train(DATA, "listnet(penalty=1e7,tolerance=1e-9,transform=shared(strength=1e4,of=identity))")
    for task, queries in enumerate(alone):
        separate = podium.train(DATA.select(queries), "listnet(penalty=0.2,tolerance=1e-9,transform=identity)")
        test = TEST.select(np.flatnonzero(TEST.query_features[:, 0] == task))
        np.testing.assert_allclose(shared.score(test), separate.score(test), atol=1e-3)


def test_an_unseen_task_uses_the_shared_weights():
    model = podium.train(DATA, "listnet(transform=shared)")
    weights = model.params["theta"][:3]
    new = replace(TEST, query_features=np.full((10, 2), 7.0))
    z = (np.asarray(TEST.features) - model.state["of.mean"]) * model.state["of.scale"]
    np.testing.assert_allclose(model.score(new), z @ weights, atol=1e-5)


def test_words_are_tasks_too(tmp_path):
    words = tuple(map(category_number, ("de", "uk")))
    data, test = markets(20, 0, values=words), markets(10, 1, values=words)
    model = podium.train(data, "listnet(transform=shared)")
    np.testing.assert_allclose(model.score(test), podium.train(DATA, "listnet(transform=shared)").score(TEST))
    model.save(tmp_path / "m.podium")
    assert podium.load(tmp_path / "m.podium").score(test).tobytes() == model.score(test).tobytes()
    assert model.query_columns == ("market",)


def test_the_strength_is_chosen_on_validation_data_unless_it_is_named():
    assert method("listnet(transform=shared)").grid == {"penalty": (0.01, 0.1, 1.0), "strength": (1.0, 0.5, 2.0)}
    assert method("recipe(loss=listnet,transform=shared)").grid == {"strength": (1.0, 0.5, 2.0)}
    assert "strength" not in method("listnet(transform=shared(strength=3))").grid
    assert "strength" in method("bagged(of=listnet(transform=shared),members=2)").grid
    model = podium.train(DATA, "listnet(penalty=0.1,transform=shared)", valid=TEST)
    assert [trial["strength"] for trial in model.info["trials"]] == [1.0, 0.5, 2.0]


def test_clusters_are_of_the_query_features():
    model = podium.train(DATA, "listnet(transform=shared(by=cluster(2),queries=[market]))")
    np.testing.assert_allclose(
        model.score(TEST), podium.train(DATA, "listnet(transform=shared)").score(TEST), atol=1e-6
    )
    assert model.query_columns == ("market",)


def test_k_means_finds_planted_clusters_and_never_more_than_there_are_queries():
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    z = np.repeat(centres, 20, axis=0) + 0.1 * rng.normal(size=(60, 2))
    expected = z.reshape(3, 20, 2).mean(axis=1)
    np.testing.assert_allclose(k_means(z, 3), expected[np.lexsort(expected.T[::-1])], atol=1e-9)
    assert k_means(np.array([[1.0], [1.0], [2.0]]), 8).tolist() == [[1.0], [2.0]]


def test_what_cannot_be_shared_is_refused():
    bare = replace(DATA, query_features=None, query_feature_names=None)
    with pytest.raises(DataError, match=r"needs the query feature 'market', and the data has none.*DATA\.queries"):
        podium.train(bare, "listnet(transform=shared)")
    with pytest.raises(DataError, match="needs query features"):
        podium.train(bare, "listnet(transform=shared(by=cluster(3)))")
    with pytest.raises(DataError, match="each of 20 queries has a value of 'length' of its own"):
        podium.train(DATA, "listnet(transform=shared(by=length))")
    with pytest.raises(IncompatibleError, match="give the task as a column: transform=with-query, or adapted"):
        podium.train(DATA, "lambdamart(transform=shared)")
    with pytest.raises(ParameterError, match=r"by=cluster\(8\)"):
        method("listnet(transform=shared(by=cluster(many)))")
    model = podium.train(DATA, "listnet(transform=shared)")
    with pytest.raises(DataError, match="needs the query feature 'market'"):
        model.score(replace(TEST, query_features=None, query_feature_names=None))


@pytest.mark.parametrize("transform", ["shared", "with-query", "crossed", "query-profile", "keep(of=crossed,count=2)"])
def test_features_of_queries_are_not_exported(transform, tmp_path):
    model = podium.train(DATA, f"listnet(transform={transform})")
    with pytest.raises(IncompatibleError, match="makes features from the whole query"):
        export(model, "python", tmp_path / "ranker.py")
    assert model.coefficients() is None


def test_rows_on_disk_have_the_same_features():
    class Disk(Rows):
        def read(self, first, last):
            return np.array(DATA.features[first:last])

    transform = Shared()
    state = transform.fit(DATA)
    rows = transform.apply(state, DATA.with_features(Disk(DATA.features.shape), None)).features
    np.testing.assert_array_equal(rows[5:30], transform.features(state, DATA).toarray()[5:30])
