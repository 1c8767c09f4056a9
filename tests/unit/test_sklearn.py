"""A method as a scikit-learn estimator: its own checks, model selection, pipelines, with queries routed per row."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from podium.errors import DataError, UnknownNameError
from podium.metrics import Metric
from podium.sklearn import Ranker
from podium.testing import linear_data
from podium.training import train

DATA = linear_data(30, 8)
ROWS = np.random.default_rng(0).permutation(DATA.n_documents)
X, Y, QID = DATA.features[ROWS], DATA.labels[ROWS], np.array([f"q{q}" for q in DATA.query_index])[ROWS]


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([Ranker("lambdamart(rounds=10)"), Ranker("ranknet"), Ranker("listnet(scorer=mlp,epochs=5)")])
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


def test_rows_in_any_order_give_the_model_of_the_dataset():
    ranker = Ranker("ranknet").fit(X, Y, qid=QID)
    np.testing.assert_allclose(ranker.predict(X), train(DATA, "ranknet").score(DATA)[ROWS], rtol=1e-4, atol=1e-6)


def test_the_score_is_the_mean_of_the_metric_over_queries():
    ranker = Ranker("ranknet", metric="map").fit(X, Y, qid=QID)
    scores = train(DATA, "ranknet").score(DATA)
    expected = np.nanmean(Metric.parse("map")(scores, DATA.labels, DATA.offsets))
    assert ranker.score(X, Y, qid=QID) == pytest.approx(expected, abs=1e-9)


def test_without_queries_all_rows_are_one():
    ranker = Ranker("ranknet").fit(X, Y)
    np.testing.assert_allclose(ranker.predict(X), Ranker("ranknet").fit(X, Y, qid=np.zeros(len(X))).predict(X))


def test_transforms_of_a_whole_query_see_its_query():
    ranker = Ranker("ranknet(transform=minmax)").fit(X, Y, qid=QID)
    model = train(DATA, "ranknet(transform=minmax)")
    np.testing.assert_allclose(ranker.predict(X, qid=QID), model.score(DATA)[ROWS], rtol=1e-3, atol=1e-5)
    with pytest.raises(DataError, match="predict needs qid"):
        ranker.predict(X)


def test_cross_validation_routes_queries(routing):
    folds = {"qid": QID, "groups": QID}
    scores = cross_val_score(Ranker("ranknet"), X, Y, cv=GroupKFold(5), params=folds, error_score="raise")
    assert scores.shape == (5,)
    assert scores.min() > 0.8
    scores = cross_val_predict(Ranker("ranknet"), X, Y, cv=GroupKFold(5), params=folds)
    assert scores.shape == (len(X),)


def test_cross_validation_without_queries_measures_something_else(routing):
    score = {
        routed: cross_val_score(
            Ranker("ranknet").set_fit_request(qid=routed).set_score_request(qid=routed),
            X,
            Y,
            cv=GroupKFold(3),
            params={"qid": QID, "groups": QID} if routed else {"groups": QID},
        ).mean()
        for routed in (True, False)
    }
    assert score[True] != score[False]


def test_grid_search_chooses_between_methods(routing):
    methods = ["random", "ranknet", "listnet(penalty=10)"]
    search = GridSearchCV(Ranker(), {"method": methods}, cv=GroupKFold(3), error_score="raise")
    search.fit(X, Y, qid=QID, groups=QID)
    assert search.best_params_["method"] != "random"
    assert search.predict(X).shape == (len(X),)


def test_a_pipeline_ends_in_a_ranker(routing):
    pipeline = make_pipeline(StandardScaler(), Ranker("ranknet")).fit(X, Y, qid=QID)
    assert pipeline.score(X, Y, qid=QID) > 0.8
    folds = {"qid": QID, "groups": QID}
    assert cross_val_score(pipeline, X, Y, cv=GroupKFold(3), params=folds, error_score="raise").min() > 0.8


def test_sparse_features_and_missing_values_are_taken():
    zeros = np.where(X < 0, 0, X)
    dense, sparse = (
        Ranker("lambdamart(rounds=5)").fit(A, Y, qid=QID).predict(A) for A in (zeros, sp.csr_matrix(zeros))
    )
    np.testing.assert_allclose(dense, sparse, rtol=1e-6)
    holes = np.where(X > 2, np.nan, X)
    for method in ("lambdamart(rounds=5)", "ranknet"):
        assert np.isfinite(Ranker(method).fit(holes, Y, qid=QID).predict(holes)).all()


def test_names_of_frames_are_kept_and_compared():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    ranker = Ranker("ranknet").fit(frame, pd.Series(Y), qid=pd.Series(QID))
    assert ranker.feature_names_in_.tolist() == ["a", "b", "c"]
    assert ranker.model_.feature_names == ("a", "b", "c")
    with pytest.raises(ValueError, match="feature names should match"):
        ranker.predict(frame[["b", "a", "c"]])


def test_labels_may_be_fractions():
    assert Ranker("regression").fit(X, Y + 0.25, qid=QID).score(X, Y + 0.25, qid=QID) > 0.8


def test_copies_and_pickles_predict_the_same():
    ranker = Ranker("lambdamart(rounds=5)", random_state=7).fit(X, Y, qid=QID)
    again = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(again.predict(X), ranker.predict(X))
    np.testing.assert_array_equal(clone(ranker).fit(X, Y, qid=QID).predict(X), ranker.predict(X))


def test_a_random_state_may_be_what_scikit_learn_takes():
    for state in (3, np.int64(3), None, np.random.RandomState(0)):
        seed = Ranker("random", random_state=state).fit(X, Y, qid=QID).model_.info["seed"]
        assert seed == 3 or not isinstance(state, (int, np.integer))


def test_wrong_names_and_lengths_are_refused_when_fitting():
    with pytest.raises(UnknownNameError, match="Did you mean"):
        Ranker("lambdamrt").fit(X, Y)
    with pytest.raises(DataError, match="3 query ids for 240 rows"):
        Ranker("ranknet").fit(X, Y, qid=[1, 2, 3])
    with pytest.raises(NotFittedError):
        Ranker().predict(X)
