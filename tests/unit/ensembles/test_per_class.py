"""Query classes: weights of closeness, hard classes, classes that are new or cannot be learned."""

from dataclasses import replace

import numpy as np
import pytest

import podium
from podium.base.errors import DataError, IncompatibleError, ModelFileError
from podium.data.dataset import Dataset
from podium.learner import Learner
from podium.methods import method
from podium.model import Model


def turning(n_queries, seed, documents=8):
    """Queries whose truth turns with a query feature; the other one is a class."""
    rng = np.random.default_rng(seed)
    angle = np.pi * rng.random(n_queries)
    X = rng.normal(size=(n_queries * documents, 3)).astype(np.float32)
    rows = np.repeat(angle, documents)
    labels = np.digitize(np.cos(rows) * X[:, 0] + np.sin(rows) * X[:, 1], [0, 1]).astype(float)
    about = np.column_stack([angle, (angle > 1.5).astype(float)])
    return Dataset(
        X, labels, np.arange(n_queries + 1) * documents, query_features=about, query_feature_names=("angle", "half")
    )


DATA, TEST = turning(24, 0), turning(12, 1)


@pytest.mark.parametrize("of", ["listnet", "prank", "lambdarank(epochs=2)"])
def test_one_class_is_the_method_itself(of):
    plain, one = (podium.train(DATA, text, seed=3) for text in (of, f"per-class(of={of},by=cluster(1))"))
    assert one.score(TEST).tobytes() == plain.score(TEST).tobytes()


def test_classes_of_a_column_are_fitted_alone():
    model = podium.train(DATA, "per-class(of=listnet,by=half)")
    scores = model.score(TEST)
    for half in (0, 1):
        alone = podium.train(DATA.select(np.flatnonzero(DATA.query_features[:, 1] == half)), "listnet")
        queries = np.flatnonzero(TEST.query_features[:, 1] == half)
        np.testing.assert_array_equal(scores[np.isin(TEST.query_index, queries)], alone.score(TEST.select(queries)))
    unseen = replace(TEST, query_features=np.full((12, 2), 5.0))
    np.testing.assert_array_equal(model.score(unseen), podium.train(DATA, "listnet").score(TEST))


def test_clusters_weight_queries_and_scores_by_closeness():
    model = podium.train(DATA, "per-class(of=listnet,by=cluster(3),queries=[angle])")
    centres = model.params["tasks.centres"]
    angle, mean = DATA.query_features[:, 0], DATA.query_features[:, 0].mean()

    def shares(angles):
        squares = ((angles - mean) / angle.std() - centres) ** 2
        nearest = np.sqrt((((angle - mean) / angle.std() - centres) ** 2).min(axis=0))
        closeness = np.exp(-squares / (2 * np.median(nearest) ** 2))
        return closeness / closeness.sum(axis=0)

    parts = [
        podium.train(replace(DATA, query_weights=weights * 24 / weights.sum()), "listnet").score(TEST)
        for weights in shares(angle)
    ]
    expected = (np.repeat(shares(TEST.query_features[:, 0]), 8, axis=1) * parts).sum(axis=0)
    np.testing.assert_allclose(model.score(TEST), expected, atol=1e-8)


def test_no_width_gives_each_query_to_its_own_class():
    hard, narrow = (
        podium.train(
            DATA, f"per-class(of=listnet(transform=identity),by=cluster(3),queries=[angle],width={width})"
        ).score(TEST)
        for width in ("0", "1e-3")
    )
    np.testing.assert_allclose(hard, narrow, atol=1e-4)


def test_a_class_of_one_grade_is_scored_by_the_model_of_all():
    labels = np.where(np.repeat(DATA.query_features[:, 1], 8) == 1, 1.0, DATA.labels)
    data = replace(DATA, labels=labels)
    model = podium.train(data, "per-class(of=ranknet,by=half)")
    assert list(model.info["not_learned"]) == ["1"]
    queries = np.flatnonzero(TEST.query_features[:, 1] == 1)
    rows = np.isin(TEST.query_index, queries)
    np.testing.assert_array_equal(model.score(TEST)[rows], podium.train(data, "ranknet").score(TEST)[rows])


def test_it_is_saved_tuned_and_written(tmp_path):
    model = podium.train(DATA, "per-class(of=listnet,by=cluster(2))", valid=TEST)
    assert [trial["penalty"] for trial in model.info["trials"]] == [0.01, 0.1, 1.0]
    model.save(tmp_path / "m.podium")
    loaded = podium.load(tmp_path / "m.podium")
    assert loaded.score(TEST).tobytes() == model.score(TEST).tobytes()
    assert Learner.parse(repr(model.learner)) == model.learner
    assert method("per-class(of=listnet,penalty=3)").learner.of == "listnet(penalty=3)"
    assert model.query_columns == ("angle", "half")
    damaged = {**model.params, "tasks.centres": np.zeros((2, 7))}
    Model(model.learner, damaged, model.state, 3, None, {}).save(tmp_path / "bad.podium")
    with pytest.raises(ModelFileError):
        podium.load(tmp_path / "bad.podium")


def test_what_has_no_classes_or_no_weights_is_refused():
    with pytest.raises(DataError, match=r"per-class needs query features.*DATA\.queries"):
        podium.train(replace(DATA, query_features=None, query_feature_names=None), "per-class")
    with pytest.raises(IncompatibleError, match=r"per-class weights queries by their class, and prank .*width=0"):
        podium.train(DATA, "per-class(of=prank,by=cluster(2))")
    podium.train(DATA, "per-class(of=prank,by=cluster(2),width=0)")
