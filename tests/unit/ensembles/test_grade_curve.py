"""Grades of a committee's members: as they are, or by a rising curve fitted to queries that a member did not see."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

import podium
from podium.base.errors import IncompatibleError
from podium.ensembles.combining import zscores
from podium.ensembles.grade_curve import fit_grades, grades_of
from podium.testing import linear_data

DATA, POOL = linear_data(15, 6), linear_data(5, 6, seed=1)


def test_the_curve_is_the_isotonic_regression_of_unseen_grades_on_z_scores():
    rng = np.random.default_rng(0)
    scores, absent = rng.standard_normal((3, DATA.n_documents)) + DATA.labels, rng.random((3, 15)) < 0.4
    params = fit_grades(scores, absent, DATA, are_grades=False)
    z = np.stack([zscores(own, DATA.offsets) for own in scores])
    unseen = absent[:, DATA.query_index]
    labels = np.broadcast_to(DATA.labels, z.shape)[unseen]
    other = IsotonicRegression().fit(z[unseen], labels)
    fit = other.predict(z[unseen])
    values = np.unique(fit)
    np.testing.assert_allclose(params["grade-curve"][1], values, atol=1e-12)
    centres = [z[unseen][fit == value].mean() for value in values]
    np.testing.assert_allclose(params["grade-curve"][0], centres, atol=1e-12)
    grades = grades_of(params, scores, DATA)
    assert grades.min() >= DATA.labels.min()
    assert grades.max() <= DATA.labels.max()


def test_scores_that_are_grades_are_clipped_to_the_grades_seen():
    model = podium.train(DATA, "bagged(of=regression,members=3)")
    assert "grade-curve" not in model.params
    parts = [
        np.clip(podium.train(replace(DATA, query_weights=_counts(rng)), "regression").score(POOL), 0.0, 2.0)
        for rng in np.random.default_rng(0).spawn(3)
    ]
    np.testing.assert_allclose(model.member_grades(POOL), parts, rtol=1e-9)


def _counts(rng):
    return np.bincount(rng.integers(15, size=15), minlength=15).astype(float)


@pytest.mark.parametrize("of", ["listnet", "lambdamart(rounds=3,min_data_in_leaf=2)"])
def test_a_saved_model_has_the_same_grades(of, tmp_path):
    model = podium.train(DATA, f"bagged(of={of},members=3)")
    model.save(tmp_path / "m.podium")
    grades = podium.load(tmp_path / "m.podium").member_grades(POOL)
    assert grades.shape == (3, POOL.n_documents)
    np.testing.assert_array_equal(grades, model.member_grades(POOL))
    rows = np.random.default_rng(1).permutation(POOL.n_documents)  # in the order of the caller's rows
    apart = model.member_grades(POOL.features[rows], qid=POOL.query_index[rows])
    np.testing.assert_allclose(apart, grades[:, rows], rtol=1e-12)


@pytest.mark.parametrize("method", ["bagged(of=listnet,members=2,bootstrap=false)", "bagged(of=listnet,members=2)"])
def test_members_who_saw_every_query_have_a_curve_too(method):
    part = DATA if "false" in method else DATA.select([0])
    assert podium.train(part, method).member_grades(POOL).shape == (2, POOL.n_documents)


def test_models_without_grades_or_members_say_what_to_train():
    with pytest.raises(IncompatibleError, match="has one member"):
        podium.train(DATA, "bagged(of=listnet,members=1)").member_grades(POOL)
    winners, losers = np.array([1, 7, 13]), np.array([0, 6, 12])
    judged = replace(DATA, labels=None).with_preferences(winners, losers)
    with pytest.raises(IncompatibleError, match=r"knows no grades.*podium train"):
        podium.train(judged, "bagged(of=ranknet,members=2)").member_grades(POOL)
