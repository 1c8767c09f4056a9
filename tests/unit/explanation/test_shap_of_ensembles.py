"""SHAP values of ensembles: the game with the query's mean and spread held fixed, sums, rows in order, refusals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import podium
from podium.base.errors import IncompatibleError
from podium.data import make_letor_like
from podium.ensembles.packing import unpack
from podium.model import Model
from podium.scorers.forms import LinearForm
from podium.scorers.trees.trees import booster
from podium.training import train
from reference import shap as reference

DATA = make_letor_like(12, (5, 9), n_features=4, seed=3)[0]
TREES = "lambdamart(rounds=4,num_leaves=5,min_data_in_leaf=5,transform=identity)"
AUTO = f"auto(linear=[listnet,listnet(transform=query-zscore)],trees=[{TREES}])"
ENSEMBLES = [
    AUTO,
    "auto(linear=[listnet],trees=[lambdamart(rounds=4,min_data_in_leaf=5,transform=add-minmax)])",
    "shrunk(towards=1)",
    f"blended(members=[{TREES},listnet])",
    f"blended(members=[blended(members=[{TREES},listnet]),regression])",
]


@pytest.fixture(scope="module")
def auto() -> Model:
    return train(DATA, AUTO)


def game(member: Model, row: int):
    """The expected score of a member if some features of a document are known: (set of features) → score."""
    X = np.asarray(member.learner.transform.apply(member.state, DATA).features, np.float64)
    form = member.form()
    if isinstance(form, LinearForm):
        seen, unseen = form.weights * X[row], form.weights * X.mean(axis=0)
        return lambda known: sum(seen[l] if l in known else unseen[l] for l in range(len(seen)))
    return reference.tree_game(booster(form.text, X.shape[1]), X[row])


def test_values_are_those_of_the_game_with_the_querys_mean_and_spread_held_fixed(auto):
    parts = podium.shap(auto, DATA)
    shares = auto.params["shares"]
    members = unpack(auto.params, len(shares), most_features=4)
    assert len(members) == 3
    for row in (0, 11, 40):
        first, last = DATA.offsets[DATA.query_index[row]], DATA.offsets[DATA.query_index[row] + 1]
        own = [member.score(DATA)[first:last] for member in members]
        games = [game(member, row) for member in members]

        def worth(known, own=own, games=games):
            return sum(
                share * (v(known) - scores.mean()) / scores.std()
                for share, v, scores in zip(shares, games, own, strict=True)
            )

        assert parts.values[row] == pytest.approx(reference.shapley(worth, 4), abs=1e-7)
        assert parts.base[row] == pytest.approx(worth(frozenset()), abs=1e-7)


@pytest.mark.parametrize("method", ENSEMBLES)
def test_base_and_values_add_up_to_the_score_in_every_row(method):
    model = train(DATA, method)
    parts = podium.shap(model, DATA)
    assert parts.base + parts.values.sum(axis=1) == pytest.approx(model.score(DATA), abs=1e-10)


def test_a_base_is_the_same_for_all_documents_of_a_query(auto):
    base = podium.shap(auto, DATA).base
    for a, b in itertools.pairwise(DATA.offsets):
        assert base[a:b] == pytest.approx(base[a], abs=1e-12)


def test_an_adapted_model_has_the_sum_of_both_models(tmp_path):
    path = str(tmp_path / "old.podium")
    old = train(DATA, TREES)
    old.save(path)
    model = train(DATA, f"adapted(of=listnet,source={path},scale=0.5)")
    parts, added = podium.shap(model, DATA), unpack(model.params, 2, most_features=4)[1]
    expected = 0.5 * podium.shap(old, DATA).values + podium.shap(added, DATA).values
    assert parts.values == pytest.approx(expected, abs=1e-12)
    assert parts.base + parts.values.sum(axis=1) == pytest.approx(model.score(DATA), abs=1e-10)


def test_values_are_in_the_order_of_the_rows(auto):
    order = np.random.default_rng(0).permutation(DATA.n_documents)
    X, qid = np.asarray(DATA.features)[order], DATA.query_index[order]
    parts, moved = podium.shap(auto, DATA), podium.shap(auto, X, qid=qid)
    assert moved.values == pytest.approx(parts.values[order], abs=1e-6)
    assert moved.base == pytest.approx(parts.base[order], abs=1e-6)
    assert "another in each query" in str(parts)


def test_equal_documents_of_a_query_have_no_share(auto):
    X = np.repeat(np.asarray(DATA.features)[:1], 3, axis=0)
    parts = podium.shap(auto, X, group=[3])
    assert not parts.values.any()
    assert parts.base.tolist() == auto.score(X, group=[3]).tolist() == [0.0, 0.0, 0.0]


def test_the_pair_of_explain_has_the_difference_of_values(auto):
    parts = podium.shap(auto, DATA)
    first = podium.explain(auto, DATA, query=DATA.query_name(2), documents=tuple(
        DATA.document_name(int(DATA.offsets[2]) + k) for k in (0, 1)
    ))  # fmt: skip
    rows = [next(r for r in range(DATA.n_documents) if DATA.document_name(r) == name) for name in first.documents]
    assert first.shares == pytest.approx(parts.values[rows[0]] - parts.values[rows[1]], abs=1e-6)
    assert first.rest == pytest.approx(0.0, abs=1e-6)


def test_importance_by_shap_is_the_mean_size_of_values(auto):
    summary = podium.shap(auto, DATA).summary
    shares, how = podium.importance(auto, DATA, kind="shap")
    assert shares == pytest.approx(summary / summary.sum())
    assert how == "mean |SHAP value|"


def test_ensembles_that_are_no_weighted_sums_are_refused_in_words():
    learned = train(DATA, f"blended(members=[{TREES},listnet],of=listnet)")
    with pytest.raises(IncompatibleError, match=r"weighted sums of them such as auto, and blended is none"):
        podium.shap(learned, DATA)
    assert podium.importance(learned, DATA, kind="shap") is None
    mixing = train(DATA, f"blended(members=[{TREES},listnet(transform=second-order)])")
    with pytest.raises(IncompatibleError, match="mixes features"):
        podium.shap(mixing, DATA)
    assert podium.importance(mixing, DATA, kind="shap") is None
