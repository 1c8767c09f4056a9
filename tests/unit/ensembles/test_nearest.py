"""Nearest queries: the three variants by their definitions, all queries, a file that holds the training data."""

import zipfile
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import podium
from podium.base.errors import DataError, IncompatibleError, ModelFileError
from podium.data.dataset import Dataset
from podium.ensembles.nearest import neighbours
from podium.export import export
from podium.learner import Learner
from podium.methods import method
from podium.model import Model
from podium.testing.examples import threads


def turning(n_queries, seed, documents=8):
    """Queries whose truth turns with a query feature."""
    rng = np.random.default_rng(seed)
    angle = np.pi * rng.random(n_queries)
    X = rng.normal(size=(n_queries * documents, 3)).astype(np.float32)
    rows = np.repeat(angle, documents)
    labels = np.digitize(np.cos(rows) * X[:, 0] + np.sin(rows) * X[:, 1], [0, 1]).astype(float)
    return Dataset(
        X, labels, np.arange(n_queries + 1) * documents, query_features=angle[:, None], query_feature_names=("angle",)
    )


DATA, TEST = turning(16, 0), turning(11, 3)  # of which two queries tell the variants apart
ANGLES = DATA.query_features[:, 0]
WHEN = ("offline-2", "offline-1", "online")


def near(angle, k):
    return np.sort(np.argsort(abs(ANGLES - angle), kind="stable")[:k])


def expected(when, angle, k):
    """The training queries whose model scores a query of this angle."""
    own = near(angle, k)
    if when == "online":
        return own
    distances = abs(ANGLES - angle)
    if when == "offline-1":
        common = np.array([len({*own} & {*near(other, k)}) for other in ANGLES])
        distances = np.where(common == common.max(), distances, np.inf)
    return near(ANGLES[distances.argmin()], k)


@pytest.mark.parametrize("when", WHEN)
def test_a_query_is_scored_by_the_model_of_its_neighbours(when, tmp_path):
    model = podium.train(DATA, f"nearest(of=listnet,k=5,when={when})")
    model.save(tmp_path / "m.podium")
    loaded, scores = podium.load(tmp_path / "m.podium"), model.score(TEST)
    assert loaded.score(TEST).tobytes() == scores.tobytes()
    assert loaded.query_columns == ("angle",)
    for q in range(TEST.n_queries):
        part = podium.train(DATA.select(expected(when, TEST.query_features[q, 0], 5)), "listnet")
        np.testing.assert_allclose(scores[8 * q : 8 * q + 8], part.score(TEST.select([q])), rtol=1e-12)
        np.testing.assert_array_equal(model.score(TEST.select([q])), scores[8 * q : 8 * q + 8])


@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("k", [16, 50])
def test_all_queries_are_the_method_itself(when, k):
    plain, near = (podium.train(DATA, text, seed=2) for text in ("frank", f"nearest(of=frank,k={k},when={when})"))
    assert near.score(TEST).tobytes() == plain.score(TEST).tobytes()


def test_the_first_of_equal_distances_is_nearer():
    places = np.array([[1.0], [0.0], [2.0], [1.0]])
    assert neighbours(places, np.array([1.0]), 1).tolist() == [0]
    assert neighbours(places, np.array([1.0]), 3).tolist() == [0, 1, 3]


def test_neighbours_without_different_grades_leave_it_to_the_model_of_all():
    flat = np.repeat(ANGLES < 1.0, 8)
    data = replace(DATA, labels=np.where(flat, 1.0, DATA.labels))
    plain = podium.train(data, "ranknet").score(TEST)
    low = np.repeat(TEST.query_features[:, 0] < 0.5, 8)
    assert low.any()
    for when in ("offline-2", "online"):
        np.testing.assert_array_equal(
            podium.train(data, f"nearest(of=ranknet,k=2,when={when})").score(TEST)[low], plain[low]
        )


def test_threads_change_no_bit(tmp_path):
    for number in (1, 2):
        with threads(number):
            podium.train(DATA, "nearest(of=listnet,k=5)").save(tmp_path / str(number))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_the_grid_of_the_method_is_tried_and_the_text_gives_it_back():
    model = podium.train(DATA, "nearest(of=listnet,k=5)", valid=TEST)
    assert [trial["penalty"] for trial in model.info["trials"]] == [0.01, 0.1, 1.0]
    assert Learner.parse(repr(model.learner)) == model.learner
    assert method("nearest(of=listnet,penalty=3,k=4)").learner.of == "listnet(penalty=3)"


def test_training_data_in_the_file_is_data_and_damage_is_refused(tmp_path):
    sparse = DATA.with_features(sp.csr_array(np.asarray(DATA.features)), None)
    for data in (DATA, replace(sparse, query_weights=np.arange(1.0, 17.0))):
        model = podium.train(data, "nearest(of=listnet,k=5,when=online)")
        model.save(tmp_path / "m.podium")
        with zipfile.ZipFile(tmp_path / "m.podium") as archive:
            assert not any("pickle" in name for name in archive.namelist())
            assert any("data/labels" in name for name in archive.namelist())
        assert podium.load(tmp_path / "m.podium").score(TEST).tobytes() == model.score(TEST).tobytes()
    offsets, short = np.arange(18) * 8, model.params["data/labels"][:-1]
    for name, array in (("offsets", offsets), ("labels", short), ("columns", model.params["data/columns"] + 9)):
        bad = {**model.params, f"data/{name}": array}
        Model(model.learner, bad, model.state, 3, None, {}).save(tmp_path / "bad.podium")
        with pytest.raises(ModelFileError):
            podium.load(tmp_path / "bad.podium")


def test_what_it_cannot_do_is_refused(tmp_path):
    bare = replace(DATA, query_features=None, query_feature_names=None)
    with pytest.raises(DataError, match=r"nearest needs query features.*DATA\.queries"):
        podium.train(bare, "nearest")
    assert podium.train(bare, "nearest(k=5,queries=[query-profile])").query_columns == ()
    n = 2001
    many = Dataset(
        np.zeros((2 * n, 1), np.float32), np.arange(2 * n) % 2.0, np.arange(n + 1) * 2, query_features=np.zeros((n, 1))
    )
    with pytest.raises(IncompatibleError, match="there are 2001; at most 2000 unless the method is linear"):
        podium.train(many, "nearest(of=lambdamart)")
    Learner.parse("nearest(of=listnet)").check(many)
    preferring = DATA.with_preferences([0], [1])
    with pytest.raises(IncompatibleError, match="no place for preferences"):
        podium.train(preferring, "nearest(of=ranknet,when=online)")
    with pytest.raises(IncompatibleError, match="nearest is neither trees nor a linear model"):
        export(podium.train(DATA, "nearest(of=listnet,k=5)"), "python", tmp_path / "ranker.py")
