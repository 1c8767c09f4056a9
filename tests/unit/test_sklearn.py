"""A method as a scikit-learn estimator: its own checks, model selection, pipelines, with queries routed per row."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from podium.base.errors import DataError, IncompatibleError, ParameterError, UnknownNameError
from podium.data import Dataset
from podium.methods import method
from podium.metrics import Metric
from podium.model import load
from podium.sklearn import Ranker
from podium.testing import linear_data
from podium.training import train

DATA = linear_data(30, 8)
ROWS = np.random.default_rng(0).permutation(DATA.n_documents)
X, Y, QID = DATA.features[ROWS], DATA.labels[ROWS], np.array([f"q{q}" for q in DATA.query_index])[ROWS]

ROUTES_PIPELINES = pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8), reason="scikit-learn 1.8 routes a pipeline's score"
)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


WEIGHTS_OF_ROWS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
    "check_sample_weights_not_overwritten",
)


@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.SkipTestWarning",
    "ignore:Ranker.fit without qid",
    "ignore:.*the model gives all .* the same score",  # trees on twenty rows
)
@parametrize_with_checks(
    [Ranker("lambdamart(rounds=10)"), Ranker("ranknet"), Ranker("listnet(scorer=mlp,epochs=5)")],
    expected_failed_checks=lambda ranker: (
        {} if "lambdamart" in ranker.method else dict.fromkeys(WEIGHTS_OF_ROWS, "weights of rows are for trees")
    ),
)
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


def test_without_queries_all_rows_are_one_and_that_is_said():
    with pytest.warns(UserWarning, match="all rows are taken for one query"):
        ranker = Ranker("ranknet").fit(X, Y)
    assert ranker.score(X, Y) == ranker.score(X, Y, qid=np.zeros(len(X)))
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


@pytest.mark.filterwarnings("ignore:One or more of the test scores")
def test_without_routing_a_score_over_all_rows_as_one_query_is_refused():
    ranker = Ranker("ranknet").fit(X, Y, qid=QID)
    with pytest.raises(DataError, match=r"score needs qid.*enable_metadata_routing=True"):
        ranker.score(X, Y)
    search = GridSearchCV(Ranker("ranknet"), {"penalty": [0.1]}, cv=3, error_score="raise")
    with pytest.raises(DataError, match="score needs qid"):
        search.fit(X, Y, qid=QID)
    with pytest.warns(UserWarning, match=r"Scoring failed(?s:.*)enable_metadata_routing=True"):
        search.set_params(error_score=np.nan).fit(X, Y, qid=QID)
    assert np.isnan(search.cv_results_["mean_test_score"]).all()


def test_without_routing_scorers_and_predictions_that_need_no_queries_work():
    values = cross_val_score(Ranker("ranknet"), X, Y, cv=3, params={"qid": QID}, scoring="neg_mean_squared_error")
    assert np.isfinite(values).all()
    assert cross_val_predict(Ranker("ranknet"), X, Y, cv=3, params={"qid": QID}).shape == Y.shape
    assert clone(Ranker("ranknet")).fit(X, Y, qid=QID).score(X, Y, qid=QID) > 0.5


def test_the_score_takes_queries_as_sizes_too():
    ranker = Ranker("ranknet").fit(X, Y, qid=QID)
    by_id = ranker.score(DATA.features, DATA.labels, qid=DATA.query_index)
    assert ranker.score(DATA.features, DATA.labels, group=DATA.sizes) == by_id
    with pytest.raises(DataError):
        ranker.score(DATA.features, DATA.labels, qid=DATA.query_index, group=DATA.sizes)
    with pytest.raises(DataError):
        ranker.score(DATA.features, DATA.labels, group=[3])


def test_a_saved_ranker_is_a_model_file_and_comes_back_whole(tmp_path):
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])])
    ranker = Ranker("listnet", reg_lambda=0.5, scorer="trees", rounds=5, metric="map").fit(frame, Y, qid=QID)
    ranker.save(tmp_path / "ranker.podium")
    np.testing.assert_array_equal(load(tmp_path / "ranker.podium").score(frame), ranker.predict(frame))
    again = Ranker.load(tmp_path / "ranker.podium")
    np.testing.assert_array_equal(again.predict(frame), ranker.predict(frame))
    np.testing.assert_array_equal(again.feature_importances_, ranker.feature_importances_)
    assert again.feature_names_in_.tolist() == frame.columns.tolist()
    assert again.score(frame, Y, qid=QID) == ranker.score(frame, Y, qid=QID)
    assert clone(again).fit(frame, Y, qid=QID).model_.learner == ranker.model_.learner
    with pytest.raises(NotFittedError):
        Ranker().save(tmp_path / "none.podium")


def test_any_model_file_is_a_ranker(tmp_path):
    model = train(DATA, "ranknet", metric="map")
    model.save(tmp_path / "m.podium")
    ranker = Ranker.load(tmp_path / "m.podium")
    np.testing.assert_array_equal(ranker.predict(DATA.features), model.score(DATA))
    assert ranker.metric == "map"


@pytest.mark.parametrize("kind", ["object", "category", "polars"])
def test_columns_of_text_are_named_with_two_ways_out(kind):
    frame = pd.DataFrame({"price": X[:, 0], "brand": ["hoka"] * len(Y), "shop": ["a", "b"] * (len(Y) // 2)})
    if kind == "polars":
        frame = pytest.importorskip("polars").from_pandas(frame)
    else:
        frame = frame.astype({"brand": kind, "shop": kind})
    with pytest.raises(
        DataError, match=r"columns 'brand', 'shop': text.*OneHotEncoder.*X\.drop\(columns=\['brand', 'shop'\]"
    ):
        Ranker("ranknet").fit(frame, Y, qid=QID)


def test_names_of_other_tools_are_parameters_of_a_ranker():
    ranker = Ranker(
        n_estimators=7, max_depth=-1, min_child_samples=3, subsample=0.5, objective="lambdarank", verbose=-1
    )
    assert ranker.get_params()["n_estimators"] == 7
    learner = clone(ranker).fit(X, Y, qid=QID).model_.learner
    assert learner == method("lambdamart(rounds=7,min_data_in_leaf=3,bagging_fraction=0.5)").learner
    signs = Ranker(monotone_constraints=[1, *[0] * (X.shape[1] - 2), -1], rounds=2).fit(X, Y, qid=QID)
    assert signs.model_.learner.scorer.rising == ("1",)
    assert signs.model_.learner.scorer.falling == (str(X.shape[1]),)


def test_arguments_of_fit_are_those_of_lightgbm():
    lightgbm = pytest.importorskip("lightgbm")
    held = {"eval_set": [(DATA.features, DATA.labels)], "eval_group": [DATA.sizes]}
    same = {"group": DATA.sizes, **held}
    first = Ranker(rounds=20, patience=3, metric="ndcg@5").fit(DATA.features, DATA.labels, **same)
    for more in (
        {"early_stopping_rounds": 3},
        {"callbacks": [lightgbm.early_stopping(3, verbose=False), lightgbm.log_evaluation(0)], "eval_names": ["valid"]},
    ):
        other = Ranker(rounds=20).fit(
            DATA.features, DATA.labels, **same, **more, eval_at=[5], categorical_feature="auto"
        )
        assert other.model_.info == first.model_.info
    pair = {"eval_X": DATA.features, "eval_y": DATA.labels, "eval_group": DATA.sizes, "eval_at": 5}
    other = Ranker(rounds=20, patience=3).fit(DATA.features, DATA.labels, group=DATA.sizes, **pair)
    assert other.model_.info == first.model_.info
    by_id = Ranker(rounds=20).fit(X, Y, group_id=QID)
    assert by_id.model_.learner == method("lambdamart(rounds=20)").learner


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ({"init_score": [0.0]}, "starts from equal scores"),
        ({"callbacks": [print]}, "callbacks: print cannot be called"),
        ({"eval_at": [1, 3]}, r"eval_at=\[1, 3\]: training stops by one metric"),
        ({"init_model": "m.txt"}, "goes on from a model of podium"),
        ({"eval_X": X}, "eval_X and eval_y go together"),
        ({"wait": 3}, "fit has no argument 'wait'"),
    ],
)
def test_arguments_of_fit_that_mean_nothing_here_are_refused(argument, words):
    with pytest.raises(ParameterError, match=words):
        Ranker("ranknet").fit(X, Y, qid=QID, **argument)


def test_groups_given_by_size_ask_for_queries_too():
    ranker = Ranker("ranknet").fit(DATA.features, DATA.labels, group=DATA.sizes)
    with pytest.raises(DataError, match="score needs qid"):
        ranker.score(X, Y)


def test_parameters_of_the_method_are_given_by_name():
    ranker = Ranker("listnet", penalty=0.5, tolerance=1e-3)
    assert ranker.get_params() == {
        "method": "listnet", "metric": "ndcg@10", "random_state": 0, "penalty": 0.5, "tolerance": 1e-3
    }  # fmt: skip
    assert repr(ranker) == "Ranker(method='listnet', penalty=0.5, tolerance=0.001)"
    assert repr(clone(ranker)) == repr(ranker)
    assert ranker.fit(X, Y, qid=QID).model_.learner == method("listnet(penalty=0.5,tolerance=0.001)").learner
    assert repr(clone(ranker)) == repr(ranker)  # what fitting adds is no parameter
    changed = clone(ranker).set_params(method="ranknet", penalty=2.0).fit(X, Y, qid=QID)
    assert changed.model_.learner == method("ranknet(penalty=2,tolerance=0.001)").learner
    nested = Ranker("ranknet", scorer="mlp(hidden=[4])", epochs=2).fit(X, Y, qid=QID)
    assert nested.model_.learner == method("ranknet(scorer=mlp(hidden=[4]),epochs=2)").learner


def test_parameters_that_are_none_are_refused_when_fitting():
    with pytest.raises(UnknownNameError, match="Did you mean 'penalty'"):
        Ranker("listnet", penalti=1).fit(X, Y, qid=QID)
    with pytest.raises(ParameterError, match="penalty is given twice"):
        Ranker("listnet(penalty=1)", penalty=2).fit(X, Y, qid=QID)
    for name in ("fit", "model_", "_importance"):
        with pytest.raises(ParameterError, match=f"'{name}' is no parameter"):
            Ranker("listnet", **{name: 1})


def test_grid_search_runs_over_parameters_that_were_not_given(routing):
    search = GridSearchCV(Ranker("ranknet"), {"penalty": [1e6, 0.01]}, cv=GroupKFold(3), error_score="raise")
    search.fit(X, Y, qid=QID, groups=QID)
    assert search.best_params_ == {"penalty": 0.01}
    assert search.best_estimator_.model_.learner.solver.penalty == 0.01


@ROUTES_PIPELINES
def test_a_grid_runs_through_a_pipeline(routing):
    pipeline = Pipeline([("scale", StandardScaler()), ("rank", Ranker("ranknet"))])
    search = GridSearchCV(pipeline, {"rank__penalty": [1e6, 0.01]}, cv=GroupKFold(3), error_score="raise")
    assert search.fit(X, Y, qid=QID, groups=QID).best_params_ == {"rank__penalty": 0.01}


VALID = linear_data(12, 8, seed=1)


def test_validation_data_tunes_stops_and_fits_the_temperature():
    queries = VALID.query_index
    ways = [
        {"eval_set": (VALID.features, VALID.labels), "eval_qid": queries},
        {"eval_set": [(VALID.features, VALID.labels)], "eval_qid": [queries]},
        {"eval_set": [(VALID.features, VALID.labels)], "eval_group": [VALID.sizes]},
        {"eval_set": [(X, Y), (VALID.features, VALID.labels)], "eval_qid": [QID, queries]},
    ]
    trials = train(DATA, "lambdamart(rounds=8)", valid=VALID).info["trials"]
    assert [trial["transform"] for trial in trials][:2] == ["identity", "add-minmax"]
    # predict has rows alone: what scales within queries is not tried
    expected = train(DATA, "lambdamart(rounds=8,transform=identity)", valid=VALID)
    for given in ways:
        model = Ranker("lambdamart", rounds=8).fit(DATA.features, DATA.labels, group=DATA.sizes, **given).model_
        assert model.info["trials"] == expected.info["trials"]
        assert model.info["temperature"] == expected.info["temperature"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"eval_set": [(X, Y)]}, "eval_set needs its queries"),
        ({"eval_set": [X], "eval_qid": [QID]}, "eval_set must be"),
        ({"eval_set": [(X, Y)], "eval_qid": QID}, "eval_set has 1 parts, eval_qid 240"),
        ({"eval_set": [(X, Y)], "eval_group": [[3]]}, "add up to 3"),
        ({"group": [240], "qid": QID}, "not both"),
    ],
)
def test_validation_data_and_groups_that_do_not_fit_are_refused(given, words):
    with pytest.raises(DataError, match=words):
        Ranker("ranknet").fit(X, Y, **{"qid": QID, **given})


def test_a_pyterrier_pipeline_calls_it_as_it_calls_lightgbm():
    """The calls of PyTerrier's estimators of LightGBM's kind: frames of results with a column of feature vectors."""

    def results(data):
        rows = [list(map(float, row)) for row in data.features]
        return pd.DataFrame({"qid": data.query_index, "features": map(np.array, rows), "label": data.labels})

    learner, train_res, valid_res = Ranker("lambdamart", rounds=8), results(DATA), results(VALID)
    learner.fit(
        np.stack(train_res["features"].values),
        train_res["label"].values,
        group=train_res.groupby(["qid"]).count()["label"].values,
        eval_set=[(np.stack(valid_res["features"].values), valid_res["label"].values)],
        eval_group=[valid_res.groupby(["qid"]).count()["label"].values],
    )
    scores = learner.predict(np.stack(valid_res["features"].values))
    np.testing.assert_array_equal(scores, learner.model_.score(VALID))
    assert len(learner.feature_importances_) == 3


def test_linear_models_have_coefficients_in_units_of_the_features():
    units = np.array([1.0, 1000.0, 0.01])
    for name in ("ranknet", "ranknet(transform=identity,penalty=1e-6)", "ranking-svm", "prank", "single-feature"):
        ranker = Ranker(name).fit(X * units, Y, qid=QID)
        scores = ranker.predict(X * units)
        gaps = (scores - (X * units).astype(np.float32) @ ranker.coef_) / np.abs(scores).max()
        np.testing.assert_allclose(gaps, gaps[0], atol=1e-5, err_msg=name)
    for name in ("lambdamart(rounds=3)", "ranknet(transform=minmax)", "ranknet(transform=second-order)"):
        assert not hasattr(Ranker(name).fit(X, Y, qid=QID), "coef_"), name


def test_weights_of_samples_are_those_of_their_queries():
    ones = Ranker("ranknet").fit(X, Y, qid=QID, sample_weight=np.ones(len(Y)))
    np.testing.assert_allclose(ones.predict(X), Ranker("ranknet").fit(X, Y, qid=QID).predict(X))
    heavy = np.where(np.isin(QID, ["q1", "q2"]), 2.0, 1.0)
    twice = np.flatnonzero(heavy == 2)
    more = [np.concatenate([part, part[twice]]) for part in (X, Y)]
    again = np.concatenate([QID, [f"{name} again" for name in QID[twice]]])
    expected = Ranker("ranknet", transform="identity", penalty=0.1).fit(*more, qid=again)
    # the loss is a mean over 30 queries here and over 32 there, which the penalty makes up for
    weighted = Ranker("ranknet", transform="identity", penalty=0.1 * 32 / 30).fit(X, Y, qid=QID, sample_weight=heavy)
    np.testing.assert_allclose(weighted.predict(X), expected.predict(X), rtol=1e-3, atol=1e-4)
    with pytest.raises(IncompatibleError, match="recipe has no weights of rows; they multiply the gradients"):
        Ranker("ranknet").fit(X, Y, qid=QID, sample_weight=np.arange(len(Y)) + 1.0)


def test_weights_of_documents_reach_the_dataset():
    relevant, weights = (Y > 1).astype(float), np.linspace(0.5, 2, len(Y))
    ranker = Ranker("ranknet").fit(X, relevant, qid=QID, document_weight=weights)
    data = Dataset.from_arrays(X, relevant, qid=QID, document_weights=weights)
    np.testing.assert_allclose(ranker.predict(X), train(data, "ranknet").score(data))


def test_importances_are_shares_and_say_where_there_are_none():
    for name in ("ranknet", "lambdamart", "rankboost"):
        found = Ranker(name).fit(X, Y, qid=QID).feature_importances_
        assert found.shape == (3,)
        assert found.sum() == pytest.approx(1)
        assert found.min() >= 0
    mlp = Ranker("ranknet(scorer=mlp,epochs=2)").fit(X, Y, qid=QID)
    assert not hasattr(mlp, "feature_importances_")
    with pytest.raises(NotFittedError):
        _ = Ranker().feature_importances_


def test_grid_search_chooses_between_methods(routing):
    methods = ["random", "ranknet", "listnet(penalty=10)"]
    search = GridSearchCV(Ranker(), {"method": methods}, cv=GroupKFold(3), error_score="raise")
    search.fit(X, Y, qid=QID, groups=QID)
    assert search.best_params_["method"] != "random"
    assert search.predict(X).shape == (len(X),)


@ROUTES_PIPELINES
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
    for name in ("lambdamart(rounds=5)", "ranknet"):
        assert np.isfinite(Ranker(name).fit(holes, Y, qid=QID).predict(holes)).all()


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
        Ranker("lambdamrt").fit(X, Y, qid=QID)
    with pytest.raises(DataError, match="3 query ids for 240 rows"):
        Ranker("ranknet").fit(X, Y, qid=[1, 2, 3])
    with pytest.raises(NotFittedError):
        Ranker().predict(X)


def test_without_scikit_learn_the_error_names_the_extra() -> None:
    program = "import sys; sys.modules['sklearn'] = None; import podium.sklearn"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (
        "podium.sklearn needs scikit-learn, which is not installed. Run: pip install 'podium[sklearn]'" in done.stderr
    )
