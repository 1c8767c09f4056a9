"""Settings of trees: each is LightGBM's, and what it promises about the trees is proved from the trees themselves."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from podium.base.errors import IncompatibleError, ParameterError
from podium.data.dataset import Dataset
from podium.data.synthetic import make_letor_like
from podium.export import export
from podium.losses import Loss, sweep
from podium.methods import method
from podium.metrics import NDCG, Metric
from podium.problem import Problem
from podium.scorers import Trees
from podium.scorers.trees.exact_splits import depth, sums
from podium.scorers.trees.forest import Forest, build
from podium.scorers.trees.grower import DETERMINISTIC
from podium.scorers.trees.lightgbm_text import read_forest, trim
from podium.scorers.trees.monotone import breach
from podium.solvers import Boosting, Watch
from podium.solvers.boosting import for_leaves
from podium.training import fit, train
from podium.transforms import Transform
from podium.tuning import space

D = 6
DATA = make_letor_like(30, (8, 14), n_features=D, seed=1)[0]
LOSS = Loss.parse("lambdarank(metric=ndcg@10,damped=true)")
ROUNDS = 15
SETTINGS: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    # of trees, of boosting, of LightGBM
    ({"max_depth": 2}, {}, {"max_depth": 2}),
    ({"extra": True}, {}, {"extra_trees": True}),
    ({"smooth": 5.0}, {}, {"path_smooth": 5.0}),
    ({"feature_fraction_bynode": 0.5}, {}, {"feature_fraction_bynode": 0.5}),
    ({}, {"penalty_l1": 1.0}, {"lambda_l1": 1.0}),
    ({}, {"least_gain": 0.5}, {"min_gain_to_split": 0.5}),
    ({}, {"sample": "goss", "learning_rate": 0.2}, {"data_sample_strategy": "goss", "learning_rate": 0.2}),
    ({}, {"drop": 0.3}, {"boosting": "dart", "drop_rate": 0.3}),
    (
        {"rising": ("1",), "falling": ("f2",)},
        {},
        {"monotone_constraints": [1, -1, 0, 0, 0, 0], "monotone_constraints_method": "intermediate"},
    ),
    (
        {"together": (("1", "2"), ("3", "4", "5"))},
        {},
        {"interaction_constraints": [[0, 1], [2, 3, 4], [5]]},
    ),
    (
        {"costs": (2.0, 0.0, 0.0, 0.0, 0.0, 1.0)},
        {},
        {"cegb_tradeoff": 1.0, "cegb_penalty_feature_coupled": [2.0, 0.0, 0.0, 0.0, 0.0, 1.0]},
    ),
]  # fmt: skip
NAMED = dataclasses.replace(DATA, feature_names=tuple(f"f{l}" for l in range(1, D + 1)))


def trees(**settings: Any) -> Trees:
    return Trees(num_leaves=12, min_data_in_leaf=4, **settings)


def grown(scorer: Trees, data: Dataset = NAMED, **settings: Any) -> Any:
    return Boosting(rounds=ROUNDS, **settings).solve(Problem(LOSS, scorer, data), np.random.default_rng(0), Watch())


def forest(scorer: Trees, data: Dataset = NAMED, **settings: Any) -> Forest:
    return read_forest(grown(scorer, data, **settings).params["trees"], data.n_features)


def paths(whole: Forest) -> set[frozenset[int]]:
    """The features on each way from a root to a leaf."""
    ways: set[frozenset[int]] = set()
    for t in range(whole.n_trees):
        ways |= set(
            build(
                whole,
                t,
                leaf=lambda _: [frozenset[int]()],
                split=lambda k, left, right: [way | {int(whole.feature[k])} for way in left + right],
            )
        )
    return ways


@pytest.mark.parametrize(("of_trees", "of_boosting", "theirs"), SETTINGS, ids=lambda part: ",".join(part) or "-")
def test_each_setting_grows_the_trees_of_lightgbm(
    of_trees: dict[str, Any], of_boosting: dict[str, Any], theirs: dict[str, Any]
) -> None:
    import lightgbm

    def derivatives(outputs: Any, _: object) -> Any:
        got = sweep(LOSS.fitted_to(NAMED).resampled(len(rounds)), np.asarray(outputs), NAMED)
        rounds.append(1)
        return for_leaves(got.gradient, got.curvature, None)

    seed = int(np.random.default_rng(0).integers(2**31))
    parameters = {"learning_rate": 0.05, "num_leaves": 12, "min_data_in_leaf": 4, "num_threads": 1, "seed": seed}
    booster = lightgbm.Booster(
        {**DETERMINISTIC, **parameters, **theirs},
        lightgbm.Dataset(NAMED.features, label=np.zeros(NAMED.n_documents), params={**DETERMINISTIC, **parameters}),
    )
    if "drop_rate" in theirs:  # see Grower
        booster.eval_train(lambda *_: ("none", 0.0, True))
        booster.reset_parameter({"drop_rate": theirs["drop_rate"]})
    rounds: list[int] = [1]
    for _ in range(ROUNDS):
        booster.update(fobj=derivatives)
    text = grown(trees(**of_trees), **of_boosting).params["trees"].tobytes()
    assert text == trim(booster.model_to_string())
    assert text != grown(trees()).params["trees"].tobytes(), "the setting matters"


def test_scores_rise_and_fall_with_the_features_that_say_so_for_every_input() -> None:
    signs = np.array([1, -1, 0, 0, 0, 0])
    plain, kept = forest(trees()), forest(trees(rising=("f1",), falling=("2",)))
    assert breach(plain, signs) is not None
    assert breach(kept, signs) is None
    rows = np.random.default_rng(0).choice(NAMED.n_documents, 60)
    for feature, sign in ((0, 1), (1, -1)):
        cuts = np.unique(kept.threshold[kept.feature == feature])
        X = np.repeat(NAMED.features[rows], len(cuts) + 1, axis=0)
        X[:, feature] = np.tile(np.append(cuts, cuts[-1:] + 1), len(rows))
        steps = np.diff(sums(exact(kept), X, single=False).reshape(len(rows), -1), axis=1) * sign
        assert steps.min() >= -1e-12  # one by one; sums of trees are rounded
        assert steps.max() > 0


def exact(whole: Forest) -> Forest:
    from podium.scorers.trees.exact_splits import split_exactly

    return split_exactly(whole)


def test_the_proof_sees_a_single_leaf_that_goes_the_wrong_way() -> None:
    kept = forest(trees(rising=("1",)))
    used = int(np.flatnonzero(kept.feature == 0)[0])
    t = int(np.searchsorted(kept.first_split, used, side="right")) - 1
    low, high = (
        kept.first_leaf[t] + np.argsort(kept.values[kept.first_leaf[t] : kept.first_leaf[t + 1]])[place]
        for place in (0, -1)
    )
    values = kept.values.copy()
    values[[low, high]] = values[[high, low]] * 10
    assert breach(dataclasses.replace(kept, values=values), np.array([1, 0, 0, 0, 0, 0])) == (t, 0)


def test_no_path_holds_features_of_two_groups() -> None:
    groups = ({0, 1}, {2, 3, 4}, {5})
    assert all(
        any(way <= group for group in groups) for way in paths(forest(trees(together=(("1", "2"), ("3", "4", "5")))))
    )
    assert not all(any(way <= group for group in groups) for way in paths(forest(trees())))


def test_depth_one_gives_stumps_and_a_cost_keeps_a_feature_out() -> None:
    assert depth(forest(trees(max_depth=1))) == 1
    assert depth(forest(trees())) > 2
    dear = forest(trees(costs=(1e6, 0.0, 0.0, 0.0, 0.0, 0.0)))
    assert 0 not in dear.feature
    assert 0 in forest(trees()).feature


def test_settings_of_a_feature_go_to_every_column_that_comes_from_it() -> None:
    transform = Transform.parse("add-minmax")
    moved = transform.apply(transform.fit(NAMED), NAMED)
    whole = forest(trees(falling=("f1",)), moved)
    assert moved.n_features > D
    both = np.flatnonzero(moved.sources.feature == 0)  # type: ignore[union-attr]
    assert len(both) == 2
    assert breach(whole, -np.isin(np.arange(moved.n_features), both).astype(int)) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lambdamart(rising=[f1],falling=[f1])", "'f1' cannot be both in rising and in falling"),
        ("lambdamart(rising=[f9])", "No feature 'f9'"),
        ("lambdamart(rising=[7])", "no feature '7'; the data has the features 1 to 6"),
        ("lambdamart(costs=[1,2])", "costs has 2 numbers; the data has 6 features"),
        ("lambdamart(costs=[1,2,3,4,5,-1])", "costs must be at least 0"),
        ("lambdamart(rising=[1],transform=second-order)", "mixes several"),
        ("lambdamart(rising=[1],smooth=2)", "smooth moves leaves"),
        ("lambdamart(smooth=2,min_data_in_leaf=1)", "needs min_data_in_leaf of at least 2"),
        ("lambdamart(sample=goss)", "Set bagging_fraction=1"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_kept_are_refused_in_words(text: str, words: str) -> None:
    with pytest.raises((ParameterError, IncompatibleError), match=words):
        train(NAMED, text)


def test_with_dropped_trees_the_best_number_is_fitted_again() -> None:
    class Falling(NDCG):
        def __call__(self, scores: Any, *_: object, **__: object) -> Any:
            return np.array([1.0 / (1.0 + np.abs(scores).max())])

    watch = Watch(make_letor_like(5, (8, 9), n_features=D, seed=2)[0], Falling())
    solver = Boosting(rounds=12, drop=0.5, learning_rate=0.3)
    found = solver.solve(Problem(LOSS, trees(), NAMED), np.random.default_rng(0), watch)
    assert "fitted again with 1, since dropping rescales earlier trees" in found.reason
    alone = dataclasses.replace(solver, rounds=1).solve(
        Problem(LOSS, trees(), NAMED), np.random.default_rng(0), Watch()
    )
    np.testing.assert_array_equal(found.params["trees"], alone.params["trees"])


@pytest.mark.parametrize("name", ["c", "python", "lightgbm", "xgboost", "elasticsearch-ltr"])
def test_every_setting_at_once_can_be_exported_with_proof(name: str, tmp_path: Any) -> None:
    text = "lambdamart(rounds=8,rising=[1],together=[[1,2],[3,4]],extra=true,max_depth=3,drop=0.2,penalty_l1=0.1)"
    model = fit(method(text).learner, NAMED, metric=Metric.parse("ndcg@10"))
    assert export(model, name, tmp_path / "model").holds


def test_the_same_bits_for_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    from podium.scorers.trees import grower

    monkeypatch.setattr(grower, "_WORTH_THREADS", 0)
    for of_trees, of_boosting in (
        ({"rising": ("1",), "extra": True, "max_depth": 4}, {"penalty_l1": 0.1, "drop": 0.2}),
        ({"costs": (1.0,) * D, "together": (("1", "2"),)}, {"sample": "goss", "learning_rate": 0.5}),
    ):
        texts = set()
        for n in (1, 2, 4):
            monkeypatch.setattr(grower, "openmp_threads", lambda n=n: n)
            texts.add(grown(trees(**of_trees), **of_boosting).params["trees"].tobytes())
        assert len(texts) == 1


def test_optuna_searches_depth_the_l1_penalty_and_extra_trees() -> None:
    assert {"max_depth", "penalty_l1", "extra"} <= set(space(method("lambdamart")))


def test_a_model_with_settings_of_features_says_them_in_its_own_words() -> None:
    from podium.learner import Learner

    learner = method("lambdamart(rising=[f1],falling=[2,f3],together=[[f1,f2],[f3]],costs=[0,1.5])").learner
    assert Learner.parse(repr(learner)) == learner
    assert learner.scorer.together == (("f1", "f2"), ("f3",))  # type: ignore[attr-defined]
